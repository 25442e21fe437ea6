// SPDX-License-Identifier: BSD-2-Clause
/*
 * Submission and notification queue of a core. The device is played by writing entries by hand.
 */
#include <string.h>

#include "tests/unit/hw_stub.h"

#define CORE 0x06880000u /* core 1 */
#define NQ   (0x30c35000u + 0x100)

static struct hw_stub *stub;
static struct trnhw_core core;

static void setup(void)
{
	stub = hw_stub_init();
	ck_assert_int_eq(trnhw_core_init(&core, &stub->hw, 1), 0);
}

static void teardown(void)
{
	trnhw_core_fini(&core);
	hw_stub_destroy(stub);
}

static void start(void)
{
	ck_assert_int_eq(trnhw_core_start(&core), 0);
	hw_stub_trace_clear(stub);
}

static u32 produced;

/* The device writes the next entry. */
static void produce(u8 type, u8 engine, u8 code, u64 cookie)
{
	struct trn_notification *slot = &core.nq[produced % TRNHW_NQ_ENTRIES];

	slot->type = type;
	slot->engine = engine;
	slot->code = code;
	slot->tag = 0x1234;
	slot->timestamp = 99;
	slot->payload[0] = cookie;
	slot->payload[1] = 0;
	slot->flags = produced / TRNHW_NQ_ENTRIES % 2 ? 0 : TRN_NOTIFY_FLAG_PHASE;
	produced++;
}

static void submit_one(u64 cookie)
{
	const struct trn_run_request request = { .program = 0x1000, .cookie = cookie };

	ck_assert_int_eq(trnhw_core_submit(&core, &request), 0);
}

START_TEST(init_checks)
{
	struct trnhw_core other;
	int live = stub->alloc_live;

	ck_assert_int_eq(trnhw_core_init(&other, &stub->hw, 2), -EINVAL);
	stub->hw.features = TRN_FEATURE_ALL & ~TRN_FEATURE_CORES;
	ck_assert_int_eq(trnhw_core_init(&other, &stub->hw, 0), -EOPNOTSUPP);
	stub->hw.features = TRN_FEATURE_ALL & ~TRN_FEATURE_NOTIFY;
	ck_assert_int_eq(trnhw_core_init(&other, &stub->hw, 0), -EOPNOTSUPP);
	stub->hw.features = TRN_FEATURE_ALL;
	stub->alloc_fail = 2;
	ck_assert_int_eq(trnhw_core_init(&other, &stub->hw, 0), -ENOMEM);
	stub->bus_next = (1ull << 44) - 4096;
	ck_assert_int_eq(trnhw_core_init(&other, &stub->hw, 0), -EIO);
	ck_assert_int_eq(stub->alloc_live, live);
	trnhw_core_fini(&other);
}
END_TEST

/* @at: control block of @c; @slot: its slot of the NOTIFIC block; @host: bit of host addresses. */
static void expect_start(struct hw_stub *s, const struct trnhw_core *c, u32 at, u32 slot, u64 host)
{
	u64 sq = host | c->sq_dma, nq = host | c->nq_dma;
	unsigned int i = 0;

	hw_stub_expect(s, i++, false, at + 0x00, 0);
	hw_stub_expect(s, i++, true, at + 0x34, 0);
	hw_stub_expect(s, i++, true, slot + 4, 0);
	hw_stub_expect(s, i++, true, slot + 0, 0);
	hw_stub_expect(s, i++, true, slot + 8, 0);
	hw_stub_expect(s, i++, true, slot + 4, nq >> 32); /* documented: high, low, size */
	hw_stub_expect(s, i++, true, slot + 0, (u32)nq);
	hw_stub_expect(s, i++, true, slot + 8, 8192);
	hw_stub_expect(s, i++, true, slot + 0x10, 0);
	hw_stub_expect(s, i++, true, at + 0x20, (u32)sq);
	hw_stub_expect(s, i++, true, at + 0x24, sq >> 32);
	hw_stub_expect(s, i++, true, at + 0x28, 64);
	hw_stub_expect(s, i++, true, at + 0x34, 1);
	hw_stub_expect(s, i++, false, at + 0x34, 0);
	ck_assert_uint_eq(i, s->trace_count);
}

START_TEST(start_trace)
{
	hw_stub_trace_clear(stub);
	ck_assert_int_eq(trnhw_core_start(&core), 0);
	expect_start(stub, &core, CORE, NQ, 0x100000000000ull);
}
END_TEST

