// SPDX-License-Identifier: GPL-2.0
/* How much of a disk requests have reached, against an oracle that remembers every page. */
#include <kunit/test.h>

#include "../../dm-david/lib/reach.h"
#include "random.h"

#define PAGES	BIT(20)

struct world {
	struct reach reach;
	u8 touched[PAGES];
	u64 nr;
};

static struct world *make_world(struct kunit *test)
{
	struct world *world = kvzalloc(sizeof(*world), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, world);
	/* As the memory of a disk that was used before. */
	memset(&world->reach, 0xff, sizeof(world->reach));
	reach_clear(&world->reach, PAGES * (u64)REACH_PAGE);
	return world;
}

static void touch(struct world *world, u64 sector, u32 sectors)
{
	u64 at;

	reach_add(&world->reach, sector, sectors);
	for (at = sector; at < sector + sectors; at++) {
		world->nr += !world->touched[at / REACH_PAGE];
		world->touched[at / REACH_PAGE] = 1;
	}
}

static void must_be_near(struct kunit *test, const struct world *world, u64 seed)
{
	u64 found = reach_pages(&world->reach);

	/* Four standard errors. */
	KUNIT_EXPECT_GE_MSG(test, found, world->nr - world->nr / 9, "seed %llu",
			    (unsigned long long)seed);
	KUNIT_EXPECT_LE_MSG(test, found, world->nr + world->nr / 9, "seed %llu",
			    (unsigned long long)seed);
}

static void nothing_is_reached_at_first(struct kunit *test)
{
	struct world *world = make_world(test);

	touch(world, 100, 0);
	KUNIT_EXPECT_EQ(test, reach_pages(&world->reach), 0);
	KUNIT_EXPECT_EQ(test, world->reach.end, 0);
	kvfree(world);
}

static void it_goes_from_the_first_sector_to_the_last(struct kunit *test)
{
	struct world *world = make_world(test);

	touch(world, 1000, 8);
	touch(world, 0, 1);
	touch(world, 500, 8);
	KUNIT_EXPECT_EQ(test, world->reach.first, 0);
	KUNIT_EXPECT_EQ(test, world->reach.end, 1008);
	/* 500 to 507 lie in two pages. */
	KUNIT_EXPECT_EQ(test, reach_pages(&world->reach), 4);
	reach_clear(&world->reach, PAGES * (u64)REACH_PAGE);
	touch(world, 4000, 8);
	KUNIT_EXPECT_EQ(test, world->reach.first, 4000);
	kvfree(world);
}

static void few_pages_are_counted_exactly_and_once(struct kunit *test)
{
	struct world *world = make_world(test);
	struct rnd rnd = { .state = 7 };
	u32 i;

	for (i = 0; i < 20000; i++)
		touch(world, rnd_below(&rnd, REACH_MOST - 1) * 5003ULL % PAGES * REACH_PAGE,
		      REACH_PAGE);
	KUNIT_EXPECT_GE(test, world->nr, REACH_MOST - 10);
	KUNIT_EXPECT_EQ(test, reach_pages(&world->reach), world->nr);
	kvfree(world);
}

static void many_pages_are_counted_nearly(struct kunit *test)
{
	u64 seed;
	u32 i;

	for (seed = 1; seed <= 8; seed++) {
		struct world *world = make_world(test);
		struct rnd rnd = { .state = seed };

		/* One after another, at random, in large pieces, some of them again. */
		for (i = 0; i < 60000; i++)
			touch(world, (seed & 1 ? i : rnd_below(&rnd, PAGES)) * (u64)REACH_PAGE,
			      REACH_PAGE);
		must_be_near(test, world, seed);
		for (i = 0; i < 200; i++)
			touch(world, rnd_below(&rnd, PAGES - 512) * (u64)REACH_PAGE + 3, 2048);
		must_be_near(test, world, seed);
		kvfree(world);
	}
}

/* As many as are in the sample, and in a row that a poor hash would not spread. */
static void strides_are_no_matter(struct kunit *test)
{
	static const u32 strides[] = { 2, 16, 64, 233, 256, 377 };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(strides); i++) {
		struct world *world = make_world(test);

		for (k = 0; k < PAGES / strides[i]; k++)
			touch(world, (u64)k * strides[i] * REACH_PAGE, 1);
		must_be_near(test, world, strides[i]);
		kvfree(world);
	}
}

static void check_most(struct kunit *test, const struct reach *reach, u64 first, u64 end)
{
	u64 found[2];

	reach_most(reach, &found[0], &found[1]);
	KUNIT_EXPECT_EQ(test, found[0], first);
	KUNIT_EXPECT_EQ(test, found[1], end);
}

