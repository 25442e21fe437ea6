// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order under concurrency: a marker or a semaphore never overtakes the data before it, with queues
 * of several engines, cores and register accesses active at once; and register accesses never wait
 * for the work they start, even when the host does not answer the device.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "emu_rig.h"

#define STREAMS	   5u
#define BLOCKS	   8u /* of a stream under way */
#define WORDS	   2048u
#define ROUNDS	   200u
#define DATA	   0x8000000ull
#define SEM_FIRST  40u
#define PROG_ITEMS 150u

static struct rig rig;
static atomic_bool pokers_end;

/* A word, or a semaphore: what says that a block has arrived. */
enum signal {
	SIGNAL_MARKER,
	SIGNAL_SEMAPHORE,
};

/** struct stream - blocks through one queue, each followed by its signal; checked by who sent them.
 */
struct stream {
	pthread_t thread;
	unsigned int engine, queue, index;
	enum signal signal;
	struct rig_queue q;
	struct rig_host mem; /* BLOCKS sources, BLOCKS destinations, then 1, then markers */
};

static uint32_t *stream_block(const struct stream *s, unsigned int block)
{
	return (uint32_t *)s->mem.ptr + (size_t)block * WORDS;
}

static uint64_t stream_dev(const struct stream *s, const void *ptr)
{
	return s->mem.dev + (uint64_t)((const uint8_t *)ptr - s->mem.ptr);
}

static void stream_send(struct stream *s, uint32_t round)
{
	uint32_t *from = stream_block(s, round % BLOCKS);
	uint32_t *to = stream_block(s, BLOCKS + round % BLOCKS);
	uint32_t *word = stream_block(s, 2 * BLOCKS);
	uint64_t via = DATA + s->index * 0x1000000ull + round % BLOCKS * sizeof(uint32_t) * WORDS;
	unsigned int i, half = WORDS / 2 * sizeof(uint32_t);

	for (i = 0; i < WORDS; i++)
		from[i] = round;
	/* Through HBM, and out again as a packet of two pieces into one descriptor. */
	rig_m2s(&s->q, stream_dev(s, from), 2 * half, 0);
	rig_s2m(&s->q, via, 2 * half);
	rig_m2s_raw(&s->q, via, half, TRN_DESC_FIRST, TRN_META_PLAIN);
	rig_m2s_raw(&s->q, via + half, half, TRN_DESC_LAST, TRN_META_PLAIN);
	rig_s2m(&s->q, stream_dev(s, to), 2 * half);
	if (s->signal == SIGNAL_MARKER) {
		word[1 + round % BLOCKS] = round;
		rig_m2s(&s->q, stream_dev(s, &word[1 + round % BLOCKS]), 4, TRN_DESC_DMB);
		rig_s2m(&s->q, stream_dev(s, &word[64]), 4);
	} else {
		rig_m2s_raw(&s->q, stream_dev(s, word), 4, TRN_DESC_FIRST | TRN_DESC_LAST,
			    TRN_META_PLAIN | TRN_META_WRITE_BARRIER);
		rig_s2m(&s->q, rig_map->dev(rig_sem(0, TRN_TPB_SEM_INC, SEM_FIRST + s->index)), 4);
	}
	rig_ring(&s->q, 4, 3);
}

static uint32_t stream_arrived(struct stream *s)
{
	if (s->signal == SIGNAL_MARKER)
		return __atomic_load_n(&stream_block(s, 2 * BLOCKS)[64], __ATOMIC_ACQUIRE);
	return rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, SEM_FIRST + s->index));
}

static void stream_check(struct stream *s, uint32_t round)
{
	const uint32_t *to = stream_block(s, BLOCKS + round % BLOCKS);
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		ck_assert_msg(to[i] == round,
			      "engine %u queue %u: block %u was signalled, its word %u is of %u",
			      s->engine, s->queue, round, i, to[i]);
}

static void *stream_main(void *arg)
{
	struct stream *s = arg;
	uint32_t sent = 0, seen = 0;

	while (seen < ROUNDS) {
		uint32_t arrived = stream_arrived(s);

		for (; seen < arrived; seen++)
			stream_check(s, seen + 1);
		while (sent < ROUNDS && sent - seen < BLOCKS)
			stream_send(s, ++sent);
	}
	return NULL;
}

