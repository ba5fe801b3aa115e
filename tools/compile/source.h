/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A finished trace (SQLite, docs/TRACE-TABLES.md) as the records that it was made of, so that the
 * world of tools/calls (world.h, effects.h) follows it again. A file's number in the trace is its
 * inode number here, on device SOURCE_DEV.
 */
#ifndef COMPILE_SOURCE_H
#define COMPILE_SOURCE_H

#include "../calls/tracefile.h"

#define SOURCE_DEV TRACEFILE_OWN_DEV

enum source_kind {
	SOURCE_END,
	SOURCE_FORK, /* @other has been made by @thread; @flags of clone */
	SOURCE_EXEC, /* @thread is about to run a new program */
	SOURCE_EXIT, /* @thread is gone */
	SOURCE_CALL,
	SOURCE_TOUCH, /* of a page of a mapped file; @event is the thread's last call */
};

struct source_thread {
	u32 tid;
	u32 process;
	u32 parent; /* thread that made it; 0: none */
	u64 clone; /* the call that made it */
	u64 flags;
	u64 start;
	u64 end;
	u64 made; /* the last call before it was made; U64_MAX: not known */
	u64 first; /* the first call that the trace has behind its beginning */
	u64 last; /* its last call */
	u64 returned; /* its last one that has */
	u32 sibling; /* another thread of its process; 0: none */
	u32 after; /* of a submission: the one that it is linked to; 0: none */
	bool born;
	bool gone;
};

struct source_ofd {
	const char *name; /* NULL: none */
	u64 flags;
	s64 size_open;
	u64 event; /* that opened it; 0: it was there before */
	s64 found_at; /* where it stood then; 0: not known */
	bool found; /* it was there when the trace began, or its task was met */
};

struct source_touch { /* of pages of a mapped file */
	u32 process; /* as in the trace */
	u32 file;
	u64 offset;
	u64 length;
	bool shared; /* the mapping */
	bool written;
	const char *name; /* of the file; NULL: none */
};

struct source_item {
	enum source_kind kind;
	u32 thread; /* as in the trace */
	u32 other;
	u64 flags;
	u64 event;
	u64 entry;
	u64 exit;
	u32 file;
	u32 ofd;
	s64 offset; /* where it read or wrote, where that is known */
	bool finished;
	bool submitted; /* to io_uring; by @event, and a thread of its own does it */
	const struct tracefile_record *record; /* of a call */
	struct source_touch touch;
};

struct source;

struct source *source_open(const char *path);
void source_close(struct source *s);

/* The next one; the item and its record are valid until then. */
const struct source_item *source_next(struct source *s);

/*
 * What @event has submitted to io_uring: the thread of the first one, or of the one after @thread;
 * 0: there is none.
 */
u32 source_submitted(const struct source *s, u64 event, u32 thread);

u32 source_threads(const struct source *s); /* numbers are 1 to that */
const struct source_thread *source_thread(const struct source *s, u32 thread);

/* NULL: there is none of that number. */
const struct source_ofd *source_ofd(const struct source *s, u32 ofd);

/*
 * Pages that were found to have been touched when a call was made: each of @event, one a call;
 * false: no more. Events in the order of the items.
 */
bool source_page(struct source *s, u64 event, struct source_touch *touch);

/*
 * Whose end the item's call has waited for, by what it said and returned; 0: nobody's, or not
 * known. Where a trace does not have what waitid() has found, only who has named one process and
 * has not asked without waiting knows.
 */
s64 source_waited_for(const struct source *s, u32 nr, const u64 *args, s64 result);

/*
 * Of calls about the same name that were under way with @event, one that came before it
 * (../trace/races.h); 0: no other one. *@at is 0 for the first. And whether some call comes after
 * @event so.
 */
u64 source_comes_after(const struct source *s, u64 event, u32 *at);
bool source_comes_first(const struct source *s, u64 event);

/* In no order of those that were under way with it has the call found its names so. */
bool source_undecided(const struct source *s, u64 event);

/* The call's record has no names from now on. */
void source_hide_names(struct source *s);

/* Does the trace say at all which pages were touched? */
bool source_has_touches(const struct source *s);

/* Did the tracer look at what its tasks had open when it met them? */
bool source_knows_start(const struct source *s);

/* To where in the file the process has touched its mappings; 0: it has not. *@written: shared. */
u64 source_touched(const struct source *s, u32 process, u32 file, bool *written);

/* Attributes of a file; false: there is none. */
bool source_file(const struct source *s, u32 file, struct tracefile_attr *attr, s64 *first_size);

/* The least that it can have been is known of the file's size, or nothing. */
bool source_size_guessed(const struct source *s, u32 file);

/* Where a process was at the start; NULL: nobody said. */
const char *source_cwd(const struct source *s, u32 pid);

u64 source_elapsed(const struct source *s);

/* The command that was recorded, with its arguments; "": nobody said. */
const char *source_command(const struct source *s);

/* Calls that the trace has only as a number: lost, not understood, left out of an import. */
u64 source_missing(const struct source *s);

/* The earliest beginning of all calls that have not been given yet. */
u64 source_horizon(const struct source *s);
u64 source_events(const struct source *s);

/*
 * A wake returns after the wait that it ends, if the thread that waited runs first: the thread
 * whose wake of the futex at @address was under way when this call returned; 0: none.
 */
u32 source_waker(struct source *s, u64 address);

#endif
