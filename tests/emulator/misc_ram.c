// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * MISC RAM: plain memory shared with the firmware, a doorbell, and a few words the firmware owns.
 */
#include "device.h"

#define API_VERSION	3	  /* power words are valid */
#define POWER_PERIOD_NS 50000000u /* one sample */

/* Words that only the firmware writes. */
static bool firmware_owned(uint32_t offset)
{
	switch (offset) {
	case TRN_MISC_API_VERSION:
	case TRN_MISC_DEVICE_ID:
	case TRN_MISC_SERIAL_LOW:
	case TRN_MISC_SERIAL_HIGH:
	case TRN_MISC_SRAM_ECC:
	case TRN_MISC_HBM_ECC(0):
	case TRN_MISC_HBM_ECC(1):
	case TRN_MISC_HBM_ECC(2):
	case TRN_MISC_HBM_ECC(3):
	case TRN_MISC_POWER_D0:
	case TRN_MISC_POWER_D1:
	case TRN_MISC_HBM_REPAIR:
	case TRN_MISC_FW_STATUS:
		return true;
	}
	return false;
}

/* The cores of a die have consecutive numbers. */
static unsigned int cores_per_die(const struct emu_device *device)
{
	return device->product->cores / device->product->dies;
}

static uint64_t die_busy_ns(struct emu_device *device, unsigned int die)
{
	unsigned int count = cores_per_die(device), i;
	uint64_t busy = 0;

	for (i = 0; i < count; i++)
		busy += emu_unit_busy_ns(&device->unit[die * count + i]);
	return busy;
}

/* Utilisation of the last whole sample period: share of the time the cores of the die were in a
 * run, in 1/100 %, and a sample counter. */
static uint32_t power_read(struct emu_device *device, unsigned int die)
{
	struct emu_power *power = &device->firmware.power[die];
	uint64_t sample = device->ops->clock_ns(device->opaque) / POWER_PERIOD_NS;
	uint64_t last = atomic_load(&power->stamp);
	uint64_t busy, span, util;

	if (sample != last && atomic_compare_exchange_strong(&power->stamp, &last, sample)) {
		busy = die_busy_ns(device, die);
		span = (sample - last) * POWER_PERIOD_NS * cores_per_die(device);
		util = busy - atomic_exchange(&power->busy, busy);
		util = util >= span ? 10000 : util * 10000 / span;
		atomic_store(&power->util, (uint32_t)util);
	}
	return (uint32_t)(sample & 0xffff) << 16 | atomic_load(&power->util);
}

uint32_t emu_misc_read(struct emu_device *device, uint32_t offset)
{
	/* While a slow reset lasts the firmware serves nothing but the handshake. */
	if (atomic_load(&device->firmware.resetting) && offset != TRN_MISC_RESET &&
	    offset != TRN_MISC_FW_STATUS)
		return TRN_MISC_NOT_READY;
	if (offset == TRN_MISC_POWER_D0)
		return power_read(device, 0);
	if (offset == TRN_MISC_POWER_D1 && device->product->dies > 1)
		return power_read(device, 1);
	return emu_store_read(device->misc, offset);
}

void emu_misc_write(struct emu_device *device, uint32_t offset, uint32_t value)
{
	if (firmware_owned(offset)) {
		emu_complain(device, EMU_COMPLAINT_READ_ONLY,
			     "MISC RAM 0x%03x belongs to the firmware", offset);
		return;
	}
	emu_store_write(device->misc, offset, value);
	if (offset == TRN_MISC_TRIGGER && value)
		emu_firmware_trigger(device);
}

void emu_misc_power_up(struct emu_device *device)
{
	struct emu_block *misc = device->misc;
	unsigned int die;

	emu_store_write(misc, TRN_MISC_API_VERSION, API_VERSION);
	emu_store_write(misc, TRN_MISC_DEVICE_ID, device->routing_id);
	emu_store_write(misc, TRN_MISC_SERIAL_LOW, (uint32_t)device->serial);
	emu_store_write(misc, TRN_MISC_SERIAL_HIGH, (uint32_t)(device->serial >> 32));
	for (die = 0; die < device->product->dies; die++) {
		struct emu_power *power = &device->firmware.power[die];

		atomic_store(&power->stamp,
			     device->ops->clock_ns(device->opaque) / POWER_PERIOD_NS);
		/* What ran before a reset is not part of the first sample after it. */
		atomic_store(&power->busy, die_busy_ns(device, die));
		atomic_store(&power->util, 0);
	}
}
