// SPDX-License-Identifier: GPL-2.0
/*
 * david store import: see import.h, store.h and exportfile.h.
 *
 * The export's ranges become a checkpoint at the beginning of the log. Its blocks
 * are written one after another behind the log. Superblocks are written last.
 * Until then the device begins with zeros, so the kernel takes it for blank.
 *
 * In a pool the blocks go wherever there is room. The directory is written last.
 * Until then the pool has no such disk.
 */
#define _GNU_SOURCE
#include "import.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_file(void *ctx, void *buf, size_t len)
{
	const struct import *in = ctx;
	ssize_t n;

	for (; len; buf += n, len -= n) {
		n = read(in->from, buf, len);
		if (n <= 0)
			return false;
	}
	return true;
}

enum status import_bad_export(const struct import *in)
{
	fprintf(stderr, "%s: %s\n", in->path, in->export.why);
	return STATUS_DAMAGED;
}

bool import_verify(struct import *in)
{
	enum export_kind kind = 0;
	u32 len;

	if (export_open(&in->export)) {
		do
			kind = export_next(&in->export, &len);
		while (kind && kind != EXPORT_END);
	}
	export_close(&in->export);
	return kind == EXPORT_END;
}

enum status import_open_file(struct import *in)
{
	in->export.read = read_file;
	in->export.ctx = in;
	if (strcmp(in->path, "-"))
		in->from = open(in->path, O_RDONLY | O_CLOEXEC);
	if (in->from >= 0)
		return STATUS_GOOD;
	perror(in->path);
	return STATUS_UNREADABLE;
}

bool import_again(const struct import *in)
{
	return lseek(in->from, 0, SEEK_SET) == 0;
}

enum status import_open_device(struct import *in, bool format)
{
	static u8 look[FORMAT_LOOK * FORMAT_PAGE];
	struct format_super old;
	enum format_found found;

	/* O_EXCL fails on a block device that is in use. */
	in->to = open(in->device, O_RDWR | O_CLOEXEC | O_EXCL);
	if (in->to < 0) {
		perror(in->device);
		return STATUS_UNREADABLE;
	}
	if (!read_at(in->to, look, sizeof(look), 0)) {
		fprintf(stderr, "%s: cannot be read, or too small for a store\n", in->device);
		return STATUS_UNREADABLE;
	}
	found = format_look(look, &old);
	if (found == FORMAT_BLANK || format)
		return STATUS_GOOD;
	fprintf(stderr, "%s: not blank, %s: --format overwrites it\n", in->device,
		found == FORMAT_FOREIGN ? "something stands on it" : "there is a store on it");
	return STATUS_UNREADABLE;
}

enum status import_no_room(const struct import *in, const char *what, u64 needs, u64 has)
{
	fprintf(stderr, "%s: too small: %" PRIu64 " %s, room for %" PRIu64 "\n", in->device, needs,
		what, has);
	return STATUS_UNREADABLE;
}

u64 import_log_pages(u64 blocks, u64 ranges)
{
	u64 usual = pool_area_pages(blocks, 0) - FORMAT_SUPERS, pages = FORMAT_LOG_MIN;
	struct format_room room;

	do {
		pages += pages / 4;
		format_room(pages, &room);
	} while (room.ranges < ranges + ranges / 2 && pages < FORMAT_LOG_MAX);
	return max(usual, min_t(u64, pages, FORMAT_LOG_MAX));
}

enum status import_check_log(const struct import *in, u64 log_pages, u64 ranges)
{
	struct format_room room;
	u64 most;

	format_room(log_pages, &room);
	most = room.ranges - room.ranges / 16;
	return ranges <= most ? STATUS_GOOD : import_no_room(in, "ranges in its log", ranges, most);
}

enum status import_fill_super(struct import *in)
{
	const struct export_head *head = &in->export.head;
	enum status status = import_check_log(in, in->super.log_pages, head->ranges);

	if (status)
		return status;
	if (getrandom(in->super.uuid, sizeof(in->super.uuid), 0) != sizeof(in->super.uuid)) {
		perror("getrandom");
		return STATUS_UNREADABLE;
	}
	in->super.version = head->packs ? FORMAT_VERSION_PACKS : FORMAT_VERSION;
	in->super.target_sectors = head->target_sectors;
	in->super.seed = head->seed;
	in->super.flags = head->flags;
	in->super.epoch = 1;
	return STATUS_GOOD;
}

