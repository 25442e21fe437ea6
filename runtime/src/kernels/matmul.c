// SPDX-License-Identifier: BSD-2-Clause
/*
 * Matrix product C = f(A B + bias).
 *
 * Tiles: 128 rows of A, 512 columns of B, 128 of K. PE wants both inputs with K on partitions, so
 * blocks of A are turned by PE itself. A panel of turned A stays in SBUF for all columns; B stays
 * in SBUF when it fits, else it is read again for every 128 rows. K longer than a panel is summed
 * panel by panel in SBUF.
 */
#include <string.h>
#include "kernels/kernel.h"

#define TILE_M	       128u
#define TILE_N	       TRN_MATMUL_MAX_COLUMNS
#define TILE_K	       128u
#define PANEL_TILES    64u	    /* turned tiles of A that stay: 8192 of K */
#define LOAD_TILES     16u	    /* tiles of A one transfer brings */
#define RESIDENT_BYTES (64u * 1024) /* of B, per partition */

/** struct product - a matrix product being built. */
struct product {
	struct trn_builder *b;
	uint64_t m, n, k;
	enum trn_dtype dtype;
	uint32_t size; /* bytes of an input element */
	enum trn_act activation;
	int ta, tb, tc, tbias; /* tbias -1: none */
	struct trn_view identity;
	struct trn_tile panel; /* PANEL_TILES x 128 columns */
	bool resident;
	struct trn_tile all; /* B when resident: k tiles side by side, N columns each */
};

static uint32_t tiles(uint64_t n, uint32_t tile)
{
	return (uint32_t)((n + tile - 1) / tile);
}

static struct trn_view panel_tile(const struct product *p, uint32_t i, uint32_t k, uint32_t m)
{
	struct trn_view v = trn_view(p->panel, p->dtype, TILE_M);

	v.offset += i * TILE_M * p->size;
	return trn_view_columns(trn_view_rows(v, 0, k), 0, m);
}

/* Turns A[m0.., k0 ..] into the panel, @count tiles of K. */
static void panel_fill(struct product *p, uint64_t m0, uint32_t rows, uint32_t first,
		       uint32_t count)
{
	uint32_t i, t;

	for (i = 0; i < count && !trn_builder_status(p->b); i += LOAD_TILES) {
		uint64_t k0 = (uint64_t)(first + i) * TILE_K;
		uint32_t columns =
			trn_kernel_min(p->k - k0, trn_kernel_min(count - i, LOAD_TILES) * TILE_K);
		struct trn_tile a = trn_builder_tile(p->b, TRN_MEM_SBUF, rows, columns * p->size);
		struct trn_view va = trn_view(a, p->dtype, columns);

		trn_builder_load(p->b, va, p->ta, (m0 * p->k + k0) * p->size,
				 (int64_t)(p->k * p->size));
		for (t = 0; t * TILE_K < columns; t++) {
			uint32_t kc = trn_kernel_min(columns - t * TILE_K, TILE_K);
			struct trn_tile ps = trn_builder_tile(p->b, TRN_MEM_PSUM, kc, rows * 4);
			struct trn_view vp = trn_view(ps, TRN_DTYPE_FP32, rows);

			trn_emit_transpose(p->b, vp, trn_view_columns(va, t * TILE_K, kc),
					   trn_view_columns(trn_view_rows(p->identity, 0, rows), 0,
							    rows));
			trn_emit_copy(p->b, TRN_ENGINE_DVE, panel_tile(p, i + t, kc, rows), vp);
			trn_builder_tile_free(p->b, ps);
		}
		trn_builder_tile_free(p->b, a);
	}
}

/* The [k, n] tile of B; *@fresh must be freed when it was loaded for this use. */
static struct trn_view b_tile(struct product *p, uint32_t kt, uint64_t n0, uint32_t columns,
			      struct trn_tile *fresh)
{
	uint64_t k0 = (uint64_t)kt * TILE_K;
	uint32_t kc = trn_kernel_min(p->k - k0, TILE_K);
	struct trn_view v;

