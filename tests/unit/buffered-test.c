// SPDX-License-Identifier: GPL-2.0
/* Which pages are in an SSD's write buffer, beside a list of all that was ever written. */
#include <kunit/test.h>

#include "../../model/flash/buffered.h"
#include "random.h"

#ifdef __KERNEL__
#define WRITES		2000
#else
#define WRITES		10000
#endif

#define PAGES		64		/* that the buffer has room for */

struct written {
	u64 first, end;
	u64 entered;
};

static struct written written[WRITES];	/* the kernel's stack is small */

/* Of the newest @writes writes. */
static bool naive_has(u32 writes, u64 page, u64 programmed)
{
	u32 i;

	for (i = writes; i-- && written[i].entered > programmed;)
		if (page >= written[i].first && page < written[i].end &&
		    written[i].entered - 8 * (written[i].end - 1 - page) > programmed)
			return true;
	return false;
}

/* Writes of up to @most pages to @span pages from @base on, into a buffer that never overflows. */
static void check_stream(struct kunit *test, u64 base, u32 span, u32 most)
{
	struct buffered *buffered = buffered_create(8 * PAGES, GFP_KERNEL);
	u64 entered = 0, programmed = 0, hits = 0;
	struct rnd rnd = { span + most };
	u32 i, k;

	KUNIT_ASSERT_NOT_NULL(test, buffered);
	for (i = 0; i < WRITES; i++) {
		u32 nr = 1 + rnd_below(&rnd, most);
		u64 first = base + rnd_below(&rnd, span);

		/* Room for this write, and sometimes for more than that */
		if (entered + 8 * nr > programmed + 8 * PAGES)
			programmed = entered + 8 * nr - 8 * PAGES;
		if (!rnd_below(&rnd, 4))
			programmed += rnd_below(&rnd, entered - programmed + 1);
		entered += 8 * nr;
		buffered_add(buffered, first, nr, entered);
		written[i] = (struct written) { first, first + nr, entered };
		for (k = 0; k < 8; k++) {
			u64 page = base + rnd_below(&rnd, span + most);
			bool has = buffered_has(buffered, page, programmed);

			hits += has;
			KUNIT_ASSERT_EQ_MSG(test, has, naive_has(i + 1, page, programmed),
					    "write %u, page %llu", i, (unsigned long long)page);
		}
		KUNIT_ASSERT_TRUE(test, buffered_has(buffered, first + nr - 1, programmed));
		KUNIT_ASSERT_FALSE(test, buffered_has(buffered, first, entered));
	}
	KUNIT_EXPECT_GE(test, hits, 1ULL);
	buffered_destroy(buffered);
}

static void it_has_what_was_not_programmed_yet(struct kunit *test)
{
	check_stream(test, 0, 20, 1);
	check_stream(test, 0, 300, 1);
	check_stream(test, 0, 300, 16);
	check_stream(test, 0, 40, PAGES);
	check_stream(test, 1ULL << 44, 300, 4);
}

/* The streams of sectors and of entries are counted modulo 2^32. */
static void counters_may_wrap(struct kunit *test)
{
	struct buffered *buffered = buffered_create(8 * PAGES, GFP_KERNEL);
	u64 entered = U32_MAX - 100;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, buffered);
	for (i = 0; i < 100; i++) {
		entered += 8;
		buffered_add(buffered, 1000 + i, 1, entered);
		KUNIT_ASSERT_TRUE(test, buffered_has(buffered, 1000 + i, entered - 8));
		KUNIT_ASSERT_FALSE(test, buffered_has(buffered, 1000 + i, entered));
		if (i)
			KUNIT_ASSERT_FALSE(test, buffered_has(buffered, 999 + i, entered - 8));
	}
	buffered_destroy(buffered);
}

/* A drive's largest buffer takes 720 KiB, and the newest pages are known. */
static void memory_is_bounded(struct kunit *test)
{
	struct buffered *buffered = buffered_create(1 << 24, GFP_KERNEL);
	const u32 known = 32768;
	u64 page;

	KUNIT_ASSERT_NOT_NULL(test, buffered);
	KUNIT_EXPECT_LE(test, buffered_bytes(buffered), (size_t)720 << 10);
	for (page = 0; page < 100000; page++)
		buffered_add(buffered, page, 1, 8 * page + 8);
	for (page = 0; page < 100000; page++)
		KUNIT_ASSERT_EQ(test, buffered_has(buffered, page, 0), page >= 100000 - known);
	buffered_destroy(buffered);
}

static struct kunit_case buffered_cases[] = {
	KUNIT_CASE(it_has_what_was_not_programmed_yet),
	KUNIT_CASE(counters_may_wrap),
	KUNIT_CASE(memory_is_bounded),
	{}
};

static struct kunit_suite buffered_suite = {
	.name = "buffered",
	.test_cases = buffered_cases,
};

kunit_test_suite(buffered_suite);
