// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builder: one function per instruction; encodes operands, checks shapes, hands over to the
 * tracker.
 */
#include "builder_priv.h"

/** struct op - an instruction in the making. */
struct op {
	struct trn_builder *builder;
	const char *name;
	struct trn_insn insn;
	struct trn_build_access access[TRN_BUILD_ACCESS_MAX];
	unsigned int accesses;
	bool bad;
};

static void op_start(struct op *op, struct trn_builder *builder, const char *name,
		     unsigned int engine, enum trn_opcode opcode)
{
	memset(op, 0, sizeof(*op));
	op->builder = builder;
	op->name = name;
	op->insn.opcode = (uint8_t)opcode;
	op->insn.engine = (uint8_t)engine;
	op->bad = !builder || builder->status != TRN_OK;
}

static void op_operand(struct op *op, unsigned int slot, const struct trn_view *view, bool write)
{
	static const char *const role[3] = { "result", "input 1", "input 2" };
	char what[64];
	size_t n = strlen(op->name);

	if (op->bad)
		return;
	memcpy(what, op->name, n);
	what[n] = ' ';
	memcpy(what + n + 1, write ? role[0] : role[slot ? slot : 1],
	       strlen(write ? role[0] : role[slot ? slot : 1]) + 1);
	if (op->insn.engine == TRN_ENGINE_POOL && view->mem == TRN_MEM_PSUM) {
		trn_build_fail(op->builder, TRN_ERR_INVALID, "%s: POOL cannot reach PSUM", what);
		op->bad = true;
		return;
	}
	if (!trn_build_operand(op->builder, what, view, &op->insn.slot[slot],
			       &op->access[op->accesses], write)) {
		op->bad = true;
		return;
	}
	op->accesses++;
}

static void op_scalar(struct op *op, unsigned int which, const struct trn_scalar *scalar,
		      unsigned int partitions)
{
	uint32_t kind = 0, bits = 0;

	if (op->bad)
		return;
	if (!trn_build_scalar(op->builder, op->name, scalar, partitions, &kind, &bits,
			      &op->access[op->accesses], &op->accesses)) {
		op->bad = true;
		return;
	}
	if (which) {
		op->insn.c1 = bits;
		op->insn.kinds |= (uint8_t)(kind << TRN_OPK_C1_SHIFT);
	} else {
		op->insn.c0 = bits;
		op->insn.kinds |= (uint8_t)(kind << TRN_OPK_C0_SHIFT);
	}
}

static void op_require(struct op *op, bool condition, const char *rule)
{
	if (op->bad || condition)
		return;
	trn_build_fail(op->builder, TRN_ERR_INVALID, "%s: %s", op->name, rule);
	op->bad = true;
}

/* The engine must be one of @mask (bits by number). */
static void op_engine(struct op *op, unsigned int mask)
{
	if (op->bad || (op->insn.engine < TRN_ENGINE_MAX && (mask & 1u << op->insn.engine)))
		return;
	trn_build_fail(op->builder, TRN_ERR_INVALID, "%s: engine %s does not execute it", op->name,
		       trn_build_engine_name(op->insn.engine));
	op->bad = true;
}

static void op_same(struct op *op, const struct trn_view *a, const struct trn_view *b)
{
	if (op->bad)
		return;
	if (a->partitions == b->partitions && trn_build_elements(a) == trn_build_elements(b))
		return;
	trn_build_fail(op->builder, TRN_ERR_INVALID,
		       "%s: shapes differ: %u partitions x %llu elements and %u x %llu", op->name,
		       a->partitions, (unsigned long long)trn_build_elements(a), b->partitions,
		       (unsigned long long)trn_build_elements(b));
	op->bad = true;
}

static void op_issue(struct op *op)
{
	if (!op->bad)
		trn_build_issue(op->builder, &op->insn, op->access, op->accesses);
}

#define ON_DVE	(1u << TRN_ENGINE_DVE)
#define ON_ACT	(1u << TRN_ENGINE_ACT)
#define ON_POOL (1u << TRN_ENGINE_POOL)

void trn_emit_load_weights(struct trn_builder *builder, struct trn_view stationary)
{
	struct op op;

	op_start(&op, builder, "load weights", TRN_ENGINE_PE, TRN_OP_LDWEIGHTS);
	op_operand(&op, 1, &stationary, false);
	op_require(&op, stationary.mem == TRN_MEM_SBUF, "weights must lie in SBUF");
	op_require(&op, trn_build_elements(&stationary) <= TRN_PARTITIONS,
		   "at most 128 columns of weights fit");
	op_issue(&op);
}

