// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loading and running programs.
 *
 * Loading pays for everything once: tensors are allocated, code and constants copied, each ring of
 * symbolic transfers becomes a validated ring of the driver, and images, rings and reachable
 * buffers become one program object. A run is then one command that names it.
 *
 * Ownership: a program owns the memories of its unbound tensors, of its code and of its constants,
 * and holds the bound ones; it is a child of its queue. Locking: none of its own; a program is used
 * by one thread at a time, as its queue is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "memory.h"
#include "tnx.h"

/** struct program_tensor - where a tensor lies. */
struct program_tensor {
	struct trn_memory *memory;
	uint64_t offset;
	bool bound; /* held, not owned */
};

struct trn_program {
	struct trn_child child;
	struct trn_queue *queue;
	uint32_t core; /* number on the device */
	char name[64];
	uint32_t tensor_count;
	struct trn_tensor_info *info;
	struct program_tensor *tensors;
	struct trn_memory *code;
	struct trn_memory *constants;
	uint64_t code_offset[TRN_ENGINE_MAX];
	uint32_t *rings;
	uint32_t ring_count;
	uint32_t handle;
	bool made;	     /* @handle is valid */
	uint64_t last_point; /* of the newest run, 0: none */
};

/* Frees everything; the program may be half made. Waits for its runs first. */
static void program_destroy(struct trn_program *p)
{
	struct trn_device *device = p->queue->device;
	uint32_t i;

	if (p->last_point)
		trn_queue_retire(p->queue, p->last_point);
	if (p->made)
		device->ops->program_destroy(device->backend, p->queue->ctx, p->handle);
	for (i = 0; i < p->ring_count; i++)
		device->ops->ring_destroy(device->backend, p->queue->ctx, p->rings[i]);
	for (i = 0; p->tensors && i < p->tensor_count; i++) {
		if (p->tensors[i].bound)
			trn_memory_put(p->tensors[i].memory);
		else if (p->tensors[i].memory != p->constants)
			trn_memory_free(p->tensors[i].memory);
	}
	trn_memory_free(p->constants);
	trn_memory_free(p->code);
	free(p->rings);
	free(p->tensors);
	free(p->info);
	free(p);
}

static void program_child_destroy(struct trn_child *child)
{
	program_destroy(
		(struct trn_program *)((char *)child - offsetof(struct trn_program, child)));
}

static const struct trn_binding *binding_find(const struct trn_binding *bindings, size_t count,
					      const char *name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (bindings[i].name && !strcmp(bindings[i].name, name))
			return &bindings[i];
	}
	return NULL;
}

/*
 * Every binding must name a tensor that can be bound, with memory of this device that is large
 * enough.
 */
static enum trn_status bindings_check(const struct trn_device *device,
				      const struct trn_image *image,
				      const struct trn_binding *bindings, size_t count)
{
	size_t i, k;

	for (i = 0; i < count; i++) {
		const struct trn_binding *b = &bindings[i];
		const struct trn_tnx_tensor *t = NULL;
		struct trn_place place;
		enum trn_status status;

		if (!b->name || !b->memory)
			return trn_error_set(
				TRN_ERR_INVALID,
				"%s: program \"%s\": binding %zu has no name or no memory",
				device->spec, image->name, i);
		for (k = 0; k < image->tensor_count && !t; k++) {
			if (!strcmp(image->tensors[k].name, b->name))
				t = &image->tensors[k];
		}
		if (!t)
			return trn_error_set(TRN_ERR_NOT_FOUND,
					     "%s: program \"%s\" has no tensor \"%s\" to bind",
					     device->spec, image->name, b->name);
		if (t->kind == TRN_TENSOR_CONSTANT)
			return trn_error_set(
				TRN_ERR_INVALID,
				"%s: program \"%s\": \"%s\" is a constant and cannot be bound",
				device->spec, image->name, b->name);
		if (binding_find(bindings, i, b->name))
			return trn_error_set(TRN_ERR_INVALID,
					     "%s: program \"%s\": tensor \"%s\" is bound twice",
					     device->spec, image->name, b->name);
		if (trn_memory_device(b->memory) != device)
			return trn_error_set(
				TRN_ERR_INVALID,
				"%s: program \"%s\": the memory bound to \"%s\" belongs to %s",
				device->spec, image->name, b->name,
				trn_memory_device(b->memory)->spec);
		if (b->offset % 4)
			return trn_error_set(TRN_ERR_INVALID,
					     "%s: program \"%s\": offset %" PRIu64
					     " of the binding of \"%s\" is not a multiple of 4",
					     device->spec, image->name, b->offset, b->name);
		status = trn_memory_place(b->memory, b->offset, t->bytes, b->name, &place);
		if (status)
			return status;
	}
	return TRN_OK;
}

