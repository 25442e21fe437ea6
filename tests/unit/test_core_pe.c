// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tensor engine: published vectors, every input type and shape against a plain loop, vector
 * variants, limits.
 */
#include <math.h>
#include "core_harness.h"
#include "tests/emulator/numeric.h"
#include "tests/emulator/simd.h"

#define W_OFFSET 0
#define X_OFFSET 8192
#define PE	 TRN_ENGINE_PE

static struct trn_insn *ldweights(struct harness *h, struct trn_operand src)
{
	struct trn_insn *i = h_emit(h, PE, TRN_OP_LDWEIGHTS);

	i->slot[1] = src;
	return i;
}

static struct trn_insn *matmul(struct harness *h, struct trn_operand dst, struct trn_operand src,
			       unsigned int opf)
{
	struct trn_insn *i = h_emit(h, PE, TRN_OP_MATMUL);

	i->slot[0] = dst;
	i->slot[1] = src;
	i->opf = (uint8_t)opf;
	return i;
}

static const struct emu_round rne;

static void put_value(struct harness *h, unsigned int p, uint32_t offset, enum trn_dtype dtype,
		      float f)
{
	uint32_t raw = 0;

	emu_value_store(dtype, &raw, f, &rne);
	h_put(h, p, offset, &raw, emu_dtype_size(dtype));
}

/* One matmul of K products a[k] * b[k] into PSUM element 0, bf16 inputs. */
static void dot(struct harness *h, unsigned int k, float a, float b, unsigned int slot,
		enum trn_dtype psum, bool accumulate)
{
	unsigned int p;

	for (p = 0; p < k; p++) {
		put_value(h, p, W_OFFSET + 64 * slot, TRN_DTYPE_BF16, a);
		put_value(h, p, X_OFFSET + 64 * slot, TRN_DTYPE_BF16, b);
	}
	ldweights(h, h_sbuf(0, k, W_OFFSET + 64 * slot, TRN_DTYPE_BF16, 1));
	matmul(h, h_psum(0, 1, 0, psum, 1), h_sbuf(0, k, X_OFFSET + 64 * slot, TRN_DTYPE_BF16, 1),
	       accumulate ? TRN_OPF_ACCUMULATE : 0);
}

/* C8 */
START_TEST(c8_lost_ones)
{
	struct harness *h = h_create(2);

	dot(h, 1, 4096, 4096, 0, TRN_DTYPE_FP32, false);
	dot(h, 1, 1, 1, 1, TRN_DTYPE_FP32, true);
	dot(h, 1, 1, 1, 2, TRN_DTYPE_FP32, true);
	h_run_ok(h);
	ck_assert_uint_eq(h_psum_u32(h, 0, 0), 0x4b800000);
	h_destroy(h);
}
END_TEST

START_TEST(c8_kept_two)
{
	struct harness *h = h_create(2);

	dot(h, 1, 4096, 4096, 0, TRN_DTYPE_FP32, false);
	dot(h, 2, 1, 1, 1, TRN_DTYPE_FP32, true);
	h_run_ok(h);
	ck_assert_uint_eq(h_psum_u32(h, 0, 0), 0x4b800001);
	h_destroy(h);
}
END_TEST

static const struct {
	float first, second;
	uint32_t fp32;
	uint16_t bf16;
} c8[] = {
	{ 256, 1, 0x43808000, 0x4380 },
	{ 256, 3, 0x43818000, 0x4382 },
	{ 1, -1, 0x00000000, 0x0000 },
};

START_TEST(c8_accumulate_fp32)
{
	struct harness *h = h_create(3);

	dot(h, 1, c8[_i].first, 1, 0, TRN_DTYPE_FP32, false);
	dot(h, 1, c8[_i].second, 1, 1, TRN_DTYPE_FP32, true);
	h_run_ok(h);
	ck_assert_uint_eq(h_psum_u32(h, 0, 0), c8[_i].fp32);
	h_destroy(h);
}
END_TEST

START_TEST(c8_accumulate_bf16)
{
	struct harness *h = h_create(4);

	dot(h, 1, c8[_i].first, 1, 0, TRN_DTYPE_BF16, false);
	dot(h, 1, c8[_i].second, 1, 1, TRN_DTYPE_BF16, true);
	h_run_ok(h);
	ck_assert_uint_eq(h_psum_u32(h, 0, 0) & 0xffff, c8[_i].bf16);
	h_destroy(h);
}
END_TEST

