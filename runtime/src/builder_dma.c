// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builder: transfer groups.
 *
 * A group's descriptors are dealt to up to 16 DMA engines; on each the group's segment of the ring
 * ends with a semaphore increment behind a write barrier. Groups take turns on a few semaphores
 * (lanes): a lane is used again only by a group whose trigger knows that the lane's previous group
 * is complete, so a count on a lane always means that one group, although the engines run at
 * different speeds.
 *
 * A ring is consumed in order, whoever rings its doorbell. Each engine that starts transfers
 * therefore has rings of its own, on the queue of its number: only then is the order of the
 * triggers the order of the ring.
 */
#include <stdlib.h>
#include "builder_priv.h"

#define ROW_MAX 65536u

static bool ranges_meet(uint64_t a, uint64_t an, uint64_t b, uint64_t bn)
{
	return a < b + bn && b < a + an;
}

/* Two accesses of one tensor: exact when both walk the same grid of rows, else by their hulls. */
static bool hbm_overlap(const struct trn_build_hbm *a, const struct trn_build_hbm *b)
{
	uint64_t a_span = (a->rows - 1) * a->step + a->bytes;
	uint64_t b_span = (b->rows - 1) * b->step + b->bytes;

	if (!ranges_meet(a->offset, a_span, b->offset, b_span))
		return false;
	if (a->step != b->step || !a->step || a->offset % a->step + a->bytes > a->step ||
	    b->offset % b->step + b->bytes > b->step)
		return true;
	return ranges_meet(a->offset % a->step, a->bytes, b->offset % b->step, b->bytes);
}

static void hbm_collect(struct trn_builder *b, unsigned int engine, int tensor,
			const struct trn_build_hbm *access, struct trn_build_deps *deps)
{
	const struct trn_build_tensor *t = &b->tensors[tensor];
	struct trn_build_ref ref = { 0, 0, 0 };
	uint32_t i;

	if (!access->write && !t->writes)
		return;
	for (i = 0; i < t->count; i++) {
		if ((!access->write && !t->access[i].write) || !hbm_overlap(access, &t->access[i]))
			continue;
		ref.group = t->access[i].group;
		trn_build_need(b, engine, deps, ref);
	}
}

/* A write of everything an earlier access touched stands for it: later users wait for the write. */
static void hbm_record(struct trn_builder *b, int tensor, const struct trn_build_hbm *access)
{
	struct trn_build_tensor *t = &b->tensors[tensor];
	uint64_t span = (access->rows - 1) * access->step + access->bytes;
	bool solid = access->rows == 1 || access->step == access->bytes;
	uint32_t i, kept = 0;

	for (i = 0; access->write && solid && i < t->count; i++) {
		const struct trn_build_hbm *old = &t->access[i];

		if (old->offset >= access->offset &&
		    old->offset + (old->rows - 1) * old->step + old->bytes <=
			    access->offset + span) {
			t->writes -= old->write;
			continue;
		}
		t->access[kept++] = *old;
	}
	if (access->write && solid)
		t->count = kept;
	t->writes += access->write;
	if (trn_build_grow(b, (void **)&t->access, &t->capacity, t->count, sizeof(*t->access)))
		t->access[t->count++] = *access;
}

static bool transfer_check(struct trn_builder *b, const struct trn_builder_dma *x)
{
	const struct trn_tnx_tensor *t;
	uint64_t rows, end;

	if (x->tensor < 0 || (uint32_t)x->tensor >= b->tensor_count) {
		trn_build_fail(b, TRN_ERR_INVALID, "transfer names tensor %d, there are %u",
			       x->tensor, b->tensor_count);
		return false;
	}
	t = &b->tensors[x->tensor].info;
	if (!x->bytes || !x->partitions ||
	    x->partition + (uint64_t)x->partitions > TRN_PARTITIONS ||
	    x->sbuf_offset + (uint64_t)x->bytes > trn_tnx_sbuf_bytes(b->generation)) {
		trn_build_fail(b, TRN_ERR_INVALID,
			       "transfer of tensor \"%s\": partitions %u..+%u, bytes %u..+%u leave "
			       "SBUF (128 x %u bytes)",
			       t->name, x->partition, x->partitions, x->sbuf_offset, x->bytes,
			       trn_tnx_sbuf_bytes(b->generation));
		return false;
	}
	if (x->tensor_step < 0 || (!x->tensor_step && x->partitions > 1 && !x->to_sbuf) ||
	    (!x->to_sbuf && x->partitions > 1 && (uint64_t)x->tensor_step < x->bytes)) {
		trn_build_fail(b, TRN_ERR_INVALID,
			       "transfer of tensor \"%s\": rows %lld bytes apart; a step is not "
			       "negative, and rows written must not overlap",
			       t->name, (long long)x->tensor_step);
		return false;
	}
	rows = x->partitions - 1;
	if (__builtin_mul_overflow(rows, (uint64_t)x->tensor_step, &end) ||
	    __builtin_add_overflow(end, x->tensor_offset, &end) ||
	    __builtin_add_overflow(end, x->bytes, &end) || end > t->bytes) {
		trn_build_fail(b, TRN_ERR_INVALID,
			       "transfer ends %llu bytes into tensor \"%s\", which has %llu",
			       (unsigned long long)end, t->name, (unsigned long long)t->bytes);
		return false;
	}
	if (!x->to_sbuf && t->kind == TRN_TENSOR_CONSTANT) {
		trn_build_fail(b, TRN_ERR_INVALID, "constant \"%s\" cannot be written", t->name);
		return false;
	}
	return true;
}

