// SPDX-License-Identifier: BSD-2-Clause
/*
 * The device as a whole: creation, identity, BARs, extension registers, unknown accesses, reset by
 * the machine, bus mastering.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "emu_rig.h"

static struct rig rig;

static void expect_refusal(struct emu_config config, const char *word)
{
	struct emu_inproc *inproc;
	char error[256] = "";

	config.size = sizeof(config);
	ck_assert_int_eq(emu_inproc_create(&config, &inproc, error, sizeof(error)), -EINVAL);
	ck_assert_ptr_null(inproc);
	ck_assert_msg(strstr(error, word), "\"%s\" does not name %s", error, word);
}

START_TEST(create_refuses_wrong_properties)
{
	expect_refusal((struct emu_config){ .arch = "gpu" }, "gpu");
	expect_refusal((struct emu_config){ .routing_id = 64 }, "routing-id=64");
	expect_refusal((struct emu_config){ .hbm_bytes = 3ull << 30 }, "hbm-size");
	expect_refusal((struct emu_config){ .hbm_bytes = 32ull << 20 }, "hbm-size");
	expect_refusal((struct emu_config){ .hbm_bytes = 32ull << 30 }, "hbm-size");
	expect_refusal((struct emu_config){ .arch = "trn2", .hbm_bytes = 12ull << 30 }, "hbm-size");
	expect_refusal((struct emu_config){ .arch = "trn2", .hbm_bytes = 32ull << 30 }, "hbm-size");
	expect_refusal((struct emu_config){ .disable_features = 0x100 }, "disable-features");
}
END_TEST

START_TEST(create_refuses_another_layout)
{
	const struct emu_config config = { .size = sizeof(config) - 8 };
	struct emu_inproc *inproc;
	char error[256] = "";

	ck_assert_int_eq(emu_inproc_create(&config, &inproc, error, sizeof(error)), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "size"));
}
END_TEST

static uint32_t config_word(const uint8_t *config, unsigned int offset)
{
	return (uint32_t)config[offset] | (uint32_t)config[offset + 1] << 8 |
	       (uint32_t)config[offset + 2] << 16 | (uint32_t)config[offset + 3] << 24;
}

static void check_identity(const char *arch, uint16_t device_id)
{
	const struct emu_config config = { .size = sizeof(config), .arch = arch };
	uint8_t image[4096];

	rig_open_config(&rig, &config);
	emu_device_pci_config(rig.dev, image);
	ck_assert_uint_eq(config_word(image, 0), (uint32_t)device_id << 16 | TRN_PCI_VENDOR);
	ck_assert_uint_eq(config_word(image, 8), TRN_PCI_CLASS << 8);
	rig_close(&rig, 0);
}

START_TEST(identity)
{
	check_identity("trn1", TRN_PCI_DEVICE_TRN1);
	check_identity("inf2", TRN_PCI_DEVICE_INF2);
	check_identity("trn2", TRN_PCI_DEVICE_TRN2);
}
END_TEST

START_TEST(vsec)
{
	uint8_t image[4096];
	unsigned int at = TRN_VSEC_CONFIG_OFFSET;

	rig_open(&rig);
	emu_device_pci_config(rig.dev, image);
	ck_assert_uint_eq(config_word(image, at), 0x0001000b);
	ck_assert_uint_eq(config_word(image, at + 4),
			  TRN_VSEC_ID | TRN_VSEC_REVISION << 16 | TRN_VSEC_LENGTH << 20);
	ck_assert_uint_eq(config_word(image, at + TRN_VSEC_FEATURES), TRN_FEATURE_ALL);
	ck_assert_uint_eq(config_word(image, at + TRN_VSEC_BAR), TRN_EXT_BAR);
	ck_assert_uint_eq(config_word(image, at + TRN_VSEC_BAR_OFFSET), 0);
	ck_assert_uint_eq(config_word(image, at + TRN_VSEC_VECTORS), RIG_VECTORS);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(bar_sizes)
{
	rig_open(&rig);
	ck_assert_uint_eq(emu_device_bar_size(rig.dev, 0), rig_map->bar0_size);
	ck_assert_uint_eq(emu_device_bar_size(rig.dev, 2), 64 << 10);
	ck_assert_uint_eq(emu_device_bar_size(rig.dev, 4), rig_map->bar4_size);
	ck_assert_uint_eq(emu_device_bar_size(rig.dev, 1), 0);
	ck_assert_uint_eq(emu_device_vectors(rig.dev), RIG_VECTORS);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(small_hbm)
{
	const struct emu_config config = { .size = sizeof(config), .hbm_bytes = 64 << 20 };
	struct rig_queue q;
	struct rig_host mem;

	rig_open_config(&rig, &config);
	ck_assert_uint_eq(emu_device_bar_size(rig.dev, 4), rig_map->stacks * (64ull << 20));
	rig_queue_open(&rig, &q, RIG_H2T, 0, 32);
	rig_host_alloc(&rig, &mem, 4096);
	*(uint32_t *)mem.ptr = 0x11223344;
	rig_copy(&q, rig_map->hbm_base(1) + (64 << 20) - 4, mem.dev, 4);
	rig_quiesce(&rig);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, rig_map->hbm_base(1) + (64 << 20) - 4),
			  0x11223344);
	rig_copy(&q, 64 << 20, mem.dev, 4);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	rig_host_free(&rig, &mem);
	rig_queue_close(&q);
	rig_close(&rig, 1);
}
END_TEST

START_TEST(no_extension)
{
	const struct emu_config config = { .size = sizeof(config),
					   .disable_features = TRN_FEATURE_ALL };
	uint8_t image[4096];

	rig_open_config(&rig, &config);
	emu_device_pci_config(rig.dev, image);
	ck_assert_uint_eq(config_word(image, TRN_VSEC_CONFIG_OFFSET), 0);
	ck_assert_uint_eq(emu_device_bar_size(rig.dev, TRN_EXT_BAR), 0);
	ck_assert_uint_eq(emu_device_vectors(rig.dev), 0);
	ck_assert_uint_eq(rig_read(&rig, RIG_CORE_BLOCK(0) + TRN_CORE_ID), 0);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_UNKNOWN_REGISTER), 1);
	rig_close(&rig, 1);
}
END_TEST

START_TEST(no_interrupts)
{
	const struct emu_config config = { .size = sizeof(config),
					   .disable_features = TRN_FEATURE_MSIX };

	rig_open_config(&rig, &config);
	ck_assert_uint_eq(emu_device_vectors(rig.dev), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_VECTORS), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_FEATURES),
			  TRN_FEATURE_ALL & ~TRN_FEATURE_MSIX);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_MASK(0)), 0);
	rig_close(&rig, 1);
}
END_TEST

START_TEST(extension_registers)
{
	rig_open(&rig);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_ID), TRN_EXT_ID_VALUE);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_VERSION), 1);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_FEATURES), TRN_FEATURE_ALL);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_VECTORS), RIG_VECTORS);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_COMPLAINTS), 0);
	rig_ext_write(&rig, TRN_EXT_ID, 1);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_COMPLAINTS), 1);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_COMPLAINT_LAST), EMU_COMPLAINT_READ_ONLY);
	ck_assert_uint_eq(rig_ext_read(&rig, 0x80), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_COMPLAINT_LAST),
			  EMU_COMPLAINT_UNKNOWN_REGISTER);
	rig_close(&rig, 2);
}
END_TEST

START_TEST(device_clock)
{
	uint64_t last = 0, now;
	int i;

	rig_open(&rig);
	for (i = 0; i < 100; i++) {
		now = rig_ext_read(&rig, TRN_EXT_CLOCK_LOW);
		now |= (uint64_t)rig_ext_read(&rig, TRN_EXT_CLOCK_HIGH) << 32;
		ck_assert_uint_ge(now, last);
		last = now;
	}
	ck_assert_uint_gt(last, 0);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(access_sizes)
{
	rig_open(&rig);
	ck_assert_uint_eq(emu_device_read(rig.dev, 0, RIG_MISC, 2), 0xffffffff);
	ck_assert_uint_eq(emu_device_read(rig.dev, 0, RIG_MISC + 2, 4), 0xffffffff);
	emu_device_write(rig.dev, 0, RIG_MISC + TRN_MISC_METRIC, 5, 1);
	ck_assert_uint_eq(rig_read(&rig, RIG_MISC + TRN_MISC_METRIC), 0);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_ACCESS_SIZE), 3);
	/* Beyond the BAR, and a BAR that does not exist. */
	ck_assert_uint_eq(emu_device_read(rig.dev, 0, 1ull << 40, 4), 0xffffffff);
	emu_device_write(rig.dev, 3, 0, 0, 4);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_ACCESS_SIZE), 5);
	rig_close(&rig, 5);
}
END_TEST