void trn_emit_matmul(struct trn_builder *builder, struct trn_view dst, struct trn_view moving,
		     bool accumulate)
{
	struct op op;

	op_start(&op, builder, "matmul", TRN_ENGINE_PE, TRN_OP_MATMUL);
	op.insn.opf = accumulate ? TRN_OPF_ACCUMULATE : 0;
	op_operand(&op, 0, &dst, true);
	op_operand(&op, 1, &moving, false);
	op_require(&op, dst.mem == TRN_MEM_PSUM && dst.dtype == TRN_DTYPE_FP32,
		   "the result must be fp32 in PSUM");
	op_require(&op, moving.mem == TRN_MEM_SBUF, "the moving tile must lie in SBUF");
	op_require(&op,
		   trn_build_elements(&moving) <= TRN_MATMUL_MAX_COLUMNS &&
			   trn_build_elements(&moving) == trn_build_elements(&dst),
		   "at most 512 columns, as many in the result as in the moving tile");
	op_require(&op,
		   op.bad || op.access[0].start / TRN_PSUM_BANK_BYTES ==
				     (op.access[0].end - 1) / TRN_PSUM_BANK_BYTES,
		   "the result must lie in one PSUM bank");
	op_issue(&op);
}

void trn_emit_transpose(struct trn_builder *builder, struct trn_view dst, struct trn_view src,
			struct trn_view identity)
{
	struct op op;

	op_start(&op, builder, "transpose", TRN_ENGINE_PE, TRN_OP_NOP);
	op_require(&op,
		   src.partitions == identity.partitions &&
			   trn_build_elements(&identity) == identity.partitions &&
			   trn_build_elements(&dst) == src.partitions &&
			   trn_build_elements(&src) == dst.partitions,
		   "source [R, C] needs an identity [R, R] and a result [C, R]");
	if (op.bad)
		return;
	trn_emit_load_weights(builder, src);
	trn_emit_matmul(builder, dst, identity, false);
}

void trn_emit_activate(struct trn_builder *builder, struct trn_view dst, struct trn_view src,
		       enum trn_act function, struct trn_scalar scale, struct trn_scalar bias,
		       unsigned int reduce_cmd)
{
	struct op op;

	op_start(&op, builder, "activate", TRN_ENGINE_ACT, TRN_OP_ACTIVATE);
	op.insn.op0 = (uint8_t)function;
	op_operand(&op, 0, &dst, true);
	op_operand(&op, 1, &src, false);
	op_same(&op, &dst, &src);
	op_require(&op, function <= TRN_ACT_ABS, "unknown function");
	op_require(&op, reduce_cmd <= TRN_REDUCE_RESET_REDUCE, "unknown reduce command");
	op_require(&op,
		   op.bad || builder->generation > 2 || bias.kind == TRN_SCALAR_VECTOR ||
			   !bias.bits,
		   "generation 2 has no constant bias, use one value per partition");
	op_scalar(&op, 0, &scale, src.partitions);
	op_scalar(&op, 1, &bias, src.partitions);
	op.insn.kinds |= (uint8_t)(reduce_cmd << TRN_OPK_REDUCE_SHIFT);
	if (reduce_cmd >= TRN_REDUCE_REDUCE)
		op.insn.reduce_op = TRN_ALU_ADD;
	op_issue(&op);
}

void trn_emit_acc_read(struct trn_builder *builder, enum trn_engine engine, struct trn_view dst)
{
	struct op op;

	op_start(&op, builder, "accumulator read", engine, TRN_OP_ACC_READ);
	op_engine(&op, ON_ACT | ON_DVE);
	op_operand(&op, 0, &dst, true);
	op_require(&op, trn_build_elements(&dst) == 1, "the result has one element per partition");
	op_issue(&op);
}

void trn_emit_copy(struct trn_builder *builder, enum trn_engine engine, struct trn_view dst,
		   struct trn_view src)
{
	struct op op;

	op_start(&op, builder, "copy", engine, TRN_OP_COPY);
	op_engine(&op, ON_DVE | ON_ACT | ON_POOL);
	op_operand(&op, 0, &dst, true);
	op_operand(&op, 1, &src, false);
	op_same(&op, &dst, &src);
	op_issue(&op);
}

