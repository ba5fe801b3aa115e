// SPDX-License-Identifier: GPL-2.0
/*
 * Range table: a B+ tree of ranges whose updates cannot fail.
 *
 * A node is 1 KiB, a table of rows stored by column: a search reads the key
 * column only. A leaf row is a range (start, length and kind, value), an inner
 * row is a child and the lowest start below it. Keys are exact at all times,
 * so the row in front of a block is always found by one descent.
 *
 * An update changes rows in one leaf; if its range reaches into further
 * leaves, those are emptied first, one descent each, and what is left to do is
 * then one row in one leaf. Rows are only ever added in that last step, two at
 * the most (a range cut in the middle), so that an update splits at most one
 * node a level and adds at most one level.
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

/* The way from the root to a row. Level 0 is the leaf. */
struct trail {
	struct rt_node *node[RT_LEVELS];
	unsigned int at[RT_LEVELS];	/* row; in the leaf, where to insert */
	u64 next;			/* first start in the next leaf, or U64_MAX */
};

/* The row in front of which a range would be inserted. */
struct spot {
	struct rt_node *leaf;
	u64 *key;		/* in @leaf */
	u64 next;		/* first start in the next leaf, or U64_MAX */
};

/* One update on its way. */
struct update {
	struct rt_range new;	/* grows as it joins neighbours; len is set last */
	u64 end;		/* end of what is to be set */
	u64 joined;		/* end of what it joins on the right, or 0 */
	struct rt_range right;	/* what sticks out of an old range at @end, if len is not 0 */
	unsigned int budget;	/* old ranges that may still be removed */
	bool more;		/* the next leaf may hold ranges that overlap or join */
	rt_freed_fn freed;
	void *ctx;
};

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

/* Rows of @src from @si to row @di of @dst, which may be the same node. */
static void node_move_rows(struct rt_node *dst, unsigned int di, struct rt_node *src,
			   unsigned int si, unsigned int n)
{
	unsigned int level = src->level, col;

	for (col = 0; col < (level ? INNER_COLS : LEAF_COLS); col++)
		memmove(node_column(dst, level, col) + di, node_column(src, level, col) + si,
			n * sizeof(u64));
}

