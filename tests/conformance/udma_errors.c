// SPDX-License-Identifier: BSD-2-Clause
/*
 * udma.md 1, 2.4 and 2.8: interrupt controllers and the error bits of the secondary one.
 */
#include <string.h>
#include "conformance.h"

/* Offsets from GEN of every group, with its name in the pages. */
static const struct group {
	uint32_t at;
	const char *name;
} groups[] = {
	{ 0x0000, "primary IOFIC group A" },
	{ 0x0040, "primary IOFIC group B" },
	{ 0x0080, "primary IOFIC group C" },
	{ 0x00c0, "primary IOFIC group D" },
	{ 0x2000, "secondary IOFIC group A, M2S errors" },
	{ 0x2040, "secondary IOFIC group B, S2M errors" },
	{ 0x2080, "secondary IOFIC group C, FIFO parity" },
	{ 0x2d00, "IOFIC group of M2S descriptor reads" },
	{ 0x2e00, "IOFIC group of M2S data reads" },
	{ 0x2f00, "IOFIC group of M2S completion writes" },
	{ 0x3000, "IOFIC group of S2M descriptor reads" },
	{ 0x3100, "IOFIC group of S2M data writes" },
	{ 0x3200, "IOFIC group of S2M completion writes" },
	{ 0x3300, "IOFIC group of MSI-X" },
};

#define GROUP_A 0x2000u
#define GROUP_B 0x2040u
#define GROUP_C 0x2080u

static uint64_t group_at(struct conf *c, unsigned int engine, unsigned int g)
{
	return conf_udma(c, engine) + GEN_AT + groups[g].at;
}

/* One register of the layout in every group of the first and the last engine. */
static void iofic_each(struct conf *c, void (*check)(struct conf *c, uint64_t group))
{
	unsigned int g;

	for (g = 0; g < COUNT(groups); g++) {
		check(c, group_at(c, 0, g));
		check(c, group_at(c, c->p->engines - 1, g));
	}
}

/* Set bits stay until they are written with 0. */
static void cause(struct conf *c, uint64_t group)
{
	conf_reg(c, group, 0, "cause after power-up");
	conf_write(c, group + 0x08, 0x3);
	conf_reg(c, group, 0x3, "cause");
	conf_write(c, group, 0xfffffffe);
	conf_reg(c, group, 0x2, "cause, bit 0 cleared");
	conf_write(c, group, 0);
	conf_reg(c, group, 0, "cause, all cleared");
}

static void cause_set(struct conf *c, uint64_t group)
{
	conf_write(c, group + 0x08, 0x10);
	conf_write(c, group + 0x08, 0x01);
	conf_reg(c, group, 0x11, "cause after two writes of cause set");
	conf_write(c, group, 0);
}

static void mask(struct conf *c, uint64_t group)
{
	conf_storage(c, group + 0x10, 0xffffffff, "mask");
}

/* Written with the complement of what is to be unmasked. */
static void mask_clear(struct conf *c, uint64_t group)
{
	conf_write(c, group + 0x10, 0xffffffff);
	conf_write(c, group + 0x18, 0xfffffaff);
	conf_reg(c, group + 0x10, 0xfffffaff, "mask after clearing bits 8 and 10");
	conf_write(c, group + 0x18, 0xfffffffe);
	conf_reg(c, group + 0x10, 0xfffffafe, "mask after clearing bit 0 too");
}

/* 1 in the mask hides a cause. */
static void status(struct conf *c, uint64_t group)
{
	conf_write(c, group + 0x30, 0xffffffff);
	conf_write(c, group + 0x10, 0xffffffff);
	conf_write(c, group + 0x08, 0x6);
	conf_reg(c, group + 0x20, 0, "status with all masked");
	conf_write(c, group + 0x10, 0xfffffffd);
	conf_reg(c, group + 0x20, 0x2, "status with bit 1 unmasked");
	conf_read_only(c, group + 0x20, "status");
}

static void control(struct conf *c, uint64_t group)
{
	conf_storage(c, group + 0x28, 0x28, "control");
}

static void abort_mask(struct conf *c, uint64_t group)
{
	conf_storage(c, group + 0x30, 0xffffffff, "abort mask");
}

