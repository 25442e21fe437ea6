// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Execution of descriptor rings: what a DMA worker does after a doorbell.
 *
 * A batch is a snapshot of up to EMU_BATCH posted descriptors of each direction, taken under the
 * engine's lock, executed without it and booked under it again, unless the queue's generation
 * changed meanwhile. Inside a batch the worker only looks at the queue's "interrupted" flag and
 * publishes its progress, so a descriptor costs no lock. M2S data is a stream cut into packets at
 * LAST; S2M descriptors are filled from it one after the other, and a packet must end where an S2M
 * descriptor ends.
 */
#include <string.h>
#include "device.h"
#include "timing.h"
#include "udma_priv.h"

#define HARD_PACKET_DESCS  128u
#define AXI_M2S_DESC_READ  (1u << 0)
#define AXI_M2S_DATA_READ  (1u << 1)
#define AXI_S2M_DESC_READ  (1u << 3)
#define AXI_S2M_DATA_WRITE (1u << 4)
#define HARD_PACKET_BYTES  0xfffffu /* reset value of the packet length limit */

static void batch_limits(struct emu_batch *batch)
{
	struct emu_block *udma = batch->engine->udma;

	batch->max_descs = emu_store_read(udma, TRN_UDMA_M2S + TRN_M2S_PREFETCH_CFG2) & 0xff;
	if (!batch->max_descs)
		batch->max_descs = TRN_PACKET_MAX_DESCS;
	if (batch->max_descs > HARD_PACKET_DESCS)
		batch->max_descs = HARD_PACKET_DESCS;
	batch->max_bytes = emu_store_read(udma, TRN_UDMA_M2S + TRN_M2S_PKT_LEN_CFG) &
			   HARD_PACKET_BYTES;
	if (!batch->max_bytes)
		batch->max_bytes = HARD_PACKET_BYTES;
}

/* Return: false when the queue has nothing that can be executed. */
bool emu_batch_take(struct emu_batch *batch, struct emu_dma_engine *engine, unsigned int q)
{
	struct emu_queue *queue = &engine->queue[q];
	unsigned int depth = 0;
	bool any;
	int dir;

	batch->engine = engine;
	batch->queue = queue;
	batch->q = q;
	pthread_mutex_lock(&batch->engine->lock);
	any = emu_udma_runnable(batch->engine, queue);
	for (dir = EMU_M2S; any && dir <= EMU_S2M; dir++) {
		struct emu_ring *ring = &queue->ring[dir];
		uint64_t pending = ring->posted - ring->done;

		batch->base[dir] = ring->base;
		batch->length[dir] = ring->length;
		batch->index[dir] = (uint32_t)(ring->done % ring->length);
		batch->count[dir] = pending < EMU_BATCH ? (uint32_t)pending : EMU_BATCH;
		batch->offset[dir] = queue->offset[dir];
		batch->used[dir] = 0;
		batch->cause[dir] = 0;
		batch->ignored[dir] = 0;
		batch->ring_id[dir] = (uint32_t)(TRN_RING_FIRST_ID + ring->done / ring->length);
		atomic_store_explicit(&ring->moved, 0, memory_order_relaxed);
		if (ring->depth > depth)
			depth = ring->depth;
	}
	if (any) {
		batch->generation = queue->generation;
		batch->packet = queue->packet;
		batch->program = queue->ring[EMU_M2S].program;
		batch->origin = (struct emu_origin){ .depth = depth + 1 };
		queue->in_batch = true;
		queue->executing = true;
		queue->overdue = false;
		atomic_store(&queue->interrupted, false);
	}
	pthread_mutex_unlock(&batch->engine->lock);
	batch->bytes = 0;
	batch->interrupt = false;
	batch->waits = false;
	batch->error_addr = 0;
	batch_limits(batch);
	return any;
}

