// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builder: the operand rules of the hardware, checked when a program is built instead of when it
 * faults.
 */
#include "builder_priv.h"

uint32_t trn_dtype_bytes(uint32_t dtype)
{
	return trn_isa_dtype_bytes(dtype);
}

const char *trn_dtype_name(uint32_t dtype)
{
	static const char *const name[] = {
		[TRN_DTYPE_UINT64] = "uint64",
		[TRN_DTYPE_INT8] = "int8",
		[TRN_DTYPE_UINT8] = "uint8",
		[TRN_DTYPE_INT16] = "int16",
		[TRN_DTYPE_UINT16] = "uint16",
		[TRN_DTYPE_BF16] = "bf16",
		[TRN_DTYPE_FP16] = "fp16",
		[TRN_DTYPE_INT32] = "int32",
		[TRN_DTYPE_UINT32] = "uint32",
		[TRN_DTYPE_FP32] = "fp32",
		[TRN_DTYPE_FP32R] = "fp32r",
		[TRN_DTYPE_INT64] = "int64",
		[TRN_DTYPE_FP8_E3M4] = "fp8_e3m4",
		[TRN_DTYPE_FP8_E4M3] = "fp8_e4m3",
		[TRN_DTYPE_FP8_E5M2] = "fp8_e5m2",
		[TRN_DTYPE_TF32] = "tf32",
		[TRN_DTYPE_FP8_E4M3FN] = "fp8_e4m3fn",
		[TRN_DTYPE_FP8_E8M0] = "fp8_e8m0",
		[TRN_DTYPE_FP8_E5M2_X4] = "fp8_e5m2_x4",
		[TRN_DTYPE_FP8_E4M3FN_X4] = "fp8_e4m3fn_x4",
		[TRN_DTYPE_FP4_E2M1_X4] = "fp4_e2m1_x4",
	};

	return dtype < sizeof(name) / sizeof(name[0]) && name[dtype] ? name[dtype] : "unknown";
}

static bool partitions_valid(unsigned int first, unsigned int count)
{
	if (count < 1 || count > TRN_PARTITIONS)
		return false;
	if (count > 64)
		return first == 0;
	if (count > 32)
		return first == 0 || first == 64;
	return first < TRN_PARTITIONS && first % TRN_BUILD_QUADRANT == 0;
}

uint64_t trn_build_elements(const struct trn_view *view)
{
	uint64_t n = 1;
	unsigned int i;

	for (i = 0; i < view->ndim && i < TRN_OPERAND_DIMS; i++)
		n *= view->dim[i].count;
	return n;
}

/* Byte range of a view inside its partitions; false when it leaves the memory. */
static bool view_range(const struct trn_builder *b, const struct trn_view *view, uint32_t *start,
		       uint32_t *end)
{
	int64_t size = trn_dtype_bytes(view->dtype), low = view->offset, high = view->offset;
	uint32_t limit = view->mem == TRN_MEM_SBUF ? trn_tnx_sbuf_bytes(b->generation)
						   : TRN_PSUM_PARTITION_BYTES;
	unsigned int i;

	for (i = 0; i < view->ndim; i++) {
		int64_t span = ((int64_t)view->dim[i].count - 1) * view->dim[i].step * size;

		if (span < 0)
			low += span;
		else
			high += span;
	}
	high += size;
	if (low < 0 || high > limit)
		return false;
	*start = (uint32_t)low;
	*end = (uint32_t)high;
	return true;
}

static bool view_check(struct trn_builder *b, const char *what, const struct trn_view *view,
		       bool write)
{
	uint32_t size = trn_dtype_bytes(view->dtype);
	unsigned int i;

	if (view->mem > TRN_MEM_PSUM || !size || size > 4) {
		trn_build_fail(b, TRN_ERR_INVALID, "%s: memory %u or type %s cannot be an operand",
			       what, view->mem, trn_dtype_name(view->dtype));
		return false;
	}
	if (!partitions_valid(view->partition, view->partitions)) {
		trn_build_fail(b, TRN_ERR_INVALID,
			       "%s: %u partitions cannot start at partition %u (more than 64: at "
			       "0; more than 32: 0 or 64; else 0, 32, 64 or 96)",
			       what, view->partitions, view->partition);
		return false;
	}
	if (view->ndim < 1 || view->ndim > TRN_OPERAND_DIMS) {
		trn_build_fail(b, TRN_ERR_INVALID, "%s: %u dimensions, 1 to 4 are possible", what,
			       view->ndim);
		return false;
	}
	for (i = 0; i < view->ndim; i++) {
		if (!view->dim[i].count ||
		    (write && view->dim[i].count > 1 && !view->dim[i].step)) {
			trn_build_fail(b, TRN_ERR_INVALID,
				       "%s: dimension %u has %u elements %d apart; a result cannot "
				       "repeat an element",
				       what, i, view->dim[i].count, view->dim[i].step);
			return false;
		}
	}
	if (view->offset % size) {
		trn_build_fail(b, TRN_ERR_INVALID, "%s: byte offset %u is not a multiple of %u",
			       what, view->offset, size);
		return false;
	}
	return true;
}

