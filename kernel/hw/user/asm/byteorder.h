/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: byte order of memory shared with the device.
 */
#ifndef TRNHW_USER_BYTEORDER_H
#define TRNHW_USER_BYTEORDER_H

#include_next <asm/byteorder.h>

#include <endian.h>
#include <linux/types.h>

#define cpu_to_le32(x)	htole32(x)
#define cpu_to_le64(x)	htole64(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)

#endif /* TRNHW_USER_BYTEORDER_H */
