/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The map of an SSD: which pages are valid where, and garbage collection. It knows no time: ssd.h
 * turns what it moves and erases into work for the dies.
 *
 * Memory is bounded. Logical pages of 4 KiB are divided into groups of 2^n neighbours, and of each
 * group one page is in the map: the one that a hash of the group's number says. Physical blocks are
 * smaller by the same factor. So the map is that of a drive of 1/2^n of the size under 1/2^n of the
 * writes. Its write amplification is that of the whole, but for what blocks of fewer pages make of
 * it: with m sampled pages a block, greedy collection's is as if blocks had m pages.
 *
 * Of pages that are not in the map it is known whether any of their neighbours, up to an eighth of
 * a group, has been written and not trimmed in one piece since; and whether the last write to their
 * group had neighbours. So after trims of less than an eighth they count as written.
 *
 * Collection pays as it goes: while a block is collected, each page that the host writes moves as
 * many pages as the block's share of valid pages makes it worth.
 *
 * An SLC cache takes what the host writes first. Its pages are in no block until they are folded:
 * then they are written as the host's would be. What is overwritten or trimmed before costs nothing
 * more. Of the cache, too, the map knows its sample: it is full when that share of it is.
 *
 * A drive with zones has no such map: of each zone it is known how much has been written.
 */
#ifndef DAVID_MODEL_FTL_H
#define DAVID_MODEL_FTL_H

#include "../profile/profile.h"

#define FTL_PAGE	8	/* sectors */

struct ftl;

/* In sampled pages. To have pages: << ftl_shift(). */
struct ftl_figures {
	u64 written;		/* by the host */
	u64 moved;		/* by collection */
	u64 erased;		/* blocks */
	u64 folded;		/* from the SLC cache to blocks */
	u64 fresh;		/* of written: collection had not begun to keep blocks free */
	bool stuck;		/* the policy found no room: the emptiest block is collected */
	u32 share;		/* now so many pages are moved */
	u32 gain;		/* for so many of the host; never 0 once share is not */
};

/* Returns NULL without memory. Preconditioned, and then all figures are 0. May sleep. */
struct ftl *ftl_create(const struct profile *profile, gfp_t gfp);
/* Another one in the same state, of the same profile. Returns NULL without memory. May sleep. */
struct ftl *ftl_copy(const struct ftl *ftl, gfp_t gfp);
void ftl_destroy(struct ftl *ftl);
size_t ftl_bytes(const struct ftl *ftl);

u32 ftl_shift(const struct ftl *ftl);
u64 ftl_block_pages(const struct ftl *ftl);	/* not sampled */
const struct ftl_figures *ftl_figures(const struct ftl *ftl);

/*
 * Pages [first, first + nr), which lie on the drive. Returns whether the SLC cache takes them. Not
 * of a drive with zones.
 */
bool ftl_write(struct ftl *ftl, u64 first, u32 nr);

/*
 * Pages [first, first + nr), which lie on the drive, have been written at some time: what is known
 * of a disk's content is told to a new map. Those that the map has stay as they are. The others
 * lie in native cells, as profile.precondition says: each by itself with random, else with their
 * neighbours. So it does not matter in which pieces they are told. Counts in no figure.
 */
void ftl_fill(struct ftl *ftl, u64 first, u64 nr);

/*
 * @user, which is any pointer of its own, uses the map now. Returns whether somebody else did
 * before, or nobody.
 */
bool ftl_taken_over(struct ftl *ftl, const void *user);
bool ftl_is_used_by(const struct ftl *ftl, const void *user);

void ftl_trim(struct ftl *ftl, u64 first, u64 nr);

/* What a read meets. */
enum ftl_state {
	FTL_NOTHING,		/* never written, or trimmed */
	FTL_RUN,		/* written with its neighbours: they share a flash page */
	FTL_SCATTERED,		/* written by itself */
};

enum ftl_state ftl_look(const struct ftl *ftl, u64 page);

/* Is a page that was written in the SLC cache? */
bool ftl_in_slc(const struct ftl *ftl, u64 page);

/*
 * Fold up to @pages pages of the SLC cache, a piece of them: call it until it returns 0. Returns
 * how many; *@left: there are more in the cache.
 */
u64 ftl_fold(struct ftl *ftl, u64 pages, bool *left);

/*
 * Of a drive with zones: how many sectors of @zone, from its first one on, have been written, and
 * that so many have been. 0 empties it.
 */
u32 ftl_zone_end(const struct ftl *ftl, u32 zone);
void ftl_zone_set(struct ftl *ftl, u32 zone, u32 end);

/*
 * Move up to *@pages pages, as long as less than @room pages are free. A piece of that: call it
 * until it returns false. Subtracts from *@pages what it has moved.
 */
bool ftl_idle(struct ftl *ftl, u64 *pages, u64 room);

#endif
