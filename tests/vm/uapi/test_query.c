// SPDX-License-Identifier: BSD-2-Clause
/*
 * QUERY: what the device says about itself; growth rules of every call.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uapi.h"

static int query(int fd, uint32_t what, void *data, uint64_t *size)
{
	struct drm_trainium_query q = { .what = what, .size = *size, .data = (uintptr_t)data };
	int err = uapi_call(fd, DRM_IOCTL_TRAINIUM_QUERY, &q);

	*size = q.size;
	return err;
}

static void device(int fd)
{
	struct drm_trainium_device_info info;

	uapi_is(uapi_device(fd, &info), 0, "query device");
	uapi_is(info.pci_vendor, 0x1d0f, "PCI vendor");
	uapi_ok(info.cores >= 1 && info.cores <= TRN_MAX_CORES, "number of cores is sensible");
	uapi_ok(info.stacks >= 2 &&
			info.dma_engines == info.cores * 16 + (info.generation == 2 ? 2 : 4),
		"stacks and DMA engines");
	uapi_ok(strlen(info.arch) >= 4 && strlen(info.product) >= 4, "names are filled in: %s, %s",
		info.arch, info.product);
	uapi_ok(info.power_utilisation <= 10000 || info.power_utilisation == 0xffffffff,
		"power is a share or unavailable");
}

static void sizes(int fd)
{
	static const size_t entry[] = {
		sizeof(struct drm_trainium_device_info),
		sizeof(struct drm_trainium_core_info),
		sizeof(struct drm_trainium_memory_info),
		sizeof(struct drm_trainium_holder),
	};
	unsigned char buf[4096];
	uint64_t size, full;
	uint32_t what;
	size_t i, zeros;

	for (what = 0; what < 4; what++) {
		size = 0;
		uapi_is(query(fd, what, NULL, &size), 0, "query %u with size 0", what);
		uapi_ok(size && size % entry[what] == 0, "query %u tells its size, %llu", what,
			(unsigned long long)size);
		full = size;
		memset(buf, 0xaa, sizeof(buf));
		size = sizeof(buf);
		uapi_is(query(fd, what, buf, &size), 0, "query %u with a larger buffer", what);
		for (i = full, zeros = 0; i < sizeof(buf); i++)
			zeros += buf[i] == 0;
		uapi_ok(size == full && zeros == sizeof(buf) - full, "query %u clears the rest",
			what);
		memset(buf, 0xaa, sizeof(buf));
		size = 4;
		uapi_is(query(fd, what, buf, &size), 0, "query %u with a smaller buffer", what);
		uapi_ok(size == full && buf[4] == 0xaa, "query %u writes no more than asked for",
			what);
	}
}

static void refused(int fd)
{
	struct drm_trainium_query q = { .what = 99 };
	uint64_t size;

	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_QUERY, &q), -EINVAL, "unknown question");
	q = (struct drm_trainium_query){ .flags = 1 };
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_QUERY, &q), -EINVAL, "flag of a query");
	size = UINT64_MAX;
	uapi_is(query(fd, 0, NULL, &size), -EINVAL, "size 2^64-1");
	size = 4096;
	uapi_is(query(fd, 0, NULL, &size), -EFAULT, "null pointer");
}

/* A structure of the future: zero tail accepted, anything else not. */
static void growth(int fd)
{
	struct {
		struct drm_trainium_query q;
		uint64_t more;
	} big = { .more = 0 };
	struct drm_trainium_ctx_destroy gone = { .id = 12345 };
	unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE,
				     DRM_COMMAND_BASE + DRM_TRAINIUM_QUERY, sizeof(big));
	unsigned long small = _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE,
				   DRM_COMMAND_BASE + DRM_TRAINIUM_QUERY, 16);

	uapi_is(uapi_call(fd, request, &big), 0, "larger structure with a zero tail");
	big.more = 1;
	uapi_is(uapi_call(fd, request, &big), -E2BIG, "larger structure with a non-zero tail");
	big.q.size = 0;
	uapi_is(uapi_call(fd, small, &big), 0, "smaller structure is extended with zeros");
	uapi_is(uapi_call(fd,
			  _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE, DRM_COMMAND_BASE + 0x3f, 8),
			  &gone),
		-EINVAL, "call number that does not exist");
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_QUERY, NULL), -EFAULT, "null argument");
}

static void holders(int fd)
{
	struct drm_trainium_holder list[64];
	uint64_t size = sizeof(list);
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 3 * MIB, NULL);
	uint32_t cores = 0, ctx = uapi_ctx(fd, 0, 1, &cores);
	bool found = false;
	size_t i;

	uapi_is(query(fd, DRM_TRAINIUM_QUERY_HOLDERS, list, &size), 0, "query holders");
	for (i = 0; i < size / sizeof(list[0]); i++)
		if (list[i].pid == getpid() && list[i].hbm_bytes == 3 * MIB &&
		    list[i].cores == cores)
			found = !strncmp(list[i].comm, "test_query", 10);
	uapi_ok(found && cores, "this process is listed with its memory and cores");
	uapi_bo_close(fd, bo);
	uapi_ctx_destroy(fd, ctx);
}

/* What tools such as nvtop read. */
static void fdinfo(int fd)
{
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 2 * MIB, NULL);
	char path[64], text[4096], pdev[40], address[16];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	text[n] = 0;
	if (f)
		fclose(f);
	uapi_pci(fd, address);
	snprintf(pdev, sizeof(pdev), "drm-pdev:\t%s\n", address);
	uapi_ok(strstr(text, "drm-driver:\ttrainium\n") != NULL, "fdinfo names the driver");
	uapi_ok(strstr(text, pdev) != NULL, "fdinfo names the PCI address");
	uapi_ok(strstr(text, "drm-client-id:") != NULL, "fdinfo has a client id");
	uapi_ok(strstr(text, "drm-total-hbm:\t2048 KiB\n") != NULL, "fdinfo counts HBM");
	uapi_ok(strstr(text, "drm-engine-core:\t") != NULL, "fdinfo counts the time of cores");
	uapi_bo_close(fd, bo);
}

int main(void)
{
	int fd = uapi_open();

	device(fd);
	sizes(fd);
	refused(fd);
	growth(fd);
	holders(fd);
	fdinfo(fd);
	close(fd);
	return uapi_end();
}
