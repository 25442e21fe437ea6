// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernels over the rows of a matrix: reductions, softmax, layer normalisation. Rows lie on
 * partitions.
 */
#include "kernels/kernel.h"

#define STATS_MAX 512u /* columns of one BN_STATS */

static enum trn_status check(const char *what, uint64_t rows, uint64_t columns,
			     uint64_t columns_max, struct trn_image **image)
{
	if (!image)
		return trn_error_set(TRN_ERR_INVALID, "kernel %s: image must not be NULL", what);
	*image = NULL;
	if (!rows || !columns || rows >> 32 || columns > columns_max)
		return trn_error_set(TRN_ERR_INVALID,
				     "kernel %s: %llu rows of %llu columns; at least one of each, "
				     "at most 2^32 rows and %llu columns are possible",
				     what, (unsigned long long)rows, (unsigned long long)columns,
				     (unsigned long long)columns_max);
	return TRN_OK;
}

static struct trn_builder *start(const char *what, uint64_t rows, uint64_t columns)
{
	char name[TRN_PARTITIONS / 2];
	struct trn_builder *b;

	snprintf(name, sizeof(name), "%s %llux%llu", what, (unsigned long long)rows,
		 (unsigned long long)columns);
	b = trn_builder_create(name, TRN_KERNEL_GENERATION);
	if (!b)
		trn_error_set(TRN_ERR_NO_HOST_MEMORY, "kernel %s: no memory for a builder", what);
	return b;
}

/*
 * One block of rows: partial results side by side, then reduced together; in rounds until one is
 * left.
 */
static void reduce_block(struct trn_builder *b, enum trn_alu op, int tx, uint64_t row,
			 uint32_t rows, uint64_t columns, struct trn_view result)
{
	uint32_t pieces = (uint32_t)((columns + TRN_KERNEL_COLUMNS_MAX - 1) /
				     TRN_KERNEL_COLUMNS_MAX),
		 i;
	struct trn_tile partial = trn_builder_tile(b, TRN_MEM_SBUF, rows, pieces * 4);
	struct trn_view vp = trn_view(partial, TRN_DTYPE_FP32, pieces);

	for (i = 0; i < pieces && !trn_builder_status(b); i++) {
		uint64_t first = (uint64_t)i * TRN_KERNEL_COLUMNS_MAX;
		uint32_t n = trn_kernel_min(columns - first, TRN_KERNEL_COLUMNS_MAX);
		struct trn_tile x = trn_builder_tile(b, TRN_MEM_SBUF, rows, n * 4);
		struct trn_view vx = trn_view(x, TRN_DTYPE_FP32, n);

		trn_builder_load(b, vx, tx, (row * columns + first) * 4, (int64_t)columns * 4);
		trn_emit_reduce(b, trn_view_columns(vp, i, 1), vx, op, 1, false);
		trn_builder_tile_free(b, x);
	}
	trn_emit_reduce(b, result, vp, op, 1, false);
	trn_builder_tile_free(b, partial);
}

enum trn_status trn_kernel_reduce(enum trn_alu op, uint64_t rows, uint64_t columns,
				  struct trn_image **image)
{
	enum trn_status status = check("reduce", rows, columns,
				       (uint64_t)TRN_KERNEL_COLUMNS_MAX * TRN_KERNEL_COLUMNS_MAX,
				       image);
	struct trn_builder *b;
	uint64_t row;
	int tx, ty;

