// SPDX-License-Identifier: BSD-2-Clause
/*
 * Submission: copies and fills in every direction, timelines, and what is refused.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uapi.h"

static uint32_t ctx;

static void pattern(uint32_t *p, size_t words, uint32_t seed)
{
	size_t i;

	for (i = 0; i < words; i++)
		p[i] = seed + (uint32_t)i * 2654435761u;
}

static struct drm_trainium_cmd copy(uint32_t src, uint64_t src_off, uint32_t dst, uint64_t dst_off,
				    uint64_t length)
{
	struct drm_trainium_cmd cmd = {
		.type = DRM_TRAINIUM_CMD_COPY,
		.copy = { .src_handle = src,
			  .dst_handle = dst,
			  .src_offset = src_off,
			  .dst_offset = dst_off,
			  .length = length },
	};

	return cmd;
}

static struct drm_trainium_cmd fill(uint32_t handle, uint64_t offset, uint64_t length,
				    uint32_t value)
{
	struct drm_trainium_cmd cmd = {
		.type = DRM_TRAINIUM_CMD_FILL,
		.fill = { .handle = handle, .pattern = value, .offset = offset, .length = length },
	};

	return cmd;
}

static int one(int fd, struct drm_trainium_cmd cmd)
{
	return uapi_run_cmds(fd, ctx, &cmd, 1, 0);
}

/* User memory at odd addresses and odd lengths, there and back, small and larger than a pinned
 * piece. */
static void round_trip(int fd)
{
	static const struct {
		uint64_t size, offset, skew;
	} cases[] = {
		{ 1, 0, 0 },
		{ 3, 4097, 1 },
		{ 4096, 0, 0 },
		{ 65536, 12, 4095 },
		{ 65537, 1, 3 },
		{ 5 * 1024 * 1024 + 7, 99, 2049 },
		{ 33ull * 1024 * 1024, 0, 0 },
	};
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 40 * MIB, NULL);
	unsigned char *a = malloc(40 * MIB), *b = malloc(40 * MIB);
	size_t i;

	pattern((uint32_t *)a, 10 * MIB, 1);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t size = cases[i].size, skew = cases[i].skew;
		int err;

		memset(b, 0, size + 8192);
		err = uapi_write(fd, ctx, bo, cases[i].offset, a + skew, size);
		if (!err)
			err = uapi_read(fd, ctx, bo, cases[i].offset, b + skew, size);
		uapi_is(err, 0, "%llu bytes there and back", (unsigned long long)size);
		uapi_ok(!memcmp(a + skew, b + skew, size) && !b[skew + size] &&
				(!skew || !b[skew - 1]),
			"%llu bytes are the same, and no byte beside them",
			(unsigned long long)size);
	}
	uapi_bo_close(fd, bo);
	free(a);
	free(b);
}

/* One job: host buffer to HBM, HBM to the other stack, to another host buffer; a fill in between.
 */
static void chain(int fd)
{
	enum {
		SIZE = 3 << 20
	};
	struct drm_trainium_bo_create c = { .size = SIZE,
					    .place = DRM_TRAINIUM_PLACE_HBM,
					    .stack = 1 };
	uint32_t in = uapi_bo(fd, DRM_TRAINIUM_PLACE_HOST, SIZE, NULL),
		 out = uapi_bo(fd, DRM_TRAINIUM_PLACE_HOST, SIZE, NULL);
	uint32_t hbm = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, SIZE, NULL);
	uint32_t *pin = uapi_map(fd, in, SIZE), *pout = uapi_map(fd, out, SIZE);
	struct drm_trainium_cmd cmds[4];

	uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_CREATE, &c);
	pattern(pin, SIZE / 4, 7);
	cmds[0] = copy(in, 0, hbm, 0, SIZE);
	cmds[1] = fill(hbm, 4096, 8192, 0xdeadbeef);
	cmds[2] = copy(hbm, 0, c.handle, 0, SIZE);
	cmds[3] = copy(c.handle, 0, out, 0, SIZE);
	uapi_is(uapi_run_cmds(fd, ctx, cmds, 4, 0), 0, "four commands that depend on each other");
	uapi_ok(!memcmp(pin, pout, 4096) && pout[1024] == 0xdeadbeef && pout[3071] == 0xdeadbeef &&
			!memcmp(pin + 3072, pout + 3072, SIZE - 12288),
		"each sees what the one before wrote");
	munmap(pin, SIZE);
	munmap(pout, SIZE);
	uapi_bo_close(fd, in);
	uapi_bo_close(fd, out);
	uapi_bo_close(fd, hbm);
	uapi_bo_close(fd, c.handle);
}