static void transfer_access(const struct trn_builder_dma *x, struct trn_build_access *chip,
			    struct trn_build_hbm *hbm)
{
	memset(chip, 0, sizeof(*chip));
	chip->mem = TRN_MEM_SBUF;
	chip->partition = (uint8_t)x->partition;
	chip->partitions = (uint8_t)x->partitions;
	chip->write = x->to_sbuf;
	chip->start = x->sbuf_offset;
	chip->end = x->sbuf_offset + x->bytes;
	memset(hbm, 0, sizeof(*hbm));
	hbm->write = !x->to_sbuf;
	hbm->offset = x->tensor_offset;
	hbm->step = (uint64_t)x->tensor_step;
	hbm->rows = x->partitions;
	hbm->bytes = x->bytes;
}

/** struct deal - descriptors of a group being dealt to DMA engines. */
struct deal {
	struct trn_builder *builder;
	uint64_t total; /* descriptors */
	uint64_t next;
	unsigned int queue; /* number of the triggering engine */
	unsigned int engines;
	uint32_t count[TRN_TNX_DMA_ENGINES];
};

static bool ring_push(struct trn_builder *b, unsigned int queue, unsigned int engine,
		      const struct trn_tnx_xfer *xfer)
{
	struct trn_build_ring *r = &b->ring[queue][engine];

	if (r->count >= TRN_TNX_XFERS_MAX - 64) {
		trn_build_fail(b, TRN_ERR_INVALID, "more than %u transfers on DMA engine %u",
			       TRN_TNX_XFERS_MAX - 64, engine);
		return false;
	}
	if (!trn_build_grow(b, (void **)&r->xfers, &r->capacity, r->count, sizeof(*r->xfers)))
		return false;
	r->xfers[r->count++] = *xfer;
	r->used = true;
	return true;
}

static void deal_push(struct deal *d, const struct trn_tnx_xfer *xfer)
{
	unsigned int engine = (unsigned int)(d->next++ * d->engines / d->total);

	if (ring_push(d->builder, d->queue, engine, xfer))
		d->count[engine]++;
}

static void deal_transfer(struct deal *d, const struct trn_builder_dma *x)
{
	uint32_t row, at, bytes;

	for (row = 0; row < x->partitions; row++) {
		for (at = 0; at < x->bytes && !d->builder->status; at += bytes) {
			uint64_t chip = (uint64_t)(x->partition + row) * TRN_SBUF_PARTITION_STRIDE +
					x->sbuf_offset + at;
			uint64_t hbm = x->tensor_offset + row * (uint64_t)x->tensor_step + at;
			struct trn_tnx_xfer xfer = { 0 };

			bytes = x->bytes - at < ROW_MAX ? x->bytes - at : ROW_MAX;
			xfer.length = bytes;
			xfer.src_kind = x->to_sbuf ? TRN_TNX_REF_TENSOR : TRN_TNX_REF_SBUF;
			xfer.dst_kind = x->to_sbuf ? TRN_TNX_REF_SBUF : TRN_TNX_REF_TENSOR;
			xfer.src_tensor = x->to_sbuf ? (uint32_t)x->tensor : 0;
			xfer.dst_tensor = x->to_sbuf ? 0 : (uint32_t)x->tensor;
			xfer.src_offset = x->to_sbuf ? hbm : chip;
			xfer.dst_offset = x->to_sbuf ? chip : hbm;
			deal_push(d, &xfer);
		}
	}
}

/* How many engines are worth their semaphore write and doorbell. */
static unsigned int deal_engines(uint64_t descriptors, uint64_t bytes)
{
	uint64_t n = (descriptors + 7) / 8, m = (bytes + ROW_MAX - 1) / ROW_MAX;

	if (n < m)
		n = m;
	if (n > descriptors)
		n = descriptors;
	return n < TRN_TNX_DMA_ENGINES ? (unsigned int)n : TRN_TNX_DMA_ENGINES;
}

/*
 * A lane whose last group the triggering engine knows complete; else the next in turn, which it
 * then waits for.
 */
