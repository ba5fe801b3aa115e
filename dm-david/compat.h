/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows kernel versions. The code is written to the newest
 * interface; what older kernels lack is filled in here.
 */
#ifndef DM_DAVID_COMPAT_H
#define DM_DAVID_COMPAT_H

#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
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
 * What device-mapper takes over from the backing devices after it has asked the
 * target for its limits, put right: called while the queue is quiet, after every
 * change of table. WRITE_ZEROES of any size need no backing device here; where
 * @write_zeroes is not set there are none, and the block layer writes zeros instead. The
 * other features are those of the disk that is faked, but where other targets have a
 * part in the device (@sole is not set) device-mapper's mixture stands.
 */
static inline void compat_finish_limits(struct request_queue *q, bool sole, bool rotational,
					bool write_cache, bool write_zeroes)
{
#ifdef BLK_FEAT_WRITE_CACHE
	struct queue_limits lim = queue_limits_start_update(q);

	lim.max_write_zeroes_sectors = write_zeroes ? UINT_MAX >> SECTOR_SHIFT : 0;
	if (sole) {
		lim.features &= ~(BLK_FEAT_ROTATIONAL | BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA |
				  BLK_FEAT_POLL);
		if (rotational)
			lim.features |= BLK_FEAT_ROTATIONAL;
		if (write_cache)
			lim.features |= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA;
	}
	WARN_ON_ONCE(queue_limits_commit_update(q, &lim));
#else
	blk_queue_max_write_zeroes_sectors(q, write_zeroes ? UINT_MAX >> SECTOR_SHIFT : 0);
	if (!sole)
		return;
	blk_queue_flag_clear(QUEUE_FLAG_POLL, q);
	if (rotational)
		blk_queue_flag_clear(QUEUE_FLAG_NONROT, q);
	else
		blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	blk_queue_write_cache(q, write_cache, write_cache);
#endif
}

/* In 6.1 device-mapper has it its own way: see compat_finish_limits(). */
static inline void compat_rotational(struct queue_limits *limits, bool rotational)
{
#ifdef BLK_FEAT_WRITE_CACHE
	limits->features &= ~(BLK_FEAT_ROTATIONAL | BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA);
	if (rotational)
		limits->features |= BLK_FEAT_ROTATIONAL;
#endif
}

/* fmode_t or blk_mode_t, as dm_table_get_mode() returns it */
#ifdef BLK_OPEN_WRITE
#define COMPAT_MODE_WRITE	BLK_OPEN_WRITE
#else
#define COMPAT_MODE_WRITE	FMODE_WRITE
#endif

/* Advertise @sectors as the largest request. */
static inline void compat_max_sectors(struct queue_limits *limits, unsigned int sectors)
{
	limits->max_sectors = sectors;
	limits->max_hw_sectors = sectors;
	limits->max_dev_sectors = 0;
#ifdef BLK_FEAT_WRITE_CACHE
	/* Else the kernel has a limit of its own. */
	limits->max_user_sectors = sectors;
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
