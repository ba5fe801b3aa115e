// SPDX-License-Identifier: GPL-2.0
/*
 * From a raw trace to a SQLite file: one pass, record by record. effects.h says what each call
 * did; what it was about goes into the row of the call. What has ended gets its row when it ends.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "aio.h"
#include "../common/alloc.h"
#include "db.h"
#include "../calls/effects.h"
#include "submissions.h"
#include "trace.h"

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
};

static u32 text_of(void *arg, const struct node *node)
{
	struct finisher *f = arg;
	struct node *cached = (struct node *)node;
	char path[PATH_MAX];
	u32 length;

	if (node->text && node->epoch == f->world.names.epoch)
		return node->text;
	length = names_path(node, path, sizeof(path));
	cached->text = db_text(&f->db, path, min_t(u32, length, sizeof(path) - 1));
	cached->epoch = f->world.names.epoch;
	return cached->text;
}

static s64 since(const struct finisher *f, u64 time)
{
	return time > f->start ? time - f->start : 0;
}

static void write_session(struct finisher *f, const struct ofd *ofd, const struct session *s)
{
	struct db *db = &f->db;

	db_int(db, DB_SESSION, ofd->id);
	db_int(db, DB_SESSION, s->process->id);
	db_opt(db, DB_SESSION, s->process->command, 0);
	db_int(db, DB_SESSION, s->reads);
	db_int(db, DB_SESSION, s->writes);
	db_int(db, DB_SESSION, s->bytes_read);
	db_int(db, DB_SESSION, s->bytes_written);
	db_int(db, DB_SESSION, since(f, s->first));
	db_int(db, DB_SESSION, since(f, s->last));
	db_row(db, DB_SESSION);
}

static void ofd_ended(void *arg, const struct ofd *ofd, u64 closed)
{
	struct finisher *f = arg;
	struct db *db = &f->db;
	const struct session *session;

	db_int(db, DB_OFD, ofd->id);
	db_opt(db, DB_OFD, ofd->file ? ofd->file->id : 0, 0);
	db_opt(db, DB_OFD, ofd->name, 0);
	db_int(db, DB_OFD, ofd->flags);
	db_int(db, DB_OFD, ofd->opener->id);
	db_opt(db, DB_OFD, ofd->open_event ? since(f, ofd->opened) : -1, -1);
	db_opt(db, DB_OFD, closed ? since(f, closed) : -1, -1);
	db_opt(db, DB_OFD, ofd->open_event, 0);
	db_opt(db, DB_OFD, ofd->size_open, -1);
	db_opt(db, DB_OFD, ofd->size_close, -1);
	db_opt(db, DB_OFD, ofd->mtime, 0);
	db_opt(db, DB_OFD, ofd->atime, 0);
	db_int(db, DB_OFD, ofd->reads);
	db_int(db, DB_OFD, ofd->writes);
	db_int(db, DB_OFD, ofd->bytes_read);
	db_int(db, DB_OFD, ofd->bytes_written);
	db_int(db, DB_OFD, ofd->seeks);
	db_int(db, DB_OFD, ofd->syncs);
	db_int(db, DB_OFD, ofd->sequential);
	db_int(db, DB_OFD, ofd->descriptors);
	db_row(db, DB_OFD);
	for (session = ofd->sessions; session; session = session->next)
		write_session(f, ofd, session);
}

static void thread_ended(void *arg, const struct thread *thread)
{
	struct finisher *f = arg;
	struct db *db = &f->db;

	db_int(db, DB_THREAD, thread->id);
	db_int(db, DB_THREAD, thread->tid);
	db_int(db, DB_THREAD, thread->process->id);
	db_int(db, DB_THREAD, since(f, thread->start));
	db_opt(db, DB_THREAD, thread->end ? since(f, thread->end) : -1, -1);
	db_row(db, DB_THREAD);
}

static void write_process(struct finisher *f, const struct process *p)
{
	struct db *db = &f->db;

	db_int(db, DB_PROCESS, p->id);
	db_int(db, DB_PROCESS, p->pid);
	db_opt(db, DB_PROCESS, p->parent ? p->parent->id : 0, 0);
	db_str(db, DB_PROCESS, p->how, -1);
	db_opt(db, DB_PROCESS, p->uid, U32_MAX);
	db_opt(db, DB_PROCESS, p->command, 0);
	db_opt(db, DB_PROCESS, p->program ? p->program->id : 0, 0);
	db_int(db, DB_PROCESS, since(f, p->start));
	db_opt(db, DB_PROCESS, p->end ? since(f, p->end) : -1, -1);
	db_opt(db, DB_PROCESS, p->end ? p->status : -1, -1);
	db_opt(db, DB_PROCESS, p->end ? (s64)(p->cpu_us * 1000) : -1, -1);
	db_int(db, DB_PROCESS, p->children);
	db_row(db, DB_PROCESS);
}

static void write_file(struct finisher *f, const struct file *file)
{
	struct db *db = &f->db;

	db_int(db, DB_FILE, file->id);
	db_opt(db, DB_FILE, file->known ? (s64)file->dev : -1, -1);
	db_opt(db, DB_FILE, file->known ? (s64)file->ino : -1, -1);
	db_int(db, DB_FILE, file->generation);
	db_opt(db, DB_FILE, file->mode, 0);
	db_int(db, DB_FILE, file->links);
	db_opt(db, DB_FILE, file->first_size, -1);
	db_opt(db, DB_FILE, file->size, -1);
	db_opt(db, DB_FILE, file->event, 0);
	db_opt(db, DB_FILE, file->name, 0);
	db_int(db, DB_FILE, file->removed);
	db_row(db, DB_FILE);
}

static void write_name(struct finisher *f, const struct node *node)
{
	struct db *db = &f->db;
	u32 path;

	if (!node->parent || node->state != NODE_THERE)
		return;
	path = text_of(f, node);
	db_int(db, DB_NAME, path);
	db_opt(db, DB_NAME, node->file ? node->file->id : 0, 0);
	db_str(db, DB_NAME, node->target, -1);
	db_row(db, DB_NAME);
}

static void write_attr(struct finisher *f, const struct about *a, const struct raw_attr *attr,
		       bool times)
{
	struct db *db = &f->db;

	db_int(db, DB_ATTR, f->world.event);
	db_opt(db, DB_ATTR, a->file ? a->file->id : 0, 0);
	db_int(db, DB_ATTR, attr->dev);
	db_int(db, DB_ATTR, attr->mode);
	db_int(db, DB_ATTR, attr->nlink);
	db_int(db, DB_ATTR, attr->size);
	db_opt(db, DB_ATTR, times ? (s64)attr->mtime : 0, 0);
	db_opt(db, DB_ATTR, times ? (s64)attr->atime : 0, 0);
	db_row(db, DB_ATTR);
}

/* Whatever else the record carries, as it is. */
static void write_extras(struct finisher *f, const struct about *a)
{
	enum call_effect effect = a->call ? a->call->effect : DOES_NONE;
	bool removes = effect == DOES_UNLINK || effect == DOES_RMDIR;
	bool changes = removes || effect == DOES_RENAME || effect == DOES_EXEC;
	bool shows = a->call && call_arg(a->call, 's') >= 0;
	struct db *db = &f->db;
	const char *data;
	u32 at = 0, length;
	u16 kind;

	while (raw_each(a->record, &at, &kind, &data, &length)) {
		bool attr = kind == (removes ? RAW_ATTR_BEFORE : RAW_ATTR);

		if (attr && length >= sizeof(struct raw_attr)) {
			if (changes || shows)
				write_attr(f, a, (const struct raw_attr *)data, changes);
		} else if (kind >= RAW_FDS && kind != RAW_CPU) {
			db_int(db, DB_EXTRA, f->world.event);
			db_int(db, DB_EXTRA, kind);
			db_blob(db, DB_EXTRA, data, length);
			db_row(db, DB_EXTRA);
		}
	}
}

