/* SPDX-License-Identifier: BSD-2-Clause */
/* Device memory as the program loader sees it. */
#ifndef TRN_MEMORY_H
#define TRN_MEMORY_H

#include "internal.h"

/** struct trn_place - where a byte of a memory lies, in the terms of the UAPI. */
struct trn_place {
	uint32_t handle; /* buffer of the backend */
	uint64_t offset; /* in that buffer */
};

/**
 * trn_memory_place() - place of byte @offset of @memory. [@offset, @offset + @bytes) must lie
 * inside. Return: TRN_OK, or TRN_ERR_INVALID with a sentence that names @what.
 */
enum trn_status trn_memory_place(const struct trn_memory *memory, uint64_t offset, uint64_t bytes,
				 const char *what, struct trn_place *place);

/** trn_memory_device() - the device of a memory. */
struct trn_device *trn_memory_device(const struct trn_memory *memory);

/**
 * trn_memory_get(), trn_memory_put() - hold a memory beyond its owner's trn_memory_free() (a
 * program its bindings). The bytes go back to the heap when the last hold ends; the putter has
 * waited for its own work.
 */
void trn_memory_get(struct trn_memory *memory);
void trn_memory_put(struct trn_memory *memory);

/** trn_memory_touch() - work that ends with @fence uses @memory: freeing it waits for that. */
void trn_memory_touch(struct trn_memory *memory, struct trn_fence fence);

/**
 * trn_device_generation() - changes whenever the set of buffers of the device does; cheap (one
 * atomic load). A kernel program object made at another generation does not reach the new buffers:
 * make it anew before the next run.
 */
uint64_t trn_device_generation(struct trn_device *device);

/**
 * trn_device_buffers() - every buffer of the device, read and write, for
 * drm_trainium_program_create.bos. *@list is freed by the caller with free().
 * *@generation is the generation of the list.
 */
enum trn_status trn_device_buffers(struct trn_device *device, struct drm_trainium_program_bo **list,
				   uint32_t *count, uint64_t *generation);

/** Inside memory.c and device.c: */
enum trn_status trn_memory_setup(struct trn_device *device);
/** trn_memory_teardown() - frees every memory and buffer of the device; no queue exists any more.
 */
void trn_memory_teardown(struct trn_device *device);

#endif /* TRN_MEMORY_H */
