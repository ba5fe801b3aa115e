/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drive's buffer: segments, each of which holds one run of sectors. As more
 * are added at its end than it has room for, the first ones scroll out. Data that
 * is to be written yet is at a segment's end.
 */
#ifndef DAVID_MODEL_CACHE_H
#define DAVID_MODEL_CACHE_H

#include "profile.h"

struct segment {
	u64 start, end;		/* empty if the same */
	u64 dirty;		/* sectors at the end that are not on the media */
	u64 dirty_since;	/* time when the first of these arrived */
	u64 used;		/* the larger the later */
	u64 dropped;		/* sectors before this one cannot be hit any more */
	u64 asked;		/* the host has had all before this one */
	u32 returns;		/* how often a read went on with it after something else */
	bool write;		/* was last given to a write */
};

struct cache {
	const struct profile *profile;
	u64 clock;		/* for struct segment's used */
	u32 nr;
	u32 nr_writes;		/* segments that writes may have */
	struct segment segments[];
};

struct cache *cache_create(const struct profile *profile, gfp_t gfp);
void cache_destroy(struct cache *cache);
size_t cache_bytes(const struct cache *cache);

/* The segment in which @sector can be hit, or ends right before it if @or_ends; NULL if none. */
struct segment *cache_find(struct cache *cache, u64 sector, bool or_ends);

/* The segment with written data that ends right before @sector; NULL if none. */
struct segment *cache_find_written(struct cache *cache, u64 sector);

/* Is all of this in a segment, but for @except, and dirty, so that new data just take its place? */
bool cache_overwrite(struct cache *cache, u64 sector, u64 sectors, const struct segment *except);

/* Is there a segment that a write could have without one's being written out? */
bool cache_has_room(const struct cache *cache);

/* Mark as the last used. */
void cache_use(struct cache *cache, struct segment *segment);

/* An empty segment, at the cost of the least recently used that is not dirty; or NULL. */
struct segment *cache_take(struct cache *cache, bool write, const struct segment *keep);

/* @sectors more at the end, at the cost of what is clean at the front. */
void cache_append(struct cache *cache, struct segment *segment, u64 sectors);

/*
 * Forget what is clean in the segments, but for @keep, that hold any of [@sector, @sector +
 * @sectors): drives do not cut segments in two.
 */
void cache_forget(struct cache *cache, u64 sector, u64 sectors, const struct segment *keep);

#endif
