// SPDX-License-Identifier: BSD-2-Clause
/*
 * Host copy queue: what it writes, when it is full, how batches complete. The device is played by
 * completing markers by hand.
 */
#include <string.h>

#include "tests/unit/hw_stub.h"

#define M2S_BELL (0x30600000u + 0x1000 + 0x38)
#define S2M_BELL (0x30620000u + 0x1000 + 0x38)

static struct hw_stub *stub;
static struct trnhw_copyq q;

static void setup(void)
{
	stub = hw_stub_init();
	ck_assert_int_eq(trnhw_copyq_init(&q, &stub->hw, 0), 0);
	hw_stub_trace_clear(stub);
}

static void teardown(void)
{
	trnhw_copyq_fini(&q);
	hw_stub_destroy(stub);
}

static const struct trnhw_xfer one = { .src = 0x100000001000ull, .dst = 0x2000, .len = 4096 };

static int submit(u32 count, bool interrupt, u64 *batch)
{
	static struct trnhw_xfer xfers[TRNHW_COPYQ_BATCH + 1];
	u32 i;

	for (i = 0; i < count && i <= TRNHW_COPYQ_BATCH; i++)
		xfers[i] = one;
	return trnhw_copyq_submit(&q, xfers, count, interrupt, batch);
}

/* The device copies the marker of a batch. */
static void complete(u64 batch)
{
	u32 slot = batch % TRNHW_COPYQ_INFLIGHT;

	q.marker[slot].dst = q.marker[slot].src;
}

START_TEST(init_programs_the_queue)
{
	u64 m2s = 0x100000000000ull | q.m2s_dma, s2m = 0x100000000000ull | q.s2m_dma;

	ck_assert_uint_eq(q.engine, 32);
	ck_assert_uint_eq(q.queue, 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30601028), (u32)m2s);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x3060102c), m2s >> 32);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30601030), 8192);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30621028), (u32)s2m);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30621030), 8192);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30601020), 0x03030000);
}
END_TEST

START_TEST(init_second_core)
{
	struct trnhw_copyq second;

	ck_assert_int_eq(trnhw_copyq_init(&second, &stub->hw, 1), 0);
	ck_assert_uint_eq(second.engine, 33);
	trnhw_copyq_fini(&second);
	trnhw_copyq_fini(&second);
	ck_assert_int_eq(trnhw_copyq_init(&second, &stub->hw, 2), -EINVAL);
}
END_TEST

START_TEST(init_no_memory)
{
	struct trnhw_copyq second;
	int live = stub->alloc_live;

	stub->alloc_fail = 1 + _i;
	ck_assert_int_eq(trnhw_copyq_init(&second, &stub->hw, 1), -ENOMEM);
	ck_assert_int_eq(stub->alloc_live, live);
}
END_TEST

START_TEST(init_out_of_reach)
{
	struct trnhw_copyq second;
	int live = stub->alloc_live;

	stub->bus_next = (1ull << 44) - 65536;
	ck_assert_int_eq(trnhw_copyq_init(&second, &stub->hw, 1), -EIO);
	ck_assert_int_eq(stub->alloc_live, live);
	ck_assert_uint_eq(stub->trace_count, 0);
}
END_TEST

START_TEST(small_copy_is_two_doorbells)
{
	u64 batch = 0;

	ck_assert_int_eq(submit(1, false, &batch), 0);
	ck_assert_uint_eq(batch, 1);
	hw_stub_expect(stub, 0, true, S2M_BELL, 2);
	hw_stub_expect(stub, 1, true, M2S_BELL, 2);
	ck_assert_uint_eq(stub->trace_count, 2);
}
END_TEST

START_TEST(batch_content)
{
	u64 marker = 0x100000000000ull | (q.marker_dma + 8), batch;

	ck_assert_int_eq(submit(3, false, &batch), 0);
	ck_assert_uint_eq(q.m2s[0].ctrl, 0x0d001000);
	ck_assert_uint_eq(q.m2s[0].meta, 0x01080003);
	ck_assert_uint_eq(q.m2s[1].meta, 0x01080003);
	ck_assert_uint_eq(q.m2s[2].meta, 0x05080003); /* barrier on the last of the data */
	ck_assert_uint_eq(q.m2s[2].addr, one.src);
	ck_assert_uint_eq(q.s2m[2].addr, one.dst);
	ck_assert_uint_eq(q.m2s[3].ctrl, 0x0d000004);
	ck_assert_uint_eq(q.m2s[3].meta, 0x01080003);
	ck_assert_uint_eq(q.m2s[3].addr, marker);
	ck_assert_uint_eq(q.s2m[3].addr, marker + 4);
	ck_assert_uint_eq(q.marker[1].src, 1);
	ck_assert_uint_eq(q.m2s[4].ctrl, 0);
}
END_TEST

