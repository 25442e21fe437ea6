// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Activation functions: the reference, one value at a time, and the choice of loops for rows.
 *
 * Forms are chosen so that no cancellation costs more than double precision can spare: erfc instead
 * of 1 + erf in the negative tail, log1p and expm1 near 0.
 */
#include <math.h>
#include "act_func.h"
#include "alu.h"
#include "numeric.h"
#include "simd.h"

#define SQRT_1_2	0.70710678118654752440
#define INV_SQRT_2PI	0.39894228040143267794
#define TWO_INV_SQRT_PI 1.12837916709551257390
#define SQRT_2_PI	0.79788456080286535588

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* Standard normal distribution function. */
static double normal_cdf(double x)
{
	return 0.5 * erfc(-x * SQRT_1_2);
}

static double softplus(double x)
{
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* x * f(x) where f underflows to 0 towards minus infinity faster than x grows. */
static double times(double x, double f)
{
	return f == 0 ? 0 * (x < 0 ? -1.0 : 1.0) : x * f;
}

static double gelu_tanh(double x)
{
	/* 0.5 (1 + tanh u) = sigmoid(2u), without the cancellation. */
	return times(x, sigmoid(2 * SQRT_2_PI * (x + 0.044715 * x * x * x)));
}

static double gelu_sigmoid_dx(double x)
{
	double s = sigmoid(1.702 * x);

	return s + times(1.702 * x, s * (1 - s));
}

static double silu_dx(double x)
{
	double s = sigmoid(x), t = sigmoid(-x);

	/* s (1 + x (1 - s)) */
	return s + times(x, s * t);
}

static double evaluate(unsigned int func, double x, double param)
{
	switch (func) {
	case TRN_ACT_COPY:
		return x;
	case TRN_ACT_SQUARE:
		return x * x;
	case TRN_ACT_SIGMOID:
		return sigmoid(x);
	case TRN_ACT_RELU:
		return x > 0 || x != x ? x : 0;
	case TRN_ACT_PRELU:
		return x > 0 || x != x ? x : x * param;
	case TRN_ACT_GELU:
		return times(x, normal_cdf(x));
	case TRN_ACT_GELU_DX:
		return normal_cdf(x) + times(x, INV_SQRT_2PI * exp(-0.5 * x * x));
	case TRN_ACT_GELU_APPRX_TANH:
		return gelu_tanh(x);
	case TRN_ACT_GELU_APPRX_SIGMOID:
		return times(x, sigmoid(1.702 * x));
	case TRN_ACT_GELU_APPRX_SIGMOID_DX:
		return gelu_sigmoid_dx(x);
	case TRN_ACT_SILU:
		return times(x, sigmoid(x));
	case TRN_ACT_SILU_DX:
		return silu_dx(x);
	case TRN_ACT_TANH:
		return tanh(x);
	case TRN_ACT_SOFTPLUS:
		return softplus(x);
	case TRN_ACT_MISH:
		return times(x, tanh(softplus(x)));
	case TRN_ACT_ERF:
		return erf(x);
	case TRN_ACT_ERF_DX:
		return TWO_INV_SQRT_PI * exp(-x * x);
	case TRN_ACT_EXP:
		return exp(x);
	case TRN_ACT_LOG:
		return log(x);
	case TRN_ACT_SIN:
		return sin(x);
	case TRN_ACT_ARCTAN:
		return atan(x);
	case TRN_ACT_SQRT:
		return sqrt(x);
	case TRN_ACT_RSQRT:
		return 1 / sqrt(x);
	case TRN_ACT_RECIPROCAL:
		return 1 / x;
	case TRN_ACT_SIGN:
		return x != x || x == 0 ? x : x > 0 ? 1 : -1;
	case TRN_ACT_ABS:
		return fabs(x);
	}
	return x;
}

bool emu_act_valid(unsigned int func)
{
	return func <= TRN_ACT_ABS;
}

float emu_act_reference(unsigned int func, float x, float param)
{
	return emu_f32_canon((float)evaluate(func, (double)x, (double)param));
}

static void sqrt_row(float *dst, const float *src, uint32_t n)
{
	uint32_t i;

	/* FP32 square roots are correctly rounded, which is what rounding the double result gives.
	 */
	for (i = 0; i < n; i++)
		dst[i] = emu_f32_canon(sqrtf(src[i]));
}

static void rsqrt_row(float *dst, const float *src, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		dst[i] = emu_f32_canon((float)(1 / sqrt((double)src[i])));
}

void emu_act_row(unsigned int func, float *dst, const float *src, uint32_t n, float param)
{
	uint32_t i;

	/* Functions that one FP32 operation computes exactly as well take its vector loop. */
	switch (func) {
	case TRN_ACT_COPY:
		emu_alu_row_vs(TRN_ALU_BYPASS, dst, src, 0, false, n);
		return;
	case TRN_ACT_SQUARE:
		emu_alu_row_vs(TRN_ALU_SQUARE, dst, src, 0, false, n);
		return;
	case TRN_ACT_RELU:
		emu_alu_row_vs(TRN_ALU_RELU, dst, src, 0, false, n);
		return;
	case TRN_ACT_ABS:
		emu_alu_row_vs(TRN_ALU_ABS, dst, src, 0, false, n);
		return;
	case TRN_ACT_RECIPROCAL:
		emu_alu_row_vs(TRN_ALU_RECIP, dst, src, 0, false, n);
		return;
	case TRN_ACT_SQRT:
		sqrt_row(dst, src, n);
		return;
	case TRN_ACT_RSQRT:
		rsqrt_row(dst, src, n);
		return;
	}
	if (emu_simd_get()->act(func, dst, src, n))
		return;
	for (i = 0; i < n; i++)
		dst[i] = emu_act_reference(func, src[i], param);
}
