// SPDX-License-Identifier: GPL-2.0
/*
 * What the classifier believes where nobody else objects: the order of writes, who writes, and
 * that a file system lies in one piece.
 */
#define BLOCKS	(8 * 32768u)	/* so many that backups are a proof */
#define SECTORS	(BLOCKS * 8 * 4)
#include "ext-disk.h"

#define AT	500u	/* free blocks from here on, as told() has it */

/* Nothing is on it yet. */
static struct disk *blank_alone(struct kunit *test, u64 start)
{
	struct disk *d = make(test, start);

	d->c.sectors = start + BLOCKS * 8;
	classifier_remember(&d->c, 1 << 20);
	classifier_alone(&d->c);
	classifier_by_super(&d->c);
	return d;
}

/* Descriptors, superblocks, journal: of a file system that fills the disk from @start on. */
static struct disk *alone(struct kunit *test, u64 start)
{
	struct disk *d = blank_alone(test, start);

	mkfs(test, d, 1);
	return d;
}

static void super_is(struct kunit *test, struct disk *d, bool recover, u32 mounts)
{
	super(1, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	le32_at(1024 + 0x60, recover ? EXT_INCOMPAT_RECOVER : 0);
	le16_at(1024 + 0x34, mounts);
	put_block(test, d, 0);
}

/* Mounted through what hands on FUA; or flushes only; or neither. */
enum below { BELOW_FUA, BELOW_FLUSH, BELOW_NEITHER };

static struct disk *mounted_alone(struct kunit *test, u64 start, enum below below)
{
	struct disk *d = alone(test, start);

	super_is(test, d, false, 0);
	d->fua = below == BELOW_FUA;
	super_is(test, d, true, 1);
	d->fua = false;
	if (below == BELOW_FLUSH)
		classifier_flush(&d->c);
	return d;
}

/* A transaction of one block, at @at of the log. */
static void transaction(struct kunit *test, struct disk *d, u32 at, u32 tid, u32 home, bool flushed)
{
	descriptor(test, d, at, tid, home);
	if (flushed)
		classifier_flush(&d->c);
	commit(test, d, at + 2, tid);
}

static void a_proved_mount_drops_at_once(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNLOGGED);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_UNLOGGED);
	done(d);
	d = mounted_alone(test, 0, BELOW_FLUSH);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_UNLOGGED);
	done(d);
}

/* The log is not known when the superblock of a mount comes: the caller is told to wait. */
static void a_mount_is_early_until_its_log_is_known(struct kunit *test)
{
	struct disk *d = blank_alone(test, 0);

	KUNIT_EXPECT_FALSE(test, classifier_early(&d->c, 0, 8));
	d->lazy = true;
	mkfs(test, d, 1);
	KUNIT_EXPECT_TRUE(test, classifier_early(&d->c, 0, 8));
	KUNIT_EXPECT_FALSE(test, classifier_early(&d->c, AT * 8, 8));
	KUNIT_EXPECT_FALSE(test, classifier_early(&d->c, BLOCKS * 8, 8));
	d->lazy = false;
	work(test, d);
	KUNIT_EXPECT_FALSE(test, classifier_early(&d->c, 0, 8));
	super_is(test, d, false, 0);
	d->fua = true;
	super_is(test, d, true, 1);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_UNLOGGED);
	done(d);
}

/* Nothing is to be learned of it, so nobody waits. */
static void a_volume_without_a_journal_is_never_early(struct kunit *test)
{
	struct disk *d = alone(test, 0);

	d->lazy = true;
	super(2, 0, 0, 0);
	put_block(test, d, 0);
	KUNIT_EXPECT_FALSE(test, classifier_early(&d->c, 0, 8));
	KUNIT_EXPECT_FALSE(test, classifier_early(&d->c, AT * 8, 8));
	done(d);
}

static void a_flush_has_to_be_the_next_thing(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_NEITHER);

	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	classifier_flush(&d->c);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	done(d);
}

