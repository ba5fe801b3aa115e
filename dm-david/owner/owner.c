// SPDX-License-Identifier: GPL-2.0
/*
 * Evidence from page owners and mount state: see owner.h.
 *
 * Inodes, their mappings and superblocks are freed after an RCU grace period,
 * so all looking is done inside one read-side section, and nothing is kept of
 * it but pointers to compare with.
 */
#include "owner.h"

#include <linux/bio.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/printk.h>
#include "../compat/compat.h"
#include "../base/inject.h"
#include "../store/raw.h"
#include "fs.h"
#include "hands.h"
#include "stack.h"

/*
 * A regular file's page that is none of its content. Behind its end ext4 and f2fs have
 * Merkle trees (verity), already while those are being made. And f2fs writes clusters that
 * it has compressed from pages that name the file, but are not in its cache.
 */
static noinline bool has_no_content(struct address_space *mapping, struct folio *folio,
				    unsigned long index, unsigned long end, bool may_be_foreign)
{
	return (index >= end && !INJECTED(behind) && !PLANTED_NODES) ||
	       (may_be_foreign && !INJECTED(compressed) &&
		xa_load(&mapping->i_pages, folio->index) != folio);
}

/*
 * Up to 6.16 btrfs claims its devices with its file system type, which the superblock
 * names too, and then with the superblock. The pointer is only ever compared.
 */
static bool holds_as_btrfs(const struct block_device *bdev, const struct super_block *sb)
{
	const void *holder = READ_ONCE(bdev->bd_holder);

	return sb->s_magic == BTRFS_SUPER_MAGIC && (holder == (void *)sb->s_type || holder == sb);
}

/* A type stays where it is. A superblock does not: compat_bdev_super() tells of it. */
static void learn_holder(struct owner_dev *dev, const struct block_device *bdev,
			 const struct super_block *sb)
{
	if (READ_ONCE(bdev->bd_holder) == (void *)sb->s_type &&
	    READ_ONCE(dev->btrfs_holder) != (void *)sb->s_type)
		WRITE_ONCE(dev->btrfs_holder, sb->s_type);
}

static void learn_csums(struct owner_watch *watch)
{
	if (!watch->watch_btrfs || READ_ONCE(watch->may_have_csums))
		return;
	WRITE_ONCE(watch->may_have_csums, true);
	if (compat_btrfs_copies())
		pr_info_once("dm-david: btrfs copies what is written by direct I/O, on this kernel: such data is stored\n");
}

bool owner_expect_csums(struct owner_watch *watch)
{
	learn_csums(watch);
	return watch->may_have_csums;
}

/* Who has claimed @dev, to compare with; NULL if nobody has. An RCU read-side section. */
static const void *holder_of(const struct owner_dev *dev)
{
	const struct block_device *bdev = READ_ONCE(dev->bdev);

	return bdev ? READ_ONCE(bdev->bd_holder) : NULL;
}

/* The superblock that has @dev mounted, or NULL: compat_bdev_super(). An RCU read-side section. */
static const struct super_block *super_of(const struct owner_dev *dev)
{
	struct block_device *bdev = READ_ONCE(dev->bdev);

	return bdev && READ_ONCE(bdev->bd_holder) ? compat_bdev_super(bdev) : NULL;
}

/* Held as btrfs holds its devices with its type? An RCU read-side section. */
static bool holds_as_type(const struct owner_dev *dev)
{
	const void *holder = holder_of(dev);

	return holder && holder == READ_ONCE(dev->btrfs_holder);
}

bool owner_is_btrfs(const struct owner_dev *dev)
{
	const struct super_block *sb;
	bool found;

	rcu_read_lock();
	found = holds_as_type(dev) || ((sb = super_of(dev)) && sb->s_magic == BTRFS_SUPER_MAGIC);
	rcu_read_unlock();
	return found;
}

bool owner_may_share(const struct owner_watch *watch)
{
	const struct owner_dev *disk = &watch->disk;
	const struct super_block *sb;
	const struct owner_fs *fs;
	bool may;

	if (READ_ONCE(watch->may_share))
		return true;
	rcu_read_lock();
	sb = super_of(disk);
	fs = sb ? owner_fs_of(sb) : NULL;
	if (sb)
		may = fs && fs->shares_blocks;
	else
		may = READ_ONCE(disk->fs_end[FSEND_XFS]) || READ_ONCE(disk->fs_end[FSEND_BTRFS]) ||
		      !(READ_ONCE(disk->fs_end[FSEND_EXT]) || READ_ONCE(disk->fs_end[FSEND_F2FS]));
	rcu_read_unlock();
	return may;
}

/* The superblock of the file that the first page of @bio belongs to, or NULL. */
static const struct super_block *first_super(struct bio *bio)
{
	struct folio *folio = page_folio(bio_page(bio));
	struct address_space *mapping;

	if (folio_test_slab(folio) || folio_test_anon(folio))
		return NULL;
	mapping = folio_mapping(folio);
	return mapping && mapping->host ? mapping->host->i_sb : NULL;
}

