/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a trace says of itself: how it was made, in its first record; what was counted, in its
 * last.
 */
#ifndef TRACE_BALANCE_H
#define TRACE_BALANCE_H

#include "../calls/calls.h"
#include "../calls/tracefile.h"
#include "trace.h"

#define BALANCE_CALLS 512 /* numbers from there on are counted together, as unknown */

struct balance {
	u64 calls[BALANCE_CALLS];
	u64 calls32[BALANCE_CALLS]; /* of i386 */
	u64 all;
	u64 unknown; /* calls that are not in the table */
	u64 foreign; /* ... of another architecture */
	u64 unfinished; /* the task was gone before they returned */
	u64 bad_paths;
	u64 urings; /* calls of io_uring_enter */
	u64 submissions; /* to io_uring, and completions that were seen */
	u64 completions;
	u64 aio_submissions; /* that the kernel took, and completions that it told of */
	u64 aio_completions;
	u64 polled; /* submissions that a thread of the kernel took: not seen */
	u64 unknown_rings; /* enters of rings that were not seen to be made: not seen */
	u64 overwritten; /* completions that were overwritten before they were seen */
	u64 mapped_pages;
	u64 unseen_pages; /* touches of them that could not be looked at */
	u64 unseen_layouts; /* files that were gone when their layout was looked at */
	u64 lost; /* records, for want of room in the kernel's ring, or on the trace's disk */
	u64 tasks;
	u64 untraced; /* tasks that could not be followed */
	u64 attached;
	u64 stops;
	u64 skipped; /* stops of calls while it was off */
	u64 switches; /* on or off */
	u64 off_ns;
	u64 late; /* processes of a scope that had begun when they were attached to */
	u64 refused; /* processes of a scope that cannot be attached to */
	u64 first; /* time of the first and the last record */
	u64 last;
};

void balance_call(struct balance *b, const struct tracefile_record *record);

/* It has been counted, or will be; but it is not in the trace. */
void balance_lose(struct balance *b, const struct tracefile_record *record);

/* All calls so far. */
u64 balance_calls(const struct balance *b);
void write_about(struct tracefile_writer *w, const struct record_options *options, u64 now);

/* What could not be written before may be now: only what was lost is missing then. */
void write_balance(struct tracefile_writer *w, const struct balance *b, const char *end);

#endif