bool import_add_extent(struct import *in, u64 first, u64 dest, u64 len)
{
	struct extent *more = realloc(in->extents, (in->nr_extents + 1) * sizeof(*more));

	if (!more)
		return false;
	in->extents = more;
	more[in->nr_extents++] = (struct extent){ first, dest, len };
	return true;
}

/* Room for all of it, and in the log for what is written to the disk later. */
static enum status make_super(struct import *in)
{
	const struct export_head *head = &in->export.head;
	u64 pages = lseek(in->to, 0, SEEK_END) / FORMAT_PAGE, free;

	if (format_begin(&in->super, pages, head->block_size)) {
		fprintf(stderr, "%s: too small for a store\n", in->device);
		return STATUS_UNREADABLE;
	}
	free = in->super.backing_blocks - format_data(&in->super);
	if (head->blocks > free)
		return import_no_room(in, "blocks", head->blocks, free);
	if (!import_add_extent(in, 0, format_data(&in->super), head->blocks))
		return STATUS_UNREADABLE;
	return import_fill_super(in);
}

/* The same in a pool: an area, and blocks wherever some are free. */
static enum status make_disk(struct import *in)
{
	const struct export_head *head = &in->export.head;
	struct pool_super *pool = &in->pool.super;
	unsigned int slot = pool_find(pool, "");
	u64 from = 0, done, dest, got;
	struct pool_entry *entry = &pool->disk[slot];

	if (pool_find(pool, in->disk) < POOL_DISKS || slot == POOL_DISKS) {
		fprintf(stderr, "%s: %s\n", in->device, slot == POOL_DISKS ?
			"the pool is full of disks" : "the pool has a disk of that name");
		return STATUS_UNREADABLE;
	}
	if (head->packs) {
		fprintf(stderr, "%s: it has packed blocks, which a pool's disks have not\n",
			in->path);
		return STATUS_UNREADABLE;
	}
	if (head->block_size != FORMAT_PAGE || !pool_name_ok(in->disk)) {
		fprintf(stderr, "%s: %s\n", in->path, head->block_size != FORMAT_PAGE ?
			"its blocks are not of 4096 bytes, as a pool's are" :
			"bad name for a disk");
		return STATUS_UNREADABLE;
	}
	format_begin(&in->super, pool->blocks, FORMAT_PAGE);
	in->super.log_pages = import_log_pages(pool->blocks, head->ranges);
	entry->pages = FORMAT_SUPERS + in->super.log_pages;
	entry->first = bm_alloc_run(&in->pool.bitmap, &from, entry->pages, UINT_MAX);
	got = bm_nr_free(&in->pool.bitmap);
	if (entry->first == BM_NONE || head->blocks > got)
		return import_no_room(in, "blocks", head->blocks + entry->pages, got);
	for (done = 0; done < head->blocks; done += got) {
		dest = bm_alloc(&in->pool.bitmap, BM_NONE, head->blocks - done, &got);
		if (!import_add_extent(in, done, dest, got))
			return STATUS_UNREADABLE;
	}
	memcpy(entry->name, in->disk, strlen(in->disk));
	in->base = entry->first;
	return import_fill_super(in);
}

static bool put_page(struct import *in)
{
	format_seal(&in->page, &in->super, in->head, 0, in->ops);
	in->ops = 0;
	return write_at(in->to, &in->page, FORMAT_PAGE,
			FORMAT_PAGE * (in->base + format_place(&in->super, in->head++)));
}

/* Where block @number of the export goes, and how many follow it there; @len at most. */
static u64 import_place(const struct import *in, u64 number, u64 *len)
{
	unsigned int low = 0, high = in->nr_extents;
	const struct extent *e;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (in->extents[middle].first <= number)
			low = middle;
		else
			high = middle;
	}
	e = &in->extents[low];
	*len = min(*len, e->first + e->len - number);
	return e->dest + (number - e->first);
}

static bool import_put_range(struct import *in, const struct rt_range *r)
{
	format_put(&in->page.op[in->ops++], r);
	return in->ops < FORMAT_OPS || put_page(in);
}

