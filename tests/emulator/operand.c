// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * On-chip operands: from the encoded access pattern to checked host addresses, and rows in and out
 * of them.
 */
#include "exec.h"

#define PSUM_ELEMENTS_MAX 4096

/* Start partitions: 0 above 64 partitions, multiples of 64 above 32, multiples of 32 else. */
static bool partitions_valid(unsigned int first, unsigned int parts)
{
	if (parts < 1 || parts > TRN_PARTITIONS)
		return false;
	if (parts > 64)
		return first == 0;
	if (parts > 32)
		return first == 0 || first == 64;
	return first < TRN_PARTITIONS && first % 32 == 0;
}

/* Drops dimensions of one element and joins neighbours that continue each other; the iteration
 * order stays. */
static void view_merge(struct emu_view *v)
{
	unsigned int i, d = 0;

	for (i = 0; i < v->ndim; i++) {
		if (v->count[i] == 1)
			continue;
		if (d && v->step[i] == v->step[d - 1] * (int64_t)v->count[d - 1]) {
			v->count[d - 1] *= v->count[i];
			continue;
		}
		v->count[d] = v->count[i];
		v->step[d++] = v->step[i];
	}
	if (!d) {
		v->count[0] = 1;
		v->step[0] = v->esize;
		d = 1;
	}
	v->ndim = (uint8_t)d;
	v->contiguous = d == 1 && v->step[0] == v->esize;
}

/* Fills counts, steps and the byte range. All products fit: four steps of 16 bits, counts of 16
 * bits, 4-byte elements. */
static enum trn_fault view_shape(const struct trn_operand *o, bool output, struct emu_view *v)
{
	uint64_t n = 1;
	unsigned int i;

	v->ndim = o->ndim & TRN_OPERAND_NDIM_MASK;
	if (v->ndim < 1 || v->ndim > TRN_OPERAND_DIMS)
		return TRN_FAULT_OPERAND;
	for (i = 0; i < v->ndim; i++) {
		int64_t span;

		v->count[i] = o->dim[i].count;
		v->step[i] = (int64_t)o->dim[i].step * v->esize;
		if (!v->count[i] || (output && v->count[i] > 1 && !v->step[i]))
			return TRN_FAULT_OPERAND;
		n *= v->count[i];
		if (n > EMU_ROW_MAX || (v->mem == TRN_MEM_PSUM && n > PSUM_ELEMENTS_MAX))
			return TRN_FAULT_OPERAND;
		span = v->step[i] * ((int64_t)v->count[i] - 1);
		if (span < 0)
			v->low += span;
		else
			v->high += span;
	}
	v->high += v->esize;
	v->n = (uint32_t)n;
	return TRN_FAULT_NONE;
}

/**
 * emu_view_init() - resolve @operand; @reg is the value of the offset register, used when the
 * operand asks for it.
 *
 * Return: TRN_FAULT_NONE; TRN_FAULT_ILLEGAL_INSN when the generation lacks the type;
 * TRN_FAULT_OPERAND for a bad type, shape, partition range, alignment, or any byte outside the
 * partition.
 */
enum trn_fault emu_view_init(const struct emu_core *core, const struct trn_operand *operand,
			     uint32_t reg, bool output, struct emu_view *v)
{
	uint32_t size;
	int64_t offset;
	enum trn_fault fault;

	memset(v, 0, sizeof(*v));
	v->mem = operand->where >> TRN_OPERAND_MEM_SHIFT;
	v->dtype = operand->dtype;
	v->esize = (uint8_t)emu_dtype_size(v->dtype);
	v->first = operand->partition;
	v->parts = operand->partitions;
	if (v->mem > TRN_MEM_PSUM || !emu_dtype_generation(v->dtype))
		return TRN_FAULT_OPERAND;
	if (emu_dtype_generation(v->dtype) > core->config.generation)
		return TRN_FAULT_ILLEGAL_INSN;
	if (!partitions_valid(v->first, v->parts))
		return TRN_FAULT_OPERAND;
	fault = view_shape(operand, output, v);
	if (fault)
		return fault;

	offset = operand->where & TRN_OPERAND_OFFSET_MASK;
	if (operand->where & TRN_OPERAND_REG)
		offset += (int32_t)reg;
	size = v->mem == TRN_MEM_SBUF ? core->config.sbuf_partition_bytes
				      : TRN_PSUM_PARTITION_BYTES;
	if (offset < 0 || offset % v->esize || offset + v->low < 0 ||
	    offset + v->high > (int64_t)size)
		return TRN_FAULT_OPERAND;
	v->offset = (uint32_t)offset;
	v->pstride = v->mem == TRN_MEM_SBUF ? core->sbuf_stride : core->psum_stride;
	v->base =
		(v->mem == TRN_MEM_SBUF ? core->sbuf : core->psum) + v->first * v->pstride + offset;
	v->used = 1;
	view_merge(v);
	return TRN_FAULT_NONE;
}

