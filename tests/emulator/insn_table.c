// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Table of opcodes: who may run them, from which generation, which fields they use. Fields a row
 * does not name must be 0. Opcodes without a row, or with a row of a later generation than the one
 * configured, are illegal instructions.
 */
#include "exec.h"

#define E_PE   EMU_ENGINE_BIT(TRN_ENGINE_PE)
#define E_ACT  EMU_ENGINE_BIT(TRN_ENGINE_ACT)
#define E_POOL EMU_ENGINE_BIT(TRN_ENGINE_POOL)
#define E_DVE  EMU_ENGINE_BIT(TRN_ENGINE_DVE)
#define E_SP   EMU_ENGINE_BIT(TRN_ENGINE_SP)
#define E_ALL  EMU_ENGINES_ALL

#define MISC_RD	     (TRN_MISC_REG_MASK << TRN_MISC_RD_SHIFT)
#define MISC_RA	     (TRN_MISC_REG_MASK << TRN_MISC_RA_SHIFT)
#define MISC_COLUMNS 0x3fc0

#define NONE	EMU_SLOT_NONE
#define IN	EMU_SLOT_IN
#define IN_OPT	EMU_SLOT_IN_OPT
#define OUT	EMU_SLOT_OUT
#define OUT_OPT EMU_SLOT_OUT_OPT
#define SELF	EMU_SLOT_SELF
#define RAW	EMU_SLOT_RAW

#define PARTS	EMU_F_SAME_PARTS
#define SAME	(EMU_F_SAME_PARTS | EMU_F_SAME_COUNT)
#define REDUCES (EMU_F_REDUCE_OP | EMU_F_REDUCE_CMD)

#define REVERSES (TRN_OPF_REVERSE0 | TRN_OPF_REVERSE1)
#define PE_MODES (TRN_OPF_TRANSPOSE | TRN_OPF_DOUBLE_ROW)

/* OP(code, name, function, engines, first generation, { slots }, .other fields) */
#define OP(code, fn, eng, gen, s0, s1, s2, ...)     \
	[TRN_OP_##code] = { .name = #code,          \
			    .exec = emu_exec_##fn,  \
			    .engines = (eng),       \
			    .generation = (gen),    \
			    .slot = { s0, s1, s2 }, \
			    __VA_ARGS__ }

#define OPCODES 0x80