/* What a call was about: description, file, offset, paths and names. */
static void finish_about(struct db *db, enum db_table table, const struct about *a, u32 path,
			 u32 path2)
{
	db_opt(db, table, a->ofd ? a->ofd->id : 0, 0);
	db_opt(db, table, a->file ? a->file->id : 0, 0);
	db_opt(db, table, a->offset, NO_OFFSET);
	db_opt(db, table, path, 0);
	db_opt(db, table, path2, 0);
	db_opt(db, table, a->name, 0);
	db_opt(db, table, a->name2, 0);
}

static void finish_event(struct finisher *f, const struct about *a, u32 path, u32 path2)
{
	const struct raw_record *r = a->record;
	const u64 *cpu = raw_find(r, RAW_CPU, 8, NULL);
	unsigned int i, args = a->call ? strlen(a->call->args) : CALL_ARGS;
	struct db *db = &f->db;

	db_int(db, DB_EVENT, f->world.event);
	db_int(db, DB_EVENT, a->thread->id);
	db_int(db, DB_EVENT, r->nr);
	db_int(db, DB_EVENT, since(f, r->entry));
	db_opt(db, DB_EVENT, r->flags & RAW_NO_EXIT ? -1 : (s64)(r->exit - r->entry), -1);
	if (r->flags & RAW_NO_EXIT)
		db_null(db, DB_EVENT);
	else
		db_int(db, DB_EVENT, r->result);
	for (i = 0; i < CALL_ARGS; i++) {
		/* Of a path there is the text. Where it stood says nothing. */
		bool text =
			i < args && a->call &&
			((a->call->args[i] == 'p' && path) || (a->call->args[i] == 'P' && path2));

		if (i < args && !text)
			db_int(db, DB_EVENT, r->args[i]);
		else
			db_null(db, DB_EVENT);
	}
	finish_about(db, DB_EVENT, a, path, path2);
	if (cpu)
		db_int(db, DB_EVENT, get_unaligned_le64(cpu));
	else
		db_null(db, DB_EVENT);
	db_opt(db, DB_EVENT, r->flags, 0);
	db_int(db, DB_EVENT, r->length);
	db_row(db, DB_EVENT);
}

