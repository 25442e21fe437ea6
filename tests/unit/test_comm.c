// SPDX-License-Identifier: BSD-2-Clause
/* Communicators of real processes over loopback: meeting, host operations, faults. */
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comm_rig.h"

#define SECOND 1000000000ll

static struct rig rig;

static void assert_all_ok(void)
{
	uint32_t i;

	for (i = 0; i < rig.ranks; i++) {
		ck_assert_msg(rig.report[i].exit_code == 0, "rank %u ended with %d: %s", i,
			      rig.report[i].exit_code, rig.report[i].text);
		ck_assert_msg(rig.report[i].status == TRN_OK, "rank %u: %s", i, rig.report[i].text);
	}
}

static void assert_text(uint32_t rank, const char *part)
{
	ck_assert_msg(strstr(rig.report[rank].text, part), "rank %u says \"%s\", not \"%s\"", rank,
		      rig.report[rank].text, part);
}

/* A connection to the rig's root; waits until somebody listens. */
static int dial_root(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd, tries;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)atoi(strchr(rig.root, ':') + 1));
	for (tries = 0; tries < 2000; tries++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			return fd;
		close(fd);
		usleep(2000);
	}
	ck_abort_msg("nobody listens at %s", rig.root);
	return -1;
}

/* ---- host operations ---- */

static void run_host(struct rig *r, uint32_t rank, void *argument)
{
	double values[1500];
	uint8_t bytes[70000];
	struct trn_comm *comm;
	enum trn_status status;
	size_t i;

	(void)argument;
	if (rig_join(r, rank, NULL, &comm))
		return;
	status = trn_comm_barrier(comm);
	for (i = 0; i < 1500; i++)
		values[i] = (double)(rank + 1) * (double)i + 0.1;
	if (!status)
		status = trn_comm_allreduce_host(comm, values, 1500);
	if (!status)
		status = trn_comm_allreduce_host(comm, NULL, 0);
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(rank == r->ranks - 1 ? i * 7 : 0);
	if (!status)
		status = trn_comm_broadcast(comm, bytes, sizeof(bytes), r->ranks - 1);
	if (!status)
		status = trn_comm_broadcast(comm, NULL, 0, 0);
	if (!status)
		status = trn_comm_barrier(comm);
	rig_record(r, rank, status);
	r->report[rank].value = values[1499];
	r->report[rank].hash = rig_hash(values, sizeof(values)) ^ rig_hash(bytes, sizeof(bytes));
	trn_comm_destroy(comm);
}

static void host_operations(uint32_t ranks)
{
	double expected = 0;
	uint32_t i;

	rig_init(&rig, ranks, 20 * SECOND);
	rig_run(&rig, run_host, NULL);
	assert_all_ok();
	for (i = 0; i < ranks; i++)
		expected += (double)(i + 1) * 1499.0 + 0.1;
	for (i = 0; i < ranks; i++) {
		ck_assert_double_eq(rig.report[i].value, expected);
		ck_assert_uint_eq(rig.report[i].hash, rig.report[0].hash);
	}
	rig_fini(&rig);
}

START_TEST(one_rank_needs_no_network)
{
	struct trn_comm *comm;
	double value = 3;

	unsetenv("TRN_COMM_ROOT");
	ck_assert_int_eq(trn_comm_create(NULL, 0, 1, NULL, &comm), TRN_OK);
	ck_assert_int_eq(trn_comm_barrier(comm), TRN_OK);
	ck_assert_int_eq(trn_comm_allreduce_host(comm, &value, 1), TRN_OK);
	ck_assert_double_eq(value, 3);
	ck_assert_int_eq(trn_comm_broadcast(comm, &value, sizeof(value), 0), TRN_OK);
	ck_assert_int_eq(trn_comm_broadcast(comm, &value, sizeof(value), 1), TRN_ERR_INVALID);
	trn_comm_destroy(comm);
	trn_comm_destroy(NULL);
}
END_TEST

START_TEST(two_ranks)
{
	host_operations(2);
}
END_TEST

START_TEST(three_ranks)
{
	host_operations(3);
}
END_TEST

START_TEST(four_ranks)
{
	host_operations(4);
}
END_TEST

