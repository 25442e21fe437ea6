// SPDX-License-Identifier: BSD-2-Clause
/*
 * Vector, scalar and GpSimd engines: published instruction vectors, operators, fast paths against
 * general ones.
 */
#include <math.h>
#include "core_harness.h"
#include "tests/emulator/alu.h"
#include "tests/emulator/exec.h"
#include "tests/emulator/numeric.h"
#include "tests/emulator/simd.h"

#define DVE   TRN_ENGINE_DVE
#define POOL  TRN_ENGINE_POOL
#define ACT   TRN_ENGINE_ACT
#define SRC   0
#define SRC2  4096
#define DST   8192
#define EXTRA 16384

static const struct emu_round rne;

static void put_values(struct harness *h, unsigned int p, uint32_t offset, enum trn_dtype dtype,
		       const float *v, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint32_t raw = 0;

		emu_value_store(dtype, &raw, v[i], &rne);
		h_put(h, p, offset + i * emu_dtype_size(dtype), &raw, emu_dtype_size(dtype));
	}
}

static struct trn_insn *emit2(struct harness *h, enum trn_engine e, enum trn_opcode op,
			      struct trn_operand dst, struct trn_operand src)
{
	struct trn_insn *i = h_emit(h, e, op);

	i->slot[0] = dst;
	i->slot[1] = src;
	return i;
}

static struct trn_insn *emit3(struct harness *h, enum trn_engine e, enum trn_opcode op,
			      struct trn_operand dst, struct trn_operand a, struct trn_operand b)
{
	struct trn_insn *i = emit2(h, e, op, dst, a);

	i->slot[2] = b;
	return i;
}

static struct trn_operand f32(uint32_t offset, uint16_t n)
{
	return h_sbuf(0, 1, offset, TRN_DTYPE_FP32, n);
}

static void check_f32(struct harness *h, unsigned int p, uint32_t offset, const float *want,
		      unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		ck_assert_msg(h_get_u32(h, p, offset + 4 * i) == h_f32(want[i]),
			      "element %u: %g instead of %g", i, h_get_f32(h, p, offset + 4 * i),
			      want[i]);
}

/* --- C11 --- */

START_TEST(c11_bn)
{
	static const float in[] = { 1, 2, 3, 4, 5, 6 }, stats[] = { 3, 3, 8, 3, 4, 8 };
	struct harness *h = h_create(2);

	put_values(h, 0, SRC, TRN_DTYPE_FP32, in, 6);
	emit2(h, DVE, TRN_OP_BN_STATS, f32(DST, 6), f32(SRC, 6));
	emit2(h, DVE, TRN_OP_BN_AGGR, f32(EXTRA, 2), f32(DST, 6));
	h_run_ok(h);
	check_f32(h, 0, DST, stats, 6);
	ck_assert_uint_eq(h_get_u32(h, 0, EXTRA), 0x40600000);
	ck_assert_uint_eq(h_get_u32(h, 0, EXTRA + 4), 0x403aaaab);
	h_destroy(h);
}
END_TEST

START_TEST(c11_nonzero_with_count)
{
	static const float in[] = { 0, 1, 1, 0, 0, 1, 0, 0 };
	static const int32_t want[] = { 17, 18, 21, -1, -1, -1, -1, -1, 3 };
	enum trn_dtype dtype = _i ? TRN_DTYPE_INT32 : TRN_DTYPE_FP32;
	struct harness *h = h_create(3);
	struct trn_insn *i;
	unsigned int k;

	put_values(h, 0, SRC, dtype, in, 8);
	put_values(h, 16, SRC, dtype, in, 7);
	i = emit2(h, POOL, TRN_OP_NONZERO, h_sbuf(0, 32, DST, TRN_DTYPE_INT32, 9),
		  h_sbuf(0, 32, SRC, dtype, 8));
	i->c0 = 16;
	i->c1 = (uint32_t)-1;
	h_run_ok(h);
	for (k = 0; k < 9; k++) {
		ck_assert_int_eq((int32_t)h_get_u32(h, 0, DST + 4 * k), want[k]);
		ck_assert_int_eq((int32_t)h_get_u32(h, 16, DST + 4 * k), want[k]);
		ck_assert_int_eq((int32_t)h_get_u32(h, 1, DST + 4 * k), 0);
	}
	h_destroy(h);
}
END_TEST

static const float find_data[] = { 1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8 };
static const float find_vals[] = { 3, 8, 8, 8, 8, 8, 8, 8 };

START_TEST(c11_match_replace8)
{
	static const uint32_t want[] = { 2, 10, 9, 8, 7, 6, 5, 4 };
	static const float replaced[] = { 1, 2, -5, 4, -5, -5, -5, -5, -5, -5, -5 };
	struct harness *h = h_create(2);
	struct trn_insn *i;
	unsigned int k;

	put_values(h, 0, SRC, TRN_DTYPE_FP32, find_data, 11);
	put_values(h, 0, SRC2, TRN_DTYPE_FP32, find_vals, 8);
	i = emit3(h, DVE, TRN_OP_MATCH_REPLACE8, f32(DST, 11), f32(SRC, 11), f32(SRC2, 8));
	i->c0 = h_f32(-5);
	i->kinds = TRN_SCALAR_VECTOR << TRN_OPK_C1_SHIFT;
	i->c1 = h_vector(TRN_MEM_SBUF, TRN_VECTOR_INT32, 0, EXTRA);
	h_run_ok(h);
	for (k = 0; k < 8; k++)
		ck_assert_uint_eq(h_get_u32(h, 0, EXTRA + 4 * k), want[k]);
	check_f32(h, 0, DST, replaced, 11);
	h_destroy(h);
}
END_TEST

START_TEST(c11_find_index8)
{
	static const uint32_t want[] = { 2, 4, 5, 6, 7, 8, 9, 10 };
	struct harness *h = h_create(2);
	unsigned int k;

	put_values(h, 0, SRC, TRN_DTYPE_FP32, find_data, 11);
	put_values(h, 0, SRC2, TRN_DTYPE_FP32, find_vals, 8);
	emit3(h, DVE, TRN_OP_FIND_INDEX8, h_sbuf(0, 1, DST, TRN_DTYPE_UINT32, 8), f32(SRC, 11),
	      f32(SRC2, 8));
	h_run_ok(h);
	for (k = 0; k < 8; k++)
		ck_assert_uint_eq(h_get_u32(h, 0, DST + 4 * k), want[k]);
	h_destroy(h);
}
END_TEST

START_TEST(c11_find_index8_absent)
{
	static const float vals[] = { 9, 9, 1, 1, 2, 3, 4, 9 };
	static const uint32_t want[] = { 0xffff, 0xffff, 0, 0xffff, 1, 2, 3, 0xffff };
	struct harness *h = h_create(2);
	unsigned int k;

	put_values(h, 0, SRC, TRN_DTYPE_FP32, find_data, 11);
	put_values(h, 0, SRC2, TRN_DTYPE_FP32, vals, 8);
	emit3(h, DVE, TRN_OP_FIND_INDEX8, h_sbuf(0, 1, DST, TRN_DTYPE_UINT32, 8), f32(SRC, 11),
	      f32(SRC2, 8));
	emit3(h, DVE, TRN_OP_FIND_INDEX8, h_sbuf(0, 1, EXTRA, TRN_DTYPE_UINT16, 8), f32(SRC, 11),
	      f32(SRC2, 8));
	h_run_ok(h);
	ck_assert_uint_eq(h_get_u32(h, 0, DST), 0xffffffff);
	for (k = 0; k < 8; k++) {
		uint16_t got;

		h_get(h, 0, EXTRA + 2 * k, &got, 2);
		ck_assert_uint_eq(got, want[k]);
	}
	h_destroy(h);
}
END_TEST

START_TEST(c11_sequence_bounds)
{
	static const float ids[] = { 0, 1, 1, 2, 2, 2, 0, 3, 3 };
	static const float want[] = { 9, 1, 1, 3, 3, 3, 9, 7, 7, -1, 3, 3, 6, 6, 6, -1, 9, 9 };
	struct harness *h = h_create(2);
	unsigned int k;

	put_values(h, 0, SRC, TRN_DTYPE_FP32, ids, 9);
	put_values(h, 0, SRC2, TRN_DTYPE_INT32, ids, 9);
	emit2(h, POOL, TRN_OP_SEQUENCE_BOUNDS, f32(DST, 18), f32(SRC, 9));
	emit2(h, POOL, TRN_OP_SEQUENCE_BOUNDS, h_sbuf(0, 1, EXTRA, TRN_DTYPE_INT32, 18),
	      h_sbuf(0, 1, SRC2, TRN_DTYPE_INT32, 9));
	h_run_ok(h);
	check_f32(h, 0, DST, want, 18);
	for (k = 0; k < 18; k++)
		ck_assert_int_eq((int32_t)h_get_u32(h, 0, EXTRA + 4 * k), (int32_t)want[k]);
	h_destroy(h);
}
END_TEST

