// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: GEM objects in HBM or in host memory.
 *
 * HBM is cleared through DMA before its handle exists, so nobody sees what an earlier owner left.
 * Host memory is made of the largest page blocks available, because a transfer cannot cross a gap
 * in bus addresses, and is mapped for DMA as long as it exists (or until the device is removed).
 *
 * Locking: trainium_device.hosts_lock for the list of mapped host buffers; everything else is
 * immutable once the handle exists.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <drm/drm_prime.h>
#include <drm/trainium_accel.h>

#include "compat.h"
#include "trainium_bo.h"
#include "trainium_copy.h"
#include "trainium_device.h"
#include "trainium_file.h"

#define TRAINIUM_PAGE_ORDER_MAX	10u	/* 4 MiB */

/**
 * trainium_segs_find() - index of the segment that holds an offset.
 * @segs: segments
 * @count: length of @segs
 * @offset: inside the memory
 */
unsigned int trainium_segs_find(const struct trainium_seg *segs, unsigned int count, u64 offset)
{
	unsigned int low = 0, high = count;

	while (high - low > 1) {
		unsigned int mid = low + (high - low) / 2;

		if (segs[mid].start <= offset)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/**
 * trainium_segs_from_sgt() - device addresses of a mapped table.
 * @tdev: device
 * @sgt: mapped for DMA
 * @segs: out, kvfree()
 * @count: out
 *
 * Return: 0, -ENOMEM, -EIO a bus address is out of the device's reach.
 */
int trainium_segs_from_sgt(struct trainium_device *tdev, struct sg_table *sgt,
			   struct trainium_seg **segs, unsigned int *count)
{
	struct trainium_seg *list;
	struct scatterlist *sg;
	unsigned int i, n = 0;
	u64 start = 0;

	list = kvmalloc_array(sgt->nents, sizeof(*list), GFP_KERNEL_ACCOUNT);
	if (!list)
		return -ENOMEM;
	for_each_sgtable_dma_sg(sgt, sg, i) {
		u64 len = sg_dma_len(sg);
		u64 addr = trnhw_host_address(&tdev->hw, sg_dma_address(sg));

		if (!addr || !trnhw_host_address(&tdev->hw, sg_dma_address(sg) + len - 1)) {
			kvfree(list);
			return -EIO;
		}
		if (n && list[n - 1].addr + list[n - 1].size == addr) {
			list[n - 1].size += len;
		} else {
			list[n].start = start;
			list[n].addr = addr;
			list[n].size = len;
			n++;
		}
		start += len;
	}
	*segs = list;
	*count = n;
	return 0;
}

static void trainium_bo_unmap_locked(struct trainium_device *tdev, struct trainium_bo *bo)
{
	lockdep_assert_held(&tdev->hosts_lock);
	if (!bo->mapped)
		return;
	dma_unmap_sgtable(tdev->drm.dev, &bo->sgt, DMA_BIDIRECTIONAL, 0);
	list_del(&bo->host_node);
	bo->mapped = false;
}

static void trainium_bo_pages_free(struct trainium_bo *bo)
{
	unsigned long i;

	for (i = 0; i < bo->page_count; i++)
		put_page(bo->pages[i]);
	kvfree(bo->pages);
}

static void trainium_bo_free(struct drm_gem_object *obj)
{
	struct trainium_device *tdev = to_trainium_device(obj->dev);
	struct trainium_bo *bo = to_trainium_bo(obj);

	if (bo->place == DRM_TRAINIUM_PLACE_HBM) {
		if (drm_mm_node_allocated(&bo->hbm.node)) {
			trainium_hbm_free(tdev, &bo->hbm);
			atomic64_sub(obj->size, &bo->file->hbm_bytes);
		}
	} else {
		mutex_lock(&tdev->hosts_lock);
		trainium_bo_unmap_locked(tdev, bo);
		mutex_unlock(&tdev->hosts_lock);
		sg_free_table(&bo->sgt);
		trainium_bo_pages_free(bo);
		kvfree(bo->segs);
		atomic64_sub(obj->size, &bo->file->host_bytes);
	}
	drm_gem_object_release(obj);
	trainium_file_put(bo->file);
	kfree(bo);
}

static struct sg_table *trainium_bo_sg_table(struct drm_gem_object *obj)
{
	struct trainium_bo *bo = to_trainium_bo(obj);

	/* Peers cannot reach HBM; host memory they can. */
	if (bo->place != DRM_TRAINIUM_PLACE_HOST)
		return ERR_PTR(-EOPNOTSUPP);
	return drm_prime_pages_to_sg(obj->dev, bo->pages, bo->page_count);
}

static vm_fault_t trainium_bo_fault(struct vm_fault *vmf)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	struct trainium_bo *bo = to_trainium_bo(obj);
	unsigned long index = vmf->pgoff - drm_vma_node_start(&obj->vma_node);

	if (vmf->pgoff < drm_vma_node_start(&obj->vma_node) || index >= bo->page_count)
		return VM_FAULT_SIGBUS;
	return vmf_insert_page(vmf->vma, vmf->address, bo->pages[index]);
}

/*
 * Shared, not executable, no growth. Pages are inserted here; the fault handler serves those that
 * were dropped since (madvise). They are ordinary memory: a mapping outlives the device.
 */
static int trainium_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct trainium_bo *bo = to_trainium_bo(obj);
	unsigned long index = vma->vm_pgoff - drm_vma_node_start(&obj->vma_node);
	unsigned long count = vma_pages(vma);

	if (bo->place != DRM_TRAINIUM_PLACE_HOST)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (index >= bo->page_count || count > bo->page_count - index)
		return -EINVAL;
	vm_flags_set(vma, VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYEXEC);
	return vm_insert_pages(vma, vma->vm_start, bo->pages + index, &count);
}

