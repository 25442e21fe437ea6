// SPDX-License-Identifier: BSD-2-Clause
/*
 * README.md: conventions, the smallest device model, the ten traps.
 */
#include <string.h>
#include "conformance.h"

/* 32-bit, aligned, little-endian; nothing else is an access. */
static void access_size(struct conf *c, const void *row)
{
	uint64_t at = c->p->misc + 0x100;

	(void)row;
	conf_write(c, at, 0x11223344);
	emu_device_write(c->dev, 0, at, 0x55, 1);
	emu_device_write(c->dev, 0, at, 0x5555, 2);
	emu_device_write(c->dev, 0, at + 2, 0x55555555, 4);
	conf_complaint(c, EMU_COMPLAINT_ACCESS_SIZE, 3);
	conf_reg(c, at, 0x11223344, "word after accesses of other sizes");
}

static void little_endian(struct conf *c, const void *row)
{
	uint64_t host;
	uint8_t *to = conf_host(c, 4, &host);

	(void)row;
	conf_write(c, c->p->misc + 0x100, 0x44332211);
	conf_dma(c, 0, host, c->p->misc_dev + 0x100, 4, "word to host memory");
	conf_same(c, to, "\x11\x22\x33\x44", 4, "bytes in host memory");
}

static void smallest(struct conf *c, const void *row)
{
	struct conf_queue h2t[8];
	struct conf_fwio fwio;
	uint8_t config[4096];

	switch (NUM(row)) {
	case 1:
		emu_device_pci_config(c->dev, config);
		conf_is(c, config[0] | config[1] << 8, 0x1d0f, "vendor");
		conf_is(c, config[2] | config[3] << 8, c->p->pci_device, "device");
		conf_true(c, config[8] != 240 && config[8] != 255, "revision");
		conf_true(c, emu_device_bar_size(c->dev, 0) >= c->p->bar0_size, "REG BAR");
		conf_true(c, emu_device_bar_size(c->dev, 4) > 0, "BAR4");
		conf_is(c, config[0x10] & 0xf, 0x4, "BAR0 is 64-bit");
		conf_is(c, config[0x20] & 0x6, 0x4, "BAR4 is 64-bit");
		return;
	case 2:
		conf_true(c, conf_read(c, c->p->misc + 0x24) < 64, "MR+0x24");
		return;
	case 3:
		conf_device_reset(c);
		return;
	case 4:
		conf_device_reset(c);
		conf_is(c, conf_read(c, c->p->misc + 0x808) & 8, 0, "MR+0x808 bit 3");
		return;
	case 5:
		conf_is(c, conf_probe(c, h2t, 8192), c->p->generation == 3 ? 19336 : 12946,
			"accesses of the probe");
		conf_is(c, __atomic_load_n(&c->interrupts, __ATOMIC_RELAXED), 0, "messages");
		return;
	case 6:
		conf_works(c, conf_owned(c), 0, "copies");
		return;
	case 7:
		conf_fwio_open(c, &fwio);
		conf_is(c,
			conf_fwio_send(c, &fwio, 2, 2,
				       "\x0c\x01"
				       "0",
				       3),
			0, "metric post");
		return;
	}
}

static void trap_states(struct conf *c, const void *row)
{
	(void)row;
	conf_works(c, 0, 0, "cfg bits 17:16 and a doorbell, no change of state");
}

static void trap_reset(struct conf *c, const void *row)
{
	(void)row;
	conf_write(c, c->p->misc + 0x1ec, 1);
	conf_write(c, c->p->misc + 0x800, 1);
	conf_wait(c, c->p->misc + 0x1ec, 0xffffffff, 0, "RESET is cleared by the device");
	conf_is(c, conf_read(c, c->p->misc + 0x808) & 8, 0, "busy bit");
}

static void trap_doorbells(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;
	unsigned int i;

	(void)row;
	conf_host(c, 4, &src);
	conf_host(c, 4, &dst);
	conf_queue_open(c, &queue, 0, 0, 32);
	for (i = 0; i < 40; i++)
		conf_copy(&queue, dst, src, 4, "ring of 32 descriptors");
	conf_write(c, conf_q(&queue, M2S, 0xb0), 0x100);
	conf_write(c, conf_q(&queue, S2M, 0x64), 0x100);
	conf_reg(c, conf_q(&queue, M2S, 0x34), 1u << 30, "M2S head after the pulse");
	conf_reg(c, conf_q(&queue, S2M, 0x34), 1u << 30, "S2M head after the pulse");
}

static void trap_zero(struct conf *c, const void *row)
{
	uint64_t src, dst;
	uint8_t *from = conf_host(c, 65536, &src), *to = conf_host(c, 65536, &dst);

	(void)row;
	conf_pattern(from, 65536, 77);
	conf_dma(c, conf_owned(c), dst, src, 0, "length 0");
	conf_same(c, to, from, 65536, "64 KiB");
}

static void trap_completion(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst, mark;
	uint8_t *from = conf_host(c, 65536, &src), *to = conf_host(c, 65536, &dst);
	uint32_t *marker = conf_host(c, 8, &mark), i;

	(void)row;
	conf_queue_open(c, &queue, conf_owned(c), 0, 64);
	for (i = 1; i <= 20; i++) {
		conf_pattern(from, 65536, i);
		marker[0] = 0xabcdef01;
		marker[1] = 0;
		conf_packet(&queue, dst, src, 65536);
		conf_packet(&queue, mark + 4, mark, 4);
		conf_ring_both(&queue, 2);
		conf_wait_word(c, &marker[1], 0xabcdef01, "marker");
		if (!conf_same(c, to, from, 65536, "data when the marker is seen"))
			return;
	}
	conf_is(c, __atomic_load_n(&c->interrupts, __ATOMIC_RELAXED), 0, "messages");
}

