// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs: execution in the order of their context.
 *
 * A context's work item takes its jobs one after the other: it waits for the fences of the first
 * (by callback, holding nobody up), runs the commands, updates the context's counters and signals
 * the job's fence, with the error set before. A job always ends: its waits end because fences do,
 * its commands because each has a deadline, and all of it because a context can be killed.
 *
 * Between start and signal nothing is allocated and no lock is taken that is held around an
 * allocation. Memory the job holds is given back after the signal.
 *
 * A submitter that waits for a small copy anyway, with nothing before it, runs it himself: two
 * changes of thread less.
 *
 * Locking: trainium_context.exec_lock is held by whoever executes; trainium_context.lock guards the
 * queue and the counters.
 */
#include <linux/slab.h>

#include <drm/trainium_accel.h>

#include "trainium_context.h"
#include "trainium_device.h"
#include "trainium_fence.h"
#include "trainium_file.h"
#include "trainium_job.h"
#include "trainium_program.h"

static void trainium_args_release(struct kref *ref)
{
	kvfree(container_of(ref, struct trainium_args, ref));
}

/** trainium_args_put() - drop a reference; NULL is fine. */
void trainium_args_put(struct trainium_args *args)
{
	if (args)
		kref_put(&args->ref, trainium_args_release);
}

/** trainium_command_fini() - drop what a command holds. */
void trainium_command_fini(struct trainium_device *tdev, struct trainium_command *cmd)
{
	trainium_program_put(cmd->run.program);
	trainium_copy_fini(tdev, &cmd->copy);
}

/** trainium_job_alloc() - an empty job with room for @cmd_count commands; NULL when short. */
struct trainium_job *trainium_job_alloc(struct trainium_context *ctx, u32 cmd_count)
{
	struct trainium_job *job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);

	if (!job)
		return NULL;
	job->ctx = ctx;
	job->cmds = kvcalloc(cmd_count + 1, sizeof(*job->cmds), GFP_KERNEL_ACCOUNT);
	job->copies = kvcalloc(cmd_count + 1, sizeof(*job->copies), GFP_KERNEL_ACCOUNT);
	job->fence = trainium_fence_create(ctx->fence_context, ++ctx->fence_seqno);
	if (!job->cmds || !job->copies || !job->fence) {
		trainium_job_free(job);
		return NULL;
	}
	return job;
}

/** trainium_job_free() - free a job that is in no queue; its fence lives on with its waiters. */
void trainium_job_free(struct trainium_job *job)
{
	struct trainium_device *tdev = job->ctx->tdev;
	u32 i;

	for (i = 0; job->cmds && i < job->cmd_count; i++)
		trainium_command_fini(tdev, &job->cmds[i]);
	for (i = 0; i < job->dep_count; i++)
		dma_fence_put(job->deps[i]);
	kvfree(job->deps);
	kvfree(job->cmds);
	kvfree(job->copies);
	trainium_args_put(job->args);
	dma_fence_put(job->inherit);
	dma_fence_put(job->fence);
	kfree(job);
}

/**
 * trainium_job_push() - append a job to its context's queue, which owns it from then on.
 * @job: job
 * @seq: receives its number; NULL: a piece of a larger job, which has none
 * @start: have it executed; else the caller goes on with trainium_job_inline()
 *
 * Under trainium_context.submit_lock. Return: 0, or the error the context was killed with.
 */
int trainium_job_push(struct trainium_job *job, u64 *seq, bool start)
{
	struct trainium_context *ctx = job->ctx;
	int err;

	lockdep_assert_held(&ctx->submit_lock);
	spin_lock(&ctx->lock);
	err = ctx->dead;
	/* Removal kills the contexts it finds; one made since must not begin to wait for fences. */
	if (!err && trainium_device_removing(ctx->tdev))
		err = -ENODEV;
	if (!err) {
		if (seq) {
			job->seq = ++ctx->seq;
			*seq = job->seq;
			ctx->submitted++;
		}
		atomic_inc(&ctx->file->jobs);
		list_add_tail(&job->node, &ctx->jobs);
	}
	spin_unlock(&ctx->lock);
	if (!err && start)
		queue_work(ctx->tdev->wq, &ctx->work);
	return err;
}

static void trainium_job_dep_signalled(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct trainium_job *job = container_of(cb, struct trainium_job, dep_cb);

	queue_work(job->ctx->tdev->wq, &job->ctx->work);
}

static void trainium_job_disarm(struct trainium_job *job)
{
	if (job->dep_armed)
		dma_fence_remove_callback(job->deps[job->dep_next], &job->dep_cb);
	job->dep_armed = false;
}

/* True when every fence it waits for is signalled; else the work item is queued again later. */
static bool trainium_job_ready(struct trainium_job *job)
{
	for (; job->dep_next < job->dep_count; job->dep_next++) {
		struct dma_fence *fence = job->deps[job->dep_next];

		if (!dma_fence_is_signaled(fence)) {
			if (job->dep_armed)
				return false;
			job->dep_armed = true;
			if (!dma_fence_add_callback(fence, &job->dep_cb,
						    trainium_job_dep_signalled))
				return false;
			job->dep_armed = false;
		}
		trainium_job_disarm(job);
	}
	return true;
}

