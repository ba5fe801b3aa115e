/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small disk with an ext volume on it, written block by block as the target's classifier sees it.
 */
#ifndef UNIT_EXT_DISK_H
#define UNIT_EXT_DISK_H

#include <kunit/test.h>

#include "../../classifier/classifier.h"
#include "../../classifier/ext/ext-volume.h"

#ifndef SECTORS
#define SECTORS		65536u
#endif
#define BLOCK		4096u
#ifndef BLOCKS
#define BLOCKS		2000u
#endif
#define GROUP		32768u	/* blocks of a group */
#define TABLE		20u	/* inode table */
#define JOURNAL		100u	/* first of 64 blocks */
#define JOURNAL_BLOCKS	64u

struct disk {
	struct classifier c;
	u64 start;		/* of the volume that is written to */
	u64 origin;		/* of the first volume; further ones begin every BLOCKS */
	bool fua;		/* of the next writes */
	bool lazy;		/* the worker does not come */
	u8 *store;		/* the first 4 MiB of each volume, and each group's first block */
};

#define STORE_BLOCKS	1024u
#define STORE_VOLUMES	3u
#define STORE_GROUPS	32u

/* What the store has of these sectors of the disk; NULL: nothing. */
static inline u8 *stored(struct disk *d, u64 sector, u32 sectors)
{
	u64 volume, at;

	if (sector < d->origin)
		return NULL;
	volume = (sector - d->origin) / (BLOCKS * 8);
	at = (sector - d->origin) % (BLOCKS * 8);
	if (at >= STORE_BLOCKS * 8) {
		volume = (sector - d->origin) / (GROUP * 8);
		at = (sector - d->origin) % (GROUP * 8);
		if (volume >= STORE_GROUPS || at + sectors > 8)
			return NULL;
		return d->store + (STORE_VOLUMES * STORE_BLOCKS + volume) * BLOCK + at * 512;
	}
	if (volume >= STORE_VOLUMES || at + sectors > STORE_BLOCKS * 8)
		return NULL;
	return d->store + volume * STORE_BLOCKS * BLOCK + at * 512;
}

static u8 block[16 * BLOCK];	/* one being made; too large for a kernel's stack */

static inline void le32_at(u32 at, u32 value)
{
	__le32 word = cpu_to_le32(value);

	memcpy(block + at, &word, sizeof(word));
}

static inline void le16_at(u32 at, u32 value)
{
	__le16 word = cpu_to_le16(value);

	memcpy(block + at, &word, sizeof(word));
}

static inline void be32_at(u32 at, u32 value)
{
	__be32 word = cpu_to_be32(value);

	memcpy(block + at, &word, sizeof(word));
}

static inline void copy(void *ctx, u32 offset, void *to, u32 len)
{
	memcpy(to, (const u8 *)ctx + offset, len);
}

static inline void work(struct kunit *test, struct disk *d)
{
	static u64 content[CLASSIFIER_BLOCK / 8];
	int rounds = 0;

	while (d->c.pending) {
		size_t memory;
		u64 sector;
		u32 bytes;

		KUNIT_ASSERT_LE_MSG(test, ++rounds, 1000, "the worker never ends");
		while ((memory = classifier_memory(&d->c)))
			kvfree(classifier_give(&d->c, kvzalloc(memory, GFP_KERNEL), memory));
		if (!classifier_want(&d->c, &sector, &bytes))
			continue;
		if (!stored(d, sector, bytes / 512)) {
			classifier_learn(&d->c, sector, NULL);
			continue;
		}
		memcpy(content, stored(d, sector, bytes / 512), bytes);
		classifier_learn(&d->c, sector, content);
	}
}

