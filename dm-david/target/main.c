// SPDX-License-Identifier: GPL-2.0
/*
 * dm-david: a disk much larger than the storage behind it, for benchmarks.
 *
 * Blocks that carry metadata of a file system are stored on a small backing device, compactly and
 * wherever there is room (store/). The content of data blocks is dropped, and made up again when it
 * is read (io/). A range table (lib/rangetable.c) says which is which for every block of the large
 * disk. What a block carries is decided from evidence (owner/, classifier/). Without evidence the
 * block is stored, as losing metadata is the one thing that must not happen.
 *
 * After David: N. Agrawal, L. Arulraj, A. Arpaci-Dusseau, R. Arpaci-Dusseau,
 * "Emulating Goliath Storage Systems with David", FAST 2011.
 *
 * With a profile, requests take the time that a drive would take (timing/, model/).
 *
 * This file is the target as device-mapper sees it: made and unmade, suspended and resumed, its
 * limits and its status. options.c has the table line, message.c the messages.
 */
#include "../io/david.h"

#include "../portable/crc.h"
#include "../io/extent.h"
#include "../io/implicit.h"
#include "../io/packer.h"
#include "../io/twin.h"
#include "../base/inject.h"

#include <linux/module.h>
#include <linux/rcupdate.h>
#include "../compat/compat.h"
#include "../owner/hands.h"
#include "../owner/stack.h"
#include "grow.h"
#include "iolocks.h"
#include "message.h"
#include "options.h"

/* Features of the disk that is faked. Without a profile: of any that is fast. */

/* The largest request without a profile, sectors: Linux's own limit for disks. */
#define MAX_SECTORS	2560

static bool david_rotational(const struct david *d)
{
	return d->timing && timing_profile(d->timing)->rpm;
}

static bool david_write_cache(const struct david *d)
{
	return !d->timing || !timing_writes_through(d->timing);
}

/*
 * If the modelled drive has no such command, the host writes zeros, which takes modelled time. One
 * with zones has none.
 */
static bool david_write_zeroes(const struct david *d)
{
	return !d->zoned && (!d->timing || timing_profile(d->timing)->write_zeroes);
}

/* Log that the table may have no more ranges: no room in memory, or in the log. */
static void report_table_full(const struct david *d)
{
	const char *name = dm_table_device_name(d->ti->table);
	struct store *store = d->store;
	unsigned long flags;
	bool memory;

	spin_lock_irqsave(&store->lock, flags);
	/* Less than a sixteenth of it is left. */
	memory = store->table_limit &&
		 !store_growth(store, store->table_limit - store->table_limit / 16);
	spin_unlock_irqrestore(&store->lock, flags);
	if (memory) {
		DMERR("%s: table full: it takes its %u MB; what would take more gets ENOSPC", name,
		      d->table_megabytes);
		DMERR("%s: discard, or load a table with a larger table_memory", name);
	} else {
		DMERR("%s: table full: %llu ranges; what would make more gets ENOSPC", name,
		      wal_ranges_limit(store));
		DMERR("%s: discard, or get a longer log by david store export and import", name);
	}
}

/* Raise the events in d->notices, and that of a failed store. Process context. */
static void event_work(struct work_struct *work)
{
	struct david *d = container_of(work, struct david, event);
	struct store *store = d->store;
	int notices = atomic_xchg(&d->notices, 0);
	unsigned long flags;
	u64 used;

	spin_lock_irqsave(&store->lock, flags);
	used = store_used(store);
	spin_unlock_irqrestore(&store->lock, flags);

	if (notices & DAVID_NOTICE_LOW) {
		DMWARN("%s: store low: %llu of %llu blocks of the backing device are used",
		       dm_table_device_name(d->ti->table), used,
		       store_blocks(store));
		dm_table_event(d->ti->table);
	}
	if (notices & DAVID_NOTICE_FULL) {
		DMERR("%s: store full: %llu blocks used; what must be stored gets ENOSPC",
		      dm_table_device_name(d->ti->table), store_blocks(store));
		DMERR("%s: discard, or make the backing device larger: david resize --backing",
		      dm_table_device_name(d->ti->table));
		dm_table_event(d->ti->table);
	}
	if (notices & DAVID_NOTICE_TABLE) {
		report_table_full(d);
		dm_table_event(d->ti->table);
	}
	/* Once. The reason is in the kernel log already: wal_fail(). */
	if (READ_ONCE(store->failed) && !d->failure_warned) {
		d->failure_warned = true;
		dm_table_event(d->ti->table);
	}
}

