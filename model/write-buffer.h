/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A write buffer without fixed segments: it is as full as it has dirty sectors. It has runs of
 * dirty sectors, of any length, sorted by sector. Runs that touch are merged. The drive destages
 * the run with the shortest access time.
 */
#ifndef DAVID_MODEL_WRITE_BUFFER_H
#define DAVID_MODEL_WRITE_BUFFER_H

#include "cache.h"
#include "media.h"

struct run {
	struct segment segment;	/* dirty to its end */
	u32 cylinder;		/* of the first dirty sector */
	u32 head;
	u64 due;		/* ns into a revolution at which that sector passes the head */
};

struct write_buffer {
	const struct profile *profile;
	u64 sectors;		/* dirty sectors, with those being written */
	u32 nr;			/* runs, without the one being written */
	u32 nr_unused;
	u16 *runs;		/* indexes into @pool, sorted by sector; u16, as many are moved */
	u16 *unused;		/* indexes into @pool */
	struct run pool[];
};

struct write_buffer *write_buffer_create(const struct profile *profile, gfp_t gfp);
void write_buffer_destroy(struct write_buffer *buffer);
size_t write_buffer_bytes(const struct write_buffer *buffer);

/* Run number @i in the order of sectors. */
static inline struct run *write_buffer_run(const struct write_buffer *buffer, u32 i)
{
	return (struct run *)&buffer->pool[buffer->runs[i]];
}

/* Is there room for a write? An empty buffer has room for a write of any size. */
bool write_buffer_room(const struct write_buffer *buffer, u32 sectors);

/* Is it so full that the drive destages without waiting for idle time? */
static inline bool write_buffer_pressed(const struct write_buffer *buffer)
{
	return 2 * buffer->sectors > buffer->profile->write_buffer ||
	       2 * buffer->nr > buffer->profile->write_segments;
}

/* The run that has all of these sectors, NULL if none. */
struct segment *write_buffer_find(const struct write_buffer *buffer, u64 sector, u64 sectors);

/* A run that has any of these sectors, NULL if none. */
struct segment *write_buffer_overlap(const struct write_buffer *buffer, u64 sector, u64 sectors);

/* Add a write, for which there is room. Its data arrive at @since. Returns its run. */
struct segment *write_buffer_add(struct write_buffer *buffer, const struct media *media,
				 u64 sector, u64 sectors, u64 since);

/* The run whose first dirty sector the head can reach first, from @now on; NULL: no run. */
struct segment *write_buffer_nearest(const struct write_buffer *buffer, const struct media *media,
				     u64 now);

/* @segment is about to be destaged: remove its run. Its sectors still count in ->sectors. */
void write_buffer_take(struct write_buffer *buffer, struct segment *segment);

/* @segment was destaged. What is still dirty waits again; if nothing is, its run is free. */
void write_buffer_return(struct write_buffer *buffer, const struct media *media,
			 struct segment *segment);

#endif