START_TEST(interrupt_on_the_marker_only)
{
	u64 batch;

	ck_assert_int_eq(submit(2, true, &batch), 0);
	ck_assert_uint_eq(q.m2s[0].ctrl & TRN_DESC_INT, 0);
	ck_assert_uint_eq(q.m2s[1].ctrl & TRN_DESC_INT, 0);
	ck_assert_uint_eq(q.m2s[2].ctrl & TRN_DESC_INT, TRN_DESC_INT);
	ck_assert_uint_eq(q.s2m[2].ctrl & TRN_DESC_INT, 0);
}
END_TEST

START_TEST(interrupt_needs_the_extension)
{
	u64 batch;

	stub->hw.features = TRN_FEATURE_ALL & ~TRN_FEATURE_MSIX;
	ck_assert_int_eq(submit(1, true, &batch), 0);
	ck_assert_uint_eq(q.m2s[1].ctrl & TRN_DESC_INT, 0);
}
END_TEST

START_TEST(submit_refuses)
{
	static const struct trnhw_xfer bad[] = {
		{ .len = 0 },
		{ .len = 65537 },
		{ .len = 4, .flags = TRNHW_XFER_INTERRUPT },
		{ .len = 4, .flags = 4 },
	};
	struct trnhw_xfer xfers[2] = { one, bad[_i] };
	u64 batch = 77;

	ck_assert_int_eq(trnhw_copyq_submit(&q, xfers, 2, false, &batch), -EINVAL);
	ck_assert_uint_eq(batch, 77);
	ck_assert_uint_eq(q.next, 0);
	ck_assert_uint_eq(stub->trace_count, 0);
}
END_TEST

START_TEST(submit_count_limits)
{
	u64 batch;

	ck_assert_int_eq(submit(0, false, &batch), -EINVAL);
	ck_assert_int_eq(submit(TRNHW_COPYQ_BATCH + 1, false, &batch), -EINVAL);
	ck_assert_int_eq(submit(~0u, false, &batch), -EINVAL);
	ck_assert_int_eq(submit(TRNHW_COPYQ_BATCH, false, &batch), 0);
}
END_TEST

START_TEST(poll_in_order)
{
	u64 batch;
	int i;

	for (i = 0; i < 3; i++)
		ck_assert_int_eq(submit(1, false, &batch), 0);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 0);
	complete(2); /* out of order: not believed before the first */
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 0);
	complete(1);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 2);
	ck_assert_uint_eq(q.done, 4);
	complete(3);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 3);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 3);
	ck_assert_uint_eq(stub->trace_count, 6); /* polling reads no register */
}
END_TEST

START_TEST(poll_ignores_garbage)
{
	u64 batch;

	ck_assert_int_eq(submit(1, false, &batch), 0);
	memset(q.marker, 0xff, TRNHW_COPYQ_INFLIGHT * sizeof(*q.marker));
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 0);
	memset(q.marker, 0, TRNHW_COPYQ_INFLIGHT * sizeof(*q.marker));
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 0);
}
END_TEST

START_TEST(ring_full)
{
	u64 batch;

	/* Four batches of 2033 descriptors leave 60: less than a small batch and the gap need. */
	for (batch = 0; batch < 4;)
		ck_assert_int_eq(submit(TRNHW_COPYQ_BATCH, false, &batch), 0);
	ck_assert_int_eq(submit(44, false, &batch), -EAGAIN);
	ck_assert_int_eq(submit(43, false, &batch), 0);
	ck_assert_int_eq(submit(1, false, &batch), -EAGAIN);
	complete(1);
	ck_assert_int_eq(submit(1, false, &batch), -EAGAIN); /* not polled yet */
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 1);
	ck_assert_int_eq(submit(TRNHW_COPYQ_BATCH, false, &batch), 0);
	ck_assert_uint_eq(batch, 6);
}
END_TEST