	if (p->resident) {
		v = trn_view(p->all, p->dtype, 1);
		v.offset += (uint32_t)((kt * p->n + n0) * p->size);
		return trn_view_columns(trn_view_rows(v, 0, kc), 0, columns);
	}
	*fresh = trn_builder_tile(p->b, TRN_MEM_SBUF, kc, columns * p->size);
	v = trn_view(*fresh, p->dtype, columns);
	trn_builder_load(p->b, v, p->tb, (k0 * p->n + n0) * p->size, (int64_t)(p->n * p->size));
	return v;
}

static void b_load_all(struct product *p)
{
	uint32_t kt;

	p->all = trn_builder_tile(p->b, TRN_MEM_SBUF, trn_kernel_min(p->k, TILE_K),
				  (uint32_t)(tiles(p->k, TILE_K) * p->n * p->size));
	for (kt = 0; kt < tiles(p->k, TILE_K) && !trn_builder_status(p->b); kt++)
		trn_builder_load(p->b, b_tile(p, kt, 0, (uint32_t)p->n, NULL), p->tb,
				 (uint64_t)kt * TILE_K * p->n * p->size, (int64_t)(p->n * p->size));
}

static void finish_tile(struct product *p, struct trn_view c, uint64_t n0, uint32_t columns)
{
	if (p->tbias >= 0) {
		struct trn_tile bias =
			trn_builder_tile(p->b, TRN_MEM_SBUF, c.partitions, columns * 4);
		struct trn_view vb = trn_view(bias, TRN_DTYPE_FP32, columns);

		trn_builder_load(p->b, vb, p->tbias, n0 * 4, 0);
		trn_emit_tensor_tensor(p->b, TRN_ENGINE_DVE, c, c, TRN_ALU_ADD, vb);
		trn_builder_tile_free(p->b, bias);
	}
	if (p->activation != TRN_ACT_COPY)
		trn_emit_activate(p->b, c, c, p->activation, trn_scalar(1.0f), trn_scalar(0.0f),
				  TRN_REDUCE_IDLE);
}

/* C[m0.., n0..]: one PSUM chain per panel, panels summed in SBUF. */
static void product_tile(struct product *p, uint64_t m0, uint32_t rows, uint64_t n0,
			 uint32_t columns)
{
	uint32_t total = tiles(p->k, TILE_K), first, i;
	struct trn_tile c = trn_builder_tile(p->b, TRN_MEM_SBUF, rows, columns * 4);
	struct trn_view vc = trn_view(c, TRN_DTYPE_FP32, columns);

	for (first = 0; first < total && !trn_builder_status(p->b); first += PANEL_TILES) {
		uint32_t count = trn_kernel_min(total - first, PANEL_TILES);
		struct trn_tile ps = trn_builder_tile(p->b, TRN_MEM_PSUM, rows, columns * 4);
		struct trn_view vp = trn_view(ps, TRN_DTYPE_FP32, columns);

		if (total > PANEL_TILES || !n0)
			panel_fill(p, m0, rows, first, count);
		for (i = 0; i < count && !trn_builder_status(p->b); i++) {
			struct trn_tile fresh = { 0 };
			struct trn_view vb = b_tile(p, first + i, n0, columns, &fresh);

			trn_emit_load_weights(p->b, panel_tile(p, i, vb.partitions, rows));
			trn_emit_matmul(p->b, vp, vb, i > 0);
			if (fresh.bytes)
				trn_builder_tile_free(p->b, fresh);
		}
		if (first)
			trn_emit_tensor_tensor(p->b, TRN_ENGINE_DVE, vc, vp, TRN_ALU_ADD, vc);
		else
			trn_emit_copy(p->b, TRN_ENGINE_DVE, vc, vp);
		trn_builder_tile_free(p->b, ps);
	}
	finish_tile(p, vc, n0, columns);
	trn_builder_store(p->b, p->tc, (m0 * p->n + n0) * 4, (int64_t)p->n * 4, vc);
	trn_builder_tile_free(p->b, c);
}

