/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store: what dm-david keeps of a fake disk, and where.
 *
 * One store belongs to one backing device, and to one place (mapped device and start sector) in
 * device-mapper. It outlives single tables: when a table is reloaded, the new table's target finds
 * the store of the old one and goes on with it. Loading a table takes a reference, and may make
 * empty tables of the store (checksums, exact data). Only I/O and resume change its content, and
 * device-mapper lets through one table's I/O at a time.
 *
 * The store survives on its backing device (wal.h), or is in memory only. In memory only, the
 * disk's content goes with the last reference.
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
#include "../lib/bitmap.h"
#include "wal.h"
#include "metapages.h"
#include "../base/rangelock.h"
#include "../lib/rangetable.h"
#include "raw.h"
#include "rawstore.h"
#include "../base/stats.h"

struct mapped_device;
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

	/* Identity, constant. */
	struct mapped_device *md;
	sector_t begin;			/* of the target in the mapped device */
	unsigned int block_size;	/* bytes */
	unsigned int block_shift;	/* log2 of sectors a block */

	sector_t target_sectors;	/* of the live table, set when it resumes */
	u64 low_water;			/* blocks, likewise */
	u64 seed;			/* likewise, or as it was recorded */

	spinlock_t lock;		/* irqsave; guards the following */
	struct rangetable table;
	struct remap_bitmap bitmap;
	struct range_locks locks;
	u64 seq_block;			/* target block behind the one allocated last */
	u64 seq_dest;			/* the destination to try for it */
	u64 table_limit;		/* of the range table's memory, bytes: table_memory= */
	s64 credits;			/* updates that may be reserved before room is sought */
	bool failed;			/* the log cannot be written: permanently */
	bool read_only;			/* the live table is */
	bool no_updates;		/* failed or read_only: nothing may change */
	enum david_fault fault;		/* why it failed */
	u64 log_retries;
	bool full;			/* an allocation failed, nothing freed since */
	bool low;			/* no more free than low_water */
	bool full_warned;		/* full was reported, and low has been true since */
	bool table_warned;		/* that the table is full was reported */
	u64 meta_pages[META_AREAS];	/* blocks that the module's own pages take */
	bool has_csums;			/* squashed blocks may have checksums */
	struct csums *csums;		/* them, NULL if no table ever wanted any */
	struct exact *exact;		/* NULL if no table ever wanted it */

	struct raw raw;			/* RAW rules */
	struct rawstore rules;		/* where they are saved; under raw.lock */

	struct stats __percpu *stats;
	struct model_figures model;
	enum david_mode mode;		/* of the live table */
	atomic64_t classify_bytes;	/* of implicit classification */
	atomic64_t unclassified[DAVID_UNCLASSIFIED_NR];	/* bytes */
	atomic64_t raw_names, raw_names_full;	/* classify=implicit: files RAW by name */
	atomic64_t model_bytes;		/* bytes held by the targets' models */
	atomic64_t pools;		/* bytes held by the targets' pools */
	atomic64_t target_bytes;	/* bytes held otherwise */
};

/*
 * Find the store of (@md, @begin), open the one on @backing, or make one there.
 * Takes a reference. On error returns ERR_PTR and sets *@error to a text for
 * the user: the backing device serves another store, the geometry differs
 * from that of the live one, or what stands on it is no store. Writes nothing. Sleeps.
 */
struct store *store_get(struct mapped_device *md, sector_t begin, struct block_device *backing,
			bool may_write, unsigned int block_size, enum store_kind kind,
			char **error);
/* Drop a reference. Sleeps. */
void store_put(struct store *store);

/*
 * A table becomes live. If @bdev is another backing device than before, check that @bdev holds a
 * copy of this store, and switch to it. Returns 0, or an error with its text in *@error. Sleeps.
 */
int store_follow(struct store *store, struct block_device *bdev, const char **error);

/* Blocks of the backing device, less those of superblocks and log. */
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

/* A table becomes live or, before it does, is known to be read-only. Takes store->lock. */
void store_set_access(struct store *store, bool may_write);

/* How many more updates fit before the range table takes @limit bytes. store->lock is held. */
s64 store_growth(const struct store *store, u64 limit);

/* More updates are reserved than store->credits: make room. Otherwise as store_reserve(). */
bool store_make_room(struct store *store, enum rt_kind kind, gfp_t gfp, unsigned long *flags)
	__must_hold(&store->lock);

/*
 * Reserve one update of the range table. store->lock is held, with @flags. It is released while
 * nodes are allocated, or while room in the log is waited for. Returns false without memory or
 * room. If @gfp may sleep, false means that the store refuses the update: store_refused() says why.
 * (The kernel does not fail allocations this small.)
 */
static inline bool store_reserve(struct store *store, enum rt_kind kind, gfp_t gfp,
				 unsigned long *flags)
	__must_hold(&store->lock)
{
	bool again = true;

	lockdep_assert_held(&store->lock);
	while (again && unlikely(!rt_reserve(&store->table))) {
		spin_unlock_irqrestore(&store->lock, *flags);
		again = store_refill(store, gfp);
		spin_lock_irqsave(&store->lock, *flags);
	}
	if (again && unlikely(store->table.reserved > store->credits)) {
		again = store_make_room(store, kind, gfp, flags);
		if (!again)
			rt_unreserve(&store->table);
	}
	return again;
}

/* Why a reservation was refused that could have slept: the table is full, or nothing may change. */
static inline blk_status_t store_refused(const struct store *store)
{
	return READ_ONCE(store->no_updates) ? BLK_STS_IOERR : BLK_STS_NOSPC;
}

/*
 * Apply @r to the table piecewise, each piece under a reservation of its own, and
 * free the destinations given up. The caller holds a range lock on all of it.
 * Returns false without a reservation, with @r cut down to what is left to do.
 */
bool store_set(struct store *store, struct rt_range *r, gfp_t gfp);

/*
 * As store_set(), but without a range lock, in one hold of store->lock. Returns false if another
 * request holds a range lock there, or without memory: then nothing is changed. Also if the update
 * is too large for one hold: then its first part is done. The caller takes the range lock and calls
 * store_set() for all of it.
 */
bool store_set_at_once(struct store *store, const struct rt_range *r, gfp_t gfp);

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
 * Allocate up to @want destinations for target blocks from @block on: behind
 * those allocated last if @block follows them, else at @hint. Returns BM_NONE
 * if the store is full. store->lock is held. Sets store->full and store->low.
 */
u64 store_alloc(struct store *store, u64 block, u64 hint, u64 want, u64 *got);

/*
 * Destinations for the module's own use, as one run: the first, or BM_NONE if
 * there is no such run. They belong to no target block. store->lock is held, with @flags, and is
 * let go in between where the search is long. Sleeps.
 */
u64 store_alloc_run(struct store *store, u64 blocks, unsigned long *flags)
	__must_hold(&store->lock);
/* store->lock is held. Any context. */
void store_free_run(struct store *store, u64 dest, u64 blocks);

/* Blocks were freed, though they may not be reusable yet. store->lock is held. */
void store_has_room(struct store *store);

/* Does the store hold nothing at all? The caller keeps out I/O if that is to stay true. */
bool store_empty(struct store *store);

/* The state to report, enum david_state; @store->lock need not be held. */
enum david_state store_state(struct store *store);

#endif
