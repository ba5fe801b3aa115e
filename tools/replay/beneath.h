/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names below the target, and nowhere else: a path is resolved by openat2() with the target as its
 * root, so that no "..", no symbolic link and no mount leads out of it. Other calls get the
 * directory that this has found, and one name in it; they never follow a link themselves.
 *
 * All return a descriptor or -errno.
 */
#ifndef REPLAY_BENEATH_H
#define REPLAY_BENEATH_H

#include "../../dm-david/lib/portable.h"

int beneath_open(int root, const char *path, u64 flags, u64 mode);

/* The directory that a name is in. @name is PATH_MAX bytes. */
int beneath_parent(int root, const char *path, char *name);

/*
 * Directories that were found once, each without a symbolic link on its way: only a rename or other
 * permissions lead elsewhere. All bytes zero: none yet.
 */
#define BENEATH_DIRS 32
struct beneath_dirs {
	u32 changes;
	struct beneath_dir {
		const char *path; /* not 0-terminated; NULL: none */
		size_t bytes;
		int fd;
	} dir[BENEATH_DIRS];
};

/*
 * As beneath_parent(), but the descriptor is not to be closed: it is of @dirs, until the next call.
 * -ELOOP: there is a link on the way, so beneath_parent() has to be asked. What was found before
 * @changes became what it is counts no more. @path stays where it is.
 */
int beneath_parent_again(struct beneath_dirs *dirs, u32 changes, int root, const char *path,
			 char *name);

/* The way to a file through its descriptor, for calls that have no other: /proc/self/fd/N. */
#define BENEATH_WAY 32
void beneath_way(int fd, char *way);

#endif
