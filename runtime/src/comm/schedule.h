/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules of the all-reduce: who sends which elements to whom in which step, and which received
 * elements are added. Pure functions of (algorithm, rank, ranks, count, step); no input or output,
 * no memory.
 *
 * Both algorithms first scatter the sums (every element is summed on exactly one rank), then gather
 * them: the same bits are on every rank whatever the order of arrival.
 */
#ifndef TRN_COMM_SCHEDULE_H
#define TRN_COMM_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/** enum trn_comm_algorithm - ring: any number of ranks; halving: powers of two, fewest steps. */
enum trn_comm_algorithm {
	TRN_COMM_RING,
	TRN_COMM_HALVING,
};

/**
 * struct trn_comm_step - one rank's part of one step; offsets and counts in elements.
 * @reduce: the received elements are added to ours; otherwise they replace them
 *
 * The ranges a rank sends and receives in one step are disjoint.
 */
struct trn_comm_step {
	uint32_t send_peer;
	uint32_t recv_peer;
	uint64_t send_offset;
	uint64_t send_count;
	uint64_t recv_offset;
	uint64_t recv_count;
	bool reduce;
};

/** trn_comm_schedule_choose() - the algorithm for @ranks; depends on nothing else. */
enum trn_comm_algorithm trn_comm_schedule_choose(uint32_t ranks);
/** trn_comm_schedule_steps() - number of steps; 0 for one rank. */
uint32_t trn_comm_schedule_steps(enum trn_comm_algorithm algorithm, uint32_t ranks);
/** trn_comm_schedule_step() - fill @step with step @index < steps of @rank < @ranks. */
void trn_comm_schedule_step(enum trn_comm_algorithm algorithm, uint32_t rank, uint32_t ranks,
			    uint64_t count, uint32_t index, struct trn_comm_step *step);

#endif /* TRN_COMM_SCHEDULE_H */
