/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A write buffer that is as full as it has bytes in it: runs of dirty sectors of any
 * length, kept in order of place. Runs that touch become one. A drive writes them out by
 * the shortest access among all of them.
 */
#ifndef DAVID_MODEL_WRITE_BUFFER_H
#define DAVID_MODEL_WRITE_BUFFER_H

#include "cache.h"
#include "media.h"

struct run {
	struct segment segment;	/* dirty to its end */
	u32 cylinder;		/* of the first dirty sector */
	u32 head;
	u64 due;		/* ns of a revolution at which it begins to pass */
};

struct write_buffer {
	const struct profile *profile;
	u64 sectors;		/* dirty, those being written included */
	u32 nr;			/* runs, without the one being written */
	u32 nr_unused;
	u16 *runs;		/* by place, as places in the pool: short, as many are moved */
	u16 *unused;
	struct run pool[];
};

struct write_buffer *write_buffer_create(const struct profile *profile, gfp_t gfp);
void write_buffer_destroy(struct write_buffer *buffer);
size_t write_buffer_bytes(const struct write_buffer *buffer);

/* By place */
static inline struct run *write_buffer_run(const struct write_buffer *buffer, u32 i)
{
	return (struct run *)&buffer->pool[buffer->runs[i]];
}

/* Is there room for a write? There always is in an empty buffer, whatever its size. */
bool write_buffer_room(const struct write_buffer *buffer, u32 sectors);

/* Is it so full that the drive writes without waiting for a pause? */
static inline bool write_buffer_pressed(const struct write_buffer *buffer)
{
	return 2 * buffer->sectors > buffer->profile->write_buffer ||
	       2 * buffer->nr > buffer->profile->write_segments;
}

/* The run that has all of these sectors, NULL if none. */
struct segment *write_buffer_find(const struct write_buffer *buffer, u64 sector, u64 sectors);

/* A run that has any of these sectors, NULL if none. */
struct segment *write_buffer_overlap(const struct write_buffer *buffer, u64 sector, u64 sectors);

/* Take in a write whose data are there at @since, for which there is room. Returns its run. */
struct segment *write_buffer_add(struct write_buffer *buffer, const struct media *media,
				 u64 sector, u64 sectors, u64 since);

/* The run whose first dirty sector the head could write the soonest from @now on, or NULL. */
struct segment *write_buffer_nearest(const struct write_buffer *buffer, const struct media *media,
				     u64 now);

/* @segment, of a run, is going to be written: it is out of all of the above, but its room. */
void write_buffer_take(struct write_buffer *buffer, struct segment *segment);

/* It was written in part, or not: the rest waits again. Free if nothing is dirty. */
void write_buffer_return(struct write_buffer *buffer, const struct media *media,
			 struct segment *segment);

#endif
