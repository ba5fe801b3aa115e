// SPDX-License-Identifier: GPL-2.0
/* Where the mounted file system ends: see extent.h. */
#include "extent.h"

#include <linux/bio.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "david.h"

/* The store's block with @sector of the target, to @buf. False if it is not stored. */
static bool read_stored(struct david *d, sector_t sector, void *buf)
{
	struct store *store = d->store;
	struct bio_vec bv;
	struct rt_range r;
	struct bio bio;
	int error;

	store_lookup(store, sector >> store->block_shift, &r);
	if (r.kind != RT_STORED)
		return false;
	bio_init(&bio, d->dev->bdev, &bv, 1, REQ_OP_READ | REQ_META | REQ_SYNC);
	bio.bi_iter.bi_sector = r.value << store->block_shift;
	__bio_add_page(&bio, virt_to_page(buf), store->block_size, offset_in_page(buf));
	error = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return !error;
}

void extent_open(struct david *d)
{
	unsigned int mask = (1u << d->store->block_shift) - 1;
	unsigned int noio = memalloc_noio_save();
	void *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);
	enum fs_kind kind;
	u32 sector;

	/* Without memory nothing is known, and direct I/O is kept. */
	for (kind = 0; buf && kind < FSEND_KINDS; kind++) {
		sector = fs_super_sector(kind);
		if (kind == FSEND_BTRFS && d->zoned && !zoned_super_sector(d, &sector)) {
			owner_enter_super(&d->owners.disk, kind, NULL);
			continue;
		}
		owner_enter_super(&d->owners.disk, kind, read_stored(d, sector, buf) ?
			       buf + ((sector & mask) << SECTOR_SHIFT) : NULL);
	}
	kfree(buf);
	memalloc_noio_restore(noio);
}

bool extent_behind(const struct david *d, const struct owner_top *top, sector_t end)
{
	/* The fake disk's superblock is in this target, or nobody knows. */
	return (d->ti->begin && top->dev == &d->owners.disk) ||
	       end + top->offset > owner_fs_end(top->dev);
}
