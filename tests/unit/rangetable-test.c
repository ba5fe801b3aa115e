// SPDX-License-Identifier: GPL-2.0
/*
 * The range table against a naive oracle, an array with one cell a block, and
 * its reservation against an adversary. Every reserve holds exactly the nodes that
 * rt_lacks() asked for: one too few and an update would take a node that is
 * not there.
 */
#include <kunit/test.h>

#include "../../dm-david/lib/rangetable.h"
#include "random.h"

#ifdef __KERNEL__
#define SEEDS		8
#define STEPS		1500
#define MANY		20000
#else
#define SEEDS		60
#define STEPS		6000
#define MANY		120000
#endif

#define MAX_CELLS	16384

struct cell {
	enum rt_kind kind;
	u64 value;
};

/* A table and what it must hold. A cell stands for @scale blocks from @base on. */
struct world {
	struct kunit *test;
	struct rangetable rt;
	struct rnd rnd;
	u64 seed;
	struct cell *cell;
	u32 cells;
	u64 base;
	u64 scale;
	u64 next_dest;
	u64 given_up;	/* sum over all freed destinations, told by the table */
	u64 expected;	/* the same, told by the oracle */
	u64 hints;
};

static u64 mix(u64 dest)
{
	struct rnd rnd = { dest };

	return rnd_next(&rnd);
}

static void freed(void *ctx, u64 dest, u64 len)
{
	struct world *w = ctx;
	u64 i;

	KUNIT_EXPECT_EQ_MSG(w->test, len % w->scale, 0ULL, "seed %llu",
			    (unsigned long long)w->seed);
	for (i = 0; i < len; i += w->scale)
		w->given_up += mix(dest + i);
}

static void stock(struct kunit *test, struct rangetable *rt)
{
	unsigned int lacks = rt_lacks(rt);

	while (lacks--) {
		struct rt_node *node = rt_node_alloc(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, node);
		rt_add_node(rt, node);
	}
	KUNIT_EXPECT_EQ(test, rt_lacks(rt), 0u);
}

static void trim(struct rangetable *rt)
{
	struct rt_node *node;

	while ((node = rt_take_spare(rt)))
		rt_node_free(node);
}

static void take_reservation(struct kunit *test, struct rangetable *rt)
{
	trim(rt);
	if (rt_lacks(rt))
		KUNIT_EXPECT_FALSE(test, rt_reserve(rt));
	stock(test, rt);
	KUNIT_ASSERT_TRUE(test, rt_reserve(rt));
}

static void check(struct kunit *test, const struct rangetable *rt, u64 seed)
{
	const char *wrong = rt_check(rt);

	KUNIT_ASSERT_STREQ_MSG(test, wrong ? wrong : "right", "right", "seed %llu",
			       (unsigned long long)seed);
}

static u64 cell_value(const struct world *w, u32 first, const struct rt_range *r, u32 i)
{
	return r->kind == RT_STORED ? r->value + (i - first) * w->scale : r->value;
}

/* Make one reserved update, or a piece of one, in both; returns the cells set. */
static u32 set_piece(struct world *w, u32 first, u32 n, enum rt_kind kind, u64 value,
		     unsigned int max_entries)
{
	struct rt_range r = {
		.start = w->base + first * w->scale,
		.len = n * w->scale,
		.kind = kind,
		.value = value,
	};
	u32 done, i;
	u64 set = rt_set(&w->rt, &r, max_entries, freed, w);

	KUNIT_ASSERT_EQ_MSG(w->test, set % w->scale, 0ULL, "seed %llu",
			    (unsigned long long)w->seed);
	done = set / w->scale;
	KUNIT_ASSERT_GE_MSG(w->test, done, 1u, "seed %llu", (unsigned long long)w->seed);
	KUNIT_ASSERT_LE_MSG(w->test, done, n, "seed %llu", (unsigned long long)w->seed);
	for (i = first; i < first + done; i++) {
		struct cell new = { kind, cell_value(w, first, &r, i) };
		struct cell *old = &w->cell[i];

		if (old->kind == RT_STORED && (kind != RT_STORED || old->value != new.value))
			w->expected += mix(old->value);
		*old = new;
	}
	KUNIT_ASSERT_EQ_MSG(w->test, w->given_up, w->expected, "seed %llu: wrong freed blocks",
			    (unsigned long long)w->seed);
	return done;
}

