// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Emulated NeuronCore: life of the object, the run loop, instruction fetch, stop and debug access.
 *
 * Locking: core->lock (see core_priv.h). The run thread takes it only to look at semaphores, to
 * sleep, and to end.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "core_priv.h"
#include "exec.h"

/* A partition starts one cache line further than its size, so that a column of partitions does not
 * fall into one cache set. */
#define PARTITION_PAD 64u

static void *memory_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static size_t sbuf_bytes(const struct emu_core *core)
{
	return core->sbuf_stride * TRN_PARTITIONS;
}

static size_t psum_bytes(const struct emu_core *core)
{
	return core->psum_stride * TRN_PARTITIONS;
}

/* Zero without touching pages that were never touched; NaN in debug mode, so that use of undefined
 * content shows. */
static void memory_clear(struct emu_core *core, uint8_t *p, size_t size)
{
	if (core->config.debug_fill)
		memset(p, 0xff, size);
	else if (madvise(p, size, MADV_DONTNEED))
		memset(p, 0, size);
}

/* Registers and position are in reach of the debug registers at any time, so they go one by one. */
static void engine_reset(struct emu_engine *eng, enum trn_engine id)
{
	unsigned int i;

	for (i = 0; i < TRN_REG_COUNT; i++)
		emu_reg_put(eng, i, 0);
	__atomic_store_n(&eng->pc, 0, __ATOMIC_RELAXED);
	eng->id = id;
	eng->started = false;
	eng->halted = false;
	eng->base = 0;
	eng->count = 0;
	eng->next_pc = 0;
	eng->mode_stochastic = false;
	eng->mode_flush = false;
	eng->mode_check_nan = false;
	eng->fault_address = 0;
	eng->fetch_first = 0;
	eng->fetch_count = 0;
	emu_xorwow_seed(&eng->sr, 0, (uint32_t)id);
}

static void engines_reset(struct emu_core *core)
{
	unsigned int e;

	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		engine_reset(&core->engine[e], (enum trn_engine)e);
		emu_lanes_reset(&core->lanes[e]);
	}
	emu_pe_reset(core->pe);
}

struct emu_core *emu_core_create(const struct emu_core_config *config,
				 const struct emu_core_ops *ops, void *opaque)
{
	struct emu_core *core = calloc(1, sizeof(*core));
	unsigned int i;

	if (!core)
		return NULL;
	core->config = *config;
	core->ops = *ops;
	core->opaque = opaque;
	core->sbuf_stride = (size_t)config->sbuf_partition_bytes + PARTITION_PAD;
	core->psum_stride = TRN_PSUM_PARTITION_BYTES + PARTITION_PAD;
	pthread_mutex_init(&core->lock, NULL);
	pthread_cond_init(&core->wake, NULL);
	core->sbuf = memory_map(sbuf_bytes(core));
	core->psum = memory_map(psum_bytes(core));
	core->pe = emu_pe_create();
	for (i = 0; i < EMU_ROW_BUFFERS; i++)
		core->row[i] = aligned_alloc(64, EMU_ROW_MAX * sizeof(float));
	for (i = 0; i < EMU_ROW_BUFFERS; i++)
		if (!core->row[i])
			break;
	if (!core->sbuf || !core->psum || !core->pe || i < EMU_ROW_BUFFERS ||
	    emu_core_time_create(core)) {
		emu_core_destroy(core);
		return NULL;
	}
	emu_core_reset(core);
	return core;
}

void emu_core_destroy(struct emu_core *core)
{
	unsigned int i;

	if (!core)
		return;
	for (i = 0; i < EMU_ROW_BUFFERS; i++)
		free(core->row[i]);
	emu_core_time_destroy(core);
	emu_pe_destroy(core->pe);
	if (core->sbuf)
		munmap(core->sbuf, sbuf_bytes(core));
	if (core->psum)
		munmap(core->psum, psum_bytes(core));
	pthread_cond_destroy(&core->wake);
	pthread_mutex_destroy(&core->lock);
	free(core);
}

