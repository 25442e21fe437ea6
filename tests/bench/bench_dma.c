// SPDX-License-Identifier: BSD-2-Clause
/*
 * Speed of the device model's DMA engines in process: copies next to memcpy of the same size, and
 * small descriptors per second.
 *
 * Every size works through the same 64 MiB on both sides, so that caches help both alike, and
 * rounds of memcpy and of copies take turns. "queued": all copies, then the host waits for a marker
 * behind them; "waited": a marker after each.
 *
 * usage: bench_dma [--json FILE]
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/emulator/emu.h"
#include "tests/emulator/inproc.h"
#include "trainium/desc.h"
#include "trainium/map.h"
#include "trainium/regs.h"

#define RING	    8192u
#define BIG	    (64u << 20)
#define ROUNDS	    15u
#define HBM	    0x1000000ull
#define CHUNK	    65536u
#define RESULTS_MAX 32
#define CLOSE_POLLS 2000u
#define POLLS	    2500u /* without a pause */

struct result {
	char name[48];
	double value, reference, ratio; /* same unit; reference 0: none */
	const char *unit;
};

static struct result results[RESULTS_MAX];
static unsigned int result_count;

static struct emu_inproc *inproc;
static struct emu_device *device;
static struct trn_desc *ring[2];
static uint32_t *marker, next, pass = TRN_RING_FIRST_ID, tag;
static uint64_t ring_bus, marker_bus, memory_bus;
static uint8_t *memory;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void *host_alloc(size_t len, uint64_t *bus)
{
	void *ptr = aligned_alloc(4096, len);

	if (!ptr || emu_inproc_map(inproc, ptr, len, true, bus)) {
		fprintf(stderr, "bench_dma: cannot map %zu bytes\n", len);
		exit(EXIT_FAILURE);
	}
	memset(ptr, 1, len);
	*bus |= TRN_V2_HOST_BASE;
	return ptr;
}

static void queue_write(unsigned int dir, uint32_t reg, uint32_t value)
{
	emu_device_write(device, 0,
			 TRN_V2_H2T_UDMA(0) + dir * TRN_UDMA_S2M + TRN_UDMA_QUEUE(0) + reg, value,
			 4);
}

static void device_open(void)
{
	const struct emu_config config = { .size = sizeof(config) };
	char error[256];
	unsigned int dir;

	if (emu_inproc_create(&config, &inproc, error, sizeof(error))) {
		fprintf(stderr, "bench_dma: %s\n", error);
		exit(EXIT_FAILURE);
	}
	device = emu_inproc_device(inproc);
	ring[0] = host_alloc(2 * RING * TRN_DESC_SIZE, &ring_bus);
	ring[1] = ring[0] + RING;
	marker = host_alloc(4096, &marker_bus);
	memory = host_alloc(BIG, &memory_bus);
	for (dir = 0; dir < 2; dir++) {
		uint64_t base = ring_bus + dir * RING * TRN_DESC_SIZE;

		queue_write(dir, TRN_Q_BASE_LOW, (uint32_t)base);
		queue_write(dir, TRN_Q_BASE_HIGH, (uint32_t)(base >> 32));
		queue_write(dir, TRN_Q_LENGTH, RING);
		queue_write(dir, TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE);
	}
}

static void append(uint64_t dst, uint64_t src, uint32_t len)
{
	uint32_t ctrl = (len & TRN_DESC_LEN_MASK) | (pass & 3) << TRN_DESC_RING_ID_SHIFT;

	ring[0][next] =
		(struct trn_desc){ ctrl | TRN_DESC_FIRST | TRN_DESC_LAST, TRN_META_PLAIN, src };
	ring[1][next] = (struct trn_desc){ ctrl, 0, dst };
	if (++next == RING) {
		next = 0;
		pass++;
	}
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	sched_yield();
#endif
}

/* Appends the marker, rings, waits like a driver that polls: closely for as long as a small copy
 * takes, then giving way, then with pauses, which leave the processor to whoever does the work. */
