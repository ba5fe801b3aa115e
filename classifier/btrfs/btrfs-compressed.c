// SPDX-License-Identifier: GPL-2.0
/* Compressed extents of btrfs: see btrfs-compressed.h. */
#include "btrfs-compressed.h"

#define ZSTD_MAGIC	0xfd2fb528
#define LZO_SEGMENT_MAX	(4096 + 4096 / 16 + 64 + 3)
#define LZO_WORD	4

static u32 bits_at(const u8 *head, u32 bit, u32 n)
{
	u32 pair = head[bit / 8] | head[bit / 8 + 1] << 8;

	return pair >> bit % 8 & ((1u << n) - 1);
}

/* Of a stream of zlib's, without dictionary. */
static bool has_header(const u8 *head)
{
	return head[0] == 0x78 && !((head[0] << 8 | head[1]) % 31) && !(head[1] & 0x20);
}

/* With fixed codes in its only block. */
static bool is_short_zlib(const u8 *head)
{
	return has_header(head) && bits_at(head, 16, 3) == 3;
}

/* With dynamic codes in its first block, of which those for the code lengths are complete. */
static bool is_zlib(const u8 *head)
{
	u32 codes, i, sum = 0;

	if (!has_header(head) || bits_at(head, 17, 2) != 2 || bits_at(head, 19, 5) > 29 ||
	    bits_at(head, 24, 5) > 29)
		return false;
	codes = bits_at(head, 29, 4) + 4;
	for (i = 0; i < codes; i++) {
		u32 length = bits_at(head, 33 + 3 * i, 3);

		sum += length ? 128 >> length : 0;
	}
	return sum == 128;
}

/* The length of all, then segments with theirs in front. */
static bool is_lzo(u32 total, u32 segment)
{
	return segment && segment <= LZO_SEGMENT_MAX && total <= BTRFS_COMPRESSED_MAX &&
	       total >= 2 * LZO_WORD + segment;
}

bool btrfs_compressed_peek(const u8 *head)
{
	return get_unaligned_le32(head) == ZSTD_MAGIC || is_zlib(head) || is_short_zlib(head) ||
	       is_lzo(get_unaligned_le32(head), get_unaligned_le32(head + LZO_WORD));
}

bool btrfs_compressed(const u8 *block)
{
	static const u8 zeros[16];
	u32 total = get_unaligned_le32(block), at = LZO_WORD, segment;

	/* Fixed codes are for what is short, and zeros are behind it. */
	if (is_short_zlib(block))
		return !memcmp(block + BTRFS_COMPRESSED_BLOCK - sizeof(zeros), zeros,
			       sizeof(zeros));
	if (!is_lzo(total, get_unaligned_le32(block + at)))
		return btrfs_compressed_peek(block);
	/* Small numbers look like it. A length never crosses the block's end. */
	while (at < total && at + LZO_WORD <= BTRFS_COMPRESSED_BLOCK) {
		segment = get_unaligned_le32(block + at);
		if (!segment || segment > LZO_SEGMENT_MAX || at + LZO_WORD + segment > total)
			return false;
		at += LZO_WORD + segment;
	}
	return true;
}
