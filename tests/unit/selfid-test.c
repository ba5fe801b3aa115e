// SPDX-License-Identifier: GPL-2.0
/*
 * btrfs and xfs volumes on a disk, as the target sees them: when they begin and
 * end, who is at work, and what is kept. One of each kind made by hand.
 */
#include <kunit/test.h>

#include "../../classifier/btrfs/btrfs-live.h"
#include "../../classifier/classifier.h"
#include "../../classifier/xfs/xfs.h"
#include "../../dm-david/portable/crc.h"

#define MIB		2048u
#define SECTORS		(512 * MIB)
#define START		(32 * MIB)	/* of the volume */

#define AG_SECTORS	8000u
#define XFS_SECTORS	(4 * AG_SECTORS)
#define LOG_START	(AG_SECTORS + 4000)

#define NODE		16384u
#define BTRFS_SECTORS	(128 * MIB)
#define SYSTEM		(4 * MIB)
#define DATA		(32 * MIB)
#define CHUNK_ROOT	0x100000

static struct classifier *c;
static u8 content[64 * 1024];	/* of the write being made */
static u8 root[NODE];
static u8 super[4096];

static void put_le(u8 *to, u64 value, u32 bytes)
{
	for (; bytes--; value >>= 8)
		*to++ = value;
}

static void put_be(u8 *to, u64 value, u32 bytes)
{
	while (bytes--)
		*to++ = value >> 8 * bytes;
}

static void seal(u8 *to, u32 at, u32 from, u32 bytes)
{
	put_le(to + at, 0, 4);
	put_le(to + at, crc_of(CRC_32C, to + from, bytes - from), 4);
}

/* 4 groups of 1000 blocks, the log in the second. */
static void make_xfs(u32 name, u32 groups)
{
	memset(super, 0, sizeof(super));
	put_be(super, XFS_MAGIC, 4);
	put_be(super + 4, 4096, 4);
	put_be(super + 8, groups * 1000, 8);
	memset(super + 32, name, 16);
	put_be(super + 48, 1 << 10 | 500, 8);
	put_be(super + 84, 1000, 4);
	put_be(super + 88, groups, 4);
	put_be(super + 96, 100, 4);
	put_be(super + 100, 0xb4a5, 2);
	put_be(super + 102, 512, 2);
	super[120] = 12;
	super[121] = 9;
	super[124] = 10;
	seal(super, 224, 0, 512);
}

static void put_chunk(u8 *to, u64 logical, u64 sector, u64 sectors, u64 type)
{
	put_le(to, 256, 8);
	to[8] = 228;
	put_le(to + 9, logical, 8);
	to += 17;
	put_le(to, sectors * 512, 8);
	put_le(to + 16, 65536, 8);
	put_le(to + 24, type, 8);
	put_le(to + 44, 1, 2);
	put_le(to + 48, 1, 8);
	put_le(to + 56, sector * 512, 8);
}

static void make_btrfs(u32 name, u64 generation)
{
	memset(super, 0, sizeof(super));
	memset(super + 32, name, 16);
	put_le(super + 48, 65536, 8);
	memcpy(super + 64, "_BHRfS_M", 8);
	put_le(super + 72, generation, 8);
	put_le(super + 88, CHUNK_ROOT, 8);
	put_le(super + 136, 1, 8);
	put_le(super + 144, 4096, 4);
	put_le(super + 148, NODE, 4);
	put_le(super + 160, 17 + 80, 4);
	put_le(super + 164, 7, 8);
	put_le(super + 180, 3, 8);
	put_le(super + 188, 0x371, 8);
	put_le(super + 201, 1, 8);
	put_le(super + 209, BTRFS_SECTORS * 512ull, 8);
	put_chunk(super + 811, CHUNK_ROOT, SYSTEM, 8 * MIB, BTRFS_CHUNK_SYSTEM);
	seal(super, 0, 32, sizeof(super));
	/* Its chunk tree: one leaf of two chunks. */
	memset(root, 0, sizeof(root));
	memset(root + 32, name, 16);
	put_le(root + 48, CHUNK_ROOT, 8);
	put_le(root + 80, 7, 8);
	put_le(root + 88, 3, 8);
	put_le(root + 96, 1, 4);
	put_le(root + 101 + 17, NODE - 101 - 80, 4);
	put_le(root + 101 + 21, 80, 4);
	put_chunk(root + NODE - 80 - 17, 32u << 20, DATA, 64 * MIB, BTRFS_CHUNK_DATA);
	memset(root + NODE - 80 - 17, 0, 17);
	put_le(root + 101, 256, 8);
	root[101 + 8] = 228;
	put_le(root + 101 + 9, 32u << 20, 8);
	seal(root, 0, 32, NODE);
}

