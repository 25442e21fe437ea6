// SPDX-License-Identifier: BSD-2-Clause
/*
 * Topology tables against the documented values.
 */
#include "tests/unit/hw_stub.h"

static const struct trnhw_arch *trn1(void)
{
	return trnhw_arch_find(0x7164);
}

static const struct trnhw_arch *inf2(void)
{
	return trnhw_arch_find(0x7264);
}

static const struct trnhw_arch *trn2(void)
{
	return trnhw_arch_find(0x7364);
}

START_TEST(index_trn1)
{
	static const int index[16] = { 0, 4, 1, 5, 3, 7, 2, 6, 12, 8, 13, 9, 15, 11, 14, 10 };
	unsigned int r;

	for (r = 0; r < 16; r++)
		ck_assert_int_eq(trnhw_device_index(trn1(), r), index[r]);
}
END_TEST

START_TEST(index_trn1_further_rows)
{
	ck_assert_int_eq(trnhw_device_index(trn1(), 16), 16);
	ck_assert_int_eq(trnhw_device_index(trn1(), 17), 20);
	ck_assert_int_eq(trnhw_device_index(trn1(), 63), 58);
}
END_TEST

START_TEST(index_trn2)
{
	static const int index[16] = { 0, 3, 4, 7, 12, 15, 8, 11, 1, 2, 5, 6, 13, 14, 9, 10 };
	static const int rid[16] = { 0, 8, 9, 1, 2, 10, 11, 3, 6, 14, 15, 7, 4, 12, 13, 5 };
	unsigned int r;

	for (r = 0; r < 16; r++) {
		ck_assert_int_eq(trnhw_device_index(trn2(), r), index[r]);
		ck_assert_int_eq(trnhw_device_index(trn2(), 48 + r), 48 + index[r]);
		ck_assert_int_eq(trnhw_routing_id(trn2(), r), rid[r]);
	}
}
END_TEST

START_TEST(index_inf2)
{
	unsigned int r;

	for (r = 0; r < 64; r++)
		ck_assert_int_eq(trnhw_device_index(inf2(), r), (int)r);
}
END_TEST

START_TEST(index_out_of_range)
{
	ck_assert_int_eq(trnhw_device_index(trn1(), 64), -EINVAL);
	ck_assert_int_eq(trnhw_device_index(inf2(), 64), -EINVAL);
	ck_assert_int_eq(trnhw_device_index(trn1(), ~0u), -EINVAL);
}
END_TEST

START_TEST(inverse_trn1)
{
	static const int rid[16] = { 0, 2, 6, 4, 1, 3, 7, 5, 9, 11, 15, 13, 8, 10, 14, 12 };
	unsigned int d;

	for (d = 0; d < 16; d++)
		ck_assert_int_eq(trnhw_routing_id(trn1(), d), rid[d]);
}
END_TEST

START_TEST(inverse_is_inverse)
{
	u32 r;

	for (r = 0; r < 64; r++) {
		ck_assert_int_eq(trnhw_routing_id(trn1(), trnhw_device_index(trn1(), r)), (int)r);
		ck_assert_int_eq(trnhw_routing_id(trn2(), trnhw_device_index(trn2(), r)), (int)r);
	}
	ck_assert_int_eq(trnhw_routing_id(trn1(), 64), -EINVAL);
	ck_assert_int_eq(trnhw_routing_id(inf2(), 64), -EINVAL);
	ck_assert_int_eq(trnhw_routing_id(inf2(), ~0u), -EINVAL);
}
END_TEST

static void expect4(const struct trnhw_arch *arch, u32 index, u32 total, u32 a, u32 b, u32 c, u32 d)
{
	u32 n[TRNHW_NEIGHBOURS_MAX];

	ck_assert_uint_eq(trnhw_device_neighbours(arch, index, total, n), 4);
	ck_assert_uint_eq(n[0], a);
	ck_assert_uint_eq(n[1], b);
	ck_assert_uint_eq(n[2], c);
	ck_assert_uint_eq(n[3], d);
}

START_TEST(neighbours_trn1)
{
	expect4(trn1(), 0, 16, 12, 3, 4, 1);
	expect4(trn1(), 5, 16, 1, 4, 9, 6);
	expect4(trn1(), 15, 16, 11, 14, 3, 12);
}
END_TEST

START_TEST(neighbours_trn1_second_torus)
{
	expect4(trn1(), 16, 32, 28, 19, 20, 17);
	expect4(trn1(), 31, 32, 27, 30, 19, 28);
}
END_TEST

START_TEST(neighbours_trn1_symmetric)
{
	u32 d, n[TRNHW_NEIGHBOURS_MAX], back[TRNHW_NEIGHBOURS_MAX];
	unsigned int i, k, found;

	for (d = 0; d < 16; d++) {
		ck_assert_uint_eq(trnhw_device_neighbours(trn1(), d, 16, n), 4);
		for (i = 0; i < 4; i++) {
			trnhw_device_neighbours(trn1(), n[i], 16, back);
			for (k = 0, found = 0; k < 4; k++)
				found += back[k] == d;
			ck_assert_uint_eq(found, 1);
		}
	}
}
END_TEST

