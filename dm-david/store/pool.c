// SPDX-License-Identifier: GPL-2.0
/* Several disks on one backing device: see pool.h. */
#include "pool.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../base/inject.h"
#include "../base/plantedio.h"
#include "../lib/poolfmt.h"
#include "growth.h"
#include "logread.h"
#include "share.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

#define PAGE_SECTORS_4K	(FORMAT_PAGE >> SECTOR_SHIFT)
#define BATCH		256	/* blocks granted at once */
#define RUNS		256	/* of free blocks, looked at under one hold of a lock */
#define PIECE		65536u	/* blocks that change hands in one, a bit each: 10 us */
#define RESERVE_SHARE	256	/* of the pool: a reserve by default */

struct pool {
	/* Under pools_lock: */
	struct list_head list;
	unsigned int refs;
	dev_t dev;

	struct completion opened;	/* by whom it is opened first, with this result: */
	int error;
	char *error_text;

	struct mutex start_lock;	/* held while a disk becomes live */

	struct mutex members_lock;	/* guards the following */
	struct list_head members;	/* open stores */
	unsigned int nr_members;
	struct pool_super super;
	struct pool_super image;	/* of it, to be written */
	u64 entered;			/* disks that the directory on the device has, a bit each */
	bool grown;			/* the directory on the device has the old size */
	bool unsure;			/* what could not be written may stand there all the same */
	u64 open;			/* disks that are open, or about to be */
	void *copy;			/* POOL_COPY pages, for writing it */

	spinlock_t lock;		/* irqsave, within store->lock; guards the following */
	struct remap_bitmap bitmap;	/* all are in use but what was granted to nobody */
	u64 promised;			/* to closed disks */
	u64 owed;			/* to open ones: what their spares lack */
	u64 promise[POOL_DISKS];	/* to each of them */

	struct share *share;		/* NULL: its disks share no blocks */
};

/* Not held over I/O, as stores_lock. Who finds a pool that is being opened waits for that alone. */
static DEFINE_MUTEX(pools_lock);
static LIST_HEAD(pools);

/* Opening */

/* What a disk of @entry that stores @used blocks may still claim, and its spare. */
static u64 promise_of(const struct pool *pool, const struct pool_entry *entry, u64 used)
{
	u64 spare = share_spare(pool->share);

	return entry->reserve > used + spare ? entry->reserve - used : spare;
}

/* Read the tables of a closed disk into @table, which is empty. */
static int pool_read_disk(struct block_device *bdev, const struct pool_entry *entry,
			  struct rangetable *table, void *buf, char **error)
{
	struct format_super super;
	const char *why;
	u64 head;
	int r;

	*error = "A disk of the pool cannot be read";
	r = log_pages_io(bdev, REQ_OP_READ, entry->first, buf, FORMAT_LOOK);
	if (r)
		return r;
	why = format_look(buf, &super) == FORMAT_STORE ? pool_check_disk(entry, &super) :
	      "no copy of its superblock is whole";
	if (why) {
		DMERR("%pg: disk %s of the pool: %s", bdev, entry->name, why);
		*error = "A disk of the pool is damaged: see david pool check";
		return -EUCLEAN;
	}
	return log_replay(bdev, entry->first, &super, table, buf, &head, error);
}

/* What the table of disk @slot names is the disk's, and perhaps others' too. */
static void hold_blocks(struct pool *pool, unsigned int slot, const struct rangetable *table)
{
	struct rt_range r;
	u64 block;

	for (block = 0; block != U64_MAX; block = r.start + r.len) {
		rt_lookup(table, block, &r);
		if (r.kind == RT_STORED)
			share_hold(pool->share, slot, r.value, r.len);
	}
}

/* Take what @entry's disk stores, and keep free what it was promised. */
static int pool_scan_disk(struct pool *pool, struct block_device *bdev, unsigned int slot,
			  void *buf, char **error)
{
	const struct pool_entry *entry = &pool->super.disk[slot];
	struct rangetable table;
	u64 block, shared = 0;
	const char *why;
	int r;

	rt_init(&table);
	r = pool_read_disk(bdev, entry, &table, buf, error);
	if (!r) {
		why = pool_claim_disk(&pool->super, &table, &pool->bitmap, &block, &shared);
		if (!why && pool->share && !(INJECTED(uncounted) && slot == 2))
			hold_blocks(pool, slot, &table);
		if (why) {
			DMERR("%pg: disk %s of the pool is damaged: block %llu: %s", bdev,
			      entry->name, block, why);
			*error = "A disk of the pool is damaged: see david pool check";
			r = -EUCLEAN;
		}
	}
	pool->promise[slot] = promise_of(pool, entry, table.blocks[RT_STORED]);
	pool->promised += pool->promise[slot];
	rt_destroy(&table);
	return r;
}

