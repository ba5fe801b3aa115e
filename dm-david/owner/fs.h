/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file systems whose page owners are believed: a table, one entry each (fs.c).
 *
 * Only for these it was shown (docs/CLASSIFICATION.md) that a regular file's page is data. Others
 * may keep metadata in inodes that look like regular files, or need the data to recover: nilfs2
 * does both. Everything of a file system that is not in the table is kept.
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
	/* Is @inode the file system's own, though it may look like a regular file? Or NULL. */
	bool (*is_internal)(const struct inode *inode);
	/* A page may name a file whose cache it is not in: each page is looked at by itself. */
	bool has_foreign_pages;
	/* Programs write quota files as files; the kernel reads them past their pages. */
	bool has_quota_files;
	/* Data has checksums: content of a squashed file cannot be any that it likes. */
	bool has_data_csums;
};

/* The entry of @sb's file system, or NULL. */
const struct owner_fs *owner_fs_of(const struct super_block *sb);

#endif
