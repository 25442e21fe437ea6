// SPDX-License-Identifier: BSD-2-Clause
/* Invariants of the heap, verified; for tests. */
#include "heap_priv.h"

struct tree_sum {
	const struct trn_heap_block *last;
	uint64_t blocks;
	uint64_t bytes;
	const char *wrong;
};

static void tree_check(const struct trn_heap_block *node, struct tree_sum *sum)
{
	if (!node || sum->wrong)
		return;
	tree_check(node->left, sum);
	if (!node->free)
		sum->wrong = "a live block is in a tree of free ones";
	else if ((node->left && node->left->priority > node->priority) ||
		 (node->right && node->right->priority > node->priority))
		sum->wrong = "treap order";
	else if (sum->last && (sum->last->size > node->size || (sum->last->size == node->size &&
								sum->last->extent == node->extent &&
								sum->last->offset >= node->offset)))
		sum->wrong = "search order";
	sum->last = node;
	sum->blocks++;
	sum->bytes += node->size;
	tree_check(node->right, sum);
}

static const char *extent_check(const struct trn_heap_extent *extent, struct tree_sum *sum)
{
	const struct trn_heap_block *block, *prev = NULL;
	uint64_t at = 0, used = 0;

	for (block = extent->first; block; prev = block, block = block->next) {
		if (block->prev != prev || block->extent != extent)
			return "links of an extent";
		if (block->offset != at || !block->size || block->size % TRN_HEAP_GRANULE)
			return "blocks do not tile their extent";
		if (block->free && prev && prev->free)
			return "free neighbours are not joined";
		if (block->free) {
			sum->blocks++;
			sum->bytes += block->size;
		} else {
			used += block->size;
			if (block->offset + block->size > extent->touched)
				return "a live block lies above the mark of touched memory";
		}
		at += block->size;
	}
	if (at != extent->size)
		return "blocks do not fill their extent";
	return used == extent->used ? NULL : "used bytes of an extent";
}

const char *trn_heap_check(const struct trn_heap *heap)
{
	unsigned int i, bin;

	for (i = 0; i < heap->pool_count; i++) {
		const struct trn_heap_pool *pool = &heap->pools[i];
		const struct trn_heap_extent *extent;
		struct tree_sum tree = { 0 }, list = { 0 };
		const char *wrong;

		for (bin = 0; bin < BIN_COUNT; bin++) {
			bool bit = pool->bitmap[bin / 64] >> (bin % 64) & 1;

			if (bit != !!pool->bins[bin] || (bit && !(pool->summary >> (bin / 64) & 1)))
				return "bitmap of the bins";
			tree_check(pool->bins[bin], &tree);
		}
		for (extent = pool->extents; extent; extent = extent->next) {
			wrong = extent_check(extent, &list);
			if (wrong)
				return wrong;
		}
		if (tree.wrong)
			return tree.wrong;
		if (tree.blocks != list.blocks || tree.bytes != list.bytes ||
		    tree.bytes != pool->free_bytes)
			return "free blocks of trees and extents differ";
	}
	return NULL;
}
