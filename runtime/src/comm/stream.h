/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages over one control connection. One thread reads; senders serialise among themselves. */
#ifndef TRN_COMM_STREAM_H
#define TRN_COMM_STREAM_H

#include <stdbool.h>

#include "comm/wire.h"

/** struct trn_comm_stream - a connection and the message being received. */
struct trn_comm_stream {
	int fd;		/* -1: closed */
	uint32_t limit; /* longest payload accepted */
	size_t got;	/* bytes of head and payload so far */
	struct trn_comm_message head;
	uint8_t *payload; /* owned; valid until the next read */
};

void trn_comm_stream_init(struct trn_comm_stream *stream, int fd, uint32_t limit);
/** trn_comm_stream_close() - close and free; harmless when closed. */
void trn_comm_stream_close(struct trn_comm_stream *stream);

/**
 * trn_comm_stream_read() - receive without blocking. Return: 1 when a whole message is in @head and
 * @payload, 0 when more must arrive, -EPROTO: not our protocol, -EPROTONOSUPPORT: another version
 * of it (@head is filled), -EMSGSIZE, -ECONNRESET: closed by the peer, or another negative errno.
 */
int trn_comm_stream_read(struct trn_comm_stream *stream);

/**
 * trn_comm_stream_send() - send a whole message; a peer that does not take it within a second is
 * -ETIMEDOUT. @payload may be NULL when @bytes is 0.
 */
int trn_comm_stream_send(struct trn_comm_stream *stream, enum trn_comm_message_type type,
			 const void *payload, size_t bytes);

#endif /* TRN_COMM_STREAM_H */
