// SPDX-License-Identifier: BSD-2-Clause
/*
 * topology.md: links between devices, shown by what one device writes to and reads from another.
 *
 * The windows of Trn2 are of the public map. Those of Trn1 and Inf2 are of the open extension
 * (Documentation/open-extension.md); where they lead is topology.md's.
 */
#include <string.h>
#include "conformance.h"

#define HBM   (64ull << 20)
#define RING  0x2000000ull /* M2S, then S2M; behind them the data */
#define DATA  0x2001000ull
#define THERE 0x2002000ull
#define TAG   0x7ac0ffee

/* topology.md 1: routing id of device index d. */
static const uint8_t trn1_routing[16] = {
	0, 2, 6, 4, 1, 3, 7, 5, 9, 11, 15, 13, 8, 10, 14, 12,
};

static const uint8_t trn2_routing[16] = {
	0, 8, 9, 1, 2, 10, 11, 3, 6, 14, 15, 7, 4, 12, 13, 5,
};

/* topology.md 2: position is the SENG. */
static const uint8_t trn2_links[16][4] = {
	{ 12, 1, 3, 4 },  { 0, 13, 5, 2 },  { 14, 3, 1, 6 },   { 2, 15, 7, 0 },
	{ 8, 5, 7, 0 },	  { 4, 9, 1, 6 },   { 10, 7, 5, 2 },   { 6, 11, 3, 4 },
	{ 4, 9, 11, 12 }, { 8, 5, 13, 10 }, { 6, 11, 9, 14 },  { 10, 7, 15, 8 },
	{ 0, 13, 15, 8 }, { 12, 1, 9, 14 }, { 2, 15, 13, 10 }, { 14, 3, 11, 12 },
};

/* topology.md 3.2: engine of link l. */
static const unsigned int link_engine[4] = { 4, 36, 68, 100 };

/** struct place - a device of the case's own. */
struct place {
	struct conf c;
	uint8_t *hbm;
	struct conf_queue queue;
};

static bool place_open(struct conf *c, struct place *at, uint32_t routing_id, uint32_t node,
		       uint32_t nodes)
{
	const struct emu_config config = {
		.size = sizeof(config),
		.arch = c->p->arch,
		.routing_id = routing_id,
		.hbm_bytes = HBM,
		.fabric = "conformance",
		.node = node,
		.nodes = nodes,
	};
	char error[256] = "";
	uint64_t size;

	memset(at, 0, sizeof(*at));
	at->c.p = c->p;
	if (emu_inproc_create(&config, &at->c.inproc, error, sizeof(error))) {
		conf_fail(c, "a device with routing id %u: %s", routing_id, error);
		return false;
	}
	at->c.dev = emu_inproc_device(at->c.inproc);
	at->hbm = emu_device_hbm(at->c.dev, &size);
	return true;
}

/* What the device recorded is the case's. */
static void place_close(struct conf *c, struct place *at)
{
	char text[256];

	if (at->c.failure[0])
		conf_fail(c, "%s", at->c.failure);
	if (emu_device_complaints(at->c.dev, EMU_COMPLAINT_NONE)) {
		emu_device_complaint_text(at->c.dev, text, sizeof(text));
		conf_fail(c, "mistake: %s", text);
	}
	emu_inproc_destroy(at->c.inproc);
}

static void place_queue(struct place *at, unsigned int engine)
{
	conf_queue_place(&at->c, &at->queue, engine, 0, 32, 32, at->hbm + RING, RING,
			 at->hbm + RING + 512, RING + 512);
	conf_queue_init(&at->queue);
}

static uint32_t word(const struct place *at, uint64_t addr)
{
	return __atomic_load_n((uint32_t *)(at->hbm + addr), __ATOMIC_ACQUIRE);
}

static void word_set(struct place *at, uint64_t addr, uint32_t value)
{
	__atomic_store_n((uint32_t *)(at->hbm + addr), value, __ATOMIC_RELEASE);
}