static int read_directory(struct pool *pool, struct block_device *bdev, void *buf, char **error)
{
	u64 pages = bdev_nr_sectors(bdev) / PAGE_SECTORS_4K;
	int r;

	*error = "Backing device is too small for a pool";
	if (pages < FORMAT_LOOK)
		return -EINVAL;
	*error = "Backing device cannot be read";
	r = log_pages_io(bdev, REQ_OP_READ, 0, buf, FORMAT_LOOK);
	if (r)
		return r;
	*error = "pool: there is no pool on the backing device: david pool create makes one";
	switch (pool_look(buf, &pool->super)) {
	case FORMAT_STORE:
		break;
	case FORMAT_OTHER_VERSION:
		*error = "pool: the pool on the backing device is of another version";
		return -EINVAL;
	case FORMAT_BROKEN:
		*error = "pool: both copies of the pool's directory are broken";
		return -EUCLEAN;
	default:
		return -EINVAL;
	}
	*error = "Backing device is smaller than when the pool on it was used last";
	if (pool->super.blocks > pages)
		return -EINVAL;
	pool->grown = pages > pool->super.blocks;
	pool->super.blocks = pages;
	return 0;
}

static void pool_free(struct pool *pool)
{
	bm_destroy(&pool->bitmap);
	share_destroy(pool->share);
	kfree(pool->copy);
	kvfree(pool);
}

/* Read it. pool_free() frees what has been made of it on error. */
static int pool_open(struct pool *pool, struct block_device *bdev, char **error)
{
	void *buf = kmalloc(LOGREAD_PAGES * FORMAT_PAGE, GFP_KERNEL);
	unsigned int i;
	int r = -ENOMEM;

	*error = "Not enough memory for the pool";
	pool->copy = kmalloc(POOL_COPY * FORMAT_PAGE, GFP_KERNEL);
	if (!buf || !pool->copy)
		goto out;
	r = read_directory(pool, bdev, buf, error);
	if (r)
		goto out;
	r = bm_init(&pool->bitmap, pool->super.blocks);
	if (!r && pool->super.share) {
		pool->share = share_create(pool->super.blocks);
		r = pool->share ? 0 : -ENOMEM;
	}
	if (r) {
		*error = "Not enough memory for the pool";
		goto out;
	}
	if (pool_claim_areas(&pool->super, &pool->bitmap)) {
		*error = "pool: two disks have their logs in one place: see david pool check";
		r = -EUCLEAN;
		goto out;
	}
	for (i = 0; i < POOL_DISKS && !r; i++) {
		if (!pool->super.disk[i].name[0])
			continue;
		pool->entered |= 1ull << i;
		r = pool_scan_disk(pool, bdev, i, buf, error);
	}
out:
	kfree(buf);
	return r;
}

/* A pool that nobody has opened, in the list. */
static struct pool *pool_new(dev_t dev)
{
	struct pool *pool = kvzalloc(sizeof(*pool), GFP_KERNEL);

	lockdep_assert_held(&pools_lock);
	if (!pool)
		return NULL;
	INIT_LIST_HEAD(&pool->members);
	mutex_init(&pool->start_lock);
	mutex_init(&pool->members_lock);
	spin_lock_init(&pool->lock);
	init_completion(&pool->opened);
	pool->dev = dev;
	list_add_tail(&pool->list, &pools);
	return pool;
}

static struct pool *pool_find_open(dev_t dev)
{
	struct pool *pool;

	lockdep_assert_held(&pools_lock);
	list_for_each_entry(pool, &pools, list)
		if (pool->dev == dev)
			return pool;
	return NULL;
}

struct pool *pool_get(struct block_device *bdev, char **error)
{
	struct pool *pool;
	bool first;
	int r;

