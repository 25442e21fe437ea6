// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A group of an interrupt controller (IOFIC): cause, mask, status. Groups of the same layout are in
 * a UDMA and in an FIS block. No message reaches the host; the groups latch.
 *
 * No lock: the words are atomics.
 */
#include "device.h"

#define WORD(reg) ((reg) / 4)

uint32_t emu_iofic_read(const _Atomic uint32_t *group, uint32_t reg)
{
	if (reg == TRN_IOFIC_STATUS)
		return atomic_load(&group[WORD(TRN_IOFIC_CAUSE)]) &
		       ~atomic_load(&group[WORD(TRN_IOFIC_MASK)]);
	/* The apertures that set and clear bits show nothing. */
	if (reg == TRN_IOFIC_CAUSE_SET || reg == TRN_IOFIC_MASK_CLEAR)
		return 0;
	return atomic_load(&group[WORD(reg)]);
}

bool emu_iofic_write(_Atomic uint32_t *group, uint32_t reg, uint32_t value)
{
	switch (reg) {
	case TRN_IOFIC_CAUSE: /* written with 0 in the bits to clear */
		atomic_fetch_and(&group[WORD(TRN_IOFIC_CAUSE)], value);
		return true;
	case TRN_IOFIC_CAUSE_SET:
		atomic_fetch_or(&group[WORD(TRN_IOFIC_CAUSE)], value);
		return true;
	case TRN_IOFIC_MASK_CLEAR: /* written with 0 in the bits to unmask */
		atomic_fetch_and(&group[WORD(TRN_IOFIC_MASK)], value);
		return true;
	case TRN_IOFIC_STATUS:
		return false;
	}
	atomic_store(&group[WORD(reg)], value);
	return true;
}

void emu_iofic_latch(_Atomic uint32_t *group, uint32_t cause)
{
	atomic_fetch_or(&group[WORD(TRN_IOFIC_CAUSE)], cause);
}

void emu_iofic_power_up(_Atomic uint32_t *group)
{
	atomic_store(&group[WORD(TRN_IOFIC_CAUSE)], 0);
	atomic_store(&group[WORD(TRN_IOFIC_MASK)], 0xffffffff);
}
