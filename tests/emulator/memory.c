// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Access to everything a device address can name. Large transfers between memories are one memcpy
 * on direct pointers.
 *
 * Aligned 4- and 8-byte pieces are single stores with release order: they are what somebody polls
 * (markers, phase bits, semaphores), and all that was written before must be visible with them.
 */
#include <string.h>
#include "device.h"

#define SMALL  256u /* below, mapping host memory costs more than it saves */
#define BOUNCE 4096u

static void move(void *dst, const void *src, size_t len)
{
	uintptr_t both = (uintptr_t)dst | (uintptr_t)src;

	if (len == 4 && !(both & 3))
		__atomic_store_n((uint32_t *)dst,
				 __atomic_load_n((const uint32_t *)src, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	else if (len == 8 && !(both & 7))
		__atomic_store_n((uint64_t *)dst,
				 __atomic_load_n((const uint64_t *)src, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	else
		memmove(dst, src, len);
}

/* The device may reach the host. */
static bool host_reachable(struct emu_device *device)
{
	return atomic_load_explicit(&device->bus_master, memory_order_relaxed) &&
	       !emu_device_removed(device);
}

static int host_read(struct emu_device *device, uint64_t addr, void *buf, size_t len)
{
	if (!host_reachable(device))
		return -1;
	return device->ops->read(device->opaque, addr, buf, len);
}

static int host_write(struct emu_device *device, uint64_t addr, const void *buf, size_t len)
{
	if (!host_reachable(device))
		return -1;
	return device->ops->write(device->opaque, addr, buf, len);
}

static int registers_read(struct emu_device *device, uint64_t offset, uint8_t *buf, size_t len)
{
	uint32_t value;

	if ((offset | len) & 3) {
		emu_complain(device, EMU_COMPLAINT_ACCESS_SIZE,
			     "DMA read of %zu bytes from registers at BAR0 0x%llx: registers are "
			     "32-bit and aligned",
			     len, (unsigned long long)offset);
		return -1;
	}
	for (; len; len -= 4, offset += 4, buf += 4) {
		value = emu_register_read(device, offset);
		memcpy(buf, &value, 4);
	}
	return 0;
}

static int registers_write(struct emu_device *device, uint64_t offset, const uint8_t *buf,
			   size_t len, struct emu_origin origin)
{
	uint32_t value;

	if ((offset | len) & 3) {
		emu_complain(device, EMU_COMPLAINT_ACCESS_SIZE,
			     "DMA write of %zu bytes to registers at BAR0 0x%llx: registers are "
			     "32-bit and aligned",
			     len, (unsigned long long)offset);
		return -1;
	}
	for (; len; len -= 4, offset += 4, buf += 4) {
		memcpy(&value, buf, 4);
		emu_register_write(device, offset, value, origin);
	}
	return 0;
}

static int target_read(const struct emu_target *target, void *buf, size_t len)
{
	struct emu_device *device = target->device;

	switch (target->kind) {
	case EMU_TARGET_MEMORY:
		if (!emu_ecc_read(device, target->ptr, len))
			return EMU_MEMORY_ECC;
		move(buf, target->ptr, len);
		return 0;
	case EMU_TARGET_HOST:
		return host_read(device, target->addr, buf, len);
	case EMU_TARGET_REGISTER:
		return registers_read(device, target->addr, buf, len);
	case EMU_TARGET_LINK: /* descriptors alone reach a neighbour, link_copy.c */
	case EMU_TARGET_NONE:
		break;
	}
	return -1;
}

static int target_write(const struct emu_target *target, const void *buf, size_t len,
			struct emu_origin origin)
{
	struct emu_device *device = target->device;

	switch (target->kind) {
	case EMU_TARGET_MEMORY:
		move(target->ptr, buf, len);
		return 0;
	case EMU_TARGET_HOST:
		return host_write(device, target->addr, buf, len);
	case EMU_TARGET_REGISTER:
		return registers_write(device, target->addr, buf, len, origin);
	case EMU_TARGET_LINK: /* descriptors alone reach a neighbour, link_copy.c */
	case EMU_TARGET_NONE:
		break;
	}
	return -1;
}

int emu_memory_read(struct emu_device *device, uint64_t addr, void *buf, size_t len)
{
	struct emu_target target;
	uint8_t *to = buf;
	int status;

	for (; len; addr += target.len, to += target.len, len -= target.len) {
		emu_decode(device, addr, len, &target);
		status = target_read(&target, to, target.len);
		if (status)
			return status;
	}
	return 0;
}

int emu_memory_write(struct emu_device *device, uint64_t addr, const void *buf, size_t len,
		     struct emu_origin origin)
{
	struct emu_target target;
	const uint8_t *from = buf;

	for (; len; addr += target.len, from += target.len, len -= target.len) {
		emu_decode(device, addr, len, &target);
		if (target_write(&target, from, target.len, origin))
			return -1;
	}
	return 0;
}

/* Turns a host target into a direct pointer where the shell can; the caller unmaps when *mapped. */
static void target_map(struct emu_target *target, bool write, bool *mapped)
{
	struct emu_device *device = target->device;
	size_t len = target->len;
	void *ptr;

	*mapped = false;
	if (target->kind != EMU_TARGET_HOST || len < SMALL || !host_reachable(device))
		return;
	ptr = device->ops->map(device->opaque, target->addr, &len, write);
	if (!ptr)
		return;
	target->kind = EMU_TARGET_MEMORY;
	target->ptr = ptr;
	target->len = len;
	*mapped = true;
}

static void target_unmap(const struct emu_target *target, bool write, bool mapped)
{
	if (mapped)
		target->device->ops->unmap(target->device->opaque, target->ptr, target->len, write);
}

/* One piece of a copy, both sides contiguous; *done receives its length. */
static enum emu_copy_error copy_piece(struct emu_target *dst, struct emu_target *src,
				      struct emu_origin origin, size_t *done)
{
	_Alignas(8) uint8_t bounce[BOUNCE];
	size_t len = src->len < dst->len ? src->len : dst->len;
	int status;

	if (src->kind == EMU_TARGET_MEMORY && dst->kind == EMU_TARGET_MEMORY) {
		if (!emu_ecc_read(src->device, src->ptr, len))
			return EMU_COPY_ECC;
		move(dst->ptr, src->ptr, len);
		*done = len;
		return EMU_COPY_OK;
	}
	if (len > sizeof(bounce))
		len = sizeof(bounce);
	status = target_read(src, bounce, len);
	if (status)
		return status == EMU_MEMORY_ECC ? EMU_COPY_ECC : EMU_COPY_SOURCE;
	if (target_write(dst, bounce, len, origin))
		return EMU_COPY_DESTINATION;
	*done = len;
	return EMU_COPY_OK;
}

enum emu_copy_error emu_target_copy(struct emu_target *dst, struct emu_target *src,
				    struct emu_origin origin, size_t *done)
{
	bool src_mapped, dst_mapped;
	enum emu_copy_error error;

	*done = 0;
	if (src->kind == EMU_TARGET_NONE || src->kind == EMU_TARGET_LINK)
		return EMU_COPY_SOURCE;
	if (dst->kind == EMU_TARGET_NONE || dst->kind == EMU_TARGET_LINK)
		return EMU_COPY_DESTINATION;
	if (src->len > dst->len)
		src->len = dst->len;
	target_map(src, false, &src_mapped);
	target_map(dst, true, &dst_mapped);
	error = copy_piece(dst, src, origin, done);
	target_unmap(dst, true, dst_mapped);
	target_unmap(src, false, src_mapped);
	return error;
}

enum emu_copy_error emu_memory_copy(struct emu_device *device, uint64_t dst, uint64_t src,
				    size_t len, struct emu_origin origin)
{
	enum emu_copy_error error;
	struct emu_target from, to;
	size_t done;

	for (; len; len -= done, dst += done, src += done) {
		emu_decode(device, src, len, &from);
		emu_decode(device, dst, from.len, &to);
		error = emu_target_copy(&to, &from, origin, &done);
		if (error != EMU_COPY_OK)
			return error;
	}
	return EMU_COPY_OK;
}
