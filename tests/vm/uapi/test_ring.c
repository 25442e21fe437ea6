// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rings and programs: what is refused when they are made.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uapi.h"

enum {
	BO_SIZE = 65536
};

static uint32_t ctx, core, bo;

static int make(int fd, struct drm_trainium_ring_create *c)
{
	int err = uapi_call(fd, DRM_IOCTL_TRAINIUM_RING_CREATE, c);
	struct drm_trainium_ring_destroy d = { .ctx = c->ctx, .handle = c->handle };

	if (!err)
		uapi_call(fd, DRM_IOCTL_TRAINIUM_RING_DESTROY, &d);
	return err;
}

/* A ring of two good transfers and one that is put to the test. */
static void third(int fd, struct drm_trainium_xfer x, int want, const char *name)
{
	struct drm_trainium_xfer xfers[3] = { uapi_xfer_bo_sbuf(bo, 0, 0, 64), uapi_xfer_sem(0),
					      x };
	struct drm_trainium_ring_create c = uapi_ring_args(ctx, core, 0, 0, xfers, 3);

	uapi_is(make(fd, &c), want, "%s", name);
	if (want)
		uapi_is(c.bad_index, 2, "%s: the transfer is named", name);
}

static void transfers(int fd)
{
	const uint64_t partition = TRN_SBUF_PARTITION_STRIDE;
	struct drm_trainium_xfer x;

	third(fd, uapi_xfer_bo_sbuf(bo, 0, 0, 65536), 0, "64 KiB");
	third(fd, uapi_xfer_bo_sbuf(bo, 0, 0, 0), -EINVAL, "length 0");
	third(fd, uapi_xfer_bo_sbuf(bo, 0, 0, 65537), -EINVAL, "length 64 KiB + 1");
	third(fd, uapi_xfer_bo_sbuf(bo, 0, 0, UINT32_MAX), -EINVAL, "length 2^32-1");
	third(fd, uapi_xfer_bo_sbuf(bo, BO_SIZE - 63, 0, 64), -EACCES,
	      "source past the buffer's end");
	third(fd, uapi_xfer_bo_sbuf(bo, UINT64_MAX - 31, 0, 64), -EACCES,
	      "source offset overflows");
	third(fd, uapi_xfer_sbuf_bo(0, bo, BO_SIZE - 63, 64), -EACCES,
	      "destination past the buffer's end");
	third(fd, uapi_xfer_sbuf_bo(0, bo, BO_SIZE - 64, 64), 0,
	      "destination up to the buffer's end");
	third(fd, uapi_xfer_bo_sbuf(bo + 1000, 0, 0, 64), -ENOENT, "handle that does not exist");
	third(fd, uapi_xfer_bo_sbuf(bo, 0, 127 * partition, 64), 0, "last partition");
	third(fd, uapi_xfer_bo_sbuf(bo, 0, 128 * partition, 64), -EACCES, "partition 128");
	third(fd, uapi_xfer_bo_sbuf(bo, 0, 192 * 1024 - 64, 64), 0, "end of a partition");
	third(fd, uapi_xfer_bo_sbuf(bo, 0, 224 * 1024 - 63, 64), -EACCES,
	      "across the end of a partition");
	third(fd, uapi_xfer_bo_sbuf(bo, 0, UINT64_MAX, 64), -EACCES, "SBUF offset 2^64-1");
	third(fd, uapi_xfer_sem(255), 0, "semaphore 255");
	third(fd, uapi_xfer_sem(256), -EINVAL, "semaphore 256");
	x = uapi_xfer_sem(0);
	x.length = 8;
	third(fd, x, -EINVAL, "semaphore of 8 bytes");
	x = uapi_xfer_sem(0);
	x.src_kind = DRM_TRAINIUM_REF_SBUF;
	third(fd, x, -EINVAL, "semaphore with a source");
	x = uapi_xfer_bo_sbuf(bo, 0, 0, 64);
	x.flags = 2;
	third(fd, x, -EINVAL, "flag of a transfer");
	x.flags = DRM_TRAINIUM_XFER_BARRIER;
	third(fd, x, 0, "barrier");
	x = uapi_xfer_bo_sbuf(bo, 0, 0, 64);
	x.src_kind = 3;
	third(fd, x, -EINVAL, "unknown kind of source");
	x.src_kind = DRM_TRAINIUM_REF_SEM_INC;
	third(fd, x, -EINVAL, "semaphore as source");
	x = uapi_xfer_bo_sbuf(bo, 0, 0, 64);
	x.dst_handle = bo;
	third(fd, x, -EINVAL, "handle for SBUF");
}

