// SPDX-License-Identifier: GPL-2.0
/* Where file systems end, by superblocks as their makers write them, and by ones that are none. */
#include <kunit/test.h>

#include "../../classifier/fsend.h"
#include "random.h"

static u8 super[FS_SUPER_BYTES];

static void put(u32 at, u64 value, u32 bytes, bool big)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		super[at + (big ? bytes - 1 - i : i)] = value >> (8 * i);
}

static void make(enum fs_kind kind)
{
	memset(super, 0, sizeof(super));
	switch (kind) {
	case FSEND_EXT:		/* 2^32 + 5 blocks of 4 KiB */
		put(0x4, 5, 4, false);
		put(0x18, 2, 4, false);
		put(0x38, 0xef53, 2, false);
		put(0x60, 0x80, 4, false);
		put(0x150, 1, 4, false);
		break;
	case FSEND_XFS:		/* 1000 blocks of 4 KiB */
		put(0, 0x58465342, 4, true);
		put(4, 4096, 4, true);
		put(8, 1000, 8, true);
		super[120] = 12;
		break;
	case FSEND_BTRFS:		/* 1 GiB */
		memcpy(super + 0x40, "_BHRfS_M", 8);
		put(0xd1, 1 << 30, 8, false);
		break;
	default:		/* 1000 blocks of 4 KiB */
		put(0, 0xf2f52010, 4, false);
		put(16, 12, 4, false);
		put(36, 1000, 8, false);
	}
}

static void each_superblock_tells_the_end_of_its_own_kind(struct kunit *test)
{
	static const u64 end[FSEND_KINDS] = {
		[FSEND_EXT] = ((1ULL << 32) + 5) * 8, [FSEND_XFS] = 8000,
		[FSEND_BTRFS] = 1 << 21, [FSEND_F2FS] = 8000,
	};
	enum fs_kind kind, other;

	for (kind = 0; kind < FSEND_KINDS; kind++) {
		make(kind);
		for (other = 0; other < FSEND_KINDS; other++)
			KUNIT_EXPECT_EQ(test, fs_end(other, super), other == kind ? end[kind] : 0);
		KUNIT_EXPECT_TRUE(test, fs_super_sector(kind) < FS_SUPERS_END);
	}
}

static void the_upper_half_of_exts_size_counts_with_64bit_only(struct kunit *test)
{
	make(FSEND_EXT);
	put(0x60, 0, 4, false);
	KUNIT_EXPECT_EQ(test, fs_end(FSEND_EXT, super), 40ULL);
}

static void a_size_that_makes_no_sense_is_none(struct kunit *test)
{
	struct rnd rnd = { .state = 3 };
	enum fs_kind kind;
	u32 turn;

	make(FSEND_XFS);
	put(8, U64_MAX, 8, true);
	KUNIT_EXPECT_EQ(test, fs_end(FSEND_XFS, super), 0ULL);
	make(FSEND_XFS);
	super[120] = 200;
	KUNIT_EXPECT_EQ(test, fs_end(FSEND_XFS, super), 0ULL);
	make(FSEND_F2FS);
	put(16, 0xffffffff, 4, false);
	KUNIT_EXPECT_EQ(test, fs_end(FSEND_F2FS, super), 0ULL);
	make(FSEND_EXT);
	put(0x18, 0xfffffff7, 4, false);
	KUNIT_EXPECT_EQ(test, fs_end(FSEND_EXT, super), 0ULL);
	/* Any bytes behind a magic number: under the sanitizers. */
	for (turn = 0; turn < 1000; turn++) {
		kind = turn % FSEND_KINDS;
		make(kind);
		super[1 + rnd_below(&rnd, FS_SUPER_BYTES - 1)] = rnd_next(&rnd);
		KUNIT_EXPECT_TRUE(test, fs_end(kind, super) <= U64_MAX / 2);
	}
}

static struct kunit_case fsend_cases[] = {
	KUNIT_CASE(each_superblock_tells_the_end_of_its_own_kind),
	KUNIT_CASE(the_upper_half_of_exts_size_counts_with_64bit_only),
	KUNIT_CASE(a_size_that_makes_no_sense_is_none),
	{}
};

static struct kunit_suite fsend_suite = {
	.name = "fsend",
	.test_cases = fsend_cases,
};

kunit_test_suite(fsend_suite);
