// SPDX-License-Identifier: BSD-2-Clause
/*
 * firmware-and-reset.md 1, 2 and 4: MISC RAM, reads, health.
 */
#include <string.h>
#include "conformance.h"

static uint64_t misc(const struct conf *c, uint32_t offset)
{
	return c->p->misc + offset;
}

static void api_version(struct conf *c, const void *row)
{
	(void)row;
	conf_true(c, conf_read(c, misc(c, 0)) >= 3, "API_VERSION is at least 3");
	conf_read_only(c, misc(c, 0), "API_VERSION");
}

static void device_id(struct conf *c, const void *row)
{
	(void)row;
	conf_true(c, conf_read(c, misc(c, 0x24)) < 64, "DEVICE_ID is 0..63");
	conf_read_only(c, misc(c, 0x24), "DEVICE_ID");
}

static void serial(struct conf *c, const void *row)
{
	uint32_t value = conf_read(c, misc(c, NUM(row)));

	conf_true(c, value && value != 0xdeadbeef, "SERIAL_NUMBER 0x%03x is available", NUM(row));
	conf_read_only(c, misc(c, NUM(row)), "SERIAL_NUMBER");
}

static void no_errors(struct conf *c, const void *row)
{
	conf_reg(c, misc(c, NUM(row)), 0, "no errors after power-up");
	conf_read_only(c, misc(c, NUM(row)), "error counter");
}

/* [15:0] uncorrected, [31:16] corrected. */
static void hbm_ecc(struct conf *c, const void *row)
{
	(void)row;
	emu_device_fault_set(c->dev, "ecc-uncorrectable", 3);
	emu_device_fault_set(c->dev, "ecc-correctable", 5);
	conf_reg(c, misc(c, 0x44), 5 << 16 | 3, "HBM0_ECC after 3 uncorrected and 5 corrected");
}

static void power(struct conf *c, const void *row)
{
	uint64_t end = conf_now_ms() + CONF_TIMEOUT_MS;
	uint32_t first = conf_read(c, misc(c, NUM(row))), now = first;

	while (now >> 16 == first >> 16 && conf_now_ms() < end)
		now = conf_read(c, misc(c, NUM(row)));
	conf_true(c, now >> 16 != first >> 16, "sample counter of 0x%03x advances", NUM(row));
	conf_true(c, (now & 0xffff) <= 10000, "utilisation of 0x%03x is at most 10000", NUM(row));
	conf_write(c, misc(c, NUM(row)), 0);
	conf_complaint(c, EMU_COMPLAINT_READ_ONLY, 1);
}

static void repair(struct conf *c, const void *row)
{
	(void)row;
	conf_is(c, conf_read(c, misc(c, 0x64)) & 3, 0,
		"HBM_REPAIR_STATE [1:0] of a healthy device");
	conf_read_only(c, misc(c, 0x64), "HBM_REPAIR_STATE");
}

/* Words of driver or runtime: kept, and a device reset keeps them too. */
struct range {
	uint32_t first, last;
	const char *name;
};

static const struct range range_rows[] = {
	{ 0x0c0, 0x0f0, "0x0C0-0x0F0 RUNTIME_RESERVED0" },
	{ 0x100, 0x17c, "0x100-0x17F METRIC buffer" },
	{ 0x180, 0x180, "0x180 LH_NEIGHBOR_SERNUM_HI" },
	{ 0x184, 0x184, "0x184 LH_NEIGHBOR_SERNUM_LO" },
	{ 0x188, 0x188, "0x188 RH_NEIGHBOR_SERNUM_HI" },
	{ 0x18c, 0x18c, "0x18C RH_NEIGHBOR_SERNUM_LO" },
	{ 0x190, 0x190, "0x190 POD_ELECTION_STS" },
	{ 0x194, 0x194, "0x194 POD_SERNUM_HI" },
	{ 0x198, 0x198, "0x198 POD_SERNUM_LO" },
	{ 0x1a0, 0x1d0, "0x1A0-0x1D0 RUNTIME_RESERVED1" },
	{ 0x1d8, 0x1d8, "0x1D8 RESET_TPB_MAP" },
	{ 0x1f0, 0x1f0, "0x1F0 REQUEST_BASE HIGH" },
	{ 0x1f4, 0x1f4, "0x1F4 REQUEST_BASE LOW" },
	{ 0x1f8, 0x1f8, "0x1F8 RESPONSE_BASE HIGH" },
	{ 0x1fc, 0x1fc, "0x1FC RESPONSE_BASE LOW" },
};

