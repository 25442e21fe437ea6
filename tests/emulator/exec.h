/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decoded instructions: the table of opcodes, resolved operands, and the functions that execute
 * them.
 */
#ifndef EMU_EXEC_H
#define EMU_EXEC_H

#include "core_priv.h"

/* Role of an operand slot. */
enum emu_slot {
	EMU_SLOT_NONE, /* must be unused */
	EMU_SLOT_IN,
	EMU_SLOT_IN_OPT,
	EMU_SLOT_OUT,
	EMU_SLOT_OUT_OPT, /* a [P,1] result; its fourth dimension field carries an immediate */
	EMU_SLOT_SELF,	  /* as IN_OPT, but resolved by the opcode itself */
	EMU_SLOT_RAW,	  /* opcode-specific content, checked by the opcode */
};

/* Fields of the operation block an opcode uses, and rules common to many. */
#define EMU_F_OP0	 (1u << 0)
#define EMU_F_OP1	 (1u << 1)
#define EMU_F_REDUCE_OP	 (1u << 2)
#define EMU_F_REDUCE_CMD (1u << 3)
#define EMU_F_PE_TILE	 (1u << 4)
#define EMU_F_SAME_PARTS (1u << 5) /* all operands have the same number of partitions */
#define EMU_F_SAME_COUNT \
	(1u << 6) /* all operands have the same number of elements (optional results aside) */
#define EMU_F_RAW_SCALARS (1u << 7) /* c0 and c1 are opcode-specific content */

#define EMU_KIND_IMM  (1u << TRN_SCALAR_IMM)
#define EMU_KIND_REG  (1u << TRN_SCALAR_REG)
#define EMU_KIND_VEC  (1u << TRN_SCALAR_VECTOR)
#define EMU_KIND_WORD (EMU_KIND_IMM | EMU_KIND_REG)
#define EMU_KIND_ANY  (EMU_KIND_WORD | EMU_KIND_VEC)

/** struct emu_view - an operand resolved to host memory and checked against the memory's bounds. */
struct emu_view {
	uint8_t *base;	/* element 0 of the first partition */
	size_t pstride; /* bytes from a partition to the next */
	uint8_t used;
	uint8_t mem;
	uint8_t dtype;
	uint8_t esize;
	uint8_t first; /* first partition */
	uint8_t parts;
	uint8_t ndim; /* after merging; 1..4 */
	bool contiguous;
	uint32_t n; /* elements per partition */
	uint32_t count[TRN_OPERAND_DIMS];
	int64_t step[TRN_OPERAND_DIMS]; /* bytes */
	int64_t low; /* byte range of a partition relative to base: [low, high) */
	int64_t high;
	uint32_t offset; /* byte offset of base inside the partition */
};

struct emu_exec;
typedef enum trn_fault (*emu_exec_fn)(struct emu_exec *x);

/** struct emu_opcode - one row of the opcode table. */
struct emu_opcode {
	const char *name; /* NULL: not an instruction of any modelled generation */
	emu_exec_fn exec;
	uint8_t engines;    /* EMU_ENGINE_BIT()s */
	uint8_t engines_v3; /* further engines from v3 on */
	uint8_t engines_v4; /* and from v4 on */
	uint8_t generation; /* first that has it */
	uint8_t slot[3];
	uint16_t fields; /* EMU_F_* */
	uint8_t opf;	 /* TRN_OPF_* bits it uses */
	uint8_t c0;	 /* EMU_KIND_*; 0: must be zero */
	uint8_t c1;
	uint16_t misc; /* bits it uses besides the offset register */
};

/** emu_dtype_is_plain() - a type with one value per element: everything but the x4 packs. */
static inline bool emu_dtype_is_plain(unsigned int dtype)
{
	return dtype < TRN_DTYPE_FP8_E5M2_X4;
}

/** struct emu_exec - one instruction being executed. */
struct emu_exec {
	struct emu_core *core;
	struct emu_engine *eng;
	const struct trn_insn *insn;
	const struct emu_opcode *op;
	struct emu_view v[3];
	struct emu_round round;
	/* of DMA_XFER: what was written, in how many pieces, and whether it was computed */
	uint64_t xfer_bytes, xfer_runs;
	bool xfer_compute;
};

