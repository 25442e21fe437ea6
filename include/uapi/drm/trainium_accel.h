/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * User interface of the trainium DRM driver (/dev/accel/accelN, or a render node before Linux 6.2).
 *
 * Rules: a structure grows only at its end, and the ioctl number encodes its size (the kernel
 * accepts smaller ones, zero-extended, and larger ones with a zero tail). Every flag and reserved
 * field must be zero unless defined. Arrays travel as {pointer, stride, count}. Times are absolute,
 * CLOCK_MONOTONIC, nanoseconds. Memory is named by GEM handle and offset, never by address.
 * Everything belongs to the open file.
 *
 * Errors: EINVAL value out of its domain; ENOENT no such handle in this file; EFAULT user memory;
 * E2BIG table too long; EBUSY core owned by another file; ENOBUFS no device memory; ENOMEM no host
 * memory; ENOSPC a table of this file is full; EACCES ring or program would leave its buffers;
 * ECANCELED innocent victim of a reset; EIO the job itself failed (see CTX_STATUS); ETIME deadline
 * passed; ENODEV removed; EOPNOTSUPP not on this device.
 */
#ifndef _UAPI_DRM_TRAINIUM_ACCEL_H_
#define _UAPI_DRM_TRAINIUM_ACCEL_H_

#ifdef __KERNEL__
#include <drm/drm.h>
#else
#include "drm.h"
#endif

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_TRAINIUM_QUERY		0x00
#define DRM_TRAINIUM_BO_CREATE		0x01
#define DRM_TRAINIUM_BO_INFO		0x02
#define DRM_TRAINIUM_CTX_CREATE		0x03
#define DRM_TRAINIUM_CTX_DESTROY	0x04
#define DRM_TRAINIUM_CTX_STATUS		0x05
#define DRM_TRAINIUM_RING_CREATE	0x06
#define DRM_TRAINIUM_RING_DESTROY	0x07
#define DRM_TRAINIUM_PROGRAM_CREATE	0x08
#define DRM_TRAINIUM_PROGRAM_DESTROY	0x09
#define DRM_TRAINIUM_SUBMIT		0x0a

/* QUERY: what to ask. */
#define DRM_TRAINIUM_QUERY_DEVICE	0	/* struct drm_trainium_device_info */
#define DRM_TRAINIUM_QUERY_CORES	1	/* struct drm_trainium_core_info[cores] */
#define DRM_TRAINIUM_QUERY_MEMORY	2	/* struct drm_trainium_memory_info[stacks] */
/* struct drm_trainium_holder[open files of this device] */
#define DRM_TRAINIUM_QUERY_HOLDERS	3

/**
 * struct drm_trainium_query - ask a question.
 * @what: DRM_TRAINIUM_QUERY_*
 * @size: in: bytes at @data; out: bytes the full answer has. size 0 asks for the size only. The
 * rest of a larger buffer is zeroed.
 * @data: pointer
 */
struct drm_trainium_query {
	__u32 what;
	__u32 flags;
	__u64 size;
	__u64 data;
};

#define DRM_TRAINIUM_CAP_RUN		(1ull << 0)	/* programs can run */
/* completions by interrupt, not by polling */
#define DRM_TRAINIUM_CAP_IRQ		(1ull << 1)
/* addresses computed by programs are checked */
#define DRM_TRAINIUM_CAP_WINDOWS	(1ull << 2)

/** struct drm_trainium_device_info - what the device is. */
struct drm_trainium_device_info {
	__u32 pci_vendor;
	__u32 pci_device;
	__u32 pci_domain;
	__u32 pci_bus;
	__u32 pci_slot;
	__u32 pci_function;
	__u32 generation;		/* 2 or 3 */
	__u32 cores;
	__u32 stacks;
	__u32 dma_engines;
	__u32 routing_id;
	__u32 device_index;
	__u64 serial;			/* 0: unavailable */
	__u64 caps;			/* DRM_TRAINIUM_CAP_* */
	__u64 ecc_corrected;
	__u64 ecc_uncorrected;
	__u32 power_utilisation;	/* 1/100 %, 0xffffffff: unavailable */
	__s32 numa_node;		/* -1: none */
	__u32 resets;			/* core and device resets since load */
	__u32 max_programs_in_flight;
	char arch[16];			/* "trn1" */
	char product[32];		/* "Trainium1" */
};

