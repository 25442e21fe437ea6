// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages between devices of different processes, at both ends: requests of a neighbour that may
 * lie, and answers of one. Sockets are left out: what they bring is handed over piece by piece.
 */
#include <string.h>
#include "fuzz.h"
#include "tests/emulator/device.h"
#include "tests/emulator/emu.h"
#include "tests/emulator/far_priv.h"

#define STEPS_MAX 48
#define END_MS	  200u

enum step {
	STEP_NOISE,
	STEP_HELLO,
	STEP_READ,
	STEP_WRITE,
	STEP_AGAIN, /* a new connection */
	STEP_SUBMIT,
	STEP_ANSWER,
	STEP_LOST,
	STEPS,
};

static struct emu_far far;
static struct emu_far_op op;
static uint8_t message[EMU_FAR_FRAME_MAX];

static void peer_open(struct emu_far_peer *peer)
{
	emu_far_conn_close(&peer->conn);
	FUZZ_CHECK(emu_far_conn_open(&peer->conn, -1), "no memory");
	peer->link = -1;
}

/* What is sent must be a message, and answer the one that came. */
static void answer_check(const struct emu_far_conn *conn, const struct emu_far_frame *request)
{
	struct emu_far_frame answer;

	memcpy(&answer, conn->out, sizeof(answer));
	FUZZ_CHECK(answer.magic == EMU_FAR_MAGIC && answer.length <= EMU_FAR_BYTES &&
			   conn->out_len == sizeof(answer) + answer.length,
		   "answer of %u bytes, %zu in all", answer.length, conn->out_len);
	FUZZ_CHECK(answer.type == (request->type == EMU_FAR_HELLO  ? EMU_FAR_HELLO
				   : request->type == EMU_FAR_READ ? EMU_FAR_DATA
								   : EMU_FAR_ACK),
		   "type %u is answered by %u", request->type, answer.type);
	FUZZ_CHECK(answer.type == EMU_FAR_HELLO || answer.seq == request->seq,
		   "request %llu is answered as %llu", (unsigned long long)request->seq,
		   (unsigned long long)answer.seq);
	FUZZ_CHECK(answer.status <= EMU_FAR_DAMAGED, "status %u", answer.status);
	FUZZ_CHECK(answer.type != EMU_FAR_DATA ||
			   answer.length == (answer.status ? 0 : request->value),
		   "%u bytes were asked for, %u came with status %u", request->value, answer.length,
		   answer.status);
}

static void refused_check(const struct fuzz_device *device, const struct emu_far_peer *peer,
			  const struct emu_far_frame *request)
{
	const struct emu_product *product = device->dev->product;
	struct emu_far_frame answer;

	if (request->type == EMU_FAR_HELLO ||
	    (request->addr & product->host_mask) != product->host_base ||
	    (request->addr & product->link_bits))
		return;
	memcpy(&answer, peer->conn.out, sizeof(answer));
	/* What was carried out before may only be confirmed, and then it was another address. */
	FUZZ_CHECK(answer.status == EMU_FAR_REFUSED || request->type == EMU_FAR_WRITE,
		   "the host at 0x%llx was read for a neighbour",
		   (unsigned long long)request->addr);
}

/* Bytes that come in over a connection to this device. */
static void peer_feed(struct fuzz_device *device, struct emu_far_peer *peer, const uint8_t *data,
		      size_t size)
{
	const uint8_t *rest;

	while (size) {
		uint8_t *at;
		size_t want = emu_far_conn_want(&peer->conn, &at);
		struct emu_far_frame frame;
		uint64_t last;
		bool greeted;
		int status;

		FUZZ_CHECK(want && want <= EMU_FAR_FRAME_MAX, "%zu bytes are wanted", want);
		if (want > size)
			want = size;
		memcpy(at, data, want);
		data += want;
		size -= want;
		status = emu_far_conn_got(&peer->conn, want);
		if (!status)
			continue;
		if (status > 0) {
			frame = emu_far_conn_frame(&peer->conn, &rest);
			last = peer->link < 0 ? 0 : far.served[peer->link].last;
			status = emu_far_serve(&far, peer, &greeted);
			if (!status) {
				answer_check(&peer->conn, &frame);
				refused_check(device, peer, &frame);
				FUZZ_CHECK(peer->link >= 0 &&
						   (greeted || far.served[peer->link].last >= last),
					   "numbers go back");
				peer->conn.out_sent = peer->conn.out_len;
			}
		}
		if (status < 0) {
			peer_open(peer);
			return;
		}
	}
}

static size_t frame_put(struct emu_far_frame frame, const void *data)
{
	frame.magic = EMU_FAR_MAGIC;
	memcpy(message, &frame, sizeof(frame));
	if (data)
		memcpy(message + sizeof(frame), data, frame.length);
	return sizeof(frame) + frame.length;
}

/* Numbers as they come, mostly: a few around the last one. */
static uint64_t seq_take(struct fuzz_input *in, uint64_t last)
{
	uint8_t how = fuzz_u8(in);

	return how == 0xff ? fuzz_u64(in) : last + how % 8 - 3;
}

static size_t hello_put(struct fuzz_input *in, unsigned int link)
{
	const struct emu_link *there = &far.links->link[link % far.links->count];
	struct emu_far_frame frame = { .type = EMU_FAR_HELLO,
				       .length = sizeof(struct emu_far_hello) };
	struct emu_far_hello hello;
	uint8_t wrong = fuzz_u8(in);

	emu_far_hello_fill(&far, there->reverse, &hello);
	hello.node = there->place.node;
	hello.routing_id = there->place.routing_id;
	hello.instance = fuzz_u8(in) % 4;
	if (wrong < sizeof(hello))
		((uint8_t *)&hello)[wrong] ^= fuzz_u8(in);
	if (wrong == 0xff)
		frame.length = fuzz_u8(in);
	return frame_put(frame, frame.length <= sizeof(hello) ? &hello : NULL);
}

