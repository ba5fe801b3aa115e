/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the bitmaps and inode tables of an ext volume lie: the part of its
 * static layout that the group descriptors tell.
 *
 * Runs of blocks, sorted, in memory that the caller gives. Descriptor blocks
 * are read one after the other (layout_want(), layout_learn()) once somebody
 * needs to know (layout_need()), and again after one of them was written with
 * something else in it, or the volume has grown.
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
	bool needed;
	bool known;		/* runs are all there, and sorted */
	bool failed;		/* too many runs, or descriptors that make no sense */
	bool overflow;		/* more room is needed */
	bool stale;		/* something was written since the last layout_want() */
	u32 next;		/* descriptor block to be read next */
	struct layout_run *run;
	u32 runs, room;
};

#define LAYOUT_MIN_BYTES	16384
#define LAYOUT_MAX_BYTES	(16u << 20)	/* 16 TB of ext2 */

/* Nothing is known (any more). Keeps the memory. */
void layout_forget(struct layout *l);

/* From now on it is needed. */
static inline void layout_need(struct layout *l)
{
	l->needed = true;
}

/* What @block is. *@first becomes the number of its first inode, or that of a bitmap's group. */
enum layout_kind layout_find(const struct layout *l, const struct ext_geo *geo, u64 block,
			     u32 *first);

/* Is any of the @n blocks from @block on a bitmap? */
bool layout_has_bitmap(const struct layout *l, u64 block, u64 n);

/*
 * The block that inode @ino lies in, at byte *@offset; 0: not known. Looks at all
 * runs: not on an I/O path.
 */
u64 layout_inode_block(const struct layout *l, const struct ext_geo *geo, u32 ino, u32 *offset);

/* A block of kind EXT_GDT is written; @content NULL: partly. */
void layout_gdt_write(struct layout *l, const struct ext_geo *geo, u64 block,
		      const void *content);

/* The block to read next, 0: none; and what was in it (NULL: cannot be read). */
u64 layout_want(struct layout *l, const struct ext_geo *geo);
void layout_learn(struct layout *l, const struct ext_geo *geo, u64 block, const void *content);

/* As classifier_memory() and classifier_give(). */
size_t layout_memory(const struct layout *l);
void *layout_give(struct layout *l, void *memory, size_t bytes);

#endif
