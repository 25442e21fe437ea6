// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bringing the hardware side of a device up and down.
 *
 * Locking: none; probe and removal are alone. The order of all locks is in trainium_device.h.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>

#include "trainium_bo.h"
#include "trainium_device.h"
#include "trainium_file.h"

#define TRAINIUM_VECTORS_MAX	64
/* What a BAR without an address means: Linux forgets those it finds no place for. */
#define TRAINIUM_NO_ROOM	": the machine has no room for it in its 64-bit PCI window"

static void trainium_device_init_early(struct trainium_device *tdev)
{
	mutex_init(&tdev->firmware_lock);
	mutex_init(&tdev->abort_lock);
	mutex_init(&tdev->files_lock);
	mutex_init(&tdev->cores_lock);
	mutex_init(&tdev->hosts_lock);
	init_waitqueue_head(&tdev->cores_wait);
	INIT_LIST_HEAD(&tdev->files);
	INIT_LIST_HEAD(&tdev->hosts);
}

/* The open extension announces itself in configuration space, or is not there. */
static void __iomem *trainium_device_extension(struct trainium_device *tdev, u32 *features,
					       u32 *vectors)
{
	struct pci_dev *pdev = tdev->pdev;
	u32 bar, offset;
	void __iomem *regs;
	u16 cap;

	*features = 0;
	*vectors = 0;
	cap = pci_find_vsec_capability(pdev, TRN_PCI_VENDOR, TRN_VSEC_ID);
	if (!cap)
		return NULL;
	pci_read_config_dword(pdev, cap + TRN_VSEC_FEATURES, features);
	pci_read_config_dword(pdev, cap + TRN_VSEC_BAR, &bar);
	pci_read_config_dword(pdev, cap + TRN_VSEC_BAR_OFFSET, &offset);
	pci_read_config_dword(pdev, cap + TRN_VSEC_VECTORS, vectors);
	if (*vectors > TRAINIUM_VECTORS_MAX || bar >= PCI_STD_NUM_BARS ||
	    offset >= pci_resource_len(pdev, bar) ||
	    pci_resource_len(pdev, bar) - offset < TRN_EXT_IRQ_MASK(*vectors)) {
		dev_warn(tdev->drm.dev,
			 "open extension not used: no registers at BAR%u + 0x%x\n", bar, offset);
		*features = 0;
		return NULL;
	}
	regs = pcim_iomap(pdev, bar, 0);
	if (!regs) {
		*features = 0;
		return NULL;
	}
	return regs + offset;
}

static int trainium_device_map(struct trainium_device *tdev)
{
	struct pci_dev *pdev = tdev->pdev;
	const struct trnhw_arch *arch = trnhw_arch_find(pdev->device);
	void __iomem *regs, *ext;
	u32 features, vectors;
	int err;

	if (!arch)
		return -ENODEV;
	if (pci_resource_len(pdev, 0) < arch->bar0_size)
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "BAR0 has %llu bytes, %llu are needed%s\n",
				     (u64)pci_resource_len(pdev, 0), arch->bar0_size,
				     pci_resource_len(pdev, 0) ? "" : TRAINIUM_NO_ROOM);
	err = pci_request_regions(pdev, "trainium");
	if (err)
		return dev_err_probe(&pdev->dev, err, "the BARs overlap what is in use\n");
	regs = pcim_iomap(pdev, 0, 0);
	if (!regs)
		return dev_err_probe(&pdev->dev, -ENOMEM, "cannot map BAR0\n");
	/* Nothing is done through it; it only tells how much memory there is. */
	if (!pci_resource_len(pdev, 4))
		dev_warn(&pdev->dev, "BAR4 has no address" TRAINIUM_NO_ROOM
			 "; %u x %llu MiB of HBM are assumed\n", arch->stacks,
			 arch->hbm_size >> 20);
	/* What the device can address, not what a bus address holds: bits above select windows. */
	err = dma_set_mask_and_coherent(&pdev->dev, arch->host_size - 1);
	if (err)
		return dev_err_probe(&pdev->dev, err, "no usable DMA addressing\n");
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	pci_set_master(pdev);
	ext = trainium_device_extension(tdev, &features, &vectors);
	err = trnhw_init(&tdev->hw, &pdev->dev, regs, ext, pdev->device, features, vectors);
	if (err)
		return dev_err_probe(&pdev->dev, err, "the device does not identify itself\n");
	return 0;
}

