// SPDX-License-Identifier: GPL-2.0
/* Checksums: against published values and the definition bit by bit; and forged ones. */
#include <kunit/test.h>

#include "../../dm-david/lib/content.h"
#include "../../dm-david/lib/crcforge.h"
#include "random.h"

#ifdef __KERNEL__
#define ROUNDS	200
#else
#define ROUNDS	2000
#endif

#define MOST	9000

/* The definition. */
static u32 slowly(u32 poly, u32 state, const u8 *p, u32 len)
{
	u32 i;

	while (len--) {
		state ^= *p++;
		for (i = 0; i < 8; i++)
			state = state >> 1 ^ (state & 1 ? poly : 0);
	}
	return state;
}

static u8 *random_bytes(struct rnd *rnd, u32 len)
{
	u8 *p = kvzalloc(len, GFP_KERNEL);
	u32 i;

	for (i = 0; p && i < len; i++)
		p[i] = rnd_next(rnd);
	return p;
}

/* The check values of the catalogue of parametrised CRC algorithms, and RFC 3720, B.4. */
static void known_values(struct kunit *test)
{
	u8 buf[32];
	int i;

	crc_setup();
	KUNIT_EXPECT_EQ(test, crc_of(CRC_32C, "123456789", 9), 0xe3069283);
	KUNIT_EXPECT_EQ(test, crc_of(CRC_32, "123456789", 9), 0xcbf43926);
	memset(buf, 0, 32);
	KUNIT_EXPECT_EQ(test, crc_of(CRC_32C, buf, 32), 0x8a9136aa);
	memset(buf, 0xff, 32);
	KUNIT_EXPECT_EQ(test, crc_of(CRC_32C, buf, 32), 0x62a8ab43);
	for (i = 0; i < 32; i++)
		buf[i] = i;
	KUNIT_EXPECT_EQ(test, crc_of(CRC_32C, buf, 32), 0x46dd794e);
}

static void cpu_and_table_agree_with_the_definition(struct kunit *test)
{
	struct rnd rnd = { 1 };
	u8 *p = random_bytes(&rnd, MOST + 8);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	crc_setup();
	for (i = 0; i < ROUNDS; i++) {
		u32 at = rnd_below(&rnd, 8), state = rnd_next(&rnd);
		u32 len = rnd_below(&rnd, rnd_below(&rnd, 2) ? 40 : MOST);
		u32 want = slowly(0x82f63b78, state, p + at, len);

		crc_use_cpu(i & 1);
		KUNIT_ASSERT_EQ_MSG(test, crc_update(CRC_32C, state, p + at, len), want,
				    "crc32c, %u bytes, CPU %u", len, i & 1);
		want = slowly(0xedb88320, state, p + at, len);
		KUNIT_ASSERT_EQ_MSG(test, crc_update(CRC_32, state, p + at, len), want,
				    "crc32, %u bytes", len);
	}
	crc_setup();
	kvfree(p);
}

static void powers_stand_for_zero_bytes(struct kunit *test)
{
	u8 *zeros = kvzalloc(MOST, GFP_KERNEL);
	struct rnd rnd = { 2 };
	u32 i, kind;

	KUNIT_ASSERT_NOT_NULL(test, zeros);
	crc_setup();
	for (i = 0; i < ROUNDS / 4; i++) {
		u32 n = rnd_below(&rnd, MOST), state = rnd_next(&rnd);

		for (kind = 0; kind < CRC_KINDS; kind++) {
			u32 there = crc_multiply(kind, state, crc_power(kind, n));

			KUNIT_ASSERT_EQ(test, there, crc_update(kind, state, zeros, n));
			KUNIT_ASSERT_EQ(test, state,
					crc_multiply(kind, there, crc_inverse_power(kind, n)));
		}
	}
	/* x^(2^32 - 1) is 1 in crc32, and so is every power of it. */
	KUNIT_EXPECT_EQ(test, crc_power(CRC_32, 0xffffffffULL << 13), 1u << 31);
	kvfree(zeros);
}

