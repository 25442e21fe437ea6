/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hardware layer in user space: makes a struct device out of a table of callbacks, so that
 * trnhw_init() and everything after it work on an in-process device.
 *
 *	trnhw_user_device_create("emu0", &ops, opaque, &dev);
 *	regs = trnhw_user_iomap(dev, 0);
 *	ext = trnhw_user_iomap(dev, 2);		NULL instead on a device without the extension
 *	trnhw_init(&hw, dev, regs, ext, pci_device, features, vectors);
 *
 * Threads: as the hardware layer. Creation and destruction may be called from any thread; nothing
 * may use a device while it is destroyed.
 */
#ifndef TRNHW_USER_H
#define TRNHW_USER_H

#include <linux/types.h>
#include <linux/device.h>

/**
 * struct trnhw_user_ops - what the hardware layer needs; callbacks may come from any thread.
 * @size: sizeof(struct trnhw_user_ops) as the caller knows it
 * @mmio_read: 32-bit register of a BAR; all ones when the device is gone
 * @mmio_write: the same for writing
 * @dma_alloc: zeroed memory of @size bytes aligned to 4096, reachable by the device at *@bus
 * @dma_free: undo @dma_alloc
 * @log: a message without newline; NULL: messages are dropped
 */
struct trnhw_user_ops {
	size_t size;
	u32 (*mmio_read)(void *opaque, unsigned int bar, u64 offset);
	void (*mmio_write)(void *opaque, unsigned int bar, u64 offset, u32 value);
	void *(*dma_alloc)(void *opaque, size_t size, u64 *bus);
	void (*dma_free)(void *opaque, size_t size, void *ptr, u64 bus);
	void (*log)(void *opaque, enum trnhw_user_level level, const char *text);
};

#define TRNHW_USER_DEVICES_MAX	1024
#define TRNHW_USER_LOG_BYTES	256

/**
 * trnhw_user_device_create() - @name and @ops are copied.
 * Return: 0, -EINVAL a callback is missing, -ENOMEM, -ENOSPC TRNHW_USER_DEVICES_MAX exist already.
 */
int trnhw_user_device_create(const char *name, const struct trnhw_user_ops *ops, void *opaque,
			     struct device **dev);
/** trnhw_user_device_destroy() - its cookies read all ones from then on. NULL is allowed. */
void trnhw_user_device_destroy(struct device *dev);
/** trnhw_user_iomap() - cookie of BAR 0..5 for readl() and writel(); nothing to undo. */
void __iomem *trnhw_user_iomap(struct device *dev, unsigned int bar);
/** trnhw_user_name() - the name given at creation. */
const char *trnhw_user_name(const struct device *dev);

/**
 * struct trnhw_user_clock - replaces time for tests of long waits.
 * @now_ns: monotonic time
 * @sleep_ns: returns when that time has passed on the same clock
 */
struct trnhw_user_clock {
	s64 (*now_ns)(void *opaque);
	void (*sleep_ns)(void *opaque, u64 ns);
	void *opaque;
};

/** trnhw_user_clock_set() - clock of the calling thread; NULL: real time. Not copied. */
void trnhw_user_clock_set(const struct trnhw_user_clock *clock);

#endif /* TRNHW_USER_H */
