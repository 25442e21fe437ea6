// SPDX-License-Identifier: BSD-2-Clause
/*
 * Buffers: creation, sizes, what they hold, mapping by the CPU.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uapi.h"

static int create(int fd, uint64_t size, uint32_t place, uint32_t stack, uint32_t flags,
		  uint32_t handle)
{
	struct drm_trainium_bo_create c = {
		.size = size, .place = place, .stack = stack, .flags = flags, .handle = handle
	};

	return uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_CREATE, &c);
}

static void refused(int fd)
{
	struct drm_trainium_bo_info info = { .handle = 4711 };
	const uint32_t any = DRM_TRAINIUM_STACK_ANY;

	uapi_is(create(fd, 0, 0, any, 0, 0), -EINVAL, "size 0");
	uapi_is(create(fd, 4096, 2, any, 0, 0), -EINVAL, "unknown place");
	uapi_is(create(fd, 4096, 0, 64, 0, 0), -EINVAL, "stack that does not exist");
	uapi_is(create(fd, 4096, 1, 1, 0, 0), -EINVAL, "stack of host memory");
	uapi_is(create(fd, 4096, 0, any, 1, 0), -EINVAL, "flag");
	uapi_is(create(fd, 4096, 0, any, 0, 1), -EINVAL, "handle given");
	uapi_is(create(fd, UINT64_MAX, 0, any, 0, 0), -ENOBUFS, "2^64-1 bytes of HBM");
	uapi_is(create(fd, UINT64_MAX, 1, any, 0, 0), -ENOMEM, "2^64-1 bytes of host memory");
	uapi_is(create(fd, 100 * GIB, 0, any, 0, 0), -ENOBUFS, "more HBM than there is");
	uapi_is(create(fd, 500 * GIB, 1, any, 0, 0), -ENOMEM, "more host memory than there is");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_INFO, &info), -ENOENT,
		"info of a handle that does not exist");
	info.pad = 1;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_INFO, &info), -EINVAL, "padding of info");
}

static void hbm(int fd)
{
	struct drm_trainium_bo_create c = { .size = 5000,
					    .place = DRM_TRAINIUM_PLACE_HBM,
					    .stack = 1 };
	struct drm_trainium_bo_info info = { 0 };
	uint64_t before = uapi_free_hbm(fd);

	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_CREATE, &c), 0, "create 5000 bytes in stack 1");
	uapi_is(before - uapi_free_hbm(fd), 8192, "size is rounded up to pages");
	info.handle = c.handle;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_INFO, &info), 0, "info");
	uapi_ok(info.size == 8192 && info.place == 0 && info.stack == 1 && info.mmap_offset == 0,
		"info of HBM");
	uapi_bo_close(fd, c.handle);
	uapi_is(uapi_free_hbm(fd), before, "closing the handle frees it");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_INFO, &info), -ENOENT, "info after close");
}

/* What one owner wrote is gone when the memory gets a new owner. */
static void cleared(int fd)
{
	enum {
		SIZE = 1 << 20
	};
	unsigned char *data = malloc(SIZE);
	uint32_t ctx = uapi_ctx(fd, 0, 0, NULL);
	uint32_t bo;
	size_t i, dirty = 0;
	int round;

	for (round = 0; round < 2; round++) {
		bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, SIZE, NULL);
		memset(data, 0x55, SIZE);
		uapi_is(uapi_read(fd, ctx, bo, 0, data, SIZE), 0, "read new HBM, round %d", round);
		for (i = 0; i < SIZE; i++)
			dirty += data[i] != 0;
		uapi_is(dirty, 0, "new HBM is zero, round %d", round);
		memset(data, 0x77, SIZE);
		uapi_write(fd, ctx, bo, 0, data, SIZE);
		uapi_bo_close(fd, bo);
	}
	uapi_ctx_destroy(fd, ctx);
	free(data);
}

static sigjmp_buf fault_jump;

static void on_fault(int sig)
{
	siglongjmp(fault_jump, sig);
}