static void copy(void *ctx, u32 offset, void *to, u32 len)
{
	memcpy(to, content + offset, len);
}

/* The superblock that was written is still on its way: zeros are read. */
static bool overtaken;

static void work(struct kunit *test)
{
	static u8 block[CLASSIFIER_BLOCK];
	int rounds = 0;

	while (c->pending) {
		u64 sector, at = START + SYSTEM;
		const void *what = super;
		size_t bytes;
		u32 len;

		KUNIT_ASSERT_LE_MSG(test, ++rounds, 1000, "the worker never ends");
		while ((bytes = classifier_memory(c)))
			kvfree(classifier_give(c, kvzalloc(bytes, GFP_KERNEL), bytes));
		if (!classifier_want(c, &sector, &len))
			continue;
		if (sector >= at && sector < at + NODE / 512)
			what = root + (sector - at) * 512;
		memcpy(block, what, len);
		if (overtaken && what == super)
			memset(block, 0, len);
		classifier_learn(c, sector, block);
	}
}

/* Write @sectors of content[] at @sector of the volume: the reason for its first part. */
static enum classify_reason put(struct kunit *test, u64 sector, u32 sectors)
{
	struct classify_write w = { .sector = START + sector, .sectors = sectors, .copy = copy };
	enum classify_reason reason, first = REASON_NR;
	u32 pos, len;

	for (pos = 0; pos < sectors; pos += len) {
		classifier_write(c, &w, pos, &len, &reason);
		if (!pos)
			first = reason;
		KUNIT_ASSERT_TRUE(test, len && len <= sectors - pos);
	}
	work(test);
	return first;
}

static enum classify_reason data(struct kunit *test, u64 sector)
{
	memset(content, 0x5a, sizeof(content));
	return put(test, sector, 32);
}

static void put_super(struct kunit *test, u64 sector)
{
	memcpy(content, super, sizeof(super));
	put(test, sector, 8);
}

