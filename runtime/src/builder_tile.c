// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builder: allocation of SBUF and PSUM bytes.
 *
 * A tile takes its bytes in every partition. Next-fit, so that tiles allocated and freed in a loop
 * rotate through memory and operations on neighbouring rounds need not wait for each other.
 */
#include <stdlib.h>
#include "builder_priv.h"

#define TILE_ALIGN 64u

bool trn_build_space_init(struct trn_builder *builder, unsigned int mem, uint32_t total)
{
	struct trn_build_space *s = &builder->space[mem];

	if (!trn_build_grow(builder, (void **)&s->holes, &s->capacity, 0, sizeof(*s->holes)))
		return false;
	s->holes[0].start = 0;
	s->holes[0].bytes = total;
	s->count = 1;
	s->total = total;
	return true;
}

/* First place at or after @from for @bytes inside @hole; false when it does not fit. */
static bool hole_fit(const struct trn_build_hole *hole, unsigned int mem, uint32_t bytes,
		     uint32_t from, uint32_t *place)
{
	uint32_t start = hole->start > from ? hole->start : from;

	start = (start + TILE_ALIGN - 1) & ~(TILE_ALIGN - 1);
	if (mem == TRN_MEM_PSUM && bytes <= TRN_PSUM_BANK_BYTES &&
	    start / TRN_PSUM_BANK_BYTES != (start + bytes - 1) / TRN_PSUM_BANK_BYTES)
		start = (start + TRN_PSUM_BANK_BYTES - 1) & ~(TRN_PSUM_BANK_BYTES - 1);
	if (start + bytes > hole->start + hole->bytes)
		return false;
	*place = start;
	return true;
}

static bool space_take(struct trn_builder *b, struct trn_build_space *s, uint32_t i, uint32_t place,
		       uint32_t bytes)
{
	struct trn_build_hole *h;
	uint32_t end;

	if (!trn_build_grow(b, (void **)&s->holes, &s->capacity, s->count + 1, sizeof(*s->holes)))
		return false;
	h = &s->holes[i];
	end = h->start + h->bytes;
	memmove(h + 2, h + 1, (s->count - i - 1) * sizeof(*h));
	h[1].start = place + bytes;
	h[1].bytes = end - h[1].start;
	h[0].bytes = place - h[0].start;
	s->count++;
	if (!h[1].bytes) {
		memmove(h + 1, h + 2, (s->count - i - 2) * sizeof(*h));
		s->count--;
	}
	if (!h[0].bytes) {
		memmove(h, h + 1, (s->count - i - 1) * sizeof(*h));
		s->count--;
	}
	s->cursor = place + bytes;
	return true;
}

struct trn_tile trn_builder_tile(struct trn_builder *builder, unsigned int mem,
				 unsigned int partitions, uint32_t bytes)
{
	struct trn_tile tile = { (uint8_t)mem, (uint8_t)partitions, 0, bytes };
	struct trn_build_space *s;
	uint32_t size, i, pass;

	if (!builder || builder->status)
		return tile;
	if (mem > TRN_MEM_PSUM || !partitions || partitions > TRN_PARTITIONS || !bytes) {
		trn_build_fail(builder, TRN_ERR_INVALID,
			       "tile of %u partitions x %u bytes in memory %u: 1..128 partitions, "
			       "at least 1 byte, SBUF or PSUM",
			       partitions, bytes, mem);
		return tile;
	}
	s = &builder->space[mem];
	size = bytes > s->total ? s->total + 1 : (bytes + TILE_ALIGN - 1) & ~(TILE_ALIGN - 1);
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < s->count; i++) {
			if (!hole_fit(&s->holes[i], mem, size, pass ? 0 : s->cursor, &tile.offset))
				continue;
			space_take(builder, s, i, tile.offset, size);
			return tile;
		}
	}
	trn_build_fail(builder, TRN_ERR_NO_DEVICE_MEMORY,
		       "no room for a tile of %u bytes per partition in %s: the largest free piece "
		       "has %u of %u bytes",
		       bytes, mem == TRN_MEM_SBUF ? "SBUF" : "PSUM",
		       trn_builder_tile_space(builder, mem), s->total);
	return tile;
}

void trn_builder_tile_free(struct trn_builder *builder, struct trn_tile tile)
{
	struct trn_build_space *s;
	uint32_t size = (tile.bytes + TILE_ALIGN - 1) & ~(TILE_ALIGN - 1);
	uint64_t end = (uint64_t)tile.offset + size;
	uint32_t i;

	if (!builder || builder->status)
		return;
	s = &builder->space[tile.mem & 1];
	for (i = 0; i < s->count && s->holes[i].start < tile.offset; i++)
		;
	if (!size || end > s->total || (i < s->count && end > s->holes[i].start) ||
	    (i && s->holes[i - 1].start + s->holes[i - 1].bytes > tile.offset)) {
		trn_build_fail(
			builder, TRN_ERR_INVALID,
			"tile at byte %u with %u bytes is freed twice or was never allocated",
			tile.offset, tile.bytes);
		return;
	}
	if (!trn_build_grow(builder, (void **)&s->holes, &s->capacity, s->count, sizeof(*s->holes)))
		return;
	memmove(s->holes + i + 1, s->holes + i, (s->count - i) * sizeof(*s->holes));
	s->holes[i].start = tile.offset;
	s->holes[i].bytes = size;
	s->count++;
	if (i + 1 < s->count && s->holes[i].start + s->holes[i].bytes == s->holes[i + 1].start) {
		s->holes[i].bytes += s->holes[i + 1].bytes;
		memmove(s->holes + i + 1, s->holes + i + 2, (s->count - i - 2) * sizeof(*s->holes));
		s->count--;
	}
	if (i && s->holes[i - 1].start + s->holes[i - 1].bytes == s->holes[i].start) {
		s->holes[i - 1].bytes += s->holes[i].bytes;
		memmove(s->holes + i, s->holes + i + 1, (s->count - i - 1) * sizeof(*s->holes));
		s->count--;
	}
}

uint32_t trn_builder_tile_space(const struct trn_builder *builder, unsigned int mem)
{
	uint32_t best = 0, i;

	if (!builder || mem > TRN_MEM_PSUM)
		return 0;
	for (i = 0; i < builder->space[mem].count; i++) {
		const struct trn_build_hole *h = &builder->space[mem].holes[i];
		uint32_t start = (h->start + TILE_ALIGN - 1) & ~(TILE_ALIGN - 1);

		if (h->start + h->bytes > start && h->start + h->bytes - start > best)
			best = h->start + h->bytes - start;
	}
	return best;
}
