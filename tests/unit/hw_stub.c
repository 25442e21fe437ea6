// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recording device for tests of the hardware layer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/hw_stub.h"

#define REGS 32768u

static struct hw_stub_register *find(const struct hw_stub *stub, unsigned int bar, u32 offset)
{
	u64 key = ((u64)bar << 32 | offset) + 1;
	unsigned int i = (key * 0x9e3779b97f4a7c15ull) >> 49;

	while (stub->regs[i].key && stub->regs[i].key != key)
		i = (i + 1) % REGS;
	stub->regs[i].key = key;
	return &stub->regs[i];
}

void hw_stub_set(struct hw_stub *stub, unsigned int bar, u32 offset, u32 value)
{
	find(stub, bar, offset)->value = value;
}

u32 hw_stub_get(const struct hw_stub *stub, unsigned int bar, u32 offset)
{
	return find(stub, bar, offset)->value;
}

static void record(struct hw_stub *stub, bool write, unsigned int bar, u64 offset, u32 value)
{
	struct hw_access *a;

	ck_assert_uint_lt(stub->trace_count, HW_STUB_TRACE_MAX);
	a = &stub->trace[stub->trace_count++];
	a->write = write;
	a->bar = bar;
	a->offset = offset;
	a->value = value;
	a->time_ns = stub->now_ns;
}

static u32 stub_read(void *opaque, unsigned int bar, u64 offset)
{
	struct hw_stub *stub = opaque;
	u32 value = hw_stub_get(stub, bar, offset);

	ck_assert_uint_eq(offset % 4, 0);
	if (bar == 0 && stub->on_read)
		stub->on_read(stub, offset, &value);
	if (stub->gone)
		value = ~0u;
	record(stub, false, bar, offset, value);
	return value;
}

static void stub_write(void *opaque, unsigned int bar, u64 offset, u32 value)
{
	struct hw_stub *stub = opaque;

	ck_assert_uint_eq(offset % 4, 0);
	record(stub, true, bar, offset, value);
	hw_stub_set(stub, bar, offset, value);
	if (bar == 0 && stub->on_write)
		stub->on_write(stub, offset, value);
}

static void *stub_alloc(void *opaque, size_t size, u64 *bus)
{
	struct hw_stub *stub = opaque;
	size_t rounded = (size + 4095) / 4096 * 4096;
	void *ptr;

	if (stub->alloc_fail && !--stub->alloc_fail)
		return NULL;
	ptr = aligned_alloc(4096, rounded);
	ck_assert_ptr_nonnull(ptr);
	memset(ptr, 0, rounded);
	*bus = stub->bus_next;
	stub->bus_next += rounded;
	stub->alloc_live++;
	return ptr;
}

static void stub_free(void *opaque, size_t size, void *ptr, u64 bus)
{
	struct hw_stub *stub = opaque;

	(void)size;
	(void)bus;
	stub->alloc_live--;
	free(ptr);
}

static void stub_log(void *opaque, enum trnhw_user_level level, const char *text)
{
	struct hw_stub *stub = opaque;

	(void)level;
	snprintf(stub->log, sizeof(stub->log), "%s", text);
	stub->log_count++;
}

static s64 stub_now(void *opaque)
{
	const struct hw_stub *stub = opaque;

	return stub->now_ns;
}

static void stub_sleep(void *opaque, u64 ns)
{
	struct hw_stub *stub = opaque;

	stub->now_ns += ns;
	if (stub->on_sleep)
		stub->on_sleep(stub);
}

struct hw_stub *hw_stub_create(void)
{
	static const struct trnhw_user_ops ops = {
		.size = sizeof(ops),
		.mmio_read = stub_read,
		.mmio_write = stub_write,
		.dma_alloc = stub_alloc,
		.dma_free = stub_free,
		.log = stub_log,
	};
	struct hw_stub *stub = calloc(1, sizeof(*stub));
	u32 n;

	ck_assert_ptr_nonnull(stub);
	stub->trace = calloc(HW_STUB_TRACE_MAX, sizeof(*stub->trace));
	stub->regs = calloc(REGS, sizeof(*stub->regs));
	ck_assert_ptr_nonnull(stub->trace);
	ck_assert_ptr_nonnull(stub->regs);
	stub->bus_next = 0x10000000;
	ck_assert_int_eq(trnhw_user_device_create("stub", &ops, stub, &stub->dev), 0);
	stub->clock.now_ns = stub_now;
	stub->clock.sleep_ns = stub_sleep;
	stub->clock.opaque = stub;
	trnhw_user_clock_set(&stub->clock);
	hw_stub_set(stub, 2, 0x0, 0x584e5254);
	hw_stub_set(stub, 2, 0x8, 0x1f);
	hw_stub_set(stub, 0, 0x02880000, 0x434e5254);
	hw_stub_set(stub, 0, 0x06880000, 0x434e5254);
	for (n = 0; n < 8; n++)
		hw_stub_set(stub, 0, 0xd2880000 + n * 0x04000000, 0x434e5254);
	return stub;
}

struct hw_stub *hw_stub_init_as(u16 pci_device)
{
	struct hw_stub *stub = hw_stub_create();

	ck_assert_int_eq(trnhw_init(&stub->hw, stub->dev, trnhw_user_iomap(stub->dev, 0),
				    trnhw_user_iomap(stub->dev, 2), pci_device, 0x1f, 5),
			 0);
	hw_stub_trace_clear(stub);
	return stub;
}

struct hw_stub *hw_stub_init(void)
{
	return hw_stub_init_as(0x7164);
}

void hw_stub_destroy(struct hw_stub *stub)
{
	if (stub->hw.dev)
		trnhw_fini(&stub->hw);
	ck_assert_int_eq(stub->alloc_live, 0);
	trnhw_user_clock_set(NULL);
	trnhw_user_device_destroy(stub->dev);
	free(stub->trace);
	free(stub->regs);
	free(stub);
}

void hw_stub_trace_clear(struct hw_stub *stub)
{
	stub->trace_count = 0;
}

void hw_stub_expect(const struct hw_stub *stub, unsigned int index, bool write, u32 offset,
		    u32 value)
{
	const struct hw_access *a = &stub->trace[index];

	ck_assert_msg(index < stub->trace_count, "access %u of %u", index, stub->trace_count);
	ck_assert_msg(a->bar == 0 && a->write == write && a->offset == offset &&
			      (!write || a->value == value),
		      "access %u is %s BAR%u+%#x = %#x, expected %s BAR0+%#x = %#x", index,
		      a->write ? "W" : "R", a->bar, a->offset, a->value, write ? "W" : "R", offset,
		      value);
}

unsigned int hw_stub_writes(const struct hw_stub *stub, u32 offset)
{
	unsigned int i, n = 0;

	for (i = 0; i < stub->trace_count; i++)
		n += stub->trace[i].bar == 0 && stub->trace[i].write &&
		     stub->trace[i].offset == offset;
	return n;
}

int hw_suite_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
