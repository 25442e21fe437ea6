// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Copies of descriptors over links to neighbours in this process.
 *
 * The neighbour's port is entered for one piece of the copy, at most what a descriptor moves, and
 * left again; meanwhile the neighbour is neither reset nor destroyed. Nothing waits inside.
 */
#include "device.h"

/** struct end - an end of a copy; @port is entered, NULL when the end is on the device itself. */
struct end {
	struct emu_target target;
	struct emu_port *port;
	unsigned int link;
};

bool emu_copy_over_link(struct emu_device *device, uint64_t dst, uint64_t src)
{
	struct emu_target target;

	if (!((dst | src) & device->product->link_bits))
		return false;
	emu_decode(device, dst, 1, &target);
	if (target.kind == EMU_TARGET_LINK)
		return true;
	emu_decode(device, src, 1, &target);
	return target.kind == EMU_TARGET_LINK;
}

/* Return: the neighbour's device, its port entered; NULL while it cannot be reached. */
static struct emu_device *link_enter(struct emu_links *links, struct end *end)
{
	struct emu_link *link = &links->link[end->link];
	struct emu_device *device = NULL;

	pthread_mutex_lock(&links->lock);
	if (link->state == TRN_LINK_STATE_UP && link->peer)
		device = emu_port_enter(link->peer);
	if (device)
		end->port = link->peer;
	pthread_mutex_unlock(&links->lock);
	return device;
}

/* Return: false while the link has to be waited for. */
static bool end_open(struct emu_device *device, uint64_t addr, size_t len, struct end *end)
{
	struct emu_device *other;

	end->port = NULL;
	emu_decode(device, addr, len, &end->target);
	if (end->target.kind != EMU_TARGET_LINK)
		return true;
	end->link = end->target.link;
	other = link_enter(&device->links, end);
	if (!other)
		return false;
	emu_decode(other, end->target.addr, end->target.len, &end->target);
	/* A neighbour gives neither its host's memory nor its own neighbours. */
	if (end->target.kind == EMU_TARGET_HOST || end->target.kind == EMU_TARGET_LINK)
		end->target.kind = EMU_TARGET_NONE;
	return true;
}

static void end_close(struct emu_device *device, struct end *end, bool refused)
{
	if (!end->port)
		return;
	emu_port_leave(end->port);
	if (refused)
		emu_link_error(device, end->link);
}

static enum emu_copy_error copy_piece(const struct emu_copy_request *request, size_t *done)
{
	struct emu_device *device = request->engine->device;
	struct emu_origin origin = { .depth = request->depth };
	enum emu_copy_error error;
	struct end from, to;

	*done = 0;
	if (!end_open(device, request->src, request->len, &from))
		return EMU_COPY_WAIT;
	if (!end_open(device, request->dst, request->len, &to)) {
		end_close(device, &from, false);
		return EMU_COPY_WAIT;
	}
	error = emu_target_copy(&to.target, &from.target, origin, done);
	end_close(device, &to, error == EMU_COPY_DESTINATION);
	end_close(device, &from, error == EMU_COPY_SOURCE);
	return error;
}

enum emu_copy_error emu_link_copy(const struct emu_copy_request *request, size_t *moved)
{
	struct emu_copy_request rest = *request;
	enum emu_copy_error error = EMU_COPY_OK;
	size_t done;

	while (rest.len && error == EMU_COPY_OK) {
		error = copy_piece(&rest, &done);
		rest.src += done;
		rest.dst += done;
		rest.len -= done;
	}
	*moved = request->len - rest.len;
	return error;
}
