// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failures of a queue: which points failed, and how that reads.
 *
 * Locking: callers of ..._locked() hold the queue's lock.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "trainium/isa.h"

const char *trn_fault_name(uint32_t fault)
{
	static const char *const names[] = {
		[TRN_FAULT_NONE] = "no fault",
		[TRN_FAULT_ILLEGAL_INSN] = "illegal instruction",
		[TRN_FAULT_OPERAND] = "bad operand",
		[TRN_FAULT_FETCH] = "instruction fetch outside the image",
		[TRN_FAULT_WINDOW] = "address outside the program's buffers",
		[TRN_FAULT_DMA] = "DMA error",
		[TRN_FAULT_SEM_OVERFLOW] = "semaphore overflow",
		[TRN_FAULT_EVENT_DOUBLE] = "event set twice",
		[TRN_FAULT_NAN] = "not a number",
		[TRN_FAULT_STOPPED] = "stopped by the host",
		[TRN_FAULT_REQUEST] = "malformed run request",
		[TRN_FAULT_HALT_MISSING] = "ran past the end of the image",
		[TRN_FAULT_NOTIFY_OVERFLOW] = "notification ring overflow",
	};

	if (fault >= sizeof(names) / sizeof(names[0]) || !names[fault])
		return "unknown fault";
	return names[fault];
}

const char *trn_engine_name(uint32_t engine)
{
	switch (engine) {
	case TRN_ENGINE_PE:
		return "tensor engine";
	case TRN_ENGINE_ACT:
		return "scalar engine";
	case TRN_ENGINE_POOL:
		return "GpSimd engine";
	case TRN_ENGINE_DVE:
		return "vector engine";
	case TRN_ENGINE_SP:
		return "sync engine";
	case TRN_ENGINE_CC:
		return "collectives engine";
	default:
		return "no engine";
	}
}

void trn_queue_fail_locked(struct trn_queue *queue, uint64_t point, enum trn_status status,
			   const char *text)
{
	struct trn_failure *list;

	if (queue->failed)
		return;
	/* A batch under construction is lost: its point will not be sent. */
	if (queue->cmd_count) {
		queue->submitted++;
		queue->cmd_count = 0;
		queue->batch_bytes = 0;
	}
	queue->failed = true;
	list = realloc(queue->failures, (queue->failure_count + 1) * sizeof(*list));
	if (!list) {
		/* The newest failure is the one people wait for: overwrite the last one, if any. */
		if (!queue->failure_count)
			return;
		list = queue->failures;
		queue->failure_count--;
	}
	queue->failures = list;
	list += queue->failure_count++;
	list->first = point;
	list->last = UINT64_MAX;
	list->status = status;
	snprintf(list->text, sizeof(list->text), "%s", text);
}

enum trn_status trn_queue_outcome_locked(struct trn_queue *queue, uint64_t point)
{
	size_t i;

	for (i = queue->failure_count; i-- > 0;) {
		const struct trn_failure *failure = &queue->failures[i];

		if (point < failure->first || point > failure->last)
			continue;
		if (point == failure->first)
			return trn_error_set(failure->status, "%s", failure->text);
		return trn_error_set(TRN_ERR_CANCELED,
				     "%s: queue %" PRIu64 ": point %" PRIu64
				     " was canceled by the failure of point %" PRIu64
				     " (%s); call trn_queue_reset() and enqueue it again",
				     queue->device->spec, queue->id, point, failure->first,
				     failure->text);
	}
	return TRN_OK;
}

enum trn_status trn_queue_sent_check_locked(struct trn_queue *queue, uint64_t point)
{
	enum trn_status result = trn_queue_outcome_locked(queue, point);

	if (!result && point > queue->sent)
		result = trn_error_set(TRN_ERR_INVALID,
				       "%s: queue %" PRIu64 ": point %" PRIu64
				       " was never enqueued, the last one is %" PRIu64,
				       queue->device->spec, queue->id, point, queue->sent);
	return result;
}

static void describe_fault(const struct trn_queue *queue,
			   const struct drm_trainium_ctx_status *status, uint64_t point, char *text,
			   size_t size)
{
	if (status->fault == TRN_FAULT_NONE)
		snprintf(text, size,
			 "%s: queue %" PRIu64 ": point %" PRIu64
			 " failed on the device without a fault report; see the kernel log",
			 queue->device->spec, queue->id, point);
	else
		snprintf(text, size,
			 "%s: queue %" PRIu64 ": point %" PRIu64
			 ": program fault %u (%s) on the %s at instruction %u, tag %u, "
			 "address 0x%" PRIx64 "; trn_queue_fault() has the numbers",
			 queue->device->spec, queue->id, point, status->fault,
			 trn_fault_name(status->fault), trn_engine_name(status->fault_engine),
			 status->fault_pc, status->fault_tag, (uint64_t)status->fault_address);
}

void trn_queue_job_failed_locked(struct trn_queue *queue, uint64_t point, int error)
{
	struct trn_device *device = queue->device;
	struct drm_trainium_ctx_status status = { .id = queue->ctx };
	enum trn_status result = trn_status_from_errno(error);
	char text[512];

	if (queue->failed)
		return;
	switch (-error) {
	case EIO:
		device->ops->ctx_status(device->backend, &status);
		describe_fault(queue, &status, point, text, sizeof(text));
		break;
	case ETIME:
	case ETIMEDOUT:
		snprintf(text, sizeof(text),
			 "%s: queue %" PRIu64 ": point %" PRIu64
			 " ran longer than %.3g s and was stopped, its cores were "
			 "reset; look for an endless loop or raise timeout_ns",
			 device->spec, queue->id, point,
			 (queue->timeout_ns ? queue->timeout_ns : 10000000000ull) / 1e9);
		break;
	case ECANCELED:
		snprintf(text, sizeof(text),
			 "%s: queue %" PRIu64 ": point %" PRIu64
			 " was lost to a reset or to a failure it waited for; call "
			 "trn_queue_reset() and enqueue it again",
			 device->spec, queue->id, point);
		break;
	case ENODEV:
		snprintf(text, sizeof(text),
			 "%s was removed while queue %" PRIu64 " worked on point %" PRIu64,
			 device->spec, queue->id, point);
		break;
	default:
		snprintf(text, sizeof(text), "%s: queue %" PRIu64 ": point %" PRIu64 " failed: %s",
			 device->spec, queue->id, point, strerror(-error));
	}
	trn_queue_fail_locked(queue, point, result, text);
}

enum trn_status trn_queue_fault(struct trn_queue *queue, struct trn_fault_info *info)
{
	struct drm_trainium_ctx_status status;
	enum trn_status result;
	int error;

	if (!queue || !info)
		return trn_error_set(TRN_ERR_INVALID, "trn_queue_fault: %s is NULL",
				     queue ? "info" : "queue");
	result = trn_device_check(queue->device, "trn_queue_fault");
	if (result)
		return result;
	status = (struct drm_trainium_ctx_status){ .id = queue->ctx };
	error = queue->device->ops->ctx_status(queue->device->backend, &status);
	if (error)
		return trn_error_set(trn_status_from_errno(error),
				     "%s: queue %" PRIu64 ": cannot read its state: %s",
				     queue->device->spec, queue->id, strerror(-error));
	info->fault = status.fault;
	info->engine = status.fault_engine;
	info->pc = status.fault_pc;
	info->tag = status.fault_tag;
	info->address = status.fault_address;
	info->guilty = status.guilty;
	return TRN_OK;
}
