/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A write buffer without fixed segments: it is as full as it has dirty sectors. It has runs of
 * dirty sectors, of any length. Runs that touch are merged. The drive destages the run with the
 * shortest access time.
 */
#ifndef DAVID_MODEL_WRITE_BUFFER_H
#define DAVID_MODEL_WRITE_BUFFER_H

#include "run-index.h"

struct write_buffer {
	const struct profile *profile;
	u64 sectors;		/* dirty sectors, with those being written */
	struct run_hash runs;	/* without the one being written */
	struct run_index index;	/* the same ones */
	u64 free_from, free_end;	/* no run has these sectors, or touches them; or empty */
	size_t bytes;
	u32 nr_runs;		/* of the pool */
	u32 hand;		/* the place of the pool where write_buffer_next() goes on */
	u32 nr_unused;
	u16 *unused;		/* of the pool */
	struct run pool[];
};

struct write_buffer *write_buffer_create(const struct profile *profile,
					 const struct seek_steps *seeks, gfp_t gfp);
void write_buffer_destroy(struct write_buffer *buffer);
size_t write_buffer_bytes(const struct write_buffer *buffer);

/* The place of the first dirty sector of the run that @segment is of. */
static inline const struct place *write_buffer_place(const struct segment *segment)
{
	return &((const struct run *)segment)->place;	/* its first member */
}

/* Is there room for a write? An empty buffer has room for a write of any size. */
static inline bool write_buffer_room(const struct write_buffer *buffer, u32 sectors)
{
	return !buffer->sectors ||
	       (buffer->sectors + sectors <= buffer->profile->write_buffer &&
		buffer->runs.nr < buffer->profile->write_segments);
}

/* Is it so full that the drive destages without waiting for idle time? */
static inline bool write_buffer_pressed(const struct write_buffer *buffer)
{
	return 2 * buffer->sectors > buffer->profile->write_buffer ||
	       2 * buffer->runs.nr > buffer->profile->write_segments;
}

/* The run that has all of these sectors, NULL if none. */
struct segment *write_buffer_find(struct write_buffer *buffer, u64 sector, u64 sectors);

/* A run that has any of these sectors, NULL if none. */
struct segment *write_buffer_overlap(struct write_buffer *buffer, u64 sector, u64 sectors);

/* Add a write, for which there is room. Its data arrive at @since. Returns its run. */
struct segment *write_buffer_add(struct write_buffer *buffer, const struct media *media,
				 u64 sector, u64 sectors, u64 since);

/* The run whose first dirty sector the head can reach first, from @now on; NULL: no run. */
struct segment *write_buffer_nearest(struct write_buffer *buffer, const struct media *media,
				     u64 now);

/*
 * About the run that came first, where the order of writing takes no time; NULL: no run. Places of
 * the pool take turns, and what comes later takes the place that was just left.
 */
struct segment *write_buffer_next(struct write_buffer *buffer);

/* @segment is about to be destaged: remove its run. Its sectors still count in ->sectors. */
void write_buffer_take(struct write_buffer *buffer, struct segment *segment);

/* @segment was destaged. What is still dirty waits again; if nothing is, its run is free. */
void write_buffer_return(struct write_buffer *buffer, const struct media *media,
			 struct segment *segment);

#endif
