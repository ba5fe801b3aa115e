// SPDX-License-Identifier: GPL-2.0
/* ext's superblocks, layouts and inodes, made by hand. tests/unit/ext-images checks real ones. */
#include <kunit/test.h>

#include "../../classifier/ext/ext-inode.h"

#define BYTES	0x10000000000ULL

struct sb {
	u8 raw[EXT_SUPER_SIZE];
};

/* Too large for a kernel's stack. */
static struct sb sb, raw;
static __le32 block[1024];

static void set32(struct sb *to, u32 at, u32 value)
{
	__le32 word = cpu_to_le32(value);

	memcpy(to->raw + at, &word, sizeof(word));
}

static void set16(struct sb *to, u32 at, u32 value)
{
	__le16 word = cpu_to_le16(value);

	memcpy(to->raw + at, &word, sizeof(word));
}

/* 4 KiB blocks, 100 full groups of 32768 and a last one of 1000 blocks. */
static void make(struct sb *to)
{
	memset(to, 0, sizeof(*to));
	set32(to, 0x00, 101 * 8192);
	set32(to, 0x04, 100 * 32768 + 1000);
	set32(to, 0x18, 2);
	set32(to, 0x20, 32768);
	set32(to, 0x28, 8192);
	set16(to, 0x38, EXT_MAGIC);
	set32(to, 0x4c, 1);
	set32(to, 0x54, 11);
	set16(to, 0x58, 256);
	set32(to, 0x5c, EXT_COMPAT_HAS_JOURNAL);
	set32(to, 0x64, EXT_RO_COMPAT_SPARSE_SUPER);
	set16(to, 0xce, 7);
	set32(to, 0xe0, EXT_JOURNAL_INO);
}

static void a_superblock_is_understood(struct kunit *test)
{
	struct ext_geo geo;

	make(&sb);
	KUNIT_ASSERT_TRUE(test, !ext_parse_super(sb.raw, BYTES, &geo));
	KUNIT_EXPECT_EQ(test, geo.groups, 101);
	KUNIT_EXPECT_EQ(test, ext_block_size(&geo), 4096);
	KUNIT_EXPECT_EQ(test, geo.gdt_blocks, 1);
	KUNIT_EXPECT_EQ(test, geo.itable_blocks, 512);
	KUNIT_EXPECT_EQ(test, geo.journal_ino, EXT_JOURNAL_INO);
}

struct bad {
	u32 at;
	u32 value;
	u32 bytes;
};

static void every_bad_superblock_is_refused(struct kunit *test)
{
	static const struct bad bad[] = {
		{ 0x38, 0, 2 }, { 0x04, 0, 4 }, { 0x04, U32_MAX, 4 }, { 0x18, 7, 4 },
		{ 0x18, U32_MAX, 4 }, { 0x14, 2, 4 }, { 0x20, 0, 4 }, { 0x20, 32769, 4 },
		{ 0x28, 0, 4 }, { 0x28, U32_MAX, 4 }, { 0x58, 0, 2 }, { 0x58, 192, 2 },
		{ 0x58, 8192, 2 }, { 0x00, U32_MAX, 4 }, { 0xce, 1025, 2 }, { 0x5a, 1, 2 },
		{ 0x60, EXT_INCOMPAT_JOURNAL_DEV, 4 }, { 0x60, EXT_INCOMPAT_64BIT, 4 },
	};
	struct ext_geo geo;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		make(&sb);
		if (bad[i].bytes == 2)
			set16(&sb, bad[i].at, bad[i].value);
		else
			set32(&sb, bad[i].at, bad[i].value);
		KUNIT_EXPECT_TRUE(test, ext_parse_super(sb.raw, BYTES, &geo));
	}
	make(&sb);
	/* One byte less than the file system needs. */
	KUNIT_EXPECT_TRUE(test, ext_parse_super(sb.raw, (100 * 32768 + 1000) * 4096ULL - 1, &geo));
	KUNIT_EXPECT_TRUE(test, !ext_parse_super(sb.raw, (100 * 32768 + 1000) * 4096ULL, &geo));
}

