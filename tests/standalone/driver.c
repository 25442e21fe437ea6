// SPDX-License-Identifier: BSD-2-Clause
/*
 * A driver against the device model in process, from the hardware facts alone: no code is shared.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tests/emulator/inproc.h"

#define rd(at)	  emu_device_read(dev, 0, (at), 4)
#define wr(at, v) emu_device_write(dev, 0, (at), (uint32_t)(v), 4)
#define v3	  (product == 2)
#define MISC	  (v3 ? 0x06c84000 : 0x30fa0000)

static const char *const products[] = { "trn1", "inf2", "trn2" };
static uint32_t product, failed;
static struct emu_device *dev;
static _Alignas(4096) uint8_t memory[4 << 20]; /* what the device reaches of the host */
static uint64_t memory_dev;
static struct queue { /* M2S ring, S2M ring and marker lie one after the other */
	uint64_t regs, dma, *ring;
	uint32_t len, posted;
} h2t[8], user[2];

/* Engine init, rows 3 to 12: offset and value; then row 18: offset and bit, two of them in FIS. */
static uint32_t init[] = {
	0x310,	 0x1000400,  0x124,   0x86f,	  0x3a300, 0x5f5e100,  0x408,	0,
	0x254,	 0x10fffff,  0x258,   0x102,	  0x118,   0x10008,    0x2038c, 0,
	0x20124, 0x400008,   0x20128, 0x40804080, 0x3a028, 0x28,       0x380e8, 0x28,
	0x3a030, 0xf0000000, 0x3a0b0, 0xffffffc0, 0x3a018, 0xf0000000, 0x3a098, 0xffffffc0,
	0x380d8, 0xfffffaff, 0x3a068, 0x28,	  0x380e8, 0x28,       0x3a070, 0x10f8,
	0x3a0b0, 0xfffff03f, 0x3a058, 0x10f8,	  0x3a098, 0xfffff03f, 0x380d8, 0xfffff9ff,
	0x20380, 0x1004,     0x304,   0x10041,	  0x308,   0x4181,     0x20308, 0x4181,
	0x11c,	 0x10008,    0x2011c, 0x10008,	  0x3a010, 0x20000,    0x3a050, 0x800,
	0x90,	 0x800,	     0xd0,    4,	  0x20c,   0x20000,    0x2020c, 0x800
};

static void report(const char *what, bool good)
{
	printf("%s - driver on %s: %s\n", good ? "ok" : "not ok", products[product], what);
	failed += !good;
}

static uint64_t udma(uint64_t e)
{
	if (v3)
		return e < 128 ? 0x82000000 + e / 32 * 0x10000000 + e % 64 * 0x100000
			       : 0x06800000 + e / 130 * 0x40000000 + e % 2 * 0x100000;
	return 0x30000000 + (e < 32 ? e / 16 : e % 2) * 0x700000 + (e < 32 ? e % 16 : 24) * 0x40000;
}

static void engine_init(uint32_t e)
{
	uint64_t u = udma(e), fis = (u & 0xf0000000) + 0xc000000 + e % 64 * 0x20000,
		 at = u + 0x40000;
	uint32_t i, k;

	if (!v3 && e < 32)
		at = 0x30400000 + e / 16 * 0x700000 + e % 16 * 0x7000; /* SDMA wrapper */
	for (i = 0; !v3 && e < 32 && i < 2; i++)
		wr(at + 0x100 + i * 4, i ? (0x8249 >> e % 16 & 1) * 0xffff : 0xffff >> e % 16);
	for (i = 0; i < 32; i++)
		wr(u + i % 2 * 0x20000 + 0x1020 + i / 2 * 0x1000, 0x00030000);
	for (i = 0; i < 30; i++) {
		for (k = 0; (i == 6 || i == 8) && k < 64; k++) /* selectors: tx, then rx */
			if ((k % 4 == 0) == (i == 6))
				wr(u + 0x3c400 + k / 4 * 0x40 + k % 4 * 4, 0xffffffff);
		if (i == 10)
			wr(u + 0x3b460, rd(u + 0x3b460) & ~1u);
		wr(u + init[2 * i], init[2 * i + 1]);
	}
	for (i = 0; i < 3 + v3; i++)
		wr(at + (i == 0 ? 0x1c : i == 1 ? 0x20 : i == 2 ? 0 : 0x800), i < 3 ? 1 : 0x26);
	for (i = 0; !v3 && i < 36; i++)
		wr(u + 0x3a900 + i / 6 * 0x40 + (i % 6 < 3 ? 4 : 0x18) + i % 6 * 4, 0xf);
	for (i = 0; !v3 && i < 192; i++)
		wr(u + 0x3ab00 + i / 32 * 8 + i % 2 * 4, i % 2 ? 0x10 : i / 2 % 16 * 8 + 7);
	for (i = 0; !v3 && i < 18; i++) /* +0x28, +0x30, +0x18 */
		wr(u + 0x3ad28 + i / 3 * 0x100 + i % 3 % 2 * 8 - i % 3 / 2 * 16, i % 3 ? 0 : 0x28);
	if (!v3)
		wr(u + 0x3a300, 0xffffffff);
	for (i = 30; v3 && e < 128 && i < 36; i++) {
		at = (i / 2 == 16 ? fis : u) + init[2 * i];
		k = rd(at) | init[2 * i + 1];
		wr(at, k);
		if (i < 32)
			wr(at + 0x20, k);
	}
}

