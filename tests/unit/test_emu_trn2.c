// SPDX-License-Identifier: BSD-2-Clause
/*
 * What Trn2 has and the older products have not: two dies, a piecewise BAR0, TOP_SPs whose windows
 * and numbers differ, FIS blocks, host copy engines with two queues in use, groups in the reset
 * map. Offsets and addresses are written out as numbers where they are the point of the test.
 */
#include <stdlib.h>
#include <string.h>
#include "emu_rig.h"

#define DIE1  0x800000000000ull
#define HBM0  0x1000000ull
#define SLOTS 4u

static struct rig rig;
static struct rig_queue q;
static struct rig_host mem;

static void open_queue(unsigned int engine, unsigned int queue)
{
	rig_open(&rig);
	rig_host_alloc(&rig, &mem, 65536);
	rig_queue_open(&rig, &q, engine, queue, 64);
}

static void close_queue(uint64_t complaints)
{
	rig_quiesce(&rig);
	rig_queue_close(&q);
	rig_host_free(&rig, &mem);
	rig_close(&rig, complaints);
}

static uint32_t word(unsigned int index)
{
	return ((uint32_t *)(void *)mem.ptr)[index];
}

static void word_set(unsigned int index, uint32_t value)
{
	((uint32_t *)(void *)mem.ptr)[index] = value;
}

/* Reads @len bytes at a device address into the second half of the host memory. */
static void dma_read(uint64_t dev, uint32_t len)
{
	rig_copy(&q, mem.dev + 32768, dev, len);
	rig_quiesce(&rig);
}

START_TEST(hbm_corners)
{
	static const uint64_t base[] = { 0, 0x4000000000, DIE1, DIE1 | 0x4000000000 };
	const uint64_t last = 0x600000000 - 4096;
	unsigned int h;

	open_queue(128, 0);
	for (h = 0; h < SLOTS; h++) {
		memset(mem.ptr, 0x60 + (int)h, 4096);
		rig_copy(&q, base[h] + last, mem.dev, 4096);
		rig_copy(&q, base[h], mem.dev, 4096);
		rig_quiesce(&rig);
		ck_assert_mem_eq(rig_hbm(&rig, base[h] + last), mem.ptr, 4096);
		ck_assert_mem_eq(rig_hbm(&rig, base[h]), mem.ptr, 4096);
	}
	close_queue(0);
}
END_TEST

START_TEST(hbm_in_bar4)
{
	uint64_t size, offset, bytes;
	uint8_t *hbm;
	unsigned int h;

	rig_open(&rig);
	hbm = emu_device_hbm(rig.dev, &size);
	ck_assert_uint_eq(size, 1ull << 38);
	for (h = 0; h < SLOTS; h++) {
		ck_assert(emu_device_hbm_stack(rig.dev, h, &offset, &bytes));
		ck_assert_uint_eq(offset, h * (64ull << 30));
		ck_assert_uint_eq(bytes, 24ull << 30);
		hbm[offset + bytes - 1] = 1;
	}
	ck_assert(!emu_device_hbm_stack(rig.dev, SLOTS, &offset, &bytes));
	rig_close(&rig, 0);
}
END_TEST

/* The slot of a stack goes on behind it, with nothing there. */
START_TEST(behind_a_stack_is_nothing)
{
	open_queue(129, 0);
	rig_copy(&q, 0x600000000, mem.dev, 64);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	close_queue(1);
}
END_TEST

START_TEST(preproc_is_memory)
{
	static const uint64_t base[] = { 0x1200000000, 0x5200000000, DIE1 | 0x1200000000,
					 DIE1 | 0x5200000000 };
	const uint64_t last = 0x34c0000 - 64;
	unsigned int h;

	open_queue(130, 1);
	for (h = 0; h < SLOTS; h++) {
		memset(mem.ptr, 0x40 + (int)h, 64);
		rig_copy(&q, base[h] + last, mem.dev, 64);
		rig_quiesce(&rig);
	}
	for (h = 0; h < SLOTS; h++) {
		memset(mem.ptr, 0x40 + (int)h, 64);
		dma_read(base[h] + last, 64);
		ck_assert_mem_eq(mem.ptr + 32768, mem.ptr, 64);
	}
	rig_copy(&q, base[3] + last + 32, mem.dev, 64);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	close_queue(1);
}
END_TEST

