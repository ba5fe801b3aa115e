// SPDX-License-Identifier: GPL-2.0
/* A fake disk with zones: see zoned.h. */
#include "io.h"

#include "../base/inject.h"
#include "../compat/compat.h"
#include "zoned.h"

#include <linux/blkzoned.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#define RANGES	16	/* of the table, looked at in one hold of the lock */

/* Making one */

/* What the zones of the zoned device are, as they are reported. */
struct zoned_sight {
	struct zone_limits *limits;
	u64 end;
	const char *wrong;
};

static int zoned_see(struct blk_zone *zone, unsigned int index, void *data)
{
	struct zoned_sight *sight = data;
	struct zone_limits *limits = sight->limits;
	bool conventional = zone->type == BLK_ZONE_TYPE_CONVENTIONAL;

	/* Behind the table's end they are no matter. */
	if (zone->start >= limits->sectors)
		return 0;
	if (conventional && index != limits->conventional)
		sight->wrong = "zones: a conventional zone lies behind a sequential one";
	else if (!conventional && zone->type != BLK_ZONE_TYPE_SEQWRITE_REQ)
		sight->wrong = "zones: the device has zones that are neither kind";
	else if (zone->len != limits->zone_size || zone->start != sight->end)
		sight->wrong = "zones: the device's last zone is smaller than the others";
	else if (!conventional && limits->zone_capacity &&
		 limits->zone_capacity != zone->capacity)
		sight->wrong = "zones: the device's zones differ in capacity";
	if (sight->wrong)
		return -EINVAL;
	if (conventional)
		limits->conventional++;
	else
		limits->zone_capacity = zone->capacity;
	sight->end += zone->len;
	return 0;
}

/* The zones of @bdev, for the table's length. */
static int zoned_look(struct david *d, struct block_device *bdev, struct zone_limits *limits)
{
	struct zoned_sight sight = { .limits = limits };
	int r;

	*limits = (struct zone_limits){
		.sectors = d->ti->len,
		.zone_size = bdev_zone_sectors(bdev),
		.max_open = bdev_max_open_zones(bdev),
		.max_active = bdev_max_active_zones(bdev),
		.append_limit = bdev_max_zone_append_sectors(bdev),
	};
	r = compat_see_zones(bdev, zoned_see, &sight);
	if (r < 0) {
		d->ti->error = (char *)sight.wrong ?: "zones: the device does not report its zones";
		return r;
	}
	if (sight.end == limits->sectors)
		return 0;
	d->ti->error = "zones: the table is longer than the device, or ends within a zone";
	return -EINVAL;
}

static int zoned_check(struct david *d, struct block_device *bdev)
{
	char **error = &d->ti->error;

	if (!bdev_is_zoned(bdev))
		*error = "zones: the device has no zones";
	else if (d->mode == DAVID_MODE_MODEL_ONLY)
		*error = "zones: not with mode=model-only, where the backing device answers";
	else if (d->block_size > bdev_logical_block_size(bdev))
		*error =
"zones: block_size must not be larger than a logical block of the zoned device";
	else if (d->timing && !timing_profile(d->timing)->zone_size)
		*error =
"zones: the profile is of a drive without zones: its times are not a zoned drive's";
	else if (d->timing && timing_profile(d->timing)->logical_block !=
			      bdev_logical_block_size(bdev))
		*error =
"zones: the profile's logical_block must be that of the zoned device";
	else
		return 0;
	return -EINVAL;
}

