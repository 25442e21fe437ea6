// SPDX-License-Identifier: BSD-2-Clause
/*
 * DMA engines of the device model: copies, rings, packets, registers as endpoints, errors.
 */
#include <stdlib.h>
#include <string.h>
#include "emu_rig.h"

#define HBM0 0x1000000ull
#define HBM1 (rig_map->hbm_base(1) + 0x1000000ull)
#define SBUF(core, partition, offset)                                                         \
	(rig_map->dev(rig_map->tpb(core)) + (uint64_t)(partition)*TRN_SBUF_PARTITION_STRIDE + \
	 (offset))
#define REG(bar0)     (rig_map->dev(bar0))
#define SEC_A(engine) (rig_engine(engine) + TRN_UDMA_GEN + TRN_GEN_IOFIC_SECONDARY_A)
#define SEC_B(engine) (rig_engine(engine) + TRN_UDMA_GEN + TRN_GEN_IOFIC_SECONDARY_B)
#define RING	      64u
#define H2T	      RIG_H2T

static struct rig rig;
static struct rig_queue q;
static struct rig_host mem;

static void open_engine(unsigned int engine)
{
	rig_open(&rig);
	rig_queue_open(&rig, &q, engine, 0, RING);
	rig_host_alloc(&rig, &mem, 1 << 20);
}

static void open_all(void)
{
	open_engine(H2T);
}

static void close_all(uint64_t complaints)
{
	rig_queue_close(&q);
	rig_host_free(&rig, &mem);
	rig_close(&rig, complaints);
}

static void pattern(void *ptr, size_t len, unsigned int seed)
{
	uint8_t *p = ptr;
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 131 + (i >> 8) * 17 + seed);
}

/* One packet that must end in an error of one kind. */
static void expect_error(enum emu_complaint kind, uint32_t a, uint32_t b)
{
	rig_wait_complaint(&rig, kind, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, SEC_A(q.engine) + TRN_IOFIC_CAUSE), a);
	ck_assert_uint_eq(rig_read(&rig, SEC_B(q.engine) + TRN_IOFIC_CAUSE), b);
	ck_assert_uint_eq(rig_read(&rig, q.udma + TRN_UDMA_M2S + TRN_M2S_STATE),
			  TRN_UDMA_STATE_ABORT);
	ck_assert_uint_eq(rig_read(&rig, q.udma + TRN_UDMA_S2M + TRN_S2M_STATE),
			  TRN_UDMA_STATE_ABORT);
	ck_assert_uint_eq(rig_head(&q, 0), 0);
}

/* What engine init does where user rings are run again as they are. */
static void ring_ids_ignore(unsigned int engine)
{
	rig_write(&rig, SEC_A(engine) + TRN_IOFIC_MASK, 0xf0000000 | TRN_ERR_A_WRONG_RING_ID);
	rig_write(&rig, SEC_A(engine) + TRN_IOFIC_ABORT_MASK, 0xf0000000 | TRN_ERR_A_WRONG_RING_ID);
	rig_write(&rig, SEC_B(engine) + TRN_IOFIC_MASK, 0x10f8 | TRN_ERR_B_WRONG_RING_ID);
	rig_write(&rig, SEC_B(engine) + TRN_IOFIC_ABORT_MASK, 0x10f8 | TRN_ERR_B_WRONG_RING_ID);
}

START_TEST(copy_host_to_hbm_and_back)
{
	open_all();
	pattern(mem.ptr, 65536, 1);
	rig_copy(&q, HBM0, mem.dev, 65536);
	rig_copy(&q, mem.dev + 131072, HBM0, 65536);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 65536);
	ck_assert_mem_eq(mem.ptr + 131072, mem.ptr, 65536);
	close_all(0);
}
END_TEST

START_TEST(copy_both_stacks_and_their_ends)
{
	const uint64_t top0 = rig_map->hbm_size - 4096, top1 = rig_map->hbm_base(1) + top0;

	open_all();
	pattern(mem.ptr, 4096, 2);
	rig_copy(&q, top0, mem.dev, 4096);
	rig_copy(&q, top1, top0, 4096);
	rig_copy(&q, HBM1, top1, 4096);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, top1), mem.ptr, 4096);
	ck_assert_mem_eq(rig_hbm(&rig, HBM1), mem.ptr, 4096);
	close_all(0);
}
END_TEST

START_TEST(length_zero_is_64k)
{
	open_all();
	pattern(mem.ptr, 65537, 3);
	rig_copy(&q, HBM0, mem.dev, 0);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 65536);
	ck_assert_uint_eq(((uint8_t *)rig_hbm(&rig, HBM0))[65536], 0);
	close_all(0);
}
END_TEST

START_TEST(odd_lengths_and_alignments)
{
	static const uint32_t lengths[] = { 1, 2, 3, 5, 7, 255, 257, 4095, 4097, 65535 };
	unsigned int i;

	open_all();
	pattern(mem.ptr, 1 << 18, 4);
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint64_t to = HBM0 + i * 0x20000 + 3;

		rig_copy(&q, to, mem.dev + i, lengths[i]);
		rig_quiesce(&rig);
		ck_assert_mem_eq(rig_hbm(&rig, to), mem.ptr + i, lengths[i]);
		ck_assert_uint_eq(*((uint8_t *)rig_hbm(&rig, to) + lengths[i]), 0);
	}
	close_all(0);
}
END_TEST

START_TEST(host_to_host_marker)
{
	uint32_t *word;

	open_all();
	word = (uint32_t *)mem.ptr;
	word[0] = 0xabcdef01;
	rig_copy(&q, mem.dev + 4, mem.dev, 4);
	rig_wait_word(&word[1], 0xabcdef01);
	close_all(0);
}
END_TEST

START_TEST(marker_never_overtakes_data)
{
	unsigned int round, i;

	open_all();
	for (round = 1; round <= 50; round++) {
		memset(mem.ptr, (int)round, 65536 * 4);
		*(uint32_t *)(mem.ptr + (1 << 19)) = round;
		for (i = 0; i < 4; i++) {
			rig_m2s(&q, mem.dev + i * 65536, 65536, 0);
			rig_s2m(&q, HBM0 + i * 65536, 65536);
		}
		rig_m2s(&q, mem.dev + (1 << 19), 4, TRN_DESC_DMB);
		rig_s2m(&q, mem.dev + (1 << 19) + 64, 4);
		rig_ring(&q, 5, 5);
		rig_wait_word(mem.ptr + (1 << 19) + 64, round);
		ck_assert_uint_eq(*((uint8_t *)rig_hbm(&rig, HBM0) + 4 * 65536 - 1), round);
	}
	close_all(0);
}
END_TEST

