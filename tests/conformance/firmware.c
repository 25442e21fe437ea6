// SPDX-License-Identifier: BSD-2-Clause
/*
 * firmware-and-reset.md 2 and 3: the mailbox.
 */
#include <string.h>
#include "conformance.h"

static uint64_t misc(const struct conf *c, uint32_t offset)
{
	return c->p->misc + offset;
}

static uint32_t get32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t response_size(const struct conf_fwio *fwio)
{
	return fwio->response[2] | (uint32_t)fwio->response[3] << 8;
}

/* READ of @count registers by device address. */
static void read_registers(struct conf *c, const uint64_t *dev, uint32_t *value, unsigned int count)
{
	struct conf_fwio fwio;
	unsigned int i;

	conf_fwio_open(c, &fwio);
	conf_is(c, conf_fwio_send(c, &fwio, 2, 1, dev, 8ull * count), 0, "READ error byte");
	conf_is(c, response_size(&fwio), 4 + 4 * count, "READ response size");
	for (i = 0; i < count; i++)
		value[i] = get32(fwio.response + 4 + 4 * i);
}

static void not_answered(struct conf *c, const struct conf_fwio *fwio)
{
	conf_quiesce(c);
	conf_is(c, fwio->response[0], 0, "response byte 0 of a request that is ignored");
}

static void sequence(struct conf *c, const void *row)
{
	struct conf_fwio fwio;

	conf_fwio_open(c, &fwio);
	conf_fwio_send(c, &fwio, (uint8_t)NUM(row), 2, NULL, 0);
}

static void sequence_zero(struct conf *c, const void *row)
{
	struct conf_fwio fwio;

	(void)row;
	conf_fwio_open(c, &fwio);
	conf_fwio_build(&fwio, 0, 2, NULL, 0);
	fwio.response[1] = 0xee;
	conf_fwio_ring(c, &fwio);
	conf_quiesce(c);
	conf_is(c, fwio.response[1], 0xee, "response byte 1 after sequence number 0");
	conf_complaint(c, EMU_COMPLAINT_FWIO_REQUEST, 1);
}

static void command_read(struct conf *c, const void *row)
{
	uint64_t dev[2] = { c->p->misc_dev + 0x24, c->p->misc_dev + 0x100 };
	uint32_t value[2];

	(void)row;
	conf_write(c, misc(c, 0x100), 0x13572468);
	read_registers(c, dev, value, 2);
	conf_is(c, value[0], conf_read(c, misc(c, 0x24)), "READ of DEVICE_ID");
	conf_is(c, value[1], 0x13572468, "READ of METRIC word 0");
}

static void command_post(struct conf *c, const void *row)
{
	struct conf_fwio fwio;

	(void)row;
	conf_fwio_open(c, &fwio);
	conf_is(c,
		conf_fwio_send(c, &fwio, 2, 2,
			       "\x0d\x03"
			       "2.0",
			       5),
		0, "POST_TO_CW error byte");
	conf_true(c, response_size(&fwio) >= 4 && response_size(&fwio) <= 4 + 5,
		  "POST_TO_CW response payload is at most the request's");
}

/* Size: bytes beyond it are not part of the request, and less than a header is none. */
static void size_field(struct conf *c, const void *row)
{
	struct conf_fwio fwio;
	uint32_t crc;

	(void)row;
	conf_fwio_open(c, &fwio);
	conf_fwio_build(&fwio, 3, 2, "abcd", 4);
	fwio.request[12] = 0x77;
	conf_fwio_ring(c, &fwio);
	conf_quiesce(c);
	conf_is(c, fwio.response[0], 3, "request with junk behind its size");
	conf_fwio_build(&fwio, 4, 2, NULL, 0);
	fwio.request[2] = 7;
	memset(fwio.request + 4, 0, 4);
	crc = conf_crc32c(fwio.request, 7);
	memcpy(fwio.request + 4, &crc, 4);
	conf_fwio_ring(c, &fwio);
	not_answered(c, &fwio);
	conf_complaint(c, EMU_COMPLAINT_FWIO_REQUEST, 1);
}

static void size_largest(struct conf *c, const void *row)
{
	static uint64_t dev[8190];
	static uint32_t value[8190];
	unsigned int i;

	(void)row;
	for (i = 0; i < COUNT(dev); i++)
		dev[i] = c->p->misc_dev + 0xc0 + i % 13 * 4;
	for (i = 0; i < 13; i++)
		conf_write(c, misc(c, 0xc0 + i * 4), i + 1);
	read_registers(c, dev, value, COUNT(dev));
	for (i = 0; i < COUNT(dev); i++)
		conf_is(c, value[i], i % 13 + 1, "value %u of a READ of 8190 registers", i);
}

