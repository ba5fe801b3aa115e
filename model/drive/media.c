// SPDX-License-Identifier: GPL-2.0
#include "media.h"

/* When in a revolution @slot begins to pass. */
static u64 slot_time(const struct media *media, u32 slots, u64 slot)
{
	return div_u64(slot * media->profile->revolution, slots);
}

u64 media_time(const struct media *media, u32 slots, u32 slot, u32 sectors)
{
	return slot_time(media, slots, (u64)slot + sectors) - slot_time(media, slots, slot);
}

void media_find_shingled(const struct media *media, u64 sector, struct place *place)
{
	u32 run;
	u64 at = shingle_find(media->shingle, sector, &run);

	geometry_find(media->geometry, at, place);
	place->run = min(place->run, run);
	if (at != sector)
		place->before = 0;	/* what is there belongs elsewhere */
}

/* @due: when in a revolution @place begins to pass. */
static inline void media_access_due(const struct media *media, const struct place *place, u64 due,
				    bool write, u64 now, u64 not_before, u64 *seek, u64 *wait)
{
	u64 revolution = media->profile->revolution, ready, angle;
	u32 distance = media_distance(media, place);

	*seek = seek_reposition_in(media->profile, seek_step(media->seeks, distance), distance,
				   place->head != media->head, write);
	ready = max(now + *seek, not_before);
	div64_u64_rem(ready, revolution, &angle);
	*wait = ready - now - *seek + (due >= angle ? due - angle : due + revolution - angle);
}

void media_access(const struct media *media, const struct place *place, bool write, u64 now,
		  u64 not_before, u64 *seek, u64 *wait)
{
	media_access_due(media, place, media_due(media, place), write, now, not_before, seek, wait);
}

/*
 * The earliest time to begin writing @sectors in @span, so that the data of each of
 * them are there when it passes: the first, and if the bus is slower, the last.
 */
static u64 data_time(const struct media_pass *pass, u32 sectors, u64 span)
{
	u64 first = pass->data + pass->data_time, last = pass->data + sectors * pass->data_time;
	u64 ahead;

	if (!pass->data_time)
		return first;
	ahead = span - div_u64(span, sectors);
	return last > first + ahead ? last - ahead : first;
}

void media_next_at(struct media *media, struct media_pass *pass, const struct place *place,
		   struct media_stretch *stretch)
{
	u64 revolution = media->profile->revolution, span, not_before, rotation;
	u64 due = media_due(media, place);

	stretch->sector = pass->sector;
	stretch->sectors = min_t(u64, place->run, pass->left);
	stretch->late = 1;
	span = slot_time(media, place->slots, (u64)place->slot + stretch->sectors) - due;
	not_before = max(pass->not_before, data_time(pass, stretch->sectors, span));
	media_access_due(media, place, due, pass->write, pass->time, not_before, &stretch->seek,
			 &stretch->wait);
	media->sought += stretch->seek;
	media->turned += stretch->wait;
	media->there = pass->time + stretch->seek;
	media->begun = media->there + stretch->wait;
	stretch->begin = media->begun;
	stretch->first = stretch->begin + slot_time(media, place->slots, place->slot + 1ULL) - due;
	stretch->end = stretch->begin + span;
	rotation = stretch->begin - max(pass->time + stretch->seek, not_before);
	stretch->passed = min_t(u64, place->before,
				div64_u64(rotation * place->slots, revolution));
	if (pass->any_order && stretch->sectors == pass->left && revolution - rotation < span) {
		/* The head arrives within it, and is through with it a revolution later. */
		u64 inside = span - (revolution - rotation);
		u32 early = div64_u64(inside * place->slots, revolution);

		stretch->late = 1 + early;
		stretch->end = stretch->begin + media_time(media, place->slots, place->slot,
							   stretch->sectors - early);
	}
	media->sector_time = div_u64(revolution, place->slots);
	media->cylinder = place->cylinder;
	media->head = place->head;
	pass->sector += stretch->sectors;
	pass->left -= stretch->sectors;
	pass->time = stretch->end;
	pass->data += stretch->sectors * pass->data_time;
}
