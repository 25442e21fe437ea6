// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * PCI device "trainium": BARs, configuration space, MSI-X, life cycle. All behaviour is the
 * model's.
 *
 * Locking: QEMU calls everything here with the BQL, except trainium_interrupt(), which comes from
 * the model's threads too. Those must not take the BQL (dma.c) and so send interrupts through a
 * bottom half, because msix_notify() needs it.
 */
#include "trainium.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/qdev-properties.h"
#include "migration/blocker.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "sysemu/sysemu.h"
#include "trainium/regs.h"
#include "trace.h"

#define EXT_CAP_VENDOR	0x000b
#define EXP_CAP_OFFSET	0x80
#define MSIX_CAP_OFFSET 0xc0

static uint64_t word_read(TrainiumState *s, unsigned int bar, hwaddr addr, unsigned int size)
{
	uint64_t value = emu_device_read(s->model, bar, addr, size);

	trace_trainium_read(s->routing_id, bar, addr, size, value);
	return value;
}

static void word_write(TrainiumState *s, unsigned int bar, hwaddr addr, uint64_t value,
		       unsigned int size)
{
	trace_trainium_write(s->routing_id, bar, addr, size, value);
	emu_device_write(s->model, bar, addr, value, size);
}

static uint64_t bar0_read(void *opaque, hwaddr addr, unsigned int size)
{
	return word_read(opaque, 0, addr, size);
}

static void bar0_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
	word_write(opaque, 0, addr, value, size);
}

static uint64_t ext_read(void *opaque, hwaddr addr, unsigned int size)
{
	return word_read(opaque, TRN_EXT_BAR, addr, size);
}

static void ext_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
	word_write(opaque, TRN_EXT_BAR, addr, value, size);
}

/* BAR4 of a device that was pulled out. */
static uint64_t gone_read(void *opaque, hwaddr addr, unsigned int size)
{
	return ~0ull;
}

static void gone_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
}

static const MemoryRegionOps gone_ops = {
	.read = gone_read,
	.write = gone_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
	.impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

/* Odd sizes reach the model, which counts them as a mistake; 64-bit accesses arrive as two words.
 */
#define REGISTER_OPS(read_function, write_function)                                         \
	{                                                                                   \
		.read = (read_function), .write = (write_function),                         \
		.endianness = DEVICE_LITTLE_ENDIAN,                                         \
		.valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true }, \
		.impl = { .min_access_size = 1, .max_access_size = 4, .unaligned = true },  \
	}

static const MemoryRegionOps bar0_ops = REGISTER_OPS(bar0_read, bar0_write);
static const MemoryRegionOps ext_ops = REGISTER_OPS(ext_read, ext_write);

static void irq_deliver(TrainiumState *s)
{
	unsigned long pending = qatomic_xchg(&s->irq_pending, 0);
	unsigned int v;

	for (v = 0; pending; v++, pending >>= 1) {
		if (pending & 1) {
			msix_notify(PCI_DEVICE(s), v);
		}
	}
}

static void irq_bh(void *opaque)
{
	irq_deliver(opaque);
}

void trainium_interrupt(void *opaque, unsigned int vector)
{
	TrainiumState *s = opaque;

	qatomic_or(&s->irq_pending, 1ul << vector);
	if (qemu_mutex_iothread_locked()) {
		irq_deliver(s);
	} else {
		qemu_bh_schedule(s->irq_bh);
	}
}

const char *trainium_name(TrainiumState *s)
{
	return s->name;
}

bool trainium_is_bus_master(TrainiumState *s)
{
	return pci_get_word(PCI_DEVICE(s)->config + PCI_COMMAND) & PCI_COMMAND_MASTER;
}

static void bus_master_set(TrainiumState *s, bool on)
{
	if (on == s->bus_master) {
		return;
	}
	s->bus_master = on;
	trace_trainium_bus_master(s->routing_id, on);
	if (on) {
		trainium_dma_allow(s);
	}
	emu_device_bus_master(s->model, on);
	if (!on) {
		trainium_dma_cancel(s);
	}
}

/* BAR4 shows the stacks while the device is there. BQL held. */
static void hbm_show(TrainiumState *s)
{
	bool there = !emu_device_removed(s->model);
	unsigned int h;

	for (h = 0; h < s->stacks; h++) {
		memory_region_set_enabled(&s->hbm[h], there);
	}
	memory_region_set_enabled(&s->gone, !there);
}

static void removed_bh(void *opaque)
{
	hbm_show(opaque);
}

/* From any thread. */
void trainium_removed(void *opaque)
{
	TrainiumState *s = opaque;

	trace_trainium_removal(s->routing_id);
	if (s->removed_bh) {
		qemu_bh_schedule(s->removed_bh);
	}
}

