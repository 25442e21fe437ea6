// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Elementwise instructions: COPY, MEMSET, TENSOR_TENSOR, TENSOR_SCALAR, SCALAR_TENSOR_TENSOR,
 * RECIPROCAL.
 *
 * Three kinds of arithmetic: FP32 (every type widened, one rounding per operator step), raw bits of
 * integer types, and exact 32-bit integers on POOL. Partitions are processed in ascending order; a
 * row is read before it is written.
 */
#include "alu.h"
#include "exec.h"

/* Kind of arithmetic of an instruction. */
enum kind {
	KIND_FLOAT,
	KIND_BITS,
	KIND_INT,
};

static bool is_int32(unsigned int dtype)
{
	return dtype == TRN_DTYPE_INT32 || dtype == TRN_DTYPE_UINT32;
}

/* Chooses the kind for the operators and operand types, or says why there is none. */
static enum trn_fault kind_choose(const struct emu_exec *x, unsigned int op0, unsigned int op1,
				  enum kind *kind)
{
	enum emu_alu_class c0 = emu_alu_class(op0), c1 = emu_alu_class(op1);
	bool pool = x->eng->id == TRN_ENGINE_POOL, all_int = true, all_int32 = true;
	unsigned int i;

	if (c0 == EMU_ALU_NONE || c1 == EMU_ALU_NONE)
		return TRN_FAULT_ILLEGAL_INSN;
	if ((c0 == EMU_ALU_BIT && c1 == EMU_ALU_ARITH) ||
	    (c0 == EMU_ALU_ARITH && c1 == EMU_ALU_BIT))
		return TRN_FAULT_ILLEGAL_INSN;
	if (!pool && (emu_alu_pool_only(op0) || emu_alu_pool_only(op1)))
		return TRN_FAULT_ILLEGAL_INSN;
	for (i = 0; i < 3; i++) {
		if (!x->v[i].used || x->op->slot[i] == EMU_SLOT_OUT_OPT)
			continue;
		if (!emu_dtype_is_plain(x->v[i].dtype))
			return TRN_FAULT_OPERAND;
		all_int &= emu_dtype_is_int(x->v[i].dtype);
		all_int32 &= is_int32(x->v[i].dtype);
	}
	*kind = KIND_FLOAT;
	if (c0 == EMU_ALU_BIT || c1 == EMU_ALU_BIT) {
		if (!all_int)
			return TRN_FAULT_OPERAND;
		*kind = KIND_BITS;
	} else if (pool && all_int32) {
		uint32_t r;

		/* Operators without an exact form (power, rsqrt, reciprocal) go through FP32. */
		if (emu_alu_int(op0, true, 0, 0, &r) && emu_alu_int(op1, true, 0, 0, &r))
			*kind = KIND_INT;
	}
	return TRN_FAULT_NONE;
}

static uint32_t *row_u32(const struct emu_exec *x, unsigned int i)
{
	return (uint32_t *)(void *)x->core->row[i];
}

static uint32_t word_step(enum kind kind, const struct emu_view *v, unsigned int op, bool reverse,
			  uint32_t a, uint32_t b)
{
	uint32_t r = a;

	if (op == TRN_ALU_BYPASS)
		return reverse ? b : a;
	if (kind == KIND_BITS)
		return reverse ? emu_alu_bits(op, b, a, 8u * v->esize)
			       : emu_alu_bits(op, a, b, 8u * v->esize);
	if (reverse)
		emu_alu_int(op, v->dtype == TRN_DTYPE_INT32, b, a, &r);
	else
		emu_alu_int(op, v->dtype == TRN_DTYPE_INT32, a, b, &r);
	return r;
}

/* One operator step on a row of words; b is a row, or NULL for the scalar s. */
static void word_row(enum kind kind, const struct emu_view *v, unsigned int op, bool reverse,
		     uint32_t *a, const uint32_t *b, uint32_t s, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		a[i] = word_step(kind, v, op, reverse, a[i], b ? b[i] : s);
}

