/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inodes of ext2, ext3 and ext4, and the blocks that they map: content of some kind, or further
 * pointers. This is the association of semantically-smart disk systems (Sivathanu and others, FAST
 * 2003), which David (FAST 2011, section 3.1) builds on.
 *
 * A map is read one block at a time. ext_map_inode() reports the pointers in the inode. For each
 * block of pointers among them the caller reads the block and calls ext_map_node(). So nothing here
 * recurses or waits, and the caller bounds the work. A node's level is always one less than its
 * parent's, whatever the disk says.
 *
 * The disk is not trusted. Pointers out of the volume, and impossible lengths and counts, are
 * skipped and counted. Portable, any context, no state.
 */
#ifndef CLASSIFIER_EXT_INODE_H
#define CLASSIFIER_EXT_INODE_H

#include "ext.h"

#define EXT_MAX_DEPTH	5	/* of an extent tree: EXT4_MAX_EXTENT_DEPTH */
#define EXT_INODE_MAP	60	/* bytes of pointers in an inode */

struct ext_inode {
	u32 ino;
	u32 mode;
	u32 flags;
	u32 links;
	u32 dtime;
	u64 size;		/* bytes */
	u64 xattr_block;	/* 0: none */
	u32 generation;		/* i_generation */
	enum ext_kind kind;	/* of its content; EXT_DATA for a regular file */
	bool used;
	bool mapped;		/* it has pointers to blocks */
	bool extents;		/* the pointers are extents, not indirect blocks */
	bool verity;
	bool regular;
	bool immutable;
	bool inline_data;	/* the content is in the inode */
	u8 map[EXT_INODE_MAP];
};

/* Read the inode at @raw, of geo->inode_size bytes. */
void ext_parse_inode(const struct ext_geo *geo, u32 ino, const void *raw,
		     struct ext_inode *inode);

/* A run of blocks that a map has. */
struct ext_run {
	u64 logical;		/* block within the file */
	u64 start;		/* block within the volume */
	u32 len;		/* 1 for nodes */
	u32 level;		/* 0: content; else a node, whose own pointers are of level - 1 */
};

typedef void (*ext_run_fn)(void *ctx, const struct ext_run *run);

/*
 * Call @fn for each run that the pointers in the inode have. Returns the number of impossible
 * pointers, which are skipped.
 */
unsigned int ext_map_inode(const struct ext_geo *geo, const struct ext_inode *inode,
			   ext_run_fn fn, void *ctx);

/*
 * The same for the node @block, which was reported as a run of @level > 0 at file block @logical.
 */
unsigned int ext_map_node(const struct ext_geo *geo, bool extents, u32 level, u64 logical,
			  const void *block, ext_run_fn fn, void *ctx);

/*
 * Does the node @block belong to this inode's extent tree, by its checksum? False without
 * metadata_csum.
 */
bool ext_node_is_of(const struct ext_geo *geo, const struct ext_inode *inode, const void *block);

#endif
