// SPDX-License-Identifier: GPL-2.0
/*
 * What the range table costs: memory for a million ranges, and operations to
 * be counted by callgrind (tests/bench/core does that).
 *
 *	core-bench memory RANGES
 *	core-bench lookup|squash|split|append RANGES OPERATIONS
 *
 * Tables for the operations are filled at random: blocks 8 apart, 3 long.
 */
#include <stdio.h>

#include "../../dm-david/rangetable.h"
#include "../unit/random.h"

static void freed(void *ctx, u64 dest, u64 len)
{
	(void)ctx;
	(void)dest;
	(void)len;
}

/* What is lacking, and some, as the module does: a promise is then quickly made. */
static void stock(struct rangetable *rt)
{
	unsigned int lacks = rt_lacks(rt);

	if (lacks)
		for (lacks += 16; lacks; lacks--)
			rt_add_node(rt, rt_node_alloc(GFP_KERNEL));
}

static void set(struct rangetable *rt, u64 start, u64 len, enum rt_kind kind, u64 value)
{
	struct rt_range r = { .start = start, .len = len, .kind = kind, .value = value };

	stock(rt);
	rt_promise(rt);
	rt_set(rt, &r, 64, freed, NULL);
}

static void trim(struct rangetable *rt)
{
	struct rt_node *node;

	while ((node = rt_take_spare(rt)))
		rt_node_free(node);
}

/* The numbers 0 … n - 1 in an order that looks random: n is made a power of two. */
static u64 shuffled(u64 i, u64 n)
{
	u64 mask = n - 1;
	unsigned int k;

	for (k = 0; k < 3; k++) {
		i = (i * 0x9e3779b97f4a7c15 + 0x1234567) & mask;
		i ^= i >> (fls64(n) / 2);
	}
	return i & mask;
}

static void fill(struct rangetable *rt, u64 n, bool in_order)
{
	u64 room = 1, i;

	while (room < n)
		room *= 2;
	for (i = 0; i < room; i++) {
		u64 at = in_order ? i : shuffled(i, room);

		if (at < n)
			set(rt, 8 * at, 3, RT_STORED, 100 * at);
	}
}

static void memory(u64 n)
{
	struct rangetable rt;
	int in_order;

	for (in_order = 1; in_order >= 0; in_order--) {
		rt_init(&rt);
		fill(&rt, n, in_order);
		trim(&rt);
		printf("%-9s %llu ranges, %u levels, %llu bytes: %.1f bytes a range\n",
		       in_order ? "in order:" : "random:", (unsigned long long)n, rt.height,
		       (unsigned long long)rt_bytes(&rt), (double)rt_bytes(&rt) / n);
		rt_destroy(&rt);
	}
}

static int operate(const char *what, u64 n, u64 times)
{
	struct rnd rnd = { 1 };
	struct rangetable rt;
	struct rt_range r;
	u64 i, sum = 0;

	rt_init(&rt);
	fill(&rt, n, false);
	stock(&rt);
	for (i = 0; i < times; i++) {
		u64 block = 8 * (((rnd_next(&rnd) >> 32) * n) >> 32);

		if (!strcmp(what, "lookup")) {
			rt_lookup(&rt, block + 1, &r);
			sum += r.value;
		} else if (!strcmp(what, "squash")) {
			set(&rt, block, 3, RT_SQUASHED, 0);	/* in place of one range */
		} else if (!strcmp(what, "split")) {
			set(&rt, block + 1, 1, RT_SQUASHED, 0);	/* one becomes three */
		} else if (!strcmp(what, "append")) {
			set(&rt, 8 * n + i, 1, RT_SQUASHED, 0);	/* joins the last */
		} else {
			fprintf(stderr, "core-bench: %s: no such operation; want lookup, squash, "
				"split or append\n", what);
			return 2;
		}
	}
	rt_destroy(&rt);
	return sum == 1;	/* which it is not: keeps the lookups alive */
}

int main(int argc, char **argv)
{
	u64 n = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;

	if (n && n < 1ULL << 32 && argc == 3 && !strcmp(argv[1], "memory")) {
		memory(n);
		return 0;
	}
	if (n && n < 1ULL << 32 && argc == 4)
		return operate(argv[1], n, strtoull(argv[3], NULL, 0));
	fprintf(stderr, "usage: core-bench memory RANGES\n"
		"       core-bench lookup|squash|split|append RANGES OPERATIONS\n");
	return 2;
}
