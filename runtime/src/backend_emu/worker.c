// SPDX-License-Identifier: BSD-2-Clause
/*
 * The worker of a context carries out its jobs in order; a short job that is waited for is carried
 * out by the thread that submits it, when nothing is before it.
 *
 * Locking: trn_emu_ctx.lock guards jobs, points and failures; it is not held while a job runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "emu.h"

#define CLOSING_CHECK_NS \
	10000000ll /* how often a worker that waits for others looks whether it should end */

/* Wait for the points a job depends on. One that failed, or a context that closes, cancels the job.
 */
static int job_wait(struct trn_emu_ctx *ctx, const struct trn_emu_job *job)
{
	uint64_t failed;
	uint32_t i;
	int error;

	for (i = 0; i < job->wait_count; i++) {
		do {
			error = trn_emu_ctx_wait_point(job->waits[i].ctx, job->waits[i].point,
						       trn_emu_now() + CLOSING_CHECK_NS, &failed);
		} while (error == -ETIME && !ctx->closing);
		if (error)
			return -ECANCELED;
	}
	return 0;
}

static int cmd_run(struct trn_emu_ctx *ctx, const struct trn_emu_cmd *cmd, int64_t deadline)
{
	int error;

	switch (cmd->cmd.type) {
	case DRM_TRAINIUM_CMD_COPY:
		return trn_emu_copy(ctx, cmd, deadline);
	case DRM_TRAINIUM_CMD_FILL:
		return trn_emu_fill(ctx, cmd, deadline);
	default:
		/* The program sees what was copied before. */
		error = trn_emu_batch_flush(ctx, deadline);
		return error ? error : trn_emu_run(ctx, cmd, deadline);
	}
}

static int job_run(struct trn_emu_ctx *ctx, struct trn_emu_job *job)
{
	int64_t deadline;
	uint32_t i;
	int error;

	if (job->error)
		return job->error;
	error = job_wait(ctx, job);
	if (error)
		return error;
	deadline = trn_emu_now() + job->timeout_ns;
	for (i = 0; i < job->cmd_count && !error; i++)
		error = cmd_run(ctx, &job->cmds[i], deadline);
	if (!error)
		error = trn_emu_batch_flush(ctx, deadline);
	trn_emu_batch_drop(ctx);
	return error;
}

static void events_signal_locked(struct trn_emu_ctx *ctx)
{
	struct trn_list *at, *next;

	for (at = ctx->events.next; at != &ctx->events; at = next) {
		struct trn_emu_event *event = trn_list_entry(at, struct trn_emu_event, link);

		next = at->next;
		if (event->point > ctx->completed)
			continue;
		eventfd_write(event->fd, 1); /* at zero: cannot block */
		close(event->fd);
		trn_list_remove(at);
		free(event);
	}
}

static void job_finish(struct trn_emu_ctx *ctx, struct trn_emu_job *job, int error)
{
	struct trn_list *at;

	pthread_mutex_lock(&ctx->lock);
	ctx->completed = job->signal;
	ctx->busy = false;
	if (error) {
		struct trn_emu_failure *failure =
			&ctx->failures[ctx->status.jobs_failed % DRM_TRAINIUM_FAILURES_KEPT];

		failure->point = job->signal;
		failure->error = error;
		ctx->status.jobs_failed++;
		ctx->status.last_error = -error;
		ctx->status.last_failed = job->signal;
		/* Not the fault of a job before; but what a fault canceled does not hide it. */
		if (error != -ECANCELED && !ctx->fault_noted) {
			ctx->status.fault = TRN_FAULT_NONE;
			ctx->status.fault_engine = 0;
			ctx->status.fault_pc = 0;
			ctx->status.fault_tag = 0;
			ctx->status.fault_address = 0;
		}
		ctx->fault_noted = false;
		/* In-order: what is queued behind it built on its result. */
		for (at = ctx->jobs.next; at != &ctx->jobs; at = at->next)
			trn_list_entry(at, struct trn_emu_job, link)->error = -ECANCELED;
	} else {
		ctx->status.jobs_finished++;
	}
	events_signal_locked(ctx);
	pthread_cond_broadcast(&ctx->passed);
	pthread_cond_signal(&ctx->work);
	pthread_mutex_unlock(&ctx->lock);
	trn_emu_job_free(ctx->emu, job);
}

int trn_emu_job_inline(struct trn_emu_ctx *ctx, struct trn_emu_job *job)
{
	int error = job_run(ctx, job);

	job_finish(ctx, job, error);
	return error;
}

void *trn_emu_worker(void *arg)
{
	struct trn_emu_ctx *ctx = arg;
	struct trn_emu_job *job;

	for (;;) {
		pthread_mutex_lock(&ctx->lock);
		while (ctx->busy || (trn_list_empty(&ctx->jobs) && !ctx->closing))
			pthread_cond_wait(&ctx->work, &ctx->lock);
		job = NULL;
		if (!trn_list_empty(&ctx->jobs)) {
			job = trn_list_entry(ctx->jobs.next, struct trn_emu_job, link);
			trn_list_remove(&job->link);
			if (ctx->closing)
				job->error = -ECANCELED;
			ctx->busy = true;
		}
		pthread_mutex_unlock(&ctx->lock);
		if (!job)
			return NULL;
		job_finish(ctx, job, job_run(ctx, job));
	}
}
