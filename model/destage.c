// SPDX-License-Identifier: GPL-2.0
/*
 * Writing dirty segments to the media behind the host's back: once the drive has
 * been idle for the profile's time, or at once where the room is needed. What has
 * begun is finished.
 */
#include "drive-internal.h"

void destage_start(struct drive *drive, struct segment *segment, u64 now)
{
	drive->destage.segment = segment;
	drive->destage.pass = (struct media_pass) {
		.sector = segment->end - segment->dirty,
		.time = now,
		.not_before = segment->dirty_since,
		.write = true,
		.any_order = drive->profile->immediate_write,
	};
}

/* One stretch more. Data that have come since then are part of it. */
static void step(struct drive *drive)
{
	struct destage *destage = &drive->destage;
	struct segment *segment = destage->segment;
	struct media_stretch stretch;

	destage->pass.left = segment->dirty;
	media_next(&drive->media, &destage->pass, &stretch);
	segment->dirty -= stretch.sectors;
	drive->media_free = destage->pass.time;
}

static void done(struct drive *drive)
{
	struct segment *segment = drive->destage.segment;

	drive->destage.segment = NULL;
	if (!drive->profile->read_hits_on_write_data) {
		segment->start = 0;
		segment->end = 0;
	}
}

void destage_segment(struct drive *drive, struct segment *segment, u64 left, u64 now)
{
	if (drive->destage.segment != segment) {
		destage_finish(drive);
		readahead_stop(drive, now);
		destage_start(drive, segment, max(now, drive->media_free));
	}
	while (segment->dirty > left)
		step(drive);
	if (!segment->dirty)
		done(drive);
}

void destage_finish(struct drive *drive)
{
	if (drive->destage.segment)
		destage_segment(drive, drive->destage.segment, 0, 0);
}

struct segment *destage_choose(struct drive *drive, u64 now)
{
	struct segment *segment, *best = NULL;
	u64 seek, wait, best_time = 0;
	struct place place;
	u32 i;

	for (i = 0; i < drive->cache->nr; i++) {
		segment = &drive->cache->segments[i];
		if (!segment->dirty)
			continue;
		geometry_find(drive->media.geometry, segment->end - segment->dirty, &place);
		media_access(&drive->media, &place, true, now, segment->dirty_since, &seek, &wait);
		if (!best || seek + wait < best_time) {
			best = segment;
			best_time = seek + wait;
		}
	}
	return best;
}

void destage_all(struct drive *drive, u64 now)
{
	struct segment *segment;

	destage_finish(drive);
	readahead_stop(drive, now);
	while ((segment = destage_choose(drive, max(now, drive->media_free))))
		destage_segment(drive, segment, 0, now);
}

void destage_advance(struct drive *drive, u64 now)
{
	const struct profile *profile = drive->profile;
	struct segment *segment;
	u64 start;

	for (;;) {
		segment = drive->destage.segment;
		if (segment) {
			if (drive->destage.pass.time >= now)
				return;
			step(drive);
			if (!segment->dirty)
				done(drive);
			continue;
		}
		start = max(drive->media_free, drive->last_end + profile->destage_idle);
		if (start >= now)
			return;
		segment = destage_choose(drive, start);
		if (!segment)
			return;
		destage_start(drive, segment, start);
	}
}
