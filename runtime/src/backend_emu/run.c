// SPDX-License-Identifier: BSD-2-Clause
/*
 * One run of a program on a core: program its rings if others are in their place, else rewind them;
 * one request, one doorbell; the end is a notification with the cookie.
 *
 * Locking: a core belongs to its owner's worker; trn_emu.lock guards its counters, trn_emu_ctx.lock
 * the status.
 */
#include <errno.h>
#include <string.h>

#include "emu.h"

static int rings_load(struct trn_emu *emu, struct trn_emu_core *core,
		      const struct trn_emu_program *program)
{
	struct trn_emu_ring *ring, **slot;
	uint32_t i;
	int error;

	for (i = 0; i < program->ring_count; i++) {
		ring = program->rings[i];
		slot = &core->loaded[ring->engine % TRN_ENGINES_PER_CORE][ring->queue];
		if (*slot == ring) {
			trnhw_udma_queue_rewind(&emu->hw, ring->engine, ring->queue);
			continue;
		}
		error = trnhw_udma_queue_init(&emu->hw, ring->engine, ring->queue, &ring->hw);
		if (error)
			return error;
		atomic_fetch_add(&ring->refs, 1);
		trn_emu_ring_put(emu, *slot);
		*slot = ring;
	}
	return 0;
}

/** struct outcome - what the notifications of a run say. */
struct outcome {
	uint64_t cookie;
	bool ended;
	uint32_t code;
	uint32_t engine;
	uint32_t tag;
	uint32_t pc;
	uint64_t address;
};

static void notifications_read(struct trn_emu_core *core, struct outcome *outcome)
{
	struct trn_notification entry;

	while (trnhw_core_poll(&core->hw, &entry)) {
		if (entry.payload[0] != outcome->cookie)
			continue;
		if (entry.type == TRN_NOTIFY_ERROR) {
			outcome->address = entry.payload[1];
		} else if (entry.type == TRN_NOTIFY_RUN_END) {
			outcome->ended = true;
			outcome->code = entry.code;
			outcome->engine = entry.engine;
			outcome->tag = entry.tag;
			outcome->pc = entry.payload[1];
		}
	}
}

static int run_wait(struct trn_emu *emu, struct trn_emu_core *core, struct outcome *outcome,
		    uint64_t seen, int64_t deadline)
{
	unsigned int vector = TRN_VECTOR_CORE(core->hw.index);

	for (;;) {
		notifications_read(core, outcome);
		if (outcome->ended)
			return outcome->code ? -EIO : 0;
		if (trnhw_gone(&emu->hw))
			return -ENODEV;
		if (trn_emu_now() >= deadline)
			return -ETIME;
		trn_emu_irq_wait(emu, vector, seen, deadline);
		seen = trn_emu_irq_count(&emu->irqs[vector]);
	}
}

/* Remember the fault for CTX_STATUS and bring the core back. */
static void run_failed(struct trn_emu_ctx *ctx, struct trn_emu_core *core,
		       const struct outcome *outcome, int error)
{
	struct trn_emu *emu = ctx->emu;

	pthread_mutex_lock(&ctx->lock);
	ctx->fault_noted = true;
	ctx->status.guilty = 1;
	ctx->status.fault = error == -EIO ? outcome->code : TRN_FAULT_STOPPED;
	ctx->status.fault_engine = outcome->engine;
	ctx->status.fault_pc = outcome->pc;
	ctx->status.fault_tag = outcome->tag;
	ctx->status.fault_address = outcome->address;
	pthread_mutex_unlock(&ctx->lock);
	pthread_mutex_lock(&emu->lock);
	core->faults++;
	pthread_mutex_unlock(&emu->lock);
	trn_emu_core_recover(emu, core->hw.index);
}

int trn_emu_run(struct trn_emu_ctx *ctx, const struct trn_emu_cmd *cmd, int64_t deadline)
{
	const struct trn_emu_program *program = cmd->program;
	struct trn_emu *emu = ctx->emu;
	struct trn_emu_core *core = &emu->cores[program->core];
	struct outcome outcome = { .cookie = ++core->cookie };
	struct trn_run_request request = {
		.program = program->mem.address,
		.args_size = cmd->cmd.run.args_size,
		.windows = program->windows,
		.window_count = program->window_count,
		.cookie = outcome.cookie,
	};
	uint64_t seen;
	int error;

	/* A core that could not be brought back after a failure. */
	if (!core->hw.running)
		return -EIO;
	error = rings_load(emu, core, program);
	if (error)
		return error;
	if (request.args_size) {
		memcpy(ctx->args.ptr, cmd->args, request.args_size);
		request.args = ctx->args.address;
	}
	seen = trn_emu_irq_count(&emu->irqs[TRN_VECTOR_CORE(program->core)]);
	error = trnhw_core_submit(&core->hw, &request);
	if (error)
		return error == -EAGAIN ? -EIO : error;
	trnhw_core_ring(&core->hw);
	error = run_wait(emu, core, &outcome, seen, deadline);
	if (error) {
		run_failed(ctx, core, &outcome, error);
		return error;
	}
	pthread_mutex_lock(&emu->lock);
	core->runs++;
	pthread_mutex_unlock(&emu->lock);
	return 0;
}
