// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * FIS: fabric interrupt and error block of a DMA engine. Four groups in the layout of an interrupt
 * controller; group 2 sees M2S errors, group 3 S2M errors.
 */
#include "device.h"

static bool fis_known(struct emu_device *device, const struct emu_block *block, uint32_t offset)
{
	if (offset < TRN_FIS_GROUPS * TRN_IOFIC_SIZE)
		return true;
	emu_complain(device, EMU_COMPLAINT_UNKNOWN_REGISTER,
		     "FIS block of engine %u has no register 0x%x", block->index, offset);
	return false;
}

static _Atomic uint32_t *fis_group(const struct emu_block *block, uint32_t offset)
{
	return &block->store[offset / TRN_IOFIC_SIZE * TRN_IOFIC_SIZE / 4];
}

uint32_t emu_fis_read(struct emu_device *device, const struct emu_block *block, uint32_t offset)
{
	if (!fis_known(device, block, offset))
		return 0;
	return emu_iofic_read(fis_group(block, offset), offset % TRN_IOFIC_SIZE);
}

void emu_fis_write(struct emu_device *device, const struct emu_block *block, uint32_t offset,
		   uint32_t value)
{
	if (!fis_known(device, block, offset))
		return;
	if (!emu_iofic_write(fis_group(block, offset), offset % TRN_IOFIC_SIZE, value))
		emu_complain(device, EMU_COMPLAINT_READ_ONLY,
			     "FIS block of engine %u: interrupt status 0x%x is read-only",
			     block->index, offset);
}

void emu_fis_latch(const struct emu_block *block, uint32_t m2s, uint32_t s2m)
{
	if (!block)
		return;
	emu_iofic_latch(&block->store[TRN_FIS_GROUP(2) / 4], m2s);
	emu_iofic_latch(&block->store[TRN_FIS_GROUP(3) / 4], s2m);
}
