// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers: the QUERY call and fdinfo.
 *
 * Locking: trainium_device.files_lock and cores_lock while the lists are read.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/trainium_accel.h>

#include "trainium_context.h"
#include "trainium_device.h"
#include "trainium_file.h"
#include "trainium_query.h"

#define TRAINIUM_QUERY_MAX	SZ_1M

static void *trainium_query_device(struct trainium_device *tdev, u64 *size)
{
	struct drm_trainium_device_info *info = kzalloc(sizeof(*info), GFP_KERNEL);
	struct pci_dev *pdev = tdev->pdev;
	struct trnhw *hw = &tdev->hw;
	struct trnhw_ecc ecc;
	int index;

	if (!info)
		return NULL;
	*size = sizeof(*info);
	info->pci_vendor = pdev->vendor;
	info->pci_device = pdev->device;
	info->pci_domain = pci_domain_nr(pdev->bus);
	info->pci_bus = pdev->bus->number;
	info->pci_slot = PCI_SLOT(pdev->devfn);
	info->pci_function = PCI_FUNC(pdev->devfn);
	info->generation = hw->arch->generation;
	info->cores = hw->arch->cores;
	info->stacks = hw->arch->stacks;
	info->dma_engines = hw->arch->engines;
	info->routing_id = hw->routing_id;
	index = trnhw_device_index(hw->arch, hw->routing_id);
	info->device_index = index < 0 ? hw->routing_id : index;
	info->serial = hw->serial;
	if (tdev->core[0].usable)
		info->caps |= DRM_TRAINIUM_CAP_RUN;
	if (tdev->irq_count)
		info->caps |= DRM_TRAINIUM_CAP_IRQ;
	if (hw->features & TRN_FEATURE_WINDOWS)
		info->caps |= DRM_TRAINIUM_CAP_WINDOWS;
	trnhw_ecc_read(hw, &ecc);
	info->ecc_corrected = (u64)ecc.sram_corrected + ecc.hbm_corrected;
	info->ecc_uncorrected = (u64)ecc.sram_uncorrected + ecc.hbm_uncorrected;
	if (trnhw_power_read(hw, &info->power_utilisation))
		info->power_utilisation = U32_MAX;
	info->numa_node = dev_to_node(&pdev->dev);
	info->resets = atomic_read(&tdev->resets);
	info->max_programs_in_flight = TRNHW_SQ_ENTRIES;
	strscpy(info->arch, hw->arch->name, sizeof(info->arch));
	strscpy(info->product, hw->arch->product, sizeof(info->product));
	return info;
}

static void *trainium_query_cores(struct trainium_device *tdev, u64 *size)
{
	unsigned int count = tdev->hw.arch->cores;
	struct drm_trainium_core_info *info = kcalloc(count, sizeof(*info), GFP_KERNEL);
	unsigned int i;

	if (!info)
		return NULL;
	*size = count * sizeof(*info);
	mutex_lock(&tdev->cores_lock);
	for (i = 0; i < count; i++) {
		const struct trainium_core *core = &tdev->core[i];

		info[i].state = core->state;
		info[i].runs = atomic64_read(&core->runs);
		info[i].faults = atomic64_read(&core->faults);
		if (core->owner) {
			info[i].owner_pid = pid_vnr(core->owner->file->pid);
			strscpy(info[i].owner_comm, core->owner->file->comm,
				sizeof(info[i].owner_comm));
		}
	}
	mutex_unlock(&tdev->cores_lock);
	return info;
}

static void *trainium_query_memory(struct trainium_device *tdev, u64 *size)
{
	unsigned int count = tdev->hw.arch->stacks;
	struct drm_trainium_memory_info *info = kcalloc(count, sizeof(*info), GFP_KERNEL);
	unsigned int i;

	if (!info)
		return NULL;
	*size = count * sizeof(*info);
	for (i = 0; i < count; i++) {
		info[i].total = tdev->stack[i].size;
		info[i].free = READ_ONCE(tdev->stack[i].free);
		info[i].largest_free = trainium_hbm_largest(&tdev->stack[i]);
		info[i].reserved = TRN_HBM_FW_RESERVED;
	}
	return info;
}

static void *trainium_query_holders(struct trainium_device *tdev, u64 *size)
{
	struct drm_trainium_holder *info;
	struct trainium_file *file;
	size_t count = 0, i = 0;

	mutex_lock(&tdev->files_lock);
	list_for_each_entry(file, &tdev->files, node)
		count++;
	info = kvcalloc(count + 1, sizeof(*info), GFP_KERNEL);
	*size = count * sizeof(*info);
	list_for_each_entry(file, &tdev->files, node) {
		if (!info)
			break;
		info[i].pid = pid_vnr(file->pid);
		info[i].cores = atomic_read(&file->cores);
		info[i].hbm_bytes = atomic64_read(&file->hbm_bytes);
		info[i].host_bytes = atomic64_read(&file->host_bytes);
		strscpy(info[i].comm, file->comm, sizeof(info[i].comm));
		i++;
	}
	mutex_unlock(&tdev->files_lock);
	return info;
}

/** trainium_query_ioctl() - DRM_IOCTL_TRAINIUM_QUERY. */
int trainium_query_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	static void *(* const answers[])(struct trainium_device *tdev, u64 *size) = {
		[DRM_TRAINIUM_QUERY_DEVICE] = trainium_query_device,
		[DRM_TRAINIUM_QUERY_CORES] = trainium_query_cores,
		[DRM_TRAINIUM_QUERY_MEMORY] = trainium_query_memory,
		[DRM_TRAINIUM_QUERY_HOLDERS] = trainium_query_holders,
	};
	struct drm_trainium_query *args = data;
	void __user *user = u64_to_user_ptr(args->data);
	void *answer;
	u64 room = args->size;
	u64 size, copied;
	int err = 0;

	if (args->flags || args->what >= ARRAY_SIZE(answers) || room > TRAINIUM_QUERY_MAX)
		return -EINVAL;
	answer = answers[args->what](to_trainium_device(drm), &size);
	if (!answer)
		return -ENOMEM;
	copied = min(room, size);
	if (copy_to_user(user, answer, copied) ||
	    (room > size && clear_user(user + size, room - size)))
		err = -EFAULT;
	args->size = size;
	kvfree(answer);
	return err;
}

/** trainium_query_fdinfo() - what an open file uses, in the keys of drm-usage-stats. */
void trainium_query_fdinfo(struct drm_printer *p, struct drm_file *drm_file)
{
	struct trainium_file *file = drm_file->driver_priv;

	drm_printf(p, "drm-engine-core:\t%lld ns\n", atomic64_read(&file->busy_ns));
	drm_printf(p, "drm-engine-capacity-core:\t%u\n", file->tdev->hw.arch->cores);
	drm_printf(p, "drm-total-hbm:\t%lld KiB\n", atomic64_read(&file->hbm_bytes) >> 10);
	drm_printf(p, "drm-total-host:\t%lld KiB\n", atomic64_read(&file->host_bytes) >> 10);
	drm_printf(p, "trainium-cores:\t0x%x\n", atomic_read(&file->cores));
}
