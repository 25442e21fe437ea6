// SPDX-License-Identifier: BSD-2-Clause
/*
 * The open file owns everything: close with work in flight, SIGKILL at any moment, two processes
 * side by side.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uapi.h"

static struct drm_trainium_device_info info;

/* Cores free, or just being reset after their owner: nobody has them. */
static uint32_t owned_cores(int fd)
{
	struct drm_trainium_core_info list[TRN_MAX_CORES];
	struct drm_trainium_query q = { .what = DRM_TRAINIUM_QUERY_CORES,
					.size = sizeof(list),
					.data = (uintptr_t)list };
	uint32_t i, n = 0;

	memset(list, 0, sizeof(list));
	uapi_call(fd, DRM_IOCTL_TRAINIUM_QUERY, &q);
	for (i = 0; i < info.cores; i++)
		n += list[i].state != DRM_TRAINIUM_CORE_FREE;
	return n;
}

/* An endless loop on a core, submitted without waiting; the core, or -1. */
static int spin(int fd, uint64_t timeout_ns)
{
	struct trn_insn loop = uapi_insn_branch(0);
	uint32_t cores = 0, ctx = uapi_ctx(fd, 0, 1, &cores), core;
	struct drm_trainium_cmd cmd;
	struct drm_trainium_submit submit = {
		.ctx = ctx,
		.cmds = (uintptr_t)&cmd,
		.cmd_count = 1,
		.cmd_stride = sizeof(cmd),
		.timeout_ns = timeout_ns,
	};

	if (!ctx)
		return -1;
	core = (uint32_t)__builtin_ctz(cores | 0x80000000u);
	cmd = uapi_cmd_run(uapi_prog_make(fd, ctx, core, &loop, 1), NULL, 0);
	return uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &submit) ? -1 : (int)core;
}

static void works(const char *after)
{
	int fd = uapi_open();
	uint32_t cores = 0, ctx = uapi_ctx(fd, (1u << info.cores) - 1, 0, &cores), halt, i;
	int err = ctx ? 0 : -EBUSY;

	for (i = 0; !err && (info.caps & DRM_TRAINIUM_CAP_RUN) && i < info.cores; i++) {
		struct drm_trainium_cmd cmd;

		halt = uapi_prog_make(fd, ctx, i, NULL, 0);
		cmd = uapi_cmd_run(halt, NULL, 0);
		err = uapi_run_cmds(fd, ctx, &cmd, 1, 2000000000);
	}
	uapi_is(err, 0, "every core can be had, and works, after %s", after);
	close(fd);
}

static void close_in_flight(int watch)
{
	uint64_t before = uapi_free_hbm(watch);
	int fd = uapi_open();
	int64_t start;

	uapi_ok(spin(fd, 0) >= 0, "submit an endless loop");
	usleep(50000);
	uapi_is(owned_cores(watch), 1, "its core is owned");
	start = uapi_now_ns();
	close(fd);
	uapi_ok(uapi_now_ns() - start < 2000000000, "close does not wait for the time-out");
	uapi_is(owned_cores(watch), 0, "no core is owned after close");
	uapi_is((int64_t)uapi_free_hbm(watch), (int64_t)before, "its memory is free");
	works("close in mid-run");
}

/* Fences of a closed file are signalled for whoever shares them. */
static void shared_fence(int watch)
{
	struct trn_insn loop = uapi_insn_branch(0);
	int fd = uapi_open();
	uint32_t cores = 0, ctx = uapi_ctx(fd, 0, 1, &cores),
		 core = (uint32_t)__builtin_ctz(cores | 0x80000000u);
	struct drm_syncobj_handle handle = { .handle = uapi_syncobj(fd) };
	struct drm_trainium_cmd cmd =
		uapi_cmd_run(uapi_prog_make(fd, ctx, core, &loop, 1), NULL, 0);
	struct drm_trainium_sync point = { .handle = handle.handle, .point = 1 };
	struct drm_trainium_submit submit = {
		.ctx = ctx,
		.cmds = (uintptr_t)&cmd,
		.cmd_count = 1,
		.cmd_stride = sizeof(cmd),
		.signals = (uintptr_t)&point,
		.signal_count = 1,
	};

	uapi_is(uapi_call(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), 0, "share a syncobj");
	uapi_is(uapi_call(watch, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle), 0, "with another file");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &submit), 0, "submit an endless loop");
	uapi_is(uapi_wait(watch, handle.handle, 1, 0), -ETIME, "its fence is not signalled");
	close(fd);
	uapi_is(uapi_wait(watch, handle.handle, 1, 3), 0, "it is once the file is closed");
	close(handle.fd);
}

static void child_copies(int ready)
{
	int fd = uapi_open();
	uint32_t ctx = uapi_ctx(fd, 0, 1, NULL),
		 bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 64 * MIB, NULL);
	char *p = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 1, 64 * MIB);
	if (write(ready, "x", 1) != 1)
		_exit(1);
	for (;;) {
		uapi_write(fd, ctx, bo, 0, p, 64 * MIB);
		uapi_read(fd, ctx, bo, 0, p, 64 * MIB);
	}
}

