// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host copy queues: batches of transfers on the kernel's own rings.
 *
 * A batch is at most TRNHW_COPYQ_BATCH transfers and a completion marker, and costs two doorbells.
 * Batches of different contexts share a queue and complete in the order they were issued.
 *
 * Locking: trainium_copyq.lock for the rings, trainium_device.abort_lock for the state of an engine
 * that queues of two cores may share. Nobody waits for the device with them held; waiters look at
 * @completed, which whoever drains the queue moves forward.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "trainium_copy.h"
#include "trainium_copyq.h"
#include "trainium_device.h"

/* How long a waiter trusts the interrupt before it looks itself. */
#define TRAINIUM_COPYQ_SLICE	msecs_to_jiffies(20)
/* Least time given to batches in flight before the queue counts as stuck. */
#define TRAINIUM_COPYQ_GRACE_MS	5000

/** trainium_copyq_init() - set up the queue of a core; trnhw_start() has run. 0, -ENOMEM, -EIO. */
int trainium_copyq_init(struct trainium_device *tdev, unsigned int core)
{
	struct trainium_copyq *q = &tdev->copyq[core];
	int err;

	q->tdev = tdev;
	q->core = core;
	mutex_init(&q->lock);
	init_waitqueue_head(&q->wait);
	q->xfers = kvcalloc(TRNHW_COPYQ_BATCH, sizeof(*q->xfers), GFP_KERNEL);
	if (!q->xfers)
		return -ENOMEM;
	err = trnhw_copyq_init(&q->hw, &tdev->hw, core);
	if (err) {
		kvfree(q->xfers);
		q->xfers = NULL;
		return err;
	}
	q->ready = true;
	return 0;
}

/** trainium_copyq_fini() - stop the queue; waiters of lost batches get an error. */
void trainium_copyq_fini(struct trainium_copyq *q)
{
	if (!q->xfers)
		return;
	mutex_lock(&q->lock);
	q->ready = false;
	atomic_inc(&q->epoch);
	trnhw_copyq_fini(&q->hw);
	mutex_unlock(&q->lock);
	wake_up_all(&q->wait);
	kvfree(q->xfers);
	q->xfers = NULL;
}

static void trainium_copyq_take_locked(struct trainium_copyq *q)
{
	u64 completed = trnhw_copyq_poll(&q->hw);

	lockdep_assert_held(&q->lock);
	if (completed != (u64)atomic64_read(&q->completed)) {
		atomic64_set(&q->completed, completed);
		wake_up_all(&q->wait);
	}
}

/* Sets the queue up again; what is in flight is lost, and its waiters learn it by the epoch. */
static void trainium_copyq_restart_locked(struct trainium_copyq *q)
{
	int err;

	lockdep_assert_held(&q->lock);
	if (q->hw.issued != q->hw.completed)
		atomic_inc(&q->epoch);
	mutex_lock(&q->tdev->abort_lock);
	err = trnhw_copyq_reset(&q->hw);
	mutex_unlock(&q->tdev->abort_lock);
	if (err) {
		q->ready = false;
		if (err != -ENODEV)
			dev_err(q->tdev->drm.dev,
				"copy queue %u does not restart: reload the driver\n", q->core);
	}
	trainium_copyq_take_locked(q);
}

static void trainium_copyq_drain_locked(struct trainium_copyq *q)
{
	lockdep_assert_held(&q->lock);
	if (!q->ready)
		return;
	trainium_copyq_take_locked(q);
	/* The engine was in abort, and the queue of another core that shares it came first. */
	if (trnhw_copyq_lost(&q->hw)) {
		trainium_copyq_restart_locked(q);
		wake_up_all(&q->wait);
	}
}

/** trainium_copyq_drain() - look for completed batches and wake who waits for them. */
void trainium_copyq_drain(struct trainium_copyq *q)
{
	mutex_lock(&q->lock);
	trainium_copyq_drain_locked(q);
	mutex_unlock(&q->lock);
}

/** trainium_copyq_abort() - wake every waiter to look at trainium_device.removing. */
void trainium_copyq_abort(struct trainium_copyq *q)
{
	wake_up_all(&q->wait);
}

static bool trainium_copyq_moved(struct trainium_copyq *q, u64 seen)
{
	return (u64)atomic64_read(&q->completed) != seen || trainium_device_removing(q->tdev);
}

/* Without an interrupt a waiter looks again after a short growing time. False: it takes long. */
static bool trainium_copyq_poll(unsigned long *delay)
{
	usleep_range(*delay, *delay * 2);
	*delay = min(*delay * 2, 1000ul);
	return *delay < 1000;
}

static int trainium_copyq_try(struct trainium_copyq *q, struct trainium_cursor *cursor,
			      struct trainium_batch *batch)
{
	struct trainium_cursor saved = *cursor;
	int err;

	lockdep_assert_held(&q->lock);
	if (!q->ready)
		return -EIO;
	if (q->paused)
		return -EAGAIN;
	trainium_copyq_drain_locked(q);
	batch->count = trainium_cursor_fill(cursor, q->xfers, TRNHW_COPYQ_BATCH);
	batch->epoch = atomic_read(&q->epoch);
	err = trnhw_copyq_submit(&q->hw, q->xfers, batch->count, q->irq, &batch->number);
	if (err)
		*cursor = saved;
	return err;
}

/**
 * trainium_copyq_submit() - issue the next batch of a list of copies.
 * @q: queue
 * @cursor: where the list is; moved forward; not at its end
 * @deadline: when to give up waiting for room
 * @batch: filled; to wait for
 *
 * The caller is inside drm_dev_enter(). Sleeps.
 *
 * Return: 0, -ETIME no room until @deadline, -EIO queue broken, -ENODEV device going away.
 */
