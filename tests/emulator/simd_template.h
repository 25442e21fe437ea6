/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Body of the vector loops. The including file defines
 *   SIMD_NAME   name of the instruction set, also the suffix of the table
 *   SIMD_TARGET function attribute that enables it, or nothing
 *   SIMD_BYTES  bytes of a vector
 *   SIMD_MR, SIMD_NV  rows and vectors of the register tile; SIMD_MR divides 8, SIMD_NV vectors
 * divide 32 columns
 */
#include <string.h>
#include "alu.h"
#include "numeric.h"
#include "simd.h"

#define SIMD_PASTE_(a, b) a##b
#define SIMD_PASTE(a, b)  SIMD_PASTE_(a, b)
#define SIMD_STRING_(a)	  #a
#define SIMD_STRING(a)	  SIMD_STRING_(a)

typedef float vf __attribute__((vector_size(SIMD_BYTES)));
typedef int32_t vi __attribute__((vector_size(SIMD_BYTES)));
typedef float vf_mem __attribute__((vector_size(SIMD_BYTES), aligned(4), may_alias));

#define VL     (SIMD_BYTES / 4)
#define FN     SIMD_TARGET static
#define INLINE SIMD_TARGET static inline __attribute__((always_inline))

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Vectors never cross a real function call: these are macros so that no calling convention is
 * involved. */
#define load(p)		((vf) * (const vf_mem *)(const void *)(p))
#define store(p, v)	(*(vf_mem *)(void *)(p) = (vf_mem)(v))
#define splat(s)	((s) - (vf){ 0 })
#define splat_i(s)	((s) - (vi){ 0 })
#define select(m, a, b) ((vf)(((vi)(a) & (m)) | ((vi)(b) & ~(m))))
#define canon(v)	select((v) == (v), (v), (vf)splat_i(0x7fc00000))
#define truth(m)	((vf)((m)&splat_i(0x3f800000)))
#define absv(v)		((vf)((vi)(v)&splat_i(0x7fffffff)))

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
#define op_mul(a, b)	 ((a) * (b))
#define op_max(a, b)	 canon(select(((a) > (b)) | ((b) != (b)), (a), (b)))
#define op_min(a, b)	 canon(select(((a) < (b)) | ((b) != (b)), (a), (b)))
#define op_abs_max(a, b) canon(select((absv(a) > absv(b)) | ((b) != (b)), (a), (b)))
#define op_abs_min(a, b) canon(select((absv(a) < absv(b)) | ((b) != (b)), (a), (b)))
#define op_relu(a)	 canon(select(((a) > splat(0.0f)) | ((a) != (a)), (a), splat(0.0f)))
#define zero		 splat(0.0f)

#define VECTOR_LOOP(op_, expr)                 \
	case op_:                              \
		for (; i + VL <= n; i += VL) { \
			LOOP_OPERANDS;         \
			store(dst + i, expr);  \
		}                              \
		break

#define VECTOR_SWITCH                                                        \
	switch (op) {                                                        \
		VECTOR_LOOP(TRN_ALU_BYPASS, canon(x));                       \
		VECTOR_LOOP(TRN_ALU_ADD, canon(x + y));                      \
		VECTOR_LOOP(TRN_ALU_SUB, canon(x - y));                      \
		VECTOR_LOOP(TRN_ALU_MUL, canon(op_mul(x, y)));               \
		VECTOR_LOOP(TRN_ALU_MAX, op_max(x, y));                      \
		VECTOR_LOOP(TRN_ALU_MIN, op_min(x, y));                      \
		VECTOR_LOOP(TRN_ALU_EQ, truth(x == y));                      \
		VECTOR_LOOP(TRN_ALU_NE, truth(x != y));                      \
		VECTOR_LOOP(TRN_ALU_GT, truth(x > y));                       \
		VECTOR_LOOP(TRN_ALU_GE, truth(x >= y));                      \
		VECTOR_LOOP(TRN_ALU_LT, truth(x < y));                       \
		VECTOR_LOOP(TRN_ALU_LE, truth(x <= y));                      \
		VECTOR_LOOP(TRN_ALU_LAND, truth((x != zero) & (y != zero))); \
		VECTOR_LOOP(TRN_ALU_LOR, truth((x != zero) | (y != zero)));  \
		VECTOR_LOOP(TRN_ALU_LXOR, truth((x != zero) ^ (y != zero))); \
		VECTOR_LOOP(TRN_ALU_ABS_MAX, op_abs_max(x, y));              \
		VECTOR_LOOP(TRN_ALU_ABS_MIN, op_abs_min(x, y));              \
		VECTOR_LOOP(TRN_ALU_ABS, canon(absv(x)));                    \
		VECTOR_LOOP(TRN_ALU_SQUARE, canon(op_mul(x, x)));            \
		VECTOR_LOOP(TRN_ALU_RELU, op_relu(x));                       \
		VECTOR_LOOP(TRN_ALU_RECIP, canon(splat(1.0f) / x));          \
		VECTOR_LOOP(TRN_ALU_LNOT, truth(x == zero));                 \
	default:                                                             \
		return false;                                                \
	}

