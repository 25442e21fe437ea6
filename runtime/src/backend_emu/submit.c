// SPDX-License-Identifier: BSD-2-Clause
/*
 * Submission: check a job, resolve its handles to references, queue it to the context's worker.
 *
 * Locking: trn_emu_ctx.lock guards the list of jobs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "emu.h"

#define PROBES	   32u		/* bytes of a user buffer that are tried */
#define PROBE_STEP (2ull << 20) /* between them, at least */

void trn_emu_job_free(struct trn_emu *emu, struct trn_emu_job *job)
{
	uint32_t i;

	for (i = 0; i < job->cmd_count; i++) {
		trn_emu_bo_put(emu, job->cmds[i].src);
		trn_emu_bo_put(emu, job->cmds[i].dst);
		trn_emu_program_put(emu, job->cmds[i].program);
	}
	for (i = 0; i < job->wait_count; i++)
		trn_emu_ctx_put(job->waits[i].ctx);
	free(job->cmds);
	free(job->waits);
	free(job->args);
	free(job);
}

/*
 * May this process read (@written: and write) the user's pages? The kernel copies single bytes onto
 * themselves and says so, where the device model's threads would die of a signal: the first and the
 * last byte, and one of each large page between. Only bytes that the device is to overwrite anyway
 * are written.
 */
static int user_probe(uint64_t pointer, uint64_t bytes, bool written)
{
	struct iovec local[PROBES], remote[PROBES];
	uint64_t at = 0, step = PROBE_STEP;
	uint8_t byte[PROBES];
	unsigned int i;
	ssize_t done;

	if (bytes / step >= PROBES - 1)
		step = bytes / (PROBES - 2);
	for (i = 0; i < PROBES - 1 && at < bytes - 1; i++, at += step)
		remote[i] = (struct iovec){ (void *)(uintptr_t)(pointer + at), 1 };
	remote[i++] = (struct iovec){ (void *)(uintptr_t)(pointer + bytes - 1), 1 };
	for (at = 0; at < i; at++)
		local[at] = (struct iovec){ &byte[at], 1 };
	done = process_vm_readv(getpid(), local, i, remote, i, 0);
	if (done == (ssize_t)i && written)
		done = process_vm_writev(getpid(), local, i, remote, i, 0);
	/* Where the call is forbidden (a sandbox), nothing is known, and nothing is refused. */
	if (done < 0 && errno != EFAULT)
		return 0;
	return done == (ssize_t)i ? 0 : -EFAULT;
}

/*
 * Is all of it mapped? Writing nothing back asynchronously is the one call that walks a range and
 * tells (a hole is ENOMEM) without touching it. A buffer that is unmapped later is the caller's
 * mistake, as with memcpy().
 */
static int user_check(uint64_t pointer, uint64_t bytes, bool written)
{
	uint64_t start = pointer & ~(TRN_EMU_PAGE - 1);

	if (!pointer || !bytes || pointer + bytes < pointer)
		return -EFAULT;
	if (msync((void *)(uintptr_t)start, pointer + bytes - start, MS_ASYNC))
		return -EFAULT;
	return user_probe(pointer, bytes, written);
}

/* One side of a copy: @handle 0 is user memory. */
static int side_take(struct trn_emu *emu, uint32_t handle, uint64_t offset, uint64_t bytes,
		     bool written, struct trn_emu_bo **bo)
{
	if (!handle)
		return user_check(offset, bytes, written);
	*bo = trn_emu_bo_get(emu, handle);
	if (!*bo)
		return -ENOENT;
	return offset > (*bo)->size || bytes > (*bo)->size - offset ? -EINVAL : 0;
}

static int copy_take(struct trn_emu *emu, struct trn_emu_cmd *cmd)
{
	const struct drm_trainium_cmd_copy *copy = &cmd->cmd.copy;
	int error;

	if (!copy->length || (!copy->src_handle && !copy->dst_handle))
		return -EINVAL;
	error = side_take(emu, copy->src_handle, copy->src_offset, copy->length, false, &cmd->src);
	return error ? error
		     : side_take(emu, copy->dst_handle, copy->dst_offset, copy->length, true,
				 &cmd->dst);
}

static int fill_take(struct trn_emu *emu, struct trn_emu_cmd *cmd)
{
	const struct drm_trainium_cmd_fill *fill = &cmd->cmd.fill;

	if (!fill->handle || !fill->length || fill->length % 4 || fill->offset % 4 ||
	    fill->reserved)
		return -EINVAL;
	return side_take(emu, fill->handle, fill->offset, fill->length, true, &cmd->dst);
}

