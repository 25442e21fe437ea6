// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registers of a UDMA: queues, state, doorbells, interrupt controllers. A write changes state and
 * wakes the worker of the engine's group (udma.c), which does the work.
 *
 * Locking: engine->lock guards the queues and the state. Rings count descriptors since the last
 * queue reset; head, tail and ring ids are derived from the counts. A change of what a batch under
 * way relies on raises the queue's generation, so the worker drops its result.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "device.h"
#include "timing.h"

#define QUEUE_STRIDE (TRN_UDMA_QUEUE(1) - TRN_UDMA_QUEUE(0))
#define HALF(dir)    ((dir) == EMU_M2S ? TRN_UDMA_M2S : TRN_UDMA_S2M)
/* A chain of doorbells, each written by DMA that the one before started, may be this long. */
#define DOORBELL_CHAIN_MAX 65536u
#define DMA_VERSION	   4u
#define AXI_QUEUE_STRIDE   (TRN_GEN_AXI_QUEUE(1) - TRN_GEN_AXI_QUEUE(0))

/** struct range - registers at @first, every @stride bytes, @count times. */
struct range {
	uint32_t first, count, stride;
};

#define ONE(offset)            \
	{                      \
		(offset), 1, 4 \
	}

static const struct range m2s_known[] = {
	ONE(TRN_M2S_AXI_DATA_RD_CFG), ONE(TRN_M2S_AXI_DESC_RD_CFG3), ONE(TRN_M2S_AXI_OUTSTANDING),
	ONE(TRN_M2S_STATE),	      ONE(TRN_M2S_CHANGE_STATE),     ONE(TRN_M2S_ERR_LOG_MASK),
	ONE(TRN_M2S_PKT_LEN_CFG),     ONE(TRN_M2S_STREAM_CFG),	     ONE(TRN_M2S_PREFETCH_CFG2),
	ONE(TRN_M2S_PREFETCH_CFG3),   ONE(TRN_M2S_DATA_FIFO_CFG),    ONE(TRN_M2S_ACK_TIMEOUT),
	ONE(TRN_M2S_DMA_VERSION),
};

static const struct range s2m_known[] = {
	ONE(TRN_S2M_AXI_DESC_RD_CFG3),	 ONE(TRN_S2M_AXI_OUTSTANDING_RD),
	ONE(TRN_S2M_AXI_OUTSTANDING_WR), ONE(TRN_S2M_STATE),
	ONE(TRN_S2M_CHANGE_STATE),	 ONE(TRN_S2M_ERR_LOG_MASK),
	ONE(TRN_S2M_STREAM_CFG),	 ONE(TRN_S2M_PREFETCH_CFG3),
	ONE(TRN_S2M_COMPLETION_CFG1C),	 ONE(TRN_S2M_ACK_TIMEOUT),
};

static const struct range queue_known[] = {
	ONE(TRN_Q_PREFETCH_CFG), { TRN_Q_CFG, 12, 4 },	   ONE(TRN_Q_S2M_COMPL_CFG),
	ONE(TRN_Q_S2M_SW_CTRL),	 ONE(TRN_Q_M2S_RATE_MASK), ONE(TRN_Q_M2S_COMPL_CFG),
	ONE(TRN_Q_M2S_SW_CTRL),
};

static const struct range gen_known[] = {
	{ TRN_GEN_IOFIC_PRIMARY(0), 64, 4 },
	{ TRN_GEN_IOFIC_SECONDARY_A, 48, 4 },
	ONE(TRN_GEN_AXI_TIMEOUT),
	{ TRN_GEN_AXI_ERR_DETECT(0), 7 * 16, 4 },
	{ TRN_GEN_AXI_ERR_CTRL_ADDR(0), 7 * 2, 4 },
	{ TRN_GEN_AXI_QUEUE(0), 16 * 3, 4 },
	{ TRN_GEN_IOFIC_AXI(0), 16, 4 },
	{ TRN_GEN_IOFIC_AXI(1), 16, 4 },
	{ TRN_GEN_IOFIC_AXI(2), 16, 4 },
	{ TRN_GEN_IOFIC_AXI(3), 16, 4 },
	{ TRN_GEN_IOFIC_AXI(4), 16, 4 },
	{ TRN_GEN_IOFIC_AXI(5), 16, 4 },
	{ TRN_GEN_IOFIC_AXI(6), 16, 4 },
	{ TRN_GEN_SPARE_ZEROES0, 4, 4 },
};

