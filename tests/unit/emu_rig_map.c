// SPDX-License-Identifier: BSD-2-Clause
/* Address maps of the products. */
#include <stddef.h>
#include "emu_rig_map.h"
#include "trainium/isa.h"
#include "trainium/map.h"
#include "trainium/regs.h"

static uint32_t v2_udma(unsigned int id)
{
	if (id >= TRN_V2_H2T_ENGINE(0))
		return TRN_V2_H2T_UDMA(id - TRN_V2_H2T_ENGINE(0));
	return TRN_V2_UDMA(id / TRN_ENGINES_PER_CORE, id % TRN_ENGINES_PER_CORE);
}

static uint32_t v2_sdma(unsigned int id)
{
	if (id >= TRN_V2_H2T_ENGINE(0))
		return TRN_V2_H2T_SDMA(id - TRN_V2_H2T_ENGINE(0));
	return TRN_V2_SDMA(id / TRN_ENGINES_PER_CORE, id % TRN_ENGINES_PER_CORE);
}

static uint32_t v2_tpb(unsigned int n)
{
	return TRN_V2_TPB(n);
}

static uint32_t v2_top_sp(unsigned int t)
{
	return TRN_V2_TOP_SP(t);
}

static uint32_t v2_nc_notific(unsigned int n)
{
	return TRN_V2_NC_NOTIFIC(n);
}

static uint32_t v2_top_sp_notific(unsigned int t)
{
	return TRN_V2_TOP_SP_NOTIFIC(t);
}

static uint32_t v2_pe_counters(unsigned int n)
{
	return TRN_V2_PE_COUNTERS(n);
}

static uint64_t v2_hbm_base(unsigned int h)
{
	return TRN_V2_HBM_BASE((uint64_t)h);
}

static uint64_t v2_dev(uint64_t bar0)
{
	return TRN_V2_DEV_BASE + bar0;
}

static uint32_t v2_reset_core(unsigned int n)
{
	return 1u << n;
}

static uint32_t v2_reset_top_sp(unsigned int t)
{
	return 1u << (8 + t);
}

static uint32_t v3_udma(unsigned int id)
{
	if (id >= TRN_V3_H2T_ENGINE(0))
		return TRN_V3_H2T_UDMA(id - TRN_V3_H2T_ENGINE(0));
	return TRN_V3_UDMA(id / TRN_V3_ENGINES_PER_SENG, id % TRN_V3_ENGINES_PER_SENG);
}

static uint32_t v3_sdma(unsigned int id)
{
	if (id >= TRN_V3_H2T_ENGINE(0))
		return TRN_V3_H2T_SDMA(id - TRN_V3_H2T_ENGINE(0));
	return TRN_V3_SDMA(id / TRN_V3_ENGINES_PER_SENG, id % TRN_V3_ENGINES_PER_SENG);
}

static uint32_t v3_tpb(unsigned int n)
{
	return TRN_V3_TPB(n);
}

static uint32_t v3_top_sp(unsigned int t)
{
	return TRN_V3_TOP_SP(TRN_V3_TOP_SP_HW(t));
}

static uint32_t v3_nc_notific(unsigned int n)
{
	return TRN_V3_NC_NOTIFIC(n);
}

static uint32_t v3_top_sp_notific(unsigned int t)
{
	return TRN_V3_TOP_SP_NOTIFIC(t);
}

static uint32_t v3_pe_counters(unsigned int n)
{
	return TRN_V3_PE_COUNTERS(n);
}

static uint64_t v3_hbm_base(unsigned int h)
{
	return TRN_V3_HBM_BASE(h);
}

