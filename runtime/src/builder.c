// SPDX-License-Identifier: BSD-2-Clause
/* Program builder: creation, tensors, raw instructions, the sticky error. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "builder_priv.h"

void trn_build_fail(struct trn_builder *builder, enum trn_status status, const char *format, ...)
{
	va_list args;
	int used;

	if (!builder || builder->status)
		return;
	builder->status = status;
	used = snprintf(builder->error, sizeof(builder->error), "program \"%s\": ", builder->name);
	if (used < 0 || (size_t)used >= sizeof(builder->error))
		used = 0;
	va_start(args, format);
	vsnprintf(builder->error + used, sizeof(builder->error) - (size_t)used, format, args);
	va_end(args);
}

bool trn_build_grow(struct trn_builder *builder, void **array, uint32_t *capacity, uint32_t count,
		    size_t size)
{
	uint32_t wanted = *capacity ? *capacity * 2 : 16;
	void *grown;

	if (!builder || builder->status)
		return false;
	if (count < *capacity)
		return true;
	grown = wanted > *capacity ? realloc(*array, wanted * size) : NULL;
	if (!grown) {
		trn_build_fail(builder, TRN_ERR_NO_HOST_MEMORY,
			       "no memory for %u entries of %zu bytes", wanted, size);
		return false;
	}
	*array = grown;
	*capacity = wanted;
	return true;
}

const char *trn_build_engine_name(unsigned int engine)
{
	static const char *const name[TRN_ENGINE_MAX] = {
		[TRN_ENGINE_NONE] = "none", [TRN_ENGINE_PE] = "PE", [TRN_ENGINE_ACT] = "ACT",
		[TRN_ENGINE_POOL] = "POOL", [4] = "none",	    [TRN_ENGINE_DVE] = "DVE",
		[TRN_ENGINE_SP] = "SP",	    [TRN_ENGINE_CC] = "CC",
	};

	return engine < TRN_ENGINE_MAX ? name[engine] : "none";
}

struct trn_builder *trn_builder_create(const char *name, uint32_t generation)
{
	struct trn_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->generation = generation;
	b->next_semaphore = TRN_BUILD_SEM_USER;
	snprintf(b->name, sizeof(b->name), "%s", name ? name : "");
	if (!name || !name[0])
		trn_build_fail(b, TRN_ERR_INVALID, "a program needs a name");
	else if (strlen(name) > TRN_TNX_NAME_MAX)
		trn_build_fail(b, TRN_ERR_INVALID, "name has %zu characters, at most %u are kept",
			       strlen(name), TRN_TNX_NAME_MAX);
	if (!trn_tnx_sbuf_bytes(generation)) {
		trn_build_fail(b, TRN_ERR_UNSUPPORTED, "generation %u is unknown, use 2 or 3",
			       generation);
		return b;
	}
	trn_build_space_init(b, TRN_MEM_SBUF, trn_tnx_sbuf_bytes(generation));
	trn_build_space_init(b, TRN_MEM_PSUM, TRN_PSUM_PARTITION_BYTES);
	return b;
}

void trn_builder_free(struct trn_builder *builder)
{
	unsigned int i;

	if (!builder)
		return;
	for (i = 0; i < TRN_BUILD_ENGINES; i++)
		free(builder->stream[i].insns);
	for (i = 0; i < TRN_BUILD_MAPS; i++)
		free(builder->map[i].segs);
	for (i = 0; i < 2; i++)
		free(builder->space[i].holes);
	for (i = 0; i < builder->tensor_count; i++)
		free(builder->tensors[i].access);
	for (i = 0; i < TRN_BUILD_QUEUES * TRN_TNX_DMA_ENGINES; i++)
		free(builder->ring[i / TRN_TNX_DMA_ENGINES][i % TRN_TNX_DMA_ENGINES].xfers);
	free(builder->tensors);
	free(builder->constants);
	free(builder->groups);
	free(builder);
}

enum trn_status trn_builder_status(const struct trn_builder *builder)
{
	return builder ? builder->status : TRN_ERR_INVALID;
}

/* Shape and size of a tensor; 0 after an error. */
static uint64_t tensor_bytes(struct trn_builder *b, const char *name, enum trn_dtype dtype,
			     const uint64_t *shape, uint32_t rank)
{
	uint64_t bytes = trn_dtype_bytes(dtype);
	uint32_t i;

	if (!bytes) {
		trn_build_fail(b, TRN_ERR_INVALID, "tensor \"%s\": type 0x%x is unknown", name,
			       dtype);
		return 0;
	}
	if (!rank || rank > 6 || !shape) {
		trn_build_fail(b, TRN_ERR_INVALID, "tensor \"%s\": rank %u is not in 1..6", name,
			       rank);
		return 0;
	}
	for (i = 0; i < rank; i++) {
		if (!shape[i] || __builtin_mul_overflow(bytes, shape[i], &bytes) || bytes >> 48) {
			trn_build_fail(b, TRN_ERR_INVALID,
				       "tensor \"%s\": dimension %u of %llu is zero or makes the "
				       "tensor larger than 2^48 bytes",
				       name, i, (unsigned long long)shape[i]);
			return 0;
		}
	}
	return bytes;
}

