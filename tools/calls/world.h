/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a trace is about: processes, threads, descriptors, open file descriptions, files. Each has
 * a number that is never used again, though the kernel uses numbers of processes, descriptors and
 * inodes again.
 */
#ifndef TRACE_WORLD_H
#define TRACE_WORLD_H

#include "initial.h"
#include "mounts.h"
#include "tracefile.h"

#define FD_MAX 0x10000 /* a descriptor from there on is not believed */
#define NO_OFFSET S64_MIN
#define S64_MIN INT64_MIN

/*
 * Size and links as calls alone make them, beside a look that said something else. A call that is
 * under way may have done its part by then: what it does counts from here.
 */
struct counted {
	u64 at; /* when the look was; 0: none, or it said the same */
	s64 size;
	u32 links;
};

/* When attributes were looked up: not before @since, nor after @until. */
struct looked {
	u64 since;
	u64 until;
};

struct file {
	u32 id;
	u32 mode; /* type and permissions; 0: not known */
	u64 dev;
	u64 ino;
	u32 generation; /* how many files had this inode number before */
	u32 links;
	struct initial initial; /* how large it was before the trace */
	s64 size;
	u64 changed; /* when the last call ended that changed size, links or mode */
	struct counted counted;
	u64 event; /* the first that met it */
	u64 met; /* when that call ended */
	u32 name; /* a text: its first path */
	bool known; /* dev and ino are */
	bool removed;
	struct file *next; /* of all */
};

struct session { /* of a process with an open file description */
	struct process *process;
	u32 reads;
	u32 writes;
	u64 bytes_read;
	u64 bytes_written;
	u64 first; /* times */
	u64 last;
	struct session *next;
};

struct ofd { /* open file description */
	u32 id;
	u32 refs; /* descriptors of all tables */
	struct file *file;
	struct node *node; /* NULL: has no name */
	u32 mount; /* that it was found in (mounts.h) */
	u32 name; /* a text: its path when it was opened */
	u64 flags; /* of open */
	s64 position;
	s64 found_at; /* where it stood when the trace met it; -1: opened by the trace */
	u64 opened; /* time and event; 0: before the trace, or unseen */
	u64 open_event;
	struct process *opener;
	s64 size_open; /* -1: not known */
	s64 size_close;
	u64 mtime;
	u64 atime;
	u32 reads;
	u32 writes;
	u32 seeks;
	u32 syncs;
	u32 sequential; /* reads and writes that begin where the last one ended */
	s64 expected; /* where that was */
	bool counter; /* an eventfd */
	bool adrift; /* its position is not known: it appended to a file of unknown size */
	u64 bytes_read;
	u64 bytes_written;
	u32 descriptors; /* most at once */
	struct session *sessions;
	struct ofd *next; /* of all that are open */
	struct ofd **before;
};

struct slot {
	struct ofd *ofd;
	bool cloexec;
	bool doubted; /* is to be confirmed */
};

/* A descriptor whose number was given out again before the record of its close came. */
struct late_close {
	u32 fd;
	struct ofd *ofd;
	struct late_close *next;
};

struct fdtable {
	u32 refs;
	u32 count;
	struct slot *slot;
	struct late_close *late;
};

/* A description on its way from one process to another, in a message. */
struct passed {
	struct ofd *ofd;
	struct passed *next; /* younger */
};

struct place { /* working directory, root and mounts, shared with CLONE_FS */
	u32 refs;
	struct spot cwd;
	struct spot root;
	struct mounts *mounts;
};

struct process {
	u32 id;
	u32 pid;
	struct process *parent;
	const char *how;
	u32 uid;
	u32 threads;
	u32 command; /* a text */
	struct file *program;
	u64 start;
	u64 end; /* 0: lives */
	s64 status;
	u64 cpu_us;
	u32 children;
	struct process *next; /* of all */
};

struct thread {
	u32 id;
	u32 tid;
	struct process *process;
	struct fdtable *fds;
	struct place *place;
	u64 start;
	u64 end;
	u64 made; /* the last event before it was made */
	struct thread *next; /* of the same bucket, while it lives */
};

struct inode { /* dev and number, and whose they are now */
	u64 dev;
	u64 ino;
	struct file *file;
	u32 generation;
	struct inode *next; /* of the same key */
};

