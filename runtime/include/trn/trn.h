/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtrn: user-space runtime for AWS Trainium.
 *
 * Conventions. Handles are opaque. Options structures start with their size (use TRN_OPTIONS), NULL
 * options mean defaults. Every function that can fail returns enum trn_status; trn_error_text()
 * gives a sentence for the last failure on the calling thread: it names the device, the object, the
 * numbers and the next step. The library never prints, exits or raises a signal. After fork() the
 * child must open its own devices; inherited handles answer TRN_ERR_FORKED.
 *
 * Threads. Functions on different devices, memories, programs or queues may run at the same time.
 * One queue is used by one thread at a time unless stated.
 */
#ifndef TRN_TRN_H
#define TRN_TRN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TRN_API __attribute__((visibility("default")))
#else
#define TRN_API
#endif

#define TRN_VERSION_MAJOR 0
#define TRN_VERSION_MINOR 1

/**
 * TRN_OPTIONS() - initialise a size-first options structure: struct trn_memory_options o =
 * TRN_OPTIONS(o);
 */
#define TRN_OPTIONS(object)            \
	{                              \
		.size = sizeof(object) \
	}

/** enum trn_status - result of every call. */
enum trn_status {
	TRN_OK = 0,
	TRN_ERR_INVALID = 1,   /* argument outside its documented domain */
	TRN_ERR_NO_DEVICE = 2, /* no such device, or none at all */
	TRN_ERR_PERMISSION = 3,
	TRN_ERR_BUSY = 4, /* device or core held by somebody else */
	TRN_ERR_NO_DEVICE_MEMORY = 5,
	TRN_ERR_NO_HOST_MEMORY = 6,
	TRN_ERR_TIMEOUT = 7,
	TRN_ERR_FAULT = 8,    /* a program faulted on the device */
	TRN_ERR_CANCELED = 9, /* lost to a reset or to an earlier failure of the queue */
	TRN_ERR_GONE = 10,    /* device removed */
	TRN_ERR_UNSUPPORTED = 11,
	TRN_ERR_BAD_FILE = 12,	/* not a .tnx file, truncated, or corrupt */
	TRN_ERR_IO = 13,	/* operating system error */
	TRN_ERR_COMM = 14,	/* peer dead, missing or in disagreement */
	TRN_ERR_NOT_FOUND = 15, /* no object of that name */
	TRN_ERR_FORKED = 16,
	TRN_ERR_DRIVER = 17, /* kernel driver too old or answers nonsense */
};

/** trn_strerror() - short name of a status; never NULL. */
TRN_API const char *trn_strerror(enum trn_status status);
/**
 * trn_error_text() - sentence for the last failed call of this thread; "" when none. Valid until
 * the next failing call of the thread.
 */
TRN_API const char *trn_error_text(void);
TRN_API const char *trn_version(void);

/* ---- devices ---- */

struct trn_device;

/** struct trn_core_info - one core. */
struct trn_core_info {
	uint32_t state; /* 0 free, 1 owned, 2 resetting, 3 failed */
	int32_t owner_pid;
	uint64_t runs;
	uint64_t faults;
	char owner[16];
};

/** struct trn_device_info - what a device is and how it is doing; size-first. */
struct trn_device_info {
	size_t size;
	char spec[32];	 /* what trn_device_open() takes: "trn0", "emu:trn1" */
	char backend[8]; /* "drm", "emu" */
	char node[32];	 /* "/dev/accel/accel0", "" in process */
	char pci[16];	 /* "0000:00:04.0", "" in process */
	char arch[16];
	char product[32];
	uint32_t generation;
	uint32_t cores;
	uint32_t stacks;
	uint32_t dma_engines;
	uint32_t routing_id;
	uint32_t device_index;
	uint64_t serial;
	uint64_t hbm_total; /* bytes users can get */
	uint64_t hbm_free;
	uint64_t hbm_stack_free[4];
	uint64_t ecc_corrected;
	uint64_t ecc_uncorrected;
	int32_t numa_node;
	uint32_t power_utilisation; /* 1/100 %; UINT32_MAX: unavailable */
	bool can_run;		    /* programs can run */
	bool interrupts;
	uint32_t resets;
	struct trn_core_info core[8];
};

