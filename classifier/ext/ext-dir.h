/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names in directories of ext2, ext3 and ext4: which inode has which name.
 *
 * Each directory block is a chain of entries. Nodes of a hash tree, and checksums, look like
 * entries without an inode, or are behind the last entry. A small directory may be in its inode
 * (inline_data).
 *
 * The disk is not trusted. Impossible entries are skipped and counted; then names may be missing.
 * Portable, any context, no state.
 */
#ifndef CLASSIFIER_EXT_DIR_H
#define CLASSIFIER_EXT_DIR_H

#include "ext.h"

struct ext_name {
	u32 ino;
	const char *name;	/* not terminated; in the block given */
	u32 len;
	bool may_be_dir;	/* it names a directory, or the entry has no file type */
};

typedef void (*ext_name_fn)(void *ctx, const struct ext_name *name);

/*
 * Call @fn for each name in the directory block @block, except . and .. Returns the number of
 * impossible entries. There is at most one name for 8 bytes of the block.
 */
unsigned int ext_dir_block(const struct ext_geo *geo, const void *block, ext_name_fn fn,
			   void *ctx);

/* The same for a directory that is in its inode: @raw, of geo->inode_size bytes. */
unsigned int ext_dir_inline(const struct ext_geo *geo, const void *raw, ext_name_fn fn,
			    void *ctx);

#endif
