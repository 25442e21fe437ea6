// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Statistics and events for whoever watches the device. Counters are relaxed atomics: each is
 * exact, two of them read together need not belong to the same moment.
 */
#include "device.h"

static const struct {
	const char *name, *help;
} stats[EMU_STAT_COUNT] = {
	[EMU_STAT_REGISTER_READS] = { "register-reads", "register reads by the host" },
	[EMU_STAT_REGISTER_WRITES] = { "register-writes", "register writes by the host" },
	[EMU_STAT_DOORBELLS] = { "doorbells",
				 "doorbells accepted by DMA queues and submission queues" },
	[EMU_STAT_DESCRIPTORS] = { "descriptors", "descriptors executed, both directions" },
	[EMU_STAT_DMA_BYTES] = { "dma-bytes", "bytes moved by DMA engines" },
	[EMU_STAT_DMA_ERRORS] = { "dma-errors", "errors latched by DMA engines" },
	[EMU_STAT_RUNS] = { "runs", "runs of programs that ended" },
	[EMU_STAT_RUN_FAULTS] = { "run-faults", "those of them that ended with a fault" },
	[EMU_STAT_NOTIFICATIONS] = { "notifications", "entries written to notification rings" },
	[EMU_STAT_INTERRUPTS] = { "interrupts", "interrupt messages sent" },
	[EMU_STAT_RESETS] = { "resets",
			      "resets served by the firmware or asked for by the machine" },
	[EMU_STAT_FW_REQUESTS] = { "firmware-requests", "mailbox requests the firmware accepted" },
	[EMU_STAT_LINK_ERRORS] = { "link-errors", "accesses over links that failed" },
	[EMU_STAT_FAULTS] = { "faults-taken", "occurrences of counted faults used up" },
};

const char *emu_stat_name(unsigned int index, const char **help)
{
	if (index >= EMU_STAT_COUNT)
		return NULL;
	if (help)
		*help = stats[index].help;
	return stats[index].name;
}

uint64_t emu_device_stat(const struct emu_device *device, unsigned int index)
{
	if (index >= EMU_STAT_COUNT)
		return 0;
	return atomic_load_explicit(&device->stat[index], memory_order_relaxed);
}

void emu_event(struct emu_device *device, const struct emu_event *event)
{
	if (device->ops->event)
		device->ops->event(device->opaque, event);
}