/* Return: the queue may have more work. */
bool emu_batch_book(struct emu_batch *batch)
{
	struct emu_device *device = batch->engine->device;
	struct emu_queue *queue = batch->queue;
	bool more, valid;
	int dir;

	pthread_mutex_lock(&batch->engine->lock);
	valid = queue->generation == batch->generation;
	for (dir = EMU_M2S; valid && dir <= EMU_S2M; dir++) {
		queue->ring[dir].done += batch->used[dir];
		queue->offset[dir] = batch->offset[dir];
		queue->packet = batch->packet;
		queue->in_batch = false;
	}
	if (!valid) {
		/* The error of a descriptor that was withdrawn meanwhile is nobody's. */
		batch->cause[EMU_M2S] = 0;
		batch->cause[EMU_S2M] = 0;
	}
	more = emu_udma_runnable(batch->engine, queue);
	queue->executing = false;
	if (batch->engine->waiters)
		pthread_cond_broadcast(&batch->engine->settled);
	pthread_mutex_unlock(&batch->engine->lock);
	emu_stat_add(device, EMU_STAT_DESCRIPTORS, batch->used[EMU_M2S] + batch->used[EMU_S2M]);
	emu_stat_add(device, EMU_STAT_DMA_BYTES, batch->bytes);
	return more;
}

static uint64_t batch_addr(const struct emu_batch *batch, enum emu_direction dir)
{
	return batch->base[dir] + (uint64_t)batch->index[dir] * TRN_DESC_SIZE;
}

int emu_batch_fetch(struct emu_batch *batch, enum emu_direction dir)
{
	struct emu_device *device = batch->engine->device;
	uint32_t until_wrap = batch->length[dir] - batch->index[dir];
	uint32_t first = batch->count[dir] < until_wrap ? batch->count[dir] : until_wrap;
	uint32_t rest = batch->count[dir] - first;
	int status;

	status = emu_memory_read(device, batch_addr(batch, dir), batch->desc[dir],
				 (size_t)first * TRN_DESC_SIZE);
	if (!status)
		status = emu_memory_read(device, batch->base[dir], &batch->desc[dir][first],
					 (size_t)rest * TRN_DESC_SIZE);
	return status;
}

static bool batch_fetch_dir(struct emu_batch *batch, enum emu_direction dir)
{
	struct emu_device *device = batch->engine->device;
	uint64_t addr = batch_addr(batch, dir);
	int status = emu_batch_fetch(batch, dir);

	if (!status)
		return true;
	batch->error_addr = addr;
	batch->cause[dir] |= dir == EMU_M2S ? TRN_ERR_A_PREFETCH_RESPONSE
					    : TRN_ERR_B_PREFETCH_RESPONSE;
	if (status != EMU_MEMORY_ECC)
		emu_complain(device, EMU_COMPLAINT_DESC_ADDRESS,
			     "engine %u queue %u %s: no ring memory at 0x%llx", batch->engine->id,
			     batch->q, dir == EMU_M2S ? "M2S" : "S2M", (unsigned long long)addr);
	return false;
}

static uint32_t iofic_group(enum emu_direction dir)
{
	return TRN_UDMA_GEN +
	       (dir == EMU_M2S ? TRN_GEN_IOFIC_SECONDARY_A : TRN_GEN_IOFIC_SECONDARY_B);
}

static uint32_t abort_mask(const struct emu_dma_engine *engine, enum emu_direction dir)
{
	return emu_store_read(engine->udma, iofic_group(dir) + TRN_IOFIC_ABORT_MASK);
}

/* Error bits show in the secondary interrupt controller; a wrong ring id in the FIS block too. */
static void errors_latch(struct emu_dma_engine *engine, const uint32_t cause[2])
{
	int dir;

	for (dir = EMU_M2S; dir <= EMU_S2M; dir++)
		emu_iofic_latch(&engine->udma->store[iofic_group(dir) / 4], cause[dir]);
	emu_fis_latch(engine->fis,
		      cause[EMU_M2S] & TRN_ERR_A_WRONG_RING_ID ? TRN_FIS_M2S_WRONG_RING_ID : 0,
		      cause[EMU_S2M] & TRN_ERR_B_WRONG_RING_ID ? TRN_FIS_S2M_WRONG_RING_ID : 0);
}

