// SPDX-License-Identifier: BSD-2-Clause
/*
 * Locking: rig->lock guards the counts of triggered transfers and the positions of the rings.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "program_rig.h"
#include "tests/emulator/core.h"

#define RINGS (TRN_TNX_DMA_ENGINES * TRN_TNX_QUEUES) /* index: DMA engine + 16 * queue */

struct rig {
	uint32_t generation;
	struct emu_core *core;
	const struct trn_image *image;
	uint8_t **tensor;
	char text[256];

	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	unsigned int seed;
	uint32_t triggered[RINGS];
	uint32_t done[RINGS];
	const struct trn_image_ring *ring[RINGS];
};

static uint64_t code_base(unsigned int engine)
{
	return (uint64_t)(engine + 1) << 32;
}

static enum trn_fault rig_read(void *opaque, uint64_t addr, void *buf, size_t len, bool fetch)
{
	struct rig *rig = opaque;
	unsigned int engine = (unsigned int)(addr >> 32) - 1;
	uint64_t offset = (uint32_t)addr;
	const struct trn_image_code *code;

	if (!fetch || engine >= TRN_ENGINE_MAX)
		return TRN_FAULT_WINDOW;
	code = &rig->image->code[engine];
	if (offset + len > (uint64_t)code->count * TRN_INSN_SIZE)
		return TRN_FAULT_FETCH;
	memcpy(buf, (const uint8_t *)code->insns + offset, len);
	return TRN_FAULT_NONE;
}

static enum trn_fault rig_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	(void)opaque;
	(void)addr;
	(void)buf;
	(void)len;
	return TRN_FAULT_WINDOW;
}

static enum trn_fault rig_trigger(void *opaque, uint32_t engine_mask, uint32_t queue,
				  uint32_t count)
{
	struct rig *rig = opaque;
	enum trn_fault fault = TRN_FAULT_NONE;
	unsigned int e, r;

	if (queue >= TRN_TNX_QUEUES)
		return TRN_FAULT_DMA;

	pthread_mutex_lock(&rig->lock);
	for (e = 0; e < TRN_TNX_DMA_ENGINES; e++) {
		if (!(engine_mask & 1u << e))
			continue;
		r = e + queue * TRN_TNX_DMA_ENGINES;
		rig->triggered[r] += count;
		if (!rig->ring[r] || rig->triggered[r] > rig->ring[r]->count)
			fault = TRN_FAULT_DMA;
	}
	pthread_cond_signal(&rig->wake);
	pthread_mutex_unlock(&rig->lock);
	return fault;
}

static void rig_notify(void *opaque, unsigned int slot, const struct trn_notification *entry)
{
	(void)opaque;
	(void)slot;
	(void)entry;
}

static uint8_t *place(struct rig *rig, unsigned int kind, uint32_t tensor, uint64_t offset,
		      uint32_t length)
{
	if (kind == TRN_TNX_REF_TENSOR)
		return rig->tensor[tensor] + offset;
	return emu_core_sbuf(rig->core, (unsigned int)(offset / TRN_SBUF_PARTITION_STRIDE),
			     (uint32_t)(offset % TRN_SBUF_PARTITION_STRIDE), length);
}

static void transfer(struct rig *rig, const struct trn_tnx_xfer *x)
{
	uint8_t *src, *dst;

	if (x->dst_kind == TRN_TNX_REF_SEM_INC) {
		emu_core_sem_add(rig->core, (unsigned int)x->dst_offset, 1);
		return;
	}
	src = place(rig, x->src_kind, x->src_tensor, x->src_offset, x->length);
	dst = place(rig, x->dst_kind, x->dst_tensor, x->dst_offset, x->length);
	if (src && dst)
		memmove(dst, src, x->length);
}

static void *rig_thread(void *opaque)
{
	struct rig *rig = opaque;
	unsigned int start, i, e;
	const struct trn_tnx_xfer *x;

	pthread_mutex_lock(&rig->lock);
	while (!rig->stop) {
		start = (unsigned int)rand_r(&rig->seed);
		x = NULL;
		for (i = 0; i < RINGS && !x; i++) {
			e = (start + i) % RINGS;
			if (rig->ring[e] && rig->done[e] < rig->triggered[e] &&
			    rig->done[e] < rig->ring[e]->count)
				x = &rig->ring[e]->xfers[rig->done[e]++];
		}
		if (!x) {
			pthread_cond_wait(&rig->wake, &rig->lock);
			continue;
		}
		pthread_mutex_unlock(&rig->lock);
		if (start & 0x100)
			sched_yield();
		transfer(rig, x);
		pthread_mutex_lock(&rig->lock);
	}
	pthread_mutex_unlock(&rig->lock);
	return NULL;
}