static void backups_are_where_the_features_put_them(struct kunit *test)
{
	static const u32 sparse[] = { 0, 1, 3, 5, 7, 9, 25, 27, 49, 81 };
	struct ext_geo geo;
	u32 group, i;

	make(&sb);
	ext_parse_super(sb.raw, BYTES, &geo);
	for (group = 0, i = 0; group < geo.groups; group++) {
		bool has = i < ARRAY_SIZE(sparse) && sparse[i] == group;

		i += has;
		KUNIT_EXPECT_EQ_MSG(test, ext_has_super(&geo, group), has, "group %u", group);
	}
	geo.ro_compat = 0;
	for (group = 0; group < geo.groups; group++)
		KUNIT_EXPECT_TRUE(test, ext_has_super(&geo, group));
	geo.compat |= EXT_COMPAT_SPARSE_SUPER2;
	geo.backup_groups[0] = 1;
	geo.backup_groups[1] = 100;
	for (group = 0; group < geo.groups; group++)
		KUNIT_EXPECT_EQ(test, ext_has_super(&geo, group),
				group == 0 || group == 1 || group == 100);
}

static void a_group_begins_with_what_it_should(struct kunit *test)
{
	struct ext_geo geo;
	u64 start = 3 * 32768;
	u32 i;

	make(&sb);
	ext_parse_super(sb.raw, BYTES, &geo);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 0), EXT_SUPER);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, start), EXT_SUPER);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, start + 1), EXT_GDT);
	for (i = 2; i < 9; i++)
		KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, start + i), EXT_GDT_RESERVED);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, start + 9), EXT_DATA);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, start - 1), EXT_DATA);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 2 * 32768 + i), EXT_DATA);
	KUNIT_EXPECT_EQ(test, ext_gdt_block(&geo, 0), 1);
	geo.mmp_block = 12345;
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 12345), EXT_MMP);
}

static void blocks_of_1k_begin_with_the_boot_block(struct kunit *test)
{
	struct ext_geo geo;

	make(&sb);
	set32(&sb, 0x18, 0);
	set32(&sb, 0x14, 1);
	set32(&sb, 0x20, 8192);
	set32(&sb, 0x28, 2048);
	set32(&sb, 0x00, 2048);
	KUNIT_ASSERT_TRUE(test, !ext_parse_super(sb.raw, BYTES, &geo));
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 0), EXT_BOOT);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 1), EXT_SUPER);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 2), EXT_GDT);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 8193), EXT_SUPER);
	/* bigalloc counts from 0, and the superblock is block 1 all the same */
	set32(&sb, 0x14, 0);
	KUNIT_ASSERT_TRUE(test, !ext_parse_super(sb.raw, BYTES, &geo));
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 0), EXT_BOOT);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 1), EXT_SUPER);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 2), EXT_GDT);
	KUNIT_EXPECT_EQ(test, ext_gdt_block(&geo, 0), 2);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 8192), EXT_SUPER);
}

static void meta_bg_puts_descriptors_into_three_groups(struct kunit *test)
{
	struct ext_geo geo;

	make(&sb);
	/* 128 descriptors a block, so one meta group; a second file system has more. */
	set32(&sb, 0x60, EXT_INCOMPAT_META_BG);
	set32(&sb, 0x104, 0);
	set16(&sb, 0xce, 0);
	set32(&sb, 0x04, 300 * 32768);
	KUNIT_ASSERT_TRUE(test, !ext_parse_super(sb.raw, BYTES, &geo));
	KUNIT_EXPECT_EQ(test, geo.gdt_blocks, 0);
	KUNIT_EXPECT_EQ(test, ext_gdt_count(&geo), 3);
	KUNIT_EXPECT_EQ(test, ext_gdt_block(&geo, 1), 128 * 32768);
	KUNIT_EXPECT_EQ(test, ext_gdt_block(&geo, 2), 256 * 32768);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 1), EXT_GDT);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 128 * 32768), EXT_GDT);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 129 * 32768), EXT_GDT);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 255 * 32768), EXT_GDT);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 130 * 32768), EXT_DATA);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 3 * 32768), EXT_SUPER);
	KUNIT_EXPECT_EQ(test, ext_fixed_kind(&geo, 3 * 32768 + 1), EXT_DATA);
}

