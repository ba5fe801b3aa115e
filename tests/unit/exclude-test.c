// SPDX-License-Identifier: GPL-2.0
/* Every kind of metadata that has a form looks like it; data does not. */
#include <kunit/test.h>

#include "../../classifier/ext/exclude.h"
#include "random.h"

#define BLOCK	4096u

static u64 words[BLOCK / 8];
static u8 *const block = (u8 *)words;

static const struct ext_geo geo = { .blocks = 1 << 28, .block_bits = 12 };
static const struct ext_geo small = { .blocks = 1 << 18, .block_bits = 10, .first_data = 1 };

static bool kept(const struct ext_geo *g)
{
	enum ext_look look = ext_look(g, block);

	return look != EXT_LOOK_NONE && look != EXT_LOOK_DOUBTFUL;
}

static void noise(struct rnd *rnd, u32 from)
{
	u32 i;

	for (i = from; i < BLOCK; i++)
		block[i] = rnd_next(rnd) >> 56;
}

static void le16_at(u32 at, u32 value)
{
	__le16 word = cpu_to_le16(value);

	memcpy(block + at, &word, sizeof(word));
}

static void le32_at(u32 at, u32 value)
{
	__le32 word = cpu_to_le32(value);

	memcpy(block + at, &word, sizeof(word));
}

static void entry(u32 at, u32 ino, u32 len)
{
	le32_at(at, ino);
	le16_at(at + 4, len);
}

static void directories_are_kept(struct kunit *test)
{
	struct rnd rnd = { 1 };
	u32 round, at, len;

	/* Any chain of entries, whatever names and numbers are in it. */
	for (round = 0; round < 200; round++) {
		noise(&rnd, 0);
		for (at = 0; at < BLOCK; at += len) {
			len = 4 * (3 + rnd_below(&rnd, 60));
			if (BLOCK - at - len < 12 || len > BLOCK - at)
				len = BLOCK - at;
			le16_at(at + 4, len);
		}
		KUNIT_ASSERT_TRUE(test, kept(&geo));
	}
	/* The hash tree's root, and its other nodes. */
	noise(&rnd, 0);
	entry(0, 12, 12);
	entry(12, 2, BLOCK - 12);
	KUNIT_EXPECT_EQ(test, ext_look(&geo, block), EXT_LOOK_DIRECTORY);
	noise(&rnd, 0);
	entry(0, 0, BLOCK);
	KUNIT_EXPECT_EQ(test, ext_look(&geo, block), EXT_LOOK_DIRECTORY);
	/* Empty, with the checksum behind it. */
	memset(block, 0, BLOCK);
	entry(0, 0, BLOCK - 12);
	entry(BLOCK - 12, 0, 12);
	le32_at(BLOCK - 4, 0xdeadbeef);
	KUNIT_EXPECT_EQ(test, ext_look(&geo, block), EXT_LOOK_DIRECTORY);
	/* One byte short of the end is none. */
	noise(&rnd, 0);
	entry(0, 12, 12);
	entry(12, 2, BLOCK - 16);
	le32_at(BLOCK - 4, 0);
	KUNIT_EXPECT_FALSE(test, kept(&geo));
}

static void block_numbers_are_kept(struct kunit *test)
{
	struct rnd rnd = { 2 };
	u32 round, i;

	for (round = 0; round < 200; round++) {
		u32 n = 1 + rnd_below(&rnd, BLOCK / 4);

		memset(block, 0, BLOCK);
		for (i = 0; i < n; i++)
			le32_at(4 * rnd_below(&rnd, BLOCK / 4), rnd_below(&rnd, 1 << 28));
		le32_at(0, (1 << 28) - 1);
		KUNIT_ASSERT_TRUE(test, kept(&geo));
	}
	memset(block, 0, 1024);
	le32_at(400, 1 << 18);
	le32_at(4, 1 << 17);
	KUNIT_EXPECT_NE(test, ext_look(&small, block), EXT_LOOK_INDIRECT);
	le32_at(400, 0xf0000000);
	KUNIT_EXPECT_EQ(test, ext_look(&small, block), EXT_LOOK_NONE);
	le32_at(400, (1 << 18) - 1);
	KUNIT_EXPECT_EQ(test, ext_look(&small, block), EXT_LOOK_INDIRECT);
}

static void what_has_a_magic_number_is_kept(struct kunit *test)
{
	static const u8 head[][4] = {
		{ 0x0a, 0xf3, 1, 0 },			/* extent node */
		{ 0x00, 0x00, 0x02, 0xea },		/* attributes */
		{ 0xc0, 0x3b, 0x39, 0x98 },		/* journal */
		{ 0x11, 0x1f, 0xc0, 0xd9 },		/* user quota */
		{ 0x27, 0x19, 0xc0, 0xd9 },
		{ 0x14, 0x3f, 0xc0, 0xd9 },
	};
	struct rnd rnd = { 3 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(head); i++) {
		noise(&rnd, 0);
		KUNIT_EXPECT_FALSE(test, kept(&geo));
		memcpy(block, head[i], 4);
		KUNIT_EXPECT_EQ(test, ext_look(&geo, block), EXT_LOOK_MAGIC);
	}
	noise(&rnd, 0);
	le32_at(BLOCK - 8, 0x0b10ca04);
	KUNIT_EXPECT_EQ(test, ext_look(&geo, block), EXT_LOOK_MAGIC);
}