START_TEST(m2s_doorbell_first)
{
	open_all();
	pattern(mem.ptr, 4096, 5);
	rig_m2s(&q, mem.dev, 4096, 0);
	rig_s2m(&q, HBM0, 4096);
	rig_ring(&q, 1, 0);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 0);
	rig_ring(&q, 0, 1);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 4096);
	ck_assert_uint_eq(rig_head(&q, 0), 1);
	close_all(0);
}
END_TEST

START_TEST(s2m_alone_waits)
{
	open_all();
	rig_s2m(&q, HBM0, 4096);
	rig_ring(&q, 0, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 1), 0);
	rig_m2s(&q, mem.dev, 4096, 0);
	rig_ring(&q, 1, 0);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 1), 1);
	close_all(0);
}
END_TEST

START_TEST(doorbell_of_many)
{
	unsigned int i;

	open_all();
	pattern(mem.ptr, 1 << 18, 6);
	for (i = 0; i < RING; i++) {
		rig_m2s(&q, mem.dev + i * 1024, 1024, 0);
		rig_s2m(&q, HBM0 + i * 1024, 1024);
	}
	rig_ring(&q, RING, RING);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, RING * 1024);
	close_all(0);
}
END_TEST

START_TEST(wrap_and_ring_id)
{
	unsigned int i;

	open_all();
	for (i = 0; i < 5 * RING + 3; i++) {
		*(uint32_t *)mem.ptr = i;
		rig_copy(&q, mem.dev + 64, mem.dev, 4);
		rig_wait_word(mem.ptr + 64, i);
		rig_quiesce(&rig);
		ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, TRN_Q_HEAD)),
				  (i + 1) % RING | ((i + 1) / RING + 1) % 4 << TRN_Q_RING_ID_SHIFT);
		ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 1, TRN_Q_TAIL)),
				  (i + 1) % RING | ((i + 1) / RING + 1) % 4 << TRN_Q_RING_ID_SHIFT);
	}
	close_all(0);
}
END_TEST

START_TEST(gather_into_one)
{
	open_all();
	pattern(mem.ptr, 8192, 7);
	rig_m2s_raw(&q, mem.dev, 100, TRN_DESC_FIRST, TRN_META_PLAIN);
	rig_m2s_raw(&q, mem.dev + 1000, 200, 0, TRN_META_PLAIN);
	rig_m2s_raw(&q, mem.dev + 3000, 300, TRN_DESC_LAST, TRN_META_BARRIER);
	rig_s2m(&q, HBM0, 600);
	rig_ring(&q, 3, 1);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 100);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0 + 100), mem.ptr + 1000, 200);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0 + 300), mem.ptr + 3000, 300);
	ck_assert_uint_eq(rig_head(&q, 0), 3);
	ck_assert_uint_eq(rig_head(&q, 1), 1);
	close_all(0);
}
END_TEST

START_TEST(scatter_from_one)
{
	open_all();
	pattern(mem.ptr, 8192, 8);
	rig_m2s(&q, mem.dev, 600, 0);
	rig_s2m(&q, HBM0, 100);
	rig_s2m(&q, HBM0 + 5000, 200);
	rig_s2m(&q, HBM0 + 9000, 300);
	rig_ring(&q, 1, 3);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 100);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0 + 5000), mem.ptr + 100, 200);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0 + 9000), mem.ptr + 300, 300);
	close_all(0);
}
END_TEST

START_TEST(gather_and_scatter_piece_by_piece)
{
	open_all();
	pattern(mem.ptr, 8192, 9);
	rig_m2s_raw(&q, mem.dev, 300, TRN_DESC_FIRST, TRN_META_PLAIN);
	rig_s2m(&q, HBM0, 100);
	rig_ring(&q, 1, 1);
	rig_quiesce(&rig);
	rig_s2m(&q, HBM0 + 100, 500);
	rig_ring(&q, 0, 1);
	rig_quiesce(&rig);
	rig_m2s_raw(&q, mem.dev + 300, 300, TRN_DESC_LAST, TRN_META_PLAIN);
	rig_ring(&q, 1, 0);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 600);
	ck_assert_uint_eq(rig_head(&q, 0), 2);
	ck_assert_uint_eq(rig_head(&q, 1), 2);
	close_all(0);
}
END_TEST

START_TEST(every_engine_and_queue)
{
	unsigned int engine, queue;

	rig_open(&rig);
	rig_host_alloc(&rig, &mem, 4096);
	for (engine = 0; engine < rig_map->engines; engine++) {
		for (queue = 0; queue < TRN_UDMA_QUEUES; queue++) {
			uint32_t value = engine << 8 | queue | 0x50000;

			rig_queue_open(&rig, &q, engine, queue, 32);
			*(uint32_t *)mem.ptr = value;
			rig_copy(&q, mem.dev + 64, mem.dev, 4);
			rig_wait_word(mem.ptr + 64, value);
			rig_quiesce(&rig);
			rig_write(&rig, rig_q(&q, 0, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
			rig_write(&rig, rig_q(&q, 1, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
			rig_queue_close(&q);
		}
	}
	rig_host_free(&rig, &mem);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(ring_in_hbm)
{
	struct trn_desc *m2s, *s2m;

	open_all();
	rig_write(&rig, rig_q(&q, 0, TRN_Q_BASE_LOW), HBM0 + 0x10000);
	rig_write(&rig, rig_q(&q, 0, TRN_Q_BASE_HIGH), 0);
	rig_write(&rig, rig_q(&q, 1, TRN_Q_BASE_LOW), HBM0 + 0x20000);
	rig_write(&rig, rig_q(&q, 1, TRN_Q_BASE_HIGH), 0);
	m2s = rig_hbm(&rig, HBM0 + 0x10000);
	s2m = rig_hbm(&rig, HBM0 + 0x20000);
	pattern(mem.ptr, 512, 10);
	*m2s = (struct trn_desc){ 0x0d000000 | 512, TRN_META_PLAIN, mem.dev };
	*s2m = (struct trn_desc){ 0x01000000 | 512, 0, HBM0 };
	rig_ring(&q, 1, 1);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 512);
	close_all(0);
}
END_TEST

START_TEST(queue_reset_is_a_pulse)
{
	open_all();
	rig_copy(&q, HBM0, mem.dev, 4);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 1);
	rig_write(&rig, rig_q(&q, 0, TRN_Q_M2S_SW_CTRL), TRN_Q_SW_CTRL_RESET);
	rig_write(&rig, rig_q(&q, 1, TRN_Q_S2M_SW_CTRL), TRN_Q_SW_CTRL_RESET);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, TRN_Q_M2S_SW_CTRL)), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, TRN_Q_HEAD)), 1u << TRN_Q_RING_ID_SHIFT);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 1, TRN_Q_TAIL)), 1u << TRN_Q_RING_ID_SHIFT);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, TRN_Q_LENGTH)), RING);
	close_all(0);
}
END_TEST

