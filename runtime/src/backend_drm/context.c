// SPDX-License-Identifier: BSD-2-Clause
/*
 * Contexts, their timelines, submission.
 *
 * A context has one timeline syncobj; job n of the runtime signals point n. The driver numbers
 * accepted jobs itself, so a point whose job it refused shifts the numbers behind it: trn_drm_seq
 * remembers where.
 *
 * Locking: trn_drm.lock guards the table; entries are copied out of it. A context is destroyed by
 * its one owner.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "drm.h"

#define WAITS_MAX      DRM_TRAINIUM_SUBMIT_SYNCS_MAX
#define BOOKS_TRIES    1000
#define BOOKS_PAUSE_US 100

/* The caller holds the lock. */
static struct trn_drm_ctx *ctx_find(struct trn_drm *drm, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < drm->ctx_count; i++)
		if (drm->ctxs[i].id == id)
			return &drm->ctxs[i];
	return NULL;
}

/* Timeline of a context and the driver's number of @point (0: unknown). */
static int ctx_lookup(struct trn_drm *drm, uint32_t id, uint64_t point, uint32_t *syncobj,
		      uint64_t *seq)
{
	const struct trn_drm_ctx *ctx;
	uint32_t i;

	*seq = 0;
	pthread_mutex_lock(&drm->lock);
	ctx = ctx_find(drm, id);
	if (ctx) {
		*syncobj = ctx->syncobj;
		for (i = ctx->seq_count; i-- > 0 && !*seq;)
			if (ctx->seqs[i].point <= point)
				*seq = point - ctx->seqs[i].gap;
	}
	pthread_mutex_unlock(&drm->lock);
	return ctx ? 0 : -ENOENT;
}

int trn_drm_ctx_create(struct trn_backend_device *device, struct drm_trainium_ctx_create *create)
{
	struct trn_drm *drm = trn_drm_of(device);
	struct trn_drm_ctx ctx = { 0 }, *list;
	struct drm_trainium_ctx_destroy undo = { 0 };
	int error;

	error = trn_drm_ioctl(drm->fd, DRM_IOCTL_TRAINIUM_CTX_CREATE, create);
	if (error)
		return error;
	undo.id = create->id;
	ctx.id = create->id;
	error = drmSyncobjCreate(drm->fd, 0, &ctx.syncobj) ? -errno : 0;
	if (error)
		goto err_ctx;
	pthread_mutex_lock(&drm->lock);
	list = realloc(drm->ctxs, (drm->ctx_count + 1) * sizeof(*list));
	if (list) {
		drm->ctxs = list;
		list[drm->ctx_count++] = ctx;
	}
	pthread_mutex_unlock(&drm->lock);
	if (list)
		return 0;
	error = -ENOMEM;
	drmSyncobjDestroy(drm->fd, ctx.syncobj);
err_ctx:
	trn_drm_ioctl(drm->fd, DRM_IOCTL_TRAINIUM_CTX_DESTROY, &undo);
	return error;
}

int trn_drm_ctx_destroy(struct trn_backend_device *device, uint32_t id)
{
	struct trn_drm *drm = trn_drm_of(device);
	struct drm_trainium_ctx_destroy request = { .id = id };
	struct trn_drm_ctx ctx = { 0 }, *found;
	int error;

	pthread_mutex_lock(&drm->lock);
	found = ctx_find(drm, id);
	if (found) {
		ctx = *found;
		*found = drm->ctxs[--drm->ctx_count];
	}
	pthread_mutex_unlock(&drm->lock);
	if (!ctx.id && !ctx.syncobj)
		return -ENOENT;
	error = trn_drm_ioctl(drm->fd, DRM_IOCTL_TRAINIUM_CTX_DESTROY, &request);
	/* The timeline outlives the context: wait for what was on the device. Jobs have time-outs,
	 * so this ends. */
	if (ctx.last)
		drmSyncobjTimelineWait(drm->fd, &ctx.syncobj, &ctx.last, 1, INT64_MAX, 0, NULL);
	drmSyncobjDestroy(drm->fd, ctx.syncobj);
	free(ctx.seqs);
	return error;
}

int trn_drm_ctx_status(struct trn_backend_device *device, struct drm_trainium_ctx_status *status)
{
	return trn_drm_ioctl(trn_drm_of(device)->fd, DRM_IOCTL_TRAINIUM_CTX_STATUS, status);
}