/* Error a job has before it starts: what it waited for failed, or a job before it was reset. */
static int trainium_job_doomed(struct trainium_job *job)
{
	struct trainium_context *ctx = job->ctx;
	u32 i;
	int err;

	if (job->inherit) {
		err = trainium_fence_error(job->inherit);
		if (err)
			return err;
	}
	spin_lock(&ctx->lock);
	err = ctx->dead ? ctx->dead : job->cancel;
	spin_unlock(&ctx->lock);
	for (i = 0; !err && i < job->dep_count; i++)
		if (trainium_fence_error(job->deps[i]))
			err = -ECANCELED;
	return err;
}

static int trainium_job_copies(struct trainium_job *job, u32 first, u32 end, ktime_t deadline)
{
	u32 i;

	for (i = first; i < end; i++)
		job->copies[i - first] = &job->cmds[i].copy;
	return trainium_copies_run(job->ctx->copyq, job->copies, end - first, deadline, false);
}

static int trainium_job_execute(struct trainium_job *job)
{
	ktime_t deadline = ktime_add_ns(ktime_get(), job->timeout_ns);
	u32 first = 0;
	int err;

	err = trainium_job_doomed(job);
	while (!err && first < job->cmd_count) {
		bool run = job->cmds[first].run.program;
		u32 end = first + 1;

		while (end < job->cmd_count && !!job->cmds[end].run.program == run)
			end++;
		err = run ? trainium_runs_execute(job, first, end, deadline) :
			    trainium_job_copies(job, first, end, deadline);
		if (!err && READ_ONCE(job->ctx->dead) && end < job->cmd_count)
			err = READ_ONCE(job->ctx->dead);
		first = end;
	}
	return err;
}

static void trainium_job_count(struct trainium_job *job, int err)
{
	struct trainium_context *ctx = job->ctx;
	struct trainium_failure *failure;
	struct trainium_job *other;

	spin_lock(&ctx->lock);
	list_del(&job->node);
	if (err == -ETIME)
		list_for_each_entry(other, &ctx->jobs, node)
			other->cancel = -ECANCELED;
	if (job->seq) {
		ctx->finished = job->seq;
		if (err) {
			failure = &ctx->failures[ctx->failed++ % DRM_TRAINIUM_FAILURES_KEPT];
			failure->seq = job->seq;
			failure->error = err;
			ctx->last_error = -err;
			ctx->last_failed = job->seq;
			if (err == -ECANCELED)
				ctx->innocent++;
		} else {
			ctx->ended++;
		}
	}
	spin_unlock(&ctx->lock);
}

/* Counters first: who waits for the fence reads them next. */
static void trainium_job_end(struct trainium_job *job, int err)
{
	struct trainium_context *ctx = job->ctx;
	u32 i;

	for (i = 0; i < job->cmd_count; i++)
		if (job->cmds[i].copy.pin)
			trainium_pin_unmap(ctx->tdev, job->cmds[i].copy.pin);
	trainium_job_count(job, err);
	if (err)
		dma_fence_set_error(job->fence, err);
	dma_fence_signal(job->fence);
	atomic_dec(&ctx->file->jobs);
	wake_up_all(&ctx->wait);
}

static struct trainium_job *trainium_job_first(struct trainium_context *ctx)
{
	struct trainium_job *job;

	spin_lock(&ctx->lock);
	job = list_first_entry_or_null(&ctx->jobs, struct trainium_job, node);
	spin_unlock(&ctx->lock);
	return job;
}

/* Executes the first job. False: there is none, or it waits for a fence. */
static bool trainium_job_step(struct trainium_context *ctx)
{
	struct trainium_job *job;
	bool signalling;
	int err = -ENODEV;
	int idx;

	lockdep_assert_held(&ctx->exec_lock);
	/* Nobody else takes jobs from the queue. */
	job = trainium_job_first(ctx);
	if (!job || (!READ_ONCE(ctx->dead) && !trainium_job_ready(job)))
		return false;
	trainium_job_disarm(job);
	signalling = dma_fence_begin_signalling();
	if (drm_dev_enter(&ctx->tdev->drm, &idx)) {
		err = trainium_job_execute(job);
		drm_dev_exit(idx);
	}
	trainium_job_end(job, err);
	dma_fence_end_signalling(signalling);
	trainium_job_free(job);
	return true;
}

/** trainium_job_work() - the work item of a context: executes its jobs in order. */
void trainium_job_work(struct work_struct *work)
{
	struct trainium_context *ctx = container_of(work, struct trainium_context, work);

	mutex_lock(&ctx->exec_lock);
	while (trainium_job_step(ctx))
		;
	mutex_unlock(&ctx->exec_lock);
}

/**
 * trainium_job_inline() - execute a job pushed without being started, in the calling thread.
 * @ctx: context
 * @fence: of the job
 *
 * When there are others before it, or somebody else is executing, the work item does it.
 */
void trainium_job_inline(struct trainium_context *ctx, struct dma_fence *fence)
{
	if (mutex_trylock(&ctx->exec_lock)) {
		struct trainium_job *job = trainium_job_first(ctx);

		if (job && job->fence == fence)
			trainium_job_step(ctx);
		mutex_unlock(&ctx->exec_lock);
	}
	if (trainium_job_first(ctx))
		queue_work(ctx->tdev->wq, &ctx->work);
}
