/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checksums of squashed blocks on a live disk: crctable.h and crcforge.h with
 * locks and I/O.
 *
 * btrfs has a crc32c of each sector of 4 KiB of a file. So the crc32c of what is
 * squashed is kept, and what a read returns is content forged to have it. That
 * depends on nothing but the place: not on who reads (scrub does, into pages
 * of its own), nor on how much.
 *
 * Who is concerned:
 *	SUMS_OFF	nobody
 *	SUMS_AUTO	a btrfs that has this whole disk, seen by page owner, with
 *			crc32c and sectors of 4 KiB; with others its data is kept.
 *			Without page owners (classify=implicit) the classifier knows
 *			whose data a write is; then each request carries the answer
 *			(struct implied), so that no other's write can change it
 *	SUMS_ON		everybody
 *
 * A unit is 4 KiB of the target that begin at a multiple of that. Only whole
 * units, written by one request, are squashed: what else a block of a file
 * might be is kept. With SUMS_ON a write that is not made of units shows that the
 * file system's sectors lie across ours (a partition at sector 63): no checksum
 * here is any of its own, and all is kept from then on.
 *
 * The rule that keeps range table and checksums together: a block's checksum
 * is set in one hold of store->lock with its becoming SQUASHED, under the range
 * lock; and reads of squashed blocks take the range lock, too, once a store has
 * checksums. Those of blocks that are not squashed mean nothing; they are dropped
 * where that needs no I/O.
 *
 * What is not in memory is read by a worker while the request is parked.
 *
 * In a store that lasts the chunks last, too, as own pages (own.h). A flush that
 * finds unsaved ones waits in sums_sync() until a worker has written them, and only
 * then goes on to the log, which says where they are. So when it completes, a block
 * that was squashed before has its checksum. (The log may have been ahead, and said
 * that a block is squashed whose checksum a power cut took: then no flush came after
 * it, and nothing that survives speaks of its content.)
 */
#ifndef DM_DAVID_SUMS_H
#define DM_DAVID_SUMS_H

#include <linux/bio.h>
#include "crctable.h"
#include "durable.h"
#include "rangetable.h"

struct david;
struct store;
struct sums;
struct david_stats;

#define SUMS_UNIT	4096u
#define SUMS_SECTORS	(SUMS_UNIT >> SECTOR_SHIFT)
#define SUMS_BATCH	32		/* units at a time, for the stack's sake */

enum sums_mode {
	SUMS_AUTO,
	SUMS_ON,
	SUMS_OFF,
	SUMS_MODES
};

const char *sums_mode_name(enum sums_mode mode);
int sums_mode_parse(const char *name);	/* or -EINVAL */

/* What one table's target knows of the file system above. */
struct sums_watch {
	enum sums_mode mode;
	unsigned int megabytes;	/* limit of the store's table in memory */
	int type;		/* of the btrfs's checksums, enum sums_type */
	bool across;		/* see above */
	struct work_struct evict;
	struct work_struct sync;
	struct list_head waiters;	/* for it; under store->lock */
};

/* What is to be done about a block that would be squashed. */
enum sums_say {
	SUMS_NONE,		/* nothing */
	SUMS_KEPT,		/* its checksum */
	SUMS_REFUSE,		/* it must not be squashed */
	SUMS_ASK,		/* sums_fetch() finds out */
};

/* In ctr: the store's table, if there is none yet. 0 or -ENOMEM. Sleeps. */
int sums_create(struct david *d);
/* With the store. Takes NULL. */
void sums_destroy(struct sums *sums);
/* The target's limit becomes the store's. */
void sums_resume(struct david *d);
/* All I/O and work has ended: what is not saved yet is saved. Before durable_stop(). Sleeps. */
void sums_stop(struct david *d);

/*
 * durable_sync() for checksums, to be asked first: true if @wait has to wait for them.
 * Then it goes on to durable_sync() by itself. Any context.
 */
bool sums_sync(struct david *d, struct durable_wait *wait);

/*
 * Look at @bytes of a write from @iter on, which would be squashed or not (@data):
 * superblocks tell the type, and data that lies across our units tells that.
 */
void sums_see(struct david *d, struct bio *bio, struct bvec_iter iter, unsigned int bytes,
	      bool data);

/* For whatever is written to the disk; what a request carries itself comes on top of SUMS_NONE. */
enum sums_say sums_say(const struct david *d);

/*
 * Squash the blocks of @r, which are whole units, with the checksums of
 * @bio from @iter on. At most SUMS_BATCH units. CRCT_DONE; CRCT_MEMORY: there is
 * none, and @gfp does not sleep for it; CRCT_LOAD: sums_fetch(@want), then again.
 * If @r says RT_STORED the blocks will be squashed later, and this is for then.
 */
enum crct_result sums_squash(struct david *d, const struct rt_range *r, struct bio *bio,
			     struct bvec_iter iter, gfp_t gfp, struct crct_want *want);

/* Drop the checksums of blocks that are about to be squashed without: CRCT_DONE or CRCT_LOAD. */
enum crct_result sums_drop(struct store *store, u64 block, u64 blocks, struct crct_want *want);

/*
 * Drop those that no I/O is needed for, of blocks that are not squashed any
 * more, under their range lock. sums_forget_few() is for some thousand blocks,
 * with store->lock held.
 */
void sums_forget(struct store *store, u64 block, u64 blocks, gfp_t gfp);
void sums_forget_few(struct store *store, u64 block, u64 blocks);

/* The checksum of the unit at @sector: CRCT_DONE, CRCT_NONE, CRCT_LOAD. */
enum crct_result sums_find(struct store *store, sector_t sector, u32 *crc, struct crct_want *want);

/* Give the unit at @content that checksum. Not before there is one. */
void sums_forge(struct store *store, void *content, u32 crc);

/* Do reads of @len bytes from @pos of a unit on see what forging changes? */
bool sums_touches(struct store *store, unsigned int pos, unsigned int len);

/*
 * Do what is wanted: load a chunk, read the superblock, or make room in
 * memory. From a worker. Returns the status for the request that waits.
 */
blk_status_t sums_fetch(struct david *d, const struct crct_want *want);

/* @want for it: the superblock. */
void sums_want_super(struct crct_want *want);

/* store->lock is held. */
void sums_stats(const struct store *store, struct david_stats *st);

#endif
