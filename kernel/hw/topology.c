// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where a device sits in its machine: routing id to index and back, and neighbours.
 */
#include "internal.h"

int trnhw_device_index(const struct trnhw_arch *arch, u32 routing_id)
{
	if (routing_id >= TRN_MAX_DEVICES)
		return -EINVAL;
	if (!arch->routing)
		return routing_id;
	return arch->routing[routing_id % TRN_TORUS_DEVICES] +
	       routing_id / TRN_TORUS_DEVICES * TRN_TORUS_DEVICES;
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

unsigned int trnhw_torus_neighbours(const u8 links[][TRN_TORUS_LINKS], u32 index, u32 total,
				    u32 *neighbours)
{
	u32 d = index % TRN_TORUS_DEVICES;
	unsigned int link;

	if (total % TRN_TORUS_DEVICES)
		return 0;
	for (link = 0; link < TRN_TORUS_LINKS; link++)
		neighbours[link] = index - d + links[d][link];
	return TRN_TORUS_LINKS;
}

unsigned int trnhw_device_neighbours(const struct trnhw_arch *arch, u32 index, u32 total,
				     u32 neighbours[TRNHW_NEIGHBOURS_MAX])
{
	return index < total ? arch->neighbours(index, total, neighbours) : 0;
}
