// SPDX-License-Identifier: GPL-2.0
/*
 * How a read is served: from the buffer, from what read-ahead is about to bring, or from the media.
 * The bus overlaps the media as far as it can.
 */
#include "drive-internal.h"

/* What is still to come of a read from the media, and when the bus can be done with it. */
struct transfer {
	u64 sectors;		/* from the next stretch on */
	u64 bus;		/* ns per sector */
	u64 bus_end;		/* no earlier than this */
	u64 wanted;		/* sectors in the buffer that the bus waits for at first */
	u64 setup;		/* ns from then on until it begins */
	u32 passed;		/* sectors before the first that came past before it */
	bool wrapped;		/* the last stretch was begun in its middle */
};

/* Sectors come in order, but for the last ones of a stretch begun in its middle. */
static u64 when_in(const struct media_stretch *stretch, u64 sectors)
{
	u64 ns = (stretch->first - stretch->begin) * sectors;

	return min(stretch->begin + ns, stretch->end);
}

static void take_stretch(struct drive *drive, struct media_pass *pass, struct command *cmd,
			 struct transfer *transfer)
{
	struct media_stretch s;

	drive_stretch(drive, pass, cmd, &s);
	if (transfer->sectors == cmd->sectors)
		transfer->passed = s.passed;
	if (transfer->wanted && transfer->wanted <= s.sectors) {
		transfer->bus_end = max(transfer->bus_end,
					when_in(&s, transfer->wanted) + transfer->setup +
					cmd->sectors * transfer->bus);
		transfer->wanted = 0;
	} else if (transfer->wanted) {
		transfer->wanted -= s.sectors;
	} else {
		transfer->bus_end = max(transfer->bus_end,
					s.first + transfer->sectors * transfer->bus);
	}
	transfer->sectors -= s.sectors;
	transfer->bus_end = max(transfer->bus_end,
				s.end + (transfer->sectors + s.late) * transfer->bus);
	transfer->wrapped = s.late > 1;
}

/* What the read-ahead after this read should reach. */
static u64 readahead_limit(struct drive *drive, const struct segment *segment,
			   const struct command *cmd)
{
	const struct geometry *geometry = drive->media.geometry;
	const struct profile *profile = drive->profile;
	u64 end = cmd->sector + cmd->sectors, limit = end, most;
	struct place place;

	if (profile->readahead_max)
		most = end + profile->readahead_max;
	else if (profile->readahead_over_requested)
		most = end + profile->segment_sectors;
	else
		most = max(end, cmd->sector + profile->segment_sectors);
	if (profile->keep_requested) {
		/* Until a read goes on with it, half a segment is worth more than what follows. */
		if (end <= segment->asked)
			return segment->end;
		if (!segment->asked && cmd->sectors <= profile->segment_sectors / 2)
			most = min(most, cmd->sector + profile->segment_sectors);
	}
	if (end == profile->sectors)
		return end;
	switch (profile->readahead) {
	case READAHEAD_NONE:
		break;
	case READAHEAD_TRACK:
		geometry_find(geometry, end, &place);
		limit = min(most, geometry_track_end(geometry, end, &place));
		break;
	case READAHEAD_CYLINDER:
		geometry_find(geometry, end, &place);
		limit = min(most, geometry_cylinder_end(geometry, end, &place));
		break;
	case READAHEAD_MAX:
		limit = most;
		break;
	case READAHEAD_TRACK_NEXT:
		geometry_find(geometry, end, &place);
		limit = geometry_track_end(geometry, end, &place);
		if (segment->start + place.before >= end || limit == profile->sectors)
			break;
		/* The segment has data of an earlier track: a sequential reader. */
		geometry_find(geometry, limit, &place);
		limit = geometry_track_end(geometry, limit, &place);
		break;
	}
	return min(limit, profile->sectors);
}

/* The host has all sectors before @end. Sectors that are still to be written stay. */
static void drop_requested(const struct drive *drive, struct segment *segment, u64 end)
{
	segment->asked = max(segment->asked, end);
	if (drive->profile->drop_requested && !segment->write)
		segment->dropped = end;
}

u64 when_under_head(const struct drive *drive, u64 sector, u64 ready, u64 *wait)
{
	u64 seek, start;
	struct place place;

	start = drive->readahead.segment ? readahead_stops(drive, ready) :
					   max(ready, drive->media_free);
	media_find(&drive->media, sector, &place);
	media_access(&drive->media, &place, false, start, 0, &seek, wait);
	return start + seek + *wait;
}