static bool fail_desc(struct emu_batch *batch, enum emu_direction dir, uint32_t cause,
		      enum emu_complaint kind, const char *what)
{
	const struct trn_desc *desc = &batch->desc[dir][batch->used[dir]];

	batch->cause[dir] |= cause;
	batch->error_addr = desc->addr;
	emu_complain(batch->engine->device, kind,
		     "engine %u queue %u %s descriptor %u {%08x %08x %016llx}: %s",
		     batch->engine->id, batch->q, dir == EMU_M2S ? "M2S" : "S2M",
		     (batch->index[dir] + batch->used[dir]) % batch->length[dir], desc->ctrl,
		     desc->meta, (unsigned long long)desc->addr, what);
	return false;
}

/* The producer counts its passes through the ring in every descriptor. Where that error does not
 * abort, rings are run again as they are: it is latched and the descriptor executed. */
static bool check_ring_id(struct emu_batch *batch, enum emu_direction dir,
			  const struct trn_desc *desc)
{
	static const uint32_t bit[2] = { TRN_ERR_A_WRONG_RING_ID, TRN_ERR_B_WRONG_RING_ID };
	bool wrapped = batch->index[dir] + batch->used[dir] >= batch->length[dir];
	uint32_t want = (batch->ring_id[dir] + wrapped) & 3;

	if ((desc->ctrl & TRN_DESC_RING_ID_MASK) >> TRN_DESC_RING_ID_SHIFT == want)
		return true;
	if (!(bit[dir] & ~abort_mask(batch->engine, dir))) {
		batch->ignored[dir] |= bit[dir];
		return true;
	}
	/* A program that runs its ring a second time: its fault, no mistake of the driver. */
	if (batch->program) {
		batch->cause[dir] |= bit[dir];
		batch->error_addr = desc->addr;
		return false;
	}
	return fail_desc(batch, dir, bit[dir], EMU_COMPLAINT_DESC_RESERVED, "wrong ring id");
}

static bool check_m2s(struct emu_batch *batch, const struct trn_desc *desc)
{
	if (!check_ring_id(batch, EMU_M2S, desc))
		return false;
	if (desc->ctrl & TRN_DESC_M2S_RESERVED)
		return fail_desc(batch, EMU_M2S, TRN_ERR_A_DATA_RESPONSE,
				 EMU_COMPLAINT_DESC_RESERVED, "reserved bit set");
	if ((desc->meta & ~TRN_META_WRITE_BARRIER) != TRN_META_PLAIN)
		return fail_desc(batch, EMU_M2S, TRN_ERR_A_DATA_RESPONSE,
				 EMU_COMPLAINT_DESC_RESERVED, "operation other than plain copy");
	if (!batch->packet.open != !!(desc->ctrl & TRN_DESC_FIRST))
		return fail_desc(batch, EMU_M2S,
				 batch->packet.open ? TRN_ERR_A_BAD_LAST : TRN_ERR_A_BAD_FIRST,
				 EMU_COMPLAINT_DESC_RESERVED,
				 batch->packet.open ? "FIRST inside a packet"
						    : "packet begins without FIRST");
	batch->packet.open = true;
	batch->packet.descs++;
	batch->packet.bytes += emu_desc_bytes(desc);
	if (batch->packet.descs > batch->max_descs)
		return fail_desc(batch, EMU_M2S, TRN_ERR_A_TOO_MANY_DESCS,
				 EMU_COMPLAINT_DESC_LENGTH, "too many descriptors in the packet");
	if (batch->packet.bytes > batch->max_bytes)
		return fail_desc(batch, EMU_M2S, TRN_ERR_A_PKT_TOO_LONG, EMU_COMPLAINT_DESC_LENGTH,
				 "packet too long");
	return true;
}

