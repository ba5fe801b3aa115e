// SPDX-License-Identifier: GPL-2.0
/*
 * Where sectors lie, under each sparing scheme, against a naive oracle that walks
 * over all places of a small disk and deals the sectors out.
 */
#include <kunit/test.h>

#include "../../model/drive/geometry.h"
#include "random.h"

#ifdef __KERNEL__
#define DISKS	5
#else
#define DISKS	60
#endif

#define ZONES		3
#define MAX_SLIPS	24
#define MAX_REMAPS	4
#define NOWHERE		U32_MAX

struct spot {
	u32 zone, cylinder, head, slot;
};

struct world {
	struct kunit *test;
	struct rnd rnd;
	struct profile profile;
	struct profile_zone zones[ZONES];
	u32 slips[ZONES * MAX_SLIPS];
	struct profile_remap remaps[MAX_REMAPS];
	struct spot *spots;	/* by sector */
	u32 *holders;		/* by zone and place: the sector there, or NOWHERE */
	u32 holders_start[ZONES + 1];
};

static u32 unit_places(const struct profile *profile, const struct profile_zone *zone)
{
	u32 cylinder = profile->heads * zone->sectors_per_track;

	switch (profile->sparing) {
	case SPARING_CYLINDER:
		return cylinder;
	case SPARING_TRACK:
		return zone->sectors_per_track;
	case SPARING_RANGE:
		return cylinder * profile->sparing_range;
	default:
		return (zone->last_cyl - zone->first_cyl + 1) * cylinder;
	}
}

static bool slipped(const struct world *w, const struct profile_zone *zone, u32 place)
{
	u32 what = w->profile.sparing == SPARING_TRACKS ? place / zone->sectors_per_track : place;
	u32 i;

	for (i = 0; i < zone->slips; i++)
		if (w->slips[zone->first_slip + i] == what)
			return true;
	return false;
}

/* By the formula in the drives' description, with the slips that the scheme counts. */
static struct spot spot_of(const struct world *w, u32 z, u32 place)
{
	const struct profile *p = &w->profile;
	const struct profile_zone *zone = &w->zones[z];
	u32 track = place / zone->sectors_per_track, c = track / p->heads, h = track % p->heads;
	u32 angle, before = 0, start = 0, i;

	if (p->sparing == SPARING_CYLINDER)
		start = c * p->heads * zone->sectors_per_track;
	else if (p->sparing == SPARING_TRACK)
		start = track * zone->sectors_per_track;
	for (i = 0; i < start; i++)
		before += slipped(w, zone, i);
	angle = zone->first_offset + zone->track_skew * (h + (p->heads - 1) * c) +
		zone->cyl_skew * c + place % zone->sectors_per_track + before;
	return (struct spot) {
		.zone = z,
		.cylinder = zone->first_cyl + c,
		.head = p->serpentine && c % 2 ? p->heads - 1 - h : h,
		.slot = angle % zone->sectors_per_track,
	};
}

static u32 zone_places(const struct world *w, const struct profile_zone *zone)
{
	return (zone->last_cyl - zone->first_cyl + 1) * w->profile.heads *
	       zone->sectors_per_track;
}

/* As many slips in each unit as it has spares, at random places. */
static void add_slips(struct world *w, struct profile_zone *zone)
{
	bool tracks = w->profile.sparing == SPARING_TRACKS;
	u32 unit = unit_places(&w->profile, zone), total = zone_places(w, zone), start, i;

	if (tracks) {
		unit /= zone->sectors_per_track;
		total = unit;
	}
	zone->first_slip = w->profile.nr_slips;
	for (start = 0; start + unit <= total; start += unit) {
		u32 most = zone->spares;

		for (i = 0; i < most && zone->slips < MAX_SLIPS; i++) {
			u32 slip = start + rnd_below(&w->rnd, unit);

			if (rnd_below(&w->rnd, 2) ||
			    slipped(w, zone, tracks ? slip * zone->sectors_per_track : slip))
				continue;
			w->slips[w->profile.nr_slips++] = slip;
			zone->slips++;
		}
	}
}

/* The sector numbers of a zone, and then the remaps of some of them to places left over. */
static void deal_out(struct world *w, u32 z)
{
	struct profile_zone *zone = &w->zones[z];
	u32 *holders = w->holders + w->holders_start[z];
	u32 unit = unit_places(&w->profile, zone), total = zone_places(w, zone);
	u32 spares = zone->spares, empty = zone->front_empty, place, in_unit = 0;
	u64 sector = zone->first_sector;

	if (w->profile.sparing == SPARING_TRACKS)
		spares *= zone->sectors_per_track;
	for (place = 0; place < total; place++) {
		holders[place] = NOWHERE;
		if (place % unit == 0)
			in_unit = 0;
		if (slipped(w, zone, place) || in_unit == unit - spares)
			continue;
		in_unit++;
		if (empty) {
			empty--;
			continue;
		}
		w->spots[sector] = spot_of(w, z, place);
		holders[place] = sector++;
	}
	/* The last unit may be a part of one, without spares: what there is. */
	zone->sectors = sector - zone->first_sector;
}