	if (status)
		return status;
	if (op != TRN_ALU_ADD && op != TRN_ALU_MAX && op != TRN_ALU_MIN)
		return trn_error_set(TRN_ERR_INVALID,
				     "kernel reduce: operator %d is none of add, max, min", op);
	b = start("reduce", rows, columns);
	if (!b)
		return TRN_ERR_NO_HOST_MEMORY;
	tx = trn_kernel_matrix(b, "x", TRN_TENSOR_INPUT, rows, columns);
	ty = trn_kernel_vector(b, "y", TRN_TENSOR_OUTPUT, rows);
	for (row = 0; row < rows && !trn_builder_status(b); row += TRN_KERNEL_ROWS) {
		uint32_t n = trn_kernel_min(rows - row, TRN_KERNEL_ROWS);
		struct trn_tile y = trn_builder_tile(b, TRN_MEM_SBUF, n, 4);
		struct trn_view vy = trn_view(y, TRN_DTYPE_FP32, 1);

		reduce_block(b, op, tx, row, n, columns, vy);
		trn_builder_store(b, ty, row * 4, 4, vy);
		trn_builder_tile_free(b, y);
	}
	return trn_kernel_finish(b, image);
}

static void softmax_emit(struct trn_builder *b, struct trn_view x, struct trn_view peak,
			 struct trn_view sum)
{
	trn_emit_reduce(b, peak, x, TRN_ALU_MAX, 1, true);
	trn_emit_activate(b, x, x, TRN_ACT_EXP, trn_scalar(1.0f), trn_scalar_vector(peak),
			  TRN_REDUCE_RESET_REDUCE);
	trn_emit_acc_read(b, TRN_ENGINE_ACT, sum);
	trn_emit_reciprocal(b, sum, sum);
	trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, x, x, TRN_ALU_MUL, trn_scalar_vector(sum),
			       TRN_ALU_BYPASS, trn_scalar(0.0f), 0);
}

enum trn_status trn_kernel_softmax(uint64_t rows, uint64_t columns, struct trn_image **image)
{
	enum trn_status status = check("softmax", rows, columns, TRN_KERNEL_COLUMNS_MAX, image);
	struct trn_builder *b;
	uint64_t row;
	int tx, ty;

	if (status)
		return status;
	b = start("softmax", rows, columns);
	if (!b)
		return TRN_ERR_NO_HOST_MEMORY;
	tx = trn_kernel_matrix(b, "x", TRN_TENSOR_INPUT, rows, columns);
	ty = trn_kernel_matrix(b, "y", TRN_TENSOR_OUTPUT, rows, columns);
	for (row = 0; row < rows && !trn_builder_status(b); row += TRN_KERNEL_ROWS) {
		uint32_t n = trn_kernel_min(rows - row, TRN_KERNEL_ROWS);
		struct trn_tile x = trn_builder_tile(b, TRN_MEM_SBUF, n, (uint32_t)columns * 4);
		struct trn_tile s = trn_builder_tile(b, TRN_MEM_SBUF, n, 8);
		struct trn_view vx = trn_view(x, TRN_DTYPE_FP32, (unsigned int)columns);
		struct trn_view vs = trn_view(s, TRN_DTYPE_FP32, 2);

		trn_builder_load(b, vx, tx, row * columns * 4, (int64_t)columns * 4);
		softmax_emit(b, vx, trn_view_columns(vs, 0, 1), trn_view_columns(vs, 1, 1));
		trn_builder_store(b, ty, row * columns * 4, (int64_t)columns * 4, vx);
		trn_builder_tile_free(b, x);
		trn_builder_tile_free(b, s);
	}
	return trn_kernel_finish(b, image);
}

/** struct norm - constants of a layer normalisation in SBUF, replicated over partitions. */
struct norm {
	struct trn_view gain, shift, epsilon;
};