static void what_waits_is_told_by_the_next_commit(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_NEITHER);

	noise(test, d, AT);		/* wants memory */
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT + 1), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	transaction(test, d, 1, 1, 900, true);
	KUNIT_EXPECT_EQ(test, told(test, d), 3);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_UNLOGGED);
	done(d);
}

static void without_flushes_only_content_tells(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_NEITHER);

	noise(test, d, AT);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT + 1), REASON_UNDECIDED);
	transaction(test, d, 1, 1, 900, false);
	KUNIT_EXPECT_EQ(test, told(test, d), 1);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNLOGGED);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_LOOKS);
	/* Once out of order, until the next mount. */
	transaction(test, d, 4, 2, 900, true);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_LOOKS);
	super_is(test, d, false, 1);
	d->fua = true;
	super_is(test, d, true, 2);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_UNLOGGED);
	done(d);
}

static void what_is_missing_of_the_log_ends_the_trust(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	transaction(test, d, 1, 1, 900, true);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_UNLOGGED);
	/* Its descriptor stays in some cache. */
	commit(test, d, 6, 2);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_LOOKS);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNLOGGED);
	done(d);
	/* One of its descriptors. */
	d = mounted_alone(test, 0, BELOW_FUA);
	descriptor(test, d, 1, 1, 900);
	classifier_flush(&d->c);
	commit(test, d, 5, 1);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_LOOKS);
	done(d);
}

static void metadata_by_place_or_content_is_kept(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	memset(block, 0, BLOCK);
	le32_at(0, 12);
	le16_at(4, BLOCK);
	KUNIT_EXPECT_EQ(test, put_block(test, d, AT), REASON_LOOKS);
	/* Less than a block. */
	noise(test, d, AT);
	KUNIT_EXPECT_EQ(test, put(test, d, AT * 8, 4), REASON_LOOKS);
	/* Constant, as when inode tables are zeroed. */
	memset(block, 0, BLOCK);
	KUNIT_EXPECT_EQ(test, put_block(test, d, TABLE + 3), REASON_STATIC);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_UNLOGGED);
	/* Nobody writes that unlogged: from then on only a commit tells, and not of all. */
	KUNIT_EXPECT_EQ(test, noise(test, d, TABLE + 3), REASON_STATIC);
	noise(test, d, AT);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT + 1), REASON_LOOKS);
	transaction(test, d, 1, 1, 900, true);
	KUNIT_EXPECT_EQ(test, told(test, d), 1);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_LOOKS);
	done(d);
}

static void a_directory_that_is_not_logged_is_a_warning(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	memset(block, 0, BLOCK);
	le32_at(0, 12);
	le16_at(4, 12);
	block[6] = 1;
	block[7] = 2;
	block[8] = '.';
	le32_at(12, 2);
	le16_at(16, BLOCK - 12);
	KUNIT_EXPECT_EQ(test, put_block(test, d, AT), REASON_LOOKS);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	transaction(test, d, 1, 1, 900, true);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNLOGGED);
	done(d);
}

static void who_reads_the_superblock_may_be_at_work(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	classifier_looked(&d->c, 0, 8);
	noise(test, d, AT);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	transaction(test, d, 1, 1, 900, true);
	KUNIT_EXPECT_EQ(test, told(test, d), 1);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNLOGGED);
	/* A boot loader or a partition table, too. */
	noise(test, d, AT);
	put(test, d, 0, 1);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	done(d);
}

static void a_mount_that_leaves_the_log_alone_is_none(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	transaction(test, d, 1, 1, 900, true);
	/* Cut; ro,noload; made writable. */
	classifier_looked(&d->c, 0, 8);
	d->fua = true;
	super_is(test, d, true, 2);
	d->fua = false;
	noise(test, d, AT);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT + 1), REASON_LOOKS);
	/* Cut again, and recovered: what was written in between stays kept. */
	classifier_looked(&d->c, 0, 8);
	journal_super(4, 3);
	put_block(test, d, JOURNAL);
	d->fua = true;
	super_is(test, d, true, 3);
	d->fua = false;
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT + 2), REASON_UNLOGGED);
	transaction(test, d, 4, 3, 900, true);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	done(d);
}

