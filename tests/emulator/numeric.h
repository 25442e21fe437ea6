/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Number formats of the NeuronCore: conversion of every on-chip type from and to FP32, with the
 * rounding modes.
 *
 * Widening is exact and keeps the sign and payload of a NaN. Narrowing rounds to nearest even or
 * stochastically, once.
 */
#ifndef EMU_NUMERIC_H
#define EMU_NUMERIC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "trainium/isa.h"
#include "rng.h"

#define EMU_NAN_BITS 0x7fc00000u /* result of every invalid or NaN-consuming FP32 operation */

/** struct emu_round - how a store narrows. */
struct emu_round {
	struct emu_xorwow *stochastic; /* NULL: round to nearest even */
	bool saturate; /* overflow gives the largest finite value instead of Inf or NaN */
	bool flush;    /* subnormal results become zero of the same sign */
};

/** struct emu_float_format - a binary format of at most 32 bits: 1 sign, @exp exponent, @man
 * mantissa bits. */
struct emu_float_format {
	uint8_t exp;
	uint8_t man;
	int16_t bias;
	uint32_t max; /* code of the largest finite value */
	uint32_t inf; /* code of infinity, or of NaN where the format has none */
	uint32_t nan; /* canonical NaN; 0: the format has none */
};

static inline uint32_t emu_f32_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static inline float emu_bits_f32(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

/** emu_f32_canon() - @f, or the canonical NaN. */
static inline float emu_f32_canon(float f)
{
	return f != f ? emu_bits_f32(EMU_NAN_BITS) : f;
}

/** emu_dtype_size() - bytes of an element, 0 for an unknown code. */
unsigned int emu_dtype_size(unsigned int dtype);
/** emu_dtype_is_int() - 8-, 16- or 32-bit integer. */
bool emu_dtype_is_int(unsigned int dtype);
/** emu_dtype_generation() - first generation that has the type on chip, 0: never on chip. */
unsigned int emu_dtype_generation(unsigned int dtype);
/** emu_dtype_format() - format of a float type other than fp32 and fp32r, NULL otherwise. */
const struct emu_float_format *emu_dtype_format(unsigned int dtype);

/** emu_float_encode() - narrow FP32 bits to @fmt. @random: 64 random bits, used when @stochastic.
 */
uint32_t emu_float_encode(const struct emu_float_format *fmt, uint32_t f32, bool stochastic,
			  uint64_t random, bool saturate);
/** emu_float_decode() - widen a code of @fmt to FP32 bits. */
uint32_t emu_float_decode(const struct emu_float_format *fmt, uint32_t code);

/** emu_f32_to_int() - RNE, saturating; NaN gives 0. */
int64_t emu_f32_to_int(float f, int64_t min, int64_t max);

/** emu_value_load() - element of @dtype at @src as FP32. */
float emu_value_load(unsigned int dtype, const void *src);
/** emu_value_store() - FP32 @f as element of @dtype at @dst. */
void emu_value_store(unsigned int dtype, void *dst, float f, const struct emu_round *round);

/*
 * Strided rows: @n elements, @step bytes apart. The pointers are naturally aligned for the type.
 * The plain names choose a vector loop where one exists; *_ref is element by element and gives the
 * same bits.
 */
void emu_row_widen(unsigned int dtype, const uint8_t *src, int64_t step, float *dst, uint32_t n);
void emu_row_narrow(unsigned int dtype, uint8_t *dst, int64_t step, const float *src, uint32_t n,
		    const struct emu_round *round);
void emu_row_widen_ref(unsigned int dtype, const uint8_t *src, int64_t step, float *dst,
		       uint32_t n);
void emu_row_narrow_ref(unsigned int dtype, uint8_t *dst, int64_t step, const float *src,
			uint32_t n, const struct emu_round *round);

#endif /* EMU_NUMERIC_H */
