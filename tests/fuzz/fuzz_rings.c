// SPDX-License-Identifier: BSD-2-Clause
/*
 * Descriptor rings: several queues in host memory and HBM, filled with descriptors that are mostly
 * right, doorbells in any order, descriptors that ring doorbells.
 *
 * What moves is small, so that an input ends by itself; only then is the sum of what was moved
 * compared with what the heads say.
 */
#include <string.h>
#include "fuzz.h"
#include "tests/emulator/emu.h"
#include "tests/unit/emu_rig_map.h"
#include "trainium/desc.h"
#include "trainium/map.h"
#include "trainium/regs.h"

#define QUEUES	  4
#define STEPS_MAX 128
#define END_MS	  50u
#define RING_HBM  0x2000000u

/** struct queue - a pair of rings of an input. */
struct queue {
	unsigned int engine, number;
	uint32_t length[2], filled[2];
	struct trn_desc *ring[2];
	uint64_t base[2];
};

/* Rings of 32 to 256 descriptors; each queue has its place in host memory and in HBM. */
static void queue_open(struct fuzz_device *device, struct fuzz_input *in, struct queue *q,
		       unsigned int index)
{
	uint8_t where = fuzz_u8(in);
	unsigned int dir;

	q->engine = fuzz_u8(in) % device->map->engines;
	q->number = fuzz_u8(in) % TRN_UDMA_QUEUES;
	for (dir = 0; dir < 2; dir++) {
		uint32_t at = (index * 2 + dir) * 0x1000;

		q->length[dir] = 32u << (where >> (2 * dir) & 3);
		q->filled[dir] = 0;
		if (where & 0x10u << dir) {
			q->base[dir] = device->map->hbm_base(0) + RING_HBM + at;
			q->ring[dir] = fuzz_hbm(device, q->base[dir], 0x1000);
		} else {
			q->base[dir] = device->map->host_base | (FUZZ_HOST_BUS + at);
			q->ring[dir] = (struct trn_desc *)(device->host + at);
		}
		fuzz_queue_set(device, q->engine, dir, q->number, q->base[dir], q->length[dir]);
	}
}

static uint32_t length(struct fuzz_input *in)
{
	uint8_t kind = fuzz_u8(in);

	if (kind < 0x80)
		return kind & 0x40 ? 4 : 64;
	return kind < 0xf0 ? kind & 0x7f : fuzz_u16(in);
}

/* A pair, or one of two: FIRST and LAST, reserved bits and lengths go wrong now and then. */
static void descriptor(const struct fuzz_device *device, struct fuzz_input *in, struct queue *q)
{
	uint8_t what = fuzz_u8(in), twist = fuzz_u8(in);
	uint32_t len = length(in);
	unsigned int dir;

	for (dir = 0; dir < 2; dir++) {
		struct trn_desc *desc = &q->ring[dir][q->filled[dir] % q->length[dir]];

		if (what & 1u << dir)
			continue;
		desc->ctrl = (len & TRN_DESC_LEN_MASK) | TRN_RING_FIRST_ID
								 << TRN_DESC_RING_ID_SHIFT;
		if (!dir)
			desc->ctrl |= (what & 4 ? 0 : TRN_DESC_FIRST) |
				      (what & 8 ? 0 : TRN_DESC_LAST) |
				      (what & 16 ? TRN_DESC_INT : 0);
		desc->meta = dir ? 0 : what & 32 ? TRN_META_BARRIER : TRN_META_PLAIN;
		desc->addr = fuzz_address(device, in);
		if (twist >= 0xf0 && (twist & 1) == dir)
			desc->ctrl ^= 1u << (fuzz_u8(in) & 31);
		if (twist == 0xef)
			desc->meta ^= 1u << (fuzz_u8(in) & 31);
		q->filled[dir]++;
	}
}

static void doorbell(struct fuzz_device *device, struct fuzz_input *in, const struct queue *q)
{
	uint8_t counts = fuzz_u8(in);
	uint32_t at = fuzz_udma(device, q->engine) + TRN_UDMA_QUEUE(q->number) + TRN_Q_TAIL_INC;

	if (counts == 0xff) {
		fuzz_write(device, at + (fuzz_u8(in) & 1 ? TRN_UDMA_S2M : 0), fuzz_u16(in) & 0x1ff);
		return;
	}
	if (counts & 15)
		fuzz_write(device, at + TRN_UDMA_S2M, counts & 15);
	if (counts >> 4)
		fuzz_write(device, at, counts >> 4);
}

