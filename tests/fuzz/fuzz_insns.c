// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instruction streams on a bare core. An input is one byte of choices and then instructions of 128
 * bytes; byte 1 of each names the engine that runs it.
 *
 * The core is made once and reset between inputs. The padding between partitions is poisoned for
 * AddressSanitizer, so leaving a partition by one byte is noticed where it happens.
 */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "tests/emulator/core_priv.h"
#include "trainium/isa.h"

#if defined(__SANITIZE_ADDRESS__)
#define POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON 1
#endif
#endif
#ifdef POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(ptr, size) ((void)(ptr), (void)(size))
#endif

#define MEM_BYTES     0x10000u
#define IMAGE_MAX     64u
#define IMAGE(e)      (0x100000000ull + (uint64_t)(e)*IMAGE_MAX * TRN_INSN_SIZE)
#define INSNS_MAX     256u
#define ELEMENTS_MAX  (4u << 20) /* of all instructions together, about */
#define ACCESSES_MAX  20000u	 /* calls of the device by one input */
#define CHOICE_V3     0x01
#define CHOICE_TWICE  0x02
#define SEM_REGISTERS 16

/** struct world - what the core sees as its device. */
struct world {
	struct emu_core *core;
	uint8_t mem[MEM_BYTES], fresh[MEM_BYTES];
	struct trn_insn image[TRN_ENGINE_MAX][IMAGE_MAX];
	uint32_t count[TRN_ENGINE_MAX];
	uint32_t accesses;
};

static struct world *worlds[2];

static uint8_t *locate(struct world *w, uint64_t addr, size_t len)
{
	uint64_t image = addr - IMAGE(0);

	if (addr <= MEM_BYTES && len <= MEM_BYTES - addr)
		return w->mem + addr;
	if (addr >= IMAGE(0) && image <= sizeof(w->image) && len <= sizeof(w->image) - image)
		return (uint8_t *)w->image + image;
	return NULL;
}

static enum trn_fault mem_read(void *opaque, uint64_t addr, void *buf, size_t len, bool fetch)
{
	struct world *w = opaque;
	const uint8_t *p = locate(w, addr, len);

	if (++w->accesses > ACCESSES_MAX)
		return TRN_FAULT_STOPPED;
	if (!p)
		return fetch ? TRN_FAULT_FETCH : TRN_FAULT_WINDOW;
	memcpy(buf, p, len);
	return TRN_FAULT_NONE;
}

/* Programs may write their own image. */
static enum trn_fault mem_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	struct world *w = opaque;
	uint8_t *p = locate(w, addr, len);

	if (++w->accesses > ACCESSES_MAX)
		return TRN_FAULT_STOPPED;
	if (!p)
		return TRN_FAULT_WINDOW;
	memcpy(p, buf, len);
	return TRN_FAULT_NONE;
}

/* As a ring would: releases a semaphore from inside of the run. */
static enum trn_fault dma_trigger(void *opaque, uint32_t engine_mask, uint32_t queue,
				  uint32_t count)
{
	struct world *w = opaque;

	if (engine_mask >> 16 || queue > 15 || count > 0xffffff)
		return TRN_FAULT_OPERAND;
	emu_core_sem_add(w->core, queue, (int32_t)count);
	return TRN_FAULT_NONE;
}

static void notify(void *opaque, unsigned int slot, const struct trn_notification *entry)
{
	(void)opaque;
	FUZZ_CHECK(slot < TRN_ENGINE_MAX, "notification to slot %u", slot);
	FUZZ_CHECK(entry->type <= TRN_NOTIFY_RUN_END && entry->engine < TRN_ENGINE_MAX,
		   "notification of type %u, engine %u", entry->type, entry->engine);
}

static void poison_pads(uint8_t *base, size_t stride, size_t used)
{
	unsigned int p;

	for (p = 0; p < TRN_PARTITIONS; p++)
		ASAN_POISON_MEMORY_REGION(base + p * stride + used, stride - used);
}

static struct world *world_get(unsigned int generation)
{
	const struct emu_core_ops ops = {
		.read = mem_read,
		.write = mem_write,
		.dma_trigger = dma_trigger,
		.notify = notify,
	};
	const struct emu_core_config config = {
		.generation = generation,
		.sbuf_partition_bytes = generation == 2 ? TRN_SBUF_PARTITION_BYTES_V2
							: TRN_SBUF_PARTITION_BYTES_V3,
	};
	struct world *w = worlds[generation - 2];
	unsigned int i;

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	FUZZ_CHECK(w, "no memory");
	w->core = emu_core_create(&config, &ops, w);
	FUZZ_CHECK(w->core, "no core");
	poison_pads(w->core->sbuf, w->core->sbuf_stride, config.sbuf_partition_bytes);
	poison_pads(w->core->psum, w->core->psum_stride, TRN_PSUM_PARTITION_BYTES);
	for (i = 0; i < MEM_BYTES; i++)
		w->fresh[i] = (uint8_t)(i * 5);
	worlds[generation - 2] = w;
	return w;
}

