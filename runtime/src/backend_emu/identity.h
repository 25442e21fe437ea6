/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the configuration space of a device says: product and open extension. The module reads the
 * same through the kernel's PCI functions.
 */
#ifndef TRN_BACKEND_EMU_IDENTITY_H
#define TRN_BACKEND_EMU_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#define TRN_EMU_CONFIG_BYTES 4096u

/** struct trn_emu_identity - @ext: extension registers begin where BAR 2 does. */
struct trn_emu_identity {
	uint16_t device;
	uint32_t features;
	uint32_t vectors;
	bool ext;
};

/**
 * trn_emu_identify() - walk the extended capabilities. Any content of @config, which has
 * TRN_EMU_CONFIG_BYTES, is allowed; without the capability all but @id->device is 0.
 */
void trn_emu_identify(const uint8_t *config, struct trn_emu_identity *id);

#endif /* TRN_BACKEND_EMU_IDENTITY_H */
