// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time mode of the device model: published costs, stamps carried by semaphores and doorbells, the
 * device clock, the trace, and that none of it depends on the host's scheduler.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "emu_rig.h"

#define SBUF(core) rig_map->dev(rig_map->tpb(core))
#define SEM_INC(i) rig_map->dev(rig_sem(0, TRN_TPB_SEM_INC, i))
#define START_NS   1300.0 /* doorbell of an idle queue to the first byte */
#define RUN_NS	   107.5  /* least of a contiguous run */
#define CONTROL	   64	  /* cycles of an instruction of the sequencer */

/* What is published for a generation: bytes per ns of a DMA engine, GHz of the other engines. */
static const struct published {
	double rate, pe, act, dve;
} published[] = {
	[2] = { 17.0, 2.8, 1.4, 1.12 },
	[3] = { 32768 / 1416.0, 2.4, 1.2, 0.96 },
};

#define OF	       (&published[rig_map->generation])
#define COPY_NS(bytes) ((bytes) / OF->rate)
#define PE_NS(cycles)  ((cycles) / OF->pe)
#define ACT_NS(cycles) ((cycles) / OF->act)
#define DVE_NS(cycles) ((cycles) / OF->dve)

static struct rig rig;

static void timed_open(const char *trace, uint64_t events)
{
	const struct emu_config config = {
		.size = sizeof(config),
		.time_mode = true,
		.trace = trace,
		.trace_events = events,
	};

	rig_open_config(&rig, &config);
}

static uint64_t clock_ns(void)
{
	uint64_t now = rig_ext_read(&rig, TRN_EXT_CLOCK_LOW);

	return now | (uint64_t)rig_ext_read(&rig, TRN_EXT_CLOCK_HIGH) << 32;
}

static void assert_near(double value, double expected, double tolerance)
{
	ck_assert_msg(value >= expected - tolerance && value <= expected + tolerance,
		      "%.1f, expected %.1f within %.1f", value, expected, tolerance);
}

/** struct program - instructions of several engines. */
struct program {
	struct trn_insn insn[TRN_ENGINE_MAX][96];
	uint32_t count[TRN_ENGINE_MAX];
};

static struct trn_insn *emit(struct program *p, enum trn_engine engine, enum trn_opcode op)
{
	struct trn_insn *insn = &p->insn[engine][p->count[engine]++];
	unsigned int i;

	memset(insn, 0, sizeof(*insn));
	insn->opcode = op;
	insn->engine = (uint8_t)engine;
	for (i = 0; i < 3 && op >= TRN_OP_LDWEIGHTS; i++)
		insn->slot[i].where = TRN_MEM_UNUSED << TRN_OPERAND_MEM_SHIFT;
	return insn;
}

static struct trn_operand tile(unsigned int mem, uint32_t offset, enum trn_dtype dtype, uint16_t n)
{
	return (struct trn_operand){
		.where = mem << TRN_OPERAND_MEM_SHIFT | offset,
		.partitions = 128,
		.dtype = dtype,
		.ndim = 1,
		.dim = { { 1, n } },
	};
}

static struct trn_insn *emit_copy(struct program *p, enum trn_engine engine, uint32_t dst,
				  uint32_t src, uint16_t n)
{
	struct trn_insn *insn;

	insn = emit(p, engine, engine == TRN_ENGINE_ACT ? TRN_OP_ACTIVATE : TRN_OP_COPY);
	insn->slot[0] = tile(TRN_MEM_SBUF, dst, TRN_DTYPE_FP32, n);
	insn->slot[1] = tile(TRN_MEM_SBUF, src, TRN_DTYPE_FP32, n);
	if (engine == TRN_ENGINE_ACT) {
		insn->op0 = TRN_ACT_COPY;
		insn->c0 = 0x3f800000; /* scale 1 */
		memset(&insn->slot[2], 0, sizeof(insn->slot[2]));
	}
	return insn;
}

