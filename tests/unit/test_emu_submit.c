// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cores behind the device: submission queue, run requests, protection windows, notification rings,
 * DMA started by programs.
 */
#include <string.h>
#include <time.h>
#include "emu_rig.h"

#define PROGRAM 0x2000000ull
#define DATA	0x3000000ull
#define REG(x)	(rig_map->dev(x))

static struct rig rig;
static struct rig_core core;

static void open_core(unsigned int n)
{
	rig_open(&rig);
	rig_core_open(&rig, &core, n);
	rig_unmask(&rig, TRN_VECTOR_CORE(n));
}

static void close_core(uint64_t complaints)
{
	rig_core_close(&core);
	rig_close(&rig, complaints);
}

static struct trn_insn insn(enum trn_opcode op)
{
	return (struct trn_insn){ .opcode = (uint8_t)op, .engine = TRN_ENGINE_SP };
}

static struct trn_insn write32(uint64_t address, uint32_t value)
{
	struct trn_insn i = insn(TRN_OP_WRITE32);

	i.write32.address = address;
	i.write32.value = value;
	return i;
}

static struct trn_insn wait_sem(uint16_t index, int32_t value)
{
	struct trn_insn i = insn(TRN_OP_NOP);

	i.wait[0] = (struct trn_sync){ .op = TRN_WAIT_SEM_GE, .index = index, .value = value };
	return i;
}

static struct trn_insn set_sem(uint16_t index, int32_t value)
{
	struct trn_insn i = insn(TRN_OP_NOP);

	i.update[0] = (struct trn_sync){ .op = TRN_UPDATE_WRITE,
					 .mode = TRN_UPDATE_AT_COMPLETE,
					 .index = index,
					 .value = value };
	return i;
}

static struct trn_insn trigger(uint32_t mask, uint32_t queue, uint32_t count)
{
	struct trn_insn i = insn(TRN_OP_DMA_TRIGGER);

	i.trigger.engine_mask = mask;
	i.c0 = count;
	i.c1 = queue;
	return i;
}

static struct trn_run_request program(const struct trn_insn *first, unsigned int count)
{
	struct trn_insn code[8];

	ck_assert_uint_lt(count, 8);
	if (count)
		memcpy(code, first, count * sizeof(*first));
	code[count] = insn(TRN_OP_HALT);
	return rig_program(&rig, PROGRAM, TRN_ENGINE_SP, code, count + 1);
}

static struct trn_run_request halt_program(void)
{
	return program(NULL, 0);
}

START_TEST(core_identity)
{
	open_core(0);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_ID)), TRN_CORE_ID_VALUE);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_GENERATION)),
			  rig_map->generation);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_STATUS)),
			  TRN_CORE_STATUS_IDLE);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL)), TRN_SQ_ENABLE);
	close_core(0);
}
END_TEST

START_TEST(run_halt)
{
	struct trn_run_request request;
	struct trn_notification note;

	open_core(0);
	request = halt_program();
	rig_submit(&core, &request);
	note = rig_note(&core);
	ck_assert_uint_eq(note.type, TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(note.code, TRN_FAULT_NONE);
	ck_assert_uint_eq(note.payload[0], request.cookie);
	ck_assert_uint_gt(note.timestamp, 0);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 1);
	rig_wait_irq(&rig, TRN_VECTOR_CORE(0), 1);
	close_core(0);
}
END_TEST

START_TEST(run_on_the_other_core)
{
	const struct trn_insn code[] = { set_sem(5, 55) };
	struct trn_run_request request;

	open_core(1);
	request = program(code, 1);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(1, TRN_TPB_SEM_READ, 5)), 55);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 5)), 0);
	rig_wait_irq(&rig, TRN_VECTOR_CORE(1), 1);
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_CORE(0)), 0);
	close_core(0);
}
END_TEST

START_TEST(batch_of_requests)
{
	struct trn_run_request request;
	unsigned int i, round;

	open_core(0);
	request = halt_program();
	for (round = 0; round < 12; round++) {
		for (i = 0; i < core.sq_size; i++) {
			request.cookie = round * 100 + i;
			core.sq[core.tail++ % core.sq_size] = request;
		}
		rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL), core.tail);
		for (i = 0; i < core.sq_size; i++)
			ck_assert_uint_eq(rig_note(&core).payload[0], round * 100 + i);
	}
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), core.tail);
	ck_assert_uint_eq(rig_read(&rig, rig_nq(&core, 0, TRN_NQ_HEAD)), core.tail);
	close_core(0);
}
END_TEST

START_TEST(host_releases_a_waiting_program)
{
	const struct trn_insn code[] = { wait_sem(9, 2), set_sem(10, 1) };
	struct trn_run_request request;

	open_core(0);
	request = program(code, 2);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_STATUS), ~0u, TRN_CORE_STATUS_RUNNING);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 10)), 0);
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_INC, 9), 1);
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_INC, 9), 1);
	ck_assert_uint_eq(rig_note(&core).code, TRN_FAULT_NONE);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 10)), 1);
	close_core(0);
}
END_TEST

