// SPDX-License-Identifier: BSD-2-Clause
/* Faults of the device, switched on in the model under the emu backend: nothing hangs, nothing is
 * lost. */
#include <stdlib.h>
#include <string.h>

#include "backend_emu/emu.h"
#include "rt_rig.h"

#define MIB (1ull << 20)

static struct trn_device *device;
static struct trn_queue *queue;
static struct trn_memory *memory;
static struct rt_program good, endless;

static void fault(const char *name, uint64_t value)
{
	ck_assert_int_eq(emu_device_fault_set(trn_emu_of(device->backend)->model, name, value), 0);
}

static void setup(void)
{
	struct trn_insn insns[2] = { rt_insn(TRN_OP_NOP), rt_insn(TRN_OP_HALT) };

	device = rt_open(RT_SPEC);
	queue = rt_queue(device, 1, 300 * RT_MS);
	memory = rt_alloc(device, MIB);
	rt_program_make(&good, queue, insns, 2);
	insns[0].wait[0].op = TRN_WAIT_SEM_GE;
	insns[0].wait[0].value = 1;
	rt_program_make(&endless, queue, insns, 2);
}

static void teardown(void)
{
	trn_device_close(device);
}

static void still_works(struct trn_queue *on, struct rt_program *program)
{
	uint32_t out = 77, in = 0;

	rt_ok(trn_queue_write(on, memory, 0, &out, 4, NULL));
	rt_ok(rt_program_run(program, NULL));
	rt_ok(trn_queue_read(on, &in, memory, 0, 4, NULL));
	rt_ok(trn_queue_finish(on, RT_FOREVER));
	ck_assert_uint_eq(in, 77);
}

START_TEST(test_lost_interrupts)
{
	unsigned int i;

	fault("irq-lost", 12);
	for (i = 0; i < 4; i++)
		still_works(queue, &good);
}
END_TEST

START_TEST(test_spurious_interrupts)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		fault("irq-spurious", 8);
		still_works(queue, &good);
	}
}
END_TEST

START_TEST(test_late_completions)
{
	fault("completion-late", 20);
	still_works(queue, &good);
}
END_TEST

/* The copy engine stops: the copy runs out of time, and works again when the engine does. */
START_TEST(test_hung_copy_engine)
{
	struct trn_fence fence;
	uint32_t word = 1;

	fault("engine-hang", 1 + TRN_V2_H2T_ENGINE(trn_queue_core(queue, 0)));
	rt_ok(trn_queue_write(queue, memory, 0, &word, 4, &fence));
	rt_fails(trn_fence_wait(fence, RT_FOREVER), TRN_ERR_TIMEOUT, "ran longer than");
	fault("engine-hang", 0);
	rt_ok(trn_queue_reset(queue));
	still_works(queue, &good);
}
END_TEST

/* A core whose reset fails is out of use, says so, and gets another try. */
START_TEST(test_reset_fails)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_device_info info = TRN_OPTIONS(info);
	uint32_t core = trn_queue_core(queue, 0);
	struct trn_fence fence;
	struct trn_queue *next;

	fault("reset-fail", 2);
	rt_ok(rt_program_run(&endless, &fence));
	rt_fails(trn_fence_wait(fence, RT_FOREVER), TRN_ERR_TIMEOUT, "ran longer than");
	rt_ok(trn_device_get_info(device, &info));
	ck_assert_uint_eq(info.core[core].state, 3);
	rt_ok(trn_queue_reset(queue));
	rt_ok(rt_program_run(&good, &fence));
	rt_fails(trn_fence_wait(fence, RT_FOREVER), TRN_ERR_FAULT, "without a fault report");
	rt_program_free(&good);
	rt_program_free(&endless);
	trn_queue_destroy(queue);
	options.core_mask = 1u << core;
	rt_fails(trn_queue_create(device, &options, &next), TRN_ERR_BUSY, "failed");
	rt_ok(trn_queue_create(device, &options, &next));
	rt_ok(trn_device_get_info(device, &info));
	ck_assert_uint_eq(info.core[core].state, 1);
}
END_TEST

/* The device is pulled: everything ends with an error, closing works. */
START_TEST(test_removed)
{
	struct trn_fence copy, run;
	struct trn_queue *other = rt_queue(device, 0, 0);
	uint32_t word = 1;

	rt_ok(rt_program_run(&endless, &run));
	rt_ok(trn_queue_flush(queue));
	fault("regs-all-ones", 1);
	rt_ok(trn_queue_write(other, memory, 0, &word, 4, &copy));
	rt_fails(trn_fence_wait(copy, RT_FOREVER), TRN_ERR_GONE, "removed");
	rt_fails(trn_fence_wait(run, RT_FOREVER), TRN_ERR_GONE, "removed");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rt_fault");
	TCase *tc = tcase_create("fault");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_lost_interrupts);
	tcase_add_test(tc, test_spurious_interrupts);
	tcase_add_test(tc, test_late_completions);
	tcase_add_test(tc, test_hung_copy_engine);
	tcase_add_test(tc, test_reset_fails);
	tcase_add_test(tc, test_removed);
	suite_add_tcase(suite, tc);
	return rt_main(suite);
}
