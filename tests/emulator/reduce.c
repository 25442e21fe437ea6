// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions, scans and statistics: TENSOR_REDUCE, SCAN, BN_STATS, BN_AGGR, PARTITION_REDUCE.
 *
 * Every sum is strictly in iteration order, in FP32, starting from the identity of the operator.
 */
#include "alu.h"
#include "exec.h"

#define BN_STATS_MAX 512

static uint32_t *row_u32(const struct emu_exec *x, unsigned int i)
{
	return (uint32_t *)(void *)x->core->row[i];
}

static uint32_t reduce_group_bits(unsigned int op, unsigned int width, const uint32_t *in,
				  uint32_t n)
{
	uint32_t acc = in[0], i;

	for (i = 1; i < n; i++)
		acc = emu_alu_bits(op, acc, in[i], width);
	return acc;
}

static void reduce_bits(struct emu_exec *x, unsigned int op, uint32_t group)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	uint32_t *in = row_u32(x, 0), *out = row_u32(x, 1), i;
	unsigned int p;

	for (p = 0; p < src->parts; p++) {
		emu_view_load_u32(src, p, in);
		for (i = 0; i < dst->n; i++)
			out[i] = reduce_group_bits(op, 8u * src->esize, in + (size_t)i * group,
						   group);
		emu_view_store_u32(dst, p, out);
	}
}

/* Rows of EMU_REDUCE_ROWS partitions at a time; see emu_alu_reduce_rows(). */
static void reduce_batch(struct emu_exec *x, unsigned int op, uint32_t group, unsigned int p,
			 unsigned int rows)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	const float *in[EMU_REDUCE_ROWS], *at[EMU_REDUCE_ROWS];
	float acc[EMU_REDUCE_ROWS], *out[EMU_REDUCE_ROWS];
	unsigned int r;
	uint32_t i;

	for (r = 0; r < rows; r++) {
		in[r] = emu_view_load_f32(x, src, p + r, emu_acc_buffer(x, 0, r, src->n));
		out[r] = emu_acc_buffer(x, 1, r, src->n);
	}
	for (i = 0; i < dst->n; i++) {
		for (r = 0; r < rows; r++) {
			at[r] = in[r] + (size_t)i * group;
			acc[r] = emu_alu_identity(op);
			if (op == TRN_ALU_SUB) /* the first element minus the others */
				acc[r] = *at[r]++;
		}
		emu_alu_reduce_rows(op, acc, at, rows, op == TRN_ALU_SUB ? group - 1 : group);
		for (r = 0; r < rows; r++)
			out[r][i] = emu_f32_canon(x->insn->opf & TRN_OPF_NEGATE ? -acc[r] : acc[r]);
	}
	for (r = 0; r < rows; r++)
		emu_view_store(x, dst, p + r, out[r]);
}

/* Reduces the innermost dimensions. */
enum trn_fault emu_exec_tensor_reduce(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	const struct trn_operand *o = &x->insn->slot[1];
	unsigned int rdims = (x->insn->opf >> TRN_OPF_RDIMS_SHIFT) + 1, op = x->insn->reduce_op, p,
		     d, rows;
	bool bits = emu_alu_class(op) == EMU_ALU_BIT;
	uint32_t group = 1;

	if (!emu_alu_is_reduction(op) || (bits && (x->insn->opf & TRN_OPF_NEGATE)))
		return TRN_FAULT_ILLEGAL_INSN;
	if (bits ? !emu_dtype_is_int(src->dtype) || src->dtype != dst->dtype
		 : !emu_dtype_is_plain(src->dtype) || !emu_dtype_is_plain(dst->dtype))
		return TRN_FAULT_OPERAND;
	if (rdims > (o->ndim & TRN_OPERAND_NDIM_MASK))
		return TRN_FAULT_OPERAND;
	for (d = 0; d < rdims; d++)
		group *= o->dim[d].count;
	if (dst->n != src->n / group)
		return TRN_FAULT_OPERAND;
	if (bits) {
		reduce_bits(x, op, group);
		return TRN_FAULT_NONE;
	}
	/*
	 * Long rows go one by one: a batch would not fit the row buffers. A batch reads eight rows
	 * before it writes one, which no program can tell: start partitions are such that row p of
	 * an operand is never row q of another.
	 */
	rows = src->n <= EMU_ROW_MAX / EMU_REDUCE_ROWS ? EMU_REDUCE_ROWS : 1;
	for (p = 0; p < src->parts; p += rows)
		reduce_batch(x, op, group, p, src->parts - p < rows ? src->parts - p : rows);
	return TRN_FAULT_NONE;
}

static float step(unsigned int op, bool reverse, float a, float b)
{
	return reverse ? emu_alu_f32(op, b, a) : emu_alu_f32(op, a, b);
}

static bool is_binary_arith(unsigned int op)
{
	return emu_alu_class(op) == EMU_ALU_ARITH && !emu_alu_is_unary(op) &&
	       !emu_alu_pool_only(op);
}

