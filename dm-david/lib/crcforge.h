/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Content with a checksum that was asked for.
 *
 * A file system that checks its data (btrfs) would find every squashed block
 * damaged. So the crc32c of what was written is kept, 4 bytes a block, and what
 * a read returns is content of any kind with 4 bytes changed such that the
 * checksum is the same. They are at one place, the last of the block by
 * default; a read that does not touch that place needs no forging at all.
 *
 * The checksum is that of btrfs (fs/btrfs/file-item.c, btrfs_csum_one_bio(), with
 * the crypto API's "crc32c"): the register starts with ~0 and is inverted at the end.
 *
 * Portable, any context, after crc_setup(). Cost: the checksum once, and one
 * product of polynomials.
 */
#ifndef DAVID_CRCFORGE_H
#define DAVID_CRCFORGE_H

#include "crc.h"

/* Constants of a place in blocks of one length. */
struct crcforge {
	u32 len;	/* of the block */
	u32 at;		/* of the 4 bytes in it */
	u32 inverse;	/* takes a difference at the end back to them */
};

/* The 4 bytes at @at in blocks of @len; @at + 4 <= @len. A few thousand instructions. */
void crcforge_init(struct crcforge *f, u32 len, u32 at);

/* Change the 4 bytes so that the crc32c of @block is @crc. All other bytes stay. */
void crcforge_block(const struct crcforge *f, void *block, u32 crc);

/* Does a read of @len bytes from byte @from of the block on see the 4 bytes? */
static inline bool crcforge_touches(const struct crcforge *f, u32 from, u32 len)
{
	return from < f->at + 4 && from + len > f->at;
}

#endif