static void set_pattern(struct trn_insn *i, float false_value, unsigned int ndim,
			const struct trn_dim *dim)
{
	struct trn_pattern pat = { .false_value = h_f32(false_value), .ndim = ndim };

	memcpy(pat.dim, dim, ndim * sizeof(*dim));
	memcpy(&i->slot[2], &pat, sizeof(pat));
}

START_TEST(c11_iota)
{
	static const int32_t want[] = { 2100, 2101, 2102, 2110, 2111, 2112 };
	static const struct trn_dim dims[] = { { 1, 3 }, { 10, 2 } };
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, POOL, TRN_OP_IOTA);
	unsigned int k;

	i->slot[0] = h_sbuf(0, 3, DST, TRN_DTYPE_INT32, 6);
	i->c0 = 100;
	i->c1 = 1000;
	set_pattern(i, 0, 2, dims);
	i = h_emit(h, POOL, TRN_OP_IOTA);
	i->slot[0] = h_sbuf(0, 3, EXTRA, TRN_DTYPE_BF16, 6);
	i->c0 = 100;
	set_pattern(i, 0, 2, dims);
	h_run_ok(h);
	for (k = 0; k < 6; k++) {
		ck_assert_int_eq((int32_t)h_get_u32(h, 2, DST + 4 * k), want[k]);
		ck_assert(emu_value_load(TRN_DTYPE_BF16,
					 emu_core_sbuf(h->core, 2, EXTRA + 2 * k, 2)) ==
			  (float)(want[k] - 2000));
	}
	h_destroy(h);
}
END_TEST

START_TEST(c11_affine_select)
{
	static const float in[] = { 10, 11, 12, 13 }, want[] = { 10, 11, -99, -99 };
	static const struct trn_dim dims[] = { { -1, 4 } };
	struct harness *h = h_create(2);
	struct trn_insn *i;

	put_values(h, 1, SRC, TRN_DTYPE_FP32, in, 4);
	i = emit2(h, POOL, TRN_OP_AFFINE_SELECT, h_sbuf(0, 2, DST, TRN_DTYPE_FP32, 4),
		  h_sbuf(0, 2, SRC, TRN_DTYPE_FP32, 4));
	i->op0 = TRN_ALU_GE;
	i->c1 = 1;
	set_pattern(i, -99, 1, dims);
	i = emit2(h, POOL, TRN_OP_AFFINE_SELECT, h_sbuf(0, 2, EXTRA, TRN_DTYPE_BF16, 4),
		  h_sbuf(0, 2, SRC, TRN_DTYPE_FP32, 4));
	i->op0 = TRN_ALU_GE;
	i->c1 = 1;
	set_pattern(i, -99, 1, dims);
	h_run_ok(h);
	check_f32(h, 1, DST, want, 4);
	for (unsigned int k = 0; k < 4; k++)
		ck_assert(emu_value_load(TRN_DTYPE_BF16,
					 emu_core_sbuf(h->core, 1, EXTRA + 2 * k, 2)) == want[k]);
	h_destroy(h);
}
END_TEST

START_TEST(c11_scan)
{
	static const float a[] = { 2, 2, 2 }, b[] = { 1, 1, 1 }, want[] = { 3, 7, 15 };
	struct harness *h = h_create(2);
	struct trn_insn *i;

	put_values(h, 0, SRC, TRN_DTYPE_FP32, a, 3);
	put_values(h, 0, SRC2, TRN_DTYPE_FP32, b, 3);
	i = emit3(h, DVE, TRN_OP_SCAN, f32(DST, 3), f32(SRC, 3), f32(SRC2, 3));
	i->op0 = TRN_ALU_MUL;
	i->op1 = TRN_ALU_ADD;
	i->c0 = h_f32(1);
	h_run_ok(h);
	check_f32(h, 0, DST, want, 3);
	h_destroy(h);
}
END_TEST

START_TEST(c11_logical_shift)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint32_t v = 0x80000001;

	h_put(h, 0, SRC, &v, 4);
	i = emit2(h, DVE, TRN_OP_TENSOR_SCALAR, h_sbuf(0, 1, DST, TRN_DTYPE_UINT32, 1),
		  h_sbuf(0, 1, SRC, TRN_DTYPE_UINT32, 1));
	i->slot[2] = h_unused();
	i->op0 = TRN_ALU_SHR;
	i->c0 = 1;
	i = emit2(h, DVE, TRN_OP_TENSOR_SCALAR, h_sbuf(0, 1, EXTRA, TRN_DTYPE_INT32, 1),
		  h_sbuf(0, 1, SRC, TRN_DTYPE_INT32, 1));
	i->slot[2] = h_unused();
	i->op0 = TRN_ALU_SHR;
	i->c0 = 1;
	h_run_ok(h);
	ck_assert_uint_eq(h_get_u32(h, 0, DST), 0x40000000);
	ck_assert_uint_eq(h_get_u32(h, 0, EXTRA), 0x40000000);
	h_destroy(h);
}
END_TEST

START_TEST(c11_abs_max)
{
	static const float a[] = { -5, 1 }, b[] = { 3, -1 }, want[] = { -5, -1 };
	struct harness *h = h_create(4);

	put_values(h, 0, SRC, TRN_DTYPE_FP32, a, 2);
	put_values(h, 0, SRC2, TRN_DTYPE_FP32, b, 2);
	emit3(h, DVE, TRN_OP_TENSOR_TENSOR, f32(DST, 2), f32(SRC, 2), f32(SRC2, 2))->op0 =
		TRN_ALU_ABS_MAX;
	h_run_ok(h);
	check_f32(h, 0, DST, want, 2);
	h_destroy(h);
}
END_TEST

START_TEST(c11_integer_add)
{
	enum trn_engine e = _i ? POOL : DVE;
	struct harness *h = h_create(2);
	uint32_t a = 16777216, b = 1;

	h_put(h, 0, SRC, &a, 4);
	h_put(h, 0, SRC2, &b, 4);
	emit3(h, e, TRN_OP_TENSOR_TENSOR, h_sbuf(0, 1, DST, TRN_DTYPE_INT32, 1),
	      h_sbuf(0, 1, SRC, TRN_DTYPE_INT32, 1), h_sbuf(0, 1, SRC2, TRN_DTYPE_INT32, 1))
		->op0 = TRN_ALU_ADD;
	h_run_ok(h);
	ck_assert_uint_eq(h_get_u32(h, 0, DST), _i ? 16777217 : 16777216);
	h_destroy(h);
}
END_TEST

START_TEST(c11_xorwow)
{
	static const uint32_t seeds[] = { 123456789, 362436069, 521288629,
					  88675123,  5783321,	6615241 };
	static const uint32_t want[] = { 246875399, 3690007200u, 1264581005, 3906711041u };
	struct harness *h = h_create(3);
	uint32_t state[6];
	unsigned int k;

	h_put(h, 32, SRC, seeds, sizeof(seeds));
	h_emit(h, POOL, TRN_OP_RNG_SET)->slot[1] = h_sbuf(32, 1, SRC, TRN_DTYPE_UINT32, 6);
	h_emit(h, POOL, TRN_OP_RNG)->slot[0] = h_sbuf(32, 1, DST, TRN_DTYPE_UINT32, 2);
	h_emit(h, POOL, TRN_OP_RNG_GET)->slot[0] = h_sbuf(32, 1, EXTRA, TRN_DTYPE_UINT32, 6);
	h_emit(h, POOL, TRN_OP_RNG)->slot[0] = h_sbuf(32, 1, DST + 8, TRN_DTYPE_UINT16, 2);
	h_run_ok(h);
	for (k = 0; k < 2; k++) {
		uint16_t low;

		ck_assert_uint_eq(h_get_u32(h, 32, DST + 4 * k), want[k]);
		h_get(h, 32, DST + 8 + 2 * k, &low, 2);
		ck_assert_uint_eq(low, want[2 + k] & 0xffff);
	}
	h_get(h, 32, EXTRA, state, sizeof(state));
	ck_assert_uint_eq(state[5], seeds[5] + 2 * 362437);
	h_destroy(h);
}
END_TEST

/* A fully masked row: RANGE_SELECT leaves FP32_MIN everywhere; exp(x - max) is 1 from an fp32 tile
 * and 0 from a bf16 one. */
