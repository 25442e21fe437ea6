// SPDX-License-Identifier: BSD-2-Clause
/* Pieces the kernels share: flat tensors as tiles, tensor declarations. */
#include "kernels/kernel.h"

bool trn_flat_next(struct trn_flat *flat, uint64_t count, uint32_t columns)
{
	uint64_t done = flat->first + (uint64_t)flat->rows * flat->columns + flat->tail;
	uint64_t left = count - done;

	flat->first = done;
	flat->rows = 0;
	flat->tail = 0;
	if (!left)
		return false;
	if (left >= (uint64_t)TRN_KERNEL_ROWS * columns) {
		flat->rows = TRN_KERNEL_ROWS;
		flat->columns = columns;
		return true;
	}
	flat->columns = (uint32_t)((left + TRN_KERNEL_ROWS - 1) / TRN_KERNEL_ROWS);
	flat->rows = (uint32_t)(left / flat->columns);
	flat->tail = (uint32_t)(left % flat->columns);
	return true;
}

struct trn_view trn_flat_tile(struct trn_builder *builder, const struct trn_flat *flat,
			      struct trn_tile *tile)
{
	*tile = trn_builder_tile(builder, TRN_MEM_SBUF, trn_flat_rows(flat), flat->columns * 4);
	return trn_view(*tile, TRN_DTYPE_FP32, flat->columns);
}

void trn_flat_move(struct trn_builder *builder, const struct trn_flat *flat, int tensor,
		   struct trn_view view, bool to_sbuf)
{
	struct trn_builder_dma x[2];
	size_t n = 0;

	if (flat->rows)
		x[n++] = trn_builder_dma_view(tensor, flat->first * 4, (int64_t)flat->columns * 4,
					      trn_view_rows(view, 0, flat->rows), to_sbuf);
	if (flat->tail)
		x[n++] = trn_builder_dma_view(
			tensor, (flat->first + (uint64_t)flat->rows * flat->columns) * 4, 0,
			trn_view_columns(trn_view_rows(view, flat->rows, 1), 0, flat->tail),
			to_sbuf);
	trn_builder_dma(builder, TRN_ENGINE_SP, x, n);
}

int trn_kernel_vector(struct trn_builder *builder, const char *name, enum trn_tensor_kind kind,
		      uint64_t count)
{
	return trn_builder_tensor(builder, name, kind, TRN_DTYPE_FP32, &count, 1, NULL);
}

int trn_kernel_matrix(struct trn_builder *builder, const char *name, enum trn_tensor_kind kind,
		      uint64_t rows, uint64_t columns)
{
	uint64_t shape[2] = { rows, columns };

	return trn_builder_tensor(builder, name, kind, TRN_DTYPE_FP32, shape, 2, NULL);
}

enum trn_status trn_kernel_finish(struct trn_builder *builder, struct trn_image **image)
{
	enum trn_status status = trn_builder_finish(builder, image);

	trn_builder_free(builder);
	return status;
}
