// SPDX-License-Identifier: BSD-2-Clause
/*
 * Descriptor encoding, the checker of what a transfer may touch, and rings that are written once.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/hw_stub.h"

#define RD TRN_ACCESS_READ
#define WR TRN_ACCESS_WRITE
#define RW (RD | WR)

static const struct trnhw_range table[] = {
	{ 0x1000, 0x1000, RW },
	{ 0x2000, 0x1000, RD }, /* touches the first */
	{ 0x8000, 0x100, WR },
	{ 0xfffffffffffff000ull, 0x1000, RW }, /* ends with the address space */
};

static int check(u64 src, u64 dst, u32 len, u64 *bad)
{
	const struct trnhw_xfer xfer = { .src = src, .dst = dst, .len = len };

	return trnhw_xfer_check(&xfer, table, 4, bad);
}

START_TEST(desc_words_documented)
{
	static const struct {
		u32 len, flags, ring_id, tx, rx, meta;
	} cases[] = {
		{ 4, 0, 1, 0x0d000004, 0x01000004, 0x01080003 },
		{ 65536, 0, 1, 0x0d000000, 0x01000000, 0x01080003 },
		{ 4096, TRNHW_XFER_BARRIER, 1, 0x0d001000, 0x01001000, 0x05080003 },
		{ 4, TRNHW_XFER_INTERRUPT, 1, 0x1d000004, 0x01000004, 0x01080003 },
		{ 1, 0, 2, 0x0e000001, 0x02000001, 0x01080003 },
		{ 65535, 0, 3, 0x0f00ffff, 0x0300ffff, 0x01080003 },
		{ 4, 0, 4, 0x0c000004, 0x00000004, 0x01080003 },
		{ 4, 0, 0xfffffffd, 0x0d000004, 0x01000004, 0x01080003 },
	};
	const struct trnhw_xfer xfer = {
		.src = 0x1000123456789abcull,
		.dst = 0x0fffc2700004ull,
		.len = cases[_i].len,
		.flags = cases[_i].flags,
	};
	struct trn_desc m2s, s2m;

	memset(&m2s, 0xff, sizeof(m2s));
	memset(&s2m, 0xff, sizeof(s2m));
	trnhw_desc_encode(&xfer, cases[_i].ring_id, &m2s, &s2m);
	ck_assert_uint_eq(m2s.ctrl, cases[_i].tx);
	ck_assert_uint_eq(m2s.meta, cases[_i].meta);
	ck_assert_uint_eq(m2s.addr, xfer.src);
	ck_assert_uint_eq(s2m.ctrl, cases[_i].rx);
	ck_assert_uint_eq(s2m.meta, 0);
	ck_assert_uint_eq(s2m.addr, xfer.dst);
}
END_TEST

START_TEST(check_inside)
{
	ck_assert_int_eq(check(0x1000, 0x1800, 0x800, NULL), 0);
	ck_assert_int_eq(check(0x2000, 0x8000, 0x100, NULL), 0);
	ck_assert_int_eq(check(0x2fff, 0x80ff, 1, NULL), 0);
}
END_TEST

START_TEST(check_exact_ends)
{
	ck_assert_int_eq(check(0x1000, 0x1000, 0x1000, NULL), 0);
	ck_assert_int_eq(check(0x2f00, 0x8000, 0x100, NULL), 0);
	ck_assert_int_eq(check(0x2f01, 0x8000, 0x100, NULL), -EACCES);
	ck_assert_int_eq(check(0x2000, 0x8001, 0x100, NULL), -EACCES);
}
END_TEST

