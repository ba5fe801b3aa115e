// SPDX-License-Identifier: GPL-2.0
/* Which squashed blocks have their checksum kept: see csum-policy.h. */
#include "csum-policy.h"

#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "david.h"

/* The number of a chunk that is none: the superblock is wanted. */
#define WANT_SUPER	U64_MAX

enum csum_type {
	TYPE_UNKNOWN,
	TYPE_OURS,		/* crc32c of 4 KiB */
	TYPE_OTHER,
};

/* btrfs's superblock: fs/btrfs/fs.h, struct btrfs_super_block */
#define SUPER_SECTOR	128
#define SUPER_MAGIC_AT	0x40
#define SUPER_SECTOR_AT	0x90
#define SUPER_TYPE_AT	0xc4
#define SUPER_BYTES	0xc6
static const char super_magic[] = "_BHRfS_M";

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

static u8 type_of(const u8 *super)
{
	__le32 sector;
	__le16 type;

	memcpy(&sector, super + SUPER_SECTOR_AT, sizeof(sector));
	memcpy(&type, super + SUPER_TYPE_AT, sizeof(type));
	return type || le32_to_cpu(sector) != CSUM_UNIT ? TYPE_OTHER : TYPE_OURS;
}

void csum_policy_watch(struct david *d, struct bio *bio, struct bvec_iter iter,
		       unsigned int bytes, bool data)
{
	sector_t first = dm_target_offset(d->ti, bio->bi_iter.bi_sector);
	struct bvec_iter it;
	struct bio_vec bv;
	u8 super[SUPER_BYTES], *to = super;

	if (data && d->csum.mode == CSUM_ON && (first | bio_sectors(bio)) % CSUM_SECTORS &&
	    !READ_ONCE(d->csum.is_misaligned)) {
		WRITE_ONCE(d->csum.is_misaligned, true);
		DMWARN("%s: checksums: a write at sector %llu is not of whole 4 KiB: all is kept",
		       dm_table_device_name(d->ti->table), (u64)first);
	}
	if (likely(iter.bi_sector != SUPER_SECTOR) || bytes < SECTOR_SIZE)
		return;
	iter.bi_size = SUPER_BYTES;
	__bio_for_each_segment(bv, bio, it, iter) {
		memcpy_from_bvec(to, &bv);
		to += bv.bv_len;
	}
	if (!memcmp(super + SUPER_MAGIC_AT, super_magic, 8))
		WRITE_ONCE(d->csum.type, type_of(super));
}

enum csum_policy csum_policy(const struct david *d)
{
	const struct owner_watch *watch = &d->owners;

	if (d->csum.mode == CSUM_ON)
		return READ_ONCE(d->csum.is_misaligned) ? CSUM_REFUSE : CSUM_KEEP;
	if (d->csum.mode == CSUM_OFF)
		return CSUM_IGNORE;
	if (!watch->watch_btrfs || !owner_is_btrfs(watch))
		return CSUM_IGNORE;
	/* Units are the disk's, too, and its superblock is in this target. */
	if (d->ti->begin)
		return CSUM_REFUSE;
	switch (READ_ONCE(d->csum.type)) {
	case TYPE_OURS:
		return CSUM_KEEP;
	case TYPE_OTHER:
		return CSUM_REFUSE;
	default:
		return CSUM_UNKNOWN;
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
	struct store *store = d->store;
	u8 type = TYPE_OTHER;
	struct rt_range r;
	u8 *page;

	page = kmalloc(PAGE_SIZE, GFP_NOIO);
	if (!page)
		return BLK_STS_RESOURCE;
	store_lookup(store, SUPER_SECTOR >> store->block_shift, &r);
	if (r.kind == RT_STORED && !read_block(d, r.value, page) &&
	    !memcmp(page + SUPER_MAGIC_AT, super_magic, 8))
		type = type_of(page);
	kfree(page);
	/* A superblock that was written meanwhile knows better. */
	cmpxchg(&d->csum.type, TYPE_UNKNOWN, type);
	return BLK_STS_OK;
}

blk_status_t csum_policy_fetch(struct david *d, const struct crct_want *want)
{
	return want->number == WANT_SUPER ? read_super(d) : csum_fetch(&d->csum_io, want);
}
