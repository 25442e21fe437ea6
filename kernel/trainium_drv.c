// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driver for AWS Trainium and Inferentia accelerators: registration, calls, probe and removal.
 *
 * Every call of ours passes one gate, trainium_ioctl_gate(): it fails once removal has begun, and
 * removal waits for those inside.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_prime.h>
#include <drm/trainium_accel.h>

#include "compat.h"
#include "trainium_bo.h"
#include "trainium_context.h"
#include "trainium_device.h"
#include "trainium_file.h"
#include "trainium_program.h"
#include "trainium_query.h"
#include "trainium_ring.h"
#include "trainium_submit.h"

#define TRAINIUM_IOCTL(name, fn)	DRM_IOCTL_DEF_DRV(TRAINIUM_##name, fn, DRM_RENDER_ALLOW)

static const struct drm_ioctl_desc trainium_ioctls[] = {
	TRAINIUM_IOCTL(QUERY, trainium_query_ioctl),
	TRAINIUM_IOCTL(BO_CREATE, trainium_bo_create_ioctl),
	TRAINIUM_IOCTL(BO_INFO, trainium_bo_info_ioctl),
	TRAINIUM_IOCTL(CTX_CREATE, trainium_ctx_create_ioctl),
	TRAINIUM_IOCTL(CTX_DESTROY, trainium_ctx_destroy_ioctl),
	TRAINIUM_IOCTL(CTX_STATUS, trainium_ctx_status_ioctl),
	TRAINIUM_IOCTL(RING_CREATE, trainium_ring_create_ioctl),
	TRAINIUM_IOCTL(RING_DESTROY, trainium_ring_destroy_ioctl),
	TRAINIUM_IOCTL(PROGRAM_CREATE, trainium_program_create_ioctl),
	TRAINIUM_IOCTL(PROGRAM_DESTROY, trainium_program_destroy_ioctl),
	TRAINIUM_IOCTL(SUBMIT, trainium_submit_ioctl),
};

/* The DRM core ignores what it does not know behind a structure; we refuse what is not zero. */
static int trainium_ioctl_tail(unsigned int cmd, unsigned long arg)
{
	unsigned int nr = _IOC_NR(cmd) - DRM_COMMAND_BASE;
	unsigned int size = _IOC_SIZE(cmd);
	unsigned int known;
	int ret;

	if (_IOC_TYPE(cmd) != DRM_IOCTL_BASE || nr >= ARRAY_SIZE(trainium_ioctls))
		return 0;
	known = _IOC_SIZE(trainium_ioctls[nr].cmd);
	if (size <= known)
		return 0;
	ret = check_zeroed_user((const void __user *)arg + known, size - known);
	if (ret < 0)
		return ret;
	return ret ? 0 : -E2BIG;
}

static long trainium_ioctl_gate(struct file *filp, unsigned int cmd, unsigned long arg,
				long (*call)(struct file *filp, unsigned int cmd,
					     unsigned long arg))
{
	struct drm_file *drm_file = filp->private_data;
	unsigned int nr = _IOC_NR(cmd);
	long ret;
	int idx;

	/* Calls of the DRM core wait for fences without the hardware: they stay outside. */
	if (nr < DRM_COMMAND_BASE || nr >= DRM_COMMAND_END)
		return call(filp, cmd, arg);
	ret = trainium_ioctl_tail(cmd, arg);
	if (ret)
		return ret;
	if (!drm_dev_enter(drm_file->minor->dev, &idx))
		return -ENODEV;
	ret = call(filp, cmd, arg);
	drm_dev_exit(idx);
	return ret;
}

static long trainium_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return trainium_ioctl_gate(filp, cmd, arg, drm_ioctl);
}

#ifdef CONFIG_COMPAT
static long trainium_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return trainium_ioctl_gate(filp, cmd, arg, drm_compat_ioctl);
}
#else
#define trainium_compat_ioctl	NULL
#endif

