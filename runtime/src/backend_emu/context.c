// SPDX-License-Identifier: BSD-2-Clause
/*
 * Contexts: they own cores, a worker thread, rings and programs.
 *
 * Locking: trn_emu.lock guards the list of contexts and the owners of cores, trn_emu_ctx.lock what
 * is the context's own.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "emu.h"

struct trn_emu_ctx *trn_emu_ctx_get(struct trn_emu *emu, uint32_t id)
{
	struct trn_emu_ctx *ctx = NULL;
	struct trn_list *at;

	pthread_mutex_lock(&emu->lock);
	for (at = emu->contexts.next; at != &emu->contexts && !ctx; at = at->next)
		if (trn_list_entry(at, struct trn_emu_ctx, link)->id == id)
			ctx = trn_list_entry(at, struct trn_emu_ctx, link);
	if (ctx)
		atomic_fetch_add(&ctx->refs, 1);
	pthread_mutex_unlock(&emu->lock);
	return ctx;
}

void trn_emu_ctx_put(struct trn_emu_ctx *ctx)
{
	if (!ctx || atomic_fetch_sub(&ctx->refs, 1) != 1)
		return;
	pthread_cond_destroy(&ctx->work);
	pthread_cond_destroy(&ctx->passed);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx->batch);
	free(ctx->rings);
	free(ctx->programs);
	free(ctx);
}

static struct trn_emu_ctx *ctx_new(struct trn_emu *emu)
{
	struct trn_emu_ctx *ctx = calloc(1, sizeof(*ctx));
	pthread_condattr_t attr;

	if (!ctx)
		return NULL;
	ctx->emu = emu;
	atomic_init(&ctx->refs, 1);
	pthread_mutex_init(&ctx->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&ctx->work, NULL);
	pthread_cond_init(&ctx->passed, &attr);
	pthread_condattr_destroy(&attr);
	trn_list_init(&ctx->jobs);
	trn_list_init(&ctx->events);
	trn_list_init(&ctx->link);
	ctx->batch = calloc(1, sizeof(*ctx->batch));
	if (!ctx->batch) {
		trn_emu_ctx_put(ctx);
		return NULL;
	}
	return ctx;
}

/* A core whose reset failed gets another try when somebody asks for cores. */
static void cores_retry(struct trn_emu *emu)
{
	uint32_t i;
	bool retry;

	for (i = 0; i < emu->hw.arch->cores; i++) {
		pthread_mutex_lock(&emu->lock);
		retry = emu->cores[i].state == DRM_TRAINIUM_CORE_FAILED && !emu->cores[i].owner;
		if (retry)
			emu->cores[i].state = DRM_TRAINIUM_CORE_RESETTING;
		pthread_mutex_unlock(&emu->lock);
		if (retry && !trn_emu_core_recover(emu, i))
			trnhw_core_stop(&emu->cores[i].hw);
	}
}

/* Take cores for @ctx, all or none. */
static int cores_take(struct trn_emu_ctx *ctx, uint32_t mask, uint32_t count)
{
	struct trn_emu *emu = ctx->emu;
	uint32_t got = 0, i;
	int error = 0;

	pthread_mutex_lock(&emu->lock);
	for (i = 0; i < emu->hw.arch->cores; i++) {
		bool wanted = mask ? mask >> i & 1 : (uint32_t)__builtin_popcount(got) < count;

		if (wanted && emu->cores[i].state == DRM_TRAINIUM_CORE_FREE)
			got |= 1u << i;
	}
	if (mask ? got != mask : (uint32_t)__builtin_popcount(got) != count)
		error = -EBUSY;
	for (i = 0; i < emu->hw.arch->cores && !error; i++)
		if (got >> i & 1) {
			emu->cores[i].owner = ctx;
			emu->cores[i].state = DRM_TRAINIUM_CORE_OWNED;
		}
	pthread_mutex_unlock(&emu->lock);
	if (!error)
		ctx->cores = got;
	return error;
}

static void cores_give(struct trn_emu_ctx *ctx)
{
	struct trn_emu *emu = ctx->emu;
	uint32_t i;

	for (i = 0; i < emu->hw.arch->cores; i++) {
		if (!(ctx->cores >> i & 1))
			continue;
		trnhw_core_stop(&emu->cores[i].hw);
		trn_emu_core_unload(emu, i);
		pthread_mutex_lock(&emu->lock);
		emu->cores[i].owner = NULL;
		if (emu->cores[i].state == DRM_TRAINIUM_CORE_OWNED)
			emu->cores[i].state = DRM_TRAINIUM_CORE_FREE;
		pthread_mutex_unlock(&emu->lock);
	}
	ctx->cores = 0;
}

