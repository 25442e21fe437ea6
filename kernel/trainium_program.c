// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs: engine images, rings and reachable memory as one object.
 *
 * The kernel writes what the device trusts: the program table (where each engine's instructions
 * are), the windows (which device addresses the running program may compute) and the argument
 * blocks. The instructions themselves are in the user's buffers; whatever they say, the windows and
 * the checked rings bound what they reach.
 *
 * No locks: a program is immutable. Argument blocks belong to the runs in the submission queue and
 * are written under trainium_core.lock.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include <drm/trainium_accel.h>

#include "trainium_bo.h"
#include "trainium_context.h"
#include "trainium_device.h"
#include "trainium_file.h"
#include "trainium_program.h"
#include "trainium_ring.h"

/* A point where the access to device memory changes, while windows are put together. */
struct trainium_edge {
	u64 addr;
	s8 read;
	s8 write;
	s8 exec;
};

static void trainium_program_release(struct kref *ref)
{
	struct trainium_program *program = container_of(ref, struct trainium_program, ref);
	u32 i;

	for (i = 0; i < program->ring_count; i++)
		if (program->rings[i])
			trainium_ring_put(program->rings[i]);
	kvfree(program->rings);
	for (i = 0; i < program->bo_count; i++)
		trainium_bo_put(program->bos[i]);
	kvfree(program->bos);
	if (program->head)
		dma_free_coherent(program->tdev->drm.dev, program->head_size, program->head,
				  program->head_dma);
	atomic_dec(&program->file->programs);
	trainium_file_put(program->file);
	kfree(program);
}

/** trainium_program_put() - drop a reference; may sleep. */
void trainium_program_put(struct trainium_program *program)
{
	if (program)
		kref_put(&program->ref, trainium_program_release);
}

/** trainium_program_get() - program of a handle of @ctx, referenced; NULL when there is none. */
struct trainium_program *trainium_program_get(struct trainium_context *ctx, u32 handle)
{
	struct trainium_program *program;

	xa_lock(&ctx->programs);
	program = xa_load(&ctx->programs, handle);
	if (program)
		kref_get(&program->ref);
	xa_unlock(&ctx->programs);
	return program;
}

static int trainium_program_image(struct trainium_program *program, struct drm_file *drm_file,
				  const struct drm_trainium_program_image *image,
				  struct trn_program_entry *entry, u32 *engines)
{
	const u32 valid = BIT(TRN_ENGINE_PE) | BIT(TRN_ENGINE_ACT) | BIT(TRN_ENGINE_POOL) |
			  BIT(TRN_ENGINE_DVE) | BIT(TRN_ENGINE_SP);
	struct trainium_bo *bo;
	u64 end;

	if (image->pad || image->engine >= TRN_ENGINE_MAX || !(valid & BIT(image->engine)) ||
	    (*engines & BIT(image->engine)) || !image->insns || image->offset % TRN_INSN_SIZE)
		return -EINVAL;
	*engines |= BIT(image->engine);
	bo = trainium_bo_lookup(drm_file, image->handle);
	if (!bo)
		return -ENOENT;
	program->bos[program->bo_count++] = bo;
	if (bo->place != DRM_TRAINIUM_PLACE_HBM)
		return -EINVAL;
	if (check_add_overflow(image->offset, (u64)image->insns * TRN_INSN_SIZE, &end) ||
	    end > bo->base.size)
		return -EACCES;
	entry->engine = image->engine;
	entry->insns = image->insns;
	entry->base = bo->hbm.addr + image->offset;
	return 0;
}

static int trainium_program_images(struct trainium_program *program, struct drm_file *drm_file,
				   const struct drm_trainium_program_create *args,
				   struct trn_program_table *table)
{
	struct drm_trainium_program_image images[TRAINIUM_PROGRAM_IMAGES];
	u32 i, engines = 0;
	int err = 0;

	if (copy_from_user(images, u64_to_user_ptr(args->images),
			   args->image_count * sizeof(images[0])))
		return -EFAULT;
	table->magic = TRN_PROGRAM_TABLE_MAGIC;
	table->count = args->image_count;
	for (i = 0; !err && i < args->image_count; i++)
		err = trainium_program_image(program, drm_file, &images[i], &table->entry[i],
					     &engines);
	return err;
}

static int trainium_program_rings(struct trainium_program *program, struct trainium_context *ctx,
				  const struct drm_trainium_program_create *args)
{
	u16 used[TRN_ENGINES_PER_CORE] = {};
	u32 *handles;
	u32 i;
	int err = 0;

	if (!args->ring_count)
		return 0;
	handles = memdup_user(u64_to_user_ptr(args->rings), args->ring_count * sizeof(*handles));
	if (IS_ERR(handles))
		return PTR_ERR(handles);
	program->rings = kvcalloc(args->ring_count, sizeof(*program->rings), GFP_KERNEL_ACCOUNT);
	if (!program->rings)
		err = -ENOMEM;
	for (i = 0; !err && i < args->ring_count; i++) {
		struct trainium_ring *ring = trainium_ring_get(ctx, handles[i]);

		if (!ring) {
			err = -ENOENT;
			break;
		}
		program->rings[program->ring_count++] = ring;
		if (ring->core != program->core || (used[ring->engine] & BIT(ring->queue)))
			err = -EINVAL;
		used[ring->engine] |= BIT(ring->queue);
	}
	kfree(handles);
	return err;
}

