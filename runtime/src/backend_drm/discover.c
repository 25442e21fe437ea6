// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finding devices: accel nodes by sysfs, render nodes by libdrm; where sysfs is missing
 * (containers), by looking at the nodes themselves.
 *
 * Locking: none needed.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "drm.h"

#define ACCEL_CLASS "/sys/class/accel"
#define PCI_VENDOR  0x1d0f

bool trn_drm_is_ours(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	bool ours = version && version->name && !strcmp(version->name, TRN_DRM_DRIVER);

	drmFreeVersion(version);
	return ours;
}

/* Last component of the link @name in directory @dir of sysfs. */
static bool link_name(const char *dir, const char *name, char *out, size_t size)
{
	char path[512], target[PATH_MAX];
	const char *last;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!realpath(path, target))
		return false;
	last = strrchr(target, '/');
	last = last ? last + 1 : target;
	if (strlen(last) >= size)
		return false;
	strcpy(out, last);
	return true;
}

static int numa_read(const char *device_dir)
{
	char path[512];
	FILE *file;
	int node = -1;

	snprintf(path, sizeof(path), "%s/numa_node", device_dir);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &node) != 1)
		node = -1;
	fclose(file);
	return node;
}

static void node_add(struct trn_drm_node *nodes, unsigned int *count, const char *node,
		     const char *pci, int numa)
{
	struct trn_drm_node *entry;
	unsigned int i;

	/* A device shows up once, however many ways there are to find it. */
	for (i = 0; i < *count; i++)
		if (!strcmp(nodes[i].node, node) || (*pci && !strcmp(nodes[i].pci, pci)))
			return;
	if (*count == TRN_DRM_NODES_MAX)
		return;
	entry = &nodes[(*count)++];
	snprintf(entry->node, sizeof(entry->node), "%s", node);
	snprintf(entry->pci, sizeof(entry->pci), "%s", pci);
	entry->numa_node = numa;
}

static void accel_scan(struct trn_drm_node *nodes, unsigned int *count)
{
	char device[320], driver[64], pci[16], node[32];
	struct dirent *entry;
	DIR *dir = opendir(ACCEL_CLASS);

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, "accel", 5) || strlen(entry->d_name) > 16)
			continue;
		snprintf(device, sizeof(device), ACCEL_CLASS "/%s/device", entry->d_name);
		if (!link_name(device, "driver", driver, sizeof(driver)) ||
		    strcmp(driver, TRN_DRM_DRIVER))
			continue;
		if (!link_name(device, ".", pci, sizeof(pci)))
			pci[0] = 0;
		snprintf(node, sizeof(node), "/dev/accel/%.16s", entry->d_name);
		node_add(nodes, count, node, pci, numa_read(device));
	}
	closedir(dir);
}

static void render_scan(struct trn_drm_node *nodes, unsigned int *count)
{
	drmDevicePtr devices[TRN_DRM_NODES_MAX];
	char pci[16], dir[64], driver[64];
	int n, i;

	n = drmGetDevices2(0, devices, TRN_DRM_NODES_MAX);
	for (i = 0; i < n; i++) {
		const drmDevice *device = devices[i];

		if (device->bustype != DRM_BUS_PCI ||
		    device->deviceinfo.pci->vendor_id != PCI_VENDOR ||
		    !(device->available_nodes & 1 << DRM_NODE_RENDER))
			continue;
		snprintf(pci, sizeof(pci), "%04x:%02x:%02x.%x", device->businfo.pci->domain,
			 device->businfo.pci->bus, device->businfo.pci->dev,
			 device->businfo.pci->func);
		snprintf(dir, sizeof(dir), "/sys/bus/pci/devices/%s", pci);
		/* Vendor's other functions have render nodes too; without sysfs the open will tell.
		 */
		if (link_name(dir, "driver", driver, sizeof(driver)) &&
		    strcmp(driver, TRN_DRM_DRIVER))
			continue;
		node_add(nodes, count, device->nodes[DRM_NODE_RENDER], pci, numa_read(dir));
	}
	if (n > 0)
		drmFreeDevices(devices, n);
}

/* Without sysfs: open what is there and ask for the driver's name. */
static void node_scan(struct trn_drm_node *nodes, unsigned int *count)
{
	char node[32];
	unsigned int i;
	int fd;

	for (i = 0; i < TRN_DRM_NODES_MAX; i++) {
		snprintf(node, sizeof(node), "/dev/accel/accel%u", i);
		if (access(node, F_OK))
			continue;
		fd = trn_drm_open_node(node);
		if (fd < 0)
			continue;
		if (trn_drm_is_ours(fd))
			node_add(nodes, count, node, "", -1);
		close(fd);
	}
}

static int node_before(const void *a, const void *b)
{
	const struct trn_drm_node *left = a, *right = b;
	int order = strcmp(left->pci, right->pci);

	return order ? order : strcmp(left->node, right->node);
}

unsigned int trn_drm_discover(struct trn_drm_node nodes[TRN_DRM_NODES_MAX])
{
	unsigned int count = 0;

	accel_scan(nodes, &count);
	render_scan(nodes, &count);
	if (!count && access(ACCEL_CLASS, F_OK))
		node_scan(nodes, &count);
	qsort(nodes, count, sizeof(nodes[0]), node_before);
	return count;
}
