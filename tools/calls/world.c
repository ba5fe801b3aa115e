// SPDX-License-Identifier: GPL-2.0
#include "world.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include "../common/alloc.h"

void world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	names_init(&w->names);
	w->mounts = mounts_new(w->names.root);
	w->mount_count = MOUNT_FIRST + 1;
}

static struct thread **thread_place(struct world *w, u32 tid)
{
	struct thread **place = &w->threads[tid % ARRAY_SIZE(w->threads)];

	while (*place && (*place)->tid != tid)
		place = &(*place)->next;
	return place;
}

/* Files. */

static struct inode *inode_of(struct world *w, u64 dev, u64 ino)
{
	void **place = map_pointer_at(&w->inodes, map_key(ino ^ dev << 40));
	struct inode *inode = *place;

	while (inode && (inode->dev != dev || inode->ino != ino))
		inode = inode->next;
	if (!inode) {
		inode = xmalloc(sizeof(*inode));
		*inode = (struct inode){ .dev = dev, .ino = ino, .next = *place };
		*place = inode;
	}
	return inode;
}

/* What the look says is less, or more, than what calls that have ended have done. */
static void doubt_counted(struct file *file, const struct tracefile_attr *attr,
			  struct looked looked)
{
	struct counted *counted = &file->counted;

	if (file->size < 0 || (file->size == attr->size && file->links == attr->nlink)) {
		counted->at = 0;
		return;
	}
	if (!counted->at) {
		counted->size = file->size;
		counted->links = file->links;
	}
	counted->at = max(counted->at, looked.until);
}

void world_learn(const struct world *w, struct file *file, const struct tracefile_attr *attr,
		 struct looked looked)
{
	initial_told(&file->initial, attr->size);
	if (file->changed > looked.since)
		return;
	if (file->mode != attr->mode)
		file->changed = looked.since;
	file->mode = attr->mode;
	if (world_identifies(attr)) {
		if (!w->told)
			doubt_counted(file, attr, looked);
		file->links = attr->nlink;
	}
	file->size = attr->size;
}

struct file *world_new_file(struct world *w, const struct tracefile_attr *attr)
{
	struct file *file = xmalloc(sizeof(*file));

	*file = (struct file){
		.id = ++w->file_count,
		.size = -1,
		.event = w->event,
		.met = w->time,
		.next = w->files,
	};
	w->files = file;
	if (world_identifies(attr)) {
		struct inode *inode = inode_of(w, attr->dev, attr->ino);

		file->dev = attr->dev;
		file->ino = attr->ino;
		file->known = true;
		file->generation = inode->generation++;
		inode->file = file;
	}
	if (attr)
		world_learn(w, file, attr, world_now(w));
	return file;
}

struct file *world_find(struct world *w, const struct tracefile_attr *attr)
{
	struct file *file = inode_of(w, attr->dev, attr->ino)->file;

	return file && (file->mode & S_IFMT) == (attr->mode & S_IFMT) ? file : NULL;
}

struct file *world_file(struct world *w, const struct tracefile_attr *attr, struct looked looked)
{
	struct file *file = world_find(w, attr);

	if (!file)
		return world_new_file(w, attr);
	world_learn(w, file, attr, looked);
	return file;
}

void world_removed(struct world *w, struct file *file)
{
	file->removed = true;
	file->links = 0;
	if (file->known) {
		struct inode *inode = inode_of(w, file->dev, file->ino);

		if (inode->file == file)
			inode->file = NULL;
	}
}

/* Open file descriptions and descriptors. */

static void ofd_put(struct world *w, struct ofd *ofd, u64 closed)
{
	struct session *session = ofd->sessions, *next;

	if (--ofd->refs)
		return;
	if (w->ofd_ended)
		w->ofd_ended(w->arg, ofd, closed);
	for (; session; session = next) {
		next = session->next;
		free(session);
	}
	*ofd->before = ofd->next;
	if (ofd->next)
		ofd->next->before = ofd->before;
	free(ofd);
}

static struct slot *fd_slot(struct fdtable *fds, u32 fd, bool make)
{
	if (fd >= FD_MAX || (fd >= fds->count && !make))
		return NULL;
	if (fd >= fds->count) {
		u32 count = max(fd + 1, fds->count * 2);

		fds->slot = xrealloc(fds->slot, count * sizeof(*fds->slot));
		memset(fds->slot + fds->count, 0, (count - fds->count) * sizeof(*fds->slot));
		fds->count = count;
	}
	return &fds->slot[fd];
}

