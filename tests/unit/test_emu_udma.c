// SPDX-License-Identifier: BSD-2-Clause
/*
 * DMA engines of the device model: copies, rings, packets, registers as endpoints, errors.
 */
#include <stdlib.h>
#include <string.h>
#include "emu_rig.h"

#define HBM0 0x1000000ull
#define HBM1 (TRN_V2_HBM_BASE(1ull) + 0x1000000ull)
#define SBUF(core, partition, offset)                                                           \
	(TRN_V2_DEV_BASE + TRN_V2_TPB(core) + (uint64_t)(partition)*TRN_SBUF_PARTITION_STRIDE + \
	 (offset))
#define REG(bar0) (TRN_V2_DEV_BASE + (bar0))

static struct rig rig;
static struct rig_queue h2t;
static struct rig_host mem;

static void setup(void)
{
	rig_open(&rig);
	rig_queue_open(&rig, &h2t, TRN_V2_H2T_ENGINE(0), 0, 64);
	rig_host_alloc(&rig, &mem, 1 << 20);
}

static void close_all(uint64_t complaints)
{
	rig_queue_close(&h2t);
	rig_host_free(&rig, &mem);
	rig_close(&rig, complaints);
}

static void pattern(uint8_t *p, size_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 131 + (i >> 8) * 17 + seed);
}

START_TEST(copy_host_to_hbm_and_back)
{
	pattern(mem.ptr, 65536, 1);
	rig_copy(&h2t, HBM0, mem.dev, 65536);
	rig_copy(&h2t, mem.dev + 131072, HBM0, 65536);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 65536);
	ck_assert_mem_eq(mem.ptr + 131072, mem.ptr, 65536);
	close_all(0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("emu_udma");
	TCase *tc = tcase_create("udma");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, copy_host_to_hbm_and_back);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