static bool range_has(const struct range *range, size_t count, uint32_t offset)
{
	size_t i;

	for (i = 0; i < count; i++) {
		uint32_t inside = offset - range[i].first;

		if (inside < range[i].count * range[i].stride && inside % range[i].stride == 0)
			return true;
	}
	return false;
}

#define KNOWN(table, offset) range_has(table, sizeof(table) / sizeof((table)[0]), offset)

/* Queue number and register of an offset in a half; false for the registers of the half itself. */
static bool queue_split(uint32_t inside, unsigned int *queue, uint32_t *reg)
{
	if (inside < TRN_UDMA_QUEUE(0) || inside >= TRN_UDMA_QUEUE(TRN_UDMA_QUEUES))
		return false;
	*queue = (inside - TRN_UDMA_QUEUE(0)) / QUEUE_STRIDE;
	*reg = (inside - TRN_UDMA_QUEUE(0)) % QUEUE_STRIDE;
	return true;
}

bool emu_udma_register_known(uint32_t offset)
{
	unsigned int queue;
	uint32_t reg;

	if (offset >= TRN_UDMA_GENX) {
		uint32_t inside = offset - TRN_UDMA_GENX - TRN_GENX_SELECTOR(0);

		return inside < TRN_UDMA_QUEUES * 0x40 && inside % 0x40 < 0x10;
	}
	if (offset >= TRN_UDMA_GEN)
		return KNOWN(gen_known, offset - TRN_UDMA_GEN);
	if (offset >= TRN_UDMA_S2M) {
		if (queue_split(offset - TRN_UDMA_S2M, &queue, &reg))
			return KNOWN(queue_known, reg);
		return KNOWN(s2m_known, offset - TRN_UDMA_S2M);
	}
	if (queue_split(offset, &queue, &reg))
		return KNOWN(queue_known, reg);
	return KNOWN(m2s_known, offset);
}

void emu_dma_engine_kick(struct emu_dma_engine *engine, uint32_t mask)
{
	struct emu_group *group = engine->group;

	if (engine->time)
		emu_dma_engine_post(engine, mask);
	atomic_fetch_or(&engine->ready, mask);
	atomic_fetch_or(&group->ready, 1u << (engine->id - group->first));
	emu_worker_kick(&group->worker);
}

static bool ring_enabled(const struct emu_ring *ring)
{
	return (ring->cfg & TRN_Q_CFG_ENABLE) == TRN_Q_CFG_ENABLE;
}

static bool half_runs(const struct emu_dma_engine *engine, enum emu_direction dir)
{
	return engine->state[dir] == EMU_UDMA_IDLE || engine->state[dir] == EMU_UDMA_NORMAL;
}

bool emu_udma_runnable(const struct emu_dma_engine *engine, const struct emu_queue *queue)
{
	int dir;

	for (dir = EMU_M2S; dir <= EMU_S2M; dir++) {
		const struct emu_ring *ring = &queue->ring[dir];

		if (!half_runs(engine, dir) || !ring_enabled(ring) || !ring->length ||
		    ring->posted == ring->done)
			return false;
	}
	return true;
}

/* Descriptors finished, with those of the batch under way; lock held. */
static uint64_t ring_done(const struct emu_queue *queue, const struct emu_ring *ring)
{
	return ring->done +
	       (queue->in_batch ? atomic_load_explicit(&ring->moved, memory_order_acquire) : 0);
}

static uint32_t ring_pointer(const struct emu_ring *ring, uint64_t count)
{
	uint64_t pass = ring->length ? count / ring->length : 0;
	uint64_t index = ring->length ? count % ring->length : 0;

	return (uint32_t)(index & TRN_Q_INDEX_MASK) | (uint32_t)((TRN_RING_FIRST_ID + pass) & 3)
							      << TRN_Q_RING_ID_SHIFT;
}

