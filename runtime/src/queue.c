// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queues: commands are collected into a batch; a batch becomes one job of the backend, one point of
 * the queue.
 *
 * Locking: trn_queue.lock protects the batch, the points and the failures. The backend's submit is
 * called with it held, so jobs reach the backend in the order of their points.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "memory.h"

static atomic_uint_fast64_t queue_ids = 1;

static void queue_free(struct trn_queue *queue)
{
	pthread_mutex_destroy(&queue->lock);
	free(queue->cmds);
	free(queue->args);
	free(queue->failures);
	free(queue);
}

static struct trn_queue *queue_new(struct trn_device *device)
{
	struct trn_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->device = device;
	queue->id = atomic_fetch_add(&queue_ids, 1);
	queue->cmds = calloc(TRN_BATCH_CMDS, sizeof(*queue->cmds));
	queue->args = calloc(TRN_BATCH_CMDS, DRM_TRAINIUM_ARGS_MAX);
	pthread_mutex_init(&queue->lock, NULL);
	trn_list_init(&queue->children);
	trn_list_init(&queue->link);
	if (!queue->cmds || !queue->args) {
		queue_free(queue);
		return NULL;
	}
	return queue;
}

enum trn_status trn_queue_make(struct trn_device *device, const struct trn_queue_options *options,
			       struct trn_queue **out)
{
	struct drm_trainium_ctx_create create = { .core_mask = options->core_mask,
						  .core_count = options->core_count };
	struct trn_queue *queue;
	int error;

	queue = queue_new(device);
	if (!queue)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "%s: no memory for a queue",
				     device->spec);
	queue->timeout_ns = options->timeout_ns;
	error = device->ops->ctx_create(device->backend, &create);
	if (error) {
		queue_free(queue);
		if (error == -EBUSY)
			return trn_info_busy(device, options->core_mask, options->core_count);
		if (error == -ENODEV)
			return trn_error_set(
				TRN_ERR_GONE,
				"%s was removed: close it, `trn ls` lists what is there",
				device->spec);
		if (error == -EOPNOTSUPP)
			return trn_error_set(TRN_ERR_UNSUPPORTED,
					     "%s cannot run programs (no open extension): make a "
					     "queue without cores for copies",
					     device->spec);
		return trn_error_set(trn_status_from_errno(error),
				     "%s: cannot make a queue with cores 0x%x or any %u: %s",
				     device->spec, options->core_mask, options->core_count,
				     strerror(-error));
	}
	queue->ctx = create.id;
	queue->cores = create.cores;
	pthread_mutex_lock(&device->lock);
	trn_list_append(&device->queues, &queue->link);
	pthread_mutex_unlock(&device->lock);
	*out = queue;
	return TRN_OK;
}

enum trn_status trn_queue_create(struct trn_device *device, const struct trn_queue_options *options,
				 struct trn_queue **queue)
{
	struct trn_queue_options wanted;
	enum trn_status result;
	uint32_t all;

	result = trn_device_check(device, "trn_queue_create");
	if (result)
		return result;
	if (!queue)
		return trn_error_set(TRN_ERR_INVALID, "%s: trn_queue_create: queue is NULL",
				     device->spec);
	*queue = NULL;
	result = trn_options_get(options, &wanted, sizeof(wanted), "trn_queue_create");
	if (result)
		return result;
	all = device->info.cores >= 32 ? UINT32_MAX : (1u << device->info.cores) - 1;
	if (wanted.core_mask & ~all || wanted.core_count > device->info.cores)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s has cores 0 to %u: cores 0x%x, or any %u, cannot be had",
				     device->spec, device->info.cores - 1, wanted.core_mask,
				     wanted.core_count);
	if (wanted.core_mask && wanted.core_count &&
	    (uint32_t)__builtin_popcount(wanted.core_mask) != wanted.core_count)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: core_mask 0x%x names %d cores, core_count asks for %u: "
				     "give one of the two",
				     device->spec, wanted.core_mask,
				     __builtin_popcount(wanted.core_mask), wanted.core_count);
	if (wanted.timeout_ns > DRM_TRAINIUM_TIMEOUT_MAX_NS)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: timeout_ns %" PRIu64 " is more than %" PRIu64
				     " (10 minutes)",
				     device->spec, wanted.timeout_ns,
				     (uint64_t)DRM_TRAINIUM_TIMEOUT_MAX_NS);
	return trn_queue_make(device, &wanted, queue);
}

