/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies and fills: memory described by segments, cut into transfers. */
#ifndef TRAINIUM_COPY_H
#define TRAINIUM_COPY_H

#include <linux/dma-direction.h>
#include <linux/ktime.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>

#include "trainium_bo.h"
#include "trainium_copyq.h"

struct trainium_context;
struct trainium_device;

#define TRAINIUM_PATTERN_BYTES	SZ_4K

/**
 * struct trainium_side - source or destination of a copy.
 * @segs: segments of the memory
 * @seg_count: length of @segs
 * @offset: where the copy begins in the memory
 * @repeat: 0, or the memory is this long and used over and over (source of a fill)
 */
struct trainium_side {
	const struct trainium_seg *segs;
	unsigned int seg_count;
	u64 offset;
	u32 repeat;
};

/**
 * struct trainium_pin - pinned user pages, mapped for DMA.
 * @pages: pages
 * @count: length of @pages
 * @dir: DMA direction
 * @sgt: the pages as the device sees them
 * @mapped: @sgt is mapped
 * @segs: device addresses, from the first user byte
 * @seg_count: length of @segs
 * @account: what counts against the memory-lock limit of the user
 */
struct trainium_pin {
	struct page **pages;
	unsigned long count;
	enum dma_data_direction dir;
	struct sg_table sgt;
	bool mapped;
	struct trainium_seg *segs;
	unsigned int seg_count;
	struct mmpin account;
};

/**
 * struct trainium_copy - one copy or fill.
 * @src: source
 * @dst: destination
 * @length: bytes
 * @src_bo: buffer held, or NULL
 * @dst_bo: buffer held, or NULL
 * @pin: user memory held, or NULL
 * @pattern: coherent memory with the pattern of a fill, or NULL
 * @pattern_dma: its bus address
 * @pattern_seg: its segment
 */
struct trainium_copy {
	struct trainium_side src;
	struct trainium_side dst;
	u64 length;
	struct trainium_bo *src_bo;
	struct trainium_bo *dst_bo;
	struct trainium_pin *pin;
	u32 *pattern;
	dma_addr_t pattern_dma;
	struct trainium_seg pattern_seg;
};

/**
 * struct trainium_cursor - how far a list of copies has been cut into transfers.
 * @copies: list; pointers, because copies of a job are scattered among its commands
 * @count: length of @copies
 * @index: current copy
 * @done: bytes of it
 * @src_seg: current segment of its source
 * @dst_seg: current segment of its destination
 */
struct trainium_cursor {
	struct trainium_copy **copies;
	unsigned int count;
	unsigned int index;
	u64 done;
	unsigned int src_seg;
	unsigned int dst_seg;
};

u32 trainium_cursor_fill(struct trainium_cursor *cursor, struct trnhw_xfer *xfers, u32 max);
bool trainium_cursor_end(const struct trainium_cursor *cursor);

int trainium_copies_run(struct trainium_copyq *q, struct trainium_copy **copies,
			unsigned int count, ktime_t deadline, bool killable);
int trainium_copy_zero(struct trainium_device *tdev, const struct trainium_hbm *hbm);
int trainium_copy_upload(struct trainium_device *tdev, const struct trainium_hbm *hbm, u64 offset,
			 const void *data, u64 size);

struct trainium_pin *trainium_pin_create(struct trainium_device *tdev, u64 address, u64 length,
					 enum dma_data_direction dir);
void trainium_pin_unmap(struct trainium_device *tdev, struct trainium_pin *pin);
void trainium_pin_destroy(struct trainium_device *tdev, struct trainium_pin *pin);
int trainium_copy_pattern(struct trainium_device *tdev, struct trainium_copy *copy, u32 pattern);
void trainium_copy_fini(struct trainium_device *tdev, struct trainium_copy *copy);

#endif /* TRAINIUM_COPY_H */
