// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Conversion of strided rows from and to FP32. The loops of the wide types at unit step are written
 * so that compilers make vector code of them; all others go element by element.
 */
#include <pthread.h>
#include "numeric.h"

#define F32_INF 0x7f800000u

/* Decoding an 8-bit format is one look-up; the tables are filled once. */
static float fp8_table[4][256];
static pthread_once_t fp8_once = PTHREAD_ONCE_INIT;

static const uint8_t fp8_dtype[4] = {
	TRN_DTYPE_FP8_E3M4,
	TRN_DTYPE_FP8_E4M3,
	TRN_DTYPE_FP8_E5M2,
	TRN_DTYPE_FP8_E4M3FN,
};

static void fp8_fill(void)
{
	unsigned int t, c;

	for (t = 0; t < 4; t++)
		for (c = 0; c < 256; c++)
			fp8_table[t][c] =
				emu_bits_f32(emu_float_decode(emu_dtype_format(fp8_dtype[t]), c));
}

static const float *fp8_lookup(unsigned int dtype)
{
	unsigned int t;

	pthread_once(&fp8_once, fp8_fill);
	for (t = 0; t < 3; t++)
		if (fp8_dtype[t] == dtype)
			break;
	return fp8_table[t];
}

static uint16_t load16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t e8m0_decode(uint8_t code)
{
	if (code == 0xff)
		return EMU_NAN_BITS;
	return code ? (uint32_t)code << 23 : 1u << 22; /* 2^-127 is an FP32 subnormal */
}

static uint32_t widen_one(unsigned int dtype, const uint8_t *src)
{
	switch (dtype) {
	case TRN_DTYPE_INT8:
		return emu_f32_bits((float)(int8_t)*src);
	case TRN_DTYPE_UINT8:
		return emu_f32_bits((float)*src);
	case TRN_DTYPE_INT16:
		return emu_f32_bits((float)(int16_t)load16(src));
	case TRN_DTYPE_UINT16:
		return emu_f32_bits((float)load16(src));
	case TRN_DTYPE_INT32:
		return emu_f32_bits((float)(int32_t)load32(src));
	case TRN_DTYPE_UINT32:
		return emu_f32_bits((float)load32(src));
	case TRN_DTYPE_BF16:
	case TRN_DTYPE_FP16:
		return emu_float_decode(emu_dtype_format(dtype), load16(src));
	case TRN_DTYPE_FP8_E3M4:
	case TRN_DTYPE_FP8_E4M3:
	case TRN_DTYPE_FP8_E5M2:
	case TRN_DTYPE_FP8_E4M3FN:
		return emu_float_decode(emu_dtype_format(dtype), *src);
	case TRN_DTYPE_FP8_E8M0:
		return e8m0_decode(*src);
	}
	return load32(src); /* fp32, fp32r, tf32 */
}

void emu_row_widen_ref(unsigned int dtype, const uint8_t *src, int64_t step, float *dst, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		dst[i] = emu_bits_f32(widen_one(dtype, src + step * i));
}

/* Exact for every code: the multiplication renormalises subnormals; codes above the largest finite
 * keep their payload. */
static void widen_fp16(const uint16_t *src, float *dst, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t mag = (src[i] & 0x7fffu) << 13, sign = (src[i] & 0x8000u) << 16;
		uint32_t scaled = emu_f32_bits(emu_bits_f32(mag) * 0x1p112f);

		dst[i] = emu_bits_f32(sign | (mag >= 0x0f800000u ? mag | F32_INF : scaled));
	}
}

static void widen_bf16(const uint16_t *src, float *dst, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		dst[i] = emu_bits_f32((uint32_t)src[i] << 16);
}

static void widen_fp8(const uint8_t *src, int64_t step, float *dst, uint32_t n, const float *table)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		dst[i] = table[src[step * i]];
}

static void widen_i32(const int32_t *src, float *dst, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		dst[i] = (float)src[i];
}

static void widen_4byte(const uint8_t *src, int64_t step, float *dst, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		memcpy(&dst[i], src + step * i, sizeof(float));
}

static void widen_bf16_strided(const uint8_t *src, int64_t step, float *dst, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		dst[i] = emu_bits_f32((uint32_t)load16(src + step * i) << 16);
}

void emu_row_widen(unsigned int dtype, const uint8_t *src, int64_t step, float *dst, uint32_t n)
{
	switch (dtype) {
	case TRN_DTYPE_FP32:
	case TRN_DTYPE_FP32R:
	case TRN_DTYPE_TF32:
		if (step == 4)
			memcpy(dst, src, (size_t)n * sizeof(float));
		else
			widen_4byte(src, step, dst, n);
		return;
	case TRN_DTYPE_BF16:
		if (step == 2)
			widen_bf16((const uint16_t *)(const void *)src, dst, n);
		else
			widen_bf16_strided(src, step, dst, n);
		return;
	case TRN_DTYPE_FP16:
		if (step == 2) {
			widen_fp16((const uint16_t *)(const void *)src, dst, n);
			return;
		}
		break;
	case TRN_DTYPE_INT32:
		if (step == 4) {
			widen_i32((const int32_t *)(const void *)src, dst, n);
			return;
		}
		break;
	case TRN_DTYPE_FP8_E3M4:
	case TRN_DTYPE_FP8_E4M3:
	case TRN_DTYPE_FP8_E5M2:
	case TRN_DTYPE_FP8_E4M3FN:
		widen_fp8(src, step, dst, n, fp8_lookup(dtype));
		return;
	}
	emu_row_widen_ref(dtype, src, step, dst, n);
}

