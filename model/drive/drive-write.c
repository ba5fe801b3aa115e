// SPDX-License-Identifier: GPL-2.0
/*
 * How a write is served: into the buffer, if the drive reports it from there, or to the
 * media.
 */
#include "drive-internal.h"

/*
 * How many sectors of a write must have arrived before the first goes to the media: three in four,
 * or as many as the buffer takes. Three drives whose times are known begin with 50 to 70 % of them
 * (profiles/evidence/WHY.md). media_next_at() sees to it that the rest comes in time. A drive that
 * disconnects before the data come begins with some. So does DiskSim's.
 */
static u64 write_ahead(const struct profile *profile, u64 sectors)
{
	if (profile->extra_write_disconnect)
		return sectors < 45 ? min_t(u64, sectors, 10) : 15;
	return min_t(u64, sectors - sectors / 4, (u64)profile->segments * profile->segment_sectors);
}

/*
 * The segment that takes a write of the buffer: the one whose data it continues, or another one.
 * For that, dirty data may have to be written out from @ready on. Then the bus @starts later.
 */
static struct segment *find_room(struct drive *drive, const struct command *cmd, u64 ready,
				 u64 *start)
{
	struct segment *segment = NULL;

	if (drive->profile->combine_sequential_writes)
		segment = cache_find_written(drive->cache, cmd->sector);
	if (segment)
		return segment;
	segment = cache_take(drive->cache, true, drive->readahead.segment);
	if (!segment) {
		readahead_stop(drive, ready);
		segment = cache_take(drive->cache, true, NULL);
	}
	while (!segment) {
		destage_one(drive, ready);
		*start = max(*start, drive->media_free);
		segment = cache_take(drive->cache, true, NULL);
	}
	cache_place(drive->cache, segment, cmd->sector, cmd->sector);
	return segment;
}

/* The arm came to make room. It writes on for a stream's turn, as it reads on for one. */
static void write_turn(struct drive *drive, u64 ready)
{
	while (drive->destage.segment && drive->destage.written < drive->profile->readahead_stream)
		destage_some(drive, ready);
}

/*
 * What the head is just writing goes on with @cmd. The data come as fast as the head makes room.
 * Returns when there was room for all of them.
 */
static u64 write_on(struct drive *drive, const struct command *cmd, u64 ready)
{
	struct segment *segment = drive->destage.segment;
	struct write_buffer *writes = drive->writes;
	u64 room = 0;

	segment->end += cmd->sectors;
	segment->dirty += cmd->sectors;
	writes->sectors += cmd->sectors;
	drive->last_write = segment->end;
	while (writes->sectors > drive->profile->write_buffer && drive->destage.segment) {
		destage_some(drive, ready);
		room = drive->media_free;
	}
	return room;
}

/* Into the write buffer, as soon as there is room for it. */
static u64 write_buffered(struct drive *drive, struct command *cmd)
{
	const struct profile *profile = drive->profile;
	struct write_buffer *writes = drive->writes;
	u64 start, ready, room = 0, before;
	struct segment *segment;
	bool full, on, known;

	ready = cmd->begin + drive_overhead(drive, KIND_WRITE_HIT);
	drive_decoded(drive, cmd, ready);
	start = max(ready + profile->data_preparation, drive->bus_free);
	cmd->parts.hit = true;
	cmd->parts.overhead += profile->data_preparation + profile->write_completion;
	drive_waits(drive, cmd, start);
	/* Writing makes room. It may begin to write the run that @cmd continues. */
	for (;;) {
		on = drive_writes_on(drive, cmd);
		known = !on && write_buffer_find(writes, cmd->sector, cmd->sectors);
		if (on || known || write_buffer_room(writes, cmd->sectors))
			break;
		destage_some(drive, ready);
		room = drive->media_free;
	}
	full = room;
	drive_has_waited(drive, cmd, start, room);
	if (on) {
		room = write_on(drive, cmd, ready);
		cache_forget(drive->cache, cmd->sector, cmd->sectors, NULL);
	} else if (known) {
		cmd->parts.cached = cmd->sectors;
	} else {
		bool pressed = write_buffer_pressed(writes);

		start = max(start, room);
		before = writes->sectors;
		segment = write_buffer_add(writes, &drive->media, cmd->sector, cmd->sectors,
					   start + cmd->sectors * profile->bus_write);
		cmd->parts.cached = before + cmd->sectors - writes->sectors;
		if (!pressed)
			drive->pressed = start;
		cache_forget(drive->cache, cmd->sector, cmd->sectors, NULL);
		/* A long run can be written at the media's rate: nothing is gained by waiting. */
		if (destage_is_long(drive, segment) && !write_buffer_pressed(writes) &&
		    !drive->destage.segment && !drive->readahead.segment)
			destage_start(drive, segment, max(ready, drive->media_free));
	}
	if (full || room)
		write_turn(drive, ready);
	return max(room, start + cmd->sectors * profile->bus_write) + profile->write_completion;
}

