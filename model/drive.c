// SPDX-License-Identifier: GPL-2.0
/*
 * How a drive serves a command: overhead, cache, mechanics and bus, and what is
 * hidden behind what.
 */
#include "drive-internal.h"

/* A write's data are waited for up to so many sectors before the media may begin. */
#define WRITE_AHEAD	10

struct command {
	u64 sector;
	u64 sectors;
	u64 now;
	struct drive_parts parts;
};

struct drive *drive_create(const struct profile *profile, gfp_t gfp)
{
	struct drive *drive = kvzalloc(sizeof(*drive), gfp);

	if (!drive)
		return NULL;
	drive->profile = profile;
	drive->media.profile = profile;
	drive->media.geometry = geometry_create(profile, gfp);
	drive->cache = cache_create(profile, gfp);
	if (!drive->media.geometry || !drive->cache) {
		drive_destroy(drive);
		return NULL;
	}
	return drive;
}

void drive_destroy(struct drive *drive)
{
	if (!drive)
		return;
	geometry_destroy(drive->media.geometry);
	cache_destroy(drive->cache);
	kvfree(drive);
}

size_t drive_bytes(const struct drive *drive)
{
	return sizeof(*drive) + geometry_bytes(drive->media.geometry) + cache_bytes(drive->cache);
}

static u64 overhead(const struct drive *drive, enum profile_kind kind)
{
	return drive->profile->overhead + drive->profile->overhead_by_kind[kind][drive->wrote];
}

void drive_background(struct drive *drive, u64 now)
{
	readahead_advance(drive, now);
	if (!drive->readahead.segment)
		destage_advance(drive, now);
}

/* The media's part of a command, and when the bus can be done with it. */
struct transfer {
	u64 sectors;		/* still to pass, from the next stretch on */
	u64 bus;		/* ns per sector */
	u64 bus_end;		/* no earlier than this */
	u64 media_end;
};

static void take_stretch(struct drive *drive, struct media_pass *pass, struct command *cmd,
			 struct transfer *transfer)
{
	struct media_stretch s;

	media_next(&drive->media, pass, &s);
	cmd->parts.seek += s.seek;
	cmd->parts.rotation += s.wait;
	transfer->bus_end = max(transfer->bus_end, s.first + transfer->sectors * transfer->bus);
	transfer->sectors -= s.sectors;
	transfer->bus_end = max(transfer->bus_end,
				s.end + (transfer->sectors + s.late) * transfer->bus);
	transfer->media_end = s.end;
}

/* What the read-ahead after a read up to @end should reach. */
static u64 readahead_limit(struct drive *drive, const struct segment *segment,
			   const struct command *cmd)
{
	const struct profile *profile = drive->profile;
	u64 end = cmd->sector + cmd->sectors, limit = end;

	switch (profile->readahead) {
	case READAHEAD_NONE:
		break;
	case READAHEAD_TRACK:
		limit = geometry_track_end(drive->media.geometry, end - 1);
		break;
	case READAHEAD_MAX:
		limit = end + profile->readahead_max;
		if (!profile->readahead_over_requested &&
		    limit > cmd->sector + profile->segment_sectors)
			limit = max(end, cmd->sector + profile->segment_sectors);
		break;
	case READAHEAD_TRACK_NEXT:
		limit = geometry_track_end(drive->media.geometry, end - 1);
		if (segment->start < cmd->sector) {
			struct place place;

			geometry_find(drive->media.geometry, end - 1, &place);
			if (segment->start + place.before < end - 1 && limit < profile->sectors)
				limit = geometry_track_end(drive->media.geometry, limit);
		}
		break;
	}
	return min(limit, profile->sectors);
}

/* All of it is in @segment, or is being read into it. */
static u64 read_hit(struct drive *drive, struct command *cmd, struct segment *segment)
{
	const struct profile *profile = drive->profile;
	u64 end = cmd->sector + cmd->sectors, start, bus_end, limit;
	bool reading = drive->readahead.segment == segment;

	start = cmd->now + overhead(drive, KIND_READ_HIT) + profile->data_preparation;
	bus_end = start + cmd->sectors * profile->bus_read;
	cmd->parts.overhead = start - cmd->now + profile->read_completion;
	limit = readahead_limit(drive, segment, cmd);
	if (reading) {
		readahead_extend(drive, max(limit, end));
		if (end > segment->end) {
			u64 ready = readahead_reach(drive, end);

			bus_end = max(bus_end, ready + profile->bus_read);
		}
	} else if (profile->readahead_on_idle_hit && !drive->readahead.segment &&
		   !drive->destage.segment) {
		readahead_start(drive, segment, limit, max(drive->media_free, start));
	}
	cache_use(drive->cache, segment);
	cmd->parts.hit = true;
	return bus_end + profile->read_completion;
}

