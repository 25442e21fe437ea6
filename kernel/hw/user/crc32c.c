// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CRC32C for the user-space shim. Mailbox requests are short, so a nibble table is enough.
 */
#include <linux/crc32c.h>

u32 crc32c(u32 crc, const void *data, unsigned int size)
{
	/* Remainders of the 4-bit values, reflected polynomial 0x82f63b78. */
	static const u32 table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
		0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const u8 *byte = data;

	while (size--) {
		crc ^= *byte++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}