static struct trn_insn *emit_pe(struct program *p, enum trn_opcode op, enum trn_dtype dtype,
				uint16_t n)
{
	struct trn_insn *insn = emit(p, TRN_ENGINE_PE, op);

	insn->slot[1] = tile(TRN_MEM_SBUF, 0, dtype, n);
	insn->pe_tile = 0;
	if (op == TRN_OP_MATMUL)
		insn->slot[0] = tile(TRN_MEM_PSUM, 0, TRN_DTYPE_FP32, n);
	return insn;
}

static struct trn_sync after(unsigned int sem, int32_t value)
{
	return (struct trn_sync){ .op = TRN_WAIT_SEM_GE,
				  .mode = TRN_WAIT_PASS_SUB,
				  .index = (uint16_t)sem,
				  .value = value };
}

static struct trn_sync then(unsigned int sem)
{
	return (struct trn_sync){ .op = TRN_UPDATE_INC,
				  .mode = TRN_UPDATE_AT_COMPLETE,
				  .index = (uint16_t)sem };
}

/* Writes the program to HBM with HALT behind each engine's instructions. */
static struct trn_run_request program_load(struct program *p, uint64_t dev)
{
	const struct trn_window all = {
		.base = 0,
		.size = rig_map->hbm_size,
		.access = TRN_ACCESS_READ | TRN_ACCESS_WRITE | TRN_ACCESS_EXEC,
	};
	struct trn_program_table *table = rig_hbm(&rig, dev);
	struct trn_run_request request = { .program = dev, .cookie = dev };
	uint64_t base = dev + 0x1000;
	unsigned int e;

	memset(table, 0, sizeof(*table));
	table->magic = TRN_PROGRAM_TABLE_MAGIC;
	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		struct trn_program_entry *entry = &table->entry[table->count];

		if (!p->count[e])
			continue;
		emit(p, (enum trn_engine)e, TRN_OP_HALT);
		entry->engine = e;
		entry->insns = p->count[e];
		entry->base = base;
		memcpy(rig_hbm(&rig, base), p->insn[e], p->count[e] * sizeof(p->insn[e][0]));
		base += sizeof(p->insn[e]);
		table->count++;
	}
	rig_windows(&rig, &request, dev + 0x800, &all, 1);
	return request;
}

/* Runs the program on core 0. Return: what it took, in ns of the device clock. */
static double run(struct program *p)
{
	struct trn_run_request request = program_load(p, 0x1000000);
	struct rig_core core;
	uint64_t start;
	double took;

	rig_core_open(&rig, &core, 0);
	rig_quiesce(&rig);
	start = clock_ns();
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	rig_quiesce(&rig);
	took = (double)(clock_ns() - start);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), 0);
	rig_core_close(&core);
	return took;
}

static double copy(struct rig_queue *q, uint64_t dst, uint64_t src, uint32_t len)
{
	uint64_t start = clock_ns();

	rig_copy(q, dst, src, len);
	rig_quiesce(&rig);
	return (double)(clock_ns() - start);
}

/* The clock stands while nothing happens, whatever the host's clock does. */
START_TEST(clock_stands_still)
{
	uint64_t before;

	timed_open(NULL, 0);
	before = clock_ns();
	usleep(20000);
	ck_assert_uint_eq(clock_ns(), before);
	rig_close(&rig, 0);
}
END_TEST

/* An engine moves 17 bytes a ns, and not less than 107 ns per contiguous run. */
START_TEST(dma_costs)
{
	struct rig_queue q;

	timed_open(NULL, 0);
	rig_queue_open(&rig, &q, 0, 0, 64);
	assert_near(copy(&q, SBUF(0), 0x1000000, 32768), START_NS + COPY_NS(32768), 2);
	assert_near(copy(&q, 0x2000000, 0x1000000, 65536), START_NS + COPY_NS(65536), 2);
	assert_near(copy(&q, 0x2000000, 0x1000000, 4), START_NS + RUN_NS, 2);
	assert_near(copy(&q, 0x2000000, 0x1000000, 512), START_NS + RUN_NS, 2);
	rig_queue_close(&q);
	rig_close(&rig, 0);
}
END_TEST