	mutex_lock(&pools_lock);
	if (INJECTED(overio))
		planted_read(bdev);
	pool = pool_find_open(bdev->bd_dev);
	first = !pool;
	if (first)
		pool = pool_new(bdev->bd_dev);
	if (pool)
		pool->refs++;
	mutex_unlock(&pools_lock);
	if (!pool) {
		*error = "Not enough memory for the pool";
		return ERR_PTR(-ENOMEM);
	}
	if (first) {
		pool->error = pool_open(pool, bdev, &pool->error_text);
		complete_all(&pool->opened);
	} else {
		wait_for_completion(&pool->opened);
	}
	if (!pool->error)
		return pool;
	r = pool->error;
	*error = pool->error_text;
	pool_put(pool);
	return ERR_PTR(r);
}

void pool_put(struct pool *pool)
{
	bool last;

	mutex_lock(&pools_lock);
	last = !--pool->refs;
	if (last)
		list_del(&pool->list);
	mutex_unlock(&pools_lock);
	if (last)
		pool_free(pool);
}

u64 pool_blocks(const struct pool *pool)
{
	return pool->bitmap.size;
}

/* Blocks */

u64 pool_saved(const struct pool *pool)
{
	return pool->share ? share_saved(pool->share) : 0;
}

u64 pool_memory(const struct pool *pool)
{
	return sizeof(*pool) + POOL_COPY * FORMAT_PAGE + pool->bitmap.bytes +
	       (pool->share ? share_bytes(pool->share) : 0);
}

u64 pool_available(const struct pool *pool)
{
	u64 kept = READ_ONCE(pool->bitmap.used) + READ_ONCE(pool->promised) +
		   READ_ONCE(pool->owed);

	return pool->bitmap.size > kept ? pool->bitmap.size - kept : 0;
}

/* @len blocks from @dest on, which the pool has taken, become free blocks of @store. */
static void pool_give(struct store *store, u64 dest, u64 len)
{
	bm_free(&store->bitmap, dest, len);
	store->held += len;
	store->full = false;
}

/* See what @store's spare lacks. pool->lock is held, too. */
static void pool_settle_spare(struct store *store)
{
	u64 free = bm_nr_free(&store->bitmap);
	u64 spare = share_spare(store->share);
	u64 owed = free < spare ? spare - free : 0;

	lockdep_assert_held(&store->lock);
	store->pool->owed += owed - store->owed;
	store->owed = owed;
}

void pool_spare_used(struct store *store)
{
	spin_lock(&store->pool->lock);
	pool_settle_spare(store);
	spin_unlock(&store->pool->lock);
}

/* A store that could not grow with the pool has no maps for its new blocks: it gets no more. */
static bool has_maps(const struct store *store)
{
	return likely(store->bitmap.size == store->pool->bitmap.size);
}

bool pool_grant(struct store *store, u64 hint)
{
	struct pool *pool = store->pool;
	u64 dest, got, want, can;

	lockdep_assert_held(&store->lock);
	spin_lock(&pool->lock);
	pool_settle_spare(store);
	/* What it is owed it may have. */
	pool->owed -= store->owed;
	can = pool_available(pool);
	pool->owed += store->owed;
	/* Near its end all have some. */
	want = min_t(u64, BATCH, can / (2 * READ_ONCE(pool->nr_members) + 2) + 1);
	dest = can && has_maps(store) ? bm_alloc(&pool->bitmap, hint, want, &got) : BM_NONE;
	if (dest != BM_NONE && INJECTED(twice))
		bm_free(&pool->bitmap, dest, got);
	if (dest != BM_NONE) {
		pool_give(store, dest, got);
		pool_settle_spare(store);
	}
	spin_unlock(&pool->lock);
	return dest != BM_NONE;
}

bool pool_grant_run(struct store *store, u64 *from, u64 blocks)
{
	struct pool *pool = store->pool;
	u64 dest = BM_NONE;

	lockdep_assert_held(&store->lock);
	spin_lock(&pool->lock);
	if (pool_available(pool) >= blocks && has_maps(store))
		dest = bm_alloc_run(&pool->bitmap, from, blocks, RUNS);
	else
		*from = BM_NONE;
	spin_unlock(&pool->lock);
	if (dest == BM_NONE)
		return false;
	pool_give(store, dest, blocks);
	return true;
}