START_TEST(batches_full)
{
	unsigned int i;
	u64 batch;

	for (i = 0; i < TRNHW_COPYQ_INFLIGHT; i++)
		ck_assert_int_eq(submit(1, false, &batch), 0);
	ck_assert_int_eq(submit(1, false, &batch), -EAGAIN);
	complete(1);
	trnhw_copyq_poll(&q);
	ck_assert_int_eq(submit(1, false, &batch), 0);
	ck_assert_uint_eq(batch, TRNHW_COPYQ_INFLIGHT + 1);
	/* The slot of batch 1 holds its old number: no completion. */
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 1);
}
END_TEST

START_TEST(ring_wraps_with_ring_id)
{
	static const u32 id[5] = { 1, 2, 3, 0, 1 };
	u64 batch;
	u32 pass, at = 0;

	for (pass = 0; pass < 5; pass++) {
		while (at < (pass + 1) * TRNHW_COPYQ_DESCS) {
			ck_assert_int_eq(submit(1023, false, &batch), 0);
			complete(batch);
			trnhw_copyq_poll(&q);
			at += 1024;
		}
		ck_assert_uint_eq(q.m2s[0].ctrl >> 24 & 3, id[pass]);
		ck_assert_uint_eq(q.s2m[8191].ctrl >> 24 & 3, id[pass]);
	}
}
END_TEST

START_TEST(batch_across_the_end)
{
	u64 batch;
	u32 i;

	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(submit(2032, false, &batch), 0);
		complete(batch);
		trnhw_copyq_poll(&q);
	}
	ck_assert_uint_eq(q.next, 8132);
	ck_assert_int_eq(submit(100, false, &batch), 0);
	ck_assert_uint_eq(q.m2s[8191].ctrl, 0x0d001000);
	ck_assert_uint_eq(q.m2s[0].ctrl, 0x0e001000);
	ck_assert_uint_eq(q.m2s[39].meta, 0x05080003);
	ck_assert_uint_eq(q.m2s[40].ctrl, 0x0e000004);
	complete(batch);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), batch);
	ck_assert_uint_eq(q.done, q.next);
}
END_TEST

/* Free-running indices near 2^32. */
START_TEST(index_wrap)
{
	u64 batch;

	q.next = 0u - 8192;
	q.done = 0u - 8192;
	ck_assert_int_eq(submit(2032, false, &batch), 0);
	ck_assert_uint_eq(q.m2s[0].ctrl >> 24 & 3, 0);
	complete(batch);
	trnhw_copyq_poll(&q);
	q.next = 0u - 2;
	q.done = 0u - 2;
	ck_assert_int_eq(submit(3, false, &batch), 0);
	ck_assert_uint_eq(q.next, 2);
	ck_assert_uint_eq(q.m2s[8191].ctrl >> 24 & 3, 0);
	ck_assert_uint_eq(q.m2s[0].ctrl >> 24 & 3, 1);
	complete(batch);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), batch);
	ck_assert_uint_eq(q.done, 2);
}
END_TEST

/* Batch numbers beyond 32 bits. */
START_TEST(batch_number_wrap)
{
	u64 batch;

	q.issued = 0xffffffff;
	q.completed = 0xffffffff;
	ck_assert_int_eq(submit(1, false, &batch), 0);
	ck_assert_uint_eq(batch, 0x100000000ull);
	ck_assert_uint_eq(q.marker[0].src, 0);
	q.marker[0].dst = 0xffffff00; /* what the batch 256 earlier left */
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 0xffffffff);
	complete(batch);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), batch);
}
END_TEST

START_TEST(budget_documented)
{
	ck_assert_uint_eq(trnhw_copyq_budget_us(&q, 1), 39900);
	ck_assert_uint_eq(trnhw_copyq_budget_us(&q, 0), 39900);
	ck_assert_uint_eq(trnhw_copyq_budget_us(&q, 2032), (812800ull - 8125) * 100);
	ck_assert_uint_gt(trnhw_copyq_budget_us(&q, ~0u), 0xffffffffull);
}
END_TEST

