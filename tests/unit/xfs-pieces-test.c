// SPDX-License-Identifier: GPL-2.0
/*
 * What of an xfs image has no name, by hand. In user space only. Real ones:
 * tests/system/streams/scattered_images.py.
 */
#include <kunit/test.h>

#include "xfs-image.h"

#define DIRECTORY	0040755
#define FILE_MODE	0100644
#define BTREE		(4 << 11)
#define ANY_TYPE	(11 << 11)	/* of a directory's data */
#define CANCEL		2

static void make(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, xi_make());
	xi_unmount();
}

/* Of these blocks, and of all others that have no name and no place. */
static void expect(struct kunit *test, u64 wanted_errors, const u32 *directory, const u32 *logged)
{
	u64 errors = xi_find();
	u32 block;

	KUNIT_EXPECT_EQ(test, errors, wanted_errors);
	for (block = 0; block < XI_BLOCKS; block++) {
		const u32 *d = directory, *l = logged;
		u8 kind = xi_kind[block];

		if (kind != SELFID_DATA && kind != SELFID_DIRECTORY && kind != SELFID_LOGGED)
			continue;
		while (*d && *d != block)
			d++;
		while (*l && *l != block)
			l++;
		KUNIT_EXPECT_EQ_MSG(test, kind,
				    *d ? SELFID_DIRECTORY : *l ? SELFID_LOGGED : SELFID_DATA,
				    "block %u", block);
	}
}

#define NONE	((const u32[]){ 0 })
#define THESE(...)	((const u32[]){ __VA_ARGS__, 0 })

/* A number in the second group has the group's in front of the block's. */
static u64 second_group(u32 block)
{
	return 1 << XI_AG_BITS | block;
}

static void extents_of_directories_are_found(struct kunit *test)
{
	u8 *fork;

	make(test);
	fork = xi_inode(20, 0, DIRECTORY, 2);
	xi_extent(fork, 30, 2);
	xi_extent(fork + 16, second_group(7), 1);
	xi_extent(fork + 32, 40, 4);	/* behind the last */
	xi_extent(xi_inode(20, 1, FILE_MODE, 1), 50, 4);
	xi_inode(21, 0, 0, 0);
	xi_extent(xi_inode(21, 1, DIRECTORY, 1), 60, 1);
	expect(test, 0, THESE(30, 31, XI_AG + 7, 60), NONE);
}

static void more_extents_than_32_bits_count_are_found(struct kunit *test)
{
	u8 *fork;

	make(test);
	fork = xi_inode(20, 0, DIRECTORY, 0);
	fork[-XI_FORK + 127] = 1 << 4;	/* nrext64 */
	xi64(fork - XI_FORK + 24, 1);
	xi_extent(fork, 30, 1);
	expect(test, 0, THESE(30), NONE);
}

static void leaves_count_if_their_inode_is_a_directory(struct kunit *test)
{
	u8 *record;

	make(test);
	xi_inode(20, 0, DIRECTORY, 9)[-XI_FORK + 5] = 3;
	xi_inode(20, 1, FILE_MODE, 9)[-XI_FORK + 5] = 3;
	record = xi_leaf(xi_at(25), 40, 2);
	xi_extent(record, 30, 1);
	xi_extent(record + 16, 70, 2);
	xi_extent(record + 32, 80, 2);
	xi_extent(xi_leaf(xi_at(26), 41, 1), 90, 1);
	/* No inode there; beyond the end. */
	xi_extent(xi_leaf(xi_at(27), 60, 1), 91, 1);
	xi_extent(xi_leaf(xi_at(28), U64_MAX, 1), 92, 1);
	/* No leaf, and another file system's. */
	xi_extent(xi_leaf(xi_at(29), 40, 1), 93, 1);
	xi_at(29)[5] = 1;
	xi_extent(xi_leaf(xi_at(30), 40, 1), 94, 1);
	xi_at(30)[41]++;
	/* ... but 30 is a directory's. */
	expect(test, 0, THESE(30, 70, 71), NONE);
}

static void what_makes_no_sense_is_counted(struct kunit *test)
{
	static const struct {
		u64 block;
		u32 blocks;
	} cases[] = {
		{ 30, 0 }, { 255, 2 }, { 2 << XI_AG_BITS, 1 }, { 511, 2 },
		{ 1ULL << 51, 1 }, { 30, 0x1fffff },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		make(test);
		xi_extent(xi_inode(20, 0, DIRECTORY, 1), cases[i].block, cases[i].blocks);
		expect(test, 1, NONE, NONE);
	}
	make(test);
	xi_inode(20, 0, DIRECTORY, 22);
	expect(test, 1, NONE, NONE);
	make(test);
	xi_inode(20, 0, DIRECTORY, 1)[-XI_FORK + 82] = 255;
	expect(test, 1, NONE, NONE);
	make(test);
	xi_inode(20, 0, DIRECTORY, 0);
	xi_leaf(xi_at(25), 40, 60);
	expect(test, 1, NONE, NONE);
}

