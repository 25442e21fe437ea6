// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of the products against the documented numbers, and address arithmetic on them.
 */
#include "tests/unit/hw_stub.h"

static const struct trnhw_arch *trn1(void)
{
	const struct trnhw_arch *arch = trnhw_arch_find(0x7164);

	ck_assert_ptr_nonnull(arch);
	return arch;
}

START_TEST(arch_find_trn1)
{
	ck_assert_str_eq(trn1()->name, "trn1");
	ck_assert_str_eq(trn1()->product, "Trainium1");
	ck_assert_uint_eq(trn1()->pci_device, 0x7164);
}
END_TEST

START_TEST(arch_find_inf2)
{
	const struct trnhw_arch *arch = trnhw_arch_find(0x7264);

	ck_assert_ptr_nonnull(arch);
	ck_assert_str_eq(arch->name, "inf2");
	ck_assert_str_eq(arch->product, "Inferentia2");
	ck_assert_uint_eq(arch->generation, 2);
	ck_assert_uint_eq(arch->cores, 2);
}
END_TEST

START_TEST(arch_refuses_v3_and_unknown)
{
	ck_assert_ptr_null(trnhw_arch_find(0x7364));
	ck_assert_ptr_null(trnhw_arch_find(0x7064));
	ck_assert_ptr_null(trnhw_arch_find(0));
	ck_assert_ptr_null(trnhw_arch_find(0xffff));
}
END_TEST

START_TEST(arch_counts)
{
	ck_assert_uint_eq(trn1()->generation, 2);
	ck_assert_uint_eq(trn1()->cores, 2);
	ck_assert_uint_eq(trn1()->stacks, 2);
	ck_assert_uint_eq(trn1()->engines, 34);
	ck_assert_uint_eq(trn1()->top_sps, 6);
	ck_assert_uint_eq(trn1()->bar0_size, 0x40000000);
	ck_assert_uint_eq(trn1()->hbm_size, 16ull << 30);
	ck_assert_uint_eq(trn1()->reset_timeout_ms, 120000);
}
END_TEST

START_TEST(arch_memory_map)
{
	ck_assert_uint_eq(trn1()->host_base, 1ull << 44);
	ck_assert_uint_eq(trn1()->host_size, 1ull << 44);
	ck_assert_uint_eq(trn1()->hbm_base(0), 0);
	ck_assert_uint_eq(trn1()->hbm_base(1), 64ull << 30);
	ck_assert_uint_eq(trn1()->hbm_bar4(0), 0);
	ck_assert_uint_eq(trn1()->hbm_bar4(1), 16ull << 30);
}
END_TEST

START_TEST(arch_core_windows)
{
	ck_assert_uint_eq(trn1()->tpb(0), 0);
	ck_assert_uint_eq(trn1()->tpb(1), 0x4000000);
	ck_assert_uint_eq(trn1()->tpb_device(0), 0x0fffc0000000ull);
	ck_assert_uint_eq(trn1()->tpb_device(1), 0x0fffc4000000ull);
	ck_assert_uint_eq(trn1()->nc_notific(0), 0x30535000);
	ck_assert_uint_eq(trn1()->nc_notific(1), 0x30c35000);
	ck_assert_uint_eq(trn1()->misc, 0x30fa0000);
}
END_TEST

START_TEST(arch_engines)
{
	struct trnhw_engine_base base;
	unsigned int e;

	for (e = 0; e < 16; e++) {
		trn1()->engine_base(e, &base);
		ck_assert_uint_eq(base.udma, 0x30000000 + e * 0x40000);
		ck_assert_uint_eq(base.sdma, 0x30400000 + e * 0x7000);
		trn1()->engine_base(16 + e, &base);
		ck_assert_uint_eq(base.udma, 0x30700000 + e * 0x40000);
		ck_assert_uint_eq(base.sdma, 0x30b00000 + e * 0x7000);
	}
	trn1()->engine_base(32, &base);
	ck_assert_uint_eq(base.udma, 0x30600000);
	ck_assert_uint_eq(base.sdma, 0x30640000);
	trn1()->engine_base(33, &base);
	ck_assert_uint_eq(base.udma, 0x30d00000);
	ck_assert_uint_eq(base.sdma, 0x30d40000);
}
END_TEST

START_TEST(arch_host_copy_engines)
{
	ck_assert_uint_eq(trn1()->h2t_engine(0), 32);
	ck_assert_uint_eq(trn1()->h2t_engine(1), 33);
	ck_assert_uint_eq(trn1()->h2t_queue(0), 0);
	ck_assert_uint_eq(trn1()->h2t_queue(1), 0);
}
END_TEST

START_TEST(arch_reset_map)
{
	ck_assert_uint_eq(trn1()->reset_map(1), 0x0701);
	ck_assert_uint_eq(trn1()->reset_map(2), 0x3802);
	ck_assert_uint_eq(trn1()->reset_map(3), 0x3f03);
}
END_TEST

START_TEST(address_host)
{
	struct hw_stub *stub = hw_stub_init();

	ck_assert_uint_eq(trnhw_host_address(&stub->hw, 0), 0x100000000000ull);
	ck_assert_uint_eq(trnhw_host_address(&stub->hw, 0x12345678), 0x100012345678ull);
	ck_assert_uint_eq(trnhw_host_address(&stub->hw, (1ull << 44) - 1), 0x1fffffffffffull);
	ck_assert_uint_eq(trnhw_host_address(&stub->hw, 1ull << 44), 0);
	ck_assert_uint_eq(trnhw_host_address(&stub->hw, ~0ull), 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(address_device)
{
	struct hw_stub *stub = hw_stub_init();

	ck_assert_uint_eq(trnhw_hbm_address(&stub->hw, 1, 0x1000), 0x1000001000ull);
	ck_assert_uint_eq(trnhw_sbuf_address(&stub->hw, 1, 3, 8),
			  0x0fffc4000000ull + 3 * 0x40000 + 8);
	ck_assert_uint_eq(trnhw_sem_inc_address(&stub->hw, 1, 5),
			  0x0fffc4000000ull + 0x02701800 + 20);
	hw_stub_destroy(stub);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hw_arch");
	TCase *tc = tcase_create("arch");

	tcase_add_test(tc, arch_find_trn1);
	tcase_add_test(tc, arch_find_inf2);
	tcase_add_test(tc, arch_refuses_v3_and_unknown);
	tcase_add_test(tc, arch_counts);
	tcase_add_test(tc, arch_memory_map);
	tcase_add_test(tc, arch_core_windows);
	tcase_add_test(tc, arch_engines);
	tcase_add_test(tc, arch_host_copy_engines);
	tcase_add_test(tc, arch_reset_map);
	tcase_add_test(tc, address_host);
	tcase_add_test(tc, address_device);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