/* r = (a[i] op0 r) op1 b[i], the first r being c0. */
enum trn_fault emu_exec_scan(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *va = &x->v[1], *vb = &x->v[2];
	bool reverse0 = x->insn->opf & TRN_OPF_REVERSE0, reverse1 = x->insn->opf & TRN_OPF_REVERSE1;
	unsigned int op0 = x->insn->op0, op1 = x->insn->op1, p;
	struct emu_scalar c0;
	enum trn_fault fault;
	uint32_t i;

	if (!is_binary_arith(op0) || !is_binary_arith(op1))
		return TRN_FAULT_ILLEGAL_INSN;
	if (!emu_dtype_is_plain(dst->dtype) || !emu_dtype_is_plain(va->dtype) ||
	    !emu_dtype_is_plain(vb->dtype))
		return TRN_FAULT_OPERAND;
	fault = emu_scalar_init(x, 0, dst->parts, &c0);
	if (fault)
		return fault;
	for (p = 0; p < dst->parts; p++) {
		const float *a = emu_view_load_f32(x, va, p, x->core->row[0]);
		const float *b = emu_view_load_f32(x, vb, p, x->core->row[1]);
		float *out = x->core->row[2], r = emu_scalar_f32(x, &c0, p);

		for (i = 0; i < dst->n; i++) {
			r = step(op1, reverse1, step(op0, reverse0, a[i], r), b[i]);
			out[i] = r;
		}
		emu_view_store(x, dst, p, out);
	}
	return TRN_FAULT_NONE;
}

/* Count, mean and sum of squared deviations of every second element. */
static void bn_half(const float *in, uint32_t n, uint32_t first, float out[3])
{
	float count = 0, sum = 0, mean, dev = 0;
	uint32_t i;

	for (i = first; i < n; i += 2) {
		sum += in[i];
		count += 1;
	}
	mean = count ? sum / count : 0;
	for (i = first; i < n; i += 2) {
		float d = in[i] - mean, sq = d * d;

		dev += sq;
	}
	out[0] = count;
	out[1] = emu_f32_canon(mean);
	out[2] = emu_f32_canon(dev);
}

enum trn_fault emu_exec_bn_stats(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	float out[6];
	unsigned int p;

	if (src->n > BN_STATS_MAX || dst->n != 6 || !emu_dtype_is_plain(dst->dtype) ||
	    !emu_dtype_is_plain(src->dtype))
		return TRN_FAULT_OPERAND;
	for (p = 0; p < src->parts; p++) {
		const float *in = emu_view_load_f32(x, src, p, x->core->row[0]);

		bn_half(in, src->n, 0, out);
		bn_half(in, src->n, 1, out + 3);
		emu_view_store(x, dst, p, out);
	}
	return TRN_FAULT_NONE;
}

/* Merges (count, mean, count * variance) triples into mean and population variance. */
static void bn_merge(const float *in, uint32_t n, float out[2])
{
	float total = 0, sum = 0, mean, dev = 0, between = 0;
	uint32_t i;

	for (i = 0; i < n; i += 3) {
		float weighted = in[i] * in[i + 1];

		total += in[i];
		sum += weighted;
	}
	mean = sum / total;
	for (i = 0; i < n; i += 3) {
		float d = in[i + 1] - mean, sq = d * d, weighted = in[i] * sq;

		dev += in[i + 2];
		between += weighted;
	}
	dev += between;
	out[0] = emu_f32_canon(mean);
	out[1] = emu_f32_canon(dev / total);
}

enum trn_fault emu_exec_bn_aggr(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	float out[2];
	unsigned int p;

	if (src->n % 3 || dst->n != 2 || !emu_dtype_is_plain(dst->dtype) ||
	    !emu_dtype_is_plain(src->dtype))
		return TRN_FAULT_OPERAND;
	for (p = 0; p < src->parts; p++) {
		bn_merge(emu_view_load_f32(x, src, p, x->core->row[0]), src->n, out);
		emu_view_store(x, dst, p, out);
	}
	return TRN_FAULT_NONE;
}

static bool is_int32(unsigned int dtype)
{
	return dtype == TRN_DTYPE_INT32 || dtype == TRN_DTYPE_UINT32;
}

/* Reduces across partitions, in ascending order, into one partition. 32-bit integers are exact. */
enum trn_fault emu_exec_partition_reduce(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	unsigned int op = x->insn->reduce_op, p;
	bool bits = op == TRN_ALU_AND || op == TRN_ALU_OR;
	bool ints = is_int32(src->dtype) && is_int32(dst->dtype);
	uint32_t *words = row_u32(x, 1), i;
	float *sum = x->core->row[1];

	if (op != TRN_ALU_ADD && op != TRN_ALU_MAX && !bits)
		return TRN_FAULT_ILLEGAL_INSN;
	if (dst->parts != 1 || dst->n != src->n || !emu_dtype_is_plain(dst->dtype) ||
	    !emu_dtype_is_plain(src->dtype))
		return TRN_FAULT_OPERAND;
	if (bits && (!emu_dtype_is_int(src->dtype) || dst->dtype != src->dtype))
		return TRN_FAULT_OPERAND;
	if (bits || ints) {
		emu_view_load_u32(src, 0, words);
		for (p = 1; p < src->parts; p++) {
			emu_view_load_u32(src, p, row_u32(x, 0));
			for (i = 0; i < src->n; i++) {
				if (bits)
					words[i] = emu_alu_bits(op, words[i], row_u32(x, 0)[i], 32);
				else
					emu_alu_int(op, src->dtype == TRN_DTYPE_INT32, words[i],
						    row_u32(x, 0)[i], &words[i]);
			}
		}
		emu_view_store_u32(dst, 0, words);
		return TRN_FAULT_NONE;
	}
	for (i = 0; i < src->n; i++)
		sum[i] = emu_alu_identity(op);
	for (p = 0; p < src->parts; p++)
		emu_alu_row_vv(op, sum, sum, emu_view_load_f32(x, src, p, x->core->row[0]), src->n);
	emu_view_store(x, dst, 0, sum);
	return TRN_FAULT_NONE;
}
