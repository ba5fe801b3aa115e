// SPDX-License-Identifier: GPL-2.0
/*
 * Range table: a B+ tree of ranges whose updates cannot fail. Its nodes, their balance, and the
 * reserve that they come from; look-ups and updates are in rangetable.c.
 *
 * A node is 1 KiB, a table of rows stored by column: a search reads the key
 * column only. A leaf row is a range (start, length and kind, value), an inner
 * row is a child and the lowest start below it. Keys are exact at all times,
 * so the row in front of a block is always found by one descent.
 *
 * Balance. Every node has at least MIN_ROWS rows, except the last node of each
 * level, which has at least one (the root is one of them, and has two children
 * or more). The exception lets a table that is filled from left to right keep
 * its leaves full: a full last node is not divided but followed by a new one.
 * Elsewhere a full node first gives rows to a sibling, which keeps random
 * updates at four fifths full. Hence, for n ranges, at most
 * n / MIN_ROWS + 1 leaves, n / MIN_ROWS^2 + 1 nodes above and so on: less than
 * 69 bytes a range and a node for each level. Usual figures are 25 to 31 bytes.
 *
 * The reserve. Let E be the number of ranges, N[l] the nodes in level l, and P
 * the number of reserved updates. Whatever these do, at no time will level l
 * have more than
 *
 *	X[l] = min(N[l] + P, most(X[l - 1])),  X[-1] = E + 2 P
 *
 * nodes, where most(c) = (c - 1) / MIN_ROWS + 1 is the largest number of nodes
 * that c rows can fill: an update adds one node to a level at most, and two
 * ranges at most. Levels end where X is 1. So the reserve needs sum(X - N)
 * nodes. This stays true from update to update: one of them makes
 * E' <= E + 2, N'[l] <= N[l] + 1, P' = P - 1, so that X' <= X in each level by
 * induction, and N + spare never changes, since a node leaves the tree for the
 * reserve and comes from it. Within an update, rows are removed before any are
 * added, so that the tree is never larger than before or after it.
 * For one reservation that is one node a level and a root; for 300 reservations on a
 * million ranges, about two nodes each; for a small table, nearly nothing.
 */
#include "../portable/portable-alloc.h"
#include "rangetable-node.h"

static inline void count_range(struct rangetable *rt, const struct rt_range *r)
{
	rt->ranges[r->kind]++;
	rt->blocks[r->kind] += r->len;
}

static inline void uncount_range(struct rangetable *rt, const struct rt_range *r)
{
	rt->ranges[r->kind]--;
	rt->blocks[r->kind] -= r->len;
}

/* Rows of @src from @si to row @di of @dst, which may be the same node. */
static void node_move_rows(struct rt_node *dst, unsigned int di, struct rt_node *src,
			   unsigned int si, unsigned int n)
{
	unsigned int level = src->level, col;

	for (col = 0; col < (level ? INNER_COLS : LEAF_COLS); col++)
		memmove(node_column(dst, level, col) + di, node_column(src, level, col) + si,
			n * sizeof(u64));
}

/* Move the last @n rows of @left to the front of @right. */
static void give_right(struct rt_node *left, struct rt_node *right, unsigned int n)
{
	node_move_rows(right, n, right, 0, right->rows);
	node_move_rows(right, 0, left, left->rows - n, n);
	right->rows += n;
	node_drop_rows(left, n);
}

/* Move the first @n rows of @right to the end of @left. */
static void give_left(struct rt_node *left, struct rt_node *right, unsigned int n)
{
	node_move_rows(left, left->rows, right, 0, n);
	node_move_rows(right, 0, right, n, right->rows - n);
	left->rows += n;
	node_drop_rows(right, n);
}

static void node_remove_rows(struct rt_node *node, unsigned int row, unsigned int n)
{
	node_move_rows(node, row, node, row + n, node->rows - row - n);
	node_drop_rows(node, n);
}

struct rt_node *rt_node_get(struct rangetable *rt, unsigned int level)
{
	struct rt_node *node = rt->pool;

	rt->pool = node->next;
	rt->spare--;
	rt->nodes++;
	rt->level[level]++;
	node->level = level;
	node->rows = node_capacity(level);
	node_drop_rows(node, node_capacity(level));
	return node;
}

static void node_put(struct rangetable *rt, struct rt_node *node)
{
	rt->level[node->level]--;
	rt->nodes--;
	rt_add_node(rt, node);
}

/* The first row of the node in @level has changed: update the keys of its ancestors. */
static void fix_keys(const struct rangetable *rt, struct rt_trail *p, unsigned int level)
{
	u64 key = p->node[level]->word[0];

	while (++level < rt->height) {
		p->node[level]->word[p->at[level]] = key;
		if (p->at[level])
			return;
	}
}

static struct rt_node *right_sibling(const struct rangetable *rt, const struct rt_trail *p,
				     unsigned int level)
{
	if (++level < rt->height && p->at[level] + 1 < p->node[level]->rows)
		return node_child(p->node[level], p->at[level] + 1);
	return NULL;
}

