// SPDX-License-Identifier: GPL-2.0
/*
 * Writing dirty segments to the media after the host's write is done: when the drive has been idle
 * for the profile's time, or at once where the room is needed. What has begun is finished.
 */
#include "drive-internal.h"

void destage_start(struct drive *drive, struct segment *segment, u64 now)
{
	if (drive->writes)
		write_buffer_take(drive->writes, segment);
	drive->destage.begun = false;
	drive->destage.written = 0;
	drive->destage.piece = 0;
	drive->destage.segment = segment;
	drive->destage.pass = (struct media_pass) {
		.sector = segment->end - segment->dirty,
		.time = now,
		.not_before = segment->dirty_since,
		.write = true,
		.any_order = drive->profile->immediate_write,
	};
}

bool destage_is_long(const struct drive *drive, const struct segment *segment)
{
	const struct shingle *shingle = drive->media.shingle;
	u64 begin = segment->end - segment->dirty, end;

	if (!shingle)
		return segment->dirty >= drive->profile->segment_sectors;
	if (begin == drive->destage.band_next && segment->dirty >= drive->destage.band_left)
		return drive->destage.band_left;
	end = begin + shingle_band_left(shingle, begin);
	if (begin != (u64)shingle_band(shingle, begin) * drive->profile->band) {
		/* The band's end goes to the media cache, so that the next one can be written. */
		if (end >= segment->end)
			return false;
		end += shingle_band_left(shingle, end);
	}
	return end <= segment->end;
}

/*
 * Where the next of up to @sectors of the run go. A whole band goes home, and what is left of one
 * that was interrupted. All else goes to the media cache.
 */
static void choose_piece(struct drive *drive, u64 sectors)
{
	const struct shingle *shingle = drive->media.shingle;
	struct destage *destage = &drive->destage;
	u64 sector = destage->pass.sector, rest = shingle_band_left(shingle, sector);
	u32 band = shingle_band(shingle, sector);

	if (rest == shingle_band_sectors(shingle, band) && sectors >= rest &&
	    !MODEL_PLANTED(shingle)) {
		clean_abandon(drive, band);
		shingle_forget(drive->media.shingle, band);
		destage->band_next = sector;
		destage->band_left = rest;
	}
	if (sector == destage->band_next && destage->band_left && sectors >= destage->band_left) {
		destage->at = sector;
		destage->piece = destage->band_left;
		return;
	}
	destage->piece = clean_place(drive, sector, min(sectors, rest), &destage->at,
				     &destage->pass.time);
}

static void shingled_stretch(struct drive *drive, struct media_stretch *stretch)
{
	struct destage *destage = &drive->destage;
	struct place place;

	if (!destage->piece)
		choose_piece(drive, destage->pass.left);
	destage->pass.left = min(destage->pass.left, destage->piece);
	geometry_find(drive->media.geometry, destage->at, &place);
	media_next_at(&drive->media, &destage->pass, &place, stretch);
	destage->at += stretch->sectors;
	destage->piece -= stretch->sectors;
	if (stretch->sector == destage->band_next && destage->band_left) {
		destage->band_next += stretch->sectors;
		destage->band_left -= stretch->sectors;
	} else {
		clean_wrote(drive, stretch->end);
	}
}

/* One stretch more, until @left sectors are left. Data that have come since are part of it. */
static void destage_step(struct drive *drive, u64 left)
{
	struct destage *destage = &drive->destage;
	struct segment *segment = destage->segment;
	struct media_stretch stretch;

	destage->pass.left = segment->dirty - left;
	if (!destage->begun)
		drive_fill_blocks(drive, &destage->pass);
	if (drive->writes)
		segment->start = destage->pass.sector;	/* what is behind is not kept */
	if (drive->media.shingle)
		shingled_stretch(drive, &stretch);
	else if (drive->writes && !destage->begun)
		media_next_at(&drive->media, &destage->pass, write_buffer_place(segment), &stretch);
	else
		media_next(&drive->media, &destage->pass, &stretch);
	if (unlikely(drive->faults))
		destage->pass.time = drive_detours(drive, stretch.sector, stretch.sectors, true,
						   destage->pass.time);
	destage->begun = true;
	destage->written += stretch.sectors;
	segment->dirty -= stretch.sectors;
	if (drive->writes)
		drive->writes->sectors -= stretch.sectors;
	else
		drive->dirty -= stretch.sectors;
	drive->media_free = destage->pass.time;
}

