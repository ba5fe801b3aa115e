/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows kernel versions. The code is written to the newest
 * interface; what older kernels lack is filled in here.
 */
#ifndef DM_DAVID_COMPAT_H
#define DM_DAVID_COMPAT_H

#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/version.h>

/*
 * The superblock that has @bdev mounted, or NULL. Where it is not NULL it may
 * be read, but only inside the caller's RCU read-side section: superblocks
 * are freed after a grace period. btrfs claims its devices in another way and
 * is never reported.
 */
static inline struct super_block *compat_bdev_super(struct block_device *bdev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	struct super_block *sb;

	if (READ_ONCE(bdev->bd_holder_ops) != &fs_holder_ops)
		return NULL;
	sb = READ_ONCE(bdev->bd_holder);
	/* Pairs with the order in which a claim is ended and a new one made. */
	smp_rmb();
	return READ_ONCE(bdev->bd_holder_ops) == &fs_holder_ops ? sb : NULL;
#else
	return READ_ONCE(bdev->bd_super);
#endif
}

/*
 * Let @q accept WRITE_ZEROES of any size, which device-mapper turns off when
 * the backing device cannot do it: this target needs no backing device for it.
 * Called while the queue is quiet, after every change of table.
 */
static inline void compat_allow_write_zeroes(struct request_queue *q)
{
#ifdef BLK_FEAT_WRITE_CACHE
	struct queue_limits lim = queue_limits_start_update(q);

	lim.max_write_zeroes_sectors = UINT_MAX >> SECTOR_SHIFT;
	WARN_ON_ONCE(queue_limits_commit_update(q, &lim));
#else
	blk_queue_max_write_zeroes_sectors(q, UINT_MAX >> SECTOR_SHIFT);
#endif
}

#endif
