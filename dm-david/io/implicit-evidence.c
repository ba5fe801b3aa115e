// SPDX-License-Identifier: GPL-2.0
/* Evidence that travels with a request: see implicit-evidence.h. */
#include "implicit-evidence.h"

/* The stronger of two pieces of evidence: one that keeps, or else the more certain one. */
static enum david_evidence implicit_evidence_worse(enum david_evidence a, enum david_evidence b)
{
	static const u8 rank[DAVID_EV_NR] = {
		[DAVID_EV_LOGGED] = 1,
		[DAVID_EV_UNKNOWN] = 2,
		[DAVID_EV_UNPROVEN] = 2,
		[DAVID_EV_SELF] = 3,
		[DAVID_EV_LAYOUT] = 4,
	};

	return rank[a] < rank[b] ? b : a;
}

void implicit_evidence_add(struct implicit_evidence *e, u32 end, enum david_evidence evidence,
			   bool has_csum)
{
	unsigned int last = e->runs - 1;

	if (e->runs && e->run[last].evidence == evidence && e->run[last].has_csum == has_csum) {
		e->run[last].end = end;
	} else if (e->runs < IMPLICIT_EVIDENCE_RUNS) {
		e->run[e->runs].end = end;
		e->run[e->runs].has_csum = has_csum;
		e->run[e->runs++].evidence = evidence;
	} else {
		e->run[last].end = end;
		e->run[last].has_csum |= has_csum;
		e->run[last].evidence = implicit_evidence_worse(e->run[last].evidence, evidence);
	}
}

enum david_evidence implicit_evidence_at(const struct implicit_evidence *e, u32 pos, u32 n)
{
	enum david_evidence evidence = DAVID_EV_IMPLIED;
	u32 begin = 0;
	unsigned int i;

	for (i = 0; i < e->runs && begin < pos + n; i++) {
		if (e->run[i].end > pos)
			evidence = implicit_evidence_worse(evidence, e->run[i].evidence);
		begin = e->run[i].end;
	}
	return begin < pos + n ? DAVID_EV_UNKNOWN : evidence;
}

bool implicit_evidence_has_csum(const struct implicit_evidence *e, u32 pos, u32 n)
{
	u32 begin = 0;
	unsigned int i;

	for (i = 0; i < e->runs && begin < pos + n; i++) {
		if (e->run[i].has_csum && e->run[i].end > pos)
			return true;
		begin = e->run[i].end;
	}
	return false;
}
