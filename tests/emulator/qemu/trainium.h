/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * QEMU shell of the device model: the PCI device "trainium". Written for QEMU 7.2.
 */
#ifndef HW_MISC_TRAINIUM_H
#define HW_MISC_TRAINIUM_H

#include "qemu/osdep.h"
#include "hw/pci/pci.h"
#include "qemu/queue.h"
#include "qemu/thread.h"
#include "qom/object.h"
#include "emu.h"
#include "trainium/ext.h"

#define TYPE_TRAINIUM "trainium"
OBJECT_DECLARE_SIMPLE_TYPE(TrainiumState, TRAINIUM)

#define TRAINIUM_FAULTS_MAX 64
#define TRAINIUM_STACKS_MAX 4

/**
 * struct TrainiumState - one function.
 * @model: created at realize, destroyed with the object: guest memory maps point into it until then
 * @irq_bh: sends the messages of @irq_pending (atomic) from the main loop, for threads without the
 * BQL
 * @fault: values set before the model exists, by index of emu_fault_name()
 * @name: id of the device, or its type and routing id
 * @report_mistakes, @mistakes_shown: a line for each guest mistake; atomic
 * @trace, @exit_notifier: file of the trace of time mode, written when QEMU ends: devices are not
 * finalized then
 * @removed_bh: hides BAR4 from the main loop after the fault "removal"
 * @dma_bh, @dma_cancelled, @iommu: dma.c
 */
struct TrainiumState {
	PCIDevice parent_obj;

	char *arch;
	uint32_t routing_id;
	uint64_t serial;
	uint64_t hbm_size;
	uint32_t disable_features;
	char *fabric, *link_dir;
	uint32_t node, nodes;
	bool time_mode;
	char *trace;
	uint64_t trace_events;
	Notifier exit_notifier;
	uint64_t fault[TRAINIUM_FAULTS_MAX];

	struct emu_device *model;
	MemoryRegion bar0, bar2, ext, bar4, hbm[TRAINIUM_STACKS_MAX];
	bool msix;
	QEMUBH *irq_bh;
	unsigned long irq_pending;
	Error *migration_blocker;
	char *name;
	bool listed, report_mistakes, bus_master;
	unsigned int stacks;
	unsigned int mistakes_shown;
	QEMUBH *removed_bh;
	MemoryRegion gone;
	QTAILQ_ENTRY(TrainiumState) list;

	QEMUBH *dma_bh;
	bool dma_cancelled, iommu;
};

/* dma.c: host operations of the model on the device's address space. */
extern const struct emu_host_ops trainium_host_ops;
/* With the object, before the model. */
void trainium_dma_init(TrainiumState *s);
/* At the end of the device, BQL held; no access goes through the main loop after it. */
void trainium_dma_exit(TrainiumState *s);
/* BQL held: accesses fail until allowed again. */
void trainium_dma_cancel(TrainiumState *s);
void trainium_dma_allow(TrainiumState *s);
/* @work waits for threads of models; BQL held. It may come on another thread, without the BQL. */
void trainium_dma_wait(void (*work)(void *opaque), void *opaque);

/* event.c; any thread */
void trainium_event(void *opaque, const struct emu_event *event);

/* check.c: the machine, and the devices in it. */
bool trainium_check_slot(TrainiumState *s, Error **errp);
bool trainium_check_hole(TrainiumState *s, Error **errp);
bool trainium_check_msix(TrainiumState *s, Error **errp);
void trainium_device_add(TrainiumState *s);
void trainium_device_remove(TrainiumState *s);
/* The device after @s, the first with NULL; NULL at the end. */
TrainiumState *trainium_device_next(TrainiumState *s);

/* monitor.c */
void trainium_monitor_register(void);

/* props.c: faults, statistics and complaint counters as properties of the class. */
void trainium_class_properties_add(ObjectClass *class);
/* Hands the faults given on the command line to the model. */
bool trainium_faults_apply(TrainiumState *s, Error **errp);

/* trainium.c */
void trainium_interrupt(void *opaque, unsigned int vector);
void trainium_removed(void *opaque);
const char *trainium_name(TrainiumState *s);
bool trainium_is_bus_master(TrainiumState *s);
/* Sets a fault of the model and what the shell has to do with it. Return: false, *errp is set. */
bool trainium_fault_set(TrainiumState *s, const char *name, uint64_t value, Error **errp);

#endif /* HW_MISC_TRAINIUM_H */
