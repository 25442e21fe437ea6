// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * BAR0: blocks, their plain registers, dispatch of word accesses.
 *
 * Plain registers are atomics without a lock; what has meaning is handled by the part that owns it.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "device.h"

#define NOTIFIC_SIZE 0x1000u

static bool has_store(enum emu_block_kind kind)
{
	return kind == EMU_BLOCK_UDMA || kind == EMU_BLOCK_SDMA || kind == EMU_BLOCK_FIS ||
	       kind == EMU_BLOCK_MISC;
}

static int block_compare(const void *a, const void *b)
{
	const struct emu_block *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

static size_t store_bytes(const struct emu_product *product)
{
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < product->family_count; i++)
		if (has_store(product->families[i].kind))
			sum += (size_t)product->families[i].count * product->families[i].size;
	return sum;
}

static void family_expand(struct emu_device *device, const struct emu_block_family *family,
			  size_t *used)
{
	unsigned int i;

	for (i = 0; i < family->count; i++) {
		struct emu_block *block = &device->block[device->block_count++];

		block->base = family->bar0 + i * family->stride;
		block->size = family->size;
		block->kind = family->kind;
		block->index = family->first + i;
		if (!has_store(family->kind))
			continue;
		block->store = (_Atomic uint32_t *)((char *)device->store + *used);
		*used += family->size;
	}
}

int emu_blocks_create(struct emu_device *device)
{
	const struct emu_product *product = device->product;
	unsigned int i, count = 0;
	size_t used = 0;

	for (i = 0; i < product->family_count; i++)
		count += product->families[i].count;
	device->block = calloc(count, sizeof(*device->block));
	if (!device->block)
		return -ENOMEM;
	device->store_size = store_bytes(product);
	device->store = mmap(NULL, device->store_size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (device->store == MAP_FAILED) {
		device->store = NULL;
		return -ENOMEM;
	}
	for (i = 0; i < product->family_count; i++)
		family_expand(device, &product->families[i], &used);
	qsort(device->block, device->block_count, sizeof(*device->block), block_compare);
	for (i = 0; i < device->block_count; i++) {
		struct emu_block *block = &device->block[i];

		if (block->kind == EMU_BLOCK_MISC)
			device->misc = block;
	}
	return 0;
}

void emu_blocks_destroy(struct emu_device *device)
{
	if (device->store)
		munmap(device->store, device->store_size);
	free(device->block);
}

struct emu_block *emu_block_find(struct emu_device *device, uint64_t offset)
{
	unsigned int low = 0, high = device->block_count;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		struct emu_block *block = &device->block[middle];

		if (offset < block->base)
			high = middle;
		else if (offset - block->base >= block->size)
			low = middle + 1;
		else
			return block;
	}
	return NULL;
}

uint32_t emu_store_read(const struct emu_block *block, uint32_t offset)
{
	return atomic_load_explicit(&block->store[offset / 4], memory_order_relaxed);
}

void emu_store_write(struct emu_block *block, uint32_t offset, uint32_t value)
{
	atomic_store_explicit(&block->store[offset / 4], value, memory_order_relaxed);
}

/* Registers of the SDMA wrapper that are written down. */
static bool sdma_register_known(uint32_t offset)
{
	switch (offset) {
	case TRN_SDMA_EVENT_ACCEL:
	case TRN_SDMA_READ_REORDER:
	case TRN_SDMA_WRITE_REORDER:
	case TRN_SDMA_BCAST_GROUP:
	case TRN_SDMA_BCAST_LAST:
	case TRN_SDMA_TX_BEATS:
		return true;
	}
	return false;
}

static void sdma_check(struct emu_device *device, const struct emu_block *block, uint32_t offset)
{
	if (!sdma_register_known(offset))
		emu_complain(device, EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "SDMA wrapper of engine %u has no register 0x%x", block->index,
			     offset);
}

/* The notification block of an engine takes rings, for traces of DMA; nothing produces entries. */
static bool sdma_notific(uint32_t offset)
{
	return offset >= TRN_SDMA_NOTIFIC && offset < TRN_SDMA_NOTIFIC + NOTIFIC_SIZE;
}

static uint32_t sdma_read(struct emu_device *device, const struct emu_block *block, uint32_t offset)
{
	if (sdma_notific(offset))
		return emu_notific_read(device, &device->engine[block->index].notific,
					offset - TRN_SDMA_NOTIFIC);
	sdma_check(device, block, offset);
	return emu_store_read(block, offset);
}