START_TEST(queue_reset_drops_posted_work)
{
	open_all();
	rig_m2s(&q, mem.dev, 4, 0);
	rig_ring(&q, 1, 0);
	rig_queue_reset(&q);
	rig_s2m(&q, HBM0, 4);
	rig_ring(&q, 0, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 1), 0);
	close_all(0);
}
END_TEST

START_TEST(paused_queue_keeps_its_work)
{
	open_all();
	pattern(mem.ptr, 64, 11);
	rig_m2s(&q, mem.dev, 64, 0);
	rig_s2m(&q, HBM0, 64);
	rig_ring(&q, 1, 0);
	rig_write(&rig, rig_q(&q, 0, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
	rig_ring(&q, 0, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 0);
	rig_write(&rig, rig_q(&q, 0, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 64);
	close_all(0);
}
END_TEST

START_TEST(no_doorbell_no_prefetch)
{
	open_all();
	/* Rings point at nothing; without a doorbell nobody may look. */
	rig_write(&rig, rig_q(&q, 0, TRN_Q_BASE_HIGH), 0x1fff);
	rig_write(&rig, rig_q(&q, 1, TRN_Q_BASE_HIGH), 0x1fff);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, SEC_A(H2T) + TRN_IOFIC_CAUSE), 0);
	close_all(0);
}
END_TEST

START_TEST(register_reset_values)
{
	rig_open(&rig);
	ck_assert_uint_eq(rig_read(&rig, rig_engine(3) + TRN_UDMA_QUEUE(5) + TRN_Q_CFG),
			  TRN_Q_CFG_RESET_VALUE);
	ck_assert_uint_eq(rig_read(&rig, rig_engine(3) + TRN_UDMA_QUEUE(5) + TRN_Q_M2S_RATE_MASK),
			  TRN_Q_RATE_MASK_RESET);
	ck_assert_uint_eq(rig_read(&rig, rig_engine(3) + TRN_UDMA_QUEUE(5) + TRN_Q_HEAD),
			  TRN_RING_FIRST_ID << TRN_Q_RING_ID_SHIFT);
	ck_assert_uint_eq(rig_read(&rig, rig_engine(3) + TRN_M2S_STATE), TRN_UDMA_STATE_IDLE);
	ck_assert_uint_eq(rig_read(&rig, rig_engine(3) + TRN_M2S_DMA_VERSION), 4);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(registers_are_storage)
{
	uint32_t udma = rig_engine(20);

	rig_open(&rig);
	rig_write(&rig, udma + TRN_M2S_DATA_FIFO_CFG, 0x01000400);
	rig_write(&rig, udma + TRN_UDMA_S2M + TRN_S2M_COMPLETION_CFG1C, 0x1004);
	rig_write(&rig, udma + TRN_UDMA_GENX + TRN_GENX_SELECTOR(15) + 0xc, 0xffffffff);
	rig_write(&rig, udma + TRN_UDMA_GEN + TRN_GEN_AXI_TIMEOUT, 100000000);
	rig_write(&rig, rig_map->sdma(20) + TRN_SDMA_BCAST_GROUP, 0xfff);
	ck_assert_uint_eq(rig_read(&rig, udma + TRN_M2S_DATA_FIFO_CFG), 0x01000400);
	ck_assert_uint_eq(rig_read(&rig, udma + TRN_UDMA_S2M + TRN_S2M_COMPLETION_CFG1C), 0x1004);
	ck_assert_uint_eq(rig_read(&rig, udma + TRN_UDMA_GENX + TRN_GENX_SELECTOR(15) + 0xc), ~0u);
	ck_assert_uint_eq(rig_read(&rig, udma + TRN_UDMA_GEN + TRN_GEN_AXI_TIMEOUT), 100000000);
	ck_assert_uint_eq(rig_read(&rig, rig_map->sdma(20) + TRN_SDMA_BCAST_GROUP), 0xfff);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(change_state)
{
	uint32_t state, change;

	open_all();
	state = q.udma + TRN_M2S_STATE;
	change = q.udma + TRN_M2S_CHANGE_STATE;
	ck_assert_uint_eq(rig_read(&rig, state), TRN_UDMA_STATE_NORMAL);
	rig_write(&rig, change, TRN_UDMA_CHANGE_DISABLE);
	ck_assert_uint_eq(rig_read(&rig, state), TRN_UDMA_STATE_IDLE);
	rig_write(&rig, change, TRN_UDMA_CHANGE_ABORT);
	ck_assert_uint_eq(rig_read(&rig, state), TRN_UDMA_STATE_ABORT);
	rig_write(&rig, change, TRN_UDMA_CHANGE_NORMAL);
	ck_assert_uint_eq(rig_read(&rig, state), TRN_UDMA_STATE_NORMAL);
	rig_copy(&q, HBM0, mem.dev, 64);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 1);
	close_all(0);
}
END_TEST

START_TEST(disabled_engine_stops_work)
{
	open_all();
	rig_m2s(&q, mem.dev, 64, 0);
	rig_s2m(&q, HBM0, 64);
	rig_ring(&q, 1, 0);
	rig_write(&rig, q.udma + TRN_UDMA_S2M + TRN_S2M_CHANGE_STATE, TRN_UDMA_CHANGE_DISABLE);
	rig_ring(&q, 0, 1);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DOORBELL_DISABLED, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 0);
	rig_write(&rig, q.udma + TRN_UDMA_S2M + TRN_S2M_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
	rig_ring(&q, 0, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 1);
	close_all(1);
}
END_TEST

START_TEST(iofic_registers)
{
	uint32_t group = SEC_A(7);

	rig_open(&rig);
	ck_assert_uint_eq(rig_read(&rig, group + TRN_IOFIC_MASK), 0xffffffff);
	rig_write(&rig, group + TRN_IOFIC_MASK_CLEAR, 0xfffffff0);
	ck_assert_uint_eq(rig_read(&rig, group + TRN_IOFIC_MASK), 0xfffffff0);
	rig_write(&rig, group + TRN_IOFIC_CAUSE_SET, 0x13);
	ck_assert_uint_eq(rig_read(&rig, group + TRN_IOFIC_CAUSE), 0x13);
	ck_assert_uint_eq(rig_read(&rig, group + TRN_IOFIC_STATUS), 0x3);
	rig_write(&rig, group + TRN_IOFIC_CAUSE, ~1u);
	ck_assert_uint_eq(rig_read(&rig, group + TRN_IOFIC_CAUSE), 0x12);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(sbuf_partitions)
{
	open_all();
	pattern(mem.ptr, 8192, 12);
	rig_copy(&q, SBUF(0, 5, 0x100), mem.dev, 4096);
	rig_copy(&q, SBUF(1, 127, TRN_SBUF_PARTITION_BYTES_V2 - 4096), SBUF(0, 5, 0x100), 4096);
	rig_copy(&q, mem.dev + 65536, SBUF(1, 127, TRN_SBUF_PARTITION_BYTES_V2 - 4096), 4096);
	rig_quiesce(&rig);
	ck_assert_mem_eq(mem.ptr + 65536, mem.ptr, 4096);
	ck_assert_uint_eq(rig_read(&rig, rig_map->tpb(0) + 5 * TRN_SBUF_PARTITION_STRIDE + 0x100),
			  *(uint32_t *)mem.ptr);
	close_all(0);
}
END_TEST

START_TEST(sbuf_above_the_partition_is_an_error)
{
	open_all();
	rig_copy(&q, SBUF(0, 0, rig_map->sbuf_partition_bytes - 16), mem.dev, 32);
	expect_error(EMU_COMPLAINT_DESC_ADDRESS, 0, TRN_ERR_B_DATA_RESPONSE);
	close_all(1);
}
END_TEST

START_TEST(psum_is_no_endpoint)
{
	open_all();
	rig_copy(&q, REG(rig_map->tpb(0) + TRN_TPB_PSUM), mem.dev, 32);
	expect_error(EMU_COMPLAINT_DESC_ADDRESS, 0, TRN_ERR_B_DATA_RESPONSE);
	close_all(1);
}
END_TEST

START_TEST(dma_increments_semaphore)
{
	unsigned int i;

	open_all();
	*(uint32_t *)mem.ptr = 3;
	for (i = 0; i < 10; i++)
		rig_copy(&q, REG(rig_sem(0, TRN_TPB_SEM_INC, 17)), mem.dev, 4);
	rig_wait(&rig, rig_sem(0, TRN_TPB_SEM_READ, 17), ~0u, 30);
	close_all(0);
}
END_TEST

START_TEST(dma_reads_misc_ram)
{
	open_all();
	rig_copy(&q, mem.dev, REG(RIG_MISC + TRN_MISC_SERIAL_LOW), 8);
	rig_quiesce(&rig);
	ck_assert_uint_eq(((uint32_t *)mem.ptr)[0], rig_read(&rig, RIG_MISC + TRN_MISC_SERIAL_LOW));
	ck_assert_uint_eq(((uint32_t *)mem.ptr)[1],
			  rig_read(&rig, RIG_MISC + TRN_MISC_SERIAL_HIGH));
	close_all(0);
}
END_TEST

START_TEST(dma_writes_misc_ram)
{
	unsigned int i;

	open_all();
	for (i = 0; i < TRN_MISC_METRIC_SIZE / 4; i++)
		((uint32_t *)mem.ptr)[i] = i * 7 + 1;
	rig_copy(&q, REG(RIG_MISC + TRN_MISC_METRIC), mem.dev, TRN_MISC_METRIC_SIZE);
	rig_quiesce(&rig);
	for (i = 0; i < TRN_MISC_METRIC_SIZE / 4; i++)
		ck_assert_uint_eq(rig_read(&rig, RIG_MISC + TRN_MISC_METRIC + 4 * i), i * 7 + 1);
	close_all(0);
}
END_TEST

START_TEST(dma_rings_a_doorbell)
{
	struct rig_queue other;
	uint32_t *word;

	open_all();
	rig_queue_open(&rig, &other, 5, 3, RING);
	word = (uint32_t *)mem.ptr;
	word[0] = 1;
	word[1] = 0x600d;
	rig_m2s(&other, mem.dev + 4, 4, 0);
	rig_s2m(&other, mem.dev + 128, 4);
	rig_m2s(&q, mem.dev, 4, 0);
	rig_s2m(&q, REG(rig_q(&other, 1, TRN_Q_TAIL_INC)), 4);
	rig_m2s(&q, mem.dev, 4, 0);
	rig_s2m(&q, REG(rig_q(&other, 0, TRN_Q_TAIL_INC)), 4);
	rig_ring(&q, 2, 2);
	rig_wait_word(&word[32], 0x600d);
	rig_quiesce(&rig);
	rig_queue_close(&other);
	close_all(0);
}
END_TEST

/* A ring that rings itself: two doorbells per pass, for ever. */
START_TEST(doorbell_loop_ends)
{
	struct trn_desc *m2s, *s2m;
	unsigned int i;

	open_all();
	ring_ids_ignore(H2T); /* nobody counts the passes */
	m2s = q.m2s;
	s2m = q.s2m;
	*(uint32_t *)mem.ptr = 2;
	for (i = 0; i < RING; i++) {
		m2s[i] = (struct trn_desc){ 0x0d000004, TRN_META_PLAIN, mem.dev };
		s2m[i] = (struct trn_desc){ 0x01000004, 0, REG(rig_q(&q, i % 2, TRN_Q_TAIL_INC)) };
	}
	rig_ring(&q, 2, 2);
	rig_wait_complaint(&rig, EMU_COMPLAINT_REGISTER_DMA_LOOP, 1);
	rig_quiesce(&rig);
	close_all(rig_complaints(&rig, EMU_COMPLAINT_NONE));
}
END_TEST

START_TEST(unaligned_register_dma)
{
	open_all();
	rig_copy(&q, REG(RIG_MISC + TRN_MISC_METRIC) + 2, mem.dev, 4);
	rig_wait_complaint(&rig, EMU_COMPLAINT_ACCESS_SIZE, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, q.udma + TRN_M2S_STATE), TRN_UDMA_STATE_ABORT);
	close_all(2);
}
END_TEST

START_TEST(source_decodes_to_nothing)
{
	open_all();
	rig_copy(&q, HBM0, 0x800000000ull, 64);
	expect_error(EMU_COMPLAINT_DESC_ADDRESS, TRN_ERR_A_DATA_RESPONSE, 0);
	close_all(1);
}
END_TEST

START_TEST(destination_not_mapped)
{
	open_all();
	rig_copy(&q, RIG_HOST | 0x7f000000000ull, mem.dev, 64);
	expect_error(EMU_COMPLAINT_DESC_ADDRESS, 0, TRN_ERR_B_DATA_RESPONSE);
	close_all(1);
}
END_TEST

START_TEST(crossing_the_end_of_hbm)
{
	open_all();
	rig_copy(&q, rig_map->hbm_size - 32, mem.dev, 64);
	expect_error(EMU_COMPLAINT_DESC_ADDRESS, 0, TRN_ERR_B_DATA_RESPONSE);
	close_all(1);
}
END_TEST

START_TEST(ring_memory_missing)
{
	open_all();
	rig_write(&rig, rig_q(&q, 0, TRN_Q_BASE_HIGH), 0x1fff);
	rig_ring(&q, 1, 1);
	expect_error(EMU_COMPLAINT_DESC_ADDRESS, TRN_ERR_A_PREFETCH_RESPONSE, 0);
	close_all(1);
}
END_TEST

START_TEST(reserved_bit_m2s)
{
	open_all();
	rig_m2s(&q, mem.dev, 64, 1u << 31);
	rig_s2m(&q, HBM0, 64);
	rig_ring(&q, 1, 1);
	expect_error(EMU_COMPLAINT_DESC_RESERVED, TRN_ERR_A_DATA_RESPONSE, 0);
	close_all(1);
}
END_TEST

START_TEST(reserved_bit_s2m)
{
	open_all();
	rig_m2s(&q, mem.dev, 64, 0);
	rig_s2m(&q, HBM0, 64);
	q.s2m[0].meta = 1;
	rig_ring(&q, 1, 1);
	expect_error(EMU_COMPLAINT_DESC_RESERVED, 0, TRN_ERR_B_DATA_RESPONSE);
	close_all(1);
}
END_TEST

START_TEST(unsupported_operation)
{
	open_all();
	rig_m2s_raw(&q, mem.dev, 64, TRN_DESC_FIRST | TRN_DESC_LAST, TRN_META_PLAIN | 1u << 14);
	rig_s2m(&q, HBM0, 64);
	rig_ring(&q, 1, 1);
	expect_error(EMU_COMPLAINT_DESC_RESERVED, TRN_ERR_A_DATA_RESPONSE, 0);
	close_all(1);
}
END_TEST

START_TEST(packet_without_first)
{
	open_all();
	rig_m2s_raw(&q, mem.dev, 64, TRN_DESC_LAST, TRN_META_PLAIN);
	rig_s2m(&q, HBM0, 64);
	rig_ring(&q, 1, 1);
	expect_error(EMU_COMPLAINT_DESC_RESERVED, TRN_ERR_A_BAD_FIRST, 0);
	close_all(1);
}
END_TEST

START_TEST(first_inside_a_packet)
{
	open_all();
	rig_m2s_raw(&q, mem.dev, 64, TRN_DESC_FIRST, TRN_META_PLAIN);
	rig_m2s_raw(&q, mem.dev, 64, TRN_DESC_FIRST | TRN_DESC_LAST, TRN_META_PLAIN);
	rig_s2m(&q, HBM0, 128);
	rig_ring(&q, 2, 1);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_RESERVED, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, SEC_A(H2T) + TRN_IOFIC_CAUSE), TRN_ERR_A_BAD_LAST);
	close_all(1);
}
END_TEST

