// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sequences of register accesses on a whole device: any word of BAR0 and BAR2, accesses of wrong
 * size, rings with noise in them, doorbells, requests to the firmware, resets, faults on demand.
 */
#include <errno.h>
#include "fuzz.h"
#include "tests/emulator/emu.h"
#include "tests/unit/emu_rig_map.h"
#include "trainium/ext.h"
#include "trainium/isa.h"
#include "trainium/map.h"
#include "trainium/regs.h"

#define STEPS_MAX  200
#define RESETS_MAX 2
#define WAIT_MS	   5u
#define END_MS	   20u

/* Blocks of BAR0 an access is aimed at. */
static uint32_t block(const struct fuzz_device *device, uint8_t which, uint8_t index,
		      uint32_t *size)
{
	const struct rig_map *map = device->map;

	*size = 0x1000;
	switch (which % 10) {
	case 0:
		*size = TRN_UDMA_SIZE;
		return fuzz_udma(device, index);
	case 1:
		return fuzz_udma(device, index) + TRN_UDMA_QUEUE(index >> 6);
	case 2:
		return fuzz_udma(device, index) + TRN_UDMA_S2M + TRN_UDMA_QUEUE(index >> 6);
	case 3:
		*size = 0x8000;
		return fuzz_udma(device, index) + TRN_UDMA_GEN;
	case 4:
		*size = 0x100000;
		return map->tpb(index % map->cores) + TRN_TPB_EVENTS;
	case 5:
		*size = 0x100;
		return map->tpb(index % map->cores) + TRN_TPB_CORE;
	case 6:
		return map->tpb(index % map->cores) + TRN_TPB_ENGINE(index / 2 % 8);
	case 7:
		return index & 1 ? map->top_sp_notific(index / 2 % map->top_sps)
				 : map->nc_notific(index / 2 % map->cores);
	case 8:
		return map->misc;
	default:
		*size = TRN_V2_TOP_SP_SIZE;
		return map->top_sp(index % map->top_sps);
	}
}

static uint64_t target(const struct fuzz_device *device, struct fuzz_input *in)
{
	uint8_t which = fuzz_u8(in);
	uint32_t size, base = block(device, which, fuzz_u8(in), &size);

	if (which >= 0xf0)
		return fuzz_u32(in) & (device->map->bar0_size - 4);
	return base + fuzz_u32(in) % size / 4 * 4;
}

/* A queue with both rings and a doorbell: most inputs would not get that far word by word. */
static void queue(struct fuzz_device *device, struct fuzz_input *in)
{
	uint8_t engine = fuzz_u8(in), number = fuzz_u8(in), count = fuzz_u8(in);
	uint32_t half = fuzz_udma(device, engine) + TRN_UDMA_QUEUE(number % TRN_UDMA_QUEUES);

	fuzz_queue_set(device, engine, 0, number, fuzz_address(device, in),
		       32u << (number >> 4 & 3));
	fuzz_queue_set(device, engine, 1, number, fuzz_address(device, in), 32u << (number >> 6));
	fuzz_write(device, half + TRN_UDMA_S2M + TRN_Q_TAIL_INC, count & 15);
	fuzz_write(device, half + TRN_UDMA_M2S + TRN_Q_TAIL_INC, count >> 4);
}

/* By name, so that inputs keep their meaning when faults are added. Delays are given one ms. */
static void fault(struct fuzz_device *device, struct fuzz_input *in)
{
	static const char *const small[] = {
		"irq-lost",
		"irq-spurious",
		"completion-late",
		"completion-missing",
		"completion-double",
		"fw-silent",
		"fw-crc",
		"fw-lying",
		"reset-slow",
		"reset-fail",
		"reset-twice",
		"regs-all-ones",
		"engine-hang",
		"ecc-correctable",
		"ecc-uncorrectable",
		"fw-sequence",
		"notify-phase",
		"core-hang-at",
	};
	static const char *const large[] = { "removal", "core-hang", "engine-hang" };
	uint8_t which = fuzz_u8(in);
	const char *name = small[which % FUZZ_COUNT(small)];
	uint64_t value;

	if (which >= 0xe8) {
		name = which & 1 ? "ecc-correctable-at" : "ecc-uncorrectable-at";
		value = fuzz_address(device, in);
	} else if (which >= 0xd0) {
		name = large[which % FUZZ_COUNT(large)];
		value = fuzz_u8(in);
	} else {
		value = fuzz_u8(in) % 2;
	}
	FUZZ_CHECK(emu_device_fault_set(device->dev, name, value) != -ENOENT, "no fault %s", name);
}

