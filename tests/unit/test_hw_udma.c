// SPDX-License-Identifier: BSD-2-Clause
/*
 * Register traces of DMA engine and queue set-up against the documented ones. Offsets and values
 * here are written out, not taken from the headers the code under test uses.
 */
#include "tests/unit/hw_stub.h"

#define M2S  0x00000u
#define S2M  0x20000u
#define GEN  0x38000u
#define GENX 0x3c000u

/* Position in the recorded trace. */
struct cursor {
	struct hw_stub *stub;
	unsigned int at;
};

static void w(struct cursor *c, u32 offset, u32 value)
{
	hw_stub_expect(c->stub, c->at++, true, offset, value);
}

static void r(struct cursor *c, u32 offset)
{
	hw_stub_expect(c->stub, c->at++, false, offset, 0);
}

/* What differs between the generations. */
struct values {
	u32 fifo, outstanding, s2m_outstanding;
	u32 beats; /* 0: not written */
	bool axi_errors;
};

static const struct values v2 = { 0x01000400, 0x0000086f, 0x00400008, 0, true };
static const struct values v3 = { 0x010008f8, 0x20808080, 0x00400080, 0x26, false };

/* One engine: blocks, broadcast position or -1, queue configuration, what its registers held. */
struct engine {
	const struct values *v;
	u32 udma, sdma, fis;
	int broadcast;
	u32 cfg, spare;
	u32 mask_a, mask_b, other;
};

static void expect_rows_1_to_8(struct cursor *c, const struct engine *e)
{
	static const u32 last[16] = {
		[0] = 0xffff, [3] = 0xffff, [6] = 0xffff, [9] = 0xffff, [15] = 0xffff
	};
	u32 udma = e->udma, q;

	if (e->broadcast >= 0) {
		w(c, e->sdma + 0x100, 0xffff >> e->broadcast);
		w(c, e->sdma + 0x104, last[e->broadcast]);
	}
	for (q = 0; q < 16; q++) {
		w(c, udma + M2S + 0x1000 + q * 0x1000 + 0x20, e->cfg);
		w(c, udma + S2M + 0x1000 + q * 0x1000 + 0x20, e->cfg);
	}
	w(c, udma + M2S + 0x310, e->v->fifo);
	w(c, udma + M2S + 0x124, e->v->outstanding);
	w(c, udma + GEN + 0x2300, 0x05f5e100);
	w(c, udma + M2S + 0x408, 0);
	w(c, udma + M2S + 0x254, 0x010fffff);
	w(c, udma + M2S + 0x258, 0x00000102);
	for (q = 0; q < 16; q++)
		w(c, udma + GENX + 0x400 + q * 0x40, 0xffffffff);
	w(c, udma + M2S + 0x118, 0x00010008);
	w(c, udma + S2M + 0x38c, 0);
	for (q = 0; q < 16; q++) {
		w(c, udma + GENX + 0x400 + q * 0x40 + 0x4, 0xffffffff);
		w(c, udma + GENX + 0x400 + q * 0x40 + 0x8, 0xffffffff);
		w(c, udma + GENX + 0x400 + q * 0x40 + 0xc, 0xffffffff);
	}
	w(c, udma + S2M + 0x124, e->v->s2m_outstanding);
	w(c, udma + S2M + 0x128, 0x40804080);
	r(c, udma + GEN + 0x3460);
	w(c, udma + GEN + 0x3460, e->spare);
}

