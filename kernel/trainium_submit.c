// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submission: from the user's commands to jobs in a context's queue.
 *
 * Everything is copied once and checked before anything runs. User memory is pinned here, in the
 * caller's context, never while a fence waits for it: a submission that copies more than
 * TRAINIUM_PIN_BYTES from or to user memory becomes several jobs in a row, pinned a few pieces
 * ahead, and only the last one carries the user's fences. An error of a piece is the error of all
 * that follow.
 *
 * Locking: trainium_context.submit_lock for the time jobs are pushed, so that pieces of different
 * submissions do not mix.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_syncobj.h>
#include <drm/trainium_accel.h>

#include "trainium_context.h"
#include "trainium_device.h"
#include "trainium_fence.h"
#include "trainium_file.h"
#include "trainium_job.h"
#include "trainium_program.h"
#include "trainium_submit.h"

#define TRAINIUM_PIN_BYTES	SZ_4M
#define TRAINIUM_PIN_DEPTH	4u
#define TRAINIUM_INLINE_BYTES	SZ_4M

/** struct trainium_signal - what to signal when the last job ends. */
struct trainium_signal {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

/** struct trainium_user_copy - the user side of a checked copy: DMA_NONE, or its address. */
struct trainium_user_copy {
	enum dma_data_direction dir;
	u64 address;
};

/**
 * struct trainium_submission - a submission being made.
 * @ctx: context
 * @drm_file: caller
 * @args: the caller's arguments
 * @cmds: checked commands, @count of them
 * @user: user sides of @cmds
 * @count: commands
 * @bytes: length of all copies and fills
 * @run_args: memory of the runs' arguments, made for the first run
 * @deps: fences to wait for, @dep_count of them
 * @dep_count: length of @deps
 * @signals: what to signal, @signal_count of them
 * @signal_count: length of @signals
 * @ahead: fences of pieces pushed, referenced, the oldest at @pieces - TRAINIUM_PIN_DEPTH
 * @pieces: pieces pushed
 */
struct trainium_submission {
	struct trainium_context *ctx;
	struct drm_file *drm_file;
	struct drm_trainium_submit *args;
	struct trainium_command *cmds;
	struct trainium_user_copy *user;
	u32 count;
	u64 bytes;
	struct trainium_args *run_args;
	struct dma_fence **deps;
	u32 dep_count;
	struct trainium_signal *signals;
	u32 signal_count;
	struct dma_fence *ahead[TRAINIUM_PIN_DEPTH];
	u32 pieces;
};

static int trainium_side_bo(struct drm_file *drm_file, u32 handle, u64 offset, u64 length,
			    struct trainium_side *side, struct trainium_bo **bo)
{
	u64 end;

	*bo = trainium_bo_lookup(drm_file, handle);
	if (!*bo)
		return -ENOENT;
	if (check_add_overflow(offset, length, &end) || end > (*bo)->base.size)
		return -EINVAL;
	side->segs = (*bo)->segs;
	side->seg_count = (*bo)->seg_count;
	side->offset = offset;
	return 0;
}

static int trainium_parse_copy(struct trainium_submission *s,
			       const struct drm_trainium_cmd_copy *in,
			       struct trainium_copy *copy, struct trainium_user_copy *user)
{
	u64 distance;
	int err = 0;

	if (!in->length || (!in->src_handle && !in->dst_handle))
		return -EINVAL;
	copy->length = in->length;
	if (in->src_handle)
		err = trainium_side_bo(s->drm_file, in->src_handle, in->src_offset, in->length,
				       &copy->src, &copy->src_bo);
	if (!err && in->dst_handle)
		err = trainium_side_bo(s->drm_file, in->dst_handle, in->dst_offset, in->length,
				       &copy->dst, &copy->dst_bo);
	if (err)
		return err;
	distance = in->src_offset > in->dst_offset ? in->src_offset - in->dst_offset :
						     in->dst_offset - in->src_offset;
	if (copy->src_bo == copy->dst_bo && distance < in->length)
		return -EINVAL;
	if (!in->src_handle) {
		user->dir = DMA_TO_DEVICE;
		user->address = in->src_offset;
	} else if (!in->dst_handle) {
		user->dir = DMA_FROM_DEVICE;
		user->address = in->dst_offset;
	}
	return user->dir != DMA_NONE && user->address + in->length < in->length ? -EFAULT : 0;
}

static int trainium_parse_fill(struct trainium_submission *s,
			       const struct drm_trainium_cmd_fill *in,
			       struct trainium_copy *copy)
{
	int err;

