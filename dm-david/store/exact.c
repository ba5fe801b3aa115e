// SPDX-License-Identifier: GPL-2.0
/* Exact data: see exact.h. */
#include "exact.h"

#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "store.h"

/* So many blocks must be free beyond low_water, as other requests take some meanwhile. */
#define SPARE_BLOCKS	1024

struct run {
	u64 block;
	u64 dest;
	u64 blocks;
};

#define PAGE_RUNS	((PAGE_SIZE - sizeof(struct list_head) - 2 * sizeof(u32)) / \
			 sizeof(struct run))

struct run_page {
	struct list_head list;
	u32 first, end;			/* of the runs in use */
	struct run run[PAGE_RUNS];
};

/* All under store->lock. */
struct exact {
	struct exact_maps maps;
	u64 budget;			/* blocks */
	u64 held;			/* bits in map */
	u64 runs;			/* in the queue, the oldest first */
	u64 pages;
	struct list_head queue;		/* struct run_page */
	struct run_page *spare;
};

static void squash_oldest(struct work_struct *work);

static int maps_alloc(struct exact_maps *maps, u64 blocks)
{
	maps->data = kvcalloc(BITS_TO_LONGS(blocks), sizeof(long), GFP_KERNEL);
	maps->again = kvcalloc(BITS_TO_LONGS(blocks), sizeof(long), GFP_KERNEL);
	return maps->data && maps->again ? 0 : -ENOMEM;
}

int exact_create(struct store *store, struct exact_work *work, unsigned int megabytes)
{
	struct exact *exact;
	unsigned long flags;
	u64 blocks;

	INIT_WORK(&work->work, squash_oldest);
	work->store = store;
	while (megabytes && !READ_ONCE(store->exact)) {
		exact = kzalloc(sizeof(*exact), GFP_KERNEL);
		if (!exact)
			return -ENOMEM;
		INIT_LIST_HEAD(&exact->queue);
		blocks = READ_ONCE(store->bitmap.size);
		if (maps_alloc(&exact->maps, blocks)) {
			exact_destroy(exact);
			return -ENOMEM;
		}
		/* Another table may be loaded now, and another one make the store grow. */
		spin_lock_irqsave(&store->lock, flags);
		if (!store->exact && blocks == store->bitmap.size)
			swap(store->exact, exact);
		spin_unlock_irqrestore(&store->lock, flags);
		exact_destroy(exact);
	}
	return 0;
}

int exact_maps_grow(const struct store *store, u64 blocks, struct exact_maps *maps)
{
	const struct exact_maps *old = &store->exact->maps;
	size_t bytes = BITS_TO_LONGS(store->bitmap.size) * sizeof(long);

	if (maps_alloc(maps, blocks))
		return -ENOMEM;
	memcpy(maps->data, old->data, bytes);
	memcpy(maps->again, old->again, bytes);
	return 0;
}

void exact_maps_swap(struct store *store, struct exact_maps *maps)
{
	swap(store->exact->maps, *maps);
}

void exact_maps_free(struct exact_maps *maps)
{
	kvfree(maps->again);
	kvfree(maps->data);
}

void exact_destroy(struct exact *exact)
{
	struct run_page *page, *next;

	if (!exact)
		return;
	list_for_each_entry_safe(page, next, &exact->queue, list)
		kfree(page);
	kfree(exact->spare);
	exact_maps_free(&exact->maps);
	kfree(exact);
}

bool exact_resume(struct store *store, unsigned int megabytes)
{
	unsigned long flags;

	if (!store->exact)
		return false;
	spin_lock_irqsave(&store->lock, flags);
	store->exact->budget = ((u64)megabytes << 20) / store->block_size;
	spin_unlock_irqrestore(&store->lock, flags);
	return true;
}

/* Have a page ready for push_run(), if there is memory. */
static void refill_spare(struct store *store, gfp_t gfp)
{
	struct exact *exact = store->exact;
	struct run_page *page;
	unsigned long flags;

	BUILD_BUG_ON(sizeof(*page) > PAGE_SIZE);
	if (likely(READ_ONCE(exact->spare)))
		return;
	page = kmalloc(sizeof(*page), gfp);
	spin_lock_irqsave(&store->lock, flags);
	if (!exact->spare)
		swap(exact->spare, page);
	spin_unlock_irqrestore(&store->lock, flags);
	kfree(page);
}

bool exact_wants(struct store *store, u64 blocks, gfp_t gfp)
{
	struct exact *exact = store->exact;
	unsigned long flags;
	bool wants;

	refill_spare(store, gfp);
	spin_lock_irqsave(&store->lock, flags);
	/* The worker may be behind by an eighth. */
	wants = exact->spare && exact->budget &&
		exact->held + blocks <= exact->budget + exact->budget / 8 &&
		exact->runs <= exact->budget + exact->budget / 8 &&
		store_blocks(store) - store_used(store) - wal_pending_blocks(store) >
			store->low_water + SPARE_BLOCKS + blocks;
	spin_unlock_irqrestore(&store->lock, flags);
	return wants;
}

/* There is a page for it. */
static bool push_run(struct exact *exact, const struct run *run)
{
	struct run_page *page = NULL;

	if (!list_empty(&exact->queue))
		page = list_last_entry(&exact->queue, struct run_page, list);
	if (!page || page->end == PAGE_RUNS) {
		page = exact->spare;
		if (!page)
			return false;
		exact->spare = NULL;
		page->first = 0;
		page->end = 0;
		list_add_tail(&page->list, &exact->queue);
		exact->pages++;
	}
	page->run[page->end++] = *run;
	exact->runs++;
	return true;
}

