// SPDX-License-Identifier: BSD-2-Clause
/*
 * Removal of the device under open files: unbind in mid-run and in mid-copy, everything after it,
 * bind again.
 *
 * Named so that it runs last: it takes the device away from whoever has it open.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "uapi.h"

static char address[16];

static int driver_write(const char *file)
{
	char path[64];
	int fd, n;

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/trainium/%s", file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	n = (int)write(fd, address, strlen(address));
	n = n < 0 ? -errno : 0;
	close(fd);
	return n;
}

struct victim {
	int fd;
	uint32_t ctx;
	uint32_t bo;
	int err;
	bool loops;
};

static void *victim_thread(void *arg)
{
	struct victim *v = arg;

	if (v->loops) {
		struct trn_insn loop = uapi_insn_branch(0);
		struct drm_trainium_cmd cmd =
			uapi_cmd_run(uapi_prog_make(v->fd, v->ctx, 0, &loop, 1), NULL, 0);

		v->err = uapi_run_cmds(v->fd, v->ctx, &cmd, 1, 60000000000);
	} else {
		char *p = calloc(1, 32 * MIB);

		do
			v->err = uapi_write(v->fd, v->ctx, v->bo, 0, p, 32 * MIB);
		while (!v->err);
		free(p);
	}
	return NULL;
}

static void shell(int fd, uint32_t ctx, uint32_t host)
{
	struct drm_trainium_device_info info;
	struct drm_trainium_bo_info bo = { .handle = host };
	uint32_t x = 0;
	int err;

	uapi_is(uapi_device(fd, &info), -ENODEV, "query after removal");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_INFO, &bo), -ENODEV, "info after removal");
	uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 4096, &err);
	uapi_is(err, -ENODEV, "create a buffer after removal");
	uapi_is(uapi_read(fd, ctx, host, 0, &x, 4), -ENODEV, "copy after removal");
	uapi_is(uapi_ctx_destroy(fd, ctx), -ENODEV, "destroy a context after removal");
}

static void removal(bool runs, int round)
{
	struct victim run = { .loops = true }, copy = { .loops = false };
	pthread_t run_thread, copy_thread;
	int fd = uapi_open(), again;
	struct drm_trainium_device_info info;
	uint32_t host = uapi_bo(fd, DRM_TRAINIUM_PLACE_HOST, 8192, NULL);
	char *p = uapi_map(fd, host, 8192);
	int64_t start;

	/* With several devices, whichever has the first node now: a bound one gets a new node. */
	uapi_pci(fd, address);
	run.fd = copy.fd = fd;
	run.ctx = runs ? uapi_ctx(fd, 1, 0, NULL) : 0;
	copy.ctx = uapi_ctx(fd, 0, 0, NULL);
	copy.bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 32 * MIB, NULL);
	if (runs)
		pthread_create(&run_thread, NULL, victim_thread, &run);
	pthread_create(&copy_thread, NULL, victim_thread, &copy);
	usleep(100000);
	start = uapi_now_ns();
	uapi_is(driver_write("unbind"), 0,
		"round %d: unbind with an open file, a run and a copy under way", round);
	uapi_ok(uapi_now_ns() - start < 5000000000, "round %d: it does not take long", round);
	if (runs) {
		pthread_join(run_thread, NULL);
		uapi_is(run.err, -ENODEV, "round %d: the run ends with ENODEV", round);
	}
	pthread_join(copy_thread, NULL);
	uapi_is(copy.err, -ENODEV, "round %d: the copy ends with ENODEV", round);
	shell(fd, copy.ctx, host);
	p[0] = 1;
	uapi_is(p[0], 1, "round %d: host memory can still be touched", round);
	uapi_is(driver_write("bind"), 0, "round %d: bind again, the old file still open", round);
	usleep(50000);
	again = uapi_open();
	uapi_is(uapi_device(again, &info), 0, "round %d: the device works again", round);
	uapi_is(uapi_device(fd, &info), -ENODEV, "round %d: the old file does not", round);
	uapi_is(munmap(p, 8192), 0, "round %d: unmap", round);
	uapi_is(close(fd), 0, "round %d: close the old file", round);
	close(again);
}

/* A fence that somebody shares has its operations in the module: the module stays until it goes. */
static void unload(void)
{
	int fd = uapi_open();
	uint32_t ctx = uapi_ctx(fd, 0, 0, NULL),
		 bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 4096, NULL);
	struct drm_syncobj_handle handle = { .handle = uapi_syncobj(fd) };
	struct drm_trainium_sync point = { .handle = handle.handle, .point = 1 };
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_FILL,
					.fill = { .handle = bo, .length = 4096 } };
	struct drm_trainium_submit submit = {
		.ctx = ctx,
		.flags = DRM_TRAINIUM_SUBMIT_WAIT,
		.cmds = (uintptr_t)&cmd,
		.cmd_count = 1,
		.cmd_stride = sizeof(cmd),
		.signals = (uintptr_t)&point,
		.signal_count = 1,
	};
	long ret;

	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &submit), 0, "a job with a fence");
	uapi_is(uapi_call(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), 0, "share its syncobj");
	close(fd);
	ret = syscall(SYS_delete_module, "trainium", O_NONBLOCK);
	uapi_ok(ret && errno == EAGAIN, "the module cannot be unloaded while the fence is shared");
	close(handle.fd);
	ret = syscall(SYS_delete_module, "trainium", O_NONBLOCK);
	uapi_is(ret ? -errno : 0, 0, "it can afterwards");
	uapi_is(system("modprobe trainium"), 0, "load it again");
	usleep(200000);
	fd = uapi_open();
	close(fd);
}

int main(void)
{
	struct drm_trainium_device_info info;
	int fd = uapi_open(), round;
	bool runs;

	uapi_device(fd, &info);
	runs = info.caps & DRM_TRAINIUM_CAP_RUN;
	close(fd);
	for (round = 1; round <= 3; round++)
		removal(runs, round);
	unload();
	return uapi_end();
}
