// SPDX-License-Identifier: GPL-2.0
/* The rule from evidence to verdict, over every set of evidence in every mode. */
#include <kunit/test.h>

#include "../../classifier/verdict.h"

/* What each piece of evidence says by itself, as docs/CLASSIFICATION.md has it. A new one keeps. */
static enum verdict says(enum david_evidence evidence)
{
	switch (evidence) {
	case DAVID_EV_MODE:
		return VERDICT_UNDECIDED;
	case DAVID_EV_FILE:
	case DAVID_EV_ANON:
	case DAVID_EV_IMPLIED:
	case DAVID_EV_MADE_UP:
		return VERDICT_SQUASH;
	default:
		return VERDICT_KEEP;
	}
}

static void each_evidence_says_what_is_documented(struct kunit *test)
{
	unsigned int ev;

	for (ev = 0; ev < DAVID_EV_NR; ev++) {
		KUNIT_EXPECT_EQ_MSG(test, verdict_of(CLASSIFY_AUTO, ev), says(ev),
				    "evidence %u", ev);
		KUNIT_EXPECT_EQ_MSG(test, verdict_of(CLASSIFY_EXPLICIT, ev), says(ev),
				    "evidence %u", ev);
	}
}

static void squashed_only_if_data_is_said_and_metadata_is_not(struct kunit *test)
{
	u32 set;

	for (set = 0; set < 1u << DAVID_EV_NR; set++) {
		bool data = false, metadata = false;
		enum verdict expected;
		unsigned int ev;

		for (ev = 0; ev < DAVID_EV_NR; ev++) {
			if (!(set >> ev & 1))
				continue;
			data |= says(ev) == VERDICT_SQUASH;
			metadata |= says(ev) == VERDICT_KEEP;
		}
		expected = metadata ? VERDICT_KEEP : data ? VERDICT_SQUASH : VERDICT_UNDECIDED;
		KUNIT_EXPECT_EQ_MSG(test, verdict_of_set(CLASSIFY_AUTO, set), expected,
				    "set %x", set);
		KUNIT_EXPECT_EQ_MSG(test, verdict_of_set(CLASSIFY_EXPLICIT, set), expected,
				    "set %x", set);
	}
}

static void keep_and_data_need_no_evidence(struct kunit *test)
{
	u32 set;

	for (set = 0; set < 1u << DAVID_EV_NR; set++) {
		KUNIT_EXPECT_EQ(test, verdict_of_set(CLASSIFY_KEEP, set), VERDICT_KEEP);
		KUNIT_EXPECT_EQ(test, verdict_of_set(CLASSIFY_DATA, set), VERDICT_SQUASH);
	}
}

static void unknown_evidence_keeps(struct kunit *test)
{
	unsigned int ev;

	for (ev = DAVID_EV_NR; ev < 32; ev++)
		KUNIT_EXPECT_EQ(test, verdict_of_set(CLASSIFY_AUTO, BIT(ev) | BIT(DAVID_EV_FILE)),
				VERDICT_KEEP);
}

static void mode_names_are_read_back(struct kunit *test)
{
	int mode;

	for (mode = 0; mode < CLASSIFY_MODES; mode++)
		KUNIT_EXPECT_EQ(test, classify_parse(classify_name(mode)), mode);
	KUNIT_EXPECT_EQ(test, classify_parse("implied"), -EINVAL);
	KUNIT_EXPECT_EQ(test, classify_parse(""), -EINVAL);
	KUNIT_EXPECT_EQ(test, classify_parse("keeper"), -EINVAL);
	KUNIT_EXPECT_TRUE(test, !classify_name(CLASSIFY_MODES));
}

static void only_what_says_metadata_objects(struct kunit *test)
{
	enum david_evidence implied;

	for (implied = 0; implied < DAVID_EV_NR; implied++) {
		bool sure = implied == DAVID_EV_LAYOUT || implied == DAVID_EV_SELF;

		KUNIT_EXPECT_EQ_MSG(test, verdict_objects(implied, DAVID_EV_FILE), sure,
				    "evidence %u", implied);
		/* Direct I/O is never journaled. */
		KUNIT_EXPECT_EQ_MSG(test, verdict_objects(implied, DAVID_EV_ANON),
				    sure || implied == DAVID_EV_LOGGED, "evidence %u", implied);
		if (verdict_objects(implied, DAVID_EV_ANON))
			KUNIT_EXPECT_EQ(test, verdict_of(CLASSIFY_AUTO, implied), VERDICT_KEEP);
	}
}

static struct kunit_case verdict_cases[] = {
	KUNIT_CASE(each_evidence_says_what_is_documented),
	KUNIT_CASE(squashed_only_if_data_is_said_and_metadata_is_not),
	KUNIT_CASE(keep_and_data_need_no_evidence),
	KUNIT_CASE(unknown_evidence_keeps),
	KUNIT_CASE(only_what_says_metadata_objects),
	KUNIT_CASE(mode_names_are_read_back),
	{}
};

static struct kunit_suite verdict_suite = {
	.name = "verdict",
	.test_cases = verdict_cases,
};

kunit_test_suite(verdict_suite);
