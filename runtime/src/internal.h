/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of libtrn: layouts of the handles and the functions its parts call of each other.
 *
 * Locking, outermost first:
 *   trn_device.lock    lists of the device (queues, memories), heap, buffers
 *   trn_queue.lock     batch, points, failures of one queue
 * A thread never takes the lock of a second queue, nor trn_device.lock, while it holds a trn_queue.lock. Nothing waits for the device
 * while it holds trn_device.lock.
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

#define TRN_BATCH_CMDS		128u			/* commands of a job before it is sent */
#define TRN_BATCH_BYTES		(32ull << 20)		/* copied bytes of a job before it is sent */
#define TRN_BATCH_WAITS		64u
#define TRN_EXTENT_MIN		(64ull << 20)
#define TRN_EXTENT_MAX		(1ull << 30)
#define TRN_HOST_EXTENT_MIN	(4ull << 20)

/** struct trn_device - an open device. */
struct trn_device {
	const struct trn_backend_ops *ops;
	struct trn_backend_device *backend;
	char spec[32];			/* name in every error sentence */
	char node[32];
	uint64_t fork_token;
	struct drm_trainium_device_info info;	/* as of opening */

	pthread_mutex_t lock;
	struct trn_list queues;		/* trn_queue.link */
	struct trn_list memories;	/* trn_memory.link */
	struct trn_heap *heap;		/* pools 0..stacks-1: HBM, pool `stacks`: host memory */
	atomic_uint_fast64_t generation;
	struct trn_queue *scrub;	/* copy-only queue that zeroes memory; made when first needed */
	pthread_mutex_t scrub_lock;	/* serialises users of @scrub; never taken inside another lock */
};

/** struct trn_buffer - a buffer of the backend that backs one heap extent. */
struct trn_buffer {
	uint32_t handle;
	uint64_t size;
	void *pointer;			/* CPU address of host memory, else NULL */
	struct trn_heap_extent *extent;
};

#define TRN_MEMORY_USES	4

/** struct trn_memory_use - last point of one queue that uses a memory; queue ids are never used twice. */
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
	uint64_t size;			/* as asked for */
	atomic_uint refs;
	pthread_mutex_t lock;		/* protects @uses; innermost, nothing is taken inside */
	struct trn_memory_use uses[TRN_MEMORY_USES];
	uint64_t use_all;		/* more queues than slots: wait for every queue */
};

/** struct trn_failure - points [@first, @last] of a queue failed: @first by itself, the rest canceled. */
struct trn_failure {
	uint64_t first;
	uint64_t last;			/* UINT64_MAX until trn_queue_reset() */
	enum trn_status status;
	char text[256];
};

/**
 * struct trn_child - something that lives on a queue (a program, a communicator): destroyed by trn_queue_destroy(), newest first, if its owner has
 * not done so before.
 */
struct trn_child {
	struct trn_list link;
	void (*destroy)(struct trn_child *child);
};

/** struct trn_queue - an in-order stream; one context of the backend. */
struct trn_queue {
	struct trn_device *device;
	struct trn_list link;
	uint64_t id;			/* unique in the process */
	uint32_t ctx;
	uint32_t cores;			/* mask of the cores owned */
	uint64_t timeout_ns;

	pthread_mutex_t lock;
	struct trn_list children;	/* trn_child.link */
	struct drm_trainium_cmd *cmds;	/* TRN_BATCH_CMDS */
	uint8_t *args;			/* TRN_BATCH_CMDS * DRM_TRAINIUM_ARGS_MAX: argument blocks of the batch's runs */
	uint32_t cmd_count;
	uint64_t batch_bytes;
	struct trn_backend_point waits[TRN_BATCH_WAITS];
	uint32_t wait_count;
	uint64_t submitted;		/* last point sent; the batch being built signals submitted + 1 */
	atomic_uint_fast64_t passed;	/* highest point known to have passed without error */
	uint64_t failed_jobs;		/* drm_trainium_ctx_status.jobs_failed already accounted for */
	struct trn_failure *failures;
	size_t failure_count;
	bool failed;			/* the last failure is not reset yet */
};

/* device.c, fork.c */
/** trn_device_check() - @device usable in this process? TRN_OK, TRN_ERR_INVALID for NULL, TRN_ERR_FORKED; @what names the call. */
enum trn_status trn_device_check(const struct trn_device *device, const char *what);
uint64_t trn_fork_token(void);		/* token of this process; 0 in a child that opened no device yet */
uint64_t trn_fork_token_make(void);	/* the same, made when there is none */

/* queue.c */
/** trn_queue_cmd_bytes() is what a command moves, for the batch limit. */
/**
 * trn_queue_enqueue() - append @cmd to the batch of @queue. For DRM_TRAINIUM_CMD_RUN the argument block at cmd->run.args is copied. @fence may be NULL;
 * it receives the point at which the command is done.
 * Return: TRN_OK, TRN_ERR_CANCELED on a failed queue, or the error of sending a full batch.
 */
enum trn_status trn_queue_enqueue(struct trn_queue *queue, const struct drm_trainium_cmd *cmd, struct trn_fence *fence);
/** trn_queue_child_add(), trn_queue_child_remove() - see struct trn_child; the child's owner removes it before freeing it itself. */
void trn_queue_child_add(struct trn_queue *queue, struct trn_child *child);
void trn_queue_child_remove(struct trn_queue *queue, struct trn_child *child);
/** trn_queue_drain() - send and wait until nothing of the queue is on the device, whatever the outcome (before freeing what it uses). */
void trn_queue_drain(struct trn_queue *queue);
/** trn_queue_core() - number of the @index-th core the queue owns, or UINT32_MAX. */
uint32_t trn_queue_core(const struct trn_queue *queue, uint32_t index);
/** trn_queue_flush_locked() - send the batch; the caller holds the queue's lock. */
enum trn_status trn_queue_flush_locked(struct trn_queue *queue);

/* fence.c */
/** trn_queue_wait_point() - wait for a point, any thread, no lock held. @deadline_ns: absolute CLOCK_MONOTONIC. */
enum trn_status trn_queue_wait_point(struct trn_queue *queue, uint64_t point, int64_t deadline_ns);
/** trn_deadline() - absolute deadline of a relative time-out, saturating. */
int64_t trn_deadline(uint64_t timeout_ns);

/* info.c */
/** trn_info_out_of_memory() - the TRN_ERR_NO_DEVICE_MEMORY sentence: sizes, who holds what, what to do. */
enum trn_status trn_info_out_of_memory(struct trn_device *device, uint64_t bytes, int32_t stack);
/** trn_info_busy() - the TRN_ERR_BUSY sentence: which core, held by whom. */
enum trn_status trn_info_busy(struct trn_device *device, uint32_t core_mask, uint32_t core_count);
/** trn_info_from_query() - the public view of what the driver says. */
enum trn_status trn_info_fill(struct trn_device *device, struct trn_device_info *info);

#endif /* TRN_INTERNAL_H */
