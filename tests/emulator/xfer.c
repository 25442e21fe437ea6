// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DMA_XFER: a self-contained transfer between device addresses: copy, cast, accumulate, gather or
 * scatter of rows.
 *
 * Elements are taken in the source's order and put down in the destination's order. With an index
 * vector the outermost dimension of that operand is addressed by the vector: row i lies at base +
 * index[i] * step. Indices are checked before any byte of their row moves.
 */
#include "alu.h"
#include "exec.h"

#define XFER_ELEMENTS_MAX (1u << 24)	    /* bounds the work of one instruction */
#define XFER_CHUNK	  (EMU_ROW_MAX / 2) /* elements; 8-byte ones fill a row buffer */
#define XFER_FLAGS                                                                             \
	(TRN_XFER_BASE_REG | TRN_XFER_INDEX_VECTOR | TRN_XFER_OOB_SKIP | TRN_XFER_ACCUMULATE | \
	 0x3fu << TRN_XFER_REG_SHIFT)

/* One operand, and where its elements are. */
struct xfer_operand {
	uint64_t base;
	uint16_t flags;
	uint8_t dtype;
	uint8_t esize;
	uint8_t ndim;
	uint32_t count[TRN_OPERAND_DIMS];
	int64_t step[TRN_OPERAND_DIMS]; /* bytes */
	uint32_t n;
	uint32_t row; /* elements of an indexed row */
	uint32_t index[TRN_PARTITIONS];
};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static enum trn_fault operand_decode(const struct emu_exec *x, const uint8_t *raw,
				     struct xfer_operand *o)
{
	uint64_t n = 1;
	unsigned int d;

	memset(o, 0, sizeof(*o));
	o->base = get32(raw) | (uint64_t)get32(raw + 4) << 32;
	o->dtype = raw[8];
	o->ndim = raw[9];
	o->flags = get16(raw + 10);
	o->esize = (uint8_t)emu_dtype_size(o->dtype);
	if ((o->flags & ~XFER_FLAGS) ||
	    (!(o->flags & TRN_XFER_BASE_REG) && o->flags >> TRN_XFER_REG_SHIFT))
		return TRN_FAULT_ILLEGAL_INSN;
	if (emu_dtype_generation(o->dtype) > x->core->config.generation)
		return TRN_FAULT_ILLEGAL_INSN;
	if (!o->esize || o->ndim < 1 || o->ndim > TRN_OPERAND_DIMS)
		return TRN_FAULT_OPERAND;
	for (d = 0; d < TRN_OPERAND_DIMS; d++) {
		const uint8_t *dim = raw + 12 + 6 * d;

		if (d >= o->ndim && (get32(dim) || get16(dim + 4)))
			return TRN_FAULT_ILLEGAL_INSN;
		if (d >= o->ndim)
			continue;
		o->step[d] = (int64_t)(int32_t)get32(dim) * o->esize;
		o->count[d] = get16(dim + 4);
		n *= o->count[d];
		if (!n || n > XFER_ELEMENTS_MAX)
			return TRN_FAULT_OPERAND;
	}
	o->n = (uint32_t)n;
	o->row = o->n / o->count[o->ndim - 1];
	if (o->flags & TRN_XFER_BASE_REG)
		o->base += emu_reg_get(x->eng, o->flags >> TRN_XFER_REG_SHIFT);
	return TRN_FAULT_NONE;
}

/* Address of element @e, and in *@run how many elements from there on are adjacent. */
static uint64_t element_address(const struct xfer_operand *o, uint32_t e, uint32_t *run)
{
	uint64_t addr = o->base;
	unsigned int d;

	*run = o->step[0] == o->esize && !(o->ndim == 1 && (o->flags & TRN_XFER_INDEX_VECTOR))
		       ? o->count[0] - e % o->count[0]
		       : 1;
	for (d = 0; d < o->ndim; d++) {
		uint32_t i = e % o->count[d];

		e /= o->count[d];
		if (d == o->ndim - 1u && (o->flags & TRN_XFER_INDEX_VECTOR))
			i = o->index[i];
		addr += (uint64_t)o->step[d] * i;
	}
	return addr;
}

/* Elements [e, e + n) of @o to or from the packed buffer @buf. */
static enum trn_fault transfer(struct emu_exec *x, const struct xfer_operand *o, uint32_t e,
			       uint32_t n, uint8_t *buf, bool write)
{
	while (n) {
		uint32_t run;
		uint64_t addr = element_address(o, e, &run);
		enum trn_fault fault;

		if (run > n)
			run = n;
		if (write) {
			x->xfer_bytes += (size_t)run * o->esize;
			x->xfer_runs++;
			fault = x->core->ops.write(x->core->opaque, addr, buf,
						   (size_t)run * o->esize);
		} else {
			fault = x->core->ops.read(x->core->opaque, addr, buf,
						  (size_t)run * o->esize, false);
		}
		if (fault) {
			x->eng->fault_address = addr;
			return fault;
		}
		buf += (size_t)run * o->esize;
		e += run;
		n -= run;
	}
	return TRN_FAULT_NONE;
}

