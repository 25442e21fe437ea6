// SPDX-License-Identifier: BSD-2-Clause
/*
 * udma.md 6, 7, 8 and 13: descriptors, pairing, doorbells, ring ids, weakest behaviour.
 */
#include <stdio.h>
#include <string.h>
#include "conformance.h"

/* What most cases need: a queue, a source and a destination in host memory. */
struct bench {
	struct conf_queue queue;
	uint64_t src, dst;
	uint8_t *from, *to;
};

static void bench_open(struct conf *c, struct bench *b, size_t bytes)
{
	b->from = conf_host(c, bytes, &b->src);
	b->to = conf_host(c, bytes, &b->dst);
	conf_pattern(b->from, bytes, 7);
	conf_queue_open(c, &b->queue, 0, 0, 128);
}

static void expect_abort(struct conf *c, const struct bench *b, enum emu_complaint kind)
{
	conf_wait(c, b->queue.udma + M2S_AT + 0x200, 0x3333, 0x2222, "M2S state");
	conf_wait(c, b->queue.udma + S2M_AT + 0x200, 0x3333, 0x2222, "S2M state");
	conf_quiesce(c);
	conf_complaint(c, kind, 1);
}

/* Length of a packet, 0 meaning 64 KiB, for both directions. */
static void length(struct conf *c, const void *row)
{
	uint32_t len = NUM(row) ? NUM(row) : 65536;
	struct bench b;

	bench_open(c, &b, 65536 + 4096);
	conf_push(&b.queue, S2M, NUM(row), 0, b.dst);
	conf_push(&b.queue, M2S, NUM(row) | D_FIRST | D_LAST, META_PLAIN, b.src);
	conf_ring_both(&b.queue, 1);
	conf_finish(&b.queue, "one packet");
	conf_same(c, b.to, b.from, len, "destination");
	conf_is(c, b.to[len], 0, "byte behind the destination");
}

/* A reserved bit of word 0 or 1 is refused and moves nothing. */
struct reserved {
	int dir;
	uint32_t ctrl, meta;
	const char *name;
};

static const struct reserved reserved_rows[] = {
	{ M2S, 1u << 16, META_PLAIN, "M2S word 0 [23:16] zero" },
	{ M2S, 1u << 29, META_PLAIN, "M2S word 0 [29] zero" },
	{ M2S, 1u << 31, META_PLAIN, "M2S word 0 [31] zero" },
	{ M2S, 0, META_PLAIN | 1u << 2, "meta control [2] reserved" },
	{ M2S, 0, META_PLAIN | 1u << 27, "meta control [31:27] reserved" },
	{ S2M, 1u << 16, 0, "S2M word 0 rest zero" },
	{ S2M, 0, 0x1000, "S2M word 1 second-buffer pointer low zero" },
};

static void reserved(struct conf *c, const void *row)
{
	const struct reserved *r = row;
	struct bench b;

	bench_open(c, &b, 4096);
	conf_push(&b.queue, S2M, 64 | (r->dir == S2M ? r->ctrl : 0), r->dir == S2M ? r->meta : 0,
		  b.dst);
	conf_push(&b.queue, M2S, 64 | D_FIRST | D_LAST | (r->dir == M2S ? r->ctrl : 0),
		  r->dir == M2S ? r->meta : META_PLAIN, b.src);
	conf_ring_both(&b.queue, 1);
	expect_abort(c, &b, EMU_COMPLAINT_DESC_RESERVED);
	conf_is(c, b.to[0], 0, "destination of a descriptor with a reserved bit");
}

/* A valid word 0 (and 1) as the page observed it. */
struct word {
	uint32_t len, ctrl, meta;
	bool rx;
	const char *name;
};

static const struct word word_rows[] = {
	{ 4, 0x0d000004, META_PLAIN, false, "TX 4 bytes = 0x0D000004" },
	{ 65536, 0x0d000000, META_PLAIN, false, "TX 64 KiB = 0x0D000000" },
	{ 4096, 0x4d001000, META_PLAIN, false, "TX with DMB 4 KiB = 0x4D001000" },
	{ 4, 0x01000004, 0, true, "RX 4 bytes = 0x01000004" },
	{ 256, 0x0d000100, 0x01080003, false, "plain copy = 0x01080003" },
	{ 256, 0x0d000100, 0x05080003, false, "copy with write barrier = 0x05080003" },
};

