// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Firmware mailbox: a request in host memory, a doorbell, an answer in host memory. The firmware
 * may be silent, late or wrong; nothing it wrote is used before it was copied and checked.
 */
#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/string.h>

#include "internal.h"

#define TRNHW_FWIO_ATTEMPTS	15
#define TRNHW_FWIO_POLL_MS	1
#define TRNHW_FWIO_TIMEOUT_MS	1000

int trnhw_fwio_init(struct trnhw *hw)
{
	struct trnhw_fwio *fwio = &hw->fwio;

	fwio->request = dma_alloc_coherent(hw->dev, TRN_FWIO_BUFFER_SIZE, &fwio->request_dma,
					   GFP_KERNEL);
	fwio->response = dma_alloc_coherent(hw->dev, TRN_FWIO_BUFFER_SIZE, &fwio->response_dma,
					    GFP_KERNEL);
	if (!fwio->request || !fwio->response) {
		trnhw_fwio_fini(hw);
		return -ENOMEM;
	}
	if (!trnhw_host_address(hw, fwio->request_dma + TRN_FWIO_BUFFER_SIZE - 1) ||
	    !trnhw_host_address(hw, fwio->response_dma + TRN_FWIO_BUFFER_SIZE - 1)) {
		dev_err(hw->dev, "mailbox at bus address %#llx is out of the device's reach\n",
			(unsigned long long)fwio->request_dma);
		trnhw_fwio_fini(hw);
		return -EIO;
	}
	fwio->sequence = 1;	/* the first attempt uses 2 */
	return 0;
}

void trnhw_fwio_fini(struct trnhw *hw)
{
	struct trnhw_fwio *fwio = &hw->fwio;

	if (fwio->request)
		dma_free_coherent(hw->dev, TRN_FWIO_BUFFER_SIZE, fwio->request, fwio->request_dma);
	if (fwio->response)
		dma_free_coherent(hw->dev, TRN_FWIO_BUFFER_SIZE, fwio->response,
				  fwio->response_dma);
	memset(fwio, 0, sizeof(*fwio));
}

static void fwio_put16(u8 *p, u16 value)
{
	p[0] = value & 0xff;
	p[1] = value >> 8;
}

static void fwio_put32(u8 *p, u32 value)
{
	fwio_put16(p, value & 0xffff);
	fwio_put16(p + 2, value >> 16);
}

/* Programmed before every attempt: a reset may have cleared them. */
static void fwio_set_bases(const struct trnhw *hw)
{
	u64 request = trnhw_host_address(hw, hw->fwio.request_dma);
	u64 response = trnhw_host_address(hw, hw->fwio.response_dma);

	trnhw_misc_write(hw, TRN_MISC_REQUEST_LOW, lower_32_bits(request));
	trnhw_misc_write(hw, TRN_MISC_REQUEST_HIGH, upper_32_bits(request));
	trnhw_misc_write(hw, TRN_MISC_RESPONSE_LOW, lower_32_bits(response));
	trnhw_misc_write(hw, TRN_MISC_RESPONSE_HIGH, upper_32_bits(response));
}

/* Payload is in place already; fills the header and rings. */
static void fwio_send(struct trnhw *hw, u8 command, u16 payload)
{
	struct trnhw_fwio *fwio = &hw->fwio;
	u8 *request = fwio->request;
	u16 size = TRN_FWIO_REQ_PAYLOAD + payload;

	fwio->sequence = fwio->sequence == 255 ? 1 : fwio->sequence + 1;
	fwio_set_bases(hw);
	request[TRN_FWIO_REQ_SEQ] = fwio->sequence;
	request[TRN_FWIO_REQ_COMMAND] = command;
	fwio_put16(request + TRN_FWIO_REQ_SIZE, size);
	fwio_put32(request + TRN_FWIO_REQ_CRC, 0);
	fwio_put32(request + TRN_FWIO_REQ_CRC, ~__crc32c_le(~0u, request, size));
	WRITE_ONCE(fwio->response[TRN_FWIO_RESP_SEQ], 0);
	wmb();	/* the request is complete before the firmware is told */
	trnhw_misc_write(hw, TRN_MISC_TRIGGER, 1);
}

static int fwio_wait(const struct trnhw *hw)
{
	ktime_t end = ktime_add_ms(ktime_get(), TRNHW_FWIO_TIMEOUT_MS);
	const u8 *response = hw->fwio.response;

	for (;;) {
		bool late = ktime_after(ktime_get(), end);

		if (READ_ONCE(response[TRN_FWIO_RESP_SEQ]) == hw->fwio.sequence) {
			dma_rmb();	/* the sequence number is written last */
			return 0;
		}
		if (late)
			return trnhw_gone(hw) ? -ENODEV : -ETIMEDOUT;
		if (trnhw_pause(hw, TRNHW_FWIO_POLL_MS))
			return -ENODEV;
	}
}

