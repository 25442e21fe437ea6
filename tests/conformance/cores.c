// SPDX-License-Identifier: BSD-2-Clause
/*
 * cores-and-notifications.md 1, 2, 4 and 5: counts, ownership, semaphores, events, counters.
 */
#include <stdio.h>
#include "conformance.h"

#define EVENTS	 0x02700000u
#define SEM_READ 0x02701000u
#define SEM_SET	 0x02701400u
#define SEM_INC	 0x02701800u
#define SEM_DEC	 0x02701c00u

/* One more than the last is not there: its place in the map answers nothing. */
static void expect_nothing(struct conf *c, uint64_t bar0, const char *what)
{
	conf_is(c, conf_read(c, bar0), 0, "%s", what);
	conf_complaint(c, EMU_COMPLAINT_UNKNOWN_REGISTER, 1);
}

static void count_dies(struct conf *c, const void *row)
{
	uint64_t end = conf_now_ms() + CONF_TIMEOUT_MS;
	uint32_t first = conf_read(c, c->p->misc + 0x58), now = first;

	(void)row;
	if (c->p->generation == 2) {
		conf_is(c, first, 0, "POWER_UTIL_D1 of a device with one die");
		return;
	}
	while (now >> 16 == first >> 16 && conf_now_ms() < end)
		now = conf_read(c, c->p->misc + 0x58);
	conf_true(c, now >> 16 != first >> 16, "die 1 has power samples");
	conf_dma(c, 130, c->p->hbm[2] + 0x1000000, c->p->hbm[3] + 0x1000000, 4, "inside die 1");
}

static void count_sengs(struct conf *c, const void *row)
{
	unsigned int s, sengs = c->p->generation == 3 ? 4 : 2;

	(void)row;
	for (s = 0; s < sengs; s++)
		conf_works(c, s * c->p->seng_engines, 0, "first engine of a SENG");
}

static void count_cores(struct conf *c, const void *row)
{
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++)
		conf_write(c, conf_tpb(c, n) + SEM_SET, n + 1);
	for (n = 0; n < c->p->cores; n++)
		conf_reg(c, conf_tpb(c, n) + SEM_READ, n + 1, "core %u semaphore 0", n);
	if (c->p->generation == 2)
		expect_nothing(c, 2 * 0x04000000 + SEM_READ, "behind the last core");
}

static void count_top_sps(struct conf *c, const void *row)
{
	unsigned int t;

	(void)row;
	for (t = 0; t < c->p->top_sps; t++)
		conf_write(c, conf_top_sp(c, t) + 0x1400, t + 1);
	for (t = 0; t < c->p->top_sps; t++)
		conf_reg(c, conf_top_sp(c, t) + 0x1000, t + 1, "TOP_SP %u semaphore 0", t);
	if (c->p->generation == 2)
		expect_nothing(c, 0x10000000 + 6 * 0x400000 + 0x1000, "behind the last TOP_SP");
}

static void count_stacks(struct conf *c, const void *row)
{
	unsigned int h;
	uint64_t host;

	(void)row;
	conf_host(c, 4, &host);
	for (h = 0; h < c->p->stacks; h++)
		conf_dma(c, h, host, c->p->hbm[h] + 0x1000000, 4, "HBM stack");
	conf_is(c, emu_device_bar_size(c->dev, 4), c->p->stacks * c->p->bar4_stride, "BAR4 size");
}

static void count_engines(struct conf *c, const void *row)
{
	unsigned int e;

	(void)row;
	for (e = 0; e < c->p->engines; e++) {
		conf_works(c, e, 7, "engine");
		c->host_used = 0;
	}
	if (c->p->generation == 2)
		expect_nothing(c, 0x30dc0000 + 0x200, "behind the last engine");
	else
		expect_nothing(c, 0x46a40000 - 0x140000 + 0x80000, "behind H2D_1");
}

/* Sixteen queues each way; the next block is not one. */
static void count_queues(struct conf *c, const void *row)
{
	unsigned int e, q;

	(void)row;
	for (e = 0; e < c->p->engines; e++)
		for (q = 0; q < 16; q++) {
			conf_reg(c, conf_udma(c, e) + 0x1020 + q * 0x1000, 0x03000000,
				 "engine %u M2S queue %u cfg", e, q);
			conf_reg(c, conf_udma(c, e) + 0x21020 + q * 0x1000, 0x03000000,
				 "engine %u S2M queue %u cfg", e, q);
		}
	expect_nothing(c, conf_udma(c, 0) + 0x1020 + 16 * 0x1000, "M2S queue 16");
}

