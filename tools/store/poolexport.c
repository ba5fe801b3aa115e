// SPDX-License-Identifier: GPL-2.0
/*
 * david pool export: see store.h and poolexportfile.h.
 *
 * The tables are read three times: to see that they are good, to number the blocks, since the file
 * begins with their numbers, and to write.
 */
#include "export.h"

#include <stdlib.h>
#include <unistd.h>

#include "poolexportfile.h"

struct pool_export {
	struct pool_file *pool;
	struct export_pool export;
	struct numbers numbers;
	unsigned int slot[POOL_DISKS];
	struct export_count count[POOL_DISKS];
};

/* Read the table of disk @i. True: then close_table(). */
static bool open_table(const struct pool_export *e, unsigned int i, struct opened *o)
{
	return !open_disk(o, e->pool, e->slot[i]) && !read_table(o);
}

static bool count_disk(struct pool_export *e, unsigned int i)
{
	const struct pool_entry *entry = &e->pool->super.disk[e->slot[i]];
	struct export_pool_disk *disk = &e->export.disk[i];
	static struct opened o;

	if (!open_table(e, i, &o))
		return false;
	e->numbers.known = e->numbers.next;
	e->count[i] = export_count(&o, &e->numbers);
	close_table(&o);
	memcpy(disk->name, entry->name, sizeof(disk->name));
	disk->reserve = entry->reserve;
	disk->ranges = e->count[i].ranges;
	disk->blocks = e->count[i].named;
	return true;
}

static bool count_all(struct pool_export *e)
{
	unsigned int i;

	for (i = 0; i < e->export.disks; i++)
		if (!count_disk(e, i))
			return false;
	e->export.blocks = e->numbers.next;
	e->numbers.known = 0;
	return true;
}

static bool export_put_pool(void *what, struct export_writer *w)
{
	struct pool_export *e = what;
	static struct opened o;
	unsigned int i;
	bool good;

	if (!count_all(e) || !export_pool_begin(w, &e->export))
		return false;
	for (i = 0; i < e->export.disks; i++) {
		if (!open_table(e, i, &o))
			return false;
		good = export_disk(&o, &e->count[i], &e->numbers, w, e->export.blocks);
		close_table(&o);
		if (!good)
			return false;
	}
	progress("export", e->export.blocks, e->export.blocks);
	return true;
}

static enum status begin(struct pool_export *e)
{
	const struct pool_super *super = &e->pool->super;
	unsigned int i;

	memcpy(e->export.name, super->name, sizeof(e->export.name));
	e->export.share = super->share;
	for (i = 0; i < POOL_DISKS; i++)
		if (super->disk[i].name[0])
			e->slot[e->export.disks++] = i;
	if (!e->export.disks) {
		fprintf(stderr, "%s: there is no disk in the pool\n", e->pool->path);
		return STATUS_UNREADABLE;
	}
	if (super->share)
		e->numbers.of = calloc(super->blocks, sizeof(e->numbers.of[0]));
	if (super->share && !e->numbers.of) {
		fprintf(stderr, "%s: not enough memory\n", e->pool->path);
		return STATUS_UNREADABLE;
	}
	return STATUS_GOOD;
}

enum status pool_export(const char *device, const char *path)
{
	static struct pool_export e;
	static struct pool_file pool;
	enum status status = open_pool(&pool, device, false, true);
	u64 shared;

	e.pool = &pool;
	if (!status && scan_pool(&pool, &shared)) {
		fprintf(stderr, "%s: not exported: see david pool check\n", device);
		status = STATUS_DAMAGED;
	}
	if (!status)
		status = begin(&e);
	if (!status)
		status = export_file(path, export_put_pool, &e);
	free(e.numbers.of);
	bm_destroy(&pool.bitmap);
	return status;
}
