// SPDX-License-Identifier: GPL-2.0
/*
 * The classifier as the target calls it, on small disks made by hand: what is
 * kept and what is squashed in a volume's life.
 */
#include <kunit/test.h>

#include "ext-disk.h"
#include "../../dm-david/portable/crc.h"

static void a_life(struct kunit *test, u64 start)
{
	struct disk *d = make(test, start);

	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_NO_VOLUME);
	mkfs(test, d, 1);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNMOUNTED);
	classifier_mount(&d->c, start, VOLUME_MOUNTED);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	descriptor(test, d, 1, 1, 500);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_LOGGED);
	KUNIT_EXPECT_EQ(test, data(test, d, 501), REASON_UNLOGGED);
	commit(test, d, 3, 1);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_LOGGED);
	KUNIT_EXPECT_EQ(test, data(test, d, BLOCKS - 1), REASON_UNLOGGED);
	KUNIT_EXPECT_EQ(test, data(test, d, BLOCKS), REASON_NO_VOLUME);
	KUNIT_EXPECT_EQ(test, data(test, d, 1), REASON_STATIC);
	classifier_mount(&d->c, start, VOLUME_UNMOUNTED);
	KUNIT_EXPECT_EQ(test, data(test, d, 600), REASON_UNMOUNTED);
	classifier_mount(&d->c, start, VOLUME_READONLY);
	KUNIT_EXPECT_EQ(test, data(test, d, 600), REASON_UNMOUNTED);
	done(d);
}

static void a_life_on_the_whole_disk(struct kunit *test)
{
	a_life(test, 0);
}

static void a_life_on_a_partition(struct kunit *test)
{
	a_life(test, 63);
	a_life(test, 2048);
}

static void another_mkfs_ends_what_was_known(struct kunit *test)
{
	struct disk *d = make(test, 0);

	mkfs(test, d, 1);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	/* Nobody has said that the first one was unmounted. */
	super(2, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNMOUNTED);
	KUNIT_EXPECT_EQ(test, d->c.volumes.nr, 1);
	done(d);
}

static void a_superblock_overwritten_ends_the_volume(struct kunit *test)
{
	struct disk *d = make(test, 0);

	mkfs(test, d, 1);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	memset(block, 0, BLOCK);
	put(test, d, 2, 1);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_NO_VOLUME);
	mkfs(test, d, 1);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	classifier_discard(&d->c, 0, 16);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_NO_VOLUME);
	done(d);
}

static void what_cannot_be_decided_is_kept(struct kunit *test)
{
	struct disk *d = make(test, 0);

	mkfs(test, d, 1);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	super(1, 0, 0, 0);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNSAFE);
	super(1, EXT_COMPAT_HAS_JOURNAL, 0, 0);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNSAFE);
	super(1, EXT_COMPAT_HAS_JOURNAL, EXT_RO_COMPAT_VERITY, EXT_JOURNAL_INO);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNSAFE);
	/* Back again: the journal's tail was in the meantime not seen. */
	super(1, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	done(d);
}

static void mounted_without_its_journal_all_is_kept(struct kunit *test)
{
	struct disk *d = make(test, 0);

	mkfs(test, d, 1);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	super(1, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	le32_at(1024 + 0x60, 0);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNJOURNALED);
	super(1, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	done(d);
}

static void half_a_journal_block_keeps_everything(struct kunit *test)
{
	struct disk *d = make(test, 0);

	mkfs(test, d, 1);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	memset(block, 0, BLOCK);
	KUNIT_EXPECT_EQ(test, put(test, d, (JOURNAL + 1) * 8, 4), REASON_JOURNAL);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_LEARNING);
	/* Until the log begins anew. */
	journal_super(0, 2);
	put_block(test, d, JOURNAL);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_LEARNING);
	journal_super(1, 3);
	put_block(test, d, JOURNAL);
	descriptor(test, d, 1, 3, 600);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	done(d);
}