/* Forget what was posted; a batch under way becomes void. Lock held. */
static void queue_void(struct emu_queue *queue)
{
	queue->generation++;
	queue->in_batch = false;
	queue->packet = (struct emu_packet){ 0 };
	queue->offset[EMU_M2S] = 0;
	queue->offset[EMU_S2M] = 0;
	atomic_store(&queue->interrupted, true);
}

static void ring_restart(struct emu_queue *queue, enum emu_direction dir)
{
	struct emu_ring *ring = &queue->ring[dir];
	struct emu_ring *other = &queue->ring[!dir];

	/* The other direction keeps what it finished of the batch that is now void. */
	other->done = ring_done(queue, other);
	queue_void(queue);
	ring->posted = 0;
	ring->done = 0;
	ring->depth = 0;
}

static uint32_t state_read(const struct emu_dma_engine *engine, enum emu_direction dir)
{
	unsigned int q;

	switch (engine->state[dir]) {
	case EMU_UDMA_ABORT:
		return TRN_UDMA_STATE_ABORT;
	case EMU_UDMA_NORMAL:
		return TRN_UDMA_STATE_NORMAL;
	case EMU_UDMA_DISABLED:
		return TRN_UDMA_STATE_IDLE;
	case EMU_UDMA_IDLE:
		break;
	}
	for (q = 0; q < TRN_UDMA_QUEUES; q++)
		if (ring_enabled(&engine->queue[q].ring[dir]))
			return TRN_UDMA_STATE_NORMAL;
	return TRN_UDMA_STATE_IDLE;
}

/* Lock held. */
static void state_change(struct emu_dma_engine *engine, enum emu_direction dir, uint32_t value)
{
	unsigned int q;

	if (value & TRN_UDMA_CHANGE_ABORT)
		engine->state[dir] = EMU_UDMA_ABORT;
	else if (value & TRN_UDMA_CHANGE_DISABLE)
		engine->state[dir] = EMU_UDMA_DISABLED;
	else if (value & TRN_UDMA_CHANGE_NORMAL)
		engine->state[dir] = EMU_UDMA_NORMAL;
	for (q = 0; q < TRN_UDMA_QUEUES; q++)
		atomic_store(&engine->queue[q].interrupted, true);
}

static void ring_size_check(struct emu_dma_engine *engine, unsigned int q, uint32_t length)
{
	if (length &&
	    (length < TRN_RING_MIN || length > TRN_RING_MAX || length % TRN_RING_MULTIPLE))
		emu_complain(engine->device, EMU_COMPLAINT_RING_SIZE,
			     "engine %u queue %u: ring of %u descriptors; must be a multiple of %u "
			     "from %u to %u",
			     engine->id, q, length, TRN_RING_MULTIPLE, TRN_RING_MIN, TRN_RING_MAX);
}

static void ring_align_check(struct emu_dma_engine *engine, unsigned int q, uint32_t low)
{
	if (low % TRN_RING_ALIGN)
		emu_complain(engine->device, EMU_COMPLAINT_RING_ALIGN,
			     "engine %u queue %u: ring at ...%08x is not aligned to %u bytes",
			     engine->id, q, low, TRN_RING_ALIGN);
}

