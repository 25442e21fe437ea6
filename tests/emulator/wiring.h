/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which device is at the other end of a link. Pure: tables of the product and numbers.
 */
#ifndef EMU_WIRING_H
#define EMU_WIRING_H

#include <stdbool.h>
#include <stdint.h>
#include "product.h"

/** struct emu_place - where a device sits. */
struct emu_place {
	uint32_t node, nodes, routing_id;
};

/**
 * emu_wiring_peer() - the device that link @link of the device at @from leads to, and the number of
 * the link that leads back. Return: false when the link is not wired.
 */
bool emu_wiring_peer(const struct emu_product *product, const struct emu_place *from,
		     unsigned int link, struct emu_place *to, unsigned int *reverse);

#endif /* EMU_WIRING_H */
