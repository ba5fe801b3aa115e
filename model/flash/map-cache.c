// SPDX-License-Identifier: GPL-2.0
/* The part of an SSD's map that is in memory: see map-cache.h. */
#include "../../dm-david/portable/hash.h"
#include "../../dm-david/portable/portable-alloc.h"
#include "map-cache.h"
#include "../planted.h"

#define NONE		(BIT(30) - 1)

struct map_cache {
	u32 nr_pages;
	u32 nr_used;		/* places that have a page */
	u32 hand;
	u32 nr_heads;		/* a power of two */
	u32 *heads;		/* by hash: the first page; or NONE */
	struct map_page pages[];
};

static u32 *head_of(const struct map_cache *cache, u32 number)
{
	return &cache->heads[hash_slot(number, cache->nr_heads)];
}

struct map_page *map_cache_find(struct map_cache *cache, u32 number)
{
	u32 i;

	for (i = *head_of(cache, number); i != NONE; i = cache->pages[i].next) {
		if (cache->pages[i].number != number)
			continue;
		cache->pages[i].used = !MODEL_PLANTED(clock);
		return &cache->pages[i];
	}
	return NULL;
}

static void unlink_page(struct map_cache *cache, u32 place)
{
	u32 *head = head_of(cache, cache->pages[place].number), i = *head;

	if (i == place) {
		*head = cache->pages[place].next;
		return;
	}
	while (cache->pages[i].next != place)
		i = cache->pages[i].next;
	cache->pages[i].next = cache->pages[place].next;
}

/* The place that a new page takes. It is in no list. */
static u32 make_place(struct map_cache *cache)
{
	u32 place;

	if (cache->nr_used < cache->nr_pages)
		return cache->nr_used++;
	do {
		place = cache->hand;
		cache->hand = place + 1 < cache->nr_pages ? place + 1 : 0;
		if (!cache->pages[place].used)
			break;
		cache->pages[place].used = 0;
	} while (true);
	unlink_page(cache, place);
	return place;
}

struct map_page *map_cache_add(struct map_cache *cache, u32 number, bool *dirty)
{
	u32 place = make_place(cache), *head = head_of(cache, number);
	struct map_page *page = &cache->pages[place];

	*dirty = page->dirty;
	*page = (struct map_page) { .number = number, .next = *head };
	*head = place;
	return page;
}

struct map_cache *map_cache_create(u32 pages, gfp_t gfp)
{
	struct map_cache *cache = kvzalloc(sizeof(*cache) + pages * sizeof(*cache->pages), gfp);
	u32 i;

	if (!cache)
		return NULL;
	cache->nr_pages = pages;
	cache->nr_heads = pages > 1 ? 1U << fls64(pages - 1) : 2;
	cache->heads = kvcalloc(cache->nr_heads, sizeof(*cache->heads), gfp);
	if (!cache->heads) {
		map_cache_destroy(cache);
		return NULL;
	}
	for (i = 0; i < cache->nr_heads; i++)
		cache->heads[i] = NONE;
	return cache;
}

void map_cache_destroy(struct map_cache *cache)
{
	if (!cache)
		return;
	kvfree(cache->heads);
	kvfree(cache);
}

size_t map_cache_bytes(const struct map_cache *cache)
{
	return sizeof(*cache) + cache->nr_pages * sizeof(*cache->pages) +
	       cache->nr_heads * sizeof(*cache->heads);
}
