// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Management firmware: reset handshake and FWIO mailbox, on a thread of its own woken by the
 * trigger register.
 *
 * No lock: the mailbox buffers belong to the thread; registers it shares with the host are atomics.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device.h"

static const struct emu_origin firmware_origin = { 0 };

static uint64_t misc_address(struct emu_device *device, uint32_t high, uint32_t low)
{
	return (uint64_t)emu_store_read(device->misc, high) << 32 |
	       emu_store_read(device->misc, low);
}

static void reset_unit(struct emu_device *device, enum emu_reset_kind kind, unsigned int unit)
{
	switch (kind) {
	case EMU_RESET_CORE:
		emu_unit_reset(&device->unit[unit]);
		break;
	case EMU_RESET_ENGINES:
		emu_dma_engine_reset(&device->engine[unit]);
		break;
	case EMU_RESET_TOP_SPS:
		emu_top_sp_clear(device, device->product->top_sp_window[unit]);
		emu_notific_clear(&device->top_sp_notific[unit]);
		break;
	}
}

static void reset_tpbs(struct emu_device *device, uint32_t map)
{
	const struct emu_product *product = device->product;
	unsigned int f, bit, unit;

	for (f = 0; f < product->reset_count; f++) {
		const struct emu_reset_field *field = &product->resets[f];

		for (bit = 0; bit < field->bits; bit++) {
			if (!(map & (1u << (field->shift + bit))))
				continue;
			for (unit = 0; unit < field->units; unit++)
				reset_unit(device, field->kind, bit * field->units + unit);
		}
	}
}

/* DMA queues keep their state: drivers exist that do not set them up again. */
static void reset_all(struct emu_device *device)
{
	const struct emu_product *product = device->product;
	unsigned int i;

	for (i = 0; i < product->cores; i++)
		emu_unit_reset(&device->unit[i]);
	for (i = 0; i < product->engines; i++)
		emu_dma_engine_reset(&device->engine[i]);
	for (i = 0; i < product->top_sp_windows; i++)
		emu_top_sp_clear(device, i);
	for (i = 0; i < product->top_sps; i++)
		emu_notific_clear(&device->top_sp_notific[i]);
}

static void reset_event(struct emu_device *device, uint32_t kind, const char *what)
{
	const struct emu_event event = {
		.kind = EMU_EVENT_RESET,
		.arg = { kind, emu_store_read(device->misc, TRN_MISC_RESET_MAP) },
		.text = what,
	};

	emu_event(device, &event);
}

static void reset_serve(struct emu_device *device, uint32_t kind)
{
	uint64_t slow = emu_fault_value(device, EMU_FAULT_RESET_SLOW);

	if (emu_fault_take(device, EMU_FAULT_RESET_TWICE))
		return;
	reset_event(device, kind, "begins");
	emu_store_write(device->misc, TRN_MISC_FW_STATUS, TRN_FW_STATUS_BUSY);
	atomic_store(&device->firmware.resetting, slow != 0);
	if (kind == TRN_RESET_TPB)
		reset_tpbs(device, emu_store_read(device->misc, TRN_MISC_RESET_MAP));
	else
		reset_all(device);
	emu_fault_delay(device, EMU_FAULT_RESET_SLOW);
	atomic_store(&device->firmware.resetting, false);
	/* A failed reset is one whose busy bit stays until another reset succeeds. */
	if (!emu_fault_take(device, EMU_FAULT_RESET_FAIL))
		emu_store_write(device->misc, TRN_MISC_FW_STATUS, 0);
	emu_store_write(device->misc, TRN_MISC_RESET, 0);
	emu_stat_add(device, EMU_STAT_RESETS, 1);
	reset_event(device, kind, "ends");
}