/* Memory for what the volumes of a new classifier share. */
static void *shared(struct kunit *test)
{
	void *memory = kvzalloc(classifier_shared_bytes(), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	return memory;
}

static void start(struct kunit *test)
{
	c = kvzalloc(sizeof(*c), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c);
	classifier_init(c, shared(test), SECTORS, 1 << 20);
	classifier_by_super(c);
	memset(super, 0, sizeof(super));
	work(test);
}

static void end(void)
{
	classifier_destroy(c, kvfree);
	kvfree(c);
}

static void start_xfs(struct kunit *test)
{
	start(test);
	make_xfs(1, 4);
	put_super(test, 0);
}

static void start_btrfs(struct kunit *test)
{
	start(test);
	make_btrfs(1, 10);
	put_super(test, BTRFS_SUPER_SECTOR);
}

static void log_record(struct kunit *test, u32 at, u32 says, bool unmount)
{
	memset(content, 0, 4096);
	put_be(content, 0xfeedbabe, 4);
	put_be(content + 20, says, 4);
	put_be(content + 40, unmount ? 1 : 5, 4);
	memset(content + 304, 1, 16);
	content[512 + 8] = 0xaa;
	content[512 + 9] = unmount ? 0x20 : 0;
	KUNIT_EXPECT_EQ(test, put(test, LOG_START + at, 8), REASON_JOURNAL);
}

#define EXPECT_DATA(sector, reason)	KUNIT_EXPECT_EQ(test, data(test, sector), reason)

static void xfs_is_mounted_from_the_read_of_its_log_to_the_unmount_record(struct kunit *test)
{
	start_xfs(test);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	EXPECT_DATA(800, REASON_UNMOUNTED);
	classifier_looked(c, START, 8);
	classifier_looked(c, START + LOG_START, 8);
	EXPECT_DATA(800, REASON_UNNAMED);
	log_record(test, 16, 16, true);
	EXPECT_DATA(800, REASON_UNMOUNTED);
	log_record(test, 24, 24, false);
	EXPECT_DATA(800, REASON_UNNAMED);
	end();
}

/* mkfs.xfs writes a superblock that says so, clears the log, and writes the final superblock. */
static void mkfs_of_xfs_proves_its_place_although_it_clears_its_log(struct kunit *test)
{
	start(test);
	classifier_alone(c);
	classifier_discard(c, START, XFS_SECTORS);
	make_xfs(1, 4);
	super[126] = 1;
	seal(super, 224, 0, 512);
	put_super(test, 0);
	EXPECT_DATA(800, REASON_UNSAFE);
	classifier_discard(c, START + LOG_START, 800);
	make_xfs(1, 4);
	put_super(test, 0);
	KUNIT_ASSERT_EQ(test, c->volumes.nr, 1);
	KUNIT_EXPECT_EQ(test, c->volumes.volume[0].proved, XFS_SECTORS);
	EXPECT_DATA(800, REASON_UNMOUNTED);
	log_record(test, 16, 16, false);
	EXPECT_DATA(800, REASON_UNNAMED);
	/* Whoever clears the log now is another. */
	classifier_discard(c, START + LOG_START, 800);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 0);
	end();
}

static void a_superblock_that_was_seen_need_not_be_read(struct kunit *test)
{
	overtaken = true;
	start_xfs(test);
	log_record(test, 16, 16, false);
	EXPECT_DATA(800, REASON_UNNAMED);
	end();
	overtaken = false;
}

static void who_looks_for_what_is_there_may_be_another(struct kunit *test)
{
	start_xfs(test);
	log_record(test, 16, 16, false);
	EXPECT_DATA(800, REASON_UNNAMED);
	classifier_looked(c, START, 2);
	EXPECT_DATA(800, REASON_UNMOUNTED);
	/* A copy of the disk being made is no mount; nor is a log record out of its place. */
	classifier_looked(c, START + LOG_START, 256);
	log_record(test, 32, 16, false);
	EXPECT_DATA(800, REASON_UNMOUNTED);
	log_record(test, 40, 40, false);
	EXPECT_DATA(800, REASON_UNNAMED);
	end();
}

static void named_blocks_are_kept_whoever_is_at_work(struct kunit *test)
{
	start_xfs(test);
	data(test, 800);
	memset(content + 24, 1, 16);
	KUNIT_EXPECT_EQ(test, put(test, 800, 8), REASON_NAMED);
	log_record(test, 16, 16, false);
	data(test, 800);
	memset(content + 24, 1, 16);
	KUNIT_EXPECT_EQ(test, put(test, 800, 8), REASON_NAMED);
	EXPECT_DATA(0 + AG_SECTORS, REASON_STATIC);
	EXPECT_DATA(XFS_SECTORS, REASON_NO_VOLUME);
	end();
}

static void btrfs_is_mounted_from_the_read_of_its_chunk_tree(struct kunit *test)
{
	start_btrfs(test);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	EXPECT_DATA(DATA, REASON_UNMOUNTED);
	/* A tool, through the page cache. */
	classifier_looked(c, START + SYSTEM, 64);
	EXPECT_DATA(DATA, REASON_UNMOUNTED);
	classifier_looked(c, START + SYSTEM, NODE / 512);
	EXPECT_DATA(DATA, REASON_UNNAMED);
	classifier_looked(c, START + BTRFS_SUPER_SECTOR, 8);
	EXPECT_DATA(DATA, REASON_UNMOUNTED);
	/* The same once more tells nothing. */
	make_btrfs(1, 10);
	put_super(test, BTRFS_SUPER_SECTOR);
	EXPECT_DATA(DATA, REASON_UNMOUNTED);
	make_btrfs(1, 11);
	put_super(test, BTRFS_SUPER_SECTOR);
	EXPECT_DATA(DATA, REASON_UNNAMED);
	/* A part of a slot, in a chunk of data. */
	EXPECT_DATA(DATA + 8, REASON_UNNAMED);
	end();
}

