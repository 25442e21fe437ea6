// SPDX-License-Identifier: BSD-2-Clause
/*
 * udma.md 2.3: registers of a queue, in both directions.
 */
#include "conformance.h"

/* A row for one direction. */
struct place {
	int dir;
	uint32_t reg;
	uint32_t value;
};

static const char *half(int dir)
{
	return dir == M2S ? "M2S" : "S2M";
}

static uint64_t queue_reg(struct conf *c, unsigned int engine, unsigned int q, int dir,
			  uint32_t reg)
{
	return conf_udma(c, engine) + (dir == M2S ? M2S_AT : S2M_AT) + 0x1000 + q * 0x1000ull + reg;
}

/* First and last engine of each kind. */
static unsigned int some_engine(const struct conf *c, unsigned int i)
{
	const unsigned int engine[4] = { 0, conf_owned(c) - 1, conf_owned(c), c->p->engines - 1 };

	return engine[i];
}

#define FOR_SOME_QUEUES(c, i, q)      \
	for ((i) = 0; (i) < 4; (i)++) \
		for ((q) = 0; (q) < 16; (q)++)

static void storage(struct conf *c, const void *row)
{
	const struct place *p = row;
	unsigned int i, q;

	FOR_SOME_QUEUES(c, i, q)
	conf_storage(c, queue_reg(c, some_engine(c, i), q, p->dir, p->reg), p->value,
		     "engine %u queue %u %s 0x%02x", some_engine(c, i), q, half(p->dir), p->reg);
}

/* Reset value, storage, and both bits are needed for the queue to take work. */
static void cfg(struct conf *c, const void *row)
{
	const struct place *p = row;
	struct conf_queue queue;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);
	unsigned int i, q;

	FOR_SOME_QUEUES(c, i, q)
	{
		uint64_t at = queue_reg(c, some_engine(c, i), q, p->dir, 0x20);

		conf_reg(c, at, 0x03000000, "engine %u queue %u %s cfg after power-up",
			 some_engine(c, i), q, half(p->dir));
		conf_storage(c, at, 0x03000000, "engine %u queue %u %s cfg", some_engine(c, i), q,
			     half(p->dir));
	}
	*from = 0x600df00d;
	conf_queue_open(c, &queue, 0, 3, 32);
	conf_packet(&queue, dst, src, 4);
	for (i = 0x00010000; i <= 0x00020000; i <<= 1) {
		conf_write(c, conf_q(&queue, p->dir, 0x20), 0x03000000 | i);
		conf_ring(&queue, p->dir, 1);
		conf_complaint(c, EMU_COMPLAINT_DOORBELL_DISABLED, 1);
	}
	conf_write(c, conf_q(&queue, p->dir, 0x20), 0x03030000);
	conf_ring_both(&queue, 1);
	conf_finish(&queue, "both enable bits set");
	conf_is(c, *to, 0x600df00d, "destination with both enable bits set");
}

static void status(struct conf *c, const void *row)
{
	const struct place *p = row;
	unsigned int i, q;

	FOR_SOME_QUEUES(c, i, q)
	conf_read_only(c, queue_reg(c, some_engine(c, i), q, p->dir, 0x24),
		       "engine %u queue %u %s status", some_engine(c, i), q, half(p->dir));
}

/* Bits [31:6] are significant; what is not aligned to 256 bytes is a mistake of the driver. */
static void base_low(struct conf *c, const void *row)
{
	const struct place *p = row;
	unsigned int i, q;

	FOR_SOME_QUEUES(c, i, q)
	{
		uint64_t at = queue_reg(c, some_engine(c, i), q, p->dir, 0x28);

		conf_store(c, at, 0xffffff00, "engine %u queue %u %s ring base low",
			   some_engine(c, i), q, half(p->dir));
		conf_store(c, at, 0x00000100, "engine %u queue %u %s ring base low",
			   some_engine(c, i), q, half(p->dir));
		conf_write(c, at, 0x123456bf);
		conf_reg(c, at, 0x12345680, "engine %u queue %u %s ring base low, bits [31:6]",
			 some_engine(c, i), q, half(p->dir));
		conf_complaint(c, EMU_COMPLAINT_RING_ALIGN, 1);
	}
}

static void length(struct conf *c, const void *row)
{
	const struct place *p = row;
	unsigned int i, q;

	FOR_SOME_QUEUES(c, i, q)
	{
		uint64_t at = queue_reg(c, some_engine(c, i), q, p->dir, 0x30);

		conf_store(c, at, 32, "engine %u queue %u %s ring length", some_engine(c, i), q,
			   half(p->dir));
		conf_store(c, at, 0x00fffff0, "engine %u queue %u %s ring length",
			   some_engine(c, i), q, half(p->dir));
		conf_write(c, at, 0xff000040);
		conf_reg(c, at, 0x40, "engine %u queue %u %s ring length, bits [23:0]",
			 some_engine(c, i), q, half(p->dir));
	}
}