static void expect_rows_9_to_13(struct cursor *c, const struct engine *e)
{
	static const u32 gen[14][2] = {
		{ 0x2028, 0x28 },	{ 0x00e8, 0x28 },	{ 0x2030, 0xf0000000 },
		{ 0x20b0, 0xffffffc0 }, { 0x2018, 0xf0000000 }, { 0x2098, 0xffffffc0 },
		{ 0x00d8, 0xfffffaff }, { 0x2068, 0x28 },	{ 0x00e8, 0x28 },
		{ 0x2070, 0x000010f8 }, { 0x20b0, 0xfffff03f }, { 0x2058, 0x000010f8 },
		{ 0x2098, 0xfffff03f }, { 0x00d8, 0xfffff9ff },
	};
	u32 udma = e->udma, sdma = e->sdma;
	unsigned int i;

	for (i = 0; i < 14; i++)
		w(c, udma + GEN + gen[i][0], gen[i][1]);
	w(c, udma + S2M + 0x380, 0x1004);
	w(c, udma + M2S + 0x304, 0x00010041);
	w(c, udma + M2S + 0x308, 0x00004181);
	w(c, udma + S2M + 0x308, 0x00004181);
	w(c, udma + M2S + 0x11c, 0x00010008);
	w(c, udma + S2M + 0x11c, 0x00010008);
	w(c, sdma + 0x1c, 1);
	w(c, sdma + 0x20, 1);
	w(c, sdma + 0x00, 1);
	if (e->v->beats)
		w(c, sdma + 0x800, e->v->beats);
}

static void expect_rows_14_to_17(struct cursor *c, u32 udma)
{
	static const u32 entry[6] = { 0x04, 0x08, 0x0c, 0x24, 0x28, 0x2c };
	static const u32 block[6] = { 0x2d00, 0x2e00, 0x2f00, 0x3000, 0x3100, 0x3200 };
	u32 t, i, q;

	for (t = 0; t < 6; t++)
		for (i = 0; i < 6; i++)
			w(c, udma + GEN + 0x2900 + t * 0x40 + entry[i], 0xf);
	for (t = 0; t < 6; t++) {
		for (q = 0; q < 16; q++) {
			w(c, udma + GEN + 0x2b00 + t * 8, q * 8 + 7);
			w(c, udma + GEN + 0x2b04 + t * 8, 0x10);
		}
	}
	for (i = 0; i < 6; i++) {
		w(c, udma + GEN + block[i] + 0x28, 0x28);
		w(c, udma + GEN + block[i] + 0x30, 0);
		w(c, udma + GEN + block[i] + 0x18, 0);
	}
	w(c, udma + GEN + 0x2300, 0xffffffff);
}

static void rmw(struct cursor *c, u32 offset, u32 value)
{
	r(c, offset);
	w(c, offset, value);
}

static void expect_row_18(struct cursor *c, const struct engine *e)
{
	r(c, e->udma + GEN + 0x2010);
	w(c, e->udma + GEN + 0x2010, e->mask_a | 0x20000);
	w(c, e->udma + GEN + 0x2030, e->mask_a | 0x20000);
	r(c, e->udma + GEN + 0x2050);
	w(c, e->udma + GEN + 0x2050, e->mask_b | 0x800);
	w(c, e->udma + GEN + 0x2070, e->mask_b | 0x800);
	rmw(c, e->fis + 0x90, e->other | 0x800);
	rmw(c, e->fis + 0xd0, e->other | 0x4);
	rmw(c, e->udma + M2S + 0x20c, e->other | 0x20000);
	rmw(c, e->udma + S2M + 0x20c, e->other | 0x800);
}

static void expect_engine(struct hw_stub *stub, const struct engine *e)
{
	struct cursor c = { stub, 0 };

	expect_rows_1_to_8(&c, e);
	expect_rows_9_to_13(&c, e);
	if (e->v->axi_errors)
		expect_rows_14_to_17(&c, e->udma);
	if (e->fis)
		expect_row_18(&c, e);
	ck_assert_uint_eq(c.at, stub->trace_count);
}

static struct engine v2_engine(int id)
{
	int e = id % 16;

	return (struct engine){
		.v = &v2,
		.udma = (id < 16 ? 0x30000000 : 0x30700000) + e * 0x40000,
		.sdma = (id < 16 ? 0x30400000 : 0x30b00000) + e * 0x7000,
		.broadcast = e,
		.cfg = 0x00030000,
	};
}