static void add_remaps(struct world *w, u32 z)
{
	const struct profile_zone *zone = &w->zones[z];
	u32 *holders = w->holders + w->holders_start[z], total = zone_places(w, zone);
	u32 track = zone->sectors_per_track, tries, i;
	bool tracks = w->profile.sparing == SPARING_TRACKS;

	for (tries = 0; tries < 50 && w->profile.nr_remaps < MAX_REMAPS; tries++) {
		u32 size = tracks ? track : 1;
		u32 from = rnd_below(&w->rnd, total / size), to = rnd_below(&w->rnd, total / size);
		bool good = true;

		for (i = 0; i < size; i++)
			good &= holders[from * size + i] != NOWHERE &&
				holders[to * size + i] == NOWHERE &&
				!slipped(w, zone, to * size + i);
		for (i = 0; i < w->profile.nr_remaps; i++)
			good &= w->remaps[i].zone != z || (w->remaps[i].from != to &&
							  w->remaps[i].to != from);
		if (!good)
			continue;
		w->remaps[w->profile.nr_remaps++] = (struct profile_remap) { z, from, to };
		for (i = 0; i < size; i++) {
			u32 sector = holders[from * size + i];

			holders[from * size + i] = NOWHERE;
			holders[to * size + i] = sector;
			w->spots[sector] = spot_of(w, z, to * size + i);
		}
	}
}

static void make_zone(struct world *w, u32 z, u32 *cylinder, u64 *sector)
{
	struct profile_zone *zone = &w->zones[z];
	u32 cylinders = 4 + rnd_below(&w->rnd, 5), track = 5 + rnd_below(&w->rnd, 30);

	*zone = (struct profile_zone) {
		.first_cyl = *cylinder,
		.last_cyl = *cylinder + cylinders - 1,
		.sectors_per_track = track,
		.first_offset = rnd_below(&w->rnd, track),
		.track_skew = rnd_below(&w->rnd, track),
		.cyl_skew = rnd_below(&w->rnd, track),
		.front_empty = rnd_below(&w->rnd, 2) * rnd_below(&w->rnd, 2 * track),
		.first_sector = *sector,
	};
	if (w->profile.sparing != SPARING_NONE && w->profile.sparing != SPARING_DISK_END)
		zone->spares = 1 + rnd_below(&w->rnd, 3);
	/* Slips need spares; at the disk's end there are always some. */
	if (w->profile.sparing == SPARING_DISK_END)
		zone->spares = 3;
	add_slips(w, zone);
	*cylinder += cylinders + rnd_below(&w->rnd, 2);
	w->holders_start[z + 1] = w->holders_start[z] + zone_places(w, zone);
	deal_out(w, z);
	if (w->profile.sparing == SPARING_DISK_END)
		zone->spares = 0;
	*sector += zone->sectors;
}

static void make_world(struct world *w, enum profile_sparing sparing)
{
	u64 sector = 0;
	u32 cylinder = 0, z;

	w->profile = (struct profile) {
		.revolution = 1000000,
		.heads = 1 + rnd_below(&w->rnd, 4),
		.serpentine = rnd_below(&w->rnd, 2),
		.sparing = sparing,
		.sparing_range = 2,
		.nr_zones = ZONES,
		.zones = w->zones,
		.slips = w->slips,
		.remaps = w->remaps,
	};
	for (z = 0; z < ZONES; z++)
		make_zone(w, z, &cylinder, &sector);
	if (sparing != SPARING_NONE && rnd_below(&w->rnd, 2))
		for (z = 0; z < ZONES; z++)
			add_remaps(w, z);
	w->profile.sectors = sector;
	w->profile.cylinders = cylinder;
}

static void check_run(struct world *w, const struct place *place, u64 sector)
{
	const struct spot *spot = &w->spots[sector], *other;
	s64 k;

	for (k = -(s64)place->before; k < (s64)place->run; k++) {
		other = &w->spots[sector + k];
		KUNIT_ASSERT_TRUE_MSG(w->test, other->cylinder == spot->cylinder &&
				      other->head == spot->head &&
				      other->slot == (spot->slot + k + place->slots) %
						     place->slots,
				      "sector %llu, scheme %d, %lld on", (unsigned long long)sector,
				      w->profile.sparing, (long long)k);
	}
	/* What follows on the track is not cut off, but where sectors have moved elsewhere. */
	if (w->profile.nr_remaps || sector + k >= w->profile.sectors)
		return;
	other = &w->spots[sector + k];
	KUNIT_ASSERT_TRUE_MSG(w->test, other->cylinder != spot->cylinder ||
			      other->head != spot->head ||
			      other->slot != (spot->slot + k) % place->slots,
			      "sector %llu, scheme %d: run of %u is too short",
			      (unsigned long long)sector, w->profile.sparing, place->run);
}

static u64 naive_track_end(const struct world *w, u64 sector)
{
	const struct spot *first = &w->spots[sector];

	while (++sector < w->profile.sectors)
		if (w->spots[sector].cylinder != first->cylinder ||
		    w->spots[sector].head != first->head)
			break;
	return sector;
}

