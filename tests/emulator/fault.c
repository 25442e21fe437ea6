// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Faults on demand. A counted fault is used up occurrence by occurrence, a level stays until it is
 * set to 0, a pulse acts when it is set.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "device.h"

#define MAX_COUNT      1000000u
#define MAX_DELAY_MS   600000u
#define DELAY_SLICE_MS 5u

static const struct {
	const char *name, *help;
	uint64_t max;
} faults[EMU_FAULT_COUNT] = {
	[EMU_FAULT_IRQ_LOST] = { "irq-lost", "the next N interrupts are not sent", MAX_COUNT },
	[EMU_FAULT_IRQ_SPURIOUS] = { "irq-spurious",
				     "N events without a cause, now, vector after vector",
				     MAX_COUNT },
	[EMU_FAULT_COMPLETION_LATE] = { "completion-late", "each completion is delayed by N ms",
					MAX_DELAY_MS },
	[EMU_FAULT_COMPLETION_MISSING] = { "completion-missing",
					   "the next N completions do not appear", MAX_COUNT },
	[EMU_FAULT_COMPLETION_DOUBLE] = { "completion-double",
					  "the next N completions appear twice", MAX_COUNT },
	[EMU_FAULT_FW_SILENT] = { "fw-silent", "the next N firmware requests get no answer",
				  MAX_COUNT },
	[EMU_FAULT_FW_CRC] = { "fw-crc", "the next N firmware requests are answered as damaged",
			       MAX_COUNT },
	[EMU_FAULT_FW_LYING] = { "fw-lying", "the next N firmware answers claim a wrong size",
				 MAX_COUNT },
	[EMU_FAULT_RESET_SLOW] = { "reset-slow", "each reset takes N ms longer", MAX_DELAY_MS },
	[EMU_FAULT_RESET_FAIL] = { "reset-fail", "the next N resets end with the busy bit set",
				   MAX_COUNT },
	[EMU_FAULT_RESET_TWICE] = { "reset-twice",
				    "the next N reset requests are ignored, the one after works",
				    MAX_COUNT },
	[EMU_FAULT_REGS_ALL_ONES] = { "regs-all-ones",
				      "1: registers read as all ones, writes and interrupts vanish",
				      1 },
	[EMU_FAULT_ENGINE_HANG] = { "engine-hang", "1 + n: DMA engine n makes no progress; 0: none",
				    EMU_MAX_ENGINES },
	[EMU_FAULT_ECC_CORRECTABLE] = { "ecc-correctable", "add N corrected errors to HBM 0, now",
					0xffff },
	[EMU_FAULT_ECC_UNCORRECTABLE] = { "ecc-uncorrectable",
					  "add N uncorrected errors to HBM 0, now", 0xffff },
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

bool emu_fault_take(struct emu_device *device, enum emu_fault_id id)
{
	uint64_t left = emu_fault_value(device, id);

	while (left)
		if (atomic_compare_exchange_weak(&device->fault[id], &left, left - 1))
			return true;
	return false;
}

void emu_delay_ms(struct emu_device *device, uint64_t ms)
{
	uint64_t end = emu_monotonic_ns() + ms * 1000000u;
	const struct timespec slice = { .tv_nsec = DELAY_SLICE_MS * 1000000 };

	while (ms && emu_monotonic_ns() < end && !atomic_load(&device->stopping))
		nanosleep(&slice, NULL);
}

/* Corrected errors are the high half of the word, uncorrected the low half; both stop at their
 * maximum. */
static void ecc_add(struct emu_device *device, unsigned int shift, uint64_t count)
{
	uint32_t word = emu_store_read(device->misc, TRN_MISC_HBM_ECC(0));
	uint64_t now = ((word >> shift) & 0xffff) + count;

	if (now > 0xffff)
		now = 0xffff;
	word = (word & ~(0xffffu << shift)) | (uint32_t)now << shift;
	emu_store_write(device->misc, TRN_MISC_HBM_ECC(0), word);
}

static void fault_act(struct emu_device *device, enum emu_fault_id id, uint64_t value)
{
	unsigned int i;

	switch (id) {
	case EMU_FAULT_IRQ_SPURIOUS:
		for (i = 0; i < value && device->irq.count; i++)
			emu_irq_raise(device, i % device->irq.count);
		break;
	case EMU_FAULT_ECC_CORRECTABLE:
		ecc_add(device, 16, value);
		break;
	case EMU_FAULT_ECC_UNCORRECTABLE:
		ecc_add(device, 0, value);
		if (value)
			emu_irq_raise(device, TRN_VECTOR_DEVICE);
		break;
	case EMU_FAULT_ENGINE_HANG:
		atomic_store(&device->fault[id], value);
		for (i = 0; i < device->product->engines; i++)
			emu_dma_engine_kick(&device->engine[i], (1u << TRN_UDMA_QUEUES) - 1);
		break;
	default:
		atomic_store(&device->fault[id], value);
		break;
	}
}

int emu_device_fault_set(struct emu_device *device, const char *name, uint64_t value)
{
	unsigned int id;

	for (id = 0; id < EMU_FAULT_COUNT; id++)
		if (!strcmp(faults[id].name, name))
			break;
	if (id == EMU_FAULT_COUNT)
		return -ENOENT;
	if (value > faults[id].max ||
	    (id == EMU_FAULT_ENGINE_HANG && value > device->product->engines))
		return -ERANGE;
	fault_act(device, (enum emu_fault_id)id, value);
	return 0;
}

int emu_device_fault_get(struct emu_device *device, const char *name, uint64_t *value)
{
	unsigned int id;

	for (id = 0; id < EMU_FAULT_COUNT; id++) {
		if (strcmp(faults[id].name, name))
			continue;
		*value = emu_fault_value(device, (enum emu_fault_id)id);
		return 0;
	}
	return -ENOENT;
}