static int run_take(struct trn_emu_ctx *ctx, struct trn_emu_cmd *cmd, uint8_t *args)
{
	const struct drm_trainium_cmd_run *run = &cmd->cmd.run;

	if (run->args_size > DRM_TRAINIUM_ARGS_MAX || run->args_size % 4 || run->reserved[0] ||
	    run->reserved[1])
		return -EINVAL;
	if (run->args_size && !run->args)
		return -EFAULT;
	pthread_mutex_lock(&ctx->lock);
	if (run->program && run->program <= ctx->program_room)
		cmd->program = ctx->programs[run->program - 1];
	if (cmd->program)
		atomic_fetch_add(&cmd->program->refs, 1);
	pthread_mutex_unlock(&ctx->lock);
	if (!cmd->program)
		return -ENOENT;
	if (run->args_size)
		memcpy(args, (const void *)(uintptr_t)run->args, run->args_size);
	cmd->args = args;
	return 0;
}

static int cmds_take(struct trn_emu_ctx *ctx, struct trn_emu_job *job,
		     const struct trn_backend_job *from)
{
	uint32_t i, runs = 0;
	int error = 0;

	for (i = 0; i < from->cmd_count; i++)
		runs += from->cmds[i].type == DRM_TRAINIUM_CMD_RUN;
	job->cmds = calloc(from->cmd_count + 1, sizeof(*job->cmds));
	job->args = runs ? calloc(runs, DRM_TRAINIUM_ARGS_MAX) : NULL;
	if (!job->cmds || (runs && !job->args))
		return -ENOMEM;
	runs = 0;
	for (i = 0; i < from->cmd_count && !error; i++) {
		struct trn_emu_cmd *cmd = &job->cmds[job->cmd_count++];

		cmd->cmd = from->cmds[i];
		if (cmd->cmd.flags)
			return -EINVAL;
		switch (cmd->cmd.type) {
		case DRM_TRAINIUM_CMD_COPY:
			error = copy_take(ctx->emu, cmd);
			break;
		case DRM_TRAINIUM_CMD_FILL:
			error = fill_take(ctx->emu, cmd);
			break;
		case DRM_TRAINIUM_CMD_RUN:
			error = run_take(ctx, cmd,
					 job->args + (size_t)runs++ * DRM_TRAINIUM_ARGS_MAX);
			break;
		default:
			error = -EINVAL;
		}
	}
	return error;
}

static int waits_take(struct trn_emu_job *job, const struct trn_backend_job *from)
{
	uint32_t i;

	if (!from->wait_count)
		return 0;
	job->waits = calloc(from->wait_count, sizeof(*job->waits));
	if (!job->waits)
		return -ENOMEM;
	for (i = 0; i < from->wait_count; i++) {
		job->waits[i].ctx =
			trn_emu_ctx_get(trn_emu_of(from->waits[i].device), from->waits[i].ctx);
		if (!job->waits[i].ctx)
			return -ENOENT;
		job->waits[i].point = from->waits[i].point;
		job->wait_count++;
	}
	return 0;
}

int trn_emu_submit(struct trn_backend_device *device, const struct trn_backend_job *from)
{
	struct trn_emu *emu = trn_emu_of(device);
	struct trn_emu_ctx *ctx;
	struct trn_emu_job *job;
	bool inline_run = false;
	int error;

	if ((from->cmd_count && !from->cmds) || from->timeout_ns > DRM_TRAINIUM_TIMEOUT_MAX_NS)
		return -EINVAL;
	if (from->cmd_count > DRM_TRAINIUM_SUBMIT_CMDS_MAX ||
	    from->wait_count > DRM_TRAINIUM_SUBMIT_SYNCS_MAX)
		return -E2BIG;
	ctx = trn_emu_ctx_get(emu, from->ctx);
	if (!ctx)
		return -ENOENT;
	job = calloc(1, sizeof(*job));
	if (!job) {
		trn_emu_ctx_put(ctx);
		return -ENOMEM;
	}
	job->signal = from->signal;
	job->timeout_ns = from->timeout_ns ? from->timeout_ns : TRN_EMU_TIMEOUT_NS;
	error = cmds_take(ctx, job, from);
	if (!error)
		error = waits_take(job, from);
	if (!error) {
		pthread_mutex_lock(&ctx->lock);
		if (ctx->closing)
			error = -ENOENT;
		else if (job->signal <= ctx->submitted)
			error = -EINVAL;
		if (!error) {
			ctx->submitted = job->signal;
			ctx->status.jobs_submitted++;
			inline_run = from->wait && !ctx->busy && trn_list_empty(&ctx->jobs);
			if (inline_run) {
				ctx->busy = true;
			} else {
				trn_list_append(&ctx->jobs, &job->link);
				pthread_cond_signal(&ctx->work);
			}
		}
		pthread_mutex_unlock(&ctx->lock);
	}
	if (error)
		trn_emu_job_free(emu, job);
	else if (inline_run)
		*from->finished = !trn_emu_job_inline(ctx, job);
	trn_emu_ctx_put(ctx);
	return error;
}
