// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies, rings and their recovery against the device model.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/hw_model.h"

#define HBM0   TRN_HBM_FW_RESERVED
#define VECTOR TRN_VECTOR_H2T(m->hw.arch->cores, 0)

static struct hw_model *m;
static struct trnhw_copyq q;
static struct hw_buffer a, b;
static u64 complaints;

static void setup(void)
{
	size_t i;

	m = hw_model_start();
	ck_assert_int_eq(trnhw_copyq_init(&q, &m->hw, 0), 0);
	a = hw_buffer_alloc(m, 1 << 20);
	b = hw_buffer_alloc(m, 1 << 20);
	for (i = 0; i < a.size; i++)
		a.ptr[i] = i * 7 + (i >> 8);
	complaints = 0;
}

static void teardown(void)
{
	trnhw_copyq_fini(&q);
	hw_buffer_free(m, &a);
	hw_buffer_free(m, &b);
	hw_model_destroy(m, complaints);
}

static void settle(unsigned int ms)
{
	const struct timespec rest = { .tv_nsec = ms * 1000000 };

	nanosleep(&rest, NULL);
}

START_TEST(copy_sizes)
{
	static const u32 sizes[] = {
		1, 3, 4, 64, 4095, 4096, 65535, 65536, 65537, 200001, 1 << 20,
	};
	u32 size = sizes[_i];

	hw_copy(&q, HBM0, a.address, size);
	hw_copy(&q, b.address, HBM0, size);
	ck_assert_mem_eq(a.ptr, b.ptr, size);
	if (size < b.size)
		ck_assert_uint_eq(b.ptr[size], 0);
}
END_TEST

START_TEST(copy_far_ends)
{
	unsigned int stack;

	for (stack = 0; stack < m->hw.arch->stacks; stack++) {
		u64 last = trnhw_hbm_address(&m->hw, stack, m->hw.arch->hbm_size - 4096);

		hw_copy(&q, last, a.address + stack * 64, 4096);
		hw_copy(&q, b.address, last, 4096);
		ck_assert_mem_eq(a.ptr + stack * 64, b.ptr, 4096);
	}
}
END_TEST

START_TEST(copy_through_sbuf)
{
	u64 sbuf = trnhw_sbuf_address(&m->hw, m->hw.arch->cores - 1, 127, 1024);

	hw_copy(&q, sbuf, a.address, 8192);
	hw_copy(&q, b.address, sbuf, 8192);
	ck_assert_mem_eq(a.ptr, b.ptr, 8192);
}
END_TEST

START_TEST(copy_unaligned)
{
	hw_copy(&q, HBM0 + 3, a.address + 5, 70001);
	hw_copy(&q, b.address + 9, HBM0 + 3, 70001);
	ck_assert_mem_eq(a.ptr + 5, b.ptr + 9, 70001);
}
END_TEST

/* Several times around the ring with mixed batch sizes and many batches in flight. */
START_TEST(copy_around_the_ring)
{
	static struct trnhw_xfer xfers[64];
	unsigned int seed = 5, rounds = 900, i;
	u64 batch = 0;

	for (i = 0; i < rounds; i++) {
		u32 count = 1 + rand_r(&seed) % 64, k;

		for (k = 0; k < count; k++) {
			u32 len = 1 + rand_r(&seed) % 256, at = rand_r(&seed) % ((1 << 20) - 256);

			xfers[k] = (struct trnhw_xfer){ .src = a.address + at,
							.dst = b.address + at,
							.len = len };
		}
		while (trnhw_copyq_submit(&q, xfers, count, false, &batch) == -EAGAIN)
			trnhw_copyq_poll(&q);
		ck_assert_uint_eq(batch, i + 1);
	}
	hw_copy_wait(&q, batch);
	ck_assert_uint_gt(q.next, 3 * TRNHW_COPYQ_DESCS);
	ck_assert_uint_eq(q.next, q.done);
	for (i = 0; i < b.size; i++)
		ck_assert(b.ptr[i] == a.ptr[i] || b.ptr[i] == 0);
}
END_TEST

