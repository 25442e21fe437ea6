// SPDX-License-Identifier: BSD-2-Clause
/*
 * firmware-and-reset.md 5 and 7 to 10: reset, DMA initialisation, probe, remove, steady state.
 */
#include <string.h>
#include "conformance.h"

static uint64_t misc(const struct conf *c, uint32_t offset)
{
	return c->p->misc + offset;
}

static uint64_t sem_read(const struct conf *c, unsigned int core)
{
	return conf_tpb(c, core) + 0x2701000;
}

/* Map of core @n with what it owns. */
static uint32_t core_map(const struct conf *c, unsigned int n)
{
	return c->p->generation == 3 ? 0x010101u << n : 1u << n | 0x700u << 3 * n;
}

/* [1:0] or [7:0]: the core is reset, the others are not. */
static void unit_core(struct conf *c, const void *row)
{
	unsigned int n = NUM(row), i;

	for (i = 0; i < c->p->cores; i++)
		conf_write(c, conf_tpb(c, i) + 0x2701400, 0x100 + i);
	conf_tpb_reset(c, 1u << n);
	for (i = 0; i < c->p->cores; i++)
		conf_reg(c, sem_read(c, i), i == n ? 0 : 0x100 + i, "core %u semaphore 0", i);
}

/* The TOP_SPs of a bit are reset, the others are not. */
static void unit_top_sp(struct conf *c, const void *row)
{
	unsigned int t = NUM(row), i, group = c->p->generation == 3 ? 2 : 1;
	uint32_t bit = c->p->generation == 3 ? 1u << (16 + t) : 1u << (8 + t);

	for (i = 0; i < c->p->top_sps; i++)
		conf_write(c, conf_top_sp(c, i) + 0x1400, 0x200 + i);
	conf_tpb_reset(c, bit);
	for (i = 0; i < c->p->top_sps; i++)
		conf_reg(c, conf_top_sp(c, i) + 0x1000, i / group == t ? 0 : 0x200 + i,
			 "TOP_SP %u semaphore 0", i);
}

/* The DMA engines of a core work again after an error, those of another core do not. */
static void unit_engines(struct conf *c, const void *row)
{
	unsigned int n = NUM(row), other = (n + 1) % c->p->cores;
	uint64_t host, nowhere = c->p->hbm[0] + c->p->hbm_size;

	conf_host(c, 4, &host);
	conf_dma_refused(c, 16 * n + 3, host, nowhere, "engine of the core");
	conf_dma_refused(c, 16 * other + 3, host, nowhere, "engine of another core");
	conf_tpb_reset(c, c->p->generation == 3 ? 0x100u << n : 1u << n);
	conf_is(c, conf_read(c, conf_udma(c, 16 * n + 3) + 0x200) & 0x2222, 0,
		"state of engine %u after the reset", 16 * n + 3);
	conf_is(c, conf_read(c, conf_udma(c, 16 * other + 3) + 0x200) & 0x2222, 0x2222,
		"state of engine %u, not in the map", 16 * other + 3);
	conf_works(c, 16 * n + 3, 1, "engine of the core after the reset");
}

/* The handshake of a device (1) or TPB (2) reset, step by step. */
static void handshake(struct conf *c, const void *row)
{
	bool tpb = NUM(row) == 2;

	conf_write(c, conf_tpb(c, 0) + 0x2701400, 5);
	if (tpb)
		conf_store(c, misc(c, 0x1d8), core_map(c, 0), "RESET_TPB_MAP");
	conf_store(c, misc(c, 0x1ec), NUM(row), "RESET as set");
	conf_quiesce(c);
	conf_reg(c, sem_read(c, 0), 5, "semaphore before the doorbell");
	conf_write(c, misc(c, 0x800), 1);
	conf_wait(c, misc(c, 0x1ec), 0xffffffff, 0, "RESET cleared by FW");
	conf_wait(c, misc(c, 0x808), 8, 0, "FW_STATUS bit 3");
	conf_reg(c, sem_read(c, 0), 0, "semaphore after the reset");
}

/* Steps 1 to 3 once more when RESET did not clear. */
static void resend(struct conf *c, const void *row)
{
	emu_device_fault_set(c->dev, "reset-twice", 1);
	conf_write(c, misc(c, 0x1d8), core_map(c, 0));
	conf_write(c, misc(c, 0x1ec), NUM(row));
	conf_write(c, misc(c, 0x800), 1);
	conf_quiesce(c);
	conf_reg(c, misc(c, 0x1ec), NUM(row), "RESET after a doorbell without effect");
	conf_write(c, misc(c, 0x1d8), core_map(c, 0));
	conf_write(c, misc(c, 0x1ec), NUM(row));
	conf_write(c, misc(c, 0x800), 1);
	conf_wait(c, misc(c, 0x1ec), 0xffffffff, 0, "RESET after the second doorbell");
}

