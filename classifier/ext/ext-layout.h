/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The places of an ext volume's bitmaps and inode tables, which its group descriptors name.
 *
 * They are sorted runs of blocks, in memory that the caller gives. After layout_need(), descriptor
 * blocks are read one after the other (layout_want(), layout_learn()). They are read again after
 * one of them was written with other content, or the volume has grown.
 *
 * Portable; the caller serialises. A lookup is a binary search.
 */
#ifndef CLASSIFIER_LAYOUT_H
#define CLASSIFIER_LAYOUT_H

#include "ext.h"

enum layout_kind {
	LAYOUT_OTHER,		/* none of these */
	LAYOUT_BLOCK_BITMAP,
	LAYOUT_INODE_BITMAP,
	LAYOUT_INODES,
};

struct layout_run {
	u64 start;
	u32 len;
	u32 group;		/* of its first block */
	enum layout_kind kind;
};

struct layout {
	bool needed;		/* layout_need() was called */
	bool known;		/* all runs are there, and sorted */
	bool failed;		/* too many runs, or descriptors that make no sense */
	bool overflow;		/* more memory is needed */
	bool stale;		/* a descriptor block was written since the last layout_want() */
	u32 next;		/* index of the descriptor block to read next */
	struct layout_run *run;
	u32 runs, room;
};

#define LAYOUT_MIN_BYTES	16384
#define LAYOUT_MAX_BYTES	(16u << 20)	/* 16 TB of ext2 */

/* Forget everything but the memory. */
void layout_forget(struct layout *l);

/* Read the descriptors from now on. */
static inline void layout_need(struct layout *l)
{
	l->needed = true;
}

/* What @block is. *@first: the number of its first inode; of a bitmap, the number of its group. */
enum layout_kind layout_find(const struct layout *l, const struct ext_geo *geo, u64 block,
			     u32 *first);

/* Is any of the @n blocks from @block on a bitmap? */
bool layout_has_bitmap(const struct layout *l, u64 block, u64 n);

/*
 * The block that inode @ino lies in, at byte *@offset; 0: not known. Looks at all
 * runs: not on an I/O path.
 */
u64 layout_inode_block(const struct layout *l, const struct ext_geo *geo, u32 ino, u32 *offset);

/* A block of kind EXT_GDT is written with @content. NULL: only a part of it is written. */
void layout_gdt_write(struct layout *l, const struct ext_geo *geo, u64 block,
		      const void *content);

/* The block to read next, 0: none. Then layout_learn() takes its content; NULL: not readable. */
u64 layout_want(struct layout *l, const struct ext_geo *geo);
void layout_learn(struct layout *l, const struct ext_geo *geo, u64 block, const void *content);

/* As classifier_memory() and classifier_give(). */
size_t layout_memory(const struct layout *l);
void *layout_give(struct layout *l, void *memory, size_t bytes);

#endif
