// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Links of a device: how they come up and go down, and their registers.
 *
 * Locking: emu_links.update makes a change of states one step and is not held while a queue is
 * woken or an interrupt sent; emu_links.lock guards states, events and peers. A neighbour is
 * entered with neither held.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "device.h"
#include "far.h"

#define NODES_MAX  4u
#define ALL_QUEUES ((1u << TRN_UDMA_QUEUES) - 1)

static int place_check(const struct emu_product *product, const struct emu_config *config,
		       char *error, size_t size)
{
	uint32_t nodes = config->nodes ? config->nodes : 1;

	if (nodes != 1 && nodes != 2 && nodes != NODES_MAX) {
		snprintf(error, size, "nodes=%u is invalid; an UltraServer has 2 or 4 nodes",
			 nodes);
		return -EINVAL;
	}
	if (nodes > 1 && !product->link_side) {
		snprintf(error, size,
			 "nodes=%u is invalid; %s devices have no links to other nodes, only trn2 "
			 "has",
			 nodes, product->arch);
		return -EINVAL;
	}
	if (config->node >= nodes) {
		snprintf(error, size, "node=%u is out of range; must be 0 to %u (nodes=%u)",
			 config->node, nodes - 1, nodes);
		return -EINVAL;
	}
	return 0;
}

static void links_wire(struct emu_device *device)
{
	struct emu_links *links = &device->links;
	bool extension = device->features & TRN_FEATURE_LINKS;
	unsigned int l;

	links->count = device->product->link_count;
	links->windows = extension ? links->count : device->product->public_links;
	for (l = 0; l < links->count; l++) {
		struct emu_link *link = &links->link[l];

		link->wired = emu_wiring_peer(device->product, &links->port->place, l, &link->place,
					      &link->reverse);
		link->state = TRN_LINK_STATE_UNCONNECTED;
	}
}

static uint32_t link_state(struct emu_links *links, unsigned int l, struct emu_port *peer)
{
	struct emu_link *link = &links->link[l];
	uint32_t state = TRN_LINK_STATE_UNCONNECTED;

	if (peer)
		state = TRN_LINK_STATE_UP;
	else if (links->far)
		state = emu_far_state(links->far, l);
	if (atomic_load(&links->port->absent) || (peer && atomic_load(&peer->absent)))
		state = TRN_LINK_STATE_UNCONNECTED;
	if (state == TRN_LINK_STATE_UNCONNECTED)
		return state;
	if (atomic_load(&links->port->down) & (1u << l))
		return TRN_LINK_STATE_DOWN;
	if (peer && (atomic_load(&peer->down) & (1u << link->reverse)))
		return TRN_LINK_STATE_DOWN;
	return state;
}

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		[TRN_LINK_STATE_UNCONNECTED] = "unconnected",
		[TRN_LINK_STATE_DOWN] = "down",
		[TRN_LINK_STATE_UP] = "up",
	};

	return names[state];
}

/** struct change - what an update found. */
struct change {
	bool raise;	/* an interrupt is due */
	bool wake;	/* queues that waited may go on */
	uint32_t links; /* those with another state */
	uint32_t state[EMU_MAX_LINKS];
};

/* Update lock held. */
static void link_update(struct emu_links *links, unsigned int l, struct change *change)
{
	struct emu_link *link = &links->link[l];
	struct emu_port *peer = NULL, *old;
	uint32_t state;

	if (!link->wired)
		return;
	/* A device that has left has no neighbours, whoever is still there. */
	if (!emu_port_gone(links->port))
		peer = emu_port_find(links->port, &link->place);
	state = link_state(links, l, peer);
	pthread_mutex_lock(&links->lock);
	old = link->peer;
	link->peer = peer;
	if (state == TRN_LINK_STATE_UP && (link->state != state || peer != old))
		change->wake = true;
	if (state != link->state) {
		uint32_t event = state == TRN_LINK_STATE_UP ? TRN_LINK_EVENT_UP
							    : TRN_LINK_EVENT_DOWN;

		link->state = state;
		link->events |= event;
		change->raise |= (link->enable & event) != 0;
		change->links |= 1u << l;
		change->state[l] = state;
	}
	pthread_mutex_unlock(&links->lock);
	if (links->far && peer)
		emu_far_forget(links->far, l);
	/* Another way to the neighbour is open, or no longer. */
	if (links->far && peer != old)
		emu_far_wake(links->far);
	emu_port_put(old);
}

static void change_show(struct emu_device *device, unsigned int l, uint32_t state)
{
	const struct emu_place *place = &device->links.link[l].place;
	const struct emu_event event = {
		.kind = EMU_EVENT_LINK,
		.arg = { l, place->node, place->routing_id },
		.text = state_name(state),
	};

	emu_event(device, &event);
}

