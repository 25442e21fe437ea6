// SPDX-License-Identifier: BSD-2-Clause
/*
 * A test of a driver against the device model in process: the registers a driver touches first, a
 * fault it must survive, and the assertion that it made no mistake. "driver_wait_ready" stands for
 * the code under test.
 */
#include <stdio.h>
#include "tests/emulator/inproc.h"
#include "trainium/map.h"
#include "trainium/regs.h"

/* Resets the device and waits for it. Return: how many doorbells it took, 0: never ready. */
static int driver_wait_ready(struct emu_device *device)
{
	int doorbells, polls;

	for (doorbells = 1; doorbells <= 3; doorbells++) {
		emu_device_write(device, 0, TRN_V2_MISC + TRN_MISC_RESET, TRN_RESET_DEVICE, 4);
		emu_device_write(device, 0, TRN_V2_MISC + TRN_MISC_TRIGGER, 1, 4);
		for (polls = 0; polls < 1000; polls++) {
			if (!emu_device_read(device, 0, TRN_V2_MISC + TRN_MISC_RESET, 4))
				return doorbells;
			emu_device_quiesce(device, 10);
		}
	}
	return 0;
}

int main(void)
{
	const struct emu_config config = { .size = sizeof(config), .arch = "trn1" };
	struct emu_inproc *shell;
	struct emu_device *device;
	int doorbells, failed = 0;
	char text[256];

	if (emu_inproc_create(&config, &shell, text, sizeof(text))) {
		fprintf(stderr, "%s\n", text);
		return 1;
	}
	device = emu_inproc_device(shell);
	/* A device whose firmware overhears the first doorbell. */
	emu_device_fault_set(device, "reset-twice", 1);
	doorbells = driver_wait_ready(device);
	printf("ready after %d doorbells\n", doorbells);
	failed |= doorbells != 2;
	if (emu_device_complaints(device, EMU_COMPLAINT_NONE)) {
		emu_device_complaint_text(device, text, sizeof(text));
		fprintf(stderr, "the driver made a mistake: %s\n", text);
		failed = 1;
	}
	emu_inproc_destroy(shell);
	return failed;
}