/* Any checksum, any place, any content; and no byte but the 4 is touched. */
static void a_forged_block_has_the_checksum(struct kunit *test)
{
	static const u32 lens[] = { 4, 8, 512, 1024, 4096, 16384 };
	struct content c = { .kind = CONTENT_INCOMPRESSIBLE, .ratio = 300 };
	u8 *block = kvzalloc(16384 + 2, GFP_KERNEL), *plain = kvzalloc(16384, GFP_KERNEL);
	struct rnd rnd = { 3 };
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, block);
	KUNIT_ASSERT_NOT_NULL(test, plain);
	crc_setup();
	for (i = 0; i < ROUNDS; i++) {
		u32 len = lens[rnd_below(&rnd, ARRAY_SIZE(lens))], want = rnd_next(&rnd);
		u32 at = i % 3 ? len - 4 : rnd_below(&rnd, len / 4) * 4;
		struct crcforge f;

		c.kind = rnd_below(&rnd, CONTENT_KINDS);
		crc_use_cpu(i & 1);
		content_fill(plain, &c, 1, i, 0, len);
		memcpy(block + 1, plain, len);
		block[0] = 0x5a;
		block[len + 1] = 0x5a;
		crcforge_init(&f, len, at);
		crcforge_block(&f, block + 1, want);
		KUNIT_ASSERT_EQ(test, (u32)~slowly(0x82f63b78, ~0u, block + 1, len), want);
		memcpy(plain + at, block + 1 + at, 4);
		KUNIT_ASSERT_EQ(test, memcmp(plain, block + 1, len), 0);
		KUNIT_ASSERT_EQ(test, block[0], 0x5a);
		KUNIT_ASSERT_EQ(test, block[len + 1], 0x5a);
	}
	crc_setup();
	kvfree(block);
	kvfree(plain);
}

/* Its own checksum leaves a block as it is: what was generated verifies as it was generated. */
static void forging_its_own_checksum_changes_nothing(struct kunit *test)
{
	struct rnd rnd = { 4 };
	u8 *block = random_bytes(&rnd, 4096), last[4];
	struct crcforge f;

	KUNIT_ASSERT_NOT_NULL(test, block);
	crc_setup();
	crcforge_init(&f, 4096, 4092);
	memcpy(last, block + 4092, 4);
	crcforge_block(&f, block, crc_of(CRC_32C, block, 4096));
	KUNIT_EXPECT_EQ(test, memcmp(last, block + 4092, 4), 0);
	kvfree(block);
}

static void reads_beside_the_place_need_no_forging(struct kunit *test)
{
	struct crcforge f = { .len = 4096, .at = 4092 };

	KUNIT_EXPECT_FALSE(test, crcforge_touches(&f, 0, 4092));
	KUNIT_EXPECT_TRUE(test, crcforge_touches(&f, 0, 4093));
	KUNIT_EXPECT_TRUE(test, crcforge_touches(&f, 4095, 1));
	f.at = 8;
	KUNIT_EXPECT_FALSE(test, crcforge_touches(&f, 12, 4084));
	KUNIT_EXPECT_TRUE(test, crcforge_touches(&f, 11, 1));
	KUNIT_EXPECT_FALSE(test, crcforge_touches(&f, 0, 8));
}

static struct kunit_case crc_cases[] = {
	KUNIT_CASE(known_values),
	KUNIT_CASE(cpu_and_table_agree_with_the_definition),
	KUNIT_CASE(powers_stand_for_zero_bytes),
	KUNIT_CASE(a_forged_block_has_the_checksum),
	KUNIT_CASE(forging_its_own_checksum_changes_nothing),
	KUNIT_CASE(reads_beside_the_place_need_no_forging),
	{}
};

static struct kunit_suite crc_suite = {
	.name = "crc",
	.test_cases = crc_cases,
};

kunit_test_suite(crc_suite);
