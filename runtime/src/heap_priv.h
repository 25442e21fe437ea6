/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the heap: heap.c (blocks), heap_tag.c (accounting), heap_check.c (invariants). */
#ifndef TRN_HEAP_PRIV_H
#define TRN_HEAP_PRIV_H

#include "heap.h"

#define BIN_SUB_LOG	  5
#define BIN_SUB		  (1u << BIN_SUB_LOG) /* bins per power of two */
#define BIN_COUNT	  1728u		      /* sizes up to 2^62 bytes */
#define TRN_HEAP_SIZE_MAX (1ull << 62)
#define SLAB_BLOCKS	  512u
#define TAG_BUCKETS	  256u

/** struct trn_heap_tag_entry - accounting of a tag; lives as long as its heap. */
struct trn_heap_tag_entry {
	struct trn_heap_usage usage;
	struct trn_heap_tag_entry *next;  /* order of first use */
	struct trn_heap_tag_entry *chain; /* of its hash bucket */
};

struct trn_heap_pool {
	struct trn_heap_block *bins[BIN_COUNT];
	uint64_t bitmap[BIN_COUNT / 64];
	uint64_t summary;
	uint64_t free_bytes;
	struct trn_heap_extent *extents;
};

struct slab {
	struct slab *next;
	struct trn_heap_block blocks[SLAB_BLOCKS];
};

struct trn_heap {
	struct trn_heap_pool *pools;
	unsigned int pool_count;
	uint32_t sequence; /* xorshift state of the treap priorities */
	uint64_t ordinal;
	struct trn_heap_block *spare; /* unused block structures, by ->next */
	struct slab *slabs;
	struct trn_heap_tag_entry *tags;
	struct trn_heap_tag_entry **tags_end;
	struct trn_heap_tag_entry *tag_last; /* most recently looked up */
	struct trn_heap_tag_entry *buckets[TAG_BUCKETS];
};

_Static_assert(BIN_COUNT % 64 == 0 && BIN_COUNT / 64 <= 64, "one word of summary");

/** trn_heap_tag_entry() - entry of @tag (NULL: "user"), made at first use; NULL when host memory is
 * short. */
struct trn_heap_tag_entry *trn_heap_tag_entry(struct trn_heap *heap, const char *tag);
void trn_heap_tag_charge(struct trn_heap_tag_entry *entry, uint64_t bytes);
void trn_heap_tag_credit(struct trn_heap_tag_entry *entry, uint64_t bytes);

#endif /* TRN_HEAP_PRIV_H */
