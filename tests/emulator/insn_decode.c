// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Validation of an instruction's bits, independent of any state: opcode, engine, generation, and
 * every reserved bit. What needs registers or memory sizes (operand bounds) is checked by operand.c
 * when the instruction runs.
 */
#include "exec.h"

#define WHERE_RESERVED	0x1f000000u
#define MISC_OFFSET_REG TRN_MISC_REG_MASK

static bool wait_valid(const struct trn_sync *w)
{
	unsigned int pass = w->mode & ~TRN_SYNC_VALUE_REG;
	bool reg = w->mode & TRN_SYNC_VALUE_REG;

	switch (w->op) {
	case TRN_WAIT_NONE:
		return !w->mode && !w->index && !w->value;
	case TRN_WAIT_SEM_GE:
	case TRN_WAIT_SEM_EQ:
	case TRN_WAIT_SEM_GT:
	case TRN_WAIT_SEM_LE:
		if (pass > TRN_WAIT_PASS_ZERO || w->index >= TRN_SEM_COUNT)
			return false;
		return !reg || (uint32_t)w->value < TRN_REG_COUNT;
	case TRN_WAIT_EVENT_SET:
	case TRN_WAIT_EVENT_CLEAR:
		if (pass != TRN_WAIT_PASS_KEEP && pass != TRN_WAIT_PASS_CLEAR_EVENT)
			return false;
		return !reg && !w->value && w->index < TRN_EVENT_COUNT;
	}
	return false;
}

static bool update_valid(const struct trn_sync *u)
{
	unsigned int target = (u->mode >> TRN_UPDATE_TARGET_SHIFT) & 7;
	bool reg = u->mode & TRN_SYNC_VALUE_REG;

	if (u->op == TRN_UPDATE_NONE)
		return !u->mode && !u->index && !u->value;
	if (u->mode & 0x70)
		return false;
	if (target == TRN_UPDATE_TARGET_ADDRESS) {
		/* One 32-bit write; the aperture addressed decides what it does, so only a value
		 * can be sent. */
		if (u->op != TRN_UPDATE_INC && u->op != TRN_UPDATE_ADD && u->op != TRN_UPDATE_WRITE)
			return false;
		if (u->index >= TRN_REG_COUNT - 1)
			return false;
	} else if (target != TRN_UPDATE_TARGET_OWN || u->index >= TRN_SEM_COUNT) {
		return false;
	}
	switch (u->op) {
	case TRN_UPDATE_ADD:
	case TRN_UPDATE_SUB:
	case TRN_UPDATE_WRITE:
		return !reg || (uint32_t)u->value < TRN_REG_COUNT;
	case TRN_UPDATE_INC:
	case TRN_UPDATE_DEC:
	case TRN_UPDATE_EVENT_SET:
	case TRN_UPDATE_EVENT_CLEAR:
		return !reg && !u->value;
	}
	return false;
}

static bool all_zero(const void *p, size_t n)
{
	const uint8_t *b = p;
	size_t i;

	for (i = 0; i < n; i++)
		if (b[i])
			return false;
	return true;
}

static bool slot_unused(const struct trn_operand *s)
{
	uint32_t unused = TRN_MEM_UNUSED << TRN_OPERAND_MEM_SHIFT;

	return (s->where == 0 || s->where == unused) &&
	       all_zero(&s->partition, sizeof(*s) - sizeof(s->where));
}

static bool slot_marked_unused(const struct trn_operand *s)
{
	return s->where >> TRN_OPERAND_MEM_SHIFT == TRN_MEM_UNUSED;
}

/* Reserved bits of a slot; shapes and bounds are operand.c's. An immediate may sit in the fourth
 * dimension of a result. */
static bool slot_bits_valid(const struct trn_operand *s, bool immediate)
{
	unsigned int ndim = s->ndim & TRN_OPERAND_NDIM_MASK;
	unsigned int i, end = immediate ? TRN_OPERAND_DIMS - 1 : TRN_OPERAND_DIMS;

	if (s->where & WHERE_RESERVED || s->where >> TRN_OPERAND_MEM_SHIFT == 2)
		return false;
	if (s->ndim &
	    ~TRN_OPERAND_NDIM_MASK) /* bit 3, indirection, is not executed by this version */
		return false;
	if (immediate && ndim == TRN_OPERAND_DIMS)
		return false;
	for (i = ndim; i < end; i++)
		if (s->dim[i].step || s->dim[i].count)
			return false;
	return true;
}

