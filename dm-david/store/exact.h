/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exact for a while: of the data that would be squashed, the newest N MB is
 * stored instead, and the oldest of that squashed as newer comes.
 *
 * So what a program reads back soon after it wrote it is what it wrote, for as much
 * of the store as the user gives for it. Nothing rests on it: no more is taken when
 * the store is low, or when a worker is behind with squashing, and what is not
 * taken is squashed at once.
 *
 * A map has a bit for each block of the store: it holds data that may be squashed
 * at any time. Whatever else is written there, or the block being freed, clears
 * the bit; so metadata that comes to stand where data stood is safe, whatever the
 * queue still says. The queue's entries are runs of blocks in the order written;
 * one whose bit is gone, or whose target block has moved, is dropped when its
 * turn comes. What was written again since is queued again instead.
 */
#ifndef DM_DAVID_EXACT_H
#define DM_DAVID_EXACT_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct david_stats;
struct exact;
struct store;

/* A target's: squashes what is over the budget. Whoever queues it chooses the queue. */
struct exact_work {
	struct work_struct work;
	struct store *store;
};

/*
 * In ctr: prepares @work, and makes what the store needs for it if @megabytes is not 0.
 * 0 or -ENOMEM. Sleeps.
 */
int exact_create(struct store *store, struct exact_work *work, unsigned int megabytes);

/* By store block. */
struct exact_maps {
	unsigned long *data;		/* holds data that may be squashed */
	unsigned long *again;		/* written since it was queued */
};

/*
 * The store becomes larger, and nothing is under way in it. First, larger copies of its
 * maps; 0 or -ENOMEM. Then they take the place of the old ones, under store->lock.
 */
int exact_maps_grow(const struct store *store, u64 blocks, struct exact_maps *maps);
void exact_maps_swap(struct store *store, struct exact_maps *maps);
void exact_maps_free(struct exact_maps *maps);

/* With the store. Takes NULL. */
void exact_destroy(struct exact *exact);
/* @megabytes become the store's budget. True if the work is to be queued. */
bool exact_resume(struct store *store, unsigned int megabytes);

/* Is there room for @blocks more? Makes sure of memory for the queue, with @gfp. */
bool exact_wants(struct store *store, u64 blocks, gfp_t gfp);

/*
 * @blocks from @block on, at @dest, are data now, taken by exact_wants(). True if the worker
 * has something to do. store->lock is held.
 */
bool exact_taken(struct store *store, u64 block, u64 dest, u64 blocks);

/* These blocks of the store are anything else now. store->lock is held. Any context. */
void exact_cleared(struct store *store, u64 dest, u64 blocks);
/* The same without the lock. */
void exact_clear(struct store *store, u64 dest, u64 blocks);

/* store->lock is held. */
void exact_stats(const struct store *store, struct david_stats *st);

#endif
