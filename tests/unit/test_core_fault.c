// SPDX-License-Identifier: BSD-2-Clause
/*
 * Validation: every reserved bit, every opcode on every engine and generation, operand rules, and
 * random programs.
 */
#include "core_fuzz.h"
#include "core_harness.h"
#include "tests/emulator/exec.h"
#include "tests/emulator/rng.h"

#define DVE  TRN_ENGINE_DVE
#define POOL TRN_ENGINE_POOL

/* A COPY that works. */
static struct trn_insn *good(struct harness *h)
{
	struct trn_insn *i = h_emit(h, DVE, TRN_OP_COPY);

	i->slot[0] = h_sbuf(0, 32, 4096, TRN_DTYPE_FP32, 16);
	i->slot[1] = h_sbuf(0, 32, 0, TRN_DTYPE_FP32, 16);
	return i;
}

START_TEST(good_is_good)
{
	struct harness *h = h_create(2);

	good(h);
	h_run_ok(h);
	h_destroy(h);
}
END_TEST

/* Bytes of COPY, each with the bits that mean nothing for it. */
static const struct {
	uint8_t byte, mask;
} reserved[] = {
	{ 0, 0x80 },   { 2, 0x80 },   { 3, 0xc0 },   { 3, 0x3f }, /* without the predicated flag */
	{ 40, 0xff },  { 41, 0xff },  { 42, 0xff },  { 43, 0xff },  { 44, 0xff },  { 45, 0xff },
	{ 46, 0xc0 },  { 47, 0xff },  { 48, 0xff },  { 49, 0xff },  { 50, 0xff },  { 51, 0xff },
	{ 52, 0xff },  { 53, 0xff },  { 54, 0xff },  { 55, 0xff },  { 59, 0x1f },  { 63, 0xf8 },
	{ 68, 0xff },  { 69, 0xff },  { 70, 0xff },  { 71, 0xff },  { 76, 0xff },  { 79, 0xff },
	{ 83, 0x1f },  { 87, 0xf8 },  { 92, 0xff },  { 103, 0xff }, { 104, 0xff }, { 105, 0xff },
	{ 108, 0xff }, { 111, 0xff }, { 112, 0xff }, { 127, 0xff }, { 9, 0xff },   { 10, 0xff },
	{ 11, 0xff },  { 12, 0xff },  { 15, 0xff },  { 25, 0xff },  { 26, 0xff },  { 28, 0xff },
	{ 31, 0xff }, /* fields of absent waits and updates */
};

START_TEST(reserved_bits)
{
	unsigned int bit;

	for (bit = 0; bit < 8; bit++) {
		struct harness *h;

		if (!(reserved[_i].mask & 1u << bit))
			continue;
		h = h_create(2);
		((uint8_t *)good(h))[reserved[_i].byte] ^= (uint8_t)(1u << bit);
		ck_assert_msg(h_run(h) == TRN_FAULT_ILLEGAL_INSN, "byte %u, bit %u: fault %d",
			      reserved[_i].byte, bit, h->result.fault);
		h_destroy(h);
	}
}
END_TEST

static const struct trn_sync bad_waits[] = {
	{ 5, 0, 0, 0 },
	{ 7, 0, 0, 0 },
	{ 10, 0, 0, 0 },
	{ 255, 0, 0, 0 },
	{ TRN_WAIT_SEM_GE, 3, 0, 0 },
	{ TRN_WAIT_SEM_GE, 4, 0, 0 },
	{ TRN_WAIT_SEM_GE, 0, 256, 0 },
	{ TRN_WAIT_SEM_GE, TRN_SYNC_VALUE_REG, 0, 64 },
	{ TRN_WAIT_SEM_GE, TRN_SYNC_VALUE_REG, 0, -1 },
	{ TRN_WAIT_EVENT_SET, 1, 0, 0 },
	{ TRN_WAIT_EVENT_SET, 0, 256, 0 },
	{ TRN_WAIT_EVENT_CLEAR, 0, 0, 1 },
	{ TRN_WAIT_EVENT_CLEAR, TRN_SYNC_VALUE_REG, 0, 0 },
};

