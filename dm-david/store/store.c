// SPDX-License-Identifier: GPL-2.0
/* The store: see store.h. */
#include "store.h"

#include <linux/delay.h>
#include <linux/device-mapper.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "csum.h"
#include "exact.h"
#include "packs.h"
#include "pool.h"
#include "share.h"
#include "twins.h"
#include "../base/inject.h"
#include "../base/plantedio.h"

/*
 * Nodes added to the reserve beyond need. With fewer than RESERVE_LOW a work item adds more, so
 * that no request allocates: with four new slabs that takes 50 us, more than a fast drive's write.
 */
#define RESERVE_MIN	32
#define RESERVE_LOW	16
#define RESERVE_MAX	128

/* Old entries replaced under one hold of the lock: some ten microseconds. */
#define MAX_ENTRIES	64

/* The same of free runs that are looked at for one that is long enough. */
#define MAX_RUNS	256

/* Nodes that an update may add to the table, on the average: two ranges, leaves half full. */
#define UPDATE_BYTES	160

/*
 * No I/O is done under stores_lock, nor anything that may wait for it: a device that hangs, or is
 * suspended, holds up who opens a store on it, and nobody else.
 */
static DEFINE_MUTEX(stores_lock);
static LIST_HEAD(stores);
static LIST_HEAD(openings);

/* Somebody opens a store, or goes over to another backing device, and does not hold the lock. */
struct opening {
	struct list_head list;
	struct mapped_device *md;
	sector_t begin;
	dev_t backing;
	bool in_pool;
};

static void refill_work(struct work_struct *work)
{
	store_refill(container_of(work, struct store, refill), GFP_NOWAIT | __GFP_NOWARN);
}

static struct store *store_create(u64 blocks, unsigned int block_size, char **error)
{
	struct store *store;
	int r;

	*error = "Not enough memory for the store";
	store = kzalloc(sizeof(*store), GFP_KERNEL);
	if (!store)
		return ERR_PTR(-ENOMEM);
	*error = "Not enough memory for the disk's figures";
	store->figures = figures_create();
	store->stats = alloc_percpu(struct stats);
	r = -ENOMEM;
	if (!store->figures || !store->stats)
		goto bad;
	r = bm_init(&store->bitmap, blocks);
	*error = r == -EINVAL ? "Backing device is smaller than one block or too large" :
				"Not enough memory for the remap bitmap";
	if (r)
		goto bad;

	kref_init(&store->ref);
	spin_lock_init(&store->lock);
	rt_init(&store->table);
	INIT_WORK(&store->refill, refill_work);
	range_locks_init(&store->locks);
	raw_init(&store->raw);
	store->block_size = block_size;
	store->block_shift = ilog2(block_size) - SECTOR_SHIFT;
	store->seq_block = U64_MAX;
	store->credits = S64_MAX;
	return store;

bad:
	free_percpu(store->stats);
	figures_destroy(store->figures);
	kfree(store);
	return ERR_PTR(r);
}

static void store_destroy(struct store *store)
{
	wal_close(store);
	cancel_work_sync(&store->refill);
	exact_destroy(store->exact);
	csum_destroy(store->csums);
	packs_destroy(store->packs);
	raw_destroy(&store->raw);
	twins_destroy(store->twins);
	rt_destroy(&store->table);
	bm_destroy(&store->bitmap);
	free_percpu(store->stats);
	figures_destroy(store->figures);
	kfree(store);
}

/* May a table with this backing device go on with @store, which is live in the table's place? */
static bool fits_live(const struct store *store, dev_t backing, u64 blocks,
		      unsigned int block_size, enum store_kind kind, const struct pool_want *want,
		      char **error)
{
	*error = "A reload must keep pool";
	if (!want->disk != !store->pool ||
	    (store->pool && strcmp(want->disk, pool_disk_name(store))))
		return false;
	*error = "A reload must name the same backing device, or with store=auto a copy of it";
	if (store->backing != backing && (!store->wal || store->pool || kind != STORE_AUTO))
		return false;
	*error = "A reload must keep block_size";
	if (store->block_size != block_size)
		return false;
	/* If it is larger, that is used when the table is resumed: grow.h. */
	*error = "Backing device is smaller than the store in use";
	if (store->bitmap.size > blocks)
		return false;
	*error = "A reload must keep the store: store=auto";
	return kind != STORE_FORMAT && (kind != STORE_MEMORY || !store->wal);
}