START_TEST(arguments_reach_registers)
{
	struct trn_insn code[2] = { insn(TRN_OP_WRITE32), insn(TRN_OP_WRITE32) };
	struct trn_run_request request;
	uint32_t *args;

	open_core(0);
	code[0].write32.address = DATA;
	code[0].c0 = 1;
	code[0].kinds = TRN_SCALAR_REG;
	code[1].write32.address = DATA + 4;
	code[1].c0 = 5;
	code[1].kinds = TRN_SCALAR_REG;
	request = program(code, 2);
	args = rig_hbm(&rig, DATA + 0x1000);
	args[0] = 100;
	args[1] = 101;
	args[5] = 105;
	request.args = DATA + 0x1000;
	request.args_size = 5 * 4; /* word 5 is absent and reads 0 */
	*(uint32_t *)rig_hbm(&rig, DATA + 4) = 77;
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, DATA), 101);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, DATA + 4), 0);
	close_core(0);
}
END_TEST

START_TEST(write32_inside_the_window)
{
	const struct trn_insn code[] = { write32(DATA, 0xfeed) };
	struct trn_run_request request;

	open_core(0);
	request = program(code, 1);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, DATA), 0xfeed);
	close_core(0);
}
END_TEST

static void run_with_windows(const struct trn_window *window, uint32_t count, uint64_t address,
			     enum trn_fault expected)
{
	const struct trn_insn code[] = { write32(address, 0xfeed) };
	struct trn_run_request request = program(code, 1);

	rig_windows(&rig, &request, PROGRAM + 0x8000, window, count);
	*(uint32_t *)rig_hbm(&rig, address) = 0;
	ck_assert_int_eq(rig_run(&core, &request), expected);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, address), expected ? 0 : 0xfeed);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_RESUME);
}

START_TEST(windows_bound_a_program)
{
	const struct trn_window windows[] = {
		{ PROGRAM, 0x10000, TRN_ACCESS_READ | TRN_ACCESS_EXEC, 0, 0 },
		{ DATA, 0x1000, TRN_ACCESS_READ | TRN_ACCESS_WRITE, 0, 0 },
		{ DATA + 0x1000, 0x1000, TRN_ACCESS_WRITE, 0, 0 },
		{ DATA + 0x4000, 0x1000, TRN_ACCESS_READ, 0, 0 },
	};

	open_core(0);
	run_with_windows(windows, 4, DATA, TRN_FAULT_NONE);
	run_with_windows(windows, 4, DATA + 0x1ffc, TRN_FAULT_NONE);
	run_with_windows(windows, 4, DATA + 0x2000, TRN_FAULT_WINDOW);
	run_with_windows(windows, 4, DATA - 4, TRN_FAULT_WINDOW);
	run_with_windows(windows, 4, DATA + 0x4000, TRN_FAULT_WINDOW);
	run_with_windows(windows, 1, DATA, TRN_FAULT_WINDOW);
	close_core(0);
}
END_TEST

START_TEST(no_window_no_fetch)
{
	const struct trn_window data = { DATA, 0x1000, TRN_ACCESS_READ | TRN_ACCESS_WRITE, 0, 0 };
	struct trn_run_request request;
	struct trn_notification note;

	open_core(0);
	request = halt_program();
	rig_windows(&rig, &request, PROGRAM + 0x8000, &data, 1);
	rig_submit(&core, &request);
	note = rig_note(&core);
	ck_assert_uint_eq(note.type, TRN_NOTIFY_ERROR);
	ck_assert_uint_eq(note.code, TRN_FAULT_WINDOW);
	ck_assert_uint_eq(note.payload[0], request.cookie);
	ck_assert_uint_eq(note.payload[1], PROGRAM + 0x1000);
	note = rig_note(&core);
	ck_assert_uint_eq(note.type, TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(note.code, TRN_FAULT_WINDOW);
	ck_assert_uint_eq(note.engine, TRN_ENGINE_SP);
	close_core(0);
}
END_TEST

START_TEST(windows_are_copied_at_the_start)
{
	const struct trn_window windows[] = {
		{ PROGRAM, 0x10000, TRN_ACCESS_EXEC, 0, 0 },
		{ DATA, 0x1000, TRN_ACCESS_WRITE, 0, 0 },
	};
	const struct trn_insn code[] = { set_sem(4, 1), wait_sem(3, 1), write32(DATA, 0x1234) };
	struct trn_run_request request;

	open_core(0);
	request = program(code, 3);
	rig_windows(&rig, &request, PROGRAM + 0x8000, windows, 2);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_sem(0, TRN_TPB_SEM_READ, 4), ~0u, 1);
	memset(rig_hbm(&rig, PROGRAM + 0x8000), 0, sizeof(windows));
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_INC, 3), 1);
	ck_assert_uint_eq(rig_note(&core).code, TRN_FAULT_NONE);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, DATA), 0x1234);
	close_core(0);
}
END_TEST

