// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cores: who owns one, what is loaded on it, how it is stopped and reset.
 *
 * A core belongs to one context. When the context goes and the core has run anything, it is reset
 * before anybody else gets it, so nothing that was in its on-chip memory, semaphores or queues
 * reaches the next owner.
 *
 * Locking: trainium_device.cores_lock for owner and state, trainium_core.lock for the hardware
 * side. Nobody waits for a run with either held; a reset holds the core's own lock.
 */
#include <linux/bitops.h>
#include <linux/delay.h>

#include <drm/trainium_accel.h>

#include "trainium_context.h"
#include "trainium_copyq.h"
#include "trainium_device.h"
#include "trainium_file.h"
#include "trainium_program.h"
#include "trainium_ring.h"

static void trainium_core_reset_work(struct work_struct *work)
{
	struct trainium_core *core = container_of(work, struct trainium_core, reset_work);
	struct trainium_device *tdev = core->tdev;
	int err = -ENODEV;
	int idx;

	if (drm_dev_enter(&tdev->drm, &idx)) {
		err = trainium_core_reset(core, "owner gone");
		drm_dev_exit(idx);
	}
	mutex_lock(&tdev->cores_lock);
	core->dirty = err != 0;
	core->state = err ? DRM_TRAINIUM_CORE_FAILED : DRM_TRAINIUM_CORE_FREE;
	atomic_inc(&tdev->cores_changes);
	mutex_unlock(&tdev->cores_lock);
	wake_up_all(&tdev->cores_wait);
}

/**
 * trainium_core_init() - set up a core; trnhw_start() has run.
 * @tdev: device
 * @index: core number
 *
 * Return: 0, -ENOMEM, -EIO. A device whose cores cannot run programs is not an error.
 */
int trainium_core_init(struct trainium_device *tdev, unsigned int index)
{
	struct trainium_core *core = &tdev->core[index];
	int err;

	core->tdev = tdev;
	core->index = index;
	mutex_init(&core->lock);
	init_waitqueue_head(&core->wait);
	INIT_WORK(&core->reset_work, trainium_core_reset_work);
	if (!(tdev->hw.features & TRN_FEATURE_CORES))
		return 0;
	err = trnhw_core_init(&core->hw, &tdev->hw, index);
	if (err)
		return err;
	err = trnhw_core_start(&core->hw);
	if (err) {
		trnhw_core_fini(&core->hw);
		return err;
	}
	core->usable = true;
	return 0;
}

/** trainium_core_fini() - stop the core and forget what is loaded; nobody uses it any more. */
void trainium_core_fini(struct trainium_core *core)
{
	if (!core->tdev)
		return;
	cancel_work_sync(&core->reset_work);
	mutex_lock(&core->lock);
	trainium_core_unload_all(core);
	if (core->usable)
		trnhw_core_fini(&core->hw);
	core->usable = false;
	mutex_unlock(&core->lock);
}

/* Every core of @mask free now? Also: is one of them just being reset? */
static u32 trainium_cores_free(struct trainium_device *tdev, u32 *resetting)
{
	unsigned int i;
	u32 mask = 0;

	lockdep_assert_held(&tdev->cores_lock);
	*resetting = 0;
	for (i = 0; i < tdev->hw.arch->cores; i++) {
		struct trainium_core *core = &tdev->core[i];

		if (core->state == DRM_TRAINIUM_CORE_FREE)
			mask |= BIT(i);
		else if (core->state == DRM_TRAINIUM_CORE_RESETTING)
			*resetting |= BIT(i);
	}
	return mask;
}

/* A core whose reset failed gets another try when somebody asks for it. */
static void trainium_cores_retry(struct trainium_device *tdev, u32 mask)
{
	unsigned int i;

	lockdep_assert_held(&tdev->cores_lock);
	for (i = 0; i < tdev->hw.arch->cores; i++) {
		struct trainium_core *core = &tdev->core[i];

		if ((mask & BIT(i)) && core->state == DRM_TRAINIUM_CORE_FAILED) {
			core->state = DRM_TRAINIUM_CORE_RESETTING;
			queue_work(tdev->wq, &core->reset_work);
		}
	}
}

