// SPDX-License-Identifier: BSD-2-Clause
/*
 * topology.md: what of it is a register of the device.
 */
#include <stdio.h>
#include <string.h>
#include "conformance.h"

/* Row: routing id; a device of its own answers with it. */
static void routing_id(struct conf *c, const void *row)
{
	unsigned int first = NUM(row), r;

	for (r = first; r < first + 16; r++) {
		struct emu_config config = { .size = sizeof(config),
					     .arch = c->p->arch,
					     .routing_id = r };
		struct emu_inproc *inproc = NULL;
		char error[256] = "";

		if (emu_inproc_create(&config, &inproc, error, sizeof(error))) {
			conf_fail(c, "device with routing id %u: %s", r, error);
			return;
		}
		conf_is(c, emu_device_read(emu_inproc_device(inproc), 0, c->p->misc + 0x24, 4), r,
			"DEVICE_ID of the device with routing id %u", r);
		emu_inproc_destroy(inproc);
	}
}

static void routing_id_range(struct conf *c, const void *row)
{
	struct emu_config config = { .size = sizeof(config), .arch = c->p->arch, .routing_id = 64 };
	struct emu_inproc *inproc = NULL;
	char error[256] = "";

	(void)row;
	conf_true(c, emu_inproc_create(&config, &inproc, error, sizeof(error)) != 0,
		  "routing id 64 is refused");
	emu_inproc_destroy(inproc);
}

/* 3.3: descriptor A reads a register, descriptor B writes the flag; loop-back base 0. */
struct remote {
	uint32_t reg, bytes;
	const char *name;
};

static const struct remote remotes[] = {
	{ 0x038, 8, "0x038, 8 bytes, low word first" },
	{ 0x180, 16, "0x180, 16 bytes" },
	{ 0x190, 4, "0x190, 4 bytes" },
};

static void remote_read(struct conf *c, const void *row)
{
	static const unsigned int engines[4] = { 4, 36, 68, 100 };
	const struct remote *r = row;
	unsigned int e, i;

	for (i = 0x180; i <= 0x190; i += 4)
		conf_write(c, c->p->misc + i, i << 16 | 0x55);
	for (e = 0; e < 4; e++) {
		struct conf_queue queue;
		uint64_t page_dev;
		uint32_t *page = conf_host(c, 4096, &page_dev);

		page[0] = 1;
		conf_engine_init(c, engines[e], true, 18, NULL, 0);
		conf_queue_open(c, &queue, engines[e], 0, 1024);
		conf_push(&queue, S2M, r->bytes, 0, page_dev + 8);
		conf_push(&queue, M2S, r->bytes | D_FIRST | D_LAST, META_WRITE,
			  0x8006c84000 + r->reg);
		conf_push(&queue, S2M, 4, 0, page_dev + 4);
		conf_push(&queue, M2S, 4 | D_FIRST | D_LAST, META_WRITE, page_dev);
		conf_ring_both(&queue, 2);
		conf_wait_word(c, &page[1], 1, "flag of the remote read by engine %u", engines[e]);
		for (i = 0; i < r->bytes / 4; i++)
			conf_is(c, page[2 + i], conf_read(c, c->p->misc + r->reg + 4 * i),
				"engine %u: word %u of MISC RAM 0x%03x", engines[e], i, r->reg);
	}
}

/* The same over a link that leads somewhere: two nodes, the registers read are the other's. Row:
 * the link; its engine belongs to the same SENG. */