/* Maps of requests that are pending together are or-ed. */
static void merged(struct conf *c, const void *row)
{
	uint32_t map = 0;
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		conf_write(c, conf_tpb(c, n) + 0x2701400, 9);
		map |= core_map(c, n);
	}
	conf_tpb_reset(c, map);
	for (n = 0; n < c->p->cores; n++)
		conf_reg(c, sem_read(c, n), 0, "core %u semaphore 0", n);
}

/* Bits 31:24 are defined and never set by the driver: accepted, nothing of ours is reset. */
static void unit_tops(struct conf *c, const void *row)
{
	unsigned int n, t;

	(void)row;
	for (n = 0; n < c->p->cores; n++)
		conf_write(c, conf_tpb(c, n) + 0x2701400, 4);
	for (t = 0; t < c->p->top_sps; t++)
		conf_write(c, conf_top_sp(c, t) + 0x1400, 4);
	conf_tpb_reset(c, 0xff000000);
	for (n = 0; n < c->p->cores; n++)
		conf_reg(c, sem_read(c, n), 4, "core %u semaphore 0", n);
	for (t = 0; t < c->p->top_sps; t++)
		conf_reg(c, conf_top_sp(c, t) + 0x1000, 4, "TOP_SP %u semaphore 0", t);
}

/* Queue and head state are kept by a device reset: copies go on without a new init. */
static void keeps_queues(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst), i;

	(void)row;
	conf_engine_init(c, conf_owned(c), true, 18, NULL, 0);
	conf_queue_open(c, &queue, conf_owned(c), 0, 8192);
	for (i = 1; i <= 3; i++)
		conf_copy(&queue, dst, src, 4, "before the reset");
	conf_device_reset(c);
	conf_reg(c, conf_q(&queue, M2S, 0x34), 3 | 1u << 30, "M2S head after the reset");
	conf_reg(c, conf_q(&queue, S2M, 0x3c), 3 | 1u << 30, "S2M tail after the reset");
	conf_reg(c, conf_q(&queue, M2S, 0x28), (uint32_t)queue.ring[M2S], "ring base");
	conf_reg(c, conf_q(&queue, M2S, 0x30), 8192, "ring length");
	conf_reg(c, conf_q(&queue, M2S, 0x20), 0x03030000, "queue cfg");
	*from = 4711;
	conf_copy(&queue, dst, src, 4, "after the reset, no new init");
	conf_is(c, *to, 4711, "destination after the reset");
}

/* Nothing of a device that a module with no_reset=1 finds keeps it from working. */
static void no_reset(struct conf *c, const void *row)
{
	unsigned int n, e, queue, engine;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		for (e = 0; e < 16; e++)
			conf_engine_init(c, 16 * n + e, true, 18, NULL, 0);
		engine = conf_h2t(c, n, &queue);
		conf_works(c, engine, queue, "no reset at all");
	}
}

/* 7: engines of a core, its H2T engine, its H2T queue. */
static void init_after_reset(struct conf *c, const void *row)
{
	unsigned int n, e, queue, engine;

	for (n = 0; n < c->p->cores; n++) {
		conf_tpb_reset(c, core_map(c, n));
		for (e = 0; e < 16; e++)
			conf_engine_init(c, 16 * n + e, false, 18, NULL, 0);
		if (NUM(row) == 1) {
			conf_works(c, 16 * n, 0, "first engine of the core");
			conf_works(c, 16 * n + 15, 0, "last engine of the core");
			continue;
		}
		engine = conf_h2t(c, n, &queue);
		if (!queue)
			conf_engine_init(c, engine, false, 18, NULL, 0);
		conf_works(c, engine, queue, "H2T queue of the core");
	}
}

/* 8: the probe, and what is true after a step. */
static void probe_config(struct conf *c, const void *row)
{
	uint8_t config[4096];

	(void)row;
	emu_device_pci_config(c->dev, config);
	conf_true(c, config[8] != 240 && config[8] != 255, "revision is neither 240 nor 255");
}

static void probe_bars(struct conf *c, const void *row)
{
	(void)row;
	conf_true(c, emu_device_bar_size(c->dev, 0) > 0, "BAR0 is there");
	conf_true(c, emu_device_bar_size(c->dev, 4) > 0, "BAR4 is there");
}

static void probe_id(struct conf *c, const void *row)
{
	(void)row;
	conf_true(c, conf_read(c, misc(c, 0x24)) < 64, "routing id");
}

static void probe_reset(struct conf *c, const void *row)
{
	(void)row;
	conf_write(c, misc(c, 0x1ec), 1);
	conf_write(c, misc(c, 0x800), 1);
	conf_wait(c, misc(c, 0x1ec), 0xffffffff, 0, "RESET");
	if (NUM(row))
		conf_wait(c, misc(c, 0x808), 8, 0, "FW_STATUS bit 3");
}

