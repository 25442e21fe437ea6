/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Emulated NeuronCore: SBUF, PSUM, semaphores, events, and five engines that execute encoded
 * instructions.
 *
 * The core knows no bus and no registers; the device (device.c) gives it a few callbacks and runs
 * it from one worker thread per core. Semaphores and events may be touched from any thread.
 */
#ifndef EMU_CORE_H
#define EMU_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "trainium/isa.h"
#include "trainium/notify.h"

struct emu_core;
struct emu_costs;

/* Parts of a core that are busy side by side with its engines, behind the engine numbers. */
#define EMU_PART_WEIGHTS (TRN_ENGINE_MAX + 0) /* loads weights behind a running multiply */
#define EMU_PART_DGE	 (TRN_ENGINE_MAX + 1) /* carries out DMA_XFER */
#define EMU_PART_MAX	 (TRN_ENGINE_MAX + 2)

/** struct emu_span - in time mode, what a part of the core did from @start to @end (ps). */
struct emu_span {
	uint64_t start, end;
	const char *name;
	unsigned int part; /* enum trn_engine or EMU_PART_* */
	uint32_t pc, tag;
	uint64_t waited; /* ps it waited for semaphores before */
	uint64_t bytes;	 /* of a transfer */
};

/**
 * struct emu_core_ops - what a core asks of the device; called from the thread inside
 * emu_core_run(), no core lock held.
 */
struct emu_core_ops {
	/**
	 * @read, @write: access @len bytes at a device address on behalf of the running program
	 * (instruction fetch, register load and store, WRITE32, DMA_XFER). The device applies the
	 * protection windows of the run. @fetch: instruction fetch.
	 * Return: TRN_FAULT_NONE or the fault to raise.
	 */
	enum trn_fault (*read)(void *opaque, uint64_t addr, void *buf, size_t len, bool fetch);
	enum trn_fault (*write)(void *opaque, uint64_t addr, const void *buf, size_t len);
	/**
	 * @dma_trigger: ring @count descriptors on @queue of each DMA engine (0..15 of this core)
	 * in @engine_mask.
	 */
	enum trn_fault (*dma_trigger)(void *opaque, uint32_t engine_mask, uint32_t queue,
				      uint32_t count);
	/**
	 * @notify: post an entry to the notification ring of slot @slot; phase and timestamp are
	 * filled by the device. Semaphore and event errors come as TRN_NOTIFY_ERROR in
	 * TRN_NOTIFY_SLOT_CORE with the semaphore or event in payload[1]; the device fills in the
	 * cookie. Faults that end the run are only in the result: the device reports them.
	 */
	void (*notify)(void *opaque, unsigned int slot, const struct trn_notification *entry);
	/**
	 * @turn, @wake, @span: time mode only, else unused. @turn ends the core's turn and waits
	 * for the next, at @when (ps; EMU_CLOCK_NEVER: when woken) or earlier when woken; *@woken
	 * tells. Return: the moment, EMU_CLOCK_NEVER when the device stops.
	 * @wake comes from any thread, with the core's lock held, when something the program may
	 * wait for has changed. @span reports what was done.
	 */
	uint64_t (*turn)(void *opaque, uint64_t when, bool *woken);
	void (*wake)(void *opaque);
	void (*span)(void *opaque, const struct emu_span *span);
};

/** struct emu_core_config - generation limits. */
struct emu_core_config {
	unsigned int generation;       /* 2 or 3; 4 gives v4 semantics to in-process users */
	uint32_t sbuf_partition_bytes; /* physical bytes per partition */
	/* create and reset fill SBUF and PSUM with NaN instead of zero */
	bool debug_fill;
	const struct emu_costs *costs; /* time mode: what instructions cost; NULL: no time mode */
};

/**
 * struct emu_engine_image - where an engine's instructions are; count 0: the engine is not started.
 */
struct emu_engine_image {
	uint64_t base;	/* device address, 128-byte aligned */
	uint32_t count; /* instructions */
};