START_TEST(unknown_registers)
{
	rig_open(&rig);
	ck_assert_uint_eq(rig_read(&rig, 0x20000000), 0);
	rig_write(&rig, 0x20000000, 1);
	ck_assert_uint_eq(rig_read(&rig, rig_map->tpb(0) + 0x02780000), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_map->top_sp(0) + 0x3000), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_map->nc_notific(0) + 0x20), 0);
	ck_assert_uint_eq(rig_read(&rig, RIG_CORE_BLOCK(0) + 0x100), 0);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_UNKNOWN_REGISTER), 6);
	rig_close(&rig, 6);
}
END_TEST

START_TEST(complaint_text_and_names)
{
	char text[256];
	unsigned int kind;

	rig_open(&rig);
	rig_read(&rig, 0x20000000);
	emu_device_complaint_text(rig.dev, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "0x20000000"));
	for (kind = 0; kind < EMU_COMPLAINT_COUNT; kind++)
		ck_assert_str_ne(emu_complaint_name((enum emu_complaint)kind), "unknown");
	ck_assert_str_eq(emu_complaint_name(EMU_COMPLAINT_COUNT), "unknown");
	ck_assert_uint_eq(emu_device_complaints(rig.dev, EMU_COMPLAINT_COUNT), 0);
	rig_close(&rig, 1);
}
END_TEST

