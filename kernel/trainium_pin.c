// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinned user memory: the source or destination of a copy without a bounce buffer.
 *
 * Pages stay pinned until the job that uses them ends, which may wait for other jobs first, so they
 * are pinned as long-term and count against the user's memory-lock limit. The submitter keeps the
 * amount bounded (trainium_job.c). No locks.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "trainium_copy.h"
#include "trainium_device.h"

static int trainium_pin_pages(struct trainium_pin *pin, u64 address, unsigned long count)
{
	unsigned int flags = FOLL_LONGTERM;

	if (pin->dir == DMA_FROM_DEVICE)
		flags |= FOLL_WRITE;
	while (pin->count < count) {
		int got = pin_user_pages_fast(address + pin->count * PAGE_SIZE,
					      min(count - pin->count, 1024ul), flags,
					      pin->pages + pin->count);

		if (got <= 0)
			return got == -ENOMEM || got == -EINTR ? got : -EFAULT;
		pin->count += got;
	}
	return 0;
}

/**
 * trainium_pin_create() - pin and map user memory of the calling process.
 * @tdev: device
 * @address: user address
 * @length: bytes, not 0, at most 1 GiB
 * @dir: DMA_TO_DEVICE or DMA_FROM_DEVICE
 *
 * Return: the pin, or ERR_PTR: -EFAULT not the caller's memory or not accessible that way, -ENOMEM
 * memory-lock limit or no memory, -EIO out of the device's reach.
 */
struct trainium_pin *trainium_pin_create(struct trainium_device *tdev, u64 address, u64 length,
					 enum dma_data_direction dir)
{
	unsigned long offset = address & ~PAGE_MASK;
	struct trainium_pin *pin;
	unsigned long count;
	u64 end;
	int err;

	if (WARN_ON_ONCE(!length || length > SZ_1G))
		return ERR_PTR(-EINVAL);
	if (check_add_overflow(address, length, &end) || end > (u64)TASK_SIZE)
		return ERR_PTR(-EFAULT);
	count = DIV_ROUND_UP(offset + length, PAGE_SIZE);
	pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		return ERR_PTR(-ENOMEM);
	pin->dir = dir;
	err = mm_account_pinned_pages(&pin->account, count * PAGE_SIZE);
	if (err) {
		kfree(pin);
		return ERR_PTR(-ENOMEM);
	}
	pin->pages = kvmalloc_array(count, sizeof(*pin->pages), GFP_KERNEL_ACCOUNT);
	if (!pin->pages) {
		err = -ENOMEM;
		goto err_pin;
	}
	err = trainium_pin_pages(pin, address & PAGE_MASK, count);
	if (err)
		goto err_pin;
	err = sg_alloc_table_from_pages(&pin->sgt, pin->pages, count, offset, length, GFP_KERNEL);
	if (err)
		goto err_pin;
	/*
	 * Copies of one job may end in the same cache line. That is two mappings of it, and allowed
	 * when who maps hands the memory over itself.
	 */
	err = dma_map_sgtable(tdev->drm.dev, &pin->sgt, dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (err)
		goto err_pin;
	pin->mapped = true;
	dma_sync_sgtable_for_device(tdev->drm.dev, &pin->sgt, dir);
	err = trainium_segs_from_sgt(tdev, &pin->sgt, &pin->segs, &pin->seg_count);
	if (err)
		goto err_pin;
	return pin;

err_pin:
	trainium_pin_destroy(tdev, pin);
	return ERR_PTR(err);
}

/**
 * trainium_pin_unmap() - end of DMA: the data is the CPU's again. Does not sleep.
 * @tdev: device
 * @pin: pin
 *
 * The pages stop to count against the limit here, not when they are unpinned: who waits for the job
 * may send the next one before that.
 */
void trainium_pin_unmap(struct trainium_device *tdev, struct trainium_pin *pin)
{
	if (!pin->mapped)
		return;
	dma_sync_sgtable_for_cpu(tdev->drm.dev, &pin->sgt, pin->dir);
	dma_unmap_sgtable(tdev->drm.dev, &pin->sgt, pin->dir, DMA_ATTR_SKIP_CPU_SYNC);
	pin->mapped = false;
	mm_unaccount_pinned_pages(&pin->account);
	pin->account.user = NULL;
}

/** trainium_pin_destroy() - unmap, unpin, free; no transfer may be in flight. */
void trainium_pin_destroy(struct trainium_device *tdev, struct trainium_pin *pin)
{
	trainium_pin_unmap(tdev, pin);
	sg_free_table(&pin->sgt);
	unpin_user_pages_dirty_lock(pin->pages, pin->count, pin->dir == DMA_FROM_DEVICE);
	kvfree(pin->segs);
	kvfree(pin->pages);
	kfree(pin);
}