#define LOOP_OPERANDS                        \
	vf x = load(a + i), y = load(b + i); \
	(void)x;                             \
	(void)y

FN bool simd_row_vv(unsigned int op, float *dst, const float *a, const float *b, uint32_t n)
{
	uint32_t i = 0;

	VECTOR_SWITCH
	for (; i < n; i++)
		dst[i] = emu_alu_f32(op, a[i], b[i]);
	return true;
}

#undef LOOP_OPERANDS
#define LOOP_OPERANDS                     \
	vf x = load(a + i), y = splat(b); \
	(void)x;                          \
	(void)y

FN bool simd_row_vs_plain(unsigned int op, float *dst, const float *a, float b, uint32_t n)
{
	uint32_t i = 0;

	VECTOR_SWITCH
	for (; i < n; i++)
		dst[i] = emu_alu_f32(op, a[i], b);
	return true;
}

#undef LOOP_OPERANDS
#define LOOP_OPERANDS                     \
	vf y = load(a + i), x = splat(b); \
	(void)x;                          \
	(void)y

FN bool simd_row_vs_reverse(unsigned int op, float *dst, const float *a, float b, uint32_t n)
{
	uint32_t i = 0;

	VECTOR_SWITCH
	for (; i < n; i++)
		dst[i] = emu_alu_f32(op, b, a[i]);
	return true;
}

static bool simd_row_vs(unsigned int op, float *dst, const float *a, float b, bool reverse,
			uint32_t n)
{
	return reverse ? simd_row_vs_reverse(op, dst, a, b, n)
		       : simd_row_vs_plain(op, dst, a, b, n);
}

/*
 * Activation functions on double vectors. Elements are independent and no operation is fused, so
 * every instruction set gives the same bits; emu_act_reference() says what the exact result is, and
 * a test holds these loops to one unit in the last place of it.
 */
typedef double vd __attribute__((vector_size(SIMD_BYTES)));
typedef int64_t vl __attribute__((vector_size(SIMD_BYTES)));
typedef float vfh __attribute__((vector_size(SIMD_BYTES / 2)));
typedef float vfh_mem __attribute__((vector_size(SIMD_BYTES / 2), aligned(4), may_alias));

#define VLD		  (SIMD_BYTES / 8)
#define splat_d(s)	  ((s) - (vd){ 0 })
#define splat_l(s)	  ((s) - (vl){ 0 })
#define select_d(m, a, b) ((vd)(((vl)(a) & (m)) | ((vl)(b) & ~(m))))
#define abs_d(v)	  ((vd)((vl)(v)&splat_l(INT64_MAX)))

#define LOG2E	    1.4426950408889634074
#define LN2_HIGH    0x1.62e42feep-1 /* 33 bits: times an exponent it is exact */
#define LN2_LOW	    0x1.a39ef35793c76p-33
#define ROUND_MAGIC 0x1.8p52
#define EXP_LIMIT   700.0 /* beyond the range of FP32 either way, inside that of double */

