/* SPDX-License-Identifier: GPL-2.0-only */
/* Fences of jobs. */
#ifndef TRAINIUM_FENCE_H
#define TRAINIUM_FENCE_H

#include <linux/dma-fence.h>
#include <linux/dma-fence-chain.h>

struct dma_fence *trainium_fence_create(u64 context, u64 seqno);
int trainium_fence_error(struct dma_fence *fence);

#endif /* TRAINIUM_FENCE_H */