/* Open the store on @bdev, or make one in memory. */
static int store_open(struct store *store, struct block_device *bdev, bool may_write,
		      enum store_kind kind, char **error)
{
	int r;

	if (kind == STORE_MEMORY)
		return 0;
	r = wal_open(store, bdev, kind == STORE_FORMAT, may_write, error);
	if (r)
		return r;
	metapages_open(store);
	*error = "Not enough memory for the store's packs";
	r = packs_open(store);
	if (r)
		return r;
	*error = "Not enough memory for the store's rules";
	r = rawstore_open(store, bdev);
	return r;
}

static struct store *store_make(struct block_device *bdev, bool may_write,
				unsigned int block_size, enum store_kind kind,
				const struct pool_want *want, char **error)
{
	u64 blocks = bdev_nr_sectors(bdev) >> (ilog2(block_size) - SECTOR_SHIFT);
	struct pool *pool = NULL;
	struct store *store;
	int r;

	if (want->disk) {
		pool = pool_get(bdev, error);
		if (IS_ERR(pool))
			return ERR_CAST(pool);
		blocks = pool_blocks(pool);
	}
	store = store_create(blocks, block_size, error);
	if (IS_ERR(store)) {
		if (pool)
			pool_put(pool);
		return store;
	}
	r = pool ? pool_attach(store, pool, want, may_write, error) : 0;
	if (r) {
		pool_put(pool);
		store_destroy(store);
		return ERR_PTR(r);
	}
	r = store_open(store, bdev, may_write, kind, error);
	if (r) {
		pool_detach(store);
		store_destroy(store);
		return ERR_PTR(r);
	}
	if (pool)
		pool_join(store);
	if (!INJECTED(allocates))
		store_refill(store, GFP_KERNEL);
	return store;
}

/* Is @new's device another store's, or about to be? Disks of one pool share theirs. */
static bool is_taken(const struct opening *new)
{
	const struct opening *opening;
	const struct store *store;

	lockdep_assert_held(&stores_lock);
	list_for_each_entry(store, &stores, list)
		if (store->backing == new->backing && !(store->pool && new->in_pool))
			return true;
	list_for_each_entry(opening, &openings, list)
		if (opening->backing == new->backing && !(opening->in_pool && new->in_pool))
			return true;
	return false;
}

/* The store that is live in a table's place; NULL: none. */
static struct store *find_live(const struct mapped_device *md, sector_t begin)
{
	struct store *store;

	lockdep_assert_held(&stores_lock);
	list_for_each_entry(store, &stores, list)
		if (store->md == md && store->begin == begin)
			return store;
	return NULL;
}

static bool is_opening(const struct mapped_device *md, sector_t begin)
{
	const struct opening *opening;

	lockdep_assert_held(&stores_lock);
	list_for_each_entry(opening, &openings, list)
		if (opening->md == md && opening->begin == begin)
			return true;
	return false;
}

/*
 * A reference to the live store, or NULL with @opening in the list: the caller opens one then. On
 * error ERR_PTR.
 */
static struct store *get_live(struct opening *opening, struct block_device *bdev,
			      unsigned int block_size, enum store_kind kind,
			      const struct pool_want *want, char **error)
{
	u64 blocks = bdev_nr_sectors(bdev) >> (ilog2(block_size) - SECTOR_SHIFT);
	struct store *store = find_live(opening->md, opening->begin);

	if (store) {
		if (!fits_live(store, opening->backing, blocks, block_size, kind, want, error))
			return ERR_PTR(-EINVAL);
		kref_get(&store->ref);
		return store;
	}
	*error = "The disk is being opened by another table";
	if (is_opening(opening->md, opening->begin))
		return ERR_PTR(-EBUSY);
	*error = "Backing device is in use by another david device";
	if (is_taken(opening))
		return ERR_PTR(-EINVAL);
	list_add_tail(&opening->list, &openings);
	return NULL;
}