static bool check_s2m(struct emu_batch *batch, const struct trn_desc *desc)
{
	if (!check_ring_id(batch, EMU_S2M, desc))
		return false;
	if ((desc->ctrl & TRN_DESC_S2M_RESERVED) || desc->meta)
		return fail_desc(batch, EMU_S2M, TRN_ERR_B_DATA_RESPONSE,
				 EMU_COMPLAINT_DESC_RESERVED, "reserved bit set");
	return true;
}

/* A completion in the sense of the faults on demand: the 4-byte marker of a host copy. */
static bool completion_fault(struct emu_batch *batch, const struct trn_desc *m2s,
			     const struct trn_desc *s2m)
{
	struct emu_device *device = batch->engine->device;

	if (batch->engine->core >= 0 || emu_desc_bytes(m2s) != 4)
		return false;
	emu_fault_delay(device, EMU_FAULT_COMPLETION_LATE);
	if (emu_fault_take(device, EMU_FAULT_COMPLETION_DOUBLE))
		emu_memory_copy(device, s2m->addr, m2s->addr, 4, batch->origin);
	return emu_fault_take(device, EMU_FAULT_COMPLETION_MISSING);
}

static enum emu_copy_error batch_copy(struct emu_batch *batch, uint64_t dst, uint64_t src,
				      size_t len, size_t *moved)
{
	struct emu_device *device = batch->engine->device;
	const struct emu_copy_request request = {
		.engine = batch->engine,
		.queue = batch->q,
		.generation = batch->generation,
		.dst = dst,
		.src = src,
		.len = len,
		.depth = batch->origin.depth,
	};

	*moved = len;
	if (emu_copy_over_link(device, dst, src))
		return emu_link_copy(&request, moved);
	return emu_memory_copy(device, dst, src, len, batch->origin);
}

/* *@moved: bytes moved of @len, fewer when the queue has to wait for a link. Return: false after
 * an error. */
static bool batch_move(struct emu_batch *batch, const struct trn_desc *m2s,
		       const struct trn_desc *s2m, size_t len, size_t *moved)
{
	enum emu_copy_error error;

	*moved = len;
	if (completion_fault(batch, m2s, s2m))
		return true;
	error = batch_copy(batch, s2m->addr + batch->offset[EMU_S2M],
			   m2s->addr + batch->offset[EMU_M2S], len, moved);
	if (error == EMU_COPY_WAIT) {
		batch->bytes += *moved;
		batch->waits = true;
		return true;
	}
	/* Damaged memory is nobody's mistake. */
	if (error == EMU_COPY_ECC) {
		batch->cause[EMU_M2S] |= TRN_ERR_A_DATA_RESPONSE;
		batch->error_addr = m2s->addr;
		return false;
	}
	if (error == EMU_COPY_SOURCE)
		return fail_desc(batch, EMU_M2S, TRN_ERR_A_DATA_RESPONSE,
				 EMU_COMPLAINT_DESC_ADDRESS, "source cannot be read");
	if (error == EMU_COPY_DESTINATION)
		return fail_desc(batch, EMU_S2M, TRN_ERR_B_DATA_RESPONSE,
				 EMU_COMPLAINT_DESC_ADDRESS, "destination cannot be written");
	batch->bytes += len;
	return true;
}

static void batch_advance(struct emu_batch *batch, enum emu_direction dir, uint32_t len,
			  uint32_t bytes)
{
	batch->offset[dir] += len;
	if (batch->offset[dir] < bytes)
		return;
	batch->offset[dir] = 0;
	batch->used[dir]++;
	atomic_store_explicit(&batch->queue->ring[dir].moved, batch->used[dir],
			      memory_order_release);
}

