// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every call with the first, the second, the third ... allocation or user copy inside it failing.
 *
 * Needs a kernel with fault injection (scripts/kernel-debug): a task says through fail-nth which of
 * its next chances is to fail. A call may then fail or succeed, but nothing may be lost by it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uapi.h"

enum {
	POINTS_MAX = 4000,
	BYTES = 65536
};

static struct drm_trainium_device_info info;
static int nth_fd;
static uint32_t ctx, core, halt;
static uint32_t in, out;
static char address[16];

static void nth_set(unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, (size_t)length, 0) != length)
		perror("fail-nth");
}

/* Disarms; true when the fault did not happen, so the call has fewer points than that. */
static bool nth_missed(void)
{
	char text[16] = "";

	/* When only one chance is left this read is the one that fails: as good as a hit. */
	if (pread(nth_fd, text, sizeof(text) - 1, 0) < 0)
		text[0] = '\0';
	nth_set(0);
	return atoi(text) > 0;
}

static void knob(const char *file, const char *value)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0)
		perror(path);
	close(fd);
}

/* Ordinary allocations may fail too; each injected fault has no trace in the log. */
static void knobs(void)
{
	knob("failslab/ignore-gfp-wait", "N");
	knob("failslab/verbose", "0");
	knob("fail_page_alloc/ignore-gfp-wait", "N");
	knob("fail_page_alloc/min-order", "0");
	knob("fail_page_alloc/verbose", "0");
	knob("fail_usercopy/verbose", "0");
}

/*
 * A copy to the user that fails at the end of a call leaves an object behind that the caller does
 * not know of, as in every DRM driver; what creates objects is tested without.
 */
static void usercopy_faults(bool on)
{
	knob("fail_usercopy/stacktrace-depth", on ? "0" : "32");
	knob("fail_usercopy/require-end", "1");
}

static int faulty_call(int fd, unsigned long request, void *arg, unsigned int n)
{
	nth_set(n);
	return uapi_call(fd, request, arg);
}

/* What a scenario does: arm for @n, make one call, undo what succeeded. 0 or a negative errno. */
typedef int scenario(int fd, unsigned int n, bool *missed);

/* One fault after the other, until a call has fewer points than that. */
static void sweep(int fd, const char *name, scenario *run)
{
	uint64_t before = uapi_free_hbm(fd);
	unsigned int n, failed = 0, points = 0;
	bool missed = false;
	int err = 0;

	for (n = 1; n < POINTS_MAX && !missed; n++) {
		err = run(fd, n, &missed);
		points++;
		failed += err != 0;
	}
	uapi_ok(missed, "%s: %u faults, %u of them seen by the caller", name, points - 1, failed);
	uapi_is(err, 0, "%s: well when nothing fails", name);
	uapi_is((int64_t)uapi_free_hbm(fd), (int64_t)before, "%s: device memory is what it was",
		name);
}

static int fault_open(int fd, unsigned int n, bool *missed)
{
	int other, err;

	(void)fd;
	nth_set(n);
	other = open(uapi_node(), O_RDWR | O_CLOEXEC);
	err = other < 0 ? -errno : 0;
	*missed = nth_missed();
	if (other >= 0)
		close(other);
	return err;
}

static int fault_query(int fd, unsigned int n, bool *missed)
{
	struct drm_trainium_holder holders[16];
	struct drm_trainium_query query = {
		.what = DRM_TRAINIUM_QUERY_HOLDERS,
		.size = sizeof(holders),
		.data = (uintptr_t)holders,
	};
	int err = faulty_call(fd, DRM_IOCTL_TRAINIUM_QUERY, &query, n);

	*missed = nth_missed();
	return err;
}

static int fault_bo(int fd, unsigned int n, bool *missed, uint32_t place)
{
	struct drm_trainium_bo_create create = {
		.size = BYTES,
		.place = place,
		.stack = DRM_TRAINIUM_STACK_ANY,
	};
	int err = faulty_call(fd, DRM_IOCTL_TRAINIUM_BO_CREATE, &create, n);

	*missed = nth_missed();
	if (!err)
		uapi_bo_close(fd, create.handle);
	return err;
}

static int fault_bo_hbm(int fd, unsigned int n, bool *missed)
{
	return fault_bo(fd, n, missed, DRM_TRAINIUM_PLACE_HBM);
}

static int fault_bo_host(int fd, unsigned int n, bool *missed)
{
	return fault_bo(fd, n, missed, DRM_TRAINIUM_PLACE_HOST);
}

static int fault_mmap(int fd, unsigned int n, bool *missed)
{
	struct drm_trainium_bo_info bo = {
		.handle = uapi_bo(fd, DRM_TRAINIUM_PLACE_HOST, BYTES, NULL),
	};
	int err = uapi_call(fd, DRM_IOCTL_TRAINIUM_BO_INFO, &bo);
	void *p;

	nth_set(n);
	p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)bo.mmap_offset);
	if (p == MAP_FAILED)
		err = -errno;
	*missed = nth_missed();
	if (p != MAP_FAILED) {
		memset(p, 1, BYTES);
		munmap(p, BYTES);
	}
	uapi_bo_close(fd, bo.handle);
	return err;
}

