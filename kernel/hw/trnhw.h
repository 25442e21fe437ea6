/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hardware layer: everything that knows a register, a descriptor or the firmware mailbox.
 *
 * Written as kernel code; compiled into trainium.ko, and compiled again in user space against the
 * shims in kernel/hw/user/ (so it runs under sanitizers against the device model, and drives the
 * in-process device). It allocates nothing from user input sizes and takes no decision about
 * ownership: that is its callers' business.
 *
 * Locking: none inside. The caller serialises per object (struct trnhw_copyq, struct trnhw_core);
 * trnhw_copyq_reset() of queues that share an engine; and reset, start and mailbox of one device,
 * because reset and mailbox share one doorbell. Register accessors, semaphores, events, interrupt
 * control, telemetry and address helpers may be called from any context at any time.
 *
 * Sleeping: only functions that say "sleeps" do. Each of their waits has an end, and gives up with
 * -ENODEV soon after trnhw_stop() or when the registers read all ones.
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
#include "trainium/topology.h"

/**
 * struct trnhw_engine_base - where a DMA engine lives (BAR0 offsets).
 * @udma: UDMA
 * @sdma: SDMA wrapper
 * @fis: fabric interrupts and errors, 0: the engine has no such block
 */
struct trnhw_engine_base {
	u32 udma;
	u32 sdma;
	u32 fis;
};

#define TRNHW_NEIGHBOURS_MAX	TRN_TORUS_LINKS

/* What an engine init does beyond the common part: rows of the documented trace. */
#define TRNHW_INIT_BROADCAST	0x1u	/* row 1, engines of cores */
#define TRNHW_INIT_TX_BEATS	0x2u	/* last write of row 13 */
#define TRNHW_INIT_AXI_ERRORS	0x4u	/* rows 14 to 17 */

/**
 * struct trnhw_arch - constants of one product; one const table each, never changed.
 * @name: short name, "trn1"
 * @product: marketing name, "Trainium1"
 * @pci_device: PCI device id
 * @generation: 2 or 3
 * @cores: NeuronCores
 * @dies: dies
 * @stacks: HBM stacks
 * @engines: all DMA engines, those of the cores first
 * @h2t_cores: neighbouring cores that share an engine for host copies
 * @top_sps: sync processors, in a driver's numbering
 * @bar0_size: smallest BAR0 that holds every register, bytes
 * @hbm_size: bytes per stack
 * @host_base: OR-ed into bus addresses to make device addresses
 * @host_size: bus addresses below this are reachable
 * @hbm_base: device address of a stack
 * @hbm_bar4: BAR4 offset of a stack
 * @tpb: BAR0 offset of a core's window
 * @tpb_device: the same as device address
 * @nc_notific: BAR0 offset of a core's NOTIFIC block
 * @top_sp: BAR0 offset of a sync processor's window
 * @top_sp_notific: BAR0 offset of its NOTIFIC block
 * @engine_base: BAR0 offsets of a DMA engine
 * @h2t_engine: engine of a core's host copies
 * @h2t_queue: queue of that engine
 * @reset_map: value of RESET_TPB_MAP for a set of cores
 * @neighbours: device indices linked to one, as trnhw_device_neighbours(); @index is below @total
 * @routing: device index of a routing id of a torus; NULL: the same number
 * @misc: BAR0 offset of MISC RAM
 * @sbuf_partition_bytes: physical SBUF bytes per partition
 * @init: TRNHW_INIT_*
 * @init_outstanding: engine init value of M2S AXI outstanding
 * @init_data_fifo: engine init value of M2S data FIFO
 * @init_s2m_outstanding: engine init value of S2M AXI outstanding reads
 * @dma_timeout_us_per_desc: documented completion estimate per descriptor
 * @dma_timeout_slack_us: what of the estimate is polled instead of waited for
 * @hbm_repair: the firmware reports the repair of HBM
 * @reset_timeout_ms: when a reset is given up
 */