static void timeline(int fd)
{
	uint32_t sync = uapi_syncobj(fd), bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 16 * MIB, NULL),
		 value = 0;
	struct drm_trainium_sync point = { .handle = sync }, wait = { .handle = sync };
	struct drm_trainium_cmd cmd;
	struct drm_trainium_submit s = {
		.ctx = ctx,
		.cmds = (uintptr_t)&cmd,
		.cmd_count = 1,
		.cmd_stride = sizeof(cmd),
		.signals = (uintptr_t)&point,
		.signal_count = 1,
	};
	uint32_t other = uapi_ctx(fd, 0, 0, NULL);
	uint64_t first;
	int i, err = 0;

	for (i = 1; i <= 100 && !err; i++) {
		cmd = fill(bo, 0, 16 * MIB / 4, (uint32_t)i);
		point.point = (uint64_t)i;
		s.seq = 0;
		err = uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &s);
		if (i == 1)
			first = s.seq;
	}
	uapi_is(err, 0, "a hundred jobs, each with a point of a timeline");
	uapi_is((int64_t)(s.seq - first), 99, "jobs are numbered in order");
	cmd = copy(bo, 0, 0, (uintptr_t)&value, 4);
	wait.point = 100;
	s.ctx = other;
	s.waits = (uintptr_t)&wait;
	s.wait_count = 1;
	s.seq = 0;
	point.point = 101;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &s), 0,
		"a job of another context waits for the last point");
	uapi_is(uapi_wait(fd, sync, 101, 10), 0, "its point is signalled");
	uapi_is(value, 100, "it saw the last value");
	wait.point = 5000;
	s.seq = 0;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &s), -EINVAL,
		"waiting for a point nobody has submitted");
	wait.handle = 999;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &s), -ENOENT,
		"waiting for a syncobj that does not exist");
	s.wait_count = 0;
	point.handle = 999;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &s), -ENOENT,
		"signalling a syncobj that does not exist");
	point.handle = sync;
	point.flags = 1;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &s), -EINVAL, "flag of a point");
	uapi_ctx_destroy(fd, other);
	uapi_bo_close(fd, bo);
}

static void refused_copies(int fd)
{
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 65536, NULL);
	char buf[64];
	void *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_trainium_cmd cmd;

	uapi_is(one(fd, copy(0, (uintptr_t)buf, bo, 0, 0)), -EINVAL, "copy of 0 bytes");
	uapi_is(one(fd, copy(0, (uintptr_t)buf, bo, 0, UINT64_MAX)), -EINVAL,
		"copy of 2^64-1 bytes");
	uapi_is(one(fd, copy(0, (uintptr_t)buf, bo, 65536, 1)), -EINVAL, "copy past the end");
	uapi_is(one(fd, copy(0, (uintptr_t)buf, bo, UINT64_MAX - 7, 16)), -EINVAL,
		"offset and length overflow");
	uapi_is(one(fd, copy(0, 0, 0, 0, 16)), -EINVAL, "copy between user memory and user memory");
	uapi_is(one(fd, copy(777, 0, bo, 0, 16)), -ENOENT, "source handle that does not exist");
	uapi_is(one(fd, copy(bo, 0, 777, 0, 16)), -ENOENT,
		"destination handle that does not exist");
	uapi_is(one(fd, copy(bo, 0, bo, 8, 16)), -EINVAL, "source and destination overlap");
	uapi_is(one(fd, copy(bo, 0, bo, 16, 16)), 0, "source and destination touch");
	uapi_is(one(fd, copy(0, 0, bo, 0, 16)), -EFAULT, "null pointer");
	uapi_is(one(fd, copy(0, UINT64_MAX - 4, bo, 0, 16)), -EFAULT,
		"pointer at the end of the address space");
	uapi_is(one(fd, copy(0, 0xffff800000000000, bo, 0, 16)), -EFAULT, "kernel address");
	uapi_is(one(fd, copy(bo, 0, 0, (uintptr_t)ro, 16)), -EFAULT, "read-only destination");
	uapi_is(one(fd, fill(bo, 0, 0, 1)), -EINVAL, "fill of 0 bytes");
	uapi_is(one(fd, fill(bo, 2, 4, 1)), -EINVAL, "fill at an odd offset");
	uapi_is(one(fd, fill(bo, 0, 6, 1)), -EINVAL, "fill of an odd length");
	uapi_is(one(fd, fill(bo, 65536, 4, 1)), -EINVAL, "fill past the end");
	cmd = fill(bo, 0, 4, 1);
	cmd.fill.reserved = 1;
	uapi_is(one(fd, cmd), -EINVAL, "reserved field of a fill");
	cmd = copy(0, (uintptr_t)buf, bo, 0, 16);
	cmd.reserved[6] = 1;
	uapi_is(one(fd, cmd), -EINVAL, "reserved field of a command");
	cmd.reserved[6] = 0;
	cmd.flags = 1;
	uapi_is(one(fd, cmd), -EINVAL, "flag of a command");
	cmd.flags = 0;
	cmd.type = 3;
	uapi_is(one(fd, cmd), -EINVAL, "unknown command");
	munmap(ro, 4096);
	uapi_bo_close(fd, bo);
}

