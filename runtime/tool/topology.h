/* SPDX-License-Identifier: BSD-2-Clause */
/* How the devices of a machine are linked, for people. */
#ifndef TRN_TOOL_TOPOLOGY_H
#define TRN_TOOL_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

#include "trn/trn.h"

/** topology_known() - some device of the list has links. */
bool topology_known(const struct trn_device_info *list, size_t count);
/** topology_links() - names of the devices linked to one, in the order of its links; "-" for none.
 */
void topology_links(const struct trn_device_info *list, size_t count, size_t at, char *text,
		    size_t size);
/** topology_print() - a picture of each torus, ring or line; nothing when there are no links. */
void topology_print(const struct trn_device_info *list, size_t count);

#endif /* TRN_TOOL_TOPOLOGY_H */
