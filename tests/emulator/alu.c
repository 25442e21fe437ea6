// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ALU operators, one value at a time, and the element-by-element rows built on them.
 */
#include <math.h>
#include "alu.h"
#include "numeric.h"
#include "simd.h"

enum emu_alu_class emu_alu_class(unsigned int op)
{
	if (op == TRN_ALU_BYPASS)
		return EMU_ALU_PASS;
	if (op >= TRN_ALU_ADD && op <= TRN_ALU_LNOT)
		return EMU_ALU_ARITH;
	if (op >= TRN_ALU_NOT && op <= TRN_ALU_SHR)
		return EMU_ALU_BIT;
	return EMU_ALU_NONE;
}

bool emu_alu_is_unary(unsigned int op)
{
	return (op >= TRN_ALU_ABS && op <= TRN_ALU_LNOT) || op == TRN_ALU_NOT;
}

bool emu_alu_is_reduction(unsigned int op)
{
	switch (op) {
	case TRN_ALU_ADD:
	case TRN_ALU_SUB:
	case TRN_ALU_MUL:
	case TRN_ALU_MAX:
	case TRN_ALU_MIN:
	case TRN_ALU_LAND:
	case TRN_ALU_LOR:
	case TRN_ALU_LXOR:
	case TRN_ALU_AND:
	case TRN_ALU_OR:
	case TRN_ALU_XOR:
		return true;
	}
	return false;
}

bool emu_alu_pool_only(unsigned int op)
{
	return op == TRN_ALU_POW || op == TRN_ALU_RSQRT;
}

/* max and min: a NaN operand gives the other one; equal operands (zeros of both signs) give the
 * second. */
static float alu_max(float a, float b)
{
	return a > b || b != b ? a : b;
}

static float alu_min(float a, float b)
{
	return a < b || b != b ? a : b;
}

float emu_alu_f32(unsigned int op, float a, float b)
{
	switch (op) {
	case TRN_ALU_ADD:
		return emu_f32_canon(a + b);
	case TRN_ALU_SUB:
		return emu_f32_canon(a - b);
	case TRN_ALU_MUL:
		return emu_f32_canon(a * b);
	case TRN_ALU_MAX:
		return emu_f32_canon(alu_max(a, b));
	case TRN_ALU_MIN:
		return emu_f32_canon(alu_min(a, b));
	case TRN_ALU_EQ:
		return a == b;
	case TRN_ALU_NE:
		return a != b;
	case TRN_ALU_GT:
		return a > b;
	case TRN_ALU_GE:
		return a >= b;
	case TRN_ALU_LT:
		return a < b;
	case TRN_ALU_LE:
		return a <= b;
	case TRN_ALU_LAND:
		return a != 0 && b != 0;
	case TRN_ALU_LOR:
		return a != 0 || b != 0;
	case TRN_ALU_LXOR:
		return (a != 0) != (b != 0);
	case TRN_ALU_POW:
		return emu_f32_canon((float)pow((double)a, (double)b));
	case TRN_ALU_ABS_MAX:
		return emu_f32_canon(fabsf(a) > fabsf(b) || b != b ? a : b);
	case TRN_ALU_ABS_MIN:
		return emu_f32_canon(fabsf(a) < fabsf(b) || b != b ? a : b);
	case TRN_ALU_ABS:
		return emu_f32_canon(fabsf(a));
	case TRN_ALU_SQUARE:
		return emu_f32_canon(a * a);
	case TRN_ALU_RELU:
		return a != a ? emu_f32_canon(a) : a > 0 ? a : 0;
	case TRN_ALU_RSQRT:
		return emu_f32_canon((float)(1.0 / sqrt((double)a)));
	case TRN_ALU_RECIP:
		return emu_f32_canon(1.0f / a);
	case TRN_ALU_LNOT:
		return a == 0;
	}
	return emu_f32_canon(a);
}

uint32_t emu_alu_bits(unsigned int op, uint32_t a, uint32_t b, unsigned int width)
{
	uint32_t mask = width < 32 ? (1u << width) - 1 : 0xffffffffu, r = a;

	switch (op) {
	case TRN_ALU_NOT:
		r = ~a;
		break;
	case TRN_ALU_AND:
		r = a & b;
		break;
	case TRN_ALU_OR:
		r = a | b;
		break;
	case TRN_ALU_XOR:
		r = a ^ b;
		break;
	case TRN_ALU_SHL:
		r = b < width ? a << b : 0;
		break;
	case TRN_ALU_SHR:
		r = b < width ? (a & mask) >> b : 0;
		break;
	}
	return r & mask;
}

static bool int_less(bool is_signed, uint32_t a, uint32_t b)
{
	return is_signed ? (int32_t)a < (int32_t)b : a < b;
}

/* Signed magnitude as unsigned; the most negative value is its own magnitude 2^31. */
static uint32_t int_abs(bool is_signed, uint32_t a)
{
	return is_signed && (int32_t)a < 0 ? 0u - a : a;
}

