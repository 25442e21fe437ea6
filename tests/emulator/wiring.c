// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Wiring of the devices of a machine, and of the nodes of an UltraServer.
 */
#include "wiring.h"

/* Device index inside of its torus or ring. */
static unsigned int index_of(const struct emu_wiring *wiring, unsigned int routing_id)
{
	return wiring->index ? wiring->index[routing_id] : routing_id;
}

static unsigned int routing_id_of(const struct emu_wiring *wiring, unsigned int index)
{
	unsigned int r;

	for (r = 0; r < wiring->devices && index_of(wiring, r) != index; r++)
		;
	return r;
}

static const uint8_t *neighbours(const struct emu_wiring *wiring, unsigned int index)
{
	return wiring->neighbour + (size_t)index * wiring->degree;
}

static bool machine_peer(const struct emu_wiring *wiring, const struct emu_place *from,
			 unsigned int slot, struct emu_place *to, unsigned int *reverse)
{
	unsigned int group = from->routing_id / wiring->devices, here, there, back;

	if (group >= wiring->groups || slot >= wiring->degree)
		return false;
	here = index_of(wiring, from->routing_id % wiring->devices);
	there = neighbours(wiring, here)[slot];
	for (back = 0; back < wiring->degree && neighbours(wiring, there)[back] != here; back++)
		;
	if (back == wiring->degree)
		return false;
	*to = *from;
	to->routing_id = group * wiring->devices + routing_id_of(wiring, there);
	*reverse = back;
	return true;
}

/* Four nodes make a square: 0 - 1 and 2 - 3 vertical, 0 - 3 and 1 - 2 horizontal. Two nodes are
 * neighbours on both sides. */
static uint32_t node_peer(const struct emu_place *from, bool right)
{
	return from->nodes > 2 && right ? from->nodes - 1 - from->node : from->node ^ 1;
}

bool emu_wiring_peer(const struct emu_product *product, const struct emu_place *from,
		     unsigned int link, struct emu_place *to, unsigned int *reverse)
{
	unsigned int first = 0;

	if (link >= product->link_count)
		return false;
	if (link < product->public_links && from->nodes > 1) {
		*to = *from;
		to->node = node_peer(from, product->link_side[link]);
		*reverse = link;
		return true;
	}
	if (link >= product->public_links)
		first = product->public_links;
	if (!machine_peer(product->wiring, from, link - first, to, reverse))
		return false;
	*reverse += first;
	return true;
}
