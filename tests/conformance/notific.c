// SPDX-License-Identifier: BSD-2-Clause
/*
 * cores-and-notifications.md 3: notification queues.
 */
#include <string.h>
#include "conformance.h"

#define SLOT(k) (0x100 + (k)*0x28u)

struct reg {
	uint32_t offset, value;
	const char *name;
};

static const struct reg regs[] = {
	{ 0x0, 0x00400000, "0x100 + k * 0x28 base address low" },
	{ 0x4, 0x00001000, "0x104 + k * 0x28 base address high" },
	{ 0x8, 0x00001000, "0x108 + k * 0x28 size in bytes" },
};

static void each_block(struct conf *c, const struct reg *r, uint64_t block)
{
	unsigned int k;

	for (k = 0; k < 16; k++) {
		conf_reg(c, block + SLOT(k) + r->offset, 0, "slot %u +0x%x after power-up", k,
			 r->offset);
		conf_store(c, block + SLOT(k) + r->offset, r->value, "slot %u +0x%x", k, r->offset);
	}
	for (k = 0; k < 16; k++) {
		conf_reg(c, block + SLOT(k) + r->offset, r->value,
			 "slot %u +0x%x beside the others", k, r->offset);
		conf_store(c, block + SLOT(k) + r->offset, 0, "slot %u +0x%x back to 0", k,
			   r->offset);
	}
}

static void register_row(struct conf *c, const void *row)
{
	unsigned int i;

	for (i = 0; i < c->p->cores; i++)
		each_block(c, row, conf_nc_notific(c, i));
	for (i = 0; i < c->p->top_sps; i++)
		each_block(c, row, conf_top_sp_notific(c, i));
}

static void head(struct conf *c, const void *row)
{
	unsigned int i, k;

	(void)row;
	for (i = 0; i < c->p->cores; i++)
		for (k = 0; k < 16; k++)
			conf_reg(c, conf_nc_notific(c, i) + SLOT(k) + 0xc, 0,
				 "core %u slot %u head of an empty queue", i, k);
}

/* A block is where the page puts it, and no other. */
static void nc_block(struct conf *c, const void *row)
{
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++)
		conf_write(c, conf_nc_notific(c, n) + SLOT(0), (n + 1) << 12);
	for (n = 0; n < c->p->cores; n++)
		conf_reg(c, conf_nc_notific(c, n) + SLOT(0), (n + 1) << 12, "core %u slot 0 base",
			 n);
}

static void top_sp_block(struct conf *c, const void *row)
{
	unsigned int t;

	(void)row;
	for (t = 0; t < c->p->top_sps; t++)
		conf_write(c, conf_top_sp_notific(c, t) + SLOT(3), (t + 1) << 12);
	for (t = 0; t < c->p->top_sps; t++)
		conf_reg(c, conf_top_sp_notific(c, t) + SLOT(3), (t + 1) << 12,
			 "TOP_SP %u slot 3 base", t);
}

static void engine_block(struct conf *c, const void *row)
{
	unsigned int e;

	(void)row;
	for (e = 0; e < conf_owned(c); e++)
		conf_write(c, conf_sdma(c, e) + 0x1000 + SLOT(0), (e + 1) << 12);
	for (e = 0; e < conf_owned(c); e++)
		conf_reg(c, conf_sdma(c, e) + 0x1000 + SLOT(0), (e + 1) << 12,
			 "engine %u slot 0 base", e);
}

/* The slot is the engine index; the type is no part of it. */
static void slot_is_index(struct conf *c, const void *row)
{
	unsigned int k;

	(void)row;
	for (k = 0; k < 16; k++)
		conf_store(c, conf_nc_notific(c, c->p->cores - 1) + SLOT(k) + 8, 0x1000u << (k % 4),
			   "slot of engine index %u", k);
}