/* C9: x * x with x = 1 + 2^-12 */
static const struct {
	enum trn_dtype dtype;
	uint32_t out;
} c9[] = {
	{ TRN_DTYPE_FP32, 0x3f801000 }, { TRN_DTYPE_FP32R, 0x3f801000 },
	{ TRN_DTYPE_TF32, 0x3f800000 }, { TRN_DTYPE_BF16, 0x3f800000 },
	{ TRN_DTYPE_FP16, 0x3f800000 },
};

START_TEST(c9_input_precision)
{
	struct harness *h = h_create(2);
	float x = emu_bits_f32(0x3f800800);

	/* The fp32 pattern is put in memory unrounded for 4-byte types: PE rounds a tf32 operand
	 * itself. */
	if (emu_dtype_size(c9[_i].dtype) == 4) {
		h_put_f32(h, 0, W_OFFSET, x);
		h_put_f32(h, 0, X_OFFSET, x);
	} else {
		put_value(h, 0, W_OFFSET, c9[_i].dtype, x);
		put_value(h, 0, X_OFFSET, c9[_i].dtype, x);
	}
	ldweights(h, h_sbuf(0, 1, W_OFFSET, c9[_i].dtype, 1));
	matmul(h, h_psum(0, 1, 0, TRN_DTYPE_FP32, 1), h_sbuf(0, 1, X_OFFSET, c9[_i].dtype, 1), 0);
	h_run_ok(h);
	ck_assert_uint_eq(h_psum_u32(h, 0, 0), c9[_i].out);
	h_destroy(h);
}
END_TEST

#define T_K 32
#define T_M 16

/* A tile of distinct values, one replaced by @bits, and the identity. */
static void transpose_tile(struct harness *h, uint32_t bits)
{
	unsigned int k, m;

	for (k = 0; k < T_K; k++) {
		for (m = 0; m < T_M; m++)
			h_put_f32(h, k, W_OFFSET + 4 * m, (float)(k * 100 + m));
		for (m = 0; m < T_K; m++)
			h_put_f32(h, k, X_OFFSET + 4 * m, k == m);
	}
	h_put(h, 5, W_OFFSET + 4 * 3, &bits, 4);
	ldweights(h, h_sbuf(0, T_K, W_OFFSET, TRN_DTYPE_FP32, T_M));
}

START_TEST(c9_transpose_moves_bits)
{
	struct harness *h = h_create(3);
	unsigned int k, m;

	transpose_tile(h, 0x7fc12345);
	matmul(h, h_psum(0, T_M, 0, TRN_DTYPE_FP32, T_K),
	       h_sbuf(0, T_K, X_OFFSET, TRN_DTYPE_FP32, T_K), TRN_OPF_TRANSPOSE);
	h_run_ok(h);
	for (k = 0; k < T_K; k++)
		for (m = 0; m < T_M; m++)
			ck_assert_uint_eq(h_psum_u32(h, m, 4 * k),
					  k == 5 && m == 3 ? 0x7fc12345
							   : h_f32((float)(k * 100 + m)));
	h_destroy(h);
}
END_TEST

START_TEST(c9_transpose_v2_spreads_nan)
{
	struct harness *h = h_create(2);
	unsigned int k, m;

	transpose_tile(h, 0x7fc12345);
	matmul(h, h_psum(0, T_M, 0, TRN_DTYPE_FP32, T_K),
	       h_sbuf(0, T_K, X_OFFSET, TRN_DTYPE_FP32, T_K), 0);
	h_run_ok(h);
	for (k = 0; k < T_K; k++)
		for (m = 0; m < T_M; m++)
			ck_assert_uint_eq(h_psum_u32(h, m, 4 * k),
					  m == 3 ? EMU_NAN_BITS : h_f32((float)(k * 100 + m)));
	h_destroy(h);
}
END_TEST

START_TEST(c9_transpose_v2_infinity)
{
	struct harness *h = h_create(2);
	unsigned int k;

	transpose_tile(h, 0x7f800000);
	matmul(h, h_psum(0, T_M, 0, TRN_DTYPE_FP32, T_K),
	       h_sbuf(0, T_K, X_OFFSET, TRN_DTYPE_FP32, T_K), 0);
	h_run_ok(h);
	for (k = 0; k < T_K; k++)
		ck_assert_uint_eq(h_psum_u32(h, 3, 4 * k), k == 5 ? 0x7f800000 : EMU_NAN_BITS);
	h_destroy(h);
}
END_TEST