static const struct layout {
	uint32_t offset;
	const char *name;
	void (*check)(struct conf *c, uint64_t group);
} layout[] = {
	{ 0x00, "cause", cause },
	{ 0x08, "cause set (W1 sets)", cause_set },
	{ 0x10, "mask (1 = masked)", mask },
	{ 0x18, "mask clear, written with the complement", mask_clear },
	{ 0x20, "status", status },
	{ 0x28, "control", control },
	{ 0x30, "abort mask", abort_mask },
};

static void iofic_register(struct conf *c, const void *row)
{
	const struct layout *l = row;

	iofic_each(c, l->check);
}

/* Bit 3: a cause is latched on the rising edge; it stays though its source is gone. */
static void control_latch(struct conf *c, const void *row)
{
	uint64_t group = conf_udma(c, 0) + GEN_AT + GROUP_A, dst;

	(void)row;
	conf_host(c, 4, &dst);
	conf_store(c, group + 0x28, 0x28, "control of group A");
	conf_write(c, group + 0x30, 0);
	conf_dma_refused(c, 0, dst, c->p->hbm[0] + c->p->hbm_size, "source behind HBM 0");
	conf_write(c, conf_udma(c, 0) + M2S_AT + 0x204, 2);
	conf_true(c, conf_read(c, group) != 0, "group A cause stays latched after the error");
}

/* The group answers at its place in every engine. */
static void group_place(struct conf *c, const void *row)
{
	unsigned int g = NUM(row), e;

	for (e = 0; e < c->p->engines; e++)
		conf_write(c, group_at(c, e, g) + 0x28, e + 1);
	for (e = 0; e < c->p->engines; e++)
		conf_reg(c, group_at(c, e, g) + 0x28, e + 1, "engine %u %s control", e,
			 groups[g].name);
}

/* Names of the bits, low to high; NULL where the page names none. */
static const char *const bits_a[32] = {
	"stream completion mismatch",
	"stream parity",
	"stream response",
	"stream timeout",
	"completion AXI parity",
	"completion AXI response",
	"completion AXI timeout",
	"data AXI parity",
	"data AXI response",
	"data AXI timeout",
	"prefetch AXI parity",
	"prefetch AXI response",
	"prefetch AXI timeout",
	"packet too long",
	"too many descriptors",
	"bad FIRST",
	"bad LAST",
	"wrong ring id",
	"parity AXI data",
	"parity ack packet",
	"parity unack packet",
	"parity completion coalesce",
	"parity header",
	"parity data",
	"parity prefetch descriptor",
	"parity prefetch header",
	"MSI-X timeout",
	"MSI-X response",
};

static const char *const bits_b[32] = {
	[0] = "data AXI parity",
	[1] = "data AXI response",
	[2] = "data AXI timeout",
	[8] = "prefetch AXI parity",
	[9] = "prefetch AXI response",
	[10] = "prefetch AXI timeout",
	[11] = "wrong ring id",
	[13] = "completion AXI parity",
	[14] = "completion AXI response",
	[15] = "completion AXI timeout",
	[16] = "completion write blocked by stream ack",
	[17] = "completion write blocked by completion FIFO",
	[18] = "stream header parity",
	[19] = "stream header error",
	[20] = "stream data parity",
	[21] = "stream data error",
	[22] = "stream bad first",
	[23] = "stream bad last",
	[24] = "stream length mismatch",
	[25] = "parity data header",
	[26] = "parity data",
	[27] = "parity unack",
	[28] = "parity pre-unack",
	[29] = "parity coalesce",
	[30] = "parity prefetch descriptor",
	[31] = "parity transaction table",
};

/* Bits 0..5 M2S, 6..11 S2M; the page names none of them further. */
static const char *const bits_c[32] = {
	"M2S AXI FIFO parity 0", "M2S AXI FIFO parity 1", "M2S AXI FIFO parity 2",
	"M2S AXI FIFO parity 3", "M2S AXI FIFO parity 4", "M2S AXI FIFO parity 5",
	"S2M AXI FIFO parity 0", "S2M AXI FIFO parity 1", "S2M AXI FIFO parity 2",
	"S2M AXI FIFO parity 3", "S2M AXI FIFO parity 4", "S2M AXI FIFO parity 5",
};

struct error_bit {
	uint32_t group;
	unsigned int bit;
};

/* Latched, hidden by the mask and shown without; cleared alone; aborts only where the abort mask
 * has 0. */
