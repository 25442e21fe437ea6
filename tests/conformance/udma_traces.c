// SPDX-License-Identifier: BSD-2-Clause
/*
 * udma.md 3, 4 and 5: engine reset, engine init, queue init.
 */
#include <string.h>
#include "conformance.h"

#define ACCESSES 400

/* A register that a write of the trace does not leave as written: mask clear works on the mask. */
static bool is_mask_clear(uint64_t gen)
{
	return gen == 0x00d8 || gen == 0x2018 || gen == 0x2058 || gen == 0x2098 ||
	       (gen >= 0x2d00 && gen < 0x3300 && (gen & 0xff) == 0x18);
}

/* The last write of the row to each register is what it reads; a mask holds what was left of it. */
static void row_check(struct conf *c, unsigned int engine, const struct conf_access *access,
		      unsigned int count, unsigned int row)
{
	uint64_t gen = conf_udma(c, engine) + GEN_AT;
	unsigned int i, k;

	for (i = 0; i < count; i++) {
		uint64_t at = access[i].bar0;
		uint32_t left = 0xffffffff;
		bool last = true;

		if (access[i].row != row || access[i].read)
			continue;
		for (k = 0; k < count; k++) {
			if (access[k].bar0 != at || access[k].read)
				continue;
			left &= access[k].value;
			last &= k <= i;
		}
		if (!last)
			continue;
		if (at >= gen && is_mask_clear(at - gen))
			conf_reg(c, at - 8, left, "engine %u, mask after init row %u", engine, row);
		else
			conf_reg(c, at, access[i].value, "engine %u after init row %u", engine,
				 row);
	}
}

static void init_row(struct conf *c, const void *row)
{
	struct conf_access access[ACCESSES];
	unsigned int e, count, seen = 0, i;

	for (e = 0; e < c->p->engines; e++) {
		memset(access, 0, sizeof(access));
		count = conf_engine_init(c, e, true, NUM(row), access, ACCESSES);
		row_check(c, e, access, count, NUM(row));
		for (i = 0; i < count; i++)
			seen += access[i].row == NUM(row);
	}
	conf_true(c, seen > 0, "row %u has accesses", NUM(row));
}

/* Queues are enabled before any ring exists: nothing happens, then and on later passes. */
static void init_queues(struct conf *c, const void *row)
{
	bool first = NUM(row) == 1;
	unsigned int e, q;

	for (e = 0; e < c->p->engines; e++)
		conf_engine_init(c, e, first, 2, NULL, 0);
	for (e = 0; e < c->p->engines; e++) {
		for (q = 0; q < 16; q++) {
			conf_reg(c, conf_udma(c, e) + 0x1020 + q * 0x1000ull,
				 first ? 0x00030000 : 0x03030000, "engine %u M2S queue %u cfg", e,
				 q);
			conf_reg(c, conf_udma(c, e) + 0x21020 + q * 0x1000ull,
				 first ? 0x00030000 : 0x03030000, "engine %u S2M queue %u cfg", e,
				 q);
		}
	}
}

static void init_count(struct conf *c, const void *row)
{
	const bool v3 = c->p->generation == 3;
	unsigned int e, i, reads, count;
	struct conf_access access[ACCESSES];

	(void)row;
	for (e = 0; e < c->p->engines; e++) {
		count = conf_engine_init(c, e, true, 18, access, ACCESSES);
		for (i = 0, reads = 0; i < count && i < ACCESSES; i++)
			reads += access[i].read;
		conf_is(c, count, v3 ? (e < 128 ? 146 : 132) : (e < 32 ? 380 : 378),
			"engine %u: accesses of the init trace", e);
		conf_is(c, reads, v3 && e < 128 ? 7 : 1, "engine %u: reads of the init trace", e);
	}
	conf_works(c, 0, 0, "after the init trace");
}

/* Once more over rings that are in use: nothing is lost. */
static void init_again(struct conf *c, const void *row)
{
	unsigned int engine = conf_owned(c);

	(void)row;
	conf_engine_init(c, engine, true, 18, NULL, 0);
	conf_works(c, engine, 0, "after the first init");
	conf_engine_init(c, engine, false, 18, NULL, 0);
	conf_works(c, engine, 0, "after a second init");
}

/* No write of change state is needed, from power-up or after a reset by the firmware. */
static void no_engine_reset(struct conf *c, const void *row)
{
	unsigned int e;

	if (NUM(row))
		conf_device_reset(c);
	for (e = 0; e < c->p->engines; e++)
		conf_works(c, e, e % 16, "queue programmed and rung, nothing else");
}

struct queue_step {
	unsigned int count; /* writes so far, M2S and then S2M */
	const char *name;
};