int emu_udma_doorbell(struct emu_dma_engine *engine, enum emu_direction dir, unsigned int q,
		      uint32_t count, struct emu_origin origin)
{
	struct emu_queue *queue = &engine->queue[q];
	struct emu_ring *ring = &queue->ring[dir];
	enum emu_complaint wrong = EMU_COMPLAINT_NONE;
	uint64_t pending = 0;
	uint32_t length;
	bool kick = false, refused = false;
	const struct emu_event event = { .kind = EMU_EVENT_DOORBELL,
					 .arg = { engine->id, q, dir, count & TRN_Q_INDEX_MASK } };

	count &= TRN_Q_INDEX_MASK;
	pthread_mutex_lock(&engine->lock);
	length = ring->length;
	if (engine->state[dir] == EMU_UDMA_ABORT) {
		/* Not a mistake: the guest may not know of the abort yet. */
		refused = true;
	} else if (!ring_enabled(ring) || !length || !half_runs(engine, dir)) {
		wrong = EMU_COMPLAINT_DOORBELL_DISABLED;
	} else {
		pending = ring->posted - ring_done(queue, ring);
		/*
		 * A descriptor whose data has arrived and that is not yet counted as done is the
		 * guest's again.
		 */
		if (pending + count > (uint64_t)length + queue->in_batch)
			wrong = EMU_COMPLAINT_DOORBELL_OVERRUN;
		else if (origin.depth > DOORBELL_CHAIN_MAX)
			wrong = EMU_COMPLAINT_REGISTER_DMA_LOOP;
	}
	if (!wrong && !refused) {
		ring->posted += count;
		ring->depth = origin.depth;
		ring->program = origin.program;
		kick = emu_udma_runnable(engine, queue);
	}
	pthread_mutex_unlock(&engine->lock);
	if (!wrong && !refused) {
		emu_stat_add(engine->device, EMU_STAT_DOORBELLS, 1);
		emu_event(engine->device, &event);
	}
	if (kick)
		emu_dma_engine_kick(engine, 1u << q);
	if (wrong && !origin.program)
		emu_complain(engine->device, wrong,
			     "engine %u queue %u %s: doorbell of %u descriptors refused (%llu "
			     "pending, ring of %u)",
			     engine->id, q, dir == EMU_M2S ? "M2S" : "S2M", count,
			     (unsigned long long)pending, length);
	return wrong || refused ? -1 : 0;
}

/*
 * Plain words of a queue are kept as their difference from the reset value: the queues have a page
 * of registers each, and one that nobody has written needs no memory.
 */
static uint32_t queue_reset_value(enum emu_direction dir, uint32_t reg)
{
	return dir == EMU_M2S && reg == TRN_Q_M2S_RATE_MASK ? TRN_Q_RATE_MASK_RESET : 0;
}

/* A spare register, 0 after reset: bit 0 switches the heads off. */
static bool heads_reported(const struct emu_dma_engine *engine)
{
	return !(emu_store_read(engine->udma, TRN_UDMA_GEN + TRN_GEN_SPARE_ZEROES0) & 1);
}

static uint32_t queue_read(struct emu_dma_engine *engine, enum emu_direction dir, unsigned int q,
			   uint32_t reg)
{
	struct emu_queue *queue = &engine->queue[q];
	struct emu_ring *ring = &queue->ring[dir];
	uint32_t value = 0;

	pthread_mutex_lock(&engine->lock);
	switch (reg) {
	case TRN_Q_CFG:
		value = ring->cfg;
		break;
	case TRN_Q_BASE_LOW:
		value = (uint32_t)ring->base;
		break;
	case TRN_Q_BASE_HIGH:
		value = (uint32_t)(ring->base >> 32);
		break;
	case TRN_Q_LENGTH:
		value = ring->length;
		break;
	case TRN_Q_HEAD:
	case TRN_Q_CURRENT:
	case TRN_Q_COMPL_HEAD:
		if (heads_reported(engine))
			value = ring_pointer(ring, ring_done(queue, ring));
		break;
	case TRN_Q_TAIL:
		value = ring_pointer(ring, ring->posted);
		break;
	case TRN_Q_TAIL_INC:
	case TRN_Q_STATUS:
		break;
	default:
		value = emu_store_read(engine->udma, HALF(dir) + TRN_UDMA_QUEUE(q) + reg) ^
			queue_reset_value(dir, reg);
		break;
	}
	pthread_mutex_unlock(&engine->lock);
	return value;
}

