/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Can a block, by its content, be metadata of ext2, ext3 or ext4 that is not known by its place?
 *
 * A pointer in an inode does not prove that a block is file content, because pointers on a disk can
 * be stale. Example: a file is truncated in memory; its block is given to a directory and written
 * as such; then the inode block is written because of another inode in it, with the old pointers.
 * The block's content proves more. Most kinds of metadata have a form, and a block with such a form
 * is kept permanently. classifier/ext/WHY.md lists the kinds without form (values of large
 * attributes, Merkle trees, encrypted symbolic links). Volumes that may hold them have stricter
 * rules (assoc.h).
 *
 * The tests are wide. Everything that a driver or e2fsprogs writes passes. Data that passes by
 * chance is kept in vain, and nothing else happens. Portable, any context, no state.
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
	 * No NUL in the first 60 bytes, but one later. ext4 writes the target of a symbolic link
	 * into a buffer and does not clear the rest. So such a block may be a target, but most
	 * data looks like this, too.
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
 * A quick test with a block's first EXT_LOOK_HEAD and last EXT_LOOK_TAIL bytes. False: ext_look()
 * would return EXT_LOOK_NONE or EXT_LOOK_DOUBTFUL. True: call it.
 */
#define EXT_LOOK_HEAD	64u
#define EXT_LOOK_TAIL	8u
bool ext_may_look(const struct ext_geo *geo, const void *head, const void *tail);

/*
 * @block looks like metadata. Is its form so strict that data hardly has it by chance? True for a
 * directory that begins with "." or ends with a checksum, an extent node, and attributes whose
 * header is in use.
 */
bool ext_is_formed(const struct ext_geo *geo, const void *block);

#endif