/* Write @sectors from block[] at @sector of the volume; the reason for the last part. */
static inline enum classify_reason put(struct kunit *test, struct disk *d, u64 sector, u32 sectors)
{
	struct classify_write w = {
		.sector = d->start + sector, .sectors = sectors, .fua = d->fua, .copy = copy,
		.ctx = block,
	};
	enum classify_reason reason = REASON_NR;
	u32 pos, len;

	if (stored(d, d->start + sector, sectors))
		memcpy(stored(d, d->start + sector, sectors), block, sectors * 512);
	for (pos = 0; pos < sectors; pos += len)
		classifier_write(&d->c, &w, pos, &len, &reason);
	KUNIT_EXPECT_EQ(test, pos, sectors);
	if (!d->lazy)
		work(test, d);
	return reason;
}

static inline enum classify_reason put_block(struct kunit *test, struct disk *d, u64 at)
{
	return put(test, d, at * 8, 8);
}

static inline enum classify_reason data(struct kunit *test, struct disk *d, u64 at)
{
	memset(block, 0x5a, BLOCK);
	return put_block(test, d, at);
}

static inline void super(u32 uuid, u32 compat, u32 ro_compat, u32 journal_ino)
{
	memset(block, 0, BLOCK);
	le32_at(1024 + 0x00, 512);
	le32_at(1024 + 0x04, BLOCKS);
	le32_at(1024 + 0x18, 2);
	le32_at(1024 + 0x20, GROUP);
	le32_at(1024 + 0x28, 512);
	le16_at(1024 + 0x38, EXT_MAGIC);
	le32_at(1024 + 0x4c, 1);
	le32_at(1024 + 0x54, 11);
	le16_at(1024 + 0x58, 256);
	le32_at(1024 + 0x5c, compat);
	le32_at(1024 + 0x60, EXT_INCOMPAT_RECOVER);
	le32_at(1024 + 0x64, ro_compat);
	le32_at(1024 + 0x68, uuid);
	le32_at(1024 + 0xe0, journal_ino);
}

/* The backup of it in group @group, at the beginning of the block. */
static inline void backup(u32 uuid, u32 group)
{
	super(uuid, 0, 0, 0);
	memcpy(block, block + 1024, 1024);
	memset(block + 1024, 0, 1024);
	le16_at(0x5a, group);
}

static inline void journal_super(u32 start, u32 tail)
{
	memset(block, 0, BLOCK);
	be32_at(0, JBD2_MAGIC);
	be32_at(4, 4);
	be32_at(12, BLOCK);
	be32_at(16, JOURNAL_BLOCKS);
	be32_at(20, 1);
	be32_at(24, tail);
	be32_at(28, start);
}

/* All of them are on the disk, of a file system of @blocks. */
static inline void store_backups(struct disk *d, u32 uuid, u32 blocks)
{
	u32 i;

	for (i = 1; i < DIV_ROUND_UP(blocks, GROUP); i++) {
		backup(uuid, i);
		le32_at(0x04, blocks);
		if (stored(d, d->start + (u64)i * GROUP * 8, 8))
			memcpy(stored(d, d->start + (u64)i * GROUP * 8, 8), block, BLOCK);
	}
}

/* The descriptors of a volume of @blocks; all bitmaps and tables are in the first group. */
static inline void groups(struct kunit *test, struct disk *d, u32 blocks)
{
	u32 i;

	memset(block, 0, BLOCK);
	le32_at(0, 10);
	le32_at(4, 11);
	le32_at(8, TABLE);
	for (i = 1; i < DIV_ROUND_UP(blocks, GROUP); i++) {
		le32_at(32 * i, 52 + 2 * i);
		le32_at(32 * i + 4, 53 + 2 * i);
		le32_at(32 * i + 8, 1100 + 32 * i);
	}
	put_block(test, d, 1);
}