static void a_mount_seen_in_the_middle_leaves_doubts(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);
	u8 *store = d->store;

	/* A mirror: the superblock says mounted when it comes. */
	classifier_destroy(&d->c, kvfree);
	begin(test, d, BLOCKS * 8);
	classifier_remember(&d->c, 1 << 20);
	classifier_alone(&d->c);
	classifier_by_super(&d->c);
	memcpy(block, store, BLOCK);
	put_block(test, d, 0);
	journal_super(1, 1);
	put_block(test, d, JOURNAL);
	transaction(test, d, 1, 1, 900, true);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNLOGGED);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_LOOKS);
	done(d);
}

/* On a disk that goes on behind it. */
static struct disk *on_a_larger_disk(struct kunit *test)
{
	struct disk *d = make(test, 2048);

	classifier_remember(&d->c, 1 << 20);
	classifier_alone(&d->c);
	classifier_by_super(&d->c);
	return d;
}

static enum classify_reason mount_and_write(struct kunit *test, struct disk *d)
{
	super_is(test, d, false, 0);
	d->fua = true;
	super_is(test, d, true, 1);
	d->fua = false;
	return noise(test, d, AT);
}

/* mkfs() leaves it mounted. */
static void made_anew(struct kunit *test, struct disk *d)
{
	mkfs(test, d, 1);
	memset(block, 0x55, BLOCK);
	put_block(test, d, 0);
	super_is(test, d, false, 0);
}

static void a_volume_is_believed_where_its_end_was_seen(struct kunit *test)
{
	struct disk *d = on_a_larger_disk(test);

	/* Nothing tells: it may be in pieces. */
	mkfs(test, d, 1);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNPLACED);
	done(d);
	/* Zeros at its end, before the superblock or behind it. */
	d = on_a_larger_disk(test);
	memset(block, 0, BLOCK);
	put_block(test, d, BLOCKS - 1);
	mkfs(test, d, 1);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNLOGGED);
	done(d);
	d = on_a_larger_disk(test);
	made_anew(test, d);
	memset(block, 0, BLOCK);
	put_block(test, d, BLOCKS - 1);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNLOGGED);
	done(d);
	/* All of it discarded, in steps. */
	d = on_a_larger_disk(test);
	classifier_discard(&d->c, d->start, 8000);
	classifier_discard(&d->c, d->start + 8000, BLOCKS * 8 - 8000);
	mkfs(test, d, 1);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNLOGGED);
	done(d);
	/* What ends there is the first piece of another one. */
	d = on_a_larger_disk(test);
	classifier_discard(&d->c, d->start + 2000, BLOCKS * 8 - 2000);
	mkfs(test, d, 1);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNPLACED);
	done(d);
}

static void a_partition_is_one_piece(struct kunit *test)
{
	struct disk *d = alone(test, 0);
	u8 *table = d->store;

	/* The target's classifier is made anew, and reads from sector 0 on. */
	memset(table, 0, BLOCK);
	table[446 + 4] = 0x83;
	table[446 + 9] = 8;
	memcpy(table + 446 + 12, &(__le32){ cpu_to_le32(BLOCKS * 8) }, 4);
	table[510] = 0x55;
	table[511] = 0xaa;
	KUNIT_EXPECT_TRUE(test, placed_in_table(table, 2048, BLOCKS * 8));
	KUNIT_EXPECT_FALSE(test, placed_in_table(table, 2048, BLOCKS * 8 + 1));
	KUNIT_EXPECT_FALSE(test, placed_in_table(table, 2047, BLOCKS * 8));
	/* GPT, the second entry. */
	table[446 + 4] = 0xee;
	memcpy(table + 512, "EFI PART", 8);
	KUNIT_EXPECT_FALSE(test, placed_in_table(table, 2048, 100));
	table[1024 + 128] = 1;
	table[1024 + 128 + 33] = 8;
	table[1024 + 128 + 41] = 9;
	KUNIT_EXPECT_TRUE(test, placed_in_table(table, 2048, 257));
	KUNIT_EXPECT_FALSE(test, placed_in_table(table, 2048, 258));
	done(d);
}

