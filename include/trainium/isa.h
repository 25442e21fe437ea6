/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instruction encoding of the emulated NeuronCore: 128-byte, little-endian instructions.
 *
 * The encoding is this project's own (the binary encoding of silicon is not public); the semantics
 * follow the published instruction set. Documentation/instruction-set.md is the prose form, checked
 * against this file. Used by the program builder (writes it) and by the device model (executes it).
 */
#ifndef TRAINIUM_ISA_H
#define TRAINIUM_ISA_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define TRN_INSN_SIZE			128
#define TRN_REG_COUNT			64
#define TRN_SEM_COUNT			256
#define TRN_EVENT_COUNT			256

/* Engine numbers as published; the value is byte 1 of every instruction. */
enum trn_engine {
	TRN_ENGINE_NONE = 0,
	TRN_ENGINE_PE = 1,	/* tensor */
	TRN_ENGINE_ACT = 2,	/* scalar (activation) */
	TRN_ENGINE_POOL = 3,	/* GpSimd */
	TRN_ENGINE_DVE = 5,	/* vector */
	TRN_ENGINE_SP = 6,	/* sync */
	TRN_ENGINE_CC = 7,	/* collectives */
	TRN_ENGINE_MAX = 8,
};

/* Opcodes (byte 0). Above 0x7f: reserved for experiments, illegal. */
enum trn_opcode {
	TRN_OP_NOP = 0x00,
	TRN_OP_HALT = 0x01,
	TRN_OP_NOTIFY = 0x02,
	TRN_OP_DRAIN = 0x03,
	TRN_OP_SEM_RANGE_CLEAR = 0x04,
	TRN_OP_REG_OP = 0x08,
	TRN_OP_REG_LOAD = 0x09,
	TRN_OP_REG_STORE = 0x0a,
	TRN_OP_BRANCH = 0x0b,
	TRN_OP_LOOP = 0x0c,
	TRN_OP_WRITE32 = 0x0d,
	TRN_OP_DMA_TRIGGER = 0x0e,
	TRN_OP_DMA_XFER = 0x0f,
	TRN_OP_SET_MODE = 0x10,
	TRN_OP_LDWEIGHTS = 0x20,
	TRN_OP_MATMUL = 0x21,
	TRN_OP_LDWEIGHTS_MX = 0x22,
	TRN_OP_MATMUL_MX = 0x23,
	TRN_OP_ACTIVATE = 0x30,
	TRN_OP_ACC_READ = 0x31,
	TRN_OP_ACTIVATE2 = 0x32,
	TRN_OP_COPY = 0x40,
	TRN_OP_MEMSET = 0x41,
	TRN_OP_TENSOR_TENSOR = 0x42,
	TRN_OP_TENSOR_SCALAR = 0x43,
	TRN_OP_SCALAR_TENSOR_TENSOR = 0x44,
	TRN_OP_TENSOR_REDUCE = 0x45,
	TRN_OP_TENSOR_SCALAR_CUMULATIVE = 0x46,
	TRN_OP_SCAN = 0x47,
	TRN_OP_RECIPROCAL = 0x48,
	TRN_OP_COPY_PREDICATED = 0x49,
	TRN_OP_SELECT_REDUCE = 0x4a,
	TRN_OP_RANGE_SELECT = 0x4b,
	TRN_OP_BN_STATS = 0x4c,
	TRN_OP_BN_AGGR = 0x4d,
	TRN_OP_MAX8 = 0x4e,
	TRN_OP_FIND_INDEX8 = 0x4f,
	TRN_OP_MATCH_REPLACE8 = 0x50,
	TRN_OP_TRANSPOSE32 = 0x51,
	TRN_OP_SHUFFLE32 = 0x52,
	TRN_OP_RNG = 0x53,
	TRN_OP_RNG_SEED = 0x54,
	TRN_OP_RNG_SET = 0x55,
	TRN_OP_RNG_GET = 0x56,
	TRN_OP_DROPOUT = 0x57,
	TRN_OP_RAND_UNIFORM = 0x58,
	TRN_OP_EXP_SUB = 0x59,
	TRN_OP_QUANTIZE_MX = 0x5a,
	TRN_OP_IOTA = 0x60,
	TRN_OP_AFFINE_SELECT = 0x61,
	TRN_OP_PARTITION_REDUCE = 0x62,
	TRN_OP_N_GATHER = 0x63,
	TRN_OP_LOCAL_GATHER = 0x64,
	TRN_OP_NONZERO = 0x65,
	TRN_OP_TOPK = 0x66,
	TRN_OP_SEQUENCE_BOUNDS = 0x67,
	TRN_OP_CC_STEP = 0x70,
	TRN_OP_CC_NEXT = 0x71,
	TRN_OP_EXT = 0x7e,
};

