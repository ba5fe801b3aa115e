// SPDX-License-Identifier: GPL-2.0
/* The part of an SSD's map that is in memory, beside a naive one, and the share of misses. */
#include <kunit/test.h>

#include "../../model/flash/map-cache.h"
#include "random.h"

#define MOST		600

#ifdef __KERNEL__
#define LOOKS		20000
#else
#define LOOKS		200000
#endif

/* Places in a row, which are looked through. */
struct naive {
	u32 number[MOST];
	bool used[MOST], dirty[MOST];
	u32 size, nr, hand;
};

/* Is it there? If not it is put there, and *@dirty says whether that pushed out a dirty page. */
static bool naive_use(struct naive *naive, u32 number, bool write, bool *dirty)
{
	u32 i;

	*dirty = false;
	for (i = 0; i < naive->nr; i++)
		if (naive->number[i] == number) {
			naive->used[i] = true;
			naive->dirty[i] |= write;
			return true;
		}
	if (naive->nr < naive->size) {
		i = naive->nr++;
	} else {
		while (naive->used[naive->hand]) {
			naive->used[naive->hand] = false;
			naive->hand = (naive->hand + 1) % naive->size;
		}
		i = naive->hand;
		naive->hand = (naive->hand + 1) % naive->size;
		*dirty = naive->dirty[i];
	}
	naive->number[i] = number;
	naive->used[i] = false;
	naive->dirty[i] = write;
	return false;
}

static bool use(struct map_cache *cache, u32 number, bool write, bool *dirty)
{
	struct map_page *page = map_cache_find(cache, number);
	bool there = page;

	*dirty = false;
	if (!page)
		page = map_cache_add(cache, number, dirty);
	page->dirty |= write;
	return there;
}

/* One in @local looks is anywhere, the others are near the last. */
static void check_stream(struct kunit *test, u32 size, u32 numbers, u32 local)
{
	static struct naive naive;	/* the kernel's stack is small */
	struct map_cache *cache = map_cache_create(size, GFP_KERNEL);
	struct rnd rnd = { size + numbers };
	u32 i, number = 0;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	memset(&naive, 0, sizeof(naive));
	naive.size = size;
	for (i = 0; i < LOOKS / 10; i++) {
		bool write = rnd_below(&rnd, 3) == 0, dirty, should;

		number = rnd_below(&rnd, local) ? number + rnd_below(&rnd, 3) :
						  rnd_below(&rnd, numbers);
		KUNIT_ASSERT_EQ_MSG(test, use(cache, number, write, &dirty),
				    naive_use(&naive, number, write, &should), "look %u", i);
		KUNIT_ASSERT_EQ_MSG(test, dirty, should, "look %u", i);
	}
	map_cache_destroy(cache);
}

static void it_does_what_a_naive_one_does(struct kunit *test)
{
	static const u32 sizes[] = { 1, 2, 3, 7, 64, 100, MOST };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_stream(test, sizes[i], 2 * sizes[i], 1);
		check_stream(test, sizes[i], 50 * sizes[i], 4);
		check_stream(test, sizes[i], U32_MAX, 20);
	}
}

/* Uniform looks at S pages miss a cache of C pages with 1 - C / S. */
static void a_uniform_stream_misses_by_the_closed_form(struct kunit *test)
{
	static const u32 spans[] = { 400, 500, 600, 800, 1600, 8000 };
	const u32 size = 400;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(spans); i++) {
		struct map_cache *cache = map_cache_create(size, GFP_KERNEL);
		u32 misses = 0, should = (u64)LOOKS * (spans[i] - size) / spans[i];
		struct rnd rnd = { 8 };
		bool dirty;

		KUNIT_ASSERT_NOT_NULL(test, cache);
		for (k = 0; k < 2 * LOOKS; k++) {
			bool there = use(cache, rnd_below(&rnd, spans[i]), false, &dirty);

			misses += k >= LOOKS && !there;
		}
		kunit_info(test, "%u of %u pages: %u of %u miss, should be %u", size, spans[i],
			   misses, LOOKS, should);
		KUNIT_EXPECT_LE(test, misses, should + should / 50);
		KUNIT_EXPECT_GE(test, misses, should - should / 50);
		map_cache_destroy(cache);
	}
}

/* What is used again and again stays, however many others come by once. */
static void what_is_used_again_stays(struct kunit *test)
{
	struct map_cache *cache = map_cache_create(64, GFP_KERNEL);
	u32 i, missed = 0;
	bool dirty;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	for (i = 0; i < LOOKS / 10; i++) {
		missed += !use(cache, i % 8, false, &dirty);
		use(cache, 100 + i, false, &dirty);
	}
	KUNIT_EXPECT_EQ(test, missed, 8U);
	map_cache_destroy(cache);
}

static struct kunit_case map_cache_cases[] = {
	KUNIT_CASE(it_does_what_a_naive_one_does),
	KUNIT_CASE(a_uniform_stream_misses_by_the_closed_form),
	KUNIT_CASE(what_is_used_again_stays),
	{}
};

static struct kunit_suite map_cache_suite = {
	.name = "map-cache",
	.test_cases = map_cache_cases,
};

kunit_test_suite(map_cache_suite);
