// SPDX-License-Identifier: BSD-2-Clause
/* What a device is, how it is doing, and who holds what of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "memory.h"

#define HOLDERS_MAX  64u
#define HOLDERS_TOLD 4u /* in an error sentence */

/* Ask; *@size receives the bytes of the full answer. */
static int ask(struct trn_device *device, uint32_t what, void *data, uint64_t *size)
{
	struct drm_trainium_query query = { .what = what, .size = *size, .data = (uintptr_t)data };
	int error;

	memset(data, 0, *size);
	error = device->ops->query(device->backend, &query);
	*size = query.size;
	return error;
}

static void fill_cores(struct trn_device *device, struct trn_device_info *info)
{
	struct drm_trainium_core_info cores[32];
	uint64_t size = device->info.cores * sizeof(cores[0]);
	unsigned int i;

	if (ask(device, DRM_TRAINIUM_QUERY_CORES, cores, &size))
		return;
	for (i = 0; i < device->info.cores && i < sizeof(info->core) / sizeof(info->core[0]); i++) {
		info->core[i].state = cores[i].state;
		info->core[i].owner_pid = cores[i].owner_pid;
		info->core[i].runs = cores[i].runs;
		info->core[i].faults = cores[i].faults;
		memcpy(info->core[i].owner, cores[i].owner_comm, sizeof(info->core[i].owner) - 1);
	}
}

static int fill_memory(struct trn_device *device, struct trn_device_info *info)
{
	struct drm_trainium_memory_info stacks[TRN_HEAP_POOLS_MAX];
	uint64_t size = device->info.stacks * sizeof(stacks[0]);
	unsigned int i;
	int error = ask(device, DRM_TRAINIUM_QUERY_MEMORY, stacks, &size);

	if (error)
		return error;
	for (i = 0; i < device->info.stacks; i++) {
		info->hbm_total += stacks[i].total;
		info->hbm_free += stacks[i].free;
		if (i < sizeof(info->hbm_stack_free) / sizeof(info->hbm_stack_free[0]))
			info->hbm_stack_free[i] = stacks[i].free;
	}
	return 0;
}

void trn_info_from_driver(const struct drm_trainium_device_info *from, struct trn_device_info *info)
{
	info->generation = from->generation;
	info->cores = from->cores;
	info->stacks = from->stacks;
	info->dma_engines = from->dma_engines;
	info->routing_id = from->routing_id;
	info->device_index = from->device_index;
	info->serial = from->serial;
	info->ecc_corrected = from->ecc_corrected;
	info->ecc_uncorrected = from->ecc_uncorrected;
	info->numa_node = from->numa_node;
	info->power_utilisation = from->power_utilisation;
	info->can_run = from->caps & DRM_TRAINIUM_CAP_RUN;
	info->interrupts = from->caps & DRM_TRAINIUM_CAP_IRQ;
	info->resets = from->resets;
	snprintf(info->arch, sizeof(info->arch), "%.15s", from->arch);
	snprintf(info->product, sizeof(info->product), "%.31s", from->product);
}

enum trn_status trn_info_fill(struct trn_device *device, struct trn_device_info *info)
{
	struct drm_trainium_device_info now;
	uint64_t size = sizeof(now);
	int error = ask(device, DRM_TRAINIUM_QUERY_DEVICE, &now, &size);

	if (!error) {
		trn_info_from_driver(&now, info);
		error = fill_memory(device, info);
	}
	if (error)
		return trn_error_set(trn_status_from_errno(error), "%s does not answer: %s",
				     device->spec, strerror(-error));
	snprintf(info->spec, sizeof(info->spec), "%s", device->spec);
	snprintf(info->backend, sizeof(info->backend), "%s", device->ops->name);
	snprintf(info->node, sizeof(info->node), "%s", device->node);
	if (now.pci_vendor && *device->node)
		snprintf(info->pci, sizeof(info->pci), "%04x:%02x:%02x.%x", now.pci_domain & 0xffff,
			 now.pci_bus & 0xff, now.pci_slot & 0xff, now.pci_function & 0xf);
	fill_cores(device, info);
	return TRN_OK;
}

/* Copy an answer into a size-first structure of the caller, who may know fewer members. */
static enum trn_status info_return(struct trn_device_info *out, const struct trn_device_info *info,
				   const char *what)
{
	size_t size = out->size;

	if (size < sizeof(size) || size > sizeof(*info))
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: info.size is %zu; initialise it with TRN_OPTIONS(), %zu "
				     "is the largest known",
				     what, size, sizeof(*info));
	memcpy(out, info, size);
	out->size = size;
	return TRN_OK;
}

enum trn_status trn_device_get_info(struct trn_device *device, struct trn_device_info *info)
{
	struct trn_device_info now = TRN_OPTIONS(now);
	enum trn_status result = trn_device_check(device, "trn_device_get_info");