static void tree_blocks_of_another_btrfs_are_kept(struct kunit *test)
{
	start_btrfs(test);
	classifier_looked(c, START + SYSTEM, NODE / 512);
	data(test, DATA);
	memset(content, 0x77, 101);
	put_le(content + 48, 0x7700000, 8);
	put_le(content + 56, 1ull << 56 | 1, 8);
	put_le(content + 80, 12, 8);
	content[100] = 1;
	KUNIT_EXPECT_EQ(test, put(test, DATA, 32), REASON_NAMED);
	end();
}

static void slots_that_began_as_data_are_data_until_the_next_commit(struct kunit *test)
{
	const u64 nowhere = 100 * MIB;

	start_btrfs(test);
	make_btrfs(1, 11);
	put_super(test, BTRFS_SUPER_SECTOR);
	memset(content, 0x5a, sizeof(content));
	KUNIT_EXPECT_EQ(test, put(test, nowhere + 8, 24), REASON_PART);
	KUNIT_EXPECT_EQ(test, put(test, nowhere + 64, 8), REASON_UNNAMED);
	KUNIT_EXPECT_EQ(test, put(test, nowhere + 72, 8), REASON_UNNAMED);
	KUNIT_EXPECT_EQ(test, put(test, nowhere + 8, 24), REASON_PART);
	make_btrfs(1, 12);
	put_super(test, BTRFS_SUPER_SECTOR);
	memset(content, 0x5a, sizeof(content));
	KUNIT_EXPECT_EQ(test, put(test, nowhere + 80, 16), REASON_PART);
	end();
}

/* A commit: the chunk at @sector is of @type from now on. */
static void commit(struct kunit *test, u64 generation, u64 sector, u64 type)
{
	make_btrfs(1, generation);
	put_le(root + NODE - 80 + 24, type, 8);
	put_le(root + NODE - 80 + 56, sector * 512, 8);
	put_le(root + 80, generation, 8);
	seal(root, 0, 32, NODE);
	put_le(super + 164, generation, 8);
	seal(super, 0, 32, sizeof(super));
	put_super(test, BTRFS_SUPER_SECTOR);
}

static bool is_dropped(u64 sector)
{
	return classifier_is_data(c, START + sector, 8);
}

/* What is found to be data, in blocks; all of it is dropped. */
static u32 dropped(struct kunit *test)
{
	u32 sectors, i, n = 0, rounds = 0;
	u64 sector;

	while (classifier_claim(c, &sector, &sectors)) {
		KUNIT_ASSERT_LE(test, ++rounds, 1000);
		for (i = 0; i < sectors; i += 8) {
			if (!classifier_is_data(c, sector + i, 8))
				continue;
			classifier_done(c, sector + i, 8);
			n++;
		}
	}
	return n;
}

/* The parts of a node behind its first sector, in a chunk that is not known at first. */
#define NEW_CHUNK	(62 * MIB)
#define PLACE		(100 * MIB)
#define TORN		(PLACE + 8)
#define EXPECT_TORN(sector, reason) do {					\
	memset(content, 0x5a, sizeof(content));					\
	KUNIT_EXPECT_EQ(test, put(test, sector, 24), reason);			\
} while (0)

static void start_remembering(struct kunit *test)
{
	start(test);
	classifier_remember(c, 1 << 20);
	make_btrfs(1, 10);
	put_super(test, BTRFS_SUPER_SECTOR);
	make_btrfs(1, 11);
	put_super(test, BTRFS_SUPER_SECTOR);
}

