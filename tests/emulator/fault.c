// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Faults on demand. A counted fault is used up occurrence by occurrence, a level stays until it is
 * set to 0, a pulse acts when it is set. A reset of the device changes none of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "submit.h"

#define MAX_COUNT      1000000u
#define MAX_DELAY_MS   600000u
#define DELAY_SLICE_MS 5u

static const struct {
	const char *name, *help;
	uint64_t max;
	uint32_t needs; /* TRN_FEATURE_*: without it the fault could never act */
} faults[EMU_FAULT_COUNT] = {
	[EMU_FAULT_IRQ_LOST] = { "irq-lost", "the next N interrupts are not sent", MAX_COUNT,
				 TRN_FEATURE_MSIX },
	[EMU_FAULT_IRQ_SPURIOUS] = { "irq-spurious",
				     "N events without a cause, now, vector after vector",
				     MAX_COUNT, TRN_FEATURE_MSIX },
	[EMU_FAULT_COMPLETION_LATE] = { "completion-late", "each completion is delayed by N ms",
					MAX_DELAY_MS, 0 },
	[EMU_FAULT_COMPLETION_MISSING] = { "completion-missing",
					   "the next N completions do not appear", MAX_COUNT, 0 },
	[EMU_FAULT_COMPLETION_DOUBLE] = { "completion-double",
					  "the next N completions appear twice", MAX_COUNT, 0 },
	[EMU_FAULT_FW_SILENT] = { "fw-silent", "the next N firmware requests get no answer",
				  MAX_COUNT, 0 },
	[EMU_FAULT_FW_CRC] = { "fw-crc", "the next N firmware requests are answered as damaged",
			       MAX_COUNT, 0 },
	[EMU_FAULT_FW_LYING] = { "fw-lying", "the next N firmware answers claim a wrong size",
				 MAX_COUNT, 0 },
	[EMU_FAULT_RESET_SLOW] = { "reset-slow", "each reset takes N ms longer", MAX_DELAY_MS, 0 },
	[EMU_FAULT_RESET_FAIL] = { "reset-fail", "the next N resets end with the busy bit set",
				   MAX_COUNT, 0 },
	[EMU_FAULT_RESET_TWICE] = { "reset-twice",
				    "the next N reset requests are ignored, the one after works",
				    MAX_COUNT, 0 },
	[EMU_FAULT_REGS_ALL_ONES] = { "regs-all-ones",
				      "1: registers read as all ones, writes and interrupts vanish",
				      1, 0 },
	[EMU_FAULT_ENGINE_HANG] = { "engine-hang", "1 + n: DMA engine n makes no progress; 0: none",
				    EMU_MAX_ENGINES, 0 },
	[EMU_FAULT_ECC_CORRECTABLE] = { "ecc-correctable", "add N corrected errors to HBM 0, now",
					0xffff, 0 },
	[EMU_FAULT_ECC_UNCORRECTABLE] = { "ecc-uncorrectable",
					  "add N uncorrected errors to HBM 0, now", 0xffff, 0 },
	[EMU_FAULT_FW_SEQUENCE] = { "fw-sequence",
				    "the next N firmware answers carry the next sequence number",
				    MAX_COUNT, 0 },
	[EMU_FAULT_NOTIFY_PHASE] = { "notify-phase",
				     "the next N notifications are written with the wrong phase",
				     MAX_COUNT, TRN_FEATURE_NOTIFY },
	[EMU_FAULT_ECC_CORRECTABLE_AT] = { "ecc-correctable-at",
					   "1 + device address in HBM: each read of it by the "
					   "device counts a corrected error; 0: none",
					   UINT64_MAX - 1, 0 },
	[EMU_FAULT_ECC_UNCORRECTABLE_AT] = { "ecc-uncorrectable-at",
					     "1 + device address in HBM: each read of it by the "
					     "device fails and is counted; 0: none",
					     UINT64_MAX - 1, 0 },
	[EMU_FAULT_CORE_HANG] = { "core-hang",
				  "1 + 8 * c + e: engine e of core c stops before instruction "
				  "core-hang-at; 0: none",
				  8 * TRN_MAX_CORES, TRN_FEATURE_CORES },
	[EMU_FAULT_CORE_HANG_AT] = { "core-hang-at", "instruction at which core-hang stops",
				     UINT32_MAX, TRN_FEATURE_CORES },
	[EMU_FAULT_REMOVAL] = { "removal",
				"1 + N: the device is gone after N more register accesses and "
				"descriptors; 1: gone; 0: plugged in, as powered up",
				MAX_COUNT, 0 },
	[EMU_FAULT_LINK_DOWN] = { "link-down", "mask: link l is down while bit l is set",
				  (1u << EMU_MAX_LINKS) - 1, 0 },
};

