// SPDX-License-Identifier: GPL-2.0
/*
 * Content: however requests are cut, a place reads the same; and what is said
 * to be incompressible repeats nothing. (Real compressors try it in
 * tests/unit/compressors.)
 */
#include <kunit/test.h>

#include "../../dm-david/lib/content.h"
#include "random.h"

#ifdef __KERNEL__
#define CUTS	2000
#define PAGES	128
#else
#define CUTS	40000
#define PAGES	1024
#endif

#define WHOLE	(4 * 4096)

static const struct content incompressible = { .kind = CONTENT_INCOMPRESSIBLE };

/* One of each kind; an odd ratio, so that the front of a page ends within a word. */
static const struct content kinds[] = {
	{ .kind = CONTENT_ZEROS },
	{ .kind = CONTENT_INCOMPRESSIBLE },
	{ .kind = CONTENT_COMPRESSIBLE, .ratio = 333 },
	{ .kind = CONTENT_COMPRESSIBLE, .ratio = CONTENT_MIN_RATIO },
	{ .kind = CONTENT_TEXT },
	{ .kind = CONTENT_PATTERN, .word = "\x01\x23\x45\x67\x89\xab\xcd" },
	{ .kind = CONTENT_STAMP },
};

static void cut_anywhere(struct kunit *test, const struct content *c)
{
	static const u64 sectors[] = { 0, 1, 7, 8, 12345, 1ULL << 31, (1ULL << 40) - 3 };
	u8 *whole = kvzalloc(WHOLE, GFP_KERNEL), *piece = kvzalloc(WHOLE + 2, GFP_KERNEL);
	struct rnd rnd = { 1 };
	unsigned int i, j;

	KUNIT_ASSERT_NOT_NULL(test, whole);
	KUNIT_ASSERT_NOT_NULL(test, piece);
	for (i = 0; i < ARRAY_SIZE(sectors); i++) {
		content_fill(whole, c, i, sectors[i], 0, WHOLE);
		for (j = 0; j < CUTS / ARRAY_SIZE(sectors) / ARRAY_SIZE(kinds); j++) {
			u32 at = rnd_below(&rnd, WHOLE), to_sector = rnd_below(&rnd, at / 512 + 1);
			u32 n = rnd_below(&rnd, rnd_below(&rnd, 2) ? 20 : WHOLE) % (WHOLE - at);

			memset(piece, 0x5a, n + 2);
			content_fill(piece + 1, c, i, sectors[i] + to_sector,
				     at - to_sector * 512, n);
			KUNIT_ASSERT_EQ_MSG(test, memcmp(piece + 1, whole + at, n), 0,
					    "%s, sector %llu + %u, bytes %u + %u",
					    content_name(c->kind),
					    (unsigned long long)sectors[i], to_sector, at, n);
			KUNIT_ASSERT_EQ(test, piece[0], 0x5a);
			KUNIT_ASSERT_EQ(test, piece[n + 1], 0x5a);
		}
	}
	kvfree(whole);
	kvfree(piece);
}