static void stream_open(struct stream *s)
{
	rig_host_alloc(&rig, &s->mem, (2 * BLOCKS + 1) * WORDS * sizeof(uint32_t));
	stream_block(s, 2 * BLOCKS)[0] = 1;
	rig_queue_open(&rig, &s->q, s->engine, s->queue, 64);
	rig_write(&rig, rig_sem(0, TRN_TPB_SEM_SET, SEM_FIRST + s->index), 0);
	ck_assert_int_eq(pthread_create(&s->thread, NULL, stream_main, s), 0);
}

/* Looks at everything and writes what is nobody's, as fast as it can. */
static void *poker_main(void *arg)
{
	unsigned int n = 0, queue = *(unsigned int *)arg;

	while (!atomic_load(&pokers_end)) {
		unsigned int e = n++ % rig_map->engines;
		uint32_t udma = rig_engine(e), q = TRN_UDMA_QUEUE(n % TRN_UDMA_QUEUES);

		rig_read(&rig, udma + q + TRN_Q_HEAD);
		rig_read(&rig, udma + TRN_UDMA_S2M + q + TRN_Q_TAIL);
		rig_read(&rig, udma + TRN_M2S_STATE);
		rig_write(&rig, udma + TRN_UDMA_QUEUE(queue) + TRN_Q_CFG,
			  TRN_Q_CFG_RESET_VALUE | (n & 1 ? TRN_Q_CFG_ENABLE : 0));
		rig_write(&rig, rig_sem(0, TRN_TPB_SEM_INC, 200 + queue), 1);
		rig_read(&rig, rig_sem(1, TRN_TPB_SEM_READ, 200 + queue));
		rig_write(&rig, rig_map->nc_notific(1) + TRN_NQ_SLOT(3) + TRN_NQ_TAIL, n);
		rig_ext_read(&rig, TRN_EXT_CLOCK_LOW);
		rig_ext_write(&rig, TRN_EXT_IRQ_MASK(n % RIG_VECTORS), n & 1);
	}
	return NULL;
}

static struct trn_insn *prog_insn(struct trn_insn *insn, enum trn_opcode op)
{
	memset(insn, 0, sizeof(*insn));
	insn->opcode = op;
	insn->engine = TRN_ENGINE_SP;
	return insn;
}

static struct trn_insn *prog_memory(struct trn_insn *insn, enum trn_opcode op, unsigned int rd,
				    unsigned int address)
{
	prog_insn(insn, op);
	insn->slot[0].where = TRN_MEM_UNUSED << TRN_OPERAND_MEM_SHIFT;
	insn->kinds = TRN_SCALAR_REG << TRN_OPK_C0_SHIFT | TRN_SCALAR_REG << TRN_OPK_C1_SHIFT;
	insn->c0 = address;
	insn->c1 = address + 1;
	insn->misc = (uint16_t)(rd << TRN_MISC_RD_SHIFT);
	return insn;
}

/*
 * A core that waits for the semaphore behind each item, takes the item from HBM and adds it up,
 * then lets the next one come: an item that has not arrived would be missing in the sum.
 */
