/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranks as processes, for the tests of communicators: forked, on loopback, each with its own
 * report. */
#ifndef COMM_RIG_H
#define COMM_RIG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trn/trn.h"

#define RIG_RANKS_MAX 8

/** struct rig_report - what a rank tells the test; in shared memory. */
struct rig_report {
	pid_t pid;
	enum trn_status status;
	char text[1024];
	uint64_t hash; /* of result bits */
	double value;
	int64_t ended_ns;   /* CLOCK_MONOTONIC, when the status was known */
	volatile int stage; /* set by the rank, awaited by the test */
	int exit_code;	    /* 128 + signal when killed */
};

/** struct rig - one run. */
struct rig {
	char root[32]; /* "127.0.0.1:port" of a port free a moment ago */
	uint64_t timeout_ns;
	uint32_t ranks;
	struct rig_report *report; /* RIG_RANKS_MAX */
};

typedef void (*rig_rank_fn)(struct rig *rig, uint32_t rank, void *argument);

int64_t rig_now(void);
void rig_init(struct rig *rig, uint32_t ranks, uint64_t timeout_ns);
void rig_fini(struct rig *rig);
/** rig_start() - fork one rank that runs @run and exits. */
void rig_start(struct rig *rig, uint32_t rank, rig_rank_fn run, void *argument);
/** rig_wait() - reap all ranks that were started; those alive after @limit_ns are killed: exit_code
 * 137. */
void rig_wait(struct rig *rig, int64_t limit_ns);
/** rig_run() - all ranks run @run. */
void rig_run(struct rig *rig, rig_rank_fn run, void *argument);
/** rig_await_stage() - until @rank has set @stage; false after 20 s. */
bool rig_await_stage(struct rig *rig, uint32_t rank, int stage);
/** rig_join() - trn_comm_create() with the rig's root; the outcome is in the report. */
enum trn_status rig_join(struct rig *rig, uint32_t rank, struct trn_queue *queue,
			 struct trn_comm **comm);
/** rig_record() - put @status, the sentence and the time into the report. */
void rig_record(struct rig *rig, uint32_t rank, enum trn_status status);
/** rig_hash() - FNV-1a of bytes. */
uint64_t rig_hash(const void *data, size_t bytes);

#endif /* COMM_RIG_H */