/* Moves what the two present descriptors have in common. Return: false ends the batch. */
static bool descriptors_move(struct emu_batch *batch)
{
	const struct trn_desc *m2s = &batch->desc[EMU_M2S][batch->used[EMU_M2S]];
	const struct trn_desc *s2m = &batch->desc[EMU_S2M][batch->used[EMU_S2M]];
	uint32_t m2s_bytes = emu_desc_bytes(m2s), s2m_bytes = emu_desc_bytes(s2m), len;
	uint32_t m2s_left, s2m_left;
	size_t moved;
	bool end;

	if (!batch->offset[EMU_M2S] && !check_m2s(batch, m2s))
		return false;
	if (!batch->offset[EMU_S2M] && !check_s2m(batch, s2m))
		return false;
	/* Ring memory may have been rewritten since a former batch moved a part. */
	if (batch->offset[EMU_M2S] >= m2s_bytes || batch->offset[EMU_S2M] >= s2m_bytes)
		return fail_desc(batch, EMU_S2M, TRN_ERR_B_LENGTH_MISMATCH,
				 EMU_COMPLAINT_DESC_LENGTH,
				 "descriptor changed while it was executed");
	m2s_left = m2s_bytes - batch->offset[EMU_M2S];
	s2m_left = s2m_bytes - batch->offset[EMU_S2M];
	end = (m2s->ctrl & TRN_DESC_LAST) && m2s_left <= s2m_left;
	if (end && m2s_left != s2m_left)
		return fail_desc(batch, EMU_S2M, TRN_ERR_B_LENGTH_MISMATCH,
				 EMU_COMPLAINT_DESC_LENGTH, "packet ends inside this descriptor");
	len = m2s_left < s2m_left ? m2s_left : s2m_left;
	if (!batch_move(batch, m2s, s2m, len, &moved))
		return false;
	if (batch->waits) {
		batch_advance(batch, EMU_M2S, (uint32_t)moved, m2s_bytes);
		batch_advance(batch, EMU_S2M, (uint32_t)moved, s2m_bytes);
		return false;
	}
	if (((m2s->ctrl & TRN_DESC_INT) && len == m2s_left) ||
	    ((s2m->ctrl & TRN_DESC_INT) && len == s2m_left))
		batch->interrupt = true;
	if (end)
		batch->packet = (struct emu_packet){ 0 };
	batch_advance(batch, EMU_M2S, len, m2s_bytes);
	batch_advance(batch, EMU_S2M, len, s2m_bytes);
	/* An interrupt is sent after the heads were booked, thus the batch ends here. */
	return !emu_fault_step(batch->engine->device) && !batch->interrupt;
}

/* Return: false ends the batch. A descriptor that failed as a whole is looked at again when the
 * engine leaves the abort, one of which nothing was moved when the link is up, so it is not part of
 * its packet yet. */
static bool batch_step(struct emu_batch *batch)
{
	const struct emu_packet before = batch->packet;
	bool fresh = !batch->offset[EMU_M2S];
	bool more = descriptors_move(batch);

	if (fresh && ((batch->cause[EMU_M2S] | batch->cause[EMU_S2M]) ||
		      (batch->waits && !batch->offset[EMU_M2S])))
		batch->packet = before;
	return more;
}

/* Which accesses failed, in the order of the AXI interrupt groups. */
static uint32_t axi_status(const struct emu_batch *batch)
{
	return (batch->cause[EMU_M2S] & TRN_ERR_A_PREFETCH_RESPONSE ? AXI_M2S_DESC_READ : 0) |
	       (batch->cause[EMU_M2S] & TRN_ERR_A_DATA_RESPONSE ? AXI_M2S_DATA_READ : 0) |
	       (batch->cause[EMU_S2M] & TRN_ERR_B_PREFETCH_RESPONSE ? AXI_S2M_DESC_READ : 0) |
	       (batch->cause[EMU_S2M] & TRN_ERR_B_DATA_RESPONSE ? AXI_S2M_DATA_WRITE : 0);
}

/* Latches the error and stops the engine unless the abort mask says otherwise; then the ring goes
 * on behind the descriptor. */