START_TEST(c11_masked_softmax)
{
	static const enum trn_dtype tile[] = { TRN_DTYPE_FP32, TRN_DTYPE_BF16 };
	struct harness *h = h_create(3);
	struct trn_insn *i;
	unsigned int k;

	for (k = 0; k < 8; k++)
		h_put_f32(h, 0, SRC + 4 * k, (float)k);
	i = emit2(h, DVE, TRN_OP_RANGE_SELECT, h_sbuf(0, 1, DST, tile[_i], 8), f32(SRC, 8));
	i->slot[2] = f32(EXTRA, 1);
	i->op0 = TRN_ALU_LT;
	i->op1 = TRN_ALU_GE;
	i->c0 = h_f32(0);
	i->kinds = TRN_REDUCE_RESET_REDUCE << TRN_OPK_REDUCE_SHIFT;
	i->reduce_op = TRN_ALU_MAX;
	i = emit2(h, DVE, TRN_OP_TENSOR_SCALAR, f32(EXTRA + 4, 1), f32(EXTRA, 1));
	i->slot[2] = h_unused();
	i->op0 = TRN_ALU_MUL;
	i->c0 = h_f32(-1);
	i->update[0] = (struct trn_sync){ .op = TRN_UPDATE_INC, .index = 1 };
	i = emit2(h, ACT, TRN_OP_ACTIVATE, h_sbuf(0, 1, SRC2, TRN_DTYPE_BF16, 8),
		  h_sbuf(0, 1, DST, tile[_i], 8));
	i->wait[0] = (struct trn_sync){ TRN_WAIT_SEM_GE, 0, 1, 1 };
	i->op0 = TRN_ACT_EXP;
	i->c0 = h_f32(1);
	i->kinds = TRN_SCALAR_VECTOR << TRN_OPK_C1_SHIFT;
	i->c1 = h_vector(TRN_MEM_SBUF, TRN_VECTOR_FP32, 0, EXTRA + 4);
	h_run_ok(h);
	ck_assert_uint_eq(h_get_u32(h, 0, EXTRA), 0xff7fffff);
	for (k = 0; k < 8; k++)
		ck_assert(emu_value_load(TRN_DTYPE_BF16, emu_core_sbuf(h->core, 0, SRC2 + 2 * k,
								       2)) == (_i ? 0 : 1));
	h_destroy(h);
}
END_TEST

/* --- C10 through the instruction and the functions --- */

static const struct {
	float amax, other;
	uint8_t fn_scale, fn_max, fn_other, bf_scale, bf_max, bf_other;
} c10[] = {
	{ 448, 1, 0x80, 0x76, 0x30, 0x79, 0x77, 0x54 },
	{ 0, 0, 0, 0, 0, 0, 0, 0 },
	{ 1, 0.5f, 0x78, 0x70, 0x68, 0x71, 0x74, 0x70 },
};

START_TEST(c10_quantize)
{
	struct harness *h = h_create(4);
	unsigned int bf8;

	/* Group 1 of the quadrant (partitions 8..15), pack 0: the maximum in its first element, the
	 * other in its last. */
	put_values(h, 8, SRC, TRN_DTYPE_BF16, &c10[_i].amax, 1);
	put_values(h, 15, SRC + 6, TRN_DTYPE_BF16, &c10[_i].other, 1);
	for (bf8 = 0; bf8 < 2; bf8++) {
		struct trn_insn *i =
			emit3(h, DVE, TRN_OP_QUANTIZE_MX,
			      h_sbuf(0, 32, DST,
				     bf8 ? TRN_DTYPE_FP8_E5M2_X4 : TRN_DTYPE_FP8_E4M3FN_X4, 2),
			      h_sbuf(0, 32, SRC, TRN_DTYPE_BF16, 8),
			      h_sbuf(0, 32, EXTRA, TRN_DTYPE_FP8_E8M0, 2));
		uint8_t got[3];

		i->c0 = 4;
		h_run_ok(h);
		h_get(h, 5, EXTRA, &got[0], 1);
		h_get(h, 8, DST, &got[1], 1);
		h_get(h, 15, DST + 3, &got[2], 1);
		ck_assert_uint_eq(got[0], bf8 ? c10[_i].bf_scale : c10[_i].fn_scale);
		ck_assert_uint_eq(got[1], bf8 ? c10[_i].bf_max : c10[_i].fn_max);
		ck_assert_uint_eq(got[2], bf8 ? c10[_i].bf_other : c10[_i].fn_other);
	}
	h_destroy(h);
}
END_TEST

START_TEST(c10_dot)
{
	static const enum trn_dtype types[] = { TRN_DTYPE_FP8_E4M3FN, TRN_DTYPE_FP8_E5M2 };
	uint8_t codes[32], scale;
	float ones[32];
	unsigned int k;

	for (k = 0; k < 32; k++)
		ones[k] = 1;
	emu_mx_quantize(types[_i], ones, false, &scale, codes);
	ck_assert_uint_eq(h_f32(emu_mx_dot(types[_i], codes, scale, codes, scale)), 0x42000000);
	emu_mx_quantize(types[_i], ones, true, &scale, codes);
	ck_assert_uint_eq(scale, _i ? 127 - 15 : 127 - 8);
}
END_TEST

/* --- fast paths --- */

static float odd_value(struct emu_xorwow *rng, uint32_t i)
{
	static const uint32_t special[] = {
		0,	    0x80000000, 1,	    0x80000001, 0x007fffff, 0x00800000,
		0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
		0x7f800001, 0x3f800000, 0xbf800000, 0x40400000,
	};

	if (i % 2 == 0)
		return emu_bits_f32(special[emu_xorwow_next(rng) % ARRAY_SIZE(special)]);
	return emu_bits_f32(emu_xorwow_next(rng));
}

/* Row loops of every instruction set against the single-value operator. */
START_TEST(row_loops)
{
	enum {
		N = 1043
	};
	static float a[N], b[N], fast[N], ref[N];
	const struct emu_simd *v;
	struct emu_xorwow rng;
	unsigned int op = (unsigned int)_i, which;
	uint32_t i;

	if (op > TRN_ALU_LNOT)
		return;
	emu_xorwow_seed(&rng, op, 0);
	for (i = 0; i < N; i++) {
		a[i] = odd_value(&rng, i);
		b[i] = i % 5 ? odd_value(&rng, i / 2) : a[i];
	}
	for (which = 0; (v = emu_simd_variant(which)); which++) {
		emu_alu_row_vv_ref(op, ref, a, b, N);
		if (v->row_vv(op, fast, a, b, N))
			ck_assert_msg(!memcmp(fast, ref, sizeof(ref)), "%s, two rows", v->name);
		for (i = 0; i < 40; i++) {
			emu_alu_row_vs_ref(op, ref, a, b[i], i & 1, N - i);
			if (v->row_vs(op, fast, a, b[i], i & 1, N - i))
				ck_assert_msg(!memcmp(fast, ref, (N - i) * sizeof(float)),
					      "%s, scalar %g", v->name, b[i]);
		}
		/* In place. */
		memcpy(fast, a, sizeof(a));
		emu_alu_row_vv_ref(op, ref, a, b, N);
		if (v->row_vv(op, fast, fast, b, N))
			ck_assert_msg(!memcmp(fast, ref, sizeof(ref)), "%s, in place", v->name);
	}
}
END_TEST

/* The same instruction on contiguous fp32 rows and on rows with a gap gives the same bits. */
static const struct {
	enum trn_opcode opcode;
	uint8_t op0, op1, opf, kind;
} paths[] = {
	{ TRN_OP_TENSOR_TENSOR, TRN_ALU_ADD, 0, 0, 0 },
	{ TRN_OP_TENSOR_TENSOR, TRN_ALU_SUB, 0, TRN_OPF_REVERSE0, 0 },
	{ TRN_OP_TENSOR_TENSOR, TRN_ALU_MAX, 0, 0, 0 },
	{ TRN_OP_TENSOR_SCALAR, TRN_ALU_MUL, TRN_ALU_ADD, 0, 0 },
	{ TRN_OP_TENSOR_SCALAR, TRN_ALU_SUB, 0, TRN_OPF_REVERSE0, 2 },
	{ TRN_OP_TENSOR_SCALAR, 0, 0, 0, 0 },
	{ TRN_OP_TENSOR_SCALAR, TRN_ALU_MAX, TRN_ALU_MUL, TRN_OPF_REVERSE1, 2 },
	{ TRN_OP_TENSOR_SCALAR, 0, 0, TRN_OPF_REVERSE0, 2 },
	{ TRN_OP_SCALAR_TENSOR_TENSOR, TRN_ALU_MUL, TRN_ALU_ADD, 0, 2 },
	{ TRN_OP_SCALAR_TENSOR_TENSOR, 0, TRN_ALU_SUB, TRN_OPF_REVERSE1, 0 },
	{ TRN_OP_RECIPROCAL, 0, 0, 0, 0 },
	{ TRN_OP_COPY, 0, 0, 0, 0 },
	{ TRN_OP_ACTIVATE, TRN_ACT_COPY, 0, 0, 0 },
	{ TRN_OP_ACTIVATE, TRN_ACT_EXP, 0, 0, 2 },
	{ TRN_OP_ACTIVATE, TRN_ACT_GELU, 0, 0, 2 },
	{ TRN_OP_ACTIVATE, TRN_ACT_RELU, 0, 0, 0 },
	{ TRN_OP_ACTIVATE, TRN_ACT_TANH, 0, 0, 0 },
	{ TRN_OP_ACTIVATE, TRN_ACT_SQUARE, 0, 0, 0 },
	{ TRN_OP_ACTIVATE, TRN_ACT_RECIPROCAL, 0, 0, 0 },
	{ TRN_OP_ACTIVATE, TRN_ACT_ABS, 0, 0, 0 },
};

