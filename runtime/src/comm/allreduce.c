// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine: runs the schedule of an all-reduce over device memory.
 *
 * A step's elements are cut into pieces; a few pieces are under way at once, so that the device
 * reads and adds some while others are on the wire. The queue of the communicator is in order,
 * which is all that orders the device's work: a step reads what the step before has stored.
 */
#include <inttypes.h>
#include <stdio.h>

#include "comm/operation.h"
#include "comm/schedule.h"
#include "comm/slot.h"

struct engine {
	struct trn_comm_operation *operation;
	struct trn_comm *comm;
	struct trn_comm_slots *slots;
	struct trn_memory *memory;
	uint64_t base;	/* bytes */
	uint32_t index; /* of the step */
	struct trn_comm_step step;
	uint32_t send_pieces, sends_begun, sends_done;
	uint32_t recv_pieces, recvs_begun, recvs_done;
	bool moved;
};

static uint32_t pieces_of(uint64_t count)
{
	return (uint32_t)((count + TRN_COMM_PIECE - 1) / TRN_COMM_PIECE);
}

/* Device work of this rank failed: its peers are told why. */
static enum trn_status device_failed(struct engine *engine, enum trn_status status)
{
	char text[TRN_COMM_TEXT_MAX];

	snprintf(text, sizeof(text), "the device of rank %u failed: %s", engine->comm->rank,
		 trn_error_text());
	return trn_comm_operation_fail(engine->operation, status, engine->comm->rank, text);
}

static void lane_place(struct trn_comm_lane *lane, uint64_t offset, uint64_t count, uint32_t piece)
{
	uint64_t at = (uint64_t)piece * TRN_COMM_PIECE;

	lane->offset = offset + at;
	lane->count = count - at < TRN_COMM_PIECE ? count - at : TRN_COMM_PIECE;
	lane->piece = piece;
}

static enum trn_status send_begin(struct engine *engine, struct trn_comm_lane *lane)
{
	enum trn_status status;

	lane_place(lane, engine->step.send_offset, engine->step.send_count, engine->sends_begun++);
	status = trn_queue_copy(engine->comm->queue, lane->memory, 0, engine->memory,
				engine->base + lane->offset * sizeof(float),
				lane->count * sizeof(float), &lane->fence);
	if (!status)
		status = trn_queue_flush(engine->comm->queue);
	lane->state = TRN_COMM_SLOT_DEVICE;
	engine->moved = true;
	return status ? device_failed(engine, status) : TRN_OK;
}

static void recv_begin(struct engine *engine, struct trn_comm_lane *lane)
{
	lane_place(lane, engine->step.recv_offset, engine->step.recv_count, engine->recvs_begun++);
	trn_comm_operation_receive(engine->operation, engine->step.recv_peer, engine->index,
				   lane->piece, trn_memory_host_pointer(lane->memory),
				   lane->count * sizeof(float), &lane->request);
	lane->state = TRN_COMM_SLOT_NETWORK;
	engine->moved = true;
}

/* Has the device done its part of @lane? */
static bool device_done(struct engine *engine, struct trn_comm_lane *lane, enum trn_status *status)
{
	*status = TRN_OK;
	if (!trn_fence_done(lane->fence))
		return false;
	*status = trn_fence_wait(lane->fence, 0);
	if (*status)
		*status = device_failed(engine, *status);
	engine->moved = true;
	return true;
}

static enum trn_status send_advance(struct engine *engine, struct trn_comm_lane *lane)
{
	enum trn_status status;

	if (lane->state == TRN_COMM_SLOT_DEVICE && device_done(engine, lane, &status)) {
		if (status)
			return status;
		trn_comm_operation_send(engine->operation, engine->step.send_peer, engine->index,
					lane->piece, trn_memory_host_pointer(lane->memory),
					lane->count * sizeof(float), &lane->request);
		lane->state = TRN_COMM_SLOT_NETWORK;
	}
	if (lane->state == TRN_COMM_SLOT_NETWORK &&
	    trn_comm_operation_done(engine->operation, &lane->request, &status)) {
		if (status)
			return status;
		lane->state = TRN_COMM_SLOT_FREE;
		engine->sends_done++;
		engine->moved = true;
	}
	return TRN_OK;
}