static void word(struct conf *c, const void *row)
{
	const struct word *w = row;
	struct conf_desc tx = { .ctrl = 0x0d000000 | (w->len & 0xffff), .meta = META_PLAIN };
	struct conf_desc rx = { .ctrl = 0x01000000 | (w->len & 0xffff) };
	struct bench b;

	bench_open(c, &b, 65536);
	if (w->rx)
		rx.ctrl = w->ctrl;
	else
		tx = (struct conf_desc){ .ctrl = w->ctrl, .meta = w->meta };
	tx.addr = b.src;
	rx.addr = b.dst;
	b.queue.desc[M2S][0] = tx;
	b.queue.desc[S2M][0] = rx;
	conf_ring_both(&b.queue, 1);
	conf_wait(c, conf_q(&b.queue, S2M, 0x34), 0xffffffff, 1 | 1u << 30, "S2M head");
	conf_same(c, b.to, b.from, w->len, "destination");
}

/* Words 2 and 3 hold all 64 bits of an address, little-endian. */
static void address(struct conf *c, const void *row)
{
	uint64_t hbm = c->p->hbm[c->p->stacks - 1] + c->p->hbm_size - 4096;
	uint8_t *memory = conf_hbm(c, c->p->stacks - 1, c->p->hbm_size - 4096), *raw;
	struct bench b;
	unsigned int i;

	bench_open(c, &b, 4096);
	memset(memory, 0, 4096);
	conf_packet(&b.queue, NUM(row) == S2M ? hbm : b.dst, NUM(row) == S2M ? b.src : hbm, 4096);
	conf_pattern(NUM(row) == S2M ? b.from : memory, 4096, 9);
	raw = (uint8_t *)&b.queue.desc[NUM(row)][0];
	for (i = 0; i < 8; i++)
		conf_is(c, raw[8 + i], (uint8_t)(hbm >> 8 * i), "byte %u of the descriptor", 8 + i);
	conf_ring_both(&b.queue, 1);
	conf_finish(&b.queue, "address in the last stack");
	conf_same(c, NUM(row) == S2M ? memory : b.to, NUM(row) == S2M ? b.from : memory, 4096,
		  "destination");
}

static void ring_id_field(struct conf *c, const void *row)
{
	struct bench b;
	unsigned int i;

	bench_open(c, &b, 4096);
	for (i = 0; i < 128 * 5; i++) {
		conf_packet(&b.queue, b.dst, b.src, 4);
		if (i / 128 == 4 && NUM(row) == M2S)
			conf_is(c, b.queue.desc[M2S][i % 128].ctrl >> 24 & 3, 1,
				"ring id of pass 5");
		conf_ring_both(&b.queue, 1);
		if (i % 64 == 63)
			conf_finish(&b.queue, "64 packets");
	}
	conf_reg(c, conf_q(&b.queue, (int)NUM(row), 0x34), 0 | 2u << 30, "head after 5 passes");
}

/* FIRST or LAST missing or doubled. */
struct framing {
	uint32_t first, second; /* flags of two descriptors */
	uint32_t cause;		/* of group A */
	const char *name;
};

static const struct framing framing_rows[] = {
	{ D_LAST, 0, 1u << 15, "M2S word 0 [26] FIRST missing is bad FIRST" },
	{ D_FIRST, D_FIRST | D_LAST, 1u << 16, "M2S word 0 [27] LAST missing is bad LAST" },
};

static void framing(struct conf *c, const void *row)
{
	const struct framing *f = row;
	struct bench b;

	bench_open(c, &b, 4096);
	conf_push(&b.queue, S2M, 128, 0, b.dst);
	conf_push(&b.queue, M2S, 64 | f->first, META_PLAIN, b.src);
	conf_push(&b.queue, M2S, 64 | f->second, META_PLAIN, b.src + 64);
	conf_ring(&b.queue, S2M, 1);
	conf_ring(&b.queue, M2S, 2);
	expect_abort(c, &b, EMU_COMPLAINT_DESC_RESERVED);
	conf_reg(c, b.queue.udma + GEN_AT + 0x2000, f->cause, "group A cause");
	conf_is(c, b.to[64], 0, "second half of the destination");
}