	if (result)
		return result;
	if (!info)
		return trn_error_set(TRN_ERR_INVALID, "%s: trn_device_get_info: info is NULL",
				     device->spec);
	result = trn_info_fill(device, &now);
	return result ? result : info_return(info, &now, "trn_device_get_info");
}

enum trn_status trn_device_list(struct trn_device_info *list, size_t *count)
{
	size_t room, present, emu = 0, i;
	struct trn_device_info *found;
	const char *named = getenv("TRN_DEVICE");
	enum trn_status result = TRN_OK;
	int error;

	if (!count || (*count && !list))
		return trn_error_set(TRN_ERR_INVALID, "trn_device_list: %s is NULL",
				     count ? "list" : "count");
	room = *count;
	*count = 0;
	if (room > 4096)
		room = 4096;
	found = calloc(room + 1, sizeof(*found));
	if (!found)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "trn_device_list: no memory for %zu devices", room);
	present = room;
	error = trn_backend_drm.list(found, &present);
	if (error) {
		free(found);
		return trn_error_set(trn_status_from_errno(error), "cannot look for devices: %s",
				     strerror(-error));
	}
	if (named && !strncmp(named, "emu:", 4)) {
		emu = 1;
		error = trn_backend_emu.list(&found[present < room ? present : room], &emu);
		if (error)
			emu = 0;
	}
	for (i = 0; i < present + emu && i < room && !result; i++)
		result = info_return(&list[i], &found[i], "trn_device_list");
	*count = present + emu;
	free(found);
	return result;
}

enum trn_status trn_device_holders(struct trn_device *device, struct trn_holder *list,
				   size_t *count)
{
	struct drm_trainium_holder *holders;
	enum trn_status result = trn_device_check(device, "trn_device_holders");
	uint64_t size = HOLDERS_MAX * sizeof(*holders);
	size_t present, i;
	int error;

	if (result)
		return result;
	if (!count || (*count && !list))
		return trn_error_set(TRN_ERR_INVALID, "%s: trn_device_holders: %s is NULL",
				     device->spec, count ? "list" : "count");
	holders = calloc(HOLDERS_MAX, sizeof(*holders));
	if (!holders)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "%s: no memory for a list of holders",
				     device->spec);
	error = ask(device, DRM_TRAINIUM_QUERY_HOLDERS, holders, &size);
	present = size / sizeof(*holders);
	for (i = 0; !error && i < present && i < *count && i < HOLDERS_MAX; i++) {
		memset(&list[i], 0, sizeof(list[i]));
		list[i].pid = holders[i].pid;
		list[i].cores = holders[i].cores;
		list[i].hbm_bytes = holders[i].hbm_bytes;
		list[i].host_bytes = holders[i].host_bytes;
		memcpy(list[i].comm, holders[i].comm, sizeof(list[i].comm) - 1);
	}
	free(holders);
	if (error)
		return trn_error_set(trn_status_from_errno(error),
				     "%s does not say who holds it: %s", device->spec,
				     strerror(-error));
	*count = present;
	return TRN_OK;
}

enum trn_status trn_heap_tags(struct trn_device *device, struct trn_heap_tag *list, size_t *count)
{
	enum trn_status result = trn_device_check(device, "trn_heap_tags");
	struct trn_heap_usage *usage;
	size_t room, i;

	if (result)
		return result;
	if (!count || (*count && !list))
		return trn_error_set(TRN_ERR_INVALID, "%s: trn_heap_tags: %s is NULL", device->spec,
				     count ? "list" : "count");
	room = *count < 65536 ? *count : 65536;
	usage = calloc(room + 1, sizeof(*usage));
	if (!usage)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "%s: no memory for %zu tags",
				     device->spec, room);
	*count = room;
	pthread_mutex_lock(&device->lock);
	trn_heap_usage(device->heap, usage, count);
	pthread_mutex_unlock(&device->lock);
	for (i = 0; i < *count && i < room; i++) {
		memcpy(list[i].tag, usage[i].tag, sizeof(list[i].tag));
		list[i].bytes = usage[i].bytes;
		list[i].blocks = usage[i].blocks;
		list[i].peak = usage[i].peak;
	}
	free(usage);
	return TRN_OK;
}

/* ---- sentences ---- */

/* "1.50 GiB" */
static const char *size_text(uint64_t bytes, char text[32])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = bytes;
	unsigned int unit = 0;

	while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	snprintf(text, 32, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
	return text;
}

static __attribute__((format(printf, 3, 4))) void append(char *text, size_t size,
							 const char *format, ...)
{
	size_t used = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + used, size - used, format, list);
	va_end(list);
}

static int usage_larger(const void *a, const void *b)
{
	const struct trn_heap_tag *left = a, *right = b;

	return left->bytes < right->bytes ? 1 : left->bytes > right->bytes ? -1 : 0;
}