/* The piece has arrived: add it or store it. */
static enum trn_status recv_store(struct engine *engine, struct trn_comm_slot *slot)
{
	struct trn_comm_lane *lane = &slot->in;
	enum trn_status status;

	if (engine->step.reduce)
		status = trn_comm_slot_add(engine->slots, slot, engine->memory, engine->base);
	else
		status = trn_queue_copy(engine->comm->queue, engine->memory,
					engine->base + lane->offset * sizeof(float), lane->memory,
					0, lane->count * sizeof(float), &lane->fence);
	if (!status)
		status = trn_queue_flush(engine->comm->queue);
	lane->state = TRN_COMM_SLOT_DEVICE;
	engine->moved = true;
	return status ? device_failed(engine, status) : TRN_OK;
}

static enum trn_status recv_advance(struct engine *engine, struct trn_comm_slot *slot)
{
	struct trn_comm_lane *lane = &slot->in;
	enum trn_status status;

	if (lane->state == TRN_COMM_SLOT_NETWORK &&
	    trn_comm_operation_done(engine->operation, &lane->request, &status)) {
		if (!status)
			status = recv_store(engine, slot);
		if (status)
			return status;
	}
	if (lane->state == TRN_COMM_SLOT_DEVICE && device_done(engine, lane, &status)) {
		if (status)
			return status;
		lane->state = TRN_COMM_SLOT_FREE;
		engine->recvs_done++;
	}
	return TRN_OK;
}

static enum trn_status slot_advance(struct engine *engine, struct trn_comm_slot *slot)
{
	enum trn_status status;

	if (slot->in.state == TRN_COMM_SLOT_FREE && engine->recvs_begun < engine->recv_pieces)
		recv_begin(engine, &slot->in);
	status = recv_advance(engine, slot);
	if (status)
		return status;
	if (slot->out.state == TRN_COMM_SLOT_FREE && engine->sends_begun < engine->send_pieces) {
		status = send_begin(engine, &slot->out);
		if (status)
			return status;
	}
	return send_advance(engine, &slot->out);
}

/* Device work to sleep on, or NULL when only the network is awaited. */
static const struct trn_fence *pending_fence(const struct engine *engine)
{
	int i;

	for (i = 0; i < TRN_COMM_SLOTS; i++) {
		if (engine->slots->slot[i].in.state == TRN_COMM_SLOT_DEVICE)
			return &engine->slots->slot[i].in.fence;
		if (engine->slots->slot[i].out.state == TRN_COMM_SLOT_DEVICE)
			return &engine->slots->slot[i].out.fence;
	}
	return NULL;
}

static enum trn_status run_step(struct engine *engine)
{
	enum trn_status status;
	int i;

	engine->send_pieces = pieces_of(engine->step.send_count);
	engine->recv_pieces = pieces_of(engine->step.recv_count);
	engine->sends_begun = engine->sends_done = 0;
	engine->recvs_begun = engine->recvs_done = 0;
	engine->operation->awaited.pieces = engine->recv_pieces;
	for (;;) {
		engine->moved = false;
		for (i = 0; i < TRN_COMM_SLOTS; i++) {
			status = slot_advance(engine, &engine->slots->slot[i]);
			if (status)
				return status;
		}
		if (engine->sends_done == engine->send_pieces &&
		    engine->recvs_done == engine->recv_pieces)
			return TRN_OK;
		if (engine->moved)
			trn_comm_operation_moved(engine->operation);
		status = trn_comm_operation_turn(engine->operation, pending_fence(engine));
		if (status)
			return status;
	}
}

/* After a failure: nothing of the slots may be on the device when they are used or freed. */
static void slots_settle(struct engine *engine)
{
	struct trn_comm_slot *slot;
	int i;

	trn_queue_drain(engine->comm->queue);
	for (i = 0; i < TRN_COMM_SLOTS; i++) {
		slot = &engine->slots->slot[i];
		slot->in.state = TRN_COMM_SLOT_FREE;
		slot->out.state = TRN_COMM_SLOT_FREE;
	}
}