START_TEST(semaphores_and_events)
{
	rig_open(&rig);
	rig_write(&rig, rig_sem(1, TRN_TPB_SEM_SET, 255), 100);
	rig_write(&rig, rig_sem(1, TRN_TPB_SEM_INC, 255), 11);
	rig_write(&rig, rig_sem(1, TRN_TPB_SEM_DEC, 255), 1);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(1, TRN_TPB_SEM_READ, 255)), 110);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 255)), 0);
	rig_write(&rig, rig_map->tpb(0) + TRN_TPB_EVENTS + 4 * 7, 1);
	ck_assert_uint_eq(rig_read(&rig, rig_map->tpb(0) + TRN_TPB_EVENTS + 4 * 7), 1);
	rig_write(&rig, rig_map->tpb(0) + TRN_TPB_EVENTS + 4 * 7, 0);
	ck_assert_uint_eq(rig_read(&rig, rig_map->tpb(0) + TRN_TPB_EVENTS + 4 * 7), 0);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(event_256_is_tolerated)
{
	rig_open(&rig);
	rig_write(&rig, rig_map->tpb(0) + TRN_TPB_EVENTS + 0x400, 1);
	ck_assert_uint_eq(rig_read(&rig, rig_map->tpb(0) + TRN_TPB_EVENTS + 0x400), 0);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(read_aperture_is_read_only)
{
	rig_open(&rig);
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_READ, 3), 5);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 3)), 0);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_READ_ONLY), 1);
	rig_close(&rig, 1);
}
END_TEST

START_TEST(top_sp_semaphores)
{
	uint32_t base;
	unsigned int t;

	rig_open(&rig);
	for (t = 0; t < rig_map->top_sps; t++) {
		base = rig_map->top_sp(t);
		rig_write(&rig, base + 0x1400 + 4 * 9, t + 1);
		rig_write(&rig, base + 0x1800 + 4 * 9, 10);
		rig_write(&rig, base + 4 * 2, 1);
	}
	for (t = 0; t < rig_map->top_sps; t++) {
		base = rig_map->top_sp(t);
		ck_assert_uint_eq(rig_read(&rig, base + 0x1000 + 4 * 9), t + 11);
		ck_assert_uint_eq(rig_read(&rig, base + 4 * 2), 1);
	}
	rig_close(&rig, 0);
}
END_TEST

