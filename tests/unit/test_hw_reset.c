// SPDX-License-Identifier: BSD-2-Clause
/*
 * Identification and reset handshake against a scripted device, with the documented times.
 */
#include "tests/unit/hw_stub.h"

#define MISC HW_STUB_MISC
#define MS   1000000ll

/* When the device does what; times in ms from the first doorbell, -1: never. */
struct script {
	s64 accept_ms;
	s64 idle_ms;
	unsigned int doorbells_needed;
	unsigned int doorbells;
	s64 start_ns;
	s64 last_ns;
	u32 misc; /* where MISC RAM is */
};

static struct script script;

static void play(struct hw_stub *stub)
{
	s64 ms = (stub->now_ns - script.start_ns) / MS;

	if (script.doorbells < script.doorbells_needed || !script.doorbells)
		return;
	if (script.accept_ms >= 0 && ms >= script.accept_ms)
		hw_stub_set(stub, 0, script.misc + 0x1ec, 0);
	if (script.idle_ms >= 0 && ms >= script.idle_ms)
		hw_stub_set(stub, 0, script.misc + 0x808, 0);
}

static void on_write(struct hw_stub *stub, u32 offset, u32 value)
{
	if (offset != script.misc + 0x800)
		return;
	ck_assert_uint_eq(value, 1);
	if (!script.doorbells++)
		script.start_ns = stub->now_ns;
	script.last_ns = stub->now_ns;
	hw_stub_set(stub, 0, script.misc + 0x808, 8);
}

static struct hw_stub *setup_as(u16 pci_device, s64 accept_ms, s64 idle_ms)
{
	struct hw_stub *stub = hw_stub_init_as(pci_device);

	script = (struct script){ .accept_ms = accept_ms,
				  .idle_ms = idle_ms,
				  .doorbells_needed = 1,
				  .misc = stub->hw.arch->misc };
	stub->on_write = on_write;
	stub->on_sleep = play;
	return stub;
}

static struct hw_stub *setup(s64 accept_ms, s64 idle_ms)
{
	return setup_as(0x7164, accept_ms, idle_ms);
}