static int submit(int fd, struct drm_trainium_submit s)
{
	return uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &s);
}

static void refused_submits(int fd)
{
	static struct {
		struct drm_trainium_cmd cmd;
		uint64_t more;
	} wide[2];
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 65536, NULL);
	struct drm_trainium_cmd cmd = fill(bo, 0, 4, 1);
	struct drm_trainium_submit good = {
		.ctx = ctx,
		.cmds = (uintptr_t)&cmd,
		.cmd_count = 1,
		.cmd_stride = sizeof(cmd),
		.flags = DRM_TRAINIUM_SUBMIT_WAIT,
	}, s = good;

	uapi_is(submit(fd, s), 0, "the template of these cases works");
	s.ctx = 99;
	uapi_is(submit(fd, s), -ENOENT, "context that does not exist");
	s = good, s.flags = 2;
	uapi_is(submit(fd, s), -EINVAL, "unknown flag");
	s = good, s.seq = 1;
	uapi_is(submit(fd, s), -EINVAL, "number given");
	s = good, s.timeout_ns = DRM_TRAINIUM_TIMEOUT_MAX_NS + 1;
	uapi_is(submit(fd, s), -EINVAL, "time-out too long");
	s = good, s.timeout_ns = UINT64_MAX;
	uapi_is(submit(fd, s), -EINVAL, "time-out 2^64-1");
	s = good, s.cmd_stride = 56;
	uapi_is(submit(fd, s), -EINVAL, "stride too small");
	s = good, s.cmd_stride = 65;
	uapi_is(submit(fd, s), -EINVAL, "odd stride");
	s = good, s.cmd_stride = 8192;
	uapi_is(submit(fd, s), -EINVAL, "stride too large");
	s = good, s.cmd_count = DRM_TRAINIUM_SUBMIT_CMDS_MAX + 1;
	uapi_is(submit(fd, s), -E2BIG, "too many commands");
	s = good, s.wait_count = DRM_TRAINIUM_SUBMIT_SYNCS_MAX + 1;
	uapi_is(submit(fd, s), -E2BIG, "too many waits");
	s = good, s.signal_count = UINT32_MAX;
	uapi_is(submit(fd, s), -E2BIG, "too many signals");
	s = good, s.cmds = 0;
	uapi_is(submit(fd, s), -EFAULT, "null pointer to commands");
	s = good, s.wait_count = 1;
	uapi_is(submit(fd, s), -EFAULT, "null pointer to waits");
	s = good, s.signal_count = 1;
	uapi_is(submit(fd, s), -EFAULT, "null pointer to signals");
	wide[0].cmd = cmd;
	wide[1].cmd = cmd;
	s = good, s.cmds = (uintptr_t)wide, s.cmd_count = 2, s.cmd_stride = sizeof(wide[0]);
	uapi_is(submit(fd, s), 0, "wider commands of the future");
	wide[1].more = 1;
	uapi_is(submit(fd, s), -E2BIG, "wider commands with a tail that is not zero");
	uapi_bo_close(fd, bo);
}