static void links_update(struct emu_device *device, bool wake)
{
	struct emu_links *links = &device->links;
	struct change change = { .wake = wake };
	unsigned int l, i;

	pthread_mutex_lock(&links->update);
	for (l = 0; l < links->count; l++)
		link_update(links, l, &change);
	pthread_mutex_unlock(&links->update);
	for (l = 0; l < links->count; l++)
		if (change.links & 1u << l)
			change_show(device, l, change.state[l]);
	/*
	 * A worker that found a link not up did so before the states were set, thus before this
	 * wakes it to look again. Which queues wait is not noted: the others have nothing to do.
	 */
	for (i = 0; change.wake && i < device->product->engines; i++)
		emu_dma_engine_kick(&device->engine[i], ALL_QUEUES);
	if (change.raise)
		emu_irq_raise(device, TRN_VECTOR_DEVICE);
}

void emu_links_update(struct emu_device *device)
{
	links_update(device, false);
}

/* Every neighbour in this process looks at its links again; @wake: and at what waits. */
static void neighbours_update(struct emu_device *device, bool wake)
{
	struct emu_links *links = &device->links;
	unsigned int l;

	for (l = 0; l < links->count; l++) {
		struct emu_link *link = &links->link[l];
		struct emu_port *port;
		struct emu_device *other;

		port = link->wired ? emu_port_find(links->port, &link->place) : NULL;
		if (!port)
			continue;
		other = emu_port_enter(port);
		if (other) {
			links_update(other, wake);
			emu_port_leave(port);
		}
		emu_port_put(port);
	}
}

int emu_links_create(struct emu_device *device, const struct emu_config *config, char *error,
		     size_t size)
{
	struct emu_links *links = &device->links;
	int status = place_check(device->product, config, error, size);

	if (status)
		return status;
	links->port = emu_port_create(device, device->product, config);
	if (!links->port) {
		snprintf(error, size, "out of memory for the links of the device");
		return -ENOMEM;
	}
	pthread_mutex_init(&links->update, NULL);
	pthread_mutex_init(&links->lock, NULL);
	links_wire(device);
	status = emu_port_join(links->port, error, size);
	if (!status && config->link_dir)
		status = emu_far_create(device, config->link_dir, &links->far, error, size);
	if (status)
		return status;
	emu_links_update(device);
	neighbours_update(device, false);
	return 0;
}

void emu_links_leave(struct emu_device *device)
{
	struct emu_links *links = &device->links;

	if (!links->port)
		return;
	emu_far_stop(links->far);
	emu_port_remove(links->port);
	emu_links_update(device);
	neighbours_update(device, false);
}

void emu_links_destroy(struct emu_device *device)
{
	struct emu_links *links = &device->links;
	unsigned int l;

	if (!links->port)
		return;
	emu_far_destroy(links->far);
	for (l = 0; l < links->count; l++)
		emu_port_put(links->link[l].peer);
	emu_port_put(links->port);
	pthread_mutex_destroy(&links->lock);
	pthread_mutex_destroy(&links->update);
}

void emu_links_close(struct emu_device *device)
{
	emu_port_close(device->links.port);
}

void emu_links_open(struct emu_device *device)
{
	emu_port_open(device->links.port);
	/* What changed around it meanwhile passed it by, and queues of neighbours wait. */
	emu_links_update(device);
	neighbours_update(device, true);
}

void emu_links_power_up(struct emu_device *device)
{
	struct emu_links *links = &device->links;
	unsigned int l;

	pthread_mutex_lock(&links->lock);
	for (l = 0; l < links->count; l++) {
		links->link[l].events = 0;
		links->link[l].enable = 0;
		links->link[l].errors = 0;
	}
	pthread_mutex_unlock(&links->lock);
}

void emu_links_fault(struct emu_device *device, uint32_t mask)
{
	struct emu_links *links = &device->links;

	atomic_store(&links->port->down, mask);
	emu_links_update(device);
	neighbours_update(device, false);
	if (device->links.far)
		emu_far_wake(device->links.far);
}

void emu_links_absent(struct emu_device *device, bool absent)
{
	atomic_store(&device->links.port->absent, absent);
	emu_links_update(device);
	neighbours_update(device, false);
	if (device->links.far)
		emu_far_wake(device->links.far);
}

void emu_link_error(struct emu_device *device, unsigned int l)
{
	struct emu_links *links = &device->links;
	bool raise;

	pthread_mutex_lock(&links->lock);
	links->link[l].errors++;
	links->link[l].events |= TRN_LINK_EVENT_ERROR;
	raise = links->link[l].enable & TRN_LINK_EVENT_ERROR;
	pthread_mutex_unlock(&links->lock);
	emu_stat_add(device, EMU_STAT_LINK_ERRORS, 1);
	if (raise)
		emu_irq_raise(device, TRN_VECTOR_DEVICE);
}

