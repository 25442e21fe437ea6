/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program builder: emits .tnx images.
 *
 * A builder holds tensors (HBM), one instruction stream per engine, DMA transfers in rings, a tile
 * allocator for SBUF and PSUM, and a dependency tracker. A kernel is written as a sequential list
 * of operations; every operation names the on-chip bytes and tensor bytes it reads and writes, and
 * the builder inserts exactly the semaphore waits that make the concurrent engines give the
 * sequential result. Documentation/builder.md explains the method.
 *
 * Errors are sticky: the first one is kept, later calls do nothing, trn_builder_finish() returns it
 * with its sentence. That holds for NULL too, what trn_builder_create() gives when memory is short.
 * A builder is used by one thread at a time.
 */
#ifndef TRN_BUILDER_H
#define TRN_BUILDER_H

#include <string.h>
#include "trn/trn.h"
#include "trainium/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trn_builder;

/**
 * trn_builder_create() - an empty program for @generation (2 or 3). NULL only when memory is
 * short.
 */
TRN_API struct trn_builder *trn_builder_create(const char *name, uint32_t generation);
TRN_API void trn_builder_free(struct trn_builder *builder);
/**
 * trn_builder_finish() - resolve waits, append the epilogue, produce the image.
 *
 * The epilogue makes a program re-runnable without help of the host: SP waits for every signal and
 * every transfer, clears the semaphores used, and halts. (The driver rewinds the rings.)
 * The builder stays usable for nothing but free. The caller owns *@image.
 */
TRN_API enum trn_status trn_builder_finish(struct trn_builder *builder, struct trn_image **image);
/** trn_builder_status() - the sticky error, TRN_OK while there is none. */
TRN_API enum trn_status trn_builder_status(const struct trn_builder *builder);

/**
 * trn_builder_tensor() - declare a tensor; row-major.
 * @data: content of a constant, copied; NULL otherwise. Return: tensor number, or -1.
 */
TRN_API int trn_builder_tensor(struct trn_builder *builder, const char *name,
			       enum trn_tensor_kind kind, enum trn_dtype dtype,
			       const uint64_t *shape, uint32_t rank, const void *data);

/* ---- on-chip tiles and views ---- */

/** struct trn_tile - @partitions x @bytes of SBUF or PSUM. */
struct trn_tile {
	uint8_t mem; /* TRN_MEM_SBUF or TRN_MEM_PSUM */
	uint8_t partitions;
	uint32_t offset; /* byte inside the partition */
	uint32_t bytes;	 /* per partition */
};

/**
 * trn_builder_tile() - allocate on-chip memory, starting at partition 0; 64-byte aligned. A PSUM
 * tile of at most 2048 bytes lies inside one bank. A failed allocation is a sticky error.
 */
TRN_API struct trn_tile trn_builder_tile(struct trn_builder *builder, unsigned int mem,
					 unsigned int partitions, uint32_t bytes);
/**
 * trn_builder_tile_free() - the bytes may be given out again; later users wait for earlier ones.
 */
TRN_API void trn_builder_tile_free(struct trn_builder *builder, struct trn_tile tile);
/** trn_builder_tile_space() - largest tile (bytes per partition) that can be had now. */
TRN_API uint32_t trn_builder_tile_space(const struct trn_builder *builder, unsigned int mem);

/** struct trn_view - a typed access pattern over on-chip memory; a plain value. */
struct trn_view {
	uint8_t mem;
	uint8_t partition;
	uint8_t partitions;
	uint8_t dtype;	 /* enum trn_dtype */
	uint8_t ndim;	 /* 1..4; dimension 0 is the fastest */
	uint32_t offset; /* bytes */
	struct trn_dim dim[TRN_OPERAND_DIMS];
};

/** trn_dtype_bytes() - size of an element, 0 for an unknown type. */
TRN_API uint32_t trn_dtype_bytes(uint32_t dtype);
TRN_API const char *trn_dtype_name(uint32_t dtype);

/** trn_view() - the first @columns elements of every partition of a tile. */
static inline struct trn_view trn_view(struct trn_tile tile, enum trn_dtype dtype,
				       unsigned int columns)
{
	struct trn_view view;

	memset(&view, 0, sizeof(view));
	view.mem = tile.mem;
	view.partitions = tile.partitions;
	view.dtype = (uint8_t)dtype;
	view.ndim = 1;
	view.offset = tile.offset;
	view.dim[0].step = 1;
	view.dim[0].count = (uint16_t)columns;
	return view;
}

/** trn_view_columns() - @count elements of the fastest dimension from @first. */
static inline struct trn_view trn_view_columns(struct trn_view view, unsigned int first,
					       unsigned int count)
{
	view.offset += first * (uint32_t)view.dim[0].step * trn_dtype_bytes(view.dtype);
	view.dim[0].count = (uint16_t)count;
	return view;
}

/** trn_view_rows() - @count partitions from @first (relative to the view). */
static inline struct trn_view trn_view_rows(struct trn_view view, unsigned int first,
					    unsigned int count)
{
	view.partition = (uint8_t)(view.partition + first);
	view.partitions = (uint8_t)count;
	return view;
}