/* Descriptors of one doorbell follow each other; only the first waits for the start. A semaphore
 * update costs next to nothing, the figure of the transfer includes it. */
START_TEST(dma_descriptors_follow)
{
	struct rig_queue q;
	struct rig_host one;
	uint64_t start;
	unsigned int i;

	timed_open(NULL, 0);
	rig_host_alloc(&rig, &one, 4096);
	*(uint32_t *)one.ptr = 1;
	rig_queue_open(&rig, &q, 0, 0, 64);
	start = clock_ns();
	for (i = 0; i < 8; i++) {
		rig_m2s(&q, 0x1000000 + i * 4096, 4096, 0);
		rig_s2m(&q, SBUF(0) + i * 0x40000, 4096);
	}
	rig_m2s(&q, one.dev, 4, TRN_DESC_DMB);
	rig_s2m(&q, SEM_INC(3), 4);
	rig_ring(&q, 9, 9);
	rig_quiesce(&rig);
	assert_near((double)(clock_ns() - start), START_NS + COPY_NS(8 * 4096), 3);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 3)), 1);
	rig_queue_close(&q);
	rig_host_free(&rig, &one);
	rig_close(&rig, 0);
}
END_TEST

/* 16 engines side by side take as long as one, whatever thread serves them. */
START_TEST(dma_engines_side_by_side)
{
	struct rig_queue q[16];
	struct program p = { 0 };
	struct trn_insn *insn;
	unsigned int e;
	double took;

	timed_open(NULL, 0);
	for (e = 0; e < 16; e++) {
		rig_queue_open(&rig, &q[e], e, 2, 64);
		rig_m2s(&q[e], 0x4000000 + e * 65536, 65536, 0);
		rig_s2m(&q[e], 0x5000000 + e * 65536, 65536);
	}
	insn = emit(&p, TRN_ENGINE_SP, TRN_OP_DMA_TRIGGER);
	insn->c0 = 1;
	insn->c1 = 2;
	insn->trigger.engine_mask = 0xffff;
	took = run(&p);
	assert_near(took, ACT_NS(CONTROL) + START_NS + COPY_NS(65536), 3);
	for (e = 0; e < 16; e++)
		rig_queue_close(&q[e]);
	rig_close(&rig, 0);
}
END_TEST

/* A multiply of 512 columns takes 512 cycles of the tensor engine, its weights load behind the one
 * before, FP32 takes four times as long. */
START_TEST(tensor_costs)
{
	struct program p = { 0 }, f = { 0 };
	unsigned int i;

	timed_open(NULL, 0);
	for (i = 0; i < 16; i++) {
		emit_pe(&p, TRN_OP_LDWEIGHTS, TRN_DTYPE_BF16, 128);
		emit_pe(&p, TRN_OP_MATMUL, TRN_DTYPE_BF16, 512);
	}
	assert_near(run(&p), PE_NS(64 + 16 * 512 + CONTROL), PE_NS(CONTROL) + 2);
	emit_pe(&f, TRN_OP_LDWEIGHTS, TRN_DTYPE_FP32, 128);
	for (i = 0; i < 4; i++)
		emit_pe(&f, TRN_OP_MATMUL, TRN_DTYPE_FP32, 512);
	assert_near(run(&f), PE_NS(64 + 4 * 2048), PE_NS(CONTROL) + 2);
	rig_close(&rig, 0);
}
END_TEST

/* A small scalar instruction that needs the result of the one before takes 264 cycles; one that
 * does not, 64; a large one its columns. */
START_TEST(scalar_costs)
{
	struct program chain = { 0 }, apart = { 0 }, large = { 0 };
	unsigned int i;

	timed_open(NULL, 0);
	for (i = 0; i < 32; i++) {
		emit_copy(&chain, TRN_ENGINE_ACT, (i + 1) * 256, i * 256, 64);
		emit_copy(&apart, TRN_ENGINE_ACT, 0x8000 + i * 256, i * 256, 64);
	}
	emit_copy(&large, TRN_ENGINE_ACT, 0, 0x4000, 4000);
	assert_near(run(&chain), ACT_NS(31 * 264 + 64), ACT_NS(CONTROL) + 2);
	assert_near(run(&apart), ACT_NS(32 * 64), ACT_NS(CONTROL) + 2);
	assert_near(run(&large), ACT_NS(4000), ACT_NS(CONTROL) + 2);
	rig_close(&rig, 0);
}
END_TEST