static void expect_bad_request(const struct trn_run_request *request)
{
	uint64_t before = rig_complaints(&rig, EMU_COMPLAINT_SQ_REQUEST);

	ck_assert_int_eq(rig_run(&core, request), TRN_FAULT_REQUEST);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_SQ_REQUEST), before + 1);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_STATUS)),
			  TRN_CORE_STATUS_HALTED);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_RESUME);
}

START_TEST(malformed_requests)
{
	struct trn_run_request good, bad;

	open_core(0);
	good = halt_program();
	bad = good;
	bad.flags = 1;
	expect_bad_request(&bad);
	bad = good;
	bad.reserved1[1] = 1;
	expect_bad_request(&bad);
	bad = good;
	bad.program = 0x800000000ull;
	expect_bad_request(&bad);
	bad = good;
	bad.args_size = 4;
	expect_bad_request(&bad);
	bad = good;
	bad.args = 0x800000000ull;
	bad.args_size = 4;
	expect_bad_request(&bad);
	bad = good;
	bad.windows = 0x800000000ull;
	expect_bad_request(&bad);
	bad = good;
	bad.window_count = TRN_WINDOWS_MAX + 1;
	expect_bad_request(&bad);
	ck_assert_int_eq(rig_run(&core, &good), TRN_FAULT_NONE);
	close_core(7);
}
END_TEST

START_TEST(malformed_program_tables)
{
	struct trn_program_table *table;
	struct trn_run_request request;

	open_core(0);
	request = halt_program();
	table = rig_hbm(&rig, PROGRAM);
	table->magic++;
	expect_bad_request(&request);
	table->magic--;
	table->count = 0;
	expect_bad_request(&request);
	table->count = 7;
	expect_bad_request(&request);
	table->count = 2;
	table->entry[1] = table->entry[0];
	expect_bad_request(&request);
	table->count = 1;
	table->entry[0].engine = 4;
	expect_bad_request(&request);
	table->entry[0].engine = TRN_ENGINE_MAX;
	expect_bad_request(&request);
	table->entry[0].engine = TRN_ENGINE_SP;
	table->entry[0].base += 64;
	expect_bad_request(&request);
	table->entry[0].base -= 64;
	table->entry[0].insns = 0;
	expect_bad_request(&request);
	table->entry[0].insns = 1;
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	close_core(8);
}
END_TEST

START_TEST(malformed_window_tables)
{
	const struct trn_window unsorted[] = { { DATA, 0x1000, 1, 0, 0 },
					       { PROGRAM, 0x1000, 4, 0, 0 } };
	const struct trn_window overlap[] = { { DATA, 0x1000, 1, 0, 0 },
					      { DATA + 0xfff, 0x1000, 1, 0, 0 } };
	const struct trn_window wraps[] = { { ~0ull - 10, 0x1000, 1, 0, 0 } };
	const struct trn_window empty[] = { { DATA, 0, 1, 0, 0 } };
	const struct trn_window bits[] = { { DATA, 0x1000, 8, 0, 0 } };
	const struct trn_window reserved[] = { { DATA, 0x1000, 1, 1, 0 } };
	struct trn_run_request request;

	open_core(0);
	request = halt_program();
	rig_windows(&rig, &request, PROGRAM + 0x8000, unsorted, 2);
	expect_bad_request(&request);
	rig_windows(&rig, &request, PROGRAM + 0x8000, overlap, 2);
	expect_bad_request(&request);
	rig_windows(&rig, &request, PROGRAM + 0x8000, wraps, 1);
	expect_bad_request(&request);
	rig_windows(&rig, &request, PROGRAM + 0x8000, empty, 1);
	expect_bad_request(&request);
	rig_windows(&rig, &request, PROGRAM + 0x8000, bits, 1);
	expect_bad_request(&request);
	rig_windows(&rig, &request, PROGRAM + 0x8000, reserved, 1);
	expect_bad_request(&request);
	close_core(6);
}
END_TEST

START_TEST(fault_halts_the_queue)
{
	struct trn_run_request bad, good;

	open_core(0);
	good = halt_program();
	bad = good;
	bad.flags = 1;
	bad.cookie = 1;
	good.cookie = 2;
	core.sq[0] = bad;
	core.sq[1] = good;
	core.tail = 2;
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL), 2);
	ck_assert_uint_eq(rig_note(&core).type, TRN_NOTIFY_ERROR);
	ck_assert_uint_eq(rig_note(&core).payload[0], 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 1);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_STATUS)),
			  TRN_CORE_STATUS_HALTED);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_RESUME);
	ck_assert_uint_eq(rig_note(&core).payload[0], 2);
	close_core(1);
}
END_TEST

