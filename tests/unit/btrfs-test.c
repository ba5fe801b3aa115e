// SPDX-License-Identifier: GPL-2.0
/*
 * A btrfs of one device, made by hand: superblock, chunk tree of one leaf, and
 * writes to it. Real ones: tests/system/selfid_record.py.
 */
#include <kunit/test.h>

#include "../../classifier/btrfs/btrfs-live.h"
#include "../../dm-david/portable/crc.h"

#define NODE		16384
#define UNIT		(NODE / 512)
#define MIB		2048u
#define SECTORS		(256 * MIB)
#define SYSTEM		(4 * MIB)	/* at logical 1 MiB */
#define METADATA	(16 * MIB)
#define DATA		(32 * MIB)
#define DATA_END	(64 * MIB)
#define NOWHERE		(128 * MIB)
#define CHUNK_ROOT	0x100000
#define LOG_TREE	((u64)-6)

/* Too large for a kernel's stack. */
static u8 super[BTRFS_SUPER_BYTES];
static u8 root[NODE];
static u8 content[4 * NODE];
static struct btrfs_live btrfs;
static struct btrfs_geo geo;

static void set64(u8 *to, u64 value)
{
	__le64 word = cpu_to_le64(value);

	memcpy(to, &word, sizeof(word));
}

static void set32(u8 *to, u32 value)
{
	__le32 word = cpu_to_le32(value);

	memcpy(to, &word, sizeof(word));
}

static void set16(u8 *to, u32 value)
{
	__le16 word = cpu_to_le16(value);

	memcpy(to, &word, sizeof(word));
}

static void seal(u8 *block, u32 bytes)
{
	set32(block, crc_of(CRC_32C, block + 32, bytes - 32));
}

static void set_uuid(u8 *to)
{
	int i;

	for (i = 0; i < SELFID_UUID; i++)
		to[i] = 0x70 + i;
}

/* Key, and chunk of one stripe. */
static void set_key(u8 *to, u64 logical)
{
	set64(to, 256);
	to[8] = 228;
	set64(to + 9, logical);
}

static void set_chunk(u8 *to, u64 sector, u64 sectors, u64 type)
{
	set64(to, sectors * 512);
	set64(to + 16, 65536);
	set64(to + 24, type);
	set16(to + 44, 1);
	set64(to + 48, 1);
	set64(to + 56, sector * 512);
}

static void make_super(u8 *to, u64 generation, u64 chunk_generation)
{
	memset(to, 0, BTRFS_SUPER_BYTES);
	set_uuid(to + 32);
	set64(to + 48, 65536);
	memcpy(to + 64, "_BHRfS_M", 8);
	set64(to + 72, generation);
	set64(to + 88, CHUNK_ROOT);
	set64(to + 136, 1);
	set32(to + 144, 4096);
	set32(to + 148, NODE);
	set32(to + 160, 17 + 80);
	set64(to + 164, chunk_generation);
	set64(to + 180, 3);
	set64(to + 188, 0x371);
	set64(to + 201, 1);
	set64(to + 209, (u64)SECTORS * 512);
	set_key(to + 811, CHUNK_ROOT);
	set_chunk(to + 811 + 17, SYSTEM, 8 * MIB, BTRFS_CHUNK_SYSTEM);
	seal(to, BTRFS_SUPER_BYTES);
}

static void make_header(u8 *to, u64 logical, u64 generation, u64 owner, u32 items)
{
	set_uuid(to + 32);
	set64(to + 48, logical);
	set64(to + 80, generation);
	set64(to + 88, owner);
	set32(to + 96, items);
	to[100] = 0;
}

static void add_item(u8 *leaf, u32 slot, u64 logical, u64 sector, u64 sectors, u64 type)
{
	u32 offset = NODE - 101 - (slot + 1) * 80;

	set_key(leaf + 101 + slot * 25, logical);
	set32(leaf + 101 + slot * 25 + 17, offset);
	set32(leaf + 101 + slot * 25 + 21, 80);
	set_chunk(leaf + 101 + offset, sector, sectors, type);
}