START_TEST(wait_encodings)
{
	struct harness *h = h_create(2);

	h_emit(h, DVE, TRN_OP_NOP)->wait[_i & 1] = bad_waits[_i];
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

static const struct trn_sync bad_updates[] = {
	{ 8, 0, 0, 0 },
	{ 255, 0, 0, 0 },
	{ TRN_UPDATE_INC, 0x10, 0, 0 },
	{ TRN_UPDATE_INC, 0x40, 0, 0 },
	{ TRN_UPDATE_INC, 0, 256, 0 },
	{ TRN_UPDATE_INC, 0, 0, 1 },
	{ TRN_UPDATE_DEC, TRN_SYNC_VALUE_REG, 0, 0 },
	{ TRN_UPDATE_ADD, TRN_SYNC_VALUE_REG, 0, 64 },
	{ TRN_UPDATE_INC, TRN_UPDATE_TARGET_PARTNER << 1, 0, 0 },
	{ TRN_UPDATE_INC, TRN_UPDATE_TARGET_CC << 1, 0, 0 },
	{ TRN_UPDATE_DEC, TRN_UPDATE_TARGET_ADDRESS << 1, 0, 0 },
	{ TRN_UPDATE_INC, TRN_UPDATE_TARGET_ADDRESS << 1, 63, 0 },
	{ TRN_UPDATE_EVENT_SET, 0, 0, 5 },
};

START_TEST(update_encodings)
{
	struct harness *h = h_create(2);

	h_emit(h, DVE, TRN_OP_NOP)->update[_i & 1] = bad_updates[_i];
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

START_TEST(scalar_encodings)
{
	static const struct {
		uint8_t kinds;
		uint32_t c0;
	} rows[] = {
		{ 3, 0 },
		{ TRN_SCALAR_REG, 64 },
		{ TRN_SCALAR_VECTOR, 1u << 24 },
		{ TRN_SCALAR_VECTOR, 1u << 25 },
		{ TRN_SCALAR_VECTOR, 6u << TRN_VECTOR_DTYPE_SHIFT },
		{ 5 << TRN_OPK_REDUCE_SHIFT, 0 },
		{ 0x80, 0 },
	};
	struct harness *h = h_create(2);
	struct trn_insn *i = good(h);

	i->opcode = TRN_OP_TENSOR_SCALAR;
	i->op0 = TRN_ALU_ADD;
	i->kinds = rows[_i].kinds;
	i->c0 = rows[_i].c0;
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

/* Every opcode byte, on every engine, on every generation: legal exactly where the table says. */
START_TEST(opcode_engine_matrix)
{
	struct emu_core_config config = { .generation = 2 + (unsigned int)_i };
	unsigned int code, e, legal = 0;

	for (code = 0; code < 256; code++) {
		const struct emu_opcode *op = emu_opcode_get(code);

		for (e = 0; e < 256; e++) {
			struct trn_insn insn = { .opcode = (uint8_t)code, .engine = (uint8_t)e };
			bool known =
				op && e < TRN_ENGINE_MAX &&
				(emu_opcode_engines(op, config.generation) & EMU_ENGINE_BIT(e));
			enum trn_fault fault;
			unsigned int k;

			for (k = 0; known && k < 3; k++)
				if (op->slot[k] == EMU_SLOT_IN || op->slot[k] == EMU_SLOT_OUT)
					insn.slot[k] = h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1);
			fault = emu_insn_check(&config, (enum trn_engine)e, &insn);
			ck_assert_msg(fault == (known ? TRN_FAULT_NONE : TRN_FAULT_ILLEGAL_INSN),
				      "opcode %02x engine %u", code, e);
			legal += known;
		}
	}
	ck_assert_uint_gt(legal, 100);
}
END_TEST

START_TEST(later_generation_opcodes)
{
	static const struct {
		enum trn_opcode op;
		enum trn_engine e;
		unsigned int generation;
	} rows[] = {
		{ TRN_OP_RANGE_SELECT, DVE, 2 },
		{ TRN_OP_NONZERO, POOL, 2 },
		{ TRN_OP_RNG, POOL, 2 },
		{ TRN_OP_RNG_SEED, POOL, 2 },
		{ TRN_OP_RNG_SET, POOL, 2 },
		{ TRN_OP_RNG_SET, DVE, 3 },
		{ TRN_OP_RNG_GET, DVE, 3 },
		{ TRN_OP_QUANTIZE_MX, DVE, 3 },
		{ TRN_OP_TENSOR_SCALAR, TRN_ENGINE_ACT, 2 },
		{ TRN_OP_LDWEIGHTS_MX, TRN_ENGINE_PE, 3 },
		{ TRN_OP_MATMUL_MX, TRN_ENGINE_PE, 3 },
		{ TRN_OP_ACTIVATE2, TRN_ENGINE_ACT, 3 },
		{ TRN_OP_EXT, DVE, 3 },
		{ TRN_OP_CC_STEP, TRN_ENGINE_CC, 3 },
	};
	struct harness *h = h_create(rows[_i].generation);

	h_emit(h, rows[_i].e, rows[_i].op);
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

START_TEST(wrong_engine_byte)
{
	struct harness *h = h_create(2);

	good(h)->engine = POOL;
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

/* Operand rules, on the source of a COPY. */
static const struct operand_case {
	const char *what;
	uint8_t partition, partitions;
	uint32_t offset;
	uint8_t mem, dtype, ndim;
	struct trn_dim dim[4];
	enum trn_fault fault;
} operands[] = {
	{ "partition 0 of 0", 0, 0, 0, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "129 partitions", 0, 129, 0, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "start 16", 16, 32, 0, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "start 96", 96, 32, 0, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_NONE },
	{ "start 128", 128, 32, 0, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "32 at 224", 224, 32, 0, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "33 at 32", 32, 33, 0, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "65 at 64", 64, 65, 0, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "other count of partitions", 0, 31, 0, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "no dimension", 0, 32, 0, 0, 0xa, 0, { { 0, 0 } }, TRN_FAULT_OPERAND },
	{ "5 dimensions", 0, 32, 0, 0, 0xa, 5, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "count 0", 0, 32, 0, 0, 0xa, 1, { { 1, 0 } }, TRN_FAULT_OPERAND },
	{ "other count", 0, 32, 0, 0, 0xa, 1, { { 1, 17 } }, TRN_FAULT_OPERAND },
	{ "other shape", 0, 32, 0, 0, 0xa, 2, { { 1, 4 }, { 100, 4 } }, TRN_FAULT_NONE },
	{ "broadcast", 0, 32, 0, 0, 0xa, 1, { { 0, 16 } }, TRN_FAULT_NONE },
	{ "misaligned", 0, 32, 2, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "bf16 aligned", 0, 32, 2, 0, 0x6, 1, { { 1, 16 } }, TRN_FAULT_NONE },
	{ "last byte",
	  0,
	  32,
	  TRN_SBUF_PARTITION_BYTES_V2 - 64,
	  0,
	  0xa,
	  1,
	  { { 1, 16 } },
	  TRN_FAULT_NONE },
	{ "one past",
	  0,
	  32,
	  TRN_SBUF_PARTITION_BYTES_V2 - 60,
	  0,
	  0xa,
	  1,
	  { { 1, 16 } },
	  TRN_FAULT_OPERAND },
	{ "far past", 0, 32, 0xfffffc, 0, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "before the start", 0, 32, 56, 0, 0xa, 1, { { -1, 16 } }, TRN_FAULT_OPERAND },
	{ "down to the start", 0, 32, 60, 0, 0xa, 1, { { -1, 16 } }, TRN_FAULT_NONE },
	{ "stride past the end", 0, 32, 0, 0, 0xa, 1, { { 32767, 16 } }, TRN_FAULT_OPERAND },
	{ "65537 elements", 0, 32, 0, 0, 0x3, 2, { { 0, 65535 }, { 0, 2 } }, TRN_FAULT_OPERAND },
	{ "2^64 elements",
	  0,
	  32,
	  0,
	  0,
	  0x3,
	  4,
	  { { 0, 65535 }, { 0, 65535 }, { 0, 65535 }, { 0, 65535 } },
	  TRN_FAULT_OPERAND },
	{ "PSUM end", 0, 32, 16384 - 64, 1, 0xa, 1, { { 1, 16 } }, TRN_FAULT_NONE },
	{ "past PSUM", 0, 32, 16384 - 60, 1, 0xa, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "memory 2", 0, 32, 0, 2, 0xa, 1, { { 1, 16 } }, TRN_FAULT_ILLEGAL_INSN },
	{ "unused", 0, 32, 0, 3, 0xa, 1, { { 1, 16 } }, TRN_FAULT_ILLEGAL_INSN },
	{ "type 0", 0, 32, 0, 0, 0x0, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "type ff", 0, 32, 0, 0, 0xff, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "64-bit type", 0, 32, 0, 0, 0x1, 1, { { 1, 16 } }, TRN_FAULT_OPERAND },
	{ "type of v4", 0, 32, 0, 0, 0x11, 1, { { 1, 16 } }, TRN_FAULT_ILLEGAL_INSN },
};

START_TEST(operand_rules)
{
	const struct operand_case *c = &operands[_i];
	struct harness *h = h_create(2);
	struct trn_operand *s = &good(h)->slot[1];

	s->where = (uint32_t)c->mem << TRN_OPERAND_MEM_SHIFT | c->offset;
	s->partition = c->partition;
	s->partitions = c->partitions;
	s->dtype = c->dtype;
	s->ndim = c->ndim;
	memcpy(s->dim, c->dim, sizeof(s->dim));
	ck_assert_msg(h_run(h) == c->fault, "%s: fault %d", c->what, h->result.fault);
	h_destroy(h);
}
END_TEST

START_TEST(output_without_step)
{
	struct harness *h = h_create(2);

	good(h)->slot[0].dim[0].step = 0;
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

/* What an opcode refuses, beyond single operands. */
START_TEST(pool_has_no_psum)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, POOL, TRN_OP_TENSOR_SCALAR);

	i->slot[0] = h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1);
	i->slot[1] = h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1);
	i->op0 = TRN_ALU_ADD;
	if (_i == 2) {
		i->kinds = TRN_SCALAR_VECTOR;
		i->c0 = h_vector(TRN_MEM_PSUM, TRN_VECTOR_FP32, 0, 0);
	} else {
		i->slot[_i] = h_psum(0, 1, 0, TRN_DTYPE_FP32, 1);
	}
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

static const enum trn_opcode two_inputs[] = {
	TRN_OP_TENSOR_TENSOR,
	TRN_OP_SCALAR_TENSOR_TENSOR,
	TRN_OP_SCAN,
	TRN_OP_COPY_PREDICATED,
};

START_TEST(both_inputs_in_psum)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, DVE, two_inputs[_i]);
	bool pred = two_inputs[_i] == TRN_OP_COPY_PREDICATED;

	i->slot[0] = h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 4);
	i->slot[1] = h_psum(0, 1, 0, TRN_DTYPE_FP32, 4);
	i->slot[2] = h_psum(0, 1, 2048, pred ? TRN_DTYPE_UINT32 : TRN_DTYPE_FP32, 4);
	i->op0 = pred ? 0 : TRN_ALU_ADD;
	i->op1 = two_inputs[_i] == TRN_OP_SCALAR_TENSOR_TENSOR || two_inputs[_i] == TRN_OP_SCAN
			 ? TRN_ALU_ADD
			 : 0;
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

