// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tensor engine: LDWEIGHTS and MATMUL.
 *
 * D[m][n] = sum over k of S[k][m] * M[k][n], k ascending from +0, one FP32 multiply and one FP32
 * add per step; the finished sum is stored to PSUM or added to it once. Inputs of every type are
 * widened to FP32, where products of 8- and 16-bit types are exact. Weights are kept packed in
 * groups of EMU_TILE_ROWS columns, the moving operand is packed in groups of EMU_TILE_COLS columns,
 * each group with its k rows adjacent: the form the inner loop reads.
 */
#include <stdlib.h>
#include "exec.h"
#include "simd.h"

#define PE_ROWS_MAX 256 /* 128, or 256 in double row mode */
#define PE_COLS_MAX 128
#define PE_TILES    4 /* tile starts per side, 32 rows or columns apart */
#define PE_CHUNK    TRN_MATMUL_MAX_COLUMNS

/* Weights loaded at one tile position. */
struct pe_tile {
	bool valid;
	bool double_row;
	uint8_t row, rows; /* area of the array, in units of 32 */
	uint8_t col, cols;
	uint8_t dtype;
	uint16_t k;
	uint16_t m;
	float *w; /* [m / 8][k][8], padded with zero columns */
};

struct emu_pe {
	struct pe_tile tile[PE_TILES][PE_TILES];
	float *weights; /* storage of all tiles */
	float *moving;	/* [n / 32][k][32] */
};

struct emu_pe *emu_pe_create(void)
{
	struct emu_pe *pe = calloc(1, sizeof(*pe));
	size_t tile = PE_ROWS_MAX * PE_COLS_MAX;
	unsigned int r, c;

	if (!pe)
		return NULL;
	pe->weights = aligned_alloc(64, PE_TILES * PE_TILES * tile * sizeof(float));
	pe->moving = aligned_alloc(64, PE_ROWS_MAX * PE_CHUNK * sizeof(float));
	if (!pe->weights || !pe->moving) {
		emu_pe_destroy(pe);
		return NULL;
	}
	for (r = 0; r < PE_TILES; r++)
		for (c = 0; c < PE_TILES; c++)
			pe->tile[r][c].w = pe->weights + (r * PE_TILES + c) * tile;
	return pe;
}

void emu_pe_destroy(struct emu_pe *pe)
{
	if (!pe)
		return;
	free(pe->weights);
	free(pe->moving);
	free(pe);
}

void emu_pe_reset(struct emu_pe *pe)
{
	unsigned int r, c;

	for (r = 0; r < PE_TILES; r++)
		for (c = 0; c < PE_TILES; c++)
			pe->tile[r][c].valid = false;
}

static bool side_valid(unsigned int start, unsigned int size, unsigned int generation)
{
	if (size != 4 && size != 2 && !(size == 1 && generation >= 3))
		return false;
	return start % size == 0 && start + size <= PE_TILES;
}

/* Tile position of an instruction; all-zero fields mean the whole array. */
static enum trn_fault tile_decode(const struct emu_exec *x, struct pe_tile *t)
{
	unsigned int generation = x->core->config.generation;

	memset(t, 0, sizeof(*t));
	t->row = x->insn->pe_tile & 15;
	t->rows = x->insn->pe_tile >> 4;
	t->col = x->insn->misc >> 6 & 15;
	t->cols = x->insn->misc >> 10 & 15;
	if (!t->rows && !t->row)
		t->rows = PE_TILES;
	if (!t->cols && !t->col)
		t->cols = PE_TILES;
	if (!side_valid(t->row, t->rows, generation) || !side_valid(t->col, t->cols, generation))
		return TRN_FAULT_OPERAND;
	t->double_row = x->insn->opf & TRN_OPF_DOUBLE_ROW;
	if (t->double_row &&
	    (t->cols != PE_TILES || generation < 3 || (x->insn->opf & TRN_OPF_TRANSPOSE)))
		return TRN_FAULT_ILLEGAL_INSN;
	return TRN_FAULT_NONE;
}

static bool is_wide(unsigned int dtype)
{
	return dtype == TRN_DTYPE_FP32 || dtype == TRN_DTYPE_FP32R || dtype == TRN_DTYPE_TF32;
}

static bool is_fp8(unsigned int dtype)
{
	return emu_dtype_size(dtype) == 1 && emu_dtype_format(dtype);
}

