// SPDX-License-Identifier: GPL-2.0
/*
 * Backups of ext's superblock as a proof of its place: on one disk of arrays of all kinds, a file
 * system must not be believed unless each of its blocks lies where it has it.
 */
#include <kunit/test.h>

#include "../../classifier/ext/ext-backups.h"

#define BYTES	0x10000000000ULL

static u8 super[EXT_SUPER_SIZE];
static u8 content[4096];

static void set32(u8 *to, u32 at, u32 value)
{
	__le32 word = cpu_to_le32(value);

	memcpy(to + at, &word, sizeof(word));
}

static void set16(u8 *to, u32 at, u32 value)
{
	__le16 word = cpu_to_le16(value);

	memcpy(to + at, &word, sizeof(word));
}

/* Which groups have backups. */
enum backups { SPARSE, EVERY, TWO };

/* @group: whose backup it is. */
static void make(u8 *to, u32 bits, u32 blocks, u32 per_group, enum backups kind, u32 group)
{
	u32 first = bits == 10, groups = DIV_ROUND_UP(blocks - first, per_group);

	memset(to, 0, EXT_SUPER_SIZE);
	set32(to, 0x00, groups * 8);
	set32(to, 0x04, blocks);
	set32(to, 0x14, first);
	set32(to, 0x18, bits - 10);
	set32(to, 0x20, per_group);
	set32(to, 0x28, 8);
	set16(to, 0x38, EXT_MAGIC);
	set32(to, 0x4c, 1);
	set16(to, 0x58, 256);
	set16(to, 0x5a, group);
	set32(to, 0x5c, kind == TWO ? EXT_COMPAT_SPARSE_SUPER2 : 0);
	set32(to, 0x64, (kind == SPARSE ? EXT_RO_COMPAT_SPARSE_SUPER : 0) |
			(per_group > 8u << bits ? EXT_RO_COMPAT_BIGALLOC : 0));
	set32(to, 0x68, 17);
	set32(to, 0x24c, 1);
	set32(to, 0x250, groups - 1);
}

/* One disk of @disks; each has @chunks, of @length blocks. Which chunk of the array is @chunk? */
struct array {
	u64 (*chunk)(const struct array *array, u64 chunk);
	u32 disks;
	u64 chunks, length;
};

static u64 whole(const struct array *array, u64 chunk)
{
	return chunk;
}

static u64 far(const struct array *array, u64 chunk)
{
	u64 half = array->chunks / 2;

	return chunk < half ? chunk * array->disks :
			      (chunk - half) * array->disks + array->disks - 1;
}

static u64 striped(const struct array *array, u64 chunk)
{
	return chunk * array->disks;
}

static u64 offset(const struct array *array, u64 chunk)
{
	return chunk / 2 * array->disks + (chunk & 1 ? array->disks - 1 : 0);
}

/* Three near copies. */
static u64 near(const struct array *array, u64 chunk)
{
	return chunk * array->disks / 3;
}

static u64 place(const struct array *array, u64 block)
{
	u64 chunk = block / array->length;

	return array->chunk(array, chunk) * array->length + block % array->length;
}

/* What is at @block of the disk, if the array has @geo. */
static const void *read(const struct array *array, const struct ext_geo *geo, enum backups kind,
			u64 block)
{
	u64 at = place(array, block);
	u32 group = at < geo->first_data ? 0 : (at - geo->first_data) / geo->blocks_per_group;

	memset(content, 0, sizeof(content));
	if (at < geo->blocks && group && ext_fixed_kind(geo, at) == EXT_SUPER)
		make(content, geo->block_bits, geo->blocks, geo->blocks_per_group, kind, group);
	return content;
}

static bool is_found(struct kunit *test, const struct array *array, const struct ext_geo *geo,
		     enum backups kind)
{
	struct ext_backups backups = { };
	int rounds = 0;
	u64 block;