static void probe_dma(struct conf *c, const void *row)
{
	struct conf_queue h2t[8];
	unsigned int n;

	(void)row;
	conf_is(c, conf_probe(c, h2t, 8192), c->p->generation == 3 ? 19336 : 12946,
		"accesses of step 13");
	for (n = 0; n < c->p->cores; n++)
		conf_reg(c, conf_q(&h2t[n], M2S, 0x30), 8192, "core %u H2T ring", n);
}

static void probe_pod(struct conf *c, const void *row)
{
	(void)row;
	conf_device_reset(c);
	conf_true(c, (conf_read(c, misc(c, 0x190)) & 0xff) != 3, "election status of a new device");
	conf_reg(c, misc(c, 0x194), 0, "POD_SERNUM_HI of a new device");
	conf_reg(c, misc(c, 0x198), 0, "POD_SERNUM_LO of a new device");
}

static void probe_ready(struct conf *c, const void *row)
{
	struct conf_queue h2t[8];
	uint64_t src, dst;
	uint32_t *from, *to;
	unsigned int n;

	(void)row;
	conf_probe(c, h2t, 8192);
	for (n = 0; n < c->p->cores; n++) {
		from = conf_host(c, 4, &src);
		to = conf_host(c, 4, &dst);
		*from = 0xabcdef01;
		conf_packet(&h2t[n], dst, src, 4);
		conf_ring_both(&h2t[n], 1);
		conf_wait_word(c, to, 0xabcdef01, "core %u marker after the probe", n);
	}
}

/* FWIO and metrics while the reset thread runs. */
static void probe_concurrent(struct conf *c, const void *row)
{
	struct conf_fwio fwio;
	unsigned int i;

	(void)row;
	conf_fwio_open(c, &fwio);
	conf_write(c, misc(c, 0x1ec), 1);
	conf_write(c, misc(c, 0x800), 1);
	for (i = 0; i < 100; i++)
		conf_read(c, misc(c, 0));
	conf_wait(c, misc(c, 0x1ec), 0xffffffff, 0, "RESET beside other reads");
	conf_is(c, conf_fwio_send(c, &fwio, 2, 2, NULL, 0), 0, "first FWIO request");
}

/* 9: writes after bus mastering went off are harmless. */
static void remove_nqs(struct conf *c, const void *row)
{
	struct conf_queue h2t[8];
	unsigned int n, t;

	(void)row;
	conf_probe(c, h2t, 64);
	emu_device_bus_master(c->dev, false);
	for (n = 0; n < c->p->cores; n++) {
		conf_store(c, conf_nc_notific(c, n) + 0x104, 0, "core %u NQ base high", n);
		conf_store(c, conf_nc_notific(c, n) + 0x100, 0, "core %u NQ base low", n);
		conf_store(c, conf_nc_notific(c, n) + 0x108, 0, "core %u NQ size", n);
	}
	for (t = 0; t < c->p->top_sps; t++)
		conf_store(c, conf_top_sp_notific(c, t) + 0x108, 0, "TOP_SP %u NQ size", t);
}

/* Queues and mailbox stay programmed; nothing is touched, and a later probe finds a good device. */
static void remove_and_probe(struct conf *c, const void *row)
{
	struct conf_queue h2t[8], again[8];
	uint8_t copy[1024];

	(void)row;
	conf_probe(c, h2t, 64);
	emu_device_bus_master(c->dev, false);
	memset(h2t[0].desc[M2S], 0xff, 1024);
	memset(copy, 0xff, 1024);
	conf_quiesce(c);
	conf_same(c, h2t[0].desc[M2S], copy, 1024, "ring memory after remove");
	conf_reg(c, conf_q(&h2t[0], M2S, 0x30), 64, "ring length left programmed");
	emu_device_bus_master(c->dev, true);
	conf_probe(c, again, 64);
	conf_works(c, again[0].engine, 0, "after a second probe");
}

static void bus_master_off(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);

	(void)row;
	*from = 1;
	conf_queue_open(c, &queue, 0, 0, 32);
	emu_device_bus_master(c->dev, false);
	conf_packet(&queue, dst, src, 4);
	conf_ring_both(&queue, 1);
	conf_complaints_forgive(c);
	conf_is(c, *to, 0, "host memory with bus mastering off");
	conf_true(c, conf_read(c, misc(c, 0x24)) < 64, "memory decode stays on");
}

