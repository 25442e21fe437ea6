// SPDX-License-Identifier: BSD-2-Clause
/* All-reduce of device memory: each rank a process with an embedded device of its own. */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm_rig.h"

#define SECOND 1000000000ll
#define SPEC   "emu:trn1,hbm=256M"
#define GUARD  64 /* elements before and after the vector */

static struct rig rig;

/* A rank's device and its communicator. */
struct end {
	struct trn_device *device;
	struct trn_queue *queue;
	struct trn_memory *memory;
	struct trn_comm *comm;
};

static float value_of(uint32_t rank, uint64_t i)
{
	uint64_t x = (i * 8 + rank + 1) * 0x9e3779b97f4a7c15ull;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 32;
	return (float)((double)(int32_t)x / 2147483648.0);
}

static void end_close(struct end *end)
{
	trn_comm_destroy(end->comm);
	trn_memory_free(end->memory);
	if (end->queue)
		trn_queue_destroy(end->queue);
	trn_device_close(end->device);
}

static enum trn_status end_open(struct end *end, struct rig *r, uint32_t rank, uint64_t elements)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	enum trn_status status;

	memset(end, 0, sizeof(*end));
	options.core_count = 1;
	status = trn_device_open(SPEC, &end->device);
	if (!status)
		status = trn_queue_create(end->device, &options, &end->queue);
	if (!status)
		status = trn_memory_alloc(end->device, (elements + 2 * GUARD) * sizeof(float), NULL,
					  &end->memory);
	if (status)
		rig_record(r, rank, status);
	else
		status = rig_join(r, rank, end->queue, &end->comm);
	if (status)
		end_close(end);
	return status;
}

/* One all-reduce of @count elements; the guards around it must not change. */
static enum trn_status reduce_once(struct end *end, struct rig *r, uint32_t rank, uint64_t count)
{
	const uint64_t bytes = (count + 2 * GUARD) * sizeof(float);
	struct rig_report *report = &r->report[rank];
	float *host = malloc(bytes);
	enum trn_status status;
	double sum, magnitude;
	uint32_t from;
	uint64_t i;

	for (i = 0; i < count + 2 * GUARD; i++)
		host[i] = i < GUARD || i >= count + GUARD ? 12345.0f : value_of(rank, i - GUARD);
	status = trn_queue_write(end->queue, end->memory, 0, host, bytes, NULL);
	if (!status)
		status = trn_comm_allreduce(end->comm, end->memory, GUARD * sizeof(float), count,
					    TRN_REDUCE_SUM);
	if (!status)
		status = trn_queue_read(end->queue, host, end->memory, 0, bytes, NULL);
	if (!status)
		status = trn_queue_finish(end->queue, UINT64_MAX);
	rig_record(r, rank, status);
	report->hash = report->hash * 31 + rig_hash(host + GUARD, count * sizeof(float));
	for (i = 0; i < count + 2 * GUARD && !status; i++) {
		sum = 12345;
		magnitude = 0;
		for (from = 0; i >= GUARD && i < count + GUARD && from < r->ranks; from++) {
			sum = (from ? sum : 0) + (double)value_of(from, i - GUARD);
			magnitude += fabs((double)value_of(from, i - GUARD));
		}
		if (fabs(sum - (double)host[i]) > magnitude * r->ranks * 0x1p-24) {
			snprintf(report->text, sizeof(report->text),
				 "element %ld of %lu is %.9g, not %.9g", (long)i - GUARD,
				 (unsigned long)count, (double)host[i], sum);
			report->status = TRN_ERR_FAULT;
			status = TRN_ERR_FAULT;
		}
	}
	free(host);
	return status;
}

static void run_sizes(struct rig *r, uint32_t rank, void *argument)
{
	const uint64_t *counts = argument;
	struct end end;
	uint64_t most = 0;
	size_t i;

	for (i = 0; counts[i] != UINT64_MAX; i++)
		most = counts[i] > most ? counts[i] : most;
	if (end_open(&end, r, rank, most))
		return;
	for (i = 0; counts[i] != UINT64_MAX; i++)
		if (reduce_once(&end, r, rank, counts[i]))
			break;
	end_close(&end);
}