/* Writes of the queue init up to a step; then what the step is for holds. */
static void queue_step(struct conf *c, const void *row)
{
	unsigned int step = NUM(row) & 0xff, dir = NUM(row) >> 8, engine = conf_owned(c);
	struct conf_queue queue;
	uint64_t src, dst;

	conf_host(c, 4, &src);
	conf_host(c, 4, &dst);
	conf_queue_open(c, &queue, engine, 0, 64);
	conf_copy(&queue, dst, src, 4, "before the second queue init");
	switch (step) {
	case 1:
		conf_reg(c, conf_q(&queue, M2S, 0x74), 3, "rate-limiter mask");
		return;
	case 2:
		conf_write(c, conf_q(&queue, dir, 0x20), 0x03000000);
		conf_reg(c, conf_q(&queue, dir, 0x20), 0x03000000, "cfg, queue off");
		conf_ring(&queue, !dir, 1);
		conf_quiesce(c);
		conf_reg(c, conf_q(&queue, dir, 0x34), 1 | 1u << 30, "head of a queue that is off");
		return;
	case 3:
		conf_write(c, conf_q(&queue, dir, dir == M2S ? 0xb0 : 0x64), 0x100);
		conf_reg(c, conf_q(&queue, dir, 0x34), 1u << 30, "head after queue reset");
		conf_reg(c, conf_q(&queue, dir, 0x3c), 1u << 30, "tail after queue reset");
		return;
	case 4:
		conf_reg(c, conf_q(&queue, dir, 0x28), (uint32_t)queue.ring[dir], "ring base low");
		conf_reg(c, conf_q(&queue, dir, 0x2c), (uint32_t)(queue.ring[dir] >> 32),
			 "ring base high");
		conf_reg(c, conf_q(&queue, dir, 0x30), 64, "descriptor count");
		return;
	case 5:
		conf_reg(c, conf_q(&queue, dir, dir == M2S ? 0xa0 : 0x54), 0, "completion cfg");
		return;
	}
	conf_reg(c, conf_q(&queue, dir, 0x20), 0x03030000, "cfg, queue on");
	conf_works(c, engine, 0, "after the queue init");
}

static void ring_counts(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst), i;

	conf_queue_open(c, &queue, 0, 0, NUM(row));
	for (i = 1; i <= NUM(row) + 1; i++) {
		*from = i;
		conf_packet(&queue, dst, src, 4);
		conf_ring_both(&queue, 1);
		if (i % 16 == 0 || i > NUM(row))
			conf_finish(&queue, "once round the ring");
	}
	conf_is(c, *to, NUM(row) + 1, "last copy in a ring of %u", NUM(row));
}

static void ring_largest(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t dev;
	void *ring = conf_host(c, 4096, &dev);

	(void)row;
	conf_queue_place(c, &queue, 0, 0, 0xfffff0, 0xfffff0, ring, dev, ring, dev);
	conf_reg(c, conf_q(&queue, M2S, 0x30), 0xfffff0, "length of the largest ring");
}

static void ring_wrong(struct conf *c, const void *row)
{
	conf_write(c, conf_udma(c, 0) + 0x1030, NUM(row));
	conf_complaint(c, EMU_COMPLAINT_RING_SIZE, 1);
}

static void ring_align(struct conf *c, const void *row)
{
	(void)row;
	conf_write(c, conf_udma(c, 0) + 0x1028, 0x1080);
	conf_complaint(c, EMU_COMPLAINT_RING_ALIGN, 1);
	conf_works(c, 0, 0, "rings aligned to 256 bytes");
}

/* Ring base 0: there is no ring yet, and nothing is read. */
static void ring_none(struct conf *c, const void *row)
{
	struct conf_queue queue;

	(void)row;
	conf_queue_place(c, &queue, 0, 4, 64, 64, NULL, 0, NULL, 0);
	conf_quiesce(c);
	conf_reg(c, conf_q(&queue, M2S, 0x34), 1u << 30, "head of a queue without ring");
	conf_works(c, 0, 4, "the queue gets its ring later");
}

static void ring_lengths_differ(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst, m2s, s2m;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst), i;
	void *m2s_ring = conf_host(c, 48 * 16, &m2s), *s2m_ring = conf_host(c, 32 * 16, &s2m);

	(void)row;
	conf_queue_place(c, &queue, 0, 0, 48, 32, m2s_ring, m2s, s2m_ring, s2m);
	for (i = 1; i <= 100; i++) {
		*from = i;
		conf_copy(&queue, dst, src, 4, "rings of 48 and 32");
		conf_is(c, *to, i, "copy %u, rings of 48 and 32", i);
	}
}

