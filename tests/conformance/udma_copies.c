// SPDX-License-Identifier: BSD-2-Clause
/*
 * udma.md 9 to 12: the host copy path, other users of queues, HBM scrub, state queries.
 */
#include <string.h>
#include "conformance.h"

#define MARKER 0xabcdef01u
#define CHUNK  65536u

/* The copy path of a core: H2T ring of 8192 descriptors, 24 bytes of markers. */
struct path {
	struct conf_queue queue;
	uint32_t *marker; /* source and destination dword of three contexts */
	uint64_t marker_dev;
};

static void path_open(struct conf *c, struct path *path, unsigned int core)
{
	unsigned int queue, engine = conf_h2t(c, core, &queue);

	conf_engine_init(c, engine, true, 18, NULL, 0);
	conf_queue_open(c, &path->queue, engine, queue, 8192);
	path->marker = conf_host(c, 24, &path->marker_dev);
}

/* Data descriptors are in the ring; append the marker of @context and ring. */
static void path_start(struct path *path, unsigned int context, uint32_t data)
{
	path->marker[2 * context] = MARKER;
	path->marker[2 * context + 1] = 0;
	conf_packet(&path->queue, path->marker_dev + 8 * context + 4,
		    path->marker_dev + 8 * context, 4);
	conf_ring_both(&path->queue, data + 1);
}

static void path_wait(struct path *path, unsigned int context, const char *what)
{
	conf_wait_word(path->queue.c, &path->marker[2 * context + 1], MARKER, "%s: marker", what);
	__atomic_store_n(&path->marker[2 * context + 1], 0, __ATOMIC_RELAXED);
}

/* The documented copy: chunks of 64 KiB, write barrier on the last, marker, poll. */
static uint32_t path_chunks(struct path *path, uint64_t dst, uint64_t src, uint64_t size)
{
	uint32_t count = 0, len;

	for (; size; size -= len, dst += len, src += len, count++) {
		len = size < CHUNK ? (uint32_t)size : CHUNK;
		conf_push(&path->queue, S2M, len & 0xffff, 0, dst);
		conf_push(&path->queue, M2S, (len & 0xffff) | D_FIRST | D_LAST,
			  size == len ? META_WRITE : META_PLAIN, src);
	}
	return count;
}

static void path_copy(struct path *path, uint64_t dst, uint64_t src, uint64_t size,
		      const char *what)
{
	path_start(path, 0, path_chunks(path, dst, src, size));
	path_wait(path, 0, what);
}

static void core_queue(struct conf *c, const void *row)
{
	unsigned int queue, engine = conf_h2t(c, NUM(row), &queue);
	uint64_t src, dst, hbm = c->p->hbm[c->p->stacks - 1] + 0x5000000;
	uint8_t *from = conf_host(c, 3 * CHUNK, &src), *to = conf_host(c, 3 * CHUNK, &dst);
	struct path path;

	conf_pattern(from, 3 * CHUNK, NUM(row));
	path_open(c, &path, NUM(row));
	path_copy(&path, hbm, src, 2 * CHUNK + 4, "host to device");
	path_copy(&path, dst, hbm, 2 * CHUNK + 4, "device to host");
	conf_same(c, to, from, 2 * CHUNK + 4, "data after both directions");
	conf_reg(c, conf_udma(c, engine) + 0x1000 + queue * 0x1000 + 0x34, 8 | 1u << 30,
		 "engine %u queue %u M2S head", engine, queue);
}

static void ring_size(struct conf *c, const void *row)
{
	struct path path;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst), i;

	(void)row;
	path_open(c, &path, 0);
	for (i = 1; i <= 8192 / 4 + 3; i++) {
		*from = i;
		conf_packet(&path.queue, dst, src, 4);
		conf_packet(&path.queue, dst, src, 4);
		conf_packet(&path.queue, dst, src, 4);
		path_start(&path, 0, 3);
		path_wait(&path, 0, "ring of 8192");
		conf_is(c, *to, i, "copy %u of a ring of 8192", i);
	}
	conf_reg(c, conf_q(&path.queue, S2M, 0x34), 12 | 2u << 30, "head in the second pass");
}