static void core_consumer(struct rig_core *core)
{
	static const uint64_t at = 0x7000000;
	struct rig_queue q;
	struct rig_host mem;
	struct trn_run_request request;
	struct trn_insn insn[8];
	uint32_t args[8] = { PROG_ITEMS, 0, (uint32_t)DATA, 0, (uint32_t)(DATA + 64), 0, 0, 0 };
	uint32_t i, sum = 0, *word;

	rig_host_alloc(&rig, &mem, 4096 * 2);
	word = (uint32_t *)mem.ptr;
	rig_queue_open(&rig, &q, core->core * TRN_ENGINES_PER_CORE + 7, 9, 64);
	/* r0 items left, r1 sum, r2:r3 address of the item, r4:r5 of the result. */
	prog_memory(&insn[0], TRN_OP_REG_LOAD, 6, 2)->wait[0] = (struct trn_sync){
		.op = TRN_WAIT_SEM_GE, .mode = TRN_WAIT_PASS_SUB, .index = 60, .value = 1
	};
	prog_insn(&insn[1], TRN_OP_REG_OP);
	insn[1].op0 = TRN_ALU_ADD;
	insn[1].kinds = TRN_SCALAR_REG << TRN_OPK_C0_SHIFT;
	insn[1].c0 = 6;
	insn[1].misc = 1 << TRN_MISC_RD_SHIFT | 1 << TRN_MISC_RA_SHIFT;
	insn[1].update[0] = (struct trn_sync){ .op = TRN_UPDATE_INC,
					       .mode = TRN_UPDATE_AT_COMPLETE,
					       .index = 61 };
	prog_insn(&insn[2], TRN_OP_LOOP)->misc = 0 << TRN_MISC_RD_SHIFT;
	prog_memory(&insn[3], TRN_OP_REG_STORE, 1, 4);
	prog_insn(&insn[4], TRN_OP_HALT);
	request = rig_program(&rig, at, TRN_ENGINE_SP, insn, 5);
	memcpy(rig_hbm(&rig, at + 0x4000), args, sizeof(args));
	request.args = at + 0x4000;
	request.args_size = sizeof(args);
	rig_submit(core, &request);
	word[0] = 1;
	for (i = 1; i <= PROG_ITEMS; i++) {
		word[16] = i * 7919;
		sum += word[16];
		rig_m2s(&q, mem.dev + 64, 4, 0);
		rig_s2m(&q, DATA, 4);
		rig_m2s(&q, mem.dev, 4, TRN_DESC_DMB);
		rig_s2m(&q, rig_map->dev(rig_sem(core->core, TRN_TPB_SEM_INC, 60)), 4);
		rig_ring(&q, 2, 2);
		rig_wait(&rig, rig_sem(core->core, TRN_TPB_SEM_READ, 61), ~0u, i);
	}
	ck_assert_int_eq(rig_note(core).code, TRN_FAULT_NONE);
	ck_assert_uint_eq(*(uint32_t *)rig_hbm(&rig, DATA + 64), sum);
	rig_quiesce(&rig);
	rig_queue_close(&q);
	rig_host_free(&rig, &mem);
}

START_TEST(signals_follow_data)
{
	struct stream stream[STREAMS] = {
		{ .engine = RIG_H2T, .queue = 0, .signal = SIGNAL_MARKER },
		{ .engine = RIG_H2T, .queue = 3, .signal = SIGNAL_SEMAPHORE },
		{ .engine = RIG_H2T + 1, .queue = 1, .signal = SIGNAL_SEMAPHORE },
		{ .engine = 3, .queue = 12, .signal = SIGNAL_MARKER },
		{ .engine = 20, .queue = 7, .signal = SIGNAL_SEMAPHORE },
	};
	unsigned int poked[2] = { 14, 15 }, i;
	struct rig_core core;
	pthread_t poker[2];

	rig_open(&rig);
	atomic_store(&pokers_end, false);
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&poker[i], NULL, poker_main, &poked[i]), 0);
	for (i = 0; i < STREAMS; i++) {
		stream[i].index = i + 1;
		stream_open(&stream[i]);
	}
	rig_core_open(&rig, &core, 1);
	core_consumer(&core);
	for (i = 0; i < STREAMS; i++)
		pthread_join(stream[i].thread, NULL);
	atomic_store(&pokers_end, true);
	for (i = 0; i < 2; i++)
		pthread_join(poker[i], NULL);
	rig_quiesce(&rig);
	for (i = 0; i < STREAMS; i++) {
		rig_queue_close(&stream[i].q);
		rig_host_free(&rig, &stream[i].mem);
	}
	rig_core_close(&core);
	rig_close(&rig, 0);
}
END_TEST