/* Is the profile of another drive than @limits, so that its times are others'? */
static int zoned_check_profile(struct david *d, const struct zone_limits *limits)
{
	const struct profile *profile = timing_profile(d->timing);
	struct zone_limits modelled = {
		.sectors = profile->sectors, .zone_size = profile->zone_size,
		.zone_capacity = profile->zone_capacity,
		.conventional = profile->conventional_zones,
		.max_open = profile->max_open_zones, .max_active = profile->max_active_zones,
	};
	char **error = &d->ti->error;

	zones_normalize(&modelled);
	if (modelled.zone_size != limits->zone_size)
		*error = "zones: the profile's zone_size is not that of the zoned device";
	else if (modelled.zone_capacity != limits->zone_capacity)
		*error = "zones: the profile's zone_capacity is not that of the zoned device";
	else if (modelled.conventional != limits->conventional)
		*error =
"zones: the profile has other conventional_zones, for a disk of this size, than the device";
	else if (modelled.max_open != limits->max_open)
		*error = "zones: the profile's max_open_zones is not that of the zoned device";
	else if (modelled.max_active != limits->max_active)
		*error = "zones: the profile's max_active_zones is not that of the zoned device";
	else if (profile->zone_append_limit && profile->zone_append_limit < limits->append_limit)
		*error =
"zones: the zoned device takes larger appends than the profile's zone_append_limit";
	else if (profile->precondition != PRECONDITION_FRESH)
		*error =
"zones: the profile's precondition must be fresh: what is written, the zones say";
	else
		return 0;
	return -EINVAL;
}

int zoned_create(struct david *d, const char *name)
{
	struct dm_target *ti = d->ti;
	struct zone_limits limits;
	struct zoned *zoned;
	unsigned int i;
	int r;

	ti->error = "zones: not with this kernel: Linux 6.12 or later can";
	if (!compat_has_zones())
		return -EOPNOTSUPP;
	ti->error = "Not enough memory for zones";
	zoned = kzalloc(sizeof(*zoned), GFP_KERNEL);
	if (!zoned)
		return -ENOMEM;
	d->zoned = zoned;
	spin_lock_init(&zoned->lock);
	for (i = 0; i < ZONED_LISTS; i++)
		INIT_LIST_HEAD(&zoned->waiting[i]);
	r = dm_get_device(ti, name, dm_table_get_mode(ti->table), &zoned->dev);
	if (r) {
		zoned->dev = NULL;
		ti->error = "zones: the device is not there, not a block device, or in use";
		return r;
	}
	r = zoned_check(d, zoned->dev->bdev) ?: zoned_look(d, zoned->dev->bdev, &limits);
	if (r)
		return r;
	ti->error = "zones: the device has zones that no drive has, or not enough memory";
	if (INJECTED(zone_limits) && limits.max_open)
		limits.max_open++;
	r = zones_init(&zoned->zones, &limits);
	if (r)
		return r;
	if (d->timing && !INJECTED(zone_profile)) {
		r = zoned_check_profile(d, &zoned->zones.limits);
		if (r)
			return r;
	}
	if ((limits.zone_capacity | limits.zone_size) & block_sector_mask(d)) {
		ti->error = "zones: zones must begin and end with a block of block_size";
		return -EINVAL;
	}
	zoned->turns = kvcalloc(zoned->zones.count, sizeof(*zoned->turns), GFP_KERNEL);
	if (!zoned->turns)
		return -ENOMEM;
	atomic64_add(sizeof(*zoned) + zoned->zones.count *
		     (sizeof(*zoned->turns) + sizeof(*zoned->zones.state)),
		     &d->store->figures->target_bytes);
	return 0;
}

void zoned_destroy(struct david *d)
{
	struct zoned *zoned = d->zoned;

	if (!zoned)
		return;
	if (zoned->turns)
		atomic64_sub(sizeof(*zoned) + zoned->zones.count *
			     (sizeof(*zoned->turns) + sizeof(*zoned->zones.state)),
			     &d->store->figures->target_bytes);
	kvfree(zoned->turns);
	zones_exit(&zoned->zones);
	if (zoned->dev)
		dm_put_device(d->ti, zoned->dev);
	kfree(zoned);
	d->zoned = NULL;
}

