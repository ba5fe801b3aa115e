// SPDX-License-Identifier: GPL-2.0
#include "beneath.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 100

int beneath_open(int root, const char *path, u64 flags, u64 mode)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS,
	};
	int fd, tries = 0;

	do { /* EAGAIN: a directory was renamed while ".." was resolved */
		fd = syscall(SYS_openat2, root, *path ? path : "/", &how, sizeof(how));
	} while (fd < 0 && errno == EAGAIN && ++tries < TRIES);
	return fd < 0 ? -errno : fd;
}

int beneath_parent(int root, const char *path, char *name)
{
	char dir[PATH_MAX];
	size_t end = strlen(path), start;

	while (end && path[end - 1] == '/')
		end--;
	start = end;
	while (start && path[start - 1] != '/')
		start--;
	if (end - start >= NAME_MAX + 1 || start >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(name, path + start, end - start);
	name[end - start] = 0;
	/* These are no names in a directory. */
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;
	memcpy(dir, path, start);
	dir[start] = 0;
	return beneath_open(root, dir, O_PATH | O_DIRECTORY, 0);
}

void beneath_way(int fd, char *way)
{
	snprintf(way, BENEATH_WAY, "/proc/self/fd/%d", fd);
}