START_TEST(sbuf_and_psum_windows)
{
	uint32_t last = rig_map->tpb(1) + 127 * TRN_SBUF_PARTITION_STRIDE;

	rig_open(&rig);
	rig_write(&rig, last + rig_map->sbuf_partition_bytes - 4, 0xaa55);
	ck_assert_uint_eq(rig_read(&rig, last + rig_map->sbuf_partition_bytes - 4), 0xaa55);
	rig_write(&rig, rig_map->tpb(0) + TRN_TPB_PSUM + 127 * TRN_PSUM_PARTITION_BYTES, 0x77);
	ck_assert_uint_eq(rig_read(&rig,
				   rig_map->tpb(0) + TRN_TPB_PSUM + 127 * TRN_PSUM_PARTITION_BYTES),
			  0x77);
	ck_assert_uint_eq(rig_read(&rig, last + rig_map->sbuf_partition_bytes), 0);
	rig_write(&rig, last + rig_map->sbuf_partition_bytes, 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_UNKNOWN_REGISTER), 2);
	rig_close(&rig, 2);
}
END_TEST

/* A program that maps SBUF copies with whatever its library has. */
START_TEST(window_memory_takes_bytes)
{
	const uint64_t at = rig_map->tpb(1) + 3 * TRN_SBUF_PARTITION_STRIDE;

	rig_open(&rig);
	rig_write(&rig, at, 0x44332211);
	ck_assert_uint_eq(emu_device_read(rig.dev, 0, at + 1, 1), 0x22);
	ck_assert_uint_eq(emu_device_read(rig.dev, 0, at + 2, 2), 0x4433);
	ck_assert_uint_eq(emu_device_read(rig.dev, 0, at + 1, 2), 0x3322);
	emu_device_write(rig.dev, 0, at + 3, 0x5a, 1);
	emu_device_write(rig.dev, 0, at, 0xbeef, 2);
	ck_assert_uint_eq(rig_read(&rig, at), 0x5a33beef);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_NONE), 0);
	ck_assert_uint_eq(emu_device_read(rig.dev, 0, at + 3, 2), 0xffffffff);
	ck_assert_uint_eq(emu_device_read(rig.dev, 0, rig_map->tpb(1) + TRN_TPB_EVENTS, 1),
			  0xffffffff);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_ACCESS_SIZE), 2);
	rig_close(&rig, 2);
}
END_TEST

/* Rows, groups and their strides are those of the published layout. */
static uint32_t pe_counter(unsigned int core, unsigned int row, unsigned int group, uint32_t reg)
{
	bool v2 = rig_map->generation == 2;

	return rig_map->pe_counters(core) + row * (v2 ? 0x140 : 0x1b0) +
	       group * (v2 ? 0x40 : 0x30) + reg;
}

/* Upper half first, as a driver does it. */
static uint64_t counter_read(uint32_t at)
{
	uint64_t high = rig_read(&rig, at + 4);

	return high << 32 | rig_read(&rig, at);
}

/* The lower half belongs to the upper half read before it, whatever happened in between. */
START_TEST(activity_counter_halves_belong_together)
{
	const uint32_t idle = pe_counter(1, 2, 4, TRN_PE_COUNTER_IDLE);
	const struct timespec pause = { .tv_nsec = 2000000 };
	uint32_t latched;

	rig_open(&rig);
	rig_read(&rig, idle + 4);
	nanosleep(&pause, NULL);
	latched = rig_read(&rig, idle);
	/* Read again it is the present value: 2 ms are more than 4 M cycles of either clock. */
	ck_assert_uint_gt(rig_read(&rig, idle) - latched, 4000000);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(activity_counters)
{
	const unsigned int last = rig_map->cores - 1;
	unsigned int row, group;

	rig_open(&rig);
	for (row = 0; row < 4; row++) {
		uint64_t idle = counter_read(pe_counter(last, row, 4, TRN_PE_COUNTER_IDLE)), later;

		while ((later = counter_read(pe_counter(last, row, 4, TRN_PE_COUNTER_IDLE))) ==
		       idle)
			;
		ck_assert_uint_gt(later, idle);
		ck_assert_uint_eq(counter_read(pe_counter(0, row, 4, TRN_PE_COUNTER_MATMUL)), 0);
		for (group = 0; group < 4; group++)
			ck_assert_uint_eq(
				counter_read(pe_counter(0, row, group, TRN_PE_COUNTER_WEIGHTS)), 0);
	}
	rig_write(&rig, rig_map->pe_counters(0), 1);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_READ_ONLY), 1);
	rig_close(&rig, 1);
}
END_TEST

