/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device as its neighbours in this process see it, and the register of all of them.
 *
 * A port lives longer than its device, for as long as somebody holds a reference. Who wants to
 * touch the device enters its port, which fails when the device is gone or closed for a reset, and
 * leaves it again; a reset and the end of a device wait for those inside. Nobody waits for anything
 * while inside.
 *
 * Locking: the registry's lock guards the list alone. port->lock guards device, users and closed;
 * it may be taken with emu_links.lock held, and is a leaf.
 */
#ifndef EMU_PORT_H
#define EMU_PORT_H

#include <pthread.h>
#include <stdatomic.h>
#include "emu.h"
#include "wiring.h"

/** struct emu_port - see above; @down is the mask of the fault link-down, @absent the fault
 * removal. */
struct emu_port {
	struct emu_port *next;
	const struct emu_product *product;
	char *fabric; /* NULL: in no registry */
	char name[64];
	struct emu_place place;
	_Atomic uint32_t down;
	atomic_bool absent;
	atomic_uint refs;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct emu_device *device; /* NULL once it is gone */
	unsigned int users, closed;
};

/** emu_port_create() - a port with one reference, known to nobody; NULL when memory is short. */
struct emu_port *emu_port_create(struct emu_device *device, const struct emu_product *product,
				 const struct emu_config *config);
/**
 * emu_port_join() - known to others from now on, when the configuration named a fabric.
 * Return: 0, or -EEXIST with a sentence in @error when its place is taken.
 */
int emu_port_join(struct emu_port *port, char *error, size_t size);
/** emu_port_remove() - unknown to others from now on; waits for those inside. The reference stays.
 */
void emu_port_remove(struct emu_port *port);
/** emu_port_gone() - was it removed? */
bool emu_port_gone(struct emu_port *port);
/** emu_port_put() - gives a reference back. */
void emu_port_put(struct emu_port *port);
/** emu_port_find() - the device at @place in the fabric of @port, of the same product; a reference,
 * or NULL. */
struct emu_port *emu_port_find(struct emu_port *port, const struct emu_place *place);

/** emu_port_enter() - the device, which stays as it is until emu_port_leave(); or NULL. */
struct emu_device *emu_port_enter(struct emu_port *port);
/** emu_port_enter_wait() - the same, but waits while the port is closed. */
struct emu_device *emu_port_enter_wait(struct emu_port *port);
void emu_port_leave(struct emu_port *port);
/** emu_port_close() - keeps everybody out until emu_port_open(); waits for those inside. */
void emu_port_close(struct emu_port *port);
void emu_port_open(struct emu_port *port);

#endif /* EMU_PORT_H */