static void assert_same(void)
{
	uint32_t i;

	for (i = 0; i < rig.ranks; i++) {
		ck_assert_msg(rig.report[i].exit_code == 0, "rank %u ended with %d: %s", i,
			      rig.report[i].exit_code, rig.report[i].text);
		ck_assert_msg(rig.report[i].status == TRN_OK, "rank %u: %s", i, rig.report[i].text);
		ck_assert_uint_eq(rig.report[i].hash, rig.report[0].hash);
	}
}

static void reduce_sizes(uint32_t ranks, const uint64_t *counts)
{
	uint64_t hash;

	rig_init(&rig, ranks, 30 * SECOND);
	rig_run(&rig, run_sizes, (void *)counts);
	assert_same();
	/* And again: the same bits in every run. */
	hash = rig.report[0].hash;
	rig_fini(&rig);
	rig_init(&rig, ranks, 30 * SECOND);
	rig_run(&rig, run_sizes, (void *)counts);
	assert_same();
	ck_assert_uint_eq(rig.report[0].hash, hash);
	rig_fini(&rig);
}

START_TEST(one_rank)
{
	const uint64_t counts[] = { 0, 1, 1001, UINT64_MAX };

	reduce_sizes(1, counts);
}
END_TEST

START_TEST(two_ranks)
{
	const uint64_t counts[] = { 0, 1, 2, 3, 127, 1024, 1025, 2049, 16385, 99999, UINT64_MAX };

	reduce_sizes(2, counts);
}
END_TEST

START_TEST(two_ranks_large)
{
	const uint64_t counts[] = { 262144, 262147, 1048573, UINT64_MAX };

	reduce_sizes(2, counts);
}
END_TEST

START_TEST(three_ranks)
{
	const uint64_t counts[] = { 1, 2, 4, 1000, 50021, 400003, UINT64_MAX };

	reduce_sizes(3, counts);
}
END_TEST

START_TEST(four_ranks)
{
	const uint64_t counts[] = { 3, 5, 1000, 70001, UINT64_MAX };

	reduce_sizes(4, counts);
}
END_TEST

/* Special values go the way of IEEE arithmetic. */
static void run_special(struct rig *r, uint32_t rank, void *argument)
{
	const float values[2][6] = {
		{ INFINITY, INFINITY, NAN, -0.0f, 3e38f, 1.5f },
		{ 1, -INFINITY, 1, -0.0f, 3e38f, -1.5f },
	};
	float got[6] = { 0 };
	struct end end;
	enum trn_status status;

	(void)argument;
	if (end_open(&end, r, rank, 6))
		return;
	status = trn_queue_write(end.queue, end.memory, 0, values[rank], sizeof(got), NULL);
	if (!status)
		status = trn_comm_allreduce(end.comm, end.memory, 0, 6, TRN_REDUCE_SUM);
	if (!status)
		status = trn_queue_read(end.queue, got, end.memory, 0, sizeof(got), NULL);
	if (!status)
		status = trn_queue_finish(end.queue, UINT64_MAX);
	rig_record(r, rank, status);
	r->report[rank].hash = rig_hash(got, sizeof(got));
	r->report[rank].stage = got[0] == INFINITY && isnan(got[1]) && isnan(got[2]) &&
				got[3] == 0 && signbit(got[3]) && got[4] == INFINITY && got[5] == 0;
	end_close(&end);
}

START_TEST(special_values)
{
	rig_init(&rig, 2, 30 * SECOND);
	rig_run(&rig, run_special, NULL);
	assert_same();
	ck_assert_int_eq(rig.report[0].stage, 1);
	ck_assert_int_eq(rig.report[1].stage, 1);
	rig_fini(&rig);
}
END_TEST