/* Move free blocks of @store to the pool until it has @left. */
static u64 pool_take_free(struct store *store, u64 left)
{
	struct pool *pool = store->pool;
	unsigned long flags;
	u64 dest, len, free, taken = 0;
	bool more = true;

	while (more) {
		spin_lock_irqsave(&store->lock, flags);
		free = bm_nr_free(&store->bitmap);
		more = free > left;
		if (more) {
			dest = bm_alloc(&store->bitmap, BM_NONE, min_t(u64, free - left, PIECE),
					&len);
			store->held -= len;
			taken += len;
			spin_lock(&pool->lock);
			/* What two disks have is not taken back. */
			if (!PLANTED_TWICE)
				bm_free(&pool->bitmap, dest, len);
			spin_unlock(&pool->lock);
		}
		spin_unlock_irqrestore(&store->lock, flags);
		cond_resched();
	}
	return taken;
}

/* What @store must keep of its free blocks. */
static u64 reserve_left(struct store *store)
{
	const struct pool_entry *entry = &store->pool->super.disk[store->pool_slot];
	unsigned long flags;
	u64 left;

	spin_lock_irqsave(&store->lock, flags);
	left = promise_of(store->pool, entry, store_used(store));
	spin_unlock_irqrestore(&store->lock, flags);
	return INJECTED(greedy) ? 0 : left;
}

static bool reclaim_from_others(struct pool *pool, const struct store *store)
{
	struct store *other;
	u64 got = 0;

	lockdep_assert_held(&pool->members_lock);
	list_for_each_entry(other, &pool->members, pool_list)
		if (other != store)
			got += pool_take_free(other, reserve_left(other));
	if (got)
		return true;
	/* What they have freed becomes free when that is durable: it may be by now. */
	list_for_each_entry(other, &pool->members, pool_list) {
		if (other == store)
			continue;
		wal_wait_free(other, GFP_NOIO);
		got += pool_take_free(other, reserve_left(other));
	}
	return got;
}

bool pool_reclaim(struct store *store, gfp_t gfp)
{
	struct pool *pool = store->pool;
	bool some;

	/* It gets no more. */
	if (!has_maps(store))
		return false;
	if (!gfpflags_allow_blocking(gfp))
		return READ_ONCE(pool->nr_members) > 1;
	mutex_lock(&pool->members_lock);
	some = pool_available(pool) || reclaim_from_others(pool, store);
	mutex_unlock(&pool->members_lock);
	return some;
}

bool pool_collect(struct store *store)
{
	struct pool *pool = store->pool;
	bool some;

	if (!has_maps(store))
		return false;
	mutex_lock(&pool->members_lock);
	some = reclaim_from_others(pool, store);
	mutex_unlock(&pool->members_lock);
	return some;
}

/* Disks */

static struct pool_entry *pool_entry_of(const struct store *store)
{
	return &store->pool->super.disk[store->pool_slot];
}

/* Grant @store, which nobody knows yet, what it was promised: piece by piece it is so no more. */
static void grant_promise(struct store *store)
{
	struct pool *pool = store->pool;
	u64 *promise = &pool->promise[store->pool_slot];
	u64 dest = 0, got;
	unsigned long flags;

	while (*promise && dest != BM_NONE) {
		spin_lock_irqsave(&store->lock, flags);
		spin_lock(&pool->lock);
		dest = bm_alloc(&pool->bitmap, BM_NONE, min_t(u64, *promise, PIECE), &got);
		/* The directory may promise more than there is: it is not trusted. */
		if (dest == BM_NONE)
			got = *promise;
		else
			pool_give(store, dest, got);
		*promise -= got;
		pool->promised -= got;
		spin_unlock(&pool->lock);
		spin_unlock_irqrestore(&store->lock, flags);
		cond_resched();
	}
}

/*
 * An area for a new disk, and the promise of its reserve. False if there is no run that long, or no
 * room for the reserve.
 */
static bool find_area(struct pool *pool, unsigned int slot)
{
	struct pool_entry *entry = &pool->super.disk[slot];
	u64 from = 0, promise = promise_of(pool, entry, 0);
	unsigned long flags;
	bool has_room = true;

	for (; has_room && entry->first == BM_NONE && from != BM_NONE; cond_resched()) {
		spin_lock_irqsave(&pool->lock, flags);
		has_room = pool_available(pool) >= entry->pages + promise;
		if (has_room)
			entry->first = bm_alloc_run(&pool->bitmap, &from, entry->pages, RUNS);
		if (entry->first != BM_NONE) {
			pool->promise[slot] = promise;
			pool->promised += promise;
		}
		spin_unlock_irqrestore(&pool->lock, flags);
	}
	return entry->first != BM_NONE;
}

