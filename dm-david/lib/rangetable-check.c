// SPDX-License-Identifier: GPL-2.0
/* Does a range table keep to its own rules? For tests: see rangetable.h. */
#include "rangetable-node.h"

/* What rt_check() has seen so far. */
struct census {
	u64 level[RT_LEVELS];
	u64 ranges[RT_KINDS];
	u64 blocks[RT_KINDS];
	struct rt_range last;
};

static const char *check_leaf(const struct rt_node *leaf, struct census *c)
{
	unsigned int row;

	for (row = 0; row < leaf->rows; row++) {
		struct rt_range r = leaf_get_range(leaf, row);
		u64 end = c->last.start + c->last.len;

		if (r.kind == RT_HOLE || r.kind >= RT_KINDS)
			return "range of no kind";
		if (!r.len)
			return "empty range";
		if (r.start < end)
			return "ranges out of order or overlapping";
		if (c->last.len && r.start == end && range_is_same(&r, &c->last))
			return "neighbours not joined";
		c->ranges[r.kind]++;
		c->blocks[r.kind] += r.len;
		c->last = r;
	}
	return NULL;
}

static const char *check_node(const struct rangetable *rt, const struct rt_node *node,
			      unsigned int level, bool last, struct census *c)
{
	unsigned int row;

	c->level[level]++;
	if (node->level != level)
		return "leaves not all at one level";
	if (node->rows > node_capacity(level))
		return "node overfull";
	if (!node->rows)
		return "node empty";
	if (node == rt->root && level && node->rows < 2)
		return "root with one child";
	for (row = node->rows; row < node_capacity(level); row++)
		if (node->word[row] != U64_MAX)
			return "unused key not at the end of all";
	if (node != rt->root && !last && node->rows < MIN_ROWS)
		return "node under-full";
	if (!level)
		return check_leaf(node, c);
	for (row = 0; row < node->rows; row++) {
		const struct rt_node *kid = node_child(node, row);
		const char *wrong;

		if (kid->word[0] != node->word[row])
			return "key is not the child's first start";
		wrong = check_node(rt, kid, level - 1, last && row + 1 == node->rows, c);
		if (wrong)
			return wrong;
	}
	return NULL;
}

const char *rt_check(const struct rangetable *rt)
{
	const struct rt_node *node;
	struct census c = { };
	u64 spare = 0, nodes = 0;
	unsigned int i;

	if (!rt->root != !rt->height)
		return "height without a root, or root without height";
	if (rt->height > RT_LEVELS)
		return "too high";
	if (rt->root) {
		const char *wrong = check_node(rt, rt->root, rt->height - 1, true, &c);

		if (wrong)
			return wrong;
	}
	for (i = 0; i < RT_LEVELS; i++) {
		if (c.level[i] != rt->level[i])
			return "nodes of a level miscounted";
		nodes += c.level[i];
	}
	if (nodes != rt->nodes)
		return "nodes miscounted";
	if (memcmp(c.ranges, rt->ranges, sizeof(c.ranges)))
		return "ranges miscounted";
	if (memcmp(c.blocks, rt->blocks, sizeof(c.blocks)))
		return "blocks miscounted";
	for (node = rt->pool; node; node = node->next)
		spare++;
	if (spare != rt->spare)
		return "reserve miscounted";
	if (rt->spare < rt_nodes_needed(rt, rt->reserved))
		return "reserve smaller than reserved";
	return NULL;
}
