/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Vector loops, compiled once per instruction set from simd_template.h and chosen once at run time.
 *
 * Every variant does the same FP32 operations in the same order on each element, so all give the
 * same bits.
 */
#ifndef EMU_SIMD_H
#define EMU_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_TILE_ROWS 8	 /* rows of a matrix tile: columns of the stationary operand */
#define EMU_TILE_COLS 32 /* columns of a matrix tile: columns of the moving operand */

/** struct emu_simd - the loops of one instruction set. */
struct emu_simd {
	const char *name;
	/**
	 * @gemm: C[8][32] = (C +) sum over k of a[k][0..7] * b[k][0..31], k ascending from +0, one
	 * multiply and one add each, NaN results canonical. @ldc: floats from a row of C to the
	 * next.
	 */
	void (*gemm)(const float *a, const float *b, uint32_t k, float *c, size_t ldc,
		     bool accumulate);
	/** @row_vv, @row_vs: operator on rows; false: no vector loop for @op, nothing done. */
	bool (*row_vv)(unsigned int op, float *dst, const float *a, const float *b, uint32_t n);
	bool (*row_vs)(unsigned int op, float *dst, const float *a, float b, bool reverse,
		       uint32_t n);
	/** @act: activation function of a row; false: no vector loop for @func. dst may be src. */
	bool (*act)(unsigned int func, float *dst, const float *src, uint32_t n);
};

extern const struct emu_simd emu_simd_base;
extern const struct emu_simd emu_simd_avx2;
extern const struct emu_simd emu_simd_avx512vl;
extern const struct emu_simd emu_simd_avx512;

/** emu_simd_get() - the best variant of this processor for rows; any thread. */
const struct emu_simd *emu_simd_get(void);
/** emu_simd_matrix() - the best variant of this processor for @gemm; any thread. */
const struct emu_simd *emu_simd_matrix(void);
/** emu_simd_variant() - variant @i that this processor can run, NULL past the last; for tests. */
const struct emu_simd *emu_simd_variant(unsigned int i);

#endif /* EMU_SIMD_H */
