// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Run loop of a core in time mode.
 *
 * Each engine has a lane: what it does next and when. An instruction is looked at when the lane
 * reaches it (waits, operands, price), executed when its price is paid, and its updates "at
 * complete" follow when the result has settled; they are kept in the lane until then. The loop
 * always takes the earliest of all these moments, asks the device for the turn at that moment, and
 * does one of them. An engine whose waits do not hold has no moment; every change of a semaphore or
 * an event lets all such engines look again.
 *
 * The sequencer runs ahead of the data path: control instructions cost nothing as long as the data
 * instruction before them took longer, and weights are loaded behind the multiply before them.
 *
 * Locking: the run thread alone, as for everything of a run (core_priv.h).
 */
#include <errno.h>
#include <stdlib.h>
#include "clock.h"
#include "cost.h"
#include "exec.h"

#define PENDING_MAX 8 /* instructions whose results have not settled; then the engine stalls */
#define RESULTS_MAX 4 /* latest results an instruction may depend on */

/** struct pending - updates that become visible later. */
struct pending {
	uint64_t when;
	struct trn_insn insn;
	struct emu_update update[2];
	unsigned int count;
	uint32_t pc;
};

/** struct settling - bytes written by an instruction, not to be read by this engine before @when.
 */
struct settling {
	uint64_t when;
	int64_t low, high; /* of each partition */
	uint8_t mem, first, parts;
};

/** struct lane - time of one engine. */
struct lane {
	uint64_t at; /* the next instruction is looked at, or the present one is executed */
	uint64_t start;
	uint64_t waiting_since; /* first look at the next instruction; EMU_CLOCK_NEVER: none yet */
	uint64_t waited;
	uint64_t ahead; /* what the sequencer may be ahead of the data path */
	bool executing, blocked;
	unsigned int pendings, next_result;
	struct pending pending[PENDING_MAX];
	struct settling result[RESULTS_MAX];
};

struct emu_core_time {
	const struct emu_costs *costs;
	uint64_t now;
	uint64_t dge_free;	/* DMA_XFERs are carried out one after the other */
	uint64_t weights_ahead; /* what is left of the running multiply to load weights behind */
	struct lane lane[TRN_ENGINE_MAX];
};

int emu_core_time_create(struct emu_core *core)
{
	if (!core->config.costs)
		return 0;
	core->time = calloc(1, sizeof(*core->time));
	if (!core->time)
		return -ENOMEM;
	core->time->costs = core->config.costs;
	return 0;
}

void emu_core_time_destroy(struct emu_core *core)
{
	free(core->time);
	core->time = NULL;
}

uint64_t emu_core_time_start_ns(const struct emu_core *core, const struct emu_engine *eng)
{
	return core->time->lane[eng->id].start / EMU_PS_PER_NS;
}

static bool is_control(const struct trn_insn *insn)
{
	return insn->opcode < TRN_OP_LDWEIGHTS && insn->opcode != TRN_OP_DMA_XFER;
}

/* Moment of the first pending update, in *@index which. */
static uint64_t pending_first(const struct lane *lane, unsigned int *index)
{
	uint64_t when = EMU_CLOCK_NEVER;
	unsigned int i;

	for (i = 0; i < lane->pendings; i++) {
		if (lane->pending[i].when < when) {
			when = lane->pending[i].when;
			*index = i;
		}
	}
	return when;
}

static uint64_t lane_next(const struct emu_engine *eng, const struct lane *lane)
{
	unsigned int index;
	uint64_t when = pending_first(lane, &index);

	if (eng->started && !eng->halted && !lane->blocked && lane->at < when)
		when = lane->at;
	return when;
}

/* Engines that wait look again. */
static void look_again(struct emu_core *core)
{
	unsigned int e;

	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		struct lane *lane = &core->time->lane[e];

		if (!lane->blocked)
			continue;
		lane->blocked = false;
		if (lane->at < core->time->now)
			lane->at = core->time->now;
	}
}

static enum trn_fault pending_apply(struct emu_core *core, struct emu_engine *eng,
				    unsigned int index)
{
	struct lane *lane = &core->time->lane[eng->id];
	struct pending pending = lane->pending[index];
	enum trn_fault fault = TRN_FAULT_NONE;
	unsigned int i;

	lane->pendings--;
	/* Keeps the order of those with equal moments. */
	memmove(&lane->pending[index], &lane->pending[index + 1],
		(lane->pendings - index) * sizeof(pending));
	for (i = 0; i < pending.count && !fault; i++)
		fault = emu_sync_apply(core, eng, &pending.insn, &pending.update[i]);
	if (!fault && (pending.insn.flags & TRN_INSN_NOTIFY_END))
		emu_notify(core, eng, &pending.insn, TRN_NOTIFY_EXPLICIT, 1, pending.pc,
			   pending.insn.opcode);
	look_again(core);
	return fault;
}

