// SPDX-License-Identifier: GPL-2.0
/*
 * What is submitted to io_uring or AIO. It has its effect, and its row, when it is completed.
 */
#include "aio.h"
#include "finish.h"

static void write_submission(struct finisher *f, const struct submission *s, const struct about *a,
			     bool completed)
{
	const struct raw_record *r = &s->record;
	struct db *db = &f->db;
	unsigned int i, args = a->call ? strlen(a->call->args) : 0;
	/* Texts have rows of their own: first. */
	u32 path = a->path ? db_text(db, a->path, a->path_length) : 0;
	u32 path2 = a->path2 ? db_text(db, a->path2, a->path2_length) : 0;

	db_opt(db, DB_URING, s->event, 0);
	db_int(db, DB_URING, s->thread);
	db_int(db, DB_URING, s->submit.ring);
	db_int(db, DB_URING, s->submit.opcode);
	db_int(db, DB_URING, s->submit.flags);
	db_int(db, DB_URING, s->submit.user_data);
	db_opt(db, DB_URING, a->call ? (s64)r->nr : -1, -1);
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
static void complete(struct finisher *f, struct submission *s, const struct raw_record *cqe,
		     struct thread *thread)
{
	struct about a = { .offset = NO_OFFSET, .call = call_of(s->record.nr), .thread = thread };

	s->record.exit = cqe->exit;
	s->record.result = cqe->result;
	a.record = submission_record(s, cqe);
	if (a.call)
		effect_of(&f->world, &a);
	write_submission(f, s, &a, true);
	if (a.call && a.call->effect == DOES_CLOSE && a.ofd && cqe->result != (u64)-EBADF)
		world_close(&f->world, thread, s->record.args[0]);
}

void finish_sqe(struct finisher *f, const struct raw_record *r)
{
	const struct raw_submit *submit = raw_find(r, RAW_SUBMIT, sizeof(*submit), NULL);
	struct thread *thread = world_thread(&f->world, r->tid);

	if (!submit)
		return;
	f->world.event = f->calls;
	submission_add(&f->submissions, r, submit, thread)->event =
		r->flags & RAW_POLLED ? 0 : f->calls;
}

void finish_cqe(struct finisher *f, const struct raw_record *r)
{
	struct thread *thread = world_thread(&f->world, r->tid);
	struct submission *s =
		submission_find(&f->submissions, thread->process->id, r->nr, r->args[0]);

	if (!s)
		return;
	complete(f, s, r, thread);
	if (!(r->args[1] & CQE_MORE))
		submission_drop(&f->submissions, s);
}

void finish_aio(struct finisher *f, const struct raw_record *call)
{
	const struct raw_record *one;
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