int trainium_copyq_submit(struct trainium_copyq *q, struct trainium_cursor *cursor,
			  ktime_t deadline, struct trainium_batch *batch)
{
	unsigned long delay = 10;
	u64 seen;
	int err;

	for (;;) {
		if (trainium_device_removing(q->tdev))
			return -ENODEV;
		mutex_lock(&q->lock);
		err = trainium_copyq_try(q, cursor, batch);
		seen = atomic64_read(&q->completed);
		mutex_unlock(&q->lock);
		if (err != -EAGAIN)
			return err;
		if (ktime_after(ktime_get(), deadline))
			return -ETIME;
		if (q->irq)
			wait_event_idle_timeout(q->wait, trainium_copyq_moved(q, seen),
						TRAINIUM_COPYQ_SLICE);
		else
			trainium_copyq_poll(&delay);
	}
}

static bool trainium_copyq_done(struct trainium_copyq *q, const struct trainium_batch *batch)
{
	return (u64)atomic64_read(&q->completed) >= batch->number ||
	       atomic_read(&q->epoch) != batch->epoch;
}

/* Under the lock, because a reset counts lost batches as completed. */
static int trainium_copyq_look(struct trainium_copyq *q, const struct trainium_batch *batch)
{
	int err = -EINPROGRESS;

	mutex_lock(&q->lock);
	trainium_copyq_drain_locked(q);
	if (atomic_read(&q->epoch) != batch->epoch)
		err = -ECANCELED;
	else if ((u64)atomic64_read(&q->completed) >= batch->number)
		err = 0;
	mutex_unlock(&q->lock);
	return err;
}

/**
 * trainium_copyq_wait() - wait for a batch.
 * @q: queue
 * @batch: from trainium_copyq_submit()
 * @deadline: when to give up
 *
 * Return: 0, -ETIME still running, -ECANCELED lost to a reset of the queue, -ENODEV.
 */
int trainium_copyq_wait(struct trainium_copyq *q, const struct trainium_batch *batch,
			ktime_t deadline)
{
	unsigned long delay = 5;
	bool announced = true;
	int err;

	for (;;) {
		int seen = atomic_read(&q->events);

		err = trainium_copyq_look(q, batch);
		if (err != -EINPROGRESS)
			break;
		if (!announced && trnhw_gone(&q->tdev->hw))
			return -ENODEV;
		if (ktime_after(ktime_get(), deadline))
			return -ETIME;
		if (q->irq)
			announced = wait_event_idle_timeout(q->wait,
							    trainium_copyq_done(q, batch) ||
							    atomic_read(&q->events) != seen,
							    TRAINIUM_COPYQ_SLICE);
		else
			announced = trainium_copyq_poll(&delay);
	}
	if (q->irq && !announced) {
		atomic64_inc(&q->tdev->polled);
		drm_dbg(&q->tdev->drm, "copy queue %u: completion polled\n", q->core);
	}
	return err;
}

/** trainium_copyq_aborted() - the engine stands still until trainium_copyq_recover(). */
bool trainium_copyq_aborted(struct trainium_copyq *q)
{
	return trnhw_udma_state(&q->tdev->hw, q->hw.engine) == TRNHW_UDMA_ABORT;
}

/**
 * trainium_copyq_recover() - make a stuck queue usable again; batches in flight are lost.
 * @q: queue
 *
 * Afterwards no transfer of them touches memory any more.
 */
void trainium_copyq_recover(struct trainium_copyq *q)
{
	mutex_lock(&q->lock);
	trainium_copyq_drain_locked(q);
	if (q->ready && q->hw.issued != q->hw.completed) {
		atomic_inc(&q->tdev->resets);
		trainium_copyq_restart_locked(q);
	}
	mutex_unlock(&q->lock);
	wake_up_all(&q->wait);
}

/**
 * trainium_copyq_pause() - let batches in flight finish, hold new ones back.
 * @q: queue, whose engine a core reset is about to touch
 *
 * Sleeps, at most a few seconds. Ended by trainium_copyq_resume().
 */
void trainium_copyq_pause(struct trainium_copyq *q)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), TRAINIUM_COPYQ_GRACE_MS);
	bool idle;

	mutex_lock(&q->lock);
	q->paused = true;
	mutex_unlock(&q->lock);
	do {
		mutex_lock(&q->lock);
		trainium_copyq_drain_locked(q);
		idle = !q->ready || q->hw.issued == q->hw.completed;
		mutex_unlock(&q->lock);
		if (idle || trainium_device_removing(q->tdev))
			return;
		usleep_range(50, 200);
	} while (ktime_before(ktime_get(), deadline));
}

/** trainium_copyq_resume() - after the core reset: set the queue up again, let batches through. */
void trainium_copyq_resume(struct trainium_copyq *q)
{
	mutex_lock(&q->lock);
	trainium_copyq_drain_locked(q);
	if (q->ready)
		trainium_copyq_restart_locked(q);
	q->paused = false;
	mutex_unlock(&q->lock);
	wake_up_all(&q->wait);
}

/** trainium_copyq_of_stack() - the queue nearest to an HBM stack. */
struct trainium_copyq *trainium_copyq_of_stack(struct trainium_device *tdev, unsigned int stack)
{
	unsigned int cores = tdev->hw.arch->cores;
	unsigned int per_stack = max(cores / tdev->hw.arch->stacks, 1u);

	return &tdev->copyq[min(stack * per_stack, cores - 1)];
}