static bool slot_valid(enum emu_slot role, const struct trn_operand *s)
{
	switch (role) {
	case EMU_SLOT_NONE:
		return slot_unused(s);
	case EMU_SLOT_RAW:
		return true;
	case EMU_SLOT_SELF:
	case EMU_SLOT_IN_OPT:
		return slot_marked_unused(s) ? slot_unused(s) : slot_bits_valid(s, false);
	case EMU_SLOT_OUT_OPT: {
		struct trn_operand bare = *s;

		/* The immediate is allowed whether or not the result itself is wanted. */
		bare.dim[TRN_OPERAND_DIMS - 1] = (struct trn_dim){ 0 };
		return slot_unused(&bare) || (!slot_marked_unused(s) && slot_bits_valid(s, true));
	}
	case EMU_SLOT_IN:
	case EMU_SLOT_OUT:
		return !slot_marked_unused(s) && slot_bits_valid(s, false);
	}
	return false;
}

static bool scalar_valid(unsigned int allowed, unsigned int kind, uint32_t c)
{
	if (!allowed)
		return !kind && !c;
	if (!(allowed & 1u << kind))
		return false;
	if (kind == TRN_SCALAR_REG)
		return c < TRN_REG_COUNT;
	if (kind == TRN_SCALAR_VECTOR)
		return !(c >> 24 & 3) && (c >> TRN_VECTOR_DTYPE_SHIFT & 7) <= TRN_VECTOR_E5M2;
	return true;
}

static bool block_valid(const struct emu_opcode *op, const struct trn_insn *insn)
{
	bool operands = op->slot[0] || op->slot[1] || op->slot[2];
	uint16_t misc = op->misc | (operands ? MISC_OFFSET_REG : 0);

	if ((insn->op0 && !(op->fields & EMU_F_OP0)) || (insn->op1 && !(op->fields & EMU_F_OP1)) ||
	    (insn->reduce_op && !(op->fields & EMU_F_REDUCE_OP)) || (insn->opf & ~op->opf))
		return false;
	if ((insn->pe_tile && !(op->fields & EMU_F_PE_TILE)) || (insn->misc & ~misc))
		return false;
	if ((insn->kinds & 0x80) || emu_insn_reduce_cmd(insn) > TRN_REDUCE_LOAD_REDUCE)
		return false;
	if (emu_insn_reduce_cmd(insn) && !(op->fields & EMU_F_REDUCE_CMD))
		return false;
	if (op->fields & EMU_F_RAW_SCALARS)
		return !insn->kinds;
	return scalar_valid(op->c0, emu_insn_c0_kind(insn), insn->c0) &&
	       scalar_valid(op->c1, emu_insn_c1_kind(insn), insn->c1);
}

/**
 * emu_insn_check() - is @insn, fetched by @engine, an instruction of the configured generation with
 * all reserved bits 0?
 *
 * Return: TRN_FAULT_NONE or TRN_FAULT_ILLEGAL_INSN.
 */
enum trn_fault emu_insn_check(const struct emu_core_config *config, enum trn_engine engine,
			      const struct trn_insn *insn)
{
	const struct emu_opcode *op = emu_opcode_get(insn->opcode);
	unsigned int i;

	if (!op || insn->engine != engine || insn->engine >= TRN_ENGINE_MAX)
		return TRN_FAULT_ILLEGAL_INSN;
	if (!(emu_opcode_engines(op, config->generation) & EMU_ENGINE_BIT(engine)))
		return TRN_FAULT_ILLEGAL_INSN;
	if (insn->flags & ~TRN_INSN_FLAGS_VALID)
		return TRN_FAULT_ILLEGAL_INSN;
	if (!(insn->flags & TRN_INSN_PREDICATED) && insn->flags >> TRN_INSN_PREDICATE_SHIFT)
		return TRN_FAULT_ILLEGAL_INSN;
	for (i = 0; i < 2; i++)
		if (!wait_valid(&insn->wait[i]) || !update_valid(&insn->update[i]))
			return TRN_FAULT_ILLEGAL_INSN;
	if (!block_valid(op, insn))
		return TRN_FAULT_ILLEGAL_INSN;
	for (i = 0; i < 3; i++)
		if (!slot_valid(op->slot[i], &insn->slot[i]))
			return TRN_FAULT_ILLEGAL_INSN;
	return TRN_FAULT_NONE;
}