/* The firmware: a reset of the device or of cores, or a request with whatever is in memory. */
static void firmware(struct fuzz_device *device, struct fuzz_input *in)
{
	uint8_t what = fuzz_u8(in);

	fuzz_write(device, device->map->misc + TRN_MISC_RESET_MAP, what >> 2 | (uint32_t)what << 8);
	fuzz_write(device, device->map->misc + TRN_MISC_RESET, what % 4);
	fuzz_write(device, device->map->misc + TRN_MISC_TRIGGER, 1);
}

/* Starts an engine by its debug registers on two instructions. */
static void engine(struct fuzz_device *device, struct fuzz_input *in)
{
	const uint64_t at = TRN_HBM_FW_RESERVED;
	struct trn_insn *insn = fuzz_hbm(device, at, 2 * sizeof(*insn));
	uint8_t which = fuzz_u8(in);
	uint32_t base =
		device->map->tpb((which & 1) + (which & 0x30 ? device->map->cores - 2 : 0)) +
		TRN_TPB_ENGINE(which >> 1 & 7);

	insn[0] = (struct trn_insn){ .opcode = TRN_OP_WRITE32, .engine = which >> 1 & 7 };
	if (which & 0x80)
		insn[0].opcode = fuzz_u8(in) & 0x7f;
	insn[0].write32.address = fuzz_address(device, in);
	insn[0].write32.value = fuzz_u32(in);
	insn[1] = (struct trn_insn){ .opcode = TRN_OP_HALT, .engine = which >> 1 & 7 };
	fuzz_write(device, base + TRN_ENG_BASE_LOW, (uint32_t)at);
	fuzz_write(device, base + TRN_ENG_BASE_HIGH, (uint32_t)(at >> 32));
	fuzz_write(device, base + TRN_ENG_COUNT, 2);
	fuzz_write(device, base + TRN_ENG_CONTROL, which & 0x40 ? 3 : TRN_ENG_CONTROL_START);
}

static void odd(struct fuzz_device *device, struct fuzz_input *in)
{
	uint8_t how = fuzz_u8(in);
	uint64_t offset = fuzz_u64(in);

	if (how & 1)
		emu_device_write(device->dev, how >> 1 & 7, offset, fuzz_u32(in), how >> 4);
	else
		emu_device_read(device->dev, how >> 1 & 7, offset, how >> 4);
}

static void step(struct fuzz_device *device, struct fuzz_input *in, unsigned int *resets)
{
	uint64_t offset;

	switch (fuzz_u8(in) % 20) {
	case 0:
	case 1:
	case 2:
	case 3:
		offset = target(device, in);
		fuzz_write(device, offset, fuzz_u32(in));
		break;
	case 4:
	case 5:
		fuzz_read(device, target(device, in));
		break;
	case 6:
		offset = fuzz_u16(in) & (TRN_EXT_BAR_SIZE - 4);
		emu_device_write(device->dev, TRN_EXT_BAR, offset, fuzz_u32(in), 4);
		break;
	case 7:
		offset = fuzz_u16(in) & (TRN_EXT_BAR_SIZE - 4);
		emu_device_read(device->dev, TRN_EXT_BAR, offset, 4);
		break;
	case 8:
		odd(device, in);
		break;
	case 9:
		queue(device, in);
		break;
	case 10: /* content for rings and requests */
		offset = fuzz_u16(in) % (FUZZ_HOST_BYTES - 64);
		fuzz_bytes(in, device->host + offset, 64);
		break;
	case 11:
		offset = fuzz_u32(in) & 0xffffc0;
		fuzz_bytes(in, device->hbm + offset, 64);
		break;
	case 12:
		if ((*resets)++ < RESETS_MAX)
			emu_device_reset(device->dev);
		break;
	case 13:
		emu_device_bus_master(device->dev, fuzz_u8(in) & 1);
		break;
	case 14:
		fault(device, in);
		break;
	case 15:
		firmware(device, in);
		break;
	case 16:
	case 17:
		engine(device, in);
		break;
	case 18:
		emu_device_write(device->dev, TRN_EXT_BAR, TRN_EXT_IRQ_MASK(fuzz_u8(in) % 6), 0, 4);
		break;
	default:
		emu_device_quiesce(device->dev, WAIT_MS);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device *device = fuzz_device_begin(data, size);
	struct fuzz_input in = { data, size };
	unsigned int steps, resets = 0;

	for (steps = 0; in.left && steps < STEPS_MAX; steps++)
		step(device, &in, &resets);
	fuzz_device_end(device, END_MS);
	return 0;
}
