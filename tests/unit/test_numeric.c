// SPDX-License-Identifier: BSD-2-Clause
/*
 * Number formats: the published conversion vectors, exhaustive round trips, and vector loops
 * against single values.
 */
#include <math.h>
#include "core_harness.h"
#include "tests/emulator/numeric.h"

struct vector {
	uint32_t in;
	uint32_t out;
};

static const struct emu_round rne;

static uint32_t encode(enum trn_dtype dtype, uint32_t bits)
{
	return emu_float_encode(emu_dtype_format(dtype), bits, false, 0, false);
}

static uint32_t encode_saturating(enum trn_dtype dtype, uint32_t bits)
{
	return emu_float_encode(emu_dtype_format(dtype), bits, false, 0, true);
}

/* C1 */
static const struct vector c1[] = {
	{ 0x3f808000, 0x3f80 }, { 0x3f818000, 0x3f82 }, { 0x3f808001, 0x3f81 },
	{ 0x3f7fffff, 0x3f80 }, { 0x3dcccccd, 0x3dcd }, { 0x7f7fffff, 0x7f80 },
	{ 0xff7fffff, 0xff80 }, { 0x7f7f7fff, 0x7f7f }, { 0x7f7f8000, 0x7f80 },
	{ 0x00018000, 0x0002 }, { 0x00008000, 0x0000 }, { 0x80008001, 0x8001 },
	{ 0x7fc00000, 0x7fc0 },
};

START_TEST(c1_bf16)
{
	ck_assert_uint_eq(encode(TRN_DTYPE_BF16, c1[_i].in), c1[_i].out);
}
END_TEST

/* C2: exhaustive over the 16 random bits. */
static const struct {
	uint32_t in;
	uint32_t upper_count;
	uint32_t lower;
	uint32_t upper;
} c2[] = {
	{ 0x3f800000, 0, 0x3f80, 0x3f81 },     { 0x3f800001, 1, 0x3f80, 0x3f81 },
	{ 0x3f804000, 16384, 0x3f80, 0x3f81 }, { 0x3f808000, 32768, 0x3f80, 0x3f81 },
	{ 0xbf80c000, 49152, 0xbf80, 0xbf81 }, { 0x3f80ffff, 65535, 0x3f80, 0x3f81 },
};

START_TEST(c2_stochastic)
{
	uint32_t r, upper = 0;

	for (r = 0; r < 65536; r++) {
		uint32_t code = emu_float_encode(emu_dtype_format(TRN_DTYPE_BF16), c2[_i].in, true,
						 r, false);

		ck_assert(code == c2[_i].lower || code == c2[_i].upper);
		upper += code == c2[_i].upper;
	}
	ck_assert_uint_eq(upper, c2[_i].upper_count);
}
END_TEST

/* The published accumulator: 1024 plus 2048 times 0.5 in FP16. */
START_TEST(c2_accumulator)
{
	struct emu_xorwow rng;
	struct emu_round sr = { .stochastic = &rng };
	uint16_t nearest, stochastic;
	float value;
	int i;

	emu_xorwow_seed(&rng, 0, 0);
	emu_value_store(TRN_DTYPE_FP16, &nearest, 1024, &rne);
	stochastic = nearest;
	for (i = 0; i < 2048; i++) {
		emu_value_store(TRN_DTYPE_FP16, &nearest,
				emu_value_load(TRN_DTYPE_FP16, &nearest) + 0.5f, &rne);
		emu_value_store(TRN_DTYPE_FP16, &stochastic,
				emu_value_load(TRN_DTYPE_FP16, &stochastic) + 0.5f, &sr);
	}
	ck_assert(emu_value_load(TRN_DTYPE_FP16, &nearest) == 1024);
	value = emu_value_load(TRN_DTYPE_FP16, &stochastic);
	ck_assert_msg(fabsf(value - 2048) <= 150, "%f", value);
}
END_TEST