static const enum trn_dtype transposable[] = {
	TRN_DTYPE_BF16, TRN_DTYPE_FP16, TRN_DTYPE_FP8_E3M4, TRN_DTYPE_FP8_E4M3, TRN_DTYPE_FP8_E5M2,
};

/* Every code, NaN payloads included; 8-bit types arrive with a zero upper byte. */
START_TEST(transpose_every_code)
{
	struct harness *h = h_create(3);
	enum trn_dtype dtype = transposable[_i];
	unsigned int size = emu_dtype_size(dtype), k, m, round;
	uint16_t step = size == 1 ? 2 : 515;

	for (k = 0; k < 128; k++)
		for (m = 0; m < 128; m++)
			put_value(h, k, X_OFFSET + size * m, dtype, k == m);
	for (round = 0; round < 2; round++) {
		for (k = 0; k < 128; k++)
			for (m = 0; m < 128; m++) {
				uint16_t code = (uint16_t)((k * 128 + m) * step / 2 + round * 7919);

				h_put(h, k, W_OFFSET + size * m, &code, size);
			}
		ldweights(h, h_sbuf(0, 128, W_OFFSET, dtype, 128));
		matmul(h, h_psum(0, 128, 0, size == 1 ? TRN_DTYPE_UINT16 : dtype, 128),
		       h_sbuf(0, 128, X_OFFSET, dtype, 128), TRN_OPF_TRANSPOSE);
		h_run_ok(h);
		for (k = 0; k < 128; k++)
			for (m = 0; m < 128; m++) {
				uint16_t want = (uint16_t)((k * 128 + m) * step / 2 + round * 7919),
					 got;

				if (size == 1)
					want &= 0xff;
				memcpy(&got, emu_core_psum(h->core, m, 2 * k, 2), 2);
				ck_assert_uint_eq(got, want);
			}
	}
	h_destroy(h);
}
END_TEST

/* Shapes and types against a plain loop over the contract's order. */
static const struct shape {
	enum trn_dtype ws, xs;
	uint16_t k, m, n;
	bool accumulate;
	int16_t xstep; /* elements between columns of the moving operand */
	int16_t dstep;
} shapes[] = {
	{ TRN_DTYPE_FP32, TRN_DTYPE_FP32, 128, 128, 512, false, 1, 1 },
	{ TRN_DTYPE_FP32, TRN_DTYPE_FP32, 128, 128, 512, true, 1, 1 },
	{ TRN_DTYPE_FP32, TRN_DTYPE_FP32, 1, 1, 1, true, 1, 1 },
	{ TRN_DTYPE_FP32, TRN_DTYPE_FP32, 37, 29, 101, false, 1, 1 },
	{ TRN_DTYPE_FP32, TRN_DTYPE_FP32, 37, 29, 101, true, 1, 1 },
	{ TRN_DTYPE_FP32, TRN_DTYPE_FP32, 100, 9, 33, false, 2, 1 },
	{ TRN_DTYPE_FP32, TRN_DTYPE_FP32, 100, 9, 33, true, -1, 3 },
	{ TRN_DTYPE_FP32, TRN_DTYPE_TF32, 64, 64, 64, false, 1, 1 },
	{ TRN_DTYPE_BF16, TRN_DTYPE_BF16, 128, 128, 512, true, 1, 1 },
	{ TRN_DTYPE_BF16, TRN_DTYPE_FP16, 65, 31, 77, false, 1, 1 },
	{ TRN_DTYPE_FP16, TRN_DTYPE_BF16, 33, 128, 32, false, 3, 2 },
	{ TRN_DTYPE_FP8_E4M3, TRN_DTYPE_FP8_E5M2, 128, 127, 63, false, 1, 1 },
	{ TRN_DTYPE_FP8_E3M4, TRN_DTYPE_FP16, 96, 24, 40, true, 1, 1 },
};

static float element(struct harness *h, unsigned int p, uint32_t offset, enum trn_dtype dtype)
{
	float f = emu_value_load(dtype, emu_core_sbuf(h->core, p, offset, emu_dtype_size(dtype)));
	uint32_t out;

	if (dtype != TRN_DTYPE_TF32)
		return f;
	emu_value_store(TRN_DTYPE_TF32, &out, f, &rne);
	return emu_bits_f32(out);
}

