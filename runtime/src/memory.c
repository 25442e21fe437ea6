// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device memory: blocks of a heap over buffers of the backend.
 *
 * Buffers come zeroed and grow from 64 MiB to 1 GiB (host: from 4 MiB). Bytes that were handed out
 * before are zeroed when they are handed out again, by the device itself. One unused buffer per
 * pool is kept, further ones go back to the driver.
 *
 * Locking: trn_device.grow_lock around making buffers and zeroing; trn_device.lock around the heap;
 * see internal.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "memory.h"

#define MIB (1ull << 20)

enum trn_status trn_memory_setup(struct trn_device *device)
{
	device->heap = trn_heap_create(device->info.stacks + 1);
	if (!device->heap)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "%s: no memory for its heap (%u stacks)", device->spec,
				     device->info.stacks);
	return TRN_OK;
}

static void buffer_free(struct trn_device *device, struct trn_buffer *buffer)
{
	device->ops->bo_destroy(device->backend, buffer->handle);
	free(buffer);
}

void trn_memory_teardown(struct trn_device *device)
{
	struct trn_heap_extent *extent;
	struct trn_memory *memory;
	unsigned int pool;

	while (!trn_list_empty(&device->memories)) {
		memory = trn_list_entry(device->memories.next, struct trn_memory, link);
		trn_list_remove(&memory->link);
		pthread_mutex_destroy(&memory->lock);
		free(memory);
	}
	for (pool = 0; device->heap && pool <= device->info.stacks; pool++)
		for (extent = trn_heap_extents(device->heap, pool); extent; extent = extent->next)
			buffer_free(device, extent->owner);
	trn_heap_destroy(device->heap);
	device->heap = NULL;
}

/* ---- buffers ---- */

/* Size of the next buffer of a pool: doubles what the pool has, within limits. The caller holds the
 * device's lock. */
static uint64_t next_size_locked(struct trn_device *device, unsigned int pool, uint64_t bytes)
{
	bool host = pool == device->info.stacks;
	uint64_t least = host ? TRN_HOST_EXTENT_MIN : TRN_EXTENT_MIN;
	uint64_t size = 0;
	struct trn_heap_extent *extent;

	for (extent = trn_heap_extents(device->heap, pool); extent; extent = extent->next)
		size += extent->size;
	size = size < least ? least : size;
	size = size > TRN_EXTENT_MAX ? TRN_EXTENT_MAX : size;
	bytes = (bytes + 2 * MIB - 1) & ~(2 * MIB - 1);
	return size > bytes ? size : bytes;
}

static int buffer_make(struct trn_device *device, unsigned int pool, uint64_t size,
		       struct trn_buffer **out)
{
	bool host = pool == device->info.stacks;
	struct drm_trainium_bo_create create = {
		.size = size,
		.place = host ? DRM_TRAINIUM_PLACE_HOST : DRM_TRAINIUM_PLACE_HBM,
		.stack = host ? 0 : pool,
	};
	struct trn_buffer *buffer = calloc(1, sizeof(*buffer));
	int error;

	if (!buffer)
		return -ENOMEM;
	error = device->ops->bo_create(device->backend, &create);
	if (error) {
		free(buffer);
		return error;
	}
	buffer->handle = create.handle;
	buffer->size = size;
	if (host)
		error = device->ops->bo_map(device->backend, buffer->handle, size,
					    &buffer->pointer);
	if (error) {
		buffer_free(device, buffer);
		return error;
	}
	*out = buffer;
	return 0;
}

/* Give every unused buffer of a pool back, except @keep of them. The caller holds no device lock.
 */
static unsigned int pool_trim(struct trn_device *device, unsigned int pool, unsigned int keep)
{
	struct trn_heap_extent *extent, *next;
	struct trn_buffer *buffer;
	unsigned int freed = 0;

	for (;;) {
		unsigned int unused = 0;

		buffer = NULL;
		pthread_mutex_lock(&device->lock);
		for (extent = trn_heap_extents(device->heap, pool); extent; extent = next) {
			next = extent->next;
			if (extent->used || unused++ < keep)
				continue;
			buffer = extent->owner;
			trn_heap_extent_remove(device->heap, extent);
			atomic_fetch_add(&device->generation, 1);
			break;
		}
		pthread_mutex_unlock(&device->lock);
		if (!buffer)
			return freed;
		buffer_free(device, buffer);
		freed++;
	}
}

