// SPDX-License-Identifier: BSD-2-Clause
/*
 * MISC RAM, reset handshake, FWIO mailbox; register traces of a driver that knows nothing of the
 * extension. Faults on demand have a suite of their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "emu_rig.h"

#define MR(offset) (RIG_MISC + (offset))

static struct rig rig;
static struct rig_host req, resp;

/* Bitwise, as the page on the mailbox defines it; the check value is asserted in crc_check_value.
 */
static uint32_t crc32c(const uint8_t *p, size_t len)
{
	uint32_t crc = 0xffffffff;
	int i;

	for (; len--; p++) {
		crc ^= *p;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void open_all(void)
{
	rig_open(&rig);
	rig_host_alloc(&rig, &req, 65536);
	rig_host_alloc(&rig, &resp, 65536);
}

static void close_all(uint64_t complaints)
{
	rig_host_free(&rig, &req);
	rig_host_free(&rig, &resp);
	rig_close(&rig, complaints);
}

static void request_fill(uint8_t sequence, uint8_t command, const void *payload, uint16_t len)
{
	uint16_t size = (uint16_t)(8 + len);
	uint32_t crc;

	memset(req.ptr, 0, 8);
	req.ptr[0] = sequence;
	req.ptr[1] = command;
	memcpy(req.ptr + 2, &size, 2);
	if (len)
		memcpy(req.ptr + 8, payload, len);
	crc = crc32c(req.ptr, size);
	memcpy(req.ptr + 4, &crc, 4);
	__atomic_store_n(&resp.ptr[0], 0, __ATOMIC_RELEASE);
}

static void request_ring(void)
{
	rig_write(&rig, MR(TRN_MISC_REQUEST_LOW), (uint32_t)req.dev);
	rig_write(&rig, MR(TRN_MISC_REQUEST_HIGH), (uint32_t)(req.dev >> 32));
	rig_write(&rig, MR(TRN_MISC_RESPONSE_LOW), (uint32_t)resp.dev);
	rig_write(&rig, MR(TRN_MISC_RESPONSE_HIGH), (uint32_t)(resp.dev >> 32));
	rig_write(&rig, MR(TRN_MISC_TRIGGER), 1);
}

static bool answered(uint8_t sequence)
{
	rig_quiesce(&rig);
	return __atomic_load_n(&resp.ptr[0], __ATOMIC_ACQUIRE) == sequence;
}

static uint16_t response_size(void)
{
	uint16_t size;

	memcpy(&size, resp.ptr + 2, 2);
	return size;
}

static void do_reset(uint32_t kind, uint32_t map)
{
	if (kind == TRN_RESET_TPB)
		rig_write(&rig, MR(TRN_MISC_RESET_MAP), map);
	rig_write(&rig, MR(TRN_MISC_RESET), kind);
	rig_write(&rig, MR(TRN_MISC_TRIGGER), 1);
	rig_wait(&rig, MR(TRN_MISC_RESET), ~0u, 0);
	rig_wait(&rig, MR(TRN_MISC_FW_STATUS), TRN_FW_STATUS_BUSY, 0);
}

START_TEST(power_up_values)
{
	const struct emu_config config = { .size = sizeof(config),
					   .routing_id = 13,
					   .serial = 0x1122334455667788 };

	rig_open_config(&rig, &config);
	ck_assert_uint_ge(rig_read(&rig, MR(TRN_MISC_API_VERSION)), 3);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_DEVICE_ID)), 13);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_SERIAL_LOW)), 0x55667788);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_SERIAL_HIGH)), 0x11223344);
	ck_assert_uint_ne(rig_read(&rig, MR(TRN_MISC_POD_STATUS)) & 0xff, 3);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_FW_STATUS)) & TRN_FW_STATUS_BUSY, 0);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_RESET)), 0);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(1))), 0);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(plain_words_are_storage)
{
	static const uint32_t words[] = { TRN_MISC_RUNTIME0,	   TRN_MISC_METRIC,
					  TRN_MISC_METRIC + 0x7c,  TRN_MISC_NEIGHBOR_LEFT_HIGH,
					  TRN_MISC_POD_SERIAL_LOW, TRN_MISC_RUNTIME1,
					  TRN_MISC_RESET_MAP,	   TRN_MISC_REQUEST_LOW };
	unsigned int i;

	rig_open(&rig);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		rig_write(&rig, MR(words[i]), 0x1000 + i);
		ck_assert_uint_eq(rig_read(&rig, MR(words[i])), 0x1000 + i);
	}
	rig_close(&rig, 0);
}
END_TEST