/* Descriptors, not bytes: a ring of 32 wraps after the 32nd. */
static void length_counts(struct conf *c, const void *row)
{
	const struct place *p = row;
	uint64_t src, dst, ring, other;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst), i;
	void *short_ring = conf_host(c, 32 * 16, &ring), *long_ring = conf_host(c, 64 * 16, &other);
	struct conf_queue queue;

	if (p->dir == M2S)
		conf_queue_place(c, &queue, 0, 0, 32, 64, short_ring, ring, long_ring, other);
	else
		conf_queue_place(c, &queue, 0, 0, 64, 32, long_ring, other, short_ring, ring);
	for (i = 1; i <= 33; i++) {
		*from = i;
		conf_copy(&queue, dst, src, 4, "copy in a ring of 32");
		conf_is(c, *to, i, "copy %u in a ring of 32 descriptors", i);
	}
	conf_reg(c, conf_q(&queue, p->dir, 0x34), 1 | 2u << 30, "%s head after 33", half(p->dir));
}

/* Head, tail, current, completion head: [23:0] index, [31:30] ring id; read only. */
static void pointer(struct conf *c, const void *row)
{
	const struct place *p = row;
	struct conf_queue queue;
	uint64_t src, dst;
	unsigned int pass, i;

	conf_host(c, 4, &src);
	conf_host(c, 4, &dst);
	conf_queue_open(c, &queue, 0, 15, 32);
	conf_reg(c, conf_q(&queue, p->dir, p->reg), 1u << 30, "%s 0x%02x at the start",
		 half(p->dir), p->reg);
	for (pass = 1; pass <= 5; pass++) {
		for (i = 1; i <= 2; i++) {
			unsigned int k;

			for (k = 0; k < 16; k++)
				conf_packet(&queue, dst, src, 4);
			conf_ring_both(&queue, 16);
			conf_finish(&queue, "16 descriptors");
			conf_reg(c, conf_q(&queue, p->dir, p->reg),
				 (i == 1 ? 16 : 0) | ((pass + (i == 2)) & 3) << 30,
				 "%s 0x%02x in pass %u", half(p->dir), p->reg, pass);
		}
	}
	conf_read_only(c, conf_q(&queue, p->dir, p->reg), "%s 0x%02x", half(p->dir), p->reg);
}

/* Adds to the tail; bits [23:0] count; the register itself keeps nothing. */
static void doorbell(struct conf *c, const void *row)
{
	const struct place *p = row;
	struct conf_queue queue;

	conf_queue_open(c, &queue, 0, 0, 64);
	conf_ring(&queue, p->dir, 5);
	conf_reg(c, conf_q(&queue, p->dir, 0x3c), 5 | 1u << 30, "%s tail after 5", half(p->dir));
	conf_ring(&queue, p->dir, 7);
	conf_reg(c, conf_q(&queue, p->dir, 0x3c), 12 | 1u << 30, "%s tail after 5 and 7",
		 half(p->dir));
	conf_reg(c, conf_q(&queue, p->dir, 0x34), 1u << 30, "%s head: the other half has no work",
		 half(p->dir));
	conf_ring(&queue, p->dir, 0xff000000 | 3);
	conf_reg(c, conf_q(&queue, p->dir, 0x3c), 15 | 1u << 30, "%s tail: bits [23:0] count",
		 half(p->dir));
	conf_reg(c, conf_q(&queue, p->dir, 0x38), 0, "%s doorbell read", half(p->dir));
}

/* Pulse: pointers 0, ring id 1, bit back to 0. */
static void queue_reset(struct conf *c, const void *row)
{
	const struct place *p = row;
	struct conf_queue queue;
	uint64_t src, dst;
	unsigned int i;

	conf_host(c, 4, &src);
	conf_host(c, 4, &dst);
	conf_queue_open(c, &queue, 0, 0, 32);
	for (i = 0; i < 40; i++)
		conf_copy(&queue, dst, src, 4, "before the queue reset");
	conf_ring(&queue, p->dir, 4);
	conf_write(c, conf_q(&queue, p->dir, p->reg), 0x100);
	conf_reg(c, conf_q(&queue, p->dir, p->reg), 0, "%s queue reset bit", half(p->dir));
	conf_reg(c, conf_q(&queue, p->dir, 0x34), 1u << 30, "%s head after queue reset",
		 half(p->dir));
	conf_reg(c, conf_q(&queue, p->dir, 0x3c), 1u << 30, "%s tail after queue reset",
		 half(p->dir));
	conf_reg(c, conf_q(&queue, p->dir, 0x20), 0x03030000, "%s cfg after queue reset",
		 half(p->dir));
	conf_reg(c, conf_q(&queue, p->dir, 0x30), 32, "%s length after queue reset", half(p->dir));
}

