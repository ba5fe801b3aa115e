// SPDX-License-Identifier: GPL-2.0
#include "drive-internal.h"

struct drive *drive_create(const struct profile *profile, gfp_t gfp)
{
	struct drive *drive = kvzalloc(sizeof(*drive), gfp);

	if (!drive)
		return NULL;
	drive->profile = profile;
	drive->media.profile = profile;
	drive->media.geometry = geometry_create(profile, gfp);
	drive->cache = cache_create(profile, gfp);
	if (profile->write_buffer && profile->write_cache == WRITE_CACHE_BACK)
		drive->writes = write_buffer_create(profile, gfp);
	if (!drive->media.geometry || !drive->cache ||
	    (profile->write_buffer && profile->write_cache == WRITE_CACHE_BACK &&
	     !drive->writes)) {
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
	write_buffer_destroy(drive->writes);
	kvfree(drive);
}

size_t drive_bytes(const struct drive *drive)
{
	return sizeof(*drive) + geometry_bytes(drive->media.geometry) +
	       cache_bytes(drive->cache) +
	       (drive->writes ? write_buffer_bytes(drive->writes) : 0);
}

/* Read-ahead has the mechanics first: it began with the last read. */
static void background(struct drive *drive, u64 now)
{
	drive->clock = max(drive->clock, now);
	readahead_advance(drive, drive->clock);
	if (!drive->readahead.segment)
		destage_advance(drive, drive->clock);
}

static u64 flush(struct drive *drive, struct command *cmd)
{
	u64 overhead = drive->profile->overhead + drive->profile->flush_overhead;

	destage_all(drive, cmd->begin);
	drive_decoded(drive, cmd, cmd->begin + overhead);
	return max(drive->media_free, cmd->begin) + overhead;
}

static void fill_block(struct drive *drive, u64 sector, u32 sectors, u64 *time)
{
	struct media_pass pass = {
		.sector = sector,
		.left = min_t(u64, sectors, drive->profile->sectors - sector),
		.time = *time,
	};
	struct segment *segment = cache_find(drive->cache, sector, false);
	struct media_stretch stretch;

	if (segment && sector + pass.left <= segment->end)
		return;
	while (pass.left)
		media_next(&drive->media, &pass, &stretch);
	*time = pass.time;
}

void drive_fill_blocks(struct drive *drive, struct media_pass *pass)
{
	u32 block = drive->profile->physical_block / 512;
	u64 first = pass->sector, end = pass->sector + pass->left;

	if (!((first | end) & (block - 1)))
		return;
	if (first & (block - 1)) {
		first &= ~(u64)(block - 1);
		fill_block(drive, first, block, &pass->time);
		first += block;
	}
	if (end & (block - 1) && end > first)
		fill_block(drive, end & ~(u64)(block - 1), block, &pass->time);
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

u64 drive_serve(struct drive *drive, const struct drive_command *command, u64 now,
		struct drive_parts *parts)
{
	struct command cmd = {
		.sector = command->sector,
		.sectors = command->sectors,
		.begin = drive_begin(drive, command->arrived),
		.now = now,
		.fua = command->flags & DISK_FUA,
	};
	u64 end;

	background(drive, cmd.begin);
	if (command->op == DISK_FLUSH || !command->sectors) {
		end = flush(drive, &cmd);
	} else if (command->op == DISK_READ) {
		end = drive_read(drive, &cmd);
		drive->wrote = false;
		drive->bus_free = end;
	} else {
		end = drive_write(drive, &cmd);
		drive->wrote = true;
		drive->last_write = command->sector + command->sectors;
	}
	end = max(end, now);
	drive->last_end = end;
	split(&cmd.parts, end - now);
	if (parts)
		*parts = cmd.parts;
	return end;
}

/*
 * What a drive takes for the access time of a command whose data pass the head at @first, of
 * which @wait is rotation. Drives know the angle in part only, some of them least where
 * commands follow on one another: a Toshiba P300 gains nothing by it from 1 MiB on.
 */
static u64 estimate(const struct drive *drive, const struct command *cmd, u64 first, u64 wait)
{
	const struct profile *profile = drive->profile;
	u64 known = profile->ncq_rotation, guess;

	if (cmd->stream)
		known = known * profile->ncq_rotation_stream / 1000;
	guess = profile->revolution / 2 * (1000 - known);
	return first - wait + div_u64(wait * known + guess, 1000);
}

static u64 read_access(const struct drive *drive, const struct command *cmd)
{
	struct read_plan plan;
	u64 first, wait;

	read_plan(drive, cmd, &plan);
	if (plan.source == FROM_BUFFER)
		return 0;
	if (plan.source == FROM_READAHEAD && !MODEL_PLANTED(order))
		return max(plan.first, cmd->now + 1);	/* the arm is needed, where it is */
	first = when_under_head(drive, plan.from, plan.ready, &wait);
	return estimate(drive, cmd, first, wait);
}

static u64 write_access(const struct drive *drive, const struct command *cmd)
{
	u64 seek, wait, start;
	struct write_plan plan;
	struct place place;

	if (drive->writes && !cmd->fua)
		return write_buffer_room(drive->writes, cmd->sectors) ? 0 : DRIVE_NO_ROOM;
	if (drive->profile->write_cache == WRITE_CACHE_BACK && !cmd->fua &&
	    cache_has_room(drive->cache))
		return 0;
	write_plan(drive, cmd, &plan);
	start = drive->readahead.segment ? readahead_stops(drive, plan.ready) :
					   max(plan.ready, drive->media_free);
	geometry_find(drive->media.geometry, cmd->sector, &place);
	media_access(&drive->media, &place, true, start, plan.not_before, &seek, &wait);
	return estimate(drive, cmd, start + seek + wait, wait);
}

u64 drive_access_time(const struct drive *drive, const struct drive_command *command, u64 now)
{
	const struct command cmd = {
		.sector = command->sector,
		.sectors = command->sectors,
		.begin = drive_begin(drive, command->arrived),
		.now = now,
		.stream = command->stream,
		.fua = command->flags & DISK_FUA,
	};
	u64 first = 0;

	if (command->op == DISK_READ)
		first = read_access(drive, &cmd);
	else if (command->op == DISK_WRITE)
		first = write_access(drive, &cmd);
	if (first == DRIVE_NO_ROOM)
		return first;
	return first > now ? first - now : 0;
}
