// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sequencer: registers, branches, memory, waits and updates, interleaving, stop, notifications,
 * debug access.
 */
#include <pthread.h>
#include <time.h>
#include "core_harness.h"

static struct trn_insn *reg_op(struct harness *h, enum trn_engine e, enum trn_alu op,
			       unsigned int rd, unsigned int ra, uint32_t imm)
{
	struct trn_insn *i = h_emit(h, e, TRN_OP_REG_OP);

	i->op0 = (uint8_t)op;
	i->misc = (uint16_t)(rd << TRN_MISC_RD_SHIFT | ra << TRN_MISC_RA_SHIFT);
	i->c0 = imm;
	return i;
}

static struct trn_insn *branch(struct harness *h, enum trn_engine e, enum trn_alu cmp,
			       unsigned int ra, uint32_t imm, uint32_t target)
{
	struct trn_insn *i = h_emit(h, e, TRN_OP_BRANCH);

	i->op0 = (uint8_t)cmp;
	i->misc = (uint16_t)(ra << TRN_MISC_RA_SHIFT);
	i->c0 = imm;
	i->c1 = target;
	return i;
}

static uint32_t reg(struct harness *h, enum trn_engine e, unsigned int r)
{
	return emu_core_engine_reg(h->core, e, r);
}

static const struct {
	enum trn_alu op;
	uint32_t a, b, r;
} alu[] = {
	{ TRN_ALU_BYPASS, 5, 9, 9 },
	{ TRN_ALU_ADD, 0xffffffff, 2, 1 },
	{ TRN_ALU_SUB, 1, 2, 0xffffffff },
	{ TRN_ALU_MUL, 0x10001, 0x10001, 0x20001 },
	{ TRN_ALU_MAX, 0xffffffff, 1, 1 },
	{ TRN_ALU_MIN, 0xffffffff, 1, 0xffffffff },
	{ TRN_ALU_EQ, 3, 3, 1 },
	{ TRN_ALU_NE, 3, 3, 0 },
	{ TRN_ALU_GT, 0xffffffff, 0, 0 },
	{ TRN_ALU_GE, 4, 4, 1 },
	{ TRN_ALU_LT, 0x80000000, 0, 1 },
	{ TRN_ALU_LE, 5, 4, 0 },
	{ TRN_ALU_LAND, 2, 0, 0 },
	{ TRN_ALU_LOR, 2, 0, 1 },
	{ TRN_ALU_LXOR, 2, 1, 0 },
	{ TRN_ALU_LNOT, 0, 0, 1 },
	{ TRN_ALU_ABS, 0xfffffffd, 0, 3 },
	{ TRN_ALU_SQUARE, 7, 0, 49 },
	{ TRN_ALU_RELU, 0x80000000, 0, 0 },
	{ TRN_ALU_NOT, 0xf0f0f0f0, 0, 0x0f0f0f0f },
	{ TRN_ALU_AND, 0xff00, 0x0ff0, 0x0f00 },
	{ TRN_ALU_OR, 0xff00, 0x0ff0, 0xfff0 },
	{ TRN_ALU_XOR, 0xff00, 0x0ff0, 0xf0f0 },
	{ TRN_ALU_SHL, 1, 31, 0x80000000 },
	{ TRN_ALU_SHL, 1, 32, 0 },
	{ TRN_ALU_SHR, 0x80000001, 1, 0x40000000 },
	{ TRN_ALU_SHR, 5, 200, 0 },
	{ TRN_ALU_ABS_MAX, 0xfffffffb, 3, 0xfffffffb },
	{ TRN_ALU_ABS_MIN, 1, 0xffffffff, 0xffffffff },
};

START_TEST(register_alu)
{
	struct harness *h = h_create(2);

	h->run.args[1] = alu[_i].a;
	reg_op(h, TRN_ENGINE_SP, alu[_i].op, 20, 1, alu[_i].b);
	h_run_ok(h);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_SP, 20), alu[_i].r);
	h_destroy(h);
}
END_TEST

START_TEST(register_alu_reverse_and_register_operand)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	h->run.args[1] = 3;
	h->run.args[2] = 10;
	i = reg_op(h, TRN_ENGINE_SP, TRN_ALU_SUB, 20, 1, 2);
	i->kinds = TRN_SCALAR_REG;
	i->opf = TRN_OPF_REVERSE0;
	h_run_ok(h);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_SP, 20), 7);
	h_destroy(h);
}
END_TEST

START_TEST(register_power_is_illegal)
{
	struct harness *h = h_create(2);

	reg_op(h, TRN_ENGINE_SP, TRN_ALU_POW, 20, 1, 2);
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	h_destroy(h);
}
END_TEST