START_TEST(budget_documented_v3)
{
	struct hw_stub *v3 = hw_stub_init_as(0x7364);
	struct trnhw_copyq other;

	ck_assert_int_eq(trnhw_copyq_init(&other, &v3->hw, 7), 0);
	ck_assert_uint_eq(trnhw_copyq_budget_us(&other, 1), 19900);
	ck_assert_uint_eq(trnhw_copyq_budget_us(&other, 2032), (406400ull - 4063) * 100);
	trnhw_copyq_fini(&other);
	hw_stub_destroy(v3);
}
END_TEST

START_TEST(reset_starts_over)
{
	u64 batch;

	ck_assert_int_eq(submit(5, false, &batch), 0);
	ck_assert_int_eq(submit(5, false, &batch), 0);
	hw_stub_trace_clear(stub);
	ck_assert_int_eq(trnhw_copyq_reset(&q), 0);
	ck_assert_uint_eq(hw_stub_writes(stub, 0x30601000 + 0xb0), 1);
	ck_assert_uint_eq(hw_stub_writes(stub, 0x30600204), 0);
	ck_assert_uint_eq(q.next, 0);
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 2);
	ck_assert_int_eq(submit(1, false, &batch), 0);
	ck_assert_uint_eq(batch, 3);
	ck_assert_uint_eq(q.m2s[0].ctrl, 0x0d001000);
	complete(1); /* a late marker of a lost batch */
	ck_assert_uint_eq(trnhw_copyq_poll(&q), 2);
}
END_TEST

static bool abort_for_ever;

static void change_state(struct hw_stub *s, u32 offset, u32 value)
{
	if ((offset == 0x30600204 || offset == 0x30620204) && value == 1 && !abort_for_ever)
		hw_stub_set(s, 0, offset - 4, 0x1111);
}

START_TEST(reset_recovers_an_abort)
{
	stub->on_write = change_state;
	abort_for_ever = false;
	hw_stub_set(stub, 0, 0x30600200, 0x2222);
	ck_assert_int_eq(trnhw_copyq_reset(&q), 0);
	ck_assert_uint_eq(hw_stub_writes(stub, 0x30600204), 2);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30601020), 0x03030000);
}
END_TEST

START_TEST(reset_fails_in_lasting_abort)
{
	stub->on_write = change_state;
	abort_for_ever = true;
	hw_stub_set(stub, 0, 0x30620200, 0x2222);
	ck_assert_int_eq(trnhw_copyq_reset(&q), -EIO);
	ck_assert_uint_eq(stub->log_count, 1);
}
END_TEST

START_TEST(reset_of_gone_device)
{
	stub->gone = true;
	ck_assert_int_eq(trnhw_copyq_reset(&q), -ENODEV);
	stub->gone = false;
}
END_TEST

START_TEST(fini_stops_the_queue)
{
	trnhw_copyq_fini(&q);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30601020) & 0x30000, 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30601030), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30621030), 0);
}
END_TEST

/* Two cores share an engine: one queue each. */
struct pair {
	struct hw_stub *stub;
	struct trnhw_copyq q[2];
};

static void pair_setup(struct pair *p)
{
	unsigned int i;

	p->stub = hw_stub_init_as(0x7364);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(trnhw_copyq_init(&p->q[i], &p->stub->hw, 6 + i), 0);
		ck_assert_uint_eq(p->q[i].engine, 131);
		ck_assert_uint_eq(p->q[i].queue, i);
	}
	hw_stub_trace_clear(p->stub);
}

static void pair_teardown(struct pair *p)
{
	trnhw_copyq_fini(&p->q[0]);
	trnhw_copyq_fini(&p->q[1]);
	hw_stub_destroy(p->stub);
}

static void pair_submit(struct pair *p, unsigned int i, u64 expect)
{
	u64 batch = 0;

	ck_assert_int_eq(trnhw_copyq_submit(&p->q[i], &one, 1, false, &batch), 0);
	ck_assert_uint_eq(batch, expect);
}

