// SPDX-License-Identifier: GPL-2.0
/*
 * The disk or image that is looked at, by windows: see mapped.h. Windows overlap by what one call
 * may ask for, so that all of it lies in one of them.
 */
#include "../common/alloc.h"
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/fs.h>
#include <unistd.h>

static bool size_of(int fd, u64 *bytes)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (S_ISBLK(st.st_mode))
		return !ioctl(fd, BLKGETSIZE64, bytes);
	*bytes = st.st_size;
	return true;
}

bool mapped_open(struct mapped *disk, const char *path, u32 window)
{
	*disk = (struct mapped) { .fd = open(path, O_RDONLY), .window = window };
	if (disk->fd < 0)
		return false;
	if (size_of(disk->fd, &disk->bytes))
		return true;
	close(disk->fd);
	return false;
}

/* Bytes of the window that are there. */
static u64 length(const struct mapped *disk, u64 number)
{
	return min_t(u64, (u64)disk->window + VIEW_AT_MOST,
		     disk->bytes - number * disk->window);
}

static void mapped_drop(const struct mapped *disk, struct window *window)
{
	if (window->base)
		munmap((void *)window->base, length(disk, window->number));
	window->base = NULL;
}

void mapped_close(struct mapped *disk)
{
	unsigned int i;

	for (i = 0; i < WINDOWS; i++)
		mapped_drop(disk, &disk->windows[i]);
	close(disk->fd);
}

static const u8 *map_bytes(const struct mapped *disk, u64 offset, u64 len)
{
	void *base = mmap(NULL, len, PROT_READ, MAP_SHARED, disk->fd, offset);

	if (base == MAP_FAILED)
		die("%llu bytes do not fit into memory: %s", (unsigned long long)len,
		    strerror(errno));
	return base;
}

static const u8 *window_of(struct mapped *disk, u64 number)
{
	struct window *oldest = disk->windows, *window;

	for (window = disk->windows; window < disk->windows + WINDOWS; window++) {
		if (window->base && window->number == number) {
			window->used = ++disk->now;
			return window->base;
		}
		if (window->used < oldest->used)
			oldest = window;
	}
	mapped_drop(disk, oldest);
	oldest->base = map_bytes(disk, number * disk->window, length(disk, number));
	oldest->number = number;
	oldest->used = ++disk->now;
	return oldest->base;
}

static bool there(const struct view *view, u64 offset, u64 len)
{
	return offset <= view->bytes && len <= view->bytes - offset;
}

const u8 *view_at(const struct view *view, u64 offset, u32 len)
{
	struct mapped *disk = view->disk;
	u64 at = view->start + offset;

	if (!there(view, offset, len))
		return NULL;
	if (len > VIEW_AT_MOST)
		abort();
	if (disk->memory)
		return disk->memory + at;
	return window_of(disk, at / disk->window) + at % disk->window;
}

const u8 *view_map(const struct view *view, u64 offset, u64 len)
{
	u64 at = view->start + offset, skip = at % VIEW_AT_MOST;

	if (!there(view, offset, len))
		return NULL;
	if (view->disk->memory)
		return view->disk->memory + at;
	return map_bytes(view->disk, at - skip, len + skip) + skip;
}

void view_unmap(const struct view *view, u64 offset, u64 len, const u8 *mapped)
{
	u64 skip = (view->start + offset) % VIEW_AT_MOST;

	if (mapped && !view->disk->memory)
		munmap((void *)(mapped - skip), len + skip);
}
