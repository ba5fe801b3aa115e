/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Unclassified Block Store (David, FAST 2011, section 3.1): blocks written
 * of which nothing says yet what they are.
 *
 * Their content is in the store like that of any block that is kept: a flush
 * must make it durable, so memory alone would not do. Here stands only which
 * blocks they are, and when each was written: in chunks of 64 neighbours, two
 * bitmaps with a time each. The older bitmap's time is that of its newest
 * block; so a block may seem newer than it is, never older. What is found to
 * be data moves to a third bitmap, from where the caller takes it to drop its
 * content.
 *
 * Bounded by the bytes of content (undecided_limit) and by the memory given.
 * Past either the chunk that was written to longest ago is forgotten: its blocks
 * simply stay kept ("spilled").
 *
 * @slot is a small number that tells volumes apart, @block counts from the
 * volume's start. Portable, any context; the caller serialises. A call on one
 * block costs one lookup in a hash.
 */
#ifndef CLASSIFIER_UNDECIDED_H
#define CLASSIFIER_UNDECIDED_H

#include "../dm-david/lib/portable.h"

#define UNDECIDED_CHUNK		64u	/* blocks */
#define UNDECIDED_NONE		U32_MAX
#define UNDECIDED_ANY		U64_MAX	/* a time after all others */

struct undecided_chunk {
	u64 key;		/* 0: free */
	u64 old, new, data;	/* bitmaps; disjoint */
	u64 doubtful;		/* of them: evidence of any time does not do */
	u64 old_time, new_time;
	u32 next_in_bucket;	/* or of the free */
	u32 newer, older;	/* by last change */
	u32 listed_next, listed_before;
	u8 bits;		/* log2 of the block's size */
	bool listed;		/* to be looked at by undecided_take() */
};

struct undecided_figures {	/* bytes of content */
	u64 now, most;
	u64 spilled;		/* forgotten for lack of room */
	u64 data;		/* found to be data, content dropped */
	u64 metadata;		/* found to be metadata */
};

struct undecided {
	u64 limit;		/* bytes of content, 0: nothing is ever added */
	struct undecided_chunk *chunk;	/* in memory given, NULL: none yet */
	u32 *bucket;		/* behind the chunks */
	u32 chunks, buckets;
	u32 used;		/* those beyond were never used */
	u32 free;
	u32 newest, oldest;
	u32 listed;		/* first of those that have ->listed set */
	bool wanted;		/* memory */
	struct undecided_figures figures;
};

void undecided_init(struct undecided *u, u64 limit);

/* Memory wanted, zeroed, in one piece; 0: none. And its delivery. */
size_t undecided_memory(const struct undecided *u);
void undecided_give(struct undecided *u, void *memory, size_t bytes);
size_t undecided_bytes(const struct undecided *u);

/*
 * @block of 1 << @bits bytes is written, at @time, which never goes back: it is
 * undecided. Without memory it is left out, and memory is wanted. If it is
 * @doubtful, undecided_decide() with UNDECIDED_ANY leaves it alone.
 */
void undecided_add(struct undecided *u, u32 slot, u64 block, u32 bits, u64 time, bool doubtful);

/* @len blocks from @block on are not undecided any more: written otherwise, or discarded. */
void undecided_remove(struct undecided *u, u32 slot, u64 block, u64 len);

/* Forget all of @slot. Reads the whole table. */
void undecided_forget(struct undecided *u, u32 slot);

/* Those of the @len blocks from @block on that were written before @time are data, or metadata. */
void undecided_decide(struct undecided *u, u32 slot, u64 block, u64 len, u64 time, bool data);

/*
 * To look at all of @slot, chunk by chunk: the first of @slot from place *@at of the table on,
 * which moves behind it; and its first @block. NULL: no more. Chunks stay where they are;
 * one made meanwhile may be missed.
 */
const struct undecided_chunk *undecided_next(const struct undecided *u, u32 slot, u32 *at,
					     u64 *block);

/*
 * A run of blocks (within one chunk) some of which are data. It is not told
 * again before more is found there. False: none.
 */
bool undecided_take(struct undecided *u, u32 *slot, u64 *block, u32 *len);

/* Are all of these blocks data, and not written since? */
bool undecided_is_data(const struct undecided *u, u32 slot, u64 block, u32 len);

/* The content of these blocks was dropped, as far as they are still data. */
void undecided_done(struct undecided *u, u32 slot, u64 block, u32 len);

static inline bool undecided_any(const struct undecided *u)
{
	return u->figures.now;
}

#endif
