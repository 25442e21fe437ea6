// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests of neighbours in other processes, carried out on this device.
 *
 * A neighbour is believed nothing: it must be where the wiring has a neighbour, and reaches only
 * what a descriptor of a neighbour in this process would reach. It never reaches host memory. All
 * by the thread of the links.
 */
#include <string.h>
#include "device.h"
#include "far_priv.h"

void emu_far_hello_fill(struct emu_far *far, unsigned int link, struct emu_far_hello *hello)
{
	const struct emu_port *port = far->links->port;

	memset(hello, 0, sizeof(*hello));
	hello->version = EMU_FAR_VERSION;
	hello->nodes = port->place.nodes;
	hello->node = port->place.node;
	hello->routing_id = port->place.routing_id;
	hello->link = link;
	hello->instance = far->instance;
	strncpy(hello->arch, port->product->arch, sizeof(hello->arch) - 1);
}

/* The link of this device that leads to who says HELLO, -1 when there is none. */
static int link_of(struct emu_far *far, const struct emu_far_hello *hello)
{
	struct emu_links *links = far->links;
	unsigned int l;

	for (l = 0; l < links->count; l++) {
		const struct emu_link *link = &links->link[l];
		struct emu_far_hello expected;

		if (!link->wired)
			continue;
		emu_far_hello_fill(far, link->reverse, &expected);
		expected.node = link->place.node;
		expected.routing_id = link->place.routing_id;
		expected.instance = hello->instance;
		if (!memcmp(&expected, hello, sizeof(expected)))
			return (int)l;
	}
	return -1;
}

static int serve_hello(struct emu_far *far, struct emu_far_peer *peer,
		       const struct emu_far_frame *frame, const uint8_t *data)
{
	struct emu_far_frame answer = { .type = EMU_FAR_HELLO };
	struct emu_far_hello hello;
	struct emu_far_served *served;

	if (peer->link >= 0 || frame->length != sizeof(hello))
		return -1;
	memcpy(&hello, data, sizeof(hello));
	peer->link = link_of(far, &hello);
	if (peer->link < 0)
		return -1;
	served = &far->served[peer->link];
	if (served->instance != hello.instance)
		*served = (struct emu_far_served){ .instance = hello.instance };
	emu_far_hello_fill(far, (unsigned int)peer->link, &hello);
	answer.length = sizeof(hello);
	emu_far_conn_send(&peer->conn, &answer, &hello);
	return 0;
}

/* One end is memory of this process, the other an address of the device. */
static enum emu_far_status carry_out(struct emu_device *device, uint64_t addr, uint8_t *buf,
				     size_t len, bool write, unsigned int depth)
{
	const struct emu_origin origin = { .depth = depth };
	enum emu_copy_error error;
	size_t done;

	for (; len; len -= done, addr += done, buf += done) {
		struct emu_target there, here = {
			.kind = EMU_TARGET_MEMORY,
			.device = device,
			.ptr = buf,
			.len = len,
		};

		emu_decode(device, addr, len, &there);
		if (there.kind == EMU_TARGET_HOST || there.kind == EMU_TARGET_LINK)
			return EMU_FAR_REFUSED;
		error = write ? emu_target_copy(&there, &here, origin, &done)
			      : emu_target_copy(&here, &there, origin, &done);
		if (error == EMU_COPY_ECC)
			return EMU_FAR_DAMAGED;
		if (error != EMU_COPY_OK)
			return EMU_FAR_REFUSED;
	}
	return EMU_FAR_OK;
}

/* A number that is new becomes the last one. Return: it is new. */
static bool served_is_new(struct emu_far_served *served, uint64_t seq)
{
	if (seq <= served->last)
		return false;
	served->failed =
		seq - served->last < EMU_FAR_WINDOW ? served->failed << (seq - served->last) : 0;
	served->last = seq;
	return true;
}

static int serve_read(struct emu_far *far, struct emu_far_peer *peer,
		      const struct emu_far_frame *frame)
{
	struct emu_port *port = far->links->port;
	struct emu_far_frame answer = { .type = EMU_FAR_DATA, .seq = frame->seq };
	uint8_t *buf = peer->conn.out + sizeof(answer);
	struct emu_device *device;

	if (frame->length || !frame->value || frame->value > EMU_FAR_BYTES)
		return -1;
	device = emu_port_enter_wait(port);
	if (!device)
		return -1;
	served_is_new(&far->served[peer->link], frame->seq);
	answer.status = (uint8_t)carry_out(device, frame->addr, buf, frame->value, false, 0);
	emu_port_leave(port);
	if (answer.status == EMU_FAR_OK)
		answer.length = frame->value;
	emu_far_conn_send(&peer->conn, &answer, NULL);
	return 0;
}

static int serve_write(struct emu_far *far, struct emu_far_peer *peer,
		       const struct emu_far_frame *frame)
{
	struct emu_far_served *served = &far->served[peer->link];
	struct emu_far_frame answer = { .type = EMU_FAR_ACK, .seq = frame->seq };
	struct emu_port *port = far->links->port;
	struct emu_device *device;

	if (!frame->length || served->last >= frame->seq + EMU_FAR_WINDOW)
		return -1;
	if (served_is_new(served, frame->seq)) {
		device = emu_port_enter_wait(port);
		if (!device)
			return -1;
		answer.status = (uint8_t)carry_out(device, frame->addr,
						   peer->conn.in + sizeof(*frame), frame->length,
						   true, frame->value);
		emu_port_leave(port);
		served->failed |= answer.status != EMU_FAR_OK;
	} else if (served->failed >> (served->last - frame->seq) & 1) {
		answer.status = EMU_FAR_REFUSED;
	}
	emu_far_conn_send(&peer->conn, &answer, NULL);
	return 0;
}

int emu_far_serve(struct emu_far *far, struct emu_far_peer *peer, bool *greeted)
{
	const uint8_t *data;
	const struct emu_far_frame frame = emu_far_conn_frame(&peer->conn, &data);
	int status = -1;

	*greeted = frame.type == EMU_FAR_HELLO;
	if (frame.type == EMU_FAR_HELLO)
		status = serve_hello(far, peer, &frame, data);
	else if (peer->link >= 0 && frame.seq && frame.type == EMU_FAR_READ)
		status = serve_read(far, peer, &frame);
	else if (peer->link >= 0 && frame.seq && frame.type == EMU_FAR_WRITE)
		status = serve_write(far, peer, &frame);
	emu_far_conn_next(&peer->conn);
	return status;
}