/* Applies the updates "at read" now and keeps the others until @settled. */
static enum trn_fault updates_begin(struct emu_core *core, struct emu_engine *eng,
				    const struct trn_insn *insn, uint64_t settled)
{
	struct lane *lane = &core->time->lane[eng->id];
	struct pending *pending = &lane->pending[lane->pendings];
	enum trn_fault fault = TRN_FAULT_NONE;
	unsigned int i;

	pending->count = 0;
	for (i = 0; i < 2 && !fault; i++) {
		struct emu_update update;

		if (!insn->update[i].op)
			continue;
		update = emu_sync_resolve(eng, &insn->update[i]);
		if (update.mode & TRN_UPDATE_AT_COMPLETE)
			pending->update[pending->count++] = update;
		else
			fault = emu_sync_apply(core, eng, insn, &update);
	}
	if (!fault && (pending->count || (insn->flags & TRN_INSN_NOTIFY_END))) {
		pending->when = settled;
		pending->insn = *insn;
		pending->pc = eng->pc;
		lane->pendings++;
	}
	return fault;
}

static bool overlaps(const struct emu_view *v, const struct settling *r)
{
	return v->mem == r->mem && v->first < r->first + r->parts &&
	       r->first < v->first + v->parts && v->offset + v->low < r->high &&
	       r->low < v->offset + v->high;
}

static uint64_t view_settled(const struct lane *lane, const struct emu_view *v, uint64_t when)
{
	unsigned int i;

	for (i = 0; i < RESULTS_MAX; i++)
		if (lane->result[i].when > when && overlaps(v, &lane->result[i]))
			when = lane->result[i].when;
	return when;
}

/* Moment at which everything the instruction reads has settled, not before @when. */
static uint64_t inputs_settled(const struct lane *lane, const struct emu_exec *x, uint64_t when)
{
	const uint8_t allowed[2] = { x->op->c0, x->op->c1 };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		enum emu_slot role = (enum emu_slot)x->op->slot[i];

		if (x->v[i].used && (role == EMU_SLOT_IN || role == EMU_SLOT_IN_OPT))
			when = view_settled(lane, &x->v[i], when);
	}
	for (i = 0; i < 2; i++) {
		unsigned int kind = i ? emu_insn_c1_kind(x->insn) : emu_insn_c0_kind(x->insn);
		struct emu_view v;

		if (kind == TRN_SCALAR_VECTOR && (allowed[i] & EMU_KIND_VEC) && x->v[0].used &&
		    !emu_vector_view(x, i ? x->insn->c1 : x->insn->c0, x->v[0].parts, 1, false, &v))
			when = view_settled(lane, &v, when);
	}
	return when;
}

static void results_note(struct lane *lane, const struct emu_exec *x, uint64_t settled)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		enum emu_slot role = (enum emu_slot)x->op->slot[i];
		const struct emu_view *v = &x->v[i];

		if (!v->used || (role != EMU_SLOT_OUT && role != EMU_SLOT_OUT_OPT))
			continue;
		lane->result[lane->next_result++ % RESULTS_MAX] = (struct settling){
			.when = settled,
			.mem = v->mem,
			.first = v->first,
			.parts = v->parts,
			.low = v->offset + v->low,
			.high = v->offset + v->high,
		};
	}
}

static uint64_t part_hidden(uint64_t *ahead, uint64_t ps)
{
	uint64_t hidden = ps < *ahead ? ps : *ahead;

	*ahead -= hidden;
	return hidden;
}

/* When the instruction, whose waits hold, begins and how long it takes. */
static void lane_schedule(struct emu_core *core, struct lane *lane, const struct emu_exec *x,
			  bool skip)
{
	struct emu_core_time *time = core->time;
	const struct emu_costs *costs = time->costs;
	uint64_t cost = emu_cost_ps(costs, x->eng->id, costs->issue);
	unsigned int i;

	lane->start = time->now;
	if (x->insn->opcode == TRN_OP_DRAIN) {
		for (i = 0; i < lane->pendings; i++)
			if (lane->pending[i].when > lane->start)
				lane->start = lane->pending[i].when;
	} else if (skip || is_control(x->insn)) {
		/* The sequencer did it while the data path was busy. */
		cost -= part_hidden(&lane->ahead, cost);
	} else if (x->insn->opcode == TRN_OP_DMA_XFER) {
		cost = costs->dge_ps;
	} else {
		cost = emu_cost_ps(costs, x->eng->id, emu_cost_cycles(costs, x));
		lane->start = inputs_settled(lane, x, lane->start);
		if (x->insn->opcode == TRN_OP_LDWEIGHTS) {
			if (lane->start > time->now)
				time->weights_ahead = 0;
			lane->start -= time->weights_ahead;
			part_hidden(&time->weights_ahead, cost);
		} else {
			lane->ahead = cost;
		}
	}
	lane->at = lane->start + cost;
	if (lane->at < time->now)
		lane->at = time->now;
	lane->executing = true;
}

