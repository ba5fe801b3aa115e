// SPDX-License-Identifier: GPL-2.0
/* Packs in a live store: see packs.h. */
#include "packs.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "../base/inject.h"
#include "metapages.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

#define WALK_RANGES	16	/* looked at in one hold of store->lock, on the stack */
#define SWEEP_NUMBERS	((u64)1 << 28)	/* the memory of a sweep: 32 MiB */

struct packs {
	struct mutex lock;	/* guards the following: who reads takes turns */
	void *pack;		/* the one read last, whole */
	u64 number;		/* of that; U64_MAX: none */
	struct squeeze *squeeze;

	struct mutex sweep;	/* one at a time */

	/* Under store->lock: */
	u64 next;		/* number of the next one */
	u64 filling;		/* this one and those behind it are not swept */
	u64 blocks;		/* packed when it was swept last */
};

static u64 first_block(u64 number)
{
	return FORMAT_PACKS + number * PACK_PAGES;
}

/* Behind the last pack that the table has. */
static u64 find_next(const struct rangetable *rt)
{
	u64 at = FORMAT_PACKS, end = FORMAT_PACKS + FORMAT_META_AREA, next = 0;
	struct rt_range r;

	for (; at < end; at = r.start + min(r.len, end - at)) {
		rt_lookup(rt, at, &r);
		if (r.kind == RT_STORED)
			next = div_u64(r.start + min(r.len, end - at) - 1 - FORMAT_PACKS,
				       PACK_PAGES) + 1;
	}
	return next;
}

int packs_create(struct store *store)
{
	struct packs *packs;
	unsigned long flags;

	BUILD_BUG_ON(META_PACKS != (FORMAT_PACKS - FORMAT_META) / FORMAT_META_AREA);
	BUILD_BUG_ON(PACK_PAGES > META_BATCH);
	if (store->packs)
		return 0;
	packs = kzalloc(sizeof(*packs), GFP_KERNEL);
	if (!packs)
		return -ENOMEM;
	packs->pack = kmalloc(PACK_BYTES, GFP_KERNEL);
	packs->squeeze = squeeze_new(GFP_KERNEL);
	if (!packs->pack || !packs->squeeze) {
		packs_destroy(packs);
		return -ENOMEM;
	}
	mutex_init(&packs->lock);
	mutex_init(&packs->sweep);
	packs->number = U64_MAX;
	packs->filling = U64_MAX;
	packs->blocks = U64_MAX;
	spin_lock_irqsave(&store->lock, flags);
	packs->next = find_next(&store->table);
	store->packs = packs;
	spin_unlock_irqrestore(&store->lock, flags);
	return 0;
}

size_t packs_bytes(const struct store *store)
{
	return READ_ONCE(store->packs) ? sizeof(struct packs) + PACK_BYTES + squeeze_bytes() : 0;
}

int packs_open(struct store *store)
{
	return store->meta_pages[META_PACKS] ? packs_create(store) : 0;
}

void packs_destroy(struct packs *packs)
{
	if (!packs)
		return;
	kfree(packs->pack);
	squeeze_free(packs->squeeze);
	kfree(packs);
}

/* Reading */

/* Read all pages of @number that there are to packs->pack. Returns how many bytes. */
static int packs_read_pages(struct store *store, struct block_device *bdev, u64 number, u32 *bytes)
{
	void *page[PACK_PAGES];
	unsigned int i, n = 0;
	unsigned long flags;
	struct rt_range r;
	int error = 0;

	for (i = 0; i < PACK_PAGES; i++)
		page[i] = store->packs->pack + i * FORMAT_PAGE;
	for (i = 0; i < PACK_PAGES && !error; i += n) {
		spin_lock_irqsave(&store->lock, flags);
		rt_lookup(&store->table, first_block(number) + i, &r);
		spin_unlock_irqrestore(&store->lock, flags);
		if (r.kind != RT_STORED)
			break;
		n = min_t(u64, r.len, PACK_PAGES - i);
		error = metapages_io(store, bdev, r.value, page + i, n, REQ_OP_READ | REQ_META);
	}
	*bytes = i * FORMAT_PAGE;
	return error;
}

int packs_read(struct store *store, struct block_device *bdev, u64 number, u64 block,
	       void *content)
{
	struct packs *packs = store->packs;
	const char *why = NULL;
	int error = 0;
	u32 bytes;

	mutex_lock(&packs->lock);
	if (packs->number != number) {
		packs->number = U64_MAX;
		error = packs_read_pages(store, bdev, number, &bytes);
		if (!error)
			why = pack_check(packs->pack, bytes, number);
		if (!error && !why)
			packs->number = number;
	}
	if (!error && !why)
		why = pack_read(packs->pack, packs->squeeze, block, content);
	mutex_unlock(&packs->lock);
	if (!error && !why)
		return 0;
	DMERR_LIMIT("%pg: block %llu of the disk, in pack %llu, cannot be read: %s", bdev, block,
		    number, why ?: "the backing device failed");
	return -EIO;
}

/* Making */

void packs_fill(struct store *store, bool filling)
{
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	store->packs->filling = filling ? store->packs->next : U64_MAX;
	spin_unlock_irqrestore(&store->lock, flags);
}

