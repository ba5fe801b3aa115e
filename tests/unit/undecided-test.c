// SPDX-License-Identifier: GPL-2.0
/* The table of undecided blocks against plain arrays, and at its bounds. */
#include <kunit/test.h>

#include "../../classifier/undecided.h"
#include "random.h"

#define BLOCKS	4000u
#define SLOTS	3u
#define SIZE	4096u

static void give(struct kunit *test, struct undecided *u)
{
	size_t bytes = undecided_memory(u);
	void *memory;

	if (!bytes)
		return;
	memory = kvzalloc(bytes, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	undecided_give(u, memory, bytes);
}

static void begin(struct kunit *test, struct undecided *u, u64 limit)
{
	undecided_init(u, limit);
	/* The first block only says that memory is wanted. */
	undecided_add(u, 0, 1, 12, 0, false);
	KUNIT_EXPECT_FALSE(test, undecided_any(u));
	give(test, u);
}

static void written_is_told_once_it_is_known_to_be_data(struct kunit *test)
{
	struct undecided u;
	u64 block;
	u32 slot, len;

	begin(test, &u, 1 << 20);
	undecided_add(&u, 1, 130, 12, 5, false);
	undecided_add(&u, 1, 131, 12, 5, false);
	undecided_add(&u, 1, 140, 12, 6, false);
	KUNIT_EXPECT_EQ(test, u.figures.now, 3 * SIZE);
	KUNIT_EXPECT_FALSE(test, undecided_take(&u, &slot, &block, &len));
	/* Evidence of the same time or earlier says nothing. */
	undecided_decide(&u, 1, 0, 1000, 5, true);
	KUNIT_EXPECT_FALSE(test, undecided_take(&u, &slot, &block, &len));
	undecided_decide(&u, 2, 0, 1000, UNDECIDED_ANY, true);
	KUNIT_EXPECT_FALSE(test, undecided_take(&u, &slot, &block, &len));
	undecided_decide(&u, 1, 0, 1000, 6, true);
	KUNIT_ASSERT_TRUE(test, undecided_take(&u, &slot, &block, &len));
	KUNIT_EXPECT_EQ(test, slot, 1);
	KUNIT_EXPECT_EQ(test, block, 130);
	KUNIT_EXPECT_EQ(test, len, 2);
	KUNIT_EXPECT_FALSE(test, undecided_take(&u, &slot, &block, &len));
	KUNIT_EXPECT_TRUE(test, undecided_is_data(&u, 1, 130, 2));
	KUNIT_EXPECT_FALSE(test, undecided_is_data(&u, 1, 130, 3));
	/* Written again before it was dropped. */
	undecided_add(&u, 1, 131, 12, 7, false);
	KUNIT_EXPECT_FALSE(test, undecided_is_data(&u, 1, 130, 2));
	KUNIT_EXPECT_TRUE(test, undecided_is_data(&u, 1, 130, 1));
	undecided_done(&u, 1, 130, 2);
	KUNIT_EXPECT_EQ(test, u.figures.data, SIZE);
	KUNIT_EXPECT_EQ(test, u.figures.now, 2 * SIZE);
	undecided_decide(&u, 1, 131, 1, UNDECIDED_ANY, false);
	KUNIT_EXPECT_EQ(test, u.figures.metadata, SIZE);
	undecided_forget(&u, 1);
	KUNIT_EXPECT_FALSE(test, undecided_any(&u));
	kvfree(u.chunk);
}

static void past_the_bound_the_oldest_are_forgotten(struct kunit *test)
{
	struct undecided u;
	u64 block;
	u32 slot, len, i;

	begin(test, &u, 256 * SIZE);
	for (i = 0; i < 1000; i++) {
		undecided_add(&u, 0, i, 12, 0, false);
		KUNIT_EXPECT_LE(test, u.figures.now, 256 * SIZE);
	}
	KUNIT_EXPECT_EQ(test, u.figures.now + u.figures.spilled, 1000 * SIZE);
	KUNIT_EXPECT_LE(test, u.figures.most, 256 * SIZE);
	undecided_decide(&u, 0, 0, 1000, 1, true);
	KUNIT_ASSERT_TRUE(test, undecided_take(&u, &slot, &block, &len));
	while (undecided_take(&u, &slot, &block, &len))
		KUNIT_EXPECT_GE(test, block, 1000 - 256 - 64);
	/* One block each in more chunks than there is memory for. */
	undecided_forget(&u, 0);
	for (i = 0; i < 1000; i++)
		undecided_add(&u, 0, i * 1000ULL, 12, 0, false);
	KUNIT_EXPECT_EQ(test, u.figures.now, (u64)u.chunks * SIZE);
	undecided_remove(&u, 0, 0, 1ULL << 40);
	KUNIT_EXPECT_FALSE(test, undecided_any(&u));
	kvfree(u.chunk);
}

static void with_a_bound_of_nothing_nothing_is_remembered(struct kunit *test)
{
	struct undecided u;

	undecided_init(&u, 0);
	undecided_add(&u, 0, 1, 12, 0, false);
	KUNIT_EXPECT_EQ(test, undecided_memory(&u), 0);
	KUNIT_EXPECT_FALSE(test, undecided_any(&u));
}

enum { OUT, WAITS, DATA };

struct plain {
	u8 state[SLOTS][BLOCKS];
	u64 time[SLOTS][BLOCKS];
};

/*
 * Whatever the table calls data the arrays do. The other way round it may be
 * late, but never with evidence of any time.
 */
static void agrees_with_arrays(struct kunit *test)
{
	struct plain *p = kvzalloc(sizeof(*p), GFP_KERNEL);
	struct rnd rnd = { 77 };
	struct undecided u;
	u64 time = 1, at, waiting = 0;
	u32 i, b, slot, len;

	KUNIT_ASSERT_NOT_NULL(test, p);
	begin(test, &u, (u64)SLOTS * BLOCKS * SIZE);
	for (i = 0; i < 60000; i++) {
		u32 s = rnd_below(&rnd, SLOTS), from = rnd_below(&rnd, BLOCKS);
		u32 n = min(1 + rnd_below(&rnd, 200), BLOCKS - from);
		u64 until = time - rnd_below(&rnd, 3);

		switch (rnd_below(&rnd, 8)) {
		case 0 ... 3:
			n = min(n, 20u);
			for (b = from; b < from + n; b++) {
				undecided_add(&u, s, b, 12, time, false);
				p->state[s][b] = WAITS;
				p->time[s][b] = time;
			}
			break;
		case 4:
			n = rnd_below(&rnd, 10) ? min(n, 20u) : BLOCKS - from;
			undecided_remove(&u, s, from, n);
			memset(&p->state[s][from], OUT, n);
			break;
		case 5:
			undecided_decide(&u, s, from, n, until, true);
			for (b = from; b < from + n; b++)
				if (p->state[s][b] == WAITS && p->time[s][b] < until)
					p->state[s][b] = DATA;
			time++;
			break;
		case 6:
			if (rnd_below(&rnd, 4))
				break;
			undecided_decide(&u, s, from, n, UNDECIDED_ANY, false);
			for (b = from; b < from + n; b++)
				if (p->state[s][b] == WAITS)
					p->state[s][b] = OUT;
			break;
		default:
			if (!undecided_take(&u, &slot, &at, &len))
				break;
			KUNIT_ASSERT_TRUE(test, slot < SLOTS && at + len <= BLOCKS && len <= 64);
			for (b = at; b < at + len; b++) {
				if (!undecided_is_data(&u, slot, b, 1))
					continue;
				KUNIT_ASSERT_EQ(test, p->state[slot][b], DATA);
				undecided_done(&u, slot, b, 1);
				p->state[slot][b] = OUT;
			}
		}
		/* What the table did not take for data, its time being inexact, still waits. */
		if (i % 1000)
			continue;
		waiting = 0;
		for (slot = 0; slot < SLOTS; slot++)
			for (b = 0; b < BLOCKS; b++)
				waiting += p->state[slot][b] != OUT;
		KUNIT_ASSERT_EQ(test, u.figures.now >> 12, waiting);
	}
	/* In the end all is told. */
	for (slot = 0; slot < SLOTS; slot++)
		undecided_decide(&u, slot, 0, BLOCKS, UNDECIDED_ANY, true);
	for (slot = 0; slot < SLOTS; slot++)
		for (b = 0; b < BLOCKS; b++)
			KUNIT_ASSERT_EQ(test, undecided_is_data(&u, slot, b, 1),
					p->state[slot][b] != OUT);
	kvfree(u.chunk);
	kvfree(p);
}

static struct kunit_case undecided_cases[] = {
	KUNIT_CASE(written_is_told_once_it_is_known_to_be_data),
	KUNIT_CASE(past_the_bound_the_oldest_are_forgotten),
	KUNIT_CASE(with_a_bound_of_nothing_nothing_is_remembered),
	KUNIT_CASE(agrees_with_arrays),
	{}
};

static struct kunit_suite undecided_suite = {
	.name = "undecided",
	.test_cases = undecided_cases,
};

kunit_test_suite(undecided_suite);
