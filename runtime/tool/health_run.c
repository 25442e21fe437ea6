// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trn/builder.h"
#include "trn/kernels.h"

#include "health.h"
#include "tool.h"

#define SIDE	   256	/* of the matrices */
#define TOLERANCE  1e-4 /* of the largest element */
#define ROUNDS	   64	/* of the semaphore check */
#define COLUMNS	   32
#define PARTITIONS 128

static enum trn_status program_copy(struct health *health, struct trn_program *program,
				    const char *name, void *data, bool to_device)
{
	struct trn_tensor_info info;
	struct trn_memory *memory;
	uint64_t offset;
	enum trn_status status = trn_program_tensor(program, name, &memory, &offset, &info);

	if (status)
		return status;
	if (to_device)
		return trn_queue_write(health->queue, memory, offset, data, info.bytes, NULL);
	return trn_queue_read(health->queue, data, memory, offset, info.bytes, NULL);
}

static enum trn_status timed_run(struct health *health, struct trn_program *program)
{
	enum trn_status status = trn_queue_finish(health->queue, UINT64_MAX);
	double begin = tool_now();

	if (!status)
		status = trn_program_run(program, NULL, 0, NULL);
	if (!status)
		status = trn_queue_finish(health->queue, UINT64_MAX);
	health->seconds = tool_now() - begin;
	return status;
}

/* ---- matrix product ---- */

struct matrices {
	float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];
};

static bool product_check(struct health *health, const struct matrices *m)
{
	double expected, largest = 0, worst = 0, off;
	int row, column, k, worst_at = 0;

	for (row = 0; row < SIDE; row++) {
		for (column = 0; column < SIDE; column++) {
			expected = 0;
			for (k = 0; k < SIDE; k++)
				expected += (double)m->a[row * SIDE + k] * m->b[k * SIDE + column];
			off = fabs(expected - (double)m->c[row * SIDE + column]);
			if (fabs(expected) > largest)
				largest = fabs(expected);
			/* Written so that a NaN is the worst. */
			if (!(off <= worst)) {
				worst = off;
				worst_at = row * SIDE + column;
			}
		}
	}
	if (worst <= TOLERANCE * largest) {
		snprintf(health->text, sizeof(health->text),
			 "%d x %d x %d fp32, largest deviation %.1e of the largest element", SIDE,
			 SIDE, SIDE, worst / largest);
		return true;
	}
	snprintf(health->text, sizeof(health->text),
		 "element [%d, %d] is %g and off by %g; at most %g is right", worst_at / SIDE,
		 worst_at % SIDE, (double)m->c[worst_at], worst, TOLERANCE * largest);
	return false;
}

static enum trn_status product_run(struct health *health, struct matrices *m)
{
	struct trn_matmul_options options = TRN_OPTIONS(options);
	struct trn_program *program = NULL;
	struct trn_image *image = NULL;
	enum trn_status status;

	options.m = options.n = options.k = SIDE;
	options.dtype = TRN_DTYPE_FP32;
	status = trn_kernel_matmul(&options, &image);
	if (!status)
		status = trn_program_load(health->queue, 0, image, NULL, 0, &program);
	if (!status)
		status = program_copy(health, program, "a", m->a, true);
	if (!status)
		status = program_copy(health, program, "b", m->b, true);
	if (!status)
		status = timed_run(health, program);
	if (!status)
		status = program_copy(health, program, "c", m->c, false);
	if (!status)
		status = trn_queue_finish(health->queue, UINT64_MAX);
	if (program)
		trn_program_unload(program);
	if (image)
		trn_image_free(image);
	return status;
}

bool health_matmul(struct health *health)
{
	struct matrices *m = malloc(sizeof(*m));
	uint64_t state = health->seed * 2 + 1;
	enum trn_status status;
	bool ok;
	int i;

	if (!m) {
		snprintf(health->text, sizeof(health->text), "no host memory for the matrices");
		return false;
	}
	for (i = 0; i < SIDE * SIDE; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		m->a[i] = (float)(int32_t)(state >> 32) / 2147483648.0f;
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		m->b[i] = (float)(int32_t)(state >> 32) / 2147483648.0f;
	}
	status = product_run(health, m);
	ok = status ? health_library(health, status) : product_check(health, m);
	health->moved = 2ull * SIDE * SIDE * SIDE;
	free(m);
	return ok;
}

