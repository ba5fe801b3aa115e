// SPDX-License-Identifier: GPL-2.0
/* david pool: a pool made, looked at, checked, and disks dropped from it. See store.h. */
#define _GNU_SOURCE
#include "store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

static u64 backing_pages(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);

	return end < 0 ? 0 : end / FORMAT_PAGE;
}

static bool look(struct pool_file *pool, enum format_found *found)
{
	static u8 pages[FORMAT_LOOK * FORMAT_PAGE];

	if (!read_at(pool->fd, pages, sizeof(pages), 0)) {
		fprintf(stderr, "%s: cannot be read, or too small for a pool\n", pool->path);
		return false;
	}
	*found = pool_look(pages, &pool->super);
	return true;
}

enum status open_pool(struct pool_file *pool, const char *path, bool write, bool exclusive)
{
	enum format_found found;

	memset(pool, 0, sizeof(*pool));
	pool->path = path;
	/* On a block device O_EXCL is refused while anybody has it in use. */
	pool->fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | (exclusive ? O_EXCL : 0));
	if (pool->fd < 0) {
		perror(path);
		return STATUS_UNREADABLE;
	}
	/* The kernel writes past the page cache of a device that is in use. No error in a file. */
	if (!exclusive)
		ioctl(pool->fd, BLKFLSBUF, 0);
	if (!look(pool, &found))
		return STATUS_UNREADABLE;
	if (found != FORMAT_STORE) {
		fprintf(stderr, "%s: %s\n", path,
			found == FORMAT_BROKEN ? "a pool with both copies of its directory broken" :
			found == FORMAT_OTHER_VERSION ? "a pool of another version" : "no pool");
		return STATUS_DAMAGED;
	}
	if (pool->super.blocks > backing_pages(pool->fd)) {
		fprintf(stderr, "%s: smaller than when the pool was used last\n", path);
		return STATUS_DAMAGED;
	}
	return STATUS_GOOD;
}

bool find_disk(const struct pool_file *pool, const char *name, unsigned int *slot)
{
	*slot = name[0] ? pool_find(&pool->super, name) : POOL_DISKS;
	if (*slot == POOL_DISKS)
		fprintf(stderr, "%s: has no disk %s; see david pool show\n", pool->path, name);
	return *slot < POOL_DISKS;
}

bool write_directory(struct pool_file *pool)
{
	static u8 copy[POOL_COPY * FORMAT_PAGE];

	pool->super.generation++;
	pool_pack(&pool->super, copy);
	if (!fsync(pool->fd) &&
	    write_at(pool->fd, copy, sizeof(copy), pool_copy_page(&pool->super) * FORMAT_PAGE) &&
	    !fsync(pool->fd))
		return true;
	perror(pool->path);
	return false;
}

/* What a disk has, claimed in @pool's bitmap. Its figures stay in @o. */
static enum status scan_disk(struct pool_file *pool, unsigned int slot, struct opened *o,
			     u64 *shared)
{
	enum status status = open_disk(o, pool, slot);
	const char *why;
	u64 block;

	if (!status)
		status = read_table(o);
	if (status) {
		printf("disk %s: cannot be opened\n", pool->super.disk[slot].name);
		return status;
	}
	if (o->step == FORMAT_DAMAGED || o->claim || o->copy_broken) {
		printf("disk %s: damaged (david store check --disk)\n", o->path);
		status = STATUS_DAMAGED;
	}
	why = o->claim ? NULL :
	      pool_claim_disk(&pool->super, &o->table, &pool->bitmap, &block, shared);
	if (why) {
		printf("disk %s: block %" PRIu64 ": %s\n", o->path, block, why);
		status = STATUS_DAMAGED;
	}
	return status;
}

void close_table(struct opened *o)
{
	rt_destroy(&o->table);
	bm_destroy(&o->bitmap);
}

enum status scan_pool(struct pool_file *pool, u64 *shared)
{
	enum status status = STATUS_GOOD, one;
	static struct opened o;
	const char *why;
	unsigned int i;

	*shared = 0;
	if (bm_init(&pool->bitmap, pool->super.blocks)) {
		fprintf(stderr, "%s: not enough memory\n", pool->path);
		return STATUS_UNREADABLE;
	}
	why = pool_claim_areas(&pool->super, &pool->bitmap);
	if (why) {
		printf("%s\n", why);
		status = STATUS_DAMAGED;
	}
	for (i = 0; i < POOL_DISKS; i++) {
		if (!pool->super.disk[i].name[0])
			continue;
		one = scan_disk(pool, i, &o, shared);
		status = max(status, one);
		if (one != STATUS_UNREADABLE)
			close_table(&o);
	}
	return status;
}