/** struct priced - an instruction on operands of @n elements and what its engine takes for it. */
static const struct priced {
	enum trn_opcode op;
	enum trn_engine engine;
	enum trn_dtype dtype;
	unsigned int in; /* memory of the first input */
	uint16_t n;
	int16_t step;		/* of the first input, in elements */
	bool dynamic;		/* its offset is in a register */
	unsigned int cycles[2]; /* of generation 2 and 3 */
} priced[] = {
	{ TRN_OP_COPY,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_FP32,
	  TRN_MEM_SBUF,
	  2000,
	  1,
	  false,
	  { 2000, 2000 } },
	{ TRN_OP_COPY,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_BF16,
	  TRN_MEM_SBUF,
	  2000,
	  1,
	  false,
	  { 2000, 500 } },
	{ TRN_OP_COPY,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_BF16,
	  TRN_MEM_PSUM,
	  2000,
	  1,
	  false,
	  { 2000, 1000 } },
	{ TRN_OP_COPY,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_FP32,
	  TRN_MEM_SBUF,
	  1000,
	  4,
	  false,
	  { 1000, 1000 } },
	{ TRN_OP_COPY,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_FP32,
	  TRN_MEM_SBUF,
	  1000,
	  5,
	  false,
	  { 2000, 2000 } },
	{ TRN_OP_COPY, TRN_ENGINE_DVE, TRN_DTYPE_FP32, TRN_MEM_SBUF, 100, 1, true, { 600, 600 } },
	{ TRN_OP_COPY,
	  TRN_ENGINE_POOL,
	  TRN_DTYPE_FP32,
	  TRN_MEM_SBUF,
	  1000,
	  1,
	  false,
	  { 1150, 1150 } },
	{ TRN_OP_MEMSET,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_BF16,
	  TRN_MEM_SBUF,
	  2000,
	  1,
	  false,
	  { 1000, 1000 } },
	{ TRN_OP_TENSOR_TENSOR,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_FP32,
	  TRN_MEM_SBUF,
	  1000,
	  1,
	  false,
	  { 2000, 2000 } },
	{ TRN_OP_TENSOR_TENSOR,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_FP32,
	  TRN_MEM_PSUM,
	  1000,
	  1,
	  false,
	  { 1000, 1000 } },
	{ TRN_OP_TENSOR_TENSOR,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_BF16,
	  TRN_MEM_SBUF,
	  1000,
	  1,
	  false,
	  { 1000, 1000 } },
	{ TRN_OP_RECIPROCAL,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_FP32,
	  TRN_MEM_SBUF,
	  500,
	  1,
	  false,
	  { 4000, 4000 } },
	{ TRN_OP_MAX8,
	  TRN_ENGINE_DVE,
	  TRN_DTYPE_FP32,
	  TRN_MEM_SBUF,
	  3000,
	  1,
	  false,
	  { 3000, 3000 } },
};

static void emit_priced(struct program *p, const struct priced *row)
{
	struct trn_insn *insn = emit(p, row->engine, row->op);
	bool max8 = row->op == TRN_OP_MAX8;

	insn->slot[0] = tile(TRN_MEM_SBUF, 0x10000, row->dtype, max8 ? 8 : row->n);
	if (row->op == TRN_OP_MEMSET)
		return;
	insn->slot[1] = tile(row->in, 0, row->dtype, row->n);
	insn->slot[1].dim[0].step = row->step;
	if (row->dynamic)
		insn->slot[1].where |= TRN_OPERAND_REG; /* register 0, which is 0 */
	if (row->op == TRN_OP_TENSOR_TENSOR) {
		insn->op0 = TRN_ALU_ADD;
		insn->slot[2] = tile(TRN_MEM_SBUF, 0x8000, row->dtype, row->n);
	}
}