static bool slot_used(enum emu_slot role, const struct trn_operand *s)
{
	switch (role) {
	case EMU_SLOT_IN:
	case EMU_SLOT_OUT:
		return true;
	case EMU_SLOT_IN_OPT:
		return s->where >> TRN_OPERAND_MEM_SHIFT != TRN_MEM_UNUSED;
	case EMU_SLOT_OUT_OPT:
		return s->where >> TRN_OPERAND_MEM_SHIFT != TRN_MEM_UNUSED && s->partitions;
	case EMU_SLOT_NONE:
	case EMU_SLOT_SELF:
	case EMU_SLOT_RAW:
		break;
	}
	return false;
}

/* Which memories an engine reaches: PE reads SBUF and writes PSUM, POOL has no PSUM. */
static bool memory_reachable(enum trn_engine engine, bool output, unsigned int mem)
{
	if (engine == TRN_ENGINE_PE)
		return output ? mem == TRN_MEM_PSUM : mem == TRN_MEM_SBUF;
	return engine != TRN_ENGINE_POOL || mem == TRN_MEM_SBUF;
}

/** emu_exec_views() - resolve the slots the opcode's row names, and check the rules that hold
 * between them. */
enum trn_fault emu_exec_views(struct emu_exec *x)
{
	uint32_t reg = emu_reg_get(x->eng, x->insn->misc & TRN_MISC_REG_MASK);
	const struct emu_view *lead = NULL;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		enum emu_slot role = (enum emu_slot)x->op->slot[i];
		bool output = role == EMU_SLOT_OUT || role == EMU_SLOT_OUT_OPT;
		struct trn_operand slot;
		enum trn_fault fault;

		if (!slot_used(role, &x->insn->slot[i]))
			continue;
		slot = x->insn->slot[i];
		fault = emu_view_init(x->core, &slot, reg, output, &x->v[i]);
		if (fault)
			return fault;
		if (!memory_reachable(x->eng->id, output, x->v[i].mem))
			return TRN_FAULT_OPERAND;
		if (!lead)
			lead = &x->v[i];
		if ((x->op->fields & EMU_F_SAME_PARTS) && x->v[i].parts != lead->parts)
			return TRN_FAULT_OPERAND;
		if (role == EMU_SLOT_OUT_OPT && x->v[i].n != 1)
			return TRN_FAULT_OPERAND;
		if ((x->op->fields & EMU_F_SAME_COUNT) && role != EMU_SLOT_OUT_OPT &&
		    x->v[i].n != lead->n)
			return TRN_FAULT_OPERAND;
	}
	if (x->op->slot[1] != EMU_SLOT_OUT && x->op->slot[2] == EMU_SLOT_IN && x->v[1].used &&
	    x->v[1].mem == TRN_MEM_PSUM && x->v[2].mem == TRN_MEM_PSUM)
		return TRN_FAULT_OPERAND;
	return TRN_FAULT_NONE;
}

static const uint8_t vector_dtype[] = {
	[TRN_VECTOR_FP32] = TRN_DTYPE_FP32,	[TRN_VECTOR_BF16] = TRN_DTYPE_BF16,
	[TRN_VECTOR_FP16] = TRN_DTYPE_FP16,	[TRN_VECTOR_INT32] = TRN_DTYPE_INT32,
	[TRN_VECTOR_E4M3] = TRN_DTYPE_FP8_E4M3, [TRN_VECTOR_E5M2] = TRN_DTYPE_FP8_E5M2,
};

/** emu_vector_view() - resolve a per-partition vector reference @c of @count elements for @parts
 * partitions. */
