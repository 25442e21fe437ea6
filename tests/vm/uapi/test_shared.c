// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of two cores at once, which share an engine on Trn2. With BAD_MEMORY=1 in the environment
 * the device has an uncorrectable error at offset 64 KiB of the first buffer of stack 0: reading it
 * aborts the engine. Then copies of the other core fail or succeed, never hang or tell lies, and
 * both work again.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uapi.h"

#define BYTES	(4 * MIB)
#define TIMEOUT 300000000ull

struct neighbour {
	int fd;
	uint32_t ctx, bo;
	atomic_bool stop;
	unsigned int good, failed, wrong;
};

/* Copies until told to stop. */
static void *neighbour_run(void *arg)
{
	struct neighbour *n = arg;
	unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
	unsigned char round = 0;

	while (out && in && !atomic_load(&n->stop)) {
		memset(out, ++round, BYTES);
		if (uapi_write(n->fd, n->ctx, n->bo, 0, out, BYTES) ||
		    uapi_read(n->fd, n->ctx, n->bo, 0, in, BYTES))
			n->failed++;
		else if (memcmp(in, out, BYTES))
			n->wrong++;
		else
			n->good++;
	}
	free(out);
	free(in);
	return NULL;
}

static int read_word(int fd, uint32_t ctx, uint32_t bo, uint64_t offset)
{
	uint32_t word;
	struct drm_trainium_cmd cmd = {
		.type = DRM_TRAINIUM_CMD_COPY,
		.copy = { .src_handle = bo,
			  .src_offset = offset,
			  .dst_offset = (uintptr_t)&word,
			  .length = sizeof(word) },
	};

	return uapi_run_cmds(fd, ctx, &cmd, 1, TIMEOUT);
}

static void together(int fd, bool bad)
{
	struct neighbour n = { .fd = uapi_open() };
	uint32_t ctx = uapi_ctx(fd, 1, 0, NULL);
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, MIB, NULL);
	unsigned int i, errors = 0;
	pthread_t thread;

	n.ctx = uapi_ctx(n.fd, 2, 0, NULL);
	n.bo = uapi_bo(n.fd, DRM_TRAINIUM_PLACE_HBM, BYTES, NULL);
	uapi_ok(ctx && bo && n.ctx && n.bo, "a context on each of two cores");
	pthread_create(&thread, NULL, neighbour_run, &n);
	for (i = 0; i < (bad ? 2 : 200); i++)
		errors += read_word(fd, ctx, bo, 64 * KIB) != 0;
	uapi_is(errors, bad ? 2 : 0, "reads of the word that fail");
	errors = 0;
	for (i = 0; i < 20; i++)
		errors += read_word(fd, ctx, bo, 0) != 0;
	uapi_is(errors, 0, "reads beside it that fail");
	atomic_store(&n.stop, true);
	pthread_join(thread, NULL);
	uapi_is(n.wrong, 0, "copies of the other core with wrong data");
	uapi_ok(n.good > 0, "copies of the other core: %u good, %u failed", n.good, n.failed);
	uapi_ok(n.failed <= (bad ? 2 : 0), "at most one failed for each abort, %u", n.failed);
	uapi_is(read_word(n.fd, n.ctx, n.bo, 0), 0, "the other core still copies");
	close(n.fd);
	uapi_ctx_destroy(fd, ctx);
	uapi_bo_close(fd, bo);
}

int main(void)
{
	struct drm_trainium_device_info info;
	int fd = uapi_open();

	if (uapi_device(fd, &info) || info.cores < 2)
		uapi_skip("two cores at once: the device has one");
	else
		together(fd, getenv("BAD_MEMORY") != NULL);
	close(fd);
	return uapi_end();
}
