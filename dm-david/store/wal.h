/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The write-ahead log, which makes a store's tables survive on the backing device (format.h).
 *
 * Every change of the range table appends an entry to a log page in memory, under store->lock,
 * which gives the entries their order. At a flush a worker flushes the backing device, writes the
 * non-empty log pages, and makes them durable. So a block is durable before the entry that names
 * it, and the entry before the flush returns. Flushes that come meanwhile are served together by
 * the next round. With nothing to write and no round under way, a flush is passed on as it is.
 *
 * The durable log may still map a block to a freed destination. So a freed destination is not
 * allocated again until the entry that frees it is durable. Until then it waits in a second bitmap,
 * which marks as free what was freed and is not reusable yet.
 *
 * Room. An update of the table must not fail. So the room for its entry in memory is reserved
 * beforehand, together with the nodes (store_reserve()). The log never overflows, as the table may
 * have no more ranges than a checkpoint has room for. The same worker writes the checkpoint, a few
 * pages in each round. A checkpoint needs no memory but its own pages.
 *
 * A store in memory only has no log: store->wal is NULL.
 *
 * Locking: store->lock guards what is in memory. One worker writes.
 */
#ifndef DM_DAVID_WAL_H
#define DM_DAVID_WAL_H

#include <linux/blk_types.h>
#include <linux/list.h>

#include "../lib/format.h"

struct store;
struct workqueue_struct;
struct work_struct;

/* A request that waits until everything before it is durable. */
struct wal_waiter {
	struct list_head list;
	bool flush;		/* flush the backing device, too */
	void (*done)(struct wal_waiter *wait, blk_status_t status);
};

/*
 * Read the store on @bdev into @store, whose table is empty. If @format, or if @bdev is blank,
 * prepare to make a store instead. Only reads. Sets store->wal. Returns 0 or an error, with a text
 * for the user in *@error. Sleeps.
 */
int wal_open(struct store *store, struct block_device *bdev, bool format, bool may_write,
	     char **error);

/* Call with no I/O under way, after wal_stop(). */
void wal_close(struct store *store);

/*
 * A table becomes live, after store_set_access(). Write a superblock that says open and size
 * @blocks. Blocks behind the bitmap's end may be used once this has returned. If the store fails
 * before wal_stop() has returned, @event is queued on @wq. A read-only table writes nothing. A
 * store that has failed stays failed: it can be read, and 0 is returned. Otherwise returns the
 * result of the write. Sleeps.
 */
int wal_start(struct store *store, struct block_device *bdev, u64 blocks,
	      sector_t target_sectors, u64 seed, struct workqueue_struct *wq,
	      struct work_struct *event);

/*
 * The log's bitmaps of what waits to be reusable, for a store of @blocks, in which nothing waits.
 * wal_maps_init() makes them before the store grows; it sleeps. wal_maps_swap() exchanges them for
 * the old ones, in which nothing waits either; the caller holds store->lock.
 */
struct wal_maps {
	struct remap_bitmap pending;	/* freed after the round took its entries */
	struct remap_bitmap sealed;	/* freed before that; reusable when the round ends */
};

int wal_maps_init(struct wal_maps *maps, u64 blocks);
void wal_maps_swap(struct store *store, struct wal_maps *maps);
void wal_maps_destroy(struct wal_maps *maps);

/* Ranges that the table may have; 0: any number. */
u64 wal_ranges_limit(const struct store *store);

/*
 * Before wal_start(), if the table names another backing device: returns 0 if the store was stopped
 * well and @bdev holds a copy of it as it was left. Otherwise -EINVAL, -ENOMEM, or the error of a
 * read. Sleeps.
 */
int wal_check_copy(struct store *store, struct block_device *bdev);

/* Has it been started, and not been stopped? Without locks. */
bool wal_is_live(const struct store *store);

/*
 * All I/O has ended: write everything, and mark the store clean. Does nothing if wal_start() wrote
 * nothing. If a write fails, the store fails. Sleeps.
 */
void wal_stop(struct store *store);

/* Log that @len blocks of @r were set, by a reserved entry. store->lock is held. Any context. */
void wal_append(struct store *store, const struct rt_range *r, u64 len);

/* An update of the table freed a destination. store->lock is held. Any context. */
void wal_freed(struct store *store, u64 dest, u64 len);

enum store_room {
	STORE_ROOM,	/* the reservation stands */
	STORE_AGAIN,	/* it was returned; there may be room now */
	STORE_NO_ROOM,	/* it was returned; as store_reserve() that returns false */
};

/* Part of store_make_room(), with a log. */
enum store_room wal_reserve(struct store *store, enum rt_kind kind, gfp_t gfp,
			    unsigned long *flags);

/*
 * The store is full: wait for blocks that were freed but are not reusable yet, if @gfp may sleep.
 * False if there are none, or if nothing may change.
 */
bool wal_wait_free(struct store *store, gfp_t gfp);

/*
 * Call @wait->done, in process context, when everything before is durable. Returns false if there
 * is nothing to wait for. With @wait->flush the caller then only has to flush the backing device.
 * Any context.
 */
bool wal_sync(struct store *store, struct wal_waiter *wait);

/* Make everything before durable, on @bdev, which is the live table's. Sleeps. */
blk_status_t wal_make_durable(struct store *store, struct block_device *bdev);

/*
 * Blocks will be packed (lib/pack.h): have the superblock say so, which an older module refuses.
 * False: it cannot be written. Sleeps.
 */
bool wal_allow_packs(struct store *store);

/* Blocks that are freed, but not reusable yet. store->lock is held. */
u64 wal_pending_blocks(const struct store *store);

/* Blocks of superblocks and log. */
u64 wal_blocks(const struct store *store);

/* Bytes of memory that the log takes. */
u64 wal_bytes(const struct store *store);

#endif