/* Lock held. Return: the queue may have become runnable. */
static bool queue_set(struct emu_dma_engine *engine, enum emu_direction dir, unsigned int q,
		      uint32_t reg, uint32_t value)
{
	struct emu_queue *queue = &engine->queue[q];
	struct emu_ring *ring = &queue->ring[dir];

	switch (reg) {
	case TRN_Q_CFG:
		ring->cfg = value;
		atomic_store(&queue->interrupted, true);
		return true;
	case TRN_Q_BASE_LOW:
		value &= TRN_Q_BASE_LOW_MASK;
		if ((uint32_t)ring->base != value)
			ring_restart(queue, dir);
		ring->base = (ring->base & ~0xffffffffull) | value;
		return false;
	case TRN_Q_BASE_HIGH:
		if ((uint32_t)(ring->base >> 32) != value)
			ring_restart(queue, dir);
		ring->base = (ring->base & 0xffffffffull) | (uint64_t)value << 32;
		return false;
	case TRN_Q_LENGTH:
		value &= TRN_Q_INDEX_MASK;
		if (ring->length != value)
			ring_restart(queue, dir);
		ring->length = value;
		return false;
	}
	emu_store_write(engine->udma, HALF(dir) + TRN_UDMA_QUEUE(q) + reg,
			value ^ queue_reset_value(dir, reg));
	if (reg == (dir == EMU_M2S ? TRN_Q_M2S_SW_CTRL : TRN_Q_S2M_SW_CTRL) &&
	    (value & TRN_Q_SW_CTRL_RESET)) {
		ring_restart(queue, dir);
		/* The bit is a pulse. */
		emu_store_write(engine->udma, HALF(dir) + TRN_UDMA_QUEUE(q) + reg,
				value & ~TRN_Q_SW_CTRL_RESET);
	}
	return false;
}

/*
 * A write from outside that stops a queue returns when the descriptor under way has ended, for its
 * memory may be given back next. Next to a host that does not answer the first such write waits in
 * vain, and no other does. A worker never waits, for others may wait for it. Lock held, but given
 * up meanwhile.
 */
static void queue_settle(struct emu_dma_engine *engine, struct emu_queue *queue)
{
	struct timespec until;

	if (!queue->executing || queue->overdue || !atomic_load(&queue->interrupted) ||
	    emu_worker_here())
		return;
	until = emu_deadline_ms(EMU_SETTLE_MS);
	engine->waiters++;
	while (queue->executing && !pthread_cond_timedwait(&engine->settled, &engine->lock, &until))
		;
	queue->overdue = queue->executing;
	engine->waiters--;
}

static void queue_write(struct emu_dma_engine *engine, enum emu_direction dir, unsigned int q,
			uint32_t reg, uint32_t value, struct emu_origin origin)
{
	bool kick;

	switch (reg) {
	case TRN_Q_TAIL_INC:
		emu_udma_doorbell(engine, dir, q, value, origin);
		return;
	case TRN_Q_STATUS:
	case TRN_Q_HEAD:
	case TRN_Q_TAIL:
	case TRN_Q_CURRENT:
	case TRN_Q_COMPL_HEAD:
		emu_complain(engine->device, EMU_COMPLAINT_READ_ONLY,
			     "engine %u queue %u: register 0x%x is read-only", engine->id, q, reg);
		return;
	case TRN_Q_LENGTH:
		ring_size_check(engine, q, value & TRN_Q_INDEX_MASK);
		break;
	case TRN_Q_BASE_LOW:
		ring_align_check(engine, q, value);
		break;
	}
	pthread_mutex_lock(&engine->lock);
	kick = queue_set(engine, dir, q, reg, value) &&
	       emu_udma_runnable(engine, &engine->queue[q]);
	if (!kick)
		queue_settle(engine, &engine->queue[q]);
	pthread_mutex_unlock(&engine->lock);
	if (kick)
		emu_dma_engine_kick(engine, 1u << q);
}

/* Interrupt controllers: all groups have the same layout. */
static bool iofic_split(uint32_t gen, uint32_t *group, uint32_t *reg)
{
	if (gen < TRN_GEN_IOFIC_PRIMARY(4) ||
	    (gen >= TRN_GEN_IOFIC_SECONDARY_A && gen < TRN_GEN_IOFIC_SECONDARY_C + 0x40) ||
	    (gen >= TRN_GEN_IOFIC_AXI(0) && gen < TRN_GEN_IOFIC_AXI(7) && (gen & 0xff) < 0x40)) {
		*group = gen & ~0x3fu;
		*reg = gen & 0x3f;
		return true;
	}
	return false;
}