static void torn_parts_are_dropped_when_a_commit_says_data(struct kunit *test)
{
	start_remembering(test);
	EXPECT_TORN(TORN, REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, dropped(test), 0);
	/* A log commit tells nothing new. */
	make_btrfs(1, 11);
	put_super(test, BTRFS_SUPER_SECTOR);
	KUNIT_EXPECT_EQ(test, dropped(test), 0);
	/* Nor does a commit that knows of no chunk there: the next one may. */
	commit(test, 12, DATA, BTRFS_CHUNK_DATA);
	KUNIT_EXPECT_EQ(test, dropped(test), 0);
	commit(test, 13, NEW_CHUNK, BTRFS_CHUNK_DATA);
	KUNIT_EXPECT_EQ(test, dropped(test), 3);
	KUNIT_EXPECT_EQ(test, c->undecided.figures.now, 0);
	end();
}

static void torn_parts_in_a_chunk_of_metadata_stay_kept(struct kunit *test)
{
	static const u64 type[] = {
		BTRFS_CHUNK_METADATA, BTRFS_CHUNK_SYSTEM, BTRFS_CHUNK_METADATA | BTRFS_CHUNK_DATA,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(type); i++) {
		start_remembering(test);
		EXPECT_TORN(TORN, REASON_UNDECIDED);
		commit(test, 12, NEW_CHUNK, type[i]);
		KUNIT_EXPECT_EQ(test, dropped(test), 0);
		KUNIT_EXPECT_EQ(test, c->undecided.figures.metadata, 3 * 4096);
		/* For good. */
		commit(test, 13, NEW_CHUNK, BTRFS_CHUNK_DATA);
		KUNIT_EXPECT_EQ(test, dropped(test), 0);
		end();
	}
}

static void what_was_written_since_is_not_dropped(struct kunit *test)
{
	start_remembering(test);
	EXPECT_TORN(TORN, REASON_UNDECIDED);
	/* A part of a block, in the middle of the second one. */
	put(test, TORN + 10, 2);
	commit(test, 12, NEW_CHUNK, BTRFS_CHUNK_DATA);
	KUNIT_EXPECT_EQ(test, dropped(test), 2);
	end();

	/* Found to be data, and written before it is dropped. */
	start_remembering(test);
	EXPECT_TORN(TORN, REASON_UNDECIDED);
	commit(test, 12, NEW_CHUNK, BTRFS_CHUNK_DATA);
	classifier_discard(c, START + TORN, 1);
	classifier_kept(c, START + TORN + 23, 1);
	KUNIT_EXPECT_EQ(test, dropped(test), 1);
	KUNIT_EXPECT_FALSE(test, is_dropped(TORN));
	end();
}

static void a_tree_block_over_a_torn_part_is_not_dropped(struct kunit *test)
{
	start_remembering(test);
	EXPECT_TORN(TORN, REASON_UNDECIDED);
	memset(content, 0x5a, sizeof(content));
	memset(content + 32, 1, 16);
	put_le(content + 80, 12, 8);
	KUNIT_EXPECT_EQ(test, put(test, PLACE, 32), REASON_NAMED);
	commit(test, 12, NEW_CHUNK, BTRFS_CHUNK_DATA);
	KUNIT_EXPECT_EQ(test, dropped(test), 0);
	end();
}

static void nothing_of_another_life_is_dropped(struct kunit *test)
{
	u32 how;

	for (how = 0; how < 6; how++) {
		start_remembering(test);
		EXPECT_TORN(TORN, REASON_UNDECIDED);
		switch (how) {
		case 0:		/* a generation of the past: made anew under the same name */
			make_btrfs(1, 5);
			put_super(test, BTRFS_SUPER_SECTOR);
			break;
		case 1:		/* another one */
			make_btrfs(2, 11);
			put_super(test, BTRFS_SUPER_SECTOR);
			break;
		case 2:
			classifier_discard(c, START + BTRFS_SUPER_SECTOR, 8);
			break;
		case 3:		/* written in part */
			put(test, BTRFS_SUPER_SECTOR + 1, 7);
			break;
		case 4:
			data(test, 0);
			break;
		case 5:		/* it says that not everything is known of it */
			make_btrfs(1, 12);
			super[188 + 2] |= 0x80;
			seal(super, 0, 32, sizeof(super));
			put_super(test, BTRFS_SUPER_SECTOR);
		}
		commit(test, 12, NEW_CHUNK, BTRFS_CHUNK_DATA);
		commit(test, 13, NEW_CHUNK, BTRFS_CHUNK_DATA);
		KUNIT_EXPECT_EQ_MSG(test, dropped(test), 0, "case %u", how);
		end();
	}
}