START_TEST(device_reset_trace)
{
	struct hw_stub *stub = setup(0, 0);

	ck_assert_int_eq(trnhw_reset_device(&stub->hw), 0);
	hw_stub_expect(stub, 0, true, MISC + 0x1ec, 1);
	hw_stub_expect(stub, 1, true, MISC + 0x800, 1);
	hw_stub_expect(stub, 2, false, MISC + 0x1ec, 0);
	hw_stub_expect(stub, 3, false, MISC + 0x808, 0);
	ck_assert_uint_eq(stub->trace_count, 4);
	ck_assert_int_ge(stub->trace[2].time_ns, 100 * MS);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(core_reset_trace)
{
	struct hw_stub *stub = setup(0, 0);

	ck_assert_int_eq(trnhw_reset_cores(&stub->hw, 2), 0);
	hw_stub_expect(stub, 0, true, MISC + 0x1d8, 0x3802);
	hw_stub_expect(stub, 1, true, MISC + 0x1ec, 2);
	hw_stub_expect(stub, 2, true, MISC + 0x800, 1);
	hw_stub_expect(stub, 3, false, MISC + 0x1ec, 0);
	hw_stub_expect(stub, 4, false, MISC + 0x808, 0);
	ck_assert_uint_eq(stub->trace_count, 5);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(core_reset_trace_v3)
{
	struct hw_stub *stub = setup_as(0x7364, 0, 0);
	const u32 misc = HW_STUB_MISC_V3;

	ck_assert_int_eq(trnhw_reset_cores(&stub->hw, 0x81), 0);
	hw_stub_expect(stub, 0, true, misc + 0x1d8, 0x00818181);
	hw_stub_expect(stub, 1, true, misc + 0x1ec, 2);
	hw_stub_expect(stub, 2, true, misc + 0x800, 1);
	hw_stub_expect(stub, 3, false, misc + 0x1ec, 0);
	hw_stub_expect(stub, 4, false, misc + 0x808, 0);
	ck_assert_uint_eq(stub->trace_count, 5);
	ck_assert_int_eq(trnhw_reset_cores(&stub->hw, 0x100), -EINVAL);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(core_mask_checked)
{
	struct hw_stub *stub = setup(0, 0);

	ck_assert_int_eq(trnhw_reset_cores(&stub->hw, 0), -EINVAL);
	ck_assert_int_eq(trnhw_reset_cores(&stub->hw, 4), -EINVAL);
	ck_assert_int_eq(trnhw_reset_cores(&stub->hw, 0xffffffff), -EINVAL);
	ck_assert_int_eq(trnhw_start(&stub->hw, 0), -EINVAL);
	ck_assert_int_eq(trnhw_start(&stub->hw, 5), -EINVAL);
	ck_assert_uint_eq(stub->trace_count, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(polled_every_100_ms)
{
	struct hw_stub *stub = setup(1050, 0);
	unsigned int i, polls = 0;

	ck_assert_int_eq(trnhw_reset_device(&stub->hw), 0);
	for (i = 0; i < stub->trace_count; i++)
		polls += !stub->trace[i].write && stub->trace[i].offset == MISC + 0x1ec;
	ck_assert_uint_eq(polls, 11);
	ck_assert_uint_eq(script.doorbells, 1);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(device_reset_resent_after_30_s)
{
	struct hw_stub *stub = setup(0, 0);

	script.doorbells_needed = 2;
	ck_assert_int_eq(trnhw_reset_device(&stub->hw), 0);
	ck_assert_uint_eq(script.doorbells, 2);
	ck_assert_int_ge(script.last_ns, 30000 * MS);
	ck_assert_int_lt(script.last_ns, 31000 * MS);
	ck_assert_uint_eq(hw_stub_writes(stub, MISC + 0x1ec), 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(core_reset_resent_after_10_s)
{
	struct hw_stub *stub = setup(0, 0);

	script.doorbells_needed = 3;
	ck_assert_int_eq(trnhw_reset_cores(&stub->hw, 1), 0);
	ck_assert_uint_eq(script.doorbells, 3);
	ck_assert_int_ge(script.last_ns, 20000 * MS);
	ck_assert_int_lt(script.last_ns, 21000 * MS);
	ck_assert_uint_eq(hw_stub_writes(stub, MISC + 0x1d8), 3);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(given_up_after_120_s)
{
	struct hw_stub *stub = setup(-1, -1);

	ck_assert_int_eq(trnhw_reset_device(&stub->hw), -ETIMEDOUT);
	ck_assert_int_ge(stub->now_ns, 120000 * MS);
	ck_assert_int_lt(stub->now_ns, 121000 * MS);
	ck_assert_uint_eq(script.doorbells, 4);
	ck_assert_uint_eq(stub->log_count, 1);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(given_up_after_480_s_v3)
{
	struct hw_stub *stub = setup_as(0x7364, -1, -1);

	ck_assert_int_eq(trnhw_reset_device(&stub->hw), -ETIMEDOUT);
	ck_assert_int_ge(stub->now_ns, 480000 * MS);
	ck_assert_int_lt(stub->now_ns, 481000 * MS);
	ck_assert_uint_eq(script.doorbells, 16);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(busy_bit_waited_for)
{
	struct hw_stub *stub = setup(0, 650);

	ck_assert_int_eq(trnhw_reset_device(&stub->hw), 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(busy_bit_read_five_times)
{
	static const int at_ms[5] = { 0, 0, 100, 300, 600 };
	struct hw_stub *stub = setup(0, -1);
	unsigned int i, n = 0;
	s64 first = 0;

	ck_assert_int_eq(trnhw_reset_device(&stub->hw), -ETIMEDOUT);
	for (i = 0; i < stub->trace_count; i++) {
		const struct hw_access *a = &stub->trace[i];

		if (a->write || a->offset != MISC + 0x808)
			continue;
		if (!n)
			first = a->time_ns;
		ck_assert_uint_lt(n, 5);
		ck_assert_int_eq((a->time_ns - first) / MS, at_ms[n]);
		n++;
	}
	ck_assert_uint_eq(n, 5);
	hw_stub_destroy(stub);
}
END_TEST

static unsigned int not_ready_reads;

static void not_ready(struct hw_stub *stub, u32 offset, u32 *value)
{
	if (stub->now_ns < 3000 * MS && offset == MISC + 0x1ec) {
		*value = 0xdeadbeef;
		not_ready_reads++;
	}
}

START_TEST(not_ready_is_retried)
{
	struct hw_stub *stub = setup(0, 0);

	stub->on_read = not_ready;
	ck_assert_int_eq(trnhw_reset_device(&stub->hw), 0);
	ck_assert_uint_ge(not_ready_reads, 2000);
	ck_assert_uint_eq(script.doorbells, 1);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(reset_of_gone_device)
{
	struct hw_stub *stub = setup(-1, -1);

	stub->gone = true;
	ck_assert_int_eq(trnhw_reset_device(&stub->hw), -ENODEV);
	ck_assert_int_lt(stub->now_ns, 1000 * MS);
	hw_stub_destroy(stub);
}
END_TEST

static void stop_later(struct hw_stub *stub)
{
	if (stub->now_ns > 5000 * MS)
		trnhw_stop(&stub->hw);
}

START_TEST(reset_stopped)
{
	struct hw_stub *stub = setup(-1, -1);

	stub->on_sleep = stop_later;
	ck_assert_int_eq(trnhw_reset_cores(&stub->hw, 1), -ENODEV);
	ck_assert_int_lt(stub->now_ns, 5200 * MS);
	hw_stub_destroy(stub);
}
END_TEST

/* First register an engine's init writes, per engine in order. */
START_TEST(start_order)
{
	struct hw_stub *stub = setup(0, 0);
	u32 order[64];
	unsigned int i, n = 0;

	ck_assert_int_eq(trnhw_start(&stub->hw, 3), 0);
	for (i = 0; i < stub->trace_count; i++) {
		const struct hw_access *a = &stub->trace[i];

		/* M2S 0x310 is written once per engine. */
		if (a->write && (a->offset & 0xffff) == 0x0310 && n < 64)
			order[n++] = a->offset - 0x310;
	}
	ck_assert_uint_eq(n, 34);
	for (i = 0; i < 16; i++) {
		ck_assert_uint_eq(order[i], 0x30000000 + i * 0x40000);
		ck_assert_uint_eq(order[17 + i], 0x30700000 + i * 0x40000);
	}
	ck_assert_uint_eq(order[16], 0x30600000);
	ck_assert_uint_eq(order[33], 0x30d00000);
	ck_assert_uint_eq(stub->trace_count, 32 * 380 + 2 * 378 + 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(start_one_core)
{
	struct hw_stub *stub = setup(0, 0);

	ck_assert_int_eq(trnhw_start(&stub->hw, 2), 0);
	ck_assert_uint_eq(stub->trace_count, 16 * 380 + 378 + 1);
	ck_assert_uint_eq(hw_stub_writes(stub, 0x30000310), 0);
	hw_stub_destroy(stub);
}
END_TEST

static bool engine_began(const struct hw_access *a)
{
	return a->write && (a->offset & 0xfffff) == 0x00310;
}

/* Compute engines of core n, then, if n is even, the host copy engine of n and n + 1. */
START_TEST(start_order_v3)
{
	static const u32 udma[4] = { 0x82000000, 0x94000000, 0xa2000000, 0xb4000000 };
	static const u32 host[4] = { 0x06800000, 0x06900000, 0x46800000, 0x46900000 };
	struct hw_stub *stub = setup_as(0x7364, 0, 0);
	unsigned int i, e = 0, h = 0;

	ck_assert_int_eq(trnhw_start(&stub->hw, 0xff), 0);
	for (i = 0; i < stub->trace_count; i++) {
		const struct hw_access *a = &stub->trace[i];

		if (!engine_began(a))
			continue;
		if (e == 16 + 32 * h) {
			ck_assert_uint_lt(h, 4);
			ck_assert_uint_eq(a->offset, host[h++] + 0x310);
			continue;
		}
		ck_assert_uint_lt(e, 128);
		ck_assert_uint_eq(a->offset, udma[e / 32] + e % 32 * 0x100000 + 0x310);
		e++;
	}
	ck_assert_uint_eq(e + h, 132);
	/* A read per core tells whether the device is still there. */
	ck_assert_uint_eq(stub->trace_count, 128 * 146 + 4 * 132 + 8);
	hw_stub_destroy(stub);
}
END_TEST

/* The host copy engine is touched only when both of its cores are started. */
START_TEST(start_some_cores_v3)
{
	static const struct {
		u32 mask;
		unsigned int cores, host;
	} cases[] = {
		{ 0x01, 1, 0 }, { 0x02, 1, 0 }, { 0x06, 2, 0 }, { 0x0c, 2, 1 }, { 0xfe, 7, 3 },
	};
	struct hw_stub *stub = setup_as(0x7364, 0, 0);

	ck_assert_int_eq(trnhw_start(&stub->hw, cases[_i].mask), 0);
	ck_assert_uint_eq(stub->trace_count,
			  cases[_i].cores * (16 * 146 + 1) + cases[_i].host * 132);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(start_gone_device)
{
	struct hw_stub *stub = setup(0, 0);

	stub->gone = true;
	ck_assert_int_eq(trnhw_start(&stub->hw, 3), -ENODEV);
	hw_stub_destroy(stub);
}
END_TEST

static int init(struct hw_stub *stub)
{
	return trnhw_init(&stub->hw, stub->dev, trnhw_user_iomap(stub->dev, 0),
			  trnhw_user_iomap(stub->dev, 2), 0x7164, 0x1f, 5);
}

START_TEST(init_fields)
{
	struct hw_stub *stub = hw_stub_create();

	hw_stub_set(stub, 0, MISC + 0x24, 5);
	hw_stub_set(stub, 0, MISC + 0x38, 0x11223344);
	hw_stub_set(stub, 0, MISC + 0x3c, 0x55667788);
	ck_assert_int_eq(init(stub), 0);
	ck_assert_uint_eq(stub->hw.routing_id, 5);
	ck_assert_uint_eq(stub->hw.serial, 0x5566778811223344ull);
	ck_assert_uint_eq(stub->hw.features, 0x1f);
	ck_assert_uint_eq(stub->hw.vectors, 5);
	ck_assert_str_eq(stub->hw.arch->name, "trn1");
	ck_assert_int_eq(stub->alloc_live, 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(init_unknown_device)
{
	struct hw_stub *stub = hw_stub_create();

	ck_assert_int_eq(trnhw_init(&stub->hw, stub->dev, trnhw_user_iomap(stub->dev, 0), NULL,
				    0x7064, 0, 0),
			 -ENODEV);
	ck_assert_uint_eq(stub->trace_count, 0);
	hw_stub_destroy(stub);
}
END_TEST

static s64 id_ready_ns;

static void id_late(struct hw_stub *stub, u32 offset, u32 *value)
{
	if (offset == MISC + 0x24 && stub->now_ns < id_ready_ns)
		*value = 0xdeadbeef;
}

START_TEST(init_id_late)
{
	struct hw_stub *stub = hw_stub_create();

	/* In the second round. */
	id_ready_ns = 20000 * MS;
	stub->on_read = id_late;
	hw_stub_set(stub, 0, MISC + 0x24, 3);
	ck_assert_int_eq(init(stub), 0);
	ck_assert_uint_eq(stub->hw.routing_id, 3);
	hw_stub_destroy(stub);
}
END_TEST

static void id_never(struct hw_stub *stub, u32 offset, u32 *value)
{
	if (offset == MISC + 0x24)
		*value = 0xdeadbeef;
	hw_stub_trace_clear(stub);
}

START_TEST(init_id_never)
{
	struct hw_stub *stub = hw_stub_create();

	stub->on_read = id_never;
	ck_assert_int_eq(init(stub), -ETIMEDOUT);
	ck_assert_int_ge(stub->now_ns, 320000 * MS);
	ck_assert_int_lt(stub->now_ns, 322000 * MS);
	ck_assert_uint_eq(stub->log_count, 1);
	ck_assert_int_eq(stub->alloc_live, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(init_id_out_of_range)
{
	struct hw_stub *stub = hw_stub_create();

	hw_stub_set(stub, 0, MISC + 0x24, 64);
	ck_assert_int_eq(init(stub), -ENODEV);
	ck_assert_str_eq(stub->log, "routing id 64 is not in 0..63: not a working device");
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(init_gone)
{
	struct hw_stub *stub = hw_stub_create();

	stub->gone = true;
	ck_assert_int_eq(init(stub), -ENODEV);
	ck_assert_int_lt(stub->now_ns, 100 * MS);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(init_serial_unavailable)
{
	static const u32 halves[][2] = {
		{ 0, 1 }, { 1, 0 }, { 0xdeadbeef, 1 }, { 1, 0xdeadbeef }, { 0, 0 },
	};
	struct hw_stub *stub = hw_stub_create();

	hw_stub_set(stub, 0, MISC + 0x38, halves[_i][0]);
	hw_stub_set(stub, 0, MISC + 0x3c, halves[_i][1]);
	ck_assert_int_eq(init(stub), 0);
	ck_assert_uint_eq(stub->hw.serial, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(init_without_extension)
{
	struct hw_stub *stub = hw_stub_create();

	ck_assert_int_eq(trnhw_init(&stub->hw, stub->dev, trnhw_user_iomap(stub->dev, 0), NULL,
				    0x7264, 0x1f, 5),
			 0);
	ck_assert_uint_eq(stub->hw.features, 0);
	ck_assert_uint_eq(stub->hw.vectors, 0);
	ck_assert_uint_eq(trnhw_ext_read(&stub->hw, 0), 0);
	trnhw_ext_write(&stub->hw, 0x100, 1);
	ck_assert_uint_eq(stub->trace_count, 3);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(init_extension_not_there)
{
	struct hw_stub *stub = hw_stub_create();

	hw_stub_set(stub, 2, 0, 0x12345678);
	ck_assert_int_eq(init(stub), 0);
	ck_assert_uint_eq(stub->hw.features, 0);
	ck_assert_ptr_null(stub->hw.ext);
	ck_assert_uint_eq(stub->log_count, 1);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(init_extension_partial)
{
	struct hw_stub *stub = hw_stub_create();

	hw_stub_set(stub, 2, 8, 0xfffffffe);
	ck_assert_int_eq(init(stub), 0);
	ck_assert_uint_eq(stub->hw.features, 0x1e);
	ck_assert_uint_eq(stub->hw.vectors, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(init_no_memory)
{
	struct hw_stub *stub = hw_stub_create();

	stub->alloc_fail = 1 + _i;
	ck_assert_int_eq(init(stub), -ENOMEM);
	ck_assert_int_eq(stub->alloc_live, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(init_memory_out_of_reach)
{
	struct hw_stub *stub = hw_stub_create();

	stub->bus_next = (1ull << 44) - 4096;
	ck_assert_int_eq(init(stub), -EIO);
	ck_assert_int_eq(stub->alloc_live, 0);
	hw_stub_destroy(stub);
}
END_TEST

static TCase *case_init(void)
{
	TCase *tc = tcase_create("init");

	tcase_add_test(tc, init_fields);
	tcase_add_test(tc, init_unknown_device);
	tcase_add_test(tc, init_id_late);
	tcase_add_test(tc, init_id_never);
	tcase_add_test(tc, init_id_out_of_range);
	tcase_add_test(tc, init_gone);
	tcase_add_loop_test(tc, init_serial_unavailable, 0, 5);
	tcase_add_test(tc, init_without_extension);
	tcase_add_test(tc, init_extension_not_there);
	tcase_add_test(tc, init_extension_partial);
	tcase_add_loop_test(tc, init_no_memory, 0, 2);
	tcase_add_test(tc, init_memory_out_of_reach);
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("hw_reset");
	TCase *tc = tcase_create("reset");

	tcase_add_test(tc, device_reset_trace);
	tcase_add_test(tc, core_reset_trace);
	tcase_add_test(tc, core_reset_trace_v3);
	tcase_add_test(tc, core_mask_checked);
	tcase_add_test(tc, polled_every_100_ms);
	tcase_add_test(tc, device_reset_resent_after_30_s);
	tcase_add_test(tc, core_reset_resent_after_10_s);
	tcase_add_test(tc, given_up_after_120_s);
	tcase_add_test(tc, given_up_after_480_s_v3);
	tcase_add_test(tc, busy_bit_waited_for);
	tcase_add_test(tc, busy_bit_read_five_times);
	tcase_add_test(tc, not_ready_is_retried);
	tcase_add_test(tc, reset_of_gone_device);
	tcase_add_test(tc, reset_stopped);
	tcase_add_test(tc, start_order);
	tcase_add_test(tc, start_one_core);
	tcase_add_test(tc, start_order_v3);
	tcase_add_loop_test(tc, start_some_cores_v3, 0, 5);
	tcase_add_test(tc, start_gone_device);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, case_init());
	return hw_suite_run(suite);
}
