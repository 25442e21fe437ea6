// SPDX-License-Identifier: BSD-2-Clause
/*
 * pci-and-address-map.md 4 to 9: device address maps, HBM, TPB windows, DMA address decode.
 */
#include <stdio.h>
#include <string.h>
#include "conformance.h"

/* A line of the map: a word that is read-write in BAR0 and its device address. */
struct line {
	unsigned int products;
	const char *section, *name;
	uint64_t bar0, dev;
};

#define MAP2 "pci-and-address-map.md 4"
#define APB2                      \
	"pci-and-address-map.md " \
	"4/v2-apb-sub-blocks"
#define MAP3 "pci-and-address-map.md 5"
#define APB3                      \
	"pci-and-address-map.md " \
	"5/v3-apb-io-sub-blocks"
#define COOKIE "pci-and-address-map.md 8"

static const struct line lines[] = {
	{ V2, MAP2, "TPB 0 (SBUF)", 0x00000000, 0x0fffc0000000 },
	{ V2, MAP2, "TPB 1 (SBUF)", 0x04000000, 0x0fffc4000000 },
	{ V2, MAP2, "TPB 0 (event)", 0x02700000, 0x0fffc2700000 },
	{ V2, MAP2, "TPB 1 (event)", 0x06700000, 0x0fffc6700000 },
	{ V2, MAP2, "TOP_SP 0", 0x10000000, 0x0fffd0000000 },
	{ V2, MAP2, "TOP_SP 1", 0x10400000, 0x0fffd0400000 },
	{ V2, MAP2, "TOP_SP 2", 0x10800000, 0x0fffd0800000 },
	{ V2, MAP2, "TOP_SP 3", 0x10c00000, 0x0fffd0c00000 },
	{ V2, MAP2, "TOP_SP 4", 0x11000000, 0x0fffd1000000 },
	{ V2, MAP2, "TOP_SP 5", 0x11400000, 0x0fffd1400000 },
	{ V2, MAP2, "APB space", 0x30000118, 0x0ffff0000118 },
	{ V2, APB2, "SENG 0 at 0x000000", 0x30000254, 0x0ffff0000254 },
	{ V2, APB2, "SENG 1 at 0x700000", 0x30700254, 0x0ffff0700254 },
	{ V2, APB2, "UDMA 15 of SENG 0 at 0x3C0000", 0x303c0118, 0x0ffff03c0118 },
	{ V2, APB2, "UDMA 15 of SENG 1 at 0xAC0000", 0x30ac0118, 0x0ffff0ac0118 },
	{ V2, APB2, "SDMA wrapper 0 of SENG 0 at 0x400000", 0x3040001c, 0x0ffff040001c },
	{ V2, APB2, "SDMA wrapper 15 of SENG 0 at 0x469000", 0x3046901c, 0x0ffff046901c },
	{ V2, APB2, "SDMA wrapper 0 of SENG 1 at 0xB00000", 0x30b0001c, 0x0ffff0b0001c },
	{ V2, APB2, "SDMA wrapper 15 of SENG 1 at 0xB69000", 0x30b6901c, 0x0ffff0b6901c },
	{ V2, APB2, "NOTIFIC of an SDMA at +0x1000", 0x30401100, 0x0ffff0401100 },
	{ V2, APB2, "NOTIFIC of NC 0 at 0x535000", 0x30535100, 0x0ffff0535100 },
	{ V2, APB2, "NOTIFIC of NC 1 at 0xC35000", 0x30c35100, 0x0ffff0c35100 },
	{ V2, APB2, "D2H UDMA at 0x600000", 0x30600118, 0x0ffff0600118 },
	{ V2, APB2, "D2H SDMA wrapper at 0x640000", 0x3064001c, 0x0ffff064001c },
	{ V2, APB2, "H2D UDMA at 0xD00000", 0x30d00118, 0x0ffff0d00118 },
	{ V2, APB2, "H2D SDMA wrapper at 0xD40000", 0x30d4001c, 0x0ffff0d4001c },
	{ V2, APB2, "NOTIFIC of TOP_SP 0 at 0xE04000", 0x30e04100, 0x0ffff0e04100 },
	{ V2, APB2, "NOTIFIC of TOP_SP 1 at 0xE44000", 0x30e44100, 0x0ffff0e44100 },
	{ V2, APB2, "NOTIFIC of TOP_SP 2 at 0xE84000", 0x30e84100, 0x0ffff0e84100 },
	{ V2, APB2, "NOTIFIC of TOP_SP 3 at 0xEC4000", 0x30ec4100, 0x0ffff0ec4100 },
	{ V2, APB2, "NOTIFIC of TOP_SP 4 at 0xF04000", 0x30f04100, 0x0ffff0f04100 },
	{ V2, APB2, "NOTIFIC of TOP_SP 5 at 0xF44000", 0x30f44100, 0x0ffff0f44100 },
	{ V2, APB2, "MISC RAM at 0xFA0000", 0x30fa0100, 0x0ffff0fa0100 },
	{ V3, MAP3, "SE 0", 0x82000118, 0x1002000118 },
	{ V3, MAP3, "SE 1", 0x94000118, 0x5004000118 },
	{ V3, MAP3, "SE 2", 0xa2000118, 0x801002000118 },
	{ V3, MAP3, "SE 3", 0xb4000118, 0x805004000118 },
	{ V3, MAP3, "APB_IO 0", 0x06800118, 0x8006800118 },
	{ V3, MAP3, "APB_IO 1", 0x46800118, 0x808006800118 },
	{ V3, MAP3, "TOP_SP 0", 0xf0000000, 0x8280000000 },
	{ V3, MAP3, "TOP_SP 1", 0xf0400000, 0x82c0000000 },
	{ V3, MAP3, "TOP_SP 2", 0xf0800000, 0x8300000000 },
	{ V3, MAP3, "TOP_SP 3", 0xf0c00000, 0x8340000000 },
	{ V3, MAP3, "TOP_SP 4", 0xf1000000, 0x8380000000 },
	{ V3, MAP3, "TOP_SP 5", 0xf1400000, 0x83c0000000 },
	{ V3, MAP3, "TOP_SP 6", 0xf1800000, 0x8400000000 },
	{ V3, MAP3, "TOP_SP 7", 0xf1c00000, 0x8440000000 },
	{ V3, MAP3, "TOP_SP 8", 0xf2000000, 0x8480000000 },
	{ V3, MAP3, "TOP_SP 9", 0xf2400000, 0x84c0000000 },
	{ V3, MAP3, "TOP_SP 10 (driver's 8)", 0xf2800000, 0x808280000000 },
	{ V3, MAP3, "TOP_SP 11 (driver's 9)", 0xf2c00000, 0x8082c0000000 },
	{ V3, MAP3, "TOP_SP 12 (driver's 10)", 0xf3000000, 0x808300000000 },
	{ V3, MAP3, "TOP_SP 13 (driver's 11)", 0xf3400000, 0x808340000000 },
	{ V3, MAP3, "TOP_SP 14 (driver's 12)", 0xf3800000, 0x808380000000 },
	{ V3, MAP3, "TOP_SP 15 (driver's 13)", 0xf3c00000, 0x8083c0000000 },
	{ V3, MAP3, "TOP_SP 16 (driver's 14)", 0xf4000000, 0x808400000000 },
	{ V3, MAP3, "TOP_SP 17 (driver's 15)", 0xf4400000, 0x808440000000 },
	{ V3, MAP3, "TOP_SP 18", 0xf4800000, 0x808480000000 },
	{ V3, MAP3, "TOP_SP 19", 0xf4c00000, 0x8084c0000000 },
	{ V3, APB3, "NC 0 block, NOTIFIC 0x0600_1000", 0x06001100, 0x8006001100 },
	{ V3, APB3, "NC 1 block, NOTIFIC 0x0618_1000", 0x06181100, 0x8006181100 },
	{ V3, APB3, "NC 2 block, NOTIFIC 0x0640_1000", 0x06401100, 0x8006401100 },
	{ V3, APB3, "NC 3 block, NOTIFIC 0x0658_1000", 0x06581100, 0x8006581100 },
	{ V3, APB3, "NC 4 block, NOTIFIC 0x4600_1000", 0x46001100, 0x808006001100 },
	{ V3, APB3, "NC 5 block, NOTIFIC 0x4618_1000", 0x46181100, 0x808006181100 },
	{ V3, APB3, "NC 6 block, NOTIFIC 0x4640_1000", 0x46401100, 0x808006401100 },
	{ V3, APB3, "NC 7 block, NOTIFIC 0x4658_1000", 0x46581100, 0x808006581100 },
	{ V3, APB3, "D2H UDMA of die 0", 0x06800310, 0x8006800310 },
	{ V3, APB3, "D2H SDMA wrapper of die 0", 0x0684001c, 0x800684001c },
	{ V3, APB3, "H2D UDMA of die 0", 0x06900254, 0x8006900254 },
	{ V3, APB3, "H2D SDMA wrapper of die 0", 0x0694001c, 0x800694001c },
	{ V3, APB3, "D2H UDMA of die 1", 0x46800254, 0x808006800254 },
	{ V3, APB3, "H2D UDMA of die 1", 0x46900254, 0x808006900254 },
	{ V3, APB3, "NOTIFIC of TOP_SP 0 of die 0", 0x06a00100, 0x8006a00100 },
	{ V3, APB3, "NOTIFIC of TOP_SP 7 of die 0", 0x06bc0100, 0x8006bc0100 },
	{ V3, APB3, "NOTIFIC of TOP_SP 0 of die 1", 0x46a00100, 0x808006a00100 },
	{ V3, APB3, "NOTIFIC of TOP_SP 7 of die 1", 0x46bc0100, 0x808006bc0100 },
	{ V3, APB3, "MISC RAM 0x06C8_4000", 0x06c84100, 0x8006c84100 },
};