static void join_pool(struct store *store, struct pool *pool, unsigned int slot)
{
	store->pool_slot = slot;
	store->pool = pool;
	store->share = pool->share;
}

static int new_disk(struct store *store, struct pool *pool, const struct pool_want *want,
		    char **error)
{
	unsigned int slot = pool_find(&pool->super, "");
	struct pool_entry *entry;

	*error = "pool: has as many disks as it can have: see david pool drop";
	if (slot == POOL_DISKS)
		return -ENOSPC;
	entry = &pool->super.disk[slot];
	entry->pages = pool_area_pages(pool->super.blocks, want->log_pages);
	entry->reserve = want->reserve != U64_MAX ? want->reserve :
			 pool->super.blocks / RESERVE_SHARE;
	entry->first = BM_NONE;
	if (entry->reserve <= pool->super.blocks && !find_area(pool, slot)) {
		reclaim_from_others(pool, store);
		find_area(pool, slot);
	}
	if (entry->first == BM_NONE) {
		memset(entry, 0, sizeof(*entry));
		*error =
"pool: no room for another disk, its log and its reserve: see david pool show";
		return -ENOSPC;
	}
	strscpy(entry->name, want->disk, sizeof(entry->name));
	join_pool(store, pool, slot);
	grant_promise(store);
	return 0;
}

static int old_disk(struct store *store, struct pool *pool, unsigned int slot, char **error)
{
	*error = "pool: the disk is in use by another david device";
	if (pool->open & 1ull << slot)
		return -EBUSY;
	join_pool(store, pool, slot);
	grant_promise(store);
	return 0;
}

int pool_attach(struct store *store, struct pool *pool, const struct pool_want *want,
		bool may_write, char **error)
{
	unsigned int slot;
	int r;

	INIT_LIST_HEAD(&store->pool_list);
	bm_claim(&store->bitmap, 0, store->bitmap.size);
	mutex_lock(&pool->members_lock);
	slot = pool_find(&pool->super, want->disk);
	*error = "pool: there is no such disk, and the table is read-only";
	if (store->bitmap.size != pool->bitmap.size) {
		*error = "pool: it has grown at this moment: try again";
		r = -EAGAIN;
	} else if (slot < POOL_DISKS) {
		r = old_disk(store, pool, slot, error);
	} else {
		r = may_write ? new_disk(store, pool, want, error) : -EROFS;
	}
	if (!r)
		pool->open |= 1ull << store->pool_slot;
	mutex_unlock(&pool->members_lock);
	return r;
}

void pool_join(struct store *store)
{
	struct pool *pool = store->pool;
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	store->held += store->table.blocks[RT_STORED];
	spin_unlock_irqrestore(&store->lock, flags);
	mutex_lock(&pool->members_lock);
	list_add_tail(&store->pool_list, &pool->members);
	WRITE_ONCE(pool->nr_members, pool->nr_members + 1);
	mutex_unlock(&pool->members_lock);
}

void pool_detach(struct store *store)
{
	struct pool *pool = store->pool;
	struct pool_entry *entry;
	unsigned long flags;
	u64 promise;

	if (!pool)
		return;
	entry = pool_entry_of(store);
	mutex_lock(&pool->members_lock);
	/* Before it has joined, it has what it was promised, and nothing else. */
	promise = store->held;
	if (!list_empty(&store->pool_list)) {
		list_del(&store->pool_list);
		WRITE_ONCE(pool->nr_members, pool->nr_members - 1);
		promise = promise_of(pool, entry, store->table.blocks[RT_STORED]);
	}
	pool_take_free(store, 0);
	pool->open &= ~(1ull << store->pool_slot);
	spin_lock_irqsave(&pool->lock, flags);
	pool->owed -= store->owed;
	store->owed = 0;
	if (pool->entered & 1ull << store->pool_slot) {
		pool->promise[store->pool_slot] = promise;
		pool->promised += promise;
	} else {
		/* It was never resumed. Its area is nobody else's while it may be entered there. */
		if (!pool->unsure)
			bm_free(&pool->bitmap, entry->first, entry->pages);
		memset(entry, 0, sizeof(*entry));
	}
	spin_unlock_irqrestore(&pool->lock, flags);
	mutex_unlock(&pool->members_lock);
	store->pool = NULL;
	store->share = NULL;
	pool_put(pool);
}