/* Row: context; its marker dwords lie at 8 * context and 8 * context + 4. */
static void marker_area(struct conf *c, const void *row)
{
	struct path path;
	unsigned int i;

	path_open(c, &path, 0);
	path_start(&path, NUM(row), 0);
	path_wait(&path, NUM(row), "marker alone");
	for (i = 0; i < 6; i++)
		conf_is(c, path.marker[i], i == 2 * NUM(row) ? MARKER : 0,
			"dword %u of the marker area", i);
}

static void split(struct conf *c, const void *row)
{
	static const uint64_t sizes[] = { 1, 4095, 65535, 65536, 65537, 131072, 200001 };
	uint64_t src, dst, hbm = c->p->hbm[0] + 0x6000000;
	uint8_t *from = conf_host(c, 1 << 18, &src), *to = conf_host(c, 1 << 18, &dst);
	struct path path;
	unsigned int i;

	(void)row;
	conf_pattern(from, 1 << 18, 5);
	path_open(c, &path, 0);
	for (i = 0; i < COUNT(sizes); i++) {
		memset(to, 0, 1 << 18);
		path_copy(&path, hbm, src, sizes[i], "down");
		path_copy(&path, dst, hbm, sizes[i], "up");
		conf_same(c, to, from, sizes[i], "data in chunks");
		conf_is(c, to[sizes[i]], 0, "byte behind %llu", (unsigned long long)sizes[i]);
	}
}

/* A batch of 2032 data descriptors and its marker. */
static void batch(struct conf *c, const void *row)
{
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 65536, &src), *to = conf_host(c, 65536, &dst), i;
	struct path path;

	(void)row;
	conf_pattern(from, 65536, 3);
	path_open(c, &path, 0);
	for (i = 0; i < 2032; i++)
		conf_packet(&path.queue, dst + i * 32, src + i * 32, 32);
	path_start(&path, 0, 2032);
	path_wait(&path, 0, "batch of 2032");
	conf_same(c, to, from, 2032 * 32, "data of the batch when the marker is seen");
}

/* Marker: host to host, 4 bytes, no barrier; data is there when it is. Row: descriptors. */
static void ordering(struct conf *c, const void *row)
{
	uint64_t src, dst;
	uint8_t *from = conf_host(c, 4 * CHUNK, &src), *to = conf_host(c, 4 * CHUNK, &dst);
	struct path path;
	unsigned int i;

	path_open(c, &path, 0);
	for (i = 0; i < 50; i++) {
		conf_pattern(from, NUM(row), i + 1);
		path_copy(&path, dst, src, NUM(row), "host to host");
		if (!conf_same(c, to, from, NUM(row), "data when the marker is seen"))
			return;
	}
}

static void two_doorbells(struct conf *c, const void *row)
{
	struct path path;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src);

	(void)row;
	conf_host(c, 4, &dst);
	*from = 1;
	path_open(c, &path, 0);
	path_copy(&path, dst, src, 4, "one chunk");
	conf_reg(c, conf_q(&path.queue, S2M, 0x3c), 2 | 1u << 30, "S2M tail: data and marker");
	conf_reg(c, conf_q(&path.queue, M2S, 0x3c), 2 | 1u << 30, "M2S tail: data and marker");
}

static void memset_chain(struct conf *c, const void *row)
{
	const uint64_t at = 0x7000000;
	uint64_t src, hbm = c->p->hbm[0] + at, size = 5 * CHUNK + 100, done;
	uint8_t *fill = conf_host(c, CHUNK, &src), *memory = conf_hbm(c, 0, at);
	struct path path;
	uint32_t count;
	uint64_t i;

	(void)row;
	memset(fill, 0x5a, CHUNK);
	memset(memory, 0, size + 1);
	path_open(c, &path, 0);
	count = path_chunks(&path, hbm, src, CHUNK);
	for (done = CHUNK; done < size; done += CHUNK)
		count += path_chunks(&path, hbm + done, hbm,
				     size - done < CHUNK ? size - done : CHUNK);
	path_start(&path, 0, count);
	path_wait(&path, 0, "memset");
	for (i = 0; i < size; i++)
		if (!conf_is(c, memory[i], 0x5a, "byte %llu of the region", (unsigned long long)i))
			return;
	conf_is(c, memory[size], 0, "byte behind the region");
}