/** struct trn_holder - a process that has the device open. */
struct trn_holder {
	int32_t pid;
	uint32_t cores;
	uint64_t hbm_bytes;
	uint64_t host_bytes;
	char comm[16];
};

/**
 * trn_device_list() - devices of this machine that a driver serves, by PCI address; in-process
 * devices are not listed (they exist when opened), except the one that TRN_DEVICE names. @count: in
 * capacity, out number present. Return: TRN_OK (also with zero devices).
 */
TRN_API enum trn_status trn_device_list(struct trn_device_info *list, size_t *count);

#define TRN_NEIGHBOURS_MAX 4

/**
 * trn_device_neighbours() - devices that links of the machine connect to one.
 * @list: all devices of the machine, from trn_device_list()
 * @count: how many
 * @position: of the device in @list
 * @neighbours: out, positions in @list, in the order of the device's links
 *
 * Return: how many; 0 when the machine has not the number of devices the documented topologies have
 * (a torus of 16 for Trn1 and Trn2; a ring of 12 or a line of 6 for Inf2).
 */
TRN_API uint32_t trn_device_neighbours(const struct trn_device_info *list, size_t count,
				       size_t position, uint32_t neighbours[TRN_NEIGHBOURS_MAX]);

/**
 * trn_device_open() - open a device.
 * @spec: "trn0", "/dev/accel/accel0", "0000:00:04.0", "emu:trn1", "emu:inf2", "emu:trn2"
 *
 * @spec NULL means what TRN_DEVICE names in the environment, else the first device of the machine.
 * With no device the call fails and names TRN_DEVICE=emu:trn1; it never falls back silently.
 */
TRN_API enum trn_status trn_device_open(const char *spec, struct trn_device **device);
/** trn_device_close() - frees everything made on the device; NULL is allowed. */
TRN_API void trn_device_close(struct trn_device *device);
TRN_API enum trn_status trn_device_get_info(struct trn_device *device,
					    struct trn_device_info *info);
TRN_API enum trn_status trn_device_holders(struct trn_device *device, struct trn_holder *list,
					   size_t *count);

/* ---- memory ---- */

struct trn_memory;

#define TRN_STACK_ANY (-1)

/** struct trn_memory_options - where memory lies; size-first. */
struct trn_memory_options {
	size_t size;
	/* HBM stack, TRN_STACK_ANY (default with NULL options: stack of core 0) */
	int32_t stack;
	/*
	 * 1: host memory the device can reach, mapped in this process, near the device's NUMA node
	 */
	uint32_t host;
	uint64_t alignment; /* power of two, 0: 64 bytes */
	const char *tag;    /* for accounting; copied; NULL: "user" */
};

/**
 * trn_memory_alloc() - @bytes of HBM (or host memory), zeroed. 0 bytes is TRN_ERR_INVALID. When HBM
 * runs out the error text says who holds what.
 */
TRN_API enum trn_status trn_memory_alloc(struct trn_device *device, uint64_t bytes,
					 const struct trn_memory_options *options,
					 struct trn_memory **memory);
/** trn_memory_free() - waits for work that uses it. NULL is allowed. */
TRN_API void trn_memory_free(struct trn_memory *memory);
TRN_API uint64_t trn_memory_size(const struct trn_memory *memory);
/** trn_memory_host_pointer() - CPU address of host memory, NULL for HBM. */
TRN_API void *trn_memory_host_pointer(struct trn_memory *memory);

/** struct trn_heap_tag - accounting of one tag. */
struct trn_heap_tag {
	char tag[32];
	uint64_t bytes;
	uint64_t blocks;
	uint64_t peak;
};
/** trn_heap_tags() - who holds device memory in this process. */
TRN_API enum trn_status trn_heap_tags(struct trn_device *device, struct trn_heap_tag *list,
				      size_t *count);

/* ---- queues and fences ---- */

struct trn_queue;

/**
 * struct trn_fence - a point in a queue's order; a plain value, free to copy. Valid while its queue
 * lives.
 */
struct trn_fence {
	struct trn_queue *queue;
	uint64_t point;
};

