/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Made-up content with a given checksum.
 *
 * A file system that checks its data (btrfs) would find each squashed block damaged. So the store
 * keeps the crc32c of what was written, 4 bytes for a block. In the content that a read returns, 4
 * bytes are changed so that the content has this crc32c. They are at one place, by default the end
 * of the block. A read that does not touch that place needs no forging.
 *
 * The checksum is that of btrfs (fs/btrfs/file-item.c, btrfs_csum_one_bio(), with
 * the crypto API's "crc32c"): the register starts with ~0 and is inverted at the end.
 *
 * Portable, any context, after crc_setup(). Cost: the checksum once, and one
 * product of polynomials.
 */
#ifndef DAVID_CRCFORGE_H
#define DAVID_CRCFORGE_H

#include "../portable/crc.h"

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