static bool pop_run(struct exact *exact, struct run *run)
{
	struct run_page *page;

	if (list_empty(&exact->queue))
		return false;
	page = list_first_entry(&exact->queue, struct run_page, list);
	*run = page->run[page->first++];
	exact->runs--;
	if (page->first == page->end) {
		list_del(&page->list);
		exact->pages--;
		kfree(exact->spare);
		exact->spare = page;
	}
	return true;
}

bool exact_taken(struct store *store, u64 block, u64 dest, u64 blocks)
{
	struct exact *exact = store->exact;
	struct run run = { .block = block, .dest = dest, .blocks = blocks };
	u64 i, new = 0;

	lockdep_assert_held(&store->lock);
	for (i = dest; i < dest + blocks; i++) {
		if (__test_and_set_bit(i, exact->maps.data))
			__set_bit(i, exact->maps.again);
		else
			new++;
	}
	exact->held += new;
	/* Another request took the page: these blocks stay stored permanently. */
	if (new && !push_run(exact, &run))
		exact_cleared(store, dest, blocks);
	return exact->held > exact->budget || exact->runs > exact->budget;
}

/*
 * Clear @n bits from @at on, and return how many were set: a word at a time, since a discard frees
 * a million blocks under one hold of a lock. (bitmap_clear() takes numbers of 32 bits.)
 */
static u64 clear_bits(unsigned long *map, u64 at, u64 n)
{
	unsigned int first = at % BITS_PER_LONG;
	unsigned long *word = map + at / BITS_PER_LONG;
	u64 cleared = 0;

	for (; n; word++, first = 0) {
		unsigned int bits = min_t(u64, n, BITS_PER_LONG - first);
		unsigned long mask = GENMASK(first + bits - 1, first);

		cleared += hweight_long(*word & mask);
		*word &= ~mask;
		n -= bits;
	}
	return cleared;
}

void exact_cleared(struct store *store, u64 dest, u64 blocks)
{
	struct exact *exact = store->exact;

	lockdep_assert_held(&store->lock);
	exact->held -= clear_bits(exact->maps.data, dest, blocks);
	clear_bits(exact->maps.again, dest, blocks);
}

void exact_clear(struct store *store, u64 dest, u64 blocks)
{
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	exact_cleared(store, dest, blocks);
	spin_unlock_irqrestore(&store->lock, flags);
}

/* Squashing again */

enum fate {
	FATE_GONE,		/* not ours any more */
	FATE_LATER,		/* written again, or a request is at it */
	FATE_SQUASH,
};

/* store->lock is held. */
static enum fate fate_of(struct store *store, u64 block, u64 dest)
{
	struct exact *exact = store->exact;
	struct rt_range r;

	lockdep_assert_held(&store->lock);
	if (!test_bit(dest, exact->maps.data))
		return FATE_GONE;
	if (range_busy(&store->locks, block, block))
		return FATE_LATER;
	rt_lookup(&store->table, block, &r);
	if (r.kind != RT_STORED || r.value != dest)
		return FATE_GONE;
	return test_bit(dest, exact->maps.again) ? FATE_LATER : FATE_SQUASH;
}

/* Squash, queue again or drop the first blocks of @run, as many as are alike. False: no memory. */
static bool squash_some(struct store *store, struct run *run)
{
	struct rt_range r = { .start = run->block, .kind = RT_SQUASHED };
	struct run later = *run;
	unsigned long flags;
	enum fate fate;

	refill_spare(store, GFP_NOIO);
	spin_lock_irqsave(&store->lock, flags);
	if (!store_reserve(store, RT_SQUASHED, GFP_NOIO, &flags)) {
		spin_unlock_irqrestore(&store->lock, flags);
		return false;
	}
	fate = fate_of(store, run->block, run->dest);
	for (r.len = 1; r.len < min_t(u64, run->blocks, 64); r.len++)
		if (fate_of(store, run->block + r.len, run->dest + r.len) != fate)
			break;
	if (fate == FATE_SQUASH) {
		/* What it frees leaves the map. */
		store_commit(store, &r);
	} else {
		rt_unreserve(&store->table);
		later.blocks = r.len;
		if (fate == FATE_LATER) {
			clear_bits(store->exact->maps.again, later.dest, later.blocks);
			if (!push_run(store->exact, &later))
				exact_cleared(store, later.dest, later.blocks);
		}
	}
	spin_unlock_irqrestore(&store->lock, flags);
	run->block += r.len;
	run->dest += r.len;
	run->blocks -= r.len;
	return true;
}

static bool next_run(struct store *store, struct run *run)
{
	struct exact *exact = store->exact;
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&store->lock, flags);
	more = (exact->held > exact->budget || exact->runs > exact->budget) && pop_run(exact, run);
	spin_unlock_irqrestore(&store->lock, flags);
	return more;
}

static void squash_oldest(struct work_struct *work)
{
	struct store *store = container_of(work, struct exact_work, work)->store;
	u64 turns = READ_ONCE(store->exact->runs) * 2 + 64;
	struct run run;

	/* A table that may be written to goes on. */
	if (READ_ONCE(store->no_updates))
		return;
	/* All runs may be busy with requests. The next request queues the work again. */
	while (turns-- && next_run(store, &run)) {
		while (run.blocks && squash_some(store, &run))
			cond_resched();
		if (run.blocks)
			exact_clear(store, run.dest, run.blocks);
	}
}

void exact_stats(const struct store *store, struct david_stats *st)
{
	const struct exact *exact = store->exact;

	lockdep_assert_held(&store->lock);
	if (!exact)
		return;
	st->exact_blocks = exact->held;
	st->exact_limit = exact->budget;
	st->mem[DAVID_MEM_TARGET] += sizeof(*exact) +
				     2 * BITS_TO_LONGS(store->bitmap.size) * sizeof(long) +
				     (exact->pages + !!exact->spare) * PAGE_SIZE;
}
