// SPDX-License-Identifier: BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "comm_rig.h"

int64_t rig_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

uint64_t rig_hash(const void *data, size_t bytes)
{
	const unsigned char *at = data;
	uint64_t hash = 0xcbf29ce484222325ull;

	while (bytes--)
		hash = (hash ^ *at++) * 0x100000001b3ull;
	return hash;
}

static uint16_t free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockname(fd, (struct sockaddr *)&address, &length))
		abort();
	close(fd);
	return ntohs(address.sin_port);
}

void rig_init(struct rig *rig, uint32_t ranks, uint64_t timeout_ns)
{
	memset(rig, 0, sizeof(*rig));
	unsetenv("TRN_COMM_ROOT");
	unsetenv("TRN_COMM_JOB");
	unsetenv("TRN_COMM_PROVIDER");
	unsetenv("NEURON_RT_ROOT_COMM_ID");
	snprintf(rig->root, sizeof(rig->root), "127.0.0.1:%u", free_port());
	rig->ranks = ranks;
	rig->timeout_ns = timeout_ns;
	rig->report = mmap(NULL, RIG_RANKS_MAX * sizeof(*rig->report), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rig->report == MAP_FAILED)
		abort();
}

void rig_fini(struct rig *rig)
{
	munmap(rig->report, RIG_RANKS_MAX * sizeof(*rig->report));
}

void rig_start(struct rig *rig, uint32_t rank, rig_rank_fn run, void *argument)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (pid == 0) {
		rig->report[rank].pid = getpid();
		run(rig, rank, argument);
		_exit(0);
	}
	rig->report[rank].pid = pid;
}

void rig_wait(struct rig *rig, int64_t limit_ns)
{
	int64_t deadline = rig_now() + limit_ns;
	int status;
	uint32_t i;

	for (i = 0; i < RIG_RANKS_MAX; i++) {
		struct rig_report *report = &rig->report[i];

		if (!report->pid)
			continue;
		while (waitpid(report->pid, &status, WNOHANG) == 0) {
			if (rig_now() > deadline)
				kill(report->pid, SIGKILL);
			usleep(2000);
		}
		report->exit_code = WIFEXITED(status) ? WEXITSTATUS(status)
						      : 128 + WTERMSIG(status);
		report->pid = 0;
		if (getenv("RIG_VERBOSE"))
			printf("rank %u ended with %d: %s\n", i, report->exit_code, report->text);
	}
}

void rig_run(struct rig *rig, rig_rank_fn run, void *argument)
{
	uint32_t i;

	for (i = 0; i < rig->ranks; i++)
		rig_start(rig, i, run, argument);
	rig_wait(rig, 60000000000ll);
}

bool rig_await_stage(struct rig *rig, uint32_t rank, int stage)
{
	int64_t deadline = rig_now() + 20000000000ll;

	while (rig->report[rank].stage < stage) {
		if (rig_now() > deadline)
			return false;
		usleep(1000);
	}
	return true;
}

void rig_record(struct rig *rig, uint32_t rank, enum trn_status status)
{
	struct rig_report *report = &rig->report[rank];

	report->ended_ns = rig_now();
	report->status = status;
	snprintf(report->text, sizeof(report->text), "%s", status ? trn_error_text() : "");
}

enum trn_status rig_join(struct rig *rig, uint32_t rank, struct trn_queue *queue,
			 struct trn_comm **comm)
{
	struct trn_comm_options options = TRN_OPTIONS(options);
	enum trn_status status;

	options.root = rig->root;
	options.timeout_ns = rig->timeout_ns;
	status = trn_comm_create(queue, rank, rig->ranks, &options, comm);
	rig_record(rig, rank, status);
	return status;
}