static struct rt_node *left_sibling(const struct rangetable *rt, const struct rt_trail *p,
				    unsigned int level)
{
	if (++level < rt->height && p->at[level])
		return node_child(p->node[level], p->at[level] - 1);
	return NULL;
}

static bool rt_is_last(const struct rangetable *rt, const struct rt_trail *p, unsigned int level)
{
	while (++level < rt->height)
		if (p->at[level] + 1 < p->node[level]->rows)
			return false;
	return true;
}

/*
 * Are a quarter of its rows free? A node with fewer free rows is given none, as it would soon be
 * full again.
 */
static bool node_is_roomy(const struct rt_node *node)
{
	return node && node->rows <= node_capacity(node->level) * 3 / 4;
}

/*
 * Follow the row of the path after rows [@cut, …) of its node went to @right,
 * the next child of its parent. A leaf's row is where to insert: at the cut it
 * stays left, unless @ahead. An inner row is a child: at the cut it has moved.
 */
static void follow_right(struct rt_trail *p, unsigned int level, struct rt_node *right,
			 unsigned int cut, bool ahead)
{
	if (p->at[level] < cut || (p->at[level] == cut && !level && !ahead))
		return;
	p->node[level] = right;
	p->at[level] -= cut;
	p->at[level + 1]++;
}

/* Where in its node a row will be added: at the path's row, or behind the child that it is. */
static bool adds_at_end(const struct rt_trail *p, unsigned int level)
{
	return p->at[level] + !!level == p->node[level]->rows;
}

/* Make room in the full node of @level by a sibling; false if none has enough of it. */
static bool rt_shift_rows(struct rangetable *rt, struct rt_trail *p, unsigned int level)
{
	struct rt_node *node = p->node[level], *sibling;
	unsigned int n;

	sibling = right_sibling(rt, p, level);
	if (node_is_roomy(sibling)) {
		bool ahead = adds_at_end(p, level);

		/* The table is filled from left to right: leave this node full, use the next. */
		n = ahead ? !!level : (node->rows - sibling->rows) / 2;
		give_right(node, sibling, n);
		p->node[level + 1]->word[p->at[level + 1] + 1] = sibling->word[0];
		follow_right(p, level, sibling, node->rows, ahead);
		return true;
	}
	sibling = left_sibling(rt, p, level);
	if (node_is_roomy(sibling)) {
		n = (node->rows - sibling->rows) / 2;
		give_left(sibling, node, n);
		p->node[level + 1]->word[p->at[level + 1]] = node->word[0];
		if (p->at[level] < n || (p->at[level] == n && !level)) {
			p->node[level] = sibling;
			p->at[level] += sibling->rows - n;
			p->at[level + 1]--;
		} else {
			p->at[level] -= n;
		}
		return true;
	}
	return false;
}

/* Divide the full node of @level, whose parent has room; @start is what will be inserted. */
static void rt_split_node(struct rangetable *rt, struct rt_trail *p, unsigned int level, u64 start)
{
	struct rt_node *node = p->node[level], *parent = p->node[level + 1];
	struct rt_node *right = rt_node_get(rt, level);
	unsigned int row = p->at[level + 1] + 1;
	bool ahead = adds_at_end(p, level) && rt_is_last(rt, p, level);

	give_right(node, right, ahead ? !!level : node->rows / 2);
	if (!right->rows)
		right->word[0] = start;
	node_move_rows(parent, row + 1, parent, row, parent->rows - row);
	parent->rows++;
	node_put_child(parent, row, right);
	follow_right(p, level, right, node->rows, ahead);
}

/* Make room for @n rows in the leaf. Climbs to the first level that can help, and back. */
static void rt_make_room(struct rangetable *rt, struct rt_trail *p, unsigned int n, u64 start)
{
	unsigned int level = 0;

	while (p->node[level]->rows + (level ? 1 : n) > node_capacity(level) &&
	       !rt_shift_rows(rt, p, level)) {
		if (++level < rt->height)
			continue;
		rt->root = rt_node_get(rt, level);
		rt->root->rows = 1;
		rt->height++;
		node_put_child(rt->root, 0, p->node[level - 1]);
		p->node[level] = rt->root;
		p->at[level] = 0;
	}
	while (level--)
		if (!rt_shift_rows(rt, p, level))
			rt_split_node(rt, p, level, start);
}

static void drop_root(struct rangetable *rt)
{
	struct rt_node *root = rt->root;

	while (root && root->rows <= !!root->level) {
		rt->root = root->level ? node_child(root, 0) : NULL;
		rt->height--;
		node_put(rt, root);
		root = rt->root;
	}
}

