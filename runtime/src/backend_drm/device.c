// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opening a node; the failure says which of these it is: not there, no permission, busy, not our
 * driver, driver too old.
 *
 * Locking: none needed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drm.h"

static int open_refused(const char *spec, const char *node, int error)
{
	switch (-error) {
	case ENOENT:
		trn_error_set(TRN_ERR_NO_DEVICE,
			      "device %s: there is no %s; `trn ls` lists the devices here, "
			      "TRN_DEVICE=emu:trn1 runs on an emulated one",
			      spec, node);
		break;
	case EACCES:
	case EPERM:
		trn_error_set(TRN_ERR_PERMISSION,
			      "device %s: no permission to open %s: join the group that owns it "
			      "(ls -l %s), usually `render`",
			      spec, node, node);
		break;
	case EBUSY:
		trn_error_set(
			TRN_ERR_BUSY,
			"device %s: %s is held by another process exclusively (fuser %s shows it)",
			spec, node, node);
		break;
	case ENODEV:
	case ENXIO:
		trn_error_set(TRN_ERR_NO_DEVICE,
			      "device %s: %s exists but its device is gone or being reset; see the "
			      "kernel log",
			      spec, node);
		break;
	default:
		trn_error_set(TRN_ERR_IO, "device %s: cannot open %s: %s", spec, node,
			      strerror(-error));
	}
	return error;
}

/* Which node a name means. */
static int node_find(const char *spec, struct trn_drm_node *node)
{
	struct trn_drm_node nodes[TRN_DRM_NODES_MAX];
	unsigned int count = trn_drm_discover(nodes), i, number;
	char tail;

	memset(node, 0, sizeof(*node));
	node->numa_node = -1;
	for (i = 0; i < count; i++)
		if (!strcmp(nodes[i].node, spec) ||
		    (*nodes[i].pci && !strcmp(nodes[i].pci, spec))) {
			*node = nodes[i];
			return 0;
		}
	if (*spec == '/') {
		snprintf(node->node, sizeof(node->node), "%s", spec);
		return strlen(spec) < sizeof(node->node) ? 0 : -EINVAL;
	}
	if (sscanf(spec, "trn%u%c", &number, &tail) == 1) {
		if (number < count) {
			*node = nodes[number];
			return 0;
		}
		trn_error_set(TRN_ERR_NO_DEVICE,
			      "there is no device %s: the trainium driver serves %u here%s", spec,
			      count,
			      count ? "; `trn ls` lists them"
				    : "; TRN_DEVICE=emu:trn1 runs on an emulated one");
		return -ENODEV;
	}
	trn_error_set(TRN_ERR_NO_DEVICE,
		      "there is no device \"%s\": give trn0, /dev/accel/accel0, a PCI address of "
		      "this machine such as "
		      "0000:00:04.0, or emu:trn1",
		      spec);
	return -ENODEV;
}

/* Is it our driver, and does it know the questions this library asks? */
static int driver_check(int fd, const char *spec, const char *node)
{
	struct drm_trainium_query query = { .what = DRM_TRAINIUM_QUERY_DEVICE };
	int error;

	if (!trn_drm_is_ours(fd)) {
		trn_error_set(TRN_ERR_NO_DEVICE,
			      "device %s: %s belongs to another driver, not to trainium", spec,
			      node);
		return -ENODEV;
	}
	error = trn_drm_ioctl(fd, DRM_IOCTL_TRAINIUM_QUERY, &query);
	if (error == -ENOTTY || error == -EINVAL) {
		trn_error_set(TRN_ERR_DRIVER,
			      "device %s: the loaded trainium module is too old for libtrn %s "
			      "(modinfo trainium); load the one of this release",
			      spec, trn_version());
		return -EPROTO;
	}
	return error;
}

static int drm_open(const char *spec, struct trn_backend_device **device, char node[32])
{
	struct trn_drm_node found;
	struct trn_drm *drm;
	int error, fd;

	error = node_find(spec, &found);
	if (error)
		return error;
	fd = trn_drm_open_node(found.node);
	if (fd < 0)
		return open_refused(spec, found.node, fd);
	error = driver_check(fd, spec, found.node);
	if (error) {
		close(fd);
		return error;
	}
	drm = calloc(1, sizeof(*drm));
	if (!drm) {
		close(fd);
		return -ENOMEM;
	}
	drm->fd = fd;
	drm->numa_node = found.numa_node;
	pthread_mutex_init(&drm->lock, NULL);
	memcpy(node, found.node, sizeof(found.node));
	*device = (struct trn_backend_device *)drm;
	return 0;
}

static void drm_close(struct trn_backend_device *device)
{
	struct trn_drm *drm = trn_drm_of(device);
	uint32_t i;

	/* The kernel frees what the file owns; mappings are this process's own. */
	for (i = 0; i < drm->mapping_count; i++)
		munmap(drm->mappings[i].pointer, drm->mappings[i].size);
	for (i = 0; i < drm->ctx_count; i++)
		free(drm->ctxs[i].seqs);
	close(drm->fd);
	pthread_mutex_destroy(&drm->lock);
	free(drm->mappings);
	free(drm->ctxs);
	free(drm);
}

static int drm_query(struct trn_backend_device *device, struct drm_trainium_query *query)
{
	return trn_drm_ioctl(trn_drm_of(device)->fd, DRM_IOCTL_TRAINIUM_QUERY, query);
}

static int drm_ring_create(struct trn_backend_device *device,
			   struct drm_trainium_ring_create *create)
{
	return trn_drm_ioctl(trn_drm_of(device)->fd, DRM_IOCTL_TRAINIUM_RING_CREATE, create);
}

static int drm_ring_destroy(struct trn_backend_device *device, uint32_t ctx, uint32_t handle)
{
	struct drm_trainium_ring_destroy request = { .ctx = ctx, .handle = handle };

	return trn_drm_ioctl(trn_drm_of(device)->fd, DRM_IOCTL_TRAINIUM_RING_DESTROY, &request);
}

static int drm_program_create(struct trn_backend_device *device,
			      struct drm_trainium_program_create *create)
{
	return trn_drm_ioctl(trn_drm_of(device)->fd, DRM_IOCTL_TRAINIUM_PROGRAM_CREATE, create);
}

static int drm_program_destroy(struct trn_backend_device *device, uint32_t ctx, uint32_t handle)
{
	struct drm_trainium_program_destroy request = { .ctx = ctx, .handle = handle };

	return trn_drm_ioctl(trn_drm_of(device)->fd, DRM_IOCTL_TRAINIUM_PROGRAM_DESTROY, &request);
}

const struct trn_backend_ops trn_backend_drm = {
	.name = "drm",
	.list = trn_drm_list,
	.open = drm_open,
	.close = drm_close,
	.query = drm_query,
	.bo_create = trn_drm_bo_create,
	.bo_map = trn_drm_bo_map,
	.bo_destroy = trn_drm_bo_destroy,
	.ctx_create = trn_drm_ctx_create,
	.ctx_destroy = trn_drm_ctx_destroy,
	.ctx_status = trn_drm_ctx_status,
	.ring_create = drm_ring_create,
	.ring_destroy = drm_ring_destroy,
	.program_create = drm_program_create,
	.program_destroy = drm_program_destroy,
	.submit = trn_drm_submit,
	.ctx_wait = trn_drm_ctx_wait,
	.ctx_fd = trn_drm_ctx_fd,
};