static void take_call(struct finisher *f, const struct raw_record *r)
{
	struct about a = {
		.record = r,
		.offset = NO_OFFSET,
		.call = r->flags & RAW_FOREIGN ? NULL : call_of(r->nr),
	};
	struct world *w = &f->world;
	u32 path = 0, path2 = 0;

	w->event = ++f->calls;
	w->time = r->exit;
	a.thread = world_thread(w, r->tid);
	if (a.call && !(r->flags & RAW_NO_EXIT)) {
		effect_of(w, &a);
		path = a.path ? db_text(&f->db, a.path, a.path_length) : 0;
		path2 = a.path2 ? db_text(&f->db, a.path2, a.path2_length) : 0;
	}
	finish_event(f, &a, path, path2);
	if (r->length > sizeof(*r))
		write_extras(f, &a);
	/* Only now: its row needs what it closes. */
	if (a.call && a.call->effect == DOES_CLOSE && a.ofd && r->result != (u64)-EBADF)
		world_close(w, a.thread, r->args[0]);
}

static void finish_submission(struct finisher *f, const struct submission *s, const struct about *a,
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
	db_int(db, DB_URING, since(f, r->entry));
	db_opt(db, DB_URING, completed ? since(f, r->exit) : -1, -1);
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
	finish_submission(f, s, &a, true);
	if (a.call && a.call->effect == DOES_CLOSE && a.ofd && cqe->result != (u64)-EBADF)
		world_close(&f->world, thread, s->record.args[0]);
}

static void take_sqe(struct finisher *f, const struct raw_record *r)
{
	const struct raw_submit *submit = raw_find(r, RAW_SUBMIT, sizeof(*submit), NULL);
	struct thread *thread = world_thread(&f->world, r->tid);

	if (!submit)
		return;
	f->world.event = f->calls;
	submission_add(&f->submissions, r, submit, thread)->event =
		r->flags & RAW_POLLED ? 0 : f->calls;
}

static void take_cqe(struct finisher *f, const struct raw_record *r)
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

/* What a call of AIO has submitted, or seen to be completed. */
static void take_aio(struct finisher *f, const struct raw_record *call)
{
	const struct raw_record *one;
	u32 i;

	for (i = 0; (one = aio_submission(call, i)); i++)
		take_sqe(f, one);
	for (i = 0; (one = aio_completion(call, i)); i++)
		take_cqe(f, one);
}

/* Those whose completion nobody saw. */
static void write_pending(struct finisher *f)
{
	struct about a = { .offset = NO_OFFSET };

	while (f->submissions.first) {
		a.call = call_of(f->submissions.first->record.nr);
		finish_submission(f, f->submissions.first, &a, false);
		submission_drop(&f->submissions, f->submissions.first);
	}
}

