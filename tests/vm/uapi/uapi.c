// SPDX-License-Identifier: BSD-2-Clause
/*
 * Helpers of the tests that use the kernel's interface directly.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "uapi.h"

static int cases, passed, failed, skipped;

static void print_case(const char *what, const char *format, va_list ap)
{
	printf("%s %d - ", what, ++cases);
	vprintf(format, ap);
	putchar('\n');
	fflush(stdout);
}

void uapi_ok(bool ok, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_case(ok ? "ok" : "not ok", format, ap);
	va_end(ap);
	if (ok)
		passed++;
	else
		failed++;
}

void uapi_skip(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_case("skip", format, ap);
	va_end(ap);
	skipped++;
}

void uapi_is(int64_t got, int64_t want, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_case(got == want ? "ok" : "not ok", format, ap);
	va_end(ap);
	if (got == want) {
		passed++;
		return;
	}
	failed++;
	printf("  got %lld (%s), want %lld (%s)\n", (long long)got,
	       got < 0 ? strerror((int)-got) : "", (long long)want,
	       want < 0 ? strerror((int)-want) : "");
	fflush(stdout);
}

int uapi_end(void)
{
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed ? 1 : 0;
}

/* Looked for anew each time: the number changes when the device was removed while open. */
const char *uapi_node(void)
{
	static const char *const prefixes[] = { "/dev/accel/accel", "/dev/dri/renderD" };
	static const int first[] = { 0, 128 };
	static char path[32];
	const char *node = getenv("TRN_NODE");
	int i, n;

	if (node)
		return node;
	for (i = 0; i < 2; i++) {
		for (n = 0; n < 64; n++) {
			snprintf(path, sizeof(path), "%s%d", prefixes[i], first[i] + n);
			if (!access(path, F_OK))
				return path;
		}
	}
	return "/dev/accel/accel0";
}

int uapi_open(void)
{
	int fd = open(uapi_node(), O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		printf("Bail out! %s: %s\n", uapi_node(), strerror(errno));
		exit(1);
	}
	return fd;
}

void uapi_pci(int fd, char text[16])
{
	struct drm_trainium_device_info info;

	uapi_device(fd, &info);
	snprintf(text, 16, "%04x:%02x:%02x.%x", info.pci_domain & 0xffff, info.pci_bus & 0xff,
		 info.pci_slot & 0x1f, info.pci_function & 7);
}

int uapi_call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

int uapi_device(int fd, struct drm_trainium_device_info *info)
{
	struct drm_trainium_query query = { .what = DRM_TRAINIUM_QUERY_DEVICE,
					    .size = sizeof(*info),
					    .data = (uintptr_t)info };

	memset(info, 0, sizeof(*info));
	return uapi_call(fd, DRM_IOCTL_TRAINIUM_QUERY, &query);
}

uint64_t uapi_free_hbm(int fd)
{
	struct drm_trainium_memory_info info[8];
	struct drm_trainium_query query = { .what = DRM_TRAINIUM_QUERY_MEMORY,
					    .size = sizeof(info),
					    .data = (uintptr_t)info };
	uint64_t sum = 0;
	unsigned int i;

	memset(info, 0, sizeof(info));
	if (uapi_call(fd, DRM_IOCTL_TRAINIUM_QUERY, &query))
		return 0;
	for (i = 0; i < 8; i++)
		sum += info[i].free;
	return sum;
}

uint32_t uapi_bo(int fd, uint32_t place, uint64_t size, int *error)
{
	struct drm_trainium_bo_create create = { .size = size,
						 .place = place,
						 .stack = DRM_TRAINIUM_STACK_ANY };
	int err = uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_CREATE, &create);

	if (error)
		*error = err;
	return err ? 0 : create.handle;
}

void uapi_bo_close(int fd, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	uapi_call(fd, DRM_IOCTL_GEM_CLOSE, &arg);
}

void *uapi_map(int fd, uint32_t handle, size_t size)
{
	struct drm_trainium_bo_info info = { .handle = handle };

	if (uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_INFO, &info) || !info.mmap_offset)
		return MAP_FAILED;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)info.mmap_offset);
}

