/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In-process backend: the UAPI's contract carried out over kernel/hw and the device model, in this
 * process. Every open is a device of its own.
 *
 * Locking, outermost first:
 *   trn_emu.reset_lock   reset and start of cores
 *   trn_emu_copyq.lock   one batch on a host copy queue
 *   trn_emu.abort_lock   ending an abort of a host copy engine, which two queues may share
 *   trn_emu.lock         tables (buffers, contexts), owners of cores, HBM, counters
 *   trn_emu_ctx.lock     jobs, points, failures, tables of one context
 *   trn_emu_irq.lock     innermost: count of interrupts of one vector
 * A worker waits for the device with none but reset_lock or trn_emu_copyq.lock held.
 */
#ifndef TRN_BACKEND_EMU_H
#define TRN_BACKEND_EMU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "trnhw.h"
#include "trnhw_user.h"
#include "tests/emulator/emu.h"
#include "tests/emulator/inproc.h"

#include "../backend.h"
#include "../error.h"
#include "../heap.h"
#include "../list.h"

#define TRN_EMU_PAGE	    4096ull
#define TRN_EMU_VECTORS_MAX (1 + 2 * TRN_MAX_CORES)
#define TRN_EMU_QUEUES	    16u
#define TRN_EMU_RING_QUEUES 14u /* queues a ring may name */
#define TRN_EMU_FILL_BYTES  65536u
#define TRN_EMU_MAPS_MAX    64u /* user buffers mapped in one batch */
#define TRN_EMU_TIMEOUT_NS  10000000000ull
#define TRN_EMU_SPEC_BYTES  256u /* of the name of a device with its options */
#define TRN_EMU_FAULTS	    8u	 /* faults on demand in a name */

/** struct trn_emu_mem - host memory of the backend that the device reaches. */
struct trn_emu_mem {
	void *ptr;
	size_t size;
	uint64_t bus;
	uint64_t address; /* as the device names it */
};

/** struct trn_emu_bo - a buffer; jobs, rings and programs hold references. */
struct trn_emu_bo {
	atomic_uint refs;
	uint32_t place;
	uint32_t stack;
	uint64_t size;
	uint64_t address;	      /* device address */
	struct trn_heap_block *block; /* HBM */
	struct trn_emu_mem host;
};

/** struct trn_emu_ring - validated descriptors of one queue; immutable. */
struct trn_emu_ring {
	atomic_uint refs;
	uint32_t core;
	uint32_t engine; /* of the device */
	uint32_t queue;
	struct trnhw_queue_rings hw;
	struct trn_emu_mem mem; /* m2s ring, then s2m ring */
	struct trn_emu_bo **bos;
	uint32_t bo_count;
};

/** struct trn_emu_program - engine images, rings, windows; immutable. */
struct trn_emu_program {
	atomic_uint refs;
	uint32_t core;
	struct trn_emu_mem mem; /* program table, then windows */
	uint32_t window_count;
	uint64_t windows; /* device address */
	struct trn_emu_ring **rings;
	uint32_t ring_count;
	struct trn_emu_bo **bos;
	uint32_t bo_count;
};

/** struct trn_emu_irq - interrupts of one vector. */
struct trn_emu_irq {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	uint64_t count;
};

/** struct trn_emu_core - one core; used by the worker of its owner alone. */
struct trn_emu_core {
	struct trnhw_core hw;
	struct trn_emu_ctx *owner; /* under trn_emu.lock */
	uint32_t state;		   /* DRM_TRAINIUM_CORE_*, under trn_emu.lock */
	uint64_t runs;		   /* under trn_emu.lock */
	uint64_t faults;
	uint64_t cookie;
	struct trn_emu_ring *loaded[TRN_ENGINES_PER_CORE]
				   [TRN_EMU_QUEUES]; /* programmed in the hardware; references */
};

/** struct trn_emu_copyq - a host copy queue, shared by contexts batch by batch. */
struct trn_emu_copyq {
	pthread_mutex_t lock;
	struct trnhw_copyq hw;
	unsigned int vector;
};

struct trn_emu {
	struct emu_inproc *inproc;
	struct emu_device *model;
	struct device *dev;
	struct trnhw hw;
	bool hw_ready;
	char name[32];
	char log[TRNHW_USER_LOG_BYTES]; /* last error of the hardware layer; under lock */

	pthread_mutex_t lock;
	struct trn_heap *hbm;	 /* a pool per stack, one extent each */
	struct trn_emu_bo **bos; /* by handle - 1 */
	uint32_t bo_room;
	uint32_t bo_free; /* no free slot below */
	uint64_t host_bytes;
	struct trn_list contexts; /* trn_emu_ctx.link */
	uint32_t next_ctx;
	uint32_t next_copyq;
	uint32_t resets;

