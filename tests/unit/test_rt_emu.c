// SPDX-License-Identifier: BSD-2-Clause
/* The emu backend keeps the UAPI's contract: every table entry fed with what it must refuse. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rt_rig.h"

static struct trn_device *device;
static const struct trn_backend_ops *ops;
static struct trn_backend_device *backend;
static struct drm_trainium_ctx_create ctx;
static struct drm_trainium_bo_create bo;

static void setup(void)
{
	device = rt_open(RT_SPEC);
	ops = device->ops;
	backend = device->backend;
	ctx = (struct drm_trainium_ctx_create){ .core_mask = 1 };
	ck_assert_int_eq(ops->ctx_create(backend, &ctx), 0);
	bo = (struct drm_trainium_bo_create){ .size = 65536 };
	ck_assert_int_eq(ops->bo_create(backend, &bo), 0);
}

static void teardown(void)
{
	trn_device_close(device);
}

/* ---- query ---- */

START_TEST(test_query_sizes)
{
	struct drm_trainium_device_info info;
	struct drm_trainium_query query = { .what = DRM_TRAINIUM_QUERY_DEVICE };
	uint8_t room[sizeof(info) + 16];

	ck_assert_int_eq(ops->query(backend, &query), 0);
	ck_assert_uint_eq(query.size, sizeof(info));
	query.data = (uintptr_t)room;
	query.size = sizeof(room);
	memset(room, 0xff, sizeof(room));
	ck_assert_int_eq(ops->query(backend, &query), 0);
	ck_assert_uint_eq(query.size, sizeof(info));
	ck_assert_uint_eq(room[sizeof(room) - 1], 0);
	memset(room, 0xff, sizeof(room));
	query.size = 4;
	ck_assert_int_eq(ops->query(backend, &query), 0);
	ck_assert_uint_eq(room[4], 0xff);
	query.what = 99;
	ck_assert_int_eq(ops->query(backend, &query), -EINVAL);
	query.what = 0;
	query.flags = 1;
	ck_assert_int_eq(ops->query(backend, &query), -EINVAL);
	query.flags = 0;
	query.data = 0;
	query.size = 8;
	ck_assert_int_eq(ops->query(backend, &query), -EINVAL);
}
END_TEST

/* ---- buffers ---- */

START_TEST(test_bo_create)
{
	static const struct {
		struct drm_trainium_bo_create create;
		int error;
	} cases[] = {
		{ { .size = 0 }, -EINVAL },
		{ { .size = 4096, .flags = 1 }, -EINVAL },
		{ { .size = 4096, .place = 2 }, -EINVAL },
		{ { .size = 4096, .stack = 2 }, -EINVAL },
		{ { .size = UINT64_MAX }, -ENOBUFS },
		{ { .size = UINT64_MAX - 4095, .stack = DRM_TRAINIUM_STACK_ANY }, -ENOBUFS },
		{ { .size = UINT64_MAX, .place = DRM_TRAINIUM_PLACE_HOST }, -ENOMEM },
		{ { .size = 1, .stack = DRM_TRAINIUM_STACK_ANY }, 0 },
		{ { .size = 1, .place = DRM_TRAINIUM_PLACE_HOST }, 0 },
	};
	struct drm_trainium_bo_create create = cases[_i].create;

	ck_assert_int_eq(ops->bo_create(backend, &create), cases[_i].error);
}
END_TEST

START_TEST(test_bo_handles)
{
	struct drm_trainium_bo_create other = { .size = 4096, .place = DRM_TRAINIUM_PLACE_HOST };
	void *pointer = NULL;
	uint32_t handle;

	ck_assert_int_eq(ops->bo_create(backend, &other), 0);
	handle = other.handle;
	ck_assert_int_eq(ops->bo_map(backend, handle, 4096, &pointer), 0);
	ck_assert_ptr_nonnull(pointer);
	ck_assert_int_eq(ops->bo_map(backend, handle, 4097, &pointer), -EINVAL);
	ck_assert_int_eq(ops->bo_map(backend, bo.handle, 4096, &pointer), -EINVAL);
	ck_assert_int_eq(ops->bo_map(backend, 999, 4096, &pointer), -ENOENT);
	ck_assert_int_eq(ops->bo_destroy(backend, handle), 0);
	ck_assert_int_eq(ops->bo_destroy(backend, handle), -ENOENT);
	ck_assert_int_eq(ops->bo_destroy(backend, 0), -ENOENT);
	ck_assert_int_eq(ops->bo_destroy(backend, UINT32_MAX), -ENOENT);
	/* The lowest free handle comes next. */
	ck_assert_int_eq(ops->bo_create(backend, &other), 0);
	ck_assert_uint_eq(other.handle, handle);
}
END_TEST