static void destage_done(struct drive *drive)
{
	struct segment *segment = drive->destage.segment;

	drive->destage.segment = NULL;
	if (drive->writes) {
		write_buffer_return(drive->writes, &drive->media, segment);
		return;
	}
	if (!drive->profile->read_hits_on_write_data)
		cache_place(drive->cache, segment, 0, 0);
}

/* Sectors of the last block of a stream that is not all there yet: they can wait for the rest. */
static u64 destage_unfinished(const struct drive *drive)
{
	const struct segment *segment = drive->destage.segment;
	u64 rest = segment->end & (drive->profile->physical_block / 512 - 1);

	return drive->writes && segment->end == drive->last_write ? rest : 0;
}

/* When a run can be begun that @now is asked for. Those of a packet follow on one another. */
static u64 free_at(const struct drive *drive, u64 now)
{
	if (drive->media.shingle && clean_packet_goes_on(drive))
		return drive->media_free;
	return max(now, drive->media_free);
}

/* Write the run's next stretch, without what can wait. */
static void advance_run(struct drive *drive)
{
	const struct segment *segment = drive->destage.segment;
	u64 rest = destage_unfinished(drive);

	destage_step(drive, segment->dirty > rest ? rest : 0);
	if (segment->dirty <= rest ||
	    (drive->media.shingle && !drive->destage.piece && !destage_is_long(drive, segment)))
		destage_done(drive);	/* the rest may become a whole band yet */
}

void destage_segment(struct drive *drive, struct segment *segment, u64 left, u64 now)
{
	if (drive->destage.segment != segment) {
		destage_finish(drive);
		readahead_stop(drive, now);
		destage_start(drive, segment, free_at(drive, now));
	}
	while (segment->dirty > left)
		destage_step(drive, left);
	if (!segment->dirty)
		destage_done(drive);
}

void destage_finish(struct drive *drive)
{
	if (drive->destage.segment && drive->writes)
		destage_done(drive);	/* the time of its last stretch is in media_free */
	else if (drive->destage.segment)
		destage_segment(drive, drive->destage.segment, 0, 0);
}

static noinline struct segment *nearest_segment(struct drive *drive, u64 now)
{
	struct segment *segment, *best = NULL;
	u64 seek, wait, best_time = 0;
	struct place place;
	u32 i;

	for (i = 0; drive->dirty && i < drive->cache->nr; i++) {
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

struct segment *destage_choose(struct drive *drive, u64 now)
{
	if (drive->media.shingle && drive->writes)
		return write_buffer_next(drive->writes);
	if (drive->writes)
		return write_buffer_nearest(drive->writes, &drive->media, now);
	return nearest_segment(drive, now);
}

void destage_one(struct drive *drive, u64 now)
{
	struct segment *segment = drive->destage.segment;

	if (!segment)
		segment = destage_choose(drive, max(now, drive->media_free));
	if (segment)
		destage_segment(drive, segment, 0, now);
}

void destage_some(struct drive *drive, u64 now)
{
	struct segment *segment = drive->destage.segment;

	if (!segment) {
		readahead_stop(drive, now);
		now = free_at(drive, now);
		segment = destage_choose(drive, now);
		if (!segment)
			return;
		destage_start(drive, segment, now);
	}
	advance_run(drive);
}

void destage_overlap(struct drive *drive, u64 sector, u64 sectors, u64 now)
{
	struct segment *segment;
	u32 i;

	destage_finish(drive);
	if (drive->writes) {
		while ((segment = write_buffer_overlap(drive->writes, sector, sectors)))
			destage_segment(drive, segment, 0, now);
		return;
	}
	for (i = 0; drive->dirty && i < drive->cache->nr; i++) {
		segment = &drive->cache->segments[i];
		if (segment->dirty && sector < segment->end &&
		    sector + sectors > segment->end - segment->dirty)
			destage_segment(drive, segment, 0, now);
	}
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
			advance_run(drive);
			continue;
		}
		start = drive->last_end + profile->destage_idle;
		if (drive->writes && write_buffer_pressed(drive->writes))
			start = drive->pressed;
		start = free_at(drive, start);
		if (start >= now)
			return;
		segment = destage_choose(drive, start);
		if (!segment)
			return;
		destage_start(drive, segment, start);
	}
}