void trn_emit_memset(struct trn_builder *builder, enum trn_engine engine, struct trn_view dst,
		     float value)
{
	struct trn_scalar c0 = trn_scalar(value);
	struct op op;

	op_start(&op, builder, "memset", engine, TRN_OP_MEMSET);
	op_engine(&op, ON_DVE | ON_POOL);
	op_operand(&op, 0, &dst, true);
	op_scalar(&op, 0, &c0, dst.partitions);
	op_issue(&op);
}

void trn_emit_tensor_tensor(struct trn_builder *builder, enum trn_engine engine,
			    struct trn_view dst, struct trn_view a, enum trn_alu alu,
			    struct trn_view b)
{
	struct op op;

	op_start(&op, builder, "tensor-tensor", engine, TRN_OP_TENSOR_TENSOR);
	op_engine(&op, ON_DVE | ON_POOL);
	op.insn.op0 = (uint8_t)alu;
	op_operand(&op, 0, &dst, true);
	op_operand(&op, 1, &a, false);
	op_operand(&op, 2, &b, false);
	op_same(&op, &dst, &a);
	op_same(&op, &dst, &b);
	op_require(&op, a.mem != TRN_MEM_PSUM || b.mem != TRN_MEM_PSUM,
		   "only one input may lie in PSUM");
	op_issue(&op);
}

void trn_emit_tensor_scalar(struct trn_builder *builder, enum trn_engine engine,
			    struct trn_view dst, struct trn_view src, enum trn_alu op0,
			    struct trn_scalar c0, enum trn_alu op1, struct trn_scalar c1,
			    unsigned int flags)
{
	struct op op;

	op_start(&op, builder, "tensor-scalar", engine, TRN_OP_TENSOR_SCALAR);
	op_engine(&op, ON_DVE | ON_ACT | ON_POOL);
	op.insn.op0 = (uint8_t)op0;
	op.insn.op1 = (uint8_t)op1;
	op.insn.opf = (uint8_t)flags;
	op_operand(&op, 0, &dst, true);
	op_operand(&op, 1, &src, false);
	op_same(&op, &dst, &src);
	op_require(&op, !(flags & ~(unsigned int)(TRN_OPF_REVERSE0 | TRN_OPF_REVERSE1)),
		   "only the two reverse flags are possible");
	op_scalar(&op, 0, &c0, src.partitions);
	if (op1 != TRN_ALU_BYPASS)
		op_scalar(&op, 1, &c1, src.partitions);
	op_issue(&op);
}

void trn_emit_scalar_tensor_tensor(struct trn_builder *builder, struct trn_view dst,
				   struct trn_view src, enum trn_alu op0, struct trn_scalar c0,
				   enum trn_alu op1, struct trn_view y, unsigned int flags)
{
	struct op op;

	op_start(&op, builder, "scalar-tensor-tensor", TRN_ENGINE_DVE, TRN_OP_SCALAR_TENSOR_TENSOR);
	op.insn.op0 = (uint8_t)op0;
	op.insn.op1 = (uint8_t)op1;
	op.insn.opf = (uint8_t)flags;
	op_operand(&op, 0, &dst, true);
	op_operand(&op, 1, &src, false);
	op_operand(&op, 2, &y, false);
	op_same(&op, &dst, &src);
	op_same(&op, &dst, &y);
	op_require(&op, src.mem != TRN_MEM_PSUM || y.mem != TRN_MEM_PSUM,
		   "only one input may lie in PSUM");
	op_scalar(&op, 0, &c0, src.partitions);
	op_issue(&op);
}

void trn_emit_reduce(struct trn_builder *builder, struct trn_view dst, struct trn_view src,
		     enum trn_alu alu, unsigned int rdims, bool negate)
{
	struct op op;
	uint64_t reduced = 1;
	unsigned int i;

	op_start(&op, builder, "reduce", TRN_ENGINE_DVE, TRN_OP_TENSOR_REDUCE);
	op_require(&op, rdims >= 1 && rdims <= src.ndim,
		   "reduces 1 to all dimensions of its input");
	op_operand(&op, 0, &dst, true);
	op_operand(&op, 1, &src, false);
	if (op.bad)
		return;
	for (i = 0; i < rdims; i++)
		reduced *= src.dim[i].count;
	op_require(&op,
		   dst.partitions == src.partitions &&
			   trn_build_elements(&dst) * reduced == trn_build_elements(&src),
		   "the result must have one element for each group of reduced ones");
	op.insn.reduce_op = (uint8_t)alu;
	op.insn.opf = (uint8_t)((rdims - 1) << TRN_OPF_RDIMS_SHIFT | (negate ? TRN_OPF_NEGATE : 0));
	op_issue(&op);
}