static void trainium_edges_add(struct trainium_edge *edges, u32 *count, u64 base, u64 size,
			       u32 access)
{
	struct trainium_edge *begin = &edges[(*count)++];
	struct trainium_edge *end = &edges[(*count)++];

	begin->addr = base;
	begin->read = !!(access & TRN_ACCESS_READ);
	begin->write = !!(access & TRN_ACCESS_WRITE);
	begin->exec = !!(access & TRN_ACCESS_EXEC);
	end->addr = base + size;
	end->read = -begin->read;
	end->write = -begin->write;
	end->exec = -begin->exec;
}

static int trainium_edge_cmp(const void *a, const void *b)
{
	const struct trainium_edge *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/*
 * Turns the edges into windows that are sorted and do not overlap; returns how many there are.
 * @windows has room for one per edge.
 */
static u32 trainium_windows_make(struct trainium_edge *edges, u32 count,
				 struct trn_window *windows)
{
	int read = 0, write = 0, exec = 0;
	u32 last_access = 0, n = 0, i = 0;
	u64 last_end = 0;

	sort(edges, count, sizeof(*edges), trainium_edge_cmp, NULL);
	while (i < count) {
		u64 addr = edges[i].addr;
		u32 access;

		for (; i < count && edges[i].addr == addr; i++) {
			read += edges[i].read;
			write += edges[i].write;
			exec += edges[i].exec;
		}
		access = (read ? TRN_ACCESS_READ : 0) | (write ? TRN_ACCESS_WRITE : 0) |
			 (exec ? TRN_ACCESS_EXEC : 0);
		if (!access || i == count)
			continue;
		if (n && last_access == access && last_end == addr) {
			windows[n - 1].size += edges[i].addr - addr;
		} else {
			windows[n].base = addr;
			windows[n].size = edges[i].addr - addr;
			windows[n].access = access;
			n++;
		}
		last_access = access;
		last_end = edges[i].addr;
	}
	return n;
}

/* Adds the buffers the program may address itself; one entry per buffer. */
static int trainium_program_bos(struct trainium_program *program, struct drm_file *drm_file,
				const struct drm_trainium_program_create *args, u32 *access)
{
	struct drm_trainium_program_bo *list;
	u32 i;
	int err = 0;

	if (!args->bo_count)
		return 0;
	list = kvmalloc_array(args->bo_count, sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return -ENOMEM;
	if (copy_from_user(list, u64_to_user_ptr(args->bos), args->bo_count * sizeof(*list)))
		err = -EFAULT;
	for (i = 0; !err && i < args->bo_count; i++) {
		const u32 all = DRM_TRAINIUM_BO_READ | DRM_TRAINIUM_BO_WRITE;
		struct trainium_bo *bo;

		if (!list[i].access || (list[i].access & ~all)) {
			err = -EINVAL;
			break;
		}
		bo = trainium_bo_lookup(drm_file, list[i].handle);
		if (!bo) {
			err = -ENOENT;
			break;
		}
		program->bos[program->bo_count++] = bo;
		access[i] = (list[i].access & DRM_TRAINIUM_BO_READ ? TRN_ACCESS_READ : 0) |
			    (list[i].access & DRM_TRAINIUM_BO_WRITE ? TRN_ACCESS_WRITE : 0);
	}
	kvfree(list);
	return err;
}

static int trainium_program_head(struct trainium_program *program, u32 windows)
{
	struct trainium_device *tdev = program->tdev;
	u64 base;

	program->head_size = size_add(sizeof(*program->head),
				      array_size(windows, sizeof(struct trn_window)));
	program->head = dma_alloc_coherent(tdev->drm.dev, program->head_size, &program->head_dma,
					   GFP_KERNEL);
	if (!program->head)
		return -ENOMEM;
	base = trnhw_host_address(&tdev->hw, program->head_dma);
	if (!base || !trnhw_host_address(&tdev->hw, program->head_dma + program->head_size - 1))
		return -EIO;
	program->table = base + offsetof(struct trainium_program_head, table);
	program->args = base + offsetof(struct trainium_program_head, args);
	program->windows = base + sizeof(*program->head);
	return 0;
}

/* Images are the first @image_count of the program's buffers, then come those of @access. */
static int trainium_program_windows(struct trainium_program *program,
				    const struct trn_program_table *table, const u32 *access)
{
	struct trainium_edge *edges;
	u32 max = table->count + 1, count = 0, i, s;
	int err;

	for (i = table->count; i < program->bo_count; i++)
		max += program->bos[i]->seg_count;
	if (max > TRN_WINDOWS_MAX)
		return -E2BIG;
	edges = kvcalloc(max * 2, sizeof(*edges), GFP_KERNEL_ACCOUNT);
	if (!edges)
		return -ENOMEM;
	for (i = 0; i < table->count; i++)
		trainium_edges_add(edges, &count, table->entry[i].base,
				   (u64)table->entry[i].insns * TRN_INSN_SIZE, TRN_ACCESS_EXEC);
	for (i = table->count; i < program->bo_count; i++) {
		const struct trainium_bo *bo = program->bos[i];

		for (s = 0; s < bo->seg_count; s++)
			trainium_edges_add(edges, &count, bo->segs[s].addr, bo->segs[s].size,
					   access[i - table->count]);
	}
	/* At most twice as many windows as ranges; the exact number is not worth a second pass. */
	err = trainium_program_head(program, max * 2);
	if (!err) {
		trainium_edges_add(edges, &count, program->args, sizeof(program->head->args),
				   TRN_ACCESS_READ);
		program->window_count = trainium_windows_make(edges, count,
							      (void *)(program->head + 1));
		program->head->table = *table;
		if (program->window_count > TRN_WINDOWS_MAX)
			err = -E2BIG;
	}
	kvfree(edges);
	return err;
}

static int trainium_program_fill(struct trainium_program *program, struct trainium_context *ctx,
				 struct drm_file *drm_file,
				 const struct drm_trainium_program_create *args)
{
	struct trn_program_table table = {};
	u32 *access;
	int err;

	program->bos = kvcalloc(args->image_count + args->bo_count, sizeof(*program->bos),
				GFP_KERNEL_ACCOUNT);
	access = kvcalloc(args->bo_count + 1, sizeof(*access), GFP_KERNEL_ACCOUNT);
	err = program->bos && access ? 0 : -ENOMEM;
	if (!err)
		err = trainium_program_images(program, drm_file, args, &table);
	if (!err)
		err = trainium_program_rings(program, ctx, args);
	if (!err)
		err = trainium_program_bos(program, drm_file, args, access);
	if (!err)
		err = trainium_program_windows(program, &table, access);
	kvfree(access);
	return err;
}

static int trainium_program_make(struct trainium_context *ctx, struct drm_file *drm_file,
				 struct drm_trainium_program_create *args)
{
	struct trainium_device *tdev = ctx->tdev;
	struct trainium_program *program;
	int err;

	if (args->core >= tdev->hw.arch->cores || !(ctx->cores & BIT(args->core)))
		return -EINVAL;
	if (!tdev->core[args->core].usable) {
		drm_dbg(&tdev->drm,
			"no programs on this device: it lacks the open extension's cores\n");
		return -EOPNOTSUPP;
	}
	program = kzalloc(sizeof(*program), GFP_KERNEL_ACCOUNT);
	if (!program)
		return -ENOMEM;
	kref_init(&program->ref);
	program->tdev = tdev;
	program->file = trainium_file_get(ctx->file);
	program->core = &tdev->core[args->core];
	err = atomic_inc_return(&ctx->file->programs) > TRAINIUM_FILE_PROGRAMS ? -ENOSPC : 0;
	if (!err)
		err = trainium_program_fill(program, ctx, drm_file, args);
	if (!err)
		err = xa_alloc(&ctx->programs, &args->handle, program, xa_limit_31b, GFP_KERNEL);
	if (err)
		trainium_program_put(program);
	return err;
}

/** trainium_program_create_ioctl() - DRM_IOCTL_TRAINIUM_PROGRAM_CREATE. */
int trainium_program_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trainium_program_create *args = data;
	struct trainium_context *ctx;
	int err;

	if (args->flags || args->handle || args->pad || !args->image_count)
		return -EINVAL;
	if (args->image_count > TRAINIUM_PROGRAM_IMAGES ||
	    args->ring_count > TRAINIUM_PROGRAM_RINGS || args->bo_count > TRAINIUM_PROGRAM_BOS)
		return -E2BIG;
	ctx = trainium_context_get(drm_file->driver_priv, args->ctx);
	if (!ctx)
		return -ENOENT;
	err = trainium_program_make(ctx, drm_file, args);
	trainium_context_put(ctx);
	return err;
}

/** trainium_program_destroy_ioctl() - DRM_IOCTL_TRAINIUM_PROGRAM_DESTROY. */
int trainium_program_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_trainium_program_destroy *args = data;
	struct trainium_context *ctx;
	struct trainium_program *program;

	ctx = trainium_context_get(drm_file->driver_priv, args->ctx);
	if (!ctx)
		return -ENOENT;
	program = xa_erase(&ctx->programs, args->handle);
	trainium_program_put(program);
	trainium_context_put(ctx);
	return program ? 0 : -ENOENT;
}
