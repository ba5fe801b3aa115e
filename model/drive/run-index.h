/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The write buffer's runs by angle and cylinder. The run with the shortest access time is found
 * without a look at most of the others.
 *
 * The revolution is divided into parts, the disk into bands of cylinders. From now on the parts of
 * the revolution pass one after another. Until the end of a part the arm gets to a few bands only.
 * So the search takes part after part, and of each the bands within reach. It ends where a run has
 * been found that takes less time than the next part.
 */
#ifndef DAVID_MODEL_RUN_INDEX_H
#define DAVID_MODEL_RUN_INDEX_H

#include "media.h"
#include "run-hash.h"

#define RUN_INDEX_PARTS	40	/* of the revolution, at most */
#define RUN_INDEX_FINE	3	/* 2^3 times in a part */
#define RUN_INDEX_PAST	BIT(RUN_INDEX_FINE)
#define RUN_INDEX_TIMES	512

/* What the search asks of each run. */
struct run_key {
	u64 due;		/* ns of a revolution at which its first dirty sector passes */
	u64 since;		/* time when its data are there */
	u32 cylinder;
	u32 head;
	u16 next, previous;	/* of the same part and band: 0: none */
};

struct run_index {
	const struct profile *profile;
	const struct seek_steps *seeks;
	const struct run *pool;
	struct run_key *keys;	/* by place in the pool plus 1 */
	u32 part_shift;		/* 2^part_shift ns are a part of the revolution */
	u32 time_shift;		/* 2^time_shift ns are the unit of reach[] and window[] */
	u32 band_shift;		/* 2^band_shift cylinders are a band */
	u32 nr_bands;
	u32 nr_words;		/* of a part's bands */
	u64 parts;		/* bit: the part has runs */
	u64 *bands;		/* by part; bit 64 + band: the band has runs in it */
	u16 *heads;		/* by part and band: the first run's place in the pool plus 1 */
	u16 runs_in_part[RUN_INDEX_PARTS];
	/* What the arm gets to in 2^time_shift ns, in twice that, and so on; the last: all. */
	u32 reach[RUN_INDEX_PAST + RUN_INDEX_TIMES];	/* cylinders; none in the past */
	u64 window[RUN_INDEX_TIMES];	/* bands, bit 32 is the arm's; 0: they are more */
};

/* Bytes that an index of @runs needs behind it. */
size_t run_index_bytes(const struct profile *profile, u32 runs);
void run_index_init(struct run_index *index, const struct profile *profile,
		    const struct seek_steps *seeks, const struct run *pool, u32 runs, void *memory);

/* @run's first dirty sector is at run->place. */
void run_index_insert(struct run_index *index, const struct media *media, const struct run *run);
void run_index_remove(struct run_index *index, const struct run *run);

/*
 * The run whose first dirty sector the head can write first, from @now on; of equals the nearer
 * one, or the one above the arm. There is at least one run.
 */
const struct run *run_index_nearest(const struct run_index *index, const struct media *media,
				    u64 now);

#endif
