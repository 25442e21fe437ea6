// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * PCI configuration space image: identity, BAR types, the vendor-specific extended capability.
 */
#include <string.h>
#include "device.h"

#define PCI_VENDOR	     0x00
#define PCI_DEVICE	     0x02
#define PCI_REVISION	     0x08
#define PCI_CLASS	     0x09
#define PCI_BAR(n)	     (0x10 + 4 * (n))
#define PCI_SUBSYSTEM_VENDOR 0x2c
#define PCI_SUBSYSTEM	     0x2e
#define PCI_BAR_64	     0x4
#define PCI_BAR_PREFETCH     0x8
#define PCI_EXT_CAP_VENDOR   0x000b
#define PCI_EXT_CAP_VERSION  1

static void put16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *p, uint32_t value)
{
	put16(p, (uint16_t)value);
	put16(p + 2, (uint16_t)(value >> 16));
}

void emu_device_pci_config(const struct emu_device *device, uint8_t config[4096])
{
	uint8_t *vsec = config + TRN_VSEC_CONFIG_OFFSET;

	memset(config, 0, 4096);
	put16(config + PCI_VENDOR, TRN_PCI_VENDOR);
	put16(config + PCI_DEVICE, device->product->pci_device);
	config[PCI_REVISION] = 0;
	config[PCI_CLASS] = (uint8_t)TRN_PCI_CLASS;
	put16(config + PCI_CLASS + 1, (uint16_t)(TRN_PCI_CLASS >> 8));
	put16(config + PCI_SUBSYSTEM_VENDOR, TRN_PCI_VENDOR);
	put16(config + PCI_SUBSYSTEM, device->product->pci_device);
	put32(config + PCI_BAR(0), PCI_BAR_64);
	put32(config + PCI_BAR(4), PCI_BAR_64 | PCI_BAR_PREFETCH);
	if (!device->features)
		return;
	put32(config + PCI_BAR(TRN_EXT_BAR), PCI_BAR_64);
	put32(vsec, PCI_EXT_CAP_VENDOR | PCI_EXT_CAP_VERSION << 16);
	put32(vsec + 4, TRN_VSEC_ID | TRN_VSEC_REVISION << 16 | (uint32_t)TRN_VSEC_LENGTH << 20);
	put32(vsec + TRN_VSEC_FEATURES, device->features);
	put32(vsec + TRN_VSEC_BAR, TRN_EXT_BAR);
	put32(vsec + TRN_VSEC_BAR_OFFSET, 0);
	put32(vsec + TRN_VSEC_VECTORS, device->irq.count);
}