/* Looks at the next instruction. */
static enum trn_fault lane_issue(struct emu_core *core, struct emu_engine *eng,
				 struct emu_run_state *rs)
{
	struct lane *lane = &core->time->lane[eng->id];
	const struct trn_insn *insn = NULL;
	unsigned int index = 0;
	struct emu_exec x;
	enum trn_fault fault;
	bool skip;

	if (lane->pendings == PENDING_MAX) {
		lane->at = pending_first(lane, &index);
		return TRN_FAULT_NONE;
	}
	if (rs->limit && rs->result->insns >= rs->limit)
		return emu_run_fault(rs, eng, NULL, TRN_FAULT_STOPPED);
	fault = emu_core_fetch(core, eng, &insn);
	if (fault)
		return emu_run_fault(rs, eng, insn, fault);
	/* Not before the fetch, which notices a stop that came before the run began. */
	if (emu_engine_hangs(core, eng)) {
		lane->blocked = true;
		return TRN_FAULT_NONE;
	}
	if (lane->waiting_since == EMU_CLOCK_NEVER)
		lane->waiting_since = core->time->now;
	if (!emu_sync_try_waits(core, eng, insn)) {
		lane->blocked = true;
		/* The engine runs dry meanwhile. */
		lane->ahead = 0;
		if (eng->id == TRN_ENGINE_PE)
			core->time->weights_ahead = 0;
		return TRN_FAULT_NONE;
	}
	lane->waited = core->time->now - lane->waiting_since;
	lane->waiting_since = EMU_CLOCK_NEVER;
	if (insn->wait[0].mode | insn->wait[1].mode)
		look_again(core);
	rs->result->insns++;
	emu_exec_init(&x, core, eng, insn);
	skip = emu_exec_skipped(&x);
	if (!skip) {
		fault = emu_exec_views(&x);
		if (fault)
			return emu_run_fault(rs, eng, insn, fault);
	}
	lane_schedule(core, lane, &x, skip);
	return TRN_FAULT_NONE;
}

static void span_report(struct emu_core *core, const struct lane *lane, const struct emu_exec *x,
			unsigned int part, uint64_t start, uint64_t end)
{
	const struct emu_span span = {
		.start = start,
		.end = end,
		.name = x->op->name,
		.part = part,
		.pc = x->eng->pc,
		.tag = x->insn->tag,
		.waited = lane->waited,
		.bytes = part == EMU_PART_DGE ? x->xfer_bytes : 0,
	};

	if (end > start)
		core->ops.span(core->opaque, &span);
}

/* Books an executed instruction. Return: the moment its results have settled. */
static uint64_t lane_book(struct emu_core *core, struct lane *lane, const struct emu_exec *x)
{
	struct emu_core_time *time = core->time;
	const struct emu_costs *costs = time->costs;
	enum trn_engine e = x->eng->id;
	uint64_t settled = time->now, start;

	switch (x->insn->opcode) {
	case TRN_OP_LDWEIGHTS:
		span_report(core, lane, x, EMU_PART_WEIGHTS, lane->start, time->now);
		return settled;
	case TRN_OP_DMA_XFER:
		start = time->now + costs->dma_start_ps;
		if (start < time->dge_free)
			start = time->dge_free;
		settled = start + emu_cost_dge(costs, x->xfer_bytes, x->xfer_runs, x->xfer_compute);
		time->dge_free = settled;
		span_report(core, lane, x, EMU_PART_DGE, start, settled);
		break;
	case TRN_OP_MATMUL:
		time->weights_ahead = time->now - lane->start;
		break;
	}
	if (!is_control(x->insn) && x->insn->opcode != TRN_OP_DMA_XFER)
		settled += emu_cost_ps(costs, e, costs->settle[e]);
	span_report(core, lane, x, e, lane->start, time->now);
	results_note(lane, x, settled);
	return settled;
}

/* The price is paid: executes the instruction. */
static enum trn_fault lane_finish(struct emu_core *core, struct emu_engine *eng,
				  struct emu_run_state *rs)
{
	struct lane *lane = &core->time->lane[eng->id];
	uint64_t settled = core->time->now;
	const struct trn_insn *insn = NULL;
	struct emu_exec x;
	enum trn_fault fault;

