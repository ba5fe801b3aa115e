/* SPDX-License-Identifier: GPL-2.0 */
/* The time that the arm takes from one track to another, ns. */
#ifndef DAVID_MODEL_SEEK_H
#define DAVID_MODEL_SEEK_H

#include "profile.h"

/* A seek over @cylinders; 0 if @cylinders is 0. */
u64 seek_time(const struct profile *profile, u32 cylinders);

/*
 * To a track that is @cylinders away and, with @switches, under another head: the longer of seek
 * and head switch. A write adds write_settle, except that a move to the next track has it in its
 * switch time already, unless the profile has settle_on_switch.
 */
u64 seek_reposition(const struct profile *profile, u32 cylinders, bool switches, bool write);

/* Of distances from @begin on, and below @end. */
struct seek_step {
	u32 begin, end;
	u64 least;	/* ns of a write's, a head switch or none: no longer distance takes less */
	u64 most;
};

/* Parts of distances: 0 to 3 each, and then quarters from one power of two to the next. */
#define SEEK_PARTS	132

static inline u32 seek_part(u32 cylinders)
{
	u32 bits = fls64(cylinders);

	return bits < 3 ? cylinders : 4 * (bits - 2) + (cylinders >> (bits - 3) & 3);
}

static inline u64 seek_part_begin(u32 part)
{
	return part < 4 ? part : (4ULL + part % 4) << (part / 4 - 1);
}

/*
 * Steps over all distances of the drive, the first one from 0 on, the last one without end. Returns
 * how many; @steps may be NULL.
 */
u32 seek_steps(const struct profile *profile, struct seek_step *steps);

#endif
