// SPDX-License-Identifier: BSD-2-Clause
/* The heap alone: fits, alignment, joining, accounting, and a fuzz run against a plain model. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "rt_rig.h"

#define MIB (1ull << 20)

static struct trn_heap *heap;

static void setup(void)
{
	heap = trn_heap_create(3);
	ck_assert_ptr_nonnull(heap);
}

static void teardown(void)
{
	ck_assert_pstr_eq(trn_heap_check(heap), NULL);
	trn_heap_destroy(heap);
}

static struct trn_heap_block *get(unsigned int pool, uint64_t size, uint64_t alignment)
{
	int error = 1;
	struct trn_heap_block *block = trn_heap_alloc(heap, pool, size, alignment, NULL, &error);

	ck_assert_int_eq(error, block ? 0 : -ENOSPC);
	return block;
}

START_TEST(test_create_bounds)
{
	ck_assert_ptr_null(trn_heap_create(0));
	ck_assert_ptr_null(trn_heap_create(TRN_HEAP_POOLS_MAX + 1));
	trn_heap_destroy(NULL);
}
END_TEST

START_TEST(test_empty_pool)
{
	ck_assert_ptr_null(get(0, 1, 0));
	ck_assert_uint_eq(trn_heap_free_bytes(heap, 0), 0);
	ck_assert_uint_eq(trn_heap_largest_free(heap, 0), 0);
	ck_assert_uint_eq(trn_heap_free_bytes(heap, 99), 0);
}
END_TEST

START_TEST(test_extent_bounds)
{
	ck_assert_ptr_null(trn_heap_extent_add(heap, 3, MIB, NULL));
	ck_assert_ptr_null(trn_heap_extent_add(heap, 0, 63, NULL));
	ck_assert_ptr_null(trn_heap_extent_add(heap, 0, UINT64_MAX, NULL));
	ck_assert_ptr_nonnull(trn_heap_extent_add(heap, 0, 64, NULL));
}
END_TEST

START_TEST(test_zero_and_huge)
{
	trn_heap_extent_add(heap, 0, MIB, NULL);
	ck_assert_ptr_null(get(0, 0, 0));
	ck_assert_ptr_null(get(0, UINT64_MAX, 0));
	ck_assert_ptr_null(get(0, UINT64_MAX - 63, 64));
	ck_assert_ptr_null(get(0, 1, 1ull << 63));
	ck_assert_ptr_null(get(0, MIB + 1, 0));
	ck_assert_ptr_null(get(7, 64, 0));
	ck_assert_ptr_nonnull(get(0, MIB, 0));
}
END_TEST

START_TEST(test_exact_fill)
{
	struct trn_heap_block *blocks[16];
	unsigned int i;

	trn_heap_extent_add(heap, 0, 16 * 4096, NULL);
	for (i = 0; i < 16; i++)
		ck_assert_ptr_nonnull(blocks[i] = get(0, 4096, 0));
	ck_assert_ptr_null(get(0, 1, 0));
	ck_assert_uint_eq(trn_heap_free_bytes(heap, 0), 0);
	trn_heap_free(heap, blocks[5]);
	ck_assert_uint_eq(trn_heap_largest_free(heap, 0), 4096);
	ck_assert_uint_eq(get(0, 4096, 0)->offset, 5 * 4096);
}
END_TEST

START_TEST(test_joins_neighbours)
{
	struct trn_heap_block *a, *b, *c, *d;
	struct trn_heap_extent *extent = trn_heap_extent_add(heap, 0, 4 * 4096, NULL);

	a = get(0, 4096, 0);
	b = get(0, 4096, 0);
	c = get(0, 4096, 0);
	d = get(0, 4096, 0);
	ck_assert_ptr_null(trn_heap_free(heap, a));
	ck_assert_ptr_null(trn_heap_free(heap, c));
	ck_assert_uint_eq(trn_heap_largest_free(heap, 0), 4096);
	ck_assert_ptr_null(trn_heap_free(heap, b));
	ck_assert_uint_eq(trn_heap_largest_free(heap, 0), 3 * 4096);
	ck_assert_ptr_eq(trn_heap_free(heap, d), extent);
	ck_assert_uint_eq(trn_heap_largest_free(heap, 0), 4 * 4096);
	ck_assert(trn_heap_extent_remove(heap, extent));
	ck_assert_ptr_null(trn_heap_extents(heap, 0));
}
END_TEST

START_TEST(test_best_fit)
{
	struct trn_heap_block *small, *large, *wall[2];

	trn_heap_extent_add(heap, 0, MIB, NULL);
	large = get(0, 64 * 1024, 0);
	wall[0] = get(0, 64, 0);
	small = get(0, 8 * 1024, 0);
	wall[1] = get(0, 64, 0);
	ck_assert_ptr_nonnull(wall[0]);
	ck_assert_ptr_nonnull(wall[1]);
	trn_heap_free(heap, large);
	trn_heap_free(heap, small);
	/* The hole of 8 KiB is the best fit, although the one of 64 KiB comes first. */
	ck_assert_uint_eq(get(0, 7 * 1024, 0)->offset, 64 * 1024 + 64);
	ck_assert_uint_eq(get(0, 60 * 1024, 0)->offset, 0);
}
END_TEST