/* Something to write to @first, now and then what joins or repeats what is there. */
static u64 pick_value(struct world *w, enum rt_kind kind, u32 first, u32 n)
{
	u32 how = rnd_below(&w->rnd, 4);
	u64 dest;

	if (kind == RT_FILL || kind == RT_PACKED)
		return rnd_below(&w->rnd, 3) * 0x0101010101010101;
	if (kind != RT_STORED)
		return 0;
	if (!how && w->cell[first].kind == RT_STORED)
		return w->cell[first].value;
	dest = w->next_dest;
	if (how == 1 && first && w->cell[first - 1].kind == RT_STORED)
		return w->cell[first - 1].value + w->scale;
	w->next_dest += (n + rnd_below(&w->rnd, 2)) * w->scale;
	return dest;
}

static void compare(struct world *w)
{
	u64 end = w->base + w->cells * w->scale, at = w->base;

	while (at < end) {
		u32 i = (at - w->base) / w->scale, n;
		struct rt_range r;

		rt_lookup(&w->rt, at, &r);
		KUNIT_ASSERT_EQ_MSG(w->test, r.start, at, "seed %llu", (unsigned long long)w->seed);
		KUNIT_ASSERT_NE_MSG(w->test, r.len, 0ULL, "seed %llu", (unsigned long long)w->seed);
		if (r.kind == RT_HOLE && r.start + r.len == U64_MAX)
			r.len = end - at;
		n = r.len / w->scale;
		KUNIT_ASSERT_LE_MSG(w->test, i + n, w->cells, "seed %llu",
				    (unsigned long long)w->seed);
		for (at += r.len; n--; i++) {
			u64 value = r.kind == RT_STORED ?
				    r.value + w->base + i * w->scale - r.start : r.value;

			KUNIT_ASSERT_EQ_MSG(w->test, w->cell[i].kind, r.kind, "seed %llu cell %u",
					    (unsigned long long)w->seed, i);
			if (r.kind != RT_HOLE)
				KUNIT_ASSERT_EQ_MSG(w->test, w->cell[i].value, value,
						    "seed %llu cell %u",
						    (unsigned long long)w->seed, i);
		}
	}
}

/* A hint may be missing, but the one given is the destination behind the block before. */
static void compare_hint(struct world *w, u32 i, u64 into, const struct rt_range *r)
{
	const struct cell *before = into ? &w->cell[i] : &w->cell[i - !!i];
	struct rt_range again;
	u64 hint;

	hint = rt_lookup_hint(&w->rt, w->base + i * w->scale + into, &again);
	KUNIT_ASSERT_TRUE_MSG(w->test, again.start == r->start && again.len == r->len &&
			      again.kind == r->kind && again.value == r->value,
			      "seed %llu cell %u", (unsigned long long)w->seed, i);
	if (hint == U64_MAX)
		return;
	w->hints++;
	KUNIT_ASSERT_TRUE_MSG(w->test, into || i, "seed %llu", (unsigned long long)w->seed);
	KUNIT_ASSERT_EQ_MSG(w->test, before->kind, RT_STORED, "seed %llu cell %u",
			    (unsigned long long)w->seed, i);
	KUNIT_ASSERT_EQ_MSG(w->test, hint, before->value + (into ? into : w->scale),
			    "seed %llu cell %u", (unsigned long long)w->seed, i);
}

