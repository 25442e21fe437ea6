// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Products the model knows. Everything here comes from include/trainium/map.h.
 */
#include <stdio.h>
#include <string.h>
#include "product.h"
#include "trainium/isa.h"
#include "trainium/ext.h"
#include "trainium/regs.h"
#include "trainium/topology.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* BAR0 of v2 is one linear window of the device address space. */
static const struct emu_dev_window v2_windows[] = {
	{ TRN_V2_DEV_BASE, 0, TRN_V2_BAR0_SIZE },
};

#define V2_SENG_STRIDE (TRN_V2_SENG(1) - TRN_V2_SENG(0))
#define V2_UDMA_STRIDE (TRN_V2_UDMA(0, 1) - TRN_V2_UDMA(0, 0))
#define V2_SDMA_STRIDE (TRN_V2_SDMA(0, 1) - TRN_V2_SDMA(0, 0))
#define V2_H2T_STRIDE  (TRN_V2_H2T_UDMA(1) - TRN_V2_H2T_UDMA(0))
#define V2_NQ_STRIDE   (TRN_V2_TOP_SP_NOTIFIC(1) - TRN_V2_TOP_SP_NOTIFIC(0))

#define V2_PE_GROUP_STRIDE 0x40
#define V2_PE_GROUPS	   5
#define V2_PE_ROWS	   4
#define V2_PE_MHZ	   2800
#define V2_PE_ROW_STRIDE   (V2_PE_GROUPS * V2_PE_GROUP_STRIDE)
#define V2_PE_SIZE	   (V2_PE_ROWS * V2_PE_ROW_STRIDE)

static const struct emu_block_family v2_families[] = {
	{ EMU_BLOCK_TPB, 0, TRN_V2_CORES, TRN_V2_TPB(0), TRN_V2_TPB_SIZE, TRN_V2_TPB_SIZE },
	{ EMU_BLOCK_TOP_SP, 0, TRN_V2_TOP_SPS, TRN_V2_TOP_SP(0), TRN_V2_TOP_SP_SIZE,
	  TRN_V2_TOP_SP_SIZE },
	{ EMU_BLOCK_UDMA, 0, 16, TRN_V2_UDMA(0, 0), V2_UDMA_STRIDE, TRN_UDMA_SIZE },
	{ EMU_BLOCK_UDMA, 16, 16, TRN_V2_UDMA(1, 0), V2_UDMA_STRIDE, TRN_UDMA_SIZE },
	{ EMU_BLOCK_UDMA, 32, 2, TRN_V2_H2T_UDMA(0), V2_H2T_STRIDE, TRN_UDMA_SIZE },
	{ EMU_BLOCK_SDMA, 0, 16, TRN_V2_SDMA(0, 0), V2_SDMA_STRIDE, TRN_V2_SDMA_SIZE },
	{ EMU_BLOCK_SDMA, 16, 16, TRN_V2_SDMA(1, 0), V2_SDMA_STRIDE, TRN_V2_SDMA_SIZE },
	{ EMU_BLOCK_SDMA, 32, 2, TRN_V2_H2T_SDMA(0), V2_H2T_STRIDE, TRN_V2_SDMA_SIZE },
	{ EMU_BLOCK_NC_NOTIFIC, 0, TRN_V2_CORES, TRN_V2_NC_NOTIFIC(0), V2_SENG_STRIDE, 0x1000 },
	{ EMU_BLOCK_TOP_SP_NOTIFIC, 0, TRN_V2_TOP_SPS, TRN_V2_TOP_SP_NOTIFIC(0), V2_NQ_STRIDE,
	  0x1000 },
	{ EMU_BLOCK_PE_COUNTERS, 0, TRN_V2_CORES, TRN_V2_PE_COUNTERS(0), V2_SENG_STRIDE,
	  V2_PE_SIZE },
	{ EMU_BLOCK_MISC, 0, 1, TRN_V2_MISC, TRN_MISC_SIZE, TRN_MISC_SIZE },
};

static const struct emu_reset_field v2_resets[] = {
	{ EMU_RESET_CORE, 0, TRN_V2_CORES, 1 },
	{ EMU_RESET_ENGINES, 0, TRN_V2_CORES, TRN_ENGINES_PER_CORE },
	{ EMU_RESET_TOP_SPS, 8, TRN_V2_TOP_SPS, 1 },
};