/* C3 */
static const struct vector c3_fp16[] = {
	{ 0x44801000, 0x6400 }, { 0x44803000, 0x6402 }, { 0x477fe000, 0x7bff },
	{ 0x477fefff, 0x7bff }, { 0x477ff000, 0x7c00 }, { 0x33800000, 0x0001 },
	{ 0x33000000, 0x0000 }, { 0x3dcccccd, 0x2e66 },
};

START_TEST(c3_half)
{
	ck_assert_uint_eq(encode(TRN_DTYPE_FP16, c3_fp16[_i].in), c3_fp16[_i].out);
}
END_TEST

static const struct vector c3_tf32[] = {
	{ 0x3f801000, 0x3f800000 },
	{ 0x3f803000, 0x3f804000 },
	{ 0x3f801001, 0x3f802000 },
	{ 0x7f7fffff, 0x7f800000 },
};

START_TEST(c3_tensor_float)
{
	uint32_t out;

	emu_value_store(TRN_DTYPE_TF32, &out, emu_bits_f32(c3_tf32[_i].in), &rne);
	ck_assert_uint_eq(out, c3_tf32[_i].out);
}
END_TEST

/* C4 to C6 */
struct fp8_vector {
	float in;
	uint8_t out;
	uint8_t saturated; /* 0: the same */
};

static const struct fp8_vector c4[] = {
	{ 240, 0x77, 0 },	{ 247.9375f, 0x77, 0 }, { 248, 0x78, 0x77 },  { -240, 0xf7, 0 },
	{ -248, 0xf8, 0xf7 },	{ 0x1p-6f, 0x08, 0 },	{ 0x1p-9f, 0x01, 0 }, { 0x1p-10f, 0x00, 0 },
	{ 0x1.8p-9f, 0x02, 0 }, { 1.0625f, 0x38, 0 },	{ 1.1875f, 0x3a, 0 }, { 0.1f, 0x1d, 0 },
	{ 17, 0x58, 0 },
};

static const struct fp8_vector c5[] = {
	{ 448, 0x7e, 0 },      { 464, 0x7e, 0 },  { 465, 0x7f, 0x7e }, { 480, 0x7f, 0x7e },
	{ 240, 0x77, 0 },      { 256, 0x78, 0 },  { -448, 0xfe, 0 },   { 0x1p-9f, 0x01, 0 },
	{ 0x1p-10f, 0x00, 0 }, { 0.1f, 0x1d, 0 }, { 17, 0x58, 0 },
};

static const struct fp8_vector c6_e5m2[] = {
	{ 57344, 0x7b, 0 },	 { 61439, 0x7b, 0 },	{ 61440, 0x7c, 0x7b },
	{ -61440, 0xfc, 0xfb },	 { 0x1p-16f, 0x01, 0 }, { 0x1p-17f, 0x00, 0 },
	{ 0x1.8p-16f, 0x02, 0 }, { 1.125f, 0x3c, 0 },	{ 1.375f, 0x3e, 0 },
	{ 0.1f, 0x2e, 0 },	 { 17, 0x4c, 0 },
};

static const struct fp8_vector c6_e3m4[] = {
	{ 15.5f, 0x6f, 0 },    { 15.734375f, 0x6f, 0 }, { 15.75f, 0x70, 0x6f },
	{ 0.25f, 0x10, 0 },    { 0x1p-6f, 0x01, 0 },	{ 0x1p-7f, 0x00, 0 },
	{ 1.03125f, 0x30, 0 }, { 1.09375f, 0x32, 0 },	{ 0.1f, 0x06, 0 },
};

static void fp8_check(enum trn_dtype dtype, const struct fp8_vector *v)
{
	uint8_t saturated = v->saturated ? v->saturated : v->out;

	ck_assert_uint_eq(encode(dtype, emu_f32_bits(v->in)), v->out);
	ck_assert_uint_eq(encode_saturating(dtype, emu_f32_bits(v->in)), saturated);
}