START_TEST(argument_registers)
{
	static const enum trn_engine engines[] = { TRN_ENGINE_PE, TRN_ENGINE_ACT, TRN_ENGINE_POOL,
						   TRN_ENGINE_DVE, TRN_ENGINE_SP };
	struct harness *h = h_create(2);
	unsigned int e, r;

	for (r = 0; r < TRN_ARG_REGS; r++)
		h->run.args[r] = 100 + r;
	h->run.args_address = 0x123456789abcdef0ull;
	for (e = 0; e < ARRAY_SIZE(engines); e++) {
		emu_core_engine_reg_set(h->core, engines[e], 30, 77);
		h_emit(h, engines[e], TRN_OP_NOP);
	}
	h_run_ok(h);
	for (e = 0; e < ARRAY_SIZE(engines); e++) {
		for (r = 0; r < TRN_ARG_REGS; r++)
			ck_assert_uint_eq(reg(h, engines[e], r), 100 + r);
		ck_assert_uint_eq(reg(h, engines[e], 30), 0);
		ck_assert_uint_eq(reg(h, engines[e], 62), 0x9abcdef0);
		ck_assert_uint_eq(reg(h, engines[e], 63), 0x12345678);
	}
	h_destroy(h);
}
END_TEST

START_TEST(loop_counts)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	reg_op(h, TRN_ENGINE_ACT, TRN_ALU_BYPASS, 20, 0, 1000);
	reg_op(h, TRN_ENGINE_ACT, TRN_ALU_ADD, 21, 21, 3);
	i = h_emit(h, TRN_ENGINE_ACT, TRN_OP_LOOP);
	i->misc = 20;
	i->c1 = 1;
	h_run_ok(h);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_ACT, 21), 3000);
	ck_assert_uint_eq(h->result.insns, 1 + 2000 + 1);
	h_destroy(h);
}
END_TEST

static const struct {
	enum trn_alu cmp;
	int32_t a, b;
	bool taken;
} branches[] = {
	{ TRN_ALU_BYPASS, 0, 0, true }, { TRN_ALU_EQ, 1, 1, true },   { TRN_ALU_EQ, 1, 2, false },
	{ TRN_ALU_NE, 1, 2, true },	{ TRN_ALU_GT, -1, 0, false }, { TRN_ALU_GE, 0, 0, true },
	{ TRN_ALU_LT, -1, 0, true },	{ TRN_ALU_LE, 1, 0, false },
};

START_TEST(branch_taken)
{
	struct harness *h = h_create(2);

	h->run.args[1] = (uint32_t)branches[_i].a;
	branch(h, TRN_ENGINE_SP, branches[_i].cmp, branches[_i].cmp ? 1 : 0,
	       (uint32_t)branches[_i].b, 2);
	reg_op(h, TRN_ENGINE_SP, TRN_ALU_BYPASS, 20, 0, 1);
	h_emit(h, TRN_ENGINE_SP, TRN_OP_HALT);
	h_run_ok(h);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_SP, 20), !branches[_i].taken);
	h_destroy(h);
}
END_TEST

START_TEST(branch_to_register)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	h->run.args[3] = 2;
	i = branch(h, TRN_ENGINE_SP, TRN_ALU_BYPASS, 0, 0, 3);
	i->kinds = TRN_SCALAR_REG << TRN_OPK_C1_SHIFT;
	reg_op(h, TRN_ENGINE_SP, TRN_ALU_BYPASS, 20, 0, 1);
	h_emit(h, TRN_ENGINE_SP, TRN_OP_HALT);
	h_run_ok(h);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_SP, 20), 0);
	h_destroy(h);
}
END_TEST

/* Longer than the prefetch buffer, with a jump back behind it. */
START_TEST(long_program)
{
	struct harness *h = h_create(2);
	unsigned int k;

	for (k = 0; k < 500; k++)
		reg_op(h, TRN_ENGINE_SP, TRN_ALU_ADD, 20, 20, 1);
	reg_op(h, TRN_ENGINE_SP, TRN_ALU_ADD, 21, 21, 1);
	branch(h, TRN_ENGINE_SP, TRN_ALU_LT, 21, 3, 0);
	h_run_ok(h);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_SP, 20), 1500);
	ck_assert_uint_le(h->fetches, 3 * 9);
	h_destroy(h);
}
END_TEST

START_TEST(predicated)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	h->run.args[1] = 1;
	for (unsigned int k = 0; k < 2; k++) {
		i = reg_op(h, TRN_ENGINE_SP, TRN_ALU_BYPASS, 20 + k, 0, 5);
		i->flags = (uint16_t)(TRN_INSN_PREDICATED | k << TRN_INSN_PREDICATE_SHIFT);
		i->update[0] = (struct trn_sync){ .op = TRN_UPDATE_INC,
						  .mode = TRN_UPDATE_AT_COMPLETE,
						  .index = 9 };
	}
	h_run_ok(h);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_SP, 20), 0);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_SP, 21), 5);
	ck_assert_int_eq(emu_core_sem_read(h->core, 9), 2);
	h_destroy(h);
}
END_TEST

