// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health.h"
#include "tool.h"

#define BLOCK	   ((uint64_t)16 << 20)
#define PAGE	   ((uint64_t)4096)
#define COPY_BYTES ((uint64_t)16 << 20)
#define COPY_TURNS 4

bool health_library(struct health *health, enum trn_status status)
{
	const char *text = trn_error_text();

	snprintf(health->text, sizeof(health->text), "%s", text[0] ? text : trn_strerror(status));
	return false;
}

static bool no_host_memory(struct health *health, uint64_t bytes)
{
	snprintf(health->text, sizeof(health->text), "no host memory for %" PRIu64 " bytes", bytes);
	return false;
}

/* A value that no other place has: a line that is stuck or swapped shows. */
static uint64_t pattern(uint64_t seed, uint64_t index)
{
	uint64_t x = index + seed * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static void pattern_fill(uint64_t *words, uint64_t count, uint64_t seed, uint64_t first,
			 uint64_t invert)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		words[i] = pattern(seed, first + i) ^ invert;
}

static bool pattern_check(struct health *health, const uint64_t *words, uint64_t count,
			  uint64_t first, uint64_t invert, const char *what)
{
	uint64_t i, expected;

	for (i = 0; i < count; i++) {
		expected = pattern(health->seed, first + i) ^ invert;
		if (words[i] == expected)
			continue;
		snprintf(health->text, sizeof(health->text),
			 "%s: byte %" PRIu64 " holds %016" PRIx64 ", expected %016" PRIx64
			 " (bits %016" PRIx64 " differ)",
			 what, (first + i) * 8, words[i], expected, words[i] ^ expected);
		return false;
	}
	return true;
}

/* ---- memory ---- */

struct blocks {
	struct trn_memory **memory;
	uint64_t count;
	uint64_t bytes;	 /* of each */
	uint64_t *words; /* host copy of one */
};

static void blocks_free(struct blocks *blocks)
{
	uint64_t i;

	for (i = 0; blocks->memory && i < blocks->count; i++)
		trn_memory_free(blocks->memory[i]);
	free(blocks->memory);
	free(blocks->words);
}

static bool blocks_alloc(struct health *health, struct blocks *blocks)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	uint32_t stacks = health->info.stacks ? health->info.stacks : 1;
	enum trn_status status = TRN_OK;
	uint64_t i;

	/* Every stack gets a block; whole pages. */
	blocks->bytes = (health->bytes / stacks + PAGE - 1) & ~(PAGE - 1);
	if (blocks->bytes > BLOCK)
		blocks->bytes = BLOCK;
	blocks->count = (health->bytes + blocks->bytes - 1) / blocks->bytes;
	blocks->memory = calloc(blocks->count, sizeof(*blocks->memory));
	blocks->words = malloc(blocks->bytes);
	if (!blocks->memory || !blocks->words)
		return no_host_memory(health, blocks->bytes);
	options.tag = "trn test";
	for (i = 0; i < blocks->count && !status; i++) {
		options.stack = (int32_t)(i % stacks);
		status = trn_memory_alloc(health->device, blocks->bytes, &options,
					  &blocks->memory[i]);
	}
	return status ? health_library(health, status) : true;
}

static bool blocks_pass(struct health *health, struct blocks *blocks, uint64_t invert)
{
	uint64_t words = blocks->bytes / 8, i;
	enum trn_status status;
	char what[48];
	double begin;

	for (i = 0; i < blocks->count; i++) {
		pattern_fill(blocks->words, words, health->seed, i * words, invert);
		begin = tool_now();
		status = trn_queue_write(health->queue, blocks->memory[i], 0, blocks->words,
					 blocks->bytes, NULL);
		if (!status)
			status = trn_queue_finish(health->queue, UINT64_MAX);
		if (status)
			return health_library(health, status);
		health->seconds += tool_now() - begin;
	}
	/* All are written before the first is read: two that are one and the same show. */
	for (i = 0; i < blocks->count; i++) {
		memset(blocks->words, 0, blocks->bytes);
		begin = tool_now();
		status = trn_queue_read(health->queue, blocks->words, blocks->memory[i], 0,
					blocks->bytes, NULL);
		if (!status)
			status = trn_queue_finish(health->queue, UINT64_MAX);
		if (status)
			return health_library(health, status);
		health->seconds += tool_now() - begin;
		snprintf(what, sizeof(what), "block %" PRIu64 " of %" PRIu64, i + 1, blocks->count);
		if (!pattern_check(health, blocks->words, words, i * words, invert, what))
			return false;
	}
	health->moved += 2 * blocks->count * blocks->bytes;
	return true;
}

bool health_memory(struct health *health)
{
	struct blocks blocks = { 0 };
	bool ok = blocks_alloc(health, &blocks) && blocks_pass(health, &blocks, 0) &&
		  blocks_pass(health, &blocks, UINT64_MAX);

	if (ok)
		snprintf(health->text, sizeof(health->text),
			 "%" PRIu64 " blocks of %" PRIu64
			 " KiB over %u stacks, pattern and inverse, seed %" PRIu64,
			 blocks.count, blocks.bytes >> 10, health->info.stacks, health->seed);
	blocks_free(&blocks);
	return ok;
}