struct trnhw_arch {
	const char *name;
	const char *product;
	u16 pci_device;
	u8 generation;
	u8 cores;
	u8 dies;
	u8 stacks;
	u8 engines;
	u8 h2t_cores;
	u8 top_sps;
	u64 bar0_size;
	u64 hbm_size;
	u64 host_base;
	u64 host_size;
	u64 (*hbm_base)(unsigned int stack);
	u64 (*hbm_bar4)(unsigned int stack);
	u32 (*tpb)(unsigned int core);
	u64 (*tpb_device)(unsigned int core);
	u32 (*nc_notific)(unsigned int core);
	u32 (*top_sp)(unsigned int index);
	u32 (*top_sp_notific)(unsigned int index);
	void (*engine_base)(unsigned int engine, struct trnhw_engine_base *base);
	unsigned int (*h2t_engine)(unsigned int core);
	unsigned int (*h2t_queue)(unsigned int core);
	u32 (*reset_map)(u32 core_mask);
	unsigned int (*neighbours)(u32 index, u32 total, u32 *neighbours);
	const u8 *routing;
	u32 misc;
	u32 sbuf_partition_bytes;
	u32 init;
	u32 init_outstanding;
	u32 init_data_fifo;
	u32 init_s2m_outstanding;
	u32 dma_timeout_us_per_desc;
	u32 dma_timeout_slack_us;
	u32 reset_timeout_ms;
	bool hbm_repair;
};

/** trnhw_arch_find() - table of a PCI device id, NULL when unknown. */
const struct trnhw_arch *trnhw_arch_find(u16 pci_device);
/** trnhw_arch_find_name() - the same of a short name, "trn1". */
const struct trnhw_arch *trnhw_arch_find_name(const char *name);

/**
 * struct trnhw_fwio - FWIO mailbox.
 * @request: coherent buffer of TRN_FWIO_BUFFER_SIZE bytes, read by the firmware
 * @response: the same, written by the firmware; nothing in it is trusted
 * @request_dma: bus address of @request
 * @response_dma: bus address of @response
 * @sequence: number of the last attempt, 1..255
 * @retries: attempts beyond the first since trnhw_init(), for statistics
 */
struct trnhw_fwio {
	u8 *request;
	u8 *response;
	dma_addr_t request_dma;
	dma_addr_t response_dma;
	u8 sequence;
	u32 retries;
};

#define TRNHW_ENGINES_MAX	192u	/* all generations, multiple of 64 */

/**
 * struct trnhw - one device as the hardware layer sees it; memory belongs to the caller.
 * @dev: for messages and coherent memory
 * @regs: BAR0
 * @ext: BAR2, or NULL without the open extension
 * @arch: constants of the product
 * @features: TRN_FEATURE_* that are usable
 * @vectors: interrupt vectors of the extension, 0 without it
 * @routing_id: position in the machine, 0..63
 * @serial: serial number, 0 when the firmware does not report one
 * @fwio: mailbox
 * @engine_known: engines whose queue configuration is cached (initialised once since load)
 * @engine_recovered: times each engine was taken out of an abort since trnhw_init()
 * @stopping: set by trnhw_stop(), never cleared
 */
struct trnhw {
	struct device *dev;
	u8 __iomem *regs;
	u8 __iomem *ext;
	const struct trnhw_arch *arch;
	u32 features;
	u32 vectors;
	u32 routing_id;
	u64 serial;
	struct trnhw_fwio fwio;
	u64 engine_known[TRNHW_ENGINES_MAX / 64];
	u32 engine_recovered[TRNHW_ENGINES_MAX];
	bool stopping;
};

/** trnhw_read() - one 32-bit register of BAR0; all ones when the device is gone. */
u32 trnhw_read(const struct trnhw *hw, u32 offset);
/** trnhw_write() - one 32-bit register of BAR0; earlier stores to host memory are visible first. */
void trnhw_write(const struct trnhw *hw, u32 offset, u32 value);
/** trnhw_ext_read() - one register of the open extension, 0 without it. */
u32 trnhw_ext_read(const struct trnhw *hw, u32 offset);
/** trnhw_ext_write() - the same for writing; no effect without the extension. */
void trnhw_ext_write(const struct trnhw *hw, u32 offset, u32 value);
/** trnhw_gone() - true when the registers read all ones (removed or link down). */
bool trnhw_gone(const struct trnhw *hw);
/** trnhw_stop() - end all waits of this device with -ENODEV, now and later; any context. */
void trnhw_stop(struct trnhw *hw);