static uint64_t v3_dev(uint64_t bar0)
{
	unsigned int i;

	for (i = 0; i < TRN_V3_DIES; i++)
		if (bar0 - TRN_V3_APB(i) < TRN_V3_APB_SIZE)
			return TRN_V3_APB_DEV(i) + (bar0 - TRN_V3_APB(i));
	for (i = 0; i < TRN_V3_SENGS; i++)
		if (bar0 - TRN_V3_SE(i) < TRN_V3_SE_SIZE)
			return TRN_V3_SE_DEV(i) + (bar0 - TRN_V3_SE(i));
	for (i = 0; i < TRN_V3_CORES; i++)
		if (bar0 - TRN_V3_TPB(i) < TRN_V3_TPB_SIZE)
			return TRN_V3_TPB_DEV(i) + (bar0 - TRN_V3_TPB(i));
	for (i = 0; i < TRN_V3_HW_TOP_SPS; i++)
		if (bar0 - TRN_V3_TOP_SP(i) < TRN_V3_TOP_SP_SIZE)
			return TRN_V3_TOP_SP_DEV(i) + (bar0 - TRN_V3_TOP_SP(i));
	return RIG_NOWHERE;
}

static uint32_t v3_reset_core(unsigned int n)
{
	return 1u << n | 1u << (8 + n);
}

static uint32_t v3_reset_top_sp(unsigned int t)
{
	return 1u << (16 + t / 2);
}

/* clang-format off */
#define V2_MAP								\
	.generation = 2, .cores = TRN_V2_CORES, .stacks = TRN_V2_STACKS,	\
	.engines = TRN_V2_ENGINES, .top_sps = TRN_V2_TOP_SPS,		\
	.bar0_size = TRN_V2_BAR0_SIZE, .bar4_size = TRN_V2_BAR4_SIZE,	\
	.host_base = TRN_V2_HOST_BASE, .hbm_size = TRN_V2_HBM_SIZE,	\
	.misc = TRN_V2_MISC, .sbuf_partition_bytes = TRN_SBUF_PARTITION_BYTES_V2, \
	.udma = v2_udma, .sdma = v2_sdma, .tpb = v2_tpb, .top_sp = v2_top_sp, \
	.nc_notific = v2_nc_notific, .top_sp_notific = v2_top_sp_notific, \
	.pe_counters = v2_pe_counters, .hbm_base = v2_hbm_base, .dev = v2_dev, \
	.reset_core = v2_reset_core, .reset_top_sp = v2_reset_top_sp
/* clang-format on */

static const struct rig_map maps[] = {
	{ .arch = "trn1", .pci_device = TRN_PCI_DEVICE_TRN1, V2_MAP },
	{ .arch = "inf2", .pci_device = TRN_PCI_DEVICE_INF2, V2_MAP },
	{
		.arch = "trn2",
		.pci_device = TRN_PCI_DEVICE_TRN2,
		.generation = 3,
		.cores = TRN_V3_CORES,
		.stacks = TRN_V3_STACKS,
		.engines = TRN_V3_ENGINES,
		.top_sps = TRN_V3_TOP_SPS,
		.bar0_size = TRN_V3_BAR0_SIZE,
		.bar4_size = TRN_V3_BAR4_SIZE,
		.host_base = TRN_V3_HOST_BASE,
		.hbm_size = TRN_V3_HBM_SIZE,
		.misc = TRN_V3_MISC,
		.sbuf_partition_bytes = TRN_SBUF_PARTITION_BYTES_V3,
		.udma = v3_udma,
		.sdma = v3_sdma,
		.tpb = v3_tpb,
		.top_sp = v3_top_sp,
		.nc_notific = v3_nc_notific,
		.top_sp_notific = v3_top_sp_notific,
		.pe_counters = v3_pe_counters,
		.hbm_base = v3_hbm_base,
		.dev = v3_dev,
		.reset_core = v3_reset_core,
		.reset_top_sp = v3_reset_top_sp,
	},
};

const struct rig_map *rig_map = &maps[0];

const struct rig_map *rig_map_at(unsigned int index)
{
	return index < sizeof(maps) / sizeof(maps[0]) ? &maps[index] : NULL;
}