static void destroy_children(struct trn_queue *queue)
{
	struct trn_child *child;

	for (;;) {
		pthread_mutex_lock(&queue->lock);
		if (trn_list_empty(&queue->children)) {
			pthread_mutex_unlock(&queue->lock);
			return;
		}
		child = trn_list_entry(queue->children.prev, struct trn_child, link);
		trn_list_remove(&child->link);
		pthread_mutex_unlock(&queue->lock);
		child->destroy(child);
	}
}

void trn_queue_destroy(struct trn_queue *queue)
{
	struct trn_device *device;

	if (!queue || trn_device_check(queue->device, "trn_queue_destroy"))
		return;
	device = queue->device;
	pthread_mutex_lock(&queue->lock);
	queue->cmd_count = 0;
	pthread_mutex_unlock(&queue->lock);
	destroy_children(queue);

	/* From here on nobody finds the queue; who found it before still waits for its points. */
	pthread_mutex_lock(&device->lock);
	trn_list_remove(&queue->link);
	while (queue->refs)
		pthread_cond_wait(&device->queue_put, &device->lock);
	pthread_mutex_unlock(&device->lock);
	device->ops->ctx_destroy(device->backend, queue->ctx);
	queue_free(queue);
}

uint32_t trn_queue_cores(const struct trn_queue *queue)
{
	return queue ? queue->cores : 0;
}

uint32_t trn_queue_core(const struct trn_queue *queue, uint32_t index)
{
	uint32_t mask = queue->cores;

	for (; mask; mask &= mask - 1)
		if (!index--)
			return __builtin_ctz(mask);
	return UINT32_MAX;
}

void trn_queue_child_add(struct trn_queue *queue, struct trn_child *child)
{
	pthread_mutex_lock(&queue->lock);
	trn_list_append(&queue->children, &child->link);
	pthread_mutex_unlock(&queue->lock);
}

void trn_queue_child_remove(struct trn_queue *queue, struct trn_child *child)
{
	pthread_mutex_lock(&queue->lock);
	trn_list_remove(&child->link);
	pthread_mutex_unlock(&queue->lock);
}

/* ---- sending ---- */

static enum trn_status submit_failed_locked(struct trn_queue *queue, uint64_t point, uint32_t cmds,
					    int error)
{
	char text[512];
	const char *hint = "";

	if (error == -EFAULT)
		hint = ": a host buffer is not (or no more) mapped in this process, or the "
		       "device is to write into memory that is read-only";
	else if (error == -ENOENT)
		hint = ": a memory or program it names was freed";
	else if (error == -ENODEV)
		hint = ": the device was removed; close it, `trn ls` lists what is there";
	else if (error == -ENOMEM)
		hint = ": too little host memory, or the limit of locked memory (ulimit -l): "
		       "copy less at once, or raise it in /etc/security/limits.conf";
	snprintf(text, sizeof(text),
		 "%s: queue %" PRIu64 ": the driver refused point %" PRIu64 " (%u commands): %s%s",
		 queue->device->spec, queue->id, point, cmds, strerror(-error), hint);
	trn_queue_fail_locked(queue, point, trn_status_from_errno(error), text);
	return trn_queue_outcome_locked(queue, point);
}

/*
 * May sending and waiting be one call? The lock is held meanwhile, which makes others wait who only
 * look: short jobs alone. And nothing else may be under way whose failure would go unnoticed.
 */