/** struct emu_scalar - c0 or c1 resolved: a word, or a vector with one value per partition. */
struct emu_scalar {
	uint32_t word;
	const uint8_t *vector; /* NULL: @word for all partitions */
	size_t pstride;
	uint8_t dtype;
};

/* insn_table.c */
/** emu_opcode_engines() - engines that have the instruction on a generation, as EMU_ENGINE_BIT()s.
 */
unsigned int emu_opcode_engines(const struct emu_opcode *op, unsigned int generation);
const struct emu_opcode *emu_opcode_get(unsigned int opcode);

/* insn_decode.c: pure; no state but the configuration. */
enum trn_fault emu_insn_check(const struct emu_core_config *config, enum trn_engine engine,
			      const struct trn_insn *insn);

/* operand.c */
enum trn_fault emu_view_init(const struct emu_core *core, const struct trn_operand *operand,
			     uint32_t reg, bool output, struct emu_view *view);
enum trn_fault emu_exec_views(struct emu_exec *x);
enum trn_fault emu_scalar_init(struct emu_exec *x, unsigned int which, unsigned int parts,
			       struct emu_scalar *scalar);
enum trn_fault emu_vector_view(const struct emu_exec *x, uint32_t c, unsigned int parts,
			       unsigned int count, bool output, struct emu_view *v);
float emu_scalar_f32(const struct emu_exec *x, const struct emu_scalar *scalar, unsigned int p);
uint32_t emu_scalar_u32(const struct emu_scalar *scalar, unsigned int p);
/** emu_view_row() - first element of partition @p (0 is the view's first). */
static inline uint8_t *emu_view_row(const struct emu_view *v, unsigned int p)
{
	return v->base + (size_t)p * v->pstride;
}
/** emu_view_element() - element @index of partition @p in iteration order. */
uint8_t *emu_view_element(const struct emu_view *v, unsigned int p, uint32_t index);
void emu_view_load(const struct emu_exec *x, const struct emu_view *v, unsigned int p, float *dst);
void emu_view_store(const struct emu_exec *x, const struct emu_view *v, unsigned int p,
		    const float *src);
/** emu_view_load_f32() - row as FP32: in place when the memory already has that form, else
 * converted into @buf. */
const float *emu_view_load_f32(const struct emu_exec *x, const struct emu_view *v, unsigned int p,
			       float *buf);
float *emu_view_out(const struct emu_exec *x, const struct emu_view *v, unsigned int p,
		    const float *a, const float *b, float *buf);
void emu_view_commit(const struct emu_exec *x, const struct emu_view *v, unsigned int p,
		     const float *row);
void emu_view_load_u32(const struct emu_view *v, unsigned int p, uint32_t *dst);
void emu_view_store_u32(const struct emu_view *v, unsigned int p, const uint32_t *src);
uint16_t emu_view_checksum(const struct emu_view *v);
bool emu_view_finite(const struct emu_exec *x, const struct emu_view *v);

/* accumulator.c */
enum trn_fault emu_acc_check(const struct emu_exec *x, unsigned int ops);

/** struct emu_acc_batch - result rows waiting to be reduced together; start from zero. */
struct emu_acc_batch {
	unsigned int rows;
	unsigned int lane[8];
	const float *row[8];
};

/**
 * emu_acc_buffer() - part of row buffer @buffer that holds row @p of @n elements until its batch is
 * reduced. emu_acc_row() - row @row of accumulator @lane; the row must stay as it is until
 * emu_acc_flush().
 */
float *emu_acc_buffer(const struct emu_exec *x, unsigned int buffer, unsigned int p, uint32_t n);
void emu_acc_row(struct emu_exec *x, struct emu_acc_batch *batch, unsigned int lane,
		 const float *row, uint32_t n);
void emu_acc_flush(struct emu_exec *x, struct emu_acc_batch *batch, uint32_t n);
void emu_acc_result(struct emu_exec *x, unsigned int parts);
enum trn_fault emu_exec_acc_read(struct emu_exec *x);