	if (in->reserved || !in->length || (in->length | in->offset) % 4)
		return -EINVAL;
	copy->length = in->length;
	err = trainium_side_bo(s->drm_file, in->handle, in->offset, in->length, &copy->dst,
			       &copy->dst_bo);
	return err ? err : trainium_copy_pattern(s->ctx->tdev, copy, in->pattern);
}

static int trainium_parse_run(struct trainium_submission *s, u32 index,
			      const struct drm_trainium_cmd_run *in, struct trainium_run *run)
{
	void *args;

	if (in->reserved[0] || in->reserved[1] || in->args_size % 4 ||
	    in->args_size > DRM_TRAINIUM_ARGS_MAX)
		return -EINVAL;
	if (!s->run_args) {
		s->run_args = kvzalloc(struct_size(s->run_args, data, s->args->cmd_count),
				       GFP_KERNEL_ACCOUNT);
		if (!s->run_args)
			return -ENOMEM;
		kref_init(&s->run_args->ref);
	}
	args = s->run_args->data[index];
	if (copy_from_user(args, u64_to_user_ptr(in->args), in->args_size))
		return -EFAULT;
	run->program = trainium_program_get(s->ctx, in->program);
	if (!run->program)
		return -ENOENT;
	run->args = args;
	run->args_size = in->args_size;
	return 0;
}

static int trainium_parse_command(struct trainium_submission *s, u32 index,
				  const struct drm_trainium_cmd *in)
{
	struct trainium_command *cmd = &s->cmds[index];
	u32 used, i;

	if (in->flags)
		return -EINVAL;
	s->user[index].dir = DMA_NONE;
	switch (in->type) {
	case DRM_TRAINIUM_CMD_COPY:
		used = sizeof(in->copy);
		break;
	case DRM_TRAINIUM_CMD_FILL:
		used = sizeof(in->fill);
		break;
	case DRM_TRAINIUM_CMD_RUN:
		used = sizeof(in->run);
		break;
	default:
		return -EINVAL;
	}
	for (i = used / sizeof(u64); i < ARRAY_SIZE(in->reserved); i++)
		if (in->reserved[i])
			return -EINVAL;
	if (in->type == DRM_TRAINIUM_CMD_COPY)
		return trainium_parse_copy(s, &in->copy, &cmd->copy, &s->user[index]);
	if (in->type == DRM_TRAINIUM_CMD_FILL)
		return trainium_parse_fill(s, &in->fill, &cmd->copy);
	return trainium_parse_run(s, index, &in->run, &cmd->run);
}

static int trainium_parse_commands(struct trainium_submission *s)
{
	const struct drm_trainium_submit *args = s->args;
	struct drm_trainium_cmd in;
	u32 i;
	int err = 0;

	s->cmds = kvcalloc(args->cmd_count + 1, sizeof(*s->cmds), GFP_KERNEL_ACCOUNT);
	s->user = kvcalloc(args->cmd_count + 1, sizeof(*s->user), GFP_KERNEL_ACCOUNT);
	if (!s->cmds || !s->user)
		return -ENOMEM;
	for (i = 0; !err && i < args->cmd_count; i++) {
		err = copy_struct_from_user(&in, sizeof(in),
					    u64_to_user_ptr(args->cmds + (u64)i * args->cmd_stride),
					    args->cmd_stride);
		/* Counted before it is parsed: a command refused half-way holds things too. */
		s->count++;
		if (!err)
			err = trainium_parse_command(s, i, &in);
		/* Each is at most what memory there is: no overflow. */
		s->bytes += s->cmds[i].copy.length;
	}
	return err;
}

static struct drm_trainium_sync *trainium_parse_syncs(u64 user, u32 count)
{
	struct drm_trainium_sync *list;
	u32 i;

