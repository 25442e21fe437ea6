// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs of programs on a core.
 *
 * Runs that follow each other are pushed to the core's submission queue and announced with one
 * doorbell. A program with rings needs them back at their beginning before each run, and another
 * program needs its own queues, so these wait for the runs before them.
 *
 * Locking: trainium_core.lock for each step; never held while waiting for the device.
 */
#include <linux/delay.h>

#include <drm/trainium_accel.h>

#include "trainium_context.h"
#include "trainium_device.h"
#include "trainium_file.h"
#include "trainium_job.h"
#include "trainium_program.h"

/* How long a waiter trusts the interrupt before it looks itself. */
#define TRAINIUM_RUN_SLICE	msecs_to_jiffies(20)

static int trainium_run_stop_reason(struct trainium_context *ctx)
{
	if (trainium_device_removing(ctx->tdev))
		return -ENODEV;
	return READ_ONCE(ctx->dead);
}

/* Jiffies to sleep: a slice, or less when @deadline is nearer. */
static unsigned long trainium_run_slice(ktime_t deadline)
{
	s64 left = ktime_to_ns(ktime_sub(deadline, ktime_get()));

	return min_t(u64, TRAINIUM_RUN_SLICE, nsecs_to_jiffies(max(left, 0ll)) + 1);
}

static bool trainium_run_news(struct trainium_core *core, struct trainium_context *ctx, u64 cookie,
			      int seen)
{
	return atomic_read(&core->events) != seen ||
	       (u64)atomic64_read(&core->ended) >= cookie || READ_ONCE(core->faulted) ||
	       trainium_run_stop_reason(ctx);
}

/* Waits until every run pushed so far has ended. 0, -EIO one failed, -ETIME, or why to stop. */
static int trainium_run_wait(struct trainium_core *core, struct trainium_context *ctx, u64 cookie,
			     ktime_t deadline)
{
	unsigned long delay = 10;
	bool announced = true;
	int err;

	for (;;) {
		int seen = atomic_read(&core->events);

		trainium_core_drain(core);
		if (READ_ONCE(core->faulted))
			return -EIO;
		if ((u64)atomic64_read(&core->ended) >= cookie)
			break;
		err = trainium_run_stop_reason(ctx);
		if (err)
			return err;
		if (ktime_after(ktime_get(), deadline))
			return -ETIME;
		if (core->irq) {
			announced = wait_event_idle_timeout(core->wait,
							    trainium_run_news(core, ctx, cookie,
									      seen),
							    trainium_run_slice(deadline));
		} else {
			usleep_range(delay, delay * 2);
			delay = min(delay * 2, 1000ul);
		}
	}
	if (core->irq && !announced) {
		atomic64_inc(&core->tdev->polled);
		drm_dbg(&core->tdev->drm, "core %u: completion polled\n", core->index);
	}
	return 0;
}

/* Puts one run into the submission queue. -EAGAIN: wait for those before it first. */
static int trainium_run_push(struct trainium_core *core, const struct trainium_run *run,
			     bool idle)
{
	struct trainium_program *program = run->program;
	struct trn_run_request request = {
		.program = program->table,
		.windows = program->windows,
		.window_count = program->window_count,
		.args_size = run->args_size,
		.cookie = core->cookie + 1,
	};
	u32 place = request.cookie % TRNHW_SQ_ENTRIES;
	int err;

	lockdep_assert_held(&core->lock);
	if (!core->usable)
		return -ENODEV;
	if (core->broken)
		return -EIO;
	if (!idle && (program->ring_count || core->loaded_count))
		return -EAGAIN;
	/* A place in the argument blocks is free again when the run 64 before has ended. */
	if (request.cookie - (u64)atomic64_read(&core->ended) > TRNHW_SQ_ENTRIES)
		return -EAGAIN;
	err = trainium_core_load(core, program);
	if (err)
		return err;
	if (run->args_size) {
		memcpy(program->head->args[place], run->args, run->args_size);
		request.args = program->args + place * DRM_TRAINIUM_ARGS_MAX;
	}
	err = trnhw_core_submit(&core->hw, &request);
	if (!err)
		core->cookie = request.cookie;
	WRITE_ONCE(core->dirty, true);
	return err;
}

