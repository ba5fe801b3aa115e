// SPDX-License-Identifier: GPL-2.0
#include "beneath.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 100

static int open_resolved(int root, const char *path, u64 flags, u64 mode, u64 resolve)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | resolve,
	};
	int fd, tries = 0;

	do { /* EAGAIN: a directory was renamed while ".." was resolved */
		fd = syscall(SYS_openat2, root, *path ? path : "/", &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN && ++tries < TRIES);
	return fd < 0 ? -errno : fd;
}

int beneath_open(int root, const char *path, u64 flags, u64 mode)
{
	return open_resolved(root, path, flags, mode, 0);
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
	if (end - start >= NAME_MAX + 1 || start >= PATH_MAX)
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
	char dir[PATH_MAX];

	memcpy(dir, path, bytes);
	dir[bytes] = 0;
	return open_resolved(root, dir, O_PATH | O_DIRECTORY, 0, resolve);
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

int beneath_parent_again(struct beneath_dirs *dirs, u32 changes, int root, const char *path,
			 char *name)
{
	int bytes = split(path, name), i;
	struct beneath_dir *dir;
	u32 hash = 0;

	if (bytes < 0)
		return bytes;
	for (i = 0; dirs->changes != changes && i < BENEATH_DIRS; i++)
		forget(&dirs->dir[i]);
	dirs->changes = changes;
	for (i = 0; i < bytes; i++)
		hash = hash * 31 + (u8)path[i];
	dir = &dirs->dir[hash % BENEATH_DIRS];
	if (dir->path && dir->bytes == (size_t)bytes && !memcmp(dir->path, path, bytes))
		return dir->fd;
	forget(dir);
	dir->fd = open_dir(root, path, bytes, RESOLVE_NO_SYMLINKS);
	if (dir->fd >= 0 || dir->fd == -ELOOP) {
		dir->path = path;
		dir->bytes = bytes;
	}
	return dir->fd;
}

void beneath_way(int fd, char *way)
{
	snprintf(way, BENEATH_WAY, "/proc/self/fd/%d", fd);
}