	list = memdup_user(u64_to_user_ptr(user), array_size(count, sizeof(*list)));
	for (i = 0; !IS_ERR(list) && i < count; i++) {
		if (list[i].flags) {
			kfree(list);
			return ERR_PTR(-EINVAL);
		}
	}
	return list;
}

static int trainium_parse_waits(struct trainium_submission *s)
{
	struct drm_trainium_sync *list;
	u32 count = s->args->wait_count;
	u32 i;
	int err = 0;

	if (!count)
		return 0;
	list = trainium_parse_syncs(s->args->waits, count);
	if (IS_ERR(list))
		return PTR_ERR(list);
	s->deps = kvcalloc(count, sizeof(*s->deps), GFP_KERNEL_ACCOUNT);
	if (!s->deps)
		err = -ENOMEM;
	for (i = 0; !err && i < count; i++) {
		err = drm_syncobj_find_fence(s->drm_file, list[i].handle, list[i].point, 0,
					     &s->deps[i]);
		if (!err)
			s->dep_count++;
	}
	kfree(list);
	return err;
}

static int trainium_parse_signals(struct trainium_submission *s)
{
	struct drm_trainium_sync *list;
	u32 count = s->args->signal_count;
	u32 i;
	int err = 0;

	if (!count)
		return 0;
	list = trainium_parse_syncs(s->args->signals, count);
	if (IS_ERR(list))
		return PTR_ERR(list);
	s->signals = kvcalloc(count, sizeof(*s->signals), GFP_KERNEL_ACCOUNT);
	if (!s->signals)
		err = -ENOMEM;
	for (i = 0; !err && i < count; i++) {
		struct trainium_signal *signal = &s->signals[i];

		signal->syncobj = drm_syncobj_find(s->drm_file, list[i].handle);
		if (!signal->syncobj) {
			err = -ENOENT;
			break;
		}
		s->signal_count++;
		signal->point = list[i].point;
		if (signal->point) {
			signal->chain = dma_fence_chain_alloc();
			if (!signal->chain)
				err = -ENOMEM;
		}
	}
	kfree(list);
	return err;
}

static void trainium_submission_signal(struct trainium_submission *s, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < s->signal_count; i++) {
		struct trainium_signal *signal = &s->signals[i];

		if (signal->chain)
			drm_syncobj_add_point(signal->syncobj, signal->chain, fence,
					      signal->point);
		else
			drm_syncobj_replace_fence(signal->syncobj, fence);
		signal->chain = NULL;
	}
}

static void trainium_submission_fini(struct trainium_submission *s)
{
	u32 i;

	for (i = 0; i < s->count; i++)
		trainium_command_fini(s->ctx->tdev, &s->cmds[i]);
	kvfree(s->cmds);
	kvfree(s->user);
	trainium_args_put(s->run_args);
	for (i = 0; i < s->dep_count; i++)
		dma_fence_put(s->deps[i]);
	kvfree(s->deps);
	for (i = 0; i < s->signal_count; i++) {
		dma_fence_chain_free(s->signals[i].chain);
		drm_syncobj_put(s->signals[i].syncobj);
	}
	kvfree(s->signals);
	for (i = 0; i < TRAINIUM_PIN_DEPTH; i++)
		dma_fence_put(s->ahead[i]);
}

/* How many commands, from @first on, fit one job; the last may fit in part only. */
static u32 trainium_piece_plan(const struct trainium_submission *s, u32 first, u64 done)
{
	u64 room = TRAINIUM_PIN_BYTES;
	u32 i;

	for (i = first; i < s->count; i++) {
		u64 rest = s->cmds[i].copy.length - done;

		if (s->user[i].dir != DMA_NONE) {
			if (!room)
				break;
			if (rest > room)
				return i - first + 1;
			room -= rest;
		}
		done = 0;
	}
	return i - first;
}

/* Waits, killably, until a fence of this context is signalled. */
static int trainium_submit_wait(struct trainium_context *ctx, struct dma_fence *fence)
{
	return wait_event_killable(ctx->wait, dma_fence_is_signaled(fence)) ? -EINTR : 0;
}