static bool input_valid(unsigned int dtype)
{
	return is_wide(dtype) || emu_dtype_format(dtype);
}

/* Any two 8- and 16-bit types mix; 4-byte types only with 4-byte types; the two e4m3 variants never
 * meet. */
static bool inputs_match(unsigned int a, unsigned int b)
{
	if (is_wide(a) != is_wide(b))
		return false;
	return !(a == TRN_DTYPE_FP8_E4M3 && b == TRN_DTYPE_FP8_E4M3FN) &&
	       !(a == TRN_DTYPE_FP8_E4M3FN && b == TRN_DTYPE_FP8_E4M3);
}

/* Columns of an input: in double row mode the outermost dimension holds the two rows of a
 * partition. */
static enum trn_fault input_columns(const struct emu_exec *x, const struct emu_view *v,
				    bool double_row, uint32_t *cols)
{
	const struct trn_operand *o = &x->insn->slot[1];
	unsigned int ndim = o->ndim & TRN_OPERAND_NDIM_MASK;

	if (!input_valid(v->dtype))
		return TRN_FAULT_OPERAND;
	*cols = v->n;
	if (!double_row)
		return TRN_FAULT_NONE;
	if (!is_fp8(v->dtype) || ndim < 2 || o->dim[ndim - 1].count != 2)
		return TRN_FAULT_OPERAND;
	*cols = v->n / 2;
	return TRN_FAULT_NONE;
}

/* An FP32 tile read as tf32 loses its low 13 mantissa bits, to nearest even. */
static const float *input_round(const struct emu_view *v, const float *row, float *buf, uint32_t n)
{
	uint32_t i;

	if (v->dtype != TRN_DTYPE_TF32)
		return row;
	for (i = 0; i < n; i++) {
		uint32_t u = emu_f32_bits(row[i]);

		if ((u & 0x7fffffffu) <= 0x7f800000u)
			u = (u + 0xfffu + (u >> 13 & 1)) & ~0x1fffu;
		buf[i] = emu_bits_f32(u);
	}
	return buf;
}

static const float *input_row(const struct emu_exec *x, const struct emu_view *v, unsigned int p)
{
	float *buf = x->core->row[0];

	return input_round(v, emu_view_load_f32(x, v, p, buf), buf, v->n);
}

static void counter_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static void weights_pack_row(struct pe_tile *t, unsigned int k, const float *row)
{
	unsigned int m, rest = t->m % EMU_TILE_ROWS;
	float *w = t->w + k * EMU_TILE_ROWS;

	for (m = 0; m + EMU_TILE_ROWS <= t->m;
	     m += EMU_TILE_ROWS, w += (size_t)t->k * EMU_TILE_ROWS)
		memcpy(w, row + m, EMU_TILE_ROWS * sizeof(float));
	if (rest) {
		memset(w, 0, EMU_TILE_ROWS * sizeof(float));
		memcpy(w, row + m, rest * sizeof(float));
	}
}

static bool tiles_overlap(const struct pe_tile *a, const struct pe_tile *b)
{
	return a->row < b->row + b->rows && b->row < a->row + a->rows &&
	       a->col < b->col + b->cols && b->col < a->col + a->cols;
}

/* New weights replace whatever was loaded in any part of their area. */
static struct pe_tile *tile_claim(struct emu_pe *pe, const struct pe_tile *want)
{
	struct pe_tile *t = &pe->tile[want->row][want->col];
	float *w = t->w;
	unsigned int r, c;

	for (r = 0; r < PE_TILES; r++)
		for (c = 0; c < PE_TILES; c++)
			if (pe->tile[r][c].valid && tiles_overlap(&pe->tile[r][c], want))
				pe->tile[r][c].valid = false;
	*t = *want;
	t->w = w;
	t->valid = true;
	return t;
}

enum trn_fault emu_exec_ldweights(struct emu_exec *x)
{
	const struct emu_view *v = &x->v[1];
	struct pe_tile want, *t;
	enum trn_fault fault;
	unsigned int p;
	uint32_t m;

	fault = tile_decode(x, &want);
	if (!fault)
		fault = input_columns(x, v, want.double_row, &m);
	if (fault)
		return fault;
	if (v->parts > 32u * want.rows || m > 32u * want.cols)
		return TRN_FAULT_OPERAND;
	want.k = (uint16_t)(v->parts * (want.double_row ? 2 : 1));
	want.m = (uint16_t)m;
	want.dtype = v->dtype;
	t = tile_claim(x->core->pe, &want);
	for (p = 0; p < v->parts; p++) {
		const float *row = input_row(x, v, p);

		if (t->double_row) {
			weights_pack_row(t, 2 * p, row);
			weights_pack_row(t, 2 * p + 1, row + m);
		} else {
			weights_pack_row(t, p, row);
		}
	}
	counter_add(&x->core->pe_weights, m);
	return TRN_FAULT_NONE;
}

