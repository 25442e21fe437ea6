// SPDX-License-Identifier: BSD-2-Clause
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "topology.h"

#define TORUS	    16u
#define SIDE	    4u
#define DEVICES_MAX 64u

bool topology_known(const struct trn_device_info *list, size_t count)
{
	uint32_t to[TRN_NEIGHBOURS_MAX];
	size_t i;

	for (i = 0; i < count; i++)
		if (trn_device_neighbours(list, count, i, to))
			return true;
	return false;
}

void topology_links(const struct trn_device_info *list, size_t count, size_t at, char *text,
		    size_t size)
{
	uint32_t to[TRN_NEIGHBOURS_MAX];
	uint32_t links = trn_device_neighbours(list, count, at, to), i;
	size_t used = 0;

	snprintf(text, size, "-");
	for (i = 0; i < links && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
					 list[to[i]].spec);
}

static bool linked(const struct trn_device_info *list, size_t count, size_t from, uint32_t to_index)
{
	uint32_t to[TRN_NEIGHBOURS_MAX];
	uint32_t links = trn_device_neighbours(list, count, from, to), i;

	for (i = 0; i < links; i++)
		if (list[to[i]].device_index == to_index)
			return true;
	return false;
}

/* Position of device index @index; @count: not there. */
static size_t position(const struct trn_device_info *list, size_t count, uint32_t index)
{
	size_t i;

	for (i = 0; i < count && list[i].device_index != index; i++)
		;
	return i;
}

/* Is what is drawn as a grid one? Every device is linked to the next in its row and its column. */
static bool is_torus(const struct trn_device_info *list, size_t count, uint32_t base)
{
	uint32_t d;

	for (d = 0; d < TORUS; d++) {
		size_t at = position(list, count, base + d);
		uint32_t right = d / SIDE * SIDE + (d + 1) % SIDE;

		if (at == count || !linked(list, count, at, base + right) ||
		    !linked(list, count, at, base + (d + SIDE) % TORUS))
			return false;
	}
	return true;
}

static void print_torus(const struct trn_device_info *list, size_t count, uint32_t base)
{
	uint32_t row, column;

	printf("\nTorus of devices %u to %u. Each row and each column closes to a ring.\n\n", base,
	       base + TORUS - 1);
	for (row = 0; row < SIDE; row++) {
		printf("   -");
		for (column = 0; column < SIDE; column++)
			printf(" %6s -",
			       list[position(list, count, base + row * SIDE + column)].spec);
		printf("\n");
		for (column = 0; row + 1 < SIDE && column < SIDE; column++)
			printf("%s", column ? "        |" : "          |");
		if (row + 1 < SIDE)
			printf("\n");
	}
}

/* From one end of a line, or once around a ring. */
static void print_chain(const struct trn_device_info *list, size_t count, size_t start, bool ring)
{
	bool seen[DEVICES_MAX] = { false };
	uint32_t to[TRN_NEIGHBOURS_MAX], links, i;
	size_t at = start;

	printf("\n%s: %s", ring ? "Ring" : "Line", list[at].spec);
	for (;;) {
		seen[at] = true;
		links = trn_device_neighbours(list, count, at, to);
		/* Forward, so that a ring is walked by rising index. */
		for (i = links; i-- && seen[to[i]];)
			;
		if (i == UINT32_MAX)
			break;
		at = to[i];
		printf(" - %s", list[at].spec);
	}
	printf(ring ? " - %s\n" : "\n", list[start].spec);
}

void topology_print(const struct trn_device_info *list, size_t count)
{
	uint32_t to[TRN_NEIGHBOURS_MAX], links, fewest = TRN_NEIGHBOURS_MAX;
	size_t i, start = 0;

	if (count > DEVICES_MAX || !topology_known(list, count))
		return;
	if (is_torus(list, count, 0)) {
		for (i = 0; i + TORUS <= count; i += TORUS)
			if (is_torus(list, count, (uint32_t)i))
				print_torus(list, count, (uint32_t)i);
		return;
	}
	for (i = 0; i < count; i++) {
		links = trn_device_neighbours(list, count, i, to);
		if (links &&
		    (links < fewest ||
		     (links == fewest && list[i].device_index < list[start].device_index))) {
			fewest = links;
			start = i;
		}
	}
	if (fewest <= 2)
		print_chain(list, count, start, fewest == 2);
}
