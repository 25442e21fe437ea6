// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>

#include "describe.h"
#include "text.h"
#include "topology.h"

#define DEVICES_MAX 64

static const char help[] =
	"usage: trn ls [--json] [--device SPEC]\n\n"
	"Lists the devices that a driver serves, by PCI address, and the one "
	"that TRN_DEVICE names.\n"
	"INDEX is the place in the machine, ROUTING the number by which the "
	"hardware knows it,\n"
	"LINKED TO the devices its links go to, in their order; complete machines "
	"are drawn below.\n"
	"With none, prints an empty list, says on standard error what to do, "
	"and ends with status 0.\n\n" TOOL_COMMON_HELP;

/* Of one device: the specs of those its links go to, in their order. */
static void print_links(struct json *json, const struct trn_device_info *list, size_t count,
			size_t at)
{
	uint32_t to[TRN_NEIGHBOURS_MAX];
	uint32_t links = trn_device_neighbours(list, count, at, to), i;

	if (!links)
		return;
	json_open(json, NULL, '{');
	json_string(json, "from", list[at].spec);
	json_open(json, "to", '[');
	for (i = 0; i < links; i++)
		json_string(json, NULL, list[to[i]].spec);
	json_close(json, ']');
	json_close(json, '}');
}

static void print_json(const struct trn_device_info *list, size_t count)
{
	struct json json = { 0 };
	size_t i;

	json_open(&json, NULL, '{');
	json_open(&json, "devices", '[');
	for (i = 0; i < count; i++)
		describe_device(&json, NULL, &list[i]);
	json_close(&json, ']');
	json_open(&json, "links", '[');
	for (i = 0; i < count; i++)
		print_links(&json, list, count, i);
	json_close(&json, ']');
	json_close(&json, '}');
}

static bool print_text(const struct tool *tool, const struct trn_device_info *list, size_t count)
{
	static const char *const heading[] = {
		"DEVICE",   "NODE",   "PCI",   "PRODUCT", "CORES",
		"FREE HBM", "DRIVER", "INDEX", "ROUTING", "LINKED TO",
	};
	const bool known = topology_known(list, count);
	struct text_table table = { .columns = known ? 10 : 9,
				    .right = 1u << 5 | 1u << 7 | 1u << 8 };
	char cores[TEXT_CELL], memory[TEXT_CELL], links[TEXT_CELL], index[16], routing[16];
	bool ok = text_row(&table, heading);
	size_t i;

	for (i = 0; ok && i < count; i++) {
		const char *cells[] = {
			list[i].spec,
			list[i].node[0] ? list[i].node : "-",
			list[i].pci[0] ? list[i].pci : "-",
			list[i].product[0] ? list[i].product : "-",
			cores,
			list[i].generation ? text_bytes(list[i].hbm_free, memory) : "-",
			list[i].backend,
			index,
			routing,
			links,
		};

		snprintf(cores, sizeof(cores), "-");
		snprintf(index, sizeof(index), "-");
		snprintf(routing, sizeof(routing), "-");
		topology_links(list, count, i, links, sizeof(links));
		if (list[i].generation) {
			snprintf(cores, sizeof(cores), "%u/%u free", describe_free_cores(&list[i]),
				 list[i].cores);
			snprintf(index, sizeof(index), "%u", list[i].device_index);
			snprintf(routing, sizeof(routing), "%u", list[i].routing_id);
		}
		ok = text_row(&table, cells);
	}
	if (ok) {
		text_print(&table, tool->color);
		topology_print(list, count);
	}
	free(table.cells);
	return ok;
}

/* One device, named by --device. */
static int list_one(struct tool *tool, struct trn_device_info *info, size_t *count)
{
	struct trn_device *device;
	enum trn_status status;
	int code = tool_open(tool, NULL, &device);

	if (code)
		return code;
	info->size = sizeof(*info);
	status = trn_device_get_info(device, info);
	*count = 1;
	code = status ? tool_fail_library(NULL, status) : TOOL_OK;
	trn_device_close(device);
	return code;
}

/*
 * A device inside the process exists once it is opened, and a node that this user may not open
 * tells nothing: the list has no more than its name.
 */
static void fill_in(struct trn_device_info *info)
{
	struct trn_device_info full = { .size = sizeof(full) };
	struct trn_device *device;

	if (trn_device_open(info->spec, &device)) {
		tool_fail("%s", trn_error_text());
		return;
	}
	if (!trn_device_get_info(device, &full))
		*info = full;
	trn_device_close(device);
}

static int list_all(struct trn_device_info *list, size_t *count)
{
	enum trn_status status;
	size_t i;

	for (i = 0; i < DEVICES_MAX; i++)
		list[i].size = sizeof(list[i]);
	*count = DEVICES_MAX;
	status = trn_device_list(list, count);
	if (status)
		return tool_fail_library(NULL, status);
	if (*count > DEVICES_MAX)
		*count = DEVICES_MAX;
	for (i = 0; i < *count; i++)
		if (!list[i].generation)
			fill_in(&list[i]);
	if (!*count)
		tool_fail("no device found; `trn doctor` says why, and TRN_DEVICE=emu:trn1 uses "
			  "one in "
			  "this process");
	return TOOL_OK;
}

int tool_ls(struct tool *tool, int argc, char **argv)
{
	static const struct option options[] = { TOOL_COMMON_OPTIONS, { 0 } };
	struct trn_device_info *list;
	size_t count = 0;
	int code = TOOL_OK;

	if (tool_option(tool, argc, argv, options, help, &code) == -2)
		return code;
	if (optind < argc)
		return tool_usage(tool, "\"%s\" is one argument too many", argv[optind]);
	list = calloc(DEVICES_MAX, sizeof(*list));
	if (!list)
		return tool_fail("no host memory for the list of devices");
	code = tool->device ? list_one(tool, list, &count) : list_all(list, &count);
	if (!code && tool->json)
		print_json(list, count);
	else if (!code && count && !print_text(tool, list, count))
		code = tool_fail("no host memory for the list of devices");
	free(list);
	return code;
}
