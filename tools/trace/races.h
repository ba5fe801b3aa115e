/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls about one name that overlapped. Records come in the order in which calls returned. What a
 * call has found says more: who gets EEXIST from mkdir() comes after the mkdir() that has made the
 * name, whichever of the two returned first. So an order is looked for in which each name is there
 * for who has found it, and is not for who has not. No call comes before one that had returned when
 * it began. What a name was at first follows from calls that did not overlap. Where there is no
 * such order, that of the returns stays.
 *
 * It is found of a finished trace, by the names that calls have there. Then the trace is finished
 * again, in that order (finish.c).
 */
#ifndef TRACE_RACES_H
#define TRACE_RACES_H

#include <sqlite3.h>

#include "../common/map.h"

struct race {
	u64 event;
	u64 first; /* came before it, and overlapped with it; 0: no order explains its result */
};

struct races {
	struct race *race;
	u32 count;
	u64 race_room;
	u64 *ahead; /* calls that are to be taken before others that returned before them */
	u32 aheads;
	u64 ahead_room;
	struct map before; /* by call: 1 + the place of the first of these that come before it */
	struct map early; /* by call: is it one of these? */
};

/*
 * The descriptions that the descriptors are of with which a call says its names, as they are when
 * it is made. Calls that say none so are not among these.
 */
struct base {
	u64 event;
	u32 ofd; /* 0: none */
	u32 ofd2;
};

struct bases {
	struct base *base; /* in the order of the calls */
	u64 count;
	u64 room;
};

/* False: the database has an error. */
bool races_find(struct races *races, sqlite3 *sqlite, const struct bases *bases);
void races_free(struct races *races);

/* The one after @at of those that come before @event; 0: the first. Returns 0: no other one. */
u64 races_ahead(const struct races *races, u64 event, u32 *at);

#endif
