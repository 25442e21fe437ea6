/* SPDX-License-Identifier: GPL-2.0-only */
/* Buffers: GEM objects in HBM or in host memory. */
#ifndef TRAINIUM_BO_H
#define TRAINIUM_BO_H

#include <linux/scatterlist.h>
#include <drm/drm_gem.h>

#include "trainium_hbm.h"

struct trainium_device;
struct trainium_file;

/**
 * struct trainium_seg - contiguous device addresses of a piece of memory.
 * @start: offset in the memory
 * @addr: device address
 * @size: bytes
 */
struct trainium_seg {
	u64 start;
	u64 addr;
	u64 size;
};

/**
 * struct trainium_bo - a buffer; immutable once its handle exists, except @mapped.
 * @base: GEM object
 * @file: file it is accounted to, referenced
 * @place: DRM_TRAINIUM_PLACE_*
 * @hbm: range, DRM_TRAINIUM_PLACE_HBM
 * @pages: pages, DRM_TRAINIUM_PLACE_HOST
 * @page_count: length of @pages
 * @sgt: the pages as the device sees them
 * @mapped: @sgt is mapped for DMA; under trainium_device.hosts_lock
 * @host_node: in trainium_device.hosts while @mapped
 * @segs: device addresses, ascending @start, without gaps
 * @seg_count: length of @segs
 * @seg: @segs of HBM
 */
struct trainium_bo {
	struct drm_gem_object base;
	struct trainium_file *file;
	u32 place;
	struct trainium_hbm hbm;
	struct page **pages;
	unsigned long page_count;
	struct sg_table sgt;
	bool mapped;
	struct list_head host_node;
	struct trainium_seg *segs;
	unsigned int seg_count;
	struct trainium_seg seg;
};

static inline struct trainium_bo *to_trainium_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct trainium_bo, base);
}

int trainium_bo_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trainium_bo_info_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
struct trainium_bo *trainium_bo_lookup(struct drm_file *drm_file, u32 handle);
void trainium_bo_put(struct trainium_bo *bo);
void trainium_bos_unmap(struct trainium_device *tdev);
int trainium_segs_from_sgt(struct trainium_device *tdev, struct sg_table *sgt,
			   struct trainium_seg **segs, unsigned int *count);
unsigned int trainium_segs_find(const struct trainium_seg *segs, unsigned int count, u64 offset);

#endif /* TRAINIUM_BO_H */