static void what_came_before_it_was_known_to_be_mounted_is_dropped_too(struct kunit *test)
{
	start_remembering(test);
	classifier_looked(c, START + BTRFS_SUPER_SECTOR, 8);
	EXPECT_DATA(PLACE, REASON_UNDECIDED);
	commit(test, 12, NEW_CHUNK, BTRFS_CHUNK_DATA);
	KUNIT_EXPECT_EQ(test, dropped(test), 4);
	end();
}

static void chosen_files_leave_nothing_undecided(struct kunit *test)
{
	start_remembering(test);
	c->by_inode = true;
	EXPECT_TORN(TORN, REASON_PART);
	EXPECT_DATA(PLACE, REASON_UNDECIDED);
	commit(test, 12, NEW_CHUNK, BTRFS_CHUNK_DATA);
	KUNIT_EXPECT_EQ(test, dropped(test), 0);
	end();
}

#define EXPECT_SUMS(sector, sums)						\
	KUNIT_EXPECT_EQ(test, classifier_sums(c, START + (sector)), CLASSIFY_SUMS_##sums)

static void put_super_with(struct kunit *test, u32 type, u32 sector_bytes)
{
	make_btrfs(1, 12);
	put_le(super + 196, type, 2);
	put_le(super + 144, sector_bytes, 4);
	seal(super, 0, 32, sizeof(super));
	put_super(test, BTRFS_SUPER_SECTOR);
}

static void only_btrfs_has_checksums_and_crc32c_can_be_kept(struct kunit *test)
{
	start_xfs(test);
	EXPECT_SUMS(DATA, NONE);
	KUNIT_EXPECT_FALSE(test, classifier_has_sums(c));
	end();

	start_btrfs(test);
	KUNIT_EXPECT_TRUE(test, classifier_has_sums(c));
	EXPECT_SUMS(DATA, CRC32C);
	EXPECT_SUMS(BTRFS_SECTORS, NONE);
	/* Another file system's superblock ends it. */
	data(test, 0);
	EXPECT_SUMS(DATA, NONE);
	end();
}

static void undecided_data_is_forgotten_when_its_checksums_change(struct kunit *test)
{
	static const u32 other[][2] = { { 1, 4096 }, { 2, 4096 }, { 0, 16384 } };
	int i;

	for (i = 0; i < ARRAY_SIZE(other); i++) {
		start_remembering(test);
		EXPECT_TORN(TORN, REASON_UNDECIDED);
		put_super_with(test, other[i][0], other[i][1]);
		EXPECT_SUMS(DATA, OTHER);
		commit(test, 13, NEW_CHUNK, BTRFS_CHUNK_DATA);
		EXPECT_SUMS(DATA, CRC32C);
		KUNIT_EXPECT_EQ(test, dropped(test), 0);
		end();
	}
}

static void checksums_of_a_volume_across_our_blocks_cannot_be_kept(struct kunit *test)
{
	struct classify_write w = {
		.sector = START + 1 + BTRFS_SUPER_SECTOR, .sectors = 8, .copy = copy,
	};
	enum classify_reason reason;
	u32 len;

	start(test);
	make_btrfs(1, 10);
	memcpy(content, super, sizeof(super));
	classifier_write(c, &w, 0, &len, &reason);
	/* Not before it is known what there is of it. */
	EXPECT_SUMS(DATA, OTHER);
	while (classifier_memory(c)) {
		size_t bytes = classifier_memory(c);

		kvfree(classifier_give(c, kvzalloc(bytes, GFP_KERNEL), bytes));
	}
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	KUNIT_EXPECT_TRUE(test, c->volumes.volume[0].ready);
	EXPECT_SUMS(DATA, OTHER);
	end();
}

static void what_overwrites_the_superblock_ends_the_volume(struct kunit *test)
{
	u32 how;

	for (how = 0; how < 4; how++) {
		start_xfs(test);
		log_record(test, 16, 16, false);
		if (how == 0)
			data(test, 0);
		else if (how == 1)
			classifier_discard(c, START, 1);
		else if (how == 2)
			classifier_discard(c, START + LOG_START - 8, 16);
		else
			put(test, -8ull, 16);
		EXPECT_DATA(800, REASON_NO_VOLUME);
		KUNIT_EXPECT_EQ(test, c->volumes.nr, 0);
		end();

		start_btrfs(test);
		classifier_looked(c, START + SYSTEM, NODE / 512);
		EXPECT_DATA(DATA, REASON_UNNAMED);
		if (how == 0)
			data(test, BTRFS_SUPER_SECTOR + 4);
		else if (how == 1)
			classifier_discard(c, START + BTRFS_SUPER_SECTOR + 7, 1);
		else if (how == 2)
			data(test, 2);	/* in front of it, as other mkfs and partition tables do */
		else
			put(test, -8ull, 16);
		EXPECT_DATA(DATA, REASON_NO_VOLUME);
		KUNIT_EXPECT_EQ(test, c->volumes.nr, 0);
		end();
	}
}

static void another_file_system_in_the_same_place_takes_over(struct kunit *test)
{
	start_xfs(test);
	log_record(test, 16, 16, false);
	make_xfs(2, 4);
	put_super(test, 0);
	EXPECT_DATA(800, REASON_UNMOUNTED);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	/* The first one's name is nothing any more. */
	log_record(test, 16, 16, false);
	EXPECT_DATA(800, REASON_UNMOUNTED);
	memset(content, 0, sizeof(content));
	put(test, 0, 128);
	make_btrfs(3, 10);
	put_super(test, BTRFS_SUPER_SECTOR);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	classifier_looked(c, START + SYSTEM, NODE / 512);
	EXPECT_DATA(DATA, REASON_UNNAMED);
	end();
}

static void copies_of_the_xfs_superblock_make_no_volume_but_tell_of_growth(struct kunit *test)
{
	start_xfs(test);
	log_record(test, 16, 16, false);
	make_xfs(1, 4);
	put_super(test, XFS_SECTORS);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	EXPECT_DATA(XFS_SECTORS + 800, REASON_NO_VOLUME);
	make_xfs(1, 6);
	put_super(test, XFS_SECTORS);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	EXPECT_DATA(XFS_SECTORS + 800, REASON_UNNAMED);
	/* Another file system may well begin there. */
	make_xfs(2, 4);
	put_super(test, 8 * XFS_SECTORS);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 2);
	end();
}