/* Interrupt-on-completion is never set by the vendor's driver; without a vector unmasked it sends
 * nothing and the copy is done. */
static void interrupt_bit(struct conf *c, const void *row)
{
	struct bench b;

	bench_open(c, &b, 4096);
	conf_push(&b.queue, S2M, 4096 | (NUM(row) == S2M ? 1u << 28 : 0), 0, b.dst);
	conf_push(&b.queue, M2S, 4096 | D_FIRST | D_LAST | (NUM(row) == M2S ? 1u << 28 : 0),
		  META_PLAIN, b.src);
	conf_ring_both(&b.queue, 1);
	conf_finish(&b.queue, "packet with the interrupt bit");
	conf_same(c, b.to, b.from, 4096, "destination");
	conf_is(c, __atomic_load_n(&c->interrupts, __ATOMIC_RELAXED), 0, "messages sent");
}

/* DMB: what follows sees what went before. */
static void dmb(struct conf *c, const void *row)
{
	const uint64_t hbm = c->p->hbm[0] + 0x4000000;
	struct bench b;

	(void)row;
	bench_open(c, &b, 65536);
	memset(conf_hbm(c, 0, 0x4000000), 0, 65536);
	conf_push(&b.queue, S2M, 0, 0, hbm);
	conf_push(&b.queue, M2S, 0 | D_FIRST | D_LAST | D_DMB, META_PLAIN, b.src);
	conf_packet(&b.queue, b.dst, hbm, 65536);
	conf_ring_both(&b.queue, 2);
	conf_finish(&b.queue, "write and read back with DMB between");
	conf_same(c, b.to, b.from, 65536, "data read back behind DMB");
}

/* Meta control bit by bit: last, first, copy and operation make the plain copy; another operation
 * does not run as one. */
struct meta {
	uint32_t value;
	bool copies;
	const char *name;
};

static const struct meta meta_rows[] = {
	{ META_PLAIN, true, "0 last block, 1 first block, 19 copy source data, 25:23 operation 2" },
	{ META_WRITE, true, "26 write barrier" },
};

static void meta(struct conf *c, const void *row)
{
	const struct meta *m = row;
	struct bench b;

	bench_open(c, &b, 4096);
	conf_push(&b.queue, S2M, 4096, 0, b.dst);
	conf_push(&b.queue, M2S, 4096 | D_FIRST | D_LAST, m->value, b.src);
	conf_ring_both(&b.queue, 1);
	conf_finish(&b.queue, "plain copy");
	conf_same(c, b.to, b.from, 4096, "destination");
}

/* One or several descriptors each way. */
static void pairing(struct conf *c, const void *row)
{
	struct bench b;
	unsigned int q;

	(void)row;
	for (q = 0; q < 16; q++) {
		char what[40];

		c->host_used = 0;
		bench_open(c, &b, 4096);
		memset(b.to, 0, 4096);
		conf_queue_open(c, &b.queue, 1, q, 32);
		snprintf(what, sizeof(what), "queue %u", q);
		conf_copy(&b.queue, b.dst, b.src, 4096, what);
		conf_same(c, b.to, b.from, 4096, what);
		conf_reg(c, conf_udma(c, 1) + 0x1034 + (q + 1) % 16 * 0x1000ull,
			 q < 15 ? 1u << 30 : 1 | 1u << 30, "M2S head of the next queue");
	}
}

static void gather(struct conf *c, const void *row)
{
	unsigned int n = NUM(row), i;
	struct bench b;

	bench_open(c, &b, 65536);
	if (n > 65)
		conf_write(c, b.queue.udma + M2S_AT + 0x304, 0x00010000 | n);
	for (i = 0; i < n; i++)
		conf_push(&b.queue, M2S, 64 | (i == 0 ? D_FIRST : 0) | (i == n - 1 ? D_LAST : 0),
			  META_PLAIN, b.src + i * 64);
	conf_push(&b.queue, S2M, n * 64, 0, b.dst);
	conf_ring(&b.queue, S2M, 1);
	conf_ring(&b.queue, M2S, n);
	conf_finish(&b.queue, "gathered packet");
	conf_same(c, b.to, b.from, n * 64, "gathered packet");
}

