// SPDX-License-Identifier: GPL-2.0
/* The flash of an SSD with zones: see zns.h. */
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "ssd-internal.h"
#include "zns.h"

#define NEVER	U64_MAX
#define NONE	U32_MAX

struct zns_zone {
	u32 waiting_sectors;	/* in the buffer: not programmed yet, */
	u32 loose;		/* of these less than a unit, which no die has */
	struct solid_command *first, *last;	/* writes that wait for room */
	u32 next;		/* in the list of zones with such writes */
};

/* What a die is to program, and the zone that it is of; in its queue, or free */
struct zns_unit {
	u32 zone;
	u32 next;
};

struct zns_queue {
	u32 first, last;	/* units that wait; NONE: none does */
	u32 now;		/* that the die programs; NONE: it is idle */
};

struct zns {
	struct ssd ssd;		/* its dies, their channels and events, and what counts there */
	u32 nr_zones;
	u32 zone_dies;
	u32 unit;		/* sectors */
	u32 zone_room;		/* sectors of a zone that may be in the buffer */
	struct zns_zone *zones;
	u32 first, last;	/* zones with writes that wait, in the order in which they came */
	struct zns_queue *queues;	/* by die */
	struct zns_unit *units;
	u32 nr_units;
	u32 unused;		/* the first free one */
	u32 nr_unused;
	u64 manager;		/* when commands about zones are done */
};

/* Where a zone lies */

static u32 zns_zone_of(const struct zns *zns, u64 sector)
{
	return div_u64(sector, zns->ssd.profile->zone_size);
}

static u64 zone_start(const struct zns *zns, u32 zone)
{
	return (u64)zone * zns->ssd.profile->zone_size;
}

static bool is_sequential(const struct zns *zns, u32 zone)
{
	return zone >= zns->ssd.profile->conventional_zones;
}

/* Zones that lie on the same dies begin on others of them. */
static u32 die_of(const struct zns *zns, u32 zone, u32 unit)
{
	u32 first = zone * zns->zone_dies % zns->ssd.profile->dies;

	if (MODEL_PLANTED(one_die))
		unit = 0;
	return (first + (unit + zone) % zns->zone_dies) % zns->ssd.profile->dies;
}

/* Dies */

static void program_next(struct zns *zns, u32 die, u64 now)
{
	struct zns_queue *queue = &zns->queues[die];

	queue->now = queue->first;
	if (queue->now == NONE)
		return;
	queue->first = zns->units[queue->now].next;
	ssd_program(&zns->ssd, &zns->ssd.dies[die], now, 0, zns->ssd.profile->program_time);
}

static void queue_unit(struct zns *zns, u32 zone, u32 number, u64 now)
{
	u32 die = die_of(zns, zone, number), unit = zns->unused;
	struct zns_queue *queue = &zns->queues[die];

	zns->unused = zns->units[unit].next;
	zns->nr_unused--;
	zns->units[unit] = (struct zns_unit){ .zone = zone, .next = NONE };
	if (queue->first == NONE)
		queue->first = unit;
	else
		zns->units[queue->last].next = unit;
	queue->last = unit;
	if (queue->now == NONE)
		program_next(zns, die, now);
}

/* Writes */

/* @sectors of a zone, from @at of it on, come into the buffer. */
static void zns_take(struct zns *zns, u32 zone, u32 at, u32 sectors, u64 now)
{
	struct zns_zone *z = &zns->zones[zone];
	u32 end = at + sectors, number;

	z->waiting_sectors += sectors;
	z->loose += sectors;
	/* Its dies are named by place. A conventional zone is written at any. */
	number = (end > z->loose ? end - z->loose : 0) / zns->unit;
	for (; z->loose >= zns->unit; z->loose -= zns->unit)
		queue_unit(zns, zone, number++, now);
	if (z->loose && end == zns->ssd.profile->zone_capacity && is_sequential(zns, zone)) {
		z->waiting_sectors += zns->unit - z->loose;
		z->loose = 0;
		queue_unit(zns, zone, number, now);
	}
	ftl_zone_set(zns->ssd.ftl, zone, max(ftl_zone_end(zns->ssd.ftl, zone), end));
}