static void make_root(u8 *to, u64 generation, u64 middle_type)
{
	memset(to, 0, NODE);
	make_header(to, CHUNK_ROOT, generation, 3, 3);
	add_item(to, 0, CHUNK_ROOT, SYSTEM, 8 * MIB, BTRFS_CHUNK_SYSTEM);
	add_item(to, 1, 16u << 20, METADATA, DATA - METADATA, BTRFS_CHUNK_METADATA);
	add_item(to, 2, 32u << 20, DATA, DATA_END - DATA, middle_type);
	seal(to, NODE);
}

static void copy(void *ctx, u32 offset, void *to, u32 len)
{
	memcpy(to, ctx + offset, len);
}

/* What the caller's worker does. */
static void give_memory(void)
{
	size_t bytes = btrfs_live_memory(&btrfs);

	if (bytes)
		kvfree(btrfs_live_give(&btrfs, kvzalloc(bytes, GFP_KERNEL), bytes));
}

static bool read_one(struct kunit *test)
{
	u64 sector;
	u32 bytes;

	if (!btrfs_live_want(&btrfs, &sector, &bytes))
		return false;
	KUNIT_ASSERT_TRUE(test, sector >= SYSTEM && sector + bytes / 512 <= SYSTEM + UNIT);
	btrfs_live_learn(&btrfs, root + (sector - SYSTEM) * 512);
	return true;
}

static void work(struct kunit *test)
{
	give_memory();
	while (read_one(test))
		;
}

static void start(struct kunit *test)
{
	kvfree(btrfs.memory);
	memset(&btrfs, 0, sizeof(btrfs));
	make_super(super, 10, 7);
	make_root(root, 7, BTRFS_CHUNK_DATA);
	memset(content, 0x5a, sizeof(content));
	KUNIT_ASSERT_TRUE(test, !btrfs_live_init(&btrfs, super, SECTORS));
}

static void end(void)
{
	kvfree(btrfs.memory);
	btrfs.memory = NULL;
}

static enum verdict write_at(u64 sector, u32 sectors, u32 *len, enum selfid_reason *reason)
{
	struct selfid_request request = { .sector = sector, .sectors = sectors, .copy = copy,
					  .ctx = content };