/* First, last and one between of the cores of Trn2; there is no ninth. */
START_TEST(start_trace_v3)
{
	static const struct {
		unsigned int core;
		u32 at, slot;
	} cases[] = {
		{ 0, 0xd2880000, 0x06001100 },
		{ 3, 0xde880000, 0x06581100 },
		{ 7, 0xee880000, 0x46581100 },
	};
	struct hw_stub *v3 = hw_stub_init_as(0x7364);
	struct trnhw_core c;

	ck_assert_int_eq(trnhw_core_init(&c, &v3->hw, 8), -EINVAL);
	ck_assert_int_eq(trnhw_core_init(&c, &v3->hw, cases[_i].core), 0);
	hw_stub_trace_clear(v3);
	ck_assert_int_eq(trnhw_core_start(&c), 0);
	expect_start(v3, &c, cases[_i].at, cases[_i].slot, 0x400000000000ull);
	trnhw_core_fini(&c);
	hw_stub_destroy(v3);
}
END_TEST

START_TEST(start_without_core_block)
{
	hw_stub_set(stub, 0, CORE, 0);
	ck_assert_int_eq(trnhw_core_start(&core), -EIO);
	stub->gone = true;
	ck_assert_int_eq(trnhw_core_start(&core), -ENODEV);
	stub->gone = false;
	ck_assert_uint_eq(hw_stub_writes(stub, CORE + 0x34), 0);
}
END_TEST

static void refuse_enable(struct hw_stub *s, u32 offset, u32 value)
{
	if (offset == CORE + 0x34 && value)
		hw_stub_set(s, 0, offset, 0);
}

START_TEST(start_refused)
{
	stub->on_write = refuse_enable;
	ck_assert_int_eq(trnhw_core_start(&core), -EIO);
	ck_assert_uint_eq(hw_stub_get(stub, 0, NQ + 8), 0);
	ck_assert(!core.running);
}
END_TEST

START_TEST(submit_writes_the_slot)
{
	const struct trn_run_request request = {
		.program = 0x1111222233334444ull,
		.args = 0x5555,
		.args_size = 64,
		.windows = 0x6666,
		.window_count = 3,
		.cookie = 0x7777888899990000ull,
	};

	start();
	ck_assert_int_eq(trnhw_core_submit(&core, &request), 0);
	ck_assert_mem_eq(&core.sq[0], &request, sizeof(request));
	ck_assert_uint_eq(stub->trace_count, 0);
	trnhw_core_ring(&core);
	hw_stub_expect(stub, 0, true, CORE + 0x2c, 1);
	ck_assert_uint_eq(stub->trace_count, 1);
}
END_TEST

START_TEST(submit_refuses_reserved)
{
	struct trn_run_request request = { .program = 0x1000 };

	start();
	request.flags = 1;
	ck_assert_int_eq(trnhw_core_submit(&core, &request), -EINVAL);
	request.flags = 0;
	request.reserved0 = 1;
	ck_assert_int_eq(trnhw_core_submit(&core, &request), -EINVAL);
	request.reserved0 = 0;
	request.reserved1[1] = 1;
	ck_assert_int_eq(trnhw_core_submit(&core, &request), -EINVAL);
	request.reserved1[1] = 0;
	request.window_count = 4097;
	ck_assert_int_eq(trnhw_core_submit(&core, &request), -EINVAL);
	request.window_count = 4096;
	ck_assert_int_eq(trnhw_core_submit(&core, &request), 0);
}
END_TEST

START_TEST(submit_needs_start)
{
	const struct trn_run_request request = { .program = 0x1000 };

	hw_stub_trace_clear(stub);
	ck_assert_int_eq(trnhw_core_submit(&core, &request), -ENODEV);
	trnhw_core_ring(&core);
	trnhw_core_resume(&core);
	ck_assert_uint_eq(stub->trace_count, 0);
}
END_TEST

START_TEST(submit_until_full)
{
	const struct trn_run_request request = { .program = 0x1000 };
	struct trn_notification entry;
	unsigned int i;

	start();
	for (i = 0; i < TRNHW_SQ_ENTRIES; i++)
		submit_one(i);
	ck_assert_int_eq(trnhw_core_submit(&core, &request), -EAGAIN);
	produce(TRN_NOTIFY_RUN_END, 0, 0, 0);
	ck_assert(trnhw_core_poll(&core, &entry));
	ck_assert_int_eq(trnhw_core_submit(&core, &request), 0);
	ck_assert_int_eq(trnhw_core_submit(&core, &request), -EAGAIN);
	trnhw_core_ring(&core);
	hw_stub_expect(stub, stub->trace_count - 1, true, CORE + 0x2c, 65);
}
END_TEST

