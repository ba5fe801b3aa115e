/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls about one name, or one file's size, that overlapped. Records come in the order in which
 * calls returned. What a call has found says more: who gets EEXIST from mkdir() comes after the
 * mkdir() that has made the name, and who reads to the end of a file before what was written behind
 * that, whichever of the two returned first. So an order is looked for in which each name is there
 * for who has found it, and is not for who has not, and each file is as large as who has come to
 * its end has found it. No call comes before one that had returned when it began. What there was at
 * first follows from calls that did not overlap. Where there is no such order, that of the returns
 * stays.
 *
 * It is found of a finished trace, by the names and files that calls have there. Then the trace is
 * finished again, in that order (finish.c).
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

/* A call has made or removed a name. Times are the database's. */
struct name_change {
	u64 event;
	u64 start;
	u64 end;
	u32 text; /* the name */
	bool made; /* else removed */
};

/* What a call has copied from: its row is of the file that it has copied to. */
struct copied {
	u64 event;
	u32 file;
	u32 ofd;
	s64 at; /* -1: where the description stands */
};

/* A call that was under way while another used the descriptor whose number it has got. */
struct reused {
	u64 event;
	u64 after; /* the last of these */
};

/*
 * What the finisher has seen, and the finished trace does not say; in the order of calls. Each note
 * begins with its call's event.
 */
struct overlaps {
	struct base *base;
	u64 bases;
	u64 base_room;
	struct name_change *change;
	u64 changes;
	u64 change_room;
	struct copied *copied;
	u64 copies;
	u64 copied_room;
	struct reused *reused;
	u64 reuses;
	u64 reused_room;
	/* Files whose size is a matter of order: 2 + what it is first; 1: that is not known. */
	struct map contested;
};

void overlaps_free(struct overlaps *o);

/* False: the database has an error. */
bool races_find(struct races *races, sqlite3 *sqlite, struct overlaps *overlaps);
void races_free(struct races *races);

/* The one after @at of those that come before @event; 0: the first. Returns 0: no other one. */
u64 races_ahead(const struct races *races, u64 event, u32 *at);

#endif
