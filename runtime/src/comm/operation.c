// SPDX-License-Identifier: BSD-2-Clause
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "comm/operation.h"

#define SPIN_TURNS  64	 /* then yield */
#define YIELD_TURNS 192	 /* then sleep */
#define NETWORK_US  1000 /* longest sleep; news end it early */
#define DEVICE_NS   200000ull
#define CAUSE_NS    1000000000ll /* for the control plane to say why the transport failed */

static const char *kind_name(uint32_t kind)
{
	switch (kind) {
	case TRN_COMM_KIND_BARRIER:
		return "barrier";
	case TRN_COMM_KIND_BROADCAST:
		return "broadcast";
	case TRN_COMM_KIND_ALLREDUCE:
		return "all-reduce";
	case TRN_COMM_KIND_ALLREDUCE_HOST:
		return "host all-reduce";
	default:
		return "unknown operation";
	}
}

static const char *call_text(const struct trn_comm_call *call, char *text, size_t size)
{
	unsigned long long count = call->count;

	switch (call->kind) {
	case TRN_COMM_KIND_BROADCAST:
		snprintf(text, size, "broadcast of %llu bytes from rank %u", count, call->detail);
		break;
	case TRN_COMM_KIND_ALLREDUCE:
		snprintf(text, size, "all-reduce of %llu fp32 by %s", count,
			 call->detail == TRN_REDUCE_SUM ? "sum" : "an unknown operator");
		break;
	case TRN_COMM_KIND_ALLREDUCE_HOST:
		snprintf(text, size, "host all-reduce of %llu double", count);
		break;
	default:
		snprintf(text, size, "%s", kind_name(call->kind));
		break;
	}
	return text;
}

/* The sentence of the sticky failure, seen from this operation. */
static enum trn_status report(struct trn_comm_operation *operation, bool waiting)
{
	struct trn_comm *comm = operation->comm;
	char text[TRN_COMM_TEXT_MAX], awaited[160] = "";
	enum trn_status status = trn_comm_control_failure(comm->control, text, sizeof(text));
	double waited = (double)(trn_comm_now() - operation->progress_ns) / 1e9;

	if (waiting && operation->awaited.step == TRN_COMM_STEP_CALL)
		snprintf(awaited, sizeof(awaited), "; rank %u was awaited for %.1f s",
			 operation->awaited.rank, waited);
	else if (waiting)
		snprintf(awaited, sizeof(awaited),
			 "; step %u, piece %u of %u with rank %u was awaited for %.1f s",
			 operation->awaited.step, operation->awaited.piece + 1,
			 operation->awaited.pieces, operation->awaited.rank, waited);
	return trn_error_set(status, "%s %llu, rank %u of %u: %s%s",
			     kind_name(operation->call.kind),
			     (unsigned long long)operation->call.number, comm->rank, comm->ranks,
			     text, awaited);
}

enum trn_status trn_comm_operation_fail(struct trn_comm_operation *operation,
					enum trn_status status, uint32_t culprit, const char *text)
{
	struct trn_comm *comm = operation->comm;

	trn_comm_control_fail(comm->control, status, culprit, text);
	trn_comm_fabric_shutdown(comm->fabric);
	return report(operation, false);
}

static enum trn_status fail_elsewhere(struct trn_comm_operation *operation)
{
	trn_comm_fabric_shutdown(operation->comm->fabric);
	return report(operation, true);
}

static uint64_t tag_of(const struct trn_comm_operation *operation, uint32_t source, uint32_t step,
		       uint32_t piece)
{
	return (uint64_t)source << 52 | (operation->call.number & 0xfffff) << 32 |
	       (uint64_t)step << 19 | piece;
}

void trn_comm_operation_send(struct trn_comm_operation *operation, uint32_t peer, uint32_t step,
			     uint32_t piece, const void *data, size_t bytes,
			     struct trn_comm_request *request)
{
	trn_comm_fabric_send(operation->comm->fabric, peer,
			     tag_of(operation, operation->comm->rank, step, piece), data, bytes,
			     request);
}