u64 pool_area(const struct store *store, u64 *pages, bool *fresh)
{
	*pages = pool_entry_of(store)->pages;
	*fresh = !(store->pool->entered & 1ull << store->pool_slot);
	return pool_entry_of(store)->first;
}

const char *pool_check(const struct store *store, const struct format_super *super)
{
	return pool_check_disk(pool_entry_of(store), super);
}

const char *pool_disk_name(const struct store *store)
{
	return pool_entry_of(store)->name;
}

u64 pool_reserve(const struct store *store)
{
	return pool_entry_of(store)->reserve;
}

u64 pool_log_pages(const struct store *store)
{
	return pool_entry_of(store)->pages - FORMAT_SUPERS;
}

/* The directory */

/*
 * Write the directory with the disks of @have, a bit each. A disk that is not entered yet must not
 * stand in it: its superblocks may lack. members_lock is held.
 */
static int write_directory(struct pool *pool, struct block_device *bdev, u64 have)
{
	unsigned int i;
	int r;

	lockdep_assert_held(&pool->members_lock);
	pool->super.generation++;
	pool->image = pool->super;
	for (i = 0; i < POOL_DISKS; i++)
		if (!(have & 1ull << i))
			memset(&pool->image.disk[i], 0, sizeof(pool->image.disk[i]));
	pool_pack(&pool->image, pool->copy);

	r = blkdev_issue_flush(bdev);
	if (!r)
		r = log_pages_io(bdev, REQ_OP_WRITE | REQ_SYNC, pool_copy_page(&pool->image),
				 pool->copy, POOL_COPY);
	if (!r)
		r = blkdev_issue_flush(bdev);
	if (!r) {
		pool->unsure = false;
		return 0;
	}
	DMERR("%pg: the pool's directory cannot be written: error %d", bdev, r);
	/* The next try goes to the same place, as this one may be torn: the other copy is whole. */
	if (!INJECTED(onlycopy))
		pool->super.generation--;
	pool->unsure = true;
	return r;
}

int pool_enter(struct store *store, struct block_device *bdev, const u8 *uuid)
{
	struct pool *pool = store->pool;
	u64 me = 1ull << store->pool_slot;
	int r = 0;

	mutex_lock(&pool->members_lock);
	/* Of an older disk, too, if the directory that stands there may be another one. */
	if (!(pool->entered & me) || pool->grown || pool->unsure) {
		memcpy(pool_entry_of(store)->uuid, uuid, sizeof(pool_entry_of(store)->uuid));
		r = write_directory(pool, bdev, pool->entered | me);
	}
	if (!r) {
		pool->entered |= me;
		pool->grown = false;
	}
	mutex_unlock(&pool->members_lock);
	return r;
}

/* Growing */

/* Is none of its disks at work, nor being opened? members_lock and start_lock are held. */
static bool is_at_rest(const struct pool *pool)
{
	const struct store *store;

	lockdep_assert_held(&pool->members_lock);
	lockdep_assert_held(&pool->start_lock);
	if (hweight64(pool->open) != pool->nr_members)
		return false;
	list_for_each_entry(store, &pool->members, pool_list)
		if (wal_is_live(store))
			return false;
	return true;
}

/* A store that has got something new since this was prepared goes without more blocks. */
static void use_growth(struct pool *pool, struct remap_bitmap *bitmap, struct growth *growths)
{
	struct store *store;
	unsigned long flags;
	unsigned int i = 0;

	if (!INJECTED(forgets))
		bm_copy(bitmap, &pool->bitmap);
	list_for_each_entry(store, &pool->members, pool_list) {
		struct growth *growth = &growths[i++];

		/* What a failed one has freed stays pending: its maps cannot be exchanged. */
		if (READ_ONCE(store->failed) || !growth_commit(store, growth))
			DMWARN("%s: gets no more blocks of the pool until it is opened again",
			       pool_disk_name(store));
	}
	spin_lock_irqsave(&pool->lock, flags);
	swap(pool->bitmap, *bitmap);
	spin_unlock_irqrestore(&pool->lock, flags);
	pool->grown = false;
}

