// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/socket.h"
#include "comm/stream.h"

#define SEND_TIMEOUT_NS 1000000000ll

void trn_comm_stream_init(struct trn_comm_stream *stream, int fd, uint32_t limit)
{
	memset(stream, 0, sizeof(*stream));
	stream->fd = fd;
	stream->limit = limit;
}

void trn_comm_stream_close(struct trn_comm_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
	free(stream->payload);
	stream->payload = NULL;
	stream->got = 0;
}

/* 1: [@to, @to + @bytes) is complete; 0: would block; or a negative errno. */
static int read_some(struct trn_comm_stream *stream, void *to, size_t bytes, size_t base)
{
	ssize_t got;

	while (stream->got < base + bytes) {
		got = recv(stream->fd, (char *)to + (stream->got - base),
			   base + bytes - stream->got, MSG_DONTWAIT);
		if (got == 0)
			return -ECONNRESET;
		if (got > 0)
			stream->got += (size_t)got;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return 0;
		else if (errno != EINTR)
			return -errno;
	}
	return 1;
}

static int check_head(struct trn_comm_stream *stream)
{
	if (stream->head.magic != TRN_COMM_MAGIC)
		return -EPROTO;
	if (stream->head.protocol != TRN_COMM_PROTOCOL)
		return -EPROTONOSUPPORT;
	if (stream->head.bytes > stream->limit)
		return -EMSGSIZE;
	free(stream->payload);
	stream->payload = calloc(1, (size_t)stream->head.bytes + 1);
	return stream->payload ? 0 : -ENOMEM;
}

int trn_comm_stream_read(struct trn_comm_stream *stream)
{
	const size_t head = sizeof(stream->head);
	int status;

	if (stream->got < head) {
		status = read_some(stream, &stream->head, head, 0);
		if (status <= 0)
			return status;
		status = check_head(stream);
		if (status)
			return status;
	}
	status = read_some(stream, stream->payload, stream->head.bytes, head);
	if (status > 0)
		stream->got = 0;
	return status;
}

int trn_comm_stream_send(struct trn_comm_stream *stream, enum trn_comm_message_type type,
			 const void *payload, size_t bytes)
{
	const struct trn_comm_message head = {
		.magic = TRN_COMM_MAGIC,
		.protocol = TRN_COMM_PROTOCOL,
		.type = (uint16_t)type,
		.bytes = (uint32_t)bytes,
	};
	int64_t deadline = trn_comm_now() + SEND_TIMEOUT_NS;
	int error;

	if (stream->fd < 0)
		return -ENOTCONN;
	error = trn_comm_send_all(stream->fd, &head, sizeof(head), deadline);
	if (!error && bytes)
		error = trn_comm_send_all(stream->fd, payload, bytes, deadline);
	return error;
}
