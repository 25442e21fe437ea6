/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside of an emulated NeuronCore, shared by the files that implement it; nothing outside the core
 * includes this.
 *
 * Locking: core->lock guards semaphores, events, the wake sequence, pending error reports and the
 * run state. Everything else belongs to the thread inside emu_core_run(), except SBUF and PSUM
 * (unordered, as on silicon) and the fields read for debugging, which are accessed with relaxed
 * atomics. No callback is called with the lock held.
 */
#ifndef EMU_CORE_PRIV_H
#define EMU_CORE_PRIV_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core.h"
#include "numeric.h"
#include "rng.h"

#define EMU_PREFETCH	64    /* instructions per engine; bits of fetch_checked */
#define EMU_QUANTUM	64    /* instructions before the next engine's turn */
#define EMU_ROW_MAX	65536 /* elements of a partition an operand may name */
#define EMU_ROW_BUFFERS 5
#define EMU_SUBLANES	4  /* generator states per lane on the largest generation */
#define EMU_ERRORS_MAX	16 /* error reports kept until the run thread posts them */

#define EMU_ENGINE_BIT(e) (1u << (e))
#define EMU_ENGINES_ALL                                                     \
	(EMU_ENGINE_BIT(TRN_ENGINE_PE) | EMU_ENGINE_BIT(TRN_ENGINE_ACT) |   \
	 EMU_ENGINE_BIT(TRN_ENGINE_POOL) | EMU_ENGINE_BIT(TRN_ENGINE_DVE) | \
	 EMU_ENGINE_BIT(TRN_ENGINE_SP) | EMU_ENGINE_BIT(TRN_ENGINE_CC))

struct emu_pe;
struct emu_core_time;
struct emu_exec;

/** struct emu_engine - sequencer state of one engine. */
struct emu_engine {
	enum trn_engine id;
	bool started;
	bool halted;
	uint64_t base;
	uint32_t count;
	uint32_t pc;		     /* relaxed atomic: read by the debug registers */
	uint32_t next_pc;	     /* set by the running instruction when it branches */
	uint32_t reg[TRN_REG_COUNT]; /* relaxed atomic: read and written by the debug registers */
	bool mode_stochastic;
	bool mode_flush;
	bool mode_check_nan;
	struct emu_xorwow sr; /* source of stochastic rounding */
	uint64_t fault_address;
	uint32_t fetch_first;
	uint32_t fetch_count;
	uint64_t fetch_checked; /* bit i: instruction i of the buffer was found well-formed */
	struct trn_insn fetch[EMU_PREFETCH];
};

/** struct emu_lanes - accumulators and random generators of an engine with 128 lanes. */
struct emu_lanes {
	float acc[TRN_PARTITIONS];
	struct emu_xorwow rng[TRN_PARTITIONS][EMU_SUBLANES];
};

struct emu_error_report {
	uint8_t code;
	uint8_t engine;
	uint32_t tag;
	uint64_t payload;
};

struct emu_core {
	struct emu_core_config config;
	struct emu_core_ops ops;
	void *opaque;

	uint8_t *sbuf;
	uint8_t *psum;
	size_t sbuf_stride;
	size_t psum_stride;

	pthread_mutex_t lock;
	pthread_cond_t wake;
	int32_t sem[TRN_SEM_COUNT];
	bool event[TRN_EVENT_COUNT];
	uint64_t wake_seq; /* bumped by every change from outside the run thread */
	bool running;
	unsigned int errors;
	struct emu_error_report error[EMU_ERRORS_MAX];

	int interrupt; /* enum trn_fault from outside; relaxed atomic, written under the lock */
	uint64_t interrupt_address;
	uint64_t hang; /* relaxed atomic: engine << 32 | pc, 0: none */

	uint64_t pe_matmul; /* relaxed atomics */
	uint64_t pe_weights;

	struct emu_engine engine[TRN_ENGINE_MAX];
	struct emu_lanes lanes[TRN_ENGINE_MAX];
	struct emu_pe *pe;
	float *row[EMU_ROW_BUFFERS]; /* EMU_ROW_MAX elements each, 64-byte aligned */
	struct emu_core_time *time;  /* NULL: no time mode */
};

/** struct emu_update - an update with its registers read. */
struct emu_update {
	uint8_t op, mode;
	uint16_t index;
	int32_t value;
	uint64_t address; /* of a semaphore elsewhere */
};

/** struct emu_run_state - a position in the run: what the result reports, how much may still be
 * executed. */
struct emu_run_state {
	struct emu_run_result *result;
	uint64_t limit; /* 0: none */
	bool stop_when_stuck;
};