struct store *store_get(struct mapped_device *md, sector_t begin, struct block_device *bdev,
			bool may_write, unsigned int block_size, enum store_kind kind,
			const struct pool_want *want, char **error)
{
	struct opening opening = {
		.md = md, .begin = begin, .backing = bdev->bd_dev, .in_pool = want->disk,
	};
	struct store *store;

	mutex_lock(&stores_lock);
	if (INJECTED(overio))
		planted_read(bdev);
	store = get_live(&opening, bdev, block_size, kind, want, error);
	mutex_unlock(&stores_lock);
	if (store)
		return store;

	store = store_make(bdev, may_write, block_size, kind, want, error);
	mutex_lock(&stores_lock);
	list_del(&opening.list);
	if (!IS_ERR(store)) {
		store->md = md;
		store->begin = begin;
		store->backing = opening.backing;
		list_add_tail(&store->list, &stores);
	}
	mutex_unlock(&stores_lock);
	return store;
}

int store_follow(struct store *store, struct block_device *bdev, const char **error)
{
	struct opening opening = {
		.md = store->md, .begin = store->begin, .backing = bdev->bd_dev,
	};
	bool taken;
	int r;

	/* Only here it changes, and one table of a device is resumed at a time. */
	if (store->backing == bdev->bd_dev)
		return 0;
	*error = "backing device is in use by another david device";
	mutex_lock(&stores_lock);
	taken = is_taken(&opening);
	if (!taken)
		list_add_tail(&opening.list, &openings);
	mutex_unlock(&stores_lock);
	if (taken)
		return -EBUSY;

	*error = "backing device cannot be read";
	r = wal_check_copy(store, bdev);
	if (r == -EINVAL)
		*error =
"backing device is no copy of the one before, made while the disk was suspended";
	mutex_lock(&stores_lock);
	list_del(&opening.list);
	if (!r)
		store->backing = bdev->bd_dev;
	mutex_unlock(&stores_lock);
	return r;
}

static void store_release(struct kref *ref)
{
	struct store *store = container_of(ref, struct store, ref);

	list_del(&store->list);
	mutex_unlock(&stores_lock);
	pool_detach(store);
	store_destroy(store);
}

void store_put(struct store *store)
{
	kref_put_mutex(&store->ref, store_release, &stores_lock);
}

bool store_refill(struct store *store, gfp_t gfp)
{
	struct rt_node *node;
	unsigned long flags;
	unsigned int lacks, i;

	spin_lock_irqsave(&store->lock, flags);
	lacks = rt_lacks(&store->table);
	spin_unlock_irqrestore(&store->lock, flags);

	for (i = 0; i < lacks + RESERVE_MIN; i++) {
		/* The reserve beyond need is only worth memory that is easily had. */
		node = rt_node_alloc(i < lacks ? gfp : GFP_NOWAIT | __GFP_NOWARN);
		if (!node)
			break;
		spin_lock_irqsave(&store->lock, flags);
		rt_add_node(&store->table, node);
		spin_unlock_irqrestore(&store->lock, flags);
	}
	return i >= lacks || gfpflags_allow_blocking(gfp);
}

u64 store_blocks(const struct store *store)
{
	if (store->pool)
		return store->held + pool_available(store->pool);
	return store->bitmap.size - wal_blocks(store);
}

u64 store_used(const struct store *store)
{
	u64 own = store->pool ? store->held : store->bitmap.size - wal_blocks(store);

	lockdep_assert_held(&store->lock);
	return own - bm_nr_free(&store->bitmap) - wal_pending_blocks(store);
}

void store_has_room(struct store *store)
{
	lockdep_assert_held(&store->lock);
	store->full = false;
	if (store_blocks(store) - store_used(store) > store->low_water) {
		store->low = false;
		store->full_warned = false;
	}
}

void store_give_up(struct store *store, u64 dest, u64 blocks)
{
	lockdep_assert_held(&store->lock);
	if (likely(!store->share)) {
		bm_free(&store->bitmap, dest, blocks);
		return;
	}
	for (; blocks; dest++, blocks--) {
		if (share_give_up(store->share, store->pool_slot, dest))
			free_blocks(&store->bitmap, dest, 1);
		else
			store->held--;
	}
}

static void note_freed(void *ctx, u64 dest, u64 len)
{
	struct store *store = ctx;

	if (unlikely(store->exact))
		exact_cleared(store, dest, len);
	if (store->wal && !INJECTED(reuse))
		wal_freed(store, dest, len);
	else
		store_give_up(store, dest, len);
	store_has_room(store);
}

