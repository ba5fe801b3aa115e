/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module keeps for itself in a store that lasts: pages of 4 KiB, in areas.
 *
 * They are blocks like those of the disk, at addresses of the range table far beyond its
 * end (FORMAT_META). So the log, checkpoints, recovery and the tools treat them as any
 * stored block, and nothing of the format is about them.
 *
 * A page is always written to a new place, and moved there then: what was there before
 * stays good until the move is durable. Own pages are not under range locks: each area
 * has one user, who sees to the order of changes itself.
 */
#ifndef DM_DAVID_METAPAGES_H
#define DM_DAVID_METAPAGES_H

#include <linux/blk_types.h>
#include <linux/types.h>

struct block_device;
struct store;

enum meta_area {
	META_CSUM,	/* page n: chunk n of the checksums, crctable.h */
	META_RAW,	/* the user's rules, rawpage.h */
	META_AREAS
};

#define META_BATCH	8	/* pages read or written at once */

/* A store was opened: count what there is. */
void metapages_open(struct store *store);

/* Store blocks that a page takes. */
unsigned int metapage_blocks(const struct store *store);

/* Where a page stands, or BM_NONE. store->lock is held. */
u64 metapage_place(const struct store *store, enum meta_area area, u64 page);

/*
 * These pages are at @dest from now on, one behind the other, or nowhere (BM_NONE).
 * Under a reservation, which it uses up. store->lock is held. Any context.
 */
void metapages_move(struct store *store, enum meta_area area, u64 page, u64 pages, u64 dest);

/*
 * Likewise nowhere, however many. Sleeps if @gfp does. False without a reservation: see
 * store_set().
 */
bool metapages_forget(struct store *store, enum meta_area area, u64 page, u64 pages, gfp_t gfp);

/* Read or write up to META_BATCH pages of memory, at @dest in a row. Sleeps. */
int metapages_io(struct store *store, struct block_device *bdev, u64 dest, void **page,
		 unsigned int pages, blk_opf_t opf);

#endif
