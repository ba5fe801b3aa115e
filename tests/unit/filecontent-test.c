// SPDX-License-Identifier: GPL-2.0
/*
 * Content by file: however it is cut, a file reads the same. (Whether it is
 * well-formed, real parsers say in tests/unit/parsers.)
 */
#include <kunit/test.h>

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/filecontent.h"
#include "random.h"

#ifdef __KERNEL__
#define PIECES	40
#define FILES	4
#else
#define PIECES	300
#define FILES	25
#endif

#define MOST	(300u << 10)

static void cut_anywhere(struct kunit *test, struct rnd *rnd, const struct file_place *f,
			 u8 *whole, u8 *piece)
{
	u32 i;

	file_fill(whole, f, 0, f->size);
	for (i = 0; i < PIECES; i++) {
		u32 from = rnd_below(rnd, f->size + 10);
		u32 n = rnd_below(rnd, i % 2 ? 30 : 4097), in = 0;

		if (i % 8 == 0) {
			from &= ~4095u;		/* as pages */
			n = 4096;
		}
		memset(piece, 0x5a, n + 2);
		file_fill(piece + 1, f, from, n);
		if (from < f->size)
			in = min_t(u64, n, f->size - from);
		KUNIT_ASSERT_EQ_MSG(test, memcmp(piece + 1, whole + from, in), 0,
				    "%s of %llu bytes, %u bytes from %u on",
				    file_kind_name(f->kind), (unsigned long long)f->size, n, from);
		for (; in < n; in++)
			KUNIT_ASSERT_EQ(test, piece[in + 1], 0);
		KUNIT_ASSERT_EQ(test, piece[0], 0x5a);
		KUNIT_ASSERT_EQ(test, piece[n + 1], 0x5a);
	}
}

static void any_page_of_a_file_reads_the_same(struct kunit *test)
{
	u8 *whole = kvzalloc(MOST, GFP_KERNEL), *piece = kvzalloc(4100, GFP_KERNEL);
	struct rnd rnd = { 1 };
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, whole);
	KUNIT_ASSERT_NOT_NULL(test, piece);
	crc_setup();
	for (i = 0; i < FILES * FILE_KINDS; i++) {
		struct file_place f = { .kind = i % FILE_KINDS, .seed = i };

		if (i < 2 * FILE_KINDS)
			f.size = file_smallest(f.kind) - !(i / FILE_KINDS);
		else
			f.size = 1 + rnd_below(&rnd, i % 3 ? MOST : 5000);
		cut_anywhere(test, &rnd, &f, whole, piece);
	}
	kvfree(whole);
	kvfree(piece);
}

/* Those that are unpacked or shown: kinds with a body of pangrams are alike by nature. */
static void files_with_another_seed_are_others(struct kunit *test)
{
	u8 *one = kvzalloc(8192, GFP_KERNEL), *two = kvzalloc(8192, GFP_KERNEL);
	struct file_place f = { .size = 1 << 20 };
	u32 kind;

	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_ASSERT_NOT_NULL(test, two);
	crc_setup();
	for (kind = FILE_TEXT; kind < FILE_KINDS; kind++) {
		f.kind = kind;
		f.seed = 1;
		file_fill(one, &f, 8192, 8192);
		f.seed = 2;
		file_fill(two, &f, 8192, 8192);
		KUNIT_EXPECT_NE(test, memcmp(one, two, 8192), 0);
	}
	kvfree(one);
	kvfree(two);
}

/* Offsets in a PDF of 5 TB, whose end is computed alone. */
static void a_terabyte_has_its_end(struct kunit *test)
{
	struct file_place f = { .kind = FILE_PDF, .size = 5ULL << 40, .seed = 1 };
	char *p = kvzalloc(4097, GFP_KERNEL);
	unsigned long long xref = 0;
	char *found;

	KUNIT_ASSERT_NOT_NULL(test, p);
	crc_setup();
	file_fill(p, &f, f.size - 4096, 4096);
	for (found = p + 4096 - 100; found < p + 4096 && memcmp(found, "startxref\n", 10); found++)
		;
	KUNIT_ASSERT_TRUE(test, found < p + 4096);
	for (found += 10; *found >= '0' && *found <= '9'; found++)
		xref = xref * 10 + (*found - '0');
	KUNIT_ASSERT_GE(test, xref, f.size - 4096);
	KUNIT_ASSERT_TRUE(test, xref < f.size);
	KUNIT_EXPECT_EQ(test, memcmp(p + (xref - (f.size - 4096)), "xref\n0 7\n", 9), 0);
	KUNIT_EXPECT_EQ(test, memcmp(p + 4096 - 6, "%%EOF\n", 6), 0);

	f.kind = FILE_GZIP;
	file_fill(p, &f, f.size - 4096, 4096);
	f.kind = FILE_JPEG;
	file_fill(p, &f, f.size - 4096, 4096);
	KUNIT_EXPECT_EQ(test, memcmp(p + 4094, "\xff\xd9", 2), 0);
	kvfree(p);
}

static struct kunit_case filecontent_cases[] = {
	KUNIT_CASE(any_page_of_a_file_reads_the_same),
	KUNIT_CASE(files_with_another_seed_are_others),
	KUNIT_CASE(a_terabyte_has_its_end),
	{}
};

static struct kunit_suite filecontent_suite = {
	.name = "filecontent",
	.test_cases = filecontent_cases,
};

kunit_test_suite(filecontent_suite);