START_TEST(packet_shorter_than_destination)
{
	open_all();
	rig_m2s(&q, mem.dev, 64, 0);
	rig_s2m(&q, HBM0, 65);
	rig_ring(&q, 1, 1);
	expect_error(EMU_COMPLAINT_DESC_LENGTH, 0, TRN_ERR_B_LENGTH_MISMATCH);
	close_all(1);
}
END_TEST

START_TEST(packet_of_too_many_descriptors)
{
	unsigned int i;

	rig_open(&rig);
	rig_queue_open(&rig, &q, H2T, 0, 128);
	rig_host_alloc(&rig, &mem, 4096);
	for (i = 0; i < TRN_PACKET_MAX_DESCS + 1; i++)
		rig_m2s_raw(&q, mem.dev, 4, i ? 0 : TRN_DESC_FIRST, TRN_META_PLAIN);
	rig_s2m(&q, HBM0, 0);
	rig_ring(&q, TRN_PACKET_MAX_DESCS + 1, 1);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_LENGTH, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, SEC_A(H2T) + TRN_IOFIC_CAUSE), TRN_ERR_A_TOO_MANY_DESCS);
	close_all(1);
}
END_TEST

/* The limit register may say more; the hardware takes 128. */
START_TEST(packet_of_128_descriptors)
{
	unsigned int i;

	rig_open(&rig);
	rig_queue_open(&rig, &q, 2, 0, 256);
	rig_host_alloc(&rig, &mem, 65536);
	rig_write(&rig, q.udma + TRN_M2S_PREFETCH_CFG2, 0x000100ff);
	pattern(mem.ptr, 1024, 8);
	for (i = 0; i < 128; i++)
		rig_m2s_raw(&q, mem.dev + 8 * i, 8,
			    (i ? 0 : TRN_DESC_FIRST) | (i == 127 ? TRN_DESC_LAST : 0),
			    TRN_META_PLAIN);
	rig_s2m(&q, HBM0, 1024);
	rig_ring(&q, 128, 1);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 1024);
	for (i = 0; i < 128; i++)
		rig_m2s_raw(&q, mem.dev, 8, i ? 0 : TRN_DESC_FIRST, TRN_META_PLAIN);
	rig_ring(&q, 128, 0);
	rig_s2m(&q, HBM0, 2048);
	rig_ring(&q, 0, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_NONE), 0);
	rig_m2s_raw(&q, mem.dev, 8, TRN_DESC_LAST, TRN_META_PLAIN);
	rig_ring(&q, 1, 0);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_LENGTH, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, SEC_A(2) + TRN_IOFIC_CAUSE), TRN_ERR_A_TOO_MANY_DESCS);
	close_all(1);
}
END_TEST

