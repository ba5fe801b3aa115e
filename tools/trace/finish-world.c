// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of what there was: descriptions and threads, when they end; at the end of the trace
 * processes, files and names.
 */
#include "finish.h"

static u32 text_of(void *arg, const struct node *node)
{
	struct finisher *f = arg;
	struct node *cached = (struct node *)node;
	char path[NAMES_PATH_MAX];
	u32 length;

	if (node->text && node->epoch == f->world.names.epoch)
		return node->text;
	length = names_path(node, path, sizeof(path));
	cached->text = db_text(&f->db, path, min_t(u32, length, sizeof(path) - 1));
	cached->epoch = f->world.names.epoch;
	return cached->text;
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
	db_int(db, DB_SESSION, finish_since(f, s->first));
	db_int(db, DB_SESSION, finish_since(f, s->last));
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
	db_opt(db, DB_OFD, ofd->open_event ? finish_since(f, ofd->opened) : -1, -1);
	db_opt(db, DB_OFD, closed ? finish_since(f, closed) : -1, -1);
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
	db_opt(db, DB_OFD, ofd->found_at, -1);
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
	db_int(db, DB_THREAD, finish_since(f, thread->start));
	db_opt(db, DB_THREAD, thread->end ? finish_since(f, thread->end) : -1, -1);
	db_int(db, DB_THREAD, thread->made);
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
	db_int(db, DB_PROCESS, finish_since(f, p->start));
	db_opt(db, DB_PROCESS, p->end ? finish_since(f, p->end) : -1, -1);
	db_opt(db, DB_PROCESS, p->end ? p->status : -1, -1);
	db_opt(db, DB_PROCESS, p->end ? (s64)(p->cpu_us * 1000) : -1, -1);
	db_int(db, DB_PROCESS, p->children);
	db_row(db, DB_PROCESS);
}

static void write_file(struct finisher *f, const struct file *file)
{
	bool known = file->initial.source != INITIAL_UNKNOWN;
	struct db *db = &f->db;

	db_int(db, DB_FILE, file->id);
	db_opt(db, DB_FILE, file->known ? (s64)file->dev : -1, -1);
	db_opt(db, DB_FILE, file->known ? (s64)file->ino : -1, -1);
	db_int(db, DB_FILE, file->generation);
	db_opt(db, DB_FILE, file->mode, 0);
	db_int(db, DB_FILE, file->links);
	db_opt(db, DB_FILE, known ? file->initial.size : -1, -1);
	db_opt(db, DB_FILE, file->size, -1);
	db_opt(db, DB_FILE, file->event, 0);
	db_opt(db, DB_FILE, file->name, 0);
	db_int(db, DB_FILE, file->removed);
	db_opt(db, DB_FILE, file->initial.source == INITIAL_LEAST, 0);
	db_row(db, DB_FILE);
}

static void write_name(struct finisher *f, const struct node *node)
{
	struct db *db = &f->db;
	u32 path;

	if (!node->parent || node->state != NODE_THERE || names_in_tree(node))
		return;
	path = text_of(f, node);
	db_int(db, DB_NAME, path);
	db_opt(db, DB_NAME, node->file ? node->file->id : 0, 0);
	db_str(db, DB_NAME, node->target, -1);
	db_row(db, DB_NAME);
}

void finish_hook(struct finisher *f)
{
	f->world.ofd_ended = ofd_ended;
	f->world.thread_ended = thread_ended;
	f->world.text_of = text_of;
	f->world.arg = f;
}

void finish_world(struct finisher *f)
{
	const struct process *process;
	const struct file *file;
	const struct node *node;

	world_end(&f->world);
	for (process = f->world.processes; process; process = process->next)
		write_process(f, process);
	for (file = f->world.files; file; file = file->next)
		write_file(f, file);
	for (node = f->world.names.last; node; node = node->all)
		write_name(f, node);
}
