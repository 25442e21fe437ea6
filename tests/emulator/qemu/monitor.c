// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * "info trainium" of the monitor. Everything it shows is a property, too, for QMP.
 */
#include "trainium.h"
#include "monitor/hmp.h"
#include "monitor/monitor.h"
#include "qapi/qmp/qdict.h"

static void faults_show(Monitor *mon, TrainiumState *s)
{
	const char *name;
	uint64_t value;
	unsigned int i;

	for (i = 0; (name = emu_fault_name(i, NULL)); i++) {
		if (!emu_device_fault_get(s->model, name, &value) && value) {
			monitor_printf(mon, "  fault %s: %" PRIu64 "\n", name, value);
		}
	}
}

static void statistics_show(Monitor *mon, TrainiumState *s)
{
	const char *name;
	unsigned int i;

	for (i = 0; (name = emu_stat_name(i, NULL)); i++) {
		monitor_printf(mon, "  %s: %" PRIu64 "\n", name, emu_device_stat(s->model, i));
	}
}

/* Links that lead nowhere say nothing. */
static void links_show(Monitor *mon, TrainiumState *s)
{
	struct emu_link_info info;
	unsigned int l;

	for (l = 0; emu_device_link(s->model, l, &info); l++) {
		if (!info.wired || !strcmp(info.state, "unconnected")) {
			continue;
		}
		monitor_printf(mon,
			       "  link %u: %s, to routing id %" PRIu32 " of node %" PRIu32
			       ", %" PRIu32 " errors\n",
			       l, info.state, info.routing_id, info.node, info.errors);
	}
}

static void mistakes_show(Monitor *mon, TrainiumState *s)
{
	uint64_t all = emu_device_complaints(s->model, EMU_COMPLAINT_NONE), count;
	unsigned int kind;
	char text[256];

	monitor_printf(mon, "  guest mistakes: %" PRIu64 "\n", all);
	if (!all) {
		return;
	}
	for (kind = EMU_COMPLAINT_NONE + 1; kind < EMU_COMPLAINT_COUNT; kind++) {
		count = emu_device_complaints(s->model, (enum emu_complaint)kind);
		if (count) {
			monitor_printf(mon, "    %s: %" PRIu64 "\n",
				       emu_complaint_name((enum emu_complaint)kind), count);
		}
	}
	emu_device_complaint_text(s->model, text, sizeof(text));
	monitor_printf(mon, "    last: %s\n", text);
}

static void device_show(Monitor *mon, TrainiumState *s)
{
	PCIDevice *pci = PCI_DEVICE(s);
	uint64_t offset, size = 0;
	unsigned int stacks = 0;

	while (emu_device_hbm_stack(s->model, stacks, &offset, &size)) {
		stacks++;
	}
	monitor_printf(mon, "%s: %s, routing id %u, PCI %02x:%02x.%x\n", trainium_name(s),
		       s->arch ? s->arch : "trn1", s->routing_id, pci_dev_bus_num(pci),
		       PCI_SLOT(pci->devfn), PCI_FUNC(pci->devfn));
	monitor_printf(mon, "  HBM: %u stacks of %" PRIu64 " MiB, %u interrupt vectors\n", stacks,
		       size >> 20, emu_device_vectors(s->model));
	monitor_printf(mon, "  state: %s, bus master %s, %s\n",
		       emu_device_removed(s->model) ? "removed" : "present",
		       trainium_is_bus_master(s) ? "on" : "off",
		       emu_device_quiesce(s->model, 0) ? "at work" : "idle");
	links_show(mon, s);
	statistics_show(mon, s);
	faults_show(mon, s);
	mistakes_show(mon, s);
}

static void info_trainium(Monitor *mon, const QDict *args)
{
	const char *id = qdict_get_try_str(args, "device");
	TrainiumState *s;
	bool any = false;

	for (s = trainium_device_next(NULL); s; s = trainium_device_next(s)) {
		if (!id || !g_strcmp0(id, DEVICE(s)->id)) {
			device_show(mon, s);
			any = true;
		}
	}
	if (!any) {
		monitor_printf(mon, "%s%s\n",
			       id ? "there is no trainium device with the id "
				  : "there is no trainium device",
			       id ? id : "");
	}
}

void trainium_monitor_register(void)
{
	monitor_register_hmp("trainium", true, info_trainium);
}