START_TEST(wrong_ring_id_of_a_source)
{
	open_all();
	rig_m2s(&q, mem.dev, 64, 0);
	q.m2s[0].ctrl ^= 2 << TRN_DESC_RING_ID_SHIFT;
	rig_s2m(&q, HBM0, 64);
	rig_ring(&q, 1, 1);
	expect_error(EMU_COMPLAINT_DESC_RESERVED, TRN_ERR_A_WRONG_RING_ID, 0);
	close_all(1);
}
END_TEST

/* Of the second pass: the descriptor was not renewed. */
START_TEST(wrong_ring_id_of_a_destination)
{
	unsigned int i;

	open_engine(H2T + 1);
	for (i = 0; i < RING; i++)
		rig_copy(&q, mem.dev + 64, mem.dev, 4);
	rig_quiesce(&rig);
	rig_m2s(&q, mem.dev, 4, 0);
	rig_ring(&q, 1, 1);
	expect_error(EMU_COMPLAINT_DESC_RESERVED, 0, TRN_ERR_B_WRONG_RING_ID);
	close_all(1);
}
END_TEST

/* Masked as an abort source it is latched and has no other effect. */
START_TEST(wrong_ring_id_ignored)
{
	unsigned int pass;

	open_engine(5);
	ring_ids_ignore(5);
	rig_m2s(&q, mem.dev, 64, 0);
	rig_s2m(&q, HBM0, 64);
	for (pass = 1; pass < RING; pass++) {
		q.m2s[pass] = q.m2s[0];
		q.s2m[pass] = q.s2m[0];
	}
	for (pass = 0; pass < 5; pass++) {
		rig_ring(&q, RING, RING);
		rig_quiesce(&rig);
		ck_assert_uint_eq(rig_read(&rig, SEC_A(5) + TRN_IOFIC_CAUSE),
				  pass ? TRN_ERR_A_WRONG_RING_ID : 0);
		ck_assert_uint_eq(rig_read(&rig, SEC_B(5) + TRN_IOFIC_CAUSE),
				  pass ? TRN_ERR_B_WRONG_RING_ID : 0);
	}
	ck_assert_uint_eq(rig_read(&rig, SEC_A(5) + TRN_IOFIC_STATUS), 0);
	ck_assert_uint_eq(rig_read(&rig, q.udma + TRN_M2S_STATE), TRN_UDMA_STATE_NORMAL);
	close_all(0);
}
END_TEST

