// SPDX-License-Identifier: GPL-2.0
/* The remap bitmap against a naive oracle: one byte a block, searched from the start. */
#include <kunit/test.h>

#include "../../dm-david/lib/bitmap.h"
#include "random.h"

#ifdef __KERNEL__
#define SEEDS	8
#define STEPS	1000
#else
#define SEEDS	60
#define STEPS	4000
#endif

/* The fixed number of runs that the header speaks of; a longer search is a cost, not an error. */
#define RUNS	16

struct disk {
	struct kunit *test;
	struct remap_bitmap bm;
	struct rnd rnd;
	unsigned long long seed;
	u8 *used;
	u32 size;
	u32 in_use;
};

static void check(struct disk *d)
{
	const char *wrong = bm_check(&d->bm);

	KUNIT_ASSERT_STREQ_MSG(d->test, wrong ? wrong : "right", "right", "seed %llu", d->seed);
}

static u32 free_run(const struct disk *d, u32 from, u32 want)
{
	u32 n = 0;

	while (n < want && from + n < d->size && !d->used[from + n])
		n++;
	return n;
}

/* What the header reservations, as plainly as it can be said. */
static u64 expect(const struct disk *d, u64 hint, u32 want, u64 *len)
{
	u64 best = BM_NONE;
	u32 at = 0, runs = 0;

	*len = 0;
	if (hint < d->size && !d->used[hint]) {
		*len = free_run(d, hint, want);
		return hint;
	}
	while (at < d->size && runs < RUNS && *len < want) {
		u32 n = free_run(d, at, want);

		if (n > *len) {
			*len = n;
			best = at;
		}
		runs += !!n;
		at += n + 1;
	}
	return best;
}

static u32 pick_length(struct disk *d)
{
	static const u32 most[] = { 1, 1, 3, 70, 1000 };

	return 1 + rnd_below(&d->rnd, most[rnd_below(&d->rnd, ARRAY_SIZE(most))]);
}

static void alloc_some(struct disk *d)
{
	u32 want = pick_length(d);
	u64 hint = rnd_below(&d->rnd, 2) ? rnd_below(&d->rnd, d->size + 10) : BM_NONE;
	u64 len, got = 99, expected = expect(d, hint, want, &len);
	u64 start = bm_alloc(&d->bm, hint, want, &got);

	KUNIT_ASSERT_EQ_MSG(d->test, start, expected, "seed %llu", d->seed);
	KUNIT_ASSERT_EQ_MSG(d->test, got, len, "seed %llu", d->seed);
	if (start == BM_NONE)
		return;
	memset(d->used + start, 1, got);
	d->in_use += got;
}

/* The first run of @want free blocks, however many runs are looked at in a step. */
static void alloc_run(struct disk *d)
{
	u32 want = pick_length(d), n = 0, i;
	u64 from = 0, start, expected = BM_NONE;

	for (i = 0; i < d->size && n < want; i++)
		n = d->used[i] ? 0 : n + 1;
	if (n == want)
		expected = i - want;
	do {
		start = bm_alloc_run(&d->bm, &from, want, 1 + rnd_below(&d->rnd, 20));
	} while (start == BM_NONE && from != BM_NONE);
	KUNIT_ASSERT_EQ_MSG(d->test, start, expected, "seed %llu", d->seed);
	if (start == BM_NONE)
		return;
	memset(d->used + start, 1, want);
	d->in_use += want;
}

static void free_some(struct disk *d)
{
	u32 start = rnd_below(&d->rnd, d->size), n = 0, want = pick_length(d);

	while (n < want && start + n < d->size && d->used[start + n])
		n++;
	bm_free(&d->bm, start, n);
	memset(d->used + start, 0, n);
	d->in_use -= n;
}