static inline uint32_t emu_reg_get(const struct emu_engine *eng, unsigned int reg)
{
	return __atomic_load_n(&eng->reg[reg & (TRN_REG_COUNT - 1)], __ATOMIC_RELAXED);
}

static inline void emu_reg_put(struct emu_engine *eng, unsigned int reg, uint32_t value)
{
	__atomic_store_n(&eng->reg[reg & (TRN_REG_COUNT - 1)], value, __ATOMIC_RELAXED);
}

static inline bool emu_core_interrupted(const struct emu_core *core)
{
	return __atomic_load_n(&core->interrupt, __ATOMIC_RELAXED) != 0;
}

static inline unsigned int emu_insn_c0_kind(const struct trn_insn *insn)
{
	return (insn->kinds >> TRN_OPK_C0_SHIFT) & 3;
}

static inline unsigned int emu_insn_c1_kind(const struct trn_insn *insn)
{
	return (insn->kinds >> TRN_OPK_C1_SHIFT) & 3;
}

static inline unsigned int emu_insn_reduce_cmd(const struct trn_insn *insn)
{
	return (insn->kinds >> TRN_OPK_REDUCE_SHIFT) & 7;
}

/** emu_insn_scalar32() - raw 32 bits of c0 or c1 of kind immediate or register. */
static inline uint32_t emu_insn_scalar32(const struct emu_engine *eng, unsigned int kind,
					 uint32_t c)
{
	return kind == TRN_SCALAR_REG ? emu_reg_get(eng, c) : c;
}

/* core_sync.c: waits, updates, notifications. */
/** emu_sync_wake() - tell the run thread that something it may wait for changed; lock held. */
void emu_sync_wake(struct emu_core *core);
bool emu_sync_try_waits(struct emu_core *core, struct emu_engine *eng, const struct trn_insn *insn);
enum trn_fault emu_sync_updates(struct emu_core *core, struct emu_engine *eng,
				const struct trn_insn *insn);
struct emu_update emu_sync_resolve(const struct emu_engine *eng, const struct trn_sync *u);
enum trn_fault emu_sync_apply(struct emu_core *core, struct emu_engine *eng,
			      const struct trn_insn *insn, const struct emu_update *u);
void emu_sync_clear_range(struct emu_core *core, unsigned int first, unsigned int count);
void emu_sync_post_errors(struct emu_core *core);
void emu_notify(struct emu_core *core, struct emu_engine *eng, const struct trn_insn *insn,
		enum trn_notify_type type, uint8_t code, uint64_t payload0, uint64_t payload1);

/** emu_notify_at() - as emu_notify(), at a moment (ns) other than the present; 0: the present. */
void emu_notify_at(struct emu_core *core, struct emu_engine *eng, const struct trn_insn *insn,
		   enum trn_notify_type type, uint8_t code, uint64_t payload0, uint64_t payload1,
		   uint64_t timestamp);

/* core.c: the steps of an instruction. */
/** emu_engine_hangs() - the engine makes no progress at its present instruction: a fault on demand.
 */
bool emu_engine_hangs(const struct emu_core *core, const struct emu_engine *eng);
/**
 * emu_core_fetch() - the present instruction, checked. On a fault *@insn is NULL, or the
 * instruction that is malformed.
 */
enum trn_fault emu_core_fetch(struct emu_core *core, struct emu_engine *eng,
			      const struct trn_insn **insn);
void emu_exec_init(struct emu_exec *x, struct emu_core *core, struct emu_engine *eng,
		   const struct trn_insn *insn);
/** emu_exec_skipped() - its predicate register says not to. */
bool emu_exec_skipped(const struct emu_exec *x);
/** emu_exec_operate() - operands, operation, output checks. */
enum trn_fault emu_exec_operate(struct emu_exec *x);
enum trn_fault emu_run_fault(struct emu_run_state *rs, const struct emu_engine *eng,
			     const struct trn_insn *insn, enum trn_fault fault);

/* core_time.c: the run loop of time mode. */
int emu_core_time_create(struct emu_core *core);
void emu_core_time_destroy(struct emu_core *core);
/** emu_core_time_run() - from the first instruction to the last; the caller began the run. */
enum trn_fault emu_core_time_run(struct emu_core *core, struct emu_run_state *rs);
/** emu_core_time_start_ns() - when the instruction being executed began. */
uint64_t emu_core_time_start_ns(const struct emu_core *core, const struct emu_engine *eng);

#endif /* EMU_CORE_PRIV_H */
