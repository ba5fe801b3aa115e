/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checksums of squashed blocks in a live store: crctable.h and crcforge.h with locks and I/O.
 *
 * btrfs keeps a crc32c of each 4 KiB sector of a file. So the store keeps the crc32c of what it
 * squashes, and a read returns content forged to have that crc32c. The forged content depends on
 * the place alone, not on the reader (scrub reads into pages of its own) or the length of the read.
 * csum-policy.h decides whose writes have their checksums kept.
 *
 * A unit is 4 KiB of the target, aligned to 4 KiB. Only whole units, written by one request, are
 * squashed with a checksum.
 *
 * The rule that keeps range table and checksums together: a block's checksum is set in the same
 * hold of store->lock in which the block becomes SQUASHED, or before, under the range lock. Reads
 * of squashed blocks take the range lock, too, once a store has checksums. Checksums of stored
 * blocks count only for blocks that may be squashed later: exact data, and undecided blocks.
 * Those of other blocks mean nothing; they are dropped where that needs no I/O.
 *
 * A checksum that is not in memory is read by a worker while the request is deferred.
 *
 * If the store survives, so do the chunks, as metapages (metapages.h). A flush that finds unsaved
 * chunks is queued by csum_sync() until a worker has written them. Only then the flush goes on to
 * the log, which says where the chunks are. So when a flush completes, every block squashed before
 * it has its checksum. The log may be ahead of the chunks: after a power cut it may say that a
 * block is squashed whose checksum is lost. Then no flush came after that write, so nothing that
 * survives refers to its content.
 *
 * Locking: the table is under store->lock; struct csums has a mutex for its workers.
 */
#ifndef DM_DAVID_CSUM_H
#define DM_DAVID_CSUM_H

#include <linux/bio.h>
#include <linux/workqueue.h>
#include "../lib/crctable.h"
#include "wal.h"
#include "../lib/rangetable.h"

struct csums;
struct david_stats;
struct store;

#define CSUM_UNIT	4096u			/* bytes */
#define CSUM_SECTORS	(CSUM_UNIT >> SECTOR_SHIFT)
#define CSUM_BATCH	32			/* units at a time, for the stack's sake */

/* Per-target context for checksum I/O. The target sets the first five. */
struct csum_io {
	struct store *store;
	struct block_device *bdev;	/* the backing device */
	struct workqueue_struct *wq;
	const char *name;		/* the target's, for messages */
	unsigned int megabytes;		/* limit of the store's table in memory */
	struct work_struct evict;
	struct work_struct sync;
	struct list_head waiters;	/* for sync; under store->lock */
};

/*
 * In ctr: prepare @io, and make the store's table, if there is none yet and it is @wanted or
 * the store has checksums from before. 0 or -ENOMEM. Sleeps.
 */
int csum_create(struct csum_io *io, bool wanted);
/* When the store goes. Takes NULL. */
void csum_destroy(struct csums *csums);
/* The target's limit becomes the store's. */
void csum_resume(struct csum_io *io);
/* All I/O and work has ended: write unsaved chunks. Call before wal_stop(). Sleeps. */
void csum_stop(struct csum_io *io);

/*
 * As wal_sync(), for checksums; call it first. True if @wait has to wait for checksums. It then
 * goes on to wal_sync() by itself. Any context.
 */
bool csum_sync(struct csum_io *io, struct wal_waiter *wait);

/*
 * Squash the blocks of @r with the checksums of @bio from @iter on. @r is whole units, at most
 * CSUM_BATCH. With RT_STORED only record the checksums; the blocks stay stored. Returns CRCT_DONE;
 * CRCT_MEMORY if the store has no reservation (store_reserve()); CRCT_LOAD: call csum_fetch(@want),
 * then this again. Takes store->lock.
 */
enum crct_result csum_squash(struct csum_io *io, const struct rt_range *r, struct bio *bio,
			     struct bvec_iter iter, gfp_t gfp, struct crct_want *want);

/* Drop checksums of blocks that will be squashed without any. CRCT_DONE or CRCT_LOAD. */
enum crct_result csum_invalidate(struct store *store, u64 block, u64 blocks,
				 struct crct_want *want);

/*
 * Drop the checksums, where that needs no I/O, of blocks that are not squashed any more. The caller
 * holds their range lock. The second is for a few thousand blocks, with store->lock held.
 */
void csum_invalidate_cached(struct store *store, u64 block, u64 blocks, gfp_t gfp);
void csum_invalidate_cached_locked(struct store *store, u64 block, u64 blocks);

/* The checksum of the unit at @sector: CRCT_DONE, CRCT_NONE, CRCT_LOAD. */
enum crct_result csum_find(struct store *store, sector_t sector, u32 *crc, struct crct_want *want);

/* Give the unit at @content the checksum @crc, which a csum_find() returned with CRCT_DONE. */
void csum_forge(struct store *store, void *content, u32 crc);

/* Does a read of @len bytes at byte @pos of a unit see bytes that forging changes? */
bool csum_touches(struct store *store, unsigned int pos, unsigned int len);

/*
 * Load the chunk that @want names, or make room in memory. Call from a worker; sleeps. Returns the
 * status for the request that waits.
 */
blk_status_t csum_fetch(struct csum_io *io, const struct crct_want *want);

/* store->lock is held. */
void csum_stats(const struct store *store, struct david_stats *st);

#endif