static void run_arguments(struct rig *r, uint32_t rank, void *argument)
{
	struct end end;
	int wrong = 0;

	(void)argument;
	if (end_open(&end, r, rank, 100))
		return;
	wrong += trn_comm_allreduce(NULL, end.memory, 0, 1, TRN_REDUCE_SUM) != TRN_ERR_INVALID;
	wrong += trn_comm_allreduce(end.comm, NULL, 0, 1, TRN_REDUCE_SUM) != TRN_ERR_INVALID;
	wrong += trn_comm_allreduce(end.comm, end.memory, 2, 1, TRN_REDUCE_SUM) != TRN_ERR_INVALID;
	wrong += trn_comm_allreduce(end.comm, end.memory, 0, 1u << 20, TRN_REDUCE_SUM) !=
		 TRN_ERR_INVALID;
	wrong += trn_comm_allreduce(end.comm, end.memory, 4, UINT64_MAX, TRN_REDUCE_SUM) !=
		 TRN_ERR_INVALID;
	wrong += trn_comm_allreduce(end.comm, end.memory, UINT64_MAX - 3, 1, TRN_REDUCE_SUM) !=
		 TRN_ERR_INVALID;
	wrong += trn_comm_allreduce(end.comm, end.memory, 0, 1, (enum trn_reduce_op)7) !=
		 TRN_ERR_INVALID;
	r->report[rank].stage = wrong ? -1 : 1;
	/* None of these counted as an operation: the ranks still agree. */
	rig_record(r, rank, trn_comm_allreduce(end.comm, end.memory, 0, 100, TRN_REDUCE_SUM));
	end_close(&end);
}

START_TEST(wrong_arguments)
{
	rig_init(&rig, 2, 30 * SECOND);
	rig_run(&rig, run_arguments, NULL);
	assert_same();
	ck_assert_int_eq(rig.report[0].stage, 1);
	ck_assert_int_eq(rig.report[1].stage, 1);
	rig_fini(&rig);
}
END_TEST

static void run_no_core(struct rig *r, uint32_t rank, void *argument)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_queue *queue = NULL;
	struct trn_memory *memory = NULL;
	struct trn_device *device = NULL;
	struct trn_comm *comm = NULL;
	enum trn_status status;

	(void)argument;
	status = trn_device_open(SPEC, &device);
	if (!status)
		status = trn_queue_create(device, &options, &queue);
	if (!status)
		status = trn_memory_alloc(device, 64, NULL, &memory);
	if (!status)
		status = rig_join(r, rank, queue, &comm);
	if (!status) {
		status = trn_comm_allreduce(comm, memory, 0, 16, TRN_REDUCE_SUM);
		rig_record(r, rank, status);
	}
	/* The queue takes the communicator with it. */
	trn_memory_free(memory);
	trn_queue_destroy(queue);
	trn_device_close(device);
}

START_TEST(queue_without_core)
{
	uint32_t i;

	rig_init(&rig, 2, 30 * SECOND);
	rig_run(&rig, run_no_core, NULL);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(rig.report[i].exit_code, 0);
		ck_assert_int_eq(rig.report[i].status, TRN_ERR_INVALID);
		ck_assert_msg(strstr(rig.report[i].text, "owns no core"), "%s", rig.report[i].text);
	}
	rig_fini(&rig);
}
END_TEST

static void run_counts_differ(struct rig *r, uint32_t rank, void *argument)
{
	struct end end;

	(void)argument;
	if (end_open(&end, r, rank, 300))
		return;
	rig_record(r, rank,
		   trn_comm_allreduce(end.comm, end.memory, 0, rank ? 200 : 300, TRN_REDUCE_SUM));
	end_close(&end);
}

START_TEST(different_counts_print_both)
{
	uint32_t i;

	rig_init(&rig, 2, 30 * SECOND);
	rig_run(&rig, run_counts_differ, NULL);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(rig.report[i].status, TRN_ERR_COMM);
		ck_assert_msg(strstr(rig.report[i].text, "of 200 fp32") &&
				      strstr(rig.report[i].text, "of 300 fp32"),
			      "%s", rig.report[i].text);
	}
	rig_fini(&rig);
}
END_TEST

/* All-reduces until one fails; the survivor's device is as good as new afterwards. */
static void run_until_failure(struct rig *r, uint32_t rank, void *argument)
{
	const uint64_t count = 300000;
	struct trn_comm *alone = NULL;
	enum trn_status status;
	struct end end;
	int i;

	(void)argument;
	if (end_open(&end, r, rank, count))
		return;
	for (i = 0;; i++) {
		status = trn_comm_allreduce(end.comm, end.memory, 0, count, TRN_REDUCE_SUM);
		if (status)
			break;
		r->report[rank].stage = i + 1;
	}
	rig_record(r, rank, status);
	trn_comm_destroy(end.comm);
	end.comm = NULL;
	status = trn_queue_fill(end.queue, end.memory, 0, 7, 4096, NULL);
	if (!status)
		status = trn_queue_finish(end.queue, 10 * SECOND);
	if (!status)
		status = trn_comm_create(end.queue, 0, 1, NULL, &alone);
	if (status)
		r->report[rank].stage = -1;
	trn_comm_destroy(alone);
	end_close(&end);
}