static void a_log_without_records_is_counted(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, xi_make());
	expect(test, 1, NONE, NONE);
}

static void put_le(u8 *to, u64 value, u32 bytes)
{
	for (; bytes--; value >>= 8)
		*to++ = value;
}

static void begin(u32 id)
{
	static const u8 header[16] = "NART";

	xi_operation(id, XI_START, NULL, 0);
	xi_operation(id, 0, header, sizeof(header));
}

/* What begins the item of an inode. */
static void put_inode(u32 id, u64 number, u32 mode, bool fork)
{
	u8 format[56] = { 0x3b, 0x12, 2 + fork, 0, 1 + 4 * fork }, core[XI_FORK] = { };

	put_le(format + 16, number, 8);
	xi_operation(id, 0, format, sizeof(format));
	put_le(core + 2, mode, 2);
	xi_operation(id, 0, core, sizeof(core));
}

/* A buffer with one run of changed chunks, whose content is @data. */
static void put_buffer(u32 id, u32 flags, u32 sectors, u64 sector, u32 chunk, u32 chunks,
		       const void *data)
{
	u8 format[28] = { 0x3c, 0x12, 2 };

	put_le(format + 4, flags, 2);
	put_le(format + 6, sectors, 2);
	put_le(format + 8, sector, 8);
	put_le(format + 16, 1, 4);
	put_le(format + 20, ((1ULL << chunks) - 1) << chunk, 4);
	xi_operation(id, 0, format, sizeof(format));
	xi_operation(id, 0, data, chunks * 128);
}

static const u8 content[XI_BLOCK];

static void the_log_tells_of_buffers(struct kunit *test)
{
	static const u8 create[28] = { 0x3f, 0x12, 1, 0, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0, 32,
				       0, 0, 2, 0, 0, 0, 0, 2 };

	make(test);
	begin(5);
	put_buffer(5, ANY_TYPE, 2, 60, 0, 1, content);
	put_buffer(5, ANY_TYPE | CANCEL, 2, 64, 0, 1, content);
	put_buffer(5, ANY_TYPE, 8, 80, 2, 3, content);
	xi_operation(5, 0, create, sizeof(create));
	xi_operation(5, XI_COMMIT, NULL, 0);
	xi_record(0);
	expect(test, 0, NONE, THESE(30, 40, 41, 42, 43, XI_AG + 16, XI_AG + 17));
	/* Unmounted: all is home. */
	xi_unmount();
	expect(test, 0, NONE, NONE);
}

static void the_log_tells_of_directories(struct kunit *test)
{
	u8 fork[32];

	make(test);
	/* A file until now. */
	xi_extent(xi_inode(20, 0, FILE_MODE, 1), 50, 1);
	xi_extent(xi_leaf(xi_at(25), 40, 1), 70, 1);
	xi_extent(fork, 60, 2);
	xi_extent(fork + 16, second_group(9), 1);
	begin(5);
	put_inode(5, 40, DIRECTORY, true);
	xi_operation(5, 0, fork, sizeof(fork));
	put_inode(5, 80, FILE_MODE, true);
	xi_operation(5, 0, fork, sizeof(fork) / 2);
	/* Not committed. */
	xi_record(0);
	expect(test, 0, THESE(60, 61, XI_AG + 9, 70), NONE);
}

static void leaves_count_as_each_change_leaves_them(struct kunit *test)
{
	u8 block[XI_BLOCK] = { };

	make(test);
	xi_inode(20, 0, DIRECTORY, 9)[-XI_FORK + 5] = 3;
	xi_extent(xi_leaf(xi_at(25), 40, 4) + 48, 70, 1);
	/* It has one more record; only what holds its ends is in the log: 72 + 4 * 16 = 136. */
	xi_extent(xi_leaf(block, 40, 5), 71, 1);
	xi_extent(xi_at(25) + 72, 71, 1);
	xi_extent(xi_at(25) + 88, 72, 1);
	xi_extent(xi_at(25) + 104, 73, 1);
	memcpy(block, xi_at(25), sizeof(block));
	xi16(block + 6, 5);
	xi_extent(block + 136, 74, 1);
	begin(5);
	put_buffer(5, BTREE, 2, 50, 0, 2, block);
	xi_operation(5, XI_COMMIT, NULL, 0);
	xi_record(0);
	/* And one that moves, of which the log has the first 128 bytes only. */
	xi_extent(block + 72, 75, 1);
	begin(6);
	put_buffer(6, BTREE, 2, 50, 0, 1, block);
	xi_operation(6, XI_COMMIT, NULL, 0);
	xi_record(4);
	expect(test, 0, THESE(70, 71, 72, 73, 74, 75), NONE);
}