/**
 * trnhw_init() - identify the device and allocate the mailbox.
 * @hw: filled; must not be in use
 * @dev: device for messages and coherent memory
 * @regs: BAR0, at least the product's bar0_size bytes
 * @ext: BAR2 of the open extension, NULL when absent
 * @pci_device: PCI device id
 * @features: TRN_FEATURE_* of the vendor-specific capability, 0 when absent
 * @vectors: vectors of the same
 *
 * Touches MISC RAM and the extension's identification only. Sleeps, up to 20 x 16 s when the
 * firmware is not ready. Extension registers that do not identify themselves switch the extension
 * off.
 *
 * Return: 0, -ENODEV unknown product or gone, -ETIMEDOUT device id not ready, -ENOMEM, -EIO host
 * memory out of the device's reach.
 */
int trnhw_init(struct trnhw *hw, struct device *dev, void __iomem *regs, void __iomem *ext,
	       u16 pci_device, u32 features, u32 vectors);
/** trnhw_fini() - free the mailbox; the device must not be able to write to it any more. */
void trnhw_fini(struct trnhw *hw);

/**
 * trnhw_reset_device() - documented handshake including resends; sleeps up to reset_timeout_ms and
 * one second. Return: 0, -ETIMEDOUT, -ENODEV. Afterwards: trnhw_start().
 */
int trnhw_reset_device(struct trnhw *hw);
/** trnhw_reset_cores() - the same for some cores. -EINVAL: empty or unknown @core_mask. */
int trnhw_reset_cores(struct trnhw *hw, u32 core_mask);
/**
 * trnhw_start() - init of every DMA engine of the cores in @core_mask, in the documented order
 * (after a reset), and of the host copy engines all of whose cores are in it: one that serves
 * another core too keeps working for that. Register accesses only, 2,500 to 6,500 per core.
 * Host copy queues need trnhw_copyq_init() or trnhw_copyq_reset() next, because the engine init
 * enables all queues of an engine whatever they held. Return: 0, -EINVAL, -ENODEV.
 */
int trnhw_start(struct trnhw *hw, u32 core_mask);

/**
 * trnhw_fwio_read() - values of device registers as the firmware sees them; sleeps, 15 attempts of
 * 1 s. @addresses: device addresses, @count at most TRNHW_FWIO_READ_MAX.
 *
 * Return: 0, -EINVAL, -ENODEV, -ETIMEDOUT no answer, -EOPNOTSUPP command unknown to the firmware,
 * -EIO malformed or failed answer; @values is written only with 0.
 */
int trnhw_fwio_read(struct trnhw *hw, const u64 *addresses, u32 *values, u32 count);
/** trnhw_fwio_post() - post @size bytes of metrics (1..TRN_MISC_METRIC_SIZE); as above. */
int trnhw_fwio_post(struct trnhw *hw, const void *payload, u16 size);
#define TRNHW_FWIO_READ_MAX	((TRN_FWIO_BUFFER_SIZE - TRN_FWIO_REQ_PAYLOAD) / 8)

/** enum trnhw_hbm_repair - what becomes of memory that failed. */
enum trnhw_hbm_repair {
	TRNHW_HBM_REPAIR_NONE,
	TRNHW_HBM_REPAIR_PENDING,	/* done with the next power cycle */
	TRNHW_HBM_REPAIR_FAILED,
	TRNHW_HBM_REPAIR_UNKNOWN,	/* the product or the firmware does not say */
};

/** struct trnhw_ecc - error counts since power-up; HBM: sum over the stacks. */
struct trnhw_ecc {
	u32 sram_corrected;
	u32 sram_uncorrected;
	u32 hbm_corrected;
	u32 hbm_uncorrected;
};

