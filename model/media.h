/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mechanics: arm, heads and platters. Sectors are read and written in
 * passes, which go stretch by stretch, each of them without a gap on one track.
 */
#ifndef DAVID_MODEL_MEDIA_H
#define DAVID_MODEL_MEDIA_H

#include "geometry.h"

struct media {
	const struct profile *profile;
	struct geometry *geometry;
	u32 cylinder;
	u32 head;
	u64 sector_time;	/* ns that a sector of the track takes to pass */
};

struct media_pass {
	u64 sector;		/* the next one */
	u64 left;
	u64 time;		/* when the head has done all before it */
	u64 not_before;		/* no transfer begins earlier */
	u64 data;		/* when the bus begins to bring the next sector's data, */
	u64 data_time;		/* and ns for each: none must pass the head unwritten */
	bool write;
	bool any_order;		/* the last stretch may begin in its middle */
};

struct media_stretch {
	u64 sector;
	u32 sectors;
	u32 late;		/* sectors that cannot leave the buffer before its end */
	u32 passed;		/* sectors right before it that came past during the wait */
	u64 seek;		/* ns from the start of the stretch on: first comes seek, */
	u64 wait;		/* then rotation, then the transfer */
	u64 begin;		/* time when the transfer begins */
	u64 first;		/* time when its first sector is done */
	u64 end;		/* time when all of it is done */
};

/* Take the next stretch of @pass, which has some left, and move the arm there. */
void media_next(struct media *media, struct media_pass *pass, struct media_stretch *stretch);

/*
 * From @now on, how long the arm takes to @place, and after that the rotation until a
 * transfer may begin, which is not before @not_before.
 */
void media_access(const struct media *media, const struct place *place, bool write, u64 now,
		  u64 not_before, u64 *seek, u64 *wait);

/* How long @sectors of a track take from @slot on: exact, so that nothing adds up. */
u64 media_time(const struct media *media, u32 slots, u32 slot, u32 sectors);

#endif
