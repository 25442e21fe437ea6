/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * QEMU shell of the device model: the PCI device "trainium". Written for QEMU 7.2.
 */
#ifndef HW_MISC_TRAINIUM_H
#define HW_MISC_TRAINIUM_H

#include "qemu/osdep.h"
#include "hw/pci/pci.h"
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
 */
struct TrainiumState {
	PCIDevice parent_obj;

	char *arch;
	uint32_t routing_id;
	uint64_t serial;
	uint64_t hbm_size;
	uint32_t disable_features;
	uint64_t fault[TRAINIUM_FAULTS_MAX];

	struct emu_device *model;
	MemoryRegion bar0, bar2, ext, bar4, hbm[TRAINIUM_STACKS_MAX];
	bool msix;
	QEMUBH *irq_bh;
	unsigned long irq_pending;
	Error *migration_blocker;
};

/* dma.c: host operations of the model on the device's address space. */
extern const struct emu_host_ops trainium_host_ops;

/* props.c: faults and complaint counters as properties of the class. */
void trainium_class_properties_add(ObjectClass *class);
/* Hands the faults given on the command line to the model. */
bool trainium_faults_apply(TrainiumState *s, Error **errp);

/* trainium.c */
void trainium_interrupt(void *opaque, unsigned int vector);

#endif /* HW_MISC_TRAINIUM_H */
