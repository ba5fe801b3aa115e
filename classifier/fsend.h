/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of a file system, by its superblock. A file system may be smaller than its disk.
 *
 * Portable, any context, no state. A superblock is not trusted: the result may be any number, and
 * callers only compare with it.
 */
#ifndef CLASSIFIER_FSEND_H
#define CLASSIFIER_FSEND_H

#include "../dm-david/portable/portable.h"

enum fs_kind {
	FSEND_EXT,			/* ext2, ext3, ext4 */
	FSEND_XFS,
	FSEND_BTRFS,
	FSEND_F2FS,
	FSEND_KINDS
};

/* So many bytes of a superblock are read. */
#define FS_SUPER_BYTES	512u

/* All superblocks of file systems at sector 0 are before this sector. */
#define FS_SUPERS_END	136u

/* The sector of the superblock, if the file system begins at sector 0. */
u32 fs_super_sector(enum fs_kind kind);

/* Sectors of the file system with the superblock @super; 0 if it is none of that kind. */
u64 fs_end(enum fs_kind kind, const void *super);

#endif
