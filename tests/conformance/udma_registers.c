// SPDX-License-Identifier: BSD-2-Clause
/*
 * udma.md 1 and 2.1 to 2.7: blocks and registers of a DMA engine, in every engine of the product.
 */
#include "conformance.h"

enum block {
	IN_M2S,
	IN_S2M,
	IN_GEN,
	IN_GENX,
	IN_SDMA,
};

/* Row of a plain register: kept as written; the values are those of the engine init, 0 where the
 * driver does not touch it. */
struct plain {
	enum block block;
	uint32_t offset;
	const char *name;
	uint32_t v2, v3;
};

static const struct plain m2s_rows[] = {
	{ IN_M2S, 0x118, "AXI data-read cfg", 0x00010008, 0x00010008 },
	{ IN_M2S, 0x11c, "AXI descriptor-read cfg 3", 0x00010008, 0x00010008 },
	{ IN_M2S, 0x124, "AXI outstanding cfg", 0x0000086f, 0x20808080 },
	{ IN_M2S, 0x20c, "error-log mask", 0x00020000, 0x00020000 },
	{ IN_M2S, 0x254, "packet length cfg", 0x010fffff, 0x010fffff },
	{ IN_M2S, 0x258, "stream cfg", 0x00000102, 0x00000102 },
	{ IN_M2S, 0x304, "prefetch cfg 2", 0x00010041, 0x00010041 },
	{ IN_M2S, 0x308, "prefetch cfg 3", 0x00004181, 0x00004181 },
	{ IN_M2S, 0x310, "data FIFO cfg", 0x01000400, 0x010008f8 },
	{ IN_M2S, 0x408, "application-ack timeout", 0, 0 },
};

static const struct plain s2m_rows[] = {
	{ IN_S2M, 0x11c, "AXI descriptor-read cfg 3", 0x00010008, 0x00010008 },
	{ IN_S2M, 0x124, "AXI outstanding read cfg", 0x00400008, 0x00400080 },
	{ IN_S2M, 0x128, "AXI outstanding write cfg", 0x40804080, 0x40804080 },
	{ IN_S2M, 0x20c, "error-log mask", 0x00000800, 0x00000800 },
	{ IN_S2M, 0x250, "stream cfg", 0, 0 },
	{ IN_S2M, 0x308, "prefetch cfg 3", 0x00004181, 0x00004181 },
	{ IN_S2M, 0x380, "completion cfg 1c", 0x00001004, 0x00001004 },
	{ IN_S2M, 0x38c, "application-ack timeout", 0, 0 },
};

static const struct plain gen_rows[] = {
	{ IN_GEN, 0x2300, "AXI timeout", 0x05f5e100, 0x05f5e100 },
	{ IN_GEN, 0x3464, "spare zeroes1", 0, 0 },
	{ IN_GEN, 0x3468, "spare ones0", 0xffffffff, 0xffffffff },
	{ IN_GEN, 0x346c, "spare ones1", 0xffffffff, 0xffffffff },
};

static const struct plain sdma_rows[] = {
	{ IN_SDMA, 0x00, "event acceleration", 1, 1 },
	{ IN_SDMA, 0x1c, "read re-order buffer", 1, 1 },
	{ IN_SDMA, 0x20, "write re-order buffer", 1, 1 },
};

static uint64_t block_at(struct conf *c, unsigned int engine, enum block block)
{
	switch (block) {
	case IN_M2S:
		return conf_udma(c, engine) + M2S_AT;
	case IN_S2M:
		return conf_udma(c, engine) + S2M_AT;
	case IN_GEN:
		return conf_udma(c, engine) + GEN_AT;
	case IN_GENX:
		return conf_udma(c, engine) + GENX_AT;
	case IN_SDMA:
		break;
	}
	return conf_sdma(c, engine);
}

static void plain_register(struct conf *c, const void *row)
{
	const struct plain *p = row;
	unsigned int e;

	for (e = 0; e < c->p->engines; e++)
		conf_storage(c, block_at(c, e, p->block) + p->offset,
			     c->p->generation == 3 ? p->v3 : p->v2, "engine %u %s", e, p->name);
}

static void sdma_broadcast_group(struct conf *c, const void *row)
{
	unsigned int e;

	(void)row;
	for (e = 0; e < 32; e++)
		conf_storage(c, conf_sdma(c, e) + 0x100, 0xffffu >> e % 16,
			     "engine %u broadcast group", e);
}