static void path_insn(struct harness *h, unsigned int which, uint32_t base, int16_t step,
		      bool in_place)
{
	enum {
		P = 32,
		N = 301
	};
	struct trn_operand a = h_sbuf(0, P, base + SRC, TRN_DTYPE_FP32, N),
			   b = h_sbuf(0, P, base + SRC2, TRN_DTYPE_FP32, N);
	struct trn_operand d = h_sbuf(0, P, base + (in_place ? SRC2 : DST), TRN_DTYPE_FP32, N);
	enum trn_engine e = paths[which].opcode == TRN_OP_ACTIVATE ? ACT : DVE;
	struct trn_insn *i;

	a.dim[0].step = b.dim[0].step = d.dim[0].step = step;
	i = emit2(h, e, paths[which].opcode, d, a);
	i->op0 = paths[which].op0;
	i->op1 = paths[which].op1;
	i->opf = paths[which].opf;
	if (paths[which].opcode == TRN_OP_TENSOR_TENSOR ||
	    paths[which].opcode == TRN_OP_SCALAR_TENSOR_TENSOR)
		i->slot[2] = b;
	if (paths[which].opcode == TRN_OP_RECIPROCAL || paths[which].opcode == TRN_OP_COPY ||
	    paths[which].opcode == TRN_OP_TENSOR_TENSOR)
		return;
	i->kinds = paths[which].kind;
	i->c0 = paths[which].kind ? h_vector(TRN_MEM_SBUF, TRN_VECTOR_FP32, 0, EXTRA + 4096)
				  : h_f32(1.7f);
	if (paths[which].opcode != TRN_OP_SCALAR_TENSOR_TENSOR)
		i->c1 = h_f32(-0.3f);
}

START_TEST(contiguous_and_strided_agree)
{
	enum {
		P = 32,
		N = 301,
		FAR = 65536
	};
	struct harness *h = h_create(3);
	struct emu_xorwow rng;
	unsigned int p, n, place;

	for (place = 0; place < 2; place++) {
		emu_xorwow_seed(&rng, (uint32_t)_i, 0);
		for (p = 0; p < P; p++) {
			h_put_f32(h, p, EXTRA + 4096, odd_value(&rng, p));
			for (n = 0; n < N; n++) {
				float a = odd_value(&rng, n), b = odd_value(&rng, n + 1);

				h_put_f32(h, p, SRC + 4 * n, a);
				h_put_f32(h, p, SRC2 + 4 * n, b);
				h_put_f32(h, p, FAR + SRC + 8 * n, a);
				h_put_f32(h, p, FAR + SRC2 + 8 * n, b);
			}
		}
		path_insn(h, (unsigned int)_i, 0, 1, place);
		path_insn(h, (unsigned int)_i, FAR, 2, place);
		h_run_ok(h);
		for (p = 0; p < P; p++)
			for (n = 0; n < N; n++) {
				uint32_t at = place ? SRC2 : DST;

				ck_assert_uint_eq(h_get_u32(h, p, at + 4 * n),
						  h_get_u32(h, p, FAR + at + 8 * n));
			}
	}
	h_destroy(h);
}
END_TEST

/* Source and destination overlapping with a shift: rows are read before they are written. */
START_TEST(overlap_reads_first)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	unsigned int n;

	for (n = 0; n < 100; n++)
		h_put_f32(h, 0, SRC + 4 * n, (float)n);
	i = emit2(h, DVE, TRN_OP_TENSOR_SCALAR, f32(SRC + 4, 99), f32(SRC, 99));
	i->slot[2] = h_unused();
	i->op0 = TRN_ALU_ADD;
	i->c0 = h_f32(1000);
	h_run_ok(h);
	ck_assert(h_get_f32(h, 0, SRC) == 0);
	for (n = 1; n < 100; n++)
		ck_assert(h_get_f32(h, 0, SRC + 4 * n) == (float)(n - 1 + 1000));
	h_destroy(h);
}
END_TEST

/* --- operators and casts --- */

START_TEST(four_dimensions)
{
	struct harness *h = h_create(2);
	struct trn_operand src = f32(SRC, 2), dst = f32(DST, 24);
	unsigned int n, i3, i2, i1, i0;

	for (n = 0; n < 512; n++)
		h_put_f32(h, 0, SRC + 4 * n, (float)n);
	src.ndim = 4;
	src.dim[0] = (struct trn_dim){ 3, 2 };
	src.dim[1] = (struct trn_dim){ -1, 3 };
	src.dim[2] = (struct trn_dim){ 0, 2 };
	src.dim[3] = (struct trn_dim){ 100, 2 };
	src.where += 4 * 10;
	emit2(h, DVE, TRN_OP_COPY, dst, src);
	h_run_ok(h);
	for (n = 0, i3 = 0; i3 < 2; i3++)
		for (i2 = 0; i2 < 2; i2++)
			for (i1 = 0; i1 < 3; i1++)
				for (i0 = 0; i0 < 2; i0++, n++)
					ck_assert(h_get_f32(h, 0, DST + 4 * n) ==
						  (float)(10 + 3 * i0 - i1 + 100 * i3));
	h_destroy(h);
}
END_TEST

START_TEST(offset_register)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	h_put_f32(h, 0, SRC + 128, 5);
	h->run.args[7] = 128;
	i = emit2(h, DVE, TRN_OP_COPY, f32(DST, 1), f32(SRC, 1));
	i->slot[1].where |= TRN_OPERAND_REG;
	i->misc = 7;
	h_run_ok(h);
	ck_assert(h_get_f32(h, 0, DST) == 5);
	h->run.args[7] = (uint32_t)-4;
	i = emit2(h, DVE, TRN_OP_COPY, f32(DST, 1), f32(SRC, 1));
	i->slot[1].where |= TRN_OPERAND_REG;
	i->misc = 7;
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

START_TEST(copy_is_bit_exact)
{
	static const struct {
		enum trn_engine e;
		unsigned int generation;
		bool exact;
	} rows[] = { { DVE, 2, true }, { POOL, 2, true }, { ACT, 2, false }, { ACT, 3, true } };
	struct harness *h = h_create(rows[_i].generation);
	int32_t v = 16777217;

	h_put(h, 0, SRC, &v, 4);
	emit2(h, rows[_i].e, TRN_OP_COPY, h_sbuf(0, 1, DST, TRN_DTYPE_INT32, 1),
	      h_sbuf(0, 1, SRC, TRN_DTYPE_INT32, 1));
	h_run_ok(h);
	ck_assert_uint_eq(h_get_u32(h, 0, DST), rows[_i].exact ? 16777217 : 16777216);
	h_destroy(h);
}
END_TEST

START_TEST(copy_casts)
{
	static const float in[] = { 1.5f, -2.5f, 300, 0.1f };
	static const int8_t want[] = { 2, -2, 127, 0 };
	struct harness *h = h_create(2);
	int8_t got[4];

	put_values(h, 0, SRC, TRN_DTYPE_BF16, in, 4);
	emit2(h, DVE, TRN_OP_COPY, h_sbuf(0, 1, DST, TRN_DTYPE_INT8, 4),
	      h_sbuf(0, 1, SRC, TRN_DTYPE_BF16, 4));
	h_run_ok(h);
	h_get(h, 0, DST, got, 4);
	ck_assert_mem_eq(got, want, 4);
	h_destroy(h);
}
END_TEST

START_TEST(psum_to_sbuf)
{
	struct harness *h = h_create(2);
	float f = 7.5f;

	memcpy(emu_core_psum(h->core, 64, 12, 4), &f, 4);
	emit2(h, ACT, TRN_OP_COPY, h_sbuf(0, 1, DST, TRN_DTYPE_FP32, 1),
	      h_psum(64, 1, 12, TRN_DTYPE_FP32, 1));
	h_run_ok(h);
	ck_assert(h_get_f32(h, 0, DST) == 7.5f);
	h_destroy(h);
}
END_TEST

