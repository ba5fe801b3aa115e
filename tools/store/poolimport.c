// SPDX-License-Identifier: GPL-2.0
/*
 * david pool import: see import.h, store.h and poolexportfile.h.
 *
 * Areas come first, one behind the other, then all blocks in the order of the file. The directory
 * is written last. Until then the device begins with FORMAT_LOOK pages of zeros: it is blank for
 * the kernel and for the next import.
 */
#include "import.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "poolexportfile.h"

static u64 pool_device_pages(const struct import *in)
{
	off_t end = lseek(in->to, 0, SEEK_END);

	return end < 0 ? 0 : end / FORMAT_PAGE;
}

/* Blocks that the kernel will keep free for a disk. */
static u64 promise_of(const struct export_pool *export, const struct export_pool_disk *disk)
{
	u64 spare = export->share ? POOL_SPARE : 0;

	return disk->reserve > disk->blocks + spare ? disk->reserve - disk->blocks : spare;
}

/* The entry of a disk whose area begins at page @at. */
static enum status plan_disk(const struct import *in, struct pool_entry *entry,
			     const struct export_pool_disk *disk, u64 at)
{
	u64 log_pages = import_log_pages(in->pool.super.blocks, disk->ranges);

	memcpy(entry->name, disk->name, sizeof(entry->name));
	entry->reserve = disk->reserve;
	entry->first = at;
	entry->pages = FORMAT_SUPERS + log_pages;
	return import_check_log(in, log_pages, disk->ranges);
}

/* The directory, as it will be. Room for all of it, and for what is written to the disks later. */
static enum status plan(struct import *in, const struct export_pool *export, const char *name)
{
	struct pool_super *pool = &in->pool.super;
	u64 pages = pool_device_pages(in), at = FORMAT_LOOK, promised = 0;
	enum status status;
	unsigned int i;

	switch (pool_begin(pool, name, pages)) {
	case -EINVAL:
		fprintf(stderr, "%s: cannot be a pool's name\n", name);
		return STATUS_UNREADABLE;
	case -ENOSPC:
		return import_no_room(in, "blocks", POOL_PAGES_MIN, pages);
	}
	pool->share = export->share;
	for (i = 0; i < export->disks; i++) {
		status = plan_disk(in, &pool->disk[i], &export->disk[i], at);
		if (status)
			return status;
		at += pool->disk[i].pages;
		promised += promise_of(export, &export->disk[i]);
	}
	in->all = export->blocks;
	if (at + export->blocks + promised > pages)
		return import_no_room(in, "blocks", at + export->blocks + promised, pages);
	return import_add_extent(in, 0, at, export->blocks) ? STATUS_GOOD : STATUS_UNREADABLE;
}

static bool verify(struct import *in, const struct export_pool *export)
{
	unsigned int i;

	for (i = 0; i < export->disks; i++)
		if (!import_verify(in))
			return false;
	return true;
}

/* The export's next disk, all of it, in the area of @entry. */
static bool put_disk(struct import *in, struct pool_entry *entry)
{
	bool good;

	format_begin(&in->super, in->pool.super.blocks, FORMAT_PAGE);
	in->super.log_pages = entry->pages - FORMAT_SUPERS;
	in->head = 0;
	in->base = entry->first;
	good = export_open(&in->export) && !import_fill_super(in) && import_put_all(in) &&
	       import_put_supers(in);
	export_close(&in->export);
	memcpy(entry->uuid, in->super.uuid, sizeof(entry->uuid));
	return good;
}

static bool put_directory(struct import *in)
{
	struct pool_file *pool = &in->pool;
	unsigned int i;

	pool->fd = in->to;
	pool->path = in->device;
	if (getrandom(pool->super.uuid, sizeof(pool->super.uuid), 0) != sizeof(pool->super.uuid))
		return false;
	for (i = 0; i < POOL_COPIES; i++)
		if (!write_directory(pool))
			return false;
	return true;
}

static enum status import_put_pool(struct import *in, const struct export_pool *export)
{
	bool good = import_wipe(in);
	unsigned int i;

	for (i = 0; good && i < export->disks; i++)
		good = put_disk(in, &in->pool.super.disk[i]);
	if (good && put_directory(in)) {
		progress("import", in->all, in->all);
		return STATUS_GOOD;
	}
	in->base = 0;
	return import_failed(in, true);
}

static enum status pool_import_from(struct import *in, const char *name)
{
	static struct export_pool export;
	enum status status;
	bool twice = import_again(in);

	if (!export_pool_open(&in->export, &export))
		return import_bad_export(in);
	status = plan(in, &export, name);
	if (status)
		return status;
	if (twice && !verify(in, &export))
		return import_bad_export(in);
	if (twice && !(import_again(in) && export_pool_open(&in->export, &export)))
		return import_bad_export(in);
	return import_put_pool(in, &export);
}

enum status pool_import(const char *path, const char *device, const char *name, bool format)
{
	static struct import in;
	enum status status;

	in.path = path;
	in.device = device;
	status = import_open_device(&in, format);
	if (!status)
		status = import_open_file(&in);
	if (!status)
		status = pool_import_from(&in, name);
	free(in.extents);
	return status;
}