bool emu_alu_int(unsigned int op, bool is_signed, uint32_t a, uint32_t b, uint32_t *r)
{
	switch (op) {
	case TRN_ALU_BYPASS:
		*r = a;
		return true;
	case TRN_ALU_ADD:
		*r = a + b;
		return true;
	case TRN_ALU_SUB:
		*r = a - b;
		return true;
	case TRN_ALU_MUL:
		*r = a * b;
		return true;
	case TRN_ALU_MAX:
		*r = int_less(is_signed, b, a) ? a : b;
		return true;
	case TRN_ALU_MIN:
		*r = int_less(is_signed, a, b) ? a : b;
		return true;
	case TRN_ALU_EQ:
		*r = a == b;
		return true;
	case TRN_ALU_NE:
		*r = a != b;
		return true;
	case TRN_ALU_GT:
		*r = int_less(is_signed, b, a);
		return true;
	case TRN_ALU_GE:
		*r = !int_less(is_signed, a, b);
		return true;
	case TRN_ALU_LT:
		*r = int_less(is_signed, a, b);
		return true;
	case TRN_ALU_LE:
		*r = !int_less(is_signed, b, a);
		return true;
	case TRN_ALU_LAND:
		*r = a && b;
		return true;
	case TRN_ALU_LOR:
		*r = a || b;
		return true;
	case TRN_ALU_LXOR:
		*r = !a != !b;
		return true;
	case TRN_ALU_LNOT:
		*r = !a;
		return true;
	case TRN_ALU_ABS_MAX:
		*r = int_abs(is_signed, a) > int_abs(is_signed, b) ? a : b;
		return true;
	case TRN_ALU_ABS_MIN:
		*r = int_abs(is_signed, a) < int_abs(is_signed, b) ? a : b;
		return true;
	case TRN_ALU_ABS:
		*r = int_abs(is_signed, a);
		return true;
	case TRN_ALU_SQUARE:
		*r = a * a;
		return true;
	case TRN_ALU_RELU:
		*r = is_signed && (int32_t)a < 0 ? 0 : a;
		return true;
	}
	return false;
}

bool emu_alu_reg(unsigned int op, bool reverse, uint32_t a, uint32_t b, uint32_t *r)
{
	uint32_t t = a;

	if (op == TRN_ALU_BYPASS) {
		*r = reverse ? a : b;
		return true;
	}
	if (reverse) {
		a = b;
		b = t;
	}
	if (emu_alu_class(op) == EMU_ALU_BIT) {
		*r = emu_alu_bits(op, a, b, 32);
		return true;
	}
	return emu_alu_int(op, true, a, b, r);
}

void emu_alu_row_vv_ref(unsigned int op, float *dst, const float *a, const float *b, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		dst[i] = emu_alu_f32(op, a[i], b[i]);
}

void emu_alu_row_vs_ref(unsigned int op, float *dst, const float *a, float b, bool reverse,
			uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		dst[i] = reverse ? emu_alu_f32(op, b, a[i]) : emu_alu_f32(op, a[i], b);
}

float emu_alu_identity(unsigned int op)
{
	switch (op) {
	case TRN_ALU_MUL:
	case TRN_ALU_LAND:
		return 1;
	case TRN_ALU_MAX:
		return -INFINITY;
	case TRN_ALU_MIN:
		return INFINITY;
	}
	return 0;
}

float emu_alu_reduce(unsigned int op, float acc, const float *row, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		acc = emu_alu_f32(op, acc, row[i]);
	return acc;
}

/* Eight chains of one operator; a NaN is made canonical at the end, which is where every step would
 * have left it. */
#define REDUCE_LOOP(op_, step)                    \
	case op_:                                 \
		for (i = 0; i < n; i++) {         \
			a0 = step(a0, row[0][i]); \
			a1 = step(a1, row[1][i]); \
			a2 = step(a2, row[2][i]); \
			a3 = step(a3, row[3][i]); \
			a4 = step(a4, row[4][i]); \
			a5 = step(a5, row[5][i]); \
			a6 = step(a6, row[6][i]); \
			a7 = step(a7, row[7][i]); \
		}                                 \
		break

#define step_add(a, b) ((a) + (b))
#define step_mul(a, b) ((a) * (b))

static bool reduce_eight(unsigned int op, float *acc, const float *const *row, uint32_t n)
{
	float a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3], a4 = acc[4], a5 = acc[5],
	      a6 = acc[6], a7 = acc[7];
	uint32_t i;

	switch (op) {
		REDUCE_LOOP(TRN_ALU_ADD, step_add);
		REDUCE_LOOP(TRN_ALU_MUL, step_mul);
		REDUCE_LOOP(TRN_ALU_MAX, alu_max);
		REDUCE_LOOP(TRN_ALU_MIN, alu_min);
	default:
		return false;
	}
	acc[0] = emu_f32_canon(a0);
	acc[1] = emu_f32_canon(a1);
	acc[2] = emu_f32_canon(a2);
	acc[3] = emu_f32_canon(a3);
	acc[4] = emu_f32_canon(a4);
	acc[5] = emu_f32_canon(a5);
	acc[6] = emu_f32_canon(a6);
	acc[7] = emu_f32_canon(a7);
	return true;
}

void emu_alu_reduce_rows(unsigned int op, float *acc, const float *const *row, unsigned int rows,
			 uint32_t n)
{
	unsigned int r;

	if (n && rows == EMU_REDUCE_ROWS && reduce_eight(op, acc, row, n))
		return;
	for (r = 0; r < rows; r++)
		acc[r] = emu_alu_reduce(op, acc[r], row[r], n);
}

void emu_alu_row_vv(unsigned int op, float *dst, const float *a, const float *b, uint32_t n)
{
	if (!emu_simd_get()->row_vv(op, dst, a, b, n))
		emu_alu_row_vv_ref(op, dst, a, b, n);
}

void emu_alu_row_vs(unsigned int op, float *dst, const float *a, float b, bool reverse, uint32_t n)
{
	if (!emu_simd_get()->row_vs(op, dst, a, b, reverse, n))
		emu_alu_row_vs_ref(op, dst, a, b, reverse, n);
}
