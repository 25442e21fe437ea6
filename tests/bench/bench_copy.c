// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies between host and device memory through the public API, next to memcpy() between two host
 * buffers of the same sizes in the same run.
 *
 * Every size works through the same 64 MiB on both sides, so that caches help both alike. Rounds of
 * memcpy and copies take turns; the best of each counts. "queued": many copies, one wait; "waited":
 * a wait after each.
 *
 * usage: bench_copy [--device SPEC] [--json FILE] [--quick]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trn/trn.h>

#define AREA   (64ull << 20)
#define ROUNDS 7

static const uint64_t sizes[] = { 4096, 65536, 1 << 20, 4 << 20, 16 << 20, 64 << 20 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

enum way {
	WAY_MEMCPY,
	WAY_WRITE,
	WAY_READ,
	WAY_WRITE_WAITED,
	WAY_READ_WAITED,
	WAYS,
};

static const char *const way_names[WAYS] = { "memcpy", "write", "read", "write_waited",
					     "read_waited" };

struct bench {
	struct trn_device *device;
	struct trn_queue *queue;
	struct trn_memory *memory;
	uint8_t *a;
	uint8_t *b;
	uint64_t area;
	double best[SIZES][WAYS]; /* bytes per second */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void check(enum trn_status status)
{
	if (!status)
		return;
	fprintf(stderr, "bench_copy: %s: %s\n", trn_strerror(status), trn_error_text());
	exit(EXIT_FAILURE);
}

/* Once through the area in pieces of @size. Return: bytes per second. */
static double pass(struct bench *bench, enum way way, uint64_t size, unsigned int count)
{
	double start = now();
	unsigned int i;

	for (i = 0; i < count; i++) {
		uint64_t at = i * size % bench->area;

		switch (way) {
		case WAY_MEMCPY:
			memcpy(bench->b + at, bench->a + at, size);
			/* The compiler must not see through it. */
			__asm__ volatile("" : : "r"(bench->b + at) : "memory");
			break;
		case WAY_WRITE:
		case WAY_WRITE_WAITED:
			check(trn_queue_write(bench->queue, bench->memory, at, bench->a + at, size,
					      NULL));
			break;
		default:
			check(trn_queue_read(bench->queue, bench->b + at, bench->memory, at, size,
					     NULL));
		}
		if (way == WAY_WRITE_WAITED || way == WAY_READ_WAITED)
			check(trn_queue_finish(bench->queue, UINT64_MAX));
	}
	check(trn_queue_finish(bench->queue, UINT64_MAX));
	return size * count / (now() - start);
}

static void measure(struct bench *bench, unsigned int rounds)
{
	unsigned int s, round, way;

	for (s = 0; s < SIZES; s++) {
		unsigned int count = bench->area / sizes[s];

		if (!count)
			continue;
		count = count > 2048 ? 2048 : count;
		for (round = 0; round < rounds; round++)
			for (way = 0; way < WAYS; way++) {
				double speed = pass(bench, way, sizes[s], count);

				if (speed > bench->best[s][way])
					bench->best[s][way] = speed;
			}
	}
}

static void print_table(const struct bench *bench)
{
	unsigned int s, way;

	printf("%10s %10s", "size", "memcpy");
	for (way = WAY_WRITE; way < WAYS; way++)
		printf(" %13s %6s", way_names[way], "ratio");
	printf("\n%10s %10s", "KiB", "GB/s");
	for (way = WAY_WRITE; way < WAYS; way++)
		printf(" %13s %6s", "GB/s", "");
	printf("\n");
	for (s = 0; s < SIZES; s++) {
		if (!bench->best[s][WAY_MEMCPY])
			continue;
		printf("%10llu %10.2f", (unsigned long long)sizes[s] / 1024,
		       bench->best[s][WAY_MEMCPY] / 1e9);
		for (way = WAY_WRITE; way < WAYS; way++)
			printf(" %13.2f %6.2f", bench->best[s][way] / 1e9,
			       bench->best[s][way] / bench->best[s][WAY_MEMCPY]);
		printf("\n");
	}
}

static bool write_json(const struct bench *bench, const char *path, const char *spec)
{
	FILE *file = fopen(path, "w");
	unsigned int s, way;
	bool first = true;

	if (!file)
		return false;
	fprintf(file, "{\n  \"benchmark\": \"copy\",\n  \"device\": \"%s\",\n  \"results\": [",
		spec);
	for (s = 0; s < SIZES; s++) {
		if (!bench->best[s][WAY_MEMCPY])
			continue;
		fprintf(file, "%s\n    { \"bytes\": %llu", first ? "" : ",",
			(unsigned long long)sizes[s]);
		for (way = 0; way < WAYS; way++)
			fprintf(file, ", \"%s_bytes_per_s\": %.0f", way_names[way],
				bench->best[s][way]);
		for (way = WAY_WRITE; way < WAYS; way++)
			fprintf(file, ", \"%s_ratio\": %.3f", way_names[way],
				bench->best[s][way] / bench->best[s][WAY_MEMCPY]);
		fprintf(file, " }");
		first = false;
	}
	fprintf(file, "\n  ]\n}\n");
	return !fclose(file);
}

int main(int argc, char **argv)
{
	const char *spec = getenv("TRN_DEVICE"), *json = NULL;
	struct trn_device_info info = TRN_OPTIONS(info);
	struct bench bench = { .area = AREA };
	unsigned int rounds = ROUNDS;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quick")) {
			rounds = 2;
		} else if (!strcmp(argv[i], "--json") && i + 1 < argc) {
			json = argv[++i];
		} else if (!strcmp(argv[i], "--device") && i + 1 < argc) {
			spec = argv[++i];
		} else {
			fprintf(stderr,
				"usage: bench_copy [--device SPEC] [--json FILE] [--quick]\n");
			return 2;
		}
	}
	if (!spec && trn_device_open(NULL, &bench.device))
		spec = "emu:trn1";
	if (!bench.device)
		check(trn_device_open(spec, &bench.device));
	check(trn_device_get_info(bench.device, &info));
	check(trn_queue_create(bench.device, NULL, &bench.queue));
	check(trn_memory_alloc(bench.device, bench.area, NULL, &bench.memory));
	bench.a = aligned_alloc(4096, bench.area);
	bench.b = aligned_alloc(4096, bench.area);
	if (!bench.a || !bench.b) {
		fprintf(stderr, "bench_copy: no memory for two buffers of %llu bytes\n",
			(unsigned long long)bench.area);
		return EXIT_FAILURE;
	}
	memset(bench.a, 1, bench.area);
	memset(bench.b, 2, bench.area);
	measure(&bench, rounds);
	printf("copies on %s (%s), working set %llu MiB, best of %u\n", info.spec, info.product,
	       (unsigned long long)bench.area >> 20, rounds);
	print_table(&bench);
	if (json && !write_json(&bench, json, info.spec)) {
		fprintf(stderr, "bench_copy: cannot write %s\n", json);
		return EXIT_FAILURE;
	}
	free(bench.a);
	free(bench.b);
	trn_device_close(bench.device);
	return EXIT_SUCCESS;
}