static void the_partition_table_is_read_for_who_needs_it(struct kunit *test)
{
	struct disk *d = on_a_larger_disk(test);
	u64 sector;
	u32 bytes;

	d->c.pending = false;
	mkfs(test, d, 1);
	super(1, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	/* As put_block(), without the worker. */
	d->lazy = true;
	put_block(test, d, 0);
	d->lazy = false;
	while (classifier_memory(&d->c))
		kvfree(classifier_give(&d->c, kvzalloc(classifier_memory(&d->c), GFP_KERNEL),
				       classifier_memory(&d->c)));
	KUNIT_ASSERT_TRUE(test, classifier_want(&d->c, &sector, &bytes));
	KUNIT_ASSERT_EQ(test, sector, 0);
	memset(block, 0, BLOCK);
	block[446 + 4] = 0x83;
	block[446 + 9] = 8;
	block[446 + 15] = 1;
	block[510] = 0x55;
	block[511] = 0xaa;
	classifier_learn(&d->c, sector, block);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNLOGGED);
	done(d);
}

/* Its backups are in the log. */
static void grow_super(struct kunit *test, struct disk *d, u32 blocks)
{
	super(1, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	le16_at(1024 + 0x34, 1);
	le32_at(1024 + 0x04, blocks);
	put_block(test, d, 0);
}

static void grow(struct kunit *test, struct disk *d, u32 blocks)
{
	store_backups(d, 1, blocks);
	grow_super(test, d, blocks);
}

/* Who reads the last block may be one that probes a neighbour, which ends there. */
static void a_volume_that_grew_is_not_believed_where_its_new_end_was_read(struct kunit *test)
{
	struct disk *d = on_a_larger_disk(test);

	classifier_discard(&d->c, d->start, BLOCKS * 8);
	mkfs(test, d, 1);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNLOGGED);
	classifier_looked(&d->c, d->start + (2 * BLOCKS - 1) * 8, 8);
	grow(test, d, 2 * BLOCKS);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNLOGGED);
	KUNIT_EXPECT_EQ(test, noise(test, d, BLOCKS + 100), REASON_UNPLACED);
	done(d);
}

static void what_a_neighbour_cleared_proves_nothing(struct kunit *test)
{
	struct disk *d = on_a_larger_disk(test);

	/* Another volume was made that ended at the same sector, and something unknown instead. */
	memset(block, 0, BLOCK);
	put_block(test, d, BLOCKS - 1);
	mkfs(test, d, 2);
	memset(block, 0x55, BLOCK);
	put_block(test, d, 0);
	mkfs(test, d, 1);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNPLACED);
	done(d);
	/* More than the volume was discarded. */
	d = on_a_larger_disk(test);
	classifier_discard(&d->c, 0, d->start + BLOCKS * 8);
	mkfs(test, d, 1);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNPLACED);
	done(d);
	/* mkfs is over once somebody reads what it made. */
	d = on_a_larger_disk(test);
	made_anew(test, d);
	classifier_looked(&d->c, d->start, 8);
	memset(block, 0, BLOCK);
	put_block(test, d, BLOCKS - 1);
	KUNIT_EXPECT_EQ(test, mount_and_write(test, d), REASON_UNPLACED);
	done(d);
}

static void a_volume_elsewhere_is_not_proved_by_the_end_of_the_disk(struct kunit *test)
{
	/* The whole disk is; with its second piece on another disk one may end there by chance. */
	KUNIT_EXPECT_TRUE(test, placed_fills(0, 100000, 100000));
	KUNIT_EXPECT_TRUE(test, placed_fills(0, 100000, 104000));
	KUNIT_EXPECT_FALSE(test, placed_fills(0, 100000, 99999));
	KUNIT_EXPECT_FALSE(test, placed_fills(2048, 100000, 100000));
}

