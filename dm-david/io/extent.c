// SPDX-License-Identifier: GPL-2.0
/* Where the mounted file system ends: see extent.h. */
#include "extent.h"

#include <linux/bio.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "david.h"

static void enter_end(struct david *d, enum fs_kind kind, const void *super)
{
	WRITE_ONCE(d->owners.fs_end[kind], super ? fs_end(kind, super) : 0);
}

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
		enter_end(d, kind, read_stored(d, sector, buf) ?
			       buf + ((sector & mask) << SECTOR_SHIFT) : NULL);
	}
	kfree(buf);
	memalloc_noio_restore(noio);
}

void extent_see(struct david *d, struct bio *bio, sector_t sector)
{
	sector_t end = sector + bio_sectors(bio);
	u8 super[FS_SUPER_BYTES], *to;
	struct bvec_iter iter, it;
	struct bio_vec bv;
	enum fs_kind kind;
	u32 at;

	for (kind = 0; kind < FSEND_KINDS; kind++) {
		at = fs_super_sector(kind);
		if (at < sector || at >= end)
			continue;
		iter = bio->bi_iter;
		bio_advance_iter(bio, &iter, (at - sector) << SECTOR_SHIFT);
		iter.bi_size = FS_SUPER_BYTES;
		to = super;
		__bio_for_each_segment(bv, bio, it, iter) {
			memcpy_from_bvec(to, &bv);
			to += bv.bv_len;
		}
		enter_end(d, kind, super);
	}
}

bool extent_behind(const struct david *d, sector_t end)
{
	/* The superblock is in this target, or nobody knows. */
	return d->ti->begin || end > owner_fs_end(&d->owners);
}