static uint64_t window(const struct conf *c, unsigned int link)
{
	if (c->p->bit == TRN2)
		return 0x0010000000000000 + link * 0x0004000000000000ull;
	return 0x0001000000000000 + link * 0x0000100000000000ull;
}

static uint32_t routing_of(const struct conf *c, unsigned int d)
{
	if (c->p->bit == INF2)
		return d;
	return c->p->bit == TRN1 ? trn1_routing[d] : trn2_routing[d];
}

static unsigned int neighbour_of(const struct conf *c, unsigned int d, unsigned int position)
{
	unsigned int row = d / 4, column = d % 4;
	const unsigned int trn1[4] = {
		(d + 12) % 16,
		4 * row + (column + 3) % 4,
		(d + 4) % 16,
		4 * row + (column + 1) % 4,
	};

	if (c->p->bit == INF2)
		return position ? (d + 1) % 12 : (d + 11) % 12;
	return c->p->bit == TRN1 ? trn1[position] : trn2_links[d][position];
}

/* Row: device index << 4 | position in its list of neighbours. */
static void neighbour(struct conf *c, const void *row)
{
	unsigned int d = NUM(row) >> 4, position = NUM(row) & 15,
		     peer = neighbour_of(c, d, position);
	struct place here, there;

	if (!place_open(c, &here, routing_of(c, d), 0, 1))
		return;
	if (place_open(c, &there, routing_of(c, peer), 0, 1)) {
		place_queue(&here, c->p->bit == TRN2 ? link_engine[position] : 0);
		word_set(&here, DATA, TAG);
		conf_packet(&here.queue, window(c, position) + THERE, DATA, 4);
		conf_packet(&here.queue, DATA + 64, window(c, position) + THERE, 4);
		conf_ring_both(&here.queue, 2);
		conf_finish(&here.queue, "copies over the link");
		conf_is(c, word(&there, THERE), TAG, "word at device %u", peer);
		conf_is(c, word(&here, DATA + 64), TAG, "the word read back");
		place_close(c, &there);
	}
	place_close(c, &here);
}

/* Row: device index << 4 | link: the end of a line. */
static void line_end(struct conf *c, const void *row)
{
	struct place here;

	if (!place_open(c, &here, NUM(row) >> 4, 0, 1))
		return;
	place_queue(&here, 0);
	word_set(&here, DATA + 64, TAG);
	conf_packet(&here.queue, DATA + 64, window(c, NUM(row) & 15) + THERE, 4);
	conf_ring_both(&here.queue, 1);
	conf_quiesce(&here.c);
	conf_is(c, word(&here, DATA + 64), TAG, "destination of a read from nowhere");
	conf_reg(&here.c, conf_q(&here.queue, S2M, 0x34), 1u << 30, "RDRHP");
	place_close(c, &here);
}

static const struct remote {
	uint32_t reg, bytes;
} remotes[] = { { 0x038, 8 }, { 0x180, 16 }, { 0x190, 4 } };

/* Descriptors A and B of 3.3 over link @link of @here: register @reg of the neighbour at DATA + 8.
 */
static void remote_read(struct place *here, unsigned int link, const struct remote *r)
{
	place_queue(here, link_engine[link]);
	word_set(here, DATA, 1);
	word_set(here, DATA + 4, 0);
	conf_push(&here->queue, S2M, r->bytes, 0, DATA + 8);
	conf_push(&here->queue, M2S, r->bytes | D_FIRST | D_LAST, META_WRITE,
		  window(&here->c, link) + 0x8006c84000 + r->reg);
	conf_push(&here->queue, S2M, 4, 0, DATA + 4);
	conf_push(&here->queue, M2S, 4 | D_FIRST | D_LAST, META_WRITE, DATA);
	conf_ring_both(&here->queue, 2);
	conf_wait_word(&here->c, here->hbm + DATA + 4, 1, "flag of the remote read over link %u",
		       link);
}