/* Written by MMIO and read by DMA, written by DMA and read by MMIO: one and the same word. */
static void line(struct conf *c, const void *row)
{
	const struct line *l = row;
	uint64_t host;
	uint32_t *word = conf_host(c, 4096, &host);
	struct conf_queue queue;

	conf_queue_open(c, &queue, conf_owned(c), 0, 32);
	conf_store(c, l->bar0, 1, "%s by MMIO", l->name);
	conf_copy(&queue, host, l->dev, 4, l->name);
	conf_is(c, *word, 1, "%s: device address 0x%llx read by DMA", l->name,
		(unsigned long long)l->dev);
	*word = 0;
	conf_copy(&queue, l->dev, host, 4, l->name);
	conf_reg(c, l->bar0, 0, "%s written by DMA", l->name);
}

/* Ranges of memory: first and last word. */
struct memory {
	unsigned int products;
	const char *section, *name;
	uint64_t dev, size;
};

static const struct memory memories[] = {
	{ V2, MAP2, "HBM 0", 0x0, 0x400000000 },
	{ V2, MAP2, "HBM 1", 0x1000000000, 0x400000000 },
	{ V3, MAP3, "HBM 0", 0x0, 0x600000000 },
	{ V3, MAP3, "HBM 1", 0x4000000000, 0x600000000 },
	{ V3, MAP3, "HBM 2", 0x800000000000, 0x600000000 },
	{ V3, MAP3, "HBM 3", 0x804000000000, 0x600000000 },
	{ V3, MAP3, "PREPROC 0", 0x1200000000, 0x034c0000 },
	{ V3, MAP3, "PREPROC 1", 0x5200000000, 0x034c0000 },
	{ V3, MAP3, "PREPROC 2", 0x801200000000, 0x034c0000 },
	{ V3, MAP3, "PREPROC 3", 0x805200000000, 0x034c0000 },
	{ V3, MAP3, "TPB 0", 0x2000000000, 0 },
	{ V3, MAP3, "TPB 1", 0x3000000000, 0 },
	{ V3, MAP3, "TPB 2", 0x6000000000, 0 },
	{ V3, MAP3, "TPB 3", 0x7000000000, 0 },
	{ V3, MAP3, "TPB 4", 0x802000000000, 0 },
	{ V3, MAP3, "TPB 5", 0x803000000000, 0 },
	{ V3, MAP3, "TPB 6", 0x806000000000, 0 },
	{ V3, MAP3, "TPB 7", 0x807000000000, 0 },
};