#define DRM_TRAINIUM_CORE_FREE		0
#define DRM_TRAINIUM_CORE_OWNED		1
#define DRM_TRAINIUM_CORE_RESETTING	2
#define DRM_TRAINIUM_CORE_FAILED	3

/** struct drm_trainium_core_info - one core. */
struct drm_trainium_core_info {
	__u32 state;			/* DRM_TRAINIUM_CORE_* */
	/* as seen by the caller's pid name space; 0: none or not visible */
	__s32 owner_pid;
	__u64 runs;			/* programs finished since load */
	__u64 faults;
	char owner_comm[16];
};

/** struct drm_trainium_memory_info - one HBM stack, bytes. */
struct drm_trainium_memory_info {
	__u64 total;			/* what users can get: without the firmware's part */
	__u64 free;
	__u64 largest_free;
	__u64 reserved;
};

/** struct drm_trainium_holder - an open file and what it holds. */
struct drm_trainium_holder {
	__s32 pid;
	__u32 cores;			/* bit mask */
	__u64 hbm_bytes;
	__u64 host_bytes;
	char comm[16];
};

/* BO_CREATE: places. */
#define DRM_TRAINIUM_PLACE_HBM		0
#define DRM_TRAINIUM_PLACE_HOST		1
#define DRM_TRAINIUM_STACK_ANY		0xffffffffu

/**
 * struct drm_trainium_bo_create - memory; zeroed. HBM cannot be mapped by the CPU in this version,
 * host memory can.
 * @size: bytes, rounded up to 4096; 0 is EINVAL
 * @stack: HBM stack or DRM_TRAINIUM_STACK_ANY
 * @handle: out
 */
struct drm_trainium_bo_create {
	__u64 size;
	__u32 place;
	__u32 stack;
	__u32 flags;
	__u32 handle;
};

/** struct drm_trainium_bo_info - @mmap_offset is 0 for memory that cannot be mapped. */
struct drm_trainium_bo_info {
	__u32 handle;
	__u32 place;
	__u64 size;
	__u64 mmap_offset;
	__u32 stack;
	__u32 pad;
};

/**
 * struct drm_trainium_ctx_create - a context: in-order execution and the cores it owns.
 * @core_mask: cores wanted by number; 0: any @core_count free ones. @core_count 0 with mask 0:
 * copies only.
 * @id: out; @cores: out, mask of the cores got
 */
struct drm_trainium_ctx_create {
	__u32 core_mask;
	__u32 core_count;
	__u32 flags;
	__u32 id;
	__u32 cores;
	__u32 pad;
};

struct drm_trainium_ctx_destroy {
	__u32 id;
	__u32 pad;
};

/**
 * struct drm_trainium_ctx_status - how the context is, and what its last failed job was about.
 * @seq: in: number of a job (drm_trainium_submit.seq) to ask about, 0 none
 * @seq_error: out: 0 that job finished well, -EINPROGRESS not finished, else its negative errno;
 *	failures are remembered for the last DRM_TRAINIUM_FAILURES_KEPT failed jobs of the context
 */
struct drm_trainium_ctx_status {
	__u32 id;
	__u32 guilty;			/* a job of this context caused a reset */
	__u32 innocent;			/* jobs lost to a reset that others caused */
	__u32 fault;			/* enum trn_fault of the last failed run, 0 none */
	__u32 fault_engine;		/* enum trn_engine */
	__u32 fault_pc;
	__u32 fault_tag;
	__s32 last_error;		/* errno of the last failed job, 0 none */
	__u64 fault_address;
	__u64 jobs_submitted;
	__u64 jobs_finished;
	__u64 jobs_failed;
	__u64 last_failed;		/* number of the last failed job, 0 none */
	__u64 seq;
	__s32 seq_error;
	__u32 pad;
};

#define DRM_TRAINIUM_FAILURES_KEPT	1024