static void range(struct conf *c, const void *row)
{
	const struct range *r = row;
	uint32_t at;

	for (at = r->first; at <= r->last; at += 4)
		conf_storage(c, misc(c, at), 0, "MISC RAM 0x%03x", at);
	for (at = r->first; at <= r->last; at += 4)
		conf_write(c, misc(c, at), at * 3);
	for (at = r->first; at <= r->last; at += 4)
		conf_reg(c, misc(c, at), at * 3, "MISC RAM 0x%03x beside its neighbours", at);
}

static void reset_register(struct conf *c, const void *row)
{
	(void)row;
	conf_reg(c, misc(c, 0x1ec), 0, "RESET after power-up");
	conf_store(c, misc(c, 0x1ec), 1, "RESET without the doorbell");
	conf_quiesce(c);
	conf_reg(c, misc(c, 0x1ec), 1, "RESET without the doorbell");
	conf_write(c, misc(c, 0x800), 1);
	conf_wait(c, misc(c, 0x1ec), 0xffffffff, 0, "RESET after the doorbell");
}

static void trigger(struct conf *c, const void *row)
{
	struct conf_fwio fwio;

	(void)row;
	conf_fwio_open(c, &fwio);
	conf_is(c,
		conf_fwio_send(c, &fwio, 2, 2,
			       "\x0b\x01"
			       "0",
			       3),
		0, "FWIO by the doorbell");
	conf_device_reset(c);
}

static void fw_status(struct conf *c, const void *row)
{
	(void)row;
	conf_is(c, conf_read(c, misc(c, 0x808)) & 8, 0, "FW_STATUS bit 3 at rest");
	conf_device_reset(c);
	conf_is(c, conf_read(c, misc(c, 0x808)) & 8, 0, "FW_STATUS bit 3 after a reset");
	conf_read_only(c, misc(c, 0x808), "FW_STATUS");
}

/* Bit 3 is high while a reset lasts. */
static void fw_status_busy(struct conf *c, const void *row)
{
	(void)row;
	emu_device_fault_set(c->dev, "reset-slow", 1000);
	conf_write(c, misc(c, 0x1ec), 1);
	conf_write(c, misc(c, 0x800), 1);
	conf_wait(c, misc(c, 0x808), 8, 8, "FW_STATUS bit 3 during a reset");
	conf_wait(c, misc(c, 0x808), 8, 0, "FW_STATUS bit 3 after it");
	conf_wait(c, misc(c, 0x1ec), 0xffffffff, 0, "RESET after it");
	emu_device_fault_set(c->dev, "reset-slow", 0);
}

struct value {
	uint32_t offset, mask, not_value;
	const char *name;
};

static const struct value value_rows[] = {
	{ 0x024, 0xffffffff, 0xdeadbeef, "0x024 valid" },
	{ 0x190, 0xff, 3, "0x190[7:0] is not 3" },
	{ 0x808, 8, 8, "0x808 bit 3 is 0" },
	{ 0x1ec, 0xffffffff, 1, "0x1EC is not 1" },
};

static void power_up_value(struct conf *c, const void *row)
{
	const struct value *v = row;

	conf_true(c, (conf_read(c, misc(c, v->offset)) & v->mask) != v->not_value,
		  "power-up value of 0x%03x", v->offset);
	conf_device_reset(c);
	conf_true(c, (conf_read(c, misc(c, v->offset)) & v->mask) != v->not_value,
		  "value of 0x%03x after a reset", v->offset);
}