START_TEST(c4_e4m3)
{
	fp8_check(TRN_DTYPE_FP8_E4M3, &c4[_i]);
}
END_TEST

START_TEST(c5_e4m3fn)
{
	fp8_check(TRN_DTYPE_FP8_E4M3FN, &c5[_i]);
}
END_TEST

START_TEST(c5_decode)
{
	uint8_t code = 0x78;

	ck_assert(isinf(emu_value_load(TRN_DTYPE_FP8_E4M3, &code)));
	ck_assert(emu_value_load(TRN_DTYPE_FP8_E4M3FN, &code) == 256);
	code = 0x7e;
	ck_assert(isnan(emu_value_load(TRN_DTYPE_FP8_E4M3, &code)));
	ck_assert(emu_value_load(TRN_DTYPE_FP8_E4M3FN, &code) == 448);
}
END_TEST

START_TEST(c6_bf8)
{
	fp8_check(TRN_DTYPE_FP8_E5M2, &c6_e5m2[_i]);
}
END_TEST

START_TEST(c6_e3m4_bias3)
{
	fp8_check(TRN_DTYPE_FP8_E3M4, &c6_e3m4[_i]);
}
END_TEST

/* C7 */
static const struct {
	float in;
	enum trn_dtype dtype;
	int64_t out;
} c7[] = {
	{ 0.5f, TRN_DTYPE_INT8, 0 },
	{ 1.5f, TRN_DTYPE_INT8, 2 },
	{ 2.5f, TRN_DTYPE_INT8, 2 },
	{ -1.5f, TRN_DTYPE_INT8, -2 },
	{ 0.5f, TRN_DTYPE_UINT8, 0 },
	{ 1.5f, TRN_DTYPE_UINT8, 2 },
	{ 2.5f, TRN_DTYPE_UINT8, 2 },
	{ -1.5f, TRN_DTYPE_UINT8, 0 },
	{ 127.5f, TRN_DTYPE_INT8, 127 },
	{ 127.5f, TRN_DTYPE_UINT8, 128 },
	{ 300, TRN_DTYPE_INT8, 127 },
	{ 300, TRN_DTYPE_UINT8, 255 },
	{ -128.5f, TRN_DTYPE_INT8, -128 },
	{ -300, TRN_DTYPE_INT8, -128 },
	{ -128.5f, TRN_DTYPE_UINT8, 0 },
	{ 254.5f, TRN_DTYPE_UINT8, 254 },
	{ 255.5f, TRN_DTYPE_UINT8, 255 },
	{ 65535.5f, TRN_DTYPE_UINT16, 65535 },
	{ -40000, TRN_DTYPE_INT16, -32768 },
	{ 2147483648.0f, TRN_DTYPE_INT32, 0x7fffffff },
	{ 4294967296.0f, TRN_DTYPE_UINT32, 0xffffffff },
	{ INFINITY, TRN_DTYPE_INT8, 127 },
	{ -INFINITY, TRN_DTYPE_INT8, -128 },
	{ INFINITY, TRN_DTYPE_UINT8, 255 },
	{ -INFINITY, TRN_DTYPE_UINT8, 0 },
	{ NAN, TRN_DTYPE_INT8, 0 },
	{ NAN, TRN_DTYPE_UINT32, 0 },
};

START_TEST(c7_integers)
{
	uint8_t raw[4] = { 0 };
	uint32_t u;
	int64_t got;

	emu_value_store(c7[_i].dtype, raw, c7[_i].in, &rne);
	memcpy(&u, raw, sizeof(u));
	switch (c7[_i].dtype) {
	case TRN_DTYPE_INT8:
		got = (int8_t)u;
		break;
	case TRN_DTYPE_INT16:
		got = (int16_t)u;
		break;
	case TRN_DTYPE_INT32:
		got = (int32_t)u;
		break;
	default:
		got = u;
	}
	ck_assert_int_eq(got, c7[_i].out);
}
END_TEST

