/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers of the all-reduce engine: a few slots, each with host memory for a piece to send, host
 * memory for a piece to receive, device memory for a piece to sum, and the program that adds the
 * received one to it on the device.
 */
#ifndef TRN_COMM_SLOT_H
#define TRN_COMM_SLOT_H

#include "comm/fabric.h"
#include "internal.h"
#include "trn/trn.h"

#define TRN_COMM_SLOTS	    4
#define TRN_COMM_PIECE	    131072u /* elements of a piece */
#define TRN_COMM_SLOT_SIZES 3

/** enum trn_comm_slot_state - of one direction of a slot. */
enum trn_comm_slot_state {
	TRN_COMM_SLOT_FREE = 0,
	TRN_COMM_SLOT_DEVICE, /* the device reads (out), or adds and stores (in) */
	TRN_COMM_SLOT_NETWORK,
};

/** struct trn_comm_lane - one direction of a slot; the piece covers [@offset, @offset + @count). */
struct trn_comm_lane {
	enum trn_comm_slot_state state;
	struct trn_memory *memory; /* host memory of a piece */
	struct trn_comm_request request;
	struct trn_fence fence;
	uint64_t offset;
	uint64_t count;
	uint32_t piece;
};

struct trn_comm_slot {
	struct trn_comm_lane out;
	struct trn_comm_lane in;
	struct trn_memory *sum;			      /* "a" of the programs, device memory */
	struct trn_program *add[TRN_COMM_SLOT_SIZES]; /* by size; loaded when first needed */
};

struct trn_comm_slots {
	struct trn_device *device;
	struct trn_queue *queue;
	struct trn_child *owner;
	struct trn_image *image[TRN_COMM_SLOT_SIZES];
	struct trn_comm_slot slot[TRN_COMM_SLOTS];
};

/**
 * trn_comm_slots_create() - allocate on the device of @queue, which must own a core. @owner, a
 * child of the queue, is kept younger than the programs: who destroys the queue destroys the owner
 * first.
 */
enum trn_status trn_comm_slots_create(struct trn_queue *queue, struct trn_child *owner,
				      struct trn_comm_slots **slots);
/** trn_comm_slots_destroy() - no request is on its way any more; NULL is allowed. */
void trn_comm_slots_destroy(struct trn_comm_slots *slots);

/**
 * trn_comm_slot_add() - enqueue: the received piece is added to its elements of the vector that
 * starts at byte @base of @memory. slot->in.fence passes when they are stored.
 */
enum trn_status trn_comm_slot_add(struct trn_comm_slots *slots, struct trn_comm_slot *slot,
				  struct trn_memory *memory, uint64_t base);

#endif /* TRN_COMM_SLOT_H */
