// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which devices of a machine are linked. It is here because the tables are the hardware layer's,
 * which is compiled for this folder; it serves the devices of every backend.
 *
 * Locking: none needed.
 */
#include <string.h>

#include "trnhw.h"

#include "trn/trn.h"

/* Devices of the same product: a machine has one kind. */
static uint32_t machine_size(const struct trn_device_info *list, size_t count, const char *arch)
{
	uint32_t total = 0;
	size_t i;

	for (i = 0; i < count; i++)
		total += !strcmp(list[i].arch, arch);
	return total;
}

static bool position_find(const struct trn_device_info *list, size_t count, const char *arch,
			  uint32_t index, uint32_t *position)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(list[i].arch, arch) && list[i].device_index == index) {
			*position = (uint32_t)i;
			return true;
		}
	return false;
}

uint32_t trn_device_neighbours(const struct trn_device_info *list, size_t count, size_t position,
			       uint32_t neighbours[TRN_NEIGHBOURS_MAX])
{
	const struct trnhw_arch *arch;
	u32 indices[TRNHW_NEIGHBOURS_MAX];
	unsigned int links, i;

	if (position >= count)
		return 0;
	arch = trnhw_arch_find_name(list[position].arch);
	if (!arch)
		return 0;
	links = trnhw_device_neighbours(arch, list[position].device_index,
					machine_size(list, count, arch->name), indices);
	for (i = 0; i < links; i++)
		if (!position_find(list, count, arch->name, indices[i], &neighbours[i]))
			return 0;
	return links;
}
