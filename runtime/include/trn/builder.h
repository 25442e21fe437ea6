/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program builder: emits .tnx images.
 *
 * A builder holds tensors (HBM), one instruction stream per engine, DMA transfers grouped into rings, and automatic semaphore allocation. Errors are sticky: the first
 * one is kept, later calls do nothing, trn_builder_finish() returns it with its sentence.
 */
#ifndef TRN_BUILDER_H
#define TRN_BUILDER_H

#include "trn/trn.h"
#include "trainium/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trn_builder;

TRN_API struct trn_builder *trn_builder_create(const char *name, uint32_t generation);
TRN_API void trn_builder_free(struct trn_builder *builder);
/** trn_builder_finish() - check, lay out and produce the image; the builder stays usable for nothing but free. */
TRN_API enum trn_status trn_builder_finish(struct trn_builder *builder, struct trn_image **image);

/** trn_builder_tensor() - declare a tensor; row-major. @data: content of a constant, copied. Return: tensor number, or -1. */
TRN_API int trn_builder_tensor(struct trn_builder *builder, const char *name, enum trn_tensor_kind kind, enum trn_dtype dtype, const uint64_t *shape, uint32_t rank, const void *data);

/** trn_builder_emit() - append a raw instruction to its engine's stream (insn->engine). Return: its index, or -1. */
TRN_API int trn_builder_emit(struct trn_builder *builder, const struct trn_insn *insn);
/** trn_builder_semaphore() - a fresh semaphore number, or -1 when all 256 are used. */
TRN_API int trn_builder_semaphore(struct trn_builder *builder);

/** struct trn_builder_dma - a strided transfer between a tensor and SBUF: @partitions rows of @bytes. */
struct trn_builder_dma {
	int tensor;
	uint64_t tensor_offset;		/* bytes */
	int64_t tensor_step;		/* bytes between rows in the tensor; 0: the same row for all partitions (input only) */
	uint32_t partition;
	uint32_t partitions;
	uint32_t sbuf_offset;
	uint32_t bytes;			/* per row */
	bool to_sbuf;
};

/**
 * trn_builder_dma() - plan @count transfers as one group spread over the core's DMA engines; @engine starts it with DMA_TRIGGER at this place of its stream, and each ring used adds
 * one to semaphore @semaphore on completion. Return: the amount added to the semaphore in total (what to wait for), or -1.
 */
TRN_API int trn_builder_dma(struct trn_builder *builder, enum trn_engine engine, const struct trn_builder_dma *transfers, size_t count, int semaphore);

#ifdef __cplusplus
}
#endif

#endif /* TRN_BUILDER_H */