static void with_provider(const char *provider)
{
	rig_init(&rig, 2, 20 * SECOND);
	setenv("TRN_COMM_PROVIDER", provider, 1);
	rig_run(&rig, run_host, NULL);
	assert_all_ok();
	ck_assert_uint_eq(rig.report[0].hash, rig.report[1].hash);
	unsetenv("TRN_COMM_PROVIDER");
	rig_fini(&rig);
}

START_TEST(over_net)
{
	with_provider("net");
}
END_TEST

START_TEST(over_shm)
{
	with_provider("shm");
}
END_TEST

/* ---- arguments ---- */

START_TEST(wrong_arguments)
{
	struct trn_comm_options options = TRN_OPTIONS(options);
	struct trn_comm *comm = (void *)1;

	unsetenv("TRN_COMM_ROOT");
	unsetenv("NEURON_RT_ROOT_COMM_ID");
	ck_assert_int_eq(trn_comm_create(NULL, 0, 0, NULL, &comm), TRN_ERR_INVALID);
	ck_assert_ptr_null(comm);
	ck_assert_int_eq(trn_comm_create(NULL, 2, 2, NULL, &comm), TRN_ERR_INVALID);
	ck_assert(strstr(trn_error_text(), "rank 2"));
	ck_assert_int_eq(trn_comm_create(NULL, 0, 4000000000u, NULL, &comm), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_comm_create(NULL, 0, 2, NULL, NULL), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_comm_create(NULL, 0, 2, NULL, &comm), TRN_ERR_INVALID);
	ck_assert(strstr(trn_error_text(), "TRN_COMM_ROOT"));
	options.size = 3;
	ck_assert_int_eq(trn_comm_create(NULL, 0, 2, &options, &comm), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_comm_barrier(NULL), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_comm_broadcast(NULL, NULL, 0, 0), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_comm_allreduce_host(NULL, NULL, 0), TRN_ERR_INVALID);
}
END_TEST

START_TEST(wrong_roots)
{
	static const char *const roots[] = {
		"",
		"host",
		":1",
		"127.0.0.1:",
		"127.0.0.1:0",
		"127.0.0.1:65536",
		"127.0.0.1:1x",
		"[::1:5000",
		"[]:5000",
		"::1:5000",
		"127.0.0.1:-5",
		"300.300.300.300:5",
	};
	struct trn_comm_options options = TRN_OPTIONS(options);
	struct trn_comm *comm;
	size_t i;

	unsetenv("TRN_COMM_ROOT");
	unsetenv("NEURON_RT_ROOT_COMM_ID");
	options.timeout_ns = SECOND / 10;
	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		options.root = roots[i];
		ck_assert_msg(trn_comm_create(NULL, 1, 2, &options, &comm) == TRN_ERR_INVALID,
			      "root \"%s\": %s", roots[i], trn_error_text());
		ck_assert_ptr_null(comm);
	}
}
END_TEST

START_TEST(port_taken)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct trn_comm *comm;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	rig_init(&rig, 2, SECOND);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)atoi(strchr(rig.root, ':') + 1));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(rig_join(&rig, 0, NULL, &comm), TRN_ERR_IO);
	assert_text(0, rig.root);
	close(fd);
	rig_fini(&rig);
}
END_TEST

START_TEST(ipv6_and_old_variable)
{
	char root[32];

	rig_init(&rig, 2, 10 * SECOND);
	snprintf(root, sizeof(root), "[::1]:%s", strchr(rig.root, ':') + 1);
	rig.root[0] = '\0';
	setenv("NEURON_RT_ROOT_COMM_ID", root, 1);
	rig_run(&rig, run_host, NULL);
	assert_all_ok();
	unsetenv("NEURON_RT_ROOT_COMM_ID");
	rig_fini(&rig);
}
END_TEST

START_TEST(unknown_provider_is_told_to_all)
{
	uint32_t i;

	rig_init(&rig, 2, 5 * SECOND);
	setenv("TRN_COMM_PROVIDER", "carrier-pigeon", 1);
	rig_run(&rig, run_host, NULL);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(rig.report[i].status, TRN_ERR_UNSUPPORTED);
		assert_text(i, "carrier-pigeon");
	}
	unsetenv("TRN_COMM_PROVIDER");
	rig_fini(&rig);
}
END_TEST

/* ---- meeting ---- */