void trn_comm_operation_receive(struct trn_comm_operation *operation, uint32_t peer, uint32_t step,
				uint32_t piece, void *data, size_t bytes,
				struct trn_comm_request *request)
{
	operation->awaited.rank = peer;
	operation->awaited.step = step;
	operation->awaited.piece = piece;
	trn_comm_fabric_receive(operation->comm->fabric, peer, tag_of(operation, peer, step, piece),
				data, bytes, request);
}

/* The transport says that @request failed; a dead peer is the likely cause and is named if so. */
static enum trn_status transport_failed(struct trn_comm_operation *operation,
					const struct trn_comm_request *request)
{
	struct trn_comm *comm = operation->comm;
	int64_t deadline = trn_comm_now() + CAUSE_NS;
	char text[TRN_COMM_TEXT_MAX], name[128];

	while (!trn_comm_control_failed(comm->control) && trn_comm_now() < deadline)
		usleep(1000);
	if (trn_comm_control_failed(comm->control))
		return fail_elsewhere(operation);
	trn_comm_peer_name(trn_comm_control_peer(comm->control, request->peer), name, sizeof(name));
	snprintf(text, sizeof(text),
		 "the transport \"%s\" of rank %u failed to %s %zu bytes %s %s: %s (%d)",
		 trn_comm_fabric_provider(comm->fabric), comm->rank,
		 request->receive ? "receive" : "send", request->bytes,
		 request->receive ? "from" : "to", name, request->reason, request->error);
	return trn_comm_operation_fail(operation, TRN_ERR_COMM, request->peer, text);
}

static enum trn_status wrong_length(struct trn_comm_operation *operation,
				    const struct trn_comm_request *request)
{
	char text[TRN_COMM_TEXT_MAX], name[128];

	trn_comm_peer_name(trn_comm_control_peer(operation->comm->control, request->peer), name,
			   sizeof(name));
	snprintf(text, sizeof(text), "%s sent %zu bytes to rank %u, which expected %zu", name,
		 request->received, operation->comm->rank, request->bytes);
	return trn_comm_operation_fail(operation, TRN_ERR_COMM, request->peer, text);
}

bool trn_comm_operation_done(struct trn_comm_operation *operation, struct trn_comm_request *request,
			     enum trn_status *status)
{
	*status = TRN_OK;
	if (request->state == TRN_COMM_REQUEST_FAILED)
		*status = transport_failed(operation, request);
	else if (request->state != TRN_COMM_REQUEST_DONE)
		return false;
	else if (request->receive && request->received != request->bytes)
		*status = wrong_length(operation, request);
	return true;
}

void trn_comm_operation_moved(struct trn_comm_operation *operation)
{
	operation->progress_ns = trn_comm_now();
	operation->idle_turns = 0;
}

static enum trn_status stalled(struct trn_comm_operation *operation)
{
	struct trn_comm *comm = operation->comm;
	char text[TRN_COMM_TEXT_MAX], name[128];
	uint32_t rank = operation->awaited.rank;

	trn_comm_peer_name(trn_comm_control_peer(comm->control, rank), name, sizeof(name));
	snprintf(text, sizeof(text),
		 "rank %u made no progress in %s %llu for %.1f s; %s is alive and does "
		 "not answer: it is stopped, busy elsewhere, or has not called the operation",
		 comm->rank, kind_name(operation->call.kind),
		 (unsigned long long)operation->call.number, (double)comm->timeout_ns / 1e9, name);
	trn_comm_control_fail(comm->control, TRN_ERR_TIMEOUT, rank, text);
	return fail_elsewhere(operation);
}

static void idle(struct trn_comm_operation *operation, const struct trn_fence *fence)
{
	struct trn_comm *comm = operation->comm;

	if (++operation->idle_turns < SPIN_TURNS)
		return;
	if (fence)
		trn_fence_wait(*fence, DEVICE_NS);
	else if (operation->idle_turns < YIELD_TURNS)
		sched_yield();
	else
		trn_comm_fabric_wait(comm->fabric, trn_comm_control_fd(comm->control), NETWORK_US);
}