static void a_volume_that_grew_spares_its_neighbour(struct kunit *test)
{
	struct disk *d = on_a_larger_disk(test);

	classifier_discard(&d->c, d->start, BLOCKS * 8);
	mkfs(test, d, 1);
	mount_and_write(test, d);
	d->start += BLOCKS * 8;
	classifier_discard(&d->c, d->start, BLOCKS * 8);
	mkfs(test, d, 2);
	d->start -= BLOCKS * 8;
	grow_super(test, d, 3 * BLOCKS);
	KUNIT_EXPECT_EQ(test, d->c.volumes.nr, 2);
	/* Its new backups are not where they should be. */
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNPLACED);
	/* Of whom nobody has said who is at work. */
	KUNIT_EXPECT_EQ(test, noise(test, d, BLOCKS + AT), REASON_UNDECIDED);
	KUNIT_EXPECT_EQ(test, noise(test, d, 2 * BLOCKS + 100), REASON_NO_VOLUME);
	done(d);
}

static void a_file_system_found_behind_what_is_proved_cuts_the_volume_off(struct kunit *test)
{
	struct disk *d = on_a_larger_disk(test);

	classifier_discard(&d->c, d->start, BLOCKS * 8);
	mkfs(test, d, 1);
	mount_and_write(test, d);
	grow(test, d, 3 * BLOCKS);
	KUNIT_EXPECT_EQ(test, noise(test, d, 2 * BLOCKS + 100), REASON_UNPLACED);
	d->start += 2 * BLOCKS * 8;
	mkfs(test, d, 2);
	KUNIT_EXPECT_EQ(test, d->c.volumes.nr, 2);
	d->start -= 2 * BLOCKS * 8;
	KUNIT_EXPECT_EQ(test, noise(test, d, BLOCKS + 100), REASON_UNPLACED);
	done(d);
}

/* It is as long as the disk, but group 1 is elsewhere: on another disk of an array, for example. */
static void a_volume_without_its_backups_is_kept(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNLOGGED);
	/* What was believed is over when another group's comes there. */
	backup(1, 3);
	KUNIT_EXPECT_EQ(test, put_block(test, d, GROUP), REASON_STATIC);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNPLACED);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_UNPLACED);
	/* mke2fs writes it later than the superblock. */
	backup(1, 1);
	KUNIT_EXPECT_EQ(test, put_block(test, d, GROUP), REASON_STATIC);
	/* Who writes it without logging it is no driver. */
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	done(d);
}

/* What was undecided while the volume was believed must not be dropped later. */
static void what_waits_is_kept_when_a_backup_is_gone(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_NEITHER);

	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	backup(2, 1);
	KUNIT_EXPECT_EQ(test, put_block(test, d, GROUP), REASON_STATIC);
	transaction(test, d, 1, 1, 300, true);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	done(d);
}

/* All that is known of it is read from the disk, as after a boot. */
static void backups_are_read_from_the_disk(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	classifier_destroy(&d->c, kvfree);
	begin(test, d, BLOCKS * 8);
	classifier_alone(&d->c);
	classifier_by_super(&d->c);
	work(test, d);
	KUNIT_ASSERT_EQ(test, d->c.volumes.nr, 1);
	KUNIT_EXPECT_EQ(test, volume_believed(&d->c.volumes.volume[0]), BLOCKS * 8);
	memset(stored(d, GROUP * 8, 8), 0, 1024);
	classifier_destroy(&d->c, kvfree);
	begin(test, d, BLOCKS * 8);
	classifier_alone(&d->c);
	classifier_by_super(&d->c);
	work(test, d);
	KUNIT_ASSERT_EQ(test, d->c.volumes.nr, 1);
	KUNIT_EXPECT_EQ(test, volume_believed(&d->c.volumes.volume[0]), 0);
	done(d);
}

