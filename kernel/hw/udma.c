// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DMA engine init. Values and order are the documented trace (Documentation/hardware-layer.md);
 * the numbers in comments are its rows. Nothing read decides anything, so a device that answers
 * nonsense cannot mislead it.
 */
#include "internal.h"

/* Offsets of one engine's blocks. */
struct engine {
	const struct trnhw *hw;
	u32 m2s;
	u32 s2m;
	u32 gen;
	u32 genx;
	u32 sdma;
	u32 fis;		/* 0: none */
};

static void engine_at(struct engine *e, const struct trnhw *hw, unsigned int engine)
{
	struct trnhw_engine_base base;

	hw->arch->engine_base(engine, &base);
	e->hw = hw;
	e->m2s = base.udma + TRN_UDMA_M2S;
	e->s2m = base.udma + TRN_UDMA_S2M;
	e->gen = base.udma + TRN_UDMA_GEN;
	e->genx = base.udma + TRN_UDMA_GENX;
	e->sdma = base.sdma;
	e->fis = base.fis;
}

/* Row 1: broadcast groups, engines of cores only. */
static void engine_init_broadcast(const struct engine *e, unsigned int index)
{
	u32 last = index == 0 || index == 3 || index == 6 || index == 9 || index == 15;

	trnhw_write(e->hw, e->sdma + TRN_SDMA_BCAST_GROUP, 0xffffu >> index);
	trnhw_write(e->hw, e->sdma + TRN_SDMA_BCAST_LAST, last ? 0xffff : 0);
}

/* Row 2: @cfg is what the queue registers are taken to hold, without reading them. */
static void engine_init_queues(const struct engine *e, u32 cfg)
{
	unsigned int q;

	for (q = 0; q < TRN_UDMA_QUEUES; q++) {
		trnhw_write(e->hw, e->m2s + TRN_UDMA_QUEUE(q) + TRN_Q_CFG, cfg);
		trnhw_write(e->hw, e->s2m + TRN_UDMA_QUEUE(q) + TRN_Q_CFG, cfg);
	}
}

/* Rows 3 to 8: data path limits. */
static void engine_init_data(const struct engine *e)
{
	const struct trnhw *hw = e->hw;
	unsigned int q, i;
	u32 spare;

	trnhw_write(hw, e->m2s + TRN_M2S_DATA_FIFO_CFG, hw->arch->init_data_fifo);
	trnhw_write(hw, e->m2s + TRN_M2S_AXI_OUTSTANDING, hw->arch->init_outstanding);
	trnhw_write(hw, e->gen + TRN_GEN_AXI_TIMEOUT, 100000000);
	trnhw_write(hw, e->m2s + TRN_M2S_ACK_TIMEOUT, 0);
	trnhw_write(hw, e->m2s + TRN_M2S_PKT_LEN_CFG, 0x010fffff);
	trnhw_write(hw, e->m2s + TRN_M2S_STREAM_CFG, 0x00000102);
	for (q = 0; q < TRN_UDMA_QUEUES; q++)
		trnhw_write(hw, e->genx + TRN_GENX_SELECTOR(q), ~0u);
	trnhw_write(hw, e->m2s + TRN_M2S_AXI_DATA_RD_CFG, 0x00010008);
	trnhw_write(hw, e->s2m + TRN_S2M_ACK_TIMEOUT, 0);
	for (q = 0; q < TRN_UDMA_QUEUES; q++) {
		for (i = 1; i <= 3; i++)
			trnhw_write(hw, e->genx + TRN_GENX_SELECTOR(q) + i * 4, ~0u);
	}
	trnhw_write(hw, e->s2m + TRN_S2M_AXI_OUTSTANDING_RD, hw->arch->init_s2m_outstanding);
	trnhw_write(hw, e->s2m + TRN_S2M_AXI_OUTSTANDING_WR, 0x40804080);
	/* Bit 0 clear turns on the reporting of queue heads. */
	spare = trnhw_read(hw, e->gen + TRN_GEN_SPARE_ZEROES0);
	trnhw_write(hw, e->gen + TRN_GEN_SPARE_ZEROES0, spare & ~1u);
}

/*
 * Rows 9 and 10: errors abort the engine; none raises an interrupt. Group C carries the M2S bits in
 * the first pass and the S2M bits in the second. Mask-clear takes the complement.
 */
