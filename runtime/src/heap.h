/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suballocator of device memory: hands out blocks of extents it was given; knows no device.
 *
 * A heap has pools (one per HBM stack, one for host memory). The owner adds extents to a pool;
 * blocks come from one extent, so a block is always contiguous. Best fit by size, lowest address
 * among equals.
 */
#ifndef TRN_HEAP_H
#define TRN_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRN_HEAP_GRANULE   64u /* sizes and offsets are multiples */
#define TRN_HEAP_POOLS_MAX 8u
#define TRN_HEAP_TAG_MAX   32u

struct trn_heap;
struct trn_heap_tag_entry;

/** struct trn_heap_extent - contiguous memory a pool hands out; the first three members are the
 * owner's to read. */
struct trn_heap_extent {
	uint64_t size;
	uint32_t pool;
	void *owner;		      /* given to trn_heap_extent_add() */
	uint64_t used;		      /* bytes in live blocks */
	uint64_t touched;	      /* everything at or above this offset was never handed out */
	uint64_t ordinal;	      /* order of adding: the address order between extents */
	struct trn_heap_block *first; /* blocks in address order */
	struct trn_heap_extent *next; /* of the pool */
	struct trn_heap_extent **link;
};

/** struct trn_heap_block - a piece of an extent, live or free. */
struct trn_heap_block {
	uint64_t offset; /* in the extent */
	uint64_t size;
	struct trn_heap_extent *extent;
	struct trn_heap_block *prev; /* address order */
	struct trn_heap_block *next;
	union {
		struct {
			struct trn_heap_block *left; /* free: tree of its bin */
			struct trn_heap_block *right;
		};
		struct {
			struct trn_heap_tag_entry *tag; /* live */
			uint64_t dirty; /* live: leading bytes that were handed out before */
		};
	};
	uint32_t priority;
	bool free;
};

/** struct trn_heap_usage - accounting of a tag. */
struct trn_heap_usage {
	char tag[TRN_HEAP_TAG_MAX];
	uint64_t bytes;
	uint64_t blocks;
	uint64_t peak;
};

/** trn_heap_create() - @pools 1..TRN_HEAP_POOLS_MAX; NULL when host memory is short. Not
 * thread-safe: the owner serialises. */
struct trn_heap *trn_heap_create(unsigned int pools);
/** trn_heap_destroy() - frees all bookkeeping, also of live blocks. NULL is allowed. */
void trn_heap_destroy(struct trn_heap *heap);
/** trn_heap_extent_add() - @size is rounded down to the granule. NULL when host memory is short or
 * @size too small. */
struct trn_heap_extent *trn_heap_extent_add(struct trn_heap *heap, unsigned int pool, uint64_t size,
					    void *owner);
/** trn_heap_extent_remove() - only an extent without live blocks can go. Return: whether it did;
 * the extent is freed then. */
bool trn_heap_extent_remove(struct trn_heap *heap, struct trn_heap_extent *extent);
/** trn_heap_extents() - head of a pool's list, by ->next. */
struct trn_heap_extent *trn_heap_extents(const struct trn_heap *heap, unsigned int pool);

/**
 * trn_heap_alloc() - @size > 0 bytes, rounded up to the granule, at a multiple of @alignment (power
 * of two; 0: granule) of the extent. Return: the block, or NULL when no free piece fits (*@error is
 * -ENOSPC) or bookkeeping memory is short (-ENOMEM).
 */
struct trn_heap_block *trn_heap_alloc(struct trn_heap *heap, unsigned int pool, uint64_t size,
				      uint64_t alignment, const char *tag, int *error);
/** trn_heap_free() - joins free neighbours. Return: the extent when it has no live block any more,
 * else NULL. */
struct trn_heap_extent *trn_heap_free(struct trn_heap *heap, struct trn_heap_block *block);

/** trn_heap_free_bytes(), trn_heap_largest_free() - of one pool; largest: size of the largest free
 * piece. */
uint64_t trn_heap_free_bytes(const struct trn_heap *heap, unsigned int pool);
uint64_t trn_heap_largest_free(const struct trn_heap *heap, unsigned int pool);
/** trn_heap_usage() - tags in order of first use. @count in: capacity, out: number present. */
void trn_heap_usage(const struct trn_heap *heap, struct trn_heap_usage *list, size_t *count);
/** trn_heap_check() - verifies every invariant; for tests. Return: NULL, or what is wrong. */
const char *trn_heap_check(const struct trn_heap *heap);

#endif /* TRN_HEAP_H */
