// SPDX-License-Identifier: BSD-2-Clause
/* Elementwise kernels over flat fp32 tensors. */
#include "kernels/kernel.h"

#define COLUMNS 2048u

static struct trn_builder *start(const char *what, uint64_t count, struct trn_image **image,
				 enum trn_status *status)
{
	char name[TRN_PARTITIONS / 2];
	struct trn_builder *b;

	if (!image) {
		*status = trn_error_set(TRN_ERR_INVALID, "kernel %s: image must not be NULL", what);
		return NULL;
	}
	*image = NULL;
	if (!count || count >> 44) {
		*status = trn_error_set(TRN_ERR_INVALID,
					"kernel %s: %llu elements; 1 to 2^44 are possible", what,
					(unsigned long long)count);
		return NULL;
	}
	snprintf(name, sizeof(name), "%s %llu", what, (unsigned long long)count);
	b = trn_builder_create(name, TRN_KERNEL_GENERATION);
	if (!b)
		*status = trn_error_set(TRN_ERR_NO_HOST_MEMORY,
					"kernel %s: no memory for a builder", what);
	return b;
}

/* c = a op b; c may be a itself. */
static void binary(struct trn_builder *b, enum trn_alu op, uint64_t count, int ta, int tb, int tc)
{
	struct trn_flat flat = { 0 };
	struct trn_tile x, y;
	struct trn_view vx, vy;

	while (trn_flat_next(&flat, count, COLUMNS) && !trn_builder_status(b)) {
		vx = trn_flat_tile(b, &flat, &x);
		vy = trn_flat_tile(b, &flat, &y);
		trn_flat_move(b, &flat, ta, vx, true);
		trn_flat_move(b, &flat, tb, vy, true);
		trn_emit_tensor_tensor(b, TRN_ENGINE_DVE, vx, vx, op, vy);
		trn_flat_move(b, &flat, tc, vx, false);
		trn_builder_tile_free(b, x);
		trn_builder_tile_free(b, y);
	}
}

enum trn_status trn_kernel_add(uint64_t count, struct trn_image **image)
{
	enum trn_status status = TRN_OK;
	struct trn_builder *b = start("add", count, image, &status);
	int ta, tb;

	if (!b)
		return status;
	ta = trn_kernel_vector(b, "a", TRN_TENSOR_STATE, count);
	tb = trn_kernel_vector(b, "b", TRN_TENSOR_INPUT, count);
	binary(b, TRN_ALU_ADD, count, ta, tb, ta);
	return trn_kernel_finish(b, image);
}

enum trn_status trn_kernel_binary(enum trn_alu op, uint64_t count, struct trn_image **image)
{
	enum trn_status status = TRN_OK;
	struct trn_builder *b;
	int ta, tb, tc;

	if (op < TRN_ALU_ADD || op > TRN_ALU_LE)
		return trn_error_set(
			TRN_ERR_INVALID,
			"kernel binary: operator %d is none of add .. less-or-equal (1 to 11)", op);
	b = start("binary", count, image, &status);
	if (!b)
		return status;
	ta = trn_kernel_vector(b, "a", TRN_TENSOR_INPUT, count);
	tb = trn_kernel_vector(b, "b", TRN_TENSOR_INPUT, count);
	tc = trn_kernel_vector(b, "c", TRN_TENSOR_OUTPUT, count);
	binary(b, op, count, ta, tb, tc);
	return trn_kernel_finish(b, image);
}

enum trn_status trn_kernel_unary(enum trn_act function, uint64_t count, struct trn_image **image)
{
	enum trn_status status = TRN_OK;
	struct trn_flat flat = { 0 };
	struct trn_builder *b;
	struct trn_tile x;
	struct trn_view vx;
	int tx, ty;

	if (function > TRN_ACT_ABS || function == TRN_ACT_PRELU)
		return trn_error_set(TRN_ERR_INVALID,
				     "kernel unary: function %d is unknown or needs a parameter",
				     function);
	b = start("unary", count, image, &status);
	if (!b)
		return status;
	tx = trn_kernel_vector(b, "x", TRN_TENSOR_INPUT, count);
	ty = trn_kernel_vector(b, "y", TRN_TENSOR_OUTPUT, count);
	while (trn_flat_next(&flat, count, COLUMNS) && !trn_builder_status(b)) {
		vx = trn_flat_tile(b, &flat, &x);
		trn_flat_move(b, &flat, tx, vx, true);
		trn_emit_activate(b, vx, vx, function, trn_scalar(1.0f), trn_scalar(0.0f),
				  TRN_REDUCE_IDLE);
		trn_flat_move(b, &flat, ty, vx, false);
		trn_builder_tile_free(b, x);
	}
	return trn_kernel_finish(b, image);
}