/* Reset value 7, bit 2 clear honours DMB; a packet with DMB is executed with either. */
static void rate_mask(struct conf *c, const void *row)
{
	struct conf_queue queue;
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst), mask;
	unsigned int i, q;

	(void)row;
	FOR_SOME_QUEUES(c, i, q)
	{
		uint64_t at = queue_reg(c, some_engine(c, i), q, M2S, 0x74);

		conf_reg(c, at, 7, "engine %u queue %u rate-limiter mask after power-up",
			 some_engine(c, i), q);
		conf_store(c, at, 3, "engine %u queue %u rate-limiter mask", some_engine(c, i), q);
	}
	conf_queue_open(c, &queue, 0, 0, 32);
	for (mask = 3; mask <= 7; mask += 4) {
		conf_write(c, conf_q(&queue, M2S, 0x74), mask);
		*from = mask;
		conf_push(&queue, S2M, 4, 0, dst);
		conf_push(&queue, M2S, 4 | D_FIRST | D_LAST | D_DMB, META_PLAIN, src);
		conf_ring_both(&queue, 1);
		conf_finish(&queue, "packet with DMB");
		conf_is(c, *to, mask, "destination of a packet with DMB, mask %u", mask);
	}
}

struct queue_row {
	conf_run *run;
	const char *name;
	struct place place;
};

static const struct queue_row rows[] = {
	{ storage, "per-queue prefetch cfg", { M2S, 0x00, 0 } },
	{ storage, "per-queue prefetch cfg", { S2M, 0x00, 0 } },
	{ cfg, "cfg: prefetch and scheduling enable", { M2S, 0x20, 0 } },
	{ cfg, "cfg: prefetch and stream enable", { S2M, 0x20, 0 } },
	{ status, "status", { M2S, 0x24, 0 } },
	{ status, "status", { S2M, 0x24, 0 } },
	{ base_low, "ring base low", { M2S, 0x28, 0 } },
	{ base_low, "ring base low", { S2M, 0x28, 0 } },
	{ storage, "ring base high", { M2S, 0x2c, 0x4000 } },
	{ storage, "ring base high", { S2M, 0x2c, 0x4000 } },
	{ length, "ring length, bits [23:0]", { M2S, 0x30, 0 } },
	{ length, "ring length, bits [23:0]", { S2M, 0x30, 0 } },
	{ length_counts, "ring length counts descriptors", { M2S, 0x30, 0 } },
	{ length_counts, "ring length counts descriptors", { S2M, 0x30, 0 } },
	{ pointer, "head pointer", { M2S, 0x34, 0 } },
	{ pointer, "head pointer", { S2M, 0x34, 0 } },
	{ doorbell, "tail increment (doorbell)", { M2S, 0x38, 0 } },
	{ doorbell, "tail increment (doorbell)", { S2M, 0x38, 0 } },
	{ pointer, "tail pointer", { M2S, 0x3c, 0 } },
	{ pointer, "tail pointer", { S2M, 0x3c, 0 } },
	{ pointer, "current pointer", { M2S, 0x40, 0 } },
	{ pointer, "current pointer", { S2M, 0x40, 0 } },
	{ storage, "completion ring base low", { M2S, 0x44, 0 } },
	{ storage, "completion ring base low", { S2M, 0x44, 0 } },
	{ storage, "completion ring base high", { M2S, 0x48, 0 } },
	{ storage, "completion ring base high", { S2M, 0x48, 0 } },
	{ pointer, "completion head", { M2S, 0x4c, 0 } },
	{ pointer, "completion head", { S2M, 0x4c, 0 } },
	{ storage, "completion cfg", { S2M, 0x54, 0 } },
	{ queue_reset, "queue reset", { S2M, 0x64, 0 } },
	{ rate_mask, "rate-limiter mask", { M2S, 0x74, 0 } },
	{ storage, "completion cfg", { M2S, 0xa0, 0 } },
	{ queue_reset, "queue reset", { M2S, 0xb0, 0 } },
};

void conf_udma_queue(struct conf_list *list)
{
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		conf_case(list, ALL, rows[i].run, &rows[i].place, "udma.md 2.3",
			  "queue %s 0x%02x %s", half(rows[i].place.dir), rows[i].place.reg,
			  rows[i].name);
}
