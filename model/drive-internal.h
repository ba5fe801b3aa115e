/* SPDX-License-Identifier: GPL-2.0 */
/* What a drive consists of: drive.c serves commands, readahead.c and destage.c go on between. */
#ifndef DAVID_MODEL_DRIVE_INTERNAL_H
#define DAVID_MODEL_DRIVE_INTERNAL_H

#include "cache.h"
#include "drive.h"
#include "media.h"

struct readahead {
	struct segment *segment;	/* NULL: none goes on */
	struct media_pass pass;
	struct media_stretch stretch;	/* under the head */
	u32 done;			/* sectors of it that are in the segment */
	u64 least;			/* it is not given up before this sector */
};

struct destage {
	struct segment *segment;	/* NULL: none goes on */
	struct media_pass pass;
};

struct drive {
	const struct profile *profile;
	struct media media;
	struct cache *cache;
	struct readahead readahead;
	struct destage destage;
	u64 media_free;			/* time when the mechanics are, but for the above two */
	u64 last_end;			/* of a command */
	bool wrote;			/* the last command was a write */
};

/* Let read-ahead, and what is destaged, go on until @now. */
void drive_background(struct drive *drive, u64 now);

/* Read on behind @segment, from @time on, up to sector @limit. */
void readahead_start(struct drive *drive, struct segment *segment, u64 limit, u64 time);
void readahead_advance(struct drive *drive, u64 now);
/* Go on to @limit, if that is further. */
void readahead_extend(struct drive *drive, u64 limit);
/* Go on until all before @sector, which is within the limit, is in the segment; returns when. */
u64 readahead_reach(struct drive *drive, u64 sector);
/* Give up at @now; media_free then says when the mechanics are. */
void readahead_stop(struct drive *drive, u64 now);

/* Begin to write what is due before @now, and finish what has begun before. */
void destage_advance(struct drive *drive, u64 now);
/* Write all that is dirty, from @now on; media_free is then its end. */
void destage_all(struct drive *drive, u64 now);
/* The mechanics are free from @now on, and need not wait for more idle time. */
void destage_start(struct drive *drive, struct segment *segment, u64 now);
/* Finish what has begun; media_free is then its end. */
void destage_finish(struct drive *drive);
/* Write @segment's dirty sectors, from @now on, until no more than @left of them are left. */
void destage_segment(struct drive *drive, struct segment *segment, u64 left, u64 now);
/* The dirty segment to be written next, NULL if there is none. */
struct segment *destage_choose(struct drive *drive, u64 now);

#endif
