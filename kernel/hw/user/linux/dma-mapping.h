/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: memory the device reaches, from the callbacks of the device.
 */
#ifndef TRNHW_USER_DMA_MAPPING_H
#define TRNHW_USER_DMA_MAPPING_H

#include <linux/types.h>

struct device;

/** dma_alloc_coherent() - zeroed memory and its bus address, NULL when there is none. */
void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *bus, gfp_t gfp);
void dma_free_coherent(struct device *dev, size_t size, void *ptr, dma_addr_t bus);

#endif /* TRNHW_USER_DMA_MAPPING_H */