#ifdef TRAINIUM_HAVE_SHOW_FDINFO
#define trainium_show_fdinfo	drm_show_fdinfo
#else
static void trainium_show_fdinfo(struct seq_file *m, struct file *filp)
{
	struct drm_file *drm_file = filp->private_data;
	struct trainium_file *file = drm_file->driver_priv;
	struct drm_printer p = drm_seq_file_printer(m);

	seq_printf(m, "drm-driver:\t%s\n", drm_file->minor->dev->driver->name);
	seq_printf(m, "drm-pdev:\t%s\n", pci_name(file->tdev->pdev));
	seq_printf(m, "drm-client-id:\t%llu\n", (u64)hash_ptr(file, 32));
	trainium_query_fdinfo(&p, drm_file);
}
#endif

/* The core's operations, with our gate in front of the calls. */
static const struct file_operations trainium_fops = {
	.owner = THIS_MODULE,
	.open = TRAINIUM_NODE_OPEN,
	.release = drm_release,
	.unlocked_ioctl = trainium_ioctl,
	.compat_ioctl = trainium_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	.show_fdinfo = trainium_show_fdinfo,
#ifdef FOP_UNSIGNED_OFFSET
	.fop_flags = FOP_UNSIGNED_OFFSET,
#endif
};

static const struct drm_driver trainium_drm_driver = {
	.driver_features = TRAINIUM_DRIVER_NODE | DRIVER_GEM | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = trainium_file_open,
	.postclose = trainium_file_postclose,
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd,
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,
	.ioctls = trainium_ioctls,
	.num_ioctls = ARRAY_SIZE(trainium_ioctls),
	.fops = &trainium_fops,
#ifdef TRAINIUM_HAVE_SHOW_FDINFO
	.show_fdinfo = trainium_query_fdinfo,
#endif
	.name = "trainium",
	.desc = "AWS Trainium and Inferentia",
#ifdef TRAINIUM_HAVE_DRIVER_DATE
	.date = "20261130",
#endif
	.major = 1,
	.minor = 0,
};

static int trainium_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct trainium_device *tdev;
	int err;

	tdev = devm_drm_dev_alloc(&pdev->dev, &trainium_drm_driver, struct trainium_device, drm);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);
	tdev->pdev = pdev;
	pci_set_drvdata(pdev, tdev);
	err = pcim_enable_device(pdev);
	if (err)
		return dev_err_probe(&pdev->dev, err, "cannot enable the device\n");
	err = trainium_device_init(tdev);
	if (err)
		return err;
	/* Last: from here on users come in. */
	err = drm_dev_register(&tdev->drm, 0);
	if (err) {
		trainium_device_fini(tdev);
		return dev_err_probe(&pdev->dev, err, "cannot register the device\n");
	}
	dev_info(&pdev->dev, "%s, %u cores, %u x %llu MiB HBM, %u interrupt vectors%s\n",
		 tdev->hw.arch->product, tdev->hw.arch->cores, tdev->hw.arch->stacks,
		 tdev->stack[0].size >> 20, tdev->irq_count,
		 tdev->core[0].usable ? "" : ", runs no programs");
	return 0;
}

static void trainium_remove(struct pci_dev *pdev)
{
	trainium_device_fini(pci_get_drvdata(pdev));
}

/* Quiet at shutdown: no DMA into a kernel that is going away. */
static void trainium_shutdown(struct pci_dev *pdev)
{
	trainium_remove(pdev);
}

static const struct pci_device_id trainium_pci_ids[] = {
	{ PCI_DEVICE(TRN_PCI_VENDOR, TRN_PCI_DEVICE_TRN1) },
	{ PCI_DEVICE(TRN_PCI_VENDOR, TRN_PCI_DEVICE_INF2) },
	{ PCI_DEVICE(TRN_PCI_VENDOR, TRN_PCI_DEVICE_TRN2) },
	{ }
};
MODULE_DEVICE_TABLE(pci, trainium_pci_ids);

static struct pci_driver trainium_pci_driver = {
	.name = "trainium",
	.id_table = trainium_pci_ids,
	.probe = trainium_probe,
	.remove = trainium_remove,
	.shutdown = trainium_shutdown,
	.dev_groups = trainium_sysfs_groups,
	/* A device is mostly waited for: a machine with sixteen of them waits once. */
	.driver.probe_type = PROBE_PREFER_ASYNCHRONOUS,
};

module_pci_driver(trainium_pci_driver);

MODULE_DESCRIPTION("AWS Trainium and Inferentia accelerators");
MODULE_LICENSE("GPL");