const char *emu_fault_name(unsigned int index, const char **help)
{
	if (index >= EMU_FAULT_COUNT)
		return NULL;
	if (help)
		*help = faults[index].help;
	return faults[index].name;
}

uint64_t emu_fault_value(struct emu_device *device, enum emu_fault_id id)
{
	return atomic_load_explicit(&device->fault[id], memory_order_relaxed);
}

static void fault_event(struct emu_device *device, enum emu_fault_id id, uint64_t left)
{
	const struct emu_event event = { .kind = EMU_EVENT_FAULT,
					 .arg = { left },
					 .text = faults[id].name };

	emu_event(device, &event);
}

bool emu_fault_take(struct emu_device *device, enum emu_fault_id id)
{
	uint64_t left = emu_fault_value(device, id);

	while (left) {
		if (!atomic_compare_exchange_weak(&device->fault[id], &left, left - 1))
			continue;
		emu_stat_add(device, EMU_STAT_FAULTS, 1);
		fault_event(device, id, left - 1);
		return true;
	}
	return false;
}

void emu_fault_delay(struct emu_device *device, enum emu_fault_id id)
{
	uint64_t ms = emu_fault_value(device, id), end = emu_monotonic_ns() + ms * 1000000u;
	const struct timespec slice = { .tv_nsec = DELAY_SLICE_MS * 1000000 };

	while (ms && emu_monotonic_ns() < end && emu_fault_value(device, id) &&
	       !atomic_load(&device->stopping))
		nanosleep(&slice, NULL);
}

bool emu_device_removed(struct emu_device *device)
{
	return emu_fault_value(device, EMU_FAULT_REMOVAL) == 1;
}

/* What no longer has a host: runs end, and nothing may start. */
static void removal_happens(struct emu_device *device)
{
	unsigned int i;

	fault_event(device, EMU_FAULT_REMOVAL, 1);
	for (i = 0; i < device->product->cores; i++)
		emu_submit_stop(&device->unit[i]);
	emu_links_absent(device, true);
	if (device->ops->removed)
		device->ops->removed(device->opaque);
}

bool emu_fault_step(struct emu_device *device)
{
	uint64_t left = emu_fault_value(device, EMU_FAULT_REMOVAL);

	while (left > 1)
		if (atomic_compare_exchange_weak(&device->fault[EMU_FAULT_REMOVAL], &left,
						 left - 1)) {
			left--;
			if (left == 1)
				removal_happens(device);
			break;
		}
	return left == 1;
}

static void removal_set(struct emu_device *device, uint64_t value)
{
	bool was = emu_device_removed(device);

	if (was && value != 1)
		emu_device_reset(device);
	atomic_store(&device->fault[EMU_FAULT_REMOVAL], value);
	if (!was && value == 1)
		removal_happens(device);
	if (was && value != 1)
		emu_links_absent(device, false);
}

static void hang_apply(struct emu_device *device)
{
	uint64_t value = emu_fault_value(device, EMU_FAULT_CORE_HANG);
	uint32_t at = (uint32_t)emu_fault_value(device, EMU_FAULT_CORE_HANG_AT);
	unsigned int i;

	for (i = 0; i < device->product->cores; i++) {
		bool here = value && (value - 1) / TRN_ENGINE_MAX == i;

		emu_core_hang(device->unit[i].core,
			      here ? (enum trn_engine)((value - 1) % TRN_ENGINE_MAX)
				   : TRN_ENGINE_NONE,
			      at);
	}
}

static bool core_engine_valid(const struct emu_device *device, uint64_t value)
{
	return !value || ((value - 1) / TRN_ENGINE_MAX < device->product->cores &&
			  emu_engine_exists((value - 1) % TRN_ENGINE_MAX));
}

/* Return: false when an address is no HBM address. */
static bool ecc_place(struct emu_device *device, enum emu_ecc kind, uint64_t value)
{
	if (value)
		return !emu_ecc_set(device, kind, value - 1);
	emu_ecc_clear(device, kind);
	return true;
}