/* Also frees a target that is half built: pointers not set yet are NULL. */
static void david_free(struct david *d)
{
	if (d->rmw_wq)
		destroy_workqueue(d->rmw_wq);
	if (d->wq)
		destroy_workqueue(d->wq);
	if (d->twin_wq)
		destroy_workqueue(d->twin_wq);
	if (d->store) {
		if (mempool_initialized(&d->bounces))
			david_pools_exit(d);
		implicit_destroy(d->implicit);
		timing_destroy(d->timing);
		zoned_destroy(d);
		atomic64_sub(sizeof(*d) + byfile_bytes(&d->byfile),
			     &d->store->figures->target_bytes);
		store_put(d->store);
	}
	if (d->ends_trails)
		stack_end_trails(disk_devt(d->owners.disk.bdev->bd_disk), -1);
	if (d->dev)
		dm_put_device(d->ti, d->dev);
	byfile_set(&d->byfile, NULL, NULL);
	raw_destroy(&d->raw);
	kfree(d);
}

/* What the table line says of them. */
static int add_faults(struct david *d)
{
	/* Shared by all: two constructors that fail at once may garble the text. */
	static struct fault_error error;
	static char text[sizeof(error.text) + 8];
	int r;

	if (d->age != U64_MAX)
		timing_set_age(d->timing, d->age);
	if (!d->faults)
		return 0;
	if (d->mode == DAVID_MODE_MODEL_ONLY) {
		d->ti->error = "faults: not with mode=model-only, where the backing device answers";
		return -EINVAL;
	}
	r = timing_add_faults(d->timing, d->faults, &error);
	d->faults = NULL;
	if (r) {
		snprintf(text, sizeof(text), "faults: %s", error.text);
		d->ti->error = text;
	}
	return r;
}

static int make_timing(struct david *d)
{
	char **error = &d->ti->error;
	int r;

	if (!d->profile) {
		d->mode = DAVID_MODE_SPEEDUP;
		return 0;
	}
	d->timing = timing_create(d->ti, d->store, d->profile, error);
	d->profile = NULL;
	if (IS_ERR(d->timing)) {
		r = PTR_ERR(d->timing);
		d->timing = NULL;
		return r;
	}
	if (d->mode == MODE_UNSET)
		d->mode = DAVID_MODE_TIMING_ACCURATE;
	r = add_faults(d);
	if (r)
		return r;
	if (d->mode == DAVID_MODE_MODEL_ONLY) {
		r = check_model_only(d, error);
		if (r)
			return r;
	}
	r = timing_set_mode(d->timing, d->mode);
	if (r)
		*error = "Not enough memory for the modelled disk";
	return r;
}

static int make_zones(struct david *d)
{
	const char *name = d->zones;

	d->zones = NULL;
	if (!name && d->timing && timing_profile(d->timing)->zone_size) {
		d->ti->error =
"profile: it is of a drive with zones: give zones=, a zoned device that has the same";
		return -EINVAL;
	}
	return name ? zoned_create(d, name) : 0;
}

/* What the table line says, by itself. */
static int read_words(struct david *d, unsigned int argc, char **argv)
{
	struct dm_target *ti = d->ti;
	int r;

	if (!argc) {
		ti->error = "Backing device is missing: <device> [<count> <name=value>...]";
		return -EINVAL;
	}
	r = options_parse(d, argc - 1, argv + 1, &ti->error);
	if (r)
		return r;
	if (!d->profile && d->mode != MODE_UNSET && d->mode != DAVID_MODE_SPEEDUP) {
		ti->error = "mode: without a profile there is no time: must be speedup";
		return -EINVAL;
	}
	if (!d->profile && (d->age != U64_MAX || d->faults)) {
		ti->error = "faults, age: without a profile there is no drive that could fail";
		return -EINVAL;
	}
	/* There the backing device is all the disk's own. */
	if (d->mode == DAVID_MODE_MODEL_ONLY)
		d->store_kind = STORE_MEMORY;
	if (!d->pool.disk && (d->pool.log_pages || d->pool.reserve != U64_MAX)) {
		ti->error = "pool_reserve, pool_log: only with pool";
		return -EINVAL;
	}
	if (d->pool.disk && d->zones) {
		ti->error = "zones: not with pool";
		return -EINVAL;
	}
	if (d->pool.disk && d->store_kind == STORE_MEMORY) {
		ti->error = "pool: its disks last: not with store=memory or mode=model-only";
		return -EINVAL;
	}
	return 0;
}