START_TEST(firmware_words_are_read_only)
{
	static const uint32_t words[] = { TRN_MISC_API_VERSION, TRN_MISC_DEVICE_ID,
					  TRN_MISC_SERIAL_LOW, TRN_MISC_SRAM_ECC,
					  TRN_MISC_FW_STATUS };
	unsigned int i;

	rig_open(&rig);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint32_t before = rig_read(&rig, MR(words[i]));

		rig_write(&rig, MR(words[i]), ~before);
		ck_assert_uint_eq(rig_read(&rig, MR(words[i])), before);
		ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_READ_ONLY), i + 1);
	}
	rig_close(&rig, i);
}
END_TEST

START_TEST(power_samples_advance)
{
	uint32_t first, last;

	rig_open(&rig);
	first = last = rig_read(&rig, MR(TRN_MISC_POWER_D0));
	rig_wait(&rig, MR(TRN_MISC_FW_STATUS), ~0u, 0);
	while (last >> 16 == first >> 16)
		last = rig_read(&rig, MR(TRN_MISC_POWER_D0));
	ck_assert_uint_le(last & 0xffff, 10000);
	rig_close(&rig, 0);
}
END_TEST

START_TEST(device_reset_handshake)
{
	open_all();
	do_reset(TRN_RESET_DEVICE, 0);
	close_all(0);
}
END_TEST

START_TEST(reset_clears_semaphores_and_keeps_pod_words)
{
	open_all();
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_SET, 4), 44);
	rig_write(&rig, rig_sem(1, TRN_TPB_SEM_SET, 4), 45);
	rig_write(&rig, MR(TRN_MISC_POD_STATUS), 0x03020103);
	rig_write(&rig, MR(TRN_MISC_NEIGHBOR_RIGHT_LOW), 99);
	do_reset(TRN_RESET_DEVICE, 0);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 4)), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(1, TRN_TPB_SEM_READ, 4)), 0);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_POD_STATUS)), 0x03020103);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_NEIGHBOR_RIGHT_LOW)), 99);
	close_all(0);
}
END_TEST

START_TEST(tpb_reset_is_confined_to_its_map)
{
	/* the first one of core 1 */
	const unsigned int top_sp = rig_map->top_sps / rig_map->cores;

	open_all();
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_SET, 4), 44);
	rig_write(&rig, rig_sem(1, TRN_TPB_SEM_SET, 4), 45);
	rig_write(&rig, rig_map->top_sp(top_sp) + 0x1400, 1);
	rig_write(&rig, rig_map->top_sp(top_sp - 1) + 0x1400, 1);
	do_reset(TRN_RESET_TPB, rig_map->reset_core(1) | rig_map->reset_top_sp(top_sp));
	ck_assert_uint_eq(rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, 4)), 44);
	ck_assert_uint_eq(rig_read(&rig, rig_sem(1, TRN_TPB_SEM_READ, 4)), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_map->top_sp(top_sp) + 0x1000), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_map->top_sp(top_sp - 1) + 0x1000), 1);
	close_all(0);
}
END_TEST

