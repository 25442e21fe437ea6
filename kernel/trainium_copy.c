// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies and fills: memory described by segments, cut into transfers, run on a host copy queue.
 *
 * User memory is pinned and mapped as it is; nothing is bounced. No locks of its own.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "trainium_copy.h"
#include "trainium_device.h"

#define TRAINIUM_COPY_DEPTH	3		/* batches of one job in flight */
#define TRAINIUM_COPY_GRACE_MS	5000		/* for batches in flight after an error */
#define TRAINIUM_UPLOAD_BYTES	SZ_256K

static u32 trainium_side_piece(const struct trainium_side *side, unsigned int *seg, u64 done,
			       u32 max, u64 *addr)
{
	const struct trainium_seg *s;
	u64 pos = side->offset + done;
	u32 rest;

	if (side->repeat) {
		div_u64_rem(done, side->repeat, &rest);
		*addr = side->segs[0].addr + rest;
		return min(max, side->repeat - rest);
	}
	if (!done)
		*seg = trainium_segs_find(side->segs, side->seg_count, pos);
	while (pos - side->segs[*seg].start >= side->segs[*seg].size)
		(*seg)++;
	s = &side->segs[*seg];
	*addr = s->addr + (pos - s->start);
	return min_t(u64, max, s->size - (pos - s->start));
}

/** trainium_cursor_end() - true when every copy of the list has been cut. */
bool trainium_cursor_end(const struct trainium_cursor *cursor)
{
	return cursor->index == cursor->count;
}

/**
 * trainium_cursor_fill() - cut the next transfers.
 * @cursor: moved forward
 * @xfers: filled
 * @max: room in @xfers
 *
 * The last transfer of each copy carries a barrier, because the next copy may read what this one
 * writes. Return: transfers written.
 */
u32 trainium_cursor_fill(struct trainium_cursor *cursor, struct trnhw_xfer *xfers, u32 max)
{
	u32 n = 0;

	while (n < max && !trainium_cursor_end(cursor)) {
		const struct trainium_copy *copy = cursor->copies[cursor->index];
		struct trnhw_xfer *x = &xfers[n++];
		u32 len = min_t(u64, copy->length - cursor->done, TRN_DESC_MAX_BYTES);

		len = trainium_side_piece(&copy->src, &cursor->src_seg, cursor->done, len, &x->src);
		len = trainium_side_piece(&copy->dst, &cursor->dst_seg, cursor->done, len, &x->dst);
		x->len = len;
		x->flags = 0;
		cursor->done += len;
		if (cursor->done == copy->length) {
			x->flags = TRNHW_XFER_BARRIER;
			cursor->index++;
			cursor->done = 0;
		}
	}
	return n;
}

/*
 * Nothing may stay in flight after an error: the memory is about to be given back. Batches get time
 * to finish; a queue that does not move is reset, one that cannot move at once.
 */
static void trainium_copies_settle(struct trainium_copyq *q, const struct trainium_batch *inflight,
				   unsigned int first, unsigned int count)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), TRAINIUM_COPY_GRACE_MS);

	while (count--) {
		if (trainium_copyq_aborted(q) ||
		    trainium_copyq_wait(q, &inflight[first++ % TRAINIUM_COPY_DEPTH], deadline) ==
		    -ETIME) {
			trainium_copyq_recover(q);
			return;
		}
	}
}

/**
 * trainium_copies_run() - run a list of copies in order and wait for the end.
 * @q: queue
 * @copies: list
 * @count: length of @copies
 * @deadline: when to give up
 * @killable: give up when the calling process is being killed
 *
 * When it returns no transfer is in flight, whatever the result. The caller is inside
 * drm_dev_enter(). Allocates nothing.
 *
 * Return: 0, -ETIME, -ECANCELED lost to a reset of the queue, -EIO, -ENODEV, -EINTR.
 */
int trainium_copies_run(struct trainium_copyq *q, struct trainium_copy **copies,
			unsigned int count, ktime_t deadline, bool killable)
{
	struct trainium_cursor cursor = { .copies = copies, .count = count };
	struct trainium_batch inflight[TRAINIUM_COPY_DEPTH];
	unsigned int first = 0, n = 0;
	int err = 0;

	while (!err && (n || !trainium_cursor_end(&cursor))) {
		if (killable && fatal_signal_pending(current)) {
			err = -EINTR;
		} else if (n < TRAINIUM_COPY_DEPTH && !trainium_cursor_end(&cursor)) {
			err = trainium_copyq_submit(q, &cursor, deadline,
						    &inflight[(first + n) % TRAINIUM_COPY_DEPTH]);
			if (!err)
				n++;
		} else {
			err = trainium_copyq_wait(q, &inflight[first % TRAINIUM_COPY_DEPTH],
						  deadline);
			if (!err) {
				first++;
				n--;
			}
		}
	}
	if (err)
		trainium_copies_settle(q, inflight, first, n);
	return err;
}

static ktime_t trainium_copy_deadline(struct trainium_copyq *q, u64 size)
{
	u64 descs = DIV_ROUND_UP_ULL(size, TRN_DESC_MAX_BYTES) + 1;
	u64 us = trnhw_copyq_budget_us(&q->hw, min_t(u64, descs, U32_MAX));

	return ktime_add_us(ktime_get(), us + 10 * USEC_PER_SEC);
}

