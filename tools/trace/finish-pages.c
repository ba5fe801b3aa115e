// SPDX-License-Identifier: GPL-2.0
/* Mapped files: pages that were touched, each touch, and how long a task waited for one. */
#include "finish.h"

void finish_pages(struct finisher *f, const struct tracefile_record *r)
{
	struct thread *thread = world_thread(&f->world, r->tid);
	const struct tracefile_attr *attr = tracefile_find(r, TRACEFILE_ATTR, sizeof(*attr), NULL);
	struct world *w = &f->world;
	const struct file *file = attr ? world_file(w, attr, world_now(w)) : NULL;
	u32 length = 0, i, name;
	const char *path = tracefile_find(r, TRACEFILE_PATH, 1, &length);
	struct db *db = &f->db;
	struct tracefile_run run;
	const u8 *runs;

	name = path ? db_text(db, path, strnlen(path, length)) : 0;
	runs = tracefile_find(r, TRACEFILE_RUNS, sizeof(run), &length);
	for (i = 0; runs && i < length / sizeof(run); i++) {
		memcpy(&run, runs + i * sizeof(run), sizeof(run));
		db_int(db, DB_PAGE, finish_since(f, r->entry));
		db_int(db, DB_PAGE, thread->process->id);
		db_opt(db, DB_PAGE, file ? file->id : 0, 0);
		db_opt(db, DB_PAGE, name, 0);
		db_int(db, DB_PAGE, run.first * 4096ull);
		db_int(db, DB_PAGE, run.count * 4096ull);
		db_int(db, DB_PAGE, r->args[4]);
		db_int(db, DB_PAGE, !!(r->args[5] & TRACEFILE_PAGES_WRITABLE));
		db_opt(db, DB_PAGE,
		       r->args[5] & TRACEFILE_PAGES_KNOWN
			       ? !!(r->args[5] & TRACEFILE_PAGES_WRITTEN)
			       : -1,
		       -1);
		db_row(db, DB_PAGE);
	}
}

void finish_fault(struct finisher *f, const struct tracefile_record *r)
{
	const struct tracefile_attr *attr = tracefile_find(r, TRACEFILE_ATTR, sizeof(*attr), NULL);
	struct world *w = &f->world;
	const struct file *file = attr ? world_file(w, attr, world_now(w)) : NULL;
	struct db *db = &f->db;

	db_int(db, DB_FAULT, finish_since(f, r->entry));
	db_int(db, DB_FAULT, world_thread(&f->world, r->tid)->id);
	db_opt(db, DB_FAULT, file ? file->id : 0, 0);
	db_int(db, DB_FAULT, r->args[TRACEFILE_FAULT_OFFSET]);
	db_int(db, DB_FAULT, r->args[TRACEFILE_FAULT_WRITE]);
	db_int(db, DB_FAULT, r->args[TRACEFILE_FAULT_SHARED]);
	db_int(db, DB_FAULT, r->args[TRACEFILE_FAULT_KERNEL]);
	db_row(db, DB_FAULT);
}

void finish_waited(struct finisher *f, const struct tracefile_record *r)
{
	struct db *db = &f->db;

	db_int(db, DB_WAITED, world_thread(&f->world, r->tid)->id);
	db_int(db, DB_WAITED, finish_since(f, r->entry));
	db_int(db, DB_WAITED, finish_since(f, r->exit));
	db_row(db, DB_WAITED);
}
