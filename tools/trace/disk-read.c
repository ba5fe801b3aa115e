// SPDX-License-Identifier: GPL-2.0
#include "disk-read.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "../calls/tracefile.h"

#define LONG_NS 30000 /* and a nanosecond a byte, for copying */

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

static bool counted; /* by the kernel */

void disk_read_start(void)
{
	counted = !access("/proc/self/io", R_OK);
}

/* Bytes that the thread has asked disks for. False: that is not known. */
static bool bytes_asked(const struct task *task, u64 *bytes)
{
	char path[64], text[512];
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/io", task->tgid, task->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	at = strstr(text, "\nread_bytes: ");
	return at && sscanf(at, " read_bytes: %" SCNu64, bytes) == 1;
}

/* Others, as those in user space, ask disks without the thread's doing so. */
static bool on_a_disk(const struct task *task, int fd)
{
	struct statfs fs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", task->tid, fd);
	if (statfs(path, &fs))
		return false;
	switch ((u64)fs.f_type) {
	case EXT4_SUPER_MAGIC: /* ext2's and ext3's, too */
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

void disk_read_exit(struct task *task, const struct call *call, s64 result, u64 exit)
{
	u64 asked, before = task->asked;

	if (!counted)
		return;
	if ((call->effect != DOES_READ && call->effect != DOES_PREAD) || result < 0 ||
	    exit - task->entry <= LONG_NS + (u64)result || !bytes_asked(task, &asked))
		return;
	task->asked = asked;
	if (asked == before && on_a_disk(task, task->call.args[0]))
		task->flags |= TRACEFILE_NO_DISK;
}
