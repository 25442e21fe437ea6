// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * DMA engines in time mode.
 *
 * An engine is an actor of the clock. In a turn it looks at the next packet of a queue that has
 * work, round robin, and prices it; its next turn is when that price is paid, and then it executes
 * the packet. A queue that had nothing to do starts only a while after its doorbell.
 *
 * Locking: engine->lock guards the state here as well, and is held while a post or a new moment
 * goes to the clock, so that the two never cross.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "timing.h"
#include "udma_priv.h"

/** struct emu_engine_time - what an engine does next. */
struct emu_engine_time {
	uint32_t pending;		 /* queues that may have work */
	uint64_t ready[TRN_UDMA_QUEUES]; /* when each of them may start */
	unsigned int last;		 /* queue served last */
	bool executing;			 /* of queue last: */
	uint32_t descs;
	uint64_t bytes, start;
};

int emu_engines_time_create(struct emu_device *device)
{
	unsigned int i;

	for (i = 0; device->timing && i < device->product->engines; i++) {
		device->engine[i].time = calloc(1, sizeof(*device->engine[i].time));
		if (!device->engine[i].time)
			return -ENOMEM;
	}
	return 0;
}

void emu_engines_time_destroy(struct emu_device *device)
{
	unsigned int i;

	for (i = 0; i < device->product->engines; i++)
		free(device->engine[i].time);
}

void emu_engines_time_power_up(struct emu_device *device)
{
	unsigned int i;

	for (i = 0; device->timing && i < device->product->engines; i++) {
		struct emu_dma_engine *engine = &device->engine[i];

		pthread_mutex_lock(&engine->lock);
		memset(engine->time, 0, sizeof(*engine->time));
		pthread_mutex_unlock(&engine->lock);
	}
}

void emu_dma_engine_post(struct emu_dma_engine *engine, uint32_t mask)
{
	struct emu_device *device = engine->device;
	struct emu_engine_time *time = engine->time;
	struct emu_clock *clock = emu_timing_clock(device);
	unsigned int q;

	pthread_mutex_lock(&engine->lock);
	for (q = 0; q < TRN_UDMA_QUEUES; q++) {
		uint64_t ready;

		/* A queue that waits for its start has one moment, whatever comes behind. */
		if (!(mask & 1u << q) || (time->pending & 1u << q) ||
		    !emu_udma_runnable(engine, &engine->queue[q]))
			continue;
		ready = emu_clock_now(clock);
		/* A busy queue has fetched the new descriptors by the time it gets to them. */
		if (!time->executing || time->last != q)
			ready += emu_timing_costs(device)->dma_start_ps;
		time->ready[q] = ready;
		time->pending |= 1u << q;
		if (!time->executing)
			emu_clock_post(clock, emu_timing_engine(device, engine->id), ready);
	}
	pthread_mutex_unlock(&engine->lock);
}

static bool is_completion(struct emu_device *device, uint64_t addr, uint32_t len)
{
	struct emu_target target;

	if (len > sizeof(uint64_t))
		return false;
	emu_decode(device, addr, len, &target);
	return target.kind == EMU_TARGET_REGISTER || target.kind == EMU_TARGET_HOST ||
	       target.kind == EMU_TARGET_LINK;
}

/* Walks through the batch as its execution will, to the end of the first packet. */
static uint64_t batch_price(struct emu_batch *batch, struct emu_engine_time *time)
{
	const struct emu_costs *costs = emu_timing_costs(batch->engine->device);
	uint32_t i = 0, k = 0, at[2] = { batch->offset[EMU_M2S], batch->offset[EMU_S2M] };
	uint64_t ps = 0;

	time->bytes = 0;
	while (i < batch->count[EMU_M2S] && k < batch->count[EMU_S2M]) {
		const struct trn_desc *m2s = &batch->desc[EMU_M2S][i];
		const struct trn_desc *s2m = &batch->desc[EMU_S2M][k];
		uint32_t from = emu_desc_bytes(m2s), to = emu_desc_bytes(s2m), len;

		if (at[EMU_M2S] >= from || at[EMU_S2M] >= to)
			break; /* changed meanwhile: execution will report it */
		from -= at[EMU_M2S];
		to -= at[EMU_S2M];
		len = from < to ? from : to;
		ps += emu_cost_dma_run(costs, len,
				       is_completion(batch->engine->device, s2m->addr + at[EMU_S2M],
						     len));
		time->bytes += len;
		at[EMU_M2S] += len;
		at[EMU_S2M] += len;
		if (len == to) {
			k++;
			at[EMU_S2M] = 0;
		}
		if (len == from) {
			i++;
			at[EMU_M2S] = 0;
			if (m2s->ctrl & TRN_DESC_LAST)
				break;
		}
	}
	time->descs = i ? i : 1;
	return ps;
}

