// SPDX-License-Identifier: GPL-2.0
/*
 * Forging a crc32c.
 *
 * With zeros in the 4 bytes the block has some checksum c. Bytes v there change
 * it to c + v * x^(8 n), where n bytes follow and 4 more are v's own way through
 * the register. That product can be undone: P is x^0 + …, so x has an inverse
 * modulo P, and v = (c + wanted) * x^(-8 n) is the answer, the only one.
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