static int fault_share(int fd, unsigned int n, bool *missed)
{
	struct drm_prime_handle share = {
		.handle = uapi_bo(fd, DRM_TRAINIUM_PLACE_HOST, BYTES, NULL),
		.flags = O_CLOEXEC,
		.fd = -1,
	};
	int err = faulty_call(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &share, n);

	*missed = nth_missed();
	if (!err)
		close(share.fd);
	uapi_bo_close(fd, share.handle);
	return err;
}

static int fault_ctx(int fd, unsigned int n, bool *missed)
{
	struct drm_trainium_ctx_create create = { .core_count = info.cores > 1 };
	int err = faulty_call(fd, DRM_IOCTL_TRAINIUM_CTX_CREATE, &create, n);
	int tries;

	*missed = nth_missed();
	if (!err)
		uapi_ctx_destroy(fd, create.id);
	/* The core is reset behind the back of its last owner: do not take that for a fault. */
	for (tries = 0; tries < 2000 && create.core_count; tries++) {
		uint32_t again = uapi_ctx(fd, 0, 1, NULL);

		if (again) {
			uapi_ctx_destroy(fd, again);
			break;
		}
		usleep(5000);
	}
	return err;
}

static void ring_xfers(struct drm_trainium_xfer *xfers)
{
	uint32_t i;

	for (i = 0; i < 16; i++)
		xfers[i] = uapi_xfer_bo_sbuf(in, i * 4096, i * (uint64_t)TRN_SBUF_PARTITION_STRIDE,
					     4096);
	xfers[16] = uapi_xfer_sem(3);
}

static int fault_ring(int fd, unsigned int n, bool *missed)
{
	struct drm_trainium_ring_destroy destroy = { .ctx = ctx };
	struct drm_trainium_ring_create create;
	struct drm_trainium_xfer xfers[17];
	int err;

	ring_xfers(xfers);
	create = uapi_ring_args(ctx, core, 3, 2, xfers, 17);
	err = faulty_call(fd, DRM_IOCTL_TRAINIUM_RING_CREATE, &create, n);
	*missed = nth_missed();
	destroy.handle = create.handle;
	if (!err && uapi_call(fd, DRM_IOCTL_TRAINIUM_RING_DESTROY, &destroy))
		uapi_ok(false, "ring created at fault %u: destroyed", n);
	return err;
}

static int fault_program(int fd, unsigned int n, bool *missed)
{
	struct drm_trainium_program_image image = { .engine = TRN_ENGINE_SP, .insns = 1 };
	struct drm_trainium_program_bo bos[2] = {
		{ in, DRM_TRAINIUM_BO_READ },
		{ out, DRM_TRAINIUM_BO_READ | DRM_TRAINIUM_BO_WRITE },
	};
	struct drm_trainium_program_destroy destroy = { .ctx = ctx };
	struct drm_trainium_program_create create = {
		.ctx = ctx,
		.core = core,
		.images = (uintptr_t)&image,
		.bos = (uintptr_t)bos,
		.image_count = 1,
		.bo_count = 2,
	};
	struct trn_insn insn = uapi_insn(TRN_OP_HALT);
	struct drm_trainium_cmd cmd;
	int err;

	image.handle = in;
	uapi_write(fd, ctx, in, 0, &insn, sizeof(insn));
	err = faulty_call(fd, DRM_IOCTL_TRAINIUM_PROGRAM_CREATE, &create, n);
	*missed = nth_missed();
	if (err)
		return err;
	cmd = uapi_cmd_run(create.handle, NULL, 0);
	err = uapi_run_cmds(fd, ctx, &cmd, 1, 0);
	if (err)
		uapi_is(err, 0, "program created at fault %u: runs", n);
	destroy.handle = create.handle;
	uapi_call(fd, DRM_IOCTL_TRAINIUM_PROGRAM_DESTROY, &destroy);
	return 0;
}