/* Returns the cores to take, 0 with *@wait when it is worth waiting, 0 without when not. */
static u32 trainium_cores_choose(struct trainium_device *tdev, u32 mask, u32 count, bool *wait)
{
	u32 resetting, free = trainium_cores_free(tdev, &resetting);
	u32 chosen = 0;

	if (mask) {
		*wait = !(mask & ~(free | resetting));
		return mask & ~free ? 0 : mask;
	}
	*wait = hweight32(free | resetting) >= count;
	if (hweight32(free) < count)
		return 0;
	while (count--) {
		u32 bit = BIT(__ffs(free));

		chosen |= bit;
		free &= ~bit;
	}
	return chosen;
}

static void trainium_cores_take(struct trainium_context *ctx, u32 mask)
{
	struct trainium_device *tdev = ctx->tdev;
	unsigned int i;

	lockdep_assert_held(&tdev->cores_lock);
	for (i = 0; i < tdev->hw.arch->cores; i++) {
		if (mask & BIT(i)) {
			tdev->core[i].state = DRM_TRAINIUM_CORE_OWNED;
			tdev->core[i].owner = ctx;
		}
	}
	ctx->cores = mask;
	atomic_or(mask, &ctx->file->cores);
}

/**
 * trainium_cores_acquire() - give cores to a new context.
 * @ctx: context, not visible yet
 * @mask: cores by number, or 0 for any
 * @count: how many with @mask 0
 * @got: out, mask
 *
 * Waits, killably, for cores that are being reset after their last owner.
 *
 * Return: 0, -EINVAL, -EBUSY owned by somebody, -EIO the reset of a core failed, -EINTR, -ENODEV.
 */
int trainium_cores_acquire(struct trainium_context *ctx, u32 mask, u32 count, u32 *got)
{
	struct trainium_device *tdev = ctx->tdev;
	u32 all = GENMASK(tdev->hw.arch->cores - 1, 0);
	bool retried = false;
	bool wait;
	int err;

	if ((mask & ~all) || count > tdev->hw.arch->cores ||
	    (mask && count && count != hweight32(mask)))
		return -EINVAL;
	*got = 0;
	if (!mask && !count)
		return 0;
	for (;;) {
		int seen = atomic_read(&tdev->cores_changes);

		mutex_lock(&tdev->cores_lock);
		if (!retried)
			trainium_cores_retry(tdev, mask ? mask : all);
		retried = true;
		*got = trainium_cores_choose(tdev, mask, count, &wait);
		if (*got)
			trainium_cores_take(ctx, *got);
		mutex_unlock(&tdev->cores_lock);
		if (*got)
			return 0;
		if (!wait)
			break;
		err = wait_event_killable(tdev->cores_wait, trainium_device_removing(tdev) ||
					  seen != atomic_read(&tdev->cores_changes));
		if (err)
			return -EINTR;
		if (trainium_device_removing(tdev))
			return -ENODEV;
	}
	for (count = 0; count < tdev->hw.arch->cores; count++)
		if ((!mask || (mask & BIT(count))) &&
		    READ_ONCE(tdev->core[count].state) == DRM_TRAINIUM_CORE_FAILED)
			return -EIO;
	return -EBUSY;
}

/**
 * trainium_cores_release() - take the cores of a context back.
 * @ctx: context, killed
 *
 * Those it used are reset before anybody else gets them, in the background.
 */
void trainium_cores_release(struct trainium_context *ctx)
{
	struct trainium_device *tdev = ctx->tdev;
	unsigned int i;

	mutex_lock(&tdev->cores_lock);
	for (i = 0; i < tdev->hw.arch->cores; i++) {
		struct trainium_core *core = &tdev->core[i];

		if (core->owner != ctx)
			continue;
		core->owner = NULL;
		if (core->dirty && !trainium_device_removing(tdev)) {
			core->state = DRM_TRAINIUM_CORE_RESETTING;
			queue_work(tdev->wq, &core->reset_work);
		} else {
			core->state = DRM_TRAINIUM_CORE_FREE;
		}
	}
	atomic_andnot(ctx->cores, &ctx->file->cores);
	atomic_inc(&tdev->cores_changes);
	mutex_unlock(&tdev->cores_lock);
	wake_up_all(&tdev->cores_wait);
}

static bool trainium_cores_resetting(struct trainium_device *tdev, u32 mask)
{
	unsigned int i;

	for (i = 0; i < tdev->hw.arch->cores; i++)
		if ((mask & BIT(i)) &&
		    READ_ONCE(tdev->core[i].state) == DRM_TRAINIUM_CORE_RESETTING)
			return true;
	return false;
}