enum trn_fault emu_vector_view(const struct emu_exec *x, uint32_t c, unsigned int parts,
			       unsigned int count, bool output, struct emu_view *v)
{
	struct trn_operand operand = {
		.where = (c >> TRN_VECTOR_MEM_SHIFT) << TRN_OPERAND_MEM_SHIFT |
			 (c & TRN_VECTOR_OFFSET_MASK),
		.partition = (uint8_t)(32 * (c >> TRN_VECTOR_QUADRANT_SHIFT & 3)),
		.partitions = (uint8_t)parts,
		.dtype = vector_dtype[c >> TRN_VECTOR_DTYPE_SHIFT & 7],
		.ndim = 1,
		.dim = { { 1, (uint16_t)count } },
	};
	enum trn_fault fault = emu_view_init(x->core, &operand, 0, output, v);

	if (fault)
		return fault;
	return memory_reachable(x->eng->id, output, v->mem) ? TRN_FAULT_NONE : TRN_FAULT_OPERAND;
}

/** emu_scalar_init() - resolve c0 (@which 0) or c1 (1) for an operand of @parts partitions. */
enum trn_fault emu_scalar_init(struct emu_exec *x, unsigned int which, unsigned int parts,
			       struct emu_scalar *scalar)
{
	unsigned int kind = which ? emu_insn_c1_kind(x->insn) : emu_insn_c0_kind(x->insn);
	uint32_t c = which ? x->insn->c1 : x->insn->c0;
	enum trn_fault fault;
	struct emu_view v;

	memset(scalar, 0, sizeof(*scalar));
	if (kind != TRN_SCALAR_VECTOR) {
		scalar->word = emu_insn_scalar32(x->eng, kind, c);
		return TRN_FAULT_NONE;
	}
	fault = emu_vector_view(x, c, parts, 1, false, &v);
	if (fault)
		return fault;
	scalar->vector = v.base;
	scalar->pstride = v.pstride;
	scalar->dtype = v.dtype;
	return TRN_FAULT_NONE;
}

static float flush_input(const struct emu_exec *x, float f)
{
	uint32_t u = emu_f32_bits(f);

	return x->eng->mode_flush && !(u & 0x7f800000u) ? emu_bits_f32(u & 0x80000000u) : f;
}

float emu_scalar_f32(const struct emu_exec *x, const struct emu_scalar *scalar, unsigned int p)
{
	if (!scalar->vector)
		return flush_input(x, emu_bits_f32(scalar->word));
	return flush_input(x, emu_value_load(scalar->dtype, scalar->vector + p * scalar->pstride));
}

uint32_t emu_scalar_u32(const struct emu_scalar *scalar, unsigned int p)
{
	uint32_t v = scalar->word;

	if (scalar->vector)
		memcpy(&v, scalar->vector + p * scalar->pstride, emu_dtype_size(scalar->dtype));
	return v;
}

uint8_t *emu_view_element(const struct emu_view *v, unsigned int p, uint32_t index)
{
	int64_t at = 0;
	unsigned int d;

	for (d = 0; d < v->ndim; d++) {
		at += v->step[d] * (int64_t)(index % v->count[d]);
		index /= v->count[d];
	}
	return emu_view_row(v, p) + at;
}

/* Calls of @body for each innermost run of a row; "run" is its first byte, "done" the elements
 * before it. */
#define FOR_EACH_RUN(v, p, run, done)                                                         \
	for (uint32_t i3_ = 0, done = 0; i3_ < ((v)->ndim > 3 ? (v)->count[3] : 1); i3_++)    \
		for (uint32_t i2_ = 0; i2_ < ((v)->ndim > 2 ? (v)->count[2] : 1); i2_++)      \
			for (uint32_t i1_ = 0; i1_ < ((v)->ndim > 1 ? (v)->count[1] : 1);     \
			     i1_++, done += (v)->count[0])                                    \
				for (uint8_t *run = emu_view_row(v, p) + (v)->step[1] * i1_ + \
						    (v)->step[2] * i2_ + (v)->step[3] * i3_;  \
				     run; run = NULL)

/** emu_view_load() - row of partition @p, in iteration order, as FP32 into @dst. */
void emu_view_load(const struct emu_exec *x, const struct emu_view *v, unsigned int p, float *dst)
{
	uint32_t i;

	FOR_EACH_RUN(v, p, run, done)
	emu_row_widen(v->dtype, run, v->step[0], dst + done, v->count[0]);
	if (x->eng->mode_flush)
		for (i = 0; i < v->n; i++)
			dst[i] = flush_input(x, dst[i]);
}