static void buffer_copy(struct conf *c, const void *row)
{
	const uint64_t at = 0x7800000;
	uint64_t bounce_dev, hbm = c->p->hbm[0] + at;
	uint8_t *bounce = conf_host(c, CHUNK, &bounce_dev), *memory = conf_hbm(c, 0, at), want[256];
	struct path path;
	unsigned int i;

	(void)row;
	path_open(c, &path, 0);
	for (i = 0; i < 4; i++) {
		conf_pattern(bounce, CHUNK, i + 1);
		path_copy(&path, hbm + i * CHUNK, bounce_dev, CHUNK, "through the bounce buffer");
	}
	for (i = 0; i < 4; i++) {
		conf_pattern(want, sizeof(want), i + 1);
		conf_same(c, memory + i * CHUNK, want, sizeof(want), "one 64 KiB piece");
	}
}

/* Pages scattered in host memory, last descriptor with DMB and plain meta, two batches in flight.
 */
static void zero_copy(struct conf *c, const void *row)
{
	const uint64_t at = 0x8000000;
	uint64_t src, hbm = c->p->hbm[0] + at;
	uint8_t *pages = conf_host(c, 128 * 4096, &src), *memory = conf_hbm(c, 0, at);
	unsigned int batch, i, page;
	struct path path;

	(void)row;
	conf_pattern(pages, 128 * 4096, 11);
	path_open(c, &path, 0);
	for (batch = 0; batch < 2; batch++) {
		for (i = 0; i < 64; i++) {
			page = batch * 64 + (i * 37) % 64;
			conf_push(&path.queue, S2M, 4096, 0, hbm + (batch * 64 + i) * 4096);
			conf_push(&path.queue, M2S, 4096 | D_FIRST | D_LAST | (i == 63 ? D_DMB : 0),
				  META_PLAIN, src + page * 4096);
		}
		path_start(&path, 1 + batch, 64);
	}
	path_wait(&path, 1, "first batch");
	path_wait(&path, 2, "second batch");
	for (batch = 0; batch < 2; batch++)
		for (i = 0; i < 64; i++)
			conf_same(c, memory + (batch * 64 + i) * 4096,
				  pages + (batch * 64 + (i * 37) % 64) * 4096, 4096,
				  "page of a zero copy");
}

static void async_contexts(struct conf *c, const void *row)
{
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4096, &src), *to = conf_host(c, 4096, &dst), i;
	struct path path;

	(void)row;
	path_open(c, &path, 0);
	for (i = 0; i < 20; i++) {
		from[i] = i + 1;
		path_start(&path, 1 + i % 2, path_chunks(&path, dst + i * 4, src + i * 4, 4));
		path_wait(&path, 1 + i % 2, "asynchronous copy");
		conf_is(c, to[i], i + 1, "asynchronous copy %u", i);
	}
}

/* Descriptors for a ring in HBM travel through the H2T ring; then the other queue runs them. */
static void descriptor_upload(struct conf *c, const void *row)
{
	const uint64_t at = 0x9000000;
	uint64_t staged, src, dst, hbm = c->p->hbm[0] + at;
	struct conf_desc *stage = conf_host(c, 4096, &staged);
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);
	struct conf_queue user;
	struct path path;

	(void)row;
	*from = 0x12344321;
	memset(conf_hbm(c, 0, at), 0, 8192);
	stage[0] = (struct conf_desc){ 0x0d000004, META_PLAIN, src };
	stage[64] = (struct conf_desc){ 0x01000004, 0, dst };
	path_open(c, &path, 0);
	path_copy(&path, hbm, staged, 1024, "M2S descriptors");
	path_copy(&path, hbm + 4096, staged + 1024, 1024, "S2M descriptors");
	conf_queue_place(c, &user, 2, 5, 64, 64, NULL, hbm, NULL, hbm + 4096);
	conf_ring_both(&user, 1);
	conf_wait_word(c, to, 0x12344321, "destination of the uploaded descriptor");
}

