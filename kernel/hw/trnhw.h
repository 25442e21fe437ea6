/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hardware layer: everything that knows a register, a descriptor or the firmware mailbox.
 *
 * Written as kernel code; compiled into trainium.ko, and compiled again in user space against the shims in kernel/hw/user/ (so it runs under
 * sanitizers against the device model, and drives the in-process device). It allocates nothing from user input sizes and takes no
 * decision about ownership: that is its callers' business.
 *
 * Locking: none inside unless a function says so; the caller serialises per object (struct trnhw_copyq, struct trnhw_core, mailbox).
 */
#ifndef TRNHW_H
#define TRNHW_H

#include <linux/types.h>
#include <linux/io.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>

#include "trainium/desc.h"
#include "trainium/ext.h"
#include "trainium/isa.h"
#include "trainium/map.h"
#include "trainium/notify.h"
#include "trainium/regs.h"

/** struct trnhw_engine_base - where a DMA engine lives (BAR0 offsets). */
struct trnhw_engine_base {
	u32 udma;
	u32 sdma;
};

/** struct trnhw_arch - constants of one product; one const table each, never changed. */
struct trnhw_arch {
	const char *name;		/* "trn1", "inf2" */
	const char *product;		/* "Trainium1", "Inferentia2" */
	u16 pci_device;
	u8 generation;			/* 2 or 3 */
	u8 cores;
	u8 stacks;
	u8 engines;			/* all DMA engines */
	u8 top_sps;
	u64 bar0_size;
	u64 hbm_size;			/* per stack */
	u64 host_base;			/* OR-ed into bus addresses */
	u64 host_size;			/* bus addresses below this are usable */
	u64 (*hbm_base)(unsigned int stack);
	u64 (*hbm_bar4)(unsigned int stack);
	u32 (*tpb)(unsigned int core);			/* BAR0 offset of a core window */
	u64 (*tpb_device)(unsigned int core);		/* the same as device address */
	u32 (*nc_notific)(unsigned int core);
	void (*engine_base)(unsigned int engine, struct trnhw_engine_base *base);
	unsigned int (*h2t_engine)(unsigned int core);
	unsigned int (*h2t_queue)(unsigned int core);
	u32 misc;			/* BAR0 offset of MISC RAM */
	u32 sbuf_partition_bytes;
	u32 init_outstanding;		/* M2S 0x124 and friends: generation specific engine init values */
	u32 init_data_fifo;
	u32 init_s2m_outstanding;
	u32 dma_timeout_us_per_desc;	/* documented estimate E per descriptor */
	u32 reset_timeout_ms;
};

/** trnhw_arch_find() - table of a PCI device id, NULL when unknown. */
const struct trnhw_arch *trnhw_arch_find(u16 pci_device);

/** struct trnhw_fwio - FWIO mailbox: two coherent buffers. */
struct trnhw_fwio {
	u8 *request;
	u8 *response;
	dma_addr_t request_dma;
	dma_addr_t response_dma;
	u8 sequence;
	u32 retries;			/* attempts beyond the first, for statistics */
};

/** struct trnhw - one device as the hardware layer sees it. */
struct trnhw {
	struct device *dev;		/* for dev_err and dma_alloc_coherent */
	void __iomem *regs;		/* BAR0 */
	void __iomem *ext;		/* BAR2, or NULL without the open extension */
	const struct trnhw_arch *arch;
	u32 features;			/* TRN_FEATURE_* */
	u32 vectors;
	u32 routing_id;
	u64 serial;			/* 0: unavailable */
	struct trnhw_fwio fwio;
	bool queues_initialised;	/* engine init: first pass or later (cached queue cfg) */
};

u32 trnhw_read(const struct trnhw *hw, u32 offset);
void trnhw_write(const struct trnhw *hw, u32 offset, u32 value);
u32 trnhw_ext_read(const struct trnhw *hw, u32 offset);
void trnhw_ext_write(const struct trnhw *hw, u32 offset, u32 value);
/** trnhw_gone() - true when the registers read all ones (removed or link down). */
bool trnhw_gone(const struct trnhw *hw);

/**
 * trnhw_init() - identify the device and allocate the mailbox; touches only MISC RAM. @features and @vectors come from the VSEC (0: absent).
 * Return: 0, -ENODEV unknown or gone, -ETIMEDOUT device id not ready, -ENOMEM.
 */
int trnhw_init(struct trnhw *hw, struct device *dev, void __iomem *regs, void __iomem *ext, u16 pci_device, u32 features, u32 vectors);
void trnhw_fini(struct trnhw *hw);

