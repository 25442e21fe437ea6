// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trn2: two dies, four groups of two cores and 32 DMA engines, an HBM stack each.
 */
#include "internal.h"

/* RESET_TPB_MAP: bits 7:0 cores, 15:8 their DMA engines, 23:16 their TOP_SPs. */
#define TRNHW_V3_RESET_DMA_SHIFT	8
#define TRNHW_V3_RESET_TOP_SP_SHIFT	16

static u64 v3_hbm_base(unsigned int stack)
{
	return TRN_V3_HBM_BASE((u64)stack);
}

static u64 v3_hbm_bar4(unsigned int stack)
{
	return TRN_V3_HBM_BAR4((u64)stack);
}

static u32 v3_tpb(unsigned int core)
{
	return TRN_V3_TPB(core);
}

static u64 v3_tpb_device(unsigned int core)
{
	return TRN_V3_TPB_DEV((u64)core);
}

static u32 v3_nc_notific(unsigned int core)
{
	return TRN_V3_NC_NOTIFIC(core);
}

static u32 v3_top_sp(unsigned int index)
{
	return TRN_V3_TOP_SP(TRN_V3_TOP_SP_HW(index));
}

static u32 v3_top_sp_notific(unsigned int index)
{
	return TRN_V3_TOP_SP_NOTIFIC(index);
}

static void v3_engine_base(unsigned int engine, struct trnhw_engine_base *base)
{
	const unsigned int compute = TRN_V3_SENGS * TRN_V3_ENGINES_PER_SENG;
	unsigned int seng = engine / TRN_V3_ENGINES_PER_SENG;
	unsigned int e = engine % TRN_V3_ENGINES_PER_SENG;

	if (engine < compute) {
		base->udma = TRN_V3_UDMA(seng, e);
		base->sdma = TRN_V3_SDMA(seng, e);
		base->fis = TRN_V3_FIS(seng, e);
	} else {
		base->udma = TRN_V3_H2T_UDMA(engine - compute);
		base->sdma = TRN_V3_H2T_SDMA(engine - compute);
		base->fis = 0;
	}
}

static unsigned int v3_h2t_engine(unsigned int core)
{
	return TRN_V3_H2T_ENGINE(core);
}

static unsigned int v3_h2t_queue(unsigned int core)
{
	return TRN_V3_H2T_QUEUE(core);
}

static u32 v3_reset_map(u32 core_mask)
{
	return core_mask | core_mask << TRNHW_V3_RESET_DMA_SHIFT |
	       core_mask << TRNHW_V3_RESET_TOP_SP_SHIFT;
}

/* The position is the group of engines whose link goes there. */
static const u8 trn2_links[TRN_TORUS_DEVICES][TRN_TORUS_LINKS] = TRN_TRN2_NEIGHBOURS;

static unsigned int trn2_neighbours(u32 index, u32 total, u32 *neighbours)
{
	return trnhw_torus_neighbours(trn2_links, index, total, neighbours);
}

static const u8 trn2_routing[TRN_TORUS_DEVICES] = TRN_TRN2_DEVICE_INDEX;

const struct trnhw_arch trnhw_arch_trn2 = {
	.name = "trn2",
	.product = "Trainium2",
	.pci_device = TRN_PCI_DEVICE_TRN2,
	.generation = 3,
	.cores = TRN_V3_CORES,
	.dies = TRN_V3_DIES,
	.stacks = TRN_V3_STACKS,
	.engines = TRN_V3_ENGINES,
	.h2t_cores = TRN_V3_CORES / TRN_V3_H2T_ENGINES,
	.top_sps = TRN_V3_TOP_SPS,
	.bar0_size = TRN_V3_BAR0_SIZE,
	.hbm_size = TRN_V3_HBM_SIZE,
	.host_base = TRN_V3_HOST_BASE,
	.host_size = TRN_V3_HOST_SIZE,
	.hbm_base = v3_hbm_base,
	.hbm_bar4 = v3_hbm_bar4,
	.tpb = v3_tpb,
	.tpb_device = v3_tpb_device,
	.nc_notific = v3_nc_notific,
	.top_sp = v3_top_sp,
	.top_sp_notific = v3_top_sp_notific,
	.engine_base = v3_engine_base,
	.h2t_engine = v3_h2t_engine,
	.h2t_queue = v3_h2t_queue,
	.reset_map = v3_reset_map,
	.neighbours = trn2_neighbours,
	.routing = trn2_routing,
	.misc = TRN_V3_MISC,
	.sbuf_partition_bytes = TRN_SBUF_PARTITION_BYTES_V3,
	.init = TRNHW_INIT_TX_BEATS,
	.init_outstanding = 0x20808080,
	.init_data_fifo = 0x010008f8,
	.init_s2m_outstanding = 0x00400080,
	.dma_timeout_us_per_desc = 2,
	.dma_timeout_slack_us = 1,
	.reset_timeout_ms = 480000,
	.hbm_repair = true,
};