static void a_mount_on_an_unknown_disk_is_looked_up(struct kunit *test)
{
	struct disk *d = make(test, 2048);

	mkfs(test, d, 1);
	classifier_destroy(&d->c, kvfree);
	begin(test, d, SECTORS);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_NO_VOLUME);
	classifier_mount(&d->c, 2048, VOLUME_MOUNTED);
	KUNIT_EXPECT_TRUE(test, d->c.pending);
	work(test, d);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	done(d);
}

static void a_moved_journal_is_learned_again(struct kunit *test)
{
	struct disk *d = make(test, 0);

	mkfs(test, d, 1);
	/* tune2fs: the journal inode now points elsewhere, where there is no journal. */
	memcpy(block, d->store + TABLE * BLOCK, BLOCK);
	le32_at(7 * 256 + 0x3c, JOURNAL + 200);
	put_block(test, d, TABLE);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNSAFE);
	/* And now there is. */
	classifier_mount(&d->c, 0, VOLUME_UNMOUNTED);
	journal_super(0, 1);
	put_block(test, d, JOURNAL + 200);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	done(d);
}

static void volumes_side_by_side_do_not_mix(struct kunit *test)
{
	struct disk *d = make(test, 2048);

	mkfs(test, d, 1);
	classifier_mount(&d->c, 2048, VOLUME_MOUNTED);
	d->start = 2048 + BLOCKS * 8;
	mkfs(test, d, 2);
	KUNIT_EXPECT_EQ(test, d->c.volumes.nr, 2);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNMOUNTED);
	d->start = 2048;
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNLOGGED);
	/* A file that holds an image of a file system makes no volume. */
	super(3, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	KUNIT_EXPECT_EQ(test, put_block(test, d, 500), REASON_UNLOGGED);
	KUNIT_EXPECT_EQ(test, d->c.volumes.nr, 2);
	/* One that begins before both and reaches into the first ends that one only. */
	d->start = 1024;
	super(4, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, d->c.volumes.nr, 2);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNMOUNTED);
	done(d);
}

static void descriptors_behind_the_end_are_given_up(struct kunit *test)
{
	struct disk *d = make(test, 2048);

	classifier_remember(&d->c, 1 << 20);
	super(1, 0, 0, 0);
	le32_at(1024 + 0x04, 1);
	put_block(test, d, 0);
	classifier_mount(&d->c, d->start, VOLUME_MOUNTED);
	/* The worker comes to an end. */
	work(test, d);
	KUNIT_EXPECT_EQ(test, d->c.volumes.nr, 1);
	KUNIT_EXPECT_TRUE(test, ext_of(&d->c.volumes.volume[0])->layout.failed);
	done(d);
}

static void with_too_many_volumes_the_rest_is_kept(struct kunit *test)
{
	struct disk *d = make(test, 0);
	u32 i;

	/* Small ones: 2 MiB apart, of 256 blocks. */
	for (i = 0; i < VOLUMES_MAX + 4; i++) {
		d->start = i * 2048;
		super(i, 0, 0, 0);
		le32_at(1024 + 0x04, 256);
		put_block(test, d, 0);
	}
	KUNIT_EXPECT_EQ(test, d->c.volumes.nr, VOLUMES_MAX);
	KUNIT_EXPECT_EQ(test, d->c.volumes.refused, 4);
	KUNIT_EXPECT_EQ(test, data(test, d, 100), REASON_NO_VOLUME);
	done(d);
}

/* A file's inode, number 11 + @n, with one extent. */
static void inode(u32 n, u32 mode, u32 size, u32 flags, u32 first, u32 len)
{
	u32 at = (10 + n) * 256 % BLOCK;

	le16_at(at, mode);
	le32_at(at + 0x04, size);
	le16_at(at + 0x1a, 1);
	le32_at(at + 0x20, flags | 0x80000);
	le16_at(at + 0x28, 0xf30a);
	le16_at(at + 0x2a, 1);
	le16_at(at + 0x2c, 4);
	le16_at(at + 0x38, len);
	le32_at(at + 0x3c, first);
}

static struct disk *make_plain(struct kunit *test, u32 incompat, u32 ro_compat)
{
	struct disk *d = make(test, 2048);