START_TEST(test_alignment)
{
	uint64_t alignment;

	trn_heap_extent_add(heap, 0, 64 * MIB, NULL);
	get(0, 64, 0);
	for (alignment = 64; alignment <= 16 * MIB; alignment *= 2)
		ck_assert_uint_eq(get(0, 100, alignment)->offset % alignment, 0);
}
END_TEST

/* Many holes that are large enough but not aligned, and one that is: it has to be found. */
START_TEST(test_alignment_last_resort)
{
	struct trn_heap_block *holes[41], *wall;
	unsigned int i;
	int error;

	trn_heap_extent_add(heap, 0, 41 * 8192, NULL);
	/* Blocks of 4096 at odd multiples of 64 bytes, but the last at a multiple of 4096. */
	for (i = 0; i < 41; i++) {
		if (i < 40)
			ck_assert_ptr_nonnull(
				wall = trn_heap_alloc(heap, 0, 64, 0, "wall", &error));
		holes[i] = get(0, 4096, i < 40 ? 0 : 4096);
		ck_assert_ptr_nonnull(holes[i]);
	}
	while (trn_heap_alloc(heap, 0, 64, 0, "wall", &error))
		;
	for (i = 0; i < 41; i++)
		trn_heap_free(heap, holes[i]);
	wall = get(0, 4096, 4096);
	ck_assert_ptr_nonnull(wall);
	ck_assert_uint_eq(wall->offset % 4096, 0);
	ck_assert_ptr_null(get(0, 4096, 4096));
}
END_TEST

START_TEST(test_pools_are_apart)
{
	trn_heap_extent_add(heap, 0, MIB, NULL);
	trn_heap_extent_add(heap, 2, 2 * MIB, NULL);
	ck_assert_ptr_null(get(1, 64, 0));
	ck_assert_uint_eq(get(2, MIB, 0)->extent->pool, 2);
	ck_assert_uint_eq(trn_heap_free_bytes(heap, 0), MIB);
	ck_assert_uint_eq(trn_heap_free_bytes(heap, 2), MIB);
}
END_TEST

START_TEST(test_extent_in_use_stays)
{
	struct trn_heap_extent *extent = trn_heap_extent_add(heap, 0, MIB, NULL);

	get(0, 64, 0);
	ck_assert(!trn_heap_extent_remove(heap, extent));
}
END_TEST

/* What was never handed out is clean; what was, is dirty, however it is cut again. */
START_TEST(test_dirty)
{
	struct trn_heap_block *a, *b;

	trn_heap_extent_add(heap, 0, MIB, NULL);
	a = get(0, 4096, 0);
	ck_assert_uint_eq(a->dirty, 0);
	b = get(0, 4096, 0);
	ck_assert_uint_eq(b->dirty, 0);
	trn_heap_free(heap, b);
	trn_heap_free(heap, a);
	a = get(0, 6144, 0);
	ck_assert_uint_eq(a->dirty, 6144);
	b = get(0, 4096, 0);
	ck_assert_uint_eq(b->dirty, 2048);
}
END_TEST

