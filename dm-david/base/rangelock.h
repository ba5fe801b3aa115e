/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Range locks: requests that overlap are served in the order they came, unless
 * both only read.
 *
 * Everything else about requests in flight follows from this one rule: a read
 * never meets a destination that is being freed or not yet written, a block
 * that is only partly overwritten can be read, changed and stored again, and a
 * destination that is freed has no I/O on it.
 *
 * A lock never fails and never sleeps: it is granted at once, or the request
 * is told later that it is its turn. As a request takes all of its range in
 * one lock, there is no deadlock. After Jan Kara's range locks (linux-fsdevel,
 * 2013): each lock counts the earlier ones that it has to wait for.
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

/* Does any lock, granted or waiting, overlap the blocks from @start to @last? */
bool range_busy(struct range_locks *locks, u64 start, u64 last);

/*
 * Give up a granted @lock. Locks whose turn it is now are appended to @granted
 * (by their member of that name), in the order of their start.
 */
void range_unlock(struct range_locks *locks, struct range_lock *lock,
		  struct list_head *granted);

#endif
