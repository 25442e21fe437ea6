/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of a communicator.
 *
 *   comm.c        creation, destruction
 *   bootstrap*.c  meeting of the ranks          control.c   liveness, failures
 *   schedule.c    who sends what to whom        fabric*.c   libfabric
 *   operation.c   life of one operation: agreement, waiting, failing
 *   allreduce.c   the engine that runs a schedule over device memory; slot.c its buffers
 *   host.c        barrier, broadcast, host all-reduce
 *
 * Threads: one at a time per communicator, any number of communicators.
 */
#ifndef TRN_COMM_COMM_H
#define TRN_COMM_COMM_H

#include <sys/types.h>

#include "comm/control.h"
#include "comm/fabric.h"
#include "internal.h"

struct trn_comm_slots;

/** struct trn_comm - one rank's end of a communicator. */
struct trn_comm {
	struct trn_child child; /* on @queue, unless that is NULL */
	struct trn_queue *queue;
	pid_t pid; /* of the process that made it */
	uint32_t rank;
	uint32_t ranks;
	uint64_t timeout_ns;
	uint64_t operations;		  /* begun */
	struct trn_comm_control *control; /* NULL for one rank */
	struct trn_comm_fabric *fabric;	  /* NULL for one rank */
	struct trn_comm_slots *slots;	  /* made by the first all-reduce of device memory */
	char root[256];
};

#endif /* TRN_COMM_COMM_H */