/* State request, error status, configuration of each queue; reading the status clears it. */
static bool axi_error_status(uint32_t gen)
{
	uint32_t inside = gen - TRN_GEN_AXI_QUEUE(0);

	return gen >= TRN_GEN_AXI_QUEUE(0) && gen < TRN_GEN_AXI_QUEUE(TRN_UDMA_QUEUES) &&
	       inside % AXI_QUEUE_STRIDE == TRN_GEN_AXI_QUEUE_STATUS;
}

void emu_udma_axi_latch(struct emu_dma_engine *engine, unsigned int q, uint32_t bits)
{
	uint32_t offset = TRN_UDMA_GEN + TRN_GEN_AXI_QUEUE(q) + TRN_GEN_AXI_QUEUE_STATUS;

	if (bits)
		atomic_fetch_or(&engine->udma->store[offset / 4], bits);
}

static uint32_t gen_read(struct emu_dma_engine *engine, uint32_t gen)
{
	uint32_t group, reg;

	if (iofic_split(gen, &group, &reg))
		return emu_iofic_read(&engine->udma->store[(TRN_UDMA_GEN + group) / 4], reg);
	if (axi_error_status(gen))
		return atomic_exchange(&engine->udma->store[(TRN_UDMA_GEN + gen) / 4], 0);
	return emu_store_read(engine->udma, TRN_UDMA_GEN + gen);
}

/* A cause set by hand is an event like any other: it aborts unless the abort mask hides it. */
static void secondary_event(struct emu_dma_engine *engine, uint32_t group, uint32_t cause)
{
	uint32_t mask = emu_store_read(engine->udma, TRN_UDMA_GEN + group + TRN_IOFIC_ABORT_MASK);

	if (!(cause & ~mask))
		return;
	pthread_mutex_lock(&engine->lock);
	state_change(engine, EMU_M2S, TRN_UDMA_CHANGE_ABORT);
	state_change(engine, EMU_S2M, TRN_UDMA_CHANGE_ABORT);
	pthread_mutex_unlock(&engine->lock);
}

static void gen_write(struct emu_dma_engine *engine, uint32_t gen, uint32_t value)
{
	uint32_t group, reg;

	if (!iofic_split(gen, &group, &reg))
		emu_store_write(engine->udma, TRN_UDMA_GEN + gen, value);
	else if (!emu_iofic_write(&engine->udma->store[(TRN_UDMA_GEN + group) / 4], reg, value))
		emu_complain(engine->device, EMU_COMPLAINT_READ_ONLY,
			     "engine %u: interrupt status 0x%x is read-only", engine->id, gen);
	else if (reg == TRN_IOFIC_CAUSE_SET && group >= TRN_GEN_IOFIC_SECONDARY_A &&
		 group <= TRN_GEN_IOFIC_SECONDARY_C)
		secondary_event(engine, group, value);
}

static void unknown_check(struct emu_dma_engine *engine, uint32_t offset)
{
	if (!emu_udma_register_known(offset))
		emu_complain(engine->device, EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "UDMA of engine %u has no register 0x%x", engine->id, offset);
}

uint32_t emu_udma_read(struct emu_dma_engine *engine, uint32_t offset)
{
	enum emu_direction dir = offset < TRN_UDMA_S2M ? EMU_M2S : EMU_S2M;
	uint32_t inside = offset - HALF(dir), reg, value;
	unsigned int q;

	unknown_check(engine, offset);
	if (offset >= TRN_UDMA_GENX)
		return emu_store_read(engine->udma, offset);
	if (offset >= TRN_UDMA_GEN)
		return gen_read(engine, offset - TRN_UDMA_GEN);
	if (queue_split(inside, &q, &reg))
		return queue_read(engine, dir, q, reg);
	if (dir == EMU_M2S && inside == TRN_M2S_DMA_VERSION)
		return DMA_VERSION;
	if (inside != TRN_M2S_STATE)
		return emu_store_read(engine->udma, offset);
	pthread_mutex_lock(&engine->lock);
	value = state_read(engine, dir);
	pthread_mutex_unlock(&engine->lock);
	return value;
}