void store_set_access(struct store *store, bool may_write)
{
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	store->read_only = !may_write;
	WRITE_ONCE(store->no_updates, store->failed || store->read_only);
	/* The next reservation asks what there is room for. */
	store->credits = S64_MIN / 2;
	spin_unlock_irqrestore(&store->lock, flags);
}

s64 store_growth(const struct store *store, u64 limit)
{
	u64 bytes = rt_bytes(&store->table);

	lockdep_assert_held(&store->lock);
	if (!store->table_limit)
		return S64_MAX / 2;
	return limit > bytes ? div_u64(limit - bytes, UPDATE_BYTES) : 0;
}

enum store_room store_make_room(struct store *store, enum rt_kind kind, gfp_t gfp,
				unsigned long *flags)
{
	u64 limit = store->table_limit;

	lockdep_assert_held(&store->lock);
	if (!store->no_updates) {
		if (store->wal)
			return wal_reserve(store, kind, gfp, flags);
		store->credits = store_growth(store, limit);
		/* An eighth is free. */
		if (store_growth(store, limit - limit / 8))
			store->table_warned = false;
		/* What is discarded makes room in the end. */
		if (store->table.reserved <= store->credits ||
		    (kind == RT_HOLE &&
		     store->table.reserved <= store_growth(store, limit + limit / 16)))
			return STORE_ROOM;
	}
	rt_unreserve(&store->table);
	return STORE_NO_ROOM;
}

/* Set @r in the table, under a reservation, and log it if that changed anything. */
static __always_inline u64 store_set_piece(struct store *store, const struct rt_range *r,
					   unsigned int max_entries)
{
	u64 changes, done;

	if (unlikely(store->table.spare < RESERVE_LOW) && !INJECTED(allocates))
		schedule_work(&store->refill);
	if (!store->wal) {
		store->credits--;
		return rt_set(&store->table, r, max_entries, note_freed, store);
	}
	changes = store->table.changes;
	done = rt_set(&store->table, r, max_entries, note_freed, store);
	if (store->table.changes != changes)
		wal_append(store, r, done);
	return done;
}

/* Is @r in the table already? */
static bool is_set(struct store *store, const struct rt_range *r)
{
	struct rt_range old;

	store_lookup(store, r->start, &old);
	return !store->no_updates && old.kind == r->kind && old.value == r->value &&
	       old.len >= r->len;
}

/* Give memory back once a large part of the table is gone. */
static void trim_reserve(struct store *store)
{
	struct rt_node *node;
	unsigned long flags;

	while (READ_ONCE(store->table.spare) > RESERVE_MAX) {
		spin_lock_irqsave(&store->lock, flags);
		node = rt_take_spare(&store->table);
		spin_unlock_irqrestore(&store->lock, flags);
		if (!node)
			return;
		rt_node_free(node);
	}
}

bool store_set(struct store *store, struct rt_range *r, gfp_t gfp)
{
	unsigned long flags;
	u64 done;

	for (;;) {
		spin_lock_irqsave(&store->lock, flags);
		if (!store_reserve(store, r->kind, gfp, &flags)) {
			spin_unlock_irqrestore(&store->lock, flags);
			return is_set(store, r);
		}
		done = store_set_piece(store, r, MAX_ENTRIES);
		spin_unlock_irqrestore(&store->lock, flags);
		if (likely(done == r->len))
			break;
		r->start += done;
		r->len -= done;
		if (gfpflags_allow_blocking(gfp))
			cond_resched();
	}
	r->len = 0;
	if (unlikely(READ_ONCE(store->table.spare) > RESERVE_MAX))
		trim_reserve(store);
	return true;
}

bool store_set_at_once(struct store *store, const struct rt_range *r)
{
	unsigned long flags;
	u64 done = 0;

	spin_lock_irqsave(&store->lock, flags);
	/* What must wait is nothing for here: not even the nodes' reserve is filled. */
	if (likely(!range_busy(&store->locks, r->start, r->start + r->len - 1) &&
		   (s64)store->table.reserved < store->credits && rt_reserve(&store->table)))
		done = store_set_piece(store, r, MAX_ENTRIES);
	spin_unlock_irqrestore(&store->lock, flags);
	return done == r->len;
}

