// SPDX-License-Identifier: BSD-2-Clause
/* Operations over host memory: barrier, broadcast, all-reduce of a few double. */
#include "comm/operation.h"

#define BROADCAST_PIECE ((size_t)1 << 20)
#define DOUBLES		512 /* of one piece of a host all-reduce; lies on the stack */
#define CHILDREN	32  /* of a rank in a binomial tree */

static enum trn_status check(const struct trn_comm *comm, const void *data, size_t count,
			     const char *what)
{
	if (!comm)
		return trn_error_set(TRN_ERR_INVALID, "%s: no communicator (NULL)", what);
	if (!data && count)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s, rank %u of %u: no data (NULL) of %zu elements", what,
				     comm->rank, comm->ranks, count);
	return TRN_OK;
}

enum trn_status trn_comm_barrier(struct trn_comm *comm)
{
	struct trn_comm_operation operation;
	struct trn_comm_request requests[2];
	enum trn_status status = check(comm, NULL, 0, "barrier");
	uint8_t out = 1, in = 0;
	uint32_t distance, step = 0;

	if (!status)
		status = trn_comm_operation_begin(&operation, comm, TRN_COMM_KIND_BARRIER, 0, 0);
	for (distance = 1; !status && distance < comm->ranks; distance *= 2, step++) {
		operation.awaited.pieces = 1;
		trn_comm_operation_receive(&operation,
					   (comm->rank + comm->ranks - distance) % comm->ranks,
					   step, 0, &in, 1, &requests[0]);
		trn_comm_operation_send(&operation, (comm->rank + distance) % comm->ranks, step, 0,
					&out, 1, &requests[1]);
		status = trn_comm_operation_wait(&operation, requests, 2);
	}
	return status;
}

/* One piece down the binomial tree whose root is @root; @step and @piece name it. */
static enum trn_status tree(struct trn_comm_operation *operation, uint32_t root, uint32_t step,
			    uint32_t piece, void *data, size_t bytes)
{
	struct trn_comm *comm = operation->comm;
	struct trn_comm_request requests[CHILDREN];
	uint32_t place = (comm->rank + comm->ranks - root) % comm->ranks;
	uint32_t bit = 1, count = 0;
	enum trn_status status;

	while (bit < comm->ranks && !(place & bit))
		bit <<= 1;
	if (place) {
		trn_comm_operation_receive(operation, (place - bit + root) % comm->ranks, step,
					   piece, data, bytes, &requests[0]);
		status = trn_comm_operation_wait(operation, requests, 1);
		if (status)
			return status;
	}
	for (bit >>= 1; bit; bit >>= 1)
		if (place + bit < comm->ranks)
			trn_comm_operation_send(operation, (place + bit + root) % comm->ranks, step,
						piece, data, bytes, &requests[count++]);
	return trn_comm_operation_wait(operation, requests, count);
}

enum trn_status trn_comm_broadcast(struct trn_comm *comm, void *data, size_t bytes, uint32_t root)
{
	struct trn_comm_operation operation;
	enum trn_status status = check(comm, data, bytes, "broadcast");
	size_t at, piece = 0, pieces = bytes / BROADCAST_PIECE + (bytes % BROADCAST_PIECE != 0);

	if (status)
		return status;
	if (root >= comm->ranks)
		return trn_error_set(TRN_ERR_INVALID,
				     "broadcast, rank %u of %u: there is no rank %u", comm->rank,
				     comm->ranks, root);
	if (pieces > TRN_COMM_PIECES_MAX)
		return trn_error_set(TRN_ERR_INVALID,
				     "broadcast, rank %u of %u: %zu bytes are more than "
				     "the %zu of one call",
				     comm->rank, comm->ranks, bytes,
				     BROADCAST_PIECE * TRN_COMM_PIECES_MAX);
	status = trn_comm_operation_begin(&operation, comm, TRN_COMM_KIND_BROADCAST, root, bytes);
	operation.awaited.pieces = (uint32_t)pieces;
	for (at = 0; !status && comm->ranks > 1 && at < bytes; at += BROADCAST_PIECE, piece++)
		status = tree(&operation, root, 0, (uint32_t)piece, (char *)data + at,
			      bytes - at < BROADCAST_PIECE ? bytes - at : BROADCAST_PIECE);
	return status;
}

/* Rank 0 adds the others' values in rank order, one rank after another. */
static enum trn_status sum_piece(struct trn_comm_operation *operation, uint32_t piece,
				 double *values, size_t count)
{
	struct trn_comm *comm = operation->comm;
	struct trn_comm_request request;
	enum trn_status status = TRN_OK;
	double theirs[DOUBLES];
	uint32_t rank;
	size_t i;

	if (comm->rank) {
		trn_comm_operation_send(operation, 0, 0, piece, values, count * sizeof(*values),
					&request);
		return trn_comm_operation_wait(operation, &request, 1);
	}
	for (rank = 1; rank < comm->ranks && !status; rank++) {
		trn_comm_operation_receive(operation, rank, 0, piece, theirs,
					   count * sizeof(*values), &request);
		status = trn_comm_operation_wait(operation, &request, 1);
		for (i = 0; i < count && !status; i++)
			values[i] += theirs[i];
	}
	return status;
}

enum trn_status trn_comm_allreduce_host(struct trn_comm *comm, double *values, size_t count)
{
	struct trn_comm_operation operation;
	enum trn_status status = check(comm, values, count, "host all-reduce");
	uint32_t piece = 0;
	size_t at, part;

	if (status)
		return status;
	if (count > (size_t)DOUBLES * TRN_COMM_PIECES_MAX)
		return trn_error_set(TRN_ERR_INVALID,
				     "host all-reduce, rank %u of %u: %zu values are more "
				     "than the %zu of one call",
				     comm->rank, comm->ranks, count,
				     (size_t)DOUBLES * TRN_COMM_PIECES_MAX);
	status = trn_comm_operation_begin(&operation, comm, TRN_COMM_KIND_ALLREDUCE_HOST, 0, count);
	operation.awaited.pieces = (uint32_t)(count / DOUBLES + (count % DOUBLES != 0));
	for (at = 0; !status && comm->ranks > 1 && at < count; at += part, piece++) {
		part = count - at < DOUBLES ? count - at : DOUBLES;
		status = sum_piece(&operation, piece, values + at, part);
		if (!status)
			status = tree(&operation, 0, 1, piece, values + at, part * sizeof(*values));
	}
	return status;
}
