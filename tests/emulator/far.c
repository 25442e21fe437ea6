// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The thread behind links to other processes: connections come and go, messages pass.
 *
 * A neighbour that is not there is tried again after a while, ever more seldom; one that has just
 * connected here is there, so it is tried at once.
 *
 * Locking: connections belong to the thread. far->lock guards the states of the connections and
 * what is in far_client.c; it is not held while anything else is called.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device.h"
#include "far_priv.h"

#define RETRY_MIN_NS 20000000ull
#define RETRY_MAX_NS 2000000000ull
#define MESSAGES_MAX 16 /* taken from one connection before the others have their turn */

static void client_state_set(struct emu_far *far, unsigned int l, uint32_t state)
{
	struct emu_far_client *client = &far->client[l];
	bool changed;

	pthread_mutex_lock(&far->lock);
	/* A neighbour that was there once is one that is down. */
	if (state == TRN_LINK_STATE_DOWN && client->state == TRN_LINK_STATE_UNCONNECTED)
		state = client->state;
	changed = client->state != state;
	client->state = state;
	pthread_mutex_unlock(&far->lock);
	if (changed)
		emu_links_update(far->device);
}

uint32_t emu_far_state(struct emu_far *far, unsigned int l)
{
	uint32_t state;

	pthread_mutex_lock(&far->lock);
	state = far->client[l].state;
	pthread_mutex_unlock(&far->lock);
	return state;
}

void emu_far_forget(struct emu_far *far, unsigned int l)
{
	pthread_mutex_lock(&far->lock);
	far->client[l].state = TRN_LINK_STATE_UNCONNECTED;
	pthread_mutex_unlock(&far->lock);
}

void emu_far_poke(struct emu_far *far)
{
	const uint64_t one = 1;

	/* Fails when the counter is full, which wakes as well. */
	if (write(far->wake, &one, sizeof(one)) < 0)
		return;
}

void emu_far_wake(struct emu_far *far)
{
	atomic_store(&far->look, true);
	emu_far_poke(far);
}

static bool link_off(struct emu_far *far, unsigned int l)
{
	struct emu_port *port = far->links->port;

	return atomic_load(&port->absent) || (atomic_load(&port->down) & (1u << l));
}

/* Is the neighbour in this process? */
static bool link_near(struct emu_far *far, unsigned int l)
{
	struct emu_port *port = emu_port_find(far->links->port, &far->links->link[l].place);
	bool near = port && !emu_port_gone(port);

	emu_port_put(port);
	return near;
}

static void client_close(struct emu_far *far, unsigned int l)
{
	struct emu_far_client *client = &far->client[l];
	bool was_up = emu_far_state(far, l) == TRN_LINK_STATE_UP;

	if (client->conn.fd < 0)
		return;
	emu_far_conn_close(&client->conn);
	client->retry = emu_monotonic_ns() + client->pause;
	client->pause = client->pause * 2 < RETRY_MAX_NS ? client->pause * 2 : RETRY_MAX_NS;
	emu_far_client_lost(far, l);
	client_state_set(far, l, TRN_LINK_STATE_DOWN);
	if (was_up && !link_off(far, l) && !atomic_load(&far->stop))
		emu_link_error(far->device, l);
}

static void client_dial(struct emu_far *far, unsigned int l)
{
	struct emu_far_client *client = &far->client[l];
	int fd = emu_far_dial(far, &far->links->link[l].place);

	client->retry = 0;
	if (fd >= 0 && emu_far_conn_open(&client->conn, fd)) {
		emu_far_client_hello(far, l);
		return;
	}
	if (fd >= 0)
		close(fd);
	client->retry = emu_monotonic_ns() + client->pause;
	client->pause = client->pause * 2 < RETRY_MAX_NS ? client->pause * 2 : RETRY_MAX_NS;
}

static void client_soon(struct emu_far *far, unsigned int l)
{
	struct emu_far_client *client = &far->client[l];

	client->pause = RETRY_MIN_NS;
	if (client->conn.fd < 0)
		client->retry = emu_monotonic_ns();
}

