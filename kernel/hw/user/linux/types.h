/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: kernel integer types on top of the system's header of the same name.
 */
#ifndef TRNHW_USER_TYPES_H
#define TRNHW_USER_TYPES_H

#include_next <linux/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef u64 dma_addr_t;
typedef unsigned int gfp_t;

#define GFP_KERNEL	0u

#ifndef __iomem
#define __iomem
#endif
#ifndef __force
#define __force
#endif

#endif /* TRNHW_USER_TYPES_H */