/** trnhw_ecc_read() - a register that is not ready counts as 0. */
void trnhw_ecc_read(const struct trnhw *hw, struct trnhw_ecc *ecc);
/** trnhw_hbm_repair_read() - one of enum trnhw_hbm_repair, whatever the device says. */
enum trnhw_hbm_repair trnhw_hbm_repair_read(const struct trnhw *hw);
/**
 * trnhw_power_read() - utilisation in 1/100 %, of the die that is used most.
 * Return: 0, -ENODATA when the firmware does not report it, -ENODEV when the device is gone.
 */
int trnhw_power_read(const struct trnhw *hw, u32 *utilisation);

/** trnhw_host_address() - bus address -> device address; 0 when not reachable. */
u64 trnhw_host_address(const struct trnhw *hw, dma_addr_t bus);
/** trnhw_hbm_address() - device address of a byte of a stack; @stack and @offset are in range. */
u64 trnhw_hbm_address(const struct trnhw *hw, unsigned int stack, u64 offset);
/** trnhw_sbuf_address() - device address of a byte of a core's SBUF partition. */
u64 trnhw_sbuf_address(const struct trnhw *hw, unsigned int core, u32 partition, u32 offset);
/** trnhw_sem_inc_address() - where a 4-byte write increments a semaphore of @core. */
u64 trnhw_sem_inc_address(const struct trnhw *hw, unsigned int core, unsigned int index);

/**
 * struct trnhw_queue_rings - descriptor rings of a queue.
 * @m2s: device address of the source ring, multiple of TRN_RING_ALIGN; 0: none yet
 * @s2m: the same for destinations
 * @m2s_count: descriptors, multiple of TRN_RING_MULTIPLE, TRN_RING_MIN..TRN_RING_MAX
 * @s2m_count: the same; may differ from @m2s_count
 */
struct trnhw_queue_rings {
	u64 m2s;
	u64 s2m;
	u32 m2s_count;
	u32 s2m_count;
};

/** trnhw_udma_engine_init() - documented init trace of one engine; does not sleep. */
void trnhw_udma_engine_init(struct trnhw *hw, unsigned int engine);
/** trnhw_udma_queue_init() - documented queue init; enabled afterwards. -EINVAL: bad ring. */
int trnhw_udma_queue_init(struct trnhw *hw, unsigned int engine, unsigned int queue,
			  const struct trnhw_queue_rings *rings);
/**
 * trnhw_udma_queue_rewind() - back to descriptor 0 and ring id 1, ring and enable kept: two
 * register writes whatever the ring's size. The queue must have no work under way. Called before
 * each run of a program for each of its rings, so that every run finds them as trnhw_ring_fill()
 * left them.
 */
void trnhw_udma_queue_rewind(struct trnhw *hw, unsigned int engine, unsigned int queue);
/**
 * trnhw_udma_queue_idle() - every descriptor posted to the queue is done, in both directions.
 * What was in flight when a queue that is not idle is stopped may move for another
 * TRNHW_QUEUE_SETTLE_MS (documented wait after a process ends).
 */
bool trnhw_udma_queue_idle(const struct trnhw *hw, unsigned int engine, unsigned int queue);
#define TRNHW_QUEUE_SETTLE_MS	10u
/**
 * trnhw_udma_queue_stop() - disable, reset pointers, forget the ring (length 0): nothing more is
 * fetched from it, also not after an engine init. What was fetched before may still move data for a
 * moment; a caller who stopped a busy queue waits TRNHW_DRAIN_MS before it reuses the memory.
 */
void trnhw_udma_queue_stop(struct trnhw *hw, unsigned int engine, unsigned int queue);
#define TRNHW_DRAIN_MS	10
/** trnhw_udma_queue_ring() - doorbells: S2M first, then M2S; @count pairs, not 0. */
void trnhw_udma_queue_ring(struct trnhw *hw, unsigned int engine, unsigned int queue, u32 count);

#define TRNHW_UDMA_IDLE		0
#define TRNHW_UDMA_NORMAL	1
#define TRNHW_UDMA_ABORT	2
/** trnhw_udma_state() - TRNHW_UDMA_*, -ENODEV when the device is gone, -EINVAL no such engine. */
int trnhw_udma_state(const struct trnhw *hw, unsigned int engine);
/**
 * trnhw_udma_recover() - clear an abort and re-initialise the engine. All its queues forget their
 * rings, so nothing old runs again: follow with queue_init for each queue in use. Adds one to
 * trnhw.engine_recovered when it is done.
 */
