/* SPDX-License-Identifier: GPL-2.0 */
/* The time that the arm takes from one track to another, ns. */
#ifndef DAVID_MODEL_SEEK_H
#define DAVID_MODEL_SEEK_H

#include "../profile/profile.h"

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
	u32 entry;	/* of the profile's table: the first from @end - 1 on, or the last */
	u64 least;	/* ns of a write's, a head switch or none: no longer distance takes less */
	u64 most;
	u64 least_read;	/* the same of a read's */
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

/* Steps over all distances of the drive, the first one from 0 on, the last one without end. */
struct seek_steps {
	u16 of_part[SEEK_PARTS];	/* the first step of each part of distances */
	u32 nr;
	struct seek_step steps[];
};

struct seek_steps *seek_steps_create(const struct profile *profile, gfp_t gfp);
void seek_steps_destroy(struct seek_steps *steps);
size_t seek_steps_bytes(const struct seek_steps *steps);

static inline const struct seek_step *seek_step(const struct seek_steps *steps, u32 cylinders)
{
	const struct seek_step *step = &steps->steps[steps->of_part[seek_part(cylinders)]];

	while (cylinders >= step->end)
		step++;
	return step;
}

/* The same as seek_reposition(), in fewer instructions. */
u64 seek_reposition_in(const struct profile *profile, const struct seek_step *step, u32 cylinders,
		       bool switches, bool write);

#endif