/* RING_CREATE. */
#define DRM_TRAINIUM_REF_BO		0	/* handle and offset */
#define DRM_TRAINIUM_REF_SBUF		1	/* offset = partition * 256 KiB + byte */
/* destination only: offset = semaphore number; the driver supplies the source, length 4 */
#define DRM_TRAINIUM_REF_SEM_INC	2
/* data of this and of earlier transfers is written before later ones of the ring proceed */
#define DRM_TRAINIUM_XFER_BARRIER	(1u << 0)

/** struct drm_trainium_xfer - one transfer of a ring. */
struct drm_trainium_xfer {
	__u8 src_kind;
	__u8 dst_kind;
	__u16 flags;
	__u32 length;			/* 1..65536, inside one partition for SBUF */
	__u32 src_handle;
	__u32 dst_handle;
	__u64 src_offset;
	__u64 dst_offset;
};

/**
 * struct drm_trainium_ring_create - a validated, immutable list of transfers bound to a queue of a
 * core the context owns.
 * @core: core number; @engine: DMA engine of that core 0..15; @queue: 0..13
 * @count: transfers. A program advances the ring with DMA_TRIGGER, in steps of its choice; every
 * run finds it at its first transfer again. Engines that trigger on their own need rings of their
 * own: a trigger starts the next transfers of the ring, whoever put them there. A run that goes
 * past the end of a ring may fail: Trn1 and Inf2 stop the engine there.
 * @bad_index: out with EINVAL, EACCES, ENOENT: the first transfer refused
 */
struct drm_trainium_ring_create {
	__u32 ctx;
	__u32 core;
	__u32 engine;
	__u32 queue;
	__u32 count;
	__u32 stride;			/* sizeof(struct drm_trainium_xfer) */
	__u64 xfers;
	__u32 flags;
	__u32 handle;			/* out */
	__u32 bad_index;
	__u32 pad;
};

struct drm_trainium_ring_destroy {
	__u32 ctx;
	__u32 handle;
};

#define DRM_TRAINIUM_BO_READ		(1u << 0)
#define DRM_TRAINIUM_BO_WRITE		(1u << 1)

/**
 * struct drm_trainium_program_image - instructions of one engine: @insns x 128 bytes in a buffer.
 */
struct drm_trainium_program_image {
	__u32 engine;			/* enum trn_engine */
	__u32 handle;
	__u64 offset;			/* multiple of 128 */
	__u32 insns;
	__u32 pad;
};

/** struct drm_trainium_program_bo - a buffer the running program may address itself. */
struct drm_trainium_program_bo {
	__u32 handle;
	__u32 access;			/* DRM_TRAINIUM_BO_READ | WRITE */
};

/**
 * struct drm_trainium_program_create - engine images, rings and reachable buffers as one object.
 * @core: the core it runs on. Rings must belong to the same context and core; two rings on one
 * queue are EINVAL.
 */
struct drm_trainium_program_create {
	__u32 ctx;
	__u32 core;
	__u64 images;			/* struct drm_trainium_program_image[] */
	__u64 rings;			/* __u32[] */
	__u64 bos;			/* struct drm_trainium_program_bo[] */
	__u32 image_count;
	__u32 ring_count;
	__u32 bo_count;
	__u32 flags;
	__u32 handle;			/* out */
	__u32 pad;
};

struct drm_trainium_program_destroy {
	__u32 ctx;
	__u32 handle;
};

/* SUBMIT. */
#define DRM_TRAINIUM_CMD_COPY		0
#define DRM_TRAINIUM_CMD_FILL		1
#define DRM_TRAINIUM_CMD_RUN		2

/*
 * Wait in the call until the job has finished; the job's error is the call's. For small blocking
 * copies: one system call each.
 */
#define DRM_TRAINIUM_SUBMIT_WAIT	(1u << 0)

/**
 * struct drm_trainium_cmd_copy - handle 0: user memory, the offset is a pointer. Both 0 is EINVAL.
 */
struct drm_trainium_cmd_copy {
	__u32 src_handle;
	__u32 dst_handle;
	__u64 src_offset;
	__u64 dst_offset;
	__u64 length;
};