/* control.c */
enum trn_fault emu_exec_nop(struct emu_exec *x);
enum trn_fault emu_exec_halt(struct emu_exec *x);
enum trn_fault emu_exec_notify(struct emu_exec *x);
enum trn_fault emu_exec_sem_range_clear(struct emu_exec *x);
enum trn_fault emu_exec_reg_op(struct emu_exec *x);
enum trn_fault emu_exec_reg_load(struct emu_exec *x);
enum trn_fault emu_exec_reg_store(struct emu_exec *x);
enum trn_fault emu_exec_branch(struct emu_exec *x);
enum trn_fault emu_exec_loop(struct emu_exec *x);
enum trn_fault emu_exec_write32(struct emu_exec *x);
enum trn_fault emu_exec_dma_trigger(struct emu_exec *x);
enum trn_fault emu_exec_set_mode(struct emu_exec *x);

/* xfer.c */
enum trn_fault emu_exec_dma_xfer(struct emu_exec *x);

/* engine_pe.c */
struct emu_pe *emu_pe_create(void);
void emu_pe_destroy(struct emu_pe *pe);
void emu_pe_reset(struct emu_pe *pe);
enum trn_fault emu_exec_ldweights(struct emu_exec *x);
enum trn_fault emu_exec_matmul(struct emu_exec *x);

/* engine_act.c */
enum trn_fault emu_exec_activate(struct emu_exec *x);

/* elementwise.c */
enum trn_fault emu_exec_copy(struct emu_exec *x);
enum trn_fault emu_exec_memset(struct emu_exec *x);
enum trn_fault emu_exec_tensor_tensor(struct emu_exec *x);
enum trn_fault emu_exec_tensor_scalar(struct emu_exec *x);
enum trn_fault emu_exec_scalar_tensor_tensor(struct emu_exec *x);
enum trn_fault emu_exec_reciprocal(struct emu_exec *x);

/* select.c */
enum trn_fault emu_exec_copy_predicated(struct emu_exec *x);
enum trn_fault emu_exec_select_reduce(struct emu_exec *x);
enum trn_fault emu_exec_range_select(struct emu_exec *x);

/* reduce.c */
enum trn_fault emu_exec_tensor_reduce(struct emu_exec *x);
enum trn_fault emu_exec_scan(struct emu_exec *x);
enum trn_fault emu_exec_bn_stats(struct emu_exec *x);
enum trn_fault emu_exec_bn_aggr(struct emu_exec *x);
enum trn_fault emu_exec_partition_reduce(struct emu_exec *x);

/* search.c */
enum trn_fault emu_exec_max8(struct emu_exec *x);
enum trn_fault emu_exec_find_index8(struct emu_exec *x);
enum trn_fault emu_exec_match_replace8(struct emu_exec *x);

/* shuffle.c */
enum trn_fault emu_exec_transpose32(struct emu_exec *x);
enum trn_fault emu_exec_shuffle32(struct emu_exec *x);
enum trn_fault emu_exec_n_gather(struct emu_exec *x);

/* engine_rng.c */
void emu_lanes_reset(struct emu_lanes *lanes);
enum trn_fault emu_exec_rng(struct emu_exec *x);
enum trn_fault emu_exec_rng_seed(struct emu_exec *x);
enum trn_fault emu_exec_rng_set(struct emu_exec *x);
enum trn_fault emu_exec_rng_get(struct emu_exec *x);
enum trn_fault emu_exec_dropout(struct emu_exec *x);

/* engine_pool.c */
enum trn_fault emu_exec_iota(struct emu_exec *x);
enum trn_fault emu_exec_affine_select(struct emu_exec *x);
enum trn_fault emu_exec_nonzero(struct emu_exec *x);
enum trn_fault emu_exec_sequence_bounds(struct emu_exec *x);

/* mx.c */
void emu_mx_quantize(unsigned int dtype, const float *group, bool ocp_scale, uint8_t *scale,
		     uint8_t *codes);
float emu_mx_dot(unsigned int dtype, const uint8_t *a, uint8_t scale_a, const uint8_t *b,
		 uint8_t scale_b);
enum trn_fault emu_exec_quantize_mx(struct emu_exec *x);

#endif /* EMU_EXEC_H */