static const uint8_t v2_top_sp_window[TRN_V2_TOP_SPS] = { 0, 1, 2, 3, 4, 5 };

/* clang-format off */
#define V2_COMMON							\
	.generation = 2,						\
	.dies = 1,							\
	.cores = TRN_V2_CORES,						\
	.stacks = TRN_V2_STACKS,					\
	.top_sps = TRN_V2_TOP_SPS,					\
	.top_sp_windows = TRN_V2_TOP_SPS,				\
	.top_sp_window = v2_top_sp_window,				\
	.engines = TRN_V2_ENGINES,					\
	.h2t_engines = TRN_V2_ENGINES - TRN_V2_CORES * TRN_ENGINES_PER_CORE, \
	.sbuf_partition_bytes = TRN_SBUF_PARTITION_BYTES_V2,		\
	.bar0_size = TRN_V2_BAR0_SIZE,					\
	.hbm_bytes = TRN_V2_HBM_SIZE,					\
	.bar4_stride = TRN_V2_HBM_BAR4(1ull),				\
	.hbm_base = { TRN_V2_HBM_BASE(0ull), TRN_V2_HBM_BASE(1ull) },	\
	.host_base = TRN_V2_HOST_BASE,					\
	.host_mask = TRN_V2_HOST_MASK,					\
	.host_size = TRN_V2_HOST_SIZE,					\
	.windows = v2_windows,						\
	.window_count = ARRAY_SIZE(v2_windows),				\
	.families = v2_families,					\
	.family_count = ARRAY_SIZE(v2_families),			\
	.resets = v2_resets,						\
	.reset_count = ARRAY_SIZE(v2_resets),				\
	.pe = { V2_PE_GROUP_STRIDE, V2_PE_GROUPS, V2_PE_ROW_STRIDE, V2_PE_ROWS, 4, V2_PE_MHZ }
/* clang-format on */

/* Every window of BAR0 is linear inside; of a core's slot of device addresses the first 64 MiB are
 * its window. */
#define V3_TOP_SP_WINDOW(k)                                                \
	{                                                                  \
		TRN_V3_TOP_SP_DEV(k), TRN_V3_TOP_SP(k), TRN_V3_TOP_SP_SIZE \
	}

static const struct emu_dev_window v3_windows[] = {
	{ TRN_V3_TPB_DEV(0), TRN_V3_TPB(0), TRN_V3_TPB_SIZE },
	{ TRN_V3_TPB_DEV(1), TRN_V3_TPB(1), TRN_V3_TPB_SIZE },
	{ TRN_V3_TPB_DEV(2), TRN_V3_TPB(2), TRN_V3_TPB_SIZE },
	{ TRN_V3_TPB_DEV(3), TRN_V3_TPB(3), TRN_V3_TPB_SIZE },
	{ TRN_V3_TPB_DEV(4), TRN_V3_TPB(4), TRN_V3_TPB_SIZE },
	{ TRN_V3_TPB_DEV(5), TRN_V3_TPB(5), TRN_V3_TPB_SIZE },
	{ TRN_V3_TPB_DEV(6), TRN_V3_TPB(6), TRN_V3_TPB_SIZE },
	{ TRN_V3_TPB_DEV(7), TRN_V3_TPB(7), TRN_V3_TPB_SIZE },
	{ TRN_V3_SE_DEV(0), TRN_V3_SE(0), TRN_V3_SE_SIZE },
	{ TRN_V3_SE_DEV(1), TRN_V3_SE(1), TRN_V3_SE_SIZE },
	{ TRN_V3_SE_DEV(2), TRN_V3_SE(2), TRN_V3_SE_SIZE },
	{ TRN_V3_SE_DEV(3), TRN_V3_SE(3), TRN_V3_SE_SIZE },
	{ TRN_V3_APB_DEV(0), TRN_V3_APB(0), TRN_V3_APB_SIZE },
	{ TRN_V3_APB_DEV(1), TRN_V3_APB(1), TRN_V3_APB_SIZE },
	V3_TOP_SP_WINDOW(0),
	V3_TOP_SP_WINDOW(1),
	V3_TOP_SP_WINDOW(2),
	V3_TOP_SP_WINDOW(3),
	V3_TOP_SP_WINDOW(4),
	V3_TOP_SP_WINDOW(5),
	V3_TOP_SP_WINDOW(6),
	V3_TOP_SP_WINDOW(7),
	V3_TOP_SP_WINDOW(8),
	V3_TOP_SP_WINDOW(9),
	V3_TOP_SP_WINDOW(10),
	V3_TOP_SP_WINDOW(11),
	V3_TOP_SP_WINDOW(12),
	V3_TOP_SP_WINDOW(13),
	V3_TOP_SP_WINDOW(14),
	V3_TOP_SP_WINDOW(15),
	V3_TOP_SP_WINDOW(16),
	V3_TOP_SP_WINDOW(17),
	V3_TOP_SP_WINDOW(18),
	V3_TOP_SP_WINDOW(19),
};