static struct engine v3_engine(int id)
{
	static const u32 udma[4] = { 0x82000000, 0x94000000, 0xa2000000, 0xb4000000 };
	static const u32 fis[4] = { 0x8c000000, 0x9c400000, 0xac000000, 0xbc400000 };
	static const u32 host[4] = { 0x06800000, 0x06900000, 0x46800000, 0x46900000 };
	struct engine e = { .v = &v3, .broadcast = -1, .cfg = 0x00030000 };

	if (id < 128) {
		e.udma = udma[id / 32] + id % 32 * 0x100000;
		e.fis = fis[id / 32] + id % 32 * 0x20000;
	} else {
		e.udma = host[id - 128];
	}
	e.sdma = e.udma + 0x40000;
	return e;
}

static unsigned int reads(const struct hw_stub *stub)
{
	unsigned int i, n = 0;

	for (i = 0; i < stub->trace_count; i++)
		n += !stub->trace[i].write;
	return n;
}

START_TEST(engine_init_trace)
{
	struct hw_stub *stub = hw_stub_init();
	struct engine e = v2_engine(_i);

	trnhw_udma_engine_init(&stub->hw, _i);
	ck_assert_uint_eq(stub->trace_count, 380);
	ck_assert_uint_eq(reads(stub), 1);
	expect_engine(stub, &e);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(engine_init_trace_host_copy)
{
	struct hw_stub *stub = hw_stub_init();
	struct engine e = { .v = &v2, .broadcast = -1, .cfg = 0x00030000 };

	e.udma = _i == 32 ? 0x30600000 : 0x30d00000;
	e.sdma = e.udma + 0x40000;
	trnhw_udma_engine_init(&stub->hw, _i);
	ck_assert_uint_eq(stub->trace_count, 378);
	ck_assert_uint_eq(reads(stub), 1);
	expect_engine(stub, &e);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(engine_init_trace_v3)
{
	struct hw_stub *stub = hw_stub_init_as(0x7364);
	struct engine e = v3_engine(_i);

	trnhw_udma_engine_init(&stub->hw, _i);
	ck_assert_uint_eq(stub->trace_count, _i < 128 ? 146 : 132);
	ck_assert_uint_eq(reads(stub), _i < 128 ? 7 : 1);
	expect_engine(stub, &e);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(engine_init_again)
{
	struct hw_stub *stub = hw_stub_init();
	struct engine e = v2_engine(9);

	trnhw_udma_engine_init(&stub->hw, 9);
	hw_stub_trace_clear(stub);
	trnhw_udma_engine_init(&stub->hw, 9);
	e.cfg = 0x03030000;
	expect_engine(stub, &e);
	hw_stub_trace_clear(stub);
	trnhw_udma_engine_init(&stub->hw, 10);
	e = v2_engine(10);
	expect_engine(stub, &e);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(engine_init_again_v3)
{
	struct hw_stub *stub = hw_stub_init_as(0x7364);
	struct engine e;

	trnhw_udma_engine_init(&stub->hw, 127);
	trnhw_udma_engine_init(&stub->hw, 131);
	hw_stub_trace_clear(stub);
	trnhw_udma_engine_init(&stub->hw, 131);
	e = v3_engine(131);
	e.cfg = 0x03030000;
	expect_engine(stub, &e);
	hw_stub_trace_clear(stub);
	trnhw_udma_engine_init(&stub->hw, 126);
	e = v3_engine(126);
	expect_engine(stub, &e);
	hw_stub_destroy(stub);
}
END_TEST

/* The only read keeps the other bits and decides nothing. */
START_TEST(engine_init_spare_bits)
{
	struct hw_stub *stub = hw_stub_init();
	struct engine e = v2_engine(0);

	hw_stub_set(stub, 0, 0x30000000 + GEN + 0x3460, 0xa5a5a5a5);
	trnhw_udma_engine_init(&stub->hw, 0);
	e.spare = 0xa5a5a5a4;
	expect_engine(stub, &e);
	hw_stub_destroy(stub);
}
END_TEST

/* The same for the masks of row 18. */
START_TEST(engine_init_mask_bits_v3)
{
	struct hw_stub *stub = hw_stub_init_as(0x7364);
	struct engine e = v3_engine(40);

	hw_stub_set(stub, 0, e.udma + GEN + 0x2010, 0x80000001);
	hw_stub_set(stub, 0, e.udma + GEN + 0x2050, 0x40000002);
	hw_stub_set(stub, 0, e.fis + 0x90, 0x5a000000);
	hw_stub_set(stub, 0, e.fis + 0xd0, 0x5a000000);
	hw_stub_set(stub, 0, e.udma + M2S + 0x20c, 0x5a000000);
	hw_stub_set(stub, 0, e.udma + S2M + 0x20c, 0x5a000000);
	trnhw_udma_engine_init(&stub->hw, 40);
	e.mask_a = 0x80000001;
	e.mask_b = 0x40000002;
	e.other = 0x5a000000;
	expect_engine(stub, &e);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(engine_out_of_range_v3)
{
	const struct trnhw_queue_rings rings = { 0x100000, 0x200000, 32, 32 };
	struct hw_stub *stub = hw_stub_init_as(0x7364);

	trnhw_udma_engine_init(&stub->hw, 132);
	trnhw_udma_recover(&stub->hw, 132);
	trnhw_udma_queue_stop(&stub->hw, 132, 0);
	ck_assert_int_eq(trnhw_udma_state(&stub->hw, 132), -EINVAL);
	ck_assert_int_eq(trnhw_udma_queue_init(&stub->hw, 132, 0, &rings), -EINVAL);
	ck_assert_uint_eq(stub->trace_count, 0);
	ck_assert_int_eq(trnhw_udma_queue_init(&stub->hw, 131, 15, &rings), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x46910028), 0x100000);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x46930028), 0x200000);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(engine_out_of_range)
{
	struct hw_stub *stub = hw_stub_init();
	const struct trnhw_queue_rings rings = { 0x100000, 0x200000, 32, 32 };

	trnhw_udma_engine_init(&stub->hw, 34);
	trnhw_udma_engine_init(&stub->hw, ~0u);
	trnhw_udma_recover(&stub->hw, 34);
	trnhw_udma_queue_rewind(&stub->hw, 34, 0);
	trnhw_udma_queue_stop(&stub->hw, 0, 16);
	trnhw_udma_queue_ring(&stub->hw, 0, 16, 1);
	ck_assert_int_eq(trnhw_udma_state(&stub->hw, 34), -EINVAL);
	ck_assert_int_eq(trnhw_udma_queue_init(&stub->hw, 34, 0, &rings), -EINVAL);
	ck_assert_int_eq(trnhw_udma_queue_init(&stub->hw, 0, 16, &rings), -EINVAL);
	ck_assert_uint_eq(stub->trace_count, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(queue_init_trace)
{
	struct hw_stub *stub = hw_stub_init();
	const struct trnhw_queue_rings rings = {
		.m2s = 0x100123456700ull,
		.s2m = 0x1000abcd00ull,
		.m2s_count = 8192,
		.s2m_count = 48,
	};
	u32 m2s = 0x30040000 + 0x1000 + 14 * 0x1000, s2m = m2s + 0x20000;
	struct cursor c = { stub, 0 };

	ck_assert_int_eq(trnhw_udma_queue_init(&stub->hw, 1, 14, &rings), 0);
	w(&c, m2s + 0x74, 3);
	w(&c, m2s + 0x20, 0x03000000);
	w(&c, m2s + 0xb0, 0x100);
	w(&c, m2s + 0x28, 0x23456700);
	w(&c, m2s + 0x2c, 0x1001);
	w(&c, m2s + 0x30, 8192);
	w(&c, m2s + 0xa0, 0);
	w(&c, m2s + 0x20, 0x03030000);
	w(&c, s2m + 0x20, 0x03000000);
	w(&c, s2m + 0x64, 0x100);
	w(&c, s2m + 0x28, 0x00abcd00);
	w(&c, s2m + 0x2c, 0x10);
	w(&c, s2m + 0x30, 48);
	w(&c, s2m + 0x54, 0);
	w(&c, s2m + 0x20, 0x03030000);
	ck_assert_uint_eq(stub->trace_count, 15);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(queue_init_refuses_bad_rings)
{
	static const struct trnhw_queue_rings bad[] = {
		{ 0x1080, 0x2000, 32, 32 },  { 0x1000, 0x2040, 32, 32 },
		{ 0x1000, 0x2000, 16, 32 },  { 0x1000, 0x2000, 32, 40 },
		{ 0x1000, 0x2000, 0, 32 },   { 0x1000, 0x2000, 32, 0x1000000 },
		{ 0x1000, 0x2000, ~0u, 32 },
	};
	struct hw_stub *stub = hw_stub_init();

	ck_assert_int_eq(trnhw_udma_queue_init(&stub->hw, 0, 0, &bad[_i]), -EINVAL);
	ck_assert_uint_eq(stub->trace_count, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(queue_init_limits)
{
	const struct trnhw_queue_rings none = { 0, 0, 32, 32 };
	const struct trnhw_queue_rings largest = { 0, 0, 0xfffff0, 0xfffff0 };
	struct hw_stub *stub = hw_stub_init();

	ck_assert_int_eq(trnhw_udma_queue_init(&stub->hw, 0, 0, &none), 0);
	ck_assert_int_eq(trnhw_udma_queue_init(&stub->hw, 33, 15, &largest), 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(queue_rewind_trace)
{
	struct hw_stub *stub = hw_stub_init();
	struct cursor c = { stub, 0 };

	trnhw_udma_queue_rewind(&stub->hw, 16, 3);
	w(&c, 0x30700000 + 0x4000 + 0xb0, 0x100);
	w(&c, 0x30720000 + 0x4000 + 0x64, 0x100);
	ck_assert_uint_eq(stub->trace_count, 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(queue_stop_leaves_nothing)
{
	const struct trnhw_queue_rings rings = { 0x1000, 0x2000, 32, 32 };
	struct hw_stub *stub = hw_stub_init();
	u32 m2s = 0x30000000 + 0x1000, s2m = m2s + 0x20000;
	struct cursor c = { stub, 0 };

	trnhw_udma_queue_init(&stub->hw, 0, 0, &rings);
	hw_stub_trace_clear(stub);
	trnhw_udma_queue_stop(&stub->hw, 0, 0);
	/* Standing still comes first. */
	w(&c, m2s + 0x20, 0x03000000);
	w(&c, s2m + 0x20, 0x03000000);
	ck_assert_uint_eq(hw_stub_writes(stub, m2s + 0xb0), 1);
	ck_assert_uint_eq(hw_stub_writes(stub, s2m + 0x64), 1);
	ck_assert_uint_eq(hw_stub_get(stub, 0, m2s + 0x28), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, m2s + 0x30), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, s2m + 0x28), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, s2m + 0x30), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, m2s + 0x20) & 0x30000, 0);
	ck_assert(!stub->trace[stub->trace_count - 1].write);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(doorbell_order)
{
	struct hw_stub *stub = hw_stub_init();
	struct cursor c = { stub, 0 };

	trnhw_udma_queue_ring(&stub->hw, 32, 0, 7);
	w(&c, 0x30620000 + 0x1000 + 0x38, 7);
	w(&c, 0x30600000 + 0x1000 + 0x38, 7);
	trnhw_udma_queue_ring(&stub->hw, 32, 0, 0);
	ck_assert_uint_eq(stub->trace_count, 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(state_decode)
{
	static const struct {
		u32 m2s, s2m;
		int state;
	} cases[] = {
		{ 0, 0, TRNHW_UDMA_IDLE },
		{ 0x1111, 0x1111, TRNHW_UDMA_NORMAL },
		{ 0, 0x0010, TRNHW_UDMA_NORMAL },
		{ 0x2222, 0, TRNHW_UDMA_ABORT },
		{ 0x1111, 0x1211, TRNHW_UDMA_ABORT },
		{ 0x0002, 0x1111, TRNHW_UDMA_ABORT },
		{ 0x2000, 0, TRNHW_UDMA_ABORT },
		{ 0x3333, 0, TRNHW_UDMA_IDLE },
	};
	struct hw_stub *stub = hw_stub_init();

	hw_stub_set(stub, 0, 0x30000200, cases[_i].m2s);
	hw_stub_set(stub, 0, 0x30020200, cases[_i].s2m);
	ck_assert_int_eq(trnhw_udma_state(&stub->hw, 0), cases[_i].state);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(state_of_gone_device)
{
	struct hw_stub *stub = hw_stub_init();

	stub->gone = true;
	ck_assert_int_eq(trnhw_udma_state(&stub->hw, 0), -ENODEV);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(recover_order)
{
	struct hw_stub *stub = hw_stub_init();
	struct cursor c = { stub, 0 };
	unsigned int last;

	hw_stub_set(stub, 0, 0x30001000 + 0x30, 32);
	hw_stub_set(stub, 0, 0x30021000 + 0x30, 32);
	trnhw_udma_recover(&stub->hw, 0);
	w(&c, 0x30000204, 2);
	w(&c, 0x30020204, 2);
	last = stub->trace_count - 2;
	hw_stub_expect(stub, last, true, 0x30000204, 1);
	hw_stub_expect(stub, last + 1, true, 0x30020204, 1);
	ck_assert_uint_eq(hw_stub_writes(stub, 0x30001000 + 0xb0), 1);
	ck_assert_uint_eq(hw_stub_writes(stub, 0x30030000 + 0x64), 1);
	/* The engine init enables every queue: none has a ring to run. */
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30001000 + 0x30), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30021000 + 0x30), 0);
	ck_assert_uint_eq(hw_stub_get(stub, 0, 0x30001000 + 0x20), 0x00030000);
	ck_assert_uint_eq(stub->hw.engine_recovered[0], 1);
	ck_assert_uint_eq(stub->hw.engine_recovered[1], 0);
	/* Error causes are cleared, or the engine would abort again at once. */
	ck_assert_uint_eq(hw_stub_writes(stub, 0x30000000 + GEN + 0x2000), 1);
	ck_assert_uint_eq(hw_stub_writes(stub, 0x30000000 + GEN + 0x2040), 1);
	ck_assert_uint_eq(hw_stub_writes(stub, 0x30000000 + GEN + 0x2080), 1);
	hw_stub_destroy(stub);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hw_udma");
	TCase *tc = tcase_create("udma");

	tcase_add_loop_test(tc, engine_init_trace, 0, 32);
	tcase_add_loop_test(tc, engine_init_trace_host_copy, 32, 34);
	tcase_add_loop_test(tc, engine_init_trace_v3, 0, 132);
	tcase_add_test(tc, engine_init_again);
	tcase_add_test(tc, engine_init_again_v3);
	tcase_add_test(tc, engine_init_spare_bits);
	tcase_add_test(tc, engine_init_mask_bits_v3);
	tcase_add_test(tc, engine_out_of_range);
	tcase_add_test(tc, engine_out_of_range_v3);
	tcase_add_test(tc, queue_init_trace);
	tcase_add_loop_test(tc, queue_init_refuses_bad_rings, 0, 7);
	tcase_add_test(tc, queue_init_limits);
	tcase_add_test(tc, queue_rewind_trace);
	tcase_add_test(tc, queue_stop_leaves_nothing);
	tcase_add_test(tc, doorbell_order);
	tcase_add_loop_test(tc, state_decode, 0, 8);
	tcase_add_test(tc, state_of_gone_device);
	tcase_add_test(tc, recover_order);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
