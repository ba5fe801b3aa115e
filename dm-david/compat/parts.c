// SPDX-License-Identifier: GPL-2.0
/*
 * What dm-david needs of a kernel, in parts: probe.sh compiles each by itself.
 *
 * Parts with the same subject are alternatives: compat.h takes what there is. The others
 * name interfaces that have changed before, or are likely to, as dm-david uses them.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/dcache.h>
#include <linux/device-mapper.h>
#include <linux/exportfs.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/iomap.h>
#include <linux/mempool.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/workqueue.h>
#include <trace/events/block.h>

/* How a disk tells of the file system that has it mounted */

#ifdef HAVE_BD_SUPER	/* mount: a block device's superblock */
static struct super_block *bd_super(struct block_device *bdev)
{
	return bdev->bd_super;
}
#endif

#ifdef HAVE_FS_HOLDER_OPS	/* mount: what a file system holds a block device with */
static bool fs_holds(struct block_device *bdev)
{
	return bdev->bd_holder && bdev->bd_holder_ops == &fs_holder_ops;
}
#endif

#ifdef HAVE_MARK_DEAD	/* mount: the operations of a block device's holder */
static void (*mark_dead(struct block_device *bdev))(struct block_device *, bool)
{
	return bdev->bd_holder ? bdev->bd_holder_ops->mark_dead : NULL;
}
#endif

/* A block device's inode */

#ifdef HAVE_BD_MAPPING	/* bdev-inode: a block device's inode */
static struct inode *bdev_inode(struct block_device *bdev)
{
	return bdev->bd_mapping->host;
}
#endif

#ifdef HAVE_BD_INODE	/* bdev-inode: a block device's inode */
static struct inode *bdev_inode(struct block_device *bdev)
{
	return bdev->bd_inode;
}
#endif

/* A file's names */

#ifdef HAVE_D_ALIAS	/* names: the list of an inode's dentries */
static struct dentry *first_name(struct inode *inode)
{
	return hlist_entry(inode->i_dentry.first, struct dentry, d_alias);
}
#endif

#ifdef HAVE_D_U_ALIAS	/* names: the list of an inode's dentries */
static struct dentry *first_name(struct inode *inode)
{
	return hlist_entry(inode->i_dentry.first, struct dentry, d_u.d_alias);
}
#endif

/* A queue's limits */

#ifdef HAVE_LIMITS_COMMIT	/* limits: queue_limits_commit_update() and features */
static int commit_limits(struct request_queue *q)
{
	struct queue_limits lim = queue_limits_start_update(q);

	lim.max_user_sectors = 1;
	lim.features &= ~(BLK_FEAT_ROTATIONAL | BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA |
			  BLK_FEAT_POLL);
	return queue_limits_commit_update(q, &lim);
}
#endif

#ifdef HAVE_LIMITS_CALLS	/* limits: queue_limits_commit_update() and features */
static void set_limits(struct request_queue *q)
{
	blk_queue_max_write_zeroes_sectors(q, 1);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	blk_queue_flag_clear(QUEUE_FLAG_POLL, q);
	blk_queue_write_cache(q, true, true);
}
#endif

#ifdef HAVE_WZEROES_UNMAP	/* LIMITS-UNMAP: unmapping WRITE_ZEROES */
static void set_unmap(struct queue_limits *lim)
{
	lim->max_hw_wzeroes_unmap_sectors = 0;
}
#endif

/* Zoned targets. Kernels before 6.12 had them in another way, which is not used. */

#ifdef HAVE_ZONES_LATER	/* ZONES: reports of a target's zones */
static int part_report(struct dm_target *ti, struct dm_report_zones_args *args, unsigned int nr)
{
	struct blk_zone zone = { .start = args->next_sector };

	ti->zone_reset_all_supported = false;
	if (bdev_nr_zones(NULL) && blkdev_report_zones(NULL, 0, 1, args->cb, args->data))
		return args->cb(&zone, args->zone_idx, args->data);
	return disk_report_zone(args->disk, &zone, args->zone_idx, args->rep_args);
}

static struct target_type zoned_target = {
	.features = DM_TARGET_ZONED_HM,
	.report_zones = part_report,
};
#endif

#ifdef HAVE_ZONES_FIRST	/* ZONES: reports of a target's zones */
static int part_report(struct dm_target *ti, struct dm_report_zones_args *args, unsigned int nr)
{
	struct blk_zone zone = { .start = args->next_sector };

	ti->zone_reset_all_supported = false;
	if (bdev_nr_zones(NULL) &&
	    blkdev_report_zones(NULL, 0, 1, args->orig_cb, args->orig_data))
		return 0;
	return args->orig_cb(&zone, args->zone_idx, args->orig_data);
}

static struct target_type zoned_target = {
	.features = DM_TARGET_ZONED_HM,
	.report_zones = part_report,
};
#endif

/* Timers */

#ifdef HAVE_HRTIMER_SETUP	/* timer: hrtimer_setup() */
static void set_up(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *timer))
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
#endif

#ifdef HAVE_HRTIMER_INIT	/* timer: hrtimer_setup() */
static void set_up(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *timer))
{
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = function;
}
#endif

/* Work queues of the submitter's CPU must say so */

#ifdef HAVE_WQ_PERCPU	/* WORK-PERCPU: queues of each CPU */
static const int percpu = WQ_PERCPU;
#endif

/* Direct I/O from copies: their pages say nothing */

#ifdef HAVE_DIO_BOUNCE	/* DIO-BOUNCE: direct I/O from copies */
static const int bounce = IOMAP_DIO_BOUNCE;
#endif