static const struct emu_plain_range v3_plain[] = {
	{ TRN_V3_PREPROC_DEV(0), TRN_V3_PREPROC_SIZE },
	{ TRN_V3_PREPROC_DEV(1), TRN_V3_PREPROC_SIZE },
	{ TRN_V3_PREPROC_DEV(2), TRN_V3_PREPROC_SIZE },
	{ TRN_V3_PREPROC_DEV(3), TRN_V3_PREPROC_SIZE },
};

#define V3_UDMA_STRIDE (TRN_V3_UDMA(0, 1) - TRN_V3_UDMA(0, 0))
#define V3_FIS_STRIDE  (TRN_V3_FIS(0, 1) - TRN_V3_FIS(0, 0))
#define V3_H2T_STRIDE  (TRN_V3_H2T_UDMA(1) - TRN_V3_H2T_UDMA(0))
#define V3_NC_STRIDE   (TRN_V3_NC_BLOCK(1) - TRN_V3_NC_BLOCK(0))
#define V3_NQ_STRIDE   (TRN_V3_TOP_SP_NOTIFIC(1) - TRN_V3_TOP_SP_NOTIFIC(0))

#define V3_PE_GROUP_STRIDE 0x30
#define V3_PE_GROUPS	   9
#define V3_PE_ROWS	   4
#define V3_PE_MHZ	   2400
#define V3_PE_ROW_STRIDE   (V3_PE_GROUPS * V3_PE_GROUP_STRIDE)
#define V3_PE_SIZE	   (V3_PE_ROWS * V3_PE_ROW_STRIDE)

