// SPDX-License-Identifier: BSD-2-Clause
/*
 * vendor-driver-interface.md: of each call, what the device sees.
 */
#include <string.h>
#include "conformance.h"

/* Legacy device reset, by ioctl or sysfs: one handshake; several in a row. */
static void resets(struct conf *c, const void *row)
{
	unsigned int i;

	(void)row;
	for (i = 0; i < 5; i++)
		conf_device_reset(c);
	conf_works(c, conf_owned(c), 0, "after five resets");
}

static void nc_reset(struct conf *c, const void *row)
{
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++)
		conf_tpb_reset(c,
			       c->p->generation == 3 ? 0x010101u << n : 1u << n | 0x700u << 3 * n);
	conf_works(c, 0, 0, "after a reset of each core");
}

/* A BAR write lands where the offset says, and a read of up to 100 registers gives what is there.
 */
static void bar_access(struct conf *c, const void *row)
{
	unsigned int i;

	(void)row;
	for (i = 0; i < 100; i++)
		conf_write(c, conf_tpb(c, 0) + 0x02701400 + 4 * i, 3 * i);
	for (i = 0; i < 100; i++)
		conf_reg(c, conf_tpb(c, 0) + 0x02701000 + 4 * i, 3 * i, "register %u of 100", i);
}

/* Batch queue init: 255 entries, engine after engine. */
static void batch_queue_init(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t dev;
	void *ring = conf_host(c, 1024, &dev);
	unsigned int i;

	(void)row;
	for (i = 0; i < 255; i++)
		conf_queue_place(c, &queue, i / 16, i % 16, 64, 64, ring, dev, ring, dev);
	for (i = 0; i < 255; i++)
		conf_reg(c, conf_udma(c, i / 16) + 0x1030 + i % 16 * 0x1000, 64,
			 "engine %u queue %u length", i / 16, i % 16);
}

/* Copy start: both doorbells with counts of their own. */
static void copy_start(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;
	uint8_t *from = conf_host(c, 256, &src), *to = conf_host(c, 256, &dst);

	(void)row;
	conf_pattern(from, 256, 1);
	conf_queue_open(c, &queue, 0, 1, 64);
	conf_push(&queue, M2S, 128 | D_FIRST, META_PLAIN, src);
	conf_push(&queue, M2S, 128 | D_LAST, META_PLAIN, src + 128);
	conf_push(&queue, S2M, 256, 0, dst);
	conf_ring(&queue, S2M, 1);
	conf_ring(&queue, M2S, 2);
	conf_finish(&queue, "2 TX and 1 RX descriptors");
	conf_same(c, to, from, 256, "destination");
}

/* Memory: what a first-fit allocator hands out first, and what the pool for small ones does. */
static void allocations(struct conf *c, const void *row)
{
	uint64_t offset = NUM(row) ? c->p->hbm_size - 0x40000000 : 0x1000000, src;
	uint8_t *from = conf_host(c, 65536, &src);
	unsigned int h;

	conf_pattern(from, 65536, NUM(row) + 1);
	for (h = 0; h < c->p->stacks; h++) {
		conf_dma(c, h, c->p->hbm[h] + offset, src, 65536, "allocation");
		conf_same(c, conf_hbm(c, h, offset), from, 65536, "allocation");
	}
}

/* Contiguous scratchpad: downwards from the end of the main pool; an access may span chunks. */
static void scratchpad(struct conf *c, const void *row)
{
	uint64_t end = c->p->hbm_size - 0x40000000, src;
	uint8_t *from = conf_host(c, 65536, &src);

	(void)row;
	conf_pattern(from, 65536, 6);
	conf_dma(c, 0, c->p->hbm[0] + end - 32768, src, 65536,
		 "copy over the end of the main pool");
	conf_same(c, conf_hbm(c, 0, end - 32768), from, 65536, "memory of two chunks");
}

static void map_hbm(struct conf *c, const void *row)
{
	uint64_t host;
	uint32_t *to = conf_host(c, 4, &host), *word = conf_hbm(c, c->p->stacks - 1, 0x1500000);

	(void)row;
	*word = 0x6d6d6170;
	conf_dma(c, 0, host, c->p->hbm[c->p->stacks - 1] + 0x1500000, 4, "what user space stored");
	conf_is(c, *to, 0x6d6d6170, "store through BAR4 seen by DMA");
}