/* What no kernel has had in another way since 6.1 */

#ifdef HAVE_REMAP	/* remap: the trace point of layers that send a bio on */
static void part_see(void *unused, struct bio *bio, dev_t from, sector_t sector)
{
}

static int part_hear(struct device *any, dev_t number)
{
	return class_find_device_by_devt(any->class, number) ?
		       register_trace_block_bio_remap(part_see, NULL) :
		       unregister_trace_block_bio_remap(part_see, NULL);
}
#endif

#ifdef HAVE_PAGES	/* pages: the file that a page belongs to */
static struct inode *part_owner(struct page *page)
{
	struct folio *folio = page_folio(page);
	struct address_space *mapping = folio_mapping(folio);
	unsigned long index = folio->index + folio_page_idx(folio, page);

	if (folio_test_anon(folio) || folio_test_slab(folio) || !mapping || !index ||
	    xa_load(&mapping->i_pages, index) != folio)
		return NULL;
	return mapping->host;
}
#endif

#ifdef HAVE_INODES	/* inodes: an inode's number, kind, superblock and file handle */
static bool part_known(struct inode *inode)
{
	struct super_block *sb = inode->i_sb;
	const struct export_operations *ops = sb->s_export_op;
	int (*encode)(struct inode *, __u32 *, int *, struct inode *) = ops->encode_fh;

	return encode && S_ISREG(inode->i_mode) && inode->i_ino && sb->s_magic && sb->s_type &&
	       sb->s_bdev && (sb->s_flags & (SB_ACTIVE | SB_RDONLY)) && IS_NOQUOTA(inode);
}
#endif

#ifdef HAVE_DENTRIES	/* dentries: a name, and the way up from it */
static struct dentry *way_up(struct dentry *dentry)
{
	read_seqlock_excl(&rename_lock);
	read_sequnlock_excl(&rename_lock);
	if (IS_ROOT(dentry) || d_unhashed(dentry) || !dentry->d_name.len ||
	    !dentry->d_name.name[0] || dentry->d_sb->s_root == dentry || !d_inode(dentry))
		return NULL;
	return dentry->d_parent;
}
#endif

#ifdef HAVE_BIOS	/* bios: bios made, cloned and submitted */
static int part_submit(struct block_device *bdev, struct bio *from, struct page *page,
		       struct bio_set *set)
{
	struct bio *bio = bio_alloc_clone(bdev, from, GFP_NOIO, set);
	struct bio_vec vec;
	struct bio own;

	bio_init(&own, bdev, &vec, 1, REQ_OP_READ);
	__bio_add_page(&own, page, PAGE_SIZE, 0);
	bio_reset(bio, bdev, REQ_OP_READ);
	bio_clone_blkg_association(bio, from);
	bio_set_dev(bio, bdev);
	submit_bio_noacct(bio);
	bio_put(bio_alloc_bioset(bdev, 1, REQ_OP_WRITE, GFP_NOIO, set));
	from->bi_status = BLK_STS_NOSPC;
	bio_endio(from);
	return submit_bio_wait(&own);
}
#endif

#ifdef HAVE_DM	/* device-mapper: targets, tables and their devices */
static int part_map(struct dm_target *ti, struct bio *bio)
{
	bio->bi_iter.bi_sector = dm_target_offset(ti, bio->bi_iter.bi_sector);
	return dm_per_bio_data(bio, ti->per_io_data_size) ? DM_MAPIO_SUBMITTED : DM_MAPIO_REMAPPED;
}

static int part_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct mapped_device *md = dm_table_get_md(ti->table);
	struct dm_dev *dev;
	int r = dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &dev);

	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->num_write_zeroes_bios = 1;
	ti->flush_supported = true;
	ti->discards_supported = true;
	dm_table_event(ti->table);
	if (!dm_disk(md)->part0 || dm_suspended(ti) || dm_table_get_size(ti->table) != ti->len)
		dm_put_device(ti, dev);
	return r;
}

static int end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	return DM_ENDIO_DONE;
}

static void part_status(struct dm_target *ti, status_type_t type, unsigned int flags, char *result,
			unsigned int maxlen)
{
}

static int part_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			unsigned int maxlen)
{
	return 0;
}

static int part_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	return fn(ti, NULL, 0, ti->len, data);
}

static void part_hints(struct dm_target *ti, struct queue_limits *limits)
{
	limits->max_discard_sectors = limits->max_sectors;
	limits->max_hw_discard_sectors = limits->max_discard_sectors;
}

static void part_nothing(struct dm_target *ti)
{
}

static struct target_type target = {
	.features = DM_TARGET_NOWAIT,
	.ctr = part_ctr,
	.dtr = part_nothing,
	.map = part_map,
	.end_io = end_io,
	.presuspend = part_nothing,
	.presuspend_undo = part_nothing,
	.postsuspend = part_nothing,
	.resume = part_nothing,
	.status = part_status,
	.message = part_message,
	.iterate_devices = part_devices,
	.io_hints = part_hints,
};
#endif

#ifdef HAVE_HELPERS	/* helpers: match_string(), kstrtouint(), pools, queues and misc devices */
static int part_use(mempool_t *pool, struct bio_set *set, struct miscdevice *misc,
		    const char * const *words)
{
	unsigned int value;

	return match_string(words, 1, "word") + kstrtouint("1", 10, &value) +
	       mempool_init_page_pool(pool, 1, 0) + bioset_init(set, 1, 0, BIOSET_NEED_BVECS) +
	       !alloc_workqueue("name", WQ_MEM_RECLAIM, 0) + misc_register(misc);
}
#endif