int trn_drm_ctx_wait(struct trn_backend_device *device, uint32_t id, uint64_t point,
		     int64_t deadline_ns, uint64_t *jobs_failed)
{
	struct trn_drm *drm = trn_drm_of(device);
	struct drm_trainium_ctx_status status = { .id = id };
	uint32_t syncobj;
	uint64_t seq;
	int error, tries;

	error = ctx_lookup(drm, id, point, &syncobj, &seq);
	if (error)
		return error;
	error = drmSyncobjTimelineWait(drm->fd, &syncobj, &point, 1, deadline_ns, 0, NULL);
	if (error)
		return error;
	status.seq = seq;
	/* The point may have passed a moment before the books of its job are closed. */
	for (tries = 0; tries < BOOKS_TRIES; tries++) {
		error = trn_drm_ioctl(drm->fd, DRM_IOCTL_TRAINIUM_CTX_STATUS, &status);
		if (error)
			return error;
		if (status.seq_error != -EINPROGRESS)
			break;
		usleep(BOOKS_PAUSE_US);
	}
	*jobs_failed = status.jobs_failed;
	return status.seq_error == -ETIME ? -ETIMEDOUT : status.seq_error;
}

int trn_drm_ctx_fd(struct trn_backend_device *device, uint32_t id, uint64_t point, int *fd)
{
	struct trn_drm *drm = trn_drm_of(device);
	uint32_t syncobj, binary;
	uint64_t seq;
	int error;

	error = ctx_lookup(drm, id, point, &syncobj, &seq);
	if (error)
		return error;
	if (drmSyncobjCreate(drm->fd, 0, &binary))
		return -errno;
	error = drmSyncobjTransfer(drm->fd, binary, 0, syncobj, point, 0) ? -errno : 0;
	if (!error)
		error = drmSyncobjExportSyncFile(drm->fd, binary, fd) ? -errno : 0;
	if (!error)
		fcntl(*fd, F_SETFD, FD_CLOEXEC);
	drmSyncobjDestroy(drm->fd, binary);
	return error;
}

/* ---- submission ---- */

/* A handle of this file for the timeline of another device's context; the caller destroys it. */
static int syncobj_import(struct trn_drm *drm, struct trn_drm *other, uint32_t syncobj,
			  uint32_t *handle)
{
	int fd, error;

	error = drmSyncobjHandleToFD(other->fd, syncobj, &fd);
	if (error)
		return -errno;
	error = drmSyncobjFDToHandle(drm->fd, fd, handle) ? -errno : 0;
	close(fd);
	return error;
}

static void seq_note(struct trn_drm *drm, uint32_t id, uint64_t point, uint64_t seq)
{
	struct trn_drm_ctx *ctx;
	struct trn_drm_seq *list;

	pthread_mutex_lock(&drm->lock);
	ctx = ctx_find(drm, id);
	if (ctx) {
		ctx->last = point;
		if (!ctx->seq_count || ctx->seqs[ctx->seq_count - 1].gap != point - seq) {
			/* Short of memory the number of this job stays unknown; its error then
			 * reads as that of the context. */
			list = realloc(ctx->seqs, (ctx->seq_count + 1) * sizeof(*list));
			if (list) {
				ctx->seqs = list;
				list[ctx->seq_count].point = point;
				list[ctx->seq_count++].gap = point - seq;
			}
		}
	}
	pthread_mutex_unlock(&drm->lock);
}

int trn_drm_submit(struct trn_backend_device *device, const struct trn_backend_job *job)
{
	struct drm_trainium_sync waits[WAITS_MAX], signal = { .point = job->signal };
	struct trn_drm *drm = trn_drm_of(device);
	bool imported[WAITS_MAX] = { false };
	struct drm_trainium_submit submit = {
		.ctx = job->ctx,
		.cmds = (uintptr_t)job->cmds,
		.cmd_count = job->cmd_count,
		.cmd_stride = sizeof(*job->cmds),
		.waits = (uintptr_t)waits,
		.signals = (uintptr_t)&signal,
		.signal_count = 1,
		.timeout_ns = job->timeout_ns,
		.flags = job->wait ? DRM_TRAINIUM_SUBMIT_WAIT : 0,
	};
	uint64_t seq;
	uint32_t i;
	int error;

	if (job->wait_count > WAITS_MAX)
		return -E2BIG;
	error = ctx_lookup(drm, job->ctx, 0, &signal.handle, &seq);
	memset(waits, 0, sizeof(waits[0]) * job->wait_count);
	for (i = 0; i < job->wait_count && !error; i++) {
		struct trn_drm *other = trn_drm_of(job->waits[i].device);

		error = ctx_lookup(other, job->waits[i].ctx, 0, &waits[i].handle, &seq);
		if (!error && other != drm) {
			error = syncobj_import(drm, other, waits[i].handle, &waits[i].handle);
			imported[i] = !error;
		}
		waits[i].point = job->waits[i].point;
		submit.wait_count++;
	}
	if (!error)
		error = trn_drm_ioctl(drm->fd, DRM_IOCTL_TRAINIUM_SUBMIT, &submit);
	/* With WAIT the error may be that of the job, which was accepted: it is asked for later. */
	if (!error || submit.seq) {
		seq_note(drm, job->ctx, job->signal, submit.seq);
		if (job->wait)
			*job->finished = !error;
		error = 0;
	}
	for (i = 0; i < job->wait_count; i++)
		if (imported[i])
			drmSyncobjDestroy(drm->fd, waits[i].handle);
	return error;
}
