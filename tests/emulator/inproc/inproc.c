// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * In-process shell: bus addresses for memory of this process.
 *
 * Locking: inproc->lock guards the table of mappings and the use counts that keep a mapping while
 * an access is under way; it is not held during the access. "released" is signalled when a use ends
 * and somebody waits. The handlers have a lock of their own, not held when one is called.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include "inproc.h"
#include "worker.h"

#define PAGE	  4096u
#define BUS_FIRST (1ull << 20)
#define BUS_END	  (1ull << 43)

/** struct mapping - [@bus, @bus + @len) is [@ptr, @ptr + @len). */
struct mapping {
	uint64_t bus;
	uint8_t *ptr;
	size_t len;
	bool writable, leaving;
	unsigned int users;
};

struct emu_inproc {
	struct emu_device *device;
	pthread_mutex_t lock;
	pthread_cond_t released;
	struct mapping **map; /* sorted by bus address */
	size_t count, room;
	uint64_t next; /* where the search for a free range begins */
	pthread_mutex_t handler_lock;
	void (*handler)(void *arg, unsigned int vector);
	void *handler_arg;
	atomic_bool watched; /* there is an event handler */
	void (*event_handler)(void *arg, const struct emu_event *event);
	void *event_arg;
};

/* Index of the first mapping that ends behind @bus; lock held. */
static size_t map_index(const struct emu_inproc *inproc, uint64_t bus)
{
	size_t low = 0, high = inproc->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mapping *map = inproc->map[middle];

		if (map->bus + map->len <= bus)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The mapping that holds @bus, with one more user; NULL when there is none. */
static struct mapping *map_get(struct emu_inproc *inproc, uint64_t bus, bool write)
{
	struct mapping *map = NULL;
	size_t i;

	pthread_mutex_lock(&inproc->lock);
	i = map_index(inproc, bus);
	if (i < inproc->count && inproc->map[i]->bus <= bus && !inproc->map[i]->leaving &&
	    (inproc->map[i]->writable || !write)) {
		map = inproc->map[i];
		map->users++;
	}
	pthread_mutex_unlock(&inproc->lock);
	return map;
}

static void map_put(struct emu_inproc *inproc, struct mapping *map)
{
	pthread_mutex_lock(&inproc->lock);
	if (!--map->users && map->leaving)
		pthread_cond_broadcast(&inproc->released);
	pthread_mutex_unlock(&inproc->lock);
}

/* Words that somebody polls are written in one piece, after everything before them. */
static void copy_word(void *dst, const void *src, size_t len)
{
	uint64_t eight;
	uint32_t four;

	if (len == 4 && !((uintptr_t)dst & 3)) {
		memcpy(&four, src, 4);
		__atomic_store_n((uint32_t *)dst, four, __ATOMIC_RELEASE);
	} else if (len == 8 && !((uintptr_t)dst & 7)) {
		memcpy(&eight, src, 8);
		__atomic_store_n((uint64_t *)dst, eight, __ATOMIC_RELEASE);
	} else if (len == 1) {
		__atomic_store_n((uint8_t *)dst, *(const uint8_t *)src, __ATOMIC_RELEASE);
	} else {
		memcpy(dst, src, len);
	}
}

static int inproc_access(struct emu_inproc *inproc, uint64_t addr, void *buf, const void *data,
			 size_t len)
{
	while (len) {
		struct mapping *map = map_get(inproc, addr, data != NULL);
		size_t offset, part;

		if (!map)
			return -1;
		offset = (size_t)(addr - map->bus);
		part = len < map->len - offset ? len : map->len - offset;
		if (data) {
			copy_word(map->ptr + offset, data, part);
			data = (const uint8_t *)data + part;
		} else {
			copy_word(buf, map->ptr + offset, part);
			buf = (uint8_t *)buf + part;
		}
		map_put(inproc, map);
		addr += part;
		len -= part;
	}
	return 0;
}

static int inproc_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
	return inproc_access(opaque, addr, buf, NULL, len);
}

static int inproc_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	return inproc_access(opaque, addr, NULL, buf, len);
}