static void fill(struct harness *h, struct emu_xorwow *rng, unsigned int parts, uint32_t offset,
		 uint32_t n, enum trn_dtype dtype)
{
	unsigned int p;
	uint32_t i;

	for (p = 0; p < parts; p++)
		for (i = 0; i < n; i++) {
			float f = (float)(int32_t)emu_xorwow_next(rng) * 0x1p-31f;

			put_value(h, p, offset + i * emu_dtype_size(dtype), dtype, f);
		}
}

START_TEST(against_plain_loop)
{
	const struct shape *s = &shapes[_i];
	struct harness *h = h_create(2);
	unsigned int wsize = emu_dtype_size(s->ws), xsize = emu_dtype_size(s->xs), k, m, n;
	unsigned int span = (unsigned int)(s->xstep < 0 ? -s->xstep : s->xstep) * s->n;
	uint32_t xbase = X_OFFSET + (s->xstep < 0 ? (uint32_t)(s->n - 1) * xsize : 0);
	struct trn_operand dst = h_psum(0, s->m, 2048, TRN_DTYPE_FP32, s->n);
	struct trn_operand src = h_sbuf(0, s->k, xbase, s->xs, s->n);
	float *old = calloc(128 * 512, sizeof(float));
	struct emu_xorwow rng;

	emu_xorwow_seed(&rng, (uint32_t)_i, 0);
	fill(h, &rng, s->k, W_OFFSET, s->m, s->ws);
	fill(h, &rng, s->k, X_OFFSET, span, s->xs);
	for (m = 0; m < s->m; m++)
		for (n = 0; n < s->n; n++) {
			old[m * 512 + n] = (float)(int32_t)emu_xorwow_next(&rng) * 0x1p-29f;
			memcpy(emu_core_psum(h->core, m, 2048 + 4 * n * (uint32_t)s->dstep, 4),
			       &old[m * 512 + n], 4);
		}
	src.dim[0].step = s->xstep;
	dst.dim[0].step = s->dstep;
	ldweights(h, h_sbuf(0, s->k, W_OFFSET, s->ws, s->m));
	matmul(h, dst, src, s->accumulate ? TRN_OPF_ACCUMULATE : 0);
	h_run_ok(h);
	for (m = 0; m < s->m; m++)
		for (n = 0; n < s->n; n++) {
			volatile float sum = 0;
			uint32_t at =
				(uint32_t)((int32_t)xbase + (int32_t)n * s->xstep * (int32_t)xsize);

			for (k = 0; k < s->k; k++) {
				volatile float product =
					element(h, k, W_OFFSET + m * wsize, s->ws) *
					element(h, k, at, s->xs);

				sum = sum + product;
			}
			if (s->accumulate)
				sum = old[m * 512 + n] + sum;
			ck_assert_uint_eq(h_psum_u32(h, m, 2048 + 4 * n * (uint32_t)s->dstep),
					  h_f32(sum));
		}
	free(old);
	h_destroy(h);
}
END_TEST