START_TEST(neighbours_trn2)
{
	expect4(trn2(), 0, 16, 12, 1, 3, 4);
	expect4(trn2(), 1, 16, 0, 13, 5, 2);
	expect4(trn2(), 7, 16, 6, 11, 3, 4);
	expect4(trn2(), 10, 16, 6, 11, 9, 14);
	expect4(trn2(), 15, 16, 14, 3, 11, 12);
	expect4(trn2(), 16, 32, 28, 17, 19, 20);
	expect4(trn2(), 63, 64, 62, 51, 59, 60);
}
END_TEST

static unsigned int count_in(const u32 *list, unsigned int count, u32 value)
{
	unsigned int i, n = 0;

	for (i = 0; i < count; i++)
		n += list[i] == value;
	return n;
}

/* The sets are those of the torus of Trn1; only the positions differ. */
START_TEST(neighbours_trn2_is_a_torus)
{
	u32 d, torus[TRNHW_NEIGHBOURS_MAX], n[TRNHW_NEIGHBOURS_MAX];
	unsigned int i;

	for (d = 0; d < 16; d++) {
		ck_assert_uint_eq(trnhw_device_neighbours(trn1(), d, 16, torus), 4);
		ck_assert_uint_eq(trnhw_device_neighbours(trn2(), d, 16, n), 4);
		for (i = 0; i < 4; i++)
			ck_assert_uint_eq(count_in(n, 4, torus[i]), 1);
	}
	ck_assert_uint_eq(trnhw_device_neighbours(trn2(), 0, 1, n), 0);
	ck_assert_uint_eq(trnhw_device_neighbours(trn2(), 0, 15, n), 0);
	ck_assert_uint_eq(trnhw_device_neighbours(trn2(), 16, 16, n), 0);
}
END_TEST

START_TEST(neighbours_trn1_partial_machine)
{
	u32 n[TRNHW_NEIGHBOURS_MAX];

	ck_assert_uint_eq(trnhw_device_neighbours(trn1(), 0, 1, n), 0);
	ck_assert_uint_eq(trnhw_device_neighbours(trn1(), 0, 15, n), 0);
	ck_assert_uint_eq(trnhw_device_neighbours(trn1(), 16, 16, n), 0);
	ck_assert_uint_eq(trnhw_device_neighbours(trn1(), 0, 0, n), 0);
}
END_TEST

START_TEST(neighbours_inf2_ring)
{
	u32 n[TRNHW_NEIGHBOURS_MAX];

	ck_assert_uint_eq(trnhw_device_neighbours(inf2(), 0, 12, n), 2);
	ck_assert_uint_eq(n[0], 11);
	ck_assert_uint_eq(n[1], 1);
	ck_assert_uint_eq(trnhw_device_neighbours(inf2(), 11, 12, n), 2);
	ck_assert_uint_eq(n[0], 10);
	ck_assert_uint_eq(n[1], 0);
}
END_TEST

START_TEST(neighbours_inf2_line)
{
	u32 n[TRNHW_NEIGHBOURS_MAX];

	ck_assert_uint_eq(trnhw_device_neighbours(inf2(), 0, 6, n), 1);
	ck_assert_uint_eq(n[0], 1);
	ck_assert_uint_eq(trnhw_device_neighbours(inf2(), 3, 6, n), 2);
	ck_assert_uint_eq(n[0], 2);
	ck_assert_uint_eq(n[1], 4);
	ck_assert_uint_eq(trnhw_device_neighbours(inf2(), 5, 6, n), 1);
	ck_assert_uint_eq(n[0], 4);
}
END_TEST

START_TEST(neighbours_inf2_other_machines)
{
	u32 n[TRNHW_NEIGHBOURS_MAX];

	ck_assert_uint_eq(trnhw_device_neighbours(inf2(), 0, 1, n), 0);
	ck_assert_uint_eq(trnhw_device_neighbours(inf2(), 0, 16, n), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hw_topology");
	TCase *tc = tcase_create("topology");

	tcase_add_test(tc, index_trn1);
	tcase_add_test(tc, index_trn1_further_rows);
	tcase_add_test(tc, index_trn2);
	tcase_add_test(tc, index_inf2);
	tcase_add_test(tc, index_out_of_range);
	tcase_add_test(tc, inverse_trn1);
	tcase_add_test(tc, inverse_is_inverse);
	tcase_add_test(tc, neighbours_trn1);
	tcase_add_test(tc, neighbours_trn1_second_torus);
	tcase_add_test(tc, neighbours_trn1_symmetric);
	tcase_add_test(tc, neighbours_trn2);
	tcase_add_test(tc, neighbours_trn2_is_a_torus);
	tcase_add_test(tc, neighbours_trn1_partial_machine);
	tcase_add_test(tc, neighbours_inf2_ring);
	tcase_add_test(tc, neighbours_inf2_line);
	tcase_add_test(tc, neighbours_inf2_other_machines);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
