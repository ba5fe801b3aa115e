/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inode association: an undecided block is file content if a regular file's inode maps it
 * (semantically-smart disk systems, FAST 2003; David, FAST 2011, section 3.1). Needed where no
 * journal decides at once.
 *
 * While blocks are undecided (undecided.h), each write to an inode table is noted. Later, off the
 * I/O path, the block is read back. The maps of the regular files in it are followed through extent
 * nodes and indirect blocks. An undecided block that a file maps within its size is data. So is a
 * block that the block bitmap says is free: a deleted file left it behind.
 *
 * A map alone is no proof, as it may be older than the block; classifier/ext/WHY.md has the
 * argument. The rules:
 *
 *   - A block that cannot be metadata by its content (exclude.h): any map counts.
 *   - A doubtful block: only evidence counts that was written after the block. That is the inode,
 *     or an extent node whose checksum shows that it was this inode's when it was written.
 *   - On a volume that may hold metadata without form (ext_live->association): only pointers in the
 *     inode itself count, and only if the inode was written after the block.
 *   - With a journal: evidence counts only after the journal has made progress since. A block on
 *     its way home is as new as the last commit, and a crash may replay what came before.
 *
 * Requests in flight overtake each other. So the block that is read back may be older than the
 * write that was noted. The note has a hash of the content; content with another hash is ignored.
 *
 * Blocks that a chosen file (->chosen) maps are kept. Blocks that may belong to such a file must be
 * doubtful from the beginning. Otherwise an older map, of another file that had the block before,
 * would make it data.
 *
 * A file's blocks, and its indirect blocks, may be written after its inode. So assoc_again() makes
 * all noted inodes be looked at again, as long as blocks are undecided.
 *
 * Bounds: the notes, and the stack of nodes to read. If there is no room, a note or node is
 * dropped, and its blocks stay kept. Portable; the caller serialises, reads, and gives memory.
 */
#ifndef CLASSIFIER_ASSOC_H
#define CLASSIFIER_ASSOC_H

#include "ext-live.h"
#include "../undecided.h"

#define ASSOC_NOTES	4096u	/* a power of 2 */
#define ASSOC_NODES	4096u	/* more than two levels of any tree */
#define ASSOC_WRITTEN	4096u	/* a power of 2 */

enum assoc_state {
	ASSOC_FREE,
	ASSOC_FRESH,		/* to be looked at */
	ASSOC_SEEN,		/* looked at; assoc_again() makes it fresh */
};

struct assoc_note {
	u64 block;		/* of an inode table, or a block bitmap */
	u64 time;		/* of its last write */
	u64 progress;		/* of the journal at that time */
	u64 hash;		/* of the content written */
	u32 slot;		/* volume_slot() */
	u32 first;		/* number of the first inode in it; of a bitmap: its group */
	bool bitmap;
	enum assoc_state state;
};

/* A write of an extent node. */
struct assoc_written {
	u64 block;		/* 0: none */
	u64 time;
	u64 progress;
	u64 hash;
	u32 slot;
};

/* An extent node or indirect block to be read. */
struct assoc_node {
	u64 start;
	u32 logical;
	u32 level;
};

struct assoc {
	u32 first_slot;		/* assoc_init() */
	u64 time;		/* grows with every note */
	struct assoc_note *note;	/* a hash table, in memory that was given; NULL: none yet */
	struct assoc_node *node;	/* a stack */
	struct assoc_written *written;	/* a hash table; a newer entry replaces an older one */
	u8 *inodes;		/* content of the block that is being looked at */
	u32 notes;		/* how many are ASSOC_FRESH */
	u32 hand;		/* index of the note to look at next */
	u32 nodes;		/* on the stack */

	struct assoc_note now;	/* being looked at; ->slot UNDECIDED_NONE: none */
	u32 place;		/* its index in @note */
	bool reading;		/* its block is being read */
	bool files;		/* its block has regular files */
	u32 next;		/* inode to look at next, from the block's first */
	struct ext_inode inode;
	bool spare;		/* the inode's file is chosen: keep its blocks */
	u64 size;		/* of the inode's file, blocks */

	/* Is the content of this file to be kept? NULL: no file is chosen. */
	bool (*chosen)(void *ctx, u32 slot, u32 ino);
	/* Can ->chosen() answer for all files now? Until then no inode is looked at. */
	bool (*ready)(void *ctx, u32 slot);
	void *chosen_ctx;

	u64 missed;		/* notes and nodes that found no room */
	u64 read;		/* nodes */
};

/* @first_slot: volume_slot() of the volume whose live state is the first of @ext, see below. */
void assoc_init(struct assoc *a, u32 first_slot);

/* Bytes of zeroed memory that are needed; 0: none. Then assoc_give() takes it. */
size_t assoc_memory(const struct assoc *a, const struct undecided *u);
void assoc_give(struct assoc *a, void *memory);
size_t assoc_bytes(const struct assoc *a);

/*
 * @block of the volume of @slot is written with @content. It has inodes from number @first on; with
 * @bitmap, it is the block bitmap of group @first.
 */
void assoc_note(struct assoc *a, u32 slot, const struct ext_live *e, u64 block,
		const void *content, u32 first, bool bitmap);

/* @block, which may be an extent node, is written with @content. */
void assoc_note_node(struct assoc *a, u32 slot, const struct ext_live *e, u64 block,
		     const void *content);

/* Look again at all noted inodes: since then, blocks and their maps may have been written. */
void assoc_again(struct assoc *a);

/* Does only ->ready() keep inodes of the volume of @slot from being looked at? */
bool assoc_waits(const struct assoc *a, u32 slot, const struct ext_live *e);

/* Is a note being looked at? */
static inline bool assoc_is_busy(const struct assoc *a)
{
	return a->now.slot != UNDECIDED_NONE;
}

/* The volume of @slot is gone. */
void assoc_forget(struct assoc *a, u32 slot);

/*
 * assoc_want() says which block to read next: *@block of the volume *@slot. @ext: the live states
 * of all volumes, by slot. False: none. assoc_learn() takes its content, or NULL if it cannot be
 * read. One at a time.
 */
bool assoc_want(struct assoc *a, struct undecided *u, const struct ext_live *ext, u32 *slot,
		u64 *block);
void assoc_learn(struct assoc *a, struct undecided *u, const struct ext_live *ext,
		 const void *content);

#endif