/* Row: link << 4 | register. */
static void remote_register(struct conf *c, const void *row)
{
	const struct remote *r = &remotes[NUM(row) & 15];
	struct place here, there;
	unsigned int i;

	if (!place_open(c, &here, 0, 0, 2))
		return;
	if (place_open(c, &there, 0, 1, 2)) {
		if (r->reg != 0x038)
			for (i = 0; i < r->bytes; i += 4)
				conf_write(&there.c, c->p->misc + r->reg + i, TAG + i);
		remote_read(&here, NUM(row) >> 4, r);
		for (i = 0; i < r->bytes; i += 4)
			conf_is(c, word(&here, DATA + 8 + i),
				conf_read(&there.c, c->p->misc + r->reg + i),
				"word %u of the neighbour's MISC RAM 0x%03x", i / 4, r->reg);
		place_close(c, &there);
	}
	place_close(c, &here);
}

/* Left and right neighbour of a node, so that the rules of 3.8 give each node its own number. */
static const uint8_t four[4][2] = { { 1, 3 }, { 0, 2 }, { 3, 1 }, { 2, 0 } };

/* Row: nodes << 8 | node << 4 | link. */
static void node_link(struct conf *c, const void *row)
{
	unsigned int nodes = NUM(row) >> 8, node = NUM(row) >> 4 & 15, link = NUM(row) & 15, n;
	bool right = link == 0 || link == 3;
	unsigned int peer = nodes == 4 ? four[node][right] : !node;
	struct place at[4];

	for (n = 0; n < nodes; n++)
		if (!place_open(c, &at[n], 5, n, nodes))
			break;
	if (n == nodes) {
		remote_read(&at[node], link, &remotes[0]);
		conf_is(c, word(&at[node], DATA + 8), conf_read(&at[peer].c, c->p->misc + 0x38),
			"serial number over link %u, low; node %u has it", link, peer);
		conf_is(c, word(&at[node], DATA + 12), conf_read(&at[peer].c, c->p->misc + 0x3c),
			"serial number over link %u, high", link);
	}
	while (n--)
		place_close(c, &at[n]);
}

void conf_links(struct conf_list *list)
{
	static const char *const trn1[4] = { "up", "left", "down", "right" };
	static const char *const inf2[2] = { "previous", "next" };
	unsigned int d, l, r;

	for (d = 0; d < 16; d++)
		for (l = 0; l < 4; l++) {
			conf_case(list, TRN1, neighbour, ROW(d << 4 | l), "topology.md 2",
				  "Trn1 device %u, %s", d, trn1[l]);
			conf_case(list, TRN2, neighbour, ROW(d << 4 | l), "topology.md 2",
				  "Trn2 device %u, SENG%u", d, l);
		}
	for (d = 0; d < 12; d++)
		for (l = 0; l < 2; l++)
			conf_case(list, INF2, neighbour, ROW(d << 4 | l), "topology.md 2",
				  "Inf2 ring, device %u, %s", d, inf2[l]);
	conf_case(list, INF2, line_end, ROW(0 << 4 | 0), "topology.md 2",
		  "Inf2 line of 6, device 0 has no previous one");
	conf_case(list, INF2, line_end, ROW(5 << 4 | 1), "topology.md 2",
		  "Inf2 line of 6, device 5 has no next one");
	for (l = 0; l < 4; l++)
		for (r = 0; r < COUNT(remotes); r++)
			conf_case(list, V3, remote_register, ROW(l << 4 | r), "topology.md 3.3",
				  "read of 0x%03x, %u bytes, over B0_%u", remotes[r].reg,
				  remotes[r].bytes, l);
	for (d = 0; d < 4; d++)
		for (l = 0; l < 4; l++)
			conf_case(list, V3, node_link, ROW(4 << 8 | d << 4 | l), "topology.md 3.8",
				  "four nodes, node %u, B0_%u", d, l);
	for (d = 0; d < 2; d++)
		for (l = 0; l < 4; l++)
			conf_case(list, V3, node_link, ROW(2 << 8 | d << 4 | l), "topology.md 3.8",
				  "two nodes, L = R, node %u, B0_%u", d, l);
}
