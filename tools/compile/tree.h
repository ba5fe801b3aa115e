/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The initial tree: what must have been there before the trace, as far as its calls tell. A name
 * that a call has found, and that no call has made, was there. Where its directory was moved
 * meanwhile, its entry is where it was at first.
 */
#ifndef COMPILE_TREE_H
#define COMPILE_TREE_H

#include "../calls/names.h"
#include "../calls/tracefile.h"
#include "texts.h"

struct tree_entry {
	u32 parent; /* entry */
	char *name;
	u32 mode; /* 0: only its name is known, it is taken for a directory if anything is below */
	u64 size;
	bool guessed; /* the size is the least that it can have been */
	bool type_guessed; /* a call has only seen that something is there */
	char *target; /* of a symbolic link */
	u32 file; /* its number; 0: not known */
	struct tracefile_extent *extent; /* where it lay; NULL: not known */
	u32 extents;
	u32 other; /* an earlier entry that is the same file, by tree_link() */
	bool moved; /* it is another entry: what it was in is a symbolic link */
};

struct tree {
	struct tree_entry *entry; /* 0: the root */
	u32 entries;
	u64 room;
	const struct node *root; /* what entry 0 is */
	struct map nodes; /* 1 + entry, or TREE_MADE */
	struct map asked; /* nodes in which a call looked for a name that is not there */
};

#define TREE_MADE U32_MAX

/* A file of whose permissions the trace says nothing: what was allowed then is allowed again. */
#define TREE_UNKNOWN_MODE 0100755

void tree_init(struct tree *tree, const struct node *root);
void tree_free(struct tree *tree);

/* What a name led to was there. 0 members are not known. */
struct tree_found {
	u32 mode;
	u64 size;
	bool guessed;
	bool type_guessed;
	u32 file;
	const char *target;
	const void *layout; /* struct tracefile_extent, each */
	u32 extents;
};

/*
 * False: a call made it, or what it is in. *@before, if not NULL, is what was known of it.
 */
bool tree_found(struct tree *tree, struct node *node, const struct tree_found *found,
		struct tree_found *before);

/*
 * A call has not found the name. If something is there that it would be in, that is a directory: of
 * anything else the call would have said so (ENOTDIR).
 */
void tree_missing(struct tree *tree, const struct node *node);

/* Is it known that something else than a directory was there? */
bool tree_is_file(struct tree *tree, const struct node *node);

/* What was known of the one name is known of the other: a symbolic link led there. */
void tree_move(struct tree *tree, const struct node *from, struct node *to);

/* A call made the name. */
void tree_made(struct tree *tree, struct node *node);

/* Neither was it found, nor has a call made it. */
bool tree_unknown(struct tree *tree, struct node *node);

/* It was found, and no call has made it. */
bool tree_was_there(struct tree *tree, const struct node *node);

/* All is known: finds the files with several names. */
void tree_link(struct tree *tree);

/* What the trace does not say of its entries; after tree_link(). */
struct tree_guesses {
	u32 files; /* regular, each once */
	u32 sizes; /* of these */
	u32 types; /* of all entries */
};

struct tree_guesses tree_guesses(const struct tree *tree);

/* The entry's path, without a / in front. */
void tree_path(const struct tree *tree, u32 entry, char *path, size_t room);

#endif
