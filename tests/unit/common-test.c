// SPDX-License-Identifier: GPL-2.0
/* What the programs of tools/ share: numbers, arrays that grow, the hash table. */
#include <kunit/test.h>

#include "../../tools/common/map.h"
#include "../../tools/common/number.h"
#include "../../tools/common/vec.h"
#include "random.h"

static void a_number_is_the_whole_text(struct kunit *test)
{
	static const char *const wrong[] = { "", "x", "-1", "+1", " 1", "1 ", "1.5", "12k", "0x",
					     "0xg", "18446744073709551616", "1001" };
	u64 number = 0;
	u32 i;

	KUNIT_EXPECT_TRUE(test, number_parse("1000", 1000, &number));
	KUNIT_EXPECT_EQ(test, number, 1000);
	KUNIT_EXPECT_TRUE(test, number_parse("0x1f", 1000, &number));
	KUNIT_EXPECT_EQ(test, number, 0x1f);
	KUNIT_EXPECT_TRUE(test, number_parse("010", 1000, &number));
	KUNIT_EXPECT_EQ(test, number, 10);
	KUNIT_EXPECT_TRUE(test, number_parse("18446744073709551615", U64_MAX, &number));
	KUNIT_EXPECT_EQ(test, number, U64_MAX);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, number_parse(wrong[i], 1000, &number), false, "%s",
				    wrong[i]);
}

static void bytes_have_a_unit_of_1024(struct kunit *test)
{
	static const struct {
		const char *text;
		u64 bytes;
	} right[] = { { "0", 0 }, { "65536", 65536 }, { "64K", 65536 }, { "64k", 65536 },
		      { "1.5M", 3 << 19 }, { "1G", 1ull << 30 }, { "1T", 1ull << 40 },
		      { "2P", 1ull << 51 } };
	static const char *const wrong[] = { "", "K", "64KB", "64X", "-1K", "4096P", "1 K" };
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(right); i++) {
		KUNIT_EXPECT_EQ_MSG(test, number_parse_bytes(right[i].text, &bytes), true, "%s",
				    right[i].text);
		KUNIT_EXPECT_EQ_MSG(test, bytes, right[i].bytes, "%s", right[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, number_parse_bytes(wrong[i], &bytes), false, "%s",
				    wrong[i]);
}

static void an_array_keeps_its_items_while_it_grows(struct kunit *test)
{
	u64 room = 0, grown = 0, i;
	u32 *items = NULL;

	for (i = 0; i < 100000; i++) {
		u64 before = room;

		items = vec_reserve(items, &room, i + 1, sizeof(*items));
		KUNIT_ASSERT_GE(test, room, i + 1);
		grown += room != before;
		items[i] = i * 3;
	}
	KUNIT_EXPECT_LE(test, grown, 17); /* it doubles */
	for (i = 0; i < 100000; i++)
		KUNIT_ASSERT_EQ(test, items[i], i * 3);
	items = vec_reserve(items, &room, 1000000, sizeof(*items));
	KUNIT_EXPECT_GE(test, room, 1000000);
	KUNIT_EXPECT_EQ(test, items[99999], 99999 * 3);
	free(items);
}

/* Beside an array with a place for each key. */
static void every_key_of_a_map_has_its_value(struct kunit *test)
{
	struct rnd rnd = { 1 };
	u64 *expected = calloc(0x10000, sizeof(*expected)), i, keys = 0;
	struct map map = {};

	KUNIT_ASSERT_NOT_NULL(test, expected);
	for (i = 0; i < 100000; i++) {
		/* Keys that differ in high bits only collide. */
		u64 n = rnd_below(&rnd, 0x10000), key = n & 1 ? n : n << 40;
		u64 *value = map_at(&map, key);

		KUNIT_ASSERT_EQ(test, *value, expected[n]);
		keys += !expected[n];
		expected[n] = i + 1;
		*value = i + 1;
	}
	KUNIT_EXPECT_EQ(test, map.used, keys);
	for (i = 0; i < 0x10000; i++)
		KUNIT_ASSERT_EQ(test, *map_at(&map, i & 1 ? i : i << 40), expected[i]);
	map_free(&map);
	free(expected);
}

static void a_hash_is_a_key(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, map_key(U64_MAX), 0);
	KUNIT_EXPECT_EQ(test, map_key(U64_MAX - 1), U64_MAX - 1);
	KUNIT_EXPECT_EQ(test, map_hash(7, "name", 4), map_hash(7, "names", 4));
	KUNIT_EXPECT_NE(test, map_hash(7, "name", 4), map_hash(7, "names", 5));
	KUNIT_EXPECT_NE(test, map_hash(7, "name", 4), map_hash(8, "name", 4));
}

static struct kunit_case common_cases[] = {
	KUNIT_CASE(a_number_is_the_whole_text),
	KUNIT_CASE(bytes_have_a_unit_of_1024),
	KUNIT_CASE(an_array_keeps_its_items_while_it_grows),
	KUNIT_CASE(every_key_of_a_map_has_its_value),
	KUNIT_CASE(a_hash_is_a_key),
	{}
};

static struct kunit_suite common_suite = {
	.name = "common",
	.test_cases = common_cases,
};

kunit_test_suite(common_suite);