static void norm_emit(struct trn_builder *b, const struct norm *norm, struct trn_view x,
		      uint32_t rows, uint32_t columns)
{
	uint32_t pieces = (columns + STATS_MAX - 1) / STATS_MAX, i;
	struct trn_tile stats = trn_builder_tile(b, TRN_MEM_SBUF, rows, pieces * 6 * 4);
	struct trn_tile aggr = trn_builder_tile(b, TRN_MEM_SBUF, rows, 2 * 4);
	struct trn_view vs = trn_view(stats, TRN_DTYPE_FP32, pieces * 6),
			va = trn_view(aggr, TRN_DTYPE_FP32, 2);
	struct trn_view variance = trn_view_columns(va, 1, 1);

	for (i = 0; i < pieces; i++)
		trn_emit_bn_stats(
			b, trn_view_columns(vs, i * 6, 6),
			trn_view_columns(x, i * STATS_MAX,
					 trn_kernel_min(columns - i * STATS_MAX, STATS_MAX)));
	trn_emit_bn_aggr(b, va, vs);
	trn_emit_activate(b, variance, variance, TRN_ACT_RSQRT, trn_scalar(1.0f),
			  trn_scalar_vector(trn_view_rows(norm->epsilon, 0, rows)),
			  TRN_REDUCE_IDLE);
	trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, x, x, TRN_ALU_SUB,
			       trn_scalar_vector(trn_view_columns(va, 0, 1)), TRN_ALU_MUL,
			       trn_scalar_vector(variance), 0);
	trn_emit_tensor_tensor(b, TRN_ENGINE_DVE, x, x, TRN_ALU_MUL,
			       trn_view_rows(norm->gain, 0, rows));
	trn_emit_tensor_tensor(b, TRN_ENGINE_DVE, x, x, TRN_ALU_ADD,
			       trn_view_rows(norm->shift, 0, rows));
	trn_builder_tile_free(b, stats);
	trn_builder_tile_free(b, aggr);
}

enum trn_status trn_kernel_layer_norm(uint64_t rows, uint64_t columns, float epsilon,
				      struct trn_image **image)
{
	enum trn_status status = check("layer norm", rows, columns, TRN_KERNEL_COLUMNS_MAX, image);
	struct trn_tile gain, shift, eps;
	struct trn_builder *b;
	struct norm norm;
	uint32_t n, c = (uint32_t)columns;
	uint64_t row;
	int tx, ty, tg, ts;

	if (status)
		return status;
	b = start("layer norm", rows, columns);
	if (!b)
		return TRN_ERR_NO_HOST_MEMORY;
	tx = trn_kernel_matrix(b, "x", TRN_TENSOR_INPUT, rows, columns);
	tg = trn_kernel_vector(b, "gain", TRN_TENSOR_INPUT, columns);
	ts = trn_kernel_vector(b, "shift", TRN_TENSOR_INPUT, columns);
	ty = trn_kernel_matrix(b, "y", TRN_TENSOR_OUTPUT, rows, columns);
	n = trn_kernel_min(rows, TRN_KERNEL_ROWS);
	gain = trn_builder_tile(b, TRN_MEM_SBUF, n, c * 4);
	shift = trn_builder_tile(b, TRN_MEM_SBUF, n, c * 4);
	eps = trn_builder_tile(b, TRN_MEM_SBUF, n, 4);
	norm.gain = trn_view(gain, TRN_DTYPE_FP32, c);
	norm.shift = trn_view(shift, TRN_DTYPE_FP32, c);
	norm.epsilon = trn_view(eps, TRN_DTYPE_FP32, 1);
	trn_builder_load(b, norm.gain, tg, 0, 0);
	trn_builder_load(b, norm.shift, ts, 0, 0);
	trn_emit_memset(b, TRN_ENGINE_POOL, norm.epsilon, epsilon);
	for (row = 0; row < rows && !trn_builder_status(b); row += TRN_KERNEL_ROWS) {
		uint32_t r = trn_kernel_min(rows - row, TRN_KERNEL_ROWS);
		struct trn_tile x = trn_builder_tile(b, TRN_MEM_SBUF, r, c * 4);
		struct trn_view vx = trn_view(x, TRN_DTYPE_FP32, c);

		trn_builder_load(b, vx, tx, row * columns * 4, (int64_t)columns * 4);
		norm_emit(b, &norm, vx, r, c);
		trn_builder_store(b, ty, row * columns * 4, (int64_t)columns * 4, vx);
		trn_builder_tile_free(b, x);
	}
	return trn_kernel_finish(b, image);
}
