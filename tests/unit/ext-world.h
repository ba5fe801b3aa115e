/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small ext volume with a journal in use, made by hand: blocks of 1 KiB, one group. For what
 * reads directories; nothing of it was learned from a superblock.
 */
#ifndef UNIT_EXT_WORLD_H
#define UNIT_EXT_WORLD_H

#include "../../classifier/ext/ext-live.h"

#define WORLD_BLOCK	1024u
#define WORLD_BLOCKS	2048u
#define WORLD_INODES	2048u
#define WORLD_TABLE	40u	/* inode table */
#define WORLD_JOURNAL	600u
#define WORLD_LOG	64u	/* blocks of it */
#define WORLD_FREE	700u	/* from here on */
#define WORLD_DIR	2	/* type in entries */
#define WORLD_FILE	1

struct world {
	struct ext_live e;
	struct ext_layout_run layout;
	struct ext_journal_entry journal;
	u8 *block;		/* of the disk */
	u32 head;		/* block of the log, and transaction, to be written next */
	u32 tid;
};

static inline u8 *world_at(struct world *w, u32 block)
{
	return w->block + block * WORLD_BLOCK;
}

static inline void world_le32(u8 *at, u32 value)
{
	__le32 word = cpu_to_le32(value);

	memcpy(at, &word, sizeof(word));
}

static inline void world_le16(u8 *at, u32 value)
{
	__le16 word = cpu_to_le16(value);

	memcpy(at, &word, sizeof(word));
}

static inline void world_be32(u8 *at, u32 value)
{
	__be32 word = cpu_to_be32(value);

	memcpy(at, &word, sizeof(word));
}

static inline u8 *world_inode(struct world *w, u32 ino)
{
	return world_at(w, WORLD_TABLE) + (ino - 1) * 256;
}

/* Inode @ino is a directory of @n blocks from @block on. */
static inline void world_dir(struct world *w, u32 ino, u32 block, u32 n)
{
	u8 *raw = world_inode(w, ino);

	memset(raw, 0, 256);
	world_le16(raw, 0x41ed);
	world_le32(raw + 4, n * WORLD_BLOCK);
	world_le16(raw + 0x1a, 2);
	world_le32(raw + 0x20, 0x80000);
	world_le16(raw + 0x28, 0xf30a);
	world_le16(raw + 0x2a, 1);
	world_le16(raw + 0x2c, 4);
	world_le16(raw + 0x38, n);
	world_le32(raw + 0x3c, block);
}

/* One entry at byte @at of @to, of @bytes; returns where the next one begins. */
static inline u32 world_entry(u8 *to, u32 at, u32 bytes, u32 ino, u32 type, const char *name)
{
	memset(to + at, 0, bytes);
	world_le32(to + at, ino);
	world_le16(to + at + 4, bytes);
	to[at + 6] = strlen(name);
	to[at + 7] = type;
	memcpy(to + at + 8, name, strlen(name));
	return at + bytes;
}

/* A directory block with one name, or none. */
static inline void world_names(u8 *to, u32 self, u32 ino, u32 type, const char *name)
{
	u32 at = world_entry(to, 0, 12, self, WORLD_DIR, ".");

	at = world_entry(to, at, 12, 2, WORLD_DIR, "..");
	world_entry(to, at, WORLD_BLOCK - at, ino, type, ino ? name : "");
}

/* The journal's superblock. */
static inline void world_super(struct world *w, u32 start, u32 tail)
{
	u8 *block = world_at(w, WORLD_JOURNAL);

	memset(block, 0, WORLD_BLOCK);
	world_be32(block, JBD2_MAGIC);
	world_be32(block + 4, 4);
	world_be32(block + 12, WORLD_BLOCK);
	world_be32(block + 16, WORLD_LOG);
	world_be32(block + 20, 1);
	world_be32(block + 24, tail);
	world_be32(block + 28, start);
	if (w->e.jbd2.known)
		jbd2_write(&w->e.jbd2, 0, block);
}