static void descriptors_out_of_the_volume_are_refused(struct kunit *test)
{
	struct ext_group group;
	struct ext_geo geo;

	make(&sb);
	ext_parse_super(sb.raw, BYTES, &geo);
	block[8] = cpu_to_le32(100);
	block[9] = cpu_to_le32(101);
	block[10] = cpu_to_le32(102);
	KUNIT_EXPECT_TRUE(test, ext_parse_group(&geo, block, 1, &group));
	KUNIT_EXPECT_EQ(test, group.inode_table, 102);
	KUNIT_EXPECT_TRUE(test, !ext_parse_group(&geo, block, 0, &group));
	block[10] = cpu_to_le32(geo.blocks - 511);
	KUNIT_EXPECT_TRUE(test, !ext_parse_group(&geo, block, 1, &group));
	block[10] = cpu_to_le32(geo.blocks - 512);
	KUNIT_EXPECT_TRUE(test, ext_parse_group(&geo, block, 1, &group));
}

/* What a map told of. */
struct told {
	struct ext_run run[64];
	u32 n;
};

static void note(void *ctx, const struct ext_run *run)
{
	struct told *told = ctx;

	if (told->n < ARRAY_SIZE(told->run))
		told->run[told->n++] = *run;
}

static void inode_of(struct ext_geo *geo, struct ext_inode *inode, u32 mode, u32 flags, u32 size)
{
	make(&sb);
	ext_parse_super(sb.raw, BYTES, geo);
	memset(&raw, 0, sizeof(raw));
	set16(&raw, 0x00, mode);
	set32(&raw, 0x04, size);
	set16(&raw, 0x1a, 1);
	set32(&raw, 0x20, flags);
	ext_parse_inode(geo, 50, raw.raw, inode);
}

static void indirect_blocks_of_three_levels_are_told(struct kunit *test)
{
	struct told *told = kvzalloc(sizeof(*told), GFP_KERNEL);
	__le32 *node = kvcalloc(1024, sizeof(u32), GFP_KERNEL);
	struct ext_inode inode;
	struct ext_geo geo;
	__le32 map[15] = { };

	KUNIT_ASSERT_NOT_NULL(test, told);
	KUNIT_ASSERT_NOT_NULL(test, node);
	inode_of(&geo, &inode, 0x81a4, 0, 1 << 30);
	map[0] = cpu_to_le32(1000);
	map[1] = cpu_to_le32(1001);
	map[5] = cpu_to_le32(1005);
	map[12] = cpu_to_le32(2000);
	map[13] = cpu_to_le32(3000);
	map[14] = cpu_to_le32(U32_MAX);		/* beyond the volume */
	memcpy(inode.map, map, sizeof(map));
	KUNIT_EXPECT_EQ(test, ext_map_inode(&geo, &inode, note, told), 1);
	KUNIT_ASSERT_EQ(test, told->n, 4);
	KUNIT_EXPECT_EQ(test, told->run[0].start, 1000);
	KUNIT_EXPECT_EQ(test, told->run[0].len, 2);
	KUNIT_EXPECT_EQ(test, told->run[1].logical, 5);
	KUNIT_EXPECT_EQ(test, told->run[2].level, 1);
	KUNIT_EXPECT_EQ(test, told->run[2].logical, 12);
	KUNIT_EXPECT_EQ(test, told->run[3].level, 2);
	KUNIT_EXPECT_EQ(test, told->run[3].logical, 12 + 1024);

	told->n = 0;
	node[0] = cpu_to_le32(4000);
	node[1023] = cpu_to_le32(4001);
	KUNIT_EXPECT_EQ(test, ext_map_node(&geo, false, 2, 1036, node, note, told), 0);
	KUNIT_ASSERT_EQ(test, told->n, 2);
	KUNIT_EXPECT_EQ(test, told->run[1].level, 1);
	KUNIT_EXPECT_EQ(test, told->run[1].logical, 1036 + 1023 * 1024);
	told->n = 0;
	KUNIT_EXPECT_EQ(test, ext_map_node(&geo, false, 1, 0, node, note, told), 0);
	KUNIT_EXPECT_EQ(test, told->n, 2);
	KUNIT_EXPECT_EQ(test, told->run[1].level, 0);
	KUNIT_EXPECT_EQ(test, told->run[1].logical, 1023);
	KUNIT_EXPECT_EQ(test, ext_map_node(&geo, false, 4, 0, node, note, told), 1);
	KUNIT_EXPECT_EQ(test, ext_map_node(&geo, false, 0, 0, node, note, told), 1);
	kvfree(node);
	kvfree(told);
}