/* Every instruction set this machine has gives the same tile, NaN and Inf included. */
START_TEST(variants_agree)
{
	float a[100 * EMU_TILE_ROWS], b[100 * EMU_TILE_COLS];
	float c[EMU_TILE_ROWS * EMU_TILE_COLS], want[EMU_TILE_ROWS * EMU_TILE_COLS],
		start[EMU_TILE_ROWS * EMU_TILE_COLS];
	const struct emu_simd *v;
	struct emu_xorwow rng;
	unsigned int i, k, m, n, which;

	emu_xorwow_seed(&rng, 3, 0);
	for (i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = (float)(int32_t)emu_xorwow_next(&rng) * 0x1p-31f;
	for (i = 0; i < ARRAY_SIZE(b); i++)
		b[i] = (float)(int32_t)emu_xorwow_next(&rng) * 0x1p-31f;
	for (i = 0; i < ARRAY_SIZE(start); i++)
		start[i] = (float)(int32_t)emu_xorwow_next(&rng) * 0x1p-31f;
	a[8 * 50 + 3] = INFINITY;
	b[32 * 50 + 7] = 0;
	for (m = 0; m < EMU_TILE_ROWS; m++)
		for (n = 0; n < EMU_TILE_COLS; n++) {
			volatile float sum = 0;

			for (k = 0; k < 100; k++) {
				volatile float product =
					a[k * EMU_TILE_ROWS + m] * b[k * EMU_TILE_COLS + n];

				sum = sum + product;
			}
			if (_i)
				sum = start[m * EMU_TILE_COLS + n] + sum;
			want[m * EMU_TILE_COLS + n] = emu_f32_canon(sum);
		}
	for (which = 0; (v = emu_simd_variant(which)); which++) {
		memcpy(c, start, sizeof(c));
		v->gemm(a, b, 100, c, EMU_TILE_COLS, _i);
		ck_assert_msg(!memcmp(c, want, sizeof(c)), "%s", v->name);
	}
	ck_assert_uint_ge(which, 1);
}
END_TEST

START_TEST(double_row)
{
	struct harness *h = h_create(3);
	struct trn_operand w = h_sbuf(0, 4, W_OFFSET, TRN_DTYPE_FP8_E4M3, 3),
			   x = h_sbuf(0, 4, X_OFFSET, TRN_DTYPE_FP8_E4M3, 5);
	struct emu_xorwow rng;
	unsigned int p, j, m, n;

	emu_xorwow_seed(&rng, 4, 0);
	fill(h, &rng, 4, W_OFFSET, 6, TRN_DTYPE_FP8_E4M3);
	fill(h, &rng, 4, X_OFFSET, 10, TRN_DTYPE_FP8_E4M3);
	w.ndim = x.ndim = 2;
	w.dim[1] = (struct trn_dim){ 3, 2 };
	x.dim[1] = (struct trn_dim){ 5, 2 };
	ldweights(h, w)->opf = TRN_OPF_DOUBLE_ROW;
	matmul(h, h_psum(0, 3, 0, TRN_DTYPE_FP32, 5), x, TRN_OPF_DOUBLE_ROW);
	h_run_ok(h);
	for (m = 0; m < 3; m++)
		for (n = 0; n < 5; n++) {
			volatile float sum = 0;

			for (p = 0; p < 4; p++)
				for (j = 0; j < 2; j++)
					sum = sum + element(h, p, W_OFFSET + j * 3 + m,
							    TRN_DTYPE_FP8_E4M3) *
							    element(h, p, X_OFFSET + j * 5 + n,
								    TRN_DTYPE_FP8_E4M3);
			ck_assert_uint_eq(h_psum_u32(h, m, 4 * n), h_f32(sum));
		}
	h_destroy(h);
}
END_TEST

/* Two tiles keep their weights side by side; loading the whole array drops both. */
START_TEST(tiles_are_independent)
{
	struct harness *h = h_create(3);
	unsigned int t;

	for (t = 0; t < 2; t++) {
		h_put_f32(h, 0, W_OFFSET + 4 * t, (float)(t + 2));
		ldweights(h, h_sbuf(0, 1, W_OFFSET + 4 * t, TRN_DTYPE_FP32, 1))->pe_tile =
			(uint8_t)(1 << 4 | t);
	}
	h_put_f32(h, 0, X_OFFSET, 10);
	for (t = 0; t < 2; t++)
		matmul(h, h_psum(0, 1, 4 * t, TRN_DTYPE_FP32, 1),
		       h_sbuf(0, 1, X_OFFSET, TRN_DTYPE_FP32, 1), 0)
			->pe_tile = (uint8_t)(1 << 4 | t);
	h_run_ok(h);
	ck_assert_uint_eq(h_psum_u32(h, 0, 0), h_f32(20));
	ck_assert_uint_eq(h_psum_u32(h, 0, 4), h_f32(30));

	ldweights(h, h_sbuf(0, 1, W_OFFSET, TRN_DTYPE_FP32, 1))->pe_tile = 1 << 4;
	ldweights(h, h_sbuf(0, 1, W_OFFSET, TRN_DTYPE_FP32, 1));
	matmul(h, h_psum(0, 1, 0, TRN_DTYPE_FP32, 1), h_sbuf(0, 1, X_OFFSET, TRN_DTYPE_FP32, 1), 0)
		->pe_tile = 1 << 4;
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	ck_assert_uint_eq(h->result.pc, 2);
	h_destroy(h);
}
END_TEST

/* Weights under a new load are gone wherever they were, and at the end of the run. */
START_TEST(weights_end)
{
	struct harness *h = h_create(3);
	struct trn_operand one = h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1);

	ldweights(h, one)->pe_tile = 1 << 4 | 1;
	if (_i == 0)
		ldweights(h, one);
	if (_i == 1)
		h_run_ok(h);
	matmul(h, h_psum(0, 1, 0, TRN_DTYPE_FP32, 1), one, 0)->pe_tile = 1 << 4 | 1;
	ck_assert_int_eq(h_run(h), _i == 2 ? TRN_FAULT_NONE : TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

/* 600 columns that overlap inside one bank are still more than 512. */
START_TEST(overlapping_columns_count)
{
	struct harness *h = h_create(2);
	struct trn_operand dst = h_psum(0, 1, 0, TRN_DTYPE_FP32, 100);

	dst.ndim = 2;
	dst.dim[1] = (struct trn_dim){ 1, 6 };
	ldweights(h, h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1));
	matmul(h, dst, h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 600), TRN_OPF_ACCUMULATE);
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

START_TEST(overlapping_destination_adds_up)
{
	struct harness *h = h_create(2);
	struct trn_operand dst = h_psum(0, 1, 0, TRN_DTYPE_FP32, 2);
	unsigned int n;

	h_put_f32(h, 0, W_OFFSET, 1);
	for (n = 0; n < 4; n++)
		h_put_f32(h, 0, X_OFFSET + 4 * n, (float)(1 << n));
	dst.ndim = 2;
	dst.dim[1] = (struct trn_dim){ 1, 2 };
	ldweights(h, h_sbuf(0, 1, W_OFFSET, TRN_DTYPE_FP32, 1));
	matmul(h, dst, h_sbuf(0, 1, X_OFFSET, TRN_DTYPE_FP32, 4), TRN_OPF_ACCUMULATE);
	h_run_ok(h);
	ck_assert_uint_eq(h_psum_u32(h, 0, 0), h_f32(1));
	ck_assert_uint_eq(h_psum_u32(h, 0, 4), h_f32(2 + 4));
	ck_assert_uint_eq(h_psum_u32(h, 0, 8), h_f32(8));
	h_destroy(h);
}
END_TEST

START_TEST(counters)
{
	struct harness *h = h_create(2);
	uint64_t mm, w;

	ldweights(h, h_sbuf(0, 128, 0, TRN_DTYPE_FP32, 100));
	matmul(h, h_psum(0, 100, 0, TRN_DTYPE_FP32, 300), h_sbuf(0, 128, 0, TRN_DTYPE_FP32, 300),
	       0);
	h_run_ok(h);
	emu_core_pe_counters(h->core, &mm, &w);
	ck_assert_uint_eq(mm, 300);
	ck_assert_uint_eq(w, 100);
	h_destroy(h);
}
END_TEST

/* Faults: each row is one broken pair of instructions. */
enum {
	GEN2 = 2,
	GEN3 = 3
};

static const struct bad {
	const char *what;
	int generation;
	uint8_t wk, wm, wtype, xk;
	uint16_t xn;
	uint8_t xtype, dm, dtype;
	uint16_t dn;
	uint32_t doff;
	uint8_t opf, tile;
	enum trn_fault fault;
} bad[] = {
	{ "K differs", 2, 64, 8, 0xa, 65, 8, 0xa, 8, 0xa, 8, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "M differs", 2, 64, 8, 0xa, 64, 8, 0xa, 9, 0xa, 8, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "N differs", 2, 64, 8, 0xa, 64, 8, 0xa, 8, 0xa, 9, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "N above 512", 2, 64, 8, 0x6, 64, 513, 0x6, 8, 0xa, 513, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "two banks", 2, 64, 8, 0xa, 64, 8, 0xa, 8, 0xa, 8, 2048 - 16, 0, 0, TRN_FAULT_OPERAND },
	{ "M above 128", 2, 64, 129, 0xa, 64, 8, 0xa, 8, 0xa, 8, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "fp32 with bf16", 2, 64, 8, 0xa, 64, 8, 0x6, 8, 0xa, 8, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "integers", 2, 64, 8, 0x2, 64, 8, 0x2, 8, 0xa, 8, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "bf16 result before v4", 3, 64, 8, 0xa, 64, 8, 0xa, 8, 0x6, 8, 0, 0, 0,
	  TRN_FAULT_OPERAND },
	{ "transpose on v2", 2, 8, 8, 0xa, 8, 8, 0xa, 8, 0xa, 8, 0, TRN_OPF_TRANSPOSE, 0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "transpose without identity", 3, 8, 8, 0xa, 8, 8, 0xa, 8, 0xa, 8, 0, TRN_OPF_TRANSPOSE, 0,
	  TRN_FAULT_OPERAND },
	{ "double row on v2", 2, 8, 8, 0xe, 8, 8, 0xe, 8, 0xa, 8, 0, TRN_OPF_DOUBLE_ROW, 0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "double row of bf16", 3, 8, 8, 0x6, 8, 8, 0x6, 8, 0xa, 8, 0, TRN_OPF_DOUBLE_ROW, 0,
	  TRN_FAULT_OPERAND },
	{ "32 row tile on v2", 2, 8, 8, 0xa, 8, 8, 0xa, 8, 0xa, 8, 0, 0, 1 << 4,
	  TRN_FAULT_OPERAND },
	{ "tile off its grid", 3, 8, 8, 0xa, 8, 8, 0xa, 8, 0xa, 8, 0, 0, 2 << 4 | 1,
	  TRN_FAULT_OPERAND },
	{ "K above tile", 3, 33, 8, 0xa, 33, 8, 0xa, 8, 0xa, 8, 0, 0, 1 << 4, TRN_FAULT_OPERAND },
};

START_TEST(faults)
{
	const struct bad *b = &bad[_i];
	struct harness *h = h_create((unsigned int)b->generation);
	struct trn_insn *i;

	i = ldweights(h, h_sbuf(0, b->wk, 0, (enum trn_dtype)b->wtype, b->wm));
	i->pe_tile = b->tile;
	i->opf = b->opf & TRN_OPF_DOUBLE_ROW;
	i = matmul(h, h_psum(0, b->dm, b->doff, (enum trn_dtype)b->dtype, b->dn),
		   h_sbuf(0, b->xk, X_OFFSET, (enum trn_dtype)b->xtype, b->xn), b->opf);
	i->pe_tile = b->tile;
	ck_assert_msg(h_run(h) == b->fault, "%s: fault %d", b->what, h->result.fault);
	h_destroy(h);
}
END_TEST

START_TEST(no_weights)
{
	struct harness *h = h_create(2);

	matmul(h, h_psum(0, 1, 0, TRN_DTYPE_FP32, 1), h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1), 0);
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

START_TEST(wrong_memories)
{
	struct harness *h = h_create(2);

	if (_i == 0)
		ldweights(h, h_psum(0, 1, 0, TRN_DTYPE_FP32, 1));
	ldweights(h, h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1));
	if (_i == 1)
		matmul(h, h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1), h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1),
		       0);
	else
		matmul(h, h_psum(0, 1, 0, TRN_DTYPE_FP32, 1), h_psum(0, 1, 0, TRN_DTYPE_FP32, 1),
		       0);
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core tensor engine");

	H_TEST(s, c8_lost_ones);
	H_TEST(s, c8_kept_two);
	H_LOOP(s, c8_accumulate_fp32, ARRAY_SIZE(c8));
	H_LOOP(s, c8_accumulate_bf16, ARRAY_SIZE(c8));
	H_LOOP(s, c9_input_precision, ARRAY_SIZE(c9));
	H_TEST(s, c9_transpose_moves_bits);
	H_TEST(s, c9_transpose_v2_spreads_nan);
	H_TEST(s, c9_transpose_v2_infinity);
	H_LOOP(s, transpose_every_code, ARRAY_SIZE(transposable));
	H_LOOP(s, against_plain_loop, ARRAY_SIZE(shapes));
	H_LOOP(s, variants_agree, 2);
	H_TEST(s, double_row);
	H_TEST(s, tiles_are_independent);
	H_LOOP(s, weights_end, 3);
	H_TEST(s, overlapping_columns_count);
	H_TEST(s, overlapping_destination_adds_up);
	H_TEST(s, counters);
	H_LOOP(s, faults, ARRAY_SIZE(bad));
	H_TEST(s, no_weights);
	H_LOOP(s, wrong_memories, 3);
	return h_main(s);
}
