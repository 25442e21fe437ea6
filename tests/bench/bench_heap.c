// SPDX-License-Identifier: BSD-2-Clause
/*
 * Time of one allocation and one free of the heap, with a growing number of live blocks: median and
 * 99th percentile of single calls.
 *
 * Blocks are 64 bytes to 64 KiB, small ones more often; each step frees a random live block and
 * allocates another, so the heap is as fragmented as it gets. Random numbers come from a fixed
 * seed.
 *
 * usage: bench_heap [--json FILE]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heap.h"

#define STEPS 200000u
#define SEED  12345u

static const unsigned int populations[] = { 1000, 10000, 100000, 1000000 };

#define POPULATIONS (sizeof(populations) / sizeof(populations[0]))

struct result {
	double alloc_median, alloc_99, free_median, free_99; /* ns */
};

static uint64_t state = SEED;

static uint32_t random_next(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return state >> 33;
}

static uint64_t random_size(void)
{
	return 64ull + random_next() % (64u << random_next() % 11);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int double_before(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* What reading the clock twice costs. */
static double clock_cost(void)
{
	double best = 1e9, start, end;
	unsigned int i;

	for (i = 0; i < 10000; i++) {
		start = now_ns();
		end = now_ns();
		if (end - start < best)
			best = end - start;
	}
	return best;
}

static struct trn_heap_block *take(struct trn_heap *heap)
{
	int error;
	struct trn_heap_block *block = trn_heap_alloc(heap, 0, random_size(), 0, "bench", &error);

	if (!block) {
		/* 1 GiB at a time, as the runtime does. */
		if (!trn_heap_extent_add(heap, 0, 1ull << 30, NULL))
			return NULL;
		block = trn_heap_alloc(heap, 0, random_size(), 0, "bench", &error);
	}
	return block;
}

static int measure(unsigned int population, struct result *result)
{
	struct trn_heap_block **blocks = calloc(population, sizeof(*blocks));
	double *alloc_ns = calloc(STEPS, sizeof(*alloc_ns)),
	       *free_ns = calloc(STEPS, sizeof(*free_ns));
	struct trn_heap *heap = trn_heap_create(1);
	double cost = clock_cost(), start, middle, end;
	unsigned int i, slot;
	int error = -1;

	if (!blocks || !alloc_ns || !free_ns || !heap)
		goto out;
	for (i = 0; i < population; i++) {
		blocks[i] = take(heap);
		if (!blocks[i])
			goto out;
	}
	for (i = 0; i < STEPS; i++) {
		slot = random_next() % population;
		start = now_ns();
		trn_heap_free(heap, blocks[slot]);
		middle = now_ns();
		blocks[slot] = take(heap);
		end = now_ns();
		if (!blocks[slot])
			goto out;
		free_ns[i] = middle - start - cost;
		alloc_ns[i] = end - middle - cost;
	}
	qsort(alloc_ns, STEPS, sizeof(*alloc_ns), double_before);
	qsort(free_ns, STEPS, sizeof(*free_ns), double_before);
	result->alloc_median = alloc_ns[STEPS / 2];
	result->alloc_99 = alloc_ns[STEPS / 100 * 99];
	result->free_median = free_ns[STEPS / 2];
	result->free_99 = free_ns[STEPS / 100 * 99];
	error = 0;
out:
	trn_heap_destroy(heap);
	free(blocks);
	free(alloc_ns);
	free(free_ns);
	return error;
}

int main(int argc, char **argv)
{
	struct result results[POPULATIONS];
	const char *json = argc == 3 && !strcmp(argv[1], "--json") ? argv[2] : NULL;
	FILE *file;
	unsigned int i;

	if (argc != 1 && !json) {
		fprintf(stderr, "usage: bench_heap [--json FILE]\n");
		return 2;
	}
	printf("heap, ns per call, seed %u\n%12s %14s %10s %14s %10s\n", SEED, "live blocks",
	       "alloc median", "99 %", "free median", "99 %");
	for (i = 0; i < POPULATIONS; i++) {
		if (measure(populations[i], &results[i])) {
			fprintf(stderr, "bench_heap: no memory for %u blocks\n", populations[i]);
			return EXIT_FAILURE;
		}
		printf("%12u %14.0f %10.0f %14.0f %10.0f\n", populations[i],
		       results[i].alloc_median, results[i].alloc_99, results[i].free_median,
		       results[i].free_99);
	}
	if (!json)
		return EXIT_SUCCESS;
	file = fopen(json, "w");
	if (!file) {
		fprintf(stderr, "bench_heap: cannot write %s\n", json);
		return EXIT_FAILURE;
	}
	fprintf(file, "{\n  \"benchmark\": \"heap\",\n  \"results\": [");
	for (i = 0; i < POPULATIONS; i++)
		fprintf(file,
			"%s\n    { \"live_blocks\": %u, \"alloc_median_ns\": %.0f, "
			"\"alloc_p99_ns\": %.0f, \"free_median_ns\": %.0f, \"free_p99_ns\": %.0f }",
			i ? "," : "", populations[i], results[i].alloc_median, results[i].alloc_99,
			results[i].free_median, results[i].free_99);
	fprintf(file, "\n  ]\n}\n");
	return fclose(file) ? EXIT_FAILURE : EXIT_SUCCESS;
}