	return btrfs_live_write(&btrfs, &request, 0, len, reason);
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

static void write_super(struct kunit *test, u64 generation, u64 chunk_generation)
{
	make_super(super, generation, chunk_generation);
	memcpy(content, super, sizeof(super));
	expect(test, BTRFS_SUPER_SECTOR, 8, 8, VERDICT_KEEP, SELFID_SUPER);
	memset(content, 0x5a, sizeof(content));
}

/* A tree block of another place's number: the number does not count. */
static void write_node(struct kunit *test, u64 sector, u64 generation, u64 owner)
{
	make_header(content, 123 << 20, generation, owner, 0);
	expect(test, sector, UNIT, UNIT, VERDICT_KEEP, SELFID_TREE);
	memset(content, 0x5a, sizeof(content));
}

static void superblock_is_understood(struct kunit *test)
{
	make_super(super, 10, 7);
	KUNIT_ASSERT_TRUE(test, !btrfs_parse_super(super, SECTORS, &geo));
	KUNIT_EXPECT_TRUE(test, !geo.unsafe);
	KUNIT_EXPECT_EQ(test, geo.sectors, SECTORS);
	KUNIT_EXPECT_EQ(test, geo.node_bytes, NODE);
	KUNIT_EXPECT_EQ(test, geo.generation, 10);
	KUNIT_EXPECT_EQ(test, btrfs_system_sector(&geo, CHUNK_ROOT + NODE), SYSTEM + UNIT);
	KUNIT_EXPECT_EQ(test, btrfs_system_sector(&geo, CHUNK_ROOT - NODE), 0);
}

static void impossible_superblocks_are_refused(struct kunit *test)
{
	static const struct {
		u32 at, value;
	} cases[] = {
		{ 48, 0 }, { 64, 0 }, { 144, 100 }, { 144, 3 << 12 }, { 148, 0 }, { 148, 2048 },
		{ 148, 1 << 17 }, { 209, 0 }, { 213, 1 }, { 160, 2049 }, { 160, 16 }, { 160, 96 },
		{ 188, 0x375 }, { 811 + 17, 0 }, { 811 + 17 + 44, 0 }, { 811 + 17 + 44, 2 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		make_super(super, 10, 7);
		set32(super + cases[i].at, cases[i].value);
		seal(super, sizeof(super));
		KUNIT_EXPECT_EQ_MSG(test, !btrfs_parse_super(super, SECTORS, &geo), false,
				    "case %d", i);
	}
	make_super(super, 10, 7);
	super[300]++;
	KUNIT_EXPECT_TRUE(test, btrfs_parse_super(super, SECTORS, &geo));
	make_super(super, 10, 7);
	KUNIT_EXPECT_TRUE(test, btrfs_parse_super(super, SECTORS - 1, &geo));
}

static void what_is_not_proven_is_kept_whole(struct kunit *test)
{
	static const struct {
		u32 at, value;
	} cases[] = {
		{ 188, 0x371 | 1 << 7 },	/* raid5 */
		{ 188, 0x371 | 1 << 12 },	/* zoned */
		{ 188, 0x371 | 1 << 13 },	/* extent tree 2 */
		{ 188, 0x371 | 1 << 14 },	/* raid-stripe tree */
		{ 192, 1 },			/* a future one */
		{ 180, 0x13 },
		{ 60, 1 },			/* seed */
		{ 201, 0 },			/* replace */
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		start(test);
		set32(super + cases[i].at, cases[i].value);
		seal(super, sizeof(super));
		KUNIT_EXPECT_EQ_MSG(test, !btrfs_live_init(&btrfs, super, SECTORS), true,
				    "case %d", i);
		expect(test, DATA, UNIT, UNIT, VERDICT_KEEP, SELFID_UNSAFE);
	}
	end();
}

static void header_is_kept_wherever_it_lies(struct kunit *test)
{
	start(test);
	work(test);
	write_node(test, NOWHERE, 10, 5);
	write_node(test, DATA, 10, 5);
	write_node(test, METADATA, 10, 5);
	make_header(content, 0, 10, 5, 0);
	content[40]++;
	expect(test, NOWHERE, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	end();
}

static void places_are_kept(struct kunit *test)
{
	start(test);
	work(test);
	expect(test, 0, 8, 8, VERDICT_KEEP, SELFID_SUPER);
	expect(test, 2040, 16, 8, VERDICT_KEEP, SELFID_SUPER);
	expect(test, 1 << 17, 8, 8, VERDICT_KEEP, SELFID_SUPER);
	expect(test, (1 << 17) - UNIT, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	expect(test, SYSTEM + 5, 100, UNIT - 5, VERDICT_KEEP, SELFID_CHUNK);
	expect(test, METADATA + UNIT, UNIT, UNIT, VERDICT_KEEP, SELFID_CHUNK);
	expect(test, SECTORS, 8, 8, VERDICT_KEEP, SELFID_BEYOND);
	end();
}

static void slot_without_header_is_data_before_anything_is_known(struct kunit *test)
{
	start(test);
	/* Alignment is a matter of the chunk tree. */
	expect(test, NOWHERE, UNIT, 8, VERDICT_UNDECIDED, SELFID_PART);
	work(test);
	expect(test, NOWHERE, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	expect(test, NOWHERE, 3 * UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	expect(test, NOWHERE, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	end();
}

static void later_parts_follow_their_header(struct kunit *test)
{
	start(test);
	work(test);
	write_super(test, 11, 7);
	expect(test, DATA + 8, 24, 24, VERDICT_SQUASH, SELFID_DATA);
	make_header(content, 0, 11, LOG_TREE, 0);
	expect(test, DATA, 8, 8, VERDICT_KEEP, SELFID_TREE);
	expect(test, DATA + 24, 8, 8, VERDICT_KEEP, SELFID_REST);
	expect(test, DATA + 8, 16, 16, VERDICT_KEEP, SELFID_REST);
	memset(content, 0x5a, sizeof(content));
	expect(test, DATA, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	expect(test, DATA + 24, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	end();
}

/* What would not be read from anything else; 128 KiB from where it begins. */
static void compressed_extents_are_kept(struct kunit *test)
{
	static const u8 zlib[] = {	/* level 3 */
		0x78, 0x5e, 0xed, 0xd9, 0x59, 0xba, 0xe4, 0xb6,
		0x72, 0x04, 0xe0, 0x77, 0xae, 0x82, 0x2b, 0xf0,
	};
	u32 at;

	start(test);
	work(test);
	write_super(test, 11, 7);
	memset(content, 0x5a, sizeof(content));
	set32(content + 8192, 0xfd2fb528);
	expect(test, DATA + 6144, UNIT, 16, VERDICT_SQUASH, SELFID_DATA);
	set32(content, 0xfd2fb528);
	memset(content + 8192, 0x5a, 4);
	expect(test, DATA + 16, 16, 16, VERDICT_KEEP, SELFID_COMPRESSED);
	memset(content, 0x5a, 4);
	for (at = 32; at < 256 + 16; at += 8)
		expect(test, DATA + at, 8, 8, VERDICT_KEEP, SELFID_COMPRESSED);
	expect(test, DATA + 256 + 16, 16, 16, VERDICT_SQUASH, SELFID_DATA);
	/* Metadata stays that. */
	expect(test, METADATA + UNIT, UNIT, UNIT, VERDICT_KEEP, SELFID_CHUNK);
	memcpy(content, zlib, sizeof(zlib));
	expect(test, DATA + 1024, UNIT, UNIT, VERDICT_KEEP, SELFID_COMPRESSED);
	content[5] ^= 1;
	expect(test, DATA + 2048, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	/* lzo: segments of 1500 bytes. */
	set32(content, 9000);
	for (at = 4; at < 4096; at += 4 + 1500)
		set32(content + at, 1500);
	expect(test, DATA + 3072, UNIT, UNIT, VERDICT_KEEP, SELFID_COMPRESSED);
	set32(content + 4 + 1504, 0);
	expect(test, DATA + 4096, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	/* A file of small numbers. */
	for (at = 0; at < 4096; at += 4)
		set32(content + at, 3000 - at / 4);
	expect(test, DATA + 5120, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	end();
}

static void chunk_decides_about_parts(struct kunit *test)
{
	start(test);
	work(test);
	write_super(test, 11, 7);
	expect(test, DATA + 8, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	expect(test, METADATA + 8, 8, 8, VERDICT_KEEP, SELFID_CHUNK);
	expect(test, NOWHERE + 8, 8, 8, VERDICT_UNDECIDED, SELFID_PART);
	end();
}

static void parts_wait_while_a_commit_is_written(struct kunit *test)
{
	start(test);
	work(test);
	write_super(test, 11, 7);
	write_node(test, METADATA, 12, LOG_TREE);
	expect(test, DATA + 8, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	write_node(test, METADATA, 12, 5);
	expect(test, DATA + 8, 8, 8, VERDICT_UNDECIDED, SELFID_PART);
	/* A log commit names the old generation. */
	write_super(test, 11, 7);
	expect(test, DATA + 8, 8, 8, VERDICT_UNDECIDED, SELFID_PART);
	write_super(test, 12, 7);
	expect(test, DATA + 8, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	end();
}

static void undecided_parts_are_decided_by_the_next_commit(struct kunit *test)
{
	start(test);
	work(test);
	write_super(test, 11, 7);
	KUNIT_EXPECT_EQ(test, btrfs_live_tag(&btrfs), 11);
	KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, DATA + 8, 8, 11), VERDICT_UNDECIDED);
	write_super(test, 12, 7);
	KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, DATA + 8, 8, 11), VERDICT_SQUASH);
	KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, METADATA + 8, 8, 11), VERDICT_KEEP);
	KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, NOWHERE + 8, 8, 11), VERDICT_UNDECIDED);
	/* The chunk at DATA has become one of metadata. */
	make_root(root, 13, BTRFS_CHUNK_METADATA);
	write_super(test, 13, 13);
	KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, DATA + 8, 8, 11), VERDICT_UNDECIDED);
	expect(test, DATA_END - UNIT + 8, 8, 8, VERDICT_UNDECIDED, SELFID_PART);
	work(test);
	KUNIT_EXPECT_EQ(test, btrfs_live_epoch(&btrfs), 13);
	KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, DATA + 8, 8, 12), VERDICT_KEEP);
	expect(test, DATA + 8, 8, 8, VERDICT_KEEP, SELFID_CHUNK);
	/* What no chunk claims in the end. */
	write_super(test, 14, 13);
	KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, NOWHERE + 8, 8, 11), VERDICT_KEEP);
	end();
}

static void damaged_chunk_tree_leaves_parts_undecided(struct kunit *test)
{
	static const u32 places[] = { 0, 40, 48, 80, 96, 100, 101 + 8, 5000, NODE - 1 };
	int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		start(test);
		root[places[i]]++;
		work(test);
		KUNIT_EXPECT_EQ_MSG(test, btrfs.errors, 1, "byte %u", places[i]);
		expect(test, DATA + 8, 8, 8, VERDICT_UNDECIDED, SELFID_PART);
	}
	end();
}