static void queue_init(struct queue *q, uint32_t e, uint32_t n, uint32_t len, uint32_t offset)
{
	uint64_t at = udma(e) + 0x1000 + n * 0x1000, dma = memory_dev + offset;

	*q = (struct queue){ at, dma, (uint64_t *)(memory + offset), len, 0 };
	wr(at + 0x74, 3);
	for (uint32_t d = 0; d < 2; d++, at += 0x20000, dma += len * 16) {
		wr(at + 0x20, 0x03000000);
		wr(at + (d ? 0x64 : 0xb0), 0x100);
		wr(at + 0x28, dma);
		wr(at + 0x2c, dma >> 32);
		wr(at + 0x30, len);
		wr(at + (d ? 0x54 : 0xa0), 0);
		wr(at + 0x20, 0x03030000);
	}
}

/* Host memory to HBM and back, the marker behind; S2M doorbell first; then the marker is polled. */
static bool works(struct queue *q, uint32_t fill, uint32_t len)
{
	uint64_t host = memory_dev + 0x300000, mark = q->dma + q->len * 32, *tx, ctrl;

	memset(memory + 0x300000, (int)fill, len);
	q->ring[q->len * 4] = 0xabcdef01; /* source dword; the destination behind it is 0 */
	for (uint32_t i = 0; i < 3; i++, q->posted++) {
		tx = q->ring + q->posted % q->len * 2;
		ctrl = (i < 2 ? len & 0xffff : 4) | (q->posted / q->len + 1) % 4 << 24;
		tx[0] = ctrl | 3 << 26 | (i < 2 ? 0x05080003ull : 0x01080003ull) << 32;
		tx[1] = i == 0 ? host : i == 1 ? 0x1000000 : mark;
		tx[q->len * 2] = ctrl;
		tx[q->len * 2 + 1] = i == 0 ? 0x1000000 : i == 1 ? host + 0x10000 : mark + 4;
	}
	wr(q->regs + 0x20038, 3);
	wr(q->regs + 0x38, 3);
	while (__atomic_load_n(&q->ring[q->len * 4], __ATOMIC_ACQUIRE) >> 32 != 0xabcdef01)
		usleep(10); /* main() limits the time */
	return !memcmp(memory + 0x310000, memory + 0x300000, len);
}

static bool reset(uint32_t kind, uint32_t map)
{
	wr(MISC + 0x1d8, map);
	wr(MISC + 0x1ec, kind);
	wr(MISC + 0x800, 1);
	while (rd(MISC + 0x1ec) || rd(MISC + 0x808) & 8)
		usleep(10);
	return true;
}

static uint32_t fwio_read(uint32_t offset)
{
	uint64_t reg = (v3 ? 0x8006c84000 : 0x0ffff0fa0000) + offset, box = memory_dev + 0x380000;
	uint32_t request[4] = { 0x00100102, 0, (uint32_t)reg, (uint32_t)(reg >> 32) }, crc = ~0u, i;

	for (i = 0; i < 128; i++)
		crc = crc >> 1 ^ ((crc ^ request[i / 32] >> i % 32) & 1) * 0x82f63b78;
	request[1] = ~crc;
	memcpy(memory + 0x380000, request, 16);
	memory[0x380100] = 0;
	for (i = 0; i < 4; i++) /* 0x1f4, 0x1f0, 0x1fc, 0x1f8 */
		wr(MISC + 0x1f0 + (i ^ 1) * 4, i % 2 ? box >> 32 : box + i / 2 * 0x100);
	wr(MISC + 0x800, 1);
	while (__atomic_load_n(&memory[0x380100], __ATOMIC_ACQUIRE) != 2)
		usleep(10);
	return *(uint32_t *)(memory + 0x380104);
}

int main(void)
{
	for (; product < 3; product++) {
		struct emu_config config = { .size = sizeof(config), .arch = products[product] };
		char error[256] = "no room for host memory";
		struct emu_inproc *shell;
		uint32_t n, e, good = 1;

		alarm(300);
		if (v3)
			init[1] = 0x10008f8, init[3] = 0x20808080, init[17] = 0x400080;
		if (emu_inproc_create(&config, &shell, error, sizeof(error)) ||
		    emu_inproc_map(shell, memory, sizeof(memory), true, &memory_dev))
			return puts(error), 1;
		memory_dev |= 1ull << (v3 ? 46 : 44);
		dev = emu_inproc_device(shell);
		report("probe: routing id, device reset", rd(MISC + 0x24) < 64 && reset(1, 0));
		for (n = 0; n < (v3 ? 8 : 2); n++) {
			for (e = 16 * n; e < 16 * n + 16; e++)
				engine_init(e);
			e = v3 ? 128 + n / 2 : 32 + n;
			if (!v3 || n % 2 == 0)
				engine_init(e);
			queue_init(&h2t[n], e, v3 * n % 2, 8192, n * 0x41000);
		}
		while (n--)
			good &= works(&h2t[n], n + 1, 65536);
		report("probe: copies of every core", good);
		for (n = 0; n < 2; n++)
			queue_init(&user[n], 5, n * 15, 32, 0x320000 + n * 0x1000);
		for (n = 0; n < 200; n++)
			good &= works(&user[n % 2], n, 64);
		report("two queues, rings that wrap", good);
		report("device reset, queues go on", reset(1, 0) && works(&h2t[0], 7, 4096));
		reset(2, v3 ? 0x010101 : 0x701);
		queue_init(&user[0], 5, 0, 32, 0x320000);
		report("TPB reset, queue set up again", works(&user[0], 8, 4096));
		report("FWIO READ", fwio_read(0x38) == rd(MISC + 0x38));
		report("no mistake counted", !emu_device_complaints(dev, EMU_COMPLAINT_NONE));
		emu_inproc_destroy(shell);
	}
	return failed != 0;
}