START_TEST(vector_costs)
{
	unsigned int i;

	timed_open(NULL, 0);
	for (i = 0; i < sizeof(priced) / sizeof(priced[0]); i++) {
		unsigned int cycles = priced[i].cycles[rig_map->generation - 2];
		double expected = priced[i].engine == TRN_ENGINE_POOL ? ACT_NS(cycles)
								      : DVE_NS(cycles);
		struct program p = { 0 };
		double took;

		emit_priced(&p, &priced[i]);
		took = run(&p);
		ck_assert_msg(took >= expected - 2 && took <= expected + DVE_NS(CONTROL) + 2,
			      "row %u: %.1f ns, expected %.1f", i, took, expected);
	}
	rig_close(&rig, 0);
}
END_TEST

/* An engine that waits for a semaphore goes on when the update has settled. */
START_TEST(semaphore_carries_time)
{
	struct program p = { 0 };

	timed_open(NULL, 0);
	emit_copy(&p, TRN_ENGINE_ACT, 0, 0x4000, 1400)->update[0] = then(7);
	emit_copy(&p, TRN_ENGINE_DVE, 0x8000, 0, 1120)->wait[0] = after(7, 1);
	assert_near(run(&p), ACT_NS(1400 + 200) + DVE_NS(1120), DVE_NS(CONTROL) + 2);
	rig_close(&rig, 0);
}
END_TEST

/* An engine triggers a copy and waits for it: 64 cycles, 1.3 us, the copy. */
START_TEST(dma_round_trip)
{
	struct rig_queue q;
	struct rig_host one;
	struct program p = { 0 };
	struct trn_insn *insn;
	unsigned int i;

	timed_open(NULL, 0);
	rig_host_alloc(&rig, &one, 4096);
	*(uint32_t *)one.ptr = 1;
	rig_queue_open(&rig, &q, 5, 1, 64);
	rig_m2s(&q, 0x4000000, 34000, 0);
	rig_s2m(&q, 0x5000000, 34000);
	rig_m2s(&q, one.dev, 4, TRN_DESC_DMB);
	rig_s2m(&q, SEM_INC(9), 4);
	/* Two doorbells: the second does not hurry the start. */
	for (i = 0; i < 2; i++) {
		insn = emit(&p, TRN_ENGINE_SP, TRN_OP_DMA_TRIGGER);
		insn->c0 = 1;
		insn->c1 = 1;
		insn->trigger.engine_mask = 1 << 5;
	}
	insn = emit(&p, TRN_ENGINE_SP, TRN_OP_NOP);
	insn->wait[0] = after(9, 1);
	assert_near(run(&p), 2 * ACT_NS(CONTROL) + START_NS + COPY_NS(34000), ACT_NS(CONTROL) + 3);
	rig_queue_close(&q);
	rig_host_free(&rig, &one);
	rig_close(&rig, 0);
}
END_TEST

/* Trace notifications carry the begin and the end of their instruction. */
START_TEST(notification_stamps)
{
	struct trn_run_request request;
	struct rig_core core;
	struct rig_host ring;
	struct program p = { 0 };
	struct trn_notification *entry;

	timed_open(NULL, 0);
	rig_host_alloc(&rig, &ring, 4096);
	rig_core_open(&rig, &core, 0);
	rig_write(&rig, rig_nq(&core, TRN_ENGINE_ACT, TRN_NQ_BASE_LOW), (uint32_t)ring.dev);
	rig_write(&rig, rig_nq(&core, TRN_ENGINE_ACT, TRN_NQ_BASE_HIGH),
		  (uint32_t)(ring.dev >> 32));
	rig_write(&rig, rig_nq(&core, TRN_ENGINE_ACT, TRN_NQ_SIZE), 4096);
	emit_copy(&p, TRN_ENGINE_ACT, 0, 0x4000, 2800)->flags = TRN_INSN_TRACE;
	request = program_load(&p, 0x1000000);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	rig_quiesce(&rig);
	entry = (struct trn_notification *)ring.ptr;
	ck_assert_uint_eq(entry[0].code, 0);
	ck_assert_uint_eq(entry[1].code, 1);
	ck_assert_uint_eq(entry[1].timestamp - entry[0].timestamp, (uint64_t)ACT_NS(2800));
	rig_write(&rig, rig_nq(&core, TRN_ENGINE_ACT, TRN_NQ_SIZE), 0);
	rig_core_close(&core);
	rig_host_free(&rig, &ring);
	rig_close(&rig, 0);
}
END_TEST