static void batch_error(struct emu_batch *batch)
{
	struct emu_dma_engine *engine = batch->engine;
	struct emu_device *device = engine->device;
	const struct emu_event event = {
		.kind = EMU_EVENT_DMA_ERROR,
		.arg = { engine->id, batch->q,
			 (uint64_t)batch->cause[EMU_M2S] << 32 | batch->cause[EMU_S2M],
			 batch->error_addr },
	};
	bool abort = false;
	int dir;

	emu_udma_axi_latch(engine, batch->q, axi_status(batch));
	for (dir = EMU_M2S; dir <= EMU_S2M; dir++)
		abort |= (batch->cause[dir] & ~abort_mask(engine, dir)) != 0;
	errors_latch(engine, batch->cause);
	pthread_mutex_lock(&engine->lock);
	if (abort) {
		engine->state[EMU_M2S] = EMU_UDMA_ABORT;
		engine->state[EMU_S2M] = EMU_UDMA_ABORT;
	} else if (batch->queue->generation == batch->generation) {
		struct emu_queue *queue = batch->queue;

		for (dir = EMU_M2S; dir <= EMU_S2M; dir++) {
			if (queue->ring[dir].done < queue->ring[dir].posted)
				queue->ring[dir].done++;
			queue->offset[dir] = 0;
		}
		queue->packet = (struct emu_packet){ 0 };
	}
	pthread_mutex_unlock(&engine->lock);
	emu_stat_add(device, EMU_STAT_DMA_ERRORS, 1);
	emu_event(device, &event);
	if (engine->core >= 0)
		emu_unit_dma_error(&device->unit[engine->core], batch->error_addr);
	emu_irq_raise(device, TRN_VECTOR_DEVICE);
}

bool emu_queue_service(struct emu_dma_engine *engine, unsigned int q, uint32_t limit)
{
	struct emu_batch batch;
	bool more;

	if (emu_device_removed(engine->device) || !emu_batch_take(&batch, engine, q))
		return false;
	if (batch.count[EMU_M2S] > limit)
		batch.count[EMU_M2S] = limit;
	if (batch_fetch_dir(&batch, EMU_S2M) && batch_fetch_dir(&batch, EMU_M2S)) {
		while (batch.used[EMU_M2S] < batch.count[EMU_M2S] &&
		       batch.used[EMU_S2M] < batch.count[EMU_S2M] && batch_step(&batch) &&
		       !atomic_load_explicit(&batch.queue->interrupted, memory_order_relaxed))
			;
	}
	/* Who waits for a link is woken by it. */
	more = emu_batch_book(&batch) && !batch.waits;
	if (emu_device_removed(engine->device))
		return false;
	if (batch.ignored[EMU_M2S] | batch.ignored[EMU_S2M])
		errors_latch(engine, batch.ignored);
	if (batch.cause[EMU_M2S] | batch.cause[EMU_S2M]) {
		batch_error(&batch);
		more = true;
	}
	if (batch.interrupt)
		emu_irq_raise(engine->device, engine->vector);
	return more;
}

static void engine_service(struct emu_dma_engine *engine)
{
	uint32_t queues = atomic_exchange(&engine->ready, 0), again = 0;
	struct emu_device *device = engine->device;
	unsigned int q;

	if (emu_fault_value(device, EMU_FAULT_ENGINE_HANG) == engine->id + 1u) {
		atomic_fetch_or(&engine->ready, queues);
		return;
	}
	for (q = 0; q < TRN_UDMA_QUEUES; q++) {
		if (!(queues & (1u << q)))
			continue;
		if (emu_queue_service(engine, q, EMU_BATCH))
			again |= 1u << q;
		if (atomic_load_explicit(&device->stopping, memory_order_relaxed))
			return;
	}
	if (again)
		emu_dma_engine_kick(engine, again);
}

void emu_group_work(void *opaque)
{
	struct emu_group *group = opaque;
	uint32_t engines;
	unsigned int e;

	if (group->device->timing) {
		emu_group_work_timed(group);
		return;
	}
	engines = atomic_exchange(&group->ready, 0);
	for (e = 0; e < group->count; e++) {
		if (atomic_load_explicit(&group->device->stopping, memory_order_relaxed))
			return;
		if (engines & (1u << e))
			engine_service(&group->device->engine[group->first + e]);
	}
}