/* Does read-ahead get to @sector, which is not in the buffer? It reads on through a gap. */
static bool readahead_brings(const struct drive *drive, u64 sector)
{
	const struct readahead *ra = &drive->readahead;

	if (!ra->segment || sector < ra->segment->end)
		return false;
	if (sector == ra->segment->end)
		return true;
	return sector < ra->pass.sector + ra->pass.left && !MODEL_PLANTED(gap);
}

/* The run that has all of a read. It may be the one that is being written. */
static struct segment *in_write_buffer(const struct drive *drive, u64 sector, u64 sectors)
{
	struct segment *segment = drive->destage.segment;

	if (segment && sector >= segment->start && sector + sectors <= segment->end)
		return segment;
	return drive->writes->runs.nr ? write_buffer_find(drive->writes, sector, sectors) : NULL;
}

bool read_is_far(const struct drive *drive, u64 sector, u64 sectors)
{
	if (cache_is_near(drive->cache, sector) || readahead_brings(drive, sector))
		return false;
	return !drive->writes || !drive->profile->read_hits_on_write_data ||
	       !in_write_buffer(drive, sector, sectors);
}

void read_plan(const struct drive *drive, const struct command *cmd, struct read_plan *plan)
{
	u64 hit = cmd->begin + drive_overhead(drive, KIND_READ_HIT), when, rotation;
	u64 end = cmd->sector + cmd->sectors, from = cmd->sector;
	struct segment *segment = NULL;

	if (drive->writes && drive->profile->read_hits_on_write_data)
		segment = in_write_buffer(drive, cmd->sector, cmd->sectors);
	if (!segment && drive->profile->read_cache)
		segment = cache_find(drive->cache, cmd->sector, true);
	plan->segment = segment;
	plan->source = FROM_BUFFER;
	plan->ready = hit;
	plan->bus = hit;
	plan->first = hit;
	if (segment && end <= segment->end)
		return;
	/* What follows on written data goes to a segment of its own. */
	if (segment && segment->write)
		segment = NULL;
	if (segment)
		from = segment->end;
	plan->source = FROM_MEDIA;
	plan->segment = segment;
	if (from == cmd->sector) {
		plan->ready = cmd->begin + drive_read_decoded(drive);
		plan->bus = cmd->begin + drive_overhead(drive, KIND_READ_MISS);
	}
	plan->from = from;
	if (!readahead_brings(drive, from))
		return;
	when = readahead_time(drive, from);
	/* A seek may get there sooner than read-ahead. */
	if (from != drive->readahead.segment->end &&
	    when > when_under_head(drive, from, plan->ready, &rotation))
		return;
	plan->source = FROM_READAHEAD;
	plan->segment = drive->readahead.segment;
	plan->ready = hit;
	plan->first = from == cmd->sector ? max(hit, when) : hit;
}

/*
 * The host gets @sectors of @segment. Each that the media brought counts once: what goes to the
 * host beyond that is what it had before, or what it wrote itself.
 */
static void hand_out(struct command *cmd, struct segment *segment, u64 sectors)
{
	u64 fresh = min(segment->fresh, sectors);

	segment->fresh -= fresh;
	cmd->parts.cached += sectors - fresh;
}

/* What was dropped meanwhile cannot go to the host. What comes for a command, passes through. */
static void drop_fresh(struct segment *segment)
{
	segment->fresh = min(segment->fresh, segment->end - segment->start);
}

/* All of it is in the plan's segment, or is being read into it. */
static u64 read_hit(struct drive *drive, struct command *cmd, const struct read_plan *plan)
{
	const struct profile *profile = drive->profile;
	struct segment *segment = plan->segment;
	u64 end = cmd->sector + cmd->sectors, start, bus_end, limit;
	bool reading = drive->readahead.segment == segment;

	start = plan->ready + profile->data_preparation;
	drive_decoded(drive, cmd, plan->ready);
	cmd->parts.overhead += profile->data_preparation + profile->read_completion;
	start = max(start, drive->bus_free);
	bus_end = start + cmd->sectors * profile->bus_read;
	limit = readahead_limit(drive, segment, cmd);
	drop_fresh(segment);
	if (reading) {
		readahead_extend(drive, max(limit, end));
		if (end > segment->end) {
			u64 ready = readahead_reach(drive, end);

			bus_end = max(bus_end, ready + profile->bus_read);
		}
	} else if (profile->readahead_on_idle_hit && !segment->write &&
		   !drive->readahead.segment && !drive->destage.segment) {
		readahead_start(drive, segment, limit, max(drive->media_free, plan->ready));
		readahead_secure(drive);
	}
	cache_use(drive->cache, segment);
	hand_out(cmd, segment, cmd->sectors);
	drop_requested(drive, segment, end);
	cmd->parts.hit = true;
	return bus_end + profile->read_completion;
}

