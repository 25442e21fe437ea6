/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: halves of 64-bit values, length of arrays.
 */
#ifndef TRNHW_USER_KERNEL_H
#define TRNHW_USER_KERNEL_H

#include_next <linux/kernel.h>

#include <linux/types.h>

#define lower_32_bits(n)	((u32)((n) & 0xffffffff))
#define upper_32_bits(n)	((u32)(((u64)(n)) >> 32))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))

#endif /* TRNHW_USER_KERNEL_H */