static void remote_node(struct conf *c, const void *row)
{
	static const unsigned int engines[4] = { 4, 36, 68, 100 };
	struct conf node[2] = { { .p = c->p }, { .p = c->p } };
	uint64_t page_dev, base = 0x0010000000000000 + NUM(row) * 0x0004000000000000;
	struct conf_queue queue;
	uint32_t *page, i;

	for (i = 0; i < 2; i++) {
		struct emu_config config = { .size = sizeof(config),
					     .arch = c->p->arch,
					     .fabric = "conformance",
					     .node = i,
					     .nodes = 2 };

		if (!conf_open(&node[i], &config))
			goto close;
	}
	page = conf_host(&node[0], 4096, &page_dev);
	page[0] = 1;
	for (i = 0x180; i <= 0x190; i += 4)
		conf_write(&node[1], c->p->misc + i, i << 8 | 0x77);
	conf_engine_init(&node[0], engines[NUM(row)], true, 18, NULL, 0);
	conf_queue_open(&node[0], &queue, engines[NUM(row)], 0, 1024);
	conf_push(&queue, S2M, 20, 0, page_dev + 8);
	conf_push(&queue, M2S, 20 | D_FIRST | D_LAST, META_WRITE, base + 0x8006c84180);
	conf_push(&queue, S2M, 4, 0, page_dev + 4);
	conf_push(&queue, M2S, 4 | D_FIRST | D_LAST, META_WRITE, page_dev);
	conf_ring_both(&queue, 2);
	conf_wait_word(&node[0], &page[1], 1, "flag of the remote read by link %u", NUM(row));
	for (i = 0x180; i <= 0x190; i += 4)
		conf_is(&node[0], page[2 + (i - 0x180) / 4], i << 8 | 0x77,
			"link %u: MISC RAM 0x%03x of the neighbour", NUM(row), i);
	for (i = 0; i < 2; i++) {
		conf_quiesce(&node[i]);
		conf_complaint(&node[i], EMU_COMPLAINT_NONE, 0);
	}
close:
	for (i = 0; i < 2; i++) {
		if (node[i].failure[0])
			conf_fail(c, "node %u: %s", i, node[i].failure);
		conf_close(&node[i]);
	}
}

static void links(struct conf *c, const void *row)
{
	unsigned int engine = NUM(row);
	struct conf_queue queue;
	uint64_t host;

	conf_host(c, 4, &host);
	conf_engine_init(c, engine, true, 18, NULL, 0);
	conf_queue_open(c, &queue, engine, 0, 1024);
	conf_copy(&queue, host, c->p->misc_dev + 0x190, 4, "engine of a link");
}

/* 3.4: fields of the status word. */
struct field {
	uint32_t value;
	const char *name;
};

static const struct field fields[] = {
	{ 0x00ff0000, "init, node -1" },	  { 0x00000002, "[7:0] status 2 failure" },
	{ 0x00000003, "[7:0] status 3 success" }, { 0x00000303, "[15:8] link mask" },
	{ 0x00030003, "[23:16] node id" },	  { 0x04000003, "[31:24] node count" },
};

static void status_field(struct conf *c, const void *row)
{
	const struct field *f = row;

	conf_store(c, c->p->misc + 0x190, f->value, "POD_ELECTION_STS");
	conf_device_reset(c);
	conf_reg(c, c->p->misc + 0x190, f->value, "POD_ELECTION_STS after a device reset");
}

/* 3.6: cleared, and read back. */
static void start(struct conf *c, const void *row)
{
	static const uint32_t order[] = { 0x18c, 0x188, 0x184, 0x180, 0x190, 0x194, 0x198 };
	unsigned int i;

	(void)row;
	for (i = 0; i < COUNT(order); i++)
		conf_write(c, c->p->misc + order[i], 0x123);
	for (i = 0; i < COUNT(order); i++)
		conf_store(c, c->p->misc + order[i], 0, "MISC RAM 0x%03x cleared", order[i]);
}

/* Cached result of an election: a driver that is loaded again finds it. */
static void adopt(struct conf *c, const void *row)
{
	(void)row;
	conf_write(c, c->p->misc + 0x190, 3 | 3 << 8 | 1 << 16 | 4 << 24);
	conf_write(c, c->p->misc + 0x194, 0x54524e03);
	conf_write(c, c->p->misc + 0x198, 0x10000001);
	emu_device_bus_master(c->dev, false);
	emu_device_bus_master(c->dev, true);
	conf_device_reset(c);
	conf_reg(c, c->p->misc + 0x190, 3 | 3 << 8 | 1 << 16 | 4 << 24, "cached status");
	conf_reg(c, c->p->misc + 0x194, 0x54524e03, "cached pod serial, high");
	conf_reg(c, c->p->misc + 0x198, 0x10000001, "cached pod serial, low");
}

/* 3.7: writes of a step, in order; what a neighbour then reads by DMA is what was written. */
struct step {
	const char *name;
	struct {
		uint32_t reg, value;
	} write[6];
	unsigned int count;
};