/* Appends a constant's content, 64-byte aligned. */
static bool constant_add(struct trn_builder *b, struct trn_tnx_tensor *info, const void *data)
{
	uint64_t start = (b->constants_bytes + 63) & ~63ull;
	uint8_t *grown = realloc(b->constants, start + info->bytes);

	if (!grown) {
		trn_build_fail(b, TRN_ERR_NO_HOST_MEMORY,
			       "no memory for %llu bytes of constant \"%s\"",
			       (unsigned long long)info->bytes, info->name);
		return false;
	}
	memset(grown + b->constants_bytes, 0, start - b->constants_bytes);
	memcpy(grown + start, data, info->bytes);
	b->constants = grown;
	b->constants_bytes = start + info->bytes;
	info->constant_offset = start;
	return true;
}

int trn_builder_tensor(struct trn_builder *builder, const char *name, enum trn_tensor_kind kind,
		       enum trn_dtype dtype, const uint64_t *shape, uint32_t rank, const void *data)
{
	struct trn_build_tensor *t;
	uint64_t bytes;
	uint32_t i;

	if (!builder || builder->status)
		return -1;
	if (!name || !name[0] || strlen(name) > TRN_TNX_NAME_MAX) {
		trn_build_fail(builder, TRN_ERR_INVALID,
			       "tensor %u: a name of 1..%u characters is needed",
			       builder->tensor_count, TRN_TNX_NAME_MAX);
		return -1;
	}
	for (i = 0; i < builder->tensor_count; i++) {
		if (!strcmp(builder->tensors[i].info.name, name)) {
			trn_build_fail(builder, TRN_ERR_INVALID, "two tensors are named \"%s\"",
				       name);
			return -1;
		}
	}
	if (kind > TRN_TENSOR_CONSTANT || (kind == TRN_TENSOR_CONSTANT) != !!data) {
		trn_build_fail(builder, TRN_ERR_INVALID,
			       "tensor \"%s\" of kind %u: constants need content, others have none",
			       name, kind);
		return -1;
	}
	if (builder->tensor_count == TRN_TNX_TENSORS_MAX) {
		trn_build_fail(builder, TRN_ERR_INVALID, "more than %u tensors",
			       TRN_TNX_TENSORS_MAX);
		return -1;
	}
	bytes = tensor_bytes(builder, name, dtype, shape, rank);
	if (!bytes ||
	    !trn_build_grow(builder, (void **)&builder->tensors, &builder->tensor_capacity,
			    builder->tensor_count, sizeof(*builder->tensors)))
		return -1;
	t = &builder->tensors[builder->tensor_count];
	memset(t, 0, sizeof(*t));
	memcpy(t->info.name, name, strlen(name));
	t->info.dtype = dtype;
	t->info.kind = kind;
	t->info.rank = rank;
	t->info.bytes = bytes;
	memcpy(t->info.shape, shape, rank * sizeof(*shape));
	if (data && !constant_add(builder, &t->info, data))
		return -1;
	return (int)builder->tensor_count++;
}

int trn_builder_emit(struct trn_builder *builder, const struct trn_insn *insn)
{
	struct trn_build_insn *slot;

	if (!builder || builder->status)
		return -1;
	if (!insn) {
		trn_build_fail(builder, TRN_ERR_INVALID, "a raw instruction is NULL");
		return -1;
	}
	slot = trn_build_append(builder, insn);
	if (!slot)
		return -1;
	builder->stream[insn->engine].raw = true;
	return (int)builder->stream[insn->engine].count - 1;
}

int trn_builder_semaphore(struct trn_builder *builder)
{
	if (!builder || builder->status)
		return -1;
	if (builder->next_semaphore == TRN_SEM_COUNT) {
		trn_build_fail(builder, TRN_ERR_INVALID, "all %u semaphores are used",
			       TRN_SEM_COUNT);
		return -1;
	}
	return (int)builder->next_semaphore++;
}
