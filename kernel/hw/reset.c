// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reset handshake with the firmware, and what has to be set up after it.
 */
#include <linux/ktime.h>

#include "internal.h"

#define TRNHW_RESET_POLL_MS		100
#define TRNHW_RESET_RESEND_DEVICE_MS	30000
#define TRNHW_RESET_RESEND_CORES_MS	10000
#define TRNHW_RESET_BUSY_READS		5

/* The doorbell is shared with the mailbox; the firmware tells them apart by RESET being set. */
static void trnhw_reset_send(const struct trnhw *hw, u32 kind, u32 map)
{
	if (kind == TRN_RESET_TPB) {
		trnhw_misc_write(hw, TRN_MISC_RESET_MAP, map);
		wmb();	/* the map before the request that uses it */
	}
	trnhw_misc_write(hw, TRN_MISC_RESET, kind);
	wmb();	/* the request before the doorbell */
	trnhw_misc_write(hw, TRN_MISC_TRIGGER, 1);
}

/* RESET becomes 0 when the firmware has accepted; it may lose a request, so it is sent again. */
static int trnhw_reset_wait_accepted(const struct trnhw *hw, u32 kind, u32 map)
{
	u32 resend_ms = kind == TRN_RESET_TPB ? TRNHW_RESET_RESEND_CORES_MS :
						TRNHW_RESET_RESEND_DEVICE_MS;
	ktime_t start = ktime_get();
	ktime_t end = ktime_add_ms(start, hw->arch->reset_timeout_ms);
	ktime_t resend = ktime_add_ms(start, resend_ms);
	u32 value;
	int ret;

	for (;;) {
		ktime_t now;

		if (trnhw_pause(hw, TRNHW_RESET_POLL_MS))
			return -ENODEV;
		ret = trnhw_misc_read(hw, TRN_MISC_RESET, &value);
		if (ret == -ENODEV)
			return ret;
		if (!ret && !value)
			return 0;
		now = ktime_get();
		if (!ktime_before(now, end))
			return -ETIMEDOUT;
		if (!ktime_before(now, resend)) {
			trnhw_reset_send(hw, kind, map);
			resend = ktime_add_ms(resend, resend_ms);
		}
	}
}

/* Reads at 0, 0, +100, +300, +600 ms. */
static int trnhw_reset_wait_idle(const struct trnhw *hw)
{
	unsigned int i;
	u32 value;
	int ret;

	for (i = 0; i < TRNHW_RESET_BUSY_READS; i++) {
		ret = trnhw_misc_read(hw, TRN_MISC_FW_STATUS, &value);
		if (ret)
			return ret;
		if (!(value & TRN_FW_STATUS_BUSY))
			return 0;
		if (i + 1 < TRNHW_RESET_BUSY_READS && trnhw_pause(hw, i * 100))
			return -ENODEV;
	}
	return -ETIMEDOUT;
}

static int trnhw_reset(struct trnhw *hw, u32 kind, u32 map)
{
	const char *stage = "accepted";
	int ret;

	trnhw_reset_send(hw, kind, map);
	ret = trnhw_reset_wait_accepted(hw, kind, map);
	if (!ret) {
		stage = "finished";
		ret = trnhw_reset_wait_idle(hw);
	}
	if (ret == -ETIMEDOUT)
		dev_err(hw->dev, "%s reset (map %#x) not %s in time: reload or power-cycle\n",
			kind == TRN_RESET_TPB ? "core" : "device", map, stage);
	else if (ret && !READ_ONCE(hw->stopping))
		dev_err(hw->dev, "device disappeared during a reset\n");
	return ret;
}

static bool trnhw_core_mask_valid(const struct trnhw *hw, u32 core_mask)
{
	return core_mask && !(core_mask >> hw->arch->cores);
}

int trnhw_reset_device(struct trnhw *hw)
{
	return trnhw_reset(hw, TRN_RESET_DEVICE, 0);
}

int trnhw_reset_cores(struct trnhw *hw, u32 core_mask)
{
	if (!trnhw_core_mask_valid(hw, core_mask))
		return -EINVAL;
	return trnhw_reset(hw, TRN_RESET_TPB, hw->arch->reset_map(core_mask));
}

/* Cores that share the host copy engine of @core. */
static u32 trnhw_h2t_group(const struct trnhw *hw, unsigned int core)
{
	unsigned int share = hw->arch->h2t_cores;

	return ((1u << share) - 1) << (core / share * share);
}

int trnhw_start(struct trnhw *hw, u32 core_mask)
{
	unsigned int core, e;

	if (!trnhw_core_mask_valid(hw, core_mask))
		return -EINVAL;
	for (core = 0; core < hw->arch->cores; core++) {
		u32 group = trnhw_h2t_group(hw, core);

		if (!(core_mask & (1u << core)))
			continue;
		for (e = 0; e < TRN_ENGINES_PER_CORE; e++)
			trnhw_udma_engine_init(hw, core * TRN_ENGINES_PER_CORE + e);
		if (!(core % hw->arch->h2t_cores) && (core_mask & group) == group)
			trnhw_udma_engine_init(hw, hw->arch->h2t_engine(core));
		if (trnhw_gone(hw) || trnhw_stopping(hw))
			return -ENODEV;
	}
	return 0;
}
