// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device model under honest load from many threads: copies on all host engines and core engines,
 * runs on both cores, mappings that come and go, all results checked.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "emu_rig.h"

#define COPIERS 6
#define ROUNDS	100

static struct rig rig;

struct copier {
	pthread_t thread;
	unsigned int engine, queue, index;
};

/* Host to HBM to HBM to host through an own queue and own memory, mapped anew each round. */
static void *copier_main(void *arg)
{
	struct copier *self = arg;
	uint64_t at = 0x1000000 + self->index * 0x1000000ull;
	uint64_t other = rig_map->hbm_base(1) + at;
	struct rig_queue q;
	unsigned int round;

	rig_queue_open(&rig, &q, self->engine, self->queue, 64);
	for (round = 0; round < ROUNDS; round++) {
		uint32_t len = 4 + (round * 7919 + self->index * 104729) % 65000;
		struct rig_host mem;

		rig_host_alloc(&rig, &mem, 2 * 65536 + 4096);
		memset(mem.ptr, (int)(round ^ self->index), len);
		*(uint32_t *)(mem.ptr + 131072) = round + 1;
		rig_m2s(&q, mem.dev, len, 0);
		rig_s2m(&q, at, len);
		rig_m2s(&q, at, len, 0);
		rig_s2m(&q, other, len);
		rig_m2s(&q, other, len, 0);
		rig_s2m(&q, mem.dev + 65536, len);
		rig_m2s(&q, mem.dev + 131072, 4, TRN_DESC_DMB);
		rig_s2m(&q, mem.dev + 131072 + 64, 4);
		rig_ring(&q, 4, 4);
		rig_wait_word(mem.ptr + 131072 + 64, round + 1);
		ck_assert_mem_eq(mem.ptr, mem.ptr + 65536, len);
		rig_host_free(&rig, &mem);
	}
	rig_write(&rig, rig_q(&q, 0, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
	rig_queue_close(&q);
	return NULL;
}

struct runner {
	pthread_t thread;
	unsigned int core;
};

static void *runner_main(void *arg)
{
	struct runner *self = arg;
	uint64_t at = 0x20000000 + self->core * 0x100000;
	struct trn_run_request request;
	struct trn_insn insn[3];
	struct rig_core core;
	unsigned int round;

	rig_core_open(&rig, &core, self->core);
	memset(insn, 0, sizeof(insn));
	insn[0].engine = insn[1].engine = insn[2].engine = TRN_ENGINE_SP;
	insn[0].opcode = TRN_OP_NOP;
	insn[0].update[0] = (struct trn_sync){ .op = TRN_UPDATE_INC,
					       .mode = TRN_UPDATE_AT_COMPLETE,
					       .index = 100 };
	insn[1].opcode = TRN_OP_WRITE32;
	insn[1].write32.address = at + 0x8000;
	insn[1].write32.value = self->core + 7;
	insn[2].opcode = TRN_OP_HALT;
	request = rig_program(&rig, at, TRN_ENGINE_SP, insn, 3);
	for (round = 0; round < ROUNDS; round++)
		ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(self->core, TRN_TPB_SEM_READ, 100)), ROUNDS);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, at + 0x8000), self->core + 7);
	rig_core_close(&core);
	return NULL;
}

START_TEST(everything_at_once)
{
	struct copier copier[COPIERS] = {
		{ .engine = RIG_H2T, .queue = 0 }, { .engine = RIG_H2T + 1, .queue = 0 },
		{ .engine = RIG_H2T, .queue = 1 }, { .engine = 0, .queue = 15 },
		{ .engine = 16, .queue = 3 },	   { .engine = 15, .queue = 0 }
	};
	struct runner runner[2] = { { .core = 0 }, { .core = 1 } };
	unsigned int i;

	rig_open(&rig);
	for (i = 0; i < COPIERS; i++) {
		copier[i].index = i;
		ck_assert_int_eq(pthread_create(&copier[i].thread, NULL, copier_main, &copier[i]),
				 0);
	}
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&runner[i].thread, NULL, runner_main, &runner[i]),
				 0);
	for (i = 0; i < COPIERS; i++)
		pthread_join(copier[i].thread, NULL);
	for (i = 0; i < 2; i++)
		pthread_join(runner[i].thread, NULL);
	rig_quiesce(&rig);
	rig_close(&rig, 0);
}
END_TEST

