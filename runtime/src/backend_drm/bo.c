// SPDX-License-Identifier: BSD-2-Clause
/* Buffers and their mappings. Locking: trn_drm.lock guards the table of mappings. */
#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "drm.h"

/* Prefer the device's node for what the call below allocates; restored at once. */
static int create_near(struct trn_drm *drm, struct drm_trainium_bo_create *create)
{
	unsigned long old[16] = { 0 }, near[16] = { 0 };
	int mode, error;
	bool moved = false;

	if (create->place == DRM_TRAINIUM_PLACE_HOST && drm->numa_node >= 0 &&
	    drm->numa_node < 1024 && numa_available() >= 0 && numa_num_configured_nodes() > 1 &&
	    !get_mempolicy(&mode, old, 1024, NULL, 0)) {
		near[drm->numa_node / 64] = 1ul << (drm->numa_node % 64);
		moved = !set_mempolicy(MPOL_PREFERRED, near, 1024);
	}
	error = trn_drm_ioctl(drm->fd, DRM_IOCTL_TRAINIUM_BO_CREATE, create);
	if (moved)
		set_mempolicy(mode, old, 1024);
	return error;
}

int trn_drm_bo_create(struct trn_backend_device *device, struct drm_trainium_bo_create *create)
{
	return create_near(trn_drm_of(device), create);
}

int trn_drm_bo_map(struct trn_backend_device *device, uint32_t handle, uint64_t size,
		   void **pointer)
{
	struct trn_drm *drm = trn_drm_of(device);
	struct drm_trainium_bo_info info = { .handle = handle };
	struct trn_drm_mapping *list;
	void *at;
	int error;

	error = trn_drm_ioctl(drm->fd, DRM_IOCTL_TRAINIUM_BO_INFO, &info);
	if (error)
		return error;
	if (!info.mmap_offset || size > info.size)
		return -EINVAL;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, drm->fd, info.mmap_offset);
	if (at == MAP_FAILED)
		return -errno;
	pthread_mutex_lock(&drm->lock);
	list = realloc(drm->mappings, (drm->mapping_count + 1) * sizeof(*list));
	if (list) {
		drm->mappings = list;
		list[drm->mapping_count++] =
			(struct trn_drm_mapping){ .handle = handle, .pointer = at, .size = size };
	}
	pthread_mutex_unlock(&drm->lock);
	if (!list) {
		munmap(at, size);
		return -ENOMEM;
	}
	*pointer = at;
	return 0;
}

int trn_drm_bo_destroy(struct trn_backend_device *device, uint32_t handle)
{
	struct trn_drm *drm = trn_drm_of(device);
	struct drm_gem_close request = { .handle = handle };
	struct trn_drm_mapping gone = { 0 };
	uint32_t i;

	pthread_mutex_lock(&drm->lock);
	for (i = 0; i < drm->mapping_count; i++)
		if (drm->mappings[i].handle == handle) {
			gone = drm->mappings[i];
			drm->mappings[i] = drm->mappings[--drm->mapping_count];
			break;
		}
	pthread_mutex_unlock(&drm->lock);
	if (gone.pointer)
		munmap(gone.pointer, gone.size);
	return trn_drm_ioctl(drm->fd, DRM_IOCTL_GEM_CLOSE, &request);
}