/* What happened meanwhile is not known. */
static void write_gap(struct finisher *f, const char *why, u64 start, u64 calls)
{
	struct db *db = &f->db;

	db_str(db, DB_GAP, why, -1);
	db_int(db, DB_GAP, since(f, start));
	db_int(db, DB_GAP, since(f, f->world.time));
	db_opt(db, DB_GAP, calls, 0);
	db_row(db, DB_GAP);
}

static void take_switch(struct finisher *f, const struct raw_record *r)
{
	if (r->args[0] && f->off_since)
		write_gap(f, "off", f->off_since, 0);
	f->off_since = r->args[0] ? 0 : r->entry;
}

static void take_segment(struct finisher *f, const struct raw_record *r)
{
	if (!f->calls && r->args[0]) {
		f->dropped = r->args[0];
		write_gap(f, "dropped", f->start, f->dropped);
	}
	if (f->dropped + f->calls != r->args[0])
		f->torn_ring = true;
	if (!r->args[1] && !f->off_since)
		f->off_since = r->entry;
}

/* Where a process was at the start: relative paths begin there. */
static void write_cwd(struct finisher *f, u32 pid, const char *path)
{
	char key[32];

	snprintf(key, sizeof(key), "cwd.%u", pid);
	db_str(&f->db, DB_TRACE, key, -1);
	db_str(&f->db, DB_TRACE, path, -1);
	db_row(&f->db, DB_TRACE);
}

static void take_task(struct finisher *f, const struct raw_record *r)
{
	struct thread *thread = world_thread(&f->world, r->tid), *leader;
	char path[PATH_MAX];
	const char *blob;
	u32 length;

	if (r->nr != r->tid) {
		leader = world_thread(&f->world, r->nr);
		if (leader != thread)
			world_join(&f->world, thread, leader);
		return;
	}
	if (r->flags & RAW_AGAIN) {
		f->again = thread;
		world_doubt(thread);
	}
	thread->process->uid = r->args[1];
	blob = raw_find(r, RAW_CWD, 1, &length);
	if (blob && length < sizeof(path)) {
		memcpy(path, blob, length);
		path[length] = 0;
		thread->place->cwd = names_find(&f->world.names, f->world.names.root, path, false);
		write_cwd(f, r->tid, path);
	}
	blob = raw_find(r, RAW_PATH, 1, &length);
	if (blob)
		thread->process->command = db_text(&f->db, blob, length);
}

static void take_fd(struct finisher *f, const struct raw_record *r)
{
	struct world *w = &f->world;
	struct thread *thread = world_thread(w, r->tid);
	const struct raw_attr *attr = raw_find(r, RAW_ATTR, sizeof(*attr), NULL);
	struct ofd *ofd;
	char path[PATH_MAX];
	const char *blob;
	u32 length;

	if (r->flags & RAW_AGAIN && attr && world_confirm(w, thread, r->nr, attr)) {
		world_ofd(thread, r->nr)->position = r->args[1];
		return;
	}
	ofd = world_open(w, thread, r->nr, r->args[0]);
	if (!ofd)
		return;
	ofd->open_event = 0;
	ofd->position = r->args[1];
	if (attr) {
		ofd->file = world_file(w, attr);
		ofd->size_open = attr->size;
	}
	blob = raw_find(r, RAW_PATH, 1, &length);
	if (!blob || length >= sizeof(path))
		return;
	memcpy(path, blob, length);
	path[length] = 0;
	ofd->name = db_text(&f->db, path, length);
	if (*path == '/')
		ofd->node = names_find(&w->names, w->names.root, path, false);
}

