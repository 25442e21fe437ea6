// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where a device sits in its machine: routing id to index and back, and neighbours.
 */
#include "internal.h"

#define TRNHW_ROW		16	/* devices of one torus */
#define TRNHW_INF2_RING		12
#define TRNHW_INF2_LINE		6

static const u8 trn1_index[TRNHW_ROW] = {
	0, 4, 1, 5, 3, 7, 2, 6, 12, 8, 13, 9, 15, 11, 14, 10,
};

static bool is_trn1(const struct trnhw_arch *arch)
{
	return arch->pci_device == TRN_PCI_DEVICE_TRN1;
}

int trnhw_device_index(const struct trnhw_arch *arch, u32 routing_id)
{
	if (routing_id >= TRN_MAX_DEVICES)
		return -EINVAL;
	if (!is_trn1(arch))
		return routing_id;
	return trn1_index[routing_id % TRNHW_ROW] + routing_id / TRNHW_ROW * TRNHW_ROW;
}

int trnhw_routing_id(const struct trnhw_arch *arch, u32 index)
{
	u32 routing_id;

	for (routing_id = 0; routing_id < TRN_MAX_DEVICES; routing_id++) {
		if (trnhw_device_index(arch, routing_id) == (int)index)
			return routing_id;
	}
	return -EINVAL;
}

/* 4 x 4 torus, order up, left, down, right. */
static unsigned int trn1_neighbours(u32 index, u32 *neighbours)
{
	u32 base = index - index % TRNHW_ROW;
	u32 d = index % TRNHW_ROW;
	u32 row = d / 4 * 4;

	neighbours[0] = base + (d + 12) % TRNHW_ROW;
	neighbours[1] = base + (row + (d + 3) % 4);
	neighbours[2] = base + (d + 4) % TRNHW_ROW;
	neighbours[3] = base + (row + (d + 1) % 4);
	return 4;
}

/* Twelve make a ring, six a line. */
static unsigned int inf2_neighbours(u32 index, u32 total, u32 *neighbours)
{
	unsigned int n = 0;

	if (total == TRNHW_INF2_RING) {
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

unsigned int trnhw_device_neighbours(const struct trnhw_arch *arch, u32 index, u32 total,
				     u32 neighbours[TRNHW_NEIGHBOURS_MAX])
{
	if (index >= total)
		return 0;
	if (!is_trn1(arch))
		return inf2_neighbours(index, total, neighbours);
	return total % TRNHW_ROW ? 0 : trn1_neighbours(index, neighbours);
}
