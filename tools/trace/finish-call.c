// SPDX-License-Identifier: GPL-2.0
/* A call: its row, and the rows of what else its record carries. */
#include "../common/alloc.h"
#include "finish.h"

static void write_attr(struct finisher *f, const struct about *a, const struct tracefile_attr *attr,
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

/* Inodes are known by the numbers of files here. */
static void write_rights(struct finisher *f, const struct about *a, const char *data, u32 length)
{
	u32 i, count = length / sizeof(struct tracefile_right);
	struct tracefile_right *rights = xmalloc(count * sizeof(*rights));
	struct db *db = &f->db;

	memcpy(rights, data, count * sizeof(*rights));
	for (i = 0; i < count; i++) {
		const struct ofd *ofd = world_ofd(a->thread, rights[i].fd);

		rights[i].attr.dev = TRACEFILE_OWN_DEV;
		rights[i].attr.ino = ofd && ofd->file ? ofd->file->id : 0;
	}
	db_int(db, DB_EXTRA, f->world.event);
	db_int(db, DB_EXTRA, TRACEFILE_RIGHTS);
	db_blob(db, DB_EXTRA, rights, count * sizeof(*rights));
	db_row(db, DB_EXTRA);
	free(rights);
}

/* Whatever else the record carries, as it is. */
static void write_extras(struct finisher *f, const struct about *a)
{
	enum call_effect effect = a->call ? a->call->effect : DOES_NONE;
	bool executes = effect == DOES_EXEC && !a->record->result;
	bool removes = effect == DOES_UNLINK || effect == DOES_RMDIR;
	bool before = removes || (executes && tracefile_find(a->record, TRACEFILE_ATTR_BEFORE,
							     sizeof(struct tracefile_attr), NULL));
	bool changes = removes || effect == DOES_RENAME || executes;
	bool shows = a->call && call_arg(a->call, 's') >= 0;
	struct db *db = &f->db;
	const char *data;
	u32 at = 0, length;
	u16 kind;

	while (tracefile_each(a->record, &at, &kind, &data, &length)) {
		bool attr = kind == (before ? TRACEFILE_ATTR_BEFORE : TRACEFILE_ATTR);

		if (attr && length >= sizeof(struct tracefile_attr)) {
			if (changes || shows)
				write_attr(f, a, (const struct tracefile_attr *)data, changes);
		} else if (kind == TRACEFILE_RIGHTS) {
			write_rights(f, a, data, length);
		} else if (kind >= TRACEFILE_FDS && kind != TRACEFILE_CPU) {
			db_int(db, DB_EXTRA, f->world.event);
			db_int(db, DB_EXTRA, kind);
			db_blob(db, DB_EXTRA, data, length);
			db_row(db, DB_EXTRA);
		}
	}
}

void finish_about(struct db *db, enum db_table table, const struct about *a, u32 path, u32 path2)
{
	db_opt(db, table, a->ofd ? a->ofd->id : 0, 0);
	db_opt(db, table, a->file ? a->file->id : 0, 0);
	db_opt(db, table, a->offset, NO_OFFSET);
	db_opt(db, table, path, 0);
	db_opt(db, table, path2, 0);
	db_opt(db, table, a->name, 0);
	db_opt(db, table, a->name2, 0);
}

static void write_event(struct finisher *f, const struct about *a, u32 path, u32 path2)
{
	const struct tracefile_record *r = a->record;
	const u64 *cpu = tracefile_find(r, TRACEFILE_CPU, 8, NULL);
	unsigned int i, args = a->call ? strlen(a->call->args) : CALL_ARGS;
	struct db *db = &f->db;

	db_int(db, DB_EVENT, f->world.event);
	db_int(db, DB_EVENT, a->thread->id);
	db_int(db, DB_EVENT, r->flags & TRACEFILE_FOREIGN ? CALL_I386 + r->nr : r->nr);
	db_int(db, DB_EVENT, finish_since(f, r->entry));
	db_opt(db, DB_EVENT, r->flags & TRACEFILE_NO_EXIT ? -1 : (s64)(r->exit - r->entry), -1);
	if (r->flags & TRACEFILE_NO_EXIT)
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

void finish_call(struct finisher *f, const struct tracefile_record *r)
{
	struct about a = {
		.record = r,
		.offset = NO_OFFSET,
		.call = r->flags & TRACEFILE_FOREIGN ? NULL : call_of(r->nr),
	};
	struct world *w = &f->world;
	u32 path = 0, path2 = 0;

	w->event = ++f->calls;
	w->time = r->exit;
	a.thread = world_thread(w, r->tid);
	if (a.call && !(r->flags & TRACEFILE_NO_EXIT)) {
		effect_of(w, &a);
		path = a.path ? db_text(&f->db, a.path, a.path_length) : 0;
		path2 = a.path2 ? db_text(&f->db, a.path2, a.path2_length) : 0;
		finish_overlaps(f, &a);
	}
	write_event(f, &a, path, path2);
	if (r->length > sizeof(*r))
		write_extras(f, &a);
	/* Only now: its row needs what it closes. */
	if (a.call && a.call->effect == DOES_CLOSE && a.ofd && r->result != (u64)-EBADF)
		world_close(w, a.thread, r->args[0]);
}