static void run_join(struct rig *r, uint32_t rank, void *argument)
{
	struct rig ours = *r;
	const uint32_t *as = argument;
	struct trn_comm_options options = TRN_OPTIONS(options);
	struct trn_comm *comm;
	enum trn_status status;

	/* @as: pairs {rank, ranks} that this process claims. */
	options.root = ours.root;
	options.timeout_ns = ours.timeout_ns;
	r->report[rank].stage = 1;
	status = trn_comm_create(NULL, as ? as[2 * rank] : rank, as ? as[2 * rank + 1] : r->ranks,
				 &options, &comm);
	rig_record(r, rank, status);
	if (!status)
		trn_comm_destroy(comm);
}

START_TEST(missing_rank_is_named)
{
	int64_t begin = rig_now();

	rig_init(&rig, 4, SECOND);
	rig_start(&rig, 0, run_join, NULL);
	rig_start(&rig, 2, run_join, NULL);
	rig_wait(&rig, 20 * SECOND);
	ck_assert_int_eq(rig.report[0].status, TRN_ERR_COMM);
	ck_assert_int_eq(rig.report[2].status, TRN_ERR_COMM);
	assert_text(0, "missing: ranks 1, 3");
	assert_text(2, "missing: ranks 1, 3");
	ck_assert_int_lt(rig.report[2].ended_ns - begin, 4 * SECOND);
	rig_fini(&rig);
}
END_TEST

START_TEST(missing_root_is_named)
{
	rig_init(&rig, 2, SECOND);
	rig_start(&rig, 1, run_join, NULL);
	rig_wait(&rig, 20 * SECOND);
	ck_assert_int_eq(rig.report[1].status, TRN_ERR_COMM);
	assert_text(1, "rank 0 does not answer");
	assert_text(1, rig.root);
	rig_fini(&rig);
}
END_TEST

START_TEST(wrong_number_of_ranks_prints_both)
{
	uint32_t as[] = { 0, 2, 1, 3 };
	uint32_t i;

	rig_init(&rig, 2, 5 * SECOND);
	rig_run(&rig, run_join, as);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(rig.report[i].status, TRN_ERR_COMM);
		assert_text(i, "for 3 ranks");
		assert_text(i, "for 2 ranks");
	}
	rig_fini(&rig);
}
END_TEST

START_TEST(same_rank_twice_names_both)
{
	uint32_t as[] = { 0, 3, 1, 3, 1, 3 };
	uint32_t i;

	rig_init(&rig, 3, 5 * SECOND);
	rig_run(&rig, run_join, as);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(rig.report[i].status, TRN_ERR_COMM);
		assert_text(i, "two processes are rank 1");
	}
	rig_fini(&rig);
}
END_TEST

START_TEST(garbage_does_not_disturb)
{
	static const char junk[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	const uint8_t half[] = { 0x54, 0x52, 0x4e, 0x43, 1, 0, 1, 0, 0xa0, 0 };
	int fds[8], i;

	rig_init(&rig, 2, 15 * SECOND);
	rig_start(&rig, 0, run_host, NULL);
	for (i = 0; i < 8; i++) {
		fds[i] = dial_root();
		if (i % 4 == 0)
			ck_assert_int_gt(send(fds[i], junk, sizeof(junk), MSG_NOSIGNAL), 0);
		else if (i % 4 == 1)
			ck_assert_int_gt(send(fds[i], half, sizeof(half), MSG_NOSIGNAL), 0);
		else if (i % 4 == 2)
			close(fds[i]);
	}
	rig_start(&rig, 1, run_host, NULL);
	rig_wait(&rig, 30 * SECOND);
	assert_all_ok();
	rig_fini(&rig);
}
END_TEST

START_TEST(silence_is_cut_after_a_second)
{
	int64_t begin;
	char byte;
	int fd;

	rig_init(&rig, 2, 5 * SECOND);
	rig_start(&rig, 0, run_join, NULL);
	fd = dial_root();
	begin = rig_now();
	ck_assert_int_eq(recv(fd, &byte, 1, 0), 0);
	ck_assert_int_lt(rig_now() - begin, 3 * SECOND);
	close(fd);
	kill(rig.report[0].pid, SIGKILL);
	rig_wait(&rig, 10 * SECOND);
	rig_fini(&rig);
}
END_TEST

START_TEST(foreign_server_at_root)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;

	rig_init(&rig, 2, 5 * SECOND);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)atoi(strchr(rig.root, ':') + 1));
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 4), 0);
	rig_start(&rig, 1, run_join, NULL);
	fd = accept(listener, NULL, NULL);
	ck_assert_int_gt(send(fd, "SSH-2.0-OpenSSH_9.2 and more", 28, MSG_NOSIGNAL), 0);
	rig_wait(&rig, 20 * SECOND);
	ck_assert_int_eq(rig.report[1].status, TRN_ERR_COMM);
	assert_text(1, "is not rank 0");
	close(fd);
	close(listener);
	rig_fini(&rig);
}
END_TEST

