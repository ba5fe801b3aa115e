/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a file system ends, by its superblock: it need not take all of its disk.
 *
 * Portable, any context, no state. What a superblock says is not to be trusted: it is only ever
 * compared with.
 */
#ifndef CLASSIFIER_FSEND_H
#define CLASSIFIER_FSEND_H

#include "../dm-david/lib/portable.h"

enum fs_kind {
	FSEND_EXT,			/* ext2, ext3, ext4 */
	FSEND_XFS,
	FSEND_BTRFS,
	FSEND_F2FS,
	FSEND_KINDS
};

/* Of a superblock so much is looked at. */
#define FS_SUPER_BYTES	512u

/* Superblocks are before this sector. */
#define FS_SUPERS_END	136u

/* Where the superblock of a file system at sector 0 is. */
u32 fs_super_sector(enum fs_kind kind);

/* Sectors of the file system with the superblock @super; 0 if it is none of that kind. */
u64 fs_end(enum fs_kind kind, const void *super);

#endif
