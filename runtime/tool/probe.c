// SPDX-License-Identifier: BSD-2-Clause
#include <dirent.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "trainium/regs.h"

#include "probe.h"

#define MODULE "trainium"

static const struct {
	unsigned int device;
	const char *product;
} products[] = {
	{ TRN_PCI_DEVICE_TRN1, "Trainium1" },
	{ TRN_PCI_DEVICE_INF2, "Inferentia2" },
	{ TRN_PCI_DEVICE_TRN2, "Trainium2" },
};

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* First line of @path, without its end; "" when it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return;
	if (!fgets(line, (int)size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

static unsigned int read_hex(const char *directory, const char *name)
{
	char path[PATH_MAX], line[32];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	read_line(path, line, sizeof(line));
	return (unsigned int)strtoul(line, NULL, 16);
}

static void read_driver(const char *directory, char *driver, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t length;

	driver[0] = '\0';
	snprintf(path, sizeof(path), "%s/driver", directory);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return;
	target[length] = '\0';
	last = strrchr(target, '/');
	snprintf(driver, size, "%.31s", last ? last + 1 : target);
}

/* Name of the entry of @directory/@class that begins with @prefix. */
static bool find_entry(const char *directory, const char *class, const char *prefix, char *name,
		       size_t size)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", directory, class);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		found = !strncmp(entry->d_name, prefix, strlen(prefix));
		if (found)
			snprintf(name, size, "%.31s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void read_node(const struct probe *probe, const char *directory,
		      struct probe_function *function)
{
	char name[32], path[PATH_MAX];
	struct group *group;
	struct stat status;

	if (find_entry(directory, "accel", "accel", name, sizeof(name)))
		snprintf(function->node, sizeof(function->node), "/dev/accel/%.31s", name);
	else if (find_entry(directory, "drm", "renderD", name, sizeof(name)))
		snprintf(function->node, sizeof(function->node), "/dev/dri/%.31s", name);
	else
		return;
	snprintf(path, sizeof(path), "%s%s", probe->root, function->node);
	function->node_exists = stat(path, &status) == 0;
	function->node_open = access(path, R_OK | W_OK) == 0;
	group = function->node_exists ? getgrgid(status.st_gid) : NULL;
	if (group)
		snprintf(function->group, sizeof(function->group), "%.31s", group->gr_name);
}

static void add_function(struct probe *probe, const char *name)
{
	struct probe_function *function = &probe->function[probe->functions];
	char directory[2100], path[2200];
	unsigned int device;
	size_t i;

	snprintf(directory, sizeof(directory), "%.2000s/sys/bus/pci/devices/%.64s", probe->root,
		 name);
	if (read_hex(directory, "vendor") != TRN_PCI_VENDOR)
		return;
	device = read_hex(directory, "device");
	for (i = 0; i < sizeof(products) / sizeof(products[0]); i++)
		if (products[i].device == device)
			break;
	if (i == sizeof(products) / sizeof(products[0]) || probe->functions == PROBE_FUNCTIONS_MAX)
		return;
	memset(function, 0, sizeof(*function));
	snprintf(function->pci, sizeof(function->pci), "%.15s", name);
	function->product = products[i].product;
	read_driver(directory, function->driver, sizeof(function->driver));
	snprintf(path, sizeof(path), "%s/iommu_group", directory);
	function->iommu = exists(path);
	read_node(probe, directory, function);
	probe->functions++;
}

static int by_address(const void *a, const void *b)
{
	return strcmp(((const struct probe_function *)a)->pci,
		      ((const struct probe_function *)b)->pci);
}

static void find_functions(struct probe *probe)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%.2000s/sys/bus/pci/devices", probe->root);
	dir = opendir(path);
	probe->has_pci = dir != NULL;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			add_function(probe, entry->d_name);
	if (dir)
		closedir(dir);
	qsort(probe->function, probe->functions, sizeof(probe->function[0]), by_address);
}

/* modprobe looks into modules.dep. */
static bool find_module(const struct probe *probe)
{
	char path[PATH_MAX], line[4096];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%.2000s/lib/modules/%s/modules.dep", probe->root,
		 probe->release);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, ":")] = '\0';
		found = strstr(line, "/" MODULE ".ko") != NULL;
	}
	if (file)
		fclose(file);
	return found;
}

void probe_machine(struct probe *probe, const char *root)
{
	char path[PATH_MAX];
	struct utsname name;

	memset(probe, 0, sizeof(*probe));
	probe->root = root;
	if (root[0]) {
		snprintf(path, sizeof(path), "%.2000s/proc/sys/kernel/osrelease", root);
		read_line(path, probe->release, sizeof(probe->release));
	} else if (uname(&name) == 0) {
		snprintf(probe->release, sizeof(probe->release), "%.64s", name.release);
	}
	sscanf(probe->release, "%u.%u", &probe->major, &probe->minor);
	snprintf(path, sizeof(path), "%.2000s/sys/module/" MODULE, root);
	probe->module_loaded = exists(path);
	probe->module_installed = find_module(probe);
	find_functions(probe);
}
