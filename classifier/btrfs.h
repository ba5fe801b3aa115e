/* SPDX-License-Identifier: GPL-2.0 */
/*
 * btrfs as it lies on one of its devices: superblock, tree blocks, chunks.
 *
 * Everything here is read from an untrusted disk. btrfs_parse_super() is the
 * check: what it has accepted can be computed with. Portable, no state.
 */
#ifndef CLASSIFIER_BTRFS_H
#define CLASSIFIER_BTRFS_H

#include "selfid.h"

#define BTRFS_SUPER_SECTOR	128	/* 64 KiB from the volume's start; also its place there */
#define BTRFS_SUPER_BYTES	4096
#define BTRFS_MAGIC_OFFSET	64
#define BTRFS_RESERVED_SECTORS	2048	/* the first MiB is never allocated */
#define BTRFS_HEADER_BYTES	101
#define BTRFS_MAX_NODE		65536
#define BTRFS_SYSTEM_CHUNKS	26	/* the most that fit into a superblock */

/* Chunk types; a mixed one has both DATA and METADATA. */
#define BTRFS_CHUNK_DATA	1
#define BTRFS_CHUNK_SYSTEM	2
#define BTRFS_CHUNK_METADATA	4

/* A chunk, or the part of one, on this device. Sectors; logical: bytes, as btrfs counts. */
struct btrfs_extent {
	u64 start;
	u64 sectors;
	u32 type;
	u32 misaligned;	/* its blocks need not be where slots are */
};

struct btrfs_system_chunk {
	u64 logical;
	u64 bytes;
	u64 sector;	/* of a copy on this device */
};

struct btrfs_geo {
	u8 fsid[SELFID_UUID];	/* as tree blocks carry it */
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
	const char *unsafe;	/* why it cannot be decided about, or NULL */
	unsigned int system_chunks;
	struct btrfs_system_chunk system[BTRFS_SYSTEM_CHUNKS];
};

/*
 * Check the superblock @super of BTRFS_SUPER_BYTES on a disk that has @sectors
 * from the volume's start on. NULL if it is one, otherwise what is wrong.
 */
const char *btrfs_parse_super(const void *super, u64 sectors, struct btrfs_geo *geo);

/* The same file system on the same device, with the same sizes? */
bool btrfs_same(const struct btrfs_geo *a, const struct btrfs_geo *b);

/* Are the checksums of its data, where it has any, crc32c of 4 KiB each? */
bool btrfs_sums_are_crc32c(const struct btrfs_geo *geo);

/* Sector of a copy of the tree block at @logical in a system chunk, 0: not on this device. */
u64 btrfs_system_sector(const struct btrfs_geo *geo, u64 logical);

/* A tree block's first BTRFS_HEADER_BYTES; false: it is not one of this file system. */
struct btrfs_header {
	u64 logical;
	u64 generation;
	u64 owner;
	u32 items;
	u8 level;
};

bool btrfs_parse_header(const struct btrfs_geo *geo, const void *block, struct btrfs_header *h);

/*
 * Does it look like a tree block, of whatever file system? btrfstune gives each block another
 * fsid; mkfs.btrfs writes those of a new file system before its superblock. Data has by chance one
 * in some 10^17 times what this asks for.
 */
bool btrfs_looks_like_header(const struct btrfs_geo *geo, const void *block);

/* A whole tree block: is its header's content possible, and does its checksum hold where known? */
bool btrfs_node_valid(const struct btrfs_geo *geo, const void *node, const struct btrfs_header *h);

/*
 * The number of sectors, from this one on, of a free-space cache of version 1 that is written by
 * transaction @generation, if @page of 4096 bytes is its first; otherwise 0. Some 200 instructions.
 */
u32 btrfs_cache_sectors(const void *page, u64 generation);

/* Child number @slot of a valid node of level > 0. */
void btrfs_node_child(const void *node, u32 slot, u64 *logical, u64 *generation);

/*
 * Item number @slot of a valid leaf of the chunk tree. 0: no chunk. Otherwise
 * the number of its extents on this device plus 1, of which number @nth, if
 * there is one, is put to @extent. -EINVAL: impossible.
 */
int btrfs_leaf_chunk(const struct btrfs_geo *geo, const void *leaf, u32 slot, unsigned int nth,
		     struct btrfs_extent *extent);

#endif