	classifier_remember(&d->c, 1 << 20);
	memset(block, 0, BLOCK);
	le32_at(0, 10);
	le32_at(4, 11);
	le32_at(8, TABLE);
	put_block(test, d, 1);
	super(1, 0, ro_compat, 0);
	le32_at(1024 + 0x60, incompat);
	put_block(test, d, 0);
	classifier_mount(&d->c, d->start, VOLUME_MOUNTED);
	work(test, d);
	return d;
}

static void inodes_tell_what_no_journal_tells(struct kunit *test)
{
	struct disk *d = make_plain(test, 0x40, 0);
	u32 i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, data(test, d, 500 + i), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, data(test, d, 11), REASON_STATIC);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	/* Three blocks of a file, of which one is beyond its end; none of others. */
	memset(block, 0, BLOCK);
	inode(0, 0x81a4, BLOCK + 1, 0, 500, 3);
	inode(1, 0x41ed, BLOCK, 0, 504, 1);		/* directory: known to be metadata */
	inode(2, 0x81a4, BLOCK, 0x10, 505, 1);		/* immutable, as quota files are */
	inode(3, 0x81a4, BLOCK, 0x200000, 506, 1);	/* value of an attribute */
	inode(4, 0x81a4, BLOCK, 0, 507, 1);
	le16_at(14 * 256 + 0x1a, 0);			/* unlinked */
	KUNIT_EXPECT_EQ(test, put_block(test, d, TABLE), REASON_STATIC);
	KUNIT_EXPECT_EQ(test, told(test, d), 3);
	KUNIT_EXPECT_EQ(test, d->c.undecided.figures.metadata, 2 * BLOCK);
	KUNIT_EXPECT_EQ(test, d->c.undecided.figures.now, 6 * BLOCK);
	/* Written again, with what may be a directory, and with data. */
	memset(block, 0, BLOCK);
	le32_at(0, 12);
	le16_at(4, BLOCK);
	KUNIT_EXPECT_EQ(test, put_block(test, d, 500), REASON_LOOKS);
	KUNIT_EXPECT_EQ(test, data(test, d, 501), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	classifier_again(&d->c);
	KUNIT_EXPECT_EQ(test, told(test, d), 2);
	/* Discarded. */
	KUNIT_EXPECT_EQ(test, data(test, d, 501), REASON_UNDECIDED);
	classifier_discard(&d->c, d->start + 501 * 8, 8);
	classifier_again(&d->c);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	/* Kept for a reason of the caller's. */
	KUNIT_EXPECT_EQ(test, data(test, d, 501), REASON_UNDECIDED);
	classifier_kept(&d->c, d->start + 501 * 8, 8);
	classifier_again(&d->c);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	done(d);
}

static void what_is_written_after_it_was_told_is_not_data(struct kunit *test)
{
	struct disk *d = make_plain(test, 0x40, 0);
	u64 sector;
	u32 sectors;

	data(test, d, 500);
	memset(block, 0, BLOCK);
	inode(0, 0x81a4, BLOCK, 0, 500, 1);
	put_block(test, d, TABLE);
	KUNIT_ASSERT_TRUE(test, classifier_claim(&d->c, &sector, &sectors));
	KUNIT_EXPECT_TRUE(test, classifier_is_data(&d->c, sector, 8));
	memset(block, 0, BLOCK);
	le32_at(0, 12);
	le16_at(4, BLOCK);
	put_block(test, d, 500);
	KUNIT_EXPECT_FALSE(test, classifier_is_data(&d->c, sector, 8));
	done(d);
}

static void what_a_deleted_file_left_is_data(struct kunit *test)
{
	struct disk *d = make_plain(test, 0x40, 0);

	data(test, d, 500);
	data(test, d, 501);
	memset(block, 0xff, BLOCK);
	block[501 / 8] &= ~(1 << 501 % 8);
	KUNIT_EXPECT_EQ(test, put_block(test, d, 10), REASON_STATIC);
	KUNIT_EXPECT_EQ(test, told(test, d), 2);
	done(d);
}