/* Sectors of a read that are to be in the buffer before the bus is taken. */
static u64 water_mark(const struct profile *profile, u64 sectors)
{
	u64 mark = profile->read_water_mark;

	if (profile->water_mark_by_request)
		mark = div_u64(sectors * mark, 1000);
	else
		mark = div_u64(profile->segment_sectors * mark + 999, 1000);
	return min(sectors, max_t(u64, mark, 1));
}

/* Put what was read into a segment, the one that has its beginning if that is not NULL. */
static void segment_keep(struct drive *drive, struct command *cmd, struct segment *segment,
			 const struct transfer *transfer)
{
	u64 end = cmd->sector + cmd->sectors, limit;
	bool stream = segment && ++segment->returns > 1;

	if (!segment) {
		segment = cache_take(drive->cache, false, NULL);
		if (!segment)
			return;
		cache_place(drive->cache, segment, cmd->sector - transfer->passed, cmd->sector);
		segment->fresh = transfer->passed;
	}
	cache_append(drive->cache, segment, end - segment->end);
	cache_use(drive->cache, segment);
	limit = readahead_limit(drive, segment, cmd);
	if (transfer->wrapped && limit > end) {
		/* The head passed the rest of the track before it came to the read's beginning. */
		struct place place;
		u64 track_end;

		geometry_find(drive->media.geometry, end - 1, &place);
		track_end = geometry_track_end(drive->media.geometry, end - 1, &place);
		cache_append(drive->cache, segment, min(limit, track_end) - end);
		segment->fresh += min(limit, track_end) - end;
	}
	readahead_start(drive, segment, limit, drive->media_free);
	if (stream)
		readahead_secure(drive);
	drop_requested(drive, segment, end);
}

/* The media have all of it, or all but the beginning, which is in the plan's segment. */
static u64 read_miss(struct drive *drive, struct command *cmd, const struct read_plan *plan)
{
	const struct profile *profile = drive->profile;
	struct segment *segment = plan->segment;
	struct media_pass pass = { .any_order = profile->immediate_read };
	struct transfer transfer = { .bus = profile->bus_read };
	u64 cached;

	readahead_stop(drive, MODEL_PLANTED(gap) ? cmd->begin : plan->ready);
	drive_waits(drive, cmd, plan->ready);
	destage_overlap(drive, cmd->sector, cmd->sectors, plan->ready);
	cached = segment ? segment->end - cmd->sector : 0;
	if (cached) {
		drop_fresh(segment);
		hand_out(cmd, segment, cached);
	}
	pass.sector = cmd->sector + cached;
	pass.left = cmd->sectors - cached;
	pass.time = max(plan->ready, drive->media_free);
	drive_has_waited(drive, cmd, plan->ready, pass.time);
	drive_has_arm(cmd, pass.time);

	transfer.sectors = pass.left;
	transfer.wanted = water_mark(profile, cmd->sectors);
	transfer.wanted = transfer.wanted > cached ? transfer.wanted - cached : 0;
	transfer.setup = profile->data_preparation;
	if (!profile->never_disconnect)
		transfer.setup += profile->first_reselect;
	transfer.bus_end = max(drive->bus_free, plan->bus);
	if (cached)
		transfer.bus_end = max(transfer.bus_end, plan->ready + transfer.setup);
	transfer.bus_end += cmd->sectors * transfer.bus;
	while (pass.left)
		take_stretch(drive, &pass, cmd, &transfer);
	if (!profile->read_any_free)
		transfer.passed = 0;
	if (profile->read_cache && drive->cache->nr)
		segment_keep(drive, cmd, segment, &transfer);
	drive_decoded(drive, cmd, plan->ready);
	cmd->parts.overhead += profile->read_completion;
	return transfer.bus_end + profile->read_completion;
}

u64 drive_read(struct drive *drive, struct command *cmd)
{
	struct read_plan plan;

	read_plan(drive, cmd, &plan);
	if (plan.source == FROM_MEDIA)
		return read_miss(drive, cmd, &plan);
	return read_hit(drive, cmd, &plan);
}