/* ---- copies ---- */

/* Memory, a buffer with the pattern, and one to read into. */
struct copies {
	struct trn_memory *memory[2];
	uint64_t *out, *in;
	uint64_t bytes;
};

static void copies_free(struct copies *copies)
{
	trn_memory_free(copies->memory[0]);
	trn_memory_free(copies->memory[1]);
	free(copies->out);
	free(copies->in);
}

static bool copies_make(struct health *health, struct copies *copies)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	enum trn_status status;

	copies->bytes = COPY_BYTES;
	copies->out = malloc(copies->bytes);
	copies->in = calloc(1, copies->bytes);
	if (!copies->out || !copies->in)
		return no_host_memory(health, copies->bytes);
	pattern_fill(copies->out, copies->bytes / 8, health->seed, 0, 0);
	options.tag = "trn test";
	status = trn_memory_alloc(health->device, copies->bytes, &options, &copies->memory[0]);
	/* The other end of a copy inside lies in the other stack where there is one. */
	options.stack = health->info.stacks > 1 ? 1 : 0;
	if (!status)
		status = trn_memory_alloc(health->device, copies->bytes, &options,
					  &copies->memory[1]);
	return status ? health_library(health, status) : true;
}

/* Time @turns of one direction; 0: in, 1: out, 2: inside. */
static bool copies_time(struct health *health, struct copies *copies, int direction)
{
	enum trn_status status = TRN_OK;
	double begin = tool_now();
	int turn;

	for (turn = 0; turn < COPY_TURNS && !status; turn++) {
		if (direction == 0)
			status = trn_queue_write(health->queue, copies->memory[0], 0, copies->out,
						 copies->bytes, NULL);
		else if (direction == 1)
			status = trn_queue_read(health->queue, copies->in, copies->memory[0], 0,
						copies->bytes, NULL);
		else
			status = trn_queue_copy(health->queue, copies->memory[1], 0,
						copies->memory[0], 0, copies->bytes, NULL);
		if (!status)
			status = trn_queue_finish(health->queue, UINT64_MAX);
	}
	health->seconds = tool_now() - begin;
	health->moved = COPY_TURNS * copies->bytes;
	return status ? health_library(health, status) : true;
}

/* Odd offsets and lengths, which whole blocks do not show. */
static bool copies_odd(struct health *health, struct copies *copies)
{
	static const struct {
		uint64_t from, to, bytes;
	} odd[] = { { 1, 3, 5 }, { 4095, 65537, 4099 }, { 63, 1, 1 }, { 65535, 131071, 65538 } };
	const unsigned char *out = (const unsigned char *)copies->out;
	unsigned char *in = (unsigned char *)copies->in;
	enum trn_status status;
	size_t i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		memset(in, 0, odd[i].bytes);
		status = trn_queue_write(health->queue, copies->memory[0], odd[i].to,
					 out + odd[i].from, odd[i].bytes, NULL);
		if (!status)
			status = trn_queue_copy(health->queue, copies->memory[1], odd[i].from,
						copies->memory[0], odd[i].to, odd[i].bytes, NULL);
		if (!status)
			status = trn_queue_read(health->queue, in, copies->memory[1], odd[i].from,
						odd[i].bytes, NULL);
		if (!status)
			status = trn_queue_finish(health->queue, UINT64_MAX);
		if (status)
			return health_library(health, status);
		if (memcmp(in, out + odd[i].from, odd[i].bytes) != 0) {
			snprintf(health->text, sizeof(health->text),
				 "%" PRIu64 " bytes from offset %" PRIu64 " to %" PRIu64
				 " and back came out different",
				 odd[i].bytes, odd[i].from, odd[i].to);
			return false;
		}
	}
	return true;
}

static bool copies_verify(struct health *health, struct copies *copies, unsigned int which)
{
	enum trn_status status;

	memset(copies->in, 0, copies->bytes);
	status = trn_queue_read(health->queue, copies->in, copies->memory[which], 0, copies->bytes,
				NULL);
	if (!status)
		status = trn_queue_finish(health->queue, UINT64_MAX);
	if (status)
		return health_library(health, status);
	return pattern_check(health, copies->in, copies->bytes / 8, 0, 0, "copied memory");
}

static bool copy_check(struct health *health, int direction)
{
	struct copies copies = { 0 };
	bool ok = copies_make(health, &copies);

	/* What is copied out or inside must have been written before. */
	if (ok && direction)
		ok = copies_time(health, &copies, 0);
	ok = ok && copies_time(health, &copies, direction) &&
	     copies_verify(health, &copies, direction == 2) && copies_odd(health, &copies);
	if (ok)
		snprintf(health->text, sizeof(health->text),
			 "%d x %" PRIu64 " MiB, odd offsets and lengths", COPY_TURNS,
			 copies.bytes >> 20);
	copies_free(&copies);
	return ok;
}

bool health_copy_in(struct health *health)
{
	return copy_check(health, 0);
}

bool health_copy_out(struct health *health)
{
	return copy_check(health, 1);
}

bool health_copy_inside(struct health *health)
{
	return copy_check(health, 2);
}
