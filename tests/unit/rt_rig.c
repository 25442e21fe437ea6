// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the tests of the runtime. Locking: none; each test has a device of its own. */
#include <stdlib.h>
#include <string.h>

#include "rt_rig.h"

struct trn_device *rt_open(const char *spec)
{
	struct trn_device *device = NULL;

	rt_ok(trn_device_open(spec, &device));
	ck_assert_ptr_nonnull(device);
	return device;
}

struct trn_queue *rt_queue(struct trn_device *device, uint32_t cores, uint64_t timeout_ns)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_queue *queue = NULL;

	options.core_count = cores;
	options.timeout_ns = timeout_ns;
	rt_ok(trn_queue_create(device, &options, &queue));
	return queue;
}

struct trn_memory *rt_alloc(struct trn_device *device, uint64_t bytes)
{
	struct trn_memory *memory = NULL;

	rt_ok(trn_memory_alloc(device, bytes, NULL, &memory));
	return memory;
}

void rt_pattern(uint8_t *out, size_t bytes, uint32_t seed)
{
	size_t i;

	for (i = 0; i < bytes; i++) {
		seed = seed * 1664525u + 1013904223u;
		out[i] = seed >> 24;
	}
}

struct trn_insn rt_insn(uint8_t opcode)
{
	struct trn_insn insn;

	memset(&insn, 0, sizeof(insn));
	insn.opcode = opcode;
	insn.engine = TRN_ENGINE_SP;
	return insn;
}

void rt_program_make(struct rt_program *program, struct trn_queue *queue,
		     const struct trn_insn *insns, uint32_t count)
{
	struct trn_device *device = queue->device;
	struct drm_trainium_program_image image = { .engine = TRN_ENGINE_SP, .insns = count };
	struct drm_trainium_program_create create = { .ctx = queue->ctx,
						      .core = trn_queue_core(queue, 0) };
	struct drm_trainium_program_bo *bos;
	struct trn_place place;
	uint64_t generation;
	uint32_t bo_count;

	program->queue = queue;
	program->code = rt_alloc(device, count * sizeof(*insns));
	rt_ok(trn_queue_write(queue, program->code, 0, insns, count * sizeof(*insns), NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	rt_ok(trn_memory_place(program->code, 0, count * sizeof(*insns), "code", &place));
	ck_assert_uint_eq(place.offset % TRN_INSN_SIZE, 0);
	rt_ok(trn_device_buffers(device, &bos, &bo_count, &generation));
	image.handle = place.handle;
	image.offset = place.offset;
	create.images = (uintptr_t)&image;
	create.image_count = 1;
	create.bos = (uintptr_t)bos;
	create.bo_count = bo_count;
	ck_assert_int_eq(device->ops->program_create(device->backend, &create), 0);
	free(bos);
	program->handle = create.handle;
}

enum trn_status rt_program_run(struct rt_program *program, struct trn_fence *fence)
{
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_RUN };

	cmd.run.program = program->handle;
	return trn_queue_enqueue(program->queue, &cmd, fence);
}

void rt_program_free(struct rt_program *program)
{
	struct trn_device *device = program->queue->device;

	trn_queue_drain(program->queue);
	ck_assert_int_eq(device->ops->program_destroy(device->backend, program->queue->ctx,
						      program->handle),
			 0);
	trn_memory_free(program->code);
}

int rt_main(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
