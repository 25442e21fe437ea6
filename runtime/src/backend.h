/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one narrow table between the runtime and what drives a device.
 *
 * It speaks the UAPI's structures on both sides: the drm backend passes them to the kernel, the emu
 * backend carries out the same contract in process over kernel/hw and the device model. Functions
 * return 0 or a negative errno with the UAPI's meaning; trn_error_set() may have been called with
 * more detail.
 */
#ifndef TRN_BACKEND_H
#define TRN_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "drm/trainium_accel.h"
#include "trn/trn.h"

struct trn_backend_device;

/**
 * struct trn_backend_point - a point on the timeline of a context of some device (same backend).
 */
struct trn_backend_point {
	struct trn_backend_device *device;
	uint32_t ctx;
	uint64_t point;
};

/**
 * struct trn_backend_job - one submission; @signal is the next point of the context's timeline,
 * chosen by the runtime (1, 2, 3 …). Without commands it does nothing but wait and signal.
 * @wait: the caller would wait for the job at once; a backend that can do so in the same call sets
 *	*@finished when the job has ended well. Only short jobs are submitted this way.
 */
struct trn_backend_job {
	uint32_t ctx;
	const struct drm_trainium_cmd *cmds;
	uint32_t cmd_count;
	const struct trn_backend_point *waits;
	uint32_t wait_count;
	uint64_t signal;
	uint64_t timeout_ns;
	bool wait;
	bool *finished;
};

/**
 * struct trn_backend_ops - what a backend does. Every function may be called from any thread.
 * @list: devices present, sorted by PCI address; *count in: capacity, out: number
 * @open: @spec is what follows the backend's own prefix; *node receives the device node or ""
 * @bo_map: CPU pointer of a host buffer, unmapped by @bo_destroy
 * @ctx_destroy: cancels jobs that have not started; when it returns the device works for the
 * context no more
 * @ctx_status: its counters include every job whose point has passed
 * @ctx_wait: wait until @point of a context's timeline; absolute CLOCK_MONOTONIC deadline, one in
 * the past asks only. 0, -ETIME when the
 *	deadline came first, or the job's error; a job that ran out of time is -ETIMEDOUT
 *	@jobs_failed receives how many jobs of the context have failed so far; unchanged with -ETIME
 * @ctx_fd: descriptor that becomes readable at @point
 */
struct trn_backend_ops {
	const char *name;
	int (*list)(struct trn_device_info *list, size_t *count);
	int (*open)(const char *spec, struct trn_backend_device **device, char node[32]);
	void (*close)(struct trn_backend_device *device);
	int (*query)(struct trn_backend_device *device, struct drm_trainium_query *query);
	int (*bo_create)(struct trn_backend_device *device, struct drm_trainium_bo_create *create);
	int (*bo_map)(struct trn_backend_device *device, uint32_t handle, uint64_t size,
		      void **pointer);
	int (*bo_destroy)(struct trn_backend_device *device, uint32_t handle);
	int (*ctx_create)(struct trn_backend_device *device,
			  struct drm_trainium_ctx_create *create);
	int (*ctx_destroy)(struct trn_backend_device *device, uint32_t ctx);
	int (*ctx_status)(struct trn_backend_device *device,
			  struct drm_trainium_ctx_status *status);
	int (*ring_create)(struct trn_backend_device *device,
			   struct drm_trainium_ring_create *create);
	int (*ring_destroy)(struct trn_backend_device *device, uint32_t ctx, uint32_t handle);
	int (*program_create)(struct trn_backend_device *device,
			      struct drm_trainium_program_create *create);
	int (*program_destroy)(struct trn_backend_device *device, uint32_t ctx, uint32_t handle);
	int (*submit)(struct trn_backend_device *device, const struct trn_backend_job *job);
	int (*ctx_wait)(struct trn_backend_device *device, uint32_t ctx, uint64_t point,
			int64_t deadline_ns, uint64_t *jobs_failed);
	int (*ctx_fd)(struct trn_backend_device *device, uint32_t ctx, uint64_t point, int *fd);
};

extern const struct trn_backend_ops trn_backend_drm;
extern const struct trn_backend_ops trn_backend_emu;

#endif /* TRN_BACKEND_H */
