// SPDX-License-Identifier: BSD-2-Clause
/*
 * Run requests: submission ring, program tables, window tables and short programs, some of them
 * wrong; aborts, resumes and resets while they run.
 *
 * Windows name memory only, never the secret, and the constants for reading at most: whatever a
 * program does, both stay as they were. Window tables and the submission ring are where no program
 * can write.
 */
#include <string.h>
#include "fuzz.h"
#include "tests/emulator/emu.h"
#include "tests/unit/emu_rig_map.h"
#include "trainium/ext.h"
#include "trainium/isa.h"
#include "trainium/map.h"
#include "trainium/notify.h"
#include "trainium/regs.h"

#define STEPS_MAX   40
#define END_MS	    10u
#define SQ_AT	    0x0000u /* in host memory */
#define NQ_AT	    0x2000u
#define PLACES	    16u
#define PROGRAMS    0x1000000ull /* in HBM: program tables and images, one page each */
#define HOST_USED   0x8000u	 /* in host memory: what windows may name, up to its end */
#define WINDOWS	    8u		 /* per table; tables are in the memory only the host writes */
#define CONSTANTS   0x2ff0000ull
#define SECRET	    0x3000000ull
#define SECRET_SIZE 0x10000ull
#define SECRET_BYTE 0x5a
#define SECRET_WORD 0x5a5a5a5a5a5a5a5aull

/** struct queue - a core's submission ring as the input made it. */
struct queue {
	const struct rig_map *map;
	unsigned int core;
	uint32_t size, entries, tail;
};

static uint32_t block(const struct queue *q, uint32_t reg)
{
	return q->map->tpb(q->core) + TRN_TPB_CORE + reg;
}

static uint64_t place(uint8_t which)
{
	return PROGRAMS + (which % PLACES) * 0x1000ull;
}