/* e^x = 2^k e^r, |r| <= ln 2 / 2, e^r by its series to r^13. */
#define exp_d(result, argument)                                                   \
	do {                                                                      \
		static const double c_[] = {                                      \
			1.0,                                                      \
			1.0,                                                      \
			1.0 / 2,                                                  \
			1.0 / 6,                                                  \
			1.0 / 24,                                                 \
			1.0 / 120,                                                \
			1.0 / 720,                                                \
			1.0 / 5040,                                               \
			1.0 / 40320,                                              \
			1.0 / 362880,                                             \
			1.0 / 3628800,                                            \
			1.0 / 39916800,                                           \
			1.0 / 479001600,                                          \
			1.0 / 6227020800.0,                                       \
		};                                                                \
		vd x_ = (argument), k_, r_, p_;                                   \
		int i_;                                                           \
                                                                                  \
		x_ = select_d(x_ > splat_d(EXP_LIMIT), splat_d(EXP_LIMIT), x_);   \
		x_ = select_d(x_ < splat_d(-EXP_LIMIT), splat_d(-EXP_LIMIT), x_); \
		k_ = x_ * splat_d(LOG2E) + splat_d(ROUND_MAGIC);                  \
		r_ = x_ - (k_ - splat_d(ROUND_MAGIC)) * splat_d(LN2_HIGH);        \
		r_ -= (k_ - splat_d(ROUND_MAGIC)) * splat_d(LN2_LOW);             \
		p_ = splat_d(c_[13]);                                             \
		UNROLL                                                            \
		for (i_ = 12; i_ >= 0; i_--)                                      \
			p_ = p_ * r_ + splat_d(c_[i_]);                           \
		(result) = p_ * (vd)(((vl)k_ + splat_l(INT64_C(1023))) << 52);    \
	} while (0)

/*
 * Distribution function of the normal distribution and e^(-x^2 / 2). With z = |x| / sqrt 2,
 * (1 + 2z) e^(z^2) erfc z is a polynomial in (z - 3.75) / (z + 3.75) to 2e-16.
 */
static const double SIMD_PASTE(erfcx_, SIMD_NAME)[] = {
	1.2375126308378275,	 -0.14024059858554522,	  0.0035854154854663067,
	0.08227673848999159,	 -0.10880393014193915,	  0.09230432116435616,
	-0.058693398584491845,	 0.028362277371370044,	  -0.00974657962081509,
	0.0017556261692276722,	 0.00029371408777227685,  -0.0002901553656394713,
	5.164737123871838e-05,	 2.238759272534769e-05,	  -1.143961526007595e-05,
	-9.79297529099823e-07,	 1.7438577411359181e-06,  -5.0816911811698186e-08,
	-2.4996538037405243e-07, 1.8778501156468795e-08,  3.256499083798513e-08,
	-1.952790162974837e-09,	 -2.7293941332533855e-09,
};

#define ERFCX_TERMS 23

#define normal_d(cdf, bell, argument)                                                           \
	do {                                                                                    \
		vd n_ = (argument), z_ = abs_d(n_) * splat_d(0.70710678118654752440), q_, inv_, \
		   t_;                                                                          \
		int j_;                                                                         \
                                                                                                \
		/* Beyond 40 the tail is 0 in FP32; the limit keeps Inf out of the quotient. */ \
		z_ = select_d(z_ > splat_d(40.0), splat_d(40.0), z_);                           \
		exp_d(bell, splat_d(-0.5) * n_ * n_);                                           \
		inv_ = splat_d(1.0) / ((z_ + splat_d(3.75)) * (splat_d(1.0) + z_ + z_));        \
		t_ = (z_ - splat_d(3.75)) * (splat_d(1.0) + z_ + z_) * inv_;                    \
		q_ = splat_d(SIMD_PASTE(erfcx_, SIMD_NAME)[ERFCX_TERMS - 1]);                   \
		UNROLL                                                                          \
		for (j_ = ERFCX_TERMS - 2; j_ >= 0; j_--)                                       \
			q_ = q_ * t_ + splat_d(SIMD_PASTE(erfcx_, SIMD_NAME)[j_]);              \
		q_ = splat_d(0.5) * q_ * (z_ + splat_d(3.75)) * inv_ * (bell);                  \
		(cdf) = select_d(n_ > splat_d(0.0), splat_d(1.0) - q_, q_);                     \
	} while (0)

#define sigmoid_d(result, argument)                            \
	do {                                                   \
		vd e_;                                         \
                                                               \
		exp_d(e_, -(argument));                        \
		(result) = splat_d(1.0) / (splat_d(1.0) + e_); \
	} while (0)