void zoned_limits(const struct david *d, struct queue_limits *limits)
{
	struct block_device *bdev = d->zoned->dev->bdev;

	limits->chunk_sectors = bdev_zone_sectors(bdev) << INJECTED(zone_chunk);
	limits->logical_block_size = bdev_logical_block_size(bdev);
	limits->physical_block_size = max(limits->physical_block_size, limits->logical_block_size);
	limits->io_min = limits->physical_block_size;
	/* device-mapper does not see the backing device. */
	limits->dma_alignment = max_t(unsigned int, limits->dma_alignment,
				      bdev_dma_alignment(d->dev->bdev));
	/* Host-managed drives have neither. A reset says what is not needed any more. */
	limits->discard_granularity = 0;
	limits->max_discard_sectors = 0;
	limits->max_hw_discard_sectors = 0;
}

int zoned_report(struct dm_target *ti, struct dm_report_zones_args *args, unsigned int nr_zones)
{
	struct david *d = ti->private;
	struct zoned *zoned = d->zoned;
	struct zone_report report;
	struct blk_zone zone = {};
	unsigned int reported;
	unsigned long flags;
	u32 number;
	int r;

	if (!zoned)
		return -EOPNOTSUPP;
	number = zones_number(&zoned->zones, compat_report_from(args) - ti->begin);
	if (INJECTED(zone_later) && compat_report_from(args) & (zoned->zones.limits.zone_size - 1))
		number++;
	for (reported = 0; reported < nr_zones && number < zoned->zones.count; reported++) {
		spin_lock_irqsave(&zoned->lock, flags);
		zones_report(&zoned->zones, number++, &report);
		spin_unlock_irqrestore(&zoned->lock, flags);
		zone.start = ti->begin + report.start;
		zone.len = report.len;
		zone.capacity = INJECTED(zone_capacity) ? report.len : report.capacity;
		zone.wp = report.wp == U64_MAX ? U64_MAX : ti->begin + report.wp;
		zone.type = report.type;
		zone.cond = report.condition;
		if (INJECTED(zone_kind) && number == zoned->zones.limits.conventional) {
			zone.type = BLK_ZONE_TYPE_SEQWRITE_REQ;
			zone.cond = BLK_ZONE_COND_EMPTY;
			zone.wp = zone.start;
		}
		if (INJECTED(zone_pointer) && zone.wp > zone.start && zone.wp < zone.start +
		    zone.capacity)
			zone.wp += 8;
		if (INJECTED(zone_brim) && zone.wp == zone.start + zone.capacity &&
		    zone.cond == BLK_ZONE_COND_FULL)
			zone.cond = BLK_ZONE_COND_CLOSED;
		r = compat_report_zone(args, &zone);
		if (r)
			return r;
	}
	return 0;
}

/* What the store has of a zone */

/*
 * The blocks from @first on that are there in a row, before @end. *@rest: there are others, and
 * where the last of them ends. *@next: what lies before it needs no look. Sleeps not.
 */
static u64 zoned_scan(struct store *store, u64 first, u64 end, u64 *rest, u64 *next)
{
	struct rt_range ranges[RANGES];
	u64 at = first, row = first;
	bool in_row = true;
	unsigned long flags;
	unsigned int i, nr;

	*rest = 0;
	do {
		spin_lock_irqsave(&store->lock, flags);
		nr = rt_read(&store->table, at, ranges, RANGES);
		spin_unlock_irqrestore(&store->lock, flags);
		for (i = 0; i < nr; i++) {
			*next = ranges[i].start;
			if (ranges[i].start >= end)
				return row - first;
			at = ranges[i].start + ranges[i].len;
			in_row = in_row && ranges[i].start == row;
			if (in_row)
				row = min(at, end);
			else
				*rest = min(at, end);
			/* The range may be of the next zone, too. */
			*next = end;
			if (at >= end)
				return row - first;
		}
	} while (nr);
	*next = U64_MAX;
	return row - first;
}

