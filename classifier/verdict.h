/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From evidence to a verdict.
 *
 * "No metadata block is ever misclassified" (David, FAST 2011, section 3.1). So the safe side is to
 * keep. A block is squashed only if some evidence says data and none says metadata. Without any
 * evidence it is undecided. Evidence that this file does not know counts as metadata.
 *
 * The module asks for one piece of evidence at a time. Where several were seen, judge.c says which
 * one counts: the table at its top.
 *
 * Portable, any context.
 */
#ifndef CLASSIFIER_VERDICT_H
#define CLASSIFIER_VERDICT_H

#include "../dm-david/portable/portable.h"
#include "../dm-david/uapi/dm-david.h"

enum verdict {
	VERDICT_UNDECIDED,
	VERDICT_KEEP,
	VERDICT_SQUASH,
};

enum classify_mode {
	CLASSIFY_AUTO,		/* all evidence */
	CLASSIFY_IMPLICIT,	/* evidence from the writes, and REQ_SWAP */
	CLASSIFY_EXPLICIT,	/* page owner, mount state, request flags */
	CLASSIFY_KEEP,		/* no evidence: store everything */
	CLASSIFY_DATA,		/* no evidence: squash everything */
	CLASSIFY_MODES
};

/* DAVID_EV_MODE is no evidence. A mode that decides, decides alone. */
#define EVIDENCE_SILENT	BIT(DAVID_EV_MODE)
#define EVIDENCE_SAYS_NONE	0
#define EVIDENCE_SAYS_KEEP	0
#define EVIDENCE_SAYS_SQUASH	1
#define EVIDENCE_BIT(kind, name, says)	| EVIDENCE_SAYS_##says * BIT(DAVID_EV_##kind)
#define EVIDENCE_DATA	(0 DAVID_EVIDENCE(EVIDENCE_BIT))

/*
 * The verdict on a block for which all evidence in @set, BIT(enum david_evidence), was seen. In the
 * header, as a call costs more than the verdict.
 */
static inline enum verdict verdict_of_set(enum classify_mode mode, u32 set)
{
	BUILD_BUG_ON(DAVID_EV_NR > 32);

	if (mode == CLASSIFY_KEEP)
		return VERDICT_KEEP;
	if (mode == CLASSIFY_DATA)
		return VERDICT_SQUASH;
	if (set & ~(EVIDENCE_SILENT | EVIDENCE_DATA))
		return VERDICT_KEEP;
	return set & EVIDENCE_DATA ? VERDICT_SQUASH : VERDICT_UNDECIDED;
}

/* The same for one piece of evidence. */
static inline enum verdict verdict_of(enum classify_mode mode, enum david_evidence evidence)
{
	return verdict_of_set(mode, BIT(evidence));
}

/*
 * classify=auto: the page owner is @owner, which says data; the write itself says @implicit. Does
 * the write object? A logged page of a regular file is no objection, as data=journal logs data. A
 * page of a process is never logged.
 */
static inline bool verdict_objects(enum david_evidence implicit, enum david_evidence owner)
{
	return implicit == DAVID_EV_LAYOUT || implicit == DAVID_EV_SELF ||
	       (implicit == DAVID_EV_LOGGED && owner != DAVID_EV_FILE);
}

/* The name in a table line, NULL if there is no such mode; and back, or -EINVAL. */
const char *classify_name(enum classify_mode mode);
int classify_parse(const char *name);

#endif