START_TEST(machine_reset)
{
	struct rig_queue q;
	struct rig_host mem;

	rig_open(&rig);
	rig_queue_open(&rig, &q, RIG_H2T + 1, 2, 32);
	rig_host_alloc(&rig, &mem, 4096);
	*(uint32_t *)mem.ptr = 0x55;
	rig_copy(&q, 0x1000000, mem.dev, 4);
	rig_quiesce(&rig);
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_SET, 1), 7);
	rig_write(&rig, RIG_MISC + TRN_MISC_POD_STATUS, 3);
	rig_write(&rig, rig_map->top_sp(2) + 0x1400, 3);
	rig_unmask(&rig, 0);
	emu_device_reset(rig.dev);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, 0x1000000), 0x55);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, TRN_Q_CFG)), TRN_Q_CFG_RESET_VALUE);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&q, 0, TRN_Q_LENGTH)), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 1)), 0);
	ck_assert_uint_eq(rig_read(&rig, RIG_MISC + TRN_MISC_POD_STATUS), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_map->top_sp(2) + 0x1000), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_MASK(0)), 1);
	rig_queue_reset(&q);
	rig_copy(&q, 0x1000100, mem.dev, 4);
	rig_quiesce(&rig);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, 0x1000100), 0x55);
	rig_host_free(&rig, &mem);
	rig_queue_close(&q);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(no_dma_without_bus_master)
{
	struct rig_queue q;
	struct rig_host mem;

	rig_open(&rig);
	rig_queue_open(&rig, &q, RIG_H2T, 0, 32);
	rig_host_alloc(&rig, &mem, 4096);
	*(uint32_t *)mem.ptr = 0x77;
	emu_device_bus_master(rig.dev, false);
	rig_copy(&q, 0x1000000, mem.dev, 4);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, 0x1000000), 0);
	emu_device_bus_master(rig.dev, true);
	rig_write(&rig, q.udma + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
	rig_write(&rig, q.udma + TRN_UDMA_S2M + TRN_S2M_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
	rig_queue_reset(&q);
	rig_copy(&q, 0x1000000, mem.dev, 4);
	rig_quiesce(&rig);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, 0x1000000), 0x77);
	rig_host_free(&rig, &mem);
	rig_queue_close(&q);
	rig_close(&rig, 1);
}
END_TEST

START_TEST(interrupt_mask_and_pending)
{
	rig_open(&rig);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_MASK(2)), 1);
	emu_device_fault_set(rig.dev, "irq-spurious", RIG_VECTORS);
	ck_assert_uint_eq(rig_irq(&rig, 2), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_PENDING(2)), 1);
	rig_unmask(&rig, 2);
	ck_assert_uint_eq(rig_irq(&rig, 2), 1);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_PENDING(2)), 0);
	/* Clearing a pending event before the unmask forgets it. */
	rig_ext_write(&rig, TRN_EXT_IRQ_PENDING(3), 1);
	rig_unmask(&rig, 3);
	ck_assert_uint_eq(rig_irq(&rig, 3), 0);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(masked_events_merge)
{
	rig_open(&rig);
	emu_device_fault_set(rig.dev, "irq-spurious", 3 * RIG_VECTORS);
	rig_unmask(&rig, 1);
	ck_assert_uint_eq(rig_irq(&rig, 1), 1);
	emu_device_fault_set(rig.dev, "irq-spurious", 2 * RIG_VECTORS);
	ck_assert_uint_eq(rig_irq(&rig, 1), 3);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(interrupts_wait_for_bus_master)
{
	rig_open(&rig);
	rig_unmask(&rig, 0);
	emu_device_bus_master(rig.dev, false);
	emu_device_fault_set(rig.dev, "irq-spurious", 1);
	ck_assert_uint_eq(rig_irq(&rig, 0), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_PENDING(0)), 1);
	emu_device_bus_master(rig.dev, true);
	ck_assert_uint_eq(rig_irq(&rig, 0), 1);
	rig_close(&rig, 0);
}
END_TEST

/* Real size, 1.5 TiB for 16 of the largest; ThreadSanitizer leaves less than that. */
#ifdef __SANITIZE_THREAD__
#define MANY_HBM_BYTES (1ull << 30)
#else
#define MANY_HBM_BYTES 0
#endif