/*
 * The number is given out again: so its close has happened, and only the record is still to come.
 *
 */
static void put_off(struct fdtable *fds, u32 fd, struct ofd *ofd)
{
	struct late_close *late = xmalloc(sizeof(*late));

	*late = (struct late_close){ fd, ofd, fds->late };
	fds->late = late;
}

static struct ofd *take_late(struct fdtable *fds, u32 fd)
{
	struct late_close **place = &fds->late, *late;
	struct ofd *ofd;

	while (*place && (*place)->fd != fd)
		place = &(*place)->next;
	late = *place;
	if (!late)
		return NULL;
	ofd = late->ofd;
	*place = late->next;
	free(late);
	return ofd;
}

static void set_slot(struct thread *thread, u32 fd, struct ofd *ofd, bool cloexec)
{
	struct slot *slot = fd_slot(thread->fds, fd, true);

	if (slot->ofd)
		put_off(thread->fds, fd, slot->ofd);
	slot->ofd = ofd;
	slot->cloexec = cloexec;
	slot->doubted = false;
	if (++ofd->refs > ofd->descriptors)
		ofd->descriptors = ofd->refs;
}

struct ofd *world_open(struct world *w, struct thread *thread, u32 fd, u64 flags)
{
	struct ofd *ofd;

	if (fd >= FD_MAX)
		return NULL;
	ofd = xmalloc(sizeof(*ofd));
	*ofd = (struct ofd){
		.id = ++w->ofd_count,
		.flags = flags,
		.opener = thread->process,
		.opened = w->time,
		.open_event = w->event,
		.size_open = -1,
		.size_close = -1,
		.found_at = -1,
		.next = w->open,
		.before = &w->open,
	};
	if (w->open)
		w->open->before = &ofd->next;
	w->open = ofd;
	set_slot(thread, fd, ofd, flags & O_CLOEXEC);
	return ofd;
}

struct slot *world_slot(struct thread *thread, u32 fd)
{
	return fd_slot(thread->fds, fd, false);
}

struct ofd *world_ofd(struct thread *thread, u32 fd)
{
	struct slot *slot = fd_slot(thread->fds, fd, false);

	return slot ? slot->ofd : NULL;
}

void world_doubt(struct thread *thread)
{
	u32 fd;

	for (fd = 0; fd < thread->fds->count; fd++)
		thread->fds->slot[fd].doubted = true;
}

bool world_confirm(struct world *w, struct thread *thread, u32 fd,
		   const struct tracefile_attr *attr)
{
	struct slot *slot = fd_slot(thread->fds, fd, false);
	const struct file *file = slot && slot->ofd ? slot->ofd->file : NULL;

	if (!file || !file->known || file->dev != attr->dev || file->ino != attr->ino) {
		if (slot && slot->ofd)
			world_close(w, thread, fd);
		return false;
	}
	slot->doubted = false;
	world_learn(w, slot->ofd->file, attr, world_now(w));
	return true;
}

void world_settle(struct world *w, struct thread *thread)
{
	struct slot *slot;
	u32 fd;

	for (fd = 0; fd < thread->fds->count; fd++) {
		slot = &thread->fds->slot[fd];
		if (slot->ofd && slot->doubted)
			world_close(w, thread, fd);
		slot->doubted = false;
	}
}

struct ofd *world_closing(struct thread *thread, u32 fd)
{
	const struct late_close *late = thread->fds->late;

	while (late && late->fd != fd)
		late = late->next;
	return late ? late->ofd : world_ofd(thread, fd);
}

void world_close(struct world *w, struct thread *thread, u32 fd)
{
	struct ofd *late = take_late(thread->fds, fd);
	struct slot *slot = fd_slot(thread->fds, fd, false);

	if (late) {
		ofd_put(w, late, w->time);
	} else if (slot && slot->ofd) {
		ofd_put(w, slot->ofd, w->time);
		slot->ofd = NULL;
	}
}

void world_dup(struct world *w, struct thread *thread, u32 from, u32 to, bool cloexec)
{
	struct ofd *ofd = world_ofd(thread, from);

	if (!ofd || from == to || to >= FD_MAX)
		return;
	set_slot(thread, to, ofd, cloexec);
}

void world_share(struct thread *thread, u32 fd, struct ofd *ofd)
{
	if (fd < FD_MAX)
		set_slot(thread, fd, ofd, false);
}

