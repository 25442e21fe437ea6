// SPDX-License-Identifier: BSD-2-Clause
/*
 * The documented sequences: engine init (udma.md 4), reset handshake (firmware-and-reset.md 5),
 * probe (firmware-and-reset.md 8).
 */
#include "conformance.h"

struct trace {
	struct conf *c;
	struct conf_access *access;
	unsigned int count, room, row, last;
};

static void note(struct trace *t, bool read, uint64_t bar0, uint32_t value)
{
	if (t->count < t->room)
		t->access[t->count] = (struct conf_access){ t->row, read, bar0, value };
	t->count++;
}

static void put(struct trace *t, uint64_t bar0, uint32_t value)
{
	if (t->row > t->last)
		return;
	conf_write(t->c, bar0, value);
	note(t, false, bar0, value);
}

static uint32_t get(struct trace *t, uint64_t bar0)
{
	uint32_t value;

	if (t->row > t->last)
		return 0;
	value = conf_read(t->c, bar0);
	note(t, true, bar0, value);
	return value;
}

static void modify(struct trace *t, uint64_t bar0, uint32_t clear, uint32_t set)
{
	uint32_t value = get(t, bar0);

	put(t, bar0, (value & ~clear) | set);
}

/* Rows 1 to 7: broadcast, queues, limits, selectors. */
static void init_datapath(struct trace *t, unsigned int engine, uint64_t udma, bool first)
{
	uint64_t m2s = udma + M2S_AT, s2m = udma + S2M_AT, gen = udma + GEN_AT;
	bool v3 = t->c->p->generation == 3;
	unsigned int q, e = engine % 16, i;

	t->row = 1;
	if (!v3 && engine < 32) {
		put(t, conf_sdma(t->c, engine) + 0x100, 0xffffu >> e);
		put(t, conf_sdma(t->c, engine) + 0x104,
		    e == 0 || e == 3 || e == 6 || e == 9 || e == 15 ? 0xffff : 0);
	}
	t->row = 2;
	for (q = 0; q < 16; q++) {
		put(t, m2s + 0x1000 + q * 0x1000 + 0x20, first ? 0x00030000 : 0x03030000);
		put(t, s2m + 0x1000 + q * 0x1000 + 0x20, first ? 0x00030000 : 0x03030000);
	}
	t->row = 3;
	put(t, m2s + 0x310, v3 ? 0x010008f8 : 0x01000400);
	put(t, m2s + 0x124, v3 ? 0x20808080 : 0x0000086f);
	put(t, gen + 0x2300, 0x05f5e100);
	put(t, m2s + 0x408, 0);
	put(t, m2s + 0x254, 0x010fffff);
	put(t, m2s + 0x258, 0x00000102);
	t->row = 4;
	for (q = 0; q < 16; q++)
		put(t, udma + GENX_AT + 0x400 + q * 0x40, 0xffffffff);
	t->row = 5;
	put(t, m2s + 0x118, 0x00010008);
	put(t, s2m + 0x38c, 0);
	t->row = 6;
	for (q = 0; q < 16; q++)
		for (i = 4; i <= 12; i += 4)
			put(t, udma + GENX_AT + 0x400 + q * 0x40 + i, 0xffffffff);
	t->row = 7;
	put(t, s2m + 0x124, v3 ? 0x00400080 : 0x00400008);
	put(t, s2m + 0x128, 0x40804080);
}

/* Rows 8 to 13: interrupt controllers, prefetch, wrapper. */
static void init_control(struct trace *t, unsigned int engine, uint64_t udma)
{
	uint64_t m2s = udma + M2S_AT, s2m = udma + S2M_AT, gen = udma + GEN_AT;
	uint64_t sdma = conf_sdma(t->c, engine);

	t->row = 8;
	modify(t, gen + 0x3460, 1, 0);
	t->row = 9;
	put(t, gen + 0x2028, 0x28);
	put(t, gen + 0x00e8, 0x28);
	put(t, gen + 0x2030, 0xf0000000);
	put(t, gen + 0x20b0, 0xffffffc0);
	put(t, gen + 0x2018, 0xf0000000);
	put(t, gen + 0x2098, 0xffffffc0);
	put(t, gen + 0x00d8, 0xfffffaff);
	t->row = 10;
	put(t, gen + 0x2068, 0x28);
	put(t, gen + 0x00e8, 0x28);
	put(t, gen + 0x2070, 0x000010f8);
	put(t, gen + 0x20b0, 0xfffff03f);
	put(t, gen + 0x2058, 0x000010f8);
	put(t, gen + 0x2098, 0xfffff03f);
	put(t, gen + 0x00d8, 0xfffff9ff);
	t->row = 11;
	put(t, s2m + 0x380, 0x1004);
	t->row = 12;
	put(t, m2s + 0x304, 0x00010041);
	put(t, m2s + 0x308, 0x00004181);
	put(t, s2m + 0x308, 0x00004181);
	put(t, m2s + 0x11c, 0x00010008);
	put(t, s2m + 0x11c, 0x00010008);
	t->row = 13;
	put(t, sdma + 0x1c, 1);
	put(t, sdma + 0x20, 1);
	put(t, sdma + 0x00, 1);
	if (t->c->p->generation == 3)
		put(t, sdma + 0x800, 0x26);
}

