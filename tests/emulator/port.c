// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ports: how devices of one process find and enter each other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "port.h"

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct emu_port *registry;
static atomic_uint created;

static bool same_place(const struct emu_place *a, const struct emu_place *b)
{
	return a->node == b->node && a->routing_id == b->routing_id;
}

/* Registry lock held. */
static struct emu_port *registry_find(const char *fabric, const struct emu_place *place)
{
	struct emu_port *port;

	for (port = registry; port; port = port->next)
		if (!strcmp(port->fabric, fabric) && same_place(&port->place, place))
			return port;
	return NULL;
}

struct emu_port *emu_port_create(struct emu_device *device, const struct emu_product *product,
				 const struct emu_config *config)
{
	struct emu_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->fabric = config->fabric ? strdup(config->fabric) : NULL;
	if (config->fabric && !port->fabric) {
		free(port);
		return NULL;
	}
	port->device = device;
	port->product = product;
	port->place.node = config->node;
	port->place.nodes = config->nodes ? config->nodes : 1;
	port->place.routing_id = config->routing_id;
	if (config->name)
		snprintf(port->name, sizeof(port->name), "%s", config->name);
	else
		snprintf(port->name, sizeof(port->name), "%s device number %u", product->arch,
			 atomic_fetch_add(&created, 1) + 1);
	atomic_init(&port->refs, 1);
	pthread_mutex_init(&port->lock, NULL);
	pthread_cond_init(&port->changed, NULL);
	return port;
}

int emu_port_join(struct emu_port *port, char *error, size_t size)
{
	struct emu_port *other;

	if (!port->fabric)
		return 0;
	pthread_mutex_lock(&registry_lock);
	other = registry_find(port->fabric, &port->place);
	if (other) {
		snprintf(error, size,
			 "routing-id=%u of %s is taken by %s (fabric %s, node %u); give every "
			 "device "
			 "of a node its own",
			 port->place.routing_id, port->name, other->name, port->fabric,
			 port->place.node);
	} else {
		port->next = registry;
		registry = port;
	}
	pthread_mutex_unlock(&registry_lock);
	return other ? -EEXIST : 0;
}

void emu_port_remove(struct emu_port *port)
{
	struct emu_port **at;

	pthread_mutex_lock(&registry_lock);
	for (at = &registry; *at && *at != port; at = &(*at)->next)
		;
	if (*at)
		*at = port->next;
	pthread_mutex_unlock(&registry_lock);
	pthread_mutex_lock(&port->lock);
	port->device = NULL;
	pthread_cond_broadcast(&port->changed);
	while (port->users)
		pthread_cond_wait(&port->changed, &port->lock);
	pthread_mutex_unlock(&port->lock);
}

bool emu_port_gone(struct emu_port *port)
{
	bool gone;

	pthread_mutex_lock(&port->lock);
	gone = !port->device;
	pthread_mutex_unlock(&port->lock);
	return gone;
}

void emu_port_put(struct emu_port *port)
{
	if (!port || atomic_fetch_sub(&port->refs, 1) != 1)
		return;
	pthread_cond_destroy(&port->changed);
	pthread_mutex_destroy(&port->lock);
	free(port->fabric);
	free(port);
}

struct emu_port *emu_port_find(struct emu_port *port, const struct emu_place *place)
{
	struct emu_port *other;

	if (!port->fabric)
		return NULL;
	pthread_mutex_lock(&registry_lock);
	other = registry_find(port->fabric, place);
	if (other && (other->product != port->product || other->place.nodes != place->nodes))
		other = NULL;
	if (other)
		atomic_fetch_add(&other->refs, 1);
	pthread_mutex_unlock(&registry_lock);
	return other;
}

static struct emu_device *port_enter(struct emu_port *port, bool wait)
{
	struct emu_device *device = NULL;

	pthread_mutex_lock(&port->lock);
	while (wait && port->device && port->closed)
		pthread_cond_wait(&port->changed, &port->lock);
	if (port->device && !port->closed) {
		device = port->device;
		port->users++;
		atomic_fetch_add(&port->refs, 1);
	}
	pthread_mutex_unlock(&port->lock);
	return device;
}

struct emu_device *emu_port_enter(struct emu_port *port)
{
	return port_enter(port, false);
}

struct emu_device *emu_port_enter_wait(struct emu_port *port)
{
	return port_enter(port, true);
}

void emu_port_leave(struct emu_port *port)
{
	pthread_mutex_lock(&port->lock);
	if (!--port->users)
		pthread_cond_broadcast(&port->changed);
	pthread_mutex_unlock(&port->lock);
	emu_port_put(port);
}

void emu_port_close(struct emu_port *port)
{
	pthread_mutex_lock(&port->lock);
	port->closed++;
	while (port->users)
		pthread_cond_wait(&port->changed, &port->lock);
	pthread_mutex_unlock(&port->lock);
}

void emu_port_open(struct emu_port *port)
{
	pthread_mutex_lock(&port->lock);
	port->closed--;
	pthread_cond_broadcast(&port->changed);
	pthread_mutex_unlock(&port->lock);
}