static void tell_tags(struct trn_device *device, char *text, size_t size)
{
	struct trn_heap_tag tags[32];
	size_t count = 32, i;
	char amount[32];

	if (trn_heap_tags(device, tags, &count))
		return;
	count = count < 32 ? count : 32;
	qsort(tags, count, sizeof(tags[0]), usage_larger);
	for (i = 0; i < count && i < HOLDERS_TOLD && tags[i].bytes; i++)
		append(text, size, "%s%s in %" PRIu64 " blocks tagged \"%s\"",
		       i ? ", " : "; this process holds ", size_text(tags[i].bytes, amount),
		       tags[i].blocks, tags[i].tag);
}

static void tell_holders(struct trn_device *device, char *text, size_t size)
{
	struct trn_holder holders[HOLDERS_MAX];
	size_t count = HOLDERS_MAX, i, told = 0;
	char amount[32];

	if (trn_device_holders(device, holders, &count))
		return;
	for (i = 0; i < count && i < HOLDERS_MAX && told < HOLDERS_TOLD; i++)
		if (holders[i].hbm_bytes)
			append(text, size, "%sprocess %d (%s) holds %s",
			       told++ ? ", " : "; on the device ", holders[i].pid, holders[i].comm,
			       size_text(holders[i].hbm_bytes, amount));
}

enum trn_status trn_info_out_of_memory(struct trn_device *device, uint64_t bytes, int32_t stack)
{
	struct trn_device_info info = TRN_OPTIONS(info);
	char text[768] = "", where[32] = "", amount[32], free_text[32], total_text[32];
	uint64_t available;
	unsigned int pool, first, last;
	uint64_t spare = 0;

	if (trn_info_fill(device, &info))
		return trn_error_set(TRN_ERR_NO_DEVICE_MEMORY,
				     "%s: no %" PRIu64 " bytes of device memory", device->spec,
				     bytes);
	available = info.hbm_free;
	if (stack >= 0 && stack < 4) {
		snprintf(where, sizeof(where), " of stack %d", stack);
		available = info.hbm_stack_free[stack];
	}
	first = stack >= 0 ? (unsigned int)stack : 0;
	last = stack >= 0 ? (unsigned int)stack : device->info.stacks - 1;
	pthread_mutex_lock(&device->lock);
	for (pool = first; pool <= last; pool++)
		spare += trn_heap_free_bytes(device->heap, pool);
	pthread_mutex_unlock(&device->lock);
	append(text, sizeof(text),
	       "%s: no %" PRIu64 " bytes (%s) of device memory in one piece: %s%s is free",
	       device->spec, bytes, size_text(bytes, amount), size_text(available, free_text),
	       where);
	if (spare)
		append(text, sizeof(text), " and %s unused in pieces in this process",
		       size_text(spare, amount));
	append(text, sizeof(text), ", the device has %s", size_text(info.hbm_total, total_text));
	tell_tags(device, text, sizeof(text));
	tell_holders(device, text, sizeof(text));
	append(text, sizeof(text), "; free memory, ask for less, or %s",
	       stack >= 0 ? "allow TRN_STACK_ANY" : "use another device");
	return trn_error_set(TRN_ERR_NO_DEVICE_MEMORY, "%s", text);
}

enum trn_status trn_info_busy(struct trn_device *device, uint32_t core_mask, uint32_t core_count)
{
	struct trn_device_info info = TRN_OPTIONS(info);
	uint32_t wanted = core_mask ? core_mask : UINT32_MAX;
	char text[512] = "", ask_text[48];
	unsigned int i, told = 0;

	if (trn_info_fill(device, &info))
		memset(&info, 0, sizeof(info));
	if (core_mask)
		snprintf(ask_text, sizeof(ask_text), "cores 0x%x are not all free", core_mask);
	else
		snprintf(ask_text, sizeof(ask_text), "no %u of %u cores are free", core_count,
			 device->info.cores);
	append(text, sizeof(text), "%s: %s", device->spec, ask_text);
	for (i = 0; i < info.cores && i < 8; i++) {
		if (!(wanted >> i & 1) || info.core[i].state == DRM_TRAINIUM_CORE_FREE)
			continue;
		if (info.core[i].state == DRM_TRAINIUM_CORE_OWNED)
			append(text, sizeof(text), "%score %u is held by process %d (%s)",
			       told++ ? ", " : ": ", i, info.core[i].owner_pid, info.core[i].owner);
		else
			append(text, sizeof(text), "%score %u is %s", told++ ? ", " : ": ", i,
			       info.core[i].state == DRM_TRAINIUM_CORE_RESETTING ? "being reset"
										 : "failed");
	}
	append(text, sizeof(text), "; wait for it to end, or ask for another core");
	return trn_error_set(TRN_ERR_BUSY, "%s", text);
}