static bool wait_in_call(const struct trn_queue *queue)
{
	uint32_t i;

	if (queue->batch_bytes > TRN_WAIT_BYTES ||
	    atomic_load_explicit(&queue->passed, memory_order_relaxed) != queue->submitted)
		return false;
	for (i = 0; i < queue->cmd_count; i++)
		if (queue->cmds[i].type == DRM_TRAINIUM_CMD_RUN)
			return false;
	return true;
}

enum trn_status trn_queue_flush_locked(struct trn_queue *queue, bool wait)
{
	struct trn_device *device = queue->device;
	bool finished = false;
	struct trn_backend_job job = {
		.ctx = queue->ctx,
		.cmds = queue->cmds,
		.cmd_count = queue->cmd_count,
		.signal = queue->submitted + 1,
		.timeout_ns = queue->timeout_ns,
		.wait = wait && wait_in_call(queue),
		.finished = &finished,
	};
	int error;

	if (!queue->cmd_count)
		return TRN_OK;
	error = device->ops->submit(device->backend, &job);
	queue->submitted++;
	queue->cmd_count = 0;
	queue->batch_bytes = 0;
	if (error)
		return submit_failed_locked(queue, job.signal, job.cmd_count, error);
	queue->sent = job.signal;
	if (finished)
		atomic_store_explicit(&queue->passed, job.signal, memory_order_release);
	return TRN_OK;
}

static uint64_t cmd_bytes(const struct drm_trainium_cmd *cmd)
{
	switch (cmd->type) {
	case DRM_TRAINIUM_CMD_COPY:
		return cmd->copy.length;
	case DRM_TRAINIUM_CMD_FILL:
		return cmd->fill.length;
	default:
		return 0;
	}
}

static enum trn_status refuse_failed_locked(struct trn_queue *queue)
{
	const struct trn_failure *failure =
		queue->failure_count ? &queue->failures[queue->failure_count - 1] : NULL;

	return trn_error_set(TRN_ERR_CANCELED,
			     "%s: queue %" PRIu64
			     " takes no work after a failure (%s); call trn_queue_reset() first",
			     queue->device->spec, queue->id,
			     failure ? failure->text : "no memory for its description");
}

/* Append; on success *@point is the point of the batch, which the caller has yet to send when it is
 * full. */
static enum trn_status append_locked(struct trn_queue *queue, const struct drm_trainium_cmd *cmd,
				     uint64_t *point)
{
	enum trn_status result;
	uint8_t *args;

	if (queue->failed)
		return refuse_failed_locked(queue);
	if (queue->cmd_count == TRN_BATCH_CMDS) {
		result = trn_queue_flush_locked(queue, false);
		if (result)
			return result;
	}
	queue->cmds[queue->cmd_count] = *cmd;
	if (cmd->type == DRM_TRAINIUM_CMD_RUN) {
		args = queue->args + (size_t)queue->cmd_count * DRM_TRAINIUM_ARGS_MAX;
		if (cmd->run.args_size)
			memcpy(args, (const void *)(uintptr_t)cmd->run.args, cmd->run.args_size);
		queue->cmds[queue->cmd_count].run.args = cmd->run.args_size ? (uintptr_t)args : 0;
	}
	queue->cmd_count++;
	queue->batch_bytes += cmd_bytes(cmd);
	*point = queue->submitted + 1;
	return TRN_OK;
}

static enum trn_status enqueue_locked(struct trn_queue *queue, const struct drm_trainium_cmd *cmd,
				      struct trn_memory *dst, struct trn_memory *src,
				      struct trn_fence *fence)
{
	struct trn_fence done = { .queue = queue };
	enum trn_status result;

	result = append_locked(queue, cmd, &done.point);
	if (result)
		return result;
	if (dst)
		trn_memory_touch(dst, done);
	if (src)
		trn_memory_touch(src, done);
	if (fence)
		*fence = done;
	if (queue->cmd_count == TRN_BATCH_CMDS || queue->batch_bytes >= TRN_BATCH_BYTES)
		result = trn_queue_flush_locked(queue, false);
	return result;
}

