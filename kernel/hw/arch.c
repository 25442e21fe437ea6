// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Products by PCI device id.
 */
#include "internal.h"

const struct trnhw_arch *trnhw_arch_find(u16 pci_device)
{
	switch (pci_device) {
	case TRN_PCI_DEVICE_TRN1:
		return &trnhw_arch_trn1;
	case TRN_PCI_DEVICE_INF2:
		return &trnhw_arch_inf2;
	case TRN_PCI_DEVICE_TRN2:
		return &trnhw_arch_trn2;
	default:
		return NULL;
	}
}
