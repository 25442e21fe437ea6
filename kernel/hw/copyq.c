// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Host copy queue: batches of transfers on a kernel-owned ring, each closed by a marker, a 4-byte
 * host-to-host copy whose destination tells that everything before it is done.
 *
 * The device may write the marker destinations at will; a wrong value there can end a batch too
 * early or never, and has no other effect. All bookkeeping is in memory it cannot reach.
 */
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "internal.h"

#define COPYQ_RING_BYTES	(TRNHW_COPYQ_DESCS * TRN_DESC_SIZE)
#define COPYQ_MARKER_BYTES	(TRNHW_COPYQ_INFLIGHT * sizeof(struct trnhw_copyq_marker))

static bool copyq_reachable(const struct trnhw *hw, dma_addr_t bus, size_t size)
{
	return trnhw_host_address(hw, bus) && trnhw_host_address(hw, bus + size - 1);
}

static void copyq_free(struct trnhw_copyq *q)
{
	struct device *dev = q->hw->dev;

	if (q->m2s)
		dma_free_coherent(dev, COPYQ_RING_BYTES, q->m2s, q->m2s_dma);
	if (q->s2m)
		dma_free_coherent(dev, COPYQ_RING_BYTES, q->s2m, q->s2m_dma);
	if (q->marker)
		dma_free_coherent(dev, COPYQ_MARKER_BYTES, q->marker, q->marker_dma);
	q->m2s = NULL;
	q->s2m = NULL;
	q->marker = NULL;
}

/* Programs the queue; the ring begins again at descriptor 0. */
static int copyq_program(struct trnhw_copyq *q)
{
	const struct trnhw_queue_rings rings = {
		.m2s = trnhw_host_address(q->hw, q->m2s_dma),
		.s2m = trnhw_host_address(q->hw, q->s2m_dma),
		.m2s_count = TRNHW_COPYQ_DESCS,
		.s2m_count = TRNHW_COPYQ_DESCS,
	};

	/* Before the queue: a recovery of the engine from here on may take the ring away again. */
	q->recovered = READ_ONCE(q->hw->engine_recovered[q->engine]);
	q->next = 0;
	q->done = 0;
	q->completed = q->issued;
	return trnhw_udma_queue_init(q->hw, q->engine, q->queue, &rings);
}

int trnhw_copyq_init(struct trnhw_copyq *q, struct trnhw *hw, unsigned int core)
{
	struct device *dev = hw->dev;
	int ret;

	/* A ring id is derived from the free-running index, which wraps at 2^32. */
	BUILD_BUG_ON(TRNHW_COPYQ_DESCS & (TRNHW_COPYQ_DESCS - 1));
	BUILD_BUG_ON(TRNHW_COPYQ_BATCH + 1 + TRNHW_COPYQ_GAP > TRNHW_COPYQ_DESCS);
	BUILD_BUG_ON(TRNHW_COPYQ_INFLIGHT & (TRNHW_COPYQ_INFLIGHT - 1));

	memset(q, 0, sizeof(*q));
	if (core >= hw->arch->cores)
		return -EINVAL;
	q->hw = hw;
	q->engine = hw->arch->h2t_engine(core);
	q->queue = hw->arch->h2t_queue(core);
	q->m2s = dma_alloc_coherent(dev, COPYQ_RING_BYTES, &q->m2s_dma, GFP_KERNEL);
	q->s2m = dma_alloc_coherent(dev, COPYQ_RING_BYTES, &q->s2m_dma, GFP_KERNEL);
	q->marker = dma_alloc_coherent(dev, COPYQ_MARKER_BYTES, &q->marker_dma, GFP_KERNEL);
	if (!q->m2s || !q->s2m || !q->marker) {
		ret = -ENOMEM;
		goto err_free;
	}
	if (!copyq_reachable(hw, q->m2s_dma, COPYQ_RING_BYTES) ||
	    !copyq_reachable(hw, q->s2m_dma, COPYQ_RING_BYTES) ||
	    !copyq_reachable(hw, q->marker_dma, COPYQ_MARKER_BYTES)) {
		dev_err(dev, "copy ring of core %u at bus address %#llx is out of reach\n", core,
			(unsigned long long)q->m2s_dma);
		ret = -EIO;
		goto err_free;
	}
	ret = copyq_program(q);
	if (ret)
		goto err_free;
	return 0;

err_free:
	copyq_free(q);
	return ret;
}

