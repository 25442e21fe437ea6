// SPDX-License-Identifier: BSD-2-Clause
/*
 * Firmware mailbox against a scripted firmware: format, retries, and answers that lie.
 */
#include <string.h>

#include <linux/crc32c.h>

#include "tests/unit/hw_stub.h"

#define MISC HW_STUB_MISC

enum answer {
	ANSWER_GOOD,
	ANSWER_SILENT,
	ANSWER_WRONG_SEQUENCE,
	ANSWER_FAIL,
	ANSWER_UNKNOWN,
	ANSWER_ERROR_7,
	ANSWER_TOO_LONG,
	ANSWER_HEADER_CUT,
	ANSWER_SHORT,
	ANSWER_HUGE,
};

/* What the firmware does in each attempt (the last one repeats), and what it saw. */
struct firmware {
	enum answer script[16];
	unsigned int steps;
	unsigned int requests;
	u8 last[TRN_FWIO_BUFFER_SIZE];
	u8 sequence[16];
};

static struct firmware fw;

static void answer(struct hw_stub *stub, enum answer how)
{
	const u8 *request = stub->hw.fwio.request;
	u8 *response = stub->hw.fwio.response;
	unsigned int size = request[2] | request[3] << 8, count = (size - 8) / 8, total, i;

	total = request[1] == 1 ? 4 + count * 4 : 4;
	for (i = 0; request[1] == 1 && i < count; i++) {
		u32 value = 0x1000 + request[8 + i * 8];

		memcpy(response + 4 + i * 4, &value, 4);
	}
	if (how == ANSWER_TOO_LONG)
		total += 4 + size;
	else if (how == ANSWER_HEADER_CUT)
		total = 3;
	else if (how == ANSWER_SHORT)
		total -= 4;
	else if (how == ANSWER_HUGE)
		total = 0xffff;
	response[1] = how == ANSWER_FAIL      ? 1
		      : how == ANSWER_UNKNOWN ? 2
		      : how == ANSWER_ERROR_7 ? 7
					      : 0;
	response[2] = total & 0xff;
	response[3] = total >> 8;
	response[0] = how == ANSWER_WRONG_SEQUENCE ? request[0] - 1 : request[0];
}

static void on_write(struct hw_stub *stub, u32 offset, u32 value)
{
	const u8 *request = stub->hw.fwio.request;
	unsigned int step;

	if (offset != stub->hw.arch->misc + 0x800)
		return;
	ck_assert_uint_eq(value, 1);
	ck_assert_uint_eq(stub->hw.fwio.response[0], 0);
	step = fw.requests < fw.steps ? fw.requests : fw.steps - 1;
	memcpy(fw.last, request, request[2] | request[3] << 8);
	if (fw.requests < 16)
		fw.sequence[fw.requests] = request[0];
	fw.requests++;
	if (fw.script[step] != ANSWER_SILENT)
		answer(stub, fw.script[step]);
}

static struct hw_stub *setup_as(u16 pci_device, enum answer first, enum answer then)
{
	struct hw_stub *stub = hw_stub_init_as(pci_device);

	memset(&fw, 0, sizeof(fw));
	fw.script[0] = first;
	fw.script[1] = then;
	fw.steps = 2;
	stub->on_write = on_write;
	return stub;
}

static struct hw_stub *setup(enum answer first, enum answer then)
{
	return setup_as(0x7164, first, then);
}

static int read_two(struct hw_stub *stub, u32 values[2])
{
	const u64 addresses[2] = { 0x0ffff0fa0001ull, 0x8006c84002ull };

	return trnhw_fwio_read(&stub->hw, addresses, values, 2);
}