/* Connections as faults and neighbours in this process want them. */
static void clients_look(struct emu_far *far)
{
	unsigned int l;
	int i;

	for (l = 0; l < far->links->count; l++) {
		struct emu_far_client *client = &far->client[l];

		if (!far->links->link[l].wired)
			continue;
		if (link_near(far, l)) {
			client_close(far, l);
			emu_far_forget(far, l);
			emu_far_client_flush(far, l);
			client->retry = 0;
		} else if (link_off(far, l)) {
			client_close(far, l);
			client->retry = 0;
		} else if (client->conn.fd < 0 && !client->retry) {
			client_soon(far, l);
		}
	}
	for (i = 0; i < (int)EMU_FAR_PEERS; i++)
		if (far->peer[i].link >= 0 && link_off(far, (unsigned int)far->peer[i].link))
			emu_far_conn_close(&far->peer[i].conn);
}

/* Return: -1 when the connection ended. */
static int conn_flush(struct emu_far_conn *conn)
{
	while (emu_far_conn_sending(conn)) {
		ssize_t len = send(conn->fd, conn->out + conn->out_sent,
				   conn->out_len - conn->out_sent, MSG_NOSIGNAL);

		if (len < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		conn->out_sent += (size_t)len;
	}
	return 0;
}

/* Return: 1 a message is complete, 0 nothing more has come, -1 the connection ended, -2 what came
 * is no message. */
static int conn_receive(struct emu_far_conn *conn)
{
	for (;;) {
		uint8_t *at;
		size_t want = emu_far_conn_want(conn, &at);
		ssize_t len = recv(conn->fd, at, want, 0);
		int status;

		if (len < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		if (!len)
			return -1;
		status = emu_far_conn_got(conn, (size_t)len);
		if (status)
			return status < 0 ? -2 : 1;
	}
}

static void rejected(struct emu_far *far)
{
	atomic_fetch_add(&far->links->rejected, 1);
}

static void client_serve(struct emu_far *far, unsigned int l)
{
	struct emu_far_client *client = &far->client[l];
	int i, status = 0;
	bool up;

	for (i = 0; i < MESSAGES_MAX && !status; i++) {
		emu_far_client_fill(far, l);
		if (conn_flush(&client->conn)) {
			status = -1;
			break;
		}
		status = conn_receive(&client->conn);
		if (status != 1) {
			if (!status)
				break;
			continue;
		}
		status = emu_far_client_answer(far, l, &up) ? -2 : 0;
		if (!status && up && !link_near(far, l)) {
			client->pause = RETRY_MIN_NS;
			client_state_set(far, l, TRN_LINK_STATE_UP);
		}
	}
	if (status == -2)
		rejected(far);
	if (status < 0)
		client_close(far, l);
}

/* The connection a neighbour had before is gone, or it would not make another one. */
static void peer_greeted(struct emu_far *far, struct emu_far_peer *peer)
{
	int i;

	for (i = 0; i < (int)EMU_FAR_PEERS; i++)
		if (&far->peer[i] != peer && far->peer[i].conn.fd >= 0 &&
		    far->peer[i].link == peer->link)
			emu_far_conn_close(&far->peer[i].conn);
	if (!link_near(far, (unsigned int)peer->link))
		client_soon(far, (unsigned int)peer->link);
}

static void peer_serve(struct emu_far *far, struct emu_far_peer *peer)
{
	int i, status = 0;
	bool greeted;

	for (i = 0; i < MESSAGES_MAX && !status; i++) {
		if (conn_flush(&peer->conn)) {
			status = -1;
			break;
		}
		if (emu_far_conn_sending(&peer->conn))
			break;
		status = conn_receive(&peer->conn);
		if (!status)
			break;
		if (status < 0)
			continue;
		status = emu_far_serve(far, peer, &greeted) ? -2 : 0;
		if (!status && greeted)
			peer_greeted(far, peer);
		if (!status && link_off(far, (unsigned int)peer->link))
			status = -1;
	}
	if (status == -2)
		rejected(far);
	if (status < 0 || conn_flush(&peer->conn))
		emu_far_conn_close(&peer->conn);
}

/* A slot for a new connection: a free one, or the oldest that has not said who it is. */
static struct emu_far_peer *peer_slot(struct emu_far *far)
{
	struct emu_far_peer *slot = NULL;
	int i;

	for (i = 0; i < (int)EMU_FAR_PEERS; i++) {
		struct emu_far_peer *peer = &far->peer[i];

		if (peer->conn.fd < 0)
			return peer;
		if (peer->link < 0 && (!slot || peer->opened < slot->opened))
			slot = peer;
	}
	if (slot)
		emu_far_conn_close(&slot->conn);
	return slot;
}

static void peers_accept(struct emu_far *far)
{
	struct emu_far_peer *peer;
	int fd;

	while ((fd = accept4(far->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		peer = peer_slot(far);
		if (!peer || !emu_far_conn_open(&peer->conn, fd)) {
			close(fd);
			continue;
		}
		peer->link = -1;
		peer->opened = emu_monotonic_ns();
	}
}

/** struct poll_set - what the thread waits for; @who: client l, EMU_MAX_LINKS + peer i. */
struct poll_set {
	struct pollfd fd[2 + EMU_MAX_LINKS + EMU_FAR_PEERS];
	unsigned int who[2 + EMU_MAX_LINKS + EMU_FAR_PEERS];
	nfds_t count;
};

static void poll_add(struct poll_set *set, int fd, short events, unsigned int who)
{
	set->fd[set->count] = (struct pollfd){ .fd = fd, .events = events };
	set->who[set->count++] = who;
}

static void poll_fill(struct emu_far *far, struct poll_set *set)
{
	unsigned int i;

	set->count = 0;
	poll_add(set, far->wake, POLLIN, 0);
	poll_add(set, far->listener, POLLIN, 0);
	for (i = 0; i < far->links->count; i++) {
		const struct emu_far_conn *conn = &far->client[i].conn;

		if (conn->fd >= 0)
			poll_add(set, conn->fd,
				 (short)(POLLIN | (emu_far_conn_sending(conn) ? POLLOUT : 0)), i);
	}
	for (i = 0; i < EMU_FAR_PEERS; i++) {
		const struct emu_far_conn *conn = &far->peer[i].conn;

		if (conn->fd >= 0)
			poll_add(set, conn->fd, emu_far_conn_sending(conn) ? POLLOUT : POLLIN,
				 EMU_MAX_LINKS + i);
	}
}

/* Milliseconds until a neighbour is to be tried again, -1: never. */
static int poll_timeout(const struct emu_far *far)
{
	uint64_t now = emu_monotonic_ns(), next = UINT64_MAX;
	unsigned int l;

	for (l = 0; l < far->links->count; l++)
		if (far->client[l].retry && far->client[l].retry < next)
			next = far->client[l].retry;
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)((next - now) / 1000000u) + 1;
}

static void clients_retry(struct emu_far *far)
{
	uint64_t now = emu_monotonic_ns();
	unsigned int l;

	for (l = 0; l < far->links->count; l++)
		if (far->client[l].retry && far->client[l].retry <= now)
			client_dial(far, l);
}

static void far_turn(struct emu_far *far, struct poll_set *set)
{
	uint64_t count;
	nfds_t i;
	unsigned int l;

	poll_fill(far, set);
	if (poll(set->fd, set->count, poll_timeout(far)) < 0)
		return;
	if (set->fd[0].revents && read(far->wake, &count, sizeof(count)) < 0)
		count = 0;
	if (atomic_exchange(&far->look, false))
		clients_look(far);
	for (i = 2; i < set->count; i++) {
		unsigned int who = set->who[i];

		if (!set->fd[i].revents)
			continue;
		if (who >= EMU_MAX_LINKS && far->peer[who - EMU_MAX_LINKS].conn.fd >= 0)
			peer_serve(far, &far->peer[who - EMU_MAX_LINKS]);
		else if (who < EMU_MAX_LINKS && far->client[who].conn.fd >= 0)
			client_serve(far, who);
	}
	if (set->fd[1].revents)
		peers_accept(far);
	clients_retry(far);
	/* What queues have submitted meanwhile. */
	for (l = 0; l < far->links->count; l++) {
		struct emu_far_client *client = &far->client[l];

		if (client->conn.fd >= 0 && !emu_far_conn_sending(&client->conn)) {
			emu_far_client_fill(far, l);
			if (conn_flush(&client->conn))
				client_close(far, l);
		} else if (client->conn.fd < 0 && far->links->link[l].wired && link_near(far, l)) {
			/* A queue may have seen the neighbour where it no longer is. */
			emu_far_client_flush(far, l);
		}
	}
}

static void *far_main(void *arg)
{
	struct emu_far *far = arg;
	struct emu_device *device = far->device;
	struct poll_set set;

	if (device->ops->thread_start)
		device->ops->thread_start(device->opaque);
	while (!atomic_load(&far->stop))
		far_turn(far, &set);
	if (device->ops->thread_stop)
		device->ops->thread_stop(device->opaque);
	return NULL;
}

static uint64_t instance_make(void)
{
	uint64_t value;

	if (getrandom(&value, sizeof(value), 0) != sizeof(value))
		value = emu_monotonic_ns() ^ (uint64_t)getpid() << 48;
	return value;
}

void emu_far_init(struct emu_far *far, struct emu_device *device)
{
	unsigned int i;

	far->device = device;
	far->links = &device->links;
	far->wake = -1;
	far->lock_fd = -1;
	far->instance = instance_make();
	pthread_mutex_init(&far->lock, NULL);
	for (i = 0; i < EMU_MAX_LINKS; i++) {
		far->client[i].conn.fd = -1;
		far->client[i].pause = RETRY_MIN_NS;
	}
	for (i = 0; i < EMU_FAR_PEERS; i++) {
		far->peer[i].conn.fd = -1;
		far->peer[i].link = -1;
	}
}

int emu_far_create(struct emu_device *device, const char *dir, struct emu_far **result, char *error,
		   size_t size)
{
	struct emu_far *far = calloc(1, sizeof(*far));
	int status;

	*result = far;
	if (!far) {
		snprintf(error, size, "out of memory for the links of the device");
		return -ENOMEM;
	}
	emu_far_init(far, device);
	status = emu_far_listen(far, dir, error, size);
	if (status)
		return status;
	far->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (far->wake < 0) {
		status = -errno;
		snprintf(error, size, "cannot make an event for the links: %s", strerror(errno));
		return status;
	}
	emu_far_wake(far);
	status = -pthread_create(&far->thread, NULL, far_main, far);
	far->running = !status;
	if (status)
		snprintf(error, size, "cannot start the thread of the links: %s",
			 strerror(-status));
	return status;
}

void emu_far_stop(struct emu_far *far)
{
	unsigned int i;

	if (!far || atomic_exchange(&far->stop, true))
		return;
	if (far->running) {
		emu_far_wake(far);
		pthread_join(far->thread, NULL);
	}
	emu_far_listen_end(far);
	for (i = 0; i < EMU_FAR_PEERS; i++)
		emu_far_conn_close(&far->peer[i].conn);
	for (i = 0; i < EMU_MAX_LINKS; i++) {
		emu_far_conn_close(&far->client[i].conn);
		emu_far_client_flush(far, i);
		pthread_mutex_lock(&far->lock);
		far->client[i].state = TRN_LINK_STATE_UNCONNECTED;
		pthread_mutex_unlock(&far->lock);
	}
}

void emu_far_destroy(struct emu_far *far)
{
	if (!far)
		return;
	if (far->wake >= 0)
		close(far->wake);
	pthread_mutex_destroy(&far->lock);
	free(far);
}