START_TEST(illegal_instruction)
{
	struct trn_insn code[1] = { insn(TRN_OP_NOP) };
	struct trn_run_request request;
	struct trn_notification note;

	open_core(0);
	code[0].opcode = 0x9f;
	code[0].tag = 4711;
	request = program(code, 1);
	rig_submit(&core, &request);
	do {
		note = rig_note(&core);
	} while (note.type != TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(note.code, TRN_FAULT_ILLEGAL_INSN);
	ck_assert_uint_eq(note.engine, TRN_ENGINE_SP);
	ck_assert_uint_eq(note.tag, 4711);
	ck_assert_uint_eq(note.payload[1], 0);
	close_core(0);
}
END_TEST

START_TEST(abort_stops_the_run_and_drops_the_rest)
{
	const struct trn_insn code[] = { wait_sem(1, 1) };
	struct trn_run_request request;
	struct trn_notification note;
	unsigned int i;

	open_core(0);
	request = program(code, 1);
	for (i = 0; i < 5; i++)
		rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_STATUS), ~0u, TRN_CORE_STATUS_RUNNING);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_ABORT);
	do {
		note = rig_note(&core);
	} while (note.type != TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(note.code, TRN_FAULT_STOPPED);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_STATUS)),
			  TRN_CORE_STATUS_IDLE);
	core.tail = rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD));
	ck_assert_uint_eq(core.tail, rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL)));
	request = halt_program();
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	close_core(0);
}
END_TEST

START_TEST(endless_loop_can_be_stopped)
{
	struct trn_insn code[1] = { insn(TRN_OP_BRANCH) };
	struct trn_run_request request;
	struct trn_notification note;

	open_core(0);
	request = program(code, 1);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_STATUS), ~0u, TRN_CORE_STATUS_RUNNING);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_ABORT);
	do {
		note = rig_note(&core);
	} while (note.type != TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(note.code, TRN_FAULT_STOPPED);
	close_core(0);
}
END_TEST

START_TEST(reset_ends_a_hung_core)
{
	const struct trn_insn code[] = { wait_sem(1, 1) };
	struct trn_run_request request;

	open_core(0);
	request = program(code, 1);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_STATUS), ~0u, TRN_CORE_STATUS_RUNNING);
	rig_write(&rig, RIG_MISC + TRN_MISC_RESET_MAP, rig_map->reset_core(0));
	rig_write(&rig, RIG_MISC + TRN_MISC_RESET, TRN_RESET_TPB);
	rig_write(&rig, RIG_MISC + TRN_MISC_TRIGGER, 1);
	rig_wait(&rig, RIG_MISC + TRN_MISC_RESET, ~0u, 0);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_STATUS)),
			  TRN_CORE_STATUS_IDLE);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL)), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_SIZE)), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_nq(&core, 0, TRN_NQ_SIZE)), 0);
	ck_assert_uint_eq(core.nq[0].flags, 0);
	rig_core_close(&core);
	rig_core_open(&rig, &core, 0);
	request = halt_program();
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	close_core(0);
}
END_TEST

START_TEST(runs_before_a_reset_use_no_power_after_it)
{
	const struct trn_insn code[] = { wait_sem(1, 1) };
	const struct timespec busy = { .tv_nsec = 100000000 };
	const uint32_t power = RIG_MISC + TRN_MISC_POWER_D0;
	struct trn_run_request request;
	uint32_t first, last;

	open_core(0);
	request = program(code, 1);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_STATUS), ~0u, TRN_CORE_STATUS_RUNNING);
	nanosleep(&busy, NULL);
	emu_device_reset(rig.dev);
	first = last = rig_read(&rig, power);
	while (last >> 16 == first >> 16)
		last = rig_read(&rig, power);
	ck_assert_uint_eq(last & 0xffff, 0);
	close_core(0);
}
END_TEST

START_TEST(sq_config_mistakes)
{
	open_core(0);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_BASE_LOW), 0);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL), core.sq_size + 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_SQ_CONFIG), 2);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), 0);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL), 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_SQ_CONFIG), 3);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_SIZE), 24);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_SQ_CONFIG), 5);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL)), 0);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), 0x80);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD), 0);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_SQ_CONFIG), 6);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_READ_ONLY), 1);
	close_core(7);
}
END_TEST

/* Else the end of the run would move the head past the tail, with 2^32 - 1 requests to go. */
START_TEST(doorbell_takes_nothing_back)
{
	const struct trn_insn code[] = { wait_sem(1, 1) };
	struct trn_run_request request;

	open_core(0);
	request = program(code, 1);
	rig_submit(&core, &request);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_STATUS), ~0u, TRN_CORE_STATUS_RUNNING);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL), 0);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL), 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_SQ_CONFIG), 2);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL)), 2);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL), 2);
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_INC, 1), 1);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD), ~0u, 2);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 2);
	close_core(2);
}
END_TEST

