/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside of the device model: the structures its parts share. Not for users of the model, who
 * include emu.h.
 *
 * Locking, outermost first; none is held while a host operation, a core or another part's entry
 * point is called:
 *   emu_device.reset_lock	one reset or destruction at a time (held while waiting for workers)
 *   emu_unit.lock		submission queue of a core
 *   emu_dma_engine.lock		queues of a DMA engine
 *   emu_notific.lock		notification rings of a block
 *   emu_irq.lock		mask and pending bits
 *   emu_links.update, .lock	states of the links; then emu_port.lock, which is a leaf
 *   emu_device.complaint_lock	text of the last complaint
 *   emu_worker.lock		leaf
 */
#ifndef EMU_DEVICE_H
#define EMU_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include "core.h"
#include "emu.h"
#include "link.h"
#include "product.h"
#include "trainium/desc.h"
#include "trainium/ext.h"
#include "trainium/notify.h"
#include "trainium/regs.h"
#include "worker.h"

#define EMU_MAX_ENGINES 132
#define EMU_MAX_TOP_SPS 20
#define EMU_MAX_DIES	2
#define EMU_MAX_VECTORS (1 + TRN_MAX_CORES + 8)
#define EMU_MAX_GROUPS	(TRN_MAX_CORES + 8)
/*
 * Time for which a write that takes memory away from the device waits for the access under way:
 * longer than any takes, on a loaded machine too, unless the host hangs.
 */
#define EMU_SETTLE_MS 500u
#define EMU_BATCH \
	64 /* descriptors fetched and executed between two looks at the queue's registers */

/** struct emu_origin - who causes a register write. */
struct emu_origin {
	unsigned int depth; /* doorbells written by DMA in a row: 0 from the host or a core */
	bool program; /* a running program: its mistakes are its faults, not the guest driver's */
};

/** struct emu_block - one block of BAR0; @store holds its plain registers, NULL when it has none.
 */
struct emu_block {
	uint64_t base;
	uint32_t size;
	enum emu_block_kind kind;
	unsigned int index;
	_Atomic uint32_t *store;
};

enum emu_direction {
	EMU_M2S,
	EMU_S2M,
};

/** struct emu_ring - one direction of a queue; emu_dma_engine.lock, but @moved. */
struct emu_ring {
	uint64_t base;
	uint32_t length, cfg;
	uint64_t posted, done;	/* descriptors since the last queue reset */
	_Atomic uint32_t moved; /* of the batch under way; written by the worker alone */
	unsigned int depth;	/* origin of the last doorbell */
	bool program;		/* the same */
};

/** struct emu_packet - descriptors and bytes of the packet under way, @open between FIRST and LAST.
 */
struct emu_packet {
	uint32_t descs, bytes;
	bool open;
};

/** struct emu_queue - a pair of rings. */
struct emu_queue {
	struct emu_ring ring[2];
	uint64_t generation;	 /* emu_dma_engine.lock: counts what makes a batch under way void */
	bool in_batch;		 /* emu_dma_engine.lock */
	bool executing;		 /* emu_dma_engine.lock: by the worker, void or not */
	bool overdue;		 /* emu_dma_engine.lock: a write waited in vain, enough for all */
	atomic_bool interrupted; /* the worker looks at the registers again after the present
				    descriptor */
	/* The packet under way, written back by the worker at the end of a batch. */
	uint32_t offset[2]; /* bytes moved of the first descriptor not done */
	struct emu_packet packet;
	struct emu_far_op *far; /* what it asks of a neighbour in another process; of the worker */
};

enum emu_udma_state {
	EMU_UDMA_IDLE,
	EMU_UDMA_NORMAL,
	EMU_UDMA_DISABLED,
	EMU_UDMA_ABORT,
};

/** struct emu_nq - a slot of a NOTIFIC block; emu_notific.lock. */
struct emu_nq {
	uint64_t base;
	uint32_t size, head, tail;
	uint32_t reserved, finished; /* entries handed to producers, entries written */
	uint64_t generation;
	uint32_t writing; /* entries under way, of this ring and of those before it */
	bool overdue;	  /* a write waited for them, long enough for all */
	/* by a valid SIZE, until BASE is written: half an address must not be written to */
	bool armed;
	bool overflow;
};

