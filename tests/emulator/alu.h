/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ALU operators on FP32, raw bits, exact integers and sequencer registers.
 */
#ifndef EMU_ALU_H
#define EMU_ALU_H

#include <stdbool.h>
#include <stdint.h>
#include "trainium/isa.h"

/* Class of an operator. */
enum emu_alu_class {
	EMU_ALU_NONE,  /* not an operator */
	EMU_ALU_PASS,  /* bypass: fits either class */
	EMU_ALU_ARITH, /* FP32, or exact integers on POOL */
	EMU_ALU_BIT,   /* raw bits of integer types */
};

enum emu_alu_class emu_alu_class(unsigned int op);
/** emu_alu_is_unary() - the operator ignores its second operand. */
bool emu_alu_is_unary(unsigned int op);
/** emu_alu_is_reduction() - usable to reduce: add, sub, mul, max, min, land, lor, lxor, and, or,
 * xor. */
bool emu_alu_is_reduction(unsigned int op);
/** emu_alu_pool_only() - operators only the POOL engine has. */
bool emu_alu_pool_only(unsigned int op);

/** emu_alu_f32() - one operator step; a NaN result is the canonical NaN. Bypass gives @a. */
float emu_alu_f32(unsigned int op, float a, float b);
/** emu_alu_bits() - operator of the bit class on @width-bit values held in the low bits. */
uint32_t emu_alu_bits(unsigned int op, uint32_t a, uint32_t b, unsigned int width);
/** emu_alu_int() - exact 32-bit operator of the arithmetic class, wrapping; false when the operator
 * has no exact form. */
bool emu_alu_int(unsigned int op, bool is_signed, uint32_t a, uint32_t b, uint32_t *result);
/** emu_alu_reg() - register operator: both classes, signed comparisons; bypass gives @b. */
bool emu_alu_reg(unsigned int op, bool reverse, uint32_t a, uint32_t b, uint32_t *result);

/*
 * Rows. dst may be a or b. The plain name takes a vector loop when there is one; *_ref works
 * element by element; both give the same bits.
 */
void emu_alu_row_vv(unsigned int op, float *dst, const float *a, const float *b, uint32_t n);
void emu_alu_row_vs(unsigned int op, float *dst, const float *a, float b, bool reverse, uint32_t n);
void emu_alu_row_vv_ref(unsigned int op, float *dst, const float *a, const float *b, uint32_t n);
void emu_alu_row_vs_ref(unsigned int op, float *dst, const float *a, float b, bool reverse,
			uint32_t n);

/** emu_alu_identity() - start value of an FP32 reduction. */
float emu_alu_identity(unsigned int op);
/** emu_alu_reduce() - @acc op row[0] op row[1] … in order. */
float emu_alu_reduce(unsigned int op, float acc, const float *row, uint32_t n);

#define EMU_REDUCE_ROWS 8

/**
 * emu_alu_reduce_rows() - emu_alu_reduce() of @rows rows (at most EMU_REDUCE_ROWS), each into its
 * own acc[]. The order inside a row leaves nothing to overlap, so several rows advance together.
 */
void emu_alu_reduce_rows(unsigned int op, float *acc, const float *const *row, unsigned int rows,
			 uint32_t n);

#endif /* EMU_ALU_H */
