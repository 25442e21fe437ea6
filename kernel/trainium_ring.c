// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: checked, immutable lists of transfers.
 *
 * Handles and offsets are resolved to device addresses once, when the ring is made; each transfer
 * is checked against exactly the memory it names. The descriptors live in HBM that has no handle,
 * so user space cannot change them afterwards. The buffers they name are held as long as the ring.
 *
 * No locks: a ring is immutable, and its references are counted.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <drm/trainium_accel.h>

#include "trainium_bo.h"
#include "trainium_context.h"
#include "trainium_copy.h"
#include "trainium_device.h"
#include "trainium_file.h"
#include "trainium_ring.h"

#define TRAINIUM_RING_CHUNK	512u		/* transfers copied from user memory at a time */
#define TRAINIUM_RING_PAD	256u		/* bytes behind the descriptors */

static void trainium_ring_release(struct kref *ref)
{
	struct trainium_ring *ring = container_of(ref, struct trainium_ring, ref);
	struct trainium_device *tdev = ring->tdev;
	struct trainium_bo *bo;
	unsigned long index;
	int idx;

	/* Nothing may fetch from the ring, or move its buffers' data, once they are given back. */
	if (drm_dev_enter(&tdev->drm, &idx)) {
		trainium_core_unload(ring->core, ring);
		drm_dev_exit(idx);
	}
	if (drm_mm_node_allocated(&ring->hbm.node)) {
		atomic64_sub(ring->hbm.size, &ring->file->hbm_bytes);
		trainium_hbm_free(tdev, &ring->hbm);
	}
	xa_for_each(&ring->bos, index, bo)
		trainium_bo_put(bo);
	xa_destroy(&ring->bos);
	atomic_dec(&ring->file->rings);
	trainium_file_put(ring->file);
	kfree(ring);
}

/** trainium_ring_put() - drop a reference; may sleep. */
void trainium_ring_put(struct trainium_ring *ring)
{
	kref_put(&ring->ref, trainium_ring_release);
}

/** trainium_ring_get() - ring of a handle of @ctx, referenced; NULL when there is none. */
struct trainium_ring *trainium_ring_get(struct trainium_context *ctx, u32 handle)
{
	struct trainium_ring *ring;

	xa_lock(&ctx->rings);
	ring = xa_load(&ctx->rings, handle);
	if (ring)
		kref_get(&ring->ref);
	xa_unlock(&ctx->rings);
	return ring;
}

/* The buffer stays the same for all of a ring, whatever other threads do with the handle. */
static struct trainium_bo *trainium_ring_bo(struct trainium_ring *ring, struct drm_file *drm_file,
					    u32 handle)
{
	struct trainium_bo *bo = xa_load(&ring->bos, handle);
	int err;

	if (bo)
		return bo;
	bo = trainium_bo_lookup(drm_file, handle);
	if (!bo)
		return ERR_PTR(-ENOENT);
	err = xa_err(xa_store(&ring->bos, handle, bo, GFP_KERNEL));
	if (err) {
		trainium_bo_put(bo);
		return ERR_PTR(err);
	}
	return bo;
}

static int trainium_ring_resolve_bo(struct trainium_ring *ring, struct drm_file *drm_file,
				    u32 handle, u64 offset, u32 length, struct trnhw_range *range,
				    u64 *addr)
{
	const struct trainium_seg *seg;
	struct trainium_bo *bo;
	u64 end;

	bo = trainium_ring_bo(ring, drm_file, handle);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	if (check_add_overflow(offset, (u64)length, &end) || end > bo->base.size)
		return -EACCES;
	seg = &bo->segs[trainium_segs_find(bo->segs, bo->seg_count, offset)];
	/* One transfer is one descriptor: it cannot jump over a gap in host memory. */
	if (end > seg->start + seg->size)
		return -EOPNOTSUPP;
	*addr = seg->addr + (offset - seg->start);
	range->base = seg->addr;
	range->size = seg->size;
	return 0;
}

static int trainium_ring_resolve_sbuf(struct trainium_ring *ring, u64 offset, u32 length,
				      struct trnhw_range *range, u64 *addr)
{
	struct trnhw *hw = &ring->tdev->hw;
	u64 partition = offset / TRN_SBUF_PARTITION_STRIDE;
	u32 byte = offset % TRN_SBUF_PARTITION_STRIDE;

