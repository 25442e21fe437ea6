/* SPDX-License-Identifier: GPL-2.0-only */
/* HBM of the device: one range allocator per stack. */
#ifndef TRAINIUM_HBM_H
#define TRAINIUM_HBM_H

#include <linux/mutex.h>
#include <drm/drm_mm.h>

struct trainium_device;

/**
 * struct trainium_stack - one HBM stack.
 * @lock: @mm and @free
 * @mm: free and used ranges, by offset in the stack
 * @size: bytes users can get
 * @free: bytes not allocated
 */
struct trainium_stack {
	struct mutex lock;	/* see above */
	struct drm_mm mm;
	u64 size;
	u64 free;
};

/**
 * struct trainium_hbm - an allocated range.
 * @node: range in its stack
 * @stack: stack number
 * @addr: device address
 * @size: bytes
 */
struct trainium_hbm {
	struct drm_mm_node node;
	unsigned int stack;
	u64 addr;
	u64 size;
};

int trainium_hbm_init(struct trainium_device *tdev);
int trainium_hbm_alloc(struct trainium_device *tdev, u32 stack, u64 size, struct trainium_hbm *hbm);
void trainium_hbm_free(struct trainium_device *tdev, struct trainium_hbm *hbm);
u64 trainium_hbm_largest(struct trainium_stack *stack);

#endif /* TRAINIUM_HBM_H */