static void memory(struct conf *c, const void *row)
{
	const struct memory *m = row;
	const uint64_t at[2] = { m->dev, m->dev + (m->size ? m->size - 4 : 4096) };
	uint64_t host;
	uint32_t *word = conf_host(c, 4096, &host);
	struct conf_queue queue;
	unsigned int i;

	conf_queue_open(c, &queue, conf_owned(c), 0, 32);
	for (i = 0; i < 2; i++) {
		word[0] = (uint32_t)(m->dev >> 32) * 8 + i + 1;
		conf_copy(&queue, at[i], host, 4, m->name);
	}
	for (i = 0; i < 2; i++) {
		conf_copy(&queue, host + 64, at[i], 4, m->name);
		conf_is(c, word[16], (uint32_t)(m->dev >> 32) * 8 + i + 1, "%s: word at 0x%llx",
			m->name, (unsigned long long)at[i]);
	}
}

/* Engines of a row of the table: doorbells at the UDMA, storage at wrapper and NOTIFIC. */
struct engines {
	unsigned int products, first, last;
	const char *name;
};

static const struct engines engine_rows[] = {
	{ V2, 0, 15, "engines 0..15 (NC0)" }, { V2, 16, 31, "engines 16..31 (NC1)" },
	{ V2, 32, 32, "engine 32 D2H" },      { V2, 33, 33, "engine 33 H2D" },
	{ V3, 0, 31, "engines 0..31" },	      { V3, 32, 63, "engines 32..63" },
	{ V3, 64, 95, "engines 64..95" },     { V3, 96, 127, "engines 96..127" },
	{ V3, 128, 128, "engine 128 D2H_0" }, { V3, 129, 129, "engine 129 H2D_0" },
	{ V3, 130, 130, "engine 130 D2H_1" }, { V3, 131, 131, "engine 131 H2D_1" },
};

