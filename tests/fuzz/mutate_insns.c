// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mutations of instruction streams that keep most instructions valid: made from the opcode table,
 * with operands inside of the memory and shapes that fit each other; then one thing is changed.
 */
#include <string.h>
#include "fuzz.h"
#include "mutate.h"
#include "tests/emulator/exec.h"

#define INSNS_MAX 64u
#define PREFIX	  1u

static const uint16_t counts[] = { 1, 1, 2, 3, 4, 5, 8, 16, 31, 32, 64, 128, 512, 2048 };
static const uint8_t parts_of[] = { 1, 1, 2, 4, 31, 32, 33, 64, 65, 96, 128, 128 };

static uint32_t below(struct mutate *m, uint32_t limit)
{
	return mutate_next(m) % limit;
}

static uint16_t some_count(struct mutate *m)
{
	return counts[below(m, sizeof(counts) / sizeof(counts[0]))];
}

/* Memory of an operand: engines reach different ones. */
static uint32_t some_memory(struct mutate *m, unsigned int engine, bool output)
{
	if (engine == TRN_ENGINE_PE)
		return output ? TRN_MEM_PSUM : TRN_MEM_SBUF;
	if (engine == TRN_ENGINE_POOL)
		return TRN_MEM_SBUF;
	return below(m, 4) ? TRN_MEM_SBUF : TRN_MEM_PSUM;
}

static struct trn_operand some_operand(struct mutate *m, unsigned int engine, bool output,
				       uint8_t parts, uint16_t n)
{
	static const uint8_t steps[] = { 1, 1, 1, 1, 2, 3, 4, 64 };
	static const int32_t edges[] = { 0, 0, 4, 4, -4, 2, 60, 64 };
	uint32_t mem = some_memory(m, engine, output);
	uint32_t limit = mem == TRN_MEM_PSUM ? TRN_PSUM_PARTITION_BYTES
					     : TRN_SBUF_PARTITION_BYTES_V2;
	uint8_t step = steps[below(m, sizeof(steps))];
	uint32_t span = ((n - 1u) * step + 1) * 4, offset = below(m, limit) & ~63u;
	struct trn_operand o = {
		.where = mem << TRN_OPERAND_MEM_SHIFT | offset,
		.partition = (uint8_t)(parts > 64   ? 0
				       : parts > 32 ? below(m, 2) * 64
						    : below(m, 4) * 32),
		.partitions = parts,
		.dtype = (uint8_t)(below(m, 3) ? TRN_DTYPE_FP32 : 1 + below(m, 0x15)),
		.ndim = 1,
		.dim = { { step, n } },
	};

	/* Just inside of the partition, or just outside. */
	if (!below(m, 4) && span < limit) {
		offset = limit - span + edges[below(m, sizeof(edges) / sizeof(edges[0]))];
		o.where = mem << TRN_OPERAND_MEM_SHIFT | offset;
		o.dtype = TRN_DTYPE_FP32;
	}
	if (!below(m, 3) && n % 2 == 0) {
		o.ndim = 2;
		o.dim[0].count = n / 2;
		o.dim[1] = (struct trn_dim){ (int16_t)(below(m, 2) ? n / 2 : below(m, 256)), 2 };
	}
	if (!below(m, 16))
		o.where |= TRN_OPERAND_REG;
	return o;
}

static uint32_t some_scalar(struct mutate *m, unsigned int allowed, unsigned int *kind)
{
	static const uint32_t words[] = { 0, 1,	 0x3f800000, 0xbf800000, 0x7fc00000, 0x7f800000,
					  4, 15, 0x100,	     0x80000000, 0xffffffff };

	*kind = TRN_SCALAR_IMM;
	if (!allowed)
		return 0;
	if ((allowed & EMU_KIND_REG) && !below(m, 3)) {
		*kind = TRN_SCALAR_REG;
		return below(m, TRN_REG_COUNT);
	}
	if ((allowed & EMU_KIND_VEC) && !below(m, 3)) {
		*kind = TRN_SCALAR_VECTOR;
		return below(m, 6) << TRN_VECTOR_DTYPE_SHIFT |
		       below(m, 4) << TRN_VECTOR_QUADRANT_SHIFT | (below(m, 0x4000) & ~63u);
	}
	return words[below(m, sizeof(words) / sizeof(words[0]))];
}

static void some_sync(struct mutate *m, struct trn_insn *insn)
{
	if (!below(m, 8))
		insn->wait[0] = (struct trn_sync){ .op = (uint8_t)(1 + below(m, 4)),
						   .mode = (uint8_t)below(m, 3),
						   .index = (uint16_t)below(m, 16),
						   .value = (int32_t)below(m, 4) };
	if (!below(m, 4))
		insn->update[0] = (struct trn_sync){ .op = (uint8_t)(1 + below(m, 2)),
						     .mode = (uint8_t)below(m, 2),
						     .index = (uint16_t)below(m, 16) };
	if (!below(m, 16))
		insn->update[1] = (struct trn_sync){ .op = TRN_UPDATE_INC,
						     .mode = TRN_UPDATE_TARGET_ADDRESS << 1,
						     .index = (uint16_t)below(m, 64) };
}