/* Price of the next packet of a queue; EMU_CLOCK_NEVER: it has none. */
static uint64_t queue_price(struct emu_dma_engine *engine, unsigned int q)
{
	struct emu_batch batch;
	uint64_t ps = 0;

	if (!emu_batch_take(&batch, engine, q))
		return EMU_CLOCK_NEVER;
	engine->time->descs = 1;
	engine->time->bytes = 0;
	/* Without ring memory execution comes at once, and fails. */
	if (!emu_batch_fetch(&batch, EMU_S2M) && !emu_batch_fetch(&batch, EMU_M2S))
		ps = batch_price(&batch, engine->time);
	emu_batch_book(&batch);
	return ps;
}

static void packet_execute(struct emu_dma_engine *engine, uint64_t now)
{
	struct emu_engine_time *time = engine->time;
	unsigned int q = time->last;
	bool more = emu_queue_service(engine, q, time->descs);

	if (now > time->start)
		emu_timing_dma_span(engine->device, engine->id, q, time->start, now, time->bytes);
	pthread_mutex_lock(&engine->lock);
	time->executing = false;
	if (more) {
		time->pending |= 1u << q;
		time->ready[q] = now;
	}
	pthread_mutex_unlock(&engine->lock);
}

/* The next queue in turn that may start now, no longer pending; TRN_UDMA_QUEUES: none, and *@when
 * is the first moment at which one may. */
static unsigned int queue_choose(struct emu_dma_engine *engine, uint64_t now, uint64_t *when)
{
	struct emu_engine_time *time = engine->time;
	unsigned int i, chosen = TRN_UDMA_QUEUES;

	*when = EMU_CLOCK_NEVER;
	pthread_mutex_lock(&engine->lock);
	for (i = 1; i <= TRN_UDMA_QUEUES && chosen == TRN_UDMA_QUEUES; i++) {
		unsigned int q = (time->last + i) % TRN_UDMA_QUEUES;

		if (!(time->pending & 1u << q))
			continue;
		if (time->ready[q] <= now)
			chosen = q;
		else if (time->ready[q] < *when)
			*when = time->ready[q];
	}
	if (chosen != TRN_UDMA_QUEUES) {
		time->pending &= ~(1u << chosen);
		time->executing = true;
		time->last = chosen;
	} else {
		emu_clock_set(emu_timing_clock(engine->device),
			      emu_timing_engine(engine->device, engine->id), *when);
	}
	pthread_mutex_unlock(&engine->lock);
	return chosen;
}

/* A queue with nothing to execute after all; what was posted meanwhile stays pending. */
static void queue_empty(struct emu_dma_engine *engine)
{
	pthread_mutex_lock(&engine->lock);
	engine->time->executing = false;
	pthread_mutex_unlock(&engine->lock);
}

/* A hanging engine forgets what it was about to do: the end of the fault makes every engine look at
 * all its queues, and does so after the lock was held here. */
static bool engine_hangs(struct emu_dma_engine *engine)
{
	struct emu_device *device = engine->device;
	bool hangs;

	pthread_mutex_lock(&engine->lock);
	hangs = emu_fault_value(device, EMU_FAULT_ENGINE_HANG) == engine->id + 1u;
	if (hangs) {
		engine->time->pending = 0;
		engine->time->executing = false;
		emu_clock_set(emu_timing_clock(device), emu_timing_engine(device, engine->id),
			      EMU_CLOCK_NEVER);
	}
	pthread_mutex_unlock(&engine->lock);
	return hangs;
}

/* One turn of an engine: ends the packet under way, begins the next. */
static void engine_turn(struct emu_dma_engine *engine)
{
	struct emu_device *device = engine->device;
	struct emu_clock *clock = emu_timing_clock(device);
	unsigned int actor = emu_timing_engine(device, engine->id), q;
	uint64_t now = emu_clock_now(clock), when, price;

	if (engine_hangs(engine))
		return;
	if (engine->time->executing)
		packet_execute(engine, now);
	while ((q = queue_choose(engine, now, &when)) != TRN_UDMA_QUEUES) {
		price = queue_price(engine, q);
		if (price == EMU_CLOCK_NEVER) {
			queue_empty(engine);
			continue;
		}
		engine->time->start = now;
		emu_clock_set(clock, actor, now + price);
		return;
	}
}

void emu_group_work_timed(struct emu_group *group)
{
	struct emu_device *device = group->device;
	unsigned int owner = emu_timing_group(device, (unsigned int)(group - device->group));
	unsigned int first = emu_timing_engine(device, 0), actor;

	while ((actor = emu_clock_next(emu_timing_clock(device), owner)) != EMU_CLOCK_NOBODY)
		engine_turn(&device->engine[actor - first]);
}
