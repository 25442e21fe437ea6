// SPDX-License-Identifier: BSD-2-Clause
/* Answers to DRM_TRAINIUM_QUERY_*. Locking: trn_emu.lock inside. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"

/* What prctl() would tell: the name of the process. */
static void comm_read(char comm[16])
{
	FILE *file = fopen("/proc/self/comm", "re");

	memset(comm, 0, 16);
	if (!file)
		return;
	if (fgets(comm, 16, file))
		comm[strcspn(comm, "\n")] = 0;
	fclose(file);
}

static void answer_device(struct trn_emu *emu, struct drm_trainium_device_info *info)
{
	const struct trnhw_arch *arch = emu->hw.arch;
	struct trnhw_ecc ecc = { 0 };
	u32 power;
	int index;

	trnhw_ecc_read(&emu->hw, &ecc);
	info->pci_vendor = 0x1d0f;
	info->pci_device = arch->pci_device;
	info->generation = arch->generation;
	info->cores = arch->cores;
	info->stacks = arch->stacks;
	info->dma_engines = arch->engines;
	info->routing_id = emu->hw.routing_id;
	index = trnhw_device_index(arch, emu->hw.routing_id);
	info->device_index = index < 0 ? 0 : index;
	info->serial = emu->hw.serial;
	if ((emu->hw.features & (TRN_FEATURE_CORES | TRN_FEATURE_NOTIFY)) ==
	    (TRN_FEATURE_CORES | TRN_FEATURE_NOTIFY))
		info->caps |= DRM_TRAINIUM_CAP_RUN;
	if (emu->hw.features & TRN_FEATURE_MSIX)
		info->caps |= DRM_TRAINIUM_CAP_IRQ;
	if (emu->hw.features & TRN_FEATURE_WINDOWS)
		info->caps |= DRM_TRAINIUM_CAP_WINDOWS;
	info->ecc_corrected = (u64)ecc.sram_corrected + ecc.hbm_corrected;
	info->ecc_uncorrected = (u64)ecc.sram_uncorrected + ecc.hbm_uncorrected;
	info->power_utilisation = trnhw_power_read(&emu->hw, &power) ? UINT32_MAX : power;
	info->numa_node = -1;
	info->max_programs_in_flight = TRNHW_SQ_ENTRIES;
	pthread_mutex_lock(&emu->lock);
	info->resets = emu->resets;
	pthread_mutex_unlock(&emu->lock);
	snprintf(info->arch, sizeof(info->arch), "%s", arch->name);
	snprintf(info->product, sizeof(info->product), "%s", arch->product);
}

static void answer_cores(struct trn_emu *emu, struct drm_trainium_core_info *cores)
{
	char comm[16];
	unsigned int i;

	comm_read(comm);
	pthread_mutex_lock(&emu->lock);
	for (i = 0; i < emu->hw.arch->cores; i++) {
		cores[i].state = emu->cores[i].state;
		cores[i].runs = emu->cores[i].runs;
		cores[i].faults = emu->cores[i].faults;
		if (emu->cores[i].owner) {
			cores[i].owner_pid = getpid();
			memcpy(cores[i].owner_comm, comm, sizeof(comm));
		}
	}
	pthread_mutex_unlock(&emu->lock);
}

static void answer_memory(struct trn_emu *emu, struct drm_trainium_memory_info *stacks)
{
	unsigned int i;

	pthread_mutex_lock(&emu->lock);
	for (i = 0; i < emu->hw.arch->stacks; i++) {
		stacks[i].total = trn_heap_extents(emu->hbm, i)->size;
		stacks[i].free = trn_heap_free_bytes(emu->hbm, i);
		stacks[i].largest_free = trn_heap_largest_free(emu->hbm, i);
		stacks[i].reserved = TRN_HBM_FW_RESERVED;
	}
	pthread_mutex_unlock(&emu->lock);
}

static void answer_holders(struct trn_emu *emu, struct drm_trainium_holder *holder)
{
	unsigned int i;

	comm_read(holder->comm);
	holder->pid = getpid();
	pthread_mutex_lock(&emu->lock);
	for (i = 0; i < emu->hw.arch->stacks; i++)
		holder->hbm_bytes += trn_heap_extents(emu->hbm, i)->used;
	holder->host_bytes = emu->host_bytes;
	for (i = 0; i < emu->hw.arch->cores; i++)
		if (emu->cores[i].owner)
			holder->cores |= 1u << i;
	pthread_mutex_unlock(&emu->lock);
}

int trn_emu_query(struct trn_backend_device *device, struct drm_trainium_query *query)
{
	union {
		struct drm_trainium_device_info device;
		struct drm_trainium_core_info cores[TRN_MAX_CORES];
		struct drm_trainium_memory_info stacks[TRN_HEAP_POOLS_MAX];
		struct drm_trainium_holder holder;
	} answer;
	struct trn_emu *emu = trn_emu_of(device);
	uint64_t size;

	if (query->flags || (query->size && !query->data))
		return -EINVAL;
	memset(&answer, 0, sizeof(answer));
	switch (query->what) {
	case DRM_TRAINIUM_QUERY_DEVICE:
		answer_device(emu, &answer.device);
		size = sizeof(answer.device);
		break;
	case DRM_TRAINIUM_QUERY_CORES:
		answer_cores(emu, answer.cores);
		size = emu->hw.arch->cores * sizeof(answer.cores[0]);
		break;
	case DRM_TRAINIUM_QUERY_MEMORY:
		answer_memory(emu, answer.stacks);
		size = emu->hw.arch->stacks * sizeof(answer.stacks[0]);
		break;
	case DRM_TRAINIUM_QUERY_HOLDERS:
		answer_holders(emu, &answer.holder);
		size = sizeof(answer.holder);
		break;
	default:
		return -EINVAL;
	}
	if (query->size) {
		uint8_t *out = (uint8_t *)(uintptr_t)query->data;
		uint64_t part = query->size < size ? query->size : size;

		memcpy(out, &answer, part);
		memset(out + part, 0, query->size - part);
	}
	query->size = size;
	return 0;
}
