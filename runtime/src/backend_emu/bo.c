// SPDX-License-Identifier: BSD-2-Clause
/*
 * Buffers: HBM by stack, or host memory near the machine's node of this thread.
 *
 * Locking: trn_emu.lock guards the table and the HBM heap.
 */
#include <errno.h>
#include <numa.h>
#include <stdlib.h>
#include <string.h>

#include "emu.h"

#define LARGE_ALIGN (2ull << 20)

int trn_emu_hbm_setup(struct trn_emu *emu)
{
	uint64_t bar = 0, per_stack;
	unsigned int stack;

	emu_device_hbm(emu->model, &bar);
	per_stack = bar / emu->hw.arch->stacks;
	if (per_stack > emu->hw.arch->hbm_size)
		per_stack = emu->hw.arch->hbm_size;
	if (per_stack <= TRN_HBM_FW_RESERVED)
		return -EINVAL;
	emu->hbm = trn_heap_create(emu->hw.arch->stacks);
	if (!emu->hbm)
		return -ENOMEM;
	for (stack = 0; stack < emu->hw.arch->stacks; stack++)
		if (!trn_heap_extent_add(emu->hbm, stack, per_stack - TRN_HBM_FW_RESERVED, NULL))
			return -ENOMEM;
	return 0;
}

/* A block of HBM; the caller zeroes its dirty part. */
static int hbm_get(struct trn_emu *emu, struct trn_emu_bo *bo, uint32_t stack)
{
	uint64_t align = bo->size >= LARGE_ALIGN ? LARGE_ALIGN : TRN_EMU_PAGE;
	uint32_t first = stack, last = stack, i;
	int error = -ENOSPC;

	if (stack == DRM_TRAINIUM_STACK_ANY) {
		first = 0;
		last = emu->hw.arch->stacks - 1;
	}
	pthread_mutex_lock(&emu->lock);
	for (i = first; i <= last && !bo->block; i++) {
		bo->block = trn_heap_alloc(emu->hbm, i, bo->size, align, "bo", &error);
		if (!bo->block && error == -ENOSPC && align > TRN_EMU_PAGE)
			bo->block =
				trn_heap_alloc(emu->hbm, i, bo->size, TRN_EMU_PAGE, "bo", &error);
		bo->stack = i;
	}
	pthread_mutex_unlock(&emu->lock);
	if (!bo->block)
		return error == -ENOSPC ? -ENOBUFS : error;
	bo->address =
		trnhw_hbm_address(&emu->hw, bo->stack, TRN_HBM_FW_RESERVED + bo->block->offset);
	return 0;
}

/* The device model's memory traffic comes from threads of this process: the node of the caller is
 * near. */
static void host_place(const struct trn_emu_mem *mem)
{
	if (numa_available() >= 0 && numa_num_configured_nodes() > 1)
		numa_setlocal_memory(mem->ptr, mem->size);
}

static int host_get(struct trn_emu *emu, struct trn_emu_bo *bo)
{
	int error = trn_emu_mem_alloc(emu, bo->size, &bo->host);

	if (error)
		return error;
	host_place(&bo->host);
	bo->address = bo->host.address;
	pthread_mutex_lock(&emu->lock);
	emu->host_bytes += bo->size;
	pthread_mutex_unlock(&emu->lock);
	return 0;
}

int trn_emu_bo_create(struct trn_backend_device *device, struct drm_trainium_bo_create *create)
{
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_bo *bo;
	int error;

	if (!create->size || create->flags || create->place > DRM_TRAINIUM_PLACE_HOST)
		return -EINVAL;
	if (create->place == DRM_TRAINIUM_PLACE_HBM && create->stack != DRM_TRAINIUM_STACK_ANY &&
	    create->stack >= emu->hw.arch->stacks)
		return -EINVAL;
	if (create->size > 1ull << 46)
		return create->place == DRM_TRAINIUM_PLACE_HBM ? -ENOBUFS : -ENOMEM;
	bo = calloc(1, sizeof(*bo));
	if (!bo)
		return -ENOMEM;
	atomic_init(&bo->refs, 1);
	bo->place = create->place;
	bo->size = (create->size + TRN_EMU_PAGE - 1) & ~(TRN_EMU_PAGE - 1);
	error = create->place == DRM_TRAINIUM_PLACE_HBM ? hbm_get(emu, bo, create->stack)
							: host_get(emu, bo);
	if (!error && bo->block && bo->block->dirty)
		error = trn_emu_hbm_zero(emu, bo->address, bo->block->dirty);
	if (!error) {
		pthread_mutex_lock(&emu->lock);
		error = trn_emu_handle_add((void ***)&emu->bos, &emu->bo_room, &emu->bo_free, bo,
					   &create->handle);
		pthread_mutex_unlock(&emu->lock);
	}
	if (error)
		trn_emu_bo_put(emu, bo);
	return error;
}

struct trn_emu_bo *trn_emu_bo_get(struct trn_emu *emu, uint32_t handle)
{
	struct trn_emu_bo *bo = NULL;

	pthread_mutex_lock(&emu->lock);
	if (handle && handle <= emu->bo_room)
		bo = emu->bos[handle - 1];
	if (bo)
		atomic_fetch_add(&bo->refs, 1);
	pthread_mutex_unlock(&emu->lock);
	return bo;
}

void trn_emu_bo_put(struct trn_emu *emu, struct trn_emu_bo *bo)
{
	if (!bo || atomic_fetch_sub(&bo->refs, 1) != 1)
		return;
	pthread_mutex_lock(&emu->lock);
	if (bo->block)
		trn_heap_free(emu->hbm, bo->block);
	if (bo->host.ptr)
		emu->host_bytes -= bo->size;
	pthread_mutex_unlock(&emu->lock);
	trn_emu_mem_free(emu, &bo->host);
	free(bo);
}

void trn_emu_bo_list_put(struct trn_emu *emu, struct trn_emu_bo **list, uint32_t count)
{
	uint32_t i;

	for (i = 0; list && i < count; i++)
		trn_emu_bo_put(emu, list[i]);
	free(list);
}

int trn_emu_bo_map(struct trn_backend_device *device, uint32_t handle, uint64_t size,
		   void **pointer)
{
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_bo *bo = trn_emu_bo_get(emu, handle);
	int error = 0;

	if (!bo)
		return -ENOENT;
	if (!bo->host.ptr || size > bo->size)
		error = -EINVAL;
	else
		*pointer = bo->host.ptr;
	trn_emu_bo_put(emu, bo);
	return error;
}

int trn_emu_bo_destroy(struct trn_backend_device *device, uint32_t handle)
{
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_bo *bo = NULL;

	pthread_mutex_lock(&emu->lock);
	if (handle && handle <= emu->bo_room) {
		bo = emu->bos[handle - 1];
		emu->bos[handle - 1] = NULL;
		if (bo && handle - 1 < emu->bo_free)
			emu->bo_free = handle - 1;
	}
	pthread_mutex_unlock(&emu->lock);
	if (!bo)
		return -ENOENT;
	trn_emu_bo_put(emu, bo);
	return 0;
}

void trn_emu_bo_teardown(struct trn_emu *emu)
{
	uint32_t i;

	for (i = 0; i < emu->bo_room; i++)
		trn_emu_bo_put(emu, emu->bos[i]);
	free(emu->bos);
	emu->bos = NULL;
	emu->bo_room = 0;
	trn_heap_destroy(emu->hbm);
	emu->hbm = NULL;
}
