/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files of an ext3 or ext4 volume that are chosen by name: all files below chosen directories,
 * and all files with chosen suffixes.
 *
 * Names are in directory blocks. While the volume is mounted, directory blocks on the disk are old:
 * jbd2 writes them home after it has logged them, sometimes much later. So directories are read as
 * recovery would leave them: a block comes from the log if its newest copy is there. For that, the
 * log is read from its tail on. Only whole transactions count.
 *
 * The view is the set of chosen files. It is made by a walk through the chosen directories, or from
 * the root if suffixes are chosen. The walk is off the I/O path and remembers each block that it
 * has read. The view is exact (ext_names_ready()) if the log was read to its end and no later
 * transaction logged one of these blocks. Then a file that is not in the view is not chosen. When
 * the view has changed and is needed again, the walk starts again. A file that was moved out of a
 * chosen directory is no longer chosen.
 *
 * The view is not ready, and every file counts as chosen, if
 *
 *   - a directory cannot be read, or makes no sense;
 *   - the volume has fast commits, which change names without the log;
 *   - there are more names than there is memory for (->full);
 *   - the log is not known from its tail to its end, or grows faster than it is read.
 *
 * Portable; the caller serialises, reads, and gives memory. Blocks count from the volume's start.
 */
#ifndef CLASSIFIER_EXT_NAMES_H
#define CLASSIFIER_EXT_NAMES_H

#include "../../dm-david/portable/portable.h"

struct ext_live;

/* What is chosen in the volume. */
struct ext_names_choice {
	bool (*suffix)(void *ctx, const char *name, u32 len);
	/* The chosen directory with the next inode number after @after; 0: none. */
	u32 (*next_dir)(void *ctx, u32 after);
	void *ctx;
	bool everywhere;	/* suffixes are chosen */
};

#define EXT_NAMES_MIN_BYTES	(256u << 10)
#define EXT_NAMES_MAX_BYTES	(64u << 20)	/* 400,000 names, or as many blocks logged */

struct ext_names_logged {
	u64 home;		/* 0: free */
	u32 at;			/* block of the journal with the newest copy of @home */
	u32 tid;
};

struct ext_names_inode {
	u32 ino;		/* 0: free */
	u32 flags;
};

/* A run of blocks of the directory that is being read, or a block of its map. */
struct ext_names_part {
	u64 start;
	u32 len;
	u32 level;
};

struct ext_names {
	bool wanted;		/* a view is needed */
	bool full;		/* no room for all names; until the choice changes */
	bool changed;		/* blocks of the view changed since the walk began */
	bool resting;		/* no walk before ext_names_again() */
	bool walking;
	bool done;		/* the walk has ended with a view */
	u32 tries;

	/* The tables, in memory that was given. NULL: none yet. */
	void *memory;
	size_t bytes;
	bool overflow;		/* more memory is needed */
	struct ext_names_part *part;	/* a stack */
	struct ext_names_logged *log;	/* a hash table */
	struct ext_names_inode *inode;	/* a hash table */
	u64 *seen;		/* a hash table: blocks that the walk has read */
	u32 *dir;		/* directories to read, in the order in which they were found */
	u32 slots;		/* of @log and @seen; the other tables have half as many */
	u32 parts, logged, inodes, chosen, blocks, dirs, next_dir;

	/* How far the log was read. */
	bool in_log;		/* false: the log was empty */
	u32 tail, tid;		/* oldest transaction in the log, next one to read */
	u32 begin;		/* block of the log where @tid begins */
	u32 at;			/* block of the log to read next */
	u32 length;		/* blocks read so far */
	u64 stuck;		/* stamp() when the next transaction was not there yet */

	/* What is being read. */
	bool reading_log;
	bool reading_inode;
	bool extents;		/* the directory's map has extents */
	bool failed;		/* the directory makes no sense */
	u32 ino;		/* of the directory */
	u32 level;		/* of the map block; 0: a directory block */
	u64 now;		/* block, 0: none */
	u64 asked;		/* the place where @now is read, 0: not asked yet */
	u64 stamp;

	u64 errors;		/* walks given up */
	u64 walks;		/* walks completed */
};

/* Forget everything but the memory. */
void ext_names_forget(struct ext_names *n);

/* The choice has changed. */
void ext_names_choose(struct ext_names *n);

/* Blocks of the volume are written without the journal. */
static inline void ext_names_written(struct ext_names *n)
{
	n->changed = true;
}

/* Call every few seconds while a view is needed. */
static inline void ext_names_again(struct ext_names *n)
{
	n->resting = false;
}

/* Is there a view, and is it exact now? */
bool ext_names_ready(const struct ext_live *e);

/* Is the file chosen by name? Call only while the view is ready. */
bool ext_names_has(const struct ext_names *n, u32 ino);

/*
 * The block to read next for the walk, 0: none. Then ext_names_learn() takes its content; NULL: not
 * readable. The layout has to be known. Looks at no more than one directory's runs.
 */
u64 ext_names_want(struct ext_live *e, const struct ext_names_choice *choice);
void ext_names_learn(struct ext_live *e, const struct ext_names_choice *choice,
		     const void *content);

/* As classifier_memory() and classifier_give(). */
size_t ext_names_memory(const struct ext_names *n);
void *ext_names_give(struct ext_names *n, void *memory, size_t bytes);

#endif