static uint32_t get_le(const uint8_t *p, unsigned int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

static void put_le(uint8_t *p, uint32_t value, unsigned int bytes)
{
	for (; bytes--; value >>= 8)
		*p++ = (uint8_t)value;
}

/* Return: size of the request, 0 when it must be ignored. */
static uint32_t request_fetch(struct emu_device *device, uint64_t addr)
{
	uint8_t *request = device->firmware.request;
	uint32_t size, crc;

	int status = emu_memory_read(device, addr, request, TRN_FWIO_REQ_PAYLOAD);

	if (status == EMU_MEMORY_ECC)
		return 0;
	if (status) {
		emu_complain(device, EMU_COMPLAINT_FWIO_REQUEST,
			     "FWIO request at 0x%llx cannot be read", (unsigned long long)addr);
		return 0;
	}
	size = get_le(request + TRN_FWIO_REQ_SIZE, 2);
	status = emu_memory_read(device, addr, request, size);
	if (status == EMU_MEMORY_ECC)
		return 0;
	if (!request[TRN_FWIO_REQ_SEQ] || size < TRN_FWIO_REQ_PAYLOAD || status) {
		emu_complain(device, EMU_COMPLAINT_FWIO_REQUEST,
			     "FWIO request at 0x%llx: sequence %u, size %u; must be 1 to 255 and "
			     "at least %u",
			     (unsigned long long)addr, request[TRN_FWIO_REQ_SEQ], size,
			     TRN_FWIO_REQ_PAYLOAD);
		return 0;
	}
	crc = get_le(request + TRN_FWIO_REQ_CRC, 4);
	put_le(request + TRN_FWIO_REQ_CRC, 0, 4);
	if (crc != emu_crc32c(request, size)) {
		emu_complain(device, EMU_COMPLAINT_FWIO_REQUEST,
			     "FWIO request %u: CRC32C 0x%08x, computed 0x%08x",
			     request[TRN_FWIO_REQ_SEQ], crc, emu_crc32c(request, size));
		return 0;
	}
	return size;
}

/* Return: error code for the response; *payload receives its payload length. */
static uint8_t command_read(struct emu_device *device, uint32_t bytes, uint32_t *payload)
{
	struct emu_firmware *fw = &device->firmware;
	uint32_t count = bytes / 8, i;
	struct emu_target target;
	uint64_t addr;
	uint32_t value;
	int status;

	if (bytes % 8) {
		emu_complain(device, EMU_COMPLAINT_FWIO_REQUEST,
			     "FWIO READ: payload of %u bytes is no list of addresses", bytes);
		return TRN_FWIO_FAIL;
	}
	for (i = 0; i < count; i++) {
		memcpy(&addr, fw->request + TRN_FWIO_REQ_PAYLOAD + 8 * i, 8);
		emu_decode(device, addr, 4, &target);
		status = (addr & 3) || target.kind == EMU_TARGET_HOST
				 ? -1
				 : emu_memory_read(device, addr, &value, sizeof(value));
		if (status == EMU_MEMORY_ECC)
			return TRN_FWIO_FAIL;
		if (status) {
			emu_complain(device, EMU_COMPLAINT_FWIO_REQUEST,
				     "FWIO READ: 0x%llx is no register", (unsigned long long)addr);
			return TRN_FWIO_FAIL;
		}
		put_le(fw->response + TRN_FWIO_RESP_PAYLOAD + 4 * i, value, 4);
	}
	*payload = 4 * count;
	return TRN_FWIO_OK;
}

static uint8_t command_run(struct emu_device *device, uint32_t size, uint32_t *payload)
{
	*payload = 0;
	switch (device->firmware.request[TRN_FWIO_REQ_COMMAND]) {
	case TRN_FWIO_READ:
		return command_read(device, size - TRN_FWIO_REQ_PAYLOAD, payload);
	case TRN_FWIO_POST:
		return TRN_FWIO_OK;
	default:
		return TRN_FWIO_UNKNOWN;
	}
}

/* The sequence number goes last: the host polls it. */
static void response_write(struct emu_device *device, uint64_t addr, uint32_t size)
{
	uint8_t *response = device->firmware.response;

	if (emu_memory_write(device, addr + 1, response + 1, size - 1, firmware_origin) ||
	    emu_memory_write(device, addr, response, 1, firmware_origin))
		emu_complain(device, EMU_COMPLAINT_FWIO_REQUEST,
			     "FWIO response at 0x%llx cannot be written", (unsigned long long)addr);
}

static void fwio_serve(struct emu_device *device)
{
	uint64_t request = misc_address(device, TRN_MISC_REQUEST_HIGH, TRN_MISC_REQUEST_LOW);
	uint64_t response = misc_address(device, TRN_MISC_RESPONSE_HIGH, TRN_MISC_RESPONSE_LOW);
	struct emu_firmware *fw = &device->firmware;
	uint32_t size, payload;
	uint8_t error;

	if (!request || !response)
		return;
	size = request_fetch(device, request);
	if (!size)
		return;
	emu_stat_add(device, EMU_STAT_FW_REQUESTS, 1);
	if (emu_fault_take(device, EMU_FAULT_FW_SILENT))
		return;
	error = command_run(device, size, &payload);
	if (emu_fault_take(device, EMU_FAULT_FW_CRC)) {
		error = TRN_FWIO_FAIL;
		payload = 0;
	}
	if (error)
		payload = 0;
	fw->response[TRN_FWIO_RESP_SEQ] = fw->request[TRN_FWIO_REQ_SEQ];
	/* 255 is followed by 1. */
	if (emu_fault_take(device, EMU_FAULT_FW_SEQUENCE))
		fw->response[TRN_FWIO_RESP_SEQ] =
			(uint8_t)(fw->request[TRN_FWIO_REQ_SEQ] % 255 + 1);
	fw->response[TRN_FWIO_RESP_ERROR] = error;
	put_le(fw->response + TRN_FWIO_RESP_SIZE, TRN_FWIO_RESP_PAYLOAD + payload, 2);
	/* A lying firmware claims more than the request can have asked for. */
	if (emu_fault_take(device, EMU_FAULT_FW_LYING))
		put_le(fw->response + TRN_FWIO_RESP_SIZE, 0xffff, 2);
	response_write(device, response, TRN_FWIO_RESP_PAYLOAD + payload);
}

static void firmware_work(void *opaque)
{
	struct emu_device *device = opaque;
	uint32_t reset;

	while (!atomic_load(&device->stopping) && !emu_device_removed(device) &&
	       atomic_exchange(&device->firmware.trigger, false)) {
		reset = emu_store_read(device->misc, TRN_MISC_RESET);
		if (reset)
			reset_serve(device, reset);
		else
			fwio_serve(device);
	}
}

void emu_firmware_trigger(struct emu_device *device)
{
	atomic_store(&device->firmware.trigger, true);
	emu_worker_kick(&device->firmware.worker);
}

int emu_firmware_create(struct emu_device *device)
{
	struct emu_firmware *fw = &device->firmware;

	fw->request = malloc(TRN_FWIO_BUFFER_SIZE);
	fw->response = malloc(TRN_FWIO_BUFFER_SIZE);
	if (!fw->request || !fw->response)
		return -ENOMEM;
	return emu_worker_start(&fw->worker, firmware_work, device, device->ops->thread_start,
				device->ops->thread_stop, device->opaque);
}

void emu_firmware_destroy(struct emu_device *device)
{
	emu_worker_stop(&device->firmware.worker);
	free(device->firmware.request);
	free(device->firmware.response);
}
