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

/* Read-ahead has the mechanics first: it began with the last read. */
static void background(struct drive *drive, u64 now)
{
	readahead_advance(drive, now);
	if (!drive->readahead.segment)
		destage_advance(drive, now);
}

static u64 flush(struct drive *drive, struct command *cmd)
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

	background(drive, now);
	if (op == DISK_FLUSH || !sectors) {
		end = flush(drive, &cmd);
	} else if (op == DISK_READ) {
		end = drive_read(drive, &cmd);
		drive->wrote = false;
	} else {
		end = drive_write(drive, &cmd, flags);
		drive->wrote = true;
		drive->last_write = sector + sectors;
	}
	drive->last_end = end;
	split(&cmd.parts, end - now);
	if (parts)
		*parts = cmd.parts;
	return end;
}

/* Is the command served without waiting for the mechanics? */
static bool hits(const struct drive *drive, enum disk_op op, u64 sector, u32 sectors)
{
	const struct segment *segment;

	if (op == DISK_WRITE)
		return drive->profile->write_cache == WRITE_CACHE_BACK &&
		       cache_has_room(drive->cache);
	if (op != DISK_READ)
		return true;
	if (!drive->profile->read_cache)
		return false;
	segment = cache_find(drive->cache, sector, false);
	return segment && sector + sectors <= segment->end;
}

u64 drive_access_time(const struct drive *drive, enum disk_op op, u64 sector, u32 sectors,
		      u64 now)
{
	u64 seek, wait, start;
	struct place place;

	if (hits(drive, op, sector, sectors))
		return 0;
	start = now + drive_overhead(drive, op == DISK_WRITE ? KIND_WRITE_MISS : KIND_READ_MISS);
	if (!drive->readahead.segment)
		start = max(start, drive->media_free);
	geometry_find(drive->media.geometry, sector, &place);
	media_access(&drive->media, &place, op == DISK_WRITE, start, 0, &seek, &wait);
	return start - now + seek + wait;
}
