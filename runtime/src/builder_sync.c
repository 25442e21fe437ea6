// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builder: streams, vector clocks and waits.
 *
 * An engine completes its instructions in order, so "engine e has signalled n times" tells that
 * everything up to its n-th signalling instruction is complete. Waits are therefore on counts, and
 * what an instruction knew complete when it started is known to whoever waits for it.
 */
#include <stdlib.h>
#include "builder_priv.h"

struct trn_build_insn *trn_build_append(struct trn_builder *builder, const struct trn_insn *insn)
{
	struct trn_build_stream *s;
	struct trn_build_insn *slot;
	unsigned int engine = insn->engine;

	if (!builder || builder->status)
		return NULL;
	if (engine >= TRN_ENGINE_MAX || engine == 4 || engine == TRN_ENGINE_NONE) {
		trn_build_fail(builder, TRN_ERR_INVALID,
			       "instruction for engine %u, which does not exist", engine);
		return NULL;
	}
	s = &builder->stream[engine];
	if (s->count >= TRN_TNX_INSNS_MAX - 64) {
		trn_build_fail(builder, TRN_ERR_INVALID, "more than %u instructions for %s",
			       TRN_TNX_INSNS_MAX - 64, trn_build_engine_name(engine));
		return NULL;
	}
	if (!trn_build_grow(builder, (void **)&s->insns, &s->capacity, s->count, sizeof(*s->insns)))
		return NULL;
	slot = &s->insns[s->count++];
	memset(slot, 0, sizeof(*slot));
	slot->insn = *insn;
	slot->clock = s->clock;
	return slot;
}

static void clock_join(struct trn_build_clock *to, const struct trn_build_clock *from)
{
	unsigned int i;

	for (i = 0; i < TRN_BUILD_ENGINES; i++) {
		if (to->engine[i] < from->engine[i])
			to->engine[i] = from->engine[i];
	}
	for (i = 0; i < TRN_BUILD_LANES; i++) {
		if (to->lane[i] < from->lane[i])
			to->lane[i] = from->lane[i];
	}
}

bool trn_build_known(const struct trn_builder *builder, unsigned int engine, uint32_t group)
{
	const struct trn_build_group *g = &builder->groups[group - 1];

	return builder->stream[engine].clock.lane[g->lane] >= g->target;
}

void trn_build_need(struct trn_builder *builder, unsigned int engine, struct trn_build_deps *deps,
		    struct trn_build_ref ref)
{
	if (ref.group) {
		const struct trn_build_group *g = &builder->groups[ref.group - 1];

		if (trn_build_known(builder, engine, ref.group) || deps->lane[g->lane] >= g->target)
			return;
		deps->lane[g->lane] = g->target;
		deps->lane_group[g->lane] = ref.group;
		return;
	}
	if (ref.engine == engine || builder->stream[engine].clock.engine[ref.engine] >= ref.index)
		return;
	if (deps->engine[ref.engine] < ref.index)
		deps->engine[ref.engine] = ref.index;
}

/* Drops needs that other needs of the same operation imply. */
static void deps_reduce(struct trn_builder *b, struct trn_build_deps *deps)
{
	struct trn_build_clock implied;
	unsigned int i;

	memset(&implied, 0, sizeof(implied));
	for (i = 0; i < TRN_BUILD_ENGINES; i++) {
		if (deps->engine[i])
			clock_join(&implied, &b->stream[i].insns[deps->engine[i] - 1].clock);
	}
	for (i = 0; i < TRN_BUILD_LANES; i++) {
		if (deps->lane[i])
			clock_join(&implied, &b->groups[deps->lane_group[i] - 1].clock);
	}
	for (i = 0; i < TRN_BUILD_ENGINES; i++) {
		if (deps->engine[i] && deps->engine[i] <= implied.engine[i])
			deps->engine[i] = 0;
	}
	for (i = 0; i < TRN_BUILD_LANES; i++) {
		if (deps->lane[i] && deps->lane[i] <= implied.lane[i])
			deps->lane[i] = 0;
	}
}

/** struct wait_item - a wait before it has a slot. */
struct wait_item {
	struct trn_sync sync;
	bool symbolic;
};

/* Collects the waits of @deps and joins what they prove into the clock of @engine. */
static unsigned int deps_waits(struct trn_builder *b, unsigned int engine,
			       struct trn_build_deps *deps, struct wait_item *item)
{
	struct trn_build_clock *clock = &b->stream[engine].clock;
	unsigned int n = 0, i;

	deps_reduce(b, deps);
	for (i = 0; i < TRN_BUILD_ENGINES; i++) {
		struct trn_build_insn *on;

		if (!deps->engine[i])
			continue;
		on = &b->stream[i].insns[deps->engine[i] - 1];
		on->signals = true;
		item[n].sync.index = (uint16_t)i;
		item[n].sync.value = (int32_t)deps->engine[i];
		item[n++].symbolic = true;
		clock_join(clock, &on->clock);
		if (clock->engine[i] < deps->engine[i])
			clock->engine[i] = deps->engine[i];
	}
	for (i = 0; i < TRN_BUILD_LANES; i++) {
		if (!deps->lane[i])
			continue;
		item[n].sync.index = (uint16_t)(TRN_BUILD_SEM_LANE + i);
		item[n].sync.value = (int32_t)deps->lane[i];
		item[n++].symbolic = false;
		clock_join(clock, &b->groups[deps->lane_group[i] - 1].clock);
		if (clock->lane[i] < deps->lane[i])
			clock->lane[i] = deps->lane[i];
	}
	for (i = 0; i < n; i++) {
		item[i].sync.op = TRN_WAIT_SEM_GE;
		item[i].sync.mode = TRN_WAIT_PASS_KEEP;
	}
	return n;
}

void trn_build_wait(struct trn_builder *builder, unsigned int engine, struct trn_build_deps *deps,
		    const struct trn_insn *insn)
{
	struct wait_item item[TRN_BUILD_ENGINES + TRN_BUILD_LANES];
	struct trn_insn nop = { .opcode = TRN_OP_NOP, .engine = (uint8_t)engine };
	struct trn_build_insn *slot;
	unsigned int n = deps_waits(builder, engine, deps, item), i = 0, k;

	while (!builder->status) {
		bool last = n - i <= 2;

		slot = trn_build_append(builder, last ? insn : &nop);
		for (k = 0; slot && k < 2 && i < n; k++, i++) {
			slot->insn.wait[k] = item[i].sync;
			slot->symbolic[k] = item[i].symbolic;
		}
		if (!slot || last)
			return;
	}
}

void trn_build_issue(struct trn_builder *builder, const struct trn_insn *insn,
		     const struct trn_build_access *access, unsigned int count)
{
	struct trn_build_deps deps;
	struct trn_build_ref ref = { 0, 0, 0 };
	struct trn_insn tagged = *insn;
	unsigned int i;

	if (!builder || builder->status)
		return;
	memset(&deps, 0, sizeof(deps));
	for (i = 0; i < count; i++)
		trn_build_map_collect(builder, insn->engine, &access[i], &deps);
	tagged.tag = ++builder->operation;
	trn_build_wait(builder, insn->engine, &deps, &tagged);
	if (!builder || builder->status)
		return;
	ref.engine = insn->engine;
	ref.index = builder->stream[insn->engine].count;
	for (i = 0; i < count; i++)
		trn_build_map_record(builder, &access[i], ref);
}
