// SPDX-License-Identifier: GPL-2.0
/* Packs, as they are in the store: see pack.h. */
#include "pack.h"

#include "../portable/crc.h"

static u32 head_and_pieces(u32 pieces)
{
	return sizeof(struct pack_head) + pieces * sizeof(struct pack_piece);
}

enum pack_added pack_add(struct pack_maker *maker, struct squeeze *s, u64 block,
			 const void *content)
{
	u32 used = head_and_pieces(maker->pieces + 1) + maker->len, len;
	enum squeeze_kind kind;
	struct pack_piece *piece;

	pack_asserts();
	if (used >= PACK_BYTES)
		return PACK_FULL;
	/* Whether it is too long does not depend on what else is in the pack. */
	len = squeeze_encode(s, content, maker->content + maker->len,
			     min_t(u32, PACK_BYTES - used, PACK_PIECE_MOST), &kind);
	if (!len)
		return PACK_BYTES - used < PACK_PIECE_MOST ? PACK_FULL : PACK_LONG;
	piece = pack_piece_at(maker->pack, maker->pieces++);
	piece->block = cpu_to_le64(block);
	piece->crc = cpu_to_le32(crc_of(CRC_32C, content, SQUEEZE_BLOCK));
	piece->len = cpu_to_le16(len);
	piece->kind = cpu_to_le16(kind);
	maker->len += len;
	return PACK_ADDED;
}

static u32 crc_of_pack(const void *pack, u32 bytes)
{
	return crc_of(CRC_32C, pack + sizeof(__le32), bytes - sizeof(__le32));
}

u32 pack_seal(struct pack_maker *maker, u64 number)
{
	u32 bytes = head_and_pieces(maker->pieces) + maker->len;
	struct pack_head *head = (struct pack_head *)maker->pack;
	u32 pages = DIV_ROUND_UP(bytes, SQUEEZE_BLOCK);

	memcpy(maker->pack + head_and_pieces(maker->pieces), maker->content, maker->len);
	memset(maker->pack + bytes, 0, pages * SQUEEZE_BLOCK - bytes);
	head->magic = cpu_to_le32(PACK_MAGIC);
	head->number = cpu_to_le64(number);
	head->bytes = cpu_to_le32(bytes);
	head->pieces = cpu_to_le32(maker->pieces);
	head->crc = cpu_to_le32(crc_of_pack(maker->pack, bytes));
	return pages;
}

const char *pack_check(const void *pack, u32 len, u64 number)
{
	const struct pack_head *head = pack;
	u32 bytes, pieces, used, i;
	u64 last = 0;

	if (len < sizeof(*head) || le32_to_cpu(head->magic) != PACK_MAGIC)
		return "there is no pack";
	bytes = le32_to_cpu(head->bytes);
	pieces = le32_to_cpu(head->pieces);
	if (bytes > len || bytes > PACK_BYTES || bytes < sizeof(*head) ||
	    pieces > (bytes - sizeof(*head)) / sizeof(struct pack_piece))
		return "a pack's head makes no sense";
	if (le32_to_cpu(head->crc) != crc_of_pack(pack, bytes))
		return "a pack's checksum is wrong";
	if (le64_to_cpu(head->number) != number)
		return "a pack has another one's number";
	used = head_and_pieces(pieces);
	for (i = 0; i < pieces; i++) {
		const struct pack_piece *piece = pack_piece_at(pack, i);
		u64 block = le64_to_cpu(piece->block);

		used += le16_to_cpu(piece->len);
		if ((i && block <= last) || used > bytes ||
		    le16_to_cpu(piece->kind) >= SQUEEZE_KINDS)
			return "a piece in a pack makes no sense";
		last = block;
	}
	return used == bytes ? NULL : "a pack has more than its pieces";
}

const char *pack_read(const void *pack, struct squeeze *s, u64 block, void *content)
{
	u32 pieces = pack_pieces(pack), at = head_and_pieces(pieces), i;

	for (i = 0; i < pieces; i++) {
		const struct pack_piece *piece = pack_piece_at(pack, i);
		u32 len = le16_to_cpu(piece->len);

		if (le64_to_cpu(piece->block) != block) {
			at += len;
			continue;
		}
		if (!squeeze_decode(s, le16_to_cpu(piece->kind), pack + at, len, content))
			return "a block in a pack cannot be decoded";
		if (crc_of(CRC_32C, content, SQUEEZE_BLOCK) != le32_to_cpu(piece->crc))
			return "the checksum of a block in a pack is wrong";
		return NULL;
	}
	return "a block is not in its pack";
}
