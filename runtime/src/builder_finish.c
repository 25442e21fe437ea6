// SPDX-License-Identifier: BSD-2-Clause
/* Builder: epilogue, numbering of signals, and the image. */
#include <stdlib.h>
#include "builder_priv.h"

#define RING_MIN	32u
#define RING_MULTIPLE	16u

/* Pads every ring to a full turn, ends it with an increment of the end semaphore. Return: rings used. */
static uint32_t pad_rings(struct trn_builder *b, uint32_t extra[TRN_TNX_DMA_ENGINES])
{
	uint64_t scratch = trn_tnx_sbuf_bytes(b->generation) - TRN_BUILD_SCRATCH;
	struct trn_tnx_xfer pad = { .src_kind = TRN_TNX_REF_SBUF, .dst_kind = TRN_TNX_REF_SBUF, .length = 4,
				    .src_offset = scratch, .dst_offset = scratch + 32 };
	struct trn_tnx_xfer end = { .dst_kind = TRN_TNX_REF_SEM_INC, .length = 4,
				    .flags = TRN_TNX_XFER_BARRIER, .dst_offset = TRN_BUILD_SEM_END };
	uint32_t e, used = 0;

	for (e = 0; e < TRN_TNX_DMA_ENGINES; e++) {
		struct trn_build_ring *r = &b->ring[e];
		uint32_t full = (r->count + 1 + RING_MULTIPLE - 1) / RING_MULTIPLE * RING_MULTIPLE;

		extra[e] = 0;
		if (!r->used)
			continue;
		if (full < RING_MIN)
			full = RING_MIN;
		extra[e] = full - r->count;
		used++;
		while (r->count < full) {
			if (!trn_build_grow(b, (void **)&r->xfers, &r->capacity, r->count,
					    sizeof(*r->xfers)))
				return 0;
			r->xfers[r->count] = r->count + 1 == full ? end : pad;
			r->count++;
		}
	}
	return used;
}

static void trigger_padding(struct trn_builder *b, const uint32_t extra[TRN_TNX_DMA_ENGINES])
{
	struct trn_insn insn = { .opcode = TRN_OP_DMA_TRIGGER, .engine = TRN_ENGINE_SP };
	uint32_t left = 0, e, k;

	for (e = 0; e < TRN_TNX_DMA_ENGINES; e++)
		left |= extra[e] ? 1u << e : 0;
	for (e = 0; left; e++) {
		if (!(left & 1u << e))
			continue;
		insn.c0 = extra[e];
		insn.trigger.engine_mask = 0;
		for (k = e; k < TRN_TNX_DMA_ENGINES; k++) {
			if ((left & 1u << k) && extra[k] == extra[e])
				insn.trigger.engine_mask |= 1u << k;
		}
		left &= ~insn.trigger.engine_mask;
		trn_build_append(b, &insn);
	}
}

/* SP waits until everything any engine does is complete. */
static void join_engines(struct trn_builder *b)
{
	struct trn_insn nop = { .opcode = TRN_OP_NOP, .engine = TRN_ENGINE_SP };
	struct trn_build_deps deps = { .transfer = false };
	unsigned int e;

	for (e = 0; e < TRN_BUILD_ENGINES; e++) {
		struct trn_insn last = nop;

		if (e == TRN_ENGINE_SP || !b->stream[e].count)
			continue;
		last.engine = (uint8_t)e;
		if (b->stream[e].raw && !trn_build_append(b, &last))
			return;
		deps.engine[e] = b->stream[e].count;
	}
	trn_build_wait(b, TRN_ENGINE_SP, &deps, &nop);
}

static void append_control(struct trn_builder *b, unsigned int engine, enum trn_opcode opcode, uint32_t c0,
			   uint32_t c1)
{
	struct trn_insn insn = { .opcode = (uint8_t)opcode, .engine = (uint8_t)engine, .c0 = c0, .c1 = c1 };

	trn_build_append(b, &insn);
}

/* Whether any semaphore can be left non-zero. */
static bool uses_semaphores(const struct trn_builder *b, uint32_t rings)
{
	uint32_t e, i;

	if (rings || b->next_semaphore > TRN_BUILD_SEM_USER)
		return true;
	for (e = 0; e < TRN_BUILD_ENGINES; e++) {
		for (i = 0; i < b->stream[e].count; i++) {
			if (b->stream[e].insns[i].signals)
				return true;
		}
	}
	return false;
}