/*
 * How many of the next @sectors of a zone, from @at of it on, come into the buffer. What is less
 * than a unit always has room beside the units: so a zone that waits does so for a die.
 */
static u32 zns_fit(const struct zns *zns, u32 zone, u32 at, u32 sectors)
{
	const struct zns_zone *z = &zns->zones[zone];
	u64 room = (zns->nr_unused + 1ULL) * zns->unit - z->loose - 1;
	u32 fit = sectors;

	if (!MODEL_PLANTED(one_buffer))
		fit = min(fit, zns->zone_room - min(z->waiting_sectors, zns->zone_room));
	fit = min_t(u64, fit, room) & ~(zns->ssd.profile->logical_block / 512 - 1);
	/* The end of a zone takes a unit, however little it is. */
	if (fit && at + fit == zns->ssd.profile->zone_capacity &&
	    DIV_ROUND_UP(z->loose + fit, zns->unit) > zns->nr_unused)
		fit -= zns->ssd.profile->logical_block / 512;
	return fit;
}

/* The next sectors of @command come in. Returns whether that is all of it. */
static bool take_some(struct zns *zns, struct solid_command *command, u32 zone, u64 now)
{
	u32 at = command->sector + command->taken - zone_start(zns, zone);
	u32 fit = zns_fit(zns, zone, at, command->sectors - command->taken);

	if (fit)
		zns_take(zns, zone, at, fit, now);
	command->taken += fit;
	return command->taken == command->sectors;
}

static void zns_make_ready(struct zns *zns, struct solid_command *command)
{
	struct waiting *ready = &zns->ssd.ready;

	command->next = NULL;
	if (ready->last)
		ready->last->next = command;
	else
		ready->first = command;
	ready->last = command;
}

/* Writes of @zone that wait come in, as many as there is room for. */
static void admit_zone(struct zns *zns, u32 zone, u64 now)
{
	struct zns_zone *z = &zns->zones[zone];
	struct solid_command *command;

	while ((command = z->first) && take_some(zns, command, zone, now)) {
		z->first = command->next;
		command->parts.queued += now > command->end ? now - command->end : 0;
		command->end = max(now, command->end);
		zns_make_ready(zns, command);
	}
}

/* The same of all zones, in the order in which they began to wait. */
static void zns_admit(struct zns *zns, u64 now)
{
	u32 zone, last = NONE, *at = &zns->first;

	while ((zone = *at) != NONE) {
		admit_zone(zns, zone, now);
		if (zns->zones[zone].first) {
			last = zone;
			at = &zns->zones[zone].next;
		} else {
			*at = zns->zones[zone].next;
		}
	}
	zns->last = last;
}

static void zns_wait(struct zns *zns, struct solid_command *command, u32 zone)
{
	struct zns_zone *z = &zns->zones[zone];

	command->parts.hit = false;
	zns->ssd.figures.buffer_waits++;
	command->next = NULL;
	if (z->first) {
		z->last->next = command;
		z->last = command;
		return;
	}
	z->first = command;
	z->last = command;
	z->next = NONE;
	if (zns->first == NONE)
		zns->first = zone;
	else
		zns->zones[zns->last].next = zone;
	zns->last = zone;
}

static u64 zns_serve_write(struct zns *zns, struct solid_command *command, u64 now, u64 from)
{
	u32 zone = zns_zone_of(zns, command->sector);

	if (command->flags & DISK_OPENS) {
		command->parts.overhead += zns->ssd.profile->zone_implicit_open_time;
		from += zns->ssd.profile->zone_implicit_open_time;
	}
	command->end = from;
	command->taken = 0;
	command->parts.hit = true;
	if (!zns->zones[zone].first && take_some(zns, command, zone, now))
		return from;
	zns_wait(zns, command, zone);
	return NEVER;
}

/* Reads */

enum zns_place { IN_FLASH, IN_BUFFER, NOWHERE };

/* Where a zone has what is at @at of it. */
static enum zns_place place_of(struct zns *zns, u32 zone, u32 at)
{
	const struct zns_zone *z = &zns->zones[zone];
	u32 end = ftl_zone_end(zns->ssd.ftl, zone);