START_TEST(shared_engine_queues_are_apart)
{
	struct pair p;

	pair_setup(&p);
	ck_assert_uint_eq(hw_stub_get(p.stub, 0, 0x46901028), (u32)p.q[0].m2s_dma);
	ck_assert_uint_eq(hw_stub_get(p.stub, 0, 0x46902028), (u32)p.q[1].m2s_dma);
	pair_submit(&p, 1, 1);
	hw_stub_expect(p.stub, 0, true, 0x46922038, 2);
	hw_stub_expect(p.stub, 1, true, 0x46902038, 2);
	pair_submit(&p, 0, 1);
	hw_stub_expect(p.stub, 2, true, 0x46921038, 2);
	hw_stub_expect(p.stub, 3, true, 0x46901038, 2);
	/* A queue that is put back alone takes nothing from the other. */
	hw_stub_trace_clear(p.stub);
	ck_assert_int_eq(trnhw_copyq_reset(&p.q[0]), 0);
	ck_assert_uint_eq(hw_stub_writes(p.stub, 0x46902020), 0);
	ck_assert(!trnhw_copyq_lost(&p.q[1]));
	pair_submit(&p, 1, 2);
	pair_teardown(&p);
}
END_TEST

static void pair_state(struct hw_stub *s, u32 offset, u32 value)
{
	if ((offset == 0x46900204 || offset == 0x46920204) && value == 1)
		hw_stub_set(s, 0, offset - 4, 0x1111);
}

/* An abort is the engine's: the other queue learns that what it had in flight is gone. */
START_TEST(shared_engine_abort_is_told)
{
	struct pair p;

	pair_setup(&p);
	p.stub->on_write = pair_state;
	pair_submit(&p, 0, 1);
	pair_submit(&p, 1, 1);
	hw_stub_set(p.stub, 0, 0x46900200, 0x2222);
	ck_assert_int_eq(trnhw_copyq_reset(&p.q[0]), 0);
	ck_assert(!trnhw_copyq_lost(&p.q[0]));
	ck_assert(trnhw_copyq_lost(&p.q[1]));
	/* Its ring is forgotten: a doorbell that was on its way finds nothing old to run. */
	ck_assert_uint_eq(hw_stub_get(p.stub, 0, 0x46902030), 0);
	ck_assert_uint_eq(hw_stub_get(p.stub, 0, 0x46922030), 0);
	ck_assert_int_eq(trnhw_copyq_reset(&p.q[1]), 0);
	ck_assert(!trnhw_copyq_lost(&p.q[1]));
	ck_assert(!trnhw_copyq_lost(&p.q[0]));
	ck_assert_uint_eq(hw_stub_get(p.stub, 0, 0x46902030), 8192);
	ck_assert_uint_eq(hw_stub_get(p.stub, 0, 0x46901030), 8192);
	pair_submit(&p, 1, 2);
	pair_teardown(&p);
}
END_TEST

static void add_submit(TCase *tc)
{
	tcase_add_test(tc, small_copy_is_two_doorbells);
	tcase_add_test(tc, batch_content);
	tcase_add_test(tc, interrupt_on_the_marker_only);
	tcase_add_test(tc, interrupt_needs_the_extension);
	tcase_add_loop_test(tc, submit_refuses, 0, 4);
	tcase_add_test(tc, submit_count_limits);
	tcase_add_test(tc, poll_in_order);
	tcase_add_test(tc, poll_ignores_garbage);
	tcase_add_test(tc, ring_full);
	tcase_add_test(tc, batches_full);
	tcase_add_test(tc, ring_wraps_with_ring_id);
	tcase_add_test(tc, batch_across_the_end);
	tcase_add_test(tc, index_wrap);
	tcase_add_test(tc, batch_number_wrap);
}

int main(void)
{
	Suite *suite = suite_create("hw_copyq");
	TCase *tc = tcase_create("copyq");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, init_programs_the_queue);
	tcase_add_test(tc, init_second_core);
	tcase_add_loop_test(tc, init_no_memory, 0, 3);
	tcase_add_test(tc, init_out_of_reach);
	add_submit(tc);
	tcase_add_test(tc, budget_documented);
	tcase_add_test(tc, budget_documented_v3);
	tcase_add_test(tc, shared_engine_queues_are_apart);
	tcase_add_test(tc, shared_engine_abort_is_told);
	tcase_add_test(tc, reset_starts_over);
	tcase_add_test(tc, reset_recovers_an_abort);
	tcase_add_test(tc, reset_fails_in_lasting_abort);
	tcase_add_test(tc, reset_of_gone_device);
	tcase_add_test(tc, fini_stops_the_queue);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