START_TEST(register_memory_sbuf)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint32_t v = 0xdeadbeef;

	h_put(h, 32, 0x104, &v, 4);
	h->run.args[5] = 0x100;
	i = h_emit(h, TRN_ENGINE_DVE, TRN_OP_REG_LOAD);
	i->slot[0] = h_sbuf(32, 1, 4, TRN_DTYPE_UINT32, 1);
	i->slot[0].where |= TRN_OPERAND_REG;
	i->misc = 20 << TRN_MISC_RD_SHIFT | 5 << TRN_MISC_RA_SHIFT;
	i = h_emit(h, TRN_ENGINE_DVE, TRN_OP_REG_STORE);
	i->slot[0] = h_psum(0, 1, 8, TRN_DTYPE_INT32, 1);
	i->misc = 20;
	h_run_ok(h);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_DVE, 20), v);
	ck_assert_uint_eq(h_psum_u32(h, 0, 8), v);
	h_destroy(h);
}
END_TEST

START_TEST(register_memory_device)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint32_t v = 0x12345678;

	memcpy(h->mem + H_DATA, &v, 4);
	h->run.args_address = H_DATA;
	i = h_emit(h, TRN_ENGINE_SP, TRN_OP_REG_LOAD);
	i->slot[0] = h_unused();
	i->kinds = TRN_SCALAR_REG | TRN_SCALAR_REG << TRN_OPK_C1_SHIFT;
	i->c0 = 62;
	i->c1 = 63;
	i->misc = 20;
	reg_op(h, TRN_ENGINE_SP, TRN_ALU_ADD, 62, 62, 4);
	reg_op(h, TRN_ENGINE_SP, TRN_ALU_ADD, 21, 20, 1);
	i = h_emit(h, TRN_ENGINE_SP, TRN_OP_REG_STORE);
	i->slot[0] = h_unused();
	i->kinds = TRN_SCALAR_REG | TRN_SCALAR_REG << TRN_OPK_C1_SHIFT;
	i->c0 = 62;
	i->c1 = 63;
	i->misc = 21;
	h_run_ok(h);
	memcpy(&v, h->mem + H_DATA + 4, 4);
	ck_assert_uint_eq(v, 0x12345679);
	h_destroy(h);
}
END_TEST

START_TEST(write32_forms)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint32_t v[2];

	h->run.args[1] = 0xabcd;
	h->run.args[2] = 4;
	i = h_emit(h, TRN_ENGINE_SP, TRN_OP_WRITE32);
	i->write32.address = H_DATA;
	i->write32.value = 77;
	i = h_emit(h, TRN_ENGINE_SP, TRN_OP_WRITE32);
	i->write32.address = H_DATA;
	i->kinds = TRN_SCALAR_REG | TRN_SCALAR_REG << TRN_OPK_C1_SHIFT;
	i->c0 = 1;
	i->c1 = 2;
	h_run_ok(h);
	memcpy(v, h->mem + H_DATA, 8);
	ck_assert_uint_eq(v[0], 77);
	ck_assert_uint_eq(v[1], 0xabcd);
	h_destroy(h);
}
END_TEST

START_TEST(write32_outside_window)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, TRN_ENGINE_SP, TRN_OP_WRITE32);

	i->write32.address = 0x7000000000ull;
	i->tag = 42;
	ck_assert_int_eq(h_run(h), TRN_FAULT_WINDOW);
	ck_assert_uint_eq(h->result.address, 0x7000000000ull);
	ck_assert_uint_eq(h->result.tag, 42);
	ck_assert_int_eq(h->result.engine, TRN_ENGINE_SP);
	ck_assert_uint_eq(h->result.opcode, TRN_OP_WRITE32);
	h_destroy(h);
}
END_TEST

START_TEST(dma_trigger_reaches_device)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, TRN_ENGINE_ACT, TRN_OP_DMA_TRIGGER);

	i->trigger.engine_mask = 0x8001;
	i->c0 = 12;
	i->c1 = 3;
	h_run_ok(h);
	ck_assert_uint_eq(h->triggers, 1);
	ck_assert_uint_eq(h->trigger[0], 0x8001);
	ck_assert_uint_eq(h->trigger[1], 3);
	ck_assert_uint_eq(h->trigger[2], 12);
	h_destroy(h);
}
END_TEST

START_TEST(sem_range_clear)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	unsigned int k;

	for (k = 0; k < 10; k++)
		emu_core_sem_set(h->core, k, 5);
	i = h_emit(h, TRN_ENGINE_SP, TRN_OP_SEM_RANGE_CLEAR);
	i->c0 = 2;
	i->c1 = 5;
	h_run_ok(h);
	for (k = 0; k < 10; k++)
		ck_assert_int_eq(emu_core_sem_read(h->core, k), k >= 2 && k < 7 ? 0 : 5);
	i = h_emit(h, TRN_ENGINE_SP, TRN_OP_SEM_RANGE_CLEAR);
	i->c0 = 255;
	i->c1 = 0xffffffff;
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

