/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address maps of the products, for tests that drive the device model by registers and for what
 * fuzzes it. Constants, written from the published map and not from the model's tables.
 */
#ifndef EMU_RIG_MAP_H
#define EMU_RIG_MAP_H

#include <stdint.h>

#define RIG_NOWHERE UINT64_MAX

/** struct rig_map - where things are; functions return BAR0 offsets unless named otherwise. */
struct rig_map {
	const char *arch;
	uint16_t pci_device;
	unsigned int generation, cores, stacks, engines, top_sps;
	uint64_t bar0_size, bar4_size, host_base, hbm_size;
	uint32_t misc, sbuf_partition_bytes;
	uint32_t (*udma)(unsigned int engine);
	uint32_t (*sdma)(unsigned int engine);
	uint32_t (*tpb)(unsigned int core);
	uint32_t (*top_sp)(unsigned int t);
	uint32_t (*nc_notific)(unsigned int core);
	uint32_t (*top_sp_notific)(unsigned int t);
	uint32_t (*pe_counters)(unsigned int core);
	uint64_t (*hbm_base)(unsigned int stack); /* device address */
	uint64_t (*dev)(uint64_t bar0); /* device address, RIG_NOWHERE where none leads to it */
	/* bits of RESET_TPB_MAP: core with its DMA engines, TOP_SP t */
	uint32_t (*reset_core)(unsigned int core);
	uint32_t (*reset_top_sp)(unsigned int t);
};

/** rig_map - product under test: of the device opened last, before that the one of the test case.
 */
extern const struct rig_map *rig_map;
/** rig_map_at() - the products in order, NULL at the end. */
const struct rig_map *rig_map_at(unsigned int index);

#endif /* EMU_RIG_MAP_H */
