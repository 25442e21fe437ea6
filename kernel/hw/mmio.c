// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Register access and address arithmetic.
 */
#include <linux/delay.h>
#include <linux/ktime.h>

#include "internal.h"

#define TRNHW_PAUSE_SLICE_MS	10
#define TRNHW_NOT_READY_MS	15000

u32 trnhw_read(const struct trnhw *hw, u32 offset)
{
	return readl(hw->regs + offset);
}

void trnhw_write(const struct trnhw *hw, u32 offset, u32 value)
{
	writel(value, hw->regs + offset);
}

u32 trnhw_ext_read(const struct trnhw *hw, u32 offset)
{
	return hw->ext ? readl(hw->ext + offset) : 0;
}

void trnhw_ext_write(const struct trnhw *hw, u32 offset, u32 value)
{
	if (hw->ext)
		writel(value, hw->ext + offset);
}

/* A device id of all ones does not exist, so this register cannot read so while it is there. */
bool trnhw_gone(const struct trnhw *hw)
{
	return trnhw_read(hw, hw->arch->misc + TRN_MISC_DEVICE_ID) == ~0u;
}

void trnhw_stop(struct trnhw *hw)
{
	WRITE_ONCE(hw->stopping, true);
}

int trnhw_pause(const struct trnhw *hw, unsigned int ms)
{
	while (ms && !trnhw_stopping(hw)) {
		unsigned int slice = ms < TRNHW_PAUSE_SLICE_MS ? ms : TRNHW_PAUSE_SLICE_MS;

		usleep_range(slice * 1000, slice * 1000 + 100);
		ms -= slice;
	}
	return trnhw_stopping(hw) ? -ENODEV : 0;
}

void trnhw_misc_write(const struct trnhw *hw, u32 reg, u32 value)
{
	trnhw_write(hw, hw->arch->misc + reg, value);
}

int trnhw_misc_read(const struct trnhw *hw, u32 reg, u32 *value)
{
	ktime_t end = ktime_add_ms(ktime_get(), TRNHW_NOT_READY_MS);

	for (;;) {
		bool late = ktime_after(ktime_get(), end);
		u32 got = trnhw_read(hw, hw->arch->misc + reg);

		if (got == ~0u && trnhw_gone(hw))
			return -ENODEV;
		if (got != TRN_MISC_NOT_READY) {
			*value = got;
			return 0;
		}
		if (late)
			return -ETIMEDOUT;
		if (trnhw_pause(hw, 1))
			return -ENODEV;
	}
}

u64 trnhw_host_address(const struct trnhw *hw, dma_addr_t bus)
{
	return bus < hw->arch->host_size ? hw->arch->host_base | bus : 0;
}

u64 trnhw_hbm_address(const struct trnhw *hw, unsigned int stack, u64 offset)
{
	return hw->arch->hbm_base(stack) + offset;
}

u64 trnhw_sbuf_address(const struct trnhw *hw, unsigned int core, u32 partition, u32 offset)
{
	return hw->arch->tpb_device(core) + TRN_TPB_SBUF +
	       (u64)partition * TRN_SBUF_PARTITION_STRIDE + offset;
}

u64 trnhw_sem_inc_address(const struct trnhw *hw, unsigned int core, unsigned int index)
{
	return hw->arch->tpb_device(core) + TRN_TPB_SEM_INC + (u64)index * 4;
}