/* Is block @at told to be data? */
static bool is_told(struct kunit *test, struct disk *d, u64 at)
{
	u64 sector;
	u32 sectors;

	work(test, d);
	while (classifier_claim(&d->c, &sector, &sectors))
		;
	return classifier_is_data(&d->c, d->start + at * 8, 8);
}

static void a_volume_ends_with_its_last_block(struct kunit *test)
{
	struct disk *d = make_plain(test, 0x40, 0);

	KUNIT_EXPECT_EQ(test, data(test, d, BLOCKS - 1), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, data(test, d, BLOCKS), REASON_NO_VOLUME);
	/* An extent that reaches over the end is none. */
	memset(block, 0, BLOCK);
	inode(0, 0x81a4, 2 * BLOCK, 0, BLOCKS - 1, 2);
	put_block(test, d, TABLE);
	KUNIT_EXPECT_FALSE(test, is_told(test, d, BLOCKS - 1));
	inode(0, 0x81a4, BLOCK, 0, BLOCKS - 1, 1);
	put_block(test, d, TABLE);
	KUNIT_EXPECT_TRUE(test, is_told(test, d, BLOCKS - 1));
	KUNIT_EXPECT_FALSE(test, is_told(test, d, BLOCKS));
	/* A bitmap has bits for more blocks than there are. */
	data(test, d, BLOCKS - 1);
	KUNIT_EXPECT_FALSE(test, is_told(test, d, BLOCKS - 1));
	memset(block, 0, BLOCK);
	put_block(test, d, 10);
	KUNIT_EXPECT_TRUE(test, is_told(test, d, BLOCKS - 1));
	KUNIT_EXPECT_FALSE(test, is_told(test, d, BLOCKS));
	done(d);
}

/* A volume becomes shorter while its blocks wait, and another one is made in what it left. */
static void what_a_shorter_volume_left_is_the_next_ones(struct kunit *test)
{
	struct disk *d = make_plain(test, 0x40, 0);
	u64 start = d->start;

	data(test, d, 500);
	data(test, d, 501);
	data(test, d, 502);
	memset(block, 0, BLOCK);
	d->lazy = true;
	put_block(test, d, 10);
	super(1, 0, 0, 0);
	le32_at(1024 + 0x04, 501);
	le32_at(1024 + 0x60, 0x40);
	put_block(test, d, 0);
	d->start = start + 501 * 8;
	super(2, 0, 0, 0);
	le32_at(1024 + 0x04, BLOCKS - 501);
	le32_at(1024 + 0x60, 0x40);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, d->c.volumes.nr, 2);
	data(test, d, 1);
	d->start = start;
	d->lazy = false;
	KUNIT_EXPECT_TRUE(test, is_told(test, d, 500));
	KUNIT_EXPECT_FALSE(test, is_told(test, d, 501));
	KUNIT_EXPECT_FALSE(test, is_told(test, d, 502));
	done(d);
}

static void indirect_blocks_are_followed(struct kunit *test)
{
	struct disk *d = make_plain(test, 0x2, 0);
	u32 i;

	for (i = 0; i < 20; i++)
		data(test, d, 500 + i);
	memset(block, 0, BLOCK);
	for (i = 0; i < 5; i++)
		le32_at(4 * i, 513 + i);
	KUNIT_EXPECT_EQ(test, put_block(test, d, 512), REASON_LOOKS);
	memset(block, 0, BLOCK);
	le16_at(10 * 256, 0x81a4);
	le32_at(10 * 256 + 0x04, 16 * BLOCK);
	le16_at(10 * 256 + 0x1a, 1);
	for (i = 0; i < 13; i++)
		le32_at(10 * 256 + 0x28 + 4 * i, 500 + i);
	put_block(test, d, TABLE);
	/* 12 blocks, and of those that the indirect one tells of the first four. */
	KUNIT_EXPECT_EQ(test, told(test, d), 0x1efff);
	done(d);
}