static void error_bit(struct conf *c, const void *row)
{
	uint32_t group = NUM(row) & 0xffff, bit = 1u << (NUM(row) >> 16);
	uint64_t udma = conf_udma(c, 0), at = udma + GEN_AT + group;

	conf_write(c, at + 0x30, 0xffffffff);
	conf_write(c, at + 0x10, 0xffffffff);
	conf_write(c, at + 0x08, bit);
	conf_reg(c, at, bit, "cause");
	conf_reg(c, at + 0x20, 0, "status while masked");
	conf_write(c, at + 0x18, ~bit);
	conf_reg(c, at + 0x20, bit, "status while unmasked");
	conf_reg(c, udma + M2S_AT + 0x200, 0, "M2S state, event not an abort source");
	conf_write(c, at, ~bit);
	conf_reg(c, at, 0, "cause cleared");
	conf_write(c, at + 0x30, ~bit);
	conf_write(c, at + 0x08, bit);
	conf_wait(c, udma + M2S_AT + 0x200, 0x3333, 0x2222, "M2S state, event an abort source");
	conf_wait(c, udma + S2M_AT + 0x200, 0x3333, 0x2222, "S2M state, event an abort source");
}

/* What the init trace programs: all listed bits, and no other. */
static void unmasked(struct conf *c, const void *row)
{
	static const uint32_t v2_mask[3] = { 0xf0000000, 0x000010f8, 0xfffff000 };
	static const uint32_t v3_mask[3] = { 0xf0020000, 0x000018f8, 0xfffff000 };
	static const uint32_t group[3] = { GROUP_A, GROUP_B, GROUP_C };
	unsigned int i = NUM(row), e;

	for (e = 0; e < c->p->engines; e++) {
		bool masks = c->p->generation == 3 && e < 128;
		uint64_t at = conf_udma(c, e) + GEN_AT + group[i];

		conf_engine_init(c, e, true, 18, NULL, 0);
		conf_reg(c, at + 0x10, masks ? v3_mask[i] : v2_mask[i],
			 "engine %u group %c mask after init", e, 'A' + i);
		/* Group C's abort mask holds what was written last. */
		conf_reg(c, at + 0x30,
			 i == 2	 ? 0xfffff03f
			 : masks ? v3_mask[i]
				 : v2_mask[i],
			 "engine %u group %c abort mask after init", e, 'A' + i);
	}
}

/* An error of the engine is no interrupt to the host. */
static void no_interrupt(struct conf *c, const void *row)
{
	uint64_t dst;

	(void)row;
	conf_host(c, 4, &dst);
	conf_engine_init(c, 0, true, 18, NULL, 0);
	conf_dma_refused(c, 0, dst, c->p->hbm[0] + c->p->hbm_size, "source behind HBM 0");
	conf_true(c, conf_read(c, conf_udma(c, 0) + GEN_AT + GROUP_A) != 0,
		  "group A cause after a bad source");
	conf_is(c, __atomic_load_n(&c->interrupts, __ATOMIC_RELAXED), 0, "messages sent");
}

static void add_bits(struct conf_list *list, char letter, uint32_t group, const char *const *names)
{
	unsigned int bit;

	for (bit = 0; bit < 32; bit++)
		if (names[bit])
			conf_case(list, ALL, error_bit, ROW(group | bit << 16), "udma.md 2.8",
				  "error %c%u %s", letter, bit, names[bit]);
}

void conf_udma_errors(struct conf_list *list)
{
	unsigned int i;

	for (i = 0; i < COUNT(layout); i++)
		conf_case(list, ALL, iofic_register, &layout[i], "udma.md 1", "IOFIC +0x%02x %s",
			  layout[i].offset, layout[i].name);
	conf_case(list, ALL, control_latch, NULL, "udma.md 1",
		  "IOFIC control 0x28: cause latched on rising edge");
	for (i = 0; i < COUNT(groups); i++)
		conf_case(list, ALL, group_place, ROW(i), "udma.md 2.4", "GEN 0x%04x %s",
			  groups[i].at, groups[i].name);
	add_bits(list, 'A', GROUP_A, bits_a);
	add_bits(list, 'B', GROUP_B, bits_b);
	add_bits(list, 'C', GROUP_C, bits_c);
	for (i = 0; i < 3; i++)
		conf_case(list, ALL, unmasked, ROW(i), "udma.md 2.8",
			  "group %c unmasked and made abort sources at init", 'A' + i);
	conf_case(list, ALL, no_interrupt, NULL, "udma.md 2.8", "an error raises the cause alone");
}
