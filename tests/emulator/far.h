/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Links to devices of other processes: messages over local sockets.
 *
 * Each device has a thread that listens for its neighbours and keeps a connection to each of them.
 * What a device asks of a neighbour goes over the connection it made itself, the answers come back
 * on it; so a link is up for a device when its own connection is. The thread sleeps in poll() and
 * wakes for messages, and at times to try a neighbour that does not answer.
 */
#ifndef EMU_FAR_H
#define EMU_FAR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "link.h"

#define EMU_FAR_BYTES 65536u /* moved by one message */

/** enum emu_far_status - of an operation. */
enum emu_far_status {
	EMU_FAR_OK,
	EMU_FAR_REFUSED, /* the neighbour has nothing there, or does not give it */
	EMU_FAR_DAMAGED, /* its memory is damaged there */
	EMU_FAR_BUSY,	 /* not answered yet; the queue is woken by the answer */
	EMU_FAR_AGAIN,	 /* not done: the neighbour is reached in another way now */
};

/**
 * struct emu_far_op - what one queue asks of a neighbour. The worker of the queue owns it, but
 * while it is EMU_FAR_BUSY.
 */
struct emu_far_op {
	struct emu_far_op *next; /* emu_far's lock */
	uint64_t seq;		 /* 0: never sent */
	bool sent, orphan;	 /* on the present connection; without an owner */
	_Atomic uint32_t status;

	struct emu_dma_engine *engine;
	unsigned int queue, link;
	bool write;
	uint64_t addr; /* at the neighbour */
	uint32_t len, depth;

	/* the copy it serves, link_copy.c */
	uint64_t generation, dst, src;
	unsigned int phase;
	size_t stored;
	uint8_t data[EMU_FAR_BYTES];
};

/** emu_far_create() - listens in @dir and starts the thread. Errors as emu_device_create(). */
int emu_far_create(struct emu_device *device, const char *dir, struct emu_far **far, char *error,
		   size_t size);
/** emu_far_stop() - ends the thread and the connections; operations are not answered any more. */
void emu_far_stop(struct emu_far *far);
/** emu_far_destroy() - after emu_far_stop(), with all workers stopped. */
void emu_far_destroy(struct emu_far *far);
/** emu_far_state() - TRN_LINK_STATE_* of the connection of link @link. */
uint32_t emu_far_state(struct emu_far *far, unsigned int link);
/** emu_far_forget() - the neighbour is in this process: what its connection was counts no more. */
void emu_far_forget(struct emu_far *far, unsigned int link);
/** emu_far_wake() - faults or neighbours changed: look at all connections again. */
void emu_far_wake(struct emu_far *far);

/** emu_far_submit() - @op becomes EMU_FAR_BUSY until it is answered, in order of submission. */
void emu_far_submit(struct emu_far *far, struct emu_far_op *op);
/** emu_far_drop() - the queue lost interest in @op. Return: false when it is under way and now
 * belongs to the thread. */
bool emu_far_drop(struct emu_far *far, struct emu_far_op *op);

#endif /* EMU_FAR_H */
