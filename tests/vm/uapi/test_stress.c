// SPDX-License-Identifier: BSD-2-Clause
/*
 * Everything at once: processes that copy, run, time out, destroy what others of the same file use,
 * and are killed, for a few seconds. STRESS_SECONDS makes it longer.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uapi.h"

enum {
	PROCESSES = 4,
	THREADS = 3
};

struct shared {
	int fd;
	uint32_t ctx[8];
};

/* Results do not matter here: handles come and go under the threads' feet. */
static void *chaos(void *arg)
{
	struct shared *s = arg;
	unsigned int seed = (unsigned int)(uintptr_t)&seed ^ (unsigned int)uapi_now_ns();
	static uint32_t data[65536];

	for (;;) {
		uint32_t *slot = &s->ctx[(unsigned int)rand_r(&seed) % 8], ctx = *slot, cores = 0,
			 core, bo, program;
		struct trn_insn loop = uapi_insn_branch(0);
		struct drm_trainium_cmd cmds[2];
		struct drm_trainium_xfer x;
		int what = rand_r(&seed) % 16;

		if (what == 0) {
			*slot = 0;
			uapi_ctx_destroy(s->fd, ctx);
		} else if (!ctx) {
			*slot = uapi_ctx(s->fd, 0, what < 4, &cores);
		} else if (what < 8) {
			bo = uapi_bo(s->fd, what & 1,
				     1 + (unsigned int)rand_r(&seed) % sizeof(data), NULL);
			uapi_write(s->fd, ctx, bo, 0, data, 4096);
			x = uapi_xfer_bo_sbuf(bo, 0, 0, 64);
			uapi_ring(s->fd, ctx, what & 1, what, 1, &x, 1);
			uapi_bo_close(s->fd, bo);
		} else {
			core = what & 1;
			program = uapi_prog_make(s->fd, ctx, core, &loop, what == 15);
			cmds[0] = uapi_cmd_run(program, NULL, 0);
			cmds[1] = cmds[0];
			uapi_run_cmds(s->fd, ctx, cmds, 2, 20000000);
		}
	}
	return NULL;
}

static void child(void)
{
	struct shared s = { .fd = uapi_open() };
	pthread_t thread;
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, chaos, &s);
	for (;;)
		pause();
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (!pid) {
		child();
		_exit(0);
	}
	return pid;
}

int main(void)
{
	const char *seconds = getenv("STRESS_SECONDS");
	int64_t end = uapi_now_ns() + (seconds ? atoi(seconds) : 5) * 1000000000ll;
	struct drm_trainium_core_info cores[TRN_MAX_CORES];
	struct drm_trainium_query q = { .what = DRM_TRAINIUM_QUERY_CORES,
					.size = sizeof(cores),
					.data = (uintptr_t)cores };
	struct drm_trainium_device_info info;
	int fd = uapi_open(), kills = 0, i, busy = 0;
	uint64_t before = uapi_free_hbm(fd);
	pid_t pids[PROCESSES];

	uapi_device(fd, &info);
	for (i = 0; i < PROCESSES; i++)
		pids[i] = start();
	while (uapi_now_ns() < end) {
		usleep(100000);
		i = kills++ % PROCESSES;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		pids[i] = start();
	}
	for (i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	/* A core whose owner took longer than a second to die is still being reset. */
	for (i = 0; i < 100; i++) {
		uint32_t n;

		memset(cores, 0, sizeof(cores));
		uapi_call(fd, DRM_IOCTL_TRAINIUM_QUERY, &q);
		for (n = 0, busy = 0; n < info.cores; n++)
			busy += cores[n].state != DRM_TRAINIUM_CORE_FREE;
		if (!busy)
			break;
		usleep(50000);
	}
	uapi_is(busy, 0, "every core is free after %d kills", kills);
	uapi_is((int64_t)uapi_free_hbm(fd), (int64_t)before, "all memory is free");
	close(fd);
	return uapi_end();
}
