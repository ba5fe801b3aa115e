// SPDX-License-Identifier: GPL-2.0
/* Kinds of blocks against a plain array, and that chunks which are all alike take no room. */
#include <kunit/test.h>

#include "../../tools/classify/kinds.h"
#include "random.h"

#define BLOCKS	(5 * KINDS_CHUNK + 77)

static u8 plain[BLOCKS];

static unsigned int chunks(const struct kinds *k)
{
	unsigned int i, n = 0;

	for (i = 0; i <= BLOCKS / KINDS_CHUNK; i++)
		n += !!k->chunk[i];
	return n;
}

static void kinds_are_those_of_a_plain_array(struct kunit *test)
{
	struct rnd rnd = { 7 };
	struct kinds k;
	unsigned int i;
	u32 block;

	memset(plain, 0, sizeof(plain));
	kinds_init(&k, BLOCKS);
	for (i = 0; i < 400; i++) {
		u32 at = rnd_below(&rnd, 2) ? rnd_below(&rnd, BLOCKS) :
			 rnd_below(&rnd, 5) * KINDS_CHUNK;
		u32 n = rnd_below(&rnd, i % 3 ? 50 : BLOCKS - at) + 1;
		u8 kind = rnd_below(&rnd, 6), over = rnd_below(&rnd, 6), or = rnd_below(&rnd, 6);

		n = min(n, BLOCKS - at);
		kinds_claim(&k, at, n, kind, over, or);
		for (block = at; block < at + n; block++)
			if (plain[block] == over || plain[block] == or)
				plain[block] = kind;
		block = rnd_below(&rnd, BLOCKS);
		kinds_set(&k, block, kind);
		plain[block] = kind;
		for (block = 0; block < BLOCKS; block++)
			KUNIT_ASSERT_EQ(test, plain[block], kinds_at(&k, block));
	}
	kinds_free(&k);
}

static void chunks_that_are_all_alike_take_no_room(struct kunit *test)
{
	struct kinds k;
	u32 block;

	kinds_init(&k, BLOCKS);
	kinds_claim(&k, 0, BLOCKS, 3, 0, 0);
	/* The last chunk is not whole. */
	KUNIT_EXPECT_EQ(test, 1u, chunks(&k));
	for (block = 0; block < 4 * KINDS_CHUNK; block++)
		kinds_set(&k, block, 4);
	KUNIT_EXPECT_EQ(test, 1u, chunks(&k));
	kinds_set(&k, 5, 1);
	KUNIT_EXPECT_EQ(test, 2u, chunks(&k));
	kinds_free(&k);
}

static struct kunit_case kinds_cases[] = {
	KUNIT_CASE(kinds_are_those_of_a_plain_array),
	KUNIT_CASE(chunks_that_are_all_alike_take_no_room),
	{}
};

static struct kunit_suite kinds_suite = {
	.name = "kinds",
	.test_cases = kinds_cases,
};

kunit_test_suite(kinds_suite);