/* Every finite and infinite code of every narrow format survives widening and narrowing. */
static const enum trn_dtype narrow[] = {
	TRN_DTYPE_BF16,	    TRN_DTYPE_FP16,	TRN_DTYPE_FP8_E3M4,
	TRN_DTYPE_FP8_E4M3, TRN_DTYPE_FP8_E5M2, TRN_DTYPE_FP8_E4M3FN,
};

START_TEST(round_trip)
{
	const struct emu_float_format *fmt = emu_dtype_format(narrow[_i]);
	uint32_t codes = 1u << (8 * emu_dtype_size(narrow[_i])), code;

	for (code = 0; code < codes; code++) {
		float f = emu_value_load(narrow[_i], &code);
		uint32_t back = 0;

		if (isnan(f))
			continue;
		emu_value_store(narrow[_i], &back, f, &rne);
		ck_assert_uint_eq(back, code);
		ck_assert_uint_eq(emu_float_encode(fmt, emu_f32_bits(f), true, UINT64_MAX, false),
				  code);
	}
}
END_TEST

/* Nearest: no code of the format is closer than the one chosen, on a walk through the FP32 range.
 */
START_TEST(nearest)
{
	uint32_t codes = 1u << (8 * emu_dtype_size(narrow[_i])), bits, code;

	if (codes > 256)
		return;
	for (bits = 0x30000000; bits < 0x49000000; bits += 0x3779b) {
		float in = emu_bits_f32(bits), out;
		uint32_t chosen = encode(narrow[_i], bits);

		out = emu_value_load(narrow[_i], &chosen);
		if (isinf(out) || isnan(out))
			continue;
		for (code = 0; code < 128; code++) {
			float other = emu_value_load(narrow[_i], &code);

			if (isfinite(other))
				ck_assert(fabs((double)other - in) >= fabs((double)out - in));
		}
	}
}
END_TEST

/* Vector loops give the bits of the single-value code; awkward values included, offsets and tails
 * too. */
static const enum trn_dtype all_types[] = {
	TRN_DTYPE_INT8,	    TRN_DTYPE_UINT8, TRN_DTYPE_INT16,	   TRN_DTYPE_UINT16,
	TRN_DTYPE_BF16,	    TRN_DTYPE_FP16,  TRN_DTYPE_INT32,	   TRN_DTYPE_UINT32,
	TRN_DTYPE_FP32,	    TRN_DTYPE_FP32R, TRN_DTYPE_FP8_E3M4,   TRN_DTYPE_FP8_E4M3,
	TRN_DTYPE_FP8_E5M2, TRN_DTYPE_TF32,  TRN_DTYPE_FP8_E4M3FN, TRN_DTYPE_FP8_E8M0,
};

static float odd_value(struct emu_xorwow *rng, uint32_t i)
{
	static const uint32_t special[] = {
		0,	    0x80000000, 1,	    0x80000001, 0x007fffff, 0x00800000,
		0x33000000, 0x33000001, 0x387fc000, 0x387fe000, 0x38800000, 0x477fe000,
		0x477fefff, 0x477ff000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
		0xffc12345, 0x7f800001, 0x3f808000, 0x3f818000, 0x43780000, 0x43e88000,
	};

	if (i % 3 == 0)
		return emu_bits_f32(special[i / 3 % ARRAY_SIZE(special)]);
	if (i % 3 == 1)
		return emu_bits_f32(0x30000000 + emu_xorwow_next(rng) % 0x1a000000);
	return emu_bits_f32(emu_xorwow_next(rng));
}