START_TEST(preproc_is_zero_after_a_machine_reset)
{
	open_queue(128, 0);
	memset(mem.ptr, 0x55, 64);
	rig_copy(&q, 0x1200000000, mem.dev, 64);
	rig_quiesce(&rig);
	emu_device_reset(rig.dev);
	rig_engine_init(&rig, 128);
	rig_queue_reset(&q);
	memset(mem.ptr, 0, 64);
	dma_read(0x1200000000, 64);
	ck_assert_mem_eq(mem.ptr + 32768, mem.ptr, 64);
	close_queue(0);
}
END_TEST

START_TEST(host_window)
{
	open_queue(128, 0);
	ck_assert_uint_eq(RIG_HOST, 1ull << 46);
	word_set(0, 0x77);
	rig_copy(&q, mem.dev + 64, mem.dev, 4);
	rig_wait_word(mem.ptr + 64, 0x77);
	/* The host window of v2 is nothing here. */
	rig_copy(&q, mem.dev + 128, 1ull << 44 | mem.bus, 4);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	close_queue(1);
}
END_TEST

/* Two queues of each host copy engine serve two cores. */
START_TEST(host_copy_engines)
{
	unsigned int core;

	rig_open(&rig);
	rig_host_alloc(&rig, &mem, 65536);
	for (core = 0; core < 8; core++) {
		rig_queue_open(&rig, &q, 128 + core / 2, core % 2, 32);
		word_set(0, core + 1);
		rig_copy(&q, mem.dev + 64, mem.dev, 4);
		rig_wait_word(mem.ptr + 64, core + 1);
		rig_quiesce(&rig);
		rig_write(&rig, rig_q(&q, 0, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
		rig_write(&rig, rig_q(&q, 1, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
		rig_queue_close(&q);
	}
	rig_host_free(&rig, &mem);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(engine_bases)
{
	static const struct {
		unsigned int id;
		uint32_t udma, sdma;
	} cases[] = {
		{ 0, 0x82000000, 0x82040000 },	 { 31, 0x83f00000, 0x83f40000 },
		{ 32, 0x94000000, 0x94040000 },	 { 63, 0x95f00000, 0x95f40000 },
		{ 64, 0xa2000000, 0xa2040000 },	 { 95, 0xa3f00000, 0xa3f40000 },
		{ 96, 0xb4000000, 0xb4040000 },	 { 127, 0xb5f00000, 0xb5f40000 },
		{ 128, 0x06800000, 0x06840000 }, { 129, 0x06900000, 0x06940000 },
		{ 130, 0x46800000, 0x46840000 }, { 131, 0x46900000, 0x46940000 },
	};
	unsigned int i;

	rig_open(&rig);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_uint_eq(rig_engine(cases[i].id), cases[i].udma);
		ck_assert_uint_eq(rig_read(&rig, cases[i].udma + TRN_M2S_DMA_VERSION), 4);
		rig_write(&rig, cases[i].sdma + TRN_SDMA_TX_BEATS, 0x26);
		ck_assert_uint_eq(rig_read(&rig, cases[i].sdma + TRN_SDMA_TX_BEATS), 0x26);
	}
	rig_close(&rig, 0);
}
END_TEST

START_TEST(fis_blocks)
{
	static const uint32_t base[] = { 0x8c000000, 0x8c3e0000, 0x9c400000, 0x9c7e0000,
					 0xac000000, 0xac3e0000, 0xbc400000, 0xbc7e0000 };
	unsigned int i;

	rig_open(&rig);
	for (i = 0; i < sizeof(base) / sizeof(base[0]); i++) {
		rig_write(&rig, base[i] + 0x90, 0x800);
		rig_write(&rig, base[i] + 0xd0, 0x4);
		ck_assert_uint_eq(rig_read(&rig, base[i] + 0x90), 0x800);
		ck_assert_uint_eq(rig_read(&rig, base[i] + 0xd0), 0x4);
	}
	ck_assert_uint_eq(rig_read(&rig, base[0] + 0x100), 0);
	rig_write(&rig, base[0] + 0xa0, 1); /* status */
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_UNKNOWN_REGISTER), 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_READ_ONLY), 1);
	rig_close(&rig, 2);
}
END_TEST

/* Engine init masks a wrong ring id in the engine and here; it is latched in both. */
START_TEST(fis_sees_wrong_ring_ids)
{
	const uint32_t fis = 0x8c000000 + 9 * 0x20000, gen = rig_engine(9) + TRN_UDMA_GEN;

	open_queue(9, 0);
	rig_write(&rig, gen + 0x2030, 0xf0020000);
	rig_write(&rig, gen + 0x2070, 0x18f8);
	rig_write(&rig, fis + 0x90, rig_read(&rig, fis + 0x90) | 0x800);
	rig_write(&rig, fis + 0xd0, rig_read(&rig, fis + 0xd0) | 0x4);
	rig_m2s(&q, mem.dev, 4, 0);
	rig_s2m(&q, mem.dev + 64, 4);
	q.m2s[0].ctrl ^= TRN_DESC_RING_ID_MASK;
	q.s2m[0].ctrl ^= TRN_DESC_RING_ID_MASK;
	word_set(0, 0x99);
	rig_ring(&q, 1, 1);
	rig_wait_word(mem.ptr + 64, 0x99);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, fis + 0x80), 0x800);
	ck_assert_uint_eq(rig_read(&rig, fis + 0xc0), 0x4);
	ck_assert_uint_eq(rig_read(&rig, fis + 0x80 + TRN_IOFIC_STATUS), 0);
	ck_assert_uint_eq(rig_read(&rig, gen + 0x2000), TRN_ERR_A_WRONG_RING_ID);
	close_queue(0);
}
END_TEST