uint32_t uapi_ctx(int fd, uint32_t mask, uint32_t count, uint32_t *cores)
{
	struct drm_trainium_ctx_create create = { .core_mask = mask, .core_count = count };

	if (uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_CREATE, &create))
		return 0;
	if (cores)
		*cores = create.cores;
	return create.id;
}

int uapi_ctx_destroy(int fd, uint32_t ctx)
{
	struct drm_trainium_ctx_destroy arg = { .id = ctx };

	return uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_DESTROY, &arg);
}

void uapi_status(int fd, uint32_t ctx, struct drm_trainium_ctx_status *status)
{
	memset(status, 0, sizeof(*status));
	status->id = ctx;
	uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_STATUS, status);
}

uint32_t uapi_syncobj(int fd)
{
	struct drm_syncobj_create create = { 0 };

	return uapi_call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create) ? 0 : create.handle;
}

int64_t uapi_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

int uapi_wait(int fd, uint32_t syncobj, uint64_t point, int seconds)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)&syncobj,
		.points = (uintptr_t)&point,
		.count_handles = 1,
		.timeout_nsec = uapi_now_ns() + seconds * 1000000000ll,
	};

	return uapi_call(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

int uapi_run_cmds(int fd, uint32_t ctx, const struct drm_trainium_cmd *cmds, uint32_t count,
		  uint64_t timeout_ns)
{
	struct drm_trainium_submit submit = {
		.ctx = ctx,
		.flags = DRM_TRAINIUM_SUBMIT_WAIT,
		.cmds = (uintptr_t)cmds,
		.cmd_count = count,
		.cmd_stride = sizeof(*cmds),
		.timeout_ns = timeout_ns,
	};

	return uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &submit);
}

int uapi_write(int fd, uint32_t ctx, uint32_t handle, uint64_t offset, const void *data,
	       uint64_t size)
{
	struct drm_trainium_cmd cmd = {
		.type = DRM_TRAINIUM_CMD_COPY,
		.copy = { .src_offset = (uintptr_t)data,
			  .dst_handle = handle,
			  .dst_offset = offset,
			  .length = size },
	};

	return uapi_run_cmds(fd, ctx, &cmd, 1, 0);
}

int uapi_read(int fd, uint32_t ctx, uint32_t handle, uint64_t offset, void *data, uint64_t size)
{
	struct drm_trainium_cmd cmd = {
		.type = DRM_TRAINIUM_CMD_COPY,
		.copy = { .src_handle = handle,
			  .src_offset = offset,
			  .dst_offset = (uintptr_t)data,
			  .length = size },
	};

	return uapi_run_cmds(fd, ctx, &cmd, 1, 0);
}

struct drm_trainium_cmd uapi_cmd_run(uint32_t program, const void *args, uint32_t size)
{
	struct drm_trainium_cmd cmd = {
		.type = DRM_TRAINIUM_CMD_RUN,
		.run = { .program = program, .args = (uintptr_t)args, .args_size = size },
	};

	return cmd;
}

struct drm_trainium_xfer uapi_xfer_bo_sbuf(uint32_t handle, uint64_t offset, uint64_t sbuf,
					   uint32_t length)
{
	struct drm_trainium_xfer x = {
		.src_kind = DRM_TRAINIUM_REF_BO,
		.dst_kind = DRM_TRAINIUM_REF_SBUF,
		.length = length,
		.src_handle = handle,
		.src_offset = offset,
		.dst_offset = sbuf,
	};

	return x;
}

struct drm_trainium_xfer uapi_xfer_sbuf_bo(uint64_t sbuf, uint32_t handle, uint64_t offset,
					   uint32_t length)
{
	struct drm_trainium_xfer x = {
		.src_kind = DRM_TRAINIUM_REF_SBUF,
		.dst_kind = DRM_TRAINIUM_REF_BO,
		.length = length,
		.dst_handle = handle,
		.dst_offset = offset,
		.src_offset = sbuf,
	};

	return x;
}