static void ring_args(int fd)
{
	struct drm_trainium_xfer x = uapi_xfer_bo_sbuf(bo, 0, 0, 64);
	const struct drm_trainium_ring_create good = uapi_ring_args(ctx, core, 0, 0, &x, 1);
	struct drm_trainium_ring_create c = good;
	struct drm_trainium_ring_destroy d = { .ctx = ctx, .handle = 4711 };

	uapi_is(make(fd, &c), 0, "ring of one transfer");
	c = good, c.ctx = 99;
	uapi_is(make(fd, &c), -ENOENT, "ring: context that does not exist");
	c = good, c.core = 64;
	uapi_is(make(fd, &c), -EINVAL, "ring: core that does not exist");
	c = good, c.core = core ^ 1;
	uapi_is(make(fd, &c), -EINVAL, "ring: core the context does not own");
	c = good, c.engine = 16;
	uapi_is(make(fd, &c), -EINVAL, "ring: engine 16");
	c = good, c.queue = 14;
	uapi_is(make(fd, &c), -EINVAL, "ring: reserved queue");
	c = good, c.count = 0;
	uapi_is(make(fd, &c), -EINVAL, "ring: no transfers");
	c = good, c.count = DRM_TRAINIUM_RING_XFERS_MAX + 1;
	uapi_is(make(fd, &c), -E2BIG, "ring: too many transfers");
	c = good, c.stride = 24;
	uapi_is(make(fd, &c), -EINVAL, "ring: wrong stride");
	c = good, c.xfers = 0;
	uapi_is(make(fd, &c), -EFAULT, "ring: null pointer");
	c = good, c.flags = 1;
	uapi_is(make(fd, &c), -EINVAL, "ring: flag");
	c = good, c.pad = 1;
	uapi_is(make(fd, &c), -EINVAL, "ring: padding");
	c = good, c.handle = 1;
	uapi_is(make(fd, &c), -EINVAL, "ring: handle given");
	c = good, c.bad_index = 1;
	uapi_is(make(fd, &c), -EINVAL, "ring: bad index given");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_RING_DESTROY, &d), -ENOENT,
		"ring: destroy what does not exist");
	d.ctx = 99;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_RING_DESTROY, &d), -ENOENT,
		"ring: destroy in a context that does not exist");
}

/* A ring keeps its buffers: they are freed with the last ring that names them. */
static void lifetime(int fd)
{
	uint64_t before = uapi_free_hbm(fd);
	uint32_t buffer = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 4 * MIB, NULL);
	struct drm_trainium_xfer x = uapi_xfer_bo_sbuf(buffer, 0, 0, 64);
	uint32_t ring = uapi_ring(fd, ctx, core, 1, 1, &x, 1);
	struct drm_trainium_ring_destroy d = { .ctx = ctx, .handle = ring };

	uapi_ok(ring != 0, "ring on a buffer of its own");
	uapi_bo_close(fd, buffer);
	uapi_ok(before - uapi_free_hbm(fd) >= 4 * MIB, "a ring holds its buffer");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_RING_DESTROY, &d), 0, "destroy the ring");
	uapi_is((int64_t)uapi_free_hbm(fd), (int64_t)before, "the buffer goes with it");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_RING_DESTROY, &d), -ENOENT, "destroy twice");
}

static void large(int fd)
{
	uint32_t count = DRM_TRAINIUM_RING_XFERS_MAX, i, ring;
	uint64_t before = uapi_free_hbm(fd);
	struct drm_trainium_xfer *x = calloc(count, sizeof(*x));
	struct drm_trainium_ring_destroy d = { .ctx = ctx };

	for (i = 0; i < count; i++)
		x[i] = uapi_xfer_bo_sbuf(bo, i % 1024 * 64,
					 i % 128 * (uint64_t)TRN_SBUF_PARTITION_STRIDE, 64);
	ring = uapi_ring(fd, ctx, core, 2, 2, x, count);
	uapi_ok(ring != 0, "ring of a million transfers");
	d.handle = ring;
	uapi_call(fd, DRM_IOCTL_TRAINIUM_RING_DESTROY, &d);
	uapi_is((int64_t)uapi_free_hbm(fd), (int64_t)before, "its memory is given back");
	free(x);
}

static int program(int fd, const struct drm_trainium_program_create *args)
{
	struct drm_trainium_program_create c = *args;
	struct drm_trainium_program_destroy d = { .ctx = args->ctx };
	int err = uapi_call(fd, DRM_IOCTL_TRAINIUM_PROGRAM_CREATE, &c);

	d.handle = c.handle;
	if (!err)
		uapi_call(fd, DRM_IOCTL_TRAINIUM_PROGRAM_DESTROY, &d);
	return err;
}

