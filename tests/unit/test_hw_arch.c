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

static const struct trnhw_arch *trn2(void)
{
	const struct trnhw_arch *arch = trnhw_arch_find(0x7364);

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

START_TEST(arch_find_trn2)
{
	ck_assert_str_eq(trn2()->name, "trn2");
	ck_assert_str_eq(trn2()->product, "Trainium2");
	ck_assert_uint_eq(trn2()->pci_device, 0x7364);
}
END_TEST

START_TEST(arch_refuses_unknown)
{
	ck_assert_ptr_null(trnhw_arch_find(0x7064));
	ck_assert_ptr_null(trnhw_arch_find(0));
	ck_assert_ptr_null(trnhw_arch_find(0xffff));
	ck_assert_ptr_null(trnhw_arch_find_name("trn3"));
	ck_assert_ptr_null(trnhw_arch_find_name(""));
}
END_TEST

START_TEST(arch_counts)
{
	ck_assert_uint_eq(trn1()->generation, 2);
	ck_assert_uint_eq(trn1()->cores, 2);
	ck_assert_uint_eq(trn1()->stacks, 2);
	ck_assert_uint_eq(trn1()->engines, 34);
	ck_assert_uint_eq(trn1()->top_sps, 6);
	ck_assert_uint_eq(trn1()->dies, 1);
	ck_assert_uint_eq(trn1()->bar0_size, 0x40000000);
	ck_assert_uint_eq(trn1()->hbm_size, 16ull << 30);
	ck_assert_uint_eq(trn1()->reset_timeout_ms, 120000);
}
END_TEST

START_TEST(arch_counts_v3)
{
	ck_assert_uint_eq(trn2()->generation, 3);
	ck_assert_uint_eq(trn2()->cores, 8);
	ck_assert_uint_eq(trn2()->dies, 2);
	ck_assert_uint_eq(trn2()->stacks, 4);
	ck_assert_uint_eq(trn2()->engines, 132);
	ck_assert_uint_eq(trn2()->top_sps, 16);
	ck_assert_uint_eq(trn2()->bar0_size, 0x100000000ull);
	ck_assert_uint_eq(trn2()->hbm_size, 24ull << 30);
	ck_assert_uint_eq(trn2()->reset_timeout_ms, 480000);
}
END_TEST

/* Tables elsewhere are sized by these. */
START_TEST(arch_limits)
{
	static const u16 ids[] = { 0x7164, 0x7264, 0x7364 };
	const struct trnhw_arch *arch = trnhw_arch_find(ids[_i]);

	ck_assert_ptr_eq(trnhw_arch_find_name(arch->name), arch);
	ck_assert_uint_le(arch->cores, TRN_MAX_CORES);
	ck_assert_uint_le(arch->engines, TRNHW_ENGINES_MAX);
	ck_assert_uint_eq(arch->cores % arch->h2t_cores, 0);
	ck_assert_uint_eq(arch->engines - arch->cores * 16, arch->cores / arch->h2t_cores);
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

START_TEST(arch_memory_map_v3)
{
	static const u64 base[4] = { 0, 0x4000000000, 0x800000000000, 0x804000000000 };
	unsigned int h;

	ck_assert_uint_eq(trn2()->host_base, 1ull << 46);
	ck_assert_uint_eq(trn2()->host_size, 1ull << 46);
	for (h = 0; h < 4; h++) {
		ck_assert_uint_eq(trn2()->hbm_base(h), base[h]);
		ck_assert_uint_eq(trn2()->hbm_bar4(h), h * 0x1000000000ull);
	}
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

START_TEST(arch_core_windows_v3)
{
	static const u64 device[8] = {
		0x2000000000,	0x3000000000,	0x6000000000,	0x7000000000,
		0x802000000000, 0x803000000000, 0x806000000000, 0x807000000000,
	};
	static const u32 notific[8] = {
		0x06001000, 0x06181000, 0x06401000, 0x06581000,
		0x46001000, 0x46181000, 0x46401000, 0x46581000,
	};
	unsigned int n;

	for (n = 0; n < 8; n++) {
		ck_assert_uint_eq(trn2()->tpb(n), 0xd0000000 + n * 0x4000000);
		ck_assert_uint_eq(trn2()->tpb_device(n), device[n]);
		ck_assert_uint_eq(trn2()->nc_notific(n), notific[n]);
	}
	ck_assert_uint_eq(trn2()->misc, 0x06c84000);
}
END_TEST

START_TEST(arch_top_sps)
{
	unsigned int t;

	for (t = 0; t < 6; t++) {
		ck_assert_uint_eq(trn1()->top_sp(t), 0x10000000 + t * 0x400000);
		ck_assert_uint_eq(trn1()->top_sp_notific(t), 0x30e04000 + t * 0x40000);
	}
	/* 8 to 15 of a driver are 10 to 17 of the hardware. */
	for (t = 0; t < 8; t++) {
		ck_assert_uint_eq(trn2()->top_sp(t), 0xf0000000 + t * 0x400000);
		ck_assert_uint_eq(trn2()->top_sp(8 + t), 0xf2800000 + t * 0x400000);
		ck_assert_uint_eq(trn2()->top_sp_notific(t), 0x06a00000 + t * 0x40000);
		ck_assert_uint_eq(trn2()->top_sp_notific(8 + t), 0x46a00000 + t * 0x40000);
	}
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
	ck_assert_uint_eq(base.fis, 0);
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

START_TEST(arch_engines_v3)
{
	static const struct {
		unsigned int engine;
		u32 udma, fis;
	} rows[] = {
		{ 0, 0x82000000, 0x8c000000 },	{ 31, 0x83f00000, 0x8c3e0000 },
		{ 32, 0x94000000, 0x9c400000 }, { 63, 0x95f00000, 0x9c7e0000 },
		{ 64, 0xa2000000, 0xac000000 }, { 95, 0xa3f00000, 0xac3e0000 },
		{ 96, 0xb4000000, 0xbc400000 }, { 127, 0xb5f00000, 0xbc7e0000 },
		{ 128, 0x06800000, 0 },		{ 129, 0x06900000, 0 },
		{ 130, 0x46800000, 0 },		{ 131, 0x46900000, 0 },
	};
	struct trnhw_engine_base base;

	trn2()->engine_base(rows[_i].engine, &base);
	ck_assert_uint_eq(base.udma, rows[_i].udma);
	ck_assert_uint_eq(base.sdma, rows[_i].udma + 0x40000);
	ck_assert_uint_eq(base.fis, rows[_i].fis);
}
END_TEST

START_TEST(arch_host_copy_engines_v3)
{
	unsigned int n;

	for (n = 0; n < 8; n++) {
		ck_assert_uint_eq(trn2()->h2t_engine(n), 128 + n / 2);
		ck_assert_uint_eq(trn2()->h2t_queue(n), n % 2);
	}
}
END_TEST

START_TEST(arch_reset_map_v3)
{
	ck_assert_uint_eq(trn2()->reset_map(0x01), 0x00010101);
	ck_assert_uint_eq(trn2()->reset_map(0x80), 0x00808080);
	ck_assert_uint_eq(trn2()->reset_map(0xff), 0x00ffffff);
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

START_TEST(address_v3)
{
	struct hw_stub *stub = hw_stub_init_as(0x7364);

	ck_assert_uint_eq(trnhw_host_address(&stub->hw, 0x12345678), 0x400012345678ull);
	ck_assert_uint_eq(trnhw_host_address(&stub->hw, (1ull << 46) - 1), 0x7fffffffffffull);
	ck_assert_uint_eq(trnhw_host_address(&stub->hw, 1ull << 46), 0);
	ck_assert_uint_eq(trnhw_hbm_address(&stub->hw, 3, 0x1000), 0x804000001000ull);
	ck_assert_uint_eq(trnhw_sbuf_address(&stub->hw, 7, 3, 8),
			  0x807000000000ull + 3 * 0x40000 + 8);
	ck_assert_uint_eq(trnhw_sem_inc_address(&stub->hw, 6, 5),
			  0x806000000000ull + 0x02701800 + 20);
	hw_stub_destroy(stub);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hw_arch");
	TCase *tc = tcase_create("arch");

	tcase_add_test(tc, arch_find_trn1);
	tcase_add_test(tc, arch_find_inf2);
	tcase_add_test(tc, arch_find_trn2);
	tcase_add_test(tc, arch_refuses_unknown);
	tcase_add_loop_test(tc, arch_limits, 0, 3);
	tcase_add_test(tc, arch_counts_v3);
	tcase_add_test(tc, arch_memory_map_v3);
	tcase_add_test(tc, arch_core_windows_v3);
	tcase_add_test(tc, arch_top_sps);
	tcase_add_loop_test(tc, arch_engines_v3, 0, 12);
	tcase_add_test(tc, arch_host_copy_engines_v3);
	tcase_add_test(tc, arch_reset_map_v3);
	tcase_add_test(tc, arch_counts);
	tcase_add_test(tc, arch_memory_map);
	tcase_add_test(tc, arch_core_windows);
	tcase_add_test(tc, arch_engines);
	tcase_add_test(tc, arch_host_copy_engines);
	tcase_add_test(tc, arch_reset_map);
	tcase_add_test(tc, address_host);
	tcase_add_test(tc, address_device);
	tcase_add_test(tc, address_v3);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
