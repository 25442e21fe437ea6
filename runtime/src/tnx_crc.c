// SPDX-License-Identifier: BSD-2-Clause
/* CRC32C (Castagnoli, reflected 0x82f63b78), eight bytes per round by tables made at first use. */
#include <pthread.h>
#include <string.h>
#include "tnx.h"

static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_make(void)
{
	uint32_t i, k;

	for (i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
		table[0][i] = crc;
	}
	for (i = 0; i < 256; i++) {
		for (k = 1; k < 8; k++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
	}
}

uint32_t trn_tnx_crc32c(uint32_t crc, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	pthread_once(&table_once, table_make);
	crc = ~crc;
	while (bytes >= 8) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		word ^= crc;
		crc = table[7][word & 0xff] ^ table[6][word >> 8 & 0xff] ^
		      table[5][word >> 16 & 0xff] ^ table[4][word >> 24 & 0xff] ^
		      table[3][word >> 32 & 0xff] ^ table[2][word >> 40 & 0xff] ^
		      table[1][word >> 48 & 0xff] ^ table[0][word >> 56];
		p += 8;
		bytes -= 8;
	}
	while (bytes--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return ~crc;
}