/* 10: what a driver does to an idle device changes nothing. */
static void steady_power(struct conf *c, const void *row)
{
	unsigned int i;

	(void)row;
	for (i = 0; i < 200; i++) {
		conf_true(c, conf_read(c, misc(c, 0x00)) >= 3, "API_VERSION");
		conf_true(c, (conf_read(c, misc(c, 0x54)) & 0xffff) <= 10000, "POWER_UTIL_D0");
		if (c->p->generation == 3)
			conf_true(c, (conf_read(c, misc(c, 0x58)) & 0xffff) <= 10000,
				  "POWER_UTIL_D1");
	}
}

static void steady_metrics(struct conf *c, const void *row)
{
	static const char tlv[] = "\x0c\x01"
				  "0\x0d\x05"
				  "2.24.";
	struct conf_fwio fwio;
	unsigned int i, k;

	(void)row;
	conf_fwio_open(c, &fwio);
	for (i = 2; i < 12; i++) {
		for (k = 0; k < 32; k++)
			conf_store(c, misc(c, 0x100 + 4 * k), i * k, "METRIC word %u", k);
		conf_is(c, conf_fwio_send(c, &fwio, (uint8_t)i, 2, tlv, sizeof(tlv) - 1), 0,
			"post %u", i);
	}
}

static void add_probe(struct conf_list *list)
{
	static const char page[] = "firmware-and-reset.md 8";

	conf_case(list, ALL, probe_config, NULL, page, "1 revision");
	conf_case(list, ALL, probe_bars, NULL, page, "3 BAR0 and BAR4");
	conf_case(list, ALL, probe_id, NULL, page, "5 R MR+0x024");
	conf_case(list, ALL, probe_concurrent, NULL, page, "9 reset beside other accesses");
	conf_case(list, ALL, probe_reset, ROW(0), page, "10, 11 W RESET, W 0x800, R RESET");
	conf_case(list, ALL, probe_reset, ROW(1), page, "12 R MR+0x808 bit 3");
	conf_case(list, ALL, probe_dma, NULL, page, "13 engines and H2T queues");
	conf_case(list, V3, probe_pod, NULL, page, "14 R MR+0x190, 0x194, 0x198");
	conf_case(list, ALL, probe_ready, NULL, page, "15 ready: every core copies");
	conf_case(list, ALL, steady_power, NULL, page, "17 power reads");
	conf_case(list, ALL, remove_nqs, NULL, "firmware-and-reset.md 9",
		  "3 NQ writes after bus master off");
	conf_case(list, ALL, bus_master_off, NULL, "firmware-and-reset.md 9",
		  "2 bus master off, memory decode on");
	conf_case(list, ALL, remove_and_probe, NULL, "firmware-and-reset.md 9",
		  "4 queues left programmed, next probe");
	conf_case(list, ALL, steady_metrics, NULL, "firmware-and-reset.md 10", "150 s metric post");
}

void conf_reset(struct conf_list *list)
{
	static const char page[] = "firmware-and-reset.md 5";
	unsigned int i;

	for (i = 0; i < 8; i++)
		conf_case(list, i < 2 ? ALL : V3, unit_core, ROW(i), page, "RESET_TPB_MAP NC %u",
			  i);
	for (i = 0; i < 6; i++)
		conf_case(list, V2, unit_top_sp, ROW(i), page, "RESET_TPB_MAP TOP_SP %u, bit %u", i,
			  8 + i);
	for (i = 0; i < 8; i++)
		conf_case(list, V3, unit_top_sp, ROW(i), page,
			  "RESET_TPB_MAP TOP_SP group %u, bit %u", i, 16 + i);
	for (i = 0; i < 2; i++)
		conf_case(list, V2, unit_engines, ROW(i), page,
			  "RESET_TPB_MAP NC %u covers its DMA engines", i);
	for (i = 0; i < 8; i++)
		conf_case(list, V3, unit_engines, ROW(i), page,
			  "RESET_TPB_MAP SDMA group %u, bit %u", i, 8 + i);
	conf_case(list, V3, unit_tops, NULL, page, "RESET_TPB_MAP [31:24] collective-core tops");
	conf_case(list, ALL, handshake, ROW(1), page, "steps 2 to 4, 7: device reset");
	conf_case(list, ALL, handshake, ROW(2), page, "steps 1 to 4, 7: TPB reset");
	conf_case(list, ALL, resend, ROW(1), page, "step 5: device reset repeated");
	conf_case(list, ALL, resend, ROW(2), page, "step 5: TPB reset repeated");
	conf_case(list, ALL, merged, NULL, page, "core maps of several requests or-ed");
	conf_case(list, ALL, init_after_reset, ROW(2), page, "step 8: DMA initialised again");
	conf_case(list, ALL, keeps_queues, NULL, page, "a device reset keeps queues and pointers");
	conf_case(list, ALL, no_reset, NULL, page, "no_reset=1: engines work without any reset");
	conf_case(list, ALL, init_after_reset, ROW(1), "firmware-and-reset.md 7",
		  "1 engines of each core");
	add_probe(list);
}