static const struct emu_opcode opcode_table[OPCODES] = {
	OP(NOP, nop, E_ALL, 2, NONE, NONE, NONE),
	OP(HALT, halt, E_ALL, 2, NONE, NONE, NONE),
	OP(NOTIFY, notify, E_ALL, 2, NONE, NONE, NONE, .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(DRAIN, nop, E_ALL, 2, NONE, NONE, NONE),
	OP(SEM_RANGE_CLEAR, sem_range_clear, E_ALL, 2, NONE, NONE, NONE, .c0 = EMU_KIND_WORD,
	   .c1 = EMU_KIND_WORD),
	OP(REG_OP, reg_op, E_ALL, 2, NONE, NONE, NONE, .fields = EMU_F_OP0, .opf = TRN_OPF_REVERSE0,
	   .misc = MISC_RD | MISC_RA, .c0 = EMU_KIND_WORD),
	OP(REG_LOAD, reg_load, E_ALL, 2, SELF, NONE, NONE, .misc = MISC_RD | MISC_RA,
	   .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(REG_STORE, reg_store, E_ALL, 2, SELF, NONE, NONE, .misc = MISC_RD | MISC_RA,
	   .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(BRANCH, branch, E_ALL, 2, NONE, NONE, NONE, .fields = EMU_F_OP0, .misc = MISC_RA,
	   .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(LOOP, loop, E_ALL, 2, NONE, NONE, NONE, .misc = MISC_RD, .c1 = EMU_KIND_WORD),
	OP(WRITE32, write32, E_ALL, 2, RAW, RAW, RAW, .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(DMA_TRIGGER, dma_trigger, E_ALL, 2, RAW, NONE, NONE, .c0 = EMU_KIND_WORD,
	   .c1 = EMU_KIND_WORD),
	OP(SET_MODE, set_mode, E_ALL, 2, NONE, NONE, NONE, .c0 = EMU_KIND_WORD,
	   .c1 = EMU_KIND_WORD),
	OP(LDWEIGHTS, ldweights, E_PE, 2, NONE, IN, NONE, .fields = EMU_F_PE_TILE, .opf = PE_MODES,
	   .misc = MISC_COLUMNS),
	OP(MATMUL, matmul, E_PE, 2, OUT, IN, NONE, .fields = EMU_F_PE_TILE,
	   .opf = PE_MODES | TRN_OPF_ACCUMULATE, .misc = MISC_COLUMNS),
	OP(DMA_XFER, dma_xfer, E_SP | E_ACT | E_POOL, 2, RAW, RAW, RAW, .fields = EMU_F_OP0,
	   .c0 = EMU_KIND_IMM | EMU_KIND_VEC, .c1 = EMU_KIND_WORD),
	OP(ACTIVATE, activate, E_ACT, 2, OUT, IN, RAW, .fields = EMU_F_OP0 | REDUCES | SAME,
	   .c0 = EMU_KIND_ANY, .c1 = EMU_KIND_ANY),
	OP(ACC_READ, acc_read, E_ACT | E_DVE, 2, OUT, NONE, NONE),
	OP(COPY, copy, E_DVE | E_ACT | E_POOL, 2, OUT, IN, NONE, .fields = SAME),
	OP(MEMSET, memset, E_DVE | E_POOL, 2, OUT, NONE, NONE, .c0 = EMU_KIND_WORD),
	OP(TENSOR_TENSOR, tensor_tensor, E_DVE | E_POOL, 2, OUT, IN, IN, .fields = EMU_F_OP0 | SAME,
	   .opf = TRN_OPF_REVERSE0),
	OP(TENSOR_SCALAR, tensor_scalar, E_DVE | E_POOL, 2, OUT, IN, OUT_OPT,
	   .fields = EMU_F_OP0 | EMU_F_OP1 | REDUCES | SAME, .opf = REVERSES | TRN_OPF_NEGATE,
	   .c0 = EMU_KIND_ANY, .c1 = EMU_KIND_ANY, .engines_v3 = E_ACT),
	OP(SCALAR_TENSOR_TENSOR, scalar_tensor_tensor, E_DVE, 2, OUT, IN, IN,
	   .fields = EMU_F_OP0 | EMU_F_OP1 | SAME, .opf = REVERSES, .c0 = EMU_KIND_ANY),
	OP(TENSOR_REDUCE, tensor_reduce, E_DVE, 2, OUT, IN, NONE, .fields = EMU_F_REDUCE_OP | PARTS,
	   .opf = TRN_OPF_NEGATE | 3 << TRN_OPF_RDIMS_SHIFT),
	OP(SCAN, scan, E_DVE, 2, OUT, IN, IN, .fields = EMU_F_OP0 | EMU_F_OP1 | SAME,
	   .opf = REVERSES, .c0 = EMU_KIND_ANY),
	OP(RECIPROCAL, reciprocal, E_DVE, 2, OUT, IN, NONE, .fields = SAME),
	OP(COPY_PREDICATED, copy_predicated, E_DVE, 2, OUT, IN_OPT, IN, .fields = SAME,
	   .opf = TRN_OPF_REVERSE0, .c0 = EMU_KIND_ANY),
	OP(SELECT_REDUCE, select_reduce, E_DVE, 2, OUT, IN, IN, .fields = REDUCES | SAME,
	   .opf = TRN_OPF_REVERSE0, .c0 = EMU_KIND_ANY),
	OP(RANGE_SELECT, range_select, E_DVE, 3, OUT, IN, OUT_OPT,
	   .fields = EMU_F_OP0 | EMU_F_OP1 | REDUCES | SAME, .c0 = EMU_KIND_ANY,
	   .c1 = EMU_KIND_ANY),
	OP(BN_STATS, bn_stats, E_DVE, 2, OUT, IN, NONE, .fields = PARTS),
	OP(BN_AGGR, bn_aggr, E_DVE, 2, OUT, IN, NONE, .fields = PARTS),
	OP(MAX8, max8, E_DVE, 2, OUT, IN, NONE, .fields = PARTS),
	OP(FIND_INDEX8, find_index8, E_DVE, 2, OUT, IN, IN, .fields = PARTS),
	OP(MATCH_REPLACE8, match_replace8, E_DVE, 2, OUT, IN, IN, .fields = PARTS,
	   .c0 = EMU_KIND_ANY, .c1 = EMU_KIND_IMM | EMU_KIND_VEC),
	OP(TRANSPOSE32, transpose32, E_DVE, 2, OUT, IN, NONE),
	OP(SHUFFLE32, shuffle32, E_DVE, 2, OUT, IN, RAW, .fields = SAME | EMU_F_RAW_SCALARS),
	OP(RNG, rng, E_DVE, 2, OUT, NONE, NONE, .engines_v3 = E_POOL),
	OP(RNG_SEED, rng_seed, E_DVE, 2, NONE, IN, NONE, .engines_v3 = E_POOL),
	OP(RNG_SET, rng_set, E_POOL, 3, NONE, IN, NONE, .engines_v4 = E_DVE),
	OP(RNG_GET, rng_get, E_POOL, 3, OUT, NONE, NONE, .engines_v4 = E_DVE),
	OP(DROPOUT, dropout, E_DVE, 2, OUT, IN, NONE, .fields = SAME, .c0 = EMU_KIND_ANY),
	OP(QUANTIZE_MX, quantize_mx, E_DVE, 4, OUT, IN, OUT, .fields = PARTS, .c0 = EMU_KIND_WORD),
	OP(IOTA, iota, E_POOL, 2, OUT, NONE, RAW, .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(AFFINE_SELECT, affine_select, E_POOL, 2, OUT, IN, RAW, .fields = EMU_F_OP0 | SAME,
	   .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(PARTITION_REDUCE, partition_reduce, E_POOL, 2, OUT, IN, NONE, .fields = EMU_F_REDUCE_OP),
	OP(N_GATHER, n_gather, E_POOL, 2, OUT, IN, IN, .fields = PARTS),
	OP(NONZERO, nonzero, E_POOL, 3, OUT, IN, NONE, .fields = PARTS, .c0 = EMU_KIND_WORD,
	   .c1 = EMU_KIND_WORD),
	OP(SEQUENCE_BOUNDS, sequence_bounds, E_POOL, 2, OUT, IN, NONE, .fields = PARTS),
};

const struct emu_opcode *emu_opcode_get(unsigned int opcode)
{
	return opcode < OPCODES ? &opcode_table[opcode] : NULL;
}

unsigned int emu_opcode_engines(const struct emu_opcode *op, unsigned int generation)
{
	if (!op->exec || generation < op->generation)
		return 0;
	return op->engines | (generation >= 3 ? op->engines_v3 : 0u) |
	       (generation >= 4 ? op->engines_v4 : 0u);
}