/* What a driver does from probe to the first copy, on engine 0 and a host copy engine. */
START_TEST(probe_trace)
{
	static const uint16_t axi[] = { 0x2d00, 0x2e00, 0x2f00, 0x3000, 0x3100, 0x3200 };
	struct rig_queue q;
	unsigned int n, t, i;

	open_all();
	ck_assert_uint_lt(rig_read(&rig, MR(TRN_MISC_DEVICE_ID)), 64);
	do_reset(TRN_RESET_DEVICE, 0);
	for (n = 0; n < 2; n++) {
		uint32_t udma = rig_engine(n ? RIG_H2T : 0), gen = udma + TRN_UDMA_GEN;

		for (i = 0; i < TRN_UDMA_QUEUES; i++) {
			rig_write(&rig, udma + TRN_UDMA_QUEUE(i) + TRN_Q_CFG, 0x00030000);
			rig_write(&rig, udma + TRN_UDMA_S2M + TRN_UDMA_QUEUE(i) + TRN_Q_CFG,
				  0x00030000);
			rig_write(&rig, udma + TRN_UDMA_GENX + TRN_GENX_SELECTOR(i), 0xffffffff);
			rig_write(&rig, udma + TRN_UDMA_GENX + TRN_GENX_SELECTOR(i) + 4,
				  0xffffffff);
			rig_write(&rig, udma + TRN_UDMA_GENX + TRN_GENX_SELECTOR(i) + 8,
				  0xffffffff);
			rig_write(&rig, udma + TRN_UDMA_GENX + TRN_GENX_SELECTOR(i) + 12,
				  0xffffffff);
		}
		rig_write(&rig, udma + TRN_M2S_DATA_FIFO_CFG, 0x01000400);
		rig_write(&rig, udma + TRN_M2S_AXI_OUTSTANDING, 0x0000086f);
		rig_write(&rig, gen + TRN_GEN_AXI_TIMEOUT, 100000000);
		rig_write(&rig, udma + TRN_M2S_ACK_TIMEOUT, 0);
		rig_write(&rig, udma + TRN_M2S_PKT_LEN_CFG, 0x010fffff);
		rig_write(&rig, udma + TRN_M2S_STREAM_CFG, 0x102);
		rig_write(&rig, udma + TRN_M2S_AXI_DATA_RD_CFG, 0x00010008);
		rig_write(&rig, udma + TRN_UDMA_S2M + TRN_S2M_ACK_TIMEOUT, 0);
		rig_write(&rig, udma + TRN_UDMA_S2M + TRN_S2M_AXI_OUTSTANDING_RD, 0x00400008);
		rig_write(&rig, udma + TRN_UDMA_S2M + TRN_S2M_AXI_OUTSTANDING_WR, 0x40804080);
		rig_write(&rig, gen + TRN_GEN_SPARE_ZEROES0,
			  rig_read(&rig, gen + TRN_GEN_SPARE_ZEROES0) & ~1u);
		rig_write(&rig, gen + 0x2028, 0x28);
		rig_write(&rig, gen + 0x00e8, 0x28);
		rig_write(&rig, gen + 0x2030, 0xf0000000);
		rig_write(&rig, gen + 0x20b0, 0xffffffc0);
		rig_write(&rig, gen + 0x2018, 0xf0000000);
		rig_write(&rig, gen + 0x2098, 0xffffffc0);
		rig_write(&rig, gen + 0x00d8, 0xfffffaff);
		rig_write(&rig, gen + 0x2068, 0x28);
		rig_write(&rig, gen + 0x2070, 0x000010f8);
		rig_write(&rig, gen + 0x2058, 0x000010f8);
		rig_write(&rig, udma + TRN_UDMA_S2M + TRN_S2M_COMPLETION_CFG1C, 0x1004);
		rig_write(&rig, udma + TRN_M2S_PREFETCH_CFG2, 0x00010041);
		rig_write(&rig, udma + TRN_M2S_PREFETCH_CFG3, 0x4181);
		rig_write(&rig, udma + TRN_UDMA_S2M + TRN_S2M_PREFETCH_CFG3, 0x4181);
		rig_write(&rig, udma + TRN_M2S_AXI_DESC_RD_CFG3, 0x00010008);
		rig_write(&rig, udma + TRN_UDMA_S2M + TRN_S2M_AXI_DESC_RD_CFG3, 0x00010008);
		for (t = 0; t < 6; t++) {
			for (i = 0; i < 6; i++)
				rig_write(&rig,
					  gen + TRN_GEN_AXI_ERR_DETECT(t) + (i / 3) * 0x20 + 4 +
						  i % 3 * 4,
					  0xf);
			rig_write(&rig, gen + TRN_GEN_AXI_ERR_CTRL_ADDR(t), t * 8 + 7);
			rig_write(&rig, gen + TRN_GEN_AXI_ERR_CTRL_DATA(t), 0x10);
			rig_write(&rig, gen + axi[t] + 0x28, 0x28);
			rig_write(&rig, gen + axi[t] + 0x30, 0);
			rig_write(&rig, gen + axi[t] + 0x18, 0);
		}
		rig_write(&rig,
			  (n ? rig_map->sdma(RIG_H2T) : rig_map->sdma(0)) + TRN_SDMA_READ_REORDER,
			  1);
		rig_write(&rig,
			  (n ? rig_map->sdma(RIG_H2T) : rig_map->sdma(0)) + TRN_SDMA_WRITE_REORDER,
			  1);
		rig_write(&rig,
			  (n ? rig_map->sdma(RIG_H2T) : rig_map->sdma(0)) + TRN_SDMA_EVENT_ACCEL,
			  1);
	}
	rig_queue_open(&rig, &q, RIG_H2T, 0, 8192);
	memset(resp.ptr, 0x3c, 65536);
	rig_m2s(&q, resp.dev, 0, 0);
	q.m2s[0].meta = TRN_META_BARRIER;
	rig_s2m(&q, 0x1000000, 0);
	*(uint32_t *)req.ptr = 0xabcdef01;
	rig_m2s(&q, req.dev, 4, 0);
	rig_s2m(&q, req.dev + 4, 4);
	rig_ring(&q, 2, 2);
	rig_wait_word(req.ptr + 4, 0xabcdef01);
	ck_assert_mem_eq(rig_hbm(&rig, 0x1000000), resp.ptr, 65536);
	rig_quiesce(&rig);
	rig_queue_close(&q);
	close_all(0);
}
END_TEST

