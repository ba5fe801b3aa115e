/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The checksums of squashed blocks: 4 bytes for a target block of 4 KiB.
 *
 * Checksums stand in chunks of CRCT_BLOCKS blocks, one page of memory each,
 * allocated when their first block gets one and freed with the last. What is
 * resident is bounded: past the limit the table names chunks to be written to
 * the store, and knows where to fetch them from. The caller does the I/O.
 *
 * Memory: a full chunk has 4096 bytes for 960 blocks, 6.7 % more than 4 bytes a
 * block; the index adds 8 bytes a chunk, resident or not, in nodes of 64. Blocks
 * written one here and one there cost more: a chunk each, and up to a node.
 *
 * Portable. The caller serialises all calls on one table, but the alloc and
 * free functions, which touch none. Only the alloc functions allocate; all but
 * crct_destroy() may run in hard interrupt context. Blocks are below 2^60.
 *
 * The way of a write of checksums:
 *
 *	while ((r = crct_reserve(ct, start, len, &want)) != CRCT_DONE)
 *		unlock; allocate or read what is wanted; lock; add it
 *	unlock; write data; lock;
 *	crct_set(ct, start, len, crc)		cannot fail
 */
#ifndef DAVID_CRCTABLE_H
#define DAVID_CRCTABLE_H

#include "portable.h"

#define CRCT_BLOCKS	960
#define CRCT_IMAGE	4096		/* bytes of a chunk in the store */
#define CRCT_PATH	18		/* nodes that one more chunk may need */
#define CRCT_NOWHERE	U64_MAX		/* no place in the store; places are below 2^53 */

struct crct_chunk;
struct crct_node;

struct crctable {
	struct crct_node *root;
	unsigned int height;		/* levels of nodes */
	u64 limit;			/* of bytes: chunks and nodes in use */
	u64 entries;			/* checksums, resident or not */
	u64 resident;			/* chunks in memory */
	u64 spilled;			/* chunks in the store only */
	u64 nodes;			/* of the index */
	u64 spare_chunks, spare_nodes;	/* in reserve */
	u64 loads, evictions;		/* so far, for statistics */
	u64 unsaved;			/* resident chunks not in the store as they are */
	struct crct_chunk *hand;	/* in the ring of resident chunks */
	struct crct_chunk *oldest, *newest;	/* of the unsaved that are not leaving */
	struct crct_chunk *chunk_pool;
	struct crct_node *node_pool;
	/* A table that lasts: see crct_last(). */
	u64 (*where)(void *ctx, u64 number);
	void *where_ctx;
};

/* A place in the store, of CRCT_IMAGE bytes, is not needed any more. Must not touch the table. */
typedef void (*crct_freed_fn)(void *ctx, u64 place);

enum crct_result {
	CRCT_DONE,
	CRCT_NONE,	/* crct_find(): the block has no checksum */
	CRCT_MEMORY,	/* the reserve lacks want.chunks and want.nodes */
	CRCT_LOAD,	/* want.number is at want.place: read it, then crct_load() */
};

struct crct_want {
	unsigned int chunks, nodes;
	u64 number, place;
};

void crct_init(struct crctable *ct, u64 limit);

/*
 * The table lasts: where chunks are is known elsewhere, too, and outlives it. @where
 * tells the place of a chunk, or CRCT_NOWHERE; it is asked for those that this table
 * has not seen. Then no place is given up by the table itself: @freed is not of
 * use, each write goes to a new place, and a chunk that was emptied stays until
 * crct_save() has told so. What crct_clear() does not find in the tree stays as it is.
 */
void crct_last(struct crctable *ct, u64 (*where)(void *ctx, u64 number), void *ctx);

/* Free all memory, the reserve included. Places in the store are not told. */
void crct_destroy(struct crctable *ct);

/* Sleep if @gfp does; NULL if there is no memory. */
struct crct_chunk *crct_chunk_alloc(gfp_t gfp);
struct crct_node *crct_node_alloc(gfp_t gfp);
void crct_chunk_free(struct crct_chunk *chunk);
void crct_node_free(struct crct_node *node);

