// SPDX-License-Identifier: BSD-2-Clause
/* Runs that end well, fault, or never end, and what becomes of the work around them. */
#include <string.h>
#include <unistd.h>

#include "rt_rig.h"

static struct trn_device *device;
static struct trn_queue *queue;
static struct trn_memory *memory;
static struct rt_program good, illegal, endless;

static void setup_limit(uint64_t timeout_ns)
{
	struct trn_insn insns[3];

	device = rt_open(RT_SPEC);
	queue = rt_queue(device, 1, timeout_ns);
	memory = rt_alloc(device, 4096);
	insns[0] = rt_insn(TRN_OP_NOP);
	insns[1] = rt_insn(TRN_OP_HALT);
	rt_program_make(&good, queue, insns, 2);
	insns[1] = rt_insn(0xfe);
	insns[1].tag = 42;
	insns[2] = rt_insn(TRN_OP_HALT);
	rt_program_make(&illegal, queue, insns, 3);
	insns[0].wait[0].op = TRN_WAIT_SEM_GE;
	insns[0].wait[0].index = 7;
	insns[0].wait[0].value = 1;
	insns[1] = rt_insn(TRN_OP_HALT);
	rt_program_make(&endless, queue, insns, 2);
}

static void setup(void)
{
	setup_limit(0);
}

static void setup_hang(void)
{
	setup_limit(RT_HANG_NS);
}

static void teardown(void)
{
	rt_ok(trn_queue_reset(queue));
	rt_program_free(&good);
	rt_program_free(&illegal);
	rt_program_free(&endless);
	trn_device_close(device);
}

static void still_works(void)
{
	struct trn_fence fence;
	uint32_t out = 77, in = 0;

	rt_ok(trn_queue_write(queue, memory, 0, &out, 4, NULL));
	rt_ok(rt_program_run(&good, NULL));
	rt_ok(trn_queue_read(queue, &in, memory, 0, 4, &fence));
	rt_ok(trn_fence_wait(fence, RT_FOREVER));
	ck_assert_uint_eq(in, 77);
}

START_TEST(test_run)
{
	struct trn_device_info info = TRN_OPTIONS(info);
	unsigned int i;

	for (i = 0; i < 300; i++)
		rt_ok(rt_program_run(&good, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	rt_ok(trn_device_get_info(device, &info));
	ck_assert_uint_eq(info.core[trn_queue_core(queue, 0)].runs, 300);
	ck_assert_uint_eq(info.core[trn_queue_core(queue, 0)].faults, 0);
	ck_assert_uint_eq(info.resets, 0);
}
END_TEST

START_TEST(test_illegal_instruction)
{
	struct trn_device_info info = TRN_OPTIONS(info);
	struct trn_fault_info fault;
	struct trn_fence fence;

	rt_ok(rt_program_run(&illegal, &fence));
	rt_fails(trn_fence_wait(fence, RT_FOREVER), TRN_ERR_FAULT, "illegal instruction");
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "sync engine at instruction 1"));
	rt_ok(trn_queue_fault(queue, &fault));
	ck_assert_uint_eq(fault.fault, TRN_FAULT_ILLEGAL_INSN);
	ck_assert_uint_eq(fault.engine, TRN_ENGINE_SP);
	ck_assert_uint_eq(fault.pc, 1);
	ck_assert(fault.guilty);
	rt_fails(rt_program_run(&good, NULL), TRN_ERR_CANCELED, "illegal instruction");
	rt_ok(trn_queue_reset(queue));
	still_works();
	rt_fails(trn_fence_wait(fence, RT_FOREVER), TRN_ERR_FAULT, "illegal instruction");
	rt_ok(trn_device_get_info(device, &info));
	ck_assert_uint_eq(info.core[trn_queue_core(queue, 0)].faults, 1);
	ck_assert_uint_eq(info.core[trn_queue_core(queue, 0)].state, 1);
	rt_fails(trn_queue_fault(queue, NULL), TRN_ERR_INVALID, "NULL");
}
END_TEST

