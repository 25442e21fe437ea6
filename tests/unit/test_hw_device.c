// SPDX-License-Identifier: BSD-2-Clause
/*
 * Identification, reset, mailbox, telemetry and semaphores against the device model, with its
 * faults.
 */
#include <string.h>

#include "tests/unit/hw_model.h"

/* Device address of MISC RAM. */
static u64 misc_address(void)
{
	return strcmp(hw_model_arch, "trn2") ? 0x0ffff0fa0000ull : 0x8006c84000ull;
}

START_TEST(identify)
{
	struct hw_model *m = hw_model_create(hw_model_arch, 0);

	ck_assert_str_eq(m->hw.arch->name, hw_model_arch);
	ck_assert_uint_eq(m->hw.routing_id, 3);
	ck_assert_uint_ne(m->hw.serial, 0);
	ck_assert_uint_eq(m->hw.features, TRN_FEATURE_ALL);
	ck_assert_uint_eq(m->hw.vectors, strcmp(hw_model_arch, "trn2") ? 5 : 13);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(identify_inf2)
{
	struct hw_model *m = hw_model_create("inf2", 0);

	ck_assert_str_eq(m->hw.arch->name, "inf2");
	ck_assert_int_eq(trnhw_reset_device(&m->hw), 0);
	ck_assert_int_eq(trnhw_start(&m->hw, 3), 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(identify_without_extension)
{
	struct hw_model *m = hw_model_create(hw_model_arch, TRN_FEATURE_ALL);
	struct trnhw_core core;

	ck_assert_uint_eq(m->hw.features, 0);
	ck_assert_int_eq(trnhw_reset_device(&m->hw), 0);
	ck_assert_int_eq(trnhw_core_init(&core, &m->hw, 0), -EOPNOTSUPP);
	hw_model_destroy(m, 0);
}
END_TEST

/* The whole documented start provokes no complaint, also the second time. */
START_TEST(reset_and_start)
{
	struct hw_model *m = hw_model_start();

	ck_assert_int_eq(trnhw_reset_device(&m->hw), 0);
	ck_assert_int_eq(trnhw_start(&m->hw, hw_model_cores(m)), 0);
	ck_assert_int_eq(trnhw_udma_state(&m->hw, 0), TRNHW_UDMA_NORMAL);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(reset_each_core)
{
	struct hw_model *m = hw_model_start();
	unsigned int core, cores = m->hw.arch->cores, i;

	hw_model_fast(true);
	for (core = 0; core < cores; core++)
		trnhw_sem_set(&m->hw, core, 9, 5 + core);
	for (core = 0; core < cores; core++) {
		ck_assert_int_eq(trnhw_reset_cores(&m->hw, 1u << core), 0);
		for (i = 0; i < cores; i++)
			ck_assert_int_eq(trnhw_sem_read(&m->hw, i, 9), i <= core ? 0 : 5 + (int)i);
	}
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(reset_slow)
{
	struct hw_model *m = hw_model_start();

	hw_model_fault(m, "reset-slow", 300);
	ck_assert_int_eq(trnhw_reset_device(&m->hw), 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(reset_needs_two_tries)
{
	struct hw_model *m = hw_model_start();

	hw_model_fault(m, "reset-twice", 1);
	hw_model_fast(true);
	ck_assert_int_eq(trnhw_reset_cores(&m->hw, 3), 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(reset_fails_then_works)
{
	struct hw_model *m = hw_model_start();

	hw_model_fault(m, "reset-fail", 1);
	ck_assert_int_eq(trnhw_reset_device(&m->hw), -ETIMEDOUT);
	ck_assert_str_ne(m->log, "");
	ck_assert_int_eq(trnhw_reset_device(&m->hw), 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(reset_never_accepted)
{
	struct hw_model *m = hw_model_start();

	hw_model_fault(m, "reset-twice", 100);
	hw_model_fast(true);
	ck_assert_int_eq(trnhw_reset_device(&m->hw), -ETIMEDOUT);
	hw_model_fault(m, "reset-twice", 0);
	ck_assert_int_eq(trnhw_reset_device(&m->hw), 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(registers_all_ones)
{
	struct hw_model *m = hw_model_start();
	const u64 address = misc_address() + 0x24;
	struct trnhw_ecc ecc;
	u32 value;

	hw_model_fault(m, "regs-all-ones", 1);
	ck_assert(trnhw_gone(&m->hw));
	ck_assert_int_eq(trnhw_reset_device(&m->hw), -ENODEV);
	ck_assert_int_eq(trnhw_start(&m->hw, 1), -ENODEV);
	ck_assert_int_eq(trnhw_udma_state(&m->hw, 0), -ENODEV);
	ck_assert_int_eq(trnhw_power_read(&m->hw, &value), -ENODEV);
	ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), -ENODEV);
	trnhw_ecc_read(&m->hw, &ecc);
	ck_assert_uint_eq(ecc.hbm_uncorrected, 0);
	hw_model_fault(m, "regs-all-ones", 0);
	ck_assert(!trnhw_gone(&m->hw));
	ck_assert_int_eq(trnhw_reset_device(&m->hw), 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(mailbox_read)
{
	struct hw_model *m = hw_model_start();
	const u64 addresses[] = { misc_address() + 0x24, misc_address() + 0x38 };
	u32 values[2] = { 0 };

	ck_assert_int_eq(trnhw_fwio_read(&m->hw, addresses, values, 2), 0);
	ck_assert_uint_eq(values[0], 3);
	ck_assert_uint_eq(values[1], (u32)m->hw.serial);
	ck_assert_uint_eq(m->hw.fwio.retries, 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(mailbox_many_requests)
{
	struct hw_model *m = hw_model_start();
	const u64 address = misc_address() + 0x24;
	u32 value;
	int i;

	for (i = 0; i < 300; i++) {
		value = 0;
		ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), 0);
		ck_assert_uint_eq(value, 3);
	}
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(mailbox_post)
{
	struct hw_model *m = hw_model_start();
	static const u8 tlv[] = { 12, 1, '0', 13, 3, '1', '.', '0' };

	ck_assert_int_eq(trnhw_fwio_post(&m->hw, tlv, sizeof(tlv)), 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(mailbox_silent_twice)
{
	struct hw_model *m = hw_model_start();
	const u64 address = misc_address() + 0x24;
	u32 value = 0;

	hw_model_fault(m, "fw-silent", 2);
	hw_model_fast(true);
	ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), 0);
	ck_assert_uint_eq(value, 3);
	ck_assert_uint_ge(m->hw.fwio.retries, 2);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(mailbox_silent_for_ever)
{
	struct hw_model *m = hw_model_start();
	const u64 address = misc_address() + 0x24;
	u32 value = 77;

	hw_model_fault(m, "fw-silent", 1000);
	hw_model_fast(true);
	ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), -ETIMEDOUT);
	ck_assert_uint_eq(value, 77);
	hw_model_fast(false);
	hw_model_fault(m, "fw-silent", 0);
	ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(mailbox_damaged)
{
	struct hw_model *m = hw_model_start();
	const u64 address = misc_address() + 0x24;
	u32 value = 0;

	hw_model_fault(m, "fw-crc", 1);
	ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), 0);
	ck_assert_uint_eq(m->hw.fwio.retries, 1);
	hw_model_fault(m, "fw-crc", 100);
	ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), -EIO);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(mailbox_lies)
{
	struct hw_model *m = hw_model_start();
	const u64 address = misc_address() + 0x24;
	u32 value = 77;

	hw_model_fault(m, "fw-lying", 1);
	ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), -EIO);
	ck_assert_uint_eq(value, 77);
	ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), 0);
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(mailbox_no_such_register)
{
	struct hw_model *m = hw_model_start();
	const u64 address = 0x700000000ull; /* behind the first stack */
	u32 value = 77;

	ck_assert_int_eq(trnhw_fwio_read(&m->hw, &address, &value, 1), -EIO);
	ck_assert_uint_eq(value, 77);
	/* One complaint for each of the documented attempts. */
	hw_model_destroy(m, emu_device_complaints(m->device, EMU_COMPLAINT_FWIO_REQUEST));
}
END_TEST

START_TEST(telemetry)
{
	struct hw_model *m = hw_model_start();
	struct trnhw_ecc ecc;
	u32 value = 99999;
	int ret;

	hw_model_fault(m, "ecc-correctable", 7);
	hw_model_fault(m, "ecc-uncorrectable", 2);
	trnhw_ecc_read(&m->hw, &ecc);
	ck_assert_uint_eq(ecc.hbm_corrected, 7);
	ck_assert_uint_eq(ecc.hbm_uncorrected, 2);
	ck_assert_uint_eq(ecc.sram_corrected, 0);
	ck_assert_uint_eq(ecc.sram_uncorrected, 0);
	ret = trnhw_power_read(&m->hw, &value);
	ck_assert(ret == -ENODATA || (ret == 0 && value <= 10000));
	hw_model_destroy(m, 0);
}
END_TEST

START_TEST(semaphores_and_events)
{
	struct hw_model *m = hw_model_start();

	trnhw_sem_set(&m->hw, 0, 0, -7);
	trnhw_sem_add(&m->hw, 0, 0, 10);
	trnhw_sem_add(&m->hw, 0, 0, -2);
	ck_assert_int_eq(trnhw_sem_read(&m->hw, 0, 0), 1);
	ck_assert_int_eq(trnhw_sem_read(&m->hw, 1, 0), 0);
	trnhw_sem_set(&m->hw, 1, 255, 5);
	ck_assert_int_eq(trnhw_sem_read(&m->hw, 1, 255), 5);
	trnhw_event_write(&m->hw, 1, 255, 1);
	ck_assert_uint_eq(trnhw_event_read(&m->hw, 1, 255), 1);
	trnhw_event_write(&m->hw, 1, 255, 0);
	ck_assert_uint_eq(trnhw_event_read(&m->hw, 1, 255), 0);
	hw_model_destroy(m, 0);
}
END_TEST

static void add_mailbox(TCase *tc)
{
	tcase_add_test(tc, mailbox_read);
	tcase_add_test(tc, mailbox_many_requests);
	tcase_add_test(tc, mailbox_post);
	tcase_add_test(tc, mailbox_silent_twice);
	tcase_add_test(tc, mailbox_silent_for_ever);
	tcase_add_test(tc, mailbox_damaged);
	tcase_add_test(tc, mailbox_lies);
	tcase_add_test(tc, mailbox_no_such_register);
}

static void add(TCase *tc)
{
	tcase_add_test(tc, identify);
	tcase_add_test(tc, identify_without_extension);
	tcase_add_test(tc, reset_and_start);
	tcase_add_test(tc, reset_each_core);
	tcase_add_test(tc, reset_slow);
	tcase_add_test(tc, reset_needs_two_tries);
	tcase_add_test(tc, reset_fails_then_works);
	tcase_add_test(tc, reset_never_accepted);
	tcase_add_test(tc, registers_all_ones);
	add_mailbox(tc);
	tcase_add_test(tc, telemetry);
	tcase_add_test(tc, semaphores_and_events);
}

int main(void)
{
	Suite *suite = suite_create("hw_device");
	TCase *tc = tcase_create("inf2");

	tcase_add_test(tc, identify_inf2);
	suite_add_tcase(suite, tc);
	hw_model_suite(suite, "device", add, NULL, NULL);
	return hw_suite_run(suite);
}