/* The whole request counts, with the field as 0; one wrong bit and it is ignored. */
static void crc_field(struct conf *c, const void *row)
{
	struct conf_fwio fwio;

	(void)row;
	conf_is(c, conf_crc32c("123456789", 9), 0xe3069283, "CRC32C of 123456789");
	conf_fwio_open(c, &fwio);
	conf_is(c, conf_fwio_send(c, &fwio, 2, 2, "payload", 7), 0, "request with a right CRC");
	conf_fwio_build(&fwio, 3, 2, "payload", 7);
	fwio.request[10] ^= 1;
	conf_fwio_ring(c, &fwio);
	not_answered(c, &fwio);
	conf_complaint(c, EMU_COMPLAINT_FWIO_REQUEST, 1);
	conf_is(c, conf_fwio_send(c, &fwio, 4, 2, "payload", 7), 0, "the next request");
}

static void payload(struct conf *c, const void *row)
{
	uint64_t dev[100];
	uint32_t value[100];
	unsigned int i;

	(void)row;
	for (i = 0; i < 100; i++)
		dev[i] = conf_tpb_dev(c, c->p->cores - 1) + 0x2701000 + i * 4;
	if (c->p->generation == 3)
		for (i = 0; i < 100; i++)
			dev[i] = conf_udma_dev(c, i) + 0x200;
	read_registers(c, dev, value, 100);
	for (i = 0; i < 100; i++)
		conf_is(c, value[i], 0, "register %u of 100", i);
}

/* Written last: when it is seen, the rest is there. */
static void response_sequence(struct conf *c, const void *row)
{
	uint64_t dev = c->p->misc_dev + 0x100;
	struct conf_fwio fwio;
	unsigned int i;

	(void)row;
	conf_fwio_open(c, &fwio);
	for (i = 0; i < 100; i++) {
		conf_write(c, misc(c, 0x100), i * 7 + 1);
		memset(fwio.response, 0xee, 16);
		conf_is(c, conf_fwio_send(c, &fwio, (uint8_t)(i + 2), 1, &dev, 8), 0,
			"error byte when the sequence number is seen");
		conf_is(c, get32(fwio.response + 4), i * 7 + 1,
			"payload when the sequence number is seen");
	}
}

/* error: 0 success, 1 fail, 2 unknown command. */
static void response_error(struct conf *c, const void *row)
{
	uint64_t dev = c->p->misc_dev + (NUM(row) == 1 ? 2 : 0);
	struct conf_fwio fwio;

	conf_fwio_open(c, &fwio);
	conf_is(c, conf_fwio_send(c, &fwio, 9, NUM(row) == 2 ? 77 : 1, &dev, 8), NUM(row),
		"error byte");
	conf_true(c, response_size(&fwio) >= 4, "response size is at least 4");
	if (NUM(row) == 1)
		conf_complaint(c, EMU_COMPLAINT_FWIO_REQUEST, 1);
}

static void response_payload(struct conf *c, const void *row)
{
	uint64_t dev = c->p->misc_dev + 0x100;
	struct conf_fwio fwio;

	conf_write(c, misc(c, 0x100), 0x04030201);
	conf_fwio_open(c, &fwio);
	conf_fwio_send(c, &fwio, 9, 1, &dev, 8);
	if (NUM(row) == 2) {
		conf_is(c, fwio.response[2], 8, "size, low byte");
		conf_is(c, fwio.response[3], 0, "size, high byte");
	} else {
		conf_same(c, fwio.response + 4, "\1\2\3\4", 4, "payload, little-endian");
	}
	conf_is(c, fwio.response[8], 0xee, "byte behind the response");
}

/* The steps of one request, by number. */
static void steps(struct conf *c, const void *row)
{
	struct conf_fwio fwio, other;
	unsigned int attempt;

	conf_fwio_open(c, &fwio);
	switch (NUM(row)) {
	case 1: /* addresses before every attempt: the device takes the present ones */
		conf_fwio_send(c, &fwio, 2, 2, NULL, 0);
		conf_fwio_open(c, &other);
		conf_fwio_send(c, &other, 3, 2, NULL, 0);
		conf_is(c, fwio.response[0], 2, "buffer of the earlier request");
		return;
	case 2: /* response byte 0 cleared: no stale answer */
		conf_fwio_build(&fwio, 2, 2, NULL, 0);
		fwio.response[0] = 0;
		conf_quiesce(c);
		conf_is(c, fwio.response[0], 0, "response before the doorbell");
		return;
	case 3: /* W MR+0x800 = 1 */
		conf_fwio_send(c, &fwio, 2, 2, NULL, 0);
		conf_write(c, misc(c, 0x800), 0);
		conf_quiesce(c);
		return;
	case 5: /* not seen: the next attempt, with the next number, is served */
		emu_device_fault_set(c->dev, "fw-silent", 1);
		conf_fwio_build(&fwio, 254, 2, NULL, 0);
		conf_fwio_ring(c, &fwio);
		conf_quiesce(c);
		conf_is(c, fwio.response[0], 0, "answer of a silent firmware");
		for (attempt = 0; attempt < 3; attempt++)
			conf_fwio_send(c, &fwio, attempt ? (uint8_t)attempt : 255, 2, NULL, 0);
		return;
	}
}

