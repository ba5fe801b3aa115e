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
	struct bases bases; /* by which descriptors names were said (races.h) */
	bool overlapped; /* a call that makes or removes names, with another about names */
	struct {
		u64 exit;
		u32 tid;
	} named[2], changed[2]; /* the last such calls, of two threads */
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