/**
 * trainium_cores_settle() - wait until released cores are free again, normally 0.1 s.
 * @tdev: device
 * @mask: cores
 *
 * So that whoever waited for a process to end finds its cores free. At most one second: a reset
 * that takes longer goes on in the background.
 */
void trainium_cores_settle(struct trainium_device *tdev, u32 mask)
{
	wait_event_idle_timeout(tdev->cores_wait, !trainium_cores_resetting(tdev, mask) ||
				trainium_device_removing(tdev), HZ);
}

static void trainium_core_ended(struct trainium_core *core, const struct trn_notification *entry)
{
	u64 cookie = entry->payload[0];

	lockdep_assert_held(&core->lock);
	/* Only the next run in order can end; anything else is a device that lies. */
	if (cookie != (u64)atomic64_read(&core->ended) + 1 || cookie > core->cookie) {
		drm_dbg(&core->tdev->drm, "core %u: end of run %llu out of order\n", core->index,
			cookie);
		return;
	}
	if (entry->code) {
		core->fault.code = entry->code;
		core->fault.engine = entry->engine;
		core->fault.pc = lower_32_bits(entry->payload[1]);
		core->fault.tag = entry->tag;
		core->fault.address = core->fault_addr;
		WRITE_ONCE(core->faulted, true);
		atomic64_inc(&core->faults);
	} else {
		atomic64_inc(&core->runs);
	}
	core->fault_addr = 0;
	atomic64_set(&core->ended, cookie);
	wake_up_all(&core->wait);
}

/** trainium_core_drain() - take every notification there is; wakes who waits for a run. */
void trainium_core_drain(struct trainium_core *core)
{
	struct trn_notification entry;

	mutex_lock(&core->lock);
	while (core->usable && trnhw_core_poll(&core->hw, &entry)) {
		if (entry.type == TRN_NOTIFY_RUN_END)
			trainium_core_ended(core, &entry);
		else if (entry.type == TRN_NOTIFY_ERROR)
			core->fault_addr = entry.payload[1];
	}
	mutex_unlock(&core->lock);
}

static unsigned int trainium_core_engine(const struct trainium_core *core, unsigned int engine)
{
	return core->index * TRN_ENGINES_PER_CORE + engine;
}

/* Returns true when data of the queue may still be moving. */
static bool trainium_core_drop(struct trainium_core *core, unsigned int e, unsigned int q)
{
	struct trnhw *hw = &core->tdev->hw;
	unsigned int engine = trainium_core_engine(core, e);
	bool busy = false;

	if (!trnhw_gone(hw)) {
		busy = !trnhw_udma_queue_idle(hw, engine, q);
		trnhw_udma_queue_stop(hw, engine, q);
	}
	core->loaded[e][q] = NULL;
	core->loaded_count--;
	return busy;
}

/**
 * trainium_core_unload_all() - stop every queue that holds a ring.
 * @core: core; its lock is held
 *
 * Sleeps when a queue was not idle: what it moves may belong to somebody else soon.
 */
void trainium_core_unload_all(struct trainium_core *core)
{
	unsigned int e, q;
	bool busy = false;

	lockdep_assert_held(&core->lock);
	for (e = 0; core->loaded_count && e < TRN_ENGINES_PER_CORE; e++)
		for (q = 0; q < TRAINIUM_USER_QUEUES; q++)
			if (core->loaded[e][q])
				busy |= trainium_core_drop(core, e, q);
	if (busy)
		msleep(TRNHW_QUEUE_SETTLE_MS);
}

/** trainium_core_unload() - stop the queue that holds @ring, if any: its memory is about to go. */
void trainium_core_unload(struct trainium_core *core, struct trainium_ring *ring)
{
	mutex_lock(&core->lock);
	if (core->loaded[ring->engine][ring->queue] == ring &&
	    trainium_core_drop(core, ring->engine, ring->queue))
		msleep(TRNHW_QUEUE_SETTLE_MS);
	mutex_unlock(&core->lock);
}

static bool trainium_core_has(const struct trainium_core *core,
			      const struct trainium_program *program)
{
	unsigned int i;

	if (core->loaded_count != program->ring_count)
		return false;
	for (i = 0; i < program->ring_count; i++) {
		const struct trainium_ring *ring = program->rings[i];

		if (core->loaded[ring->engine][ring->queue] != ring)
			return false;
	}
	return true;
}

