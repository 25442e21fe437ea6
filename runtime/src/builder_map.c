// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builder: who last wrote and read which on-chip bytes.
 *
 * One map per memory and quadrant of 32 partitions; operands start on quadrants, so a quadrant is
 * exact for engines and conservative for transfers of single partitions.
 */
#include <stdlib.h>
#include "builder_priv.h"

/* First segment that ends after @start. */
static uint32_t map_find(const struct trn_build_map *map, uint32_t start)
{
	uint32_t low = 0, high = map->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (map->segs[mid].end <= start)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Replaces segments [at, at + removed) by @added copies of nothing (uninitialised room). */
static bool map_splice(struct trn_builder *b, struct trn_build_map *map, uint32_t at,
		       uint32_t removed, uint32_t added)
{
	uint32_t count = map->count - removed + added;

	while (count > map->capacity) {
		if (!trn_build_grow(b, (void **)&map->segs, &map->capacity, map->capacity,
				    sizeof(*map->segs)))
			return false;
	}
	memmove(map->segs + at + added, map->segs + at + removed,
		(map->count - at - removed) * sizeof(*map->segs));
	map->count = count;
	return true;
}

/* Makes @at a segment border. */
static bool map_split(struct trn_builder *b, struct trn_build_map *map, uint32_t at)
{
	uint32_t i = map_find(map, at);

	if (i == map->count || map->segs[i].start >= at)
		return true;
	if (!map_splice(b, map, i, 0, 1))
		return false;
	map->segs[i] = map->segs[i + 1];
	map->segs[i].end = at;
	map->segs[i + 1].start = at;
	return true;
}

static bool ref_is_set(struct trn_build_ref ref)
{
	return ref.index || ref.group;
}

static void segment_collect(struct trn_builder *b, unsigned int engine,
			    const struct trn_build_segment *seg, bool write,
			    struct trn_build_deps *deps)
{
	struct trn_build_ref ref = { 0, 0, 0 };
	unsigned int i;

	if (ref_is_set(seg->writer))
		trn_build_need(b, engine, deps, seg->writer);
	if (!write && !deps->transfer)
		return;
	/*
	 * A transfer that reads needs a free reader slot: wait for the oldest reader when there is
	 * none.
	 */
	if (!write) {
		for (i = 0; i < TRN_BUILD_READERS; i++) {
			if (!seg->reader_group[i] ||
			    trn_build_known(b, engine, seg->reader_group[i]))
				return;
		}
		ref.group = seg->reader_group[0];
		trn_build_need(b, engine, deps, ref);
		return;
	}
	for (i = 0; i < TRN_BUILD_ENGINES; i++) {
		ref.engine = i;
		ref.index = seg->reader[i];
		if (ref.index)
			trn_build_need(b, engine, deps, ref);
	}
	ref.engine = 0;
	ref.index = 0;
	for (i = 0; i < TRN_BUILD_READERS; i++) {
		ref.group = seg->reader_group[i];
		if (ref.group)
			trn_build_need(b, engine, deps, ref);
	}
}

static unsigned int first_map(const struct trn_build_access *a)
{
	return a->mem * 4u + a->partition / TRN_BUILD_QUADRANT;
}

static unsigned int last_map(const struct trn_build_access *a)
{
	return a->mem * 4u + (a->partition + a->partitions - 1u) / TRN_BUILD_QUADRANT;
}

void trn_build_map_collect(struct trn_builder *builder, unsigned int engine,
			   const struct trn_build_access *access, struct trn_build_deps *deps)
{
	unsigned int q;
	uint32_t i;

	for (q = first_map(access); q <= last_map(access); q++) {
		struct trn_build_map *map = &builder->map[q];

		for (i = map_find(map, access->start); i < map->count; i++) {
			if (map->segs[i].start >= access->end)
				break;
			segment_collect(builder, engine, &map->segs[i], access->write, deps);
		}
	}
}

/* A full list cannot happen: segment_collect() made the group wait for an older reader. */
static void segment_read(struct trn_builder *b, struct trn_build_segment *seg,
			 struct trn_build_ref ref)
{
	unsigned int i;

	if (ref.index) {
		seg->reader[ref.engine] = ref.index;
		return;
	}
	for (i = 0; i < TRN_BUILD_READERS; i++) {
		uint32_t g = seg->reader_group[i];
		const struct trn_build_group *group;

		/* A group the new one knows complete is implied by it. */
		if (g) {
			group = &b->groups[g - 1];
			if (g != ref.group &&
			    b->groups[ref.group - 1].clock.lane[group->lane] < group->target)
				continue;
		}
		seg->reader_group[i] = ref.group;
		return;
	}
	trn_build_fail(b, TRN_ERR_INVALID, "more than %u transfers read the same bytes at once",
		       TRN_BUILD_READERS);
}

static void record_write(struct trn_builder *b, struct trn_build_map *map,
			 const struct trn_build_access *a, struct trn_build_ref ref)
{
	uint32_t first, last;

	if (!map_split(b, map, a->start) || !map_split(b, map, a->end))
		return;
	first = map_find(map, a->start);
	for (last = first; last < map->count && map->segs[last].start < a->end; last++)
		;
	if (!map_splice(b, map, first, last - first, 1))
		return;
	memset(&map->segs[first], 0, sizeof(map->segs[first]));
	map->segs[first].start = a->start;
	map->segs[first].end = a->end;
	map->segs[first].writer = ref;
}

static void record_read(struct trn_builder *b, struct trn_build_map *map,
			const struct trn_build_access *a, struct trn_build_ref ref)
{
	uint32_t at = a->start, i;

	if (!map_split(b, map, a->start) || !map_split(b, map, a->end))
		return;
	for (i = map_find(map, at); at < a->end; i++) {
		if (i == map->count || map->segs[i].start > at) {
			uint32_t end = i == map->count ? a->end : map->segs[i].start;

			if (!map_splice(b, map, i, 0, 1))
				return;
			memset(&map->segs[i], 0, sizeof(map->segs[i]));
			map->segs[i].start = at;
			map->segs[i].end = end < a->end ? end : a->end;
		}
		segment_read(b, &map->segs[i], ref);
		at = map->segs[i].end;
	}
}

void trn_build_map_record(struct trn_builder *builder, const struct trn_build_access *access,
			  struct trn_build_ref ref)
{
	unsigned int q;

	for (q = first_map(access); q <= last_map(access) && !builder->status; q++) {
		if (access->write)
			record_write(builder, &builder->map[q], access, ref);
		else
			record_read(builder, &builder->map[q], access, ref);
	}
}
