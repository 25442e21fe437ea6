// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * POOL instructions with their own addressing: IOTA, AFFINE_SELECT, NONZERO, SEQUENCE_BOUNDS.
 */
#include "alu.h"
#include "exec.h"

#define GROUP 16 /* partitions of one POOL processor */

static uint32_t *row_u32(const struct emu_exec *x, unsigned int i)
{
	return (uint32_t *)(void *)x->core->row[i];
}

/* Values of the pattern in slot 2 for partition 0, without offset, wrapping modulo 2^32. */
static enum trn_fault pattern_row(const struct emu_exec *x, uint32_t n, uint32_t *row,
				  uint32_t *false_value)
{
	struct trn_pattern pat;
	uint64_t total = 1;
	uint32_t i;
	unsigned int d;

	memcpy(&pat, &x->insn->slot[2], sizeof(pat));
	*false_value = pat.false_value;
	if (pat.ndim < 1 || pat.ndim > TRN_OPERAND_DIMS)
		return TRN_FAULT_OPERAND;
	for (d = 0; d < TRN_OPERAND_DIMS; d++) {
		if (d >= pat.ndim && (pat.dim[d].step || pat.dim[d].count))
			return TRN_FAULT_ILLEGAL_INSN;
		if (d >= pat.ndim)
			continue;
		total *= pat.dim[d].count;
		if (!total || total > EMU_ROW_MAX)
			return TRN_FAULT_OPERAND;
	}
	if (total != n)
		return TRN_FAULT_OPERAND;
	for (i = 0; i < n; i++) {
		uint32_t rest = i, v = 0;

		for (d = 0; d < pat.ndim; d++) {
			v += (uint32_t)pat.dim[d].step * (rest % pat.dim[d].count);
			rest /= pat.dim[d].count;
		}
		row[i] = v;
	}
	return TRN_FAULT_NONE;
}

static bool is_int32(unsigned int dtype)
{
	return dtype == TRN_DTYPE_INT32 || dtype == TRN_DTYPE_UINT32;
}

/* The partition counts from the operand's first one. */
enum trn_fault emu_exec_iota(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0];
	uint32_t *base = row_u32(x, 0), *out = row_u32(x, 1), unused, i;
	struct emu_scalar c0, c1;
	enum trn_fault fault;
	unsigned int p;

	if (!emu_dtype_is_plain(dst->dtype))
		return TRN_FAULT_OPERAND;
	fault = pattern_row(x, dst->n, base, &unused);
	if (!fault && unused)
		fault = TRN_FAULT_ILLEGAL_INSN;
	if (!fault)
		fault = emu_scalar_init(x, 0, dst->parts, &c0);
	if (!fault)
		fault = emu_scalar_init(x, 1, dst->parts, &c1);
	if (fault)
		return fault;
	for (p = 0; p < dst->parts; p++) {
		uint32_t start = emu_scalar_u32(&c0, p) + p * emu_scalar_u32(&c1, p);

		for (i = 0; i < dst->n; i++)
			out[i] = base[i] + start;
		if (is_int32(dst->dtype)) {
			emu_view_store_u32(dst, p, out);
			continue;
		}
		for (i = 0; i < dst->n; i++)
			x->core->row[2][i] = (float)(int32_t)out[i];
		emu_view_store(x, dst, p, x->core->row[2]);
	}
	return TRN_FAULT_NONE;
}

static bool compare_zero(unsigned int op, int32_t v)
{
	uint32_t r = 0;

	emu_alu_int(op, true, (uint32_t)v, 0, &r);
	return r;
}

/* Where the pattern's value compares true with 0 the source, elsewhere the false value. Same types
 * move as bits. */