	fault = emu_core_fetch(core, eng, &insn); /* still in the prefetch buffer */
	if (fault)
		return emu_run_fault(rs, eng, NULL, fault);
	lane->executing = false;
	emu_exec_init(&x, core, eng, insn);
	eng->next_pc = eng->pc + 1;
	if (!emu_exec_skipped(&x)) {
		fault = emu_exec_operate(&x);
		if (fault)
			return emu_run_fault(rs, eng, insn, fault);
		settled = lane_book(core, lane, &x);
	}
	fault = updates_begin(core, eng, insn, settled);
	if (fault)
		return emu_run_fault(rs, eng, insn, fault);
	if (!eng->halted)
		__atomic_store_n(&eng->pc, eng->next_pc, __ATOMIC_RELAXED);
	look_again(core);
	return TRN_FAULT_NONE;
}

/* Does what is due on @eng's lane. */
static enum trn_fault lane_step(struct emu_core *core, struct emu_engine *eng,
				struct emu_run_state *rs)
{
	struct lane *lane = &core->time->lane[eng->id];
	unsigned int index = 0;

	if (pending_first(lane, &index) <= core->time->now) {
		struct trn_insn insn = lane->pending[index].insn;
		enum trn_fault fault = pending_apply(core, eng, index);

		return fault ? emu_run_fault(rs, eng, &insn, fault) : TRN_FAULT_NONE;
	}
	return lane->executing ? lane_finish(core, eng, rs) : lane_issue(core, eng, rs);
}

static void run_begin(struct emu_core *core)
{
	struct emu_core_time *time = core->time;
	unsigned int e;

	time->weights_ahead = 0;
	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		struct lane *lane = &time->lane[e];

		lane->at = 0;
		lane->waiting_since = EMU_CLOCK_NEVER;
		lane->waited = 0;
		lane->ahead = 0;
		lane->executing = false;
		lane->blocked = false;
		lane->pendings = 0;
		memset(lane->result, 0, sizeof(lane->result));
	}
}

/* The engine whose lane is first, and *@when; NULL: none has a moment. */
static struct emu_engine *earliest(struct emu_core *core, uint64_t *when, bool *alive)
{
	struct emu_engine *first = NULL;
	unsigned int e;

	*when = EMU_CLOCK_NEVER;
	*alive = false;
	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		struct emu_engine *eng = &core->engine[e];
		uint64_t next = lane_next(eng, &core->time->lane[e]);

		*alive |= eng->started && !eng->halted;
		if (next < *when) {
			*when = next;
			first = eng;
		}
	}
	*alive |= first != NULL;
	return first;
}

static enum trn_fault interruption(struct emu_core *core, struct emu_run_state *rs)
{
	enum trn_fault fault;

	pthread_mutex_lock(&core->lock);
	fault = (enum trn_fault)core->interrupt;
	rs->result->address = core->interrupt_address;
	pthread_mutex_unlock(&core->lock);
	return fault;
}

static enum trn_fault run_loop(struct emu_core *core, struct emu_run_state *rs)
{
	struct emu_core_time *time = core->time;
	enum trn_fault fault = TRN_FAULT_NONE;

	while (!fault) {
		struct emu_engine *eng;
		bool alive, woken;
		uint64_t when;

		eng = earliest(core, &when, &alive);
		if (!alive)
			break;
		if (!eng && rs->stop_when_stuck)
			return TRN_FAULT_STOPPED;
		time->now = core->ops.turn(core->opaque, when, &woken);
		emu_sync_post_errors(core);
		if (emu_core_interrupted(core))
			return interruption(core, rs);
		if (time->now == EMU_CLOCK_NEVER)
			return TRN_FAULT_STOPPED;
		if (woken)
			look_again(core);
		if (eng && when <= time->now)
			fault = lane_step(core, eng, rs);
	}
	return fault;
}

enum trn_fault emu_core_time_run(struct emu_core *core, struct emu_run_state *rs)
{
	enum trn_fault fault;
	unsigned int e;

	run_begin(core);
	fault = run_loop(core, rs);
	/* What was executed is complete, even when the run failed before that showed. */
	for (e = 0; e < TRN_ENGINE_MAX; e++)
		while (core->time->lane[e].pendings)
			pending_apply(core, &core->engine[e], 0);
	emu_sync_post_errors(core);
	pthread_mutex_lock(&core->lock);
	core->running = false;
	pthread_mutex_unlock(&core->lock);
	return fault;
}
