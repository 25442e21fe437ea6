// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages on a connection: one being received, one being sent. Knows sockets by their number only;
 * receiving and sending is the thread's business.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "far_priv.h"

bool emu_far_conn_open(struct emu_far_conn *conn, int fd)
{
	memset(conn, 0, sizeof(*conn));
	conn->fd = -1;
	conn->in = malloc(EMU_FAR_FRAME_MAX);
	conn->out = malloc(EMU_FAR_FRAME_MAX);
	if (!conn->in || !conn->out) {
		emu_far_conn_close(conn);
		return false;
	}
	conn->fd = fd;
	return true;
}

void emu_far_conn_close(struct emu_far_conn *conn)
{
	if (conn->fd >= 0)
		close(conn->fd);
	free(conn->in);
	free(conn->out);
	memset(conn, 0, sizeof(*conn));
	conn->fd = -1;
}

static struct emu_far_frame header(const struct emu_far_conn *conn)
{
	struct emu_far_frame frame;

	memcpy(&frame, conn->in, sizeof(frame));
	return frame;
}

size_t emu_far_conn_want(struct emu_far_conn *conn, uint8_t **at)
{
	*at = conn->in + conn->in_len;
	if (conn->in_len < sizeof(struct emu_far_frame))
		return sizeof(struct emu_far_frame) - conn->in_len;
	return sizeof(struct emu_far_frame) + header(conn).length - conn->in_len;
}

/* The length decides how much is received next, so it is looked at before anything else. */
static bool header_valid(const struct emu_far_frame *frame)
{
	return frame->magic == EMU_FAR_MAGIC && frame->length <= EMU_FAR_BYTES && !frame->reserved;
}

int emu_far_conn_got(struct emu_far_conn *conn, size_t len)
{
	struct emu_far_frame frame;

	conn->in_len += len;
	if (conn->in_len < sizeof(frame))
		return 0;
	frame = header(conn);
	if (!header_valid(&frame))
		return -1;
	return conn->in_len == sizeof(frame) + frame.length;
}

struct emu_far_frame emu_far_conn_frame(const struct emu_far_conn *conn, const uint8_t **data)
{
	*data = conn->in + sizeof(struct emu_far_frame);
	return header(conn);
}

void emu_far_conn_next(struct emu_far_conn *conn)
{
	conn->in_len = 0;
}

void emu_far_conn_send(struct emu_far_conn *conn, const struct emu_far_frame *frame,
		       const void *data)
{
	struct emu_far_frame out = *frame;

	out.magic = EMU_FAR_MAGIC;
	memcpy(conn->out, &out, sizeof(out));
	if (data && out.length)
		memcpy(conn->out + sizeof(out), data, out.length);
	conn->out_len = sizeof(out) + out.length;
	conn->out_sent = 0;
}
