/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inode association: which blocks are file content, told by the inodes that
 * point to them (semantically-smart disk systems, FAST 2003; David, FAST 2011,
 * section 3.1). Needed where no journal decides at once.
 *
 * While blocks are undecided (undecided.h), every inode-table block that is
 * written is noted. Later, off the I/O path, it is read back, and the maps of the
 * regular files in it are followed through extent nodes and indirect blocks. An
 * undecided block that a file maps within its size is data, and so is what a
 * deleted file left behind, which the bitmap of blocks says is free.
 *
 * That a map says so is not proof by itself: docs/CLASSIFICATION.md has the
 * argument. What is undecided cannot be metadata by its content (exclude.h), or
 * is doubtful: then what tells of it must have been written later. The inode
 * itself can be that, or an extent node that by its checksum was this inode's
 * when it was written. On volumes that have metadata without form (ext_live's
 * ->association) only the pointers in the inode itself count, and for all blocks
 * only if it was written later. With a journal nothing counts before the journal
 * has gone on since: a block on its way home is as new as the last commit,
 * whatever is replayed after a crash.
 *
 * What is read back may be older than the write that was noted, as requests in
 * flight overtake each other: so a hash of the content is noted with the time,
 * and what is read with another one tells nothing.
 *
 * A file that is kept by choice (->chosen) tells the opposite of its blocks. What may be
 * such a file's must be doubtful from the beginning: else a map that is older than the
 * block, of another file that had it before, would call it data.
 *
 * Blocks may be written after the inode that maps them, and indirect blocks
 * too: so blocks of inodes that have been looked at are looked at again on
 * assoc_again(), as long as something is undecided.
 *
 * Bounded: notes, and the stack of nodes to be read. What finds no room is left
 * out, and its blocks stay kept. Portable; the caller serialises, reads, and
 * gives memory.
 */
#ifndef CLASSIFIER_ASSOC_H
#define CLASSIFIER_ASSOC_H

#include "ext-live.h"
#include "undecided.h"

#define ASSOC_NOTES	4096u	/* a power of 2 */
#define ASSOC_NODES	4096u	/* more than two levels of any tree */
#define ASSOC_WRITTEN	4096u	/* a power of 2 */

enum assoc_state {
	ASSOC_FREE,
	ASSOC_FRESH,		/* to be looked at */
	ASSOC_SEEN,		/* worth another look */
};

struct assoc_note {
	u64 block;		/* of an inode table, or a bitmap of blocks */
	u64 time;		/* of its last write */
	u64 progress;		/* of the journal at that time */
	u64 hash;		/* of its content */
	u32 slot;
	u32 first;		/* inode in it, or the group that it is of */
	bool bitmap;
	enum assoc_state state;
};

/* When an extent node was written, and what. */
struct assoc_written {
	u64 block;		/* 0: none */
	u64 time;
	u64 progress;
	u64 hash;
	u32 slot;
};

/* One to be read. */
struct assoc_node {
	u64 start;
	u32 logical;
	u32 level;
};

struct assoc {
	u64 time;		/* grows with every note */
	struct assoc_note *note;	/* a hash, in memory given; NULL: none yet */
	struct assoc_node *node;	/* a stack */
	struct assoc_written *written;	/* a hash; the newest stays */
	u8 *inodes;		/* the block that is looked at */
	u32 notes;		/* those that are fresh */
	u32 hand;		/* where to look for the next */
	u32 nodes;

	struct assoc_note now;	/* what is looked at; ->slot UNDECIDED_NONE: nothing */
	u32 place;		/* where it is noted */
	bool reading;		/* it is being read */
	bool files;		/* there are files in it */
	u32 next;		/* inode within it */
	struct ext_inode inode;
	bool spare;		/* its blocks are to be kept */
	u64 size;		/* of the inode's file, blocks */

	/* Files whose content is kept by choice; NULL: none. */
	bool (*chosen)(void *ctx, u32 slot, u32 ino);
	/* Can that be told of all files now? Until then inodes are not looked at. */
	bool (*ready)(void *ctx, u32 slot);
	void *chosen_ctx;

	u64 missed;		/* notes and nodes that found no room */
	u64 read;		/* nodes */
};

void assoc_init(struct assoc *a);

/* Memory wanted, zeroed; 0: none. And its delivery. */
size_t assoc_memory(const struct assoc *a, const struct undecided *u);
void assoc_give(struct assoc *a, void *memory);
size_t assoc_bytes(const struct assoc *a);

/*
 * @block of the volume of @slot is written with @content: inodes from number @first on, or the
 * bitmap of the blocks in group @first.
 */
void assoc_note(struct assoc *a, u32 slot, const struct ext_live *e, u64 block,
		const void *content, u32 first, bool bitmap);

/* The same of what may be an extent node. */
void assoc_note_node(struct assoc *a, u32 slot, const struct ext_live *e, u64 block,
		     const void *content);

/* Look again at the inodes that were looked at: more may be undecided, and more on the disk. */
void assoc_again(struct assoc *a);

/* Are there inodes of the volume of @slot that could be looked at, were ->ready()? */
bool assoc_waits(const struct assoc *a, u32 slot, const struct ext_live *e);

/* Is a block of inodes being looked at? */
static inline bool assoc_is_busy(const struct assoc *a)
{
	return a->now.slot != UNDECIDED_NONE;
}

/* The volume of @slot is gone. */
void assoc_forget(struct assoc *a, u32 slot);

/*
 * The block to read next, of the volume *@slot of those in @ext: false if there
 * is none. And what was in it (NULL: cannot be read). At most one at a time.
 */
bool assoc_want(struct assoc *a, struct undecided *u, const struct ext_live *ext, u32 *slot,
		u64 *block);
void assoc_learn(struct assoc *a, struct undecided *u, const struct ext_live *ext,
		 const void *content);

#endif