static void sdma_broadcast_last(struct conf *c, const void *row)
{
	unsigned int e;

	(void)row;
	for (e = 0; e < 32; e++)
		conf_storage(c, conf_sdma(c, e) + 0x104, 0x8249 >> e % 16 & 1 ? 0xffff : 0,
			     "engine %u broadcast last node", e); /* 0, 3, 6, 9, 15 */
}

static void sdma_beats(struct conf *c, const void *row)
{
	unsigned int e;

	(void)row;
	for (e = 0; e < c->p->engines; e++)
		conf_storage(c, conf_sdma(c, e) + 0x800, 0x26, "engine %u transmit beats", e);
}

/* The NOTIFIC block of an engine: base, size of its slot 0. */
static void sdma_notific(struct conf *c, const void *row)
{
	unsigned int e;

	(void)row;
	for (e = 0; e < conf_owned(c); e++) {
		uint64_t slot = conf_sdma(c, e) + 0x1000 + 0x100;

		conf_reg(c, slot, 0, "engine %u NQ base low after reset", e);
		conf_reg(c, slot + 8, 0, "engine %u NQ size after reset", e);
		conf_store(c, slot + 4, 0x1000, "engine %u NQ base high", e);
		conf_store(c, slot, 0x00200000, "engine %u NQ base low", e);
		conf_store(c, slot + 8, 0x1000, "engine %u NQ size", e);
		conf_store(c, slot + 8, 0, "engine %u NQ size back to 0", e);
	}
}

static void fis_mask(struct conf *c, const void *row)
{
	uint32_t offset = NUM(row), bit = offset == 0x90 ? 1u << 11 : 1u << 2;
	unsigned int e;

	for (e = 0; e < 128; e++) {
		uint64_t at = conf_fis(e) + offset;
		uint32_t before = conf_read(c, at);

		conf_store(c, at, before | bit, "engine %u FIS mask 0x%x", e, offset);
		conf_store(c, at, before & ~bit, "engine %u FIS mask 0x%x cleared", e, offset);
	}
}

static void state(struct conf *c, const void *row)
{
	uint32_t half = NUM(row);
	unsigned int e;

	for (e = 0; e < c->p->engines; e++) {
		uint64_t at = conf_udma(c, e) + half;

		conf_reg(c, at + 0x200, 0, "engine %u state after power-up (idle)", e);
		conf_read_only(c, at + 0x200, "engine %u state", e);
		conf_write(c, at + 0x204, 1);
		conf_reg(c, at + 0x200, 0x1111, "engine %u state after change to normal", e);
		conf_write(c, at + 0x204, 4);
		conf_reg(c, at + 0x200, 0x2222, "engine %u state after change to abort", e);
		conf_write(c, at + 0x204, 2);
		conf_reg(c, at + 0x200, 0, "engine %u state after change to disable", e);
	}
}

/* [0] normal, [1] disable, [2] abort: and what each does to a queue that has work. */
static void change_state(struct conf *c, const void *row)
{
	uint64_t at = conf_udma(c, 0) + NUM(row) + 0x204, src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);
	struct conf_queue queue;

	*from = 0x11223344;
	conf_queue_open(c, &queue, 0, 0, 32);
	conf_write(c, at, 2);
	conf_packet(&queue, dst, src, 4);
	conf_ring(&queue, NUM(row) == M2S_AT ? S2M : M2S, 1);
	conf_quiesce(c);
	conf_is(c, *to, 0, "engine 0 disabled: destination");
	conf_write(c, at, 1);
	conf_ring(&queue, NUM(row) == M2S_AT ? M2S : S2M, 1);
	conf_finish(&queue, "engine 0 normal again");
	conf_is(c, *to, 0x11223344, "engine 0 normal: destination");
	conf_write(c, at, 4);
	conf_packet(&queue, dst, src, 4);
	*from = 0x55667788;
	conf_ring_both(&queue, 1);
	conf_quiesce(c);
	conf_is(c, *to, 0x11223344, "engine 0 in abort: destination");
}

static void version(struct conf *c, const void *row)
{
	unsigned int e;

	(void)row;
	for (e = 0; e < c->p->engines; e++) {
		conf_reg(c, conf_udma(c, e) + 0x604, 4, "engine %u DMA version", e);
		conf_read_only(c, conf_udma(c, e) + 0x604, "engine %u DMA version", e);
	}
}

