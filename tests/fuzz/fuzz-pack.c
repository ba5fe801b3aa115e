// SPDX-License-Identifier: GPL-2.0
/*
 * Packed blocks as anybody may have made them. Input: first byte even, a block as it may be coded,
 * and first byte odd, a pack behind its checksum, which is put right. And what the input decodes
 * to must come back when it is coded again.
 */
#include "fuzz.h"

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/pack.h"
#include "../../dm-david/portable/portable-alloc.h"

static struct squeeze *squeeze;

static void again(const u8 *block)
{
	u8 coded[SQUEEZE_BLOCK], back[SQUEEZE_BLOCK];
	enum squeeze_kind kind;
	u32 len = squeeze_encode(squeeze, block, coded, sizeof(coded), &kind);

	if (len && (!squeeze_decode(squeeze, kind, coded, len, back) ||
		    memcmp(block, back, sizeof(back))))
		abort();
}

static void any_pack(const u8 *data, size_t size)
{
	static u8 pack[PACK_BYTES];
	struct pack_head *head = (struct pack_head *)pack;
	u8 block[SQUEEZE_BLOCK];
	u32 bytes, i;

	memset(pack, 0, sizeof(pack));
	memcpy(pack + 4, data, min(size, sizeof(pack) - 4));
	/* What any input gets right. */
	head->magic = cpu_to_le32(PACK_MAGIC);
	head->number = cpu_to_le64(7);
	bytes = le32_to_cpu(head->bytes);
	if (bytes >= 4 && bytes <= PACK_BYTES)
		head->crc = cpu_to_le32(crc_of(CRC_32C, pack + 4, bytes - 4));
	if (pack_check(pack, sizeof(pack), 7))
		return;
	for (i = 0; i < pack_pieces(pack) && i < 20; i++)
		pack_read(pack, squeeze, le64_to_cpu(pack_piece_at(pack, i)->block), block);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 block[SQUEEZE_BLOCK];
	u32 len;

	crc_setup();
	if (!squeeze)
		squeeze = squeeze_new(GFP_KERNEL);
	if (size < 2 || !squeeze)
		return 0;
	if (data[0] & 1) {
		any_pack(data + 1, size - 1);
		return 0;
	}
	len = min(size - 1, sizeof(block));
	if (squeeze_decode(squeeze, data[0] >> 1 & 1, data + 1, len, block))
		again(block);
	return 0;
}