/**
 * trainium_core_load() - make the queues of a core those of a program, each at its beginning.
 * @core: core, no run under way; its lock is held
 * @program: program of this core
 *
 * A program that ran last costs two register writes per ring; another one is loaded after every
 * queue of the one before was stopped. Return: 0 or -EINVAL.
 */
int trainium_core_load(struct trainium_core *core, struct trainium_program *program)
{
	struct trnhw *hw = &core->tdev->hw;
	bool loaded = trainium_core_has(core, program);
	unsigned int i;
	int err;

	lockdep_assert_held(&core->lock);
	if (!loaded)
		trainium_core_unload_all(core);
	for (i = 0; i < program->ring_count; i++) {
		struct trainium_ring *ring = program->rings[i];
		unsigned int engine = trainium_core_engine(core, ring->engine);
		struct trnhw_queue_rings rings = {
			.m2s = ring->m2s, .s2m = ring->s2m,
			.m2s_count = ring->count, .s2m_count = ring->count,
		};

		if (loaded) {
			trnhw_udma_queue_rewind(hw, engine, ring->queue);
			continue;
		}
		err = trnhw_udma_queue_init(hw, engine, ring->queue, &rings);
		if (err)
			return err;
		core->loaded[ring->engine][ring->queue] = ring;
		core->loaded_count++;
	}
	return 0;
}

/* Empty queues, counters as after probe; under the core's lock, the core is stopped. */
static int trainium_core_restart(struct trainium_core *core)
{
	lockdep_assert_held(&core->lock);
	/* Runs that never ended are over; numbers go on. */
	atomic64_set(&core->ended, core->cookie);
	core->fault_addr = 0;
	WRITE_ONCE(core->faulted, false);
	return core->usable ? trnhw_core_start(&core->hw) : 0;
}

/**
 * trainium_core_recover() - make a core usable after a failed or abandoned run.
 * @core: core; the caller is inside drm_dev_enter()
 *
 * Drops what is queued, stops its DMA queues, takes engines out of abort. On-chip memory is kept.
 * Sleeps.
 *
 * Return: 0, or an error after which only trainium_core_reset() helps.
 */
int trainium_core_recover(struct trainium_core *core)
{
	struct trnhw *hw = &core->tdev->hw;
	unsigned int e;
	int err;

	mutex_lock(&core->lock);
	err = trnhw_core_stop(&core->hw);
	trainium_core_unload_all(core);
	for (e = 0; !err && e < TRN_ENGINES_PER_CORE; e++)
		if (trnhw_udma_state(hw, trainium_core_engine(core, e)) == TRNHW_UDMA_ABORT)
			trnhw_udma_recover(hw, trainium_core_engine(core, e));
	if (!err)
		err = trainium_core_restart(core);
	mutex_unlock(&core->lock);
	return err;
}

/**
 * trainium_core_reset() - reset a core and its DMA engines; sleeps, normally 0.1 s.
 * @core: core; the caller is inside drm_dev_enter()
 * @reason: for the log, debug level
 *
 * Copies of other contexts on the core's host copy queue are held back, not lost.
 *
 * Return: 0, -ETIMEDOUT the firmware does not answer, -ENODEV, -EIO.
 */
int trainium_core_reset(struct trainium_core *core, const char *reason)
{
	struct trainium_device *tdev = core->tdev;
	struct trainium_copyq *q = &tdev->copyq[core->index];
	int err;

	drm_dbg(&tdev->drm, "core %u: reset (%s)\n", core->index, reason);
	mutex_lock(&core->lock);
	if (core->usable)
		trnhw_core_stop(&core->hw);
	trainium_core_unload_all(core);
	trainium_copyq_pause(q);
	mutex_lock(&tdev->firmware_lock);
	err = trnhw_reset_cores(&tdev->hw, BIT(core->index));
	if (err == -ETIMEDOUT)
		err = trnhw_reset_cores(&tdev->hw, BIT(core->index));
	if (!err)
		err = trnhw_start(&tdev->hw, BIT(core->index));
	mutex_unlock(&tdev->firmware_lock);
	trainium_copyq_resume(q);
	if (!err)
		err = trainium_core_restart(core);
	core->broken = err != 0;
	mutex_unlock(&core->lock);
	atomic_inc(&tdev->resets);
	if (err && err != -ENODEV)
		dev_err_ratelimited(tdev->drm.dev,
				    "core %u: reset failed: %d; out of use until the next try\n",
				    core->index, err);
	return err;
}
