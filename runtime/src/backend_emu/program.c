// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs: where the images of the engines are, the rings they start, and the windows of memory a
 * run may reach.
 *
 * Locking: a program is immutable; trn_emu_ctx.lock guards the table it is in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"

#define IMAGES_MAX 6u
#define BOS_MAX	   65536u

/** struct span - memory and what may be done with it; spans may overlap. */
struct span {
	uint64_t base;
	uint64_t end;
	uint32_t access;
};

static void program_free(struct trn_emu *emu, struct trn_emu_program *program)
{
	uint32_t i;

	for (i = 0; i < program->ring_count; i++)
		trn_emu_ring_put(emu, program->rings[i]);
	free(program->rings);
	trn_emu_bo_list_put(emu, program->bos, program->bo_count);
	trn_emu_mem_free(emu, &program->mem);
	free(program);
}

void trn_emu_program_put(struct trn_emu *emu, struct trn_emu_program *program)
{
	if (program && atomic_fetch_sub(&program->refs, 1) == 1)
		program_free(emu, program);
}

static int rings_take(struct trn_emu_ctx *ctx, struct trn_emu_program *program,
		      const struct drm_trainium_program_create *create)
{
	const uint32_t *handles = (const uint32_t *)(uintptr_t)create->rings;
	uint8_t used[TRN_ENGINES_PER_CORE][TRN_EMU_QUEUES] = { { 0 } };
	struct trn_emu_ring *ring;
	uint32_t i;
	int error = 0;

	program->rings = calloc(create->ring_count + 1, sizeof(*program->rings));
	if (!program->rings)
		return -ENOMEM;
	pthread_mutex_lock(&ctx->lock);
	for (i = 0; i < create->ring_count && !error; i++) {
		ring = handles[i] && handles[i] <= ctx->ring_room ? ctx->rings[handles[i] - 1]
								  : NULL;
		if (!ring) {
			error = -ENOENT;
		} else if (ring->core != program->core ||
			   used[ring->engine % TRN_ENGINES_PER_CORE][ring->queue]++) {
			error = -EINVAL;
		} else {
			atomic_fetch_add(&ring->refs, 1);
			program->rings[program->ring_count++] = ring;
		}
	}
	pthread_mutex_unlock(&ctx->lock);
	return error;
}

static struct trn_emu_bo *bo_take(struct trn_emu *emu, struct trn_emu_program *program,
				  uint32_t handle)
{
	struct trn_emu_bo *bo = trn_emu_bo_get(emu, handle);

	if (bo)
		program->bos[program->bo_count++] = bo;
	return bo;
}

static int images_take(struct trn_emu *emu, struct trn_emu_program *program,
		       const struct drm_trainium_program_create *create,
		       struct trn_program_table *table, struct span *spans)
{
	const struct drm_trainium_program_image *image = (const void *)(uintptr_t)create->images;
	struct trn_emu_bo *bo;
	uint64_t bytes;
	uint32_t i;

	table->magic = TRN_PROGRAM_TABLE_MAGIC;
	table->count = create->image_count;
	for (i = 0; i < create->image_count; i++) {
		if (image[i].pad || !image[i].insns || image[i].offset % TRN_INSN_SIZE ||
		    image[i].engine == TRN_ENGINE_NONE || image[i].engine >= TRN_ENGINE_MAX)
			return -EINVAL;
		bo = bo_take(emu, program, image[i].handle);
		if (!bo)
			return -ENOENT;
		bytes = (uint64_t)image[i].insns * TRN_INSN_SIZE;
		if (image[i].offset > bo->size || bytes > bo->size - image[i].offset)
			return -EACCES;
		table->entry[i].engine = image[i].engine;
		table->entry[i].insns = image[i].insns;
		table->entry[i].base = bo->address + image[i].offset;
		spans[i].base = table->entry[i].base;
		spans[i].end = spans[i].base + bytes;
		spans[i].access = TRN_ACCESS_READ | TRN_ACCESS_EXEC;
	}
	return 0;
}

static int bos_take(struct trn_emu *emu, struct trn_emu_program *program,
		    const struct drm_trainium_program_create *create, struct span *spans)
{
	const struct drm_trainium_program_bo *list = (const void *)(uintptr_t)create->bos;
	struct trn_emu_bo *bo;
	uint32_t i;

	for (i = 0; i < create->bo_count; i++) {
		if (!list[i].access ||
		    list[i].access & ~(DRM_TRAINIUM_BO_READ | DRM_TRAINIUM_BO_WRITE))
			return -EINVAL;
		bo = bo_take(emu, program, list[i].handle);
		if (!bo)
			return -ENOENT;
		spans[i].base = bo->address;
		spans[i].end = bo->address + bo->size;
		spans[i].access = list[i].access; /* the same bits */
	}
	return 0;
}