/** struct emu_notific - a NOTIFIC block. */
struct emu_notific {
	pthread_mutex_t lock;
	pthread_cond_t settled; /* an entry is no longer under way */
	struct emu_nq nq[TRN_NQ_SLOTS];
};

/** struct emu_dma_engine - a DMA engine. */
struct emu_dma_engine {
	struct emu_device *device;
	unsigned int id;
	int core; /* owner, -1: host copy engine */
	unsigned int vector;
	struct emu_group *group;
	struct emu_block *udma, *sdma, *fis; /* fis: NULL where there is none */
	struct emu_notific notific;
	pthread_mutex_t lock;
	pthread_cond_t settled; /* a queue is no longer executing; for waiters */
	unsigned int waiters;
	enum emu_udma_state state[2];
	struct emu_queue queue[TRN_UDMA_QUEUES];
	_Atomic uint32_t ready;	      /* queues that may have work */
	struct emu_engine_time *time; /* time mode only */
};

/** struct emu_group - DMA engines served by one thread. */
struct emu_group {
	struct emu_device *device;
	struct emu_worker worker;
	unsigned int first, count;
	_Atomic uint32_t ready; /* engines of the group that may have work */
};

/** struct emu_window_table - protection windows of the present run; owned by the core's worker. */
struct emu_window_table {
	struct trn_window *window;
	uint32_t count;
	bool enforced;
};

/** struct emu_unit - a core with what the device adds: submission queue, notification block. */
struct emu_unit {
	struct emu_device *device;
	unsigned int index;
	struct emu_core *core;
	struct emu_worker worker;
	struct emu_notific notific;
	struct emu_window_table windows;

	pthread_mutex_t lock;
	uint64_t sq_base;
	uint32_t sq_size, sq_tail, sq_head, status;
	bool enabled;
	bool held;	     /* a reset is under way: nothing may start */
	uint64_t generation; /* counts resets, aborts and enables; a run begun before is void */
	uint64_t engine_base[TRN_ENGINE_MAX];
	uint32_t engine_count[TRN_ENGINE_MAX], engine_status[TRN_ENGINE_MAX];
	uint32_t engine_fault[TRN_ENGINE_MAX], engine_fault_tag[TRN_ENGINE_MAX];
	uint32_t debug_start; /* engines to start by their control register */

	atomic_bool stopping; /* the run under way must end with TRN_FAULT_STOPPED */
	atomic_bool running;
	_Atomic uint64_t busy_ns, run_start_ns;
	/* activity counters: where they start; the idle time shown last; offset and lower half of
	 * the counter whose upper half was read last */
	_Atomic uint64_t pe_start_ns, pe_start_busy_ns, pe_idle_ns, pe_latch;
};

/** struct emu_sync - semaphores and events of a TOP_SP. */
struct emu_sync {
	_Atomic uint32_t sem[TRN_SEM_COUNT];
	_Atomic uint32_t event[TRN_EVENT_COUNT];
};

/** struct emu_irq - interrupt vectors of the extension. */
struct emu_irq {
	pthread_mutex_t lock;
	unsigned int count;
	bool masked[EMU_MAX_VECTORS], pending[EMU_MAX_VECTORS];
};

/** struct emu_power - power samples of a die. */
struct emu_power {
	_Atomic uint64_t stamp, busy;
	_Atomic uint32_t util;
};

/** struct emu_firmware - management processor. */
struct emu_firmware {
	struct emu_worker worker;
	atomic_bool trigger, resetting;
	uint8_t *request, *response; /* FWIO buffers, firmware thread only */
	struct emu_power power[EMU_MAX_DIES];
};

