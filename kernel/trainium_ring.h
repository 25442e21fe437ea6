/* SPDX-License-Identifier: GPL-2.0-only */
/* Rings: checked, immutable lists of transfers in HBM that user space cannot write. */
#ifndef TRAINIUM_RING_H
#define TRAINIUM_RING_H

#include <linux/kref.h>
#include <linux/xarray.h>

#include <drm/drm_file.h>

#include "trainium_hbm.h"

struct trainium_core;
struct trainium_context;
struct trainium_device;
struct trainium_file;

/**
 * struct trainium_ring - a ring; immutable.
 * @ref: the context's table, and the programs that use it
 * @tdev: device
 * @file: file it is accounted to, referenced
 * @core: core it is bound to
 * @engine: DMA engine of the core, 0..15
 * @queue: queue of the engine
 * @count: descriptors per direction
 * @hbm: descriptors: sources, destinations, padding target
 * @m2s: device address of the sources
 * @s2m: device address of the destinations
 * @bos: buffers the transfers touch, referenced, by handle at creation
 */
struct trainium_ring {
	struct kref ref;
	struct trainium_device *tdev;
	struct trainium_file *file;
	struct trainium_core *core;
	u32 engine;
	u32 queue;
	u32 count;
	struct trainium_hbm hbm;
	u64 m2s;
	u64 s2m;
	struct xarray bos;
};

int trainium_ring_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trainium_ring_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
struct trainium_ring *trainium_ring_get(struct trainium_context *ctx, u32 handle);
void trainium_ring_put(struct trainium_ring *ring);

#endif /* TRAINIUM_RING_H */