/* With the memory-lock limit reached, pins of the file's earlier jobs end first; every job ends. */
static struct trainium_pin *trainium_piece_pin(struct trainium_submission *s, u32 index, u64 done,
					       u64 length)
{
	const struct trainium_user_copy *user = &s->user[index];
	struct trainium_context *ctx = s->ctx;
	struct trainium_pin *pin;
	int jobs;

	for (;;) {
		/* Counted first: a job that ends meanwhile is worth another try. */
		jobs = atomic_read(&ctx->file->jobs);
		pin = trainium_pin_create(ctx->tdev, user->address + done, length, user->dir);
		if (PTR_ERR_OR_ZERO(pin) != -ENOMEM || !jobs || READ_ONCE(ctx->dead))
			return pin;
		/* The end of another context's job wakes nobody here. */
		if (wait_event_killable_timeout(ctx->wait, atomic_read(&ctx->file->jobs) < jobs,
						HZ / 20) < 0)
			return ERR_PTR(-EINTR);
	}
}

/* A part of a copy with user memory, as a command of its own. */
static int trainium_piece_copy(struct trainium_submission *s, u32 index, u64 done, u64 length,
			       struct trainium_copy *out)
{
	const struct trainium_copy *in = &s->cmds[index].copy;
	struct trainium_pin *pin;

	pin = trainium_piece_pin(s, index, done, length);
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	*out = *in;
	out->pin = pin;
	out->length = length;
	out->src.offset += done;
	out->dst.offset += done;
	if (s->user[index].dir == DMA_TO_DEVICE) {
		out->src.segs = pin->segs;
		out->src.seg_count = pin->seg_count;
		out->src.offset = 0;
	} else {
		out->dst.segs = pin->segs;
		out->dst.seg_count = pin->seg_count;
		out->dst.offset = 0;
	}
	if (out->src_bo)
		drm_gem_object_get(&out->src_bo->base);
	if (out->dst_bo)
		drm_gem_object_get(&out->dst_bo->base);
	return 0;
}

/* Length of the next part: cut between pages, so that no page is mapped for two parts at once. */
static u64 trainium_piece_length(const struct trainium_submission *s, u32 index, u64 done, u64 room)
{
	u64 rest = s->cmds[index].copy.length - done;
	u64 odd;

	if (rest <= room)
		return rest;
	odd = (s->user[index].address + done + room) & ~PAGE_MASK;
	return odd < room ? room - odd : room;
}

/* Moves the next commands into @job; @first and @done go forward. */
static int trainium_piece_fill(struct trainium_submission *s, struct trainium_job *job, u32 count,
			       u32 *first, u64 *done)
{
	u64 room = TRAINIUM_PIN_BYTES;
	int err;

	while (job->cmd_count < count) {
		struct trainium_command *to = &job->cmds[job->cmd_count];
		u64 length = s->cmds[*first].copy.length - *done;

		if (s->user[*first].dir != DMA_NONE) {
			length = trainium_piece_length(s, *first, *done, room);
			err = trainium_piece_copy(s, *first, *done, length, &to->copy);
			if (err)
				return err;
			room -= length;
		} else {
			*to = s->cmds[*first];
			memset(&s->cmds[*first], 0, sizeof(*to));
			/* The source of a fill is described inside the command. */
			if (to->copy.src.repeat)
				to->copy.src.segs = &to->copy.pattern_seg;
		}
		job->cmd_count++;
		*done += length;
		if (s->user[*first].dir == DMA_NONE || *done == s->cmds[*first].copy.length) {
			(*first)++;
			*done = 0;
		}
	}
	return 0;
}

/* Waits until the file has room for another job; every job ends, so this does. */
static int trainium_submit_room(struct trainium_submission *s)
{
	struct trainium_context *ctx = s->ctx;

	while (atomic_read(&ctx->file->jobs) >= TRAINIUM_FILE_JOBS) {
		if (READ_ONCE(ctx->dead))
			return READ_ONCE(ctx->dead);
		if (wait_event_killable_timeout(ctx->wait, atomic_read(&ctx->file->jobs) <
						TRAINIUM_FILE_JOBS, HZ / 20) < 0)
			return -EINTR;
	}
	return 0;
}

/*
 * Small copies the caller waits for are executed by the caller. Not runs, and nothing that waits
 * for a fence: while it executes, it cannot be killed.
 */
static bool trainium_submit_inline(const struct trainium_submission *s)
{
	return (s->args->flags & DRM_TRAINIUM_SUBMIT_WAIT) && !s->args->wait_count &&
	       !s->run_args && s->bytes <= TRAINIUM_INLINE_BYTES;
}

