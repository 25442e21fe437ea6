/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Body of the vector loops. The including file defines
 *   SIMD_NAME   name of the instruction set, also the suffix of the table
 *   SIMD_TARGET function attribute that enables it, or nothing
 *   SIMD_BYTES  bytes of a vector
 *   SIMD_MR, SIMD_NV  rows and vectors of the register tile; SIMD_MR divides 8, SIMD_NV vectors divide 32 columns
 */
#include <string.h>
#include "alu.h"
#include "numeric.h"
#include "simd.h"

typedef float vf __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t vi __attribute__((vector_size(SIMD_BYTES)));
typedef float vf_mem __attribute__((vector_size(SIMD_BYTES), aligned(4), may_alias));

#define VL		(SIMD_BYTES / 4)
#define FN		SIMD_TARGET static
#define INLINE		SIMD_TARGET static inline __attribute__((always_inline))

#ifdef __clang__
#define UNROLL		_Pragma("clang loop unroll(full)")
#else
#define UNROLL		_Pragma("GCC unroll 16")
#endif

/* Vectors never cross a real function call: these are macros so that no calling convention is involved. */
#define load(p)		((vf)*(const vf_mem *)(const void *)(p))
#define store(p, v)	(*(vf_mem *)(void *)(p) = (vf_mem)(v))
#define splat(s)	((s) - (vf){ 0 })
#define splat_i(s)	((s) - (vi){ 0 })
#define select(m, a, b)	((vf)(((vi)(a) & (m)) | ((vi)(b) & ~(m))))
#define canon(v)	select((v) == (v), (v), (vf)splat_i(0x7fc00000))
#define truth(m)	((vf)((m) & splat_i(0x3f800000)))
#define absv(v)		((vf)((vi)(v) & splat_i(0x7fffffff)))

FN void simd_gemm(const float *a, const float *b, uint32_t k, float *c, size_t ldc, bool accumulate)
{
	unsigned int m0, n0, i, j;
	uint32_t kk;

	for (m0 = 0; m0 < EMU_TILE_ROWS; m0 += SIMD_MR) {
		for (n0 = 0; n0 < EMU_TILE_COLS; n0 += SIMD_NV * VL) {
			vf acc[SIMD_MR][SIMD_NV] = { { { 0 } } };
			const float *ak = a + m0, *bk = b + n0;

			for (kk = 0; kk < k; kk++, ak += EMU_TILE_ROWS, bk += EMU_TILE_COLS) {
				vf bv[SIMD_NV];

				UNROLL
				for (j = 0; j < SIMD_NV; j++)
					bv[j] = load(bk + j * VL);
				UNROLL
				for (i = 0; i < SIMD_MR; i++) {
					vf av = splat(ak[i]);

					UNROLL
					for (j = 0; j < SIMD_NV; j++)
						acc[i][j] += av * bv[j];
				}
			}
			UNROLL
			for (i = 0; i < SIMD_MR; i++) {
				UNROLL
				for (j = 0; j < SIMD_NV; j++) {
					float *out = c + (m0 + i) * ldc + n0 + j * VL;
					vf v = acc[i][j];

					if (accumulate)
						v += load(out);
					store(out, canon(v));
				}
			}
		}
	}
}

/* max and min take the first operand when it wins or the second is NaN; see alu.c. */
#define op_max(a, b)	canon(select(((a) > (b)) | ((b) != (b)), (a), (b)))
#define op_min(a, b)	canon(select(((a) < (b)) | ((b) != (b)), (a), (b)))
#define op_abs_max(a, b) canon(select((absv(a) > absv(b)) | ((b) != (b)), (a), (b)))
#define op_abs_min(a, b) canon(select((absv(a) < absv(b)) | ((b) != (b)), (a), (b)))
#define op_relu(a)	canon(select(((a) > splat(0.0f)) | ((a) != (a)), (a), splat(0.0f)))
#define zero		splat(0.0f)

#define VECTOR_LOOP(op_, expr)							\
	case op_:								\
		for (; i + VL <= n; i += VL) {					\
			LOOP_OPERANDS;						\
			store(dst + i, expr);					\
		}								\
		break