static void too_many(struct conf *c, const void *row)
{
	unsigned int limit = NUM(row), i;
	struct bench b;

	bench_open(c, &b, 65536);
	conf_write(c, b.queue.udma + M2S_AT + 0x304, 0x00010000 | limit);
	for (i = 0; i <= limit; i++)
		conf_push(&b.queue, M2S, 64 | (i == 0 ? D_FIRST : 0) | (i == limit ? D_LAST : 0),
			  META_PLAIN, b.src + i * 64);
	conf_push(&b.queue, S2M, (limit + 1) * 64, 0, b.dst);
	conf_ring(&b.queue, S2M, 1);
	conf_ring(&b.queue, M2S, limit + 1);
	expect_abort(c, &b, EMU_COMPLAINT_DESC_LENGTH);
	conf_reg(c, b.queue.udma + GEN_AT + 0x2000, 1u << 14, "group A cause");
}

/* The programmed packet length ends a longer packet. */
static void too_long(struct conf *c, const void *row)
{
	struct bench b;

	(void)row;
	bench_open(c, &b, 65536);
	conf_write(c, b.queue.udma + M2S_AT + 0x254, 0x01000000 | 100);
	conf_push(&b.queue, M2S, 64 | D_FIRST, META_PLAIN, b.src);
	conf_push(&b.queue, M2S, 64 | D_LAST, META_PLAIN, b.src + 64);
	conf_push(&b.queue, S2M, 128, 0, b.dst);
	conf_ring(&b.queue, S2M, 1);
	conf_ring(&b.queue, M2S, 2);
	expect_abort(c, &b, EMU_COMPLAINT_DESC_LENGTH);
	conf_reg(c, b.queue.udma + GEN_AT + 0x2000, 1u << 13, "group A cause");
}

static void scatter(struct conf *c, const void *row)
{
	struct bench b;
	unsigned int i;

	(void)row;
	bench_open(c, &b, 4096);
	conf_push(&b.queue, M2S, 256 | D_FIRST, META_PLAIN, b.src);
	conf_push(&b.queue, M2S, 256 | D_LAST, META_PLAIN, b.src + 256);
	for (i = 0; i < 4; i++)
		conf_push(&b.queue, S2M, 128, 0, b.dst + i * 256);
	conf_ring(&b.queue, S2M, 4);
	conf_ring(&b.queue, M2S, 2);
	conf_finish(&b.queue, "scattered packet");
	for (i = 0; i < 4; i++)
		conf_same(c, b.to + i * 256, b.from + i * 128, 128, "part of a scattered packet");
}

/* More data than the S2M descriptors posted hold: it stops at the end of the buffer. */
static void m2s_longer(struct conf *c, const void *row)
{
	struct bench b;

	(void)row;
	bench_open(c, &b, 4096);
	conf_push(&b.queue, S2M, 64, 0, b.dst);
	conf_push(&b.queue, M2S, 128 | D_FIRST | D_LAST, META_PLAIN, b.src);
	conf_ring_both(&b.queue, 1);
	conf_wait(c, conf_q(&b.queue, S2M, 0x34), 0xffffff, 1, "S2M head");
	conf_quiesce(c);
	conf_is(c, b.to[64], 0, "byte beyond the destination");
	conf_reg(c, conf_q(&b.queue, M2S, 0x34), 1u << 30, "M2S head: not all of it is moved");
}

/* The packet ends inside an S2M descriptor: abort, and nothing beyond either buffer. */
static void m2s_shorter(struct conf *c, const void *row)
{
	struct bench b;

	(void)row;
	bench_open(c, &b, 4096);
	conf_push(&b.queue, S2M, 256, 0, b.dst);
	conf_push(&b.queue, M2S, 128 | D_FIRST | D_LAST, META_PLAIN, b.src);
	conf_ring_both(&b.queue, 1);
	expect_abort(c, &b, EMU_COMPLAINT_DESC_LENGTH);
	conf_is(c, b.to[128], 0, "byte beyond the source");
	conf_reg(c, b.queue.udma + GEN_AT + 0x2040, 1u << 24, "group B cause, length mismatch");
}