static void any_cut_reads_the_same(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		cut_anywhere(test, &kinds[i]);
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
		content_fill(word + i * (n / 4), &incompressible, i / 2,
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
	content_fill(byte, &incompressible, 7, 1000, 0, n);
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

	content_fill(word, &incompressible, 0, 0, 0, 16);
	KUNIT_EXPECT_EQ(test, word[0], cpu_to_le64(0x77e49dddfa30514eULL));
	KUNIT_EXPECT_EQ(test, word[1], cpu_to_le64(0x161c1797797acd63ULL));
	content_fill(word, &incompressible, 42, 1ULL << 33, 4096 - 8, 16);
	KUNIT_EXPECT_EQ(test, word[0], cpu_to_le64(0x022b02c638be9c9aULL));
	KUNIT_EXPECT_EQ(test, word[1], cpu_to_le64(0xce641c52d649d0afULL));
	content_fill(word, &kinds[4], 42, 1ULL << 33, 4096, 16);
	KUNIT_EXPECT_EQ(test, memcmp(word, "Two driven jocks", 16), 0);
}

static void a_page_begins_with_the_mark_of_its_seed(struct kunit *test)
{
	struct rnd rnd = { 3 };
	unsigned int i, kind;
	__le64 word;

	for (i = 0; i < CUTS; i++) {
		u64 seed = rnd_next(&rnd), page = rnd_next(&rnd) >> 24;

		for (kind = 1; kind <= 3; kind++) {
			content_fill(&word, &kinds[kind], seed, page * 8, 0, sizeof(word));
			KUNIT_ASSERT_EQ(test, le64_to_cpu(word) & CONTENT_MARK, content_mark(seed));
		}
	}
}

static void zeros_are_zeros(struct kunit *test)
{
	u8 buf[100];
	u32 i;

	memset(buf, 1, sizeof(buf));
	content_fill(buf, &kinds[0], 5, 9, 3, 99);
	for (i = 0; i < 99; i++)
		KUNIT_EXPECT_EQ(test, buf[i], 0);
	KUNIT_EXPECT_EQ(test, buf[99], 1);
}

static void compressible_content_is_the_ratios_share_and_zeros(struct kunit *test)
{
	u8 *page = kvzalloc(4096, GFP_KERNEL), *other = kvzalloc(4096, GFP_KERNEL);
	u32 ratio, n;

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_NOT_NULL(test, other);
	content_fill(other, &incompressible, 9, 80, 0, 4096);
	for (ratio = CONTENT_MIN_RATIO; ratio <= CONTENT_MAX_RATIO; ratio++) {
		struct content c = { .kind = CONTENT_COMPRESSIBLE, .ratio = ratio };

		content_fill(page, &c, 9, 80, 0, 4096);
		for (n = 4096; n && !page[n - 1]; n--)
			;
		KUNIT_ASSERT_EQ(test, memcmp(page, other, n), 0);
		KUNIT_ASSERT_LE(test, n, ratio * 4096 / 1000);
		KUNIT_ASSERT_GE(test, n + 48, ratio * 4096 / 1000);
	}
	KUNIT_EXPECT_GE(test, n, 4090);	/* 1000: nothing is left for zeros */
	kvfree(page);
	kvfree(other);
}

/* Each line has all letters, is plain ASCII, and may stand in JSON and HTML as it is. */
static void text_is_lines_of_pangrams(struct kunit *test)
{
	static const struct content text = { .kind = CONTENT_TEXT };
	u32 n = 64 * 4096, i, seen = 0, line;
	u64 different = 0;
	u8 *p = kvzalloc(n, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	content_fill(p, &text, 3, 1 << 20, 0, n);
	for (line = 0; line < n / 64; line++) {
		const u8 *byte = p + 64 * line;

		seen = 0;
		for (i = 0; i < 63; i++) {
			u8 c = byte[i];

			KUNIT_ASSERT_TRUE(test, c >= ' ' && c < 127 && c != '"' && c != '<' &&
					  c != '>' && c != '&' && c != '\\');
			if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
				seen |= 1u << ((c | 0x20) - 'a');
		}
		KUNIT_ASSERT_EQ_MSG(test, seen, (1u << 26) - 1, "line %u: %.63s", line, byte);
		KUNIT_ASSERT_EQ(test, byte[63], '\n');
		different += line && memcmp(byte, byte - 64, 64);
	}
	KUNIT_EXPECT_GE(test, different, n / 64 * 9 / 10);
	kvfree(p);
}

static void pattern_and_stamp_are_what_they_say(struct kunit *test)
{
	static const struct content stamp = { .kind = CONTENT_STAMP };
	struct content c = { .kind = CONTENT_ZEROS };
	u8 buf[24];
	__le64 word;

	KUNIT_ASSERT_TRUE(test, !content_parse("pattern:0123", &c));
	content_fill(buf, &c, 3, 5, 1, sizeof(buf));
	KUNIT_EXPECT_EQ(test, memcmp(buf, "\x23\x01\x23\x01", 4), 0);
	KUNIT_EXPECT_EQ(test, buf[23], 0x01);
	content_fill(buf, &stamp, 3, 1ULL << 40, 504, 16);
	word = cpu_to_le64(1ULL << 40);
	KUNIT_EXPECT_EQ(test, memcmp(buf, &word, 8), 0);
	word = cpu_to_le64((1ULL << 40) + 1);
	KUNIT_EXPECT_EQ(test, memcmp(buf + 8, &word, 8), 0);
}

static void kinds_are_read_back(struct kunit *test)
{
	static const char * const same[] = {
		"zeros", "incompressible", "text", "stamp",
		"compressible:20", "compressible:1000", "pattern:00ff23456789abcd",
	};
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "unknown kind" },
		{ "ones", "unknown kind" },
		{ "zero", "unknown kind" },
		{ "text ", "unknown kind" },
		{ "text:", "only compressible" },
		{ "compressible", "compressible: wants a ratio" },
		{ "compressible:", "compressible: wants a ratio" },
		{ "compressible:19", "compressible: wants a ratio" },
		{ "compressible:1001", "compressible: wants a ratio" },
		{ "compressible:00300", "compressible: wants a ratio" },
		{ "compressible:30%", "compressible: wants a ratio" },
		{ "pattern", "pattern: wants" },
		{ "pattern:f", "pattern: wants" },
		{ "pattern:fg", "pattern: wants" },
		{ "pattern:123456", "pattern: wants" },
		{ "pattern:0123456789abcdef01", "pattern: wants" },
	};
	struct content c = { .kind = CONTENT_STAMP };
	char text[CONTENT_TEXT_SIZE];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *error = content_parse(bad[i].text, &c);

		KUNIT_ASSERT_NOT_NULL(test, error);
		KUNIT_EXPECT_EQ_MSG(test, strncmp(error, bad[i].says, strlen(bad[i].says)), 0,
				    "%s: %s", bad[i].text, error);
		KUNIT_EXPECT_EQ(test, c.kind, CONTENT_STAMP);
	}
	for (i = 0; i < ARRAY_SIZE(same); i++) {
		KUNIT_EXPECT_TRUE(test, !content_parse(same[i], &c));
		content_print(&c, text, sizeof(text));
		KUNIT_EXPECT_STREQ(test, text, same[i]);
	}
	KUNIT_EXPECT_TRUE(test, !content_parse("pattern:AB", &c));
	content_print(&c, text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text, "pattern:abababababababab");
	KUNIT_EXPECT_TRUE(test, !content_name(CONTENT_KINDS));
}

static struct kunit_case content_cases[] = {
	KUNIT_CASE(any_cut_reads_the_same),
	KUNIT_CASE(no_word_repeats_on_disks_with_different_seeds),
	KUNIT_CASE(bytes_are_evenly_distributed),
	KUNIT_CASE(content_is_for_ever),
	KUNIT_CASE(a_page_begins_with_the_mark_of_its_seed),
	KUNIT_CASE(zeros_are_zeros),
	KUNIT_CASE(compressible_content_is_the_ratios_share_and_zeros),
	KUNIT_CASE(text_is_lines_of_pangrams),
	KUNIT_CASE(pattern_and_stamp_are_what_they_say),
	KUNIT_CASE(kinds_are_read_back),
	{}
};

static struct kunit_suite content_suite = {
	.name = "content",
	.test_cases = content_cases,
};

kunit_test_suite(content_suite);