static const struct {
	struct trn_sync wait;
	int32_t sem;
	bool event;
	bool passes;
	int32_t sem_after;
	bool event_after;
} waits[] = {
	{ { TRN_WAIT_SEM_GE, 0, 7, 3 }, 3, 0, true, 3, 0 },
	{ { TRN_WAIT_SEM_GE, 0, 7, 3 }, 2, 0, false, 2, 0 },
	{ { TRN_WAIT_SEM_GE, TRN_WAIT_PASS_SUB, 7, 3 }, 5, 0, true, 2, 0 },
	{ { TRN_WAIT_SEM_GE, TRN_WAIT_PASS_ZERO, 7, 3 }, 5, 0, true, 0, 0 },
	{ { TRN_WAIT_SEM_GE, TRN_SYNC_VALUE_REG, 7, 1 }, 11, 0, true, 11, 0 },
	{ { TRN_WAIT_SEM_GE, TRN_SYNC_VALUE_REG | TRN_WAIT_PASS_SUB, 7, 1 }, 12, 0, true, 1, 0 },
	{ { TRN_WAIT_SEM_GE, TRN_SYNC_VALUE_REG, 7, 1 }, 10, 0, false, 10, 0 },
	{ { TRN_WAIT_SEM_EQ, 0, 7, -4 }, -4, 0, true, -4, 0 },
	{ { TRN_WAIT_SEM_EQ, 0, 7, -4 }, -3, 0, false, -3, 0 },
	{ { TRN_WAIT_SEM_GT, 0, 7, 0 }, 1, 0, true, 1, 0 },
	{ { TRN_WAIT_SEM_GT, 0, 7, 1 }, 1, 0, false, 1, 0 },
	{ { TRN_WAIT_SEM_LE, 0, 7, -1 }, -2, 0, true, -2, 0 },
	{ { TRN_WAIT_SEM_LE, 0, 7, -1 }, 0, 0, false, 0, 0 },
	{ { TRN_WAIT_EVENT_SET, 0, 7, 0 }, 0, true, true, 0, true },
	{ { TRN_WAIT_EVENT_SET, 0, 7, 0 }, 0, false, false, 0, false },
	{ { TRN_WAIT_EVENT_SET, TRN_WAIT_PASS_CLEAR_EVENT, 7, 0 }, 0, true, true, 0, false },
	{ { TRN_WAIT_EVENT_CLEAR, 0, 7, 0 }, 0, false, true, 0, false },
	{ { TRN_WAIT_EVENT_CLEAR, 0, 7, 0 }, 0, true, false, 0, true },
};

START_TEST(wait_conditions)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	h->run.args[1] = 11;
	emu_core_sem_set(h->core, 7, waits[_i].sem);
	if (waits[_i].event)
		emu_core_event_set(h->core, 7, true);
	i = h_emit(h, TRN_ENGINE_PE, TRN_OP_NOP);
	i->wait[1] = waits[_i].wait;
	h->run.stop_when_stuck = true;
	ck_assert_int_eq(h_run(h), waits[_i].passes ? TRN_FAULT_NONE : TRN_FAULT_STOPPED);
	ck_assert_int_eq(emu_core_sem_read(h->core, 7), waits[_i].sem_after);
	ck_assert_int_eq(emu_core_event_read(h->core, 7), waits[_i].event_after);
	h_destroy(h);
}
END_TEST

/* One condition alone does nothing, not even its pass action. */
START_TEST(both_waits_at_once)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	emu_core_sem_set(h->core, 1, 4);
	i = h_emit(h, TRN_ENGINE_PE, TRN_OP_NOP);
	i->wait[0] = (struct trn_sync){ TRN_WAIT_SEM_GE, TRN_WAIT_PASS_SUB, 1, 4 };
	i->wait[1] = (struct trn_sync){ TRN_WAIT_SEM_GE, TRN_WAIT_PASS_SUB, 2, 1 };
	h->run.stop_when_stuck = true;
	ck_assert_int_eq(h_run(h), TRN_FAULT_STOPPED);
	ck_assert_int_eq(emu_core_sem_read(h->core, 1), 4);

	emu_core_sem_set(h->core, 2, 1);
	i = h_emit(h, TRN_ENGINE_PE, TRN_OP_NOP);
	i->wait[0] = (struct trn_sync){ TRN_WAIT_SEM_GE, TRN_WAIT_PASS_SUB, 1, 4 };
	i->wait[1] = (struct trn_sync){ TRN_WAIT_SEM_GE, TRN_WAIT_PASS_SUB, 2, 1 };
	h_run_ok(h);
	ck_assert_int_eq(emu_core_sem_read(h->core, 1), 0);
	ck_assert_int_eq(emu_core_sem_read(h->core, 2), 0);
	h_destroy(h);
}
END_TEST