static size_t request_put(struct fuzz_device *device, struct fuzz_input *in, uint8_t type,
			  uint64_t last)
{
	struct emu_far_frame frame = { .type = type, .seq = seq_take(in, last) };
	uint32_t bytes = fuzz_u8(in);

	if (bytes & 0x80)
		bytes = (bytes & 0x7f) << 9 | fuzz_u16(in);
	frame.addr = fuzz_address(device, in);
	if (type == EMU_FAR_READ) {
		frame.value = bytes;
	} else {
		frame.length = bytes <= EMU_FAR_BYTES ? bytes : EMU_FAR_BYTES;
		frame.value = fuzz_u8(in) == 0xff ? fuzz_u32(in) : 1;
		memset(message + sizeof(frame), fuzz_u8(in), frame.length);
		fuzz_bytes(in, message + sizeof(frame), frame.length < 16 ? frame.length : 16);
	}
	return frame_put(frame, NULL);
}

static void op_submit(struct fuzz_device *device, struct fuzz_input *in)
{
	if (atomic_load(&op.status) == EMU_FAR_BUSY && !emu_far_drop(&far, &op)) {
		/* It belongs to the thread now, which is this one. */
		op.orphan = false;
		return;
	}
	op.engine = &device->dev->engine[0];
	op.link = 0;
	op.write = fuzz_u8(in) & 1;
	op.addr = fuzz_address(device, in);
	op.len = 1 + fuzz_u16(in);
	emu_far_submit(&far, &op);
}

/* An answer, mostly to what was sent last. */
static size_t answer_put(struct fuzz_input *in)
{
	struct emu_far_frame frame = { 0 }, sent;
	uint8_t wrong = fuzz_u8(in);

	memcpy(&sent, far.client[0].conn.out, sizeof(sent));
	if (far.client[0].silent)
		return hello_put(in, 0);
	frame.type = sent.type == EMU_FAR_READ ? EMU_FAR_DATA : EMU_FAR_ACK;
	frame.seq = sent.seq;
	frame.length = sent.type == EMU_FAR_READ ? sent.value : 0;
	if (wrong & 1)
		frame.status = fuzz_u8(in);
	if (wrong & 2)
		frame.seq = fuzz_u64(in);
	if (wrong & 4)
		frame.length = fuzz_u16(in);
	if (wrong & 8)
		frame.type = fuzz_u8(in);
	if (frame.length > EMU_FAR_BYTES)
		frame.length = EMU_FAR_BYTES;
	return frame_put(frame, NULL);
}

static void client_open(void)
{
	emu_far_conn_close(&far.client[0].conn);
	emu_far_client_lost(&far, 0);
	FUZZ_CHECK(emu_far_conn_open(&far.client[0].conn, -1), "no memory");
	emu_far_client_hello(&far, 0);
}

static void client_feed(const uint8_t *data, size_t size)
{
	struct emu_far_conn *conn = &far.client[0].conn;

	while (size) {
		uint8_t *at;
		size_t want = emu_far_conn_want(conn, &at);
		int status;
		bool up;

		FUZZ_CHECK(want && want <= EMU_FAR_FRAME_MAX, "%zu bytes are wanted", want);
		if (want > size)
			want = size;
		memcpy(at, data, want);
		data += want;
		size -= want;
		status = emu_far_conn_got(conn, want);
		if (status > 0)
			status = emu_far_client_answer(&far, 0, &up);
		if (status < 0) {
			client_open();
			return;
		}
		conn->out_sent = conn->out_len;
		emu_far_client_fill(&far, 0);
	}
}

static void step(struct fuzz_device *device, struct fuzz_input *in, struct emu_far_peer *peer)
{
	uint64_t last = peer->link < 0 ? 0 : far.served[peer->link].last;
	uint8_t noise[256];
	size_t size;

	switch (fuzz_u8(in) % STEPS) {
	case STEP_NOISE:
		size = fuzz_u8(in);
		fuzz_bytes(in, noise, size);
		if (size & 1)
			client_feed(noise, size);
		else
			peer_feed(device, peer, noise, size);
		break;
	case STEP_HELLO:
		size = hello_put(in, fuzz_u8(in));
		peer_feed(device, peer, message, size);
		break;
	case STEP_READ:
		size = request_put(device, in, EMU_FAR_READ, last);
		peer_feed(device, peer, message, size);
		break;
	case STEP_WRITE:
		size = request_put(device, in, EMU_FAR_WRITE, last);
		peer_feed(device, peer, message, size);
		break;
	case STEP_AGAIN:
		peer_open(peer);
		break;
	case STEP_SUBMIT:
		op_submit(device, in);
		emu_far_client_fill(&far, 0);
		break;
	case STEP_ANSWER:
		size = answer_put(in);
		client_feed(message, size);
		break;
	default:
		client_open();
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device *device = fuzz_device_begin(data, size);
	struct fuzz_input in = { data, size };
	unsigned int n;

	memset(&far, 0, sizeof(far));
	emu_far_init(&far, device->dev);
	atomic_store(&op.status, EMU_FAR_OK);
	peer_open(&far.peer[0]);
	client_open();
	for (n = 0; in.left && n < STEPS_MAX; n++)
		step(device, &in, &far.peer[0]);
	emu_far_conn_close(&far.peer[0].conn);
	emu_far_conn_close(&far.client[0].conn);
	op.orphan = false;
	emu_far_client_flush(&far, 0);
	FUZZ_CHECK(atomic_load(&op.status) != EMU_FAR_BUSY, "an operation is lost");
	fuzz_device_end(device, END_MS);
	return 0;
}