/* Into the buffer. For the host the write is done then. */
static u64 write_hit(struct drive *drive, struct command *cmd)
{
	const struct profile *profile = drive->profile;
	u64 room = profile->segment_sectors, ahead = write_ahead(profile, cmd->sectors);
	u64 command_end, start, bus_end, early;
	struct segment *segment;

	command_end = cmd->begin + drive_overhead(drive, KIND_WRITE_HIT);
	drive_decoded(drive, cmd, command_end);
	start = max(command_end + profile->data_preparation, drive->bus_free);
	cmd->parts.hit = true;
	cmd->parts.overhead += profile->data_preparation + profile->write_completion;
	if (cache_overwrite(drive->cache, cmd->sector, cmd->sectors, drive->destage.segment)) {
		cmd->parts.cached = cmd->sectors;
		return start + cmd->sectors * profile->bus_write + profile->write_completion;
	}

	early = start;
	drive_waits(drive, cmd, early);
	segment = find_room(drive, cmd, command_end, &start);
	drive_has_waited(drive, cmd, early, start);
	bus_end = start + cmd->sectors * profile->bus_write;
	if (!segment->dirty)
		segment->dirty_since = start + min(ahead, room) * profile->bus_write;
	segment->dirty += cmd->sectors;
	drive->dirty += cmd->sectors;
	cache_append(drive->cache, segment, cmd->sectors);
	cache_use(drive->cache, segment);
	cache_forget(drive->cache, cmd->sector, cmd->sectors, segment);
	if (segment->dirty > room) {
		/* The host waits until the media have made room for the rest. */
		destage_segment(drive, segment, room, command_end);
		cache_append(drive->cache, segment, 0);
		bus_end = max(bus_end, drive->media_free);
	} else if (!profile->destage_idle && !drive->destage.segment) {
		if (profile->write_hit_stops_prefetch)
			readahead_stop(drive, command_end);
		if (!drive->readahead.segment)
			destage_start(drive, segment, max(command_end, drive->media_free));
	}
	return bus_end + profile->write_completion;
}

void write_plan(const struct drive *drive, const struct command *cmd, struct write_plan *plan)
{
	const struct profile *profile = drive->profile;
	u64 bus;

	plan->extra = profile->extra_write_disconnect && drive->wrote &&
		      cmd->sector != drive->last_write;
	if (plan->extra) {
		plan->ready = cmd->begin + profile->overhead + profile->xd_command;
		bus = plan->ready + profile->xd_disconnect + profile->xd_inter +
		      profile->first_reselect;
		plan->ready += profile->xd_seek_delta;
	} else {
		plan->ready = cmd->begin + drive_overhead(drive, KIND_WRITE_MISS);
		bus = plan->ready;
	}
	plan->bus_start = max(bus + profile->data_preparation, drive->bus_free);
	plan->not_before = plan->bus_start + write_ahead(profile, cmd->sectors) *
					     profile->bus_write;
}