static void engines_udma(struct conf *c, const void *row)
{
	const struct engines *r = row;
	unsigned int e;

	for (e = r->first; e <= r->last; e++) {
		conf_works(c, e, 0, r->name);
		c->host_used = 0;
	}
}

static void engines_dev(struct conf *c, const void *row)
{
	const struct engines *r = row;
	struct conf_queue queue;
	uint64_t host;
	uint32_t *word = conf_host(c, 4, &host);
	unsigned int e;

	conf_queue_open(c, &queue, r->first ? 0 : 1, 3, 64);
	for (e = r->first; e <= r->last; e++) {
		conf_write(c, conf_udma(c, e) + 0x118, 0x7000 + e);
		conf_copy(&queue, host, conf_udma_dev(c, e) + 0x118, 4, r->name);
		conf_is(c, *word, 0x7000 + e, "engine %u by its device address", e);
	}
}

static void engines_sdma(struct conf *c, const void *row)
{
	const struct engines *r = row;
	unsigned int e;

	for (e = r->first; e <= r->last; e++)
		conf_write(c, conf_sdma(c, e) + 0x1c, 0x10 + e);
	for (e = r->first; e <= r->last; e++)
		conf_reg(c, conf_sdma(c, e) + 0x1c, 0x10 + e, "engine %u SDMA wrapper", e);
}

static void engines_fis(struct conf *c, const void *row)
{
	const struct engines *r = row;
	unsigned int e;

	for (e = r->first; e <= r->last; e++)
		conf_write(c, conf_fis(e) + 0x90, 0x800 + e);
	for (e = r->first; e <= r->last; e++)
		conf_reg(c, conf_fis(e) + 0x90, 0x800 + e, "engine %u FIS block", e);
}