static enum trn_status tensors_place(struct trn_program *p, const struct trn_image *image,
				     const struct trn_memory_options *where,
				     const struct trn_binding *bindings, size_t count)
{
	uint32_t i;

	for (i = 0; i < image->tensor_count; i++) {
		const struct trn_tnx_tensor *t = &image->tensors[i];
		struct program_tensor *place = &p->tensors[i];
		const struct trn_binding *b = binding_find(bindings, count, t->name);
		enum trn_status status;

		trn_image_tensor(image, i, &p->info[i]);
		if (b) {
			trn_memory_get(b->memory);
			*place = (struct program_tensor){ b->memory, b->offset, true };
			continue;
		}
		if (t->kind == TRN_TENSOR_CONSTANT) {
			*place = (struct program_tensor){ p->constants, t->constant_offset, false };
			continue;
		}
		status = trn_memory_alloc(p->queue->device, t->bytes, where, &place->memory);
		if (status)
			return status;
	}
	return TRN_OK;
}

/* Code of all engines in one memory, constants in another; blocks until the copies are done. */
static enum trn_status contents_copy(struct trn_program *p, const struct trn_image *image,
				     const struct trn_memory_options *where)
{
	struct trn_fence fence = { p->queue, 0 };
	enum trn_status status = TRN_OK;
	uint64_t bytes = 0;
	uint32_t e;

	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		p->code_offset[e] = bytes;
		bytes += (uint64_t)image->code[e].count * TRN_INSN_SIZE;
	}
	status = trn_memory_alloc(p->queue->device, bytes, where, &p->code);
	if (!status && image->constants_bytes)
		status = trn_memory_alloc(p->queue->device, image->constants_bytes, where,
					  &p->constants);
	for (e = 0; !status && e < TRN_ENGINE_MAX; e++) {
		if (image->code[e].count)
			status = trn_queue_write(p->queue, p->code, p->code_offset[e],
						 image->code[e].insns,
						 (uint64_t)image->code[e].count * TRN_INSN_SIZE,
						 &fence);
	}
	if (!status && p->constants)
		status = trn_queue_write(p->queue, p->constants, 0, image->constants,
					 image->constants_bytes, &fence);
	/* Also after an error: what was enqueued reads the image's memory. */
	if (fence.point) {
		enum trn_status waited = trn_fence_wait(fence, UINT64_MAX);

		status = status ? status : waited;
	}
	return status;
}

static enum trn_status place_ref(const struct trn_program *p, unsigned int kind, uint32_t tensor,
				 uint64_t offset, uint32_t length, uint8_t *to_kind,
				 uint32_t *handle, __u64 *to_offset)
{
	const struct program_tensor *t;
	struct trn_place place;
	enum trn_status status;

	*handle = 0;
	*to_offset = offset;
	if (kind == TRN_TNX_REF_SBUF) {
		*to_kind = DRM_TRAINIUM_REF_SBUF;
		return TRN_OK;
	}
	if (kind == TRN_TNX_REF_SEM_INC) {
		*to_kind = DRM_TRAINIUM_REF_SEM_INC;
		return TRN_OK;
	}
	t = &p->tensors[tensor];
	status = trn_memory_place(t->memory, t->offset + offset, length, p->info[tensor].name,
				  &place);
	*to_kind = DRM_TRAINIUM_REF_BO;
	*handle = place.handle;
	*to_offset = place.offset;
	return status;
}

static enum trn_status ring_xfers(const struct trn_program *p, const struct trn_image_ring *ring,
				  struct drm_trainium_xfer *xfers)
{
	enum trn_status status = TRN_OK;
	uint32_t i;

	for (i = 0; !status && i < ring->count; i++) {
		const struct trn_tnx_xfer *from = &ring->xfers[i];
		struct drm_trainium_xfer *to = &xfers[i];

		to->length = from->length;
		to->flags = from->flags & TRN_TNX_XFER_BARRIER ? DRM_TRAINIUM_XFER_BARRIER : 0;
		if (from->dst_kind != TRN_TNX_REF_SEM_INC)
			status = place_ref(p, from->src_kind, from->src_tensor, from->src_offset,
					   from->length, &to->src_kind, &to->src_handle,
					   &to->src_offset);
		if (!status)
			status = place_ref(p, from->dst_kind, from->dst_tensor, from->dst_offset,
					   from->length, &to->dst_kind, &to->dst_handle,
					   &to->dst_offset);
	}
	return status;
}