void store_commit(struct store *store, const struct rt_range *r)
{
	lockdep_assert_held(&store->lock);
	/* Allocated for the part of one old range: one old entry. */
	WARN_ON_ONCE(store_set_piece(store, r, UINT_MAX) != r->len);
}

void store_abort(struct store *store, u64 dest, u64 len)
{
	lockdep_assert_held(&store->lock);
	rt_unreserve(&store->table);
	store_free_run(store, dest, len);
}

void store_lookup(struct store *store, u64 block, struct rt_range *out)
{
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	rt_lookup(&store->table, block, out);
	spin_unlock_irqrestore(&store->lock, flags);
}

u64 store_allocatable(const struct store *store)
{
	u64 free = bm_nr_free(&store->bitmap);

	lockdep_assert_held(&store->lock);
	return free - min(free, share_spare(store->share));
}

/* Of a disk of a pool that has no room left. */
static u64 alloc_from_pool(struct store *store, u64 hint, u64 want, bool shared, u64 *got)
{
	u64 dest, left = 0;

	/* What is granted may go to the spare. */
	while (!left && pool_grant(store, hint))
		left = store_allocatable(store);
	if (left)
		return bm_alloc(&store->bitmap, hint, min(want, left), got);
	if (!shared)
		return BM_NONE;
	dest = bm_alloc(&store->bitmap, hint, want, got);
	pool_spare_used(store);
	return dest;
}

u64 store_alloc(struct store *store, u64 block, u64 hint, u64 want, bool shared, u64 *got)
{
	u64 dest = BM_NONE, left = store_allocatable(store);

	lockdep_assert_held(&store->lock);
	if (block == store->seq_block)
		hint = store->seq_dest;
	if (likely(left))
		dest = bm_alloc(&store->bitmap, hint, min(want, left), got);
	else if (store->pool)
		dest = alloc_from_pool(store, hint, want, shared, got);
	if (unlikely(dest == BM_NONE)) {
		/* Of a pool's, other stores may have blocks to spare: see piece_without_room(). */
		store->full = !store->pool && !wal_pending_blocks(store);
		return BM_NONE;
	}
	store->seq_block = block + *got;
	store->seq_dest = dest + *got;
	if (bm_nr_free(&store->bitmap) <= store->low_water &&
	    store_blocks(store) - store_used(store) <= store->low_water)
		store->low = true;
	return dest;
}

u64 store_alloc_run(struct store *store, u64 blocks, unsigned long *flags)
{
	u64 from = 0, of_pool = store->pool ? 0 : BM_NONE, dest = BM_NONE;

	lockdep_assert_held(&store->lock);
	for (;;) {
		if (from != BM_NONE)
			dest = bm_alloc_run(&store->bitmap, &from, blocks, MAX_RUNS);
		if (dest != BM_NONE) {
			if (store->share)
				pool_spare_used(store);
			return dest;
		}
		if (from == BM_NONE) {
			if (of_pool == BM_NONE)
				return BM_NONE;
			/* What is granted is looked for among its own. */
			if (pool_grant_run(store, &of_pool, blocks))
				from = 0;
		}
		spin_unlock_irqrestore(&store->lock, *flags);
		cond_resched();
		spin_lock_irqsave(&store->lock, *flags);
	}
}

bool store_find_room(struct store *store, bool *barren)
{
	bool first = !*barren;

	if (PLANTED_PAUSE)
		msleep(PLANTED_PAUSE_MS);
	*barren = !((store->pool && !INJECTED(selfish) && pool_collect(store)) ||
		    (store->wal && wal_wait_free(store, GFP_NOIO)));
	if (INJECTED(once))
		return !*barren;
	/* Since the allocation somebody else may have found what there was. Then it is free now. */
	return !*barren || first;
}

u64 store_get_run(struct store *store, u64 blocks)
{
	unsigned long flags;
	bool barren = false;
	u64 dest;

	do {
		spin_lock_irqsave(&store->lock, flags);
		dest = store_alloc_run(store, blocks, &flags);
		spin_unlock_irqrestore(&store->lock, flags);
	} while (dest == BM_NONE && store_find_room(store, &barren));
	return dest;
}

void store_free_run(struct store *store, u64 dest, u64 blocks)
{
	lockdep_assert_held(&store->lock);
	/* It never was in the table, and so not in the log. */
	store_give_up(store, dest, blocks);
	store_has_room(store);
}