/* Doorbells. */
static void one_side(struct conf *c, const void *row)
{
	int first = (int)NUM(row);
	struct bench b;

	bench_open(c, &b, 4096);
	conf_packet(&b.queue, b.dst, b.src, 4096);
	conf_ring(&b.queue, first, 1);
	conf_quiesce(c);
	conf_is(c, b.to[0], 0, "destination after one doorbell");
	conf_reg(c, conf_q(&b.queue, first, 0x34), 1u << 30, "head after one doorbell");
	conf_ring(&b.queue, !first, 1);
	conf_finish(&b.queue, "both doorbells");
	conf_same(c, b.to, b.from, 4096, "destination after both doorbells");
}

static void s2m_ahead(struct conf *c, const void *row)
{
	struct bench b;

	(void)row;
	bench_open(c, &b, 4096);
	conf_packet(&b.queue, b.dst, b.src, 64);
	conf_push(&b.queue, S2M, 64, 0, b.dst + 64);
	conf_ring(&b.queue, S2M, 2);
	conf_ring(&b.queue, M2S, 1);
	conf_wait(c, conf_q(&b.queue, M2S, 0x34), 0xffffff, 1, "M2S head");
	conf_quiesce(c);
	conf_reg(c, conf_q(&b.queue, S2M, 0x34), 1 | 1u << 30, "S2M head: one is left");
	conf_reg(c, conf_q(&b.queue, S2M, 0x3c), 2 | 1u << 30, "S2M tail");
	conf_same(c, b.to, b.from, 64, "destination");
}

static void tail_wraps(struct conf *c, const void *row)
{
	struct conf_queue queue;

	conf_queue_open(c, &queue, 0, 0, 32);
	conf_ring(&queue, (int)NUM(row), 31);
	conf_reg(c, conf_q(&queue, (int)NUM(row), 0x3c), 31 | 1u << 30, "tail after 31 of 32");
	conf_ring(&queue, (int)NUM(row), 1);
	conf_reg(c, conf_q(&queue, (int)NUM(row), 0x3c), 0 | 2u << 30, "tail after 32 of 32");
}

static void doorbell_returns(struct conf *c, const void *row)
{
	struct bench b;
	unsigned int i;

	(void)row;
	bench_open(c, &b, 65536);
	for (i = 0; i < 128; i++)
		conf_packet(&b.queue, b.dst, b.src, 65536);
	conf_ring_both(&b.queue, 128);
	conf_finish(&b.queue, "whole ring in one doorbell");
	conf_same(c, b.to, b.from, 65536, "destination");
}

static void doorbell_too_many(struct conf *c, const void *row)
{
	struct conf_queue queue;

	conf_queue_open(c, &queue, 0, 0, 32);
	conf_ring(&queue, (int)NUM(row), 33);
	conf_complaint(c, EMU_COMPLAINT_DOORBELL_OVERRUN, 1);
	conf_reg(c, conf_q(&queue, (int)NUM(row), 0x3c), 1u << 30, "tail after a refused doorbell");
}

/* A packet of the first pass with the given ring id on queue 0 of an engine after its init; what
 * is expected follows from the abort mask. */
static void ring_id_case(struct conf *c, unsigned int engine, unsigned int id, bool masked)
{
	const uint32_t a17 = 1u << 17, b11 = 1u << 11;
	uint64_t gen = conf_udma(c, engine) + GEN_AT, src, dst;
	struct conf_queue queue;
	uint32_t *from = conf_host(c, 4096, &src), *to = conf_host(c, 4096, &dst);
	int dir;

	conf_engine_init(c, engine, true, 18, NULL, 0);
	conf_queue_open(c, &queue, engine, 0, 32);
	*from = 0x1d1d1d1d;
	conf_packet(&queue, dst, src, 4096);
	for (dir = M2S; dir <= S2M; dir++)
		queue.desc[dir][0].ctrl = (queue.desc[dir][0].ctrl & ~(3u << 24)) | id << 24;
	conf_ring_both(&queue, 1);
	if (id != 1 && !masked) {
		conf_wait(c, conf_udma(c, engine) + 0x200, ~0u, 0x2222, "M2S state");
		conf_quiesce(c);
		conf_reg(c, gen + 0x2000, a17, "cause of group A");
		conf_is(c, *to, 0, "destination");
		conf_complaint(c, EMU_COMPLAINT_DESC_RESERVED, 1);
		return;
	}
	conf_finish(&queue, "descriptor");
	conf_same(c, to, from, 4096, "destination");
	conf_quiesce(c);
	conf_reg(c, gen + 0x2000, id == 1 ? 0 : a17, "cause of group A");
	conf_reg(c, gen + 0x2040, id == 1 ? 0 : b11, "cause of group B");
}

