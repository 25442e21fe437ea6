// SPDX-License-Identifier: BSD-2-Clause
/*
 * The hardware layer against a hostile device: registers that answer anything, and anything written
 * to the memory a device may write: notification ring, copy markers, mailbox answers.
 *
 * Time is a number that sleeping advances, so that no wait takes long.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "kernel/hw/trnhw.h"
#include "kernel/hw/user/trnhw_user.h"

#define STEPS_MAX  400
#define REGS	   64u
#define BUFFERS	   16
#define POLLS_MAX  (2 * TRNHW_NQ_ENTRIES)
#define BUS_FIRST  0x10000000ull
#define HONEST	   0x80 /* of the first byte: registers answer as they should */
#define LATE_NS	   (600ull * 1000000000ull)
#define CANARY	   0xa5
#define CANARY_LEN 64u

/** struct buffer - coherent memory with a canary behind it. */
struct buffer {
	u8 *ptr;
	size_t size;
};

/** struct world - the device. */
struct world {
	struct fuzz_input *in;
	struct device *dev;
	struct trnhw hw;
	struct buffer buffer[BUFFERS];
	unsigned int buffers;
	u64 bus;
	s64 now;
	u32 value[REGS]; /* what registers without a meaning answer, by a part of their offset */
	bool honest, gone;
	u64 sleeps;
};

static u32 mmio_read(void *opaque, unsigned int bar, u64 offset)
{
	struct world *w = opaque;

	FUZZ_CHECK(!(offset & 3) && offset < (bar ? TRN_EXT_BAR_SIZE : TRN_V2_BAR0_SIZE),
		   "read of BAR%u 0x%llx", bar, (unsigned long long)offset);
	if (w->gone)
		return ~0u;
	if (bar == TRN_EXT_BAR && offset == TRN_EXT_ID)
		return TRN_EXT_ID_VALUE;
	if (bar == TRN_EXT_BAR && offset == TRN_EXT_FEATURES)
		return TRN_FEATURE_ALL;
	if (!bar && offset == TRN_V2_MISC + TRN_MISC_DEVICE_ID)
		return w->honest ? 3 : w->value[0];
	if (w->honest && !bar &&
	    (offset == TRN_V2_TPB(0) + TRN_TPB_CORE || offset == TRN_V2_TPB(1) + TRN_TPB_CORE))
		return TRN_CORE_ID_VALUE;
	return w->value[(offset >> 2 ^ offset >> 12) % REGS];
}

static void mmio_write(void *opaque, unsigned int bar, u64 offset, u32 value)
{
	struct world *w = opaque;

	FUZZ_CHECK(!(offset & 3) && offset < (bar ? TRN_EXT_BAR_SIZE : TRN_V2_BAR0_SIZE),
		   "write of BAR%u 0x%llx", bar, (unsigned long long)offset);
	if (w->honest)
		w->value[(offset >> 2 ^ offset >> 12) % REGS] = value;
}

static void *dma_alloc(void *opaque, size_t size, u64 *bus)
{
	struct world *w = opaque;
	struct buffer *b = &w->buffer[w->buffers];

	FUZZ_CHECK(w->buffers < BUFFERS, "more than %u buffers", BUFFERS);
	b->ptr = calloc(1, size + CANARY_LEN);
	FUZZ_CHECK(b->ptr, "no memory");
	memset(b->ptr + size, CANARY, CANARY_LEN);
	b->size = size;
	w->buffers++;
	*bus = w->bus;
	w->bus += (size + 4095) / 4096 * 4096;
	return b->ptr;
}

static void dma_free(void *opaque, size_t size, void *ptr, u64 bus)
{
	struct world *w = opaque;
	unsigned int i;
	size_t k;

	(void)bus;
	for (i = 0; i < w->buffers && w->buffer[i].ptr != ptr; i++)
		;
	FUZZ_CHECK(i < w->buffers && w->buffer[i].size == size, "free of memory never given out");
	for (k = 0; k < CANARY_LEN; k++)
		FUZZ_CHECK(w->buffer[i].ptr[size + k] == CANARY, "write behind a buffer");
	free(ptr);
	w->buffer[i] = w->buffer[--w->buffers];
}

static s64 now_ns(void *opaque)
{
	return ((struct world *)opaque)->now;
}

/* An answer to the request under way, more or less. */
static void answer(struct world *w)
{
	u8 *response = w->hw.fwio.response;
	uint8_t how = fuzz_u8(w->in);
	u16 size = TRN_FWIO_RESP_PAYLOAD + 4 * (how & 7);

	if (!response)
		return;
	if (how & 0x80)
		size = fuzz_u16(w->in);
	response[TRN_FWIO_RESP_ERROR] = how & 0x40 ? fuzz_u8(w->in) : TRN_FWIO_OK;
	response[TRN_FWIO_RESP_SIZE] = size & 0xff;
	response[TRN_FWIO_RESP_SIZE + 1] = (u8)(size >> 8);
	fuzz_bytes(w->in, response + TRN_FWIO_RESP_PAYLOAD, 4 * (how & 7));
	response[TRN_FWIO_RESP_SEQ] = how & 0x20 ? fuzz_u8(w->in) : w->hw.fwio.sequence;
}