#define VECTOR_SWITCH								\
	switch (op) {								\
	VECTOR_LOOP(TRN_ALU_BYPASS, canon(x));					\
	VECTOR_LOOP(TRN_ALU_ADD, canon(x + y));					\
	VECTOR_LOOP(TRN_ALU_SUB, canon(x - y));					\
	VECTOR_LOOP(TRN_ALU_MUL, canon(x * y));					\
	VECTOR_LOOP(TRN_ALU_MAX, op_max(x, y));					\
	VECTOR_LOOP(TRN_ALU_MIN, op_min(x, y));					\
	VECTOR_LOOP(TRN_ALU_EQ, truth(x == y));					\
	VECTOR_LOOP(TRN_ALU_NE, truth(x != y));					\
	VECTOR_LOOP(TRN_ALU_GT, truth(x > y));					\
	VECTOR_LOOP(TRN_ALU_GE, truth(x >= y));					\
	VECTOR_LOOP(TRN_ALU_LT, truth(x < y));					\
	VECTOR_LOOP(TRN_ALU_LE, truth(x <= y));					\
	VECTOR_LOOP(TRN_ALU_LAND, truth((x != zero) & (y != zero)));		\
	VECTOR_LOOP(TRN_ALU_LOR, truth((x != zero) | (y != zero)));		\
	VECTOR_LOOP(TRN_ALU_LXOR, truth((x != zero) ^ (y != zero)));		\
	VECTOR_LOOP(TRN_ALU_ABS_MAX, op_abs_max(x, y));				\
	VECTOR_LOOP(TRN_ALU_ABS_MIN, op_abs_min(x, y));				\
	VECTOR_LOOP(TRN_ALU_ABS, canon(absv(x)));				\
	VECTOR_LOOP(TRN_ALU_SQUARE, canon(x * x));				\
	VECTOR_LOOP(TRN_ALU_RELU, op_relu(x));					\
	VECTOR_LOOP(TRN_ALU_RECIP, canon(splat(1.0f) / x));			\
	VECTOR_LOOP(TRN_ALU_LNOT, truth(x == zero));				\
	default:								\
		return false;							\
	}

#define LOOP_OPERANDS							\
	vf x = load(a + i), y = load(b + i);				\
	(void)x; (void)y

FN bool simd_row_vv(unsigned int op, float *dst, const float *a, const float *b, uint32_t n)
{
	uint32_t i = 0;

	VECTOR_SWITCH
	for (; i < n; i++)
		dst[i] = emu_alu_f32(op, a[i], b[i]);
	return true;
}

#undef LOOP_OPERANDS
#define LOOP_OPERANDS							\
	vf x = load(a + i), y = splat(b);				\
	(void)x; (void)y

FN bool simd_row_vs_plain(unsigned int op, float *dst, const float *a, float b, uint32_t n)
{
	uint32_t i = 0;

	VECTOR_SWITCH
	for (; i < n; i++)
		dst[i] = emu_alu_f32(op, a[i], b);
	return true;
}

#undef LOOP_OPERANDS
#define LOOP_OPERANDS							\
	vf y = load(a + i), x = splat(b);				\
	(void)x; (void)y

FN bool simd_row_vs_reverse(unsigned int op, float *dst, const float *a, float b, uint32_t n)
{
	uint32_t i = 0;

	VECTOR_SWITCH
	for (; i < n; i++)
		dst[i] = emu_alu_f32(op, b, a[i]);
	return true;
}

static bool simd_row_vs(unsigned int op, float *dst, const float *a, float b, bool reverse, uint32_t n)
{
	return reverse ? simd_row_vs_reverse(op, dst, a, b, n) : simd_row_vs_plain(op, dst, a, b, n);
}

#define SIMD_PASTE_(a, b)	a##b
#define SIMD_PASTE(a, b)	SIMD_PASTE_(a, b)
#define SIMD_STRING_(a)		#a
#define SIMD_STRING(a)		SIMD_STRING_(a)

const struct emu_simd SIMD_PASTE(emu_simd_, SIMD_NAME) = {
	.name = SIMD_STRING(SIMD_NAME),
	.gemm = simd_gemm,
	.row_vv = simd_row_vv,
	.row_vs = simd_row_vs,
};