static void targets_of_symbolic_links_are_kept(struct kunit *test)
{
	u32 len;

	for (len = 60; len < BLOCK; len++) {
		memset(block, 0, BLOCK);
		memset(block, 'z', len);
		KUNIT_ASSERT_TRUE(test, kept(&geo));
	}
	/* Whatever a buffer held before stands behind one that ext4 writes. */
	memset(block, 'z', BLOCK);
	block[70] = 0;
	KUNIT_EXPECT_EQ(test, ext_look(&geo, block), EXT_LOOK_DOUBTFUL);
	/* Longer than any, shorter than any that is not in its inode, and not ended. */
	memset(block, 'z', BLOCK);
	KUNIT_EXPECT_FALSE(test, kept(&geo));
	memset(block + 59, 0, BLOCK - 59);
	KUNIT_EXPECT_FALSE(test, kept(&geo));
	memset(block, 'z', BLOCK / 2);
	block[BLOCK - 100] = 'z';
	KUNIT_EXPECT_FALSE(test, kept(&geo));
}

static void quota_files_are_kept(struct kunit *test)
{
	struct rnd rnd = { 5 };
	u32 piece, i, at;

	/* New format: a block of records, one of the tree, an empty one, another of records. */
	memset(block, 0, BLOCK);
	for (piece = 0; piece < BLOCK; piece += 1024) {
		switch (piece / 1024) {
		case 1:
			for (i = 0; i < 256; i++)
				le32_at(piece + 4 * i, rnd_below(&rnd, 3000));
			break;
		case 2:
			memset(block + piece, 0, 1024);
			le32_at(piece, 17);
			break;
		default:
			noise(&rnd, piece);
			le32_at(piece, 0);
			le32_at(piece + 4, 9);
			le32_at(piece + 8, 14);
			le32_at(piece + 12, 0);
		}
	}
	memset(block + 1024, 0, 8);
	KUNIT_EXPECT_TRUE(test, kept(&geo));
	/* Old format: limits, use, and two times. */
	for (at = 0; at < BLOCK; at += 32) {
		for (i = 0; i < 3; i++)
			le32_at(at + 4 * i, rnd_next(&rnd));
		for (; i < 6; i++)
			le32_at(at + 4 * i, rnd_below(&rnd, 1 << 30));
		le32_at(at + 24, rnd_below(&rnd, 2) ? 1700000000 + i : 0);
		le32_at(at + 28, rnd_below(&rnd, 2) ? 604800 : 0);
	}
	KUNIT_EXPECT_TRUE(test, kept(&geo));
}

/* A block of numbers, one of which is the magic number: kept, but no tool has written it. */
static void attributes_are_formed_if_they_have_a_header(struct kunit *test)
{
	struct rnd rnd = { 7 };

	noise(&rnd, 0);
	le32_at(0, 0xea020000);
	le32_at(4, 1);
	le32_at(8, 1);
	KUNIT_EXPECT_TRUE(test, kept(&geo));
	KUNIT_EXPECT_TRUE(test, ext_is_formed(&geo, block));
	le32_at(8, 2);
	KUNIT_EXPECT_FALSE(test, ext_is_formed(&geo, block));
	le32_at(4, 0);
	le32_at(8, 1);
	KUNIT_EXPECT_TRUE(test, kept(&geo));
	KUNIT_EXPECT_FALSE(test, ext_is_formed(&geo, block));
}

static void data_is_not_taken_for_metadata(struct kunit *test)
{
	static const char text[] = "It was a bright cold day in April, and clocks struck. ";
	struct rnd rnd = { 6 };
	u32 i, count = 0;

	for (i = 0; i < 5000; i++) {
		noise(&rnd, 0);
		count += kept(&geo);
		/* Zeros in front, and behind. */
		memset(block, 0, rnd_below(&rnd, 3000));
		count += kept(&geo);
		noise(&rnd, 0);
		memset(block + 1500, 0, BLOCK - 1500);
		count += kept(&geo);
	}
	KUNIT_EXPECT_LE(test, count, 15000 / 200);
	for (i = 0; i < BLOCK; i++)
		block[i] = text[i % (sizeof(text) - 1)];
	KUNIT_EXPECT_FALSE(test, kept(&geo));
}

static struct kunit_case exclude_cases[] = {
	KUNIT_CASE(directories_are_kept),
	KUNIT_CASE(block_numbers_are_kept),
	KUNIT_CASE(what_has_a_magic_number_is_kept),
	KUNIT_CASE(targets_of_symbolic_links_are_kept),
	KUNIT_CASE(quota_files_are_kept),
	KUNIT_CASE(attributes_are_formed_if_they_have_a_header),
	KUNIT_CASE(data_is_not_taken_for_metadata),
	{}
};

static struct kunit_suite exclude_suite = {
	.name = "exclude",
	.test_cases = exclude_cases,
};

kunit_test_suite(exclude_suite);
