/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of libtrn: layouts of the handles and the functions its parts call of each other.
 *
 * Locking, outermost first:
 *   trn_device.grow_lock  making and zeroing buffers; the only lock that is held while waiting for
 * the device trn_device.lock       lists of the device (queues, memories), heap trn_queue.lock
 * batch, points, failures of one queue trn_memory.lock       uses of one memory A thread never
 * holds the locks of two queues.
 */
#ifndef TRN_INTERNAL_H
#define TRN_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "error.h"
#include "heap.h"
#include "list.h"
#include "trn/trn.h"

#define TRN_BATCH_CMDS	    128u	  /* commands of a job before it is sent */
#define TRN_BATCH_BYTES	    (32ull << 20) /* copied bytes of a job before it is sent */
#define TRN_WAIT_BYTES	    (1ull << 20)  /* copied bytes of a job that is waited for in one call */
#define TRN_EXTENT_MIN	    (64ull << 20)
#define TRN_EXTENT_MAX	    (1ull << 30)
#define TRN_HOST_EXTENT_MIN (4ull << 20)

/** struct trn_device - an open device. */
struct trn_device {
	const struct trn_backend_ops *ops;
	struct trn_backend_device *backend;
	char spec[32]; /* name in every error sentence */
	char node[32];
	uint64_t fork_token;
	struct drm_trainium_device_info info; /* as of opening */

	pthread_mutex_t lock;
	struct trn_list queues;	  /* trn_queue.link */
	struct trn_list memories; /* trn_memory.link */
	struct trn_heap *heap;	  /* pools 0..stacks-1: HBM, pool `stacks`: host memory */
	atomic_uint_fast64_t generation;
	pthread_cond_t queue_put;  /* with @lock: a trn_queue.refs went down */
	pthread_mutex_t grow_lock; /* outermost: serialises making buffers and zeroing */
	struct trn_queue *scrub;   /* copy-only queue that zeroes memory; made when first needed;
				      under @grow_lock */
};

/** struct trn_buffer - a buffer of the backend that backs one heap extent. */
struct trn_buffer {
	uint32_t handle;
	uint64_t size;
	void *pointer; /* CPU address of host memory, else NULL */
	struct trn_heap_extent *extent;
};

#define TRN_MEMORY_USES 4

/** struct trn_memory_use - last point of one queue that uses a memory; queue ids are never used
 * twice. */
struct trn_memory_use {
	uint64_t queue_id;
	uint64_t point;
};

/** struct trn_memory - a block of the heap. */
struct trn_memory {
	struct trn_device *device;
	struct trn_list link;
	struct trn_heap_block *block;
	struct trn_buffer *buffer;
	uint64_t size; /* as asked for */
	atomic_uint refs;
	pthread_mutex_t lock; /* protects @uses; innermost, nothing is taken inside */
	struct trn_memory_use uses[TRN_MEMORY_USES];
	bool use_all; /* more queues than slots: wait for every queue */
};

/** struct trn_failure - points [@first, @last] of a queue failed: @first by itself, the rest
 * canceled. */
struct trn_failure {
	uint64_t first;
	uint64_t last; /* UINT64_MAX until trn_queue_reset() */
	enum trn_status status;
	char text[512];
};

/**
 * struct trn_child - something that lives on a queue (a program, a communicator): destroyed by
 * trn_queue_destroy(), newest first, if its owner has not done so before.
 */
struct trn_child {
	struct trn_list link;
	void (*destroy)(struct trn_child *child);
};

/** struct trn_queue - an in-order stream; one context of the backend. */
struct trn_queue {
	struct trn_device *device;
	struct trn_list link;
	uint32_t refs; /* under trn_device.lock: who frees a memory and waits for this queue */
	uint64_t id;   /* unique in the process */
	uint32_t ctx;
	uint32_t cores; /* mask of the cores owned */
	uint64_t timeout_ns;

	pthread_mutex_t lock;
	struct trn_list children;      /* trn_child.link */
	struct drm_trainium_cmd *cmds; /* TRN_BATCH_CMDS */
	uint8_t *args; /* TRN_BATCH_CMDS * DRM_TRAINIUM_ARGS_MAX: argument blocks of the batch's
			  runs */
	uint32_t cmd_count;
	uint64_t batch_bytes;
	uint64_t submitted; /* last point given out for good; the batch being built has submitted +
			       1 */
	uint64_t sent;	    /* last point the backend has accepted, <= submitted */
	atomic_uint_fast64_t passed; /* highest point known to have passed without error */
	uint64_t failed_jobs;	     /* drm_trainium_ctx_status.jobs_failed at the last reset */
	struct trn_failure *failures;
	size_t failure_count;
	bool failed; /* the last failure is not reset yet */
};

/* device.c, fork.c */
/** trn_device_check() - @device usable in this process? TRN_OK, TRN_ERR_INVALID for NULL,
 * TRN_ERR_FORKED; @what names the call. */