static void queue_open(struct fuzz_device *device, struct fuzz_input *in, struct queue *q)
{
	const uint64_t sq = device->map->host_base | (FUZZ_HOST_BUS + SQ_AT),
		       nq = sq - SQ_AT + NQ_AT;
	uint8_t shape = fuzz_u8(in);
	uint32_t slot;

	q->map = device->map;
	q->core = shape & 1 ? q->map->cores - 1 : 0;
	q->size = 2u << (shape >> 1 & 7);
	q->entries = 1u << (shape >> 4 & 7);
	q->tail = 0;
	if (q->size > 64)
		q->size = 64;
	slot = q->map->nc_notific(q->core) + TRN_NQ_SLOT(TRN_NOTIFY_SLOT_CORE);
	fuzz_write(device, slot + TRN_NQ_BASE_HIGH, (uint32_t)(nq >> 32));
	fuzz_write(device, slot + TRN_NQ_BASE_LOW, (uint32_t)nq);
	fuzz_write(device, slot + TRN_NQ_SIZE, q->entries * TRN_NOTIFY_SIZE);
	fuzz_write(device, block(q, TRN_CORE_SQ_BASE_LOW), (uint32_t)sq);
	fuzz_write(device, block(q, TRN_CORE_SQ_BASE_HIGH), (uint32_t)(sq >> 32));
	fuzz_write(device, block(q, TRN_CORE_SQ_SIZE), q->size);
	fuzz_write(device, block(q, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE);
}

static struct trn_window *table_at(struct fuzz_device *device, uint8_t which)
{
	return (struct trn_window *)device->rom + which % PLACES * WINDOWS;
}

/*
 * What a request of zeroes finds: a program of one HALT, and windows over all that is not secret.
 * Inputs change these rather than make their own.
 */
static void defaults(struct fuzz_device *device)
{
	struct trn_program_table *t = fuzz_hbm(device, place(0), 0x1000);
	struct trn_window *w = table_at(device, 0);
	struct trn_insn *insn = fuzz_hbm(device, place(2), 0x1000);

	t->magic = TRN_PROGRAM_TABLE_MAGIC;
	t->count = 1;
	t->entry[0].engine = TRN_ENGINE_SP;
	t->entry[0].insns = 31;
	t->entry[0].base = place(2);
	memset(w, 0, FUZZ_ROM_BYTES);
	w[0] = (struct trn_window){ 0, CONSTANTS, 7, 0, 0 };
	w[1] = (struct trn_window){ CONSTANTS, SECRET - CONSTANTS, TRN_ACCESS_READ, 0, 0 };
	w[2] = (struct trn_window){ device->map->host_base | (FUZZ_HOST_BUS + HOST_USED),
				    FUZZ_HOST_BYTES - HOST_USED, 3, 0, 0 };
	insn[0].opcode = TRN_OP_HALT;
	insn[0].engine = TRN_ENGINE_SP;
}

static void request(struct fuzz_device *device, struct fuzz_input *in, struct queue *q)
{
	struct trn_run_request *sq = (struct trn_run_request *)(device->host + SQ_AT), r = { 0 };
	uint8_t twist = fuzz_u8(in), windows = fuzz_u8(in);

	r.program = place(fuzz_u8(in));
	r.window_count = windows >> 4 ^ 3;
	r.cookie = q->tail;
	if (twist & 1) {
		r.args = fuzz_address(device, in);
		r.args_size = fuzz_u8(in);
	}
	if (twist & 2)
		r.program = fuzz_address(device, in);
	if (twist & 4)
		r.window_count = fuzz_u16(in);
	if (twist & 8)
		((uint8_t *)&r)[fuzz_u8(in) % sizeof(r)] = fuzz_u8(in);
	r.windows = device->map->host_base |
		    (FUZZ_ROM_BUS + windows % PLACES * WINDOWS * sizeof(struct trn_window));
	if (twist & 16)
		r.windows = ~0ull << 32; /* nothing is there */
	sq[q->tail++ % q->size] = r;
}

static void table(struct fuzz_device *device, struct fuzz_input *in)
{
	struct trn_program_table *t = fuzz_hbm(device, place(fuzz_u8(in)), 0x1000);
	uint8_t count = fuzz_u8(in);
	unsigned int i;

	t->magic = TRN_PROGRAM_TABLE_MAGIC ^ (count & 0x80);
	t->count = count % 16;
	for (i = 0; i < FUZZ_COUNT(t->entry) && i < t->count; i++) {
		uint8_t image = fuzz_u8(in);

		t->entry[i].engine = fuzz_u8(in) % 9 ^ TRN_ENGINE_SP;
		t->entry[i].insns = image >> 4;
		t->entry[i].base = place(image);
		if (!(image >> 4)) {
			t->entry[i].insns = fuzz_u32(in);
			t->entry[i].base = fuzz_address(device, in);
		}
	}
}

/* Memory below the secret, and host memory behind the rings. */
static void windows(struct fuzz_device *device, struct fuzz_input *in)
{
	struct trn_window *w = table_at(device, fuzz_u8(in));
	uint8_t count = fuzz_u8(in), sorted = count & 8;
	uint64_t next = 0;
	unsigned int i;

	for (i = 0; i < count % WINDOWS; i++) {
		uint64_t base = fuzz_u32(in) % SECRET, size = fuzz_u32(in);
		uint32_t access = fuzz_u8(in) % 9;

		if (access & 8) {
			base = base % (FUZZ_HOST_BYTES - HOST_USED);
			if (size > FUZZ_HOST_BYTES - HOST_USED - base)
				size = FUZZ_HOST_BYTES - HOST_USED - base;
			base += device->map->host_base | (FUZZ_HOST_BUS + HOST_USED);
			access = 3;
		} else {
			if (sorted)
				base = next + (base & 0xfffff);
			if (base > SECRET)
				base = SECRET;
			if (size > SECRET - base)
				size = SECRET - base;
			if (base + size > CONSTANTS)
				access &= ~TRN_ACCESS_WRITE;
			next = base + size;
		}
		w[i] = (struct trn_window){ base, size, access, 0, 0 };
	}
}

/* An address a program uses: often at the border of what it may. */
static uint64_t some_address(const struct fuzz_device *device, struct fuzz_input *in)
{
	uint8_t kind = fuzz_u8(in);

	if (kind < 0x40)
		return CONSTANTS - 32 + kind * 2u / 4 * 4;
	if (kind < 0x80)
		return SECRET - 32 + (kind & 0x3f) * 2u / 4 * 4;
	if (kind < 0xa0)
		return place(kind) + fuzz_u16(in) % 0x1000 / 4 * 4;
	return fuzz_address(device, in);
}

/* A program of up to 31 instructions: control flow and accesses of memory, in a short form. */
static void image(struct fuzz_device *device, struct fuzz_input *in)
{
	static const uint8_t ops[] = { TRN_OP_NOP,	TRN_OP_HALT,	    TRN_OP_NOTIFY,
				       TRN_OP_REG_OP,	TRN_OP_REG_LOAD,    TRN_OP_REG_STORE,
				       TRN_OP_BRANCH,	TRN_OP_LOOP,	    TRN_OP_WRITE32,
				       TRN_OP_DMA_XFER, TRN_OP_DMA_TRIGGER, TRN_OP_SEM_RANGE_CLEAR,
				       TRN_OP_SET_MODE, TRN_OP_DRAIN };
	struct trn_insn *insn = fuzz_hbm(device, place(fuzz_u8(in) ^ 2), 0x1000);
	uint8_t count = fuzz_u8(in) % 32;
	uint64_t addr;
	unsigned int i, k;

	for (i = 0; i < count; i++, insn++) {
		uint8_t op = fuzz_u8(in);

		memset(insn, 0, sizeof(*insn));
		insn->opcode = ops[op % sizeof(ops)];
		insn->engine = fuzz_u8(in) % 8 ^ TRN_ENGINE_SP;
		insn->misc = fuzz_u16(in) & 0xfff;
		insn->c0 = fuzz_u8(in);
		insn->c1 = fuzz_u8(in);
		insn->kinds = op >> 4;
		if (insn->opcode == TRN_OP_WRITE32) {
			insn->write32.address = some_address(device, in);
			insn->write32.value = fuzz_u32(in);
		} else if (insn->opcode == TRN_OP_DMA_TRIGGER) {
			insn->trigger.engine_mask = fuzz_u16(in);
		} else if (insn->opcode == TRN_OP_DMA_XFER) {
			for (k = 0; k < 2; k++) {
				uint8_t *raw = insn->raw + k * TRN_XFER_OPERAND_SIZE;

				addr = some_address(device, in);
				memcpy(raw, &addr, sizeof(addr));
				raw[8] = TRN_DTYPE_UINT32;
				raw[9] = 1;
				raw[12] = 1;
				raw[16] = fuzz_u8(in);
			}
		}
	}
	if (count && fuzz_u8(in) < 0xc0) {
		insn[-1].opcode = TRN_OP_HALT;
		memset((uint8_t *)&insn[-1] + 2, 0, sizeof(*insn) - 2);
	}
}

static void control(struct fuzz_device *device, struct fuzz_input *in, struct queue *q)
{
	uint8_t what = fuzz_u8(in);

	switch (what % 8) {
	case 0:
		fuzz_write(device, block(q, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_ABORT);
		break;
	case 1:
	case 2:
		fuzz_write(device, block(q, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_RESUME);
		break;
	case 3:
		fuzz_write(device, block(q, TRN_CORE_SQ_CONTROL), fuzz_u8(in));
		break;
	case 4:
		fuzz_write(device, block(q, TRN_CORE_SQ_TAIL), q->tail + fuzz_u8(in));
		break;
	case 5: /* the reader takes entries away */
		fuzz_write(device,
			   q->map->nc_notific(q->core) + TRN_NQ_SLOT(TRN_NOTIFY_SLOT_CORE) +
				   TRN_NQ_TAIL,
			   fuzz_read(device, q->map->nc_notific(q->core) +
						     TRN_NQ_SLOT(TRN_NOTIFY_SLOT_CORE) +
						     TRN_NQ_HEAD) -
				   (what >> 5));
		break;
	case 6:
		fuzz_write(device,
			   q->map->tpb(q->core) + (what & 8 ? TRN_TPB_SEM_INC : TRN_TPB_EVENTS) +
				   4u * (fuzz_u8(in)),
			   1);
		break;
	default:
		emu_device_quiesce(device->dev, END_MS);
		break;
	}
}

/* Nothing runs: what the device says about the queue must fit together. */
static void check_queue(struct fuzz_device *device, const struct queue *q)
{
	const struct trn_notification *nq = (void *)(device->host + NQ_AT);
	uint32_t slot = q->map->nc_notific(q->core) + TRN_NQ_SLOT(TRN_NOTIFY_SLOT_CORE);
	uint32_t head = fuzz_read(device, slot + TRN_NQ_HEAD), i;
	uint32_t status = fuzz_read(device, block(q, TRN_CORE_STATUS));
	uint32_t left = fuzz_read(device, block(q, TRN_CORE_SQ_TAIL)) -
			fuzz_read(device, block(q, TRN_CORE_SQ_HEAD));
	bool enabled = fuzz_read(device, block(q, TRN_CORE_SQ_CONTROL)) & TRN_SQ_ENABLE;

	FUZZ_CHECK(status != TRN_CORE_STATUS_RUNNING, "core %u is idle and says it runs", q->core);
	FUZZ_CHECK(left <= q->size, "core %u: %u requests in a ring of %u", q->core, left, q->size);
	FUZZ_CHECK(!left || !enabled || status == TRN_CORE_STATUS_HALTED,
		   "core %u is idle, not halted, and leaves %u requests", q->core, left);
	for (i = 0; i < q->entries && i < head; i++)
		FUZZ_CHECK(nq[i].type <= TRN_NOTIFY_RUN_END && nq[i].engine < TRN_ENGINE_MAX &&
				   nq[i].code <= TRN_FAULT_NOTIFY_OVERFLOW && !(nq[i].flags & ~3u),
			   "core %u: notification %u is type %u engine %u code %u flags %x",
			   q->core, i, nq[i].type, nq[i].engine, nq[i].code, nq[i].flags);
}

static void check_secret(struct fuzz_device *device)
{
	const uint64_t *word = fuzz_hbm(device, CONSTANTS, SECRET - CONSTANTS + SECRET_SIZE);
	uint64_t i;

	for (i = 0; i < (SECRET - CONSTANTS + SECRET_SIZE) / sizeof(*word); i++)
		FUZZ_CHECK(word[i] == SECRET_WORD, "memory %s became %016llx at 0x%llx",
			   CONSTANTS + i * 8 < SECRET ? "for reading" : "outside all windows",
			   (unsigned long long)word[i], (unsigned long long)(CONSTANTS + i * 8));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device *device = fuzz_device_begin(data, size);
	struct fuzz_input in = { data, size };
	struct queue q;
	unsigned int steps;

	memset(fuzz_hbm(device, CONSTANTS, SECRET - CONSTANTS + SECRET_SIZE), SECRET_BYTE,
	       SECRET - CONSTANTS + SECRET_SIZE);
	defaults(device);
	queue_open(device, &in, &q);
	for (steps = 0; in.left && steps < STEPS_MAX; steps++) {
		switch (fuzz_u8(&in) % 8) {
		case 0:
		case 1:
			image(device, &in);
			break;
		case 2:
			table(device, &in);
			break;
		case 3:
			windows(device, &in);
			break;
		case 4:
		case 5:
			request(device, &in, &q);
			break;
		case 6:
			fuzz_write(device, block(&q, TRN_CORE_SQ_TAIL), q.tail);
			break;
		default:
			control(device, &in, &q);
			break;
		}
	}
	fuzz_write(device, block(&q, TRN_CORE_SQ_TAIL), q.tail);
	if (!emu_device_quiesce(device->dev, END_MS))
		check_queue(device, &q);
	/* Stopped, if need be, before the memory is looked at. */
	emu_device_reset(device->dev);
	check_secret(device);
	fuzz_rom_restore(device);
	fuzz_device_end(device, 0);
	return 0;
}
