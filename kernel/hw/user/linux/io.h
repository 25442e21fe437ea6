/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: register access through the callbacks of the device a cookie belongs to.
 */
#ifndef TRNHW_USER_IO_H
#define TRNHW_USER_IO_H

#include <linux/types.h>

/** readl() - one 32-bit register; all ones for a cookie of no device. */
u32 readl(const volatile void __iomem *cookie);
/** writel() - one 32-bit register; earlier stores are visible before it. */
void writel(u32 value, volatile void __iomem *cookie);

#endif /* TRNHW_USER_IO_H */
