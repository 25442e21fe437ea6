/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Batches of descriptors: shared by the execution of rings (udma.c) and its pricing in time mode
 * (udma_time.c).
 */
#ifndef EMU_UDMA_PRIV_H
#define EMU_UDMA_PRIV_H

#include "device.h"

/** struct emu_batch - work taken from a queue. */
struct emu_batch {
	struct emu_dma_engine *engine;
	struct emu_queue *queue;
	unsigned int q;
	uint64_t generation;
	uint64_t base[2];
	uint32_t length[2], index[2], count[2]; /* ring, first descriptor, descriptors taken */
	uint32_t used[2], offset[2];		/* descriptors finished, bytes moved of the next */
	uint32_t ring_id[2];			/* of the first descriptor */
	uint32_t ignored[2];			/* error bits that do not abort and were seen */
	struct emu_packet packet;
	uint32_t max_descs, max_bytes;
	bool waits;   /* for a link */
	bool program; /* a running program rang last */
	struct emu_origin origin;
	struct trn_desc desc[2][EMU_BATCH];

	uint64_t bytes;	   /* moved */
	bool interrupt;	   /* a finished packet asked for one */
	uint32_t cause[2]; /* error bits of the secondary interrupt controller */
	uint64_t error_addr;
};

static inline uint32_t emu_desc_bytes(const struct trn_desc *desc)
{
	uint32_t bytes = desc->ctrl & TRN_DESC_LEN_MASK;

	return bytes ? bytes : TRN_DESC_MAX_BYTES;
}

/** emu_batch_take() - a snapshot of what is posted. Return: false when the queue has nothing that
 * can be executed. */
bool emu_batch_take(struct emu_batch *batch, struct emu_dma_engine *engine, unsigned int q);
/** emu_batch_book() - counts what was used of a batch. Return: the queue may have more work. */
bool emu_batch_book(struct emu_batch *batch);
/** emu_batch_fetch() - reads the descriptors. Return: as emu_memory_read(). */
int emu_batch_fetch(struct emu_batch *batch, enum emu_direction dir);
/** emu_queue_service() - executes up to @limit descriptors of the queue's M2S ring. Return: the
 * queue may have more work. */
bool emu_queue_service(struct emu_dma_engine *engine, unsigned int q, uint32_t limit);

#endif /* EMU_UDMA_PRIV_H */
