// SPDX-License-Identifier: GPL-2.0
/* Superblock and what is computed from it: every block has a kind, every descriptor a place. */
#include <stdlib.h>

#include "fuzz.h"
#include "../../classifier/ext/ext.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static u8 block[65536];
	struct ext_group group;
	struct ext_geo geo;
	u32 i, offset;
	u64 at;

	if (size < EXT_SUPER_SIZE || ext_parse_super(data, 1ULL << 50, &geo))
		return 0;
	for (i = 0; i < 64; i++) {
		at = (i * 0x9e3779b97f4a7c15ULL) % geo.blocks;
		if (ext_fixed_kind(&geo, at) >= EXT_KINDS)
			abort();
		ext_has_super(&geo, i * 1234567u % geo.groups);
		ext_gdt_block(&geo, i * 1234567u % ext_gdt_count(&geo));
	}
	memcpy(block, data + EXT_SUPER_SIZE, min(size - EXT_SUPER_SIZE, sizeof(block)));
	for (i = 0; i < 1u << geo.desc_bits; i++) {
		if (!ext_parse_group(&geo, block, i, &group))
			continue;
		if (group.inode_table + geo.itable_blocks > geo.blocks)
			abort();
		at = ext_inode_block(&geo, &group, 1 + i % (geo.inodes ?: 1), &offset);
		if (at >= geo.blocks || offset + geo.inode_size > ext_block_size(&geo))
			abort();
	}
	return 0;
}