	pthread_mutex_t reset_lock;
	pthread_mutex_t abort_lock;
	struct trn_emu_core cores[TRN_MAX_CORES];
	struct trn_emu_copyq copyqs[TRN_MAX_CORES];
	struct trn_emu_irq irqs[TRN_EMU_VECTORS_MAX];
	struct trn_emu_mem constants; /* TRN_EMU_CONST_*: what rings may name besides buffers */
};

#define TRN_EMU_CONST_ONE 0  /* the number 1: source of semaphore increments */
#define TRN_EMU_CONST_PAD 64 /* 8 bytes the padding of rings reads and writes */

/** struct trn_emu_wait - a point a job waits for. */
struct trn_emu_wait {
	struct trn_emu_ctx *ctx;
	uint64_t point;
};

/** struct trn_emu_cmd - a command with its references resolved; NULL buffer: user memory. */
struct trn_emu_cmd {
	struct drm_trainium_cmd cmd;
	struct trn_emu_bo *src;
	struct trn_emu_bo *dst;
	struct trn_emu_program *program;
	uint8_t *args; /* in the job's own memory */
};

struct trn_emu_job {
	struct trn_list link;
	uint64_t signal;
	uint64_t timeout_ns;
	int64_t deadline; /* once started */
	int error;	  /* decided before it starts: canceled */
	uint32_t cmd_count;
	uint32_t wait_count;
	struct trn_emu_cmd *cmds;
	struct trn_emu_wait *waits;
	uint8_t *args;
};

/** struct trn_emu_failure - a failed job. */
struct trn_emu_failure {
	uint64_t point;
	int error;
};

/** struct trn_emu_event - a descriptor to signal at a point. */
struct trn_emu_event {
	struct trn_list link;
	uint64_t point;
	int fd;
};

/** struct trn_emu_batch - transfers being collected for a copy queue; the worker's own. */
struct trn_emu_batch {
	struct trnhw_xfer xfers[TRNHW_COPYQ_BATCH];
	uint32_t count;
	uint64_t maps[TRN_EMU_MAPS_MAX]; /* bus addresses to unmap when it is done */
	uint32_t map_count;
	struct trn_emu_mem fill; /* pattern, TRN_EMU_FILL_BYTES; NULL until needed */
	uint32_t pattern;
	bool pattern_valid;
};

struct trn_emu_ctx {
	struct trn_emu *emu;
	struct trn_list link;
	atomic_uint refs;
	uint32_t id;
	uint32_t cores;
	struct trn_emu_copyq *copyq;

	pthread_t worker;
	struct trn_emu_batch *batch;
	struct trn_emu_mem args; /* argument block of the run under way */

	pthread_mutex_t lock;
	pthread_cond_t work;   /* a job came, or closing */
	pthread_cond_t passed; /* completed moved, or closed */
	atomic_bool closing;
	bool busy; /* somebody, worker or submitter, carries out a job */
	struct trn_list jobs;
	uint64_t submitted;
	uint64_t completed;
	struct trn_list events;
	bool fault_noted; /* the job under way put its fault into status */
	struct trn_emu_failure failures[DRM_TRAINIUM_FAILURES_KEPT];
	struct drm_trainium_ctx_status status;
	struct trn_emu_ring **rings; /* by handle - 1 */
	uint32_t ring_room;
	struct trn_emu_program **programs;
	uint32_t program_room;
};

static inline struct trn_emu *trn_emu_of(struct trn_backend_device *device)
{
	return (struct trn_emu *)device;
}

/** struct trn_emu_options - "trn1,routing-id=3,hbm=1G" taken apart. */
struct trn_emu_options {
	char arch[16];
	uint32_t routing_id;
	uint64_t hbm;
	uint32_t disable;
	bool time_mode;
	uint64_t trace_events;
	char trace[TRN_EMU_SPEC_BYTES]; /* file, empty: none */
	struct {
		const char *name; /* of the model */
		uint64_t value;
	} fault[TRN_EMU_FAULTS];
	unsigned int faults;
};

/* options.c: 0 or -EINVAL with a sentence. */
int trn_emu_options_parse(const char *spec, struct trn_emu_options *options);

/* mem.c */
int trn_emu_mem_alloc(struct trn_emu *emu, size_t size, struct trn_emu_mem *mem);
void trn_emu_mem_free(struct trn_emu *emu, struct trn_emu_mem *mem);
int64_t trn_emu_now(void);

/* irq.c */
void trn_emu_irq_setup(struct trn_emu *emu);
void trn_emu_irq_teardown(struct trn_emu *emu);
void trn_emu_irq_handler(void *arg, unsigned int vector);
uint64_t trn_emu_irq_count(struct trn_emu_irq *irq);
/** trn_emu_irq_wait() - until the count differs from @seen, or a poll interval has passed, or the
 * deadline. */
void trn_emu_irq_wait(struct trn_emu *emu, unsigned int vector, uint64_t seen, int64_t deadline);

/* bo.c */
int trn_emu_hbm_setup(struct trn_emu *emu);
int trn_emu_bo_create(struct trn_backend_device *device, struct drm_trainium_bo_create *create);
int trn_emu_bo_map(struct trn_backend_device *device, uint32_t handle, uint64_t size,
		   void **pointer);