static const struct {
	struct trn_sync update;
	int32_t before, after;
	bool event_before, event_after;
	enum trn_fault report;
} updates[] = {
	{ { TRN_UPDATE_INC, 0, 7, 0 }, 4, 5, 0, 0, TRN_FAULT_NONE },
	{ { TRN_UPDATE_INC, TRN_UPDATE_AT_COMPLETE, 7, 0 },
	  INT32_MAX,
	  INT32_MIN,
	  0,
	  0,
	  TRN_FAULT_SEM_OVERFLOW },
	{ { TRN_UPDATE_DEC, 1, 7, 0 }, INT32_MIN, INT32_MAX, 0, 0, TRN_FAULT_SEM_OVERFLOW },
	{ { TRN_UPDATE_DEC, 1, 7, 0 }, 4, 3, 0, 0, TRN_FAULT_NONE },
	{ { TRN_UPDATE_ADD, 1, 7, 16 }, 4, 20, 0, 0, TRN_FAULT_NONE },
	{ { TRN_UPDATE_ADD, TRN_SYNC_VALUE_REG, 7, 1 }, 4, 15, 0, 0, TRN_FAULT_NONE },
	{ { TRN_UPDATE_SUB, 1, 7, 16 }, 4, -12, 0, 0, TRN_FAULT_NONE },
	{ { TRN_UPDATE_SUB, 1, 7, INT32_MIN }, 1, INT32_MIN + 1, 0, 0, TRN_FAULT_SEM_OVERFLOW },
	{ { TRN_UPDATE_WRITE, 1, 7, -9 }, 4, -9, 0, 0, TRN_FAULT_NONE },
	{ { TRN_UPDATE_EVENT_SET, 1, 7, 0 }, 0, 0, false, true, TRN_FAULT_NONE },
	{ { TRN_UPDATE_EVENT_SET, 1, 7, 0 }, 0, 0, true, true, TRN_FAULT_EVENT_DOUBLE },
	{ { TRN_UPDATE_EVENT_CLEAR, 1, 7, 0 }, 0, 0, true, false, TRN_FAULT_NONE },
	{ { TRN_UPDATE_EVENT_CLEAR, 1, 7, 0 }, 0, 0, false, false, TRN_FAULT_EVENT_DOUBLE },
};

START_TEST(update_operations)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	h->run.args[1] = 11;
	emu_core_sem_set(h->core, 7, updates[_i].before);
	if (updates[_i].event_before)
		emu_core_event_set(h->core, 7, true);
	i = h_emit(h, TRN_ENGINE_PE, TRN_OP_NOP);
	i->update[1] = updates[_i].update;
	i->tag = 33;
	h_run_ok(h);
	ck_assert_int_eq(emu_core_sem_read(h->core, 7), updates[_i].after);
	ck_assert_int_eq(emu_core_event_read(h->core, 7), updates[_i].event_after);
	ck_assert_uint_eq(h->notes, updates[_i].report != TRN_FAULT_NONE);
	if (h->notes) {
		ck_assert_uint_eq(h->note[0].type, TRN_NOTIFY_ERROR);
		ck_assert_uint_eq(h->note[0].code, updates[_i].report);
		ck_assert_uint_eq(h->note[0].engine, TRN_ENGINE_PE);
		ck_assert_uint_eq(h->note[0].tag, 33);
		ck_assert_uint_eq(h->note[0].payload[1], 7);
		ck_assert_uint_eq(h->note_slot[0], TRN_NOTIFY_SLOT_CORE);
	}
	h_destroy(h);
}
END_TEST

START_TEST(update_by_address)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint32_t v;

	h->run.args[4] = H_DATA;
	i = h_emit(h, TRN_ENGINE_SP, TRN_OP_NOP);
	i->update[0] = (struct trn_sync){ TRN_UPDATE_ADD,
					  TRN_UPDATE_TARGET_ADDRESS << TRN_UPDATE_TARGET_SHIFT, 4,
					  16 };
	h_run_ok(h);
	memcpy(&v, h->mem + H_DATA, 4);
	ck_assert_uint_eq(v, 16);
	h_destroy(h);
}
END_TEST

/* Overflow caused from outside a run is reported by the next run. */
START_TEST(outside_overflow_is_reported)
{
	struct harness *h = h_create(2);

	emu_core_sem_set(h->core, 3, INT32_MAX);
	emu_core_sem_add(h->core, 3, 1);
	ck_assert_int_eq(emu_core_sem_read(h->core, 3), INT32_MIN);
	h_emit(h, TRN_ENGINE_SP, TRN_OP_NOP);
	h_run_ok(h);
	ck_assert_uint_eq(h->notes, 1);
	ck_assert_uint_eq(h->note[0].code, TRN_FAULT_SEM_OVERFLOW);
	h_destroy(h);
}
END_TEST