/* Instruction flags (bytes 2-3). */
#define TRN_INSN_TRACE			(1u << 0)
#define TRN_INSN_NOTIFY_END		(1u << 1)
#define TRN_INSN_CHECK_NAN		(1u << 2)
#define TRN_INSN_CHECKSUM		(1u << 3)
/* skip the operation when the predicate register is 0 */
#define TRN_INSN_PREDICATED		(1u << 4)
#define TRN_INSN_STOCHASTIC		(1u << 5)
#define TRN_INSN_SATURATE		(1u << 6)
#define TRN_INSN_PREDICATE_SHIFT	8		/* bits 13:8: predicate register */
#define TRN_INSN_FLAGS_VALID		0x3f7fu

/* Wait conditions and pass actions (A.3). */
enum trn_wait_cond {
	TRN_WAIT_NONE = 0,
	TRN_WAIT_SEM_GE = 1,
	TRN_WAIT_SEM_EQ = 2,
	TRN_WAIT_SEM_GT = 3,
	TRN_WAIT_SEM_LE = 4,
	TRN_WAIT_EVENT_SET = 8,
	TRN_WAIT_EVENT_CLEAR = 9,
};

#define TRN_WAIT_PASS_KEEP		0
#define TRN_WAIT_PASS_SUB		1
#define TRN_WAIT_PASS_ZERO		2
#define TRN_WAIT_PASS_CLEAR_EVENT	3
#define TRN_SYNC_VALUE_REG		0x80		/* v names a register */

enum trn_update_op {
	TRN_UPDATE_NONE = 0,
	TRN_UPDATE_INC = 1,
	TRN_UPDATE_DEC = 2,
	TRN_UPDATE_ADD = 3,
	TRN_UPDATE_SUB = 4,
	TRN_UPDATE_WRITE = 5,
	TRN_UPDATE_EVENT_SET = 6,
	TRN_UPDATE_EVENT_CLEAR = 7,
};

#define TRN_UPDATE_AT_READ		0x00
#define TRN_UPDATE_AT_COMPLETE		0x01
#define TRN_UPDATE_TARGET_SHIFT		1
#define TRN_UPDATE_TARGET_OWN		0
#define TRN_UPDATE_TARGET_PARTNER	1
#define TRN_UPDATE_TARGET_CC		2
#define TRN_UPDATE_TARGET_ADDRESS	3

/** struct trn_sync - a wait or an update; 8 bytes. */
struct trn_sync {
	uint8_t op;		/* enum trn_wait_cond or enum trn_update_op */
	/* wait: TRN_WAIT_PASS_*; update: timing and target; bit 7: TRN_SYNC_VALUE_REG */
	uint8_t mode;
	uint16_t index;		/* semaphore or event 0..255 */
	int32_t value;
};

/* Data types: the low nibble is the public runtime code; 0x1x are project extensions. */
enum trn_dtype {
	TRN_DTYPE_INVALID = 0x00,
	TRN_DTYPE_UINT64 = 0x01,	/* host tensors only */
	TRN_DTYPE_INT8 = 0x02,
	TRN_DTYPE_UINT8 = 0x03,
	TRN_DTYPE_INT16 = 0x04,
	TRN_DTYPE_UINT16 = 0x05,
	TRN_DTYPE_BF16 = 0x06,
	TRN_DTYPE_FP16 = 0x07,
	TRN_DTYPE_INT32 = 0x08,
	TRN_DTYPE_UINT32 = 0x09,
	TRN_DTYPE_FP32 = 0x0a,
	TRN_DTYPE_FP32R = 0x0b,
	TRN_DTYPE_INT64 = 0x0c,		/* host tensors only */
	TRN_DTYPE_FP8_E3M4 = 0x0d,
	TRN_DTYPE_FP8_E4M3 = 0x0e,
	TRN_DTYPE_FP8_E5M2 = 0x0f,
	TRN_DTYPE_TF32 = 0x10,
	TRN_DTYPE_FP8_E4M3FN = 0x11,
	TRN_DTYPE_FP8_E8M0 = 0x12,
	TRN_DTYPE_FP8_E5M2_X4 = 0x13,
	TRN_DTYPE_FP8_E4M3FN_X4 = 0x14,
	TRN_DTYPE_FP4_E2M1_X4 = 0x15,
};

