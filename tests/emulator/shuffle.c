// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Moves between partitions and gathers along them: TRANSPOSE32, SHUFFLE32, N_GATHER. Elements move
 * as bits.
 */
#include "exec.h"

#define BLOCK	  32
#define MASK_KEEP 255 /* SHUFFLE32: leave the output partition as it is */

static uint32_t element_load(const struct emu_view *v, unsigned int p, uint32_t i)
{
	uint32_t bits = 0;

	memcpy(&bits, emu_view_element(v, p, i), v->esize);
	return bits;
}

static void element_store(const struct emu_view *v, unsigned int p, uint32_t i, uint32_t bits)
{
	memcpy(emu_view_element(v, p, i), &bits, v->esize);
}

static void transpose_block(const struct emu_view *dst, const struct emu_view *src, unsigned int p0,
			    uint32_t f0, unsigned int rows, unsigned int cols)
{
	uint32_t block[BLOCK][BLOCK];
	unsigned int r, c;

	for (r = 0; r < rows; r++)
		for (c = 0; c < cols; c++)
			block[r][c] = element_load(src, p0 + r, f0 + c);
	for (c = 0; c < cols; c++)
		for (r = 0; r < rows; r++)
			element_store(dst, p0 + c, f0 + r, block[r][c]);
}

/* One block of at most 32 by 32 into the transposed shape, or every 32 by 32 block of a bigger
 * operand in its place. */
enum trn_fault emu_exec_transpose32(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	unsigned int p;
	uint32_t f;

	if (dst->dtype != src->dtype)
		return TRN_FAULT_OPERAND;
	if (src->parts <= BLOCK && src->n <= BLOCK) {
		if (dst->parts != src->n || dst->n != src->parts)
			return TRN_FAULT_OPERAND;
		transpose_block(dst, src, 0, 0, src->parts, src->n);
		return TRN_FAULT_NONE;
	}
	if (src->parts % BLOCK || src->n % BLOCK || dst->parts != src->parts || dst->n != src->n)
		return TRN_FAULT_OPERAND;
	for (p = 0; p < src->parts; p += BLOCK)
		for (f = 0; f < src->n; f += BLOCK)
			transpose_block(dst, src, p, f, BLOCK, BLOCK);
	return TRN_FAULT_NONE;
}

static void shuffle_mask(const struct trn_insn *insn, uint8_t mask[BLOCK])
{
	memcpy(mask, &insn->slot[2], 24);
	memcpy(mask + 24, &insn->c0, 4);
	memcpy(mask + 28, &insn->c1, 4);
}

/* Columns [f, f + n) of one quadrant: all sources are read before the first store. */
static void shuffle_columns(struct emu_exec *x, const uint8_t *mask, unsigned int p0,
			    unsigned int rows, uint32_t f, uint32_t n)
{
	uint32_t *buf = (uint32_t *)(void *)x->core->row[0], i;
	unsigned int r;

	for (r = 0; r < rows; r++)
		for (i = 0; i < n; i++)
			buf[r * n + i] = element_load(&x->v[1], p0 + r, f + i);
	for (r = 0; r < rows; r++)
		for (i = 0; mask[r] != MASK_KEEP && i < n; i++)
			element_store(&x->v[0], p0 + r, f + i, buf[mask[r] * n + i]);
}

enum trn_fault emu_exec_shuffle32(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	uint32_t chunk = EMU_ROW_MAX / BLOCK, f;
	uint8_t mask[BLOCK];
	unsigned int p, r;

	if (dst->dtype != src->dtype)
		return TRN_FAULT_OPERAND;
	shuffle_mask(x->insn, mask);
	for (r = 0; r < BLOCK; r++)
		if (mask[r] != MASK_KEEP && mask[r] >= BLOCK)
			return TRN_FAULT_OPERAND;
	for (p = 0; p < src->parts; p++)
		if (mask[p % BLOCK] != MASK_KEEP && p - p % BLOCK + mask[p % BLOCK] >= src->parts)
			return TRN_FAULT_OPERAND;
	for (p = 0; p < src->parts; p += BLOCK) {
		unsigned int rows = src->parts - p < BLOCK ? src->parts - p : BLOCK;

		for (f = 0; f < src->n; f += chunk)
			shuffle_columns(x, mask, p, rows, f,
					src->n - f < chunk ? src->n - f : chunk);
	}
	return TRN_FAULT_NONE;
}

/* dst[p][i] = data[p][index[p][i]]; an index outside the data faults before its row is written. */
enum trn_fault emu_exec_n_gather(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *data = &x->v[1], *index = &x->v[2];
	uint32_t *in = (uint32_t *)(void *)x->core->row[0],
		 *at = (uint32_t *)(void *)x->core->row[1];
	uint32_t *out = (uint32_t *)(void *)x->core->row[2], i;
	unsigned int p;

	if (dst->dtype != data->dtype || index->dtype != TRN_DTYPE_UINT32 || dst->n != index->n)
		return TRN_FAULT_OPERAND;
	for (p = 0; p < data->parts; p++) {
		emu_view_load_u32(data, p, in);
		emu_view_load_u32(index, p, at);
		for (i = 0; i < index->n; i++) {
			if (at[i] >= data->n)
				return TRN_FAULT_OPERAND;
			out[i] = in[at[i]];
		}
		emu_view_store_u32(dst, p, out);
	}
	return TRN_FAULT_NONE;
}
