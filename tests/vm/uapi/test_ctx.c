// SPDX-License-Identifier: BSD-2-Clause
/*
 * Contexts: who gets which core, limits, status.
 */
#include <string.h>
#include <unistd.h>

#include "uapi.h"

static int create(int fd, struct drm_trainium_ctx_create *c)
{
	return uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_CREATE, c);
}

static void refused(int fd, uint32_t cores)
{
	struct drm_trainium_ctx_create c = { .core_mask = 1u << cores };
	struct drm_trainium_ctx_destroy d = { .id = 4711 };
	struct drm_trainium_ctx_status s = { .id = 4711 };

	uapi_is(create(fd, &c), -EINVAL, "core that does not exist");
	c = (struct drm_trainium_ctx_create){ .core_count = cores + 1 };
	uapi_is(create(fd, &c), -EINVAL, "more cores than there are");
	c = (struct drm_trainium_ctx_create){ .core_mask = 1, .core_count = 2 };
	uapi_is(create(fd, &c), -EINVAL, "mask and count disagree");
	c = (struct drm_trainium_ctx_create){ .flags = 1 };
	uapi_is(create(fd, &c), -EINVAL, "flag");
	c = (struct drm_trainium_ctx_create){ .pad = 1 };
	uapi_is(create(fd, &c), -EINVAL, "padding");
	c = (struct drm_trainium_ctx_create){ .id = 1 };
	uapi_is(create(fd, &c), -EINVAL, "id given");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_DESTROY, &d), -ENOENT,
		"destroy what does not exist");
	d.pad = 1;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_DESTROY, &d), -EINVAL, "padding of destroy");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_STATUS, &s), -ENOENT,
		"status of what does not exist");
}

static void owners(int fd, uint32_t cores)
{
	uint32_t all = (1u << cores) - 1, got = 0, ctx, other_ctx;
	struct drm_trainium_ctx_create c = { .core_mask = 1 };
	int other = uapi_open();

	ctx = uapi_ctx(fd, all, 0, &got);
	uapi_ok(ctx && got == all, "all cores for one context");
	uapi_is(create(other, &c), -EBUSY, "another file cannot have an owned core");
	uapi_is(create(fd, &c), -EBUSY, "nor can another context of the same file");
	c = (struct drm_trainium_ctx_create){ .core_count = 1 };
	uapi_is(create(other, &c), -EBUSY, "no core left");
	uapi_ok(uapi_ctx(other, 0, 0, NULL), "a context without cores is always possible");
	uapi_is(uapi_ctx_destroy(fd, ctx), 0, "destroy");
	uapi_is(uapi_ctx_destroy(fd, ctx), -ENOENT, "destroy twice");
	other_ctx = uapi_ctx(other, 0, 1, &got);
	uapi_ok(other_ctx && got, "the cores are free again");
	close(other);
	ctx = uapi_ctx(fd, all, 0, &got);
	uapi_ok(ctx && got == all, "closing a file gives its cores back");
	uapi_ctx_destroy(fd, ctx);
}

static void limits(void)
{
	struct drm_trainium_ctx_create c;
	int fd = uapi_open();
	int n, err;

	for (n = 0, err = 0; n < 1000 && !err; n++) {
		c = (struct drm_trainium_ctx_create){ 0 };
		err = create(fd, &c);
	}
	uapi_is(err, -ENOSPC, "number of contexts of a file is bounded");
	uapi_ok(n > 16, "the bound leaves room: %d", n - 1);
	close(fd);
}

static void status(int fd)
{
	struct drm_trainium_ctx_status s = { 0 };
	uint32_t ctx = uapi_ctx(fd, 0, 0, NULL);

	s.id = ctx;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_STATUS, &s), 0, "status");
	uapi_ok(!s.guilty && !s.innocent && !s.fault && !s.last_error && !s.jobs_submitted,
		"a new context has no history");
	s.seq = 1;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_STATUS, &s), -EINVAL,
		"job that was never submitted");
	s.seq = 0;
	s.pad = 1;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_STATUS, &s), -EINVAL, "padding of status");
	uapi_is(uapi_run_cmds(fd, ctx, NULL, 0, 0), 0, "job without commands");
	memset(&s, 0, sizeof(s));
	s.id = ctx;
	s.seq = 1;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_STATUS, &s), 0, "status of job 1");
	uapi_ok(s.jobs_submitted == 1 && s.jobs_finished == 1 && s.seq_error == 0,
		"job 1 is counted");
	uapi_ctx_destroy(fd, ctx);
}

int main(void)
{
	struct drm_trainium_device_info info;
	int fd = uapi_open();

	uapi_device(fd, &info);
	refused(fd, info.cores);
	owners(fd, info.cores);
	limits();
	status(fd);
	close(fd);
	return uapi_end();
}
