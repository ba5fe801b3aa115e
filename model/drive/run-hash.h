/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The write buffer's runs by sector. Each request asks which run has its sectors, and mostly none
 * has. So the runs are in a hash by region of the disk.
 *
 * A run must be found by any of its sectors. So it is hashed by regions that are at least as long
 * as it is: then it lies in two of them at most. Regions of level 0 have 256 sectors, those of the
 * next level eight times as many, and so on. A search looks at all levels that have runs.
 */
#ifndef DAVID_MODEL_RUN_HASH_H
#define DAVID_MODEL_RUN_HASH_H

#include "cache.h"
#include "geometry.h"

struct run {
	struct segment segment;	/* dirty to its end */
	struct place place;	/* of the first dirty sector */
	u16 i;			/* its own place in the pool */
	u16 next[2];		/* in its buckets: 2 * place in the pool + which + 1; 0: none */
	u8 level;
	bool hashed;
};

#define RUN_LEVELS	12

struct run_hash {
	struct run *pool;
	u32 nr;				/* runs */
	u32 size;			/* of the pool */
	u32 levels;			/* bit: the level has runs */
	u32 nr_in_level[RUN_LEVELS];
	u32 mask;			/* buckets - 1 */
	u16 *buckets;
};

/* Bytes that a hash of at most @runs needs behind it. */
size_t run_hash_bytes(u32 runs);
void run_hash_init(struct run_hash *hash, struct run *pool, u32 runs, void *memory);

static inline u64 run_begin(const struct run *run)
{
	return run->segment.end - run->segment.dirty;
}

/* The first run that has any of the dirty sectors from @sector on and before @end; NULL: none. */
struct run *run_hash_find(const struct run_hash *hash, u64 sector, u64 end);

/* No other run in the hash has any of its sectors. */
void run_hash_insert(struct run_hash *hash, struct run *run);
void run_hash_remove(struct run_hash *hash, struct run *run);

/* Add @sectors at its end. */
void run_hash_extend(struct run_hash *hash, struct run *run, u64 sectors);

#endif
