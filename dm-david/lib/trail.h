/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trails of requests on their way through layers (owner/stack.h has the idea).
 *
 * A passage says: sectors of a request to the device @top went on to @sector of the device @to. The
 * first passage of a request is its departure, to @top itself. The request is known by its first
 * page. A mirror sends a request to several devices. Each of these
 * passages must be there when its bio arrives, or none: a leg whose bio is not recognised stores
 * what the other legs drop.
 *
 * A passage ends when its bio arrives. One that has led further is needed until all legs and parts
 * have been sent on. Nobody tells when that is, so the oldest of these make way for new ones. What
 * never arrives, as a leg has failed, ends by its age.
 *
 * Passages are kept in buckets, by page. Portable: no locks; the caller owns all memory.
 */
#ifndef DAVID_TRAIL_H
#define DAVID_TRAIL_H

#include "../portable/portable.h"

/* Passages in a bucket: from the first number on those that have led further make way, */
#define TRAILS_MANY	16u
/* and from the second on all, whole requests at a time. */
#define TRAILS_MOST	256u

struct passage {
	struct passage *next;		/* of the bucket, younger */
	const void *page;		/* the request's first. Only compared */
	const void *vecs;		/* only compared. NULL: a copy that is made later */
	void *top;			/* the device that the request was first sent to */
	u64 top_sector;			/* of @top */
	u64 sector;			/* of @to */
	u64 since;			/* when it was laid, or a leg beside it has arrived */
	u32 sectors;
	u32 left;			/* sectors that have not arrived */
	u32 data;			/* sectors from its beginning that another leg found data */
	u32 to;				/* the device's number */
	bool is_aligned;		/* 4 KiB units of @top are such units of @to */
	bool is_direct;			/* direct I/O: the pages are its buffer */
	bool has_led;			/* something of it has gone on to another layer */
	bool is_begun;			/* it, or another leg, has begun to arrive */
};

/* A zeroed one is empty. */
struct trails {
	struct passage *first;		/* the oldest */
	struct passage *last;
	unsigned int nr;
	const void *refused;		/* the page of a request that got no memory */
};

/* Where a bio is. */
struct trail_bio {
	const void *page;
	const void *vecs;
	u64 sector;
	u32 sectors;
	u32 to;
};

/*
 * Lay @passage, in @memory. Without memory (NULL) it is refused, and with it the request's other
 * legs. Passages are forgotten @age after they began. Returns a chain of passages that the caller
 * frees: @memory may be among them.
 */
struct passage *trails_lay(struct trails *trails, const struct passage *passage,
			   struct passage *memory, u64 age);

/*
 * No trail leads on from where @passage would lead to: take the passages that it would replace, and
 * return them for the caller to free.
 */
struct passage *trails_cut(struct trails *trails, const struct passage *passage);

/* The passage that @bio is on, or NULL. */
struct passage *trails_find(struct trails *trails, const struct trail_bio *bio, u64 now, u64 age);

/*
 * The next @sectors of @passage have arrived. Returns @passage if that was all of it: the caller
 * frees it. Otherwise NULL.
 */
struct passage *trails_arrive(struct trails *trails, struct passage *passage, u32 sectors, u64 now);

/*
 * @sectors from @top_sector on, of the request to @top that begins with @page, were found to be
 * data where they arrived first. Its other legs remember that: evidence may change meanwhile.
 */
void trails_were_data(struct trails *trails, const void *page, const void *top, u64 top_sector,
		      u32 sectors);

/* How many sectors from @sector of passage->to on are such data. */
static inline u32 passage_data(const struct passage *passage, u64 sector)
{
	u64 offset = sector - passage->sector;

	return passage->data > offset ? passage->data - offset : 0;
}

#endif