void world_cloexec(struct thread *thread, u32 fd, bool cloexec)
{
	struct slot *slot = fd_slot(thread->fds, fd, false);

	if (slot)
		slot->cloexec = cloexec;
}

/* Passing of descriptors. */

static void passed_add(struct passed **list, struct ofd *ofd)
{
	struct passed *passed = xmalloc(sizeof(*passed));

	*passed = (struct passed){ .ofd = ofd };
	while (*list)
		list = &(*list)->next;
	*list = passed;
	ofd->refs++;
}

static void passed_drop(struct world *w, struct passed **place)
{
	struct passed *passed = *place;

	*place = passed->next;
	ofd_put(w, passed->ofd, w->time);
	free(passed);
}

void world_send(struct world *w, struct ofd *ofd)
{
	struct passed **place = &w->early;

	while (*place && (*place)->ofd != ofd)
		place = &(*place)->next;
	if (*place)
		passed_drop(w, place);
	else
		passed_add(&w->sent, ofd);
}

/* May the description be this one? Of pipes and sockets the trace does not know the inode. */
static bool may_be(const struct ofd *ofd, const struct tracefile_right *right)
{
	const struct file *file = ofd->file;

	if (!file || (ofd->flags ^ right->flags) & (O_ACCMODE | O_APPEND))
		return false;
	if (file->known)
		return file->dev == right->attr.dev && file->ino == right->attr.ino;
	return (file->mode & S_IFMT) == (right->attr.mode & S_IFMT);
}

/* Of those that it may be the oldest that stands where it stands, or the oldest. */
static struct passed **find_sent(struct world *w, const struct tracefile_right *right)
{
	struct passed **place, **first = NULL;

	for (place = &w->sent; *place; place = &(*place)->next) {
		if (!may_be((*place)->ofd, right))
			continue;
		if ((*place)->ofd->position == (s64)right->position)
			return place;
		first = first ?: place;
	}
	return first;
}

/* Its sender's record is still to come: one that is open. */
static struct ofd *find_unsent(struct world *w, const struct tracefile_right *right)
{
	struct ofd *ofd, *first = NULL;

	for (ofd = w->open; ofd; ofd = ofd->next) {
		if (!may_be(ofd, right))
			continue;
		if (ofd->position == (s64)right->position)
			return ofd;
		first = first ?: ofd;
	}
	return first;
}

/* By pidfd_getfd(): what the other process has at that number. */
static struct ofd *find_taken(struct world *w, const struct tracefile_right *right)
{
	struct thread *other = *thread_place(w, right->pid);

	return other ? world_ofd(other, right->from) : NULL;
}

struct ofd *world_receive(struct world *w, struct thread *thread,
			  const struct tracefile_right *right)
{
	struct passed **place = right->sent ? find_sent(w, right) : NULL;
	struct ofd *ofd = NULL;

	if (right->pid)
		ofd = find_taken(w, right);
	else if (place)
		ofd = (*place)->ofd;
	else if (right->sent)
		ofd = find_unsent(w, right);
	if (!ofd) {
		ofd = world_open(w, thread, right->fd, right->flags);
		if (!ofd)
			return NULL;
		ofd->open_event = 0;
		ofd->position = right->position;
		ofd->found_at = right->position;
		ofd->file = world_file(w, &right->attr, world_now(w));
		return ofd;
	}
	if (right->fd < FD_MAX)
		set_slot(thread, right->fd, ofd, right->flags & O_CLOEXEC);
	if (right->peeked)
		return ofd;
	if (place)
		passed_drop(w, place);
	else if (right->sent)
		passed_add(&w->early, ofd);
	return ofd;
}

static struct fdtable *fds_new(void)
{
	struct fdtable *fds = xmalloc(sizeof(*fds));

	*fds = (struct fdtable){ .refs = 1 };
	return fds;
}

static struct fdtable *fds_copy(const struct fdtable *from)
{
	struct fdtable *fds = fds_new();
	u32 fd;

	fds->count = from->count;
	fds->slot = xmalloc(from->count * sizeof(*from->slot));
	if (from->count)
		memcpy(fds->slot, from->slot, from->count * sizeof(*from->slot));
	for (fd = 0; fd < fds->count; fd++) {
		struct ofd *ofd = fds->slot[fd].ofd;

		if (ofd && ++ofd->refs > ofd->descriptors)
			ofd->descriptors = ofd->refs;
	}
	return fds;
}