/* Add a buffer to a pool in which @bytes fit. The caller holds the grow lock. */
static int pool_grow(struct trn_device *device, unsigned int pool, uint64_t bytes)
{
	struct trn_heap_extent *extent;
	struct trn_buffer *buffer;
	uint64_t size, least;
	int error;

	pthread_mutex_lock(&device->lock);
	size = next_size_locked(device, pool, bytes);
	pthread_mutex_unlock(&device->lock);
	least = (bytes + 4095) & ~4095ull;
	error = buffer_make(device, pool, size, &buffer);
	if ((error == -ENOBUFS || error == -ENOMEM) && pool_trim(device, pool, 0))
		error = buffer_make(device, pool, size, &buffer);
	/* What is left may be less than a whole extent. */
	while ((error == -ENOBUFS || error == -ENOMEM) && size > least) {
		size = size / 2 > least ? (size / 2 + 4095) & ~4095ull : least;
		error = buffer_make(device, pool, size, &buffer);
	}
	if (error)
		return error;
	pthread_mutex_lock(&device->lock);
	extent = trn_heap_extent_add(device->heap, pool, size, buffer);
	if (extent) {
		buffer->extent = extent;
		atomic_fetch_add(&device->generation, 1);
	}
	pthread_mutex_unlock(&device->lock);
	if (!extent) {
		buffer_free(device, buffer);
		return -ENOMEM;
	}
	return 0;
}

/* ---- allocation ---- */

static enum trn_status options_check(struct trn_device *device,
				     const struct trn_memory_options *options, uint64_t bytes)
{
	if (!bytes)
		return trn_error_set(TRN_ERR_INVALID, "%s: trn_memory_alloc: 0 bytes",
				     device->spec);
	if (options->alignment & (options->alignment - 1))
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: trn_memory_alloc: alignment %" PRIu64
				     " is not a power of two",
				     device->spec, options->alignment);
	if (options->alignment > TRN_EXTENT_MAX)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: trn_memory_alloc: alignment %" PRIu64
				     " is more than %" PRIu64,
				     device->spec, options->alignment, (uint64_t)TRN_EXTENT_MAX);
	if (options->host > 1)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: trn_memory_alloc: host is %u; 0 or 1 expected",
				     device->spec, options->host);
	if (!options->host &&
	    (options->stack < TRN_STACK_ANY || options->stack >= (int32_t)device->info.stacks))
		return trn_error_set(
			TRN_ERR_INVALID,
			"%s: trn_memory_alloc: stack %d; it has 0 to %u, or TRN_STACK_ANY",
			device->spec, options->stack, device->info.stacks - 1);
	return TRN_OK;
}

static struct trn_heap_block *heap_alloc(struct trn_device *device, unsigned int pool,
					 uint64_t bytes, const struct trn_memory_options *options,
					 int *error)
{
	struct trn_heap_block *block;

	pthread_mutex_lock(&device->lock);
	block = trn_heap_alloc(device->heap, pool, bytes, options->alignment, options->tag, error);
	pthread_mutex_unlock(&device->lock);
	return block;
}

/* A block from the pools @first to @last, in buffers that exist or else in a new one. *@error:
 * -ENOBUFS no device memory, -ENOMEM. */
static struct trn_heap_block *block_get(struct trn_device *device, unsigned int first,
					unsigned int last, uint64_t bytes,
					const struct trn_memory_options *options, int *error)
{
	/* Room to align inside a buffer, whose own start is aligned to a page at least. */
	uint64_t room =
		bytes +
		(options->alignment > TRN_HEAP_GRANULE ? options->alignment - TRN_HEAP_GRANULE : 0);
	struct trn_heap_block *block = NULL;
	unsigned int pool;

	for (pool = first; pool <= last && !block; pool++) {
		block = heap_alloc(device, pool, bytes, options, error);
		if (!block && *error != -ENOSPC)
			return NULL;
	}
	if (block)
		return block;
	pthread_mutex_lock(&device->grow_lock);
	for (pool = first; pool <= last && !block; pool++) {
		/* Another thread may have grown the pool meanwhile. */
		block = heap_alloc(device, pool, bytes, options, error);
		if (!block && *error == -ENOSPC) {
			*error = pool_grow(device, pool, room);
			if (!*error)
				block = heap_alloc(device, pool, bytes, options, error);
		}
	}
	pthread_mutex_unlock(&device->grow_lock);
	return block;
}