static int trainium_submit_piece(struct trainium_submission *s, u32 *first, u64 *done,
				 struct dma_fence **fence)
{
	struct dma_fence **ahead = &s->ahead[s->pieces % TRAINIUM_PIN_DEPTH];
	u32 count = trainium_piece_plan(s, *first, *done);
	struct trainium_job *job;
	bool last;
	int err;

	err = trainium_submit_room(s);
	if (!err && *ahead)
		err = trainium_submit_wait(s->ctx, *ahead);
	if (err)
		return err;
	job = trainium_job_alloc(s->ctx, count);
	if (!job)
		return -ENOMEM;
	err = trainium_piece_fill(s, job, count, first, done);
	if (err)
		goto err_free;
	last = *first == s->count;
	job->timeout_ns = s->args->timeout_ns ? s->args->timeout_ns : TRAINIUM_JOB_TIMEOUT_NS;
	job->deps = s->deps;
	job->dep_count = s->dep_count;
	s->deps = NULL;
	s->dep_count = 0;
	if (s->pieces)
		job->inherit = dma_fence_get(s->ahead[(s->pieces - 1) % TRAINIUM_PIN_DEPTH]);
	if (s->run_args) {
		kref_get(&s->run_args->ref);
		job->args = s->run_args;
	}
	*fence = dma_fence_get(job->fence);
	err = trainium_job_push(job, last ? &s->args->seq : NULL, !trainium_submit_inline(s));
	if (err) {
		dma_fence_put(*fence);
		goto err_free;
	}
	dma_fence_put(*ahead);
	*ahead = dma_fence_get(*fence);
	s->pieces++;
	return 0;

err_free:
	trainium_job_free(job);
	return err;
}

/* Pushes all pieces; @fence: of the last one, referenced. */
static int trainium_submit_pieces(struct trainium_submission *s, struct dma_fence **fence)
{
	u32 first = 0;
	u64 done = 0;
	int err;

	if (mutex_lock_interruptible(&s->ctx->submit_lock))
		return -ERESTARTSYS;
	for (;;) {
		err = trainium_submit_piece(s, &first, &done, fence);
		if (err || first == s->count)
			break;
		dma_fence_put(*fence);
	}
	if (!err)
		trainium_submission_signal(s, *fence);
	mutex_unlock(&s->ctx->submit_lock);
	return err;
}

static int trainium_submit_do(struct trainium_submission *s)
{
	struct dma_fence *fence;
	int err;

	err = trainium_parse_commands(s);
	if (!err)
		err = trainium_parse_waits(s);
	if (!err)
		err = trainium_parse_signals(s);
	if (!err)
		err = trainium_submit_pieces(s, &fence);
	if (err)
		return err;
	if (s->args->flags & DRM_TRAINIUM_SUBMIT_WAIT) {
		if (trainium_submit_inline(s))
			trainium_job_inline(s->ctx, fence);
		err = trainium_submit_wait(s->ctx, fence);
		if (!err)
			err = trainium_fence_error(fence);
	}
	dma_fence_put(fence);
	return err;
}

/** trainium_submit_ioctl() - DRM_IOCTL_TRAINIUM_SUBMIT. */
int trainium_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_trainium_submit *args = data;
	struct trainium_submission s = { .drm_file = drm_file, .args = args };
	int err;

	if ((args->flags & ~DRM_TRAINIUM_SUBMIT_WAIT) || args->seq ||
	    args->timeout_ns > DRM_TRAINIUM_TIMEOUT_MAX_NS ||
	    (args->cmd_count && args->cmd_stride < sizeof(struct drm_trainium_cmd)) ||
	    args->cmd_stride % 8 || args->cmd_stride > PAGE_SIZE)
		return -EINVAL;
	if (args->cmd_count > DRM_TRAINIUM_SUBMIT_CMDS_MAX ||
	    args->wait_count > DRM_TRAINIUM_SUBMIT_SYNCS_MAX ||
	    args->signal_count > DRM_TRAINIUM_SUBMIT_SYNCS_MAX)
		return -E2BIG;
	s.ctx = trainium_context_get(drm_file->driver_priv, args->ctx);
	if (!s.ctx)
		return -ENOENT;
	err = trainium_submit_do(&s);
	trainium_submission_fini(&s);
	trainium_context_put(s.ctx);
	return err;
}
