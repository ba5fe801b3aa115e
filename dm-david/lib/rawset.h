/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RAW rules: the user's rules for what is kept as it was written.
 *
 *	ino:[VOLUME/]FIRST[-LAST]	files, by inode number
 *	dir:[VOLUME/]INO		a directory and all below it, now and later
 *	suffix:SUFFIX			files by name
 *	sectors:FIRST-LAST		a range of the target disk
 *
 * VOLUME tells apart inode numbers that are the same: 0, the default, for the only file system on a
 * disk; the subvolume's number on btrfs; the first sector, on the target, of a file system in a
 * partition. All ends are included.
 *
 * A set is immutable. A change makes a new set, which replaces the old one. So lookups need no
 * lock, only a set that stays alive (RCU), and a rule that is refused changes nothing.
 *
 * Portable. rawset_add() and rawset_remove() allocate; all else may be called in
 * any context and costs a binary search.
 */
#ifndef DAVID_RAWSET_H
#define DAVID_RAWSET_H

#include "../portable/portable.h"

/* Limits, so that a set is at most some 400 KiB, and a lookup bounded. */
#define RAW_RULES	4096	/* of each kind, neighbours of ino and sectors joined */
#define RAW_SUFFIX_LEN	23	/* without the dot */
#define RAW_DEPTH	256	/* directories that a lookup climbs */
#define RAW_TEXT_SIZE	80	/* of a rule in words */
#define RAW_ERROR_SIZE	160

struct rawset;

/* A set of no rules, NULL if there is no memory. */
struct rawset *rawset_new(gfp_t gfp);
void rawset_free(struct rawset *set);

/*
 * Return a copy of @old with the rule @text added or removed. NULL on errors, with the reason and
 * the wrong part of @text in @error, of RAW_ERROR_SIZE bytes. To add a rule that is there is no
 * error; to remove one that is not there is. Of ino and sectors any part can be removed.
 */
struct rawset *rawset_add(const struct rawset *old, const char *text, gfp_t gfp, char *error);
struct rawset *rawset_remove(const struct rawset *old, const char *text, gfp_t gfp, char *error);

unsigned int rawset_count(const struct rawset *set);

/* Do they have the same rules? NULL has none. */
bool rawset_same(const struct rawset *a, const struct rawset *b);

/* Are there rules for files, by number, name or directory; by the latter two; by name? */
bool rawset_has_files(const struct rawset *set);
bool rawset_has_names(const struct rawset *set);
bool rawset_has_suffixes(const struct rawset *set);

/* Memory of it. */
size_t rawset_bytes(const struct rawset *set);

/* Rule @n (below rawset_count()) as rawset_add() takes it. At most RAW_TEXT_SIZE bytes. */
void rawset_print(const struct rawset *set, unsigned int n, char *text, size_t size);

struct raw_file {
	u64 volume;
	u64 ino;
	const char *name;	/* or NULL: not known, suffixes do not count */
	size_t name_len;
};

/*
 * Set *volume and *ino to their parent directory. False: it is not known, or they are the root.
 * Called only if there are rules for directories.
 */
typedef bool (*raw_parent_fn)(void *ctx, u64 *volume, u64 *ino);

/*
 * Is the file RAW? @parent NULL: a rule for a directory applies to the directory only. If there are
 * rules for directories, files that are deeper than RAW_DEPTH are RAW.
 */
bool rawset_file(const struct rawset *set, const struct raw_file *file, raw_parent_fn parent,
		 void *ctx);

/* Is every file of that name RAW? */
bool rawset_name(const struct rawset *set, const char *name, size_t len);

/* The directory with the least number above @after that is RAW in @volume by a rule; 0: none. */
u64 rawset_next_dir(const struct rawset *set, u64 volume, u64 after);

/*
 * Is @sector RAW by a rule for sectors? *len: for how many sectors from it on the answer is the
 * same; U64_MAX: to the end of any disk.
 */
bool rawset_sector(const struct rawset *set, u64 sector, u64 *len);

#endif
