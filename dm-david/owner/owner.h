/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Evidence from the pages of a request: who owns the page that a block is
 * written from, and is a file system mounted on this disk.
 *
 * A page-cache page says to which inode it belongs. That is the modern form of
 * the explicit notification of David (FAST 2011, section 3.2), and needs no
 * change of the kernel. Pages that belong to nobody, or to a process, say
 * nothing by themselves: mkfs.xfs, xfs_repair and guests write metadata from
 * such pages. They count as data only while this host has the disk mounted,
 * since then nobody but the file system writes metadata, from pages of its own.
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

/* What is known about one fake disk's mount. */
struct owner_watch {
	struct block_device *bdev;	/* the fake disk's own */
	const void *btrfs_holder;	/* what btrfs claims block devices with; NULL until seen */
	bool watch_btrfs;		/* a btrfs on this disk sets @may_have_csums */
	bool may_have_csums;		/* data may need its checksums kept: csum-policy.h */
	const struct raw *raw;		/* RAW rules: data that is kept all the same */
	u64 fs_end[FSEND_KINDS];	/* by the superblocks on this disk: extent.h */
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
 * The evidence of @page in a write to the disk of @watch. RAW rules may take rename_lock and the
 * inode's i_lock. Does not sleep. Process context.
 */
enum david_evidence owner_evidence(struct owner_watch *watch, struct owner_cache *cache,
				   struct page *page);

/* The end of the file system that is mounted, in sectors; 0 if it is not known. */
u64 owner_fs_end(const struct owner_watch *watch);

/*
 * The regular file on the disk of @watch that a read into @folio brings into the page
 * cache, or NULL if it is no such read. The caller is in an RCU read-side section.
 */
struct inode *owner_of_read(struct owner_watch *watch, struct folio *folio);

/*
 * Has btrfs this disk mounted? False until owner_learn() has seen how it claims disks, on kernels
 * that do not tell of it otherwise (compat.h).
 */
bool owner_is_btrfs(const struct owner_watch *watch);

/*
 * Learn from a read how btrfs claims its device. When btrfs mounts a disk, it first reads its trees
 * into pages that it owns. Cheap where there is nothing to learn.
 */
void owner_learn(struct owner_watch *watch, struct bio *bio);

#endif
