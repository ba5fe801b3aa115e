// SPDX-License-Identifier: GPL-2.0
/* How large a file was before a trace, from what its calls returned. */
#include <kunit/test.h>

#include "../../tools/calls/initial.h"

static void what_was_read_was_there(struct kunit *test)
{
	struct initial i = {};

	initial_held(&i, 12288);
	initial_held(&i, 4096);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_LEAST);
	KUNIT_EXPECT_EQ(test, i.size, 12288);
}

static void a_short_read_is_the_end(struct kunit *test)
{
	struct initial i = {};

	initial_held(&i, 4096);
	initial_ended(&i, 4096, 100);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_END);
	KUNIT_EXPECT_EQ(test, i.size, 4196);
	/* Nothing far behind what was read: the end lies between. */
	i = (struct initial){};
	initial_held(&i, 4096);
	initial_ended(&i, 8192, 0);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_LEAST);
	initial_ended(&i, 4096, 0);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_END);
	KUNIT_EXPECT_EQ(test, i.size, 4096);
	/* Threads that share a position are recorded in another order. */
	initial_held(&i, 5000);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_LEAST);
	KUNIT_EXPECT_EQ(test, i.size, 5000);
}

static void an_empty_file_is_known_to_be_empty(struct kunit *test)
{
	struct initial i = {};

	initial_ended(&i, 0, 0);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_END);
	KUNIT_EXPECT_EQ(test, i.size, 0);
}

static void what_the_trace_wrote_proves_nothing(struct kunit *test)
{
	struct initial i = {};

	initial_written(&i, 8192);
	initial_held(&i, 8192);
	initial_told(&i, 8192);
	initial_ended(&i, 4096, 4096);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_UNKNOWN);
	KUNIT_EXPECT_EQ(test, i.size, 0);
	initial_held(&i, 8193);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_LEAST);
	KUNIT_EXPECT_EQ(test, i.size, 8193);
	initial_told(&i, 10000);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_TOLD);
	KUNIT_EXPECT_EQ(test, i.size, 10000);
}

static void what_was_appended_is_no_part_of_it(struct kunit *test)
{
	struct initial i = {};

	initial_appended(&i, 10);
	initial_appended(&i, 5);
	initial_told(&i, 115);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_TOLD);
	KUNIT_EXPECT_EQ(test, i.size, 100);
}

static void nothing_is_learnt_behind_a_truncation(struct kunit *test)
{
	struct initial i = {};

	initial_replaced(&i);
	initial_held(&i, 100);
	initial_told(&i, 100);
	initial_ended(&i, 0, 0);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_UNKNOWN);
}

static void the_first_that_is_told_stays(struct kunit *test)
{
	struct initial i = {};

	initial_told(&i, 100);
	initial_told(&i, 200);
	initial_held(&i, 300);
	initial_ended(&i, 300, 1);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_TOLD);
	KUNIT_EXPECT_EQ(test, i.size, 100);
}

static void nonsense_is_no_evidence(struct kunit *test)
{
	struct initial i = {};

	initial_told(&i, -1);
	initial_held(&i, INT64_MIN);
	initial_ended(&i, INT64_MAX, INT64_MAX);
	KUNIT_EXPECT_EQ(test, i.source, INITIAL_UNKNOWN);
	initial_appended(&i, INT64_MAX);
	initial_appended(&i, INT64_MAX);
	initial_held(&i, 1);
	KUNIT_EXPECT_LE(test, i.size, 3);
}

static struct kunit_case initial_cases[] = {
	KUNIT_CASE(what_was_read_was_there),
	KUNIT_CASE(a_short_read_is_the_end),
	KUNIT_CASE(an_empty_file_is_known_to_be_empty),
	KUNIT_CASE(what_the_trace_wrote_proves_nothing),
	KUNIT_CASE(what_was_appended_is_no_part_of_it),
	KUNIT_CASE(nothing_is_learnt_behind_a_truncation),
	KUNIT_CASE(the_first_that_is_told_stays),
	KUNIT_CASE(nonsense_is_no_evidence),
	{}
};

static struct kunit_suite initial_suite = {
	.name = "initial",
	.test_cases = initial_cases,
};

kunit_test_suite(initial_suite);