/* magic, entries, max, depth, then entries of logical, len, start */
static void extent_node(u8 *at, u32 entries, u32 max, u32 depth, u32 start, u32 len)
{
	__le16 head[6] = { cpu_to_le16(0xf30a), cpu_to_le16(entries), cpu_to_le16(max),
			   cpu_to_le16(depth) };
	u32 i;

	memcpy(at, head, sizeof(head));
	for (i = 0; i < entries && i < 4; i++) {
		__le32 word[3] = { cpu_to_le32(100 * i), cpu_to_le32(len),
				   cpu_to_le32(start + 1000 * i) };

		if (depth) {
			word[1] = cpu_to_le32(start + 1000 * i);
			word[2] = 0;
		}
		memcpy(at + 12 + 12 * i, word, sizeof(word));
	}
}

static void extent_trees_are_told(struct kunit *test)
{
	struct told *told = kvzalloc(sizeof(*told), GFP_KERNEL);
	struct ext_inode inode;
	struct ext_geo geo;

	KUNIT_ASSERT_NOT_NULL(test, told);
	inode_of(&geo, &inode, 0x81a4, 0x80000, 1 << 30);
	extent_node(inode.map, 2, 4, 0, 5000, 10);
	KUNIT_EXPECT_EQ(test, ext_map_inode(&geo, &inode, note, told), 0);
	KUNIT_ASSERT_EQ(test, told->n, 2);
	KUNIT_EXPECT_EQ(test, told->run[1].start, 6000);
	KUNIT_EXPECT_EQ(test, told->run[1].len, 10);
	KUNIT_EXPECT_EQ(test, told->run[1].logical, 100);
	told->n = 0;
	/* Allocated but not written: 32768 more. */
	extent_node(inode.map, 1, 4, 0, 5000, 32768 + 10);
	ext_map_inode(&geo, &inode, note, told);
	KUNIT_EXPECT_EQ(test, told->run[0].len, 10);
	told->n = 0;
	extent_node(inode.map, 2, 4, 3, 5000, 0);
	KUNIT_EXPECT_EQ(test, ext_map_inode(&geo, &inode, note, told), 0);
	KUNIT_EXPECT_EQ(test, told->run[1].level, 3);
	KUNIT_EXPECT_EQ(test, told->run[1].start, 6000);
	kvfree(told);
}

