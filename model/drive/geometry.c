// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "geometry.h"

/* What is the same for every sector of a zone. A unit is what has spares of its own. */
struct geometry_zone {
	u64 first_sector;
	u64 end_sector;
	u64 unit_places;
	u64 unit_sectors;	/* U64_MAX: the zone is one unit */
	u32 first_slip, slips;
	u32 first_remap, remaps;
	bool plain;		/* nothing is left out within it: as shipped profiles have it */
};

#define PARTS	128		/* of the disk, of equal size */

struct geometry {
	const struct profile *profile;
	size_t bytes;
	u32 nr_zones;
	u32 part_shift;
	u16 zone_of_part[PARTS];	/* in which it begins */
	u32 *slips;			/* each zone's in ascending order */
	struct profile_remap *remaps;	/* in ascending order of zone and place */
	struct geometry_zone zones[];
};

static void zone_sort_slips(u32 *slips, u32 n)
{
	u32 i, k;

	for (i = 1; i < n; i++) {
		u32 slip = slips[i];

		for (k = i; k && slips[k - 1] > slip; k--)
			slips[k] = slips[k - 1];
		slips[k] = slip;
	}
}

static bool remap_less(const struct profile_remap *a, const struct profile_remap *b)
{
	return a->zone != b->zone ? a->zone < b->zone : a->from < b->from;
}

static void sort_remaps(struct profile_remap *remaps, u32 n)
{
	u32 i, k;

	for (i = 1; i < n; i++) {
		struct profile_remap remap = remaps[i];

		for (k = i; k && remap_less(&remap, &remaps[k - 1]); k--)
			remaps[k] = remaps[k - 1];
		remaps[k] = remap;
	}
}

static void set_unit(struct geometry_zone *zone, const struct profile *profile,
		     const struct profile_zone *from)
{
	u64 track = from->sectors_per_track;

	switch (profile->sparing) {
	case SPARING_CYLINDER:
		zone->unit_places = track * profile->heads;
		break;
	case SPARING_TRACK:
		zone->unit_places = track;
		break;
	case SPARING_RANGE:
		zone->unit_places = track * profile->heads * profile->sparing_range;
		break;
	default:
		zone->unit_sectors = U64_MAX;
		return;
	}
	/* Nothing but spares would be no unit at all. */
	zone->unit_sectors = max(zone->unit_places, from->spares + 1ULL) - from->spares;
}

static void divide_disk(struct geometry *geometry)
{
	u32 part, zone = 0;

	while (geometry->profile->sectors >> geometry->part_shift >= PARTS)
		geometry->part_shift++;
	for (part = 0; part < PARTS; part++) {
		while (zone < geometry->nr_zones - 1 &&
		       (u64)part << geometry->part_shift >= geometry->zones[zone].end_sector)
			zone++;
		geometry->zone_of_part[part] = zone;
	}
}

struct geometry *geometry_create(const struct profile *profile, gfp_t gfp)
{
	struct geometry *geometry;
	u32 i, remap = 0;
	size_t bytes;

	bytes = sizeof(*geometry) + profile->nr_zones * sizeof(struct geometry_zone) +
		profile->nr_remaps * sizeof(struct profile_remap) +
		profile->nr_slips * sizeof(u32);
	geometry = kvzalloc(bytes, gfp);
	if (!geometry)
		return NULL;
	geometry->profile = profile;
	geometry->bytes = bytes;
	geometry->nr_zones = profile->nr_zones;
	geometry->remaps = (void *)&geometry->zones[profile->nr_zones];
	geometry->slips = (void *)&geometry->remaps[profile->nr_remaps];
	if (profile->nr_slips)
		memcpy(geometry->slips, profile->slips, profile->nr_slips * sizeof(u32));
	if (profile->nr_remaps)
		memcpy(geometry->remaps, profile->remaps,
		       profile->nr_remaps * sizeof(struct profile_remap));
	sort_remaps(geometry->remaps, profile->nr_remaps);
	for (i = 0; i < profile->nr_zones; i++) {
		const struct profile_zone *from = &profile->zones[i];
		struct geometry_zone *zone = &geometry->zones[i];

		zone->first_sector = from->first_sector;
		zone->end_sector = from->first_sector + from->sectors;
		set_unit(zone, profile, from);
		zone->first_slip = from->first_slip;
		zone->slips = from->slips;
		zone_sort_slips(geometry->slips + from->first_slip, from->slips);
		zone->first_remap = remap;
		while (remap < profile->nr_remaps && geometry->remaps[remap].zone == i)
			remap++;
		zone->remaps = remap - zone->first_remap;
		zone->plain = zone->unit_sectors == U64_MAX && !zone->slips && !zone->remaps;
	}
	divide_disk(geometry);
	return geometry;
}