START_TEST(axi_error_status_clears_when_read)
{
	uint32_t status;

	open_all();
	status = q.udma + TRN_UDMA_GEN + TRN_GEN_AXI_QUEUE(0) + TRN_GEN_AXI_QUEUE_STATUS;
	ck_assert_uint_eq(rig_read(&rig, status), 0);
	rig_copy(&q, 0x800000000ull, mem.dev, 64);
	expect_error(EMU_COMPLAINT_DESC_ADDRESS, 0, TRN_ERR_B_DATA_RESPONSE);
	ck_assert_uint_ne(rig_read(&rig, status), 0);
	ck_assert_uint_eq(rig_read(&rig, status), 0);
	ck_assert_uint_eq(rig_read(&rig, status + 0xc), 0);
	close_all(1);
}
END_TEST

START_TEST(heads_can_be_switched_off)
{
	uint32_t spare;

	open_all();
	spare = q.udma + TRN_UDMA_GEN + TRN_GEN_SPARE_ZEROES0;
	rig_copy(&q, mem.dev + 64, mem.dev, 4);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 1);
	rig_write(&rig, spare, 1);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, TRN_Q_HEAD)), 0);
	rig_write(&rig, spare, rig_read(&rig, spare) & ~1u);
	ck_assert_uint_eq(rig_head(&q, 0), 1);
	close_all(0);
}
END_TEST

/* Slot 0 is for traces of DMA; nothing is written there. */
START_TEST(notification_block_of_an_engine)
{
	const unsigned int last = rig_map->cores * TRN_ENGINES_PER_CORE - 1;
	uint32_t slot;

	open_engine(last);
	slot = rig_map->sdma(last) + TRN_SDMA_NOTIFIC + TRN_NQ_SLOT(0);
	rig_write(&rig, slot + TRN_NQ_BASE_HIGH, (uint32_t)((mem.dev + 4096) >> 32));
	rig_write(&rig, slot + TRN_NQ_BASE_LOW, (uint32_t)(mem.dev + 4096));
	rig_write(&rig, slot + TRN_NQ_SIZE, 4096);
	ck_assert_uint_eq(rig_read(&rig, slot + TRN_NQ_BASE_LOW), (uint32_t)(mem.dev + 4096));
	ck_assert_uint_eq(rig_read(&rig, slot + TRN_NQ_SIZE), 4096);
	rig_copy(&q, mem.dev + 64, mem.dev, 4);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, slot + TRN_NQ_HEAD), 0);
	ck_assert_uint_eq(*(uint32_t *)(mem.ptr + 4096), 0);
	rig_write(&rig, slot + TRN_NQ_BASE_HIGH, 0);
	rig_write(&rig, slot + TRN_NQ_BASE_LOW, 0);
	rig_write(&rig, slot + TRN_NQ_SIZE, 0);
	ck_assert_uint_eq(rig_read(&rig, slot + TRN_NQ_SIZE), 0);
	rig_write(&rig, slot + TRN_NQ_HEAD, 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_READ_ONLY), 1);
	close_all(1);
}
END_TEST

