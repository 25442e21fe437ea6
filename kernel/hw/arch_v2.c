// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trn1 and Inf2: same silicon map, different boards.
 */
#include "internal.h"

#define TRNHW_V2_TOP_SPS_PER_CORE	3
#define TRNHW_V2_RESET_TOP_SP_SHIFT	8	/* RESET_TPB_MAP: bits 13:8 are the TOP_SPs */
#define TRNHW_INF2_LINE			(TRN_RING_DEVICES / 2)

static u64 v2_hbm_base(unsigned int stack)
{
	return TRN_V2_HBM_BASE((u64)stack);
}

static u64 v2_hbm_bar4(unsigned int stack)
{
	return TRN_V2_HBM_BAR4((u64)stack);
}

static u32 v2_tpb(unsigned int core)
{
	return TRN_V2_TPB(core);
}

static u64 v2_tpb_device(unsigned int core)
{
	return TRN_V2_DEV_BASE + TRN_V2_TPB(core);
}

static u32 v2_nc_notific(unsigned int core)
{
	return TRN_V2_NC_NOTIFIC(core);
}

static u32 v2_top_sp(unsigned int index)
{
	return TRN_V2_TOP_SP(index);
}

static u32 v2_top_sp_notific(unsigned int index)
{
	return TRN_V2_TOP_SP_NOTIFIC(index);
}

static void v2_engine_base(unsigned int engine, struct trnhw_engine_base *base)
{
	const unsigned int compute = TRN_V2_CORES * TRN_ENGINES_PER_CORE;
	unsigned int seng = engine / TRN_ENGINES_PER_CORE;
	unsigned int e = engine % TRN_ENGINES_PER_CORE;

	base->fis = 0;
	if (engine < compute) {
		base->udma = TRN_V2_UDMA(seng, e);
		base->sdma = TRN_V2_SDMA(seng, e);
	} else {
		base->udma = TRN_V2_H2T_UDMA(engine - compute);
		base->sdma = TRN_V2_H2T_SDMA(engine - compute);
	}
}

static unsigned int v2_h2t_engine(unsigned int core)
{
	return TRN_V2_H2T_ENGINE(core);
}

static unsigned int v2_h2t_queue(unsigned int core)
{
	return 0;
}

static u32 v2_reset_map(u32 core_mask)
{
	u32 map = core_mask;
	unsigned int core;

	for (core = 0; core < TRN_V2_CORES; core++) {
		if (core_mask & (1u << core))
			map |= 7u << (TRNHW_V2_RESET_TOP_SP_SHIFT +
				      TRNHW_V2_TOP_SPS_PER_CORE * core);
	}
	return map;
}

/* up, left, down, right */
static const u8 trn1_links[TRN_TORUS_DEVICES][TRN_TORUS_LINKS] = TRN_TRN1_NEIGHBOURS;

static unsigned int trn1_neighbours(u32 index, u32 total, u32 *neighbours)
{
	return trnhw_torus_neighbours(trn1_links, index, total, neighbours);
}

/* Twelve make a ring, six a line. */
static unsigned int inf2_neighbours(u32 index, u32 total, u32 *neighbours)
{
	unsigned int n = 0;

	if (total == TRN_RING_DEVICES) {
		neighbours[n++] = (index + total - 1) % total;
		neighbours[n++] = (index + 1) % total;
	} else if (total == TRNHW_INF2_LINE) {
		if (index > 0)
			neighbours[n++] = index - 1;
		if (index + 1 < total)
			neighbours[n++] = index + 1;
	}
	return n;
}

static const u8 trn1_routing[TRN_TORUS_DEVICES] = TRN_TRN1_DEVICE_INDEX;

#define TRNHW_V2_COMMON \
	.generation = 2, \
	.cores = TRN_V2_CORES, \
	.dies = 1, \
	.stacks = TRN_V2_STACKS, \
	.engines = TRN_V2_ENGINES, \
	.h2t_cores = 1, \
	.top_sps = TRN_V2_TOP_SPS, \
	.bar0_size = TRN_V2_BAR0_SIZE, \
	.hbm_size = TRN_V2_HBM_SIZE, \
	.host_base = TRN_V2_HOST_BASE, \
	.host_size = TRN_V2_HOST_SIZE, \
	.hbm_base = v2_hbm_base, \
	.hbm_bar4 = v2_hbm_bar4, \
	.tpb = v2_tpb, \
	.tpb_device = v2_tpb_device, \
	.nc_notific = v2_nc_notific, \
	.top_sp = v2_top_sp, \
	.top_sp_notific = v2_top_sp_notific, \
	.engine_base = v2_engine_base, \
	.h2t_engine = v2_h2t_engine, \
	.h2t_queue = v2_h2t_queue, \
	.reset_map = v2_reset_map, \
	.misc = TRN_V2_MISC, \
	.sbuf_partition_bytes = TRN_SBUF_PARTITION_BYTES_V2, \
	.init = TRNHW_INIT_BROADCAST | TRNHW_INIT_AXI_ERRORS, \
	.init_outstanding = 0x0000086f, \
	.init_data_fifo = 0x01000400, \
	.init_s2m_outstanding = 0x00400008, \
	.dma_timeout_us_per_desc = 4, \
	.dma_timeout_slack_us = 3, \
	.reset_timeout_ms = 120000

const struct trnhw_arch trnhw_arch_trn1 = {
	.name = "trn1",
	.product = "Trainium1",
	.pci_device = TRN_PCI_DEVICE_TRN1,
	.neighbours = trn1_neighbours,
	.routing = trn1_routing,
	TRNHW_V2_COMMON,
};

const struct trnhw_arch trnhw_arch_inf2 = {
	.name = "inf2",
	.product = "Inferentia2",
	.pci_device = TRN_PCI_DEVICE_INF2,
	.neighbours = inf2_neighbours,
	TRNHW_V2_COMMON,
};
