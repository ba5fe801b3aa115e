/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Unclassified Block Store (David, FAST 2011, section 3.1): blocks that were written and are
 * neither data nor metadata by any evidence yet.
 *
 * Their content is in the store, like that of any kept block, because a flush must make it durable.
 * This table has only the block numbers and the time of each write. A chunk covers 64 adjacent
 * blocks with two bitmaps, an older and a newer one, each with a time. The time of the older bitmap
 * is that of its newest block. So a block may seem newer than it is, but never older. A block
 * that turns out to be data moves to a third bitmap. The caller takes it from there and drops its
 * content.
 *
 * Bounds: the bytes of content (->limit), and the memory given. Past either, the chunk that was
 * written to longest ago is forgotten ("spilled"), and its blocks stay kept.
 *
 * @slot is volume_slot(). @block counts from the volume's start. Portable, any context; the caller
 * serialises. A call for one block costs one lookup in a hash table.
 */
#ifndef CLASSIFIER_UNDECIDED_H
#define CLASSIFIER_UNDECIDED_H

#include "../dm-david/portable/portable.h"

#define UNDECIDED_CHUNK		64u	/* blocks */
#define UNDECIDED_NONE		U32_MAX
#define UNDECIDED_ANY		U64_MAX	/* a time after all others */

struct undecided_chunk {
	u64 key;		/* 0: free */
	u64 old, new, data;	/* bitmaps; disjoint */
	u64 doubtful;		/* bitmap: only evidence that is newer than the block counts */
	u64 old_time, new_time;
	u32 next_in_bucket;	/* of a free chunk: the next free one */
	u32 newer, older;	/* list by last change */
	u32 listed_next, listed_before;	/* list of those with ->listed */
	u8 bits;		/* log2 of the block's size in bytes */
	bool listed;		/* undecided_take() has to look at it */
};

struct undecided_figures {	/* bytes of content */
	u64 now, most;
	u64 spilled;		/* forgotten for lack of room */
	u64 data;		/* found to be data, content dropped */
	u64 metadata;		/* found to be metadata */
};

struct undecided {
	u64 limit;		/* bytes of content, 0: nothing is ever added */
	struct undecided_chunk *chunk;	/* in memory that was given; NULL: none yet */
	u32 *bucket;		/* of the hash table; in memory, behind the chunks */
	u32 chunks, buckets;
	u32 used;		/* chunks from this index on were never used */
	u32 free;		/* first free chunk */
	u32 newest, oldest;	/* by last change */
	u32 listed;		/* first chunk with ->listed set */
	bool wanted;		/* memory is needed */
	struct undecided_figures figures;
};

void undecided_init(struct undecided *u, u64 limit);

/* Bytes of zeroed memory that are needed; 0: none. Then undecided_give() takes it. */
size_t undecided_memory(const struct undecided *u);
void undecided_give(struct undecided *u, void *memory, size_t bytes);
size_t undecided_bytes(const struct undecided *u);

/*
 * @block, of 1 << @bits bytes, is written at @time and is undecided. Times never decrease. Without
 * memory the block is left out, and stays kept; then undecided_memory() asks for memory.
 * @doubtful: undecided_decide() with UNDECIDED_ANY does not apply to it.
 */
void undecided_add(struct undecided *u, u32 slot, u64 block, u32 bits, u64 time, bool doubtful);

/* @len blocks from @block on are no longer undecided: another verdict on a write, or a discard. */
void undecided_remove(struct undecided *u, u32 slot, u64 block, u64 len);

/* Forget all of @slot. Reads the whole table. */
void undecided_forget(struct undecided *u, u32 slot);

/* Of @len blocks from @block on, those written before @time are data, or with !@data metadata. */
void undecided_decide(struct undecided *u, u32 slot, u64 block, u64 len, u64 time, bool data);

/*
 * Iterate over the chunks of @slot. Returns the next one from index *@at of the table on and its
 * first @block, and moves *@at behind it. NULL: no more. A chunk that is added meanwhile may be
 * missed.
 */
const struct undecided_chunk *undecided_next(const struct undecided *u, u32 slot, u32 *at,
					     u64 *block);

/*
 * Take a run of blocks, within one chunk, some of which are data. It is returned again only when
 * more of its blocks turn out to be data. False: none.
 */
bool undecided_take(struct undecided *u, u32 *slot, u64 *block, u32 *len);

/* Are all of these blocks data, and not written since? */
bool undecided_is_data(const struct undecided *u, u32 slot, u64 block, u32 len);

/* The content of these blocks was dropped. Ignores those that were written since. */
void undecided_done(struct undecided *u, u32 slot, u64 block, u32 len);

static inline bool undecided_any(const struct undecided *u)
{
	return u->figures.now;
}

#endif