/* As mke2fs does: the superblock last. */
static inline void mkfs(struct kunit *test, struct disk *d, u32 uuid)
{
	/* It may grow. */
	groups(test, d, STORE_VOLUMES * BLOCKS);
	store_backups(d, uuid, BLOCKS);
	/* Inode 8: one extent. */
	memset(block, 0, BLOCK);
	le16_at(7 * 256, 0x8180);
	le32_at(7 * 256 + 0x04, JOURNAL_BLOCKS * BLOCK);
	le16_at(7 * 256 + 0x1a, 1);
	le32_at(7 * 256 + 0x20, 0x80000);
	le16_at(7 * 256 + 0x28, 0xf30a);
	le16_at(7 * 256 + 0x2a, 1);
	le16_at(7 * 256 + 0x2c, 4);
	le32_at(7 * 256 + 0x38, JOURNAL_BLOCKS);
	le32_at(7 * 256 + 0x3c, JOURNAL);
	put_block(test, d, TABLE);
	journal_super(0, 1);
	put_block(test, d, JOURNAL);
	super(uuid, EXT_COMPAT_HAS_JOURNAL, 0, EXT_JOURNAL_INO);
	put_block(test, d, 0);
}

static inline void descriptor(struct kunit *test, struct disk *d, u32 at, u32 tid, u32 home)
{
	memset(block, 0, BLOCK);
	be32_at(0, JBD2_MAGIC);
	be32_at(4, 1);
	be32_at(8, tid);
	be32_at(12, home);
	be32_at(16, 8);
	KUNIT_EXPECT_EQ(test, put_block(test, d, JOURNAL + at), REASON_JOURNAL);
}

static inline void commit(struct kunit *test, struct disk *d, u32 at, u32 tid)
{
	memset(block, 0, BLOCK);
	be32_at(0, JBD2_MAGIC);
	be32_at(4, 2);
	be32_at(8, tid);
	KUNIT_EXPECT_EQ(test, put_block(test, d, JOURNAL + at), REASON_JOURNAL);
}

/* A classifier that knows nothing of the disk, which has @sectors. */
static inline void begin(struct kunit *test, struct disk *d, u64 sectors)
{
	void *shared = kvzalloc(classifier_shared_bytes(), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, shared);
	classifier_init(&d->c, shared, sectors, 1 << 20);
}

static inline struct disk *make(struct kunit *test, u64 start)
{
	struct disk *d = kvzalloc(sizeof(*d), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, d);
	d->store = kvzalloc((STORE_VOLUMES * STORE_BLOCKS + STORE_GROUPS) * BLOCK, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, d->store);
	d->start = start;
	d->origin = start;
	begin(test, d, SECTORS);
	return d;
}

static inline void done(struct disk *d)
{
	classifier_destroy(&d->c, kvfree);
	kvfree(d->store);
	kvfree(d);
}

/* No one word repeated, and nothing that is doubtful. */
static inline enum classify_reason noise(struct kunit *test, struct disk *d, u64 at)
{
	u32 i;

	for (i = 0; i < BLOCK; i++)
		block[i] = i * 7 >> 1;
	return put_block(test, d, at);
}

/* Which of the first 64 blocks from 500 on are told to be data, and are then done with. */
static inline u64 told(struct kunit *test, struct disk *d)
{
	u64 sector, blocks = 0;
	u32 sectors, i;

	work(test, d);
	while (classifier_claim(&d->c, &sector, &sectors)) {
		KUNIT_EXPECT_EQ(test, sectors % 8, 0);
		for (i = 0; i < sectors; i += 8) {
			u64 at = (sector + i - d->start) / 8 - 500;

			if (!classifier_is_data(&d->c, sector + i, 8))
				continue;
			classifier_done(&d->c, sector + i, 8);
			KUNIT_EXPECT_FALSE(test, classifier_is_data(&d->c, sector + i, 8));
			KUNIT_ASSERT_LE(test, at, 63);
			blocks |= 1ULL << at;
		}
	}
	return blocks;
}

/* A block that may be a symbolic link: no NUL in front, and one behind. */
static inline enum classify_reason doubtful(struct kunit *test, struct disk *d, u64 at)
{
	u32 i;

	for (i = 0; i < BLOCK; i++)
		block[i] = 1 + i % 251;
	block[100] = 0;
	block[BLOCK - 1] = 7;
	return put_block(test, d, at);
}

#endif
