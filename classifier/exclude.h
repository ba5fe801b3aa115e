/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a block's content rules out: may it be metadata of ext2, ext3 or ext4
 * that is not known by its place?
 *
 * Pointers on a disk can be stale: a file was truncated in memory, its block
 * given to a directory and written as such, and then the inode block is written
 * for another inode's sake, with the old pointers. So that an inode points to a
 * block does not prove what the block holds. Its content does, for every kind
 * of metadata that has a form: then the block is kept for good. What has no form
 * (values of large attributes, Merkle trees, encrypted symbolic links) is
 * listed in docs/CLASSIFICATION.md, and volumes that may hold it are treated
 * otherwise (assoc.h).
 *
 * The tests are wide: whatever a driver or e2fsprogs ever writes must pass,
 * and data that happens to pass is merely kept. Portable, any context, no state.
 */
#ifndef CLASSIFIER_EXCLUDE_H
#define CLASSIFIER_EXCLUDE_H

#include "ext.h"

/* How a block might be metadata. */
enum ext_look {
	EXT_LOOK_NONE,		/* it cannot be */
	EXT_LOOK_MAGIC,		/* extent node, attributes, journal, orphan file, quota header */
	EXT_LOOK_DIRECTORY,	/* a chain of entries; also the hash tree's nodes */
	EXT_LOOK_INDIRECT,	/* nothing but block numbers and zeros; also quota trees */
	EXT_LOOK_SYMLINK,	/* a text of 60 bytes or more, then zeros to the end */
	EXT_LOOK_QUOTA,		/* records of quota files, old and new format */
	/*
	 * No NUL in the first 60 bytes, but one behind. ext4 writes targets into buffers that may
	 * hold something else behind them: most data looks so, and any may be a target.
	 */
	EXT_LOOK_DOUBTFUL,
};

/*
 * May @size bytes, whole KiB, be records of a quota file, of the old format or the new one? The
 * header of the new one has a signature: signature.h.
 */
bool ext_looks_like_quota(const void *block, u32 size);

/* @block: a whole block of the file system, aligned to 8 bytes. */
enum ext_look ext_look(const struct ext_geo *geo, const void *block);

/*
 * The same, from a block's first EXT_LOOK_HEAD and its last EXT_LOOK_TAIL bytes: false if it is
 * EXT_LOOK_NONE or EXT_LOOK_DOUBTFUL, true if it has to be looked at as a whole.
 */
#define EXT_LOOK_HEAD	64u
#define EXT_LOOK_TAIL	8u
bool ext_may_look(const struct ext_geo *geo, const void *head, const void *tail);

/*
 * Is @block, which looks like metadata, so well formed that hardly anything else can be meant: a
 * directory that begins with its own name, an extent node, attributes?
 */
bool ext_is_formed(const struct ext_geo *geo, const void *block);

#endif
