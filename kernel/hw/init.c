// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Identification of a device.
 */
#include <linux/string.h>

#include "internal.h"

#define TRNHW_ID_ROUNDS		20
#define TRNHW_ID_PAUSE_MS	1000

/* The firmware writes the device id late; until then it reads "not ready". */
static int trnhw_id_read(struct trnhw *hw)
{
	unsigned int round;
	u32 id = 0;
	int ret = -ETIMEDOUT;

	for (round = 0; round < TRNHW_ID_ROUNDS; round++) {
		ret = trnhw_misc_read(hw, TRN_MISC_DEVICE_ID, &id);
		if (ret != -ETIMEDOUT)
			break;
		if (trnhw_pause(hw, TRNHW_ID_PAUSE_MS)) {
			ret = -ENODEV;
			break;
		}
	}
	if (ret == -ETIMEDOUT) {
		dev_err(hw->dev,
			"device id not ready after %u rounds of 16 s: power-cycle the device\n",
			TRNHW_ID_ROUNDS);
		return ret;
	}
	if (ret) {
		dev_err(hw->dev, "registers read all ones or the device is being removed\n");
		return ret;
	}
	if (id >= TRN_MAX_DEVICES) {
		dev_err(hw->dev, "routing id %u is not in 0..%u: not a working device\n", id,
			TRN_MAX_DEVICES - 1);
		return -ENODEV;
	}
	hw->routing_id = id;
	return 0;
}

/* Either half 0 or not ready means there is none. */
static u64 trnhw_serial_read(const struct trnhw *hw)
{
	u32 low = trnhw_read(hw, hw->arch->misc + TRN_MISC_SERIAL_LOW);
	u32 high = trnhw_read(hw, hw->arch->misc + TRN_MISC_SERIAL_HIGH);

	if (!low || !high || low == TRN_MISC_NOT_READY || high == TRN_MISC_NOT_READY)
		return 0;
	return (u64)high << 32 | low;
}

static void trnhw_ext_probe(struct trnhw *hw, void __iomem *ext, u32 features, u32 vectors)
{
	u32 id, present;

	if (!ext)
		return;
	hw->ext = ext;
	id = trnhw_ext_read(hw, TRN_EXT_ID);
	if (id != TRN_EXT_ID_VALUE) {
		dev_warn(hw->dev,
			 "extension registers identify as %#x, not %#x: extension not used\n", id,
			 TRN_EXT_ID_VALUE);
		hw->ext = NULL;
		return;
	}
	present = trnhw_ext_read(hw, TRN_EXT_FEATURES);
	hw->features = features & present & TRN_FEATURE_ALL;
	if (hw->features & TRN_FEATURE_MSIX)
		hw->vectors = vectors;
}

int trnhw_init(struct trnhw *hw, struct device *dev, void __iomem *regs, void __iomem *ext,
	       u16 pci_device, u32 features, u32 vectors)
{
	int ret;

	memset(hw, 0, sizeof(*hw));
	hw->dev = dev;
	hw->regs = regs;
	hw->arch = trnhw_arch_find(pci_device);
	if (!hw->arch) {
		dev_err(dev, "PCI device id %#x is not supported\n", pci_device);
		return -ENODEV;
	}
	ret = trnhw_id_read(hw);
	if (ret)
		return ret;
	hw->serial = trnhw_serial_read(hw);
	trnhw_ext_probe(hw, ext, features, vectors);
	return trnhw_fwio_init(hw);
}

void trnhw_fini(struct trnhw *hw)
{
	trnhw_fwio_fini(hw);
}