/* DVE instructions with a result and one input. */
static void unary(struct trn_builder *builder, const char *name, enum trn_opcode opcode,
		  const struct trn_view *dst, const struct trn_view *src, bool same)
{
	struct op op;

	op_start(&op, builder, name, TRN_ENGINE_DVE, opcode);
	op_operand(&op, 0, dst, true);
	op_operand(&op, 1, src, false);
	if (same)
		op_same(&op, dst, src);
	op_require(&op, dst->partitions == src->partitions, "partition counts differ");
	op_issue(&op);
}

void trn_emit_reciprocal(struct trn_builder *builder, struct trn_view dst, struct trn_view src)
{
	unary(builder, "reciprocal", TRN_OP_RECIPROCAL, &dst, &src, true);
}

void trn_emit_bn_stats(struct trn_builder *builder, struct trn_view dst, struct trn_view src)
{
	unary(builder, "bn_stats", TRN_OP_BN_STATS, &dst, &src, false);
}

void trn_emit_bn_aggr(struct trn_builder *builder, struct trn_view dst, struct trn_view src)
{
	unary(builder, "bn_aggr", TRN_OP_BN_AGGR, &dst, &src, false);
}

void trn_emit_copy_predicated(struct trn_builder *builder, struct trn_view dst, struct trn_view src,
			      struct trn_view predicate)
{
	struct op op;

	op_start(&op, builder, "predicated copy", TRN_ENGINE_DVE, TRN_OP_COPY_PREDICATED);
	op_operand(&op, 0, &dst, true);
	op_operand(&op, 1, &src, false);
	op_operand(&op, 2, &predicate, false);
	op_same(&op, &dst, &src);
	op_same(&op, &dst, &predicate);
	op_issue(&op);
}

/* Slot 2 of IOTA and AFFINE_SELECT: the counts of the result with the caller's steps. */
static void op_pattern(struct op *op, const struct trn_view *dst, const int16_t *step,
		       int32_t offset, int32_t multiplier, float other)
{
	struct trn_pattern pattern;
	unsigned int i;

	op_require(op, step != NULL, "the steps are NULL");
	if (op->bad)
		return;
	memset(&pattern, 0, sizeof(pattern));
	memcpy(&pattern.false_value, &other, sizeof(other));
	pattern.ndim = dst->ndim;
	for (i = 0; i < dst->ndim; i++) {
		pattern.dim[i].step = step[i];
		pattern.dim[i].count = dst->dim[i].count;
	}
	memcpy(&op->insn.slot[2], &pattern, sizeof(pattern));
	op->insn.c0 = (uint32_t)offset;
	op->insn.c1 = (uint32_t)multiplier;
}

void trn_emit_iota(struct trn_builder *builder, struct trn_view dst, const int16_t *step,
		   int32_t offset, int32_t multiplier)
{
	struct op op;

	op_start(&op, builder, "iota", TRN_ENGINE_POOL, TRN_OP_IOTA);
	op_operand(&op, 0, &dst, true);
	op_pattern(&op, &dst, step, offset, multiplier, 0);
	op_issue(&op);
}

void trn_emit_affine_select(struct trn_builder *builder, struct trn_view dst, struct trn_view src,
			    const int16_t *step, int32_t offset, int32_t multiplier,
			    enum trn_alu cmp, float other)
{
	struct op op;

	op_start(&op, builder, "affine select", TRN_ENGINE_POOL, TRN_OP_AFFINE_SELECT);
	op.insn.op0 = (uint8_t)cmp;
	op_operand(&op, 0, &dst, true);
	op_operand(&op, 1, &src, false);
	op_same(&op, &dst, &src);
	op_pattern(&op, &dst, step, offset, multiplier, other);
	op_issue(&op);
}

void trn_emit_identity(struct trn_builder *builder, struct trn_view dst)
{
	static const int16_t step[TRN_OPERAND_DIMS] = { -1 };

	trn_emit_memset(builder, TRN_ENGINE_POOL, dst, 1.0f);
	trn_emit_affine_select(builder, dst, dst, step, 0, 1, TRN_ALU_EQ, 0.0f);
}
