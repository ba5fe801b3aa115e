/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One ext2, ext3 or ext4 volume in use: what has been learned about it, and
 * what its journal says.
 *
 * To snoop the journal one has to know where it lies: superblock, descriptor of
 * group 0, journal inode, the blocks of its map, the journal's superblock. They
 * are asked for one after the other (ext_live_want(), ext_live_learn()) as
 * soon as the superblock is seen, which is at mkfs, and again whenever one of
 * them is written while the volume is not mounted.
 *
 * Portable; the caller serialises. Blocks count from the volume's start.
 */
#ifndef CLASSIFIER_EXT_LIVE_H
#define CLASSIFIER_EXT_LIVE_H

#include "ext-inode.h"
#include "ext-names.h"
#include "jbd2.h"
#include "layout.h"
#include "trust.h"

enum ext_stage {
	EXT_NEED_GROUP,		/* descriptor of the journal inode's group */
	EXT_NEED_INODE,		/* journal inode */
	EXT_NEED_MAP,		/* blocks of its map */
	EXT_NEED_JOURNAL,	/* journal's superblock */
	EXT_READY,
	EXT_KEEP,		/* nothing to learn: ->wrong says why */
};

/* How far inodes tell what blocks are: assoc.h. */
enum ext_association {
	ASSOC_NOTHING,		/* not at all */
	ASSOC_INODES,		/* by the pointers within them */
	ASSOC_NODES_TOO,	/* and by those in the blocks they point to */
};

/* A run of the journal's blocks, or a block of the journal inode's map. */
struct ext_journal_entry {
	u64 start;
	u32 logical;
	u32 len;	/* of a map block: its level */
};

struct ext_live {
	bool in_use;		/* a volume has it; memory stays with it otherwise */
	struct ext_geo geo;
	enum ext_stage stage;
	const char *wrong;
	enum ext_association association;
	bool ordered;		/* file content was written unlogged: nothing logged is any */
	bool stranger;		/* no journal, and who is at work need not be the driver */
	struct layout layout;
	struct ext_names names;

	u64 want;		/* block to be read next, 0: none */
	bool asked;		/* its reading was begun */
	bool stale;		/* and it was written since */

	u64 group_block;	/* where what was learned stood; 0: not known */
	u64 inode_block;
	u32 inode_offset;
	struct ext_inode inode;

	/* in memory given: runs from the front, map blocks from the back; then both sorted */
	struct ext_journal_entry *entry;
	u32 entries;
	u32 runs, nodes;
	u32 next_node;
	bool mapped;		/* runs are all there, and sorted */
	bool overflow;		/* more entries are needed than there is room for */

	struct jbd2 jbd2;
	struct trust trust;
	bool waits;		/* undecided blocks wait for a commit, not for inodes */
	u64 errors;
};

/* Begin with a checked superblock. Keeps the memory given earlier. */
void ext_live_init(struct ext_live *e, const struct ext_geo *geo, u64 most_blocks);

/* The superblock was written again and is of the same file system. */
void ext_live_super(struct ext_live *e, const struct ext_geo *geo);

/*
 * @block, which is no journal block, is written. @content NULL: partly. Learns
 * from it; to be called for every block while the volume is not mounted, and
 * for the one that ext_live_watches() names while it is.
 */
void ext_live_write(struct ext_live *e, u64 block, const void *content);

/* Does the block hold anything to be learned from while the volume is mounted? */
static inline bool ext_live_watches(const struct ext_live *e, u64 block)
{
	return block == e->inode_block;
}

/* The journal block that @block is: its logical number, or U32_MAX if it is none. */
u32 ext_live_journal(const struct ext_live *e, u64 block);

/* The block that is the journal's number @logical, 0: none. Looks at all of its runs. */
u64 ext_live_journal_block(const struct ext_live *e, u32 logical);

/*
 * Journal block number @logical is written, after so many flushes of the disk. @content NULL:
 * partly. True: it is a commit.
 */
bool ext_live_journal_write(struct ext_live *e, u32 logical, const void *content, u64 flushes);

/* Is there no journal whose order might decide? */
static inline bool ext_live_plain(const struct ext_live *e)
{
	return !(e->geo.compat & EXT_COMPAT_HAS_JOURNAL);
}

/* Is the journal known so that its blocks can be told, and everything else in it complete? */
static inline bool ext_live_complete(const struct ext_live *e)
{
	return e->stage == EXT_READY && jbd2_complete(&e->jbd2);
}

/* The block to read next, 0: none; and what was in it (NULL: cannot be read). */
u64 ext_live_want(struct ext_live *e);
void ext_live_learn(struct ext_live *e, u64 block, const void *content);

/* As classifier_memory() and classifier_give(), for this volume. */
size_t ext_live_memory(const struct ext_live *e, size_t log_limit);
void *ext_live_give(struct ext_live *e, void *memory, size_t bytes);
size_t ext_live_bytes(const struct ext_live *e);

#endif