void trnhw_udma_recover(struct trnhw *hw, unsigned int engine);

#define TRNHW_XFER_BARRIER	0x1u	/* written before later ones proceed */
#define TRNHW_XFER_INTERRUPT	0x2u	/* raise the engine's vector when done */

/**
 * struct trnhw_xfer - one transfer with resolved device addresses.
 * @src: source device address
 * @dst: destination device address
 * @len: 1..TRN_DESC_MAX_BYTES
 * @flags: TRNHW_XFER_*
 */
struct trnhw_xfer {
	u64 src;
	u64 dst;
	u32 len;
	u32 flags;
};

/** trnhw_desc_encode() - one M2S/S2M pair; @ring_id modulo 4. */
void trnhw_desc_encode(const struct trnhw_xfer *xfer, unsigned int ring_id, struct trn_desc *m2s,
		       struct trn_desc *s2m);

/**
 * struct trnhw_range - device memory a transfer may touch. A table of them is sorted by base and
 * does not overlap; a table that breaks this can only refuse more, never allow more.
 */
struct trnhw_range {
	u64 base;
	u64 size;
	u32 access;			/* TRN_ACCESS_READ, TRN_ACCESS_WRITE */
};

/**
 * trnhw_xfer_check() - may this transfer touch only @ranges? Overflow-safe; each side may span
 * ranges that touch.
 * Return: 0, -EINVAL bad length or flags, -EACCES source or destination outside (@bad_address,
 * which may be NULL, receives the first byte refused).
 */
int trnhw_xfer_check(const struct trnhw_xfer *xfer, const struct trnhw_range *ranges,
		     unsigned int count, u64 *bad_address);
/**
 * trnhw_ring_check() - does an encoded ring (as user space could have written it) touch only
 * @ranges? Only what trnhw_ring_fill() can produce is accepted. Each descriptor is read once.
 * Errors as trnhw_xfer_check(); @bad_index and @bad_address may be NULL.
 */
int trnhw_ring_check(const struct trn_desc *m2s, const struct trn_desc *s2m, u32 count,
		     const struct trnhw_range *ranges, unsigned int range_count, u32 *bad_index,
		     u64 *bad_address);
/**
 * trnhw_ring_count() - descriptors to allocate for @count transfers: one spare, padded to the ring
 * rules; 0 when @count is 0 or too many.
 */
u32 trnhw_ring_count(u32 count);
/**
 * trnhw_ring_fill() - encode @count transfers into rings of @ring_count = trnhw_ring_count(@count).
 *
 * The rest is filled with 4-byte copies from @pad to @pad + 4 (device address of 8 bytes the ring's
 * owner may read and write). They exist for the size rules of a ring and are never triggered by a
 * correct program; one that triggers too much hits them without harm. A ring does not end where it
 * began: before each run trnhw_udma_queue_rewind() starts it again at descriptor 0 with ring id 1.
 */
void trnhw_ring_fill(const struct trnhw_xfer *xfers, u32 count, u64 pad, struct trn_desc *m2s,
		     struct trn_desc *s2m, u32 ring_count);

#define TRNHW_COPYQ_DESCS	8192u
#define TRNHW_COPYQ_BATCH	2032u		/* data descriptors per batch */
#define TRNHW_COPYQ_GAP		16u		/* descriptors of the ring that stay free */
#define TRNHW_COPYQ_INFLIGHT	256u		/* batches */

/** struct trnhw_copyq_marker - completion marker of a batch: the device copies src to dst. */
struct trnhw_copyq_marker {
	u32 src;
	u32 dst;
};

