/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the classifier said of a request's sectors when it was shown the request (implicit.h). The
 * request carries it to judge.c.
 *
 * Locking: none, it belongs to the request. Any context.
 */
#ifndef DM_DAVID_IMPLICIT_EVIDENCE_H
#define DM_DAVID_IMPLICIT_EVIDENCE_H

#include "../portable/portable.h"
#include "../uapi/dm-david.h"

/*
 * The most runs of different evidence that a request carries. The last run has the worst evidence
 * of all sectors that are left.
 */
#define IMPLICIT_EVIDENCE_RUNS	6

/*
 * Evidence of a request's sectors, from left to right. No runs: nothing is known. With
 * classify=auto evidence that is no objection is DAVID_EV_IMPLIED.
 */
struct implicit_evidence {
	unsigned int runs;
	struct {
		u32 end;	/* sectors from the request's start */
		u8 evidence;	/* enum david_evidence */
		u8 has_csum;	/* if they are squashed, their checksums must be kept: csum.h */
	} run[IMPLICIT_EVIDENCE_RUNS];
};

/* The next sectors, up to @end, have this evidence. No runs at first. */
void implicit_evidence_add(struct implicit_evidence *e, u32 end, enum david_evidence evidence,
			   bool has_csum);

/* The evidence of the @n sectors, @pos sectors behind the request's start: the worst there is. */
enum david_evidence implicit_evidence_at(const struct implicit_evidence *e, u32 pos, u32 n);

/* Must checksums of any of these sectors be kept? */
bool implicit_evidence_has_csum(const struct implicit_evidence *e, u32 pos, u32 n);

#endif
