/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names in directories of ext2, ext3 and ext4: which inode has which name.
 *
 * All kinds of directory blocks are read alike, as a chain of entries: the nodes of a
 * hash tree hide in entries without an inode or behind the last one, and so does a
 * block's checksum. Small directories stand in their inode (inline_data).
 *
 * Everything read is untrusted: what cannot be is left out and counted; then the
 * names told are not all there are. Portable, any context, no state.
 */
#ifndef CLASSIFIER_EXT_DIR_H
#define CLASSIFIER_EXT_DIR_H

#include "ext.h"

struct ext_name {
	u32 ino;
	const char *name;	/* not terminated; in the block given */
	u32 len;
	bool may_be_dir;	/* what it names is a directory, or that is not told */
};

typedef void (*ext_name_fn)(void *ctx, const struct ext_name *name);

/*
 * Call @fn for every name but . and .. in the directory block @block. Returns the
 * number of entries that were wrong. At most one for 8 bytes of the block.
 */
unsigned int ext_dir_block(const struct ext_geo *geo, const void *block, ext_name_fn fn,
			   void *ctx);

/* The same of the directory that stands in the inode at @raw, of geo->inode_size bytes. */
unsigned int ext_dir_inline(const struct ext_geo *geo, const void *raw, ext_name_fn fn,
			    void *ctx);

#endif