/* Registers that change what the worker is doing. */
static void disturb(struct fuzz_device *device, struct fuzz_input *in, const struct queue *q)
{
	static const uint16_t half_reg[] = { TRN_M2S_CHANGE_STATE, TRN_M2S_PKT_LEN_CFG,
					     TRN_M2S_PREFETCH_CFG2 };
	uint8_t what = fuzz_u8(in);
	uint32_t half = fuzz_udma(device, q->engine) + (what & 0x80 ? TRN_UDMA_S2M : 0);
	uint32_t queue = half + TRN_UDMA_QUEUE(q->number);

	switch (what % 8) {
	case 0:
		fuzz_write(device, queue + (what & 0x80 ? TRN_Q_S2M_SW_CTRL : TRN_Q_M2S_SW_CTRL),
			   TRN_Q_SW_CTRL_RESET);
		break;
	case 1:
		fuzz_write(device, queue + TRN_Q_CFG, fuzz_u32(in));
		break;
	case 2:
		fuzz_write(device, queue + TRN_Q_LENGTH, fuzz_u16(in) & 0x1ff);
		break;
	case 3:
		fuzz_write(device, queue + TRN_Q_BASE_LOW, (uint32_t)fuzz_address(device, in));
		break;
	case 4:
		fuzz_write(device, half + half_reg[(what >> 3) % FUZZ_COUNT(half_reg)],
			   fuzz_u32(in));
		break;
	case 5: /* which errors end in an abort */
		fuzz_write(device,
			   fuzz_udma(device, q->engine) + TRN_UDMA_GEN + TRN_GEN_IOFIC_SECONDARY_A +
				   (what & 0x40) + TRN_IOFIC_ABORT_MASK,
			   fuzz_u32(in));
		break;
	case 6:
		fuzz_read(device, queue + (what & 8 ? TRN_Q_HEAD : TRN_Q_TAIL));
		break;
	default:
		emu_device_quiesce(device->dev, END_MS);
		break;
	}
}

/* All is posted and nothing runs: a head is never past its tail. */
static void check_pointers(struct fuzz_device *device, const struct queue *q)
{
	unsigned int dir;

	for (dir = 0; dir < 2; dir++) {
		uint32_t at = fuzz_udma(device, q->engine) + (dir ? TRN_UDMA_S2M : 0) +
			      TRN_UDMA_QUEUE(q->number);
		uint32_t len = fuzz_read(device, at + TRN_Q_LENGTH);
		uint32_t head = fuzz_read(device, at + TRN_Q_HEAD);
		uint32_t tail = fuzz_read(device, at + TRN_Q_TAIL);

		FUZZ_CHECK((head & TRN_Q_INDEX_MASK) < (len ? len : 1) &&
				   (tail & TRN_Q_INDEX_MASK) < (len ? len : 1),
			   "engine %u queue %u direction %u: head %x, tail %x, ring of %u",
			   q->engine, q->number, dir, head, tail, len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device *device = fuzz_device_begin(data, size);
	struct fuzz_input in = { data, size };
	struct queue queue[QUEUES];
	unsigned int i, steps;
	uint8_t op;

	for (i = 0; i < QUEUES; i++)
		queue_open(device, &in, &queue[i], i);
	for (steps = 0; in.left && steps < STEPS_MAX; steps++) {
		op = fuzz_u8(&in);
		switch (op & 7) {
		case 0:
		case 1:
		case 2:
		case 3:
			descriptor(device, &in, &queue[op >> 3 & 3]);
			break;
		case 4:
		case 5:
			doorbell(device, &in, &queue[op >> 3 & 3]);
			break;
		case 6:
			disturb(device, &in, &queue[op >> 3 & 3]);
			break;
		default:
			fuzz_bytes(&in, device->host + 0x8000 + (op >> 3) * 256, 32);
			break;
		}
	}
	if (!emu_device_quiesce(device->dev, END_MS))
		for (i = 0; i < QUEUES; i++)
			check_pointers(device, &queue[i]);
	fuzz_device_end(device, 0);
	return 0;
}
