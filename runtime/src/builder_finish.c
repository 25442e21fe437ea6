// SPDX-License-Identifier: BSD-2-Clause
/* Builder: epilogue, numbering of signals, and the image. */
#include <stdlib.h>
#include "builder_priv.h"

/* SP waits until everything any engine does is complete. */
static void join_engines(struct trn_builder *b)
{
	struct trn_insn nop = { .opcode = TRN_OP_NOP, .engine = TRN_ENGINE_SP };
	struct trn_build_deps deps = { .transfer = false };
	unsigned int e, lane;

	for (lane = 0; lane < TRN_BUILD_LANES; lane++) {
		struct trn_build_ref ref = { 0, 0, b->lane[lane].group };

		if (ref.group)
			trn_build_need(b, TRN_ENGINE_SP, &deps, ref);
	}
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

static void append_control(struct trn_builder *b, unsigned int engine, enum trn_opcode opcode,
			   uint32_t c0, uint32_t c1)
{
	struct trn_insn insn = {
		.opcode = (uint8_t)opcode, .engine = (uint8_t)engine, .c0 = c0, .c1 = c1
	};

	trn_build_append(b, &insn);
}

/* Whether any semaphore can be left non-zero. */
static bool uses_semaphores(const struct trn_builder *b)
{
	uint32_t e, i;

	if (b->group_count || b->next_semaphore > TRN_BUILD_SEM_USER)
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
	unsigned int e;

	if (uses_semaphores(builder)) {
		join_engines(builder);
		append_control(builder, TRN_ENGINE_SP, TRN_OP_SEM_RANGE_CLEAR, 0,
			       builder->next_semaphore);
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
			trn_build_fail(b, TRN_ERR_NO_HOST_MEMORY, "no memory for %u counts",
				       s->count);
			goto out;
		}
		for (i = 0; i < s->count; i++) {
			struct trn_sync *u =
				&s->insns[i].insn.update[s->insns[i].insn.update[0].op ? 1 : 0];

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
	image->rings = calloc(TRN_BUILD_QUEUES * TRN_TNX_DMA_ENGINES, sizeof(*image->rings));
	if (!image->tensors || !image->rings)
		return false;
	for (i = 0; i < b->tensor_count; i++)
		image->tensors[i] = b->tensors[i].info;
	image->tensor_count = b->tensor_count;
	image->constants = b->constants;
	image->constants_bytes = b->constants_bytes;
	b->constants = NULL;
	for (i = 0; i < TRN_BUILD_QUEUES * TRN_TNX_DMA_ENGINES; i++) {
		struct trn_build_ring *from =
			&b->ring[i / TRN_TNX_DMA_ENGINES][i % TRN_TNX_DMA_ENGINES];
		struct trn_image_ring *r = &image->rings[image->ring_count];

		if (!from->used)
			continue;
		r->engine = i % TRN_TNX_DMA_ENGINES;
		r->queue = i / TRN_TNX_DMA_ENGINES;
		r->count = from->count;
		r->xfers = from->xfers;
		from->xfers = NULL;
		image->ring_count++;
	}
	return image_code(b, image);
}

enum trn_status trn_builder_finish(struct trn_builder *builder, struct trn_image **image)
{
	struct trn_image *made = NULL;
	enum trn_status status;

	if (!image)
		return trn_error_set(TRN_ERR_INVALID, "trn_builder_finish: image must not be NULL");
	*image = NULL;
	if (!builder)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "no memory for a program builder (NULL)");
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
