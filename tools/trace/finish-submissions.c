// SPDX-License-Identifier: GPL-2.0
/*
 * What is submitted to io_uring or AIO. It has its effect, and its row, when it is completed.
 *
 * Of AIO the record of an io_submit carries what was asked for, that of an io_getevents what has
 * ended: TRACEFILE_IOCBS, TRACEFILE_EVENTS. Here they are made into what there is of io_uring: a
 * submission, as the system call that does the same, and its completion.
 */
#include <linux/aio_abi.h>
#include <sys/syscall.h>

#include "../common/alloc.h"
#include "finish.h"

#define CQE_MORE 0x2u /* more completions of the same submission follow */

struct submission {
	u64 event; /* the call that submitted it */
	u32 process;
	u32 thread;
	struct tracefile_submit submit;
	struct submission *next;
	struct submission **before;
	u8 *whole; /* made by submission_record() */
	struct tracefile_record record; /* with blobs behind it */
};

/* A copy of @record. */
static struct submission *submission_add(struct submissions *all,
					 const struct tracefile_record *record,
					 const struct tracefile_submit *submit,
					 const struct thread *thread)
{
	struct submission *s = xmalloc(sizeof(*s) - sizeof(s->record) + record->length);

	*s = (struct submission){ .process = thread->process->id, .thread = thread->id };
	s->submit = *submit;
	memcpy((u8 *)s + offsetof(struct submission, record), record, record->length);
	if (!all->first)
		all->last = &all->first;
	s->before = all->last;
	*all->last = s;
	all->last = &s->next;
	return s;
}

/* The oldest with that number; NULL: there is none. */
static struct submission *submission_find(struct submissions *all, u32 process, u32 ring,
					  u64 user_data)
{
	struct submission *s = all->first;

	while (s && (s->process != process || s->submit.ring != ring ||
		     s->submit.user_data != user_data))
		s = s->next;
	return s;
}

/* As a TRACEFILE_CALL, with what the completion carries. Valid as long as the submission. */
static const struct tracefile_record *submission_record(struct submission *submission,
							const struct tracefile_record *completion)
{
	const struct tracefile_record *submitted = &submission->record;
	u32 blobs = completion->length - sizeof(*completion);
	struct tracefile_record *whole;

	submission->whole = xrealloc(submission->whole, submitted->length + blobs);
	memcpy(submission->whole, submitted, submitted->length);
	memcpy(submission->whole + submitted->length, completion + 1, blobs);
	whole = (struct tracefile_record *)submission->whole;
	whole->type = TRACEFILE_CALL;
	whole->length = submitted->length + blobs;
	return whole;
}

static void submission_drop(struct submissions *all, struct submission *submission)
{
	*submission->before = submission->next;
	if (submission->next)
		submission->next->before = submission->before;
	else
		all->last = submission->before;
	free(submission->whole);
	free(submission);
}

/* A context is known by the page that it is mapped at. */
static u32 aio_ring(u64 context)
{
	return context >> 12;
}

static u32 aio_equivalent(const struct tracefile_iocb *iocb)
{
	switch (iocb->opcode) {
	case IOCB_CMD_PREAD:
	case IOCB_CMD_PREADV:
		return SYS_pread64;
	case IOCB_CMD_PWRITE:
	case IOCB_CMD_PWRITEV:
		return SYS_pwrite64;
	case IOCB_CMD_FSYNC:
		return SYS_fsync;
	case IOCB_CMD_FDSYNC:
		return SYS_fdatasync;
	default:
		return CALL_UNKNOWN;
	}
}

/* How many the kernel took are its result. */
static const void *aio_taken(const struct tracefile_record *call, enum tracefile_kind kind,
			     size_t each, u32 i)
{
	u32 length;
	const u8 *all = tracefile_find(call, kind, each, &length);

	if (!all || (s64)call->result <= i || i >= length / each)
		return NULL;
	return all + i * each;
}

/* The @i-th submission, or completion, of a call; NULL: it has no such. Valid until the next. */
static const struct tracefile_record *aio_submission(const struct tracefile_record *call, u32 i)
{
	static struct {
		struct tracefile_record record;
		struct tracefile_blob blob;
		struct tracefile_submit submit;
		u32 rest;
	} one;
	struct tracefile_iocb iocb;
	const void *at;

	if (call->nr != SYS_io_submit)
		return NULL;
	at = aio_taken(call, TRACEFILE_IOCBS, sizeof(iocb), i);
	if (!at)
		return NULL;
	memcpy(&iocb, at, sizeof(iocb));
	one.record = (struct tracefile_record){
		.length = sizeof(one),
		.type = TRACEFILE_SQE,
		.tid = call->tid,
		.nr = aio_equivalent(&iocb),
		.entry = call->entry,
		.exit = call->entry,
		.args = { iocb.fd, 0, iocb.bytes, iocb.offset },
	};
	one.blob = (struct tracefile_blob){ TRACEFILE_SUBMIT, sizeof(one.submit) };
	one.submit = (struct tracefile_submit){
		.opcode = iocb.opcode,
		.flags = TRACEFILE_SUBMIT_AIO,
		.ring = aio_ring(call->args[0]),
		.user_data = iocb.address,
	};
	return &one.record;
}