static u64 naive_cylinder_end(const struct world *w, u64 sector)
{
	const struct spot *first = &w->spots[sector];

	while (++sector < w->profile.sectors)
		if (w->spots[sector].cylinder != first->cylinder)
			break;
	return sector;
}

/* A sector remapped onto a full track may or may not be seen as part of it. */
static void check_ends(const struct world *w, const struct geometry *geometry, u64 sector,
		       const struct place *place)
{
	u64 track = geometry_track_end(geometry, sector, place);
	u64 cylinder = geometry_cylinder_end(geometry, sector, place);

	if (!w->profile.nr_remaps) {
		KUNIT_ASSERT_EQ(w->test, track, naive_track_end(w, sector));
		KUNIT_ASSERT_EQ(w->test, cylinder, naive_cylinder_end(w, sector));
	} else {
		KUNIT_ASSERT_GE(w->test, track, sector + 1);
		KUNIT_ASSERT_GE(w->test, cylinder, track);
	}
}

static void check_world(struct world *w)
{
	struct geometry *geometry = geometry_create(&w->profile, GFP_KERNEL);
	struct place place;
	u64 sector;

	KUNIT_ASSERT_NOT_NULL(w->test, geometry);
	for (sector = 0; sector < w->profile.sectors; sector++) {
		const struct spot *spot = &w->spots[sector];

		geometry_find(geometry, sector, &place);
		KUNIT_ASSERT_TRUE_MSG(w->test, place.zone == spot->zone &&
				      place.cylinder == spot->cylinder &&
				      place.head == spot->head && place.slot == spot->slot,
				      "sector %llu, scheme %d: %u/%u/%u, not %u/%u/%u",
				      (unsigned long long)sector, w->profile.sparing,
				      place.cylinder, place.head, place.slot, spot->cylinder,
				      spot->head, spot->slot);
		KUNIT_ASSERT_GE(w->test, place.run, 1U);
		check_run(w, &place, sector);
		check_ends(w, geometry, sector, &place);
	}
	geometry_destroy(geometry);
}

/* No two sectors have the same place: from each, the oracle's holders lead back. */
static void check_back(struct world *w)
{
	u32 z, place, found = 0;

	for (z = 0; z < ZONES; z++) {
		const u32 *holders = w->holders + w->holders_start[z];

		for (place = 0; place < zone_places(w, &w->zones[z]); place++) {
			struct spot spot = spot_of(w, z, place);

			if (holders[place] == NOWHERE)
				continue;
			found++;
			KUNIT_ASSERT_EQ(w->test, memcmp(&spot, &w->spots[holders[place]],
							sizeof(spot)), 0);
		}
	}
	KUNIT_ASSERT_EQ(w->test, (u64)found, w->profile.sectors);
}

static void geometry_agrees_with_oracle(struct kunit *test, enum profile_sparing sparing)
{
	struct world *w = kvzalloc(sizeof(*w), GFP_KERNEL);
	u32 most = ZONES * 8 * 4 * 34, i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->test = test;
	w->rnd.state = 77 + sparing;
	w->spots = kvcalloc(most, sizeof(*w->spots), GFP_KERNEL);
	w->holders = kvcalloc(most, sizeof(*w->holders), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->spots);
	KUNIT_ASSERT_NOT_NULL(test, w->holders);
	for (i = 0; i < DISKS; i++) {
		make_world(w, sparing);
		check_back(w);
		check_world(w);
	}
	kvfree(w->holders);
	kvfree(w->spots);
	kvfree(w);
}

static void no_spares(struct kunit *test)
{
	geometry_agrees_with_oracle(test, SPARING_NONE);
}

static void spare_tracks(struct kunit *test)
{
	geometry_agrees_with_oracle(test, SPARING_TRACKS);
}

static void spares_in_each_cylinder(struct kunit *test)
{
	geometry_agrees_with_oracle(test, SPARING_CYLINDER);
}

static void spares_in_each_track(struct kunit *test)
{
	geometry_agrees_with_oracle(test, SPARING_TRACK);
}

static void spares_at_the_disks_end(struct kunit *test)
{
	geometry_agrees_with_oracle(test, SPARING_DISK_END);
}

static void spares_in_each_range(struct kunit *test)
{
	geometry_agrees_with_oracle(test, SPARING_RANGE);
}

static void spares_at_the_zones_end(struct kunit *test)
{
	geometry_agrees_with_oracle(test, SPARING_ZONE_END);
}

static struct kunit_case geometry_cases[] = {
	KUNIT_CASE(no_spares),
	KUNIT_CASE(spare_tracks),
	KUNIT_CASE(spares_in_each_cylinder),
	KUNIT_CASE(spares_in_each_track),
	KUNIT_CASE(spares_at_the_disks_end),
	KUNIT_CASE(spares_in_each_range),
	KUNIT_CASE(spares_at_the_zones_end),
	{}
};

static struct kunit_suite geometry_suite = {
	.name = "geometry",
	.test_cases = geometry_cases,
};

kunit_test_suite(geometry_suite);