/* Where engine init masks the error it is latched and the descriptor executed. */
static void ring_id_of_a_core(struct conf *c, const void *row)
{
	ring_id_case(c, 0, NUM(row), c->p->generation == 3);
}

static void ring_id_of_host_copies(struct conf *c, const void *row)
{
	ring_id_case(c, c->p->engines - 1, NUM(row), false);
}

static void ring_id_sequence(struct conf *c, const void *row)
{
	static const uint32_t ids[6] = { 1, 2, 3, 0, 1, 2 };
	struct bench b;
	unsigned int pass, i;

	(void)row;
	bench_open(c, &b, 4096);
	for (pass = 0; pass < 6; pass++) {
		conf_reg(c, conf_q(&b.queue, S2M, 0x34), ids[pass] << 30, "head at pass %u", pass);
		for (i = 0; i < 128; i++) {
			conf_packet(&b.queue, b.dst, b.src, 4);
			conf_is(c, b.queue.desc[M2S][i].ctrl >> 24 & 3, ids[pass],
				"ring id of the descriptors of pass %u", pass);
		}
		conf_ring_both(&b.queue, 128);
		conf_finish(&b.queue, "a pass");
	}
}

static void ring_id_independent(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst, m2s, s2m;
	void *m2s_ring, *s2m_ring;
	unsigned int i;

	(void)row;
	conf_host(c, 4, &src);
	conf_host(c, 4, &dst);
	m2s_ring = conf_host(c, 32 * 16, &m2s);
	s2m_ring = conf_host(c, 64 * 16, &s2m);
	conf_queue_place(c, &queue, 0, 0, 32, 64, m2s_ring, m2s, s2m_ring, s2m);
	for (i = 0; i < 64; i++)
		conf_copy(&queue, dst, src, 4, "rings of 32 and 64");
	conf_reg(c, conf_q(&queue, M2S, 0x34), 3u << 30, "M2S head, two passes");
	conf_reg(c, conf_q(&queue, S2M, 0x34), 2u << 30, "S2M head, one pass");
}

/* 13: weakest behaviour. */
static void active(struct conf *c, const void *row)
{
	struct conf_queue queue;

	(void)row;
	conf_engine_init(c, 0, true, 18, NULL, 0);
	conf_quiesce(c);
	conf_write(c, conf_udma(c, 0) + 0x1000 + 0x38, 1);
	conf_complaint(c, EMU_COMPLAINT_DOORBELL_DISABLED, 1);
	conf_reg(c, conf_udma(c, 0) + 0x1000 + 0x3c, 1u << 30, "tail of a queue of length 0");
	conf_queue_open(c, &queue, 0, 0, 32);
	conf_write(c, conf_q(&queue, M2S, 0x20), 0x03030000);
	conf_quiesce(c);
	conf_reg(c, conf_q(&queue, M2S, 0x34), 1u << 30, "head after enabling with head = tail");
}

static void in_order(struct conf *c, const void *row)
{
	struct bench b;
	unsigned int i;

	(void)row;
	bench_open(c, &b, 65536);
	for (i = 0; i < 128; i++)
		conf_packet(&b.queue, i % 2 ? b.dst : b.dst + 4, i % 2 ? b.dst + 4 : b.src + i * 4,
			    4);
	conf_ring_both(&b.queue, 128);
	conf_finish(&b.queue, "chain");
	conf_same(c, b.to, b.from + 126 * 4, 4, "end of a chain of copies");
}

static void reads(struct conf *c, const void *row)
{
	struct bench b;

	(void)row;
	bench_open(c, &b, 4096);
	conf_copy(&b.queue, b.dst, b.src, 4, "one copy");
	conf_reg(c, conf_q(&b.queue, M2S, 0x34), 1 | 1u << 30, "M2S head");
	conf_reg(c, conf_q(&b.queue, M2S, 0x3c), 1 | 1u << 30, "M2S tail");
	conf_reg(c, b.queue.udma + 0x200, 0x1111, "M2S state with a queue on");
	conf_reg(c, conf_udma(c, 1) + 0x200, 0, "M2S state of an engine never used");
}