static void finish(uint32_t count)
{
	const struct timespec pause = { .tv_nsec = 10000 };
	unsigned int polls = 0;

	marker[0] = ++tag;
	append(marker_bus + 64, marker_bus, 4);
	queue_write(1, TRN_Q_TAIL_INC, count + 1);
	queue_write(0, TRN_Q_TAIL_INC, count + 1);
	while (__atomic_load_n(&marker[16], __ATOMIC_ACQUIRE) != tag) {
		if (++polls < CLOSE_POLLS)
			relax();
		else if (polls < POLLS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
}

static uint32_t copy_append(uint64_t dst, uint64_t src, size_t len)
{
	uint32_t count = 0;
	size_t at;

	for (at = 0; at < len; at += CHUNK, count++)
		append(dst + at, src + at, len - at < CHUNK ? (uint32_t)(len - at) : CHUNK);
	return count;
}

/* Once through the area in copies of @len. Return: seconds. */
static double copies(uint64_t dst, uint64_t src, size_t len, bool wait)
{
	double start = now();
	size_t at;

	for (at = 0; at < BIG; at += len) {
		uint32_t count = copy_append(dst + at, src + at, len);

		if (wait) {
			finish(count);
			continue;
		}
		queue_write(1, TRN_Q_TAIL_INC, count);
		queue_write(0, TRN_Q_TAIL_INC, count);
	}
	if (!wait)
		finish(0);
	return now() - start;
}

static double memcpies(uint8_t *to, const uint8_t *from, size_t len)
{
	double start = now();
	size_t at;

	for (at = 0; at < BIG; at += len) {
		memcpy(to + at, from + at, len);
		__asm__ volatile("" : : "r"(to + at) : "memory");
	}
	return now() - start;
}

static struct result *result_add(const char *unit)
{
	struct result *result = &results[result_count < RESULTS_MAX ? result_count++ : 0];

	result->unit = unit;
	return result;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void bench_copy_way(const char *way, size_t len, uint8_t *other, bool read, bool wait)
{
	double best[2] = { 1e9, 1e9 }, ratio[ROUNDS];
	struct result *result;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		double host = memcpies(other, memory, len);
		double model = copies(read ? memory_bus : HBM, read ? HBM : memory_bus, len, wait);

		ratio[round] = host / model;
		best[0] = host < best[0] ? host : best[0];
		best[1] = model < best[1] ? model : best[1];
	}
	qsort(ratio, ROUNDS, sizeof(ratio[0]), compare);
	result = result_add("GB/s");
	snprintf(result->name, sizeof(result->name), "%s %zu KiB", way, len >> 10);
	result->value = BIG / best[1] * 1e-9;
	result->reference = BIG / best[0] * 1e-9;
	result->ratio = ratio[ROUNDS / 2];
}

static void bench_copy(size_t len, uint8_t *other)
{
	bench_copy_way("host to HBM", len, other, false, false);
	bench_copy_way("HBM to host", len, other, true, false);
	bench_copy_way("host to HBM, waited", len, other, false, true);
	bench_copy_way("HBM to host, waited", len, other, true, true);
}

static void bench_small(const char *name, uint64_t dst, uint64_t src)
{
	const uint32_t count = RING - 64;
	double best = 1e9, t;
	struct result *result;
	unsigned int round;
	uint32_t i;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < count; i++)
			append(dst, src, 4);
		t = now();
		finish(count);
		t = now() - t;
		best = t < best ? t : best;
	}
	result = result_add("M/s");
	snprintf(result->name, sizeof(result->name), "4-byte descriptors, %s", name);
	result->value = count / best * 1e-6;
}

static int write_json(const char *path)
{
	FILE *f = fopen(path, "w");
	unsigned int i;

	if (!f) {
		perror(path);
		return -1;
	}
	fprintf(f, "{\n  \"benchmark\": \"dma\",\n  \"results\": [\n");
	for (i = 0; i < result_count; i++)
		fprintf(f,
			"    {\"name\": \"%s\", \"value\": %.4f, \"reference\": %.4f, \"ratio\": "
			"%.4f, "
			"\"unit\": \"%s\"}%s\n",
			results[i].name, results[i].value, results[i].reference, results[i].ratio,
			results[i].unit, i + 1 < result_count ? "," : "");
	fprintf(f, "  ]\n}\n");
	return fclose(f);
}

static void print(void)
{
	unsigned int i;

	printf("%-40s %10s %10s %7s\n", "", "model", "memcpy", "ratio");
	for (i = 0; i < result_count; i++) {
		const struct result *r = &results[i];

		if (r->reference > 0)
			printf("%-40s %10.2f %10.2f %7.2f  %s\n", r->name, r->value, r->reference,
			       r->ratio, r->unit);
		else
			printf("%-40s %10.2f %10s %7s  %s\n", r->name, r->value, "", "", r->unit);
	}
}

int main(int argc, char **argv)
{
	uint8_t *other = aligned_alloc(4096, BIG);
	size_t len;

	if (!other)
		return EXIT_FAILURE;
	memset(other, 2, BIG);
	device_open();
	copies(HBM, memory_bus, BIG, true); /* touch it */
	for (len = 65536; len <= BIG; len *= 4)
		bench_copy(len, other);
	bench_small("HBM to HBM", HBM, HBM + 4096);
	bench_small("host to semaphore", TRN_V2_DEV_BASE + TRN_V2_TPB(0) + TRN_TPB_SEM_INC,
		    marker_bus + 128);
	emu_inproc_destroy(inproc);
	free(ring[0]);
	free(marker);
	free(memory);
	free(other);
	print();
	if (argc == 3 && !strcmp(argv[1], "--json") && write_json(argv[2]))
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