static void sleep_ns(void *opaque, u64 ns)
{
	struct world *w = opaque;
	struct buffer *b;
	uint8_t what;

	w->now += (s64)ns;
	w->sleeps += ns;
	FUZZ_CHECK(w->sleeps < LATE_NS, "a wait does not end");
	/* The device goes on meanwhile. */
	if (!w->in->left || !w->buffers)
		return;
	what = fuzz_u8(w->in);
	if (what & 1) {
		answer(w);
	} else if (what & 2) {
		b = &w->buffer[fuzz_u8(w->in) % w->buffers];
		b->ptr[fuzz_u16(w->in) % b->size] = fuzz_u8(w->in);
	} else if (what & 4) {
		w->value[what >> 2] = fuzz_u32(w->in);
	}
}

/* Writes of the device: a whole entry or a few bytes. */
static void device_writes(struct world *w, struct trnhw_core *core)
{
	uint8_t how = fuzz_u8(w->in);
	struct buffer *b;
	u32 at, n;

	if (how < 0x80 && core->nq) {
		struct trn_notification *e =
			&core->nq[(how & 0x40 ? core->nq_next : how & 0x3f) % TRNHW_NQ_ENTRIES];

		fuzz_bytes(w->in, e, how & 0x20 ? sizeof(*e) : 4);
		if (how & 0x40) {
			e->flags = core->nq_next / TRNHW_NQ_ENTRIES % 2 ? 0 : 1;
			e->type %= 8;
			e->engine %= 9;
		}
		return;
	}
	if (how < 0xc0 && core->nq) { /* all entries at once, of a pass */
		for (n = 0; n < TRNHW_NQ_ENTRIES; n++) {
			core->nq[n].flags = how & 1;
			core->nq[n].type = (u8)(how >> 1 & 7);
		}
		return;
	}
	b = &w->buffer[fuzz_u8(w->in) % w->buffers];
	at = fuzz_u16(w->in) % (u32)b->size;
	n = fuzz_u8(w->in) % 64;
	fuzz_bytes(w->in, b->ptr + at, n < b->size - at ? n : b->size - at);
}

static void poll_core(struct trnhw_core *core)
{
	struct trn_notification entry;
	unsigned int n = 0;

	while (n++ < POLLS_MAX && trnhw_core_poll(core, &entry))
		FUZZ_CHECK(entry.type <= TRN_NOTIFY_RUN_END && entry.engine < TRN_ENGINE_MAX &&
				   !(entry.flags & ~3u),
			   "passed on: type %u, engine %u, flags %x", entry.type, entry.engine,
			   entry.flags);
	FUZZ_CHECK(core->tail - core->finished <= TRNHW_SQ_ENTRIES, "%u requests sent, %u finished",
		   core->tail, core->finished);
	FUZZ_CHECK(core->nq_next - core->nq_reported <= TRNHW_NQ_ENTRIES,
		   "%u entries consumed, %u reported", core->nq_next, core->nq_reported);
	FUZZ_CHECK(trnhw_core_progress(core) - core->finished <= core->tail - core->finished,
		   "progress %u is not between %u and %u", trnhw_core_progress(core),
		   core->finished, core->tail);
}

static void poll_copyq(struct trnhw_copyq *q)
{
	u64 before = q->completed, done = trnhw_copyq_poll(q);

	FUZZ_CHECK(done >= before && done <= q->issued, "batch %llu completed of %llu",
		   (unsigned long long)done, (unsigned long long)q->issued);
	FUZZ_CHECK(q->next - q->done <= TRNHW_COPYQ_DESCS, "%u descriptors posted, %u done",
		   q->next, q->done);
}

static void copy(struct world *w, struct trnhw_copyq *q)
{
	struct trnhw_xfer xfers[4];
	u32 count = 1 + fuzz_u8(w->in) % 4, i;
	u64 batch = 0;
	int ret;

	for (i = 0; i < count; i++)
		xfers[i] = (struct trnhw_xfer){ .src = fuzz_u16(w->in), .len = fuzz_u8(w->in) };
	ret = trnhw_copyq_submit(q, xfers, count, count & 1, &batch);
	FUZZ_CHECK(!ret || ret == -EAGAIN || ret == -EINVAL, "submit returns %d", ret);
	FUZZ_CHECK(ret || batch == q->issued, "batch %llu", (unsigned long long)batch);
	/* An honest device would now write the marker. */
	if (!ret && fuzz_u8(w->in) & 1)
		q->marker[batch % TRNHW_COPYQ_INFLIGHT].dst = (u32)batch;
}

static void submit(struct world *w, struct trnhw_core *core)
{
	struct trn_run_request request = { .program = fuzz_u16(w->in), .cookie = core->tail };
	int ret;

	request.flags = fuzz_u8(w->in) == 0xff;
	ret = trnhw_core_submit(core, &request);
	FUZZ_CHECK(!ret || ret == -EAGAIN || ret == -EINVAL || ret == -ENODEV, "submit returns %d",
		   ret);
	if (fuzz_u8(w->in) & 1)
		trnhw_core_ring(core);
}

