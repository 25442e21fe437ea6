// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests to the firmware: header and payload of any content, at any address, answers to any
 * address. The checksum is made right unless the input says otherwise, or nothing else would be
 * reached.
 */
#include <string.h>
#include "fuzz.h"
#include "tests/emulator/emu.h"
#include "tests/emulator/device.h"
#include "tests/unit/emu_rig_map.h"
#include "trainium/map.h"
#include "trainium/regs.h"

#define REQUESTS_MAX 8
#define PLACE	     0x1000u
#define ANSWER	     0x8000u
#define END_MS	     5000u

/* Flags of a request: what is not as a driver would make it. */
#define BAD_CRC	  0x01
#define RAW_SIZE  0x02
#define ANY_PLACE 0x04
#define ANY_REPLY 0x08
#define RESET	  0x10
#define FAULT	  0x20
#define NO_WAIT	  0x40

static uint32_t request_fill(const struct fuzz_device *device, struct fuzz_input *in,
			     uint8_t *request, uint8_t flags)
{
	uint32_t payload = fuzz_u8(in), crc;
	uint16_t size = (uint16_t)(TRN_FWIO_REQ_PAYLOAD + payload);

	if (payload == 0xff) /* as many addresses as fit, all the same */
		size = (uint16_t)(TRN_FWIO_REQ_PAYLOAD + (fuzz_u16(in) & 0x6fff));
	memset(request, 0, TRN_FWIO_REQ_PAYLOAD);
	request[TRN_FWIO_REQ_SEQ] = fuzz_u8(in);
	request[TRN_FWIO_REQ_COMMAND] = fuzz_u8(in);
	if (request[TRN_FWIO_REQ_COMMAND] % 4 == TRN_FWIO_READ) {
		uint32_t i;

		request[TRN_FWIO_REQ_COMMAND] = TRN_FWIO_READ;
		for (i = 0; i + 8 <= payload; i += 8) {
			uint64_t addr = fuzz_address(device, in);

			memcpy(request + TRN_FWIO_REQ_PAYLOAD + i, &addr, sizeof(addr));
		}
	} else {
		fuzz_bytes(in, request + TRN_FWIO_REQ_PAYLOAD, payload);
	}
	if (flags & RAW_SIZE)
		size = fuzz_u16(in);
	memcpy(request + TRN_FWIO_REQ_SIZE, &size, sizeof(size));
	if (PLACE + size > FUZZ_HOST_BYTES)
		size = FUZZ_HOST_BYTES - PLACE;
	crc = emu_crc32c(request, size) ^ (flags & BAD_CRC);
	memcpy(request + TRN_FWIO_REQ_CRC, &crc, sizeof(crc));
	return size;
}

static void misc_pair(struct fuzz_device *device, uint32_t high, uint32_t low, uint64_t value)
{
	fuzz_write(device, device->map->misc + high, (uint32_t)(value >> 32));
	fuzz_write(device, device->map->misc + low, (uint32_t)value);
}

static void check_answer(const uint8_t *request, const uint8_t *answer)
{
	uint16_t size;

	memcpy(&size, answer + TRN_FWIO_RESP_SIZE, sizeof(size));
	FUZZ_CHECK(size >= TRN_FWIO_RESP_PAYLOAD, "answer of %u bytes", size);
	FUZZ_CHECK(answer[TRN_FWIO_RESP_ERROR] || request[TRN_FWIO_REQ_COMMAND] == TRN_FWIO_READ ||
			   request[TRN_FWIO_REQ_COMMAND] == TRN_FWIO_POST,
		   "command %u was understood", request[TRN_FWIO_REQ_COMMAND]);
	FUZZ_CHECK(!answer[TRN_FWIO_RESP_ERROR] || size == TRN_FWIO_RESP_PAYLOAD,
		   "error %u with %u bytes", answer[TRN_FWIO_RESP_ERROR], size);
}

/* *@plain: nothing was left behind by a request before that could change this answer. */
static void request(struct fuzz_device *device, struct fuzz_input *in, bool *plain)
{
	uint64_t at = device->map->host_base | (FUZZ_HOST_BUS + PLACE), reply = at - PLACE + ANSWER;
	uint8_t flags = fuzz_u8(in), copy[TRN_FWIO_REQ_PAYLOAD], *answer = device->host + ANSWER;
	static const char *const faults[] = { "fw-silent",  "fw-crc",	  "fw-lying",
					      "reset-slow", "reset-fail", "reset-twice",
					      "fw-sequence" };

	if (flags & FAULT)
		emu_device_fault_set(device->dev, faults[fuzz_u8(in) % FUZZ_COUNT(faults)], 1);
	if (flags & RESET) {
		fuzz_write(device, device->map->misc + TRN_MISC_RESET_MAP, fuzz_u16(in));
		fuzz_write(device, device->map->misc + TRN_MISC_RESET, fuzz_u8(in) % 4);
	}
	if (flags & ANY_PLACE)
		at = fuzz_address(device, in);
	if (flags & ANY_REPLY)
		reply = fuzz_address(device, in);
	request_fill(device, in, device->host + PLACE, flags);
	memcpy(copy, device->host + PLACE, sizeof(copy));
	answer[TRN_FWIO_RESP_SEQ] = 0;
	misc_pair(device, TRN_MISC_REQUEST_HIGH, TRN_MISC_REQUEST_LOW, at);
	misc_pair(device, TRN_MISC_RESPONSE_HIGH, TRN_MISC_RESPONSE_LOW, reply);
	fuzz_write(device, device->map->misc + TRN_MISC_TRIGGER, 1);
	if (flags & ~RAW_SIZE)
		*plain = false;
	if (flags & NO_WAIT)
		return;
	FUZZ_CHECK(!emu_device_quiesce(device->dev, END_MS),
		   "a request to the firmware never ends");
	if (*plain && copy[TRN_FWIO_REQ_SEQ] && answer[TRN_FWIO_RESP_SEQ] == copy[TRN_FWIO_REQ_SEQ])
		check_answer(copy, answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device *device = fuzz_device_begin(data, size);
	struct fuzz_input in = { data, size };
	bool plain = true;
	unsigned int n;

	for (n = 0; in.left && n < REQUESTS_MAX; n++)
		request(device, &in, &plain);
	FUZZ_CHECK(!emu_device_quiesce(device->dev, END_MS), "the firmware never ends");
	fuzz_device_end(device, 0);
	return 0;
}