/* W base high, W base low, W size; then the queue is set up and stays quiet. */
static void set_up(struct conf *c, const void *row)
{
	bool host = NUM(row) == 1;
	uint64_t dev, block = conf_nc_notific(c, 0) + SLOT(2);
	uint8_t *memory = conf_host(c, 8192, &dev), zero[4096] = { 0 };

	if (!host) {
		dev = c->p->hbm[0] + 0x1200000;
		memory = conf_hbm(c, 0, 0x1200000);
		memset(memory, 0, 4096);
	}
	conf_write(c, block + 4, (uint32_t)(dev >> 32));
	conf_write(c, block, (uint32_t)dev);
	conf_write(c, block + 8, 4096);
	conf_reg(c, block + 4, (uint32_t)(dev >> 32), "base high");
	conf_reg(c, block, (uint32_t)dev, "base low");
	conf_reg(c, block + 8, 4096, "size");
	conf_works(c, 0, 0, "DMA beside the queue");
	conf_same(c, memory, zero, 4096, "queue without events");
}

static void size_power(struct conf *c, const void *row)
{
	uint64_t block = conf_nc_notific(c, 0) + SLOT(0);
	uint32_t size;

	(void)row;
	for (size = 4096; size <= 1u << 24; size <<= 1)
		conf_store(c, block + 8, size, "size %u", size);
	conf_write(c, block + 8, 5000);
	conf_complaint(c, EMU_COMPLAINT_NQ_SIZE, 1);
	conf_write(c, block + 8, 0);
}

/* W base high = 0, base low = 0, size = 0; nothing is written after. */
static void tear_down(struct conf *c, const void *row)
{
	uint64_t dev, block = NUM(row) ? conf_top_sp_notific(c, 0) : conf_nc_notific(c, 0);
	uint8_t *memory = conf_host(c, 4096, &dev), ones[4096];
	unsigned int k;

	memset(ones, 0xff, sizeof(ones));
	for (k = 0; k < 16; k++) {
		conf_write(c, block + SLOT(k) + 4, (uint32_t)(dev >> 32));
		conf_write(c, block + SLOT(k), (uint32_t)dev);
		conf_write(c, block + SLOT(k) + 8, 4096);
	}
	for (k = 0; k < 16; k++) {
		conf_store(c, block + SLOT(k) + 4, 0, "slot %u base high", k);
		conf_store(c, block + SLOT(k), 0, "slot %u base low", k);
		conf_store(c, block + SLOT(k) + 8, 0, "slot %u size", k);
	}
	memset(memory, 0xff, 4096);
	conf_works(c, 0, 0, "DMA after the tear-down");
	conf_device_reset(c);
	conf_same(c, memory, ones, 4096, "memory of a queue that was torn down");
}

void conf_notific(struct conf_list *list)
{
	static const char page[] = "cores-and-notifications.md 3";
	static const char slot[] = "cores-and-notifications.md 3/slot-selection";
	static const char up[] = "cores-and-notifications.md 3/set-up";
	static const char down[] = "cores-and-notifications.md 3/tear-down";
	unsigned int i;

	for (i = 0; i < COUNT(regs); i++)
		conf_case(list, ALL, register_row, &regs[i], page, "%s, 0 after reset",
			  regs[i].name);
	conf_case(list, ALL, head, NULL, page, "0x10C + k * 0x28 head");
	conf_case(list, ALL, nc_block, NULL, page, "NOTIFIC block of each NC");
	conf_case(list, ALL, top_sp_block, NULL, page, "NOTIFIC block of each TOP_SP");
	conf_case(list, ALL, engine_block, NULL, page, "NOTIFIC block of each DMA engine");
	conf_case(list, ALL, slot_is_index, NULL, slot, "any other type: slot = engine index");
	conf_case(list, ALL, size_power, NULL, up, "1 size is a power of two");
	conf_case(list, ALL, set_up, ROW(1), up, "2 base high, base low, size; host memory");
	conf_case(list, ALL, set_up, ROW(0), up, "2 base high, base low, size; HBM");
	conf_case(list, ALL, tear_down, ROW(0), down, "NC queues, nothing written after");
	conf_case(list, ALL, tear_down, ROW(1), down, "TOP_SP queues, nothing written after");
}