/* The device zeroes [@offset, @offset + @bytes) of a buffer. */
static enum trn_status scrub(struct trn_device *device, const struct trn_buffer *buffer,
			     uint64_t offset, uint64_t bytes)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_FILL };
	enum trn_status result = TRN_OK;
	struct trn_fence fence;

	cmd.fill.handle = buffer->handle;
	cmd.fill.offset = offset;
	cmd.fill.length = bytes;
	pthread_mutex_lock(&device->grow_lock);
	if (!device->scrub)
		result = trn_queue_make(device, &options, &device->scrub);
	if (!result)
		result = trn_queue_enqueue(device->scrub, &cmd, &fence);
	if (!result)
		result = trn_queue_wait_point(device->scrub, fence.point, INT64_MAX);
	if (result && device->scrub)
		trn_queue_reset(device->scrub);
	pthread_mutex_unlock(&device->grow_lock);
	return result;
}

static enum trn_status block_zero(struct trn_device *device, const struct trn_heap_block *block)
{
	const struct trn_buffer *buffer = block->extent->owner;

	if (!block->dirty)
		return TRN_OK;
	if (!buffer->pointer)
		return scrub(device, buffer, block->offset, block->dirty);
	memset((uint8_t *)buffer->pointer + block->offset, 0, block->dirty);
	return TRN_OK;
}

static void block_put(struct trn_device *device, struct trn_heap_block *block)
{
	struct trn_heap_extent *unused;
	unsigned int pool = block->extent->pool;

	pthread_mutex_lock(&device->lock);
	unused = trn_heap_free(device->heap, block);
	pthread_mutex_unlock(&device->lock);
	if (unused)
		pool_trim(device, pool, 1);
}

enum trn_status trn_memory_alloc(struct trn_device *device, uint64_t bytes,
				 const struct trn_memory_options *options, struct trn_memory **out)
{
	struct trn_memory_options wanted;
	unsigned int first, last;
	struct trn_memory *memory;
	enum trn_status result;
	int error = -ENOBUFS;

	result = trn_device_check(device, "trn_memory_alloc");
	if (result)
		return result;
	if (!out)
		return trn_error_set(TRN_ERR_INVALID, "%s: trn_memory_alloc: memory is NULL",
				     device->spec);
	*out = NULL;
	result = trn_options_get(options, &wanted, sizeof(wanted), "trn_memory_alloc");
	if (!result)
		result = options_check(device, &wanted, bytes);
	if (result)
		return result;
	memory = calloc(1, sizeof(*memory));
	if (!memory)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "%s: no memory for bookkeeping of a block of %" PRIu64
				     " bytes",
				     device->spec, bytes);

	first = wanted.host			? device->info.stacks
		: wanted.stack == TRN_STACK_ANY ? 0
						: (unsigned int)wanted.stack;
	last = wanted.host		       ? device->info.stacks
	       : wanted.stack == TRN_STACK_ANY ? device->info.stacks - 1
					       : (unsigned int)wanted.stack;
	/* No machine has 2^46 bytes; below it no sum of sizes and alignments overflows. */
	if (bytes < 1ull << 46)
		memory->block = block_get(device, first, last, bytes, &wanted, &error);
	if (!memory->block) {
		free(memory);
		if (wanted.host)
			return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
					     "%s: no %" PRIu64
					     " bytes of host memory the device can reach",
					     device->spec, bytes);
		if (error == -ENOBUFS || error == -ENOSPC)
			return trn_info_out_of_memory(device, bytes, wanted.stack);
		return trn_error_set(trn_status_from_errno(error),
				     "%s: cannot get %" PRIu64 " bytes of device memory: %s",
				     device->spec, bytes, strerror(-error));
	}
	result = block_zero(device, memory->block);
	if (result) {
		block_put(device, memory->block);
		free(memory);
		return result;
	}
	memory->device = device;
	memory->buffer = memory->block->extent->owner;
	memory->size = bytes;
	atomic_init(&memory->refs, 1);
	pthread_mutex_init(&memory->lock, NULL);
	pthread_mutex_lock(&device->lock);
	trn_list_append(&device->memories, &memory->link);
	pthread_mutex_unlock(&device->lock);
	*out = memory;
	return TRN_OK;
}

/* ---- uses and freeing ---- */

void trn_memory_touch(struct trn_memory *memory, struct trn_fence fence)
{
	struct trn_memory_use *use;
	unsigned int i;

	pthread_mutex_lock(&memory->lock);
	for (i = 0; i < TRN_MEMORY_USES; i++) {
		use = &memory->uses[i];
		if (use->queue_id && use->queue_id != fence.queue->id)
			continue;
		use->queue_id = fence.queue->id;
		use->point = fence.point;
		break;
	}
	if (i == TRN_MEMORY_USES)
		memory->use_all = true;
	pthread_mutex_unlock(&memory->lock);
}

/* Wait for @point of the queue with @id, or everything of every queue after the one with @id when
 * @next; false: no such queue. */