/* Rows 14 to 17: AXI errors, v2. */
static void init_axi(struct trace *t, uint64_t gen)
{
	static const uint32_t entry[] = { 0x04, 0x08, 0x0c, 0x24, 0x28, 0x2c };
	static const uint32_t group[] = { 0x2d00, 0x2e00, 0x2f00, 0x3000, 0x3100, 0x3200 };
	unsigned int i, k, q;

	t->row = 14;
	for (i = 0; i < 6; i++)
		for (k = 0; k < COUNT(entry); k++)
			put(t, gen + 0x2900 + i * 0x40 + entry[k], 0xf);
	t->row = 15;
	for (i = 0; i < 6; i++) {
		for (q = 0; q < 16; q++) {
			put(t, gen + 0x2b00 + i * 8, q * 8 + 7);
			put(t, gen + 0x2b04 + i * 8, 0x10);
		}
	}
	t->row = 16;
	for (i = 0; i < COUNT(group); i++) {
		put(t, gen + group[i] + 0x28, 0x28);
		put(t, gen + group[i] + 0x30, 0);
		put(t, gen + group[i] + 0x18, 0);
	}
	t->row = 17;
	put(t, gen + 0x2300, 0xffffffff);
}

/* Row 18: wrong ring ids are no errors, v3. */
static void init_ring_ids(struct trace *t, unsigned int engine, uint64_t udma)
{
	uint64_t gen = udma + GEN_AT;
	uint32_t value;

	t->row = 18;
	value = get(t, gen + 0x2010) | 0x20000;
	put(t, gen + 0x2010, value);
	put(t, gen + 0x2030, value);
	value = get(t, gen + 0x2050) | 0x800;
	put(t, gen + 0x2050, value);
	put(t, gen + 0x2070, value);
	modify(t, conf_fis(engine) + 0x90, 0, 0x800);
	modify(t, conf_fis(engine) + 0xd0, 0, 0x4);
	modify(t, udma + M2S_AT + 0x20c, 0, 0x20000);
	modify(t, udma + S2M_AT + 0x20c, 0, 0x800);
}

unsigned int conf_engine_init(struct conf *c, unsigned int engine, bool first, unsigned int last,
			      struct conf_access *access, unsigned int room)
{
	struct trace t = { .c = c, .access = access, .room = room, .last = last };
	uint64_t udma = conf_udma(c, engine);

	init_datapath(&t, engine, udma, first);
	init_control(&t, engine, udma);
	if (c->p->generation == 2)
		init_axi(&t, udma + GEN_AT);
	else if (engine < 128)
		init_ring_ids(&t, engine, udma);
	return t.count;
}

static void reset(struct conf *c, uint32_t kind)
{
	conf_write(c, c->p->misc + 0x1ec, kind);
	conf_write(c, c->p->misc + 0x800, 1);
	conf_wait(c, c->p->misc + 0x1ec, 0xffffffff, 0, "RESET after the doorbell");
	conf_wait(c, c->p->misc + 0x808, 8, 0, "FW_STATUS busy after a reset");
}

void conf_device_reset(struct conf *c)
{
	reset(c, 1);
}

void conf_tpb_reset(struct conf *c, uint32_t map)
{
	conf_write(c, c->p->misc + 0x1d8, map);
	reset(c, 2);
}

unsigned int conf_probe(struct conf *c, struct conf_queue *h2t, uint32_t length)
{
	unsigned int n, e, engine, queue, count = 0;

	conf_true(c, conf_read(c, c->p->misc + 0x24) < 64, "routing id is below 64");
	conf_device_reset(c);
	for (n = 0; n < c->p->cores; n++) {
		for (e = 0; e < 16; e++)
			count += conf_engine_init(c, 16 * n + e, true, 18, NULL, 0);
		engine = conf_h2t(c, n, &queue);
		if (!queue)
			count += conf_engine_init(c, engine, true, 18, NULL, 0);
		conf_queue_open(c, &h2t[n], engine, queue, length);
		count += 15;
	}
	return count;
}
