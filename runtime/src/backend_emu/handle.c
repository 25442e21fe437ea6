// SPDX-License-Identifier: BSD-2-Clause
/* Handle tables: handle n is slot n - 1. Locking: the owner of the table serialises. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"

#define HANDLES_MAX (1u << 24)

int trn_emu_handle_add(void ***table, uint32_t *room, uint32_t *free_from, void *object,
		       uint32_t *handle)
{
	uint32_t slot = free_from ? *free_from : 0, grown;
	void **list;

	while (slot < *room && (*table)[slot])
		slot++;
	if (slot == *room) {
		if (*room >= HANDLES_MAX)
			return -ENOSPC;
		grown = *room ? *room * 2 : 64;
		list = realloc(*table, grown * sizeof(*list));
		if (!list)
			return -ENOMEM;
		memset(list + *room, 0, (grown - *room) * sizeof(*list));
		*table = list;
		*room = grown;
	}
	(*table)[slot] = object;
	*handle = slot + 1;
	if (free_from)
		*free_from = slot + 1;
	return 0;
}