/* A worker holds at most a source and a destination at a time, so the mapping behind a pointer is
 * remembered by the thread that asked. */
static _Thread_local struct held {
	void *ptr;
	struct mapping *map;
} held[4];

static void *inproc_map(void *opaque, uint64_t addr, size_t *len, bool device_writes)
{
	struct mapping *map;
	size_t offset, i;

	for (i = 0; i < sizeof(held) / sizeof(held[0]) && held[i].map; i++)
		;
	if (i == sizeof(held) / sizeof(held[0]))
		return NULL;
	map = map_get(opaque, addr, device_writes);
	if (!map)
		return NULL;
	offset = (size_t)(addr - map->bus);
	if (*len > map->len - offset)
		*len = map->len - offset;
	held[i].ptr = map->ptr + offset;
	held[i].map = map;
	return held[i].ptr;
}

static void inproc_unmap(void *opaque, void *ptr, size_t len, bool device_writes)
{
	size_t i;

	(void)len;
	(void)device_writes;
	for (i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		if (held[i].map && held[i].ptr == ptr) {
			map_put(opaque, held[i].map);
			held[i].map = NULL;
			return;
		}
	}
}

static void inproc_interrupt(void *opaque, unsigned int vector)
{
	struct emu_inproc *inproc = opaque;
	void (*handler)(void *arg, unsigned int vector);
	void *arg;

	pthread_mutex_lock(&inproc->handler_lock);
	handler = inproc->handler;
	arg = inproc->handler_arg;
	pthread_mutex_unlock(&inproc->handler_lock);
	if (handler)
		handler(arg, vector);
}

/* Most devices have nobody who watches, so that costs no lock. */
static void inproc_event(void *opaque, const struct emu_event *event)
{
	struct emu_inproc *inproc = opaque;
	void (*handler)(void *arg, const struct emu_event *event);
	void *arg;

	if (!atomic_load_explicit(&inproc->watched, memory_order_relaxed))
		return;
	pthread_mutex_lock(&inproc->handler_lock);
	handler = inproc->event_handler;
	arg = inproc->event_arg;
	pthread_mutex_unlock(&inproc->handler_lock);
	if (handler)
		handler(arg, event);
}

static uint64_t inproc_clock_ns(void *opaque)
{
	(void)opaque;
	return emu_monotonic_ns();
}

static const struct emu_host_ops inproc_ops = {
	.read = inproc_read,
	.write = inproc_write,
	.map = inproc_map,
	.unmap = inproc_unmap,
	.interrupt = inproc_interrupt,
	.clock_ns = inproc_clock_ns,
	.event = inproc_event,
};

int emu_inproc_create(const struct emu_config *config, struct emu_inproc **inproc, char *error,
		      size_t error_size)
{
	struct emu_inproc *shell = calloc(1, sizeof(*shell));
	int status;

	*inproc = NULL;
	if (!shell) {
		snprintf(error, error_size, "out of memory for the in-process device");
		return -ENOMEM;
	}
	pthread_mutex_init(&shell->lock, NULL);
	pthread_mutex_init(&shell->handler_lock, NULL);
	pthread_cond_init(&shell->released, NULL);
	shell->next = BUS_FIRST;
	status = emu_device_create(config, &inproc_ops, shell, &shell->device, error, error_size);
	if (status) {
		emu_inproc_destroy(shell);
		return status;
	}
	*inproc = shell;
	return 0;
}

void emu_inproc_destroy(struct emu_inproc *inproc)
{
	size_t i;

	if (!inproc)
		return;
	emu_device_destroy(inproc->device);
	for (i = 0; i < inproc->count; i++)
		free(inproc->map[i]);
	free(inproc->map);
	pthread_cond_destroy(&inproc->released);
	pthread_mutex_destroy(&inproc->handler_lock);
	pthread_mutex_destroy(&inproc->lock);
	free(inproc);
}

struct emu_device *emu_inproc_device(struct emu_inproc *inproc)
{
	return inproc->device;
}