static bool import_put_ranges(struct import *in, u32 len)
{
	struct rt_range r, some;
	u32 i;

	for (i = 0; i < len / sizeof(struct format_op); i++) {
		export_range(&in->export, i, &r);
		while (r.len) {
			some = r;
			if (r.kind == RT_STORED)
				some.value = import_place(in, r.value, &some.len);
			if (!import_put_range(in, &some))
				return false;
			r.start += some.len;
			r.len -= some.len;
			if (r.kind == RT_STORED)
				r.value += some.len;
		}
	}
	return true;
}

static bool import_put_blocks(struct import *in, u32 len)
{
	u32 size = in->super.block_size;
	u64 left = len / size, number = in->export.known + in->export.blocks - left, some, dest;
	const u8 *data = in->export.data;

	progress("import", number, in->all);
	for (; left; left -= some, number += some, data += some * size) {
		some = left;
		dest = import_place(in, number, &some);
		if (!write_at(in->to, data, some * size, dest * size))
			return false;
	}
	return true;
}

bool import_put_all(struct import *in)
{
	bool good = true;
	u32 len;

	while (good) {
		switch (export_next(&in->export, &len)) {
		case EXPORT_RANGES:
			good = import_put_ranges(in, len);
			break;
		case EXPORT_BLOCKS:
			good = import_put_blocks(in, len);
			break;
		case EXPORT_END:
			return !in->ops || put_page(in);
		default:
			good = false;
		}
	}
	return false;
}

bool import_put_supers(struct import *in)
{
	static u8 page[FORMAT_PAGE];
	unsigned int i;

	if (fsync(in->to))
		return false;
	in->super.flags |= FORMAT_CLEAN;
	in->super.log_end = in->head;
	for (i = 0; i < FORMAT_SUPERS; i++) {
		in->super.generation++;
		format_pack(&in->super, page);
		if (!write_at(in->to, page, FORMAT_PAGE,
			      FORMAT_PAGE *
			      (in->base + in->super.generation % FORMAT_SUPERS)) ||
		    fsync(in->to))
			return false;
	}
	return true;
}

bool import_wipe(const struct import *in)
{
	static const u8 zeros[FORMAT_LOOK * FORMAT_PAGE];

	return write_at(in->to, zeros, sizeof(zeros), in->base * FORMAT_PAGE) && !fsync(in->to);
}

enum status import_failed(const struct import *in, bool blank)
{
	if (in->export.why)
		import_bad_export(in);
	else
		perror(in->device);
	if (import_wipe(in) && blank)
		fprintf(stderr, "%s: blank now\n", in->device);
	return in->export.why ? STATUS_DAMAGED : STATUS_UNREADABLE;
}

/* The pool has the disk from now on. */
static bool enter(struct import *in)
{
	struct pool_entry *entry = &in->pool.super.disk[pool_find(&in->pool.super, in->disk)];

	memcpy(entry->uuid, in->super.uuid, sizeof(entry->uuid));
	return write_directory(&in->pool);
}

static enum status import_put_store(struct import *in)
{
	enum status status = in->disk ? make_disk(in) : make_super(in);

	if (status)
		return status;
	in->all = in->export.head.blocks;
	if (import_wipe(in) && import_put_all(in) && import_put_supers(in) &&
	    (!in->disk || enter(in))) {
		progress("import", in->all, in->all);
		return STATUS_GOOD;
	}
	return import_failed(in, !in->disk);
}

static enum status import_from(struct import *in)
{
	enum status status = import_open_file(in);

	if (!status && import_again(in)) {
		if (!import_verify(in))
			status = import_bad_export(in);
		else if (!import_again(in))
			status = STATUS_UNREADABLE;
	}
	if (status)
		return status;
	status = export_open(&in->export) ? import_put_store(in) : import_bad_export(in);
	export_close(&in->export);
	free(in->extents);
	close(in->to);
	return status;
}

enum status import_store(const char *path, const char *device, bool format)
{
	static struct import in;
	enum status status;

	in.path = path;
	in.device = device;
	status = import_open_device(&in, format);
	return status ?: import_from(&in);
}

enum status import_disk(const char *path, const char *device, const char *disk)
{
	static struct import in;
	enum status status;
	u64 shared;

	in.path = path;
	in.device = device;
	in.disk = disk;
	status = open_pool(&in.pool, device, true, true);
	if (!status)
		status = scan_pool(&in.pool, &shared);
	in.to = in.pool.fd;
	return status ?: import_from(&in);
}