/* A program that keeps both cores' worth of engines busy: a loop of copies in three engines, with
 * semaphores between them, and two queues they start. */
static void busy_program(struct program *p)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		struct trn_insn *insn = emit(p, TRN_ENGINE_SP, TRN_OP_DMA_TRIGGER);

		insn->c0 = 2;
		insn->c1 = 3;
		insn->trigger.engine_mask = 0xf0f0;
		insn = emit_copy(p, TRN_ENGINE_ACT, 0x1000, 0, (uint16_t)(100 + i * 37));
		insn->wait[0] = after(20, 8);
		insn->update[0] = then(21);
		insn = emit_copy(p, TRN_ENGINE_DVE, 0x8000, 0x1000, (uint16_t)(300 - i * 7));
		insn->wait[0] = after(21, 1);
		insn->update[0] = then(22);
		insn = emit_copy(p, TRN_ENGINE_POOL, 0xc000, 0x8000, 77);
		insn->wait[0] = after(22, 1);
		insn->update[0] = then(23);
		emit_pe(p, TRN_OP_LDWEIGHTS, TRN_DTYPE_FP32, 128);
		insn = emit_pe(p, TRN_OP_MATMUL, TRN_DTYPE_FP32, 256);
		insn->update[0] = then(24);
	}
}

static void busy_run(const char *path, uint64_t events)
{
	struct program *p = calloc(1, sizeof(*p));
	struct rig_queue q[16];
	struct rig_host one;
	unsigned int e, i;

	timed_open(path, events);
	rig_host_alloc(&rig, &one, 4096);
	*(uint32_t *)one.ptr = 1;
	for (e = 0; e < 16; e++) {
		rig_queue_open(&rig, &q[e], e, 3, 64);
		for (i = 0; i < 20; i++) {
			uint32_t len = 64 + ((e + 1) * (i + 3) * 2903) % 60000;

			rig_m2s(&q[e], 0x4000000 + e * 65536, len, 0);
			rig_s2m(&q[e], 0x5000000 + e * 65536, len);
			rig_m2s(&q[e], one.dev, 4, TRN_DESC_DMB);
			rig_s2m(&q[e], SEM_INC(20), 4);
		}
	}
	busy_program(p);
	run(p);
	for (e = 0; e < 16; e++)
		rig_queue_close(&q[e]);
	rig_host_free(&rig, &one);
	rig_close(&rig, 0);
	free(p);
}

/* Two engines that write the same bytes do so in the order of time: the longer copy comes last. */
START_TEST(races_have_one_winner)
{
	unsigned int round, i, last;

	for (round = 0; round < 10; round++) {
		struct rig_queue q[2];
		struct program p = { 0 };
		struct trn_insn *insn;
		uint8_t *hbm;

		timed_open(NULL, 0);
		last = round & 1;
		for (i = 0; i < 2; i++) {
			uint32_t len = i == last ? 40960 : 36864;

			rig_queue_open(&rig, &q[i], 4 + 3 * i, 1, 64);
			rig_m2s(&q[i], 0x4000000 + i * 65536, len, 0);
			rig_s2m(&q[i], 0x5000000, len);
			memset(rig_hbm(&rig, 0x4000000 + i * 65536), 0x11 * (int)(i + 1), 65536);
		}
		insn = emit(&p, TRN_ENGINE_SP, TRN_OP_DMA_TRIGGER);
		insn->c0 = 1;
		insn->c1 = 1;
		insn->trigger.engine_mask = 1 << 4 | 1 << 7;
		run(&p);
		hbm = rig_hbm(&rig, 0x5000000);
		for (i = 0; i < 40960; i++)
			ck_assert_uint_eq(hbm[i], 0x11 * (last + 1));
		for (i = 0; i < 2; i++)
			rig_queue_close(&q[i]);
		rig_close(&rig, 0);
	}
}
END_TEST