/* Nothing is in blocks [@first, @end) any more. */
static bool zoned_drop(struct david *d, u64 first, u64 end, gfp_t gfp)
{
	struct rt_range r = { .start = first, .len = end - first, .kind = RT_HOLE };

	if (first >= end)
		return true;
	if (!store_set(d->store, &r, gfp))
		return false;
	if (unlikely(READ_ONCE(d->store->has_csums)))
		csum_invalidate_cached(d->store, first, end - first, gfp);
	return true;
}

/*
 * The zone's state by what the store has. What stands behind a hole was written by the one request
 * that was cut off or failed: it goes. Returns the block from which on to look again. Sleeps.
 */
static u64 zoned_settle(struct david *d, u32 number, bool may_write)
{
	struct zoned *zoned = d->zoned;
	unsigned int shift = d->store->block_shift;
	u64 first = (u64)number << zoned->zones.shift >> shift;
	u64 end = first + (zoned->zones.limits.zone_size >> shift);
	struct zoned_turns *turns = &zoned->turns[number];
	u64 written, rest, next;
	unsigned long flags;
	bool good = true;

	written = zoned_scan(d->store, first, end, &rest, &next);
	if (rest && may_write)
		good = zoned_drop(d, first + written, rest, GFP_NOIO);
	spin_lock_irqsave(&zoned->lock, flags);
	if (INJECTED(zone_restore) && written)
		written--;
	zones_restore(&zoned->zones, number, written << shift);
	if (!good)
		zones_set_readonly(&zoned->zones, number);
	turns->stale = turns->next;
	spin_unlock_irqrestore(&zoned->lock, flags);
	if (!good)
		DMWARN("%s: zone %u is read-only: a failed write could not be undone",
		       dm_table_device_name(d->ti->table), number);
	return next;
}

int zoned_check_store(struct david *d)
{
	struct format_zones zones = {};
	const char *error;
	int r;

	if (d->zoned) {
		zones.size = d->zoned->zones.limits.zone_size;
		zones.capacity = d->zoned->zones.limits.zone_capacity;
		zones.conventional = d->zoned->zones.limits.conventional;
	}
	r = INJECTED(zone_store) ? 0 : store_set_zones(d->store, &zones, &error);
	if (r)
		DMERR("%s: %s", dm_table_device_name(d->ti->table), error);
	return r;
}

void zoned_restore(struct david *d, bool may_write)
{
	struct zoned *zoned = d->zoned;
	unsigned int shift, noio;
	u64 next = 0;
	u32 number;

	if (!zoned)
		return;
	compat_split_reset_all(d->ti);
	if (zoned->restored)
		return;
	zoned->restored = true;
	shift = zoned->zones.shift - d->store->block_shift;
	noio = memalloc_noio_save();
	for (number = zoned->zones.limits.conventional; number < zoned->zones.count; number++) {
		if ((u64)(number + 1) << shift <= next)
			continue;
		next = zoned_settle(d, number, may_write);
		cond_resched();
	}
	memalloc_noio_restore(noio);
}

/* Commands */

static blk_status_t zoned_status(enum zone_error error)
{
	switch (error) {
	case ZONES_OK:
		return BLK_STS_OK;
	case ZONES_TOO_MANY_OPEN:
		return BLK_STS_ZONE_OPEN_RESOURCE;
	case ZONES_TOO_MANY_ACTIVE:
		return BLK_STS_ZONE_ACTIVE_RESOURCE;
	default:
		return BLK_STS_IOERR;
	}
}

static void zoned_count(const struct david_io *io, enum david_zone what)
{
	this_cpu_inc(io->d->store->stats->zones[what]);
}

static struct zoned_turns *zoned_turns_of(const struct david_io *io)
{
	return &io->d->zoned->turns[io->zone];
}

/*
 * A command to the zone with @sector. If it is right and @orders or changes what the store has, the
 * request gets a ticket and END_ZONE.
 */
