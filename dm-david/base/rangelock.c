// SPDX-License-Identifier: GPL-2.0
/* Range locks: see rangelock.h. */
#include "rangelock.h"

#include <linux/interval_tree_generic.h>

#define LOCK_START(lock) ((lock)->start)
#define LOCK_LAST(lock) ((lock)->last)

INTERVAL_TREE_DEFINE(struct range_lock, rb, u64, subtree_last,
		     LOCK_START, LOCK_LAST, static inline, lock_tree)

static bool range_locks_conflict(const struct range_lock *a, const struct range_lock *b)
{
	return !a->shared || !b->shared;
}

bool range_lock(struct range_locks *locks, struct range_lock *lock)
{
	struct range_lock *other;

	lock->blockers = 0;
	/* Mostly there is no other. */
	if (RB_EMPTY_ROOT(&locks->tree.rb_root)) {
		lock->subtree_last = lock->last;
		rb_link_node(&lock->rb, NULL, &locks->tree.rb_root.rb_node);
		rb_set_parent_color(&lock->rb, NULL, RB_BLACK);
		locks->tree.rb_leftmost = &lock->rb;
		return true;
	}
	for (other = lock_tree_iter_first(&locks->tree, lock->start, lock->last); other;
	     other = lock_tree_iter_next(other, lock->start, lock->last))
		lock->blockers += range_locks_conflict(lock, other);
	lock_tree_insert(lock, &locks->tree);
	return !lock->blockers;
}

bool range_lock_overlaps(struct range_locks *locks, u64 start, u64 last)
{
	return lock_tree_iter_first(&locks->tree, start, last);
}

void range_unlock(struct range_locks *locks, struct range_lock *lock,
		  struct list_head *granted)
{
	struct range_lock *other;

	if (locks->tree.rb_root.rb_node == &lock->rb && !lock->rb.rb_left && !lock->rb.rb_right) {
		locks->tree = RB_ROOT_CACHED;
		return;
	}
	lock_tree_remove(lock, &locks->tree);
	/*
	 * All locks that conflict with a granted lock came after it; otherwise it would still wait.
	 * So each of them has counted this lock.
	 */
	for (other = lock_tree_iter_first(&locks->tree, lock->start, lock->last); other;
	     other = lock_tree_iter_next(other, lock->start, lock->last)) {
		if (range_locks_conflict(lock, other) && !--other->blockers)
			list_add_tail(&other->granted, granted);
	}
}
