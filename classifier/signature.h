/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signatures of regular files whose blocks the kernel later reads without the file's page cache.
 *
 * The content of a regular file is data, and is dropped. For a few files that is wrong: a program
 * writes them like any other file, and later the kernel uses their blocks directly. The first block
 * of each has a signature:
 *
 *	journal		tune2fs -j and -J on a mounted file system: jbd2's superblock
 *	quota		quotacheck, convertquota, setquota: the header of the new format
 *	swap		mkswap; and what hibernation puts in its place
 *	bitmap		mdadm --bitmap=FILE: md's bitmap superblock
 *
 * Records of quota files have no signature, only a form: ext_looks_like_quota() in exclude.h.
 *
 * Portable, any context, no state.
 */
#ifndef CLASSIFIER_SIGNATURE_H
#define CLASSIFIER_SIGNATURE_H

#include "../dm-david/portable/portable.h"

/* The signature of a swap area is at the end of its first page, of so many bytes. */
#define SIGNATURE_PAGE	4096u

/* @start: a file's first 8 bytes. Are they one of these signatures? */
bool signature_begins(const void *start);

/* @last: the last 8 of a file's first SIGNATURE_PAGE bytes. Are they one of these signatures? */
bool signature_ends(const void *last);

#endif
