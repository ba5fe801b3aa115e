/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A range table's nodes: rows in columns, and the way down to one. For the files of the range table
 * alone; rangetable-node.c says how nodes make a tree.
 */
#ifndef DM_DAVID_RANGETABLE_NODE_H
#define DM_DAVID_RANGETABLE_NODE_H

#include "rangetable.h"

#define WORDS		126
#define LEAF_COLS	3
#define INNER_COLS	2
#define LEAF_ROWS	(WORDS / LEAF_COLS)
#define INNER_ROWS	(WORDS / INNER_COLS)
#define MIN_ROWS	16	/* less than half of what is divided */

#define KIND_BITS	3
#define KIND_MASK	((1u << KIND_BITS) - 1)

struct rt_node {
	struct rt_node *next;	/* in the reserve */
	u16 rows;
	u16 level;		/* 0: leaf */
	u64 word[WORDS];	/* unused keys: U64_MAX */
};

static inline unsigned int node_capacity(unsigned int level)
{
	return level ? INNER_ROWS : LEAF_ROWS;
}

static inline u64 *node_column(struct rt_node *node, unsigned int level, unsigned int col)
{
	return node->word + col * node_capacity(level);
}

static inline struct rt_node *node_child(const struct rt_node *node, unsigned int row)
{
	return (struct rt_node *)(uintptr_t)node->word[INNER_ROWS + row];
}

static inline void node_put_child(struct rt_node *node, unsigned int row, struct rt_node *kid)
{
	node->word[INNER_ROWS + row] = (uintptr_t)kid;
	node->word[row] = kid->word[0];
}

static inline struct rt_range leaf_get_range(const struct rt_node *leaf, unsigned int row)
{
	return (struct rt_range) {
		.start = leaf->word[row],
		.len = leaf->word[LEAF_ROWS + row] >> KIND_BITS,
		.kind = leaf->word[LEAF_ROWS + row] & KIND_MASK,
		.value = leaf->word[2 * LEAF_ROWS + row],
	};
}

static inline void leaf_put_range(struct rt_node *leaf, unsigned int row, const struct rt_range *r)
{
	leaf->word[row] = r->start;
	leaf->word[LEAF_ROWS + row] = r->len << KIND_BITS | r->kind;
	leaf->word[2 * LEAF_ROWS + row] = r->value;
}

/* The value of @r seen from @block instead of from its start. */
static inline u64 range_value_at(const struct rt_range *r, u64 block)
{
	return r->kind == RT_STORED ? r->value + (block - r->start) : r->value;
}

/* Have both the same content? Then ranges that overlap or touch can be joined. */
static inline bool range_is_same(const struct rt_range *a, const struct rt_range *b)
{
	return a->kind == b->kind && a->value == range_value_at(b, a->start);
}

/* Remove the last @n rows: their keys become those of unused rows. */
static inline void node_drop_rows(struct rt_node *node, unsigned int n)
{
	while (n--)
		node->word[--node->rows] = U64_MAX;
}

/* The way from the root to a row. Level 0 is the leaf. */
struct rt_trail {
	struct rt_node *node[RT_LEVELS];
	unsigned int at[RT_LEVELS];	/* row; in the leaf, where to insert */
	u64 next;			/* first start in the next leaf, or U64_MAX */
};

/* The row in front of which a range would be inserted. */
struct rt_spot {
	struct rt_node *leaf;
	u64 *key;		/* in @leaf */
	u64 next;		/* first start in the next leaf, or U64_MAX */
};

/* @key, or the key @by keys behind it if the one right before that is less than @x. */
static __always_inline const u64 *key_skip(const u64 *key, unsigned int by, u64 x)
{
	const u64 *behind = key + by;

	/* Otherwise the compiler makes four instructions of three, or a branch. */
	OPTIMIZER_HIDE_VAR(behind);
	return behind[-1] < x ? behind : key;
}

/*
 * The first of @n keys (32 to 63) that is not less than @x, or their end: a binary search over the
 * whole column, since unused keys are U64_MAX, and without branches, since nobody could predict
 * them.
 */
static __always_inline const u64 *first_not_less(const u64 *key, unsigned int n, u64 x)
{
	key = key_skip(key, n - 31, x);
	key = key_skip(key, 16, x);
	key = key_skip(key, 8, x);
	key = key_skip(key, 4, x);
	key = key_skip(key, 2, x);
	return key_skip(key, 1, x);
}

/*
 * The last key of the inner @node that is less than @x, or the first. The first need not be asked.
 */
static __always_inline const u64 *key_before(const struct rt_node *node, u64 x)
{
	return first_not_less(node->word + 1, INNER_ROWS - 1, x) - 1;
}

/* The way to where a range that starts at @block would be inserted. */
static __always_inline void rt_descend(const struct rangetable *rt, u64 block, struct rt_trail *p)
{
	struct rt_node *node = rt->root;
	unsigned int level;
	u64 next = U64_MAX;

	for (level = rt->height - 1; level; level--) {
		unsigned int at = key_before(node, block) - node->word;

		p->node[level] = node;
		p->at[level] = at;
		if (at + 1 < node->rows)
			next = node->word[at + 1];
		node = node_child(node, at);
	}
	p->next = next;
	p->node[0] = node;
	p->at[0] = first_not_less(node->word, LEAF_ROWS, block) - node->word;
}

/* As rt_descend(), without the way back: for what needs none. */
static __always_inline void rt_find(const struct rangetable *rt, u64 block, struct rt_spot *spot)
{
	struct rt_node *node = rt->root;
	unsigned int level;

	spot->next = U64_MAX;
	for (level = rt->height - 1; level; level--) {
		const u64 *key = key_before(node, block);

		if (key + 1 < node->word + node->rows)
			spot->next = key[1];
		node = (struct rt_node *)(uintptr_t)key[INNER_ROWS];
	}
	spot->leaf = node;
	spot->key = node->word + (first_not_less(node->word, LEAF_ROWS, block) - node->word);
}

/* The first start at or behind @spot. */
static inline u64 next_start(const struct rt_spot *spot)
{
	return spot->key < spot->leaf->word + spot->leaf->rows ? *spot->key : spot->next;
}

/* Take a node from the reserve. The caller's reservation has put it there. */
struct rt_node *rt_node_get(struct rangetable *rt, unsigned int level);

/*
 * Replace @n rows of the path's leaf, from its row on, by the @m ranges @r; then the tree is in
 * balance again. At most two rows more, and a reservation for them.
 */
void rt_replace(struct rangetable *rt, struct rt_trail *p, unsigned int n, const struct rt_range *r,
		unsigned int m);

/* Nodes that the reserve must hold for @reservations updates. */
u64 rt_nodes_needed(const struct rangetable *rt, u64 reservations);

#endif
