// SPDX-License-Identifier: GPL-2.0
/* The file systems whose page owners are believed: see fs.h. */
#include "fs.h"

#include <linux/magic.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC	0x58465342
#endif

/* Below these numbers an inode is the file system's own. */
#define EXT4_FIRST_INO	11	/* EXT4_GOOD_OLD_FIRST_INO */
#define BTRFS_FIRST_INO	256	/* BTRFS_FIRST_FREE_OBJECTID */
#define F2FS_FIRST_INO	4	/* behind node, meta and root */
#define F2FS_BEHIND_QUOTA	7	/* mkfs makes up to three quota files before all else */

static bool ext_is_internal(const struct inode *inode)
{
	return inode->i_ino < EXT4_FIRST_INO;
}

/*
 * Besides the low numbers: free-space caches (v1) and the relocation inode are regular and have
 * numbers like files, but no name. A file whose name was dropped from the dentry cache is kept with
 * them: that costs space, not safety.
 */
static bool btrfs_is_internal(const struct inode *inode)
{
	return inode->i_ino < BTRFS_FIRST_INO || hlist_empty(&inode->i_dentry);
}

/* Quota goes through the pages of its files, those with a name as well. */
static bool f2fs_is_internal(const struct inode *inode)
{
	return inode->i_ino < F2FS_FIRST_INO || IS_NOQUOTA(inode) ||
	       (inode->i_ino < F2FS_BEHIND_QUOTA && hlist_empty(&inode->i_dentry));
}

static const struct owner_fs file_systems[] = {
	{	/* ext2 and ext3 use the same magic number */
		.magic = EXT4_SUPER_MAGIC,
		.kind = FSEND_EXT,
		.is_internal = ext_is_internal,
		.has_quota_files = true,
	}, {
		.magic = XFS_SUPER_MAGIC,
		.kind = FSEND_XFS,
		.shares_blocks = true,
	}, {
		.magic = BTRFS_SUPER_MAGIC,
		.kind = FSEND_BTRFS,
		.is_internal = btrfs_is_internal,
		.no_content_by_file = true,
		.shares_blocks = true,
	}, {	/* clusters that it has compressed are in pages that name the file */
		.magic = F2FS_SUPER_MAGIC,
		.kind = FSEND_F2FS,
		.is_internal = f2fs_is_internal,
		.has_foreign_pages = true,
		.has_quota_files = true,
	},
};

const struct owner_fs *owner_fs_of(const struct super_block *sb)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(file_systems); i++)
		if (file_systems[i].magic == sb->s_magic)
			return &file_systems[i];
	return NULL;
}
