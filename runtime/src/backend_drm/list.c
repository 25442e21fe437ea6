// SPDX-License-Identifier: BSD-2-Clause
/* One line per device for trn_device_list(), also of devices this process may not open. Locking:
 * none needed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../internal.h"
#include "drm.h"

static int query(int fd, uint32_t what, void *data, uint64_t size)
{
	struct drm_trainium_query query = { .what = what, .size = size, .data = (uintptr_t)data };

	memset(data, 0, size);
	return trn_drm_ioctl(fd, DRM_IOCTL_TRAINIUM_QUERY, &query);
}

static void node_info(const struct trn_drm_node *node, struct trn_device_info *info)
{
	struct drm_trainium_device_info device;
	struct drm_trainium_memory_info stacks[TRN_HEAP_POOLS_MAX];
	struct drm_trainium_core_info cores[8];
	unsigned int i;
	int fd = trn_drm_open_node(node->node);

	if (fd < 0)
		return;
	if (!query(fd, DRM_TRAINIUM_QUERY_DEVICE, &device, sizeof(device)))
		trn_info_from_driver(&device, info);
	if (!query(fd, DRM_TRAINIUM_QUERY_MEMORY, stacks, sizeof(stacks)))
		for (i = 0; i < info->stacks && i < 4; i++) {
			info->hbm_total += stacks[i].total;
			info->hbm_free += stacks[i].free;
			info->hbm_stack_free[i] = stacks[i].free;
		}
	if (!query(fd, DRM_TRAINIUM_QUERY_CORES, cores, sizeof(cores)))
		for (i = 0; i < info->cores && i < 8; i++) {
			info->core[i].state = cores[i].state;
			info->core[i].owner_pid = cores[i].owner_pid;
			info->core[i].runs = cores[i].runs;
			info->core[i].faults = cores[i].faults;
			memcpy(info->core[i].owner, cores[i].owner_comm,
			       sizeof(info->core[i].owner) - 1);
		}
	close(fd);
}

int trn_drm_list(struct trn_device_info *list, size_t *count)
{
	struct trn_drm_node nodes[TRN_DRM_NODES_MAX];
	unsigned int present = trn_drm_discover(nodes), i;

	for (i = 0; i < present && i < *count; i++) {
		struct trn_device_info *info = &list[i];

		memset(info, 0, sizeof(*info));
		info->size = sizeof(*info);
		snprintf(info->spec, sizeof(info->spec), "trn%u", i);
		snprintf(info->backend, sizeof(info->backend), "drm");
		snprintf(info->node, sizeof(info->node), "%.31s", nodes[i].node);
		snprintf(info->pci, sizeof(info->pci), "%.15s", nodes[i].pci);
		info->numa_node = nodes[i].numa_node;
		info->power_utilisation = UINT32_MAX;
		node_info(&nodes[i], info);
	}
	*count = present;
	return 0;
}
