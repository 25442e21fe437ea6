// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Table of opcodes: who may run them, from which generation, which fields they use. Fields a row does not name must be 0.
 * Opcodes without a row, or with a row of a later generation than the one configured, are illegal instructions.
 */
#include "exec.h"

#define E_PE		EMU_ENGINE_BIT(TRN_ENGINE_PE)
#define E_ACT		EMU_ENGINE_BIT(TRN_ENGINE_ACT)
#define E_POOL		EMU_ENGINE_BIT(TRN_ENGINE_POOL)
#define E_DVE		EMU_ENGINE_BIT(TRN_ENGINE_DVE)
#define E_SP		EMU_ENGINE_BIT(TRN_ENGINE_SP)
#define E_ALL		EMU_ENGINES_ALL

#define MISC_RD		(TRN_MISC_REG_MASK << TRN_MISC_RD_SHIFT)
#define MISC_RA		(TRN_MISC_REG_MASK << TRN_MISC_RA_SHIFT)
#define MISC_COLUMNS	0x3fc0

#define NONE		EMU_SLOT_NONE
#define IN		EMU_SLOT_IN
#define IN_OPT		EMU_SLOT_IN_OPT
#define OUT		EMU_SLOT_OUT
#define OUT_OPT		EMU_SLOT_OUT_OPT
#define SELF		EMU_SLOT_SELF
#define RAW		EMU_SLOT_RAW

#define PARTS		EMU_F_SAME_PARTS
#define SAME		(EMU_F_SAME_PARTS | EMU_F_SAME_COUNT)
#define REDUCES		(EMU_F_REDUCE_OP | EMU_F_REDUCE_CMD)

#define REVERSES	(TRN_OPF_REVERSE0 | TRN_OPF_REVERSE1)
#define PE_MODES	(TRN_OPF_TRANSPOSE | TRN_OPF_DOUBLE_ROW)

/* OP(code, name, function, engines, first generation, { slots }, .other fields) */
#define OP(code, fn, eng, gen, s0, s1, s2, ...) \
	[TRN_OP_##code] = { .name = #code, .exec = emu_exec_##fn, .engines = (eng), .generation = (gen), \
			    .slot = { s0, s1, s2 }, __VA_ARGS__ }

#define OPCODES		0x80

static const struct emu_opcode opcode_table[OPCODES] = {
	OP(NOP, nop, E_ALL, 2, NONE, NONE, NONE),
	OP(HALT, halt, E_ALL, 2, NONE, NONE, NONE),
	OP(NOTIFY, notify, E_ALL, 2, NONE, NONE, NONE, .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(DRAIN, nop, E_ALL, 2, NONE, NONE, NONE),
	OP(SEM_RANGE_CLEAR, sem_range_clear, E_ALL, 2, NONE, NONE, NONE, .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(REG_OP, reg_op, E_ALL, 2, NONE, NONE, NONE, .fields = EMU_F_OP0, .opf = TRN_OPF_REVERSE0,
	   .misc = MISC_RD | MISC_RA, .c0 = EMU_KIND_WORD),
	OP(REG_LOAD, reg_load, E_ALL, 2, SELF, NONE, NONE, .misc = MISC_RD | MISC_RA, .c0 = EMU_KIND_WORD,
	   .c1 = EMU_KIND_WORD),
	OP(REG_STORE, reg_store, E_ALL, 2, SELF, NONE, NONE, .misc = MISC_RD | MISC_RA, .c0 = EMU_KIND_WORD,
	   .c1 = EMU_KIND_WORD),
	OP(BRANCH, branch, E_ALL, 2, NONE, NONE, NONE, .fields = EMU_F_OP0, .misc = MISC_RA, .c0 = EMU_KIND_WORD,
	   .c1 = EMU_KIND_WORD),
	OP(LOOP, loop, E_ALL, 2, NONE, NONE, NONE, .misc = MISC_RD, .c1 = EMU_KIND_WORD),
	OP(WRITE32, write32, E_ALL, 2, RAW, RAW, RAW, .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(DMA_TRIGGER, dma_trigger, E_ALL, 2, RAW, NONE, NONE, .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(SET_MODE, set_mode, E_ALL, 2, NONE, NONE, NONE, .c0 = EMU_KIND_WORD, .c1 = EMU_KIND_WORD),
	OP(LDWEIGHTS, ldweights, E_PE, 2, NONE, IN, NONE, .fields = EMU_F_PE_TILE, .opf = PE_MODES,
	   .misc = MISC_COLUMNS),
	OP(MATMUL, matmul, E_PE, 2, OUT, IN, NONE, .fields = EMU_F_PE_TILE, .opf = PE_MODES | TRN_OPF_ACCUMULATE,
	   .misc = MISC_COLUMNS),
	OP(RNG, rng, E_DVE | E_POOL, 2, OUT, NONE, NONE),
	OP(RNG_SEED, rng_seed, E_DVE | E_POOL, 2, NONE, IN, NONE),
	OP(RNG_SET, rng_set, E_DVE | E_POOL, 3, NONE, IN, NONE),
	OP(RNG_GET, rng_get, E_DVE | E_POOL, 3, OUT, NONE, NONE),
	OP(DROPOUT, dropout, E_DVE, 2, OUT, IN, NONE, .fields = SAME, .c0 = EMU_KIND_ANY),
};

const struct emu_opcode *emu_opcode_get(unsigned int opcode)
{
	return opcode < OPCODES ? &opcode_table[opcode] : NULL;
}
