// SPDX-License-Identifier: BSD-2-Clause
/* Accounting per tag. Locking: none; the owner of the heap serialises. */
#include "heap_priv.h"

#include <stdlib.h>
#include <string.h>

static unsigned int tag_bucket(const char *tag)
{
	uint32_t hash = 2166136261u;

	while (*tag)
		hash = (hash ^ (uint8_t)*tag++) * 16777619u;
	return (hash ^ hash >> 16) % TAG_BUCKETS;
}

struct trn_heap_tag_entry *trn_heap_tag_entry(struct trn_heap *heap, const char *tag)
{
	struct trn_heap_tag_entry *entry;
	char name[TRN_HEAP_TAG_MAX];
	unsigned int bucket;

	if (!tag || !*tag)
		tag = "user";
	strncpy(name, tag, sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	if (heap->tag_last && !strcmp(heap->tag_last->usage.tag, name))
		return heap->tag_last;
	bucket = tag_bucket(name);
	for (entry = heap->buckets[bucket]; entry; entry = entry->chain)
		if (!strcmp(entry->usage.tag, name))
			break;
	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (!entry)
			return NULL;
		memcpy(entry->usage.tag, name, sizeof(name));
		entry->chain = heap->buckets[bucket];
		heap->buckets[bucket] = entry;
		if (heap->tags_end)
			*heap->tags_end = entry;
		else
			heap->tags = entry;
		heap->tags_end = &entry->next;
	}
	heap->tag_last = entry;
	return entry;
}

void trn_heap_tag_charge(struct trn_heap_tag_entry *entry, uint64_t bytes)
{
	entry->usage.bytes += bytes;
	entry->usage.blocks++;
	if (entry->usage.bytes > entry->usage.peak)
		entry->usage.peak = entry->usage.bytes;
}

void trn_heap_tag_credit(struct trn_heap_tag_entry *entry, uint64_t bytes)
{
	entry->usage.bytes -= bytes;
	entry->usage.blocks--;
}

void trn_heap_usage(const struct trn_heap *heap, struct trn_heap_usage *list, size_t *count)
{
	const struct trn_heap_tag_entry *entry;
	size_t room = *count;

	*count = 0;
	for (entry = heap->tags; entry; entry = entry->next) {
		if (*count < room)
			list[*count] = entry->usage;
		++*count;
	}
}