/* A job of every command, user memory and fences at both ends. */
static int fault_submit(int fd, unsigned int n, bool *missed)
{
	static uint32_t a[BYTES / 4], b[BYTES / 4], args[4] = { 1, 2, 3, 4 };
	struct drm_trainium_cmd cmds[4] = {
		{ .type = DRM_TRAINIUM_CMD_COPY,
		  .copy = { .src_offset = (uintptr_t)a, .dst_handle = in, .length = BYTES - 4 } },
		{ .type = DRM_TRAINIUM_CMD_FILL,
		  .fill = { .handle = out, .pattern = n, .length = 4096 } },
		{ .type = DRM_TRAINIUM_CMD_COPY,
		  .copy = { .src_handle = in, .dst_offset = (uintptr_t)b, .length = BYTES - 4 } },
		uapi_cmd_run(halt, args, sizeof(args)),
	};
	struct drm_trainium_sync signals[2] = { { .handle = uapi_syncobj(fd), .point = 7 },
						{ .handle = uapi_syncobj(fd) } };
	struct drm_trainium_submit submit = {
		.ctx = ctx,
		.cmds = (uintptr_t)cmds,
		.cmd_count = 4,
		.cmd_stride = sizeof(cmds[0]),
		.signals = (uintptr_t)signals,
		.signal_count = 2,
	};
	struct drm_syncobj_destroy destroy = { 0 };
	uint32_t i;
	int err;

	for (i = 0; i < BYTES / 4; i++)
		a[i] = i * 2654435761u + n;
	memset(b, 0, sizeof(b));
	err = faulty_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &submit, n);
	*missed = nth_missed();
	if (!err) {
		err = uapi_wait(fd, signals[0].handle, 7, 60);
		if (err || memcmp(a, b, BYTES - 4))
			uapi_ok(false, "job accepted at fault %u: ends well with the data", n);
	}
	for (i = 0; i < 2; i++) {
		destroy.handle = signals[i].handle;
		uapi_call(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	}
	return err;
}

/*
 * The DRM core frees an error pointer when it cannot name a node (drm_minor_alloc() in 6.12), which
 * is not ours to test: no faults inside drm_dev_init().
 */
static void spare_drm_dev_init(void)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc" };
	char line[256], symbol[128], text[2][24] = { "", "" }, path[64];
	FILE *symbols = fopen("/proc/kallsyms", "r");
	unsigned long long at;
	unsigned int i;

	while (symbols && !text[1][0] && fgets(line, sizeof(line), symbols)) {
		if (sscanf(line, "%llx %*c %127s", &at, symbol) != 2)
			continue;
		if (text[0][0])
			snprintf(text[1], sizeof(text[1]), "0x%llx", at);
		else if (!strcmp(symbol, "drm_dev_init"))
			snprintf(text[0], sizeof(text[0]), "0x%llx", at);
	}
	if (symbols)
		fclose(symbols);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/stacktrace-depth", kinds[i]);
		knob(path, "32");
		snprintf(path, sizeof(path), "%s/reject-start", kinds[i]);
		knob(path, text[0]);
		snprintf(path, sizeof(path), "%s/reject-end", kinds[i]);
		knob(path, text[1]);
	}
}

static int driver_write(const char *file)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/trainium/%s", file);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	if (write(fd, address, strlen(address)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* The device is bound before and after. */
static int fault_probe(unsigned int n, bool *missed)
{
	int err = driver_write("unbind");

	if (err)
		return err;
	nth_set(n);
	err = driver_write("bind");
	*missed = nth_missed();
	if (err && driver_write("bind"))
		uapi_ok(false, "probe failed at fault %u: the next one is well", n);
	return err;
}

static void probe(void)
{
	unsigned int n, points = 0, failed = 0;
	bool missed = false;
	int err = 0;

	spare_drm_dev_init();
	/* There are hundreds, and each costs a reset of the device: fewer the later they are. */
	for (n = 1; n < POINTS_MAX && !missed; n += 1 + n / 4) {
		err = fault_probe(n, &missed);
		points++;
		failed += err != 0;
	}
	uapi_ok(missed && !err, "probe: %u faults, %u of them make it fail", points - 1, failed);
}

static void calls(int fd)
{
	uint32_t cores = 0;
	struct drm_trainium_cmd cmd;

	sweep(fd, "open", fault_open);
	sweep(fd, "query", fault_query);
	usercopy_faults(false);
	sweep(fd, "create device memory", fault_bo_hbm);
	sweep(fd, "create host memory", fault_bo_host);
	sweep(fd, "map host memory", fault_mmap);
	sweep(fd, "share host memory", fault_share);
	ctx = uapi_ctx(fd, 0, 1, &cores);
	if (!(info.caps & DRM_TRAINIUM_CAP_RUN) || !ctx) {
		uapi_skip("rings, programs and jobs: the device runs no programs");
		return;
	}
	core = (uint32_t)__builtin_ctz(cores);
	in = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, BYTES, NULL);
	out = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, BYTES, NULL);
	halt = uapi_prog_make(fd, ctx, core, NULL, 0);
	sweep(fd, "create a context", fault_ctx);
	sweep(fd, "create a ring", fault_ring);
	sweep(fd, "create a program", fault_program);
	usercopy_faults(true);
	sweep(fd, "submit a job", fault_submit);
	cmd = uapi_cmd_run(halt, NULL, 0);
	uapi_is(uapi_run_cmds(fd, ctx, &cmd, 1, 0), 0, "the core works after all of them");
}

int main(void)
{
	int fd;

	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0) {
		uapi_skip("faults inside calls: this kernel has no fault injection");
		return uapi_end();
	}
	knobs();
	fd = uapi_open();
	uapi_device(fd, &info);
	uapi_pci(fd, address);
	calls(fd);
	close(fd);
	probe();
	usleep(50000);
	fd = uapi_open();
	uapi_is(uapi_device(fd, &info), 0, "the device works after all of them");
	close(fd);
	return uapi_end();
}
