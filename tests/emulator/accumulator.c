// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Accumulator registers of ACT and DVE lanes: one FP32 value per partition that instructions reduce
 * rows into.
 *
 * A reduction takes the FP32 results before they are cast to the destination type.
 */
#include "alu.h"
#include "exec.h"

static uint32_t result_immediate(const struct emu_exec *x)
{
	uint32_t v;

	memcpy(&v, &x->insn->slot[2].dim[TRN_OPERAND_DIMS - 1], sizeof(v));
	return v;
}

/**
 * emu_acc_check() - is the reduce command of the instruction legal? @ops: bit set of the operators
 * it may reduce with. The immediate of slot 2 belongs to LOAD_REDUCE, or to RANGE_SELECT.
 */
enum trn_fault emu_acc_check(const struct emu_exec *x, unsigned int ops)
{
	unsigned int cmd = emu_insn_reduce_cmd(x->insn), op = x->insn->reduce_op;
	bool range = x->insn->opcode == TRN_OP_RANGE_SELECT;

	if (cmd == TRN_REDUCE_LOAD_REDUCE && (x->eng->id != TRN_ENGINE_DVE || range))
		return TRN_FAULT_ILLEGAL_INSN;
	if (cmd >= TRN_REDUCE_REDUCE && (op > 31 || !(ops >> op & 1)))
		return TRN_FAULT_ILLEGAL_INSN;
	if (cmd < TRN_REDUCE_REDUCE && (op || x->v[2].used))
		return TRN_FAULT_ILLEGAL_INSN;
	if (cmd != TRN_REDUCE_LOAD_REDUCE && !range && x->op->slot[2] == EMU_SLOT_OUT_OPT &&
	    result_immediate(x))
		return TRN_FAULT_ILLEGAL_INSN;
	return TRN_FAULT_NONE;
}

/* Rows of which EMU_REDUCE_ROWS fit into one row buffer are reduced together, longer ones alone. */
#define BATCH_ELEMENTS (EMU_ROW_MAX / EMU_REDUCE_ROWS)

float *emu_acc_buffer(const struct emu_exec *x, unsigned int buffer, unsigned int p, uint32_t n)
{
	return x->core->row[buffer] +
	       (n <= BATCH_ELEMENTS ? p % EMU_REDUCE_ROWS * BATCH_ELEMENTS : 0);
}

void emu_acc_flush(struct emu_exec *x, struct emu_acc_batch *batch, uint32_t n)
{
	float *acc = x->core->lanes[x->eng->id].acc, sum[EMU_REDUCE_ROWS];
	unsigned int i;

	for (i = 0; i < batch->rows; i++)
		sum[i] = acc[batch->lane[i]];
	emu_alu_reduce_rows(x->insn->reduce_op, sum, batch->row, batch->rows, n);
	for (i = 0; i < batch->rows; i++)
		acc[batch->lane[i]] = sum[i];
	batch->rows = 0;
}

void emu_acc_row(struct emu_exec *x, struct emu_acc_batch *batch, unsigned int lane,
		 const float *row, uint32_t n)
{
	float *acc = &x->core->lanes[x->eng->id].acc[lane];

	switch (emu_insn_reduce_cmd(x->insn)) {
	case TRN_REDUCE_IDLE:
		/* The DVE does not promise to keep its accumulators over other work; debug mode
		 * makes reliance visible. */
		if (x->eng->id == TRN_ENGINE_DVE && x->core->config.debug_fill)
			*acc = emu_bits_f32(EMU_NAN_BITS);
		return;
	case TRN_REDUCE_RESET:
		*acc = 0;
		return;
	case TRN_REDUCE_RESET_REDUCE:
		*acc = emu_alu_identity(x->insn->reduce_op);
		break;
	case TRN_REDUCE_LOAD_REDUCE:
		*acc = emu_bits_f32(result_immediate(x));
		break;
	}
	batch->lane[batch->rows] = lane;
	batch->row[batch->rows++] = row;
	if (batch->rows == EMU_REDUCE_ROWS || n > BATCH_ELEMENTS)
		emu_acc_flush(x, batch, n);
}

/** emu_acc_result() - write the accumulators to the result operand, when the instruction has one.
 */
void emu_acc_result(struct emu_exec *x, unsigned int parts)
{
	const struct emu_view *first = x->v[0].used ? &x->v[0] : &x->v[1];
	unsigned int p;

	if (!x->v[2].used)
		return;
	for (p = 0; p < parts; p++) {
		float f = x->core->lanes[x->eng->id].acc[first->first + p];

		if (x->insn->opf & TRN_OPF_NEGATE)
			f = -f;
		emu_view_store(x, &x->v[2], p, &f);
	}
}

enum trn_fault emu_exec_acc_read(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0];
	unsigned int p;

	if (dst->n != 1 || !emu_dtype_is_plain(dst->dtype))
		return TRN_FAULT_OPERAND;
	for (p = 0; p < dst->parts; p++)
		emu_view_store(x, dst, p, &x->core->lanes[x->eng->id].acc[dst->first + p]);
	return TRN_FAULT_NONE;
}
