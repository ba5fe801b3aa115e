// SPDX-License-Identifier: GPL-2.0
/* First blocks of files that the kernel reads past their pages, and what only looks like them. */
#include <kunit/test.h>
#include "../../classifier/ext/exclude.h"
#include "../../classifier/signature.h"
#include "random.h"

static void what_the_kernel_takes_for_its_own_is_known_by_its_beginning(struct kunit *test)
{
	static const u8 begins[][8] = {
		{ 0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 3 }, { 0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 4 },
		{ 0x11, 0x1f, 0xc0, 0xd9, 1 }, { 0x27, 0x19, 0xc0, 0xd9 },
		{ 0x14, 0x3f, 0xc0, 0xd9, 1 },
		{ 'b', 'i', 't', 'm', 4 },
	};
	static const u8 others[][8] = {
		/* A descriptor block, a commit block; in the other byte order; text. */
		{ 0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 1 }, { 0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 2 },
		{ 0x98, 0x39, 0x3b, 0xc0, 3 }, { 0xd9, 0xc0, 0x1f, 0x11 },
		{ 'b', 'i', 't', 's' }, {},
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(begins); i++)
		KUNIT_EXPECT_TRUE(test, signature_begins(begins[i]));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_FALSE(test, signature_begins(others[i]));
}

static void a_swap_area_is_known_by_the_end_of_its_first_page(struct kunit *test)
{
	static const char * const ends[] = {
		"SWAPSPACE2", "SWAP-SPACE", "S1SUSPEND", "S2SUSPEND", "ULSUSPEND", "LINHIB0001",
	};
	char last[11] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		memset(last, 0, sizeof(last));
		memcpy(last, ends[i], strlen(ends[i]));
		KUNIT_EXPECT_TRUE(test, signature_ends(last + 2));
		last[5] ^= 1;
		KUNIT_EXPECT_FALSE(test, signature_ends(last + 2));
	}
}

static void random_data_looks_like_none_of_these(struct kunit *test)
{
	static u64 block[SIGNATURE_PAGE / 8];
	struct rnd rnd = { .state = 5 };
	unsigned int turn, i;

	for (turn = 0; turn < 1000; turn++) {
		for (i = 0; i < SIGNATURE_PAGE / 8; i++)
			block[i] = rnd_next(&rnd);
		KUNIT_EXPECT_FALSE(test, signature_begins(block));
		KUNIT_EXPECT_FALSE(test, signature_ends(block + SIGNATURE_PAGE / 8 - 1));
		KUNIT_EXPECT_FALSE(test, ext_looks_like_quota(block, 1024));
	}
}

static struct kunit_case signature_cases[] = {
	KUNIT_CASE(what_the_kernel_takes_for_its_own_is_known_by_its_beginning),
	KUNIT_CASE(a_swap_area_is_known_by_the_end_of_its_first_page),
	KUNIT_CASE(random_data_looks_like_none_of_these),
	{}
};

static struct kunit_suite signature_suite = {
	.name = "signature",
	.test_cases = signature_cases,
};

kunit_test_suite(signature_suite);
