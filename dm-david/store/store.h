/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store: what dm-david keeps of a fake disk, and where.
 *
 * One store belongs to one backing device, and to one place (mapped device and start sector) in
 * device-mapper. It outlives single tables: when a table is reloaded, the new table's target finds
 * the store of the old one and goes on with it. A table's constructor takes a reference. If the
 * store had no checksums or exact data so far, the constructor allocates empty tables for them.
 * Nothing else of the store changes but by requests, messages and resume. Two tables never do that
 * at once, as device-mapper lets through one table's requests at a time.
 *
 * The store lasts on its backing device (wal.h), or is in memory only. What is in memory only is
 * lost when the last reference is dropped.
 *
 * Locking: store->lock guards all tables (docs/ARCHITECTURE.md#locks). Functions sleep only where
 * they say so, or where @gfp may.
 */
#ifndef DM_DAVID_STORE_H
#define DM_DAVID_STORE_H

#include <linux/atomic.h>
#include <linux/blk_types.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "../lib/bitmap.h"
#include "wal.h"
#include "metapages.h"
#include "../base/inject.h"
#include "../base/rangelock.h"
#include "../lib/rangetable.h"
#include "raw.h"
#include "rawstore.h"
#include "../base/stats.h"

struct mapped_device;
struct packs;
struct pool;
struct pool_want;
struct share;
struct wal;

/* store=: what is to become of the content. */
enum store_kind {
	STORE_AUTO,	/* open the store on the device; format a blank device */
	STORE_FORMAT,	/* format the device, whatever is on it */
	STORE_MEMORY,	/* tables in memory only */
};

struct store {
	struct kref ref;		/* under stores_lock */
	struct list_head list;		/* under stores_lock */
	struct wal *wal;	/* constant; NULL: in memory only */
	dev_t backing;			/* under stores_lock */
	struct pool *pool;	/* constant; NULL: the backing device is this store's alone */
	unsigned int pool_slot;		/* constant: which of its disks */
	u64 owed;			/* of its spare; under pool->lock */
	struct share *share;	/* constant: the pool's, NULL if its disks share no blocks */
	struct list_head pool_list;	/* under pool->members_lock */

	/* Identity, constant. */
	struct mapped_device *md;
	sector_t begin;			/* of the target in the mapped device */
	unsigned int block_size;	/* bytes */
	unsigned int block_shift;	/* log2 of sectors a block */

	sector_t target_sectors;	/* of the live table, set when it resumes */
	u64 low_water;			/* blocks, likewise */
	u64 seed;			/* likewise, or as it was recorded */
	struct format_zones zones;	/* likewise; a store that has zones keeps them */

	spinlock_t lock;		/* irqsave; guards the following */
	struct rangetable table;
	struct work_struct refill;	/* of its reserve of nodes */
	struct remap_bitmap bitmap;
	struct range_locks locks;
	u64 held;			/* with a pool: blocks that it has, in use or free */
	u64 seq_block;			/* target block behind the one allocated last */
	u64 seq_dest;			/* the destination to try for it */
	u64 table_limit;		/* of the range table's memory, bytes: table_memory= */
	s64 credits;			/* to reserve more needs store_make_room() */
	bool failed;			/* the log cannot be written: permanently */
	bool read_only;			/* the live table is */
	bool no_updates;		/* failed or read_only: nothing may change */
	enum david_fault fault;		/* why it failed */
	u64 log_retries;
	bool full;			/* an allocation failed, nothing freed since */
	bool low;			/* no more free than low_water */
	bool full_warned;		/* full was reported; cleared with low */
	bool table_warned;		/* that the table is full was reported */
	u64 meta_pages[META_AREAS];	/* blocks that the module's own pages take */
	struct packs *packs;		/* NULL if nothing was ever packed: packs.h */
	bool has_csums;			/* squashed blocks may have checksums */
	struct csums *csums;		/* them, NULL if no table ever wanted any */
	struct exact *exact;		/* NULL if no table ever wanted it */

	struct raw raw;			/* RAW rules */
	struct twins *twins;		/* NULL until io/twin.c needs it; stays once it is made */
	bool twins_refused;		/* there was no memory for it */
	struct rawstore rules;		/* where they are saved; under raw.lock */

	struct stats __percpu *stats;
	struct figures *figures;	/* constant; the disk's, kept for it over reloads */
};

/*
 * Find the store of (@md, @begin), open the one on @backing, or make one there. With @want->disk,
 * open or make that disk of the pool there. Takes a reference. On error returns ERR_PTR and sets
 * *@error to a text for the user: the backing device serves another store, the geometry differs
 * from that of the live one, or what stands on it is no store. Writes nothing. Sleeps.
 */
struct store *store_get(struct mapped_device *md, sector_t begin, struct block_device *backing,
			bool may_write, unsigned int block_size, enum store_kind kind,
			const struct pool_want *want, char **error);
/* Drop a reference. Sleeps. */
void store_put(struct store *store);

/*
 * A table becomes live. If @bdev is another backing device than before, check that @bdev holds a
 * copy of this store, and switch to it. Returns 0, or an error with its text in *@error. Sleeps.
 */
int store_follow(struct store *store, struct block_device *bdev, const char **error);

/*
 * A table becomes live, of a disk with @zones, or without. Sectors that a zoned disk has would mean
 * something else on a plain one, or with other zones. So that is refused once there is anything in
 * the store: -EINVAL, with a text in *@error. Before wal_start(). Sleeps.
 */
int store_set_zones(struct store *store, const struct format_zones *zones, const char **error);
/* That table did not become live: the store has the zones again that its superblock says. */
void store_unset_zones(struct store *store);

/*
 * How many blocks the store may use. Alone: those of the backing device, less superblocks and log.
 * In a pool: those that the store has, and those that any disk may have (pool_available()). Without
 * store->lock the figure may be out of date at once.
 */
u64 store_blocks(const struct store *store);

/* Those of store_blocks() that are in use. store->lock is held. */
u64 store_used(const struct store *store);

/*
 * Fill all of @st but name, version and size, for the device called @name or for @store. 0, -ENODEV
 * if there is no such device, -ENOMEM. Both sleep.
 */
int store_stats_by_name(const char *name, struct david_stats *st);
void store_stats(struct store *store, struct david_stats *st);

/*
 * Add nodes to the range table's reserve after rt_reserve() failed; store->lock
 * is not held. Returns false if it is no use to try again: there is no memory,
 * and @gfp does not sleep for it.
 */
bool store_refill(struct store *store, gfp_t gfp);

/* The table that becomes live may write, or may not. Takes store->lock. */
void store_set_access(struct store *store, bool may_write);

/* How many more updates fit before the range table takes @limit bytes. store->lock is held. */
s64 store_growth(const struct store *store, u64 limit);

/*
 * Part of store_reserve(), where more updates are reserved than store->credits: wait for room in
 * the log, or find that there is none. The lock and @gfp are as there.
 */
enum store_room store_make_room(struct store *store, enum rt_kind kind, gfp_t gfp,
				unsigned long *flags)
	__must_hold(&store->lock);

/*
 * Reserve one update of the range table. store->lock is held, with @flags. This releases it while
 * it allocates nodes, and while it waits for room in the log. Returns false without memory or room.
 * If @gfp does not sleep, who may sleep should try again. If @gfp may sleep, false is final:
 * store_refused() says why. (The kernel does not fail allocations this small.)
 */
static inline bool store_reserve(struct store *store, enum rt_kind kind, gfp_t gfp,
				 unsigned long *flags)
	__must_hold(&store->lock)
{
	enum store_room room;
	bool filled = true;

	lockdep_assert_held(&store->lock);
	do {
		while (filled && unlikely(!rt_reserve(&store->table))) {
			spin_unlock_irqrestore(&store->lock, *flags);
			filled = store_refill(store, gfp);
			spin_lock_irqsave(&store->lock, *flags);
		}
		if (!filled || likely(store->table.reserved <= store->credits))
			return filled;
		room = store_make_room(store, kind, gfp, flags);
	} while (room == STORE_AGAIN);
	return room == STORE_ROOM;
}

/* Why a reservation was refused that could have slept: the table is full, or nothing may change. */
static inline blk_status_t store_refused(const struct store *store)
{
	return READ_ONCE(store->no_updates) ? BLK_STS_IOERR : BLK_STS_NOSPC;
}

/*
 * Apply @r to the table piecewise, each piece under a reservation of its own, and
 * free the destinations given up. The caller holds a range lock on all of it.
 * Returns false if an update could not be reserved and the table does not have it already; @r is
 * then what is left to do.
 */
bool store_set(struct store *store, struct rt_range *r, gfp_t gfp);

/*
 * As store_set(), but without a range lock, in one hold of store->lock. If it returns false, the
 * caller takes the range lock and calls store_set() for all of @r. It returns false
 *
 *	if another request holds a range lock there, or if an update cannot be reserved without
 *	allocating nodes or making room; nothing is changed then
 *	if the update is too large for one hold; its first part is done then
 */
bool store_set_at_once(struct store *store, const struct rt_range *r);

/*
 * Enter newly written destinations, under a reservation made before. store->lock
 * is held. Any context.
 */
void store_commit(struct store *store, const struct rt_range *r);

/*
 * Undo store_reserve() and store_alloc(): return the reservation, free the destinations.
 * store->lock is held. Any context.
 */
void store_abort(struct store *store, u64 dest, u64 len);

/* Look up the range at @block, cut to begin there. Takes store->lock. */
void store_lookup(struct store *store, u64 block, struct rt_range *out);

/*
 * Allocate a run of up to @want destinations, for target blocks from @block on. Returns the first,
 * and their number in *@got. If @block is the one behind those of the last call, the run is sought
 * behind its destinations, else at @hint. @shared: in place of blocks that other disks have, too;
 * it may use the spare. Returns BM_NONE if the store is full. store->lock is held. Sets store->full
 * and store->low.
 */
u64 store_alloc(struct store *store, u64 block, u64 hint, u64 want, bool shared, u64 *got);

/*
 * Free blocks of the store that store_alloc() may give to any target block: all but the spare.
 * store->lock is held.
 */
u64 store_allocatable(const struct store *store);

/*
 * Destinations for the module's own use, as one run: the first, or BM_NONE if
 * there is no such run. They belong to no target block. store->lock is held, with @flags, and is
 * let go in between where the search is long. Sleeps.
 */
u64 store_alloc_run(struct store *store, u64 blocks, unsigned long *flags)
	__must_hold(&store->lock);

/*
 * An allocation found no room. Wait until there may be more free blocks than there were: those that
 * other disks of the pool can spare, and what was freed and is not durable yet. True: allocate once
 * more. False: there are none to be had. *@barren is false at first, and is this function's own
 * until the allocation succeeds. store->lock is not held. Sleeps.
 */
bool store_find_room(struct store *store, bool *barren);

/* store_alloc_run() with all the room that can be made. store->lock is not held. Sleeps. */
u64 store_get_run(struct store *store, u64 blocks);

/* store->lock is held. Any context. */
void store_free_run(struct store *store, u64 dest, u64 blocks);

/*
 * Free blocks, and return how many. A planted bug may have freed some of them before, for another
 * of their holders. The bitmap's lock is held. Any context.
 */
static inline u64 free_blocks(struct remap_bitmap *bm, u64 dest, u64 len)
{
	u64 freed = 0;

	if (!PLANTED_TWICE) {
		bm_free(bm, dest, len);
		return len;
	}
	for (; len; dest++, len--) {
		if (!bm_test(bm, dest))
			continue;
		bm_free(bm, dest, 1);
		freed++;
	}
	return freed;
}

/*
 * The store has no use for these blocks any more, and that is durable: they are free, but for those
 * that other disks have, too. store->lock is held. Any context.
 */
void store_give_up(struct store *store, u64 dest, u64 blocks);

/* Blocks were freed, though they may not be reusable yet. store->lock is held. */
void store_has_room(struct store *store);

/* Does the store hold nothing at all? The caller keeps out I/O if that is to stay true. */
bool store_empty(struct store *store);

/* The state to report, enum david_state; @store->lock need not be held. */
enum david_state store_state(struct store *store);

#endif