/* ---- contexts ---- */

START_TEST(test_ctx_create)
{
	static const struct {
		struct drm_trainium_ctx_create create;
		int error;
	} cases[] = {
		{ { .core_mask = 1 }, -EBUSY },
		{ { .core_mask = 3 }, -EBUSY },
		{ { .core_mask = 4 }, -EINVAL },
		{ { .core_count = 3 }, -EINVAL },
		{ { .core_mask = 2, .core_count = 2 }, -EINVAL },
		{ { .flags = 1 }, -EINVAL },
		{ { .pad = 1 }, -EINVAL },
		{ { .core_mask = 2, .core_count = 1 }, 0 },
		{ { .core_count = 1 }, 0 },
		{ { .core_count = 0 }, 0 },
	};
	struct drm_trainium_ctx_create create = cases[_i].create;

	ck_assert_int_eq(ops->ctx_create(backend, &create), cases[_i].error);
}
END_TEST

START_TEST(test_ctx_unknown)
{
	struct drm_trainium_ctx_status status = { .id = 999 };
	uint64_t failed;
	int fd;

	ck_assert_int_eq(ops->ctx_status(backend, &status), -ENOENT);
	ck_assert_int_eq(ops->ctx_wait(backend, 999, 1, 0, &failed), -ENOENT);
	ck_assert_int_eq(ops->ctx_fd(backend, 999, 1, &fd), -ENOENT);
	ck_assert_int_eq(ops->ctx_destroy(backend, 999), -ENOENT);
	ck_assert_int_eq(ops->ctx_destroy(backend, ctx.id), 0);
	ck_assert_int_eq(ops->ctx_destroy(backend, ctx.id), -ENOENT);
}
END_TEST

/* ---- submission ---- */

static struct trn_backend_job job(const struct drm_trainium_cmd *cmd)
{
	return (struct trn_backend_job){ .ctx = ctx.id, .cmds = cmd, .cmd_count = 1, .signal = 1 };
}

START_TEST(test_submit)
{
	static uint8_t user[64];
	const uint64_t pointer = (uintptr_t)user;
	const struct {
		struct drm_trainium_cmd cmd;
		int error;
	} cases[] = {
		{ { .type = 3 }, -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_COPY, .flags = 1 }, -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_COPY, .copy = { 0, 0, pointer, pointer, 4 } },
		  -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_COPY, .copy = { 0, 99, pointer, 0, 4 } }, -ENOENT },
		{ { .type = DRM_TRAINIUM_CMD_COPY, .copy = { 99, 0, 0, pointer, 4 } }, -ENOENT },
		{ { .type = DRM_TRAINIUM_CMD_COPY, .copy = { 0, bo.handle, pointer, 65536, 1 } },
		  -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_COPY,
		    .copy = { 0, bo.handle, pointer, UINT64_MAX, 2 } },
		  -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_COPY, .copy = { 0, bo.handle, pointer, 0, 0 } },
		  -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_COPY, .copy = { 0, bo.handle, 0, 0, 4 } }, -EFAULT },
		{ { .type = DRM_TRAINIUM_CMD_COPY,
		    .copy = { 0, bo.handle, UINT64_MAX - 4, 0, 64 } },
		  -EFAULT },
		{ { .type = DRM_TRAINIUM_CMD_COPY, .copy = { 0, bo.handle, 4096, 0, 64 } },
		  -EFAULT },
		{ { .type = DRM_TRAINIUM_CMD_FILL, .fill = { bo.handle, 0, 0, 65540, 0 } },
		  -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_FILL, .fill = { bo.handle, 0, 2, 4, 0 } }, -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_FILL, .fill = { bo.handle, 0, 0, 0, 0 } }, -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_FILL, .fill = { 0, 0, 0, 4, 0 } }, -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_FILL, .fill = { bo.handle, 0, 0, 4, 1 } }, -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_RUN, .run = { 1, 0, 0, { 0 } } }, -ENOENT },
		{ { .type = DRM_TRAINIUM_CMD_RUN, .run = { 1, 3, pointer, { 0 } } }, -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_RUN, .run = { 1, 260, pointer, { 0 } } }, -EINVAL },
		{ { .type = DRM_TRAINIUM_CMD_RUN, .run = { 1, 4, 0, { 0 } } }, -EFAULT },
		{ { .type = DRM_TRAINIUM_CMD_FILL, .fill = { bo.handle, 0, 0, 4, 0 } }, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trn_backend_job one = job(&cases[i].cmd);
		int error = ops->submit(backend, &one);

		ck_assert_msg(error == cases[i].error, "case %u: %d, not %d", i, error,
			      cases[i].error);
	}
}
END_TEST

