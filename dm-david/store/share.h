/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One copy of the blocks that several disks of a pool have in common (POOL_SHARE).
 *
 * Each block of the pool has a word: a bit for each disk that has the block, its holders, and
 * SHARE_BUSY. A word of 0 says that the block is private: at most one disk has it, and may do with
 * it what it likes. A block that was never offered to others is private, so it costs nothing.
 *
 *	0 -> me + BUSY		offered: share_offer(), before it is written
 *	me + BUSY -> me		written: share_written(); its content stays as it is from now on
 *	0 -> me			read, and so known: share_learn()
 *	holders -> + me		a second disk takes it: share_join(), never while it is BUSY
 *	holders -> - me		given up: share_give_up(); the last holder has a free block
 *	me -> 0			to be written in its place: share_own(). Not with other holders
 *
 * So the content of a block does not change while a second disk holds it, or may come to hold it.
 *
 * Whether a block has the content that is wanted, the index only guesses: it says where a content
 * of that checksum was seen lately. It may be wrong in any way. Who joins reads the block and
 * compares.
 *
 * Which disks hold a block is not recorded: their tables say it.
 *
 * Locking: none for words and index, which are atomic. One disk changes its own bit of a word under
 * its store->lock, or before anybody else knows of it. A lock guards each list of who waits.
 */
#ifndef DM_DAVID_SHARE_H
#define DM_DAVID_SHARE_H

#include <linux/list.h>
#include <linux/types.h>
#include "../base/inject.h"
#include "../lib/poolfmt.h"

struct share;

/* Of who waits for the write of a block that is BUSY. */
struct share_waiter {
	struct list_head list;
	u64 dest;
	void (*done)(struct share_waiter *waiter);	/* any context */
};

/* A block of a disk, as the index knows it. */
struct share_block {
	u64 block;	/* of the disk */
	u32 sum;	/* of its content */
};

enum share_found {
	SHARE_NONE,
	SHARE_WAIT,	/* it is being written */
	SHARE_THERE,	/* share_join() */
	SHARE_OWN,	/* where the disk has it already */
};

/*
 * Free blocks that each disk of a pool keeps for blocks that it has in common with others, and is
 * to change; none without shared copies, when @share is NULL. So legs of a mirror can change what
 * they have when the pool is full: each block that they give up together soon makes room for the
 * next.
 */
static inline u64 share_spare(const struct share *share)
{
	return likely(!share) || INJECTED(spared) ? 0 : POOL_SPARE;
}

/* For a pool of so many blocks; NULL without memory. Sleeps. */
struct share *share_create(u64 blocks);
/* For a pool of more blocks. No disk of it is at work. 0 or -ENOMEM. Sleeps. */
int share_grow(struct share *share, u64 blocks);
/* Sleeps. */
void share_destroy(struct share *share);
u64 share_bytes(const struct share *share);

/* Blocks that would be stored more often without sharing: holders less one each, summed. */
u64 share_saved(const struct share *share);

/* Disk @slot has these blocks, its table says. */
void share_hold(struct share *share, unsigned int slot, u64 dest, u64 len);

/*
 * Where may the content of @block be, which disk @slot wants to write? @own: what it would replace,
 * or BM_NONE.
 */
enum share_found share_look(const struct share *share, unsigned int slot,
			    const struct share_block *block, u64 own, u64 *dest);

/* Join @dest. On success the caller reads it, and keeps it or gives it up. */
bool share_join(struct share *share, unsigned int slot, u64 dest);

/*
 * @slot has the first of these blocks and wants to write it in its place: true if nobody else has
 * it. Cuts *@len to the blocks of which the same is true. Those that are its own are private then.
 */
bool share_own(struct share *share, unsigned int slot, u64 dest, u64 *len);

/* The private block @dest is about to be written with the content of @block. */
void share_offer(struct share *share, unsigned int slot, const struct share_block *block, u64 dest);
/* Offered blocks were written, or are private again. Then call share_wake(), without locks. */
void share_written(struct share *share, unsigned int slot, u64 dest, u64 len, bool good);
void share_wake(struct share *share, u64 dest, u64 len);
/* Call @waiter->done when @waiter->dest is not BUSY any more. False if it is not now. */
bool share_wait(struct share *share, struct share_waiter *waiter);

/* Disk @slot, which has @dest and is not writing it, has read the content of @block there. */
void share_learn(struct share *share, unsigned int slot, const struct share_block *block, u64 dest);

/* Disk @slot has the block no more. True if nobody else has it. */
bool share_give_up(struct share *share, unsigned int slot, u64 dest);

#endif
