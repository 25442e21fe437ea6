// SPDX-License-Identifier: BSD-2-Clause
#include "comm/schedule.h"

/* First element of block @block when @count elements are cut into @ranks blocks; @block <= @ranks.
 */
static uint64_t block_start(uint64_t count, uint32_t ranks, uint32_t block)
{
	uint64_t rest = count % ranks;

	return block * (count / ranks) + (block < rest ? block : rest);
}

static void step_send(struct trn_comm_step *step, uint64_t count, uint32_t ranks, uint32_t first,
		      uint32_t blocks)
{
	step->send_offset = block_start(count, ranks, first);
	step->send_count = block_start(count, ranks, first + blocks) - step->send_offset;
}

static void step_recv(struct trn_comm_step *step, uint64_t count, uint32_t ranks, uint32_t first,
		      uint32_t blocks)
{
	step->recv_offset = block_start(count, ranks, first);
	step->recv_count = block_start(count, ranks, first + blocks) - step->recv_offset;
}

static void ring_step(uint32_t rank, uint32_t ranks, uint64_t count, uint32_t index,
		      struct trn_comm_step *step)
{
	uint32_t send;

	if (index < ranks - 1)
		send = (rank + ranks - index) % ranks;
	else /* each rank starts with the block it has the sum of, rank + 1 */
		send = (rank + 1 + ranks - (index - (ranks - 1))) % ranks;
	step->send_peer = (rank + 1) % ranks;
	step->recv_peer = (rank + ranks - 1) % ranks;
	step->reduce = index < ranks - 1;
	step_send(step, count, ranks, send, 1);
	step_recv(step, count, ranks, (send + ranks - 1) % ranks, 1);
}

static uint32_t log2_exact(uint32_t ranks)
{
	return (uint32_t)__builtin_ctz(ranks);
}

static void halving_step(uint32_t rank, uint32_t ranks, uint64_t count, uint32_t index,
			 struct trn_comm_step *step)
{
	uint32_t halvings = log2_exact(ranks);
	uint32_t distance;

	if (index < halvings) {
		/* Both partners hold partial sums of the same 2 * distance blocks; keep our half.
		 */
		distance = ranks >> (index + 1);
		step->reduce = true;
		step_send(step, count, ranks, (rank ^ distance) & ~(distance - 1), distance);
		step_recv(step, count, ranks, rank & ~(distance - 1), distance);
	} else {
		distance = 1u << (index - halvings);
		step->reduce = false;
		step_send(step, count, ranks, rank & ~(distance - 1), distance);
		step_recv(step, count, ranks, (rank ^ distance) & ~(distance - 1), distance);
	}
	step->send_peer = rank ^ distance;
	step->recv_peer = rank ^ distance;
}

enum trn_comm_algorithm trn_comm_schedule_choose(uint32_t ranks)
{
	return (ranks & (ranks - 1)) == 0 ? TRN_COMM_HALVING : TRN_COMM_RING;
}

uint32_t trn_comm_schedule_steps(enum trn_comm_algorithm algorithm, uint32_t ranks)
{
	if (ranks < 2)
		return 0;
	return algorithm == TRN_COMM_RING ? 2 * (ranks - 1) : 2 * log2_exact(ranks);
}

void trn_comm_schedule_step(enum trn_comm_algorithm algorithm, uint32_t rank, uint32_t ranks,
			    uint64_t count, uint32_t index, struct trn_comm_step *step)
{
	if (algorithm == TRN_COMM_RING)
		ring_step(rank, ranks, count, index, step);
	else
		halving_step(rank, ranks, count, index, step);
}