/*
 * Pushes runs [@first, @end) as far as they go without waiting, rings once. Returns how many, or a
 * negative errno when not even the first.
 */
static int trainium_run_batch(struct trainium_core *core, struct trainium_job *job, u32 first,
			      u32 end, u64 *cookie)
{
	bool idle = true;
	u32 i;
	int err = 0;

	mutex_lock(&core->lock);
	for (i = first; i < end; i++) {
		if (job->cmds[i].run.program->core != core)
			break;
		err = trainium_run_push(core, &job->cmds[i].run, idle);
		if (err)
			break;
		idle = false;
	}
	*cookie = core->cookie;
	if (i > first)
		trnhw_core_ring(&core->hw);
	mutex_unlock(&core->lock);
	return i > first ? i - first : err;
}

static void trainium_run_note_fault(struct trainium_core *core, struct trainium_context *ctx)
{
	struct trainium_fault fault;

	mutex_lock(&core->lock);
	fault = core->fault;
	mutex_unlock(&core->lock);
	spin_lock(&ctx->lock);
	ctx->fault = fault;
	spin_unlock(&ctx->lock);
	drm_dbg(&core->tdev->drm,
		"context %u core %u: fault %u engine %u pc %u tag %u address %llx\n", ctx->id,
		core->index, fault.code, fault.engine, fault.pc, fault.tag, fault.address);
}

/* Leaves the core usable whatever happened; a reset costs the context its guilt. */
static void trainium_run_clean(struct trainium_core *core, struct trainium_context *ctx, int err)
{
	bool reset = err == -ETIME;

	if (err == -EIO && READ_ONCE(core->faulted))
		trainium_run_note_fault(core, ctx);
	/* A core whose reset failed gets its next try with its next owner. */
	if (trainium_device_removing(core->tdev) || READ_ONCE(core->broken))
		return;
	if (!reset)
		reset = trainium_core_recover(core) != 0;
	if (!reset)
		return;
	spin_lock(&ctx->lock);
	ctx->guilty++;
	spin_unlock(&ctx->lock);
	err = trainium_core_reset(core, err == -ETIME ? "job timed out" : "core does not stop");
	if (err)
		drm_dbg(&core->tdev->drm, "core %u: unusable: %d\n", core->index, err);
}

/**
 * trainium_runs_execute() - run the consecutive run commands [@first, @end) of a job, in order.
 * @job: job
 * @first: first command
 * @end: behind the last
 * @deadline: when to give up
 *
 * When it returns no run is under way and the core is usable, or has failed its reset. The caller
 * is inside drm_dev_enter(). Allocates nothing.
 *
 * Return: 0, -EIO a run failed, -ETIME, -ENODEV, or the error the context was killed with.
 */
int trainium_runs_execute(struct trainium_job *job, u32 first, u32 end, ktime_t deadline)
{
	struct trainium_context *ctx = job->ctx;
	int err = 0;

	while (!err && first < end) {
		struct trainium_core *core = job->cmds[first].run.program->core;
		ktime_t start = ktime_get();
		u64 cookie;
		int n;

		n = trainium_run_batch(core, job, first, end, &cookie);
		if (n < 0) {
			err = n == -ENODEV ? -ENODEV : -EIO;
		} else {
			first += n;
			err = trainium_run_wait(core, ctx, cookie, deadline);
		}
		atomic64_add(ktime_to_ns(ktime_sub(ktime_get(), start)), &ctx->file->busy_ns);
		if (err)
			trainium_run_clean(core, ctx, err);
	}
	return err;
}
