// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Microscaling formats of v4: groups of 32 eight-bit values with one power-of-two scale.
 *
 * A group is 8 consecutive partitions by 4 packed elements. The scales of the four groups of a
 * 32-partition quadrant sit in 4 partitions of that quadrant, starting at partition 0, 4, 8 or 12
 * of it.
 */
#include <math.h>
#include "exec.h"

#define GROUP_VALUES 32
#define GROUP_PARTS  8
#define PACK	     4
#define QUADRANT     32

/* Exponent of the largest finite value. */
static int format_emax(unsigned int dtype)
{
	return dtype == TRN_DTYPE_FP8_E5M2 ? 15 : 8;
}

/**
 * emu_mx_quantize() - 32 values to codes of @dtype (e4m3fn or e5m2) and a scale byte.
 * @ocp_scale: the scale rule of the OCP sample algorithm, one binade lower values, instead of the
 * current one.
 */
void emu_mx_quantize(unsigned int dtype, const float *group, bool ocp_scale, uint8_t *scale,
		     uint8_t *codes)
{
	const struct emu_float_format *fmt = emu_dtype_format(dtype);
	float amax = 0;
	int exp = -127, i;

	for (i = 0; i < GROUP_VALUES; i++)
		if (fabsf(group[i]) > amax)
			amax = fabsf(group[i]);
	if (isinf(amax))
		exp = 127;
	else if (amax > 0)
		exp = ilogbf(amax) - (format_emax(dtype) - (ocp_scale ? 0 : 1));
	if (exp < -127)
		exp = -127;
	if (exp > 127)
		exp = 127;
	*scale = (uint8_t)(exp + 127);
	for (i = 0; i < GROUP_VALUES; i++)
		codes[i] = (uint8_t)emu_float_encode(
			fmt, emu_f32_bits((float)ldexp((double)group[i], -exp)), false, 0, true);
}

/** emu_mx_dot() - sum, in order, of the products of two dequantised groups. */
float emu_mx_dot(unsigned int dtype, const uint8_t *a, uint8_t scale_a, const uint8_t *b,
		 uint8_t scale_b)
{
	float sa = emu_value_load(TRN_DTYPE_FP8_E8M0, &scale_a),
	      sb = emu_value_load(TRN_DTYPE_FP8_E8M0, &scale_b);
	float sum = 0;
	int i;

	for (i = 0; i < GROUP_VALUES; i++) {
		float va = emu_value_load(dtype, &a[i]) * sa,
		      vb = emu_value_load(dtype, &b[i]) * sb, product = va * vb;

		sum += product;
	}
	return emu_f32_canon(sum);
}

/* Group @g of partitions of the source, pack @f of four elements. */
static void quantize_group(struct emu_exec *x, unsigned int dtype, unsigned int g, uint32_t f,
			   unsigned int scale_first)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1], *scales = &x->v[2];
	unsigned int p0 = g * GROUP_PARTS, p, i;
	unsigned int scale_part =
		p0 / QUADRANT * QUADRANT + scale_first + g % (QUADRANT / GROUP_PARTS);
	float group[GROUP_VALUES];
	uint8_t codes[GROUP_VALUES], scale;

	for (p = 0; p < GROUP_PARTS; p++)
		for (i = 0; i < PACK; i++)
			group[p * PACK + i] = emu_value_load(
				src->dtype, emu_view_element(src, p0 + p, f * PACK + i));
	emu_mx_quantize(dtype, group, false, &scale, codes);
	for (p = 0; p < GROUP_PARTS; p++)
		memcpy(emu_view_element(dst, p0 + p, f), codes + p * PACK, PACK);
	*emu_view_element(scales, scale_part, f) = scale;
}

/* c0: first partition, 0, 4, 8 or 12, of the scales inside each quadrant. */
enum trn_fault emu_exec_quantize_mx(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1], *scales = &x->v[2];
	uint32_t first = emu_insn_scalar32(x->eng, emu_insn_c0_kind(x->insn), x->insn->c0), f;
	unsigned int dtype, g;

	if (dst->dtype == TRN_DTYPE_FP8_E4M3FN_X4)
		dtype = TRN_DTYPE_FP8_E4M3FN;
	else if (dst->dtype == TRN_DTYPE_FP8_E5M2_X4)
		dtype = TRN_DTYPE_FP8_E5M2;
	else
		return TRN_FAULT_OPERAND;
	if ((src->dtype != TRN_DTYPE_BF16 && src->dtype != TRN_DTYPE_FP16) ||
	    src->mem != TRN_MEM_SBUF || src->parts % QUADRANT || src->n % PACK ||
	    dst->n != src->n / PACK)
		return TRN_FAULT_OPERAND;
	if (scales->esize != 1 || scales->n != dst->n || first > 12 || first % 4)
		return TRN_FAULT_OPERAND;
	for (g = 0; g < src->parts / GROUP_PARTS; g++)
		for (f = 0; f < dst->n; f++)
			quantize_group(x, dtype, g, f, first);
	return TRN_FAULT_NONE;
}