START_TEST(sq_memory_missing)
{
	open_core(0);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), 0);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_BASE_HIGH), 0x1fff);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL), 1);
	ck_assert_uint_eq(rig_note(&core).type, TRN_NOTIFY_ERROR);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_STATUS)),
			  TRN_CORE_STATUS_HALTED);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 0);
	close_core(1);
}
END_TEST

/* Ring of queue 3 on engines 0 and 5 of the core: data, then an increment of semaphore 20. */
static void rings_open(struct rig_queue q[2], struct rig_host *mem)
{
	static const unsigned int engine[2] = { 0, 5 };
	unsigned int i;

	rig_host_alloc(&rig, mem, 4096);
	*(uint32_t *)mem->ptr = 1;
	memset(mem->ptr + 1024, 0x66, 1024);
	for (i = 0; i < 2; i++) {
		rig_queue_open(&rig, &q[i], engine[i], 3, 32);
		rig_m2s(&q[i], mem->dev + 1024, 1024, 0);
		rig_s2m(&q[i], DATA + i * 1024, 1024);
		rig_m2s(&q[i], mem->dev, 4, TRN_DESC_DMB);
		rig_s2m(&q[i], REG(rig_sem(0, TRN_TPB_SEM_INC, 20)), 4);
	}
}

static void rings_close(struct rig_queue q[2], struct rig_host *mem)
{
	rig_queue_close(&q[0]);
	rig_queue_close(&q[1]);
	rig_host_free(&rig, mem);
}

START_TEST(program_starts_dma)
{
	const struct trn_insn code[] = { trigger(1 << 0 | 1 << 5, 3, 2), wait_sem(20, 2) };
	struct trn_run_request request;
	struct rig_queue q[2];
	struct rig_host mem;

	open_core(0);
	rings_open(q, &mem);
	request = program(code, 2);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	ck_assert_mem_eq(rig_hbm(&rig, DATA), mem.ptr + 1024, 1024);
	ck_assert_mem_eq(rig_hbm(&rig, DATA + 1024), mem.ptr + 1024, 1024);
	rig_quiesce(&rig);
	rings_close(q, &mem);
	close_core(0);
}
END_TEST

START_TEST(trigger_of_a_disabled_queue)
{
	const struct trn_insn code[] = { trigger(1 << 2, 7, 1) };
	struct trn_run_request request;

	open_core(0);
	request = program(code, 1);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_DMA);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_DOORBELL_DISABLED), 0);
	close_core(0);
}
END_TEST

START_TEST(dma_error_fails_the_run)
{
	const struct trn_insn code[] = { trigger(1 << 5, 3, 2), wait_sem(20, 100) };
	struct trn_run_request request;
	struct rig_queue q[2];
	struct rig_host mem;

	open_core(0);
	rig_unmask(&rig, TRN_VECTOR_DEVICE);
	rings_open(q, &mem);
	q[1].s2m[0].addr = 0x800000000ull;
	request = program(code, 2);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_DMA);
	rig_wait_irq(&rig, TRN_VECTOR_DEVICE, 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_DESC_ADDRESS), 1);
	rig_quiesce(&rig);
	rings_close(q, &mem);
	close_core(1);
}
END_TEST

/* Descriptors carry the number of their pass, and a program cannot renew them. */
START_TEST(program_that_runs_a_ring_twice)
{
	const struct trn_insn code[] = { trigger(1 << 5, 3, 32), wait_sem(20, 1),
					 trigger(1 << 5, 3, 1), wait_sem(20, 100) };
	struct trn_run_request request;
	struct rig_host mem;
	struct rig_queue q;
	unsigned int i;

	open_core(0);
	rig_host_alloc(&rig, &mem, 4096);
	rig_queue_open(&rig, &q, 5, 3, 32);
	*(uint32_t *)mem.ptr = 1;
	for (i = 0; i < 32; i++) {
		rig_m2s(&q, mem.dev, 4, 0);
		rig_s2m(&q, i < 31 ? mem.dev + 4 : REG(rig_sem(0, TRN_TPB_SEM_INC, 20)), 4);
	}
	request = program(code, 4);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_DMA);
	ck_assert_uint_eq(rig_read(&rig, rig_engine(5) + TRN_UDMA_GEN + TRN_GEN_IOFIC_SECONDARY_A) &
				  TRN_ERR_A_WRONG_RING_ID,
			  TRN_ERR_A_WRONG_RING_ID);
	rig_quiesce(&rig);
	rig_queue_close(&q);
	rig_host_free(&rig, &mem);
	close_core(0);
}
END_TEST

START_TEST(dma_error_of_the_other_core_does_not)
{
	const struct trn_insn code[] = { wait_sem(20, 1) };
	struct trn_run_request request;
	struct rig_queue q;

	open_core(0);
	request = program(code, 1);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_STATUS), ~0u, TRN_CORE_STATUS_RUNNING);
	rig_queue_open(&rig, &q, 16, 0, 32);
	rig_copy(&q, 0x800000000ull, DATA, 64);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_SET, 20), 1);
	ck_assert_uint_eq(rig_note(&core).code, TRN_FAULT_NONE);
	rig_queue_close(&q);
	close_core(1);
}
END_TEST

