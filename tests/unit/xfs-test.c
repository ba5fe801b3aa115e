// SPDX-License-Identifier: GPL-2.0
/* xfs by hand: superblock, metadata and data. Real ones: tests/system/selfid_record.py. */
#include <kunit/test.h>

#include "../../classifier/xfs/xfs.h"
#include "../../dm-david/portable/crc.h"

#define AG_SECTORS	(1000 * 8)
#define LOG_START	(AG_SECTORS + 500 * 8)
#define SECTORS		(4 * AG_SECTORS - 80)

/* Too large for a kernel's stack. */
static u8 super[512];
static u8 content[16 * 4096];
static struct xfs_live xfs;
static struct xfs_geo geo;

static void set32(u8 *to, u32 at, u32 value)
{
	__be32 word = cpu_to_be32(value);

	memcpy(to + at, &word, sizeof(word));
}

static void set16(u8 *to, u32 at, u32 value)
{
	__be16 word = cpu_to_be16(value);

	memcpy(to + at, &word, sizeof(word));
}

static void seal(u8 *to)
{
	__le32 crc = 0;

	memcpy(to + 224, &crc, sizeof(crc));
	crc = cpu_to_le32(crc_of(CRC_32C, to, 512));
	memcpy(to + 224, &crc, sizeof(crc));
}

static void set_uuid(u8 *to)
{
	int i;

	for (i = 0; i < SELFID_UUID; i++)
		to[i] = 0x30 + i;
}

/* 4 groups of 1000 blocks of 4 KiB, but for 10 at the end; the log in group 1. */
static void make(u8 *to)
{
	memset(to, 0, 512);
	set32(to, 0, XFS_MAGIC);
	set32(to, 4, 4096);
	set32(to, 12, 3990);
	set_uuid(to + 32);
	set32(to, 52, 1 << 10 | 500);
	set32(to, 84, 1000);
	set32(to, 88, 4);
	set32(to, 96, 100);
	set16(to, 100, 0xb4a5);
	set16(to, 102, 512);
	to[120] = 12;
	to[121] = 9;
	to[124] = 10;
	seal(to);
}

static void start(struct kunit *test)
{
	make(super);
	KUNIT_ASSERT_TRUE(test, !xfs_live_init(&xfs, super, sizeof(super), 1 << 20));
	memset(content, 0x5a, sizeof(content));
}

static void copy(void *ctx, u32 offset, void *to, u32 len)
{
	memcpy(to, ctx + offset, len);
}

static enum verdict write_at(u64 sector, u32 sectors, u32 *len, enum selfid_reason *reason)
{
	struct selfid_request request = { .sector = sector, .sectors = sectors, .copy = copy,
					  .ctx = content };

	return xfs_live_write(&xfs, &request, 0, len, reason);
}

static void expect(struct kunit *test, u64 sector, u32 sectors, u32 wanted_len,
		   enum verdict wanted, enum selfid_reason wanted_reason)
{
	enum selfid_reason reason;
	enum verdict verdict;
	u32 len;

	verdict = write_at(sector, sectors, &len, &reason);
	KUNIT_EXPECT_EQ_MSG(test, verdict, wanted, "sector %u", (u32)sector);
	KUNIT_EXPECT_EQ_MSG(test, reason, wanted_reason, "sector %u", (u32)sector);
	KUNIT_EXPECT_EQ_MSG(test, len, wanted_len, "sector %u", (u32)sector);
}

static void superblock_is_understood(struct kunit *test)
{
	make(super);
	KUNIT_ASSERT_TRUE(test, !xfs_parse_super(super, 512, SECTORS, &geo));
	KUNIT_EXPECT_TRUE(test, !geo.unsafe);
	KUNIT_EXPECT_EQ(test, geo.sectors, SECTORS);
	KUNIT_EXPECT_EQ(test, geo.ag_sectors, AG_SECTORS);
	KUNIT_EXPECT_EQ(test, geo.log_start, LOG_START);
	KUNIT_EXPECT_EQ(test, geo.log_sectors, 800);
}

