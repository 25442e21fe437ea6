/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: CRC32C (Castagnoli), raw: neither seed nor result is inverted.
 */
#ifndef TRNHW_USER_CRC32C_H
#define TRNHW_USER_CRC32C_H

#include <linux/types.h>

u32 crc32c(u32 crc, const void *data, unsigned int size);

#endif /* TRNHW_USER_CRC32C_H */