static void bad_address(struct conf *c, const void *row)
{
	uint64_t nowhere = c->p->hbm[0] + c->p->hbm_size, host;
	uint8_t *to = conf_host(c, 4, &host);

	if (NUM(row) == M2S)
		conf_dma_refused(c, 0, host, nowhere, "source that is nothing");
	else
		conf_dma_refused(c, 0, nowhere, host, "destination that is nothing");
	conf_is(c, to[0], 0, "host memory of a refused copy");
	conf_true(c, (conf_read(c, conf_udma(c, 0) + GEN_AT + (NUM(row) ? 0x2040 : 0x2000))) != 0,
		  "the error is latched");
}

/* Ring memory is left alone without a doorbell, whatever is written there. */
static void no_doorbell(struct conf *c, const void *row)
{
	struct bench b;

	(void)row;
	bench_open(c, &b, 4096);
	conf_packet(&b.queue, b.dst, b.src, 4096);
	conf_write(c, conf_q(&b.queue, M2S, 0x20), 0x03030000);
	conf_write(c, conf_q(&b.queue, S2M, 0x20), 0x03030000);
	conf_device_reset(c);
	conf_quiesce(c);
	conf_is(c, b.to[0], 0, "destination without a doorbell");
	conf_reg(c, conf_q(&b.queue, M2S, 0x34), 1u << 30, "head without a doorbell");
}

static void storage(struct conf *c, const void *row)
{
	struct conf_access access[400];
	unsigned int count, i;

	(void)row;
	count = conf_engine_init(c, 0, true, 7, access, 400);
	for (i = 0; i < count; i++)
		if (!access[i].read)
			conf_reg(c, access[i].bar0, access[i].value, "engine 0 register");
}

static void add_descriptors(struct conf_list *list)
{
	unsigned int i;

	conf_case(list, ALL, length, ROW(4), "udma.md 6/m2s", "word 0 [15:0] length, 4 bytes");
	conf_case(list, ALL, length, ROW(65535), "udma.md 6/m2s",
		  "word 0 [15:0] length, 65535 bytes");
	conf_case(list, ALL, length, ROW(0), "udma.md 6/m2s", "word 0 [15:0] length 0 is 64 KiB");
	conf_case(list, ALL, ring_id_field, ROW(M2S), "udma.md 6/m2s", "word 0 [25:24] ring id");
	conf_case(list, ALL, ring_id_field, ROW(S2M), "udma.md 6/s2m", "word 0 [25:24] ring id");
	for (i = 0; i < COUNT(framing_rows); i++)
		conf_case(list, ALL, framing, &framing_rows[i], "udma.md 6/m2s", "%s",
			  framing_rows[i].name);
	conf_case(list, ALL, interrupt_bit, ROW(M2S), "udma.md 6/m2s",
		  "word 0 [28] interrupt on completion");
	conf_case(list, ALL, interrupt_bit, ROW(S2M), "udma.md 6/s2m", "word 0 [28] interrupt");
	conf_case(list, ALL, dmb, NULL, "udma.md 6/m2s", "word 0 [30] DMB");
	conf_case(list, ALL, address, ROW(M2S), "udma.md 6/m2s",
		  "words 2, 3 source device address");
	conf_case(list, ALL, address, ROW(S2M), "udma.md 6/s2m",
		  "words 2, 3 destination device address");
	for (i = 0; i < COUNT(reserved_rows); i++)
		conf_case(list, ALL, reserved, &reserved_rows[i],
			  reserved_rows[i].dir == S2M		? "udma.md 6/s2m"
			  : reserved_rows[i].meta != META_PLAIN ? "udma.md 6/meta-control"
								: "udma.md 6/m2s",
			  "%s", reserved_rows[i].name);
	for (i = 0; i < COUNT(meta_rows); i++)
		conf_case(list, ALL, meta, &meta_rows[i], "udma.md 6/meta-control", "%s",
			  meta_rows[i].name);
	for (i = 0; i < COUNT(word_rows); i++)
		conf_case(list, ALL, word, &word_rows[i], "udma.md 6/meta-control", "%s",
			  word_rows[i].name);
	conf_case(list, ALL, pairing, NULL, "udma.md 6/pairing-rules",
		  "queue q of M2S feeds queue q of S2M");
	conf_case(list, ALL, gather, ROW(1), "udma.md 6/pairing-rules",
		  "one M2S with one S2M descriptor");
	conf_case(list, ALL, gather, ROW(65), "udma.md 6/pairing-rules",
		  "65 M2S descriptors in a packet");
	conf_case(list, ALL, gather, ROW(128), "udma.md 6/pairing-rules",
		  "128 M2S descriptors, the hardware maximum, when programmed");
	conf_case(list, ALL, too_many, ROW(65), "udma.md 6/pairing-rules",
		  "66 M2S descriptors with the limit 65");
	conf_case(list, ALL, too_many, ROW(8), "udma.md 6/pairing-rules",
		  "the limit is the one programmed");
	conf_case(list, ALL, too_long, NULL, "udma.md 6/pairing-rules",
		  "packet longer than the programmed limit");
	conf_case(list, ALL, scatter, NULL, "udma.md 6/pairing-rules",
		  "gather up to LAST, scatter into several S2M");
	conf_case(list, ALL, m2s_longer, NULL, "udma.md 6/pairing-rules",
		  "M2S longer than S2M: nothing beyond the buffer");
	conf_case(list, ALL, m2s_shorter, NULL, "udma.md 6/pairing-rules",
		  "M2S shorter than S2M: abort");
}

