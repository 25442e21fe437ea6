// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies and fills: consecutive ones of a job become one batch of descriptors on a host copy queue.
 * User memory is mapped for the device while its batch is under way: no bounce buffer.
 *
 * Locking: a batch belongs to its context's worker; trn_emu_copyq.lock is held while one is carried
 * out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"

#define ZERO_TIMEOUT_NS 60000000000ll

int trn_emu_copyq_reset(struct trn_emu *emu, struct trn_emu_copyq *copyq)
{
	int error;

	pthread_mutex_lock(&emu->abort_lock);
	error = trnhw_copyq_reset(&copyq->hw);
	pthread_mutex_unlock(&emu->abort_lock);
	return error;
}

/* What a copy that did not end is about; the queue is usable again afterwards. The lock of the
 * queue is held. */
static int copyq_failed(struct trn_emu *emu, struct trn_emu_copyq *copyq, int error)
{
	int reset = trn_emu_copyq_reset(emu, copyq);

	return reset ? reset : error;
}

/* What there is to say about a batch that has not ended: 0 wait on, or its error. */
static int copyq_look(struct trn_emu *emu, struct trn_emu_copyq *copyq, int64_t deadline)
{
	int state = trnhw_udma_state(&emu->hw, copyq->hw.engine);

	if (state < 0)
		return state;
	/* Lost: another core's queue on the same engine was faster to end the abort. */
	if (state == TRNHW_UDMA_ABORT || trnhw_copyq_lost(&copyq->hw))
		return copyq_failed(emu, copyq, -EIO);
	return trn_emu_now() >= deadline ? copyq_failed(emu, copyq, -ETIME) : 0;
}

/* Carry out one batch and wait for its end. */
static int copyq_run(struct trn_emu *emu, struct trn_emu_copyq *copyq,
		     const struct trnhw_xfer *xfers, uint32_t count, int64_t deadline)
{
	struct trn_emu_irq *irq = &emu->irqs[copyq->vector];
	uint64_t number = 0, seen;
	int error = 0;

	pthread_mutex_lock(&copyq->lock);
	seen = trn_emu_irq_count(irq);
	if (trnhw_copyq_lost(&copyq->hw))
		error = trn_emu_copyq_reset(emu, copyq);
	if (!error)
		error = trnhw_copyq_submit(&copyq->hw, xfers, count, true, &number);
	while (!error && trnhw_copyq_poll(&copyq->hw) < number) {
		trn_emu_irq_wait(emu, copyq->vector, seen, deadline);
		seen = trn_emu_irq_count(irq);
		if (trnhw_copyq_poll(&copyq->hw) >= number)
			break;
		error = copyq_look(emu, copyq, deadline);
	}
	pthread_mutex_unlock(&copyq->lock);
	return error;
}

void trn_emu_batch_drop(struct trn_emu_ctx *ctx)
{
	struct trn_emu_batch *batch = ctx->batch;

	while (batch->map_count)
		emu_inproc_unmap(ctx->emu->inproc, batch->maps[--batch->map_count]);
	batch->count = 0;
}

int trn_emu_batch_flush(struct trn_emu_ctx *ctx, int64_t deadline)
{
	struct trn_emu_batch *batch = ctx->batch;
	int error = 0;

	if (batch->count)
		error = copyq_run(ctx->emu, ctx->copyq, batch->xfers, batch->count, deadline);
	trn_emu_batch_drop(ctx);
	return error;
}

/*
 * Transfers for [@src, @src + @bytes) to @dst. With @repeat the source is that many bytes, used
 * again and again. The last one is a barrier: the next command may read what this one wrote. A full
 * batch is carried out, but its mappings stay until the command is through.
 */
static int span_add(struct trn_emu_ctx *ctx, uint64_t src, uint64_t dst, uint64_t bytes,
		    uint64_t repeat, int64_t deadline)
{
	struct trn_emu_batch *batch = ctx->batch;
	struct trnhw_xfer *xfer;
	int error;

	while (bytes) {
		uint32_t part = bytes < TRN_DESC_MAX_BYTES ? bytes : TRN_DESC_MAX_BYTES;

		if (batch->count == TRNHW_COPYQ_BATCH) {
			error = copyq_run(ctx->emu, ctx->copyq, batch->xfers, batch->count,
					  deadline);
			batch->count = 0;
			if (error)
				return error;
		}
		if (repeat && part > repeat)
			part = repeat;
		xfer = &batch->xfers[batch->count++];
		xfer->src = src;
		xfer->dst = dst;
		xfer->len = part;
		xfer->flags = part == bytes ? TRNHW_XFER_BARRIER : 0;
		if (!repeat)
			src += part;
		dst += part;
		bytes -= part;
	}
	return 0;
}