START_TEST(test_submit_limits)
{
	const struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_FILL,
					      .fill = { bo.handle, 0, 0, 4, 0 } };
	struct trn_backend_point wait = { .device = backend, .ctx = 999, .point = 1 };
	struct trn_backend_job one = job(&cmd);
	uint64_t failed;

	one.cmds = NULL;
	ck_assert_int_eq(ops->submit(backend, &one), -EINVAL);
	one.cmds = &cmd;
	one.cmd_count = DRM_TRAINIUM_SUBMIT_CMDS_MAX + 1;
	ck_assert_int_eq(ops->submit(backend, &one), -E2BIG);
	one.cmd_count = 1;
	one.timeout_ns = UINT64_MAX;
	ck_assert_int_eq(ops->submit(backend, &one), -EINVAL);
	one.timeout_ns = 0;
	one.waits = &wait;
	one.wait_count = 1;
	ck_assert_int_eq(ops->submit(backend, &one), -ENOENT);
	one.wait_count = 0;
	one.ctx = 999;
	ck_assert_int_eq(ops->submit(backend, &one), -ENOENT);
	one.ctx = ctx.id;
	ck_assert_int_eq(ops->submit(backend, &one), 0);
	/* Points go up. */
	ck_assert_int_eq(ops->submit(backend, &one), -EINVAL);
	one.signal = 2;
	one.cmd_count = 0;
	ck_assert_int_eq(ops->submit(backend, &one), 0);
	ck_assert_int_eq(ops->ctx_wait(backend, ctx.id, 2, INT64_MAX, &failed), 0);
}
END_TEST

/* A buffer destroyed while a job uses it lives until the job is done. */
START_TEST(test_bo_in_use)
{
	const struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_FILL,
					      .fill = { bo.handle, 7, 0, 65536, 0 } };
	struct trn_backend_job one = job(&cmd);
	uint64_t failed = 1;

	ck_assert_int_eq(ops->submit(backend, &one), 0);
	ck_assert_int_eq(ops->bo_destroy(backend, bo.handle), 0);
	ck_assert_int_eq(ops->ctx_wait(backend, ctx.id, 1, INT64_MAX, &failed), 0);
	ck_assert_uint_eq(failed, 0);
}
END_TEST

/* ---- rings ---- */

static int ring(const struct drm_trainium_xfer *xfers, uint32_t count, uint32_t *bad)
{
	struct drm_trainium_ring_create create = {
		.ctx = ctx.id, .count = count, .stride = sizeof(*xfers), .xfers = (uintptr_t)xfers
	};
	int error = ops->ring_create(backend, &create);

	*bad = create.bad_index;
	if (!error)
		ck_assert_int_eq(ops->ring_destroy(backend, ctx.id, create.handle), 0);
	return error;
}

#define BO   DRM_TRAINIUM_REF_BO
#define SBUF DRM_TRAINIUM_REF_SBUF
#define SEM  DRM_TRAINIUM_REF_SEM_INC