/* FWIO READ is for any register of the device. */
static void read_kinds(struct conf *c, const void *row)
{
	uint64_t dev[3] = { conf_udma_dev(c, 0) + 0x128 + 0x20000,
			    conf_udma_dev(c, c->p->engines - 1) + 0x128 + 0x20000,
			    c->p->misc_dev + 0x038 };
	uint32_t value[3];

	(void)row;
	conf_write(c, conf_udma(c, 0) + 0x20128, 0x11110000);
	conf_write(c, conf_udma(c, c->p->engines - 1) + 0x20128, 0x22220000);
	read_registers(c, dev, value, 3);
	conf_is(c, value[0], 0x11110000, "READ of a register of engine 0");
	conf_is(c, value[1], 0x22220000, "READ of a register of the last engine");
	conf_is(c, value[2], conf_read(c, misc(c, 0x38)), "READ of SERIAL_NUMBER_LO");
}

/* With RESET not 0 the doorbell is a reset, and the mailbox is left alone. */
static void reset_wins(struct conf *c, const void *row)
{
	struct conf_fwio fwio;

	(void)row;
	conf_fwio_open(c, &fwio);
	conf_fwio_build(&fwio, 2, 2, NULL, 0);
	conf_write(c, misc(c, 0x1ec), 1);
	conf_fwio_ring(c, &fwio);
	conf_wait(c, misc(c, 0x1ec), 0xffffffff, 0, "RESET after the doorbell");
	not_answered(c, &fwio);
	conf_fwio_ring(c, &fwio);
	conf_quiesce(c);
	conf_is(c, fwio.response[0], 2, "the same request after the reset");
}

static void base_zero(struct conf *c, const void *row)
{
	(void)row;
	conf_write(c, misc(c, 0x800), 1);
	conf_quiesce(c);
	conf_reg(c, misc(c, 0x1ec), 0, "RESET after a doorbell with nothing to do");
}

static void counters_ioctl(struct conf *c, const void *row)
{
	uint64_t dev[2] = { c->p->misc_dev + 0x054, c->p->misc_dev };
	uint32_t value[2];

	(void)row;
	read_registers(c, dev, value, 2);
	conf_true(c, (value[0] & 0xffff) <= 10000, "utilisation read by FWIO");
	conf_true(c, value[1] >= 3, "API_VERSION read by FWIO");
}

void conf_firmware(struct conf_list *list)
{
	static const char request[] = "firmware-and-reset.md 3/request";
	static const char response[] = "firmware-and-reset.md 3/response";
	static const char step[] = "firmware-and-reset.md 3/one-request-as-seen-by-the-device";

	conf_case(list, ALL, counters_ioctl, NULL, "firmware-and-reset.md 2",
		  "FWIO READ with device addresses");
	conf_case(list, ALL, sequence, ROW(1), request, "byte 0 sequence number 1");
	conf_case(list, ALL, sequence, ROW(2), request, "byte 0 first request uses 2");
	conf_case(list, ALL, sequence, ROW(255), request, "byte 0 sequence number 255");
	conf_case(list, ALL, sequence_zero, NULL, request,
		  "byte 0 sequence number 0 is never used");
	conf_case(list, ALL, command_read, NULL, request, "byte 1 command 1 READ");
	conf_case(list, ALL, command_post, NULL, request, "byte 1 command 2 POST_TO_CW");
	conf_case(list, ALL, size_field, NULL, request, "byte 2 total size = 8 + payload");
	conf_case(list, ALL, size_largest, NULL, request, "byte 2 largest request, 8190 addresses");
	conf_case(list, ALL, crc_field, NULL, request, "byte 4 CRC32C with the field as 0");
	conf_case(list, ALL, payload, NULL, request, "byte 8 payload of 100 addresses");
	conf_case(list, ALL, response_sequence, NULL, response,
		  "byte 0 sequence number, written last");
	conf_case(list, ALL, response_error, ROW(0), response, "byte 1 error 0 success");
	conf_case(list, ALL, response_error, ROW(1), response, "byte 1 error 1 fail");
	conf_case(list, ALL, response_error, ROW(2), response, "byte 1 error 2 unknown command");
	conf_case(list, ALL, response_payload, ROW(2), response, "byte 2 total size = 4 + payload");
	conf_case(list, ALL, response_payload, ROW(4), response, "byte 4 payload");
	conf_case(list, ALL, read_kinds, NULL, response,
		  "READ: n 64-bit addresses, n 32-bit values");
	conf_case(list, ALL, steps, ROW(1), step, "1 addresses before every attempt");
	conf_case(list, ALL, steps, ROW(2), step, "2 nothing before the doorbell");
	conf_case(list, ALL, steps, ROW(3), step, "3 W MR+0x800 = 1");
	conf_case(list, ALL, steps, ROW(5), step,
		  "5 next attempt with the next sequence number, 255 to 1");
	conf_case(list, ALL, reset_wins, NULL, step, "doorbell with RESET not 0 is a reset");
	conf_case(list, ALL, base_zero, NULL, step, "skipped with REQUEST_BASE 0");
}
