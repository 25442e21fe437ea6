/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs: commands with what they wait for and what they signal. */
#ifndef TRAINIUM_JOB_H
#define TRAINIUM_JOB_H

#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>

#include <drm/drm_file.h>
#include <drm/trainium_accel.h>

#include "trainium_copy.h"

struct trainium_context;
struct trainium_core;
struct trainium_program;

#define TRAINIUM_JOB_TIMEOUT_NS	(10ull * NSEC_PER_SEC)

/**
 * struct trainium_args - memory of the arguments of a submission's runs.
 * @ref: the submission, and each of its jobs
 * @data: DRM_TRAINIUM_ARGS_MAX bytes per command
 */
struct trainium_args {
	struct kref ref;
	u8 data[][DRM_TRAINIUM_ARGS_MAX];
};

/** struct trainium_run - a run of a program: @args_size bytes at @args, in the job's memory. */
struct trainium_run {
	struct trainium_program *program;
	const void *args;
	u32 args_size;
};

/** struct trainium_command - a checked command; @program of @run is NULL for a copy or fill. */
struct trainium_command {
	struct trainium_run run;
	struct trainium_copy copy;
};

/**
 * struct trainium_job - a job; owned by whoever has it: the submitter, then the context's queue.
 * @node: in trainium_context.jobs
 * @ctx: context
 * @fence: signalled when the job ends
 * @seq: number in the context, 0 for a piece of a larger job
 * @timeout_ns: longest run time
 * @deps: fences to wait for, referenced
 * @dep_count: length of @deps
 * @dep_next: first one not known to be signalled
 * @dep_cb: callback on @deps[@dep_next], when @dep_armed
 * @dep_armed: see @dep_cb
 * @inherit: fence of the piece before, whose error is this job's, or NULL
 * @cancel: error given to it by a job before it, or 0; under trainium_context.lock
 * @cmds: commands
 * @cmd_count: length of @cmds
 * @copies: room for pointers to the copies of @cmds
 * @args: memory of the runs' arguments, referenced, or NULL
 */
struct trainium_job {
	struct list_head node;
	struct trainium_context *ctx;
	struct dma_fence *fence;
	u64 seq;
	u64 timeout_ns;
	struct dma_fence **deps;
	u32 dep_count;
	u32 dep_next;
	struct dma_fence_cb dep_cb;
	bool dep_armed;
	struct dma_fence *inherit;
	int cancel;
	struct trainium_command *cmds;
	u32 cmd_count;
	struct trainium_copy **copies;
	struct trainium_args *args;
};

void trainium_args_put(struct trainium_args *args);
void trainium_command_fini(struct trainium_device *tdev, struct trainium_command *cmd);

struct trainium_job *trainium_job_alloc(struct trainium_context *ctx, u32 cmd_count);
void trainium_job_free(struct trainium_job *job);
int trainium_job_push(struct trainium_job *job, u64 *seq, bool start);
void trainium_job_inline(struct trainium_context *ctx, struct dma_fence *fence);
void trainium_job_work(struct work_struct *work);

int trainium_runs_execute(struct trainium_job *job, u32 first, u32 end, ktime_t deadline);

#endif /* TRAINIUM_JOB_H */