/* A new owner finds semaphores and events at 0. */
static int cores_start(struct trn_emu_ctx *ctx)
{
	struct trn_emu *emu = ctx->emu;
	uint32_t i, k;
	int error;

	for (i = 0; i < emu->hw.arch->cores; i++) {
		if (!(ctx->cores >> i & 1))
			continue;
		for (k = 0; k < TRN_SEM_COUNT; k++)
			trnhw_sem_set(&emu->hw, i, k, 0);
		for (k = 0; k < TRN_EVENT_COUNT; k++)
			trnhw_event_write(&emu->hw, i, k, 0);
		error = trnhw_core_start(&emu->cores[i].hw);
		if (error)
			return error;
	}
	return 0;
}

/* Cores have their own copy engine; contexts without cores take turns. */
static void copyq_choose(struct trn_emu_ctx *ctx)
{
	struct trn_emu *emu = ctx->emu;

	if (ctx->cores)
		ctx->copyq = &emu->copyqs[__builtin_ctz(ctx->cores)];
	else
		ctx->copyq = &emu->copyqs[emu->next_copyq++ % emu->hw.arch->cores];
}

/* Signals of the program are none of this thread's business. */
static int worker_start(struct trn_emu_ctx *ctx)
{
	sigset_t all, old;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&ctx->worker, NULL, trn_emu_worker, ctx);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error ? -ENOMEM : 0;
}

int trn_emu_ctx_create(struct trn_backend_device *device, struct drm_trainium_ctx_create *create)
{
	const u32 needed = TRN_FEATURE_CORES | TRN_FEATURE_NOTIFY;
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_ctx *ctx;
	int error = 0;

	if (create->flags || create->pad || create->core_mask >> emu->hw.arch->cores ||
	    create->core_count > emu->hw.arch->cores ||
	    (create->core_mask && create->core_count &&
	     (uint32_t)__builtin_popcount(create->core_mask) != create->core_count))
		return -EINVAL;
	if ((create->core_mask || create->core_count) && (emu->hw.features & needed) != needed)
		return -EOPNOTSUPP;
	ctx = ctx_new(emu);
	if (!ctx)
		return -ENOMEM;
	if (create->core_mask || create->core_count) {
		cores_retry(emu);
		error = cores_take(ctx, create->core_mask, create->core_count);
	}
	if (!error)
		error = cores_start(ctx);
	if (!error && ctx->cores)
		error = trn_emu_mem_alloc(emu, DRM_TRAINIUM_ARGS_MAX, &ctx->args);
	if (error)
		goto err;
	pthread_mutex_lock(&emu->lock);
	copyq_choose(ctx);
	pthread_mutex_unlock(&emu->lock);
	error = worker_start(ctx);
	if (error)
		goto err;
	pthread_mutex_lock(&emu->lock);
	ctx->id = ++emu->next_ctx;
	ctx->status.id = ctx->id;
	trn_list_append(&emu->contexts, &ctx->link);
	pthread_mutex_unlock(&emu->lock);
	create->id = ctx->id;
	create->cores = ctx->cores;
	return 0;

err:
	cores_give(ctx);
	trn_emu_mem_free(emu, &ctx->args);
	trn_emu_ctx_put(ctx);
	return error;
}

int trn_emu_ctx_destroy(struct trn_backend_device *device, uint32_t id)
{
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_ctx *ctx = NULL;
	struct trn_list *at;
	uint32_t i;

	pthread_mutex_lock(&emu->lock);
	for (at = emu->contexts.next; at != &emu->contexts && !ctx; at = at->next)
		if (trn_list_entry(at, struct trn_emu_ctx, link)->id == id)
			ctx = trn_list_entry(at, struct trn_emu_ctx, link);
	if (ctx)
		trn_list_remove(&ctx->link);
	pthread_mutex_unlock(&emu->lock);
	if (!ctx)
		return -ENOENT;

	pthread_mutex_lock(&ctx->lock);
	ctx->closing = true;
	pthread_cond_signal(&ctx->work);
	pthread_mutex_unlock(&ctx->lock);
	pthread_join(ctx->worker, NULL);

	/* Who still holds a reference waits for points, which have all passed. */
	cores_give(ctx);
	for (i = 0; i < ctx->program_room; i++)
		trn_emu_program_put(emu, ctx->programs[i]);
	for (i = 0; i < ctx->ring_room; i++)
		trn_emu_ring_put(emu, ctx->rings[i]);
	ctx->program_room = 0;
	ctx->ring_room = 0;
	trn_emu_mem_free(emu, &ctx->args);
	trn_emu_mem_free(emu, &ctx->batch->fill);
	while (!trn_list_empty(&ctx->events)) {
		struct trn_emu_event *event =
			trn_list_entry(ctx->events.next, struct trn_emu_event, link);

		trn_list_remove(&event->link);
		close(event->fd);
		free(event);
	}
	trn_emu_ctx_put(ctx);
	return 0;
}

