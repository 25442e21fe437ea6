/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * In-process shell: a device model whose "host memory" is memory of this process that was mapped
 * for it.
 *
 * Bus addresses are handed out by the shell (an address space of its own below 2^43), so DMA
 * reaches only what is mapped, like behind an IOMMU; everything else is a DMA error.
 */
#ifndef EMU_INPROC_H
#define EMU_INPROC_H

#include "emu.h"

struct emu_inproc;

/** emu_inproc_create() - a device and its host side. Errors as emu_device_create(). */
int emu_inproc_create(const struct emu_config *config, struct emu_inproc **inproc, char *error,
		      size_t error_size);
void emu_inproc_destroy(struct emu_inproc *inproc);
struct emu_device *emu_inproc_device(struct emu_inproc *inproc);

/**
 * emu_inproc_map() - let the device reach [@ptr, @ptr + @len); *@bus receives the bus address (same
 * offset in a page as @ptr). 0 or -ENOMEM, -EINVAL.
 */
int emu_inproc_map(struct emu_inproc *inproc, void *ptr, size_t len, bool device_writes,
		   uint64_t *bus);
/**
 * emu_inproc_unmap() - ends it; waits for a DMA access under way. -ENOENT when @bus is not the
 * start of a mapping.
 */
int emu_inproc_unmap(struct emu_inproc *inproc, uint64_t bus);

/**
 * emu_inproc_interrupt_handler() - @handler(@arg, vector) is called on a model thread for each
 * interrupt.
 */
void emu_inproc_interrupt_handler(struct emu_inproc *inproc,
				  void (*handler)(void *arg, unsigned int vector), void *arg);

/**
 * emu_inproc_event_handler() - @handler(@arg, event) is called for each event of the device,
 * mistakes of the guest among them, on whichever thread it happens; it must not block nor call the
 * device.
 */
void emu_inproc_event_handler(struct emu_inproc *inproc,
			      void (*handler)(void *arg, const struct emu_event *event), void *arg);

#endif /* EMU_INPROC_H */
