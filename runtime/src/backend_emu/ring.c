// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rings: transfers named by handle and offset, resolved, checked and encoded once.
 *
 * Locking: a ring is immutable; trn_emu_ctx.lock guards the table it is in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"

#define SBUF_PARTITION_STRIDE (256u << 10)
#define RANGES_FIXED	      3u /* SBUF, semaphores, constants */

/** struct builder - a ring being made. */
struct builder {
	struct trn_emu_ctx *ctx;
	const struct drm_trainium_ring_create *create;
	struct trn_emu_ring *ring;
	struct trnhw_range *ranges;
	uint32_t range_count;
	uint32_t bo_room;
	uint32_t last;	   /* index of the buffer found last */
	uint32_t *handles; /* of ring->bos */
};

static void ring_free(struct trn_emu *emu, struct trn_emu_ring *ring)
{
	trn_emu_bo_list_put(emu, ring->bos, ring->bo_count);
	trn_emu_mem_free(emu, &ring->mem);
	free(ring);
}

void trn_emu_ring_put(struct trn_emu *emu, struct trn_emu_ring *ring)
{
	if (ring && atomic_fetch_sub(&ring->refs, 1) == 1)
		ring_free(emu, ring);
}

/* The buffer of @handle, referenced by the ring. */
static struct trn_emu_bo *ring_bo(struct builder *b, uint32_t handle, int *error)
{
	struct trn_emu_ring *ring = b->ring;
	uint32_t i, room;
	void *grown;

	if (ring->bo_count && b->handles[b->last] == handle)
		return ring->bos[b->last];
	for (i = 0; i < ring->bo_count; i++)
		if (b->handles[i] == handle) {
			b->last = i;
			return ring->bos[i];
		}
	*error = -ENOMEM;
	if (ring->bo_count == b->bo_room) {
		room = b->bo_room ? b->bo_room * 2 : 8;
		grown = realloc(ring->bos, room * sizeof(*ring->bos));
		if (!grown)
			return NULL;
		ring->bos = grown;
		grown = realloc(b->handles, room * sizeof(*b->handles));
		if (!grown)
			return NULL;
		b->handles = grown;
		b->bo_room = room;
	}
	*error = -ENOENT;
	ring->bos[ring->bo_count] = trn_emu_bo_get(b->ctx->emu, handle);
	if (!ring->bos[ring->bo_count])
		return NULL;
	*error = 0;
	b->handles[ring->bo_count] = handle;
	b->last = ring->bo_count++;
	return ring->bos[b->last];
}

static int side_resolve(struct builder *b, uint8_t kind, uint32_t handle, uint64_t offset,
			uint32_t length, bool source, uint64_t *address)
{
	struct trn_emu *emu = b->ctx->emu;
	const struct trnhw_arch *arch = emu->hw.arch;
	struct trn_emu_bo *bo;
	int error = 0;

	switch (kind) {
	case DRM_TRAINIUM_REF_BO:
		bo = ring_bo(b, handle, &error);
		if (!bo)
			return error;
		if (offset > bo->size || length > bo->size - offset)
			return -EACCES;
		*address = bo->address + offset;
		return 0;
	case DRM_TRAINIUM_REF_SBUF:
		if (handle || offset / SBUF_PARTITION_STRIDE >= 128)
			return -EINVAL;
		if (offset % SBUF_PARTITION_STRIDE + length > arch->sbuf_partition_bytes)
			return -EACCES;
		*address = trnhw_sbuf_address(&emu->hw, b->ring->core,
					      offset / SBUF_PARTITION_STRIDE,
					      offset % SBUF_PARTITION_STRIDE);
		return 0;
	case DRM_TRAINIUM_REF_SEM_INC:
		if (source || handle || offset >= TRN_SEM_COUNT || length != 4)
			return -EINVAL;
		*address = trnhw_sem_inc_address(&emu->hw, b->ring->core, offset);
		return 0;
	default:
		return -EINVAL;
	}
}

static int xfer_resolve(struct builder *b, const struct drm_trainium_xfer *from,
			struct trnhw_xfer *to)
{
	struct trn_emu *emu = b->ctx->emu;
	int error;

	if (!from->length || from->length > TRN_DESC_MAX_BYTES ||
	    from->flags & ~DRM_TRAINIUM_XFER_BARRIER)
		return -EINVAL;
	to->len = from->length;
	to->flags = from->flags & DRM_TRAINIUM_XFER_BARRIER ? TRNHW_XFER_BARRIER : 0;
	if (from->dst_kind == DRM_TRAINIUM_REF_SEM_INC) {
		if (from->src_kind || from->src_handle || from->src_offset)
			return -EINVAL;
		to->src = emu->constants.address + TRN_EMU_CONST_ONE;
		error = 0;
	} else {
		error = side_resolve(b, from->src_kind, from->src_handle, from->src_offset,
				     from->length, true, &to->src);
	}
	return error ? error
		     : side_resolve(b, from->dst_kind, from->dst_handle, from->dst_offset,
				    from->length, false, &to->dst);
}

static int range_before(const void *a, const void *b)
{
	const struct trnhw_range *left = a, *right = b;

	return left->base < right->base ? -1 : left->base > right->base;
}

/* What the ring may touch, whatever the addresses computed above: the second look is the hardware
 * layer's. */