static void product_emit(struct product *p)
{
	struct trn_tile identity = trn_builder_tile(p->b, TRN_MEM_SBUF, TILE_M, TILE_M * p->size);
	uint64_t m0, n0, bytes = (uint64_t)tiles(p->k, TILE_K) * p->n * p->size;

	p->identity = trn_view(identity, p->dtype, TILE_M);
	trn_emit_identity(p->b, p->identity);
	p->panel = trn_builder_tile(p->b, TRN_MEM_SBUF, TILE_K,
				    trn_kernel_min(tiles(p->k, TILE_K), PANEL_TILES) * TILE_M *
					    p->size);
	p->resident = bytes <= RESIDENT_BYTES && p->m > TILE_M;
	if (p->resident)
		b_load_all(p);
	for (m0 = 0; m0 < p->m && !trn_builder_status(p->b); m0 += TILE_M) {
		for (n0 = 0; n0 < p->n && !trn_builder_status(p->b); n0 += TILE_N)
			product_tile(p, m0, trn_kernel_min(p->m - m0, TILE_M), n0,
				     trn_kernel_min(p->n - n0, TILE_N));
	}
}

static enum trn_status options_check(const struct trn_matmul_options *o)
{
	if (!o->m || !o->n || !o->k || o->m >> 22 || o->n >> 22 || o->k >> 22)
		return trn_error_set(
			TRN_ERR_INVALID,
			"kernel matmul: M %llu, N %llu, K %llu; each must be 1 to 2^22 - 1",
			(unsigned long long)o->m, (unsigned long long)o->n,
			(unsigned long long)o->k);
	if (o->dtype && o->dtype != TRN_DTYPE_FP32 && o->dtype != TRN_DTYPE_BF16)
		return trn_error_set(TRN_ERR_INVALID,
				     "kernel matmul: type %s; fp32 and bf16 are possible",
				     trn_dtype_name(o->dtype));
	if (o->bias > 1 || o->activation > TRN_ACT_ABS || o->activation == TRN_ACT_PRELU)
		return trn_error_set(TRN_ERR_INVALID,
				     "kernel matmul: bias %u must be 0 or 1, activation %u is "
				     "unknown or needs a parameter",
				     o->bias, o->activation);
	return TRN_OK;
}

enum trn_status trn_kernel_matmul(const struct trn_matmul_options *options,
				  struct trn_image **image)
{
	struct trn_matmul_options o = { 0 };
	struct product p = { .tbias = -1 };
	enum trn_status status;
	uint64_t sa[2], sb[2];
	char name[TRN_PARTITIONS / 2];

	if (!options || !image || options->size < offsetof(struct trn_matmul_options, dtype))
		return trn_error_set(
			TRN_ERR_INVALID,
			"kernel matmul: options (with their size) and image must not be NULL");
	*image = NULL;
	memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	status = options_check(&o);
	if (status)
		return status;
	p.m = o.m;
	p.n = o.n;
	p.k = o.k;
	p.dtype = o.dtype ? (enum trn_dtype)o.dtype : TRN_DTYPE_FP32;
	p.size = trn_dtype_bytes(p.dtype);
	p.activation = (enum trn_act)o.activation;
	snprintf(name, sizeof(name), "matmul %llux%llux%llu", (unsigned long long)o.m,
		 (unsigned long long)o.n, (unsigned long long)o.k);
	p.b = trn_builder_create(name, TRN_KERNEL_GENERATION);
	if (!p.b)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "kernel matmul: no memory for a builder");
	sa[0] = o.m;
	sa[1] = o.k;
	sb[0] = o.k;
	sb[1] = o.n;
	p.ta = trn_builder_tensor(p.b, "a", TRN_TENSOR_INPUT, p.dtype, sa, 2, NULL);
	p.tb = trn_builder_tensor(p.b, "b", TRN_TENSOR_INPUT, p.dtype, sb, 2, NULL);
	if (o.bias)
		p.tbias = trn_kernel_vector(p.b, "bias", TRN_TENSOR_INPUT, o.n);
	p.tc = trn_kernel_matrix(p.b, "c", TRN_TENSOR_OUTPUT, o.m, o.n);
	product_emit(&p);
	return trn_kernel_finish(p.b, image);
}