static void where_metadata_has_no_form_all_is_kept_without_a_journal(struct kunit *test)
{
	static const u32 features[][2] = {
		{ EXT_INCOMPAT_EA_INODE, 0 }, { EXT_INCOMPAT_ENCRYPT, 0 },
		{ 0, EXT_RO_COMPAT_VERITY }, { 0x1000, 0 }, { 0, 0x4000 },
		{ 0, EXT_RO_COMPAT_QUOTA },
	};
	struct disk *d;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(features); i++) {
		d = make_plain(test, features[i][0], features[i][1]);
		KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNSAFE);
		done(d);
	}
}

static void with_verity_an_inode_counts_once_the_journal_has_gone_on(struct kunit *test)
{
	struct disk *d = make(test, 0);

	classifier_remember(&d->c, 1 << 20);
	mkfs(test, d, 1);
	super(1, EXT_COMPAT_HAS_JOURNAL, EXT_RO_COMPAT_VERITY, EXT_JOURNAL_INO);
	put_block(test, d, 0);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	/* These say that layout and memory are wanted, and that data is not logged. */
	KUNIT_EXPECT_EQ(test, noise(test, d, 510), REASON_UNSAFE);
	data(test, d, 500);
	KUNIT_EXPECT_EQ(test, data(test, d, 500), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, data(test, d, 502), REASON_UNDECIDED);
	memcpy(block, d->store + TABLE * BLOCK, BLOCK);
	inode(0, 0x81a4, 2 * BLOCK, 0, 500, 3);
	put_block(test, d, TABLE);
	KUNIT_EXPECT_EQ(test, data(test, d, 501), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	commit(test, d, 3, 1);
	/* One was written after the inode, one is beyond the end, where Merkle trees are. */
	KUNIT_EXPECT_EQ(test, told(test, d), 1);
	done(d);
}

static void what_a_reading_missed_is_no_evidence(struct kunit *test)
{
	struct disk *d = make_plain(test, 0x40, 0);
	u8 *old = d->store + TABLE * BLOCK;
	struct classify_write w = {
		.sector = d->start + TABLE * 8, .sectors = 8, .copy = copy, .ctx = block,
	};
	enum classify_reason reason;
	u32 len;

	data(test, d, 500);
	/* An old inode is still on the disk when its block is read: the write comes later. */
	memset(block, 0, BLOCK);
	inode(0, 0x81a4, BLOCK, 0, 500, 1);
	memcpy(old, block, BLOCK);
	memset(block, 0, BLOCK);
	classifier_write(&d->c, &w, 0, &len, &reason);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	classifier_again(&d->c);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	/* It has come. */
	inode(0, 0x81a4, BLOCK, 0, 500, 1);
	put_block(test, d, TABLE);
	KUNIT_EXPECT_EQ(test, told(test, d), 1);
	done(d);
}

/* A leaf of inode 11 that tells of 500 and 501, with a checksum. */
static void leaf(u32 number)
{
	__le32 word;
	u32 sum;

	memset(block, 0, BLOCK);
	le16_at(0, 0xf30a);
	le16_at(2, 1);
	le16_at(4, (BLOCK - 12) / 12);
	le16_at(12 + 4, 2);
	le32_at(12 + 8, 500);
	word = cpu_to_le32(1);
	sum = crc_update(CRC_32C, ~0u, &word, 4);
	word = 0;
	sum = crc_update(CRC_32C, sum, &word, 4);
	sum = crc_update(CRC_32C, sum, &word, 4);
	sum = crc_update(CRC_32C, sum, &word, 4);
	word = cpu_to_le32(number);
	sum = crc_update(CRC_32C, sum, &word, 4);
	word = 0;
	sum = crc_update(CRC_32C, sum, &word, 4);
	sum = crc_update(CRC_32C, sum, block, BLOCK - 4);
	le32_at(BLOCK - 4, sum);
}

/* Nothing tells of it yet. */
static void expect_undecided(struct kunit *test, struct disk *d, u64 at)
{
	KUNIT_EXPECT_EQ(test, doubtful(test, d, at), REASON_UNDECIDED);
}

static void doubtful_blocks_want_a_later_node_with_a_checksum(struct kunit *test)
{
	static const struct {
		u32 ro_compat, number;
		u64 told;
	} cases[] = { { 0x400, 11, 1 }, { 0x400, 12, 0 }, { 0, 11, 0 } };
	struct disk *d;
	u32 i;

	crc_setup();
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		d = make_plain(test, 0x40, cases[i].ro_compat);
		expect_undecided(test, d, 500);
		leaf(cases[i].number);
		KUNIT_EXPECT_EQ(test, put_block(test, d, 505), REASON_LOOKS);
		/* This one was written after the node. */
		expect_undecided(test, d, 501);
		memset(block, 0, BLOCK);
		inode(0, 0x81a4, 2 * BLOCK, 0, 505, 1);
		le16_at(10 * 256 + 0x2e, 1);
		le32_at(10 * 256 + 0x38, 505);
		le32_at(10 * 256 + 0x3c, 0);
		put_block(test, d, TABLE);
		KUNIT_EXPECT_EQ(test, told(test, d), cases[i].told);
		done(d);
	}
}

