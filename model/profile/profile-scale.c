// SPDX-License-Identifier: GPL-2.0
/*
 * Another size of the same drive.
 *
 * The areal density stays as it is. So tracks keep their sectors, and a larger disk has more
 * cylinders. Zones keep their share of the capacity and of the cylinders. Long seeks keep their
 * share of the full stroke. So a benchmark that uses all of the disk sees the same mix of seek
 * times and rates as on the original. A seek to the next cylinder costs what it did. Spares and
 * defects belong to one piece of hardware. They are dropped.
 */
#include "profile-options.h"

/* Of flash: so many that collection has a choice, and no more than are looked through at once. */
#define FEW_UNITS	256
#define MANY_UNITS	4096
#define LEAST_UNIT	2048	/* sectors */

static u64 scale_to(u64 value, u64 to, u64 from)
{
	return mul_u64_u64_div_u64(value, to, from);
}

/* Zones that are left no room by rounding are dropped. Returns the cylinders used. */
static u64 scale_zones(struct profile *profile, u64 sectors)
{
	u64 end, begin = 0, old_end = 0, cylinders = 0, needed;
	u32 i, n = 0, unit = profile->logical_block / 512;

	for (i = 0; i < profile->nr_zones; i++) {
		struct profile_zone zone = profile->zones[i];
		u64 share = scale_to(zone.last_cyl - zone.first_cyl + 1, sectors, profile->sectors);

		old_end += zone.sectors;
		end = scale_to(old_end, sectors, profile->sectors);
		end = i + 1 < profile->nr_zones ? div64_u64(end, unit) * unit : sectors;
		if (end == begin)
			continue;
		needed = (u64)profile->heads * zone.sectors_per_track;
		needed = div64_u64(end - begin + needed - 1, needed);
		share = max(share, needed);
		if (cylinders + share > PROFILE_MAX_CYLINDERS)
			return U64_MAX;
		zone.first_cyl = cylinders;
		zone.last_cyl = cylinders + share - 1;
		zone.sectors = end - begin;
		zone.front_empty = 0;
		zone.spares = 0;
		zone.first_slip = 0;
		zone.slips = 0;
		profile->zones[n++] = zone;
		cylinders += share;
		begin = end;
	}
	profile->nr_zones = n;
	return cylinders;
}

/* The first entry stays, the others keep their share of the stroke. */
static void scale_seeks(struct profile *profile, u32 cylinders)
{
	struct profile_seek *seek = profile->seeks;
	u32 i, n = 1;
	u64 distance;

	for (i = 1; i < profile->nr_seeks; i++) {
		distance = scale_to(seek[i].cylinders, cylinders, profile->cylinders);
		distance = min_t(u64, distance, PROFILE_MAX_CYLINDERS);
		if (distance <= seek[n - 1].cylinders)
			continue;	/* shrunk onto the one before */
		seek[n].cylinders = distance;
		seek[n++].ns = seek[i].ns;
	}
	profile->nr_seeks = min(n, profile->nr_seeks);
}

static void scale_curve(struct profile *profile, u32 cylinders)
{
	u64 factor = profile->seek_short_factor;

	/* factor * sqrt(distance), with distance in new cylinders */
	factor = int_sqrt64(scale_to(factor * factor, profile->cylinders, cylinders));
	profile->seek_short_factor = min_t(u64, factor, PROFILE_LONGEST);
	factor = scale_to(profile->seek_long_factor, profile->cylinders, cylinders);
	profile->seek_long_factor = min_t(u64, factor, PROFILE_LONGEST_FINE);
	profile->seek_limit = min_t(u64, PROFILE_MAX_CYLINDERS,
				    scale_to(profile->seek_limit, cylinders, profile->cylinders));
}

/* As many dies, each larger or smaller, and units to go with that. */
static int scale_flash(struct profile *profile, u64 sectors)
{
	if (profile->kind != DRIVE_SSD) {
		profile->sectors = sectors;
		return 0;
	}
	profile->raw_sectors = scale_to(profile->raw_sectors, sectors, profile->sectors);
	profile->gc_idle_room = scale_to(profile->gc_idle_room, sectors, profile->sectors);
	profile->slc_cache = scale_to(profile->slc_cache, sectors, profile->sectors);
	if (profile->slc_cache_min)	/* 0 would be a cache that does not shrink */
		profile->slc_cache_min = max_t(u64, scale_to(profile->slc_cache_min, sectors,
							     profile->sectors), 1);
	profile->slc_cache_min = min(profile->slc_cache_min, profile->slc_cache);
	while (sectors / profile->map_coverage >= U32_MAX)
		profile->map_coverage *= 2;
	profile->sectors = sectors;
	while (profile->gc_unit > LEAST_UNIT && profile->raw_sectors / FEW_UNITS < profile->gc_unit)
		profile->gc_unit /= 2;
	while (profile->raw_sectors / MANY_UNITS > profile->gc_unit)
		profile->gc_unit *= 2;
	return 0;
}

/*
 * The media cache keeps its share, and bands their size as far as that goes: there are no more than
 * the map takes, two fit into the write buffer. A disk with no room for any is not shingled.
 */
static void scale_shingled(struct profile *profile, u64 sectors)
{
	u64 cache = scale_to(profile->media_cache, sectors, profile->sectors), band = profile->band;

	if (!profile->media_cache)
		return;
	cache = min_t(u64, cache, BIT(30)) & ~(u64)(SHINGLE_BLOCK - 1);
	while (band > cache / 2 && band > SHINGLE_BLOCK)
		band = max_t(u64, band / 2 & ~(u64)(SHINGLE_BLOCK - 1), SHINGLE_BLOCK);
	while (sectors / PROFILE_MAX_BANDS >= band)
		band *= 2;
	profile->media_cache = band <= cache && cache + band <= sectors / 2 ? cache : 0;
	profile->band = band;
	if (profile->write_buffer && profile->media_cache)
		profile->write_buffer = max_t(u64, profile->write_buffer, 2 * band);
}

/* Zones keep their size; those that are written at any place keep their share. */
static int scale_zoned(struct profile *profile, u64 sectors)
{
	u64 conventional = profile->conventional_zones;

	if (!profile->zone_size)
		return 0;
	if (sectors & (profile->zone_size - 1) || sectors == profile->zone_size ||
	    sectors / profile->zone_size > PROFILE_MAX_HOST_ZONES)
		return -EINVAL;
	if (conventional)
		conventional = max_t(u64, scale_to(conventional, sectors, profile->sectors), 1);
	profile->conventional_zones = conventional;
	return 0;
}

int profile_scale(struct profile *profile, u64 sectors)
{
	u64 cylinders;

	if (sectors == profile->sectors)
		return 0;
	if (!sectors || sectors > PROFILE_MAX_SECTORS ||
	    sectors & (profile->logical_block / 512 - 1))
		return -EINVAL;
	if (scale_zoned(profile, sectors))
		return -EINVAL;
	if (profile->kind != DRIVE_DISK)
		return scale_flash(profile, sectors);
	cylinders = scale_zones(profile, sectors);
	if (cylinders > PROFILE_MAX_CYLINDERS)
		return -EINVAL;
	scale_shingled(profile, sectors);
	if (profile->nr_seeks)
		scale_seeks(profile, cylinders);
	else
		scale_curve(profile, cylinders);
	profile->cylinders = cylinders;
	profile->sectors = sectors;
	profile->sparing = SPARING_NONE;
	profile->nr_slips = 0;
	profile->nr_remaps = 0;
	profile_derive(profile);
	return 0;
}