static enum trn_status enqueue(struct trn_queue *queue, const struct drm_trainium_cmd *cmd,
			       struct trn_memory *dst, struct trn_memory *src,
			       struct trn_fence *fence)
{
	enum trn_status result;

	pthread_mutex_lock(&queue->lock);
	result = enqueue_locked(queue, cmd, dst, src, fence);
	pthread_mutex_unlock(&queue->lock);
	return result;
}

enum trn_status trn_queue_enqueue(struct trn_queue *queue, const struct drm_trainium_cmd *cmd,
				  struct trn_fence *fence)
{
	if (cmd->type == DRM_TRAINIUM_CMD_RUN &&
	    (cmd->run.args_size > DRM_TRAINIUM_ARGS_MAX || cmd->run.args_size % 4))
		return trn_error_set(
			TRN_ERR_INVALID,
			"%s: queue %" PRIu64
			": argument block of %u bytes; a multiple of 4, at most %u, can be passed",
			queue->device->spec, queue->id, cmd->run.args_size, DRM_TRAINIUM_ARGS_MAX);
	return enqueue(queue, cmd, NULL, NULL, fence);
}

/* ---- the public commands ---- */

static enum trn_status queue_check(const struct trn_queue *queue, const char *what)
{
	if (!queue)
		return trn_error_set(TRN_ERR_INVALID, "%s: queue is NULL", what);
	return trn_device_check(queue->device, what);
}

static enum trn_status memory_check(const struct trn_queue *queue, const struct trn_memory *memory,
				    uint64_t offset, uint64_t bytes, const char *what,
				    struct trn_place *place)
{
	if (!memory)
		return trn_error_set(TRN_ERR_INVALID, "%s: memory is NULL", what);
	if (trn_memory_device(memory) != queue->device)
		return trn_error_set(
			TRN_ERR_INVALID,
			"%s: the queue is of %s, the memory of %s%s: copy through host "
			"memory, or make a queue of the other device",
			what, queue->device->spec,
			strcmp(queue->device->spec, trn_memory_device(memory)->spec)
				? ""
				: "another opening of ",
			trn_memory_device(memory)->spec);
	if (!bytes)
		return trn_error_set(TRN_ERR_INVALID, "%s: 0 bytes", what);
	return trn_memory_place(memory, offset, bytes, what, place);
}

static enum trn_status host_check(const struct trn_queue *queue, const void *pointer,
				  uint64_t bytes, const char *what)
{
	if (!pointer)
		return trn_error_set(TRN_ERR_INVALID, "%s: %s: the host buffer is NULL",
				     queue->device->spec, what);
	if ((uintptr_t)pointer + bytes < bytes)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: %s: %" PRIu64
				     " bytes from %p pass the end of the address space",
				     queue->device->spec, what, bytes, pointer);
	return TRN_OK;
}

enum trn_status trn_queue_write(struct trn_queue *queue, struct trn_memory *dst, uint64_t offset,
				const void *src, uint64_t bytes, struct trn_fence *fence)
{
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_COPY };
	enum trn_status result;
	struct trn_place place;

	result = queue_check(queue, "trn_queue_write");
	if (!result)
		result = memory_check(queue, dst, offset, bytes, "trn_queue_write", &place);
	if (!result)
		result = host_check(queue, src, bytes, "trn_queue_write");
	if (result)
		return result;
	cmd.copy.src_offset = (uintptr_t)src;
	cmd.copy.dst_handle = place.handle;
	cmd.copy.dst_offset = place.offset;
	cmd.copy.length = bytes;
	return enqueue(queue, &cmd, dst, NULL, fence);
}

enum trn_status trn_queue_read(struct trn_queue *queue, void *dst, struct trn_memory *src,
			       uint64_t offset, uint64_t bytes, struct trn_fence *fence)
{
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_COPY };
	enum trn_status result;
	struct trn_place place;

	result = queue_check(queue, "trn_queue_read");
	if (!result)
		result = memory_check(queue, src, offset, bytes, "trn_queue_read", &place);
	if (!result)
		result = host_check(queue, dst, bytes, "trn_queue_read");
	if (result)
		return result;
	cmd.copy.src_handle = place.handle;
	cmd.copy.src_offset = place.offset;
	cmd.copy.dst_offset = (uintptr_t)dst;
	cmd.copy.length = bytes;
	return enqueue(queue, &cmd, NULL, src, fence);
}