/** enum emu_fault_id - faults on demand, in the order of fault.c. */
enum emu_fault_id {
	EMU_FAULT_IRQ_LOST,
	EMU_FAULT_IRQ_SPURIOUS,
	EMU_FAULT_COMPLETION_LATE,
	EMU_FAULT_COMPLETION_MISSING,
	EMU_FAULT_COMPLETION_DOUBLE,
	EMU_FAULT_FW_SILENT,
	EMU_FAULT_FW_CRC,
	EMU_FAULT_FW_LYING,
	EMU_FAULT_RESET_SLOW,
	EMU_FAULT_RESET_FAIL,
	EMU_FAULT_RESET_TWICE,
	EMU_FAULT_REGS_ALL_ONES,
	EMU_FAULT_ENGINE_HANG,
	EMU_FAULT_ECC_CORRECTABLE,
	EMU_FAULT_ECC_UNCORRECTABLE,
	EMU_FAULT_FW_SEQUENCE,
	EMU_FAULT_NOTIFY_PHASE,
	EMU_FAULT_ECC_CORRECTABLE_AT,
	EMU_FAULT_ECC_UNCORRECTABLE_AT,
	EMU_FAULT_CORE_HANG,
	EMU_FAULT_CORE_HANG_AT,
	EMU_FAULT_REMOVAL,
	EMU_FAULT_LINK_DOWN,
	EMU_FAULT_COUNT,
};

/** enum emu_stat_id - statistics, in the order of stat.c. */
enum emu_stat_id {
	EMU_STAT_REGISTER_READS,
	EMU_STAT_REGISTER_WRITES,
	EMU_STAT_DOORBELLS,
	EMU_STAT_DESCRIPTORS,
	EMU_STAT_DMA_BYTES,
	EMU_STAT_DMA_ERRORS,
	EMU_STAT_RUNS,
	EMU_STAT_RUN_FAULTS,
	EMU_STAT_NOTIFICATIONS,
	EMU_STAT_INTERRUPTS,
	EMU_STAT_RESETS,
	EMU_STAT_FW_REQUESTS,
	EMU_STAT_FAULTS,
	EMU_STAT_LINK_ERRORS,
	EMU_STAT_COUNT,
};

/** enum emu_ecc - kinds of error at an address. */
enum emu_ecc {
	EMU_ECC_CORRECTABLE,
	EMU_ECC_UNCORRECTABLE,
};

/** struct emu_device - the device. */
struct emu_device {
	const struct emu_product *product;
	const struct emu_host_ops *ops;
	void *opaque;
	uint32_t routing_id, features;
	uint64_t serial;
	atomic_bool bus_master;
	atomic_bool stopping; /* workers return at once; set during reset and destruction */
	pthread_mutex_t reset_lock;

	uint8_t *hbm;			/* BAR4 */
	uint64_t hbm_bytes, hbm_stride; /* of a stack: what is backed, its slot in BAR4 */
	uint8_t *plain;			/* the product's plain ranges, one behind the other */
	size_t plain_size;
	void *store; /* plain registers of all blocks */
	size_t store_size;
	struct emu_block *block; /* sorted by base */
	unsigned int block_count;
	struct emu_block *misc;

	struct emu_dma_engine *engine;
	struct emu_group group[EMU_MAX_GROUPS];
	unsigned int group_count;
	struct emu_unit unit[TRN_MAX_CORES];
	struct emu_sync top_sp[EMU_MAX_TOP_SPS];
	struct emu_notific top_sp_notific[EMU_MAX_TOP_SPS];
	struct emu_irq irq;
	struct emu_timing *timing; /* time mode only */
	struct emu_firmware firmware;
	struct emu_links links;
	_Atomic uint64_t fault[EMU_FAULT_COUNT];
	_Atomic uint64_t ecc_at[2]; /* 1 + offset in BAR4 of the bad word, 0: none; enum emu_ecc */
	_Atomic uint32_t ecc_stack[2]; /* where it is; written first */
	_Atomic uint64_t stat[EMU_STAT_COUNT];
	_Atomic uint32_t clock_high;

	pthread_mutex_t complaint_lock;
	char complaint_text[256];
	_Atomic uint32_t complaint_last;
	_Atomic uint64_t complaint[EMU_COMPLAINT_COUNT];
};

/* complaint.c */
/** emu_complain() - count a mistake of the guest and keep its description. Any thread, no lock of
 * higher rank needed. */
