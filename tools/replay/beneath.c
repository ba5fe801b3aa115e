// SPDX-License-Identifier: GPL-2.0
#include "beneath.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../calls/workload.h"

#define TRIES 100

static int open_at(int dir, const char *path, u64 flags, u64 mode, u64 resolve)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0,
		.resolve = resolve,
	};
	int fd, tries = 0;

	do { /* EAGAIN: a directory was renamed while ".." was resolved */
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN && ++tries < TRIES);
	return fd < 0 ? -errno : fd;
}

/* From the root on, or from a directory on the way: then nothing may lead out of that. */
static int open_piece(int root, int dir, const char *path, size_t bytes, u64 flags, u64 mode,
		      u64 resolve)
{
	char piece[PATH_MAX];
	bool whole = dir == root;

	memcpy(piece, path, bytes);
	piece[bytes] = 0;
	resolve |= whole ? RESOLVE_IN_ROOT : RESOLVE_BENEATH;
	return open_at(dir, bytes ? piece : whole ? "/" : ".", flags, mode,
		       RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | resolve);
}

/* How much of a path the kernel takes at a time, up to a slash; 0: it has no slash there. */
static size_t first_piece(const char *path)
{
	size_t bytes = PATH_MAX - 1;

	while (bytes && path[bytes] != '/')
		bytes--;
	return bytes;
}

/* A path of @bytes, which may be more than the kernel takes: then it is gone in pieces. */
static int open_resolved(int root, const char *path, size_t bytes, u64 flags, u64 mode,
			 u64 resolve)
{
	int dir = root, next;
	size_t piece;

	while (bytes >= PATH_MAX) {
		piece = first_piece(path);
		next = !piece ? -ENAMETOOLONG :
				open_piece(root, dir, path, piece, O_PATH | O_DIRECTORY, 0,
					   resolve);
		if (dir != root)
			close(dir);
		if (next < 0)
			return next;
		dir = next;
		for (; piece < bytes && path[piece] == '/'; piece++)
			;
		path += piece;
		bytes -= piece;
	}
	next = open_piece(root, dir, path, bytes, flags, mode, resolve);
	if (dir != root)
		close(dir);
	return next;
}

int beneath_open(int root, const char *path, u64 flags, u64 mode)
{
	return open_resolved(root, path, strlen(path), flags, mode, 0);
}

int beneath_resolve(int root, const char *dir, const char *path, u64 flags, u64 resolve)
{
	int at = open_resolved(root, dir, strlen(dir), O_PATH | O_DIRECTORY, 0, 0), fd;

	if (at < 0)
		return at;
	/* One of these, so that nothing leads out. */
	if (!(resolve & RESOLVE_BENEATH))
		resolve |= RESOLVE_IN_ROOT;
	resolve &= RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS;
	fd = open_at(at, path, flags, 0600, resolve | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS);
	close(at);
	return fd;
}

/* The bytes of @path before its last name, which goes to @name; or -errno. */
static int split(const char *path, char *name)
{
	size_t end = strlen(path), start;

	while (end && path[end - 1] == '/')
		end--;
	start = end;
	while (start && path[start - 1] != '/')
		start--;
	if (end - start >= NAME_MAX + 1 || start >= BENEATH_PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(name, path + start, end - start);
	name[end - start] = 0;
	/* These are no names in a directory. */
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;
	return start;
}

static int open_dir(int root, const char *path, size_t bytes, u64 resolve)
{
	return open_resolved(root, path, bytes, O_PATH | O_DIRECTORY, 0, resolve);
}

int beneath_parent(int root, const char *path, char *name)
{
	int bytes = split(path, name);

	return bytes < 0 ? bytes : open_dir(root, path, bytes, 0);
}

static void forget(struct beneath_dir *dir)
{
	if (dir->path && dir->fd >= 0)
		close(dir->fd);
	dir->path = NULL;
}

/* Its place, or one that it gets: then it was not asked for before. */
static struct beneath_dir *place_of(struct beneath_dirs *dirs, u32 sets, u32 changes,
				    const char *path, size_t bytes)
{
	struct beneath_dir *set = &dirs->dir[wl_hash(path, bytes) % sets * BENEATH_WAYS], *dir;
	u32 i;

	for (i = 0; i < BENEATH_WAYS; i++) {
		dir = &set[i];
		if (dir->path && dir->bytes == bytes && dir->changes == changes &&
		    !memcmp(dir->path, path, bytes))
			return dir;
	}
	dir = &set[dirs->next++ % BENEATH_WAYS];
	forget(dir);
	return dir;
}

int beneath_parent_again(struct beneath_dirs *dirs, u32 most, u32 changes, int root,
			 const char *path, char *name)
{
	u32 sets = min_t(u32, most, BENEATH_DIRS) / BENEATH_WAYS;
	int bytes = split(path, name);
	struct beneath_dir *dir;

	/* A name with a slash behind it is a directory, or it is not there. */
	if (bytes < 0 || !sets || path[bytes + strlen(name)])
		return -ELOOP;
	dir = place_of(dirs, sets, changes, path, bytes);
	if (!dir->path) {
		*dir = (struct beneath_dir){ path, bytes, changes, -ENOENT };
		return -ELOOP;
	}
	if (dir->fd == -ENOENT) {
		dir->fd = open_dir(root, path, bytes, RESOLVE_NO_SYMLINKS);
		if (dir->fd < 0 && dir->fd != -ELOOP) {
			int result = dir->fd;

			dir->fd = -ENOENT;
			return result == -EMFILE || result == -ENFILE ? -ELOOP : result;
		}
	}
	return dir->fd;
}

/* It is one name, so it leads no higher. */
int beneath_child(int dir, const char *name, u64 flags, u64 mode)
{
	return open_at(dir, name, flags, mode, RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS);
}

void beneath_way(int fd, char *way)
{
	snprintf(way, BENEATH_WAY, "/proc/self/fd/%d", fd);
}