static void reset_work(void *model)
{
	emu_device_reset(model);
}

static void disconnect_work(void *model)
{
	emu_device_disconnect(model);
}

/** struct fault_work - a fault to set; some wait for threads of the model. */
struct fault_work {
	struct emu_device *model;
	const char *name;
	uint64_t value;
	int status;
};

static void fault_work(void *opaque)
{
	struct fault_work *work = opaque;

	work->status = emu_device_fault_set(work->model, work->name, work->value);
}

bool trainium_fault_set(TrainiumState *s, const char *name, uint64_t value, Error **errp)
{
	struct fault_work work = { .model = s->model, .name = name, .value = value };
	bool was = emu_device_removed(s->model);
	char range[256];

	if (was) {
		bus_master_set(s, false);
	}
	trainium_dma_wait(fault_work, &work);
	switch (work.status) {
	case 0:
		break;
	case -ERANGE:
	case -ENOTSUP:
		emu_device_fault_range(s->model, name, range, sizeof(range));
		error_setg(errp, "trainium: %s=%" PRIu64 " is refused; must be %s", name, value,
			   range);
		return false;
	default:
		error_setg(errp, "trainium: the model has no fault %s", name);
		return false;
	}
	/* Plugged in again: the configuration space starts anew, too. */
	if (was && !emu_device_removed(s->model)) {
		pci_device_reset(PCI_DEVICE(s));
		hbm_show(s);
	}
	return true;
}

/* BAR4 is a container of the stacks: what a slot has behind its stack answers like empty bus. */
static void hbm_create(TrainiumState *s)
{
	uint64_t bar_size, offset, size;
	uint8_t *hbm = emu_device_hbm(s->model, &bar_size);
	unsigned int h;

	memory_region_init(&s->bar4, OBJECT(s), "trainium-bar4", bar_size);
	for (h = 0; h < TRAINIUM_STACKS_MAX && emu_device_hbm_stack(s->model, h, &offset, &size);
	     h++) {
		g_autofree char *name = g_strdup_printf("trainium-hbm%u", h);

		memory_region_init_ram_ptr(&s->hbm[h], OBJECT(s), name, size, hbm + offset);
		memory_region_add_subregion(&s->bar4, offset, &s->hbm[h]);
	}
	s->stacks = h;
	memory_region_init_io(&s->gone, OBJECT(s), &gone_ops, s, "trainium-gone", bar_size);
	memory_region_add_subregion(&s->bar4, 0, &s->gone);
	hbm_show(s);
	pci_register_bar(PCI_DEVICE(s), 4,
			 PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64 |
				 PCI_BASE_ADDRESS_MEM_PREFETCH,
			 &s->bar4);
}

static void bars_create(TrainiumState *s)
{
	PCIDevice *pci = PCI_DEVICE(s);

	memory_region_init_io(&s->bar0, OBJECT(s), &bar0_ops, s, "trainium-registers",
			      emu_device_bar_size(s->model, 0));
	pci_register_bar(pci, 0, PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64,
			 &s->bar0);

	if (emu_device_bar_size(s->model, TRN_EXT_BAR)) {
		memory_region_init(&s->bar2, OBJECT(s), "trainium-bar2",
				   emu_device_bar_size(s->model, TRN_EXT_BAR));
		memory_region_init_io(&s->ext, OBJECT(s), &ext_ops, s, "trainium-extension",
				      TRN_EXT_MSIX_TABLE);
		memory_region_add_subregion(&s->bar2, 0, &s->ext);
		pci_register_bar(pci, TRN_EXT_BAR,
				 PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64,
				 &s->bar2);
	}
	hbm_create(s);
}

/* Everything of the image that QEMU does not manage itself. */
static bool config_create(TrainiumState *s, Error **errp)
{
	PCIDevice *pci = PCI_DEVICE(s);
	g_autofree uint8_t *image = g_malloc(PCIE_CONFIG_SPACE_SIZE);

	emu_device_pci_config(s->model, image);
	pci_set_word(pci->config + PCI_VENDOR_ID, pci_get_word(image + PCI_VENDOR_ID));
	pci_set_word(pci->config + PCI_DEVICE_ID, pci_get_word(image + PCI_DEVICE_ID));
	pci_set_byte(pci->config + PCI_REVISION_ID, pci_get_byte(image + PCI_REVISION_ID));
	pci_config_set_prog_interface(pci->config, image[PCI_CLASS_PROG]);
	pci_config_set_class(pci->config, pci_get_word(image + PCI_CLASS_DEVICE));
	pci_set_word(pci->config + PCI_SUBSYSTEM_VENDOR_ID,
		     pci_get_word(image + PCI_SUBSYSTEM_VENDOR_ID));
	pci_set_word(pci->config + PCI_SUBSYSTEM_ID, pci_get_word(image + PCI_SUBSYSTEM_ID));
	if (pcie_endpoint_cap_init(pci, EXP_CAP_OFFSET) < 0) {
		error_setg(errp, "trainium: cannot add the PCI Express capability");
		return false;
	}
	pcie_cap_flr_init(pci);
	if (pci_get_long(image + TRN_VSEC_CONFIG_OFFSET)) {
		pcie_add_capability(pci, EXT_CAP_VENDOR, 1, TRN_VSEC_CONFIG_OFFSET,
				    TRN_VSEC_LENGTH);
		memcpy(pci->config + TRN_VSEC_CONFIG_OFFSET + 4, image + TRN_VSEC_CONFIG_OFFSET + 4,
		       TRN_VSEC_LENGTH - 4);
	}
	return true;
}

