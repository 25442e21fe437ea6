// SPDX-License-Identifier: BSD-2-Clause
#include "describe.h"

#define CORES_MAX  (sizeof(((struct trn_device_info *)0)->core) / sizeof(struct trn_core_info))
#define STACKS_MAX (sizeof(((struct trn_device_info *)0)->hbm_stack_free) / sizeof(uint64_t))

const char *describe_core_state(uint32_t state)
{
	static const char *const names[] = { "free", "owned", "resetting", "failed" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

uint32_t describe_free_cores(const struct trn_device_info *info)
{
	uint32_t i, count = 0;

	for (i = 0; i < info->cores && i < CORES_MAX; i++)
		count += info->core[i].state == 0;
	return count;
}

static void describe_cores(struct json *json, const struct trn_device_info *info)
{
	uint32_t i;

	json_open(json, "core", '[');
	for (i = 0; i < info->cores && i < CORES_MAX; i++) {
		json_open(json, NULL, '{');
		json_number(json, "number", i);
		json_string(json, "state", describe_core_state(info->core[i].state));
		if (info->core[i].owner_pid)
			json_signed(json, "owner_pid", info->core[i].owner_pid);
		else
			json_null(json, "owner_pid");
		json_string(json, "owner", info->core[i].owner);
		json_number(json, "runs", info->core[i].runs);
		json_number(json, "faults", info->core[i].faults);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void describe_device(struct json *json, const char *key, const struct trn_device_info *info)
{
	uint32_t i;

	json_open(json, key, '{');
	json_string(json, "spec", info->spec);
	json_string(json, "driver", info->backend);
	json_string(json, "node", info->node);
	json_string(json, "pci", info->pci);
	json_string(json, "arch", info->arch);
	json_string(json, "product", info->product);
	json_number(json, "generation", info->generation);
	json_number(json, "serial", info->serial);
	json_number(json, "device_index", info->device_index);
	json_number(json, "routing_id", info->routing_id);
	json_signed(json, "numa_node", info->numa_node);
	json_number(json, "cores_total", info->cores);
	json_number(json, "cores_free", describe_free_cores(info));
	describe_cores(json, info);
	json_number(json, "dma_engines", info->dma_engines);
	json_number(json, "hbm_total_bytes", info->hbm_total);
	json_number(json, "hbm_free_bytes", info->hbm_free);
	json_open(json, "hbm_stack_free_bytes", '[');
	for (i = 0; i < info->stacks && i < STACKS_MAX; i++)
		json_number(json, NULL, info->hbm_stack_free[i]);
	json_close(json, ']');
	json_number(json, "ecc_corrected", info->ecc_corrected);
	json_number(json, "ecc_uncorrected", info->ecc_uncorrected);
	if (info->power_utilisation == UINT32_MAX)
		json_null(json, "power_utilisation_percent");
	else
		json_real(json, "power_utilisation_percent", info->power_utilisation / 100.0);
	json_bool(json, "can_run", info->can_run);
	json_bool(json, "interrupts", info->interrupts);
	json_number(json, "resets", info->resets);
	json_close(json, '}');
}
