/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verdict on writes to one mounted btrfs, on one of its devices.
 *
 * The rules, in this order. (A slot is the place of a tree block.)
 *  1. Superblocks and the first MiB are kept.
 *  2. A slot is kept if its first sector has a tree block's header, wherever it lies. Everything in
 *     chunks of metadata is kept.
 *  3. A slot whose first sector was seen without such a header has no tree block.
 *  4. The rest are later parts of slots: their first sector came in an earlier request, or not yet.
 *     They are data, or parts of a tree block. The type of their chunk decides. It comes from the
 *     chunk tree of the last commit, which is read after each superblock that names a new one.
 * Rules 3 and 4 do not depend on the order of requests, with one exception: the commit, below.
 * classifier/btrfs/WHY.md has the argument that nothing is lost.
 *
 * btrfs uses new chunks before it writes the chunk tree that names them. So a part that is in no
 * known chunk is undecided until the next commit (btrfs_live_decide()).
 *
 * If a slot's first part was data since the last commit, its later parts are data, too, in whatever
 * chunk. Its space was not free at that commit, and is not used for anything else before the next.
 *
 * A commit may remove a chunk, and another chunk may take its place before the superblock of that
 * commit is seen. So while a commit is being written, parts in chunks of data are undecided, too. A
 * commit is being written from the first tree block of the next generation on, those of log trees
 * excepted. On a btrfs of several devices one always is, as that tree block may be on another
 * device.
 *
 * Only its first block shows that an extent is compressed (btrfs-compressed.h). In chunks of RAID 0
 * and RAID 10 an extent goes on at the next stripe, on another device. So what begins a stripe here
 * may be the rest of a compressed extent whose first block was never seen, as long as the stripe.
 * Nothing tells it from other data. So all data in such chunks is kept. Data in a chunk that is not
 * known yet is undecided, as there are several devices, and is kept in the end.
 *
 * Portable; the caller serialises, gives memory, and reads, as in ext-live.h.
 */
#ifndef CLASSIFIER_BTRFS_LIVE_H
#define CLASSIFIER_BTRFS_LIVE_H

#include "btrfs.h"

#define BTRFS_WALK_STACK	4096
#define BTRFS_READ_BYTES	4096

struct btrfs_map {
	struct btrfs_extent *extent;	/* sorted, disjoint */
	u32 nr;
};

struct btrfs_live {
	struct btrfs_geo geo;
	struct btrfs_geo fresh;		/* being parsed */
	const char *wrong;		/* why everything is kept, or NULL */
	bool committing;		/* a commit is being written */
	bool restarted;			/* nothing from before counts; the reader clears it */

	/* The chunks, by the chunk tree. */
	struct btrfs_map map;
	bool mapped;			/* @map is valid */
	bool settled;			/* @map belongs to the last superblock seen */
	bool misaligned;		/* a chunk begins within a slot */
	u64 map_generation;		/* of the superblock that @map belongs to */

	/* reading the chunk tree */
	struct btrfs_walk_entry {
		u64 logical;
		u64 generation;
		u32 level;
	} *stack;
	u32 depth;
	u32 nodes;
	u32 filled;			/* bytes of the node being read */
	u8 *node;
	struct btrfs_map next;
	bool walking;
	bool asked;			/* btrfs_live_learn() will be called */
	bool stale;			/* ignore what it brings */

	void *memory;
	size_t bytes;
	u32 room;			/* extents that each map has memory for */
	u32 wanted;			/* extents that each map needs memory for */

	struct selfid_open open;	/* rests of slots that began as tree blocks */
	struct selfid_open begun;	/* rests of slots that began as data since the superblock */
	struct selfid_open compressed;	/* where rests of compressed extents may be */
	enum selfid_sign sign;		/* of the last write; the reader clears it */
	u64 errors;
	u8 super[BTRFS_SUPER_BYTES];
};

/*
 * Start with the superblock @super. The disk has @sectors from the volume's start on. Returns NULL,
 * or what is wrong: then it is no volume. Keeps memory that was given.
 */
const char *btrfs_live_init(struct btrfs_live *b, const void *super, u64 sectors);

/*
 * The verdict on *len sectors of @r, from its sector number @pos on. Learns from them. Call it for
 * an unmounted volume, too; but then VERDICT_KEEP is the only verdict that counts.
 */
enum verdict btrfs_live_write(struct btrfs_live *b, const struct selfid_request *r, u32 pos,
			      u32 *len, enum selfid_reason *reason);

/* The sector of the chunk tree's root, which each mount reads; 0: not known. */
static inline u64 btrfs_live_root(const struct btrfs_live *b)
{
	return b->wrong ? 0 : btrfs_system_sector(&b->geo, b->geo.chunk_root);
}

/* The time to note with an undecided block, for btrfs_live_decide(). */
static inline u64 btrfs_live_tag(const struct btrfs_live *b)
{
	return b->geo.generation;
}

/* When the result changes, undecided blocks can be decided. */
static inline u64 btrfs_live_epoch(const struct btrfs_live *b)
{
	return b->settled ? b->map_generation : 0;
}

/*
 * The verdict on sectors that were kept when they were written: they were undecided, or the mount
 * state was not known. Whole blocks of 4096 bytes.
 */
enum verdict btrfs_live_decide(const struct btrfs_live *b, u64 sector, u32 sectors, u64 tag);

/* As classifier_want() and classifier_learn(), for at most BTRFS_READ_BYTES. */
bool btrfs_live_want(struct btrfs_live *b, u64 *sector, u32 *bytes);
void btrfs_live_learn(struct btrfs_live *b, const void *content);

/* As classifier_memory() and classifier_give(). */
size_t btrfs_live_memory(const struct btrfs_live *b);
void *btrfs_live_give(struct btrfs_live *b, void *memory, size_t bytes);

#endif