	ext_backups_look(&backups, geo);
	while ((block = ext_backups_want(&backups, geo))) {
		KUNIT_ASSERT_LE(test, ++rounds, 100);
		KUNIT_EXPECT_EQ(test, ext_backups_want(&backups, geo), 0);
		ext_backups_learn(&backups, geo, block, read(array, geo, kind, block));
	}
	return backups.found;
}

static bool is_whole(const struct array *array, u64 blocks)
{
	u64 block;

	for (block = 0; block < blocks; block += array->length)
		if (place(array, block) != block)
			return false;
	return true;
}

/* A file system as long as the disk, on arrays with chunks of all sizes. How often is it found? */
static u32 try_chunks(struct kunit *test, struct array array, u32 bits, u32 per_group,
		      enum backups kind, u32 mib)
{
	u32 found = 0, chunk;
	struct ext_geo geo;

	make(super, bits, mib << (20 - bits), per_group, kind, 0);
	KUNIT_EXPECT_TRUE(test, !ext_parse_super(super, BYTES, &geo));
	for (chunk = 4096; chunk <= 256u << 20; chunk *= 2) {
		array.length = chunk >> bits;
		array.chunks = DIV_ROUND_UP(mib, 1024) * (1ULL << 30) / chunk;
		if (!is_found(test, &array, &geo, kind))
			continue;
		found++;
		KUNIT_EXPECT_EQ_MSG(test, is_whole(&array, geo.blocks), true,
				    "chunk %u, %u MiB, groups of %u blocks, %u", chunk, mib,
				    per_group, kind);
	}
	return found;
}

static void one_disk_of_an_array_is_not_the_whole(struct kunit *test)
{
	static const struct array arrays[] = {
		{ .chunk = whole, .disks = 1 }, { .chunk = offset, .disks = 2 },
		{ .chunk = far, .disks = 2 }, { .chunk = far, .disks = 3 },
		{ .chunk = far, .disks = 4 }, { .chunk = striped, .disks = 2 },
		{ .chunk = striped, .disks = 5 }, { .chunk = offset, .disks = 3 },
		{ .chunk = near, .disks = 4 }, { .chunk = near, .disks = 5 },
	};
	static const u32 sizes[][2] = {
		{ 12, 256 }, { 12, 4096 }, { 12, 8192 }, { 12, 32768 }, { 10, 1024 }, { 10, 8192 },
	};
	u32 i, size;

	for (i = 0; i < ARRAY_SIZE(arrays); i++) {
		for (size = 0; size < ARRAY_SIZE(sizes); size++) {
			u32 bits = sizes[size][0], group = sizes[size][1];
			/* The first two are the whole. All chunks, of 4 KiB to 256 MiB. */
			u32 expected = i < 2 ? 17 : 0;

			KUNIT_EXPECT_EQ(test, expected,
					try_chunks(test, arrays[i], bits, group, SPARSE, 4096));
			KUNIT_EXPECT_EQ(test, expected,
					try_chunks(test, arrays[i], bits, group, EVERY, 4096));
			/* Two backups do not do. */
			KUNIT_EXPECT_EQ(test, 0,
					try_chunks(test, arrays[i], bits, group, TWO, 4096));
		}
	}
}

/* File systems of all lengths, shorter than the array or not. */
static void no_length_fits_by_chance(struct kunit *test)
{
	static const struct array arrays[] = {
		{ .chunk = far, .disks = 2 }, { .chunk = far, .disks = 3 },
		{ .chunk = far, .disks = 4 }, { .chunk = near, .disks = 4 },
		{ .chunk = striped, .disks = 2 }, { .chunk = offset, .disks = 3 },
	};
	u32 i, mib;

	for (i = 0; i < ARRAY_SIZE(arrays); i++) {
		for (mib = 60; mib <= 4100; mib += 20) {
			try_chunks(test, arrays[i], 12, 32768, SPARSE, mib);
			try_chunks(test, arrays[i], 12, 32768, EVERY, mib);
			try_chunks(test, arrays[i], 12, 32768, TWO, mib);
			try_chunks(test, arrays[i], 12, 4096, TWO, mib);
			try_chunks(test, arrays[i], 11, 16384, SPARSE, mib);
			try_chunks(test, arrays[i], 10, 8192, SPARSE, mib);
			/* bigalloc: one group has 512 MiB, or 2 GiB. */
			try_chunks(test, arrays[i], 12, 131072, SPARSE, mib);
			try_chunks(test, arrays[i], 12, 524288, SPARSE, mib);
		}
	}
}