struct rig *rig_create(uint32_t generation)
{
	static const struct emu_core_ops ops = {
		.read = rig_read,
		.write = rig_write,
		.dma_trigger = rig_trigger,
		.notify = rig_notify,
	};
	struct emu_core_config config = { .generation = generation,
					  .sbuf_partition_bytes = trn_tnx_sbuf_bytes(generation),
					  .debug_fill = true };
	struct rig *rig = calloc(1, sizeof(*rig));

	ck_assert_ptr_nonnull(rig);
	rig->generation = generation;
	rig->core = emu_core_create(&config, &ops, rig);
	ck_assert_ptr_nonnull(rig->core);
	pthread_mutex_init(&rig->lock, NULL);
	pthread_cond_init(&rig->wake, NULL);
	rig->seed = getenv("RIG_SEED") ? (unsigned int)atoi(getenv("RIG_SEED")) : 1;
	ck_assert_int_eq(pthread_create(&rig->thread, NULL, rig_thread, rig), 0);
	return rig;
}

static void unload(struct rig *rig)
{
	uint32_t i;

	for (i = 0; rig->image && i < rig->image->tensor_count; i++)
		free(rig->tensor[i]);
	free(rig->tensor);
	rig->tensor = NULL;
	rig->image = NULL;
}

void rig_free(struct rig *rig)
{
	pthread_mutex_lock(&rig->lock);
	rig->stop = true;
	pthread_cond_signal(&rig->wake);
	pthread_mutex_unlock(&rig->lock);
	pthread_join(rig->thread, NULL);
	unload(rig);
	emu_core_destroy(rig->core);
	pthread_mutex_destroy(&rig->lock);
	pthread_cond_destroy(&rig->wake);
	free(rig);
}

void rig_load(struct rig *rig, const struct trn_image *image)
{
	uint32_t i;

	unload(rig);
	rig->image = image;
	rig->tensor = calloc(image->tensor_count + 1, sizeof(*rig->tensor));
	ck_assert_ptr_nonnull(rig->tensor);
	for (i = 0; i < image->tensor_count; i++) {
		const struct trn_tnx_tensor *t = &image->tensors[i];

		rig->tensor[i] = calloc(1, t->bytes);
		ck_assert_ptr_nonnull(rig->tensor[i]);
		if (t->kind == TRN_TENSOR_CONSTANT)
			memcpy(rig->tensor[i], image->constants + t->constant_offset, t->bytes);
	}
	pthread_mutex_lock(&rig->lock);
	memset(rig->ring, 0, sizeof(rig->ring));
	for (i = 0; i < image->ring_count; i++)
		rig->ring[image->rings[i].engine + image->rings[i].queue * TRN_TNX_DMA_ENGINES] =
			&image->rings[i];
	pthread_mutex_unlock(&rig->lock);
}

void *rig_tensor(struct rig *rig, const char *name)
{
	uint32_t i;

	for (i = 0; i < rig->image->tensor_count; i++) {
		if (!strcmp(rig->image->tensors[i].name, name))
			return rig->tensor[i];
	}
	ck_abort_msg("no tensor %s", name);
	return NULL;
}

int rig_run(struct rig *rig, const uint32_t *args, unsigned int count)
{
	struct emu_run run = { .max_insns = 50000000 };
	struct emu_run_result result;
	unsigned int e, i;

	pthread_mutex_lock(&rig->lock);
	memset(rig->triggered, 0, sizeof(rig->triggered));
	memset(rig->done, 0, sizeof(rig->done));
	pthread_mutex_unlock(&rig->lock);
	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		run.image[e].base = code_base(e);
		run.image[e].count = rig->image->code[e].count;
	}
	for (i = 0; i < count && i < TRN_ARG_REGS; i++)
		run.args[i] = args[i];
	emu_core_run(rig->core, &run, &result);
	snprintf(rig->text, sizeof(rig->text), "fault %d, engine %d, pc %u, opcode %02x, seed %u",
		 result.fault, result.engine, result.pc, result.opcode, rig->seed);
	if (result.fault) {
		emu_core_reset(rig->core);
		return result.fault;
	}
	for (i = 0; i < TRN_SEM_COUNT; i++)
		ck_assert_msg(emu_core_sem_read(rig->core, i) == 0,
			      "semaphore %u is %d after a run", i, emu_core_sem_read(rig->core, i));
	for (e = 0; e < RINGS; e++)
		ck_assert_msg(!rig->ring[e] || rig->done[e] == rig->ring[e]->count,
			      "ring %u: %u of %u transfers done when the run ended", e,
			      rig->done[e], rig->ring[e] ? rig->ring[e]->count : 0);
	return 0;
}

const char *rig_text(const struct rig *rig)
{
	return rig->text;
}

struct trn_image *rig_build(struct rig *rig, struct trn_builder *builder)
{
	struct trn_image *image = NULL;
	enum trn_status status = trn_builder_finish(builder, &image);

	trn_builder_free(builder);
	ck_assert_msg(status == TRN_OK, "%s", trn_error_text());
	rig_load(rig, image);
	return image;
}