START_TEST(ring_phase_flips)
{
	struct trn_run_request request;
	unsigned int i;

	open_core(0);
	request = halt_program();
	for (i = 0; i < 3 * core.nq_entries; i++) {
		ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
		ck_assert_uint_eq(core.nq[i % core.nq_entries].flags & TRN_NOTIFY_FLAG_PHASE,
				  (i / core.nq_entries) & 1 ? 0 : TRN_NOTIFY_FLAG_PHASE);
	}
	close_core(0);
}
END_TEST

START_TEST(full_ring_drops_and_says_so)
{
	struct trn_run_request request;
	struct trn_notification note;
	unsigned int i;

	open_core(0);
	/* A ring of two entries whose reader does not advance. */
	rig_write(&rig, rig_nq(&core, 0, TRN_NQ_SIZE), 2 * TRN_NOTIFY_SIZE);
	request = halt_program();
	for (i = 0; i < 5; i++) {
		request.cookie = i;
		rig_submit(&core, &request);
	}
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, rig_nq(&core, 0, TRN_NQ_HEAD)), 2);
	ck_assert_uint_eq(core.nq[1].payload[0], 1);
	rig_write(&rig, rig_nq(&core, 0, TRN_NQ_TAIL), 2);
	request.cookie = 9;
	rig_submit(&core, &request);
	rig_quiesce(&rig);
	note = core.nq[0];
	ck_assert_uint_eq(note.payload[0], 9);
	ck_assert_uint_eq(note.flags, TRN_NOTIFY_FLAG_OVERFLOW);
	close_core(0);
}
END_TEST

START_TEST(no_ring_no_entry)
{
	struct trn_run_request request;

	open_core(0);
	rig_write(&rig, rig_nq(&core, 0, TRN_NQ_SIZE), 0);
	request = halt_program();
	rig_submit(&core, &request);
	rig_wait_irq(&rig, TRN_VECTOR_CORE(0), 1);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 1);
	ck_assert_uint_eq(core.nq[0].flags, 0);
	close_core(0);
}
END_TEST

START_TEST(ring_mistakes)
{
	struct trn_run_request request;

	open_core(0);
	rig_write(&rig, rig_nq(&core, 0, TRN_NQ_SIZE), 96);
	rig_write(&rig, rig_nq(&core, 0, TRN_NQ_SIZE), 16);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_NQ_SIZE), 2);
	rig_write(&rig, rig_nq(&core, 0, TRN_NQ_HEAD), 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_READ_ONLY), 1);
	rig_write(&rig, rig_nq(&core, 0, TRN_NQ_BASE_HIGH), 0x1fff);
	rig_write(&rig, rig_nq(&core, 0, TRN_NQ_SIZE), 4096);
	request = halt_program();
	rig_submit(&core, &request);
	rig_wait_complaint(&rig, EMU_COMPLAINT_NQ_ADDRESS, 1);
	rig_wait_irq(&rig, TRN_VECTOR_CORE(0), 1);
	close_core(4);
}
END_TEST

START_TEST(explicit_notification_goes_to_its_slot)
{
	struct trn_insn code[1] = { insn(TRN_OP_NOTIFY) };
	struct trn_run_request request;
	struct trn_notification *note;

	open_core(0);
	rig_write(&rig, rig_nq(&core, TRN_ENGINE_SP, TRN_NQ_BASE_HIGH), 0);
	rig_write(&rig, rig_nq(&core, TRN_ENGINE_SP, TRN_NQ_BASE_LOW), DATA);
	rig_write(&rig, rig_nq(&core, TRN_ENGINE_SP, TRN_NQ_SIZE), 4096);
	code[0].c0 = 0x11;
	code[0].c1 = 0x22;
	code[0].tag = 33;
	request = program(code, 1);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	note = rig_hbm(&rig, DATA);
	ck_assert_uint_eq(note->type, TRN_NOTIFY_EXPLICIT);
	ck_assert_uint_eq(note->engine, TRN_ENGINE_SP);
	ck_assert_uint_eq(note->flags, TRN_NOTIFY_FLAG_PHASE);
	ck_assert_uint_eq(note->tag, 33);
	close_core(0);
}
END_TEST

