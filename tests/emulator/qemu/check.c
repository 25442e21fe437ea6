// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the machine must offer before a device can be part of it. Each refusal names the property
 * and the limit. Everything here runs with the BQL.
 */
#include "trainium.h"
#include "exec/memory.h"
#include "hw/boards.h"
#include "hw/core/cpu.h"
#include "hw/pci/msi.h"
#include "qapi/error.h"

#define GIB ((uint64_t)1 << 30)

static QTAILQ_HEAD(, TrainiumState) devices = QTAILQ_HEAD_INITIALIZER(devices);

void trainium_device_add(TrainiumState *s)
{
	QTAILQ_INSERT_TAIL(&devices, s, list);
	s->listed = true;
}

void trainium_device_remove(TrainiumState *s)
{
	if (s->listed) {
		QTAILQ_REMOVE(&devices, s, list);
		s->listed = false;
	}
}

TrainiumState *trainium_device_next(TrainiumState *s)
{
	return s ? QTAILQ_NEXT(s, list) : QTAILQ_FIRST(&devices);
}

static bool routing_id_free(TrainiumState *s, Error **errp)
{
	TrainiumState *other;

	for (other = trainium_device_next(NULL); other; other = trainium_device_next(other)) {
		if (other->routing_id == s->routing_id) {
			error_setg(errp,
				   "trainium: routing-id=%u belongs to device '%s'; give every "
				   "device of a machine its own, 0 to 63",
				   s->routing_id, trainium_name(other));
			return false;
		}
	}
	return true;
}

static bool bus_is_express(TrainiumState *s, Error **errp)
{
	PCIBus *bus = pci_get_bus(PCI_DEVICE(s));

	if (pci_bus_is_express(bus)) {
		return true;
	}
	error_setg(errp,
		   "trainium: bus '%s' is conventional PCI, where the device's extended "
		   "configuration space cannot be reached; use the machine q35 and a bus of PCI "
		   "Express",
		   BUS(bus)->name);
	return false;
}

bool trainium_check_slot(TrainiumState *s, Error **errp)
{
	return bus_is_express(s, errp) && routing_id_free(s, errp);
}

/* Address bits of the processors, 0 when they do not tell. */
static uint64_t address_bits(void)
{
	if (!first_cpu || !object_property_find(OBJECT(first_cpu), "phys-bits")) {
		return 0;
	}
	return object_property_get_uint(OBJECT(first_cpu), "phys-bits", NULL);
}

static uint64_t bars_bytes(TrainiumState *s)
{
	return emu_device_bar_size(s->model, 0) + emu_device_bar_size(s->model, TRN_EXT_BAR) +
	       emu_device_bar_size(s->model, 4);
}

/* Firmware places 64-bit BARs behind the RAM, each aligned to its size. */
bool trainium_check_hole(TrainiumState *s, Error **errp)
{
	uint64_t bits = address_bits(), hbm = emu_device_bar_size(s->model, 4);
	uint64_t largest = hbm, sum = bars_bytes(s), start;
	TrainiumState *other;

	if (bits < 32 || bits >= 63) {
		return true;
	}
	for (other = trainium_device_next(NULL); other; other = trainium_device_next(other)) {
		sum += bars_bytes(other);
		largest = MAX(largest, emu_device_bar_size(other->model, 4));
	}
	start = ROUND_UP(4 * GIB + current_machine->ram_size, largest);
	if (start + sum <= (uint64_t)1 << bits) {
		return true;
	}
	error_setg(errp,
		   "trainium: hbm-size=%" PRIu64 ": with BAR4 of %" PRIu64
		   " GiB all devices need %" PRIu64 " GiB from %" PRIu64
		   " GiB on, but the 64-bit hole ends at %" PRIu64 " GiB (phys-bits=%" PRIu64
		   " of the processors); take a smaller hbm-size for each device",
		   s->hbm_size, hbm / GIB, (sum + GIB - 1) / GIB, start / GIB,
		   (uint64_t)1 << (bits - 30), bits);
	return false;
}

bool trainium_check_msix(TrainiumState *s, Error **errp)
{
	if (!emu_device_vectors(s->model) || msi_nonbroken) {
		return true;
	}
	error_setg(errp,
		   "trainium: this machine delivers no MSI-X messages (no APIC), the device has %u "
		   "vectors; disable-features=0x%x makes a device without interrupts, which a "
		   "driver polls",
		   emu_device_vectors(s->model), TRN_FEATURE_MSIX);
	return false;
}