/* Each batch reads what the one before wrote, none is waited for. */
START_TEST(batches_run_in_order)
{
	struct trnhw_xfer xfer = { .len = 8192 };
	unsigned int i;
	u64 batch;

	for (i = 0; i < 100; i++) {
		xfer.src = i ? HBM0 + (i - 1) * 8192ull : a.address;
		xfer.dst = i < 99 ? HBM0 + i * 8192ull : b.address;
		ck_assert_int_eq(trnhw_copyq_submit(&q, &xfer, 1, false, &batch), 0);
	}
	hw_copy_wait(&q, batch);
	ck_assert_mem_eq(a.ptr, b.ptr, 8192);
}
END_TEST

START_TEST(largest_batch)
{
	static struct trnhw_xfer xfers[TRNHW_COPYQ_BATCH];
	u64 batch;
	u32 i;

	for (i = 0; i < TRNHW_COPYQ_BATCH; i++)
		xfers[i] = (struct trnhw_xfer){ .src = a.address + i * 512,
						.dst = b.address + i * 512,
						.len = 512 };
	ck_assert_int_eq(trnhw_copyq_submit(&q, xfers, TRNHW_COPYQ_BATCH, false, &batch), 0);
	hw_copy_wait(&q, batch);
	ck_assert_mem_eq(a.ptr, b.ptr, TRNHW_COPYQ_BATCH * 512);
}
END_TEST

/* The queues of all cores at once, also those that share an engine. */
START_TEST(queues_of_all_cores)
{
	static struct trnhw_copyq all[TRN_MAX_CORES];
	unsigned int core, cores = m->hw.arch->cores, round;
	u64 batch[TRN_MAX_CORES];

	trnhw_copyq_fini(&q);
	for (core = 0; core < cores; core++)
		ck_assert_int_eq(trnhw_copyq_init(&all[core], &m->hw, core), 0);
	for (round = 0; round < 200; round++) {
		for (core = 0; core < cores; core++) {
			u64 hbm = trnhw_hbm_address(&m->hw, core % m->hw.arch->stacks,
						    HBM0 + core * 65536ull);
			const struct trnhw_xfer there[] = {
				{ .src = a.address + core * 65536,
				  .dst = hbm,
				  .len = 65536,
				  .flags = TRNHW_XFER_BARRIER },
				{ .src = hbm, .dst = b.address + core * 65536, .len = 65536 },
			};

			while (trnhw_copyq_submit(&all[core], there, 2, false, &batch[core]) ==
			       -EAGAIN)
				trnhw_copyq_poll(&all[core]);
		}
	}
	for (core = 0; core < cores; core++)
		hw_copy_wait(&all[core], batch[core]);
	ck_assert_mem_eq(a.ptr, b.ptr, cores * 65536);
	for (core = 1; core < cores; core++)
		trnhw_copyq_fini(&all[core]);
	trnhw_copyq_fini(&all[0]);
}
END_TEST

/* One core's queue ends; its neighbour's, on some products of the same engine, goes on. */
START_TEST(neighbour_queue_survives)
{
	const struct trnhw_xfer xfer = { .src = a.address, .dst = HBM0, .len = 64 };
	struct trnhw_copyq second;
	u64 batch;

	ck_assert_int_eq(trnhw_copyq_init(&second, &m->hw, 1), 0);
	ck_assert_int_eq(trnhw_copyq_submit(&q, &xfer, 1, false, &batch), 0);
	hw_copy(&second, HBM0 + 65536, a.address, 65536);
	ck_assert_int_eq(trnhw_copyq_reset(&second), 0);
	hw_copy_wait(&q, batch);
	trnhw_copyq_fini(&second);
	hw_copy(&q, b.address, HBM0 + 65536, 65536);
	ck_assert_mem_eq(a.ptr, b.ptr, 65536);
}
END_TEST

/* A core reset takes neither the rings nor the copies of the other cores. */
START_TEST(core_reset_spares_the_neighbour)
{
	struct trnhw_copyq second;

	ck_assert_int_eq(trnhw_copyq_init(&second, &m->hw, 1), 0);
	hw_copy(&q, HBM0, a.address, 4096);
	ck_assert_int_eq(trnhw_reset_cores(&m->hw, 2), 0);
	ck_assert_int_eq(trnhw_start(&m->hw, 2), 0);
	ck_assert_int_eq(trnhw_copyq_reset(&second), 0);
	hw_copy(&q, b.address, HBM0, 4096);
	ck_assert_mem_eq(a.ptr, b.ptr, 4096);
	hw_copy(&second, b.address + 4096, HBM0, 4096);
	ck_assert_mem_eq(a.ptr, b.ptr + 4096, 4096);
	trnhw_copyq_fini(&second);
}
END_TEST

