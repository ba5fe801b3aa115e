/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Remap bitmap: which blocks of the backing device are in use.
 *
 * First fit, for single blocks and for runs, as in David (FAST 2011, section
 * 4), with a hint so that what is sequential on the target becomes sequential
 * in the store. One bit a block, and above it levels of one bit per 64 that
 * say "all used", so that finding the first free block costs a few words at
 * any size and fill.
 *
 * Portable. The caller serialises all calls on one bitmap. Only bm_init()
 * allocates and bm_destroy() frees; the others may run in hard interrupt
 * context. Blocks are in units of the store's block size, below 2^40.
 */
#ifndef DAVID_BITMAP_H
#define DAVID_BITMAP_H

#include "../portable/portable.h"

#define BM_LEVELS	7	/* 64^7 blocks */
#define BM_NONE		U64_MAX

struct remap_bitmap {
	/* level[0]: one bit a block; level[i]: one bit a word of level[i - 1] that is full */
	u64 *level[BM_LEVELS];
	unsigned int levels;
	u64 size;		/* blocks */
	u64 used;		/* blocks */
	u64 first;		/* no block before this one is free */
	u64 bytes;		/* memory of all levels */
};

/* All blocks free. Returns 0, -EINVAL if @size is 0 or too large, -ENOMEM. Sleeps. */
int bm_init(struct remap_bitmap *bm, u64 size);
void bm_destroy(struct remap_bitmap *bm);

/* Make @to, fresh from bm_init() and at least as large, what @from is. Blocks behind are free. */
void bm_copy(struct remap_bitmap *to, const struct remap_bitmap *from);

static inline u64 bm_nr_free(const struct remap_bitmap *bm)
{
	return bm->size - bm->used;
}

/*
 * Allocate up to @want (at least 1) consecutive blocks.
 * In order of preference: at @hint, if that block is free (BM_NONE: no hint);
 * the first run of at least @want free blocks, if one is found among the first
 * runs looked at (a fixed number, to bound the cost); else the longest of those.
 * Returns the first block and stores the number taken (1..@want) in *@got, or
 * BM_NONE if all blocks are used.
 */
u64 bm_alloc(struct remap_bitmap *bm, u64 hint, u64 want, u64 *got);

/*
 * Allocate a run of exactly @want blocks, the first one from *@from on. Looks at @runs runs of free
 * blocks at most, to bound the cost. Returns the first block; or BM_NONE, with *@from where to go
 * on, itself BM_NONE if there is no such run to the end.
 */
u64 bm_alloc_run(struct remap_bitmap *bm, u64 *from, u64 want, unsigned int runs);

/* Free @len blocks from @start, all of them in use (warns and skips those that are not). */
void bm_free(struct remap_bitmap *bm, u64 start, u64 len);

/* Take exactly these blocks. Returns false, with nothing taken, if one of them is in use. */
bool bm_claim(struct remap_bitmap *bm, u64 start, u64 len);

bool bm_test(const struct remap_bitmap *bm, u64 block);

/* Check the levels and the counter against the bits. NULL or what is wrong. For tests. */
const char *bm_check(const struct remap_bitmap *bm);

#endif