/* Spare zeroes0: read, bit 0 cleared, written back; then heads are reported. */
static void spare_zeroes(struct conf *c, const void *row)
{
	unsigned int e;

	(void)row;
	for (e = 0; e < c->p->engines; e++) {
		uint64_t at = conf_udma(c, e) + GEN_AT + 0x3460;

		conf_reg(c, at, 0, "engine %u spare zeroes0 after power-up", e);
		conf_storage(c, at, 0xfffffffe, "engine %u spare zeroes0", e);
		conf_store(c, at, conf_read(c, at) & ~1u, "engine %u spare zeroes0", e);
	}
	conf_works(c, 0, 0, "heads are reported with bit 0 clear");
}

static void axi_detect(struct conf *c, const void *row)
{
	unsigned int e, k;

	for (e = 0; e < c->p->engines; e++)
		for (k = 0; k < 16; k++)
			conf_storage(c, conf_udma(c, e) + GEN_AT + 0x2900 + NUM(row) * 0x40 + k * 4,
				     0xf, "engine %u AXI error detection table %u entry %u", e,
				     NUM(row), k);
}

static void axi_control(struct conf *c, const void *row)
{
	unsigned int e, t;

	for (e = 0; e < c->p->engines; e++)
		for (t = 0; t < 6; t++)
			conf_storage(c, conf_udma(c, e) + GEN_AT + 0x2b00 + t * 8 + NUM(row),
				     NUM(row) ? 0x10 : 0x7f, "engine %u AXI error control table %u",
				     e, t);
}

static void axi_queue(struct conf *c, const void *row)
{
	unsigned int e, q;

	for (e = 0; e < c->p->engines; e++)
		for (q = 0; q < 16; q++)
			conf_storage(c, conf_udma(c, e) + GEN_AT + 0x2c00 + q * 12 + NUM(row), 0,
				     "engine %u AXI queue %u register %u", e, q, NUM(row) / 4);
}

static void axi_queue_status(struct conf *c, const void *row)
{
	unsigned int e, q;

	(void)row;
	for (e = 0; e < c->p->engines; e++) {
		for (q = 0; q < 16; q++) {
			uint64_t at = conf_udma(c, e) + GEN_AT + 0x2c00 + q * 12 + 4;

			conf_write(c, at, 5);
			conf_reg(c, at, 5, "engine %u AXI queue %u error status", e, q);
			conf_reg(c, at, 0, "engine %u AXI queue %u error status read again", e, q);
		}
	}
}

static void selector(struct conf *c, const void *row)
{
	unsigned int e, q;

	for (e = 0; e < c->p->engines; e++)
		for (q = 0; q < 16; q++)
			conf_storage(c, conf_udma(c, e) + GENX_AT + 0x400 + q * 0x40 + NUM(row),
				     0xffffffff, "engine %u queue %u selector +0x%x", e, q,
				     NUM(row));
}

/* A block is where the page puts it: a register of it keeps a value of its own. */
static void block_place(struct conf *c, const void *row)
{
	static const uint32_t reg[4] = { M2S_AT + 0x118, S2M_AT + 0x128, GEN_AT + 0x2300,
					 GENX_AT + 0x7cc };
	unsigned int e, i, k = NUM(row);

	for (e = 0; e < c->p->engines; e++)
		for (i = 0; i < 4; i++)
			conf_write(c, conf_udma(c, e) + reg[i], e * 4 + i + 1);
	for (e = 0; e < c->p->engines; e++)
		conf_reg(c, conf_udma(c, e) + reg[k], e * 4 + k + 1, "engine %u block at 0x%x", e,
			 reg[k] & ~0xfffu);
}

/* Queue q of a half at 0x1000 + q * 0x1000. */
static void queue_place(struct conf *c, const void *row)
{
	unsigned int e, q;

	for (e = 0; e < c->p->engines; e++)
		for (q = 0; q < 16; q++)
			conf_write(c, conf_udma(c, e) + NUM(row) + 0x1000 + q * 0x1000ull + 0x2c,
				   e * 16 + q);
	for (e = 0; e < c->p->engines; e++)
		for (q = 0; q < 16; q++)
			conf_reg(c, conf_udma(c, e) + NUM(row) + 0x1000 + q * 0x1000ull + 0x2c,
				 e * 16 + q, "engine %u queue %u ring base high", e, q);
}

