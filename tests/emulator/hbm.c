// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory of the device: HBM, which is BAR4, and the ranges of device addresses that are plain
 * memory in no BAR. Both are reserved whole and take memory page by page once touched.
 *
 * BAR4 is a power of two and every stack has an equal slot of it. A stack of the real size keeps
 * the slot of the product, of which a part may be empty; a smaller stack fills its slot.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "device.h"

bool emu_hbm_size_valid(const struct emu_product *product, uint64_t bytes)
{
	if (bytes == product->hbm_bytes)
		return true;
	return bytes >= EMU_HBM_MIN && bytes < product->hbm_bytes && !(bytes & (bytes - 1));
}

static void *reserve(uint64_t size, int protection)
{
	void *p = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int stacks_create(struct emu_device *device)
{
	unsigned int h;

	device->hbm = reserve(device->hbm_stride * device->product->stacks, PROT_NONE);
	if (!device->hbm)
		return -errno;
	for (h = 0; h < device->product->stacks; h++) {
		uint8_t *stack = device->hbm + h * device->hbm_stride;

		if (mprotect(stack, device->hbm_bytes, PROT_READ | PROT_WRITE))
			return -errno;
		/*
		 * Both are hints: fewer page faults in large copies, and no core dump of the whole
		 * HBM.
		 */
		madvise(stack, device->hbm_bytes, MADV_HUGEPAGE);
		madvise(stack, device->hbm_bytes, MADV_DONTDUMP);
	}
	return 0;
}

int emu_hbm_create(struct emu_device *device)
{
	const struct emu_product *product = device->product;
	unsigned int i;
	int error;

	device->hbm_stride = device->hbm_bytes;
	if (device->hbm_bytes == product->hbm_bytes)
		device->hbm_stride = product->bar4_stride;
	error = stacks_create(device);
	if (error)
		return error;
	for (i = 0; i < product->plain_count; i++)
		device->plain_size += product->plain[i].size;
	if (!device->plain_size)
		return 0;
	device->plain = reserve(device->plain_size, PROT_READ | PROT_WRITE);
	return device->plain ? 0 : -errno;
}

void emu_hbm_destroy(struct emu_device *device)
{
	if (device->hbm)
		munmap(device->hbm, device->hbm_stride * device->product->stacks);
	if (device->plain)
		munmap(device->plain, device->plain_size);
}

void emu_hbm_power_up(struct emu_device *device)
{
	if (device->plain && madvise(device->plain, device->plain_size, MADV_DONTNEED))
		memset(device->plain, 0, device->plain_size);
}

void *emu_device_hbm(struct emu_device *device, uint64_t *size)
{
	*size = emu_device_bar_size(device, 4);
	return device->hbm;
}

bool emu_device_hbm_stack(const struct emu_device *device, unsigned int stack, uint64_t *offset,
			  uint64_t *size)
{
	if (stack >= device->product->stacks)
		return false;
	*offset = stack * device->hbm_stride;
	*size = device->hbm_bytes;
	return true;
}
