// SPDX-License-Identifier: BSD-2-Clause
/*
 * Running a loaded program again: what the host pays to send one run, for programs with few and
 * with many DMA descriptors, and how long the whole run takes.
 *
 * The first number must not depend on the descriptors: rings are made when a program is loaded. The
 * programs move 64-byte rows from HBM to SBUF, so the second number grows with them.
 *
 * usage: bench_program [--device SPEC] [--json FILE] [--quick]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trn/builder.h>
#include <trn/trn.h>

#define ROW	64u
#define RUNS	64u /* sent before one wait */
#define PROGRAM 4u

/** struct program - a program with about @descriptors descriptors. */
struct program {
	unsigned int descriptors;
	struct trn_program *program;
	double send_us; /* best: host time to send a run */
	double run_us;	/* best: one run from sending to the fence */
};

static struct program programs[PROGRAM] = {
	{ .descriptors = 10 },
	{ .descriptors = 100 },
	{ .descriptors = 1000 },
	{ .descriptors = 10000 },
};

static void check(enum trn_status status)
{
	if (status == TRN_OK)
		return;
	fprintf(stderr, "bench_program: %s\n", trn_error_text());
	exit(EXIT_FAILURE);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Groups of up to 128 rows, spread over as many DMA engines as for any other size. */
static void load(struct trn_queue *queue, struct program *p)
{
	struct trn_builder *b = trn_builder_create("rows", 2);
	uint64_t shape[2] = { 128, ROW };
	struct trn_image *image = NULL;
	unsigned int left, n;
	struct trn_view view;
	int tensor;

	tensor = trn_builder_tensor(b, "x", TRN_TENSOR_INPUT, TRN_DTYPE_UINT8, shape, 2, NULL);
	view = trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 128, ROW), TRN_DTYPE_UINT8, ROW);
	for (left = p->descriptors; left; left -= n) {
		n = left < 128 ? left : 128;
		trn_builder_load(b, trn_view_rows(view, 0, n), tensor, 0, ROW);
	}
	check(trn_builder_finish(b, &image));
	trn_builder_free(b);
	check(trn_program_load(queue, 0, image, NULL, 0, &p->program));
	trn_image_free(image);
}

static void measure(struct trn_queue *queue, struct program *p)
{
	double start = now_us(), sent;
	struct trn_fence fence;
	unsigned int i;

	for (i = 0; i < RUNS; i++) {
		check(trn_program_run(p->program, NULL, 0, &fence));
		check(trn_queue_flush(queue));
	}
	sent = (now_us() - start) / RUNS;
	check(trn_fence_wait(fence, UINT64_MAX));
	if (!p->send_us || sent < p->send_us)
		p->send_us = sent;
	start = now_us();
	check(trn_program_run(p->program, NULL, 0, &fence));
	check(trn_fence_wait(fence, UINT64_MAX));
	sent = now_us() - start;
	if (!p->run_us || sent < p->run_us)
		p->run_us = sent;
}

static bool write_json(const char *path, const char *spec)
{
	FILE *file = fopen(path, "w");
	unsigned int i;

	if (!file)
		return false;
	fprintf(file, "{\n  \"device\": \"%s\",\n  \"send_ratio_10000_to_10\": %.3f,\n", spec,
		programs[PROGRAM - 1].send_us / programs[0].send_us);
	fprintf(file, "  \"programs\": [");
	for (i = 0; i < PROGRAM; i++)
		fprintf(file,
			"%s\n    { \"descriptors\": %u, \"send_us\": %.3f, \"run_us\": %.3f }",
			i ? "," : "", programs[i].descriptors, programs[i].send_us,
			programs[i].run_us);
	fprintf(file, "\n  ]\n}\n");
	return !fclose(file);
}

int main(int argc, char **argv)
{
	const char *spec = getenv("TRN_DEVICE"), *json = NULL;
	struct trn_device_info info = TRN_OPTIONS(info);
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_device *device = NULL;
	unsigned int rounds = 20, r, k;
	struct trn_queue *queue;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quick")) {
			rounds = 3;
		} else if (!strcmp(argv[i], "--json") && i + 1 < argc) {
			json = argv[++i];
		} else if (!strcmp(argv[i], "--device") && i + 1 < argc) {
			spec = argv[++i];
		} else {
			fprintf(stderr,
				"usage: bench_program [--device SPEC] [--json FILE] [--quick]\n");
			return 2;
		}
	}
	if (!spec && trn_device_open(NULL, &device))
		spec = "emu:trn1";
	if (!device)
		check(trn_device_open(spec, &device));
	check(trn_device_get_info(device, &info));
	options.core_count = 1;
	check(trn_queue_create(device, &options, &queue));
	for (k = 0; k < PROGRAM; k++)
		load(queue, &programs[k]);
	for (r = 0; r < rounds; r++) {
		for (k = 0; k < PROGRAM; k++)
			measure(queue, &programs[k]);
	}
	printf("running a loaded program again on %s, best of %u\n", info.spec, rounds);
	printf("descriptors   send one run   whole run\n");
	for (k = 0; k < PROGRAM; k++)
		printf("%11u %11.2f us %8.1f us\n", programs[k].descriptors, programs[k].send_us,
		       programs[k].run_us);
	printf("sending with 10000 descriptors / with 10: %.2f\n",
	       programs[PROGRAM - 1].send_us / programs[0].send_us);
	if (json && !write_json(json, info.spec)) {
		fprintf(stderr, "bench_program: cannot write %s\n", json);
		return EXIT_FAILURE;
	}
	trn_device_close(device);
	return EXIT_SUCCESS;
}