static void count_descriptors(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;
	uint8_t *from = conf_host(c, 65 * 4, &src), *to = conf_host(c, 65 * 4, &dst);
	unsigned int i;

	(void)row;
	conf_pattern(from, 65 * 4, 1);
	conf_engine_init(c, 0, true, 18, NULL, 0);
	conf_queue_open(c, &queue, 0, 0, 128);
	for (i = 0; i < 65; i++)
		conf_push(&queue, M2S, 4 | (i ? 0 : D_FIRST) | (i == 64 ? D_LAST : 0), META_PLAIN,
			  src + i * 4);
	conf_push(&queue, S2M, 65 * 4, 0, dst);
	conf_ring(&queue, S2M, 1);
	conf_ring(&queue, M2S, 65);
	conf_finish(&queue, "packet of 64 + 1 descriptors");
	conf_same(c, to, from, 65 * 4, "packet of 64 + 1 descriptors");
}

static void count_sync(struct conf *c, const void *row)
{
	uint32_t at = NUM(row), i, n;

	for (n = 0; n < c->p->cores; n++) {
		uint64_t base = conf_tpb(c, n);

		for (i = 0; i < 256; i++)
			conf_write(c, base + at + 4 * i, at == EVENTS ? i & 1 : i + 1);
		for (i = 0; i < 256; i++)
			conf_reg(c, base + (at == EVENTS ? EVENTS : SEM_READ) + 4 * i,
				 at == EVENTS ? i & 1 : i + 1, "core %u number %u", n, i);
	}
}

static void count_nqs(struct conf *c, const void *row)
{
	unsigned int k;

	(void)row;
	for (k = 0; k < 16; k++)
		conf_store(c, conf_nc_notific(c, 0) + 0x100 + k * 0x28, 0x1000 * (k + 1),
			   "slot %u base low", k);
	expect_nothing(c, conf_nc_notific(c, 0) + 0x100 + 16 * 0x28, "slot 16");
}

/* Ownership: what a reset of core n touches, and which engines and stack are its. */
static void own_engines(struct conf *c, const void *row)
{
	unsigned int n, e;

	(void)row;
	for (n = 0; n < c->p->cores; n++)
		for (e = 16 * n; e < 16 * n + 16; e++) {
			conf_works(c, e, 0, "engine of the core");
			c->host_used = 0;
		}
}

static void own_h2t(struct conf *c, const void *row)
{
	unsigned int n, queue, engine;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		engine = conf_h2t(c, n, &queue);
		conf_is(c, engine, c->p->generation == 3 ? 128 + n / 2 : 32 + n, "H2T engine");
		conf_works(c, engine, queue, "H2T engine and queue of the core");
	}
}

static void own_hbm(struct conf *c, const void *row)
{
	unsigned int n;
	uint64_t host;
	uint32_t *from = conf_host(c, 4, &host);

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		unsigned int h = c->p->generation == 3 ? n / 2 : n;
		uint32_t *word = conf_hbm(c, h, 0x1100000 + 4 * n);

		*from = 0x4000 + n;
		conf_dma(c, 16 * n, c->p->hbm[h] + 0x1100000 + 4 * n, host, 4, "HBM of the core");
		conf_is(c, *word, 0x4000 + n, "core %u: word in HBM %u", n, h);
	}
}

static void own_top_sps(struct conf *c, const void *row)
{
	unsigned int n, t, per = c->p->generation == 3 ? 2 : 3;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		for (t = 0; t < c->p->top_sps; t++)
			conf_write(c, conf_top_sp(c, t) + 0x1400, 1);
		conf_tpb_reset(c,
			       c->p->generation == 3 ? 0x010101u << n : 1u << n | 0x700u << 3 * n);
		for (t = 0; t < c->p->top_sps; t++)
			conf_reg(c, conf_top_sp(c, t) + 0x1000, t / per == n ? 0 : 1,
				 "TOP_SP %u after a reset of core %u", t, n);
	}
}

static void own_queue(struct conf *c, const void *row)
{
	unsigned int n;

	for (n = 0; n < c->p->cores; n++)
		conf_works(c, 16 * n, NUM(row), "queue of the core");
}

