// SPDX-License-Identifier: BSD-2-Clause
/*
 * Program runs through the submission queue against the device model; instructions are encoded by
 * hand.
 */
#include <string.h>
#include <time.h>

#include "tests/unit/hw_model.h"

static struct hw_model *m;
static struct trnhw_core core;
static struct hw_buffer mem;

/* Layout of @mem: instructions, program table, windows. */
#define TABLE	0x8000
#define WINDOWS 0x9000

static struct trn_run_request request;

static struct trn_insn *insn(unsigned int n)
{
	return (struct trn_insn *)(mem.ptr + n * TRN_INSN_SIZE);
}

/* A program of @count instructions of the sync engine, all of which start as HALT. */
static void program(unsigned int count)
{
	struct trn_program_table *table = (struct trn_program_table *)(mem.ptr + TABLE);
	struct trn_window *window = (struct trn_window *)(mem.ptr + WINDOWS);
	unsigned int i;

	memset(mem.ptr, 0, mem.size);
	for (i = 0; i < count; i++) {
		insn(i)->opcode = TRN_OP_HALT;
		insn(i)->engine = TRN_ENGINE_SP;
		insn(i)->tag = 100 + i;
	}
	table->magic = TRN_PROGRAM_TABLE_MAGIC;
	table->count = 1;
	table->entry[0].engine = TRN_ENGINE_SP;
	table->entry[0].insns = count;
	table->entry[0].base = mem.address;
	window->base = mem.address;
	window->size = mem.size;
	window->access = TRN_ACCESS_READ | TRN_ACCESS_WRITE | TRN_ACCESS_EXEC;
	memset(&request, 0, sizeof(request));
	request.program = mem.address + TABLE;
	request.windows = mem.address + WINDOWS;
	request.window_count = 1;
	request.cookie = 0x1122334455667788ull;
}

static void setup(void)
{
	m = hw_model_start();
	mem = hw_buffer_alloc(m, 65536);
	ck_assert_int_eq(trnhw_core_init(&core, &m->hw, 1), 0);
	ck_assert_int_eq(trnhw_core_start(&core), 0);
	program(1);
}

static u64 complaints;

static void teardown(void)
{
	trnhw_core_fini(&core);
	hw_buffer_free(m, &mem);
	hw_model_destroy(m, complaints);
	complaints = 0;
}

static void submit(void)
{
	ck_assert_int_eq(trnhw_core_submit(&core, &request), 0);
	trnhw_core_ring(&core);
}

static void run(enum trn_fault fault)
{
	struct trn_notification entry;

	submit();
	hw_core_wait(&core, &entry);
	ck_assert_uint_eq(entry.code, fault);
	ck_assert_uint_eq(entry.payload[0], request.cookie);
}

START_TEST(halt)
{
	run(TRN_FAULT_NONE);
	ck_assert_uint_eq(core.finished, 1);
	ck_assert_uint_eq(trnhw_core_progress(&core), 1);
}
END_TEST

START_TEST(all_cores)
{
	static struct trnhw_core all[TRN_MAX_CORES];
	struct trn_notification entry;
	unsigned int i, cores = m->hw.arch->cores;

	trnhw_core_fini(&core);
	for (i = 0; i < cores; i++) {
		ck_assert_int_eq(trnhw_core_init(&all[i], &m->hw, i), 0);
		ck_assert_int_eq(trnhw_core_start(&all[i]), 0);
		request.cookie = i;
		ck_assert_int_eq(trnhw_core_submit(&all[i], &request), 0);
		trnhw_core_ring(&all[i]);
	}
	for (i = 0; i < cores; i++) {
		hw_core_wait(&all[i], &entry);
		ck_assert_uint_eq(entry.code, TRN_FAULT_NONE);
		ck_assert_uint_eq(entry.payload[0], i);
		trnhw_core_fini(&all[i]);
	}
}
END_TEST

/* Around the submission queue and the notification queue several times. */
START_TEST(many_runs)
{
	unsigned int i;

	for (i = 0; i < 1500; i++) {
		request.cookie = i * 3ull;
		run(TRN_FAULT_NONE);
	}
	ck_assert_uint_eq(core.malformed, 0);
}
END_TEST