static const struct vm_operations_struct trainium_bo_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.fault = trainium_bo_fault,
};

static const struct drm_gem_object_funcs trainium_bo_funcs = {
	.free = trainium_bo_free,
	.get_sg_table = trainium_bo_sg_table,
	.mmap = trainium_bo_mmap,
	.vm_ops = &trainium_bo_vm_ops,
};

/* Takes the largest blocks there are; each page has its own reference afterwards. */
static int trainium_bo_pages_alloc(struct trainium_bo *bo, unsigned long count)
{
	unsigned int max = TRAINIUM_PAGE_ORDER_MAX;

	bo->pages = kvmalloc_array(count, sizeof(*bo->pages), GFP_KERNEL_ACCOUNT);
	if (!bo->pages)
		return -ENOMEM;
	while (bo->page_count < count) {
		unsigned int order = min_t(unsigned int, max, ilog2(count - bo->page_count));
		gfp_t gfp = GFP_USER | __GFP_ZERO | __GFP_ACCOUNT | __GFP_NOWARN;
		struct page *page;
		unsigned int i;

		if (order)
			gfp |= __GFP_NORETRY;
		page = alloc_pages(gfp, order);
		if (!page && order) {
			max = order - 1;
			continue;
		}
		if (!page || fatal_signal_pending(current)) {
			if (page)
				__free_pages(page, order);
			return page ? -EINTR : -ENOMEM;
		}
		split_page(page, order);
		for (i = 0; i < 1u << order; i++)
			bo->pages[bo->page_count++] = page + i;
		cond_resched();
	}
	return 0;
}

static int trainium_bo_map(struct trainium_device *tdev, struct trainium_bo *bo)
{
	struct device *dev = tdev->drm.dev;
	struct scatterlist *sg;
	unsigned int i;
	int err;

	err = sg_alloc_table_from_pages(&bo->sgt, bo->pages, bo->page_count, 0, bo->base.size,
					GFP_KERNEL);
	if (err)
		return err;
	err = dma_map_sgtable(dev, &bo->sgt, DMA_BIDIRECTIONAL, 0);
	if (err)
		return err;
	mutex_lock(&tdev->hosts_lock);
	bo->mapped = true;
	list_add_tail(&bo->host_node, &tdev->hosts);
	mutex_unlock(&tdev->hosts_lock);
	/* CPU and device share the memory all the time: no machine that copies behind our back. */
	for_each_sgtable_dma_sg(&bo->sgt, sg, i) {
		if (dma_need_sync(dev, sg_dma_address(sg))) {
			drm_dbg(&tdev->drm, "host buffer needs bounce buffering; not supported\n");
			return -EOPNOTSUPP;
		}
	}
	return trainium_segs_from_sgt(tdev, &bo->sgt, &bo->segs, &bo->seg_count);
}

static int trainium_bo_init_host(struct trainium_device *tdev, struct trainium_bo *bo)
{
	int err;

	atomic64_add(bo->base.size, &bo->file->host_bytes);
	err = trainium_bo_pages_alloc(bo, bo->base.size >> PAGE_SHIFT);
	if (err)
		return err;
	err = trainium_bo_map(tdev, bo);
	if (err)
		return err;
	return drm_gem_create_mmap_offset(&bo->base);
}