START_TEST(poll_copies_the_entry)
{
	struct trn_notification entry;

	start();
	submit_one(0xabc);
	ck_assert(!trnhw_core_poll(&core, &entry));
	produce(TRN_NOTIFY_ERROR, TRN_ENGINE_PE, TRN_FAULT_WINDOW, 0xabc);
	produce(TRN_NOTIFY_RUN_END, TRN_ENGINE_PE, TRN_FAULT_WINDOW, 0xabc);
	ck_assert(trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(entry.type, TRN_NOTIFY_ERROR);
	ck_assert_uint_eq(core.finished, 0);
	ck_assert(trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(entry.type, TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(entry.engine, TRN_ENGINE_PE);
	ck_assert_uint_eq(entry.code, TRN_FAULT_WINDOW);
	ck_assert_uint_eq(entry.tag, 0x1234);
	ck_assert_uint_eq(entry.timestamp, 99);
	ck_assert_uint_eq(entry.payload[0], 0xabc);
	ck_assert_uint_eq(core.finished, 1);
	ck_assert_uint_eq(stub->trace_count, 0);
	ck_assert(!trnhw_core_poll(&core, &entry));
	hw_stub_expect(stub, 0, true, NQ + 0x10, 2);
	ck_assert(!trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(stub->trace_count, 1);
}
END_TEST

START_TEST(poll_across_wraps)
{
	struct trn_notification entry;
	u32 i;

	start();
	for (i = 0; i < 5 * TRNHW_NQ_ENTRIES + 3; i++) {
		submit_one(i);
		produce(TRN_NOTIFY_RUN_END, 0, 0, i);
		ck_assert(trnhw_core_poll(&core, &entry));
		ck_assert_uint_eq(entry.payload[0], i);
		if (i % 3 == 0)
			ck_assert(!trnhw_core_poll(&core, &entry));
	}
	ck_assert(!trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(hw_stub_get(stub, 0, NQ + 0x10), i);
}
END_TEST

/* Nobody polls until false: the device still learns before its ring is full. */
START_TEST(poll_reports_in_time)
{
	struct trn_notification entry;
	u32 i;

	start();
	for (i = 0; i < TRNHW_NQ_ENTRIES; i++)
		produce(TRN_NOTIFY_EXPLICIT, TRN_ENGINE_SP, 0, i);
	for (i = 1; i <= TRNHW_NQ_ENTRIES; i++) {
		ck_assert(trnhw_core_poll(&core, &entry));
		ck_assert_uint_eq(hw_stub_get(stub, 0, NQ + 0x10), i / 64 * 64);
	}
	ck_assert_uint_eq(stub->trace_count, 4);
}
END_TEST

START_TEST(poll_drops_malformed)
{
	struct trn_notification entry;

	start();
	submit_one(5);
	produce(TRN_NOTIFY_RUN_END + 1, 0, 0, 0);
	produce(0xff, 0xff, 0xff, 0);
	produce(TRN_NOTIFY_EXPLICIT, TRN_ENGINE_MAX, 0, 0);
	produce(TRN_NOTIFY_EXPLICIT, 0, 0, 0);
	core.nq[3].flags |= 0x80;
	produce(TRN_NOTIFY_RUN_END, 0, 0, 5);
	ck_assert(trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(entry.payload[0], 5);
	ck_assert_uint_eq(core.malformed, 4);
}
END_TEST

START_TEST(poll_drops_invented_ends)
{
	struct trn_notification entry;

	start();
	submit_one(5);
	produce(TRN_NOTIFY_RUN_END, 0, 0, 5);
	produce(TRN_NOTIFY_RUN_END, 0, 0, 5);
	ck_assert(trnhw_core_poll(&core, &entry));
	ck_assert(!trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(core.malformed, 1);
	ck_assert_uint_eq(core.finished, 1);
}
END_TEST

START_TEST(poll_passes_overflow)
{
	struct trn_notification entry;

	start();
	produce(TRN_NOTIFY_EXPLICIT, 0, 0, 0);
	core.nq[0].flags |= TRN_NOTIFY_FLAG_OVERFLOW;
	ck_assert(trnhw_core_poll(&core, &entry));
	ck_assert(entry.flags & TRN_NOTIFY_FLAG_OVERFLOW);
}
END_TEST

/* A device that writes malformed entries ahead of the reader for ever. */
START_TEST(poll_is_bounded)
{
	struct trn_notification entry;
	u32 i;

	start();
	for (i = 0; i < TRNHW_NQ_ENTRIES; i++)
		produce(0xff, 0, 0, 0);
	ck_assert(!trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(core.malformed, TRNHW_NQ_ENTRIES);
	ck_assert_uint_eq(hw_stub_get(stub, 0, NQ + 0x10), TRNHW_NQ_ENTRIES);
}
END_TEST

START_TEST(progress_is_clamped)
{
	start();
	submit_one(1);
	submit_one(2);
	hw_stub_set(stub, 0, CORE + 0x30, 1);
	ck_assert_uint_eq(trnhw_core_progress(&core), 1);
	hw_stub_set(stub, 0, CORE + 0x30, 2);
	ck_assert_uint_eq(trnhw_core_progress(&core), 2);
	hw_stub_set(stub, 0, CORE + 0x30, 3);
	ck_assert_uint_eq(trnhw_core_progress(&core), 0);
	hw_stub_set(stub, 0, CORE + 0x30, ~0u);
	ck_assert_uint_eq(trnhw_core_progress(&core), 0);
}
END_TEST

START_TEST(resume_trace)
{
	start();
	trnhw_core_resume(&core);
	hw_stub_expect(stub, 0, true, CORE + 0x34, 5);
	ck_assert_uint_eq(stub->trace_count, 1);
}
END_TEST

START_TEST(stop_trace)
{
	unsigned int i = 0;

	start();
	ck_assert_int_eq(trnhw_core_stop(&core), 0);
	hw_stub_expect(stub, i++, true, CORE + 0x34, 3);
	hw_stub_expect(stub, i++, false, CORE + 0x10, 0);
	hw_stub_expect(stub, i++, true, CORE + 0x34, 0);
	hw_stub_expect(stub, i++, true, NQ + 4, 0);
	hw_stub_expect(stub, i++, true, NQ + 0, 0);
	hw_stub_expect(stub, i++, true, NQ + 8, 0);
	ck_assert_int_ge(stub->now_ns, 1000000);
	hw_stub_trace_clear(stub);
	ck_assert_int_eq(trnhw_core_stop(&core), 0);
	ck_assert_uint_eq(stub->trace_count, 0);
}
END_TEST

START_TEST(stop_gives_up)
{
	start();
	hw_stub_set(stub, 0, CORE + 0x10, TRN_CORE_STATUS_RUNNING);
	ck_assert_int_eq(trnhw_core_stop(&core), -ETIMEDOUT);
	ck_assert_int_lt(stub->now_ns, 200000000);
	ck_assert_uint_eq(hw_stub_get(stub, 0, CORE + 0x34), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, NQ + 8), 0);
	ck_assert_uint_eq(stub->log_count, 1);
}
END_TEST

START_TEST(stop_of_gone_device)
{
	start();
	stub->gone = true;
	ck_assert_int_eq(trnhw_core_stop(&core), -ENODEV);
	ck_assert_int_lt(stub->now_ns, 10000000);
	stub->gone = false;
}
END_TEST

START_TEST(start_again_is_fresh)
{
	struct trn_notification entry;

	start();
	submit_one(1);
	produce(TRN_NOTIFY_RUN_END, 0, 0, 1);
	ck_assert(trnhw_core_poll(&core, &entry));
	trnhw_core_stop(&core);
	start();
	produced = 0;
	ck_assert(!trnhw_core_poll(&core, &entry));
	submit_one(2);
	trnhw_core_ring(&core);
	hw_stub_expect(stub, 0, true, CORE + 0x2c, 1);
	produce(TRN_NOTIFY_RUN_END, 0, 0, 2);
	ck_assert(trnhw_core_poll(&core, &entry));
	ck_assert_uint_eq(entry.payload[0], 2);
}
END_TEST

START_TEST(fini_stops)
{
	start();
	trnhw_core_fini(&core);
	ck_assert_uint_eq(hw_stub_get(stub, 0, CORE + 0x34), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, NQ + 8), 0);
}
END_TEST

static void add_poll(TCase *tc)
{
	tcase_add_test(tc, poll_copies_the_entry);
	tcase_add_test(tc, poll_across_wraps);
	tcase_add_test(tc, poll_reports_in_time);
	tcase_add_test(tc, poll_drops_malformed);
	tcase_add_test(tc, poll_drops_invented_ends);
	tcase_add_test(tc, poll_passes_overflow);
	tcase_add_test(tc, poll_is_bounded);
}

int main(void)
{
	Suite *suite = suite_create("hw_core");
	TCase *tc = tcase_create("core");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, init_checks);
	tcase_add_test(tc, start_trace);
	tcase_add_loop_test(tc, start_trace_v3, 0, 3);
	tcase_add_test(tc, start_without_core_block);
	tcase_add_test(tc, start_refused);
	tcase_add_test(tc, submit_writes_the_slot);
	tcase_add_test(tc, submit_refuses_reserved);
	tcase_add_test(tc, submit_needs_start);
	tcase_add_test(tc, submit_until_full);
	add_poll(tc);
	tcase_add_test(tc, progress_is_clamped);
	tcase_add_test(tc, resume_trace);
	tcase_add_test(tc, stop_trace);
	tcase_add_test(tc, stop_gives_up);
	tcase_add_test(tc, stop_of_gone_device);
	tcase_add_test(tc, start_again_is_fresh);
	tcase_add_test(tc, fini_stops);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
