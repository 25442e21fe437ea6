/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between devices of different processes, and the two ends of a connection.
 *
 * A message is a header of 32 bytes and up to 64 KiB, in the byte order of the host: both ends are
 * on it. The connecting device sends HELLO and then READ and WRITE; the other answers each with
 * HELLO, DATA or ACK in the same order. A request carries a sequence number that grows by device,
 * not by connection: after a lost connection all requests without an answer are sent again, and
 * those that were carried out are only answered.
 */
#ifndef EMU_FAR_PRIV_H
#define EMU_FAR_PRIV_H

#include <pthread.h>
#include "far.h"

#define EMU_FAR_MAGIC	0x4c4e5254u /* "TRNL" */
#define EMU_FAR_VERSION 1u
#define EMU_FAR_WINDOW	64u /* requests sent and not answered */
#define EMU_FAR_PEERS	(EMU_MAX_LINKS + 4)

enum emu_far_type {
	EMU_FAR_HELLO = 1,
	EMU_FAR_READ,  /* value: bytes */
	EMU_FAR_DATA,  /* status */
	EMU_FAR_WRITE, /* value: doorbells written by DMA in a row */
	EMU_FAR_ACK,   /* status */
};

/** struct emu_far_frame - header; @length bytes follow. */
struct emu_far_frame {
	uint32_t magic;
	uint8_t type, status;
	uint16_t reserved;
	uint32_t length, value;
	uint64_t seq, addr;
};

/** struct emu_far_hello - who speaks; @link: of the speaker. */
struct emu_far_hello {
	uint32_t version, nodes, node, routing_id, link, reserved;
	char arch[8];
	uint64_t instance; /* another one for each device ever made */
};

#define EMU_FAR_FRAME_MAX (sizeof(struct emu_far_frame) + EMU_FAR_BYTES)

/** struct emu_far_conn - a connection; belongs to the thread. @fd: -1 when closed. */
struct emu_far_conn {
	int fd;
	uint8_t *in, *out;
	size_t in_len, out_len, out_sent;
};

/* far_conn.c */
/** emu_far_conn_open() - Return: false when memory is short; then @fd is not closed. */
bool emu_far_conn_open(struct emu_far_conn *conn, int fd);
void emu_far_conn_close(struct emu_far_conn *conn);
/** emu_far_conn_want() - *@at: where to put received bytes. Return: how many may come next. */
size_t emu_far_conn_want(struct emu_far_conn *conn, uint8_t **at);
/** emu_far_conn_got() - @len bytes were received. Return: 1 a message is complete, 0 more is
 * needed, -1 what came is no message. */
int emu_far_conn_got(struct emu_far_conn *conn, size_t len);
/** emu_far_conn_frame() - header of the complete message; what follows is behind it. */
struct emu_far_frame emu_far_conn_frame(const struct emu_far_conn *conn, const uint8_t **data);
/** emu_far_conn_next() - the message was used. */
void emu_far_conn_next(struct emu_far_conn *conn);
/** emu_far_conn_send() - the message to send; the one before must have been sent. @data NULL: it is
 * in place behind the header. */
void emu_far_conn_send(struct emu_far_conn *conn, const struct emu_far_frame *frame,
		       const void *data);
static inline bool emu_far_conn_sending(const struct emu_far_conn *conn)
{
	return conn->out_sent < conn->out_len;
}

/** struct emu_far_peer - a neighbour's connection to this device. */
struct emu_far_peer {
	struct emu_far_conn conn;
	int link; /* of this device, that leads back to it; -1 before HELLO */
	uint64_t opened;
};

/** struct emu_far_served - what was carried out for the neighbour at a link. */
struct emu_far_served {
	uint64_t instance, last; /* sequence number */
	uint64_t failed;	 /* bit i: request last - i was refused */
};

/** struct emu_far_client - this device's connection to a neighbour; emu_far.lock, but @conn. */
struct emu_far_client {
	struct emu_far_conn conn;
	uint32_t state;		      /* TRN_LINK_STATE_* */
	struct emu_far_op *op, **end; /* in the order they are sent; the first @sent were */
	unsigned int sent;
	uint64_t seq;	       /* of the last request ever sent */
	uint64_t retry, pause; /* when to try again, 0: not; how long to wait after that */
	bool silent;	       /* HELLO not yet answered */
};

/** struct emu_far - see far.h. */
struct emu_far {
	struct emu_device *device;
	struct emu_links *links;
	pthread_mutex_t lock;
	pthread_t thread;
	bool running, listening;
	atomic_bool stop, look;
	int wake, listener, lock_fd;
	char path[108], lock_path[112], dir[96];
	uint64_t instance;
	struct emu_far_client client[EMU_MAX_LINKS];
	struct emu_far_peer peer[EMU_FAR_PEERS];
	struct emu_far_served served[EMU_MAX_LINKS];
};

/* far.c */
/** emu_far_init() - everything but the socket and the thread. */
void emu_far_init(struct emu_far *far, struct emu_device *device);
/** emu_far_poke() - there are new operations. */
void emu_far_poke(struct emu_far *far);

/* far_serve.c */
/** emu_far_serve() - carries out the complete message of @peer and prepares the answer. *@greeted:
 * it was a HELLO. Return: -1 when the connection must be closed. */
int emu_far_serve(struct emu_far *far, struct emu_far_peer *peer, bool *greeted);
void emu_far_hello_fill(struct emu_far *far, unsigned int link, struct emu_far_hello *hello);

/* far_client.c; all by the thread */
void emu_far_client_hello(struct emu_far *far, unsigned int link);
/** emu_far_client_answer() - uses the complete message. *@up: it made the connection complete.
 * Return: -1 when it must be closed. */
int emu_far_client_answer(struct emu_far *far, unsigned int link, bool *up);
/** emu_far_client_fill() - the next request, if there is one and it may be sent. */
void emu_far_client_fill(struct emu_far *far, unsigned int link);
/** emu_far_client_lost() - what is not answered will be sent again. */
void emu_far_client_lost(struct emu_far *far, unsigned int link);
/** emu_far_client_flush() - what was not answered is given back, the neighbour is in this process.
 */
void emu_far_client_flush(struct emu_far *far, unsigned int link);

/* far_listen.c */
/** emu_far_listen() - takes the device's place in @dir. Errors as emu_far_create(). */
int emu_far_listen(struct emu_far *far, const char *dir, char *error, size_t size);
void emu_far_listen_end(struct emu_far *far);
/** emu_far_dial() - Return: a connection to the device at @place, -1 when there is none. */
int emu_far_dial(const struct emu_far *far, const struct emu_place *place);

#endif /* EMU_FAR_PRIV_H */
