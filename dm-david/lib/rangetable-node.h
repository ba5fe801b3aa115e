/* SPDX-License-Identifier: GPL-2.0 */
/* A range table's nodes: rows in columns. For rangetable.c, which says how they make a tree. */
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

/* rangetable.c: nodes that the reserve must hold for @reservations updates. */
u64 rt_nodes_needed(const struct rangetable *rt, u64 reservations);

#endif