static enum trn_status ring_make(struct trn_program *p, const struct trn_image_ring *ring)
{
	struct trn_device *device = p->queue->device;
	struct drm_trainium_ring_create create = { .ctx = p->queue->ctx,
						   .core = p->core,
						   .engine = ring->engine,
						   .queue = ring->queue,
						   .count = ring->count };
	struct drm_trainium_xfer *xfers = calloc(ring->count, sizeof(*xfers));
	enum trn_status status;
	int error;

	if (!xfers)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "%s: program \"%s\": no memory for %u transfers", device->spec,
				     p->name, ring->count);
	status = ring_xfers(p, ring, xfers);
	if (status) {
		free(xfers);
		return status;
	}
	create.stride = sizeof(*xfers);
	create.xfers = (uintptr_t)xfers;
	error = device->ops->ring_create(device->backend, &create);
	free(xfers);
	if (!error) {
		p->rings[p->ring_count++] = create.handle;
		return TRN_OK;
	}
	if (error == -EINVAL || error == -EACCES || error == -ENOENT)
		return trn_error_set(trn_status_from_errno(error),
				     "%s: program \"%s\": the driver refused transfer %u of %u on "
				     "DMA engine %u, queue %u: %s",
				     device->spec, p->name, create.bad_index, ring->count,
				     ring->engine, ring->queue, strerror(-error));
	return trn_error_set(
		trn_status_from_errno(error),
		"%s: program \"%s\": no ring of %u transfers on DMA engine %u, queue %u: %s",
		device->spec, p->name, ring->count, ring->engine, ring->queue, strerror(-error));
}

static void bo_add(struct drm_trainium_program_bo *bos, uint32_t *count,
		   const struct trn_memory *memory)
{
	struct trn_place place;
	uint32_t i;

	if (!memory || trn_memory_place(memory, 0, 1, "program", &place))
		return;
	for (i = 0; i < *count; i++) {
		if (bos[i].handle == place.handle)
			return;
	}
	bos[*count].handle = place.handle;
	bos[*count].access = DRM_TRAINIUM_BO_READ | DRM_TRAINIUM_BO_WRITE;
	(*count)++;
}

/*
 * The buffers a run may address itself are those that hold the program's own memories, nothing else
 * of the process.
 */
static enum trn_status object_make(struct trn_program *p, const struct trn_image *image)
{
	struct trn_device *device = p->queue->device;
	struct drm_trainium_program_image images[TRN_ENGINE_MAX];
	struct drm_trainium_program_create create = { .ctx = p->queue->ctx, .core = p->core };
	struct drm_trainium_program_bo *bos = calloc(p->tensor_count + 2, sizeof(*bos));
	struct trn_place place;
	uint32_t i;
	int error;

	if (!bos)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "%s: program \"%s\": no memory for a table", device->spec,
				     p->name);
	memset(images, 0, sizeof(images));
	trn_memory_place(p->code, 0, 1, "code", &place);
	for (i = 0; i < TRN_ENGINE_MAX; i++) {
		if (!image->code[i].count)
			continue;
		images[create.image_count].engine = i;
		images[create.image_count].handle = place.handle;
		images[create.image_count].offset = place.offset + p->code_offset[i];
		images[create.image_count].insns = image->code[i].count;
		create.image_count++;
	}
	bo_add(bos, &create.bo_count, p->code);
	bo_add(bos, &create.bo_count, p->constants);
	for (i = 0; i < p->tensor_count; i++)
		bo_add(bos, &create.bo_count, p->tensors[i].memory);
	create.images = (uintptr_t)images;
	create.rings = (uintptr_t)p->rings;
	create.ring_count = p->ring_count;
	create.bos = (uintptr_t)bos;
	error = device->ops->program_create(device->backend, &create);
	free(bos);
	if (error)
		return trn_error_set(trn_status_from_errno(error),
				     "%s: program \"%s\": the driver refused %u images, %u rings "
				     "and %u buffers for core %u: %s",
				     device->spec, p->name, create.image_count, create.ring_count,
				     create.bo_count, p->core, strerror(-error));
	p->handle = create.handle;
	p->made = true;
	return TRN_OK;
}

static enum trn_status program_fill(struct trn_program *p, const struct trn_image *image,
				    const struct trn_binding *bindings, size_t count)
{
	struct trn_device *device = p->queue->device;
	struct trn_memory_options where = TRN_OPTIONS(where);
	enum trn_status status;
	uint32_t i;

	/* The HBM stack next to the core. */
	where.stack = (int32_t)(device->info.cores
					? p->core * device->info.stacks / device->info.cores
					: 0);
	where.alignment = TRN_INSN_SIZE;
	where.tag = "program";
	p->info = calloc(image->tensor_count + 1, sizeof(*p->info));
	p->tensors = calloc(image->tensor_count + 1, sizeof(*p->tensors));
	p->rings = calloc(image->ring_count + 1, sizeof(*p->rings));
	if (!p->info || !p->tensors || !p->rings)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "%s: no memory for program \"%s\"",
				     device->spec, image->name);
	p->tensor_count = image->tensor_count;
	status = contents_copy(p, image, &where);
	if (!status)
		status = tensors_place(p, image, &where, bindings, count);
	for (i = 0; !status && i < image->ring_count; i++)
		status = ring_make(p, &image->rings[i]);
	return status ? status : object_make(p, image);
}

