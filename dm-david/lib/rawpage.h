/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RAW rules as pages of a store (docs/FORMAT.md, area 1).
 *
 * Each change writes all rules again. The pages of a set are in a row, in the area and in the
 * store. So they are one range of the table, which is in the log completely or not at all. Pages
 * behind them, of an earlier and longer set, are ignored.
 *
 * The pages are not trusted: impossible rules are found here.
 *
 * Portable.
 */
#ifndef DAVID_RAWPAGE_H
#define DAVID_RAWPAGE_H

#include "rawset.h"

#define RAWPAGE_AREA	1		/* META_RAW */
#define RAWPAGE_SIZE	4096u
#define RAWPAGE_RULES	169u	/* a page */
#define RAWPAGE_MOST	((4 * RAW_RULES + RAWPAGE_RULES - 1) / RAWPAGE_RULES)

/* Pages that @set takes. */
unsigned int rawpage_count(const struct rawset *set);

/* Page @n of @set. @generation: a number that no set before it had. */
void rawpage_pack(const struct rawset *set, u64 generation, unsigned int n, void *page);

/* The number of pages of the set whose first is @page, at most RAWPAGE_MOST; 0: *@wrong. */
unsigned int rawpage_look(const void *page, const char **wrong);

/*
 * The set in these @n pages, in a row, where @n is what rawpage_look() said. 0; -ENOMEM; -EINVAL
 * with what is wrong in *@wrong.
 */
int rawpage_unpack(const void *pages, unsigned int n, gfp_t gfp, struct rawset **set,
		   u64 *generation, const char **wrong);

#endif