static inline u8 *world_log(struct world *w, u32 type)
{
	u8 *block = world_at(w, WORLD_JOURNAL + w->head);

	memset(block, 0, WORLD_BLOCK);
	if (type) {
		world_be32(block, JBD2_MAGIC);
		world_be32(block + 4, type);
		world_be32(block + 8, w->tid);
	}
	w->head = w->head + 1 == WORLD_LOG ? 1 : w->head + 1;
	return block;
}

/* Log @home; what is returned is to be filled in, and is on the disk already. */
static inline u8 *world_descriptor(struct world *w, u32 home)
{
	u32 at = w->head;
	u8 *block = world_log(w, 1);

	world_be32(block + 12, home);
	world_be32(block + 16, 8);
	jbd2_write(&w->e.jbd2, at, block);
	return world_log(w, 0);
}

static inline void world_commit(struct world *w)
{
	u32 at = w->head;

	jbd2_write(&w->e.jbd2, at, world_log(w, 2));
	w->tid++;
}

/* @w is zeroed. False without memory. */
static inline bool world_make(struct world *w)
{
	struct ext_live *e = &w->e;

	w->block = kvzalloc(WORLD_BLOCKS * WORLD_BLOCK, GFP_KERNEL);
	if (!w->block)
		return false;
	e->geo = (struct ext_geo) {
		.blocks = WORLD_BLOCKS, .groups = 1, .first_data = 1, .block_bits = 10,
		.blocks_per_group = 8192, .inodes = WORLD_INODES,
		.inodes_per_group = WORLD_INODES, .inode_size = 256, .itable_blocks = 512,
		.first_ino = 11, .journal_ino = 8, .compat = EXT_COMPAT_HAS_JOURNAL,
		.incompat = EXT_INCOMPAT_RECOVER | 2,
	};
	e->in_use = true;
	e->stage = EXT_READY;
	w->layout = (struct ext_layout_run) { WORLD_TABLE, 512, 0, EXT_LAYOUT_INODES };
	e->layout.needed = true;
	e->layout.known = true;
	e->layout.run = &w->layout;
	e->layout.runs = 1;
	w->journal = (struct ext_journal_entry) { WORLD_JOURNAL, 0, WORLD_LOG };
	e->entry = &w->journal;
	e->entries = 1;
	e->runs = 1;
	e->mapped = true;
	jbd2_init(&e->jbd2, WORLD_BLOCKS, WORLD_BLOCK);
	logset_give(&e->jbd2.set, kvzalloc(LOGSET_MIN_BYTES, GFP_KERNEL), LOGSET_MIN_BYTES);
	w->head = 1;
	w->tid = 5;
	world_super(w, 0, w->tid);
	jbd2_expect_super(&e->jbd2);
	jbd2_read_super(&e->jbd2, world_at(w, WORLD_JOURNAL), WORLD_LOG);
	e->names.wanted = true;
	return true;
}

static inline void world_end(struct world *w)
{
	kvfree(w->e.jbd2.set.slot);
	kvfree(w->e.names.memory);
	kvfree(w->block);
}

/* Read what is wanted, as the worker would; the number of blocks. More than @most: stop. */
static inline u32 world_read(struct world *w, const struct ext_names_choice *choice, u32 most)
{
	u32 n = 0;

	for (;;) {
		size_t bytes = ext_names_memory(&w->e.names);
		u64 block;

		if (bytes) {
			kvfree(ext_names_give(&w->e.names, kvzalloc(bytes, GFP_KERNEL), bytes));
			continue;
		}
		block = ext_names_want(&w->e, choice);
		if (!block || n++ == most)
			return n;
		ext_names_learn(&w->e, choice,
				block < WORLD_BLOCKS ? world_at(w, block) : NULL);
	}
}

#endif
