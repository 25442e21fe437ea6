// SPDX-License-Identifier: BSD-2-Clause
/*
 * Waiting for points of a queue.
 *
 * A point that passes says nothing about earlier ones, so a wait that ends well also asks whether
 * any job of the queue failed and, if so, looks for the first one. That makes the last fence of a
 * sequence speak for all of it.
 *
 * Locking: the queue's lock is taken inside, never while waiting.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "internal.h"

int64_t trn_deadline(uint64_t timeout_ns)
{
	struct timespec now;
	int64_t base;

	clock_gettime(CLOCK_MONOTONIC, &now);
	base = now.tv_sec * 1000000000ll + now.tv_nsec;
	return timeout_ns > (uint64_t)(INT64_MAX - base) ? INT64_MAX : base + (int64_t)timeout_ns;
}

void trn_queue_find_failure_locked(struct trn_queue *queue)
{
	struct trn_device *device = queue->device;
	uint64_t point, failed;
	int error;

	for (point = queue->passed + 1; point <= queue->sent; point++) {
		error = device->ops->ctx_wait(device->backend, queue->ctx, point, 0, &failed);
		if (error == -ETIME)
			return;
		if (error) {
			trn_queue_job_failed_locked(queue, point, error);
			return;
		}
	}
}

static enum trn_status settle(struct trn_queue *queue, uint64_t point, int error, uint64_t failed)
{
	enum trn_status result;

	pthread_mutex_lock(&queue->lock);
	if (!queue->failed && (error || failed != queue->failed_jobs))
		trn_queue_find_failure_locked(queue);
	result = trn_queue_outcome_locked(queue, point);
	if (!result && error) {
		/* A failure nothing above accounts for, such as a removed device. */
		trn_queue_job_failed_locked(queue, point, error);
		result = trn_queue_outcome_locked(queue, point);
	}
	if (!result && point > atomic_load_explicit(&queue->passed, memory_order_relaxed))
		atomic_store_explicit(&queue->passed, point, memory_order_release);
	pthread_mutex_unlock(&queue->lock);
	return result;
}

/* @pending tells a point that has not passed from a job that ran out of time: both are
 * TRN_ERR_TIMEOUT. */
static enum trn_status wait_point(struct trn_queue *queue, uint64_t point, int64_t deadline_ns,
				  bool *pending)
{
	struct trn_device *device = queue->device;
	enum trn_status result;
	uint64_t failed = 0;
	int error;

	*pending = false;
	pthread_mutex_lock(&queue->lock);
	if (point > queue->submitted && queue->cmd_count)
		trn_queue_flush_locked(queue, deadline_ns == INT64_MAX);
	result = trn_queue_sent_check_locked(queue, point);
	pthread_mutex_unlock(&queue->lock);
	if (result)
		return result;
	if (point <= atomic_load_explicit(&queue->passed, memory_order_acquire))
		return TRN_OK;
	error = device->ops->ctx_wait(device->backend, queue->ctx, point, deadline_ns, &failed);
	if (error == -ETIME) {
		*pending = true;
		return trn_error_set(TRN_ERR_TIMEOUT,
				     "%s: queue %" PRIu64 ": point %" PRIu64
				     " has not passed yet; wait again or longer",
				     device->spec, queue->id, point);
	}
	return settle(queue, point, error, failed);
}

enum trn_status trn_queue_wait_point(struct trn_queue *queue, uint64_t point, int64_t deadline_ns)
{
	bool pending;

	return wait_point(queue, point, deadline_ns, &pending);
}

void trn_queue_retire(struct trn_queue *queue, uint64_t point)
{
	struct trn_device *device = queue->device;
	uint64_t sent, failed;

	pthread_mutex_lock(&queue->lock);
	if (point > queue->submitted && queue->cmd_count)
		trn_queue_flush_locked(queue, true);
	sent = queue->sent;
	pthread_mutex_unlock(&queue->lock);
	/* Jobs have time-outs: this ends. A point that was given out but not sent waits for the one
	 * before it. */
	if (sent && atomic_load_explicit(&queue->passed, memory_order_acquire) < point)
		device->ops->ctx_wait(device->backend, queue->ctx, point < sent ? point : sent,
				      INT64_MAX, &failed);
}

static enum trn_status fence_check(struct trn_fence fence, const char *what)
{
	if (!fence.queue)
		return trn_error_set(TRN_ERR_INVALID, "%s: the fence has no queue", what);
	return trn_device_check(fence.queue->device, what);
}

enum trn_status trn_fence_wait(struct trn_fence fence, uint64_t timeout_ns)
{
	enum trn_status result = fence_check(fence, "trn_fence_wait");

	if (result)
		return result;
	return trn_queue_wait_point(fence.queue, fence.point, trn_deadline(timeout_ns));
}

bool trn_fence_done(struct trn_fence fence)
{
	bool pending;

	if (fence_check(fence, "trn_fence_done"))
		return false;
	return wait_point(fence.queue, fence.point, 0, &pending) == TRN_OK || !pending;
}

enum trn_status trn_fence_fd(struct trn_fence fence, int *fd)
{
	enum trn_status result = fence_check(fence, "trn_fence_fd");
	struct trn_queue *queue = fence.queue;
	int error;

	if (result)
		return result;
	if (!fd)
		return trn_error_set(TRN_ERR_INVALID, "trn_fence_fd: fd is NULL");
	*fd = -1;
	pthread_mutex_lock(&queue->lock);
	if (fence.point > queue->submitted && queue->cmd_count)
		trn_queue_flush_locked(queue, false);
	result = trn_queue_sent_check_locked(queue, fence.point);
	pthread_mutex_unlock(&queue->lock);
	if (result)
		return result;
	error = queue->device->ops->ctx_fd(queue->device->backend, queue->ctx, fence.point, fd);
	if (error)
		return trn_error_set(trn_status_from_errno(error),
				     "%s: queue %" PRIu64 ": no descriptor for point %" PRIu64
				     ": %s",
				     queue->device->spec, queue->id, fence.point, strerror(-error));
	return TRN_OK;
}