void emu_core_reset(struct emu_core *core)
{
	pthread_mutex_lock(&core->lock);
	memset(core->sem, 0, sizeof(core->sem));
	memset(core->event, 0, sizeof(core->event));
	core->errors = 0;
	pthread_mutex_unlock(&core->lock);
	engines_reset(core);
	__atomic_store_n(&core->pe_matmul, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&core->pe_weights, 0, __ATOMIC_RELAXED);
	memory_clear(core, core->sbuf, sbuf_bytes(core));
	memory_clear(core, core->psum, psum_bytes(core));
}

/* Fills the prefetch buffer from instruction @pc on. */
static enum trn_fault prefetch(struct emu_core *core, struct emu_engine *eng, uint32_t pc)
{
	uint32_t n = eng->count - pc < EMU_PREFETCH ? eng->count - pc : EMU_PREFETCH;
	uint64_t addr = eng->base + (uint64_t)pc * TRN_INSN_SIZE;
	enum trn_fault fault;

	eng->fetch_count = 0;
	eng->fault_address = addr;
	if (addr < eng->base || addr % TRN_INSN_SIZE)
		return TRN_FAULT_FETCH;
	fault = core->ops.read(core->opaque, addr, eng->fetch, (size_t)n * TRN_INSN_SIZE, true);
	if (fault && n > 1) {
		/* The prefetch may cross the end of what is readable; only this instruction
		 * matters. */
		n = 1;
		fault = core->ops.read(core->opaque, addr, eng->fetch, TRN_INSN_SIZE, true);
	}
	if (fault)
		return fault;
	eng->fault_address = 0;
	eng->fetch_first = pc;
	eng->fetch_count = n;
	eng->fetch_checked = 0;
	return TRN_FAULT_NONE;
}

/* An instruction is checked once while it stays in the buffer: a loop pays for its first turn. */
enum trn_fault emu_core_fetch(struct emu_core *core, struct emu_engine *eng,
			      const struct trn_insn **insn)
{
	uint32_t pc = eng->pc, index = pc - eng->fetch_first;
	enum trn_fault fault;

	*insn = NULL;
	if (pc >= eng->count)
		return TRN_FAULT_HALT_MISSING;
	if (index >= eng->fetch_count) {
		fault = prefetch(core, eng, pc);
		if (fault)
			return fault;
		index = 0;
	}
	*insn = &eng->fetch[index];
	if (eng->fetch_checked >> index & 1)
		return TRN_FAULT_NONE;
	fault = emu_insn_check(&core->config, eng->id, *insn);
	if (!fault)
		eng->fetch_checked |= 1ull << index;
	return fault;
}

static uint16_t checksum_views(const struct emu_exec *x, bool output)
{
	uint16_t sum = 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		bool out = x->op->slot[i] == EMU_SLOT_OUT || x->op->slot[i] == EMU_SLOT_OUT_OPT;

		if (x->v[i].used && out == output)
			sum = (uint16_t)(sum + emu_view_checksum(&x->v[i]));
	}
	return sum;
}

static enum trn_fault check_outputs(const struct emu_exec *x)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (x->op->slot[i] != EMU_SLOT_OUT && x->op->slot[i] != EMU_SLOT_OUT_OPT)
			continue;
		if (x->v[i].used && !emu_view_finite(x, &x->v[i]))
			return TRN_FAULT_NAN;
	}
	return TRN_FAULT_NONE;
}

static void trace(struct emu_exec *x, uint8_t code, uint64_t checksum)
{
	uint64_t at = x->core->time && !code ? emu_core_time_start_ns(x->core, x->eng) : 0;

	emu_notify_at(x->core, x->eng, x->insn, TRN_NOTIFY_TRACE, code,
		      x->eng->pc | (uint64_t)x->insn->opcode << 32, checksum, at);
}

