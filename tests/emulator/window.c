// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Protection windows: which device addresses the present run of a core may name.
 *
 * The table is copied when a run starts, so a guest that changes it meanwhile changes nothing. It
 * belongs to the core's worker.
 */
#include <stdlib.h>
#include "device.h"

#define ACCESS_ALL (TRN_ACCESS_READ | TRN_ACCESS_WRITE | TRN_ACCESS_EXEC)

/* Sorted by base, no two overlap, none wraps around. */
static bool table_valid(const struct trn_window *window, uint32_t count)
{
	uint64_t end = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (!window[i].size || window[i].base + window[i].size < window[i].base ||
		    (i && window[i].base < end) || (window[i].access & ~ACCESS_ALL) ||
		    window[i].reserved0 || window[i].reserved1)
			return false;
		end = window[i].base + window[i].size;
	}
	return true;
}

int emu_windows_load(struct emu_device *device, struct emu_window_table *table, uint64_t addr,
		     uint32_t count)
{
	table->enforced = device->features & TRN_FEATURE_WINDOWS;
	table->count = 0;
	if (!table->enforced)
		return 0;
	if (count > TRN_WINDOWS_MAX)
		return -1;
	if (!count)
		return 0;
	if (!table->window)
		table->window = calloc(TRN_WINDOWS_MAX, sizeof(*table->window));
	if (!table->window ||
	    emu_memory_read(device, addr, table->window, count * sizeof(*table->window)) ||
	    !table_valid(table->window, count))
		return -1;
	table->count = count;
	return 0;
}

void emu_windows_open(struct emu_window_table *table)
{
	table->enforced = false;
	table->count = 0;
}

/* The window with the greatest base not above @addr, NULL when there is none. */
static const struct trn_window *window_find(const struct emu_window_table *table, uint64_t addr)
{
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->window[middle].base <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &table->window[low - 1] : NULL;
}

bool emu_windows_allow(const struct emu_window_table *table, uint64_t addr, uint64_t len,
		       uint32_t access)
{
	const struct trn_window *window;

	if (!table->enforced)
		return true;
	/* A range may span windows that touch each other. */
	while (len) {
		uint64_t inside;

		window = window_find(table, addr);
		if (!window || addr - window->base >= window->size ||
		    (window->access & access) != access)
			return false;
		inside = window->size - (addr - window->base);
		if (inside >= len)
			return true;
		addr += inside;
		len -= inside;
	}
	return true;
}

void emu_windows_free(struct emu_window_table *table)
{
	free(table->window);
	table->window = NULL;
}
