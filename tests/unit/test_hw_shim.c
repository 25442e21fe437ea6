// SPDX-License-Identifier: BSD-2-Clause
/*
 * User-space shims: register cookies, messages, CRC32C, time.
 */
#include <string.h>

#include <linux/crc32c.h>
#include <linux/delay.h>
#include <linux/ktime.h>

#include "tests/unit/hw_stub.h"

static u32 counting_read(void *opaque, unsigned int bar, u64 offset)
{
	return *(u32 *)opaque + bar * 0x100 + (u32)offset;
}

static void counting_write(void *opaque, unsigned int bar, u64 offset, u32 value)
{
	*(u32 *)opaque = value + bar + (u32)offset;
}

static void *no_alloc(void *opaque, size_t size, u64 *bus)
{
	(void)opaque;
	(void)size;
	(void)bus;
	return NULL;
}

static void no_free(void *opaque, size_t size, void *ptr, u64 bus)
{
	(void)opaque;
	(void)size;
	(void)ptr;
	(void)bus;
}

static const struct trnhw_user_ops counting = {
	.size = sizeof(counting),
	.mmio_read = counting_read,
	.mmio_write = counting_write,
	.dma_alloc = no_alloc,
	.dma_free = no_free,
};

START_TEST(cookie_reaches_its_device)
{
	u32 state[2] = { 0x10000, 0x20000 };
	struct device *a, *b;
	u8 *bar;

	ck_assert_int_eq(trnhw_user_device_create("a", &counting, &state[0], &a), 0);
	ck_assert_int_eq(trnhw_user_device_create("b", &counting, &state[1], &b), 0);
	ck_assert_str_eq(trnhw_user_name(a), "a");
	bar = trnhw_user_iomap(a, 0);
	ck_assert_uint_eq(readl(bar + 8), 0x10008);
	bar = trnhw_user_iomap(b, 2);
	ck_assert_uint_eq(readl(bar + 4), 0x20204);
	bar = trnhw_user_iomap(b, 0);
	ck_assert_uint_eq(readl(bar + 0x3ffffffc), 0x20000 + 0x3ffffffc);
	writel(7, bar + 4);
	ck_assert_uint_eq(state[0], 0x10000);
	ck_assert_uint_eq(state[1], 11);
	trnhw_user_device_destroy(a);
	trnhw_user_device_destroy(b);
}
END_TEST

START_TEST(cookie_of_no_device)
{
	u32 state = 0;
	struct device *dev;
	void *bar;

	ck_assert_int_eq(trnhw_user_device_create("a", &counting, &state, &dev), 0);
	bar = trnhw_user_iomap(dev, 0);
	trnhw_user_device_destroy(dev);
	ck_assert_uint_eq(readl(bar), ~0u);
	writel(1, bar);
	ck_assert_uint_eq(state, 0);
	ck_assert_uint_eq(readl(NULL), ~0u);
	ck_assert_uint_eq(readl(&state), ~0u);
	writel(1, &state);
	ck_assert_uint_eq(state, 0);
}
END_TEST

START_TEST(cookie_bar_limits)
{
	u32 state = 0;
	struct device *dev;

	ck_assert_int_eq(trnhw_user_device_create("a", &counting, &state, &dev), 0);
	ck_assert_ptr_nonnull(trnhw_user_iomap(dev, 5));
	ck_assert_ptr_null(trnhw_user_iomap(dev, 6));
	trnhw_user_device_destroy(dev);
}
END_TEST

START_TEST(device_table_full)
{
	static struct device *dev[TRNHW_USER_DEVICES_MAX];
	struct device *more;
	u32 state = 0;
	unsigned int i;

	for (i = 0; i < TRNHW_USER_DEVICES_MAX; i++)
		ck_assert_int_eq(trnhw_user_device_create("d", &counting, &state, &dev[i]), 0);
	ck_assert_int_eq(trnhw_user_device_create("d", &counting, &state, &more), -ENOSPC);
	trnhw_user_device_destroy(dev[500]);
	ck_assert_int_eq(trnhw_user_device_create("d", &counting, &state, &dev[500]), 0);
	for (i = 0; i < TRNHW_USER_DEVICES_MAX; i++)
		trnhw_user_device_destroy(dev[i]);
}
END_TEST

START_TEST(device_needs_its_callbacks)
{
	struct trnhw_user_ops ops;
	struct device *dev = NULL;

	ops = counting;
	ops.size = sizeof(ops) - 1;
	ck_assert_int_eq(trnhw_user_device_create("a", &ops, NULL, &dev), -EINVAL);
	ops = counting;
	ops.mmio_read = NULL;
	ck_assert_int_eq(trnhw_user_device_create("a", &ops, NULL, &dev), -EINVAL);
	ops = counting;
	ops.dma_free = NULL;
	ck_assert_int_eq(trnhw_user_device_create("a", &ops, NULL, &dev), -EINVAL);
	trnhw_user_device_destroy(NULL);
}
END_TEST

START_TEST(log_line)
{
	struct hw_stub *stub = hw_stub_create();
	char text[400];

	dev_err(stub->dev, "queue %u\n", 7);
	ck_assert_str_eq(stub->log, "queue 7");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	dev_dbg(stub->dev, "%s\n", text);
	ck_assert_uint_eq(strlen(stub->log), TRNHW_USER_LOG_BYTES - 1);
	ck_assert_uint_eq(stub->log_count, 2);
	hw_stub_destroy(stub);
}
END_TEST

START_TEST(log_dropped_without_callback)
{
	struct device *dev;

	ck_assert_int_eq(trnhw_user_device_create("a", &counting, NULL, &dev), 0);
	dev_err(dev, "nobody reads this\n");
	trnhw_user_device_destroy(dev);
}
END_TEST

START_TEST(crc32c_check_value)
{
	ck_assert_uint_eq(~crc32c(~0u, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(crc32c(0x1234, "", 0), 0x1234);
}
END_TEST

START_TEST(clock_of_the_machine)
{
	ktime_t before = ktime_get();

	usleep_range(1000, 2000);
	ck_assert(ktime_get() - before >= 1000000);
	ck_assert(ktime_after(ktime_get(), before));
	ck_assert(ktime_before(before, ktime_add_ms(before, 1)));
}
END_TEST

START_TEST(clock_replaced)
{
	struct hw_stub *stub = hw_stub_create();

	usleep_range(3600000000ul, 3600000000ul);
	ck_assert_int_eq(ktime_get(), 3600000000000ll);
	hw_stub_destroy(stub);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hw_shim");
	TCase *tc = tcase_create("shim");

	tcase_add_test(tc, cookie_reaches_its_device);
	tcase_add_test(tc, cookie_of_no_device);
	tcase_add_test(tc, cookie_bar_limits);
	tcase_add_test(tc, device_table_full);
	tcase_add_test(tc, device_needs_its_callbacks);
	tcase_add_test(tc, log_line);
	tcase_add_test(tc, log_dropped_without_callback);
	tcase_add_test(tc, crc32c_check_value);
	tcase_add_test(tc, clock_of_the_machine);
	tcase_add_test(tc, clock_replaced);
	suite_add_tcase(suite, tc);
	return hw_suite_run(suite);
}