/* Signal that touching @p raises, 0 for none. */
static int touch(volatile char *p)
{
	int sig = sigsetjmp(fault_jump, 1);

	if (!sig)
		*p = 1;
	return sig;
}

static void map_refused(int fd, uint32_t bo, uint64_t offset, size_t size)
{
	void *p = mmap(NULL, size + 4096, PROT_READ, MAP_SHARED, fd, (off_t)offset);

	uapi_ok(p == MAP_FAILED && errno == EINVAL, "map more than the buffer");
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off_t)(offset + 4096));
	uapi_ok(p == MAP_FAILED && errno == EINVAL, "map from the middle");
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0x7ffffffff000);
	uapi_ok(p == MAP_FAILED && errno == EINVAL, "map an offset nobody has");
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, (off_t)offset);
	uapi_ok(p == MAP_FAILED && errno == EINVAL, "private mapping");
	p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, (off_t)offset);
	uapi_ok(p == MAP_FAILED && errno == EACCES, "executable mapping");
	(void)bo;
}

static void map_other_file(uint64_t offset)
{
	int other = uapi_open();
	void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, other, (off_t)offset);

	uapi_ok(p == MAP_FAILED && errno == EACCES, "another file cannot map the buffer");
	close(other);
}

static void map_rules(char *p, size_t size)
{
	void *q;
	int status;
	pid_t pid;

	uapi_ok(mprotect(p, 4096, PROT_READ | PROT_EXEC) && errno == EACCES,
		"mprotect to executable");
	q = mremap(p, size, size * 2, MREMAP_MAYMOVE);
	uapi_ok(q == MAP_FAILED && errno == EFAULT, "mremap cannot grow the mapping");
	pid = fork();
	if (!pid) {
		p[1] = 'c';
		_exit(0);
	}
	waitpid(pid, &status, 0);
	uapi_ok(p[1] == 'c', "a child shares the mapping");
	uapi_is(madvise(p, size, MADV_DONTNEED), 0, "drop the pages of the mapping");
	uapi_ok(touch(p) == 0 && p[1] == 'c', "dropped pages come back with their content");
	uapi_is(munmap(p + 4096, 4096), 0, "unmap a page in the middle");
	uapi_ok(touch(p) == 0 && touch(p + 8192) == 0, "the rest stays mapped");
	uapi_is(touch(p + 4096), SIGSEGV, "the hole is a hole");
}

static void host(int fd)
{
	enum {
		SIZE = 3 << 20
	};
	struct drm_trainium_bo_info info = { 0 };
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HOST, SIZE, NULL);
	size_t i, dirty = 0;
	char *p;

	info.handle = bo;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_INFO, &info), 0, "info of host memory");
	uapi_ok(info.size == SIZE && info.place == 1 && info.mmap_offset,
		"host memory has an offset to map");
	p = uapi_map(fd, bo, SIZE);
	uapi_ok(p != MAP_FAILED, "map host memory");
	if (p == MAP_FAILED)
		return;
	for (i = 0; i < SIZE; i++)
		dirty += p[i] != 0;
	uapi_is(dirty, 0, "host memory is zero");
	map_refused(fd, bo, info.mmap_offset, SIZE);
	map_other_file(info.mmap_offset);
	uapi_bo_close(fd, bo);
	uapi_is(touch(p), 0, "a mapping outlives the handle");
	map_rules(p, SIZE);
	munmap(p, SIZE);
	bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 4096, NULL);
	uapi_ok(uapi_map(fd, bo, 4096) == MAP_FAILED, "HBM cannot be mapped");
	uapi_bo_close(fd, bo);
}

static void map_after_close(void)
{
	int fd = uapi_open();
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HOST, 8192, NULL);
	char *p = uapi_map(fd, bo, 8192);

	close(fd);
	uapi_is(touch(p + 4096), 0, "a mapping outlives the file");
	munmap(p, 8192);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_fault };
	int fd = uapi_open();

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	refused(fd);
	hbm(fd);
	cleared(fd);
	host(fd);
	map_after_close();
	close(fd);
	return uapi_end();
}