	if (at >= end) {
		zns->ssd.figures.empty_reads++;
		return NOWHERE;
	}
	/* What came last is not programmed. The end of a full zone waits as a whole unit. */
	if (!zns->ssd.profile->buffer_reads || at + (u64)z->waiting_sectors < end)
		return IN_FLASH;
	zns->ssd.figures.buffer_reads++;
	return IN_BUFFER;
}

static u64 zns_serve_read(struct zns *zns, struct solid_command *command, u64 now, u64 from)
{
	u64 at = command->sector, end = at + command->sectors, done = from, next, read;
	u32 flash_page = zns->ssd.profile->flash_page / 512, zone, offset;
	struct ssd *ssd = &zns->ssd;
	u64 waited = 0, off_die = from;
	enum zns_place place;

	ssd->reader++;
	command->parts.hit = true;
	for (; at < end; at = next) {
		next = min(end, (div_u64(at, flash_page) + 1) * flash_page);
		zone = zns_zone_of(zns, at);
		offset = at - zone_start(zns, zone);
		place = place_of(zns, zone, offset);
		if (place == IN_BUFFER)
			command->parts.cached += next - at;
		if (place != IN_FLASH)
			continue;
		command->parts.hit = false;
		read = ssd_read_die(ssd, &ssd->dies[die_of(zns, zone, offset / zns->unit)],
				    (struct flash_place) {
					.page = div_u64(at, flash_page), .kind = PAGE_RUN,
				    }, next - at, now, from);
		if (read > done) {
			done = read;
			waited = ssd->waited;
			off_die = ssd->off_die;
		}
	}
	command->parts.queued += waited;
	command->parts.die = off_die - from - waited;
	command->parts.channel = done - off_die;
	return done;
}

/* Commands about zones */

/* What is less than a unit goes with the command: it is dropped, or in what that takes. */
static void drop_loose(struct zns *zns, u32 zone)
{
	zns->zones[zone].waiting_sectors -= zns->zones[zone].loose;
	zns->zones[zone].loose = 0;
}

/* @part of a zone's capacity takes its share of @time. */
static u64 share_of(const struct zns *zns, u64 time, u32 part)
{
	return mul_u64_u64_div_u64(time, part, zns->ssd.profile->zone_capacity);
}

static u64 zone_command_time(struct zns *zns, u8 op, u32 zone)
{
	const struct profile *profile = zns->ssd.profile;
	u32 end = ftl_zone_end(zns->ssd.ftl, zone);

	switch (op) {
	case DISK_ZONE_OPEN:
		return profile->zone_open_time;
	case DISK_ZONE_CLOSE:
		return profile->zone_close_time;
	case DISK_ZONE_FINISH:
		drop_loose(zns, zone);
		ftl_zone_set(zns->ssd.ftl, zone, profile->zone_capacity);
		return profile->zone_finish_time +
		       share_of(zns, profile->zone_finish_empty_time,
				profile->zone_capacity - min(end, profile->zone_capacity));
	default:
		drop_loose(zns, zone);
		if (!MODEL_PLANTED(unreset))
			ftl_zone_set(zns->ssd.ftl, zone, 0);
		return profile->zone_reset_time +
		       share_of(zns, profile->zone_reset_full_time, end);
	}
}

static u64 zns_serve_zone_command(struct zns *zns, struct solid_command *command, u64 from)
{
	u64 time = zone_command_time(zns, command->op, zns_zone_of(zns, command->sector));
	u64 begin = max(from, zns->manager);

	command->parts.queued += begin - from;
	command->parts.overhead += time;
	zns->manager = begin + time;
	return zns->manager;
}

/* The end of a program */
static void zns_finish(struct zns *zns, u32 die, u64 now)
{
	struct zns_queue *queue = &zns->queues[die];
	struct zns_unit *unit = &zns->units[queue->now];

	zns->zones[unit->zone].waiting_sectors -= zns->unit;
	unit->next = zns->unused;
	zns->unused = queue->now;
	zns->nr_unused++;
	zns->ssd.dies[die].end = 0;
	zns->ssd.busy_until = max(zns->ssd.busy_until, now);
	program_next(zns, die, now);
	zns_admit(zns, now);
}