/* The first @cached sectors are in @segment, if that is not NULL. */
static u64 read_miss(struct drive *drive, struct command *cmd, struct segment *segment)
{
	const struct profile *profile = drive->profile;
	u64 end = cmd->sector + cmd->sectors, command_end, water_mark, start, cached = 0;
	struct media_pass pass = { .any_order = profile->immediate_read };
	struct transfer transfer = { .bus = profile->bus_read };

	command_end = cmd->now + overhead(drive, KIND_READ_MISS);
	readahead_stop(drive, cmd->now);
	destage_finish(drive);
	if (segment)
		cached = segment->end - cmd->sector;
	pass.sector = cmd->sector + cached;
	pass.left = cmd->sectors - cached;
	pass.time = max(command_end, drive->media_free);

	water_mark = profile->water_mark_by_request ? cmd->sectors : profile->segment_sectors;
	water_mark = min(cmd->sectors, div_u64(water_mark * profile->read_water_mark + 999, 1000));
	start = profile->data_preparation;
	if (!profile->never_disconnect)
		start += profile->first_reselect;

	transfer.sectors = pass.left;
	while (pass.left) {
		u64 before = cmd->sectors - transfer.sectors;
		u64 after = before + pass.left;

		take_stretch(drive, &pass, cmd, &transfer);
		(void)after;
		(void)before;
	}
	drive->media_free = transfer.media_end;
	(void)water_mark;
	transfer.bus_end += start;

	if (!segment && drive->cache->nr)
		segment = cache_take(drive->cache, false, NULL);
	if (segment) {
		if (segment->start == segment->end) {
			segment->start = cmd->sector;
			segment->end = cmd->sector;
		}
		cache_append(drive->cache, segment, end - segment->end);
		cache_use(drive->cache, segment);
		if (profile->read_cache)
			readahead_start(drive, segment, readahead_limit(drive, segment, cmd),
					transfer.media_end);
	}
	cmd->parts.overhead = command_end - cmd->now + start + profile->read_completion;
	return transfer.bus_end + profile->read_completion;
}

static u64 serve_read(struct drive *drive, struct command *cmd)
{
	u64 end = cmd->sector + cmd->sectors;
	struct segment *segment = NULL;

	if (drive->profile->read_cache)
		segment = cache_find(drive->cache, cmd->sector, true);
	if (segment && (end <= segment->end || drive->readahead.segment == segment))
		return read_hit(drive, cmd, segment);
	if (segment && segment->write)
		segment = NULL;
	return read_miss(drive, cmd, segment);
}

/* Into the buffer, and that is it for the host. */
static u64 write_hit(struct drive *drive, struct command *cmd, struct segment *segment)
{
	const struct profile *profile = drive->profile;
	u64 command_end, start, bus_end;
	bool was_dirty = segment && segment->dirty;

	command_end = cmd->now + overhead(drive, KIND_WRITE_HIT);
	start = command_end + profile->data_preparation;
	if (!segment) {
		segment = cache_take(drive->cache, true, NULL);
		if (!segment) {
			destage_all(drive, cmd->now);
			start = max(start, drive->media_free);
			segment = cache_take(drive->cache, true, NULL);
		}
		segment->start = cmd->sector;
		segment->end = cmd->sector;
	}
	bus_end = start + cmd->sectors * profile->bus_write;
	if (!was_dirty)
		segment->dirty_since = start + min_t(u64, cmd->sectors, WRITE_AHEAD) *
				       profile->bus_write;
	segment->dirty += cmd->sectors;
	cache_append(drive->cache, segment, cmd->sectors);
	cache_use(drive->cache, segment);
	cache_forget(drive->cache, cmd->sector, cmd->sectors, segment);
	if (!profile->destage_idle && !drive->destage.segment) {
		if (profile->write_hit_stops_prefetch)
			readahead_stop(drive, cmd->now);
		if (!drive->readahead.segment)
			destage_start(drive, segment, max(command_end, drive->media_free));
	}
	cmd->parts.hit = true;
	cmd->parts.overhead = start - cmd->now + profile->write_completion;
	return bus_end + profile->write_completion;
}