/* Inside a range, too, a lookup begins at the block that it was asked for. */
static void compare_some(struct world *w)
{
	u32 n = 20;

	while (n--) {
		u32 i = rnd_below(&w->rnd, w->cells);
		u64 into = rnd_next(&w->rnd) % w->scale;
		struct rt_range r;

		rt_lookup(&w->rt, w->base + i * w->scale + into, &r);
		KUNIT_ASSERT_EQ_MSG(w->test, r.kind, w->cell[i].kind, "seed %llu cell %u",
				    (unsigned long long)w->seed, i);
		if (r.kind != RT_HOLE)
			KUNIT_ASSERT_EQ_MSG(w->test, r.value,
					    w->cell[i].value + (r.kind == RT_STORED ? into : 0),
					    "seed %llu cell %u", (unsigned long long)w->seed, i);
		compare_hint(w, i, into, &r);
	}
}

static u32 pick_length(struct world *w, u32 max)
{
	static const u32 most[] = { 1, 1, 2, 8, 64, MAX_CELLS };

	return 1 + rnd_below(&w->rnd, min(max, most[rnd_below(&w->rnd, ARRAY_SIZE(most))]));
}

/* @holes: of 16 updates, how many discard. */
/* rt_read() and rt_lookup() are to see the same table, from any block on. */
static void compare_read(struct world *w)
{
	unsigned int max = 1 + rnd_below(&w->rnd, 12), turns = 3, n, i;
	u64 at = w->base + rnd_below(&w->rnd, w->cells) * w->scale;
	struct rt_range range[12], r;

	do {
		n = rt_read(&w->rt, at, range, max);
		KUNIT_ASSERT_LE(w->test, n, max);
		for (i = 0; i <= n; i++) {
			rt_lookup(&w->rt, at, &r);
			if (r.kind == RT_HOLE) {
				at = r.start + r.len;
				if (at != U64_MAX)
					rt_lookup(&w->rt, at, &r);
			}
			if (i == n)
				break;
			KUNIT_ASSERT_EQ_MSG(w->test, range[i].start, r.start, "seed %llu",
					    (unsigned long long)w->seed);
			KUNIT_ASSERT_EQ(w->test, range[i].len, r.len);
			KUNIT_ASSERT_EQ(w->test, range[i].value, r.value);
			KUNIT_ASSERT_EQ(w->test, (int)range[i].kind, (int)r.kind);
			at = r.start + r.len;
		}
	} while (n && --turns);
	if (!n)
		KUNIT_EXPECT_EQ(w->test, at, U64_MAX);
}

static void random_steps(struct world *w, u32 steps, u32 holes)
{
	while (steps) {
		u32 batch = rnd_below(&w->rnd, 8) ? 1 : 1 + rnd_below(&w->rnd, 300), i;

		batch = min(batch, steps);
		steps -= batch;
		for (i = 0; i < batch; i++)
			take_reservation(w->test, &w->rt);
		if (rnd_below(&w->rnd, 2)) {
			rt_unreserve(&w->rt);
			batch--;
		}
		/* From here on the reserve gets nothing from outside. */
		while (batch) {
			u32 first = rnd_below(&w->rnd, w->cells);
			u32 n = pick_length(w, w->cells - first);
			enum rt_kind kind = rnd_below(&w->rnd, 16) < holes ? RT_HOLE :
					    RT_FILL + rnd_below(&w->rnd, RT_KINDS - RT_FILL);
			u64 value = pick_value(w, kind, first, n);
			unsigned int max = rnd_below(&w->rnd, 3) ? ~0u : 1 + rnd_below(&w->rnd, 50);

			while (n && batch) {
				u32 done = set_piece(w, first, n, kind, value, max);

				if (kind == RT_STORED)
					value += done * w->scale;
				first += done;
				n -= done;
				batch--;
			}
		}
		check(w->test, &w->rt, w->seed);
		compare_some(w);
		compare_read(w);
		if (!rnd_below(&w->rnd, 16))
			compare(w);
	}
	compare(w);
}