START_TEST(test_tags)
{
	struct trn_heap_usage usage[3];
	struct trn_heap_block *a, *b;
	size_t count = 3;
	int error;

	trn_heap_extent_add(heap, 0, MIB, NULL);
	a = trn_heap_alloc(heap, 0, 1000, 0, "weights", &error);
	b = trn_heap_alloc(heap, 0, 64, 0, "a tag of more than thirty-one characters", &error);
	get(0, 64, 0);
	trn_heap_free(heap, a);
	trn_heap_usage(heap, usage, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(usage[0].tag, "weights");
	ck_assert_uint_eq(usage[0].bytes, 0);
	ck_assert_uint_eq(usage[0].blocks, 0);
	ck_assert_uint_eq(usage[0].peak, 1024);
	ck_assert_uint_eq(strlen(usage[1].tag), 31);
	ck_assert_uint_eq(usage[1].bytes, 64);
	ck_assert_str_eq(usage[2].tag, "user");
	count = 1;
	trn_heap_usage(heap, usage, &count);
	ck_assert_uint_eq(count, 3);
	trn_heap_free(heap, b);
}
END_TEST

/* ---- fuzz ---- */

#define FUZZ_EXTENT  (256 * 1024ull)
#define FUZZ_EXTENTS 3
#define FUZZ_BLOCKS  512

/** struct model - a byte map per extent: the simplest heap there is. */
struct model {
	struct trn_heap_extent *extents[FUZZ_EXTENTS];
	uint8_t used[FUZZ_EXTENTS][FUZZ_EXTENT / TRN_HEAP_GRANULE];
	struct trn_heap_block *blocks[FUZZ_BLOCKS];
	unsigned int extent_of[FUZZ_BLOCKS];
};

static bool model_fits(const struct model *model, uint64_t size, uint64_t alignment)
{
	uint64_t granules = (size + TRN_HEAP_GRANULE - 1) / TRN_HEAP_GRANULE,
		 step = alignment / TRN_HEAP_GRANULE, at, i;
	unsigned int e;

	for (e = 0; e < FUZZ_EXTENTS; e++)
		for (at = 0; at + granules <= FUZZ_EXTENT / TRN_HEAP_GRANULE; at += step) {
			for (i = 0; i < granules && !model->used[e][at + i]; i++)
				;
			if (i == granules)
				return true;
		}
	return false;
}

static void model_mark(struct model *model, unsigned int slot, uint8_t value)
{
	const struct trn_heap_block *block = model->blocks[slot];
	uint64_t i;

	for (i = 0; i < block->size / TRN_HEAP_GRANULE; i++) {
		uint8_t *granule =
			&model->used[model->extent_of[slot]][block->offset / TRN_HEAP_GRANULE + i];

		ck_assert_uint_ne(*granule, value);
		*granule = value;
	}
}

static void fuzz_alloc(struct model *model, unsigned int slot, uint32_t random)
{
	static const uint32_t sizes[] = { 64, 200, 1000, 4096, 5000, 16384, 60000 };
	uint64_t size = sizes[random % 7] + random / 7 % 300,
		 alignment = 64ull << (random >> 16) % 9;
	struct trn_heap_block *block = get(0, size, alignment);
	unsigned int e;

	ck_assert_int_eq(block != NULL, model_fits(model, size, alignment));
	if (!block)
		return;
	ck_assert_uint_ge(block->size, size);
	ck_assert_uint_eq(block->offset % alignment, 0);
	for (e = 0; e < FUZZ_EXTENTS && model->extents[e] != block->extent; e++)
		;
	model->blocks[slot] = block;
	model->extent_of[slot] = e;
	model_mark(model, slot, 1);
}

static void fuzz(uint32_t seed, unsigned int steps)
{
	struct model *model = calloc(1, sizeof(*model));
	uint32_t random = seed;
	unsigned int i, slot;

	for (i = 0; i < FUZZ_EXTENTS; i++)
		model->extents[i] = trn_heap_extent_add(heap, 0, FUZZ_EXTENT, NULL);
	for (i = 0; i < steps; i++) {
		random = random * 1664525u + 1013904223u;
		slot = (random >> 8) % FUZZ_BLOCKS;
		if (!model->blocks[slot]) {
			random = random * 1664525u + 1013904223u;
			fuzz_alloc(model, slot, random >> 4);
		} else {
			model_mark(model, slot, 0);
			trn_heap_free(heap, model->blocks[slot]);
			model->blocks[slot] = NULL;
		}
		if (i % 64 == 0)
			ck_assert_msg(!trn_heap_check(heap), "seed %u, step %u: %s", seed, i,
				      trn_heap_check(heap));
	}
	for (slot = 0; slot < FUZZ_BLOCKS; slot++)
		if (model->blocks[slot])
			trn_heap_free(heap, model->blocks[slot]);
	ck_assert_uint_eq(trn_heap_free_bytes(heap, 0), FUZZ_EXTENTS * FUZZ_EXTENT);
	ck_assert_uint_eq(trn_heap_largest_free(heap, 0), FUZZ_EXTENT);
	free(model);
}

START_TEST(test_fuzz)
{
	uint32_t seed = getenv("SEED") ? strtoul(getenv("SEED"), NULL, 0) : 20240u + _i;

	printf("heap fuzz: SEED=%u\n", seed);
	fuzz(seed, 3000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rt_heap");
	TCase *tc = tcase_create("heap");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_create_bounds);
	tcase_add_test(tc, test_empty_pool);
	tcase_add_test(tc, test_extent_bounds);
	tcase_add_test(tc, test_zero_and_huge);
	tcase_add_test(tc, test_exact_fill);
	tcase_add_test(tc, test_joins_neighbours);
	tcase_add_test(tc, test_best_fit);
	tcase_add_test(tc, test_alignment);
	tcase_add_test(tc, test_alignment_last_resort);
	tcase_add_test(tc, test_pools_are_apart);
	tcase_add_test(tc, test_extent_in_use_stays);
	tcase_add_test(tc, test_dirty);
	tcase_add_test(tc, test_tags);
	tcase_add_loop_test(tc, test_fuzz, 0, 6);
	suite_add_tcase(suite, tc);
	return rt_main(suite);
}