bool trn_build_operand(struct trn_builder *builder, const char *what, const struct trn_view *view,
		       struct trn_operand *operand, struct trn_build_access *access, bool write)
{
	uint64_t n;

	if (!builder || builder->status || !view_check(builder, what, view, write))
		return false;
	n = trn_build_elements(view);
	if (n > (view->mem == TRN_MEM_PSUM ? 4096u : 65536u)) {
		trn_build_fail(
			builder, TRN_ERR_INVALID,
			"%s: %llu elements per partition; at most 65536 in SBUF, 4096 in PSUM",
			what, (unsigned long long)n);
		return false;
	}
	if (!view_range(builder, view, &access->start, &access->end)) {
		trn_build_fail(builder, TRN_ERR_INVALID,
			       "%s: a view at byte %u with %llu elements leaves its partition",
			       what, view->offset, (unsigned long long)n);
		return false;
	}
	operand->where = (uint32_t)view->mem << TRN_OPERAND_MEM_SHIFT | view->offset;
	operand->partition = view->partition;
	operand->partitions = view->partitions;
	operand->dtype = view->dtype;
	operand->ndim = view->ndim;
	memset(operand->dim, 0, sizeof(operand->dim));
	memcpy(operand->dim, view->dim, view->ndim * sizeof(view->dim[0]));
	access->mem = view->mem;
	access->partition = view->partition;
	access->partitions = view->partitions;
	access->write = write;
	return true;
}

static int vector_class(uint32_t dtype)
{
	switch (dtype) {
	case TRN_DTYPE_FP32:
		return TRN_VECTOR_FP32;
	case TRN_DTYPE_BF16:
		return TRN_VECTOR_BF16;
	case TRN_DTYPE_FP16:
		return TRN_VECTOR_FP16;
	case TRN_DTYPE_INT32:
		return TRN_VECTOR_INT32;
	case TRN_DTYPE_FP8_E4M3:
		return TRN_VECTOR_E4M3;
	case TRN_DTYPE_FP8_E5M2:
		return TRN_VECTOR_E5M2;
	}
	return -1;
}

bool trn_build_scalar(struct trn_builder *builder, const char *what,
		      const struct trn_scalar *scalar, unsigned int partitions, uint32_t *kind,
		      uint32_t *bits, struct trn_build_access *access, unsigned int *accesses)
{
	struct trn_operand unused;
	const struct trn_view *v = &scalar->view;
	int dtype = vector_class(v->dtype);

	if (!builder || builder->status)
		return false;
	*kind = scalar->kind;
	*bits = scalar->bits;
	if (scalar->kind != TRN_SCALAR_VECTOR) {
		if (scalar->kind == TRN_SCALAR_REG && scalar->bits >= TRN_REG_COUNT) {
			trn_build_fail(builder, TRN_ERR_INVALID, "%s: register %u, there are %u",
				       what, scalar->bits, TRN_REG_COUNT);
			return false;
		}
		return true;
	}
	if (dtype < 0 || v->partitions != partitions || trn_build_elements(v) != 1) {
		trn_build_fail(
			builder, TRN_ERR_INVALID,
			"%s: a scalar vector needs one element in each of %u partitions of type "
			"fp32, bf16, fp16, int32, e4m3 or e5m2; it has %llu in %u of %s",
			what, partitions, (unsigned long long)trn_build_elements(v), v->partitions,
			trn_dtype_name(v->dtype));
		return false;
	}
	if (!trn_build_operand(builder, what, v, &unused, access, false))
		return false;
	(*accesses)++;
	*bits = (uint32_t)v->mem << TRN_VECTOR_MEM_SHIFT |
		(uint32_t)dtype << TRN_VECTOR_DTYPE_SHIFT |
		(uint32_t)(v->partition / TRN_BUILD_QUADRANT) << TRN_VECTOR_QUADRANT_SHIFT |
		v->offset;
	return true;
}
