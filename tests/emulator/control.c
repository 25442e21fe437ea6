// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Instructions every engine's sequencer executes: registers, branches, memory writes, DMA
 * doorbells, modes.
 */
#include "alu.h"
#include "exec.h"

enum trn_fault emu_exec_nop(struct emu_exec *x)
{
	(void)x;
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_halt(struct emu_exec *x)
{
	x->eng->halted = true;
	return TRN_FAULT_NONE;
}

static uint32_t c0_word(const struct emu_exec *x)
{
	return emu_insn_scalar32(x->eng, emu_insn_c0_kind(x->insn), x->insn->c0);
}

static uint32_t c1_word(const struct emu_exec *x)
{
	return emu_insn_scalar32(x->eng, emu_insn_c1_kind(x->insn), x->insn->c1);
}

static unsigned int misc_rd(const struct emu_exec *x)
{
	return x->insn->misc >> TRN_MISC_RD_SHIFT & TRN_MISC_REG_MASK;
}

static unsigned int misc_ra(const struct emu_exec *x)
{
	return x->insn->misc >> TRN_MISC_RA_SHIFT & TRN_MISC_REG_MASK;
}

enum trn_fault emu_exec_notify(struct emu_exec *x)
{
	emu_notify(x->core, x->eng, x->insn, TRN_NOTIFY_EXPLICIT, 0, c0_word(x), c1_word(x));
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_sem_range_clear(struct emu_exec *x)
{
	uint32_t first = c0_word(x), count = c1_word(x);

	if (first >= TRN_SEM_COUNT || count > TRN_SEM_COUNT - first)
		return TRN_FAULT_OPERAND;
	emu_sync_clear_range(x->core, first, count);
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_reg_op(struct emu_exec *x)
{
	uint32_t a = emu_reg_get(x->eng, misc_ra(x)), b = c0_word(x), r;

	if (!emu_alu_reg(x->insn->op0, x->insn->opf & TRN_OPF_REVERSE0, a, b, &r))
		return TRN_FAULT_ILLEGAL_INSN;
	emu_reg_put(x->eng, misc_rd(x), r);
	return TRN_FAULT_NONE;
}

/*
 * One 32-bit element of on-chip memory (slot 0), or the device address held by two registers (c0
 * low, c1 high). Register rd is loaded or stored, so the offset register of slot 0 is ra here.
 */
static enum trn_fault reg_memory(struct emu_exec *x, bool store)
{
	const struct trn_operand *slot = &x->insn->slot[0];
	bool device = slot->where >> TRN_OPERAND_MEM_SHIFT == TRN_MEM_UNUSED;
	uint32_t value = emu_reg_get(x->eng, misc_rd(x));
	enum trn_fault fault;
	struct emu_view v;
	uint64_t addr;

	if (device) {
		if (emu_insn_c0_kind(x->insn) != TRN_SCALAR_REG ||
		    emu_insn_c1_kind(x->insn) != TRN_SCALAR_REG)
			return TRN_FAULT_ILLEGAL_INSN;
		addr = c0_word(x) | (uint64_t)c1_word(x) << 32;
		if (store)
			fault = x->core->ops.write(x->core->opaque, addr, &value, sizeof(value));
		else
			fault = x->core->ops.read(x->core->opaque, addr, &value, sizeof(value),
						  false);
		if (fault) {
			x->eng->fault_address = addr;
			return fault;
		}
	} else {
		if (x->insn->kinds || x->insn->c0 || x->insn->c1)
			return TRN_FAULT_ILLEGAL_INSN;
		fault = emu_view_init(x->core, slot, emu_reg_get(x->eng, misc_ra(x)), store, &v);
		if (fault)
			return fault;
		if (v.n != 1 || v.parts != 1 || v.esize != sizeof(value))
			return TRN_FAULT_OPERAND;
		if (x->eng->id == TRN_ENGINE_POOL && v.mem == TRN_MEM_PSUM)
			return TRN_FAULT_OPERAND;
		if (store)
			memcpy(v.base, &value, sizeof(value));
		else
			memcpy(&value, v.base, sizeof(value));
	}
	if (!store)
		emu_reg_put(x->eng, misc_rd(x), value);
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_reg_load(struct emu_exec *x)
{
	return reg_memory(x, false);
}

enum trn_fault emu_exec_reg_store(struct emu_exec *x)
{
	return reg_memory(x, true);
}

/* A target equal to the number of instructions would only end in HALT_MISSING, so it is refused as
 * well. */
static enum trn_fault jump(struct emu_exec *x, uint32_t target)
{
	if (target >= x->eng->count)
		return TRN_FAULT_FETCH;
	x->eng->next_pc = target;
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_branch(struct emu_exec *x)
{
	uint32_t taken = 1;

	if (x->insn->op0 != TRN_ALU_BYPASS) {
		if (x->insn->op0 < TRN_ALU_EQ || x->insn->op0 > TRN_ALU_LE)
			return TRN_FAULT_ILLEGAL_INSN;
		emu_alu_reg(x->insn->op0, false, emu_reg_get(x->eng, misc_ra(x)), c0_word(x),
			    &taken);
	}
	return taken ? jump(x, c1_word(x)) : TRN_FAULT_NONE;
}

enum trn_fault emu_exec_loop(struct emu_exec *x)
{
	uint32_t left = emu_reg_get(x->eng, misc_rd(x)) - 1;

	emu_reg_put(x->eng, misc_rd(x), left);
	return left ? jump(x, c1_word(x)) : TRN_FAULT_NONE;
}

static bool raw_zero_from(const struct trn_insn *insn, size_t first)
{
	size_t i;

	for (i = first; i < sizeof(insn->raw); i++)
		if (insn->raw[i])
			return false;
	return true;
}

/* c0 as a register replaces the value, c1 as a register is added to the address. */
enum trn_fault emu_exec_write32(struct emu_exec *x)
{
	const struct trn_insn *insn = x->insn;
	uint64_t addr = insn->write32.address;
	uint32_t value = insn->write32.value;
	enum trn_fault fault;

	if (!raw_zero_from(insn, 12))
		return TRN_FAULT_ILLEGAL_INSN;
	if (emu_insn_c0_kind(insn) == TRN_SCALAR_REG) {
		if (value)
			return TRN_FAULT_ILLEGAL_INSN;
		value = c0_word(x);
	} else if (insn->c0) {
		return TRN_FAULT_ILLEGAL_INSN;
	}
	if (emu_insn_c1_kind(insn) == TRN_SCALAR_REG)
		addr += c1_word(x);
	else if (insn->c1)
		return TRN_FAULT_ILLEGAL_INSN;
	fault = TRN_FAULT_OPERAND;
	if (!(addr & 3))
		fault = x->core->ops.write(x->core->opaque, addr, &value, sizeof(value));
	if (fault)
		x->eng->fault_address = addr;
	return fault;
}

enum trn_fault emu_exec_dma_trigger(struct emu_exec *x)
{
	uint32_t mask = x->insn->trigger.engine_mask;

	if (!raw_zero_from(x->insn, sizeof(mask)))
		return TRN_FAULT_ILLEGAL_INSN;
	if (mask >> 16 || c1_word(x) > 15)
		return TRN_FAULT_OPERAND;
	return x->core->ops.dma_trigger(x->core->opaque, mask, c1_word(x), c0_word(x));
}

enum trn_fault emu_exec_set_mode(struct emu_exec *x)
{
	uint32_t select = c0_word(x), value = c1_word(x);

	if (select & TRN_MODE_SEED) {
		if (select != TRN_MODE_SEED)
			return TRN_FAULT_ILLEGAL_INSN;
		emu_xorwow_seed(&x->eng->sr, value, (uint32_t)x->eng->id);
		return TRN_FAULT_NONE;
	}
	if ((select | value) &
	    ~(TRN_MODE_STOCHASTIC | TRN_MODE_FLUSH_SUBNORMAL | TRN_MODE_CHECK_NAN))
		return TRN_FAULT_ILLEGAL_INSN;
	if (value & ~select)
		return TRN_FAULT_ILLEGAL_INSN;
	if (select & TRN_MODE_STOCHASTIC)
		x->eng->mode_stochastic = value & TRN_MODE_STOCHASTIC;
	if (select & TRN_MODE_FLUSH_SUBNORMAL)
		x->eng->mode_flush = value & TRN_MODE_FLUSH_SUBNORMAL;
	if (select & TRN_MODE_CHECK_NAN)
		x->eng->mode_check_nan = value & TRN_MODE_CHECK_NAN;
	return TRN_FAULT_NONE;
}