START_TEST(memset_types)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, DVE, TRN_OP_MEMSET);
	int16_t v;

	i->slot[0] = h_sbuf(96, 32, DST, TRN_DTYPE_INT16, 10);
	i->c0 = h_f32(-7);
	i = h_emit(h, POOL, TRN_OP_MEMSET);
	i->slot[0] = h_sbuf(0, 128, EXTRA, TRN_DTYPE_FP32, 3);
	i->c0 = 0x7fc12345;
	h_run_ok(h);
	h_get(h, 127, DST + 18, &v, 2);
	ck_assert_int_eq(v, -7);
	ck_assert_uint_eq(h_get_u32(h, 127, EXTRA + 8), 0x7fc12345);
	h_destroy(h);
}
END_TEST

START_TEST(bit_operators)
{
	static const struct {
		enum trn_alu op;
		uint16_t a;
		uint32_t c;
		uint16_t r;
	} rows[] = {
		{ TRN_ALU_AND, 0xff0f, 0x0ff0, 0x0f00 },
		{ TRN_ALU_OR, 0xf000, 0x000f, 0xf00f },
		{ TRN_ALU_XOR, 0xffff, 0x0ff0, 0xf00f },
		{ TRN_ALU_NOT, 0x00ff, 0, 0xff00 },
		{ TRN_ALU_SHL, 0xc001, 1, 0x8002 },
		{ TRN_ALU_SHR, 0x8001, 1, 0x4000 },
		{ TRN_ALU_SHL, 1, 16, 0 },
		{ TRN_ALU_SHR, 0xffff, 16, 0 },
	};
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint16_t got;

	h_put(h, 0, SRC, &rows[_i].a, 2);
	i = emit2(h, DVE, TRN_OP_TENSOR_SCALAR, h_sbuf(0, 1, DST, TRN_DTYPE_INT16, 1),
		  h_sbuf(0, 1, SRC, TRN_DTYPE_INT16, 1));
	i->slot[2] = h_unused();
	i->op0 = (uint8_t)rows[_i].op;
	i->c0 = rows[_i].c;
	h_run_ok(h);
	h_get(h, 0, DST, &got, 2);
	ck_assert_uint_eq(got, rows[_i].r);
	h_destroy(h);
}
END_TEST

START_TEST(pool_exact_scalar)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	int32_t v = -2000000001;

	h_put(h, 0, SRC, &v, 4);
	i = emit2(h, POOL, TRN_OP_TENSOR_SCALAR, h_sbuf(0, 1, DST, TRN_DTYPE_INT32, 1),
		  h_sbuf(0, 1, SRC, TRN_DTYPE_INT32, 1));
	i->slot[2] = h_unused();
	i->op0 = TRN_ALU_MUL;
	i->op1 = TRN_ALU_MAX;
	i->c0 = 3;
	i->c1 = (uint32_t)-2000000000;
	h_run_ok(h);
	/* 3 * -2000000001 + 2 * 2^32 = 2589934589, which is negative as a signed number. */
	ck_assert_int_eq((int32_t)h_get_u32(h, 0, DST), -1705032707);
	h_destroy(h);
}
END_TEST

START_TEST(pool_power_and_rsqrt)
{
	static const float in[] = { 2, 3, 4 };
	struct harness *h = h_create(2);
	struct trn_insn *i;

	put_values(h, 0, SRC, TRN_DTYPE_FP32, in, 3);
	i = emit2(h, POOL, TRN_OP_TENSOR_SCALAR, f32(DST, 3), f32(SRC, 3));
	i->slot[2] = h_unused();
	i->op0 = TRN_ALU_POW;
	i->op1 = TRN_ALU_RSQRT;
	i->c0 = h_f32(2);
	h_run_ok(h);
	ck_assert(h_get_f32(h, 0, DST) == 0.5f);
	ck_assert(h_get_f32(h, 0, DST + 4) == (float)(1.0 / 3));
	i = emit2(h, DVE, TRN_OP_TENSOR_SCALAR, f32(DST, 3), f32(SRC, 3));
	i->slot[2] = h_unused();
	i->op0 = TRN_ALU_POW;
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

/* --- reductions --- */

static const struct {
	enum trn_alu op;
	bool negate;
	float out[2];
} reductions[] = {
	{ TRN_ALU_ADD, false, { 6, 15 } },  { TRN_ALU_ADD, true, { -6, -15 } },
	{ TRN_ALU_SUB, false, { -4, -7 } }, { TRN_ALU_MUL, false, { 6, 120 } },
	{ TRN_ALU_MAX, true, { -3, -6 } },  { TRN_ALU_MIN, false, { 1, 4 } },
	{ TRN_ALU_LAND, false, { 1, 1 } },  { TRN_ALU_LOR, false, { 1, 1 } },
	{ TRN_ALU_LXOR, false, { 1, 1 } },
};

START_TEST(tensor_reduce)
{
	struct harness *h = h_create(2);
	struct trn_operand src = h_sbuf(32, 4, SRC, TRN_DTYPE_FP32, 3);
	struct trn_insn *i;
	unsigned int p, n;

	for (p = 32; p < 36; p++)
		for (n = 0; n < 6; n++)
			h_put_f32(h, p, SRC + 4 * n, (float)(n + 1));
	src.ndim = 2;
	src.dim[1] = (struct trn_dim){ 3, 2 };
	i = emit2(h, DVE, TRN_OP_TENSOR_REDUCE, h_sbuf(0, 4, DST, TRN_DTYPE_FP32, 2), src);
	i->reduce_op = (uint8_t)reductions[_i].op;
	i->opf = reductions[_i].negate ? TRN_OPF_NEGATE : 0;
	i = emit2(h, DVE, TRN_OP_TENSOR_REDUCE, h_sbuf(0, 4, EXTRA, TRN_DTYPE_FP32, 1), src);
	i->reduce_op = TRN_ALU_ADD;
	i->opf = 1 << TRN_OPF_RDIMS_SHIFT;
	h_run_ok(h);
	for (p = 0; p < 4; p++) {
		check_f32(h, p, DST, reductions[_i].out, 2);
		ck_assert(h_get_f32(h, p, EXTRA) == 21);
	}
	h_destroy(h);
}
END_TEST

START_TEST(tensor_reduce_bits)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint8_t in[] = { 0xf1, 0x33, 0x15 }, got;

	h_put(h, 0, SRC, in, 3);
	i = emit2(h, DVE, TRN_OP_TENSOR_REDUCE, h_sbuf(0, 1, DST, TRN_DTYPE_UINT8, 1),
		  h_sbuf(0, 1, SRC, TRN_DTYPE_UINT8, 3));
	i->reduce_op = TRN_ALU_XOR;
	h_run_ok(h);
	h_get(h, 0, DST, &got, 1);
	ck_assert_uint_eq(got, 0xf1 ^ 0x33 ^ 0x15);
	h_destroy(h);
}
END_TEST

/* Rows too long to be reduced in groups, from a type that needs a conversion. */
START_TEST(tensor_reduce_long_rows)
{
	enum {
		P = 9,
		N = 9000
	};
	struct harness *h = h_create(2);
	unsigned int p, n;

	for (p = 0; p < P; p++)
		for (n = 0; n < N; n++) {
			uint16_t v = (uint16_t)(h_f32((float)((n + p) % 7)) >> 16);

			h_put(h, p, 32768 + 2 * n, &v, 2);
		}
	emit2(h, DVE, TRN_OP_TENSOR_REDUCE, h_sbuf(0, P, DST, TRN_DTYPE_FP32, 1),
	      h_sbuf(0, P, 32768, TRN_DTYPE_BF16, N))
		->reduce_op = TRN_ALU_ADD;
	h_run_ok(h);
	for (p = 0; p < P; p++) {
		float want = 0;

		for (n = 0; n < N; n++)
			want += (float)((n + p) % 7);
		ck_assert(h_get_f32(h, p, DST) == want);
	}
	h_destroy(h);
}
END_TEST