START_TEST(test_ring_transfers)
{
	const struct drm_trainium_xfer good = { BO, SBUF, 0, 64, bo.handle, 0, 0, 0 };
	const struct {
		struct drm_trainium_xfer xfer;
		int error;
	} cases[] = {
		{ { BO, SBUF, 0, 65536, bo.handle, 0, 0, 0 }, 0 },
		{ { SBUF, BO, 1, 1, 0, bo.handle, 127 * 262144 + 196607, 65535 }, 0 },
		{ { BO, SEM, 0, 4, 0, 0, 0, 255 }, 0 },
		{ { BO, BO, 0, 4, bo.handle, bo.handle, 0, 65532 }, 0 },
		{ { BO, BO, 0, 5, bo.handle, bo.handle, 0, 65532 }, -EACCES },
		{ { BO, BO, 0, 4, bo.handle, bo.handle, UINT64_MAX - 2, 0 }, -EACCES },
		{ { BO, BO, 0, 4, bo.handle, 77, 0, 0 }, -ENOENT },
		{ { BO, BO, 0, 4, 0, bo.handle, 0, 0 }, -ENOENT },
		{ { BO, BO, 0, 0, bo.handle, bo.handle, 0, 0 }, -EINVAL },
		{ { BO, BO, 0, 65537, bo.handle, bo.handle, 0, 0 }, -EINVAL },
		{ { BO, BO, 2, 4, bo.handle, bo.handle, 0, 0 }, -EINVAL },
		{ { BO, SBUF, 0, 4, bo.handle, 0, 0, 128 * 262144ull }, -EINVAL },
		{ { BO, SBUF, 0, 4, bo.handle, 0, 0, UINT64_MAX }, -EINVAL },
		{ { BO, SBUF, 0, 4, bo.handle, 0, 0, 196605 }, -EACCES },
		{ { BO, SBUF, 0, 4, bo.handle, 9, 0, 0 }, -EINVAL },
		{ { BO, SEM, 0, 4, 0, 0, 0, 256 }, -EINVAL },
		{ { BO, SEM, 0, 8, 0, 0, 0, 1 }, -EINVAL },
		{ { BO, SEM, 0, 4, bo.handle, 0, 0, 1 }, -EINVAL },
		{ { SEM, BO, 0, 4, 0, bo.handle, 0, 0 }, -EINVAL },
		{ { 9, BO, 0, 4, 0, bo.handle, 0, 0 }, -EINVAL },
		{ { BO, 9, 0, 4, bo.handle, 0, 0, 0 }, -EINVAL },
	};
	struct drm_trainium_xfer xfers[3];
	uint32_t bad;
	unsigned int i;
	int error;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		xfers[0] = good;
		xfers[1] = cases[i].xfer;
		xfers[2] = good;
		error = ring(xfers, 3, &bad);
		ck_assert_msg(error == cases[i].error, "case %u: %d, not %d", i, error,
			      cases[i].error);
		if (error)
			ck_assert_uint_eq(bad, 1);
	}
}
END_TEST

START_TEST(test_ring_create)
{
	struct drm_trainium_xfer xfer = { BO, SBUF, 0, 64, bo.handle, 0, 0, 0 };
	const struct drm_trainium_ring_create good = {
		.ctx = ctx.id,
		.count = 1,
		.stride = sizeof(xfer),
		.xfers = (uintptr_t)&xfer,
	};
	struct drm_trainium_ring_create create = good;

	create.ctx = 999;
	ck_assert_int_eq(ops->ring_create(backend, &create), -ENOENT);
	create = good;
	create.core = 1; /* not of this context */
	ck_assert_int_eq(ops->ring_create(backend, &create), -EINVAL);
	create.core = UINT32_MAX;
	ck_assert_int_eq(ops->ring_create(backend, &create), -EINVAL);
	create = good;
	create.engine = 16;
	ck_assert_int_eq(ops->ring_create(backend, &create), -EINVAL);
	create = good;
	create.queue = 14;
	ck_assert_int_eq(ops->ring_create(backend, &create), -EINVAL);
	create = good;
	create.count = 0;
	ck_assert_int_eq(ops->ring_create(backend, &create), -EINVAL);
	create.count = DRM_TRAINIUM_RING_XFERS_MAX + 1;
	ck_assert_int_eq(ops->ring_create(backend, &create), -E2BIG);
	create = good;
	create.stride = sizeof(xfer) - 1;
	ck_assert_int_eq(ops->ring_create(backend, &create), -EINVAL);
	create = good;
	create.xfers = 0;
	ck_assert_int_eq(ops->ring_create(backend, &create), -EFAULT);
	create = good;
	create.flags = 1;
	ck_assert_int_eq(ops->ring_create(backend, &create), -EINVAL);
	create = good;
	ck_assert_int_eq(ops->ring_create(backend, &create), 0);
	ck_assert_int_eq(ops->ring_destroy(backend, ctx.id, create.handle + 1), -ENOENT);
	ck_assert_int_eq(ops->ring_destroy(backend, 999, create.handle), -ENOENT);
	ck_assert_int_eq(ops->ring_destroy(backend, ctx.id, create.handle), 0);
	ck_assert_int_eq(ops->ring_destroy(backend, ctx.id, create.handle), -ENOENT);
}
END_TEST

