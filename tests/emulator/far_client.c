// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations of this device's queues on neighbours in other processes.
 *
 * Locking: far->lock guards the lists of operations and the states of the connections. An operation
 * in a list belongs to the thread; setting its status, with the lock held, gives it back, after
 * which only its queue may touch it.
 */
#include <stdlib.h>
#include <string.h>
#include "device.h"
#include "far_priv.h"

static void op_append(struct emu_far_client *client, struct emu_far_op *op)
{
	if (!client->op)
		client->end = &client->op;
	op->next = NULL;
	*client->end = op;
	client->end = &op->next;
}

/* Takes out the operation *@at; lock held. */
static struct emu_far_op *op_remove(struct emu_far_client *client, struct emu_far_op **at)
{
	struct emu_far_op *op = *at;

	*at = op->next;
	if (client->end == &op->next)
		client->end = at;
	if (op->sent)
		client->sent--;
	return op;
}

/** struct waiter - a queue to be woken without the lock. */
struct waiter {
	struct emu_dma_engine *engine;
	unsigned int queue;
};

/* The queue gets it back, or nobody; lock held. */
static struct waiter op_end(struct emu_far_op *op, enum emu_far_status status)
{
	const struct waiter waiter = { op->orphan ? NULL : op->engine, op->queue };

	if (op->orphan)
		free(op);
	else
		atomic_store(&op->status, status);
	return waiter;
}

static void waiter_wake(struct waiter waiter)
{
	if (waiter.engine)
		emu_dma_engine_kick(waiter.engine, 1u << waiter.queue);
}

void emu_far_submit(struct emu_far *far, struct emu_far_op *op)
{
	struct emu_far_client *client = &far->client[op->link];

	atomic_store(&op->status, EMU_FAR_BUSY);
	op->sent = false;
	op->orphan = false;
	op->seq = 0;
	pthread_mutex_lock(&far->lock);
	op_append(client, op);
	pthread_mutex_unlock(&far->lock);
	emu_far_poke(far);
}

bool emu_far_drop(struct emu_far *far, struct emu_far_op *op)
{
	struct emu_far_client *client = &far->client[op->link];
	struct emu_far_op **at;
	bool mine = true;

	pthread_mutex_lock(&far->lock);
	if (atomic_load(&op->status) == EMU_FAR_BUSY) {
		for (at = &client->op; *at && *at != op; at = &(*at)->next)
			;
		if (*at && !op->sent) {
			op_remove(client, at);
			atomic_store(&op->status, EMU_FAR_AGAIN);
		} else if (*at) {
			op->orphan = true;
			mine = false;
		}
	}
	pthread_mutex_unlock(&far->lock);
	return mine;
}

void emu_far_client_hello(struct emu_far *far, unsigned int link)
{
	struct emu_far_frame frame = { .type = EMU_FAR_HELLO,
				       .length = sizeof(struct emu_far_hello) };
	struct emu_far_hello hello;

	emu_far_hello_fill(far, link, &hello);
	emu_far_conn_send(&far->client[link].conn, &frame, &hello);
	far->client[link].silent = true;
}

static int answer_hello(struct emu_far *far, unsigned int link, const struct emu_far_frame *frame,
			const uint8_t *data)
{
	struct emu_link *place = &far->links->link[link];
	struct emu_far_hello expected, hello;

	if (frame->type != EMU_FAR_HELLO || frame->length != sizeof(hello))
		return -1;
	memcpy(&hello, data, sizeof(hello));
	emu_far_hello_fill(far, place->reverse, &expected);
	expected.node = place->place.node;
	expected.routing_id = place->place.routing_id;
	expected.instance = hello.instance;
	if (memcmp(&expected, &hello, sizeof(hello)))
		return -1;
	far->client[link].silent = false;
	return 0;
}

/* Lock held. Return: does @frame answer @op? */
static bool answers(const struct emu_far_op *op, const struct emu_far_frame *frame)
{
	if (!op || !op->sent || op->seq != frame->seq || frame->status > EMU_FAR_DAMAGED)
		return false;
	if (op->write)
		return frame->type == EMU_FAR_ACK && !frame->length;
	return frame->type == EMU_FAR_DATA &&
	       frame->length == (frame->status == EMU_FAR_OK ? op->len : 0);
}

int emu_far_client_answer(struct emu_far *far, unsigned int link, bool *up)
{
	struct emu_far_client *client = &far->client[link];
	const uint8_t *data;
	const struct emu_far_frame frame = emu_far_conn_frame(&client->conn, &data);
	struct waiter waiter = { NULL, 0 };
	bool valid;

	*up = client->silent;
	if (client->silent) {
		int status = answer_hello(far, link, &frame, data);

		emu_far_conn_next(&client->conn);
		return status;
	}
	pthread_mutex_lock(&far->lock);
	valid = answers(client->op, &frame);
	if (valid) {
		memcpy(client->op->data, data, frame.length);
		waiter = op_end(op_remove(client, &client->op), (enum emu_far_status)frame.status);
	}
	pthread_mutex_unlock(&far->lock);
	emu_far_conn_next(&client->conn);
	waiter_wake(waiter);
	return valid ? 0 : -1;
}

void emu_far_client_fill(struct emu_far *far, unsigned int link)
{
	struct emu_far_client *client = &far->client[link];
	struct emu_far_frame frame = { 0 };
	struct emu_far_op *op;

	if (client->silent || emu_far_conn_sending(&client->conn))
		return;
	pthread_mutex_lock(&far->lock);
	for (op = client->op; op && op->sent; op = op->next)
		;
	if (op && client->sent < EMU_FAR_WINDOW) {
		frame.type = op->write ? EMU_FAR_WRITE : EMU_FAR_READ;
		frame.length = op->write ? op->len : 0;
		frame.value = op->write ? op->depth : op->len;
		if (!op->seq)
			op->seq = ++client->seq;
		frame.seq = op->seq;
		frame.addr = op->addr;
		op->sent = true;
		client->sent++;
		emu_far_conn_send(&client->conn, &frame, op->data);
	}
	pthread_mutex_unlock(&far->lock);
}

void emu_far_client_lost(struct emu_far *far, unsigned int link)
{
	struct emu_far_client *client = &far->client[link];
	struct emu_far_op **at = &client->op;

	pthread_mutex_lock(&far->lock);
	while (*at) {
		(*at)->sent = false;
		if ((*at)->orphan)
			free(op_remove(client, at));
		else
			at = &(*at)->next;
	}
	client->sent = 0;
	pthread_mutex_unlock(&far->lock);
}

void emu_far_client_flush(struct emu_far *far, unsigned int link)
{
	struct emu_far_client *client = &far->client[link];
	struct waiter waiter;
	bool more;

	do {
		pthread_mutex_lock(&far->lock);
		more = client->op;
		if (more)
			waiter = op_end(op_remove(client, &client->op), EMU_FAR_AGAIN);
		pthread_mutex_unlock(&far->lock);
		if (more)
			waiter_wake(waiter);
	} while (more);
}
