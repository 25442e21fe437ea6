/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: the library function the kernel has built in.
 */
#ifndef TRNHW_USER_CRC32_H
#define TRNHW_USER_CRC32_H

#include <linux/crc32c.h>

#define __crc32c_le	crc32c

#endif /* TRNHW_USER_CRC32_H */