enum trn_status trn_queue_copy(struct trn_queue *queue, struct trn_memory *dst, uint64_t dst_offset,
			       struct trn_memory *src, uint64_t src_offset, uint64_t bytes,
			       struct trn_fence *fence)
{
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_COPY };
	struct trn_place to, from;
	enum trn_status result;

	result = queue_check(queue, "trn_queue_copy");
	if (!result)
		result = memory_check(queue, dst, dst_offset, bytes, "trn_queue_copy, destination",
				      &to);
	if (!result)
		result = memory_check(queue, src, src_offset, bytes, "trn_queue_copy, source",
				      &from);
	if (result)
		return result;
	if (dst == src && dst_offset < src_offset + bytes && src_offset < dst_offset + bytes)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: trn_queue_copy: %" PRIu64 " bytes from offset %" PRIu64
				     " to offset %" PRIu64
				     " of the same memory overlap; copy through another memory",
				     queue->device->spec, bytes, src_offset, dst_offset);
	cmd.copy.src_handle = from.handle;
	cmd.copy.src_offset = from.offset;
	cmd.copy.dst_handle = to.handle;
	cmd.copy.dst_offset = to.offset;
	cmd.copy.length = bytes;
	return enqueue(queue, &cmd, dst, src, fence);
}

enum trn_status trn_queue_fill(struct trn_queue *queue, struct trn_memory *dst, uint64_t offset,
			       uint32_t pattern, uint64_t bytes, struct trn_fence *fence)
{
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_FILL };
	enum trn_status result;
	struct trn_place place;

	result = queue_check(queue, "trn_queue_fill");
	if (!result)
		result = memory_check(queue, dst, offset, bytes, "trn_queue_fill", &place);
	if (result)
		return result;
	if (offset % 4 || bytes % 4)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: trn_queue_fill: offset %" PRIu64 " and %" PRIu64
				     " bytes must be multiples of 4",
				     queue->device->spec, offset, bytes);
	cmd.fill.handle = place.handle;
	cmd.fill.pattern = pattern;
	cmd.fill.offset = place.offset;
	cmd.fill.length = bytes;
	return enqueue(queue, &cmd, dst, NULL, fence);
}

/* Make sure that a point of another queue is on its way to the device. */
static enum trn_status fence_sent(struct trn_fence fence)
{
	struct trn_queue *other = fence.queue;
	enum trn_status result = TRN_OK;

	pthread_mutex_lock(&other->lock);
	if (fence.point > other->submitted && other->cmd_count)
		result = trn_queue_flush_locked(other, false);
	if (!result)
		result = trn_queue_sent_check_locked(other, fence.point);
	pthread_mutex_unlock(&other->lock);
	return result;
}

/*
 * A job of its own that does nothing but wait: later ones come after it anyway, and nothing has to
 * be remembered of a queue or device that may be gone by the time the next batch is sent.
 */
static enum trn_status wait_send_locked(struct trn_queue *queue, struct trn_fence fence)
{
	const struct trn_backend_point wait = {
		.device = fence.queue->device->backend,
		.ctx = fence.queue->ctx,
		.point = fence.point,
	};
	const struct trn_backend_job job = {
		.ctx = queue->ctx,
		.waits = &wait,
		.wait_count = 1,
		.signal = queue->submitted + 1,
	};
	int error = queue->device->ops->submit(queue->device->backend, &job);

	queue->submitted++;
	if (error)
		return submit_failed_locked(queue, job.signal, 0, error);
	queue->sent = job.signal;
	return TRN_OK;
}

enum trn_status trn_queue_wait_fence(struct trn_queue *queue, struct trn_fence fence)
{
	enum trn_status result;