static void trap_engines(struct conf *c, const void *row)
{
	unsigned int n, queue, engine;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		engine = conf_h2t(c, n, &queue);
		conf_works(c, engine, queue, "both directions by the engine of the core");
	}
}

static void trap_host_bit(struct conf *c, const void *row)
{
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);

	(void)row;
	*from = 0x4444;
	conf_true(c, (src >> (c->p->generation == 3 ? 46 : 44)) == 1, "one bit above the address");
	conf_dma(c, 0, dst, src, 4, "host pointers");
	conf_is(c, *to, 0x4444, "destination");
}

static void trap_both_ends(struct conf *c, const void *row)
{
	unsigned int h;
	uint64_t src;
	uint32_t *from = conf_host(c, 4096, &src);

	(void)row;
	*from = 0xe4d5;
	for (h = 0; h < c->p->stacks; h++) {
		conf_dma(c, 0, c->p->hbm[h], src, 4, "first bytes of the stack");
		conf_dma(c, 1, c->p->hbm[h] + c->p->hbm_size - 4, src, 4,
			 "last bytes of the stack");
		conf_is(c, *(uint32_t *)conf_hbm(c, h, 0), 0xe4d5, "first word of stack %u", h);
		conf_is(c, *(uint32_t *)conf_hbm(c, h, c->p->hbm_size - 4), 0xe4d5,
			"last word of stack %u", h);
		c->host_used = 4096;
	}
}

/* v3: ts 8 is hardware TOP_SP 10; SENG 1 and 3 have other offsets. v2: BAR0 is one window. */
static void trap_map(struct conf *c, const void *row)
{
	uint64_t host;
	uint32_t *to = conf_host(c, 4, &host);

	(void)row;
	if (c->p->generation == 2) {
		conf_write(c, 0x30fa0100, 0x99);
		conf_dma(c, 0, host, 0x0fffc0000000 + 0x30fa0100, 4, "linear window");
		conf_is(c, *to, 0x99, "MISC RAM by the linear window");
		return;
	}
	conf_write(c, 0xf2800000 + 0x1400, 0x88);
	conf_dma(c, 0, host, 0x808280000000 + 0x1000, 4, "TOP_SP 10");
	conf_is(c, *to, 0x88, "ts 8 is hardware TOP_SP 10");
	conf_works(c, 32, 0, "first engine of SENG 1");
	conf_works(c, 96, 0, "first engine of SENG 3");
	conf_store(c, 0x9c400090, 0x800, "FIS of engine 32");
	conf_store(c, 0xbc400090, 0x800, "FIS of engine 96");
}

static void trap_survives(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;

	(void)row;
	conf_host(c, 4, &src);
	conf_host(c, 4, &dst);
	conf_write(c, c->p->misc + 0x198, 0x777);
	conf_queue_open(c, &queue, conf_owned(c), 0, 8192);
	conf_copy(&queue, dst, src, 4, "before");
	conf_device_reset(c);
	conf_copy(&queue, dst, src, 4, "after, with the state of before");
	conf_reg(c, c->p->misc + 0x198, 0x777, "MR+0x198");
}

void conf_readme(struct conf_list *list)
{
	static const char small[] = "README.md smallest-device-model";
	static const char trap[] = "README.md ten-traps-for-a-device-model";
	static const struct {
		conf_run *run;
		const char *name;
	} traps[] = {
		{ trap_states, "1 engines are never switched to normal" },
		{ trap_reset, "2 RESET cleared by the device, busy-high, one doorbell" },
		{ trap_doorbells, "3 S2M then M2S, length in descriptors, reset is a pulse" },
		{ trap_zero, "4 length 0 means 64 KiB" },
		{ trap_completion, "5 marker copy must not overtake data" },
		{ trap_engines, "6 engines of host copies, both directions" },
		{ trap_host_bit, "7 host pointers carry bit 44 or 46" },
		{ trap_both_ends, "8 memory at both ends of a stack" },
		{ trap_map, "9 TOP_SP numbers, SENG offsets, linear or piecewise BAR0" },
		{ trap_survives, "10 state that survives" },
	};
	static const char *const rows[] = {
		"1 function, revision, BARs",
		"2 MR+0x24 routing id",
		"3 MR+0x800 with MR+0x1ec resets",
		"4 MR+0x808 bit 3 is 0 after a reset",
		"5 probe by plain registers",
		"6 copies",
		"7 FWIO replies",
	};
	unsigned int i;

	conf_case(list, ALL, access_size, NULL, "README.md conventions",
		  "MMIO is 32-bit and aligned");
	conf_case(list, ALL, little_endian, NULL, "README.md conventions",
		  "little-endian in host memory");
	for (i = 0; i < COUNT(rows); i++)
		conf_case(list, ALL, smallest, ROW(i + 1), small, "%s", rows[i]);
	for (i = 0; i < COUNT(traps); i++)
		conf_case(list, ALL, traps[i].run, NULL, trap, "%s", traps[i].name);
}