static void run_job(struct rig *r, uint32_t rank, void *argument)
{
	(void)argument;
	setenv("TRN_COMM_JOB", rank == 2 ? "other" : "ours", 1);
	r->ranks = 2;
	if (rank == 2) {
		uint32_t as[] = { 0, 2, 1, 2, 1, 2 };

		run_join(r, rank, as);
	} else {
		run_host(r, rank, NULL);
	}
}

START_TEST(other_job_is_turned_away)
{
	rig_init(&rig, 2, 10 * SECOND);
	rig_start(&rig, 0, run_job, NULL);
	rig_start(&rig, 2, run_job, NULL);
	while (!rig.report[2].text[0])
		usleep(1000);
	rig_start(&rig, 1, run_job, NULL);
	rig_wait(&rig, 30 * SECOND);
	assert_all_ok();
	ck_assert_int_eq(rig.report[2].status, TRN_ERR_COMM);
	assert_text(2, "TRN_COMM_JOB");
	rig_fini(&rig);
}
END_TEST

/* ---- death ---- */

START_TEST(killed_in_bootstrap)
{
	int64_t death;
	char name[32];

	rig_init(&rig, 3, 20 * SECOND);
	rig_start(&rig, 0, run_join, NULL);
	rig_start(&rig, 1, run_join, NULL);
	ck_assert(rig_await_stage(&rig, 1, 1));
	usleep(200000);
	snprintf(name, sizeof(name), "pid %d", rig.report[1].pid);
	death = rig_now();
	kill(rig.report[1].pid, SIGKILL);
	rig_wait(&rig, 30 * SECOND);
	ck_assert_int_eq(rig.report[0].status, TRN_ERR_COMM);
	assert_text(0, "rank 1");
	assert_text(0, name);
	ck_assert_int_lt(rig.report[0].ended_ns - death, 2 * SECOND);
	rig_fini(&rig);
}
END_TEST

START_TEST(root_killed_in_bootstrap)
{
	int64_t death;
	char name[32];

	rig_init(&rig, 3, 20 * SECOND);
	rig_start(&rig, 0, run_join, NULL);
	rig_start(&rig, 1, run_join, NULL);
	ck_assert(rig_await_stage(&rig, 1, 1));
	usleep(300000);
	snprintf(name, sizeof(name), "pid %d", rig.report[0].pid);
	death = rig_now();
	kill(rig.report[0].pid, SIGKILL);
	rig_wait(&rig, 30 * SECOND);
	ck_assert_int_eq(rig.report[1].status, TRN_ERR_COMM);
	assert_text(1, "rank 0");
	assert_text(1, name);
	ck_assert_int_lt(rig.report[1].ended_ns - death, 2 * SECOND);
	rig_fini(&rig);
}
END_TEST

/* Barriers until one fails; the victim stops calling after the third and waits for its death. */
static void run_until_failure(struct rig *r, uint32_t rank, void *argument)
{
	uint32_t victim = *(uint32_t *)argument;
	struct trn_comm *comm;
	enum trn_status status;
	double value = 1;
	int i;

	if (rig_join(r, rank, NULL, &comm))
		return;
	for (i = 0;; i++) {
		if (rank == victim && i == 3) {
			r->report[rank].stage = 1;
			pause();
		}
		status = trn_comm_allreduce_host(comm, &value, 1);
		if (status)
			break;
		if (i == 2)
			r->report[rank].stage = 1;
	}
	rig_record(r, rank, status);
	/* It stays so: every later call tells the same. */
	if (trn_comm_barrier(comm) != status || !strstr(trn_error_text(), "died"))
		r->report[rank].stage = -1;
	trn_comm_destroy(comm);
}