START_TEST(killed_in_all_reduce)
{
	int64_t at;
	char name[32];

	rig_init(&rig, 2, 30 * SECOND);
	rig_start(&rig, 0, run_until_failure, NULL);
	rig_start(&rig, 1, run_until_failure, NULL);
	ck_assert(rig_await_stage(&rig, 0, 3) && rig_await_stage(&rig, 1, 3));
	snprintf(name, sizeof(name), "pid %d) died", rig.report[1].pid);
	at = rig_now();
	kill(rig.report[1].pid, SIGKILL);
	rig_wait(&rig, 60 * SECOND);
	ck_assert_int_eq(rig.report[0].exit_code, 0);
	ck_assert_int_eq(rig.report[0].status, TRN_ERR_COMM);
	ck_assert_msg(strstr(rig.report[0].text, name), "%s", rig.report[0].text);
	ck_assert_int_lt(rig.report[0].ended_ns - at, 2 * SECOND);
	ck_assert_int_ge(rig.report[0].stage, 3);
	rig_fini(&rig);
}
END_TEST

/* A rank that destroys its queue leaves; the others are told. */
static void run_leave(struct rig *r, uint32_t rank, void *argument)
{
	struct end end;
	enum trn_status status = TRN_OK;

	(void)argument;
	if (end_open(&end, r, rank, 1000))
		return;
	if (rank == 1) {
		trn_queue_destroy(end.queue);
		end.queue = NULL;
		end.comm = NULL;
	} else {
		status = trn_comm_allreduce(end.comm, end.memory, 0, 1000, TRN_REDUCE_SUM);
	}
	rig_record(r, rank, status);
	end_close(&end);
}

START_TEST(queue_destroyed_under_a_communicator)
{
	rig_init(&rig, 2, 30 * SECOND);
	rig_run(&rig, run_leave, NULL);
	ck_assert_int_eq(rig.report[0].exit_code, 0);
	ck_assert_int_eq(rig.report[1].exit_code, 0);
	ck_assert_int_eq(rig.report[0].status, TRN_ERR_COMM);
	ck_assert_msg(strstr(rig.report[0].text, "rank 1"), "%s", rig.report[0].text);
	ck_assert_msg(strstr(rig.report[0].text, "left the communicator"), "%s",
		      rig.report[0].text);
	rig_fini(&rig);
}
END_TEST

/* After all-reduces, programs of the communicator live on the queue: it goes first all the same. */
static void run_destroy_queue(struct rig *r, uint32_t rank, void *argument)
{
	struct end end;
	enum trn_status status;

	(void)argument;
	if (end_open(&end, r, rank, 1000))
		return;
	status = trn_comm_allreduce(end.comm, end.memory, 0, 1000, TRN_REDUCE_SUM);
	rig_record(r, rank, status);
	trn_queue_destroy(end.queue);
	end.queue = NULL;
	end.comm = NULL;
	end_close(&end);
}

START_TEST(queue_destroyed_first)
{
	rig_init(&rig, 2, 30 * SECOND);
	rig_run(&rig, run_destroy_queue, NULL);
	assert_same();
	rig_fini(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("comm_device");
	TCase *sizes = tcase_create("sizes"), *faults = tcase_create("faults");
	SRunner *runner;
	int failed;

	tcase_set_timeout(sizes, 180);
	tcase_add_test(sizes, one_rank);
	tcase_add_test(sizes, two_ranks);
	tcase_add_test(sizes, two_ranks_large);
	tcase_add_test(sizes, three_ranks);
	tcase_add_test(sizes, four_ranks);
	tcase_add_test(sizes, special_values);
	tcase_set_timeout(faults, 120);
	tcase_add_test(faults, wrong_arguments);
	tcase_add_test(faults, queue_without_core);
	tcase_add_test(faults, different_counts_print_both);
	tcase_add_test(faults, killed_in_all_reduce);
	tcase_add_test(faults, queue_destroyed_under_a_communicator);
	tcase_add_test(faults, queue_destroyed_first);
	suite_add_tcase(suite, sizes);
	suite_add_tcase(suite, faults);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