static void zero_length(struct conf *c, const void *row)
{
	uint64_t src, dst;
	uint8_t *from = conf_host(c, CHUNK, &src), *to = conf_host(c, CHUNK, &dst);
	struct path path;

	(void)row;
	conf_pattern(from, CHUNK, 2);
	path_open(c, &path, 0);
	conf_push(&path.queue, S2M, 0, 0, dst);
	conf_push(&path.queue, M2S, D_FIRST | D_LAST, META_WRITE, src);
	path_start(&path, 0, 1);
	path_wait(&path, 0, "length 0");
	conf_same(c, to, from, CHUNK, "64 KiB");
}

/* The copy is lost with a reset of its queue; the queue is set up again and the batch rebuilt. */
static void retry(struct conf *c, const void *row)
{
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);
	struct path path;

	(void)row;
	*from = 77;
	path_open(c, &path, 0);
	conf_packet(&path.queue, dst, src, 4);
	conf_ring(&path.queue, M2S, 1);
	conf_tpb_reset(c, 0x1 | 0x7 << 8);
	conf_queue_init(&path.queue);
	path_copy(&path, dst, src, 4, "rebuilt batch");
	conf_is(c, *to, 77, "destination after the retry");
}

/* Every queue of an engine, with a ring of the user's choice. */
static void user_queues(struct conf *c, const void *row)
{
	unsigned int q;

	(void)row;
	for (q = 0; q < 16; q++) {
		conf_works(c, 5, q, "user queue");
		c->host_used = 0;
	}
}

/* Process exit: 64 descriptors, one dummy ring for both directions; nothing runs. */
static void dummy_ring(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t dev;
	uint8_t *ring = conf_host(c, 1024, &dev), zero[1024] = { 0 };

	(void)row;
	conf_works(c, 3, 2, "before the exit");
	conf_queue_place(c, &queue, 3, 2, 64, 64, ring, dev, ring, dev);
	conf_quiesce(c);
	conf_reg(c, conf_q(&queue, M2S, 0x30), 64, "length of the dummy ring");
	conf_reg(c, conf_q(&queue, M2S, 0x34), 1u << 30, "head of the dummy ring");
	conf_same(c, ring, zero, 1024, "dummy ring");
	conf_works(c, 3, 2, "after the exit");
}

static void reserved_queue(struct conf *c, const void *row)
{
	static const unsigned int v3[] = { 0, 1, 2, 3, 4, 7, 8 };
	unsigned int i, n, count = c->p->generation == 3 ? COUNT(v3) : 11;

	(void)row;
	for (n = 0; n < c->p->cores; n++) {
		for (i = 0; i < count; i++) {
			conf_works(c, 16 * n + (c->p->generation == 3 ? v3[i] : i), 14, "q14");
			c->host_used = 0;
		}
	}
}

static void collectives_queue(struct conf *c, const void *row)
{
	unsigned int e;

	(void)row;
	for (e = 0; e < conf_owned(c); e++) {
		conf_works(c, e, 15, "q15");
		c->host_used = 0;
	}
}

static void scrub_ring(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst), i;

	(void)row;
	*from = 9;
	conf_queue_open(c, &queue, 4, 0, 32768);
	for (i = 0; i < 32767; i++)
		conf_packet(&queue, dst, src, 4);
	*from = 10;
	conf_ring_both(&queue, 32767);
	conf_copy(&queue, dst, src, 4, "ring of 32768 descriptors");
	conf_is(c, *to, 10, "end of the ring of 32768");
}

static void election_ring(struct conf *c, const void *row)
{
	static const unsigned int engines[4] = { 4, 36, 68, 100 };
	struct conf_queue queue;
	uint64_t src, dst;
	unsigned int i;

	(void)row;
	for (i = 0; i < 4; i++) {
		uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);

		*from = i + 1;
		conf_engine_init(c, engines[i], true, 18, NULL, 0);
		conf_queue_open(c, &queue, engines[i], 0, 1024);
		conf_copy(&queue, dst, src, 4, "ring of 1024");
		conf_is(c, *to, i + 1, "engine %u, ring of 1024", engines[i]);
	}
}

