/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device: what lives from probe to the last close.
 *
 * Lock order, outermost first; a lock is only taken while holding locks above it:
 *
 *   trainium_context.submit_lock	order of submissions of a context
 *   trainium_device.files_lock		list of open files
 *   trainium_device.cores_lock		owner and state of every core
 *   trainium_context.exec_lock		execution of a context's jobs
 *   trainium_core.lock			submission queue, loaded rings, notifications of a core
 *   trainium_copyq.lock		host copy queue of a core
 *   trainium_device.abort_lock		ending an abort of a host copy engine
 *   trainium_device.firmware_lock	reset register and mailbox
 *   trainium_stack.lock		allocator of an HBM stack
 *   trainium_device.hosts_lock		list of host buffers
 *   trainium_context.lock		spinlock: job queue, counters
 */
#ifndef TRAINIUM_DEVICE_H
#define TRAINIUM_DEVICE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_print.h>
#include <drm/trainium_accel.h>

#include "hw/trnhw.h"
#include "trainium_copyq.h"
#include "trainium_core.h"
#include "trainium_hbm.h"

/* What the driver needs in host memory that the device reads: see trainium_consts. */
#define TRAINIUM_ZERO_BYTES	SZ_64K

/**
 * struct trainium_consts - constant host memory the device reads.
 * @zero: source of scrubbing
 * @one: source of semaphore increments
 */
struct trainium_consts {
	u8 zero[TRAINIUM_ZERO_BYTES];
	u32 one;
};

/**
 * struct trainium_irq - one interrupt vector.
 * @tdev: device
 * @vector: number in the extension
 * @line: Linux interrupt number
 * @core: core whose notifications it announces, or NULL
 * @copyq: first of the copy queues whose batches it announces, or NULL
 * @copyqs: how many of them
 * @count: interrupts taken
 */
struct trainium_irq {
	struct trainium_device *tdev;
	unsigned int vector;
	int line;
	struct trainium_core *core;
	struct trainium_copyq *copyq;
	unsigned int copyqs;
	atomic64_t count;
};

#define TRAINIUM_STACKS_MAX	4

/**
 * struct trainium_device - one device; memory lives until the last reference to @drm.
 * @drm: DRM device
 * @pdev: PCI function
 * @hw: hardware layer
 * @removing: set first thing on removal; ends every wait
 * @firmware_lock: reset register and mailbox
 * @abort_lock: ending an abort of a host copy engine, which queues of two cores may share
 * @files_lock: @files and what is listed of each file
 * @files: open files, struct trainium_file.node
 * @cores_lock: owner and state of @core
 * @cores_wait: @cores_changes grew
 * @cores_changes: times a core became free or failed
 * @core: cores, hw.arch->cores of them
 * @copyq: host copy queue of each core
 * @stack: HBM, hw.arch->stacks of them
 * @hosts_lock: @hosts
 * @hosts: host buffers with a DMA mapping, struct trainium_bo.host_node
 * @consts: constant memory
 * @consts_dma: its bus address
 * @wq: runs the contexts' jobs and the resets of released cores
 * @irq: vectors, @irq_count of them; 0: everything is polled
 * @irq_count: length of @irq
 * @resets: core and device resets since probe
 * @polled: completions found by polling although an interrupt was due
 */
struct trainium_device {
	struct drm_device drm;
	struct pci_dev *pdev;
	struct trnhw hw;
	bool removing;
	struct mutex firmware_lock;	/* see above */
	struct mutex abort_lock;	/* see above */
	struct mutex files_lock;	/* see above */
	struct list_head files;
	struct mutex cores_lock;	/* see above */
	wait_queue_head_t cores_wait;
	atomic_t cores_changes;
	struct trainium_core core[TRN_MAX_CORES];
	struct trainium_copyq copyq[TRN_MAX_CORES];
	struct trainium_stack stack[TRAINIUM_STACKS_MAX];
	struct mutex hosts_lock;	/* see above */
	struct list_head hosts;
	struct trainium_consts *consts;
	dma_addr_t consts_dma;
	struct workqueue_struct *wq;
	struct trainium_irq *irq;
	unsigned int irq_count;
	atomic_t resets;
	atomic64_t polled;
};

static inline struct trainium_device *to_trainium_device(struct drm_device *drm)
{
	return container_of(drm, struct trainium_device, drm);
}

static inline bool trainium_device_removing(const struct trainium_device *tdev)
{
	return READ_ONCE(tdev->removing);
}

int trainium_device_init(struct trainium_device *tdev);
void trainium_device_fini(struct trainium_device *tdev);

int trainium_irq_init(struct trainium_device *tdev);
void trainium_irq_fini(struct trainium_device *tdev);

extern const struct attribute_group *trainium_sysfs_groups[];

#endif /* TRAINIUM_DEVICE_H */