	if (partition >= TRN_PARTITIONS || byte >= hw->arch->sbuf_partition_bytes ||
	    length > hw->arch->sbuf_partition_bytes - byte)
		return -EACCES;
	*addr = trnhw_sbuf_address(hw, ring->core->index, partition, byte);
	range->base = trnhw_sbuf_address(hw, ring->core->index, partition, 0);
	range->size = hw->arch->sbuf_partition_bytes;
	return 0;
}

static int trainium_ring_resolve(struct trainium_ring *ring, struct drm_file *drm_file, u8 kind,
				 u32 handle, u64 offset, u32 length, struct trnhw_range *range,
				 u64 *addr)
{
	if (kind == DRM_TRAINIUM_REF_BO)
		return trainium_ring_resolve_bo(ring, drm_file, handle, offset, length, range,
						addr);
	if (handle)
		return -EINVAL;
	if (kind == DRM_TRAINIUM_REF_SBUF)
		return trainium_ring_resolve_sbuf(ring, offset, length, range, addr);
	return -EINVAL;
}

/* A semaphore increment: the source is the driver's own constant. */
static int trainium_ring_sem(struct trainium_ring *ring, const struct drm_trainium_xfer *x,
			     struct trnhw_range *src, struct trnhw_range *dst,
			     struct trnhw_xfer *out)
{
	struct trnhw *hw = &ring->tdev->hw;

	if (x->src_kind || x->src_handle || x->src_offset || x->dst_handle || x->length != 4 ||
	    x->dst_offset >= TRN_SEM_COUNT)
		return -EINVAL;
	out->src = trnhw_host_address(hw, ring->tdev->consts_dma +
				      offsetof(struct trainium_consts, one));
	out->dst = trnhw_sem_inc_address(hw, ring->core->index, x->dst_offset);
	src->base = out->src;
	dst->base = out->dst;
	src->size = 4;
	dst->size = 4;
	return 0;
}

static int trainium_ring_xfer(struct trainium_ring *ring, struct drm_file *drm_file,
			      const struct drm_trainium_xfer *x, struct trnhw_xfer *out)
{
	struct trnhw_range src = {}, dst = {};
	struct trnhw_range table[2];
	unsigned int count = 2;
	int err;

	if ((x->flags & ~DRM_TRAINIUM_XFER_BARRIER) || !x->length || x->length > TRN_DESC_MAX_BYTES)
		return -EINVAL;
	out->len = x->length;
	out->flags = x->flags & DRM_TRAINIUM_XFER_BARRIER ? TRNHW_XFER_BARRIER : 0;
	if (x->dst_kind == DRM_TRAINIUM_REF_SEM_INC) {
		err = trainium_ring_sem(ring, x, &src, &dst, out);
	} else {
		err = trainium_ring_resolve(ring, drm_file, x->src_kind, x->src_handle,
					    x->src_offset, x->length, &src, &out->src);
		if (!err)
			err = trainium_ring_resolve(ring, drm_file, x->dst_kind, x->dst_handle,
						    x->dst_offset, x->length, &dst, &out->dst);
	}
	if (err)
		return err;
	src.access = TRN_ACCESS_READ;
	dst.access = TRN_ACCESS_WRITE;
	table[src.base > dst.base] = src;
	table[src.base <= dst.base] = dst;
	if (src.base == dst.base) {
		count = 1;
		table[0].access = TRN_ACCESS_READ | TRN_ACCESS_WRITE;
	}
	return trnhw_xfer_check(out, table, count, NULL);
}

static int trainium_ring_read(struct trainium_ring *ring, struct drm_file *drm_file,
			      struct drm_trainium_ring_create *args, struct trnhw_xfer *xfers)
{
	void __user *user = u64_to_user_ptr(args->xfers);
	struct drm_trainium_xfer *chunk;
	u32 i, n, done = 0;
	int err = 0;