static bool msix_create(TrainiumState *s, Error **errp)
{
	PCIDevice *pci = PCI_DEVICE(s);
	unsigned int vectors = emu_device_vectors(s->model), v;

	if (!vectors) {
		return true;
	}
	if (msix_init(pci, vectors, &s->bar2, TRN_EXT_BAR, TRN_EXT_MSIX_TABLE, &s->bar2,
		      TRN_EXT_BAR, TRN_EXT_MSIX_PBA, MSIX_CAP_OFFSET, errp)) {
		return false;
	}
	s->msix = true;
	for (v = 0; v < vectors; v++) {
		msix_vector_use(pci, v);
	}
	return true;
}

static bool model_create(TrainiumState *s, Error **errp)
{
	const char *fabric = s->fabric ? s->fabric : "default";
	const struct emu_config config = {
		.size = sizeof(config),
		.arch = s->arch,
		.routing_id = s->routing_id,
		.serial = s->serial,
		.hbm_bytes = s->hbm_size,
		.disable_features = s->disable_features,
		.fabric = fabric && *fabric ? fabric : NULL,
		.name = DEVICE(s)->id,
		.node = s->node,
		.nodes = s->nodes,
		.link_dir = s->link_dir,
		.time_mode = s->time_mode,
		.trace = s->trace,
		.trace_events = s->trace_events,
	};
	char error[256] = "";

	if (emu_device_create(&config, &trainium_host_ops, s, &s->model, error, sizeof(error))) {
		error_setg(errp, "trainium: %s", error);
		return false;
	}
	emu_device_bus_master(s->model, false);
	return true;
}

static void trace_at_exit(Notifier *notifier, void *data)
{
	TrainiumState *s = container_of(notifier, TrainiumState, exit_notifier);

	if (emu_device_trace_write(s->model)) {
		warn_report("trainium: the trace cannot be written to %s", s->trace);
	}
}

/* A region inside another one keeps the device alive, and so the model, for ever. */
static void bars_destroy(TrainiumState *s)
{
	unsigned int h;

	if (!s->stacks) {
		return;
	}
	if (emu_device_bar_size(s->model, TRN_EXT_BAR)) {
		memory_region_del_subregion(&s->bar2, &s->ext);
	}
	for (h = 0; h < s->stacks; h++) {
		memory_region_del_subregion(&s->bar4, &s->hbm[h]);
	}
	memory_region_del_subregion(&s->bar4, &s->gone);
	s->stacks = 0;
}

static void trainium_exit(PCIDevice *pci)
{
	TrainiumState *s = TRAINIUM(pci);

	trainium_device_remove(s);
	if (s->exit_notifier.notify) {
		qemu_remove_exit_notifier(&s->exit_notifier);
		s->exit_notifier.notify = NULL;
	}
	if (s->dma_bh) {
		trainium_dma_exit(s);
	}
	if (s->model) {
		emu_device_bus_master(s->model, false);
		/* The next device may take its place before this one is finalized. */
		trainium_dma_wait(disconnect_work, s->model);
		trainium_dma_wait(reset_work, s->model);
	}
	if (s->msix) {
		msix_uninit(pci, &s->bar2, &s->bar2);
		s->msix = false;
	}
	bars_destroy(s);
	if (s->irq_bh) {
		qemu_bh_delete(s->irq_bh);
		s->irq_bh = NULL;
	}
	if (s->removed_bh) {
		qemu_bh_delete(s->removed_bh);
		s->removed_bh = NULL;
	}
	if (s->migration_blocker) {
		migrate_del_blocker(s->migration_blocker);
		error_free(s->migration_blocker);
		s->migration_blocker = NULL;
	}
}