static int open_backing(struct david *d, const char *name)
{
	struct dm_target *ti = d->ti;
	int r = dm_get_device(ti, name, dm_table_get_mode(ti->table), &d->dev);

	if (r) {
		ti->error = "Backing device is not there, not a block device, or in use";
		return r;
	}
	if (d->dev->bdev->bd_disk == dm_disk(dm_table_get_md(ti->table))) {
		ti->error = "Backing device is the device itself";
		return -EINVAL;
	}
	if (bdev_is_zoned(d->dev->bdev)) {
		ti->error = "Backing device has zones: content needs a plain device; see zones=";
		return -EINVAL;
	}
	if (bdev_logical_block_size(d->dev->bdev) > d->block_size) {
		ti->error = "block_size is smaller than the backing device's logical block size";
		return -EINVAL;
	}
	d->backing_mask = bdev_logical_block_size(d->dev->bdev) - 1;
	return 0;
}

static int open_store(struct david *d)
{
	struct dm_target *ti = d->ti;
	struct store *store;

	store = store_get(dm_table_get_md(ti->table), ti->begin, d->dev->bdev,
			  dm_table_get_mode(ti->table) & COMPAT_MODE_WRITE, d->block_size,
			  d->store_kind, &d->pool, &ti->error);
	if (IS_ERR(store))
		return PTR_ERR(store);
	d->store = store;
	if (!d->seed_given)
		d->seed = store->seed;
	d->content_key = content_key(d->seed);
	judge_content_changed(d);
	atomic64_add(sizeof(*d) + byfile_bytes(&d->byfile), &store->figures->target_bytes);
	if (d->low_water == U64_MAX)
		d->low_water = grow_blocks(store, d->dev->bdev) / 16;
	if (d->low_water > grow_blocks(store, d->dev->bdev)) {
		ti->error = "low_water: more blocks than the backing device has";
		return -EINVAL;
	}
	return 0;
}

