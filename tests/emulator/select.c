// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Selection by predicates and index ranges: COPY_PREDICATED, SELECT_REDUCE, RANGE_SELECT.
 */
#include "alu.h"
#include "exec.h"

#define F32_LOWEST 0xff7fffffu /* what RANGE_SELECT puts outside the range */

static uint32_t *row_u32(const struct emu_exec *x, unsigned int i)
{
	return (uint32_t *)(void *)x->core->row[i];
}

/* Elements whose predicate is nonzero (zero when reversed) take the source, the others keep what
 * they have. */
enum trn_fault emu_exec_copy_predicated(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1], *pred = &x->v[2];
	bool reverse = x->insn->opf & TRN_OPF_REVERSE0;
	uint32_t *out = row_u32(x, 0), *in = row_u32(x, 1), *mask = row_u32(x, 2), i;
	struct emu_scalar c0;
	enum trn_fault fault;
	unsigned int p;

	if (pred->dtype != TRN_DTYPE_UINT8 && pred->dtype != TRN_DTYPE_UINT16 &&
	    pred->dtype != TRN_DTYPE_UINT32)
		return TRN_FAULT_OPERAND;
	if (!emu_dtype_is_plain(dst->dtype) || (src->used && src->dtype != dst->dtype))
		return TRN_FAULT_OPERAND;
	if (src->used && (x->insn->c0 || emu_insn_c0_kind(x->insn)))
		return TRN_FAULT_ILLEGAL_INSN;
	fault = emu_scalar_init(x, 0, dst->parts, &c0);
	if (fault)
		return fault;
	for (p = 0; p < dst->parts; p++) {
		emu_view_load_u32(dst, p, out);
		emu_view_load_u32(pred, p, mask);
		if (src->used) {
			emu_view_load_u32(src, p, in);
		} else {
			in[0] = 0;
			emu_value_store(dst->dtype, in, emu_scalar_f32(x, &c0, p), &x->round);
		}
		for (i = 0; i < dst->n; i++)
			if ((mask[i] != 0) != reverse)
				out[i] = in[src->used ? i : 0];
		emu_view_store_u32(dst, p, out);
	}
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_select_reduce(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1], *pred = &x->v[2];
	bool reverse = x->insn->opf & TRN_OPF_REVERSE0;
	float *out = x->core->row[0], *in = x->core->row[1];
	struct emu_acc_batch batch = { 0 };
	uint32_t *mask = row_u32(x, 2), i;
	struct emu_scalar c0;
	enum trn_fault fault;
	unsigned int p;

	if (!emu_dtype_is_int(pred->dtype) || pred->esize > 2 || !emu_dtype_is_plain(dst->dtype) ||
	    !emu_dtype_is_plain(src->dtype))
		return TRN_FAULT_OPERAND;
	if (src->dtype == TRN_DTYPE_TF32 || src->dtype == TRN_DTYPE_INT32 ||
	    src->dtype == TRN_DTYPE_UINT32)
		return TRN_FAULT_OPERAND;
	fault = emu_insn_reduce_cmd(x->insn) == TRN_REDUCE_LOAD_REDUCE ? TRN_FAULT_ILLEGAL_INSN
								       : TRN_FAULT_NONE;
	if (!fault && emu_insn_reduce_cmd(x->insn) >= TRN_REDUCE_REDUCE &&
	    x->insn->reduce_op != TRN_ALU_MAX)
		fault = TRN_FAULT_ILLEGAL_INSN;
	if (!fault && emu_insn_reduce_cmd(x->insn) < TRN_REDUCE_REDUCE && x->insn->reduce_op)
		fault = TRN_FAULT_ILLEGAL_INSN;
	if (!fault)
		fault = emu_scalar_init(x, 0, dst->parts, &c0);
	if (fault)
		return fault;
	for (p = 0; p < dst->parts; p++) {
		float other = emu_scalar_f32(x, &c0, p);

		emu_view_load(x, src, p, in);
		emu_view_load_u32(pred, p, mask);
		for (i = 0; i < dst->n; i++)
			out[i] = (mask[i] != 0) != reverse ? in[i] : other;
		emu_view_store(x, dst, p, out);
		emu_acc_row(x, &batch, dst->first + p, out, dst->n);
		emu_acc_flush(x, &batch, dst->n);
	}
	return TRN_FAULT_NONE;
}

static float range_start(const struct emu_exec *x)
{
	float f;

	memcpy(&f, &x->insn->slot[2].dim[TRN_OPERAND_DIMS - 1], sizeof(f));
	return f;
}

static bool is_comparison(unsigned int op)
{
	return op >= TRN_ALU_EQ && op <= TRN_ALU_LE;
}

/* Index i + start, in FP32, compared with two bounds. */
enum trn_fault emu_exec_range_select(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	unsigned int op0 = x->insn->op0, op1 = x->insn->op1, p;
	float *out = x->core->row[0], start = range_start(x);
	struct emu_acc_batch batch = { 0 };
	struct emu_scalar c0, c1;
	enum trn_fault fault;
	uint32_t i;

	if (!is_comparison(op0) || !is_comparison(op1))
		return TRN_FAULT_ILLEGAL_INSN;
	if (!emu_dtype_is_plain(dst->dtype) || !emu_dtype_is_plain(src->dtype))
		return TRN_FAULT_OPERAND;
	fault = emu_acc_check(x, 1u << TRN_ALU_MAX);
	if (!fault)
		fault = emu_scalar_init(x, 0, dst->parts, &c0);
	if (!fault)
		fault = emu_scalar_init(x, 1, dst->parts, &c1);
	if (fault)
		return fault;
	for (p = 0; p < dst->parts; p++) {
		float low = emu_scalar_f32(x, &c0, p), high = emu_scalar_f32(x, &c1, p);

		emu_view_load(x, src, p, out);
		for (i = 0; i < dst->n; i++) {
			float index = (float)i + start;

			if (emu_alu_f32(op0, index, low) == 0 || emu_alu_f32(op1, index, high) == 0)
				out[i] = emu_bits_f32(F32_LOWEST);
		}
		emu_view_store(x, dst, p, out);
		emu_acc_row(x, &batch, dst->first + p, out, dst->n);
		emu_acc_flush(x, &batch, dst->n);
	}
	emu_acc_result(x, dst->parts);
	return TRN_FAULT_NONE;
}