/* Row k, columns [0, n), into the packed moving buffer; the last group is padded with zeros. */
static void moving_pack_row(float *moving, uint32_t k_total, uint32_t k, const float *row,
			    uint32_t n)
{
	float *dst = moving + (size_t)k * EMU_TILE_COLS;
	size_t group = (size_t)k_total * EMU_TILE_COLS;
	uint32_t c, rest = n % EMU_TILE_COLS;

	for (c = 0; c + EMU_TILE_COLS <= n; c += EMU_TILE_COLS, dst += group)
		memcpy(dst, row + c, EMU_TILE_COLS * sizeof(float));
	if (rest) {
		memset(dst, 0, EMU_TILE_COLS * sizeof(float));
		memcpy(dst, row + c, rest * sizeof(float));
	}
}

static void moving_pack(const struct emu_exec *x, const struct pe_tile *t, uint32_t cols,
			uint32_t first, uint32_t n)
{
	const struct emu_view *v = &x->v[1];
	float *moving = x->core->pe->moving;
	unsigned int p;

	for (p = 0; p < v->parts; p++) {
		const float *row = input_row(x, v, p);

		if (t->double_row) {
			moving_pack_row(moving, t->k, 2 * p, row + first, n);
			moving_pack_row(moving, t->k, 2 * p + 1, row + cols + first, n);
		} else {
			moving_pack_row(moving, t->k, p, row + first, n);
		}
	}
}

/* Stores or adds one row piece element by element; overlapping destination elements add up in
 * column order. */
static void psum_store(const struct emu_exec *x, unsigned int m, uint32_t first, const float *src,
		       uint32_t n, bool accumulate)
{
	const struct emu_view *dst = &x->v[0];
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint8_t *at = emu_view_element(dst, m, first + i);
		float f = src[i];

		if (accumulate)
			f = emu_f32_canon(emu_value_load(dst->dtype, at) + f);
		emu_value_store(dst->dtype, at, f, &x->round);
	}
}

static void matmul_tile(const struct emu_exec *x, const struct pe_tile *t, uint32_t mb,
			uint32_t first, uint32_t nb, uint32_t n)
{
	const struct emu_view *dst = &x->v[0];
	const float *a = t->w + (size_t)mb * t->k * EMU_TILE_ROWS;
	const float *b = x->core->pe->moving + (size_t)nb * t->k * EMU_TILE_COLS;
	bool accumulate = x->insn->opf & TRN_OPF_ACCUMULATE;
	uint32_t m0 = mb * EMU_TILE_ROWS, n0 = nb * EMU_TILE_COLS, i;
	uint32_t rows = t->m - m0 < EMU_TILE_ROWS ? t->m - m0 : EMU_TILE_ROWS;
	uint32_t cols = n - n0 < EMU_TILE_COLS ? n - n0 : EMU_TILE_COLS;
	float tile[EMU_TILE_ROWS * EMU_TILE_COLS] __attribute__((aligned(64)));

	if (dst->contiguous && dst->dtype == TRN_DTYPE_FP32 && !x->round.flush &&
	    rows == EMU_TILE_ROWS && cols == EMU_TILE_COLS) {
		float *c = (float *)(void *)emu_view_row(dst, m0) + first + n0;

		emu_simd_matrix()->gemm(a, b, t->k, c, dst->pstride / sizeof(float), accumulate);
		return;
	}
	emu_simd_matrix()->gemm(a, b, t->k, tile, EMU_TILE_COLS, false);
	for (i = 0; i < rows; i++)
		psum_store(x, m0 + i, first + n0, tile + i * EMU_TILE_COLS, cols, accumulate);
}

/* Bits of an FP32 value that was widened from @dtype, back in that type; exact, NaN payloads
 * included. */
static uint32_t unwiden(unsigned int dtype, float f)
{
	const struct emu_float_format *fmt = emu_dtype_format(dtype);
	uint32_t u = emu_f32_bits(f);

	if (!fmt)
		return u;
	if ((u & 0x7f800000u) == 0x7f800000u && fmt->inf != fmt->nan)
		return (u >> 31) << (fmt->exp + fmt->man) | fmt->inf |
		       (u & 0x7fffffu) >> (23 - fmt->man);
	return emu_float_encode(fmt, u, false, 0, false);
}