static void program_images(int fd, const struct drm_trainium_program_create *good)
{
	const struct drm_trainium_program_image ok = { .engine = TRN_ENGINE_SP,
						       .handle = bo,
						       .insns = 4 };
	struct drm_trainium_program_image image[2] = { ok, ok };
	struct drm_trainium_program_create c = *good;
	uint32_t host = uapi_bo(fd, DRM_TRAINIUM_PLACE_HOST, 4096, NULL);

	c.images = (uintptr_t)image;
	uapi_is(program(fd, &c), 0, "program of one image");
	c.image_count = 2;
	uapi_is(program(fd, &c), -EINVAL, "program: two images of one engine");
	image[1].engine = TRN_ENGINE_PE;
	uapi_is(program(fd, &c), 0, "program of two images of one buffer");
	c.image_count = 0;
	uapi_is(program(fd, &c), -EINVAL, "program: no image");
	c.image_count = 7;
	uapi_is(program(fd, &c), -E2BIG, "program: seven images");
	c.image_count = 1;
	image[0] = ok, image[0].engine = 0;
	uapi_is(program(fd, &c), -EINVAL, "program: no engine");
	image[0] = ok, image[0].engine = 4;
	uapi_is(program(fd, &c), -EINVAL, "program: engine number that is not used");
	image[0] = ok, image[0].engine = UINT32_MAX;
	uapi_is(program(fd, &c), -EINVAL, "program: engine 2^32-1");
	image[0] = ok, image[0].insns = 0;
	uapi_is(program(fd, &c), -EINVAL, "program: no instructions");
	image[0] = ok, image[0].insns = UINT32_MAX;
	uapi_is(program(fd, &c), -EACCES, "program: more instructions than the buffer holds");
	image[0] = ok, image[0].offset = 64;
	uapi_is(program(fd, &c), -EINVAL, "program: misaligned image");
	image[0] = ok, image[0].offset = UINT64_MAX - 127;
	uapi_is(program(fd, &c), -EACCES, "program: image offset overflows");
	image[0] = ok, image[0].handle = 4711;
	uapi_is(program(fd, &c), -ENOENT, "program: image handle that does not exist");
	image[0] = ok, image[0].handle = host;
	uapi_is(program(fd, &c), -EINVAL, "program: instructions in host memory");
	image[0] = ok, image[0].pad = 1;
	uapi_is(program(fd, &c), -EINVAL, "program: padding of an image");
	uapi_bo_close(fd, host);
}

static void program_args(int fd)
{
	struct drm_trainium_program_image image = { .engine = TRN_ENGINE_SP,
						    .handle = bo,
						    .insns = 4 };
	struct drm_trainium_program_bo access = { .handle = bo, .access = DRM_TRAINIUM_BO_READ };
	struct drm_trainium_xfer x = uapi_xfer_bo_sbuf(bo, 0, 0, 64);
	uint32_t rings[2] = { uapi_ring(fd, ctx, core, 3, 3, &x, 1),
			      uapi_ring(fd, ctx, core, 3, 3, &x, 1) };
	const struct drm_trainium_program_create good = {
		.ctx = ctx, .core = core, .images = (uintptr_t)&image, .image_count = 1
	};
	struct drm_trainium_program_create c = good;
	struct drm_trainium_program_destroy d = { .ctx = ctx, .handle = 4711 };

	program_images(fd, &good);
	c = good, c.ctx = 99;
	uapi_is(program(fd, &c), -ENOENT, "program: context that does not exist");
	c = good, c.core = core ^ 1;
	uapi_is(program(fd, &c), -EINVAL, "program: core the context does not own");
	c = good, c.flags = 1;
	uapi_is(program(fd, &c), -EINVAL, "program: flag");
	c = good, c.handle = 1;
	uapi_is(program(fd, &c), -EINVAL, "program: handle given");
	c = good, c.images = 0;
	uapi_is(program(fd, &c), -EFAULT, "program: null pointer to images");
	c = good, c.rings = (uintptr_t)rings, c.ring_count = 1;
	uapi_is(program(fd, &c), 0, "program with a ring");
	c.ring_count = 2;
	uapi_is(program(fd, &c), -EINVAL, "program: two rings on one queue");
	c.ring_count = 100000;
	uapi_is(program(fd, &c), -E2BIG, "program: too many rings");
	rings[0] = 4711;
	c.ring_count = 1;
	uapi_is(program(fd, &c), -ENOENT, "program: ring that does not exist");
	c = good, c.bos = (uintptr_t)&access, c.bo_count = 1;
	uapi_is(program(fd, &c), 0, "program with a buffer");
	access.access = 4;
	uapi_is(program(fd, &c), -EINVAL, "program: unknown access");
	access.access = 0;
	uapi_is(program(fd, &c), -EINVAL, "program: no access");
	access.access = 1, access.handle = 4711;
	uapi_is(program(fd, &c), -ENOENT, "program: buffer that does not exist");
	c.bo_count = UINT32_MAX;
	uapi_is(program(fd, &c), -E2BIG, "program: too many buffers");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_PROGRAM_DESTROY, &d), -ENOENT,
		"program: destroy what does not exist");
}

int main(void)
{
	struct drm_trainium_device_info info;
	uint32_t cores = 0;
	uint64_t before;
	int fd = uapi_open();

	before = uapi_free_hbm(fd);
	uapi_device(fd, &info);
	ctx = uapi_ctx(fd, 0, 1, &cores);
	core = (uint32_t)__builtin_ctz(cores | 0x80000000u);
	bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, BO_SIZE, NULL);
	transfers(fd);
	ring_args(fd);
	lifetime(fd);
	large(fd);
	if (info.caps & DRM_TRAINIUM_CAP_RUN)
		program_args(fd);
	else
		uapi_skip("programs: the device runs none");
	close(fd);
	fd = uapi_open();
	uapi_is((int64_t)uapi_free_hbm(fd), (int64_t)before, "closing the file frees everything");
	close(fd);
	return uapi_end();
}
