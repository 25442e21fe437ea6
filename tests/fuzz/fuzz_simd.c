// SPDX-License-Identifier: BSD-2-Clause
/*
 * Vector loops: every variant this processor has gives the same bits for any operands, and touches
 * the elements it was given and no others.
 */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "tests/emulator/simd.h"

#define ROW_MAX	  200u
#define GEMM_MAX  40u
#define TILE_MAX  4u /* columns behind a tile in memory */
#define OPERATORS 40u

static const uint32_t specials[] = { 0x00000000, 0x80000000, 0x3f800000, 0xbf800000,
				     0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
				     0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff,
				     0x3effffff, 0x40490fdb, 0x42b17218, 0xc2aeac50 };

/* A block of exactly @n floats, so that a loop that goes one too far is seen. */
static float *floats(struct fuzz_input *in, size_t n)
{
	float *p = malloc(n ? n * sizeof(*p) : 1);
	size_t i;

	FUZZ_CHECK(p, "no memory");
	for (i = 0; i < n; i++) {
		uint8_t kind = fuzz_u8(in);
		uint32_t bits = kind < 0xc0 ? specials[kind % 16] ^ (uint32_t)(kind >> 4) << 8
					    : fuzz_u32(in);

		memcpy(&p[i], &bits, sizeof(bits));
	}
	return p;
}

static float *copy(const float *from, size_t n)
{
	float *p = malloc(n ? n * sizeof(*p) : 1);

	FUZZ_CHECK(p, "no memory");
	if (n)
		memcpy(p, from, n * sizeof(*p));
	return p;
}

static void same(const char *what, unsigned int op, const struct emu_simd *v, const float *got,
		 const float *wanted, size_t n)
{
	uint32_t a, b;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&a, &got[i], sizeof(a));
		memcpy(&b, &wanted[i], sizeof(b));
		FUZZ_CHECK(a == b, "%s %u, element %zu of %zu: %s gives %08x, base gives %08x",
			   what, op, i, n, v->name, a, b);
	}
}

/* Variant @v on copies of what the base variant was given. */
static bool row(const struct emu_simd *v, uint8_t how, unsigned int op, float *dst, const float *a,
		const float *b, uint32_t n)
{
	switch (how % 4) {
	case 0:
		return v->row_vv(op, dst, a, b, n);
	case 1:
		return v->row_vs(op, dst, a, b[0], how & 4, n);
	case 2:
		return v->act(op, dst, a, n);
	default: /* in place */
		memcpy(dst, a, n * sizeof(*dst));
		return v->act(op, dst, dst, n);
	}
}

static void check_row(struct fuzz_input *in, uint8_t how)
{
	unsigned int op = fuzz_u8(in) % OPERATORS, i;
	uint32_t n = 1 + fuzz_u8(in) % ROW_MAX;
	float *a = floats(in, n), *b = floats(in, n), *zero = calloc(n, sizeof(*zero));
	float *wanted = copy(zero, n), *got;
	const struct emu_simd *v;
	bool done = row(emu_simd_variant(0), how, op, wanted, a, b, n);

	for (i = 1; (v = emu_simd_variant(i)); i++) {
		got = copy(zero, n);
		FUZZ_CHECK(row(v, how, op, got, a, b, n) == done, "%s has operator %u or not",
			   v->name, op);
		if (done)
			same(how % 4 > 1 ? "function" : "operator", op, v, got, wanted, n);
		free(got);
	}
	free(a);
	free(b);
	free(zero);
	free(wanted);
}

static void check_gemm(struct fuzz_input *in, bool accumulate)
{
	uint32_t k = 1 + fuzz_u8(in) % GEMM_MAX, ldc = EMU_TILE_COLS + fuzz_u8(in) % TILE_MAX;
	size_t size = (EMU_TILE_ROWS - 1) * (size_t)ldc + EMU_TILE_COLS;
	float *a = floats(in, (size_t)k * EMU_TILE_ROWS),
	      *b = floats(in, (size_t)k * EMU_TILE_COLS);
	float *c = floats(in, size), *wanted = copy(c, size), *got;
	const struct emu_simd *v;
	unsigned int i;

	emu_simd_variant(0)->gemm(a, b, k, wanted, ldc, accumulate);
	for (i = 1; (v = emu_simd_variant(i)); i++) {
		got = copy(c, size);
		v->gemm(a, b, k, got, ldc, accumulate);
		same("matrix tile of depth", k, v, got, wanted, size);
		free(got);
	}
	free(a);
	free(b);
	free(c);
	free(wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	uint8_t how = fuzz_u8(&in);

	if (how >= 0xc0)
		check_gemm(&in, how & 1);
	else
		check_row(&in, how);
	return 0;
}
