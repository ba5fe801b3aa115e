// SPDX-License-Identifier: GPL-2.0
/*
 * The initial tree. Files are written to their ends, with a pattern: a read of what was never
 * written asks no disk. Or they are holes, where that does not matter.
 */
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act.h"
#include "beneath.h"

static int fill(int fd, u64 size)
{
	static u8 pattern[CHUNK];
	s64 n;

	memset(pattern, 0x5a, sizeof(pattern));
	for (; size; size -= n) {
		n = write(fd, pattern, min_t(u64, size, sizeof(pattern)));
		if (n <= 0)
			return -1;
	}
	return 0;
}

static int make_file(int dir, const char *name, const struct wl_entry *e, bool holes)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int failed;

	if (fd < 0)
		return fd;
	failed = (holes ? ftruncate(fd, e->size) : fill(fd, e->size)) ||
		 fchmod(fd, e->mode & 07777);
	close(fd);
	return failed ? -1 : 0;
}

static int make_link(int root, int dir, const char *name, const struct wl_entry *e)
{
	char first[NAME_MAX + 1];
	int from = beneath_parent(root, e->other, first), failed;

	if (from < 0) {
		errno = -from;
		return -1;
	}
	failed = linkat(from, first, dir, name, 0);
	close(from);
	return failed;
}

static int make_entry(int root, const struct wl_entry *e, bool holes)
{
	char name[NAME_MAX + 1];
	int dir = beneath_parent(root, e->path, name), failed;

	if (dir < 0) {
		errno = -dir;
		return -1;
	}
	if (!e->mode)
		failed = make_link(root, dir, name, e);
	else if (S_ISDIR(e->mode))
		/* Its owner may write to it until all is there. */
		failed = mkdirat(dir, name, (e->mode & 07777) | 0700);
	else if (S_ISLNK(e->mode))
		failed = symlinkat(e->other, dir, name);
	else
		failed = make_file(dir, name, e, holes);
	close(dir);
	return failed;
}

const char *act_prepare(const struct workload *w, int root, bool holes)
{
	static char said[PATH_MAX + 100];
	struct wl_cursor cursor = wl_tree(w);
	struct wl_entry entry;
	u64 i;

	umask(0);
	for (i = 0; i < w->entries && wl_next_entry(w, &cursor, &entry); i++) {
		if (!make_entry(root, &entry, holes))
			continue;
		snprintf(said, sizeof(said), "entry %llu of the tree, %s: %s",
			 (unsigned long long)i, entry.path, strerror(errno));
		return said;
	}
	return NULL;
}