/*
 * First free range of @span bytes at or behind @from; *at receives its index in the table.
 * Addresses are handed out upwards, so that a stale one leads nowhere for as long as possible; a
 * page between two mappings stays free. Lock held. Return: 0 when there is no room.
 */
static uint64_t range_find(const struct emu_inproc *inproc, uint64_t from, uint64_t span,
			   size_t *at)
{
	size_t i = map_index(inproc, from);

	if (i < inproc->count && inproc->map[i]->bus <= from)
		from = inproc->map[i]->bus;
	for (; from + span <= BUS_END; i++) {
		if (i == inproc->count || from + span + PAGE <= inproc->map[i]->bus) {
			*at = i;
			return from;
		}
		from = (inproc->map[i]->bus + inproc->map[i]->len + 2 * PAGE - 1) / PAGE * PAGE;
	}
	return 0;
}

/* Lock held. */
static int table_insert(struct emu_inproc *inproc, struct mapping *map)
{
	uint64_t inside = (uintptr_t)map->ptr % PAGE;
	uint64_t span = (inside + map->len + PAGE - 1) / PAGE * PAGE, base;
	size_t at;

	if (inproc->count == inproc->room) {
		size_t room = inproc->room ? 2 * inproc->room : 64;
		struct mapping **grown = realloc(inproc->map, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		inproc->map = grown;
		inproc->room = room;
	}
	base = range_find(inproc, inproc->next, span, &at);
	if (!base)
		base = range_find(inproc, BUS_FIRST, span, &at);
	if (!base)
		return -ENOMEM;
	memmove(&inproc->map[at + 1], &inproc->map[at],
		(inproc->count - at) * sizeof(*inproc->map));
	inproc->map[at] = map;
	inproc->count++;
	map->bus = base + inside;
	inproc->next = base + span + PAGE;
	return 0;
}

int emu_inproc_map(struct emu_inproc *inproc, void *ptr, size_t len, bool device_writes,
		   uint64_t *bus)
{
	struct mapping *map;
	int status;

	if (!ptr || !len || len > BUS_END / 2 || (uintptr_t)ptr + len < (uintptr_t)ptr)
		return -EINVAL;
	map = calloc(1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->ptr = ptr;
	map->len = len;
	map->writable = device_writes;
	pthread_mutex_lock(&inproc->lock);
	status = table_insert(inproc, map);
	pthread_mutex_unlock(&inproc->lock);
	if (status) {
		free(map);
		return status;
	}
	*bus = map->bus;
	return 0;
}

int emu_inproc_unmap(struct emu_inproc *inproc, uint64_t bus)
{
	struct mapping *map = NULL;
	size_t i;

	pthread_mutex_lock(&inproc->lock);
	i = map_index(inproc, bus);
	if (i < inproc->count && inproc->map[i]->bus == bus && !inproc->map[i]->leaving)
		map = inproc->map[i];
	if (map) {
		map->leaving = true;
		while (map->users)
			pthread_cond_wait(&inproc->released, &inproc->lock);
		/* The table may have changed during the wait. */
		i = map_index(inproc, bus);
		inproc->count--;
		memmove(&inproc->map[i], &inproc->map[i + 1],
			(inproc->count - i) * sizeof(*inproc->map));
	}
	pthread_mutex_unlock(&inproc->lock);
	free(map);
	return map ? 0 : -ENOENT;
}

void emu_inproc_interrupt_handler(struct emu_inproc *inproc,
				  void (*handler)(void *arg, unsigned int vector), void *arg)
{
	pthread_mutex_lock(&inproc->handler_lock);
	inproc->handler = handler;
	inproc->handler_arg = arg;
	pthread_mutex_unlock(&inproc->handler_lock);
}

void emu_inproc_event_handler(struct emu_inproc *inproc,
			      void (*handler)(void *arg, const struct emu_event *event), void *arg)
{
	pthread_mutex_lock(&inproc->handler_lock);
	inproc->event_handler = handler;
	inproc->event_arg = arg;
	pthread_mutex_unlock(&inproc->handler_lock);
	atomic_store(&inproc->watched, handler != NULL);
}
