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
 * A request of one page takes 70 instructions, one of 256 pages 29 a page (callgrind, -O2).
 * Portable: no locks; the caller owns the memory.
 */
#ifndef DAVID_REACH_H
#define DAVID_REACH_H

#include "../portable/portable.h"

#define REACH_PAGE	8	/* sectors */
#define REACH_SLOTS	4096	/* a power of two */
#define REACH_MOST	(REACH_SLOTS / 2)

struct reach {
	u64 first, end;		/* sectors [first, end); the same: none yet */
	u32 shift;		/* one page of 2^shift is in the sample */
	u32 nr;			/* pages in it */
	u64 slots[REACH_SLOTS];	/* a page's number + 1; 0: free */
	u64 kept[REACH_MOST];	/* while the sample shrinks */
};

/* Nothing has been reached. */
void reach_clear(struct reach *reach);

/* @sectors from @sector on, of a disk of less than 2^60 sectors. */
void reach_add(struct reach *reach, u64 sector, u32 sectors);

/* How many pages. */
static inline u64 reach_pages(const struct reach *reach)
{
	return (u64)reach->nr << reach->shift;
}

#endif