/* For copies that can be done twice: a queue that lost a completion works again after its reset. */
static int trainium_copy_retry(struct trainium_copyq *q, struct trainium_copy *copy)
{
	int err;

	err = trainium_copies_run(q, &copy, 1, trainium_copy_deadline(q, copy->length), true);
	if (err == -ETIME || err == -ECANCELED)
		err = trainium_copies_run(q, &copy, 1, trainium_copy_deadline(q, copy->length),
					  true);
	return err;
}

/**
 * trainium_copy_zero() - clear a range of HBM.
 * @tdev: device; the caller is inside drm_dev_enter()
 * @hbm: range, in nobody else's use
 *
 * Return: 0 or the errors of trainium_copies_run(); killable.
 */
int trainium_copy_zero(struct trainium_device *tdev, const struct trainium_hbm *hbm)
{
	struct trainium_copyq *q = trainium_copyq_of_stack(tdev, hbm->stack);
	struct trainium_seg zero = {
		.addr = trnhw_host_address(&tdev->hw, tdev->consts_dma +
					   offsetof(struct trainium_consts, zero)),
		.size = TRAINIUM_ZERO_BYTES,
	};
	struct trainium_seg range = { .addr = hbm->addr, .size = hbm->size };
	struct trainium_copy copy = {
		.src = { .segs = &zero, .seg_count = 1, .repeat = TRAINIUM_ZERO_BYTES },
		.dst = { .segs = &range, .seg_count = 1 },
		.length = hbm->size,
	};

	return trainium_copy_retry(q, &copy);
}

/**
 * trainium_copy_upload() - write kernel data to a range of HBM.
 * @tdev: device; the caller is inside drm_dev_enter()
 * @hbm: range
 * @offset: where in @hbm
 * @data: source, any kernel memory
 * @size: bytes
 *
 * Return: 0, -ENOMEM, or the errors of trainium_copies_run(); killable.
 */
int trainium_copy_upload(struct trainium_device *tdev, const struct trainium_hbm *hbm, u64 offset,
			 const void *data, u64 size)
{
	struct trainium_copyq *q = trainium_copyq_of_stack(tdev, hbm->stack);
	size_t bytes = min_t(u64, PAGE_ALIGN(size), TRAINIUM_UPLOAD_BYTES);
	struct trainium_seg range = { .addr = hbm->addr, .size = hbm->size };
	struct trainium_seg stage = { .size = bytes };
	struct trainium_copy copy = {
		.src = { .segs = &stage, .seg_count = 1 },
		.dst = { .segs = &range, .seg_count = 1, .offset = offset },
	};
	dma_addr_t dma;
	void *buf;
	int err = 0;

	buf = dma_alloc_coherent(tdev->drm.dev, bytes, &dma, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	stage.addr = trnhw_host_address(&tdev->hw, dma);
	while (size && !err) {
		copy.length = min_t(u64, size, bytes);
		memcpy(buf, data, copy.length);
		err = trainium_copy_retry(q, &copy);
		copy.dst.offset += copy.length;
		data += copy.length;
		size -= copy.length;
	}
	dma_free_coherent(tdev->drm.dev, bytes, buf, dma);
	return err;
}

/**
 * trainium_copy_pattern() - make the source of a fill.
 * @tdev: device
 * @copy: its source is set; freed by trainium_copy_fini()
 * @pattern: 32-bit value to repeat; 0 uses memory of the device
 *
 * Return: 0 or -ENOMEM.
 */
int trainium_copy_pattern(struct trainium_device *tdev, struct trainium_copy *copy, u32 pattern)
{
	dma_addr_t dma = tdev->consts_dma + offsetof(struct trainium_consts, zero);
	u32 bytes = TRAINIUM_ZERO_BYTES;

	if (pattern) {
		bytes = TRAINIUM_PATTERN_BYTES;
		copy->pattern = dma_alloc_coherent(tdev->drm.dev, bytes, &copy->pattern_dma,
						   GFP_KERNEL);
		if (!copy->pattern)
			return -ENOMEM;
		memset32(copy->pattern, pattern, bytes / 4);
		dma = copy->pattern_dma;
	}
	copy->pattern_seg.addr = trnhw_host_address(&tdev->hw, dma);
	copy->pattern_seg.size = bytes;
	copy->src.segs = &copy->pattern_seg;
	copy->src.seg_count = 1;
	copy->src.repeat = bytes;
	return 0;
}

/** trainium_copy_fini() - drop what a copy holds; no transfer of it is in flight. */
void trainium_copy_fini(struct trainium_device *tdev, struct trainium_copy *copy)
{
	if (copy->pattern)
		dma_free_coherent(tdev->drm.dev, TRAINIUM_PATTERN_BYTES, copy->pattern,
				  copy->pattern_dma);
	if (copy->pin)
		trainium_pin_destroy(tdev, copy->pin);
	trainium_bo_put(copy->src_bo);
	trainium_bo_put(copy->dst_bo);
}
