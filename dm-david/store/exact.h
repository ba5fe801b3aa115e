/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exact data (exact=N): the newest N MB of data are stored for a while instead of being squashed.
 * When newer data come, the oldest are squashed.
 *
 * So a program that soon reads back what it wrote gets what it wrote. This is a service without a
 * guarantee. Data are squashed at once if the store is low, or if the worker that squashes has
 * fallen behind.
 *
 * A map has a bit for each block of the store: the block holds data that may be squashed at any
 * time. The bit is cleared when anything else is written there, and when the block is freed. So
 * metadata that takes the place of data is safe, whatever is in the queue. The queue has runs of
 * blocks in the order of writing. An entry is dropped if its bit is clear, or if its target block
 * is stored elsewhere by now. An entry that was written again since is queued again.
 */
#ifndef DM_DAVID_EXACT_H
#define DM_DAVID_EXACT_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct david_stats;
struct exact;
struct store;

/* A target's work: squash what is over the budget. The caller queues it on a queue of its own. */
struct exact_work {
	struct work_struct work;
	struct store *store;
};

/*
 * In ctr: prepare @work. If @megabytes is not 0, allocate the store's maps and queue. Returns 0 or
 * -ENOMEM. Sleeps.
 */
int exact_create(struct store *store, struct exact_work *work, unsigned int megabytes);

/* One bit for each block of the store. */
struct exact_maps {
	unsigned long *data;		/* it holds data that may be squashed */
	unsigned long *again;		/* it was written again since it was queued */
};

/*
 * For a store that grows while no I/O is in flight. exact_maps_grow() makes larger copies of the
 * maps; 0 or -ENOMEM; it sleeps. exact_maps_swap() exchanges them for the old ones; store->lock is
 * held.
 */
int exact_maps_grow(const struct store *store, u64 blocks, struct exact_maps *maps);
void exact_maps_swap(struct store *store, struct exact_maps *maps);
void exact_maps_free(struct exact_maps *maps);

/* The store goes. Takes NULL. */
void exact_destroy(struct exact *exact);
/* Set the store's budget to @megabytes. True: queue the work. */
bool exact_resume(struct store *store, unsigned int megabytes);

/* May @blocks of data be stored? If so, the queue has memory for them, allocated with @gfp. */
bool exact_wants(struct store *store, u64 blocks, gfp_t gfp);

/*
 * After exact_wants(): @blocks of data from @block on are stored at @dest. True: queue the work.
 * store->lock is held.
 */
bool exact_taken(struct store *store, u64 block, u64 dest, u64 blocks);

/* The blocks at @dest no longer hold such data. store->lock is held. Any context. */
void exact_cleared(struct store *store, u64 dest, u64 blocks);
/* The same; takes store->lock. */
void exact_clear(struct store *store, u64 dest, u64 blocks);

/* store->lock is held. */
void exact_stats(const struct store *store, struct david_stats *st);

#endif
