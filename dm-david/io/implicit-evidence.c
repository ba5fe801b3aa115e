// SPDX-License-Identifier: GPL-2.0
/* Evidence that travels with a request: see implicit-evidence.h. */
#include "implicit-evidence.h"

/* The stronger of two pieces of evidence: one that keeps, or else the more certain one. */
static enum david_evidence implied_worse(enum david_evidence a, enum david_evidence b)
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

void implied_add(struct implied *implied, u32 end, enum david_evidence evidence, bool has_csum)
{
	unsigned int last = implied->runs - 1;

	if (implied->runs && implied->run[last].evidence == evidence &&
	    implied->run[last].has_csum == has_csum) {
		implied->run[last].end = end;
	} else if (implied->runs < IMPLIED_RUNS) {
		implied->run[implied->runs].end = end;
		implied->run[implied->runs].has_csum = has_csum;
		implied->run[implied->runs++].evidence = evidence;
	} else {
		implied->run[last].end = end;
		implied->run[last].has_csum |= has_csum;
		implied->run[last].evidence = implied_worse(implied->run[last].evidence, evidence);
	}
}

enum david_evidence implied_at(const struct implied *implied, u32 pos, u32 n)
{
	enum david_evidence evidence = DAVID_EV_IMPLIED;
	u32 begin = 0;
	unsigned int i;

	for (i = 0; i < implied->runs && begin < pos + n; i++) {
		if (implied->run[i].end > pos)
			evidence = implied_worse(evidence, implied->run[i].evidence);
		begin = implied->run[i].end;
	}
	return begin < pos + n ? DAVID_EV_UNKNOWN : evidence;
}

bool implied_csum(const struct implied *implied, u32 pos, u32 n)
{
	u32 begin = 0;
	unsigned int i;

	for (i = 0; i < implied->runs && begin < pos + n; i++) {
		if (implied->run[i].has_csum && implied->run[i].end > pos)
			return true;
		begin = implied->run[i].end;
	}
	return false;
}