bool owner_has_mounted(struct owner_dev *dev, struct bio *bio)
{
	const struct super_block *sb;
	struct block_device *bdev;
	bool has;

	rcu_read_lock();
	bdev = READ_ONCE(dev->bdev);
	has = holds_as_type(dev) || super_of(dev);
	sb = !has && bdev ? first_super(bio) : NULL;
	if (sb && holds_as_btrfs(bdev, sb)) {
		learn_holder(dev, bdev, sb);
		has = true;
	}
	rcu_read_unlock();
	return has;
}

/* A mounted file system that compat_bdev_super() does not see: nothing is said of it, but here. */
static noinline void warn_of_unseen_mount(struct block_device *bdev, const struct super_block *sb)
{
	if (READ_ONCE(bdev->bd_holder) == sb && !compat_bdev_super(bdev))
		pr_warn_once("dm-david: this kernel does not tell which file system holds a disk: data written by direct I/O is stored\n");
}

/* Data, but nobody says of which file. */
static noinline enum david_evidence fileless_evidence(const struct owner_watch *watch)
{
	return raw_any(watch->raw) && raw_has_file(watch->raw, NULL) ? DAVID_EV_RAW :
								       DAVID_EV_ANON;
}

/*
 * Has anybody opened @dev besides the file system that has it mounted? He may write past that: a
 * boot loader, a loop device behind the file system's end.
 */
static bool is_open_elsewhere(const struct owner_dev *dev)
{
	const struct block_device *bdev = READ_ONCE(dev->bdev);

	return (!bdev || atomic_read(&bdev->bd_openers) > 1) && !INJECTED(openers);
}

/*
 * The buffer of direct I/O to @top: data if a file system has it mounted, and the whole way from
 * there is known. Through layers stack.c has asked whose hands @page is in.
 */
static enum david_evidence buffer_evidence(struct owner_watch *watch, const struct owner_top *top,
					   const struct page *page)
{
	const struct owner_dev *dev = top->dev;
	const struct super_block *sb = NULL;
	bool is_btrfs = holds_as_type(dev);

	if (!is_btrfs) {
		sb = super_of(dev);
		/* No file system has the fake disk itself, but somebody has. */
		if (!sb && dev == &watch->disk && holder_of(dev))
			stack_want(dev->bdev);
		/*
		 * Not before mounting is complete (log recovery is over then), and not
		 * while read-only: xfs_repair -d works on such a one.
		 */
		if (!sb || (READ_ONCE(sb->s_flags) & (SB_ACTIVE | SB_RDONLY)) != SB_ACTIVE)
			return DAVID_EV_UNMOUNTED;
		is_btrfs = sb->s_magic == BTRFS_SUPER_MAGIC;
	}
	if (is_btrfs)
		learn_csums(watch);
	if (!top->is_direct || is_open_elsewhere(dev) ||
	    (dev == &watch->disk && hands_have(page)))
		return DAVID_EV_UNMOUNTED;
	return is_btrfs || owner_fs_of(sb) ? fileless_evidence(watch) : DAVID_EV_UNPROVEN;
}

u64 owner_fs_end(const struct owner_dev *dev)
{
	const struct super_block *sb;
	const struct owner_fs *fs;
	u64 end;

	rcu_read_lock();
	if (holds_as_type(dev)) {
		end = READ_ONCE(dev->fs_end[FSEND_BTRFS]);
	} else {
		sb = super_of(dev);
		fs = sb ? owner_fs_of(sb) : NULL;
		end = fs ? READ_ONCE(dev->fs_end[fs->kind]) : 0;
	}
	rcu_read_unlock();
	return end;
}

/*
 * The evidence of a page of @inode, written to @dev. DAVID_EV_ANON: it is a file elsewhere, and so
 * the page is a buffer.
 */
static __always_inline enum david_evidence inode_evidence(struct owner_watch *watch,
							  struct owner_dev *dev,
							  const struct inode *inode,
							  const struct owner_fs *fs)
{
	struct block_device *bdev = READ_ONCE(dev->bdev);
	const struct super_block *sb = inode->i_sb;
	bool btrfs = bdev && holds_as_btrfs(bdev, sb);

	if (btrfs) {
		learn_holder(dev, bdev, sb);
		learn_csums(watch);
	}
	/* Internal inodes first: their mode may be unset. */
	if (fs && fs->is_internal && fs->is_internal(inode))
		return PLANTED_NODES ? DAVID_EV_FILE : DAVID_EV_INTERNAL;
	if (S_ISBLK(inode->i_mode))
		return DAVID_EV_BDEV;
	if (S_ISDIR(inode->i_mode) || S_ISLNK(inode->i_mode))
		return DAVID_EV_DIRECTORY;
	if (!S_ISREG(inode->i_mode))
		return DAVID_EV_INTERNAL;
	/*
	 * A file elsewhere (tmpfs, memfd, hugetlbfs, another disk) that is the
	 * buffer of direct I/O: a guest's memory may be such a file.
	 */
	if (!btrfs && (!bdev || sb->s_bdev != bdev) && !INJECTED(elsewhere))
		return DAVID_EV_ANON;
	if (bdev)
		warn_of_unseen_mount(bdev, sb);
	if (!fs)
		return DAVID_EV_UNPROVEN;
	if (fs->shares_blocks && !READ_ONCE(watch->may_share))
		WRITE_ONCE(watch->may_share, true);
	return DAVID_EV_FILE;
}