void conf_udma_rings(struct conf_list *list)
{
	unsigned int i;

	add_descriptors(list);
	conf_case(list, ALL, one_side, ROW(S2M), "udma.md 7",
		  "S2M rung first, starts when both have work");
	conf_case(list, ALL, one_side, ROW(M2S), "udma.md 7",
		  "M2S rung first, starts when both have work");
	conf_case(list, ALL, s2m_ahead, NULL, "udma.md 7", "user queues post S2M without M2S");
	conf_case(list, ALL, tail_wraps, ROW(M2S), "udma.md 7",
		  "M2S tail = (tail + n) mod length, ring id on wrap");
	conf_case(list, ALL, tail_wraps, ROW(S2M), "udma.md 7",
		  "S2M tail = (tail + n) mod length, ring id on wrap");
	conf_case(list, ALL, doorbell_returns, NULL, "udma.md 7",
		  "n = ring length in one doorbell");
	conf_case(list, ALL, doorbell_too_many, ROW(M2S), "udma.md 7",
		  "M2S n above ring length is a mistake");
	conf_case(list, ALL, doorbell_too_many, ROW(S2M), "udma.md 7",
		  "S2M n above ring length is a mistake");
	conf_case(list, ALL, ring_id_sequence, NULL, "udma.md 8", "1, 2, 3, 0, 1 by pass");
	conf_case(list, ALL, ring_id_independent, NULL, "udma.md 8",
		  "M2S and S2M keep independent counters");
	for (i = 0; i < 4; i++) {
		conf_case(list, ALL, ring_id_of_a_core, ROW(i), "udma.md 8",
			  "field %u in the first pass, engine of a core", i);
		conf_case(list, ALL, ring_id_of_host_copies, ROW(i), "udma.md 8",
			  "field %u in the first pass, host copy engine", i);
	}
	conf_case(list, ALL, storage, NULL, "udma.md 13", "1 registers are stored");
	conf_case(list, ALL, active, NULL, "udma.md 13",
		  "2 queue active iff both enable bits and length");
	conf_case(list, ALL, in_order, NULL, "udma.md 13", "3 doorbell: in order, heads advance");
	conf_case(list, ALL, reads, NULL, "udma.md 13", "5 head, tail and state reads");
	conf_case(list, ALL, bad_address, ROW(M2S), "udma.md 13",
		  "6 bad source: state 2, engine stops");
	conf_case(list, ALL, bad_address, ROW(S2M), "udma.md 13",
		  "6 bad destination: state 2, engine stops");
	conf_case(list, ALL, no_doorbell, NULL, "udma.md 13",
		  "7 ring memory untouched without doorbell");
}
