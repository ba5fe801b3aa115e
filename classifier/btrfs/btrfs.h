/* SPDX-License-Identifier: GPL-2.0 */
/*
 * btrfs on one of its devices: superblock, tree blocks, chunks.
 *
 * The disk is not trusted. btrfs_parse_super() checks a superblock; computing with what it has
 * accepted is safe. Portable, no state.
 */
#ifndef CLASSIFIER_BTRFS_H
#define CLASSIFIER_BTRFS_H

#include "../selfid.h"

#define BTRFS_SUPER_SECTOR	128	/* 64 KiB from the volume's start */
#define BTRFS_SUPER_BYTES	4096
#define BTRFS_MAGIC_OFFSET	64
#define BTRFS_RESERVED_SECTORS	2048	/* the first MiB is never allocated */
#define BTRFS_HEADER_BYTES	101
#define BTRFS_MAX_NODE		65536
#define BTRFS_SYSTEM_CHUNKS	26	/* no more fit into a superblock */

/* Chunk types; a mixed one has both DATA and METADATA. */
#define BTRFS_CHUNK_DATA	1
#define BTRFS_CHUNK_SYSTEM	2
#define BTRFS_CHUNK_METADATA	4

/* A chunk, or the part of one, on this device. Its start and length are in sectors. */
struct btrfs_extent {
	u64 start;
	u64 sectors;
	u32 type;
	bool misaligned;	/* its tree blocks may lie across slots */
	bool striped;	/* what is adjacent here is not adjacent in the chunk: RAID 0 and 10 */
};

struct btrfs_system_chunk {
	u64 logical;	/* bytes, in btrfs's logical address space */
	u64 bytes;
	u64 sector;	/* of a copy on this device */
};

struct btrfs_geo {
	u8 fsid[SELFID_UUID];	/* in each tree block */
	u64 sectors;		/* of this device */
	u64 devid;
	u64 devices;
	u64 generation;
	u64 chunk_root;
	u64 chunk_generation;
	u32 node_bytes;
	u32 sector_bytes;
	u16 csum_type;
	u8 chunk_level;
	bool mixed;
	bool space_cache;	/* version 1 is in use */
	const char *unsafe;	/* why all of it has to be kept, or NULL */
	unsigned int system_chunks;
	struct btrfs_system_chunk system[BTRFS_SYSTEM_CHUNKS];
};

/*
 * Parse the superblock @super, of BTRFS_SUPER_BYTES. The disk has @sectors from the volume's start
 * on. Returns NULL, or what is wrong.
 */
const char *btrfs_parse_super(const void *super, u64 sectors, struct btrfs_geo *geo);

/* Are they the same file system on the same device, with the same sizes? */
bool btrfs_same(const struct btrfs_geo *a, const struct btrfs_geo *b);

/* Are its checksums of data crc32c of 4 KiB each? */
bool btrfs_sums_are_crc32c(const struct btrfs_geo *geo);

/* The sector of the tree block at @logical, in a system chunk; 0: not on this device. */
u64 btrfs_system_sector(const struct btrfs_geo *geo, u64 logical);

/* From a tree block's first BTRFS_HEADER_BYTES. */
struct btrfs_header {
	u64 logical;
	u64 generation;
	u64 owner;
	u32 items;
	u8 level;
};

/* False: the block is no tree block of this file system. */
bool btrfs_parse_header(const struct btrfs_geo *geo, const void *block, struct btrfs_header *h);

/*
 * Does @block look like a tree block of any btrfs? Needed because btrfstune changes the fsid of
 * each block, and mkfs.btrfs writes tree blocks before the superblock. Data looks like this by
 * chance once in 10^17 blocks.
 */
bool btrfs_looks_like_header(const struct btrfs_geo *geo, const void *block);

/* Is @node a possible tree block, and its checksum right, if it is of a kind that we compute? */
bool btrfs_node_valid(const struct btrfs_geo *geo, const void *node, const struct btrfs_header *h);

/*
 * If @page, of 4096 bytes, is the first one of a free-space cache of version 1 that transaction
 * @generation writes, returns the cache's length in sectors; otherwise 0. Costs 200 instructions.
 */
u32 btrfs_cache_sectors(const void *page, u64 generation);

/* Child number @slot of a valid node of level > 0. */
void btrfs_node_child(const void *node, u32 slot, u64 *logical, u64 *generation);

/*
 * Read item number @slot of a valid leaf of the chunk tree. Returns 0 if it is no chunk, -EINVAL if
 * it is impossible, or 1 + the number of the chunk's extents on this device. *@extent becomes
 * extent number @nth, if there is one.
 */
int btrfs_leaf_chunk(const struct btrfs_geo *geo, const void *leaf, u32 slot, unsigned int nth,
		     struct btrfs_extent *extent);

#endif