START_TEST(psum_element_limit)
{
	struct harness *h = h_create(2);

	emit2(h, DVE, TRN_OP_TENSOR_REDUCE, f32(DST, 1), h_psum(0, 1, 0, TRN_DTYPE_BF16, 4096))
		->reduce_op = TRN_ALU_ADD;
	h_run_ok(h);
	emit2(h, DVE, TRN_OP_TENSOR_REDUCE, f32(DST, 1), h_psum(0, 1, 0, TRN_DTYPE_BF16, 4097))
		->reduce_op = TRN_ALU_ADD;
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

/* Sums are in iteration order: this order gives 1, the opposite one 0. */
START_TEST(sums_are_in_order)
{
	static const float in[] = { 0x1p25f, -0x1p25f, 1, 0 };
	struct harness *h = h_create(2);
	struct trn_operand reversed = f32(SRC + 12, 4);

	put_values(h, 0, SRC, TRN_DTYPE_FP32, in, 4);
	emit2(h, DVE, TRN_OP_TENSOR_REDUCE, f32(DST, 1), f32(SRC, 4))->reduce_op = TRN_ALU_ADD;
	reversed.dim[0].step = -1;
	emit2(h, DVE, TRN_OP_TENSOR_REDUCE, f32(DST + 4, 1), reversed)->reduce_op = TRN_ALU_ADD;
	h_run_ok(h);
	ck_assert(h_get_f32(h, 0, DST) == 1);
	ck_assert(h_get_f32(h, 0, DST + 4) == 0);
	h_destroy(h);
}
END_TEST

static struct trn_insn *scalar_reduce(struct harness *h, unsigned int cmd, enum trn_alu rop,
				      uint32_t result)
{
	struct trn_insn *i = emit2(h, DVE, TRN_OP_TENSOR_SCALAR, f32(DST, 3), f32(SRC, 3));

	i->op0 = TRN_ALU_MUL;
	i->c0 = h_f32(2);
	i->reduce_op = (uint8_t)(cmd >= TRN_REDUCE_REDUCE ? rop : 0);
	i->kinds = (uint8_t)(cmd << TRN_OPK_REDUCE_SHIFT);
	i->slot[2] = result ? f32(result, 1) : h_unused();
	return i;
}

START_TEST(accumulator_commands)
{
	static const float in[] = { 1, 2, 3 };
	struct harness *h = h_create(2);
	struct trn_insn *i;
	float f = 100;

	put_values(h, 0, SRC, TRN_DTYPE_FP32, in, 3);
	scalar_reduce(h, TRN_REDUCE_RESET_REDUCE, TRN_ALU_ADD, 0);
	scalar_reduce(h, TRN_REDUCE_IDLE, TRN_ALU_ADD, 0);
	scalar_reduce(h, TRN_REDUCE_REDUCE, TRN_ALU_ADD, EXTRA)->opf = TRN_OPF_NEGATE;
	i = h_emit(h, DVE, TRN_OP_ACC_READ);
	i->slot[0] = h_sbuf(0, 1, EXTRA + 4, TRN_DTYPE_BF16, 1);
	i = scalar_reduce(h, TRN_REDUCE_LOAD_REDUCE, TRN_ALU_ADD, EXTRA + 8);
	memcpy(&i->slot[2].dim[3], &f, 4);
	scalar_reduce(h, TRN_REDUCE_RESET, TRN_ALU_ADD, 0);
	i = h_emit(h, DVE, TRN_OP_ACC_READ);
	i->slot[0] = f32(EXTRA + 12, 1);
	scalar_reduce(h, TRN_REDUCE_RESET_REDUCE, TRN_ALU_MIN, EXTRA + 16);
	h_run_ok(h);
	ck_assert(h_get_f32(h, 0, EXTRA) == -24);
	ck_assert(emu_value_load(TRN_DTYPE_BF16, emu_core_sbuf(h->core, 0, EXTRA + 4, 2)) == 24);
	ck_assert(h_get_f32(h, 0, EXTRA + 8) == 112);
	ck_assert(h_get_f32(h, 0, EXTRA + 12) == 0);
	ck_assert(h_get_f32(h, 0, EXTRA + 16) == 2);
	h_destroy(h);
}
END_TEST

START_TEST(activation_reduces_before_the_cast)
{
	static const float in[] = { 1.00390625f, 1.00390625f };
	struct harness *h = h_create(2);
	struct trn_insn *i;

	put_values(h, 64, SRC, TRN_DTYPE_FP32, in, 2);
	i = emit2(h, ACT, TRN_OP_ACTIVATE, h_sbuf(64, 1, DST, TRN_DTYPE_FP8_E4M3, 2),
		  h_sbuf(64, 1, SRC, TRN_DTYPE_FP32, 2));
	i->c0 = h_f32(1);
	i->reduce_op = TRN_ALU_ADD;
	i->kinds = TRN_REDUCE_RESET_REDUCE << TRN_OPK_REDUCE_SHIFT;
	h_emit(h, ACT, TRN_OP_ACC_READ)->slot[0] = h_sbuf(64, 1, EXTRA, TRN_DTYPE_FP32, 1);
	h_run_ok(h);
	ck_assert(h_get_f32(h, 64, EXTRA) == 2.0078125f);
	h_destroy(h);
}
END_TEST

START_TEST(partition_reduce)
{
	static const enum trn_alu ops[] = { TRN_ALU_ADD, TRN_ALU_MAX, TRN_ALU_AND, TRN_ALU_OR };
	struct harness *h = h_create(2);
	uint32_t want = 0;
	struct trn_insn *i;
	unsigned int p;

	for (p = 0; p < 128; p++) {
		uint32_t v = 16777217 + p;

		h_put(h, p, SRC, &v, 4);
		h_put_f32(h, p, SRC2, (float)p);
		if (ops[_i] == TRN_ALU_ADD)
			want += v;
		else if (ops[_i] == TRN_ALU_MAX)
			want = v;
		else if (ops[_i] == TRN_ALU_AND)
			want = p ? want & v : v;
		else
			want |= v;
	}
	i = emit2(h, POOL, TRN_OP_PARTITION_REDUCE, h_sbuf(0, 1, DST, TRN_DTYPE_INT32, 1),
		  h_sbuf(0, 128, SRC, TRN_DTYPE_INT32, 1));
	i->reduce_op = (uint8_t)ops[_i];
	i = emit2(h, POOL, TRN_OP_PARTITION_REDUCE, f32(EXTRA, 1),
		  h_sbuf(0, 128, SRC2, TRN_DTYPE_FP32, 1));
	i->reduce_op = TRN_ALU_ADD;
	h_run_ok(h);
	ck_assert_uint_eq(h_get_u32(h, 0, DST), want);
	ck_assert(h_get_f32(h, 0, EXTRA) == 8128);
	h_destroy(h);
}
END_TEST

/* --- selection, moves, search --- */

START_TEST(copy_predicated)
{
	static const uint8_t pred[] = { 0, 1, 255, 0 };
	struct harness *h = h_create(2);
	struct trn_insn *i;
	unsigned int n, reverse = (unsigned int)_i & 1, scalar = (unsigned int)_i >> 1;

	h_put(h, 0, EXTRA, pred, 4);
	for (n = 0; n < 4; n++) {
		h_put_f32(h, 0, SRC + 4 * n, (float)(n + 10));
		h_put_f32(h, 0, DST + 4 * n, (float)n);
	}
	i = emit3(h, DVE, TRN_OP_COPY_PREDICATED, f32(DST, 4), scalar ? h_unused() : f32(SRC, 4),
		  h_sbuf(0, 1, EXTRA, TRN_DTYPE_UINT8, 4));
	i->opf = reverse ? TRN_OPF_REVERSE0 : 0;
	if (scalar)
		i->c0 = h_f32(-1);
	h_run_ok(h);
	for (n = 0; n < 4; n++) {
		float taken = scalar ? -1 : (float)(n + 10);

		ck_assert(h_get_f32(h, 0, DST + 4 * n) ==
			  ((pred[n] != 0) != reverse ? taken : (float)n));
	}
	h_destroy(h);
}
END_TEST

START_TEST(select_reduce)
{
	static const float in[] = { 5, 9, 7 };
	static const uint16_t pred[] = { 1, 0, 3 };
	static const float want[] = { 5, -1, 7 };
	struct harness *h = h_create(2);
	struct trn_insn *i;

	put_values(h, 0, SRC, TRN_DTYPE_FP32, in, 3);
	h_put(h, 0, SRC2, pred, sizeof(pred));
	i = emit3(h, DVE, TRN_OP_SELECT_REDUCE, f32(DST, 3), f32(SRC, 3),
		  h_sbuf(0, 1, SRC2, TRN_DTYPE_UINT16, 3));
	i->c0 = h_f32(-1);
	i->reduce_op = TRN_ALU_MAX;
	i->kinds = TRN_REDUCE_RESET_REDUCE << TRN_OPK_REDUCE_SHIFT;
	h_emit(h, DVE, TRN_OP_ACC_READ)->slot[0] = f32(EXTRA, 1);
	h_run_ok(h);
	check_f32(h, 0, DST, want, 3);
	ck_assert(h_get_f32(h, 0, EXTRA) == 7);
	h_destroy(h);
}
END_TEST

START_TEST(range_select_start)
{
	struct harness *h = h_create(3);
	struct trn_insn *i;
	float start = 10;
	unsigned int n;

	for (n = 0; n < 6; n++)
		h_put_f32(h, 0, SRC + 4 * n, (float)n);
	i = emit2(h, DVE, TRN_OP_RANGE_SELECT, f32(DST, 6), f32(SRC, 6));
	i->slot[2] = h_unused();
	memcpy(&i->slot[2].dim[3], &start, 4);
	i->op0 = TRN_ALU_GE;
	i->op1 = TRN_ALU_LT;
	i->c0 = h_f32(12);
	i->c1 = h_f32(14);
	h_run_ok(h);
	for (n = 0; n < 6; n++)
		ck_assert_uint_eq(h_get_u32(h, 0, DST + 4 * n),
				  n == 2 || n == 3 ? h_f32((float)n) : 0xff7fffff);
	h_destroy(h);
}
END_TEST

START_TEST(max8)
{
	static const float in[] = { 3, 1, NAN, 4, 1, 5, 9, 2, 6, 5, 3 },
			   want[] = { 9, 6, 5, 5, 4, 3, 3, 2 };
	struct harness *h = h_create(2);

	put_values(h, 0, SRC, TRN_DTYPE_FP32, in, 11);
	emit2(h, DVE, TRN_OP_MAX8, f32(DST, 8), f32(SRC, 11));
	h_run_ok(h);
	check_f32(h, 0, DST, want, 8);
	h_destroy(h);
}
END_TEST

START_TEST(transpose32_shapes)
{
	static const struct {
		uint8_t p;
		uint16_t f;
	} shape[] = { { 32, 32 }, { 5, 17 }, { 128, 64 } };
	unsigned int P = shape[_i].p, F = shape[_i].f, p, f;
	bool small = P <= 32 && F <= 32;
	struct harness *h = h_create(2);

	for (p = 0; p < P; p++)
		for (f = 0; f < F; f++) {
			uint16_t v = (uint16_t)(p * 1000 + f);

			h_put(h, p, SRC + 2 * f, &v, 2);
		}
	emit2(h, DVE, TRN_OP_TRANSPOSE32,
	      h_sbuf(0, small ? F : P, DST, TRN_DTYPE_BF16, (uint16_t)(small ? P : F)),
	      h_sbuf(0, P, SRC, TRN_DTYPE_BF16, (uint16_t)F));
	h_run_ok(h);
	for (p = 0; p < P; p++)
		for (f = 0; f < F; f++) {
			unsigned int dp = small ? f : p - p % 32 + f % 32,
				     df = small ? p : f - f % 32 + p % 32;
			uint16_t v;

			h_get(h, dp, DST + 2 * df, &v, 2);
			ck_assert_uint_eq(v, (uint16_t)(p * 1000 + f));
		}
	h_destroy(h);
}
END_TEST

START_TEST(shuffle32)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint8_t mask[32];
	unsigned int p;

	for (p = 0; p < 64; p++)
		h_put_f32(h, p, SRC, (float)p);
	for (p = 0; p < 32; p++)
		mask[p] = (uint8_t)(31 - p);
	mask[3] = 255;
	i = emit2(h, DVE, TRN_OP_SHUFFLE32, h_sbuf(0, 64, SRC, TRN_DTYPE_FP32, 1),
		  h_sbuf(0, 64, SRC, TRN_DTYPE_FP32, 1));
	memcpy(&i->slot[2], mask, 24);
	memcpy(&i->c0, mask + 24, 4);
	memcpy(&i->c1, mask + 28, 4);
	h_run_ok(h);
	for (p = 0; p < 64; p++)
		ck_assert(h_get_f32(h, p, SRC) ==
			  (float)(p % 32 == 3 ? p : p - p % 32 + 31 - p % 32));
	i = emit2(h, DVE, TRN_OP_SHUFFLE32, h_sbuf(0, 64, SRC, TRN_DTYPE_FP32, 1),
		  h_sbuf(0, 64, SRC, TRN_DTYPE_FP32, 1));
	i->slot[2].partition = 32;
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

START_TEST(n_gather)
{
	static const uint32_t index[] = { 4, 0, 0, 3 };
	struct harness *h = h_create(2);
	unsigned int n;
	uint32_t bad = 5;

	for (n = 0; n < 5; n++)
		h_put_f32(h, 0, SRC + 4 * n, (float)n * 10);
	h_put(h, 0, SRC2, index, sizeof(index));
	emit3(h, POOL, TRN_OP_N_GATHER, f32(DST, 4), f32(SRC, 5),
	      h_sbuf(0, 1, SRC2, TRN_DTYPE_UINT32, 4));
	h_run_ok(h);
	for (n = 0; n < 4; n++)
		ck_assert(h_get_f32(h, 0, DST + 4 * n) == (float)index[n] * 10);
	h_put(h, 0, SRC2 + 12, &bad, 4);
	emit3(h, POOL, TRN_OP_N_GATHER, f32(EXTRA, 4), f32(SRC, 5),
	      h_sbuf(0, 1, SRC2, TRN_DTYPE_UINT32, 4));
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	ck_assert_uint_eq(h_get_u32(h, 0, EXTRA), 0);
	h_destroy(h);
}
END_TEST

/* --- random numbers and modes --- */

START_TEST(rng_seed_repeats)
{
	struct harness *h = h_create(2);
	uint32_t seed = 1234, a[4], b[4], c[4];
	unsigned int k;

	h_put(h, 0, SRC, &seed, 4);
	for (k = 0; k < 2; k++) {
		h_emit(h, DVE, TRN_OP_RNG_SEED)->slot[1] = h_sbuf(0, 1, SRC, TRN_DTYPE_UINT32, 1);
		h_emit(h, DVE, TRN_OP_RNG)->slot[0] =
			h_sbuf(0, 2, DST + 64 * k, TRN_DTYPE_UINT32, 4);
	}
	h_run_ok(h);
	h_get(h, 0, DST, a, 16);
	h_get(h, 0, DST + 64, b, 16);
	h_get(h, 1, DST, c, 16);
	ck_assert_mem_eq(a, b, 16);
	ck_assert(memcmp(a, c, 16));
	h_destroy(h);
}
END_TEST

START_TEST(dropout_rate)
{
	static const float probability[] = { 0, 0.25f, 1 };
	struct harness *h = h_create(2);
	struct trn_insn *i;
	unsigned int p, n, dropped = 0;

	i = h_emit(h, DVE, TRN_OP_MEMSET);
	i->slot[0] = h_sbuf(0, 128, SRC, TRN_DTYPE_BF16, 512);
	i->c0 = h_f32(3);
	i = emit2(h, DVE, TRN_OP_DROPOUT, h_sbuf(0, 128, DST, TRN_DTYPE_BF16, 512),
		  h_sbuf(0, 128, SRC, TRN_DTYPE_BF16, 512));
	i->c0 = h_f32(probability[_i]);
	h_run_ok(h);
	for (p = 0; p < 128; p++)
		for (n = 0; n < 512; n++) {
			float f = emu_value_load(TRN_DTYPE_BF16,
						 emu_core_sbuf(h->core, p, DST + 2 * n, 2));

			ck_assert(f == 0 || f == 3);
			dropped += f == 0;
		}
	ck_assert(fabs(dropped / 65536.0 - (double)probability[_i]) < 0.01);
	h_destroy(h);
}
END_TEST

/* A draw of exactly one half is not below one half. */
START_TEST(dropout_boundary)
{
	struct harness *h = h_create(4);
	struct trn_insn *i;
	uint32_t state[24] = { 0 };
	unsigned int k;

	for (k = 0; k < 4; k++)
		state[6 * k + 5] = 0x80000000u - 362437 -
				   k; /* d, such that d + 362437 is the draw; x and v are 0 */
	h_put(h, 0, EXTRA, state, sizeof(state));
	for (k = 0; k < 4; k++)
		h_put_f32(h, 0, SRC + 4 * k, 5);
	h_emit(h, DVE, TRN_OP_RNG_SET)->slot[1] = h_sbuf(0, 1, EXTRA, TRN_DTYPE_UINT32, 24);
	i = emit2(h, DVE, TRN_OP_DROPOUT, f32(DST, 2), f32(SRC, 2));
	i->c0 = h_f32(0.5f);
	h_run_ok(h);
	ck_assert(h_get_f32(h, 0, DST) == 5);
	ck_assert(h_get_f32(h, 0, DST + 4) == 0);
	h_destroy(h);
}
END_TEST

/* Modes and accumulators do not outlive a run. */
START_TEST(runs_start_fresh)
{
	static const uint32_t modes[] = { TRN_MODE_FLUSH_SUBNORMAL, TRN_MODE_STOCHASTIC,
					  TRN_MODE_CHECK_NAN };
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint32_t tiny = 1;
	unsigned int n;

	i = h_emit(h, DVE, TRN_OP_SET_MODE);
	i->c0 = i->c1 = modes[_i];
	h_put_f32(h, 0, SRC, 3);
	scalar_reduce(h, TRN_REDUCE_RESET_REDUCE, TRN_ALU_ADD, 0);
	h_run_ok(h);
	for (n = 0; n < 64; n++)
		h_put_f32(h, 0, SRC2 + 4 * n, 1.0009765625f);
	h_put(h, 0, SRC, &tiny, 4);
	h_put_f32(h, 0, SRC + 4, INFINITY);
	i = emit2(h, DVE, TRN_OP_TENSOR_SCALAR, f32(DST, 2), f32(SRC, 2));
	i->slot[2] = h_unused();
	i->op0 = TRN_ALU_MUL;
	i->c0 = h_f32(1);
	emit2(h, DVE, TRN_OP_COPY, h_sbuf(0, 1, EXTRA, TRN_DTYPE_BF16, 64), f32(SRC2, 64));
	h_emit(h, DVE, TRN_OP_ACC_READ)->slot[0] = f32(DST + 64, 1);
	h_run_ok(h);
	ck_assert_uint_eq(h_get_u32(h, 0, DST), 1);
	ck_assert(h_get_f32(h, 0, DST + 64) == 0);
	for (n = 0; n < 64; n++)
		ck_assert(emu_value_load(TRN_DTYPE_BF16,
					 emu_core_sbuf(h->core, 0, EXTRA + 2 * n, 2)) == 1);
	h_destroy(h);
}
END_TEST

/* The mean of many stochastic roundings is the value; the seed decides the bits. */
START_TEST(stochastic_mode)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	unsigned int n;
	double sum = 0;

	i = h_emit(h, DVE, TRN_OP_MEMSET);
	i->slot[0] = f32(SRC, 4000);
	i->c0 = 0x3f804000;
	i = h_emit(h, DVE, TRN_OP_SET_MODE);
	i->c0 = TRN_MODE_SEED;
	i->c1 = 99;
	i = h_emit(h, DVE, TRN_OP_SET_MODE);
	i->c0 = TRN_MODE_STOCHASTIC;
	i->c1 = TRN_MODE_STOCHASTIC;
	emit2(h, DVE, TRN_OP_COPY, h_sbuf(0, 1, 32768, TRN_DTYPE_BF16, 4000), f32(SRC, 4000));
	i = h_emit(h, DVE, TRN_OP_SET_MODE);
	i->c0 = TRN_MODE_STOCHASTIC;
	emit2(h, DVE, TRN_OP_COPY, h_sbuf(0, 1, 65536, TRN_DTYPE_BF16, 1), f32(SRC, 1));
	h_run_ok(h);
	for (n = 0; n < 4000; n++)
		sum += (double)emu_value_load(TRN_DTYPE_BF16,
					      emu_core_sbuf(h->core, 0, 32768 + 2 * n, 2)) -
		       1;
	ck_assert(fabs(sum / 4000 / 0x1p-9 - 1) < 0.1);
	ck_assert(emu_value_load(TRN_DTYPE_BF16, emu_core_sbuf(h->core, 0, 65536, 2)) == 1);
	h_destroy(h);
}
END_TEST