START_TEST(full_batch_one_doorbell)
{
	struct trn_notification entry;
	unsigned int i;

	for (i = 0; i < TRNHW_SQ_ENTRIES; i++) {
		request.cookie = i;
		ck_assert_int_eq(trnhw_core_submit(&core, &request), 0);
	}
	ck_assert_int_eq(trnhw_core_submit(&core, &request), -EAGAIN);
	trnhw_core_ring(&core);
	for (i = 0; i < TRNHW_SQ_ENTRIES; i++) {
		hw_core_wait(&core, &entry);
		ck_assert_uint_eq(entry.payload[0], i);
	}
}
END_TEST

START_TEST(interrupt_at_the_end)
{
	unsigned int vector = TRN_VECTOR_CORE(1);

	trnhw_irq_unmask(&m->hw, vector);
	run(TRN_FAULT_NONE);
	ck_assert_int_eq(emu_device_quiesce(m->device, 5000), 0);
	ck_assert_uint_eq(__atomic_load_n(&m->interrupts[vector], __ATOMIC_SEQ_CST), 1);
}
END_TEST

START_TEST(program_writes_memory)
{
	u32 value;

	program(2);
	insn(0)->opcode = TRN_OP_WRITE32;
	insn(0)->write32.address = mem.address + 0xa000;
	insn(0)->write32.value = 0xcafe;
	run(TRN_FAULT_NONE);
	memcpy(&value, mem.ptr + 0xa000, 4);
	ck_assert_uint_eq(value, 0xcafe);
}
END_TEST

START_TEST(program_leaves_its_window)
{
	program(2);
	insn(0)->opcode = TRN_OP_WRITE32;
	insn(0)->write32.address = mem.address + mem.size;
	run(TRN_FAULT_WINDOW);
}
END_TEST

/* The driver rings nothing itself: the program starts the queue and the run ends. */
START_TEST(program_starts_a_ring)
{
	struct trn_desc *m2s = (struct trn_desc *)(mem.ptr + 0xc000);
	struct trn_desc *s2m = (struct trn_desc *)(mem.ptr + 0xd000);
	const struct trnhw_queue_rings rings = {
		.m2s = mem.address + 0xc000,
		.s2m = mem.address + 0xd000,
		.m2s_count = 32,
		.s2m_count = 32,
	};
	struct trnhw_xfer xfers[2];
	unsigned int i;

	program(2);
	insn(0)->opcode = TRN_OP_DMA_TRIGGER;
	insn(0)->trigger.engine_mask = 1 << 4;
	insn(0)->c0 = 2; /* descriptors */
	insn(0)->c1 = 6; /* queue */
	insn(1)->wait[0].op = TRN_WAIT_SEM_GE;
	insn(1)->wait[0].mode = TRN_WAIT_PASS_SUB;
	insn(1)->wait[0].index = 20;
	insn(1)->wait[0].value = 1;
	memset(mem.ptr + 0xe000, 0x5a, 512);
	mem.ptr[0xf000] = 1;
	xfers[0] = (struct trnhw_xfer){ mem.address + 0xe000, mem.address + 0xe800, 512, 0 };
	xfers[1] = (struct trnhw_xfer){ mem.address + 0xf000, trnhw_sem_inc_address(&m->hw, 1, 20),
					4, 0 };
	trnhw_ring_fill(xfers, 2, mem.address + 0xf800, m2s, s2m, 32);
	ck_assert_int_eq(trnhw_udma_queue_init(&m->hw, 16 + 4, 6, &rings), 0);
	for (i = 0; i < 50; i++) {
		memset(mem.ptr + 0xe800, 0, 512);
		trnhw_udma_queue_rewind(&m->hw, 16 + 4, 6);
		run(TRN_FAULT_NONE);
		ck_assert_mem_eq(mem.ptr + 0xe000, mem.ptr + 0xe800, 512);
	}
	trnhw_udma_queue_stop(&m->hw, 16 + 4, 6);
}
END_TEST

