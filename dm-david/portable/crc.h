/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two checksums as polynomials: crc32c (btrfs, ext4, iSCSI) and crc32 (gzip).
 *
 * The functions work on the bare register. The usual checksum of a buffer
 * starts with ~0 and ends with an inversion, which crc_of() adds. What is behind
 * the interface is the algebra of it: bytes that follow multiply the register
 * by x^8 each, so that the checksum of a long repetition is known without reading
 * it, and that a checksum can be forged (crcforge.h).
 *
 * Portable, any context, after crc_setup(). Cost for 4 KiB: docs/CONTENT.md.
 */
#ifndef DAVID_CRC_H
#define DAVID_CRC_H

#include "portable.h"

enum crc_kind {
	CRC_32C,	/* Castagnoli */
	CRC_32,		/* IEEE 802.3 */
	CRC_KINDS
};

/*
 * Make the tables and look what the CPU can do. Once, before all else; again
 * does no harm, but not while others calculate.
 */
void crc_setup(void);

/* May crc32c use the CPU's instruction for it? Yes by default, where there is one. For tests. */
bool crc_use_cpu(bool yes);

/* The register after @len bytes. */
u32 crc_update(enum crc_kind kind, u32 state, const void *p, size_t len);

static inline u32 crc_of(enum crc_kind kind, const void *p, size_t len)
{
	return ~crc_update(kind, ~0u, p, len);
}

/* The product of two polynomials: some 130 instructions. Bit 31 is x^0, as in the register. */
u32 crc_multiply(enum crc_kind kind, u32 a, u32 b);

/* x^(8 * @bytes), to multiply a register by for so many zero bytes. At most 64 products. */
u32 crc_power(enum crc_kind kind, u64 bytes);

/* The inverse: takes those bytes back. Many products: for constants. */
u32 crc_inverse_power(enum crc_kind kind, u64 bytes);

#endif