enum trn_status trn_program_load(struct trn_queue *queue, uint32_t core,
				 const struct trn_image *image, const struct trn_binding *bindings,
				 size_t binding_count, struct trn_program **program)
{
	struct trn_device *device;
	struct trn_program *p;
	enum trn_status status;
	uint32_t number;

	if (!program || !queue || !image || (binding_count && !bindings))
		return trn_error_set(TRN_ERR_INVALID,
				     "trn_program_load: queue, image and program must not be NULL, "
				     "nor bindings with a count");
	*program = NULL;
	device = queue->device;
	status = trn_device_check(device, "trn_program_load");
	if (status)
		return status;
	number = trn_queue_core(queue, core);
	if (number == UINT32_MAX)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: program \"%s\": the queue owns %d cores, there is no "
				     "core with index %u",
				     device->spec, image->name, __builtin_popcount(queue->cores),
				     core);
	/* A later generation executes everything an earlier one does. */
	if (image->generation > device->info.generation)
		return trn_error_set(TRN_ERR_UNSUPPORTED,
				     "%s: program \"%s\" was built for generation %u, the device "
				     "(%s) is generation %u: build it for this device",
				     device->spec, image->name, image->generation,
				     device->info.arch, device->info.generation);
	status = bindings_check(device, image, bindings, binding_count);
	if (status)
		return status;
	p = calloc(1, sizeof(*p));
	if (!p)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "%s: no memory for program \"%s\"",
				     device->spec, image->name);
	p->queue = queue;
	p->core = number;
	memcpy(p->name, image->name, sizeof(p->name));
	status = program_fill(p, image, bindings, binding_count);
	if (status) {
		program_destroy(p);
		return status;
	}
	p->child.destroy = program_child_destroy;
	trn_queue_child_add(queue, &p->child);
	*program = p;
	return TRN_OK;
}

void trn_program_unload(struct trn_program *program)
{
	if (!program || trn_device_check(program->queue->device, "trn_program_unload"))
		return;
	trn_queue_child_remove(program->queue, &program->child);
	program_destroy(program);
}

enum trn_status trn_program_tensor(struct trn_program *program, const char *name,
				   struct trn_memory **memory, uint64_t *offset,
				   struct trn_tensor_info *info)
{
	uint32_t i;

	if (!program || !name)
		return trn_error_set(TRN_ERR_INVALID,
				     "trn_program_tensor: program and name must not be NULL");
	for (i = 0; i < program->tensor_count; i++) {
		if (strcmp(program->info[i].name, name))
			continue;
		if (memory)
			*memory = program->tensors[i].memory;
		if (offset)
			*offset = program->tensors[i].offset;
		if (info)
			*info = program->info[i];
		return TRN_OK;
	}
	return trn_error_set(TRN_ERR_NOT_FOUND, "%s: program \"%s\" has no tensor \"%s\"",
			     program->queue->device->spec, program->name, name);
}

enum trn_status trn_program_run(struct trn_program *program, const void *args, size_t args_bytes,
				struct trn_fence *fence)
{
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_RUN };
	struct trn_fence done = { NULL, 0 };
	enum trn_status status;

	if (!program || (args_bytes && !args))
		return trn_error_set(
			TRN_ERR_INVALID,
			"trn_program_run: program must not be NULL, nor args with a size");
	status = trn_device_check(program->queue->device, "trn_program_run");
	if (status)
		return status;
	if (args_bytes > DRM_TRAINIUM_ARGS_MAX || args_bytes % 4)
		return trn_error_set(TRN_ERR_INVALID,
				     "%s: program \"%s\": %zu bytes of arguments; a multiple of 4 "
				     "and at most %u are possible",
				     program->queue->device->spec, program->name, args_bytes,
				     DRM_TRAINIUM_ARGS_MAX);
	cmd.run.program = program->handle;
	cmd.run.args_size = (uint32_t)args_bytes;
	cmd.run.args = (uintptr_t)args;
	status = trn_queue_enqueue(program->queue, &cmd, &done);
	if (done.queue)
		program->last_point = done.point;
	if (!status && fence)
		*fence = done;
	return status;
}
