/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metapages: the module's own data in a store that survives, as pages of 4 KiB in areas.
 *
 * In the range table they are blocks far beyond the disk's end (FORMAT_META). So the log,
 * checkpoints, recovery and the tools treat them like any stored block, and the format has nothing
 * special for them.
 *
 * A page is always written to a new place; then metapages_move() makes the new place valid. The old
 * copy stays good until the move is durable. Metapages have no range locks. Each area has one user,
 * which orders its changes itself.
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
	META_PACKS,	/* packed blocks, packs.h */
	META_AREAS
};

#define META_BATCH	8	/* pages read or written at once */

/* A store was opened: count its metapages. */
void metapages_open(struct store *store);

/* Blocks of the store that a page takes. */
unsigned int metapage_blocks(const struct store *store);

/* The destination of a page, or BM_NONE. store->lock is held. */
u64 metapage_place(const struct store *store, enum meta_area area, u64 page);

/*
 * @pages from @page on are in a row at @dest from now on. BM_NONE: they are gone. The caller has a
 * reservation, which is used up. store->lock is held. Any context.
 */
void metapages_move(struct store *store, enum meta_area area, u64 page, u64 pages, u64 dest);

/*
 * @pages from @page on, any number of them, are gone. Sleeps if @gfp may. False without a
 * reservation: see store_set().
 */
bool metapages_forget(struct store *store, enum meta_area area, u64 page, u64 pages, gfp_t gfp);

/* Read or write up to META_BATCH pages, in a row at @dest. Returns 0 or an error. Sleeps. */
int metapages_io(struct store *store, struct block_device *bdev, u64 dest, void **page,
		 unsigned int pages, blk_opf_t opf);

#endif
