/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compressed extents of btrfs. Nothing but their content tells them from other
 * data, and nothing else can be unpacked in its place. Each begins a block, in
 * the form of its kind; of the blocks behind the first nothing can be said.
 *
 * This is about files that can be read, not about metadata: data that looks
 * like it is kept in vain, and no more happens.
 *
 * Source: fs/btrfs/{lzo,zlib,zstd}.c of 6.1 and 6.12, RFC 1950, 1951 and 8878.
 *
 * Portable, any context.
 */
#ifndef CLASSIFIER_BTRFS_PACKED_H
#define CLASSIFIER_BTRFS_PACKED_H

#include "../dm-david/lib/portable.h"

#define BTRFS_PACKED_BLOCK	4096
/* An extent has at most so many bytes. */
#define BTRFS_PACKED_MAX	(128 * 1024)
/* So many of a block's first bytes tell most of those that are none. */
#define BTRFS_PACKED_PEEK	16

/* May a compressed extent begin with the BTRFS_PACKED_PEEK bytes at @head? */
bool btrfs_packed_peek(const u8 *head);

/*
 * May it with the block at @block, of BTRFS_PACKED_BLOCK bytes? One of 15 million random blocks
 * does by chance.
 */
bool btrfs_packed(const u8 *block);

#endif
