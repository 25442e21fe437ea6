// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Copies of descriptors over links.
 *
 * The port of a neighbour in this process is entered for one piece of the copy, at most what a
 * descriptor moves, and left again; meanwhile the neighbour is neither reset nor destroyed. Nothing
 * waits inside. A neighbour in another process is asked, and answers later. All by the worker of
 * the queue.
 */
#include <stdlib.h>
#include "device.h"
#include "timing.h"
#include "far.h"

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

/** struct span - what is copied from or to: memory of the model when @buf, else device addresses.
 */
struct span {
	uint8_t *buf;
	uint64_t addr;
};

/* Return: false while the link has to be waited for. */
static bool span_open(struct emu_device *device, const struct span *span, size_t done, size_t len,
		      struct end *end)
{
	if (!span->buf)
		return end_open(device, span->addr + done, len, end);
	end->port = NULL;
	end->target = (struct emu_target){
		.kind = EMU_TARGET_MEMORY,
		.device = device,
		.ptr = span->buf + done,
		.len = len,
	};
	return true;
}

static enum emu_copy_error copy_piece(struct emu_device *device, const struct span *dst,
				      const struct span *src, size_t from, size_t len,
				      unsigned int depth, size_t *done)
{
	const struct emu_origin origin = { .depth = depth };
	enum emu_copy_error error;
	struct end in, out;

	*done = 0;
	if (!span_open(device, src, from, len, &in))
		return EMU_COPY_WAIT;
	if (!span_open(device, dst, from, len, &out)) {
		end_close(device, &in, false);
		return EMU_COPY_WAIT;
	}
	if (out.port)
		emu_timing_arrival(device);
	error = emu_target_copy(&out.target, &in.target, origin, done);
	emu_clock_arrival(0);
	end_close(device, &out, error == EMU_COPY_DESTINATION);
	end_close(device, &in, error == EMU_COPY_SOURCE);
	return error;
}

/* From byte *@moved on; *@moved is advanced. */
static enum emu_copy_error copy_near(struct emu_device *device, const struct span *dst,
				     const struct span *src, size_t len, unsigned int depth,
				     size_t *moved)
{
	enum emu_copy_error error = EMU_COPY_OK;
	size_t done;

	while (*moved < len && error == EMU_COPY_OK) {
		error = copy_piece(device, dst, src, *moved, len - *moved, depth, &done);
		*moved += done;
	}
	return error;
}

/* Does @addr lead to another process? *@link, *@remote: how. */
static bool is_far(struct emu_device *device, uint64_t addr, unsigned int *link, uint64_t *remote)
{
	struct emu_links *links = &device->links;
	struct emu_target target;
	bool far;

	if (!links->far)
		return false;
	emu_decode(device, addr, 1, &target);
	if (target.kind != EMU_TARGET_LINK)
		return false;
	*link = target.link;
	*remote = target.addr;
	pthread_mutex_lock(&links->lock);
	far = links->link[target.link].wired && !links->link[target.link].peer;
	pthread_mutex_unlock(&links->lock);
	return far;
}

enum far_phase {
	FAR_FETCH,    /* the source is to be read */
	FAR_FETCHING, /* by the neighbour */
	FAR_STORE,    /* the data is here, the destination is to be written */
	FAR_STORING,  /* by the neighbour */
};

static struct emu_far_op *far_op(const struct emu_copy_request *request)
{
	struct emu_queue *queue = &request->engine->queue[request->queue];
	struct emu_far_op *op = queue->far;

	if (op && op->generation == request->generation && op->dst == request->dst &&
	    op->src == request->src && op->len == request->len)
		return op;
	if (op && !emu_far_drop(request->engine->device->links.far, op))
		op = NULL;
	if (!op)
		op = malloc(sizeof(*op));
	queue->far = op;
	if (!op)
		return NULL;
	op->engine = request->engine;
	op->queue = request->queue;
	op->generation = request->generation;
	op->dst = request->dst;
	op->src = request->src;
	op->len = (uint32_t)request->len;
	op->depth = request->depth;
	op->phase = FAR_FETCH;
	op->stored = 0;
	atomic_store(&op->status, EMU_FAR_OK);
	return op;
}

