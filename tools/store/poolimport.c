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
static u64 promise_of(const struct image_pool *image, const struct image_pool_disk *disk)
{
	u64 spare = image->share ? POOL_SPARE : 0;

	return disk->reserve > disk->blocks + spare ? disk->reserve - disk->blocks : spare;
}

/* The entry of a disk whose area begins at page @at. */
static enum status plan_disk(const struct import *in, struct pool_entry *entry,
			     const struct image_pool_disk *disk, u64 at)
{
	u64 log_pages = import_log_pages(in->pool.super.blocks, disk->ranges);

	memcpy(entry->name, disk->name, sizeof(entry->name));
	entry->reserve = disk->reserve;
	entry->first = at;
	entry->pages = FORMAT_SUPERS + log_pages;
	return import_check_log(in, log_pages, disk->ranges);
}

/* The directory, as it will be. Room for all of it, and for what is written to the disks later. */
static enum status plan(struct import *in, const struct image_pool *image, const char *name)
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
	pool->share = image->share;
	for (i = 0; i < image->disks; i++) {
		status = plan_disk(in, &pool->disk[i], &image->disk[i], at);
		if (status)
			return status;
		at += pool->disk[i].pages;
		promised += promise_of(image, &image->disk[i]);
	}
	in->all = image->blocks;
	if (at + image->blocks + promised > pages)
		return import_no_room(in, "blocks", at + image->blocks + promised, pages);
	return import_add_extent(in, 0, at, image->blocks) ? STATUS_GOOD : STATUS_UNREADABLE;
}

static bool verify(struct import *in, const struct image_pool *image)
{
	unsigned int i;

	for (i = 0; i < image->disks; i++)
		if (!import_verify(in))
			return false;
	return true;
}

/* The image's next disk, all of it, in the area of @entry. */
static bool put_disk(struct import *in, struct pool_entry *entry)
{
	bool good;

	format_begin(&in->super, in->pool.super.blocks, FORMAT_PAGE);
	in->super.log_pages = entry->pages - FORMAT_SUPERS;
	in->head = 0;
	in->base = entry->first;
	good = image_open(&in->image) && !import_fill_super(in) && import_put_all(in) &&
	       import_put_supers(in);
	image_close(&in->image);
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

static enum status import_put_pool(struct import *in, const struct image_pool *image)
{
	bool good = import_wipe(in);
	unsigned int i;

	for (i = 0; good && i < image->disks; i++)
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
	static struct image_pool image;
	enum status status;
	bool twice = import_again(in);

	if (!image_pool_open(&in->image, &image))
		return import_bad_image(in);
	status = plan(in, &image, name);
	if (status)
		return status;
	if (twice && !verify(in, &image))
		return import_bad_image(in);
	if (twice && !(import_again(in) && image_pool_open(&in->image, &image)))
		return import_bad_image(in);
	return import_put_pool(in, &image);
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
