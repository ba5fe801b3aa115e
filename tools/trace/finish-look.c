// SPDX-License-Identifier: GPL-2.0
/*
 * `record --look`: descriptors as /proc has them at random moments, beside those that follow from
 * the calls of the trace. Each difference is a row of the table look. There is none, if all calls
 * of the processes are known, and nobody outside of the trace shares their descriptions.
 *
 * Offsets are compared of regular files, flags of these and of pipes: what others have of them no
 * call reads.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "finish.h"

#define STATUS_FLAGS (O_ACCMODE | O_APPEND)

static void differs(struct finisher *f, u32 fd, const char *what, s64 trace, s64 kernel)
{
	struct db *db = &f->db;

	db_int(db, DB_LOOK, f->calls);
	db_int(db, DB_LOOK, f->looked->process->id);
	db_int(db, DB_LOOK, fd);
	db_str(db, DB_LOOK, what, -1);
	db_int(db, DB_LOOK, trace);
	db_int(db, DB_LOOK, kernel);
	db_row(db, DB_LOOK);
	f->differences++;
}

static void compare_file(struct finisher *f, u32 fd, const struct ofd *ofd,
			 const struct tracefile_attr *attr)
{
	const struct file *file = ofd->file;

	if (!file->known)
		return;
	if (file->ino != attr->ino || file->dev != attr->dev)
		differs(f, fd, "inode", file->ino, attr->ino);
}

static void compare(struct finisher *f, const struct tracefile_record *r, const struct slot *slot)
{
	const struct tracefile_attr *attr = tracefile_find(r, TRACEFILE_ATTR, sizeof(*attr), NULL);
	const struct ofd *ofd = slot->ofd;
	bool regular = attr && S_ISREG(attr->mode);

	if (attr && ofd->file)
		compare_file(f, r->nr, ofd, attr);
	if (slot->cloexec != !!(r->args[0] & O_CLOEXEC))
		differs(f, r->nr, "close-on-exec", slot->cloexec, !!(r->args[0] & O_CLOEXEC));
	if ((regular || (attr && S_ISFIFO(attr->mode))) &&
	    (ofd->flags & STATUS_FLAGS) != (r->args[0] & STATUS_FLAGS))
		differs(f, r->nr, "flags", ofd->flags & STATUS_FLAGS, r->args[0] & STATUS_FLAGS);
	if (regular && !ofd->adrift && ofd->position != (s64)r->args[1])
		differs(f, r->nr, "offset", ofd->position, r->args[1]);
}

void finish_look(struct finisher *f, const struct tracefile_record *r)
{
	struct slot *slot;

	if (r->type == TRACEFILE_TASK) {
		f->looked = world_thread(&f->world, r->tid);
		f->looks++;
		world_doubt(f->looked);
		return;
	}
	if (!f->looked)
		return;
	f->compared++;
	slot = world_slot(f->looked, r->nr);
	if (!slot || !slot->ofd) {
		differs(f, r->nr, "not in the trace", 0, 1);
		return;
	}
	slot->doubted = false;
	compare(f, r, slot);
}

void finish_looked(struct finisher *f)
{
	u32 fd;

	for (fd = 0; fd < f->looked->fds->count; fd++) {
		struct slot *slot = world_slot(f->looked, fd);

		if (slot->ofd && slot->doubted)
			differs(f, fd, "only in the trace", 1, 0);
		slot->doubted = false;
	}
	f->looked = NULL;
}