	result = queue_check(queue, "trn_queue_wait_fence");
	if (!result)
		result = queue_check(fence.queue, "trn_queue_wait_fence, fence");
	if (result)
		return result;
	if (fence.queue == queue)
		return TRN_OK;
	result = fence_sent(fence);
	if (result)
		return result;
	if (fence.point <= atomic_load_explicit(&fence.queue->passed, memory_order_acquire))
		return TRN_OK;
	/* No common clockwork: the thread waits in the device's place. */
	if (fence.queue->device->ops != queue->device->ops)
		return trn_queue_wait_point(fence.queue, fence.point, INT64_MAX);

	pthread_mutex_lock(&queue->lock);
	if (queue->failed)
		result = refuse_failed_locked(queue);
	/* What was enqueued before must not wait. */
	else if (queue->cmd_count)
		result = trn_queue_flush_locked(queue, false);
	if (!result)
		result = wait_send_locked(queue, fence);
	pthread_mutex_unlock(&queue->lock);
	return result;
}

enum trn_status trn_queue_flush(struct trn_queue *queue)
{
	enum trn_status result = queue_check(queue, "trn_queue_flush");

	if (result)
		return result;
	pthread_mutex_lock(&queue->lock);
	result = queue->failed ? refuse_failed_locked(queue) : trn_queue_flush_locked(queue, false);
	pthread_mutex_unlock(&queue->lock);
	return result;
}

enum trn_status trn_queue_finish(struct trn_queue *queue, uint64_t timeout_ns)
{
	enum trn_status result = queue_check(queue, "trn_queue_finish");
	uint64_t point;

	if (result)
		return result;
	pthread_mutex_lock(&queue->lock);
	if (!queue->failed)
		trn_queue_flush_locked(queue, timeout_ns == UINT64_MAX);
	point = queue->submitted;
	/* A failure that is not reset is the answer, whichever point it hit. */
	if (queue->failed && queue->failure_count)
		point = queue->failures[queue->failure_count - 1].first;
	pthread_mutex_unlock(&queue->lock);
	if (!point)
		return TRN_OK;
	result = trn_queue_wait_point(queue, point, trn_deadline(timeout_ns));
	if (result != TRN_ERR_CANCELED)
		return result;
	/* The last point was canceled: tell what failed first. */
	pthread_mutex_lock(&queue->lock);
	if (queue->failed && queue->failure_count)
		result = trn_queue_outcome_locked(queue,
						  queue->failures[queue->failure_count - 1].first);
	pthread_mutex_unlock(&queue->lock);
	return result;
}

void trn_queue_drain(struct trn_queue *queue)
{
	trn_queue_retire(queue, UINT64_MAX);
}

enum trn_status trn_queue_reset(struct trn_queue *queue)
{
	struct drm_trainium_ctx_status status;
	enum trn_status result = queue_check(queue, "trn_queue_reset");
	struct trn_device *device;
	int error;

	if (result)
		return result;
	device = queue->device;
	trn_queue_drain(queue);
	pthread_mutex_lock(&queue->lock);
	status = (struct drm_trainium_ctx_status){ .id = queue->ctx };
	error = device->ops->ctx_status(device->backend, &status);
	if (error) {
		result = trn_error_set(trn_status_from_errno(error),
				       "%s: queue %" PRIu64 " cannot be reset: %s", device->spec,
				       queue->id, strerror(-error));
	} else {
		if (!queue->failed && status.jobs_failed != queue->failed_jobs)
			trn_queue_find_failure_locked(queue);
		if (queue->failed && queue->failure_count)
			queue->failures[queue->failure_count - 1].last = queue->submitted;
		queue->failed = false;
		queue->failed_jobs = status.jobs_failed;
		/* Points before the failure passed, those from it on are in the failures: none
		 * needs the backend any more. */
		atomic_store_explicit(&queue->passed, queue->submitted, memory_order_release);
	}
	pthread_mutex_unlock(&queue->lock);
	return result;
}
