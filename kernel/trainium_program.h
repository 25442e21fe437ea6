/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs: engine images, rings and reachable memory as one object. */
#ifndef TRAINIUM_PROGRAM_H
#define TRAINIUM_PROGRAM_H

#include <linux/kref.h>

#include <drm/drm_file.h>
#include <drm/trainium_accel.h>

#include "hw/trnhw.h"

struct trainium_bo;
struct trainium_context;
struct trainium_core;
struct trainium_device;
struct trainium_file;
struct trainium_ring;

#define TRAINIUM_PROGRAM_IMAGES	6
#define TRAINIUM_PROGRAM_RINGS	(TRN_ENGINES_PER_CORE * 14)
#define TRAINIUM_PROGRAM_BOS	2048

/**
 * struct trainium_program_head - what the device reads of a program; the windows follow.
 * @table: program table
 * @args: argument blocks, one per place in the submission queue
 */
struct trainium_program_head {
	struct trn_program_table table __aligned(256);
	u8 args[TRNHW_SQ_ENTRIES][DRM_TRAINIUM_ARGS_MAX] __aligned(256);
};

/**
 * struct trainium_program - a program; immutable but for the argument blocks.
 * @ref: the context's table, and jobs
 * @tdev: device
 * @file: file it is counted for, referenced
 * @core: core it runs on
 * @head: coherent memory of @head_size bytes
 * @head_dma: its bus address
 * @head_size: its size
 * @table: device address of the program table
 * @args: device address of the argument blocks
 * @windows: device address of the windows
 * @window_count: windows
 * @rings: rings, referenced
 * @ring_count: length of @rings
 * @bos: buffers, referenced
 * @bo_count: length of @bos
 */
struct trainium_program {
	struct kref ref;
	struct trainium_device *tdev;
	struct trainium_file *file;
	struct trainium_core *core;
	struct trainium_program_head *head;
	dma_addr_t head_dma;
	size_t head_size;
	u64 table;
	u64 args;
	u64 windows;
	u32 window_count;
	struct trainium_ring **rings;
	u32 ring_count;
	struct trainium_bo **bos;
	u32 bo_count;
};

int trainium_program_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
int trainium_program_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
struct trainium_program *trainium_program_get(struct trainium_context *ctx, u32 handle);
void trainium_program_put(struct trainium_program *program);

#endif /* TRAINIUM_PROGRAM_H */