static void child_spins(int ready)
{
	int fd = uapi_open();

	uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 8 * MIB, NULL);
	spin(fd, 0);
	if (write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static pid_t start(void (*child)(int ready))
{
	int ends[2];
	char c;
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		child(ends[1]);
		_exit(1);
	}
	close(ends[1]);
	if (read(ends[0], &c, 1) != 1)
		pid = -1;
	close(ends[0]);
	return pid;
}

static void killed(int watch, void (*child)(int ready), int rounds, const char *name)
{
	uint64_t before = uapi_free_hbm(watch);
	int i, lost = 0, owned = 0, status;

	for (i = 0; i < rounds; i++) {
		pid_t pid = start(child);

		usleep((useconds_t)(i * 7919 % 30000));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		lost += uapi_free_hbm(watch) != before;
		owned += owned_cores(watch) != 0;
	}
	uapi_is(lost, 0, "%d x %s: no memory lost", rounds, name);
	uapi_is(owned, 0, "%d x %s: no core lost", rounds, name);
	works(name);
}

/* One process hangs its core; another one's programs and copies do not notice. */
static void neighbours(int watch)
{
	uint32_t cores = 0, ctx, core, value = 1, back = 0, bo;
	struct drm_trainium_cmd cmd;
	int i, err = 0, fd;
	pid_t pid;

	if (info.cores < 2) {
		uapi_skip("two processes: one core only");
		return;
	}
	pid = start(child_spins);
	fd = uapi_open();
	ctx = uapi_ctx(fd, 0, 1, &cores);
	uapi_ok(ctx && cores, "a core is left for another process");
	core = (uint32_t)__builtin_ctz(cores | 0x80000000u);
	cmd = uapi_cmd_run(uapi_prog_make(fd, ctx, core, NULL, 0), NULL, 0);
	bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 4096, NULL);
	for (i = 0; !err && i < 200; i++) {
		err = uapi_run_cmds(fd, ctx, &cmd, 1, 1000000000);
		value = (uint32_t)i;
		if (!err)
			err = uapi_write(fd, ctx, bo, 0, &value, 4);
		if (!err)
			err = uapi_read(fd, ctx, bo, 0, &back, 4);
		if (!err && back != value)
			err = -EBADMSG;
		if (i == 100)
			kill(pid, SIGKILL);
	}
	uapi_is(err, 0, "it runs and copies while the first hangs and dies");
	waitpid(pid, &i, 0);
	close(fd);
	works("both");
	(void)watch;
}

/* Handles mean nothing in another file. */
static void foreign_handles(int fd)
{
	int other = uapi_open();
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 4096, NULL),
		 ctx = uapi_ctx(fd, 0, 0, NULL);
	uint32_t other_ctx = uapi_ctx(other, 0, 0, NULL), x = 0;
	struct drm_trainium_bo_info bo_info = { .handle = bo };
	struct drm_trainium_ctx_status status = { .id = ctx + 1 };

	uapi_is(uapi_call(other, DRM_IOCTL_TRAINIUM_BO_INFO, &bo_info), -ENOENT,
		"a buffer's handle in another file");
	uapi_is(uapi_read(other, other_ctx, bo, 0, &x, 4), -ENOENT, "read through it");
	uapi_is(uapi_call(other, DRM_IOCTL_TRAINIUM_CTX_STATUS, &status), -ENOENT,
		"a context's id in another file");
	uapi_bo_close(fd, bo);
	uapi_ctx_destroy(fd, ctx);
	close(other);
}

/* A buffer shared on purpose, through a dma-buf, lives as long as one of the two has it. */
static void shared_buffer(int watch)
{
	uint64_t before = uapi_free_hbm(watch);
	int fd = uapi_open();
	uint32_t ctx = uapi_ctx(fd, 0, 0, NULL), watch_ctx = uapi_ctx(watch, 0, 0, NULL), x = 4711,
		 y = 0;
	struct drm_prime_handle prime = { .handle = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, MIB, NULL),
					  .flags = DRM_CLOEXEC | DRM_RDWR };
	void *p;

	uapi_write(fd, ctx, prime.handle, 0, &x, 4);
	uapi_is(uapi_call(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0, "export a buffer");
	uapi_is(uapi_call(watch, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0,
		"import it in another file");
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, prime.fd, 0);
	uapi_ok(p == MAP_FAILED, "HBM cannot be mapped through the dma-buf either");
	close(prime.fd);
	close(fd);
	uapi_is(uapi_read(watch, watch_ctx, prime.handle, 0, &y, 4), 0,
		"read it after its maker has closed");
	uapi_is(y, 4711, "it holds what the maker wrote");
	uapi_bo_close(watch, prime.handle);
	uapi_is((int64_t)uapi_free_hbm(watch), (int64_t)before, "it is freed with its last handle");
	uapi_ctx_destroy(watch, watch_ctx);
}

int main(void)
{
	int fd = uapi_open();

	uapi_device(fd, &info);
	foreign_handles(fd);
	shared_buffer(fd);
	killed(fd, child_copies, 10, "kill in mid-copy");
	if (info.caps & DRM_TRAINIUM_CAP_RUN) {
		close_in_flight(fd);
		shared_fence(fd);
		killed(fd, child_spins, 10, "kill in mid-run");
		neighbours(fd);
	} else {
		uapi_skip("runs: the device runs no programs");
	}
	close(fd);
	return uapi_end();
}
