// SPDX-License-Identifier: BSD-2-Clause
/*
 * The device that targets share: memory it may reach between memory it may not, reset between
 * inputs, and the promises that hold after any input.
 *
 * One thread drives it. Interrupts come from the model's threads and are only counted.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "fuzz.h"
#include "tests/emulator/emu.h"
#include "tests/emulator/inproc.h"
#include "tests/unit/emu_rig_map.h"
#include "trainium/desc.h"
#include "trainium/ext.h"
#include "trainium/map.h"
#include "trainium/regs.h"

#define PAGE	     4096u
#define CANARY	     0xc3
#define PRODUCTS_MAX 8u
#define RESET_MS     20000u
#define CHECK_QUEUE  15u
#define CHECK_LENGTH 32u
#define CHECK_BYTES  1024u

static struct fuzz_device shared[PRODUCTS_MAX][2]; /* [1]: in time mode */
static uint8_t *arena; /* no access, canary, host, canary, rom, canary, no access */

#define ARENA_BYTES  (FUZZ_HOST_BYTES + FUZZ_ROM_BYTES + 5 * PAGE)
#define ARENA_HOST   (2 * PAGE)
#define ARENA_MIDDLE (ARENA_HOST + FUZZ_HOST_BYTES)
#define ARENA_ROM    (ARENA_MIDDLE + PAGE)
#define ARENA_LAST   (ARENA_ROM + FUZZ_ROM_BYTES)

static void on_interrupt(void *arg, unsigned int vector)
{
	const struct fuzz_device *device = arg;
	unsigned int vectors = emu_device_vectors(device->dev);

	FUZZ_CHECK(vector < vectors, "interrupt on vector %u, there are %u", vector, vectors);
}

static void map(struct fuzz_device *device, uint8_t *ptr, size_t size, bool writable,
		uint64_t expected)
{
	uint64_t bus = 0;

	FUZZ_CHECK(!emu_inproc_map(device->inproc, ptr, size, writable, &bus) && bus == expected,
		   "memory was mapped at 0x%llx, inputs expect 0x%llx", (unsigned long long)bus,
		   (unsigned long long)expected);
}

/* Memory between memory the device may not reach; all products use the same. */
static void arena_open(void)
{
	arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FUZZ_CHECK(arena != MAP_FAILED, "no memory");
	memset(arena, CANARY, ARENA_BYTES);
	FUZZ_CHECK(!mprotect(arena, PAGE, PROT_NONE) &&
			   !mprotect(arena + ARENA_BYTES - PAGE, PAGE, PROT_NONE),
		   "no guard pages");
}

static void open_device(struct fuzz_device *device, const struct rig_map *product, bool timed)
{
	const struct emu_config config = { .size = sizeof(config),
					   .arch = product->arch,
					   .time_mode = timed,
					   .hbm_bytes = FUZZ_HBM_BYTES };
	char error[256] = "";

	FUZZ_CHECK(!emu_inproc_create(&config, &device->inproc, error, sizeof(error)), "%s", error);
	device->dev = emu_inproc_device(device->inproc);
	device->hbm = emu_device_hbm(device->dev, &device->hbm_size);
	device->map = product;
	emu_inproc_interrupt_handler(device->inproc, on_interrupt, device);
	device->host = arena + ARENA_HOST;
	device->rom = arena + ARENA_ROM;
	map(device, device->host, FUZZ_HOST_BYTES, true, FUZZ_HOST_BUS);
	map(device, device->rom, FUZZ_ROM_BYTES, false, FUZZ_ROM_BUS);
}

struct fuzz_device *fuzz_device_begin(const uint8_t *data, size_t size)
{
	unsigned int products, index = 0;
	struct fuzz_device *device;
	bool timed = false;

	for (products = 0; products < PRODUCTS_MAX && rig_map_at(products); products++)
		;
	if (size) {
		index = data[size - 1] % products;
		timed = data[size - 1] / products % 4 == 3;
	}
	device = &shared[index][timed];
	if (!arena)
		arena_open();
	if (!device->dev)
		open_device(device, rig_map_at(index), timed);
	memset(device->host, 0, FUZZ_HOST_BYTES);
	FUZZ_CHECK(!madvise(device->hbm, device->hbm_size, MADV_DONTNEED), "HBM is not cleared");
	return device;
}

