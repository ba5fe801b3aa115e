// SPDX-License-Identifier: GPL-2.0
/* RAW rules as pages of a store: what was written is read, and nothing else is taken. */
#include <kunit/test.h>

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/rawpage.h"
#include "random.h"

#ifdef __KERNEL__
#define ROUNDS	10
#else
#define ROUNDS	100
#endif

/* Where fields stand in a page: docs/FORMAT.md. */
#define AT_VERSION	8
#define AT_NUMBER	10
#define AT_GENERATION	16
#define AT_COUNT	24
#define AT_RULES	40

static void put(void *page, u32 at, u64 value, u32 len)
{
	__le64 disk = cpu_to_le64(value);

	memcpy(page + at, &disk, len);
}

static void sign(void *page)
{
	put(page, 0, crc_of(CRC_32C, page + 4, RAWPAGE_SIZE - 4), 4);
}

static bool add(struct rawset **set, const char *text)
{
	char error[RAW_ERROR_SIZE];
	struct rawset *new = rawset_add(*set, text, GFP_KERNEL, error);

	if (!new)
		return false;
	rawset_free(*set);
	*set = new;
	return true;
}

/* Up to @most rules of each kind. */
static struct rawset *random_rules(struct rnd *rnd, u32 most)
{
	struct rawset *set = rawset_new(GFP_KERNEL);
	char text[RAW_TEXT_SIZE];
	u32 n, i;

	for (i = 0, n = rnd_below(rnd, most + 1); set && i < n; i++) {
		u32 volume = rnd_below(rnd, 3), at = rnd_below(rnd, 1000000);

		snprintf(text, sizeof(text), "ino:%u/%u-%u", volume, at, at + rnd_below(rnd, 9));
		add(&set, text);
		snprintf(text, sizeof(text), "dir:%u/%u", volume, at);
		add(&set, text);
		snprintf(text, sizeof(text), "sectors:%u-%u", at, at + rnd_below(rnd, 99));
		add(&set, text);
		snprintf(text, sizeof(text), "suffix:%x", at);
		add(&set, text);
	}
	return set;
}

