// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Scalar engine: ACTIVATE.
 */
#include "act_func.h"
#include "alu.h"
#include "exec.h"

/* Slot 2: the function's parameter (FP32), then zeros. */
static enum trn_fault parameter(const struct emu_exec *x, float *param)
{
	const uint8_t *raw = (const uint8_t *)&x->insn->slot[2];
	unsigned int i;

	if (x->insn->slot[2].where == TRN_MEM_UNUSED << TRN_OPERAND_MEM_SHIFT)
		*param = 0;
	else
		memcpy(param, raw, sizeof(*param));
	for (i = sizeof(*param); i < sizeof(x->insn->slot[2]); i++)
		if (raw[i])
			return TRN_FAULT_ILLEGAL_INSN;
	if (x->insn->op0 != TRN_ACT_PRELU && emu_f32_bits(*param))
		return TRN_FAULT_ILLEGAL_INSN;
	return TRN_FAULT_NONE;
}

/* v2 has no constant bias, and none at all with reciprocal. */
static enum trn_fault bias_valid(const struct emu_exec *x)
{
	unsigned int kind = emu_insn_c1_kind(x->insn);
	bool none = kind == TRN_SCALAR_IMM && !x->insn->c1;

	if (x->core->config.generation >= 3 || none)
		return TRN_FAULT_NONE;
	if (kind != TRN_SCALAR_VECTOR || x->insn->op0 == TRN_ACT_RECIPROCAL)
		return TRN_FAULT_ILLEGAL_INSN;
	return TRN_FAULT_NONE;
}

/* dst = f(x * scale + bias), the product and the sum each rounded to FP32. */
enum trn_fault emu_exec_activate(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	struct emu_acc_batch batch = { 0 };
	struct emu_scalar scale, bias;
	enum trn_fault fault;
	float param = 0;
	unsigned int p;

	if (!emu_act_valid(x->insn->op0))
		return TRN_FAULT_ILLEGAL_INSN;
	if (!emu_dtype_is_plain(dst->dtype) || !emu_dtype_is_plain(src->dtype))
		return TRN_FAULT_OPERAND;
	fault = parameter(x, &param);
	if (!fault)
		fault = bias_valid(x);
	if (!fault)
		fault = emu_acc_check(x, 1u << TRN_ALU_ADD);
	if (!fault)
		fault = emu_scalar_init(x, 0, src->parts, &scale);
	if (!fault)
		fault = emu_scalar_init(x, 1, src->parts, &bias);
	if (fault)
		return fault;
	if (scale.vector && scale.dtype != TRN_DTYPE_FP32)
		return TRN_FAULT_OPERAND;
	for (p = 0; p < dst->parts; p++) {
		const float *in = emu_view_load_f32(x, src, p, x->core->row[0]);
		float *out = emu_view_out(x, dst, p, in, NULL, emu_acc_buffer(x, 1, p, dst->n));
		float s = emu_scalar_f32(x, &scale, p), b = emu_scalar_f32(x, &bias, p);

		if (s != 1.0f) {
			emu_alu_row_vs(TRN_ALU_MUL, out, in, s, false, dst->n);
			in = out;
		}
		emu_alu_row_vs(TRN_ALU_ADD, out, in, b, false, dst->n);
		emu_act_row(x->insn->op0, out, out, dst->n, param);
		emu_view_commit(x, dst, p, out);
		emu_acc_row(x, &batch, dst->first + p, out, dst->n);
	}
	emu_acc_flush(x, &batch, dst->n);
	return TRN_FAULT_NONE;
}