static void nonsense_in_extents_is_left_out(struct kunit *test)
{
	struct told *told = kvzalloc(sizeof(*told), GFP_KERNEL);
	struct ext_inode inode;
	struct ext_geo geo;

	KUNIT_ASSERT_NOT_NULL(test, told);
	inode_of(&geo, &inode, 0x81a4, 0x80000, 1 << 30);
	extent_node(inode.map, 5, 5, 0, 5000, 10);	/* more than fit */
	KUNIT_EXPECT_EQ(test, ext_map_inode(&geo, &inode, note, told), 1);
	extent_node(inode.map, 3, 2, 0, 5000, 10);
	KUNIT_EXPECT_EQ(test, ext_map_inode(&geo, &inode, note, told), 1);
	extent_node(inode.map, 1, 4, 6, 5000, 10);	/* too deep */
	KUNIT_EXPECT_EQ(test, ext_map_inode(&geo, &inode, note, told), 1);
	extent_node(inode.map, 2, 4, 0, geo.blocks - 1005, 10);	/* the second sticks out */
	KUNIT_EXPECT_EQ(test, ext_map_inode(&geo, &inode, note, told), 1);
	KUNIT_EXPECT_EQ(test, told->n, 1);
	extent_node(inode.map, 1, 4, 0, 5000, 0);	/* of no length */
	KUNIT_EXPECT_EQ(test, ext_map_inode(&geo, &inode, note, told), 1);
	memset(inode.map, 0, sizeof(inode.map));
	KUNIT_EXPECT_EQ(test, ext_map_inode(&geo, &inode, note, told), 1);
	KUNIT_EXPECT_EQ(test, told->n, 1);
	kvfree(told);
}

static void inodes_have_the_kind_of_their_content(struct kunit *test)
{
	struct ext_inode inode;
	struct ext_geo geo;

	inode_of(&geo, &inode, 0x41ed, 0, 4096);
	KUNIT_EXPECT_EQ(test, inode.kind, EXT_DIRECTORY);
	inode_of(&geo, &inode, 0x81a4, 0, 4096);
	KUNIT_EXPECT_EQ(test, inode.kind, EXT_DATA);
	KUNIT_EXPECT_TRUE(test, inode.mapped);
	inode_of(&geo, &inode, 0x81a4, 0x200000, 4096);
	KUNIT_EXPECT_EQ(test, inode.kind, EXT_EA_INODE);
	inode_of(&geo, &inode, 0x81a4, 0x10000000, 100);	/* inline */
	KUNIT_EXPECT_TRUE(test, !inode.mapped);
	inode_of(&geo, &inode, 0xa1ff, 0, 59);
	KUNIT_EXPECT_TRUE(test, !inode.mapped);
	inode_of(&geo, &inode, 0xa1ff, 0, 60);
	KUNIT_EXPECT_TRUE(test, inode.mapped);
	KUNIT_EXPECT_EQ(test, inode.kind, EXT_SYMLINK);
	inode_of(&geo, &inode, 0x21b6, 0, 0);			/* character device */
	KUNIT_EXPECT_TRUE(test, !inode.mapped);
}

static struct kunit_case ext_cases[] = {
	KUNIT_CASE(a_superblock_is_understood),
	KUNIT_CASE(every_bad_superblock_is_refused),
	KUNIT_CASE(backups_are_where_the_features_put_them),
	KUNIT_CASE(a_group_begins_with_what_it_should),
	KUNIT_CASE(blocks_of_1k_begin_with_the_boot_block),
	KUNIT_CASE(meta_bg_puts_descriptors_into_three_groups),
	KUNIT_CASE(descriptors_out_of_the_volume_are_refused),
	KUNIT_CASE(indirect_blocks_of_three_levels_are_told),
	KUNIT_CASE(extent_trees_are_told),
	KUNIT_CASE(nonsense_in_extents_is_left_out),
	KUNIT_CASE(inodes_have_the_kind_of_their_content),
	{}
};

static struct kunit_suite ext_suite = {
	.name = "ext",
	.test_cases = ext_cases,
};

kunit_test_suite(ext_suite);