static void engine_init_errors(const struct engine *e, u32 group, u32 bits, u32 fifo_bits,
			       u32 primary_bits)
{
	const struct trnhw *hw = e->hw;
	u32 primary = e->gen + TRN_GEN_IOFIC_PRIMARY(3);
	u32 fifo = e->gen + TRN_GEN_IOFIC_SECONDARY_C;

	group += e->gen;
	trnhw_write(hw, group + TRN_IOFIC_CONTROL, TRN_IOFIC_CONTROL_INIT);
	trnhw_write(hw, primary + TRN_IOFIC_CONTROL, TRN_IOFIC_CONTROL_INIT);
	trnhw_write(hw, group + TRN_IOFIC_ABORT_MASK, ~bits);
	trnhw_write(hw, fifo + TRN_IOFIC_ABORT_MASK, ~fifo_bits);
	trnhw_write(hw, group + TRN_IOFIC_MASK_CLEAR, ~bits);
	trnhw_write(hw, fifo + TRN_IOFIC_MASK_CLEAR, ~fifo_bits);
	trnhw_write(hw, primary + TRN_IOFIC_MASK_CLEAR, ~primary_bits);
}

/* Rows 11 to 13: prefetch, completion, SDMA wrapper. */
static void engine_init_prefetch(const struct engine *e)
{
	const struct trnhw *hw = e->hw;

	trnhw_write(hw, e->s2m + TRN_S2M_COMPLETION_CFG1C, 0x00001004);
	trnhw_write(hw, e->m2s + TRN_M2S_PREFETCH_CFG2, 0x00010000 | TRN_PACKET_MAX_DESCS);
	trnhw_write(hw, e->m2s + TRN_M2S_PREFETCH_CFG3, 0x00004181);
	trnhw_write(hw, e->s2m + TRN_S2M_PREFETCH_CFG3, 0x00004181);
	trnhw_write(hw, e->m2s + TRN_M2S_AXI_DESC_RD_CFG3, 0x00010008);
	trnhw_write(hw, e->s2m + TRN_S2M_AXI_DESC_RD_CFG3, 0x00010008);
	trnhw_write(hw, e->sdma + TRN_SDMA_READ_REORDER, 1);
	trnhw_write(hw, e->sdma + TRN_SDMA_WRITE_REORDER, 1);
	trnhw_write(hw, e->sdma + TRN_SDMA_EVENT_ACCEL, 1);
	if (hw->arch->init & TRNHW_INIT_TX_BEATS)
		trnhw_write(hw, e->sdma + TRN_SDMA_TX_BEATS, 0x26);
}

/* Rows 14 to 17: AXI error detection. */
static void engine_init_axi_errors(const struct engine *e)
{
	static const u8 entries[] = { 1, 2, 3, 9, 10, 11 };
	const struct trnhw *hw = e->hw;
	unsigned int t, i, q;

	for (t = 0; t < 6; t++) {
		for (i = 0; i < sizeof(entries); i++)
			trnhw_write(hw, e->gen + TRN_GEN_AXI_ERR_DETECT(t) + entries[i] * 4, 0xf);
	}
	for (t = 0; t < 6; t++) {
		for (q = 0; q < TRN_UDMA_QUEUES; q++) {
			trnhw_write(hw, e->gen + TRN_GEN_AXI_ERR_CTRL_ADDR(t), q * 8 + 7);
			trnhw_write(hw, e->gen + TRN_GEN_AXI_ERR_CTRL_DATA(t), 0x10);
		}
	}
	for (i = 0; i < 6; i++) {
		u32 group = e->gen + TRN_GEN_IOFIC_AXI(i);

		trnhw_write(hw, group + TRN_IOFIC_CONTROL, TRN_IOFIC_CONTROL_INIT);
		trnhw_write(hw, group + TRN_IOFIC_ABORT_MASK, 0);
		trnhw_write(hw, group + TRN_IOFIC_MASK_CLEAR, 0);
	}
	trnhw_write(hw, e->gen + TRN_GEN_AXI_TIMEOUT, ~0u);
}

static void engine_set_bits(const struct engine *e, u32 reg, u32 bits)
{
	trnhw_write(e->hw, reg, trnhw_read(e->hw, reg) | bits);
}

/* No interrupt and no abort for a wrong ring id. */
static void engine_mask_error(const struct engine *e, u32 group, u32 bits)
{
	u32 mask = trnhw_read(e->hw, e->gen + group + TRN_IOFIC_MASK) | bits;

	trnhw_write(e->hw, e->gen + group + TRN_IOFIC_MASK, mask);
	trnhw_write(e->hw, e->gen + group + TRN_IOFIC_ABORT_MASK, mask);
}