/* Memory of a ring may be given back once the writes that zeroed its registers have returned. */
START_TEST(zeroed_ring_is_not_written)
{
	const struct trn_insn code[] = { insn(TRN_OP_NOTIFY), insn(TRN_OP_BRANCH) };
	const uint32_t bytes = 64 << 10;
	struct trn_run_request request;
	unsigned int round;
	uint8_t *ring;
	uint32_t i;

	open_core(0);
	memset(rig_hbm(&rig, 0), 0xdd, bytes);
	request = program(code, 2);
	rig_submit(&core, &request);
	ring = rig_hbm(&rig, DATA);
	for (round = 0; round < 100; round++) {
		const uint32_t slot = rig_nq(&core, TRN_ENGINE_SP, 0);

		rig_write(&rig, slot + TRN_NQ_BASE_HIGH, 0);
		rig_write(&rig, slot + TRN_NQ_BASE_LOW, DATA);
		rig_write(&rig, slot + TRN_NQ_SIZE, bytes);
		while (!rig_read(&rig, slot + TRN_NQ_HEAD))
			;
		rig_write(&rig, slot + TRN_NQ_BASE_HIGH, 0);
		rig_write(&rig, slot + TRN_NQ_BASE_LOW, 0);
		rig_write(&rig, slot + TRN_NQ_SIZE, 0);
		memset(ring, 0xee, bytes);
		for (i = 0; i < 20; i++)
			ck_assert_uint_eq(rig_read(&rig, slot + TRN_NQ_HEAD), 0);
		for (i = 0; i < bytes; i += 64)
			ck_assert_uint_eq(ring[i], 0xee);
	}
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_ABORT);
	rig_quiesce(&rig);
	/* Nor was a ring at 0 while the size was not zeroed yet. */
	for (i = 0; i < bytes; i += 64)
		ck_assert_uint_eq(*((uint8_t *)rig_hbm(&rig, 0) + i), 0xdd);
	close_core(0);
}
END_TEST

static struct trn_operand row_of(unsigned int mem, uint8_t partitions, uint16_t columns)
{
	return (struct trn_operand){
		.where = mem << TRN_OPERAND_MEM_SHIFT,
		.partitions = partitions,
		.dtype = TRN_DTYPE_FP32,
		.ndim = 1,
		.dim = { { 1, columns } },
	};
}

/* Columns multiplied and columns of weights loaded, where the published layout has them. */
START_TEST(activity_counters_of_a_run)
{
	const uint32_t group = rig_map->generation == 2 ? 0x40 : 0x30;
	const uint32_t base =
		rig_map->pe_counters(1) + 3 * (rig_map->generation == 2 ? 0x140 : 0x1b0);
	struct trn_insn code[3] = { insn(TRN_OP_LDWEIGHTS), insn(TRN_OP_MATMUL),
				    insn(TRN_OP_HALT) };
	struct trn_run_request request;
	unsigned int i;

	code[0].slot[1] = row_of(TRN_MEM_SBUF, 128, 100);
	code[1].slot[0] = row_of(TRN_MEM_PSUM, 100, 300);
	code[1].slot[1] = row_of(TRN_MEM_SBUF, 128, 300);
	for (i = 0; i < 3; i++)
		code[i].engine = TRN_ENGINE_PE;
	open_core(1);
	request = rig_program(&rig, PROGRAM, TRN_ENGINE_PE, code, 3);
	for (i = 1; i <= 2; i++) {
		ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
		ck_assert_uint_eq(rig_read(&rig, base + 4 * group + TRN_PE_COUNTER_MATMUL + 4), 0);
		ck_assert_uint_eq(rig_read(&rig, base + 4 * group + TRN_PE_COUNTER_MATMUL),
				  300 * i);
		ck_assert_uint_eq(rig_read(&rig, base + TRN_PE_COUNTER_WEIGHTS + 4), 0);
		ck_assert_uint_eq(rig_read(&rig, base + TRN_PE_COUNTER_WEIGHTS), 100 * i);
	}
	close_core(0);
}
END_TEST

START_TEST(engine_started_by_register)
{
	const struct trn_insn code[] = { set_sem(30, 3) };
	uint32_t block = rig_map->tpb(0) + TRN_TPB_ENGINE(TRN_ENGINE_SP);

	open_core(0);
	program(code, 1);
	ck_assert_uint_eq(rig_read(&rig, block + TRN_ENG_ID) & 0xffff, TRN_ENGINE_SP);
	rig_write(&rig, block + TRN_ENG_BASE_LOW, PROGRAM + 0x1000);
	rig_write(&rig, block + TRN_ENG_BASE_HIGH, 0);
	rig_write(&rig, block + TRN_ENG_COUNT, 2);
	rig_write(&rig, block + TRN_ENG_CONTROL, TRN_ENG_CONTROL_START);
	rig_wait(&rig, block + TRN_ENG_STATUS, ~0u, TRN_ENG_STATUS_HALTED);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 30)), 3);
	rig_write(&rig, block + TRN_ENG_REG(7), 0x707);
	ck_assert_uint_eq(rig_read(&rig, block + TRN_ENG_REG(7)), 0x707);
	rig_write(&rig, block + TRN_ENG_PC, 0);
	rig_write(&rig, block + 0x80, 0);
	close_core(2);
}
END_TEST

