// SPDX-License-Identifier: GPL-2.0
/* Windows of a mapped disk: what is asked for is what stands in the file, as long as promised. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kunit/test.h>

#include "../../tools/classify/mapped.h"
#include "random.h"

#define BYTES	(3 * 1024 * 1024 + 700)
#define SMALL	VIEW_AT_MOST

static u8 content[BYTES];

static void open_noise(struct kunit *test, struct mapped *disk, u32 window)
{
	char path[] = "/tmp/mapped-test.XXXXXX";
	struct rnd rnd = { 1 };
	int fd = mkstemp(path);
	u32 i;

	for (i = 0; i < BYTES; i++)
		content[i] = rnd_next(&rnd);
	KUNIT_ASSERT_EQ(test, (long)BYTES, (long)write(fd, content, BYTES));
	KUNIT_ASSERT_TRUE(test, mapped_open(disk, path, window));
	close(fd);
	unlink(path);
	KUNIT_EXPECT_EQ(test, (u64)BYTES, disk->bytes);
}

static void what_is_asked_for_stands_in_the_file(struct kunit *test)
{
	static const u32 sizes[] = { SMALL, 3 * SMALL, WINDOW_BYTES };
	struct rnd rnd = { 2 };
	unsigned int i, size;

	for (size = 0; size < ARRAY_SIZE(sizes); size++) {
		struct mapped disk;

		open_noise(test, &disk, sizes[size]);
		for (i = 0; i < 3000; i++) {
			u64 start = rnd_below(&rnd, 5) * 63 * 512, bytes = BYTES - start;
			struct view view = { &disk, start, bytes };
			u32 len = rnd_below(&rnd, 2) ? VIEW_AT_MOST : 1 + rnd_below(&rnd, 5000);
			u64 at = rnd_below(&rnd, bytes + 10000);
			const u8 *found = view_at(&view, at, len);

			KUNIT_ASSERT_EQ(test, at + len <= bytes, !!found);
			if (found)
				KUNIT_ASSERT_EQ(test, 0, memcmp(found, content + start + at, len));
		}
		mapped_close(&disk);
	}
}

static void a_pointer_lasts_while_few_others_are_asked_for(struct kunit *test)
{
	const u8 *kept[WINDOWS];
	u64 at[WINDOWS];
	struct rnd rnd = { 3 };
	struct mapped disk;
	struct view view = { &disk, 0, BYTES };
	unsigned int i;

	open_noise(test, &disk, SMALL);
	for (i = 0; i < 2000; i++) {
		unsigned int n;

		at[i % WINDOWS] = rnd_below(&rnd, BYTES - 9000);
		kept[i % WINDOWS] = view_at(&view, at[i % WINDOWS], 9000);
		for (n = 0; n < WINDOWS && n <= i; n++)
			KUNIT_ASSERT_EQ(test, 0, memcmp(kept[n], content + at[n], 9000));
	}
	mapped_close(&disk);
}

static void a_map_of_its_own_is_of_any_length(struct kunit *test)
{
	struct rnd rnd = { 4 };
	struct mapped disk;
	unsigned int i;

	open_noise(test, &disk, SMALL);
	for (i = 0; i < 200; i++) {
		u64 start = 63 * 512, bytes = BYTES - start, at = rnd_below(&rnd, bytes);
		u64 len = 1 + rnd_below(&rnd, bytes - at);
		struct view view = { &disk, start, bytes };
		const u8 *found = view_map(&view, at, len);

		KUNIT_ASSERT_TRUE(test, found);
		KUNIT_ASSERT_EQ(test, 0, memcmp(found, content + start + at, len));
		view_unmap(&view, at, len, found);
		KUNIT_EXPECT_FALSE(test, view_map(&view, at, bytes - at + 1));
	}
	mapped_close(&disk);
}

static struct kunit_case mapped_cases[] = {
	KUNIT_CASE(what_is_asked_for_stands_in_the_file),
	KUNIT_CASE(a_pointer_lasts_while_few_others_are_asked_for),
	KUNIT_CASE(a_map_of_its_own_is_of_any_length),
	{}
};

static struct kunit_suite mapped_suite = {
	.name = "mapped",
	.test_cases = mapped_cases,
};

kunit_test_suite(mapped_suite);