bool store_empty(struct store *store)
{
	unsigned long flags;
	bool empty;

	spin_lock_irqsave(&store->lock, flags);
	empty = !store_used(store) && !store->table.ranges[RT_FILL] &&
		!store->table.ranges[RT_SQUASHED] && !store->table.ranges[RT_STORED] &&
		!store->table.ranges[RT_PACKED];
	spin_unlock_irqrestore(&store->lock, flags);
	return empty;
}

int store_set_zones(struct store *store, const struct format_zones *zones, const char **error)
{
	if (format_same_zones(&store->zones, zones))
		return 0;
	if (store->zones.size) {
		*error = zones->size ?
"zones: the store has other zones, of another size, capacity or number of conventional ones" :
			 "zones: the store is of a zoned disk: the table must have its zones";
		return -EINVAL;
	}
	if (!store_empty(store)) {
		*error = "zones: the store is of a disk without zones, and not empty";
		return -EINVAL;
	}
	store->zones = *zones;
	return 0;
}

enum david_state store_state(struct store *store)
{
	/* Other disks may have made room in a pool since. */
	u64 more = store->pool ? pool_available(store->pool) : 0;

	if (READ_ONCE(store->failed))
		return DAVID_STATE_FAILED;
	if (READ_ONCE(store->full) && !more)
		return DAVID_STATE_FULL;
	return READ_ONCE(store->low) && more <= store->low_water ? DAVID_STATE_LOW :
								   DAVID_STATE_OK;
}

void store_stats(struct store *store, struct david_stats *st)
{
	enum meta_area area;
	unsigned long flags;

	stats_read(store->stats, st);
	figures_stats(store->figures, store->block_size, st);
	if (store->pool) {
		st->pool_saved = pool_saved(store->pool);
		st->pool_memory = pool_memory(store->pool);
	}
	st->state = store_state(store);
	st->fault = READ_ONCE(store->fault);
	st->log_retries = READ_ONCE(store->log_retries);
	st->block_size = store->block_size;
	st->target_sectors = store->target_sectors;
	st->store_low_water = store->low_water;
	st->mem[DAVID_MEM_POOLS] += wal_bytes(store);
	st->mem[DAVID_MEM_TARGET] += sizeof(*store) + nr_cpu_ids * sizeof(struct stats) +
				     packs_bytes(store) + raw_bytes(&store->raw) +
				     twins_bytes(READ_ONCE(store->twins));

	spin_lock_irqsave(&store->lock, flags);
	st->store_blocks = store_blocks(store);
	st->store_used = store_used(store);
	/* The log has two of them. */
	st->mem[DAVID_MEM_BITMAP] = store->bitmap.bytes * (store->wal ? 3 : 1);
	st->mem[DAVID_MEM_RANGES] = rt_bytes(&store->table);
	/* The two enums number the kinds alike. */
	BUILD_BUG_ON((int)DAVID_RANGE_STORED != (int)RT_STORED);
	BUILD_BUG_ON((int)DAVID_RANGE_FILL != (int)RT_FILL);
	BUILD_BUG_ON((int)DAVID_RANGE_PACKED != (int)RT_PACKED);
	COPY_ARRAY(st->ranges, store->table.ranges);
	COPY_ARRAY(st->blocks, store->table.blocks);
	for (area = 0; area < META_AREAS; area++)
		st->blocks[DAVID_RANGE_STORED] -= store->meta_pages[area];
	st->packs_store = store->meta_pages[META_PACKS];
	csum_stats(store, st);
	exact_stats(store, st);
	spin_unlock_irqrestore(&store->lock, flags);
}

int store_stats_by_name(const char *name, struct david_stats *st)
{
	struct store *store;
	char *their_name;
	int r = -ENODEV;

	their_name = kmalloc(DM_NAME_LEN + DM_UUID_LEN, GFP_KERNEL);
	if (!their_name)
		return -ENOMEM;
	mutex_lock(&stores_lock);
	list_for_each_entry(store, &stores, list) {
		/* Asked each time: devices can be renamed. */
		if (dm_copy_name_and_uuid(store->md, their_name, their_name + DM_NAME_LEN) ||
		    strcmp(name, their_name))
			continue;
		store_stats(store, st);
		r = 0;
		break;
	}
	mutex_unlock(&stores_lock);
	kfree(their_name);
	return r;
}
