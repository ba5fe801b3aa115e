/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pool: one backing device for several disks (poolfmt.h has its format).
 *
 * Each disk has a store of its own: table, log, locks, statistics. Only the blocks are the pool's.
 * The pool grants them to a store in batches. A block is free in a store's bitmap if the pool has
 * granted it to the store and the store does not use it. So what a disk does costs the same
 * whatever other disks there are: it takes the pool's lock once in a batch.
 *
 * Freed blocks stay with the store that freed them. When the pool has none left, a worker takes
 * what other stores have beyond their reserves. A closed store gives all its free blocks back.
 *
 * Reserve. A disk can always have so many blocks, however full the others make the pool. An open
 * disk holds its reserve as blocks granted to it; for closed disks the pool keeps so many free.
 *
 * A pool is opened with the first of its disks, and closed with the last. To open it is to read the
 * logs of all its disks: what no table names is free. Nothing but the directory is written for the
 * pool itself, so power cuts matter only there, and it has two copies.
 *
 * Sharing. With `david pool create --share` blocks of the same content on several disks are stored
 * once: share.h, and io/share.c on a request's way. Each disk that has such a block counts it.
 *
 * Growing. The device's new end is used when the pool is opened, or when all of its open disks are
 * suspended and one is resumed: `david pool grow`.
 *
 * Locking: pools are found under pools_lock, which is not held over I/O: who finds one that is
 * being opened waits for that. pool->members_lock, a mutex, guards the directory and the list of
 * open stores; it is held over I/O, but never while memory is allocated that may wait for I/O.
 * pool->start_lock, a mutex outside of it, lets disks become live one after the other. pool->lock,
 * a spinlock within store->lock, guards the blocks.
 */
#ifndef DM_DAVID_POOL_H
#define DM_DAVID_POOL_H

#include <linux/gfp_types.h>
#include <linux/types.h>

struct block_device;
struct format_super;
struct pool;
struct store;

/* The disk that a table line wants of a pool. */
struct pool_want {
	const char *disk;	/* NULL: no pool */
	/* Of a new disk: */
	u64 reserve;		/* blocks; U64_MAX: 1/256 of the pool */
	u64 log_pages;		/* 0: the default */
};

/*
 * Find the pool on @bdev, or open it. Takes a reference. On error returns ERR_PTR, with a text for
 * the user in *@error. Only reads. Sleeps.
 */
struct pool *pool_get(struct block_device *bdev, char **error);
/* Drop a reference. Sleeps. */
void pool_put(struct pool *pool);

/* @store has used blocks of its spare, and gets others for them first. store->lock is held. */
void pool_spare_used(struct store *store);

/* Blocks of the backing device, as far as they are used. */
u64 pool_blocks(const struct pool *pool);

/*
 * @store, not live yet, becomes the pool's disk @want->disk: sets store->pool and what goes with
 * it. A disk that is new gets an area and its reserve. On success takes over the caller's
 * reference. Sleeps.
 */
int pool_attach(struct store *store, struct pool *pool, const struct pool_want *want,
		bool may_write, char **error);
/* Its tables were read: others may take its free blocks from now on. */
void pool_join(struct store *store);
/* Nothing uses @store any more: it gives back its blocks and the reference. Sleeps. */
void pool_detach(struct store *store);

/*
 * @store becomes live: call pool_starting() before wal_start(), and pool_started() after it. If
 * @bdev has grown, and no disk of the pool is at work, pool_starting() grows the pool and the maps
 * of all its open disks. It writes the directory with the new size first. Sleeps; @store's caller
 * has seen to it that allocations do not wait for I/O.
 */
void pool_starting(struct store *store, struct block_device *bdev);
void pool_started(struct store *store);

/* Where the area of @store begins, pages; and whether it is new. */
u64 pool_area(const struct store *store, u64 *pages, bool *fresh);
/* What was read from its area: NULL, or what is wrong with it. */
const char *pool_check(const struct store *store, const struct format_super *super);

/*
 * The superblocks of @store, with @uuid, are durable: enter it into the directory, if it is new.
 * When this has returned, the pool's size is durable, too. Sleeps.
 */
int pool_enter(struct store *store, struct block_device *bdev, const u8 *uuid);

/* Drop the disk @name, which must be closed, and free its blocks. 0, or an error and a text. */
int pool_drop(struct pool *pool, struct block_device *bdev, const char *name, char **error);

/* As the table line has them. */
const char *pool_disk_name(const struct store *store);
u64 pool_reserve(const struct store *store);
u64 pool_log_pages(const struct store *store);

/* Bytes that the pool itself takes: not its disks. */
u64 pool_memory(const struct pool *pool);

/* Blocks that sharing saves in the whole pool. A figure of the moment. */
u64 pool_saved(const struct pool *pool);

/* Blocks that any disk may have. A figure of the moment, without locks. */
u64 pool_available(const struct pool *pool);

/*
 * Grant @store a batch, at @hint if possible. False if the pool has none. store->lock is held.
 */
bool pool_grant(struct store *store, u64 hint);
/*
 * The same, as one run of @blocks, sought from block *@from on, 0 at first. Looks at a limited
 * number of free runs: *@from is then where to go on, or BM_NONE at the end. store->lock is held.
 */
bool pool_grant_run(struct store *store, u64 *from, u64 blocks);

/*
 * The pool has nothing for @store. If @gfp may sleep: takes what other stores can spare; true if
 * there was something. If @gfp may not sleep: true if a worker that may sleep should try.
 */
bool pool_reclaim(struct store *store, gfp_t gfp);

/* Take what other stores can spare, whatever the pool has. True: there was something. Sleeps. */
bool pool_collect(struct store *store);

#endif