void fuzz_rom_restore(struct fuzz_device *device)
{
	memset(device->rom, CANARY, FUZZ_ROM_BYTES);
}

void *fuzz_hbm(struct fuzz_device *device, uint64_t addr, size_t size)
{
	unsigned int h;

	for (h = 0; h < device->map->stacks; h++) {
		uint64_t inside = addr - device->map->hbm_base(h);

		if (inside < FUZZ_HBM_BYTES && size <= FUZZ_HBM_BYTES - inside)
			return device->hbm + h * (device->hbm_size / device->map->stacks) + inside;
	}
	return NULL;
}

void fuzz_write(struct fuzz_device *device, uint64_t offset, uint32_t value)
{
	emu_device_write(device->dev, 0, offset, value, 4);
}

uint32_t fuzz_read(struct fuzz_device *device, uint64_t offset)
{
	return emu_device_read(device->dev, 0, offset, 4);
}

uint32_t fuzz_udma(const struct fuzz_device *device, unsigned int id)
{
	return device->map->udma(id % device->map->engines);
}

void fuzz_queue_set(struct fuzz_device *device, unsigned int engine, unsigned int dir,
		    unsigned int queue, uint64_t ring, uint32_t length)
{
	uint32_t half = fuzz_udma(device, engine) + (dir ? TRN_UDMA_S2M : TRN_UDMA_M2S) +
			TRN_UDMA_QUEUE(queue % TRN_UDMA_QUEUES);

	fuzz_write(device, half + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE);
	fuzz_write(device, half + (dir ? TRN_Q_S2M_SW_CTRL : TRN_Q_M2S_SW_CTRL),
		   TRN_Q_SW_CTRL_RESET);
	fuzz_write(device, half + TRN_Q_BASE_LOW, (uint32_t)ring);
	fuzz_write(device, half + TRN_Q_BASE_HIGH, (uint32_t)(ring >> 32));
	fuzz_write(device, half + TRN_Q_LENGTH, length);
	fuzz_write(device, half + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE);
}

uint64_t fuzz_address(const struct fuzz_device *device, struct fuzz_input *in)
{
	const struct rig_map *map = device->map;
	uint8_t kind = fuzz_u8(in);
	unsigned int stack, core;
	uint32_t value;

	if (kind >= 0xf0)
		return fuzz_u64(in);
	value = fuzz_u32(in);
	stack = (unsigned int)((uint64_t)value * map->stacks >> 32);
	core = (unsigned int)((uint64_t)value * map->cores >> 32);
	if (kind >= 0xe8) /* routes to neighbours, or nowhere */
		return (uint64_t)(value >> 22) << 44 | (value & 0x3fffff);
	switch (kind % 8) {
	case 0:
		return map->hbm_base(stack) + (value & (FUZZ_HBM_BYTES - 1));
	case 1: /* the end of a stack */
		return map->hbm_base(stack) + FUZZ_HBM_BYTES - (value & 0x1ffff);
	case 2: /* SBUF and registers of a core */
		return map->dev(map->tpb(core)) + (value & 0x3ffffff);
	case 3: /* a doorbell; DMA writes words */
		return map->dev(fuzz_udma(device, value & 0xff)) +
		       (value & 0x100 ? TRN_UDMA_S2M : TRN_UDMA_M2S) +
		       TRN_UDMA_QUEUE(value >> 9 & 15) + TRN_Q_TAIL_INC;
	case 4: /* any register */
		return map->dev(value & (map->bar0_size - 4));
	case 5: /* around the memory that may only be read */
		return map->host_base | (FUZZ_ROM_BUS - PAGE + (value & 0x3fff));
	case 6: /* semaphores */
		return map->dev(map->tpb(core)) + TRN_TPB_SEM_READ + (value & 0xffc);
	default:
		return map->host_base | (FUZZ_HOST_BUS + (value & (FUZZ_HOST_BYTES - 1)));
	}
}

