/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What makes a store survive: its tables are logged on the backing device (format.h).
 *
 * Every change of the range table leaves an operation in a page in memory,
 * under store->lock, which gives them their order. At a flush a worker writes the
 * pages that have something in them, after a flush, and sees to it that they last:
 * blocks are durable before the operations that speak of them, and those before the flush
 * returns. Flushes that come meanwhile are served together by the next round.
 * With nothing to write and nothing under way a flush passes by as it is.
 *
 * A destination that is given up may stand in the log as somebody's until the
 * operation that frees it is durable, so until then it is not allocated anew. It
 * waits in a second bitmap, in which "free" means that.
 *
 * Room. An update of the table must not fail, so the room for its operation in
 * memory is reserved beforehand, together with the nodes (store_reserve()). The
 * log never overflows because the table is not let grow beyond what a
 * checkpoint has room for; the checkpoint itself is written by the same worker, a
 * few pages with each round, and needs nothing but its own pages.
 *
 * A store in memory only has none of this: store->wal is NULL.
 */
#ifndef DM_DAVID_WAL_H
#define DM_DAVID_WAL_H

#include <linux/blk_types.h>
#include <linux/list.h>

#include "../lib/format.h"

struct store;
struct workqueue_struct;
struct work_struct;

/* Somebody who waits until all that came before is durable. */
struct wal_waiter {
	struct list_head list;
	bool flush;		/* blocks, too, not only the tables */
	void (*done)(struct wal_waiter *wait, blk_status_t status);
};

/*
 * Look at @bdev and read the store on it into @store, whose table is empty, or
 * prepare to make one (@format, or @bdev blank). Only reads. Fills
 * store->wal. Returns 0 or an error with *@error a text for the user.
 */
int wal_open(struct store *store, struct block_device *bdev, bool format, bool may_write,
	     char **error);

/* Only when no I/O is under way, after wal_stop(). */
void wal_close(struct store *store);

/*
 * A table becomes live, after store_set_access(): mark the store as open, and as one of @blocks:
 * those behind the bitmap's end may be used once it has returned. Should the store fail before
 * wal_stop() has returned, @event is queued on @wq. Of a table that is read-only nothing is
 * written. A store that has failed stays so: it can be read, and 0 is returned. Else what writing
 * gave. Sleeps.
 */
int wal_start(struct store *store, struct block_device *bdev, u64 blocks,
	      sector_t target_sectors, u64 seed, struct workqueue_struct *wq,
	      struct work_struct *event);

/*
 * Bitmaps of @blocks, with nothing free, for what is given up: made before the store becomes
 * larger. Then they take the place of the old ones, in which nothing is free, under store->lock.
 */
struct wal_maps {
	struct remap_bitmap pending;	/* "free": given up since the round began */
	struct remap_bitmap sealed;	/* ... and before, durable when it ends */
};

int wal_maps_init(struct wal_maps *maps, u64 blocks);
void wal_maps_swap(struct store *store, struct wal_maps *maps);
void wal_maps_destroy(struct wal_maps *maps);

/* Ranges that the table may have; 0: any number. */
u64 wal_ranges_limit(const struct store *store);

/*
 * Before that, where the table names another backing device: 0 if the store was stopped well and
 * stands on @bdev just as it was left, else -EINVAL, or what reading gave. Sleeps.
 */
int wal_check_copy(struct store *store, struct block_device *bdev);

/*
 * All I/O has ended: write everything. Does nothing if wal_start() wrote nothing. What cannot
 * be written makes the store fail. Sleeps.
 */
void wal_stop(struct store *store);

/* The first @len blocks of @r were set, under a reservation. store->lock is held. Any context. */
void wal_record(struct store *store, const struct rt_range *r, u64 len);

/* A destination was given up by that. store->lock is held. Any context. */
void wal_freed(struct store *store, u64 dest, u64 len);

/*
 * The reservation just made has no room in the log: wait for it, if @gfp may sleep.
 * store->lock is held, and let go meanwhile. False, with the reservation still there, if
 * there is none: store_refused() says why.
 */
bool wal_reserve(struct store *store, enum rt_kind kind, gfp_t gfp, unsigned long *flags);

/* The store is full, but blocks wait to become free: wait for them. False if there are none. */
bool wal_wait_free(struct store *store, gfp_t gfp);

/*
 * Call @wait->done, in process context, when everything before is durable. Returns
 * false if there is nothing to wait for: with @wait->flush a flush of the backing
 * device is then all that is needed. Any context.
 */
bool wal_sync(struct store *store, struct wal_waiter *wait);

/* Blocks that are given up, but not free yet. store->lock is held. */
u64 wal_pending_blocks(const struct store *store);

/* Blocks that the format takes. */
u64 wal_blocks(const struct store *store);

/* Memory, bytes. */
u64 wal_bytes(const struct store *store);

#endif
