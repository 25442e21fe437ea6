// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hostile guest: random register accesses, descriptors, requests and programs, from several threads
 * at once. Nothing may crash or hang, and host memory that was not mapped for the device keeps its
 * content.
 *
 * TRN_FUZZ_SEED=n repeats a run (the seed is printed when a test fails), TRN_FUZZ_STEPS=n changes
 * its length.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "emu_rig.h"

#define GUARD	    4096u
#define MAPPED	    (64u << 10)
#define HBM_USED    0x1000000ull
#define THREADS	    4
#define MEM_PATTERN 0xc3

static struct rig rig;
static uint8_t *arena; /* guard, memory the device may reach, guard */
static uint64_t bus;

struct random {
	uint64_t state;
};

static uint32_t next(struct random *r)
{
	r->state = r->state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(r->state >> 33) ^ (uint32_t)(r->state >> 12);
}

static uint32_t below(struct random *r, uint32_t limit)
{
	return next(r) % limit;
}

static uint64_t seed_get(void)
{
	const char *text = getenv("TRN_FUZZ_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

	printf("TRN_FUZZ_SEED=%llu\n", (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

static unsigned int steps_get(unsigned int normal)
{
	const char *text = getenv("TRN_FUZZ_STEPS");

	return text ? (unsigned int)strtoul(text, NULL, 0) : normal;
}

static bool timed; /* the device under test is in time mode */

static void open_arena(void)
{
	const struct emu_config config = {
		.size = sizeof(config),
		.hbm_bytes = 64 << 20,
		.time_mode = timed,
	};

	rig_open_config(&rig, &config);
	arena = aligned_alloc(4096, MAPPED + 2 * GUARD);
	ck_assert_ptr_nonnull(arena);
	memset(arena, MEM_PATTERN, MAPPED + 2 * GUARD);
	ck_assert_int_eq(emu_inproc_map(rig.inproc, arena + GUARD, MAPPED, true, &bus), 0);
}

static void close_arena(void)
{
	unsigned int i;

	emu_device_reset(rig.dev);
	rig_quiesce(&rig);
	ck_assert_int_eq(emu_inproc_unmap(rig.inproc, bus), 0);
	for (i = 0; i < GUARD; i++) {
		ck_assert_uint_eq(arena[i], MEM_PATTERN);
		ck_assert_uint_eq(arena[GUARD + MAPPED + i], MEM_PATTERN);
	}
	emu_inproc_destroy(rig.inproc);
	free(arena);
}

/* BAR0 offset of some block; what lies in it is one piece of the device address space. */
static uint32_t block_any(struct random *r)
{
	switch (below(r, 6)) {
	case 0:
		return RIG_MISC;
	case 1:
		return rig_map->tpb(below(r, rig_map->cores));
	case 2:
		return rig_map->top_sp(below(r, rig_map->top_sps));
	case 3:
		return rig_map->sdma(below(r, rig_map->engines));
	case 4:
		return rig_map->nc_notific(below(r, rig_map->cores));
	default:
		return rig_engine(below(r, rig_map->engines));
	}
}

/* An address a descriptor or a ring base may hold: mostly valid, often just beyond. */
static uint64_t address(struct random *r)
{
	switch (below(r, 8)) {
	case 0:
		return (uint64_t)next(r) << 32 | next(r);
	case 1:
		return rig_map->dev(block_any(r)) + (next(r) & 0xffffc);
	case 2:
		return rig_map->dev(rig_map->tpb(below(r, 2))) + (next(r) & 0x1ffffff);
	case 3:
		return (64u << 20) - below(r, 65536);
	case 4:
		return rig_map->dev(rig_engine(below(r, rig_map->engines))) +
		       below(r, 2) * TRN_UDMA_S2M + TRN_UDMA_QUEUE(below(r, 16)) + TRN_Q_TAIL_INC;
	case 5:
		return HBM_USED + (next(r) & 0xffffc0);
	default:
		return RIG_HOST | (bus + (next(r) & (MAPPED - 1) & ~63u));
	}
}

static void fill_descriptors(struct random *r, struct trn_desc *desc, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		desc[i].ctrl = (next(r) & 0xffff) | 0x01000000;
		desc[i].meta = 0;
		desc[i].addr = address(r);
		if (below(r, 2)) {
			desc[i].ctrl |= TRN_DESC_FIRST | TRN_DESC_LAST;
			desc[i].meta = TRN_META_PLAIN;
		}
		if (!below(r, 4))
			desc[i].ctrl &= 0xffff00ff;
		if (!below(r, 64))
			desc[i].ctrl ^= 1u << below(r, 32);
	}
}

/* One access of a queue register with a value that is likely to get somewhere. */
static void queue_step(struct random *r)
{
	static const uint16_t regs[] = { TRN_Q_CFG,	 TRN_Q_BASE_LOW,    TRN_Q_BASE_HIGH,
					 TRN_Q_LENGTH,	 TRN_Q_TAIL_INC,    TRN_Q_TAIL_INC,
					 TRN_Q_TAIL_INC, TRN_Q_S2M_SW_CTRL, TRN_Q_M2S_SW_CTRL };
	uint32_t base = rig_engine(below(r, rig_map->engines)) + below(r, 2) * TRN_UDMA_S2M +
			TRN_UDMA_QUEUE(below(r, 2));
	uint32_t reg = regs[below(r, sizeof(regs) / sizeof(regs[0]))];
	uint64_t ring = address(r);
	uint32_t value = next(r);

	if (!below(r, 8)) {
		/* Otherwise the first error of an engine would be its last. */
		base = rig_engine(below(r, rig_map->engines));
		rig_write(&rig, base + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
		rig_write(&rig, base + TRN_UDMA_S2M + TRN_S2M_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
		return;
	}
	switch (reg) {
	case TRN_Q_CFG:
		value = below(r, 8) ? TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE : value;
		break;
	case TRN_Q_BASE_LOW:
		value = (uint32_t)ring;
		break;
	case TRN_Q_BASE_HIGH:
		value = (uint32_t)(ring >> 32);
		break;
	case TRN_Q_LENGTH:
		value = below(r, 4) ? 32u << below(r, 6) : value;
		break;
	case TRN_Q_TAIL_INC:
		value = below(r, 8) ? below(r, 40) : value;
		break;
	}
	rig_write(&rig, base + reg, value);
}

static void core_step(struct random *r)
{
	unsigned int core = below(r, 2);
	uint32_t block = RIG_CORE_BLOCK(core);
	uint64_t base = address(r) & ~63ull;

	switch (below(r, 8)) {
	case 0:
		rig_write(&rig, block + TRN_CORE_SQ_BASE_LOW, (uint32_t)base);
		rig_write(&rig, block + TRN_CORE_SQ_BASE_HIGH, (uint32_t)(base >> 32));
		break;
	case 1:
		rig_write(&rig, block + TRN_CORE_SQ_SIZE,
			  below(r, 4) ? 2u << below(r, 11) : next(r));
		break;
	case 2:
		rig_write(&rig, block + TRN_CORE_SQ_CONTROL, below(r, 8));
		break;
	case 3:
		rig_write(&rig, block + TRN_CORE_SQ_TAIL, below(r, 2) ? below(r, 64) : next(r));
		break;
	case 4:
		rig_write(&rig,
			  rig_map->nc_notific(core) + TRN_NQ_SLOT(below(r, 16)) + below(r, 5) * 4,
			  below(r, 2) ? 32u << below(r, 12) : (uint32_t)base);
		break;
	case 5:
		rig_write(&rig,
			  rig_map->tpb(core) + TRN_TPB_ENGINE(below(r, 8)) + below(r, 0x200) * 4,
			  next(r));
		break;
	case 6:
		rig_write(&rig, rig_sem(core, TRN_TPB_SEM_SET, below(r, 256)), next(r));
		break;
	default:
		rig_read(&rig, block + below(r, 0x40) * 4);
		break;
	}
}

static void any_step(struct random *r)
{
	uint64_t offset = next(r) & (rig_map->bar0_size - 4);

	switch (below(r, 8)) {
	case 0:
		rig_read(&rig, offset);
		break;
	case 1:
		rig_write(&rig, offset, next(r));
		break;
	case 2:
		rig_write(&rig, rig_engine(below(r, rig_map->engines)) + (next(r) & 0x3fffc),
			  next(r));
		break;
	case 3:
		rig_write(&rig, RIG_MISC + (next(r) & 0xffc), below(r, 2) ? below(r, 3) : next(r));
		break;
	case 4:
		rig_ext_write(&rig, next(r) & 0x1fc, below(r, 2));
		break;
	case 5:
		emu_device_write(rig.dev, below(r, 8), offset + below(r, 4), next(r),
				 1u << below(r, 4));
		break;
	case 6:
		rig_read(&rig, block_any(r) + (next(r) & 0xffffc));
		break;
	default:
		rig_write(&rig, rig_map->tpb(below(r, 2)) + (next(r) & 0x3fffffc), next(r));
		break;
	}
}

static void run_steps(struct random *r, unsigned int steps)
{
	unsigned int i;

	for (i = 0; i < steps; i++) {
		switch (below(r, 4)) {
		case 0:
			queue_step(r);
			break;
		case 1:
			core_step(r);
			break;
		default:
			any_step(r);
			break;
		}
	}
}

static void random_registers_body(void)
{
	struct random r = { seed_get() };

	open_arena();
	run_steps(&r, steps_get(100000));
	close_arena();
}

/* Queues are set up properly, what they carry is noise. */
static void random_descriptors_body(void)
{
	unsigned int round, rounds = steps_get(400), engine, dir;
	struct random r = { seed_get() };
	struct trn_desc *desc;

	open_arena();
	desc = rig_hbm(&rig, HBM_USED);
	for (round = 0; round < rounds; round++) {
		engine = below(&r, rig_map->engines);
		rig_engine_init(&rig, engine);
		fill_descriptors(&r, desc, 128);
		for (dir = 0; dir < 2; dir++) {
			uint32_t half = rig_engine(engine) + dir * TRN_UDMA_S2M;
			uint32_t queue = half + TRN_UDMA_QUEUE(0);

			rig_write(&rig, half + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
			rig_write(&rig, queue + (dir ? TRN_Q_S2M_SW_CTRL : TRN_Q_M2S_SW_CTRL),
				  TRN_Q_SW_CTRL_RESET);
			rig_write(&rig, queue + TRN_Q_BASE_LOW, HBM_USED + dir * 1024);
			rig_write(&rig, queue + TRN_Q_BASE_HIGH, 0);
			rig_write(&rig, queue + TRN_Q_LENGTH, 64);
			rig_write(&rig, queue + TRN_Q_CFG,
				  TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE);
			rig_write(&rig, queue + TRN_Q_TAIL_INC, 1 + below(&r, 64));
		}
		if (!below(&r, 4))
			ck_assert_int_eq(emu_device_quiesce(rig.dev, RIG_TIMEOUT_MS), 0);
	}
	close_arena();
}

static void random_program(struct random *r, struct trn_insn *insn, unsigned int count)
{
	unsigned int i, b;

	for (i = 0; i < count; i++) {
		uint8_t *bytes = (uint8_t *)&insn[i];

		memset(&insn[i], 0, sizeof(insn[i]));
		insn[i].opcode = (uint8_t)below(r, 0x80);
		insn[i].engine = TRN_ENGINE_SP;
		for (b = below(r, 12); b; b--)
			bytes[8 + below(r, 120)] = (uint8_t)next(r);
	}
}

static void random_programs_body(void)
{
	unsigned int round, rounds = steps_get(300);
	struct random r = { seed_get() };
	struct trn_run_request request;
	struct trn_insn insn[16];
	struct rig_core core;

	open_arena();
	rig_core_open(&rig, &core, 0);
	for (round = 0; round < rounds; round++) {
		random_program(&r, insn, 16);
		insn[15].opcode = TRN_OP_HALT;
		request = rig_program(&rig, 0x2000000, TRN_ENGINE_SP, insn, 16);
		rig_submit(&core, &request);
		rig_wait(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL), ~0u, core.tail);
		if (emu_device_quiesce(rig.dev, 20)) {
			/* It waits for a semaphore or loops. */
			rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL),
				  TRN_SQ_ENABLE | TRN_SQ_ABORT);
			rig_quiesce(&rig);
			/* A request not begun yet was dropped. */
			core.tail = rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL));
		}
		rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL),
			  TRN_SQ_ENABLE | TRN_SQ_RESUME);
		rig_wait(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD), ~0u, core.tail);
		rig_write(&rig, rig_nq(&core, 0, TRN_NQ_TAIL),
			  rig_read(&rig, rig_nq(&core, 0, TRN_NQ_HEAD)));
	}
	rig_core_close(&core);
	close_arena();
}

