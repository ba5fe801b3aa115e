/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mechanics: arm, heads and platters. A pass reads or writes a run of sectors. It consists of
 * stretches; a stretch is on one track, without a gap.
 */
#ifndef DAVID_MODEL_MEDIA_H
#define DAVID_MODEL_MEDIA_H

#include "geometry.h"
#include "seek.h"
#include "shingle.h"

struct media {
	const struct profile *profile;
	struct geometry *geometry;
	struct seek_steps *seeks;
	u32 cylinder;
	u32 head;
	u64 sought, turned;	/* ns that the arm has moved so far, and waited for a sector; */
	u64 there, begun;	/* when it has done so for the last stretch */
	u64 sector_time;	/* ns in which a sector of the track passes the head */
	struct shingle *shingle;	/* NULL: all is at home */
};

struct media_pass {
	u64 sector;		/* next sector to transfer */
	u64 left;		/* sectors */
	u64 time;		/* when the sectors before it are done */
	u64 not_before;		/* no transfer begins earlier */
	u64 data;		/* write: when the bus begins to bring the next sector's data */
	u64 data_time;		/* write: ns that the bus takes for a sector */
	bool write;
	bool any_order;		/* the last stretch may begin in its middle */
};

struct media_stretch {
	u64 sector;
	u32 sectors;
	u32 late;		/* sectors that stay in the buffer until its end */
	u32 passed;		/* sectors right before it that passed the head in the wait */
	u64 seek;		/* ns; a stretch is seek, then wait, then transfer */
	u64 wait;		/* ns of rotation */
	u64 begin;		/* time when the transfer begins */
	u64 first;		/* time when its first sector is done */
	u64 end;		/* time when all of it is done */
};

/*
 * Take the next stretch of @pass, which is not at its end, and move the arm there. @place is that
 * of its next sector.
 */
void media_next_at(struct media *media, struct media_pass *pass, const struct place *place,
		   struct media_stretch *stretch);

/* Where @sector is: on a shingled drive that is at home, or in the media cache. */
void media_find_shingled(const struct media *media, u64 sector, struct place *place);

static inline void media_find(const struct media *media, u64 sector, struct place *place)
{
	if (media->shingle)
		media_find_shingled(media, sector, place);
	else
		geometry_find(media->geometry, sector, place);
}

static inline void media_next(struct media *media, struct media_pass *pass,
			      struct media_stretch *stretch)
{
	struct place place;

	media_find(media, pass->sector, &place);
	media_next_at(media, pass, &place, stretch);
}

/* When in a revolution @place begins to pass. */
static inline u64 media_due(const struct media *media, const struct place *place)
{
	return div_u64(place->slot * media->profile->revolution, place->slots);
}

/* Cylinders from the arm to @place. */
static inline u32 media_distance(const struct media *media, const struct place *place)
{
	return place->cylinder > media->cylinder ? place->cylinder - media->cylinder :
						   media->cylinder - place->cylinder;
}

/*
 * From @now on: *seek is the time that the arm takes to @place; *wait is the rotation after that
 * until a transfer may begin. It begins no earlier than @not_before.
 */
void media_access(const struct media *media, const struct place *place, bool write, u64 now,
		  u64 not_before, u64 *seek, u64 *wait);

/*
 * ns for @sectors of a track from @slot on. Computed from the angles, so rounding does not add up.
 */
u64 media_time(const struct media *media, u32 slots, u32 slot, u32 sectors);

#endif