/* Into the reserve, and out of it: NULL if it is empty. */
void crct_add_chunk(struct crctable *ct, struct crct_chunk *chunk);
void crct_add_node(struct crctable *ct, struct crct_node *node);
struct crct_chunk *crct_take_chunk(struct crctable *ct);
struct crct_node *crct_take_node(struct crctable *ct);

/*
 * Reserve one crct_set() of this run of blocks. CRCT_DONE: its chunks are there
 * and stay in memory until crct_set() or crct_unreserve() of the same run.
 * CRCT_MEMORY and CRCT_LOAD: nothing has changed. Cost: a descent a chunk.
 */
enum crct_result crct_reserve(struct crctable *ct, u64 start, u64 len, struct crct_want *want);
void crct_unreserve(struct crctable *ct, u64 start, u64 len, crct_freed_fn freed, void *ctx);

/* Set the checksums of a reserved run. */
void crct_set(struct crctable *ct, u64 start, u64 len, const u32 *crc);

/* The checksum of @block: CRCT_DONE, CRCT_NONE or CRCT_LOAD. Cost: a descent. */
enum crct_result crct_find(struct crctable *ct, u64 block, u32 *crc, struct crct_want *want);

/*
 * Forget the checksums of a run, of at most @max_chunks chunks. Returns the
 * number of blocks done, counted from @start. If less than @len and want->place
 * is not CRCT_NOWHERE, part of a chunk in the store is to be forgotten, which
 * must be loaded first. Who cannot wait for that may leave checksums behind:
 * they take memory, and are never asked for as long as the block is not squashed.
 */
u64 crct_clear(struct crctable *ct, u64 start, u64 len, unsigned int max_chunks,
	       crct_freed_fn freed, void *ctx, struct crct_want *want);

/*
 * Take up the chunk that was wanted. Uses a chunk of the reserve, and nodes if
 * it was not in the tree: up to CRCT_PATH; -ENOMEM if they are not there; -EBADMSG
 * if @image is not that chunk, whose blocks the caller may then crct_clear(). 0 also
 * if it has been loaded or dropped meanwhile.
 */
int crct_load(struct crctable *ct, const struct crct_want *want, const void *image);

/* Is more in memory than the limit? */
bool crct_over(const struct crctable *ct);

/*
 * A chunk to be written so that it can leave memory, or NULL: below the limit,
 * or none found in a bounded search; then try again later. Chunks whose image
 * in the store is still good leave at once and go to the reserve.
 * Then: crct_pack() it, write the image at *place (the chunk's last place, or
 * CRCT_NOWHERE: choose one), and crct_evicted(). Until that it can be used and changed.
 */
struct crct_chunk *crct_evict(struct crctable *ct, u64 *place);
void crct_pack(const struct crct_chunk *chunk, void *image);

/*
 * @chunk has been written to @place, or not (@good). It leaves memory unless
 * it was used meanwhile. @freed is told of a place that was given up.
 */
void crct_evicted(struct crctable *ct, struct crct_chunk *chunk, u64 place, bool good,
		  crct_freed_fn freed, void *ctx);

/*
 * Saving without leaving memory: the chunk that has differed from the store for
 * the longest time, or NULL. Then, if it is empty: tell where() that it is nowhere,
 * else crct_pack() it and write the image. Then crct_saved(), with the place (none for
 * an empty one), or that it failed (!@good). It can be used and changed meanwhile.
 */
struct crct_chunk *crct_save(struct crctable *ct);
void crct_saved(struct crctable *ct, struct crct_chunk *chunk, u64 place, bool good,
		crct_freed_fn freed, void *ctx);
u64 crct_number(const struct crct_chunk *chunk);
bool crct_is_empty(const struct crct_chunk *chunk);

/* Bytes of memory, the reserve included. */
u64 crct_bytes(const struct crctable *ct);

/* Check every invariant. NULL, or what is wrong. Reads the whole table: for tests. */
const char *crct_check(const struct crctable *ct);

#endif