/* The last page of a large copy is missing: EFAULT, and everything goes on working. */
static void fault_in_the_middle(int fd)
{
	size_t size = 24 * MIB;
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, size, NULL);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t x = 5, y = 0;

	munmap(p + size - 4096, 4096);
	uapi_is(uapi_write(fd, ctx, bo, 0, p, size), -EFAULT,
		"copy whose last page does not exist");
	uapi_is(uapi_write(fd, ctx, bo, 0, &x, 4), 0, "copy after it");
	uapi_is(uapi_read(fd, ctx, bo, 0, &y, 4), 0, "and back");
	uapi_is(y, 5, "with the right value");
	munmap(p, size - 4096);
	uapi_bo_close(fd, bo);
}

/* A job that cannot be done in its time ends with ETIME; the next one works. */
static void too_slow(int fd)
{
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 64 * MIB, NULL);
	struct drm_trainium_cmd cmd = fill(bo, 0, 64 * MIB, 3);
	struct drm_trainium_ctx_status s;

	uapi_is(uapi_run_cmds(fd, ctx, &cmd, 1, 1), -ETIME, "a fill in one nanosecond");
	uapi_status(fd, ctx, &s);
	uapi_is(s.last_error, ETIME, "status says so");
	uapi_is(s.guilty, 0, "nothing had to be reset");
	uapi_is(uapi_run_cmds(fd, ctx, &cmd, 1, 0), 0, "the same with time");
	uapi_bo_close(fd, bo);
}

static void many(int fd)
{
	static struct drm_trainium_cmd cmds[DRM_TRAINIUM_SUBMIT_CMDS_MAX];
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 16 * KIB, NULL), back[4096];
	uint32_t i, wrong = 0;

	for (i = 0; i < DRM_TRAINIUM_SUBMIT_CMDS_MAX; i++)
		cmds[i] = fill(bo, i * 4ull, 4, i + 1);
	uapi_is(uapi_run_cmds(fd, ctx, cmds, DRM_TRAINIUM_SUBMIT_CMDS_MAX, 0), 0,
		"as many commands as a job may have");
	uapi_is(uapi_read(fd, ctx, bo, 0, back, sizeof(back)), 0, "read them back");
	for (i = 0; i < DRM_TRAINIUM_SUBMIT_CMDS_MAX; i++)
		wrong += back[i] != i + 1;
	uapi_is(wrong, 0, "every one was done");
	uapi_bo_close(fd, bo);
}

/*
 * Results of one job side by side in a cache line: on a debug kernel, where mapping the line twice
 * is a complaint in the log, this is what finds it.
 */
static void neighbours(int fd)
{
	enum {
		COUNT = 8
	};
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 4096, NULL), in[COUNT],
		 out[COUNT] = { 0 };
	struct drm_trainium_cmd cmds[COUNT];
	uint32_t i;

	memset(cmds, 0, sizeof(cmds));
	for (i = 0; i < COUNT; i++) {
		in[i] = i * 2654435761u + 1;
		cmds[i].type = DRM_TRAINIUM_CMD_COPY;
		cmds[i].copy.src_handle = bo;
		cmds[i].copy.src_offset = i * sizeof(in[0]);
		cmds[i].copy.dst_offset = (uintptr_t)&out[i];
		cmds[i].copy.length = sizeof(out[0]);
	}
	uapi_write(fd, ctx, bo, 0, in, sizeof(in));
	uapi_is(uapi_run_cmds(fd, ctx, cmds, COUNT, 0), 0, "eight copies into one cache line");
	uapi_ok(!memcmp(in, out, sizeof(in)), "each brought its word");
	uapi_bo_close(fd, bo);
}

int main(void)
{
	int fd = uapi_open();

	ctx = uapi_ctx(fd, 0, 0, NULL);
	round_trip(fd);
	chain(fd);
	timeline(fd);
	refused_copies(fd);
	refused_submits(fd);
	fault_in_the_middle(fd);
	too_slow(fd);
	many(fd);
	neighbours(fd);
	close(fd);
	return uapi_end();
}
