// SPDX-License-Identifier: GPL-2.0
/*
 * What of an xfs image has no name, in a small one. Input: commands of 8 bytes, some with content
 * behind them: inodes, leaves and records' operations, which are given what makes them be
 * looked at; bytes that are changed afterwards.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "../unit/xfs-image.h"

/* Buffers, inodes and their creation: the format's first bytes. */
static void item(u8 *to, const u8 *command)
{
	static const u8 type[] = { 0x3c, 0x3b, 0x3f };
	u32 kind = command[1] % 4;

	if (kind == 3)
		return;
	to[0] = type[kind];
	to[1] = 0x12;
	to[2] = command[2] & 7;
	to[3] = 0;
	if (!kind && command[3] & 1)
		to[5] = 4 << 3;	/* btree */
	if (!kind && command[3] & 2) {
		memset(to + 6, 0, 14);
		to[6] = 2;
		to[8] = command[4] & ~1;
		to[16] = 1;
	}
	if (kind == 1 && command[3] & 1) {
		memset(to + 17, 0, 7);
		to[4] = 5;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static u8 before[XI_BLOCKS], region[256];
	size_t at = 0;
	u32 block, blocks, n;
	u8 *to;

	if (!xi_make())
		abort();
	xi_unmount();
	while (at + 8 <= size) {
		const u8 *command = data + at;

		at += 8;
		n = min_t(size_t, command[7], size - at);
		block = command[1] | (command[2] & 1) << 8;
		switch (command[0] % 8) {
		case 0:
			to = xi_inode(block, command[3], 0040000 | command[3] << 8, command[4]);
			memcpy(to, data + at, min(n, 336u));
			break;
		case 1:
			/* Of the inode in the same block, or any. */
			to = xi_leaf(xi_at(block), command[3] * 2 + (command[4] & 1), command[5]);
			memcpy(to, data + at, n);
			break;
		case 2:
		case 3:
			memset(region, 0, sizeof(region));
			memcpy(region, data + at, n);
			item(region, command);
			xi_operation(command[5] % 4, command[6] & 0x0e, region, n);
			break;
		case 4:
			xi_operation(command[5] % 4, XI_START, NULL, 0);
			xi_operation(command[5] % 4, 0, "NARTxxxxyyyyzzzz", 16);
			n = 0;
			break;
		case 5:
			xi_record(command[1]);
			n = 0;
			break;
		case 6:
			/* Anywhere in the log, and everywhere else but the superblock. */
			block = (command[1] | command[2] << 8) % (XI_LOG_BLOCKS * XI_BLOCK);
			xi_at(XI_LOG)[block] ^= command[3];
			n = 0;
			break;
		case 7:
			xi[512 + (command[1] | command[2] << 8 | command[3] << 16) %
			   (sizeof(xi) - 512)] ^= command[4];
			n = 0;
			break;
		}
		at += n;
	}
	for (block = 0; block < XI_BLOCKS; block++)
		before[block] = xfs_identify(&xi_geo, xi_at(block), &blocks);
	xi_find();
	for (block = 0; block < XI_BLOCKS; block++)
		if (block % XI_AG >= 2 && xi_kind[block] != before[block] &&
		    (block < XI_LOG || block >= XI_LOG + XI_LOG_BLOCKS) &&
		    (before[block] != SELFID_DATA ||
		     (xi_kind[block] != SELFID_DIRECTORY && xi_kind[block] != SELFID_LOGGED)))
			abort();
	return 0;
}
