// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Host operations: DMA through the device's bus-master address space, from the model's threads.
 *
 * Locking: these threads never take the BQL, so that a reset that holds it can wait for them.
 *
 * Without an IOMMU they look an address up once and use the pointer they get, so that a mapping the
 * guest changes meanwhile cannot lead into another device's registers, whose access would need the
 * BQL. What is not RAM is refused like an address nobody answers.
 *
 * A translation by an IOMMU may report a fault with an interrupt, which needs the BQL. With an
 * IOMMU the main loop therefore does the access (dma_bh) while the thread waits. Who waits for
 * threads of a model with the BQL, and so holds up the main loop, does these accesses meanwhile
 * (trainium_dma_wait): a thread of one device may be inside of another one over a link.
 *
 * "lock" guards the list of requests of all devices and their "cancelled"; it is a leaf.
 */
#include "trainium.h"
#include "exec/address-spaces.h"
#include "exec/memory.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"

#define MAPS 4 /* a thread holds at most a source and a destination */

/** struct dma_request - an access that waits for the main loop; on the stack of the thread. */
struct dma_request {
	QSIMPLEQ_ENTRY(dma_request) next;
	TrainiumState *device;
	hwaddr addr, size;
	uint8_t *buf;
	bool write, done;
	int result;
};

/** struct dma_map - RAM found at an address, kept alive by @cache; @ptr NULL: not in use. */
struct dma_map {
	MemoryRegionCache cache;
	void *ptr;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* a request came or is done */
static QSIMPLEQ_HEAD(, dma_request) requests = QSIMPLEQ_HEAD_INITIALIZER(requests);
static bool iommu_seen; /* atomic: a device of this process is behind an IOMMU */

/* Return: bytes from @addr on that are contiguous RAM, at most @size; 0 when it is none. */
static hwaddr ram_get(TrainiumState *s, hwaddr addr, hwaddr size, bool write, struct dma_map *map)
{
	AddressSpace *as = pci_get_address_space(&s->parent_obj);
	int64_t len;

	map->ptr = NULL;
	len = address_space_cache_init(&map->cache, as, addr, size, write);
	if (len > 0 && map->cache.ptr) {
		map->ptr = map->cache.ptr;
		return len;
	}
	address_space_cache_destroy(&map->cache);
	return 0;
}

static void ram_put(struct dma_map *map, hwaddr len, bool written)
{
	if (written) {
		address_space_cache_invalidate(&map->cache, 0, len);
	}
	address_space_cache_destroy(&map->cache);
	map->ptr = NULL;
}

/* Words that somebody polls go in one piece, after everything before them. */
static void copy_words(void *dst, const void *src, size_t len)
{
	uint64_t eight;
	uint32_t four;

	if (len == 4 && !((uintptr_t)dst & 3)) {
		memcpy(&four, src, 4);
		__atomic_store_n((uint32_t *)dst, four, __ATOMIC_RELEASE);
	} else if (len == 8 && !((uintptr_t)dst & 7)) {
		memcpy(&eight, src, 8);
		__atomic_store_n((uint64_t *)dst, eight, __ATOMIC_RELEASE);
	} else {
		smp_mb();
		memcpy(dst, src, len);
	}
}

static int dma_direct(TrainiumState *s, hwaddr addr, uint8_t *buf, hwaddr size, bool write)
{
	struct dma_map map;
	hwaddr len;

	for (; size; addr += len, buf += len, size -= len) {
		len = ram_get(s, addr, size, write, &map);
		if (!len) {
			return -1;
		}
		if (write) {
			copy_words(map.ptr, buf, len);
		} else {
			copy_words(buf, map.ptr, len);
		}
		ram_put(&map, len, write);
	}
	return 0;
}

/* BQL held. */
static int dma_translated(TrainiumState *s, hwaddr addr, uint8_t *buf, hwaddr size, bool write)
{
	AddressSpace *as = pci_get_address_space(&s->parent_obj);

	for (hwaddr len; size; addr += len, buf += len, size -= len) {
		MemoryRegion *mr;
		hwaddr xlat;

		RCU_READ_LOCK_GUARD();
		len = size;
		mr = address_space_translate(as, addr, &xlat, &len, write, MEMTXATTRS_UNSPECIFIED);
		if (!len || !memory_access_is_direct(mr, write) ||
		    address_space_rw(as, addr, MEMTXATTRS_UNSPECIFIED, buf, len, write) !=
			    MEMTX_OK) {
			return -1;
		}
	}
	return 0;
}

/* BQL and lock held; the lock is dropped during an access. */
static void requests_serve(void)
{
	struct dma_request *request;

	while ((request = QSIMPLEQ_FIRST(&requests))) {
		QSIMPLEQ_REMOVE_HEAD(&requests, next);
		pthread_mutex_unlock(&lock);
		request->result = dma_translated(request->device, request->addr, request->buf,
						 request->size, request->write);
		pthread_mutex_lock(&lock);
		request->done = true;
		pthread_cond_broadcast(&changed);
	}
}

static void dma_bh(void *opaque)
{
	pthread_mutex_lock(&lock);
	requests_serve();
	pthread_mutex_unlock(&lock);
}

static int dma_by_main_loop(TrainiumState *s, hwaddr addr, uint8_t *buf, hwaddr size, bool write)
{
	struct dma_request request = {
		.device = s, .addr = addr, .buf = buf, .size = size, .write = write, .result = -1
	};

	pthread_mutex_lock(&lock);
	if (!s->dma_cancelled) {
		QSIMPLEQ_INSERT_TAIL(&requests, &request, next);
		qemu_bh_schedule(s->dma_bh);
		pthread_cond_broadcast(&changed);
		while (!request.done) {
			pthread_cond_wait(&changed, &lock);
		}
	}
	pthread_mutex_unlock(&lock);
	return request.result;
}

/** struct dma_wait - @work on a thread of its own. */
struct dma_wait {
	void (*work)(void *opaque);
	void *opaque;
	bool done;
};

static void *wait_main(void *opaque)
{
	struct dma_wait *wait = opaque;

	rcu_register_thread();
	wait->work(wait->opaque);
	rcu_unregister_thread();
	pthread_mutex_lock(&lock);
	wait->done = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void trainium_dma_wait(void (*work)(void *opaque), void *opaque)
{
	struct dma_wait wait = { .work = work, .opaque = opaque };
	QemuThread thread;

	if (!qatomic_read(&iommu_seen)) {
		work(opaque);
		return;
	}
	qemu_thread_create(&thread, "trainium-wait", wait_main, &wait, QEMU_THREAD_JOINABLE);
	pthread_mutex_lock(&lock);
	while (!wait.done) {
		requests_serve();
		if (!wait.done) {
			pthread_cond_wait(&changed, &lock);
		}
	}
	pthread_mutex_unlock(&lock);
	qemu_thread_join(&thread);
}

void trainium_dma_init(TrainiumState *s)
{
	s->dma_bh = qemu_bh_new(dma_bh, s);
	s->dma_cancelled = true;
}

void trainium_dma_exit(TrainiumState *s)
{
	trainium_dma_cancel(s);
	qemu_bh_delete(s->dma_bh);
	s->dma_bh = NULL;
}

void trainium_dma_cancel(TrainiumState *s)
{
	struct dma_request *request, *next;

	pthread_mutex_lock(&lock);
	s->dma_cancelled = true;
	QSIMPLEQ_FOREACH_SAFE(request, &requests, next, next)
	{
		if (request->device == s) {
			QSIMPLEQ_REMOVE(&requests, request, dma_request, next);
			request->done = true;
		}
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void trainium_dma_allow(TrainiumState *s)
{
	/* An IOMMU is there before the machine starts or not at all. */
	if (pci_device_iommu_address_space(PCI_DEVICE(s)) != &address_space_memory) {
		qatomic_set(&s->iommu, true);
		qatomic_set(&iommu_seen, true);
	}
	pthread_mutex_lock(&lock);
	s->dma_cancelled = false;
	pthread_mutex_unlock(&lock);
}

static int dma_rw(TrainiumState *s, hwaddr addr, uint8_t *buf, hwaddr size, bool write)
{
	if (!qatomic_read(&s->iommu)) {
		return dma_direct(s, addr, buf, size, write);
	}
	if (qemu_mutex_iothread_locked()) {
		return dma_translated(s, addr, buf, size, write);
	}
	return dma_by_main_loop(s, addr, buf, size, write);
}

static int host_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
	return dma_rw(opaque, addr, buf, len, false);
}

static int host_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	return dma_rw(opaque, addr, (uint8_t *)buf, len, true);
}

static __thread struct dma_map maps[MAPS];

/* NULL makes the model use read and write. */
static void *host_map(void *opaque, uint64_t addr, size_t *len, bool device_writes)
{
	TrainiumState *s = opaque;
	unsigned int i;
	hwaddr part;

	for (i = 0; i < MAPS && maps[i].ptr; i++) {
		continue;
	}
	if (i == MAPS || qatomic_read(&s->iommu)) {
		return NULL;
	}
	part = ram_get(s, addr, *len, device_writes, &maps[i]);
	if (part) {
		*len = part;
	}
	return maps[i].ptr;
}

static void host_unmap(void *opaque, void *ptr, size_t len, bool device_writes)
{
	unsigned int i;

	for (i = 0; i < MAPS; i++) {
		if (maps[i].ptr == ptr && maps[i].cache.is_write == device_writes) {
			ram_put(&maps[i], len, device_writes);
			return;
		}
	}
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
	.event = trainium_event,
	.removed = trainium_removed,
};