START_TEST(test_endless_loop)
{
	struct trn_fence fence;
	uint32_t word = 0;

	rt_ok(rt_program_run(&endless, &fence));
	rt_fails(trn_fence_wait(fence, 10 * RT_MS), TRN_ERR_TIMEOUT, "has not passed yet");
	ck_assert(!trn_fence_done(fence));
	rt_ok(trn_queue_read(queue, &word, memory, 0, 4, NULL));
	rt_fails(trn_fence_wait(fence, RT_FOREVER), TRN_ERR_TIMEOUT, "endless loop");
	ck_assert(trn_fence_done(fence));
	rt_ok(trn_queue_reset(queue));
	still_works();
}
END_TEST

/* The last fence of a sequence speaks for all of it, although its own job may have been sent after
 * the failure. */
START_TEST(test_failure_is_not_overlooked)
{
	struct trn_fence bad, last;
	uint32_t word = 0;

	rt_ok(rt_program_run(&illegal, &bad));
	rt_ok(trn_queue_flush(queue));
	/* Long enough for the failure to have happened on the device. */
	usleep(300000);
	rt_ok(trn_queue_read(queue, &word, memory, 0, 4, &last));
	rt_fails(trn_fence_wait(last, RT_FOREVER), TRN_ERR_CANCELED, "illegal instruction");
	rt_fails(trn_queue_finish(queue, RT_FOREVER), TRN_ERR_FAULT, "illegal instruction");
	rt_ok(trn_queue_reset(queue));
	still_works();
	rt_fails(trn_fence_wait(bad, 0), TRN_ERR_FAULT, "illegal instruction");
	rt_fails(trn_fence_wait(last, 0), TRN_ERR_CANCELED, "illegal instruction");
}
END_TEST

/* A failure nobody waited for is told by finish, and by the fence after a reset. */
START_TEST(test_failure_found_by_reset)
{
	struct trn_fence bad;

	rt_ok(rt_program_run(&illegal, &bad));
	rt_ok(trn_queue_reset(queue));
	rt_fails(trn_fence_wait(bad, 0), TRN_ERR_FAULT, "illegal instruction");
	still_works();
}
END_TEST