/** trn_isa_dtype_bytes() - size of an element (x4 types: of a pack), 0 for an unknown code. */
static inline uint32_t trn_isa_dtype_bytes(uint32_t dtype)
{
	switch (dtype) {
	case TRN_DTYPE_INT8:
	case TRN_DTYPE_UINT8:
	case TRN_DTYPE_FP8_E3M4:
	case TRN_DTYPE_FP8_E4M3:
	case TRN_DTYPE_FP8_E5M2:
	case TRN_DTYPE_FP8_E4M3FN:
	case TRN_DTYPE_FP8_E8M0:
		return 1;
	case TRN_DTYPE_INT16:
	case TRN_DTYPE_UINT16:
	case TRN_DTYPE_BF16:
	case TRN_DTYPE_FP16:
	case TRN_DTYPE_FP4_E2M1_X4:
		return 2;
	case TRN_DTYPE_INT32:
	case TRN_DTYPE_UINT32:
	case TRN_DTYPE_FP32:
	case TRN_DTYPE_FP32R:
	case TRN_DTYPE_TF32:
	case TRN_DTYPE_FP8_E5M2_X4:
	case TRN_DTYPE_FP8_E4M3FN_X4:
		return 4;
	case TRN_DTYPE_INT64:
	case TRN_DTYPE_UINT64:
		return 8;
	}
	return 0;
}

/* On-chip memories (bits 31:30 of an operand's first word). */
#define TRN_MEM_SBUF			0u
#define TRN_MEM_PSUM			1u
#define TRN_MEM_UNUSED			3u

#define TRN_OPERAND_MEM_SHIFT		30
/* offset += register named by the misc field */
#define TRN_OPERAND_REG			(1u << 29)
#define TRN_OPERAND_OFFSET_MASK		0x00ffffffu
#define TRN_OPERAND_NDIM_MASK		0x07
#define TRN_OPERAND_INDIRECT		0x08
#define TRN_OPERAND_DIMS		4

/** struct trn_dim - one access dimension, in elements; dimension 0 is the fastest. */
struct trn_dim {
	int16_t step;
	uint16_t count;
};

/** struct trn_operand - on-chip operand slot (A.4); 24 bytes. */
struct trn_operand {
	/* memory, register flag, byte offset inside the partition */
	uint32_t where;
	uint8_t partition;		/* first partition */
	uint8_t partitions;		/* 1..128 */
	uint8_t dtype;
	uint8_t ndim;			/* bits 2:0 number of dimensions 1..4, bit 3 indirect */
	struct trn_dim dim[TRN_OPERAND_DIMS];
};

/* Scalar operand kinds (c0, c1). */
#define TRN_SCALAR_IMM			0u
#define TRN_SCALAR_REG			1u
#define TRN_SCALAR_VECTOR		2u

/* Per-partition vector reference in c0 or c1. */
#define TRN_VECTOR_MEM_SHIFT		31
#define TRN_VECTOR_DTYPE_SHIFT		28
#define TRN_VECTOR_QUADRANT_SHIFT	26
#define TRN_VECTOR_OFFSET_MASK		0x00ffffffu
#define TRN_VECTOR_FP32			0u
#define TRN_VECTOR_BF16			1u
#define TRN_VECTOR_FP16			2u
#define TRN_VECTOR_INT32		3u
#define TRN_VECTOR_E4M3			4u
#define TRN_VECTOR_E5M2			5u