static int trainium_device_consts(struct trainium_device *tdev)
{
	tdev->consts = dma_alloc_coherent(tdev->drm.dev, sizeof(*tdev->consts),
					  &tdev->consts_dma, GFP_KERNEL);
	if (!tdev->consts)
		return -ENOMEM;
	memset(tdev->consts, 0, sizeof(*tdev->consts));
	tdev->consts->one = 1;
	if (!trnhw_host_address(&tdev->hw, tdev->consts_dma) ||
	    !trnhw_host_address(&tdev->hw, tdev->consts_dma + sizeof(*tdev->consts) - 1))
		return -EIO;
	return 0;
}

static int trainium_device_start(struct trainium_device *tdev)
{
	u32 all = GENMASK(tdev->hw.arch->cores - 1, 0);
	unsigned int i;
	int err;

	err = trnhw_reset_device(&tdev->hw);
	/* Firmware still busy with the reset of whoever had the device before gets a second try. */
	if (err == -ETIMEDOUT)
		err = trnhw_reset_device(&tdev->hw);
	if (!err)
		err = trnhw_start(&tdev->hw, all);
	if (err)
		return dev_err_probe(tdev->drm.dev, err, "device reset failed\n");
	for (i = 0; i < tdev->hw.arch->cores; i++) {
		err = trainium_copyq_init(tdev, i);
		if (!err)
			err = trainium_core_init(tdev, i);
		if (err)
			return dev_err_probe(tdev->drm.dev, err, "core %u cannot be set up\n", i);
	}
	return trainium_irq_init(tdev);
}

/* Undoes trainium_device_init(), as far as it came; nobody uses the hardware any more. */
static void trainium_device_stop(struct trainium_device *tdev)
{
	unsigned int i;

	trainium_irq_fini(tdev);
	if (tdev->hw.arch) {
		for (i = 0; i < tdev->hw.arch->cores; i++) {
			trainium_core_fini(&tdev->core[i]);
			trainium_copyq_fini(&tdev->copyq[i]);
		}
	}
	pci_clear_master(tdev->pdev);
	if (tdev->consts)
		dma_free_coherent(tdev->drm.dev, sizeof(*tdev->consts), tdev->consts,
				  tdev->consts_dma);
	tdev->consts = NULL;
	if (tdev->hw.arch)
		trnhw_fini(&tdev->hw);
	if (tdev->wq)
		destroy_workqueue(tdev->wq);
	tdev->wq = NULL;
}

/**
 * trainium_device_init() - bring the hardware up: identify, reset, queues, cores, interrupts.
 * @tdev: device; its PCI function is enabled
 *
 * Sleeps, normally 0.2 s. Return: 0 or a negative errno, with one line in the log.
 */
int trainium_device_init(struct trainium_device *tdev)
{
	int err;

	trainium_device_init_early(tdev);
	tdev->wq = alloc_workqueue("trainium", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!tdev->wq)
		return -ENOMEM;
	err = trainium_device_map(tdev);
	if (!err)
		err = trainium_hbm_init(tdev);
	if (!err)
		err = trainium_device_consts(tdev);
	if (!err)
		err = trainium_device_start(tdev);
	if (err)
		trainium_device_stop(tdev);
	return err;
}

/**
 * trainium_device_fini() - take everything away from users, then the hardware down.
 * @tdev: device
 *
 * Open files stay as empty shells. The order is the point of this function.
 */
void trainium_device_fini(struct trainium_device *tdev)
{
	unsigned int i;

	WRITE_ONCE(tdev->removing, true);
	trnhw_stop(&tdev->hw);
	wake_up_all(&tdev->cores_wait);
	for (i = 0; i < tdev->hw.arch->cores; i++) {
		wake_up_all(&tdev->core[i].wait);
		trainium_copyq_abort(&tdev->copyq[i]);
	}
	trainium_files_unbind(tdev);
	trainium_device_stop(tdev);
	trainium_bos_unmap(tdev);
}