/* 0x180 to 0x198 survive device resets, TPB resets and a driver that goes and comes. */
static void survives(struct conf *c, const void *row)
{
	uint32_t at;

	(void)row;
	for (at = 0x180; at <= 0x198; at += 4)
		conf_write(c, misc(c, at), 0x1000 + at);
	conf_device_reset(c);
	conf_tpb_reset(c, 1);
	emu_device_bus_master(c->dev, false);
	emu_device_bus_master(c->dev, true);
	conf_device_reset(c);
	for (at = 0x180; at <= 0x198; at += 4)
		conf_reg(c, misc(c, at), 0x1000 + at, "MISC RAM 0x%03x", at);
}

/* 2: kinds of reads. */
static const uint32_t ready_rows[] = { 0x000, 0x024, 0x038, 0x03c, 0x040, 0x044, 0x048,
				       0x04c, 0x050, 0x054, 0x058, 0x064, 0x1ec, 0x808 };

static void ready(struct conf *c, const void *row)
{
	const uint32_t *offset = row;

	conf_true(c, conf_read(c, misc(c, *offset)) != 0xdeadbeef, "MISC RAM 0x%03x is ready",
		  *offset);
}

/* 0xDEADBEEF may be read while a reset lasts, then no more. */
static void not_ready(struct conf *c, const void *row)
{
	(void)row;
	emu_device_fault_set(c->dev, "reset-slow", 1000);
	conf_write(c, misc(c, 0x1ec), 1);
	conf_write(c, misc(c, 0x800), 1);
	conf_wait(c, misc(c, 0x24), 0xffffffff, 0xdeadbeef, "DEVICE_ID during a slow reset");
	conf_wait(c, misc(c, 0x24), 0xffffffc0, 0, "DEVICE_ID after it");
	conf_wait(c, misc(c, 0x1ec), 0xffffffff, 0, "RESET after it");
	emu_device_fault_set(c->dev, "reset-slow", 0);
}

/* Everything else is a plain load, none of them slow or refused. */
static void plain_load(struct conf *c, const void *row)
{
	unsigned int n;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		conf_reg(c, conf_tpb(c, n) + 0x2700000, 0, "core %u event 0", n);
		conf_reg(c, conf_tpb(c, n) + 0x2701000, 0, "core %u semaphore 0", n);
		conf_reg(c, conf_nc_notific(c, n) + 0x108, 0, "core %u NQ size", n);
		conf_read(c, conf_counters(c, n));
	}
	conf_reg(c, misc(c, 0x190), 0, "POD_ELECTION_STS");
}

/* 4: health. */
static void hbm_total(struct conf *c, const void *row)
{
	uint32_t sum = 0, h;

	(void)row;
	emu_device_fault_set(c->dev, "ecc-uncorrectable", 2);
	for (h = 0; h < c->p->stacks; h++)
		sum += conf_read(c, misc(c, 0x44 + 4 * h)) & 0xffff;
	conf_is(c, sum, 2, "sum of the uncorrected errors of %u stacks", c->p->stacks);
}

static void power_samples(struct conf *c, const void *row)
{
	uint64_t end = conf_now_ms() + CONF_TIMEOUT_MS;
	uint32_t d0 = conf_read(c, misc(c, 0x54)) >> 16, d1 = conf_read(c, misc(c, 0x58)) >> 16;
	bool both = false;

	(void)row;
	conf_true(c, conf_read(c, misc(c, 0)) >= 3, "API_VERSION is at least 3");
	while (!both && conf_now_ms() < end)
		both = conf_read(c, misc(c, 0x54)) >> 16 != d0 &&
		       (c->p->generation == 2 || conf_read(c, misc(c, 0x58)) >> 16 != d1);
	conf_true(c, both, "the sample counter of every die advances");
}

