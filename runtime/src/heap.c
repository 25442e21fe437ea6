// SPDX-License-Identifier: BSD-2-Clause
/*
 * Best-fit suballocator.
 *
 * Free blocks of a pool sit in bins by size: exact bins for small sizes, 32 bins per power of two
 * above. A bin is a treap ordered by (size, address), a two-level bitmap finds the next bin that is
 * not empty. So the best fit is the lower bound in the bin of the size, or the first block of the
 * next bin: O(1) for the bin, O(log n) in it. Priorities come from a fixed sequence: the same calls
 * build the same trees in every run.
 *
 * Locking: none; the owner serialises.
 */
#include "heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap_priv.h"

#define ALIGNED_TRIES 8u /* blocks looked at before taking one that fits at any offset */

static unsigned int bin_index(uint64_t size)
{
	uint64_t granules = size / TRN_HEAP_GRANULE;
	unsigned int log;

	if (granules < BIN_SUB)
		return granules;
	log = 63 - __builtin_clzll(granules);
	return (log - BIN_SUB_LOG + 1) * BIN_SUB +
	       ((granules >> (log - BIN_SUB_LOG)) & (BIN_SUB - 1));
}

/* Next bin at or above @bin that holds a block, or BIN_COUNT. */
static unsigned int bin_next(const struct trn_heap_pool *pool, unsigned int bin)
{
	unsigned int word = bin / 64;
	uint64_t bits;

	if (bin >= BIN_COUNT)
		return BIN_COUNT;
	bits = pool->bitmap[word] & (~0ull << (bin % 64));
	if (!bits) {
		uint64_t summary = word + 1 < 64 ? pool->summary & (~0ull << (word + 1)) : 0;

		if (!summary)
			return BIN_COUNT;
		word = __builtin_ctzll(summary);
		bits = pool->bitmap[word];
	}
	return word * 64 + __builtin_ctzll(bits);
}

static bool block_before(const struct trn_heap_block *a, const struct trn_heap_block *b)
{
	if (a->size != b->size)
		return a->size < b->size;
	if (a->extent != b->extent)
		return a->extent->ordinal < b->extent->ordinal;
	return a->offset < b->offset;
}

static void free_insert(struct trn_heap *heap, struct trn_heap_block *block)
{
	struct trn_heap_pool *pool = &heap->pools[block->extent->pool];
	unsigned int bin = bin_index(block->size);
	struct trn_heap_block **at = &pool->bins[bin];
	struct trn_heap_block **left = &block->left;
	struct trn_heap_block **right = &block->right;
	struct trn_heap_block *rest;

	heap->sequence ^= heap->sequence << 13;
	heap->sequence ^= heap->sequence >> 17;
	heap->sequence ^= heap->sequence << 5;
	block->priority = heap->sequence;
	block->free = true;

	while (*at && (*at)->priority >= block->priority)
		at = block_before(block, *at) ? &(*at)->left : &(*at)->right;
	/* Split what hangs here into the part before and the part after the block. */
	rest = *at;
	*at = block;
	while (rest) {
		if (block_before(rest, block)) {
			*left = rest;
			left = &rest->right;
			rest = rest->right;
		} else {
			*right = rest;
			right = &rest->left;
			rest = rest->left;
		}
	}
	*left = NULL;
	*right = NULL;

	pool->bitmap[bin / 64] |= 1ull << (bin % 64);
	pool->summary |= 1ull << (bin / 64);
	pool->free_bytes += block->size;
}

static void free_remove(struct trn_heap *heap, struct trn_heap_block *block)
{
	struct trn_heap_pool *pool = &heap->pools[block->extent->pool];
	unsigned int bin = bin_index(block->size);
	struct trn_heap_block **at = &pool->bins[bin];
	struct trn_heap_block *left = block->left;
	struct trn_heap_block *right = block->right;

	while (*at != block)
		at = block_before(block, *at) ? &(*at)->left : &(*at)->right;
	while (left && right) {
		if (left->priority >= right->priority) {
			*at = left;
			at = &left->right;
			left = left->right;
		} else {
			*at = right;
			at = &right->left;
			right = right->left;
		}
	}
	*at = left ? left : right;

	if (!pool->bins[bin]) {
		pool->bitmap[bin / 64] &= ~(1ull << (bin % 64));
		if (!pool->bitmap[bin / 64])
			pool->summary &= ~(1ull << (bin / 64));
	}
	pool->free_bytes -= block->size;
	block->free = false;
}

/* First offset in @block at a multiple of @alignment; overflow cannot happen: extents are far below
 * 2^63. */
static uint64_t block_aligned(const struct trn_heap_block *block, uint64_t alignment)
{
	return (block->offset + alignment - 1) & ~(alignment - 1);
}

static bool block_fits(const struct trn_heap_block *block, uint64_t size, uint64_t alignment)
{
	uint64_t skip = block_aligned(block, alignment) - block->offset;

	return skip <= block->size && block->size - skip >= size;
}

