// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Device address decode: links, host window, HBM stacks, plain memory, ranges of BAR0 with SBUF
 * among them.
 */
#include "device.h"

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool decode_hbm(struct emu_device *device, uint64_t addr, uint64_t len,
		       struct emu_target *target)
{
	unsigned int h;

	for (h = 0; h < device->product->stacks; h++) {
		uint64_t offset = addr - device->product->hbm_base[h];

		if (offset >= device->hbm_bytes)
			continue;
		target->kind = EMU_TARGET_MEMORY;
		target->ptr = device->hbm + h * device->hbm_stride + offset;
		target->len = min_u64(len, device->hbm_bytes - offset);
		return true;
	}
	return false;
}

static bool decode_plain(struct emu_device *device, uint64_t addr, uint64_t len,
			 struct emu_target *target)
{
	const struct emu_plain_range *range = device->product->plain;
	uint8_t *ptr = device->plain;
	unsigned int i;

	for (i = 0; i < device->product->plain_count; ptr += range[i++].size) {
		uint64_t offset = addr - range[i].dev;

		if (offset >= range[i].size)
			continue;
		target->kind = EMU_TARGET_MEMORY;
		target->ptr = ptr + offset;
		target->len = min_u64(len, range[i].size - offset);
		return true;
	}
	return false;
}

/* A range of SBUF ends with its partition; the bytes above the physical part of a partition lead
 * nowhere. */
static void decode_sbuf(struct emu_unit *unit, uint32_t offset, uint64_t len,
			struct emu_target *target)
{
	uint32_t limit = unit->device->product->sbuf_partition_bytes;
	uint32_t inside = offset % TRN_SBUF_PARTITION_STRIDE;

	if (inside >= limit)
		return;
	len = min_u64(len, limit - inside);
	target->ptr = emu_core_sbuf(unit->core, offset / TRN_SBUF_PARTITION_STRIDE, inside,
				    (uint32_t)len);
	if (!target->ptr)
		return;
	target->kind = EMU_TARGET_MEMORY;
	target->len = len;
}

static void decode_bar0(struct emu_device *device, uint64_t bar0, uint64_t len,
			struct emu_target *target)
{
	struct emu_block *block = emu_block_find(device, bar0);
	uint32_t offset;

	if (!block)
		return;
	offset = (uint32_t)(bar0 - block->base);
	len = min_u64(len, block->size - offset);
	if (block->kind == EMU_BLOCK_TPB) {
		if (offset < TRN_TPB_SBUF_SIZE) {
			decode_sbuf(&device->unit[block->index], offset, len, target);
			return;
		}
		/* PSUM is reachable by the engines of the core and by debug reads alone. */
		if (offset < TRN_TPB_PSUM + TRN_TPB_PSUM_SIZE)
			return;
	}
	target->kind = EMU_TARGET_REGISTER;
	target->addr = bar0;
	target->len = len;
}

static bool decode_link(struct emu_device *device, uint64_t addr, uint64_t len,
			struct emu_target *target)
{
	unsigned int l;

	for (l = 0; l < device->links.windows; l++) {
		const struct emu_link_route *route = &device->product->links[l];
		uint64_t size = route->mask & (0 - route->mask);

		if ((addr & route->mask) != route->base)
			continue;
		target->kind = EMU_TARGET_LINK;
		target->link = l;
		target->addr = addr & ~route->mask;
		target->len = min_u64(len, size - (addr & (size - 1)));
		return true;
	}
	return false;
}

void emu_decode(struct emu_device *device, uint64_t addr, uint64_t len, struct emu_target *target)
{
	const struct emu_product *product = device->product;
	unsigned int i;

	target->kind = EMU_TARGET_NONE;
	target->device = device;
	target->link = 0;
	target->ptr = NULL;
	target->addr = 0;
	target->len = 0;
	if (!len)
		return;
	if ((addr & product->link_bits) && decode_link(device, addr, len, target))
		return;
	if ((addr & product->host_mask) == product->host_base) {
		uint64_t offset = addr - product->host_base;

		/* Bits above the mask are not decoded by the route, so they must be 0. */
		if (offset >= product->host_size)
			return;
		target->kind = EMU_TARGET_HOST;
		target->addr = offset;
		target->len = min_u64(len, product->host_size - offset);
		return;
	}
	if (decode_hbm(device, addr, len, target) || decode_plain(device, addr, len, target))
		return;
	for (i = 0; i < product->window_count; i++) {
		uint64_t offset = addr - product->windows[i].dev;

		if (offset >= product->windows[i].size)
			continue;
		decode_bar0(device, product->windows[i].bar0 + offset,
			    min_u64(len, product->windows[i].size - offset), target);
		return;
	}
}