/* A host that does not answer the device until the gate opens. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool gate_open;
static unsigned int gate_waiting;

static int gate_pass(void)
{
	pthread_mutex_lock(&gate_lock);
	gate_waiting++;
	pthread_cond_broadcast(&gate_moved);
	while (!gate_open)
		pthread_cond_wait(&gate_moved, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
	return -1;
}

static void gate_set(bool open)
{
	pthread_mutex_lock(&gate_lock);
	gate_open = open;
	gate_waiting = 0;
	pthread_cond_broadcast(&gate_moved);
	pthread_mutex_unlock(&gate_lock);
}

static int slow_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
	(void)opaque;
	(void)addr;
	(void)buf;
	(void)len;
	return gate_pass();
}

static int slow_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	(void)opaque;
	(void)addr;
	(void)buf;
	(void)len;
	return gate_pass();
}

static void *slow_map(void *opaque, uint64_t addr, size_t *len, bool device_writes)
{
	(void)opaque;
	(void)addr;
	(void)len;
	(void)device_writes;
	return NULL;
}

static void slow_unmap(void *opaque, void *ptr, size_t len, bool device_writes)
{
	(void)opaque;
	(void)ptr;
	(void)len;
	(void)device_writes;
}

static void slow_interrupt(void *opaque, unsigned int vector)
{
	(void)opaque;
	(void)vector;
}

static uint64_t slow_clock(void *opaque)
{
	struct timespec ts;

	(void)opaque;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static const struct emu_host_ops slow_ops = {
	.read = slow_read,
	.write = slow_write,
	.map = slow_map,
	.unmap = slow_unmap,
	.interrupt = slow_interrupt,
	.clock_ns = slow_clock,
};

static void put(uint64_t bar0, uint32_t value)
{
	emu_device_write(rig.dev, 0, bar0, value, 4);
}

static uint32_t get(uint64_t bar0)
{
	return emu_device_read(rig.dev, 0, bar0, 4);
}

static void gate_wait(unsigned int count)
{
	pthread_mutex_lock(&gate_lock);
	while (gate_waiting < count)
		pthread_cond_wait(&gate_moved, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
}

/* Doorbell of a queue whose ring lies in host memory. */
static void stuck_queue(unsigned int engine)
{
	unsigned int dir;

	for (dir = 0; dir < 2; dir++) {
		uint64_t q = rig_engine(engine) + (dir ? TRN_UDMA_S2M : 0) + TRN_UDMA_QUEUE(0);

		put(q + TRN_Q_BASE_LOW, 0x100000);
		put(q + TRN_Q_BASE_HIGH, (uint32_t)(rig_map->host_base >> 32));
		put(q + TRN_Q_LENGTH, 64);
		put(q + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE);
		put(q + TRN_Q_TAIL_INC, 1);
	}
}

static void stuck_core(unsigned int core)
{
	uint64_t block = rig_map->tpb(core) + TRN_TPB_CORE;

	put(block + TRN_CORE_SQ_BASE_LOW, 0x200000);
	put(block + TRN_CORE_SQ_BASE_HIGH, (uint32_t)(rig_map->host_base >> 32));
	put(block + TRN_CORE_SQ_SIZE, 16);
	put(block + TRN_CORE_SQ_CONTROL, TRN_SQ_ENABLE);
	put(block + TRN_CORE_SQ_TAIL, 1);
}

/*
 * With the host silent, a copy engine, an engine of a core and a core hang in the middle of their
 * work. Every register answers none the less, a reset can be asked for, and everybody else works.
 */
