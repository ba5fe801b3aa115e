/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names as the trace knows them: a tree of nodes, one for each name that a call has used. A rename
 * moves a node with all below it, so that whatever holds a node knows its path as it is now.
 */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include "../common/map.h"

struct file;
struct view;

#define LINKS_MAX 40 /* symbolic links on a way, as in the kernel */

enum node_state {
	NODE_UNKNOWN, /* nobody has said yet */
	NODE_THERE,
	NODE_ABSENT,
};

struct node {
	struct node *parent; /* NULL: the root, or a name that has been removed */
	struct node *above; /* of one that has been removed: where it was, and .. still leads */
	char *name;
	char *target; /* of a symbolic link, once it is known */
	struct file *file;
	enum node_state state;
	bool mounted; /* the root of a tree that has been mounted; no directory has its name */
	bool kernels; /* such a tree, of proc and the like: no disk has it */
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

/* The same, as somebody sees it (mounts.h): with another root, or mounts of its own. */
struct node *names_find_in(struct names *names, struct view *view, struct node *from,
			   const char *path, bool follow);

/* Has it been removed, or a directory above it? */
bool names_is_gone(const struct node *node);

/* Is it that one, or somewhere below it? */
bool names_is_below(const struct node *node, const struct node *above);

/* The root of a tree that is mounted at @at; NULL: nowhere yet. */
struct node *names_new_tree(struct names *names, const struct node *at);
void names_mount_tree(struct node *root, const struct node *at);

/* Is it in such a tree? */
bool names_in_tree(const struct node *node);

/* @from gets the place of @to, whatever was there before. */
void names_move(struct names *names, struct node *from, struct node *to);
void names_exchange(struct names *names, struct node *one, struct node *other);

/* What the name led to is no longer there. */
void names_remove(struct names *names, struct node *node);

/*
 * The whole path, in @room bytes; a removed name's ends in " (deleted)". Returns its length: of one
 * as long as @room, or longer, the beginning is missing. A path of the kernel has 4,096 at most;
 * names that chdir led to may be longer together.
 */
#define NAMES_PATH_MAX 65536u
u32 names_path(const struct node *node, char *path, u32 room);

#endif