/* To the media cache, whatever it is: only the write buffer brings whole bands together. */
static void write_shingled(struct drive *drive, struct media_pass *pass, struct command *cmd,
			   struct media_stretch *stretch)
{
	u64 left = pass->left, from = pass->time, at, sectors;
	struct place place;

	sectors = clean_place(drive, pass->sector, left, &at, &pass->time);
	cmd->parts.queued += drive_waited(cmd, from, pass->time);
	for (pass->left = sectors; pass->left; at += stretch->sectors) {
		geometry_find(drive->media.geometry, at, &place);
		media_next_at(&drive->media, pass, &place, stretch);
		cmd->parts.seek += stretch->seek;
		cmd->parts.rotation += stretch->wait;
	}
	drive->media_free = stretch->end;
	clean_wrote(drive, stretch->end);
	pass->left = left - sectors;
}

/* To the media. */
static u64 write_miss(struct drive *drive, struct command *cmd)
{
	const struct profile *profile = drive->profile;
	struct media_pass pass = { .write = true, .any_order = profile->immediate_write };
	struct media_stretch stretch;
	struct write_plan plan;
	struct segment *segment;
	u64 free, end;

	write_plan(drive, cmd, &plan);
	readahead_stop(drive, plan.ready);
	free = max(plan.ready, drive->media_free);
	cmd->parts.queued = drive_waited(cmd, plan.ready, free);
	drive_waits(drive, cmd, free);
	if (profile->write_cache == WRITE_CACHE_SEQUENTIAL)
		destage_all(drive, plan.ready);
	else
		destage_overlap(drive, cmd->sector, cmd->sectors, plan.ready);
	drive_decoded(drive, cmd, plan.ready);
	cmd->parts.overhead += profile->write_completion;
	pass.sector = cmd->sector;
	pass.left = cmd->sectors;
	pass.time = max(plan.ready, drive->media_free);
	if (cmd->fua)
		cmd->parts.flush = drive_waited(cmd, free, pass.time);
	else
		drive_has_waited(drive, cmd, free, pass.time);
	drive_has_arm(cmd, pass.time);
	pass.data = plan.bus_start;
	pass.data_time = profile->bus_write;
	pass.not_before = plan.not_before;
	drive_fill_blocks(drive, &pass);
	if (cmd->sector != drive->last_write || pass.time != drive->media_free)
		pass.not_before = max(pass.not_before, pass.time + profile->min_seek_delay);
	while (pass.left && !drive->media.shingle)
		drive_stretch(drive, &pass, cmd, &stretch);
	while (pass.left)
		write_shingled(drive, &pass, cmd, &stretch);
	drive->bus_free = plan.bus_start + cmd->sectors * profile->bus_write;
	end = max(drive->media_free, drive->bus_free);
	if (!profile->never_disconnect)
		end += plan.extra ? profile->other_reselect : profile->first_reselect;

	cache_forget(drive->cache, cmd->sector, cmd->sectors, NULL);
	if (profile->write_cache != WRITE_CACHE_OFF && profile->read_hits_on_write_data) {
		segment = cache_take(drive->cache, true, NULL);
		if (segment) {
			cache_place(drive->cache, segment, cmd->sector, cmd->sector);
			cache_append(drive->cache, segment, cmd->sectors);
		}
	}
	return end + profile->write_completion;
}

u64 drive_write(struct drive *drive, struct command *cmd)
{
	const struct profile *profile = drive->profile;
	bool cached = false;

	if (profile->write_cache == WRITE_CACHE_BACK)
		cached = true;
	else if (profile->write_cache == WRITE_CACHE_SEQUENTIAL)
		/* Reported early if it goes on with what is dirty, or nothing is. */
		cached = !destage_choose(drive, cmd->begin) ||
			 (profile->combine_sequential_writes && cmd->sector == drive->last_write);
	if (cmd->fua || !drive->cache->nr || !cached)
		return write_miss(drive, cmd);
	drive->bus_free = drive->writes ? write_buffered(drive, cmd) : write_hit(drive, cmd);
	return drive->bus_free;
}