static void items_go_on_in_other_records(struct kunit *test)
{
	u8 fork[16], format[56] = { 0x3b, 0x12, 3, 0, 5 }, core[XI_FORK] = { };
	u32 first;

	make(test);
	first = xi_log.place;
	put_le(format + 16, 40, 8);
	put_le(core + 2, DIRECTORY, 2);
	xi_extent(fork, 60, 1);
	begin(5);
	xi_operation(5, XI_CONTINUES, format, 20);
	xi_record(0);
	/* Another transaction beside it. */
	begin(6);
	xi_operation(5, XI_CONTINUED | XI_CONTINUES, format + 20, 20);
	put_buffer(6, ANY_TYPE, 2, 130, 0, 1, content);
	xi_record(xi_log.place - first);
	xi_operation(5, XI_CONTINUED, format + 40, 16);
	xi_operation(5, 0, core, sizeof(core));
	xi_operation(5, XI_CONTINUES, fork, 8);
	xi_record(xi_log.place - first);
	xi_operation(5, XI_CONTINUED, fork + 8, 8);
	xi_operation(5, XI_COMMIT, NULL, 0);
	xi_record(xi_log.place - first);
	expect(test, 0, THESE(60), THESE(65));
	/* The tail moves on: nobody began what is behind it. */
	xi_operation(5, XI_COMMIT, NULL, 0);
	xi_record(0);
	expect(test, 0, THESE(60), THESE(65));
}

static void a_gap_in_the_log_is_counted(struct kunit *test)
{
	int i;

	make(test);
	begin(5);
	put_buffer(5, ANY_TYPE, 2, 60, 0, 1, content);
	xi_operation(5, XI_COMMIT, NULL, 0);
	xi_record(0);
	/* Its tail was never there. */
	xi_operation(5, XI_COMMIT, NULL, 0);
	xi_record(1);
	KUNIT_EXPECT_EQ(test, xi_find(), 1);
	/* Its operations are longer than it. */
	make(test);
	begin(5);
	xi_log.operations++;
	xi_log.content[xi_log.bytes + 4] = 1;
	xi_log.bytes += 12;
	xi_record(0);
	KUNIT_EXPECT_EQ(test, xi_find(), 1);
	/* Round and round. */
	make(test);
	for (i = 0; i < 300; i++) {
		begin(i);
		put_buffer(i, ANY_TYPE, 2, 60 + i % 40 * 2, 0, 1, content);
		xi_operation(i, XI_COMMIT, NULL, 0);
		xi_record(i ? 2 : 0);
	}
	KUNIT_EXPECT_EQ(test, xi_find(), 0);
	KUNIT_EXPECT_EQ(test, xi_kind[30 + 299 % 40], SELFID_LOGGED);
	KUNIT_EXPECT_EQ(test, xi_kind[30 + 298 % 40], SELFID_LOGGED);
	KUNIT_EXPECT_EQ(test, xi_kind[90], SELFID_DATA);
}

static struct kunit_case pieces_cases[] = {
	KUNIT_CASE(extents_of_directories_are_found),
	KUNIT_CASE(more_extents_than_32_bits_count_are_found),
	KUNIT_CASE(leaves_count_if_their_inode_is_a_directory),
	KUNIT_CASE(what_makes_no_sense_is_counted),
	KUNIT_CASE(a_log_without_records_is_counted),
	KUNIT_CASE(the_log_tells_of_buffers),
	KUNIT_CASE(the_log_tells_of_directories),
	KUNIT_CASE(leaves_count_as_each_change_leaves_them),
	KUNIT_CASE(items_go_on_in_other_records),
	KUNIT_CASE(a_gap_in_the_log_is_counted),
	{}
};

static struct kunit_suite pieces_suite = {
	.name = "xfs-pieces",
	.test_cases = pieces_cases,
};

kunit_test_suite(pieces_suite);
