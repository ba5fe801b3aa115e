// SPDX-License-Identifier: GPL-2.0
/*
 * A shingled drive's media cache and the cleaning of bands, as far as they take time. Cleaning goes
 * on while the drive is idle, a track at a time; a command comes in between. It is also what a
 * write waits for that finds no room.
 */
#include "drive-internal.h"

#define LONG_IDLE	10000000000ULL	/* ns */
#define MOST_PIECES	64		/* of a band that a write waits for, one by one */

/* The next phase's pass, from @time on. */
static void cleaning_enter(struct drive *drive, enum cleaning_phase phase, u64 time)
{
	const struct shingle *shingle = drive->media.shingle;
	struct cleaning *cleaning = &drive->cleaning;
	u32 band = cleaning->band - 1;

	cleaning->phase = phase;
	cleaning->pass = (struct media_pass) {
		.sector = phase == CLEANING_COPY ? shingle_scratch(shingle) :
						   (u64)band * drive->profile->band,
		.left = shingle_band_sectors(shingle, band),
		.time = time,
		.write = phase >= CLEANING_COPY,
	};
}

static void cleaning_enter_extent(struct drive *drive, u64 time)
{
	struct cleaning *cleaning = &drive->cleaning;
	const struct shingle_extent *extent;

	extent = shingle_extent(drive->media.shingle, cleaning->band - 1, cleaning->done);
	if (!extent) {
		cleaning_enter(drive, CLEANING_BAND, time);
		return;
	}
	cleaning->phase = CLEANING_CACHED;
	cleaning->done = extent->start + extent->sectors;
	cleaning->pieces++;
	cleaning->pass = (struct media_pass) {
		.sector = extent->at, .left = extent->sectors, .time = time,
	};
}

/* A stretch more, from @time on. There is a band to clean. */
static void cleaning_step(struct drive *drive, u64 time)
{
	struct cleaning *cleaning = &drive->cleaning;
	struct shingle *shingle = drive->media.shingle;
	struct media_stretch stretch;
	struct place place;

	if (!cleaning->band) {
		cleaning->band = shingle_oldest(shingle);
		cleaning->done = 0;
		cleaning->pieces = 0;
		cleaning_enter_extent(drive, time);
	}
	cleaning->pass.time = time;
	geometry_find(drive->media.geometry, cleaning->pass.sector, &place);
	media_next_at(&drive->media, &cleaning->pass, &place, &stretch);
	drive->media_free = stretch.end;
	if (cleaning->pass.left)
		return;
	if (cleaning->phase == CLEANING_CACHED) {
		cleaning_enter_extent(drive, stretch.end);
	} else if (cleaning->phase < CLEANING_HOME) {
		cleaning_enter(drive, cleaning->phase + 1, stretch.end);
	} else {
		shingle_forget(shingle, cleaning->band - 1);
		cleaning->band = 0;
	}
}

/*
 * All of a band at once, by what its tracks and pieces take on average: hours of idle time are
 * worked out when the next command comes, with the caller's lock held.
 */
static void clean_band(struct drive *drive, u64 start)
{
	const struct profile *profile = drive->profile;
	struct shingle *shingle = drive->media.shingle;
	u32 band = shingle_oldest(shingle) - 1, pieces = shingle->nr_unused;
	u64 sectors = shingle_band_sectors(shingle, band), time;
	struct place place, cache;

	geometry_find(drive->media.geometry, (u64)band * profile->band, &place);
	geometry_find(drive->media.geometry, profile->media_cache, &cache);
	/* Three passes: a seek and half a turn, the tracks, and a switch for each. */
	time = 3 * (seek_time(profile, place.cylinder) + profile->revolution / 2 +
		    div_u64(sectors * profile->revolution, place.slots) +
		    div_u64(sectors, place.slots) * profile->head_switch);
	shingle_forget(shingle, band);
	pieces = shingle->nr_unused - pieces;
	/* And each piece: random places within the media cache are a third of it apart. */
	time += pieces * (seek_time(profile, cache.cylinder / 3) + profile->revolution / 2);
	drive->media.cylinder = place.cylinder;
	drive->media.head = place.head;
	drive->media_free = start + time;
}

void clean_advance(struct drive *drive, u64 now)
{
	u64 start;

	while (shingle_oldest(drive->media.shingle)) {
		start = max(drive->last_end + drive->profile->clean_idle, drive->media_free);
		if (start >= now)
			return;
		if (!drive->cleaning.band && now - start > LONG_IDLE)
			clean_band(drive, start);
		else
			cleaning_step(drive, start);
	}
}

void clean_abandon(struct drive *drive, u32 band)
{
	if (drive->cleaning.band == band + 1)
		drive->cleaning.band = 0;
}

/*
 * Clean the oldest band, or what is left of that, from @time on; nothing comes in between. Returns
 * when it is done. A band may be in thousands of pieces, and the caller's lock is held: those
 * behind the first take what these took on average.
 */
static u64 clean_now(struct drive *drive, u64 time)
{
	struct cleaning *cleaning = &drive->cleaning;
	u32 before = cleaning->band ? cleaning->pieces : 1, seen, all;
	u64 begin = time;

	do {
		cleaning_step(drive, time);
		time = drive->media_free;
		seen = cleaning->pieces - before;
		if (!cleaning->band || cleaning->phase != CLEANING_CACHED || seen < MOST_PIECES)
			continue;
		all = shingle_read_all(drive->media.shingle, cleaning->band - 1);
		/* The last of these pieces has not been read. */
		time += div_u64((time - begin) * (all - cleaning->pieces + 1), seen);
		cleaning_enter(drive, CLEANING_BAND, time);
	} while (cleaning->band);
	return time;
}

static u32 waiting_runs(const struct drive *drive)
{
	return drive->writes ? drive->writes->runs.nr : 0;
}

bool clean_packet_goes_on(const struct drive *drive)
{
	return drive->packet.left && drive->packet.end == drive->media_free && drive->writes &&
	       !MODEL_PLANTED(packet);
}

u32 clean_place(struct drive *drive, u64 sector, u64 sectors, u64 *at, u64 *time)
{
	const struct profile *profile = drive->profile;
	struct shingle *shingle = drive->media.shingle;
	struct packet *packet = &drive->packet;
	u32 band = shingle_band(shingle, sector), room;

	sectors = min(sectors, shingle_band_left(shingle, sector));
	while (!(room = shingle_room(shingle)))
		*time = clean_now(drive, *time);
	if (*time != packet->end || !packet->left) {
		packet->left = min(profile->media_cache_packet, waiting_runs(drive) + 1);
		*time += profile->media_cache_overhead;
	}
	sectors = min_t(u64, sectors, room);
	packet->left--;
	clean_abandon(drive, band);
	*at = shingle_append(shingle, sector, sectors);
	return sectors;
}

void clean_wrote(struct drive *drive, u64 end)
{
	drive->packet.end = end;
}
