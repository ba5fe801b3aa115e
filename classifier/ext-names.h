/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which files of an ext3 or ext4 volume are chosen by their names: all below some
 * directories, and those with some suffixes.
 *
 * Names stand in directory blocks, and those on the disk are old while it is in use: what
 * the journal has logged comes home later, some of it much later. So the directories are
 * read as recovery would leave them, each block from the log if its newest copy is there.
 * For that the log is read from its tail on; only whole transactions count.
 *
 * The view is made anew whenever anybody needs it and it has changed: a walk through the chosen
 * directories (from the root, if suffixes are chosen), off the I/O path. Every block that was
 * read for it is remembered. It is exact, ext_names_ready(), as long as the log was read to
 * its end and no transaction since logged one of these; then a file that is not in it is
 * not chosen. What a file was before it was moved out of a chosen directory no longer counts.
 *
 * Whatever else happens, no view is ready, and who wants to know must take every file
 * for chosen: a directory that cannot be read or makes no sense, fast commits (which tell
 * of names outside of the log), more names than there is memory for (->full), a log
 * that is not known from its tail to its end, or that grows quicker than it is read.
 *
 * Portable; the caller serialises, reads, and gives memory. Blocks count from the
 * volume's start.
 */
#ifndef CLASSIFIER_EXT_NAMES_H
#define CLASSIFIER_EXT_NAMES_H

#include "../dm-david/lib/portable.h"

struct ext_live;

/* What is chosen in the volume that the walk is about. */
struct ext_names_choice {
	bool (*suffix)(void *ctx, const char *name, u32 len);
	/* The chosen directory with the least number above @after, 0: none. */
	u32 (*next_dir)(void *ctx, u32 after);
	void *ctx;
	bool everywhere;	/* suffixes are chosen */
};

#define EXT_NAMES_MIN_BYTES	(256u << 10)
#define EXT_NAMES_MAX_BYTES	(64u << 20)	/* 400,000 names, or as many blocks logged */

struct ext_names_logged {
	u64 home;		/* 0: free */
	u32 at;			/* block of the journal with its newest copy */
	u32 tid;
};

struct ext_names_inode {
	u32 ino;		/* 0: free */
	u32 flags;
};

/* A run of blocks of the directory that is being read, or one of its map. */
struct ext_names_part {
	u64 start;
	u32 len;
	u32 level;
};

struct ext_names {
	bool wanted;
	bool full;		/* there is no room for all; until the choice changes */
	bool changed;		/* since the walk began */
	bool resting;		/* no more walks before ext_names_again() */
	bool walking;
	bool done;
	u32 tries;

	/* in memory given, NULL: none yet */
	void *memory;
	size_t bytes;
	bool overflow;		/* more is needed */
	struct ext_names_part *part;	/* a stack */
	struct ext_names_logged *log;	/* hashes */
	struct ext_names_inode *inode;
	u64 *seen;		/* blocks that the view rests on */
	u32 *dir;		/* to be read, in the order in which they were found */
	u32 slots;		/* of the log and of blocks; half as many of the others */
	u32 parts, logged, inodes, chosen, blocks, dirs, next_dir;

	/* how far the log was read */
	bool in_log;		/* false: it was empty */
	u32 tail, tid;		/* transactions: the oldest in it, the next to be read */
	u32 begin;		/* where that begins */
	u32 at;			/* block of it that comes next */
	u32 length;		/* of the part already read */
	u64 stuck;		/* ext_names' stamp() when it was not there yet */

	/* what is being read */
	bool reading_log;
	bool reading_inode;
	bool extents;		/* of a directory's map */
	bool failed;		/* it makes no sense */
	u32 ino;		/* the directory's */
	u32 level;		/* of its map; 0: names */
	u64 now;		/* block, 0: none */
	u64 asked;		/* where it was looked for, 0: it was not */
	u64 stamp;

	u64 errors;		/* walks given up */
	u64 walks;		/* those done */
};

/* Nothing is known (any more); memory stays. */
void ext_names_forget(struct ext_names *n);

/* The choice is another one. */
void ext_names_choose(struct ext_names *n);

/* Blocks of the volume are written, not by way of the journal. */
static inline void ext_names_written(struct ext_names *n)
{
	n->changed = true;
}

/* To be called every few seconds while somebody wants to know. */
static inline void ext_names_again(struct ext_names *n)
{
	n->resting = false;
}

/* Is the view there, and exact now? */
bool ext_names_ready(const struct ext_live *e);

/* Is the file chosen by name? Only while the view is ready. */
bool ext_names_has(const struct ext_names *n, u32 ino);

/*
 * The block to read next to make the view ready, 0: none; and what was in it (NULL: cannot
 * be read). The layout has to be known. Looks at no more than one directory's runs.
 */
u64 ext_names_want(struct ext_live *e, const struct ext_names_choice *choice);
void ext_names_learn(struct ext_live *e, const struct ext_names_choice *choice,
		     const void *content);

/* As classifier_memory() and classifier_give(). */
size_t ext_names_memory(const struct ext_names *n);
void *ext_names_give(struct ext_names *n, void *memory, size_t bytes);

#endif