/* Two engines hand a token back and forth. */
START_TEST(ping_pong)
{
	struct harness *h = h_create(2);
	static const enum trn_engine e[2] = { TRN_ENGINE_DVE, TRN_ENGINE_ACT };
	struct trn_insn *i;
	unsigned int k;

	for (k = 0; k < 2; k++) {
		reg_op(h, e[k], TRN_ALU_BYPASS, 20, 0, 500);
		i = reg_op(h, e[k], TRN_ALU_ADD, 21, 21, 1);
		i->wait[0] =
			(struct trn_sync){ TRN_WAIT_SEM_GE, TRN_WAIT_PASS_SUB, (uint16_t)k, 1 };
		i->update[0] =
			(struct trn_sync){ .op = TRN_UPDATE_INC, .index = (uint16_t)(1 - k) };
		i = h_emit(h, e[k], TRN_OP_LOOP);
		i->misc = 20;
		i->c1 = 1;
	}
	emu_core_sem_set(h->core, 0, 1);
	h_run_ok(h);
	ck_assert_uint_eq(reg(h, e[0], 21), 500);
	ck_assert_uint_eq(reg(h, e[1], 21), 500);
	ck_assert_int_eq(emu_core_sem_read(h->core, 0), 1);
	h_destroy(h);
}
END_TEST

static void sleep_ms(long ms)
{
	struct timespec ts = { 0, ms * 1000000 };

	nanosleep(&ts, NULL);
}

static void *run_thread(void *arg)
{
	h_run(arg);
	return NULL;
}

/* A branch to itself must neither starve the other engine nor resist a stop. */
START_TEST(endless_loop_starves_nobody)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	pthread_t thread;
	unsigned int k;

	branch(h, TRN_ENGINE_PE, TRN_ALU_BYPASS, 0, 0, 0);
	for (k = 0; k < 300; k++)
		reg_op(h, TRN_ENGINE_SP, TRN_ALU_ADD, 20, 20, 1);
	i = h_emit(h, TRN_ENGINE_SP, TRN_OP_NOP);
	i->update[0] = (struct trn_sync){ .op = TRN_UPDATE_INC, .index = 1 };
	ck_assert_int_eq(pthread_create(&thread, NULL, run_thread, h), 0);
	while (emu_core_sem_read(h->core, 1) == 0)
		sleep_ms(1);
	emu_core_stop(h->core);
	pthread_join(thread, NULL);
	ck_assert_int_eq(h->result.fault, TRN_FAULT_STOPPED);
	ck_assert_uint_eq(reg(h, TRN_ENGINE_SP, 20), 300);
	h_destroy(h);
}
END_TEST

/* The thread sleeps until a semaphore changes from outside. */
START_TEST(outside_wakes_sleeper)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, TRN_ENGINE_DVE, TRN_OP_NOP);
	pthread_t thread;
	int k;

	i->wait[0] = (struct trn_sync){ TRN_WAIT_SEM_GE, TRN_WAIT_PASS_SUB, 5, 16 };
	i->wait[1] = (struct trn_sync){ TRN_WAIT_EVENT_SET, TRN_WAIT_PASS_CLEAR_EVENT, 6, 0 };
	ck_assert_int_eq(pthread_create(&thread, NULL, run_thread, h), 0);
	for (k = 0; k < 16; k++) {
		sleep_ms(1);
		emu_core_sem_add(h->core, 5, 1);
	}
	emu_core_event_set(h->core, 6, true);
	pthread_join(thread, NULL);
	ck_assert_int_eq(h->result.fault, TRN_FAULT_NONE);
	ck_assert_int_eq(emu_core_sem_read(h->core, 5), 0);
	ck_assert(!emu_core_event_read(h->core, 6));
	h_destroy(h);
}
END_TEST

/* A run that sleeps in a wait nobody fulfils, or is about to: requests count already. */
static pthread_t sleeper_start(struct harness *h)
{
	struct trn_insn *i = h_emit(h, TRN_ENGINE_DVE, TRN_OP_NOP);
	pthread_t thread;

	i->update[0] = (struct trn_sync){ .op = TRN_UPDATE_INC, .index = 1 };
	i = h_emit(h, TRN_ENGINE_DVE, TRN_OP_NOP);
	i->wait[0] = (struct trn_sync){ TRN_WAIT_SEM_GE, 0, 5, 16 };
	ck_assert_int_eq(pthread_create(&thread, NULL, run_thread, h), 0);
	while (emu_core_sem_read(h->core, 1) == 0)
		sleep_ms(1);
	sleep_ms(20);
	return thread;
}

START_TEST(stop_wakes_sleeper)
{
	struct harness *h = h_create(2);
	pthread_t thread = sleeper_start(h);

	emu_core_stop(h->core);
	pthread_join(thread, NULL);
	ck_assert_int_eq(h->result.fault, TRN_FAULT_STOPPED);
	h_destroy(h);
}
END_TEST

START_TEST(fail_gives_its_fault)
{
	struct harness *h = h_create(2);
	pthread_t thread = sleeper_start(h);

	emu_core_fail(h->core, TRN_FAULT_DMA, 0x1234);
	pthread_join(thread, NULL);
	ck_assert_int_eq(h->result.fault, TRN_FAULT_DMA);
	ck_assert_uint_eq(h->result.address, 0x1234);
	h_destroy(h);
}
END_TEST

START_TEST(stop_without_run_is_nothing)
{
	struct harness *h = h_create(2);

	emu_core_stop(h->core);
	h_emit(h, TRN_ENGINE_SP, TRN_OP_NOP);
	h_run_ok(h);
	h_destroy(h);
}
END_TEST