/**
 * struct trnhw_copyq - host copy queue: kernel-owned rings of the queue that serves a core.
 * @hw: device
 * @engine: DMA engine; on some products other queues of it serve other cores
 * @queue: queue of @engine
 * @recovered: trnhw.engine_recovered of @engine when the queue was programmed
 * @m2s: source ring
 * @s2m: destination ring
 * @m2s_dma: bus address of @m2s
 * @s2m_dma: bus address of @s2m
 * @marker: TRNHW_COPYQ_INFLIGHT markers; batch n uses n % TRNHW_COPYQ_INFLIGHT
 * @marker_dma: bus address of @marker
 * @descs: descriptors of each batch in flight, by the same index
 * @next: producer index, free-running
 * @done: descriptors credited, free-running
 * @issued: batches issued; the marker of a batch carries the low 32 bits of its number
 * @completed: batches completed, in order
 */
struct trnhw_copyq {
	struct trnhw *hw;
	unsigned int engine;
	unsigned int queue;
	u32 recovered;
	struct trn_desc *m2s;
	struct trn_desc *s2m;
	dma_addr_t m2s_dma;
	dma_addr_t s2m_dma;
	struct trnhw_copyq_marker *marker;
	dma_addr_t marker_dma;
	u16 descs[TRNHW_COPYQ_INFLIGHT];
	u32 next;
	u32 done;
	u64 issued;
	u64 completed;
};

/** trnhw_copyq_init() - allocate rings and program the queue of @core. -ENOMEM, -EIO, -EINVAL. */
int trnhw_copyq_init(struct trnhw_copyq *q, struct trnhw *hw, unsigned int core);
/** trnhw_copyq_fini() - stop the queue and free its memory; no batch may be in flight. */
void trnhw_copyq_fini(struct trnhw_copyq *q);
/**
 * trnhw_copyq_submit() - one batch: @count transfers, then the completion marker; one pair of
 * doorbells. Does not sleep.
 * @q: queue
 * @xfers: any mix of directions, each 1..TRN_DESC_MAX_BYTES; addresses are the caller's business
 * @count: 1..TRNHW_COPYQ_BATCH
 * @interrupt: ask for an interrupt on the marker (ignored without the open extension)
 * @batch: number to wait for; numbers start at 1 and complete in order
 *
 * Return: 0, -EAGAIN ring full (poll, then retry), -EINVAL.
 */
int trnhw_copyq_submit(struct trnhw_copyq *q, const struct trnhw_xfer *xfers, u32 count,
		       bool interrupt, u64 *batch);
/**
 * trnhw_copyq_lost() - another queue of the engine has taken it out of an abort since this one was
 * programmed: what was in flight never completes, and trnhw_copyq_reset() is due. Reads host memory
 * only.
 */
bool trnhw_copyq_lost(const struct trnhw_copyq *q);
/** trnhw_copyq_poll() - batches completed so far; reads host memory only. */
u64 trnhw_copyq_poll(struct trnhw_copyq *q);
/**
 * trnhw_copyq_budget_us() - documented completion time limit for @count data descriptors; add up
 * the descriptors of everything in flight before.
 */
u64 trnhw_copyq_budget_us(const struct trnhw_copyq *q, u32 count);
/**
 * trnhw_copyq_reset() - after a time-out or a reset: re-initialise the queue, and the engine when
 * it is in abort. Batches after the number trnhw_copyq_poll() returned last are lost; the caller
 * has failed them before, because afterwards they count as completed. Return: 0, -EIO engine still
 * in abort, -ENODEV.
 */
int trnhw_copyq_reset(struct trnhw_copyq *q);

#define TRNHW_SQ_ENTRIES	64u
#define TRNHW_NQ_ENTRIES	256u

/**
 * struct trnhw_core - submission queue and notification queue of a core (open extension).
 * @hw: device
 * @index: core number
 * @sq: TRNHW_SQ_ENTRIES requests
 * @sq_dma: bus address of @sq
 * @nq: TRNHW_NQ_ENTRIES notifications, written by the device
 * @nq_dma: bus address of @nq
 * @tail: requests submitted, free-running
 * @finished: requests whose RUN_END was consumed, free-running
 * @nq_next: entries consumed, free-running
 * @nq_reported: the value of @nq_next the device knows
 * @malformed: entries dropped because they made no sense, since init
 * @running: between start and stop
 */
