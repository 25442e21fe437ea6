// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Host operations: DMA through the device's bus-master address space, from the model's threads.
 *
 * Locking: these threads never take the BQL, so that a reset that holds it can wait for them.
 * Accesses therefore go to RAM alone; what would end in another device's registers is refused like
 * an address nobody answers.
 */
#include "trainium.h"
#include "exec/memory.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"

/* Shortens *len to what is contiguous. Return: @addr is RAM. */
static bool dma_is_ram(AddressSpace *as, hwaddr addr, hwaddr *len, bool write)
{
	MemoryRegion *mr;
	hwaddr xlat;

	RCU_READ_LOCK_GUARD();
	mr = address_space_translate(as, addr, &xlat, len, write, MEMTXATTRS_UNSPECIFIED);
	return *len && memory_access_is_direct(mr, write);
}

static int dma_rw(TrainiumState *s, hwaddr addr, uint8_t *buf, hwaddr size, bool write)
{
	AddressSpace *as = pci_get_address_space(PCI_DEVICE(s));

	/* Everything written before is visible before what is written now. */
	smp_mb();
	while (size) {
		hwaddr len = size;

		if (!dma_is_ram(as, addr, &len, write) ||
		    address_space_rw(as, addr, MEMTXATTRS_UNSPECIFIED, buf, len, write) !=
			    MEMTX_OK) {
			return -1;
		}
		addr += len;
		buf += len;
		size -= len;
	}
	return 0;
}

static int host_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
	return dma_rw(opaque, addr, buf, len, false);
}

static int host_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	return dma_rw(opaque, addr, (uint8_t *)buf, len, true);
}

/* NULL, e.g. when the mapping crosses a region, makes the model use read and write. */
static void *host_map(void *opaque, uint64_t addr, size_t *len, bool device_writes)
{
	AddressSpace *as = pci_get_address_space(PCI_DEVICE(opaque));
	hwaddr part = *len;
	void *ptr;

	if (!dma_is_ram(as, addr, &part, device_writes)) {
		return NULL;
	}
	ptr = address_space_map(as, addr, &part, device_writes, MEMTXATTRS_UNSPECIFIED);
	if (!ptr) {
		return NULL;
	}
	*len = part;
	return ptr;
}

static void host_unmap(void *opaque, void *ptr, size_t len, bool device_writes)
{
	AddressSpace *as = pci_get_address_space(PCI_DEVICE(opaque));

	address_space_unmap(as, ptr, len, device_writes, len);
}

static uint64_t host_clock_ns(void *opaque)
{
	return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void host_thread_start(void *opaque)
{
	rcu_register_thread();
}

static void host_thread_stop(void *opaque)
{
	rcu_unregister_thread();
}

const struct emu_host_ops trainium_host_ops = {
	.read = host_read,
	.write = host_write,
	.map = host_map,
	.unmap = host_unmap,
	.interrupt = trainium_interrupt,
	.clock_ns = host_clock_ns,
	.thread_start = host_thread_start,
	.thread_stop = host_thread_stop,
};
