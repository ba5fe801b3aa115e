// SPDX-License-Identifier: GPL-2.0
/*
 * Content: however requests are cut, a place reads the same; and what is said
 * to be incompressible repeats nothing. (Real compressors try it in
 * tests/unit/compressors.)
 */
#include <kunit/test.h>

#include "../../dm-david/content.h"
#include "random.h"

#ifdef __KERNEL__
#define CUTS	2000
#define PAGES	128
#else
#define CUTS	40000
#define PAGES	1024
#endif

#define WHOLE	(4 * 4096)

static void any_cut_reads_the_same(struct kunit *test)
{
	static const u64 sectors[] = { 0, 1, 7, 8, 12345, 1ULL << 31, (1ULL << 40) - 3 };
	u8 *whole = kvzalloc(WHOLE, GFP_KERNEL), *piece = kvzalloc(WHOLE + 2, GFP_KERNEL);
	struct rnd rnd = { 1 };
	unsigned int i, j;

	KUNIT_ASSERT_NOT_NULL(test, whole);
	KUNIT_ASSERT_NOT_NULL(test, piece);
	for (i = 0; i < ARRAY_SIZE(sectors); i++) {
		content_fill(whole, CONTENT_INCOMPRESSIBLE, i, sectors[i], 0, WHOLE);
		for (j = 0; j < CUTS / ARRAY_SIZE(sectors); j++) {
			u32 at = rnd_below(&rnd, WHOLE), to_sector = rnd_below(&rnd, at / 512 + 1);
			u32 n = rnd_below(&rnd, rnd_below(&rnd, 2) ? 20 : WHOLE) % (WHOLE - at);

			memset(piece, 0x5a, n + 2);
			content_fill(piece + 1, CONTENT_INCOMPRESSIBLE, i, sectors[i] + to_sector,
				     at - to_sector * 512, n);
			KUNIT_ASSERT_EQ_MSG(test, memcmp(piece + 1, whole + at, n), 0,
					    "sector %llu + %u, bytes %u + %u",
					    (unsigned long long)sectors[i], to_sector, at, n);
			KUNIT_ASSERT_EQ(test, piece[0], 0x5a);
			KUNIT_ASSERT_EQ(test, piece[n + 1], 0x5a);
		}
	}
	kvfree(whole);
	kvfree(piece);
}

static void sink(u64 *heap, u32 i, u32 n)
{
	u32 kid;

	for (; (kid = 2 * i + 1) < n; i = kid) {
		u64 value = heap[i];

		kid += kid + 1 < n && heap[kid + 1] > heap[kid];
		if (value >= heap[kid])
			return;
		heap[i] = heap[kid];
		heap[kid] = value;
	}
}

static void sort(u64 *word, u32 n)
{
	u32 i;

	for (i = n / 2; i--;)
		sink(word, i, n);
	while (n--) {
		u64 last = word[n];

		word[n] = word[0];
		word[0] = last;
		sink(word, 0, n);
	}
}

/* Two stretches of one disk, and the same of another: no word twice. */
static void no_word_repeats_on_disks_with_different_seeds(struct kunit *test)
{
	u32 n = PAGES * 512, i;
	u64 *word = kvzalloc(n * 8, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, word);
	for (i = 0; i < 4; i++)
		content_fill(word + i * (n / 4), CONTENT_INCOMPRESSIBLE, i / 2,
			     i % 2 * (1ULL << 32), 0, n / 4 * 8);
	sort(word, n);
	for (i = 1; i < n; i++)
		KUNIT_ASSERT_NE(test, word[i - 1], word[i]);
	kvfree(word);
}

/* An entropy coder gains nothing: each byte value is about as frequent as the others. */
static void bytes_are_evenly_distributed(struct kunit *test)
{
	static u32 count[256];	/* too large for a kernel stack */
	u32 n = PAGES * 4096, i;
	u8 *byte = kvzalloc(n, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, byte);
	memset(count, 0, sizeof(count));
	content_fill(byte, CONTENT_INCOMPRESSIBLE, 7, 1000, 0, n);
	for (i = 0; i < n; i++)
		count[byte[i]]++;
	for (i = 0; i < 256; i++) {
		KUNIT_EXPECT_GE_MSG(test, count[i], n / 256 * 9 / 10, "byte %u", i);
		KUNIT_EXPECT_LE_MSG(test, count[i], n / 256 * 11 / 10, "byte %u", i);
	}
	kvfree(byte);
}

/* What was read yesterday must read the same tomorrow: a change of the generator is a new kind. */
static void content_is_for_ever(struct kunit *test)
{
	u64 word[2];

	content_fill(word, CONTENT_INCOMPRESSIBLE, 0, 0, 0, 16);
	KUNIT_EXPECT_EQ(test, word[0], cpu_to_le64(0x77e49dddfa30514eULL));
	KUNIT_EXPECT_EQ(test, word[1], cpu_to_le64(0x161c1797797acd63ULL));
	content_fill(word, CONTENT_INCOMPRESSIBLE, 42, 1ULL << 33, 4096 - 8, 16);
	KUNIT_EXPECT_EQ(test, word[0], cpu_to_le64(0x022b02c638be9c9aULL));
	KUNIT_EXPECT_EQ(test, word[1], cpu_to_le64(0xce641c52d649d0afULL));
}

static void zeros_are_zeros(struct kunit *test)
{
	u8 buf[100];
	u32 i;

	memset(buf, 1, sizeof(buf));
	content_fill(buf, CONTENT_ZEROS, 5, 9, 3, 99);
	for (i = 0; i < 99; i++)
		KUNIT_EXPECT_EQ(test, buf[i], 0);
	KUNIT_EXPECT_EQ(test, buf[99], 1);
}

static void kind_names_are_read_back(struct kunit *test)
{
	int kind;

	for (kind = 0; kind < CONTENT_KINDS; kind++)
		KUNIT_EXPECT_EQ(test, content_parse(content_name(kind)), kind);
	KUNIT_EXPECT_EQ(test, content_parse("ones"), -EINVAL);
	KUNIT_EXPECT_EQ(test, content_parse(""), -EINVAL);
	KUNIT_EXPECT_TRUE(test, !content_name(CONTENT_KINDS));
}

static struct kunit_case content_cases[] = {
	KUNIT_CASE(any_cut_reads_the_same),
	KUNIT_CASE(no_word_repeats_on_disks_with_different_seeds),
	KUNIT_CASE(bytes_are_evenly_distributed),
	KUNIT_CASE(content_is_for_ever),
	KUNIT_CASE(zeros_are_zeros),
	KUNIT_CASE(kind_names_are_read_back),
	{}
};

static struct kunit_suite content_suite = {
	.name = "content",
	.test_cases = content_cases,
};

kunit_test_suite(content_suite);
