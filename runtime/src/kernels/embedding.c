// SPDX-License-Identifier: BSD-2-Clause
/*
 * Embedding by one-hot product: for 128 ids at a time, a [vocabulary, ids] matrix of zeros and ones
 * is the stationary operand and rows of the table stream past it. Exact, since every product is
 * with 0 or 1 and one of them is 1.
 */
#include "kernels/kernel.h"

#define TILE_V 128u
#define TILE_D TRN_MATMUL_MAX_COLUMNS

/** struct lookup - an embedding being built. */
struct lookup {
	struct trn_builder *b;
	uint64_t vocabulary, dim, count;
	int table, ids, y;
	struct trn_view lane; /* [128, 1]: number of the partition */
};

/* One-hot of 128 vocabulary entries from @first for the ids, fp32 [vocabulary tile, ids]. */
static struct trn_view one_hot(struct lookup *l, struct trn_view ids, uint64_t first,
			       uint32_t entries, struct trn_tile *tile)
{
	struct trn_view v;

	*tile = trn_builder_tile(l->b, TRN_MEM_SBUF, entries, ids.dim[0].count * 4u);
	v = trn_view(*tile, TRN_DTYPE_FP32, ids.dim[0].count);
	trn_emit_tensor_scalar(l->b, TRN_ENGINE_DVE, v, trn_view_rows(ids, 0, entries), TRN_ALU_SUB,
			       trn_scalar((float)first), TRN_ALU_EQ,
			       trn_scalar_vector(trn_view_rows(l->lane, 0, entries)), 0);
	return v;
}

static void lookup_tile(struct lookup *l, struct trn_view ids, uint64_t row, uint32_t rows,
			uint64_t d0)
{
	uint32_t columns = trn_kernel_min(l->dim - d0, TILE_D);
	struct trn_tile ps = trn_builder_tile(l->b, TRN_MEM_PSUM, rows, columns * 4);
	struct trn_tile y = trn_builder_tile(l->b, TRN_MEM_SBUF, rows, columns * 4);
	struct trn_view vp = trn_view(ps, TRN_DTYPE_FP32, columns),
			vy = trn_view(y, TRN_DTYPE_FP32, columns);
	uint64_t v0;

	for (v0 = 0; v0 < l->vocabulary && !trn_builder_status(l->b); v0 += TILE_V) {
		uint32_t entries = trn_kernel_min(l->vocabulary - v0, TILE_V);
		struct trn_tile hot,
			table = trn_builder_tile(l->b, TRN_MEM_SBUF, entries, columns * 4);
		struct trn_view vt = trn_view(table, TRN_DTYPE_FP32, columns);

		trn_builder_load(l->b, vt, l->table, (v0 * l->dim + d0) * 4, (int64_t)l->dim * 4);
		trn_emit_load_weights(l->b, one_hot(l, ids, v0, entries, &hot));
		trn_emit_matmul(l->b, vp, vt, v0 > 0);
		trn_builder_tile_free(l->b, hot);
		trn_builder_tile_free(l->b, table);
	}
	trn_emit_copy(l->b, TRN_ENGINE_DVE, vy, vp);
	trn_builder_store(l->b, l->y, (row * l->dim + d0) * 4, (int64_t)l->dim * 4, vy);
	trn_builder_tile_free(l->b, ps);
	trn_builder_tile_free(l->b, y);
}

static void lookup_emit(struct lookup *l)
{
	static const int16_t step[TRN_OPERAND_DIMS] = { 0 };
	struct trn_tile lane = trn_builder_tile(l->b, TRN_MEM_SBUF, TILE_V, 4);
	uint64_t row, d0;

	l->lane = trn_view(lane, TRN_DTYPE_FP32, 1);
	trn_emit_iota(l->b, l->lane, step, 0, 1);
	for (row = 0; row < l->count && !trn_builder_status(l->b); row += TRN_KERNEL_ROWS) {
		uint32_t rows = trn_kernel_min(l->count - row, TRN_KERNEL_ROWS);
		struct trn_tile ids = trn_builder_tile(
			l->b, TRN_MEM_SBUF, trn_kernel_min(l->vocabulary, TILE_V), rows * 4);
		struct trn_view vi = trn_view(ids, TRN_DTYPE_INT32, rows);

		trn_builder_load(l->b, vi, l->ids, row * 4, 0);
		for (d0 = 0; d0 < l->dim && !trn_builder_status(l->b); d0 += TILE_D)
			lookup_tile(l, vi, row, rows, d0);
		trn_builder_tile_free(l->b, ids);
	}
}

enum trn_status trn_kernel_embedding(uint64_t vocabulary, uint64_t dim, uint64_t count,
				     struct trn_image **image)
{
	struct lookup l = { .vocabulary = vocabulary, .dim = dim, .count = count };

	if (!image)
		return trn_error_set(TRN_ERR_INVALID, "kernel embedding: image must not be NULL");
	*image = NULL;
	/* Ids are compared in FP32, exact below 2^24. */
	if (!vocabulary || !dim || !count || vocabulary > 1u << 24 || dim >> 20 || count >> 32)
		return trn_error_set(TRN_ERR_INVALID,
				     "kernel embedding: vocabulary %llu, dim %llu, count %llu; 1 "
				     "to 2^24, 2^20 - 1, 2^32 - 1 are possible",
				     (unsigned long long)vocabulary, (unsigned long long)dim,
				     (unsigned long long)count);
	l.b = trn_builder_create("embedding", TRN_KERNEL_GENERATION);
	if (!l.b)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "kernel embedding: no memory for a builder");
	l.table = trn_kernel_matrix(l.b, "table", TRN_TENSOR_INPUT, vocabulary, dim);
	l.ids = trn_builder_tensor(l.b, "ids", TRN_TENSOR_INPUT, TRN_DTYPE_INT32, &count, 1, NULL);
	l.y = trn_kernel_matrix(l.b, "y", TRN_TENSOR_OUTPUT, count, dim);
	lookup_emit(&l);
	return trn_kernel_finish(l.b, image);
}
