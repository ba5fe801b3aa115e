// SPDX-License-Identifier: GPL-2.0
/*
 * Packed blocks: what is coded is decoded to the same bytes. What was changed, cut or made up is
 * refused, or is another block, but never leads outside.
 */
#include <kunit/test.h>

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/pack.h"
#include "../../dm-david/portable/portable-alloc.h"
#include "random.h"

#ifdef __KERNEL__
#define ROUNDS	40
#else
#define ROUNDS	600
#endif

struct bench {
	struct squeeze *squeeze;
	struct pack_maker maker;
	u8 block[SQUEEZE_BLOCK], again[SQUEEZE_BLOCK], coded[SQUEEZE_BLOCK];
	u8 pack[PACK_BYTES], content[PACK_BYTES], copy[PACK_BYTES];
};

static struct bench *bench_new(struct kunit *test)
{
	struct bench *b = kvzalloc(sizeof(*b), GFP_KERNEL);

	crc_setup();
	KUNIT_ASSERT_TRUE(test, b);
	b->squeeze = squeeze_new(GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, b->squeeze);
	b->maker.pack = b->pack;
	b->maker.content = b->content;
	return b;
}

static void bench_free(struct bench *b)
{
	squeeze_free(b->squeeze);
	kvfree(b);
}

static void put_word(u8 *block, u32 i, u32 word)
{
	__le32 disk = cpu_to_le32(word);

	memcpy(block + 4 * i, &disk, sizeof(disk));
}

/* Like the blocks of file systems, and some that are like nothing. */
static void any_block(struct rnd *rnd, u8 *block)
{
	u32 kind = rnd_below(rnd, 7), word = rnd_next(rnd), run = 0, i, period;

	for (i = 0; i < SQUEEZE_BLOCK; i++)
		block[i] = rnd_next(rnd);
	switch (kind) {
	case 0:		/* runs of numbers */
		for (i = 0; i < SQUEEZE_BLOCK / 4; i++, word++) {
			if (!run--) {
				word = rnd_next(rnd);
				run = rnd_below(rnd, 1 + rnd_below(rnd, 1200));
			}
			put_word(block, i, word);
		}
		break;
	case 1:		/* zeros behind something */
		i = rnd_below(rnd, SQUEEZE_BLOCK);
		memset(block + i, rnd_below(rnd, 3), SQUEEZE_BLOCK - i);
		break;
	case 2:		/* records */
		period = 1 + rnd_below(rnd, 300);
		for (i = period; i < SQUEEZE_BLOCK; i++)
			if (rnd_below(rnd, 20))
				block[i] = block[i - period];
		break;
	case 3:		/* few different bytes */
		for (i = 0; i < SQUEEZE_BLOCK; i++)
			block[i] &= 3;
		break;
	case 4:		/* one byte */
		memset(block, rnd_next(rnd), SQUEEZE_BLOCK);
		block[rnd_below(rnd, SQUEEZE_BLOCK)]++;
		break;
	case 5:		/* numbers near each other */
		for (i = 0; i < SQUEEZE_BLOCK / 4; i++)
			put_word(block, i, word += rnd_below(rnd, 64) - 20);
		break;
	default:
		break;
	}
}

static void every_block_is_decoded_to_what_it_was(struct kunit *test)
{
	struct bench *b = bench_new(test);
	u32 round, len, room, kinds[SQUEEZE_KINDS] = { }, none = 0;
	struct rnd rnd = { 1 };
	enum squeeze_kind kind;

	for (round = 0; round < ROUNDS; round++) {
		any_block(&rnd, b->block);
		room = round % 2 ? SQUEEZE_BLOCK : rnd_below(&rnd, SQUEEZE_BLOCK + 1);
		memset(b->coded, 0x5a, sizeof(b->coded));
		len = squeeze_encode(b->squeeze, b->block, b->coded, room, &kind);
		KUNIT_ASSERT_LE(test, len, room);
		/* Nothing is written behind the room. */
		KUNIT_ASSERT_TRUE(test, room == SQUEEZE_BLOCK || b->coded[room] == 0x5a);
		if (!len) {
			none++;
			continue;
		}
		kinds[kind]++;
		KUNIT_ASSERT_TRUE(test, squeeze_decode(b->squeeze, kind, b->coded, len, b->again));
		KUNIT_ASSERT_TRUE_MSG(test, !memcmp(b->block, b->again, SQUEEZE_BLOCK),
				      "round %u", round);
	}
	KUNIT_EXPECT_GE(test, kinds[SQUEEZE_BYTES], 6u);
	KUNIT_EXPECT_GE(test, kinds[SQUEEZE_DELTAS], 6u);
	KUNIT_EXPECT_GE(test, none, 3u);
	bench_free(b);
}