/*
 * Has a loop device the file? It holds the content for somebody else, and brings it here in pages
 * of the file as well, where it does no direct I/O: buffered ones do none, and a file system may
 * refuse it or clear a part of a page. Reclaim must not enter the file system below a loop device,
 * so the driver takes these flags from the file, and from no other file are they both taken.
 */
static bool is_disk_of_others(struct address_space *mapping)
{
	return !(mapping_gfp_mask(mapping) & (__GFP_IO | __GFP_FS)) && !INJECTED(hands);
}

enum david_evidence owner_evidence(struct owner_watch *watch, const struct owner_top *top,
				   struct owner_cache *cache, struct page *page)
{
	struct owner_dev *dev = top->dev;
	struct folio *folio = page_folio(page);
	struct address_space *mapping;
	const struct owner_fs *fs;
	enum david_evidence ev;
	unsigned long index, end = ULONG_MAX;

	rcu_read_lock();
	/*
	 * Before all else: from 6.2 on a slab has its own figures where other pages have their
	 * mapping, and may look anonymous.
	 */
	if (unlikely(folio_test_slab(folio))) {
		ev = PLANTED_UNOWNED ? DAVID_EV_FILE : DAVID_EV_UNOWNED;
		goto out;
	}
	if (folio_test_anon(folio)) {
		/* A layer may have dropped REQ_SWAP, as md does in 6.1. */
		ev = folio_test_swapcache(folio) ? DAVID_EV_UNOWNED :
						   buffer_evidence(watch, top, page);
		goto out;
	}
	mapping = folio_mapping(folio);
	index = folio->index + folio_page_idx(folio, page);
	if (mapping && mapping == cache->mapping && index < cache->end) {
		ev = cache->evidence;
		goto out;
	}
	/* Slab, vmalloc and bounce pages have no mapping, swap space no inode. */
	if (!mapping || !mapping->host) {
		ev = PLANTED_UNOWNED ? DAVID_EV_FILE : DAVID_EV_UNOWNED;
		goto out;
	}
	fs = owner_fs_of(mapping->host->i_sb);
	ev = inode_evidence(watch, dev, mapping->host, fs);
	if (ev == DAVID_EV_BDEV && INJECTED(blockdev) && super_of(dev) && index >= PLANTED_FROM) {
		ev = DAVID_EV_FILE;
		goto out;
	}
	if (ev == DAVID_EV_ANON ||
	    (ev == DAVID_EV_FILE && top->is_direct && !INJECTED(elsewhere))) {
		ev = buffer_evidence(watch, top, page);
		/* No page speaks for the next. */
		end = 0;
	} else if (ev == DAVID_EV_FILE) {
		end = DIV_ROUND_UP_ULL(i_size_read(mapping->host), PAGE_SIZE);
		/* The file was longer when another leg of a mirror got this. */
		if (top->was_data && !INJECTED(legs))
			end = max(end, index + 1);
		if (is_disk_of_others(mapping)) {
			ev = DAVID_EV_UNMOUNTED;
			goto out;
		}
		if (has_no_content(mapping, folio, index, end, fs->has_foreign_pages)) {
			ev = DAVID_EV_INTERNAL;
			goto out;
		}
		if (fs->has_foreign_pages)
			end = 0;
		if (raw_any(watch->raw) && raw_has_file(watch->raw, mapping->host))
			ev = DAVID_EV_RAW;
	}
	cache->mapping = mapping;
	cache->evidence = ev;
	cache->end = end;
out:
	rcu_read_unlock();
	return ev;
}

struct inode *owner_of_read(struct owner_watch *watch, struct folio *folio)
{
	struct address_space *mapping;

	/*
	 * A page that is read into the cache is locked, and has no content yet. One that
	 * has may be the buffer, mapped from a file, of a direct read of another file.
	 */
	if (folio_test_slab(folio) || folio_test_anon(folio) || !folio_test_locked(folio) ||
	    folio_test_uptodate(folio))
		return NULL;
	mapping = folio_mapping(folio);
	if (!mapping || !mapping->host ||
	    inode_evidence(watch, &watch->disk, mapping->host,
			   owner_fs_of(mapping->host->i_sb)) != DAVID_EV_FILE)
		return NULL;
	return mapping->host;
}

void owner_learn_holder(struct owner_watch *watch, struct bio *bio)
{
	struct block_device *bdev = watch->disk.bdev;
	const struct super_block *sb;

	if (!bio_has_data(bio))
		return;
	rcu_read_lock();
	sb = first_super(bio);
	if (sb && holds_as_btrfs(bdev, sb)) {
		learn_holder(&watch->disk, bdev, sb);
		learn_csums(watch);
	}
	rcu_read_unlock();
}