static void trainium_realize(PCIDevice *pci, Error **errp)
{
	TrainiumState *s = TRAINIUM(pci);
	DeviceState *dev = DEVICE(pci);

	s->name = dev->id ? g_strdup(dev->id) : g_strdup_printf("trainium@%u", s->routing_id);
	if (!trainium_check_slot(s, errp)) {
		return;
	}
	error_setg(&s->migration_blocker,
		   "trainium: the state of device '%s' (HBM, running cores) cannot be migrated or "
		   "saved; remove it first (device_del)",
		   s->name);
	if (migrate_add_blocker(s->migration_blocker, errp) < 0) {
		error_free(s->migration_blocker);
		s->migration_blocker = NULL;
		return;
	}
	s->irq_bh = qemu_bh_new(irq_bh, s);
	s->removed_bh = qemu_bh_new(removed_bh, s);
	trainium_dma_init(s);
	if (!model_create(s, errp) || !trainium_check_hole(s, errp) ||
	    !trainium_check_msix(s, errp)) {
		goto fail;
	}
	bars_create(s);
	if (!config_create(s, errp) || !msix_create(s, errp) || !trainium_faults_apply(s, errp)) {
		goto fail;
	}
	trainium_device_add(s);
	if (s->trace) {
		s->exit_notifier.notify = trace_at_exit;
		qemu_add_exit_notifier(&s->exit_notifier);
	}
	return;
fail:
	trainium_exit(pci);
}

static void trainium_config_write(PCIDevice *pci, uint32_t addr, uint32_t value, int len)
{
	TrainiumState *s = TRAINIUM(pci);

	if (emu_device_removed(s->model)) {
		return;
	}
	pci_default_write_config(pci, addr, value, len);
	pcie_cap_flr_write_config(pci, addr, value, len);
	bus_master_set(s, trainium_is_bus_master(s));
}

static uint32_t trainium_config_read(PCIDevice *pci, uint32_t addr, int len)
{
	if (emu_device_removed(TRAINIUM(pci)->model)) {
		return ~0u >> (32 - 8 * len);
	}
	return pci_default_read_config(pci, addr, len);
}

static void trainium_reset(DeviceState *dev)
{
	TrainiumState *s = TRAINIUM(dev);

	trace_trainium_machine_reset(s->routing_id);
	bus_master_set(s, false);
	trainium_dma_wait(reset_work, s->model);
	qatomic_set(&s->irq_pending, 0);
}

/* BAR4 points into the model until the last reference to the object is gone. */
static void trainium_finalize(Object *obj)
{
	TrainiumState *s = TRAINIUM(obj);

	emu_device_destroy(s->model);
	g_free(s->name);
}

static Property trainium_properties[] = {
	DEFINE_PROP_STRING("arch", TrainiumState, arch),
	DEFINE_PROP_UINT32("routing-id", TrainiumState, routing_id, 0),
	DEFINE_PROP_UINT64("serial", TrainiumState, serial, 0),
	DEFINE_PROP_SIZE("hbm-size", TrainiumState, hbm_size, 0),
	DEFINE_PROP_UINT32("disable-features", TrainiumState, disable_features, 0),
	DEFINE_PROP_STRING("fabric", TrainiumState, fabric),
	DEFINE_PROP_UINT32("node", TrainiumState, node, 0),
	DEFINE_PROP_UINT32("nodes", TrainiumState, nodes, 1),
	DEFINE_PROP_STRING("link-dir", TrainiumState, link_dir),
	DEFINE_PROP_BOOL("time-mode", TrainiumState, time_mode, false),
	DEFINE_PROP_STRING("trace", TrainiumState, trace),
	DEFINE_PROP_UINT64("trace-events", TrainiumState, trace_events, 0),
	DEFINE_PROP_END_OF_LIST(),
};

static void trainium_class_init(ObjectClass *class, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(class);
	PCIDeviceClass *pc = PCI_DEVICE_CLASS(class);

	dc->desc = "AWS Trainium (device model)";
	dc->reset = trainium_reset;
	set_bit(DEVICE_CATEGORY_MISC, dc->categories);
	device_class_set_props(dc, trainium_properties);
	pc->realize = trainium_realize;
	pc->exit = trainium_exit;
	pc->config_write = trainium_config_write;
	pc->config_read = trainium_config_read;
	pc->vendor_id = TRN_PCI_VENDOR;
	pc->class_id = PCI_CLASS_OTHERS;
	trainium_class_properties_add(class);
}

static const TypeInfo trainium_type = {
	.name = TYPE_TRAINIUM,
	.parent = TYPE_PCI_DEVICE,
	.instance_size = sizeof(TrainiumState),
	.instance_finalize = trainium_finalize,
	.class_init = trainium_class_init,
	.interfaces = (InterfaceInfo[]){ { INTERFACE_PCIE_DEVICE }, {} },
};

static void trainium_register(void)
{
	type_register_static(&trainium_type);
	trainium_monitor_register();
}

type_init(trainium_register)