u64 packs_number(struct store *store)
{
	unsigned long flags;
	u64 number;

	spin_lock_irqsave(&store->lock, flags);
	number = store->packs->next++;
	spin_unlock_irqrestore(&store->lock, flags);
	return number;
}

static int packs_write(struct store *store, struct block_device *bdev, void *pack,
		       unsigned int pages, u64 dest)
{
	void *page[PACK_PAGES];
	unsigned int i;

	for (i = 0; i < pages; i++)
		page[i] = pack + i * FORMAT_PAGE;
	return metapages_io(store, bdev, dest, page, pages, REQ_OP_WRITE | REQ_META | REQ_SYNC);
}

int packs_enter(struct store *store, struct block_device *bdev, u64 number, void *pack,
		unsigned int pages)
{
	blk_status_t status = BLK_STS_OK;
	unsigned long flags;
	u64 dest = store_get_run(store, pages);
	int error;

	if (dest == BM_NONE)
		return -ENOSPC;
	error = packs_write(store, bdev, pack, pages, dest);
	spin_lock_irqsave(&store->lock, flags);
	if (error)
		status = errno_to_blk_status(error);
	else if (!store_reserve(store, RT_STORED, GFP_NOIO, &flags))
		status = store_refused(store);
	/* One range, one operation: all of it or nothing is in the log. */
	if (!status)
		metapages_move(store, META_PACKS, number * PACK_PAGES, pages, dest);
	else
		store_free_run(store, dest, pages);
	spin_unlock_irqrestore(&store->lock, flags);
	if (!status && store->wal)
		status = wal_make_durable(store, bdev);
	return blk_status_to_errno(status);
}

/* Sweeping */

/* Packs from first on, up to last: a bit for each that has a block. */
struct census {
	u64 first, last;
	unsigned long *has;
};

static void census_mark(struct census *census, const struct rt_range *r)
{
	if (r->kind == RT_PACKED && r->value >= census->first && r->value <= census->last &&
	    !(INJECTED(single) && r->len == 1))
		set_bit(r->value - census->first, census->has);
}

/*
 * Walk through the table while it changes. A block that stays in its pack all the time is seen.
 */
static void census_walk(struct store *store, struct census *census)
{
	struct rt_range range[WALK_RANGES];
	unsigned long flags;
	unsigned int n, i;
	u64 at = 0;

	while (at < FORMAT_META) {
		spin_lock_irqsave(&store->lock, flags);
		n = rt_read(&store->table, at, range, WALK_RANGES);
		spin_unlock_irqrestore(&store->lock, flags);
		if (!n)
			break;
		for (i = 0; i < n; i++)
			census_mark(census, &range[i]);
		at = range[n - 1].start + range[n - 1].len;
		cond_resched();
	}
}

/* The next pack from @number on, up to census->last; false: none. */
static bool packs_next(struct store *store, const struct census *census, u64 *number)
{
	unsigned long flags;
	struct rt_range r;

	while (*number <= census->last) {
		spin_lock_irqsave(&store->lock, flags);
		rt_lookup(&store->table, first_block(*number), &r);
		spin_unlock_irqrestore(&store->lock, flags);
		if (r.kind == RT_STORED)
			return true;
		if (r.len >= first_block(census->last + 1) - r.start)
			return false;
		/* The next range may begin in the midst of a pack: no pack is made so. */
		*number += max_t(u64, div_u64(r.len, PACK_PAGES), 1);
	}
	return false;
}

/* The packs that a sweep looks at. False: none. */
static bool census_begin(struct store *store, struct census *census, bool always)
{
	struct packs *packs = store->packs;
	unsigned long flags;
	bool same;

	spin_lock_irqsave(&store->lock, flags);
	census->last = min(packs->next, packs->filling) - 1;
	same = packs->blocks == store->table.blocks[RT_PACKED];
	packs->blocks = store->table.blocks[RT_PACKED];
	spin_unlock_irqrestore(&store->lock, flags);
	census->first = 0;
	if ((same && !always) || census->last == U64_MAX)
		return false;
	if (!packs_next(store, census, &census->first))
		return false;
	census->last = min(census->last, census->first + SWEEP_NUMBERS - 1);
	census->has = kvcalloc(BITS_TO_LONGS(census->last - census->first + 1),
			       sizeof(long), GFP_NOIO);
	return census->has;
}

/* Forget the packs without a block. With @only_look: are there any? */
static bool packs_forget(struct store *store, const struct census *census, bool only_look)
{
	u64 number = census->first;
	bool some = false;

	for (; packs_next(store, census, &number); number++) {
		if (test_bit(number - census->first, census->has))
			continue;
		if (only_look)
			return true;
		if (!metapages_forget(store, META_PACKS, number * PACK_PAGES, PACK_PAGES,
				      GFP_NOIO))
			break;
		some = true;
	}
	return some;
}

bool packs_sweep(struct store *store, struct block_device *bdev, bool always)
{
	struct packs *packs = store->packs;
	struct census census;
	bool some = false;

	mutex_lock(&packs->sweep);
	if (census_begin(store, &census, always)) {
		census_walk(store, &census);
		some = packs_forget(store, &census, true) &&
		       (!store->wal || !wal_make_durable(store, bdev)) &&
		       packs_forget(store, &census, false);
		kvfree(census.has);
	}
	mutex_unlock(&packs->sweep);
	return some;
}