static void volumes_with_few_backups_are_kept(struct kunit *test)
{
	static const struct array one = { .chunk = whole, .disks = 1 };

	KUNIT_EXPECT_EQ(test, try_chunks(test, one, 12, 32768, SPARSE, 380), 0);
	KUNIT_EXPECT_EQ(test, try_chunks(test, one, 12, 32768, SPARSE, 896), 0);
	KUNIT_EXPECT_EQ(test, try_chunks(test, one, 12, 32768, SPARSE, 898), 17);
	KUNIT_EXPECT_EQ(test, try_chunks(test, one, 12, 131072, SPARSE, 2560), 0);
	KUNIT_EXPECT_EQ(test, try_chunks(test, one, 12, 131072, SPARSE, 2562), 17);
}

static void backups_are_looked_for_where_they_should_be(struct kunit *test)
{
	static const u32 sparse[] = { 1, 3, 5, 7, 9, 25, 27, 49, 81, 0 };
	static const u32 every[] = { 1, 3, 5, 7, 9, 25, 27, 49, 81, 99, 0 };
	struct ext_geo geo;
	u32 group, i;

	make(super, 12, 100 * 32768, 32768, SPARSE, 0);
	ext_parse_super(super, BYTES, &geo);
	for (group = 0, i = 0; i < ARRAY_SIZE(sparse); i++, group = sparse[i - 1])
		KUNIT_EXPECT_EQ(test, ext_backups_next(&geo, group), sparse[i]);
	geo.ro_compat = 0;
	for (group = 0, i = 0; i < ARRAY_SIZE(every); i++, group = every[i - 1])
		KUNIT_EXPECT_EQ(test, ext_backups_next(&geo, group), every[i]);
	geo.compat = EXT_COMPAT_SPARSE_SUPER2;
	KUNIT_EXPECT_EQ(test, ext_backups_next(&geo, 0), 1);
	KUNIT_EXPECT_EQ(test, ext_backups_next(&geo, 1), 99);
	KUNIT_EXPECT_EQ(test, ext_backups_next(&geo, 99), 0);
	/* None at all. */
	geo.backup_groups[0] = 0;
	geo.backup_groups[1] = 0;
	KUNIT_EXPECT_EQ(test, ext_backups_next(&geo, 0), 0);
	make(super, 12, 30000, 32768, SPARSE, 0);
	ext_parse_super(super, BYTES, &geo);
	KUNIT_EXPECT_EQ(test, ext_backups_next(&geo, 0), 0);
}

/* With sparse_super the next backup is never more than three times as far. */
static void no_gap_is_wider_than_three_times(struct kunit *test)
{
	struct ext_geo geo;
	u32 group = 1, next;

	make(super, 12, 100 * 32768, 32768, SPARSE, 0);
	ext_parse_super(super, BYTES, &geo);
	geo.groups = U32_MAX / 3;
	for (; (next = ext_backups_next(&geo, group)); group = next)
		KUNIT_EXPECT_LE(test, next, 3 * group);
	KUNIT_EXPECT_LE(test, geo.groups, 3 * group);
}