/* Same-type copies move bits; on the v2 ACT everything passes through FP32. */
enum trn_fault emu_exec_copy(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	bool raw = dst->dtype == src->dtype &&
		   (x->eng->id != TRN_ENGINE_ACT || x->core->config.generation >= 3);
	unsigned int p;

	if (!raw && !(emu_dtype_is_plain(dst->dtype) && emu_dtype_is_plain(src->dtype)))
		return TRN_FAULT_OPERAND;
	for (p = 0; p < src->parts; p++) {
		if (raw && src->contiguous && dst->contiguous) {
			memmove(emu_view_row(dst, p), emu_view_row(src, p),
				(size_t)src->n * src->esize);
		} else if (raw) {
			emu_view_load_u32(src, p, row_u32(x, 0));
			emu_view_store_u32(dst, p, row_u32(x, 0));
		} else {
			emu_view_load(x, src, p, x->core->row[0]);
			emu_view_store(x, dst, p, x->core->row[0]);
		}
	}
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_memset(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0];
	uint32_t word = emu_insn_scalar32(x->eng, emu_insn_c0_kind(x->insn), x->insn->c0), i;
	float *row = x->core->row[0];
	unsigned int p;

	if (!emu_dtype_is_plain(dst->dtype)) {
		if (word)
			return TRN_FAULT_OPERAND;
		memset(row, 0, dst->n * sizeof(uint32_t));
		for (p = 0; p < dst->parts; p++)
			emu_view_store_u32(dst, p, row_u32(x, 0));
		return TRN_FAULT_NONE;
	}
	for (i = 0; i < dst->n; i++)
		row[i] = emu_bits_f32(word);
	for (p = 0; p < dst->parts; p++)
		emu_view_store(x, dst, p, row);
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_tensor_tensor(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0];
	bool reverse = x->insn->opf & TRN_OPF_REVERSE0;
	const struct emu_view *a = &x->v[reverse ? 2 : 1], *b = &x->v[reverse ? 1 : 2];
	unsigned int op = x->insn->op0, p;
	enum trn_fault fault;
	enum kind kind;

	if (op == TRN_ALU_BYPASS || emu_alu_is_unary(op))
		return TRN_FAULT_ILLEGAL_INSN;
	fault = kind_choose(x, op, TRN_ALU_BYPASS, &kind);
	if (fault)
		return fault;
	if (kind == KIND_BITS && a->esize != b->esize)
		return TRN_FAULT_OPERAND;
	for (p = 0; p < dst->parts; p++) {
		if (kind == KIND_FLOAT) {
			const float *ra = emu_view_load_f32(x, a, p, x->core->row[0]);
			const float *rb = emu_view_load_f32(x, b, p, x->core->row[1]);
			float *out = emu_view_out(x, dst, p, ra, rb, x->core->row[2]);

			emu_alu_row_vv(op, out, ra, rb, dst->n);
			emu_view_commit(x, dst, p, out);
		} else {
			emu_view_load_u32(a, p, row_u32(x, 0));
			emu_view_load_u32(b, p, row_u32(x, 1));
			word_row(kind, a, op, false, row_u32(x, 0), row_u32(x, 1), 0, dst->n);
			emu_view_store_u32(dst, p, row_u32(x, 0));
		}
	}
	return TRN_FAULT_NONE;
}

/* One FP32 operator step with a scalar; bypass keeps the row, or takes the scalar when reversed. */
static const float *float_step(unsigned int op, bool reverse, float *out, const float *in, float s,
			       uint32_t n)
{
	if (op == TRN_ALU_BYPASS && !reverse)
		return in;
	emu_alu_row_vs(op, out, in, s, reverse, n);
	return out;
}

/* ACT before v4 has multiply, add, and multiply followed by add. */
static bool act_ops_valid(const struct emu_exec *x)
{
	unsigned int op0 = x->insn->op0, op1 = x->insn->op1;

	if (x->eng->id != TRN_ENGINE_ACT || x->core->config.generation >= 4)
		return true;
	if (x->insn->opf & (TRN_OPF_REVERSE0 | TRN_OPF_REVERSE1))
		return false;
	return (op0 == TRN_ALU_MUL && (op1 == TRN_ALU_ADD || op1 == TRN_ALU_BYPASS)) ||
	       (op0 == TRN_ALU_ADD && op1 == TRN_ALU_BYPASS);
}

static void tensor_scalar_float(struct emu_exec *x, const struct emu_scalar *c0,
				const struct emu_scalar *c1)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	const struct trn_insn *insn = x->insn;
	struct emu_acc_batch batch = { 0 };
	bool passes = insn->op0 == TRN_ALU_BYPASS && insn->op1 == TRN_ALU_BYPASS;
	unsigned int p;

	for (p = 0; p < dst->parts; p++) {
		const float *in = emu_view_load_f32(x, src, p, x->core->row[0]), *r;
		float *out = emu_view_out(x, dst, p, in, NULL, emu_acc_buffer(x, 1, p, dst->n));

		if (passes)
			emu_alu_row_vs(TRN_ALU_BYPASS, out, in, 0, false, dst->n);
		r = float_step(insn->op0, insn->opf & TRN_OPF_REVERSE0, out, in,
			       emu_scalar_f32(x, c0, p), dst->n);
		float_step(insn->op1, insn->opf & TRN_OPF_REVERSE1, out, r,
			   emu_scalar_f32(x, c1, p), dst->n);
		emu_view_commit(x, dst, p, out);
		emu_acc_row(x, &batch, dst->first + p, out, dst->n);
	}
	emu_acc_flush(x, &batch, dst->n);
	emu_acc_result(x, dst->parts);
}