static void world_begin(struct world *w, struct kunit *test, u64 seed, u32 cells)
{
	memset(w, 0, sizeof(*w));
	w->test = test;
	w->seed = seed;
	w->rnd.state = seed;
	w->cells = cells;
	w->scale = 1;
	w->next_dest = 1000;
	w->cell = kvcalloc(cells, sizeof(*w->cell), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->cell);
	rt_init(&w->rt);
}

static void world_end(struct world *w)
{
	rt_destroy(&w->rt);
	KUNIT_EXPECT_EQ(w->test, rt_bytes(&w->rt), 0ULL);
	kvfree(w->cell);
}

static void random_updates_match_the_oracle(struct kunit *test)
{
	struct world *w = kvzalloc(sizeof(*w), GFP_KERNEL);
	u64 seed, hints = 0;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (seed = 1; seed <= SEEDS; seed++) {
		u32 phase;

		world_begin(w, test, seed, 64 << rnd_below(&(struct rnd){ seed }, 9));
		if (seed % 3 == 1) {
			/* The far end of the largest disk, and pieces of 2^40 blocks. */
			w->scale = 1ULL << (seed % 41);
			w->base = (1ULL << 60) - w->cells * w->scale;
		}
		/* Grow, shrink, and grow again. */
		for (phase = 0; phase < 3; phase++)
			random_steps(w, STEPS / 3, phase == 1 ? 14 : 2);
		hints += w->hints;
		world_end(w);
	}
	KUNIT_EXPECT_NE(test, hints, 0ULL);
	kvfree(w);
}

/* Every block a range of its own; then a stretch of them takes the content of the next, or last. */
static void neighbours_join_across_leaves(struct kunit *test)
{
	struct world *w = kvzalloc(sizeof(*w), GFP_KERNEL);
	u32 i, k;

	KUNIT_ASSERT_NOT_NULL(test, w);
	world_begin(w, test, 1, 400);
	for (i = 0; i < w->cells; i++) {
		take_reservation(test, &w->rt);
		set_piece(w, i, 1, RT_FILL, 1000 + i, 1);
	}
	for (k = 0; k < STEPS; k++) {
		u32 n = 1 + rnd_below(&w->rnd, k % 2 ? 3 : 120);
		u32 first = 1 + rnd_below(&w->rnd, w->cells - n - 1);
		u32 like = k % 3 ? first + n : first - 1;

		take_reservation(test, &w->rt);
		set_piece(w, first, n, RT_FILL, w->cell[like].value, ~0u);
		check(test, &w->rt, k);
		for (i = first; i < first + n; i++) {
			take_reservation(test, &w->rt);
			set_piece(w, i, 1, RT_FILL, 1000 + i, 1);
		}
	}
	compare(w);
	world_end(w);
	kvfree(w);
}

/* Every block a range of its own; one after the other, at random, takes what all will have. */
static void ranges_become_one_block_by_block(struct kunit *test)
{
	static const enum rt_kind becomes[] = { RT_SQUASHED, RT_FILL, RT_STORED };
	struct world *w = kvzalloc(sizeof(*w), GFP_KERNEL);
	u32 i, k, at;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (k = 0; k < ARRAY_SIZE(becomes); k++) {
		world_begin(w, test, k, 512);
		for (i = 0; i < w->cells; i++) {
			take_reservation(test, &w->rt);
			set_piece(w, i, 1, i % 2 ? RT_FILL : RT_STORED, 2000 + 3 * i, 1);
		}
		for (i = 0, at = 0; i < w->cells; i++) {
			take_reservation(test, &w->rt);
			set_piece(w, at, 1, becomes[k], becomes[k] == RT_STORED ? 10000 + at :
				  becomes[k] == RT_FILL ? 7 : 0, 1);
			check(test, &w->rt, k);
			at = (at * 1103515245 + 12345) % w->cells;
		}
		compare(w);
		KUNIT_EXPECT_EQ(test, w->rt.ranges[becomes[k]], 1ULL);
		KUNIT_EXPECT_EQ(test, w->rt.blocks[becomes[k]], (u64)w->cells);
		world_end(w);
	}
	kvfree(w);
}