/** struct emu_run - one run of a program. */
struct emu_run {
	struct emu_engine_image image[TRN_ENGINE_MAX];
	uint32_t args[TRN_ARG_REGS];
	uint64_t args_address;
	uint64_t max_insns; /* 0: unlimited; per run, all engines together (fuzzing) */
	/* end with TRN_FAULT_STOPPED instead of sleeping when all engines wait (fuzzing) */
	bool stop_when_stuck;
};

/** struct emu_run_result - how it ended. */
struct emu_run_result {
	enum trn_fault fault;	/* TRN_FAULT_NONE: every started engine reached HALT */
	enum trn_engine engine; /* engine that faulted first */
	uint32_t pc;		/* instruction index of the fault */
	uint32_t tag;
	uint8_t opcode;
	/* TRN_FAULT_WINDOW, TRN_FAULT_FETCH: offending device address */
	uint64_t address;
	uint64_t insns; /* instructions executed */
};

/** emu_core_create() - NULL when memory is short. */
struct emu_core *emu_core_create(const struct emu_core_config *config,
				 const struct emu_core_ops *ops, void *opaque);
void emu_core_destroy(struct emu_core *core);

/**
 * emu_core_run() - execute a program to its end on the calling thread.
 *
 * Engines are interleaved so that no engine starves another; when all of them wait, the thread
 * sleeps until a semaphore, an event or emu_core_stop() wakes it. SBUF and PSUM keep their content
 * between runs; engine registers, accumulators and modes start fresh. One thread at a time.
 */
void emu_core_run(struct emu_core *core, const struct emu_run *run, struct emu_run_result *result);

/**
 * emu_core_stop() - end the current run with TRN_FAULT_STOPPED as soon as possible; any thread.
 * With no run: no effect.
 */
void emu_core_stop(struct emu_core *core);

/**
 * emu_core_fail() - end the current run with @fault (e.g. a DMA error of a queue it started); any
 * thread.
 */
void emu_core_fail(struct emu_core *core, enum trn_fault fault, uint64_t address);

/**
 * emu_core_hang() - @engine makes no progress once it is about to execute instruction @pc of its
 * image; TRN_ENGINE_NONE: none hangs. Stays over runs and resets; any thread.
 */
void emu_core_hang(struct emu_core *core, enum trn_engine engine, uint32_t pc);

/**
 * emu_core_reset() - semaphores, events and engine state to 0; no run may be active. SBUF and PSUM
 * are zeroed.
 */
void emu_core_reset(struct emu_core *core);

/*
 * Semaphores (wrap modulo 2^32; leaving the signed range raises TRN_FAULT_SEM_OVERFLOW as a
 * notification) and events; any thread.
 */
int32_t emu_core_sem_read(struct emu_core *core, unsigned int index);
void emu_core_sem_set(struct emu_core *core, unsigned int index, int32_t value);
void emu_core_sem_add(struct emu_core *core, unsigned int index, int32_t value);
bool emu_core_event_read(struct emu_core *core, unsigned int index);
void emu_core_event_set(struct emu_core *core, unsigned int index, bool value);

/**
 * emu_core_sbuf(), emu_core_psum() - pointer for @len bytes of partition @partition at @offset,
 * NULL when outside. DMA and host windows use these; a range never crosses a partition. Concurrent
 * access is unordered, as on silicon.
 */
void *emu_core_sbuf(struct emu_core *core, unsigned int partition, uint32_t offset, uint32_t len);
void *emu_core_psum(struct emu_core *core, unsigned int partition, uint32_t offset, uint32_t len);

/* Debug registers of the control block; valid any time, racy while a run is active. */
uint32_t emu_core_engine_pc(struct emu_core *core, enum trn_engine engine);
uint32_t emu_core_engine_reg(struct emu_core *core, enum trn_engine engine, unsigned int reg);
void emu_core_engine_reg_set(struct emu_core *core, enum trn_engine engine, unsigned int reg,
			     uint32_t value);
/**
 * emu_core_pe_counters() - activity of the tensor engine since reset: columns multiplied, columns
 * of weights loaded.
 */
void emu_core_pe_counters(struct emu_core *core, uint64_t *matmul, uint64_t *weights);

#endif /* EMU_CORE_H */
