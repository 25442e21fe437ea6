/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control plane of a communicator: one thread that watches the other ranks and carries failures.
 *
 * Rank 0 has a connection to each rank, every other rank one to rank 0. A rank that dies is seen by
 * rank 0 through the end of its connection or, on the same host, through its pidfd; rank 0 tells
 * all. The first failure sticks: every later call on the communicator reports it.
 */
#ifndef TRN_COMM_CONTROL_H
#define TRN_COMM_CONTROL_H

#include "comm/bootstrap.h"

struct trn_comm_control;

/**
 * trn_comm_control_start() - take over the connections of @meeting (it is left empty of streams;
 * the list of peers is copied) and start the thread, with all signals blocked.
 */
enum trn_status trn_comm_control_start(struct trn_comm_meeting *meeting,
				       struct trn_comm_control **control);
/** trn_comm_control_stop() - end the thread, close everything, free. NULL is allowed. */
void trn_comm_control_stop(struct trn_comm_control *control);
/** trn_comm_control_abandon() - in a forked child: close our copies of the descriptors, no more. */
void trn_comm_control_abandon(struct trn_comm_control *control);

/** trn_comm_control_peer() - who @rank is. */
const struct trn_comm_peer *trn_comm_control_peer(const struct trn_comm_control *control,
						  uint32_t rank);

/** trn_comm_control_failed() - has the communicator failed? One load; any thread. */
bool trn_comm_control_failed(const struct trn_comm_control *control);
/** trn_comm_control_failure() - status and sentence of the failure. */
enum trn_status trn_comm_control_failure(struct trn_comm_control *control, char *text, size_t size);
/**
 * trn_comm_control_fail() - the caller's rank has found a failure: it sticks unless an earlier one
 * does, and every rank is told. Never waits for a peer more than a second.
 */
void trn_comm_control_fail(struct trn_comm_control *control, enum trn_status status,
			   uint32_t culprit, const char *text);
/** trn_comm_control_fd() - polls readable once the communicator has failed. */
int trn_comm_control_fd(const struct trn_comm_control *control);

/**
 * trn_comm_control_check() - operation @operation (1, 2, 3) needs all ranks: fail when one left
 * after fewer. Cheap while nobody has left.
 */
void trn_comm_control_check(struct trn_comm_control *control, uint64_t operation, const char *what);

/**
 * trn_comm_control_gather() - every rank gives @bytes <= TRN_COMM_GATHER_MAX bytes and gets those
 * of all, in rank order, in @all. A step of creation, also a barrier; ranks must give the same
 * @bytes.
 */
enum trn_status trn_comm_control_gather(struct trn_comm_control *control, const void *mine,
					size_t bytes, void *all, int64_t deadline_ns);

/** trn_comm_control_bye() - tell the others that we begin no operation after @operations. */
void trn_comm_control_bye(struct trn_comm_control *control, uint64_t operations);
/** trn_comm_control_all_bye() - has everybody said so (or can nobody any more)? */
bool trn_comm_control_all_bye(struct trn_comm_control *control);

#endif /* TRN_COMM_CONTROL_H */
