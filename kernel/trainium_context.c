// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: in-order execution of jobs, and the cores it may use.
 *
 * Locking: trainium_context.submit_lock orders submissions; trainium_context.lock (spinlock) is
 * innermost and guards the queue and the counters. The table of contexts is guarded by the xarray's
 * own lock; a look-up takes its reference under it.
 */
#include <linux/slab.h>

#include <drm/trainium_accel.h>

#include "trainium_context.h"
#include "trainium_device.h"
#include "trainium_file.h"
#include "trainium_job.h"
#include "trainium_program.h"
#include "trainium_ring.h"

static void trainium_context_drop(struct trainium_context *ctx)
{
	struct trainium_program *program;
	struct trainium_ring *ring;
	unsigned long index;

	xa_for_each(&ctx->programs, index, program)
		if (xa_erase(&ctx->programs, index) == program)
			trainium_program_put(program);
	xa_for_each(&ctx->rings, index, ring)
		if (xa_erase(&ctx->rings, index) == ring)
			trainium_ring_put(ring);
}

static void trainium_context_release(struct kref *ref)
{
	struct trainium_context *ctx = container_of(ref, struct trainium_context, ref);

	WARN_ON_ONCE(!list_empty(&ctx->jobs));
	/* What a call that was under way made after the context was closed. */
	trainium_context_drop(ctx);
	xa_destroy(&ctx->programs);
	xa_destroy(&ctx->rings);
	mutex_destroy(&ctx->exec_lock);
	mutex_destroy(&ctx->submit_lock);
	kvfree(ctx->failures);
	kfree(ctx);
}

/** trainium_context_put() - drop a reference; may sleep. */
void trainium_context_put(struct trainium_context *ctx)
{
	kref_put(&ctx->ref, trainium_context_release);
}

/** trainium_context_get() - context of an id of @file, referenced; NULL when there is none. */
struct trainium_context *trainium_context_get(struct trainium_file *file, u32 id)
{
	struct trainium_context *ctx;

	xa_lock(&file->contexts);
	ctx = xa_load(&file->contexts, id);
	if (ctx)
		kref_get(&ctx->ref);
	xa_unlock(&file->contexts);
	return ctx;
}

static struct trainium_context *trainium_context_alloc(struct trainium_file *file)
{
	struct trainium_context *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);

	if (!ctx)
		return NULL;
	ctx->failures = kvcalloc(DRM_TRAINIUM_FAILURES_KEPT, sizeof(*ctx->failures),
				 GFP_KERNEL_ACCOUNT);
	if (!ctx->failures) {
		kfree(ctx);
		return NULL;
	}
	kref_init(&ctx->ref);
	ctx->tdev = file->tdev;
	ctx->file = file;
	mutex_init(&ctx->submit_lock);
	mutex_init(&ctx->exec_lock);
	spin_lock_init(&ctx->lock);
	INIT_LIST_HEAD(&ctx->jobs);
	INIT_WORK(&ctx->work, trainium_job_work);
	init_waitqueue_head(&ctx->wait);
	ctx->fence_context = dma_fence_context_alloc(1);
	xa_init_flags(&ctx->rings, XA_FLAGS_ALLOC1);
	xa_init_flags(&ctx->programs, XA_FLAGS_ALLOC1);
	return ctx;
}

/**
 * trainium_context_kill() - no more jobs: those left end with @error; returns when they have.
 * @ctx: context
 * @error: negative errno
 *
 * A run under way is stopped; a copy under way is allowed to finish, which is bounded. Sleeps. May
 * be called more than once.
 */
void trainium_context_kill(struct trainium_context *ctx, int error)
{
	unsigned int i;

	spin_lock(&ctx->lock);
	if (!ctx->dead)
		ctx->dead = error;
	spin_unlock(&ctx->lock);
	for (i = 0; i < ctx->tdev->hw.arch->cores; i++)
		if (ctx->cores & BIT(i))
			wake_up_all(&ctx->tdev->core[i].wait);
	queue_work(ctx->tdev->wq, &ctx->work);
	flush_work(&ctx->work);
	wake_up_all(&ctx->wait);
}

/**
 * trainium_context_close() - kill the context and drop what it holds.
 * @ctx: context, out of the table already; the table's reference goes too
 * @error: negative errno for its jobs
 *
 * Sleeps.
 */
