// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the device model costs its host in process: start and memory of a machine full of the
 * largest product, processor time while nothing happens, register accesses.
 *
 * usage: bench_device [--json FILE]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/emulator/emu.h"
#include "tests/emulator/inproc.h"
#include "trainium/ext.h"
#include "trainium/map.h"
#include "trainium/regs.h"

#define DEVICES	    16u
#define ROUNDS	    5u
#define ACCESSES    200000u
#define RESULTS_MAX 16u

struct result {
	const char *name, *unit;
	double value, limit; /* the value is to stay below the limit */
};

static struct result results[RESULTS_MAX];
static unsigned int result_count;

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Memory of the process in MiB. */
static double resident(void)
{
	unsigned long size = 0, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%lu %lu", &size, &pages) != 2) {
		fprintf(stderr, "bench_device: cannot read /proc/self/statm\n");
		exit(EXIT_FAILURE);
	}
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void result_add(const char *name, double value, double limit, const char *unit)
{
	if (result_count == RESULTS_MAX)
		return;
	results[result_count++] = (struct result){ name, unit, value, limit };
}

static void open_all(struct emu_inproc *inproc[DEVICES])
{
	char error[256];
	unsigned int i;

	for (i = 0; i < DEVICES; i++) {
		const struct emu_config config = {
			.size = sizeof(config),
			.arch = "trn2",
			.routing_id = i,
			.fabric = "bench",
		};

		if (!emu_inproc_create(&config, &inproc[i], error, sizeof(error)))
			continue;
		fprintf(stderr, "bench_device: %s\n", error);
		exit(EXIT_FAILURE);
	}
}

static void close_all(struct emu_inproc *inproc[DEVICES])
{
	unsigned int i;

	for (i = 0; i < DEVICES; i++)
		emu_inproc_destroy(inproc[i]);
}

static void bench_start(void)
{
	struct emu_inproc *inproc[DEVICES];
	double before = resident(), start, took[2] = { 1e9, 1e9 }, idle, memory;
	unsigned int round;

	open_all(inproc);
	memory = resident() - before;
	sleep(1); /* let the threads come to rest */
	idle = now(CLOCK_PROCESS_CPUTIME_ID);
	sleep(1);
	idle = now(CLOCK_PROCESS_CPUTIME_ID) - idle;
	close_all(inproc);
	for (round = 0; round < ROUNDS; round++) {
		start = now(CLOCK_MONOTONIC);
		open_all(inproc);
		start = now(CLOCK_MONOTONIC) - start;
		took[0] = start < took[0] ? start : took[0];
		start = now(CLOCK_MONOTONIC);
		close_all(inproc);
		start = now(CLOCK_MONOTONIC) - start;
		took[1] = start < took[1] ? start : took[1];
	}
	result_add("start of 16 devices", took[0] * 1e3, 1000, "ms");
	result_add("end of 16 devices", took[1] * 1e3, 1000, "ms");
	result_add("memory of 16 devices", memory, 200, "MiB");
	result_add("processor time of 16 idle devices", idle * 1e3, 10, "ms/s");
}

/* Best of some rounds, in ns an access. */
static double access_ns(struct emu_device *device, unsigned int bar, uint64_t offset, bool write)
{
	double best = 1e9, t;
	unsigned int round, i;

	for (round = 0; round < ROUNDS; round++) {
		t = now(CLOCK_MONOTONIC);
		for (i = 0; i < ACCESSES; i++) {
			if (write)
				emu_device_write(device, bar, offset, 0, 4);
			else
				emu_device_read(device, bar, offset, 4);
		}
		t = (now(CLOCK_MONOTONIC) - t) / ACCESSES;
		best = t < best ? t : best;
	}
	return best * 1e9;
}

static void bench_registers(void)
{
	const struct emu_config config = { .size = sizeof(config) };
	uint64_t queue = TRN_V2_UDMA(1, 15) + TRN_UDMA_S2M + TRN_UDMA_QUEUE(15);
	struct emu_inproc *inproc;
	struct emu_device *device;
	char error[256];

	if (emu_inproc_create(&config, &inproc, error, sizeof(error))) {
		fprintf(stderr, "bench_device: %s\n", error);
		exit(EXIT_FAILURE);
	}
	device = emu_inproc_device(inproc);
	result_add("read of a queue's head", access_ns(device, 0, queue + TRN_Q_HEAD, false), 1000,
		   "ns");
	result_add("read of a semaphore",
		   access_ns(device, 0, TRN_V2_TPB(1) + TRN_TPB_SEM_READ, false), 1000, "ns");
	result_add("read of a word of SBUF", access_ns(device, 0, TRN_V2_TPB(1), false), 1000,
		   "ns");
	result_add("read of a firmware word",
		   access_ns(device, 0, TRN_V2_MISC + TRN_MISC_RESET, false), 1000, "ns");
	result_add("read of the extension", access_ns(device, TRN_EXT_BAR, TRN_EXT_FEATURES, false),
		   1000, "ns");
	result_add("write of a semaphore",
		   access_ns(device, 0, TRN_V2_TPB(1) + TRN_TPB_SEM_SET, true), 1000, "ns");
	emu_inproc_destroy(inproc);
}

static int write_json(const char *path)
{
	FILE *f = fopen(path, "w");
	unsigned int i;

	if (!f) {
		perror(path);
		return -1;
	}
	fprintf(f, "{\n  \"benchmark\": \"device\",\n  \"results\": [\n");
	for (i = 0; i < result_count; i++)
		fprintf(f,
			"    {\"name\": \"%s\", \"value\": %.4f, \"limit\": %.4f, \"unit\": "
			"\"%s\"}%s\n",
			results[i].name, results[i].value, results[i].limit, results[i].unit,
			i + 1 < result_count ? "," : "");
	fprintf(f, "  ]\n}\n");
	return fclose(f);
}

int main(int argc, char **argv)
{
	unsigned int i;

	bench_start();
	bench_registers();
	printf("%-40s %10s %10s\n", "", "model", "limit");
	for (i = 0; i < result_count; i++)
		printf("%-40s %10.2f %10.0f  %s\n", results[i].name, results[i].value,
		       results[i].limit, results[i].unit);
	if (argc == 3 && !strcmp(argv[1], "--json") && write_json(argv[2]))
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