/* Return: false when the value is out of a range that depends on the device. */
static bool value_valid(struct emu_device *device, enum emu_fault_id id, uint64_t value)
{
	switch (id) {
	case EMU_FAULT_ENGINE_HANG:
		return value <= device->product->engines;
	case EMU_FAULT_CORE_HANG:
		return core_engine_valid(device, value);
	case EMU_FAULT_ECC_CORRECTABLE_AT:
		return ecc_place(device, EMU_ECC_CORRECTABLE, value);
	case EMU_FAULT_ECC_UNCORRECTABLE_AT:
		return ecc_place(device, EMU_ECC_UNCORRECTABLE, value);
	case EMU_FAULT_LINK_DOWN:
		return !(value >> device->product->link_count);
	default:
		return true;
	}
}

static void fault_act(struct emu_device *device, enum emu_fault_id id, uint64_t value)
{
	unsigned int i;

	switch (id) {
	case EMU_FAULT_IRQ_SPURIOUS:
		for (i = 0; i < value && device->irq.count; i++)
			emu_irq_raise(device, i % device->irq.count);
		return;
	case EMU_FAULT_ECC_CORRECTABLE:
		emu_ecc_count(device, 0, EMU_ECC_CORRECTABLE, value);
		return;
	case EMU_FAULT_ECC_UNCORRECTABLE:
		emu_ecc_count(device, 0, EMU_ECC_UNCORRECTABLE, value);
		return;
	case EMU_FAULT_REMOVAL:
		removal_set(device, value);
		return;
	case EMU_FAULT_LINK_DOWN:
		atomic_store(&device->fault[id], value);
		emu_links_fault(device, (uint32_t)value);
		return;
	default:
		break;
	}
	atomic_store(&device->fault[id], value);
	if (id == EMU_FAULT_CORE_HANG || id == EMU_FAULT_CORE_HANG_AT)
		hang_apply(device);
	if (id == EMU_FAULT_ENGINE_HANG)
		for (i = 0; i < device->product->engines; i++)
			emu_dma_engine_kick(&device->engine[i], (1u << TRN_UDMA_QUEUES) - 1);
}

/* Return: EMU_FAULT_COUNT for an unknown name. */
static unsigned int fault_find(const char *name)
{
	unsigned int id;

	for (id = 0; id < EMU_FAULT_COUNT; id++)
		if (!strcmp(faults[id].name, name))
			break;
	return id;
}

int emu_device_fault_set(struct emu_device *device, const char *name, uint64_t value)
{
	unsigned int id = fault_find(name);

	if (id == EMU_FAULT_COUNT)
		return -ENOENT;
	if (value && (faults[id].needs & ~device->features))
		return -ENOTSUP;
	if (value > faults[id].max || !value_valid(device, (enum emu_fault_id)id, value))
		return -ERANGE;
	fault_event(device, (enum emu_fault_id)id, value);
	fault_act(device, (enum emu_fault_id)id, value);
	return 0;
}

int emu_device_fault_get(struct emu_device *device, const char *name, uint64_t *value)
{
	unsigned int id = fault_find(name);

	if (id == EMU_FAULT_COUNT)
		return -ENOENT;
	*value = emu_fault_value(device, (enum emu_fault_id)id);
	return 0;
}

void emu_device_fault_range(const struct emu_device *device, const char *name, char *text,
			    size_t size)
{
	const struct emu_product *product = device->product;
	unsigned int id = fault_find(name);

	if (id < EMU_FAULT_COUNT && (faults[id].needs & ~device->features)) {
		snprintf(text, size,
			 "0, because this device lacks feature 0x%x of the extension "
			 "(disable-features)",
			 faults[id].needs);
		return;
	}
	switch (id) {
	case EMU_FAULT_COUNT:
		snprintf(text, size, "no fault has this name");
		break;
	case EMU_FAULT_ENGINE_HANG:
		snprintf(text, size, "0, or 1 + a DMA engine of 0 to %u", product->engines - 1);
		break;
	case EMU_FAULT_CORE_HANG:
		snprintf(text, size,
			 "0, or 1 + 8 * core + engine, cores 0 to %u, engines 1, 2, 3, 5, 6, 7",
			 product->cores - 1);
		break;
	case EMU_FAULT_ECC_CORRECTABLE_AT:
	case EMU_FAULT_ECC_UNCORRECTABLE_AT:
		snprintf(text, size,
			 "0, or 1 + a device address in one of the %u stacks of 0x%" PRIx64
			 " bytes, the first at 0x%" PRIx64,
			 product->stacks, device->hbm_bytes, product->hbm_base[0]);
		break;
	case EMU_FAULT_LINK_DOWN:
		snprintf(text, size, "0 to %u, a mask of the links 0 to %u",
			 (1u << product->link_count) - 1, product->link_count - 1);
		break;
	default:
		snprintf(text, size, "0 to %" PRIu64, faults[id].max);
		break;
	}
}