static void images_inside_files_make_no_volume(struct kunit *test)
{
	start_xfs(test);
	log_record(test, 16, 16, false);
	make_xfs(2, 2);
	put_super(test, 800);
	classifier_looked(c, START, 8);
	put_super(test, 800);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	log_record(test, 16, 16, false);
	EXPECT_DATA(800, REASON_UNNAMED);
	end();
}

static void memory_is_taken_when_needed_and_used_again(struct kunit *test)
{
	size_t bytes;
	int i;

	start(test);
	KUNIT_EXPECT_EQ(test, classifier_bytes(c), 0);
	make_btrfs(1, 10);
	put_super(test, BTRFS_SUPER_SECTOR);
	bytes = classifier_bytes(c);
	KUNIT_EXPECT_TRUE(test, bytes > sizeof(struct btrfs_live));
	for (i = 2; i < 9; i++) {
		make_btrfs(i, 10);
		put_super(test, BTRFS_SUPER_SECTOR);
		KUNIT_EXPECT_EQ(test, classifier_bytes(c), bytes);
		classifier_looked(c, START + SYSTEM, NODE / 512);
		EXPECT_DATA(DATA, REASON_UNNAMED);
	}
	end();
}

static void where_only_whole_disks_count_partitions_are_not_found(struct kunit *test)
{
	start(test);
	classifier_only_whole(c);
	make_xfs(1, 4);
	put_super(test, 0);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 0);
	put_super(test, -(u64)START);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	end();
}