static int trainium_bo_init_hbm(struct trainium_device *tdev, struct trainium_bo *bo, u32 stack)
{
	int err;

	err = trainium_hbm_alloc(tdev, stack, bo->base.size, &bo->hbm);
	if (err)
		return err;
	atomic64_add(bo->base.size, &bo->file->hbm_bytes);
	bo->seg.addr = bo->hbm.addr;
	bo->seg.size = bo->hbm.size;
	bo->segs = &bo->seg;
	bo->seg_count = 1;
	return trainium_copy_zero(tdev, &bo->hbm);
}

static int trainium_bo_check(struct trainium_device *tdev,
			     const struct drm_trainium_bo_create *args)
{
	if (!args->size || args->flags || args->handle)
		return -EINVAL;
	if (args->size > SZ_1T)
		return args->place == DRM_TRAINIUM_PLACE_HBM ? -ENOBUFS : -ENOMEM;
	switch (args->place) {
	case DRM_TRAINIUM_PLACE_HBM:
		if (args->stack != DRM_TRAINIUM_STACK_ANY && args->stack >= tdev->hw.arch->stacks)
			return -EINVAL;
		return 0;
	case DRM_TRAINIUM_PLACE_HOST:
		if (args->stack && args->stack != DRM_TRAINIUM_STACK_ANY)
			return -EINVAL;
		return args->size > (u64)totalram_pages() << PAGE_SHIFT ? -ENOMEM : 0;
	default:
		return -EINVAL;
	}
}

/** trainium_bo_create_ioctl() - DRM_IOCTL_TRAINIUM_BO_CREATE. */
int trainium_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct trainium_device *tdev = to_trainium_device(drm);
	struct drm_trainium_bo_create *args = data;
	struct trainium_bo *bo;
	int err;

	err = trainium_bo_check(tdev, args);
	if (err)
		return err;
	bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);
	if (!bo)
		return -ENOMEM;
	bo->place = args->place;
	bo->file = trainium_file_get(drm_file->driver_priv);
	bo->base.funcs = &trainium_bo_funcs;
	drm_gem_private_object_init(drm, &bo->base, ALIGN(args->size, SZ_4K));
	if (bo->place == DRM_TRAINIUM_PLACE_HBM)
		err = trainium_bo_init_hbm(tdev, bo, args->stack);
	else
		err = trainium_bo_init_host(tdev, bo);
	if (!err)
		err = drm_gem_handle_create(drm_file, &bo->base, &args->handle);
	/* The handle holds a reference of its own; on failure this frees the buffer. */
	drm_gem_object_put(&bo->base);
	return err;
}

/** trainium_bo_lookup() - buffer of a handle of this file, referenced; NULL when there is none. */
struct trainium_bo *trainium_bo_lookup(struct drm_file *drm_file, u32 handle)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(drm_file, handle);

	return obj ? to_trainium_bo(obj) : NULL;
}

/** trainium_bo_put() - drop a reference; NULL is fine. May sleep. */
void trainium_bo_put(struct trainium_bo *bo)
{
	if (bo)
		drm_gem_object_put(&bo->base);
}

/** trainium_bo_info_ioctl() - DRM_IOCTL_TRAINIUM_BO_INFO. */
int trainium_bo_info_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trainium_bo_info *args = data;
	struct trainium_bo *bo;

	if (args->pad)
		return -EINVAL;
	bo = trainium_bo_lookup(drm_file, args->handle);
	if (!bo)
		return -ENOENT;
	args->place = bo->place;
	args->size = bo->base.size;
	args->mmap_offset = 0;
	args->stack = DRM_TRAINIUM_STACK_ANY;
	if (bo->place == DRM_TRAINIUM_PLACE_HOST)
		args->mmap_offset = drm_vma_node_offset_addr(&bo->base.vma_node);
	else
		args->stack = bo->hbm.stack;
	trainium_bo_put(bo);
	return 0;
}

/** trainium_bos_unmap() - removal: end every DMA mapping; the buffers themselves stay. */
void trainium_bos_unmap(struct trainium_device *tdev)
{
	struct trainium_bo *bo, *next;

	mutex_lock(&tdev->hosts_lock);
	list_for_each_entry_safe(bo, next, &tdev->hosts, host_node)
		trainium_bo_unmap_locked(tdev, bo);
	mutex_unlock(&tdev->hosts_lock);
}
