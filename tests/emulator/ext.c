// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * BAR2: registers of the open extension. The MSI-X table and its pending bits in the same BAR
 * belong to the shell.
 */
#include "device.h"
#include "timing.h"

#define EXT_VERSION 1

static bool ext_vector(struct emu_device *device, uint32_t offset, unsigned int *vector,
		       bool *pending)
{
	uint32_t first = TRN_EXT_IRQ_MASK(0);

	if (offset < first)
		return false;
	*vector = (offset - first) / 8;
	*pending = (offset - first) & 4;
	return *vector < device->irq.count;
}

static uint32_t clock_low(struct emu_device *device)
{
	uint64_t now = emu_device_clock_ns(device);

	atomic_store(&device->clock_high, (uint32_t)(now >> 32));
	return (uint32_t)now;
}

uint32_t emu_ext_read(struct emu_device *device, uint32_t offset)
{
	bool clock = device->features & TRN_FEATURE_CLOCK;
	unsigned int vector;
	bool pending;

	switch (offset) {
	case TRN_EXT_ID:
		return TRN_EXT_ID_VALUE;
	case TRN_EXT_VERSION:
		return EXT_VERSION;
	case TRN_EXT_FEATURES:
		return device->features;
	case TRN_EXT_VECTORS:
		return device->irq.count;
	case TRN_EXT_CLOCK_LOW:
		return clock ? clock_low(device) : 0;
	case TRN_EXT_CLOCK_HIGH:
		return clock ? atomic_load(&device->clock_high) : 0;
	case TRN_EXT_COMPLAINTS:
		return (uint32_t)emu_device_complaints(device, EMU_COMPLAINT_NONE);
	case TRN_EXT_COMPLAINT_LAST:
		return atomic_load(&device->complaint_last);
	}
	if (emu_links_registers(device, offset))
		return emu_links_read(device, offset);
	if (ext_vector(device, offset, &vector, &pending))
		return emu_irq_read(device, vector, pending);
	emu_complain(device, EMU_COMPLAINT_UNKNOWN_REGISTER, "read of BAR2 0x%x: nothing is there",
		     offset);
	return 0;
}

void emu_ext_write(struct emu_device *device, uint32_t offset, uint32_t value)
{
	unsigned int vector;
	bool pending;

	if (emu_links_registers(device, offset)) {
		emu_links_write(device, offset, value);
		return;
	}
	if (ext_vector(device, offset, &vector, &pending)) {
		emu_irq_write(device, vector, pending, value);
		return;
	}
	if (offset <= TRN_EXT_COMPLAINT_LAST)
		emu_complain(device, EMU_COMPLAINT_READ_ONLY,
			     "write of BAR2 0x%x, which is read-only", offset);
	else
		emu_complain(device, EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "write of BAR2 0x%x: nothing is there", offset);
}
