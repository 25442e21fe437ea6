// SPDX-License-Identifier: BSD-2-Clause
/*
 * Activation functions: loops of every instruction set against the C library, special values,
 * scale, bias and parameter.
 */
#include <math.h>
#include "core_harness.h"
#include "tests/emulator/act_func.h"
#include "tests/emulator/numeric.h"
#include "tests/emulator/simd.h"

#define FUNCS  (TRN_ACT_ABS + 1)
#define CHUNK  1000
#define STRIDE 9001 /* bit patterns between two samples of a full sweep */

static int64_t ordered(float f)
{
	int32_t i = (int32_t)emu_f32_bits(f);

	return i < 0 ? -(int64_t)(i & 0x7fffffff) : i;
}

static void compare(unsigned int func, const float *in, const float *out, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		float want = emu_act_reference(func, in[i], 0.25f);

		if (isnan(want) || isnan(out[i])) {
			ck_assert_msg(emu_f32_bits(out[i]) == EMU_NAN_BITS && isnan(want),
				      "f(%a) = %a instead of %a", in[i], out[i], want);
			continue;
		}
		ck_assert_msg(llabs(ordered(out[i]) - ordered(want)) <= 1,
			      "f(%a) = %a instead of %a", in[i], out[i], want);
	}
}

/* A walk through all FP32 bit patterns. */
START_TEST(sweep)
{
	float in[CHUNK], out[CHUNK];
	uint64_t bits = 0;
	unsigned int n;

	while (bits < 0x100000000ull) {
		for (n = 0; n < CHUNK && bits < 0x100000000ull; n++, bits += STRIDE)
			in[n] = emu_bits_f32((uint32_t)bits);
		emu_act_row((unsigned int)_i, out, in, n, 0.25f);
		compare((unsigned int)_i, in, out, n);
	}
}
END_TEST

/* The range that matters, densely. */
START_TEST(sweep_ordinary)
{
	float in[CHUNK], out[CHUNK];
	unsigned int n, part;

	for (part = 0; part < 40; part++) {
		for (n = 0; n < CHUNK; n++)
			in[n] = ((float)part - 20 + (float)n / CHUNK) * 0.75f;
		emu_act_row((unsigned int)_i, out, in, CHUNK, 0.25f);
		compare((unsigned int)_i, in, out, CHUNK);
	}
}
END_TEST

/* Where a derivative crosses zero the terms cancel; neighbours of the root are still exact. */
START_TEST(roots)
{
	static const struct {
		unsigned int func;
		float root;
	} rows[] = {
		{ TRN_ACT_GELU_DX, -0.75179160f },
		{ TRN_ACT_SILU_DX, -1.27846454f },
		{ TRN_ACT_GELU_APPRX_SIGMOID_DX, -0.75115424f },
	};
	float in[200], out[200];
	unsigned int n;

	in[0] = rows[_i].root - 100 * 0x1p-24f;
	for (n = 1; n < 200; n++)
		in[n] = nextafterf(in[n - 1], 0);
	emu_act_row(rows[_i].func, out, in, 200, 0);
	compare(rows[_i].func, in, out, 200);
}
END_TEST

START_TEST(variants_agree)
{
	float in[CHUNK + 1], first[CHUNK + 1], out[CHUNK + 1];
	const struct emu_simd *v;
	struct emu_xorwow rng;
	unsigned int i, which, n;
	bool have = false;

	emu_xorwow_seed(&rng, (uint32_t)_i, 0);
	for (i = 0; i <= CHUNK; i++)
		in[i] = i % 3 ? (float)(int32_t)emu_xorwow_next(&rng) * 0x1p-28f
			      : emu_bits_f32(emu_xorwow_next(&rng));
	for (which = 0; (v = emu_simd_variant(which)); which++) {
		for (n = CHUNK; n > CHUNK - 20; n--) {
			memset(out, 0, sizeof(out));
			if (!v->act((unsigned int)_i, out, in, n))
				break;
			ck_assert_uint_eq(emu_f32_bits(out[n]), 0);
			if (!have)
				memcpy(first, out, sizeof(out));
			have = true;
			ck_assert_msg(!memcmp(out, first, n * sizeof(float)), "%s, %u elements",
				      v->name, n);
		}
		if (n > CHUNK - 20)
			continue;
		memcpy(out, in, sizeof(in));
		v->act((unsigned int)_i, out, out, CHUNK);
		ck_assert_msg(!memcmp(out, first, CHUNK * sizeof(float)), "%s, in place", v->name);
	}
}
END_TEST