static void *fuzz_thread(void *arg)
{
	struct random r = { (uint64_t)(uintptr_t)arg };

	run_steps(&r, steps_get(20000));
	return NULL;
}

static void random_registers_from_many_threads_body(void)
{
	uint64_t seed = seed_get();
	pthread_t thread[THREADS];
	unsigned int i;

	open_arena();
	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, fuzz_thread,
						(void *)(uintptr_t)(seed * 31 + i)),
				 0);
	for (i = 0; i < 5; i++)
		emu_device_reset(rig.dev);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	close_arena();
}

static void destroyed_in_mid_run_body(void)
{
	struct random r = { seed_get() };
	unsigned int i;

	for (i = 0; i < 20; i++) {
		open_arena();
		run_steps(&r, 3000);
		emu_inproc_destroy(rig.inproc);
		free(arena);
	}
}

/* Each once as it is and once in time mode, where other loops do the work. */
#define BOTH(name)                      \
	START_TEST(name)                \
	{                               \
		name##_body();          \
	}                               \
	END_TEST                        \
	START_TEST(name##_in_time_mode) \
	{                               \
		timed = true;           \
		name##_body();          \
	}                               \
	END_TEST

BOTH(random_registers)
BOTH(random_descriptors)
BOTH(random_programs)
BOTH(random_registers_from_many_threads)
BOTH(destroyed_in_mid_run)

int main(void)
{
	const TTest *tests[] = {
		random_registers,
		random_registers_in_time_mode,
		random_descriptors,
		random_descriptors_in_time_mode,
		random_programs,
		random_programs_in_time_mode,
		random_registers_from_many_threads,
		random_registers_from_many_threads_in_time_mode,
		destroyed_in_mid_run,
		destroyed_in_mid_run_in_time_mode,
	};

	return RIG_MAIN("emu_fuzz", tests);
}