int trn_emu_ctx_status(struct trn_backend_device *device, struct drm_trainium_ctx_status *status)
{
	struct trn_emu_ctx *ctx = trn_emu_ctx_get(trn_emu_of(device), status->id);

	if (!ctx)
		return -ENOENT;
	pthread_mutex_lock(&ctx->lock);
	*status = ctx->status;
	pthread_mutex_unlock(&ctx->lock);
	trn_emu_ctx_put(ctx);
	return 0;
}

/* A failure of @point that is still remembered. */
static int failure_find_locked(const struct trn_emu_ctx *ctx, uint64_t point)
{
	uint64_t kept = ctx->status.jobs_failed < DRM_TRAINIUM_FAILURES_KEPT
				? ctx->status.jobs_failed
				: DRM_TRAINIUM_FAILURES_KEPT;
	uint64_t i;

	for (i = 0; i < kept; i++)
		if (ctx->failures[i].point == point)
			return ctx->failures[i].error == -ETIME ? -ETIMEDOUT
								: ctx->failures[i].error;
	return 0;
}

int trn_emu_ctx_wait_point(struct trn_emu_ctx *ctx, uint64_t point, int64_t deadline_ns,
			   uint64_t *jobs_failed)
{
	struct timespec end;
	int error = 0;

	end.tv_sec = deadline_ns > 0 ? deadline_ns / 1000000000 : 0;
	end.tv_nsec = deadline_ns > 0 ? deadline_ns % 1000000000 : 0;
	pthread_mutex_lock(&ctx->lock);
	while (ctx->completed < point && !error) {
		if (deadline_ns <= 0)
			error = ETIMEDOUT;
		else
			error = pthread_cond_timedwait(&ctx->passed, &ctx->lock, &end);
	}
	if (ctx->completed >= point) {
		error = failure_find_locked(ctx, point);
		*jobs_failed = ctx->status.jobs_failed;
	} else {
		error = -ETIME;
	}
	pthread_mutex_unlock(&ctx->lock);
	return error;
}

int trn_emu_ctx_wait(struct trn_backend_device *device, uint32_t id, uint64_t point,
		     int64_t deadline_ns, uint64_t *jobs_failed)
{
	struct trn_emu_ctx *ctx = trn_emu_ctx_get(trn_emu_of(device), id);
	int error;

	if (!ctx)
		return -ENOENT;
	error = trn_emu_ctx_wait_point(ctx, point, deadline_ns, jobs_failed);
	trn_emu_ctx_put(ctx);
	return error;
}

int trn_emu_ctx_fd(struct trn_backend_device *device, uint32_t id, uint64_t point, int *fd)
{
	struct trn_emu_ctx *ctx = trn_emu_ctx_get(trn_emu_of(device), id);
	struct trn_emu_event *event;
	int error = 0;

	if (!ctx)
		return -ENOENT;
	event = calloc(1, sizeof(*event));
	*fd = event ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
	if (*fd < 0) {
		error = event ? -errno : -ENOMEM;
		goto out;
	}
	pthread_mutex_lock(&ctx->lock);
	if (ctx->completed >= point) {
		error = eventfd_write(*fd, 1) ? -errno : 0;
	} else {
		/* The caller closes its descriptor when it likes; the worker has its own. */
		event->fd = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
		event->point = point;
		error = event->fd < 0 ? -errno : 0;
		if (!error) {
			trn_list_append(&ctx->events, &event->link);
			event = NULL;
		}
	}
	pthread_mutex_unlock(&ctx->lock);
	if (error) {
		close(*fd);
		*fd = -1;
	}
out:
	free(event);
	trn_emu_ctx_put(ctx);
	return error;
}