enum trn_fault emu_exec_operate(struct emu_exec *x)
{
	const struct trn_insn *insn = x->insn;
	bool checksum = (insn->flags & TRN_INSN_CHECKSUM) && (insn->flags & TRN_INSN_TRACE);
	uint64_t sums = 0;
	enum trn_fault fault;

	fault = emu_exec_views(x);
	if (fault)
		return fault;
	if (insn->flags & TRN_INSN_TRACE)
		trace(x, 0, 0);
	if (checksum)
		sums = (uint64_t)checksum_views(x, false) << 16;
	fault = x->op->exec(x);
	if (fault)
		return fault;
	if ((insn->flags & TRN_INSN_CHECK_NAN) || x->eng->mode_check_nan) {
		fault = check_outputs(x);
		if (fault)
			return fault;
	}
	if (checksum)
		sums |= checksum_views(x, true);
	if (insn->flags & TRN_INSN_TRACE)
		trace(x, 1, sums);
	return TRN_FAULT_NONE;
}

void emu_exec_init(struct emu_exec *x, struct emu_core *core, struct emu_engine *eng,
		   const struct trn_insn *insn)
{
	*x = (struct emu_exec){
		.core = core,
		.eng = eng,
		.insn = insn,
		.op = emu_opcode_get(insn->opcode),
	};
	if ((insn->flags & TRN_INSN_STOCHASTIC) || eng->mode_stochastic)
		x->round.stochastic = &eng->sr;
	x->round.saturate = insn->flags & TRN_INSN_SATURATE;
	x->round.flush = eng->mode_flush;
}

bool emu_exec_skipped(const struct emu_exec *x)
{
	return (x->insn->flags & TRN_INSN_PREDICATED) &&
	       !emu_reg_get(x->eng, x->insn->flags >> TRN_INSN_PREDICATE_SHIFT);
}

static enum trn_fault insn_execute(struct emu_core *core, struct emu_engine *eng,
				   const struct trn_insn *insn)
{
	struct emu_exec x;
	enum trn_fault fault;

	emu_exec_init(&x, core, eng, insn);
	eng->next_pc = eng->pc + 1;
	if (!emu_exec_skipped(&x)) {
		fault = emu_exec_operate(&x);
		if (fault)
			return fault;
	}
	fault = emu_sync_updates(core, eng, insn);
	if (fault)
		return fault;
	if (insn->flags & TRN_INSN_NOTIFY_END)
		emu_notify(core, eng, insn, TRN_NOTIFY_EXPLICIT, 1, eng->pc, insn->opcode);
	return TRN_FAULT_NONE;
}

enum trn_fault emu_run_fault(struct emu_run_state *rs, const struct emu_engine *eng,
			     const struct trn_insn *insn, enum trn_fault fault)
{
	rs->result->engine = eng->id;
	rs->result->pc = eng->pc;
	rs->result->tag = insn ? insn->tag : 0;
	rs->result->opcode = insn ? insn->opcode : 0;
	rs->result->address = eng->fault_address;
	return fault;
}

bool emu_engine_hangs(const struct emu_core *core, const struct emu_engine *eng)
{
	uint64_t hang = __atomic_load_n(&core->hang, __ATOMIC_RELAXED);

	return hang && hang == ((uint64_t)eng->id << 32 | eng->pc);
}

/* Runs @eng until it halts, waits, faults, or used up its quantum. *@progress: at least one
 * instruction was executed. */
static enum trn_fault engine_turn(struct emu_core *core, struct emu_engine *eng,
				  struct emu_run_state *rs, bool *progress)
{
	unsigned int i;

