// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of the PCI device. One value per file; none waits for the device.
 *
 * No locks: the attributes are removed before the driver's data.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "trainium_device.h"

static struct trainium_device *trainium_sysfs_device(struct device *dev)
{
	return dev_get_drvdata(dev);
}

static ssize_t routing_id_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", trainium_sysfs_device(dev)->hw.routing_id);
}
static DEVICE_ATTR_RO(routing_id);

static ssize_t serial_number_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%016llx\n", trainium_sysfs_device(dev)->hw.serial);
}
static DEVICE_ATTR_RO(serial_number);

static ssize_t cores_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", trainium_sysfs_device(dev)->hw.arch->cores);
}
static DEVICE_ATTR_RO(cores);

static ssize_t hbm_free_bytes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct trainium_device *tdev = trainium_sysfs_device(dev);
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < tdev->hw.arch->stacks; i++)
		sum += READ_ONCE(tdev->stack[i].free);
	return sysfs_emit(buf, "%llu\n", sum);
}
static DEVICE_ATTR_RO(hbm_free_bytes);

static ssize_t hbm_repair_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	static const char * const states[] = {
		[TRNHW_HBM_REPAIR_NONE] = "none",
		[TRNHW_HBM_REPAIR_PENDING] = "pending",
		[TRNHW_HBM_REPAIR_FAILED] = "failed",
		[TRNHW_HBM_REPAIR_UNKNOWN] = "unknown",
	};

	return sysfs_emit(buf, "%s\n",
			  states[trnhw_hbm_repair_read(&trainium_sysfs_device(dev)->hw)]);
}
static DEVICE_ATTR_RO(hbm_repair);

static ssize_t resets_total_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&trainium_sysfs_device(dev)->resets));
}
static DEVICE_ATTR_RO(resets_total);

static ssize_t completions_polled_total_show(struct device *dev, struct device_attribute *attr,
					     char *buf)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&trainium_sysfs_device(dev)->polled));
}
static DEVICE_ATTR_RO(completions_polled_total);

static ssize_t interrupts_total_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct trainium_device *tdev = trainium_sysfs_device(dev);
	unsigned int v;
	s64 sum = 0;

	for (v = 0; v < tdev->irq_count; v++)
		sum += atomic64_read(&tdev->irq[v].count);
	return sysfs_emit(buf, "%lld\n", sum);
}
static DEVICE_ATTR_RO(interrupts_total);

static struct attribute *trainium_sysfs_attrs[] = {
	&dev_attr_routing_id.attr,
	&dev_attr_serial_number.attr,
	&dev_attr_cores.attr,
	&dev_attr_hbm_free_bytes.attr,
	&dev_attr_hbm_repair.attr,
	&dev_attr_resets_total.attr,
	&dev_attr_completions_polled_total.attr,
	&dev_attr_interrupts_total.attr,
	NULL,
};

static const struct attribute_group trainium_sysfs_group = {
	.name = "trainium",
	.attrs = trainium_sysfs_attrs,
};

const struct attribute_group *trainium_sysfs_groups[] = {
	&trainium_sysfs_group,
	NULL,
};