/* Host copy engines have no such block, and there it aborts. */
START_TEST(wrong_ring_id_aborts_a_host_copy)
{
	unsigned int k;

	for (k = 128; k < 132; k++) {
		open_queue(k, k % 2);
		rig_m2s(&q, mem.dev, 4, 0);
		rig_s2m(&q, mem.dev + 64, 4);
		q.s2m[0].ctrl ^= TRN_DESC_RING_ID_MASK;
		rig_ring(&q, 1, 1);
		rig_wait(&rig, rig_engine(k) + TRN_M2S_STATE, ~0u, TRN_UDMA_STATE_ABORT);
		ck_assert_uint_eq(word(16), 0);
		close_queue(1);
	}
}
END_TEST

START_TEST(fis_group_is_an_interrupt_controller)
{
	const uint32_t group = 0x8c000080;

	rig_open(&rig);
	ck_assert_uint_eq(rig_read(&rig, group + TRN_IOFIC_MASK), 0xffffffff);
	rig_write(&rig, group + TRN_IOFIC_CAUSE_SET, 0x30);
	ck_assert_uint_eq(rig_read(&rig, group + TRN_IOFIC_STATUS), 0);
	rig_write(&rig, group + TRN_IOFIC_MASK_CLEAR, ~0x10u);
	ck_assert_uint_eq(rig_read(&rig, group + TRN_IOFIC_STATUS), 0x10);
	rig_write(&rig, group + TRN_IOFIC_CAUSE, ~0x10u);
	ck_assert_uint_eq(rig_read(&rig, group + TRN_IOFIC_CAUSE), 0x20);
	rig_close(&rig, 0);
}
END_TEST