static blk_status_t zoned_command(struct david_io *io, enum zone_op op, sector_t sector,
				  u32 sectors, struct zone_result *result)
{
	struct zoned *zoned = io->d->zoned;
	enum zone_error error;
	unsigned long flags;

	io->zone = zones_number(&zoned->zones, sector);
	spin_lock_irqsave(&zoned->lock, flags);
	if (INJECTED(zone_turn))
		zoned->zones.next_close = zoned->zones.limits.conventional;
	error = zones_command(&zoned->zones, op, sector, sectors, result);
	if (op == ZONE_OP_OPEN || op == ZONE_OP_CLOSE) {
		io->ticket = result->before;
	} else if (!error && result->changed) {
		io->ticket = zoned->turns[io->zone].next++;
		io->at_end |= END_ZONE;
	}
	spin_unlock_irqrestore(&zoned->lock, flags);
	return zoned_status(error);
}

bool zoned_super_sector(const struct david *d, u32 *sector)
{
	*sector = 0;
	return d->zoned->zones.limits.conventional;
}

/* A superblock of btrfs may lie there. One at 64 KiB would be of a log that has gone on. */
static bool zoned_may_be_super(const struct david *d, sector_t sector)
{
	u32 at;

	if (zoned_super_sector(d, &at))
		return sector == at;
	return sector < 2 * d->zoned->zones.limits.zone_size;
}

static void zoned_see_super(const struct david_io *io, sector_t sector)
{
	if (zoned_may_be_super(io->d, sector))
		owner_see_zoned_super(&io->d->owners.disk, io->bio);
}

bool zoned_accept(struct david_io *io)
{
	struct zones *zones = &io->d->zoned->zones;
	struct bio *bio = io->bio;
	sector_t sector = io->iter.bi_sector;
	bool append = bio_op(bio) == REQ_OP_ZONE_APPEND;
	struct zone_result result;

	if (bio_op(bio) == REQ_OP_READ)
		return true;
	if (!zones_sequential(zones, sector) && !append) {
		zoned_see_super(io, sector);
		return true;
	}
	bio->bi_status = BLK_STS_IOERR;
	/* Neither is offered: see zoned_limits(). */
	if (bio_op(bio) != REQ_OP_WRITE && !append)
		bio->bi_status = BLK_STS_NOTSUPP;
	else if (zones_number(zones, sector) ==
		 zones_number(zones, sector + bio_sectors(bio) - 1))
		bio->bi_status = zoned_command(io, append ? ZONE_OP_APPEND : ZONE_OP_WRITE, sector,
					       bio_sectors(bio), &result);
	if (bio->bi_status) {
		zoned_count(io, DAVID_ZONE_REFUSED);
		bio_endio(bio);
		return false;
	}
	zoned_see_super(io, result.sector);
	io->first = result.sector;
	if (result.opened) {
		zoned_count(io, DAVID_ZONE_OPENED);
		io->at_end |= END_OPENS;
	}
	if (!append)
		return true;
	zoned_count(io, DAVID_ZONE_APPEND);
	io->at_end |= END_APPEND;
	if (INJECTED(zone_count))
		zoned_count(io, DAVID_ZONE_APPEND);
	bio->bi_opf = (bio->bi_opf & ~REQ_OP_MASK) | REQ_OP_WRITE;
	bio->bi_iter.bi_sector = io->d->ti->begin + result.sector;
	io->iter.bi_sector = result.sector;
	return true;
}

static enum zone_op zoned_op(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_ZONE_OPEN:
		return ZONE_OP_OPEN;
	case REQ_OP_ZONE_CLOSE:
		return ZONE_OP_CLOSE;
	case REQ_OP_ZONE_FINISH:
		return ZONE_OP_FINISH;
	default:
		return ZONE_OP_RESET;
	}
}