static void death(uint32_t ranks, uint32_t victim)
{
	int64_t at;
	char name[32];
	uint32_t i;

	rig_init(&rig, ranks, 20 * SECOND);
	for (i = 0; i < ranks; i++)
		rig_start(&rig, i, run_until_failure, &victim);
	for (i = 0; i < ranks; i++)
		ck_assert(rig_await_stage(&rig, i, 1));
	usleep(50000);
	snprintf(name, sizeof(name), "pid %d) died", rig.report[victim].pid);
	at = rig_now();
	kill(rig.report[victim].pid, SIGKILL);
	rig_wait(&rig, 30 * SECOND);
	for (i = 0; i < ranks; i++) {
		if (i == victim)
			continue;
		ck_assert_int_eq(rig.report[i].exit_code, 0);
		ck_assert_int_eq(rig.report[i].status, TRN_ERR_COMM);
		ck_assert_int_eq(rig.report[i].stage, 1);
		assert_text(i, name);
		ck_assert_int_lt(rig.report[i].ended_ns - at, 2 * SECOND);
	}
	rig_fini(&rig);
}

START_TEST(killed_in_operation)
{
	death(2, 1);
	death(3, 2);
}
END_TEST

START_TEST(root_killed_in_operation)
{
	death(2, 0);
	death(4, 0);
}
END_TEST

static void run_idle(struct rig *r, uint32_t rank, void *argument)
{
	struct trn_comm *comm;

	(void)argument;
	if (rig_join(r, rank, NULL, &comm))
		return;
	r->report[rank].stage = 1;
	while (r->report[0].stage < 2)
		usleep(1000);
	rig_record(r, rank, trn_comm_barrier(comm));
	trn_comm_destroy(comm);
}

START_TEST(killed_while_idle)
{
	int64_t begin;

	rig_init(&rig, 2, 20 * SECOND);
	rig_start(&rig, 0, run_idle, NULL);
	rig_start(&rig, 1, run_idle, NULL);
	ck_assert(rig_await_stage(&rig, 0, 1) && rig_await_stage(&rig, 1, 1));
	kill(rig.report[1].pid, SIGKILL);
	usleep(300000);
	begin = rig_now();
	rig.report[0].stage = 2;
	rig_wait(&rig, 30 * SECOND);
	ck_assert_int_eq(rig.report[0].status, TRN_ERR_COMM);
	assert_text(0, "rank 1");
	assert_text(0, "died");
	ck_assert_int_lt(rig.report[0].ended_ns - begin, SECOND / 2);
	rig_fini(&rig);
}
END_TEST

START_TEST(stopped_rank_times_out)
{
	uint32_t nobody = 99;

	rig_init(&rig, 2, 5 * SECOND);
	rig_start(&rig, 0, run_until_failure, &nobody);
	rig_start(&rig, 1, run_until_failure, &nobody);
	ck_assert(rig_await_stage(&rig, 0, 1) && rig_await_stage(&rig, 1, 1));
	kill(rig.report[1].pid, SIGSTOP);
	while (!rig.report[0].text[0])
		usleep(1000);
	ck_assert_int_eq(rig.report[0].status, TRN_ERR_TIMEOUT);
	assert_text(0, "made no progress");
	assert_text(0, "rank 1");
	kill(rig.report[1].pid, SIGCONT);
	rig_wait(&rig, 30 * SECOND);
	ck_assert_int_ne(rig.report[1].status, TRN_OK);
	rig_fini(&rig);
}
END_TEST

/* ---- disagreement ---- */

static void run_disagree(struct rig *r, uint32_t rank, void *argument)
{
	double values[8] = { 0 };
	struct trn_comm *comm;
	enum trn_status status;

	if (rig_join(r, rank, NULL, &comm))
		return;
	if (argument && rank == 0)
		status = trn_comm_barrier(comm);
	else
		status = trn_comm_allreduce_host(comm, values, rank == 0 ? 5 : 8);
	rig_record(r, rank, status);
	trn_comm_destroy(comm);
}

START_TEST(different_counts_print_both)
{
	uint32_t ranks, i;

	for (ranks = 2; ranks <= 3; ranks++) {
		rig_init(&rig, ranks, 10 * SECOND);
		rig_run(&rig, run_disagree, NULL);
		for (i = 0; i < ranks; i++) {
			ck_assert_int_eq(rig.report[i].status, TRN_ERR_COMM);
			assert_text(i, "of 5 double");
			assert_text(i, "of 8 double");
		}
		rig_fini(&rig);
	}
}
END_TEST