/* Device address of one side of a copy: a buffer's, or user memory mapped until the batch is done.
 */
static int side_address(struct trn_emu_ctx *ctx, const struct trn_emu_bo *bo, uint64_t offset,
			uint64_t bytes, bool written, uint64_t *address)
{
	struct trn_emu_batch *batch = ctx->batch;
	uint64_t bus;
	int error;

	if (bo) {
		*address = bo->address + offset;
		return 0;
	}
	error = emu_inproc_map(ctx->emu->inproc, (void *)(uintptr_t)offset, bytes, written, &bus);
	if (error)
		return error;
	batch->maps[batch->map_count++] = bus;
	*address = trnhw_host_address(&ctx->emu->hw, bus);
	return *address ? 0 : -EIO;
}

int trn_emu_copy(struct trn_emu_ctx *ctx, const struct trn_emu_cmd *cmd, int64_t deadline)
{
	const struct drm_trainium_cmd_copy *copy = &cmd->cmd.copy;
	uint64_t src = 0, dst = 0;
	int error = 0;

	if (ctx->batch->map_count + 2 > TRN_EMU_MAPS_MAX)
		error = trn_emu_batch_flush(ctx, deadline);
	if (!error)
		error = side_address(ctx, cmd->src, copy->src_offset, copy->length, false, &src);
	if (!error)
		error = side_address(ctx, cmd->dst, copy->dst_offset, copy->length, true, &dst);
	return error ? error : span_add(ctx, src, dst, copy->length, 0, deadline);
}

int trn_emu_fill(struct trn_emu_ctx *ctx, const struct trn_emu_cmd *cmd, int64_t deadline)
{
	const struct drm_trainium_cmd_fill *fill = &cmd->cmd.fill;
	struct trn_emu_batch *batch = ctx->batch;
	unsigned int i;
	int error;

	if (!batch->fill.ptr) {
		error = trn_emu_mem_alloc(ctx->emu, TRN_EMU_FILL_BYTES, &batch->fill);
		if (error)
			return error;
	}
	if (!batch->pattern_valid || batch->pattern != fill->pattern) {
		/* The batch may hold fills with the pattern of before. */
		error = trn_emu_batch_flush(ctx, deadline);
		if (error)
			return error;
		for (i = 0; i < TRN_EMU_FILL_BYTES / 4; i++)
			((uint32_t *)batch->fill.ptr)[i] = fill->pattern;
		batch->pattern = fill->pattern;
		batch->pattern_valid = true;
	}
	return span_add(ctx, batch->fill.address, cmd->dst->address + fill->offset, fill->length,
			TRN_EMU_FILL_BYTES, deadline);
}

int trn_emu_hbm_zero(struct trn_emu *emu, uint64_t address, uint64_t bytes)
{
	int64_t deadline = trn_emu_now() + ZERO_TIMEOUT_NS;
	struct trn_emu_mem zero;
	struct trnhw_xfer *xfers;
	uint32_t count;
	int error;

	xfers = calloc(TRNHW_COPYQ_BATCH, sizeof(*xfers));
	if (!xfers)
		return -ENOMEM;
	error = trn_emu_mem_alloc(emu, TRN_EMU_FILL_BYTES, &zero);
	while (!error && bytes) {
		for (count = 0; count < TRNHW_COPYQ_BATCH && bytes; count++) {
			uint32_t part = bytes < TRN_EMU_FILL_BYTES ? bytes : TRN_EMU_FILL_BYTES;

			xfers[count].src = zero.address;
			xfers[count].dst = address;
			xfers[count].len = part;
			address += part;
			bytes -= part;
		}
		error = copyq_run(emu, &emu->copyqs[0], xfers, count, deadline);
	}
	if (zero.ptr)
		trn_emu_mem_free(emu, &zero);
	free(xfers);
	return error;
}
