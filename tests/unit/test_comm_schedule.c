// SPDX-License-Identifier: BSD-2-Clause
/* Schedules replayed on sets of contributions: each element of each result holds each rank once. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "comm/schedule.h"

#define RANKS_MAX 64

static const uint64_t counts[] = { 0, 1, 2, 3, 7, 63, 64, 65, 301 };

/* Each element of each rank's vector as the set of ranks whose values it sums. */
static void replay_step(uint64_t **sums, uint64_t **before, enum trn_comm_algorithm algorithm,
			uint32_t ranks, uint64_t count, uint32_t index)
{
	struct trn_comm_step ours, theirs;
	uint64_t i, came;
	uint32_t rank;

	for (rank = 0; rank < ranks; rank++)
		memcpy(before[rank], sums[rank], count * sizeof(**sums));
	for (rank = 0; rank < ranks; rank++) {
		trn_comm_schedule_step(algorithm, rank, ranks, count, index, &ours);
		ck_assert_uint_lt(ours.recv_peer, ranks);
		trn_comm_schedule_step(algorithm, ours.recv_peer, ranks, count, index, &theirs);
		ck_assert_uint_ne(ours.recv_peer, rank);
		ck_assert_uint_eq(theirs.send_peer, rank);
		ck_assert_uint_eq(theirs.send_offset, ours.recv_offset);
		ck_assert_uint_eq(theirs.send_count, ours.recv_count);
		ck_assert_uint_le(ours.recv_offset + ours.recv_count, count);
		ck_assert(ours.send_offset + ours.send_count <= ours.recv_offset ||
			  ours.recv_offset + ours.recv_count <= ours.send_offset);
		for (i = ours.recv_offset; i < ours.recv_offset + ours.recv_count; i++) {
			came = before[ours.recv_peer][i];
			if (ours.reduce && (sums[rank][i] & came))
				ck_abort_msg("%u ranks: step %u adds a rank twice to element %lu",
					     ranks, index, (unsigned long)i);
			sums[rank][i] = ours.reduce ? sums[rank][i] | came : came;
		}
	}
}

static void replay(enum trn_comm_algorithm algorithm, uint32_t ranks, uint64_t count)
{
	const uint64_t all = ranks == 64 ? UINT64_MAX : (1ull << ranks) - 1;
	uint64_t *sums[RANKS_MAX], *before[RANKS_MAX];
	uint32_t steps = trn_comm_schedule_steps(algorithm, ranks);
	uint32_t rank, index;
	uint64_t i;

	for (rank = 0; rank < ranks; rank++) {
		sums[rank] = calloc(count + 1, sizeof(uint64_t));
		before[rank] = calloc(count + 1, sizeof(uint64_t));
		for (i = 0; i < count; i++)
			sums[rank][i] = 1ull << rank;
	}
	for (index = 0; index < steps; index++)
		replay_step(sums, before, algorithm, ranks, count, index);
	for (rank = 0; rank < ranks; rank++) {
		for (i = 0; i < count; i++)
			if (sums[rank][i] != all)
				ck_abort_msg(
					"%u ranks, %lu elements: element %lu of rank %u sums %#lx",
					ranks, (unsigned long)count, (unsigned long)i, rank,
					(unsigned long)sums[rank][i]);
		free(sums[rank]);
		free(before[rank]);
	}
}

START_TEST(ring_holds_each_rank_once)
{
	uint32_t ranks;
	size_t i;

	for (ranks = 1; ranks <= RANKS_MAX; ranks += ranks < 9 ? 1 : 11)
		for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			replay(TRN_COMM_RING, ranks, counts[i]);
}
END_TEST

START_TEST(halving_holds_each_rank_once)
{
	uint32_t ranks;
	size_t i;

	for (ranks = 1; ranks <= RANKS_MAX; ranks *= 2)
		for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			replay(TRN_COMM_HALVING, ranks, counts[i]);
}
END_TEST

START_TEST(steps_are_the_fewest)
{
	ck_assert_uint_eq(trn_comm_schedule_steps(TRN_COMM_RING, 1), 0);
	ck_assert_uint_eq(trn_comm_schedule_steps(TRN_COMM_HALVING, 1), 0);
	ck_assert_uint_eq(trn_comm_schedule_steps(TRN_COMM_RING, 5), 8);
	ck_assert_uint_eq(trn_comm_schedule_steps(TRN_COMM_HALVING, 2), 2);
	ck_assert_uint_eq(trn_comm_schedule_steps(TRN_COMM_HALVING, 64), 12);
	ck_assert_int_eq(trn_comm_schedule_choose(6), TRN_COMM_RING);
	ck_assert_int_eq(trn_comm_schedule_choose(8), TRN_COMM_HALVING);
	ck_assert_int_eq(trn_comm_schedule_choose(1), TRN_COMM_HALVING);
}
END_TEST

START_TEST(bytes_meet_the_bound)
{
	struct trn_comm_step step;
	uint32_t algorithm, ranks, index;
	uint64_t sent;

	for (algorithm = TRN_COMM_RING; algorithm <= TRN_COMM_HALVING; algorithm++) {
		for (ranks = 2; ranks <= 64; ranks *= 2) {
			for (sent = 0, index = 0; index < trn_comm_schedule_steps(algorithm, ranks);
			     index++) {
				trn_comm_schedule_step(algorithm, 1, ranks, 64000, index, &step);
				sent += step.send_count;
			}
			ck_assert_uint_eq(sent, 2 * 64000 * (uint64_t)(ranks - 1) / ranks);
		}
	}
}
END_TEST

START_TEST(counts_of_64_bits)
{
	const uint64_t count = (1ull << 62) + 12345;
	struct trn_comm_step step;

	trn_comm_schedule_step(TRN_COMM_RING, 6, 7, count, 0, &step);
	ck_assert_uint_eq(step.send_offset + step.send_count, count);
	ck_assert_uint_ge(step.send_count, count / 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("comm_schedule");
	TCase *tests = tcase_create("schedule");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, ring_holds_each_rank_once);
	tcase_add_test(tests, halving_holds_each_rank_once);
	tcase_add_test(tests, steps_are_the_fewest);
	tcase_add_test(tests, bytes_meet_the_bound);
	tcase_add_test(tests, counts_of_64_bits);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
