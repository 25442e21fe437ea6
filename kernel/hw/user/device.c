// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Devices of the user-space shim, and register access.
 *
 * A cookie is a number no mapping can have: bit 63 set with bit 62 clear is outside what a 64-bit
 * processor can address, so that a stray dereference faults. Below are device, BAR and offset.
 *
 * Locking: device_lock orders creation and destruction; the table is read without it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <asm/barrier.h>

#include "trnhw_user.h"

#define COOKIE_MARK		(1ull << 63)
#define COOKIE_DEVICE_SHIFT	44
#define COOKIE_DEVICE_MASK	(TRNHW_USER_DEVICES_MAX - 1ull)
#define COOKIE_BAR_SHIFT	40
#define COOKIE_BAR_MASK		7ull
#define COOKIE_BARS		6
#define COOKIE_OFFSET_MASK	((1ull << COOKIE_BAR_SHIFT) - 1)

_Static_assert(sizeof(void *) == 8, "cookies need 64-bit pointers");
_Static_assert(!(TRNHW_USER_DEVICES_MAX & COOKIE_DEVICE_MASK), "the table is a power of two");

struct device {
	struct trnhw_user_ops ops;
	void *opaque;
	unsigned int index;
	char *name;
};

static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;
static struct device *device_table[TRNHW_USER_DEVICES_MAX];

static int device_insert(struct device *dev)
{
	int ret = -ENOSPC;
	unsigned int i;

	pthread_mutex_lock(&device_lock);
	for (i = 0; i < TRNHW_USER_DEVICES_MAX && ret; i++) {
		if (device_table[i])
			continue;
		dev->index = i;
		__atomic_store_n(&device_table[i], dev, __ATOMIC_RELEASE);
		ret = 0;
	}
	pthread_mutex_unlock(&device_lock);
	return ret;
}

int trnhw_user_device_create(const char *name, const struct trnhw_user_ops *ops, void *opaque,
			     struct device **dev)
{
	struct device *d;
	int ret;

	if (ops->size != sizeof(*ops) || !ops->mmio_read || !ops->mmio_write || !ops->dma_alloc ||
	    !ops->dma_free)
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->ops = *ops;
	d->opaque = opaque;
	d->name = strdup(name);
	ret = d->name ? device_insert(d) : -ENOMEM;
	if (ret) {
		free(d->name);
		free(d);
		return ret;
	}
	*dev = d;
	return 0;
}

void trnhw_user_device_destroy(struct device *dev)
{
	if (!dev)
		return;
	pthread_mutex_lock(&device_lock);
	__atomic_store_n(&device_table[dev->index], NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&device_lock);
	free(dev->name);
	free(dev);
}

const char *trnhw_user_name(const struct device *dev)
{
	return dev->name;
}

void *trnhw_user_iomap(struct device *dev, unsigned int bar)
{
	if (bar >= COOKIE_BARS)
		return NULL;
	return (void *)(uintptr_t)(COOKIE_MARK | (u64)dev->index << COOKIE_DEVICE_SHIFT |
				   (u64)bar << COOKIE_BAR_SHIFT);
}

static const struct device *cookie_decode(const volatile void *cookie, unsigned int *bar,
					  u64 *offset)
{
	u64 value = (uintptr_t)cookie;

	if (!(value & COOKIE_MARK))
		return NULL;
	*bar = value >> COOKIE_BAR_SHIFT & COOKIE_BAR_MASK;
	*offset = value & COOKIE_OFFSET_MASK;
	return __atomic_load_n(&device_table[value >> COOKIE_DEVICE_SHIFT & COOKIE_DEVICE_MASK],
			       __ATOMIC_ACQUIRE);
}

u32 readl(const volatile void *cookie)
{
	unsigned int bar = 0;
	u64 offset = 0;
	const struct device *dev = cookie_decode(cookie, &bar, &offset);
	u32 value;

	if (!dev)
		return ~0u;
	value = dev->ops.mmio_read(dev->opaque, bar, offset);
	rmb();	/* as the kernel's: later loads see what the device wrote before it answered */
	return value;
}

void writel(u32 value, volatile void *cookie)
{
	unsigned int bar = 0;
	u64 offset = 0;
	const struct device *dev = cookie_decode(cookie, &bar, &offset);

	if (!dev)
		return;
	wmb();	/* as the kernel's: earlier stores are visible to the device */
	dev->ops.mmio_write(dev->opaque, bar, offset, value);
}

void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *bus, gfp_t gfp)
{
	(void)gfp;
	return dev->ops.dma_alloc(dev->opaque, size, bus);
}

void dma_free_coherent(struct device *dev, size_t size, void *ptr, dma_addr_t bus)
{
	dev->ops.dma_free(dev->opaque, size, ptr, bus);
}

void trnhw_user_log(const struct device *dev, enum trnhw_user_level level, const char *format, ...)
{
	char text[TRNHW_USER_LOG_BYTES];
	va_list args;
	size_t length;

	if (!dev->ops.log)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	length = strlen(text);
	if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	dev->ops.log(dev->opaque, level, text);
}
