/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Links of a device to its neighbours: state, events, registers, and copies over them.
 *
 * A neighbour in this process is entered through its port; one in another process is reached by
 * messages (far.h). Parts of the model include device.h, which includes this.
 */
#ifndef EMU_LINK_H
#define EMU_LINK_H

#include <pthread.h>
#include <stdatomic.h>
#include "emu.h"
#include "port.h"
#include "wiring.h"

#define EMU_MAX_LINKS 8

struct emu_dma_engine;
struct emu_far;

/**
 * struct emu_link - one link; emu_links.lock, but what is constant.
 * @place, @reverse: the neighbour and its link that leads back; constant, when @wired
 * @peer: its port when it is in this process; a reference
 */
struct emu_link {
	bool wired;
	struct emu_place place;
	unsigned int reverse;
	uint32_t state; /* TRN_LINK_STATE_* */
	uint32_t events, enable, errors;
	struct emu_port *peer;
};

/**
 * struct emu_links - the links of a device.
 * @update: one change of states at a time, taken before @lock
 * @windows: links whose windows are decoded
 */
struct emu_links {
	pthread_mutex_t update, lock;
	struct emu_port *port;
	struct emu_far *far; /* to other processes, NULL: none */
	unsigned int count, windows;
	struct emu_link link[EMU_MAX_LINKS];
	_Atomic uint32_t rejected;
};

/** emu_links_create() - joins the fabric. The device must be complete. Errors as
 * emu_device_create(). */
int emu_links_create(struct emu_device *device, const struct emu_config *config, char *error,
		     size_t size);
/** emu_links_leave() - no neighbour touches the device any more; for good. Harmless when repeated.
 */
void emu_links_leave(struct emu_device *device);
/** emu_links_destroy() - after emu_links_leave(), with all workers stopped. */
void emu_links_destroy(struct emu_device *device);
/** emu_links_close() - neighbours wait, until emu_links_open(). */
void emu_links_close(struct emu_device *device);
void emu_links_open(struct emu_device *device);
/** emu_links_power_up() - registers to their reset values. */
void emu_links_power_up(struct emu_device *device);
/** emu_links_update() - finds the present state of every link; wakes queues that waited. No lock
 * held. */
void emu_links_update(struct emu_device *device);
/** emu_links_fault() - the links in @mask are down. */
void emu_links_fault(struct emu_device *device, uint32_t mask);
/** emu_links_absent() - the device is not there any more, or is again. */
void emu_links_absent(struct emu_device *device, bool absent);
/** emu_link_error() - an access over link @link was refused, or its connection lost. */
void emu_link_error(struct emu_device *device, unsigned int link);

/** struct emu_copy_request - what a queue wants to be copied. */
struct emu_copy_request {
	struct emu_dma_engine *engine;
	unsigned int queue;
	uint64_t generation; /* of the queue */
	uint64_t dst, src;
	size_t len;
	unsigned int depth; /* of doorbells written by DMA */
};

/** emu_links_registers() - is @offset of BAR2 among the registers of links? */
bool emu_links_registers(struct emu_device *device, uint32_t offset);
uint32_t emu_links_read(struct emu_device *device, uint32_t offset);
void emu_links_write(struct emu_device *device, uint32_t offset, uint32_t value);

#endif /* EMU_LINK_H */
