/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One mounted btrfs, on one of its devices, as its writes go by.
 *
 * What decides, in this order:
 *  1. Superblocks and the first MiB are kept.
 *  2. A slot (a node's place) whose first sector shows a tree block's header is
 *     kept, wherever it lies; and everything in chunks of metadata.
 *  3. A slot whose first sector is seen and shows none holds no tree block.
 *  4. What is left are later parts of slots whose beginning is in no or in an
 *     earlier request: data, or torn off a tree block. The chunk decides. Its
 *     type is known from the chunk tree of the last commit, read after each
 *     superblock that names a new one.
 * 3 and 4 need no order between requests, but one exception, see "commit"
 * below. docs/CLASSIFICATION.md has the argument that nothing is lost.
 *
 * New chunks are used before the chunk tree that names them is written. So a
 * part in a place that is in no known chunk is undecided until the next commit
 * (btrfs_live_decide()).
 *
 * Parts of a slot that has begun as data since the last commit are data as well,
 * wherever that is: its space was not free then, and will not be used for
 * anything else before the next.
 *
 * A chunk that is gone with the commit being written may be another one's place
 * by then, before that commit's superblock is seen. So while a commit is being
 * written, parts in chunks of data are undecided as well. It is being written
 * from the first tree block of the next generation on that is not of a log
 * tree; on file systems of several devices always, as that block may have gone
 * to another one.
 *
 * Portable; the caller serialises, gives memory, and reads: as ext-live.h has it.
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
	const char *wrong;		/* keep everything, NULL: nothing wrong */
	bool committing;
	bool anew;			/* nothing from before counts; whoever looks clears it */

	/* the chunks, and the generation of the superblock that they are of */
	struct btrfs_map map;
	bool mapped;			/* there was a map since the beginning */
	bool settled;			/* it is of the last superblock seen */
	bool misaligned;		/* a chunk begins within a slot */
	u64 map_generation;

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
	bool asked;			/* an answer is under way */
	bool stale;			/* and of no use any more */

	void *memory;
	size_t bytes;
	u32 room;			/* extents in each map */
	u32 wanted;			/* the same, as it ought to be */

	struct selfid_open open;	/* slots that began as tree blocks */
	struct selfid_open begun;	/* as data, since the last superblock */
	struct selfid_open packed;	/* where compressed extents that have begun may end */
	enum selfid_sign sign;		/* of the last write; whoever looks clears it */
	u64 errors;
	u8 super[BTRFS_SUPER_BYTES];
};

/*
 * Begin with the superblock @super on a disk that has @sectors from the
 * volume's start on. NULL, or what is wrong: then it is no volume. Keeps the
 * memory given earlier.
 */
const char *btrfs_live_init(struct btrfs_live *b, const void *super, u64 sectors);

/*
 * The verdict on @r from sector @pos of it on; *len becomes the number of
 * sectors that it is for. Learns from what passes, so it is to be called while
 * the volume is not mounted as well; but then the verdict counts only if it is
 * to keep.
 */
enum verdict btrfs_live_write(struct btrfs_live *b, const struct selfid_request *r, u32 pos,
			      u32 *len, enum selfid_reason *reason);

/* The sector at which the chunk tree's root is read, at each mount, 0: not known. */
static inline u64 btrfs_live_root(const struct btrfs_live *b)
{
	return b->wrong ? 0 : btrfs_system_sector(&b->geo, b->geo.chunk_root);
}

/* To be kept with an undecided block, and given to btrfs_live_decide(). */
static inline u64 btrfs_live_tag(const struct btrfs_live *b)
{
	return b->geo.generation;
}

/* When this has changed, undecided blocks may be decided. */
static inline u64 btrfs_live_epoch(const struct btrfs_live *b)
{
	return b->settled ? b->map_generation : 0;
}

/*
 * The verdict on sectors that were undecided when they were written, or would have been squashed
 * had it been known who was at work; whole blocks of 4096 bytes.
 */
enum verdict btrfs_live_decide(const struct btrfs_live *b, u64 sector, u32 sectors, u64 tag);

/* The sectors to be read next, at most BTRFS_READ_BYTES of them; and what was in them, or NULL. */
bool btrfs_live_want(struct btrfs_live *b, u64 *sector, u32 *bytes);
void btrfs_live_learn(struct btrfs_live *b, const void *content);

/* Bytes of zeroed memory wanted, 0: none; giving returns what is no longer needed. */
size_t btrfs_live_memory(const struct btrfs_live *b);
void *btrfs_live_give(struct btrfs_live *b, void *memory, size_t bytes);

#endif