int zoned_manage(struct david_io *io)
{
	struct david *d = io->d;
	struct bio *bio = io->bio;
	sector_t sector = dm_target_offset(d->ti, bio->bi_iter.bi_sector);
	struct zone_result result;
	struct stopwatch timer;
	int mapped;
	u64 size;

	stopwatch_start(&timer, d->store->stats);
	bio->bi_status = BLK_STS_NOTSUPP;
	/* compat_split_reset_all() */
	if (d->zoned && bio_op(bio) != REQ_OP_ZONE_RESET_ALL)
		bio->bi_status = zoned_command(io, zoned_op(bio), sector, 0, &result);
	/* The two enums number them alike. */
	BUILD_BUG_ON(ZONE_OP_RESET - ZONE_OP_OPEN != DAVID_ZONE_RESET - DAVID_ZONE_OPEN);
	if (!bio->bi_status && d->timing && !(INJECTED(timeless) && io->at_end & END_ZONE) &&
	    !map_timed(io, DAVID_REQ_FLUSH, &mapped))
		return mapped;
	zoned_count(io, bio->bi_status ? DAVID_ZONE_REFUSED :
		    DAVID_ZONE_OPEN + zoned_op(bio) - ZONE_OP_OPEN);
	if (bio->bi_status || !(io->at_end & END_ZONE)) {
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	}
	size = d->zoned->zones.limits.zone_size;
	if (zoned_may_be_super(d, result.sector))
		owner_enter_super(&d->owners.disk, FSEND_BTRFS, NULL);
	if (bio_op(bio) == REQ_OP_ZONE_RESET && d->implicit)
		implicit_discard(d->implicit, result.sector, size);
	io->iter = bio->bi_iter;
	io->iter.bi_sector = result.sector;
	if (bio_op(bio) == REQ_OP_ZONE_FINISH)
		io->iter.bi_sector += d->zoned->zones.limits.zone_capacity - result.sectors;
	/* It is nothing, but until it is served there is something to do: io_put(). */
	io->iter.bi_size = SECTOR_SIZE;
	return zoned_begin(io, &timer);
}

void zoned_take_back(struct david_io *io)
{
	enum zone_op op = zoned_op(io->bio);
	struct zoned *zoned = io->d->zoned;
	unsigned long flags;

	if ((op != ZONE_OP_OPEN && op != ZONE_OP_CLOSE) || INJECTED(zone_failed))
		return;
	spin_lock_irqsave(&zoned->lock, flags);
	zones_take_back(&zoned->zones, io->zone, op, io->ticket);
	spin_unlock_irqrestore(&zoned->lock, flags);
}

void zoned_range(const struct david_io *io, struct rt_range *r)
{
	const struct zones *zones = &io->d->zoned->zones;
	unsigned int shift = io->d->store->block_shift;
	u64 start = (u64)io->zone << zones->shift;
	bool finish = bio_op(io->bio) == REQ_OP_ZONE_FINISH;

	r->start = io->iter.bi_sector >> shift;
	r->len = ((start + (finish ? zones->limits.zone_capacity : zones->limits.zone_size)) >>
		  shift) - r->start;
	r->value = 0;
	r->kind = finish ? RT_FILL : RT_HOLE;
}

enum served zoned_serve(struct david_io *io)
{
	struct store *store = io->d->store;
	gfp_t gfp = io_gfp(io);
	struct rt_range r;
	u64 first, len;

	zoned_range(io, &r);
	first = r.start;
	if (INJECTED(unreset) && r.kind == RT_HOLE)
		r.len = 1;
	len = r.len;
	if (!(INJECTED(unfinished) && r.kind == RT_FILL) && !store_set(store, &r, gfp))
		return reservation_failed(io, gfp);
	if (unlikely(READ_ONCE(store->has_csums)))
		csum_invalidate_cached(store, first, len, gfp);
	io->iter.bi_size = 0;
	return SERVED;
}

/* Turns */

static void zoned_turn_work(struct work_struct *work);

static void zoned_queue(struct david_io *io)
{
	INIT_WORK(&io->work, zoned_turn_work);
	queue_work(io->d->wq, &io->work);
}