/* The engines the scrub uses for stack @h; index i 0..15. */
static unsigned int scrub_engine(const struct conf *c, unsigned int h, unsigned int i)
{
	return c->p->generation == 3 ? 32 * h + 4 + i / 4 * 8 + i % 4 : 16 * h + i;
}

static void scrub_engines(struct conf *c, const void *row)
{
	unsigned int h, i;

	(void)row;
	for (h = 0; h < c->p->stacks; h++) {
		uint64_t dst = c->p->hbm[h] + 0x1000000, src;
		uint32_t *from = conf_host(c, 4096, &src), *memory = conf_hbm(c, h, 0x1000000);

		for (i = 0; i < 16; i++) {
			from[i] = h << 8 | i | 0x80000000;
			conf_dma(c, scrub_engine(c, h, i), dst + i * 4, src + i * 4, 4, "scrub");
			conf_is(c, memory[i], from[i], "stack %u engine %u", h,
				scrub_engine(c, h, i));
		}
		c->host_used = 0;
	}
}

/* First byte behind the carve-out and last of the stack. */
static void scrub_range(struct conf *c, const void *row)
{
	unsigned int h;

	(void)row;
	for (h = 0; h < c->p->stacks; h++) {
		uint64_t src, end = c->p->hbm_size - CHUNK;
		uint32_t *from = conf_host(c, CHUNK, &src), i;

		for (i = 0; i < CHUNK / 4; i++)
			from[i] = 0xfeedbeef;
		conf_dma(c, scrub_engine(c, h, 0), c->p->hbm[h] + 0x1000000, src, CHUNK, "bottom");
		conf_dma(c, scrub_engine(c, h, 1), c->p->hbm[h] + end, src, CHUNK, "top");
		conf_same(c, conf_hbm(c, h, 0x1000000), from, CHUNK, "behind the carve-out");
		conf_same(c, conf_hbm(c, h, end), from, CHUNK, "end of the stack");
		c->host_used = 0;
	}
}

/* One engine's part over 4 MiB: chain of device copies 1 MiB apart, read back, marker, all DMB. */
static void scrub_chain(struct conf *c, const void *row)
{
	const uint64_t at = 0x1000000;
	uint64_t src, back_dev, marker_dev, cur = c->p->hbm[0] + at;
	uint32_t *from = conf_host(c, CHUNK, &src), *back = conf_host(c, CHUNK, &back_dev);
	uint32_t *marker = conf_host(c, 8, &marker_dev), i;
	struct conf_queue queue;

	(void)row;
	for (i = 0; i < CHUNK / 4; i++)
		from[i] = 0x0badcafe;
	memset(conf_hbm(c, 0, at), 0, 4 << 20);
	conf_queue_open(c, &queue, scrub_engine(c, 0, 0), 0, 32768);
	conf_push(&queue, S2M, 0, 0, cur);
	conf_push(&queue, M2S, D_FIRST | D_LAST | D_DMB, META_PLAIN, src);
	for (i = 0; i < 3; i++, cur += 1 << 20) {
		conf_push(&queue, S2M, 0, 0, cur + (1 << 20));
		conf_push(&queue, M2S, D_FIRST | D_LAST | D_DMB, META_PLAIN, cur);
	}
	conf_push(&queue, S2M, 0, 0, back_dev);
	conf_push(&queue, M2S, D_FIRST | D_LAST | D_DMB, META_PLAIN, cur);
	marker[0] = MARKER;
	conf_packet(&queue, marker_dev + 4, marker_dev, 4);
	conf_ring_both(&queue, 6);
	conf_wait_word(c, &marker[1], MARKER, "marker of the scrub");
	conf_same(c, back, from, CHUNK, "pattern at the end of the chain");
	conf_same(c, conf_hbm(c, 0, at + (2 << 20)), from, CHUNK, "pattern in the middle");
}

