// SPDX-License-Identifier: GPL-2.0
/* What superblocks say of the file system that lies on a device: see owner.h. */
#include "owner.h"

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/buffer_head.h>
#include <linux/highmem.h>
#include <linux/pagemap.h>
#include "../compat/compat.h"
#include "../store/csum.h"

/* btrfs's superblock: fs/btrfs/fs.h, struct btrfs_super_block. fs_end() looks at its magic. */
#define BTRFS_SECTOR_AT	0x90
#define BTRFS_TYPE_AT	0xc4

static enum owner_csum csum_type_of(const u8 *super)
{
	__le32 sector;
	__le16 type;

	memcpy(&sector, super + BTRFS_SECTOR_AT, sizeof(sector));
	memcpy(&type, super + BTRFS_TYPE_AT, sizeof(type));
	return type || le32_to_cpu(sector) != CSUM_UNIT ? OWNER_CSUM_OTHER : OWNER_CSUM_OURS;
}

void owner_enter_super(struct owner_dev *dev, enum fs_kind kind, const void *super)
{
	u64 end = super ? fs_end(kind, super) : 0;

	WRITE_ONCE(dev->fs_end[kind], end);
	if (kind == FSEND_BTRFS)
		WRITE_ONCE(dev->csum_type, end ? csum_type_of(super) : OWNER_CSUM_UNKNOWN);
}

/* With zones btrfs's superblock lies elsewhere: owner_see_zoned_super(). */
static bool lies_here(enum fs_kind kind, struct block_device *bdev)
{
	return kind != FSEND_BTRFS || !bdev || !bdev_is_zoned(bdev);
}

void owner_see_zoned_super(struct owner_dev *dev, struct bio *bio)
{
	struct bvec_iter iter = bio->bi_iter, it;
	u8 super[FS_SUPER_BYTES], *to = super;
	struct bio_vec bv;

	if (iter.bi_size < FS_SUPER_BYTES)
		return;
	iter.bi_size = FS_SUPER_BYTES;
	__bio_for_each_segment(bv, bio, it, iter) {
		memcpy_from_bvec(to, &bv);
		to += bv.bv_len;
	}
	owner_enter_super(dev, FSEND_BTRFS, super);
}

void owner_see_super(struct owner_dev *dev, struct bio *bio, sector_t sector)
{
	sector_t end = sector + bio_sectors(bio);
	u8 super[FS_SUPER_BYTES], *to;
	struct bvec_iter iter, it;
	struct bio_vec bv;
	enum fs_kind kind;
	u32 at;

	for (kind = 0; kind < FSEND_KINDS; kind++) {
		at = fs_super_sector(kind);
		if (at < sector || at >= end || !lies_here(kind, READ_ONCE(dev->bdev)))
			continue;
		iter = bio->bi_iter;
		bio_advance_iter(bio, &iter, (at - sector) << SECTOR_SHIFT);
		iter.bi_size = FS_SUPER_BYTES;
		to = super;
		__bio_for_each_segment(bv, bio, it, iter) {
			memcpy_from_bvec(to, &bv);
			to += bv.bv_len;
		}
		owner_enter_super(dev, kind, super);
	}
}

/* Has the block with the FS_SUPER_BYTES at @at of @folio been read, if not all of @folio? */
static bool is_block_read(struct folio *folio, size_t at)
{
	struct buffer_head *bh;
	size_t begin = 0;
	bool is_read;

	if (!folio_trylock(folio))
		return false;
	bh = folio_buffers(folio);
	is_read = bh;
	for (; is_read && begin < at + FS_SUPER_BYTES; bh = bh->b_this_page) {
		is_read = begin + bh->b_size <= at || buffer_uptodate(bh);
		begin += bh->b_size;
	}
	folio_unlock(folio);
	return is_read;
}

void owner_see_cached(struct owner_dev *dev, struct block_device *bdev)
{
	struct address_space *mapping = compat_bdev_inode(bdev)->i_mapping;
	struct folio *folio;
	enum fs_kind kind;
	size_t in_folio;
	loff_t at;
	void *p;

	for (kind = 0; kind < FSEND_KINDS; kind++) {
		if (!lies_here(kind, bdev))
			continue;
		at = (loff_t)fs_super_sector(kind) << SECTOR_SHIFT;
		folio = filemap_get_folio(mapping, at >> PAGE_SHIFT);
		if (IS_ERR_OR_NULL(folio))
			continue;
		in_folio = offset_in_folio(folio, at);
		/* ext4 holds the buffer of its superblock; the page may not be marked as read. */
		if (folio_test_uptodate(folio) || is_block_read(folio, in_folio)) {
			p = kmap_local_folio(folio, in_folio);
			owner_enter_super(dev, kind, p);
			kunmap_local(p);
		}
		folio_put(folio);
	}
}