static const struct step steps[] = {
	{ "b secondary W 0x190 = 0", { { 0x190, 0 } }, 1 },
	{ "b primary W 0x190 = 0x00FF0000", { { 0x190, 0x00ff0000 } }, 1 },
	{ "d secondary own index left and right",
	  { { 0x180, 5 }, { 0x184, 5 }, { 0x188, 5 }, { 0x18c, 5 } },
	  4 },
	{ "d primary left serial then right serial",
	  { { 0x180, 0x54524e03 },
	    { 0x184, 0x10000011 },
	    { 0x188, 0x54524e03 },
	    { 0x18c, 0x10000022 } },
	  4 },
	{ "g secondary W 0x190 = 3", { { 0x190, 3 } }, 1 },
	{ "g primary W 0x190 = 0x00FF0003", { { 0x190, 0x00ff0003 } }, 1 },
	{ "i W 0x18C, 0x188, 0x184, 0x180 = 0",
	  { { 0x18c, 0 }, { 0x188, 0 }, { 0x184, 0 }, { 0x180, 0 } },
	  4 },
	{ "j secondary failure W 0x190 = 2", { { 0x190, 2 } }, 1 },
	{ "j primary success W 0x190, 0x194, 0x198",
	  { { 0x190, 0x02010303 }, { 0x194, 0x54524e03 }, { 0x198, 0x10000001 } },
	  3 },
	{ "j primary failure W 0x190 = 0x00FF0002, 0x194, 0x198 = 0",
	  { { 0x190, 0x00ff0002 }, { 0x194, 0 }, { 0x198, 0 } },
	  3 },
};

static void election_step(struct conf *c, const void *row)
{
	const struct step *s = row;
	struct conf_queue queue;
	uint64_t host;
	uint32_t *page = conf_host(c, 64, &host), at;
	unsigned int i;

	for (at = 0x180; at <= 0x198; at += 4)
		conf_write(c, c->p->misc + at, 0x5000 + at);
	for (i = 0; i < s->count; i++)
		conf_write(c, c->p->misc + s->write[i].reg, s->write[i].value);
	conf_queue_open(c, &queue, 4, 0, 1024);
	conf_copy(&queue, host, c->p->misc_dev + 0x180, 28, "what a neighbour reads");
	for (at = 0x180; at <= 0x198; at += 4) {
		uint32_t want = 0x5000 + at;

		for (i = 0; i < s->count; i++)
			if (s->write[i].reg == at)
				want = s->write[i].value;
		conf_is(c, page[(at - 0x180) / 4], want, "MISC RAM 0x%03x as a neighbour reads it",
			at);
	}
}

/* Two devices have two serial numbers. */
static void serials_differ(struct conf *c, const void *row)
{
	struct emu_config config = { .size = sizeof(config), .arch = c->p->arch, .routing_id = 1 };
	struct emu_inproc *inproc = NULL;
	char error[256] = "";

	(void)row;
	if (emu_inproc_create(&config, &inproc, error, sizeof(error))) {
		conf_fail(c, "device with routing id 1: %s", error);
		return;
	}
	conf_true(c,
		  emu_device_read(emu_inproc_device(inproc), 0, c->p->misc + 0x38, 4) !=
			  conf_read(c, c->p->misc + 0x38),
		  "serial numbers of two devices differ");
	emu_inproc_destroy(inproc);
}

void conf_topology(struct conf_list *list)
{
	static const unsigned int engines[4] = { 36, 68, 4, 100 };
	unsigned int i;

	for (i = 0; i < 64; i += 16)
		conf_case(list, ALL, routing_id, ROW(i), "topology.md 1",
			  "routing ids %u to %u in MR+0x024", i, i + 15);
	conf_case(list, ALL, routing_id_range, NULL, "topology.md 1", "routing ids are 0..63");
	conf_case(list, ALL, serials_differ, NULL, "topology.md 1",
		  "every instance has its own identity");
	for (i = 0; i < 4; i++)
		conf_case(list, V3, links, ROW(engines[i]), "topology.md 3.2", "engine %u, SENG%u",
			  engines[i], engines[i] / 32);
	for (i = 0; i < COUNT(remotes); i++)
		conf_case(list, V3, remote_read, &remotes[i], "topology.md 3.3",
			  "read of %s, loop-back", remotes[i].name);
	for (i = 0; i < 4; i++)
		conf_case(list, V3, remote_node, ROW(i), "topology.md 3.3",
			  "remote read over B0_%u of another node", i);
	for (i = 0; i < COUNT(fields); i++)
		conf_case(list, V3, status_field, &fields[i], "topology.md 3.4", "%s",
			  fields[i].name);
	conf_case(list, V3, start, NULL, "topology.md 3.6",
		  "clear 0x18C, 0x188, 0x184, 0x180, 0x190, 0x194, 0x198");
	conf_case(list, V3, adopt, NULL, "topology.md 3.6", "status 3 is found again");
	for (i = 0; i < COUNT(steps); i++)
		conf_case(list, V3, election_step, &steps[i], "topology.md 3.7", "%s",
			  steps[i].name);
}
