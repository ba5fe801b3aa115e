/* SPDX-License-Identifier: GPL-2.0 */
/* What a call does to the world (world.h), and what it was about. */
#ifndef TRACE_EFFECTS_H
#define TRACE_EFFECTS_H

#include "calls.h"
#include "world.h"

/* What the row of a call has beside its numbers. Found out by effect_of(). */
struct about {
	const struct tracefile_record *record;
	const struct call *call;
	struct thread *thread;
	const char *path; /* as the task gave them; not terminated */
	const char *path2;
	u32 path_length;
	u32 path2_length;
	struct node *node; /* what the first and the second lead to */
	struct node *node2;
	u32 mount; /* and the mounts that these were found in */
	u32 mount2;
	u32 name; /* their whole paths, as they were before the call; texts */
	u32 name2;
	struct ofd *ofd;
	struct file *file;
	s64 offset; /* NO_OFFSET: none */
	struct ofd *source; /* of a call that moves data between two; the row is of the other */
	s64 source_at; /* NO_OFFSET: where the description stands */
};

/* Bytes that a call of reading asks for; 0: not known. */
u64 effect_asked(const struct about *a);

/* The call of @about->record has been made. */
void effect_of(struct world *w, struct about *about);

/* The description of the descriptor that stands in front of the path; NULL: there is none. */
struct ofd *effect_dir(const struct about *a, char letter);

/*
 * Where the path of @letter ('p', 'P') begins if it is relative, and whether the symbolic link that
 * it ends in is followed.
 */
struct spot effect_start(const struct about *a, char letter);
bool effect_follows(const struct about *a, char letter);

/* The file of the kernel's own that an open has led to by another name; NULL: it has not. */
struct node *effect_kernels(struct world *w, const struct about *a);

/* Of openat2(), what it is to do: flags, mode, resolve. */
u64 effect_open_how(const struct about *a, unsigned int at);

/* Of mount(): it makes a file system that no disk has, by the name that those have by custom. */
bool effect_mounts_kernels(const struct about *a);

/* Of mount(): it makes a file system; the others move those that are there. */
bool effect_mounts_new(const struct about *a);

/*
 * How the path of @letter is looked up: from where it begins, and from the root that the process
 * has or openat2() says.
 */
struct view effect_view(const struct about *a, char letter);

/*
 * A path by which a process means a descriptor or the directory of its own (/dev/fd/3,
 * /proc/self/cwd/x) becomes the whole path of what that is, if it has a name. It begins at the
 * tracer's root: so does @view then. False: it is no such path.
 */
bool effect_own_path(struct world *w, const struct about *a, char letter, char *path, size_t room,
		     struct view *view);

/*
 * The same, of a name that a symbolic link has led to: @path becomes the whole path, from where
 * on the name is to be looked for again.
 */
bool effect_own_node(struct world *w, const struct about *a, char letter, const struct node *node,
		     char *path, size_t room, struct view *view);

#endif