/* x * f where f vanishes: -Inf and large negative x give -0 instead of NaN or a wrong tail. */
#define times_d(x, f) select_d((x) < splat_d(-1e9), splat_d(-0.0), (x) * (f))

#define tanh_d(result, argument)                                                              \
	do {                                                                                  \
		vd a_ = abs_d(argument), s_ = a_ * a_, big_, small_;                          \
                                                                                              \
		exp_d(big_, splat_d(-2.0) * a_);                                              \
		big_ = (splat_d(1.0) - big_) / (splat_d(1.0) + big_);                         \
		small_ = a_ + a_ * s_ *                                                       \
				      (splat_d(-1.0 / 3) +                                    \
				       s_ * (splat_d(2.0 / 15) + s_ * splat_d(-17.0 / 315))); \
		big_ = select_d(a_ < splat_d(0.02), small_, big_);                            \
		(result) = (vd)((vl)big_ | ((vl)(argument)&splat_l(INT64_MIN)));              \
	} while (0)

#define ACT_LOOP(code, body)                                                                       \
	case code:                                                                                 \
		for (i = 0; i + VLD <= n; i += VLD) {                                              \
			vd x = __builtin_convertvector(                                            \
				   (vfh) * (const vfh_mem *)(const void *)(src + i), vd),          \
			   y, s, t;                                                                \
                                                                                                   \
			(void)s;                                                                   \
			(void)t;                                                                   \
			body;                                                                      \
			y = select_d(y == y, y, splat_d(__builtin_nan("")));                       \
			*(vfh_mem *)(void *)(dst + i) = (vfh_mem) __builtin_convertvector(y, vfh); \
		}                                                                                  \
		break

/* Whole vectors only; false when there is no loop for the function. */
FN bool simd_act_whole(unsigned int func, float *dst, const float *src, uint32_t n)
{
	uint32_t i;

	switch (func) {
		ACT_LOOP(TRN_ACT_EXP, exp_d(y, x));
		ACT_LOOP(TRN_ACT_SIGMOID, sigmoid_d(y, x));
		ACT_LOOP(TRN_ACT_SILU, sigmoid_d(s, x); y = times_d(x, s));
		ACT_LOOP(TRN_ACT_SILU_DX, sigmoid_d(s, x); sigmoid_d(t, -x); t = x * s * t;
			 y = s + select_d(abs_d(x) > splat_d(1e9), splat_d(0.0), t));
		ACT_LOOP(TRN_ACT_TANH, tanh_d(y, x));
		ACT_LOOP(TRN_ACT_GELU, normal_d(s, t, x); y = times_d(x, s));
		ACT_LOOP(TRN_ACT_GELU_DX, normal_d(s, t, x);
			 t = x * splat_d(0.39894228040143267794) * t;
			 y = s + select_d(abs_d(x) > splat_d(1e9), splat_d(0.0), t));
		ACT_LOOP(TRN_ACT_GELU_APPRX_TANH, t = splat_d(2 * 0.79788456080286535588) *
						      (x + splat_d(0.044715) * x * x * x);
			 sigmoid_d(s, t); y = times_d(x, s));
		ACT_LOOP(TRN_ACT_GELU_APPRX_SIGMOID, t = splat_d(1.702) * x; sigmoid_d(s, t);
			 y = times_d(x, s));
		ACT_LOOP(TRN_ACT_ERF_DX, exp_d(s, -(x * x));
			 y = splat_d(1.12837916709551257390) * s);
	default:
		return false;
	}
	return true;
}

static bool simd_act(unsigned int func, float *dst, const float *src, uint32_t n)
{
	uint32_t whole = n - n % VLD, rest = n - whole;
	float tail[VLD] = { 0 };

	if (!simd_act_whole(func, dst, src, whole))
		return false;
	if (rest) {
		memcpy(tail, src + whole, rest * sizeof(float));
		simd_act_whole(func, tail, tail, VLD);
		memcpy(dst + whole, tail, rest * sizeof(float));
	}
	return true;
}

const struct emu_simd SIMD_PASTE(emu_simd_, SIMD_NAME) = {
	.name = SIMD_STRING(SIMD_NAME),
	.gemm = simd_gemm,
	.row_vv = simd_row_vv,
	.row_vs = simd_row_vs,
	.act = simd_act,
};