static bool moving_is_identity(const struct emu_exec *x)
{
	const struct emu_view *v = &x->v[1];
	unsigned int k;
	uint32_t n;

	if (v->n != v->parts)
		return false;
	for (k = 0; k < v->parts; k++) {
		const float *row = input_row(x, v, k);

		for (n = 0; n < v->n; n++)
			if (row[n] != (n == k ? 1.0f : 0.0f))
				return false;
	}
	return true;
}

/* dst[m][k] = bits of S[k][m]; 8-bit inputs become 16-bit elements with a zero upper byte. */
static enum trn_fault matmul_transpose(struct emu_exec *x, const struct pe_tile *t)
{
	const struct emu_view *dst = &x->v[0];
	unsigned int esize = emu_dtype_size(t->dtype);
	uint32_t *row = (uint32_t *)(void *)x->core->row[1];
	uint32_t m, k;

	if (x->core->config.generation < 3 || (x->insn->opf & TRN_OPF_ACCUMULATE))
		return TRN_FAULT_ILLEGAL_INSN;
	if (t->dtype == TRN_DTYPE_TF32 || !moving_is_identity(x))
		return TRN_FAULT_OPERAND;
	if (esize == 1 ? dst->esize != 2 : dst->dtype != t->dtype)
		return TRN_FAULT_OPERAND;
	for (m = 0; m < t->m; m++) {
		const float *w = t->w + (size_t)(m / EMU_TILE_ROWS) * t->k * EMU_TILE_ROWS +
				 m % EMU_TILE_ROWS;

		for (k = 0; k < t->k; k++)
			row[k] = unwiden(t->dtype, w[k * EMU_TILE_ROWS]);
		emu_view_store_u32(dst, m, row);
	}
	return TRN_FAULT_NONE;
}

/* One bank of 512 FP32 columns; v4 lifts the bank limit and adds BF16 elements. */
static enum trn_fault matmul_check_dst(const struct emu_exec *x, const struct emu_view *dst)
{
	unsigned int generation = x->core->config.generation;

	if (!(x->insn->opf & TRN_OPF_TRANSPOSE) && dst->dtype != TRN_DTYPE_FP32 &&
	    !(generation >= 4 && dst->dtype == TRN_DTYPE_BF16))
		return TRN_FAULT_OPERAND;
	if (generation >= 4)
		return TRN_FAULT_NONE;
	if (dst->n > TRN_MATMUL_MAX_COLUMNS)
		return TRN_FAULT_OPERAND;
	if ((dst->offset + dst->low) / TRN_PSUM_BANK_BYTES !=
	    (dst->offset + dst->high - 1) / TRN_PSUM_BANK_BYTES)
		return TRN_FAULT_OPERAND;
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_matmul(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	struct pe_tile want, *t;
	uint32_t cols, first;
	enum trn_fault fault;

	fault = tile_decode(x, &want);
	if (!fault)
		fault = input_columns(x, src, want.double_row, &cols);
	if (!fault)
		fault = matmul_check_dst(x, dst);
	if (fault)
		return fault;
	t = &x->core->pe->tile[want.row][want.col];
	if (!t->valid || t->rows != want.rows || t->cols != want.cols ||
	    t->double_row != want.double_row)
		return TRN_FAULT_OPERAND;
	if (t->k != src->parts * (t->double_row ? 2u : 1u) || t->m != dst->parts ||
	    dst->n != cols || !inputs_match(t->dtype, src->dtype))
		return TRN_FAULT_OPERAND;
	counter_add(&x->core->pe_matmul, cols);
	if (x->insn->opf & TRN_OPF_TRANSPOSE)
		return matmul_transpose(x, t);
	for (first = 0; first < cols; first += PE_CHUNK) {
		uint32_t n = cols - first < PE_CHUNK ? cols - first : PE_CHUNK, nb, mb;

		moving_pack(x, t, cols, first, n);
		for (nb = 0; nb * EMU_TILE_COLS < n; nb++)
			for (mb = 0; mb * EMU_TILE_ROWS < t->m; mb++)
				matmul_tile(x, t, mb, first, nb, n);
	}
	return TRN_FAULT_NONE;
}