/* Row 18: rings of user programs need not follow the ring id. */
static void engine_init_ring_ids(const struct engine *e)
{
	engine_mask_error(e, TRN_GEN_IOFIC_SECONDARY_A, TRN_ERR_A_WRONG_RING_ID);
	engine_mask_error(e, TRN_GEN_IOFIC_SECONDARY_B, TRN_ERR_B_WRONG_RING_ID);
	engine_set_bits(e, e->fis + TRN_FIS_GROUP(2) + TRN_IOFIC_MASK,
			TRN_FIS_M2S_WRONG_RING_ID);
	engine_set_bits(e, e->fis + TRN_FIS_GROUP(3) + TRN_IOFIC_MASK,
			TRN_FIS_S2M_WRONG_RING_ID);
	engine_set_bits(e, e->m2s + TRN_M2S_ERR_LOG_MASK, TRN_ERR_A_WRONG_RING_ID);
	engine_set_bits(e, e->s2m + TRN_S2M_ERR_LOG_MASK, TRN_ERR_B_WRONG_RING_ID);
}

void trnhw_udma_engine_init(struct trnhw *hw, unsigned int engine)
{
	u64 bit = 1ull << (engine % 64);
	u32 cfg = TRN_Q_CFG_ENABLE;
	struct engine e;

	if (engine >= hw->arch->engines)
		return;
	engine_at(&e, hw, engine);
	/* The cached configuration starts at 0 and takes in the reset value with the first init. */
	if (hw->engine_known[engine / 64] & bit)
		cfg |= TRN_Q_CFG_RESET_VALUE;
	hw->engine_known[engine / 64] |= bit;

	if ((hw->arch->init & TRNHW_INIT_BROADCAST) &&
	    engine < hw->arch->cores * TRN_ENGINES_PER_CORE)
		engine_init_broadcast(&e, engine % TRN_ENGINES_PER_CORE);
	engine_init_queues(&e, cfg);
	engine_init_data(&e);
	engine_init_errors(&e, TRN_GEN_IOFIC_SECONDARY_A, TRN_ERR_A_ALL, 0x3f, 0x500);
	engine_init_errors(&e, TRN_GEN_IOFIC_SECONDARY_B, TRN_ERR_B_ALL, 0xfc0, 0x600);
	engine_init_prefetch(&e);
	if (hw->arch->init & TRNHW_INIT_AXI_ERRORS)
		engine_init_axi_errors(&e);
	if (e.fis)
		engine_init_ring_ids(&e);
}

/* Highest of the 2-bit fields. */
static int state_decode(u32 state)
{
	unsigned int shift;
	int max = TRNHW_UDMA_IDLE;

	for (shift = 0; shift <= 12; shift += 4) {
		u32 field = (state >> shift) & 3;

		if (field == 2)
			return TRNHW_UDMA_ABORT;
		if (field == 1)
			max = TRNHW_UDMA_NORMAL;
	}
	return max;
}

int trnhw_udma_state(const struct trnhw *hw, unsigned int engine)
{
	struct engine e;
	int m2s, s2m;

	if (engine >= hw->arch->engines)
		return -EINVAL;
	if (trnhw_gone(hw))
		return -ENODEV;
	engine_at(&e, hw, engine);
	m2s = state_decode(trnhw_read(hw, e.m2s + TRN_M2S_STATE));
	s2m = state_decode(trnhw_read(hw, e.s2m + TRN_S2M_STATE));
	return m2s > s2m ? m2s : s2m;
}

/* Causes are latched; a bit written as 0 is cleared. */
static void engine_clear_errors(const struct engine *e)
{
	trnhw_write(e->hw, e->gen + TRN_GEN_IOFIC_SECONDARY_A + TRN_IOFIC_CAUSE, 0);
	trnhw_write(e->hw, e->gen + TRN_GEN_IOFIC_SECONDARY_B + TRN_IOFIC_CAUSE, 0);
	trnhw_write(e->hw, e->gen + TRN_GEN_IOFIC_SECONDARY_C + TRN_IOFIC_CAUSE, 0);
}

void trnhw_udma_recover(struct trnhw *hw, unsigned int engine)
{
	struct engine e;
	unsigned int q;

	if (engine >= hw->arch->engines)
		return;
	engine_at(&e, hw, engine);
	/* Stand still first, so that nothing is fetched while the queues are put back. */
	trnhw_write(hw, e.m2s + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_DISABLE);
	trnhw_write(hw, e.s2m + TRN_S2M_CHANGE_STATE, TRN_UDMA_CHANGE_DISABLE);
	for (q = 0; q < TRN_UDMA_QUEUES; q++)
		trnhw_udma_queue_stop(hw, engine, q);
	engine_clear_errors(&e);
	trnhw_udma_engine_init(hw, engine);
	trnhw_write(hw, e.m2s + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
	trnhw_write(hw, e.s2m + TRN_S2M_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
	/* Last: who sees the new number may program its queue again. */
	WRITE_ONCE(hw->engine_recovered[engine], hw->engine_recovered[engine] + 1);
}