/** struct trn_queue_options - size-first. */
struct trn_queue_options {
	size_t size;
	uint32_t core_mask;  /* cores wanted by number */
	uint32_t core_count; /* or any so many free ones; both 0: a copy-only queue */
	uint64_t timeout_ns; /* longest time of one job; 0: the driver's default, 10 s */
};

/**
 * trn_queue_create() - an in-order stream of copies, fills and program runs. Owns its cores until
 * destroyed; a core held elsewhere is TRN_ERR_BUSY and names the holder.
 */
TRN_API enum trn_status trn_queue_create(struct trn_device *device,
					 const struct trn_queue_options *options,
					 struct trn_queue **queue);
/** trn_queue_destroy() - cancels what has not started, waits for the rest. */
TRN_API void trn_queue_destroy(struct trn_queue *queue);
TRN_API uint32_t trn_queue_cores(const struct trn_queue *queue);

/*
 * Enqueue calls return at once; @fence may be NULL. Host buffers must stay valid and unchanged
 * until the fence has passed. Large copies are zero-copy: the device reads and writes the user's
 * pages. Work is sent to the driver at the latest by trn_queue_flush(), a wait, or when a batch is
 * full: one system call per batch. After a failure the queue's later work is TRN_ERR_CANCELED until
 * trn_queue_reset().
 */
TRN_API enum trn_status trn_queue_write(struct trn_queue *queue, struct trn_memory *dst,
					uint64_t offset, const void *src, uint64_t bytes,
					struct trn_fence *fence);
TRN_API enum trn_status trn_queue_read(struct trn_queue *queue, void *dst, struct trn_memory *src,
				       uint64_t offset, uint64_t bytes, struct trn_fence *fence);
TRN_API enum trn_status trn_queue_copy(struct trn_queue *queue, struct trn_memory *dst,
				       uint64_t dst_offset, struct trn_memory *src,
				       uint64_t src_offset, uint64_t bytes,
				       struct trn_fence *fence);
TRN_API enum trn_status trn_queue_fill(struct trn_queue *queue, struct trn_memory *dst,
				       uint64_t offset, uint32_t pattern, uint64_t bytes,
				       struct trn_fence *fence);
/**
 * trn_queue_wait_fence() - later work of @queue starts after @fence of another queue, also of
 * another device.
 */
TRN_API enum trn_status trn_queue_wait_fence(struct trn_queue *queue, struct trn_fence fence);
TRN_API enum trn_status trn_queue_flush(struct trn_queue *queue);
/**
 * trn_queue_finish() - flush and wait for everything. @timeout_ns relative, UINT64_MAX: the jobs'
 * own time-outs are the bound.
 */
TRN_API enum trn_status trn_queue_finish(struct trn_queue *queue, uint64_t timeout_ns);
TRN_API enum trn_status trn_queue_reset(struct trn_queue *queue);
/** trn_fence_wait() - any thread. Returns the failure of the job when it failed. */
TRN_API enum trn_status trn_fence_wait(struct trn_fence fence, uint64_t timeout_ns);
TRN_API bool trn_fence_done(struct trn_fence fence);
/**
 * trn_fence_fd() - a descriptor that polls readable once the fence has passed; the caller closes
 * it.
 */
TRN_API enum trn_status trn_fence_fd(struct trn_fence fence, int *fd);

/* ---- programs ---- */

struct trn_image;   /* a .tnx container in memory */
struct trn_program; /* an image loaded for one queue's core */

enum trn_tensor_kind {
	TRN_TENSOR_INPUT = 0,
	TRN_TENSOR_OUTPUT = 1,
	TRN_TENSOR_STATE = 2, /* kept between runs: parameters, optimizer state */
	TRN_TENSOR_TEMP = 3,
	TRN_TENSOR_CONSTANT = 4, /* content comes from the container */
};

/** struct trn_tensor_info - a named tensor of a program. */
struct trn_tensor_info {
	char name[64];
	uint32_t dtype; /* enum trn_dtype of trainium/isa.h */
	uint32_t kind;	/* enum trn_tensor_kind */
	uint32_t rank;
	uint32_t reserved;
	uint64_t shape[6];
	uint64_t bytes;
};

/**
 * trn_image_open() - read and fully check a .tnx file; errors name the field, the offset and the
 * numbers.
 */