void emu_view_store(const struct emu_exec *x, const struct emu_view *v, unsigned int p,
		    const float *src)
{
	FOR_EACH_RUN(v, p, run, done)
	emu_row_narrow(v->dtype, run, v->step[0], src + done, v->count[0], &x->round);
}

const float *emu_view_load_f32(const struct emu_exec *x, const struct emu_view *v, unsigned int p,
			       float *buf)
{
	if (v->contiguous && !x->eng->mode_flush &&
	    (v->dtype == TRN_DTYPE_FP32 || v->dtype == TRN_DTYPE_FP32R ||
	     v->dtype == TRN_DTYPE_TF32))
		return (const float *)(const void *)emu_view_row(v, p);
	emu_view_load(x, v, p, buf);
	return buf;
}

/**
 * emu_view_out() - where to compute row @p of @v: in place when memory has the form of the
 * computation and neither input row would be overwritten before it is read, else @buf. Give the
 * result to emu_view_commit().
 */
float *emu_view_out(const struct emu_exec *x, const struct emu_view *v, unsigned int p,
		    const float *a, const float *b, float *buf)
{
	float *d = (float *)(void *)emu_view_row(v, p);

	if (!v->contiguous || x->round.flush ||
	    (v->dtype != TRN_DTYPE_FP32 && v->dtype != TRN_DTYPE_FP32R))
		return buf;
	if (a && a != d && a < d + v->n && d < a + v->n)
		return buf;
	if (b && b != d && b < d + v->n && d < b + v->n)
		return buf;
	return d;
}

void emu_view_commit(const struct emu_exec *x, const struct emu_view *v, unsigned int p,
		     const float *row)
{
	if ((const void *)row != (const void *)emu_view_row(v, p))
		emu_view_store(x, v, p, row);
}

static void load_bits(const uint8_t *src, int64_t step, unsigned int esize, uint32_t *dst,
		      uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		const uint8_t *s = src + step * i;
		uint16_t h;

		if (esize == 4) {
			memcpy(&dst[i], s, 4);
		} else if (esize == 2) {
			memcpy(&h, s, 2);
			dst[i] = h;
		} else {
			dst[i] = *s;
		}
	}
}

/** emu_view_load_u32() - raw elements of a row, zero extended. */
void emu_view_load_u32(const struct emu_view *v, unsigned int p, uint32_t *dst)
{
	FOR_EACH_RUN(v, p, run, done)
	load_bits(run, v->step[0], v->esize, dst + done, v->count[0]);
}

static void store_bits(uint8_t *dst, int64_t step, unsigned int esize, const uint32_t *src,
		       uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint8_t *d = dst + step * i;
		uint16_t h = (uint16_t)src[i];

		if (esize == 4)
			memcpy(d, &src[i], 4);
		else if (esize == 2)
			memcpy(d, &h, 2);
		else
			*d = (uint8_t)src[i];
	}
}

/** emu_view_store_u32() - low bits of @src as the raw elements of a row. */
void emu_view_store_u32(const struct emu_view *v, unsigned int p, const uint32_t *src)
{
	FOR_EACH_RUN(v, p, run, done)
	store_bits(run, v->step[0], v->esize, src + done, v->count[0]);
}

/** emu_view_checksum() - sum of the elements' 16-bit halves modulo 2^16. */
uint16_t emu_view_checksum(const struct emu_view *v)
{
	uint32_t sum = 0;
	unsigned int p;

	for (p = 0; p < v->parts; p++)
		FOR_EACH_RUN(v, p, run, done)
		{
			uint32_t i, bits;

			for (i = 0; i < v->count[0]; i++) {
				load_bits(run + v->step[0] * i, 0, v->esize, &bits, 1);
				sum += (bits & 0xffff) + (bits >> 16);
			}
		}
	return (uint16_t)sum;
}

/** emu_view_finite() - no element of a float operand is NaN or Inf. */
bool emu_view_finite(const struct emu_exec *x, const struct emu_view *v)
{
	float *buf = x->core->row[0];
	unsigned int p;
	uint32_t i;

	if (emu_dtype_is_int(v->dtype) || v->dtype >= TRN_DTYPE_FP8_E8M0)
		return true;
	for (p = 0; p < v->parts; p++) {
		emu_view_load(x, v, p, buf);
		for (i = 0; i < v->n; i++)
			if ((emu_f32_bits(buf[i]) & 0x7f800000u) == 0x7f800000u)
				return false;
	}
	return true;
}