START_TEST(check_one_before)
{
	u64 bad = 0;

	ck_assert_int_eq(check(0xfff, 0x1000, 1, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0xfff);
	ck_assert_int_eq(check(0x1000, 0x7fff, 2, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0x7fff);
}
END_TEST

START_TEST(check_one_behind)
{
	u64 bad = 0;

	ck_assert_int_eq(check(0x2fff, 0x1000, 2, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0x3000);
	ck_assert_int_eq(check(0x1000, 0x80ff, 2, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0x8100);
}
END_TEST

START_TEST(check_gap)
{
	u64 bad = 0;

	ck_assert_int_eq(check(0x4000, 0x1000, 1, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0x4000);
	ck_assert_int_eq(check(0, 0x1000, 1, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0);
}
END_TEST

START_TEST(check_spans_touching_ranges)
{
	u64 bad = 0;

	ck_assert_int_eq(check(0x1800, 0x1000, 0x1000, NULL), 0);
	/* The second of them may not be written. */
	ck_assert_int_eq(check(0x1000, 0x1fff, 2, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0x2000);
	/* 0x1000 to 0x3000, then a gap. */
	ck_assert_int_eq(check(0x1000, 0x1000, 0x2001, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0x3000);
}
END_TEST

START_TEST(check_access)
{
	u64 bad = 0;

	ck_assert_int_eq(check(0x8000, 0x1000, 4, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0x8000);
	ck_assert_int_eq(check(0x1000, 0x2000, 4, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0x2000);
}
END_TEST

START_TEST(check_overlapping_transfer)
{
	ck_assert_int_eq(check(0x1000, 0x1001, 0x100, NULL), 0);
	ck_assert_int_eq(check(0x1000, 0x1000, 0x100, NULL), 0);
}
END_TEST

START_TEST(check_end_of_address_space)
{
	u64 bad = 0;

	ck_assert_int_eq(check(~0ull, 0x1000, 1, NULL), 0);
	ck_assert_int_eq(check(0xfffffffffffff000ull, 0x1000, 0x1000, NULL), 0);
	ck_assert_int_eq(check(~0ull, 0x1000, 2, &bad), -EACCES);
	ck_assert_uint_eq(bad, ~0ull);
	ck_assert_int_eq(check(0x1000, 0xfffffffffffff001ull, 0x1000, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0xfffffffffffff001ull);
}
END_TEST

/* A range whose size runs over 2^64 must not let a transfer wrap to address 0. */
START_TEST(check_range_size_overflow)
{
	static const struct trnhw_range huge[] = { { 0x1000, ~0ull, RW } };
	const struct trnhw_xfer wraps = { .src = ~0ull, .dst = 0x1000, .len = 2 };
	const struct trnhw_xfer below = { .src = 0xffc, .dst = 0x1000, .len = 4 };
	const struct trnhw_xfer fits = { .src = ~0ull, .dst = 0x1000, .len = 1 };

	ck_assert_int_eq(trnhw_xfer_check(&wraps, huge, 1, NULL), -EACCES);
	ck_assert_int_eq(trnhw_xfer_check(&below, huge, 1, NULL), -EACCES);
	ck_assert_int_eq(trnhw_xfer_check(&fits, huge, 1, NULL), 0);
}
END_TEST

START_TEST(check_length)
{
	ck_assert_int_eq(check(0x1000, 0x1000, 0, NULL), -EINVAL);
	ck_assert_int_eq(check(0x1000, 0x1000, 65537, NULL), -EINVAL);
	ck_assert_int_eq(check(0x1000, 0x1000, ~0u, NULL), -EINVAL);
}
END_TEST

START_TEST(check_length_largest)
{
	static const struct trnhw_range range[] = { { 0x10000, 0x10000, RW } };
	const struct trnhw_xfer xfer = { .src = 0x10000, .dst = 0x10000, .len = 65536 };

	ck_assert_int_eq(trnhw_xfer_check(&xfer, range, 1, NULL), 0);
}
END_TEST

START_TEST(check_flags)
{
	struct trnhw_xfer xfer = { .src = 0x1000, .dst = 0x1000, .len = 4 };
	u32 bit;

	for (bit = 0; bit < 32; bit++) {
		xfer.flags = 1u << bit;
		ck_assert_int_eq(trnhw_xfer_check(&xfer, table, 4, NULL), bit < 2 ? 0 : -EINVAL);
	}
}
END_TEST

START_TEST(check_no_ranges)
{
	const struct trnhw_xfer xfer = { .src = 0, .dst = 0, .len = 1 };
	u64 bad = 1;

	ck_assert_int_eq(trnhw_xfer_check(&xfer, NULL, 0, &bad), -EACCES);
	ck_assert_uint_eq(bad, 0);
}
END_TEST

START_TEST(check_empty_range)
{
	static const struct trnhw_range empty[] = { { 0x1000, 0, RW }, { 0x2000, 4, RW } };
	const struct trnhw_xfer xfer = { .src = 0x1000, .dst = 0x2000, .len = 1 };

	ck_assert_int_eq(trnhw_xfer_check(&xfer, empty, 2, NULL), -EACCES);
}
END_TEST

/* Any table, any transfer: what is allowed is inside some readable or writable byte for byte. */
START_TEST(check_unsorted_never_allows_more)
{
	unsigned int round, i, seed = 7 + _i;

	for (round = 0; round < 2000; round++) {
		struct trnhw_range ranges[6];
		bool readable[512] = { false }, writable[512] = { false };
		struct trnhw_xfer xfer = { 0 };
		u32 k;

		for (i = 0; i < 6; i++) {
			ranges[i].base = rand_r(&seed) % 256;
			ranges[i].size = rand_r(&seed) % 64;
			ranges[i].access = rand_r(&seed) % 4;
			for (k = 0; k < ranges[i].size; k++) {
				readable[ranges[i].base + k] |= ranges[i].access & RD;
				writable[ranges[i].base + k] |= !!(ranges[i].access & WR);
			}
		}
		xfer.src = rand_r(&seed) % 300;
		xfer.dst = rand_r(&seed) % 300;
		xfer.len = 1 + rand_r(&seed) % 32;
		if (trnhw_xfer_check(&xfer, ranges, 6, NULL))
			continue;
		for (k = 0; k < xfer.len; k++)
			ck_assert(readable[xfer.src + k] && writable[xfer.dst + k]);
	}
}
END_TEST

/* With a proper table the checker is exact, not only safe. */
START_TEST(check_sorted_is_exact)
{
	unsigned int round, seed = 99 + _i;

	for (round = 0; round < 2000; round++) {
		struct trnhw_range ranges[4];
		bool readable[512] = { false }, writable[512] = { false }, allowed = true;
		struct trnhw_xfer xfer = { 0 };
		u32 i, k, at = 0;

		for (i = 0; i < 4; i++) {
			at += rand_r(&seed) % 3 ? rand_r(&seed) % 32 : 0;
			ranges[i].base = at;
			ranges[i].size = 1 + rand_r(&seed) % 63;
			ranges[i].access = rand_r(&seed) % 4;
			for (k = 0; k < ranges[i].size; k++, at++) {
				readable[at] = ranges[i].access & RD;
				writable[at] = !!(ranges[i].access & WR);
			}
		}
		xfer.src = rand_r(&seed) % 400;
		xfer.dst = rand_r(&seed) % 400;
		xfer.len = 1 + rand_r(&seed) % 100;
		for (k = 0; k < xfer.len; k++)
			allowed = allowed && readable[xfer.src + k] && writable[xfer.dst + k];
		ck_assert_int_eq(trnhw_xfer_check(&xfer, ranges, 4, NULL), allowed ? 0 : -EACCES);
	}
}
END_TEST

START_TEST(ring_count_rules)
{
	static const u32 cases[][2] = {
		{ 0, 0 },	 { 1, 32 },	    { 31, 32 }, { 32, 48 },
		{ 47, 48 },	 { 48, 64 },	    { 63, 64 }, { 0xffffef, 0xfffff0 },
		{ 0xfffff0, 0 }, { 0xffffffff, 0 },
	};

	ck_assert_uint_eq(trnhw_ring_count(cases[_i][0]), cases[_i][1]);
}
END_TEST

#define PAD 0x2000ull

static void fill(u32 count, struct trn_desc m2s[48], struct trn_desc s2m[48])
{
	struct trnhw_xfer xfers[40];
	u32 i;

	for (i = 0; i < count; i++) {
		xfers[i].src = 0x1000 + i;
		xfers[i].dst = 0x1800 + i;
		xfers[i].len = 1 + i;
		xfers[i].flags = i == count - 1 ? TRNHW_XFER_BARRIER : 0;
	}
	trnhw_ring_fill(xfers, count, PAD, m2s, s2m, trnhw_ring_count(count));
}

START_TEST(ring_fill_content)
{
	struct trn_desc m2s[48], s2m[48];
	u32 i;

	fill(40, m2s, s2m);
	for (i = 0; i < 40; i++) {
		ck_assert_uint_eq(m2s[i].ctrl, 0x0d000000 + i + 1);
		ck_assert_uint_eq(m2s[i].meta, i == 39 ? 0x05080003 : 0x01080003);
		ck_assert_uint_eq(m2s[i].addr, 0x1000 + i);
		ck_assert_uint_eq(s2m[i].ctrl, 0x01000000 + i + 1);
		ck_assert_uint_eq(s2m[i].addr, 0x1800 + i);
	}
	for (; i < 48; i++) {
		ck_assert_uint_eq(m2s[i].ctrl, 0x0d000004);
		ck_assert_uint_eq(m2s[i].meta, 0x01080003);
		ck_assert_uint_eq(m2s[i].addr, PAD);
		ck_assert_uint_eq(s2m[i].addr, PAD + 4);
	}
}
END_TEST

static const struct trnhw_range ring_ranges[] = {
	{ 0x1000, 0x1000, RW },
	{ PAD, 8, RW },
};

START_TEST(ring_check_accepts_filled)
{
	struct trn_desc m2s[48], s2m[48];

	fill(40, m2s, s2m);
	ck_assert_int_eq(trnhw_ring_check(m2s, s2m, 48, ring_ranges, 2, NULL, NULL), 0);
	ck_assert_int_eq(trnhw_ring_check(m2s, s2m, 0, NULL, 0, NULL, NULL), 0);
}
END_TEST

START_TEST(ring_check_names_the_bad_one)
{
	struct trn_desc m2s[48], s2m[48];
	u32 index = 0;
	u64 bad = 0;

	fill(40, m2s, s2m);
	s2m[17].addr = 0x5000;
	ck_assert_int_eq(trnhw_ring_check(m2s, s2m, 48, ring_ranges, 2, &index, &bad), -EACCES);
	ck_assert_uint_eq(index, 17);
	ck_assert_uint_eq(bad, 0x5000);
}
END_TEST

START_TEST(ring_check_refuses_padding_outside)
{
	struct trn_desc m2s[48], s2m[48];
	u32 index = 0;

	fill(40, m2s, s2m);
	ck_assert_int_eq(trnhw_ring_check(m2s, s2m, 48, ring_ranges, 1, &index, NULL), -EACCES);
	ck_assert_uint_eq(index, 40);
}
END_TEST

/* Each bit of the control words alone. */
START_TEST(ring_check_bits)
{
	u32 legal_ctrl = TRN_DESC_LEN_MASK | TRN_DESC_RING_ID_MASK, bit;
	struct trn_desc m2s[48], s2m[48];

	fill(40, m2s, s2m);
	for (bit = 0; bit < 32; bit++) {
		u32 mask = 1u << bit;
		struct trn_desc tx = m2s[3], rx = s2m[3];

		/* One side only: lengths or ring ids differ, or a bit is wrong. */
		tx.ctrl ^= mask;
		ck_assert_int_eq(trnhw_ring_check(&tx, &rx, 1, ring_ranges, 2, NULL, NULL),
				 mask == TRN_DESC_INT ? 0 : -EINVAL);
		rx.ctrl ^= mask;
		if (mask == TRN_DESC_INT || !(mask & legal_ctrl))
			ck_assert_int_eq(trnhw_ring_check(&tx, &rx, 1, ring_ranges, 2, NULL, NULL),
					 -EINVAL);
		tx = m2s[3];
		tx.meta ^= mask;
		ck_assert_int_eq(trnhw_ring_check(&tx, &s2m[3], 1, ring_ranges, 2, NULL, NULL),
				 mask == TRN_META_WRITE_BARRIER ? 0 : -EINVAL);
		rx = s2m[3];
		rx.meta ^= mask;
		ck_assert_int_eq(trnhw_ring_check(&m2s[3], &rx, 1, ring_ranges, 2, NULL, NULL),
				 -EINVAL);
	}
}
END_TEST

/* Length 0 is 64 KiB for the device, so it must be for the checker. */
START_TEST(ring_check_length_zero_is_64k)
{
	static const struct trnhw_range small[] = { { 0x10000, 0xffff, RW } };
	static const struct trnhw_range enough[] = { { 0x10000, 0x10000, RW } };
	const struct trnhw_xfer xfer = { .src = 0x10000, .dst = 0x10000, .len = 65536 };
	struct trn_desc m2s, s2m;

	trnhw_desc_encode(&xfer, 1, &m2s, &s2m);
	ck_assert_int_eq(trnhw_ring_check(&m2s, &s2m, 1, small, 1, NULL, NULL), -EACCES);
	ck_assert_int_eq(trnhw_ring_check(&m2s, &s2m, 1, enough, 1, NULL, NULL), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hw_check");
	TCase *tc = tcase_create("check");

	tcase_add_loop_test(tc, desc_words_documented, 0, 8);
	tcase_add_test(tc, check_inside);
	tcase_add_test(tc, check_exact_ends);
	tcase_add_test(tc, check_one_before);
	tcase_add_test(tc, check_one_behind);
	tcase_add_test(tc, check_gap);
	tcase_add_test(tc, check_spans_touching_ranges);
	tcase_add_test(tc, check_access);
	tcase_add_test(tc, check_overlapping_transfer);
	tcase_add_test(tc, check_end_of_address_space);
	tcase_add_test(tc, check_range_size_overflow);
	tcase_add_test(tc, check_length);
	tcase_add_test(tc, check_length_largest);
	tcase_add_test(tc, check_flags);
	tcase_add_test(tc, check_no_ranges);
	tcase_add_test(tc, check_empty_range);
	tcase_add_loop_test(tc, check_unsorted_never_allows_more, 0, 4);
	tcase_add_loop_test(tc, check_sorted_is_exact, 0, 4);
	tcase_add_loop_test(tc, ring_count_rules, 0, 10);
	tcase_add_test(tc, ring_fill_content);
	tcase_add_test(tc, ring_check_accepts_filled);
	tcase_add_test(tc, ring_check_names_the_bad_one);
	tcase_add_test(tc, ring_check_refuses_padding_outside);
	tcase_add_test(tc, ring_check_bits);
	tcase_add_test(tc, ring_check_length_zero_is_64k);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
