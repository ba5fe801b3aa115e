// SPDX-License-Identifier: GPL-2.0
/*
 * Forging a crc32c.
 *
 * With zeros in the 4 bytes the block has some checksum c. With the bytes v there,
 * the checksum is c + v * x^(8 n): n is the number of bytes that follow, and 4 for v
 * itself. x has an inverse modulo P, since P has a constant term. So there is exactly
 * one answer: v = (c + wanted) * x^(-8 n).
 */
#include "crcforge.h"

void crcforge_init(struct crcforge *f, u32 len, u32 at)
{
	f->len = len;
	f->at = at;
	f->inverse = crc_inverse_power(CRC_32C, len - at);
}

void crcforge_block(const struct crcforge *f, void *block, u32 crc)
{
	u8 *place = (u8 *)block + f->at;
	__le32 bytes = 0;
	u32 difference;

	memcpy(place, &bytes, 4);
	difference = crc ^ crc_of(CRC_32C, block, f->len);
	bytes = cpu_to_le32(crc_multiply(CRC_32C, difference, f->inverse));
	memcpy(place, &bytes, 4);
}
