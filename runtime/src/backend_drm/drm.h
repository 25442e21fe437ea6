/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Backend over the kernel driver: nearly everything is one ioctl.
 *
 * Locking: trn_drm.lock guards the tables of contexts and mappings; no ioctl that waits is called
 * with it.
 */
#ifndef TRN_BACKEND_DRM_H
#define TRN_BACKEND_DRM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../backend.h"
#include "../error.h"

#define TRN_DRM_DRIVER	  "trainium"
#define TRN_DRM_NODES_MAX 64u

/** struct trn_drm_node - a device the module serves. */
struct trn_drm_node {
	char node[32];
	char pci[16]; /* "" when sysfs does not tell */
	int numa_node;
};

/** struct trn_drm_seq - from this point on, the driver's number of a job is the point less @gap. */
struct trn_drm_seq {
	uint64_t point;
	uint64_t gap;
};

/** struct trn_drm_ctx - what the driver does not keep for us. */
struct trn_drm_ctx {
	uint32_t id;
	uint32_t syncobj;	  /* timeline */
	uint64_t last;		  /* last point sent */
	struct trn_drm_seq *seqs; /* ascending points */
	uint32_t seq_count;
};

/** struct trn_drm_mapping - a host buffer in this process. */
struct trn_drm_mapping {
	uint32_t handle;
	void *pointer;
	uint64_t size;
};

struct trn_drm {
	int fd;
	int numa_node;
	pthread_mutex_t lock;
	struct trn_drm_ctx *ctxs;
	uint32_t ctx_count;
	struct trn_drm_mapping *mappings;
	uint32_t mapping_count;
};

static inline struct trn_drm *trn_drm_of(struct trn_backend_device *device)
{
	return (struct trn_drm *)device;
}

/* ioctl.c: 0 or a negative errno; interrupted calls are made again. */
int trn_drm_ioctl(int fd, unsigned long request, void *argument);
int trn_drm_open_node(const char *node);

/* discover.c: sorted by PCI address. Return: how many. */
unsigned int trn_drm_discover(struct trn_drm_node nodes[TRN_DRM_NODES_MAX]);
/** trn_drm_is_ours() - does the driver behind an open node call itself trainium? */
bool trn_drm_is_ours(int fd);
int trn_drm_list(struct trn_device_info *list, size_t *count);

/* bo.c */
int trn_drm_bo_create(struct trn_backend_device *device, struct drm_trainium_bo_create *create);
int trn_drm_bo_map(struct trn_backend_device *device, uint32_t handle, uint64_t size,
		   void **pointer);
int trn_drm_bo_destroy(struct trn_backend_device *device, uint32_t handle);

/* context.c */
int trn_drm_ctx_create(struct trn_backend_device *device, struct drm_trainium_ctx_create *create);
int trn_drm_ctx_destroy(struct trn_backend_device *device, uint32_t id);
int trn_drm_ctx_status(struct trn_backend_device *device, struct drm_trainium_ctx_status *status);
int trn_drm_ctx_wait(struct trn_backend_device *device, uint32_t id, uint64_t point,
		     int64_t deadline_ns, uint64_t *jobs_failed);
int trn_drm_ctx_fd(struct trn_backend_device *device, uint32_t id, uint64_t point, int *fd);
int trn_drm_submit(struct trn_backend_device *device, const struct trn_backend_job *job);

#endif /* TRN_BACKEND_DRM_H */
