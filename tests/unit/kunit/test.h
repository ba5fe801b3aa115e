/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel's <kunit/test.h> as the unit tests use, for user
 * space: the same test files build here, under sanitizers, and as real KUnit
 * in a kernel. A failed ASSERT ends its test, a failed EXPECT only marks it.
 */
#ifndef UNIT_KUNIT_TEST_H
#define UNIT_KUNIT_TEST_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../../dm-david/portable/portable-alloc.h"	/* the kernel's includes slab.h */

struct kunit {
	const char *name;
	bool failed;
	jmp_buf end;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;
	struct kunit_suite *next;
};

void unit_register(struct kunit_suite *suite);

#define KUNIT_CASE(fn)	{ .run_case = fn, .name = #fn }

#define kunit_test_suite(suite)						\
	static void __attribute__((constructor)) register_##suite(void)	\
	{								\
		unit_register(&(suite));				\
	}

#define kunit_info(test, fmt, ...)	\
	printf("    # %s: " fmt "\n", (test)->name, ##__VA_ARGS__)

#define UNIT_FAIL(test, end_it, text, fmt, ...)				\
	do {								\
		(test)->failed = true;					\
		printf("    # %s: %s:%d: %s" fmt "\n", (test)->name,	\
		       __FILE__, __LINE__, text, ##__VA_ARGS__);	\
		if (end_it)						\
			longjmp((test)->end, 1);			\
	} while (0)

#define UNIT_COMPARE(test, end_it, a, op, b, fmt, ...)			\
	do {								\
		typeof(a) a_ = (a);					\
		typeof(b) b_ = (b);					\
		if (!(a_ op b_))					\
			UNIT_FAIL(test, end_it,				\
				  "expected " #a " " #op " " #b,	\
				  ", but they are %lld and %lld. " fmt,	\
				  (long long)a_, (long long)b_,		\
				  ##__VA_ARGS__);			\
	} while (0)

#define UNIT_STREQ(test, end_it, a, b, fmt, ...)			\
	do {								\
		const char *a_ = (a), *b_ = (b);			\
		if (strcmp(a_, b_))					\
			UNIT_FAIL(test, end_it, "expected " #a " == " #b, \
				  ", but they are %s and %s. " fmt, a_, b_, \
				  ##__VA_ARGS__);			\
	} while (0)

#define KUNIT_FAIL(test, fmt, ...)	UNIT_FAIL(test, false, "", fmt, ##__VA_ARGS__)

#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...)	UNIT_COMPARE(test, false, a, ==, b, __VA_ARGS__)
#define KUNIT_EXPECT_NE_MSG(test, a, b, ...)	UNIT_COMPARE(test, false, a, !=, b, __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(test, a, b, ...)	UNIT_COMPARE(test, false, a, <=, b, __VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(test, a, b, ...)	UNIT_COMPARE(test, false, a, >=, b, __VA_ARGS__)
#define KUNIT_EXPECT_EQ(test, a, b)		UNIT_COMPARE(test, false, a, ==, b, "")
#define KUNIT_EXPECT_NE(test, a, b)		UNIT_COMPARE(test, false, a, !=, b, "")
#define KUNIT_EXPECT_LE(test, a, b)		UNIT_COMPARE(test, false, a, <=, b, "")
#define KUNIT_EXPECT_GE(test, a, b)		UNIT_COMPARE(test, false, a, >=, b, "")
#define KUNIT_EXPECT_TRUE(test, a)		UNIT_COMPARE(test, false, !!(a), ==, true, "")
#define KUNIT_EXPECT_FALSE(test, a)		UNIT_COMPARE(test, false, !!(a), ==, false, "")
#define KUNIT_EXPECT_STREQ(test, a, b)		UNIT_STREQ(test, false, a, b, "")

#define KUNIT_ASSERT_EQ_MSG(test, a, b, ...)	UNIT_COMPARE(test, true, a, ==, b, __VA_ARGS__)
#define KUNIT_ASSERT_NE_MSG(test, a, b, ...)	UNIT_COMPARE(test, true, a, !=, b, __VA_ARGS__)
#define KUNIT_ASSERT_LE_MSG(test, a, b, ...)	UNIT_COMPARE(test, true, a, <=, b, __VA_ARGS__)
#define KUNIT_ASSERT_GE_MSG(test, a, b, ...)	UNIT_COMPARE(test, true, a, >=, b, __VA_ARGS__)
#define KUNIT_ASSERT_EQ(test, a, b)		UNIT_COMPARE(test, true, a, ==, b, "")
#define KUNIT_ASSERT_NE(test, a, b)		UNIT_COMPARE(test, true, a, !=, b, "")
#define KUNIT_ASSERT_LE(test, a, b)		UNIT_COMPARE(test, true, a, <=, b, "")
#define KUNIT_ASSERT_GE(test, a, b)		UNIT_COMPARE(test, true, a, >=, b, "")
#define KUNIT_ASSERT_TRUE_MSG(test, a, ...)	\
	UNIT_COMPARE(test, true, !!(a), ==, true, __VA_ARGS__)
#define KUNIT_ASSERT_TRUE(test, a)		UNIT_COMPARE(test, true, !!(a), ==, true, "")
#define KUNIT_ASSERT_FALSE(test, a)		UNIT_COMPARE(test, true, !!(a), ==, false, "")
#define KUNIT_ASSERT_STREQ_MSG(test, a, b, ...)	UNIT_STREQ(test, true, a, b, __VA_ARGS__)
#define KUNIT_ASSERT_STREQ(test, a, b)		UNIT_STREQ(test, true, a, b, "")
#define KUNIT_ASSERT_NOT_NULL(test, a)		\
	UNIT_COMPARE(test, true, (uintptr_t)(a), !=, (uintptr_t)0, "")

#endif