/* Rows were removed from the leaf: restore the balance, upwards as far as needed. */
static void rt_rebalance(struct rangetable *rt, struct rt_trail *p)
{
	unsigned int level;

	for (level = 0; level + 1 < rt->height && p->node[level]->rows < MIN_ROWS; level++) {
		struct rt_node *parent = p->node[level + 1], *left, *right;

		right = right_sibling(rt, p, level);
		left = left_sibling(rt, p, level);
		if (right) {
			left = p->node[level];
		} else if (left) {
			right = p->node[level];
			p->node[level] = left;
			p->at[level + 1]--;
		} else {
			/* The last node of its level, alone below its parent. */
			if (p->node[level]->rows)
				return;
			node_put(rt, p->node[level]);
			parent->rows = 0;
			continue;
		}
		if (left->rows + right->rows > node_capacity(level)) {
			if (left->rows < right->rows)
				give_left(left, right, (right->rows - left->rows) / 2);
			else
				give_right(left, right, (left->rows - right->rows) / 2);
			parent->word[p->at[level + 1] + 1] = right->word[0];
			fix_keys(rt, p, level);
			return;
		}
		give_left(left, right, right->rows);
		node_put(rt, right);
		node_remove_rows(parent, p->at[level + 1] + 1, 1);
		fix_keys(rt, p, level);
	}
	drop_root(rt);
}

void rt_replace(struct rangetable *rt, struct rt_trail *p, unsigned int n,
		const struct rt_range *r, unsigned int m)
{
	struct rt_node *leaf = p->node[0];
	unsigned int at = p->at[0], i;

	for (i = 0; i < n; i++) {
		struct rt_range old = leaf_get_range(leaf, at + i);

		uncount_range(rt, &old);
	}
	for (i = 0; i < m; i++)
		count_range(rt, &r[i]);
	for (i = 0; i < n && i < m; i++)
		leaf_put_range(leaf, at + i, &r[i]);
	if (i && !at)
		fix_keys(rt, p, 0);

	if (i < m) {
		p->at[0] = at + i;
		if (leaf->rows + m - i > LEAF_ROWS)
			rt_make_room(rt, p, m - i, r[i].start);
		leaf = p->node[0];
		at = p->at[0];
		node_move_rows(leaf, at + m - i, leaf, at, leaf->rows - at);
		leaf->rows += m - i;
		if (!at) {
			leaf_put_range(leaf, 0, &r[i]);
			fix_keys(rt, p, 0);
		}
		for (; i < m; i++)
			leaf_put_range(leaf, at++, &r[i]);
	} else if (i < n) {
		node_remove_rows(leaf, at + i, n - i);
		if (!(at + i) && leaf->rows)
			fix_keys(rt, p, 0);
		if (leaf->rows < MIN_ROWS)
			rt_rebalance(rt, p);
	}
}

/* See the head of this file. */
u64 rt_nodes_needed(const struct rangetable *rt, u64 reservations)
{
	u64 below = 2 * reservations, need = 0;
	unsigned int level, kind;

	if (!reservations)
		return 0;
	for (kind = 0; kind < RT_KINDS; kind++)
		below += rt->ranges[kind];
	for (level = 0; level < rt->height || below > 1 || !level; level++) {
		u64 now = level < RT_LEVELS ? rt->level[level] : 0;
		u64 most = min((below - 1) / MIN_ROWS + 1, now + reservations);

		need += most - now;
		below = most;
	}
	return need;
}

unsigned int rt_lacks(const struct rangetable *rt)
{
	u64 need;

	if (rt_has_plenty(rt))
		return 0;
	need = rt_nodes_needed(rt, (u64)rt->reserved + 1);
	return need > rt->spare ? need - rt->spare : 0;
}

struct rt_node *rt_node_alloc(gfp_t gfp)
{
	BUILD_BUG_ON(sizeof(struct rt_node) != 1024);
	BUILD_BUG_ON((RT_KINDS - 1) & ~KIND_MASK);
	return kmalloc(sizeof(struct rt_node), gfp);
}

void rt_node_free(struct rt_node *node)
{
	kfree(node);
}

void rt_add_node(struct rangetable *rt, struct rt_node *node)
{
	node->next = rt->pool;
	rt->pool = node;
	rt->spare++;
}

struct rt_node *rt_take_spare(struct rangetable *rt)
{
	struct rt_node *node = rt->pool;

	if (rt->spare <= rt_nodes_needed(rt, rt->reserved))
		return NULL;
	rt->pool = node->next;
	rt->spare--;
	return node;
}

void rt_init(struct rangetable *rt)
{
	memset(rt, 0, sizeof(*rt));
}

void rt_destroy(struct rangetable *rt)
{
	struct rt_node *node, *list = rt->root;

	if (list)
		list->next = NULL;
	while (list) {
		unsigned int row;

		node = list;
		list = node->next;
		for (row = 0; node->level && row < node->rows; row++) {
			node_child(node, row)->next = list;
			list = node_child(node, row);
		}
		rt_node_free(node);
	}
	while (rt->pool) {
		node = rt->pool;
		rt->pool = node->next;
		rt_node_free(node);
	}
	rt_init(rt);
}

u64 rt_bytes(const struct rangetable *rt)
{
	return (rt->nodes + rt->spare) * sizeof(struct rt_node);
}
