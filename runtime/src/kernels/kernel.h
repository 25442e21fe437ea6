/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces the kernels share. */
#ifndef TRN_KERNEL_H
#define TRN_KERNEL_H

#include <stdio.h>
#include "error.h"
#include "trn/builder.h"
#include "trn/kernels.h"

#define TRN_KERNEL_GENERATION  2u /* runs on all later ones */
#define TRN_KERNEL_ROWS	       TRN_PARTITIONS
#define TRN_KERNEL_COLUMNS_MAX 8192u

/**
 * struct trn_flat - a piece of a flat tensor as a [rows, columns] tile plus a shorter last row of
 * @tail elements.
 */
struct trn_flat {
	uint64_t first; /* element */
	uint32_t rows;
	uint32_t columns;
	uint32_t tail;
};

/**
 * trn_flat_next() - the next piece of @count elements after @flat (zeroed before the first); false
 * at the end.
 */
bool trn_flat_next(struct trn_flat *flat, uint64_t count, uint32_t columns);
/** trn_flat_rows() - partitions the piece uses. */
static inline uint32_t trn_flat_rows(const struct trn_flat *flat)
{
	return flat->rows + (flat->tail != 0);
}
/** trn_flat_tile() - an SBUF tile for a piece, and the fp32 view of it. */
struct trn_view trn_flat_tile(struct trn_builder *builder, const struct trn_flat *flat,
			      struct trn_tile *tile);
/** trn_flat_move() - the piece between fp32 tensor and tile. */
void trn_flat_move(struct trn_builder *builder, const struct trn_flat *flat, int tensor,
		   struct trn_view view, bool to_sbuf);

/** trn_kernel_vector() - declare a one-dimensional fp32 tensor. */
int trn_kernel_vector(struct trn_builder *builder, const char *name, enum trn_tensor_kind kind,
		      uint64_t count);
/** trn_kernel_matrix() - declare a [rows, columns] fp32 tensor. */
int trn_kernel_matrix(struct trn_builder *builder, const char *name, enum trn_tensor_kind kind,
		      uint64_t rows, uint64_t columns);
/** trn_kernel_finish() - finish and free the builder. */
enum trn_status trn_kernel_finish(struct trn_builder *builder, struct trn_image **image);

static inline uint32_t trn_kernel_min(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

#endif /* TRN_KERNEL_H */
