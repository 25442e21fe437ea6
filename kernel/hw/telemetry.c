// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Health and power words the firmware keeps in MISC RAM. None of these waits: a word that is not
 * ready is left out, and will be there the next time.
 */
#include <linux/string.h>

#include "internal.h"

#define TRNHW_API_VERSION_POWER		3
#define TRNHW_POWER_MAX			10000

static u32 misc_peek(const struct trnhw *hw, u32 reg)
{
	return trnhw_read(hw, hw->arch->misc + reg);
}

static bool misc_ready(u32 value)
{
	return value != TRN_MISC_NOT_READY && value != ~0u;
}

void trnhw_ecc_read(const struct trnhw *hw, struct trnhw_ecc *ecc)
{
	u32 value = misc_peek(hw, TRN_MISC_SRAM_ECC);
	unsigned int stack;

	memset(ecc, 0, sizeof(*ecc));
	if (misc_ready(value)) {
		ecc->sram_uncorrected = value & 0xffff;
		ecc->sram_corrected = value >> 16;
	}
	for (stack = 0; stack < hw->arch->stacks; stack++) {
		value = misc_peek(hw, TRN_MISC_HBM_ECC(stack));
		if (!misc_ready(value))
			continue;
		ecc->hbm_uncorrected += value & 0xffff;
		ecc->hbm_corrected += value >> 16;
	}
}

enum trnhw_hbm_repair trnhw_hbm_repair_read(const struct trnhw *hw)
{
	u32 value;

	if (!hw->arch->hbm_repair)
		return TRNHW_HBM_REPAIR_UNKNOWN;
	value = misc_peek(hw, TRN_MISC_HBM_REPAIR);
	return misc_ready(value) ? (enum trnhw_hbm_repair)(value & 3) : TRNHW_HBM_REPAIR_UNKNOWN;
}

int trnhw_power_read(const struct trnhw *hw, u32 *utilisation)
{
	u32 version = misc_peek(hw, TRN_MISC_API_VERSION);
	u32 most = 0;
	unsigned int die;

	if (trnhw_gone(hw))
		return -ENODEV;
	if (!misc_ready(version) || version < TRNHW_API_VERSION_POWER)
		return -ENODATA;
	for (die = 0; die < hw->arch->dies; die++) {
		u32 value = misc_peek(hw, TRN_MISC_POWER_D0 + die * 4);

		if (!misc_ready(value) || (value & 0xffff) > TRNHW_POWER_MAX)
			return -ENODATA;
		if (most < (value & 0xffff))
			most = value & 0xffff;
	}
	*utilisation = most;
	return 0;
}