static void query_engine(struct conf *c, const void *row)
{
	uint64_t udma = conf_udma(c, 0);
	unsigned int q;

	(void)row;
	conf_reg(c, udma + M2S_AT + 0x200, 0, "M2S state, idle");
	conf_reg(c, udma + S2M_AT + 0x200, 0, "S2M state, idle");
	conf_reg(c, udma + S2M_AT + 0x250, 0, "S2M stream cfg");
	for (q = 0; q < 16; q++)
		conf_reg(c, udma + S2M_AT + 0x1020 + q * 0x1000, 0x03000000, "S2M queue %u cfg", q);
	conf_works(c, 0, 1, "then in use");
	conf_reg(c, udma + M2S_AT + 0x200, 0x1111, "M2S state, normal");
	conf_reg(c, udma + S2M_AT + 0x200, 0x1111, "S2M state, normal");
	conf_reg(c, udma + S2M_AT + 0x2020, 0x03030000, "S2M queue 1 cfg");
}

static void query_queue(struct conf *c, const void *row)
{
	int dir = (int)NUM(row);
	struct conf_queue queue;
	uint64_t src, dst;
	unsigned int i;

	conf_host(c, 4, &src);
	conf_host(c, 4, &dst);
	conf_queue_open(c, &queue, 0, 0, 64);
	for (i = 0; i < 3; i++)
		conf_copy(&queue, dst, src, 4, "three copies");
	conf_ring(&queue, dir, 2);
	conf_reg(c, conf_q(&queue, dir, 0x24), 0, "status");
	conf_reg(c, conf_q(&queue, dir, 0x30), 64, "length");
	conf_reg(c, conf_q(&queue, dir, 0x2c), (uint32_t)(queue.ring[dir] >> 32), "base high");
	conf_reg(c, conf_q(&queue, dir, 0x28), (uint32_t)queue.ring[dir], "base low");
	conf_reg(c, conf_q(&queue, dir, 0x48), 0, "completion base high");
	conf_reg(c, conf_q(&queue, dir, 0x44), 0, "completion base low");
	conf_reg(c, conf_q(&queue, dir, 0x34), 3 | 1u << 30, "head");
	conf_reg(c, conf_q(&queue, dir, 0x3c), 5 | 1u << 30, "tail");
	conf_reg(c, conf_q(&queue, dir, 0x4c), 3 | 1u << 30, "completion head");
}

static void query_state(struct conf *c, const void *row)
{
	static const uint32_t written[3] = { 2, 1, 4 }, state[3] = { 0, 0x1111, 0x2222 };
	uint64_t udma = conf_udma(c, 0);

	conf_write(c, udma + M2S_AT + 0x204, written[NUM(row)]);
	conf_write(c, udma + S2M_AT + 0x204, written[NUM(row)]);
	conf_reg(c, udma + M2S_AT + 0x200, state[NUM(row)], "M2S state");
	conf_reg(c, udma + S2M_AT + 0x200, state[NUM(row)], "S2M state");
}

/* Descriptor dump: base and length read back lead to the descriptors. */
static void query_dump(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst, low, high;
	int dir = (int)NUM(row);

	conf_host(c, 4, &src);
	conf_host(c, 4, &dst);
	conf_queue_open(c, &queue, 0, 0, 64);
	conf_copy(&queue, dst, src, 4, "a copy");
	high = conf_read(c, conf_q(&queue, dir, 0x2c));
	low = conf_read(c, conf_q(&queue, dir, 0x28));
	conf_is(c, high << 32 | low, queue.ring[dir], "ring base read back");
	conf_reg(c, conf_q(&queue, dir, 0x30), 64, "ring length");
	conf_is(c, queue.desc[dir][0].ctrl, dir == M2S ? 0x0d000004 : 0x01000004,
		"first descriptor, left as the driver wrote it");
}