	chunk = kmalloc_array(TRAINIUM_RING_CHUNK, sizeof(*chunk), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return -ENOMEM;
	while (!err && done < args->count) {
		n = min(args->count - done, TRAINIUM_RING_CHUNK);
		if (copy_from_user(chunk, user + (u64)done * sizeof(*chunk), n * sizeof(*chunk))) {
			err = -EFAULT;
			break;
		}
		for (i = 0; i < n; i++) {
			err = trainium_ring_xfer(ring, drm_file, &chunk[i], &xfers[done + i]);
			if (err) {
				args->bad_index = done + i;
				break;
			}
		}
		done += n;
		if (fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	kfree(chunk);
	return err;
}

/* Encodes the descriptors and puts them into HBM, near the core. */
static int trainium_ring_write(struct trainium_ring *ring, const struct trnhw_xfer *xfers,
			       u32 count)
{
	struct trainium_device *tdev = ring->tdev;
	u64 half = (u64)ring->count * TRN_DESC_SIZE;
	u64 size = ALIGN(2 * half + TRAINIUM_RING_PAD, SZ_4K);
	u32 stack = ring->core->index * tdev->hw.arch->stacks / tdev->hw.arch->cores;
	struct trn_desc *descs;
	int err;

	err = trainium_hbm_alloc(tdev, stack, size, &ring->hbm);
	if (err)
		err = trainium_hbm_alloc(tdev, DRM_TRAINIUM_STACK_ANY, size, &ring->hbm);
	if (err)
		return err;
	atomic64_add(ring->hbm.size, &ring->file->hbm_bytes);
	ring->m2s = ring->hbm.addr;
	ring->s2m = ring->hbm.addr + half;
	descs = kvzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!descs)
		return -ENOMEM;
	trnhw_ring_fill(xfers, count, ring->hbm.addr + 2 * half, descs, descs + ring->count,
			ring->count);
	err = trainium_copy_upload(tdev, &ring->hbm, 0, descs, size);
	kvfree(descs);
	return err;
}

static int trainium_ring_fill(struct trainium_ring *ring, struct drm_file *drm_file,
			      struct drm_trainium_ring_create *args)
{
	struct trnhw_xfer *xfers;
	int err;

	xfers = kvmalloc_array(args->count, sizeof(*xfers), GFP_KERNEL_ACCOUNT);
	if (!xfers)
		return -ENOMEM;
	err = trainium_ring_read(ring, drm_file, args, xfers);
	if (!err)
		err = trainium_ring_write(ring, xfers, args->count);
	kvfree(xfers);
	return err;
}

static int trainium_ring_make(struct trainium_context *ctx, struct drm_file *drm_file,
			      struct drm_trainium_ring_create *args)
{
	struct trainium_device *tdev = ctx->tdev;
	struct trainium_ring *ring;
	int err;

	if (args->core >= tdev->hw.arch->cores || !(ctx->cores & BIT(args->core)))
		return -EINVAL;
	if (atomic_inc_return(&ctx->file->rings) > TRAINIUM_FILE_RINGS) {
		atomic_dec(&ctx->file->rings);
		return -ENOSPC;
	}
	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring) {
		atomic_dec(&ctx->file->rings);
		return -ENOMEM;
	}
	kref_init(&ring->ref);
	xa_init(&ring->bos);
	ring->tdev = tdev;
	ring->file = trainium_file_get(ctx->file);
	ring->core = &tdev->core[args->core];
	ring->engine = args->engine;
	ring->queue = args->queue;
	ring->count = trnhw_ring_count(args->count);
	err = ring->count ? trainium_ring_fill(ring, drm_file, args) : -EINVAL;
	if (!err)
		err = xa_alloc(&ctx->rings, &args->handle, ring, xa_limit_31b, GFP_KERNEL);
	if (err)
		trainium_ring_put(ring);
	return err;
}

/** trainium_ring_create_ioctl() - DRM_IOCTL_TRAINIUM_RING_CREATE. */
int trainium_ring_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trainium_ring_create *args = data;
	struct trainium_context *ctx;
	int err;

	if (args->flags || args->pad || args->handle || args->bad_index ||
	    args->stride != sizeof(struct drm_trainium_xfer) ||
	    args->engine >= TRN_ENGINES_PER_CORE || args->queue >= TRAINIUM_USER_QUEUES ||
	    !args->count)
		return -EINVAL;
	if (args->count > DRM_TRAINIUM_RING_XFERS_MAX)
		return -E2BIG;
	ctx = trainium_context_get(drm_file->driver_priv, args->ctx);
	if (!ctx)
		return -ENOENT;
	err = trainium_ring_make(ctx, drm_file, args);
	trainium_context_put(ctx);
	return err;
}

/** trainium_ring_destroy_ioctl() - DRM_IOCTL_TRAINIUM_RING_DESTROY. */
int trainium_ring_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_trainium_ring_destroy *args = data;
	struct trainium_context *ctx;
	struct trainium_ring *ring;

	ctx = trainium_context_get(drm_file->driver_priv, args->ctx);
	if (!ctx)
		return -ENOENT;
	ring = xa_erase(&ctx->rings, args->handle);
	if (ring)
		trainium_ring_put(ring);
	trainium_context_put(ctx);
	return ring ? 0 : -ENOENT;
}
