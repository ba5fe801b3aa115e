// SPDX-License-Identifier: GPL-2.0
#include "layout.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "../common/alloc.h"
#include "../common/map.h"

#define NO_PLACE                                                                                  \
	(FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_DATA_INLINE |              \
	 FIEMAP_EXTENT_NOT_ALIGNED)

struct seen {
	u64 dev;
	u64 ino;
	struct seen *next; /* of the same key */
};

static struct map files_seen; /* lists of struct seen, by dev and number */

bool layout_first(u64 dev, u64 ino)
{
	void **place = map_pointer_at(&files_seen, map_key(ino ^ dev << 40));
	struct seen *seen = *place;

	while (seen && (seen->dev != dev || seen->ino != ino))
		seen = seen->next;
	if (seen)
		return false;
	seen = xmalloc(sizeof(*seen));
	*seen = (struct seen){ dev, ino, *place };
	*place = seen;
	return true;
}

/* How many of the file's extents have a place on the disk. */
static u32 extents_of(int fd, u64 dev, struct tracefile_extent *extent)
{
	struct {
		struct fiemap head;
		struct fiemap_extent extent[LAYOUT_MAX];
	} map = { .head = { .fm_length = FIEMAP_MAX_OFFSET, .fm_extent_count = LAYOUT_MAX } };
	u32 i, n = 0;

	if (ioctl(fd, FS_IOC_FIEMAP, &map.head))
		return 0;
	for (i = 0; i < map.head.fm_mapped_extents; i++) {
		const struct fiemap_extent *e = &map.extent[i];

		if (!(e->fe_flags & NO_PLACE))
			extent[n++] = (struct tracefile_extent){ dev, e->fe_logical, e->fe_physical,
								 e->fe_length };
	}
	return n;
}

int layout_at(const char *path, u64 dev, u64 ino, struct tracefile_extent *extent)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), n = -1;
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_dev == dev && st.st_ino == ino)
		n = extents_of(fd, dev, extent);
	close(fd);
	return n;
}

void layout_opened(struct task *task, const struct call *call, s64 result)
{
	struct tracefile_extent extent[LAYOUT_MAX];
	struct stat st;
	char path[64];
	int n;

	if (result < 0 || (call->effect != DOES_OPEN && call->effect != DOES_OPENAT2))
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", task->tid, (int)result);
	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size ||
	    !layout_first(st.st_dev, st.st_ino))
		return;
	n = layout_at(path, st.st_dev, st.st_ino, extent);
	if (n > 0)
		task_blob(task, TRACEFILE_LAYOUT, extent, n * sizeof(*extent));
}