void emu_complain(struct emu_device *device, enum emu_complaint kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void emu_complaint_clear(struct emu_device *device);

/* decode.c */
/** enum emu_target_kind - what a device address leads to. */
enum emu_target_kind {
	EMU_TARGET_NONE,
	EMU_TARGET_MEMORY,   /* HBM or SBUF: @ptr */
	EMU_TARGET_HOST,     /* bus address @addr */
	EMU_TARGET_REGISTER, /* BAR0 offset @addr */
	EMU_TARGET_LINK,     /* address @addr at the neighbour of link @link */
};

/** struct emu_target - result of decoding; @len bytes from the address on are of the same kind and
 * contiguous. */
struct emu_target {
	enum emu_target_kind kind;
	struct emu_device *device; /* where it is */
	unsigned int link;
	uint8_t *ptr;
	uint64_t addr;
	uint64_t len;
};

/** emu_decode() - what @len bytes at device address @addr are; the result may be shorter, never 0
 * unless EMU_TARGET_NONE. */
void emu_decode(struct emu_device *device, uint64_t addr, uint64_t len, struct emu_target *target);

/* hbm.c */
#define EMU_HBM_MIN (64ull << 20) /* bytes of the smallest stack */
int emu_hbm_create(struct emu_device *device);
void emu_hbm_destroy(struct emu_device *device);
/** emu_hbm_power_up() - zero the plain ranges; HBM keeps its content. Workers are asleep. */
void emu_hbm_power_up(struct emu_device *device);
/** emu_hbm_size_valid() - may a stack of @product have @bytes? */
bool emu_hbm_size_valid(const struct emu_product *product, uint64_t bytes);

/* memory.c; all from worker threads or a register access, no lock held. Return 0, or, at the first
 * byte that cannot be reached, -1: nothing is there, or EMU_MEMORY_ECC: it is damaged, which is
 * nobody's mistake. */
#define EMU_MEMORY_ECC (-2)
int emu_memory_read(struct emu_device *device, uint64_t addr, void *buf, size_t len);
int emu_memory_write(struct emu_device *device, uint64_t addr, const void *buf, size_t len,
		     struct emu_origin origin);

/** enum emu_copy_error - which side of a copy failed. */
enum emu_copy_error {
	EMU_COPY_OK,
	EMU_COPY_SOURCE,
	EMU_COPY_DESTINATION,
	EMU_COPY_ECC,  /* the source is damaged */
	EMU_COPY_WAIT, /* neither: a link is not up, or has not answered yet */
};

enum emu_copy_error emu_memory_copy(struct emu_device *device, uint64_t dst, uint64_t src,
				    size_t len, struct emu_origin origin);
/** emu_target_copy() - one piece of a copy, between what two decodes found, on one device or on
 * two; *@done receives its length. */
enum emu_copy_error emu_target_copy(struct emu_target *dst, struct emu_target *src,
				    struct emu_origin origin, size_t *done);

/* link_copy.c */
/** emu_copy_over_link() - does a copy between @dst and @src concern a link? */
bool emu_copy_over_link(struct emu_device *device, uint64_t dst, uint64_t src);
/** emu_link_copy() - a copy that does; *@moved receives the bytes moved, also when it is not
 * EMU_COPY_OK: with EMU_COPY_WAIT the queue is woken when it is worth to go on there. */
enum emu_copy_error emu_link_copy(const struct emu_copy_request *request, size_t *moved);

/* regs.c; word accesses of BAR0 */
struct emu_block *emu_block_find(struct emu_device *device, uint64_t offset);
uint32_t emu_register_read(struct emu_device *device, uint64_t offset);
void emu_register_write(struct emu_device *device, uint64_t offset, uint32_t value,
			struct emu_origin origin);
/** emu_register_part_read(), emu_register_part_write() - access of less than a word, @size 1 to 3.
 * Return: false when it is not to a core's memory inside one word. */
bool emu_register_part_read(struct emu_device *device, uint64_t offset, unsigned int size,
			    uint32_t *value);
bool emu_register_part_write(struct emu_device *device, uint64_t offset, unsigned int size,
			     uint32_t value);
int emu_blocks_create(struct emu_device *device);
void emu_blocks_destroy(struct emu_device *device);
uint32_t emu_store_read(const struct emu_block *block, uint32_t offset);
void emu_store_write(struct emu_block *block, uint32_t offset, uint32_t value);

/* iofic.c; a group is TRN_IOFIC_SIZE bytes of registers */
uint32_t emu_iofic_read(const _Atomic uint32_t *group, uint32_t reg);
/** emu_iofic_write() - Return: false when the register is read-only. */
bool emu_iofic_write(_Atomic uint32_t *group, uint32_t reg, uint32_t value);
void emu_iofic_latch(_Atomic uint32_t *group, uint32_t cause);
void emu_iofic_power_up(_Atomic uint32_t *group);

/* fis.c */
uint32_t emu_fis_read(struct emu_device *device, const struct emu_block *block, uint32_t offset);
void emu_fis_write(struct emu_device *device, const struct emu_block *block, uint32_t offset,
		   uint32_t value);
/** emu_fis_latch() - causes of groups 2 and 3; @block NULL: the engine has no such block. */
void emu_fis_latch(const struct emu_block *block, uint32_t m2s, uint32_t s2m);

/* ext.c; BAR2 */
uint32_t emu_ext_read(struct emu_device *device, uint32_t offset);
void emu_ext_write(struct emu_device *device, uint32_t offset, uint32_t value);

/* udma_regs.c */
int emu_engines_create(struct emu_device *device);
void emu_engines_destroy(struct emu_device *device);
void emu_engines_power_up(struct emu_device *device);
/** emu_dma_engine_reset() - what a reset by the firmware does: leaves queues alone, ends an abort.
 */
void emu_dma_engine_reset(struct emu_dma_engine *engine);
uint32_t emu_udma_read(struct emu_dma_engine *engine, uint32_t offset);
void emu_udma_write(struct emu_dma_engine *engine, uint32_t offset, uint32_t value,
		    struct emu_origin origin);
/** emu_udma_doorbell() - Return: 0, or -1 when it was refused (counted). */
int emu_udma_doorbell(struct emu_dma_engine *engine, enum emu_direction dir, unsigned int queue,
		      uint32_t count, struct emu_origin origin);
/** emu_udma_runnable() - engine lock held: both rings of the queue have work and may proceed. */
bool emu_udma_runnable(const struct emu_dma_engine *engine, const struct emu_queue *queue);
/** emu_dma_engine_kick() - let the worker look at all queues in @mask. */
void emu_dma_engine_kick(struct emu_dma_engine *engine, uint32_t mask);
bool emu_udma_register_known(uint32_t offset);
/** emu_udma_axi_latch() - error status of a queue, a bit for each kind of access that failed. */
void emu_udma_axi_latch(struct emu_dma_engine *engine, unsigned int q, uint32_t bits);

/* udma.c */
void emu_group_work(void *group);

/* misc_ram.c, firmware.c */
uint32_t emu_misc_read(struct emu_device *device, uint32_t offset);
void emu_misc_write(struct emu_device *device, uint32_t offset, uint32_t value);
void emu_misc_power_up(struct emu_device *device);
int emu_firmware_create(struct emu_device *device);
void emu_firmware_destroy(struct emu_device *device);
void emu_firmware_trigger(struct emu_device *device);
uint32_t emu_crc32c(const void *data, size_t len);

/* notify.c */
void emu_notific_init(struct emu_notific *notific);
void emu_notific_destroy(struct emu_notific *notific);
void emu_notific_clear(struct emu_notific *notific);
uint32_t emu_notific_read(struct emu_device *device, struct emu_notific *notific, uint32_t offset);
void emu_notific_write(struct emu_device *device, struct emu_notific *notific, uint32_t offset,
		       uint32_t value);
/** emu_notific_post() - append an entry; phase, overflow flag and timestamp are filled in. Return:
 * false when it was not written. */
bool emu_notific_post(struct emu_device *device, struct emu_notific *notific, unsigned int slot,
		      const struct trn_notification *entry);

/* tpb.c, sync.c, submit.c, window.c */
uint32_t emu_tpb_read(struct emu_unit *unit, uint32_t offset);
void emu_tpb_write(struct emu_unit *unit, uint32_t offset, uint32_t value);
/** emu_tpb_is_memory() - is SBUF or PSUM behind @offset of the window? */
bool emu_tpb_is_memory(uint32_t offset);
void emu_tpb_part_write(struct emu_unit *unit, uint32_t offset, unsigned int size, uint32_t value);
uint32_t emu_top_sp_read(struct emu_device *device, unsigned int index, uint32_t offset);
void emu_top_sp_write(struct emu_device *device, unsigned int index, uint32_t offset,
		      uint32_t value);
void emu_top_sp_clear(struct emu_device *device, unsigned int index);
uint32_t emu_pe_counter_read(struct emu_unit *unit, uint32_t offset);
int emu_units_create(struct emu_device *device);
void emu_units_destroy(struct emu_device *device);
/** emu_unit_reset() - stop the run, wait for it, core and submission queue to power-up. Not from
 * the core's own thread. */
void emu_unit_reset(struct emu_unit *unit);
uint32_t emu_unit_core_read(struct emu_unit *unit, uint32_t reg);
void emu_unit_core_write(struct emu_unit *unit, uint32_t reg, uint32_t value);
uint32_t emu_unit_engine_read(struct emu_unit *unit, unsigned int engine, uint32_t reg);
void emu_unit_engine_write(struct emu_unit *unit, unsigned int engine, uint32_t reg,
			   uint32_t value);
/** emu_unit_post() - in time mode, the core has something to do from now on: before its worker is
 * kicked. */
void emu_unit_post(struct emu_unit *unit);
/** emu_unit_dma_error() - a queue of the core's DMA engines failed at @addr. */
void emu_unit_dma_error(struct emu_unit *unit, uint64_t addr);
/** emu_unit_busy_ns() - time the core spent in runs, including the present one. */
uint64_t emu_unit_busy_ns(struct emu_unit *unit);
extern const struct emu_core_ops emu_unit_core_ops;

/** emu_windows_load() - copy and check a request's table. Return: 0, -1 on a malformed or
 * unreachable table. */
int emu_windows_load(struct emu_device *device, struct emu_window_table *table, uint64_t addr,
		     uint32_t count);
/** emu_windows_open() - no checks: engines started by their debug registers, feature switched off.
 */
void emu_windows_open(struct emu_window_table *table);
bool emu_windows_allow(const struct emu_window_table *table, uint64_t addr, uint64_t len,
		       uint32_t access);
void emu_windows_free(struct emu_window_table *table);

/* irq.c */
void emu_irq_init(struct emu_device *device);
void emu_irq_destroy(struct emu_device *device);
void emu_irq_power_up(struct emu_device *device);
/** emu_irq_raise() - an event on @vector; sends or leaves it pending. No lock held. */
void emu_irq_raise(struct emu_device *device, unsigned int vector);
/** emu_irq_flush() - send what is pending and not masked (bus mastering was switched on). */
void emu_irq_flush(struct emu_device *device);
uint32_t emu_irq_read(struct emu_device *device, unsigned int vector, bool pending);
void emu_irq_write(struct emu_device *device, unsigned int vector, bool pending, uint32_t value);

/* fault.c */
/** emu_fault_take() - true while the counted fault @id has occurrences left; uses one up. */
bool emu_fault_take(struct emu_device *device, enum emu_fault_id id);
uint64_t emu_fault_value(struct emu_device *device, enum emu_fault_id id);
/** emu_fault_step() - a register access of the host or a descriptor takes place: what the fault
 * "removal" counts. Return: the device is gone now. */
bool emu_fault_step(struct emu_device *device);
/** emu_fault_delay() - sleep in a worker for the milliseconds of a level; cut short by reset,
 * destruction, and when the level is set to 0. */
void emu_fault_delay(struct emu_device *device, enum emu_fault_id id);

/* ecc.c */
/** emu_ecc_set() - place an error of @kind at device address @addr. Return: 0, -1 when that is no
 * HBM address. */
int emu_ecc_set(struct emu_device *device, enum emu_ecc kind, uint64_t addr);
void emu_ecc_clear(struct emu_device *device, enum emu_ecc kind);
/** emu_ecc_count() - add to a counter of stack @stack; an uncorrected error raises vector 0. */
void emu_ecc_count(struct emu_device *device, unsigned int stack, enum emu_ecc kind,
		   uint64_t count);
/** emu_ecc_read() - [@ptr, @ptr + @len) is read. Return: false when it must fail. */
bool emu_ecc_read(struct emu_device *device, const uint8_t *ptr, size_t len);

/* stat.c */
static inline void emu_stat_add(struct emu_device *device, enum emu_stat_id id, uint64_t count)
{
	atomic_fetch_add_explicit(&device->stat[id], count, memory_order_relaxed);
}
/** emu_event() - show an event to the shell; no lock held. */
void emu_event(struct emu_device *device, const struct emu_event *event);

#endif /* EMU_DEVICE_H */