void geometry_destroy(struct geometry *geometry)
{
	kvfree(geometry);
}

size_t geometry_bytes(const struct geometry *geometry)
{
	return geometry->bytes;
}

static u32 find_zone(const struct geometry *geometry, u64 sector)
{
	u32 low = geometry->zone_of_part[sector >> geometry->part_shift];

	while (low < geometry->nr_zones - 1 && sector >= geometry->zones[low].end_sector)
		low++;
	return low;
}

/* How many of @slips are below @place. */
static u32 slips_below(const u32 *slips, u32 n, u64 place)
{
	u32 low = 0;

	while (low < n) {
		u32 middle = (low + n) / 2;

		if (slips[middle] < place)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/*
 * How many of @slips come before the place that would be @place if nothing were
 * slipped: each of them moves it on and may so bring it past the next.
 */
static u32 slips_passed(const u32 *slips, u32 n, u64 place)
{
	u32 low = 0;

	while (low < n) {
		u32 middle = (low + n) / 2;

		if (slips[middle] <= place + middle)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* The first remap of @zone from @place on; zone->remaps if there is none. */
static u32 find_remap(const struct geometry *geometry, const struct geometry_zone *zone, u64 place)
{
	const struct profile_remap *remaps = geometry->remaps + zone->first_remap;
	u32 low = 0, high = zone->remaps;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (remaps[middle].from < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Number @at is a place, or a track where tracks are slipped and remapped. Returns its own. */
static u64 zone_remapped(const struct geometry *geometry, const struct geometry_zone *zone, u64 at,
			 u64 *next, u64 *previous)
{
	const struct profile_remap *remaps = geometry->remaps + zone->first_remap;
	u32 i;

	*next = U64_MAX;
	*previous = 0;
	if (!zone->remaps)
		return at;
	i = find_remap(geometry, zone, at);
	if (i)
		*previous = remaps[i - 1].from + 1ULL;
	if (i == zone->remaps)
		return at;
	*next = remaps[i].from;
	return *next == at ? remaps[i].to : at;
}

/* Fill in cylinder, head and slot of sector @in_track of track @track of the zone. */
static __always_inline void set_place(const struct geometry *geometry, struct place *place,
				      u64 track, u32 in_track, u32 slips)
{
	const struct profile *profile = geometry->profile;
	const struct profile_zone *zone = &profile->zones[place->zone];
	u32 cylinder, head, slot;
	u64 angle;

	cylinder = div_u64_rem(track, profile->heads, &head);
	place->cylinder = zone->first_cyl + cylinder;
	place->head = profile->serpentine && cylinder % 2 ? profile->heads - 1 - head : head;
	place->slots = zone->sectors_per_track;
	angle = zone->first_offset + in_track + slips +
		(u64)zone->track_skew * (head + (profile->heads - 1ULL) * cylinder) +
		(u64)zone->cyl_skew * cylinder;
	div_u64_rem(angle, place->slots, &slot);
	place->slot = slot;
}

static void find_plain(const struct geometry *geometry, u64 place_number, struct place *place)
{
	u32 slots = geometry->profile->zones[place->zone].sectors_per_track, in_track;
	u64 track = div_u64_rem(place_number, slots, &in_track);

	place->run = slots - in_track;
	place->before = in_track;
	place->to_end = true;
	set_place(geometry, place, track, in_track, 0);
}

static void find_by_track(const struct geometry *geometry, const struct geometry_zone *zone,
			  u64 place_number, struct place *place)
{
	u32 slots = geometry->profile->zones[place->zone].sectors_per_track, in_track;
	u64 track, next, previous;

	track = div_u64_rem(place_number, slots, &in_track);
	track += slips_passed(geometry->slips + zone->first_slip, zone->slips, track);
	track = zone_remapped(geometry, zone, track, &next, &previous);
	place->run = slots - in_track;
	place->before = in_track;
	place->to_end = true;
	set_place(geometry, place, track, in_track, 0);
}

/*
 * Where spares are in each cylinder or track, its first sector is laid out as if
 * those slipped before it were not there: they turn all behind them on by a sector.
 */
static u32 skew_slips(const struct geometry *geometry, const struct geometry_zone *zone,
		      u64 track_start)
{
	u64 start = track_start;

	if (!zone->slips)
		return 0;
	if (geometry->profile->sparing == SPARING_CYLINDER) {
		u64 in_cylinder;

		div64_u64_rem(start, zone->unit_places, &in_cylinder);
		start -= in_cylinder;
	} else if (geometry->profile->sparing != SPARING_TRACK) {
		return 0;
	}
	return slips_below(geometry->slips + zone->first_slip, zone->slips, start);
}

static void find_by_sector(const struct geometry *geometry, const struct geometry_zone *zone,
			   u64 place_number, struct place *place)
{
	const u32 *slips = geometry->slips + zone->first_slip;
	u32 slots = geometry->profile->zones[place->zone].sectors_per_track;
	u64 unit_start = 0, in_unit = place_number, at, to, track, next, previous;
	u32 in_track, skipped, passed, rest;

	if (zone->unit_sectors != U64_MAX) {
		unit_start = div64_u64_rem(place_number, zone->unit_sectors, &in_unit);
		unit_start *= zone->unit_places;
	}
	skipped = unit_start ? slips_below(slips, zone->slips, unit_start) : 0;
	passed = slips_passed(slips + skipped, zone->slips - skipped, unit_start + in_unit);
	at = unit_start + in_unit + passed;
	track = div_u64_rem(at, slots, &in_track);

	to = zone_remapped(geometry, zone, at, &next, &previous);
	place->run = slots - in_track;
	place->run = min_t(u64, place->run, zone->unit_sectors - in_unit);
	rest = place->run;
	if (skipped + passed < zone->slips)
		place->run = min_t(u64, place->run, slips[skipped + passed] - at);
	place->before = min_t(u64, in_track, in_unit);
	if (passed)
		place->before = min_t(u64, place->before, at - slips[skipped + passed - 1] - 1);
	if (to != at) {
		place->run = 1;
		place->before = 0;
		track = div_u64_rem(to, slots, &in_track);
	} else {
		place->run = min_t(u64, place->run, next - at);
		place->before = min_t(u64, place->before, at - previous);
	}

	place->to_end = to == at && place->run == rest;
	set_place(geometry, place, track, in_track, skew_slips(geometry, zone, track * slots));
}

void geometry_find(const struct geometry *geometry, u64 sector, struct place *place)
{
	const struct geometry_zone *zone;
	u64 number, left;

	place->zone = find_zone(geometry, sector);
	zone = &geometry->zones[place->zone];
	number = sector - zone->first_sector +
		 geometry->profile->zones[place->zone].front_empty;
	if (zone->plain)
		find_plain(geometry, number, place);
	else if (geometry->profile->sparing == SPARING_TRACKS)
		find_by_track(geometry, zone, number, place);
	else
		find_by_sector(geometry, zone, number, place);
	left = zone->end_sector - sector;
	if (place->run > left)
		place->run = left;
	if (place->before > sector - zone->first_sector)
		place->before = sector - zone->first_sector;
}

u64 geometry_track_end(const struct geometry *geometry, u64 sector, const struct place *place)
{
	struct place next = *place;

	do {
		sector += next.run;
		if (next.to_end || sector >= geometry->profile->sectors)
			break;
		geometry_find(geometry, sector, &next);
	} while (next.cylinder == place->cylinder && next.head == place->head);
	return sector;
}

u64 geometry_cylinder_end(const struct geometry *geometry, u64 sector, const struct place *place)
{
	struct place next = *place;

	do {
		sector += next.run;
		if (sector >= geometry->profile->sectors)
			break;
		geometry_find(geometry, sector, &next);
	} while (next.cylinder == place->cylinder);
	return sector;
}
