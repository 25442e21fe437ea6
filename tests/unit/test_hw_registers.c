// SPDX-License-Identifier: BSD-2-Clause
/*
 * Semaphores, events, interrupt control, telemetry.
 */
#include "tests/unit/hw_stub.h"

#define MISC HW_STUB_MISC

START_TEST(semaphore_apertures)
{
	struct hw_stub *stub = hw_stub_init();

	hw_stub_set(stub, 0, 0x06701000 + 255 * 4, -5u);
	ck_assert_int_eq(trnhw_sem_read(&stub->hw, 1, 255), -5);
	hw_stub_trace_clear(stub);
	trnhw_sem_set(&stub->hw, 0, 7, -2);
	trnhw_sem_add(&stub->hw, 0, 7, 3);
	trnhw_sem_add(&stub->hw, 1, 7, -4);
	hw_stub_expect(stub, 0, true, 0x02701400 + 28, -2u);
	hw_stub_expect(stub, 1, true, 0x02701800 + 28, 3);
	hw_stub_expect(stub, 2, true, 0x06701c00 + 28, 4);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(semaphore_add_extremes)
{
	struct hw_stub *stub = hw_stub_init();

	trnhw_sem_add(&stub->hw, 0, 0, INT32_MIN);
	trnhw_sem_add(&stub->hw, 0, 0, INT32_MAX);
	trnhw_sem_add(&stub->hw, 0, 0, 0);
	hw_stub_expect(stub, 0, true, 0x02701c00, 0x80000000);
	hw_stub_expect(stub, 1, true, 0x02701800, 0x7fffffff);
	ck_assert_uint_eq(stub->trace_count, 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(event_registers)
{
	struct hw_stub *stub = hw_stub_init();

	trnhw_event_write(&stub->hw, 0, 3, 17);
	trnhw_event_write(&stub->hw, 0, 4, 0);
	hw_stub_expect(stub, 0, true, 0x0270000c, 1);
	hw_stub_expect(stub, 1, true, 0x02700010, 0);
	ck_assert_uint_eq(trnhw_event_read(&stub->hw, 0, 3), 1);
	ck_assert_uint_eq(trnhw_event_read(&stub->hw, 0, 4), 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(sync_out_of_range)
{
	struct hw_stub *stub = hw_stub_init();

	ck_assert_int_eq(trnhw_sem_read(&stub->hw, 2, 0), 0);
	ck_assert_int_eq(trnhw_sem_read(&stub->hw, 0, 256), 0);
	trnhw_sem_set(&stub->hw, 0, 256, 1);
	trnhw_sem_add(&stub->hw, 0, ~0u, 1);
	trnhw_sem_add(&stub->hw, ~0u, 0, 1);
	ck_assert_uint_eq(trnhw_event_read(&stub->hw, 0, 256), 0);
	trnhw_event_write(&stub->hw, 2, 0, 1);
	ck_assert_uint_eq(stub->trace_count, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(sync_v3)
{
	struct hw_stub *stub = hw_stub_init_as(0x7364);

	hw_stub_set(stub, 0, 0xee701000 + 255 * 4, 17);
	ck_assert_int_eq(trnhw_sem_read(&stub->hw, 7, 255), 17);
	ck_assert_int_eq(trnhw_sem_read(&stub->hw, 8, 255), 0);
	hw_stub_trace_clear(stub);
	trnhw_sem_set(&stub->hw, 0, 7, -2);
	trnhw_sem_add(&stub->hw, 4, 7, 3);
	trnhw_event_write(&stub->hw, 5, 1, 1);
	hw_stub_expect(stub, 0, true, 0xd2701400 + 28, -2u);
	hw_stub_expect(stub, 1, true, 0xe2701800 + 28, 3);
	hw_stub_expect(stub, 2, true, 0xe6700004, 1);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(interrupt_mask)
{
	struct hw_stub *stub = hw_stub_init();

	trnhw_irq_mask(&stub->hw, 4);
	ck_assert_uint_eq(hw_stub_get(stub, 2, 0x120), 1);
	trnhw_irq_unmask(&stub->hw, 4);
	ck_assert_uint_eq(hw_stub_get(stub, 2, 0x120), 0);
	ck_assert_uint_eq(stub->trace_count, 2);
	trnhw_irq_mask(&stub->hw, 5);
	trnhw_irq_unmask(&stub->hw, ~0u);
	ck_assert_uint_eq(stub->trace_count, 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(ecc_counts)
{
	struct hw_stub *stub = hw_stub_init();
	struct trnhw_ecc ecc;

	hw_stub_set(stub, 0, MISC + 0x40, 0x00030001);
	hw_stub_set(stub, 0, MISC + 0x44, 0xffff0002);
	hw_stub_set(stub, 0, MISC + 0x48, 0x0001ffff);
	hw_stub_set(stub, 0, MISC + 0x4c, 0x00090009); /* no such stack on v2 */
	trnhw_ecc_read(&stub->hw, &ecc);
	ck_assert_uint_eq(ecc.sram_uncorrected, 1);
	ck_assert_uint_eq(ecc.sram_corrected, 3);
	ck_assert_uint_eq(ecc.hbm_uncorrected, 0x10001);
	ck_assert_uint_eq(ecc.hbm_corrected, 0x10000);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(ecc_counts_v3)
{
	struct hw_stub *stub = hw_stub_init_as(0x7364);
	struct trnhw_ecc ecc;
	u32 h;

	for (h = 0; h < 4; h++)
		hw_stub_set(stub, 0, HW_STUB_MISC_V3 + 0x44 + h * 4, 0x00100001 << h);
	trnhw_ecc_read(&stub->hw, &ecc);
	ck_assert_uint_eq(ecc.hbm_uncorrected, 15);
	ck_assert_uint_eq(ecc.hbm_corrected, 0xf0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(hbm_repair)
{
	static const struct {
		u32 word;
		enum trnhw_hbm_repair state;
	} cases[] = {
		{ 0, TRNHW_HBM_REPAIR_NONE },	   { 1, TRNHW_HBM_REPAIR_PENDING },
		{ 2, TRNHW_HBM_REPAIR_FAILED },	   { 3, TRNHW_HBM_REPAIR_UNKNOWN },
		{ ~3u, TRNHW_HBM_REPAIR_NONE },	   { 0xdeadbeef, TRNHW_HBM_REPAIR_UNKNOWN },
		{ ~0u, TRNHW_HBM_REPAIR_UNKNOWN },
	};
	struct hw_stub *stub = hw_stub_init_as(0x7364);

	hw_stub_set(stub, 0, HW_STUB_MISC_V3 + 0x64, cases[_i].word);
	ck_assert_int_eq(trnhw_hbm_repair_read(&stub->hw), cases[_i].state);
	hw_stub_destroy(stub);
}
END_TEST

/* The firmware of Trn1 and Inf2 does not report it. */
START_TEST(hbm_repair_v2)
{
	struct hw_stub *stub = hw_stub_init();

	hw_stub_set(stub, 0, MISC + 0x64, 1);
	ck_assert_int_eq(trnhw_hbm_repair_read(&stub->hw), TRNHW_HBM_REPAIR_UNKNOWN);
	ck_assert_uint_eq(stub->trace_count, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(ecc_not_ready)
{
	struct hw_stub *stub = hw_stub_init();
	struct trnhw_ecc ecc;

	hw_stub_set(stub, 0, MISC + 0x40, 0xdeadbeef);
	hw_stub_set(stub, 0, MISC + 0x44, 0xdeadbeef);
	hw_stub_set(stub, 0, MISC + 0x48, 5);
	trnhw_ecc_read(&stub->hw, &ecc);
	ck_assert_uint_eq(ecc.sram_uncorrected, 0);
	ck_assert_uint_eq(ecc.sram_corrected, 0);
	ck_assert_uint_eq(ecc.hbm_uncorrected, 5);
	ck_assert_uint_eq(ecc.hbm_corrected, 0);
	stub->gone = true;
	trnhw_ecc_read(&stub->hw, &ecc);
	ck_assert_uint_eq(ecc.sram_uncorrected + ecc.hbm_uncorrected, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(power_reported)
{
	static const struct {
		u32 version, word;
		int ret;
		u32 value;
	} cases[] = {
		{ 3, 0x00070000 | 4321, 0, 4321 }, { 4, 10000, 0, 10000 },
		{ 3, 10001, -ENODATA, 0 },	   { 2, 4321, -ENODATA, 0 },
		{ 0, 4321, -ENODATA, 0 },	   { 0xdeadbeef, 4321, -ENODATA, 0 },
		{ 3, 0xdeadbeef, -ENODATA, 0 },
	};
	struct hw_stub *stub = hw_stub_init();
	u32 value = 0;

	hw_stub_set(stub, 0, MISC + 0x00, cases[_i].version);
	hw_stub_set(stub, 0, MISC + 0x54, cases[_i].word);
	ck_assert_int_eq(trnhw_power_read(&stub->hw, &value), cases[_i].ret);
	ck_assert_uint_eq(value, cases[_i].value);
	hw_stub_destroy(stub);
}
END_TEST

/* The die used most; both have to report. */
START_TEST(power_of_two_dies)
{
	static const struct {
		u32 first, second;
		int ret;
		u32 value;
	} cases[] = {
		{ 100, 0x00050000 | 7000, 0, 7000 }, { 9000, 20, 0, 9000 },
		{ 10001, 5, -ENODATA, 0 },	     { 5, 10001, -ENODATA, 0 },
		{ 5, 0xdeadbeef, -ENODATA, 0 },	     { 0xdeadbeef, 5, -ENODATA, 0 },
	};
	struct hw_stub *stub = hw_stub_init_as(0x7364);
	u32 value = 0;

	hw_stub_set(stub, 0, HW_STUB_MISC_V3 + 0x00, 3);
	hw_stub_set(stub, 0, HW_STUB_MISC_V3 + 0x54, cases[_i].first);
	hw_stub_set(stub, 0, HW_STUB_MISC_V3 + 0x58, cases[_i].second);
	ck_assert_int_eq(trnhw_power_read(&stub->hw, &value), cases[_i].ret);
	ck_assert_uint_eq(value, cases[_i].value);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(power_of_gone_device)
{
	struct hw_stub *stub = hw_stub_init();
	u32 value = 0;

	stub->gone = true;
	ck_assert_int_eq(trnhw_power_read(&stub->hw, &value), -ENODEV);
	ck_assert(trnhw_gone(&stub->hw));
	stub->gone = false;
	ck_assert(!trnhw_gone(&stub->hw));
	hw_stub_destroy(stub);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hw_registers");
	TCase *tc = tcase_create("registers");

	tcase_add_test(tc, semaphore_apertures);
	tcase_add_test(tc, semaphore_add_extremes);
	tcase_add_test(tc, event_registers);
	tcase_add_test(tc, sync_out_of_range);
	tcase_add_test(tc, sync_v3);
	tcase_add_test(tc, interrupt_mask);
	tcase_add_test(tc, ecc_counts);
	tcase_add_test(tc, ecc_counts_v3);
	tcase_add_test(tc, ecc_not_ready);
	tcase_add_loop_test(tc, hbm_repair, 0, 7);
	tcase_add_test(tc, hbm_repair_v2);
	tcase_add_loop_test(tc, power_reported, 0, 7);
	tcase_add_loop_test(tc, power_of_two_dies, 0, 6);
	tcase_add_test(tc, power_of_gone_device);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
