// SPDX-License-Identifier: GPL-2.0
/* Which suffix is which kind of file: the default map, other maps, and what is no map. */
#include <kunit/test.h>

#include "../../dm-david/lib/suffixmap.h"

static void suffixes_tell_the_kind(struct kunit *test)
{
	static const struct {
		const char *name;
		enum file_kind kind;
	} names[] = {
		{ "a.pdf", FILE_PDF },
		{ "A.PDF", FILE_PDF },
		{ "a.tar.gz", FILE_GZIP },
		{ "a.jpeg", FILE_JPEG },
		{ "a.Htm", FILE_HTML },
		{ "a.json", FILE_JSON },
		{ "a.md", FILE_TEXT },
		{ "pdf", FILE_NONE },
		{ ".pdf", FILE_NONE },
		{ "a.", FILE_NONE },
		{ "", FILE_NONE },
		{ "a.pdf ", FILE_NONE },
		{ "a.pd", FILE_NONE },
		{ "a.pdf.aaaaaaaaaaaaaaaaaaaaaaaa", FILE_NONE },
	};
	struct suffix_map *map = kvzalloc(sizeof(*map), GFP_KERNEL);
	char error[160];
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, map);
	KUNIT_ASSERT_EQ(test, suffix_map_parse(map, SUFFIX_DEFAULT, error, sizeof(error)), 0);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    suffix_map_find(map, names[i].name, strlen(names[i].name)),
				    names[i].kind, "%s", names[i].name);
	KUNIT_EXPECT_EQ(test, suffix_map_parse(map, "", error, sizeof(error)), 0);
	KUNIT_EXPECT_EQ(test, suffix_map_find(map, "a.pdf", 5), FILE_NONE);
	KUNIT_EXPECT_EQ(test, suffix_map_parse(map, "X=gzip;pdf=none;", error, sizeof(error)), 0);
	KUNIT_EXPECT_EQ(test, suffix_map_find(map, "a.x", 3), FILE_GZIP);
	kvfree(map);
}

static void bad_suffixes_are_told_exactly(struct kunit *test)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "pdf", "suffixes, character 1, 'pdf': wants =KIND behind the suffix" },
		{ "pdf;gz=gzip", "suffixes, character 1, 'pdf': wants =KIND behind the suffix" },
		{ "pdf=", "suffixes, character 5, '': unknown kind; "
		  "known are text, html, json, pdf, gzip, jpeg, none" },
		{ "gz=gzip;pdf=doc;", "suffixes, character 13, 'doc': unknown kind; "
		  "known are text, html, json, pdf, gzip, jpeg, none" },
		{ "=pdf", "suffixes, character 1, '': a suffix is missing here" },
		{ "a,=pdf", "suffixes, character 3, '': a suffix is missing here" },
		{ ";", "suffixes, character 1, '': a suffix is missing here" },
		{ "a.b=pdf", "suffixes, character 1, 'a.b': a suffix has no dot, slash or space" },
		{ "a=pdf; b=pdf",
		  "suffixes, character 7, ' b': a suffix has no dot, slash or space" },
		{ "abcdefghijkl=pdf",
		  "suffixes, character 1, 'abcdefghijkl': a suffix has 11 characters at most" },
		{ "a=pdf;b,A=gzip", "suffixes, character 9, 'A': this suffix stands twice" },
	};
	struct suffix_map *map = kvzalloc(sizeof(*map), GFP_KERNEL);
	char text[4 * SUFFIXES + 10], error[160];
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, map);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_EQ(test, suffix_map_parse(map, bad[i].text, error, sizeof(error)),
				-EINVAL);
		KUNIT_EXPECT_STREQ(test, error, bad[i].says);
		KUNIT_EXPECT_EQ(test, map->count, 0);
	}
	for (i = 0; i <= SUFFIXES; i++)
		snprintf(text + 3 * i, 5, "%02u%c", i, i < SUFFIXES ? ',' : '=');
	memcpy(text + 3 * i, "pdf", 4);
	KUNIT_EXPECT_EQ(test, suffix_map_parse(map, text, error, sizeof(error)), -EINVAL);
	KUNIT_EXPECT_STREQ(test, error,
			   "suffixes, character 193, '64': these are more than 64 suffixes");
	kvfree(map);
}

static struct kunit_case suffixmap_cases[] = {
	KUNIT_CASE(suffixes_tell_the_kind),
	KUNIT_CASE(bad_suffixes_are_told_exactly),
	{}
};

static struct kunit_suite suffixmap_suite = {
	.name = "suffixmap",
	.test_cases = suffixmap_cases,
};

kunit_test_suite(suffixmap_suite);