START_TEST(instruction_limit)
{
	struct harness *h = h_create(2);

	branch(h, TRN_ENGINE_PE, TRN_ALU_BYPASS, 0, 0, 0);
	h->run.max_insns = 1000;
	ck_assert_int_eq(h_run(h), TRN_FAULT_STOPPED);
	ck_assert_uint_eq(h->result.insns, 1000);
	h_destroy(h);
}
END_TEST

START_TEST(no_engine_started)
{
	struct harness *h = h_create(2);

	h_run_ok(h);
	ck_assert_uint_eq(h->result.insns, 0);
	h_destroy(h);
}
END_TEST

START_TEST(first_fault_ends_all)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;

	h_emit(h, TRN_ENGINE_DVE, TRN_OP_NOP);
	i = h_emit(h, TRN_ENGINE_DVE, TRN_OP_NOP);
	i->opcode = 0x7f;
	i->tag = 5;
	i->update[0] = (struct trn_sync){ .op = TRN_UPDATE_INC, .index = 1 };
	i = h_emit(h, TRN_ENGINE_SP, TRN_OP_NOP);
	i->wait[0] = (struct trn_sync){ TRN_WAIT_SEM_GE, 0, 1, 1 };
	ck_assert_int_eq(h_run(h), TRN_FAULT_ILLEGAL_INSN);
	ck_assert_int_eq(h->result.engine, TRN_ENGINE_DVE);
	ck_assert_uint_eq(h->result.pc, 1);
	ck_assert_uint_eq(h->result.tag, 5);
	ck_assert_uint_eq(h->result.opcode, 0x7f);
	ck_assert_int_eq(emu_core_sem_read(h->core, 1), 0);
	ck_assert_uint_eq(emu_core_engine_pc(h->core, TRN_ENGINE_DVE), 1);
	h_destroy(h);
}
END_TEST

START_TEST(missing_halt)
{
	struct harness *h = h_create(2);

	h_emit(h, TRN_ENGINE_SP, TRN_OP_NOP);
	h->run.image[TRN_ENGINE_SP] = (struct emu_engine_image){ H_IMAGE(TRN_ENGINE_SP), 1 };
	emu_core_run(h->core, &h->run, &h->result);
	ck_assert_int_eq(h->result.fault, TRN_FAULT_HALT_MISSING);
	ck_assert_uint_eq(h->result.pc, 1);
	h_destroy(h);
}
END_TEST

static const uint64_t bad_bases[] = { 64, 0x7000000000ull, 0xffffffffffffff80ull };

START_TEST(fetch_faults)
{
	struct harness *h = h_create(2);

	h->run.image[TRN_ENGINE_SP] = (struct emu_engine_image){ bad_bases[_i], 100 };
	emu_core_run(h->core, &h->run, &h->result);
	ck_assert_int_eq(h->result.fault, TRN_FAULT_FETCH);
	ck_assert_uint_eq(h->result.address, bad_bases[_i]);
	h_destroy(h);
}
END_TEST

START_TEST(branch_outside_image)
{
	struct harness *h = h_create(2);

	branch(h, TRN_ENGINE_SP, TRN_ALU_BYPASS, 0, 0, _i ? 0xffffffff : 2);
	ck_assert_int_eq(h_run(h), TRN_FAULT_FETCH);
	h_destroy(h);
}
END_TEST

START_TEST(explicit_notification)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, TRN_ENGINE_ACT, TRN_OP_NOTIFY);

	h->run.args[3] = 99;
	i->c0 = 3;
	i->c1 = 0x55;
	i->kinds = TRN_SCALAR_REG;
	i->tag = 6;
	i = h_emit(h, TRN_ENGINE_ACT, TRN_OP_NOP);
	i->flags = TRN_INSN_NOTIFY_END;
	h_run_ok(h);
	ck_assert_uint_eq(h->notes, 2);
	ck_assert_uint_eq(h->note_slot[0], TRN_ENGINE_ACT);
	ck_assert_uint_eq(h->note[0].type, TRN_NOTIFY_EXPLICIT);
	ck_assert_uint_eq(h->note[0].code, 0);
	ck_assert_uint_eq(h->note[0].tag, 6);
	ck_assert_uint_eq(h->note[0].payload[0], 99);
	ck_assert_uint_eq(h->note[0].payload[1], 0x55);
	ck_assert_uint_eq(h->note[1].code, 1);
	ck_assert_uint_eq(h->note[1].payload[0], 1);
	h_destroy(h);
}
END_TEST