/* 6: stacks. Row: stack. */
static void stack_bar4(struct conf *c, const void *row)
{
	uint64_t host, offset[3] = { 0, 0x1000000, c->p->hbm_size - 4096 };
	uint8_t *from = conf_host(c, 4096, &host);
	unsigned int h = NUM(row), i;

	for (i = 0; i < 3; i++) {
		conf_pattern(from, 4096, h * 4 + i + 1);
		conf_dma(c, 0, c->p->hbm[h] + offset[i], host, 4096, "HBM");
		conf_same(c, conf_hbm(c, h, offset[i]), from, 4096, "BAR4 at the stack's offset");
	}
}

static void stack_carve_out(struct conf *c, const void *row)
{
	uint64_t host;
	unsigned int h = NUM(row);
	uint8_t *from = conf_host(c, 8192, &host);

	conf_pattern(from, 8192, 3);
	conf_dma(c, 0, c->p->hbm[h] + 0x1000000, host, 4096, "first usable byte");
	conf_same(c, conf_hbm(c, h, 0x1000000), from, 4096, "first usable page");
}

/* Memory at both ends of the last GiB, and pages never touched read as zero or as left. */
static void stack_top(struct conf *c, const void *row)
{
	uint64_t host, low = c->p->hbm_size - 0x40000000, high = c->p->hbm_size - 65536;
	unsigned int h = NUM(row);
	uint8_t *from = conf_host(c, 65536, &host);

	conf_pattern(from, 65536, h + 40);
	conf_dma(c, 0, c->p->hbm[h] + low, host, 65536, "start of the last GiB");
	conf_dma(c, 1, c->p->hbm[h] + high, host, 65536, "end of the last GiB");
	conf_same(c, conf_hbm(c, h, low), from, 65536, "start of the last GiB");
	conf_same(c, conf_hbm(c, h, high), from, 65536, "end of the last GiB");
}

static void stack_end(struct conf *c, const void *row)
{
	uint64_t host;

	conf_host(c, 4, &host);
	conf_dma_refused(c, 0, host, c->p->hbm[NUM(row)] + c->p->hbm_size, "behind the stack");
}

/* 7: a TPB window. */
static void sbuf(struct conf *c, const void *row)
{
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		conf_storage(c, conf_tpb(c, n), 0, "core %u first word of SBUF", n);
		conf_storage(c, conf_tpb(c, n) + 0x01fc0000, 0, "core %u SBUF near its end", n);
		conf_storage(c, conf_tpb(c, n) + 0x100, n, "core %u SBUF", n);
	}
	for (n = 0; n < c->p->cores; n++)
		conf_reg(c, conf_tpb(c, n) + 0x100, n, "core %u SBUF beside the others", n);
}

struct part {
	uint32_t at;
	const char *name;
};

static const struct part parts[] = {
	{ 0x02700000, "0x0270_0000 events, 256 x 4 B" },
	{ 0x02701400, "0x0270_1400 semaphore set" },
	{ 0x02701800, "0x0270_1800 semaphore increment" },
	{ 0x02701c00, "0x0270_1C00 semaphore decrement" },
};

static void window_part(struct conf *c, const void *row)
{
	const struct part *p = row;
	unsigned int n, i;

	for (n = 0; n < c->p->cores; n++) {
		for (i = 0; i < 256; i += 255) {
			uint64_t at = conf_tpb(c, n) + p->at + 4 * i;

			conf_write(c, at, 1);
			conf_reg(c, conf_tpb(c, n) + (p == parts ? 0x02700000 : 0x02701000) + 4 * i,
				 p == &parts[3] ? 0xffffffff : 1, "core %u number %u", n, i);
		}
	}
}

static void window_read(struct conf *c, const void *row)
{
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++)
		conf_read_only(c, conf_tpb(c, n) + 0x02701000, "core %u semaphore read aperture",
			       n);
}