/* TOP_SP "all" resource, read-only: reads of the whole window do not fault. */
static void map_top_sp(struct conf *c, const void *row)
{
	unsigned int t;

	(void)row;
	for (t = 0; t < c->p->top_sps; t++) {
		conf_read(c, conf_top_sp(c, t));
		conf_read(c, conf_top_sp(c, t) + 0x3ffffc);
	}
	conf_complaints_forgive(c);
	conf_works(c, 0, 0, "after reads of the whole TOP_SP windows");
}

/* Process exit: queues set up with the dummy ring while work is under way; nothing leaks. */
static void process_exit(struct conf *c, const void *row)
{
	struct conf_queue queue, dummy;
	uint64_t src, dst, dev;
	uint8_t *to, *ring = conf_host(c, 1024, &dev);
	unsigned int i;

	(void)row;
	conf_host(c, 65536, &src);
	to = conf_host(c, 65536, &dst);
	conf_queue_open(c, &queue, 0, 0, 512);
	for (i = 0; i < 500; i++)
		conf_packet(&queue, dst, src, 65536);
	conf_ring_both(&queue, 500);
	conf_queue_place(c, &dummy, 0, 0, 64, 64, ring, dev, ring, dev);
	conf_quiesce(c);
	memset(to, 0x77, 65536);
	conf_reg(c, conf_q(&dummy, M2S, 0x34), 1u << 30, "head of the dummy ring");
	conf_is(c, to[65535], 0x77, "memory of a process that is gone");
	conf_works(c, 0, 0, "the next process");
}

/* Semaphores, events and NQs are not touched by an exit. */
static void exit_keeps(struct conf *c, const void *row)
{
	struct conf_queue dummy;
	uint64_t dev;
	void *ring = conf_host(c, 1024, &dev);

	(void)row;
	conf_write(c, conf_tpb(c, 0) + 0x02701400, 8);
	conf_write(c, conf_nc_notific(c, 0) + 0x100, 0x4000);
	conf_queue_place(c, &dummy, 0, 0, 64, 64, ring, dev, ring, dev);
	conf_reg(c, conf_tpb(c, 0) + 0x02701000, 8, "semaphore");
	conf_reg(c, conf_nc_notific(c, 0) + 0x100, 0x4000, "NQ base");
}

/* Every H2T engine reaches every stack, in both directions. */
static void quirk_engine(struct conf *c, const void *row)
{
	unsigned int n, h, queue, engine;
	uint64_t host;
	uint32_t *word = conf_host(c, 4096, &host);

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		engine = conf_h2t(c, n, &queue);
		for (h = 0; h < c->p->stacks; h++) {
			word[0] = n << 8 | h;
			conf_dma(c, engine, c->p->hbm[h] + 0x1600000, host, 4, "to the stack");
			conf_dma(c, engine, host + 64, c->p->hbm[h] + 0x1600000, 4, "and back");
			conf_is(c, word[16], n << 8 | h, "engine %u, stack %u", engine, h);
		}
	}
}

void conf_vendor(struct conf_list *list)
{
	static const char calls[] = "vendor-driver-interface.md 3";
	static const char memory[] = "vendor-driver-interface.md 4";
	static const char quirk[] = "vendor-driver-interface.md 10";

	conf_case(list, ALL, resets, NULL, calls, "1 DEVICE_RESET");
	conf_case(list, ALL, bar_access, NULL, calls, "11 / 12 BAR_READ / BAR_WRITE");
	conf_case(list, ALL, batch_queue_init, NULL, calls, "133 DMA_QUEUE_INIT_BATCH");
	conf_case(list, ALL, copy_start, NULL, calls, "35 DMA_QUEUE_COPY_START");
	conf_case(list, ALL, nc_reset, NULL, calls, "103 NC_RESET");
	conf_case(list, ALL, allocations, ROW(0), memory, "main pool behind the carve-out");
	conf_case(list, ALL, allocations, ROW(1), memory, "small pool, last GiB");
	conf_case(list, ALL, scratchpad, NULL, memory, "contiguous scratchpad");
	conf_case(list, ALL, map_hbm, NULL, "vendor-driver-interface.md 5",
		  "device chunk through BAR4");
	conf_case(list, ALL, map_top_sp, NULL, "vendor-driver-interface.md 5",
		  "TOP_SP all, read-only");
	conf_case(list, ALL, process_exit, NULL, "vendor-driver-interface.md 7",
		  "2 queues get the dummy ring");
	conf_case(list, ALL, exit_keeps, NULL, "vendor-driver-interface.md 7",
		  "semaphores and NQs are not touched");
	conf_case(list, ALL, quirk_engine, NULL, quirk,
		  "engine choice ignores direction and address");
}
