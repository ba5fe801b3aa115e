/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drive's buffer: segments, each with one run of sectors. Sectors are added at the end of the
 * run; if the segment is full, the first ones are dropped. Dirty sectors are at the end.
 *
 * Two indexes make what every request asks cheap: the order of use is a list, and regions of the
 * disk are counted, by a hash, that segments lie in: most requests are in none of them.
 */
#ifndef DAVID_MODEL_CACHE_H
#define DAVID_MODEL_CACHE_H

#include "../profile/profile.h"

struct segment {
	u64 start, end;		/* empty if the same */
	u64 dirty;		/* sectors at the end that are not on the media */
	u64 dirty_since;	/* time when the first of these arrived */
	u64 used;		/* cache->clock at the last use */
	u64 dropped;		/* sectors before this one cannot be hit any more */
	u64 asked;		/* the host has read all sectors before this one */
	u64 fresh;		/* at most so many came from the media and did not go to the host */
	u32 returns;		/* how often a read continued it after another command */
	bool write;		/* taken by a write */
	u32 older, newer;	/* by use, in a ring; of the cache's segments */
};

#define CACHE_BUCKETS	512

struct cache {
	const struct profile *profile;
	u64 clock;		/* for struct segment's used */
	u32 nr;
	u32 nr_writes;		/* segments that writes may take */
	u32 oldest;		/* by use */
	u32 filled;		/* segments that hold anything */
	u32 region_shift;	/* of a region's sectors, which are several segments */
	u16 regions[CACHE_BUCKETS];	/* how many segments lie in them, or end where they begin */
	struct segment segments[];
};

struct cache *cache_create(const struct profile *profile, gfp_t gfp);
void cache_destroy(struct cache *cache);
size_t cache_bytes(const struct cache *cache);

/* May a segment have @sector, or end there? */
static inline bool cache_is_near(const struct cache *cache, u64 sector)
{
	return cache->regions[(sector >> cache->region_shift) % CACHE_BUCKETS];
}

/* The segment in which @sector is a hit or, with @or_ends, which ends there. NULL: none. */
struct segment *cache_find(struct cache *cache, u64 sector, bool or_ends);

/* The segment with written data that ends at @sector; NULL: none. */
struct segment *cache_find_written(struct cache *cache, u64 sector);

/* Are these sectors dirty, in one segment other than @except? Then a write replaces them there. */
bool cache_overwrite(struct cache *cache, u64 sector, u64 sectors, const struct segment *except);

/* Could a write take a segment without a destage first? */
bool cache_has_room(const struct cache *cache);

/* @segment holds what is from @start to @end now. */
void cache_place(struct cache *cache, struct segment *segment, u64 start, u64 end);

/* Mark @segment as the last used. */
void cache_use(struct cache *cache, struct segment *segment);

/* Empty the least recently used segment that is not dirty, and return it; NULL: none. */
struct segment *cache_take(struct cache *cache, bool write, const struct segment *keep);

/* Add @sectors at the end. Clean sectors at the front are dropped if there is no room. */
void cache_append(struct cache *cache, struct segment *segment, u64 sectors);

/*
 * Drop the clean sectors of each segment, except @keep, that has any of the @sectors from @sector
 * on. All of them, as drives do not cut a segment in two.
 */
void cache_forget(struct cache *cache, u64 sector, u64 sectors, const struct segment *keep);

#endif