START_TEST(engine_stopped_by_register)
{
	const struct trn_insn code[] = { wait_sem(30, 3) };
	uint32_t block = rig_map->tpb(0) + TRN_TPB_ENGINE(TRN_ENGINE_SP);

	open_core(0);
	program(code, 1);
	rig_write(&rig, block + TRN_ENG_BASE_LOW, PROGRAM + 0x1000);
	rig_write(&rig, block + TRN_ENG_COUNT, 2);
	rig_write(&rig, block + TRN_ENG_CONTROL, TRN_ENG_CONTROL_START);
	rig_wait(&rig, block + TRN_ENG_STATUS, ~0u, TRN_ENG_STATUS_RUNNING);
	rig_write(&rig, block + TRN_ENG_CONTROL, TRN_ENG_CONTROL_STOP);
	rig_quiesce(&rig);
	ck_assert_uint_ne(rig_read(&rig, block + TRN_ENG_STATUS), TRN_ENG_STATUS_RUNNING);
	close_core(0);
}
END_TEST

/* An abort during a run that no request started must not invent a request. */
START_TEST(abort_of_a_register_run)
{
	const struct trn_insn code[] = { wait_sem(30, 3) };
	uint32_t block = rig_map->tpb(0) + TRN_TPB_ENGINE(TRN_ENGINE_SP);
	struct trn_run_request request;

	open_core(0);
	program(code, 1);
	rig_write(&rig, block + TRN_ENG_BASE_LOW, PROGRAM + 0x1000);
	rig_write(&rig, block + TRN_ENG_COUNT, 2);
	rig_write(&rig, block + TRN_ENG_CONTROL, TRN_ENG_CONTROL_START);
	rig_wait(&rig, block + TRN_ENG_STATUS, ~0u, TRN_ENG_STATUS_RUNNING);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_ABORT);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_TAIL)), 0);
	request = halt_program();
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	close_core(0);
}
END_TEST

START_TEST(completion_faults)
{
	struct trn_run_request request;

	open_core(0);
	request = halt_program();
	ck_assert_int_eq(emu_device_fault_set(rig.dev, "completion-double", 1), 0);
	rig_submit(&core, &request);
	ck_assert_uint_eq(rig_note(&core).payload[0], request.cookie);
	ck_assert_uint_eq(rig_note(&core).payload[0], request.cookie);
	ck_assert_int_eq(emu_device_fault_set(rig.dev, "completion-missing", 1), 0);
	request.cookie = 5;
	rig_submit(&core, &request);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 2);
	ck_assert_uint_eq(core.nq[2].flags, 0);
	request.cookie = 6;
	rig_submit(&core, &request);
	ck_assert_uint_eq(rig_note(&core).payload[0], 6);
	close_core(0);
}
END_TEST

START_TEST(without_windows_feature)
{
	const struct emu_config config = { .size = sizeof(config),
					   .disable_features = TRN_FEATURE_WINDOWS };
	const struct trn_insn code[] = { write32(DATA, 1) };
	struct trn_run_request request;

	rig_open_config(&rig, &config);
	rig_core_open(&rig, &core, 0);
	request = program(code, 1);
	request.windows = 0;
	request.window_count = 0;
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, DATA), 1);
	close_core(0);
}
END_TEST

START_TEST(without_notify_feature)
{
	const struct emu_config config = { .size = sizeof(config),
					   .disable_features = TRN_FEATURE_NOTIFY };
	struct trn_run_request request;

	rig_open_config(&rig, &config);
	rig_core_open(&rig, &core, 0);
	request = halt_program();
	rig_submit(&core, &request);
	rig_wait(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD), ~0u, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(core.nq[0].flags, 0);
	close_core(0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		core_identity,
		run_halt,
		run_on_the_other_core,
		batch_of_requests,
		host_releases_a_waiting_program,
		arguments_reach_registers,
		write32_inside_the_window,
		windows_bound_a_program,
		no_window_no_fetch,
		windows_are_copied_at_the_start,
		malformed_requests,
		malformed_program_tables,
		malformed_window_tables,
		fault_halts_the_queue,
		illegal_instruction,
		abort_stops_the_run_and_drops_the_rest,
		endless_loop_can_be_stopped,
		reset_ends_a_hung_core,
		runs_before_a_reset_use_no_power_after_it,
		sq_config_mistakes,
		doorbell_takes_nothing_back,
		sq_memory_missing,
		program_starts_dma,
		trigger_of_a_disabled_queue,
		dma_error_fails_the_run,
		program_that_runs_a_ring_twice,
		dma_error_of_the_other_core_does_not,
		ring_phase_flips,
		full_ring_drops_and_says_so,
		no_ring_no_entry,
		ring_mistakes,
		explicit_notification_goes_to_its_slot,
		zeroed_ring_is_not_written,
		activity_counters_of_a_run,
		engine_started_by_register,
		engine_stopped_by_register,
		abort_of_a_register_run,
		completion_faults,
		without_windows_feature,
		without_notify_feature,
	};

	return RIG_MAIN("emu_submit", tests);
}
