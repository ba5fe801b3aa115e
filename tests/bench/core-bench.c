// SPDX-License-Identifier: GPL-2.0
/*
 * What the range table costs by itself: memory, and time an operation, which
 * in the icount lab is instructions.
 *
 *	core-bench RANGES...
 *
 * The table is filled with ranges 8 blocks apart and 3 long.
 */
#include <stdio.h>
#include <time.h>

#include "../../dm-david/portable/portable-alloc.h"
#include "../../dm-david/lib/rangetable.h"
#include "../unit/random.h"

#define OPERATIONS	1000

static void freed(void *ctx, u64 dest, u64 len)
{
	(void)ctx;
	(void)dest;
	(void)len;
}

/* What is lacking, and some, as the module does: a reservation is then quickly made. */
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
	rt_reserve(rt);
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

static void lookup(struct rangetable *rt, u64 n, u64 i, u64 block)
{
	struct rt_range r;

	(void)n;
	(void)i;
	rt_lookup(rt, block + 1, &r);
}

/* In place of one range. */
static void overwrite(struct rangetable *rt, u64 n, u64 i, u64 block)
{
	(void)n;
	(void)i;
	set(rt, block, 3, RT_SQUASHED, 0);
}

/* One range becomes three. */
static void split(struct rangetable *rt, u64 n, u64 i, u64 block)
{
	(void)n;
	(void)i;
	set(rt, block + 1, 1, RT_FILL, 0);
}

/* The last range becomes longer. */
static void append(struct rangetable *rt, u64 n, u64 i, u64 block)
{
	(void)block;
	set(rt, 8 * n + i, 1, RT_SQUASHED, 0);
}

static const struct operation {
	const char *name;
	void (*run)(struct rangetable *rt, u64 n, u64 i, u64 block);
} operations[] = {
	{ "lookup", lookup },
	{ "overwrite", overwrite },
	{ "split", split },
	{ "append", append },
};

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void operate(const struct operation *op, u64 n)
{
	static u64 block[OPERATIONS];
	struct rnd rnd = { 1 };
	struct rangetable rt;
	u64 i, begin, end;

	rt_init(&rt);
	fill(&rt, n, false);
	stock(&rt);
	for (i = 0; i < OPERATIONS; i++)
		block[i] = 8 * (((rnd_next(&rnd) >> 32) * n) >> 32);
	begin = now();
	for (i = 0; i < OPERATIONS; i++)
		op->run(&rt, n, i, block[i]);
	end = now();
	printf("operation %s %llu %.1f\n", op->name, (unsigned long long)n,
	       (double)(end - begin) / OPERATIONS);
	rt_destroy(&rt);
}

static void measure_memory(u64 n, bool in_order)
{
	struct rangetable rt;

	rt_init(&rt);
	fill(&rt, n, in_order);
	trim(&rt);
	printf("memory %s %llu %.1f\n", in_order ? "in-order" : "random", (unsigned long long)n,
	       (double)rt_bytes(&rt) / n);
	rt_destroy(&rt);
}

int main(int argc, char **argv)
{
	unsigned int i;

	while (--argc) {
		u64 n = strtoull(*++argv, NULL, 0);

		if (!n || n >> 32) {
			fprintf(stderr, "core-bench: %s: want a number of ranges\n", *argv);
			return 2;
		}
		measure_memory(n, true);
		measure_memory(n, false);
		for (i = 0; i < ARRAY_SIZE(operations); i++)
			operate(&operations[i], n);
	}
	return 0;
}