static void set_all(struct kunit *test, struct rangetable *rt, u64 start, u64 len,
		    enum rt_kind kind, u64 value)
{
	struct world w = { .test = test, .scale = 1 };
	struct rt_range r = { .start = start, .len = len, .kind = kind, .value = value };

	while (r.len) {
		u64 done;

		take_reservation(test, rt);
		done = rt_set(rt, &r, 64, freed, &w);
		r.start += done;
		r.len -= done;
		if (kind == RT_STORED)
			r.value += done;
	}
}

static void ranges_are_cut_and_joined(struct kunit *test)
{
	struct rangetable rt;
	struct rt_range r;

	rt_init(&rt);
	rt_lookup(&rt, 7, &r);
	KUNIT_EXPECT_EQ(test, r.kind, RT_HOLE);
	KUNIT_EXPECT_EQ(test, r.start + r.len, U64_MAX);

	set_all(test, &rt, 0, 100, RT_STORED, 5000);
	KUNIT_EXPECT_EQ(test, rt.ranges[RT_STORED], 1ULL);
	set_all(test, &rt, 50, 1, RT_SQUASHED, 0);
	KUNIT_EXPECT_EQ(test, rt.ranges[RT_STORED], 2ULL);
	KUNIT_EXPECT_EQ(test, rt.blocks[RT_STORED], 99ULL);
	rt_lookup(&rt, 60, &r);
	KUNIT_EXPECT_EQ(test, r.value, 5060ULL);
	KUNIT_EXPECT_EQ(test, r.len, 40ULL);
	rt_lookup(&rt, 40, &r);
	KUNIT_EXPECT_EQ(test, r.len, 10ULL);

	/* Putting the middle back makes it one again. */
	set_all(test, &rt, 50, 1, RT_STORED, 5050);
	KUNIT_EXPECT_EQ(test, rt.ranges[RT_STORED], 1ULL);
	KUNIT_EXPECT_EQ(test, rt.ranges[RT_SQUASHED], 0ULL);

	/* Destinations that do not follow each other are not joined. */
	set_all(test, &rt, 100, 10, RT_STORED, 9000);
	KUNIT_EXPECT_EQ(test, rt.ranges[RT_STORED], 2ULL);
	set_all(test, &rt, 110, 10, RT_FILL, 1);
	set_all(test, &rt, 120, 10, RT_FILL, 2);
	set_all(test, &rt, 130, 10, RT_FILL, 2);
	KUNIT_EXPECT_EQ(test, rt.ranges[RT_FILL], 2ULL);

	set_all(test, &rt, 0, 1ULL << 60, RT_HOLE, 0);
	KUNIT_EXPECT_EQ(test, rt.nodes, 0ULL);
	rt_lookup(&rt, 0, &r);
	KUNIT_EXPECT_EQ(test, r.kind, RT_HOLE);
	check(test, &rt, 0);
	rt_destroy(&rt);
}

static void pieces_remove_no_more_than_asked(struct kunit *test)
{
	struct rt_range all = { .start = 0, .len = 1ULL << 60, .kind = RT_SQUASHED };
	struct world w = { .test = test, .scale = 1 };
	struct rangetable rt;
	u64 i, pieces = 0;

	rt_init(&rt);
	for (i = 0; i < 1000; i++)
		set_all(test, &rt, 10 * i, 1, RT_FILL, i);
	while (all.len) {
		u64 before = rt.ranges[RT_FILL], done;

		take_reservation(test, &rt);
		done = rt_set(&rt, &all, 10, freed, &w);
		KUNIT_ASSERT_LE(test, before - rt.ranges[RT_FILL], 10ULL);
		check(test, &rt, 0);
		all.start += done;
		all.len -= done;
		pieces++;
	}
	KUNIT_EXPECT_EQ(test, pieces, 100ULL);
	KUNIT_EXPECT_EQ(test, rt.ranges[RT_SQUASHED], 1ULL);
	KUNIT_EXPECT_EQ(test, rt.nodes, 1ULL);
	rt_destroy(&rt);
}