/* ---- programs ---- */

START_TEST(test_program_create)
{
	struct drm_trainium_xfer xfer = { BO, SBUF, 0, 64, bo.handle, 0, 0, 0 };
	struct drm_trainium_ring_create ring_create = {
		.ctx = ctx.id,
		.count = 1,
		.stride = sizeof(xfer),
		.xfers = (uintptr_t)&xfer,
	};
	struct drm_trainium_program_image image = { .engine = TRN_ENGINE_SP,
						    .handle = bo.handle,
						    .insns = 512 };
	struct drm_trainium_program_bo access = { .handle = bo.handle,
						  .access = DRM_TRAINIUM_BO_READ };
	uint32_t rings[2];
	const struct drm_trainium_program_create good = {
		.ctx = ctx.id,
		.images = (uintptr_t)&image,
		.image_count = 1,
		.rings = (uintptr_t)rings,
		.ring_count = 1,
		.bos = (uintptr_t)&access,
		.bo_count = 1,
	};
	struct drm_trainium_program_create create = good;

	ck_assert_int_eq(ops->ring_create(backend, &ring_create), 0);
	rings[0] = ring_create.handle;
	rings[1] = ring_create.handle;
	ck_assert_int_eq(ops->program_create(backend, &create), 0);
	/* A ring in use by a program may be destroyed; the program keeps it. */
	create.ring_count = 2;
	ck_assert_int_eq(ops->program_create(backend, &create), -EINVAL);
	rings[1] = 99;
	ck_assert_int_eq(ops->program_create(backend, &create), -ENOENT);
	create = good;
	image.insns = 513;
	ck_assert_int_eq(ops->program_create(backend, &create), -EACCES);
	image.insns = UINT32_MAX;
	ck_assert_int_eq(ops->program_create(backend, &create), -EACCES);
	image.insns = 0;
	ck_assert_int_eq(ops->program_create(backend, &create), -EINVAL);
	image.insns = 1;
	image.offset = 64;
	ck_assert_int_eq(ops->program_create(backend, &create), -EINVAL);
	image.offset = 65536;
	ck_assert_int_eq(ops->program_create(backend, &create), -EACCES);
	image.offset = 0;
	image.engine = TRN_ENGINE_MAX;
	ck_assert_int_eq(ops->program_create(backend, &create), -EINVAL);
	image.engine = TRN_ENGINE_SP;
	image.handle = 99;
	ck_assert_int_eq(ops->program_create(backend, &create), -ENOENT);
	image.handle = bo.handle;
	access.access = 4;
	ck_assert_int_eq(ops->program_create(backend, &create), -EINVAL);
	access.access = 3;
	access.handle = 99;
	ck_assert_int_eq(ops->program_create(backend, &create), -ENOENT);
	access.handle = bo.handle;
	create.image_count = 0;
	ck_assert_int_eq(ops->program_create(backend, &create), -EINVAL);
	create = good;
	create.core = 1;
	ck_assert_int_eq(ops->program_create(backend, &create), -EINVAL);
	create = good;
	ck_assert_int_eq(ops->ring_destroy(backend, ctx.id, rings[0]), 0);
	ck_assert_int_eq(ops->program_create(backend, &create), -ENOENT);
	create.ring_count = 0;
	ck_assert_int_eq(ops->program_create(backend, &create), 0);
	ck_assert_int_eq(ops->program_destroy(backend, ctx.id, create.handle), 0);
	ck_assert_int_eq(ops->program_destroy(backend, ctx.id, create.handle), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rt_emu");
	TCase *tc = tcase_create("emu");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_query_sizes);
	tcase_add_loop_test(tc, test_bo_create, 0, 9);
	tcase_add_test(tc, test_bo_handles);
	tcase_add_loop_test(tc, test_ctx_create, 0, 10);
	tcase_add_test(tc, test_ctx_unknown);
	tcase_add_test(tc, test_submit);
	tcase_add_test(tc, test_submit_limits);
	tcase_add_test(tc, test_bo_in_use);
	tcase_add_test(tc, test_ring_transfers);
	tcase_add_test(tc, test_ring_create);
	tcase_add_test(tc, test_program_create);
	suite_add_tcase(suite, tc);
	return rt_main(suite);
}
