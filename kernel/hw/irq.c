// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Interrupt control of the open extension. A vector that is masked collects events as pending and
 * sends when it is unmasked, so mask, drain, unmask loses nothing.
 */
#include "internal.h"

void trnhw_irq_mask(struct trnhw *hw, unsigned int vector)
{
	if (vector < hw->vectors)
		trnhw_ext_write(hw, TRN_EXT_IRQ_MASK(vector), 1);
}

void trnhw_irq_unmask(struct trnhw *hw, unsigned int vector)
{
	if (vector < hw->vectors)
		trnhw_ext_write(hw, TRN_EXT_IRQ_MASK(vector), 0);
}