static enum emu_copy_error far_submit(struct emu_far_op *op, bool write, unsigned int link,
				      uint64_t addr)
{
	op->write = write;
	op->link = link;
	op->addr = addr;
	op->phase = write ? FAR_STORING : FAR_FETCHING;
	emu_far_submit(op->engine->device->links.far, op);
	return EMU_COPY_WAIT;
}

/* What the neighbour said; the phase is @next when it did it, @before when it is to be asked anew.
 */
static enum emu_copy_error far_answer(struct emu_far_op *op, unsigned int next, unsigned int before)
{
	enum emu_copy_error refused = op->write ? EMU_COPY_DESTINATION : EMU_COPY_SOURCE;

	switch (atomic_load(&op->status)) {
	case EMU_FAR_OK:
		op->phase = next;
		return EMU_COPY_OK;
	case EMU_FAR_BUSY:
		return EMU_COPY_WAIT;
	case EMU_FAR_AGAIN:
		op->phase = before;
		return EMU_COPY_OK;
	case EMU_FAR_DAMAGED:
		refused = EMU_COPY_ECC;
		break;
	}
	op->phase = FAR_FETCH;
	emu_link_error(op->engine->device, op->link);
	return refused;
}

static enum emu_copy_error far_fetch(struct emu_far_op *op)
{
	const struct span to = { .buf = op->data }, from = { .addr = op->src };
	enum emu_copy_error error;
	unsigned int link;
	uint64_t remote;
	size_t moved = 0;

	if (is_far(op->engine->device, op->src, &link, &remote))
		return far_submit(op, false, link, remote);
	error = copy_near(op->engine->device, &to, &from, op->len, op->depth, &moved);
	if (error == EMU_COPY_OK)
		op->phase = FAR_STORE;
	return error;
}

/* *@done: it was stored, by this process. */
static enum emu_copy_error far_store(struct emu_far_op *op, bool *done)
{
	const struct span to = { .addr = op->dst }, from = { .buf = op->data };
	enum emu_copy_error error;
	unsigned int link;
	uint64_t remote;

	if (is_far(op->engine->device, op->dst, &link, &remote))
		return far_submit(op, true, link, remote);
	error = copy_near(op->engine->device, &to, &from, op->len, op->depth, &op->stored);
	*done = error == EMU_COPY_OK;
	return error;
}

/*
 * One end at least is in another process. The data comes to a buffer of the queue and goes on from
 * there; a step that needs the neighbour ends the batch, and its answer wakes the queue.
 */
static enum emu_copy_error copy_far(const struct emu_copy_request *request, size_t *moved)
{
	struct emu_far_op *op = far_op(request);
	enum emu_copy_error error = EMU_COPY_OK;
	bool done = false;

	*moved = 0;
	if (!op)
		return EMU_COPY_SOURCE;
	while (!done && error == EMU_COPY_OK) {
		switch (op->phase) {
		case FAR_FETCH:
			error = far_fetch(op);
			break;
		case FAR_FETCHING:
			error = far_answer(op, FAR_STORE, FAR_FETCH);
			break;
		case FAR_STORE:
			error = far_store(op, &done);
			break;
		default:
			error = far_answer(op, FAR_FETCH, FAR_STORE);
			done = error == EMU_COPY_OK && op->phase == FAR_FETCH;
			break;
		}
	}
	/* The next copy of the queue may look the same and is another one. */
	if (error != EMU_COPY_WAIT)
		op->len = 0;
	if (done)
		*moved = request->len;
	return error;
}

enum emu_copy_error emu_link_copy(const struct emu_copy_request *request, size_t *moved)
{
	struct emu_device *device = request->engine->device;
	const struct span dst = { .addr = request->dst }, src = { .addr = request->src };
	struct emu_queue *queue = &request->engine->queue[request->queue];
	unsigned int link;
	uint64_t remote;

	*moved = 0;
	/* What was begun in one way ends in it: a part may be stored already. */
	if ((queue->far && queue->far->len) || is_far(device, request->dst, &link, &remote) ||
	    is_far(device, request->src, &link, &remote))
		return copy_far(request, moved);
	return copy_near(device, &dst, &src, request->len, request->depth, moved);
}