struct drm_trainium_xfer uapi_xfer_sem(uint32_t semaphore)
{
	struct drm_trainium_xfer x = { .dst_kind = DRM_TRAINIUM_REF_SEM_INC,
				       .length = 4,
				       .dst_offset = semaphore };

	return x;
}

struct drm_trainium_ring_create uapi_ring_args(uint32_t ctx, uint32_t core, uint32_t engine,
					       uint32_t queue,
					       const struct drm_trainium_xfer *xfers,
					       uint32_t count)
{
	struct drm_trainium_ring_create create = {
		.ctx = ctx,
		.core = core,
		.engine = engine,
		.queue = queue,
		.count = count,
		.stride = sizeof(*xfers),
		.xfers = (uintptr_t)xfers,
	};

	return create;
}

uint32_t uapi_ring(int fd, uint32_t ctx, uint32_t core, uint32_t engine, uint32_t queue,
		   const struct drm_trainium_xfer *xfers, uint32_t count)
{
	struct drm_trainium_ring_create create =
		uapi_ring_args(ctx, core, engine, queue, xfers, count);

	return uapi_call(fd, DRM_IOCTL_TRAINIUM_RING_CREATE, &create) ? 0 : create.handle;
}

struct trn_insn uapi_insn(uint8_t opcode)
{
	struct trn_insn insn;

	memset(&insn, 0, sizeof(insn));
	insn.opcode = opcode;
	insn.engine = TRN_ENGINE_SP;
	return insn;
}

struct trn_insn uapi_insn_trigger(uint32_t engine_mask, uint32_t queue, uint32_t count)
{
	struct trn_insn insn = uapi_insn(TRN_OP_DMA_TRIGGER);

	insn.c0 = count;
	insn.c1 = queue;
	insn.trigger.engine_mask = engine_mask;
	return insn;
}

struct trn_insn uapi_insn_wait(uint16_t semaphore, int32_t value)
{
	struct trn_insn insn = uapi_insn(TRN_OP_NOP);

	insn.wait[0].op = TRN_WAIT_SEM_GE;
	insn.wait[0].mode = TRN_WAIT_PASS_ZERO;
	insn.wait[0].index = semaphore;
	insn.wait[0].value = value;
	return insn;
}

struct trn_insn uapi_insn_branch(uint32_t target)
{
	struct trn_insn insn = uapi_insn(TRN_OP_BRANCH);

	insn.c1 = target;
	return insn;
}

void uapi_prog_add(struct uapi_prog *prog, struct trn_insn insn)
{
	if (prog->count < 64)
		prog->code[prog->count++] = insn;
}

uint32_t uapi_prog_create(int fd, uint32_t ctx, uint32_t core, struct uapi_prog *prog, int *error)
{
	struct drm_trainium_program_image image = { .engine = TRN_ENGINE_SP, .insns = prog->count };
	struct drm_trainium_program_create create = {
		.ctx = ctx,
		.core = core,
		.images = (uintptr_t)&image,
		.rings = (uintptr_t)prog->rings,
		.bos = (uintptr_t)prog->bos,
		.image_count = 1,
		.ring_count = prog->ring_count,
		.bo_count = prog->bo_count,
	};
	int err;

	prog->code_bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, sizeof(prog->code), &err);
	if (!err)
		err = uapi_write(fd, ctx, prog->code_bo, 0, prog->code,
				 prog->count * sizeof(prog->code[0]));
	image.handle = prog->code_bo;
	if (!err)
		err = uapi_call(fd, DRM_IOCTL_TRAINIUM_PROGRAM_CREATE, &create);
	if (error)
		*error = err;
	return err ? 0 : create.handle;
}

uint32_t uapi_prog_make(int fd, uint32_t ctx, uint32_t core, const struct trn_insn *insns,
			uint32_t count)
{
	struct uapi_prog prog;
	uint32_t i;

	memset(&prog, 0, sizeof(prog));
	for (i = 0; i < count; i++)
		uapi_prog_add(&prog, insns[i]);
	uapi_prog_add(&prog, uapi_insn(TRN_OP_HALT));
	return uapi_prog_create(fd, ctx, core, &prog, NULL);
}