START_TEST(crc_check_value)
{
	ck_assert_uint_eq(crc32c((const uint8_t *)"123456789", 9), 0xe3069283);
}
END_TEST

START_TEST(fwio_post)
{
	open_all();
	request_fill(2, TRN_FWIO_POST, "\x0d\x05hello", 7);
	request_ring();
	ck_assert(answered(2));
	ck_assert_uint_eq(resp.ptr[1], TRN_FWIO_OK);
	ck_assert_uint_eq(response_size(), 4);
	close_all(0);
}
END_TEST

START_TEST(fwio_read)
{
	const uint64_t addresses[] = {
		rig_map->dev(MR(TRN_MISC_SERIAL_LOW)),
		rig_map->dev(MR(TRN_MISC_SERIAL_HIGH)),
		rig_map->dev(rig_engine(4) + TRN_UDMA_QUEUE(0) + TRN_Q_CFG),
	};
	uint32_t values[3];

	open_all();
	request_fill(255, TRN_FWIO_READ, addresses, sizeof(addresses));
	request_ring();
	ck_assert(answered(255));
	ck_assert_uint_eq(resp.ptr[1], TRN_FWIO_OK);
	ck_assert_uint_eq(response_size(), 4 + sizeof(values));
	memcpy(values, resp.ptr + 4, sizeof(values));
	ck_assert_uint_eq(values[0], rig_read(&rig, MR(TRN_MISC_SERIAL_LOW)));
	ck_assert_uint_eq(values[1], rig_read(&rig, MR(TRN_MISC_SERIAL_HIGH)));
	ck_assert_uint_eq(values[2], TRN_Q_CFG_RESET_VALUE);
	close_all(0);
}
END_TEST