static void fds_put(struct world *w, struct fdtable *fds, u64 closed)
{
	u32 fd;

	if (--fds->refs)
		return;
	while (fds->late) {
		struct ofd *ofd = take_late(fds, fds->late->fd);

		ofd_put(w, ofd, closed);
	}
	for (fd = 0; fd < fds->count; fd++) {
		if (fds->slot[fd].ofd)
			ofd_put(w, fds->slot[fd].ofd, closed);
	}
	free(fds->slot);
	free(fds);
}

static struct place *place_new(struct spot cwd, struct spot root, struct mounts *mounts)
{
	struct place *place = xmalloc(sizeof(*place));

	*place = (struct place){ 1, cwd, root, mounts_get(mounts) };
	return place;
}

static struct place *place_copy(const struct place *place)
{
	return place_new(place->cwd, place->root, place->mounts);
}

static void place_put(struct place *place)
{
	if (--place->refs)
		return;
	mounts_put(place->mounts);
	free(place);
}

static void own_mounts(struct place *place)
{
	struct mounts *former = place->mounts;

	place->mounts = mounts_copy(former);
	mounts_put(former);
}

static void move_root(struct spot *spot, struct spot from, struct spot to)
{
	if (spot->node == from.node && spot->mount == from.mount)
		*spot = to;
}

void world_pivot(struct world *w, struct mounts *mounts, struct spot to, struct spot old)
{
	struct spot from = mounts->root;
	struct thread *thread;
	unsigned int i;

	mounts_pivot(mounts, to, old);
	for (i = 0; i < ARRAY_SIZE(w->threads); i++) {
		for (thread = w->threads[i]; thread; thread = thread->next) {
			if (thread->place->mounts != mounts)
				continue;
			move_root(&thread->place->root, from, to);
			move_root(&thread->place->cwd, from, to);
		}
	}
}

void world_unshare(struct thread *thread, u64 flags)
{
	if (flags & CLONE_FILES && thread->fds->refs > 1) {
		thread->fds->refs--;
		thread->fds = fds_copy(thread->fds);
	}
	if (flags & (CLONE_FS | CLONE_NEWNS) && thread->place->refs > 1) {
		thread->place->refs--;
		thread->place = place_copy(thread->place);
	}
	if (flags & CLONE_NEWNS)
		own_mounts(thread->place);
}

void world_leave_mounts(struct world *w, struct thread *thread)
{
	struct place *place;

	world_unshare(thread, CLONE_NEWNS);
	place = thread->place;
	mounts_put(place->mounts);
	place->mounts = mounts_new(names_new_tree(&w->names, NULL));
	place->mounts->root.mount = w->mount_count++;
	place->mounts->apart = true;
	place->root = place->mounts->root;
	place->cwd = place->root;
}

struct session *world_session(struct world *w, struct ofd *ofd, struct process *process)
{
	struct session *session = ofd->sessions;

	while (session && session->process != process)
		session = session->next;
	if (!session) {
		session = xmalloc(sizeof(*session));
		*session = (struct session){ .process = process,
					     .first = w->time,
					     .next = ofd->sessions };
		ofd->sessions = session;
	}
	session->last = w->time;
	return session;
}

/* Tasks. */

static struct process *process_new(struct world *w, u32 pid, struct process *parent,
				   const char *how)
{
	struct process *process = xmalloc(sizeof(*process));

	*process = (struct process){
		.id = ++w->process_count,
		.pid = pid,
		.parent = parent,
		.how = how,
		.start = w->time,
		.uid = parent ? parent->uid : U32_MAX,
		.command = parent ? parent->command : 0,
		.program = parent ? parent->program : NULL,
		.next = w->processes,
	};
	w->processes = process;
	return process;
}

static struct thread *thread_new(struct world *w, u32 tid, struct process *process)
{
	struct thread **place = thread_place(w, tid), *thread = xmalloc(sizeof(*thread));

	*thread = (struct thread){
		.id = ++w->thread_count,
		.tid = tid,
		.process = process,
		.start = w->time,
		.made = w->event,
	};
	*place = thread;
	process->threads++;
	return thread;
}

struct thread *world_living(struct world *w, u32 tid)
{
	return *thread_place(w, tid);
}

struct thread *world_thread(struct world *w, u32 tid)
{
	struct thread *thread = *thread_place(w, tid);

