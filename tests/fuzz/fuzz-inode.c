// SPDX-License-Identifier: GPL-2.0
/* Inodes, extent nodes and indirect blocks: whatever they say, runs are inside of the volume. */
#include <stdlib.h>

#include "fuzz.h"
#include "../../classifier/ext/ext-inode.h"

static struct ext_geo geo;
static unsigned int runs;

static void check(void *ctx, const struct ext_run *run)
{
	(void)ctx;
	runs++;
	if (!run->len || run->start >= geo.blocks || run->len > geo.blocks - run->start)
		abort();
	if (run->level > EXT_MAX_DEPTH || (run->level && run->len != 1))
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static u8 block[4096];
	struct ext_inode inode;
	u32 level;

	if (size < 2 + 256)
		return 0;
	geo.blocks = 1u << (10 + data[0] % 21);
	geo.block_bits = 10 + data[1] % 3;
	geo.first_data = geo.block_bits == 10;
	geo.inode_size = 256;
	geo.first_ino = 11;
	geo.incompat = data[1] & 0x80 ? EXT_INCOMPAT_64BIT : 0;
	ext_parse_inode(&geo, data[1] & 0x40 ? 8 : 50, data + 2, &inode);
	runs = 0;
	ext_map_inode(&geo, &inode, check, NULL);
	if (runs > 15)
		abort();
	memset(block, 0, sizeof(block));
	memcpy(block, data + 258, min(size - 258, sizeof(block)));
	for (level = 0; level < 8; level++) {
		ext_map_node(&geo, true, level, 0, block, check, NULL);
		ext_map_node(&geo, false, level, U32_MAX, block, check, NULL);
	}
	return 0;
}