/* 2: semaphores and events. */
static void event(struct conf *c, const void *row)
{
	uint32_t i, n;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		for (i = 0; i < 256; i++) {
			uint64_t at = conf_tpb(c, n) + EVENTS + 4 * i;

			conf_reg(c, at, 0, "core %u event %u at first", n, i);
			conf_store(c, at, 1, "core %u event %u set", n, i);
			conf_store(c, at, 0, "core %u event %u cleared", n, i);
		}
	}
}

struct aperture {
	uint32_t at;
	const char *name;
};

static const struct aperture apertures[] = {
	{ SEM_READ, "semaphore read 0x1000 + 4i" },
	{ SEM_SET, "semaphore set 0x1400 + 4i" },
	{ SEM_INC, "semaphore increment 0x1800 + 4i" },
	{ SEM_DEC, "semaphore decrement 0x1C00 + 4i" },
};

/* The value after a write of 7 to the aperture of a semaphore that was 100. */
static void semaphore(struct conf *c, const void *row)
{
	static const uint32_t after[4] = { 100, 7, 107, 93 };
	const struct aperture *a = row;
	uint32_t i, n, k = (uint32_t)(a - apertures);

	for (n = 0; n < c->p->cores; n++) {
		for (i = 0; i < 256; i++) {
			uint64_t base = conf_tpb(c, n);

			conf_write(c, base + SEM_SET + 4 * i, 100);
			if (k)
				conf_write(c, base + a->at + 4 * i, 7);
			conf_reg(c, base + SEM_READ + 4 * i, after[k], "core %u semaphore %u", n,
				 i);
			if (i)
				conf_reg(c, base + SEM_READ + 4 * i - 4, after[k],
					 "core %u semaphore %u, the one before", n, i - 1);
		}
	}
}

static void wrap(struct conf *c, const void *row)
{
	uint64_t base = conf_tpb(c, 0);

	(void)row;
	conf_write(c, base + SEM_SET, 0x7fffffff);
	conf_write(c, base + SEM_INC, 1);
	conf_reg(c, base + SEM_READ, 0x80000000, "largest plus 1");
	conf_write(c, base + SEM_DEC, 1);
	conf_reg(c, base + SEM_READ, 0x7fffffff, "and back");
	conf_write(c, base + SEM_SET, 0);
	conf_write(c, base + SEM_DEC, 1);
	conf_reg(c, base + SEM_READ, 0xffffffff, "0 minus 1");
	conf_write(c, base + SEM_INC, 1);
	conf_reg(c, base + SEM_READ, 0, "and back");
}

static void event_256(struct conf *c, const void *row)
{
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		conf_write(c, conf_tpb(c, n) + EVENTS + 0x400, 1);
		conf_read(c, conf_tpb(c, n) + EVENTS + 0x400);
		conf_reg(c, conf_tpb(c, n) + EVENTS, 0, "core %u event 0 beside 256", n);
		conf_reg(c, conf_tpb(c, n) + SEM_READ, 0, "core %u semaphore 0 beside it", n);
	}
}

static void semaphore_base(struct conf *c, const void *row)
{
	unsigned int n = NUM(row);

	conf_write(c, conf_tpb(c, n) + 0x02701400 + 4 * 255, 0x1234);
	conf_reg(c,
		 (c->p->generation == 3 ? 0xd2700000 : 0x02700000) + n * 0x04000000ull + 0x1000 +
			 4 * 255,
		 0x1234, "core %u semaphore 255", n);
}

static void top_sp_semaphores(struct conf *c, const void *row)
{
	unsigned int t;

	(void)row;
	for (t = 0; t < c->p->top_sps; t++) {
		uint64_t base = conf_top_sp(c, t);

		conf_write(c, base + 0x1400 + 4 * 9, 50);
		conf_write(c, base + 0x1800 + 4 * 9, 8);
		conf_write(c, base + 0x1c00 + 4 * 9, 3);
		conf_reg(c, base + 0x1000 + 4 * 9, 55, "TOP_SP %u semaphore 9", t);
		conf_store(c, base + 4 * 9, 1, "TOP_SP %u event 9", t);
	}
}

