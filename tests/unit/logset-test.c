// SPDX-License-Identifier: GPL-2.0
/* The log set against a plain array, and what it does at its bounds. */
#include <kunit/test.h>

#include "../../classifier/logset.h"
#include "random.h"

#define BLOCKS	3000u

static void grow(struct kunit *test, struct logset *set, size_t bytes)
{
	void *memory = kvzalloc(bytes, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	kvfree(logset_give(set, memory, bytes));
}

static void agrees_with_an_array(struct kunit *test)
{
	u32 *last = kvcalloc(BLOCKS, sizeof(u32), GFP_KERNEL);
	struct logset set = { };
	struct rnd rnd = { 11 };
	u32 tid = 0xfffff000, tail = tid, i, b;

	KUNIT_ASSERT_NOT_NULL(test, last);
	KUNIT_EXPECT_TRUE(test, !logset_has(&set, 5));
	KUNIT_EXPECT_TRUE(test, !logset_add(&set, 5, 1));
	for (i = 0; i < 40000; i++) {
		size_t bytes = logset_wants(&set, 1 << 20);

		if (bytes)
			grow(test, &set, bytes);
		b = rnd_below(&rnd, BLOCKS);
		switch (rnd_below(&rnd, 8)) {
		case 0 ... 3:
			KUNIT_ASSERT_TRUE(test, logset_add(&set, b * 77ULL, tid));
			last[b] = tid;
			break;
		case 4 ... 5:
			logset_revoke(&set, b * 77ULL, tid);
			if (last[b] != tid)
				last[b] = 0;
			break;
		case 6:
			/* 0 stands for "not in the set" */
			tid += tid == U32_MAX ? 2 : 1;
			break;
		default:
			if (rnd_below(&rnd, 100))
				break;
			tail = tid - 20;
			logset_expire(&set, tail, tid);
			for (b = 0; b < BLOCKS; b++)
				if (last[b] && (s32)(last[b] - tail) < 0)
					last[b] = 0;
		}
		if (i % 500)
			continue;
		for (b = 0; b < BLOCKS; b++)
			KUNIT_ASSERT_EQ_MSG(test, logset_has(&set, b * 77ULL), last[b] != 0,
					    "block %u after step %u", b, i);
	}
	KUNIT_EXPECT_TRUE(test, tid < 0xfffff000);
	logset_clear(&set);
	KUNIT_EXPECT_TRUE(test, !logset_has(&set, 77));
	kvfree(set.slot);
	kvfree(last);
}

static void a_full_set_says_so_and_loses_nothing(struct kunit *test)
{
	struct logset set = { };
	u64 n, i;

	KUNIT_EXPECT_FALSE(test, logset_crowded(&set, LOGSET_MIN_BYTES));
	grow(test, &set, LOGSET_MIN_BYTES);
	for (n = 0; logset_add(&set, n * n, 7); n++) {
		bool crowded = n + 1 >= LOGSET_MIN_BYTES / 8 * 3 / 4;

		KUNIT_EXPECT_EQ(test, logset_crowded(&set, 2 * LOGSET_MIN_BYTES), crowded);
		KUNIT_EXPECT_FALSE(test, logset_crowded(&set, LOGSET_MIN_BYTES));
	}
	KUNIT_EXPECT_EQ(test, n, LOGSET_MIN_BYTES / 8 * 7 / 8);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_TRUE(test, logset_has(&set, i * i));
	KUNIT_EXPECT_EQ(test, logset_wants(&set, LOGSET_MIN_BYTES), 0);
	KUNIT_EXPECT_EQ(test, logset_wants(&set, 2 * LOGSET_MIN_BYTES), 2 * LOGSET_MIN_BYTES);
	/* What it has can be noted again. */
	KUNIT_EXPECT_TRUE(test, logset_add(&set, 9, 8));
	KUNIT_EXPECT_EQ(test, logset_expire(&set, 8, 8), n - 1);
	KUNIT_EXPECT_TRUE(test, logset_has(&set, 9));
	kvfree(set.slot);
}

static void numbers_too_large_are_refused(struct kunit *test)
{
	struct logset set = { };

	grow(test, &set, LOGSET_MIN_BYTES);
	KUNIT_EXPECT_TRUE(test, !logset_add(&set, 1ULL << LOGSET_BLOCK_BITS, 1));
	KUNIT_EXPECT_TRUE(test, logset_add(&set, (1ULL << LOGSET_BLOCK_BITS) - 1, 1));
	KUNIT_EXPECT_TRUE(test, logset_has(&set, (1ULL << LOGSET_BLOCK_BITS) - 1));
	kvfree(set.slot);
}

static void nothing_goes_while_numbers_are_ambiguous(struct kunit *test)
{
	struct logset set = { };

	grow(test, &set, LOGSET_MIN_BYTES);
	logset_add(&set, 1, 100);
	/* 40000 transactions in the log: their short numbers repeat. */
	KUNIT_EXPECT_EQ(test, logset_expire(&set, 200, 40200), 0);
	KUNIT_EXPECT_TRUE(test, logset_has(&set, 1));
	kvfree(set.slot);
}

static struct kunit_case logset_cases[] = {
	KUNIT_CASE(agrees_with_an_array),
	KUNIT_CASE(a_full_set_says_so_and_loses_nothing),
	KUNIT_CASE(numbers_too_large_are_refused),
	KUNIT_CASE(nothing_goes_while_numbers_are_ambiguous),
	{}
};

static struct kunit_suite logset_suite = {
	.name = "logset",
	.test_cases = logset_cases,
};

kunit_test_suite(logset_suite);