/* The figure that all of it is for. */
static void numbers_that_count_up_take_few_bytes(struct kunit *test)
{
	struct bench *b = bench_new(test);
	enum squeeze_kind kind;
	u32 i;

	for (i = 0; i < SQUEEZE_BLOCK / 4; i++)
		put_word(b->block, i, 0x12345678 + i + (i > 500) * 77);
	KUNIT_EXPECT_LE(test, squeeze_encode(b->squeeze, b->block, b->coded, SQUEEZE_BLOCK, &kind),
			24u);
	KUNIT_EXPECT_EQ(test, (int)kind, (int)SQUEEZE_DELTAS);
	bench_free(b);
}

/* Under sanitizers: no byte outside. It ends, and what it makes of it is not told. */
static void any_input_is_decoded_within_bounds(struct kunit *test)
{
	struct bench *b = bench_new(test);
	struct rnd rnd = { 2 };
	u32 round, len, i, good = 0;
	enum squeeze_kind kind;
	u8 *exact;

	for (round = 0; round < ROUNDS; round++) {
		any_block(&rnd, b->block);
		len = squeeze_encode(b->squeeze, b->block, b->coded, SQUEEZE_BLOCK, &kind);
		if (!len || round % 3 == 2)
			len = rnd_below(&rnd, SQUEEZE_BLOCK);
		len = rnd_below(&rnd, 4) ? len : rnd_below(&rnd, len + 1);
		exact = kmalloc(len + !len, GFP_KERNEL);
		KUNIT_ASSERT_TRUE(test, exact);
		memcpy(exact, b->coded, len);
		for (i = rnd_below(&rnd, 4); len && i--;)
			exact[rnd_below(&rnd, len)] ^= 1 << rnd_below(&rnd, 8);
		good += squeeze_decode(b->squeeze, rnd_below(&rnd, SQUEEZE_KINDS + 1), exact, len,
				       b->again);
		kfree(exact);
	}
	KUNIT_EXPECT_GE(test, good, 1u);
	KUNIT_EXPECT_LE(test, good, round - 1);
	bench_free(b);
}

#define MOST	1000u

/* A pack of any blocks, those of every third number. Returns its pages. */
static u32 any_pack(struct kunit *test, struct bench *b, struct rnd *rnd, u32 *seeds, u64 number)
{
	u32 want = 1 + rnd_below(rnd, MOST - 1), seed;
	enum pack_added added;

	pack_begin(&b->maker);
	while (b->maker.pieces < want) {
		seed = rnd_next(rnd);
		any_block(&(struct rnd){ seed }, b->block);
		added = pack_add(&b->maker, b->squeeze, 5 + 3 * (u64)b->maker.pieces, b->block);
		if (added == PACK_FULL)
			break;
		if (added == PACK_ADDED)
			seeds[b->maker.pieces - 1] = seed;
	}
	KUNIT_ASSERT_GE(test, b->maker.pieces, 1u);
	return pack_seal(&b->maker, number);
}

