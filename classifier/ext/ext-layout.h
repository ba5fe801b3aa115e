/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The places of an ext volume's bitmaps and inode tables, which its group descriptors name.
 *
 * They are sorted runs of blocks, in memory that the caller gives. After ext_layout_need(),
 * descriptor blocks are read one after the other (ext_layout_want(), ext_layout_learn()). They are
 * read again after one of them was written with other content, or the volume has grown.
 *
 * Portable; the caller serialises. A lookup is a binary search.
 */
#ifndef CLASSIFIER_EXT_LAYOUT_H
#define CLASSIFIER_EXT_LAYOUT_H

#include "ext.h"

enum ext_layout_kind {
	EXT_LAYOUT_OTHER,		/* none of these */
	EXT_LAYOUT_BLOCK_BITMAP,
	EXT_LAYOUT_INODE_BITMAP,
	EXT_LAYOUT_INODES,
};

struct ext_layout_run {
	u64 start;
	u32 len;
	u32 group;		/* of its first block */
	enum ext_layout_kind kind;
};

struct ext_layout {
	bool needed;		/* ext_layout_need() was called */
	bool known;		/* all runs are there, and sorted */
	bool failed;		/* too many runs, or descriptors that make no sense */
	bool overflow;		/* more memory is needed */
	bool stale;		/* a descriptor block was written since ext_layout_want() */
	u32 next;		/* index of the descriptor block to read next */
	struct ext_layout_run *run;
	u32 runs, room;
};

#define EXT_LAYOUT_MIN_BYTES	16384
#define EXT_LAYOUT_MAX_BYTES	(16u << 20)	/* 16 TB of ext2 */

/* Forget everything but the memory. */
void ext_layout_forget(struct ext_layout *l);

/* Read the descriptors from now on. */
static inline void ext_layout_need(struct ext_layout *l)
{
	l->needed = true;
}

/* What @block is. *@first: the number of its first inode; of a bitmap, the number of its group. */
enum ext_layout_kind ext_layout_find(const struct ext_layout *l, const struct ext_geo *geo,
				     u64 block, u32 *first);

/* Is any of the @n blocks from @block on a bitmap? */
bool ext_layout_has_bitmap(const struct ext_layout *l, u64 block, u64 n);

/*
 * The block that inode @ino lies in, at byte *@offset; 0: not known. Looks at all
 * runs: not on an I/O path.
 */
u64 ext_layout_inode_block(const struct ext_layout *l, const struct ext_geo *geo, u32 ino,
			   u32 *offset);

/* A block of kind EXT_GDT is written with @content. NULL: only a part of it is written. */
void ext_layout_gdt_write(struct ext_layout *l, const struct ext_geo *geo, u64 block,
			  const void *content);

/*
 * The block to read next, 0: none. Then ext_layout_learn() takes its content; NULL: it is not
 * readable.
 */
u64 ext_layout_want(struct ext_layout *l, const struct ext_geo *geo);
void ext_layout_learn(struct ext_layout *l, const struct ext_geo *geo, u64 block,
		      const void *content);

/* As classifier_memory() and classifier_give(). */
size_t ext_layout_memory(const struct ext_layout *l);
void *ext_layout_give(struct ext_layout *l, void *memory, size_t bytes);

#endif