	for (i = 0; i < EMU_QUANTUM && !eng->halted; i++) {
		const struct trn_insn *insn = NULL;
		enum trn_fault fault;

		if (emu_core_interrupted(core))
			return TRN_FAULT_NONE;
		if (rs->limit && rs->result->insns >= rs->limit)
			return emu_run_fault(rs, eng, NULL, TRN_FAULT_STOPPED);
		fault = emu_core_fetch(core, eng, &insn);
		if (fault)
			return emu_run_fault(rs, eng, insn, fault);
		/* Not before the fetch, which notices a stop that came before the run began. */
		if (emu_engine_hangs(core, eng))
			return TRN_FAULT_NONE;
		if (!emu_sync_try_waits(core, eng, insn))
			return TRN_FAULT_NONE;
		*progress = true;
		rs->result->insns++;
		fault = insn_execute(core, eng, insn);
		if (fault)
			return emu_run_fault(rs, eng, insn, fault);
		if (!eng->halted)
			__atomic_store_n(&eng->pc, eng->next_pc, __ATOMIC_RELAXED);
	}
	return TRN_FAULT_NONE;
}

static void run_begin(struct emu_core *core, const struct emu_run *run)
{
	unsigned int e, i;

	pthread_mutex_lock(&core->lock);
	core->running = true;
	__atomic_store_n(&core->interrupt, 0, __ATOMIC_RELAXED);
	core->interrupt_address = 0;
	pthread_mutex_unlock(&core->lock);

	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		struct emu_engine *eng = &core->engine[e];

		for (i = 0; i < TRN_REG_COUNT; i++)
			emu_reg_put(eng, i, i < TRN_ARG_REGS ? run->args[i] : 0);
		emu_reg_put(eng, TRN_ARG_REG_ADDRESS_LOW, (uint32_t)run->args_address);
		emu_reg_put(eng, TRN_ARG_REG_ADDRESS_HIGH, (uint32_t)(run->args_address >> 32));
		__atomic_store_n(&eng->pc, 0, __ATOMIC_RELAXED);
		eng->started = run->image[e].count && (EMU_ENGINES_ALL & EMU_ENGINE_BIT(e));
		eng->halted = false;
		eng->base = run->image[e].base;
		eng->count = run->image[e].count;
		eng->fault_address = 0;
		eng->fetch_count = 0;
		eng->mode_stochastic = false;
		eng->mode_flush = false;
		eng->mode_check_nan = false;
		emu_xorwow_seed(&eng->sr, 0, e);
		emu_lanes_reset(&core->lanes[e]);
	}
	emu_pe_reset(core->pe);
}

static uint64_t wake_sequence(struct emu_core *core)
{
	uint64_t seq;

	pthread_mutex_lock(&core->lock);
	seq = core->wake_seq;
	pthread_mutex_unlock(&core->lock);
	return seq;
}

/* One turn for every engine. *@alive: an engine has not halted. */
static enum trn_fault run_round(struct emu_core *core, struct emu_run_state *rs, bool *alive,
				bool *progress)
{
	unsigned int e;

	*alive = false;
	*progress = false;
	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		struct emu_engine *eng = &core->engine[e];
		enum trn_fault fault;

		if (!eng->started || eng->halted)
			continue;
		fault = engine_turn(core, eng, rs, progress);
		if (fault)
			return fault;
		if (!eng->halted)
			*alive = true;
	}
	return TRN_FAULT_NONE;
}

/* The run loop without time: turns in order, and sleep when every engine waits. */
static enum trn_fault run_plain(struct emu_core *core, struct emu_run_state *rs)
{
	bool alive = true, progress;
	enum trn_fault fault = TRN_FAULT_NONE;

	while (alive && !fault) {
		uint64_t seq = wake_sequence(core);

		fault = run_round(core, rs, &alive, &progress);
		emu_sync_post_errors(core);
		pthread_mutex_lock(&core->lock);
		if (!fault && alive && !progress && rs->stop_when_stuck && core->wake_seq == seq)
			fault = TRN_FAULT_STOPPED;
		while (!fault && alive && !progress && core->wake_seq == seq && !core->interrupt)
			pthread_cond_wait(&core->wake, &core->lock);
		/* A request from outside ends the run, unless the program ended or failed by itself
		 * before. */
		if (!fault && alive && core->interrupt) {
			fault = (enum trn_fault)core->interrupt;
			rs->result->address = core->interrupt_address;
		}
		if (fault || !alive)
			core->running = false;
		pthread_mutex_unlock(&core->lock);
	}
	return fault;
}

