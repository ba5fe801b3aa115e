/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Range locks: requests that overlap are served in the order of arrival, unless both only read.
 *
 * Three guarantees for requests in flight follow from this rule:
 *
 *   - A read never reads a destination that is being freed or is not written yet.
 *   - A part of a block can be written by reading, changing and storing the block.
 *   - A freed destination has no I/O in flight.
 *
 * Taking a lock never fails and never sleeps. It is granted at once, or later by range_unlock() of
 * another request. There is no deadlock, as a request takes one lock for all of its range. The
 * algorithm is Jan Kara's (linux-fsdevel, 2013): each lock counts the earlier ones that it has to
 * wait for.
 *
 * The caller serialises all calls on one tree. Any context.
 */
#ifndef DM_DAVID_RANGELOCK_H
#define DM_DAVID_RANGELOCK_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

struct range_locks {
	struct rb_root_cached tree;
};

struct range_lock {
	struct rb_node rb;
	u64 start;
	u64 last;		/* inclusive */
	u64 subtree_last;
	unsigned int blockers;	/* earlier locks to wait for */
	bool shared;
	struct list_head granted;
};

static inline void range_locks_init(struct range_locks *locks)
{
	locks->tree = RB_ROOT_CACHED;
}

/* Queue @lock, whose start, last and shared are set. True if it is granted now. */
bool range_lock(struct range_locks *locks, struct range_lock *lock);

bool range_lock_overlaps(struct range_locks *locks, u64 start, u64 last);

/* Does any lock, granted or waiting, overlap the blocks from @start to @last? */
static inline bool range_busy(struct range_locks *locks, u64 start, u64 last)
{
	return !RB_EMPTY_ROOT(&locks->tree.rb_root) && range_lock_overlaps(locks, start, last);
}

/*
 * Release a granted @lock. Locks that are granted by that are added to the list @granted, by their
 * member of the same name, in the order of their start.
 */
void range_unlock(struct range_locks *locks, struct range_lock *lock,
		  struct list_head *granted);

#endif
