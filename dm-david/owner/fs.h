/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file systems whose page owners are believed: a table, one entry each (fs.c).
 *
 * For these file systems dm-david/owner/WHY.md shows that a regular file's page is data. Another
 * file system may keep metadata in inodes that look like regular files, or may need the data to
 * recover; nilfs2 does both. Everything of a file system that is not in the table is kept.
 *
 * Locking: callers are in an RCU read-side section, or hold a reference to the superblock. Any
 * context but NMI; nothing sleeps.
 */
#ifndef DM_DAVID_FS_H
#define DM_DAVID_FS_H

#include <linux/fs.h>
#include "../../classifier/fsend.h"

struct owner_fs {
	unsigned long magic;		/* super_block->s_magic */
	enum fs_kind kind;		/* for fsend.h */
	/* Does @inode hold metadata, though it may look like a regular file? NULL: never. */
	bool (*is_internal)(const struct inode *inode);
	/* A page may name a file without being in its page cache: each is looked at alone. */
	bool has_foreign_pages;
	/* Programs write quota files as files; the kernel reads them past the page cache. */
	bool has_quota_files;
	/* Data has checksums, so files= cannot choose its content. */
	bool no_content_by_file;
	/* A file may get the blocks of another one, without a write: deduplication, swapext. */
	bool shares_blocks;
};

/* The entry of @sb's file system, or NULL. */
const struct owner_fs *owner_fs_of(const struct super_block *sb);

#endif