void emu_core_run(struct emu_core *core, const struct emu_run *run, struct emu_run_result *result)
{
	struct emu_run_state rs = {
		.result = result,
		.limit = run->max_insns,
		.stop_when_stuck = run->stop_when_stuck,
	};

	memset(result, 0, sizeof(*result));
	run_begin(core, run);
	result->fault = core->time ? emu_core_time_run(core, &rs) : run_plain(core, &rs);
}

/* The first request of a run wins. */
static void core_interrupt(struct emu_core *core, enum trn_fault fault, uint64_t address)
{
	pthread_mutex_lock(&core->lock);
	if (core->running && !core->interrupt) {
		core->interrupt_address = address;
		__atomic_store_n(&core->interrupt, (int)fault, __ATOMIC_RELAXED);
		emu_sync_wake(core);
	}
	pthread_mutex_unlock(&core->lock);
}

void emu_core_stop(struct emu_core *core)
{
	core_interrupt(core, TRN_FAULT_STOPPED, 0);
}

void emu_core_fail(struct emu_core *core, enum trn_fault fault, uint64_t address)
{
	if (fault != TRN_FAULT_NONE)
		core_interrupt(core, fault, address);
}

void emu_core_hang(struct emu_core *core, enum trn_engine engine, uint32_t pc)
{
	pthread_mutex_lock(&core->lock);
	__atomic_store_n(&core->hang, engine ? (uint64_t)engine << 32 | pc : 0, __ATOMIC_RELAXED);
	emu_sync_wake(core);
	pthread_mutex_unlock(&core->lock);
}

void *emu_core_sbuf(struct emu_core *core, unsigned int partition, uint32_t offset, uint32_t len)
{
	if (partition >= TRN_PARTITIONS || offset > core->config.sbuf_partition_bytes ||
	    len > core->config.sbuf_partition_bytes - offset)
		return NULL;
	return core->sbuf + partition * core->sbuf_stride + offset;
}

void *emu_core_psum(struct emu_core *core, unsigned int partition, uint32_t offset, uint32_t len)
{
	if (partition >= TRN_PARTITIONS || offset > TRN_PSUM_PARTITION_BYTES ||
	    len > TRN_PSUM_PARTITION_BYTES - offset)
		return NULL;
	return core->psum + partition * core->psum_stride + offset;
}

uint32_t emu_core_engine_pc(struct emu_core *core, enum trn_engine engine)
{
	if ((unsigned int)engine >= TRN_ENGINE_MAX)
		return 0;
	return __atomic_load_n(&core->engine[engine].pc, __ATOMIC_RELAXED);
}

uint32_t emu_core_engine_reg(struct emu_core *core, enum trn_engine engine, unsigned int reg)
{
	if ((unsigned int)engine >= TRN_ENGINE_MAX || reg >= TRN_REG_COUNT)
		return 0;
	return emu_reg_get(&core->engine[engine], reg);
}

void emu_core_engine_reg_set(struct emu_core *core, enum trn_engine engine, unsigned int reg,
			     uint32_t value)
{
	if ((unsigned int)engine < TRN_ENGINE_MAX && reg < TRN_REG_COUNT)
		emu_reg_put(&core->engine[engine], reg, value);
}

void emu_core_pe_counters(struct emu_core *core, uint64_t *matmul, uint64_t *weights)
{
	*matmul = __atomic_load_n(&core->pe_matmul, __ATOMIC_RELAXED);
	*weights = __atomic_load_n(&core->pe_weights, __ATOMIC_RELAXED);
}