void trnhw_copyq_fini(struct trnhw_copyq *q)
{
	if (!q->m2s)
		return;
	trnhw_udma_queue_stop(q->hw, q->engine, q->queue);
	copyq_free(q);
}

static void copyq_put(struct trnhw_copyq *q, const struct trnhw_xfer *xfer)
{
	u32 slot = q->next % TRNHW_COPYQ_DESCS;
	unsigned int ring_id = TRN_RING_FIRST_ID + q->next / TRNHW_COPYQ_DESCS;

	trnhw_desc_encode(xfer, ring_id, &q->m2s[slot], &q->s2m[slot]);
	q->next++;
}

static void copyq_put_marker(struct trnhw_copyq *q, u64 batch, bool interrupt)
{
	u32 slot = batch % TRNHW_COPYQ_INFLIGHT;
	dma_addr_t bus = q->marker_dma + slot * sizeof(*q->marker);
	const struct trnhw_xfer xfer = {
		.src = trnhw_host_address(q->hw, bus),
		.dst = trnhw_host_address(q->hw, bus + sizeof(u32)),
		.len = sizeof(u32),
		.flags = interrupt ? TRNHW_XFER_INTERRUPT : 0,
	};

	/*
	 * The destination still holds an older batch number of this slot, never this one: no need
	 * to clear it, and a marker of a batch lost in a reset cannot be taken for this.
	 */
	WRITE_ONCE(q->marker[slot].src, trnhw_to_wire32(lower_32_bits(batch)));
	copyq_put(q, &xfer);
}

int trnhw_copyq_submit(struct trnhw_copyq *q, const struct trnhw_xfer *xfers, u32 count,
		       bool interrupt, u64 *batch)
{
	struct trnhw_xfer last;
	u32 i;

	if (!count || count > TRNHW_COPYQ_BATCH)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		if (!xfers[i].len || xfers[i].len > TRN_DESC_MAX_BYTES ||
		    (xfers[i].flags & ~TRNHW_XFER_BARRIER))
			return -EINVAL;
	}
	if (TRNHW_COPYQ_DESCS - (q->next - q->done) < count + 1 + TRNHW_COPYQ_GAP ||
	    q->issued - q->completed >= TRNHW_COPYQ_INFLIGHT)
		return -EAGAIN;

	for (i = 0; i + 1 < count; i++)
		copyq_put(q, &xfers[i]);
	last = xfers[i];
	last.flags |= TRNHW_XFER_BARRIER;
	copyq_put(q, &last);

	q->issued++;
	q->descs[q->issued % TRNHW_COPYQ_INFLIGHT] = count + 1;
	copyq_put_marker(q, q->issued, interrupt && (q->hw->features & TRN_FEATURE_MSIX));
	trnhw_udma_queue_ring(q->hw, q->engine, q->queue, count + 1);
	*batch = q->issued;
	return 0;
}

bool trnhw_copyq_lost(const struct trnhw_copyq *q)
{
	return READ_ONCE(q->hw->engine_recovered[q->engine]) != q->recovered;
}

u64 trnhw_copyq_poll(struct trnhw_copyq *q)
{
	while (q->completed != q->issued) {
		u64 batch = q->completed + 1;
		u32 slot = batch % TRNHW_COPYQ_INFLIGHT;

		if (trnhw_from_wire32(READ_ONCE(q->marker[slot].dst)) != lower_32_bits(batch))
			break;
		q->done += q->descs[slot];
		q->completed = batch;
	}
	dma_rmb();	/* data of the batches is read after their markers */
	return q->completed;
}

/* E, then a hundred times (100 E - (E - slack)) microseconds of polling. */
u64 trnhw_copyq_budget_us(const struct trnhw_copyq *q, u32 count)
{
	u64 estimate = (u64)q->hw->arch->dma_timeout_us_per_desc * (count ? count : 1);

	return (100 * estimate - (estimate - q->hw->arch->dma_timeout_slack_us)) * 100;
}

int trnhw_copyq_reset(struct trnhw_copyq *q)
{
	int state = trnhw_udma_state(q->hw, q->engine);

	if (state == TRNHW_UDMA_ABORT) {
		trnhw_udma_recover(q->hw, q->engine);
		state = trnhw_udma_state(q->hw, q->engine);
	}
	if (state < 0)
		return state;
	if (state == TRNHW_UDMA_ABORT) {
		dev_err(q->hw->dev, "copy engine %u stays in abort: reset the device\n", q->engine);
		return -EIO;
	}
	return copyq_program(q);
}