#define BASE	0x10000000000ULL

/* Ranges that do not join, filled from left to right: every leaf but the last is full. */
static void fill(struct kunit *test, struct rangetable *rt, u64 n)
{
	u64 i;

	for (i = 0; i < n; i++)
		set_all(test, rt, BASE + 4 * i, 3, RT_FILL, i);
}

enum attack { CUT_RANGES_FAR_APART, ADD_BEHIND, ADD_BEFORE, ADD_ANYWHERE, ATTACKS };

/* Where the @k-th of @n updates goes, so as to split as many nodes of @ranges as possible. */
static u64 aim(enum attack attack, u64 k, u64 n, u64 ranges, struct rnd *rnd)
{
	u64 step = max(ranges / n, 1ULL);

	switch (attack) {
	case CUT_RANGES_FAR_APART:
		return BASE + 4 * ((k * step + k * step / ranges) % ranges) + 1;
	case ADD_BEHIND:
		return BASE + 4 * (ranges + k);
	case ADD_BEFORE:
		return BASE - 4 * (k + 1);
	default:
		return 2 * (rnd_next(rnd) >> 24);
	}
}

static void attack(struct kunit *test, enum attack how, u64 ranges, u32 n)
{
	struct world w = { .test = test, .scale = 1, .rnd.state = n };
	struct rangetable rt;
	u64 reserve, nodes;
	u32 k;

	rt_init(&rt);
	fill(test, &rt, ranges);
	trim(&rt);
	KUNIT_ASSERT_EQ(test, rt.spare, 0ULL);
	for (k = 0; k < n; k++)
		take_reservation(test, &rt);
	reserve = rt.spare;
	nodes = rt.nodes;
	for (k = 0; k < n; k++) {
		struct rt_range r = {
			.start = aim(how, k, n, ranges, &w.rnd), .len = 1, .kind = RT_SQUASHED,
		};

		KUNIT_ASSERT_EQ(test, rt_set(&rt, &r, 1, freed, &w), 1ULL);
	}
	check(test, &rt, ranges);
	if (n == 300 && how == CUT_RANGES_FAR_APART)
		kunit_info(test, "%llu ranges, %u reservations: %llu nodes reserved, %llu used",
			   (unsigned long long)ranges, n, (unsigned long long)reserve,
			   (unsigned long long)(rt.nodes - nodes));
	rt_destroy(&rt);
}

static void reservations_hold_against_an_adversary(struct kunit *test)
{
	static const u32 reservations[] = { 1, 2, 3, 10, 100, 300, 3000 };
	enum attack how;
	u64 ranges;
	u32 i;

	for (how = 0; how < ATTACKS; how++)
		for (ranges = 1; ranges <= MANY; ranges = ranges * 3 + 1)
			for (i = 0; i < ARRAY_SIZE(reservations); i++)
				attack(test, how, ranges, reservations[i]);
}

static void memory_follows_the_number_of_ranges(struct kunit *test)
{
	struct rangetable rt;
	u64 i, left;

	rt_init(&rt);
	fill(test, &rt, MANY);
	trim(&rt);
	kunit_info(test, "filled in order: %llu bytes for %u ranges",
		   (unsigned long long)rt_bytes(&rt), MANY);
	KUNIT_EXPECT_LE(test, rt_bytes(&rt), MANY * 26ULL);

	/* Thin it out evenly: no leaf becomes empty by itself. */
	for (left = MANY; left > MANY / 64; left /= 2) {
		u64 step = MANY / left;

		for (i = 0; i < MANY; i += 2 * step)
			set_all(test, &rt, BASE + 4 * i, 3, RT_HOLE, 0);
		check(test, &rt, left);
		trim(&rt);
		KUNIT_EXPECT_LE(test, rt_bytes(&rt), rt.ranges[RT_FILL] * 69 + rt.height * 1024);
	}
	rt_destroy(&rt);
}