TRN_API enum trn_status trn_image_open(const char *path, struct trn_image **image);
TRN_API enum trn_status trn_image_from_memory(const void *data, size_t bytes,
					      struct trn_image **image);
TRN_API enum trn_status trn_image_save(const struct trn_image *image, const char *path);
TRN_API void trn_image_free(struct trn_image *image);
TRN_API const char *trn_image_name(const struct trn_image *image);
TRN_API size_t trn_image_tensor_count(const struct trn_image *image);
TRN_API enum trn_status trn_image_tensor(const struct trn_image *image, size_t index,
					 struct trn_tensor_info *info);

/**
 * struct trn_binding - give a tensor of the image memory of the caller's instead of a new
 * allocation (shared weights).
 */
struct trn_binding {
	const char *name;
	struct trn_memory *memory;
	uint64_t offset;
};

/**
 * trn_program_load() - allocate tensors, copy code and constants, make rings. @queue must own at
 * least one core; @core: which, as index among the queue's cores. The image may be freed
 * afterwards.
 */
TRN_API enum trn_status trn_program_load(struct trn_queue *queue, uint32_t core,
					 const struct trn_image *image,
					 const struct trn_binding *bindings, size_t binding_count,
					 struct trn_program **program);
TRN_API void trn_program_unload(struct trn_program *program);
/**
 * trn_program_tensor() - memory and place of a tensor; the memory belongs to the program unless it
 * was bound.
 */
TRN_API enum trn_status trn_program_tensor(struct trn_program *program, const char *name,
					   struct trn_memory **memory, uint64_t *offset,
					   struct trn_tensor_info *info);
/**
 * trn_program_run() - enqueue one run on the program's queue. @args: up to 256 bytes, the first 16
 * words become registers 0..15. Cost independent of the number of descriptors.
 */
TRN_API enum trn_status trn_program_run(struct trn_program *program, const void *args,
					size_t args_bytes, struct trn_fence *fence);

/** struct trn_fault_info - what went wrong in the last failed run of a queue. */
struct trn_fault_info {
	uint32_t fault; /* enum trn_fault of trainium/isa.h */
	uint32_t engine;
	uint32_t pc;
	uint32_t tag;
	uint64_t address;
	bool guilty;
};
TRN_API enum trn_status trn_queue_fault(struct trn_queue *queue, struct trn_fault_info *info);

/* ---- communicators ---- */

struct trn_comm;

enum trn_reduce_op {
	TRN_REDUCE_SUM = 0,
};

/** struct trn_comm_options - size-first. */
struct trn_comm_options {
	size_t size;
	/* "host:port" of rank 0; NULL: TRN_COMM_ROOT, else NEURON_RT_ROOT_COMM_ID */
	const char *root;
	/* libfabric provider, NULL: TRN_COMM_PROVIDER, else the library's choice */
	const char *provider;
	/* bound on bootstrap and on each operation's lack of progress; 0: 30 s */
	uint64_t timeout_ns;
};

/**
 * trn_comm_create() - join @ranks processes; blocking with a deadline. An error names the ranks
 * that are missing.
 */
TRN_API enum trn_status trn_comm_create(struct trn_queue *queue, uint32_t rank, uint32_t ranks,
					const struct trn_comm_options *options,
					struct trn_comm **comm);
TRN_API void trn_comm_destroy(struct trn_comm *comm);
/**
 * trn_comm_allreduce() - fp32 in device memory, in place, reduced on the device, same bits on every
 * rank; blocking. All ranks call in the same order.
 */
TRN_API enum trn_status trn_comm_allreduce(struct trn_comm *comm, struct trn_memory *memory,
					   uint64_t offset, uint64_t count, enum trn_reduce_op op);
/** trn_comm_barrier(), trn_comm_broadcast() - over host memory of the callers. */
TRN_API enum trn_status trn_comm_barrier(struct trn_comm *comm);
TRN_API enum trn_status trn_comm_broadcast(struct trn_comm *comm, void *data, size_t bytes,
					   uint32_t root);
/** trn_comm_allreduce_host() - small host vectors of double, summed in rank order. */
TRN_API enum trn_status trn_comm_allreduce_host(struct trn_comm *comm, double *values,
						size_t count);

#ifdef __cplusplus
}
#endif

#endif /* TRN_TRN_H */
