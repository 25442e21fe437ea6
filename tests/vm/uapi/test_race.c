// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls that meet in the middle: a context is destroyed while another call makes it, or fills it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "uapi.h"

enum {
	ROUNDS = 1500
};

static struct drm_trainium_device_info info;
static atomic_bool over;
static atomic_uint target;

static void *destroyer(void *arg)
{
	int fd = *(int *)arg;
	uint32_t id;

	while (!over)
		for (id = 1; id <= 3; id++)
			uapi_ctx_destroy(fd, id);
	return NULL;
}

/* Takes all cores at once: one that were lost would be missed by the next round. */
static void ctx_create_destroy(void)
{
	int fd = uapi_open(), i, lost = 0;
	pthread_t thread;

	over = false;
	pthread_create(&thread, NULL, destroyer, &fd);
	for (i = 0; i < ROUNDS; i++)
		uapi_ctx(fd, 0, info.cores, NULL);
	over = true;
	pthread_join(thread, NULL);
	close(fd);
	fd = uapi_open();
	for (i = 0; i < 1000 && !uapi_ctx(fd, 0, info.cores, NULL); i++) {
		usleep(10000);
		lost = i == 999;
	}
	uapi_ok(!lost, "contexts destroyed while they are created: every core is free again");
	close(fd);
}

struct maker {
	int fd;
	uint32_t bo;
};

static void *maker(void *arg)
{
	struct maker *m = arg;
	struct drm_trainium_xfer xfers[64];
	struct drm_trainium_program_image image = {
		.engine = TRN_ENGINE_SP,
		.handle = m->bo,
		.insns = 1,
	};
	uint32_t i;

	for (i = 0; i < 64; i++)
		xfers[i] = uapi_xfer_bo_sbuf(m->bo, i * 512, 0, 512);
	while (!over) {
		struct drm_trainium_program_create program = {
			.ctx = target,
			.images = (uintptr_t)&image,
			.image_count = 1,
		};

		uapi_ring(m->fd, target, 0, 1, 1, xfers, 64);
		uapi_call(m->fd, DRM_IOCTL_TRAINIUM_PROGRAM_CREATE, &program);
	}
	return NULL;
}

/* The file is not closed before memory is counted: what a context held went with the context. */
static void destroy_under_makers(void)
{
	struct maker m = { .fd = uapi_open() };
	uint64_t before;
	pthread_t thread;
	int i;

	m.bo = uapi_bo(m.fd, DRM_TRAINIUM_PLACE_HBM, 65536, NULL);
	before = uapi_free_hbm(m.fd);
	target = 0;
	over = false;
	pthread_create(&thread, NULL, maker, &m);
	for (i = 0; i < ROUNDS / 5; i++) {
		target = uapi_ctx(m.fd, 1, 0, NULL);
		usleep((unsigned int)(i * 37 % 2000));
		uapi_ctx_destroy(m.fd, target);
	}
	over = true;
	pthread_join(thread, NULL);
	uapi_is((int64_t)uapi_free_hbm(m.fd), (int64_t)before,
		"contexts destroyed while rings are made: device memory is what it was");
	close(m.fd);
}

int main(void)
{
	int fd = uapi_open();

	uapi_device(fd, &info);
	close(fd);
	ctx_create_destroy();
	if (info.caps & DRM_TRAINIUM_CAP_RUN)
		destroy_under_makers();
	else
		uapi_skip("rings and programs: the device runs no programs");
	return uapi_end();
}