/* ALU codes. */
enum trn_alu {
	TRN_ALU_BYPASS = 0,
	TRN_ALU_ADD = 1,
	TRN_ALU_SUB = 2,
	TRN_ALU_MUL = 3,
	TRN_ALU_MAX = 4,
	TRN_ALU_MIN = 5,
	TRN_ALU_EQ = 6,
	TRN_ALU_NE = 7,
	TRN_ALU_GT = 8,
	TRN_ALU_GE = 9,
	TRN_ALU_LT = 10,
	TRN_ALU_LE = 11,
	TRN_ALU_LAND = 12,
	TRN_ALU_LOR = 13,
	TRN_ALU_LXOR = 14,
	TRN_ALU_POW = 15,
	TRN_ALU_ABS_MAX = 16,
	TRN_ALU_ABS_MIN = 17,
	TRN_ALU_ABS = 18,
	TRN_ALU_SQUARE = 19,
	TRN_ALU_RELU = 20,
	TRN_ALU_RSQRT = 21,
	TRN_ALU_RECIP = 22,
	TRN_ALU_LNOT = 23,
	TRN_ALU_NOT = 32,
	TRN_ALU_AND = 33,
	TRN_ALU_OR = 34,
	TRN_ALU_XOR = 35,
	TRN_ALU_SHL = 36,
	TRN_ALU_SHR = 37,
};

/* Activation functions (op0 of ACTIVATE). */
enum trn_act {
	TRN_ACT_COPY = 0,
	TRN_ACT_SQUARE = 1,
	TRN_ACT_SIGMOID = 2,
	TRN_ACT_RELU = 3,
	TRN_ACT_PRELU = 4,
	TRN_ACT_GELU = 5,
	TRN_ACT_GELU_DX = 6,
	TRN_ACT_GELU_APPRX_TANH = 7,
	TRN_ACT_GELU_APPRX_SIGMOID = 8,
	TRN_ACT_GELU_APPRX_SIGMOID_DX = 9,
	TRN_ACT_SILU = 10,
	TRN_ACT_SILU_DX = 11,
	TRN_ACT_TANH = 12,
	TRN_ACT_SOFTPLUS = 13,
	TRN_ACT_MISH = 14,
	TRN_ACT_ERF = 15,
	TRN_ACT_ERF_DX = 16,
	TRN_ACT_EXP = 17,
	TRN_ACT_LOG = 18,
	TRN_ACT_SIN = 19,
	TRN_ACT_ARCTAN = 20,
	TRN_ACT_SQRT = 21,
	TRN_ACT_RSQRT = 22,
	TRN_ACT_RECIPROCAL = 23,
	TRN_ACT_SIGN = 24,
	TRN_ACT_ABS = 25,
};

/* Reduce commands. */
#define TRN_REDUCE_IDLE			0u
#define TRN_REDUCE_RESET		1u
#define TRN_REDUCE_REDUCE		2u
#define TRN_REDUCE_RESET_REDUCE		3u
#define TRN_REDUCE_LOAD_REDUCE		4u

/* Operation block byte 3. */
#define TRN_OPF_REVERSE0		0x01
#define TRN_OPF_REVERSE1		0x02
#define TRN_OPF_NEGATE			0x04
#define TRN_OPF_ACCUMULATE		0x08
#define TRN_OPF_TRANSPOSE		0x10
#define TRN_OPF_DOUBLE_ROW		0x20
#define TRN_OPF_RDIMS_SHIFT		6		/* bits 7:6: reduced dimensions - 1 */

/* Operation block byte 4. */
#define TRN_OPK_C0_SHIFT		0
#define TRN_OPK_C1_SHIFT		2
#define TRN_OPK_REDUCE_SHIFT		4

/* misc field of control instructions: rd / ra register numbers. */
#define TRN_MISC_RD_SHIFT		0
#define TRN_MISC_RA_SHIFT		6
#define TRN_MISC_REG_MASK		0x3fu

/** struct trn_insn - one instruction; 128 bytes (A.2, A.5). */
struct trn_insn {
	uint8_t opcode;
	uint8_t engine;
	uint16_t flags;
	uint32_t tag;
	struct trn_sync wait[2];
	struct trn_sync update[2];
	uint8_t op0;
	uint8_t op1;
	uint8_t reduce_op;
	uint8_t opf;			/* TRN_OPF_* */
	uint8_t kinds;			/* TRN_OPK_* */
	uint8_t pe_tile;
	uint16_t misc;
	uint32_t c0;
	uint32_t c1;
	union {
		struct trn_operand slot[3];
		struct {			/* WRITE32 */
			uint64_t address;
			uint32_t value;
		} write32;
		struct {			/* DMA_TRIGGER: c0 = descriptors, c1 = queue */
			uint32_t engine_mask;	/* bit e: DMA engine e (0..15) of this core */
		} trigger;
		uint8_t raw[72];
	};
};

