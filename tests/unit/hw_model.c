// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hardware layer on the device model, in process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/hw_model.h"

#define FAST 100

const char *hw_model_arch = "trn1";

static u32 model_read(void *opaque, unsigned int bar, u64 offset)
{
	struct hw_model *m = opaque;

	return emu_device_read(m->device, bar, offset, 4);
}

static void model_write(void *opaque, unsigned int bar, u64 offset, u32 value)
{
	struct hw_model *m = opaque;

	emu_device_write(m->device, bar, offset, value, 4);
}

static void *model_alloc(void *opaque, size_t size, u64 *bus)
{
	struct hw_model *m = opaque;
	size_t rounded = (size + 4095) / 4096 * 4096;
	void *ptr = aligned_alloc(4096, rounded);

	ck_assert_ptr_nonnull(ptr);
	memset(ptr, 0, rounded);
	ck_assert_int_eq(emu_inproc_map(m->inproc, ptr, rounded, true, bus), 0);
	m->alloc_live++;
	return ptr;
}

static void model_free(void *opaque, size_t size, void *ptr, u64 bus)
{
	struct hw_model *m = opaque;

	(void)size;
	ck_assert_int_eq(emu_inproc_unmap(m->inproc, bus), 0);
	m->alloc_live--;
	free(ptr);
}

static void model_log(void *opaque, enum trnhw_user_level level, const char *text)
{
	struct hw_model *m = opaque;

	(void)level;
	snprintf(m->log, sizeof(m->log), "%s", text);
}

static void model_interrupt(void *opaque, unsigned int vector)
{
	struct hw_model *m = opaque;

	if (vector < sizeof(m->interrupts) / sizeof(m->interrupts[0]))
		__atomic_add_fetch(&m->interrupts[vector], 1, __ATOMIC_SEQ_CST);
}

struct hw_model *hw_model_create(const char *arch, u32 disable)
{
	static const struct trnhw_user_ops ops = {
		.size = sizeof(ops),
		.mmio_read = model_read,
		.mmio_write = model_write,
		.dma_alloc = model_alloc,
		.dma_free = model_free,
		.log = model_log,
	};
	const struct emu_config config = {
		.size = sizeof(config),
		.arch = arch,
		.routing_id = 3,
		.disable_features = disable,
	};
	struct hw_model *m = calloc(1, sizeof(*m));
	uint8_t pci[4096];
	bool ext = (TRN_FEATURE_ALL & ~disable) != 0;
	char error[200] = "";

	ck_assert_ptr_nonnull(m);
	ck_assert_msg(!emu_inproc_create(&config, &m->inproc, error, sizeof(error)), "%s", error);
	m->device = emu_inproc_device(m->inproc);
	emu_inproc_interrupt_handler(m->inproc, model_interrupt, m);
	emu_device_pci_config(m->device, pci);
	ck_assert_int_eq(trnhw_user_device_create("model", &ops, m, &m->dev), 0);
	ck_assert_int_eq(trnhw_init(&m->hw, m->dev, trnhw_user_iomap(m->dev, 0),
				    ext ? trnhw_user_iomap(m->dev, 2) : NULL,
				    (u16)(pci[2] | pci[3] << 8), TRN_FEATURE_ALL & ~disable,
				    emu_device_vectors(m->device)),
			 0);
	return m;
}

struct hw_model *hw_model_start(void)
{
	struct hw_model *m = hw_model_create(hw_model_arch, 0);

	ck_assert_int_eq(trnhw_reset_device(&m->hw), 0);
	ck_assert_int_eq(trnhw_start(&m->hw, hw_model_cores(m)), 0);
	return m;
}

u32 hw_model_cores(const struct hw_model *m)
{
	return (1u << m->hw.arch->cores) - 1;
}

static void arch_v2(void)
{
	hw_model_arch = "trn1";
}

static void arch_v3(void)
{
	hw_model_arch = "trn2";
}