static u8 *pack(struct kunit *test, const struct rawset *set, u64 generation)
{
	u32 n = rawpage_count(set), i;
	u8 *pages = kvzalloc(n * RAWPAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (i = 0; i < n; i++)
		rawpage_pack(set, generation, i, pages + i * RAWPAGE_SIZE);
	return pages;
}

static void rules_that_are_written_are_read(struct kunit *test)
{
	struct rnd rnd = { 5 };
	const char *wrong;
	u32 round;

	for (round = 0; round < ROUNDS; round++) {
		struct rawset *set = random_rules(&rnd, round % 4 ? 5 : 300), *got = NULL;
		u64 generation = rnd_next(&rnd), found;
		u8 *pages;
		u32 n;

		KUNIT_ASSERT_NOT_NULL(test, set);
		if (!rawset_count(set)) {
			rawset_free(set);
			continue;
		}
		pages = pack(test, set, generation);
		n = rawpage_look(pages, &wrong);
		KUNIT_ASSERT_EQ(test, n, rawpage_count(set));
		KUNIT_ASSERT_EQ_MSG(test, rawpage_unpack(pages, n, GFP_KERNEL, &got, &found,
							 &wrong), 0, "%s", wrong);
		KUNIT_EXPECT_TRUE(test, rawset_same(set, got));
		KUNIT_EXPECT_EQ(test, found, generation);
		/* What was read can be changed like any other. */
		KUNIT_EXPECT_TRUE(test, add(&got, "suffix:not-there"));
		KUNIT_EXPECT_FALSE(test, rawset_same(set, got));
		rawset_free(got);
		rawset_free(set);
		kvfree(pages);
	}
}

static void no_rules_are_the_same_as_none(struct kunit *test)
{
	struct rawset *none = rawset_new(GFP_KERNEL), *set = rawset_new(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, none);
	KUNIT_ASSERT_NOT_NULL(test, set);
	KUNIT_ASSERT_TRUE(test, add(&set, "ino:1"));
	KUNIT_EXPECT_TRUE(test, rawset_same(NULL, none));
	KUNIT_EXPECT_TRUE(test, rawset_same(none, NULL));
	KUNIT_EXPECT_FALSE(test, rawset_same(NULL, set));
	KUNIT_EXPECT_FALSE(test, rawset_same(set, none));
	KUNIT_EXPECT_EQ(test, rawpage_count(none), 0);
	rawset_free(none);
	rawset_free(set);
}

/* Rule @n is of 24 bytes. */
#define RULE(n)	(AT_RULES + 24 * (n))

static void what_makes_no_sense_is_refused(struct kunit *test)
{
	/* A page of ino:5-9, ino:20, dir:3, dir:4, sectors:8-15, suffix:ab, suffix:db. */
	static const struct {
		u32 at, len;
		u64 value;
		bool first;		/* by rawpage_look() already */
		const char *says;
	} bad[] = {
		{ 4, 4, 0, true, "a page is of something else" },
		{ AT_VERSION, 2, 2, true, "they are of another version" },
		{ AT_NUMBER, 2, 1, true, "a page is another one" },
		{ AT_COUNT, 4, RAW_RULES + 1, true, "there are too many" },
		{ AT_COUNT, 4, 0xffffffff, true, "there are too many" },
		{ AT_COUNT, 4, 3, false, "a rule makes no sense" },
		{ AT_COUNT + 12, 4, 3, false, "a rule makes no sense" },
		{ RULE(0) + 8, 8, 10, false, "a rule makes no sense" },	/* ino:10-9 */
		{ RULE(0), 8, 1, false, "a rule makes no sense" },	/* ino:1/5-9 first */
		{ RULE(1) + 8, 8, 9, false, "a rule makes no sense" },	/* ino:5-9 ino:9-20 */
		{ RULE(2) + 16, 8, 4, false, "a rule makes no sense" },	/* dir:3-4 */
		{ RULE(3) + 8, 8, 3, false, "a rule makes no sense" },	/* dir:3-4 */
		{ RULE(4), 8, 1, false, "a rule makes no sense" },	/* sectors:1/8-15 */
		{ RULE(5), 1, 'z', false, "a rule makes no sense" },	/* suffix:zb suffix:db */
		{ RULE(5), 1, '.', false, "a rule makes no sense" },
		{ RULE(5) + 1, 1, '/', false, "a rule makes no sense" },
		{ RULE(6), 1, 0, false, "a rule makes no sense" },
		{ RULE(6) + 9, 1, 'x', false, "a rule makes no sense" },	/* behind its end */
		{ RULE(6), 8, 'a' + ('b' << 8), false, "a rule makes no sense" },	/* twice */
	};
	static const char * const rules[] = {
		"ino:5-9", "ino:20", "dir:3", "dir:4", "sectors:8-15", "suffix:ab", "suffix:db",
	};
	struct rawset *set = rawset_new(GFP_KERNEL), *got;
	u8 *page, *changed = kvzalloc(RAWPAGE_SIZE, GFP_KERNEL);
	const char *wrong;
	u64 generation;
	u32 i, n;

	KUNIT_ASSERT_NOT_NULL(test, set);
	KUNIT_ASSERT_NOT_NULL(test, changed);
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		KUNIT_ASSERT_TRUE(test, add(&set, rules[i]));
	page = pack(test, set, 7);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(changed, page, RAWPAGE_SIZE);
		put(changed, bad[i].at, bad[i].value, bad[i].len);
		n = rawpage_look(changed, &wrong);
		KUNIT_EXPECT_EQ_MSG(test, n, 0, "change %u without its checksum", i);
		sign(changed);
		n = rawpage_look(changed, &wrong);
		KUNIT_ASSERT_EQ_MSG(test, n, !bad[i].first, "change %u", i);
		if (n)
			KUNIT_EXPECT_EQ_MSG(test,
					    rawpage_unpack(changed, n, GFP_KERNEL, &got,
							   &generation, &wrong), -EINVAL,
					    "change %u", i);
		KUNIT_EXPECT_STREQ(test, wrong, bad[i].says);
	}
	memcpy(changed, page, RAWPAGE_SIZE);
	memset(changed + AT_COUNT, 0, 16);
	sign(changed);
	KUNIT_EXPECT_EQ(test, rawpage_look(changed, &wrong), 0);
	KUNIT_EXPECT_STREQ(test, wrong, "there are none");
	kvfree(changed);
	kvfree(page);
	rawset_free(set);
}

static void pages_of_two_sets_are_not_one(struct kunit *test)
{
	struct rawset *set = rawset_new(GFP_KERNEL), *got;
	char text[RAW_TEXT_SIZE];
	const char *wrong;
	u8 *one, *two;
	u64 generation;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, set);
	for (i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "dir:%u", i);
		KUNIT_ASSERT_TRUE(test, add(&set, text));
	}
	one = pack(test, set, 1);
	two = pack(test, set, 2);
	KUNIT_ASSERT_EQ(test, rawpage_look(one, &wrong), 2);
	memcpy(one + RAWPAGE_SIZE, two + RAWPAGE_SIZE, RAWPAGE_SIZE);
	KUNIT_EXPECT_EQ(test, rawpage_unpack(one, 2, GFP_KERNEL, &got, &generation, &wrong),
			-EINVAL);
	KUNIT_EXPECT_STREQ(test, wrong, "pages do not belong together");
	memcpy(one + RAWPAGE_SIZE, one, RAWPAGE_SIZE);
	KUNIT_EXPECT_EQ(test, rawpage_unpack(one, 2, GFP_KERNEL, &got, &generation, &wrong),
			-EINVAL);
	KUNIT_EXPECT_STREQ(test, wrong, "a page is another one");
	kvfree(one);
	kvfree(two);
	rawset_free(set);
}

static struct kunit_case rawpage_cases[] = {
	KUNIT_CASE(rules_that_are_written_are_read),
	KUNIT_CASE(no_rules_are_the_same_as_none),
	KUNIT_CASE(what_makes_no_sense_is_refused),
	KUNIT_CASE(pages_of_two_sets_are_not_one),
	{}
};

static struct kunit_suite rawpage_suite = {
	.name = "rawpage",
	.test_cases = rawpage_cases,
};

kunit_test_suite(rawpage_suite);