static uint32_t lane_choose(struct trn_builder *b, unsigned int engine, struct trn_build_deps *deps)
{
	struct trn_build_ref ref = { 0, 0, 0 };
	uint32_t i, lane;

	for (i = 0; i < TRN_BUILD_LANES; i++) {
		lane = (b->next_lane + i) % TRN_BUILD_LANES;
		if (!b->lane[lane].group || trn_build_known(b, engine, b->lane[lane].group)) {
			b->next_lane = lane + 1;
			return lane;
		}
	}
	lane = b->next_lane++ % TRN_BUILD_LANES;
	ref.group = b->lane[lane].group;
	trn_build_need(b, engine, deps, ref);
	return lane;
}

/* Semaphore increments behind the data, then the triggers, the first of which carries the waits. */
static void group_trigger(struct deal *d, struct trn_build_deps *deps)
{
	struct trn_builder *b = d->builder;
	unsigned int engine = d->queue;
	struct trn_insn insn = { .opcode = TRN_OP_DMA_TRIGGER, .engine = (uint8_t)engine };
	struct trn_build_group *g;
	struct trn_build_ring *ring = b->ring[engine];
	struct trn_tnx_xfer inc = { 0 };
	uint32_t lane = lane_choose(b, engine, deps), e, k, left = 0;

	if (!trn_build_grow(b, (void **)&b->groups, &b->group_capacity, b->group_count, sizeof(*g)))
		return;
	inc.dst_kind = TRN_TNX_REF_SEM_INC;
	inc.dst_offset = TRN_BUILD_SEM_LANE + lane;
	inc.length = 4;
	inc.flags = TRN_TNX_XFER_BARRIER;
	for (e = 0; e < TRN_TNX_DMA_ENGINES; e++) {
		if (!d->count[e])
			continue;
		/*
		 * Both forms of a barrier: data before it is written, and it waits for what is
		 * before it.
		 */
		ring[e].xfers[ring[e].count - 1].flags |= TRN_TNX_XFER_BARRIER;
		if (!ring_push(b, engine, e, &inc))
			return;
		d->count[e]++;
		left |= 1u << e;
		b->lane[lane].issued++;
	}
	for (e = 0; left && !b->status; e++) {
		if (!(left & 1u << e))
			continue;
		insn.c0 = d->count[e];
		insn.c1 = engine;
		insn.trigger.engine_mask = 0;
		for (k = e; k < TRN_TNX_DMA_ENGINES; k++) {
			if ((left & 1u << k) && d->count[k] == d->count[e])
				insn.trigger.engine_mask |= 1u << k;
		}
		left &= ~insn.trigger.engine_mask;
		trn_build_wait(b, engine, deps, &insn);
		memset(deps, 0, sizeof(*deps));
	}
	g = &b->groups[b->group_count++];
	g->lane = lane;
	g->target = b->lane[lane].issued;
	g->clock = b->stream[engine].clock;
	g->clock.engine[engine] = b->stream[engine].count;
	b->lane[lane].group = b->group_count;
}

int trn_builder_dma(struct trn_builder *builder, enum trn_engine engine,
		    const struct trn_builder_dma *transfers, size_t count)
{
	struct trn_build_deps deps = { .transfer = true };
	struct trn_build_ref ref = { 0, 0, 0 };
	struct trn_build_access chip;
	struct trn_build_hbm hbm;
	struct deal deal = { .builder = builder, .queue = engine };
	uint64_t bytes = 0;
	size_t i;

	if (!builder || builder->status)
		return -1;
	if (engine == TRN_ENGINE_NONE || engine == 4 || engine >= TRN_ENGINE_CC) {
		trn_build_fail(builder, TRN_ERR_INVALID,
			       "transfer started by engine %u, which does not exist", engine);
		return -1;
	}
	if (!count)
		return 0;
	if (!transfers) {
		trn_build_fail(builder, TRN_ERR_INVALID, "%zu transfers without a list (NULL)",
			       count);
		return -1;
	}
	for (i = 0; i < count; i++) {
		if (!transfer_check(builder, &transfers[i]))
			return -1;
		transfer_access(&transfers[i], &chip, &hbm);
		trn_build_map_collect(builder, engine, &chip, &deps);
		hbm_collect(builder, engine, transfers[i].tensor, &hbm, &deps);
		deal.total += (uint64_t)transfers[i].partitions *
			      ((transfers[i].bytes + ROW_MAX - 1) / ROW_MAX);
		bytes += (uint64_t)transfers[i].partitions * transfers[i].bytes;
	}
	deal.engines = deal_engines(deal.total, bytes);
	for (i = 0; i < count; i++)
		deal_transfer(&deal, &transfers[i]);
	if (!builder || builder->status)
		return -1;
	group_trigger(&deal, &deps);
	ref.group = builder->group_count;
	for (i = 0; i < count && !builder->status; i++) {
		transfer_access(&transfers[i], &chip, &hbm);
		hbm.group = ref.group;
		trn_build_map_record(builder, &chip, ref);
		hbm_record(builder, transfers[i].tensor, &hbm);
	}
	return builder->status ? -1 : 0;
}

