/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Blocks of regular files that the kernel later reads past the file's pages, told by their content.
 *
 * What a regular file holds is data, and dropped. Of a few files that is wrong: a program writes
 * them like any other file, and then the kernel takes their blocks for its own. The first block of
 * each has a signature:
 *
 *	journal		tune2fs -j and -J on a mounted file system: jbd2's superblock
 *	quota		quotacheck, convertquota, setquota: the header of the new format
 *	swap		mkswap; and what hibernation puts in its place
 *	bitmap		mdadm --bitmap=FILE: md's bitmap superblock
 *
 * Records of quota files have a form only: ext_looks_like_quota() in exclude.h.
 *
 * Portable, any context, no state.
 */
#ifndef CLASSIFIER_SIGNATURE_H
#define CLASSIFIER_SIGNATURE_H

#include "../dm-david/lib/portable.h"

/* What a swap area's first page ends with stands there. */
#define SIGNATURE_PAGE	4096u

/* Does a file that is such a one begin with these 8 bytes? */
bool signature_begins(const void *start);

/* Do its first SIGNATURE_PAGE bytes end with these 8? */
bool signature_ends(const void *last);

#endif