bool trn_build_epilogue(struct trn_builder *builder)
{
	struct trn_insn wait = { .opcode = TRN_OP_NOP, .engine = TRN_ENGINE_SP };
	uint32_t extra[TRN_TNX_DMA_ENGINES];
	uint32_t rings = pad_rings(builder, extra);
	unsigned int e;

	if (uses_semaphores(builder, rings)) {
		join_engines(builder);
		trigger_padding(builder, extra);
		if (rings) {
			wait.wait[0].op = TRN_WAIT_SEM_GE;
			wait.wait[0].index = TRN_BUILD_SEM_END;
			wait.wait[0].value = (int32_t)rings;
			trn_build_append(builder, &wait);
		}
		append_control(builder, TRN_ENGINE_SP, TRN_OP_SEM_RANGE_CLEAR, 0, builder->next_semaphore);
	}
	for (e = 0; e < TRN_BUILD_ENGINES; e++) {
		if (builder->stream[e].count)
			append_control(builder, e, TRN_OP_HALT, 0, 0);
	}
	return builder->status == TRN_OK;
}

/* Turns instruction indices into counts of signals and adds the increments. */
static void number_signals(struct trn_builder *b)
{
	uint32_t *count[TRN_BUILD_ENGINES] = { NULL };
	uint32_t e, i, k;

	for (e = 0; e < TRN_BUILD_ENGINES; e++) {
		struct trn_build_stream *s = &b->stream[e];
		uint32_t n = 0;

		if (!s->count)
			continue;
		count[e] = malloc(s->count * sizeof(uint32_t));
		if (!count[e]) {
			trn_build_fail(b, TRN_ERR_NO_HOST_MEMORY, "no memory for %u counts", s->count);
			goto out;
		}
		for (i = 0; i < s->count; i++) {
			struct trn_sync *u = &s->insns[i].insn.update[s->insns[i].insn.update[0].op ? 1 : 0];

			if (s->insns[i].signals) {
				u->op = TRN_UPDATE_INC;
				u->mode = TRN_UPDATE_AT_COMPLETE;
				u->index = (uint16_t)e;
				n++;
			}
			count[e][i] = n;
		}
	}
	for (e = 0; e < TRN_BUILD_ENGINES; e++) {
		for (i = 0; i < b->stream[e].count; i++) {
			struct trn_build_insn *insn = &b->stream[e].insns[i];

			for (k = 0; k < 2; k++) {
				struct trn_sync *w = &insn->insn.wait[k];

				if (insn->symbolic[k])
					w->value = (int32_t)count[w->index][w->value - 1];
			}
		}
	}
out:
	for (e = 0; e < TRN_BUILD_ENGINES; e++)
		free(count[e]);
}

static bool image_code(struct trn_builder *b, struct trn_image *image)
{
	uint32_t e, i;

	for (e = 0; e < TRN_BUILD_ENGINES; e++) {
		const struct trn_build_stream *s = &b->stream[e];

		if (!s->count)
			continue;
		image->code[e].insns = malloc(s->count * sizeof(struct trn_insn));
		if (!image->code[e].insns)
			return false;
		for (i = 0; i < s->count; i++)
			image->code[e].insns[i] = s->insns[i].insn;
		image->code[e].count = s->count;
	}
	return true;
}

static bool image_fill(struct trn_builder *b, struct trn_image *image)
{
	uint32_t i;

	memcpy(image->name, b->name, sizeof(image->name));
	image->generation = b->generation;
	image->tensors = calloc(b->tensor_count ? b->tensor_count : 1, sizeof(*image->tensors));
	image->rings = calloc(TRN_TNX_DMA_ENGINES, sizeof(*image->rings));
	if (!image->tensors || !image->rings)
		return false;
	for (i = 0; i < b->tensor_count; i++)
		image->tensors[i] = b->tensors[i].info;
	image->tensor_count = b->tensor_count;
	image->constants = b->constants;
	image->constants_bytes = b->constants_bytes;
	b->constants = NULL;
	for (i = 0; i < TRN_TNX_DMA_ENGINES; i++) {
		struct trn_image_ring *r = &image->rings[image->ring_count];

		if (!b->ring[i].used)
			continue;
		r->engine = i;
		r->queue = 0;
		r->count = b->ring[i].count;
		r->xfers = b->ring[i].xfers;
		b->ring[i].xfers = NULL;
		image->ring_count++;
	}
	return image_code(b, image);
}

enum trn_status trn_builder_finish(struct trn_builder *builder, struct trn_image **image)
{
	struct trn_image *made = NULL;
	enum trn_status status;

	*image = NULL;
	if (!builder)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no memory for a program builder");
	if (builder->finished)
		trn_build_fail(builder, TRN_ERR_INVALID, "finished twice");
	builder->finished = true;
	if (!builder->status)
		trn_build_epilogue(builder);
	if (!builder->status)
		number_signals(builder);
	if (!builder->status) {
		made = calloc(1, sizeof(*made));
		if (!made || !image_fill(builder, made))
			trn_build_fail(builder, TRN_ERR_NO_HOST_MEMORY, "no memory for the image");
	}
	if (builder->status) {
		trn_image_free(made);
		return trn_error_set(builder->status, "%s", builder->error);
	}
	status = trn_tnx_check(made);
	if (status) {
		trn_image_free(made);
		return status;
	}
	*image = made;
	return TRN_OK;
}
