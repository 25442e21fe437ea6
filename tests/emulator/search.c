// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Search along a partition: MAX8, FIND_INDEX8, MATCH_REPLACE8. Values are compared as FP32.
 */
#include <math.h>
#include "exec.h"

#define SEARCH_MIN 8
#define SEARCH_MAX 16384
#define ABSENT	   0xffffffffu

static bool source_valid(const struct emu_view *v)
{
	return v->n >= SEARCH_MIN && v->n <= SEARCH_MAX && emu_dtype_is_plain(v->dtype);
}

/* The 8 largest, descending; NaN counts as smaller than every number. */
static void largest8(const float *in, uint32_t n, float out[8])
{
	unsigned int k, filled = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		float v = in[i] != in[i] ? -INFINITY : in[i];

		if (filled == 8 && !(v > out[7]))
			continue;
		if (filled < 8)
			filled++;
		for (k = filled - 1; k > 0 && v > out[k - 1]; k--)
			out[k] = out[k - 1];
		out[k] = v;
	}
}

enum trn_fault emu_exec_max8(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	float out[8];
	unsigned int p;

	if (!source_valid(src) || dst->n != 8 || !emu_dtype_is_plain(dst->dtype))
		return TRN_FAULT_OPERAND;
	if ((x->insn->slot[1].ndim & TRN_OPERAND_NDIM_MASK) > 3)
		return TRN_FAULT_OPERAND;
	for (p = 0; p < src->parts; p++) {
		largest8(emu_view_load_f32(x, src, p, x->core->row[0]), src->n, out);
		emu_view_store(x, dst, p, out);
	}
	return TRN_FAULT_NONE;
}

static uint32_t find_from(const float *data, uint32_t n, float value, uint32_t first)
{
	uint32_t i;

	for (i = first; i < n; i++)
		if (data[i] == value)
			return i;
	return ABSENT;
}

/*
 * Index of each value in the data, values taken in the order of @order (+1: 0 to 7, -1: 7 to 0). A
 * value equal to one taken before continues after that one's match.
 */
static void find8(const float *data, uint32_t n, const float values[8], int order,
		  uint32_t index[8])
{
	int first = order > 0 ? 0 : 7, i, j;

	for (i = first; i >= 0 && i < 8; i += order) {
		uint32_t from = 0;

		for (j = first; j != i; j += order)
			if (values[j] == values[i])
				from = index[j] == ABSENT ? n : index[j] + 1;
		index[i] = find_from(data, n, values[i], from);
	}
}

enum trn_fault emu_exec_find_index8(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *data = &x->v[1], *vals = &x->v[2];
	uint32_t index[8];
	float values[8];
	unsigned int p;

	if (!source_valid(data) || vals->n != 8 || !emu_dtype_is_plain(vals->dtype) || dst->n != 8)
		return TRN_FAULT_OPERAND;
	if (dst->dtype != TRN_DTYPE_UINT16 && dst->dtype != TRN_DTYPE_UINT32)
		return TRN_FAULT_OPERAND;
	for (p = 0; p < data->parts; p++) {
		emu_view_load(x, vals, p, values);
		find8(emu_view_load_f32(x, data, p, x->core->row[0]), data->n, values, 1, index);
		emu_view_store_u32(dst, p, index);
	}
	return TRN_FAULT_NONE;
}

/* Matched elements become c0; c1 as a vector reference is where the eight indices go. */
enum trn_fault emu_exec_match_replace8(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *data = &x->v[1], *vals = &x->v[2];
	bool wants_index = emu_insn_c1_kind(x->insn) == TRN_SCALAR_VECTOR;
	float values[8], *out = x->core->row[0];
	struct emu_view indices = { 0 };
	struct emu_scalar c0;
	uint32_t index[8];
	enum trn_fault fault;
	unsigned int p, k;

	if (!source_valid(data) || vals->n != 8 || !emu_dtype_is_plain(vals->dtype) ||
	    dst->n != data->n || !emu_dtype_is_plain(dst->dtype))
		return TRN_FAULT_OPERAND;
	if (!wants_index && x->insn->c1)
		return TRN_FAULT_ILLEGAL_INSN;
	fault = emu_scalar_init(x, 0, data->parts, &c0);
	if (!fault && wants_index)
		fault = emu_vector_view(x, x->insn->c1, data->parts, 8, true, &indices);
	if (fault)
		return fault;
	if (wants_index && indices.dtype != TRN_DTYPE_INT32)
		return TRN_FAULT_OPERAND;
	for (p = 0; p < data->parts; p++) {
		emu_view_load(x, vals, p, values);
		emu_view_load(x, data, p, out);
		find8(out, data->n, values, -1, index);
		for (k = 0; k < 8; k++)
			if (index[k] != ABSENT)
				out[index[k]] = emu_scalar_f32(x, &c0, p);
		emu_view_store(x, dst, p, out);
		if (wants_index)
			emu_view_store_u32(&indices, p, index);
	}
	return TRN_FAULT_NONE;
}