START_TEST(vector_bounds)
{
	static const uint32_t vectors[] = { TRN_SBUF_PARTITION_BYTES_V2,
					    TRN_SBUF_PARTITION_BYTES_V2 - 2, 2,
					    1u << TRN_VECTOR_QUADRANT_SHIFT };
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, DVE, TRN_OP_TENSOR_SCALAR);

	/* The last row: 64 partitions cannot start at quadrant 1. */
	i->slot[0] = h_sbuf(0, 64, 4096, TRN_DTYPE_FP32, 1);
	i->slot[1] = h_sbuf(0, 64, 0, TRN_DTYPE_FP32, 1);
	i->op0 = TRN_ALU_ADD;
	i->kinds = TRN_SCALAR_VECTOR;
	i->c0 = vectors[_i];
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

/* Wrong types, shapes and operators of single opcodes. */
static const struct opcode_case {
	const char *what;
	enum trn_opcode op;
	enum trn_engine e;
	uint8_t types[3]; /* of the slots; 0: no slot */
	uint16_t counts[3];
	uint8_t op0, op1, reduce_op, kinds, opf;
	enum trn_fault fault;
} cases[] = {
	{ "mixed classes",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 9, 9 },
	  { 4, 4 },
	  TRN_ALU_ADD,
	  TRN_ALU_AND,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "unknown operator",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 10, 10 },
	  { 4, 4 },
	  24,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "unknown bit operator",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 9, 9 },
	  { 4, 4 },
	  38,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "bits of floats",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 10, 10 },
	  { 4, 4 },
	  TRN_ALU_AND,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "rsqrt on DVE",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 10, 10 },
	  { 4, 4 },
	  TRN_ALU_RSQRT,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "bits reduced",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 9, 9 },
	  { 4, 4 },
	  TRN_ALU_AND,
	  0,
	  TRN_ALU_ADD,
	  0x30,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "reduce with sub",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 10, 10 },
	  { 4, 4 },
	  TRN_ALU_ADD,
	  0,
	  TRN_ALU_SUB,
	  0x30,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "reduce op when idle",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 10, 10 },
	  { 4, 4 },
	  TRN_ALU_ADD,
	  0,
	  TRN_ALU_ADD,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "result when idle",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 10, 10, 10 },
	  { 4, 4, 1 },
	  TRN_ALU_ADD,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "result of two",
	  TRN_OP_TENSOR_SCALAR,
	  DVE,
	  { 10, 10, 10 },
	  { 4, 4, 2 },
	  TRN_ALU_ADD,
	  0,
	  TRN_ALU_ADD,
	  0x30,
	  0,
	  TRN_FAULT_OPERAND },
	{ "reduce on POOL",
	  TRN_OP_TENSOR_SCALAR,
	  POOL,
	  { 10, 10 },
	  { 4, 4 },
	  TRN_ALU_ADD,
	  0,
	  TRN_ALU_ADD,
	  0x30,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "unary of two",
	  TRN_OP_TENSOR_TENSOR,
	  DVE,
	  { 10, 10, 10 },
	  { 4, 4, 4 },
	  TRN_ALU_ABS,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "bypass of two",
	  TRN_OP_TENSOR_TENSOR,
	  DVE,
	  { 10, 10, 10 },
	  { 4, 4, 4 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "bits of two widths",
	  TRN_OP_TENSOR_TENSOR,
	  DVE,
	  { 9, 9, 3 },
	  { 4, 4, 4 },
	  TRN_ALU_AND,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "inputs of two counts",
	  TRN_OP_TENSOR_TENSOR,
	  DVE,
	  { 10, 10, 10 },
	  { 4, 4, 5 },
	  TRN_ALU_ADD,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "bits in stt",
	  TRN_OP_SCALAR_TENSOR_TENSOR,
	  DVE,
	  { 9, 9, 9 },
	  { 4, 4, 4 },
	  TRN_ALU_AND,
	  TRN_ALU_ADD,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "no second op",
	  TRN_OP_SCALAR_TENSOR_TENSOR,
	  DVE,
	  { 10, 10, 10 },
	  { 4, 4, 4 },
	  TRN_ALU_ADD,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "compare reduces",
	  TRN_OP_TENSOR_REDUCE,
	  DVE,
	  { 10, 10 },
	  { 1, 4 },
	  0,
	  0,
	  TRN_ALU_EQ,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "reduce to two",
	  TRN_OP_TENSOR_REDUCE,
	  DVE,
	  { 10, 10 },
	  { 2, 4 },
	  0,
	  0,
	  TRN_ALU_ADD,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "two dims of one",
	  TRN_OP_TENSOR_REDUCE,
	  DVE,
	  { 10, 10 },
	  { 1, 4 },
	  0,
	  0,
	  TRN_ALU_ADD,
	  0,
	  0x40,
	  TRN_FAULT_OPERAND },
	{ "negated bits",
	  TRN_OP_TENSOR_REDUCE,
	  DVE,
	  { 9, 9 },
	  { 1, 4 },
	  0,
	  0,
	  TRN_ALU_OR,
	  0,
	  TRN_OPF_NEGATE,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "unary scan",
	  TRN_OP_SCAN,
	  DVE,
	  { 10, 10, 10 },
	  { 4, 4, 4 },
	  TRN_ALU_ABS,
	  TRN_ALU_ADD,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "float predicate",
	  TRN_OP_COPY_PREDICATED,
	  DVE,
	  { 10, 10, 10 },
	  { 4, 4, 4 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "predicated cast",
	  TRN_OP_COPY_PREDICATED,
	  DVE,
	  { 10, 6, 3 },
	  { 4, 4, 4 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "32-bit predicate",
	  TRN_OP_SELECT_REDUCE,
	  DVE,
	  { 10, 10, 9 },
	  { 4, 4, 4 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "int32 on_true",
	  TRN_OP_SELECT_REDUCE,
	  DVE,
	  { 10, 8, 3 },
	  { 4, 4, 4 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "bn_stats of 513",
	  TRN_OP_BN_STATS,
	  DVE,
	  { 10, 10 },
	  { 6, 513 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "bn_stats to 5",
	  TRN_OP_BN_STATS,
	  DVE,
	  { 10, 10 },
	  { 5, 6 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "bn_aggr of 7",
	  TRN_OP_BN_AGGR,
	  DVE,
	  { 10, 10 },
	  { 2, 7 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "max8 of 7", TRN_OP_MAX8, DVE, { 10, 10 }, { 8, 7 }, 0, 0, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "max8 of 16385",
	  TRN_OP_MAX8,
	  DVE,
	  { 10, 6 },
	  { 8, 16385 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "float indices",
	  TRN_OP_FIND_INDEX8,
	  DVE,
	  { 10, 10, 10 },
	  { 8, 8, 8 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "transpose casts",
	  TRN_OP_TRANSPOSE32,
	  DVE,
	  { 10, 6 },
	  { 1, 1 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "random floats", TRN_OP_RNG, DVE, { 10 }, { 4 }, 0, 0, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "seed of two",
	  TRN_OP_RNG_SEED,
	  DVE,
	  { 0, 9 },
	  { 0, 2 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "state of five", TRN_OP_RNG_GET, POOL, { 9 }, { 5 }, 0, 0, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "dropout casts",
	  TRN_OP_DROPOUT,
	  DVE,
	  { 10, 6 },
	  { 4, 4 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "pattern of none", TRN_OP_IOTA, POOL, { 8 }, { 4 }, 0, 0, 0, 0, 0, TRN_FAULT_OPERAND },
	{ "arithmetic compare",
	  TRN_OP_AFFINE_SELECT,
	  POOL,
	  { 10, 10 },
	  { 4, 4 },
	  TRN_ALU_ADD,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "partition mul",
	  TRN_OP_PARTITION_REDUCE,
	  POOL,
	  { 10, 10 },
	  { 4, 4 },
	  0,
	  0,
	  TRN_ALU_MUL,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "float index",
	  TRN_OP_N_GATHER,
	  POOL,
	  { 10, 10, 10 },
	  { 4, 4, 4 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "nonzero to N",
	  TRN_OP_NONZERO,
	  POOL,
	  { 8, 8 },
	  { 4, 4 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "bounds to N",
	  TRN_OP_SEQUENCE_BOUNDS,
	  POOL,
	  { 10, 10 },
	  { 4, 4 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "function 26",
	  TRN_OP_ACTIVATE,
	  TRN_ENGINE_ACT,
	  { 10, 10 },
	  { 4, 4 },
	  26,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "activation max",
	  TRN_OP_ACTIVATE,
	  TRN_ENGINE_ACT,
	  { 10, 10 },
	  { 4, 4 },
	  0,
	  0,
	  TRN_ALU_MAX,
	  0x30,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "load_reduce on ACT",
	  TRN_OP_ACTIVATE,
	  TRN_ENGINE_ACT,
	  { 10, 10 },
	  { 4, 4 },
	  0,
	  0,
	  TRN_ALU_ADD,
	  0x40,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
	{ "accumulators of two",
	  TRN_OP_ACC_READ,
	  DVE,
	  { 10 },
	  { 2 },
	  0,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_OPERAND },
	{ "ACT max",
	  TRN_OP_TENSOR_SCALAR,
	  TRN_ENGINE_ACT,
	  { 10, 10 },
	  { 4, 4 },
	  TRN_ALU_MAX,
	  0,
	  0,
	  0,
	  0,
	  TRN_FAULT_ILLEGAL_INSN },
};

START_TEST(opcode_rules)
{
	const struct opcode_case *c = &cases[_i];
	struct harness *h = h_create(3);
	struct trn_insn *i = h_emit(h, c->e, c->op);
	unsigned int k;

	for (k = 0; k < 3; k++)
		if (c->types[k])
			i->slot[k] =
				h_sbuf(0, 1, 40000 * k, (enum trn_dtype)c->types[k], c->counts[k]);
	i->op0 = c->op0;
	i->op1 = c->op1;
	i->reduce_op = c->reduce_op;
	i->kinds = c->kinds;
	i->opf = c->opf;
	ck_assert_msg(h_run(h) == c->fault, "%s: fault %d", c->what, h->result.fault);
	h_destroy(h);
}
END_TEST

START_TEST(v2_bias)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, TRN_ENGINE_ACT, TRN_OP_ACTIVATE);

	i->slot[0] = i->slot[1] = h_sbuf(0, 1, 0, TRN_DTYPE_FP32, 1);
	i->c0 = h_f32(1);
	if (_i == 0) {
		i->c1 = h_f32(1);
	} else {
		i->op0 = TRN_ACT_RECIPROCAL;
		i->kinds = TRN_SCALAR_VECTOR << TRN_OPK_C1_SHIFT;
	}
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

START_TEST(set_mode_encodings)
{
	static const uint32_t rows[][2] = { { 16, 0 }, { 1, 2 }, { 9, 1 }, { 1, 16 } };
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, DVE, TRN_OP_SET_MODE);

	i->c0 = rows[_i][0];
	i->c1 = rows[_i][1];
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

START_TEST(control_rules)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, DVE, TRN_OP_NOP);
	enum trn_fault want = TRN_FAULT_ILLEGAL_INSN;

	switch (_i) {
	case 0: /* a branch on an arithmetic operator */
		i->opcode = TRN_OP_BRANCH;
		i->op0 = TRN_ALU_ADD;
		break;
	case 1: /* more than 16 DMA engines */
		i->opcode = TRN_OP_DMA_TRIGGER;
		i->trigger.engine_mask = 0x10000;
		want = TRN_FAULT_OPERAND;
		break;
	case 2:
		i->opcode = TRN_OP_DMA_TRIGGER;
		i->c1 = 16;
		want = TRN_FAULT_OPERAND;
		break;
	case 3:
		i->opcode = TRN_OP_DMA_TRIGGER;
		i->raw[4] = 1;
		break;
	case 4: /* misaligned write */
		i->opcode = TRN_OP_WRITE32;
		i->write32.address = 2;
		want = TRN_FAULT_OPERAND;
		break;
	case 5:
		i->opcode = TRN_OP_WRITE32;
		i->raw[12] = 1;
		break;
	case 6: /* value both in the field and in a register */
		i->opcode = TRN_OP_WRITE32;
		i->write32.value = 1;
		i->kinds = TRN_SCALAR_REG;
		break;
	case 7: /* an immediate that nothing uses */
		i->opcode = TRN_OP_WRITE32;
		i->c0 = 1;
		break;
	case 8: /* a device address that is not in registers */
		i->opcode = TRN_OP_REG_LOAD;
		i->slot[0] = h_unused();
		break;
	case 9:
		i->opcode = TRN_OP_REG_LOAD;
		i->slot[0] = h_sbuf(0, 1, 0, TRN_DTYPE_UINT16, 1);
		want = TRN_FAULT_OPERAND;
		break;
	case 10:
		i->opcode = TRN_OP_REG_STORE;
		i->slot[0] = h_sbuf(0, 1, 0, TRN_DTYPE_UINT32, 2);
		want = TRN_FAULT_OPERAND;
		break;
	}
	ck_assert_int_eq(h_run(h), want);
	h_destroy(h);
}
END_TEST

/* --- random programs --- */

static uint32_t pick(struct emu_xorwow *r, uint32_t n)
{
	return emu_xorwow_next(r) % n;
}

static void random_operand(struct emu_xorwow *r, struct trn_operand *s)
{
	static const uint8_t parts[] = { 1, 1, 8, 16, 32, 33, 64, 128, 0, 255 };
	static const uint16_t counts[] = { 1, 2, 6, 8, 9, 16, 32, 64, 512, 4096, 65535 };
	static const int16_t steps[] = { 1, 1, 1, 2, -1, 0, 512, 32767, -32768 };
	unsigned int d, ndim = 1 + (pick(r, 4) == 0 ? pick(r, 4) : 0);

	memset(s, 0, sizeof(*s));
	s->where = pick(r, 3) == 0 ? TRN_MEM_PSUM << TRN_OPERAND_MEM_SHIFT : 0;
	if (pick(r, 8) == 0)
		s->where |= TRN_OPERAND_REG;
	s->where |= pick(r, 16) ? 64 * pick(r, 64) : emu_xorwow_next(r) & TRN_OPERAND_OFFSET_MASK;
	s->partition = (uint8_t)(32 * pick(r, 4));
	s->partitions = parts[pick(r, sizeof(parts))];
	s->dtype = (uint8_t)(pick(r, 3) ? 10 : 1 + pick(r, 0x15));
	s->ndim = (uint8_t)ndim;
	for (d = 0; d < ndim; d++) {
		s->dim[d].step = steps[pick(r, ARRAY_SIZE(steps))];
		s->dim[d].count = counts[pick(r, d ? 4 : ARRAY_SIZE(counts))];
	}
}

/* A random instruction that often is a legal one. */
static void random_insn(struct emu_xorwow *r, unsigned int generation, struct trn_insn *insn)
{
	static const uint16_t result_counts[] = { 1, 2, 6, 8, 9, 17, 33, 64 };
	static const uint8_t result_types[] = { TRN_DTYPE_UINT8, TRN_DTYPE_UINT16,
						TRN_DTYPE_UINT32 };
	const struct emu_opcode *op;
	unsigned int e, k, engines;

	do {
		insn->opcode = (uint8_t)pick(r, 0x80);
		op = emu_opcode_get(insn->opcode);
		engines = emu_opcode_engines(op, generation);
	} while (!engines);
	do
		e = pick(r, TRN_ENGINE_MAX);
	while (!(engines & EMU_ENGINE_BIT(e)));
	insn->engine = (uint8_t)e;
	insn->flags = (uint16_t)(pick(r, 4) ? 0 : pick(r, 0x80));
	insn->op0 = (uint8_t)(op->fields & EMU_F_OP0 ? pick(r, 40) : 0);
	insn->op1 = (uint8_t)(op->fields & EMU_F_OP1 && pick(r, 2) ? pick(r, 24) : 0);
	insn->opf = (uint8_t)(pick(r, 2) ? emu_xorwow_next(r) & op->opf : 0);
	if (op->fields & EMU_F_REDUCE_OP)
		insn->reduce_op =
			(uint8_t)(op->fields & EMU_F_REDUCE_CMD && pick(r, 2) ? 0 : 1 + pick(r, 5));
	if (op->fields & EMU_F_REDUCE_CMD && insn->reduce_op)
		insn->kinds = (uint8_t)((2 + pick(r, 3)) << TRN_OPK_REDUCE_SHIFT);
	if (op->c0 & EMU_KIND_VEC && pick(r, 3) == 0)
		insn->kinds |= TRN_SCALAR_VECTOR;
	insn->c0 = op->c0 || op->fields & EMU_F_RAW_SCALARS ? 4 * pick(r, 16) : 0;
	insn->c1 = op->c1 || op->fields & EMU_F_RAW_SCALARS ? pick(r, 64) : 0;
	insn->misc = (uint16_t)(emu_xorwow_next(r) & op->misc & (pick(r, 2) ? 0xffff : 0));
	for (k = 0; k < 3; k++) {
		if (op->slot[k] == EMU_SLOT_RAW)
			insn->slot[k].where = pick(r, 2) ? emu_xorwow_next(r) : 0;
		else if (op->slot[k] != EMU_SLOT_NONE)
			random_operand(r, &insn->slot[k]);
		if (k && op->slot[k] && op->slot[k] != EMU_SLOT_RAW && pick(r, 4)) {
			/* Mostly of one shape, or nothing would run. */
			insn->slot[k] = insn->slot[op->slot[0] ? 0 : k];
			if (op->slot[k] == EMU_SLOT_OUT_OPT)
				insn->slot[k] = h_unused();
		}
	}
	if (op->slot[0] == EMU_SLOT_OUT && op->slot[1] && pick(r, 3) == 0)
		insn->slot[0].dim[0].count = result_counts[pick(r, ARRAY_SIZE(result_counts))];
	if (pick(r, 2) == 0 && op->slot[2] == EMU_SLOT_IN)
		insn->slot[2].dtype = result_types[pick(r, ARRAY_SIZE(result_types))];
	if (insn->opcode == TRN_OP_IOTA || insn->opcode == TRN_OP_AFFINE_SELECT) {
		struct trn_pattern pat = { .ndim = 1,
					   .dim = { { 1, insn->slot[0].dim[0].count } } };

		memcpy(&insn->slot[2], &pat, sizeof(pat));
	}
	if (insn->opcode == TRN_OP_DMA_XFER) {
		memset(insn->raw, 0, sizeof(insn->raw));
		for (k = 0; k < 2; k++) {
			uint8_t *o = insn->raw + k * TRN_XFER_OPERAND_SIZE;

			o[1] = (uint8_t)pick(r, 256);
			o[8] = (uint8_t)(1 + pick(r, 15));
			o[9] = 1;
			o[12] = (uint8_t)pick(r, 4);
			o[16] = 64;
		}
	}
	if (pick(r, 8) == 0)
		insn->update[0] = (struct trn_sync){ .op = (uint8_t)(1 + pick(r, 2)),
						     .index = (uint16_t)pick(r, 4) };
	if (pick(r, 64) == 0)
		((uint8_t *)insn)[pick(r, TRN_INSN_SIZE)] ^= (uint8_t)(1u << pick(r, 8));
}

START_TEST(random_programs)
{
	enum {
		PROGRAMS = 300,
		INSNS = 2
	};
	static uint8_t data[1 + INSNS * TRN_INSN_SIZE];
	struct emu_xorwow r;
	uint64_t executed = 0;
	unsigned int p, k;

	emu_xorwow_seed(&r, 20240, (uint32_t)_i);
	for (p = 0; p < PROGRAMS; p++) {
		memset(data, 0, sizeof(data));
		data[0] = (uint8_t)pick(&r, CORE_FUZZ_GENERATIONS);
		for (k = 0; k < INSNS; k++) {
			struct trn_insn insn = { 0 };

			random_insn(&r, 2u + data[0], &insn);
			memcpy(data + 1 + k * TRN_INSN_SIZE, &insn, sizeof(insn));
		}
		executed += core_fuzz_one(data, sizeof(data));
	}
	/* The generator must get past the decoder, or it tests nothing. */
	ck_assert_uint_gt(executed, PROGRAMS / 2);
}
END_TEST

START_TEST(random_bytes)
{
	static uint8_t data[1 + 64 * TRN_INSN_SIZE];
	struct emu_xorwow r;
	unsigned int round;
	size_t i;

	emu_xorwow_seed(&r, 1, 2);
	for (round = 0; round < 100; round++) {
		for (i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)emu_xorwow_next(&r);
		for (i = 1; i < sizeof(data); i += TRN_INSN_SIZE)
			data[i] &= 0x7f;
		core_fuzz_one(data, sizeof(data) - round);
	}
	core_fuzz_one(data, 0);
	core_fuzz_one(data, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core faults");

	H_TEST(s, good_is_good);
	H_LOOP(s, reserved_bits, ARRAY_SIZE(reserved));
	H_LOOP(s, wait_encodings, ARRAY_SIZE(bad_waits));
	H_LOOP(s, update_encodings, ARRAY_SIZE(bad_updates));
	H_LOOP(s, scalar_encodings, 7);
	H_LOOP(s, opcode_engine_matrix, 3);
	H_LOOP(s, later_generation_opcodes, 14);
	H_TEST(s, wrong_engine_byte);
	H_LOOP(s, operand_rules, ARRAY_SIZE(operands));
	H_TEST(s, output_without_step);
	H_LOOP(s, pool_has_no_psum, 3);
	H_LOOP(s, both_inputs_in_psum, ARRAY_SIZE(two_inputs));
	H_LOOP(s, vector_bounds, 4);
	H_LOOP(s, opcode_rules, ARRAY_SIZE(cases));
	H_LOOP(s, v2_bias, 2);
	H_LOOP(s, set_mode_encodings, 4);
	H_LOOP(s, control_rules, 11);
	H_LOOP(s, random_programs, 8);
	H_TEST(s, random_bytes);
	return h_main(s);
}
