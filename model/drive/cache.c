// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "cache.h"

struct cache *cache_create(const struct profile *profile, gfp_t gfp)
{
	struct cache *cache;
	u32 i;

	cache = kvzalloc(sizeof(*cache) + profile->segments * sizeof(struct segment), gfp);
	if (!cache)
		return NULL;
	cache->profile = profile;
	cache->nr = profile->segments;
	cache->nr_writes = min(profile->segments, max(profile->write_segments, 1U));
	/* Most segments lie in one region then. */
	while (1ULL << cache->region_shift < 8 * (u64)profile->segment_sectors)
		cache->region_shift++;
	for (i = 0; i < cache->nr; i++) {
		cache->segments[i].newer = i + 1 < cache->nr ? i + 1 : 0;
		cache->segments[i].older = i ? i - 1 : cache->nr - 1;
	}
	return cache;
}

void cache_destroy(struct cache *cache)
{
	kvfree(cache);
}

size_t cache_bytes(const struct cache *cache)
{
	return sizeof(*cache) + cache->nr * sizeof(struct segment);
}

static u16 *region_of(struct cache *cache, u64 region)
{
	return &cache->regions[region % CACHE_BUCKETS];
}

static void count_regions(struct cache *cache, const struct segment *segment, int change)
{
	u64 region = segment->start >> cache->region_shift;
	u64 last = segment->end >> cache->region_shift;

	if (segment->start == segment->end)
		return;
	cache->filled += change;
	*region_of(cache, region) += change;
	if (region != last)
		last = min(last, region + CACHE_BUCKETS - 1);
	while (region != last)
		*region_of(cache, ++region) += change;
}

void cache_place(struct cache *cache, struct segment *segment, u64 start, u64 end)
{
	count_regions(cache, segment, -1);
	segment->start = start;
	segment->end = end;
	count_regions(cache, segment, 1);
}

/* May a segment hold, or end at, any of [@sector, @end]? */
static bool near_any(struct cache *cache, u64 sector, u64 end)
{
	u64 region = sector >> cache->region_shift, last = end >> cache->region_shift;

	if (*region_of(cache, region))
		return true;
	if (region != last)
		last = min(last, region + CACHE_BUCKETS - 1);
	while (region != last)
		if (*region_of(cache, ++region))
			return true;
	return false;
}

struct segment *cache_find(struct cache *cache, u64 sector, bool or_ends)
{
	struct segment *segment, *ends = NULL;

	if (!cache_is_near(cache, sector))
		return NULL;
	for (segment = cache->segments; segment < cache->segments + cache->nr; segment++) {
		if (sector > segment->end || sector < segment->start ||
		    segment->start == segment->end)
			continue;
		if (sector >= segment->dropped && sector < segment->end)
			return segment;
		if (or_ends && sector == segment->end)
			ends = segment;
	}
	return ends;
}

struct segment *cache_find_written(struct cache *cache, u64 sector)
{
	struct segment *segment;

	for (segment = cache->segments; segment < cache->segments + cache->nr; segment++)
		if (segment->write && segment->start != segment->end && segment->end == sector)
			return segment;
	return NULL;
}

bool cache_overwrite(struct cache *cache, u64 sector, u64 sectors, const struct segment *except)
{
	struct segment *segment;

	for (segment = cache->segments; segment < cache->segments + cache->nr; segment++) {
		if (segment == except || sector < segment->end - segment->dirty ||
		    sector + sectors > segment->end)
			continue;
		cache_use(cache, segment);
		return true;
	}
	return false;
}

bool cache_has_room(const struct cache *cache)
{
	u32 dirty = 0, i;

	for (i = 0; i < cache->nr; i++)
		dirty += cache->segments[i].dirty != 0;
	return dirty < cache->nr_writes;
}

void cache_use(struct cache *cache, struct segment *segment)
{
	u32 newest = cache->segments[cache->oldest].older, i;

	if (segment < cache->segments || segment >= cache->segments + cache->nr)
		return;		/* a run of the write buffer */
	segment->used = ++cache->clock;
	i = segment - cache->segments;
	if (i == newest)
		return;
	if (i == cache->oldest) {
		cache->oldest = segment->newer;		/* the ring turns */
		return;
	}
	cache->segments[segment->older].newer = segment->newer;
	cache->segments[segment->newer].older = segment->older;
	segment->older = newest;
	segment->newer = cache->oldest;
	cache->segments[newest].newer = i;
	cache->segments[cache->oldest].older = i;
}

static void segment_give(struct cache *cache, struct segment *segment, bool write)
{
	cache_place(cache, segment, 0, 0);
	segment->dropped = 0;
	segment->asked = 0;
	segment->fresh = 0;
	segment->returns = 0;
	segment->write = write;
	cache_use(cache, segment);
}

/* Where none is set aside for writes, as on most drives. */
static struct segment *take_for_read(struct cache *cache, const struct segment *keep)
{
	struct segment *segment = &cache->segments[cache->oldest];
	u32 i;

	for (i = 0; i < cache->nr; i++, segment = &cache->segments[segment->newer])
		if (!segment->dirty && segment != keep) {
			segment_give(cache, segment, false);
			return segment;
		}
	return NULL;
}

/* With a segment set aside for writes it is the first, and reads never get it. */
struct segment *cache_take(struct cache *cache, bool write, const struct segment *keep)
{
	struct segment *segment, *oldest = NULL, *oldest_write = NULL;
	u32 reserved = cache->profile->separate_write_segment && cache->nr > 1 ?
		       cache->nr_writes : 0;
	u32 writes = 0, i;
	bool written;

	if (!write && !reserved)
		return take_for_read(cache, keep);
	if (reserved == cache->nr)
		reserved--;
	for (i = 0; i < cache->nr; i++) {
		segment = &cache->segments[i];
		written = segment->write && segment->start != segment->end;
		writes += written;
		if (segment->dirty || segment == keep)
			continue;
		if (i < reserved ? !write : write && reserved)
			continue;
		if (!oldest || segment->used < oldest->used)
			oldest = segment;
		if (written && (!oldest_write || segment->used < oldest_write->used))
			oldest_write = segment;
	}
	segment = oldest;
	if (write && !reserved && writes >= cache->nr_writes)
		segment = oldest_write;
	if (segment)
		segment_give(cache, segment, write);
	return segment;
}

void cache_append(struct cache *cache, struct segment *segment, u64 sectors)
{
	u64 room = max_t(u64, cache->profile->segment_sectors, segment->dirty);
	u64 start = segment->start, end = segment->end + sectors;

	if (end - start > room)
		start = end - room;
	if (!(((start ^ segment->start) | (end ^ segment->end)) >> cache->region_shift) &&
	    segment->start != segment->end && start != end) {
		segment->start = start;		/* the same regions */
		segment->end = end;
	} else {
		cache_place(cache, segment, start, end);
	}
}

void cache_forget(struct cache *cache, u64 sector, u64 sectors, const struct segment *keep)
{
	struct segment *segment;
	u64 end = sector + sectors;

	if (!cache->filled || !near_any(cache, sector, end))
		return;
	for (segment = cache->segments; segment < cache->segments + cache->nr; segment++) {
		if (segment == keep || segment->end <= sector || segment->start >= end)
			continue;
		cache_place(cache, segment, segment->end - segment->dirty, segment->end);
	}
}