static void check_canary(const char *where, const uint8_t *from, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		FUZZ_CHECK(from[i] == CANARY, "byte %zu of the memory %s was overwritten with %02x",
			   i, where, from[i]);
}

static void check_memory(void)
{
	check_canary("before the buffer", arena + PAGE, PAGE);
	check_canary("behind the buffer", arena + ARENA_MIDDLE, PAGE);
	check_canary("that may only be read", arena + ARENA_ROM, FUZZ_ROM_BYTES);
	check_canary("behind that", arena + ARENA_LAST, PAGE);
}

/* Host to HBM and back, by one queue of a host copy engine. */
static void check_copy(struct fuzz_device *device)
{
	const uint64_t m2s = device->map->host_base | FUZZ_HOST_BUS, s2m = m2s + 1024;
	const uint64_t src = m2s + 4096, dst = src + CHECK_BYTES, hbm = TRN_HBM_FW_RESERVED;
	struct trn_desc *ring[2] = { (struct trn_desc *)device->host,
				     (struct trn_desc *)(device->host + 1024) };
	unsigned int engine = device->map->cores * TRN_ENGINES_PER_CORE;
	uint32_t queue = device->map->udma(engine) + TRN_UDMA_QUEUE(CHECK_QUEUE);
	const uint32_t ctrl = CHECK_BYTES | TRN_RING_FIRST_ID << TRN_DESC_RING_ID_SHIFT;
	unsigned int i, dir;

	memset(device->host, 0, 2048);
	for (i = 0; i < 2; i++) {
		ring[0][i] = (struct trn_desc){ ctrl | TRN_DESC_FIRST | TRN_DESC_LAST,
						TRN_META_PLAIN, i ? hbm : src };
		ring[1][i] = (struct trn_desc){ ctrl, 0, i ? dst : hbm };
	}
	for (i = 0; i < CHECK_BYTES; i++) {
		device->host[4096 + i] = (uint8_t)(i * 7 + 1);
		device->host[4096 + CHECK_BYTES + i] = 0;
	}
	for (dir = 0; dir < 2; dir++)
		fuzz_queue_set(device, engine, dir, CHECK_QUEUE, dir ? s2m : m2s, CHECK_LENGTH);
	fuzz_write(device, queue + TRN_UDMA_S2M + TRN_Q_TAIL_INC, 2);
	fuzz_write(device, queue + TRN_UDMA_M2S + TRN_Q_TAIL_INC, 2);
	FUZZ_CHECK(!emu_device_quiesce(device->dev, RESET_MS), "a copy after a reset never ends");
	FUZZ_CHECK(!memcmp(device->host + 4096, device->host + 4096 + CHECK_BYTES, CHECK_BYTES),
		   "a copy after a reset arrives damaged");
	for (dir = 0; dir < 2; dir++) {
		fuzz_queue_set(device, engine, dir, CHECK_QUEUE, 0, 0);
		fuzz_write(device, queue + (dir ? TRN_UDMA_S2M : TRN_UDMA_M2S) + TRN_Q_CFG,
			   TRN_Q_CFG_RESET_VALUE);
	}
}

static void faults_off(struct fuzz_device *device)
{
	const char *name, *help;
	unsigned int i;

	for (i = 0; (name = emu_fault_name(i, &help)); i++)
		emu_device_fault_set(device->dev, name, 0);
}

void fuzz_device_end(struct fuzz_device *device, unsigned int timeout_ms)
{
	uint64_t complaints;

	if (timeout_ms)
		emu_device_quiesce(device->dev, timeout_ms);
	faults_off(device);
	emu_device_bus_master(device->dev, true);
	emu_device_reset(device->dev);
	FUZZ_CHECK(!emu_device_quiesce(device->dev, RESET_MS), "not idle after a reset");
	check_memory();
	complaints = emu_device_complaints(device->dev, EMU_COMPLAINT_NONE);
	check_copy(device);
	FUZZ_CHECK(emu_device_complaints(device->dev, EMU_COMPLAINT_NONE) == complaints,
		   "a copy after a reset is complained about");
	check_memory();
}