static void without_a_journal_a_stranger_is_not_believed(struct kunit *test)
{
	struct disk *d = make(test, 0);
	u32 mounts;

	classifier_by_super(&d->c);
	classifier_remember(&d->c, 1 << 20);
	work(test, d);
	memset(block, 0, BLOCK);
	le32_at(0, 10);
	le32_at(4, 11);
	le32_at(8, TABLE);
	put_block(test, d, 1);
	for (mounts = 0; mounts < 3; mounts++) {
		super(1, 0, 0, 0);
		le32_at(1024 + 0x60, 0x40);
		le16_at(1024 + 0x34, mounts);
		put_block(test, d, 0);
		data(test, d, 500);
		data(test, d, 500);
		/* Of the first superblock nobody knows who wrote it. */
		KUNIT_EXPECT_EQ(test, data(test, d, 500),
				mounts ? REASON_UNDECIDED : REASON_UNSAFE);
		/* Somebody looks at it: e2fsck, or the next mount. */
		classifier_looked(&d->c, 0, 8);
		KUNIT_EXPECT_EQ(test, data(test, d, 501), REASON_UNSAFE);
		memset(block, 0, BLOCK);
		inode(0, 0x81a4, BLOCK, 0, 500, 1);
		put_block(test, d, TABLE);
		KUNIT_EXPECT_EQ(test, told(test, d), 0);
	}
	done(d);
}

static void what_is_logged_is_asked_about_only_where_data_is_logged(struct kunit *test)
{
	struct disk *d = make(test, 0);

	classifier_remember(&d->c, 1 << 20);
	mkfs(test, d, 1);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	noise(test, d, 600);
	descriptor(test, d, 1, 1, 500);
	commit(test, d, 3, 1);
	KUNIT_EXPECT_EQ(test, noise(test, d, 500), REASON_LOGGED);
	KUNIT_EXPECT_EQ(test, noise(test, d, 500), REASON_LOGGED);
	KUNIT_EXPECT_EQ(test, noise(test, d, 500), REASON_LOGGED);
	done(d);

	d = make(test, 0);
	classifier_remember(&d->c, 1 << 20);
	mkfs(test, d, 1);
	classifier_mount(&d->c, 0, VOLUME_MOUNTED);
	descriptor(test, d, 1, 1, 500);
	commit(test, d, 3, 1);
	noise(test, d, 500);
	noise(test, d, 500);
	KUNIT_EXPECT_EQ(test, noise(test, d, 500), REASON_UNDECIDED);
	/* Data behind the journal's back: forgotten, and kept from now on. */
	KUNIT_EXPECT_EQ(test, noise(test, d, 600), REASON_UNLOGGED);
	KUNIT_EXPECT_FALSE(test, undecided_any(&d->c.undecided));
	KUNIT_EXPECT_EQ(test, noise(test, d, 500), REASON_LOGGED);
	done(d);
}