struct world {
	struct names names;
	struct thread *threads[1024];
	struct map inodes; /* lists of struct inode, by dev and number */
	struct file *files;
	struct process *processes;
	struct ofd *open;
	struct passed *sent; /* and not received */
	struct passed *early; /* received before the record of its being sent came */
	u32 file_count;
	u32 ofd_count;
	u32 process_count;
	u32 thread_count;
	u32 mount_count;
	struct mounts *mounts; /* of who was there at the start */
	u64 event; /* the current one, and when it is */
	u64 time;
	bool told; /* attributes are a finished trace's: not as somebody found them at that time */
	/* Called when an open file description or a thread ends; at the end of the trace, too. */
	void (*ofd_ended)(void *arg, const struct ofd *ofd, u64 closed);
	void (*thread_ended)(void *arg, const struct thread *thread);
	u32 (*text_of)(void *arg, const struct node *node);
	void *arg;
};

void world_init(struct world *w);

/* Ends what is still open or alive, without a time. Then world_free(). */
void world_end(struct world *w);
void world_free(struct world *w);

/* The thread of a number; one that nobody has announced is of a new process. */
struct thread *world_thread(struct world *w, u32 tid);

/* NULL: there is none now. */
struct thread *world_living(struct world *w, u32 tid);
struct thread *world_fork(struct world *w, struct thread *parent, u32 tid, u64 flags);

/* @thread, which was there before the trace, is one of @leader's process. */
void world_join(struct world *w, struct thread *thread, struct thread *leader);
void world_exec(struct world *w, u32 tid, u32 former);
void world_exit(struct world *w, struct thread *thread, s64 status, u64 cpu_us);

/* The file that attributes are of; NULL: none that is known. */
struct file *world_find(struct world *w, const struct tracefile_attr *attr);

/* The same; a new one if its inode number was another's before. They say how it is. */
struct file *world_file(struct world *w, const struct tracefile_attr *attr, struct looked looked);

/* A file that is new, and may not be one that was there. @attr may be NULL. */
struct file *world_new_file(struct world *w, const struct tracefile_attr *attr);

/* Its last name has gone, or it was replaced. */
void world_removed(struct world *w, struct file *file);

/* How it is; what a call has changed that ended after the look began is newer. */
void world_learn(const struct world *w, struct file *file, const struct tracefile_attr *attr,
		 struct looked looked);

/* Looked up when the current record was made. */
static inline struct looked world_now(const struct world *w)
{
	return (struct looked){ w->time, w->time };
}

/* Attributes say which file it is; others only tell its type, permissions and size. */
static inline bool world_identifies(const struct tracefile_attr *attr)
{
	return attr && attr->ino;
}

struct ofd *world_open(struct world *w, struct thread *thread, u32 fd, u64 flags);
struct ofd *world_ofd(struct thread *thread, u32 fd);

/* NULL: the table has never had one there. */
struct slot *world_slot(struct thread *thread, u32 fd);

/*
 * Descriptors are told again, after a gap. First all are doubted. Then each that is there is
 * confirmed; false: it is another file's, or new, and is to be opened. At last those that nobody
 * confirmed are closed.
 */
void world_doubt(struct thread *thread);
bool world_confirm(struct world *w, struct thread *thread, u32 fd,
		   const struct tracefile_attr *attr);
void world_settle(struct world *w, struct thread *thread);

/* What world_close() would close. */
struct ofd *world_closing(struct thread *thread, u32 fd);
void world_close(struct world *w, struct thread *thread, u32 fd);
void world_dup(struct world *w, struct thread *thread, u32 from, u32 to, bool cloexec);

/* The thread has a descriptor of it, too. */
void world_share(struct thread *thread, u32 fd, struct ofd *ofd);
void world_cloexec(struct thread *thread, u32 fd, bool cloexec);

/* A message has been sent that passes on a descriptor. */
void world_send(struct world *w, struct ofd *ofd);

/*
 * A descriptor has come: the same description as its sender's, if the trace has that. Flags and
 * offset are the kernel's.
 */
struct ofd *world_receive(struct world *w, struct thread *thread,
			  const struct tracefile_right *right);

/* The root of a process's mounts is another: so it is for all that had the former one. */
void world_pivot(struct world *w, struct mounts *mounts, struct spot to, struct spot old);

/* It has other mounts now, of which nothing is known: all names from its root on are theirs. */
void world_leave_mounts(struct world *w, struct thread *thread);

/* unshare(): a copy of the descriptors, of the working directory, or of the mounts, of its own. */
void world_unshare(struct thread *thread, u64 flags);
struct session *world_session(struct world *w, struct ofd *ofd, struct process *process);

#endif