static int make_queues(struct david *d)
{
	bool needs_rmw = d->backing_mask >= SECTOR_SIZE || d->store->share;
	bool needs_twins = d->classify == CLASSIFY_AUTO || d->classify == CLASSIFY_EXPLICIT;

	d->wq = alloc_workqueue("dm-david", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (d->wq && needs_rmw)
		d->rmw_wq = alloc_workqueue("dm-david-rmw", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (d->wq && needs_twins)
		d->twin_wq = alloc_workqueue("dm-david-twins", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (d->wq && (d->rmw_wq || !needs_rmw) && (d->twin_wq || !needs_twins))
		return 0;
	d->ti->error = "Not enough memory for the work queue";
	return -ENOMEM;
}

static int make_checksums(struct david *d)
{
	int r;

	d->csum_io.store = d->store;
	d->csum_io.bdev = d->dev->bdev;
	d->csum_io.wq = d->wq;
	d->csum_io.name = dm_table_device_name(d->ti->table);
	csum_policy_init(d);
	r = csum_create(&d->csum_io, d->csum.mode != CSUM_OFF) ?:
	    exact_create(d->store, &d->exact_work, d->exact_megabytes);
	if (r)
		d->ti->error = "Not enough memory for checksums or exact data";
	return r;
}

/* Who may say what a block is. */
static int make_witnesses(struct david *d)
{
	struct gendisk *disk = dm_disk(dm_table_get_md(d->ti->table));
	int r;

	d->owners.disk.bdev = disk->part0;
	d->owners.raw = &d->store->raw;
	if (d->classify == CLASSIFY_IMPLICIT || d->classify == CLASSIFY_AUTO) {
		d->implicit = implicit_create(d);
		if (!d->implicit) {
			d->ti->error = "Not enough memory for classification";
			return -ENOMEM;
		}
	}
	if (d->classify == CLASSIFY_EXPLICIT)
		d->watch_below = FS_SUPERS_END;
	hands_watch(d->dev->bdev);
	r = stack_end_trails(disk_devt(disk), d->mode != DAVID_MODE_MODEL_ONLY);
	if (r) {
		d->ti->error = "Not enough memory for what lies below";
		return r;
	}
	d->ends_trails = d->mode != DAVID_MODE_MODEL_ONLY;
	return 0;
}

static int make_pools(struct david *d)
{
	int r = david_pools_init(d);

	if (r)
		d->ti->error = "Not enough memory for the pools";
	return r;
}

static struct david *new_target(struct dm_target *ti)
{
	struct david *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return NULL;
	d->ti = ti;
	INIT_WORK(&d->event, event_work);
	seqlock_init(&d->content_lock);
	mutex_init(&d->mode_lock);
	mutex_init(&d->pack_lock);
	d->pack_stopped = true;
	INIT_WORK(&d->twin_work, twin_work);
	options_default(d);
	raw_init(&d->raw);
	return d;
}

static int david_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct david *d = new_target(ti);
	int r;

	if (!d) {
		ti->error = "Not enough memory for the target";
		return -ENOMEM;
	}
	r = read_words(d, argc, argv) ?:
	    open_backing(d, argv[0]) ?:
	    open_store(d) ?:
	    make_timing(d) ?:
	    make_zones(d) ?:
	    make_pools(d) ?:
	    make_queues(d) ?:
	    make_checksums(d) ?:
	    make_witnesses(d);
	if (r) {
		david_free(d);
		return r;
	}
	ti->private = d;
	ti->per_io_data_size = david_io_size;
	ti->num_flush_bios = 1;
	ti->flush_supported = david_write_cache(d);
	if (d->zoned)
		return 0;
	ti->num_discard_bios = 1;
	ti->discards_supported = true;
	ti->num_write_zeroes_bios = 1;
	return 0;
}

static void david_dtr(struct dm_target *ti)
{
	david_free(ti->private);
}

/*
 * Not in ctr, as the table before this one may use the store until now. A disk's content cannot be
 * kept when the mode changes to or from model-only.
 */
static int check_mode(struct dm_target *ti)
{
	struct david *d = ti->private;

	if (d->mode == READ_ONCE(d->store->figures->mode) ||
	    (store_empty(d->store) && !d->store->wal) ||
	    (d->mode != DAVID_MODE_MODEL_ONLY && d->store->figures->mode != DAVID_MODE_MODEL_ONLY))
		return 0;
	DMERR("%s: mode: cannot become %s, as the store is not empty",
	      dm_table_device_name(ti->table), mode_name(d->mode));
	return -EINVAL;
}

static int david_preresume(struct dm_target *ti)
{
	struct david *d = ti->private;
	bool may_write = dm_table_get_mode(ti->table) & COMPAT_MODE_WRITE;
	bool had_zones = d->store->zones.size;
	const char *why;
	int r = store_follow(d->store, d->dev->bdev, &why);

	if (r) {
		DMERR("%s: %s", dm_table_device_name(ti->table), why);
		return r;
	}
	/* A message may be changing it, which found the disk suspended and its store empty. */
	mutex_lock(&d->mode_lock);
	r = check_mode(ti);
	mutex_unlock(&d->mode_lock);
	if (r)
		return r;
	extent_open(d);
	r = zoned_check_store(d) ?:
	    grow_start(d, may_write) ?:
	    rawstore_start(d->store, d->dev->bdev, may_write, &d->raw);
	if (r) {
		if (!had_zones)
			store_unset_zones(d->store);
		return r;
	}
	zoned_restore(d, may_write);
	twin_prepare(d);
	if (d->timing)
		timing_follow(d->timing);
	return 0;
}

static void david_presuspend(struct dm_target *ti)
{
	struct david *d = ti->private;

	packer_stop(d);
	if (d->implicit)
		implicit_stop(d->implicit);
}

static void david_presuspend_undo(struct dm_target *ti)
{
	struct david *d = ti->private;

	packer_start(d);
	if (d->implicit)
		implicit_start(d->implicit);
}

static void david_postsuspend(struct dm_target *ti)
{
	struct david *d = ti->private;

	/* Requests have ended. Work that they have queued may not have. */
	flush_workqueue(d->wq);
	csum_stop(&d->csum_io);
	rawstore_stop(d->store);
	if (d->store->wal)
		wal_stop(d->store);
}

static void david_resume(struct dm_target *ti)
{
	struct david *d = ti->private;
	struct store *store = d->store;
	bool sole = ti->len == dm_table_get_size(ti->table);
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	store->target_sectors = ti->len;
	store->low_water = d->low_water;
	store->table_limit = (u64)d->table_megabytes << 20;
	store->seed = d->seed;
	WRITE_ONCE(store->figures->mode, d->mode);
	spin_unlock_irqrestore(&store->lock, flags);
	compat_finish_limits(dm_disk(dm_table_get_md(ti->table))->queue, sole,
			     david_rotational(d), david_write_cache(d), david_write_zeroes(d));
	csum_resume(&d->csum_io);
	if (d->timing) {
		timing_tell_mode(d->timing, d->mode);
		timing_fit_reach(d->timing);
	}
	packer_start(d);
	if (exact_resume(d->store, d->exact_megabytes))
		queue_work(d->wq, &d->exact_work.work);
	if (d->implicit)
		implicit_start(d->implicit);
}

static void david_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			 char *result, unsigned int maxlen)
{
	switch (type) {
	case STATUSTYPE_INFO:
		print_stats(ti->private, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		options_print(ti->private, result, maxlen);
		break;
	case STATUSTYPE_IMA:
		options_print_ima(ti->private, result, maxlen);
		break;
	}
}

static int david_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct david *d = ti->private;
	sector_t blocks = bdev_nr_sectors(d->dev->bdev) >> d->store->block_shift;

	/* device-mapper takes the zones from there: zoned.h. */
	if (d->zoned)
		return fn(ti, d->zoned->dev, 0, ti->len, data);

	/* Whole blocks: device-mapper asks for no less than whole logical blocks of the target. */
	return fn(ti, d->dev, 0, blocks << d->store->block_shift, data);
}

/* The disk that is faked, and nothing of the backing device. */
static void david_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct david *d = ti->private;
	const struct profile *profile = d->timing ? timing_profile(d->timing) : NULL;

	limits->logical_block_size = profile ? profile->logical_block : SECTOR_SIZE;
	/* Less than a block costs more than a block: it may need the rest of it. */
	limits->physical_block_size = profile ? profile->physical_block : d->block_size;
	limits->physical_block_size = max(limits->physical_block_size, limits->logical_block_size);
	limits->io_min = limits->physical_block_size;
	limits->io_opt = 0;
	limits->alignment_offset = 0;
	limits->chunk_sectors = 0;
	/* Requests are cut for the backing device below this target. */
	limits->seg_boundary_mask = BLK_SEG_BOUNDARY_MASK;
	limits->virt_boundary_mask = 0;
	limits->max_segment_size = UINT_MAX;
	limits->max_segments = USHRT_MAX;
	if (profile && profile->max_segments < USHRT_MAX)
		limits->max_segments = profile->max_segments;
	compat_max_sectors(limits, profile ? max_t(u32, profile->max_sectors, PAGE_SECTORS) :
					     MAX_SECTORS);
	compat_rotational(limits, david_rotational(d));
	limits->discard_granularity = max(d->block_size, limits->logical_block_size);
	limits->discard_alignment = 0;
	limits->max_discard_sectors = UINT_MAX >> SECTOR_SHIFT;
	limits->max_hw_discard_sectors = UINT_MAX >> SECTOR_SHIFT;
	if (d->zoned)
		zoned_limits(d, limits);
}

