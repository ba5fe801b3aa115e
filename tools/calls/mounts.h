/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is mounted where, as a process sees it. A directory that is mounted elsewhere, too (bind),
 * is the same directory by both names: names go on where it is. What a mount brings that no name
 * led to before is a tree of its own, whose nodes have the path of the place where it was mounted.
 *
 * A process made with CLONE_NEWNS has a copy. What is mounted in one of the copies is in no other
 * one, if its mounts have been made private or slaves, as unshare(1), bwrap and others do first. Of
 * another copy it is not known what is mounted, once it mounts something.
 */
#ifndef TRACE_MOUNTS_H
#define TRACE_MOUNTS_H

#include "names.h"

#define MOUNT_FIRST 0u /* that of the root; and of all that was mounted before the trace */
#define MOUNT_NONE UINT32_MAX /* a tree that is mounted nowhere yet */

/* A directory, and by which mount somebody is in it. */
struct spot {
	struct node *node;
	u32 mount;
};

struct mount {
	u32 id;
	struct spot at;
	struct node *root;
};

struct mounts {
	u32 refs;
	u32 count;
	u64 room;
	struct mount *mount; /* the younger ones behind */
	struct spot root; /* of the whole tree */
	bool copied; /* of another process's */
	bool apart; /* what is mounted in one of the copies is in no other one */
	bool unknown; /* what is mounted is not known any more */
};

/* Nothing is mounted. */
extern const struct mounts mounts_none;

struct mounts *mounts_new(struct node *root);
struct mounts *mounts_get(struct mounts *m);
struct mounts *mounts_copy(const struct mounts *m);
void mounts_put(struct mounts *m);

/* Who looks a name up: with that root, beginning in that mount. */
struct view {
	struct spot root;
	const struct mounts *mounts;
	u32 mount; /* which mount the name was found in, when it has been found */
	bool crossed; /* a mount, on the way */
	bool linked; /* a symbolic link was followed */
};

/* Into what is mounted at @node, if anything is. */
struct node *mounts_enter(struct view *view, struct node *node);

/* What .. leads to. */
struct node *mounts_above(struct names *names, struct view *view, struct node *node);

/* @id, which is used once, is mounted at @at. */
void mounts_add(struct mounts *m, u32 id, struct spot at, struct node *root);

/* With all that is mounted below @from: @next is the first of the numbers for these. */
void mounts_add_below(struct mounts *m, u32 id, struct spot from, u32 *next);
void mounts_move(struct mounts *m, u32 id, struct spot at);

/* The mount whose root that is; none, if that is below its root. */
void mounts_remove(struct mounts *m, struct spot root);

/* pivot_root(): the root is the mount @to, and the former one is at @old. */
void mounts_pivot(struct mounts *m, struct spot to, struct spot old);

#endif
