// SPDX-License-Identifier: GPL-2.0
/* RAW rules: their words, and lookups beside an array that says what is RAW. */
#include <kunit/test.h>

#include "../../dm-david/lib/rawset.h"
#include "random.h"

#ifdef __KERNEL__
#define STEPS	300
#else
#define STEPS	4000
#endif

static bool change(struct rawset **set, bool add, const char *text, char *error)
{
	struct rawset *new = add ? rawset_add(*set, text, GFP_KERNEL, error) :
				   rawset_remove(*set, text, GFP_KERNEL, error);

	if (!new)
		return false;
	rawset_free(*set);
	*set = new;
	return true;
}

static void rules_are_read_joined_cut_and_told(struct kunit *test)
{
	static const struct {
		bool add;
		const char *rule;
		const char *all;	/* then */
	} steps[] = {
		{ true, "ino:12", "ino:12" },
		{ true, "ino:13", "ino:12-13" },
		{ true, "ino:10-20", "ino:10-20" },
		{ true, "ino:2048/15", "ino:10-20 ino:2048/15" },
		{ false, "ino:14-15", "ino:10-13 ino:16-20 ino:2048/15" },
		{ true, "ino:0-18446744073709551615", "ino:0-18446744073709551615 ino:2048/15" },
		{ false, "ino:1-18446744073709551615", "ino:0 ino:2048/15" },
		{ false, "ino:0", "ino:2048/15" },
		{ false, "ino:2048/0-100", "" },
		{ true, "dir:2", "dir:2" },
		{ true, "dir:3", "dir:2 dir:3" },
		{ true, "dir:1", "dir:1 dir:2 dir:3" },
		{ true, "dir:2", "dir:1 dir:2 dir:3" },
		{ true, "suffix:db", "dir:1 dir:2 dir:3 suffix:db" },
		{ true, "suffix:c", "dir:1 dir:2 dir:3 suffix:c suffix:db" },
		{ true, "suffix:db", "dir:1 dir:2 dir:3 suffix:c suffix:db" },
		{ true, "sectors:8-15", "dir:1 dir:2 dir:3 sectors:8-15 suffix:c suffix:db" },
		{ true, "sectors:16-16", "dir:1 dir:2 dir:3 sectors:8-16 suffix:c suffix:db" },
		{ false, "suffix:c", "dir:1 dir:2 dir:3 sectors:8-16 suffix:db" },
		{ false, "dir:2", "dir:1 dir:3 sectors:8-16 suffix:db" },
		{ false, "sectors:0-99", "dir:1 dir:3 suffix:db" },
	};
	struct rawset *set = rawset_new(GFP_KERNEL);
	char all[200], text[RAW_TEXT_SIZE], error[RAW_ERROR_SIZE];
	u32 i, n;

	KUNIT_ASSERT_NOT_NULL(test, set);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		int at = 0;

		error[0] = '\0';
		KUNIT_ASSERT_TRUE_MSG(test, change(&set, steps[i].add, steps[i].rule, error),
				      "%s: %s", steps[i].rule, error);
		all[0] = '\0';
		for (n = 0; n < rawset_count(set); n++) {
			rawset_print(set, n, text, sizeof(text));
			at += snprintf(all + at, sizeof(all) - at, "%s%s", n ? " " : "", text);
		}
		KUNIT_EXPECT_STREQ(test, all, steps[i].all);
	}
	rawset_free(set);
}

