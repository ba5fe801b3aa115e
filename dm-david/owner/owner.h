/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Evidence from the pages of a request. Two things are asked. Who owns the page that a block is
 * written from? Is the disk mounted by this host?
 *
 * A page of the page cache says to which inode it belongs. That is the modern form of the explicit
 * notification of David (FAST 2011, section 3.2), and needs no change of the kernel. A page that
 * belongs to nobody is no evidence of data.
 *
 * The buffer of direct I/O is no evidence by itself: a process's anonymous page, a page of a file
 * elsewhere, or of any file. mkfs.xfs, xfs_repair and guests write metadata by direct I/O. A buffer
 * counts as data only if the way from a mounted file system is known: this host has the disk
 * mounted; nobody but the file system has it open, so nobody writes past the file system; and no
 * other driver has the page in hand (hands.h), so the file that is written is not a disk of
 * somebody else. Then only the file system writes metadata, and it does so from pages of its own.
 *
 * Locking: inodes, mappings and superblocks are read under RCU. RAW rules may take rename_lock and
 * an inode's i_lock. Functions sleep only where they say so.
 */
#ifndef DM_DAVID_OWNER_H
#define DM_DAVID_OWNER_H

#include <linux/blk_types.h>
#include "../../classifier/fsend.h"
#include "../uapi/dm-david.h"

struct address_space;
struct folio;
struct inode;
struct raw;

enum owner_csum {
	OWNER_CSUM_UNKNOWN,
	OWNER_CSUM_OURS,		/* crc32c of 4 KiB */
	OWNER_CSUM_OTHER,
};

/* A device that a file system may be mounted on: a fake disk, or what lies on one (stack.h). */
struct owner_dev {
	struct block_device *bdev;
	const void *btrfs_holder;	/* what btrfs claims block devices with; NULL until seen */
	u64 fs_end[FSEND_KINDS];	/* sectors, by the superblocks written there; 0: unknown */
	int csum_type;			/* enum owner_csum, by btrfs's superblock */
};

/* Where a request was sent before layers passed it on. */
struct owner_top {
	struct owner_dev *dev;		/* the fake disk itself, or a device that lies on it */
	u64 offset;			/* added to a sector of the target: the sector of @dev */
	bool is_aligned;		/* 4 KiB units of @dev are units of the fake disk */
	bool is_direct;			/* it was sent as direct I/O */
	bool was_data;			/* all of it, where a mirror has sent it first */
};

/* A file system, a journal, or swap says that the content matters. */
static inline bool owner_is_marked(blk_opf_t opf)
{
	return opf & (REQ_META | REQ_PRIO | REQ_SWAP);
}

/*
 * The pages are the buffer of somebody's direct I/O. (REQ_SYNC alone is also write-back's, and a
 * journal's requests are marked.)
 */
static inline bool owner_is_direct(blk_opf_t opf)
{
	return opf & REQ_IDLE;
}

#define OWNER_SEEN	8u

/* What is known about one fake disk's mounts. */
struct owner_watch {
	struct owner_dev disk;		/* the fake disk itself */
	bool watch_btrfs;		/* a btrfs on this disk sets @may_have_csums */
	bool may_have_csums;		/* data may need its checksums kept: csum-policy.h */
	bool may_share;			/* its file system may give a file the blocks of another */
	const struct raw *raw;		/* RAW rules: which data is kept nevertheless */
	struct owner_dev *seen[OWNER_SEEN];	/* the first devices on it that wrote */
};

/* One request's memory of the page before: neighbours mostly share an owner. */
struct owner_cache {
	struct address_space *mapping;
	enum david_evidence evidence;
	unsigned long end;		/* @evidence is valid for pages with index < end */
};

static inline void owner_cache_init(struct owner_cache *cache)
{
	cache->mapping = NULL;
}

/*
 * The evidence of @page in a write that was sent to @top and has reached the disk of @watch. RAW
 * rules may take rename_lock and the inode's i_lock. Does not sleep. Process context.
 */
enum david_evidence owner_evidence(struct owner_watch *watch, const struct owner_top *top,
				   struct owner_cache *cache, struct page *page);

/* Has a file system @dev mounted? @bio was sent to it. Any context but NMI. */
bool owner_has_mounted(struct owner_dev *dev, struct bio *bio);

/* The end of the file system that has @dev mounted, in sectors; 0 if it is not known. */
u64 owner_fs_end(const struct owner_dev *dev);

/*
 * @bio is a write at @sector of @dev, below FS_SUPERS_END. Remember what the superblocks in it say.
 * Any context but NMI.
 */
void owner_see_super(struct owner_dev *dev, struct bio *bio, sector_t sector);

/*
 * btrfs on a disk with zones has its superblock at sector 0 if that is conventional. Else it writes
 * each one behind the one before, in the first two zones. owner_see_super() does not look for it
 * there. @bio is a write to such a place: it begins with a superblock, or nothing is known any
 * more. Any context but NMI.
 */
void owner_see_zoned_super(struct owner_dev *dev, struct bio *bio);

/*
 * The same as owner_see_super() for superblocks that are in the cache of @bdev, which is @dev's.
 * Reads nothing: @bdev may be suspended, and who asks hold locks. Process context.
 */
void owner_see_cached(struct owner_dev *dev, struct block_device *bdev);

/*
 * Remember what a stored superblock of @kind says of @dev. @super has FS_SUPER_BYTES of it. With
 * NULL none is stored, and what was known is forgotten.
 */
void owner_enter_super(struct owner_dev *dev, enum fs_kind kind, const void *super);

/*
 * If a read into @folio fills the page cache of a regular file on @watch's disk, return its inode.
 * Otherwise NULL. The caller is in an RCU read-side section.
 */
struct inode *owner_of_read(struct owner_watch *watch, struct folio *folio);

/*
 * Has btrfs @dev mounted? Some kernels do not tell (compat.h). There it is false until a read or a
 * write has shown how btrfs claims disks.
 */
bool owner_is_btrfs(const struct owner_dev *dev);

/*
 * May the file system on the disk give a file the blocks of another one? True if that is not known.
 * Process context.
 */
bool owner_may_share(const struct owner_watch *watch);

/*
 * A copy of data with checksums has been written to the disk: sets @may_have_csums. False: they
 * cannot be kept here.
 */
bool owner_expect_csums(struct owner_watch *watch);

void owner_learn_holder(struct owner_watch *watch, struct bio *bio);

/*
 * Learn from a read how btrfs claims its device. When btrfs mounts a disk, it first reads its trees
 * into pages that it owns. Cheap where there is nothing to learn.
 */
static inline void owner_learn(struct owner_watch *watch, struct bio *bio)
{
	const void *holder = READ_ONCE(watch->disk.bdev->bd_holder);

	if (unlikely(holder && holder != READ_ONCE(watch->disk.btrfs_holder)))
		owner_learn_holder(watch, bio);
}

#endif
