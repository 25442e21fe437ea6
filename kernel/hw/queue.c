// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Queues of a DMA engine: init (a documented trace), rewind, stop, doorbells.
 */
#include <linux/kernel.h>

#include "internal.h"

/* BAR0 offsets of the two halves of a queue. */
struct queue {
	u32 m2s;
	u32 s2m;
};

static bool queue_at(const struct trnhw *hw, unsigned int engine, unsigned int queue,
		     struct queue *at)
{
	struct trnhw_engine_base base;

	if (engine >= hw->arch->engines || queue >= TRN_UDMA_QUEUES)
		return false;
	hw->arch->engine_base(engine, &base);
	at->m2s = base.udma + TRN_UDMA_M2S + TRN_UDMA_QUEUE(queue);
	at->s2m = base.udma + TRN_UDMA_S2M + TRN_UDMA_QUEUE(queue);
	return true;
}

static bool ring_valid(u64 base, u32 count)
{
	return !(base % TRN_RING_ALIGN) && count >= TRN_RING_MIN && count <= TRN_RING_MAX &&
	       !(count % TRN_RING_MULTIPLE);
}

static void ring_set(const struct trnhw *hw, u32 half, u64 base, u32 count)
{
	trnhw_write(hw, half + TRN_Q_BASE_LOW, lower_32_bits(base));
	trnhw_write(hw, half + TRN_Q_BASE_HIGH, upper_32_bits(base));
	trnhw_write(hw, half + TRN_Q_LENGTH, count);
}

int trnhw_udma_queue_init(struct trnhw *hw, unsigned int engine, unsigned int queue,
			  const struct trnhw_queue_rings *rings)
{
	const u32 on = TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE;
	struct queue q;

	if (!queue_at(hw, engine, queue, &q) || !ring_valid(rings->m2s, rings->m2s_count) ||
	    !ring_valid(rings->s2m, rings->s2m_count))
		return -EINVAL;

	trnhw_write(hw, q.m2s + TRN_Q_M2S_RATE_MASK, TRN_Q_RATE_MASK_HONOUR_DMB);
	trnhw_write(hw, q.m2s + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE);
	trnhw_write(hw, q.m2s + TRN_Q_M2S_SW_CTRL, TRN_Q_SW_CTRL_RESET);
	ring_set(hw, q.m2s, rings->m2s, rings->m2s_count);
	trnhw_write(hw, q.m2s + TRN_Q_M2S_COMPL_CFG, 0);
	trnhw_write(hw, q.m2s + TRN_Q_CFG, on);

	trnhw_write(hw, q.s2m + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE);
	trnhw_write(hw, q.s2m + TRN_Q_S2M_SW_CTRL, TRN_Q_SW_CTRL_RESET);
	ring_set(hw, q.s2m, rings->s2m, rings->s2m_count);
	trnhw_write(hw, q.s2m + TRN_Q_S2M_COMPL_CFG, 0);
	trnhw_write(hw, q.s2m + TRN_Q_CFG, on);
	return 0;
}

void trnhw_udma_queue_rewind(struct trnhw *hw, unsigned int engine, unsigned int queue)
{
	struct queue q;

	if (!queue_at(hw, engine, queue, &q))
		return;
	trnhw_write(hw, q.m2s + TRN_Q_M2S_SW_CTRL, TRN_Q_SW_CTRL_RESET);
	trnhw_write(hw, q.s2m + TRN_Q_S2M_SW_CTRL, TRN_Q_SW_CTRL_RESET);
}

bool trnhw_udma_queue_idle(const struct trnhw *hw, unsigned int engine, unsigned int queue)
{
	struct queue q;

	if (!queue_at(hw, engine, queue, &q))
		return true;
	return trnhw_read(hw, q.s2m + TRN_Q_HEAD) == trnhw_read(hw, q.s2m + TRN_Q_TAIL) &&
	       trnhw_read(hw, q.m2s + TRN_Q_HEAD) == trnhw_read(hw, q.m2s + TRN_Q_TAIL);
}

void trnhw_udma_queue_stop(struct trnhw *hw, unsigned int engine, unsigned int queue)
{
	struct queue q;

	if (!queue_at(hw, engine, queue, &q))
		return;
	trnhw_write(hw, q.m2s + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE);
	trnhw_write(hw, q.s2m + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE);
	trnhw_udma_queue_rewind(hw, engine, queue);
	ring_set(hw, q.m2s, 0, 0);
	ring_set(hw, q.s2m, 0, 0);
	/* A read pushes the writes out: no fetch begins after the return. */
	trnhw_read(hw, q.s2m + TRN_Q_CFG);
}

void trnhw_udma_queue_ring(struct trnhw *hw, unsigned int engine, unsigned int queue, u32 count)
{
	struct queue q;

	if (!count || !queue_at(hw, engine, queue, &q))
		return;
	mb();	/* descriptors before the doorbell that makes the device fetch them */
	trnhw_write(hw, q.s2m + TRN_Q_TAIL_INC, count);
	mb();	/* destinations are there before sources arrive */
	trnhw_write(hw, q.m2s + TRN_Q_TAIL_INC, count);
}