static char *file_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	long size;

	ck_assert_ptr_nonnull(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = calloc(1, (size_t)size + 1);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_eq(fread(text, 1, (size_t)size, f), (size_t)size);
	fclose(f);
	return text;
}

static void trace_path(char *path)
{
	int fd;

	strcpy(path, "/tmp/trn-time-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static atomic_bool spin_ends;

static void *spin_main(void *arg)
{
	(void)arg;
	while (!atomic_load(&spin_ends))
		;
	return NULL;
}

/* The same program gives the same trace to the byte, on a busy host too. */
START_TEST(trace_is_deterministic)
{
	char path[2][32];
	pthread_t spinner[3];
	char *text[2];
	unsigned int i, round;

	trace_path(path[0]);
	busy_run(path[0], 0);
	text[0] = file_read(path[0]);
	ck_assert_ptr_nonnull(strstr(text[0], "\"MATMUL\""));
	ck_assert_ptr_nonnull(strstr(text[0], "core 0 dma 7"));
	atomic_store(&spin_ends, false);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&spinner[i], NULL, spin_main, NULL), 0);
	for (round = 0; round < 3; round++) {
		trace_path(path[1]);
		busy_run(path[1], 0);
		text[1] = file_read(path[1]);
		ck_assert_str_eq(text[0], text[1]);
		free(text[1]);
		unlink(path[1]);
	}
	atomic_store(&spin_ends, true);
	for (i = 0; i < 3; i++)
		pthread_join(spinner[i], NULL);
	free(text[0]);
	unlink(path[0]);
}
END_TEST

/* Standard tools read it: python's json, and every track is in order without overlap. */
START_TEST(trace_is_valid)
{
	static const char check[] =
		"import json,sys\n"
		"t=json.load(open(sys.argv[1])); last={}; n=0\n"
		"for e in t['traceEvents']:\n"
		"  if e['ph']!='X': continue\n"
		"  n+=1; k=(e['pid'],e['tid']); s=round(e['ts']*1000); d=round(e['dur']*1000)\n"
		"  assert s>=last.get(k,0),e\n"
		"  assert d>=0; last[k]=s+d\n"
		"names={e['tid'] for e in t['traceEvents'] if e['name']=='thread_name'}\n"
		"assert {k[1] for k in last}==names\n"
		"assert n==int(sys.argv[2]) and "
		"t['otherData']['dropped']==sys.argv[3],(n,t['otherData'])\n";
	char path[32], command[1400];

	trace_path(path);
	busy_run(path, 0);
	/* 20 rounds of a trigger, three copies, weights and a multiply, 8 queues with two
	 * descriptors each, and a HALT, which costs something where no data instruction is
	 * before it. */
	snprintf(command, sizeof(command), "python3 -c \"%s\" %s 441 0", check, path);
	ck_assert_int_eq(system(command), 0);
	busy_run(path, 100);
	snprintf(command, sizeof(command), "python3 -c \"%s\" %s 100 341", check, path);
	ck_assert_int_eq(system(command), 0);
	unlink(path);
}
END_TEST

/* On request as well, and again at the end. */
START_TEST(trace_on_request)
{
	char path[32], *text;
	struct program p = { 0 };

	trace_path(path);
	timed_open(path, 0);
	emit_copy(&p, TRN_ENGINE_DVE, 0, 0x4000, 100);
	run(&p);
	ck_assert_int_eq(emu_device_trace_write(rig.dev), 0);
	text = file_read(path);
	ck_assert_ptr_nonnull(strstr(text, "\"COPY\""));
	free(text);
	rig_close(&rig, 0);
	text = file_read(path);
	ck_assert_ptr_nonnull(strstr(text, "\n]}\n"));
	free(text);
	unlink(path);
	timed_open(NULL, 0);
	ck_assert_int_eq(emu_device_trace_write(rig.dev), -ENOENT);
	rig_close(&rig, 0);
}
END_TEST