static void bad_rules_are_told_exactly(struct kunit *test)
{
	static const struct {
		bool add;
		const char *rule, *says;
	} bad[] = {
		{ true, "", "'': wants ino:, dir:, suffix: or sectors: and what is meant" },
		{ true, "12", "'12': wants ino:, dir:, suffix: or sectors: and what is meant" },
		{ true, "inode:12",
		  "'inode:12': wants ino:, dir:, suffix: or sectors: and what is meant" },
		{ true, "ino:", "'': a number is missing" },
		{ true, "ino:/5", "'': a number is missing" },
		{ true, "ino:5-", "'': a number is missing" },
		{ true, "ino:x", "'x': is not a decimal number" },
		{ true, "ino:0x10", "'0x10': is not a decimal number" },
		{ true, "ino:a/5", "'a': is not a decimal number" },
		{ true, "ino:18446744073709551616",
		  "'18446744073709551616': is more than 2^64 - 1" },
		{ true, "ino:5-4", "'5-4': ends before it begins" },
		{ true, "dir:5-6", "'5-6': wants one directory, not a range" },
		{ true, "sectors:1/5", "'1/5': sectors are of the disk, not of a volume" },
		{ true, "suffix:", "'': a suffix is missing" },
		{ true, "suffix:.db", "'.db': a suffix has no dot, slash, comma or space" },
		{ true, "suffix:a,b", "'a,b': a suffix has no dot, slash, comma or space" },
		{ true, "suffix:aaaaaaaaaaaaaaaaaaaaaaaa",
		  "'aaaaaaaaaaaaaaaaaaaaaaaa': a suffix has 23 characters at most" },
		{ false, "ino:77", "'ino:77': there is no such rule" },
		{ false, "dir:2", "'dir:2': there is no such rule" },
		{ false, "suffix:db", "'suffix:db': there is no such rule" },
	};
	struct rawset *set = rawset_new(GFP_KERNEL);
	char error[RAW_ERROR_SIZE];
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, set);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_FALSE(test, change(&set, bad[i].add, bad[i].rule, error));
		KUNIT_EXPECT_STREQ(test, error, bad[i].says);
		KUNIT_EXPECT_EQ(test, rawset_count(set), 0);
	}
	rawset_free(set);
}

static void rules_have_a_limit(struct kunit *test)
{
	struct rawset *set = rawset_new(GFP_KERNEL);
	char text[RAW_TEXT_SIZE], error[RAW_ERROR_SIZE];
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, set);
	for (i = 0; i < RAW_RULES; i++) {
		snprintf(text, sizeof(text), "ino:%u-%u", 4 * i, 4 * i + 2);
		KUNIT_ASSERT_TRUE(test, change(&set, true, text, error));
	}
	KUNIT_EXPECT_FALSE(test, change(&set, true, "ino:100000", error));
	KUNIT_EXPECT_STREQ(test, error,
			   "'ino:100000': there are 4096 rules of this kind, the most there can be");
	KUNIT_EXPECT_FALSE(test, change(&set, false, "ino:1", error));
	KUNIT_EXPECT_TRUE(test, change(&set, true, "ino:3", error));	/* joins two */
	KUNIT_EXPECT_TRUE(test, change(&set, true, "dir:3", error));	/* of another kind */
	KUNIT_EXPECT_EQ(test, rawset_count(set), RAW_RULES);
	rawset_free(set);
}

#define SPACE	300

/* Random ranges, added and removed, beside one bool a number. */
static void ranges_are_what_was_added_and_not_removed(struct kunit *test)
{
	struct rawset *set = rawset_new(GFP_KERNEL);
	char text[RAW_TEXT_SIZE], error[RAW_ERROR_SIZE];
	struct rnd rnd = { 1 };
	bool raw[SPACE] = {};
	u32 i, at;

	KUNIT_ASSERT_NOT_NULL(test, set);
	for (i = 0; i < STEPS; i++) {
		u32 first = rnd_below(&rnd, SPACE), n = 1 + rnd_below(&rnd, 12);
		bool add = rnd_below(&rnd, 2), any = add;
		u64 len;

		n = min(n, SPACE - first);
		for (at = first; at < first + n; at++) {
			any |= raw[at];
			raw[at] = add;
		}
		snprintf(text, sizeof(text), "sectors:%u-%u", first, first + n - 1);
		KUNIT_ASSERT_EQ_MSG(test, change(&set, add, text, error), any, "%s", text);
		at = rnd_below(&rnd, SPACE);
		KUNIT_ASSERT_EQ(test, rawset_sector(set, at, &len), raw[at]);
		for (n = 0; at + n < SPACE && raw[at + n] == raw[at]; n++)
			;
		if (at + n < SPACE)
			KUNIT_ASSERT_EQ(test, len, n);
		else
			KUNIT_ASSERT_EQ(test, len, raw[at] ? n : U64_MAX);
	}
	rawset_free(set);
}