bool emu_device_link(struct emu_device *device, unsigned int l, struct emu_link_info *info)
{
	struct emu_links *links = &device->links;
	const struct emu_link *link;

	if (l >= links->count)
		return false;
	link = &links->link[l];
	pthread_mutex_lock(&links->lock);
	*info = (struct emu_link_info){
		.state = state_name(link->state),
		.wired = link->wired,
		.node = link->place.node,
		.routing_id = link->place.routing_id,
		.errors = link->errors,
	};
	pthread_mutex_unlock(&links->lock);
	return true;
}

bool emu_links_registers(struct emu_device *device, uint32_t offset)
{
	return (device->features & TRN_FEATURE_LINKS) && offset >= TRN_EXT_LINK_COUNT &&
	       offset < TRN_EXT_LINK(device->links.count);
}

static uint32_t peer_word(const struct emu_link *link)
{
	if (!link->wired)
		return 0;
	return TRN_LINK_PEER_WIRED | link->place.routing_id |
	       link->place.node << TRN_LINK_PEER_NODE_SHIFT;
}

static uint32_t summary(const struct emu_links *links)
{
	uint32_t value = 0;
	unsigned int l;

	for (l = 0; l < links->count; l++)
		if (links->link[l].events)
			value |= 1u << l;
	return value;
}

/* Lock held. Return: false for an offset where nothing is. */
static bool link_read(struct emu_device *device, unsigned int l, uint32_t reg, uint32_t *value)
{
	const struct emu_link *link = &device->links.link[l];

	switch (reg) {
	case TRN_LINK_STATE:
		*value = link->state;
		return true;
	case TRN_LINK_PEER:
		*value = peer_word(link);
		return true;
	case TRN_LINK_ERRORS:
		*value = link->errors;
		return true;
	case TRN_LINK_EVENTS:
		*value = link->events;
		return true;
	case TRN_LINK_ENABLE:
		*value = link->enable;
		return true;
	case TRN_LINK_WINDOW_LOW:
		*value = (uint32_t)device->product->links[l].base;
		return true;
	case TRN_LINK_WINDOW_HIGH:
		*value = (uint32_t)(device->product->links[l].base >> 32);
		return true;
	}
	return false;
}

static bool links_read(struct emu_device *device, uint32_t offset, uint32_t *value)
{
	struct emu_links *links = &device->links;
	const struct emu_place *place = &links->port->place;

	switch (offset) {
	case TRN_EXT_LINK_COUNT:
		*value = links->count;
		return true;
	case TRN_EXT_LINK_NODE:
		*value = place->node | place->nodes << 8;
		return true;
	case TRN_EXT_LINK_SUMMARY:
		*value = summary(links);
		return true;
	case TRN_EXT_LINK_REJECTED:
		*value = atomic_load(&links->rejected);
		return true;
	}
	if (offset < TRN_EXT_LINK(0))
		return false;
	offset -= TRN_EXT_LINK(0);
	return link_read(device, offset / TRN_LINK_STRIDE, offset % TRN_LINK_STRIDE, value);
}

uint32_t emu_links_read(struct emu_device *device, uint32_t offset)
{
	struct emu_links *links = &device->links;
	uint32_t value = 0;
	bool known;

	pthread_mutex_lock(&links->lock);
	known = links_read(device, offset, &value);
	pthread_mutex_unlock(&links->lock);
	if (!known)
		emu_complain(device, EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "read of BAR2 0x%x: links have no such register", offset);
	return value;
}

static bool link_write(struct emu_link *link, uint32_t reg, uint32_t value, bool *raise)
{
	switch (reg) {
	case TRN_LINK_EVENTS:
		link->events &= ~value;
		return true;
	case TRN_LINK_ENABLE:
		link->enable = value & TRN_LINK_EVENT_ALL;
		*raise = link->enable & link->events;
		return true;
	}
	return false;
}

void emu_links_write(struct emu_device *device, uint32_t offset, uint32_t value)
{
	struct emu_links *links = &device->links;
	bool done = false, raise = false, known;
	uint32_t old;

	pthread_mutex_lock(&links->lock);
	known = links_read(device, offset, &old);
	if (known && offset >= TRN_EXT_LINK(0)) {
		offset -= TRN_EXT_LINK(0);
		done = link_write(&links->link[offset / TRN_LINK_STRIDE], offset % TRN_LINK_STRIDE,
				  value, &raise);
		offset += TRN_EXT_LINK(0);
	}
	pthread_mutex_unlock(&links->lock);
	if (raise)
		emu_irq_raise(device, TRN_VECTOR_DEVICE);
	if (!known)
		emu_complain(device, EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "write of BAR2 0x%x: links have no such register", offset);
	else if (!done)
		emu_complain(device, EMU_COMPLAINT_READ_ONLY,
			     "write of BAR2 0x%x, which is read-only", offset);
}