static int edge_before(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static int span_before(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	return left->base < right->base ? -1 : left->base > right->base;
}

/*
 * Windows may not overlap, spans may (an image lies in a buffer): cut at every edge, unite the
 * rights, join neighbours that have the same. Spans are sorted by base; @first skips those that
 * ended before. Return: windows, or 0 when there are too many.
 */
static uint32_t windows_make(struct span *spans, uint32_t count, uint64_t *edges,
			     struct trn_window *windows)
{
	uint32_t i, j, first = 0, edge_count = 0, n = 0;

	qsort(spans, count, sizeof(*spans), span_before);
	for (i = 0; i < count; i++) {
		edges[edge_count++] = spans[i].base;
		edges[edge_count++] = spans[i].end;
	}
	qsort(edges, edge_count, sizeof(*edges), edge_before);
	for (i = 0; i + 1 < edge_count; i++) {
		uint32_t access = 0;

		if (edges[i] == edges[i + 1])
			continue;
		while (first < count && spans[first].end <= edges[i])
			first++;
		for (j = first; j < count && spans[j].base <= edges[i]; j++)
			if (spans[j].end > edges[i])
				access |= spans[j].access;
		if (!access)
			continue;
		if (n && windows[n - 1].base + windows[n - 1].size == edges[i] &&
		    windows[n - 1].access == access) {
			windows[n - 1].size += edges[i + 1] - edges[i];
			continue;
		}
		if (n == TRN_WINDOWS_MAX)
			return 0;
		windows[n].base = edges[i];
		windows[n].size = edges[i + 1] - edges[i];
		windows[n++].access = access;
	}
	return n;
}

static int program_build(struct trn_emu *emu, struct trn_emu_program *program,
			 const struct drm_trainium_program_create *create)
{
	uint32_t count = create->image_count + create->bo_count;
	struct trn_program_table table = { 0 };
	uint64_t *edges = calloc(2 * (size_t)count, sizeof(*edges));
	struct span *spans = calloc(count, sizeof(*spans));
	struct trn_window *windows;
	int error = -ENOMEM;

	program->bos = calloc(count, sizeof(*program->bos));
	if (edges && spans && program->bos)
		error = trn_emu_mem_alloc(
			emu, sizeof(table) + (2 * (size_t)count + 1) * sizeof(*windows) + 64,
			&program->mem);
	if (!error)
		error = images_take(emu, program, create, &table, spans);
	if (!error)
		error = bos_take(emu, program, create, spans + create->image_count);
	if (!error) {
		size_t at = (sizeof(table) + 63) & ~(size_t)63;

		windows = (struct trn_window *)((uint8_t *)program->mem.ptr + at);
		program->windows = program->mem.address + at;
		program->window_count = windows_make(spans, count, edges, windows);
		memcpy(program->mem.ptr, &table, sizeof(table));
		if (!program->window_count)
			error = -E2BIG;
	}
	free(edges);
	free(spans);
	return error;
}

int trn_emu_program_create(struct trn_backend_device *device,
			   struct drm_trainium_program_create *create)
{
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_ctx *ctx = trn_emu_ctx_get(emu, create->ctx);
	struct trn_emu_program *program = NULL;
	int error = 0;

	if (!ctx)
		return -ENOENT;
	if (create->flags || create->pad || !create->image_count ||
	    create->image_count > IMAGES_MAX || !create->images ||
	    (create->ring_count && !create->rings) ||
	    create->ring_count > TRN_ENGINES_PER_CORE * TRN_EMU_RING_QUEUES ||
	    (create->bo_count && !create->bos) || create->core >= TRN_MAX_CORES ||
	    !(ctx->cores >> create->core & 1))
		error = -EINVAL;
	else if (create->bo_count > BOS_MAX)
		error = -E2BIG;
	if (!error) {
		program = calloc(1, sizeof(*program));
		error = program ? 0 : -ENOMEM;
	}
	if (!error) {
		atomic_init(&program->refs, 1);
		program->core = create->core;
		error = rings_take(ctx, program, create);
	}
	if (!error)
		error = program_build(emu, program, create);
	if (!error) {
		pthread_mutex_lock(&ctx->lock);
		error = trn_emu_handle_add((void ***)&ctx->programs, &ctx->program_room, NULL,
					   program, &create->handle);
		pthread_mutex_unlock(&ctx->lock);
	}
	if (error)
		trn_emu_program_put(emu, program);
	trn_emu_ctx_put(ctx);
	return error;
}

int trn_emu_program_destroy(struct trn_backend_device *device, uint32_t id, uint32_t handle)
{
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_ctx *ctx = trn_emu_ctx_get(emu, id);
	struct trn_emu_program *program = NULL;

	if (!ctx)
		return -ENOENT;
	pthread_mutex_lock(&ctx->lock);
	if (handle && handle <= ctx->program_room) {
		program = ctx->programs[handle - 1];
		ctx->programs[handle - 1] = NULL;
	}
	pthread_mutex_unlock(&ctx->lock);
	trn_emu_program_put(emu, program);
	trn_emu_ctx_put(ctx);
	return program ? 0 : -ENOENT;
}
