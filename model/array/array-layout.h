/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the sectors of an array lie on its members, by md's layouts. A pure mapping: no
 * time, no state. Sources: Linux 6.12, drivers/md/raid5.c raid5_compute_sector(),
 * raid10.c __raid10_find_phys() and calc_sectors(), raid0.c.
 *
 * All members have the same size. All places and lengths are sectors of 512 bytes, those
 * on a member counted from where its data begin: see layout_metadata(). A row is a chunk at
 * the same place of each member; RAID-4, 5 and 6 have parity in each row.
 */
#ifndef DAVID_ARRAY_LAYOUT_H
#define DAVID_ARRAY_LAYOUT_H

#include "../../dm-david/portable/portable.h"

#define ARRAY_MEMBERS	64		/* most: sets of members are bits of a u64 */
#define ARRAY_BLOCK	8		/* sectors that md's parity is kept by: a page */
#define ARRAY_CHUNK	131072u		/* sectors, most: 64 MiB */
#define NO_MEMBER	U32_MAX

enum array_level { ARRAY_0, ARRAY_1, ARRAY_4, ARRAY_5, ARRAY_6, ARRAY_10 };

/* Where a row's parity is: md's numbers, ALGORITHM_... of raid5.h */
enum array_parity {
	PARITY_LEFT_ASYMMETRIC = 0,
	PARITY_RIGHT_ASYMMETRIC = 1,
	PARITY_LEFT_SYMMETRIC = 2,
	PARITY_RIGHT_SYMMETRIC = 3,
	PARITY_FIRST = 4,
	PARITY_LAST = 5,
	PARITY_ZERO_RESTART = 8,		/* the last of these for RAID-6 only: */
	PARITY_N_RESTART = 9,			/* those of DDF, */
	PARITY_N_CONTINUE = 10,
	PARITY_LEFT_ASYMMETRIC_6 = 16,		/* and those of RAID-5 with Q on the last */
	PARITY_RIGHT_ASYMMETRIC_6 = 17,
	PARITY_LEFT_SYMMETRIC_6 = 18,
	PARITY_RIGHT_SYMMETRIC_6 = 19,
	PARITY_FIRST_6 = 20,
};

struct array_layout {
	/* To be set before layout_init() */
	enum array_level level;
	enum array_parity parity;	/* RAID-5, RAID-6 */
	u32 members;
	u32 chunk;			/* sectors; not for RAID-1 */
	u32 near, far;			/* RAID-10: copies beside each other, and far apart, */
	bool offset;			/* these in the next row */
	u64 start;			/* sector of a member where its data begin */
	u64 superblock;			/* sector of a member */

	/* By layout_init() */
	u64 member_sectors;		/* used of each member */
	u64 sectors;			/* of the array */
	u64 stride;			/* RAID-10: from a far copy to the next */
};

/* A run of sectors within one chunk. */
struct array_piece {
	u64 sector;			/* on the member */
	u32 sectors;
	u32 member;
	u64 row;			/* RAID-4, 5, 6 */
	u32 index;			/* its data chunk's number in the row */
};

/*
 * Set layout and number of copies by mdadm's word, such as "left-symmetric", "ls", "n2" or "f3";
 * NULL is mdadm's choice for the level. Returns false if the level has no such layout.
 */
bool layout_parse(struct array_layout *layout, const char *word);

/* Its name, as layout_parse() takes it; "" for levels that have one layout only. */
void layout_print(const struct array_layout *layout, char *text, size_t size);

/* Where md's superblock lies: at the end of a member, or in its first blocks. */
enum array_metadata { METADATA_NONE, METADATA_1_0, METADATA_1_2 };

/*
 * How many sectors mdadm takes of a drive of @sectors for a new array without a bitmap. Sets where
 * they begin, in ->start, and ->superblock. 0: the drive is too small. Source: mdadm 4.2,
 * super1.c validate_geometry1() and choose_bm_space(): room for a bitmap is kept always.
 */
u64 layout_metadata(struct array_layout *layout, enum array_metadata metadata, u64 sectors);

/* For members of @member_sectors. Returns NULL, or what is wrong. */
const char *layout_init(struct array_layout *layout, u64 member_sectors);

/* RAID-4, 5, 6: members with parity in each row; else 0. */
static inline u32 layout_parities(const struct array_layout *layout)
{
	if (layout->level == ARRAY_4 || layout->level == ARRAY_5)
		return 1;
	return layout->level == ARRAY_6 ? 2 : 0;
}

/* How many places a sector has. */
static inline u32 layout_copies(const struct array_layout *layout)
{
	if (layout->level == ARRAY_1)
		return layout->members;
	return layout->level == ARRAY_10 ? layout->near * layout->far : 1;
}

/*
 * The first of the pieces that [@sector, @sector + @sectors) consists of, as @copy has it. It
 * ends with its chunk, or where the run does. RAID-1 has no chunks: all is one piece.
 */
void layout_piece(const struct array_layout *layout, u64 sector, u64 sectors, u32 copy,
		  struct array_piece *piece);

/* RAID-10: which sector of the array @member has at @sector; it may lie behind the array's end. */
u64 layout_virtual(const struct array_layout *layout, u32 member, u64 sector);

/*
 * RAID-4, 5, 6: the member that has chunk @index of @row. Data are 0 and on, in order of
 * the array's sectors; behind them come P and, of RAID-6, Q.
 */
u32 layout_member(const struct array_layout *layout, u64 row, u32 index);

#endif