/* To the media. */
static u64 write_miss(struct drive *drive, struct command *cmd)
{
	const struct profile *profile = drive->profile;
	u64 start, bus_start, bus_end, end;
	struct media_pass pass = { .write = true, .any_order = profile->immediate_write };
	struct transfer transfer = { .sectors = cmd->sectors };
	struct segment *segment = NULL;

	readahead_stop(drive, cmd->now);
	destage_all(drive, cmd->now);
	if (profile->extra_write_disconnect) {
		start = cmd->now + profile->overhead + profile->xd_command;
		bus_start = start + profile->xd_disconnect + profile->xd_inter +
			    profile->first_reselect;
		start += profile->xd_seek_delta;
	} else {
		start = cmd->now + overhead(drive, KIND_WRITE_MISS);
		bus_start = start;
	}
	bus_start += profile->data_preparation;
	bus_end = bus_start + cmd->sectors * profile->bus_write;
	cmd->parts.overhead = start - cmd->now;
	pass.sector = cmd->sector;
	pass.left = cmd->sectors;
	pass.time = max(start, drive->media_free);
	pass.not_before = max(start + profile->min_seek_delay,
			      bus_start + min_t(u64, cmd->sectors, WRITE_AHEAD) *
			      profile->bus_write);
	while (pass.left)
		take_stretch(drive, &pass, cmd, &transfer);
	drive->media_free = transfer.media_end;
	end = max(transfer.media_end, bus_end);
	if (!profile->never_disconnect)
		end += profile->extra_write_disconnect ? profile->other_reselect :
							 profile->first_reselect;
	cache_forget(drive->cache, cmd->sector, cmd->sectors, NULL);
	if (drive->cache->nr)
		segment = cache_take(drive->cache, true, NULL);
	if (segment && profile->read_hits_on_write_data) {
		segment->start = cmd->sector;
		segment->end = cmd->sector;
		cache_append(drive->cache, segment, cmd->sectors);
	}
	return end + profile->write_completion;
}

static struct segment *dirty_before(struct drive *drive, u64 sector)
{
	u32 i;

	for (i = 0; i < drive->cache->nr; i++) {
		struct segment *segment = &drive->cache->segments[i];

		if (segment->dirty && segment->end == sector)
			return segment;
	}
	return NULL;
}

static u64 serve_write(struct drive *drive, struct command *cmd, unsigned int flags)
{
	const struct profile *profile = drive->profile;
	struct segment *segment = NULL;

	if ((flags & DISK_FUA) || profile->write_cache < WRITE_CACHE_SEQUENTIAL ||
	    !drive->cache->nr)
		return write_miss(drive, cmd);
	if (profile->combine_sequential_writes)
		segment = dirty_before(drive, cmd->sector);
	if (!segment && profile->write_cache == WRITE_CACHE_SEQUENTIAL &&
	    destage_choose(drive, cmd->now))
		return write_miss(drive, cmd);
	return write_hit(drive, cmd, segment);
}

static u64 serve_flush(struct drive *drive, struct command *cmd)
{
	cmd->parts.overhead = drive->profile->overhead + drive->profile->flush_overhead;
	destage_all(drive, cmd->now);
	return max(drive->media_free, cmd->now) + cmd->parts.overhead;
}

/* What is left over is transfer; what overlaps is not counted twice. */
static void split(struct drive_parts *parts, u64 total)
{
	parts->overhead = min(parts->overhead, total);
	total -= parts->overhead;
	parts->seek = min(parts->seek, total);
	total -= parts->seek;
	parts->rotation = min(parts->rotation, total);
	parts->transfer = total - parts->rotation;
}

u64 drive_serve(struct drive *drive, enum disk_op op, unsigned int flags, u64 sector,
		u32 sectors, u64 now, struct drive_parts *parts)
{
	struct command cmd = { .sector = sector, .sectors = sectors, .now = now };
	u64 end;

	drive_background(drive, now);
	if (op == DISK_FLUSH || !sectors) {
		end = serve_flush(drive, &cmd);
	} else if (op == DISK_READ) {
		end = serve_read(drive, &cmd);
		drive->wrote = false;
	} else {
		end = serve_write(drive, &cmd, flags);
		drive->wrote = true;
	}
	drive->last_end = end;
	split(&cmd.parts, end - now);
	if (parts)
		*parts = cmd.parts;
	return end;
}

u64 drive_access_time(const struct drive *drive, enum disk_op op, u64 sector, u32 sectors,
		      u64 now)
{
	struct place place;
	u64 seek, wait;

	if (op == DISK_FLUSH)
		return 0;
	if (op == DISK_READ && drive->profile->read_cache &&
	    cache_find(drive->cache, sector, true))
		return 0;
	(void)sectors;
	geometry_find(drive->media.geometry, sector, &place);
	media_access(&drive->media, &place, op == DISK_WRITE, max(now, drive->media_free), 0,
		     &seek, &wait);
	return seek + wait;
}