static void zero_after_reset(struct conf *c, const void *row)
{
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		conf_write(c, conf_tpb(c, n) + SEM_SET + 4, 5);
		conf_write(c, conf_tpb(c, n) + EVENTS + 4, 1);
	}
	conf_device_reset(c);
	for (n = 0; n < c->p->cores; n++) {
		conf_reg(c, conf_tpb(c, n) + SEM_READ + 4, 0, "core %u semaphore 1", n);
		conf_reg(c, conf_tpb(c, n) + EVENTS + 4, 0, "core %u event 1", n);
	}
}

/* DMA writes them as any other register: the way programs are released. */
static void by_dma(struct conf *c, const void *row)
{
	uint64_t host, dev;
	uint32_t *value = conf_host(c, 4, &host);
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		dev = conf_tpb_dev(c, n) + SEM_INC + 4 * 3;
		*value = 6;
		conf_dma(c, 16 * n, dev, host, 4, "DMA into the increment aperture");
		conf_reg(c, conf_tpb(c, n) + SEM_READ + 4 * 3, 6, "core %u semaphore 3", n);
	}
}

#define CONF_COUNTER_MS 10000u

/* 4: activity counters. Row: counter inside a group, or the block itself. */
static void counter_block(struct conf *c, const void *row)
{
	unsigned int n = NUM(row);

	conf_reg(c, conf_counters(c, n) + 4, 0, "core %u first counter, MSB", n);
	conf_reg(c, conf_counters(c, n), 0, "core %u first counter, LSB", n);
	conf_read_only(c, conf_counters(c, n), "core %u first counter", n);
}

static uint64_t counter_value(struct conf *c, uint64_t at)
{
	uint64_t high = conf_read(c, at + 4);

	return high << 32 | conf_read(c, at);
}

/* A core without a run is idle. */
static void idle_advances(struct conf *c, uint64_t at, unsigned int core)
{
	uint64_t end = conf_now_ms() + CONF_COUNTER_MS, first = counter_value(c, at), now;

	do
		now = counter_value(c, at);
	while (now == first && conf_now_ms() < end);
	conf_true(c, now > first, "core %u: idle counter at 0x%llx goes from %llu to %llu", core,
		  (unsigned long long)at, (unsigned long long)first, (unsigned long long)now);
}

static void counter(struct conf *c, const void *row)
{
	const bool v3 = c->p->generation == 3;
	uint32_t group = v3 ? 0x30 : 0x40, stride = v3 ? 0x1b0 : 0x140;
	unsigned int n, r, g;

	for (n = 0; n < c->p->cores; n++) {
		for (r = 0; r < 4; r++) {
			for (g = 0; g < (v3 ? 9 : 5); g++) {
				uint64_t at =
					conf_counters(c, n) + r * stride + g * group + NUM(row);

				if (g == 4 && NUM(row) == 0x10) {
					idle_advances(c, at, n);
					continue;
				}
				conf_reg(c, at + 4, 0, "core %u row %u group %u MSB", n, r, g);
				conf_reg(c, at, 0, "core %u row %u group %u LSB", n, r, g);
			}
		}
	}
}

static void counter_end(struct conf *c, const void *row)
{
	uint32_t stride = c->p->generation == 3 ? 0x1b0 : 0x140;
	uint64_t at = conf_counters(c, 0) + 3 * stride;

	(void)row;
	conf_reg(c, at + stride - 4, 0, "last word of row 3");
	expect_nothing(c, at + stride, "behind row 3");
}

/* The documented order of reads for a row. */
static void counter_order(struct conf *c, const void *row)
{
	const bool v3 = c->p->generation == 3;
	uint32_t g = v3 ? 0x30 : 0x40, stride = v3 ? 0x1b0 : 0x140;
	unsigned int r, k, n;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		for (r = 0; r < 4; r++) {
			uint64_t at = conf_counters(c, n) + r * stride;

			conf_reg(c, at + 4 * g + 4, 0, "matmul MSB");
			conf_reg(c, at + 4 * g, 0, "matmul LSB");
			if (v3) {
				conf_reg(c, at + 8 * g + 8 + 4, 0, "normal weight load MSB");
				conf_reg(c, at + 8 * g + 8, 0, "normal weight load LSB");
			}
			for (k = 0; k < 4; k++) {
				conf_reg(c, at + k * g + 8 + 4, 0, "fast weight load MSB");
				conf_reg(c, at + k * g + 8, 0, "fast weight load LSB");
			}
			idle_advances(c, at + 4 * g + 0x10, n);
		}
	}
}

