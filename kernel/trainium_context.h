/* SPDX-License-Identifier: GPL-2.0-only */
/* Contexts: in-order execution of jobs, and the cores it may use. */
#ifndef TRAINIUM_CONTEXT_H
#define TRAINIUM_CONTEXT_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_file.h>

#include "trainium_core.h"

struct trainium_copyq;
struct trainium_device;
struct trainium_file;

/** struct trainium_failure - a job that failed. */
struct trainium_failure {
	u64 seq;
	int error;
};

/**
 * struct trainium_context - a context; belongs to one open file.
 * @ref: the file's table, and whoever looked it up
 * @tdev: device
 * @file: owner; outlives the context
 * @id: in the file's table
 * @cores: mask of cores owned
 * @copyq: queue of its copies
 * @submit_lock: order of submissions
 * @exec_lock: held by who executes jobs
 * @lock: the fields down to @failures
 * @jobs: jobs not finished, in order
 * @dead: no more jobs: negative errno given to those left, or 0
 * @seq: of the last job submitted
 * @finished: of the last job that ended
 * @submitted: jobs submitted
 * @ended: jobs ended well
 * @failed: jobs failed
 * @guilty: resets its jobs caused
 * @innocent: jobs lost to what others did
 * @last_error: of the last failed job
 * @last_failed: its number
 * @fault: of the last failed run
 * @failures: the last failed jobs, DRM_TRAINIUM_FAILURES_KEPT entries
 * @work: executes jobs
 * @wait: a job ended
 * @fence_context: time line of the jobs' fences
 * @fence_seqno: last number on it; under @submit_lock
 * @rings: by handle
 * @programs: by handle
 */
struct trainium_context {
	struct kref ref;
	struct trainium_device *tdev;
	struct trainium_file *file;
	u32 id;
	u32 cores;
	struct trainium_copyq *copyq;
	struct mutex submit_lock;	/* see above */
	struct mutex exec_lock;		/* see above */
	spinlock_t lock;		/* see above */
	struct list_head jobs;
	int dead;
	u64 seq;
	u64 finished;
	u64 submitted;
	u64 ended;
	u64 failed;
	u32 guilty;
	u32 innocent;
	int last_error;
	u64 last_failed;
	struct trainium_fault fault;
	struct trainium_failure *failures;
	struct work_struct work;
	wait_queue_head_t wait;
	u64 fence_context;
	u64 fence_seqno;
	struct xarray rings;
	struct xarray programs;
};

int trainium_ctx_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trainium_ctx_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trainium_ctx_status_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);

struct trainium_context *trainium_context_get(struct trainium_file *file, u32 id);
void trainium_context_put(struct trainium_context *ctx);
void trainium_context_kill(struct trainium_context *ctx, int error);
void trainium_context_close(struct trainium_context *ctx, int error);

#endif /* TRAINIUM_CONTEXT_H */