/* A neighbour on the same engine learns of the abort and works again after its own reset. */
START_TEST(abort_is_told_to_the_neighbour)
{
	const struct trnhw_xfer bad = { .src = a.address, .dst = 0x700000000ull, .len = 64 };
	const struct trnhw_xfer good = { .src = a.address, .dst = HBM0, .len = 64 };
	struct trnhw_copyq second;
	bool shared;
	u64 batch;

	ck_assert_int_eq(trnhw_copyq_init(&second, &m->hw, 1), 0);
	shared = second.engine == q.engine;
	hw_copy(&second, HBM0, a.address, 4096);
	ck_assert_int_eq(trnhw_copyq_submit(&q, &bad, 1, false, &batch), 0);
	ck_assert_int_eq(emu_device_quiesce(m->device, 5000), 0);
	ck_assert_int_eq(trnhw_copyq_submit(&second, &good, 1, false, &batch), 0);
	ck_assert_int_eq(trnhw_copyq_reset(&q), 0);
	ck_assert_int_eq(trnhw_copyq_lost(&second), shared);
	if (shared)
		ck_assert_int_eq(trnhw_copyq_reset(&second), 0);
	hw_copy(&q, HBM0 + 65536, a.address, 65536);
	hw_copy(&second, b.address, HBM0 + 65536, 65536);
	ck_assert_mem_eq(a.ptr, b.ptr, 65536);
	trnhw_copyq_fini(&second);
	complaints = emu_device_complaints(m->device, EMU_COMPLAINT_DESC_ADDRESS);
	ck_assert_uint_eq(complaints, 1);
}
END_TEST

START_TEST(interrupt_once_per_batch)
{
	struct trnhw_xfer xfers[3];
	unsigned int i;
	u64 batch;

	for (i = 0; i < 3; i++)
		xfers[i] = (struct trnhw_xfer){ .src = a.address, .dst = HBM0, .len = 64 };
	trnhw_irq_unmask(&m->hw, VECTOR);
	ck_assert_int_eq(trnhw_copyq_submit(&q, xfers, 3, true, &batch), 0);
	hw_copy_wait(&q, batch);
	ck_assert_int_eq(emu_device_quiesce(m->device, 5000), 0);
	ck_assert_uint_eq(__atomic_load_n(&m->interrupts[VECTOR], __ATOMIC_SEQ_CST), 1);
	ck_assert_int_eq(trnhw_copyq_submit(&q, xfers, 3, false, &batch), 0);
	hw_copy_wait(&q, batch);
	ck_assert_int_eq(emu_device_quiesce(m->device, 5000), 0);
	ck_assert_uint_eq(__atomic_load_n(&m->interrupts[VECTOR], __ATOMIC_SEQ_CST), 1);
}
END_TEST

START_TEST(interrupt_while_masked)
{
	const struct trnhw_xfer xfer = { .src = a.address, .dst = HBM0, .len = 64 };
	u64 batch;

	trnhw_irq_mask(&m->hw, VECTOR);
	ck_assert_int_eq(trnhw_copyq_submit(&q, &xfer, 1, true, &batch), 0);
	hw_copy_wait(&q, batch);
	ck_assert_int_eq(emu_device_quiesce(m->device, 5000), 0);
	ck_assert_uint_eq(__atomic_load_n(&m->interrupts[VECTOR], __ATOMIC_SEQ_CST), 0);
	trnhw_irq_unmask(&m->hw, VECTOR);
	ck_assert_int_eq(emu_device_quiesce(m->device, 5000), 0);
	ck_assert_uint_eq(__atomic_load_n(&m->interrupts[VECTOR], __ATOMIC_SEQ_CST), 1);
}
END_TEST

/* A bad address aborts the engine; reset puts it back and later batches work. */
START_TEST(abort_and_recover)
{
	const struct trnhw_xfer bad = { .src = a.address, .dst = 0x700000000ull, .len = 64 };
	u64 batch;

	ck_assert_int_eq(trnhw_copyq_submit(&q, &bad, 1, false, &batch), 0);
	ck_assert_int_eq(emu_device_quiesce(m->device, 5000), 0);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 0);
	ck_assert_int_eq(trnhw_udma_state(&m->hw, q.engine), TRNHW_UDMA_ABORT);
	ck_assert_int_eq(trnhw_copyq_reset(&q), 0);
	ck_assert_int_eq(trnhw_udma_state(&m->hw, q.engine), TRNHW_UDMA_NORMAL);
	hw_copy(&q, HBM0, a.address, 65536);
	hw_copy(&q, b.address, HBM0, 65536);
	ck_assert_mem_eq(a.ptr, b.ptr, 65536);
	ck_assert_uint_eq(emu_device_complaints(m->device, EMU_COMPLAINT_DESC_ADDRESS), 1);
	complaints = 1;
}
END_TEST

