// SPDX-License-Identifier: GPL-2.0
/* Which pages are in an SSD's write buffer: see buffered.h. */
#include "../../dm-david/portable/hash.h"
#include "../../dm-david/portable/portable-alloc.h"
#include "buffered.h"
#include "../planted.h"

#define PAGE_SECTORS	8

/* Places at most: 20 bytes each */
#define MOST		BIT(15)

struct entry {
	u64 page;
	u32 end;		/* in the stream of sectors, modulo 2^32 */
	u32 older;		/* the number of the one before it with the same hash */
};

struct buffered {
	u32 size;		/* a power of two */
	u32 added;		/* entries, ever, modulo 2^32: the number of the next one */
	u32 *newest;		/* by hash: the number of an entry, plus 1 */
	struct entry *entries;	/* by number, modulo size */
};

static u32 *newest_of(const struct buffered *buffered, u64 page)
{
	return &buffered->newest[hash_slot(page, buffered->size)];
}

void buffered_add(struct buffered *buffered, u64 first, u32 nr, u64 entered)
{
	u32 end = entered - nr * PAGE_SECTORS;
	u64 page;

	for (page = first; page < first + nr; page++) {
		u32 *newest = newest_of(buffered, page), number = buffered->added++;

		buffered->entries[number & (buffered->size - 1)] = (struct entry) {
			.page = page, .end = end += PAGE_SECTORS, .older = *newest,
		};
		*newest = number + 1;
	}
}

bool buffered_has(const struct buffered *buffered, u64 page, u64 programmed)
{
	u32 next = *newest_of(buffered, page), age = 0;

	/* Numbers grow less along a list. One that does not was left from long ago. */
	while (buffered->added - next < buffered->size && buffered->added - next >= age) {
		const struct entry *entry = &buffered->entries[(next - 1) & (buffered->size - 1)];

		if ((s32)(entry->end - (u32)programmed) <= 0 && !MODEL_PLANTED(buffered))
			return false;
		if (entry->page == page)
			return true;
		age = buffered->added - next + 1;
		next = entry->older;
	}
	return false;
}

struct buffered *buffered_create(u64 sectors, gfp_t gfp)
{
	struct buffered *buffered = kvzalloc(sizeof(*buffered), gfp);
	u64 pages = min_t(u64, sectors / PAGE_SECTORS, MOST);

	if (!buffered)
		return NULL;
	buffered->size = pages > 1 ? 1U << fls64(pages - 1) : 2;
	buffered->added = buffered->size;
	buffered->newest = kvcalloc(buffered->size, sizeof(*buffered->newest), gfp);
	buffered->entries = kvcalloc(buffered->size, sizeof(*buffered->entries), gfp);
	if (!buffered->newest || !buffered->entries) {
		buffered_destroy(buffered);
		return NULL;
	}
	return buffered;
}

void buffered_destroy(struct buffered *buffered)
{
	if (!buffered)
		return;
	kvfree(buffered->newest);
	kvfree(buffered->entries);
	kvfree(buffered);
}

size_t buffered_bytes(const struct buffered *buffered)
{
	return sizeof(*buffered) +
	       buffered->size * (sizeof(*buffered->newest) + sizeof(*buffered->entries));
}
