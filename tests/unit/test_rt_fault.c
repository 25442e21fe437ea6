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
	queue = rt_queue(device, 1, RT_HANG_NS);
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

/* In the name of the device: a program's CI needs no C for it. */
START_TEST(test_faults_by_name)
{
	struct trn_device *other;
	uint64_t left;

	other = rt_open("emu:trn1,hbm=256M,reset-twice=1,irq-lost=1000");
	ck_assert_int_eq(
		emu_device_fault_get(trn_emu_of(other->backend)->model, "reset-twice", &left), 0);
	ck_assert_uint_eq(left, 1);
	ck_assert_int_eq(emu_device_fault_get(trn_emu_of(other->backend)->model, "irq-lost", &left),
			 0);
	ck_assert_uint_gt(left, 0);
	trn_device_close(other);
	rt_fails(trn_device_open("emu:trn1,engine-hang=35", &other), TRN_ERR_INVALID,
		 "engine-hang=35 is refused; must be 0, or 1 + a DMA engine of 0 to 33");
	rt_fails(trn_device_open("emu:trn1,no-irq,irq-lost=1", &other), TRN_ERR_INVALID,
		 "lacks feature");
	rt_fails(trn_device_open("emu:trn1,irq-lost=often", &other), TRN_ERR_INVALID,
		 "faults on demand by name");
	rt_fails(trn_device_open("emu:trn1,irq=1", &other), TRN_ERR_INVALID,
		 "faults on demand by name");
}
END_TEST

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

/* The device address of a place in a buffer. */
static uint64_t device_address(struct trn_device *on, struct trn_memory *buffer, uint64_t offset)
{
	struct trn_emu *emu = trn_emu_of(on->backend);
	struct trn_emu_bo *bo;
	struct trn_place place;
	uint64_t address;

	rt_ok(trn_memory_place(buffer, offset, 4, "word", &place));
	bo = trn_emu_bo_get(emu, place.handle);
	ck_assert_ptr_nonnull(bo);
	address = bo->address + place.offset;
	trn_emu_bo_put(emu, bo);
	return address;
}

static struct trn_queue *queue_of_core(struct trn_device *on, uint32_t core)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_queue *made;

	options.core_mask = 1u << core;
	rt_ok(trn_queue_create(on, &options, &made));
	return made;
}

/* A bad word ends the copies of the engine. Those of the core that shares it fail or succeed, never
 * hang or tell lies, and both queues work again. */
START_TEST(test_abort_of_a_shared_copy_engine)
{
	struct trn_device *trn2 = rt_open("emu:trn2,hbm=64M");
	struct trn_queue *first = queue_of_core(trn2, 0), *second = queue_of_core(trn2, 1);
	struct trn_memory *bad = rt_alloc(trn2, MIB), *fine = rt_alloc(trn2, 4 * MIB);
	uint8_t *out = malloc(4 * MIB), *in = malloc(4 * MIB), word[4];
	unsigned int round, failed = 0;
	struct trn_fence fence, other;

	ck_assert(out && in);
	ck_assert_int_eq(emu_device_fault_set(trn_emu_of(trn2->backend)->model,
					      "ecc-uncorrectable-at",
					      1 + device_address(trn2, bad, 4096)),
			 0);
	for (round = 0; round < 20; round++) {
		rt_pattern(out, 4 * MIB, round);
		rt_ok(trn_queue_write(second, fine, 0, out, 4 * MIB, NULL));
		rt_ok(trn_queue_read(second, in, fine, 0, 4 * MIB, &other));
		rt_ok(trn_queue_flush(second));
		rt_ok(trn_queue_read(first, word, bad, 4096, 4, &fence));
		ck_assert_int_ne(trn_fence_wait(fence, RT_FOREVER), TRN_OK);
		rt_ok(trn_queue_reset(first));
		if (trn_fence_wait(other, RT_FOREVER)) {
			failed++;
			rt_ok(trn_queue_reset(second));
		} else {
			ck_assert_mem_eq(in, out, 4 * MIB);
		}
		rt_ok(trn_queue_write(first, fine, 0, out + round, 70001, NULL));
		rt_ok(trn_queue_finish(first, RT_FOREVER));
		rt_ok(trn_queue_read(second, in, fine, 0, 70001, NULL));
		rt_ok(trn_queue_finish(second, RT_FOREVER));
		ck_assert_mem_eq(in, out + round, 70001);
	}
	ck_assert_msg(failed, "the abort never met a copy of the other core");
	free(out);
	free(in);
	trn_device_close(trn2);
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
	tcase_add_test(tc, test_faults_by_name);
	tcase_add_test(tc, test_lost_interrupts);
	tcase_add_test(tc, test_spurious_interrupts);
	tcase_add_test(tc, test_late_completions);
	tcase_add_test(tc, test_hung_copy_engine);
	tcase_add_test(tc, test_abort_of_a_shared_copy_engine);
	tcase_add_test(tc, test_reset_fails);
	tcase_add_test(tc, test_removed);
	suite_add_tcase(suite, tc);
	return rt_main(suite);
}