START_TEST(registers_never_wait)
{
	struct emu_config config = { .size = sizeof(config), .arch = rig_map->arch };
	uint64_t head, size, offset;
	char error[256] = "";
	struct trn_desc *ring;
	unsigned int i, dir;
	uint8_t *hbm;

	gate_set(false);
	ck_assert_msg(!emu_device_create(&config, &slow_ops, NULL, &rig.dev, error, sizeof(error)),
		      "%s", error);
	stuck_queue(RIG_H2T);
	stuck_queue(3);
	stuck_core(0);
	gate_wait(3);

	for (i = 0; i < 200; i++) {
		put(rig_engine(3) + TRN_UDMA_QUEUE(0) + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE);
		put(rig_engine(RIG_H2T) + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_ABORT);
		get(rig_engine(RIG_H2T) + TRN_UDMA_QUEUE(0) + TRN_Q_HEAD);
		put(rig_sem(0, TRN_TPB_SEM_INC, 5), 1);
		put(rig_map->tpb(0) + TRN_TPB_CORE + TRN_CORE_SQ_CONTROL, TRN_SQ_ABORT);
		get(rig_map->tpb(0) + TRN_TPB_CORE + TRN_CORE_STATUS);
	}
	ck_assert_uint_eq(get(rig_sem(0, TRN_TPB_SEM_READ, 5)), 200);
	/* The firmware waits for the core that hangs; whoever asked it does not. */
	put(rig_map->misc + TRN_MISC_RESET_MAP, rig_map->reset_core(0));
	put(rig_map->misc + TRN_MISC_RESET, TRN_RESET_TPB);
	put(rig_map->misc + TRN_MISC_TRIGGER, 1);
	ck_assert_uint_ne(get(rig_map->misc + TRN_MISC_RESET), 0);

	/* An engine of the other core copies within HBM. */
	hbm = emu_device_hbm(rig.dev, &size);
	ck_assert_int_eq(emu_device_hbm_stack(rig.dev, 0, &offset, &size), true);
	ring = (struct trn_desc *)(hbm + offset + 0x10000);
	ring[0] = (struct trn_desc){ 4096 | TRN_DESC_FIRST | TRN_DESC_LAST |
					     TRN_RING_FIRST_ID << TRN_DESC_RING_ID_SHIFT,
				     TRN_META_PLAIN, rig_map->hbm_base(0) + 0x20000 };
	ring[64] = (struct trn_desc){ 4096 | TRN_RING_FIRST_ID << TRN_DESC_RING_ID_SHIFT, 0,
				      rig_map->hbm_base(0) + 0x30000 };
	memset(hbm + offset + 0x20000, 0x5a, 4096);
	for (dir = 0; dir < 2; dir++) {
		uint64_t q = rig_engine(17) + (dir ? TRN_UDMA_S2M : 0) + TRN_UDMA_QUEUE(4);

		head = rig_map->hbm_base(0) + 0x10000 + dir * 64 * sizeof(*ring);
		put(q + TRN_Q_BASE_LOW, (uint32_t)head);
		put(q + TRN_Q_BASE_HIGH, (uint32_t)(head >> 32));
		put(q + TRN_Q_LENGTH, 64);
		put(q + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE);
		put(q + TRN_Q_TAIL_INC, 1);
	}
	rig_wait(&rig, rig_engine(17) + TRN_UDMA_QUEUE(4) + TRN_Q_HEAD, TRN_Q_INDEX_MASK, 1);
	ck_assert_int_eq(hbm[offset + 0x30000 + 4095], 0x5a);

	gate_set(true);
	rig_wait(&rig, rig_map->misc + TRN_MISC_RESET, ~0u, 0);
	rig_quiesce(&rig);
	emu_device_destroy(rig.dev);
}
END_TEST

static void *gate_open_soon(void *unused)
{
	(void)unused;
	usleep(20000);
	gate_set(true);
	return NULL;
}

/* Stops a queue with an access under way. Return: the host had answered by the end of the write. */
static bool stop_waits(void)
{
	bool open;

	put(rig_engine(3) + TRN_UDMA_QUEUE(0) + TRN_Q_CFG, TRN_Q_CFG_RESET_VALUE);
	pthread_mutex_lock(&gate_lock);
	open = gate_open;
	pthread_mutex_unlock(&gate_lock);
	return open;
}

static void access_begin(void)
{
	gate_set(false);
	stuck_queue(3);
	gate_wait(1);
}

static void access_end(void)
{
	gate_set(true);
	emu_device_reset(rig.dev);
}

/*
 * A write that stops a queue waits for the access under way, one write for each access: that an
 * earlier one waited in vain is forgotten. The host answers late, but in time for one of the tries.
 */
START_TEST(waits_again_after_silence)
{
	struct emu_config config = { .size = sizeof(config), .arch = rig_map->arch };
	unsigned int i, waited = 0;
	char error[256] = "";
	pthread_t opener;

	ck_assert_msg(!emu_device_create(&config, &slow_ops, NULL, &rig.dev, error, sizeof(error)),
		      "%s", error);
	access_begin();
	ck_assert(!stop_waits());
	access_end();
	for (i = 0; i < 9; i++) {
		access_begin();
		ck_assert_int_eq(pthread_create(&opener, NULL, gate_open_soon, NULL), 0);
		waited += stop_waits();
		pthread_join(opener, NULL);
		access_end();
	}
	ck_assert_uint_gt(waited, 0);
	emu_device_destroy(rig.dev);
}
END_TEST

int main(void)
{
	const TTest *tests[] = {
		signals_follow_data,
		registers_never_wait,
		waits_again_after_silence,
	};

	return RIG_MAIN("emu_order", tests);
}