/** struct trn_pattern - slot 2 of IOTA and AFFINE_SELECT; 24 bytes. */
struct trn_pattern {
	uint32_t false_value;		/* FP32 bits */
	uint32_t ndim;
	struct trn_dim dim[TRN_OPERAND_DIMS];
};

/*
 * DMA_XFER device operand (A.8), 36 bytes: base 8, dtype 1, ndim 1, flags 2, 4 x {int32 step,
 * uint16 count}.
 */
#define TRN_XFER_OPERAND_SIZE		36
/* base += 32-bit register, number in bits 9:4 */
#define TRN_XFER_BASE_REG		(1u << 0)
#define TRN_XFER_INDEX_VECTOR		(1u << 1)
#define TRN_XFER_OOB_SKIP		(1u << 2)
#define TRN_XFER_ACCUMULATE		(1u << 3)
#define TRN_XFER_REG_SHIFT		4

/*
 * SET_MODE: c0 selects what changes, c1 carries the value of each selected bit or, for SEED, the
 * seed.
 */
#define TRN_MODE_STOCHASTIC		(1u << 0)
#define TRN_MODE_FLUSH_SUBNORMAL	(1u << 1)
#define TRN_MODE_CHECK_NAN		(1u << 2)
#define TRN_MODE_SEED			(1u << 3)

/*
 * Registers at the start of a run: 0..15 hold the first sixteen 32-bit words of the argument block
 * (absent words are 0), 62 and 63 hold the low and high half of the argument block's device
 * address, all others are 0.
 */
#define TRN_ARG_REGS			16
#define TRN_ARG_REG_ADDRESS_LOW		62
#define TRN_ARG_REG_ADDRESS_HIGH	63

/*
 * On-chip geometry shared by v2 and v3 where equal; per-generation sizes are in the architecture
 * tables.
 */
#define TRN_PARTITIONS			128
/* DMA view of SBUF: 256 KiB per partition */
#define TRN_SBUF_PARTITION_STRIDE	0x40000u
#define TRN_SBUF_PARTITION_BYTES_V2	(192u * 1024)
#define TRN_SBUF_PARTITION_BYTES_V3	(224u * 1024)
#define TRN_PSUM_PARTITION_BYTES	(16u * 1024)
#define TRN_PSUM_BANK_BYTES		2048u
#define TRN_MATMUL_MAX_COLUMNS		512

/* Fault codes: engine fault register, error notification code, and fault report of a failed run. */
enum trn_fault {
	TRN_FAULT_NONE = 0,
	/* unknown opcode, wrong engine, reserved bit, absent on this generation */
	TRN_FAULT_ILLEGAL_INSN = 1,
	/* operand outside memory, bad partition range, bad type or shape */
	TRN_FAULT_OPERAND = 2,
	/* instruction fetch outside the program's image or memory */
	TRN_FAULT_FETCH = 3,
	TRN_FAULT_WINDOW = 4,		/* device address outside the run's protection windows */
	TRN_FAULT_DMA = 5,		/* descriptor or DMA error in a queue the program started */
	TRN_FAULT_SEM_OVERFLOW = 6,
	TRN_FAULT_EVENT_DOUBLE = 7,
	TRN_FAULT_NAN = 8,
	TRN_FAULT_STOPPED = 9,		/* stopped by the host */
	TRN_FAULT_REQUEST = 10,		/* malformed run request or program table */
	TRN_FAULT_HALT_MISSING = 11,	/* ran past the end of the image */
	TRN_FAULT_NOTIFY_OVERFLOW = 12,	/* a notification ring was full and an entry was dropped */
};

#ifndef __KERNEL__
_Static_assert(sizeof(struct trn_sync) == 8, "trn_sync is 8 bytes");
_Static_assert(sizeof(struct trn_operand) == 24, "trn_operand is 24 bytes");
_Static_assert(sizeof(struct trn_pattern) == 24, "trn_pattern is 24 bytes");
_Static_assert(sizeof(struct trn_insn) == TRN_INSN_SIZE, "trn_insn is 128 bytes");
#endif

#endif /* TRAINIUM_ISA_H */