void trainium_context_close(struct trainium_context *ctx, int error)
{
	trainium_context_kill(ctx, error);
	/* A fence callback that came late may have queued it once more. */
	cancel_work_sync(&ctx->work);
	trainium_context_drop(ctx);
	trainium_cores_release(ctx);
	trainium_context_put(ctx);
}

/* Near its core, or spread over the device's copy queues. */
static struct trainium_copyq *trainium_context_copyq(struct trainium_context *ctx)
{
	struct trainium_device *tdev = ctx->tdev;

	if (ctx->cores)
		return &tdev->copyq[__ffs(ctx->cores)];
	return &tdev->copyq[ctx->fence_context % tdev->hw.arch->cores];
}

/** trainium_ctx_create_ioctl() - DRM_IOCTL_TRAINIUM_CTX_CREATE. */
int trainium_ctx_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trainium_ctx_create *args = data;
	struct trainium_file *file = drm_file->driver_priv;
	struct trainium_context *ctx;
	int err;

	if (args->flags || args->pad || args->id || args->cores)
		return -EINVAL;
	ctx = trainium_context_alloc(file);
	if (!ctx)
		return -ENOMEM;
	err = trainium_cores_acquire(ctx, args->core_mask, args->core_count, &args->cores);
	if (err)
		goto err_put;
	ctx->copyq = trainium_context_copyq(ctx);
	/* Once it is in the table others may find it, and destroy it: a reference of our own. */
	kref_get(&ctx->ref);
	err = xa_alloc(&file->contexts, &ctx->id, ctx, XA_LIMIT(1, TRAINIUM_FILE_CONTEXTS),
		       GFP_KERNEL);
	if (err) {
		err = err == -EBUSY ? -ENOSPC : err;
		trainium_cores_release(ctx);
		trainium_context_put(ctx);
	} else {
		args->id = ctx->id;
	}

err_put:
	trainium_context_put(ctx);
	return err;
}

/** trainium_ctx_destroy_ioctl() - DRM_IOCTL_TRAINIUM_CTX_DESTROY. */
int trainium_ctx_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_trainium_ctx_destroy *args = data;
	struct trainium_file *file = drm_file->driver_priv;
	struct trainium_context *ctx;

	if (args->pad)
		return -EINVAL;
	ctx = xa_erase(&file->contexts, args->id);
	if (!ctx)
		return -ENOENT;
	trainium_context_close(ctx, -ECANCELED);
	return 0;
}

static int trainium_context_seq_error(struct trainium_context *ctx, u64 seq)
{
	unsigned int i;

	lockdep_assert_held(&ctx->lock);
	if (seq > ctx->finished)
		return -EINPROGRESS;
	for (i = 0; i < DRM_TRAINIUM_FAILURES_KEPT; i++)
		if (ctx->failures[i].seq == seq)
			return ctx->failures[i].error;
	return 0;
}

/** trainium_ctx_status_ioctl() - DRM_IOCTL_TRAINIUM_CTX_STATUS. */
int trainium_ctx_status_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trainium_ctx_status *args = data;
	struct drm_trainium_ctx_status out = { .id = args->id, .seq = args->seq };
	struct trainium_context *ctx;
	int err = 0;

	if (args->pad)
		return -EINVAL;
	ctx = trainium_context_get(drm_file->driver_priv, args->id);
	if (!ctx)
		return -ENOENT;
	spin_lock(&ctx->lock);
	out.guilty = ctx->guilty;
	out.innocent = ctx->innocent;
	out.fault = ctx->fault.code;
	out.fault_engine = ctx->fault.engine;
	out.fault_pc = ctx->fault.pc;
	out.fault_tag = ctx->fault.tag;
	out.fault_address = ctx->fault.address;
	out.last_error = ctx->last_error;
	out.last_failed = ctx->last_failed;
	out.jobs_submitted = ctx->submitted;
	out.jobs_finished = ctx->ended;
	out.jobs_failed = ctx->failed;
	if (args->seq > ctx->seq)
		err = -EINVAL;
	else if (args->seq)
		out.seq_error = trainium_context_seq_error(ctx, args->seq);
	spin_unlock(&ctx->lock);
	trainium_context_put(ctx);
	if (!err)
		*args = out;
	return err;
}
