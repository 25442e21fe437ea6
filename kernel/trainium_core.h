/* SPDX-License-Identifier: GPL-2.0-only */
/* Cores: who owns one, what is loaded on it, how it is stopped and reset. */
#ifndef TRAINIUM_CORE_H
#define TRAINIUM_CORE_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "hw/trnhw.h"

struct trainium_context;
struct trainium_device;
struct trainium_program;
struct trainium_ring;

/* Queues 14 and 15 of an engine are reserved (cores page of the hardware facts). */
#define TRAINIUM_USER_QUEUES	14

/**
 * struct trainium_fault - why a run failed.
 * @code: enum trn_fault, 0 none
 * @engine: enum trn_engine
 * @pc: instruction index
 * @tag: tag of the instruction
 * @address: offending device address, 0 none
 */
struct trainium_fault {
	u32 code;
	u32 engine;
	u32 pc;
	u32 tag;
	u64 address;
};

/**
 * struct trainium_core - one core.
 * @tdev: device
 * @index: number
 * @state: DRM_TRAINIUM_CORE_*; under trainium_device.cores_lock
 * @owner: context that owns it, or NULL; under trainium_device.cores_lock
 * @dirty: ran something since its last reset; set by the owner's jobs, read when they are over
 * @reset_work: resets a released core
 * @lock: the fields below
 * @hw: submission and notification queue
 * @usable: @hw is set up; programs can run
 * @broken: the last reset failed: no runs until one succeeds
 * @loaded: ring each queue holds
 * @loaded_count: how many
 * @cookie: of the last request submitted, free-running
 * @fault: of the run that failed since the last start
 * @fault_addr: from the error notification before the end of the run
 * @wait: @ended or @faulted changed
 * @events: interrupts seen
 * @ended: cookie of the last run that ended
 * @faulted: the run numbered @ended failed; the core is halted
 * @irq: completions are announced by interrupt
 * @runs: runs ended well since probe
 * @faults: runs failed since probe
 */
struct trainium_core {
	struct trainium_device *tdev;
	unsigned int index;
	u32 state;
	struct trainium_context *owner;
	bool dirty;
	struct work_struct reset_work;
	struct mutex lock;	/* see above */
	struct trnhw_core hw;
	bool usable;
	bool broken;
	struct trainium_ring *loaded[TRN_ENGINES_PER_CORE][TRAINIUM_USER_QUEUES];
	unsigned int loaded_count;
	u64 cookie;
	struct trainium_fault fault;
	u64 fault_addr;
	wait_queue_head_t wait;
	atomic_t events;
	atomic64_t ended;
	bool faulted;
	bool irq;
	atomic64_t runs;
	atomic64_t faults;
};

int trainium_core_init(struct trainium_device *tdev, unsigned int index);
void trainium_core_fini(struct trainium_core *core);

int trainium_cores_acquire(struct trainium_context *ctx, u32 mask, u32 count, u32 *got);
void trainium_cores_release(struct trainium_context *ctx);
void trainium_cores_settle(struct trainium_device *tdev, u32 mask);

void trainium_core_drain(struct trainium_core *core);
int trainium_core_load(struct trainium_core *core, struct trainium_program *program);
void trainium_core_unload(struct trainium_core *core, struct trainium_ring *ring);
void trainium_core_unload_all(struct trainium_core *core);
int trainium_core_recover(struct trainium_core *core);
int trainium_core_reset(struct trainium_core *core, const char *reason);

#endif /* TRAINIUM_CORE_H */
