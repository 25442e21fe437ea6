// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>

#include "describe.h"
#include "text.h"

#define HOLDERS_MAX 64

static const char help[] =
	"usage: trn info [--json] [--device SPEC] [SPEC]\n\n"
	"Everything the driver tells about one device: what it is, its cores and who holds them, "
	"its\n"
	"memory, its health, and the processes that have it open.\n\n" TOOL_COMMON_HELP;

static void print_json(const struct trn_device_info *info, const struct trn_holder *holders,
		       size_t count)
{
	struct json json = { 0 };
	size_t i;

	json_open(&json, NULL, '{');
	describe_device(&json, "device", info);
	json_open(&json, "holders", '[');
	for (i = 0; i < count; i++) {
		json_open(&json, NULL, '{');
		json_signed(&json, "pid", holders[i].pid);
		json_string(&json, "command", holders[i].comm);
		json_number(&json, "core_mask", holders[i].cores);
		json_number(&json, "hbm_bytes", holders[i].hbm_bytes);
		json_number(&json, "host_bytes", holders[i].host_bytes);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
}

static void field(const char *name, const char *value)
{
	printf("  %-14s%s\n", name, value[0] ? value : "-");
}

static void print_memory(const struct trn_device_info *info)
{
	char text[2 * TEXT_CELL + 8], free_text[TEXT_CELL], total[TEXT_CELL], name[16];
	uint32_t i;

	snprintf(text, sizeof(text), "%s free of %s", text_bytes(info->hbm_free, free_text),
		 text_bytes(info->hbm_total, total));
	field("HBM", text);
	for (i = 0; i < info->stacks && i < 4; i++) {
		snprintf(name, sizeof(name), "  stack %u", i);
		snprintf(text, sizeof(text), "%s free",
			 text_bytes(info->hbm_stack_free[i], free_text));
		field(name, text);
	}
	snprintf(text, sizeof(text), "%" PRIu64 " corrected, %" PRIu64 " not", info->ecc_corrected,
		 info->ecc_uncorrected);
	field("ECC errors", text);
}

static void print_cores(const struct trn_device_info *info)
{
	const struct trn_core_info *core;
	char text[128], name[16];
	uint32_t i;

	for (i = 0; i < info->cores && i < 8; i++) {
		core = &info->core[i];
		snprintf(name, sizeof(name), "core %u", i);
		if (core->owner_pid)
			snprintf(text, sizeof(text),
				 "%s by %.15s (pid %d), %" PRIu64 " runs, %" PRIu64 " faults",
				 describe_core_state(core->state), core->owner, core->owner_pid,
				 core->runs, core->faults);
		else
			snprintf(text, sizeof(text), "%s, %" PRIu64 " runs, %" PRIu64 " faults",
				 describe_core_state(core->state), core->runs, core->faults);
		field(name, text);
	}
}

static void print_text(const struct tool *tool, const struct trn_device_info *info,
		       const struct trn_holder *holders, size_t count)
{
	char text[160], memory[TEXT_CELL], host[TEXT_CELL], name[24];
	size_t i;

	text_paint(tool->color, TEXT_BOLD, info->spec);
	printf(": %s (%s, generation %u)\n", info->product, info->arch, info->generation);
	field("driver", info->backend);
	field("node", info->node);
	field("PCI", info->pci);
	snprintf(text, sizeof(text), "%016" PRIx64, info->serial);
	field("serial", info->serial ? text : "");
	snprintf(text, sizeof(text), "device %u, routing id %u", info->device_index,
		 info->routing_id);
	field("place", text);
	snprintf(text, sizeof(text), "%d", info->numa_node);
	field("NUMA node", info->numa_node < 0 ? "" : text);
	field("programs", info->can_run ? "can run" : "cannot run on this device");
	field("completion", info->interrupts ? "by interrupt" : "by polling");
	snprintf(text, sizeof(text), "%u", info->dma_engines);
	field("DMA engines", text);
	print_cores(info);
	print_memory(info);
	snprintf(text, sizeof(text), "%.2f %%", info->power_utilisation / 100.0);
	field("power", info->power_utilisation == UINT32_MAX ? "" : text);
	snprintf(text, sizeof(text), "%u", info->resets);
	field("resets", text);
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "pid %d", holders[i].pid);
		snprintf(text, sizeof(text), "%.15s, core mask %#x, %s of HBM, %s of host memory",
			 holders[i].comm, holders[i].cores,
			 text_bytes(holders[i].hbm_bytes, memory),
			 text_bytes(holders[i].host_bytes, host));
		field(name, text);
	}
}

int tool_info(struct tool *tool, int argc, char **argv)
{
	static const struct option options[] = { TOOL_COMMON_OPTIONS, { 0 } };
	struct trn_device_info info = { .size = sizeof(info) };
	struct trn_holder holders[HOLDERS_MAX];
	size_t count = HOLDERS_MAX;
	struct trn_device *device;
	enum trn_status status;
	int code = TOOL_OK;

	if (tool_option(tool, argc, argv, options, help, &code) == -2)
		return code;
	if (argc - optind > 1)
		return tool_usage(tool, "\"%s\" is one argument too many", argv[optind + 1]);
	code = tool_open(tool, optind < argc ? argv[optind] : NULL, &device);
	if (code)
		return code;
	status = trn_device_get_info(device, &info);
	if (!status)
		status = trn_device_holders(device, holders, &count);
	if (count > HOLDERS_MAX)
		count = HOLDERS_MAX;
	if (status)
		code = tool_fail_library(NULL, status);
	else if (tool->json)
		print_json(&info, holders, count);
	else
		print_text(tool, &info, holders, count);
	trn_device_close(device);
	return code;
}