/* ---- semaphores ---- */

/* @one: a column of ones; the scalar engine takes what it adds from memory. */
static void add_one(struct trn_builder *builder, enum trn_engine engine, struct trn_view view,
		    struct trn_view one)
{
	if (engine == TRN_ENGINE_ACT)
		trn_emit_activate(builder, view, view, TRN_ACT_COPY, trn_scalar(1),
				  trn_scalar_vector(one), 0);
	else
		trn_emit_tensor_scalar(builder, engine, view, view, TRN_ALU_ADD, trn_scalar(1),
				       TRN_ALU_BYPASS, trn_scalar(0), 0);
}

/*
 * Three engines add one to the same tile in turn. Each step reads what the step before has written
 * on another engine, so a semaphore that is lost hangs it and one that comes early loses an
 * addition.
 */
static enum trn_status chain_build(uint32_t generation, struct trn_image **image)
{
	static const enum trn_engine ring[] = { TRN_ENGINE_DVE, TRN_ENGINE_POOL, TRN_ENGINE_ACT };
	const uint64_t shape[] = { PARTITIONS, COLUMNS };
	struct trn_builder *builder = trn_builder_create("semaphores", generation);
	enum trn_status status;
	struct trn_view view, one;
	int tensor, i;

	if (!builder)
		return TRN_ERR_NO_HOST_MEMORY;
	tensor = trn_builder_tensor(builder, "tile", TRN_TENSOR_STATE, TRN_DTYPE_FP32, shape, 2,
				    NULL);
	view = trn_view(trn_builder_tile(builder, TRN_MEM_SBUF, PARTITIONS,
					 COLUMNS * sizeof(float)),
			TRN_DTYPE_FP32, COLUMNS);
	one = trn_view(trn_builder_tile(builder, TRN_MEM_SBUF, PARTITIONS, sizeof(float)),
		       TRN_DTYPE_FP32, 1);
	trn_emit_memset(builder, TRN_ENGINE_POOL, one, 1);
	trn_builder_load(builder, view, tensor, 0, COLUMNS * sizeof(float));
	for (i = 0; i < 3 * ROUNDS; i++)
		add_one(builder, ring[i % 3], view, one);
	trn_builder_store(builder, tensor, 0, COLUMNS * sizeof(float), view);
	status = trn_builder_finish(builder, image);
	trn_builder_free(builder);
	return status;
}

static enum trn_status chain_run(struct health *health, float *tile)
{
	struct trn_program *program = NULL;
	struct trn_image *image = NULL;
	enum trn_status status = chain_build(health->info.generation, &image);

	if (!status)
		status = trn_program_load(health->queue, 0, image, NULL, 0, &program);
	if (!status)
		status = program_copy(health, program, "tile", tile, true);
	if (!status)
		status = timed_run(health, program);
	if (!status)
		status = program_copy(health, program, "tile", tile, false);
	if (!status)
		status = trn_queue_finish(health->queue, UINT64_MAX);
	if (program)
		trn_program_unload(program);
	if (image)
		trn_image_free(image);
	return status;
}

bool health_semaphores(struct health *health)
{
	static float tile[PARTITIONS * COLUMNS];
	enum trn_status status;
	int i;

	for (i = 0; i < PARTITIONS * COLUMNS; i++)
		tile[i] = (float)i;
	status = chain_run(health, tile);
	if (status)
		return health_library(health, status);
	health->moved = 3 * ROUNDS;
	for (i = 0; i < PARTITIONS * COLUMNS; i++) {
		if (tile[i] == (float)(i + 3 * ROUNDS))
			continue;
		snprintf(health->text, sizeof(health->text),
			 "element %d is %g after %d additions to %d, expected %d", i,
			 (double)tile[i], 3 * ROUNDS, i, i + 3 * ROUNDS);
		return false;
	}
	snprintf(health->text, sizeof(health->text), "%d hand-overs between three engines",
		 3 * ROUNDS);
	return true;
}