/* Nobody here mounts these, but mke2fs makes them, and e2fsck writes to them. */
static void larger_blocks_are_kept(struct kunit *test)
{
	u32 log;

	for (log = 3; log <= 6; log++) {
		struct disk *d = make(test, 0);
		u32 sectors = 2u << log, at;

		super(1, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
		le32_at(1024 + 0x04, SECTORS / sectors);
		le32_at(1024 + 0x18, log);
		put_block(test, d, 0);
		memset(block, 0x5a, sizeof(block));
		for (at = 1; at < 40; at++)
			KUNIT_EXPECT_EQ(test, put(test, d, at * sectors, sectors),
					REASON_UNMOUNTED);
		classifier_mount(&d->c, 0, VOLUME_MOUNTED);
		for (at = 20; at < 40; at++)
			KUNIT_EXPECT_EQ(test, put(test, d, at * sectors, sectors), REASON_UNSAFE);
		done(d);
	}
}

/* What the core reads of a disk is enough for each kind. */
static void every_kinds_superblock_is_where_the_core_looks(struct kunit *test)
{
	unsigned int kind;

	for (kind = 0; kind < VOLUME_KINDS; kind++) {
		const struct volume_ops *ops = volume_ops[kind];

		KUNIT_EXPECT_TRUE(test, ops->magic_bytes && ops->magic_bytes <= sizeof(ops->magic));
		KUNIT_EXPECT_LE(test, ops->magic_offset + ops->magic_bytes, VOLUME_HEAD_BYTES);
		KUNIT_EXPECT_LE(test, ops->super_sector + VOLUME_SUPER_SECTORS,
				CLASSIFIER_SUPERS_END);
		KUNIT_EXPECT_EQ(test, ops->shared_bytes % sizeof(u64), 0);
		KUNIT_EXPECT_EQ(test, !ops->attach, !ops->detach);
		KUNIT_EXPECT_EQ(test, !ops->want_shared, !ops->learn_shared);
	}
}

static struct kunit_case classifier_cases[] = {
	KUNIT_CASE(a_life_on_the_whole_disk),
	KUNIT_CASE(a_life_on_a_partition),
	KUNIT_CASE(another_mkfs_ends_what_was_known),
	KUNIT_CASE(a_superblock_overwritten_ends_the_volume),
	KUNIT_CASE(what_cannot_be_decided_is_kept),
	KUNIT_CASE(mounted_without_its_journal_all_is_kept),
	KUNIT_CASE(half_a_journal_block_keeps_everything),
	KUNIT_CASE(a_mount_on_an_unknown_disk_is_looked_up),
	KUNIT_CASE(a_moved_journal_is_learned_again),
	KUNIT_CASE(volumes_side_by_side_do_not_mix),
	KUNIT_CASE(descriptors_behind_the_end_are_given_up),
	KUNIT_CASE(larger_blocks_are_kept),
	KUNIT_CASE(with_too_many_volumes_the_rest_is_kept),
	KUNIT_CASE(inodes_tell_what_no_journal_tells),
	KUNIT_CASE(what_is_written_after_it_was_told_is_not_data),
	KUNIT_CASE(what_a_deleted_file_left_is_data),
	KUNIT_CASE(a_volume_ends_with_its_last_block),
	KUNIT_CASE(what_a_shorter_volume_left_is_the_next_ones),
	KUNIT_CASE(indirect_blocks_are_followed),
	KUNIT_CASE(where_metadata_has_no_form_all_is_kept_without_a_journal),
	KUNIT_CASE(with_verity_an_inode_counts_once_the_journal_has_gone_on),
	KUNIT_CASE(what_a_reading_missed_is_no_evidence),
	KUNIT_CASE(doubtful_blocks_want_a_later_node_with_a_checksum),
	KUNIT_CASE(without_a_journal_a_stranger_is_not_believed),
	KUNIT_CASE(what_is_logged_is_asked_about_only_where_data_is_logged),
	KUNIT_CASE(every_kinds_superblock_is_where_the_core_looks),
	{}
};

static struct kunit_suite classifier_suite = {
	.name = "classifier",
	.test_cases = classifier_cases,
};

kunit_test_suite(classifier_suite);