void zns_advance(struct zns *zns, u64 now)
{
	struct ssd *ssd = &zns->ssd;

	while (ssd->nr_events && ssd->events[0].time <= now) {
		struct event event = ssd_pop_event(ssd);
		struct die *die = &ssd->dies[event.die];

		if (die->end > event.time)	/* it was suspended */
			ssd_push_event(ssd, die->end, event.die);
		else
			zns_finish(zns, event.die, event.time);
	}
}

u64 zns_serve(struct zns *zns, struct solid_command *command, u64 now, u64 from)
{
	zns_advance(zns, now);
	switch (command->op) {
	case DISK_READ:
		return zns_serve_read(zns, command, now, from);
	case DISK_WRITE:
		return zns_serve_write(zns, command, now, from);
	case DISK_FLUSH:
		return from;
	default:
		return zns_serve_zone_command(zns, command, from);
	}
}

u64 zns_next_event(const struct zns *zns)
{
	return zns->first == NONE ? NEVER : zns->ssd.events[0].time;
}

struct solid_command *zns_ready(struct zns *zns)
{
	struct solid_command *ready = zns->ssd.ready.first;

	zns->ssd.ready = (struct waiting){ };
	return ready;
}

void zns_trim(struct zns *zns, u64 sector, u64 sectors, u64 now)
{
	u64 first = DIV_ROUND_UP(sector, FTL_PAGE), end = (sector + sectors) / FTL_PAGE;

	zns_advance(zns, now);
	if (first < end)
		ftl_trim(zns->ssd.ftl, first, end - first);
}

void zns_figures(const struct zns *zns, struct solid_figures *figures)
{
	*figures = zns->ssd.figures;
	figures->sample = 1;
	figures->host_pages = ftl_figures(zns->ssd.ftl)->written;
}

/* Making */

static void zns_init(struct zns *zns)
{
	const struct profile *profile = zns->ssd.profile;
	u32 i;

	for (i = 0; i < profile->dies; i++)
		zns->queues[i] = (struct zns_queue) {
			.first = NONE, .last = NONE, .now = NONE,
		};
	for (i = 0; i < zns->nr_units; i++)
		zns->units[i].next = i + 1 < zns->nr_units ? i + 1 : NONE;
	zns->nr_unused = zns->nr_units;
	zns->first = NONE;
	zns->last = NONE;
}

struct zns *zns_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp)
{
	struct zns *zns = kvzalloc(sizeof(*zns), gfp);
	bool made;

	if (!zns)
		return NULL;
	made = ssd_init_dies(&zns->ssd, profile, ftl, 0, gfp);
	zns->unit = zns->ssd.unit_sectors;
	zns->nr_zones = div_u64(profile->sectors, profile->zone_size);
	zns->zone_dies = profile->zone_dies ?: profile->dies;
	zns->zone_room = profile->zone_buffer ?: profile->write_buffer;
	zns->nr_units = profile->write_buffer / zns->unit;
	zns->zones = kvcalloc(zns->nr_zones, sizeof(*zns->zones), gfp);
	zns->queues = kvcalloc(profile->dies, sizeof(*zns->queues), gfp);
	zns->units = kvcalloc(zns->nr_units, sizeof(*zns->units), gfp);
	if (!made || !zns->zones || !zns->queues || !zns->units) {
		zns_destroy(zns);
		return NULL;
	}
	zns_init(zns);
	return zns;
}

void zns_destroy(struct zns *zns)
{
	if (!zns)
		return;
	ssd_exit_dies(&zns->ssd);
	kvfree(zns->zones);
	kvfree(zns->queues);
	kvfree(zns->units);
	kvfree(zns);
}

size_t zns_bytes(const struct zns *zns)
{
	const struct profile *profile = zns->ssd.profile;

	return sizeof(*zns) + ssd_dies_bytes(&zns->ssd) + profile->dies * sizeof(*zns->queues) +
	       zns->nr_zones * sizeof(*zns->zones) + zns->nr_units * sizeof(*zns->units);
}