/* Remove the last @n rows: their keys become those of unused rows. */
static void node_drop_rows(struct rt_node *node, unsigned int n)
{
	while (n--)
		node->word[--node->rows] = U64_MAX;
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

/* Take a node from the reserve. The caller's reservation has put it there. */
static struct rt_node *node_get(struct rangetable *rt, unsigned int level)
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

/* The way to where a range that starts at @block would be inserted. */
static __always_inline void rt_descend(const struct rangetable *rt, u64 block, struct trail *p)
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
static __always_inline void rt_find(const struct rangetable *rt, u64 block, struct spot *spot)
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
static inline u64 next_start(const struct spot *spot)
{
	return spot->key < spot->leaf->word + spot->leaf->rows ? *spot->key : spot->next;
}

/* The first row of the node in @level has changed: update the keys of its ancestors. */
static void fix_keys(const struct rangetable *rt, struct trail *p, unsigned int level)
{
	u64 key = p->node[level]->word[0];

	while (++level < rt->height) {
		p->node[level]->word[p->at[level]] = key;
		if (p->at[level])
			return;
	}
}

static struct rt_node *right_sibling(const struct rangetable *rt, const struct trail *p,
				     unsigned int level)
{
	if (++level < rt->height && p->at[level] + 1 < p->node[level]->rows)
		return node_child(p->node[level], p->at[level] + 1);
	return NULL;
}

static struct rt_node *left_sibling(const struct rangetable *rt, const struct trail *p,
				    unsigned int level)
{
	if (++level < rt->height && p->at[level])
		return node_child(p->node[level], p->at[level] - 1);
	return NULL;
}

static bool rt_is_last(const struct rangetable *rt, const struct trail *p, unsigned int level)
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
static void follow_right(struct trail *p, unsigned int level, struct rt_node *right,
			 unsigned int cut, bool ahead)
{
	if (p->at[level] < cut || (p->at[level] == cut && !level && !ahead))
		return;
	p->node[level] = right;
	p->at[level] -= cut;
	p->at[level + 1]++;
}

/* Where in its node a row will be added: at the path's row, or behind the child that it is. */
static bool adds_at_end(const struct trail *p, unsigned int level)
{
	return p->at[level] + !!level == p->node[level]->rows;
}

/* Make room in the full node of @level by a sibling; false if none has enough of it. */
static bool rt_shift_rows(struct rangetable *rt, struct trail *p, unsigned int level)
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
static void rt_split_node(struct rangetable *rt, struct trail *p, unsigned int level, u64 start)
{
	struct rt_node *node = p->node[level], *parent = p->node[level + 1];
	struct rt_node *right = node_get(rt, level);
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
static void rt_make_room(struct rangetable *rt, struct trail *p, unsigned int n, u64 start)
{
	unsigned int level = 0;

	while (p->node[level]->rows + (level ? 1 : n) > node_capacity(level) &&
	       !rt_shift_rows(rt, p, level)) {
		if (++level < rt->height)
			continue;
		rt->root = node_get(rt, level);
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
static void rt_rebalance(struct rangetable *rt, struct trail *p)
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

/* Replace @n rows of the path's leaf, from its row on, by the @m ranges @r. */
static void rt_replace(struct rangetable *rt, struct trail *p, unsigned int n,
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

/* Destinations of @r from @from to @to are no longer in use. */
static void update_give_up(const struct update *u, const struct rt_range *r, u64 from, u64 to)
{
	if (r->kind == RT_STORED)
		u->freed(u->ctx, range_value_at(r, from), to - from);
}

/* The part of @r from @block to its end. */
static struct rt_range range_tail(const struct rt_range *r, u64 block)
{
	return (struct rt_range) {
		.start = block,
		.len = r->start + r->len - block,
		.kind = r->kind,
		.value = range_value_at(r, block),
	};
}

/*
 * Go over the leaf's ranges from @row on, all of which start inside the update
 * or behind it. Returns the number of those that the update takes the place of.
 */
static __always_inline unsigned int update_swallow(struct update *u, const struct rt_node *leaf,
						   unsigned int row)
{
	unsigned int first = row;
	struct rt_range old;

	u->more = false;
	for (; row < leaf->rows && leaf->word[row] < u->end; row++) {
		u64 end;

		old = leaf_get_range(leaf, row);
		if (!u->budget) {
			/* Stop here. The range that starts here may still be joined. */
			u->end = old.start;
			break;
		}
		u->budget--;
		end = old.start + old.len;
		if (end > u->end) {
			if (range_is_same(&old, &u->new)) {
				u->joined = end;
			} else {
				update_give_up(u, &old, old.start, u->end);
				u->right = range_tail(&old, u->end);
			}
			return row + 1 - first;
		}
		if (!range_is_same(&old, &u->new))
			update_give_up(u, &old, old.start, end);
	}
	if (row == leaf->rows) {
		u->more = true;
	} else if (leaf->word[row] == u->end) {
		old = leaf_get_range(leaf, row);
		if (range_is_same(&old, &u->new)) {
			u->joined = old.start + old.len;
			row++;
		}
	}
	return row - first;
}

/* Take what the update covers, or joins, out of the leaves behind its first. */
static void update_swallow_rest(struct rangetable *rt, struct update *u, u64 next)
{
	struct trail p __uninit;

	while (u->more && next <= u->end) {
		unsigned int n;

		/* The row that starts at @next, wherever balancing has put it. */
		rt_descend(rt, next + 1, &p);
		p.at[0]--;
		next = p.next;
		n = update_swallow(u, p.node[0], p.at[0]);
		rt_replace(rt, &p, n, &u->right, u->right.len != 0);
	}
}

/* Add the one range @r, which overlaps and joins none. */
static void rt_add(struct rangetable *rt, const struct rt_range *r)
{
	struct trail p __uninit;

	if (rt->root) {
		rt_descend(rt, r->start, &p);
	} else {
		rt->root = node_get(rt, 0);
		rt->height = 1;
		p.node[0] = rt->root;
		p.at[0] = 0;
	}
	rt_replace(rt, &p, 0, r, 1);
}

/*
 * node_remove_rows() of a leaf, from the row with the key @to on, for few rows: three memmove()
 * would cost more to start than to move.
 */
static inline void close_gap(struct rt_node *leaf, u64 *to, unsigned int n)
{
	const u64 *end = leaf->word + leaf->rows - n;
	const u64 *from = to + n;

	for (; to + 1 < end; to += 2, from += 2) {
		u64 first = from[0], second = from[1];

		to[0] = first;
		to[1] = second;
		first = from[LEAF_ROWS];
		second = from[LEAF_ROWS + 1];
		to[LEAF_ROWS] = first;
		to[LEAF_ROWS + 1] = second;
		first = from[2 * LEAF_ROWS];
		second = from[2 * LEAF_ROWS + 1];
		to[2 * LEAF_ROWS] = first;
		to[2 * LEAF_ROWS + 1] = second;
	}
	if (to < end) {
		to[0] = from[0];
		to[LEAF_ROWS] = from[LEAF_ROWS];
		to[2 * LEAF_ROWS] = from[2 * LEAF_ROWS];
	}
	node_drop_rows(leaf, n);
}

/*
 * The most frequent updates, in place: @r continues the range before it, into a hole, or gives new
 * content to exactly one range, and may join its neighbours by that. Also where there is nothing to
 * do. Returns false, nothing done, if @r is neither, or if another leaf must change, too.
 */
static __always_inline bool set_in_place(struct rangetable *rt, const struct spot *spot,
					 const struct rt_range *r, rt_freed_fn freed, void *ctx)
{
	struct rt_node *leaf = spot->leaf;
	/* The row's columns, each by itself: some kernels zero a whole struct first. */
	u64 *key = spot->key, *len = key + LEAF_ROWS, *value = len + LEAF_ROWS;
	const u64 *keys_end = leaf->word + leaf->rows;
	u64 end = r->start + r->len, joined = end;
	bool joins_left = false, joins_right = false;
	enum rt_kind old_kind;
	u64 old_value;

	if (key != leaf->word) {
		u64 left_end = key[-1] + (len[-1] >> KIND_BITS), next;

		if (left_end >= r->start && (len[-1] & KIND_MASK) == r->kind &&
		    value[-1] + (r->kind == RT_STORED ? r->start - key[-1] : 0) == r->value) {
			if (left_end >= end)
				return true;
			next = next_start(spot);
			if (next > end) {
				rt->changes++;
				len[-1] += (end - left_end) << KIND_BITS;
				rt->blocks[r->kind] += end - left_end;
				return true;
			}
			if (next != r->start)
				return false;
			joins_left = true;
		}
	}
	/* If the range in front reaches beyond r->start, no range starts there either. */
	if (key == keys_end || key[0] != r->start || r->kind == RT_HOLE)
		return false;
	if (len[0] >> KIND_BITS != r->len)
		return false;
	old_kind = len[0] & KIND_MASK;
	old_value = value[0];
	if (old_kind == r->kind && old_value == r->value)
		return true;
	if (key + 1 < keys_end) {
		joins_right = key[1] == end && (len[1] & KIND_MASK) == r->kind &&
			      value[1] == r->value + (r->kind == RT_STORED ? r->len : 0);
		if (joins_right)
			joined += len[1] >> KIND_BITS;
	} else if (spot->next == end) {
		return false;
	}
	if (unlikely(leaf->rows - joins_left - joins_right < MIN_ROWS && joins_left + joins_right))
		return false;

	rt->changes++;
	rt->ranges[old_kind]--;
	rt->blocks[old_kind] -= r->len;
	rt->blocks[r->kind] += r->len;
	if (joins_left) {
		len[-1] += (joined - r->start) << KIND_BITS;
		rt->ranges[r->kind] -= joins_right;
		close_gap(leaf, key, 1 + joins_right);
	} else {
		len[0] = (joined - r->start) << KIND_BITS | r->kind;
		value[0] = r->value;
		rt->ranges[r->kind] += !joins_right;
		if (joins_right)
			close_gap(leaf, key + 1, 1);
	}
	if (old_kind == RT_STORED)
		freed(ctx, old_value, r->len);
	return true;
}

/* Every other update. */
static noinline u64 set_anywhere(struct rangetable *rt, const struct rt_range *r,
				 unsigned int max_entries, rt_freed_fn freed, void *ctx)
{
	struct update u __uninit;
	unsigned int n = 0, m = 0;
	struct rt_range out[3] __uninit;
	struct trail p __uninit;

	rt_descend(rt, r->start, &p);
	/* Counted even if the update changes nothing: no caller depends on that. */
	rt->changes++;

	u.new = *r;
	u.end = r->start + r->len;
	u.joined = 0;
	u.right.len = 0;
	u.budget = max(max_entries, 1u);
	u.more = false;
	u.freed = freed;
	u.ctx = ctx;
	if (p.at[0]) {
		struct rt_range left = leaf_get_range(p.node[0], p.at[0] - 1);
		u64 end = left.start + left.len;

		if (end >= r->start && range_is_same(&u.new, &left)) {
			u.new.start = left.start;
			u.new.value = left.value;
			n = 1;
		} else if (end > r->start) {
			u.budget--;
			update_give_up(&u, &left, r->start, min(end, u.end));
			if (end > u.end)
				u.right = range_tail(&left, u.end);
			left.len = r->start - left.start;
			out[m++] = left;
			n = 1;
		}
	}
	p.at[0] -= n;
	if (!u.right.len)
		n += update_swallow(&u, p.node[0], p.at[0] + n);

	if (u.more && p.next <= u.end) {
		u64 next = p.next;

		rt_replace(rt, &p, n, out, m);
		update_swallow_rest(rt, &u, next);
		u.new.len = max(u.end, u.joined) - u.new.start;
		if (r->kind != RT_HOLE)
			rt_add(rt, &u.new);
	} else {
		u.new.len = max(u.end, u.joined) - u.new.start;
		if (r->kind != RT_HOLE)
			out[m++] = u.new;
		if (u.right.len)
			out[m++] = u.right;
		rt_replace(rt, &p, n, out, m);
	}
	return u.end - r->start;
}

u64 rt_set(struct rangetable *rt, const struct rt_range *r, unsigned int max_entries,
	   rt_freed_fn freed, void *ctx)
{
	struct spot spot __uninit;

	if (!WARN_ON_ONCE(!rt->reserved))
		rt->reserved--;
	if (!r->len)
		return 0;
	if (!rt->root) {
		if (r->kind != RT_HOLE) {
			rt->changes++;
			rt_add(rt, r);
		}
		return r->len;
	}

	rt_find(rt, r->start, &spot);
	if (set_in_place(rt, &spot, r, freed, ctx))
		return r->len;
	return set_anywhere(rt, r, max_entries, freed, ctx);
}

void rt_prefetch(const struct rangetable *rt, u64 block)
{
	const struct rt_node *node = rt->root;
	unsigned int level;

	if (!node)
		return;
	for (level = rt->height - 1; level; level--)
		node = node_child(node, key_before(node, block) - node->word);
	/* All cache lines of the leaf: only its keys can tell which row it will be. */
	for (level = 0; level < sizeof(*node); level += 64)
		__builtin_prefetch((const u8 *)node + level, 1);
}

/* The part from @block on of the range whose row in its leaf has @key, if it reaches so far. */
static inline bool read_row(const u64 *key, u64 block, struct rt_range *out)
{
	u64 into = block - key[0], word = key[LEAF_ROWS];
	u64 len = word >> KIND_BITS;

	if (into >= len)
		return false;
	out->start = block;
	out->len = len - into;
	out->kind = word & KIND_MASK;
	out->value = key[2 * LEAF_ROWS];
	if (out->kind == RT_STORED)
		out->value += into;
	return true;
}

static inline void rt_hole(u64 block, u64 next, struct rt_range *out)
{
	*out = (struct rt_range) { .start = block, .len = next - block, .kind = RT_HOLE };
}

static noinline void lookup_hole(const struct rangetable *rt, u64 block, struct rt_range *out)
{
	struct spot spot __uninit;

	if (!rt->root) {
		rt_hole(block, U64_MAX, out);
		return;
	}
	rt_find(rt, block + 1, &spot);
	rt_hole(block, next_start(&spot), out);
}

void rt_lookup(const struct rangetable *rt, u64 block, struct rt_range *out)
{
	struct spot spot __uninit;

	if (likely(rt->root)) {
		/* What is behind is not asked, so the compiler does not look for it. */
		rt_find(rt, block + 1, &spot);
		if (spot.key != spot.leaf->word && read_row(spot.key - 1, block, out))
			return;
	}
	lookup_hole(rt, block, out);
}

unsigned int rt_read(const struct rangetable *rt, u64 block, struct rt_range *out,
		     unsigned int max)
{
	unsigned int row, n = 0;
	struct spot spot;

	if (!rt->root)
		return 0;
	rt_find(rt, block + 1, &spot);
	row = spot.key - spot.leaf->word;
	if (row && read_row(spot.key - 1, block, out))
		n = 1;
	if (!n && row == spot.leaf->rows) {
		if (spot.next == U64_MAX)
			return 0;
		/* It is the first of its leaf. */
		rt_find(rt, spot.next + 1, &spot);
		row = 0;
	}
	for (; row < spot.leaf->rows && n < max; row++)
		out[n++] = leaf_get_range(spot.leaf, row);
	return n;
}

u64 rt_lookup_hint(const struct rangetable *rt, u64 block, struct rt_range *out)
{
	struct rt_range before;
	struct spot spot;

	if (unlikely(!rt->root)) {
		rt_hole(block, U64_MAX, out);
		return U64_MAX;
	}
	rt_find(rt, block + 1, &spot);
	if (spot.key == spot.leaf->word || !read_row(spot.key - 1, block, out))
		rt_hole(block, next_start(&spot), out);
	else if (spot.key[-1] == block)
		spot.key--;
	if (spot.key == spot.leaf->word || !block ||
	    !read_row(spot.key - 1, block - 1, &before) || before.kind != RT_STORED)
		return U64_MAX;
	return before.value + 1;
}

/* Nodes that the reserve must hold for @reservations updates: see the head of this file. */
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

void rt_unreserve(struct rangetable *rt)
{
	if (!WARN_ON_ONCE(!rt->reserved))
		rt->reserved--;
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