enum trn_status trn_device_check(const struct trn_device *device, const char *what);
/** trn_device_open_with() - open @spec of one backend; @name: what sentences call it. */
enum trn_status trn_device_open_with(const struct trn_backend_ops *ops, const char *spec,
				     const char *name, struct trn_device **device);
uint64_t trn_fork_token(void); /* token of this process; 0 in a child that opened no device yet */
uint64_t trn_fork_token_make(void); /* the same, made when there is none */

/**
 * trn_options_get() - copy a size-first options structure of the caller into @out (@known bytes,
 * zeroed beyond the caller's size). TRN_ERR_INVALID when its size is nonsense or it asks for
 * something this library does not know.
 */
enum trn_status trn_options_get(const void *options, void *out, size_t known, const char *what);

/* queue.c */
/**
 * trn_queue_enqueue() - append @cmd to the batch of @queue. For DRM_TRAINIUM_CMD_RUN the argument
 * block at cmd->run.args is copied. @fence may be NULL; it receives the point at which the command
 * is done. Return: TRN_OK, TRN_ERR_CANCELED on a failed queue, or the error of sending a full
 * batch.
 */
enum trn_status trn_queue_enqueue(struct trn_queue *queue, const struct drm_trainium_cmd *cmd,
				  struct trn_fence *fence);
/** trn_queue_child_add(), trn_queue_child_remove() - see struct trn_child; the child's owner
 * removes it before freeing it itself. */
void trn_queue_child_add(struct trn_queue *queue, struct trn_child *child);
void trn_queue_child_remove(struct trn_queue *queue, struct trn_child *child);
/** trn_queue_drain() - trn_queue_retire() of everything. */
void trn_queue_drain(struct trn_queue *queue);
/** trn_queue_core() - number of the @index-th core the queue owns, or UINT32_MAX. */
uint32_t trn_queue_core(const struct trn_queue *queue, uint32_t index);
/**
 * trn_queue_flush_locked() - send the batch; the caller holds the queue's lock. @wait: the caller
 * waits for it next; a short batch is then over on return if the backend can do that.
 */
enum trn_status trn_queue_flush_locked(struct trn_queue *queue, bool wait);

/** trn_queue_make() - trn_queue_create() after its checks of the device. */
enum trn_status trn_queue_make(struct trn_device *device, const struct trn_queue_options *options,
			       struct trn_queue **queue);

/* failure.c */
/** trn_queue_fail_locked() - @point failed by itself; what was enqueued behind it is lost. The
 * caller holds the queue's lock. */
void trn_queue_fail_locked(struct trn_queue *queue, uint64_t point, enum trn_status status,
			   const char *text);
/** trn_queue_outcome_locked() - what is known of a point that will not pass any more: TRN_OK when
 * nothing; sets the sentence. */
enum trn_status trn_queue_outcome_locked(struct trn_queue *queue, uint64_t point);
/** trn_queue_sent_check_locked() - the outcome of a point, or the error of one never enqueued; the
 * queue has been flushed. */
enum trn_status trn_queue_sent_check_locked(struct trn_queue *queue, uint64_t point);
/** trn_queue_job_failed_locked() - the backend answered @error for @point: say it in words and fail
 * the queue. */
void trn_queue_job_failed_locked(struct trn_queue *queue, uint64_t point, int error);
/** trn_fault_name(), trn_engine_name() - in words; never NULL. */
const char *trn_fault_name(uint32_t fault);
const char *trn_engine_name(uint32_t engine);

/* fence.c */
/** trn_queue_wait_point() - wait for a point, any thread, no lock held. @deadline_ns: absolute
 * CLOCK_MONOTONIC. */
enum trn_status trn_queue_wait_point(struct trn_queue *queue, uint64_t point, int64_t deadline_ns);
/** trn_queue_retire() - send and wait until the device is done with @point, whatever the outcome
 * (before freeing what it uses). */
void trn_queue_retire(struct trn_queue *queue, uint64_t point);
/** trn_queue_find_failure_locked() - look for the first failed job since the last good point; what
 * is found goes to the failures. */
void trn_queue_find_failure_locked(struct trn_queue *queue);
/** trn_deadline() - absolute deadline of a relative time-out, saturating. */
int64_t trn_deadline(uint64_t timeout_ns);

/* info.c */
/** trn_info_out_of_memory() - the TRN_ERR_NO_DEVICE_MEMORY sentence: sizes, who holds what, what to
 * do. */
enum trn_status trn_info_out_of_memory(struct trn_device *device, uint64_t bytes, int32_t stack);
/** trn_info_busy() - the TRN_ERR_BUSY sentence: which core, held by whom. */
enum trn_status trn_info_busy(struct trn_device *device, uint32_t core_mask, uint32_t core_count);
/** trn_info_from_driver() - the public view of what the driver says. */
void trn_info_from_driver(const struct drm_trainium_device_info *from,
			  struct trn_device_info *info);
/** trn_info_fill() - everything, as of now. */
enum trn_status trn_info_fill(struct trn_device *device, struct trn_device_info *info);

#endif /* TRN_INTERNAL_H */
