// SPDX-License-Identifier: BSD-2-Clause
/* Where the things an input aims at are, for each product. */
#include "map.h"
#include "trainium/map.h"

static uint32_t v2_udma(unsigned int engine)
{
	if (engine >= TRN_V2_H2T_ENGINE(0))
		return TRN_V2_H2T_UDMA(engine - TRN_V2_H2T_ENGINE(0));
	return TRN_V2_UDMA(engine / TRN_ENGINES_PER_CORE, engine % TRN_ENGINES_PER_CORE);
}

static uint32_t v2_tpb(unsigned int core)
{
	return TRN_V2_TPB(core);
}

static uint32_t v2_nc_notific(unsigned int core)
{
	return TRN_V2_NC_NOTIFIC(core);
}

static uint32_t v2_top_sp(unsigned int index)
{
	return TRN_V2_TOP_SP(index);
}

static uint32_t v2_top_sp_notific(unsigned int index)
{
	return TRN_V2_TOP_SP_NOTIFIC(index);
}

static uint64_t v2_hbm_device(unsigned int stack)
{
	return TRN_V2_HBM_BASE((uint64_t)stack);
}

static uint64_t v2_tpb_device(unsigned int core)
{
	return TRN_V2_DEV_BASE + TRN_V2_TPB(core);
}

static uint64_t v2_udma_device(unsigned int engine)
{
	return TRN_V2_DEV_BASE + v2_udma(engine);
}

static uint64_t v2_register_device(uint32_t value)
{
	return TRN_V2_DEV_BASE + (value & (TRN_V2_BAR0_SIZE - 4));
}

/* Any route but the host's, with the place in HBM it would lead to. */
static uint64_t v2_route(uint32_t value)
{
	return (uint64_t)(value >> 27) << 44 | (value & 0x7ffffff);
}

static uint32_t v3_udma(unsigned int engine)
{
	if (engine >= TRN_V3_H2T_ENGINE(0))
		return TRN_V3_H2T_UDMA(engine - TRN_V3_H2T_ENGINE(0));
	return TRN_V3_UDMA(engine / TRN_V3_ENGINES_PER_SENG, engine % TRN_V3_ENGINES_PER_SENG);
}

static uint32_t v3_tpb(unsigned int core)
{
	return TRN_V3_TPB(core);
}

static uint32_t v3_nc_notific(unsigned int core)
{
	return TRN_V3_NC_NOTIFIC(core);
}

static uint32_t v3_top_sp(unsigned int index)
{
	return TRN_V3_TOP_SP(TRN_V3_TOP_SP_HW(index));
}

static uint32_t v3_top_sp_notific(unsigned int index)
{
	return TRN_V3_TOP_SP_NOTIFIC(index);
}

static uint64_t v3_hbm_device(unsigned int stack)
{
	return TRN_V3_HBM_BASE((uint64_t)stack);
}

static uint64_t v3_tpb_device(unsigned int core)
{
	return TRN_V3_TPB_DEV((uint64_t)core);
}

static uint64_t v3_udma_device(unsigned int engine)
{
	unsigned int s = engine / TRN_V3_ENGINES_PER_SENG;
	unsigned int k = engine - TRN_V3_H2T_ENGINE(0);

	if (engine >= TRN_V3_H2T_ENGINE(0))
		return TRN_V3_APB_DEV((uint64_t)k / 2) + v3_udma(engine) - TRN_V3_APB(k / 2);
	return TRN_V3_SE_DEV((uint64_t)s) + v3_udma(engine) - TRN_V3_SE(s);
}

static uint64_t v3_register_device(uint32_t value)
{
	uint64_t part = value >> 30;

	if (value & 1u << 29)
		return TRN_V3_SE_DEV(part) + (value & (TRN_V3_SE_SIZE - 4));
	if (value & 1u << 28)
		return TRN_V3_TOP_SP_DEV(part * 5) + (value & (TRN_V3_TOP_SP_SIZE - 4));
	return TRN_V3_APB_DEV(part % 2) + (value & (TRN_V3_APB_SIZE - 4));
}

static uint64_t v3_route(uint32_t value)
{
	return TRN_V3_LINK_BASE((uint64_t)(value >> 30)) | (value & 0x7ffffff);
}

/* clang-format off */
#define V2_MAP						\
	.cores = TRN_V2_CORES,				\
	.stacks = TRN_V2_STACKS,			\
	.top_sps = TRN_V2_TOP_SPS,			\
	.engines = TRN_V2_ENGINES,			\
	.host_engine = TRN_V2_H2T_ENGINE(0),		\
	.bar0_size = TRN_V2_BAR0_SIZE,			\
	.host_base = TRN_V2_HOST_BASE,			\
	.misc = TRN_V2_MISC,				\
	.udma = v2_udma,				\
	.tpb = v2_tpb,					\
	.nc_notific = v2_nc_notific,			\
	.top_sp = v2_top_sp,				\
	.top_sp_notific = v2_top_sp_notific,		\
	.hbm_device = v2_hbm_device,			\
	.tpb_device = v2_tpb_device,			\
	.udma_device = v2_udma_device,			\
	.register_device = v2_register_device,		\
	.route = v2_route
/* clang-format on */

static const struct fuzz_map maps[] = {
	{ .arch = "trn1", V2_MAP },
	{ .arch = "inf2", V2_MAP },
	{
		.arch = "trn2",
		.cores = TRN_V3_CORES,
		.stacks = TRN_V3_STACKS,
		.top_sps = TRN_V3_TOP_SPS,
		.engines = TRN_V3_ENGINES,
		.host_engine = TRN_V3_H2T_ENGINE(0),
		.bar0_size = TRN_V3_BAR0_SIZE,
		.host_base = TRN_V3_HOST_BASE,
		.misc = TRN_V3_MISC,
		.udma = v3_udma,
		.tpb = v3_tpb,
		.nc_notific = v3_nc_notific,
		.top_sp = v3_top_sp,
		.top_sp_notific = v3_top_sp_notific,
		.hbm_device = v3_hbm_device,
		.tpb_device = v3_tpb_device,
		.udma_device = v3_udma_device,
		.register_device = v3_register_device,
		.route = v3_route,
	},
};

#define MAPS (sizeof(maps) / sizeof(maps[0]))

const struct fuzz_map *fuzz_map_choose(const uint8_t *data, uint64_t size)
{
	return &maps[size ? data[size - 1] % MAPS : 0];
}

unsigned int fuzz_map_index(const struct fuzz_map *map)
{
	return (unsigned int)(map - maps);
}