void emu_udma_write(struct emu_dma_engine *engine, uint32_t offset, uint32_t value,
		    struct emu_origin origin)
{
	enum emu_direction dir = offset < TRN_UDMA_S2M ? EMU_M2S : EMU_S2M;
	uint32_t inside = offset - HALF(dir), reg;
	unsigned int q;

	unknown_check(engine, offset);
	if (offset >= TRN_UDMA_GENX) {
		emu_store_write(engine->udma, offset, value);
	} else if (offset >= TRN_UDMA_GEN) {
		gen_write(engine, offset - TRN_UDMA_GEN, value);
	} else if (queue_split(inside, &q, &reg)) {
		queue_write(engine, dir, q, reg, value, origin);
	} else if (inside == TRN_M2S_STATE) {
		emu_complain(engine->device, EMU_COMPLAINT_READ_ONLY,
			     "engine %u: state is read-only", engine->id);
	} else if (inside == TRN_M2S_CHANGE_STATE) {
		pthread_mutex_lock(&engine->lock);
		state_change(engine, dir, value);
		pthread_mutex_unlock(&engine->lock);
		emu_dma_engine_kick(engine, 0xffff);
	} else if (dir == EMU_M2S && inside == TRN_M2S_DMA_VERSION) {
		emu_complain(engine->device, EMU_COMPLAINT_READ_ONLY,
			     "engine %u: version is read-only", engine->id);
	} else {
		emu_store_write(engine->udma, offset, value);
	}
}

void emu_dma_engine_reset(struct emu_dma_engine *engine)
{
	bool aborted = false;
	unsigned int q;
	int dir;

	pthread_mutex_lock(&engine->lock);
	for (dir = EMU_M2S; dir <= EMU_S2M; dir++) {
		aborted |= engine->state[dir] == EMU_UDMA_ABORT;
		engine->state[dir] = EMU_UDMA_IDLE;
	}
	/* Without this the descriptor that led to the abort would be executed again. */
	for (q = 0; aborted && q < TRN_UDMA_QUEUES; q++) {
		for (dir = EMU_M2S; dir <= EMU_S2M; dir++) {
			struct emu_ring *ring = &engine->queue[q].ring[dir];

			ring->done = ring->posted;
		}
		queue_void(&engine->queue[q]);
	}
	emu_store_write(engine->udma, TRN_UDMA_GEN + TRN_GEN_IOFIC_SECONDARY_A + TRN_IOFIC_CAUSE,
			0);
	emu_store_write(engine->udma, TRN_UDMA_GEN + TRN_GEN_IOFIC_SECONDARY_B + TRN_IOFIC_CAUSE,
			0);
	emu_store_write(engine->udma, TRN_UDMA_GEN + TRN_GEN_IOFIC_SECONDARY_C + TRN_IOFIC_CAUSE,
			0);
	pthread_mutex_unlock(&engine->lock);
	emu_notific_clear(&engine->notific);
	emu_dma_engine_kick(engine, 0xffff);
}

static void iofic_power_up(struct emu_dma_engine *engine, uint32_t group)
{
	emu_iofic_power_up(&engine->udma->store[(TRN_UDMA_GEN + group) / 4]);
}

/* The worker is asleep or not started; plain registers were zeroed. */
static void engine_power_up(struct emu_dma_engine *engine)
{
	unsigned int q, i;
	int dir;

	pthread_mutex_lock(&engine->lock);
	for (dir = EMU_M2S; dir <= EMU_S2M; dir++)
		engine->state[dir] = EMU_UDMA_IDLE;
	for (q = 0; q < TRN_UDMA_QUEUES; q++) {
		struct emu_queue *queue = &engine->queue[q];

		queue_void(queue);
		for (dir = EMU_M2S; dir <= EMU_S2M; dir++) {
			struct emu_ring *ring = &queue->ring[dir];

			ring->base = 0;
			ring->length = 0;
			ring->posted = 0;
			ring->done = 0;
			ring->depth = 0;
			ring->cfg = TRN_Q_CFG_RESET_VALUE;
		}
	}
	pthread_mutex_unlock(&engine->lock);
	emu_notific_clear(&engine->notific);
	atomic_store(&engine->ready, 0);
	emu_store_write(engine->udma, TRN_UDMA_GEN + TRN_GEN_SPARE_ONES0, 0xffffffff);
	emu_store_write(engine->udma, TRN_UDMA_GEN + TRN_GEN_SPARE_ONES0 + 4, 0xffffffff);
	for (i = 0; i < 4; i++)
		iofic_power_up(engine, TRN_GEN_IOFIC_PRIMARY(i));
	for (i = 0; i < 3; i++)
		iofic_power_up(engine, TRN_GEN_IOFIC_SECONDARY_A + i * 0x40);
	for (i = 0; i < 7; i++)
		iofic_power_up(engine, TRN_GEN_IOFIC_AXI(i));
	for (i = 0; engine->fis && i < TRN_FIS_GROUPS; i++)
		emu_iofic_power_up(&engine->fis->store[TRN_FIS_GROUP(i) / 4]);
}