START_TEST(different_operations_print_both)
{
	uint32_t i;

	rig_init(&rig, 2, 10 * SECOND);
	rig_run(&rig, run_disagree, &rig);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(rig.report[i].status, TRN_ERR_COMM);
		assert_text(i, "barrier");
		assert_text(i, "host all-reduce of 8 double");
	}
	rig_fini(&rig);
}
END_TEST

static void run_leave(struct rig *r, uint32_t rank, void *argument)
{
	struct trn_comm *comm;
	enum trn_status status;

	(void)argument;
	if (rig_join(r, rank, NULL, &comm))
		return;
	status = trn_comm_barrier(comm);
	if (rank == 0)
		status = trn_comm_barrier(comm);
	rig_record(r, rank, status);
	trn_comm_destroy(comm);
}

START_TEST(one_call_too_many)
{
	rig_init(&rig, 2, 20 * SECOND);
	rig_run(&rig, run_leave, NULL);
	ck_assert_int_eq(rig.report[1].status, TRN_OK);
	ck_assert_int_eq(rig.report[0].status, TRN_ERR_COMM);
	assert_text(0, "left the communicator after operation 1");
	rig_fini(&rig);
}
END_TEST

/* ---- manners of a library ---- */

static void run_fork(struct rig *r, uint32_t rank, void *argument)
{
	struct trn_comm *comm;
	enum trn_status status;
	int child_status = 0;
	pid_t pid;

	(void)argument;
	if (rig_join(r, rank, NULL, &comm))
		return;
	pid = fork();
	if (pid == 0) {
		status = trn_comm_barrier(comm);
		trn_comm_destroy(comm);
		_exit(status == TRN_ERR_FORKED ? 0 : 1);
	}
	waitpid(pid, &child_status, 0);
	status = trn_comm_barrier(comm);
	rig_record(r, rank, status);
	r->report[rank].stage = child_status == 0 ? 1 : -1;
	trn_comm_destroy(comm);
}

START_TEST(fork_in_the_middle)
{
	rig_init(&rig, 2, 20 * SECOND);
	rig_run(&rig, run_fork, NULL);
	assert_all_ok();
	ck_assert_int_eq(rig.report[0].stage, 1);
	ck_assert_int_eq(rig.report[1].stage, 1);
	rig_fini(&rig);
}
END_TEST

static void mark(int number)
{
	(void)number;
}

static void run_signals(struct rig *r, uint32_t rank, void *argument)
{
	static const int numbers[] = { SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV, SIGTERM, SIGPIPE };
	struct sigaction ours = { .sa_handler = mark }, now;
	struct trn_comm *comm;
	size_t i;

	(void)argument;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &ours, NULL);
	if (rig_join(r, rank, NULL, &comm))
		return;
	r->report[rank].stage = 1;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], NULL, &now);
		if (now.sa_handler != mark)
			r->report[rank].stage = -numbers[i];
	}
	trn_comm_destroy(comm);
}

START_TEST(signal_handlers_stay)
{
	rig_init(&rig, 2, 20 * SECOND);
	rig_run(&rig, run_signals, NULL);
	assert_all_ok();
	ck_assert_int_eq(rig.report[0].stage, 1);
	ck_assert_int_eq(rig.report[1].stage, 1);
	rig_fini(&rig);
}
END_TEST

/* A timer that interrupts every system call, and limits as a container may set them. */
static void run_cramped(struct rig *r, uint32_t rank, void *argument)
{
	const struct rlimit files = { 64, 64 }, locked = { 65536, 65536 };
	const struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction ours = { .sa_handler = mark };

	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_MEMLOCK, &locked);
	sigaction(SIGALRM, &ours, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	run_host(r, rank, argument);
}

START_TEST(interrupts_and_low_limits)
{
	rig_init(&rig, 4, 20 * SECOND);
	rig_run(&rig, run_cramped, NULL);
	assert_all_ok();
	rig_fini(&rig);
}
END_TEST

