/* SPDX-License-Identifier: GPL-2.0-only */
/* Open files: the owner of everything a user creates. */
#ifndef TRAINIUM_FILE_H
#define TRAINIUM_FILE_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/xarray.h>

#include <drm/drm_file.h>

struct trainium_context;
struct trainium_device;

/* Limits per open file; a full table is ENOSPC. */
#define TRAINIUM_FILE_CONTEXTS	64
#define TRAINIUM_FILE_RINGS	4096
#define TRAINIUM_FILE_PROGRAMS	4096
#define TRAINIUM_FILE_JOBS	4096

/**
 * struct trainium_file - one open file. Referenced by buffers for their accounting.
 * @ref: references
 * @tdev: device; a reference on it is held
 * @node: in trainium_device.files, while open
 * @pid: process that opened it
 * @comm: its name
 * @contexts: by id
 * @hbm_bytes: HBM held by buffers and rings
 * @host_bytes: host memory held by buffers
 * @cores: mask of cores owned
 * @rings: rings of all contexts
 * @programs: programs of all contexts
 * @jobs: jobs not finished
 * @busy_ns: time cores worked for this file
 */
struct trainium_file {
	struct kref ref;
	struct trainium_device *tdev;
	struct list_head node;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
	struct xarray contexts;
	atomic64_t hbm_bytes;
	atomic64_t host_bytes;
	atomic_t cores;
	atomic_t rings;
	atomic_t programs;
	atomic_t jobs;
	atomic64_t busy_ns;
};

int trainium_file_open(struct drm_device *drm, struct drm_file *drm_file);
void trainium_file_postclose(struct drm_device *drm, struct drm_file *drm_file);
struct trainium_file *trainium_file_get(struct trainium_file *file);
void trainium_file_put(struct trainium_file *file);
void trainium_file_unbind(struct trainium_file *file, int error);
void trainium_files_unbind(struct trainium_device *tdev);

#endif /* TRAINIUM_FILE_H */
