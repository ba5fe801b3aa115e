/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The checksums of squashed blocks: 4 bytes for a target block of 4 KiB.
 *
 * A chunk has the checksums of CRCT_BLOCKS blocks, in one page of memory. It is allocated when its
 * first block gets a checksum, and freed with the last. Resident chunks are limited. Past the limit
 * the table names chunks to be written to the store, and remembers their places. The caller does
 * the I/O.
 *
 * Memory: a full chunk has 4096 bytes for 960 blocks, 6.7 % more than 4 bytes a block. The index
 * adds 8 bytes for each chunk, resident or not, in nodes of 64. Scattered blocks cost more: a chunk
 * each, and up to a node.
 *
 * Portable. The caller serialises all calls on one table, except the alloc and free functions,
 * which touch no table. Only the alloc functions allocate. All but crct_destroy() may run in hard
 * interrupt context. Blocks are below 2^60.
 *
 * How to record checksums:
 *
 *	while ((r = crct_reserve(ct, start, len, &want)) != CRCT_DONE)
 *		unlock; allocate or read what @want names; lock; add it
 *	unlock; write data; lock;
 *	crct_set(ct, start, len, crc)		cannot fail
 */
#ifndef DAVID_CRCTABLE_H
#define DAVID_CRCTABLE_H

#include "../portable/portable.h"

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
	u64 unsaved;			/* resident chunks that differ from the store */
	struct crct_chunk *hand;	/* in the ring of resident chunks */
	struct crct_chunk *oldest, *newest;	/* of the unsaved that are not leaving */
	struct crct_chunk *chunk_pool;
	struct crct_node *node_pool;
	/* If the table survives: see crct_last(). */
	u64 (*where)(void *ctx, u64 number);
	void *where_ctx;
};

/* Frees a place in the store, of CRCT_IMAGE bytes. Must not touch the table. */
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
 * The table survives: the places of chunks are also recorded elsewhere, and outlive it. @where
 * returns the place of a chunk that this table has not seen yet, or CRCT_NOWHERE. With that, the
 * table frees no place (@freed is not called), and each write goes to a new place. A chunk that has
 * become empty stays until crct_save() has reported it. crct_clear() ignores chunks that are not in
 * the tree.
 */
void crct_last(struct crctable *ct, u64 (*where)(void *ctx, u64 number), void *ctx);

/* Free all memory, with the reserve. Does not free places in the store. */
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
 * Forget the checksums of a run, in at most @max_chunks chunks. Returns how many blocks are done,
 * from @start on. If that is less than @len and want->place is not CRCT_NOWHERE, the next chunk is
 * in the store, and has to be loaded because only a part of it is to be forgotten. A caller that
 * cannot wait for that may leave the checksums. They take memory, and nobody asks for them while
 * the block is not squashed.
 */
u64 crct_clear(struct crctable *ct, u64 start, u64 len, unsigned int max_chunks,
	       crct_freed_fn freed, void *ctx, struct crct_want *want);

/*
 * Load the chunk that @want names. Uses a chunk of the reserve, and up to CRCT_PATH nodes if it was
 * not in the tree. -ENOMEM: the reserve lacks them. -EBADMSG: @image is not that chunk; then the
 * caller may crct_clear() its blocks. Returns 0, also if it was loaded or dropped meanwhile.
 */
int crct_load(struct crctable *ct, const struct crct_want *want, const void *image);

/* Is more in memory than the limit? */
bool crct_over(const struct crctable *ct);

/*
 * The next chunk to write to the store so that it can leave memory. NULL: memory is below the
 * limit, or a bounded search has found none; then try again later. Chunks whose image in the store
 * is still good leave at once and go to the reserve. The caller calls crct_pack(), writes the image
 * at *place (CRCT_NOWHERE: at a place of its choice), and calls crct_evicted(). Until then the
 * chunk can be used and changed.
 */
struct crct_chunk *crct_evict(struct crctable *ct, u64 *place);
void crct_pack(const struct crct_chunk *chunk, void *image);

/*
 * @good: @chunk was written to @place. It leaves memory, unless it was used meanwhile. Calls @freed
 * for a place that is no longer needed.
 */
void crct_evicted(struct crctable *ct, struct crct_chunk *chunk, u64 place, bool good,
		  crct_freed_fn freed, void *ctx);

/*
 * For saving chunks that stay in memory: the chunk that has differed from the store for the longest
 * time, or NULL. If the chunk is empty, the caller records for @where that it has no place.
 * Otherwise the caller calls crct_pack() and writes the image. Then it calls crct_saved() with the
 * new place, CRCT_NOWHERE for an empty chunk. !@good: that has failed. The chunk can be used and
 * changed meanwhile.
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