/*
 * Directories 1 > 10 > 100 > 1000; each file is below the one of its number by ten.
 * Volume 8 hangs below number 23 of volume 0; volume 7 is damaged: a loop.
 */
static bool parent_of(void *ctx, u64 *volume, u64 *ino)
{
	(*(u32 *)ctx)++;
	if (*volume == 7)
		return true;
	if (*volume == 8 && *ino < 10) {
		*volume = 0;
		*ino = 23;
		return true;
	}
	if (*ino < 10)
		return false;
	*ino /= 10;
	return true;
}

static void files_are_found_by_number_name_and_directory(struct kunit *test)
{
	static const char * const rules[] = {
		"ino:500-509", "ino:2048/77", "suffix:db", "dir:23", "dir:2048/4",
	};
	static const struct {
		struct raw_file file;
		bool raw;
	} files[] = {
		{ { 0, 505, "a", 1 }, true },
		{ { 0, 510, "a", 1 }, false },
		{ { 0, 77, "a", 1 }, false },
		{ { 2048, 77, "a", 1 }, true },
		{ { 0, 1, "x.db", 4 }, true },
		{ { 9, 1, "x.y.db", 6 }, true },
		{ { 0, 1, "x.dbm", 5 }, false },
		{ { 0, 1, "x.DB", 4 }, false },
		{ { 0, 1, ".db", 3 }, false },
		{ { 0, 1, "db", 2 }, false },
		{ { 0, 1, NULL, 0 }, false },
		{ { 0, 23, "a", 1 }, true },
		{ { 0, 23456, "a", 1 }, true },
		{ { 0, 24456, "a", 1 }, false },
		{ { 2048, 23456, "a", 1 }, false },
		{ { 2048, 45678, NULL, 0 }, true },
		{ { 7, 45678, "a", 1 }, true },
		{ { 8, 45678, "a", 1 }, true },
		{ { 9, 45678, "a", 1 }, false },
	};
	struct rawset *set = rawset_new(GFP_KERNEL);
	char error[RAW_ERROR_SIZE];
	u32 i, calls;

	KUNIT_ASSERT_NOT_NULL(test, set);
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		KUNIT_ASSERT_TRUE(test, change(&set, true, rules[i], error));
		KUNIT_EXPECT_TRUE(test, rawset_has_files(set));
		KUNIT_EXPECT_EQ(test, rawset_has_names(set), i >= 2);
	}
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		calls = 0;
		KUNIT_EXPECT_EQ_MSG(test, rawset_file(set, &files[i].file, parent_of, &calls),
				    files[i].raw, "file %u", i);
		KUNIT_EXPECT_LE(test, calls, RAW_DEPTH);
	}
	KUNIT_EXPECT_FALSE(test, rawset_file(set, &files[12].file, NULL, NULL));
	rawset_free(set);
}

static struct kunit_case rawset_cases[] = {
	KUNIT_CASE(rules_are_read_joined_cut_and_told),
	KUNIT_CASE(bad_rules_are_told_exactly),
	KUNIT_CASE(rules_have_a_limit),
	KUNIT_CASE(ranges_are_what_was_added_and_not_removed),
	KUNIT_CASE(files_are_found_by_number_name_and_directory),
	{}
};

static struct kunit_suite rawset_suite = {
	.name = "rawset",
	.test_cases = rawset_cases,
};

kunit_test_suite(rawset_suite);