START_TEST(flush_mode)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint32_t tiny = 0x80000001;

	h_put(h, 0, SRC, &tiny, 4);
	i = h_emit(h, DVE, TRN_OP_SET_MODE);
	i->c0 = i->c1 = TRN_MODE_FLUSH_SUBNORMAL;
	i = emit2(h, DVE, TRN_OP_TENSOR_SCALAR, f32(DST, 1), f32(SRC, 1));
	i->slot[2] = h_unused();
	i->op0 = TRN_ALU_MUL;
	i->c0 = h_f32(0x1p100f);
	h_run_ok(h);
	ck_assert_uint_eq(h_get_u32(h, 0, DST), 0x80000000);
	h_destroy(h);
}
END_TEST

START_TEST(nan_check)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	h_put_f32(h, 3, SRC, _i == 2 ? 1 : 0);
	i = emit2(h, DVE, TRN_OP_RECIPROCAL, h_sbuf(0, 4, DST, TRN_DTYPE_FP32, 1),
		  h_sbuf(0, 4, SRC, TRN_DTYPE_FP32, 1));
	if (_i == 0)
		i->flags = TRN_INSN_CHECK_NAN;
	if (_i == 1) {
		h->count[DVE] = 0;
		i = h_emit(h, DVE, TRN_OP_SET_MODE);
		i->c0 = i->c1 = TRN_MODE_CHECK_NAN;
		emit2(h, DVE, TRN_OP_RECIPROCAL, h_sbuf(0, 4, DST, TRN_DTYPE_FP32, 1),
		      h_sbuf(0, 4, SRC, TRN_DTYPE_FP32, 1));
	}
	ck_assert_int_eq(h_run(h), _i == 2 ? TRN_FAULT_NONE : TRN_FAULT_NAN);
	h_destroy(h);
}
END_TEST