/** trnhw_reset_device(), trnhw_reset_cores() - documented handshake including resends; sleeps. 0, -ETIMEDOUT, -ENODEV. */
int trnhw_reset_device(struct trnhw *hw);
int trnhw_reset_cores(struct trnhw *hw, u32 core_mask);
/** trnhw_start() - init of every DMA engine of the cores in @core_mask, in the documented order (after a reset). */
int trnhw_start(struct trnhw *hw, u32 core_mask);

/* Firmware mailbox; serialised by the caller, sleeps. */
int trnhw_fwio_read(struct trnhw *hw, const u64 *addresses, u32 *values, u32 count);
int trnhw_fwio_post(struct trnhw *hw, const void *payload, u16 size);

/* Telemetry. */
struct trnhw_ecc {
	u32 sram_corrected;
	u32 sram_uncorrected;
	u32 hbm_corrected;
	u32 hbm_uncorrected;
};
void trnhw_ecc_read(const struct trnhw *hw, struct trnhw_ecc *ecc);
/** trnhw_power_read() - utilisation in 1/100 %; -ENODATA when firmware does not report it. */
int trnhw_power_read(const struct trnhw *hw, u32 *utilisation);

/* Addresses. */
u64 trnhw_host_address(const struct trnhw *hw, dma_addr_t bus);		/* bus address -> device address; 0 when not reachable */
u64 trnhw_hbm_address(const struct trnhw *hw, unsigned int stack, u64 offset);
u64 trnhw_sbuf_address(const struct trnhw *hw, unsigned int core, u32 partition, u32 offset);
u64 trnhw_sem_inc_address(const struct trnhw *hw, unsigned int core, unsigned int index);

/* UDMA. */
struct trnhw_queue_rings {
	u64 m2s;			/* device address of the ring, TRN_RING_ALIGN aligned */
	u64 s2m;
	u32 m2s_count;			/* descriptors, multiple of TRN_RING_MULTIPLE, >= TRN_RING_MIN */
	u32 s2m_count;
};
void trnhw_udma_engine_init(struct trnhw *hw, unsigned int engine);
int trnhw_udma_queue_init(struct trnhw *hw, unsigned int engine, unsigned int queue, const struct trnhw_queue_rings *rings);
/** trnhw_udma_queue_stop() - disable, reset pointers, forget the ring: nothing is fetched from it afterwards. */
void trnhw_udma_queue_stop(struct trnhw *hw, unsigned int engine, unsigned int queue);
/** trnhw_udma_queue_ring() - doorbells: S2M first, then M2S. */
void trnhw_udma_queue_ring(struct trnhw *hw, unsigned int engine, unsigned int queue, u32 count);
/** trnhw_udma_state() - 0 idle, 1 normal, 2 abort. */
int trnhw_udma_state(const struct trnhw *hw, unsigned int engine);
/** trnhw_udma_recover() - clear an abort and re-initialise the engine. */
void trnhw_udma_recover(struct trnhw *hw, unsigned int engine);

/* Descriptors. */
/** struct trnhw_xfer - one transfer with resolved device addresses. */
struct trnhw_xfer {
	u64 src;
	u64 dst;
	u32 len;			/* 1..TRN_DESC_MAX_BYTES */
	u32 flags;			/* TRNHW_XFER_* */
};
#define TRNHW_XFER_BARRIER	(1u << 0)	/* data of this and earlier transfers is written before later ones proceed */
#define TRNHW_XFER_INTERRUPT	(1u << 1)	/* raise the engine's vector when done */

/** trnhw_desc_encode() - one M2S/S2M pair; @ring_id 0..3. */
void trnhw_desc_encode(const struct trnhw_xfer *xfer, unsigned int ring_id, struct trn_desc *m2s, struct trn_desc *s2m);

/** struct trnhw_range - device memory a descriptor may touch; a table of them is sorted by base and does not overlap. */
struct trnhw_range {
	u64 base;
	u64 size;
	u32 access;			/* TRN_ACCESS_READ, TRN_ACCESS_WRITE */
};
/**
 * trnhw_xfer_check() - may this transfer touch only @ranges? Overflow-safe.
 * Return: 0, -EINVAL bad length or flags, -EACCES source or destination outside (@bad_address receives it).
 */
int trnhw_xfer_check(const struct trnhw_xfer *xfer, const struct trnhw_range *ranges, unsigned int count, u64 *bad_address);
/** trnhw_ring_check() - does an encoded ring (as user space could have written it) touch only @ranges? Same errors; @bad_index. */
int trnhw_ring_check(const struct trn_desc *m2s, const struct trn_desc *s2m, u32 count, const struct trnhw_range *ranges,
		     unsigned int range_count, u32 *bad_index, u64 *bad_address);
/** trnhw_ring_count() - descriptors to allocate for @count transfers: padded to the ring rules; 0 when too many. */
u32 trnhw_ring_count(u32 count);
/**
 * trnhw_ring_fill() - encode @count transfers into rings of @ring_count and pad the rest with harmless 4-byte copies inside @pad
 * (device address of 8 bytes the ring's owner may read and write); the padding is what makes a ring end where it began.
 */