static void take_pages(struct finisher *f, const struct raw_record *r)
{
	struct thread *thread = world_thread(&f->world, r->tid);
	const struct raw_attr *attr = raw_find(r, RAW_ATTR, sizeof(*attr), NULL);
	const struct file *file = attr ? world_file(&f->world, attr) : NULL;
	u32 length = 0, i, name;
	const char *path = raw_find(r, RAW_PATH, 1, &length);
	struct db *db = &f->db;
	struct raw_run run;
	const u8 *runs;

	name = path ? db_text(db, path, strnlen(path, length)) : 0;
	runs = raw_find(r, RAW_RUNS, sizeof(run), &length);
	for (i = 0; runs && i < length / sizeof(run); i++) {
		memcpy(&run, runs + i * sizeof(run), sizeof(run));
		db_int(db, DB_PAGE, since(f, r->entry));
		db_int(db, DB_PAGE, thread->process->id);
		db_opt(db, DB_PAGE, file ? file->id : 0, 0);
		db_opt(db, DB_PAGE, name, 0);
		db_int(db, DB_PAGE, run.first * 4096ull);
		db_int(db, DB_PAGE, run.count * 4096ull);
		db_int(db, DB_PAGE, r->args[4]);
		db_int(db, DB_PAGE, !!(r->args[5] & RAW_PAGES_WRITABLE));
		db_opt(db, DB_PAGE,
		       r->args[5] & RAW_PAGES_KNOWN ? !!(r->args[5] & RAW_PAGES_WRITTEN) : -1, -1);
		db_row(db, DB_PAGE);
	}
}

static void take_fault(struct finisher *f, const struct raw_record *r)
{
	const struct raw_attr *attr = raw_find(r, RAW_ATTR, sizeof(*attr), NULL);
	const struct file *file = attr ? world_file(&f->world, attr) : NULL;
	struct db *db = &f->db;

	db_int(db, DB_FAULT, since(f, r->entry));
	db_int(db, DB_FAULT, world_thread(&f->world, r->tid)->id);
	db_opt(db, DB_FAULT, file ? file->id : 0, 0);
	db_int(db, DB_FAULT, r->args[RAW_FAULT_OFFSET]);
	db_int(db, DB_FAULT, r->args[RAW_FAULT_WRITE]);
	db_int(db, DB_FAULT, r->args[RAW_FAULT_SHARED]);
	db_int(db, DB_FAULT, r->args[RAW_FAULT_KERNEL]);
	db_row(db, DB_FAULT);
}

static void take_waited(struct finisher *f, const struct raw_record *r)
{
	struct db *db = &f->db;

	db_int(db, DB_WAITED, world_thread(&f->world, r->tid)->id);
	db_int(db, DB_WAITED, since(f, r->entry));
	db_int(db, DB_WAITED, since(f, r->exit));
	db_row(db, DB_WAITED);
}

static void take_texts(struct finisher *f, const struct raw_record *r, enum db_table table)
{
	const char *data, *equals;
	u32 at = 0, length;
	u16 kind;

	while (raw_each(r, &at, &kind, &data, &length)) {
		equals = memchr(data, '=', length);
		if (kind != RAW_TEXT || !equals)
			continue;
		db_str(&f->db, table, data, equals - data);
		db_str(&f->db, table, equals + 1, data + length - equals - 1);
		db_row(&f->db, table);
	}
}

/* The number that a record has as KEY=NUMBER; 0: none. */
static u64 number_by_key(const struct raw_record *r, const char *key)
{
	u32 at = 0, length, end = strlen(key);
	const char *data;
	u16 kind;

	while (raw_each(r, &at, &kind, &data, &length)) {
		if (kind == RAW_TEXT && length > end && !memcmp(data, key, end) && data[end] == '=')
			return strtoull(data + end + 1, NULL, 10);
	}
	return 0;
}

static void take_balance(struct finisher *f, const struct raw_record *r)
{
	take_texts(f, r, DB_BALANCE);
	f->counted = number_by_key(r, "calls");
	f->lost = number_by_key(r, "lost");
	f->balanced = true;
}