/* Row: ring in HBM of stack n. */
static void ring_in_hbm(struct conf *c, const void *row)
{
	const uint64_t at = 0x3000000;
	struct conf_queue queue;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst), i;
	unsigned int h;

	(void)row;
	for (h = 0; h < c->p->stacks; h++) {
		conf_queue_place(c, &queue, h, 0, 32, 32, conf_hbm(c, h, at), c->p->hbm[h] + at,
				 conf_hbm(c, h, at + 0x1000), c->p->hbm[h] + at + 0x1000);
		for (i = 1; i <= 40; i++) {
			*from = h << 8 | i;
			conf_copy(&queue, dst, src, 4, "ring in HBM");
			conf_is(c, *to, h << 8 | i, "copy %u of a ring in HBM %u", i, h);
		}
	}
}

/* A pause is the cfg with bits 17:16 clear; work posted meanwhile is done when it is on again. */
static void pause_queue(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);

	(void)row;
	*from = 0x31415926;
	conf_queue_open(c, &queue, 0, 0, 32);
	conf_packet(&queue, dst, src, 4);
	conf_ring(&queue, S2M, 1);
	conf_write(c, conf_q(&queue, S2M, 0x20), 0x03000000);
	conf_ring(&queue, M2S, 1);
	conf_quiesce(c);
	conf_is(c, *to, 0, "destination while the queue pauses");
	conf_write(c, conf_q(&queue, S2M, 0x20), 0x03030000);
	conf_finish(&queue, "after the pause");
	conf_is(c, *to, 0x31415926, "destination after the pause");
}

void conf_udma_traces(struct conf_list *list)
{
	static const char *const init[] = {
		"broadcast group and last node",
		"queue cfg of all queues",
		"FIFO, outstanding, timeout, packet length, stream",
		"tx selectors",
		"data-read cfg, S2M ack timeout",
		"rx selectors",
		"S2M outstanding cfg",
		"spare zeroes0 bit 0 cleared",
		"secondary A and primary D",
		"secondary B and primary D",
		"S2M completion cfg 1c",
		"prefetch limits and bursts",
		"SDMA wrapper",
		"AXI error-detection tables",
		"AXI error-control tables",
		"AXI IOFIC groups",
		"AXI timeout all ones",
		"wrong ring id masked",
	};
	static const char *const queue[] = { "rate-limiter mask",   "queue off",      "queue reset",
					     "ring base and count", "completion cfg", "queue on" };
	unsigned int i;

	conf_case(list, ALL, no_engine_reset, ROW(0), "udma.md 3",
		  "all engines run without change-state write, from power-up");
	conf_case(list, ALL, no_engine_reset, ROW(1), "udma.md 3",
		  "all engines run without change-state write, after a device reset");
	for (i = 1; i <= COUNT(init); i++)
		conf_case(list,
			  i == 1 || (i >= 14 && i <= 17) ? V2
			  : i == 18			 ? V3
							 : ALL,
			  init_row, ROW(i), "udma.md 4", "row %u %s", i, init[i - 1]);
	conf_case(list, ALL, init_queues, ROW(1), "udma.md 4",
		  "row 2 value 0x00030000 the first time");
	conf_case(list, ALL, init_queues, ROW(2), "udma.md 4",
		  "row 2 value 0x03030000 on later re-init");
	conf_case(list, ALL, init_count, NULL, "udma.md 4", "accesses and reads per engine");
	conf_case(list, ALL, init_again, NULL, "udma.md 4", "init again over programmed rings");
	for (i = 1; i <= 6; i++) {
		conf_case(list, ALL, queue_step, ROW(i | M2S << 8), "udma.md 5", "row %u M2S %s", i,
			  queue[i - 1]);
		if (i > 1)
			conf_case(list, ALL, queue_step, ROW(i | S2M << 8), "udma.md 5",
				  "row %u S2M %s", i, queue[i - 1]);
	}
	conf_case(list, ALL, ring_counts, ROW(32), "udma.md 5", "smallest ring, 32 descriptors");
	conf_case(list, ALL, ring_counts, ROW(48), "udma.md 5",
		  "ring of a multiple of 16 that is no power of two");
	conf_case(list, ALL, ring_largest, NULL, "udma.md 5", "largest ring, 2^24-16 descriptors");
	conf_case(list, ALL, ring_wrong, ROW(16), "udma.md 5",
		  "fewer than 32 descriptors is a mistake");
	conf_case(list, ALL, ring_wrong, ROW(40), "udma.md 5",
		  "count not a multiple of 16 is a mistake");
	conf_case(list, ALL, ring_align, NULL, "udma.md 5", "base 256-byte aligned");
	conf_case(list, ALL, ring_none, NULL, "udma.md 5", "queue initialised with base 0");
	conf_case(list, ALL, ring_lengths_differ, NULL, "udma.md 5",
		  "TX and RX rings of different lengths");
	conf_case(list, ALL, ring_in_hbm, NULL, "udma.md 5", "ring base is an HBM address");
	conf_case(list, ALL, pause_queue, NULL, "udma.md 5", "pause is cfg with bits 17:16 clear");
}