static void resource(struct conf *c, const void *row)
{
	unsigned int i;

	if (NUM(row) == 0)
		for (i = 0; i < c->p->cores; i++) {
			conf_store(c, conf_tpb(c, i) + 0x02700000 + 0x3fc, 1, "core %u event 255",
				   i);
			conf_write(c, conf_tpb(c, i) + 0x02700000 + 0x1ffc, 2);
			conf_reg(c, conf_tpb(c, i) + 0x02700000 + 0x13fc, 0xfffffffe,
				 "core %u semaphore 255", i);
		}
	else
		for (i = 0; i < c->p->top_sps; i++) {
			conf_store(c, conf_top_sp(c, i) + 0x3fc, 1, "TOP_SP %u event 255", i);
			conf_write(c, conf_top_sp(c, i) + 0x1ffc, 2);
			conf_reg(c, conf_top_sp(c, i) + 0x13fc, 0xfffffffe,
				 "TOP_SP %u semaphore 255", i);
		}
}

/* 8: what user space may map or write. */
static void engine_programming(struct conf *c, const void *row)
{
	uint64_t host, target = 0;
	uint32_t *word = conf_host(c, 4096, &host);
	struct conf_queue queue;
	unsigned int i, n = NUM(row) == 1 ? c->p->top_sps : c->p->cores;

	conf_queue_open(c, &queue, conf_owned(c), 0, 64);
	for (i = 0; i < n; i++) {
		target = NUM(row) == 1 ? conf_top_sp_dev(c, i) + 0x1400 : conf_tpb_dev(c, i);
		*word = 0x1000 + i;
		conf_copy(&queue, target, host, 4, "engine programming");
	}
	for (i = 0; i < n; i++)
		conf_reg(c, NUM(row) == 1 ? conf_top_sp(c, i) + 0x1000 : conf_tpb(c, i), 0x1000 + i,
			 "target %u of engine programming", i);
}

/* 9: decode, by rule. */
static void decode_order(struct conf *c, const void *row)
{
	uint64_t host, dst;
	uint32_t *from = conf_host(c, 4, &host), *to = conf_host(c, 4, &dst);

	(void)row;
	*from = 0xc0de;
	*(uint32_t *)conf_hbm(c, 0, host & (c->p->host - 1)) = 0x0bad;
	conf_dma(c, 0, dst, host, 4, "host address whose low bits are an HBM address");
	conf_is(c, *to, 0xc0de, "host is looked up before HBM");
}

static void decode_hbm(struct conf *c, const void *row)
{
	unsigned int h;
	uint64_t host;
	uint32_t *to = conf_host(c, 4, &host);

	(void)row;
	for (h = 0; h < c->p->stacks; h++) {
		*(uint32_t *)conf_hbm(c, h, 0x1400000) = 0xb0 + h;
		conf_dma(c, h, host, c->p->hbm[h] + 0x1400000, 4, "HBM");
		conf_is(c, *to, 0xb0 + h, "HBM %u", h);
	}
}

static void decode_registers(struct conf *c, const void *row)
{
	uint64_t host;
	uint32_t *to = conf_host(c, 4, &host);

	(void)row;
	conf_dma(c, 0, host, c->p->misc_dev + 0x38, 4, "register space");
	conf_is(c, *to, conf_read(c, c->p->misc + 0x38), "SERIAL_NUMBER_LO by DMA");
}

static void decode_nothing(struct conf *c, const void *row)
{
	/* Between the stacks; above all windows. */
	static const uint64_t v2[2] = { 0x800000000, 0x0fffb0000000 };
	static const uint64_t v3[2] = { 0x0e00000000, 0x900000000000 };
	uint64_t host, nowhere = (c->p->generation == 3 ? v3 : v2)[NUM(row)];
	uint32_t *to = conf_host(c, 4, &host);

	conf_dma_refused(c, 0, host, nowhere, "address that is nothing");
	conf_is(c, *to, 0, "destination");
}