/* Go on with a larger one. */
static void grow(struct disk *d)
{
	u32 size = d->size + rnd_below(&d->rnd, rnd_below(&d->rnd, 2) ? 100 : 5000);
	struct remap_bitmap larger;
	u8 *used = kvzalloc(size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(d->test, used);
	KUNIT_ASSERT_EQ(d->test, bm_init(&larger, size), 0);
	bm_copy(&larger, &d->bm);
	memcpy(used, d->used, d->size);
	bm_destroy(&d->bm);
	kvfree(d->used);
	d->bm = larger;
	d->used = used;
	d->size = size;
	check(d);
}

static void random_use_matches_the_oracle(struct kunit *test)
{
	struct disk *d = kvzalloc(sizeof(*d), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, d);
	for (d->seed = 1; d->seed <= SEEDS; d->seed++) {
		u32 step, i;

		d->test = test;
		d->rnd.state = d->seed;
		d->in_use = 0;
		/* Sizes about the borders of words and levels, and others. */
		d->size = d->seed % 2 ? 1 + rnd_below(&d->rnd, 20000) :
			  (64u << (6 * (d->seed % 4 / 2))) - 1 + rnd_below(&d->rnd, 3);
		d->used = kvzalloc(d->size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, d->used);
		KUNIT_ASSERT_EQ(test, bm_init(&d->bm, d->size), 0);
		for (step = 0; step < STEPS; step++) {
			/* Fill, empty, fill. */
			u32 phase = step * 3 / STEPS;

			if (rnd_below(&d->rnd, 10) < (phase == 1 ? 3 : 7))
				rnd_below(&d->rnd, 8) ? alloc_some(d) : alloc_run(d);
			else
				free_some(d);
			KUNIT_ASSERT_EQ_MSG(test, d->bm.used, d->in_use, "seed %llu", d->seed);
			if (!rnd_below(&d->rnd, 16))
				check(d);
			if (!rnd_below(&d->rnd, STEPS / 4))
				grow(d);
		}
		for (i = 0; i < d->size; i++)
			KUNIT_ASSERT_EQ_MSG(test, bm_test(&d->bm, i), d->used[i],
					    "seed %llu block %u", d->seed, i);
		check(d);
		bm_destroy(&d->bm);
		kvfree(d->used);
	}
	kvfree(d);
}

static void every_size_fills_to_the_last_block(struct kunit *test)
{
	u32 size;

	for (size = 1; size < 9000; size += size < 300 ? 1 : 61) {
		struct remap_bitmap bm;
		u64 got;
		u32 i;

		KUNIT_ASSERT_EQ(test, bm_init(&bm, size), 0);
		for (i = 0; i < size; i++)
			KUNIT_ASSERT_EQ(test, bm_alloc(&bm, BM_NONE, 1, &got), (u64)i);
		KUNIT_ASSERT_EQ(test, bm_alloc(&bm, BM_NONE, 1, &got), BM_NONE);
		KUNIT_ASSERT_EQ(test, bm_alloc(&bm, size - 1, 1, &got), BM_NONE);
		KUNIT_ASSERT_EQ(test, got, 0ULL);
		bm_free(&bm, 0, size);
		KUNIT_ASSERT_EQ(test, bm.used, 0ULL);
		KUNIT_ASSERT_EQ(test, bm_alloc(&bm, BM_NONE, size + 5ULL, &got), 0ULL);
		KUNIT_ASSERT_EQ(test, got, (u64)size);
		bm_destroy(&bm);
	}
}

static void a_run_is_found_behind_any_number_of_short_ones(struct kunit *test)
{
	struct remap_bitmap bm;
	u64 from = 0, got, i;

	KUNIT_ASSERT_EQ(test, bm_init(&bm, 10000), 0);
	KUNIT_ASSERT_EQ(test, bm_alloc(&bm, BM_NONE, 10000, &got), 0ULL);
	for (i = 0; i < 9000; i += 9)
		bm_free(&bm, i, 7);
	bm_free(&bm, 9900, 8);
	for (i = 0; i < 1000 / 16; i++)
		KUNIT_ASSERT_EQ(test, bm_alloc_run(&bm, &from, 8, 16), BM_NONE);
	KUNIT_EXPECT_EQ(test, bm_alloc_run(&bm, &from, 8, 16), 9900ULL);
	from = 0;
	KUNIT_EXPECT_EQ(test, bm_alloc_run(&bm, &from, 8, 2000), BM_NONE);
	KUNIT_EXPECT_EQ(test, from, BM_NONE);
	KUNIT_EXPECT_STREQ(test, bm_check(&bm) ?: "", "");
	bm_destroy(&bm);
}

static void what_is_sequential_stays_sequential(struct kunit *test)
{
	struct remap_bitmap bm;
	u64 hint = BM_NONE, got, i;

	KUNIT_ASSERT_EQ(test, bm_init(&bm, 10000), 0);
	KUNIT_ASSERT_EQ(test, bm_alloc(&bm, BM_NONE, 3, &got), 0ULL);
	for (i = 0; i < 500; i++) {
		u64 start = bm_alloc(&bm, hint, 8, &got);

		KUNIT_EXPECT_EQ(test, start, 3 + 8 * i);
		hint = start + got;
		if (i % 2)
			bm_free(&bm, i / 2, 1);	/* holes elsewhere do not lure it away */
	}
	bm_destroy(&bm);
}

static void sizes_out_of_range_are_refused(struct kunit *test)
{
	struct remap_bitmap bm;

	KUNIT_EXPECT_EQ(test, bm_init(&bm, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, bm_init(&bm, 1ULL << 40), -EINVAL);
	KUNIT_EXPECT_EQ(test, bm_init(&bm, U64_MAX), -EINVAL);
}

static struct kunit_case bitmap_cases[] = {
	KUNIT_CASE(random_use_matches_the_oracle),
	KUNIT_CASE(every_size_fills_to_the_last_block),
	KUNIT_CASE(a_run_is_found_behind_any_number_of_short_ones),
	KUNIT_CASE(what_is_sequential_stays_sequential),
	KUNIT_CASE(sizes_out_of_range_are_refused),
	{}
};

static struct kunit_suite bitmap_suite = {
	.name = "bitmap",
	.test_cases = bitmap_cases,
};

kunit_test_suite(bitmap_suite);
