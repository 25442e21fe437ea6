/* SPDX-License-Identifier: BSD-2-Clause */
/* One collective operation from its begin to its end. */
#ifndef TRN_COMM_OPERATION_H
#define TRN_COMM_OPERATION_H

#include "comm/comm.h"

enum trn_comm_kind {
	TRN_COMM_KIND_BARRIER = 1,
	TRN_COMM_KIND_BROADCAST, /* @detail: root */
	TRN_COMM_KIND_ALLREDUCE, /* @detail: enum trn_reduce_op */
	TRN_COMM_KIND_ALLREDUCE_HOST,
};

/** struct trn_comm_call - what all ranks must call alike; travels in the first message. */
struct trn_comm_call {
	uint32_t kind;
	uint32_t detail;
	uint64_t count;	 /* elements or bytes */
	uint64_t number; /* of the operation, from 1 */
};

/** struct trn_comm_operation - on the stack of the call. */
struct trn_comm_operation {
	struct trn_comm *comm;
	struct trn_comm_call call;
	int64_t progress_ns; /* when something last moved */
	unsigned int idle_turns;
	struct { /* for the sentence */
		uint32_t rank;
		uint32_t step;
		uint32_t piece;
		uint32_t pieces;
	} awaited;
};

#define TRN_COMM_STEP_CALL  8191u /* step number of the first message */
#define TRN_COMM_PIECES_MAX (1u << 19)

/**
 * trn_comm_operation_begin() - check the handle, take the next number, and compare calls with the
 * neighbours: a difference is an error on both sides that prints both. Nothing of this rank's data
 * leaves before its left neighbour agrees.
 */
enum trn_status trn_comm_operation_begin(struct trn_comm_operation *operation,
					 struct trn_comm *comm, enum trn_comm_kind kind,
					 uint32_t detail, uint64_t count);

/** trn_comm_operation_send(), _receive() - start a message of @step and @piece. */
void trn_comm_operation_send(struct trn_comm_operation *operation, uint32_t peer, uint32_t step,
			     uint32_t piece, const void *data, size_t bytes,
			     struct trn_comm_request *request);
void trn_comm_operation_receive(struct trn_comm_operation *operation, uint32_t peer, uint32_t step,
				uint32_t piece, void *data, size_t bytes,
				struct trn_comm_request *request);
/** trn_comm_operation_done() - has @request ended? *@status tells how; a failure has been reported.
 */
bool trn_comm_operation_done(struct trn_comm_operation *operation, struct trn_comm_request *request,
			     enum trn_status *status);
/** trn_comm_operation_wait() - wait for all of @requests. */
enum trn_status trn_comm_operation_wait(struct trn_comm_operation *operation,
					struct trn_comm_request *requests, size_t count);

/**
 * trn_comm_operation_turn() - let things move, and sleep a little when nothing does.
 * @fence: device work that is awaited too, or NULL
 * Return: TRN_OK, or the failure that ends the operation (peer dead, no progress, …).
 */
enum trn_status trn_comm_operation_turn(struct trn_comm_operation *operation,
					const struct trn_fence *fence);
/** trn_comm_operation_moved() - device work came forward. */
void trn_comm_operation_moved(struct trn_comm_operation *operation);

/**
 * trn_comm_operation_fail() - end the communicator on every rank: @text is told to all, the
 * endpoint is closed so that no buffer is written any more. Return: the status, with this rank's
 * sentence set.
 */
enum trn_status trn_comm_operation_fail(struct trn_comm_operation *operation,
					enum trn_status status, uint32_t culprit, const char *text);

#endif /* TRN_COMM_OPERATION_H */