static void add_users(struct conf_list *list)
{
	conf_case(list, ALL, user_queues, NULL, "udma.md 10",
		  "user queues, any queue of an engine");
	conf_case(list, ALL, dummy_ring, NULL, "udma.md 10",
		  "process exit, 64-descriptor dummy ring both ways");
	conf_case(list, ALL, reserved_queue, NULL, "udma.md 10", "NX-reserved rings, q14");
	conf_case(list, ALL, collectives_queue, NULL, "udma.md 10", "collectives, q15");
	conf_case(list, ALL, scrub_ring, NULL, "udma.md 10",
		  "HBM scrub, ring of 32768 descriptors");
	conf_case(list, V3, election_ring, NULL, "udma.md 10",
		  "UltraServer election, ring of 1024 descriptors");
	conf_case(list, ALL, scrub_engines, NULL, "udma.md 11", "engines of each stack");
	conf_case(list, ALL, scrub_range, NULL, "udma.md 11",
		  "base + 16 MiB to the end of the stack");
	conf_case(list, ALL, scrub_chain, NULL, "udma.md 11",
		  "chain of device copies with DMB, read back, marker");
	conf_case(list, ALL, query_engine, NULL, "udma.md 12", "engine state");
	conf_case(list, ALL, query_queue, ROW(M2S), "udma.md 12", "queue state M2S");
	conf_case(list, ALL, query_queue, ROW(S2M), "udma.md 12", "queue state S2M");
	conf_case(list, ALL, query_dump, ROW(M2S), "udma.md 12", "descriptor dump M2S");
	conf_case(list, ALL, query_dump, ROW(S2M), "udma.md 12", "descriptor dump S2M");
	conf_case(list, ALL, query_state, ROW(0), "udma.md 12", "set state 0 writes 2, idle");
	conf_case(list, ALL, query_state, ROW(1), "udma.md 12", "set state 2 writes 1, normal");
	conf_case(list, ALL, query_state, ROW(2), "udma.md 12", "set state 3 writes 4, abort");
}

void conf_udma_copies(struct conf_list *list)
{
	static const char *const v2_core[] = { "core 0 by engine 32, q0",
					       "core 1 by engine 33, q0" };
	static const char *const v3_core[] = {
		"core 0 by engine 128, q0", "core 1 by engine 128, q1", "core 2 by engine 129, q0",
		"core 3 by engine 129, q1", "core 4 by engine 130, q0", "core 5 by engine 130, q1",
		"core 6 by engine 131, q0", "core 7 by engine 131, q1",
	};
	unsigned int i;

	for (i = 0; i < COUNT(v2_core); i++)
		conf_case(list, V2, core_queue, ROW(i), "udma.md 9.1", "%s, both directions",
			  v2_core[i]);
	for (i = 0; i < COUNT(v3_core); i++)
		conf_case(list, V3, core_queue, ROW(i), "udma.md 9.1", "%s, both directions",
			  v3_core[i]);
	conf_case(list, ALL, ring_size, NULL, "udma.md 9.1", "H2T ring of 8192 descriptors");
	for (i = 0; i < 3; i++)
		conf_case(list, ALL, marker_area, ROW(i), "udma.md 9.1",
			  "marker area of context %u", i);
	conf_case(list, ALL, split, NULL, "udma.md 9.2",
		  "1 split into 64 KiB chunks, the last shorter");
	conf_case(list, ALL, batch, NULL, "udma.md 9.2", "2 batch of 2032 data descriptors");
	conf_case(list, ALL, ordering, ROW(CHUNK * 2), "udma.md 9.2",
		  "3 last data descriptor carries the write barrier");
	conf_case(list, ALL, two_doorbells, NULL, "udma.md 9.2", "5 doorbells with data + 1");
	conf_case(list, ALL, ordering, ROW(4), "udma.md 9.2", "6 poll for 0xABCDEF01");
	conf_case(list, ALL, ordering, ROW(4 * CHUNK), "udma.md 9.2",
		  "marker visible only after all data");
	conf_case(list, ALL, memset_chain, NULL, "udma.md 9.4", "memset");
	conf_case(list, ALL, buffer_copy, NULL, "udma.md 9.4", "buffer copy");
	conf_case(list, ALL, zero_copy, NULL, "udma.md 9.4",
		  "zero copy, DMB on the last, two batches in flight");
	conf_case(list, ALL, async_contexts, NULL, "udma.md 9.4",
		  "async copy, contexts 1 and 2 alternate");
	conf_case(list, ALL, descriptor_upload, NULL, "udma.md 9.4", "descriptor upload");
	conf_case(list, ALL, zero_length, NULL, "udma.md 9.4", "zero-length copy is 64 KiB");
	conf_case(list, V2, retry, NULL, "udma.md 9.5", "queue re-initialised and batch rebuilt");
	add_users(list);
}
