// SPDX-License-Identifier: GPL-2.0
/*
 * The initial tree. Files are written to their ends, with a pattern: a read of what was never
 * written asks no disk. Or they are holes, where that does not matter.
 *
 * Where the trace knows how the original's files lay, they lie like that: in that order, with the
 * gaps that there were. On ext4 they take the blocks of one file that is as long as all that; else
 * a file stands in each gap meanwhile.
 */
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "act.h"
#include "beneath.h"

/* While the tree is made: */
#define DONOR ".david-replay-donor"
#define GAP_NAME 40

/* ext4's, which no header of user space has: fs/ext4/ext4.h. In its blocks. */
struct move_extent {
	u32 reserved;
	u32 donor_fd;
	u64 orig_start;
	u64 donor_start;
	u64 len;
	u64 moved_len;
};

#define EXT4_IOC_MOVE_EXT _IOWR('f', 15, struct move_extent)

enum content {
	WRITTEN,
	HOLES,
	LATER, /* and its permissions, too */
};

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

static int make_file(int dir, const char *name, const struct wl_entry *e,
		     enum content content)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int failed;

	if (fd < 0)
		return fd;
	failed = content == WRITTEN ? fill(fd, e->size) : ftruncate(fd, e->size);
	if (!failed && content != LATER)
		failed = fchmod(fd, e->mode & 07777);
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

static int make_entry(int root, const struct wl_entry *e, enum content content)
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
		failed = make_file(dir, name, e, content);
	close(dir);
	return failed;
}

/* Of all entries; NULL: there is no memory. */
static struct wl_entry *all_entries(const struct workload *w)
{
	struct wl_entry *all = calloc(w->entries + 1, sizeof(*all));
	struct wl_cursor cursor = wl_tree(w);
	u64 i;

	for (i = 0; all && i < w->entries; i++)
		wl_next_entry(w, &cursor, &all[i]);
	return all;
}

static int open_entry(int root, const struct wl_entry *e)
{
	return beneath_open(root, e->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0);
}

static bool has_gaps(const struct workload *w)
{
	struct wl_cursor cursor = wl_layout(w);
	struct wl_piece p;
	u64 i;

	for (i = 0; i < w->pieces && wl_next_piece(&cursor, &p); i++) {
		if (p.gap)
			return true;
	}
	return false;
}

/*
 * A file of its own for each: what follows a file's end may be taken by now. In the piece's own
 * directory: xfs has a part of the disk for each.
 */
static int in_gap(int root, const struct wl_entry *e, u64 number, char *gap)
{
	char name[PATH_MAX];

	sprintf(gap, ".david-replay-gap-%llu", (unsigned long long)number);
	return beneath_parent(root, e->path, name);
}

static bool make_gap(int root, const struct wl_entry *e, u64 number, u64 bytes)
{
	char gap[GAP_NAME];
	int dir = in_gap(root, e, number, gap), fd;
	bool made;

	if (dir < 0)
		return false;
	fd = openat(dir, gap, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	made = fd >= 0 && !fallocate(fd, 0, 0, bytes);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !made)
		unlinkat(dir, gap, 0);
	close(dir);
	return made;
}

static void remove_gap(int root, const struct wl_entry *e, u64 number)
{
	char gap[GAP_NAME];
	int dir = in_gap(root, e, number, gap);

	if (dir < 0)
		return;
	unlinkat(dir, gap, 0);
	close(dir);
}

/* From the first piece to the end of the last. 0: that is more than there can be. */
static u64 span_of(const struct workload *w, u64 *bytes)
{
	struct wl_cursor cursor = wl_layout(w);
	struct wl_piece p;
	u64 i, span = 0;

	*bytes = 0;
	for (i = 0; i < w->pieces && wl_next_piece(&cursor, &p); i++) {
		if (__builtin_add_overflow(span, p.gap + p.length, &span))
			return 0;
		*bytes += p.length;
	}
	return span;
}

/* Change the piece's blocks for those of @donor from byte @at on. */
static bool take_blocks(int fd, const struct wl_piece *p, int donor, u64 at, u64 block)
{
	struct move_extent move = {
		.donor_fd = donor,
		.orig_start = p->offset / block,
		.donor_start = at / block,
		.len = p->length / block,
	};

	while (move.len) {
		move.moved_len = 0;
		if (ioctl(fd, EXT4_IOC_MOVE_EXT, &move) || !move.moved_len)
			return false;
		move.moved_len = min(move.moved_len, move.len);
		move.orig_start += move.moved_len;
		move.donor_start += move.moved_len;
		move.len -= move.moved_len;
	}
	return true;
}