/* DMA of several words reads each once: MISC RAM, 16 bytes. */
static void decode_misc_read(struct conf *c, const void *row)
{
	uint64_t host;
	uint32_t *to = conf_host(c, 16, &host), i;

	(void)row;
	for (i = 0; i < 4; i++)
		conf_write(c, c->p->misc + 0x180 + 4 * i, 0x10 + i);
	conf_dma(c, 4, host, c->p->misc_dev + 0x180, 16, "MISC RAM by DMA");
	for (i = 0; i < 4; i++)
		conf_is(c, to[i], 0x10 + i, "word %u", i);
}

static void add_windows(struct conf_list *list)
{
	static const char hbm[] = "pci-and-address-map.md 6", tpb[] = "pci-and-address-map.md 7";
	static const char decode[] = "pci-and-address-map.md 9";
	unsigned int i;

	for (i = 0; i < 4; i++) {
		unsigned int products = i < 2 ? ALL : V3;

		conf_case(list, products, stack_bar4, ROW(i), hbm, "stack %u, BAR4 offset", i);
		conf_case(list, products, stack_carve_out, ROW(i), hbm,
			  "stack %u, first usable byte behind 16 MiB", i);
		conf_case(list, products, stack_top, ROW(i), hbm, "stack %u, last GiB is backed",
			  i);
		conf_case(list, products, stack_end, ROW(i), hbm, "stack %u, size of the pool", i);
	}
	conf_case(list, ALL, sbuf, NULL, tpb, "0x0 SBUF window");
	for (i = 0; i < COUNT(parts); i++)
		conf_case(list, ALL, window_part, &parts[i], tpb, "%s", parts[i].name);
	conf_case(list, ALL, window_read, NULL, tpb, "0x0270_1000 semaphore read");
	conf_case(list, ALL, resource, ROW(0), tpb,
		  "semaphore resource, 0x2000 bytes at 0x0270_0000");
	conf_case(list, ALL, resource, ROW(1), tpb, "TOP_SP semaphore resource, 0x2000 bytes at 0");
	conf_case(list, ALL, engine_programming, ROW(0), COOKIE, "engine-programming targets: TPB");
	conf_case(list, ALL, engine_programming, ROW(1), COOKIE,
		  "engine-programming targets: TOP_SP");
	conf_case(list, ALL, decode_order, NULL, decode, "host before HBM");
	conf_case(list, ALL, decode_hbm, NULL, decode, "HBM");
	conf_case(list, ALL, decode_registers, NULL, decode, "register ranges are BAR0");
	conf_case(list, ALL, decode_nothing, ROW(0), decode, "else error: behind HBM 0");
	conf_case(list, ALL, decode_nothing, ROW(1), decode, "else error: no window");
	conf_case(list, ALL, decode_misc_read, NULL, decode, "DMA reads of MISC RAM");
}

void conf_map(struct conf_list *list)
{
	static const char *const tables[2] = { "pci-and-address-map.md 4/v2-dma-engine-table",
					       "pci-and-address-map.md 5/v3-dma-engine-table" };
	unsigned int i;

	for (i = 0; i < COUNT(lines); i++)
		conf_case(list, lines[i].products, line, &lines[i], lines[i].section, "%s",
			  lines[i].name);
	for (i = 0; i < COUNT(memories); i++)
		conf_case(list, memories[i].products, memory, &memories[i], memories[i].section,
			  "%s", memories[i].name);
	for (i = 0; i < COUNT(engine_rows); i++) {
		const struct engines *r = &engine_rows[i];
		const char *table = tables[r->products == V3];

		conf_case(list, r->products, engines_udma, r, table, "%s UDMA BAR0", r->name);
		conf_case(list, r->products, engines_dev, r, table, "%s UDMA device address",
			  r->name);
		conf_case(list, r->products, engines_sdma, r, table, "%s SDMA wrapper", r->name);
		if (r->products == V3 && r->last < 128)
			conf_case(list, V3, engines_fis, r, table, "%s FIS", r->name);
	}
	add_windows(list);
}
