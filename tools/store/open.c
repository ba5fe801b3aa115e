// SPDX-License-Identifier: GPL-2.0
/* Opening a store, and reading its tables: see store.h. */
#define _GNU_SOURCE
#include "store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool read_at(int fd, void *buf, size_t len, u64 at)
{
	ssize_t n;

	for (; len; buf += n, at += n, len -= n) {
		n = pread(fd, buf, len, at);
		if (n <= 0)
			return false;
	}
	return true;
}

bool write_at(int fd, const void *buf, size_t len, u64 at)
{
	ssize_t n;

	for (; len; buf += n, at += n, len -= n) {
		n = pwrite(fd, buf, len, at);
		if (n <= 0)
			return false;
	}
	return true;
}

void progress(const char *what, u64 done, u64 all)
{
	static time_t told;
	time_t now = time(NULL);

	if (!isatty(STDERR_FILENO) || (now == told && done != all))
		return;
	if (told || done != all)
		fprintf(stderr, "\r%s: %3u %%%s", what,
			(unsigned int)(all ? done * 100 / all : 100), done == all ? "\n" : "");
	told = now;
}

/* The superblocks at o->base. */
static enum status read_supers(struct opened *o)
{
	static u8 look[FORMAT_LOOK * FORMAT_PAGE];
	struct format_super super;
	static struct pool_super pool;
	unsigned int i;

	for (i = 0; i < FORMAT_LOOK; i++) {
		if (!read_at(o->fd, look + i * FORMAT_PAGE, FORMAT_PAGE,
			     (o->base + i) * FORMAT_PAGE)) {
			fprintf(stderr, "%s: cannot be read, or too small for a store\n", o->path);
			return STATUS_UNREADABLE;
		}
	}
	switch (format_look(look, &o->super)) {
	case FORMAT_STORE:
		break;
	case FORMAT_BLANK:
		fprintf(stderr, "%s: blank\n", o->path);
		return STATUS_DAMAGED;
	case FORMAT_OTHER_VERSION:
		fprintf(stderr, "%s: a store of another version\n", o->path);
		return STATUS_DAMAGED;
	case FORMAT_BROKEN:
		fprintf(stderr, "%s: a store with both copies of its superblock broken\n", o->path);
		return STATUS_DAMAGED;
	default:
		fprintf(stderr, "%s: %s\n", o->path, pool_look(look, &pool) == FORMAT_STORE ?
			"a pool; --disk says which of its disks, see david pool show" : "no store");
		return STATUS_DAMAGED;
	}
	/* Look at each copy alone. */
	for (i = 0; i < FORMAT_SUPERS; i++) {
		u8 *other = look + (1 - i) * FORMAT_PAGE, keep[FORMAT_PAGE];

		memcpy(keep, other, FORMAT_PAGE);
		memset(other, 0, FORMAT_PAGE);
		o->copy_broken |= format_look(look, &super) != FORMAT_STORE ||
				  memcmp(super.uuid, o->super.uuid, sizeof(super.uuid));
		memcpy(other, keep, FORMAT_PAGE);
	}
	o->data = o->base ? POOL_PAGES : format_data(&o->super);
	return STATUS_GOOD;
}

enum status open_disk(struct opened *o, const struct pool_file *pool, unsigned int slot)
{
	const struct pool_entry *entry = &pool->super.disk[slot];
	enum status status;
	const char *why;

	memset(o, 0, sizeof(*o));
	o->fd = pool->fd;
	o->path = entry->name;
	o->base = entry->first;
	status = read_supers(o);
	why = status ? NULL : pool_check_disk(entry, &o->super);
	if (why) {
		fprintf(stderr, "%s: %s\n", o->path, why);
		return STATUS_DAMAGED;
	}
	return status;
}

/* The disk called @disk of the pool on @path. */
static enum status open_named(struct opened *o, const char *path, const char *disk, bool write)
{
	static struct pool_file pool;
	enum status status = open_pool(&pool, path, write, true);
	unsigned int slot;

	if (status)
		return status;
	if (!find_disk(&pool, disk, &slot))
		return STATUS_UNREADABLE;
	return open_disk(o, &pool, slot);
}

enum status open_store(struct opened *o, const char *path, const char *disk, bool write)
{
	struct stat st;

	if (disk)
		return open_named(o, path, disk, write);
	o->path = path;
	/* On a block device O_EXCL is refused while anybody has it in use. */
	o->fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_EXCL);
	if (o->fd < 0 || fstat(o->fd, &st)) {
		perror(path);
		return STATUS_UNREADABLE;
	}
	return read_supers(o);
}

enum status read_table(struct opened *o)
{
	static u8 page[FORMAT_PAGE];
	u64 i;

	rt_init(&o->table);
	format_replay_begin(&o->replay, &o->super, &o->table);
	o->step = FORMAT_MORE;
	for (i = 0; i < o->super.log_pages && o->step == FORMAT_MORE; i++) {
		/* A page that cannot be read is not the expected one. */
		if (!read_at(o->fd, page, FORMAT_PAGE,
			     FORMAT_PAGE * (o->base + format_place(&o->super,
								   o->super.log_start + i))))
			memset(page, 0, sizeof(page));
		o->step = format_replay_page(&o->replay, page);
	}
	if (o->step == FORMAT_MORE)
		o->step = format_replay_end(&o->replay);
	if (o->step == FORMAT_NO_MEMORY || bm_init(&o->bitmap, o->super.backing_blocks)) {
		fprintf(stderr, "%s: not enough memory\n", o->path);
		return STATUS_UNREADABLE;
	}
	bm_claim(&o->bitmap, 0, o->data);
	o->claim = format_claim(&o->table, &o->bitmap, o->data, &o->claim_block);
	return STATUS_GOOD;
}

enum status verdict(const struct opened *o)
{
	enum status status = STATUS_GOOD;

	if (o->copy_broken) {
		printf("one copy of the superblock is broken (david store repair)\n");
		status = STATUS_DAMAGED;
	}
	if (o->step == FORMAT_DAMAGED) {
		printf("log page %" PRIu64 ": %s (david store repair)\n", o->replay.next,
		       o->replay.why);
		status = STATUS_DAMAGED;
	}
	if (o->claim) {
		printf("block %" PRIu64 " of the disk: %s\n", o->claim_block, o->claim);
		status = STATUS_DAMAGED;
	}
	return status;
}
