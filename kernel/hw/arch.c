// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Products by PCI device id and by name.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "internal.h"

static const struct trnhw_arch * const trnhw_archs[] = {
	&trnhw_arch_trn1,
	&trnhw_arch_inf2,
	&trnhw_arch_trn2,
};

const struct trnhw_arch *trnhw_arch_find(u16 pci_device)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(trnhw_archs); i++)
		if (trnhw_archs[i]->pci_device == pci_device)
			return trnhw_archs[i];
	return NULL;
}

const struct trnhw_arch *trnhw_arch_find_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(trnhw_archs); i++)
		if (!strcmp(trnhw_archs[i]->name, name))
			return trnhw_archs[i];
	return NULL;
}