/* Semaphore increments from 8 engines at once lose nothing. */
START_TEST(increments_from_many_engines)
{
	struct rig_queue q[8];
	struct rig_host one;
	unsigned int i, n;

	rig_open(&rig);
	rig_host_alloc(&rig, &one, 4096);
	*(uint32_t *)one.ptr = 1;
	for (i = 0; i < 8; i++)
		rig_queue_open(&rig, &q[i], i * 4, i, 512);
	for (n = 0; n < 500; n++) {
		for (i = 0; i < 8; i++) {
			rig_m2s(&q[i], one.dev, 4, 0);
			rig_s2m(&q[i], rig_map->dev(rig_sem(1, TRN_TPB_SEM_INC, 77)), 4);
		}
	}
	for (i = 0; i < 8; i++)
		rig_ring(&q[i], 500, 500);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(1, TRN_TPB_SEM_READ, 77)), 4000);
	for (i = 0; i < 8; i++)
		rig_queue_close(&q[i]);
	rig_host_free(&rig, &one);
	rig_close(&rig, 0);
}
END_TEST

/* An unmap waits for the access under way; afterwards the device cannot reach the memory any more.
 */
START_TEST(unmap_during_copies)
{
	struct rig_queue q;
	unsigned int round;

	rig_open(&rig);
	rig_queue_open(&rig, &q, RIG_H2T, 0, 64);
	for (round = 0; round < 50; round++) {
		struct rig_host mem;
		unsigned int i;

		rig_host_alloc(&rig, &mem, 65536);
		for (i = 0; i < 16; i++) {
			rig_m2s(&q, mem.dev, 65536, 0);
			rig_s2m(&q, 0x1000000, 65536);
		}
		rig_ring(&q, 16, 16);
		rig_host_free(&rig, &mem);
		rig_quiesce(&rig);
		/* In this order: a queue that still has work would fail on it again. */
		rig_queue_reset(&q);
		rig_write(&rig, q.udma + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
		rig_write(&rig, q.udma + TRN_UDMA_S2M + TRN_S2M_CHANGE_STATE,
			  TRN_UDMA_CHANGE_NORMAL);
	}
	rig_queue_close(&q);
	rig_close(&rig, rig_complaints(&rig, EMU_COMPLAINT_DESC_ADDRESS));
}
END_TEST

static atomic_bool debugger_ends;

static void *debugger_main(void *arg)
{
	uint32_t block = rig_map->tpb(0) + TRN_TPB_ENGINE(TRN_ENGINE_SP);

	(void)arg;
	while (!atomic_load(&debugger_ends)) {
		rig_write(&rig, block + TRN_ENG_REG(5), 7);
		rig_read(&rig, block + TRN_ENG_REG(6));
		rig_read(&rig, block + TRN_ENG_PC);
	}
	return NULL;
}

/* What a debugger looks at is there at any time, also while the firmware resets the core. */
START_TEST(debug_registers_during_resets)
{
	pthread_t debugger;
	unsigned int round;

	rig_open(&rig);
	atomic_store(&debugger_ends, false);
	ck_assert_int_eq(pthread_create(&debugger, NULL, debugger_main, NULL), 0);
	for (round = 0; round < 20; round++) {
		rig_write(&rig, RIG_MISC + TRN_MISC_RESET_MAP, rig_map->reset_core(0));
		rig_write(&rig, RIG_MISC + TRN_MISC_RESET, TRN_RESET_TPB);
		rig_write(&rig, RIG_MISC + TRN_MISC_TRIGGER, 1);
		rig_wait(&rig, RIG_MISC + TRN_MISC_RESET, ~0u, 0);
	}
	atomic_store(&debugger_ends, true);
	pthread_join(debugger, NULL);
	rig_close(&rig, 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		everything_at_once,
		increments_from_many_engines,
		unmap_during_copies,
		debug_registers_during_resets,
	};

	return RIG_MAIN("emu_stress", tests);
}
