// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CRC32C (Castagnoli), reflected, as used by the firmware mailbox.
 */
#include "device.h"

#define POLYNOMIAL 0x82f63b78u

uint32_t emu_crc32c(const void *data, size_t len)
{
	const uint8_t *byte = data;
	uint32_t crc = 0xffffffffu;
	int bit;

	while (len--) {
		crc ^= *byte++;
		for (bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return ~crc;
}