void emu_engines_power_up(struct emu_device *device)
{
	unsigned int i;

	for (i = 0; i < device->product->engines; i++)
		engine_power_up(&device->engine[i]);
	emu_engines_time_power_up(device);
}

static void engine_place(struct emu_device *device, unsigned int id)
{
	const struct emu_product *product = device->product;
	struct emu_dma_engine *engine = &device->engine[id];
	unsigned int owned = product->cores * TRN_ENGINES_PER_CORE, group;

	engine->device = device;
	engine->id = id;
	if (id < owned) {
		engine->core = (int)(id / TRN_ENGINES_PER_CORE);
		engine->vector = TRN_VECTOR_CORE((unsigned int)engine->core);
		group = (unsigned int)engine->core;
	} else {
		engine->core = -1;
		engine->vector = TRN_VECTOR_H2T(product->cores, id - owned);
		group = product->cores + (id - owned);
	}
	engine->group = &device->group[group];
	if (!engine->group->count++)
		engine->group->first = id;
	engine->group->device = device;
	if (group >= device->group_count)
		device->group_count = group + 1;
	pthread_mutex_init(&engine->lock, NULL);
	emu_cond_init(&engine->settled);
	emu_notific_init(&engine->notific);
}

/* One thread per core's engines and one per host copy engine, so that a host that answers slowly
 * holds up nobody else. */
int emu_engines_create(struct emu_device *device)
{
	unsigned int i;
	int error;

	device->engine = calloc(device->product->engines, sizeof(*device->engine));
	if (!device->engine)
		return -ENOMEM;
	for (i = 0; i < device->product->engines; i++)
		engine_place(device, i);
	for (i = 0; i < device->block_count; i++) {
		struct emu_block *block = &device->block[i];

		if (block->kind == EMU_BLOCK_UDMA)
			device->engine[block->index].udma = block;
		else if (block->kind == EMU_BLOCK_SDMA)
			device->engine[block->index].sdma = block;
		else if (block->kind == EMU_BLOCK_FIS)
			device->engine[block->index].fis = block;
	}
	error = emu_engines_time_create(device);
	if (error)
		return error;
	emu_engines_power_up(device);
	for (i = 0; i < device->group_count; i++) {
		error = emu_worker_start(&device->group[i].worker, emu_group_work,
					 &device->group[i], device->ops->thread_start,
					 device->ops->thread_stop, device->opaque);
		if (error)
			return error;
	}
	return 0;
}

static void engine_destroy(struct emu_dma_engine *engine)
{
	unsigned int q;

	for (q = 0; q < TRN_UDMA_QUEUES; q++)
		free(engine->queue[q].far);
	emu_notific_destroy(&engine->notific);
	pthread_cond_destroy(&engine->settled);
	pthread_mutex_destroy(&engine->lock);
}

void emu_engines_destroy(struct emu_device *device)
{
	unsigned int i;

	for (i = 0; i < device->group_count; i++)
		emu_worker_stop(&device->group[i].worker);
	if (!device->engine)
		return;
	emu_engines_time_destroy(device);
	for (i = 0; i < device->product->engines; i++)
		engine_destroy(&device->engine[i]);
	free(device->engine);
}