enum trn_fault emu_exec_tensor_scalar(struct emu_exec *x)
{
	const unsigned int reductions = 1u << TRN_ALU_ADD | 1u << TRN_ALU_MUL | 1u << TRN_ALU_MAX |
					1u << TRN_ALU_MIN;
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	const struct trn_insn *insn = x->insn;
	struct emu_scalar c0, c1;
	enum trn_fault fault;
	enum kind kind;
	unsigned int p;

	fault = kind_choose(x, insn->op0, insn->op1, &kind);
	if (!fault && !act_ops_valid(x))
		fault = TRN_FAULT_ILLEGAL_INSN;
	if (!fault)
		fault = emu_acc_check(x, x->eng->id == TRN_ENGINE_ACT ? 1u << TRN_ALU_ADD
								      : reductions);
	if (!fault)
		fault = emu_scalar_init(x, 0, src->parts, &c0);
	if (!fault)
		fault = emu_scalar_init(x, 1, src->parts, &c1);
	if (fault)
		return fault;
	if (emu_insn_reduce_cmd(insn) && (kind != KIND_FLOAT || x->eng->id == TRN_ENGINE_POOL))
		return TRN_FAULT_ILLEGAL_INSN;
	if (kind == KIND_FLOAT) {
		tensor_scalar_float(x, &c0, &c1);
		return TRN_FAULT_NONE;
	}
	if ((c0.vector && c0.dtype != TRN_DTYPE_INT32) ||
	    (c1.vector && c1.dtype != TRN_DTYPE_INT32))
		return TRN_FAULT_OPERAND;
	for (p = 0; p < dst->parts; p++) {
		uint32_t *row = row_u32(x, 0);

		emu_view_load_u32(src, p, row);
		word_row(kind, src, insn->op0, insn->opf & TRN_OPF_REVERSE0, row, NULL,
			 emu_scalar_u32(&c0, p), dst->n);
		word_row(kind, src, insn->op1, insn->opf & TRN_OPF_REVERSE1, row, NULL,
			 emu_scalar_u32(&c1, p), dst->n);
		emu_view_store_u32(dst, p, row);
	}
	return TRN_FAULT_NONE;
}

/* (x op0 c0) op1 y, arithmetic only. */
enum trn_fault emu_exec_scalar_tensor_tensor(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *a = &x->v[1], *b = &x->v[2];
	const struct trn_insn *insn = x->insn;
	struct emu_scalar c0;
	enum trn_fault fault;
	enum kind kind;
	unsigned int p;

	if (emu_alu_class(insn->op0) == EMU_ALU_BIT || emu_alu_class(insn->op1) == EMU_ALU_BIT ||
	    insn->op1 == TRN_ALU_BYPASS || emu_alu_is_unary(insn->op1))
		return TRN_FAULT_ILLEGAL_INSN;
	fault = kind_choose(x, insn->op0, insn->op1, &kind);
	if (!fault)
		fault = emu_scalar_init(x, 0, a->parts, &c0);
	if (fault)
		return fault;
	for (p = 0; p < dst->parts; p++) {
		const float *ra = emu_view_load_f32(x, a, p, x->core->row[0]), *r;
		const float *rb = emu_view_load_f32(x, b, p, x->core->row[1]);
		float *out = emu_view_out(x, dst, p, ra, rb, x->core->row[2]);
		float *mid = out == rb ? x->core->row[2] : out;

		/* The first step must not overwrite y when the destination is y. */
		r = float_step(insn->op0, insn->opf & TRN_OPF_REVERSE0, mid, ra,
			       emu_scalar_f32(x, &c0, p), dst->n);
		if (insn->opf & TRN_OPF_REVERSE1)
			emu_alu_row_vv(insn->op1, out, rb, r, dst->n);
		else
			emu_alu_row_vv(insn->op1, out, r, rb, dst->n);
		emu_view_commit(x, dst, p, out);
	}
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_reciprocal(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	unsigned int p;

	if (!emu_dtype_is_plain(dst->dtype) || !emu_dtype_is_plain(src->dtype))
		return TRN_FAULT_OPERAND;
	for (p = 0; p < dst->parts; p++) {
		const float *in = emu_view_load_f32(x, src, p, x->core->row[0]);
		float *out = emu_view_out(x, dst, p, in, NULL, x->core->row[1]);

		emu_alu_row_vs(TRN_ALU_RECIP, out, in, 0, false, dst->n);
		emu_view_commit(x, dst, p, out);
	}
	return TRN_FAULT_NONE;
}