START_TEST(engine_hang_and_reset)
{
	const struct trnhw_xfer xfer = { .src = a.address, .dst = HBM0, .len = 64 };
	u64 batch;

	hw_model_fault(m, "engine-hang", 1 + q.engine);
	ck_assert_int_eq(trnhw_copyq_submit(&q, &xfer, 1, false, &batch), 0);
	settle(50);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 0);
	hw_model_fault(m, "engine-hang", 0);
	ck_assert_int_eq(trnhw_copyq_reset(&q), 0);
	hw_copy(&q, HBM0, a.address, 4096);
	hw_copy(&q, b.address, HBM0, 4096);
	ck_assert_mem_eq(a.ptr, b.ptr, 4096);
}
END_TEST

START_TEST(completion_late)
{
	hw_model_fault(m, "completion-late", 50);
	hw_copy(&q, b.address, a.address, 4096);
	ck_assert_mem_eq(a.ptr, b.ptr, 4096);
}
END_TEST

START_TEST(copies_survive_a_device_reset)
{
	hw_copy(&q, HBM0, a.address, 4096);
	ck_assert_int_eq(trnhw_reset_device(&m->hw), 0);
	ck_assert_int_eq(trnhw_start(&m->hw, hw_model_cores(m)), 0);
	ck_assert_int_eq(trnhw_copyq_reset(&q), 0);
	hw_copy(&q, b.address, HBM0, 4096);
	ck_assert_mem_eq(a.ptr, b.ptr, 4096);
}
END_TEST

/* A ring on engine 5, queue 3, written once. */
struct ring {
	struct hw_buffer mem;
	struct trn_desc *m2s, *s2m;
	u32 count;
};

#define RING_ENGINE 5
#define RING_QUEUE  3
#define RING_XFERS  40u
#define RING_PIECE  256u

static struct ring ring_make(void)
{
	struct ring r = { .count = trnhw_ring_count(RING_XFERS) };
	struct trnhw_xfer xfers[RING_XFERS];
	struct trnhw_queue_rings rings;
	u32 i;

	ck_assert_uint_eq(r.count, 48);
	r.mem = hw_buffer_alloc(m, 8192);
	r.m2s = (struct trn_desc *)r.mem.ptr;
	r.s2m = (struct trn_desc *)(r.mem.ptr + 2048);
	for (i = 0; i < RING_XFERS; i++)
		xfers[i] = (struct trnhw_xfer){ .src = a.address + i * RING_PIECE,
						.dst = b.address + i * RING_PIECE,
						.len = RING_PIECE };
	trnhw_ring_fill(xfers, RING_XFERS, r.mem.address + 4096, r.m2s, r.s2m, r.count);
	rings = (struct trnhw_queue_rings){ .m2s = r.mem.address,
					    .s2m = r.mem.address + 2048,
					    .m2s_count = r.count,
					    .s2m_count = r.count };
	ck_assert_int_eq(trnhw_udma_queue_init(&m->hw, RING_ENGINE, RING_QUEUE, &rings), 0);
	return r;
}

static void ring_run(u32 count)
{
	trnhw_udma_queue_ring(&m->hw, RING_ENGINE, RING_QUEUE, count);
	ck_assert_int_eq(emu_device_quiesce(m->device, 5000), 0);
}

START_TEST(ring_runs_many_times)
{
	struct ring r = ring_make();
	unsigned int i;

	for (i = 0; i < 200; i++) {
		memset(b.ptr, 0, RING_XFERS * RING_PIECE);
		trnhw_udma_queue_rewind(&m->hw, RING_ENGINE, RING_QUEUE);
		ring_run(RING_XFERS);
		ck_assert_mem_eq(a.ptr, b.ptr, RING_XFERS * RING_PIECE);
	}
	hw_buffer_free(m, &r.mem);
}
END_TEST

