/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The finisher's state, and what its parts do with it. finish.c goes through the trace file and
 * calls a part for each record. Each part writes tables of its own.
 */
#ifndef TRACE_FINISH_H
#define TRACE_FINISH_H

#include "../calls/effects.h"
#include "db.h"
#include "races.h"

/* Submissions to io_uring or AIO that have not been completed yet. */
struct submissions {
	struct submission *first; /* by age */
	struct submission **last;
};

/* The last call of a thread that is about something: of two threads the last to return. */
struct last {
	u64 exit;
	u32 tid;
	s64 level; /* up to there a file is the same with and without the thread's calls */
};

/* A file's last calls that have found how large it is, have let it grow, or have set its size. */
struct sized {
	struct last looked[2];
	struct last grown[2];
	struct last set[2];
	s64 size; /* after the last of these */
	s64 first; /* as it was opened first, if nobody was changing it then; -1: not known */
	u64 opened; /* when that was */
	u32 file;
	bool contested; /* in another order it may have had another size */
	bool submitted; /* io_uring or AIO has changed it: no order of calls says when */
};

/* The last call about a number of a descriptor, in a table of them. */
struct used {
	u64 exit;
	u64 event;
};

struct finisher {
	struct world world;
	struct db db;
	u64 start; /* time of the first record; all times are from there on */
	u64 records;
	u64 calls;
	bool balanced;
	u64 counted; /* calls, as the balance has it */
	u64 lost; /* records, as the balance has it */
	bool about; /* has been seen: each file of a ring has one */
	u64 dropped; /* calls of files that are no more */
	bool torn_ring; /* files of a ring do not follow each other */
	u64 off_since; /* recording is off; 0: it is on */
	struct submissions submissions;
	struct thread *again; /* whose descriptors are being told again */
	struct thread *looked; /* whose descriptors are being compared; finish-look.c */
	struct overlaps overlaps; /* noted for the order of calls that overlapped (races.h) */
	bool overlapped; /* two calls of which one changes what the other is about */
	struct last named[2]; /* calls about names, and those that make or remove some */
	struct last changed[2];
	struct map sized_by_file; /* 1 + the place in sized */
	struct sized *sized;
	u32 sized_count;
	u64 sized_room;
	struct map used_by_number; /* 1 + the place in used */
	struct used *used;
	u32 used_count;
	u64 used_room;
	u64 looks;
	u64 compared; /* descriptors, at all looks */
	u64 differences;
};

/* Times of the database are from the start of the trace. */
static inline s64 finish_since(const struct finisher *f, u64 time)
{
	return time > f->start ? time - f->start : 0;
}

/* finish-world.c: after world_init(); and the rest, when there are no more records. */
void finish_hook(struct finisher *f);
void finish_world(struct finisher *f);

/* finish-call.c */
void finish_call(struct finisher *f, const struct tracefile_record *r);

/* What a call was about: description, file, offset, paths and names. */
void finish_about(struct db *db, enum db_table table, const struct about *a, u32 path, u32 path2);

/* finish-overlaps.c: notes what calls that overlapped are put in order by. */
void finish_overlaps(struct finisher *f, const struct about *a);
void finish_contested(struct finisher *f); /* at the end */
void finish_free(struct finisher *f);	   /* but for its overlaps */
void finish_submitted(struct finisher *f, const struct about *a);

/* finish-submissions.c: submissions, and completions. */
void finish_sqe(struct finisher *f, const struct tracefile_record *r);
void finish_cqe(struct finisher *f, const struct tracefile_record *r);

/* What a call of AIO has submitted, or seen to be completed. */
void finish_aio(struct finisher *f, const struct tracefile_record *call);

/* Those whose completion nobody saw. */
void finish_pending(struct finisher *f);

/* finish-task.c */
void finish_task(struct finisher *f, const struct tracefile_record *r);
void finish_fd(struct finisher *f, const struct tracefile_record *r);

/* finish-look.c: descriptors as the kernel has them, beside those that follow from the calls. */
void finish_look(struct finisher *f, const struct tracefile_record *r);

/* It is over: what was not among them is not there. */
void finish_looked(struct finisher *f);

/* finish-pages.c */
void finish_pages(struct finisher *f, const struct tracefile_record *r);
void finish_fault(struct finisher *f, const struct tracefile_record *r);
void finish_waited(struct finisher *f, const struct tracefile_record *r);

#endif