	if (thread)
		return thread;
	thread = thread_new(w, tid, process_new(w, tid, NULL, "there before"));
	thread->fds = fds_new();
	thread->place = place_new(w->mounts->root, w->mounts->root, w->mounts);
	return thread;
}

struct thread *world_fork(struct world *w, struct thread *parent, u32 tid, u64 flags)
{
	struct process *process = parent->process;
	struct thread *thread = *thread_place(w, tid);

	/* The end of who had the number before was not seen. */
	if (thread == parent)
		return thread;
	if (thread)
		world_exit(w, thread, -1, 0);
	if (!(flags & CLONE_THREAD)) {
		process->children++;
		process = process_new(w, tid, process,
				      flags & CLONE_VFORK ? "vfork"
				      : flags		  ? "clone"
							  : "fork");
	}
	thread = thread_new(w, tid, process);
	if (flags & CLONE_FILES) {
		thread->fds = parent->fds;
		thread->fds->refs++;
	} else {
		thread->fds = fds_copy(parent->fds);
	}
	if (flags & CLONE_FS) {
		thread->place = parent->place;
		thread->place->refs++;
	} else {
		thread->place = place_copy(parent->place);
	}
	if (flags & CLONE_NEWNS)
		own_mounts(thread->place);
	return thread;
}

static void thread_gone(struct world *w, struct thread *thread, u64 end)
{
	*thread_place(w, thread->tid) = thread->next;
	thread->end = end;
	fds_put(w, thread->fds, end);
	place_put(thread->place);
	if (w->thread_ended)
		w->thread_ended(w->arg, thread);
	free(thread);
}

void world_join(struct world *w, struct thread *thread, struct thread *leader)
{
	if (thread->process == leader->process)
		return;
	fds_put(w, thread->fds, 0);
	place_put(thread->place);
	thread->process->threads--;
	thread->process = leader->process;
	thread->process->threads++;
	thread->fds = leader->fds;
	thread->fds->refs++;
	thread->place = leader->place;
	thread->place->refs++;
}

/* All other threads are gone. What @caller has its process's first thread has from now on. */
static struct thread *exec_as_leader(struct world *w, struct thread *caller, u32 tid)
{
	struct thread *leader = *thread_place(w, tid);
	struct fdtable *fds;
	struct place *place;

	if (!leader) {
		*thread_place(w, caller->tid) = caller->next;
		caller->tid = tid;
		caller->next = NULL;
		*thread_place(w, tid) = caller;
		return caller;
	}
	fds = leader->fds;
	leader->fds = caller->fds;
	caller->fds = fds;
	place = leader->place;
	leader->place = caller->place;
	caller->place = place;
	caller->process->threads--;
	thread_gone(w, caller, w->time);
	return leader;
}

void world_exec(struct world *w, u32 tid, u32 former)
{
	struct thread *thread = world_thread(w, former);
	u32 fd;

	if (former != tid)
		thread = exec_as_leader(w, thread, tid);
	world_unshare(thread, CLONE_FILES);
	for (fd = 0; fd < thread->fds->count; fd++) {
		if (thread->fds->slot[fd].ofd && thread->fds->slot[fd].cloexec)
			world_close(w, thread, fd);
	}
}

void world_exit(struct world *w, struct thread *thread, s64 status, u64 cpu_us)
{
	struct process *process = thread->process;

	if (!--process->threads) {
		process->end = w->time;
		process->status = status;
		process->cpu_us = cpu_us;
	}
	thread_gone(w, thread, w->time);
}

void world_end(struct world *w)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(w->threads); i++) {
		while (w->threads[i])
			thread_gone(w, w->threads[i], 0);
	}
	w->time = 0;
	while (w->sent)
		passed_drop(w, &w->sent);
	while (w->early)
		passed_drop(w, &w->early);
}

void world_free(struct world *w)
{
	unsigned int i;

	while (w->files) {
		struct file *next = w->files->next;

		free(w->files);
		w->files = next;
	}
	while (w->processes) {
		struct process *next = w->processes->next;

		free(w->processes);
		w->processes = next;
	}
	for (i = 0; i < w->inodes.room; i++) {
		struct inode *next, *inode = w->inodes.value[i].pointer;

		for (; inode; inode = next) {
			next = inode->next;
			free(inode);
		}
	}
	map_free(&w->inodes);
	mounts_put(w->mounts);
	names_free(&w->names);
}