static void impossible_superblocks_are_refused(struct kunit *test)
{
	static const struct {
		u32 at, value;
	} cases[] = {
		{ 0, 0x58465343 }, { 4, 2048 }, { 12, 0 }, { 12, 4001 }, { 12, 3991 + 20 },
		{ 52, 4 << 10 }, { 52, 1 << 10 | 1001 }, { 84, 0 }, { 84, 1025 }, { 88, 3 },
		{ 96, 0 }, { 96, 5000 }, { 120, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		make(super);
		set32(super, cases[i].at, cases[i].value);
		seal(super);
		KUNIT_EXPECT_EQ_MSG(test, !xfs_parse_super(super, 512, SECTORS, &geo), false,
				    "case %d", i);
	}
	make(super);
	super[108]++;
	KUNIT_EXPECT_TRUE(test, xfs_parse_super(super, 512, SECTORS, &geo));
	make(super);
	KUNIT_EXPECT_TRUE(test, xfs_parse_super(super, 512, SECTORS - 1, &geo));
}

static void what_is_not_proven_is_kept_whole(struct kunit *test)
{
	static const struct {
		u32 at, value;
	} cases[] = {
		{ 20, 1 }, { 28, 1 }, { 52, 0 }, { 212, 0x10 }, { 216, 0x100 }, { 192, 1 << 24 },
		{ 100, 0xb4a40200 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		start(test);
		set32(super, cases[i].at, cases[i].value);
		seal(super);
		KUNIT_EXPECT_EQ_MSG(test, !xfs_live_init(&xfs, super, 512, SECTORS), true,
				    "case %d", i);
		expect(test, 800, 8, 8, VERDICT_KEEP, SELFID_UNSAFE);
	}
}

static void every_header_is_kept(struct kunit *test)
{
	static const struct {
		u32 magic_at, magic, bytes, uuid_at;
		enum selfid_reason reason;
	} cases[] = {
		{ 0, 0x41423342, 4, 32, SELFID_BTREE },
		{ 0, 0x41423343, 4, 32, SELFID_BTREE },
		{ 0, 0x49414233, 4, 32, SELFID_BTREE },
		{ 0, 0x46494233, 4, 32, SELFID_BTREE },
		{ 0, 0x524d4233, 4, 32, SELFID_BTREE },
		{ 0, 0x52334643, 4, 32, SELFID_BTREE },
		{ 0, 0x424d4133, 4, 40, SELFID_BTREE },
		{ 0, 0x58444233, 4, 24, SELFID_DIRECTORY },
		{ 0, 0x58444433, 4, 24, SELFID_DIRECTORY },
		{ 0, 0x58444633, 4, 24, SELFID_DIRECTORY },
		{ 8, 0x3df1, 2, 32, SELFID_DIRECTORY },
		{ 8, 0x3dff, 2, 32, SELFID_DIRECTORY },
		{ 8, 0x3ebe, 2, 32, SELFID_DIRECTORY },
		{ 8, 0x3bee, 2, 32, SELFID_ATTR },
		{ 0, 0x5841524d, 4, 16, SELFID_ATTR },
		{ 0, 0x58534c4d, 4, 16, SELFID_SYMLINK },
		{ 0, 0x4451, 2, 120, SELFID_DQUOT },
		{ 0, 0x494e, 2, 160, SELFID_INODE },
		{ 0, 0x12345678, 4, 24, SELFID_NAMED },
	};
	enum selfid_reason foreign;
	enum verdict verdict;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		/* Another xfs's is kept as well: an image may be restored onto this one. */
		bool known = cases[i].reason != SELFID_NAMED;

		foreign = known ? SELFID_PART : SELFID_DATA;
		verdict = known ? VERDICT_KEEP : VERDICT_SQUASH;
		start(test);
		content[2] = 1;
		content[4] = 3;
		if (cases[i].bytes == 4)
			set32(content, cases[i].magic_at, cases[i].magic);
		else
			set16(content, cases[i].magic_at, cases[i].magic);
		expect(test, 1600, 8, 8, verdict, foreign);
		set_uuid(content + cases[i].uuid_at);
		expect(test, 1600, 8, 8, VERDICT_KEEP, cases[i].reason);
		content[cases[i].uuid_at + 15]++;
		expect(test, 1600, 8, 8, verdict, foreign);
	}
}

static void of_another_xfs_one_block_ends_the_trust(struct kunit *test)
{
	start(test);
	set32(content, 0, 0x58444433);
	expect(test, 1600, 8, 8, VERDICT_KEEP, SELFID_PART);
	KUNIT_EXPECT_EQ(test, xfs.sign, SELFID_AT_REST);
	/* Data may begin so by chance. */
	start(test);
	set16(content, 8, 0x3df1);
	expect(test, 1600, 8, 8, VERDICT_KEEP, SELFID_PART);
	KUNIT_EXPECT_EQ(test, xfs.sign, SELFID_NO_SIGN);
}

static void places_are_kept(struct kunit *test)
{
	start(test);
	expect(test, 2 * AG_SECTORS, 4, 4, VERDICT_KEEP, SELFID_AG);
	expect(test, 2 * AG_SECTORS + 3, 16, 5, VERDICT_KEEP, SELFID_AG);
	expect(test, 2 * AG_SECTORS + 8, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	expect(test, LOG_START, 1, 1, VERDICT_KEEP, SELFID_LOG);
	expect(test, LOG_START + 792, 16, 8, VERDICT_KEEP, SELFID_LOG);
	expect(test, LOG_START + 800, 16, 8, VERDICT_SQUASH, SELFID_DATA);
	expect(test, LOG_START - 8, 16, 8, VERDICT_SQUASH, SELFID_DATA);
	expect(test, SECTORS, 8, 8, VERDICT_KEEP, SELFID_BEYOND);
}

static void parts_of_blocks_are_kept(struct kunit *test)
{
	start(test);
	/* Its first sector shows that it is no metadata. */
	expect(test, 1600, 3, 3, VERDICT_SQUASH, SELFID_DATA);
	expect(test, 1603, 5, 5, VERDICT_KEEP, SELFID_PART);
	set32(content, 0, 0x58444233);
	set_uuid(content + 24);
	expect(test, 1600, 3, 3, VERDICT_KEEP, SELFID_DIRECTORY);
	expect(test, 1605, 3, 3, VERDICT_KEEP, SELFID_REST);
	expect(test, 1603, 2, 2, VERDICT_KEEP, SELFID_REST);
}

static void symlink_of_two_blocks_is_kept_whole(struct kunit *test)
{
	start(test);
	make(super);
	set32(super, 4, 1024);
	super[120] = 10;
	seal(super);
	KUNIT_ASSERT_TRUE(test, !xfs_live_init(&xfs, super, 512, SECTORS));
	set32(content, 0, 0x58534c4d);
	set_uuid(content + 16);
	expect(test, 400, 8, 4, VERDICT_KEEP, SELFID_SYMLINK);
	expect(test, 500, 2, 2, VERDICT_KEEP, SELFID_SYMLINK);
	memset(content, 0x5a, sizeof(content));
	expect(test, 502, 2, 2, VERDICT_KEEP, SELFID_REST);
	expect(test, 504, 2, 2, VERDICT_SQUASH, SELFID_DATA);
}

static void written_superblock_counts(struct kunit *test)
{
	start(test);
	set32(super, 12, 3000);
	seal(super);
	memcpy(content, super, 512);
	expect(test, 0, 1, 1, VERDICT_KEEP, SELFID_AG);
	expect(test, 24000, 8, 8, VERDICT_KEEP, SELFID_BEYOND);
	content[32]++;
	expect(test, 0, 1, 1, VERDICT_KEEP, SELFID_UNSAFE);
	expect(test, 800, 8, 8, VERDICT_KEEP, SELFID_UNSAFE);
	KUNIT_EXPECT_EQ(test, xfs.errors, 1);
}

/* As many blocks as the copy of the superblock at @sector has. */
static void put_copy(struct kunit *test, u64 sector, u32 blocks)
{
	set32(super, 12, blocks);
	seal(super);
	memcpy(content, super, 512);
	expect(test, sector, 1, 1, VERDICT_KEEP, SELFID_AG);
	memset(content, 0x5a, sizeof(content));
}

static void copy_of_the_superblock_tells_of_growth(struct kunit *test)
{
	start(test);
	expect(test, SECTORS, 8, 8, VERDICT_KEEP, SELFID_BEYOND);
	put_copy(test, AG_SECTORS, 4000);
	expect(test, SECTORS, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	/* Other file systems tell nothing. */
	start(test);
	super[40]++;
	put_copy(test, AG_SECTORS, 4000);
	KUNIT_EXPECT_EQ(test, xfs.geo.sectors, SECTORS);
}

static void copy_of_the_superblock_tells_of_a_shrink(struct kunit *test)
{
	start(test);
	expect(test, 3100 * 8, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	put_copy(test, AG_SECTORS, 3100);
	expect(test, 3100 * 8, 8, 8, VERDICT_KEEP, SELFID_BEYOND);
	expect(test, 3099 * 8, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	put_copy(test, 2 * AG_SECTORS, 3990);
	expect(test, 3100 * 8, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	/* A group that is being added has the size before. */
	put_copy(test, 3 * AG_SECTORS, 3000);
	KUNIT_EXPECT_EQ(test, xfs.geo.sectors, SECTORS);
	/* No shrink takes the log away. */
	put_copy(test, AG_SECTORS, 1550);
	KUNIT_EXPECT_EQ(test, xfs.geo.sectors, SECTORS);
}

/*
 * A record in the log, with a superblock of @blocks at byte @at of its content. Put into the
 * header, as the driver does, are the first words of its sectors.
 */
static void put_record(struct kunit *test, u32 at, u32 sectors, u32 blocks)
{
	u32 i;

	memset(content, 0, sizeof(content));
	set32(super, 12, blocks);
	memcpy(content + 512 + at, super, 128);
	set32(content, 0, XFS_LOG_MAGIC);
	set32(content, 12, sectors * 512);
	set32(content, 40, 2);
	memcpy(content + 304, super + 32, SELFID_UUID);
	for (i = 1; i <= sectors; i++) {
		memcpy(content + 44 + 4 * (i - 1), content + 512 * i, 4);
		set32(content, 512 * i, 0x11);
	}
	expect(test, LOG_START, 1 + sectors, 1 + sectors, VERDICT_KEEP, SELFID_LOG);
	memset(content, 0x5a, sizeof(content));
}

static void log_tells_of_a_shrink(struct kunit *test)
{
	u32 at;

	/* Anywhere in the record, also across sectors, whose first words are in the header. */
	for (at = 12; at < 3 * 512 - 48; at += 4) {
		start(test);
		put_record(test, at, 3, 3100);
		KUNIT_EXPECT_EQ_MSG(test, xfs.geo.sectors, 3100 * 8, "at byte %u", at);
		expect(test, 3100 * 8, 8, 8, VERDICT_KEEP, SELFID_BEYOND);
	}
	/* It grew, and a record from before comes late. Another one tells of a shrink. */
	start(test);
	put_copy(test, AG_SECTORS, 4000);
	put_record(test, 100, 3, 3990);
	KUNIT_EXPECT_EQ(test, xfs.geo.sectors, 4000 * 8);
	put_record(test, 100, 3, 3980);
	KUNIT_EXPECT_EQ(test, xfs.geo.sectors, 3980 * 8);
	/* Of growth the copies tell. Other file systems, and what is no record, tell nothing. */
	start(test);
	put_record(test, 100, 3, 4000);
	KUNIT_EXPECT_EQ(test, xfs.geo.sectors, SECTORS);
	super[40]++;
	put_record(test, 100, 3, 3100);
	KUNIT_EXPECT_EQ(test, xfs.geo.sectors, SECTORS);
	make(super);
	memset(content, 0, sizeof(content));
	set32(super, 12, 3100);
	memcpy(content + 100, super, 128);
	expect(test, LOG_START, 8, 8, VERDICT_KEEP, SELFID_LOG);
	KUNIT_EXPECT_EQ(test, xfs.geo.sectors, SECTORS);
}

static u64 stored_sector;
static u64 set_memory[LOGSET_MIN_BYTES / 8];

static bool is_stored(void *ctx, u64 sector, u32 sectors)
{
	return stored_sector >= sector && stored_sector < sector + sectors;
}

static void pieces_of_directory_blocks_are_kept(struct kunit *test)
{
	make(super);
	super[192] = 1;
	super[219] = 8;
	seal(super);
	xfs.stored = is_stored;
	xfs.start = 1000000;
	stored_sector = 1001605;
	KUNIT_ASSERT_TRUE(test, !xfs_live_init(&xfs, super, sizeof(super), 1 << 20));
	KUNIT_EXPECT_EQ(test, xfs_live_memory(&xfs, 1 << 20), LOGSET_MIN_BYTES);
	memset(set_memory, 0, sizeof(set_memory));
	xfs_live_give(&xfs, set_memory, sizeof(set_memory));
	memset(content, 0x5a, sizeof(content));
	content[100] = 1;
	expect(test, 1608, 8, 8, VERDICT_KEEP, SELFID_UNREAD);
	xfs.log.complete = true;
	expect(test, 1608, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	expect(test, 1600, 8, 8, VERDICT_KEEP, SELFID_STORED);
	logset_add(&xfs.log.set, 1616 / 8, 1);
	expect(test, 1616, 8, 8, VERDICT_KEEP, SELFID_LOGGED);
	expect(test, 1624, 3, 3, VERDICT_SQUASH, SELFID_DATA);
	/* Zeros may be what a directory block has never used. */
	memset(content, 0, 4096);
	expect(test, 1632, 8, 8, VERDICT_KEEP, SELFID_PART);
	content[4095] = 1;
	expect(test, 1632, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	expect(test, 1632, 7, 7, VERDICT_KEEP, SELFID_PART);
	xfs_live_mount(&xfs);
	expect(test, 1608, 8, 8, VERDICT_KEEP, SELFID_UNREAD);
	xfs.stored = NULL;
	memset(&xfs.log.set, 0, sizeof(xfs.log.set));
	KUNIT_ASSERT_TRUE(test, !xfs_live_init(&xfs, super, sizeof(super), 1 << 20));
	expect(test, 1608, 8, 8, VERDICT_KEEP, SELFID_UNSAFE);
}

/* Kernels before 5.5 may have written what was in memory before. */
static void large_directories_of_old_kernels_are_kept_whole(struct kunit *test)
{
	static const struct {
		u32 at, value;
		bool kept;
	} cases[] = {
		/* Sparse inodes and ftype, needsrepair; those that are young. */
		{ 216, 0, true }, { 216, 3, true }, { 216, 0x13, true }, { 212, 7, true },
		{ 216, 8, false }, { 216, 0x20, false }, { 216, 0x40, false },
		{ 216, 0x80, false }, { 212, 8, false },
	};
	enum selfid_reason reason;
	int i;

	xfs.stored = is_stored;
	xfs.start = 0;
	memset(content, 0x5a, sizeof(content));
	content[100] = 1;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		make(super);
		super[192] = 1;
		set32(super, cases[i].at, cases[i].value);
		seal(super);
		KUNIT_ASSERT_TRUE(test, !xfs_live_init(&xfs, super, sizeof(super), 1 << 20));
		KUNIT_EXPECT_EQ_MSG(test, !xfs_live_memory(&xfs, 1 << 20), cases[i].kept,
				    "case %d", i);
		reason = SELFID_UNREAD;
		if (cases[i].kept)
			reason = SELFID_UNSAFE;
		expect(test, 1608, 8, 8, VERDICT_KEEP, reason);
	}
	/* It is no longer so: what the log said before is not known. */
	xfs.log.complete = true;
	expect(test, 1608, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	set32(super, 212, 0);
	seal(super);
	memcpy(content, super, sizeof(super));
	expect(test, 0, 1, 1, VERDICT_KEEP, SELFID_UNSAFE);
	set32(super, 212, 8);
	seal(super);
	memcpy(content, super, sizeof(super));
	expect(test, 0, 1, 1, VERDICT_KEEP, SELFID_AG);
	memset(content, 0x5a, sizeof(content));
	content[100] = 1;
	expect(test, 1608, 8, 8, VERDICT_KEEP, SELFID_UNREAD);
	xfs.stored = NULL;
}

static struct kunit_case xfs_cases[] = {
	KUNIT_CASE(superblock_is_understood),
	KUNIT_CASE(impossible_superblocks_are_refused),
	KUNIT_CASE(what_is_not_proven_is_kept_whole),
	KUNIT_CASE(every_header_is_kept),
	KUNIT_CASE(of_another_xfs_one_block_ends_the_trust),
	KUNIT_CASE(places_are_kept),
	KUNIT_CASE(parts_of_blocks_are_kept),
	KUNIT_CASE(symlink_of_two_blocks_is_kept_whole),
	KUNIT_CASE(written_superblock_counts),
	KUNIT_CASE(copy_of_the_superblock_tells_of_growth),
	KUNIT_CASE(copy_of_the_superblock_tells_of_a_shrink),
	KUNIT_CASE(log_tells_of_a_shrink),
	KUNIT_CASE(pieces_of_directory_blocks_are_kept),
	KUNIT_CASE(large_directories_of_old_kernels_are_kept_whole),
	{}
};

static struct kunit_suite xfs_suite = {
	.name = "xfs",
	.test_cases = xfs_cases,
};

kunit_test_suite(xfs_suite);