static const struct {
	enum trn_act func;
	float x, y;
} points[] = {
	{ TRN_ACT_EXP, -INFINITY, 0 },
	{ TRN_ACT_EXP, INFINITY, INFINITY },
	{ TRN_ACT_EXP, 0, 1 },
	{ TRN_ACT_EXP, 89, INFINITY },
	{ TRN_ACT_EXP, 1, 0x1.5bf0a8p+1f },
	{ TRN_ACT_EXP, -3.40282347e38f, 0 },
	{ TRN_ACT_LOG, 1, 0 },
	{ TRN_ACT_LOG, 0, -INFINITY },
	{ TRN_ACT_LOG, -1, NAN },
	{ TRN_ACT_TANH, INFINITY, 1 },
	{ TRN_ACT_TANH, -INFINITY, -1 },
	{ TRN_ACT_TANH, 0x1p-100f, 0x1p-100f },
	{ TRN_ACT_TANH, -0.0f, -0.0f },
	{ TRN_ACT_SIGMOID, 0, 0.5f },
	{ TRN_ACT_SIGMOID, -INFINITY, 0 },
	{ TRN_ACT_SIGMOID, INFINITY, 1 },
	{ TRN_ACT_GELU, 0, 0 },
	{ TRN_ACT_GELU, INFINITY, INFINITY },
	{ TRN_ACT_GELU, 100, 100 },
	{ TRN_ACT_GELU_DX, 0, 0.5f },
	{ TRN_ACT_GELU_DX, INFINITY, 1 },
	{ TRN_ACT_GELU_DX, -INFINITY, 0 },
	{ TRN_ACT_SILU, INFINITY, INFINITY },
	{ TRN_ACT_SILU_DX, 0, 0.5f },
	{ TRN_ACT_SILU_DX, -INFINITY, 0 },
	{ TRN_ACT_SILU_DX, INFINITY, 1 },
	{ TRN_ACT_RELU, -5, 0 },
	{ TRN_ACT_RELU, NAN, NAN },
	{ TRN_ACT_PRELU, -4, -1 },
	{ TRN_ACT_PRELU, 4, 4 },
	{ TRN_ACT_SQRT, -1, NAN },
	{ TRN_ACT_SQRT, 9, 3 },
	{ TRN_ACT_RSQRT, 4, 0.5f },
	{ TRN_ACT_RSQRT, 0, INFINITY },
	{ TRN_ACT_RECIPROCAL, -4, -0.25f },
	{ TRN_ACT_SIGN, -7, -1 },
	{ TRN_ACT_SIGN, 0, 0 },
	{ TRN_ACT_SIGN, 7, 1 },
	{ TRN_ACT_ABS, -7, 7 },
	{ TRN_ACT_SQUARE, -3, 9 },
	{ TRN_ACT_COPY, -3, -3 },
	{ TRN_ACT_SOFTPLUS, 0, 0.693147181f },
	{ TRN_ACT_SOFTPLUS, 1000, 1000 },
	{ TRN_ACT_SOFTPLUS, -1000, 0 },
	{ TRN_ACT_MISH, 0, 0 },
	{ TRN_ACT_ERF, 1, 0.842700793f },
	{ TRN_ACT_ERF, INFINITY, 1 },
	{ TRN_ACT_ERF_DX, 0, 1.12837917f },
	{ TRN_ACT_SIN, 9, 0.412118485f },
	{ TRN_ACT_ARCTAN, 1, 0.785398163f },
	{ TRN_ACT_GELU_APPRX_TANH, 1, 0.841191991f },
	{ TRN_ACT_GELU_APPRX_SIGMOID, 1, 0.845795764f },
	{ TRN_ACT_GELU_APPRX_SIGMOID_DX, 0, 0.5f },
};

/* Through the instruction: values known without this code. */
START_TEST(known_values)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, TRN_ENGINE_ACT, TRN_OP_ACTIVATE);
	float got;

	h_put_f32(h, 0, 0, points[_i].x);
	i->slot[0] = h_sbuf(0, 1, 64, TRN_DTYPE_FP32, 1);
	i->slot[1] = h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1);
	i->op0 = (uint8_t)points[_i].func;
	i->c0 = h_f32(1);
	if (points[_i].func == TRN_ACT_PRELU)
		i->slot[2].where = h_f32(0.25f);
	h_run_ok(h);
	got = h_get_f32(h, 0, 64);
	if (isnan(points[_i].y))
		ck_assert_uint_eq(emu_f32_bits(got), EMU_NAN_BITS);
	else
		ck_assert_msg(llabs(ordered(got) - ordered(points[_i].y)) <= 1,
			      "f(%g) = %.9g instead of %.9g", points[_i].x, got, points[_i].y);
	h_destroy(h);
}
END_TEST

/* The product and the sum are rounded one after the other. */
START_TEST(scale_and_bias_round_twice)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, TRN_ENGINE_ACT, TRN_OP_ACTIVATE);
	float x = 1 + 0x1p-12f, minus_one = -(1 + 0x1p-11f);

	h_put_f32(h, 0, 0, x);
	h_put_f32(h, 0, 4, x);
	h_put_f32(h, 0, 8, minus_one);
	i->slot[0] = h_sbuf(0, 1, 64, TRN_DTYPE_FP32, 1);
	i->slot[1] = h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1);
	i->kinds = TRN_SCALAR_VECTOR | TRN_SCALAR_VECTOR << TRN_OPK_C1_SHIFT;
	i->c0 = h_vector(TRN_MEM_SBUF, TRN_VECTOR_FP32, 0, 4);
	i->c1 = h_vector(TRN_MEM_SBUF, TRN_VECTOR_FP32, 0, 8);
	h_run_ok(h);
	/* A fused operation would keep 2^-24. */
	ck_assert_uint_eq(h_get_u32(h, 0, 64), 0);
	h_destroy(h);
}
END_TEST

START_TEST(parameter_belongs_to_prelu)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, TRN_ENGINE_ACT, TRN_OP_ACTIVATE);

	i->slot[0] = i->slot[1] = h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1);
	i->c0 = h_f32(1);
	i->op0 = _i ? TRN_ACT_PRELU : TRN_ACT_RELU;
	i->slot[2].where = h_f32(0.25f);
	if (_i)
		i->slot[2].partition = 1;
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core activation functions");

	H_LOOP(s, sweep, FUNCS);
	H_LOOP(s, sweep_ordinary, FUNCS);
	H_LOOP(s, roots, 3);
	H_LOOP(s, variants_agree, FUNCS);
	H_LOOP(s, known_values, ARRAY_SIZE(points));
	H_TEST(s, scale_and_bias_round_twice);
	H_LOOP(s, parameter_belongs_to_prelu, 2);
	return h_main(s);
}