static void mailbox(struct world *w)
{
	u32 values[4] = { 1, 2, 3, 4 }, count = 1 + fuzz_u8(w->in) % 4;
	u64 addresses[32] = { fuzz_u64(w->in) };
	int ret;

	ret = fuzz_u8(w->in) & 1 ? trnhw_fwio_post(&w->hw, addresses, fuzz_u8(w->in))
				 : trnhw_fwio_read(&w->hw, addresses, values, count);
	FUZZ_CHECK(ret <= 0, "mailbox returns %d", ret);
}

static void registers(struct world *w)
{
	struct trnhw_ecc ecc;
	u32 power = 0;

	trnhw_ecc_read(&w->hw, &ecc);
	FUZZ_CHECK(trnhw_power_read(&w->hw, &power) || power <= 10000, "utilisation of %u", power);
	trnhw_sem_read(&w->hw, fuzz_u8(w->in), fuzz_u16(w->in));
	trnhw_event_write(&w->hw, fuzz_u8(w->in), fuzz_u16(w->in), 1);
	trnhw_irq_mask(&w->hw, fuzz_u8(w->in));
}

/* What recovery does, with a device that may not want to. */
static void recover(struct world *w, struct trnhw_copyq *q)
{
	uint8_t what = fuzz_u8(w->in);
	int ret = 0;

	switch (what % 6) {
	case 0:
		ret = trnhw_reset_cores(&w->hw, what >> 3);
		break;
	case 1:
		ret = trnhw_reset_device(&w->hw);
		break;
	case 2:
		ret = trnhw_start(&w->hw, what >> 3);
		break;
	case 3:
		trnhw_udma_queue_idle(&w->hw, what, what >> 3);
		trnhw_udma_queue_rewind(&w->hw, what, what >> 3);
		break;
	case 4:
		trnhw_udma_recover(&w->hw, what);
		break;
	default:
		ret = trnhw_copyq_reset(q);
		break;
	}
	FUZZ_CHECK(ret <= 0, "recovery %u returns %d", what % 6, ret);
}

static void step(struct world *w, struct trnhw_core *core, struct trnhw_copyq *q)
{
	uint8_t op = fuzz_u8(w->in);

	switch (op % 16) {
	case 0:
	case 1:
	case 2:
		device_writes(w, core);
		break;
	case 3:
	case 4:
		submit(w, core);
		break;
	case 5:
	case 6:
		poll_core(core);
		break;
	case 7:
		copy(w, q);
		break;
	case 8:
		poll_copyq(q);
		break;
	case 9:
		mailbox(w);
		break;
	case 10:
		registers(w);
		break;
	case 11:
		w->value[fuzz_u8(w->in) % REGS] = fuzz_u32(w->in);
		break;
	case 12:
		trnhw_core_stop(core);
		if (trnhw_core_start(core))
			FUZZ_CHECK(!core->running, "runs although the start failed");
		break;
	case 13:
		recover(w, q);
		break;
	case 14:
		trnhw_core_resume(core);
		break;
	default:
		w->gone = op & 0x80;
		break;
	}
}

static void use(struct world *w)
{
	struct trnhw_copyq q;
	struct trnhw_core core;
	unsigned int steps;

	if (trnhw_core_init(&core, &w->hw, 0))
		return;
	if (!trnhw_copyq_init(&q, &w->hw, 0)) {
		trnhw_core_start(&core);
		for (steps = 0; w->in->left && steps < STEPS_MAX; steps++) {
			w->sleeps = 0;
			step(w, &core, &q);
		}
		w->sleeps = 0;
		poll_copyq(&q);
		poll_core(&core);
		trnhw_copyq_fini(&q);
	}
	trnhw_core_fini(&core);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct trnhw_user_ops ops = {
		.size = sizeof(ops),
		.mmio_read = mmio_read,
		.mmio_write = mmio_write,
		.dma_alloc = dma_alloc,
		.dma_free = dma_free,
	};
	struct fuzz_input in = { data, size };
	struct world w = { .in = &in, .bus = BUS_FIRST };
	const struct trnhw_user_clock clock = { now_ns, sleep_ns, &w };
	uint8_t how = fuzz_u8(&in);

	w.honest = how & HONEST;
	fuzz_bytes(&in, w.value, (how & 0x1f) * 2u);
	trnhw_user_clock_set(&clock);
	FUZZ_CHECK(!trnhw_user_device_create("fuzz", &ops, &w, &w.dev), "no device");
	if (!trnhw_init(&w.hw, w.dev, trnhw_user_iomap(w.dev, 0),
			trnhw_user_iomap(w.dev, TRN_EXT_BAR), TRN_PCI_DEVICE_TRN1, TRN_FEATURE_ALL,
			5)) {
		w.sleeps = 0;
		use(&w);
		trnhw_fini(&w.hw);
	}
	FUZZ_CHECK(!w.buffers, "%u buffers are not freed", w.buffers);
	trnhw_user_device_destroy(w.dev);
	trnhw_user_clock_set(NULL);
	return 0;
}
