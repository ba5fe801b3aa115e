// SPDX-License-Identifier: GPL-2.0
/* Which squashed blocks have their checksum kept: see csum-policy.h. */
#include "csum-policy.h"

#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "david.h"

/* The number of a chunk that is none: the superblock is wanted. */
#define WANT_SUPER	U64_MAX

/* btrfs's superblock */
#define SUPER_SECTOR	128

static const char * const mode_names[CSUM_MODES] = {
	[CSUM_AUTO] = "auto",
	[CSUM_ON] = "on",
	[CSUM_OFF] = "off",
};

const char *csum_mode_name(enum csum_mode mode)
{
	return mode_names[mode];
}

int csum_mode_parse(const char *name)
{
	return match_string(mode_names, ARRAY_SIZE(mode_names), name);
}

void csum_policy_init(struct david *d)
{
	d->owners.watch_btrfs = d->csum.mode == CSUM_AUTO &&
			       (d->classify == CLASSIFY_AUTO || d->classify == CLASSIFY_EXPLICIT);
	d->owners.may_have_csums = d->csum.mode == CSUM_ON;
}

void csum_policy_watch(struct david *d, const struct bio *bio)
{
	sector_t first = dm_target_offset(d->ti, bio->bi_iter.bi_sector);

	if (d->csum.mode == CSUM_ON && (first | bio_sectors(bio)) % CSUM_SECTORS &&
	    !READ_ONCE(d->csum.is_misaligned)) {
		WRITE_ONCE(d->csum.is_misaligned, true);
		DMWARN("%s: checksums: a write at sector %llu is not of whole 4 KiB: all is kept",
		       dm_table_device_name(d->ti->table), (u64)first);
	}
}

enum csum_policy csum_policy(const struct david *d, const struct owner_top *top)
{
	bool is_disk = top->dev == &d->owners.disk;

	if (d->csum.mode == CSUM_ON)
		return READ_ONCE(d->csum.is_misaligned) ? CSUM_REFUSE : CSUM_KEEP;
	if (d->csum.mode == CSUM_OFF)
		return CSUM_IGNORE;
	if (!d->owners.watch_btrfs || !owner_is_btrfs(top->dev))
		return CSUM_IGNORE;
	/* Units are the file system's, too. The disk's superblock is in this target. */
	if (!top->is_aligned || (is_disk && d->ti->begin))
		return CSUM_REFUSE;
	switch (READ_ONCE(top->dev->csum_type)) {
	case OWNER_CSUM_OURS:
		return CSUM_KEEP;
	case OWNER_CSUM_OTHER:
		return CSUM_REFUSE;
	default:
		/* Where a volume begins on this disk nobody says: its superblock must come by. */
		return is_disk ? CSUM_UNKNOWN : CSUM_REFUSE;
	}
}

void csum_policy_want(struct crct_want *want)
{
	want->number = WANT_SUPER;
}

/* The store's block at @place into @page; 0 or an error. */
static int read_block(struct david *d, u64 place, void *page)
{
	struct bio_vec bv;
	struct bio bio;
	int error;

	bio_init(&bio, d->dev->bdev, &bv, 1, REQ_OP_READ | REQ_META | REQ_SYNC);
	bio.bi_iter.bi_sector = place << d->store->block_shift;
	__bio_add_page(&bio, virt_to_page(page), d->store->block_size, offset_in_page(page));
	error = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return error;
}

static blk_status_t read_super(struct david *d)
{
	struct owner_dev *disk = &d->owners.disk;
	struct store *store = d->store;
	struct rt_range r;
	u8 *page;

	page = kmalloc(PAGE_SIZE, GFP_NOIO);
	if (!page)
		return BLK_STS_RESOURCE;
	store_lookup(store, SUPER_SECTOR >> store->block_shift, &r);
	/* A superblock that was written meanwhile knows better. */
	if (r.kind == RT_STORED && !read_block(d, r.value, page) &&
	    READ_ONCE(disk->csum_type) == OWNER_CSUM_UNKNOWN)
		owner_enter_super(disk, FSEND_BTRFS, page);
	kfree(page);
	cmpxchg(&disk->csum_type, OWNER_CSUM_UNKNOWN, OWNER_CSUM_OTHER);
	return BLK_STS_OK;
}

blk_status_t csum_policy_fetch(struct david *d, const struct crct_want *want)
{
	return want->number == WANT_SUPER ? read_super(d) : csum_fetch(&d->csum_io, want);
}
