// SPDX-License-Identifier: GPL-2.0
/*
 * Range table: look-ups and updates. How rows make a tree, and what an update may need of the
 * reserve, is in rangetable-node.c.
 *
 * An update changes rows in one leaf; if its range reaches into further
 * leaves, those are emptied first, one descent each, and what is left to do is
 * then one row in one leaf. Rows are only ever added in that last step, two at
 * the most (a range cut in the middle), so that an update splits at most one
 * node a level and adds at most one level.
 */
#include "rangetable-node.h"

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
	struct rt_trail p __uninit;

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
	struct rt_trail p __uninit;

	if (rt->root) {
		rt_descend(rt, r->start, &p);
	} else {
		rt->root = rt_node_get(rt, 0);
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
static __always_inline bool set_in_place(struct rangetable *rt, const struct rt_spot *spot,
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

	if (key != leaf->word && (len[-1] & KIND_MASK) == r->kind) {
		u64 left_end = key[-1] + (len[-1] >> KIND_BITS), next;

		if (left_end >= r->start &&
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
	if ((joins_left || joins_right) &&
	    unlikely(leaf->rows - joins_left - joins_right < MIN_ROWS))
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
	struct rt_trail p __uninit;

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

u64 rt_put(struct rangetable *rt, const struct rt_range *r, unsigned int max_entries,
	   rt_freed_fn freed, void *ctx)
{
	struct rt_spot spot __uninit;

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
	struct rt_spot spot __uninit;

	if (!rt->root) {
		rt_hole(block, U64_MAX, out);
		return;
	}
	rt_find(rt, block + 1, &spot);
	rt_hole(block, next_start(&spot), out);
}

void rt_lookup(const struct rangetable *rt, u64 block, struct rt_range *out)
{
	struct rt_spot spot __uninit;

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
	struct rt_spot spot;

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
	struct rt_spot spot;

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