/** trn_view_dim() - append a slower dimension of @count elements @step apart. */
static inline struct trn_view trn_view_dim(struct trn_view view, int step, unsigned int count)
{
	if (view.ndim < TRN_OPERAND_DIMS) {
		view.dim[view.ndim].step = (int16_t)step;
		view.dim[view.ndim].count = (uint16_t)count;
	}
	view.ndim++;
	return view;
}

/**
 * trn_view_repeat() - the same single element @count times (a broadcast along the free dimension).
 */
static inline struct trn_view trn_view_repeat(struct trn_view view, unsigned int count)
{
	view.ndim = 1;
	view.dim[0].step = 0;
	view.dim[0].count = (uint16_t)count;
	return view;
}

/** trn_view_as() - the same bytes read as another type; the caller adapts the counts. */
static inline struct trn_view trn_view_as(struct trn_view view, enum trn_dtype dtype)
{
	view.dtype = (uint8_t)dtype;
	return view;
}

/** struct trn_scalar - a scalar operand: an immediate, a register, or one value per partition. */
struct trn_scalar {
	uint8_t kind;	      /* TRN_SCALAR_* */
	uint32_t bits;	      /* immediate, or register number */
	struct trn_view view; /* TRN_SCALAR_VECTOR */
};

static inline struct trn_scalar trn_scalar_bits(uint32_t bits)
{
	struct trn_scalar s;

	memset(&s, 0, sizeof(s));
	s.bits = bits;
	return s;
}

static inline struct trn_scalar trn_scalar(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return trn_scalar_bits(bits);
}

/** trn_scalar_register() - FP32 bits in a register; registers 0..15 hold the run's arguments. */
static inline struct trn_scalar trn_scalar_register(unsigned int reg)
{
	struct trn_scalar s = trn_scalar_bits(reg);

	s.kind = TRN_SCALAR_REG;
	return s;
}

/** trn_scalar_vector() - one value per partition: a view of one column. */
static inline struct trn_scalar trn_scalar_vector(struct trn_view view)
{
	struct trn_scalar s = trn_scalar_bits(0);

	s.kind = TRN_SCALAR_VECTOR;
	s.view = view;
	return s;
}

/*
 * ---- operations: sequential semantics, synchronised by the builder ----
 *
 * The tag of an instruction is its number in the order of emission, from 1; a fault reports it.
 */

/** trn_emit_load_weights() - PE: stationary tile [K partitions, M columns] of SBUF. */
TRN_API void trn_emit_load_weights(struct trn_builder *builder, struct trn_view stationary);
/** trn_emit_matmul() - PE: dst[M, N] (PSUM, FP32) = or += weights' x moving [K, N]. */
TRN_API void trn_emit_matmul(struct trn_builder *builder, struct trn_view dst,
			     struct trn_view moving, bool accumulate);
/**
 * trn_emit_transpose() - PE: dst [C, R] in PSUM = transpose of @src [R, C] in SBUF, by a product
 * with
 * @identity [R, R] of the same type. A NaN or Inf spreads over its output partition.
 */
TRN_API void trn_emit_transpose(struct trn_builder *builder, struct trn_view dst,
				struct trn_view src, struct trn_view identity);
/** trn_emit_identity() - POOL: fill @dst [N, N] with the identity matrix. */
TRN_API void trn_emit_identity(struct trn_builder *builder, struct trn_view dst);
/**
 * trn_emit_activate() - ACT: dst = f(src * scale + bias).
 * @reduce_cmd: TRN_REDUCE_*; the sum over the free dimensions stays in the lane registers of ACT
 *	until trn_emit_acc_read().
 */
TRN_API void trn_emit_activate(struct trn_builder *builder, struct trn_view dst,
			       struct trn_view src, enum trn_act function, struct trn_scalar scale,
			       struct trn_scalar bias, unsigned int reduce_cmd);
/** trn_emit_acc_read() - ACT or DVE: lane registers to @dst [P, 1]. */
TRN_API void trn_emit_acc_read(struct trn_builder *builder, enum trn_engine engine,
			       struct trn_view dst);
/** trn_emit_copy() - DVE, ACT or POOL: dst = src, cast. */
TRN_API void trn_emit_copy(struct trn_builder *builder, enum trn_engine engine, struct trn_view dst,
			   struct trn_view src);
/** trn_emit_memset() - DVE or POOL. */
TRN_API void trn_emit_memset(struct trn_builder *builder, enum trn_engine engine,
			     struct trn_view dst, float value);
/** trn_emit_tensor_tensor() - DVE or POOL: dst = a op b. */
TRN_API void trn_emit_tensor_tensor(struct trn_builder *builder, enum trn_engine engine,
				    struct trn_view dst, struct trn_view a, enum trn_alu op,
				    struct trn_view b);
/**
 * trn_emit_tensor_scalar() - DVE, ACT or POOL: dst = (src op0 c0) op1 c1.
 * @flags: TRN_OPF_REVERSE0, TRN_OPF_REVERSE1
 */