static void sdma_write(struct emu_device *device, struct emu_block *block, uint32_t offset,
		       uint32_t value)
{
	if (sdma_notific(offset)) {
		emu_notific_write(device, &device->engine[block->index].notific,
				  offset - TRN_SDMA_NOTIFIC, value);
		return;
	}
	sdma_check(device, block, offset);
	emu_store_write(block, offset, value);
}

static void unknown(struct emu_device *device, uint64_t offset, const char *what)
{
	emu_complain(device, EMU_COMPLAINT_UNKNOWN_REGISTER, "%s of BAR0 0x%llx: nothing is there",
		     what, (unsigned long long)offset);
}

/* Memory of a core behind its window, which takes accesses of any size inside a word. */
static struct emu_unit *window_unit(struct emu_device *device, uint64_t offset, unsigned int size,
				    uint32_t *inside)
{
	struct emu_block *block = emu_block_find(device, offset);

	if (!block || block->kind != EMU_BLOCK_TPB || (offset & 3) + size > 4)
		return NULL;
	*inside = (uint32_t)(offset - block->base);
	return emu_tpb_is_memory(*inside) ? &device->unit[block->index] : NULL;
}

bool emu_register_part_read(struct emu_device *device, uint64_t offset, unsigned int size,
			    uint32_t *value)
{
	struct emu_unit *unit;
	uint32_t inside;

	unit = window_unit(device, offset, size, &inside);
	if (!unit)
		return false;
	*value = emu_tpb_read(unit, inside & ~3u) >> 8 * (inside & 3);
	*value &= 0xffffffffu >> (32 - 8 * size);
	return true;
}

bool emu_register_part_write(struct emu_device *device, uint64_t offset, unsigned int size,
			     uint32_t value)
{
	struct emu_unit *unit;
	uint32_t inside;

	unit = window_unit(device, offset, size, &inside);
	if (!unit)
		return false;
	emu_tpb_part_write(unit, inside, size, value);
	return true;
}

uint32_t emu_register_read(struct emu_device *device, uint64_t offset)
{
	struct emu_block *block = emu_block_find(device, offset);
	uint32_t reg;

	if (!block) {
		unknown(device, offset, "read");
		return 0;
	}
	reg = (uint32_t)(offset - block->base);
	switch (block->kind) {
	case EMU_BLOCK_TPB:
		return emu_tpb_read(&device->unit[block->index], reg);
	case EMU_BLOCK_TOP_SP:
		return emu_top_sp_read(device, block->index, reg);
	case EMU_BLOCK_UDMA:
		return emu_udma_read(&device->engine[block->index], reg);
	case EMU_BLOCK_SDMA:
		return sdma_read(device, block, reg);
	case EMU_BLOCK_NC_NOTIFIC:
		return emu_notific_read(device, &device->unit[block->index].notific, reg);
	case EMU_BLOCK_TOP_SP_NOTIFIC:
		return emu_notific_read(device, &device->top_sp_notific[block->index], reg);
	case EMU_BLOCK_PE_COUNTERS:
		return emu_pe_counter_read(&device->unit[block->index], reg);
	case EMU_BLOCK_FIS:
		return emu_fis_read(device, block, reg);
	case EMU_BLOCK_MISC:
		return emu_misc_read(device, reg);
	}
	return 0;
}

void emu_register_write(struct emu_device *device, uint64_t offset, uint32_t value,
			struct emu_origin origin)
{
	struct emu_block *block = emu_block_find(device, offset);
	uint32_t reg;

	if (!block) {
		unknown(device, offset, "write");
		return;
	}
	reg = (uint32_t)(offset - block->base);
	switch (block->kind) {
	case EMU_BLOCK_TPB:
		emu_tpb_write(&device->unit[block->index], reg, value);
		break;
	case EMU_BLOCK_TOP_SP:
		emu_top_sp_write(device, block->index, reg, value);
		break;
	case EMU_BLOCK_UDMA:
		emu_udma_write(&device->engine[block->index], reg, value, origin);
		break;
	case EMU_BLOCK_SDMA:
		sdma_write(device, block, reg, value);
		break;
	case EMU_BLOCK_NC_NOTIFIC:
		emu_notific_write(device, &device->unit[block->index].notific, reg, value);
		break;
	case EMU_BLOCK_TOP_SP_NOTIFIC:
		emu_notific_write(device, &device->top_sp_notific[block->index], reg, value);
		break;
	case EMU_BLOCK_PE_COUNTERS:
		emu_complain(device, EMU_COMPLAINT_READ_ONLY,
			     "activity counter 0x%x of core %u is read-only", reg, block->index);
		break;
	case EMU_BLOCK_FIS:
		emu_fis_write(device, block, reg, value);
		break;
	case EMU_BLOCK_MISC:
		emu_misc_write(device, reg, value);
		break;
	}
}
