/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What things cost in time mode: one table of published figures per generation, and the functions
 * that price an instruction or a piece of a DMA transfer with it.
 */
#ifndef EMU_COST_H
#define EMU_COST_H

#include <stdbool.h>
#include <stdint.h>
#include "trainium/isa.h"

struct emu_exec;

/** struct emu_costs - constants of a generation; cycles are those of the engine's own clock. */
struct emu_costs {
	uint32_t mhz[TRN_ENGINE_MAX];
	uint32_t issue; /* shortest distance of two instructions of an engine */
	/* from the end of an instruction until what waits for it may start */
	uint32_t settle[TRN_ENGINE_MAX];
	uint32_t pool_start;
	uint32_t accumulator_read;
	uint32_t dynamic_copy;	/* least of an on-chip copy whose offset is in a register */
	uint32_t fp32_columns;	/* columns' worth of cycles of one FP32 column */
	uint32_t weights_share; /* a weight load takes 1/share of a multiply of equal size */
	uint32_t fast16;	/* elements a cycle: DVE copy, 16-bit, SBUF, contiguous */
	uint32_t fast16_other;	/* and in the weaker cases */
	uint32_t half_stride;	/* innermost steps above this many bytes halve the rate */

	uint32_t dma_bytes_per_us; /* of one engine */
	uint32_t dma_run_ps;	   /* least of a contiguous run */
	uint32_t dma_start_ps;	   /* from the doorbell of an idle queue to the first byte */
	uint32_t dge_ps;	   /* DMA_XFER occupies the engine that issues it */
	uint32_t dge_engines;	   /* DMA engines that carry it out together */
	uint32_t hop_ps;	   /* to a neighbour over a link */
};

/** emu_costs_get() - the table of @generation; NULL when it has none. */
const struct emu_costs *emu_costs_get(unsigned int generation);

/** emu_cost_ps() - @cycles of @engine. */
uint64_t emu_cost_ps(const struct emu_costs *costs, enum trn_engine engine, uint64_t cycles);
/** emu_cost_cycles() - cycles the engine is taken by an instruction whose operands are resolved;
 * LDWEIGHTS: of the path that loads. */
uint64_t emu_cost_cycles(const struct emu_costs *costs, const struct emu_exec *x);
/**
 * emu_cost_dma_run() - one contiguous run of @bytes by one engine. @completion: a word to a
 * semaphore, a doorbell, a marker in host memory or over a link, which the published figures of a
 * transfer include.
 */
uint64_t emu_cost_dma_run(const struct emu_costs *costs, uint64_t bytes, bool completion);
/** emu_cost_dge() - a DMA_XFER of @runs contiguous runs, @bytes altogether; @compute: it adds or
 * converts. */
uint64_t emu_cost_dge(const struct emu_costs *costs, uint64_t bytes, uint64_t runs, bool compute);

#endif /* EMU_COST_H */