/* Of a file in one place, and a journal far from it. */
static void few_far_from_all_others_are_left_out(struct kunit *test)
{
	struct world *world = make_world(test);
	const u64 last = (PAGES - 1) * (u64)REACH_PAGE;
	u32 i;

	check_most(test, &world->reach, 0, 0);
	reach_count(&world->reach, 4000, 0);
	check_most(test, &world->reach, 0, 0);
	for (i = 0; i < 1000; i++)
		reach_count(&world->reach, 2000000 + i, 8);
	check_most(test, &world->reach, 2000000, 2001007);
	for (i = 0; i < 5; i++) {
		reach_count(&world->reach, i * 8, 8);
		reach_count(&world->reach, last - i * REACH_PAGE, 8);
	}
	check_most(test, &world->reach, 2000000, 2001007);
	/* One in a hundred is few, and more is not. The other end keeps its own. */
	for (i = 0; i < 5; i++)
		reach_count(&world->reach, 4000000, 8);
	check_most(test, &world->reach, 2000000, 2001007);
	reach_count(&world->reach, 4000000, 8);
	check_most(test, &world->reach, 2000000, 4000008);
	/* A disk that is larger than was said. */
	reach_count(&world->reach, U64_MAX / 2, 8);
	reach_clear(&world->reach, 1);
	check_most(test, &world->reach, 0, 0);
	reach_count(&world->reach, 0, 1);
	check_most(test, &world->reach, 0, 1);
	kvfree(world);
}

/* Files all over the disk, and requests at random: nothing of them is left out but for the rims. */
static void requests_all_over_are_most_of_them(struct kunit *test)
{
	u64 seed, first, end;
	u32 i;

	for (seed = 1; seed <= 8; seed++) {
		struct world *world = make_world(test);
		struct rnd rnd = { .state = seed };
		u64 low = U64_MAX, high = 0, page;

		for (i = 0; i < 50 * seed * seed; i++) {
			page = rnd_below(&rnd, seed & 1 ? PAGES : 64) * (seed & 1 ? 1 : PAGES / 64);
			reach_count(&world->reach, page * REACH_PAGE, REACH_PAGE);
			low = min(low, page);
			high = max(high, page);
		}
		reach_most(&world->reach, &first, &end);
		KUNIT_EXPECT_GE(test, first / REACH_PAGE, low);
		KUNIT_EXPECT_LE(test, end / REACH_PAGE, high + 1);
		KUNIT_EXPECT_GE(test, (end - first) / REACH_PAGE, (high - low) / 100 * 94);
		kvfree(world);
	}
}

/* It is as if the disk had always been that large; one that shrinks keeps what it has. */
static void a_disk_that_grows_keeps_what_was_reached(struct kunit *test)
{
	const u64 small = PAGES / 37 * (u64)REACH_PAGE, large = PAGES * (u64)REACH_PAGE;
	u64 seed, found[2], sector;
	u32 i;

	for (seed = 1; seed <= 8; seed++) {
		struct world *grown = make_world(test), *always = make_world(test);
		struct rnd rnd = { .state = seed };

		reach_clear(&grown->reach, small);
		for (i = 0; i < 2000 * seed; i++) {
			if (i == 1000)
				reach_fit(&grown->reach, large);
			sector = rnd_below(&rnd, i < 1000 ? small : large);
			touch(grown, sector, 8);
			touch(always, sector, 8);
			reach_count(&grown->reach, sector, 8);
			reach_count(&always->reach, sector, 8);
		}
		reach_fit(&grown->reach, small);
		KUNIT_EXPECT_EQ(test, grown->reach.part_shift, always->reach.part_shift);
		KUNIT_EXPECT_EQ(test, memcmp(grown->reach.parts, always->reach.parts,
					     sizeof(grown->reach.parts)), 0);
		KUNIT_EXPECT_EQ(test, reach_pages(&grown->reach), reach_pages(&always->reach));
		reach_most(&always->reach, &found[0], &found[1]);
		check_most(test, &grown->reach, found[0], found[1]);
		kvfree(grown);
		kvfree(always);
	}
}

static struct kunit_case reach_cases[] = {
	KUNIT_CASE(nothing_is_reached_at_first),
	KUNIT_CASE(it_goes_from_the_first_sector_to_the_last),
	KUNIT_CASE(few_pages_are_counted_exactly_and_once),
	KUNIT_CASE(many_pages_are_counted_nearly),
	KUNIT_CASE(strides_are_no_matter),
	KUNIT_CASE(few_far_from_all_others_are_left_out),
	KUNIT_CASE(requests_all_over_are_most_of_them),
	KUNIT_CASE(a_disk_that_grows_keeps_what_was_reached),
	{}
};

static struct kunit_suite reach_suite = {
	.name = "reach",
	.test_cases = reach_cases,
};

kunit_test_suite(reach_suite);