/* clang-format off */
#define FAMILY(kind, first, count, bar0, stride, size)			\
	{ EMU_BLOCK_##kind, first, count, bar0, stride, size }
#define V3_SENG_FAMILIES(s)						\
	FAMILY(UDMA, 32 * (s), 32, TRN_V3_UDMA(s, 0), V3_UDMA_STRIDE, TRN_UDMA_SIZE),	\
	FAMILY(SDMA, 32 * (s), 32, TRN_V3_SDMA(s, 0), V3_UDMA_STRIDE, TRN_V3_SDMA_SIZE), \
	FAMILY(FIS, 32 * (s), 32, TRN_V3_FIS(s, 0), V3_FIS_STRIDE, TRN_V3_FIS_SIZE),	\
	FAMILY(NC_NOTIFIC, 2 * (s), 2, TRN_V3_NC_NOTIFIC(2 * (s)), V3_NC_STRIDE, 0x1000), \
	FAMILY(PE_COUNTERS, 2 * (s), 2, TRN_V3_PE_COUNTERS(2 * (s)), V3_NC_STRIDE, V3_PE_SIZE)
#define V3_H2T(d)   (128 + 2 * (d))
#define V3_DIE_FAMILIES(d)						\
	FAMILY(UDMA, V3_H2T(d), 2, TRN_V3_H2T_UDMA(2 * (d)), V3_H2T_STRIDE, TRN_UDMA_SIZE), \
	FAMILY(SDMA, V3_H2T(d), 2, TRN_V3_H2T_SDMA(2 * (d)), V3_H2T_STRIDE, TRN_V3_SDMA_SIZE), \
	FAMILY(TOP_SP_NOTIFIC, 8 * (d), 8, TRN_V3_TOP_SP_NOTIFIC(8 * (d)), V3_NQ_STRIDE, 0x1000)

static const struct emu_block_family v3_families[] = {
	{ EMU_BLOCK_TPB, 0, TRN_V3_CORES, TRN_V3_TPB(0), TRN_V3_TPB_SIZE, TRN_V3_TPB_SIZE },
	{ EMU_BLOCK_TOP_SP, 0, TRN_V3_HW_TOP_SPS, TRN_V3_TOP_SP(0), TRN_V3_TOP_SP_SIZE,
	  TRN_V3_TOP_SP_SIZE },
	V3_SENG_FAMILIES(0),
	V3_SENG_FAMILIES(1),
	V3_SENG_FAMILIES(2),
	V3_SENG_FAMILIES(3),
	V3_DIE_FAMILIES(0),
	V3_DIE_FAMILIES(1),
	{ EMU_BLOCK_MISC, 0, 1, TRN_V3_MISC, TRN_MISC_SIZE, TRN_MISC_SIZE },
};
/* clang-format on */

/* Bits 31:24 are defined, for the tops of the collective cores, and reset nothing here. */
static const struct emu_reset_field v3_resets[] = {
	{ EMU_RESET_CORE, 0, TRN_V3_CORES, 1 },
	{ EMU_RESET_ENGINES, 8, TRN_V3_CORES, TRN_ENGINES_PER_CORE },
	{ EMU_RESET_TOP_SPS, 16, TRN_V3_CORES, TRN_V3_TOP_SPS / TRN_V3_CORES },
};

/* Windows 8, 9, 18 and 19 answer, but belong to no TOP_SP a driver numbers. */
static const uint8_t v3_top_sp_window[TRN_V3_TOP_SPS] = {
	TRN_V3_TOP_SP_HW(0),  TRN_V3_TOP_SP_HW(1),  TRN_V3_TOP_SP_HW(2),  TRN_V3_TOP_SP_HW(3),
	TRN_V3_TOP_SP_HW(4),  TRN_V3_TOP_SP_HW(5),  TRN_V3_TOP_SP_HW(6),  TRN_V3_TOP_SP_HW(7),
	TRN_V3_TOP_SP_HW(8),  TRN_V3_TOP_SP_HW(9),  TRN_V3_TOP_SP_HW(10), TRN_V3_TOP_SP_HW(11),
	TRN_V3_TOP_SP_HW(12), TRN_V3_TOP_SP_HW(13), TRN_V3_TOP_SP_HW(14), TRN_V3_TOP_SP_HW(15),
};

static const struct emu_link_route v2_links[] = {
	{ TRN_V2_LINK_BASE(0), TRN_V2_LINK_MASK },
	{ TRN_V2_LINK_BASE(1), TRN_V2_LINK_MASK },
	{ TRN_V2_LINK_BASE(2), TRN_V2_LINK_MASK },
	{ TRN_V2_LINK_BASE(3), TRN_V2_LINK_MASK },
};

static const struct emu_link_route v3_links[] = {
	{ TRN_V3_LINK_BASE(0), TRN_V3_LINK_MASK },   { TRN_V3_LINK_BASE(1), TRN_V3_LINK_MASK },
	{ TRN_V3_LINK_BASE(2), TRN_V3_LINK_MASK },   { TRN_V3_LINK_BASE(3), TRN_V3_LINK_MASK },
	{ TRN_V3_TORUS_BASE(0), TRN_V3_TORUS_MASK }, { TRN_V3_TORUS_BASE(1), TRN_V3_TORUS_MASK },
	{ TRN_V3_TORUS_BASE(2), TRN_V3_TORUS_MASK }, { TRN_V3_TORUS_BASE(3), TRN_V3_TORUS_MASK },
};

static const uint8_t trn2_sides[TRN_V3_LINKS] = TRN_TRN2_LINK_SIDES;

static const uint8_t trn1_index[TRN_TORUS_DEVICES] = TRN_TRN1_DEVICE_INDEX;
static const uint8_t trn1_neighbours[TRN_TORUS_DEVICES][TRN_TORUS_LINKS] = TRN_TRN1_NEIGHBOURS;
static const uint8_t trn2_index[TRN_TORUS_DEVICES] = TRN_TRN2_DEVICE_INDEX;
static const uint8_t trn2_neighbours[TRN_TORUS_DEVICES][TRN_TORUS_LINKS] = TRN_TRN2_NEIGHBOURS;
static const uint8_t inf2_neighbours[TRN_RING_DEVICES][TRN_RING_LINKS] = TRN_INF2_NEIGHBOURS;

#define TORUS_GROUPS (TRN_MAX_DEVICES / TRN_TORUS_DEVICES)

static const struct emu_wiring trn1_wiring = {
	TRN_TORUS_DEVICES, TRN_TORUS_LINKS, TORUS_GROUPS, trn1_index, trn1_neighbours[0],
};

static const struct emu_wiring trn2_wiring = {
	TRN_TORUS_DEVICES, TRN_TORUS_LINKS, TORUS_GROUPS, trn2_index, trn2_neighbours[0],
};

static const struct emu_wiring inf2_wiring = {
	TRN_RING_DEVICES, TRN_RING_LINKS, 1, NULL, inf2_neighbours[0],
};

static const struct emu_product products[] = {
	{ .arch = "trn1",
	  .pci_device = TRN_PCI_DEVICE_TRN1,
	  .links = v2_links,
	  .link_count = TRN_TORUS_LINKS,
	  .link_bits = TRN_V2_LINK_BASE(0),
	  .wiring = &trn1_wiring,
	  V2_COMMON },
	{ .arch = "inf2",
	  .pci_device = TRN_PCI_DEVICE_INF2,
	  .links = v2_links,
	  .link_count = TRN_RING_LINKS,
	  .link_bits = TRN_V2_LINK_BASE(0),
	  .wiring = &inf2_wiring,
	  V2_COMMON },
	{
		.arch = "trn2",
		.pci_device = TRN_PCI_DEVICE_TRN2,
		.generation = 3,
		.dies = TRN_V3_DIES,
		.cores = TRN_V3_CORES,
		.stacks = TRN_V3_STACKS,
		.engines = TRN_V3_ENGINES,
		.h2t_engines = TRN_V3_H2T_ENGINES,
		.top_sps = TRN_V3_TOP_SPS,
		.top_sp_windows = TRN_V3_HW_TOP_SPS,
		.top_sp_window = v3_top_sp_window,
		.sbuf_partition_bytes = TRN_SBUF_PARTITION_BYTES_V3,
		.bar0_size = TRN_V3_BAR0_SIZE,
		.hbm_bytes = TRN_V3_HBM_SIZE,
		.bar4_stride = TRN_V3_HBM_BAR4(1ull),
		.hbm_base = { TRN_V3_HBM_BASE(0), TRN_V3_HBM_BASE(1), TRN_V3_HBM_BASE(2),
			      TRN_V3_HBM_BASE(3) },
		.host_base = TRN_V3_HOST_BASE,
		.host_mask = TRN_V3_HOST_MASK,
		.host_size = TRN_V3_HOST_SIZE,
		.windows = v3_windows,
		.window_count = ARRAY_SIZE(v3_windows),
		.plain = v3_plain,
		.plain_count = ARRAY_SIZE(v3_plain),
		.families = v3_families,
		.family_count = ARRAY_SIZE(v3_families),
		.resets = v3_resets,
		.reset_count = ARRAY_SIZE(v3_resets),
		.links = v3_links,
		.link_count = ARRAY_SIZE(v3_links),
		.public_links = TRN_V3_LINKS,
		.link_bits = TRN_V3_LINK_BASE(0) | TRN_V3_TORUS_BASE(0),
		.link_side = trn2_sides,
		.wiring = &trn2_wiring,
		.pe = { V3_PE_GROUP_STRIDE, V3_PE_GROUPS, V3_PE_ROW_STRIDE, V3_PE_ROWS, 4,
			V3_PE_MHZ },
	},
};

const struct emu_product *emu_product_at(unsigned int index)
{
	return index < ARRAY_SIZE(products) ? &products[index] : NULL;
}

void emu_product_names(char *text, size_t size)
{
	const struct emu_product *product;
	size_t used = 0;
	unsigned int i;

	for (i = 0; (product = emu_product_at(i)) && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, " %s", product->arch);
}

const struct emu_product *emu_product_find(const char *arch)
{
	const struct emu_product *product;
	unsigned int i;

	for (i = 0; (product = emu_product_at(i)); i++)
		if (!strcmp(product->arch, arch))
			return product;
	return NULL;
}
