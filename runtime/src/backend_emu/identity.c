// SPDX-License-Identifier: BSD-2-Clause
/* Walk of the configuration space's extended capabilities. Pure. */
#include <string.h>

#include "identity.h"
#include "trainium/ext.h"

#define PCI_DEVICE	   0x02
#define PCI_EXT_CAPS	   0x100u
#define PCI_EXT_CAP_VENDOR 0x000bu
#define PCI_EXT_CAPS_MAX   ((TRN_EMU_CONFIG_BYTES - PCI_EXT_CAPS) / 8) /* else the list is a loop */

static uint32_t config_word(const uint8_t *config, uint32_t offset)
{
	return config[offset] | config[offset + 1] << 8 | config[offset + 2] << 16 |
	       (uint32_t)config[offset + 3] << 24;
}

static void identity_read(const uint8_t *vsec, struct trn_emu_identity *id)
{
	id->features = config_word(vsec, TRN_VSEC_FEATURES);
	id->vectors = config_word(vsec, TRN_VSEC_VECTORS);
	id->ext = config_word(vsec, TRN_VSEC_BAR) == TRN_EXT_BAR &&
		  !config_word(vsec, TRN_VSEC_BAR_OFFSET);
}

void trn_emu_identify(const uint8_t *config, struct trn_emu_identity *id)
{
	uint32_t at = PCI_EXT_CAPS;
	unsigned int steps;

	memset(id, 0, sizeof(*id));
	id->device = (uint16_t)(config[PCI_DEVICE] | config[PCI_DEVICE + 1] << 8);
	for (steps = 0; steps < PCI_EXT_CAPS_MAX && at >= PCI_EXT_CAPS &&
			at <= TRN_EMU_CONFIG_BYTES - TRN_VSEC_LENGTH;
	     steps++) {
		uint32_t header = config_word(config, at);

		if ((header & 0xffff) == PCI_EXT_CAP_VENDOR &&
		    (config_word(config, at + 4) & 0xffff) == TRN_VSEC_ID) {
			identity_read(config + at, id);
			return;
		}
		/* The two lowest bits of a pointer are reserved. */
		at = header >> 20 & ~3u;
	}
}
