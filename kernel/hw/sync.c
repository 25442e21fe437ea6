// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Semaphores and events of a core.
 */
#include "internal.h"

static bool sync_at(const struct trnhw *hw, unsigned int core, unsigned int index, u32 aperture,
		    u32 *offset)
{
	if (core >= hw->arch->cores || index >= TRN_SEM_COUNT)
		return false;
	*offset = hw->arch->tpb(core) + aperture + index * 4;
	return true;
}

s32 trnhw_sem_read(struct trnhw *hw, unsigned int core, unsigned int index)
{
	u32 offset;

	return sync_at(hw, core, index, TRN_TPB_SEM_READ, &offset) ? (s32)trnhw_read(hw, offset) :
								     0;
}

void trnhw_sem_set(struct trnhw *hw, unsigned int core, unsigned int index, s32 value)
{
	u32 offset;

	if (sync_at(hw, core, index, TRN_TPB_SEM_SET, &offset))
		trnhw_write(hw, offset, value);
}

void trnhw_sem_add(struct trnhw *hw, unsigned int core, unsigned int index, s32 value)
{
	u32 aperture = value < 0 ? TRN_TPB_SEM_DEC : TRN_TPB_SEM_INC;
	u32 amount = value < 0 ? 0u - (u32)value : (u32)value;
	u32 offset;

	if (amount && sync_at(hw, core, index, aperture, &offset))
		trnhw_write(hw, offset, amount);
}

u32 trnhw_event_read(struct trnhw *hw, unsigned int core, unsigned int index)
{
	u32 offset;

	return sync_at(hw, core, index, TRN_TPB_EVENTS, &offset) ? trnhw_read(hw, offset) & 1 : 0;
}

void trnhw_event_write(struct trnhw *hw, unsigned int core, unsigned int index, u32 value)
{
	u32 offset;

	if (sync_at(hw, core, index, TRN_TPB_EVENTS, &offset))
		trnhw_write(hw, offset, value ? 1 : 0);
}