/* A run that stopped half way leaves nothing for the next. */
START_TEST(ring_rewinds_from_anywhere)
{
	struct ring r = ring_make();

	ring_run(7);
	ck_assert_mem_eq(a.ptr, b.ptr, 7 * RING_PIECE);
	ck_assert_uint_eq(b.ptr[7 * RING_PIECE + 1], 0);
	memset(b.ptr, 0, b.size);
	trnhw_udma_queue_rewind(&m->hw, RING_ENGINE, RING_QUEUE);
	ring_run(1);
	ck_assert_mem_eq(a.ptr, b.ptr, RING_PIECE);
	ck_assert_uint_eq(b.ptr[RING_PIECE + 1], 0);
	hw_buffer_free(m, &r.mem);
}
END_TEST

START_TEST(ring_padding_is_harmless)
{
	struct ring r = ring_make();

	ring_run(RING_XFERS + 5);
	ck_assert_int_eq(trnhw_udma_state(&m->hw, RING_ENGINE), TRNHW_UDMA_NORMAL);
	ck_assert_mem_eq(a.ptr, b.ptr, RING_XFERS * RING_PIECE);
	ck_assert_uint_eq(b.ptr[RING_XFERS * RING_PIECE], 0);
	hw_buffer_free(m, &r.mem);
}
END_TEST

START_TEST(ring_stopped_is_dead)
{
	struct ring r = ring_make();

	trnhw_udma_queue_stop(&m->hw, RING_ENGINE, RING_QUEUE);
	hw_buffer_free(m, &r.mem);
	/* Also after the engine is set up again, which enables all its queues. */
	trnhw_udma_engine_init(&m->hw, RING_ENGINE);
	ring_run(1);
	ck_assert_uint_eq(b.ptr[1], 0);
	ck_assert_int_eq(trnhw_udma_state(&m->hw, RING_ENGINE), TRNHW_UDMA_NORMAL);
	ck_assert_uint_eq(emu_device_complaints(m->device, EMU_COMPLAINT_DOORBELL_DISABLED), 2);
	complaints = 2;
}
END_TEST

/* The last transfer of a ring raises a semaphore, as programs are released. */
START_TEST(dma_increments_a_semaphore)
{
	struct trnhw_xfer xfers[2] = {
		{ .src = a.address, .dst = b.address, .len = 4096 },
		{ .src = a.address, .dst = trnhw_sem_inc_address(&m->hw, 1, 17), .len = 4 },
	};
	u32 three = 3;
	u64 batch;

	memcpy(a.ptr, &three, 4);
	ck_assert_int_eq(trnhw_copyq_submit(&q, xfers, 2, false, &batch), 0);
	hw_copy_wait(&q, batch);
	ck_assert_int_eq(trnhw_sem_read(&m->hw, 1, 17), 3);
	ck_assert_int_eq(trnhw_sem_read(&m->hw, 0, 17), 0);
}
END_TEST

static void add_copies(TCase *tc)
{
	tcase_add_loop_test(tc, copy_sizes, 0, 11);
	tcase_add_test(tc, copy_far_ends);
	tcase_add_test(tc, copy_through_sbuf);
	tcase_add_test(tc, copy_unaligned);
	tcase_add_test(tc, copy_around_the_ring);
	tcase_add_test(tc, batches_run_in_order);
	tcase_add_test(tc, largest_batch);
	tcase_add_test(tc, queues_of_all_cores);
	tcase_add_test(tc, neighbour_queue_survives);
	tcase_add_test(tc, core_reset_spares_the_neighbour);
	tcase_add_test(tc, abort_is_told_to_the_neighbour);
	tcase_add_test(tc, interrupt_once_per_batch);
	tcase_add_test(tc, interrupt_while_masked);
}

static void add(TCase *tc)
{
	add_copies(tc);
	tcase_add_test(tc, abort_and_recover);
	tcase_add_test(tc, engine_hang_and_reset);
	tcase_add_test(tc, completion_late);
	tcase_add_test(tc, copies_survive_a_device_reset);
	tcase_add_test(tc, ring_runs_many_times);
	tcase_add_test(tc, ring_rewinds_from_anywhere);
	tcase_add_test(tc, ring_padding_is_harmless);
	tcase_add_test(tc, ring_stopped_is_dead);
	tcase_add_test(tc, dma_increments_a_semaphore);
}

int main(void)
{
	Suite *suite = suite_create("hw_dma");

	hw_model_suite(suite, "dma", add, setup, teardown);
	return hw_suite_run(suite);
}