static void refused(const struct emu_config *config, const char *property)
{
	struct emu_inproc *inproc;
	char error[256] = "";

	ck_assert_int_lt(emu_inproc_create(config, &inproc, error, sizeof(error)), 0);
	ck_assert_ptr_null(inproc);
	ck_assert_msg(strstr(error, property) != NULL, "\"%s\" does not name %s", error, property);
}

START_TEST(configuration_refused)
{
	struct emu_config config = { .size = sizeof(config), .trace = "/tmp/x" };

	refused(&config, "time-mode");
	config.time_mode = true;
	config.trace = "/nonexistent/directory/trace";
	refused(&config, "trace=/nonexistent/directory/trace");
	config.trace_events = 1ull << 40;
	refused(&config, "trace-events");
}
END_TEST

/* An engine that hangs, a program that waits for ever and an abort keep nobody else from going on,
 * and the clock does not run backwards over a reset. */
START_TEST(others_go_on)
{
	struct trn_run_request request;
	struct rig_queue hung, fine;
	struct rig_core core;
	struct program p = { 0 };
	uint64_t before;

	timed_open(NULL, 0);
	rig_queue_open(&rig, &hung, 1, 0, 64);
	rig_queue_open(&rig, &fine, 2, 0, 64);
	ck_assert_int_eq(emu_device_fault_set(rig.dev, "engine-hang", 2), 0);
	rig_copy(&hung, 0x2000000, 0x1000000, 4096);
	rig_copy(&fine, 0x3000000, 0x1000000, 4096);
	rig_wait(&rig, rig_q(&fine, 0, TRN_Q_HEAD), TRN_Q_INDEX_MASK, 1);
	ck_assert_uint_eq(rig_head(&hung, 0), 0);
	ck_assert_int_eq(emu_device_fault_set(rig.dev, "engine-hang", 0), 0);
	rig_wait(&rig, rig_q(&hung, 0, TRN_Q_HEAD), TRN_Q_INDEX_MASK, 1);

	rig_core_open(&rig, &core, 0);
	emit(&p, TRN_ENGINE_SP, TRN_OP_NOP)->wait[0] = after(30, 1);
	request = program_load(&p, 0x1000000);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_STATUS), ~0u, TRN_CORE_STATUS_RUNNING);
	rig_copy(&fine, 0x3000000, 0x1000000, 4096);
	rig_wait(&rig, rig_q(&fine, 0, TRN_Q_HEAD), TRN_Q_INDEX_MASK, 2);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_ABORT);
	ck_assert_int_eq(rig_note(&core).code, TRN_FAULT_STOPPED);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_STATUS), ~0u, TRN_CORE_STATUS_RUNNING);
	before = clock_ns();
	emu_device_reset(rig.dev);
	ck_assert_uint_ge(clock_ns(), before);
	rig_queue_close(&hung);
	rig_queue_close(&fine);
	rig_queue_open(&rig, &fine, 2, 0, 64);
	assert_near(copy(&fine, 0x2000000, 0x1000000, 17000), START_NS + COPY_NS(17000), 2);
	rig_queue_close(&fine);
	rig_core_close(&core);
	rig_close(&rig, 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		clock_stands_still,	dma_costs,
		dma_descriptors_follow, dma_engines_side_by_side,
		tensor_costs,		scalar_costs,
		vector_costs,		semaphore_carries_time,
		dma_round_trip,		notification_stamps,
		trace_is_deterministic, trace_is_valid,
		trace_on_request,	races_have_one_winner,
		configuration_refused,	others_go_on,
	};

	return RIG_MAIN("emu_time", tests);
}