/* Windows follow the number of the hardware, notification blocks that of the driver. */
START_TEST(top_sp_numbers)
{
	unsigned int k, t;

	open_queue(128, 0);
	for (k = 0; k < 20; k++)
		rig_write(&rig, 0xf0000000 + k * 0x400000 + 0x1400, k + 1);
	for (k = 0; k < 20; k++) {
		ck_assert_uint_eq(rig_read(&rig, 0xf0000000 + k * 0x400000 + 0x1000), k + 1);
		dma_read((k < 10 ? 0x8280000000 : DIE1 | 0x8280000000) + k % 10 * 0x40000000ull +
				 0x1000,
			 4);
		ck_assert_uint_eq(word(8192), k + 1);
	}
	for (t = 0; t < 16; t++)
		rig_write(&rig, t / 8 * 0x40000000u + 0x06a00000 + t % 8 * 0x40000 + 0x100,
			  (t + 1) << 12);
	for (t = 0; t < 16; t++)
		ck_assert_uint_eq(
			rig_read(&rig, t / 8 * 0x40000000u + 0x06a00000 + t % 8 * 0x40000 + 0x100),
			(t + 1) << 12);
	close_queue(0);
}
END_TEST

START_TEST(cores_and_their_blocks)
{
	static const uint32_t notific[] = { 0x06001000, 0x06181000, 0x06401000, 0x06581000,
					    0x46001000, 0x46181000, 0x46401000, 0x46581000 };
	static const uint64_t tpb[] = { 0x2000000000,	     0x3000000000,
					0x6000000000,	     0x7000000000,
					DIE1 | 0x2000000000, DIE1 | 0x3000000000,
					DIE1 | 0x6000000000, DIE1 | 0x7000000000 };
	unsigned int n;

	open_queue(131, 0);
	for (n = 0; n < 8; n++) {
		rig_write(&rig, notific[n] + 0x104, n + 100);
		rig_write(&rig, 0xd0000000 + n * 0x4000000 + TRN_TPB_SEM_SET + 4 * 255, n + 1);
		word_set(0, 0xc0de0000 + n);
		rig_copy(&q, tpb[n] + 127 * TRN_SBUF_PARTITION_STRIDE, mem.dev, 4);
		rig_quiesce(&rig);
	}
	for (n = 0; n < 8; n++) {
		ck_assert_uint_eq(rig_read(&rig, notific[n] + 0x104), n + 100);
		dma_read(tpb[n] + TRN_TPB_SEM_READ + 4 * 255, 4);
		ck_assert_uint_eq(word(8192), n + 1);
		ck_assert_uint_eq(rig_read(&rig, 0xd0000000 + n * 0x4000000 +
							 127 * TRN_SBUF_PARTITION_STRIDE),
				  0xc0de0000 + n);
	}
	close_queue(0);
}
END_TEST

/* A core's slot of device addresses is larger than its window; the rest leads nowhere. */
START_TEST(behind_a_core_window_is_nothing)
{
	open_queue(128, 1);
	rig_copy(&q, mem.dev, 0x2004000000, 4);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	close_queue(1);
}
END_TEST

START_TEST(sbuf_is_larger)
{
	const uint64_t end = 0x7000000000 + 224 * 1024;

	open_queue(128, 0);
	memset(mem.ptr, 0x2d, 64);
	rig_copy(&q, end - 64, mem.dev, 64);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, 0xdc000000 + 224 * 1024 - 4), 0x2d2d2d2d);
	rig_copy(&q, end - 32, mem.dev, 64);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	close_queue(1);
}
END_TEST

/* An election reads MISC RAM like this, with the link base 0 to test it on one device. */
START_TEST(misc_ram_by_descriptor)
{
	open_queue(36, 0);
	word_set(0, 1);
	rig_m2s_raw(&q, 0x8006c84000 + TRN_MISC_SERIAL_LOW, 8, TRN_DESC_FIRST | TRN_DESC_LAST,
		    TRN_META_BARRIER);
	rig_s2m(&q, mem.dev + 8, 8);
	rig_m2s_raw(&q, mem.dev, 4, TRN_DESC_FIRST | TRN_DESC_LAST, TRN_META_BARRIER);
	rig_s2m(&q, mem.dev + 4, 4);
	rig_ring(&q, 2, 2);
	rig_wait_word(mem.ptr + 4, 1);
	ck_assert_uint_eq(word(2), rig_read(&rig, 0x06c84038));
	ck_assert_uint_eq(word(3), rig_read(&rig, 0x06c8403c));
	ck_assert_uint_ne(word(2), 0);
	close_queue(0);
}
END_TEST