static void store_int(uint8_t *dst, unsigned int size, int64_t v)
{
	uint32_t u = (uint32_t)v;

	memcpy(dst, &u, size);
}

/* e8m0 holds powers of two: the exponent of the magnitude, rounded down; NaN, Inf and overflow give
 * FF. */
static uint8_t e8m0_encode(uint32_t bits)
{
	return (uint8_t)((bits & 0x7fffffffu) >> 23);
}

static void narrow_one(unsigned int dtype, uint8_t *dst, float f, const struct emu_round *round)
{
	const struct emu_float_format *fmt = emu_dtype_format(dtype);
	uint32_t code, bits = emu_f32_bits(f);
	uint64_t random = 0;

	switch (dtype) {
	case TRN_DTYPE_INT8:
		store_int(dst, 1, emu_f32_to_int(f, INT8_MIN, INT8_MAX));
		return;
	case TRN_DTYPE_UINT8:
		store_int(dst, 1, emu_f32_to_int(f, 0, UINT8_MAX));
		return;
	case TRN_DTYPE_INT16:
		store_int(dst, 2, emu_f32_to_int(f, INT16_MIN, INT16_MAX));
		return;
	case TRN_DTYPE_UINT16:
		store_int(dst, 2, emu_f32_to_int(f, 0, UINT16_MAX));
		return;
	case TRN_DTYPE_INT32:
		store_int(dst, 4, emu_f32_to_int(f, INT32_MIN, INT32_MAX));
		return;
	case TRN_DTYPE_UINT32:
		store_int(dst, 4, emu_f32_to_int(f, 0, UINT32_MAX));
		return;
	case TRN_DTYPE_FP8_E8M0:
		*dst = e8m0_encode(bits);
		return;
	}
	if (!fmt) { /* fp32, fp32r */
		if (round->flush && !(bits & F32_INF))
			bits &= 0x80000000u;
		memcpy(dst, &bits, sizeof(bits));
		return;
	}
	if (round->stochastic) {
		random = emu_xorwow_next(round->stochastic);
		random |= (uint64_t)emu_xorwow_next(round->stochastic) << 32;
	}
	code = emu_float_encode(fmt, bits, round->stochastic != NULL, random, round->saturate);
	if (round->flush && !(code >> fmt->man & ((1u << fmt->exp) - 1)))
		code &= 1u << (fmt->exp + fmt->man);
	if (dtype == TRN_DTYPE_TF32)
		code <<= 13;
	memcpy(dst, &code, emu_dtype_size(dtype));
}

void emu_row_narrow_ref(unsigned int dtype, uint8_t *dst, int64_t step, const float *src,
			uint32_t n, const struct emu_round *round)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		narrow_one(dtype, dst + step * i, src[i], round);
}

static void narrow_bf16(uint16_t *dst, const float *src, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t u = emu_f32_bits(src[i]);
		uint32_t r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;

		dst[i] =
			(uint16_t)((u & 0x7fffffffu) > F32_INF ? (u >> 16 & 0x8000u) | 0x7fc0u : r);
	}
}

/*
 * Normal results round in the integer domain; subnormal ones by adding 0.5, whose last mantissa bit
 * is worth 2^-24, the smallest subnormal, so that the FP32 addition does the rounding.
 */
static void narrow_fp16(uint16_t *dst, const float *src, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t u = emu_f32_bits(src[i]), mag = u & 0x7fffffffu;
		uint32_t normal = (mag - 0x38000000u + 0xfffu + (mag >> 13 & 1)) >> 13;
		uint32_t small = emu_f32_bits(emu_bits_f32(mag < 0x38800000u ? mag : 0) + 0.5f) -
				 0x3f000000u;
		uint32_t r = mag < 0x38800000u ? small : normal;

		r = mag >= 0x477ff000u ? 0x7c00u : r;
		r = mag > F32_INF ? 0x7e00u : r;
		dst[i] = (uint16_t)(r | (u >> 16 & 0x8000u));
	}
}

static void narrow_4byte(uint8_t *dst, int64_t step, const float *src, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		memcpy(dst + step * i, &src[i], sizeof(float));
}

void emu_row_narrow(unsigned int dtype, uint8_t *dst, int64_t step, const float *src, uint32_t n,
		    const struct emu_round *round)
{
	bool plain = !round->stochastic && !round->saturate && !round->flush;

	switch (dtype) {
	case TRN_DTYPE_FP32:
	case TRN_DTYPE_FP32R:
		if (round->flush)
			break;
		if (step == 4)
			memcpy(dst, src, (size_t)n * sizeof(float));
		else
			narrow_4byte(dst, step, src, n);
		return;
	case TRN_DTYPE_BF16:
		if (plain && step == 2) {
			narrow_bf16((uint16_t *)(void *)dst, src, n);
			return;
		}
		break;
	case TRN_DTYPE_FP16:
		if (plain && step == 2) {
			narrow_fp16((uint16_t *)(void *)dst, src, n);
			return;
		}
		break;
	}
	emu_row_narrow_ref(dtype, dst, step, src, n, round);
}