struct trn_builder_dma trn_builder_dma_view(int tensor, uint64_t tensor_offset, int64_t tensor_step,
					    struct trn_view view, bool to_sbuf)
{
	struct trn_builder_dma x;

	memset(&x, 0, sizeof(x));
	x.tensor = tensor;
	x.tensor_offset = tensor_offset;
	x.tensor_step = tensor_step;
	x.partition = view.partition;
	x.partitions = view.partitions;
	x.sbuf_offset = view.offset;
	/*
	 * Only contiguous SBUF bytes can be named; anything else yields 0 bytes, which is refused.
	 */
	if (view.mem == TRN_MEM_SBUF && view.ndim == 1 &&
	    (view.dim[0].step == 1 || view.dim[0].count == 1))
		x.bytes = view.dim[0].count * trn_dtype_bytes(view.dtype);
	x.to_sbuf = to_sbuf;
	return x;
}

void trn_builder_load(struct trn_builder *builder, struct trn_view dst, int tensor,
		      uint64_t tensor_offset, int64_t tensor_step)
{
	struct trn_builder_dma x =
		trn_builder_dma_view(tensor, tensor_offset, tensor_step, dst, true);

	trn_builder_dma(builder, TRN_ENGINE_SP, &x, 1);
}

void trn_builder_store(struct trn_builder *builder, int tensor, uint64_t tensor_offset,
		       int64_t tensor_step, struct trn_view src)
{
	struct trn_builder_dma x =
		trn_builder_dma_view(tensor, tensor_offset, tensor_step, src, false);

	trn_builder_dma(builder, TRN_ENGINE_SP, &x, 1);
}

static bool copy_check(struct trn_builder *b, const char *what, int tensor, uint64_t offset,
		       uint64_t bytes, bool write)
{
	const struct trn_tnx_tensor *t;

	if (tensor < 0 || (uint32_t)tensor >= b->tensor_count) {
		trn_build_fail(b, TRN_ERR_INVALID, "copy %s tensor %d, there are %u", what, tensor,
			       b->tensor_count);
		return false;
	}
	t = &b->tensors[tensor].info;
	if (!bytes || offset > t->bytes || bytes > t->bytes - offset ||
	    (write && t->kind == TRN_TENSOR_CONSTANT)) {
		trn_build_fail(b, TRN_ERR_INVALID,
			       "copy %s tensor \"%s\": bytes %llu..+%llu of %llu%s", what, t->name,
			       (unsigned long long)offset, (unsigned long long)bytes,
			       (unsigned long long)t->bytes,
			       t->kind == TRN_TENSOR_CONSTANT ? ", a constant" : "");
		return false;
	}
	return true;
}

void trn_builder_copy(struct trn_builder *builder, int dst, uint64_t dst_offset, int src,
		      uint64_t src_offset, uint64_t bytes)
{
	struct trn_build_deps deps = { .transfer = true };
	struct trn_build_hbm from = { 0, false, src_offset, 0, 1, bytes };
	struct trn_build_hbm to = { 0, true, dst_offset, 0, 1, bytes };
	struct deal deal = { .builder = builder, .queue = TRN_ENGINE_SP };
	uint64_t at, n;

	if (!builder || builder->status ||
	    !copy_check(builder, "from", src, src_offset, bytes, false) ||
	    !copy_check(builder, "to", dst, dst_offset, bytes, true))
		return;
	hbm_collect(builder, TRN_ENGINE_SP, src, &from, &deps);
	hbm_collect(builder, TRN_ENGINE_SP, dst, &to, &deps);
	deal.total = (bytes + ROW_MAX - 1) / ROW_MAX;
	deal.engines = deal_engines(deal.total, bytes);
	for (at = 0; at < bytes && !builder->status; at += n) {
		struct trn_tnx_xfer xfer = { 0 };

		n = bytes - at < ROW_MAX ? bytes - at : ROW_MAX;
		xfer.length = (uint32_t)n;
		xfer.src_tensor = (uint32_t)src;
		xfer.dst_tensor = (uint32_t)dst;
		xfer.src_offset = src_offset + at;
		xfer.dst_offset = dst_offset + at;
		deal_push(&deal, &xfer);
	}
	if (!builder || builder->status)
		return;
	group_trigger(&deal, &deps);
	from.group = to.group = builder->group_count;
	hbm_record(builder, src, &from);
	hbm_record(builder, dst, &to);
}