/* Memory of a queue may be given back when the write that stopped it returns. */
START_TEST(stopped_queue_touches_nothing)
{
	unsigned int round, i;

	open_all();
	memset(mem.ptr + 262144, 0xee, 65536);
	for (round = 0; round < 60; round++) {
		rig_queue_reset(&q);
		for (i = 0; i < RING - 1; i++) {
			rig_m2s(&q, mem.dev, 65536, 0);
			rig_s2m(&q, mem.dev + 131072, 65536);
		}
		memset(mem.ptr, (int)round, 65536);
		rig_ring(&q, RING - 1, RING - 1);
		if (round & 1)
			rig_wait(&rig, rig_q(&q, 0, TRN_Q_HEAD), 1, 1);
		/* by turns: reset, pause, another ring */
		switch (round % 3) {
		case 0:
			rig_write(&rig, rig_q(&q, 0, TRN_Q_M2S_SW_CTRL), TRN_Q_SW_CTRL_RESET);
			break;
		case 1:
			rig_write(&rig, rig_q(&q, 1, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
			break;
		default:
			rig_write(&rig, rig_q(&q, 1, TRN_Q_LENGTH), RING / 2);
			break;
		}
		memset(mem.ptr + 131072, 0xee, 65536);
		rig_quiesce(&rig);
		ck_assert_mem_eq(mem.ptr + 131072, mem.ptr + 262144, 65536);
	}
	close_all(0);
}
END_TEST

START_TEST(packet_too_long)
{
	unsigned int i;

	open_all();
	rig_write(&rig, q.udma + TRN_M2S_PKT_LEN_CFG, 0x01020000);
	for (i = 0; i < 3; i++) {
		rig_m2s_raw(&q, mem.dev, 0, i ? 0 : TRN_DESC_FIRST, TRN_META_PLAIN);
		rig_s2m(&q, HBM0, 0);
	}
	rig_ring(&q, 3, 3);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_LENGTH, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, SEC_A(H2T) + TRN_IOFIC_CAUSE), TRN_ERR_A_PKT_TOO_LONG);
	close_all(1);
}
END_TEST

START_TEST(masked_abort_goes_on)
{
	open_all();
	rig_write(&rig, SEC_B(H2T) + TRN_IOFIC_ABORT_MASK, 0xffffffff);
	pattern(mem.ptr, 64, 13);
	rig_m2s(&q, mem.dev, 64, 0);
	rig_s2m(&q, 0x800000000ull, 64);
	rig_m2s(&q, mem.dev, 64, 0);
	rig_s2m(&q, HBM0, 64);
	rig_ring(&q, 2, 2);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 2);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0), mem.ptr, 64);
	ck_assert_uint_eq(rig_read(&rig, SEC_B(H2T) + TRN_IOFIC_CAUSE), TRN_ERR_B_DATA_RESPONSE);
	close_all(1);
}
END_TEST

START_TEST(error_raises_the_device_vector)
{
	open_all();
	rig_unmask(&rig, TRN_VECTOR_DEVICE);
	rig_copy(&q, HBM0, 0x800000000ull, 64);
	rig_wait_irq(&rig, TRN_VECTOR_DEVICE, 1);
	close_all(1);
}
END_TEST

START_TEST(doorbell_after_an_abort_is_no_mistake)
{
	open_all();
	rig_copy(&q, HBM0, 0x800000000ull, 64);
	expect_error(EMU_COMPLAINT_DESC_ADDRESS, TRN_ERR_A_DATA_RESPONSE, 0);
	rig_ring(&q, 1, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 0);
	close_all(1);
}
END_TEST

START_TEST(abort_ends_with_a_reset)
{
	open_engine(3);
	rig_copy(&q, HBM0, 0x800000000ull, 64);
	expect_error(EMU_COMPLAINT_DESC_ADDRESS, TRN_ERR_A_DATA_RESPONSE, 0);
	rig_write(&rig, RIG_MISC + TRN_MISC_RESET_MAP, rig_map->reset_core(0));
	rig_write(&rig, RIG_MISC + TRN_MISC_RESET, TRN_RESET_TPB);
	rig_write(&rig, RIG_MISC + TRN_MISC_TRIGGER, 1);
	rig_wait(&rig, RIG_MISC + TRN_MISC_RESET, ~0u, 0);
	rig_queue_reset(&q);
	rig_copy(&q, HBM0, mem.dev, 64);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 1);
	close_all(1);
}
END_TEST

START_TEST(doorbell_of_a_disabled_queue)
{
	open_all();
	rig_write(&rig, rig_q(&q, 0, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
	rig_ring(&q, 1, 0);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_DOORBELL_DISABLED), 1);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, TRN_Q_TAIL)) & TRN_Q_INDEX_MASK, 0);
	close_all(1);
}
END_TEST

START_TEST(doorbell_without_ring)
{
	open_all();
	rig_write(&rig, rig_q(&q, 1, TRN_Q_LENGTH), 0);
	rig_ring(&q, 0, 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_DOORBELL_DISABLED), 1);
	close_all(1);
}
END_TEST

START_TEST(doorbell_overrun)
{
	open_all();
	rig_ring(&q, 0, RING);
	rig_ring(&q, 0, 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_DOORBELL_OVERRUN), 1);
	rig_ring(&q, RING + 1, 0);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_DOORBELL_OVERRUN), 2);
	close_all(2);
}
END_TEST

START_TEST(ring_size_rules)
{
	static const uint32_t bad[] = { 16, 31, 33, 40, 0xffffff };
	unsigned int i;

	open_all();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rig_write(&rig, rig_q(&q, 0, TRN_Q_LENGTH), bad[i]);
		ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_RING_SIZE), i + 1);
	}
	rig_write(&rig, rig_q(&q, 0, TRN_Q_LENGTH), TRN_RING_MIN);
	rig_write(&rig, rig_q(&q, 0, TRN_Q_LENGTH), TRN_RING_MAX);
	close_all(i);
}
END_TEST

START_TEST(ring_alignment)
{
	open_all();
	rig_write(&rig, rig_q(&q, 0, TRN_Q_BASE_LOW), 0x10c0);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_RING_ALIGN), 1);
	rig_write(&rig, rig_q(&q, 0, TRN_Q_BASE_LOW), 0x1001);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, TRN_Q_BASE_LOW)), 0x1000);
	close_all(2);
}
END_TEST

START_TEST(read_only_queue_registers)
{
	static const uint32_t regs[] = { TRN_Q_STATUS, TRN_Q_HEAD, TRN_Q_TAIL, TRN_Q_CURRENT,
					 TRN_Q_COMPL_HEAD };
	unsigned int i;

	open_all();
	for (i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		uint32_t before = rig_read(&rig, rig_q(&q, 0, regs[i]));

		rig_write(&rig, rig_q(&q, 0, regs[i]), 0x1234);
		ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_READ_ONLY), i + 1);
		ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, regs[i])), before);
	}
	close_all(i);
}
END_TEST

