/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names below the target, and nowhere else: a path is resolved by openat2() with the target as its
 * root, so that no "..", no symbolic link and no mount leads out of it. Other calls get the
 * directory that this has found, and one name in it; they never follow a link themselves.
 *
 * A path may be longer than the kernel takes, 4,096 bytes: then it is gone in pieces, and from the
 * second one on no ".." and no link may lead out of where the piece begins (EXDEV).
 *
 * All return a descriptor or -errno.
 */
#ifndef REPLAY_BENEATH_H
#define REPLAY_BENEATH_H

#include "../../dm-david/portable/portable.h"

#define BENEATH_PATH_MAX 65536u

int beneath_open(int root, const char *path, u64 flags, u64 mode);

/* From a directory below the target on, with flags of openat2() (RESOLVE_) of the original's. */
int beneath_resolve(int root, const char *dir, const char *path, u64 flags, u64 resolve);

/* The directory that a name is in. @name is PATH_MAX bytes. */
int beneath_parent(int root, const char *path, char *name);

/*
 * Directories that a thread keeps open, because it asks for one name after another in them. On the
 * way to each there is no symbolic link: only a rename or other permissions lead elsewhere. A
 * directory is opened when it is asked for the second time, so that what is asked for once costs
 * no more. All bytes zero: none yet.
 */
#define BENEATH_DIRS 128
#define BENEATH_WAYS 4 /* places that one directory may have */
struct beneath_dirs {
	u32 next; /* place to be used again */
	struct beneath_dir {
		const char *path; /* not 0-terminated; NULL: none */
		size_t bytes;
		u32 changes; /* that it was found after */
		int fd; /* or -ENOENT: asked for once; -ELOOP: there is a link on the way */
	} dir[BENEATH_DIRS];
};

/*
 * As beneath_parent(), but the descriptor is not to be closed: it is of @dirs, until the next call.
 * -ELOOP: the whole path has to be asked for. No more than @most directories are open. What was
 * found before @changes became what it is counts no more. @path stays where it is.
 */
int beneath_parent_again(struct beneath_dirs *dirs, u32 most, u32 changes, int root,
			 const char *path, char *name);

/*
 * A name in a directory of beneath_parent_again(). -ELOOP: it is a symbolic link, so the whole path
 * has to be asked for.
 */
int beneath_child(int dir, const char *name, u64 flags, u64 mode);

/* The way to a file through its descriptor, for calls that have no other: /proc/self/fd/N. */
#define BENEATH_WAY 32
void beneath_way(int fd, char *way);

#endif
