// SPDX-License-Identifier: GPL-2.0-only
/*
 * HBM of the device: one range allocator per stack.
 *
 * The first 16 MiB of every stack belong to the firmware and are never handed out. Ranges are not
 * cleared here: who gives one to a user clears it first.
 *
 * Locking: trainium_stack.lock, innermost of the sleeping locks.
 */
#include <linux/sizes.h>

#include <drm/drm_managed.h>

#include "trainium_device.h"
#include "trainium_hbm.h"

static void trainium_hbm_release(struct drm_device *drm, void *data)
{
	struct trainium_stack *stack = data;

	drm_mm_takedown(&stack->mm);
	mutex_destroy(&stack->lock);
}

/**
 * trainium_hbm_init() - set up the allocators; undone with the last reference to the device.
 * @tdev: device, identified
 *
 * Return: 0, -ENOMEM, -ENODEV when a stack has no room beyond the firmware's part.
 */
int trainium_hbm_init(struct trainium_device *tdev)
{
	const struct trnhw_arch *arch = tdev->hw.arch;
	u64 size = arch->hbm_size;
	u64 bar = pci_resource_len(tdev->pdev, 4);
	unsigned int i;
	int err;

	/* The BAR shows what is populated: it is smaller with less memory than the product's. */
	if (bar)
		size = min(size, div_u64(bar, arch->stacks));
	if (size < TRN_HBM_FW_RESERVED + SZ_1M)
		return -ENODEV;
	for (i = 0; i < arch->stacks; i++) {
		struct trainium_stack *stack = &tdev->stack[i];

		mutex_init(&stack->lock);
		stack->size = size - TRN_HBM_FW_RESERVED;
		stack->free = stack->size;
		drm_mm_init(&stack->mm, TRN_HBM_FW_RESERVED, stack->size);
		err = drmm_add_action_or_reset(&tdev->drm, trainium_hbm_release, stack);
		if (err)
			return err;
	}
	return 0;
}

static int trainium_hbm_insert(struct trainium_device *tdev, unsigned int index, u64 size,
			       struct trainium_hbm *hbm)
{
	struct trainium_stack *stack = &tdev->stack[index];
	u64 align = size >= SZ_64K ? SZ_64K : SZ_4K;
	int err;

	mutex_lock(&stack->lock);
	err = drm_mm_insert_node_generic(&stack->mm, &hbm->node, size, align, 0,
					 DRM_MM_INSERT_BEST);
	if (err && align > SZ_4K)
		err = drm_mm_insert_node_generic(&stack->mm, &hbm->node, size, SZ_4K, 0,
						 DRM_MM_INSERT_BEST);
	if (!err)
		stack->free -= hbm->node.size;
	mutex_unlock(&stack->lock);
	if (err)
		return -ENOBUFS;
	hbm->stack = index;
	hbm->size = hbm->node.size;
	hbm->addr = trnhw_hbm_address(&tdev->hw, index, hbm->node.start);
	return 0;
}

/**
 * trainium_hbm_alloc() - allocate a range.
 * @tdev: device
 * @stack: stack, or DRM_TRAINIUM_STACK_ANY for the one with most room, then the others
 * @size: bytes, a multiple of 4096, not 0
 * @hbm: filled; zeroed memory
 *
 * Return: 0, -EINVAL no such stack, -ENOBUFS no room.
 */
int trainium_hbm_alloc(struct trainium_device *tdev, u32 stack, u64 size, struct trainium_hbm *hbm)
{
	unsigned int count = tdev->hw.arch->stacks;
	unsigned int i, best = 0;

	if (stack != DRM_TRAINIUM_STACK_ANY)
		return stack < count ? trainium_hbm_insert(tdev, stack, size, hbm) : -EINVAL;
	for (i = 1; i < count; i++)
		if (READ_ONCE(tdev->stack[i].free) > READ_ONCE(tdev->stack[best].free))
			best = i;
	for (i = 0; i < count; i++)
		if (!trainium_hbm_insert(tdev, (best + i) % count, size, hbm))
			return 0;
	return -ENOBUFS;
}

/** trainium_hbm_free() - give a range back; nothing may access it any more. */
void trainium_hbm_free(struct trainium_device *tdev, struct trainium_hbm *hbm)
{
	struct trainium_stack *stack = &tdev->stack[hbm->stack];

	mutex_lock(&stack->lock);
	stack->free += hbm->node.size;
	drm_mm_remove_node(&hbm->node);
	mutex_unlock(&stack->lock);
}

/** trainium_hbm_largest() - bytes of the largest free range of @stack. */
u64 trainium_hbm_largest(struct trainium_stack *stack)
{
	struct drm_mm_node *node;
	u64 start, end, largest = 0;

	mutex_lock(&stack->lock);
	drm_mm_for_each_hole(node, &stack->mm, start, end)
		largest = max(largest, end - start);
	mutex_unlock(&stack->lock);
	return largest;
}