static int ranges_make(struct builder *b)
{
	struct trn_emu *emu = b->ctx->emu;
	uint32_t core = b->ring->core, i;
	struct trnhw_range *r;

	b->ranges = calloc(b->ring->bo_count + RANGES_FIXED, sizeof(*b->ranges));
	if (!b->ranges)
		return -ENOMEM;
	r = b->ranges;
	for (i = 0; i < b->ring->bo_count; i++, r++) {
		r->base = b->ring->bos[i]->address;
		r->size = b->ring->bos[i]->size;
		r->access = TRN_ACCESS_READ | TRN_ACCESS_WRITE;
	}
	r->base = trnhw_sbuf_address(&emu->hw, core, 0, 0);
	r->size = 128ull * SBUF_PARTITION_STRIDE;
	r->access = TRN_ACCESS_READ | TRN_ACCESS_WRITE;
	r++;
	r->base = trnhw_sem_inc_address(&emu->hw, core, 0);
	r->size = trnhw_sem_inc_address(&emu->hw, core, TRN_SEM_COUNT - 1) + 4 - r->base;
	r->access = TRN_ACCESS_WRITE;
	r++;
	r->base = emu->constants.address + TRN_EMU_CONST_ONE;
	r->size = 4;
	r->access = TRN_ACCESS_READ;
	r++;
	b->range_count = r - b->ranges;
	qsort(b->ranges, b->range_count, sizeof(*b->ranges), range_before);
	return 0;
}

static int xfers_check(struct builder *b, const struct trnhw_xfer *xfers, uint32_t *bad)
{
	uint64_t address;
	uint32_t i;
	int error = ranges_make(b);

	for (i = 0; !error && i < b->create->count; i++) {
		error = trnhw_xfer_check(&xfers[i], b->ranges, b->range_count, &address);
		*bad = i;
	}
	return error;
}

static int ring_encode(struct builder *b, const struct trnhw_xfer *xfers)
{
	struct trn_emu *emu = b->ctx->emu;
	struct trn_emu_ring *ring = b->ring;
	uint32_t count = trnhw_ring_count(b->create->count);
	size_t half;
	int error;

	if (!count)
		return -E2BIG;
	half = ((size_t)count * TRN_DESC_SIZE + TRN_RING_ALIGN - 1) & ~(size_t)(TRN_RING_ALIGN - 1);
	error = trn_emu_mem_alloc(emu, half * 2, &ring->mem);
	if (error)
		return error;
	ring->hw.m2s = ring->mem.address;
	ring->hw.s2m = ring->mem.address + half;
	ring->hw.m2s_count = count;
	ring->hw.s2m_count = count;
	trnhw_ring_fill(xfers, b->create->count, emu->constants.address + TRN_EMU_CONST_PAD,
			ring->mem.ptr, (struct trn_desc *)((uint8_t *)ring->mem.ptr + half), count);
	return 0;
}

static int ring_build(struct builder *b, uint32_t *bad)
{
	const uint8_t *from = (const uint8_t *)(uintptr_t)b->create->xfers;
	struct trnhw_xfer *xfers = calloc(b->create->count, sizeof(*xfers));
	struct drm_trainium_xfer one;
	uint32_t i;
	int error = 0;

	if (!xfers)
		return -ENOMEM;
	for (i = 0; i < b->create->count && !error; i++) {
		memcpy(&one, from + (size_t)i * b->create->stride, sizeof(one));
		*bad = i;
		error = xfer_resolve(b, &one, &xfers[i]);
	}
	if (!error)
		error = xfers_check(b, xfers, bad);
	if (!error)
		error = ring_encode(b, xfers);
	free(xfers);
	return error;
}

static int create_check(const struct trn_emu_ctx *ctx,
			const struct drm_trainium_ring_create *create)
{
	if (create->flags || create->pad || create->stride < sizeof(struct drm_trainium_xfer) ||
	    !create->count || create->engine >= TRN_ENGINES_PER_CORE ||
	    create->queue >= TRN_EMU_RING_QUEUES || create->core >= TRN_MAX_CORES ||
	    !(ctx->cores >> create->core & 1))
		return -EINVAL;
	if (create->count > DRM_TRAINIUM_RING_XFERS_MAX)
		return -E2BIG;
	return create->xfers ? 0 : -EFAULT;
}

int trn_emu_ring_create(struct trn_backend_device *device, struct drm_trainium_ring_create *create)
{
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_ctx *ctx = trn_emu_ctx_get(emu, create->ctx);
	struct builder b = { .ctx = ctx, .create = create };
	int error;

	if (!ctx)
		return -ENOENT;
	create->bad_index = 0;
	error = create_check(ctx, create);
	if (!error) {
		b.ring = calloc(1, sizeof(*b.ring));
		error = b.ring ? 0 : -ENOMEM;
	}
	if (!error) {
		atomic_init(&b.ring->refs, 1);
		b.ring->core = create->core;
		b.ring->engine = create->core * TRN_ENGINES_PER_CORE + create->engine;
		b.ring->queue = create->queue;
		error = ring_build(&b, &create->bad_index);
	}
	if (!error) {
		pthread_mutex_lock(&ctx->lock);
		error = trn_emu_handle_add((void ***)&ctx->rings, &ctx->ring_room, NULL, b.ring,
					   &create->handle);
		pthread_mutex_unlock(&ctx->lock);
	}
	if (error && b.ring)
		trn_emu_ring_put(emu, b.ring);
	free(b.ranges);
	free(b.handles);
	trn_emu_ctx_put(ctx);
	return error;
}

int trn_emu_ring_destroy(struct trn_backend_device *device, uint32_t id, uint32_t handle)
{
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_ctx *ctx = trn_emu_ctx_get(emu, id);
	struct trn_emu_ring *ring = NULL;

	if (!ctx)
		return -ENOENT;
	pthread_mutex_lock(&ctx->lock);
	if (handle && handle <= ctx->ring_room) {
		ring = ctx->rings[handle - 1];
		ctx->rings[handle - 1] = NULL;
	}
	pthread_mutex_unlock(&ctx->lock);
	trn_emu_ring_put(emu, ring);
	trn_emu_ctx_put(ctx);
	return ring ? 0 : -ENOENT;
}