/* Opcode-specific content: device addresses that exist, shapes that are small. */
static void some_raw(struct mutate *m, struct trn_insn *insn)
{
	unsigned int i, side;

	switch (insn->opcode) {
	case TRN_OP_WRITE32:
		insn->write32.address = below(m, 0x10000) & ~3u;
		insn->write32.value = mutate_next(m);
		break;
	case TRN_OP_DMA_TRIGGER:
		insn->trigger.engine_mask = below(m, 0x10000);
		break;
	case TRN_OP_DMA_XFER:
		insn->op0 = below(m, 4) ? 0 : (uint8_t)below(m, 24);
		for (side = 0; side < 2; side++) {
			uint8_t *raw = insn->raw + side * TRN_XFER_OPERAND_SIZE;
			uint64_t base = below(m, 0x8000);

			/* As many elements on both sides: 12, in one or two dimensions. */
			memcpy(raw, &base, sizeof(base));
			raw[8] = (uint8_t)(below(m, 2) ? TRN_DTYPE_FP32 : 1 + below(m, 0x12));
			raw[9] = (uint8_t)(1 + below(m, 2));
			raw[10] = (uint8_t)(below(m, 4) ? 0 : below(m, 16));
			for (i = 0; i < raw[9]; i++) {
				raw[12 + 6 * i] = (uint8_t)(1 + below(m, 8));
				raw[12 + 6 * i + 4] = raw[9] == 1 ? 12 : i ? 4 : 3;
			}
		}
		break;
	case TRN_OP_IOTA:
	case TRN_OP_AFFINE_SELECT:
		insn->raw[48 + 4] = (uint8_t)(1 + below(m, 4));
		for (i = 0; i < insn->raw[48 + 4]; i++) {
			insn->raw[48 + 8 + 4 * i] = (uint8_t)below(m, 5);
			insn->raw[48 + 8 + 4 * i + 2] = (uint8_t)(1 + below(m, 8));
		}
		break;
	default:
		for (i = below(m, 3) ? 0 : 8; i; i--)
			insn->raw[48 + below(m, 24)] = (uint8_t)below(m, 32);
		break;
	}
}

static void some_block(struct mutate *m, const struct emu_opcode *op, struct trn_insn *insn)
{
	unsigned int k0, k1;

	if (op->fields & EMU_F_OP0)
		insn->op0 = (uint8_t)below(m, 38);
	if (op->fields & EMU_F_OP1)
		insn->op1 = (uint8_t)below(m, 38);
	if (op->fields & EMU_F_REDUCE_OP)
		insn->reduce_op = (uint8_t)below(m, 24);
	if (op->fields & EMU_F_PE_TILE)
		insn->pe_tile = (uint8_t)(below(m, 3) ? 0 : below(m, 256));
	insn->opf = (uint8_t)(op->opf & (below(m, 2) ? 0 : mutate_next(m)));
	insn->misc = (uint16_t)(op->misc & mutate_next(m));
	insn->c0 = some_scalar(m, op->c0, &k0);
	insn->c1 = some_scalar(m, op->c1, &k1);
	if (op->fields & EMU_F_RAW_SCALARS) {
		insn->c0 = mutate_next(m);
		insn->c1 = mutate_next(m);
		k0 = k1 = 0;
	}
	insn->kinds = (uint8_t)(k0 << TRN_OPK_C0_SHIFT | k1 << TRN_OPK_C1_SHIFT);
	if (op->fields & EMU_F_REDUCE_CMD)
		insn->kinds |= (uint8_t)(below(m, 5) << TRN_OPK_REDUCE_SHIFT);
}

/* A valid instruction of any opcode of generation 2 or 3. */
static struct trn_insn some_insn(struct mutate *m)
{
	struct trn_insn insn = { 0 };
	const struct emu_opcode *op;
	uint8_t parts = parts_of[below(m, sizeof(parts_of))];
	unsigned int engines, i;
	uint16_t n = some_count(m);

	do {
		insn.opcode = (uint8_t)below(m, 0x80);
		op = emu_opcode_get(insn.opcode);
		engines = op ? emu_opcode_engines(op, 3) : 0;
	} while (!engines);
	do {
		insn.engine = (uint8_t)below(m, TRN_ENGINE_MAX);
	} while (!(engines & EMU_ENGINE_BIT(insn.engine)));
	some_block(m, op, &insn);
	for (i = 0; i < 3; i++) {
		switch ((enum emu_slot)op->slot[i]) {
		case EMU_SLOT_IN:
		case EMU_SLOT_IN_OPT:
		case EMU_SLOT_SELF:
			insn.slot[i] = some_operand(m, insn.engine, false, parts, n);
			break;
		case EMU_SLOT_OUT:
			insn.slot[i] = some_operand(
				m, insn.engine, true, parts,
				(op->fields & EMU_F_SAME_COUNT) || below(m, 3) ? n : some_count(m));
			break;
		case EMU_SLOT_OUT_OPT:
			if (below(m, 2))
				insn.slot[i] = some_operand(m, insn.engine, true, parts, 1);
			break;
		case EMU_SLOT_NONE:
		case EMU_SLOT_RAW:
			break;
		}
	}
	for (i = 0; i < 3; i++)
		if (op->slot[i] == EMU_SLOT_RAW) {
			some_raw(m, &insn);
			break;
		}
	some_sync(m, &insn);
	if (!below(m, 4))
		insn.flags = (uint16_t)(mutate_next(m) & 0x6f);
	return insn;
}