static struct target_type david_target = {
	.name = "david",
	.version = DAVID_VERSION,
	/* REQ_NOWAIT is obeyed: begin_nowait(), timing_accurate_submit(). */
	.features = DM_TARGET_NOWAIT,
	.module = THIS_MODULE,
	.ctr = david_ctr,
	.dtr = david_dtr,
	.map = david_map,
	.end_io = david_end_io,
	.presuspend = david_presuspend,
	.presuspend_undo = david_presuspend_undo,
	.postsuspend = david_postsuspend,
	.preresume = david_preresume,
	.resume = david_resume,
	.status = david_status,
	.message = david_message,
	.iterate_devices = david_iterate_devices,
	.io_hints = david_io_hints,
};

#ifdef DAVID_PLANT
char *david_plant;
module_param_named(plant, david_plant, charp, 0600);
#endif

static int __init david_init(void)
{
	int r;

	crc_setup();
	stopwatch_setup();
	r = david_ctl_init();
	if (r)
		return r;
	iolocks_watch();
	compat_set_zoned(&david_target, zoned_report);
	r = dm_register_target(&david_target);
	if (r) {
		iolocks_unwatch();
		david_ctl_exit();
	}
	return r;
}

static void __exit david_exit(void)
{
	dm_unregister_target(&david_target);
	stack_exit();
	hands_exit();
	iolocks_unwatch();
	david_ctl_exit();
	/* A task that has unplugged the last disk may still be on its way out of task_unplugs(). */
	synchronize_rcu_tasks();
}

module_init(david_init);
module_exit(david_exit);

MODULE_DESCRIPTION("device-mapper target that fakes a large disk for benchmarks");
MODULE_AUTHOR("The dm-david authors");
MODULE_LICENSE("GPL");
