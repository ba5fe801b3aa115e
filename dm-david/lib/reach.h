/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of a disk requests have reached: from which sector to which, and how many pages of
 * 4 KiB of it. Each page counts once, however often it is asked for.
 *
 * A large disk has billions of pages, so not all of them can be remembered. As long as they are
 * few, all are. Then only those are whose hash begins with a zero bit, then with two, and so on: a
 * sample of 1 in 2^shift, of which each member is known exactly (M. Wegman's adaptive sampling,
 * after P. Flajolet, "On adaptive sampling", Computing 43, 1990). Up to REACH_MOST pages the number
 * is exact. Above it has a standard error of 1.2 / sqrt(REACH_MOST), 2.7 %.
 *
 * The first sector and the last say little of where requests went: one of the file system's own may
 * lie far from all others. So the disk is cut into parts of one size, and each has its requests
 * counted. Where most of them went is what remains when from either end those parts are left out
 * that have no more than 1 in REACH_FEW of the requests together.
 *
 * A request of one page takes 70 instructions, one of 256 pages 29 a page; reach_count() takes 36
 * (callgrind, -O2).
 * Portable: no locks; the caller owns the memory.
 */
#ifndef DAVID_REACH_H
#define DAVID_REACH_H

#include "../portable/portable.h"

#define REACH_PAGE	8	/* sectors */
#define REACH_SLOTS	4096	/* a power of two */
#define REACH_MOST	(REACH_SLOTS / 2)
#define REACH_PARTS	64
#define REACH_FEW	100

/* Of the requests that begin in a part of the disk. */
struct reach_part {
	u64 nr;
	u64 first, end;		/* sectors; the last one's end may lie behind the part */
};

struct reach {
	u64 first, end;		/* sectors [first, end); the same: none yet */
	u32 shift;		/* one page of 2^shift is in the sample */
	u32 nr;			/* pages in it */
	u32 part_shift;		/* a part has 2^part_shift sectors */
	struct reach_part parts[REACH_PARTS];
	u64 slots[REACH_SLOTS];	/* a page's number + 1; 0: free */
	u64 kept[REACH_MOST];	/* while the sample shrinks */
};

/* Nothing has been reached of a disk of @sectors. */
void reach_clear(struct reach *reach, u64 sectors);

/*
 * The disk has @sectors now. What was reached before counts as if that had been so from the first
 * request on. Of one that was larger the parts stay as large as they were.
 */
void reach_fit(struct reach *reach, u64 sectors);

/* @sectors from @sector on, of a disk of less than 2^60 sectors. */
void reach_add(struct reach *reach, u64 sector, u32 sectors);

/* The same request is one of those that reach_most() is about. */
void reach_count(struct reach *reach, u64 sector, u32 sectors);

/* Where most of them went: sectors [*@first, *@end); both are 0 if there were none. */
void reach_most(const struct reach *reach, u64 *first, u64 *end);

/* How many pages. */
static inline u64 reach_pages(const struct reach *reach)
{
	return (u64)reach->nr << reach->shift;
}

#endif