static void a_disk_that_was_there_before_is_looked_up(struct kunit *test)
{
	start(test);
	make_xfs(1, 4);
	classifier_mount(c, START, VOLUME_MOUNTED);
	work(test);
	KUNIT_EXPECT_EQ(test, c->volumes.nr, 1);
	/* But who is at work is not known. */
	EXPECT_DATA(800, REASON_UNMOUNTED);
	log_record(test, 16, 16, false);
	EXPECT_DATA(800, REASON_UNNAMED);
	end();
}

static void nothing_is_read_behind_a_small_disks_end(struct kunit *test)
{
	static const u64 sizes[] = { 1, 7, 8, 100, BTRFS_SUPER_SECTOR + 7 };
	u64 sector;
	u32 bytes;
	int i;

	c = kvzalloc(sizeof(*c), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c);
	memset(content, 0, CLASSIFIER_BLOCK);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		classifier_init(c, shared(test), sizes[i], 1 << 20);
		classifier_by_super(c);
		while (classifier_want(c, &sector, &bytes)) {
			KUNIT_EXPECT_LE(test, sector + bytes / 512, sizes[i]);
			classifier_learn(c, sector, content);
		}
		classifier_destroy(c, kvfree);
	}
	kvfree(c);
}

static struct kunit_case selfid_cases[] = {
	KUNIT_CASE(xfs_is_mounted_from_the_read_of_its_log_to_the_unmount_record),
	KUNIT_CASE(mkfs_of_xfs_proves_its_place_although_it_clears_its_log),
	KUNIT_CASE(a_superblock_that_was_seen_need_not_be_read),
	KUNIT_CASE(who_looks_for_what_is_there_may_be_another),
	KUNIT_CASE(named_blocks_are_kept_whoever_is_at_work),
	KUNIT_CASE(btrfs_is_mounted_from_the_read_of_its_chunk_tree),
	KUNIT_CASE(tree_blocks_of_another_btrfs_are_kept),
	KUNIT_CASE(slots_that_began_as_data_are_data_until_the_next_commit),
	KUNIT_CASE(torn_parts_are_dropped_when_a_commit_says_data),
	KUNIT_CASE(torn_parts_in_a_chunk_of_metadata_stay_kept),
	KUNIT_CASE(what_was_written_since_is_not_dropped),
	KUNIT_CASE(a_tree_block_over_a_torn_part_is_not_dropped),
	KUNIT_CASE(nothing_of_another_life_is_dropped),
	KUNIT_CASE(what_came_before_it_was_known_to_be_mounted_is_dropped_too),
	KUNIT_CASE(chosen_files_leave_nothing_undecided),
	KUNIT_CASE(only_btrfs_has_checksums_and_crc32c_can_be_kept),
	KUNIT_CASE(undecided_data_is_forgotten_when_its_checksums_change),
	KUNIT_CASE(checksums_of_a_volume_across_our_blocks_cannot_be_kept),
	KUNIT_CASE(what_overwrites_the_superblock_ends_the_volume),
	KUNIT_CASE(another_file_system_in_the_same_place_takes_over),
	KUNIT_CASE(copies_of_the_xfs_superblock_make_no_volume_but_tell_of_growth),
	KUNIT_CASE(images_inside_files_make_no_volume),
	KUNIT_CASE(memory_is_taken_when_needed_and_used_again),
	KUNIT_CASE(where_only_whole_disks_count_partitions_are_not_found),
	KUNIT_CASE(a_disk_that_was_there_before_is_looked_up),
	KUNIT_CASE(nothing_is_read_behind_a_small_disks_end),
	{}
};

static struct kunit_suite selfid_suite = {
	.name = "selfid",
	.test_cases = selfid_cases,
};

kunit_test_suite(selfid_suite);