int trn_emu_bo_destroy(struct trn_backend_device *device, uint32_t handle);
/** trn_emu_bo_get() - a reference, or NULL. trn_emu_bo_put() - NULL is allowed. */
struct trn_emu_bo *trn_emu_bo_get(struct trn_emu *emu, uint32_t handle);
void trn_emu_bo_put(struct trn_emu *emu, struct trn_emu_bo *bo);
/** trn_emu_bo_list_put() - references and the list itself. */
void trn_emu_bo_list_put(struct trn_emu *emu, struct trn_emu_bo **list, uint32_t count);
void trn_emu_bo_teardown(struct trn_emu *emu);

/* query.c */
int trn_emu_query(struct trn_backend_device *device, struct drm_trainium_query *query);

/* context.c */
int trn_emu_ctx_create(struct trn_backend_device *device, struct drm_trainium_ctx_create *create);
int trn_emu_ctx_destroy(struct trn_backend_device *device, uint32_t id);
int trn_emu_ctx_status(struct trn_backend_device *device, struct drm_trainium_ctx_status *status);
int trn_emu_ctx_wait(struct trn_backend_device *device, uint32_t id, uint64_t point,
		     int64_t deadline_ns, uint64_t *jobs_failed);
int trn_emu_ctx_fd(struct trn_backend_device *device, uint32_t id, uint64_t point, int *fd);
struct trn_emu_ctx *trn_emu_ctx_get(struct trn_emu *emu, uint32_t id);
void trn_emu_ctx_put(struct trn_emu_ctx *ctx);
/** trn_emu_ctx_wait_point() - as ctx_wait, on a held context. */
int trn_emu_ctx_wait_point(struct trn_emu_ctx *ctx, uint64_t point, int64_t deadline_ns,
			   uint64_t *jobs_failed);

/* handle.c */
/** trn_emu_handle_add() - first free slot of a table; 0 or -ENOMEM, -ENOSPC. */
int trn_emu_handle_add(void ***table, uint32_t *room, uint32_t *free_from, void *object,
		       uint32_t *handle);

/* ring.c */
int trn_emu_ring_create(struct trn_backend_device *device, struct drm_trainium_ring_create *create);
int trn_emu_ring_destroy(struct trn_backend_device *device, uint32_t ctx, uint32_t handle);
void trn_emu_ring_put(struct trn_emu *emu, struct trn_emu_ring *ring);

/* program.c */
int trn_emu_program_create(struct trn_backend_device *device,
			   struct drm_trainium_program_create *create);
int trn_emu_program_destroy(struct trn_backend_device *device, uint32_t ctx, uint32_t handle);
void trn_emu_program_put(struct trn_emu *emu, struct trn_emu_program *program);

/* submit.c */
int trn_emu_submit(struct trn_backend_device *device, const struct trn_backend_job *job);
void trn_emu_job_free(struct trn_emu *emu, struct trn_emu_job *job);

/* worker.c */
void *trn_emu_worker(void *arg);
/** trn_emu_job_inline() - carry out a job in the calling thread, which has set busy. */
int trn_emu_job_inline(struct trn_emu_ctx *ctx, struct trn_emu_job *job);

/* copy.c: add to the batch of the context; 0 or the error of a full batch that was carried out. */
int trn_emu_copy(struct trn_emu_ctx *ctx, const struct trn_emu_cmd *cmd, int64_t deadline);
int trn_emu_fill(struct trn_emu_ctx *ctx, const struct trn_emu_cmd *cmd, int64_t deadline);
/** trn_emu_batch_flush() - carry out what was collected and wait for it; 0, -ETIME, -EIO, -ENODEV.
 */
int trn_emu_batch_flush(struct trn_emu_ctx *ctx, int64_t deadline);
/** trn_emu_batch_drop() - forget what was collected. */
void trn_emu_batch_drop(struct trn_emu_ctx *ctx);
/** trn_emu_copyq_reset() - set a queue up again; its lock is held. 0, -EIO, -ENODEV. */
int trn_emu_copyq_reset(struct trn_emu *emu, struct trn_emu_copyq *copyq);
/** trn_emu_hbm_zero() - zero device memory through the first copy queue. */
int trn_emu_hbm_zero(struct trn_emu *emu, uint64_t address, uint64_t bytes);

/* run.c */
int trn_emu_run(struct trn_emu_ctx *ctx, const struct trn_emu_cmd *cmd, int64_t deadline);

/* recover.c */
/** trn_emu_core_recover() - stop, reset and start a core; the caller's context owns it, or nobody
 * does. */
int trn_emu_core_recover(struct trn_emu *emu, unsigned int core);
/** trn_emu_core_unload() - no ring is programmed any more. */
void trn_emu_core_unload(struct trn_emu *emu, unsigned int core);

#endif /* TRN_BACKEND_EMU_H */
