/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the classifier said of a request's sectors when it was shown the request (implicit.h). The
 * request carries it to judge.c.
 *
 * Locking: none, it belongs to the request. Any context.
 */
#ifndef DM_DAVID_IMPLIED_H
#define DM_DAVID_IMPLIED_H

#include "../portable/portable.h"
#include "../uapi/dm-david.h"

/*
 * The most runs of different evidence that a request carries. The last run has the worst evidence
 * of all sectors that are left.
 */
#define IMPLIED_RUNS	6

/*
 * Evidence of a request's sectors, from left to right. No runs: nothing is known. With
 * classify=auto evidence that is no objection is DAVID_EV_IMPLIED.
 */
struct implied {
	unsigned int runs;
	struct {
		u32 end;	/* sectors from the request's start */
		u8 evidence;	/* enum david_evidence */
		u8 has_csum;	/* if they are squashed, their checksums must be kept: csum.h */
	} run[IMPLIED_RUNS];
};

/* The next sectors, up to @end, have this evidence. No runs at first. */
void implied_add(struct implied *implied, u32 end, enum david_evidence evidence, bool has_csum);

/* The evidence of the @n sectors, @pos sectors behind the request's start: the worst there is. */
enum david_evidence implied_at(const struct implied *implied, u32 pos, u32 n);

/* Must checksums of any of these sectors be kept? */
bool implied_csum(const struct implied *implied, u32 pos, u32 n);

#endif