START_TEST(many_devices)
{
	struct rig rigs[16];
	unsigned int i;

	for (i = 0; i < 16; i++) {
		const struct emu_config config = { .size = sizeof(config),
						   .routing_id = i,
						   .hbm_bytes = MANY_HBM_BYTES };

		rig_open_config(&rigs[i], &config);
	}
	for (i = 0; i < 16; i++) {
		ck_assert_uint_eq(rig_read(&rigs[i], RIG_MISC + TRN_MISC_DEVICE_ID), i);
		ck_assert_uint_eq(rig_read(&rigs[i], RIG_MISC + TRN_MISC_SERIAL_LOW),
				  0x10000000 + i);
	}
	for (i = 0; i < 16; i++)
		rig_close(&rigs[i], 0);
}
END_TEST

START_TEST(inproc_mappings)
{
	uint8_t *memory = aligned_alloc(4096, 16 * 4096);
	uint64_t bus[4], again;
	unsigned int i;

	rig_open(&rig);
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(
			emu_inproc_map(rig.inproc, memory + i * 4096 + i, 5000, true, &bus[i]), 0);
		ck_assert_uint_eq(bus[i] % 4096, i);
		ck_assert(!i || bus[i] >= bus[i - 1] + 5000);
	}
	ck_assert_int_eq(emu_inproc_unmap(rig.inproc, bus[1] + 1), -ENOENT);
	ck_assert_int_eq(emu_inproc_unmap(rig.inproc, bus[1]), 0);
	ck_assert_int_eq(emu_inproc_unmap(rig.inproc, bus[1]), -ENOENT);
	ck_assert_int_eq(emu_inproc_map(rig.inproc, memory, 0, true, &again), -EINVAL);
	ck_assert_int_eq(emu_inproc_map(rig.inproc, NULL, 8, true, &again), -EINVAL);
	ck_assert_int_eq(emu_inproc_map(rig.inproc, memory, 1ull << 43, true, &again), -EINVAL);
	rig_close(&rig, 0);
	free(memory);
}
END_TEST

START_TEST(inproc_read_only_mapping)
{
	struct rig_queue q;
	uint8_t *memory = aligned_alloc(4096, 4096);
	uint64_t bus;

	rig_open(&rig);
	memset(memory, 0x5a, 4096);
	rig_queue_open(&rig, &q, RIG_H2T, 0, 32);
	ck_assert_int_eq(emu_inproc_map(rig.inproc, memory, 4096, false, &bus), 0);
	rig_copy(&q, 0x1000000, RIG_HOST | bus, 4096);
	rig_quiesce(&rig);
	ck_assert_mem_eq(rig_hbm(&rig, 0x1000000), memory, 4096);
	rig_copy(&q, RIG_HOST | bus, 0x1000000, 4096);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	rig_queue_close(&q);
	rig_close(&rig, 1);
	free(memory);
}
END_TEST

START_TEST(inproc_copy_across_mappings)
{
	struct rig_queue q;
	struct rig_host a, b;

	rig_open(&rig);
	rig_queue_open(&rig, &q, RIG_H2T, 0, 32);
	rig_host_alloc(&rig, &a, 4096);
	rig_host_alloc(&rig, &b, 4096);
	/* A page that is not mapped lies between any two mappings. */
	rig_copy(&q, 0x1000000, a.dev + 4000, 200);
	rig_wait_complaint(&rig, EMU_COMPLAINT_DESC_ADDRESS, 1);
	rig_host_free(&rig, &a);
	rig_host_free(&rig, &b);
	rig_queue_close(&q);
	rig_close(&rig, 1);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		create_refuses_wrong_properties,
		create_refuses_another_layout,
		identity,
		vsec,
		bar_sizes,
		small_hbm,
		no_extension,
		no_interrupts,
		extension_registers,
		device_clock,
		access_sizes,
		unknown_registers,
		complaint_text_and_names,
		semaphores_and_events,
		event_256_is_tolerated,
		read_aperture_is_read_only,
		top_sp_semaphores,
		sbuf_and_psum_windows,
		activity_counters,
		activity_counter_halves_belong_together,
		window_memory_takes_bytes,
		machine_reset,
		no_dma_without_bus_master,
		interrupt_mask_and_pending,
		masked_events_merge,
		interrupts_wait_for_bus_master,
		many_devices,
		inproc_mappings,
		inproc_read_only_mapping,
		inproc_copy_across_mappings,
	};

	return RIG_MAIN("emu_device", tests);
}