START_TEST(trace_with_checksums)
{
	struct harness *h = h_create(2);
	struct trn_insn *i;
	uint16_t data[3] = { 1, 2, 0xffff };

	h_put(h, 0, 0, data, sizeof(data));
	i = h_emit(h, TRN_ENGINE_DVE, TRN_OP_COPY);
	i->slot[0] = h_sbuf(0, 1, 64, TRN_DTYPE_UINT16, 3);
	i->slot[1] = h_sbuf(0, 1, 0, TRN_DTYPE_UINT16, 3);
	i->flags = TRN_INSN_TRACE | TRN_INSN_CHECKSUM;
	i->update[0] = (struct trn_sync){ .op = TRN_UPDATE_INC, .index = 4 };
	h_run_ok(h);
	ck_assert_uint_eq(h->notes, 3);
	ck_assert_uint_eq(h->note[0].type, TRN_NOTIFY_TRACE);
	ck_assert_uint_eq(h->note[0].code, 0);
	ck_assert_uint_eq(h->note[1].code, 1);
	ck_assert_uint_eq(h->note[1].payload[0], (uint64_t)TRN_OP_COPY << 32);
	ck_assert_uint_eq(h->note[1].payload[1], 2 << 16 | 2);
	ck_assert_uint_eq(h->note[2].type, TRN_NOTIFY_EVENT);
	ck_assert_uint_eq(h->note[2].payload[0], 4);
	ck_assert_uint_eq(h->note[2].payload[1], 1);
	h_destroy(h);
}
END_TEST

START_TEST(memory_bounds)
{
	struct harness *h = h_create(2);

	ck_assert_ptr_nonnull(emu_core_sbuf(h->core, 127, TRN_SBUF_PARTITION_BYTES_V2 - 4, 4));
	ck_assert_ptr_null(emu_core_sbuf(h->core, 127, TRN_SBUF_PARTITION_BYTES_V2 - 4, 5));
	ck_assert_ptr_null(emu_core_sbuf(h->core, 128, 0, 1));
	ck_assert_ptr_null(emu_core_sbuf(h->core, 0, 0xffffffff, 2));
	ck_assert_ptr_nonnull(emu_core_psum(h->core, 0, 0, TRN_PSUM_PARTITION_BYTES));
	ck_assert_ptr_null(emu_core_psum(h->core, 0, 1, TRN_PSUM_PARTITION_BYTES));
	ck_assert_int_eq(emu_core_sem_read(h->core, 256), 0);
	emu_core_sem_set(h->core, 256, 1);
	emu_core_event_set(h->core, 256, true);
	h_destroy(h);
}
END_TEST

START_TEST(reset_clears)
{
	struct harness *h = h_create(2);

	emu_core_sem_set(h->core, 1, 5);
	emu_core_event_set(h->core, 1, true);
	h_put_f32(h, 100, 1000, 1.5f);
	emu_core_reset(h->core);
	ck_assert_int_eq(emu_core_sem_read(h->core, 1), 0);
	ck_assert(!emu_core_event_read(h->core, 1));
	ck_assert_uint_eq(h_get_u32(h, 100, 1000), 0);
	h_destroy(h);
}
END_TEST

START_TEST(debug_fill_is_nan)
{
	struct emu_core_config config = { .generation = 2,
					  .sbuf_partition_bytes = TRN_SBUF_PARTITION_BYTES_V2,
					  .debug_fill = true };
	struct harness *h = h_create_config(&config);
	float f = h_get_f32(h, 5, 100);

	ck_assert(f != f);
	h_destroy(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core control");

	H_LOOP(s, register_alu, ARRAY_SIZE(alu));
	H_TEST(s, register_alu_reverse_and_register_operand);
	H_TEST(s, register_power_is_illegal);
	H_TEST(s, argument_registers);
	H_TEST(s, loop_counts);
	H_LOOP(s, branch_taken, ARRAY_SIZE(branches));
	H_TEST(s, branch_to_register);
	H_TEST(s, long_program);
	H_TEST(s, predicated);
	H_TEST(s, register_memory_sbuf);
	H_TEST(s, register_memory_device);
	H_TEST(s, write32_forms);
	H_TEST(s, write32_outside_window);
	H_TEST(s, dma_trigger_reaches_device);
	H_TEST(s, sem_range_clear);
	H_LOOP(s, wait_conditions, ARRAY_SIZE(waits));
	H_TEST(s, both_waits_at_once);
	H_LOOP(s, update_operations, ARRAY_SIZE(updates));
	H_TEST(s, update_by_address);
	H_TEST(s, outside_overflow_is_reported);
	H_TEST(s, ping_pong);
	H_TEST(s, endless_loop_starves_nobody);
	H_TEST(s, outside_wakes_sleeper);
	H_TEST(s, stop_wakes_sleeper);
	H_TEST(s, fail_gives_its_fault);
	H_TEST(s, stop_without_run_is_nothing);
	H_TEST(s, instruction_limit);
	H_TEST(s, no_engine_started);
	H_TEST(s, first_fault_ends_all);
	H_TEST(s, missing_halt);
	H_LOOP(s, fetch_faults, ARRAY_SIZE(bad_bases));
	H_LOOP(s, branch_outside_image, 2);
	H_TEST(s, explicit_notification);
	H_TEST(s, trace_with_checksums);
	H_TEST(s, memory_bounds);
	H_TEST(s, reset_clears);
	H_TEST(s, debug_fill_is_nan);
	return h_main(s);
}