START_TEST(fault_then_resume)
{
	struct trn_notification entry;

	insn(0)->opcode = 0xf0;
	run(TRN_FAULT_ILLEGAL_INSN);
	insn(0)->opcode = TRN_OP_HALT;
	/* The core waits until told to go on. */
	submit();
	ck_assert(!trnhw_core_poll(&core, &entry));
	trnhw_core_resume(&core);
	hw_core_wait(&core, &entry);
	ck_assert_uint_eq(entry.code, TRN_FAULT_NONE);
}
END_TEST

START_TEST(fault_without_halt)
{
	insn(0)->opcode = TRN_OP_NOP;
	run(TRN_FAULT_HALT_MISSING);
}
END_TEST

START_TEST(fault_names_the_place)
{
	struct trn_notification entry;

	program(3);
	insn(0)->opcode = TRN_OP_NOP;
	insn(1)->opcode = 0xf0;
	submit();
	do {
		while (!trnhw_core_poll(&core, &entry))
			;
	} while (entry.type != TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(entry.engine, TRN_ENGINE_SP);
	ck_assert_uint_eq(entry.payload[1], 1);
	ck_assert_uint_eq(entry.tag, 101);
}
END_TEST

START_TEST(bad_program_table)
{
	request.program = mem.address + 0x4000;
	run(TRN_FAULT_REQUEST);
	complaints = 1;
}
END_TEST

static void endless(void)
{
	program(2);
	insn(0)->opcode = TRN_OP_BRANCH;
	insn(0)->op0 = TRN_ALU_BYPASS;
}

START_TEST(stop_ends_an_endless_loop)
{
	const struct timespec rest = { .tv_nsec = 20000000 };

	endless();
	submit();
	submit();
	nanosleep(&rest, NULL);
	ck_assert_uint_eq(trnhw_core_progress(&core), 0);
	ck_assert_int_eq(trnhw_core_stop(&core), 0);
	ck_assert_int_eq(trnhw_core_start(&core), 0);
	program(1);
	run(TRN_FAULT_NONE);
}
END_TEST

START_TEST(reset_ends_an_endless_loop)
{
	endless();
	submit();
	ck_assert_int_eq(trnhw_reset_cores(&m->hw, 2), 0);
	ck_assert_int_eq(trnhw_start(&m->hw, 2), 0);
	ck_assert_int_eq(trnhw_core_start(&core), 0);
	program(1);
	run(TRN_FAULT_NONE);
}
END_TEST

START_TEST(completion_missing_shows_in_progress)
{
	const struct timespec rest = { .tv_nsec = 1000000 };
	struct trn_notification entry;
	unsigned int i;

	hw_model_fault(m, "completion-missing", 1);
	submit();
	for (i = 0; i < 5000 && !trnhw_core_progress(&core); i++)
		nanosleep(&rest, NULL);
	ck_assert_uint_eq(trnhw_core_progress(&core), 1);
	ck_assert(!trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(core.finished, 0);
}
END_TEST

START_TEST(completion_double_counts_once)
{
	struct trn_notification entry;

	hw_model_fault(m, "completion-double", 1);
	run(TRN_FAULT_NONE);
	ck_assert_int_eq(emu_device_quiesce(m->device, 5000), 0);
	ck_assert(!trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(core.malformed, 1);
	run(TRN_FAULT_NONE);
	ck_assert_uint_eq(core.finished, 2);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, halt);
	tcase_add_test(tc, all_cores);
	tcase_add_test(tc, many_runs);
	tcase_add_test(tc, full_batch_one_doorbell);
	tcase_add_test(tc, interrupt_at_the_end);
	tcase_add_test(tc, program_writes_memory);
	tcase_add_test(tc, program_leaves_its_window);
	tcase_add_test(tc, program_starts_a_ring);
	tcase_add_test(tc, fault_then_resume);
	tcase_add_test(tc, fault_without_halt);
	tcase_add_test(tc, fault_names_the_place);
	tcase_add_test(tc, bad_program_table);
	tcase_add_test(tc, stop_ends_an_endless_loop);
	tcase_add_test(tc, reset_ends_an_endless_loop);
	tcase_add_test(tc, completion_missing_shows_in_progress);
	tcase_add_test(tc, completion_double_counts_once);
}

int main(void)
{
	Suite *suite = suite_create("hw_run");

	hw_model_suite(suite, "run", add, setup, teardown);
	return hw_suite_run(suite);
}
