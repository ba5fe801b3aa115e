/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names as the trace knows them: a tree of nodes, one for each name that a call has used. A rename
 * moves a node with all below it, so that whatever holds a node knows its path as it is now.
 */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include "../common/map.h"

struct file;

enum node_state {
	NODE_UNKNOWN, /* nobody has said yet */
	NODE_THERE,
	NODE_ABSENT,
};

struct node {
	struct node *parent; /* NULL: the root, or a name that has been removed */
	char *name;
	char *target; /* of a symbolic link, once it is known */
	struct file *file;
	enum node_state state;
	u32 text; /* the whole path as a text, if made in that epoch */
	u32 epoch;
	struct node *next; /* of the same hash */
	struct node *all; /* the one that was made before this one */
};

struct names {
	struct map by_hash; /* lists of nodes, by directory and name */
	u32 epoch; /* counts changes that move names */
	struct node *root;
	struct node *last;
};

void names_init(struct names *names);
void names_free(struct names *names);

/*
 * The node of @path, seen from the directory @from. Symbolic links that are known are followed;
 * the last name's only if @follow. Never NULL: an unknown name becomes a node.
 */
struct node *names_find(struct names *names, struct node *from, const char *path, bool follow);

/* The same, for who has another root (chroot): paths and links from / on begin there. */
struct node *names_find_in(struct names *names, struct node *root, struct node *from,
			   const char *path, bool follow);

/* What .. is, in a directory; NULL: it has no place any more. Nothing is above the root. */
static inline struct node *names_above(const struct node *root, struct node *dir)
{
	return dir == root ? dir : dir->parent;
}

/* @from gets the place of @to, whatever was there before. */
void names_move(struct names *names, struct node *from, struct node *to);
void names_exchange(struct names *names, struct node *one, struct node *other);

/* What the name led to is no longer there. */
void names_remove(struct names *names, struct node *node);

/*
 * The whole path, in @room bytes; a removed name's ends in " (deleted)". Returns its length. A path
 * of the kernel has 4,096 at most; names that chdir led to may be longer together.
 */
#define NAMES_PATH_MAX 65536u
u32 names_path(const struct node *node, char *path, u32 room);

#endif