START_TEST(saturating_cast)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint8_t got[2];

	h_put_f32(h, 0, SRC, 1000);
	emit2(h, DVE, TRN_OP_COPY, h_sbuf(0, 1, DST, TRN_DTYPE_FP8_E4M3, 1), f32(SRC, 1));
	i = emit2(h, DVE, TRN_OP_COPY, h_sbuf(0, 1, DST + 1, TRN_DTYPE_FP8_E4M3, 1), f32(SRC, 1));
	i->flags = TRN_INSN_SATURATE;
	h_run_ok(h);
	h_get(h, 0, DST, got, 2);
	ck_assert_uint_eq(got[0], 0x78);
	ck_assert_uint_eq(got[1], 0x77);
	h_destroy(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core vector engines");

	H_TEST(s, c11_bn);
	H_LOOP(s, c11_nonzero_with_count, 2);
	H_TEST(s, c11_match_replace8);
	H_TEST(s, c11_find_index8);
	H_TEST(s, c11_find_index8_absent);
	H_TEST(s, c11_sequence_bounds);
	H_TEST(s, c11_iota);
	H_TEST(s, c11_affine_select);
	H_TEST(s, c11_scan);
	H_TEST(s, c11_logical_shift);
	H_TEST(s, c11_abs_max);
	H_LOOP(s, c11_integer_add, 2);
	H_TEST(s, c11_xorwow);
	H_LOOP(s, c11_masked_softmax, 2);
	H_LOOP(s, c10_quantize, ARRAY_SIZE(c10));
	H_LOOP(s, c10_dot, 2);
	H_LOOP(s, row_loops, TRN_ALU_LNOT + 1);
	H_LOOP(s, contiguous_and_strided_agree, ARRAY_SIZE(paths));
	H_TEST(s, overlap_reads_first);
	H_TEST(s, four_dimensions);
	H_TEST(s, offset_register);
	H_LOOP(s, copy_is_bit_exact, 4);
	H_TEST(s, copy_casts);
	H_TEST(s, psum_to_sbuf);
	H_TEST(s, memset_types);
	H_LOOP(s, bit_operators, 8);
	H_TEST(s, pool_exact_scalar);
	H_TEST(s, pool_power_and_rsqrt);
	H_LOOP(s, tensor_reduce, ARRAY_SIZE(reductions));
	H_TEST(s, tensor_reduce_bits);
	H_TEST(s, tensor_reduce_long_rows);
	H_TEST(s, psum_element_limit);
	H_TEST(s, sums_are_in_order);
	H_TEST(s, accumulator_commands);
	H_TEST(s, activation_reduces_before_the_cast);
	H_LOOP(s, partition_reduce, 4);
	H_LOOP(s, copy_predicated, 4);
	H_TEST(s, select_reduce);
	H_TEST(s, range_select_start);
	H_TEST(s, max8);
	H_LOOP(s, transpose32_shapes, 3);
	H_TEST(s, shuffle32);
	H_TEST(s, n_gather);
	H_TEST(s, rng_seed_repeats);
	H_LOOP(s, dropout_rate, 3);
	H_TEST(s, dropout_boundary);
	H_LOOP(s, runs_start_fresh, 3);
	H_TEST(s, stochastic_mode);
	H_TEST(s, flush_mode);
	H_LOOP(s, nan_check, 3);
	H_TEST(s, saturating_cast);
	return h_main(s);
}