/* Words to MR+0x100 upward, then POST_TO_CW with the same bytes. */
static void metric_post(struct conf *c, const void *row)
{
	uint8_t tlv[128];
	struct conf_fwio fwio;
	uint32_t word, i;

	(void)row;
	for (i = 0; i < sizeof(tlv); i += 4)
		memcpy(tlv + i,
		       "\x0c\x02"
		       "00",
		       4);
	conf_fwio_open(c, &fwio);
	for (i = 0; i < sizeof(tlv); i += 4) {
		memcpy(&word, tlv + i, 4);
		conf_store(c, misc(c, 0x100 + i), word, "METRIC word %u", i / 4);
	}
	conf_is(c, conf_fwio_send(c, &fwio, 2, 2, tlv, sizeof(tlv)), 0, "POST_TO_CW error byte");
	conf_true(c, (fwio.response[2] | fwio.response[3] << 8) <= 4 + 128,
		  "response is no longer than the request");
}

void conf_misc_ram(struct conf_list *list)
{
	static const char page[] = "firmware-and-reset.md 1";
	unsigned int i;

	conf_case(list, ALL, api_version, NULL, page, "0x000 API_VERSION");
	conf_case(list, ALL, device_id, NULL, page, "0x024 DEVICE_ID");
	conf_case(list, ALL, serial, ROW(0x38), page, "0x038 SERIAL_NUMBER_LO");
	conf_case(list, ALL, serial, ROW(0x3c), page, "0x03C SERIAL_NUMBER_HI");
	conf_case(list, ALL, no_errors, ROW(0x40), page, "0x040 SRAM_ECC");
	conf_case(list, ALL, hbm_ecc, NULL, page,
		  "0x044 HBM0_ECC split [15:0] uncorrected, [31:16] corrected");
	for (i = 0; i < 4; i++)
		conf_case(list, i < 2 ? ALL : V3, no_errors, ROW(0x44 + 4 * i), page,
			  "0x%03X HBM%u_ECC", 0x44 + 4 * i, i);
	conf_case(list, ALL, power, ROW(0x54), page, "0x054 POWER_UTIL_D0");
	conf_case(list, V3, power, ROW(0x58), page, "0x058 POWER_UTIL_D1");
	conf_case(list, ALL, repair, NULL, page, "0x064 HBM_REPAIR_STATE");
	for (i = 0; i < COUNT(range_rows); i++)
		conf_case(list, ALL, range, &range_rows[i], page, "%s", range_rows[i].name);
	conf_case(list, ALL, reset_register, NULL, page,
		  "0x1EC RESET, set by the driver, cleared by FW");
	conf_case(list, ALL, trigger, NULL, page, "0x800 TRIGGER_INT_NOSEC, for FWIO and resets");
	conf_case(list, ALL, fw_status, NULL, page, "0x808 FW_STATUS");
	conf_case(list, ALL, fw_status_busy, NULL, page,
		  "0x808 FW_STATUS bit 3 set while a reset lasts");
	for (i = 0; i < COUNT(value_rows); i++)
		conf_case(list, ALL, power_up_value, &value_rows[i], page, "power-up: %s",
			  value_rows[i].name);
	conf_case(list, ALL, survives, NULL, page,
		  "0x180-0x198 survive device reset and driver reload");
	for (i = 0; i < COUNT(ready_rows); i++)
		conf_case(list, ALL, ready, &ready_rows[i], "firmware-and-reset.md 2",
			  "0x%03X not 0xDEADBEEF at rest", ready_rows[i]);
	conf_case(list, ALL, not_ready, NULL, "firmware-and-reset.md 2",
		  "0xDEADBEEF ends with the reset");
	conf_case(list, ALL, plain_load, NULL, "firmware-and-reset.md 2",
		  "every other register is a direct load");
	conf_case(list, ALL, hbm_total, NULL, "firmware-and-reset.md 4",
		  "HBM UE total over the stacks");
	conf_case(list, ALL, power_samples, NULL, "firmware-and-reset.md 4",
		  "power samples of every die");
	conf_case(list, ALL, metric_post, NULL, "firmware-and-reset.md 4", "metric post and TLV");
}