/* Smallest block of a tree, of @least bytes or more, that fits; looks at no more than *@tries.
 * Depth of recursion: depth of the treap. */
static struct trn_heap_block *tree_search(struct trn_heap_block *node, uint64_t least,
					  uint64_t size, uint64_t alignment, uint64_t *tries)
{
	struct trn_heap_block *found;

	while (node) {
		if (node->size >= least) {
			found = tree_search(node->left, least, size, alignment, tries);
			if (found || !*tries)
				return found;
			--*tries;
			if (block_fits(node, size, alignment))
				return node;
			if (!*tries)
				return NULL;
		}
		node = node->right;
	}
	return NULL;
}

static struct trn_heap_block *best_fit(const struct trn_heap_pool *pool, uint64_t size,
				       uint64_t alignment)
{
	uint64_t sure = size + alignment - TRN_HEAP_GRANULE;
	uint64_t tries = ALIGNED_TRIES;
	struct trn_heap_block *found = NULL;
	unsigned int bin, last = bin_index(sure);

	for (bin = bin_next(pool, bin_index(size)); bin < BIN_COUNT && !found && tries;
	     bin = bin_next(pool, bin + 1))
		found = tree_search(pool->bins[bin], size, size, alignment, &tries);
	if (found || tries)
		return found;

	/* Unlucky with the alignment: a block of this size holds an aligned piece wherever it lies.
	 */
	tries = 1;
	found = tree_search(pool->bins[last], sure, size, alignment, &tries);
	if (found)
		return found;
	bin = bin_next(pool, last + 1);
	if (bin < BIN_COUNT) {
		tries = 1;
		return tree_search(pool->bins[bin], sure, size, alignment, &tries);
	}

	/* Last resort before the owner has to find a new extent: every block that might fit. */
	tries = UINT64_MAX;
	for (bin = bin_next(pool, bin_index(size)); bin <= last && !found;
	     bin = bin_next(pool, bin + 1))
		found = tree_search(pool->bins[bin], size, size, alignment, &tries);
	return found;
}

static struct trn_heap_block *block_new(struct trn_heap *heap)
{
	struct trn_heap_block *block = heap->spare;
	struct slab *slab;
	unsigned int i;

	if (!block) {
		slab = malloc(sizeof(*slab));
		if (!slab)
			return NULL;
		slab->next = heap->slabs;
		heap->slabs = slab;
		for (i = 0; i < SLAB_BLOCKS; i++) {
			slab->blocks[i].next = heap->spare;
			heap->spare = &slab->blocks[i];
		}
		block = heap->spare;
	}
	heap->spare = block->next;
	memset(block, 0, sizeof(*block));
	return block;
}

static void block_drop(struct trn_heap *heap, struct trn_heap_block *block)
{
	block->next = heap->spare;
	heap->spare = block;
}

struct trn_heap *trn_heap_create(unsigned int pools)
{
	struct trn_heap *heap;

	if (!pools || pools > TRN_HEAP_POOLS_MAX)
		return NULL;
	heap = calloc(1, sizeof(*heap));
	if (!heap)
		return NULL;
	heap->pools = calloc(pools, sizeof(*heap->pools));
	if (!heap->pools) {
		free(heap);
		return NULL;
	}
	heap->pool_count = pools;
	heap->sequence = 2463534242u;
	return heap;
}

void trn_heap_destroy(struct trn_heap *heap)
{
	struct trn_heap_extent *extent, *next_extent;
	struct trn_heap_tag_entry *tag, *next_tag;
	struct slab *slab, *next_slab;
	unsigned int i;

	if (!heap)
		return;
	for (i = 0; i < heap->pool_count; i++)
		for (extent = heap->pools[i].extents; extent; extent = next_extent) {
			next_extent = extent->next;
			free(extent);
		}
	for (tag = heap->tags; tag; tag = next_tag) {
		next_tag = tag->next;
		free(tag);
	}
	for (slab = heap->slabs; slab; slab = next_slab) {
		next_slab = slab->next;
		free(slab);
	}
	free(heap->pools);
	free(heap);
}

struct trn_heap_extent *trn_heap_extent_add(struct trn_heap *heap, unsigned int pool, uint64_t size,
					    void *owner)
{
	struct trn_heap_extent *extent;
	struct trn_heap_block *block;

	size -= size % TRN_HEAP_GRANULE;
	if (pool >= heap->pool_count || !size || size > TRN_HEAP_SIZE_MAX)
		return NULL;
	extent = calloc(1, sizeof(*extent));
	if (!extent)
		return NULL;
	block = block_new(heap);
	if (!block) {
		free(extent);
		return NULL;
	}
	block->extent = extent;
	block->size = size;
	extent->size = size;
	extent->pool = pool;
	extent->owner = owner;
	extent->ordinal = heap->ordinal++;
	extent->first = block;
	extent->next = heap->pools[pool].extents;
	if (extent->next)
		extent->next->link = &extent->next;
	extent->link = &heap->pools[pool].extents;
	heap->pools[pool].extents = extent;
	free_insert(heap, block);
	return extent;
}