/** struct drm_trainium_cmd_fill - @length and @offset multiples of 4. */
struct drm_trainium_cmd_fill {
	__u32 handle;
	__u32 pattern;
	__u64 offset;
	__u64 length;
	__u64 reserved;
};

#define DRM_TRAINIUM_ARGS_MAX		256

/**
 * struct drm_trainium_cmd_run - @args_size bytes at @args are copied at submission (multiple of 4,
 * at most DRM_TRAINIUM_ARGS_MAX).
 */
struct drm_trainium_cmd_run {
	__u32 program;
	__u32 args_size;
	__u64 args;
	__u64 reserved[2];
};

/** struct drm_trainium_cmd - one command; commands of a job run in order. */
struct drm_trainium_cmd {
	__u32 type;
	__u32 flags;
	union {
		struct drm_trainium_cmd_copy copy;
		struct drm_trainium_cmd_fill fill;
		struct drm_trainium_cmd_run run;
		__u64 reserved[7];
	};
};

/** struct drm_trainium_sync - a point of a timeline syncobj (point 0: a binary syncobj). */
struct drm_trainium_sync {
	__u32 handle;
	__u32 flags;
	__u64 point;
};

/**
 * struct drm_trainium_submit - one job: waits for all of @waits, runs the commands in order,
 * signals all of @signals.
 * @timeout_ns: longest time the job may run once started, 0: the driver's default (10 s); beyond it
 * the job fails with ETIME and its core is reset;
 *	at most DRM_TRAINIUM_TIMEOUT_MAX_NS
 * @seq: out: number of the job in its context, 1, 2, 3 ...
 *
 * Large copies from or to user memory are pinned piece by piece inside the call, so the call may
 * wait for the earlier pieces and for
 * @waits; with EFAULT in a later piece the pieces before it have been copied. A job whose wait
 * point failed is cancelled (ECANCELED).
 */
struct drm_trainium_submit {
	__u32 ctx;
	__u32 flags;
	__u64 cmds;
	__u32 cmd_count;
	__u32 cmd_stride;
	__u64 waits;
	__u64 signals;
	__u32 wait_count;
	__u32 signal_count;
	__u64 timeout_ns;
	__u64 seq;
};

#define DRM_TRAINIUM_TIMEOUT_MAX_NS	600000000000ull
#define DRM_TRAINIUM_SUBMIT_CMDS_MAX	4096
#define DRM_TRAINIUM_SUBMIT_SYNCS_MAX	256
#define DRM_TRAINIUM_RING_XFERS_MAX	(1u << 20)

#define DRM_IOCTL_TRAINIUM_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRAINIUM_QUERY, struct drm_trainium_query)
#define DRM_IOCTL_TRAINIUM_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRAINIUM_BO_CREATE, struct drm_trainium_bo_create)
#define DRM_IOCTL_TRAINIUM_BO_INFO \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRAINIUM_BO_INFO, struct drm_trainium_bo_info)
#define DRM_IOCTL_TRAINIUM_CTX_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRAINIUM_CTX_CREATE, struct drm_trainium_ctx_create)
#define DRM_IOCTL_TRAINIUM_CTX_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TRAINIUM_CTX_DESTROY, struct drm_trainium_ctx_destroy)
#define DRM_IOCTL_TRAINIUM_CTX_STATUS \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRAINIUM_CTX_STATUS, struct drm_trainium_ctx_status)
#define DRM_IOCTL_TRAINIUM_RING_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRAINIUM_RING_CREATE, struct drm_trainium_ring_create)
#define DRM_IOCTL_TRAINIUM_RING_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TRAINIUM_RING_DESTROY, struct drm_trainium_ring_destroy)
#define DRM_IOCTL_TRAINIUM_PROGRAM_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRAINIUM_PROGRAM_CREATE, struct drm_trainium_program_create)
#define DRM_IOCTL_TRAINIUM_PROGRAM_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TRAINIUM_PROGRAM_DESTROY, \
		struct drm_trainium_program_destroy)
#define DRM_IOCTL_TRAINIUM_SUBMIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TRAINIUM_SUBMIT, struct drm_trainium_submit)

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_DRM_TRAINIUM_ACCEL_H_ */