static void finish_record(struct finisher *f, const struct raw_record *r)
{
	struct world *w = &f->world;

	/* An import's first record has no time. */
	f->records++;
	if (!f->start)
		f->start = r->entry;
	w->time = r->exit;
	if (f->again && r->type != RAW_FD) {
		world_settle(w, f->again);
		f->again = NULL;
	}
	switch (r->type) {
	case RAW_ABOUT:
		if (!f->about)
			take_texts(f, r, DB_TRACE);
		f->about = true;
		break;
	case RAW_SQE:
		take_sqe(f, r);
		break;
	case RAW_CQE:
		take_cqe(f, r);
		break;
	case RAW_PAGES:
		take_pages(f, r);
		break;
	case RAW_FAULT:
		take_fault(f, r);
		break;
	case RAW_WAITED:
		take_waited(f, r);
		break;
	case RAW_SWITCH:
		take_switch(f, r);
		break;
	case RAW_SEGMENT:
		take_segment(f, r);
		break;
	case RAW_CALL:
		take_call(f, r);
		if (!(r->flags & (RAW_FOREIGN | RAW_NO_EXIT)))
			take_aio(f, r);
		break;
	case RAW_FORK:
		world_fork(w, world_thread(w, r->tid), r->nr, r->args[0]);
		break;
	case RAW_EXEC:
		world_exec(w, r->tid, r->nr);
		break;
	case RAW_EXIT:
		world_exit(w, world_thread(w, r->tid), r->result, r->args[0]);
		break;
	case RAW_TASK:
		take_task(f, r);
		break;
	case RAW_FD:
		take_fd(f, r);
		break;
	case RAW_BALANCE:
		take_balance(f, r);
		break;
	}
}

static void say_texts(struct finisher *f, const char *key, const char *value)
{
	db_str(&f->db, DB_TRACE, key, -1);
	db_str(&f->db, DB_TRACE, value, -1);
	db_row(&f->db, DB_TRACE);
}

static void say_number(struct finisher *f, const char *key, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	say_texts(f, key, text);
}

#define LOST "calls were lost: the tracer was not as fast as they came"

/* What is wrong with a trace that was read; NULL: nothing. */
static const char *judge(const struct finisher *f, const struct raw_reader *reader,
			 enum raw_status status)
{
	if (status != RAW_END)
		return reader->problem;
	if (!f->balanced)
		return "it ends without a balance: the tracer was stopped";
	if (f->torn_ring)
		return "calls are missing between the files of a ring";
	if (f->counted != f->calls + f->dropped)
		return "its balance counts other calls than it has";
	return NULL;
}

static void write_rest(struct finisher *f, const char *problem)
{
	const struct process *process;
	const struct file *file;
	const struct node *node;
	unsigned int nr;

	if (f->off_since)
		write_gap(f, "off", f->off_since, 0);
	write_pending(f);
	world_end(&f->world);
	for (process = f->world.processes; process; process = process->next)
		write_process(f, process);
	for (file = f->world.files; file; file = file->next)
		write_file(f, file);
	for (node = f->world.names.last; node; node = node->all)
		write_name(f, node);
	for (nr = 0; nr < calls_end; nr++) {
		const struct call *call = call_of(nr);

		if (!call)
			continue;
		db_int(&f->db, DB_SYSCALL, nr);
		db_str(&f->db, DB_SYSCALL, call->name, -1);
		db_int(&f->db, DB_SYSCALL, call->class);
		db_str(&f->db, DB_SYSCALL, call->args, -1);
		db_str(&f->db, DB_SYSCALL, call->does, -1);
		db_row(&f->db, DB_SYSCALL);
	}
	say_number(f, "start", f->start);
	say_number(f, "events", f->calls);
	say_number(f, "dropped", f->dropped);
	if (!problem && f->dropped)
		problem = "the first calls were dropped: their file was used again";
	say_texts(f, "whole", problem ? "no" : "yes");
	say_texts(f, "problem", problem ?: "");
}

int finish(const char *raw, const char *database)
{
	struct finisher f = {};
	const struct raw_record *record;
	struct raw_reader reader;
	enum raw_status status;
	const char *problem, *lost;

	if (!access(database, F_OK))
		die("%s is there already", database);
	raw_reader_open(&reader, raw);
	db_open(&f.db, database);
	world_init(&f.world);
	f.world.ofd_ended = ofd_ended;
	f.world.thread_ended = thread_ended;
	f.world.text_of = text_of;
	f.world.arg = &f;
	while ((status = raw_next(&reader, &record)) == RAW_OK)
		finish_record(&f, record);
	problem = judge(&f, &reader, status);
	lost = !problem && f.lost ? LOST : NULL;
	write_rest(&f, problem ?: lost);
	db_close(&f.db);
	world_free(&f.world);
	raw_reader_free(&reader);
	if (problem || lost)
		fprintf(stderr, "david-trace: %s: %s\n", raw, problem ?: lost);
	/* How many may be lost is not said here: the database has the balance. */
	return problem ? STATUS_BAD : STATUS_OK;
}