void trnhw_ring_fill(const struct trnhw_xfer *xfers, u32 count, u64 pad, struct trn_desc *m2s, struct trn_desc *s2m, u32 ring_count);

/* Host copy queue: kernel-owned rings of one H2T queue (udma.md section 9). */
#define TRNHW_COPYQ_DESCS	8192u
#define TRNHW_COPYQ_BATCH	2032u		/* data descriptors per batch */
struct trnhw_copyq {
	struct trnhw *hw;
	unsigned int engine;
	unsigned int queue;
	struct trn_desc *m2s;
	struct trn_desc *s2m;
	dma_addr_t m2s_dma;
	dma_addr_t s2m_dma;
	u32 *marker;			/* {source, destination} dwords per batch in flight */
	dma_addr_t marker_dma;
	u32 next;			/* producer index, free-running */
	u32 done;			/* credited, free-running */
	u64 issued;			/* batches issued and completed: markers carry the low 32 bits of the batch number */
	u64 completed;
};
int trnhw_copyq_init(struct trnhw_copyq *q, struct trnhw *hw, unsigned int core);
void trnhw_copyq_fini(struct trnhw_copyq *q);
/**
 * trnhw_copyq_submit() - one batch: @count transfers (any mix, each within TRN_DESC_MAX_BYTES), then the completion marker; one pair of doorbells.
 * @interrupt: ask for an interrupt on the marker. Return: 0, -EAGAIN ring full (poll, then retry), -EINVAL. *@batch: number to wait for.
 */
int trnhw_copyq_submit(struct trnhw_copyq *q, const struct trnhw_xfer *xfers, u32 count, bool interrupt, u64 *batch);
/** trnhw_copyq_poll() - batches completed so far; reads host memory only. */
u64 trnhw_copyq_poll(struct trnhw_copyq *q);
/** trnhw_copyq_budget_us() - documented completion time limit for @count descriptors. */
u64 trnhw_copyq_budget_us(const struct trnhw_copyq *q, u32 count);
/** trnhw_copyq_reset() - after a time-out or device reset: re-initialise the queue; batches in flight are lost. */
int trnhw_copyq_reset(struct trnhw_copyq *q);

/* Core: submission queue, notification queue, semaphores (open extension except semaphores and events). */
#define TRNHW_SQ_ENTRIES	64u
#define TRNHW_NQ_ENTRIES	256u
struct trnhw_core {
	struct trnhw *hw;
	unsigned int index;
	struct trn_run_request *sq;
	dma_addr_t sq_dma;
	struct trn_notification *nq;
	dma_addr_t nq_dma;
	u32 tail;
	u32 finished;			/* requests whose RUN_END was consumed */
	u32 nq_next;			/* entries consumed, free-running */
};
int trnhw_core_init(struct trnhw_core *core, struct trnhw *hw, unsigned int index);
void trnhw_core_fini(struct trnhw_core *core);
/** trnhw_core_start(), trnhw_core_stop() - enable with empty queues / abort the run, drop requests, disable, silence the NQ. */
int trnhw_core_start(struct trnhw_core *core);
void trnhw_core_stop(struct trnhw_core *core);
/** trnhw_core_submit() - copy @request into the queue; the doorbell is trnhw_core_ring(), one per batch. -EAGAIN when full. */
int trnhw_core_submit(struct trnhw_core *core, const struct trn_run_request *request);
void trnhw_core_ring(struct trnhw_core *core);
/** trnhw_core_poll() - next notification, false when none; entries are validated copies. */
bool trnhw_core_poll(struct trnhw_core *core, struct trn_notification *entry);
/** trnhw_core_resume() - go on after a faulted run. */
void trnhw_core_resume(struct trnhw_core *core);
s32 trnhw_sem_read(struct trnhw *hw, unsigned int core, unsigned int index);
void trnhw_sem_set(struct trnhw *hw, unsigned int core, unsigned int index, s32 value);
void trnhw_sem_add(struct trnhw *hw, unsigned int core, unsigned int index, s32 value);
u32 trnhw_event_read(struct trnhw *hw, unsigned int core, unsigned int index);
void trnhw_event_write(struct trnhw *hw, unsigned int core, unsigned int index, u32 value);

/* Interrupt control (open extension). */
void trnhw_irq_mask(struct trnhw *hw, unsigned int vector);
void trnhw_irq_unmask(struct trnhw *hw, unsigned int vector);

/* Topology. */
/** trnhw_device_index() - device index of a routing id for this product. */
int trnhw_device_index(const struct trnhw_arch *arch, u32 routing_id);

#endif /* TRNHW_H */
