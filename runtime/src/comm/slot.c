// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "comm/slot.h"
#include "trn/kernels.h"

/* A piece runs on the smallest program that holds it; what lies beyond its end is ignored. */
static const uint32_t sizes[TRN_COMM_SLOT_SIZES] = { 1024, 16384, TRN_COMM_PIECE };

static enum trn_status slot_alloc(struct trn_device *device, struct trn_comm_slot *slot)
{
	const struct trn_memory_options host = {
		.size = sizeof(host),
		.stack = TRN_STACK_ANY,
		.host = 1,
		.tag = "comm",
	};
	const struct trn_memory_options hbm = {
		.size = sizeof(hbm),
		.stack = TRN_STACK_ANY,
		.tag = "comm",
	};
	const uint64_t bytes = (uint64_t)TRN_COMM_PIECE * sizeof(float);
	enum trn_status status = trn_memory_alloc(device, bytes, &host, &slot->out.memory);

	if (!status)
		status = trn_memory_alloc(device, bytes, &host, &slot->in.memory);
	if (!status)
		status = trn_memory_alloc(device, bytes, &hbm, &slot->sum);
	return status;
}

enum trn_status trn_comm_slots_create(struct trn_queue *queue, struct trn_child *owner,
				      struct trn_comm_slots **out)
{
	struct trn_comm_slots *slots = calloc(1, sizeof(*slots));
	enum trn_status status = TRN_OK;
	int i;

	if (!slots)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no host memory for the all-reduce");
	slots->queue = queue;
	slots->owner = owner;
	slots->device = queue->device;
	for (i = 0; i < TRN_COMM_SLOTS && !status; i++)
		status = slot_alloc(slots->device, &slots->slot[i]);
	if (status)
		trn_comm_slots_destroy(slots);
	else
		*out = slots;
	return status;
}

void trn_comm_slots_destroy(struct trn_comm_slots *slots)
{
	struct trn_comm_slot *slot;
	int i, j;

	if (!slots)
		return;
	for (i = 0; i < TRN_COMM_SLOTS; i++) {
		slot = &slots->slot[i];
		for (j = 0; j < TRN_COMM_SLOT_SIZES; j++)
			if (slot->add[j])
				trn_program_unload(slot->add[j]);
		trn_memory_free(slot->sum);
		trn_memory_free(slot->in.memory);
		trn_memory_free(slot->out.memory);
	}
	for (j = 0; j < TRN_COMM_SLOT_SIZES; j++)
		if (slots->image[j])
			trn_image_free(slots->image[j]);
	free(slots);
}

static enum trn_status program_get(struct trn_comm_slots *slots, struct trn_comm_slot *slot,
				   int size, struct trn_program **program)
{
	const struct trn_binding bindings[] = {
		{ .name = "a", .memory = slot->sum },
		{ .name = "b", .memory = slot->in.memory },
	};
	enum trn_status status = TRN_OK;

	if (!slots->image[size])
		status = trn_kernel_add(sizes[size], &slots->image[size]);
	if (!status && !slot->add[size]) {
		status = trn_program_load(slots->queue, 0, slots->image[size], bindings, 2,
					  &slot->add[size]);
		trn_queue_child_remove(slots->queue, slots->owner);
		trn_queue_child_add(slots->queue, slots->owner);
	}
	*program = slot->add[size];
	return status;
}

enum trn_status trn_comm_slot_add(struct trn_comm_slots *slots, struct trn_comm_slot *slot,
				  struct trn_memory *memory, uint64_t base)
{
	const uint64_t offset = base + slot->in.offset * sizeof(float);
	const uint64_t bytes = slot->in.count * sizeof(float);
	struct trn_program *program;
	enum trn_status status;
	int size = 0;

	while (sizes[size] < slot->in.count)
		size++;
	status = program_get(slots, slot, size, &program);
	if (!status)
		status = trn_queue_copy(slots->queue, slot->sum, 0, memory, offset, bytes, NULL);
	if (!status)
		status = trn_program_run(program, NULL, 0, NULL);
	if (!status)
		status = trn_queue_copy(slots->queue, memory, offset, slot->sum, 0, bytes,
					&slot->in.fence);
	return status;
}