/* True: it is the request's turn. False: it will be queued when that comes. */
static bool zoned_wait(struct david_io *io)
{
	struct zoned *zoned = io->d->zoned;
	unsigned long flags;
	bool turn;

	spin_lock_irqsave(&zoned->lock, flags);
	turn = zoned_turns_of(io)->turn == io->ticket || INJECTED(zone_order);
	if (!turn)
		list_add_tail(&io->turn, &zoned->waiting[io->zone % ZONED_LISTS]);
	spin_unlock_irqrestore(&zoned->lock, flags);
	return turn;
}

void zoned_pass(struct david_io *io)
{
	struct zoned *zoned = io->d->zoned;
	struct zoned_turns *turns = zoned_turns_of(io);
	struct list_head *list = &zoned->waiting[io->zone % ZONED_LISTS];
	struct david_io *other, *next = NULL;
	unsigned long flags;

	spin_lock_irqsave(&zoned->lock, flags);
	turns->turn++;
	list_for_each_entry(other, list, turn) {
		if (other->zone != io->zone || other->ticket != turns->turn)
			continue;
		list_del(&other->turn);
		next = other;
		break;
	}
	spin_unlock_irqrestore(&zoned->lock, flags);
	if (next)
		zoned_queue(next);
}

/* Its turn has come. Any context; a worker's if io->in_worker. */
static int zoned_go(struct david_io *io, struct stopwatch *timer)
{
	struct zoned *zoned = io->d->zoned;
	unsigned long flags;
	bool stale;

	spin_lock_irqsave(&zoned->lock, flags);
	stale = (s32)(io->ticket - zoned_turns_of(io)->stale) < 0;
	spin_unlock_irqrestore(&zoned->lock, flags);
	if (unlikely(stale)) {
		/* What it would follow upon is not there. */
		io->at_end |= END_ZONE_OVER;
		bio_io_error(io->bio);
		return DM_MAPIO_SUBMITTED;
	}
	if (bio_op(io->bio) == REQ_OP_WRITE)
		return map_write(io, timer);
	return map_zone(io, timer);
}

/* The store is as before, but for what was written of the request: then it ends. */
static void zoned_mend(struct david_io *io)
{
	if (!INJECTED(zone_mend))
		zoned_settle(io->d, io->zone, true);
	io->bio->bi_end_io(io->bio);
}

static void zoned_turn_work(struct work_struct *work)
{
	struct david_io *io = container_of(work, struct david_io, work);
	struct stopwatch timer;

	if (io->at_end & END_ZONE_OVER) {
		zoned_mend(io);
		return;
	}
	io->in_worker = true;
	stopwatch_start(&timer, io->d->store->stats);
	if (zoned_go(io, &timer) == DM_MAPIO_REMAPPED)
		submit_bio_noacct(io->bio);
}

int zoned_begin(struct david_io *io, struct stopwatch *timer)
{
	bool nowait = io->bio->bi_opf & REQ_NOWAIT || io->wants_worker;

	/* If the backing device refused it, those behind it would fail. */
	io->bio->bi_opf &= ~REQ_NOWAIT;
	io->wants_worker = false;
	if (!zoned_wait(io))
		return DM_MAPIO_SUBMITTED;
	if (!nowait)
		return zoned_go(io, timer);
	zoned_queue(io);
	return DM_MAPIO_SUBMITTED;
}

bool zoned_fail(struct david_io *io)
{
	if (io->at_end & END_ZONE_OVER)
		return false;
	io->at_end |= END_ZONE_OVER;
	if (zoned_wait(io))
		zoned_queue(io);
	return true;
}

void zoned_end_append(struct david_io *io)
{
	struct bio *bio = io->bio;

	bio_set_dev(bio, dm_disk(dm_table_get_md(io->d->ti->table))->part0);
	bio->bi_opf = (bio->bi_opf & ~REQ_OP_MASK) | REQ_OP_ZONE_APPEND;
	bio->bi_iter.bi_sector = io->d->ti->begin + io->first + (INJECTED(zone_append) ? 8 : 0);
	io->at_end = 0;
	bio->bi_end_io(bio);
}