static void tpb_reset(uint32_t map)
{
	rig_write(&rig, RIG_MISC + TRN_MISC_RESET_MAP, map);
	rig_write(&rig, RIG_MISC + TRN_MISC_RESET, TRN_RESET_TPB);
	rig_write(&rig, RIG_MISC + TRN_MISC_TRIGGER, 1);
	rig_wait(&rig, RIG_MISC + TRN_MISC_RESET, ~0u, 0);
}

START_TEST(reset_map_of_top_sps)
{
	unsigned int t;

	rig_open(&rig);
	for (t = 0; t < 16; t++)
		rig_write(&rig, rig_map->top_sp(t) + 0x1400, 1);
	rig_write(&rig, 0xf0000000 + 8 * 0x400000 + 0x1400, 1);
	tpb_reset(1u << (16 + 4)); /* core 4 owns 8 and 9, which are 10 and 11 of the hardware */
	for (t = 0; t < 16; t++)
		ck_assert_uint_eq(rig_read(&rig, rig_map->top_sp(t) + 0x1000), t != 8 && t != 9);
	ck_assert_uint_eq(rig_read(&rig, 0xf0000000 + 8 * 0x400000 + 0x1000), 1);
	tpb_reset(0xff000000); /* defined, and nothing happens */
	ck_assert_uint_eq(rig_read(&rig, rig_map->top_sp(0) + 0x1000), 1);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(reset_map_of_cores)
{
	unsigned int n;

	rig_open(&rig);
	for (n = 0; n < 8; n++)
		rig_write(&rig, rig_sem(n, TRN_TPB_SEM_SET, 1), 1);
	tpb_reset(0x81);
	for (n = 0; n < 8; n++)
		ck_assert_uint_eq(rig_read(&rig, rig_sem(n, TRN_TPB_SEM_READ, 1)),
				  n != 0 && n != 7);
	rig_close(&rig, 0);
}
END_TEST

/* The group of engine 17 is that of core 1; an abort in it is not ended by resets of others. */
START_TEST(reset_map_of_engines)
{
	const uint32_t state = rig_map->udma(17) + TRN_M2S_STATE;

	open_queue(17, 0);
	rig_copy(&q, 0x600000000, mem.dev, 64);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	rig_wait(&rig, state, ~0u, TRN_UDMA_STATE_ABORT);
	tpb_reset(0xff00fdff);
	ck_assert_uint_eq(rig_read(&rig, state), TRN_UDMA_STATE_ABORT);
	tpb_reset(0x200);
	ck_assert_uint_eq(rig_read(&rig, state), TRN_UDMA_STATE_NORMAL);
	close_queue(1);
}
END_TEST

START_TEST(power_of_both_dies)
{
	uint32_t first[2];
	unsigned int die;

	rig_open(&rig);
	for (die = 0; die < 2; die++)
		first[die] = rig_read(&rig, RIG_MISC + TRN_MISC_POWER_D0 + 4 * die);
	for (die = 0; die < 2; die++) {
		uint32_t now = first[die];

		while (now >> 16 == first[die] >> 16)
			now = rig_read(&rig, RIG_MISC + TRN_MISC_POWER_D0 + 4 * die);
		ck_assert_uint_eq(now & 0xffff, 0);
	}
	rig_close(&rig, 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		hbm_corners,
		hbm_in_bar4,
		preproc_is_memory,
		preproc_is_zero_after_a_machine_reset,
		host_window,
		host_copy_engines,
		engine_bases,
		fis_blocks,
		fis_group_is_an_interrupt_controller,
		fis_sees_wrong_ring_ids,
		wrong_ring_id_aborts_a_host_copy,
		top_sp_numbers,
		cores_and_their_blocks,
		behind_a_core_window_is_nothing,
		behind_a_stack_is_nothing,
		sbuf_is_larger,
		misc_ram_by_descriptor,
		reset_map_of_top_sps,
		reset_map_of_cores,
		reset_map_of_engines,
		power_of_both_dies,
	};

	setenv("TRN_EMU_ARCH", "trn2", 1);
	return RIG_MAIN("emu_trn2", tests);
}
