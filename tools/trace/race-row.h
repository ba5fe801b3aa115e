/* SPDX-License-Identifier: GPL-2.0 */
/* The calls of a finished trace that its order is found by (races.h), one after the other. */
#ifndef TRACE_RACE_ROW_H
#define TRACE_RACE_ROW_H

#include <sqlite3.h>

#include "../calls/calls.h"
#include "races.h"
#include "sizes.h"

struct seen { /* the call that is looked at */
	u64 event;
	u64 start;
	u64 end;
	s64 result;
	u64 ino;
	u32 mode; /* of its file */
	u32 file;
	u32 ofd;
	u64 flags; /* of open: what the call asks for, or the description has */
	s64 found_at; /* where the description stood when the trace met it; -1: not known */
	s64 offset; /* -1: none */
	s64 size; /* that it shows; -1: none */
	u64 args[6];
	bool opened;
	bool nothing; /* a rename of two names of one file */
	bool exchange;
	const struct call *call;
	u32 nr;
	const char *name;
	const char *name2;
	const char *said; /* as the task gave them */
	const char *said2;
};

struct rows {
	sqlite3_stmt *calls;
	sqlite3_stmt *attrs;
	bool have_attr;
	struct overlaps *overlaps;
	u64 base; /* the first of them that is not before the call that is looked at */
	u64 copied;
	u64 reused;
};

/* Of calls about names, and of those about files that are contested. False: an error. */
bool rows_open(struct rows *rows, sqlite3 *sqlite, struct overlaps *overlaps);

/* False: there is no more. */
bool rows_next(struct rows *rows, struct seen *seen);

/* False: there was an error. */
bool rows_close(struct rows *rows);

bool seen_is_open(const struct seen *s);
bool seen_creates(const struct seen *s);
bool seen_removes_directory(const struct seen *s);

/* The last call that the call cannot come before, though it has overlapped with it; 0: none. */
u64 rows_after(struct rows *rows, u64 event);

/* The base of the call, in the order of calls; NULL: it has none. */
const struct base *rows_base(struct rows *rows, u64 event);

#define PARTS_MAX 4

/* What the call does to contested files, or finds there. Returns how many parts there are. */
u32 rows_parts(struct rows *rows, const struct seen *s, struct sizes *sizes,
	       struct part part[PARTS_MAX]);

#endif