static void every_block_is_found_in_its_pack(struct kunit *test)
{
	struct bench *b = bench_new(test);
	static u32 seeds[MOST];
	struct rnd rnd = { 3 };
	u32 round, pages, i;
	const char *wrong;

	for (round = 0; round < ROUNDS / 40; round++) {
		pages = any_pack(test, b, &rnd, seeds, round);
		KUNIT_ASSERT_LE(test, pages, PACK_PAGES);
		wrong = pack_check(b->pack, pages * SQUEEZE_BLOCK, round);
		KUNIT_ASSERT_STREQ(test, wrong ? wrong : "good", "good");
		KUNIT_ASSERT_TRUE(test, pack_check(b->pack, pages * SQUEEZE_BLOCK, round + 1));
		KUNIT_ASSERT_TRUE(test, pack_check(b->pack, (pages - 1) * SQUEEZE_BLOCK, round));
		KUNIT_ASSERT_EQ(test, pack_pieces(b->pack), b->maker.pieces);
		for (i = 0; i < b->maker.pieces; i++) {
			any_block(&(struct rnd){ seeds[i] }, b->block);
			wrong = pack_read(b->pack, b->squeeze, 5 + 3 * (u64)i, b->again);
			KUNIT_ASSERT_STREQ(test, wrong ? wrong : "good", "good");
			KUNIT_ASSERT_TRUE(test, !memcmp(b->block, b->again, SQUEEZE_BLOCK));
		}
		KUNIT_EXPECT_TRUE(test, pack_read(b->pack, b->squeeze, 6, b->again));
	}
	bench_free(b);
}

static void no_changed_byte_of_a_pack_goes_unseen(struct kunit *test)
{
	struct bench *b = bench_new(test);
	static u32 seeds[MOST];
	struct rnd rnd = { 4 };
	u32 pages = any_pack(test, b, &rnd, seeds, 9), bytes, i;

	bytes = le32_to_cpu(((struct pack_head *)b->pack)->bytes);
	memcpy(b->copy, b->pack, PACK_BYTES);
	for (i = 0; i < bytes; i += 1 + rnd_below(&rnd, 40)) {
		b->pack[i] ^= 1 << rnd_below(&rnd, 8);
		KUNIT_ASSERT_TRUE_MSG(test, pack_check(b->pack, pages * SQUEEZE_BLOCK, 9),
				      "byte %u", i);
		b->pack[i] = b->copy[i];
	}
	bench_free(b);
}

/* With a right checksum, as somebody who means ill would make it. */
static void a_pack_made_to_deceive_stays_within_bounds(struct kunit *test)
{
	struct bench *b = bench_new(test);
	struct pack_head *head = (struct pack_head *)b->copy;
	static u32 seeds[MOST];
	u32 round, bytes, i, refused = 0, differs = 0;
	struct rnd rnd = { 5 };

	for (round = 0; round < ROUNDS; round++) {
		if (round % 50 == 0)
			any_pack(test, b, &rnd, seeds, 1);
		memcpy(b->copy, b->pack, PACK_BYTES);
		for (i = 1 + rnd_below(&rnd, 3); i--;)
			b->copy[8 + rnd_below(&rnd, round % 2 ? 200 : PACK_BYTES - 8)] ^=
				1 << rnd_below(&rnd, 8);
		bytes = le32_to_cpu(head->bytes);
		if (bytes >= 4 && bytes <= PACK_BYTES)
			head->crc = cpu_to_le32(crc_of(CRC_32C, b->copy + 4, bytes - 4));
		if (pack_check(b->copy, PACK_BYTES, 1)) {
			refused++;
			continue;
		}
		for (i = 0; i < pack_pieces(b->copy); i++) {
			u64 block = le64_to_cpu(pack_piece_at(b->copy, i)->block);

			differs += !!pack_read(b->copy, b->squeeze, block, b->again);
		}
	}
	KUNIT_EXPECT_GE(test, refused, round / 10);
	KUNIT_EXPECT_GE(test, differs, 1u);
	bench_free(b);
}

static struct kunit_case pack_cases[] = {
	KUNIT_CASE(every_block_is_decoded_to_what_it_was),
	KUNIT_CASE(numbers_that_count_up_take_few_bytes),
	KUNIT_CASE(any_input_is_decoded_within_bounds),
	KUNIT_CASE(every_block_is_found_in_its_pack),
	KUNIT_CASE(no_changed_byte_of_a_pack_goes_unseen),
	KUNIT_CASE(a_pack_made_to_deceive_stays_within_bounds),
	{}
};

static struct kunit_suite pack_suite = {
	.name = "pack",
	.test_cases = pack_cases,
};

kunit_test_suite(pack_suite);
