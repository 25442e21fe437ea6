// SPDX-License-Identifier: BSD-2-Clause
/*
 * The mailbox as the pages describe it (firmware-and-reset.md 3).
 */
#include <string.h>
#include "conformance.h"

#define BUFFER 65535u

uint32_t conf_crc32c(const void *data, size_t len)
{
	const uint8_t *at = data;
	uint32_t crc = 0xffffffff;
	unsigned int bit;

	while (len--) {
		crc ^= *at++;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

void conf_fwio_open(struct conf *c, struct conf_fwio *fwio)
{
	fwio->request = conf_host(c, BUFFER, &fwio->request_dev);
	fwio->response = conf_host(c, BUFFER, &fwio->response_dev);
	memset(fwio->response, 0xee, BUFFER);
}

void conf_fwio_build(struct conf_fwio *fwio, uint8_t seq, uint8_t command, const void *payload,
		     size_t len)
{
	uint32_t size = 8 + (uint32_t)len, crc;
	uint8_t *r = fwio->request;

	r[0] = seq;
	r[1] = command;
	r[2] = (uint8_t)size;
	r[3] = (uint8_t)(size >> 8);
	memset(r + 4, 0, 4);
	if (len)
		memcpy(r + 8, payload, len);
	crc = conf_crc32c(r, size);
	r[4] = (uint8_t)crc;
	r[5] = (uint8_t)(crc >> 8);
	r[6] = (uint8_t)(crc >> 16);
	r[7] = (uint8_t)(crc >> 24);
}

void conf_fwio_ring(struct conf *c, struct conf_fwio *fwio)
{
	uint64_t misc = c->p->misc;

	conf_write(c, misc + 0x1f4, (uint32_t)fwio->request_dev);
	conf_write(c, misc + 0x1f0, (uint32_t)(fwio->request_dev >> 32));
	conf_write(c, misc + 0x1fc, (uint32_t)fwio->response_dev);
	conf_write(c, misc + 0x1f8, (uint32_t)(fwio->response_dev >> 32));
	__atomic_store_n(fwio->response, 0, __ATOMIC_RELEASE);
	conf_write(c, misc + 0x800, 1);
}

uint8_t conf_fwio_send(struct conf *c, struct conf_fwio *fwio, uint8_t seq, uint8_t command,
		       const void *payload, size_t len)
{
	uint64_t end = conf_now_ms() + CONF_TIMEOUT_MS;

	conf_fwio_build(fwio, seq, command, payload, len);
	conf_fwio_ring(c, fwio);
	while (__atomic_load_n(fwio->response, __ATOMIC_ACQUIRE) != seq && conf_now_ms() < end)
		;
	conf_is(c, __atomic_load_n(fwio->response, __ATOMIC_ACQUIRE), seq,
		"FWIO response byte 0 (sequence number)");
	return fwio->response[1];
}