static int pool_grow(struct pool *pool, struct block_device *bdev, u64 blocks)
{
	struct growth *growths = kvcalloc(pool->nr_members, sizeof(*growths), GFP_NOIO);
	struct remap_bitmap bitmap = { };
	u64 before = pool->super.blocks;
	struct store *store;
	unsigned int i = 0;
	int r = growths ? bm_init(&bitmap, blocks) : -ENOMEM;

	lockdep_assert_held(&pool->members_lock);
	list_for_each_entry(store, &pool->members, pool_list) {
		if (r)
			break;
		growths[i].blocks = blocks;
		r = growth_prepare(store, &growths[i++]);
	}
	if (!r && pool->share)
		r = share_grow(pool->share, blocks);
	pool->super.blocks = blocks;
	if (!r && !INJECTED(unsaid))
		r = write_directory(pool, bdev, pool->entered);
	if (r)
		pool->super.blocks = before;
	else
		use_growth(pool, &bitmap, growths);
	while (i)
		growth_dispose(&growths[--i]);
	bm_destroy(&bitmap);
	kvfree(growths);
	return r;
}

void pool_starting(struct store *store, struct block_device *bdev)
{
	struct pool *pool = store->pool;
	u64 blocks = bdev_nr_sectors(bdev) / PAGE_SECTORS_4K;
	int r = 0;

	mutex_lock(&pool->start_lock);
	mutex_lock(&pool->members_lock);
	if (blocks > pool->bitmap.size && !store->no_updates && is_at_rest(pool))
		r = pool_grow(pool, bdev, blocks);
	mutex_unlock(&pool->members_lock);
	if (r)
		DMWARN("%pg: the pool's device has grown, but is not used to its end: error %d",
		       bdev, r);
}

void pool_started(struct store *store)
{
	mutex_unlock(&store->pool->start_lock);
}

/* Free blocks of a disk that is dropped, but those that others have. pool->lock is held. */
static void pool_free_run(struct pool *pool, unsigned int slot, u64 dest, u64 len)
{
	lockdep_assert_held(&pool->lock);
	if (!pool->share) {
		bm_free(&pool->bitmap, dest, len);
		return;
	}
	for (; len; dest++, len--)
		if (share_give_up(pool->share, slot, dest))
			free_blocks(&pool->bitmap, dest, 1);
}

/* Free what @entry's disk has. */
static void pool_free_disk(struct pool *pool, unsigned int slot, const struct rangetable *table)
{
	struct pool_entry *entry = &pool->super.disk[slot];
	struct rt_range r;
	unsigned long flags;
	u64 block;

	for (block = 0; block != U64_MAX; block = r.start + r.len) {
		rt_lookup(table, block, &r);
		if (r.kind != RT_STORED)
			continue;
		r.len = min_t(u64, r.len, PIECE);
		spin_lock_irqsave(&pool->lock, flags);
		pool_free_run(pool, slot, r.value, r.len);
		spin_unlock_irqrestore(&pool->lock, flags);
		cond_resched();
	}
	spin_lock_irqsave(&pool->lock, flags);
	bm_free(&pool->bitmap, entry->first, entry->pages);
	pool->promised -= pool->promise[slot];
	pool->promise[slot] = 0;
	spin_unlock_irqrestore(&pool->lock, flags);
	memset(entry, 0, sizeof(*entry));
	pool->entered &= ~(1ull << slot);
}

int pool_drop(struct pool *pool, struct block_device *bdev, const char *name, char **error)
{
	void *buf = kmalloc(LOGREAD_PAGES * FORMAT_PAGE, GFP_NOIO);
	struct rangetable table;
	unsigned int slot, noio;
	int r = -ENOENT;

	*error = "not enough memory";
	if (!buf)
		return -ENOMEM;
	rt_init(&table);
	mutex_lock(&pool->members_lock);
	noio = memalloc_noio_save();
	slot = name[0] ? pool_find(&pool->super, name) : POOL_DISKS;
	*error = "there is no such disk";
	if (slot == POOL_DISKS || !(pool->entered & 1ull << slot))
		goto out;
	*error = "the disk is in use: remove it first";
	r = -EBUSY;
	if (pool->open & 1ull << slot)
		goto out;
	r = pool_read_disk(bdev, &pool->super.disk[slot], &table, buf, error);
	if (r)
		goto out;
	*error = "the pool's directory cannot be written";
	r = write_directory(pool, bdev, pool->entered & ~(1ull << slot));
	if (!r)
		pool_free_disk(pool, slot, &table);
out:
	memalloc_noio_restore(noio);
	mutex_unlock(&pool->members_lock);
	rt_destroy(&table);
	kfree(buf);
	return r;
}
