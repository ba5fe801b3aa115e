/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a block look like the beginning of a compressed extent of btrfs?
 *
 * btrfs cannot decompress made-up content, so compressed extents are kept, or reads fail. Only
 * their content shows that they are compressed. An extent begins at a block, with the header of its
 * algorithm. Its later blocks show nothing.
 *
 * No metadata depends on this. Data that looks compressed by chance is kept in vain, and nothing
 * else happens.
 *
 * Source: fs/btrfs/{lzo,zlib,zstd}.c of 6.1 and 6.12, RFC 1950, 1951 and 8878.
 *
 * Portable, any context.
 */
#ifndef CLASSIFIER_BTRFS_COMPRESSED_H
#define CLASSIFIER_BTRFS_COMPRESSED_H

#include "../../dm-david/portable/portable.h"

#define BTRFS_COMPRESSED_BLOCK	4096
/* The most bytes of an extent. */
#define BTRFS_COMPRESSED_MAX	(128 * 1024)
/* So many bytes exclude most blocks. */
#define BTRFS_COMPRESSED_PEEK	16

/* Can a compressed extent begin with the BTRFS_COMPRESSED_PEEK bytes at @head? */
bool btrfs_compressed_peek(const u8 *head);

/*
 * Can a compressed extent begin with the BTRFS_COMPRESSED_BLOCK bytes at @block? One in 15 million
 * random blocks looks like that.
 */
bool btrfs_compressed(const u8 *block);

#endif
