/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Range table: what each block of the target disk holds.
 *
 * Maps ranges of target blocks to one of the kinds below. A disk may have 2^40 blocks and millions
 * of ranges, and each request looks up its blocks: so the table is a B+ tree in memory. An update
 * must not fail once a write has reached the backing device: so the nodes that it may need are
 * reserved before. Nodes are allocated outside the caller's lock, where sleeping is allowed.
 *
 * Neighbouring ranges are joined whenever the result reads the same: FILL with
 * the same word, SQUASHED with SQUASHED, STORED with consecutive destinations, PACKED with the same
 * pack. The kinds behind SQUASHED have their content in the store.
 * Blocks with no entry are holes.
 *
 * Portable. The caller serialises all calls on one table, except rt_node_alloc() and
 * rt_node_free(), which touch no table. Only rt_node_alloc() allocates, and sleeps if its gfp
 * allows. All calls but rt_destroy() may run in hard interrupt context, rt_node_alloc() if its gfp
 * allows. Blocks and destinations are in units of the store's block size and below 2^60.
 */
#ifndef DAVID_RANGETABLE_H
#define DAVID_RANGETABLE_H

#include "../portable/portable.h"

enum rt_kind {
	RT_HOLE,	/* never written or discarded */
	RT_FILL,	/* value: the 8-byte word that the range repeats */
	RT_SQUASHED,	/* value: 0 */
	RT_STORED,	/* value: destination of the range's first block */
	RT_PACKED,	/* value: number of the pack that has them all (pack.h) */
	RT_KINDS
};

struct rt_range {
	u64 start;
	u64 len;
	u64 value;
	enum rt_kind kind;
};

struct rt_node;

#define RT_LEVELS	12	/* 2 * 16^11 nodes at least: more than there is memory */

struct rangetable {
	struct rt_node *root;	/* NULL: one great hole */
	unsigned int height;	/* levels, 0 without a root */
	unsigned int reserved;	/* updates reserved, not yet made or returned */
	u64 nodes;		/* nodes in the tree */
	u64 level[RT_LEVELS];	/* the same by level, 0: leaves */
	u64 spare;		/* nodes in the reserve */
	struct rt_node *pool;	/* the reserve, a stack */
	u64 changes;		/* rt_set() that changed what is in the table */
	u64 ranges[RT_KINDS];	/* entries by kind; RT_HOLE stays 0 */
	u64 blocks[RT_KINDS];	/* blocks by kind; RT_HOLE stays 0 */
};

/*
 * Called for every run of destinations that an update gave up. Must not touch
 * the table.
 */
typedef void (*rt_freed_fn)(void *ctx, u64 dest, u64 len);

void rt_init(struct rangetable *rt);

/* Free all nodes, reserved ones included. The table is then as after rt_init(). */
void rt_destroy(struct rangetable *rt);

/* Allocate a node for rt_add_node(); NULL if there is no memory. Sleeps if @gfp does. */
struct rt_node *rt_node_alloc(gfp_t gfp);
void rt_node_free(struct rt_node *node);

/* Put @node into the reserve. */
void rt_add_node(struct rangetable *rt, struct rt_node *node);

/* Take a node out of the reserve that no reservation needs, or NULL: to free the surplus. */
struct rt_node *rt_take_spare(struct rangetable *rt);

/*
 * Nodes that the reserve lacks for one more reservation, 0 if rt_reserve() would
 * succeed now. Counts for the worst case of an update at the present height of
 * the tree and of all updates already reserved, which may each raise it.
 */
unsigned int rt_lacks(const struct rangetable *rt);

/* One node for each reservation in each level there is, and above: always enough. */
static inline bool rt_has_plenty(const struct rangetable *rt)
{
	return likely(rt->spare >= ((u64)rt->reserved + 1) * (rt->height + 1));
}

/*
 * Reserve one rt_set(). Returns false, with nothing changed, if rt_lacks() is
 * not 0. Every reservation is used up by one rt_set() or returned by rt_unreserve().
 */
static inline bool rt_reserve(struct rangetable *rt)
{
	if (!rt_has_plenty(rt) && rt_lacks(rt))
		return false;
	rt->reserved++;
	return true;
}

static inline void rt_unreserve(struct rangetable *rt)
{
	if (!WARN_ON_ONCE(!rt->reserved))
		rt->reserved--;
}

/* Part of rt_set(), for nobody else: the reservation is used up already. */
u64 rt_put(struct rangetable *rt, const struct rt_range *r, unsigned int max_entries,
	   rt_freed_fn freed, void *ctx);

/*
 * Look up @block: *out becomes the part of its range (or hole) from @block to
 * the end, with out->start == @block and out->value fitting that start. A hole
 * at the end of the table extends to U64_MAX.
 * Cost: one descent, about 35 instructions a level, whatever the table's size.
 */
void rt_lookup(const struct rangetable *rt, u64 block, struct rt_range *out);

/*
 * An update of @block comes soon: have the memory that it touches fetched meanwhile. Worth
 * its descent where many updates follow each other at random in a large table.
 */
void rt_prefetch(const struct rangetable *rt, u64 block);

/*
 * As rt_lookup(), and returns the destination next to that of the block before
 * @block, if that block is stored and the same descent shows it; else U64_MAX.
 * A hint for allocation that costs next to nothing, and is missed now and then.
 */
u64 rt_lookup_hint(const struct rangetable *rt, u64 block, struct rt_range *out);

/*
 * Copy up to @max (at least 1) ranges to @out, the first as rt_lookup() shows it, holes left out:
 * from @block on, those of one node only. Returns their number, 0 if there are none to the end.
 * To go through a whole table in a descent a node, and not two a range: begin at 0, and go on
 * behind the last one.
 */
unsigned int rt_read(const struct rangetable *rt, u64 block, struct rt_range *out,
		     unsigned int max);

/*
 * Set @r (any kind, RT_HOLE removes), whatever was there before. Uses up one
 * reservation. Cannot fail, but stops after it has removed @max_entries (at least
 * 1) old entries, so that a discard of the whole disk can be cut into pieces
 * that hold a spinlock briefly. Returns the number of blocks set, counted from
 * r->start; if less than r->len, reserve again and go on with the rest.
 * Destinations given up are told to @freed, in any order; a destination that
 * stays (setting STORED over the same STORED) is not.
 */
static inline u64 rt_set(struct rangetable *rt, const struct rt_range *r, unsigned int max_entries,
			 rt_freed_fn freed, void *ctx)
{
	rt_unreserve(rt);
	return rt_put(rt, r, max_entries, freed, ctx);
}

/* Bytes of all nodes, in the tree and in reserve. */
u64 rt_bytes(const struct rangetable *rt);

/*
 * Check every invariant (order, fill, balance, joined neighbours, counters).
 * Returns NULL or what is wrong. Reads the whole table: for tests.
 */
const char *rt_check(const struct rangetable *rt);

#endif