START_TEST(fwio_read_of_no_register)
{
	const uint64_t address = 0x800000000ull;

	open_all();
	request_fill(3, TRN_FWIO_READ, &address, 8);
	request_ring();
	ck_assert(answered(3));
	ck_assert_uint_eq(resp.ptr[1], TRN_FWIO_FAIL);
	ck_assert_uint_eq(response_size(), 4);
	request_fill(4, TRN_FWIO_READ, &address, 7);
	request_ring();
	ck_assert(answered(4));
	ck_assert_uint_eq(resp.ptr[1], TRN_FWIO_FAIL);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_FWIO_REQUEST), 2);
	close_all(2);
}
END_TEST

START_TEST(fwio_largest_read)
{
	unsigned int i, count = (65535 - 8) / 8;
	uint64_t *addresses;

	open_all();
	addresses = calloc(count, sizeof(*addresses));
	for (i = 0; i < count; i++)
		addresses[i] = rig_map->dev(MR(TRN_MISC_SERIAL_LOW));
	request_fill(9, TRN_FWIO_READ, addresses, (uint16_t)(count * 8));
	request_ring();
	ck_assert(answered(9));
	ck_assert_uint_eq(resp.ptr[1], TRN_FWIO_OK);
	ck_assert_uint_eq(response_size(), 4 + 4 * count);
	free(addresses);
	close_all(0);
}
END_TEST

START_TEST(fwio_unknown_command)
{
	open_all();
	request_fill(5, 77, NULL, 0);
	request_ring();
	ck_assert(answered(5));
	ck_assert_uint_eq(resp.ptr[1], TRN_FWIO_UNKNOWN);
	close_all(0);
}
END_TEST

START_TEST(fwio_bad_crc_is_ignored)
{
	open_all();
	request_fill(6, TRN_FWIO_POST, "abc", 3);
	req.ptr[9] ^= 1;
	request_ring();
	ck_assert(!answered(6));
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_FWIO_REQUEST), 1);
	close_all(1);
}
END_TEST

START_TEST(fwio_bad_sizes)
{
	open_all();
	request_fill(6, TRN_FWIO_POST, "abc", 3);
	req.ptr[2] = 7;
	request_ring();
	ck_assert(!answered(6));
	request_fill(0, TRN_FWIO_POST, "abc", 3);
	resp.ptr[0] = 0xee;
	request_ring();
	ck_assert(answered(0xee));
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_FWIO_REQUEST), 2);
	close_all(2);
}
END_TEST

START_TEST(fwio_bad_addresses)
{
	open_all();
	request_fill(6, TRN_FWIO_POST, "abc", 3);
	rig_write(&rig, MR(TRN_MISC_TRIGGER), 1); /* bases are 0: nothing to do */
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_NONE), 0);
	req.dev += 1ull << 40;
	request_ring();
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_FWIO_REQUEST), 1);
	req.dev -= 1ull << 40;
	resp.dev += 1ull << 40;
	request_ring();
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_complaints(&rig, EMU_COMPLAINT_FWIO_REQUEST), 2);
	close_all(2);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		power_up_values,
		plain_words_are_storage,
		firmware_words_are_read_only,
		power_samples_advance,
		device_reset_handshake,
		reset_clears_semaphores_and_keeps_pod_words,
		tpb_reset_is_confined_to_its_map,
		probe_trace,
		crc_check_value,
		fwio_post,
		fwio_read,
		fwio_read_of_no_register,
		fwio_largest_read,
		fwio_unknown_command,
		fwio_bad_crc_is_ignored,
		fwio_bad_sizes,
		fwio_bad_addresses,
	};

	return RIG_MAIN("emu_firmware", tests);
}
