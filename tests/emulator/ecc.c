// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ECC of the HBM stacks: the counters in MISC RAM, and errors placed at an address.
 *
 * An error lies in an aligned word of ECC_WORD bytes and acts when a DMA engine, a core or the
 * firmware reads any byte of it. The host reads BAR4 without the device's help and does not notice.
 */
#include "device.h"

#define ECC_WORD 32u

static unsigned int count_shift(enum emu_ecc kind)
{
	return kind == EMU_ECC_CORRECTABLE ? 16 : 0;
}

/* Corrected errors are the high half of the word, uncorrected the low half; both stop at their
 * maximum. */
void emu_ecc_count(struct emu_device *device, unsigned int stack, enum emu_ecc kind, uint64_t count)
{
	_Atomic uint32_t *word = &device->misc->store[TRN_MISC_HBM_ECC(stack) / 4];
	unsigned int shift = count_shift(kind);
	uint32_t old = atomic_load(word), new;
	uint64_t now;

	do {
		now = ((old >> shift) & 0xffff) + count;
		if (now > 0xffff)
			now = 0xffff;
		new = (old & ~(0xffffu << shift)) | (uint32_t)now << shift;
	} while (!atomic_compare_exchange_weak(word, &old, new));
	if (kind == EMU_ECC_UNCORRECTABLE && count)
		emu_irq_raise(device, TRN_VECTOR_DEVICE);
}

int emu_ecc_set(struct emu_device *device, enum emu_ecc kind, uint64_t addr)
{
	struct emu_target target;
	unsigned int h;

	for (h = 0; h < device->product->stacks; h++)
		if (addr - device->product->hbm_base[h] < device->hbm_bytes)
			break;
	if (h == device->product->stacks)
		return -1;
	emu_decode(device, addr & ~(uint64_t)(ECC_WORD - 1), ECC_WORD, &target);
	atomic_store(&device->ecc_stack[kind], h);
	atomic_store(&device->ecc_at[kind], 1 + (uint64_t)(target.ptr - device->hbm));
	return 0;
}

void emu_ecc_clear(struct emu_device *device, enum emu_ecc kind)
{
	atomic_store(&device->ecc_at[kind], 0);
}

static bool ecc_hit(struct emu_device *device, enum emu_ecc kind, const uint8_t *ptr, size_t len)
{
	uint64_t at = atomic_load_explicit(&device->ecc_at[kind], memory_order_relaxed);
	uintptr_t word, first = (uintptr_t)ptr;

	if (!at)
		return false;
	word = (uintptr_t)device->hbm + (at - 1);
	if (first + len <= word || first >= word + ECC_WORD)
		return false;
	emu_ecc_count(device, atomic_load(&device->ecc_stack[kind]), kind, 1);
	return true;
}

bool emu_ecc_read(struct emu_device *device, const uint8_t *ptr, size_t len)
{
	ecc_hit(device, EMU_ECC_CORRECTABLE, ptr, len);
	return !ecc_hit(device, EMU_ECC_UNCORRECTABLE, ptr, len);
}
