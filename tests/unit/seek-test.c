// SPDX-License-Identifier: GPL-2.0
/* Seeks: the table, the curve, the switches and settles; by steps they are the same. */
#include <kunit/test.h>

#include "../../model/drive/seek.h"
#include "drive-bench.h"

static void seeks_go_through_their_table_and_past_it(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */

	prepare(&b, test);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 1), 1 * MS);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 100), 5 * MS);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 250), 7 * MS);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 550), 11 * MS);
	b.profile.nr_seeks = 0;
	b.profile.seek_short_base = 2 * MS;
	b.profile.seek_short_factor = 100 * US;
	b.profile.seek_long_base = 3 * MS;
	b.profile.seek_long_factor = 10 * MS;	/* picoseconds: 10 us a cylinder */
	b.profile.seek_limit = 200;
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 144), 3200 * US);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 200), 5 * MS);
	/* A head switch hides in a seek, and the settle comes after either. */
	b.profile.write_settle = 300 * US;
	KUNIT_EXPECT_EQ(test, seek_reposition(&b.profile, 0, false, true), 0ULL);
	KUNIT_EXPECT_EQ(test, seek_reposition(&b.profile, 0, true, false), 900 * US);
	KUNIT_EXPECT_EQ(test, seek_reposition(&b.profile, 144, true, true), 3500 * US);
	b.profile.write_settle = -1000 * (s64)US;
	KUNIT_EXPECT_EQ(test, seek_reposition(&b.profile, 0, true, true), 0ULL);
}

static void check_steps(struct kunit *test, const struct profile *profile)
{
	struct seek_steps *steps = seek_steps_create(profile, GFP_KERNEL);
	const struct seek_step *step;
	u32 cylinders, i;
	u64 ns;

	KUNIT_ASSERT_TRUE(test, steps);
	for (cylinders = 0; cylinders < profile->cylinders; cylinders++)
		for (i = 0; i < 4; i++) {
			step = seek_step(steps, cylinders);
			ns = seek_reposition_in(profile, step, cylinders, i % 2, i / 2);
			KUNIT_ASSERT_EQ(test, ns,
					seek_reposition(profile, cylinders, i % 2, i / 2));
			if (i < 2)
				continue;
			KUNIT_ASSERT_LE(test, step->least, ns);
			KUNIT_ASSERT_LE(test, ns, step->most);
		}
	seek_steps_destroy(steps);
}

/* By steps of distances a seek takes what it takes without, and their bounds hold for writes. */
static void seeks_by_steps_are_the_same(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	u32 i;

	for (i = 0; i < 6; i++) {
		prepare(&b, test);
		b.profile.nr_seeks *= i % 2;
		b.profile.seek_short_base = 1 * MS;
		b.profile.seek_short_factor = 33669;
		b.profile.seek_long_base = 1200 * US;
		b.profile.seek_long_factor = 1234567;
		b.profile.seek_limit = 200;
		b.profile.write_settle = (s64)(i / 2) * 2 * MS - 2 * (s64)MS;
		check_steps(test, &b.profile);
	}
}

static struct kunit_case seek_cases[] = {
	KUNIT_CASE(seeks_go_through_their_table_and_past_it),
	KUNIT_CASE(seeks_by_steps_are_the_same),
	{}
};

static struct kunit_suite seek_suite = {
	.name = "seek",
	.test_cases = seek_cases,
};

kunit_test_suite(seek_suite);
