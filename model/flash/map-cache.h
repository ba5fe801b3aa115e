/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of an SSD's map that is in memory: a cache of its pages, by their numbers. A page that
 * is not there takes the place of one that was not used since the hand came by last (CLOCK).
 *
 * Costs some twenty instructions, whatever its size: pages are found by a hash. Without locks.
 */
#ifndef DAVID_MODEL_MAP_CACHE_H
#define DAVID_MODEL_MAP_CACHE_H

#include "../../dm-david/portable/portable.h"

struct map_page {
	u64 ready;		/* when it has been read; the caller's */
	u32 number;
	u32 next : 30;		/* of those with the same hash */
	u32 used : 1;		/* since the hand came by */
	u32 dirty : 1;		/* the caller's */
};

struct map_cache;

/* For @pages of them, 1 to 65536. Returns NULL without memory. */
struct map_cache *map_cache_create(u32 pages, gfp_t gfp);
void map_cache_destroy(struct map_cache *cache);
size_t map_cache_bytes(const struct map_cache *cache);

/* The page @number, which is used; NULL: it is not there. Valid until the next map_cache_add(). */
struct map_page *map_cache_find(struct map_cache *cache, u32 number);

/* Put it there. It was not. *@dirty: the page whose place it takes was. */
struct map_page *map_cache_add(struct map_cache *cache, u32 number, bool *dirty);

#endif
