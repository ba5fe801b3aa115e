// SPDX-License-Identifier: GPL-2.0
/*
 * A btrfs from its superblock on: hostile superblocks, chunk trees and requests. Checksums are
 * put right, and the headers of tree blocks that are asked for, so that what is behind them is
 * reached.
 *
 * Input: superblock; one block that all reads of the chunk tree return; then requests of 8 bytes.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "../../classifier/btrfs/btrfs-live.h"
#include "../../dm-david/portable/crc.h"

#define NODE_BYTES	4096
#define HEAD		(BTRFS_SUPER_BYTES + NODE_BYTES)
#define CONTENT		(256 * 512)
#define MOST_READS	40
#define REQUESTS	16

static struct btrfs_live b;
static u8 super[BTRFS_SUPER_BYTES], node[BTRFS_MAX_NODE], content[CONTENT];

static void seal(u8 *block, u32 bytes)
{
	__le32 crc = cpu_to_le32(crc_of(CRC_32C, block + 32, bytes - 32));

	memcpy(block, &crc, sizeof(crc));
}

static void check_map(void)
{
	u32 i;

	for (i = 0; i < b.map.nr; i++) {
		const struct btrfs_extent *e = &b.map.extent[i];

		if (!e->sectors || e->start + e->sectors > b.geo.sectors)
			abort();
		if (i && e[-1].start + e[-1].sectors > e->start)
			abort();
	}
}

static void work(const u8 *block)
{
	unsigned int reads = 0;
	size_t bytes;
	u64 sector;
	u32 n;

	for (;;) {
		while ((bytes = btrfs_live_memory(&b)))
			fuzz_free(btrfs_live_give(&b, fuzz_zalloc(bytes), bytes));
		if (!btrfs_live_want(&b, &sector, &n))
			break;
		if (sector + (n >> 9) > b.geo.sectors || n > BTRFS_READ_BYTES)
			abort();
		if (!b.filled) {
			const struct btrfs_walk_entry *e = &b.stack[b.depth - 1];
			__le64 word = cpu_to_le64(e->logical);

			memset(node, 0, sizeof(node));
			memcpy(node, block, NODE_BYTES);
			memcpy(node + 32, b.geo.fsid, SELFID_UUID);
			memcpy(node + 48, &word, sizeof(word));
			word = cpu_to_le64(e->generation);
			memcpy(node + 80, &word, sizeof(word));
			node[100] = e->level;
			seal(node, b.geo.node_bytes);
		}
		btrfs_live_learn(&b, ++reads > MOST_READS ? NULL : node + b.filled);
	}
	check_map();
}

static void copy(void *ctx, u32 offset, void *to, u32 len)
{
	if (offset + (u64)len > *(u32 *)ctx * 512ULL)
		abort();
	memcpy(to, content + offset % 65536, len);
}

static void request(const u8 *data)
{
	u32 sectors = 1 + data[0], pos, len;
	struct selfid_request r = { .sectors = sectors, .copy = copy, .ctx = &sectors };
	bool header = data[1] & 1;

	memcpy(&r.sector, data + 2, 6);
	if (data[1] & 2)
		r.sector &= 0xffffff;
	if (data[1] & 4)
		r.sector = r.sector % 512;
	memset(content, 0x5a, sizeof(content));
	for (pos = 0; header && pos < CONTENT; pos += 4096)
		memcpy(content + pos + 32, b.geo.fsid, SELFID_UUID);
	if (r.sector <= 128 && r.sector + sectors >= 136)
		memcpy(content + (128 - r.sector) * 512, super, sizeof(super));
	for (pos = 0; pos < sectors; pos += len) {
		enum selfid_reason reason = SELFID_REASONS;
		enum verdict verdict = btrfs_live_write(&b, &r, pos, &len, &reason);
		u64 at = r.sector + pos;

		if (!len || len > sectors - pos || reason >= SELFID_REASONS)
			abort();
		if (verdict == VERDICT_SQUASH && (reason != SELFID_DATA || b.wrong || at < 2048))
			abort();
		if (verdict == VERDICT_SQUASH && header && !(at & ((b.geo.node_bytes >> 9) - 1)) &&
		    !(pos % 8))
			abort();
		btrfs_live_decide(&b, at, len, data[1]);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	size_t at;

	if (size < HEAD)
		return 0;
	fuzz_free(b.memory);
	memset(&b, 0, sizeof(b));
	memcpy(super, data, sizeof(super));
	seal(super, sizeof(super));
	if (btrfs_live_init(&b, super, 1ULL << 40))
		return 0;
	work(data + BTRFS_SUPER_BYTES);
	for (at = HEAD; at + 8 <= size && at < HEAD + 8 * REQUESTS; at += 8) {
		super[72] += data[at] & 1;
		super[164] += data[at] & 1;
		seal(super, sizeof(super));
		request(data + at);
		work(data + BTRFS_SUPER_BYTES);
	}
	return 0;
}