START_TEST(read_values)
{
	struct hw_stub *stub = setup(ANSWER_GOOD, ANSWER_GOOD);
	u32 values[2];

	ck_assert_int_eq(read_two(stub, values), 0);
	ck_assert_uint_eq(values[0], 0x1001);
	ck_assert_uint_eq(values[1], 0x1002);
	ck_assert_uint_eq(stub->hw.fwio.retries, 0);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(request_format)
{
	struct hw_stub *stub = setup(ANSWER_GOOD, ANSWER_GOOD);
	u8 expected[24] = {
		2,    1,    24, 0, 0,	 0,    0,    0,	   0x01, 0x00, 0xfa, 0xf0,
		0xff, 0x0f, 0,	0, 0x02, 0x40, 0xc8, 0x06, 0x80, 0,    0,    0,
	};
	u32 values[2], crc;

	read_two(stub, values);
	crc = ~crc32c(~0u, expected, 24);
	memcpy(expected + 4, &crc, 4);
	ck_assert_mem_eq(fw.last, expected, 24);
	hw_stub_destroy(stub);
}
END_TEST

static void expect_registers(struct hw_stub *stub, u32 misc, u64 host)
{
	u64 req = host | stub->hw.fwio.request_dma;
	u64 resp = host | stub->hw.fwio.response_dma;

	hw_stub_expect(stub, 0, true, misc + 0x1f4, (u32)req);
	hw_stub_expect(stub, 1, true, misc + 0x1f0, req >> 32);
	hw_stub_expect(stub, 2, true, misc + 0x1fc, (u32)resp);
	hw_stub_expect(stub, 3, true, misc + 0x1f8, resp >> 32);
	hw_stub_expect(stub, 4, true, misc + 0x800, 1);
	ck_assert_uint_eq(stub->trace_count, 5);
}

START_TEST(register_order)
{
	struct hw_stub *stub = setup(ANSWER_GOOD, ANSWER_GOOD);
	u32 values[2];

	read_two(stub, values);
	expect_registers(stub, MISC, 0x100000000000ull);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(register_order_v3)
{
	struct hw_stub *stub = setup_as(0x7364, ANSWER_GOOD, ANSWER_GOOD);
	u32 values[2];

	ck_assert_int_eq(read_two(stub, values), 0);
	ck_assert_uint_eq(values[1], 0x1002);
	expect_registers(stub, HW_STUB_MISC_V3, 0x400000000000ull);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(sequence_wraps_without_zero)
{
	struct hw_stub *stub = setup(ANSWER_GOOD, ANSWER_GOOD);
	u32 values[2];
	unsigned int i;

	for (i = 0; i < 253; i++)
		ck_assert_int_eq(read_two(stub, values), 0);
	ck_assert_uint_eq(fw.sequence[0], 2);
	ck_assert_uint_eq(fw.last[0], 254);
	read_two(stub, values);
	ck_assert_uint_eq(fw.last[0], 255);
	read_two(stub, values);
	ck_assert_uint_eq(fw.last[0], 1);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(silent_once)
{
	struct hw_stub *stub = setup(ANSWER_SILENT, ANSWER_GOOD);
	u32 values[2];

	ck_assert_int_eq(read_two(stub, values), 0);
	ck_assert_uint_eq(fw.requests, 2);
	ck_assert_uint_eq(fw.sequence[1], 3);
	ck_assert_uint_eq(stub->hw.fwio.retries, 1);
	ck_assert_int_ge(stub->now_ns, 1000000000);
	ck_assert_int_lt(stub->now_ns, 1100000000);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(silent_for_ever)
{
	struct hw_stub *stub = setup(ANSWER_SILENT, ANSWER_SILENT);
	u32 values[2] = { 1, 2 };

	ck_assert_int_eq(read_two(stub, values), -ETIMEDOUT);
	ck_assert_uint_eq(fw.requests, 15);
	ck_assert_int_ge(stub->now_ns, 15000000000ll);
	ck_assert_int_lt(stub->now_ns, 16000000000ll);
	ck_assert_uint_eq(values[0], 1);
	ck_assert_uint_eq(values[1], 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(wrong_sequence_is_no_answer)
{
	struct hw_stub *stub = setup(ANSWER_WRONG_SEQUENCE, ANSWER_GOOD);
	u32 values[2];

	ck_assert_int_eq(read_two(stub, values), 0);
	ck_assert_uint_eq(fw.requests, 2);
	hw_stub_destroy(stub);
}
END_TEST

/* One bad answer, what becomes of it, and how many requests were sent. */
static const struct {
	enum answer first, then;
	int result;
	unsigned int requests;
} answers[] = {
	{ ANSWER_FAIL, ANSWER_GOOD, 0, 2 },
	{ ANSWER_FAIL, ANSWER_FAIL, -EIO, 15 },
	{ ANSWER_ERROR_7, ANSWER_GOOD, 0, 2 },
	{ ANSWER_ERROR_7, ANSWER_ERROR_7, -EIO, 15 },
	{ ANSWER_UNKNOWN, ANSWER_GOOD, -EOPNOTSUPP, 1 },
	{ ANSWER_TOO_LONG, ANSWER_GOOD, -EIO, 1 },
	{ ANSWER_HEADER_CUT, ANSWER_GOOD, -EIO, 1 },
	{ ANSWER_SHORT, ANSWER_GOOD, -EIO, 1 },
	{ ANSWER_HUGE, ANSWER_GOOD, -EIO, 1 },
};

START_TEST(bad_answers)
{
	struct hw_stub *stub = setup(answers[_i].first, answers[_i].then);
	u32 values[2] = { 1, 2 };

	ck_assert_int_eq(read_two(stub, values), answers[_i].result);
	ck_assert_uint_eq(fw.requests, answers[_i].requests);
	if (answers[_i].result)
		ck_assert(values[0] == 1 && values[1] == 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(read_count_limits)
{
	struct hw_stub *stub = setup(ANSWER_GOOD, ANSWER_GOOD);
	static u64 addresses[TRNHW_FWIO_READ_MAX + 1];
	static u32 values[TRNHW_FWIO_READ_MAX + 1];

	ck_assert_int_eq(trnhw_fwio_read(&stub->hw, addresses, values, 0), -EINVAL);
	ck_assert_int_eq(trnhw_fwio_read(&stub->hw, addresses, values, 8191), -EINVAL);
	ck_assert_int_eq(trnhw_fwio_read(&stub->hw, addresses, values, ~0u), -EINVAL);
	ck_assert_uint_eq(fw.requests, 0);
	ck_assert_int_eq(trnhw_fwio_read(&stub->hw, addresses, values, 8190), 0);
	ck_assert_uint_eq(values[8189], 0x1000);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(gone_while_waiting)
{
	struct hw_stub *stub = setup(ANSWER_SILENT, ANSWER_SILENT);
	u32 values[2];

	stub->gone = true;
	ck_assert_int_eq(read_two(stub, values), -ENODEV);
	ck_assert_uint_eq(fw.requests, 1);
	hw_stub_destroy(stub);
}
END_TEST

static void stop_soon(struct hw_stub *stub)
{
	if (stub->now_ns > 50000000)
		trnhw_stop(&stub->hw);
}

START_TEST(stopped_while_waiting)
{
	struct hw_stub *stub = setup(ANSWER_SILENT, ANSWER_SILENT);
	u32 values[2];

	stub->on_sleep = stop_soon;
	ck_assert_int_eq(read_two(stub, values), -ENODEV);
	ck_assert_int_lt(stub->now_ns, 100000000);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(post_metrics)
{
	struct hw_stub *stub = setup(ANSWER_GOOD, ANSWER_GOOD);
	static const u8 tlv[7] = { 13, 5, '1', '.', '0', '.', '0' };

	ck_assert_int_eq(trnhw_fwio_post(&stub->hw, tlv, sizeof(tlv)), 0);
	hw_stub_expect(stub, 0, true, MISC + 0x100, 0x2e31050d);
	hw_stub_expect(stub, 1, true, MISC + 0x104, 0x00302e30);
	hw_stub_expect(stub, 2, true, MISC + 0x1f4, (u32)stub->hw.fwio.request_dma);
	ck_assert_uint_eq(fw.last[1], 2);
	ck_assert_uint_eq(fw.last[2], 15);
	ck_assert_mem_eq(fw.last + 8, tlv, sizeof(tlv));
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(post_limits)
{
	struct hw_stub *stub = setup(ANSWER_GOOD, ANSWER_GOOD);
	static const u8 bytes[129];

	ck_assert_int_eq(trnhw_fwio_post(&stub->hw, bytes, 0), -EINVAL);
	ck_assert_int_eq(trnhw_fwio_post(&stub->hw, bytes, 129), -EINVAL);
	ck_assert_uint_eq(stub->trace_count, 0);
	ck_assert_int_eq(trnhw_fwio_post(&stub->hw, bytes, 128), 0);
	ck_assert_uint_eq(hw_stub_writes(stub, MISC + 0x17c), 1);
	ck_assert_uint_eq(hw_stub_writes(stub, MISC + 0x180), 0);
	hw_stub_destroy(stub);
}
END_TEST

/* The answer to a post may be empty or as long as the request, no longer. */
START_TEST(post_answers)
{
	static const u8 bytes[8];
	struct hw_stub *stub;

	stub = setup(ANSWER_TOO_LONG, ANSWER_GOOD);
	ck_assert_int_eq(trnhw_fwio_post(&stub->hw, bytes, sizeof(bytes)), -EIO);
	ck_assert_uint_eq(fw.requests, 1);
	hw_stub_destroy(stub);
	stub = setup(ANSWER_UNKNOWN, ANSWER_GOOD);
	ck_assert_int_eq(trnhw_fwio_post(&stub->hw, bytes, sizeof(bytes)), -EOPNOTSUPP);
	hw_stub_destroy(stub);
	stub = setup(ANSWER_FAIL, ANSWER_GOOD);
	ck_assert_int_eq(trnhw_fwio_post(&stub->hw, bytes, sizeof(bytes)), 0);
	ck_assert_uint_eq(fw.requests, 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(after_fini)
{
	struct hw_stub *stub = setup(ANSWER_GOOD, ANSWER_GOOD);
	u32 values[2];

	trnhw_fini(&stub->hw);
	ck_assert_int_eq(read_two(stub, values), -ENODEV);
	ck_assert_int_eq(trnhw_fwio_post(&stub->hw, "x", 1), -ENODEV);
	ck_assert_uint_eq(stub->trace_count, 0);
	hw_stub_destroy(stub);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hw_fwio");
	TCase *tc = tcase_create("fwio");

	tcase_add_test(tc, read_values);
	tcase_add_test(tc, request_format);
	tcase_add_test(tc, register_order);
	tcase_add_test(tc, register_order_v3);
	tcase_add_test(tc, sequence_wraps_without_zero);
	tcase_add_test(tc, silent_once);
	tcase_add_test(tc, silent_for_ever);
	tcase_add_test(tc, wrong_sequence_is_no_answer);
	tcase_add_loop_test(tc, bad_answers, 0, sizeof(answers) / sizeof(answers[0]));
	tcase_add_test(tc, read_count_limits);
	tcase_add_test(tc, gone_while_waiting);
	tcase_add_test(tc, stopped_while_waiting);
	tcase_add_test(tc, post_metrics);
	tcase_add_test(tc, post_limits);
	tcase_add_test(tc, post_answers);
	tcase_add_test(tc, after_fini);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