/* Elements the greatest operand names, not more than ELEMENTS_MAX. */
static uint64_t insn_elements(const struct trn_insn *insn)
{
	uint64_t most = 1;
	unsigned int s, d;

	for (s = 0; s < 3; s++) {
		uint64_t n = insn->slot[s].partitions ? insn->slot[s].partitions : 1;

		for (d = 0; d < TRN_OPERAND_DIMS; d++)
			if (insn->slot[s].dim[d].count)
				n *= insn->slot[s].dim[d].count;
		if (n > most)
			most = n;
	}
	return most < ELEMENTS_MAX ? most : ELEMENTS_MAX;
}

/* Return: how many instructions may be executed: few when they name much. */
static uint64_t load(struct world *w, struct fuzz_input *in)
{
	uint64_t most = 1, limit;
	struct trn_insn insn;

	memset(w->count, 0, sizeof(w->count));
	while (in->left >= sizeof(insn)) {
		unsigned int e;

		fuzz_bytes(in, &insn, sizeof(insn));
		e = insn.engine % TRN_ENGINE_MAX;
		if (w->count[e] == IMAGE_MAX)
			continue;
		w->image[e][w->count[e]++] = insn;
		if (insn_elements(&insn) > most)
			most = insn_elements(&insn);
	}
	limit = ELEMENTS_MAX / most;
	return limit < INSNS_MAX ? limit + 1 : INSNS_MAX;
}

/* The same before each run: memory, semaphores, registers of the core. */
static void prepare(struct world *w)
{
	unsigned int i;

	emu_core_reset(w->core);
	memcpy(w->mem, w->fresh, MEM_BYTES);
	for (i = 0; i < SEM_REGISTERS; i++)
		emu_core_sem_set(w->core, i, (int32_t)i);
}

static void run(struct world *w, uint64_t limit, struct emu_run_result *result)
{
	struct emu_run run = {
		.args_address = 0x100,
		.max_insns = limit,
		.stop_when_stuck = true,
	};
	unsigned int e;

	for (e = 0; e < TRN_ENGINE_MAX; e++)
		run.image[e] = (struct emu_engine_image){ IMAGE(e), w->count[e] };
	for (e = 0; e < TRN_ARG_REGS; e++)
		run.args[e] = e < 4 ? e : 1u << e;
	w->accesses = 0;
	emu_core_run(w->core, &run, result);
	FUZZ_CHECK(result->insns <= limit, "%llu instructions, at most %llu were allowed",
		   (unsigned long long)result->insns, (unsigned long long)limit);
	FUZZ_CHECK(result->fault <= TRN_FAULT_NOTIFY_OVERFLOW && result->engine < TRN_ENGINE_MAX,
		   "fault %d of engine %d", result->fault, result->engine);
	FUZZ_CHECK(result->pc <= IMAGE_MAX || result->fault, "halted at %u", result->pc);
}

static void check_usable(struct world *w)
{
	const struct trn_insn halt = { .opcode = TRN_OP_HALT, .engine = TRN_ENGINE_SP };
	struct emu_run_result result;

	memset(w->count, 0, sizeof(w->count));
	w->image[TRN_ENGINE_SP][0] = halt;
	w->count[TRN_ENGINE_SP] = 1;
	run(w, 1, &result);
	FUZZ_CHECK(!result.fault && result.insns == 1, "a program of one HALT ends with fault %d",
		   result.fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct emu_run_result first, second;
	uint8_t choice = fuzz_u8(&in);
	struct world *w = world_get(choice & CHOICE_V3 ? 3 : 2);
	uint64_t limit = load(w, &in);

	prepare(w);
	run(w, limit, &first);
	if (choice & CHOICE_TWICE) {
		in = (struct fuzz_input){ data + 1, size - 1 };
		load(w, &in);
		prepare(w);
		run(w, limit, &second);
		FUZZ_CHECK(!memcmp(&first, &second, sizeof(first)),
			   "ended with fault %d at %u, then with fault %d at %u", first.fault,
			   first.pc, second.fault, second.pc);
	}
	check_usable(w);
	return 0;
}
