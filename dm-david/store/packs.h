/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packs (lib/pack.h) in a live store.
 *
 * A pack is metapages of its own area. A packed block's range names the pack's number. So two
 * entries of the table stand for one block, and the order in which they last matters, as a
 * checkpoint may have seen the one and not the other:
 *
 *   - A pack is durable, and so is its entry, before a block's entry names it (packs_enter()).
 *   - No entry names a pack any more, and that is durable, before its own entry goes
 *     (packs_sweep()).
 *
 * A pack is never changed, and its number is not given to another one while the store is open. Who
 * reads a block holds its range lock, so the block is in that pack until the read has ended.
 *
 * Which packs have no block any more is found by a walk through the table. io/packer.c alone makes
 * blocks packed, one pack after the other. So a pack that has been filled only ever loses blocks,
 * and what the walk has not seen is gone.
 *
 * A store has its struct packs from when it was opened with packs, or packed first, to its end.
 */
#ifndef DM_DAVID_PACKS_H
#define DM_DAVID_PACKS_H

#include <linux/blk_types.h>
#include <linux/types.h>

#include "../lib/pack.h"

struct block_device;
struct packs;
struct store;

/* A store was opened: if it has packs, make store->packs. Returns 0 or -ENOMEM. Sleeps. */
int packs_open(struct store *store);
/* Make store->packs, if there is none yet. Likewise. */
int packs_create(struct store *store);
void packs_destroy(struct packs *packs);
/* Bytes of memory that they take; 0: there are none. */
size_t packs_bytes(const struct store *store);

/*
 * Read @block, which is in pack @number, to @content. The caller holds its range lock. Returns 0,
 * or -EIO with a line in the kernel's log. Sleeps.
 */
int packs_read(struct store *store, struct block_device *bdev, u64 number, u64 block,
	       void *content);

/* Packs that are made from now on are not swept; with @filling false they are. */
void packs_fill(struct store *store, bool filling);

/* The number of a pack that is to be made. */
u64 packs_number(struct store *store);

/*
 * Write pack @number, of @pages pages at @pack, which kmalloc() gave. It lasts when this returns 0.
 * Otherwise it returns an error, -ENOSPC without room for it. Sleeps.
 */
int packs_enter(struct store *store, struct block_device *bdev, u64 number, void *pack,
		unsigned int pages);

/*
 * Free the packs that have no block any more. False if there was none. Unless @always, that is what
 * it says if no block has left its pack since the last time. Sleeps.
 */
bool packs_sweep(struct store *store, struct block_device *bdev, bool always);

#endif