void hw_model_suite(Suite *suite, const char *name, void (*add)(TCase *tc), void (*setup)(void),
		    void (*teardown)(void))
{
	static void (*const arch[])(void) = { arch_v2, arch_v3 };
	static const char *const arch_name[] = { "trn1", "trn2" };
	/* Of the case, which keeps the pointer; a program has one suite. */
	static char text[2][64];
	unsigned int i;
	TCase *tc;

	for (i = 0; i < 2; i++) {
		snprintf(text[i], sizeof(text[i]), "%s %s", name, arch_name[i]);
		tc = tcase_create(text[i]);
		tcase_set_timeout(tc, 120);
		tcase_add_checked_fixture(tc, arch[i], NULL);
		if (setup)
			tcase_add_checked_fixture(tc, setup, teardown);
		add(tc);
		suite_add_tcase(suite, tc);
	}
}

void hw_model_destroy(struct hw_model *m, u64 complaints)
{
	char text[200] = "";

	emu_device_complaint_text(m->device, text, sizeof(text));
	ck_assert_msg(emu_device_complaints(m->device, EMU_COMPLAINT_NONE) == complaints,
		      "%llu complaints, expected %llu; last: %s",
		      (unsigned long long)emu_device_complaints(m->device, EMU_COMPLAINT_NONE),
		      (unsigned long long)complaints, text);
	trnhw_fini(&m->hw);
	ck_assert_int_eq(m->alloc_live, 0);
	trnhw_user_device_destroy(m->dev);
	emu_inproc_destroy(m->inproc);
	hw_model_fast(false);
	free(m);
}

void hw_model_fault(struct hw_model *m, const char *name, u64 value)
{
	ck_assert_int_eq(emu_device_fault_set(m->device, name, value), 0);
}

static s64 real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static s64 fast_now(void *opaque)
{
	(void)opaque;
	return real_ns() * FAST;
}

static void fast_sleep(void *opaque, u64 ns)
{
	const struct timespec rest = { .tv_nsec = ns / FAST % 1000000000 };

	(void)opaque;
	nanosleep(&rest, NULL);
}

void hw_model_fast(bool on)
{
	static const struct trnhw_user_clock fast = { fast_now, fast_sleep, NULL };

	trnhw_user_clock_set(on ? &fast : NULL);
}

struct hw_buffer hw_buffer_alloc(struct hw_model *m, size_t size)
{
	struct hw_buffer b = { .size = size };

	b.ptr = dma_alloc_coherent(m->dev, size, &b.bus, GFP_KERNEL);
	b.address = trnhw_host_address(&m->hw, b.bus);
	return b;
}

void hw_buffer_free(struct hw_model *m, struct hw_buffer *b)
{
	dma_free_coherent(m->dev, b->size, b->ptr, b->bus);
}

static void breathe(s64 end)
{
	const struct timespec rest = { .tv_nsec = 20000 };

	ck_assert_msg(real_ns() < end, "nothing came for %d s", HW_MODEL_WAIT_S);
	nanosleep(&rest, NULL);
}

void hw_copy_wait(struct trnhw_copyq *q, u64 batch)
{
	s64 end = real_ns() + HW_MODEL_WAIT_S * 1000000000ll;

	while (trnhw_copyq_poll(q) < batch)
		breathe(end);
}

void hw_copy(struct trnhw_copyq *q, u64 dst, u64 src, size_t size)
{
	static struct trnhw_xfer xfers[TRNHW_COPYQ_BATCH];
	u32 n = 0;
	u64 batch;

	while (size) {
		size_t part = size < TRN_DESC_MAX_BYTES ? size : TRN_DESC_MAX_BYTES;

		ck_assert_uint_lt(n, TRNHW_COPYQ_BATCH);
		xfers[n++] = (struct trnhw_xfer){ .src = src, .dst = dst, .len = part };
		src += part;
		dst += part;
		size -= part;
	}
	ck_assert_int_eq(trnhw_copyq_submit(q, xfers, n, false, &batch), 0);
	hw_copy_wait(q, batch);
}

void hw_core_wait(struct trnhw_core *core, struct trn_notification *entry)
{
	s64 end = real_ns() + HW_MODEL_WAIT_S * 1000000000ll;

	for (;;) {
		while (trnhw_core_poll(core, entry))
			if (entry->type == TRN_NOTIFY_RUN_END)
				return;
		breathe(end);
	}
}
