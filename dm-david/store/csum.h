/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checksums of squashed blocks in a live store: crctable.h and crcforge.h with locks and I/O.
 *
 * btrfs has a crc32c of each sector of 4 KiB of a file. So the crc32c of what is squashed is kept,
 * and what a read returns is content forged to have it. The forged content depends on nothing but
 * the place: not on who reads (scrub reads into pages of its own), nor on how much. Whose writes
 * are concerned is the target's question: csum-policy.h.
 *
 * A unit is 4 KiB of the target that begin at a multiple of 4 KiB. Only whole units, written by one
 * request, are squashed with a checksum.
 *
 * The rule that keeps range table and checksums together: a block's checksum is set in the same
 * hold of store->lock in which the block becomes SQUASHED, under the range lock. Reads of squashed
 * blocks take the range lock, too, once a store has checksums. Checksums of blocks that are not
 * squashed mean nothing; they are dropped where that needs no I/O.
 *
 * A checksum that is not in memory is read by a worker while the request is deferred.
 *
 * In a store that lasts, the chunks last, too, as metapages (metapages.h). A flush that finds
 * unsaved chunks waits in csum_sync() until a worker has written them. Only then the flush goes
 * on to the log, which says where the chunks are. So when the flush completes, a block that was
 * squashed before has its checksum. (The log may have been ahead, and may say that a block is
 * squashed whose checksum a power cut took. Then no flush came after it, and nothing that
 * survives speaks of its content.)
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

/* What one target lends the checksums of its store. The first five are set by the target. */
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
/* With the store. Takes NULL. */
void csum_destroy(struct csums *csums);
/* The target's limit becomes the store's. */
void csum_resume(struct csum_io *io);
/* All I/O and work has ended: what is not saved yet is saved. Before wal_stop(). Sleeps. */
void csum_stop(struct csum_io *io);

/*
 * wal_sync() for checksums, to be asked first: true if @wait has to wait for them.
 * Then it goes on to wal_sync() by itself. Any context.
 */
bool csum_sync(struct csum_io *io, struct wal_waiter *wait);

/*
 * Squash the blocks of @r, which are whole units, with the checksums of @bio from @iter on. At most
 * CSUM_BATCH units. CRCT_DONE; CRCT_MEMORY: there is none, and @gfp does not sleep for it;
 * CRCT_LOAD: csum_fetch(@want), then again. If @r says RT_STORED the blocks will be squashed later,
 * and this is for then. Takes store->lock.
 */
enum crct_result csum_squash(struct csum_io *io, const struct rt_range *r, struct bio *bio,
			     struct bvec_iter iter, gfp_t gfp, struct crct_want *want);

/* Drop the checksums of blocks that are about to be squashed without: CRCT_DONE or CRCT_LOAD. */
enum crct_result csum_invalidate(struct store *store, u64 block, u64 blocks,
				 struct crct_want *want);

/*
 * Drop those that no I/O is needed for, of blocks that are not squashed any more, under their range
 * lock. The second is for some thousand blocks, with store->lock held.
 */
void csum_invalidate_cached(struct store *store, u64 block, u64 blocks, gfp_t gfp);
void csum_invalidate_cached_locked(struct store *store, u64 block, u64 blocks);

/* The checksum of the unit at @sector: CRCT_DONE, CRCT_NONE, CRCT_LOAD. */
enum crct_result csum_find(struct store *store, sector_t sector, u32 *crc, struct crct_want *want);

/* Give the unit at @content that checksum. Not before there is one. */
void csum_forge(struct store *store, void *content, u32 crc);

/* Do reads of @len bytes from @pos of a unit on see what forging changes? */
bool csum_touches(struct store *store, unsigned int pos, unsigned int len);

/*
 * Do what is wanted: load a chunk, or make room in memory. From a worker; sleeps. Returns the
 * status for the request that waits.
 */
blk_status_t csum_fetch(struct csum_io *io, const struct crct_want *want);

/* store->lock is held. */
void csum_stats(const struct store *store, struct david_stats *st);

#endif