/* Physical core index n is core n of the register map. */
static void numbering(struct conf *c, const void *row)
{
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		conf_write(c, conf_tpb(c, n) + SEM_SET, 0x77);
		conf_tpb_reset(c, 1u << n);
		conf_reg(c, conf_tpb(c, n) + SEM_READ, 0, "core %u by its bit of the reset map", n);
	}
}

static void add_counts(struct conf_list *list)
{
	static const char page[] = "cores-and-notifications.md 1";

	conf_case(list, ALL, count_dies, NULL, page, "dies: 1 (v2), 2 (v3)");
	conf_case(list, ALL, count_sengs, NULL, page, "SENGs: 2 (v2), 4 (v3)");
	conf_case(list, ALL, count_cores, NULL, page, "NeuronCores: 2 (v2), 8 (v3)");
	conf_case(list, ALL, count_top_sps, NULL, page, "TOP_SP visible: 6 (v2), 16 (v3)");
	conf_case(list, ALL, count_stacks, NULL, page, "HBM stacks: 2 (v2), 4 (v3)");
	conf_case(list, ALL, count_engines, NULL, page,
		  "DMA engines total: 32 + 2 (v2), 128 + 4 (v3)");
	conf_case(list, ALL, count_queues, NULL, page, "queues per engine and direction: 16");
	conf_case(list, ALL, count_descriptors, NULL, page, "descriptors per packet limit: 64 + 1");
	conf_case(list, ALL, count_sync, ROW(SEM_SET), page, "semaphores per NC: 256");
	conf_case(list, ALL, count_sync, ROW(EVENTS), page, "events per NC: 256");
	conf_case(list, ALL, count_nqs, NULL, page, "NQs per NOTIFIC block: 16");
	conf_case(list, ALL, own_engines, NULL, page, "NC n owns DMA engines 16n..16n+15");
	conf_case(list, ALL, own_top_sps, NULL, page, "NC n owns its TOP_SPs");
	conf_case(list, ALL, own_h2t, NULL, page, "NC n has its H2T engine and queue");
	conf_case(list, ALL, own_hbm, NULL, page, "NC n has its HBM");
	conf_case(list, ALL, own_queue, ROW(14), page, "reserved queues q14");
	conf_case(list, ALL, own_queue, ROW(15), page, "collectives q15");
}

void conf_cores(struct conf_list *list)
{
	static const char page[] = "cores-and-notifications.md 2";
	static const char counters[] = "cores-and-notifications.md 4";
	unsigned int i;

	add_counts(list);
	conf_case(list, ALL, event, NULL, page, "event 4i: R state, W 1 set, W 0 clear");
	for (i = 0; i < COUNT(apertures); i++)
		conf_case(list, ALL, semaphore, &apertures[i], page, "%s", apertures[i].name);
	for (i = 0; i < 8; i++)
		conf_case(list, i < 2 ? ALL : V3, semaphore_base, ROW(i), page, "base of NC %u", i);
	conf_case(list, ALL, wrap, NULL, page, "values are 32-bit signed, wrap modulo 2^32");
	conf_case(list, ALL, event_256, NULL, page, "event index 256 does not fault");
	conf_case(list, ALL, top_sp_semaphores, NULL, page, "TOP_SP semaphores at window base + 0");
	conf_case(list, ALL, zero_after_reset, NULL, page, "value after reset 0");
	conf_case(list, ALL, by_dma, NULL, page, "increment by DMA");
	for (i = 0; i < 8; i++)
		conf_case(list, i < 2 ? ALL : V3, counter_block, ROW(i), counters,
			  "counter block of NC %u", i);
	conf_case(list, ALL, counter, ROW(0x00), counters,
		  "+0x00 matmul active, group and row strides");
	conf_case(list, ALL, counter, ROW(0x08), counters,
		  "+0x08 weight load active, group and row strides");
	conf_case(list, ALL, counter, ROW(0x10), counters, "+0x10 idle, group and row strides");
	conf_case(list, ALL, counter_end, NULL, counters, "4 rows");
	conf_case(list, ALL, counter_order, NULL, counters, "read order of a row, MSB first");
	conf_case(list, ALL, numbering, NULL, "cores-and-notifications.md 5",
		  "physical core index");
}