START_TEST(unknown_udma_register)
{
	open_all();
	rig_write(&rig, q.udma + 0x800, 0x77);
	ck_assert_uint_eq(rig_read(&rig, q.udma + 0x800), 0x77);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_UNKNOWN_REGISTER), 2);
	rig_write(&rig, rig_map->sdma(RIG_H2T) + 0x44, 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_UNKNOWN_REGISTER), 3);
	close_all(3);
}
END_TEST

START_TEST(interrupt_on_completion)
{
	open_all();
	rig_unmask(&rig, TRN_VECTOR_H2T(rig_map->cores, 0));
	rig_m2s(&q, mem.dev, 64, TRN_DESC_INT);
	rig_s2m(&q, HBM0, 64);
	rig_ring(&q, 1, 1);
	rig_wait_irq(&rig, TRN_VECTOR_H2T(rig_map->cores, 0), 1);
	/* The head is counted before the interrupt is sent. */
	ck_assert_uint_eq(rig_head(&q, 0), 1);
	rig_copy(&q, HBM0, mem.dev, 64);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_H2T(rig_map->cores, 0)), 1);
	close_all(0);
}
END_TEST

START_TEST(interrupt_of_a_core_engine)
{
	open_engine(16 + 4);
	rig_unmask(&rig, TRN_VECTOR_CORE(1));
	rig_m2s(&q, mem.dev, 64, TRN_DESC_INT);
	rig_s2m(&q, HBM0, 64);
	rig_ring(&q, 1, 1);
	rig_wait_irq(&rig, TRN_VECTOR_CORE(1), 1);
	close_all(0);
}
END_TEST

/* A driver goes away and leaves its queues programmed; the memory of their rings is freed. The next
 * one enables all queues before it has rings, and uses other memory. */
START_TEST(reload_without_reset)
{
	struct rig_queue left;
	unsigned int i, dir;

	open_engine(H2T);
	rig_queue_open(&rig, &left, H2T, 3, 32);
	rig_copy(&q, HBM0, mem.dev, 4096);
	rig_copy(&left, HBM0, mem.dev, 4096);
	rig_s2m(&left, HBM0, 64); /* posted ahead of time, never matched */
	rig_ring(&left, 0, 1);
	rig_quiesce(&rig);
	rig_queue_close(&left);
	rig_queue_close(&q);
	emu_device_bus_master(rig.dev, false);
	emu_device_bus_master(rig.dev, true);

	rig_engine_init(&rig, H2T);
	for (i = 0; i < TRN_UDMA_QUEUES; i++)
		for (dir = 0; dir < 2; dir++)
			rig_write(&rig,
				  rig_engine(H2T) + (dir ? TRN_UDMA_S2M : TRN_UDMA_M2S) +
					  TRN_UDMA_QUEUE(i) + TRN_Q_CFG,
				  TRN_Q_CFG_ENABLE);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_NONE), 0);
	rig_queue_open(&rig, &q, H2T, 0, RING);
	pattern(mem.ptr, 4096, 77);
	rig_copy(&q, HBM0 + 65536, mem.dev, 4096);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, HBM0 + 65536), mem.ptr, 4096);
	close_all(0);
}
END_TEST

START_TEST(device_reset_keeps_queues)
{
	open_all();
	rig_copy(&q, HBM0, mem.dev, 64);
	rig_quiesce(&rig);
	rig_write(&rig, RIG_MISC + TRN_MISC_RESET, TRN_RESET_DEVICE);
	rig_write(&rig, RIG_MISC + TRN_MISC_TRIGGER, 1);
	rig_wait(&rig, RIG_MISC + TRN_MISC_RESET, ~0u, 0);
	ck_assert_uint_eq(rig_head(&q, 0), 1);
	rig_copy(&q, HBM0 + 64, mem.dev, 64);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&q, 0), 2);
	close_all(0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		copy_host_to_hbm_and_back,
		copy_both_stacks_and_their_ends,
		length_zero_is_64k,
		odd_lengths_and_alignments,
		host_to_host_marker,
		marker_never_overtakes_data,
		m2s_doorbell_first,
		s2m_alone_waits,
		doorbell_of_many,
		wrap_and_ring_id,
		gather_into_one,
		scatter_from_one,
		gather_and_scatter_piece_by_piece,
		every_engine_and_queue,
		ring_in_hbm,
		queue_reset_is_a_pulse,
		queue_reset_drops_posted_work,
		paused_queue_keeps_its_work,
		no_doorbell_no_prefetch,
		register_reset_values,
		registers_are_storage,
		change_state,
		disabled_engine_stops_work,
		iofic_registers,
		sbuf_partitions,
		sbuf_above_the_partition_is_an_error,
		psum_is_no_endpoint,
		dma_increments_semaphore,
		dma_reads_misc_ram,
		dma_writes_misc_ram,
		dma_rings_a_doorbell,
		doorbell_loop_ends,
		unaligned_register_dma,
		source_decodes_to_nothing,
		destination_not_mapped,
		crossing_the_end_of_hbm,
		ring_memory_missing,
		reserved_bit_m2s,
		reserved_bit_s2m,
		unsupported_operation,
		packet_without_first,
		first_inside_a_packet,
		packet_shorter_than_destination,
		packet_of_too_many_descriptors,
		packet_of_128_descriptors,
		wrong_ring_id_of_a_source,
		wrong_ring_id_of_a_destination,
		wrong_ring_id_ignored,
		axi_error_status_clears_when_read,
		heads_can_be_switched_off,
		notification_block_of_an_engine,
		stopped_queue_touches_nothing,
		packet_too_long,
		masked_abort_goes_on,
		error_raises_the_device_vector,
		doorbell_after_an_abort_is_no_mistake,
		abort_ends_with_a_reset,
		doorbell_of_a_disabled_queue,
		doorbell_without_ring,
		doorbell_overrun,
		ring_size_rules,
		ring_alignment,
		read_only_queue_registers,
		unknown_udma_register,
		interrupt_on_completion,
		interrupt_of_a_core_engine,
		reload_without_reset,
		device_reset_keeps_queues,
	};

	return RIG_MAIN("emu_udma", tests);
}