/*
 * Judges the answer under way. Return: 0 with *@size payload bytes copied to @payload, -EAGAIN try
 * again, else a lasting error.
 */
static int fwio_take(const struct trnhw *hw, u8 *payload, u16 max, u16 *size)
{
	const u8 *response = hw->fwio.response;
	u8 error = READ_ONCE(response[TRN_FWIO_RESP_ERROR]);
	unsigned int total = READ_ONCE(response[TRN_FWIO_RESP_SIZE]) |
			     READ_ONCE(response[TRN_FWIO_RESP_SIZE + 1]) << 8;

	if (error == TRN_FWIO_UNKNOWN)
		return -EOPNOTSUPP;
	if (error != TRN_FWIO_OK)
		return -EAGAIN;
	if (total < TRN_FWIO_RESP_PAYLOAD || total - TRN_FWIO_RESP_PAYLOAD > max) {
		dev_dbg(hw->dev, "firmware answered %u bytes, expected %u to %u\n", total,
			TRN_FWIO_RESP_PAYLOAD, TRN_FWIO_RESP_PAYLOAD + max);
		return -EIO;
	}
	*size = total - TRN_FWIO_RESP_PAYLOAD;
	memcpy(payload, response + TRN_FWIO_RESP_PAYLOAD, *size);
	return 0;
}

/* Runs the request whose payload is in place; the answer replaces it in the request buffer. */
static int fwio_run(struct trnhw *hw, u8 command, u16 payload, u16 max, u16 *size)
{
	struct trnhw_fwio *fwio = &hw->fwio;
	int ret = -ETIMEDOUT;
	unsigned int i;

	if (!fwio->request)
		return -ENODEV;
	for (i = 0; i < TRNHW_FWIO_ATTEMPTS; i++) {
		if (i)
			fwio->retries++;
		fwio_send(hw, command, payload);
		ret = fwio_wait(hw);
		if (!ret)
			ret = fwio_take(hw, fwio->request + TRN_FWIO_REQ_PAYLOAD, max, size);
		if (ret != -EAGAIN && ret != -ETIMEDOUT)
			return ret;
	}
	return ret == -EAGAIN ? -EIO : ret;
}

int trnhw_fwio_read(struct trnhw *hw, const u64 *addresses, u32 *values, u32 count)
{
	u8 *payload;
	u16 size;
	u32 i;
	int ret;

	if (!count || count > TRNHW_FWIO_READ_MAX)
		return -EINVAL;
	if (!hw->fwio.request)
		return -ENODEV;
	payload = hw->fwio.request + TRN_FWIO_REQ_PAYLOAD;
	for (i = 0; i < count; i++) {
		fwio_put32(payload + i * 8, lower_32_bits(addresses[i]));
		fwio_put32(payload + i * 8 + 4, upper_32_bits(addresses[i]));
	}
	ret = fwio_run(hw, TRN_FWIO_READ, count * 8, count * 4, &size);
	if (ret)
		return ret;
	if (size != count * 4) {
		dev_dbg(hw->dev, "firmware answered %u bytes for %u registers\n", size, count);
		return -EIO;
	}
	for (i = 0; i < count; i++)
		values[i] = payload[i * 4] | payload[i * 4 + 1] << 8 | payload[i * 4 + 2] << 16 |
			    (u32)payload[i * 4 + 3] << 24;
	return 0;
}

/* The same bytes go to the METRIC words, tail padded with zeros, and to the firmware. */
int trnhw_fwio_post(struct trnhw *hw, const void *payload, u16 size)
{
	const u8 *bytes = payload;
	u16 answer, i;

	if (!size || size > TRN_MISC_METRIC_SIZE)
		return -EINVAL;
	if (!hw->fwio.request)
		return -ENODEV;
	for (i = 0; i < size; i += 4) {
		u32 word = 0;
		u16 k;

		for (k = 0; k < 4 && i + k < size; k++)
			word |= (u32)bytes[i + k] << (8 * k);
		trnhw_misc_write(hw, TRN_MISC_METRIC + i, word);
	}
	memcpy(hw->fwio.request + TRN_FWIO_REQ_PAYLOAD, payload, size);
	return fwio_run(hw, TRN_FWIO_POST, size, size, &answer);
}
