/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows differences between kernels. The code is written to the
 * newest interface; what older kernels lack is filled in here. Which kernel has what is
 * found out by compiling (compat/probe.sh), as distributions take over changes from
 * newer kernels: HAVE_... are the parts of compat/parts.c that compile.
 */
#ifndef DM_DAVID_COMPAT_H
#define DM_DAVID_COMPAT_H

#include <linux/blkdev.h>
#include <linux/dcache.h>
#include <linux/device-mapper.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/workqueue.h>
#include "found.h"

/*
 * Do these operations say that a file system holds a block device?
 *
 * Newer kernels keep fs_holder_ops to themselves, and the kernel's symbol table tells whose
 * the operations are: with a module's function the module's name would follow. Where it
 * does not (no CONFIG_KALLSYMS, or another name), nobody is taken for a file system.
 */
#if defined(HAVE_FS_HOLDER_OPS)
static inline bool compat_of_fs(const struct blk_holder_ops *ops)
{
	return ops == &fs_holder_ops;
}
#elif !defined(HAVE_BD_SUPER)
static inline bool compat_of_fs(const struct blk_holder_ops *ops)
{
	/* The answers of before: only compared, and the first is part of the kernel's image. */
	static const struct blk_holder_ops *yes, *no;
	char name[24];

	if (!ops || ops == READ_ONCE(no))
		return false;
	if (ops == READ_ONCE(yes))
		return true;
	snprintf(name, sizeof(name), "%ps", READ_ONCE(ops->mark_dead));
	if (strcmp(name, "fs_bdev_mark_dead")) {
		WRITE_ONCE(no, ops);
		return false;
	}
	WRITE_ONCE(yes, ops);
	return true;
}
#endif

/*
 * The superblock that has @bdev mounted, or NULL. Where it is not NULL it may
 * be read, but only inside the caller's RCU read-side section: superblocks
 * are freed after a grace period. Up to 6.16 btrfs claims its devices in another way
 * and is never reported.
 */
static inline struct super_block *compat_bdev_super(struct block_device *bdev)
{
#ifdef HAVE_BD_SUPER
	return READ_ONCE(bdev->bd_super);
#else
	void *holder;

	if (!compat_of_fs(READ_ONCE(bdev->bd_holder_ops)))
		return NULL;
	holder = READ_ONCE(bdev->bd_holder);
	/* Pairs with the order in which a claim is ended and a new one made. */
	smp_rmb();
	if (!compat_of_fs(READ_ONCE(bdev->bd_holder_ops)))
		return NULL;
	/*
	 * A file system may also hold with its type, for several superblocks: erofs does.
	 * Types are static; a superblock is allocated.
	 */
	if (!virt_addr_valid(holder) || !folio_test_slab(virt_to_folio(holder)))
		return NULL;
	return holder;
#endif
}

/*
 * Does btrfs copy what is written by direct I/O? The pages of copies belong to nobody: such
 * data is stored.
 */
static inline bool compat_btrfs_copies(void)
{
#ifdef HAVE_DIO_BOUNCE
	return true;
#else
	return false;
#endif
}

#if !defined(for_each_alias) && defined(HAVE_D_ALIAS)
#define for_each_alias(dentry, inode) \
	hlist_for_each_entry(dentry, &(inode)->i_dentry, d_alias)
#elif !defined(for_each_alias)
#define for_each_alias(dentry, inode) \
	hlist_for_each_entry(dentry, &(inode)->i_dentry, d_u.d_alias)
#endif

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
#ifdef HAVE_LIMITS_COMMIT
	struct queue_limits lim = queue_limits_start_update(q);

	lim.max_write_zeroes_sectors = write_zeroes ? UINT_MAX >> SECTOR_SHIFT : 0;
#ifdef HAVE_WZEROES_UNMAP
	/* Of the backing device; the kernel wants it to be the same as the one above, or none. */
	lim.max_hw_wzeroes_unmap_sectors = 0;
#endif
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
#ifdef HAVE_LIMITS_COMMIT
	limits->features &= ~(BLK_FEAT_ROTATIONAL | BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA);
	if (rotational)
		limits->features |= BLK_FEAT_ROTATIONAL;
#endif
}

/* The inode of a block device: its reference keeps @bdev's memory, not the device. */
static inline struct inode *compat_bdev_inode(struct block_device *bdev)
{
#ifdef HAVE_BD_MAPPING
	return bdev->bd_mapping->host;
#else
	return bdev->bd_inode;
#endif
}

/* Is @bdev an array with parity, or does it lie on one? */
static inline bool compat_has_parity(struct block_device *bdev)
{
#ifdef HAVE_LIMITS_COMMIT
	return bdev_get_queue(bdev)->limits.features & BLK_FEAT_RAID_PARTIAL_STRIPES_EXPENSIVE;
#else
	return bdev_get_queue(bdev)->limits.raid_partial_stripes_expensive;
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
#ifdef HAVE_LIMITS_COMMIT
	/* Else the kernel has a limit of its own. */
	limits->max_user_sectors = sectors;
#endif
}

/* Older kernels' queues are of each CPU unless they say otherwise. */
#ifndef HAVE_WQ_PERCPU
#define WQ_PERCPU	0
#endif

#ifndef HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *timer),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/*
 * Zoned disks. Where the kernel cannot have them as targets, compat_has_zones() is false, and the
 * target is none that knows zones.
 */
#if defined(HAVE_ZONES_LATER) || defined(HAVE_ZONES_FIRST)

static inline void compat_set_zoned(struct target_type *type, dm_report_zones_fn report)
{
	type->features |= DM_TARGET_ZONED_HM;
	type->report_zones = report;
}

static inline bool compat_has_zones(void)
{
	return true;
}

/* Report @zone, which is the next one. Returns 0 or an error. */
static inline int compat_report_zone(struct dm_report_zones_args *args, struct blk_zone *zone)
{
	args->next_sector = zone->start + zone->len;
#ifdef HAVE_ZONES_LATER
	if (!args->cb)
		return disk_report_zone(args->disk, zone, args->zone_idx++, args->rep_args);
	return args->cb(zone, args->zone_idx++, args->data);
#else
	return args->orig_cb(zone, args->zone_idx++, args->orig_data);
#endif
}

static inline sector_t compat_report_from(const struct dm_report_zones_args *args)
{
	return args->next_sector;
}

/* Calls @see for each zone of @bdev. Returns their number or an error. Sleeps. */
static inline int compat_see_zones(struct block_device *bdev,
				   int (*see)(struct blk_zone *, unsigned int, void *), void *data)
{
	return blkdev_report_zones(bdev, 0, UINT_MAX, see, data);
}

/* A reset of all zones comes as one reset for each. */
static inline void compat_split_reset_all(struct dm_target *ti)
{
	ti->zone_reset_all_supported = false;
}
#else
static inline void compat_set_zoned(struct target_type *type,
				    int (*report)(struct dm_target *, struct dm_report_zones_args *,
						  unsigned int))
{
}

static inline bool compat_has_zones(void)
{
	return false;
}

static inline int compat_report_zone(struct dm_report_zones_args *args, struct blk_zone *zone)
{
	return -EOPNOTSUPP;
}

static inline sector_t compat_report_from(const struct dm_report_zones_args *args)
{
	return 0;
}

static inline int compat_see_zones(struct block_device *bdev,
				   int (*see)(struct blk_zone *, unsigned int, void *), void *data)
{
	return -EOPNOTSUPP;
}

static inline void compat_split_reset_all(struct dm_target *ti)
{
}
#endif

#endif