enum trn_status trn_comm_operation_turn(struct trn_comm_operation *operation,
					const struct trn_fence *fence)
{
	struct trn_comm *comm = operation->comm;

	if (trn_comm_fabric_poll(comm->fabric)) {
		trn_comm_operation_moved(operation);
		return TRN_OK;
	}
	trn_comm_control_check(comm->control, operation->call.number,
			       kind_name(operation->call.kind));
	if (trn_comm_control_failed(comm->control))
		return fail_elsewhere(operation);
	if (trn_comm_now() - operation->progress_ns > (int64_t)comm->timeout_ns)
		return stalled(operation);
	idle(operation, fence);
	return TRN_OK;
}

enum trn_status trn_comm_operation_wait(struct trn_comm_operation *operation,
					struct trn_comm_request *requests, size_t count)
{
	enum trn_status status;
	size_t i = 0;

	while (i < count) {
		if (trn_comm_operation_done(operation, &requests[i], &status)) {
			if (status)
				return status;
			i++;
			continue;
		}
		status = trn_comm_operation_turn(operation, NULL);
		if (status)
			return status;
	}
	return TRN_OK;
}

static enum trn_status disagree(struct trn_comm_operation *operation, uint32_t left,
				const struct trn_comm_call *theirs)
{
	struct trn_comm *comm = operation->comm;
	char text[TRN_COMM_TEXT_MAX], names[2][128], calls[2][80];

	trn_comm_peer_name(trn_comm_control_peer(comm->control, comm->rank), names[0],
			   sizeof(names[0]));
	trn_comm_peer_name(trn_comm_control_peer(comm->control, left), names[1], sizeof(names[1]));
	snprintf(text, sizeof(text),
		 "the ranks disagree: %s calls %s, %s calls %s; all ranks must make "
		 "the same calls in the same order",
		 names[0], call_text(&operation->call, calls[0], sizeof(calls[0])), names[1],
		 call_text(theirs, calls[1], sizeof(calls[1])));
	return trn_comm_operation_fail(operation, TRN_ERR_COMM, left, text);
}

static enum trn_status agree(struct trn_comm_operation *operation)
{
	struct trn_comm *comm = operation->comm;
	uint32_t left = (comm->rank + comm->ranks - 1) % comm->ranks;
	struct trn_comm_request requests[2];
	struct trn_comm_call theirs = { 0 };
	enum trn_status status;

	trn_comm_operation_receive(operation, left, TRN_COMM_STEP_CALL, 0, &theirs, sizeof(theirs),
				   &requests[0]);
	trn_comm_operation_send(operation, (comm->rank + 1) % comm->ranks, TRN_COMM_STEP_CALL, 0,
				&operation->call, sizeof(operation->call), &requests[1]);
	status = trn_comm_operation_wait(operation, requests, 2);
	if (status)
		return status;
	if (memcmp(&theirs, &operation->call, sizeof(theirs)) != 0)
		return disagree(operation, left, &theirs);
	return TRN_OK;
}

enum trn_status trn_comm_operation_begin(struct trn_comm_operation *operation,
					 struct trn_comm *comm, enum trn_comm_kind kind,
					 uint32_t detail, uint64_t count)
{
	memset(operation, 0, sizeof(*operation));
	operation->comm = comm;
	operation->call.kind = kind;
	operation->call.detail = detail;
	operation->call.count = count;
	operation->call.number = comm->operations + 1;
	operation->progress_ns = trn_comm_now();
	if (comm->pid != getpid())
		return trn_error_set(TRN_ERR_FORKED,
				     "%s, rank %u of %u: this process is a fork of the one "
				     "that made the communicator; make one here",
				     kind_name(kind), comm->rank, comm->ranks);
	if (comm->ranks == 1) {
		comm->operations++;
		return TRN_OK;
	}
	if (trn_comm_control_failed(comm->control)) {
		trn_comm_fabric_shutdown(comm->fabric);
		return report(operation, false);
	}
	comm->operations++;
	return agree(operation);
}