enum trn_fault emu_exec_affine_select(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	uint32_t *base = row_u32(x, 0), *out = row_u32(x, 1), false_bits, false_code = 0, i;
	bool raw = dst->dtype == src->dtype;
	struct emu_scalar c0, c1;
	enum trn_fault fault;
	unsigned int p;

	if (x->insn->op0 < TRN_ALU_EQ || x->insn->op0 > TRN_ALU_LE)
		return TRN_FAULT_ILLEGAL_INSN;
	if (!emu_dtype_is_plain(dst->dtype) || !emu_dtype_is_plain(src->dtype))
		return TRN_FAULT_OPERAND;
	fault = pattern_row(x, dst->n, base, &false_bits);
	if (!fault)
		fault = emu_scalar_init(x, 0, dst->parts, &c0);
	if (!fault)
		fault = emu_scalar_init(x, 1, dst->parts, &c1);
	if (fault)
		return fault;
	if (raw)
		emu_value_store(dst->dtype, &false_code, emu_bits_f32(false_bits), &x->round);
	for (p = 0; p < dst->parts; p++) {
		uint32_t start = emu_scalar_u32(&c0, p) + p * emu_scalar_u32(&c1, p);

		if (raw)
			emu_view_load_u32(src, p, out);
		else
			emu_view_load(x, src, p, x->core->row[1]);
		for (i = 0; i < dst->n; i++)
			if (!compare_zero(x->insn->op0, (int32_t)(base[i] + start)))
				out[i] = raw ? false_code : false_bits;
		if (raw)
			emu_view_store_u32(dst, p, out);
		else
			emu_view_store(x, dst, p, x->core->row[1]);
	}
	return TRN_FAULT_NONE;
}

/* First partition of each group of 16: indices of nonzero elements plus c0, padding c1, and the
 * count behind them. */
enum trn_fault emu_exec_nonzero(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	uint32_t *out = row_u32(x, 1), offset, padding, i, count;
	struct emu_scalar c0, c1;
	enum trn_fault fault;
	unsigned int p;

	if ((src->dtype != TRN_DTYPE_FP32 && src->dtype != TRN_DTYPE_INT32) ||
	    dst->dtype != TRN_DTYPE_INT32 || src->n >= EMU_ROW_MAX || dst->n != src->n + 1)
		return TRN_FAULT_OPERAND;
	fault = emu_scalar_init(x, 0, 1, &c0);
	if (!fault)
		fault = emu_scalar_init(x, 1, 1, &c1);
	if (fault)
		return fault;
	offset = emu_scalar_u32(&c0, 0);
	padding = emu_scalar_u32(&c1, 0);
	for (p = 0; p < src->parts; p += GROUP) {
		const float *in = emu_view_load_f32(x, src, p, x->core->row[0]);

		for (i = 0, count = 0; i < src->n; i++)
			if (in[i] != 0)
				out[count++] = i + offset;
		for (i = count; i < src->n; i++)
			out[i] = padding;
		out[src->n] = count;
		emu_view_store_u32(dst, p, out);
	}
	return TRN_FAULT_NONE;
}

/* First index, and one past the last, of the run of equal ids each element belongs to; id 0 gives
 * (N, -1). */
enum trn_fault emu_exec_sequence_bounds(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	float *out = x->core->row[1];
	const float *in;
	uint32_t n = src->n, i, j, k;

	if ((src->dtype != TRN_DTYPE_FP32 && src->dtype != TRN_DTYPE_INT32) ||
	    (dst->dtype != TRN_DTYPE_FP32 && dst->dtype != TRN_DTYPE_INT32))
		return TRN_FAULT_OPERAND;
	if (src->parts != 1 || dst->parts != 1 || n > EMU_ROW_MAX / 2 || dst->n != 2 * n)
		return TRN_FAULT_OPERAND;
	in = emu_view_load_f32(x, src, 0, x->core->row[0]);
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && in[j] == in[i]; j++)
			;
		for (k = i; k < j; k++) {
			out[k] = (float)(in[i] == 0 ? n : i);
			out[n + k] = in[i] == 0 ? -1.0f : (float)j;
		}
	}
	emu_view_store(x, dst, 0, out);
	return TRN_FAULT_NONE;
}
