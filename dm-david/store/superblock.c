// SPDX-License-Identifier: GPL-2.0
/*
 * A store's superblock: what stands on a device, whether the table line fits it, and a new one when
 * something of it changes. lib/format.h has its form.
 */
#include "wal-internal.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/slab.h>

#include "../lib/poolfmt.h"
#include "logread.h"
#include "pool.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

int super_write(struct wal *wal, const struct format_super *super)
{
	const blk_opf_t fua = wal_fua_opf(wal->bdev);
	void *p = page_address(wal->page);
	int r;

	format_pack(super, p);
	r = wal_flush_backing(wal);
	if (!r)
		r = wal_write_twice(wal, DAVID_FAULT_SUPER, fua, super->generation % FORMAT_SUPERS,
				    &p, 1);
	if (!r && !fua)
		r = wal_flush_backing(wal);
	if (!r)
		wal->super = *super;
	return r;
}

/* Format a new store. While an older copy of the superblock is left, nothing else is written. */
int super_format(struct wal *wal)
{
	struct format_super super = wal->super;
	unsigned int i;
	int r = 0;

	for (i = 0; i < FORMAT_SUPERS && !r; i++) {
		super.generation++;
		r = super_write(wal, &super);
	}
	if (!r)
		wal->fresh = false;
	return r;
}

/* An older module must not open the store from now on. */
int super_raise_version(struct wal *wal)
{
	struct format_super super = wal->super;
	unsigned int i;
	int r = 0;

	super.version = max_t(u64, super.version, FORMAT_VERSION_PACKS);
	super.log_end = wal->head;
	/* Both copies: it would open the other one. */
	for (i = 0; i < FORMAT_SUPERS && !r; i++) {
		super.generation++;
		r = super_write(wal, &super);
	}
	return r;
}

/*
 * The superblock of a store that goes live. If it has zones from now on, that stands in both
 * copies: a module that knows none would open the other one.
 */
int super_start(struct wal *wal, struct format_super *super)
{
	bool zoned = wal->store->zones.size && super->version != FORMAT_VERSION_ZONES;
	int r;

	super->zones = wal->store->zones;
	if (super->zones.size)
		super->version = FORMAT_VERSION_ZONES;
	r = super_write(wal, super);
	if (r || !zoned)
		return r;
	super->generation++;
	return super_write(wal, super);
}

void store_unset_zones(struct store *store)
{
	static const struct format_zones none;

	store->zones = store->wal ? store->wal->super.zones : none;
}

/* Does the superblock's geometry fit the device and the table line? */
static int super_check(struct store *store, const struct format_super *super, char **error)
{
	switch (super->block_size) {
	case 512:
		*error = "The store on the backing device has block_size=512";
		break;
	case 1024:
		*error = "The store on the backing device has block_size=1024";
		break;
	case 2048:
		*error = "The store on the backing device has block_size=2048";
		break;
	default:
		*error = "The store on the backing device has block_size=4096";
	}
	if (super->block_size != store->block_size)
		return -EINVAL;
	*error = "Backing device is smaller than when the store on it was used last";
	return super->backing_blocks <= store->bitmap.size ? 0 : -EINVAL;
}

/* The store of a pool's disk: there, or to be made in the disk's area. */
int super_read_pool_disk(struct wal *wal, struct block_device *bdev, bool want_format,
			 void *buf, char **error)
{
	struct store *store = wal->store;
	const char *why;
	u64 pages;
	int r;

	*error = "block_size: of a pool's disks must be 4096";
	if (store->block_size != FORMAT_PAGE)
		return -EINVAL;
	wal->base = pool_area(store, &pages, &wal->fresh);
	if (wal->fresh) {
		r = format_begin(&wal->super, store->bitmap.size, FORMAT_PAGE);
		wal->super.log_pages = pages - FORMAT_SUPERS;
		return r;
	}
	*error = "store=format: the pool has a disk of that name: see david pool drop";
	if (want_format)
		return -EINVAL;
	*error = "Backing device cannot be read";
	r = log_pages_io(bdev, REQ_OP_READ, wal->base, buf, FORMAT_LOOK);
	if (r)
		return r;
	*error = "The disk in the pool is damaged: see david pool check";
	why = format_look(buf, &wal->super) == FORMAT_STORE ? pool_check(store, &wal->super) :
	      "no copy of its superblock is whole";
	if (!why && wal->super.version != FORMAT_VERSION)
		why = "it has packed blocks, which a pool's disks have not";
	if (!why)
		return super_check(store, &wal->super, error);
	DMERR("%pg: disk %s of the pool: %s", bdev, pool_disk_name(store), why);
	return -EUCLEAN;
}

/* Read what is on @bdev, and decide whether to open or format it. */
int super_read(struct wal *wal, struct block_device *bdev, bool want_format,
	       bool may_write, void *buf, char **error)
{
	struct store *store = wal->store;
	u64 pages = bdev_nr_sectors(bdev) / PAGE_SECTORS_4K;
	enum format_found found;
	int r;

	if (pages < FORMAT_PAGES_MIN) {
		*error = "Backing device is too small for a store that lasts: see store=memory";
		return -EINVAL;
	}
	r = log_pages_io(bdev, REQ_OP_READ, 0, buf, FORMAT_LOOK);
	if (r) {
		*error = "Backing device cannot be read";
		return r;
	}
	found = format_look(buf, &wal->super);
	if (found == FORMAT_STORE && !want_format)
		return super_check(store, &wal->super, error);
	if (found == FORMAT_BLANK || want_format) {
		u64 generation = found == FORMAT_STORE ? wal->super.generation : 0;

		*error = "Backing device cannot be written: there is no store on it";
		if (!may_write)
			return -EROFS;
		wal->fresh = true;
		*error = NULL;
		r = format_begin(&wal->super, pages, store->block_size);
		wal->super.generation = generation;
		return r;
	}
	if (found == FORMAT_OTHER_VERSION)
		*error =
"Backing device holds a david store of another version: store=format makes a new one";
	else if (found == FORMAT_BROKEN)
		*error =
"Backing device holds a david store that is broken: see david store check, or store=format";
	else if (!memcmp(buf, POOL_MAGIC, sizeof(POOL_MAGIC) - 1))
		*error = "Backing device holds a david pool: pool=NAME is a disk of it";
	else
		*error =
"Backing device holds something else than a david store: store=format overwrites it";
	return -EINVAL;
}

int wal_check_copy(struct store *store, struct block_device *bdev)
{
	struct wal *wal = store->wal;
	void *page[FORMAT_SUPERS];
	unsigned int i;
	void *buf;
	int r;

	/* The disk is suspended: an allocation must not wait for writes to it. */
	buf = kmalloc(FORMAT_SUPERS * FORMAT_PAGE, GFP_NOIO);
	if (!buf)
		return -ENOMEM;
	for (i = 0; i < FORMAT_SUPERS; i++)
		page[i] = buf + i * FORMAT_PAGE;
	r = wal_page_io(wal, bdev, REQ_OP_READ | REQ_META, 0, page, FORMAT_SUPERS);
	if (!r && (store->failed || !format_is_copy(buf, &wal->super, page_address(wal->page))))
		r = -EINVAL;
	kfree(buf);
	return r;
}
