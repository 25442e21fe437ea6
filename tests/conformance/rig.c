// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rings and copies for the conformance suite, by registers alone.
 */
#include <stdio.h>
#include <string.h>
#include "conformance.h"

void *conf_hbm(struct conf *c, unsigned int h, uint64_t offset)
{
	static uint8_t nothing[1 << 20]; /* what a stack that is too small or elsewhere gives */
	uint64_t bar4_size, at = 0, size = 0;
	uint8_t *bar4 = emu_device_hbm(c->dev, &bar4_size);

	emu_device_hbm_stack(c->dev, h, &at, &size);
	conf_is(c, at, h * c->p->bar4_stride, "BAR4 offset of stack %u", h);
	if (offset >= size || h * c->p->bar4_stride + offset >= bar4_size) {
		conf_fail(c, "no memory at 0x%llx of stack %u", (unsigned long long)offset, h);
		return nothing;
	}
	return bar4 + h * c->p->bar4_stride + offset;
}

void conf_pattern(void *memory, size_t len, uint32_t seed)
{
	uint8_t *at = memory;
	size_t i;

	for (i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		at[i] = (uint8_t)(seed >> 24);
	}
}

bool conf_same(struct conf *c, const void *got, const void *want, size_t len, const char *what)
{
	const uint8_t *a = got, *b = want;
	size_t i;

	for (i = 0; i < len; i++)
		if (a[i] != b[i])
			return conf_is(c, a[i], b[i], "%s, byte %zu of %zu", what, i, len);
	return true;
}

uint64_t conf_q(const struct conf_queue *queue, int dir, uint32_t reg)
{
	return queue->udma + (dir == M2S ? M2S_AT : S2M_AT) + 0x1000 + queue->queue * 0x1000ull +
	       reg;
}

void conf_queue_init(struct conf_queue *queue)
{
	struct conf *c = queue->c;
	int dir;

	conf_write(c, conf_q(queue, M2S, 0x74), 3);
	for (dir = M2S; dir <= S2M; dir++) {
		conf_write(c, conf_q(queue, dir, 0x20), 0x03000000);
		conf_write(c, conf_q(queue, dir, dir == M2S ? 0xb0 : 0x64), 0x100);
		conf_write(c, conf_q(queue, dir, 0x28), (uint32_t)queue->ring[dir]);
		conf_write(c, conf_q(queue, dir, 0x2c), (uint32_t)(queue->ring[dir] >> 32));
		conf_write(c, conf_q(queue, dir, 0x30), queue->length[dir]);
		conf_write(c, conf_q(queue, dir, dir == M2S ? 0xa0 : 0x54), 0);
		conf_write(c, conf_q(queue, dir, 0x20), 0x03030000);
		queue->next[dir] = 0;
		queue->pass[dir] = 1;
	}
}

void conf_queue_place(struct conf *c, struct conf_queue *queue, unsigned int engine, unsigned int q,
		      uint32_t m2s_length, uint32_t s2m_length, void *m2s, uint64_t m2s_dev,
		      void *s2m, uint64_t s2m_dev)
{
	*queue = (struct conf_queue){
		.c = c,
		.engine = engine,
		.queue = q,
		.udma = conf_udma(c, engine),
		.length = { m2s_length, s2m_length },
		.ring = { m2s_dev, s2m_dev },
		.desc = { m2s, s2m },
	};
	conf_queue_init(queue);
}

void conf_queue_open(struct conf *c, struct conf_queue *queue, unsigned int engine, unsigned int q,
		     uint32_t length)
{
	uint64_t m2s_dev, s2m_dev;
	void *m2s = conf_host(c, length * 16ull, &m2s_dev);
	void *s2m = conf_host(c, length * 16ull, &s2m_dev);

	conf_queue_place(c, queue, engine, q, length, length, m2s, m2s_dev, s2m, s2m_dev);
}

void conf_push(struct conf_queue *queue, int dir, uint32_t ctrl, uint32_t meta, uint64_t addr)
{
	queue->desc[dir][queue->next[dir]] = (struct conf_desc){
		.ctrl = ctrl | (queue->pass[dir] & 3) << 24,
		.meta = meta,
		.addr = addr,
	};
	if (++queue->next[dir] == queue->length[dir]) {
		queue->next[dir] = 0;
		queue->pass[dir]++;
	}
}

void conf_packet(struct conf_queue *queue, uint64_t dst, uint64_t src, uint32_t len)
{
	conf_push(queue, S2M, len & 0xffff, 0, dst);
	conf_push(queue, M2S, (len & 0xffff) | D_FIRST | D_LAST, META_PLAIN, src);
}

void conf_ring(struct conf_queue *queue, int dir, uint32_t count)
{
	conf_write(queue->c, conf_q(queue, dir, 0x38), count);
}

void conf_ring_both(struct conf_queue *queue, uint32_t count)
{
	conf_ring(queue, S2M, count);
	conf_ring(queue, M2S, count);
}

void conf_finish(struct conf_queue *queue, const char *what)
{
	int dir;

	for (dir = S2M; dir >= M2S; dir--)
		conf_wait(queue->c, conf_q(queue, dir, 0x34), 0xffffffff,
			  queue->next[dir] | (queue->pass[dir] & 3) << 30,
			  "%s: engine %u queue %u %s head", what, queue->engine, queue->queue,
			  dir == M2S ? "M2S" : "S2M");
}

void conf_copy(struct conf_queue *queue, uint64_t dst, uint64_t src, uint32_t len, const char *what)
{
	conf_packet(queue, dst, src, len);
	conf_ring_both(queue, 1);
	conf_finish(queue, what);
}

void conf_dma(struct conf *c, unsigned int engine, uint64_t dst, uint64_t src, uint32_t len,
	      const char *what)
{
	struct conf_queue queue;

	conf_queue_open(c, &queue, engine, 0, 32);
	conf_copy(&queue, dst, src, len, what);
}

void conf_dma_refused(struct conf *c, unsigned int engine, uint64_t dst, uint64_t src,
		      const char *what)
{
	struct conf_queue queue;

	conf_queue_open(c, &queue, engine, 0, 32);
	conf_packet(&queue, dst, src, 4);
	conf_ring_both(&queue, 1);
	conf_wait(c, conf_udma(c, engine) + M2S_AT + 0x200, 0x3333, 0x2222, "%s: M2S state", what);
	conf_wait(c, conf_udma(c, engine) + S2M_AT + 0x200, 0x3333, 0x2222, "%s: S2M state", what);
	conf_quiesce(c);
	conf_complaint(c, EMU_COMPLAINT_DESC_ADDRESS, 1);
}

void conf_works(struct conf *c, unsigned int engine, unsigned int q, const char *what)
{
	const uint32_t len = 4096;
	struct conf_queue queue;
	uint64_t from_dev, to_dev, hbm = c->p->hbm[0] + 0x2000000;
	uint8_t *from = conf_host(c, len, &from_dev);
	uint8_t *to = conf_host(c, len, &to_dev);

	conf_pattern(from, len, engine * 16 + q);
	memset(conf_hbm(c, 0, 0x2000000), 0, len);
	conf_queue_open(c, &queue, engine, q, 32);
	conf_copy(&queue, hbm, from_dev, len, what);
	conf_same(c, conf_hbm(c, 0, 0x2000000), from, len, what);
	conf_copy(&queue, to_dev, hbm, len, what);
	conf_same(c, to, from, len, what);
}