struct trnhw_core {
	struct trnhw *hw;
	unsigned int index;
	struct trn_run_request *sq;
	dma_addr_t sq_dma;
	struct trn_notification *nq;
	dma_addr_t nq_dma;
	u32 tail;
	u32 finished;
	u32 nq_next;
	u32 nq_reported;
	u32 malformed;
	bool running;
};

/** trnhw_core_init() - allocate. -EOPNOTSUPP: device runs no programs; -ENOMEM, -EINVAL, -EIO. */
int trnhw_core_init(struct trnhw_core *core, struct trnhw *hw, unsigned int index);
/** trnhw_core_fini() - free; stops the core first when it runs (then it sleeps). */
void trnhw_core_fini(struct trnhw_core *core);
/** trnhw_core_start() - enable with empty queues; does not sleep. -ENODEV, -EIO not accepted. */
int trnhw_core_start(struct trnhw_core *core);
/**
 * trnhw_core_stop() - abort the run, drop the requests behind it, disable, silence the NQ. Sleeps,
 * at most 100 ms. Return: 0, -ETIMEDOUT the core still runs (reset it), -ENODEV.
 */
int trnhw_core_stop(struct trnhw_core *core);
/**
 * trnhw_core_submit() - copy @request into the queue; the doorbell is trnhw_core_ring(), one per
 * batch. Does not sleep. Return: 0, -EAGAIN when full, -EINVAL reserved field set, -ENODEV stopped.
 */
int trnhw_core_submit(struct trnhw_core *core, const struct trn_run_request *request);
/** trnhw_core_ring() - doorbell for all requests submitted so far. */
void trnhw_core_ring(struct trnhw_core *core);
/**
 * trnhw_core_poll() - next notification, false when none; does not sleep. @entry is a validated
 * copy in CPU byte order. Malformed entries are dropped and counted. The device learns of consumed
 * entries when the queue was found empty, and every quarter of the queue: poll until false.
 */
bool trnhw_core_poll(struct trnhw_core *core, struct trn_notification *entry);
/** trnhw_core_progress() - requests the device says it finished; free-running, at most @tail. */
u32 trnhw_core_progress(const struct trnhw_core *core);
/** trnhw_core_resume() - go on after a faulted run. */
void trnhw_core_resume(struct trnhw_core *core);

/** trnhw_sem_read() - semaphore @index of @core; 0 when there is no such one. */
s32 trnhw_sem_read(struct trnhw *hw, unsigned int core, unsigned int index);
/** trnhw_sem_set() - no effect when there is no such one, as below. */
void trnhw_sem_set(struct trnhw *hw, unsigned int core, unsigned int index, s32 value);
/** trnhw_sem_add() - @value may be negative; atomic on the device. */
void trnhw_sem_add(struct trnhw *hw, unsigned int core, unsigned int index, s32 value);
/** trnhw_event_read() - 0 or 1. */
u32 trnhw_event_read(struct trnhw *hw, unsigned int core, unsigned int index);
/** trnhw_event_write() - 0 clears, anything else sets. */
void trnhw_event_write(struct trnhw *hw, unsigned int core, unsigned int index, u32 value);

/** trnhw_irq_mask() - events on @vector become pending and send no message from now on. */
void trnhw_irq_mask(struct trnhw *hw, unsigned int vector);
/** trnhw_irq_unmask() - sends at once when an event came while masked. */
void trnhw_irq_unmask(struct trnhw *hw, unsigned int vector);

/** trnhw_device_index() - device index of a routing id for this product; -EINVAL above 63. */
int trnhw_device_index(const struct trnhw_arch *arch, u32 routing_id);
/** trnhw_routing_id() - the inverse. */
int trnhw_routing_id(const struct trnhw_arch *arch, u32 index);
/**
 * trnhw_device_neighbours() - device indices linked to @index in a machine of @total devices, in
 * the order of the links: up, left, down, right for Trn1; of the group of engines whose link goes
 * there for Trn2.
 * Return: how many of @neighbours were written; 0 for a machine without the documented topology.
 */
unsigned int trnhw_device_neighbours(const struct trnhw_arch *arch, u32 index, u32 total,
				     u32 neighbours[TRNHW_NEIGHBOURS_MAX]);

#endif /* TRNHW_H */