/* At most XFER_CHUNK elements: read, convert or accumulate, write. */
static enum trn_fault copy_chunk(struct emu_exec *x, const struct xfer_operand *dst,
				 const struct xfer_operand *src, uint32_t e, uint32_t n)
{
	uint8_t *raw = (uint8_t *)x->core->row[0];
	float *value = x->core->row[1], *old = x->core->row[2];
	bool accumulate = dst->flags & TRN_XFER_ACCUMULATE;
	unsigned int op = x->insn->op0 ? x->insn->op0 : (unsigned int)TRN_ALU_ADD;
	enum trn_fault fault;

	fault = transfer(x, src, e, n, raw, false);
	if (fault)
		return fault;
	if (src->dtype != dst->dtype || accumulate) {
		x->xfer_compute = true;
		emu_row_widen(src->dtype, raw, src->esize, value, n);
		if (accumulate) {
			fault = transfer(x, dst, e, n, raw, false);
			if (fault)
				return fault;
			emu_row_widen(dst->dtype, raw, dst->esize, old, n);
			emu_alu_row_vv(op, value, old, value, n);
		}
		emu_row_narrow(dst->dtype, raw, dst->esize, value, n, &x->round);
	}
	return transfer(x, dst, e, n, raw, true);
}

static enum trn_fault copy_range(struct emu_exec *x, const struct xfer_operand *dst,
				 const struct xfer_operand *src, uint32_t e, uint32_t n)
{
	while (n) {
		uint32_t chunk = n < XFER_CHUNK ? n : XFER_CHUNK;
		enum trn_fault fault;

		if (emu_core_interrupted(x->core))
			return (enum trn_fault)__atomic_load_n(&x->core->interrupt,
							       __ATOMIC_RELAXED);
		fault = copy_chunk(x, dst, src, e, chunk);
		if (fault)
			return fault;
		e += chunk;
		n -= chunk;
	}
	return TRN_FAULT_NONE;
}

/* Reads the index vector (c0): one index per row, from consecutive partitions. */
static enum trn_fault indices_load(struct emu_exec *x, struct xfer_operand *o)
{
	uint32_t rows = o->count[o->ndim - 1], i;
	enum trn_fault fault;
	struct emu_view v;

	if (rows > TRN_PARTITIONS)
		return TRN_FAULT_OPERAND;
	fault = emu_vector_view(x, x->insn->c0, rows, 1, false, &v);
	if (fault)
		return fault;
	if (v.dtype != TRN_DTYPE_INT32)
		return TRN_FAULT_OPERAND;
	for (i = 0; i < rows; i++)
		memcpy(&o->index[i], emu_view_row(&v, i), sizeof(o->index[i]));
	return TRN_FAULT_NONE;
}

static enum trn_fault copy_rows(struct emu_exec *x, const struct xfer_operand *dst,
				const struct xfer_operand *src, const struct xfer_operand *indexed)
{
	uint32_t rows = indexed->count[indexed->ndim - 1], i;
	uint32_t bound = emu_insn_scalar32(x->eng, emu_insn_c1_kind(x->insn), x->insn->c1);

	for (i = 0; i < rows; i++) {
		enum trn_fault fault;

		if (indexed->index[i] >= bound) {
			if (indexed->flags & TRN_XFER_OOB_SKIP)
				continue;
			x->eng->fault_address =
				indexed->base +
				(uint64_t)indexed->step[indexed->ndim - 1] * indexed->index[i];
			return TRN_FAULT_OPERAND;
		}
		fault = copy_range(x, dst, src, i * indexed->row, indexed->row);
		if (fault)
			return fault;
	}
	return TRN_FAULT_NONE;
}

static enum trn_fault shape_check(const struct emu_exec *x, const struct xfer_operand *dst,
				  const struct xfer_operand *src)
{
	bool indexed = (dst->flags | src->flags) & TRN_XFER_INDEX_VECTOR;
	bool accumulate = dst->flags & TRN_XFER_ACCUMULATE;
	unsigned int op = x->insn->op0;

	if ((src->flags & TRN_XFER_ACCUMULATE) || (dst->flags & src->flags & TRN_XFER_INDEX_VECTOR))
		return TRN_FAULT_ILLEGAL_INSN;
	if ((dst->flags & TRN_XFER_OOB_SKIP && !(dst->flags & TRN_XFER_INDEX_VECTOR)) ||
	    (src->flags & TRN_XFER_OOB_SKIP && !(src->flags & TRN_XFER_INDEX_VECTOR)))
		return TRN_FAULT_ILLEGAL_INSN;
	if (indexed != (emu_insn_c0_kind(x->insn) == TRN_SCALAR_VECTOR))
		return TRN_FAULT_ILLEGAL_INSN;
	if (!indexed && (x->insn->kinds || x->insn->c0 || x->insn->c1))
		return TRN_FAULT_ILLEGAL_INSN;
	if (op && (!accumulate || (op != TRN_ALU_ADD && op != TRN_ALU_MAX && op != TRN_ALU_MIN)))
		return TRN_FAULT_ILLEGAL_INSN;
	if (src->n != dst->n)
		return TRN_FAULT_OPERAND;
	if ((src->dtype != dst->dtype || accumulate) &&
	    (src->esize == 8 || dst->esize == 8 || !emu_dtype_is_plain(src->dtype) ||
	     !emu_dtype_is_plain(dst->dtype)))
		return TRN_FAULT_OPERAND;
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_dma_xfer(struct emu_exec *x)
{
	struct xfer_operand dst, src, *indexed;
	enum trn_fault fault;

	fault = operand_decode(x, x->insn->raw, &dst);
	if (!fault)
		fault = operand_decode(x, x->insn->raw + TRN_XFER_OPERAND_SIZE, &src);
	if (!fault)
		fault = shape_check(x, &dst, &src);
	if (fault)
		return fault;
	if (!((dst.flags | src.flags) & TRN_XFER_INDEX_VECTOR))
		return copy_range(x, &dst, &src, 0, src.n);
	indexed = dst.flags & TRN_XFER_INDEX_VECTOR ? &dst : &src;
	fault = indices_load(x, indexed);
	if (fault)
		return fault;
	return copy_rows(x, &dst, &src, indexed);
}