static void add_plain(struct conf_list *list, const char *section, const struct plain *rows,
		      size_t count, const char *half)
{
	size_t i;

	for (i = 0; i < count; i++)
		conf_case(list, ALL, plain_register, &rows[i], section, "%s 0x%03x %s", half,
			  rows[i].offset, rows[i].name);
}

void conf_udma_registers(struct conf_list *list)
{
	static const char *const blocks[] = { "M2S at 0x00000", "S2M at 0x20000", "GEN at 0x38000",
					      "GENX at 0x3C000, ends at 0x3C800" };
	static const char *const selectors[] = { "tx selector", "rx selector 0", "rx selector 1",
						 "rx selector 2" };
	unsigned int i;

	for (i = 0; i < 4; i++)
		conf_case(list, ALL, block_place, ROW(i), "udma.md 1", "block %s", blocks[i]);
	conf_case(list, ALL, queue_place, ROW(M2S_AT), "udma.md 1",
		  "queue q of M2S at 0x1000 + q * 0x1000");
	conf_case(list, ALL, queue_place, ROW(S2M_AT), "udma.md 1",
		  "queue q of S2M at 0x21000 + q * 0x1000");
	add_plain(list, "udma.md 2.1", m2s_rows, COUNT(m2s_rows), "M2S");
	conf_case(list, ALL, state, ROW(M2S_AT), "udma.md 2.1", "M2S 0x200 state");
	conf_case(list, ALL, change_state, ROW(M2S_AT), "udma.md 2.1", "M2S 0x204 change state");
	conf_case(list, ALL, version, NULL, "udma.md 2.1", "M2S 0x604 DMA version");
	add_plain(list, "udma.md 2.2", s2m_rows, COUNT(s2m_rows), "S2M");
	conf_case(list, ALL, state, ROW(S2M_AT), "udma.md 2.2", "S2M 0x200 state");
	conf_case(list, ALL, change_state, ROW(S2M_AT), "udma.md 2.2", "S2M 0x204 change state");
	add_plain(list, "udma.md 2.4", gen_rows, COUNT(gen_rows), "GEN");
	for (i = 0; i < 7; i++)
		conf_case(list, ALL, axi_detect, ROW(i), "udma.md 2.4",
			  "GEN 0x%04x AXI error-detection table %u", 0x2900 + i * 0x40, i);
	conf_case(list, ALL, axi_control, ROW(0), "udma.md 2.4",
		  "GEN 0x2b00 AXI error-control address");
	conf_case(list, ALL, axi_control, ROW(4), "udma.md 2.4",
		  "GEN 0x2b04 AXI error-control data");
	conf_case(list, ALL, axi_queue, ROW(0), "udma.md 2.4",
		  "GEN 0x2c00 AXI queue state request");
	conf_case(list, ALL, axi_queue_status, NULL, "udma.md 2.4",
		  "GEN 0x2c04 AXI queue error status, read to clear");
	conf_case(list, ALL, axi_queue, ROW(8), "udma.md 2.4", "GEN 0x2c08 AXI queue cfg");
	conf_case(list, ALL, spare_zeroes, NULL, "udma.md 2.4",
		  "GEN 0x3460 spare zeroes0, bit 0 clear reports heads");
	for (i = 0; i < 4; i++)
		conf_case(list, ALL, selector, ROW(i * 4), "udma.md 2.5",
			  "GENX 0x400 + q * 0x40 + 0x%x %s", i * 4, selectors[i]);
	add_plain(list, "udma.md 2.6", sdma_rows, COUNT(sdma_rows), "SDMA");
	conf_case(list, V2, sdma_broadcast_group, NULL, "udma.md 2.6",
		  "SDMA 0x100 broadcast group");
	conf_case(list, V2, sdma_broadcast_last, NULL, "udma.md 2.6",
		  "SDMA 0x104 broadcast last node");
	conf_case(list, V3, sdma_beats, NULL, "udma.md 2.6",
		  "SDMA 0x800 transmit outstanding beats");
	conf_case(list, ALL, sdma_notific, NULL, "udma.md 2.6", "SDMA 0x1000 NOTIFIC block");
	conf_case(list, V3, fis_mask, ROW(0x90), "udma.md 2.7",
		  "FIS 0x90 mask of group 2, M2S wrong ring id");
	conf_case(list, V3, fis_mask, ROW(0xd0), "udma.md 2.7",
		  "FIS 0xd0 mask of group 3, S2M wrong ring id");
}