/* All that was found is of another size: it is found anew when the log is written home. */
static void a_volume_that_grows_is_believed_when_its_backups_are_home(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_NEITHER);
	u32 i;

	d->c.sectors = 2 * BLOCKS * 8;
	d->c.volumes.disk = d->c.sectors;
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNDECIDED);
	grow_super(test, d, 2 * BLOCKS);
	KUNIT_EXPECT_EQ(test, volume_believed(&d->c.volumes.volume[0]), 0);
	transaction(test, d, 1, 1, 300, true);
	KUNIT_EXPECT_EQ(test, told(test, d), 0);
	for (i = 1; i < 2 * BLOCKS / GROUP; i++) {
		KUNIT_EXPECT_EQ(test, volume_believed(&d->c.volumes.volume[0]), 0);
		backup(1, i);
		le32_at(0x04, 2 * BLOCKS);
		put_block(test, d, i * GROUP);
	}
	KUNIT_EXPECT_GE(test, volume_believed(&d->c.volumes.volume[0]), BLOCKS * 8);
	done(d);
}

/* The same uuid, and all backups of the one before are where they should be. */
static void a_volume_made_anew_with_its_old_uuid_is_kept(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	super(1, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	le32_at(1024 + 0xec, 7);
	put_block(test, d, 0);
	KUNIT_EXPECT_EQ(test, volume_believed(&d->c.volumes.volume[0]), 0);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNPLACED);
	done(d);
}

static void what_discards_bitmaps_takes_the_place(struct kunit *test)
{
	struct disk *d = mounted_alone(test, 0, BELOW_FUA);

	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_UNLOGGED);
	/* The driver zeroes inode tables. */
	classifier_discard(&d->c, (TABLE + 1) * 8, 8);
	KUNIT_EXPECT_EQ(test, doubtful(test, d, AT), REASON_UNLOGGED);
	classifier_discard(&d->c, 11 * 8, (TABLE + 1 - 11) * 8);
	KUNIT_EXPECT_EQ(test, noise(test, d, AT), REASON_NO_VOLUME);
	done(d);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_proved_mount_drops_at_once),
	KUNIT_CASE(a_mount_is_early_until_its_log_is_known),
	KUNIT_CASE(a_volume_without_a_journal_is_never_early),
	KUNIT_CASE(a_flush_has_to_be_the_next_thing),
	KUNIT_CASE(what_waits_is_told_by_the_next_commit),
	KUNIT_CASE(without_flushes_only_content_tells),
	KUNIT_CASE(what_is_missing_of_the_log_ends_the_trust),
	KUNIT_CASE(metadata_by_place_or_content_is_kept),
	KUNIT_CASE(a_directory_that_is_not_logged_is_a_warning),
	KUNIT_CASE(who_reads_the_superblock_may_be_at_work),
	KUNIT_CASE(a_mount_that_leaves_the_log_alone_is_none),
	KUNIT_CASE(a_mount_seen_in_the_middle_leaves_doubts),
	KUNIT_CASE(a_volume_is_believed_where_its_end_was_seen),
	KUNIT_CASE(a_partition_is_one_piece),
	KUNIT_CASE(the_partition_table_is_read_for_who_needs_it),
	KUNIT_CASE(a_volume_that_grew_is_not_believed_where_its_new_end_was_read),
	KUNIT_CASE(what_a_neighbour_cleared_proves_nothing),
	KUNIT_CASE(a_volume_elsewhere_is_not_proved_by_the_end_of_the_disk),
	KUNIT_CASE(a_volume_that_grew_spares_its_neighbour),
	KUNIT_CASE(a_file_system_found_behind_what_is_proved_cuts_the_volume_off),
	KUNIT_CASE(a_volume_without_its_backups_is_kept),
	KUNIT_CASE(what_waits_is_kept_when_a_backup_is_gone),
	KUNIT_CASE(backups_are_read_from_the_disk),
	KUNIT_CASE(a_volume_that_grows_is_believed_when_its_backups_are_home),
	KUNIT_CASE(a_volume_made_anew_with_its_old_uuid_is_kept),
	KUNIT_CASE(what_discards_bitmaps_takes_the_place),
	{}
};

static struct kunit_suite suite = {
	.name = "alone",
	.test_cases = cases,
};

kunit_test_suite(suite);
