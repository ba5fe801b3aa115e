// SPDX-License-Identifier: GPL-2.0
/*
 * An xfs from its superblock on, whose checksum is put right. Input: superblock, a block's head,
 * requests of 8 bytes.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "../../classifier/xfs/xfs.h"
#include "../../dm-david/portable/crc.h"

#define HEAD	(512 + 192)

static struct xfs_live x;
static u8 super[512], content[256 * 512];

static void copy(void *ctx, u32 offset, void *to, u32 len)
{
	if (offset + (u64)len > *(u32 *)ctx * 512ULL)
		abort();
	memcpy(to, content + offset, len);
}

static bool is_stored(void *ctx, u64 sector, u32 sectors)
{
	(void)ctx;
	(void)sectors;
	return sector & 64;
}

static void request(const u8 *data, const u8 *head)
{
	static const u8 place[] = { 16, 24, 32, 40, 120, 160 };
	u32 sectors = 1 + data[0], pos, len;
	struct selfid_request r = { .sectors = sectors, .copy = copy, .ctx = &sectors };
	bool header = data[1] & 1;

	memcpy(&r.sector, data + 2, 6);
	if (data[1] & 2)
		r.sector &= 0xffffff;
	if (data[1] & 4)
		r.sector = 0;
	memset(content, 0x5a, sizeof(content));
	for (pos = 0; header && pos < sizeof(content); pos += 512) {
		memcpy(content + pos, head, 192);
		memcpy(content + pos + place[data[1] / 8 % 6], x.geo.uuid, SELFID_UUID);
	}
	if (!r.sector)
		memcpy(content, super, sizeof(super));
	for (pos = 0; pos < sectors; pos += len) {
		enum selfid_reason reason = SELFID_REASONS;
		enum verdict verdict = xfs_live_write(&x, &r, pos, &len, &reason);

		if (!len || len > sectors - pos || reason >= SELFID_REASONS)
			abort();
		if (verdict == VERDICT_SQUASH && (header || x.wrong || !(r.sector + pos)))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	__le32 crc = 0;
	size_t at;

	if (size < HEAD)
		return 0;
	memset(&x, 0, sizeof(x));
	memcpy(super, data, sizeof(super));
	memcpy(super + 224, &crc, sizeof(crc));
	crc = cpu_to_le32(crc_of(CRC_32C, super, sizeof(super)));
	memcpy(super + 224, &crc, sizeof(crc));
	/* Large directory blocks are kept whole, or their log is followed. */
	if (data[512] & 1)
		x.stored = is_stored;
	if (xfs_live_init(&x, super, sizeof(super), 1ULL << 40))
		return 0;
	for (at = HEAD; at + 8 <= size && at < HEAD + 8 * 16; at += 8)
		request(data + at, data + 512);
	return 0;
}
