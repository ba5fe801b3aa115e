/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One ext2, ext3 or ext4 volume: what was learned about it, and its journal.
 *
 * The journal's place has to be known before its writes can be followed. These blocks lead there:
 * superblock, descriptor of the journal inode's group, journal inode, the blocks of its map, the
 * journal's superblock. When the superblock is seen, which is at mkfs, the others are read one
 * after the other (ext_live_want(), ext_live_learn()). They are read again if one of them is
 * written while the volume is not mounted.
 *
 * Portable; the caller serialises. Blocks count from the volume's start.
 */
#ifndef CLASSIFIER_EXT_LIVE_H
#define CLASSIFIER_EXT_LIVE_H

#include "ext-backups.h"
#include "ext-inode.h"
#include "ext-layout.h"
#include "ext-names.h"
#include "jbd2.h"
#include "trust.h"

enum ext_stage {
	EXT_NEED_GROUP,		/* descriptor of the journal inode's group */
	EXT_NEED_INODE,		/* journal inode */
	EXT_NEED_MAP,		/* blocks of its map */
	EXT_NEED_JOURNAL,	/* journal's superblock */
	EXT_READY,
	EXT_KEEP,		/* everything is kept: ->wrong says why */
};

/* Which pointers are evidence that a block is data: assoc.h. */
enum ext_association {
	ASSOC_NOTHING,		/* none */
	ASSOC_INODES,		/* those in inodes */
	ASSOC_NODES_TOO,	/* and those in extent nodes and indirect blocks */
};

/* A run of the journal's blocks, or a block of the journal inode's map. */
struct ext_journal_entry {
	u64 start;
	u32 logical;
	u32 len;	/* blocks; of a map block, its level */
};

struct ext_live {
	bool in_use;		/* a volume has it; if not, it still owns its memory */
	struct ext_geo geo;
	enum ext_stage stage;
	const char *wrong;	/* why everything is kept */
	enum ext_association association;
	bool ordered;		/* file content came unlogged, so no logged block is content */
	bool stranger;		/* no journal, and the writer need not be the driver */
	struct ext_layout layout;
	struct ext_backups backups;
	struct ext_names names;

	u64 want;		/* block to read next, 0: none */
	bool asked;		/* it is being read */
	bool stale;		/* it was written since the read began */

	u64 group_block;	/* where the descriptor was read; 0: not known */
	u64 inode_block;	/* where the journal inode was read; 0: not known */
	u32 inode_offset;
	struct ext_inode inode;

	/* In memory that was given: runs from the front, map blocks from the back. Then sorted. */
	struct ext_journal_entry *entry;
	u32 entries;		/* that there is room for */
	u32 runs, nodes;
	u32 next_node;
	bool mapped;		/* all runs are there, and sorted */
	bool overflow;		/* more room is needed */

	struct jbd2 jbd2;
	struct trust trust;
	bool waits;		/* undecided blocks wait for a commit, not for inodes */
	u64 errors;
};

/* Start with a checked superblock. Keeps memory that was given. */
void ext_live_init(struct ext_live *e, const struct ext_geo *geo, u64 most_blocks);

/* The superblock of the same file system was written again. */
void ext_live_super(struct ext_live *e, const struct ext_geo *geo);

/*
 * @block, which is no journal block, is written with @content. NULL: only a part of it is written.
 * Call this for each block while the volume is not mounted, and for the block that
 * ext_live_watches() names while it is.
 */
void ext_live_write(struct ext_live *e, u64 block, const void *content);

/* Must ext_live_write() be called for @block while the volume is mounted? */
static inline bool ext_live_watches(const struct ext_live *e, u64 block)
{
	return block == e->inode_block;
}

/* The number of @block within the journal; U32_MAX: it is no journal block. */
u32 ext_live_journal(const struct ext_live *e, u64 block);

/* The block that is journal block number @logical, 0: none. Looks at all runs. */
u64 ext_live_journal_block(const struct ext_live *e, u32 logical);

/*
 * Journal block number @logical is written with @content. NULL: only a part of it is written.
 * @flushes: of the disk, so far. True: it is a commit block.
 */
bool ext_live_journal_write(struct ext_live *e, u32 logical, const void *content, u64 flushes);

/* Has the file system no journal? */
static inline bool ext_live_plain(const struct ext_live *e)
{
	return !(e->geo.compat & EXT_COMPAT_HAS_JOURNAL);
}

/* Are the journal's blocks known, and is the log set complete? */
static inline bool ext_live_complete(const struct ext_live *e)
{
	return e->stage == EXT_READY && jbd2_complete(&e->jbd2);
}

/* The block to read next, 0: none. Then ext_live_learn() takes its content; NULL: not readable. */
u64 ext_live_want(struct ext_live *e);
void ext_live_learn(struct ext_live *e, u64 block, const void *content);

/* As classifier_memory() and classifier_give(), for this volume. */
size_t ext_live_memory(const struct ext_live *e, size_t log_limit);
void *ext_live_give(struct ext_live *e, void *memory, size_t bytes);
size_t ext_live_bytes(const struct ext_live *e);

#endif