static bool retire_use(struct trn_device *device, uint64_t *id, uint64_t point, bool next)
{
	struct trn_queue *queue = NULL;
	struct trn_list *at;

	/* Queues are in the order of their ids. */
	pthread_mutex_lock(&device->lock);
	for (at = device->queues.next; at != &device->queues && !queue; at = at->next) {
		struct trn_queue *candidate = trn_list_entry(at, struct trn_queue, link);

		if (next ? candidate->id > *id : candidate->id == *id)
			queue = candidate;
	}
	if (queue)
		queue->refs++;
	pthread_mutex_unlock(&device->lock);
	if (!queue)
		return false;
	*id = queue->id;
	trn_queue_retire(queue, point);
	pthread_mutex_lock(&device->lock);
	queue->refs--;
	pthread_cond_broadcast(&device->queue_put);
	pthread_mutex_unlock(&device->lock);
	return true;
}

static void memory_retire(struct trn_memory *memory)
{
	struct trn_memory_use uses[TRN_MEMORY_USES];
	uint64_t id = 0;
	unsigned int i;
	bool all;

	pthread_mutex_lock(&memory->lock);
	memcpy(uses, memory->uses, sizeof(uses));
	all = memory->use_all;
	pthread_mutex_unlock(&memory->lock);
	if (all) {
		while (retire_use(memory->device, &id, UINT64_MAX, true))
			;
		return;
	}
	for (i = 0; i < TRN_MEMORY_USES; i++)
		if (uses[i].queue_id)
			retire_use(memory->device, &uses[i].queue_id, uses[i].point, false);
}

void trn_memory_get(struct trn_memory *memory)
{
	atomic_fetch_add(&memory->refs, 1);
}

void trn_memory_put(struct trn_memory *memory)
{
	if (atomic_fetch_sub(&memory->refs, 1) != 1)
		return;
	block_put(memory->device, memory->block);
	pthread_mutex_destroy(&memory->lock);
	free(memory);
}

void trn_memory_free(struct trn_memory *memory)
{
	struct trn_device *device;

	if (!memory || trn_device_check(memory->device, "trn_memory_free"))
		return;
	device = memory->device;
	memory_retire(memory);
	pthread_mutex_lock(&device->lock);
	trn_list_remove(&memory->link);
	pthread_mutex_unlock(&device->lock);
	trn_memory_put(memory);
}

/* ---- questions ---- */

uint64_t trn_memory_size(const struct trn_memory *memory)
{
	return memory ? memory->size : 0;
}

void *trn_memory_host_pointer(struct trn_memory *memory)
{
	if (!memory || !memory->buffer->pointer)
		return NULL;
	return (uint8_t *)memory->buffer->pointer + memory->block->offset;
}

struct trn_device *trn_memory_device(const struct trn_memory *memory)
{
	return memory->device;
}

enum trn_status trn_memory_place(const struct trn_memory *memory, uint64_t offset, uint64_t bytes,
				 const char *what, struct trn_place *place)
{
	if (offset > memory->size || bytes > memory->size - offset)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: %s: %" PRIu64 " bytes at offset %" PRIu64
				     " pass the end of a memory of %" PRIu64 " bytes",
				     memory->device->spec, what, bytes, offset, memory->size);
	place->handle = memory->buffer->handle;
	place->offset = memory->block->offset + offset;
	return TRN_OK;
}

uint64_t trn_device_generation(struct trn_device *device)
{
	return atomic_load_explicit(&device->generation, memory_order_acquire);
}

enum trn_status trn_device_buffers(struct trn_device *device, struct drm_trainium_program_bo **list,
				   uint32_t *count, uint64_t *generation)
{
	struct trn_heap_extent *extent;
	unsigned int pool;
	uint32_t n = 0;

	*list = NULL;
	*count = 0;
	pthread_mutex_lock(&device->lock);
	for (pool = 0; pool <= device->info.stacks; pool++)
		for (extent = trn_heap_extents(device->heap, pool); extent; extent = extent->next)
			n++;
	*list = calloc(n ? n : 1, sizeof(**list));
	for (pool = 0; *list && pool <= device->info.stacks; pool++)
		for (extent = trn_heap_extents(device->heap, pool); extent; extent = extent->next) {
			const struct trn_buffer *buffer = extent->owner;

			(*list)[*count].handle = buffer->handle;
			(*list)[(*count)++].access = DRM_TRAINIUM_BO_READ | DRM_TRAINIUM_BO_WRITE;
		}
	*generation = trn_device_generation(device);
	pthread_mutex_unlock(&device->lock);
	if (!*list)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "%s: no memory for a list of %u buffers", device->spec, n);
	return TRN_OK;
}