TRN_API void trn_emit_tensor_scalar(struct trn_builder *builder, enum trn_engine engine,
				    struct trn_view dst, struct trn_view src, enum trn_alu op0,
				    struct trn_scalar c0, enum trn_alu op1, struct trn_scalar c1,
				    unsigned int flags);
/** trn_emit_scalar_tensor_tensor() - DVE: dst = (src op0 c0) op1 y. */
TRN_API void trn_emit_scalar_tensor_tensor(struct trn_builder *builder, struct trn_view dst,
					   struct trn_view src, enum trn_alu op0,
					   struct trn_scalar c0, enum trn_alu op1,
					   struct trn_view y, unsigned int flags);
/** trn_emit_reduce() - DVE: reduce the @rdims fastest dimensions of @src; @negate the result. */
TRN_API void trn_emit_reduce(struct trn_builder *builder, struct trn_view dst, struct trn_view src,
			     enum trn_alu op, unsigned int rdims, bool negate);
/** trn_emit_reciprocal() - DVE: dst = 1 / src. */
TRN_API void trn_emit_reciprocal(struct trn_builder *builder, struct trn_view dst,
				 struct trn_view src);
/** trn_emit_copy_predicated() - DVE: where predicate != 0, dst = src. */
TRN_API void trn_emit_copy_predicated(struct trn_builder *builder, struct trn_view dst,
				      struct trn_view src, struct trn_view predicate);
/** trn_emit_bn_stats() - DVE: six numbers per partition of at most 512 columns. */
TRN_API void trn_emit_bn_stats(struct trn_builder *builder, struct trn_view dst,
			       struct trn_view src);
/** trn_emit_bn_aggr() - DVE: mean and population variance of any number of triples. */
TRN_API void trn_emit_bn_aggr(struct trn_builder *builder, struct trn_view dst,
			      struct trn_view src);
/**
 * trn_emit_iota() - POOL: dst = offset + partition * multiplier + sum of index * step.
 * The pattern has the counts of @dst's dimensions with steps @step[dst.ndim].
 */
TRN_API void trn_emit_iota(struct trn_builder *builder, struct trn_view dst, const int16_t *step,
			   int32_t offset, int32_t multiplier);
/**
 * trn_emit_affine_select() - POOL: the same value compared with 0 by @cmp: true src, false @other.
 */
TRN_API void trn_emit_affine_select(struct trn_builder *builder, struct trn_view dst,
				    struct trn_view src, const int16_t *step, int32_t offset,
				    int32_t multiplier, enum trn_alu cmp, float other);

/* ---- transfers ---- */

/**
 * struct trn_builder_dma - a strided transfer between a tensor and SBUF: @partitions rows of
 * @bytes.
 */
struct trn_builder_dma {
	int tensor;
	uint64_t tensor_offset; /* bytes */
	int64_t tensor_step;	/* bytes between rows; 0: one row to all partitions (input only) */
	uint32_t partition;
	uint32_t partitions;
	uint32_t sbuf_offset;
	uint32_t bytes; /* per row */
	bool to_sbuf;
};

/** trn_builder_dma_view() - rows of a tensor to or from the bytes of a contiguous SBUF view. */
TRN_API struct trn_builder_dma trn_builder_dma_view(int tensor, uint64_t tensor_offset,
						    int64_t tensor_step, struct trn_view view,
						    bool to_sbuf);
/**
 * trn_builder_dma() - @count transfers as one group, spread over the core's 16 DMA engines and
 * started by @engine with DMA_TRIGGER. Operations that touch the same bytes wait for the whole
 * group. Transfers of one group are not ordered among each other. Return: 0, or -1 after an error.
 */
TRN_API int trn_builder_dma(struct trn_builder *builder, enum trn_engine engine,
			    const struct trn_builder_dma *transfers, size_t count);
/** trn_builder_load(), trn_builder_store() - one transfer, triggered by SP. */
TRN_API void trn_builder_load(struct trn_builder *builder, struct trn_view dst, int tensor,
			      uint64_t tensor_offset, int64_t tensor_step);
TRN_API void trn_builder_store(struct trn_builder *builder, int tensor, uint64_t tensor_offset,
			       int64_t tensor_step, struct trn_view src);
/** trn_builder_copy() - @bytes from tensor to tensor (HBM to HBM) as one group. */
TRN_API void trn_builder_copy(struct trn_builder *builder, int dst, uint64_t dst_offset, int src,
			      uint64_t src_offset, uint64_t bytes);

/* ---- raw access, outside the tracker ---- */

/**
 * trn_builder_emit() - append a raw instruction to its engine's stream (insn->engine), exactly as
 * it is. Not tracked: the caller places waits and updates with semaphores of
 * trn_builder_semaphore(). Return: its index, or -1.
 */
TRN_API int trn_builder_emit(struct trn_builder *builder, const struct trn_insn *insn);
/**
 * trn_builder_semaphore() - a fresh semaphore number, or -1 when all 256 are used. Cleared at the
 * end.
 */
TRN_API int trn_builder_semaphore(struct trn_builder *builder);

#ifdef __cplusplus
}
#endif

#endif /* TRN_BUILDER_H */