static void leaves_stay_filled_by_random_updates(struct kunit *test)
{
	struct rnd rnd = { 1 };
	struct rangetable rt;
	u64 i;

	rt_init(&rt);
	for (i = 0; i < MANY; i++)
		set_all(test, &rt, rnd_next(&rnd) >> 8, 1, RT_FILL, i);
	trim(&rt);
	check(test, &rt, 1);
	kunit_info(test, "filled at random: %llu bytes for %u ranges",
		   (unsigned long long)rt_bytes(&rt), MANY);
	KUNIT_EXPECT_LE(test, rt_bytes(&rt), MANY * 35ULL);
	rt_destroy(&rt);
}

/*
 * A tree so tall that a range behind the last of a node is found further up than one level, and
 * that for each node: every other block is a range, then the ones between are written, too.
 */
static void what_is_behind_is_found_at_the_end_of_every_node(struct kunit *test)
{
	static const u32 by[] = { 1, 7 };
	struct rt_range r, row[2];
	struct rangetable rt;
	u32 k, i, at;

	for (k = 0; k < ARRAY_SIZE(by); k++) {
		rt_init(&rt);
		for (i = 0, at = 0; i < MANY; i++, at = (at + by[k]) % MANY)
			set_all(test, &rt, 2 * at, 1, RT_FILL, 1 + at % 3);
		KUNIT_EXPECT_GE(test, rt.height, 3U);
		for (i = 0; i + 1 < MANY; i++) {
			rt_lookup(&rt, 2 * i + 1, &r);
			KUNIT_ASSERT_EQ(test, (u32)r.kind, (u32)RT_HOLE);
			KUNIT_ASSERT_EQ(test, r.len, 1ULL);
			rt_lookup(&rt, 2 * i, &r);
			KUNIT_ASSERT_EQ(test, r.value, 1ULL + i % 3);
			KUNIT_ASSERT_EQ(test, r.len, 1ULL);
			KUNIT_ASSERT_EQ(test, rt_lookup_hint(&rt, 2 * i + 1, &r), U64_MAX);
			KUNIT_ASSERT_EQ(test, r.len, 1ULL);
			KUNIT_ASSERT_GE(test, rt_read(&rt, 2 * i + 1, row, 2), 1U);
			KUNIT_ASSERT_EQ(test, row[0].start, 2 * i + 2ULL);
		}
		for (i = 0, at = 0; i < MANY; i++, at = (at + by[k]) % MANY) {
			set_all(test, &rt, 2 * at + 1, 1, RT_FILL, 1 + at % 3);
			rt_lookup(&rt, 2 * at, &r);
			KUNIT_ASSERT_EQ(test, r.len, 2ULL);
		}
		KUNIT_EXPECT_EQ(test, rt.ranges[RT_FILL], (u64)MANY);
		KUNIT_EXPECT_EQ(test, rt.blocks[RT_FILL], 2ULL * MANY);
		check(test, &rt, k);
		rt_destroy(&rt);
	}
}

static struct kunit_case rangetable_cases[] = {
	KUNIT_CASE(ranges_are_cut_and_joined),
	KUNIT_CASE(pieces_remove_no_more_than_asked),
	KUNIT_CASE(neighbours_join_across_leaves),
	KUNIT_CASE(ranges_become_one_block_by_block),
	KUNIT_CASE(random_updates_match_the_oracle),
	KUNIT_CASE(reservations_hold_against_an_adversary),
	KUNIT_CASE(memory_follows_the_number_of_ranges),
	KUNIT_CASE(leaves_stay_filled_by_random_updates),
	KUNIT_CASE(what_is_behind_is_found_at_the_end_of_every_node),
	{}
};

static struct kunit_suite rangetable_suite = {
	.name = "rangetable",
	.test_cases = rangetable_cases,
};

kunit_test_suite(rangetable_suite);
