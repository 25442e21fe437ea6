// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Mistakes of the guest: counted per kind, the last one kept in words. Never fatal.
 *
 * Locking: complaint_lock guards the text alone and is held for a copy only.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "device.h"

static const char *const names[EMU_COMPLAINT_COUNT] = {
	[EMU_COMPLAINT_NONE] = "none",
	[EMU_COMPLAINT_ACCESS_SIZE] = "access-size",
	[EMU_COMPLAINT_UNKNOWN_REGISTER] = "unknown-register",
	[EMU_COMPLAINT_READ_ONLY] = "read-only",
	[EMU_COMPLAINT_DOORBELL_DISABLED] = "doorbell-disabled",
	[EMU_COMPLAINT_DOORBELL_OVERRUN] = "doorbell-overrun",
	[EMU_COMPLAINT_RING_SIZE] = "ring-size",
	[EMU_COMPLAINT_RING_ALIGN] = "ring-align",
	[EMU_COMPLAINT_DESC_RESERVED] = "desc-reserved",
	[EMU_COMPLAINT_DESC_ADDRESS] = "desc-address",
	[EMU_COMPLAINT_DESC_LENGTH] = "desc-length",
	[EMU_COMPLAINT_FWIO_REQUEST] = "fwio-request",
	[EMU_COMPLAINT_NQ_SIZE] = "nq-size",
	[EMU_COMPLAINT_NQ_ADDRESS] = "nq-address",
	[EMU_COMPLAINT_SQ_CONFIG] = "sq-config",
	[EMU_COMPLAINT_SQ_REQUEST] = "sq-request",
	[EMU_COMPLAINT_REGISTER_DMA_LOOP] = "register-dma-loop",
};

void emu_complain(struct emu_device *device, enum emu_complaint kind, const char *format, ...)
{
	char text[sizeof(device->complaint_text)];
	const struct emu_event event = { .kind = EMU_EVENT_COMPLAINT,
					 .arg = { kind },
					 .text = text };
	va_list args;

	/* What a driver does to a device that was pulled out is no mistake. */
	if (emu_device_removed(device))
		return;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pthread_mutex_lock(&device->complaint_lock);
	memcpy(device->complaint_text, text, sizeof(text));
	pthread_mutex_unlock(&device->complaint_lock);
	atomic_store(&device->complaint_last, kind);
	atomic_fetch_add(&device->complaint[kind], 1);
	emu_event(device, &event);
}

void emu_complaint_clear(struct emu_device *device)
{
	unsigned int i;

	for (i = 0; i < EMU_COMPLAINT_COUNT; i++)
		atomic_store(&device->complaint[i], 0);
	atomic_store(&device->complaint_last, EMU_COMPLAINT_NONE);
	pthread_mutex_lock(&device->complaint_lock);
	device->complaint_text[0] = '\0';
	pthread_mutex_unlock(&device->complaint_lock);
}

uint64_t emu_device_complaints(const struct emu_device *device, enum emu_complaint kind)
{
	uint64_t sum = 0;
	unsigned int i;

	if ((unsigned int)kind >= EMU_COMPLAINT_COUNT)
		return 0;
	if (kind != EMU_COMPLAINT_NONE)
		return atomic_load(&device->complaint[kind]);
	for (i = 0; i < EMU_COMPLAINT_COUNT; i++)
		sum += atomic_load(&device->complaint[i]);
	return sum;
}

const char *emu_complaint_name(enum emu_complaint kind)
{
	return (unsigned int)kind < EMU_COMPLAINT_COUNT ? names[kind] : "unknown";
}

void emu_device_complaint_text(struct emu_device *device, char *text, size_t size)
{
	if (!size)
		return;
	pthread_mutex_lock(&device->complaint_lock);
	snprintf(text, size, "%s", device->complaint_text);
	pthread_mutex_unlock(&device->complaint_lock);
}