bool trn_heap_extent_remove(struct trn_heap *heap, struct trn_heap_extent *extent)
{
	if (extent->used)
		return false;
	/* Free neighbours are always joined: an unused extent is one block. */
	free_remove(heap, extent->first);
	block_drop(heap, extent->first);
	*extent->link = extent->next;
	if (extent->next)
		extent->next->link = extent->link;
	free(extent);
	return true;
}

struct trn_heap_extent *trn_heap_extents(const struct trn_heap *heap, unsigned int pool)
{
	return pool < heap->pool_count ? heap->pools[pool].extents : NULL;
}

/* Cut @block at @offset bytes from its start; @rest becomes the second half. */
static void block_cut(struct trn_heap_block *block, uint64_t offset, struct trn_heap_block *rest)
{
	rest->extent = block->extent;
	rest->offset = block->offset + offset;
	rest->size = block->size - offset;
	rest->prev = block;
	rest->next = block->next;
	if (rest->next)
		rest->next->prev = rest;
	block->next = rest;
	block->size = offset;
}

struct trn_heap_block *trn_heap_alloc(struct trn_heap *heap, unsigned int pool, uint64_t size,
				      uint64_t alignment, const char *tag, int *error)
{
	struct trn_heap_tag_entry *entry;
	struct trn_heap_block *block, *tail, *head;
	struct trn_heap_extent *extent;
	uint64_t skip;

	*error = -ENOSPC;
	if (alignment < TRN_HEAP_GRANULE)
		alignment = TRN_HEAP_GRANULE;
	if (pool >= heap->pool_count || !size || size > TRN_HEAP_SIZE_MAX ||
	    alignment > TRN_HEAP_SIZE_MAX)
		return NULL;
	size = (size + TRN_HEAP_GRANULE - 1) & ~(uint64_t)(TRN_HEAP_GRANULE - 1);
	block = best_fit(&heap->pools[pool], size, alignment);
	if (!block)
		return NULL;

	*error = -ENOMEM;
	entry = trn_heap_tag_entry(heap, tag);
	head = block_new(heap);
	tail = block_new(heap);
	if (!entry || !head || !tail) {
		if (head)
			block_drop(heap, head);
		if (tail)
			block_drop(heap, tail);
		return NULL;
	}

	free_remove(heap, block);
	skip = block_aligned(block, alignment) - block->offset;
	if (skip) {
		block_cut(block, skip, head);
		free_insert(heap, block);
		block = head;
	} else {
		block_drop(heap, head);
	}
	if (block->size > size) {
		block_cut(block, size, tail);
		free_insert(heap, tail);
	} else {
		block_drop(heap, tail);
	}

	extent = block->extent;
	extent->used += block->size;
	block->tag = entry;
	block->dirty = 0;
	if (block->offset < extent->touched)
		block->dirty = extent->touched - block->offset < size
				       ? extent->touched - block->offset
				       : size;
	if (block->offset + size > extent->touched)
		extent->touched = block->offset + size;
	trn_heap_tag_charge(entry, size);
	*error = 0;
	return block;
}

struct trn_heap_extent *trn_heap_free(struct trn_heap *heap, struct trn_heap_block *block)
{
	struct trn_heap_extent *extent = block->extent;
	struct trn_heap_block *next = block->next;
	struct trn_heap_block *prev = block->prev;

	trn_heap_tag_credit(block->tag, block->size);
	extent->used -= block->size;
	if (next && next->free) {
		free_remove(heap, next);
		block->size += next->size;
		block->next = next->next;
		if (block->next)
			block->next->prev = block;
		block_drop(heap, next);
	}
	if (prev && prev->free) {
		free_remove(heap, prev);
		prev->size += block->size;
		prev->next = block->next;
		if (prev->next)
			prev->next->prev = prev;
		block_drop(heap, block);
		block = prev;
	}
	free_insert(heap, block);
	return extent->used ? NULL : extent;
}

uint64_t trn_heap_free_bytes(const struct trn_heap *heap, unsigned int pool)
{
	return pool < heap->pool_count ? heap->pools[pool].free_bytes : 0;
}

uint64_t trn_heap_largest_free(const struct trn_heap *heap, unsigned int pool)
{
	const struct trn_heap_block *block;
	unsigned int word;

	if (pool >= heap->pool_count || !heap->pools[pool].summary)
		return 0;
	word = 63 - __builtin_clzll(heap->pools[pool].summary);
	block = heap->pools[pool]
			.bins[word * 64 + 63 - __builtin_clzll(heap->pools[pool].bitmap[word])];
	while (block->right)
		block = block->right;
	return block->size;
}
