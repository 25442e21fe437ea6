// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as a program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core_fuzz.h"
#include "tests/emulator/core_priv.h"

#define MEM_BYTES 65536
#define IMAGE_MAX 256
#define IMAGE(e)  (0x100000000ull + (uint64_t)(e)*IMAGE_MAX * TRN_INSN_SIZE)
#define INSNS_MAX 100 /* the largest operands take most of a second under sanitizers */

struct fuzz {
	uint8_t mem[MEM_BYTES];
	struct trn_insn image[TRN_ENGINE_MAX][IMAGE_MAX];
	uint32_t count[TRN_ENGINE_MAX];
};

static uint8_t *locate(struct fuzz *f, uint64_t addr, size_t len)
{
	uint64_t image = addr - IMAGE(0);

	if (addr <= MEM_BYTES && len <= MEM_BYTES - addr)
		return f->mem + addr;
	if (addr >= IMAGE(0) && image <= sizeof(f->image) && len <= sizeof(f->image) - image)
		return (uint8_t *)f->image + image;
	return NULL;
}

static enum trn_fault mem_read(void *opaque, uint64_t addr, void *buf, size_t len, bool fetch)
{
	const uint8_t *p = locate(opaque, addr, len);

	if (!p)
		return fetch ? TRN_FAULT_FETCH : TRN_FAULT_WINDOW;
	memcpy(buf, p, len);
	return TRN_FAULT_NONE;
}

static enum trn_fault mem_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	uint8_t *p = locate(opaque, addr, len);

	if (!p)
		return TRN_FAULT_WINDOW;
	memcpy(p, buf, len);
	return TRN_FAULT_NONE;
}

static enum trn_fault dma_trigger(void *opaque, uint32_t engine_mask, uint32_t queue,
				  uint32_t count)
{
	(void)opaque;
	(void)count;
	return engine_mask >> 16 || queue > 15 ? TRN_FAULT_DMA : TRN_FAULT_NONE;
}

static void notify(void *opaque, unsigned int slot, const struct trn_notification *entry)
{
	(void)opaque;
	(void)entry;
	if (slot >= TRN_ENGINE_MAX)
		abort();
}

static void padding_check(const uint8_t *base, size_t stride, size_t used)
{
	unsigned int p;
	size_t i;

	for (p = 0; p < TRN_PARTITIONS; p++)
		for (i = used; i < stride; i++)
			if (base[p * stride + i]) {
				fprintf(stderr,
					"core_fuzz: byte %zu behind partition %u was written\n",
					i - used, p);
				abort();
			}
}

uint64_t core_fuzz_one(const uint8_t *data, size_t size)
{
	const struct emu_core_ops ops = {
		.read = mem_read,
		.write = mem_write,
		.dma_trigger = dma_trigger,
		.notify = notify,
	};
	struct emu_run run = { .max_insns = INSNS_MAX,
			       .stop_when_stuck = true,
			       .args_address = 0x100 };
	struct emu_core_config config = { .generation = 2 };
	struct emu_run_result result;
	struct emu_core *core;
	struct fuzz *f;
	unsigned int e;

	if (size < 1 + TRN_INSN_SIZE)
		return 0;
	config.generation += data[0] % CORE_FUZZ_GENERATIONS;
	config.sbuf_partition_bytes = config.generation == 2 ? TRN_SBUF_PARTITION_BYTES_V2
							     : TRN_SBUF_PARTITION_BYTES_V3;
	f = calloc(1, sizeof(*f));
	core = emu_core_create(&config, &ops, f);
	if (!f || !core)
		abort();
	for (data++, size--; size >= TRN_INSN_SIZE; data += TRN_INSN_SIZE, size -= TRN_INSN_SIZE) {
		e = data[1] & (TRN_ENGINE_MAX - 1);
		if (f->count[e] < IMAGE_MAX)
			memcpy(&f->image[e][f->count[e]++], data, TRN_INSN_SIZE);
	}
	for (e = 0; e < TRN_ENGINE_MAX; e++)
		run.image[e] = (struct emu_engine_image){ IMAGE(e), f->count[e] };
	for (e = 0; e < TRN_ARG_REGS; e++)
		run.args[e] = e * 64;
	emu_core_run(core, &run, &result);
	padding_check(core->sbuf, core->sbuf_stride, config.sbuf_partition_bytes);
	padding_check(core->psum, core->psum_stride, TRN_PSUM_PARTITION_BYTES);
	emu_core_destroy(core);
	free(f);
	return result.insns;
}