START_TEST(rows_narrow)
{
	enum {
		N = 517
	};
	float in[N];
	uint8_t fast[4 * 2 * N], ref[4 * 2 * N];
	struct emu_xorwow rng;
	unsigned int size = emu_dtype_size(all_types[_i]), i, stride;

	emu_xorwow_seed(&rng, 7, 0);
	for (i = 0; i < N; i++)
		in[i] = odd_value(&rng, i);
	for (stride = 1; stride <= 2; stride++) {
		memset(fast, 0xaa, sizeof(fast));
		memset(ref, 0xaa, sizeof(ref));
		emu_row_narrow(all_types[_i], fast, stride * size, in, N, &rne);
		emu_row_narrow_ref(all_types[_i], ref, stride * size, in, N, &rne);
		ck_assert_mem_eq(fast, ref, sizeof(ref));
	}
}
END_TEST

START_TEST(rows_widen)
{
	enum {
		N = 70000
	};
	unsigned int size = emu_dtype_size(all_types[_i]), stride;
	uint8_t *in = malloc(2 * 4 * N);
	float *fast = malloc(4 * N), *ref = malloc(4 * N);
	struct emu_xorwow rng;
	uint32_t i;

	emu_xorwow_seed(&rng, 8, 0);
	for (i = 0; i < 2 * N; i++) {
		uint32_t bits = size == 4 ? emu_xorwow_next(&rng) : i;

		memcpy(in + (size_t)i * size, &bits, size);
	}
	for (stride = 1; stride <= 2; stride++) {
		emu_row_widen(all_types[_i], in, stride * size, fast, N);
		emu_row_widen_ref(all_types[_i], in, stride * size, ref, N);
		ck_assert_mem_eq(fast, ref, 4 * N);
	}
	free(in);
	free(fast);
	free(ref);
}
END_TEST

START_TEST(flush_subnormal)
{
	const struct emu_round flush = { .flush = true };
	uint32_t out = 0;

	emu_value_store(TRN_DTYPE_FP32, &out, emu_bits_f32(0x80000001), &flush);
	ck_assert_uint_eq(out, 0x80000000);
	out = 0;
	emu_value_store(TRN_DTYPE_FP16, &out, 0x1p-15f, &flush);
	ck_assert_uint_eq(out, 0);
	emu_value_store(TRN_DTYPE_FP16, &out, -0x1p-14f, &flush);
	ck_assert_uint_eq(out, 0x8400);
}
END_TEST

/* Seeds of the published generator. */
START_TEST(c11_xorwow)
{
	struct emu_xorwow r = { { 123456789, 362436069, 521288629, 88675123, 5783321, 6615241 } };

	ck_assert_uint_eq(emu_xorwow_next(&r), 246875399);
	ck_assert_uint_eq(emu_xorwow_next(&r), 3690007200u);
	ck_assert_uint_eq(emu_xorwow_next(&r), 1264581005);
	ck_assert_uint_eq(emu_xorwow_next(&r), 3906711041u);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("numeric");

	H_LOOP(s, c1_bf16, ARRAY_SIZE(c1));
	H_LOOP(s, c2_stochastic, ARRAY_SIZE(c2));
	H_TEST(s, c2_accumulator);
	H_LOOP(s, c3_half, ARRAY_SIZE(c3_fp16));
	H_LOOP(s, c3_tensor_float, ARRAY_SIZE(c3_tf32));
	H_LOOP(s, c4_e4m3, ARRAY_SIZE(c4));
	H_LOOP(s, c5_e4m3fn, ARRAY_SIZE(c5));
	H_TEST(s, c5_decode);
	H_LOOP(s, c6_bf8, ARRAY_SIZE(c6_e5m2));
	H_LOOP(s, c6_e3m4_bias3, ARRAY_SIZE(c6_e3m4));
	H_LOOP(s, c7_integers, ARRAY_SIZE(c7));
	H_LOOP(s, round_trip, ARRAY_SIZE(narrow));
	H_LOOP(s, nearest, ARRAY_SIZE(narrow));
	H_LOOP(s, rows_narrow, ARRAY_SIZE(all_types));
	H_LOOP(s, rows_widen, ARRAY_SIZE(all_types));
	H_TEST(s, flush_subnormal);
	H_TEST(s, c11_xorwow);
	return h_main(s);
}