enum status pool_create(const char *path, const char *name, bool format, bool share)
{
	static const u8 zeros[FORMAT_LOOK * FORMAT_PAGE];
	struct pool_file pool = { .path = path };
	enum format_found found;
	unsigned int i;
	int r;

	pool.fd = open(path, O_RDWR | O_CLOEXEC | O_EXCL);
	if (pool.fd < 0) {
		perror(path);
		return STATUS_UNREADABLE;
	}
	if (!look(&pool, &found))
		return STATUS_UNREADABLE;
	if (found != FORMAT_BLANK && !format) {
		fprintf(stderr, "%s: not blank, %s: --format overwrites it\n", path,
			found == FORMAT_FOREIGN ? "something stands on it" :
			"there is a pool on it");
		return STATUS_UNREADABLE;
	}
	r = pool_begin(&pool.super, name, backing_pages(pool.fd));
	if (r) {
		fprintf(stderr, r == -EINVAL ?
			"%s: cannot be a pool's name; use up to 63 letters, digits and #+-.:=@_\n" :
			"%s: too small for a pool, which needs 1 MiB\n",
			r == -EINVAL ? name : path);
		return STATUS_UNREADABLE;
	}
	pool.super.share = share;
	if (getrandom(pool.super.uuid, sizeof(pool.super.uuid), 0) != sizeof(pool.super.uuid) ||
	    !write_at(pool.fd, zeros, sizeof(zeros), 0)) {
		perror(path);
		return STATUS_UNREADABLE;
	}
	for (i = 0; i < POOL_COPIES; i++)
		if (!write_directory(&pool))
			return STATUS_UNREADABLE;
	return STATUS_GOOD;
}

/* Of an open disk this is what was durable a moment ago, or nothing. */
static void show_disk(struct pool_file *pool, unsigned int slot)
{
	const struct pool_entry *entry = &pool->super.disk[slot];
	static struct opened o;

	printf("disk %s reserve %" PRIu64 " log_pages %" PRIu64, entry->name, entry->reserve,
	       entry->pages - FORMAT_SUPERS);
	if (open_disk(&o, pool, slot) || read_table(&o)) {
		printf("\n");
		return;
	}
	printf(" target_sectors %" PRIu64 " used %" PRIu64 " state %s\n", o.super.target_sectors,
	       o.table.blocks[RT_STORED], o.step == FORMAT_DAMAGED || o.claim ? "damaged" :
	       o.super.flags & FORMAT_CLEAN ? "clean" : "open");
	close_table(&o);
}

enum status pool_show(const char *path)
{
	static struct pool_file pool;
	enum status status = open_pool(&pool, path, false, false);
	unsigned int i;

	if (status)
		return status;
	printf("name %s\nuuid ", pool.super.name);
	for (i = 0; i < sizeof(pool.super.uuid); i++)
		printf("%02x", pool.super.uuid[i]);
	printf("\nblocks %" PRIu64 "\nshare %s\n", pool.super.blocks,
	       pool.super.share ? "yes" : "no");
	for (i = 0; i < POOL_DISKS; i++)
		if (pool.super.disk[i].name[0])
			show_disk(&pool, i);
	close(pool.fd);
	return STATUS_GOOD;
}

enum status pool_check_all(const char *path)
{
	static struct pool_file pool;
	enum status status = open_pool(&pool, path, false, true);
	u64 shared;

	if (status)
		return status;
	status = scan_pool(&pool, &shared);
	if (!status && pool.super.share)
		printf("%" PRIu64 " blocks saved by sharing\n", shared);
	if (!status)
		printf("no fault found\n");
	bm_destroy(&pool.bitmap);
	close(pool.fd);
	return status;
}

enum status pool_drop(const char *path, const char *name)
{
	static struct pool_file pool;
	enum status status = open_pool(&pool, path, true, true);
	unsigned int slot;

	if (status)
		return status;
	if (!find_disk(&pool, name, &slot))
		return STATUS_UNREADABLE;
	memset(&pool.super.disk[slot], 0, sizeof(pool.super.disk[slot]));
	return write_directory(&pool) ? STATUS_GOOD : STATUS_UNREADABLE;
}
