// SPDX-License-Identifier: GPL-2.0
/*
 * What a task has when it begins to be traced, or when it is looked at again: its directory, its
 * program, its descriptors.
 */
#include <fcntl.h>

#include "finish.h"

/* Where a process was at the start: relative paths begin there. */
static void write_cwd(struct finisher *f, u32 pid, const char *path)
{
	char key[32];

	snprintf(key, sizeof(key), "cwd.%u", pid);
	db_str(&f->db, DB_TRACE, key, -1);
	db_str(&f->db, DB_TRACE, path, -1);
	db_row(&f->db, DB_TRACE);
}

void finish_task(struct finisher *f, const struct tracefile_record *r)
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
	if (r->flags & TRACEFILE_AGAIN) {
		f->again = thread;
		world_doubt(thread);
	}
	thread->process->uid = r->args[1];
	blob = tracefile_find(r, TRACEFILE_CWD, 1, &length);
	if (blob && length < sizeof(path)) {
		memcpy(path, blob, length);
		path[length] = 0;
		thread->place->cwd.node =
			names_find(&f->world.names, f->world.names.root, path, false);
		write_cwd(f, r->tid, path);
	}
	blob = tracefile_find(r, TRACEFILE_PATH, 1, &length);
	if (blob)
		thread->process->command = db_text(&f->db, blob, length);
}

/* Another descriptor of the same open file description has been told of; NULL: none. */
static struct ofd *described(struct world *w, const struct tracefile_record *r,
			     const struct tracefile_attr *attr)
{
	struct thread *other = r->args[2] ? world_living(w, r->args[3]) : NULL;
	struct ofd *ofd = other ? world_ofd(other, r->args[2] - 1) : NULL;

	/* Calls that are under way may have changed it since. */
	return ofd && attr && ofd->file && ofd->file == world_find(w, attr) ? ofd : NULL;
}

void finish_fd(struct finisher *f, const struct tracefile_record *r)
{
	struct world *w = &f->world;
	struct thread *thread = world_thread(w, r->tid);
	const struct tracefile_attr *attr = tracefile_find(r, TRACEFILE_ATTR, sizeof(*attr), NULL);
	struct ofd *ofd;
	char path[PATH_MAX];
	const char *blob;
	u32 length;

	if (r->flags & TRACEFILE_AGAIN && attr && world_confirm(w, thread, r->nr, attr)) {
		world_ofd(thread, r->nr)->position = r->args[1];
		return;
	}
	ofd = described(w, r, attr);
	if (ofd) {
		world_share(thread, r->nr, ofd);
		world_cloexec(thread, r->nr, r->args[0] & O_CLOEXEC);
		return;
	}
	ofd = world_open(w, thread, r->nr, r->args[0]);
	if (!ofd)
		return;
	ofd->open_event = 0;
	ofd->position = r->args[1];
	ofd->found_at = r->args[1];
	if (attr) {
		ofd->file = world_file(w, attr, world_now(w));
		ofd->size_open = attr->size;
	}
	blob = tracefile_find(r, TRACEFILE_PATH, 1, &length);
	if (!blob || length >= sizeof(path))
		return;
	memcpy(path, blob, length);
	path[length] = 0;
	ofd->name = db_text(&f->db, path, length);
	if (*path == '/')
		ofd->node = names_find(&w->names, w->names.root, path, false);
}
