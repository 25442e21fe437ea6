/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Constant tables of one product: identity, counts, address map. A new generation is a new table,
 * not new code.
 */
#ifndef EMU_PRODUCT_H
#define EMU_PRODUCT_H

#include <stddef.h>
#include <stdint.h>
#include "trainium/map.h"

/** enum emu_block_kind - what answers in a range of BAR0. */
enum emu_block_kind {
	EMU_BLOCK_TPB,
	EMU_BLOCK_TOP_SP,
	EMU_BLOCK_UDMA,
	EMU_BLOCK_SDMA,
	EMU_BLOCK_NC_NOTIFIC,
	EMU_BLOCK_TOP_SP_NOTIFIC,
	EMU_BLOCK_PE_COUNTERS,
	EMU_BLOCK_FIS,
	EMU_BLOCK_MISC,
};

/** struct emu_block_family - @count equal blocks, @stride apart, numbered from @first. */
struct emu_block_family {
	enum emu_block_kind kind;
	unsigned int first, count;
	uint64_t bar0, stride;
	uint32_t size;
};

/** struct emu_dev_window - a range of device addresses that is a range of BAR0. */
struct emu_dev_window {
	uint64_t dev, bar0, size;
};

/** struct emu_plain_range - device addresses that are memory and in no BAR. */
struct emu_plain_range {
	uint64_t dev, size;
};

/** struct emu_link_route - device addresses that lead over a link: those equal to @base under
 * @mask; the bits outside of it are the address at the neighbour. The lowest bit of @mask is the
 * size. */
struct emu_link_route {
	uint64_t base, mask;
};

/** struct emu_wiring - a torus or ring of @devices devices; a node may have @groups of them. */
struct emu_wiring {
	unsigned int devices, degree, groups;
	const uint8_t *index;	  /* device index of a routing id, NULL: the same number */
	const uint8_t *neighbour; /* [devices][degree] by device index */
};

/** struct emu_pe_layout - activity counters of the tensor engine. */
struct emu_pe_layout {
	uint32_t group_stride, groups, row_stride, rows, column_groups;
	uint32_t clock_mhz; /* of the tensor engine */
};

/** enum emu_reset_kind - what a bit of RESET_TPB_MAP resets. */
enum emu_reset_kind {
	EMU_RESET_CORE,
	EMU_RESET_ENGINES, /* DMA engines */
	EMU_RESET_TOP_SPS,
};

/** struct emu_reset_field - @bits bits of RESET_TPB_MAP from @shift on; bit i covers @units units
 * from unit i * @units on. */
struct emu_reset_field {
	enum emu_reset_kind kind;
	unsigned int shift, bits, units;
};

/** struct emu_product - one product; all pointers are to constants. */
struct emu_product {
	const char *arch;
	uint16_t pci_device;
	unsigned int generation;
	unsigned int dies, cores, stacks, engines, h2t_engines;
	unsigned int top_sps;	      /* with a NOTIFIC block and a place in RESET_TPB_MAP */
	unsigned int top_sp_windows;  /* in the address map */
	const uint8_t *top_sp_window; /* window of a TOP_SP */
	uint32_t sbuf_partition_bytes;
	uint64_t bar0_size;
	uint64_t hbm_bytes;   /* per stack */
	uint64_t bar4_stride; /* power of two; the rest behind a stack is not backed */
	uint64_t hbm_base[4]; /* device addresses of the stacks */
	uint64_t host_base, host_mask, host_size;
	const struct emu_dev_window *windows;
	unsigned int window_count;
	const struct emu_plain_range *plain;
	unsigned int plain_count;
	const struct emu_block_family *families;
	unsigned int family_count;
	const struct emu_reset_field *resets;
	unsigned int reset_count;
	const struct emu_link_route *links;
	unsigned int link_count;
	unsigned int public_links; /* the first ones, windows of the public map */
	uint64_t link_bits;	   /* an address with none of them set leads over no link */
	/* where public links lead with several nodes: 0 left, 1 right; NULL: one node only */
	const uint8_t *link_side;
	const struct emu_wiring *wiring;
	struct emu_pe_layout pe;
};

/** emu_product_find() - table of @arch, NULL when the model does not know it. */
const struct emu_product *emu_product_find(const char *arch);

/** emu_product_names() - the names of all products, a blank before each. */
void emu_product_names(char *text, size_t size);

/** emu_product_at() - the products in order, NULL at the end. */
const struct emu_product *emu_product_at(unsigned int index);

#endif /* EMU_PRODUCT_H */