/* One change that hits a field, or the whole. */
static void change(struct mutate *m, struct trn_insn *insn)
{
	unsigned int s = below(m, 3), d = below(m, TRN_OPERAND_DIMS);

	switch (below(m, 10)) {
	case 0:
		insn->op0 = (uint8_t)mutate_next(m);
		break;
	case 1:
		insn->slot[s].dtype = (uint8_t)below(m, 0x18);
		break;
	case 2:
		insn->slot[s].dim[d].count =
			(uint16_t)(below(m, 2) ? some_count(m) : mutate_next(m));
		break;
	case 3:
		insn->slot[s].dim[d].step =
			(int16_t)(below(m, 2) ? (int)below(m, 64) - 32 : (int)mutate_next(m));
		break;
	case 4:
		insn->slot[s].where ^= 1u << below(m, 32);
		break;
	case 5:
		insn->slot[s].partitions = (uint8_t)mutate_next(m);
		break;
	case 6:
		insn->c0 = mutate_next(m);
		break;
	case 7:
		insn->kinds = (uint8_t)mutate_next(m);
		break;
	case 8:
		insn->slot[s].ndim = (uint8_t)below(m, 6);
		break;
	default:
		LLVMFuzzerMutate((uint8_t *)insn, sizeof(*insn), sizeof(*insn));
		break;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutate m = { .state = seed };
	struct trn_insn insn[INSNS_MAX];
	size_t room = max_size < PREFIX ? 0 : (max_size - PREFIX) / sizeof(insn[0]);
	size_t count = size < PREFIX ? 0 : (size - PREFIX) / sizeof(insn[0]), at;

	if (room > INSNS_MAX)
		room = INSNS_MAX;
	if (!room)
		return LLVMFuzzerMutate(data, size, max_size);
	if (count > room)
		count = room;
	if (!size)
		data[0] = (uint8_t)(seed & 1);
	m.choice = data[0];
	memcpy(insn, data + PREFIX, count * sizeof(insn[0]));
	at = count ? below(&m, (uint32_t)count) : 0;
	switch (count ? below(&m, 8) : 0) {
	case 0:
	case 1: /* one more, somewhere */
		if (count == room) {
			insn[at] = some_insn(&m);
			break;
		}
		memmove(&insn[at + 1], &insn[at], (count - at) * sizeof(insn[0]));
		insn[at] = some_insn(&m);
		count++;
		break;
	case 2:
		insn[at] = some_insn(&m);
		break;
	case 3: /* one less */
		memmove(&insn[at], &insn[at + 1], (count - at - 1) * sizeof(insn[0]));
		count--;
		break;
	case 4: {
		size_t other = below(&m, (uint32_t)count);
		struct trn_insn keep = insn[at];

		insn[at] = insn[other];
		insn[other] = keep;
		break;
	}
	case 5:
		data[0] = (uint8_t)mutate_next(&m);
		break;
	default:
		change(&m, &insn[at]);
		break;
	}
	memcpy(data + PREFIX, insn, count * sizeof(insn[0]));
	return PREFIX + count * sizeof(insn[0]);
}

/* A run of instructions of @second goes into @first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
				 size_t second_size, uint8_t *out, size_t max_size,
				 unsigned int seed)
{
	const size_t bytes = sizeof(struct trn_insn);
	size_t count[2] = { first_size < PREFIX ? 0 : (first_size - PREFIX) / bytes,
			    second_size < PREFIX ? 0 : (second_size - PREFIX) / bytes };
	struct mutate m = { .state = seed };
	size_t from, taken, at;

	if (!count[1] || PREFIX + (count[0] + 1) * bytes > max_size)
		return 0;
	from = below(&m, (uint32_t)count[1]);
	taken = 1 + below(&m, (uint32_t)(count[1] - from));
	if (PREFIX + (count[0] + taken) * bytes > max_size)
		taken = 1;
	at = below(&m, (uint32_t)count[0] + 1);
	out[0] = count[0] ? first[0] : second[0];
	memcpy(out + PREFIX, first + PREFIX, at * bytes);
	memcpy(out + PREFIX + at * bytes, second + PREFIX + from * bytes, taken * bytes);
	memcpy(out + PREFIX + (at + taken) * bytes, first + PREFIX + at * bytes,
	       (count[0] - at) * bytes);
	return PREFIX + (count[0] + taken) * bytes;
}