static void a_backup_has_its_number_and_what_one_mkfs_has(struct kunit *test)
{
	/* Blocks, inodes of a group, features, uuid, hash seed, time of mkfs. */
	static const u32 fields[] = { 0x04, 0x28, 0x60, 0x64, 0x68, 0xec, 0xfb, 0x108 };
	struct ext_geo geo;
	u32 i;

	make(super, 12, 100 * 32768, 32768, SPARSE, 0);
	ext_parse_super(super, BYTES, &geo);
	make(content, 12, 100 * 32768, 32768, SPARSE, 3);
	KUNIT_EXPECT_TRUE(test, ext_is_backup_of(&geo, content, 3));
	KUNIT_EXPECT_FALSE(test, ext_is_backup_of(&geo, content, 5));
	content[0x68]++;
	KUNIT_EXPECT_FALSE(test, ext_is_backup_of(&geo, content, 3));
	make(content, 12, 100 * 32768, 16384, SPARSE, 3);
	KUNIT_EXPECT_FALSE(test, ext_is_backup_of(&geo, content, 3));
	make(content, 11, 100 * 32768, 32768, SPARSE, 3);
	KUNIT_EXPECT_FALSE(test, ext_is_backup_of(&geo, content, 3));
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		make(content, 12, 100 * 32768, 32768, SPARSE, 3);
		content[fields[i]] ^= fields[i] == 0x60 ? EXT_INCOMPAT_META_BG : 1;
		KUNIT_EXPECT_EQ_MSG(test, ext_is_backup_of(&geo, content, 3), false, "%#x",
				    fields[i]);
	}
	make(content, 12, 100 * 32768, 32768, SPARSE, 0xffff);
	KUNIT_EXPECT_TRUE(test, ext_is_backup_of(&geo, content, 78125));
	make(content, 12, 100 * 32768, 32768, SPARSE, 78125 & 0xffff);
	KUNIT_EXPECT_TRUE(test, ext_is_backup_of(&geo, content, 78125));
	KUNIT_EXPECT_FALSE(test, ext_is_backup_of(&geo, content, 117649));
}

/* What is written while it is read has to be read again. */
static void a_read_that_was_overtaken_says_nothing(struct kunit *test)
{
	struct ext_backups backups = { };
	struct ext_geo geo;
	u64 block;
	u32 group;

	make(super, 12, 8 * 32768, 32768, SPARSE, 0);
	ext_parse_super(super, BYTES, &geo);
	ext_backups_look(&backups, &geo);
	block = ext_backups_want(&backups, &geo);
	KUNIT_EXPECT_EQ(test, block, 32768);
	ext_backups_look(&backups, &geo);
	make(content, 12, 8 * 32768, 32768, SPARSE, 1);
	KUNIT_EXPECT_EQ(test, ext_backups_learn(&backups, &geo, block, content), 0);
	KUNIT_EXPECT_FALSE(test, backups.found);
	for (group = 1; group; group = ext_backups_next(&geo, group)) {
		KUNIT_EXPECT_FALSE(test, backups.found);
		block = ext_backups_want(&backups, &geo);
		KUNIT_EXPECT_EQ(test, block, group * 32768);
		make(content, 12, 8 * 32768, 32768, SPARSE, group);
		KUNIT_EXPECT_EQ(test, ext_backups_learn(&backups, &geo, block, content), 0);
	}
	KUNIT_EXPECT_TRUE(test, backups.found);
	/* It stays found while it is looked for again, until it is missing. */
	ext_backups_look(&backups, &geo);
	KUNIT_EXPECT_TRUE(test, backups.found);
	block = ext_backups_want(&backups, &geo);
	KUNIT_EXPECT_EQ(test, ext_backups_learn(&backups, &geo, block, NULL), 1);
	KUNIT_EXPECT_FALSE(test, backups.found);
	KUNIT_EXPECT_EQ(test, ext_backups_want(&backups, &geo), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(one_disk_of_an_array_is_not_the_whole),
	KUNIT_CASE(no_length_fits_by_chance),
	KUNIT_CASE(volumes_with_few_backups_are_kept),
	KUNIT_CASE(backups_are_looked_for_where_they_should_be),
	KUNIT_CASE(no_gap_is_wider_than_three_times),
	KUNIT_CASE(a_backup_has_its_number_and_what_one_mkfs_has),
	KUNIT_CASE(a_read_that_was_overtaken_says_nothing),
	{}
};

static struct kunit_suite suite = { .name = "backups", .test_cases = cases };

kunit_test_suite(suite);