static void impossible_chunks_are_refused(struct kunit *test)
{
	static const struct {
		u32 at, value;
	} cases[] = {
		{ 101 + 17, NODE },			/* offset of item 0 */
		{ 101 + 21, NODE },			/* its size */
		{ NODE - 80, 0x1ff },			/* length */
		{ NODE - 80 + 4, 1 },			/* beyond the device */
		{ NODE - 80 + 24, 0x80 },		/* raid5 */
		{ NODE - 80 + 44, 0 },			/* stripes */
		{ NODE - 80 + 44, 9 },
		{ NODE - 80 + 56, METADATA * 512u },	/* over another */
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		start(test);
		set32(root + cases[i].at, cases[i].value);
		seal(root, NODE);
		work(test);
		KUNIT_EXPECT_EQ_MSG(test, btrfs.errors, 1, "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, btrfs.settled, false, "case %d", i);
	}
	end();
}

static void unaligned_chunk_makes_every_sector_a_slot(struct kunit *test)
{
	start(test);
	add_item(root, 2, 32u << 20, DATA + 8, DATA_END - DATA - 8, BTRFS_CHUNK_DATA);
	seal(root, NODE);
	work(test);
	KUNIT_EXPECT_TRUE(test, btrfs.misaligned);
	expect(test, NOWHERE, UNIT, 8, VERDICT_UNDECIDED, SELFID_PART);
	make_header(content, 0, 10, 5, 0);
	expect(test, NOWHERE + 8, UNIT, 8, VERDICT_KEEP, SELFID_TREE);
	memset(content, 0x5a, sizeof(content));
	expect(test, NOWHERE + UNIT, 8, 8, VERDICT_KEEP, SELFID_REST);
	expect(test, NOWHERE + UNIT + 8, 8, 8, VERDICT_UNDECIDED, SELFID_PART);
	end();
}

static void answer_of_an_older_commit_does_not_count(struct kunit *test)
{
	u64 sector;
	u32 bytes;

	start(test);
	give_memory();
	KUNIT_ASSERT_TRUE(test, btrfs_live_want(&btrfs, &sector, &bytes));
	KUNIT_EXPECT_TRUE(test, !btrfs_live_want(&btrfs, &sector, &bytes));
	make_root(root, 11, BTRFS_CHUNK_METADATA);
	write_super(test, 11, 11);
	memset(content, 0, sizeof(content));
	btrfs_live_learn(&btrfs, content);
	work(test);
	KUNIT_EXPECT_EQ(test, btrfs.errors, 0);
	expect(test, DATA + 8, 8, 8, VERDICT_KEEP, SELFID_CHUNK);
	end();
}

static void mixed_chunks_go_by_headers_alone(struct kunit *test)
{
	start(test);
	set64(super + 188, 0x375);
	set32(super + 148, 4096);
	seal(super, sizeof(super));
	KUNIT_ASSERT_TRUE(test, !btrfs_live_init(&btrfs, super, SECTORS));
	/* A node is a sector: nothing has to be known. */
	expect(test, DATA + 8, 16, 8, VERDICT_SQUASH, SELFID_DATA);
	make_header(content, 0, 10, 5, 0);
	expect(test, DATA + 8, 16, 8, VERDICT_KEEP, SELFID_TREE);
	memset(content, 0x5a, sizeof(content));
	expect(test, DATA + 17, 7, 7, VERDICT_UNDECIDED, SELFID_PART);
	end();
}

static void several_devices_make_parts_wait(struct kunit *test)
{
	start(test);
	set64(super + 136, 2);
	seal(super, sizeof(super));
	KUNIT_ASSERT_TRUE(test, !btrfs_live_init(&btrfs, super, SECTORS));
	work(test);
	expect(test, DATA, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	expect(test, DATA + 8, 8, 8, VERDICT_UNDECIDED, SELFID_PART);
	end();
}

/* Parity of tree blocks has no header. */
static void several_devices_make_new_chunks_wait(struct kunit *test)
{
	start(test);
	work(test);
	expect(test, NOWHERE, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	set64(super + 136, 2);
	seal(super, sizeof(super));
	KUNIT_ASSERT_TRUE(test, !btrfs_live_init(&btrfs, super, SECTORS));
	work(test);
	expect(test, NOWHERE, UNIT, UNIT, VERDICT_UNDECIDED, SELFID_PART);
	expect(test, DATA, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	end();
}

/* The chunk of data is of @type, over this device and another one. */
static void stripe_root(u64 type)
{
	u32 offset = NODE - 101 - 2 * 80 - 112;
	u8 *chunk = root + 101 + offset;

	make_root(root, 7, BTRFS_CHUNK_DATA);
	memset(chunk, 0, 112);
	set32(root + 101 + 2 * 25 + 17, offset);
	set32(root + 101 + 2 * 25 + 21, 112);
	set_chunk(chunk, DATA, DATA_END - DATA, type);
	set16(chunk + 44, 2);
	set16(chunk + 46, 1);
	set64(chunk + 80, 2);
	if (type & (1 << 3 | 1 << 6))
		set64(chunk, 2ULL * (DATA_END - DATA) * 512);
	seal(root, NODE);
}

static void start_on_two(struct kunit *test, u64 type)
{
	start(test);
	set64(super + 136, 2);
	seal(super, sizeof(super));
	stripe_root(type);
	KUNIT_ASSERT_TRUE(test, !btrfs_live_init(&btrfs, super, SECTORS));
}

/* A stripe may begin with the rest of a compressed extent, whose header is on another device. */
static void data_in_stripes_is_kept(struct kunit *test)
{
	static const u64 striped[] = { 1 << 3, 1 << 6 };
	int i;

	for (i = 0; i < ARRAY_SIZE(striped); i++) {
		start_on_two(test, BTRFS_CHUNK_DATA | striped[i]);
		/* Not known yet: undecided, and kept by the commit that names the chunk. */
		expect(test, DATA, UNIT, 8, VERDICT_UNDECIDED, SELFID_PART);
		work(test);
		KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, DATA, 8, 9), VERDICT_KEEP);
		KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, DATA + 72, 8, 9), VERDICT_KEEP);
		expect(test, DATA, UNIT, UNIT, VERDICT_KEEP, SELFID_COMPRESSED);
		expect(test, DATA + UNIT, UNIT, UNIT, VERDICT_KEEP, SELFID_COMPRESSED);
		expect(test, DATA + 8, 8, 8, VERDICT_KEEP, SELFID_COMPRESSED);
		expect(test, DATA_END - 8, 24, 8, VERDICT_KEEP, SELFID_COMPRESSED);
		write_node(test, DATA, 10, 5);
	}
	/* RAID 1, and RAID 0 on one device, divide nothing. */
	start_on_two(test, BTRFS_CHUNK_DATA | 1 << 4);
	work(test);
	KUNIT_EXPECT_EQ(test, btrfs_live_decide(&btrfs, DATA, 8, 9), VERDICT_SQUASH);
	expect(test, DATA, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	start(test);
	make_root(root, 7, BTRFS_CHUNK_DATA | 1 << 3);
	work(test);
	expect(test, DATA, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	end();
}

static void torn_superblock_stops_everything(struct kunit *test)
{
	start(test);
	work(test);
	expect(test, BTRFS_SUPER_SECTOR + 1, 7, 7, VERDICT_KEEP, SELFID_SUPER);
	expect(test, DATA, UNIT, UNIT, VERDICT_KEEP, SELFID_UNSAFE);
	write_super(test, 12, 7);
	work(test);
	expect(test, DATA, UNIT, UNIT, VERDICT_SQUASH, SELFID_DATA);
	end();
}

static void space_cache_is_kept(struct kunit *test)
{
	start(test);
	set64(super + 180, 0);
	set64(super + 555, 10);
	seal(super, sizeof(super));
	KUNIT_ASSERT_TRUE(test, !btrfs_live_init(&btrfs, super, SECTORS));
	KUNIT_EXPECT_TRUE(test, btrfs.geo.space_cache);
	work(test);
	btrfs.committing = false;
	/* 16 pages: their checksums, the generation, and the rest of the first. */
	set64(content + 64, 11);
	set32(content, crc_of(CRC_32C, content + 64, 4096 - 64));
	expect(test, DATA + 8, 64, 8, VERDICT_KEEP, SELFID_CACHE);
	content[1]++;
	expect(test, DATA + 15 * 8, 8, 8, VERDICT_KEEP, SELFID_REST);
	expect(test, DATA + 256, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	expect(test, DATA + 17 * 8, 8, 8, VERDICT_SQUASH, SELFID_DATA);
	end();
}

static struct kunit_case btrfs_cases[] = {
	KUNIT_CASE(superblock_is_understood),
	KUNIT_CASE(impossible_superblocks_are_refused),
	KUNIT_CASE(what_is_not_proven_is_kept_whole),
	KUNIT_CASE(header_is_kept_wherever_it_lies),
	KUNIT_CASE(places_are_kept),
	KUNIT_CASE(slot_without_header_is_data_before_anything_is_known),
	KUNIT_CASE(later_parts_follow_their_header),
	KUNIT_CASE(compressed_extents_are_kept),
	KUNIT_CASE(chunk_decides_about_parts),
	KUNIT_CASE(parts_wait_while_a_commit_is_written),
	KUNIT_CASE(undecided_parts_are_decided_by_the_next_commit),
	KUNIT_CASE(damaged_chunk_tree_leaves_parts_undecided),
	KUNIT_CASE(impossible_chunks_are_refused),
	KUNIT_CASE(unaligned_chunk_makes_every_sector_a_slot),
	KUNIT_CASE(answer_of_an_older_commit_does_not_count),
	KUNIT_CASE(mixed_chunks_go_by_headers_alone),
	KUNIT_CASE(several_devices_make_parts_wait),
	KUNIT_CASE(several_devices_make_new_chunks_wait),
	KUNIT_CASE(data_in_stripes_is_kept),
	KUNIT_CASE(torn_superblock_stops_everything),
	KUNIT_CASE(space_cache_is_kept),
	{}
};

static struct kunit_suite btrfs_suite = {
	.name = "btrfs",
	.test_cases = btrfs_cases,
};

kunit_test_suite(btrfs_suite);