static bool take_places(const struct workload *w, int root, const struct wl_entry *entry, int donor,
			u64 block)
{
	struct wl_cursor cursor = wl_layout(w);
	struct wl_piece p;
	bool taken = true;
	u64 i, at = 0;
	int fd;

	for (i = 0; taken && i < w->pieces && wl_next_piece(&cursor, &p); at += p.length, i++) {
		const struct wl_entry *e = &entry[p.entry];

		at += p.gap;
		fd = beneath_open(root, e->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
		if (fd < 0)
			continue;
		/* Blocks behind the file's end are not moved. */
		taken = (at | p.offset | p.length) % block == 0 && !ftruncate(fd, e->size) &&
			!fallocate(fd, FALLOC_FL_KEEP_SIZE, p.offset, p.length) &&
			take_blocks(fd, &p, donor, at, block);
		close(fd);
	}
	return taken;
}

/* ext4 only. False: something is missing for it; some pieces may lie where they should. */
static bool lay_out_exactly(const struct workload *w, int root, const struct wl_entry *entry)
{
	u64 bytes, span = span_of(w, &bytes), room;
	struct statfs fs;
	bool done;
	int donor;

	if (!span || fstatfs(root, &fs) || fs.f_type != EXT4_SUPER_MAGIC)
		return false;
	room = (u64)fs.f_bavail * fs.f_bsize;
	if (room < span || room - span < bytes)
		return false;
	donor = openat(root, DONOR, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (donor < 0)
		return false;
	done = !fallocate(donor, 0, 0, span) && take_places(w, root, entry, donor, fs.f_bsize);
	close(donor);
	unlinkat(root, DONOR, 0);
	return done;
}

/*
 * Blocks for all pieces, in the order of their places. A file system that has no fallocate, or no
 * room for the gaps, puts them where it likes.
 */
static void lay_out(const struct workload *w, int root, const struct wl_entry *entry)
{
	bool *made = calloc(w->pieces, sizeof(*made));
	struct wl_cursor cursor = wl_layout(w);
	struct wl_piece p;
	u64 i;
	int fd;

	for (i = 0; i < w->pieces && wl_next_piece(&cursor, &p); i++) {
		if (p.gap && made)
			made[i] = make_gap(root, &entry[p.entry], i, p.gap);
		fd = open_entry(root, &entry[p.entry]);
		if (fd < 0)
			continue;
		fallocate(fd, FALLOC_FL_KEEP_SIZE, p.offset, p.length);
		close(fd);
	}
	cursor = wl_layout(w);
	for (i = 0; made && i < w->pieces && wl_next_piece(&cursor, &p); i++) {
		if (made[i])
			remove_gap(root, &entry[p.entry], i);
	}
	free(made);
}

static int fill_entry(int root, const struct wl_entry *e, bool written)
{
	int fd = open_entry(root, e), failed;

	if (fd < 0) {
		errno = -fd;
		return -1;
	}
	failed = (!written && fill(fd, e->size)) || fchmod(fd, e->mode & 07777);
	close(fd);
	return failed;
}

/*
 * A piece, and it is on the disk before the next one is written: a file system that chooses places
 * at writeback would mix them. No descriptor may write to the file then: ext4 has another place
 * for what is still open.
 */
static u64 write_piece(int root, const struct wl_entry *e, const struct wl_piece *p)
{
	u64 bytes = min(p->length, e->size - p->offset);
	int fd = open_entry(root, e);
	bool written;

	if (fd < 0)
		return 0;
	written = lseek(fd, p->offset, SEEK_SET) >= 0 && !fill(fd, bytes);
	close(fd);
	fd = beneath_open(root, e->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd >= 0) {
		fdatasync(fd);
		close(fd);
	}
	return written ? bytes : 0;
}

static void write_pieces(const struct workload *w, int root, const struct wl_entry *entry,
			 u64 *written)
{
	struct wl_cursor cursor = wl_layout(w);
	struct wl_piece p;
	u64 i;

	for (i = 0; i < w->pieces && wl_next_piece(&cursor, &p); i++)
		written[p.entry] += write_piece(root, &entry[p.entry], &p);
}

/* What is in the files, where it is not written yet. */
static const struct wl_entry *fill_all(const struct workload *w, int root,
				       const struct wl_entry *entry, const u64 *written)
{
	u64 i;

	for (i = 0; i < w->entries; i++) {
		if (S_ISREG(entry[i].mode) &&
		    fill_entry(root, &entry[i], written[i] >= entry[i].size))
			return &entry[i];
	}
	return NULL;
}

static const struct wl_entry *make_all(const struct workload *w, int root,
				       const struct wl_entry *entry, enum content content)
{
	u64 i;

	for (i = 0; i < w->entries; i++) {
		if (make_entry(root, &entry[i], content))
			return &entry[i];
	}
	return NULL;
}

const char *act_prepare(const struct workload *w, int root, bool holes)
{
	static char said[PATH_MAX + 100];
	struct wl_entry *entry = all_entries(w);
	u64 *written = calloc(w->entries + 1, sizeof(*written));
	bool known = w->pieces && !holes;
	const struct wl_entry *wrong = NULL;

	if (!entry || !written) {
		free(entry);
		free(written);
		return "there is no memory for the tree";
	}
	umask(0);
	wrong = make_all(w, root, entry, known ? LATER : holes ? HOLES : WRITTEN);
	if (!wrong && known && !has_gaps(w))
		write_pieces(w, root, entry, written);
	else if (!wrong && known && !lay_out_exactly(w, root, entry))
		lay_out(w, root, entry);
	if (!wrong && known)
		wrong = fill_all(w, root, entry, written);
	if (wrong)
		snprintf(said, sizeof(said), "entry %zu of the tree, %s: %s", wrong - entry,
			 wrong->path, strerror(errno));
	free(entry);
	free(written);
	return wrong ? said : NULL;
}
