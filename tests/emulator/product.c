// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Products the model knows. Everything here comes from include/trainium/map.h.
 */
#include <string.h>
#include "product.h"
#include "trainium/isa.h"
#include "trainium/regs.h"

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

/* clang-format off */
#define V2_COMMON							\
	.generation = 2,						\
	.cores = TRN_V2_CORES,						\
	.stacks = TRN_V2_STACKS,					\
	.top_sps = TRN_V2_TOP_SPS,					\
	.engines = TRN_V2_ENGINES,					\
	.h2t_engines = TRN_V2_ENGINES - TRN_V2_CORES * TRN_ENGINES_PER_CORE, \
	.top_sps_per_core = TRN_V2_TOP_SPS / TRN_V2_CORES,		\
	.reset_top_sp_shift = 8,					\
	.sbuf_partition_bytes = TRN_SBUF_PARTITION_BYTES_V2,		\
	.bar0_size = TRN_V2_BAR0_SIZE,					\
	.hbm_bytes = TRN_V2_HBM_SIZE,					\
	.hbm_base = { TRN_V2_HBM_BASE(0ull), TRN_V2_HBM_BASE(1ull) },	\
	.host_base = TRN_V2_HOST_BASE,					\
	.host_mask = TRN_V2_HOST_MASK,					\
	.host_size = TRN_V2_HOST_SIZE,					\
	.windows = v2_windows,						\
	.window_count = ARRAY_SIZE(v2_windows),				\
	.families = v2_families,					\
	.family_count = ARRAY_SIZE(v2_families),			\
	.pe = { V2_PE_GROUP_STRIDE, V2_PE_GROUPS, V2_PE_ROW_STRIDE, V2_PE_ROWS, 4 }
/* clang-format on */

static const struct emu_product products[] = {
	{ .arch = "trn1", .pci_device = TRN_PCI_DEVICE_TRN1, V2_COMMON },
	{ .arch = "inf2", .pci_device = TRN_PCI_DEVICE_INF2, V2_COMMON },
};

const struct emu_product *emu_product_at(unsigned int index)
{
	return index < ARRAY_SIZE(products) ? &products[index] : NULL;
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