static const struct tracefile_record *aio_completion(const struct tracefile_record *call, u32 i)
{
	static struct tracefile_record one;
	struct io_event event;
	const void *at;

	if (call->nr != SYS_io_getevents && call->nr != SYS_io_pgetevents)
		return NULL;
	at = aio_taken(call, TRACEFILE_EVENTS, sizeof(event), i);
	if (!at)
		return NULL;
	memcpy(&event, at, sizeof(event));
	one = (struct tracefile_record){
		.length = sizeof(one),
		.type = TRACEFILE_CQE,
		.tid = call->tid,
		.nr = aio_ring(call->args[0]),
		.entry = call->exit,
		.exit = call->exit,
		.result = event.res,
		.args = { event.obj },
	};
	return &one;
}

/*
 * Of a vector the row has the call with one buffer of all its bytes: a submission has no row of
 * extra, where a call of the program has them.
 */
static void in_one_piece(struct tracefile_record *r, s64 offset)
{
	const void *total = tracefile_find(r, TRACEFILE_TOTAL, sizeof(u64), NULL);

	switch (total ? r->nr : CALL_UNKNOWN) {
	case SYS_readv:
		r->nr = SYS_read;
		break;
	case SYS_writev:
		r->nr = SYS_write;
		break;
	case SYS_preadv2:
		r->nr = SYS_pread64;
		break;
	case SYS_pwritev2:
		r->nr = SYS_pwrite64;
		break;
	default:
		return;
	}
	r->args[2] = get_unaligned_le64(total);
	if (offset != NO_OFFSET)
		r->args[3] = offset;
}

static void write_submission(struct finisher *f, struct submission *s, const struct about *a,
			     bool completed)
{
	const struct tracefile_record *r = &s->record;
	struct db *db = &f->db;
	const struct call *call;
	unsigned int i, args;
	/* Texts have rows of their own: first. */
	u32 path = a->path ? db_text(db, a->path, a->path_length) : 0;
	u32 path2 = a->path2 ? db_text(db, a->path2, a->path2_length) : 0;

	in_one_piece(&s->record, a->offset);
	call = call_of(r->nr);
	args = call ? strlen(call->args) : 0;
	db_opt(db, DB_URING, s->event, 0);
	db_int(db, DB_URING, s->thread);
	db_int(db, DB_URING, s->submit.ring);
	db_int(db, DB_URING, s->submit.opcode);
	db_int(db, DB_URING, s->submit.flags);
	db_int(db, DB_URING, s->submit.user_data);
	db_opt(db, DB_URING, call ? (s64)r->nr : -1, -1);
	db_int(db, DB_URING, finish_since(f, r->entry));
	db_opt(db, DB_URING, completed ? finish_since(f, r->exit) : -1, -1);
	if (completed)
		db_int(db, DB_URING, r->result);
	else
		db_null(db, DB_URING);
	for (i = 0; i < CALL_ARGS; i++) {
		if (i < args)
			db_int(db, DB_URING, r->args[i]);
		else
			db_null(db, DB_URING);
	}
	finish_about(db, DB_URING, a, path, path2);
	db_row(db, DB_URING);
}

/* It has been completed: what the call that does the same would have done. */
static void submission_complete(struct finisher *f, struct submission *s,
				const struct tracefile_record *cqe, struct thread *thread)
{
	struct about a = { .offset = NO_OFFSET, .call = call_of(s->record.nr), .thread = thread };

	s->record.exit = cqe->exit;
	s->record.result = cqe->result;
	a.record = submission_record(s, cqe);
	if (a.call)
		effect_of(&f->world, &a);
	if (a.call)
		finish_submitted(f, &a);
	write_submission(f, s, &a, true);
	if (a.call && a.call->effect == DOES_CLOSE && a.ofd && cqe->result != (u64)-EBADF)
		world_close(&f->world, thread, s->record.args[0]);
}

void finish_sqe(struct finisher *f, const struct tracefile_record *r)
{
	const struct tracefile_submit *submit =
		tracefile_find(r, TRACEFILE_SUBMIT, sizeof(*submit), NULL);
	struct thread *thread = world_thread(&f->world, r->tid);

	if (!submit)
		return;
	f->world.event = f->calls;
	submission_add(&f->submissions, r, submit, thread)->event =
		r->flags & TRACEFILE_POLLED ? 0 : f->calls;
}

void finish_cqe(struct finisher *f, const struct tracefile_record *r)
{
	struct thread *thread = world_thread(&f->world, r->tid);
	struct submission *s =
		submission_find(&f->submissions, thread->process->id, r->nr, r->args[0]);

	if (!s)
		return;
	submission_complete(f, s, r, thread);
	if (!(r->args[1] & CQE_MORE))
		submission_drop(&f->submissions, s);
}

void finish_aio(struct finisher *f, const struct tracefile_record *call)
{
	const struct tracefile_record *one;
	u32 i;

	for (i = 0; (one = aio_submission(call, i)); i++)
		finish_sqe(f, one);
	for (i = 0; (one = aio_completion(call, i)); i++)
		finish_cqe(f, one);
}

void finish_pending(struct finisher *f)
{
	struct about a = { .offset = NO_OFFSET };

	while (f->submissions.first) {
		a.call = call_of(f->submissions.first->record.nr);
		write_submission(f, f->submissions.first, &a, false);
		submission_drop(&f->submissions, f->submissions.first);
	}
}