static void run_no_files(struct rig *r, uint32_t rank, void *argument)
{
	const struct rlimit files = { 9, 9 };

	if (rank == 0)
		setrlimit(RLIMIT_NOFILE, &files);
	run_host(r, rank, argument);
}

START_TEST(out_of_descriptors_is_told_to_all)
{
	uint32_t i;

	rig_init(&rig, 8, 10 * SECOND);
	rig_run(&rig, run_no_files, NULL);
	for (i = 0; i < 8; i++) {
		ck_assert_int_eq(rig.report[i].exit_code, 0);
		ck_assert_int_ne(rig.report[i].status, TRN_OK);
		ck_assert_int_ne(rig.report[i].text[0], '\0');
	}
	assert_text(0, "file descriptors");
	rig_fini(&rig);
}
END_TEST

static int open_descriptors(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 256; fd++)
		if (lseek(fd, 0, SEEK_CUR) != -1 || errno != EBADF)
			count++;
	return count;
}

static void run_again(struct rig *r, uint32_t rank, void *argument)
{
	struct trn_comm *comm;
	enum trn_status status = TRN_OK;
	int i, first = 0;

	(void)argument;
	for (i = 0; i < 4 && !status; i++) {
		status = rig_join(r, rank, NULL, &comm);
		if (status)
			return;
		status = trn_comm_barrier(comm);
		rig_record(r, rank, status);
		trn_comm_destroy(comm);
		if (i == 0)
			first = open_descriptors();
	}
	r->report[rank].stage = open_descriptors() == first ? 1 : -1;
}

START_TEST(again_and_again_leaks_no_descriptor)
{
	rig_init(&rig, 2, 20 * SECOND);
	rig_run(&rig, run_again, NULL);
	assert_all_ok();
	ck_assert_int_eq(rig.report[0].stage, 1);
	ck_assert_int_eq(rig.report[1].stage, 1);
	rig_fini(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("comm");
	TCase *host = tcase_create("host"), *meeting = tcase_create("meeting");
	TCase *faults = tcase_create("faults"), *manners = tcase_create("manners");
	SRunner *runner;
	int failed;

	tcase_set_timeout(host, 120);
	tcase_add_test(host, one_rank_needs_no_network);
	tcase_add_test(host, two_ranks);
	tcase_add_test(host, three_ranks);
	tcase_add_test(host, four_ranks);
	tcase_add_test(host, over_net);
	tcase_add_test(host, over_shm);
	tcase_set_timeout(meeting, 120);
	tcase_add_test(meeting, wrong_arguments);
	tcase_add_test(meeting, wrong_roots);
	tcase_add_test(meeting, port_taken);
	tcase_add_test(meeting, ipv6_and_old_variable);
	tcase_add_test(meeting, unknown_provider_is_told_to_all);
	tcase_add_test(meeting, missing_rank_is_named);
	tcase_add_test(meeting, missing_root_is_named);
	tcase_add_test(meeting, wrong_number_of_ranks_prints_both);
	tcase_add_test(meeting, same_rank_twice_names_both);
	tcase_add_test(meeting, garbage_does_not_disturb);
	tcase_add_test(meeting, silence_is_cut_after_a_second);
	tcase_add_test(meeting, foreign_server_at_root);
	tcase_add_test(meeting, other_job_is_turned_away);
	tcase_set_timeout(faults, 120);
	tcase_add_test(faults, killed_in_bootstrap);
	tcase_add_test(faults, root_killed_in_bootstrap);
	tcase_add_test(faults, killed_in_operation);
	tcase_add_test(faults, root_killed_in_operation);
	tcase_add_test(faults, killed_while_idle);
	tcase_add_test(faults, stopped_rank_times_out);
	tcase_add_test(faults, different_counts_print_both);
	tcase_add_test(faults, different_operations_print_both);
	tcase_add_test(faults, one_call_too_many);
	tcase_set_timeout(manners, 120);
	tcase_add_test(manners, fork_in_the_middle);
	tcase_add_test(manners, signal_handlers_stay);
	tcase_add_test(manners, interrupts_and_low_limits);
	tcase_add_test(manners, out_of_descriptors_is_told_to_all);
	tcase_add_test(manners, again_and_again_leaks_no_descriptor);
	suite_add_tcase(suite, host);
	suite_add_tcase(suite, meeting);
	suite_add_tcase(suite, faults);
	suite_add_tcase(suite, manners);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