static enum trn_status run_schedule(struct engine *engine, uint64_t count)
{
	struct trn_comm *comm = engine->comm;
	enum trn_comm_algorithm algorithm = trn_comm_schedule_choose(comm->ranks);
	uint32_t steps = trn_comm_schedule_steps(algorithm, comm->ranks);
	enum trn_status status = TRN_OK;

	for (engine->index = 0; engine->index < steps && !status; engine->index++) {
		trn_comm_schedule_step(algorithm, comm->rank, comm->ranks, count, engine->index,
				       &engine->step);
		status = run_step(engine);
	}
	return status;
}

static enum trn_status check(const struct trn_comm *comm, const struct trn_memory *memory,
			     uint64_t offset, uint64_t count, enum trn_reduce_op op)
{
	if (!comm)
		return trn_error_set(TRN_ERR_INVALID, "all-reduce: no communicator (NULL)");
	if (op != TRN_REDUCE_SUM)
		return trn_error_set(TRN_ERR_INVALID,
				     "all-reduce, rank %u of %u: operator %d is unknown; "
				     "there is TRN_REDUCE_SUM",
				     comm->rank, comm->ranks, (int)op);
	if (count == 0)
		return TRN_OK;
	if (!comm->queue)
		return trn_error_set(TRN_ERR_INVALID,
				     "all-reduce, rank %u of %u: the communicator was made "
				     "without a queue; give one to trn_comm_create()",
				     comm->rank, comm->ranks);
	if (!memory)
		return trn_error_set(TRN_ERR_INVALID, "all-reduce, rank %u of %u: no memory (NULL)",
				     comm->rank, comm->ranks);
	if (memory->device != comm->queue->device)
		return trn_error_set(TRN_ERR_INVALID,
				     "all-reduce, rank %u of %u: the memory is of device %s, "
				     "the communicator's queue of %s",
				     comm->rank, comm->ranks, memory->device->spec,
				     comm->queue->device->spec);
	if (offset % sizeof(float))
		return trn_error_set(TRN_ERR_INVALID,
				     "all-reduce, rank %u of %u: offset %" PRIu64 " is not a "
				     "multiple of 4",
				     comm->rank, comm->ranks, offset);
	if (offset > trn_memory_size(memory) ||
	    count > (trn_memory_size(memory) - offset) / sizeof(float))
		return trn_error_set(TRN_ERR_INVALID,
				     "all-reduce, rank %u of %u: %" PRIu64
				     " fp32 at offset %" PRIu64
				     " do not fit into memory of %" PRIu64 " bytes",
				     comm->rank, comm->ranks, count, offset,
				     trn_memory_size(memory));
	if (comm->ranks > 1 && !trn_queue_cores(comm->queue))
		return trn_error_set(TRN_ERR_INVALID,
				     "all-reduce, rank %u of %u: the communicator's queue "
				     "owns no core to add on; create it with core_count = 1",
				     comm->rank, comm->ranks);
	return TRN_OK;
}

enum trn_status trn_comm_allreduce(struct trn_comm *comm, struct trn_memory *memory,
				   uint64_t offset, uint64_t count, enum trn_reduce_op op)
{
	struct trn_comm_operation operation;
	struct engine engine = {
		.operation = &operation, .comm = comm, .memory = memory, .base = offset
	};
	enum trn_status status = check(comm, memory, offset, count, op);

	if (!status)
		status = trn_comm_operation_begin(&operation, comm, TRN_COMM_KIND_ALLREDUCE, op,
						  count);
	if (status || comm->ranks == 1 || count == 0)
		return status;
	if (!comm->slots) {
		status = trn_comm_slots_create(comm->queue, &comm->child, &comm->slots);
		if (status)
			return device_failed(&engine, status);
	}
	engine.slots = comm->slots;
	status = run_schedule(&engine, count);
	if (status)
		slots_settle(&engine);
	return status;
}
