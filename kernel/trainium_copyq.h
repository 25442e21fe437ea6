/* SPDX-License-Identifier: GPL-2.0-only */
/* Host copy queues: batches of transfers on the kernel's own rings. */
#ifndef TRAINIUM_COPYQ_H
#define TRAINIUM_COPYQ_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include "hw/trnhw.h"

struct trainium_cursor;
struct trainium_device;

/**
 * struct trainium_copyq - host copy queue of one core, shared by every context.
 * @tdev: device
 * @core: core number
 * @lock: @hw, @xfers
 * @hw: rings
 * @xfers: TRNHW_COPYQ_BATCH entries, the batch being put together
 * @wait: @completed, @epoch or @paused changed
 * @events: interrupts seen
 * @completed: batches known to be completed
 * @epoch: grows when the batches in flight were lost
 * @paused: a core reset is about to touch the queue: no new batches
 * @irq: completions are announced by interrupt
 * @ready: set up; cleared when the queue is beyond repair
 */
struct trainium_copyq {
	struct trainium_device *tdev;
	unsigned int core;
	struct mutex lock;	/* see above */
	struct trnhw_copyq hw;
	struct trnhw_xfer *xfers;
	wait_queue_head_t wait;
	atomic_t events;
	atomic64_t completed;
	atomic_t epoch;
	bool paused;
	bool irq;
	bool ready;
};

/**
 * struct trainium_batch - a batch in flight.
 * @number: of the queue
 * @epoch: of the queue when it was issued
 * @count: transfers
 */
struct trainium_batch {
	u64 number;
	int epoch;
	u32 count;
};

int trainium_copyq_init(struct trainium_device *tdev, unsigned int core);
void trainium_copyq_fini(struct trainium_copyq *q);
int trainium_copyq_submit(struct trainium_copyq *q, struct trainium_cursor *cursor,
			  ktime_t deadline, struct trainium_batch *batch);
int trainium_copyq_wait(struct trainium_copyq *q, const struct trainium_batch *batch,
			ktime_t deadline);
void trainium_copyq_drain(struct trainium_copyq *q);
bool trainium_copyq_aborted(struct trainium_copyq *q);
void trainium_copyq_recover(struct trainium_copyq *q);
void trainium_copyq_pause(struct trainium_copyq *q);
void trainium_copyq_resume(struct trainium_copyq *q);
void trainium_copyq_abort(struct trainium_copyq *q);
struct trainium_copyq *trainium_copyq_of_stack(struct trainium_device *tdev, unsigned int stack);

#endif /* TRAINIUM_COPYQ_H */
