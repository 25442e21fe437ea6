// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fences of jobs. A fence has its own lock, because it may outlive everything of the driver:
 * whoever waits for it, or shares the syncobj it is in, holds a reference. Its operations are in
 * the module, so it keeps the module.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "trainium_fence.h"

struct trainium_fence {
	struct dma_fence base;		/* first: freed through it */
	spinlock_t lock;		/* the fence's state */
};

static const char *trainium_fence_driver_name(struct dma_fence *fence)
{
	return "trainium";
}

static const char *trainium_fence_timeline_name(struct dma_fence *fence)
{
	return "context";
}

static void trainium_fence_release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops trainium_fence_ops = {
	.get_driver_name = trainium_fence_driver_name,
	.get_timeline_name = trainium_fence_timeline_name,
	.release = trainium_fence_release,
};

/** trainium_fence_create() - a fence not signalled yet; NULL when memory is short. */
struct dma_fence *trainium_fence_create(u64 context, u64 seqno)
{
	struct trainium_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);

	if (!fence)
		return NULL;
	/* The caller is in a call of an open file, which keeps the module too. */
	__module_get(THIS_MODULE);
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &trainium_fence_ops, &fence->lock, context, seqno);
	return &fence->base;
}

/** trainium_fence_error() - error of a signalled fence, looking through a timeline point. */
int trainium_fence_error(struct dma_fence *fence)
{
	struct dma_fence *inner = dma_fence_chain_contained(fence);
	int status = dma_fence_get_status(inner ? inner : fence);

	return status < 0 ? status : 0;
}