START_TEST(test_work_behind_a_failure_is_canceled)
{
	struct trn_fence before, bad, after[5];
	uint32_t word = 1;
	unsigned int i;

	rt_ok(trn_queue_fill(queue, memory, 0, 5, 4096, &before));
	rt_ok(trn_queue_flush(queue));
	rt_ok(rt_program_run(&endless, &bad));
	rt_ok(trn_queue_flush(queue));
	for (i = 0; i < 5; i++) {
		rt_ok(trn_queue_write(queue, memory, 0, &word, 4, &after[i]));
		if (i < 4)
			rt_ok(trn_queue_flush(queue));
	}
	for (i = 5; i-- > 0;)
		rt_fails(trn_fence_wait(after[i], RT_FOREVER), TRN_ERR_CANCELED, "endless loop");
	rt_fails(trn_fence_wait(bad, RT_FOREVER), TRN_ERR_TIMEOUT, "endless loop");
	rt_ok(trn_fence_wait(before, RT_FOREVER));
	rt_ok(trn_queue_reset(queue));
	rt_ok(trn_queue_read(queue, &word, memory, 0, 4, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_uint_eq(word, 5);
}
END_TEST

START_TEST(test_dependents_of_a_failure)
{
	struct trn_queue *other = rt_queue(device, 0, 0);
	struct trn_fence bad, dependent;
	uint32_t word = 1;

	rt_ok(rt_program_run(&endless, &bad));
	rt_ok(trn_queue_wait_fence(other, bad));
	rt_ok(trn_queue_write(other, memory, 0, &word, 4, &dependent));
	rt_fails(trn_fence_wait(dependent, RT_FOREVER), TRN_ERR_CANCELED, "waited for");
	rt_ok(trn_queue_reset(other));
	rt_ok(trn_queue_write(other, memory, 0, &word, 4, &dependent));
	rt_ok(trn_fence_wait(dependent, RT_FOREVER));
	rt_fails(trn_fence_wait(bad, RT_FOREVER), TRN_ERR_TIMEOUT, "endless loop");
	rt_fails(trn_queue_wait_fence(other, bad), TRN_ERR_TIMEOUT, "endless loop");
}
END_TEST

/* A core that hangs is its owner's trouble: the other core and copies go on meanwhile. */
START_TEST(test_neighbour_is_not_disturbed)
{
	struct trn_queue *other = rt_queue(device, 1, 0);
	struct rt_program mine;
	struct trn_insn insns[2] = { rt_insn(TRN_OP_NOP), rt_insn(TRN_OP_HALT) };
	struct trn_fence bad;
	unsigned int i;

	rt_program_make(&mine, other, insns, 2);
	rt_ok(rt_program_run(&endless, &bad));
	rt_ok(trn_queue_flush(queue));
	for (i = 0; i < 50; i++) {
		rt_ok(rt_program_run(&mine, NULL));
		rt_ok(trn_queue_fill(other, memory, 0, i, 4096, NULL));
		rt_ok(trn_queue_finish(other, RT_FOREVER));
	}
	rt_fails(trn_fence_wait(bad, RT_FOREVER), TRN_ERR_TIMEOUT, "endless loop");
	rt_ok(rt_program_run(&mine, NULL));
	rt_ok(trn_queue_finish(other, RT_FOREVER));
	rt_program_free(&mine);
}
END_TEST

START_TEST(test_destroy_during_endless_run)
{
	struct trn_queue *other = rt_queue(device, 1, 200 * RT_MS);
	struct trn_insn insns[2] = { rt_insn(TRN_OP_NOP), rt_insn(TRN_OP_HALT) };
	struct rt_program mine;

	insns[0].wait[0].op = TRN_WAIT_SEM_GE;
	insns[0].wait[0].value = 1;
	rt_program_make(&mine, other, insns, 2);
	rt_ok(rt_program_run(&mine, NULL));
	rt_ok(trn_queue_flush(other));
	trn_queue_destroy(other);
	trn_memory_free(mine.code);
	/* The core is usable by the next owner. */
	other = rt_queue(device, 1, 0);
	insns[0].wait[0].op = TRN_WAIT_NONE;
	insns[0].wait[0].value = 0;
	rt_program_make(&mine, other, insns, 2);
	rt_ok(rt_program_run(&mine, NULL));
	rt_ok(trn_queue_finish(other, RT_FOREVER));
	rt_program_free(&mine);
}
END_TEST

START_TEST(test_argument_block)
{
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_RUN };
	uint32_t args[65] = { 0 };

	cmd.run.program = good.handle;
	cmd.run.args = (uintptr_t)args;
	cmd.run.args_size = 256;
	rt_ok(trn_queue_enqueue(queue, &cmd, NULL));
	cmd.run.args_size = 260;
	rt_fails(trn_queue_enqueue(queue, &cmd, NULL), TRN_ERR_INVALID, "260 bytes");
	cmd.run.args_size = 6;
	rt_fails(trn_queue_enqueue(queue, &cmd, NULL), TRN_ERR_INVALID, "multiple of 4");
	cmd.run.args_size = 0;
	rt_ok(trn_queue_enqueue(queue, &cmd, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
}
END_TEST

START_TEST(test_program_gone)
{
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_RUN };

	cmd.run.program = 12345;
	rt_ok(trn_queue_enqueue(queue, &cmd, NULL));
	rt_fails(trn_queue_finish(queue, RT_FOREVER), TRN_ERR_INVALID, "was freed");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rt_run");
	TCase *tc = tcase_create("run"), *hang = tcase_create("hang");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_run);
	tcase_add_test(tc, test_illegal_instruction);
	tcase_add_test(tc, test_failure_is_not_overlooked);
	tcase_add_test(tc, test_failure_found_by_reset);
	tcase_add_test(tc, test_destroy_during_endless_run);
	tcase_add_test(tc, test_argument_block);
	tcase_add_test(tc, test_program_gone);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(hang, setup_hang, teardown);
	tcase_set_timeout(hang, 120);
	tcase_add_test(hang, test_endless_loop);
	tcase_add_test(hang, test_work_behind_a_failure_is_canceled);
	tcase_add_test(hang, test_dependents_of_a_failure);
	tcase_add_test(hang, test_neighbour_is_not_disturbed);
	suite_add_tcase(suite, hang);
	return rt_main(suite);
}
