// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Number formats: one generic encoder and decoder for every binary format, and typed access to
 * single values. Row conversions are in numeric_row.c.
 */
#include <math.h>
#include "numeric.h"

#define F32_EXP_MASK 0x7f800000u
#define F32_MAN_MASK 0x007fffffu
#define F32_SIGN     0x80000000u

static const struct emu_float_format format_bf16 = { 8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0 };
static const struct emu_float_format format_fp16 = { 5, 10, 15, 0x7bff, 0x7c00, 0x7e00 };
static const struct emu_float_format format_tf32 = { 8, 10, 127, 0x3fbff, 0x3fc00, 0x3fe00 };
static const struct emu_float_format format_e3m4 = { 3, 4, 3, 0x6f, 0x70, 0x78 };
static const struct emu_float_format format_e4m3 = { 4, 3, 7, 0x77, 0x78, 0x7c };
static const struct emu_float_format format_e5m2 = { 5, 2, 15, 0x7b, 0x7c, 0x7e };
static const struct emu_float_format format_e4m3fn = { 4, 3, 7, 0x7e, 0x7f, 0x7f };

unsigned int emu_dtype_size(unsigned int dtype)
{
	return trn_isa_dtype_bytes(dtype);
}

bool emu_dtype_is_int(unsigned int dtype)
{
	switch (dtype) {
	case TRN_DTYPE_INT8:
	case TRN_DTYPE_UINT8:
	case TRN_DTYPE_INT16:
	case TRN_DTYPE_UINT16:
	case TRN_DTYPE_INT32:
	case TRN_DTYPE_UINT32:
		return true;
	}
	return false;
}

unsigned int emu_dtype_generation(unsigned int dtype)
{
	switch (dtype) {
	case TRN_DTYPE_FP8_E4M3FN:
	case TRN_DTYPE_FP8_E8M0:
	case TRN_DTYPE_FP8_E5M2_X4:
	case TRN_DTYPE_FP8_E4M3FN_X4:
	case TRN_DTYPE_FP4_E2M1_X4:
		return 4;
	case TRN_DTYPE_INT64:
	case TRN_DTYPE_UINT64:
		return 0;
	}
	return emu_dtype_size(dtype) ? 2 : 0;
}

const struct emu_float_format *emu_dtype_format(unsigned int dtype)
{
	switch (dtype) {
	case TRN_DTYPE_BF16:
		return &format_bf16;
	case TRN_DTYPE_FP16:
		return &format_fp16;
	case TRN_DTYPE_TF32:
		return &format_tf32;
	case TRN_DTYPE_FP8_E3M4:
		return &format_e3m4;
	case TRN_DTYPE_FP8_E4M3:
		return &format_e4m3;
	case TRN_DTYPE_FP8_E5M2:
		return &format_e5m2;
	case TRN_DTYPE_FP8_E4M3FN:
		return &format_e4m3fn;
	}
	return NULL;
}

/* Removes the low @drop bits of @m with one rounding. @m < 2^24. */
static uint32_t shift_round(uint32_t m, int drop, bool stochastic, uint64_t random)
{
	uint64_t rem, half;
	uint32_t q;

	if (drop <= 0)
		return m;
	if (drop > 63)
		return 0;
	if (stochastic)
		return (uint32_t)((m + (random & ((1ull << drop) - 1))) >> drop);
	q = drop < 32 ? m >> drop : 0;
	rem = m & ((1ull << drop) - 1);
	half = 1ull << (drop - 1);
	return q + (rem > half || (rem == half && (q & 1)));
}

uint32_t emu_float_encode(const struct emu_float_format *fmt, uint32_t f32, bool stochastic,
			  uint64_t random, bool saturate)
{
	uint32_t sign = (f32 & F32_SIGN) ? 1u << (fmt->exp + fmt->man) : 0;
	uint32_t mag = f32 & ~F32_SIGN, m, code;
	int exp, drop, emin = 1 - fmt->bias;

	if (mag > F32_EXP_MASK)
		return sign | fmt->nan;
	if (mag == F32_EXP_MASK)
		return sign | (saturate && fmt->inf == fmt->nan ? fmt->max : fmt->inf);
	exp = (int)(mag >> 23) - 127;
	m = mag & F32_MAN_MASK;
	if (mag >> 23)
		m |= 1u << 23;
	else
		exp = -126;
	drop = 23 - fmt->man;
	if (exp >= emin) {
		m = shift_round(m, drop, stochastic, random);
		/* m carries the implicit bit when the value is normal, so it advances the exponent
		 * field by one. */
		code = ((uint32_t)(exp + fmt->bias - 1) << fmt->man) + m;
	} else {
		code = shift_round(m, drop + emin - exp, stochastic, random);
	}
	if (code > fmt->max)
		code = saturate ? fmt->max : fmt->inf;
	return sign | code;
}

uint32_t emu_float_decode(const struct emu_float_format *fmt, uint32_t code)
{
	uint32_t sign = (code >> (fmt->exp + fmt->man) & 1) ? F32_SIGN : 0;
	uint32_t mag = code & ((1u << (fmt->exp + fmt->man)) - 1);
	uint32_t man = mag & ((1u << fmt->man) - 1);
	int exp = (int)(mag >> fmt->man);

	if (fmt->inf == fmt->nan) { /* no Inf: one code is NaN, the rest of its binade is finite */
		if (mag == fmt->nan)
			return sign | EMU_NAN_BITS;
	} else if (mag >= fmt->inf) {
		return sign | F32_EXP_MASK | man << (23 - fmt->man);
	}
	if (exp)
		return sign | (uint32_t)(exp - fmt->bias + 127) << 23 | man << (23 - fmt->man);
	if (fmt->bias == 127) /* same exponent range as FP32: subnormals stay subnormals */
		return sign | man << (23 - fmt->man);
	return sign | emu_f32_bits(ldexpf((float)man, 1 - fmt->bias - fmt->man));
}

int64_t emu_f32_to_int(float f, int64_t min, int64_t max)
{
	double d;

	if (f != f)
		return 0;
	d = nearbyint((double)f);
	if (d <= (double)min)
		return min;
	if (d >= (double)max)
		return max;
	return (int64_t)d;
}

float emu_value_load(unsigned int dtype, const void *src)
{
	float f;

	emu_row_widen_ref(dtype, src, 0, &f, 1);
	return f;
}

void emu_value_store(unsigned int dtype, void *dst, float f, const struct emu_round *round)
{
	emu_row_narrow_ref(dtype, dst, 0, &f, 1, round);
}
